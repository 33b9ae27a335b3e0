/* The gradient of a softmax in plans: a batch of heads of one pattern, whose operands lie apart by strides with gaps, the gradient of P
 * one for all or each head's own; what is refused. softmax_grad_test [DEVICE] */
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "matrix/vsparse.h"
#include "mcrt_internal.h"

enum { HEADS = 3, VEC = 8, BLOCKS = 5, ROWS = VEC * BLOCKS, COLUMNS = 90, GAP = 24 };
enum { P, GRADIENT, SCALE, INPUTS = 2 };

static mc_diag *diag;
static mc_context *context;
static const float scale = -0.125F;

static bool worked(const char *what, mc_status status) {
    CHECK(status == MC_OK, "%s: %s", what, mc_diag_text(diag));
    mc_diag_clear(diag);
    return status == MC_OK;
}

/* Row block 2 has no vectors. */
static mc_matrix *make_matrix(mc_vsparse *mask) {
    static const int counts[BLOCKS] = {7, 90, 0, 33, 1};
    int32_t row_ptr[BLOCKS + 1] = {0};
    mc_matrix *matrix = NULL;
    if (!worked("mask", mcrt_vsparse_create(MC_F32, VEC, BLOCKS, COLUMNS, 131, mask, diag))) return NULL;
    for (int b = 0; b < BLOCKS; b++) {
        row_ptr[b + 1] = row_ptr[b] + counts[b];
        mask->row_ptr[b + 1] = row_ptr[b + 1];
        for (int i = 0; i < counts[b]; i++) mask->col_idx[row_ptr[b] + i] = i * COLUMNS / counts[b];
    }
    const mc_matrix_config config = {.size = sizeof config,
                                     .type = MC_F32,
                                     .vec = VEC,
                                     .rows = ROWS,
                                     .cols = COLUMNS,
                                     .row_ptr = row_ptr,
                                     .col_idx = mask->col_idx};
    (void)worked("matrix", mc_matrix_create(context, &config, &matrix, diag));
    return matrix;
}

typedef struct heads {
    mc_vsparse mask;
    mc_order order;
    bool shared; /* all heads have one gradient of P */
    mc_dense in[INPUTS][HEADS];
    mc_address at[INPUTS], c_at;
    int64_t elements, step; /* of a head; from one to the next */
} heads;

static const mc_type types[INPUTS] = {MC_F16, MC_F32};

static void make_operands(heads *t) {
    mc_dense shape;
    (void)worked("shape", mc_sampled_shape(&t->mask, t->order, MC_F16, &shape, diag));
    t->elements = shape.rows * shape.cols, t->step = t->elements + GAP;
    (void)worked("c", mc_memory_create(context, (size_t)t->step * HEADS * sizeof(uint16_t), &t->c_at, diag));
    for (int i = 0; i < INPUTS; i++) {
        size_t bytes = (size_t)mc_type_bytes(types[i]);
        (void)worked("in", mc_memory_create(context, (size_t)t->step * HEADS * bytes, &t->at[i], diag));
        for (int h = 0; h < HEADS; h++) {
            mc_dense *x = &t->in[i][h];
            (void)worked("in", mc_dense_create(types[i], shape.rows, shape.cols, shape.ld, x, diag));
            mc_dense_fill(x, MC_VALUES_FULL, (uint64_t)(HEADS * i + h) + 1);
            (void)worked("in", mc_memory_write(context, t->at[i] + (size_t)(t->step * h) * bytes, x->data,
                                               (size_t)t->elements * bytes, diag));
        }
    }
}

static void free_operands(heads *t) {
    for (int i = 0; i < INPUTS; i++) {
        for (int h = 0; h < HEADS; h++) mc_dense_free(&t->in[i][h]);
        mc_memory_destroy(context, t->at[i]);
    }
    mc_memory_destroy(context, t->c_at);
}

static void check_head(heads *t, uint16_t *c, int head) {
    const mc_operator *op = operator_of(MC_OP_SOFTMAX_GRAD);
    const plan_problem p = {.op = MC_OP_SOFTMAX_GRAD,
                            .lhs = types[P],
                            .rhs = types[GRADIENT],
                            .out = MC_F16,
                            .scale = MC_PER_TENSOR,
                            .order = t->order,
                            .vec = VEC,
                            .m = ROWS,
                            .n = COLUMNS};
    const host_operands operands = {.problem = &p,
                                    .matrix = &t->mask,
                                    .inputs = {&t->in[P][head], &t->in[GRADIENT][t->shared ? 0 : head]},
                                    .factors[SCALE] = &scale};
    reference_result want = {0};
    if (worked("reference", operator_expect(op, &operands, &want, diag))) {
        mc_dense is = want.low;
        is.data = c;
        CHECK(mc_result_compare(&is, &want, diag) == MC_OK, "head %d: %s", head, mc_diag_text(diag));
    }
    mc_diag_clear(diag);
    mc_result_free(&want);
    for (int64_t i = t->elements; i < t->step; i++)
        CHECK(c[i] == 0x7b7b, "behind head %d, element %lld", head, (long long)(i - t->elements));
}

static void execute(heads *t, mc_plan *plan) {
    size_t bytes = (size_t)t->step * HEADS * sizeof(uint16_t);
    uint16_t *c = malloc(bytes);
    memset(c, 0x7b, bytes);
    (void)worked("poison", mc_memory_write(context, t->c_at, c, bytes, diag));
    const mc_args args = {
        .size = sizeof args, .a = t->at[P], .b = t->at[GRADIENT], .c = t->c_at, .scale_value = scale};
    if (worked("execute", mc_execute(plan, &args, 0, NULL, diag)) &&
        worked("read", mc_memory_read(context, t->c_at, c, bytes, diag)))
        for (int h = 0; h < HEADS; h++) check_head(t, c + t->step * h, h);
    free(c);
}

static void test(mc_order order, bool shared) {
    heads t = {.order = order, .shared = shared};
    mc_plan *plan = NULL;
    mc_matrix *matrix = make_matrix(&t.mask);
    make_operands(&t);
    const mc_plan_config config = {.size = sizeof config,
                                   .op = MC_OP_SOFTMAX_GRAD,
                                   .matrix = matrix,
                                   .a = types[P],
                                   .b = types[GRADIENT],
                                   .c = MC_F16,
                                   .c_order = order,
                                   .scale = MC_PER_TENSOR,
                                   .batch = HEADS,
                                   .a_stride = t.step,
                                   .b_stride = shared ? MC_SHARED : t.step,
                                   .c_stride = t.step};
    if (worked("plan", mc_plan_create(context, &config, &plan, diag))) execute(&t, plan);
    mc_plan_destroy(plan);
    mc_matrix_destroy(matrix);
    free_operands(&t);
    mc_vsparse_free(&t.mask);
}

/* CONFIG, of a mask of its own, is refused in words with TEXT. */
static void refuse(mc_plan_config config, mc_status want, const char *text) {
    mc_vsparse mask;
    mc_plan *plan = NULL;
    config.size = sizeof config, config.op = MC_OP_SOFTMAX_GRAD;
    config.matrix = make_matrix(&mask);
    mc_status status = mc_plan_create(context, &config, &plan, diag);
    CHECK(status == want && plan == NULL, "%s: status %d", text, (int)status);
    CHECK_TEXT(mc_diag_text(diag), text);
    mc_diag_clear(diag);
    mc_plan_destroy(plan);
    mc_matrix_destroy(config.matrix);
    mc_vsparse_free(&mask);
}

static void test_refusals(void) {
    refuse((mc_plan_config){.a = MC_S32, .b = MC_F16, .c = MC_F16}, MC_CANNOT, "p is s32 and dp is f16");
    refuse((mc_plan_config){.a = MC_F16, .b = MC_F16, .c = MC_U8}, MC_CANNOT,
           "c is u8, a softmax_grad gives");
    refuse((mc_plan_config){.a = MC_F16, .b = MC_F16, .c = MC_F16, .scale = MC_PER_ROW}, MC_USAGE,
           "scale must be");
    refuse((mc_plan_config){.a = MC_F16, .b = MC_F16, .c = MC_F16, .mask_values = true}, MC_USAGE,
           "mask_values is set");
    refuse((mc_plan_config){.a = MC_F16, .b = MC_F16, .c = MC_F16, .b_stride = 64}, MC_USAGE,
           "b_stride is set, which goes with batch");
}

int main(int argc, char **argv) {
    const mc_context_config config = {.size = sizeof config,
                                      .device = argc > 1 ? argv[1] : "sim",
                                      .cache = MC_CACHE_OFF,
                                      .tuning = MC_TUNING_OFF,
                                      .records = ""};
    diag = mc_diag_create();
    if (worked("mc_context_create", mc_context_create(&config, &context, diag))) {
        for (int shared = 0; shared < 2; shared++) {
            test(MC_ORDER_BCRS, shared);
            test(MC_ORDER_SRBCRS16, shared);
            test(MC_ORDER_SRBCRS32, shared);
        }
        test_refusals();
    }
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return check_end();
}
