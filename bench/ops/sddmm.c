/* SDDMM in the bench: A and B of every K, and the places of C's elements. The GPU computes the exact sums, of
   floats the sums for the peers, by a plain kernel of ours; the CPU computes some of them again. Between what
   our kernels' sums of floats may lie the CPU says of all. */
#include <math.h>
#include <stdlib.h>
#include "base/real.h"
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

/* The same in f32: of floats their values, of s8 these / 128. */
static float *widen_reals(const mc_dense *from, bool columns, int64_t rows, int64_t k) {
    int64_t there = columns ? from->cols : from->rows;
    float *wide = calloc((size_t)(rows * k), sizeof *wide);
    bool real = mc_type_is_real(from->type);
    for (int64_t i = 0; i < there && wide != NULL; i++)
        for (int64_t j = 0; j < k; j++) {
            int64_t value = columns ? mc_dense_get(from, j, i) : mc_dense_get(from, i, j);
            wide[i * k + j] = real ? real_factor_value(from->type, value) : (float)(int8_t)value / 128;
        }
    return wide;
}

static mc_status make_ranges(const work *w, work_problem *p, mc_layout layout, mc_diag *diag) {
    mc_dense sums = {0}, bounds = {0};
    mc_status status = mc_reference_sddmm(&w->a, &p->a, &p->b, layout, &sums, diag);
    if (status == MC_OK) status = mc_reference_sddmm_bounds(&w->a, &p->a, &p->b, layout, &bounds, diag);
    if (status == MC_OK) status = mc_sum_range_make(&sums, &bounds, &p->within, diag);
    mc_dense_free(&sums);
    mc_dense_free(&bounds);
    return status;
}

/* What the helper kernels read. */
static mc_status widen_operands(const work *w, work_problem *p, const work_plan *plan, mc_diag *diag) {
    const problem_shape *s = &p->shape;
    bool rows = plan->variants->layout == MC_LAYOUT_ROWS, within = work_is_within(plan->variants);
    if (within || plan->sparse_peers) {
        p->a_float = widen_reals(&p->a, false, s->m, s->k);
        p->b_float = widen_reals(&p->b, rows, w->padded_cols, s->k);
    }
    if (!within) {
        p->wide_a = widen(&p->a, false, s->m, s->k);
        p->wide_b = widen(&p->b, rows, w->padded_cols, s->k);
    }
    bool whole = within || (p->wide_a != NULL && p->wide_b != NULL);
    if (within || plan->sparse_peers) whole = whole && p->a_float != NULL && p->b_float != NULL;
    return whole ? MC_OK : mc_fail(diag, MC_NOMEM, "no memory for A and B of K = %lld", (long long)s->k);
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
    status = widen_operands(w, p, plan, diag);
    return status == MC_OK && work_is_within(list) ? make_ranges(w, p, list->layout, diag) : status;
}

/* -- For the sparse peers: values of s8 / 128, or floats as they are */

static uint16_t *halves_of(mc_type type, const float *wide, size_t count) {
    uint16_t *halves = malloc(count * sizeof *halves);
    mc_type half = type == MC_BF16 ? MC_BF16 : MC_F16;
    for (size_t i = 0; i < count && halves != NULL; i++) halves[i] = (uint16_t)real_to_bits(half, wide[i]);
    return halves;
}

static mc_status convert_operands(const work *w, work_problem *p, mc_diag *diag) {
    p->a_half = halves_of(p->a.type, p->a_float, (size_t)(p->shape.m * p->shape.k));
    p->b_half = halves_of(p->b.type, p->b_float, (size_t)(w->padded_cols * p->shape.k));
    if (p->a_half != NULL && p->b_half != NULL) return MC_OK;
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

/* Bits of an element of A, and of B, as our kernels get them. */
typedef struct factor_pair {
    int64_t a, b;
} factor_pair;

static factor_pair factors_at(const race *r, int64_t row, int64_t column, int64_t k) {
    const work_problem *p = r->problem;
    bool rows = r->track->variants.layout == MC_LAYOUT_ROWS;
    return (factor_pair){mc_dense_get(&p->a, row, k),
                         rows ? mc_dense_get(&p->b, k, column) : mc_dense_get(&p->b, column, k)};
}

/* Row ROW of A times COLUMN of B. */
static int32_t product(const race *r, int64_t row, int64_t column) {
    uint32_t sum = 0;
    for (int64_t k = 0; k < r->problem->shape.k; k++) {
        const factor_pair f = factors_at(r, row, column, k);
        sum += (uint32_t)(f.a * f.b);
    }
    return (int32_t)sum;
}

/* The same of floats: how far GOT may be off it is a matter of the magnitudes. */
static bool is_product(const race *r, int64_t row, int64_t column, float got) {
    double sum = 0, magnitude = 0;
    const work_problem *p = r->problem;
    for (int64_t k = 0; k < p->shape.k; k++) {
        const factor_pair f = factors_at(r, row, column, k);
        double term = (double)real_factor_value(p->a.type, f.a) * (double)real_factor_value(p->b.type, f.b);
        sum += term;
        magnitude += fabs(term);
    }
    return fabs((double)got - sum) <= (double)(p->shape.k + 1) * 0x1p-24 * magnitude;
}

/* Some place below COUNT, another one for every I: the high half of a product with 2^64 / the golden ratio
   (Knuth). */
static int64_t place_of(int64_t i, int64_t count) {
    return (int64_t)(((uint64_t)(i + 1) * 0x9e3779b97f4a7c15u >> 32) % (uint64_t)count);
}

/* A sum of the GPU's: s32, or of floats the bits of one in f32. Columns from n on are zeros. */
static mc_status check_sum(const race *r, int64_t row, int32_t column, int32_t got, mc_diag *diag) {
    bool inside = column >= 0 && column < r->problem->shape.n;
    const int32_t want = inside && !work_is_within(&r->track->variants) ? product(r, row, column) : 0;
    float real = real_from_bits(MC_F32, (uint32_t)got);
    if (inside && work_is_within(&r->track->variants)) {
        if (is_product(r, row, column, real)) return MC_OK;
        return mc_fail(diag, MC_MISMATCH, "mcbench's own sum of row %lld, column %d is %g, too far off",
                       (long long)row, column, (double)real);
    }
    if (got == want) return MC_OK;
    return mc_fail(diag, MC_MISMATCH, "mcbench's own sum of row %lld, column %d is %d, not %d",
                   (long long)row, column, got, want);
}

/* Some of the sums against the CPU: the reference of everything else must not be wrong itself. */
static mc_status check_samples(race *r, const our_sums *sums, mc_diag *diag) {
    const sampled_order *order = &r->work->orders[sums->order];
    int vec = r->work->a.vec;
    mc_status status = MC_OK;
    for (int64_t i = 0; i < SAMPLES && status == MC_OK; i++) {
        const sampled_slot *slot = &order->slots[place_of(i, order->count)];
        int row = (int)(i % vec);
        int32_t got = 0;
        uint64_t at = sums->address + ((uint64_t)slot->first + (uint64_t)(row * slot->pitch)) * sizeof got;
        status = mc_device_read(r->track->gpu.device, at, &got, sizeof got, diag);
        if (status == MC_OK)
            status = check_sum(r, (int64_t)slot->row_block * vec + row, slot->column, got, diag);
    }
    return status;
}

static mc_status make_sums(race *r, our_sums *sums, mc_diag *diag) {
    const work_problem *p = r->problem;
    const sampled_order *order = &r->work->orders[sums->order];
    bool within = work_is_within(&r->track->variants);
    const void *from_a = within ? (const void *)p->a_float : p->wide_a,
               *from_b = within ? (const void *)p->b_float : p->wide_b;
    uint64_t a = 0, b = 0;
    size_t k_bytes = (size_t)p->shape.k * sizeof(int32_t);
    mc_status status =
        upload(r, order->slots, (size_t)order->count * sizeof *order->slots, &sums->slots, diag);
    if (status == MC_OK && order->values != NULL)
        status = upload(r, order->values, (size_t)order->elements * sizeof(float), &sums->values, diag);
    if (status == MC_OK) status = upload(r, from_a, (size_t)p->shape.m * k_bytes, &a, diag);
    if (status == MC_OK) status = upload(r, from_b, (size_t)r->work->padded_cols * k_bytes, &b, diag);
    const sampled_list list = list_of(r, sums, false);
    if (status == MC_OK)
        status = helpers_sampled_sums(&r->track->helpers, within ? MC_F32 : MC_S32, &list, a, b, p->shape.k,
                                      sums->address, diag);
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

static mc_status make_range(race *r, const want_kind *kind, reference_result *want, mc_diag *diag) {
    static const mc_order orders[] = {[ORDER_BCRS] = MC_ORDER_BCRS,
                                      [ORDER_SRBCRS16] = MC_ORDER_SRBCRS16,
                                      [ORDER_SRBCRS32] = MC_ORDER_SRBCRS32};
    return mc_reference_sampled_range(&kind->output, &r->work->a, orders[kind->order],
                                      race_factors(r, FACTOR_SCALES), &r->problem->within, want, diag);
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
                                   .make_range = make_range,
                                   .load = floor_load_sddmm};
