/* What mcbench says an SDDMM must give: the places of C's elements, and the helper kernels on the simulator, against libmcrt's
   reference, which shares nothing with them. */
#include <stdlib.h>
#include "check.h"
#include "helpers.h"
#include "orders.h"

enum { ROWS = 5, COLS = 43, K = 70 }; /* row blocks; k is no multiple of a warp, cols none of a block */

static mc_diag *diag;
static mc_device *device;
static helpers h;

#define OK(call) CHECK((call) == MC_OK, "%s", mc_diag_text(diag))

/* A mask with an empty row block, a full one, and one of a whole stride. */
static void make_mask(int vec, mc_vsparse *mask) {
    static const int lengths[ROWS] = {3, 0, COLS, 16, 1};
    mc_csr csr = {.rows = ROWS, .cols = COLS};
    int64_t row_ptr[ROWS + 1] = {0};
    int32_t col_idx[ROWS * COLS];
    for (int row = 0; row < ROWS; row++) {
        for (int i = 0; i < lengths[row]; i++) col_idx[csr.nnz++] = i * (COLS / lengths[row]) + row % 2;
        row_ptr[row + 1] = csr.nnz;
    }
    csr.row_ptr = row_ptr;
    csr.col_idx = col_idx;
    OK(mc_vsparse_dilate(&csr, vec, MC_F32, mask, diag));
    mc_bias_fill(mask->values, mask->vectors * vec, MC_VALUES_FULL, 5);
}

static uint64_t upload(const void *data, size_t bytes) {
    uint64_t address = 0;
    OK(mc_device_alloc(device, bytes, &address, diag));
    OK(mc_device_write(device, address, data, bytes, diag));
    return address;
}

/* -- Places */

/* Every element has one place, and padding the rest. */
static void test_places(const mc_vsparse *mask, const sampled_order *order) {
    int *hits = calloc((size_t)order->elements, sizeof *hits), wrong = 0;
    for (int64_t i = 0; i < order->count; i++)
        for (int row = 0; row < mask->vec; row++) {
            int64_t at = order->slots[i].first + row * order->slots[i].pitch;
            if (at >= 0 && at < order->elements) hits[at]++;
        }
    for (int64_t i = 0; i < order->elements; i++) wrong += hits[i] != 1;
    CHECK(wrong == 0 && order->elements == order->count * mask->vec, "%d wrong", wrong);
    free(hits);
}

static int64_t exact(const mc_dense *a, const mc_dense *b, int64_t row, int64_t col) {
    int64_t sum = 0;
    if (col >= b->rows) return 0;
    for (int64_t k = 0; k < K; k++) sum += mc_dense_get(a, row, k) * mc_dense_get(b, col, k);
    return sum;
}

/* Row by row: what stands in C is that of the row's nonzeros in their order. */
static void test_csr(const mc_vsparse *mask, const mc_dense *a, const mc_dense *b, const int32_t *sums) {
    int64_t at = 0;
    int wrong = 0;
    for (int64_t row = 0; row < mask->rows; row++)
        for (int64_t v = mask->row_ptr[row / mask->vec]; v < mask->row_ptr[row / mask->vec + 1]; v++)
            wrong += sums[at++] != (int32_t)exact(a, b, row, mask->col_idx[v]);
    CHECK(wrong == 0, "%d wrong", wrong);
}

/* Blocks of V x V, each with all its columns. */
static void test_bsr(const mc_vsparse *mask, const mc_dense *a, const mc_dense *b, const int32_t *sums) {
    int64_t at = 0;
    int vec = mask->vec, wrong = 0;
    for (int64_t block = 0; block < mask->row_blocks; block++)
        for (int64_t v = mask->row_ptr[block]; v < mask->row_ptr[block + 1]; v++) {
            int64_t column = mask->col_idx[v] / vec;
            if (v > mask->row_ptr[block] && mask->col_idx[v - 1] / vec == column) continue;
            for (int i = 0; i < vec * vec; i++)
                wrong += sums[at++] != (int32_t)exact(a, b, block * vec + i / vec, column * vec + i % vec);
        }
    CHECK(wrong == 0, "%d wrong", wrong);
}

/* -- Sums and outputs */

/* A device's list of ORDER, and A and B in s32. */
typedef struct problem {
    const mc_vsparse *mask;
    mc_dense a, b, vectors; /* b: by columns; vectors: the exact sums in BCRS order */
    uint64_t wide_a, wide_b;
    float scales[ROWS * 8 > COLS ? ROWS * 8 : COLS];
} problem;

static uint64_t upload_wide(const mc_dense *from, int64_t rows) {
    int32_t *wide = calloc((size_t)(rows * K), sizeof *wide);
    for (int64_t i = 0; i < from->rows; i++)
        for (int64_t k = 0; k < K; k++) wide[i * K + k] = (int32_t)mc_dense_get(from, i, k);
    uint64_t address = upload(wide, (size_t)(rows * K) * sizeof *wide);
    free(wide);
    return address;
}

static void open_problem(problem *p, const mc_vsparse *mask, mc_type type) {
    *p = (problem){.mask = mask};
    OK(mc_dense_create(type, mask->rows, K, K, &p->a, diag));
    OK(mc_dense_create(type, COLS, K, K + 2, &p->b, diag));
    mc_dense_fill(&p->a, MC_VALUES_FULL, 1);
    mc_dense_fill(&p->b, MC_VALUES_FULL, 2);
    OK(mc_reference_sddmm(mask, &p->a, &p->b, MC_LAYOUT_COLUMNS, &p->vectors, diag));
    p->wide_a = upload_wide(&p->a, mask->rows);
    p->wide_b = upload_wide(&p->b, COLS + mask->vec);
    mc_scale_fill(p->scales, (int64_t)(sizeof p->scales / sizeof p->scales[0]), MC_VALUES_FULL, 3);
}

static void close_problem(problem *p) {
    mc_dense_free(&p->a);
    mc_dense_free(&p->b);
    mc_dense_free(&p->vectors);
    mc_device_free(device, p->wide_a);
    mc_device_free(device, p->wide_b);
}

/* The runtime's C in the same order, of the same kind. */
static void test_output(const problem *p, mc_order arranged, const sampled_order *order,
                        const sampled_list *list, uint64_t sums, const mc_output *output) {
    mc_dense want;
    float *got = calloc((size_t)order->elements, sizeof *got);
    uint64_t out = upload(got, (size_t)order->elements * sizeof *got),
             scales = upload(p->scales, sizeof p->scales);
    const output_rule rule = {.scale = scales,
                              .scale_row = output->scale == MC_PER_ROW,
                              .scale_col = output->scale == MC_PER_COLUMN};
    OK(helpers_sampled_output(&h, output->type, list, sums, out, &rule, diag));
    OK(mc_device_read(device, out, got, (size_t)order->elements * sizeof *got, diag));
    OK(mc_reference_sampled(output, p->mask, arranged, p->scales, &p->vectors, &want, diag));
    int wrong = 0;
    for (int64_t i = 0; i < order->elements; i++)
        wrong += (double)got[i] != mc_dense_real(&want, i / want.cols, i % want.cols);
    CHECK(wrong == 0 && want.rows * want.cols == order->elements, "%s, %s: %d of %lld wrong",
          mc_type_text(output->type), output->masked ? "masked" : "not masked", wrong,
          (long long)order->elements);
    mc_dense_free(&want);
    mc_device_free(device, out);
    mc_device_free(device, scales);
    free(got);
}

static void test_outputs(const problem *p, mc_order arranged, const sampled_order *order, uint64_t slots,
                         uint64_t sums) {
    static const mc_output outputs[] = {{.type = MC_F16, .scale = MC_PER_TENSOR},
                                        {.type = MC_F16, .scale = MC_PER_COLUMN, .masked = true},
                                        {.type = MC_BF16, .scale = MC_PER_ROW, .masked = true},
                                        {.type = MC_F32, .scale = MC_PER_ROW}};
    const float one = 1;
    uint64_t values = upload(order->values, (size_t)order->elements * sizeof(float)),
             one_at = upload(&one, sizeof one);
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        const sampled_list list = {slots, order->count, p->mask->vec, outputs[i].masked,
                                   outputs[i].masked ? values : one_at};
        test_output(p, arranged, order, &list, sums, &outputs[i]);
    }
    mc_device_free(device, values);
    mc_device_free(device, one_at);
}

/* An order of the runtime's own. */
static void test_arranged(const problem *p, mc_order arranged, const sampled_order *order, uint64_t slots,
                          uint64_t at, const int32_t *sums) {
    mc_dense want;
    int wrong = 0;
    OK(mc_sampled_arrange(p->mask, arranged, &p->vectors, &want, diag));
    for (int64_t i = 0; i < order->elements; i++)
        wrong += sums[i] != (int32_t)mc_dense_get(&want, i / want.cols, i % want.cols);
    CHECK(wrong == 0 && want.rows * want.cols == order->elements, "order %d: %d wrong", (int)arranged, wrong);
    mc_dense_free(&want);
    test_outputs(p, arranged, order, slots, at);
}

static uint64_t upload_reals(uint64_t wide, int64_t count) {
    int32_t *integers = malloc((size_t)count * sizeof *integers);
    float *reals = malloc((size_t)count * sizeof *reals);
    OK(mc_device_read(device, wide, integers, (size_t)count * sizeof *integers, diag));
    for (int64_t i = 0; i < count; i++) reals[i] = (float)integers[i];
    uint64_t address = upload(reals, (size_t)count * sizeof *reals);
    free(integers);
    free(reals);
    return address;
}

/* Sums of small whole numbers in f32 are exact, and so the same as SUMS. */
static void test_reals(const problem *p, const sampled_list *list, const int32_t *sums, int64_t elements) {
    float *got = calloc((size_t)elements, sizeof *got);
    uint64_t a = upload_reals(p->wide_a, p->mask->rows * K),
             b = upload_reals(p->wide_b, (COLS + p->mask->vec) * K),
             at = upload(got, (size_t)elements * sizeof *got);
    int wrong = 0;
    OK(helpers_sampled_sums(&h, MC_F32, list, a, b, K, at, diag));
    OK(mc_device_read(device, at, got, (size_t)elements * sizeof *got, diag));
    for (int64_t i = 0; i < elements; i++) wrong += (double)got[i] != (double)sums[i];
    CHECK(wrong == 0, "%d of %lld wrong", wrong, (long long)elements);
    mc_device_free(device, a);
    mc_device_free(device, b);
    mc_device_free(device, at);
    free(got);
}

static void test_order(const problem *p, result_order which) {
    sampled_order order;
    OK(order_make(p->mask, which, which < ORDER_CSR, &order, diag));
    test_places(p->mask, &order);
    size_t bytes = (size_t)order.elements * sizeof(int32_t);
    int32_t *sums = malloc(bytes);
    for (int64_t i = 0; i < order.elements; i++) sums[i] = 77;
    uint64_t slots = upload(order.slots, (size_t)order.count * sizeof *order.slots), at = upload(sums, bytes);
    const sampled_list list = {.slots = slots, .count = order.count, .vec = p->mask->vec};
    OK(helpers_sampled_sums(&h, MC_S32, &list, p->wide_a, p->wide_b, K, at, diag));
    OK(mc_device_read(device, at, sums, bytes, diag));
    if (p->a.type == MC_S8) test_reals(p, &list, sums, order.elements);
    if (which == ORDER_CSR) test_csr(p->mask, &p->a, &p->b, sums);
    else if (which == ORDER_BSR) test_bsr(p->mask, &p->a, &p->b, sums);
    else
        test_arranged(p,
                      which == ORDER_BCRS       ? MC_ORDER_BCRS
                      : which == ORDER_SRBCRS16 ? MC_ORDER_SRBCRS16
                                                : MC_ORDER_SRBCRS32,
                      &order, slots, at, sums);
    mc_device_free(device, slots);
    mc_device_free(device, at);
    order_free(&order);
    free(sums);
}

int main(void) {
    static const struct {
        int vec;
        mc_type type;
    } rows[] = {{8, MC_S8}, {4, MC_U16}, {2, MC_S4}};
    diag = mc_diag_create();
    OK(mc_device_open("sim", &device, diag));
    OK(helpers_open(&h, device, diag));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mc_vsparse mask;
        problem p;
        make_mask(rows[i].vec, &mask);
        open_problem(&p, &mask, rows[i].type);
        for (result_order order = ORDER_BCRS; order < ORDER_COUNT; order++) test_order(&p, order);
        close_problem(&p);
        mc_vsparse_free(&mask);
    }
    helpers_close(&h);
    mc_device_close(device);
    mc_diag_destroy(diag);
    return check_end();
}
