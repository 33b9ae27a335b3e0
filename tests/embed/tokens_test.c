/* Activations as frameworks have them, a row for each token: Y[tokens, rows] = X[tokens, cols] A^T. A quantise
 * without scales turns X round, the SpMM writes its C column-major. Values are small integers, so that every sum
 * is exact and the result is known. */
#include <stdlib.h>
#include "base/real.h"
#include "check.h"
#include "mcrt_internal.h"

enum { ROWS = 40, COLS = 56, VEC = 8, MOST_TOKENS = 65, X_LD = COLS + 8, Y_LD = ROWS + 8, POISON = 0x7e };

typedef struct tokens_case {
    mc_type type;
    int tokens;
} tokens_case;

static const tokens_case cases[] = {{MC_F16, 64}, {MC_F16, 1}, {MC_BF16, MOST_TOKENS}};

static float weight(int row, int col) {
    int place = row / VEC * 7 + col * 5;
    return place % 3 == 0 ? (float)((row * 3 + col) % 9 - 4) : 0;
}
static float activation(int token, int col) { return (float)((token * 11 + col * 3) % 15 - 7); }

/* Sum of Y[token][row]. */
static float result(int token, int row) {
    float sum = 0;
    for (int col = 0; col < COLS; col++) sum += weight(row, col) * activation(token, col);
    return sum;
}

typedef struct session {
    mc_context *context;
    mc_diag *diag;
    mc_matrix *matrix;
    mc_plan *turn, *product;
    mc_address x, b, y;
} session;

static bool worked(session *s, const char *what, mc_status status) {
    CHECK(status == MC_OK, "%s: %s", what, mc_diag_text(s->diag));
    mc_diag_clear(s->diag);
    return status == MC_OK;
}

static bool make_matrix(session *s, mc_type type) {
    uint16_t data[ROWS * COLS];
    for (int i = 0; i < ROWS * COLS; i++) data[i] = (uint16_t)real_to_bits(type, weight(i / COLS, i % COLS));
    const mc_dense_config config = {
        .size = sizeof config, .type = type, .vec = VEC, .rows = ROWS, .cols = COLS, .data = data};
    return worked(s, "matrix", mc_matrix_from_dense(s->context, &config, &s->matrix, s->diag));
}

static bool make_plans(session *s, const tokens_case *c) {
    const mc_plan_config turn = {.size = sizeof turn,
                                 .op = MC_OP_QUANTISE,
                                 .a = c->type,
                                 .c = c->type,
                                 .m = c->tokens,
                                 .n = COLS,
                                 .lda = X_LD,
                                 .ldc = MOST_TOKENS + 7,
                                 .b_layout = MC_LAYOUT_COLUMNS};
    const mc_plan_config product = {.size = sizeof product,
                                    .matrix = s->matrix,
                                    .b = c->type,
                                    .c = MC_F32,
                                    .n = c->tokens,
                                    .ldb = MOST_TOKENS + 7,
                                    .ldc = Y_LD,
                                    .c_major = MC_MAJOR_COLUMN};
    return worked(s, "turn", mc_plan_create(s->context, &turn, &s->turn, s->diag)) &&
           worked(s, "product", mc_plan_create(s->context, &product, &s->product, s->diag));
}

static bool make_memory(session *s, const tokens_case *c) {
    uint16_t x[MOST_TOKENS * X_LD] = {0};
    static unsigned char poison[MOST_TOKENS * Y_LD * sizeof(float)];
    memset(poison, POISON, sizeof poison);
    for (int i = 0; i < c->tokens * COLS; i++)
        x[i / COLS * X_LD + i % COLS] = (uint16_t)real_to_bits(c->type, activation(i / COLS, i % COLS));
    return worked(s, "x", mc_memory_create(s->context, sizeof x, &s->x, s->diag)) &&
           worked(s, "b", mc_memory_create(s->context, COLS * (MOST_TOKENS + 7) * 2, &s->b, s->diag)) &&
           worked(s, "y", mc_memory_create(s->context, sizeof poison, &s->y, s->diag)) &&
           worked(s, "write", mc_memory_write(s->context, s->x, x, sizeof x, s->diag)) &&
           worked(s, "poison", mc_memory_write(s->context, s->y, poison, sizeof poison, s->diag));
}

static bool execute(session *s) {
    const mc_args turn = {.size = sizeof turn, .a = s->x, .c = s->b},
                  product = {.size = sizeof product, .b = s->b, .c = s->y};
    return worked(s, "turn", mc_execute(s->turn, &turn, 0, NULL, s->diag)) &&
           worked(s, "product", mc_execute(s->product, &product, 0, NULL, s->diag));
}

/* A token's gap stays as it was. */
static void check_result(session *s, const tokens_case *c) {
    static float y[MOST_TOKENS * Y_LD];
    float gap;
    int wrong = 0;
    memset(&gap, POISON, sizeof gap);
    if (!worked(s, "read", mc_memory_read(s->context, s->y, y, sizeof y, s->diag))) return;
    for (int i = 0; i < MOST_TOKENS * Y_LD; i++) {
        int token = i / Y_LD, row = i % Y_LD;
        float want = token < c->tokens && row < ROWS ? result(token, row) : gap;
        wrong += memcmp(&y[i], &want, sizeof want) != 0;
    }
    CHECK(wrong == 0, "%s, %d tokens: %d elements are wrong", mc_type_text(c->type), c->tokens, wrong);
}

static void run(session *s, const tokens_case *c) {
    if (make_matrix(s, c->type) && make_plans(s, c) && make_memory(s, c) && execute(s)) check_result(s, c);
    mc_plan_destroy(s->turn);
    mc_plan_destroy(s->product);
    mc_matrix_destroy(s->matrix);
    const mc_address memory[] = {s->x, s->b, s->y};
    for (int i = 0; i < 3; i++) mc_memory_destroy(s->context, memory[i]);
    *s = (session){.context = s->context, .diag = s->diag};
}

int main(int argc, char **argv) {
    session s = {.diag = mc_diag_create()};
    const mc_context_config config = {.size = sizeof config,
                                      .device = argc > 1 ? argv[1] : "sim",
                                      .cache = MC_CACHE_OFF,
                                      .tuning = MC_TUNING_OFF};
    if (worked(&s, "context", mc_context_create(&config, &s.context, s.diag)))
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) run(&s, &cases[i]);
    mc_context_destroy(s.context);
    mc_diag_destroy(s.diag);
    return check_end();
}
