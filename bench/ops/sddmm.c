/* SDDMM in the bench: A and B of every K, and the places of C's elements. The GPU computes the exact sums, by
   a plain kernel of ours; the CPU computes some of them again. */
#include <stdlib.h>
#include "operation.h"
#include "race_state.h"

enum { SAMPLES = 32 }; /* of an order's sums, computed again */

static problem_shape shape(const mc_vsparse *a, int64_t size) {
    return (problem_shape){a->rows, a->cols, size};
}

/* -- On the host ----------------------------------------------------------------------------------------- */

static bool is_weighted(const variant_list *list) {
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].error == NULL && list->items[i].output.masked) return true;
    return false;
}

/* The mask's values, where a variant multiplies by them. mc_bias_fill gives 1/8 to 8; a 16th of that keeps
   products with scales inside of f16. */
static mc_status dilate(const variant_list *list, const mc_csr *pattern, uint64_t seed, mc_vsparse *mask,
                        mc_diag *diag) {
    mc_status status = mc_vsparse_dilate(pattern, list->vec, MC_F32, mask, diag);
    if (status != MC_OK || !is_weighted(list)) return status;
    float *values = mask->values;
    int64_t count = mask->vectors * mask->vec;
    mc_bias_fill(values, count, MC_VALUES_FULL, seed);
    for (int64_t i = 0; i < count; i++) values[i] /= 16;
    return MC_OK;
}

static int64_t slots(const mc_packed *packed, const mc_vsparse *mask) {
    const mc_packed_array *columns = mc_packed_find(packed, "col_idx");
    (void)mask;
    return columns == NULL ? 0 : columns->count;
}

/* The orders that variants write and, with sparse peers, those of their formats. */
static mc_status make_orders(work *w, const work_plan *plan, mc_diag *diag) {
    bool wanted[ORDER_COUNT] = {[ORDER_CSR] = plan->sparse_peers, [ORDER_BSR] = plan->sparse_peers},
         weighted = is_weighted(plan->variants);
    for (size_t i = 0; i < plan->variants->count; i++)
        if (plan->variants->items[i].error == NULL) wanted[plan->variants->items[i].order] = true;
    mc_status status = MC_OK;
    for (result_order order = ORDER_BCRS; order < ORDER_COUNT && status == MC_OK; order++)
        if (wanted[order])
            status = order_make(&w->a, order, weighted && order < ORDER_CSR, &w->orders[order], diag);
    return status;
}

/* One row or column of FROM after another, ROWS of them, as s32 without gaps; those that FROM has not are
   zero. */
static int32_t *widen(const mc_dense *from, bool columns, int64_t rows, int64_t k) {
    int64_t there = columns ? from->cols : from->rows;
    int32_t *wide = calloc((size_t)(rows * k), sizeof *wide);
    for (int64_t i = 0; i < there && wide != NULL; i++)
        for (int64_t j = 0; j < k; j++)
            wide[i * k + j] = (int32_t)(columns ? mc_dense_get(from, j, i) : mc_dense_get(from, i, j));
    return wide;
}

static mc_status make_operands(work *w, work_problem *p, const work_plan *plan, mc_diag *diag) {
    const problem_shape *s = &p->shape;
    const variant_list *list = plan->variants;
    bool rows = list->layout == MC_LAYOUT_ROWS;
    int64_t b_rows = rows ? s->k : s->n, b_cols = rows ? s->n : s->k;
    mc_status status = mc_dense_create(list->lhs, s->m, s->k, work_whole_bytes(list->lhs, s->k), &p->a, diag);
    if (status == MC_OK)
        status = mc_dense_create(list->rhs, b_rows, b_cols, work_whole_bytes(list->rhs, b_cols), &p->b, diag);
    if (status != MC_OK) return status;
    mc_dense_fill(&p->a, MC_VALUES_FULL, plan->seed + 1);
    mc_dense_fill(&p->b, MC_VALUES_FULL, plan->seed + 2);
    p->wide_a = widen(&p->a, false, s->m, s->k);
    p->wide_b = widen(&p->b, rows, w->padded_cols, s->k);
    if (p->wide_a != NULL && p->wide_b != NULL) return MC_OK;
    return mc_fail(diag, MC_NOMEM, "no memory for A and B of K = %lld", (long long)s->k);
}

/* -- For the sparse peers: values of s8 / 128 */

static uint16_t *halves_of(const int32_t *wide, size_t count) {
    uint16_t *halves = malloc(count * sizeof *halves);
    for (size_t i = 0; i < count && halves != NULL; i++) halves[i] = half_of_s8((int8_t)wide[i]);
    return halves;
}

static float *floats_of(const int32_t *wide, size_t count) {
    float *floats = malloc(count * sizeof *floats);
    for (size_t i = 0; i < count && floats != NULL; i++) floats[i] = (float)wide[i] / 128;
    return floats;
}

static mc_status convert_operands(const work *w, work_problem *p, mc_diag *diag) {
    size_t a_count = (size_t)(p->shape.m * p->shape.k), b_count = (size_t)(w->padded_cols * p->shape.k);
    p->a_half = halves_of(p->wide_a, a_count);
    p->b_half = halves_of(p->wide_b, b_count);
    p->a_float = floats_of(p->wide_a, a_count);
    p->b_float = floats_of(p->wide_b, b_count);
    if (p->a_half != NULL && p->b_half != NULL && p->a_float != NULL && p->b_float != NULL) return MC_OK;
    return mc_fail(diag, MC_NOMEM, "no memory for A and B of K = %lld", (long long)p->shape.k);
}

static mc_status convert_mask(work *w, mc_diag *diag) {
    mc_status status = formats_csr(&w->a, FORMAT_PATTERN, &w->formats[SPARSE_SAMPLED_CSR], diag);
    return status == MC_OK ? formats_bsr(&w->a, FORMAT_PATTERN, &w->formats[SPARSE_SAMPLED_BSR], diag)
                           : status;
}

static mc_status prepare(work *w, const work_plan *plan, mc_diag *diag) {
    if (w->a.vectors == 0) return mc_fail(diag, MC_CANNOT, "%s: the mask is empty", w->path);
    mc_status status = make_orders(w, plan, diag);
    if (status == MC_OK && plan->sparse_peers) status = convert_mask(w, diag);
    for (size_t i = 0; i < plan->size_count && status == MC_OK; i++) {
        status = make_operands(w, &w->problems[i], plan, diag);
        if (status == MC_OK && plan->sparse_peers) status = convert_operands(w, &w->problems[i], diag);
    }
    return status;
}

/* -- On the device --------------------------------------------------------------------------------------- */

static mc_status upload(race *r, const void *data, size_t bytes, uint64_t *address, mc_diag *diag) {
    mc_device *device = r->track->gpu.device;
    *address = 0;
    mc_status status = mc_device_alloc(device, bytes, address, diag);
    return status == MC_OK ? mc_device_write(device, *address, data, bytes, diag) : status;
}

static sampled_list list_of(const race *r, const our_sums *sums, bool weighted) {
    return (sampled_list){.slots = sums->slots,
                          .count = r->work->orders[sums->order].count,
                          .vec = r->work->a.vec,
                          .weighted = weighted,
                          .values = weighted ? sums->values : race_one(r)};
}

/* Row ROW of A times COLUMN of B, as our kernels get them. */
static int32_t product(const race *r, int64_t row, int64_t column) {
    const work_problem *p = r->problem;
    bool rows = r->track->variants.layout == MC_LAYOUT_ROWS;
    uint32_t sum = 0;
    if (column < 0 || column >= p->shape.n) return 0;
    for (int64_t k = 0; k < p->shape.k; k++)
        sum += (uint32_t)(mc_dense_get(&p->a, row, k) *
                          (rows ? mc_dense_get(&p->b, k, column) : mc_dense_get(&p->b, column, k)));
    return (int32_t)sum;
}

/* Some place below COUNT, another one for every I: the high half of a product with 2^64 / the golden ratio
   (Knuth). */
static int64_t place_of(int64_t i, int64_t count) {
    return (int64_t)(((uint64_t)(i + 1) * 0x9e3779b97f4a7c15u >> 32) % (uint64_t)count);
}

/* Some of the sums against the CPU: the reference of everything else must not be wrong itself. */
static mc_status check_samples(race *r, const our_sums *sums, mc_diag *diag) {
    const sampled_order *order = &r->work->orders[sums->order];
    int vec = r->work->a.vec;
    mc_status status = MC_OK;
    for (int64_t i = 0; i < SAMPLES && status == MC_OK; i++) {
        const sampled_slot *slot = &order->slots[place_of(i, order->count)];
        int row = (int)(i % vec);
        int32_t got = 0, want = product(r, (int64_t)slot->row_block * vec + row, slot->column);
        uint64_t at = sums->address + ((uint64_t)slot->first + (uint64_t)(row * slot->pitch)) * sizeof got;
        status = mc_device_read(r->track->gpu.device, at, &got, sizeof got, diag);
        if (status == MC_OK && got != want)
            status = mc_fail(diag, MC_MISMATCH, "mcbench's own sum of row %lld, column %d is %d, not %d",
                             (long long)slot->row_block * vec + row, slot->column, got, want);
    }
    return status;
}

static mc_status make_sums(race *r, our_sums *sums, mc_diag *diag) {
    const work_problem *p = r->problem;
    const sampled_order *order = &r->work->orders[sums->order];
    uint64_t a = 0, b = 0;
    size_t k_bytes = (size_t)p->shape.k * sizeof(int32_t);
    mc_status status =
        upload(r, order->slots, (size_t)order->count * sizeof *order->slots, &sums->slots, diag);
    if (status == MC_OK && order->values != NULL)
        status = upload(r, order->values, (size_t)order->elements * sizeof(float), &sums->values, diag);
    if (status == MC_OK) status = upload(r, p->wide_a, (size_t)p->shape.m * k_bytes, &a, diag);
    if (status == MC_OK) status = upload(r, p->wide_b, (size_t)r->work->padded_cols * k_bytes, &b, diag);
    const sampled_list list = list_of(r, sums, false);
    if (status == MC_OK)
        status = helpers_sampled_sums(&r->track->helpers, &list, a, b, p->shape.k, sums->address, diag);
    mc_device_free(r->track->gpu.device, a);
    mc_device_free(r->track->gpu.device, b);
    return status == MC_OK ? check_samples(r, sums, diag) : status;
}

static mc_status make_output(race *r, const our_sums *sums, const want_kind *kind, const output_rule *rule,
                             uint64_t out, mc_diag *diag) {
    const sampled_list list = list_of(r, sums, kind->output.masked);
    return helpers_sampled_output(&r->track->helpers, kind->output.type, &list, sums->address, out, rule,
                                  diag);
}

extern const operation operation_sddmm;
const operation operation_sddmm = {.op = MC_OP_SDDMM,
                                   .usual = "256",
                                   .k_contiguous = true,
                                   .dilate = dilate,
                                   .shape = shape,
                                   .prepare = prepare,
                                   .slots = slots,
                                   .make_sums = make_sums,
                                   .make_output = make_output,
                                   .load = floor_load_sddmm};
