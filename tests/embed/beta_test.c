/* C = A B + beta C in place, as cuSPARSE and BLAS have it: the residual is C itself. Every kernel reads of C what it stores
 * itself, or the simulator stops it for a race; nothing where beta is 0, whatever C holds; and gaps and what lies behind C
 * stay. Values are small integers, so that every sum is exact. beta_test [DEVICE]: the simulator, or cuda:0. */
#include <math.h>
#include <stdlib.h>
#include "base/real.h"
#include "check.h"
#include "mcrt_internal.h"

enum { COLS = 2100, LONG_ROW = 3, MOST_ROWS = 48, BEHIND = 32, POISON = 0x5a };

/* Panels whose first one many thread blocks share, and row blocks of one and of several warps. */
static const struct {
    int vec;
    const char *fields;
} kernels[] = {{1, "panel = 8 share = 2 warps = 4"},
               {1, "panel = 16 share = 2 warps = 4 values = 'nonzeros'"},
               {1, "panel = 8 share = 16 warps = 2 staging = 'shared'"},
               {1, "split = 1 warps = 4"},
               {4, "split = 4 warps = 4"},
               {8, "split = 2 warps = 4 stride = 64"},
               {16, "split = 1 warps = 2"},
               {16, "split = 2 warps = 2"}};
static const struct { int n, ldc; } shapes[] = {{32, 32}, {33, 33}, {64, 72}, {7, 13}, {70, 80}};
static const float betas[] = {1, -0.5F, 0, -0.0F};
static const mc_type types[] = {MC_F32, MC_F16};

static mc_context *context;
static mc_diag *diag;

static bool worked(const char *what, mc_status status) {
    CHECK(status == MC_OK, "%s: %s", what, mc_diag_text(diag));
    mc_diag_clear(diag);
    return status == MC_OK;
}

/* -- Values: of vectors all rows, or none. Row block LONG_ROW has all columns, the one before it none */

static float a_at(int vec, int row, int col) {
    int block = row / vec;
    bool has = block == LONG_ROW || (block != LONG_ROW - 1 && (block * 7 + col * 5 + col / 13) % 97 < 2);
    return has ? (float)((row * 5 + col * 3 + col / 7) % 5 - 2) : 0;
}
static float b_at(int row, int col) { return (float)((row * 11 + col * 3 + row / 5) % 5 - 2); }
static float c_at(int row, int col) { return (float)((row * 3 + col * 7) % 31 - 15); }

static mc_matrix *make_matrix(int vec, int rows) {
    uint16_t *data = malloc((size_t)rows * COLS * sizeof *data);
    mc_matrix *matrix = NULL;
    for (int i = 0; i < rows * COLS; i++)
        data[i] = (uint16_t)real_to_bits(MC_F16, a_at(vec, i / COLS, i % COLS));
    const mc_dense_config config = {
        .size = sizeof config, .type = MC_F16, .vec = vec, .rows = rows, .cols = COLS, .data = data};
    (void)worked("matrix", mc_matrix_from_dense(context, &config, &matrix, diag));
    free(data);
    return matrix;
}

static mc_address make_b(int n) {
    uint16_t *data = malloc((size_t)n * COLS * sizeof *data);
    mc_address b = 0;
    for (int i = 0; i < n * COLS; i++) data[i] = (uint16_t)real_to_bits(MC_F16, b_at(i / n, i % n));
    (void)worked("memory", mc_memory_create(context, (size_t)n * COLS * sizeof *data, &b, diag));
    (void)worked("write", mc_memory_write(context, b, data, (size_t)n * COLS * sizeof *data, diag));
    free(data);
    return b;
}

/* -- A product */

typedef struct product {
    int vec, rows, n, ldc;
    mc_type type; /* of C */
    mc_matrix *matrix;
    mc_plan *plan;
    mc_address b, c, workspace;
} product;

static size_t c_bytes(const product *p) {
    return ((size_t)(p->rows - 1) * (size_t)p->ldc + (size_t)p->n) * (p->type == MC_F16 ? 2 : 4) + BEHIND;
}

static void put(const product *p, unsigned char *c, int row, int col, float value) {
    size_t bytes = p->type == MC_F16 ? 2 : 4, at = ((size_t)row * (size_t)p->ldc + (size_t)col) * bytes;
    uint32_t bits = real_to_bits(p->type, value);
    memcpy(c + at, &bits, bytes);
}

static float expected(const product *p, int row, int col, float beta) {
    float sum = beta == 0 ? 0 : beta * c_at(row, col);
    for (int k = 0; k < COLS; k++) sum += a_at(p->vec, row, k) * b_at(k, col);
    return sum;
}

/* BEFORE: what C holds; AFTER: what it must hold. With a beta of 0 all of C is NaN before. */
static void make_c(const product *p, float beta, unsigned char *before, unsigned char *after) {
    memset(before, POISON, c_bytes(p));
    memset(after, POISON, c_bytes(p));
    for (int i = 0; i < p->rows; i++)
        for (int j = 0; j < p->n; j++) {
            put(p, before, i, j, beta == 0 ? NAN : c_at(i, j));
            put(p, after, i, j, expected(p, i, j, beta) + 0.0F);
        }
}

static void run(const product *p, float beta, const char *fields) {
    const mc_argument list[] = {{.name = "residual", .address = p->c}, {.name = "beta", .value = beta}};
    const mc_args args = {.size = sizeof args, .b = p->b, .c = p->c, .list = list, .list_count = 2};
    unsigned char *before = malloc(c_bytes(p)), *after = malloc(c_bytes(p)), *got = malloc(c_bytes(p));
    make_c(p, beta, before, after);
    if (worked("write", mc_memory_write(context, p->c, before, c_bytes(p), diag)) &&
        worked(fields, mc_execute(p->plan, &args, p->workspace, NULL, diag)) &&
        worked("read", mc_memory_read(context, p->c, got, c_bytes(p), diag)))
        CHECK(memcmp(got, after, c_bytes(p)) == 0, "%s, c of %s, n = %d, ldc = %d, beta = %g", fields,
              mc_type_text(p->type), p->n, p->ldc, (double)beta);
    free(before), free(after), free(got);
}

static bool make_plan(product *p, const char *spec) {
    const mc_plan_config config = {.size = sizeof config,
                                   .matrix = p->matrix,
                                   .b = MC_F16,
                                   .c = p->type,
                                   .n = p->n,
                                   .ldc = p->ldc,
                                   .residual = (mc_residual)p->type,
                                   .ldr = p->ldc,
                                   .beta = MC_PER_TENSOR,
                                   .specs = &spec,
                                   .spec_count = 1};
    if (!worked("plan", mc_plan_create(context, &config, &p->plan, diag))) return false;
    size_t bytes = mc_plan_workspace(p->plan);
    return bytes == 0 || worked("memory", mc_memory_create(context, bytes, &p->workspace, diag));
}

static void test_product(product p, const char *spec, const char *fields) {
    p.b = make_b(p.n);
    if (make_plan(&p, spec) && worked("memory", mc_memory_create(context, c_bytes(&p), &p.c, diag)))
        for (size_t i = 0; i < sizeof betas / sizeof *betas; i++) run(&p, betas[i], fields);
    mc_plan_destroy(p.plan);
    mc_memory_destroy(context, p.b);
    if (p.c != 0) mc_memory_destroy(context, p.c);
    if (p.workspace != 0) mc_memory_destroy(context, p.workspace);
}

static void test_kernel(int vec, const char *fields) {
    static const char spec[] = "beta_test.lua";
    const int rows = vec == 1 ? MOST_ROWS - 7 : MOST_ROWS / vec * vec + (vec == 16) * 32;
    FILE *file = fopen(spec, "w");
    if (file == NULL) exit(1);
    fprintf(file, "op = 'spmm' lhs = 'f16' rhs = 'f16' out = 'f16' tile_n = 32 vec = %d %s\n", vec, fields);
    fclose(file);
    mc_matrix *matrix = make_matrix(vec, rows);
    for (size_t i = 0; matrix != NULL && i < sizeof shapes / sizeof *shapes; i++)
        for (int k = 0; k < 2; k++)
            test_product((product){vec, rows, shapes[i].n, shapes[i].ldc, types[k], matrix, NULL, 0, 0, 0},
                         spec, fields);
    mc_matrix_destroy(matrix);
    remove(spec);
}

int main(int argc, char **argv) {
    const mc_context_config config = {.size = sizeof config, .device = argc > 1 ? argv[1] : "sim"};
    diag = mc_diag_create();
    if (mc_context_create(&config, &context, diag) == MC_CANNOT && argc > 1) return 77;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        test_kernel(kernels[i].vec, kernels[i].fields);
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return check_end();
}
