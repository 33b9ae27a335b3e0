/* A softmax of a batch: f16 in the order bcrs, with the mask's own values, products apart by strides with gaps, or all of the
 * same input. softmax_batch_test [DEVICE] */
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "matrix/vsparse.h"
#include "mcrt_internal.h"

enum { HEADS = 3, VEC = 8, BLOCKS = 4, ROWS = VEC * BLOCKS, COLUMNS = 90, GAP = 24 };
enum { X, SCALE, C_SCALE, LSE };

static mc_diag *diag;
static mc_context *context;
static const float scale = -0.125F;
static mc_exp exponential; /* polynomial: with the mask's values */

static bool worked(const char *what, mc_status status) {
    CHECK(status == MC_OK, "%s: %s", what, mc_diag_text(diag));
    mc_diag_clear(diag);
    return status == MC_OK;
}

/* Row block 2 has no vectors. */
static void make_mask(mc_vsparse *mask) {
    static const int counts[BLOCKS] = {7, 90, 0, 33};
    if (!worked("mask", mcrt_vsparse_create(MC_F32, VEC, BLOCKS, COLUMNS, 130, mask, diag))) return;
    for (int b = 0; b < BLOCKS; b++) {
        int64_t first = mask->row_ptr[b];
        mask->row_ptr[b + 1] = first + counts[b];
        for (int i = 0; i < counts[b]; i++) mask->col_idx[first + i] = i * COLUMNS / counts[b];
    }
    mc_scale_fill(mask->values, mask->vectors * VEC, MC_VALUES_FULL, 3);
}

static mc_matrix *make_matrix(const mc_vsparse *mask) {
    int32_t row_ptr[BLOCKS + 1];
    mc_matrix *matrix = NULL;
    for (int b = 0; b <= BLOCKS; b++) row_ptr[b] = (int32_t)mask->row_ptr[b];
    const mc_matrix_config config = {.size = sizeof config,
                                     .type = MC_F32,
                                     .vec = VEC,
                                     .rows = ROWS,
                                     .cols = COLUMNS,
                                     .row_ptr = row_ptr,
                                     .col_idx = mask->col_idx,
                                     .values = mask->values};
    (void)worked("matrix", mc_matrix_create(context, &config, &matrix, diag));
    return matrix;
}

static void check_head(mc_vsparse *mask, const mc_dense *x, uint16_t *c, float *lse, int head) {
    const mc_operator *op = operator_of(MC_OP_SOFTMAX);
    const plan_problem p = {.op = MC_OP_SOFTMAX,
                            .lhs = MC_F16,
                            .out = MC_F16,
                            .scale = MC_PER_TENSOR,
                            .mask_values = exponential == MC_EXP_POLYNOMIAL,
                            .vec = VEC,
                            .lse = MC_PER_ROW,
                            .exp = exponential,
                            .m = ROWS,
                            .n = COLUMNS};
    const host_operands operands = {.problem = &p, .matrix = mask, .inputs[X] = x, .factors[SCALE] = &scale};
    const mc_dense is = {MC_F16, mask->vectors, VEC, VEC, c}, sums = {MC_F32, 1, ROWS, ROWS, lse};
    reference_result want = {0}, rows = {0};
    if (worked("reference", operator_expect(op, &operands, &want, diag)))
        CHECK(mc_result_compare(&is, &want, diag) == MC_OK, "head %d: %s", head, mc_diag_text(diag));
    if (worked("reference", operator_expect_other(op, &operands, LSE, &rows, diag)))
        CHECK(mc_result_compare_named("lse", &sums, &rows, diag) == MC_OK, "head %d: %s", head,
              mc_diag_text(diag));
    mc_diag_clear(diag);
    mc_result_free(&want), mc_result_free(&rows);
}

/* What a launch wrote, and what it left between the products. */
static void check(mc_vsparse *mask, const mc_dense x[HEADS], bool shared, uint16_t *c, float *lse) {
    size_t elements = (size_t)mask->vectors * VEC;
    for (int h = 0; h < HEADS; h++) {
        uint16_t *own = c + (elements + GAP) * (size_t)h;
        check_head(mask, &x[shared ? 0 : h], own, lse + (ptrdiff_t)ROWS * h, h);
        for (size_t i = elements; i < elements + GAP; i++)
            CHECK(own[i] == 0x7b7b, "behind head %d, element %zu", h, i - elements);
    }
}

static void test(bool shared, mc_exp exp) {
    exponential = exp;
    mc_vsparse mask;
    mc_dense x[HEADS];
    mc_plan *plan = NULL;
    mc_address x_at = 0, c_at = 0, lse_at = 0;
    make_mask(&mask);
    mc_matrix *matrix = make_matrix(&mask);
    size_t elements = (size_t)mask.vectors * VEC, step = (elements + GAP) * sizeof(uint16_t);
    const mc_plan_config config = {.size = sizeof config,
                                   .op = MC_OP_SOFTMAX,
                                   .matrix = matrix,
                                   .a = MC_F16,
                                   .c = MC_F16,
                                   .scale = MC_PER_TENSOR,
                                   .mask_values = exponential == MC_EXP_POLYNOMIAL,
                                   .exp = exponential,
                                   .lse = MC_PER_ROW,
                                   .batch = HEADS,
                                   .a_stride = shared ? MC_SHARED : (int64_t)elements + GAP,
                                   .c_stride = (int64_t)elements + GAP};
    (void)worked("plan", mc_plan_create(context, &config, &plan, diag));
    (void)worked("x", mc_memory_create(context, step * HEADS, &x_at, diag));
    (void)worked("c", mc_memory_create(context, step * HEADS, &c_at, diag));
    (void)worked("lse", mc_memory_create(context, HEADS * ROWS * sizeof(float), &lse_at, diag));
    for (int h = 0; h < HEADS; h++) {
        (void)worked("x", mc_dense_create(MC_F16, mask.vectors, VEC, VEC, &x[h], diag));
        mc_dense_fill(&x[h], MC_VALUES_FULL, (uint64_t)h + 1);
        if (shared && h > 0) continue;
        (void)worked("x", mc_memory_write(context, x_at + step * (size_t)h, x[h].data,
                                          elements * sizeof(uint16_t), diag));
    }
    uint16_t *c = malloc(step * HEADS);
    float lse[HEADS * ROWS];
    memset(c, 0x7b, step * HEADS);
    (void)worked("poison", mc_memory_write(context, c_at, c, step * HEADS, diag));
    const mc_argument list = {.name = "lse", .address = lse_at};
    const mc_args args = {
        .size = sizeof args, .a = x_at, .c = c_at, .scale_value = scale, .list = &list, .list_count = 1};
    if (plan != NULL && worked("execute", mc_execute(plan, &args, 0, NULL, diag)) &&
        worked("read", mc_memory_read(context, c_at, c, step * HEADS, diag)) &&
        worked("read", mc_memory_read(context, lse_at, lse, sizeof lse, diag)))
        check(&mask, x, shared, c, lse);
    free(c);
    mc_plan_destroy(plan);
    mc_matrix_destroy(matrix);
    mc_memory_destroy(context, x_at), mc_memory_destroy(context, c_at), mc_memory_destroy(context, lse_at);
    for (int h = 0; h < HEADS; h++) mc_dense_free(&x[h]);
    mc_vsparse_free(&mask);
}

int main(int argc, char **argv) {
    const mc_context_config config = {.size = sizeof config,
                                      .device = argc > 1 ? argv[1] : "sim",
                                      .cache = MC_CACHE_OFF,
                                      .tuning = MC_TUNING_OFF,
                                      .records = ""};
    diag = mc_diag_create();
    if (worked("mc_context_create", mc_context_create(&config, &context, diag))) {
        test(false, MC_EXP_POLYNOMIAL);
        test(true, MC_EXP_POLYNOMIAL);
        test(false, MC_EXP_APPROX);
        test(true, MC_EXP_APPROX);
    }
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return check_end();
}
