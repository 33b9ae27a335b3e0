/* Plans that are never slower than dense, of operands that lie token by token: Y[tokens, rows] = X[tokens, cols] A^T is a
 * dense product of X by the weight, with rows and columns of all else exchanged. Numbers are small integers, and sums exact. */
#include <stdlib.h>
#include "base/element.h"
#include "base/real.h"
#include "dense_plan.h"
#include "mc_describe.h"

enum {
    ROWS = 48,
    COLS = 1024,
    WIDTH = 8,
    MANY = 24,
    X_LD = COLS + 16,
    Y_LD = ROWS + 8,
    R_LD = ROWS + 16,
    POISON = 0x7e
};

mc_diag *diag;
static mc_context *context;

/* -- Operands */

static int weight(int row, int col, int salt) {
    return (row / WIDTH * 7 + col * 5) % 3 == 0 ? 0 : (row * 3 + col + salt) % 5 + 1;
}
static int activation(int token, int col, int salt) { return (void)salt, (token * 11 + col * 3) % 7 - 3; }
static int added(int token, int row, int salt) { return (void)salt, (token + row) % 9 - 4; }

static float scale(int row) { return row % 3 == 0 ? 0.5F : 2; }
static float bias(int row) { return (float)(row % 7 - 3); }

static float result(const mc_plan_config *config, int token, int row, int salt) {
    int sum = 0;
    for (int col = 0; col < COLS; col++) sum += weight(row, col, salt) * activation(token, col, 0);
    float y = (float)sum;
    if (config->scale == MC_PER_ROW) y *= scale(row);
    if (config->bias == MC_PER_ROW) y += bias(row);
    if (config->residual != MC_RESIDUAL_NONE) y += (float)added(token, row, 0);
    return config->activation == MC_ACTIVATION_RELU && y < 0 ? 0 : y;
}

static mc_dense make(mc_type type, int rows, int cols, int ld, int (*value)(int, int, int), int salt) {
    mc_dense dense = {0};
    if (!worked("operand", mc_dense_create(type, rows, cols, ld, &dense, diag))) exit(1);
    for (int i = 0; i < rows * cols; i++) {
        const int number = value(i / cols, i % cols, salt);
        mc_dense_set(&dense, i / cols, i % cols,
                     mc_type_is_real(type) ? (int64_t)real_to_bits(type, (float)number) : number);
    }
    return dense;
}

static mc_address put(const void *data, size_t bytes) {
    mc_address address = 0;
    (void)worked("memory", mc_memory_create(context, bytes, &address, diag));
    (void)worked("memory", mc_memory_write(context, address, data, bytes, diag));
    return address;
}

static mc_address put_dense(mc_type type, int rows, int cols, int ld, int (*value)(int, int, int)) {
    mc_dense dense = make(type, rows, cols, ld, value, 0);
    const mc_address address = put(dense.data, (size_t)mc_type_size(type, (int64_t)rows * ld));
    mc_dense_free(&dense);
    return address;
}

static mc_address put_factors(float (*value)(int)) {
    float values[ROWS];
    for (int i = 0; i < ROWS; i++) values[i] = value(i);
    return put(values, sizeof values);
}

static mc_matrix *make_matrix(mc_type type) {
    mc_matrix *matrix = NULL;
    mc_dense dense = make(type, ROWS, COLS, COLS, weight, 0);
    const mc_dense_config config = {
        .size = sizeof config, .type = type, .vec = WIDTH, .rows = ROWS, .cols = COLS, .data = dense.data};
    (void)worked("matrix", mc_matrix_from_dense(context, &config, &matrix, diag));
    mc_dense_free(&dense);
    return matrix;
}

/* Other values in the same places, from the device. */
static void set_values(mc_matrix *matrix, mc_type type, int salt) {
    mc_dense dense = make(type, ROWS, COLS, COLS, weight, salt);
    const mc_device_values values = {.size = sizeof values,
                                     .from = MC_FROM_ROWS,
                                     .address = put(dense.data, (size_t)mc_type_size(type, ROWS * COLS)),
                                     .ld = COLS};
    (void)worked("values", mc_matrix_set_device_values(matrix, &values, NULL, diag));
    (void)worked("wait", mc_synchronize(context, NULL, diag));
    mc_memory_destroy(context, values.address);
    mc_dense_free(&dense);
}

/* -- A layer */

/* Of the type's elements what lies between tokens is as it was. */
static void compare(const mc_plan_config *config, mc_address y, int salt, const char *name) {
    mc_dense got;
    int wrong = 0, written = 0;
    if (!worked("y", mc_dense_create(config->c, MANY, Y_LD, Y_LD, &got, diag))) return;
    const size_t bytes = (size_t)mc_type_size(config->c, MANY * Y_LD), element = mc_type_bytes(config->c);
    (void)worked("read", mc_memory_read(context, y, got.data, bytes, diag));
    for (int token = 0; token < MANY; token++)
        for (int row = 0; row < Y_LD; row++) {
            const unsigned char *at = (unsigned char *)got.data + (size_t)(token * Y_LD + row) * element;
            if (row < ROWS)
                wrong += (float)mc_dense_real(&got, token, row) != result(config, token, row, salt);
            for (size_t i = 0; row >= ROWS && i < element; i++) written += at[i] != POISON;
        }
    CHECK(wrong == 0 && written == 0, "%s: %d elements are wrong, %d bytes of gaps written", name, wrong,
          written);
    mc_dense_free(&got);
}

static void execute(const mc_plan *plan, const mc_plan_config *config, mc_type type, int salt,
                    const char *name) {
    static unsigned char poison[MANY * Y_LD * sizeof(float)];
    memset(poison, POISON, sizeof poison);
    mc_argument residual = {"residual", put_dense(MC_F16, MANY, ROWS, R_LD, added), 0};
    const mc_args args = {.size = sizeof args,
                          .b = put_dense(type, MANY, COLS, X_LD, activation),
                          .c = put(poison, sizeof poison),
                          .scale = put_factors(scale),
                          .bias = put_factors(bias),
                          .list = &residual,
                          .list_count = 1};
    const mc_address memory[] = {residual.address, args.b, args.c, args.scale, args.bias};
    if (worked(name, mc_execute(plan, &args, 0, NULL, diag))) compare(config, args.c, salt, name);
    mc_args missing = args;
    missing.b = 0;
    CHECK(mc_execute(plan, &missing, 0, NULL, diag) == MC_CANNOT);
    CHECK_TEXT(mc_diag_text(diag), "b is missing");
    mc_diag_clear(diag);
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) mc_memory_destroy(context, memory[i]);
}

static void check_operands(const mc_plan *plan, const char *name) {
    mc_operand_info b = {.size = sizeof b}, c = {.size = sizeof c};
    const mc_operator *o = operator_of(MC_OP_SPMM);
    (void)worked("b", mc_plan_get_operand(plan, (size_t)operator_operand(o, "b"), &b, diag));
    (void)worked("c", mc_plan_get_operand(plan, (size_t)operator_operand(o, "c"), &c, diag));
    CHECK(b.wanted && b.rows == MANY && b.cols == COLS && b.ld == X_LD && b.align == 16, "%s: b", name);
    CHECK(c.wanted && c.rows == MANY && c.cols == ROWS && c.ld == Y_LD && c.out, "%s: c", name);
}

typedef struct layer {
    const char *name;
    mc_type type;
    mc_plan_config config;
    const char *reason; /* NULL: a dense kernel is taken */
} layer;

#define LAYER(...)                                                                                           \
    {                                                                                                        \
        .size = sizeof(mc_plan_config), .n = MANY, .ldb = X_LD, .ldc = Y_LD, .b_major = MC_MAJOR_COLUMN,     \
        .c_major = MC_MAJOR_COLUMN, .dense = MC_DENSE_IF_FASTER, __VA_ARGS__                                 \
    }
static const layer layers[] = {
    {"f16", MC_F16, LAYER(.b = MC_F16, .c = MC_F32), NULL},
    {"bf16, with all that goes by row", MC_BF16,
     LAYER(.b = MC_BF16, .c = MC_F32, .scale = MC_PER_ROW, .bias = MC_PER_ROW, .residual = MC_RESIDUAL_F16,
           .ldr = R_LD, .activation = MC_ACTIVATION_RELU),
     NULL},
    {"s8", MC_S8, LAYER(.b = MC_S8, .c = MC_S32), NULL},
    {"u8 by s8", MC_U8, LAYER(.b = MC_S8, .c = MC_F32, .scale = MC_PER_ROW), NULL},
    {"b_scale", MC_S8, LAYER(.b = MC_S8, .c = MC_F32, .scale = MC_PER_ROW, .b_scale = MC_PER_COLUMN),
     "there is no dense product of this: c lies by columns, and b_scale is set: it would be by row"},
};

static void run(const layer *l) {
    mc_plan_config config = l->config;
    mc_plan *plan = NULL;
    mc_plan_info info = {.size = sizeof info};
    config.matrix = make_matrix(l->type);
    if (worked(l->name, mc_plan_create(context, &config, &plan, diag)) &&
        worked(l->name, mc_plan_get_info(plan, &info, diag))) {
        CHECK(info.dense == (l->reason == NULL), "%s: %s: %s", l->name, info.dense_reason, info.fields);
        if (l->reason != NULL) CHECK_TEXT(info.dense_reason, l->reason);
        if (info.dense) {
            CHECK_TEXT(info.fields, " m=24 n=48 k=1024 lda=1040 ldb=1024 ldc=56");
            CHECK(mc_plan_workspace(plan) == 0, "%s: a workspace", l->name);
            check_operands(plan, l->name);
            execute(plan, &config, l->type, 0, l->name);
            set_values(config.matrix, l->type, 2);
            execute(plan, &config, l->type, 2, l->name);
        }
    }
    mc_plan_destroy(plan);
    mc_matrix_destroy(config.matrix);
}

int main(void) {
    const mc_context_config config = {
        .size = sizeof config, .device = "sim", .cache = MC_CACHE_OFF, .records = ""};
    diag = mc_diag_create();
    if (worked("context", mc_context_create(&config, &context, diag)))
        for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) run(&layers[i]);
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return product_end(check_end());
}
