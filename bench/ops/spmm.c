/* SpMM in the bench: B and C of every N, and the product, which the CPU multiplies: exact, or of floats with
   its bounds. */
#include <stdlib.h>
#include <string.h>
#include "base/real.h"
#include "peers.h"
#include "products.h"

static problem_shape shape(const mc_vsparse *a, int64_t size) {
    return (problem_shape){a->rows, size, a->cols};
}

/* What mc_vsparse_fill gives, none beyond what the variants' digits hold. */
static mc_status dilate(const variant_list *list, const mc_csr *pattern, uint64_t seed, mc_vsparse *a,
                        mc_diag *diag) {
    mc_status status = mc_vsparse_dilate(pattern, list->vec, list->lhs, a, diag);
    if (status != MC_OK) return status;
    mc_vsparse_fill(a, MC_VALUES_FULL, seed, NULL);
    if (mc_type_is_real(list->lhs)) return MC_OK;
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].error == NULL) mc_vsparse_clamp(a, mc_pack_most(list->items[i].kernel, list->lhs));
    return MC_OK;
}

/* -- On the host ----------------------------------------------------------------------------------------- */

static sparse_sides sides_of(const work *w) { return (sparse_sides){MC_OP_SPMM, w->a.type, w->a.vec, 0}; }

/* What FORMAT stores of A's values. */
static format_values kept_by(int format, mc_type type) {
    mc_type operand = sparse_operand(format, type);
    return operand == MC_F32 ? FORMAT_F32 : operand == type ? FORMAT_OWN : FORMAT_HALVES;
}

/* A format that would be too long is left without arrays. */
static mc_status leave_out(sparse_arrays *arrays, mc_diag *diag) {
    sparse_arrays_free(arrays);
    mc_diag_clear(diag);
    return MC_OK;
}

/* A in each format that takes part. */
static mc_status convert_a(work *w, mc_diag *diag) {
    static mc_status (*const make[])(const mc_vsparse *, format_values, sparse_arrays *, mc_diag *) = {
        [CSR] = formats_csr, [COO] = formats_coo, [BSR] = formats_bsr, [BLOCKED_ELL] = formats_blocked_ell};
    const sparse_sides sides = sides_of(w);
    mc_status status = MC_OK;
    for (int i = 0; i < SPARSE_FORMATS && status == MC_OK; i++) {
        const sparse_format *f = &sparse_formats[i];
        if (!sparse_is_of(i, &sides) || f->block != 0) continue;
        const format_values kept = kept_by(i, w->a.type);
        status = f->join != 0 ? formats_bsr_joined(&w->a, f->join, kept, &w->formats[i], diag)
                              : make[f->layout](&w->a, kept, &w->formats[i], diag);
        bool blocks = f->layout == BSR || f->layout == BLOCKED_ELL;
        if (status == MC_CANNOT && blocks) status = leave_out(&w->formats[i], diag);
    }
    return status;
}

/* Matrices of whole blocks, of A's shape and sparsity. What they give a dense product tells. */
static mc_status make_uniform(work *w, uint64_t seed, mc_diag *diag) {
    const sparse_sides sides = sides_of(w);
    mc_status status = MC_OK;
    for (int i = 0; i < SPARSE_FORMATS && status == MC_OK; i++) {
        const uniform_blocks of = {.rows = w->a.rows,
                                   .cols = w->a.cols,
                                   .block = sparse_formats[i].block,
                                   .sparsity = 1 - (double)w->a.vectors /
                                                       ((double)w->a.row_blocks * (double)w->a.cols),
                                   .type = sparse_operand(i, w->a.type),
                                   .seed = seed};
        if (of.block == 0 || !sparse_is_of(i, &sides)) continue;
        status = peer_check_dense("A", of.rows, of.cols, of.type, diag);
        if (status == MC_OK) status = formats_uniform_ell(&of, &w->formats[i], diag);
        if (status == MC_CANNOT) status = leave_out(&w->formats[i], diag);
    }
    return status;
}

/* The first N columns of an f32 matrix. */
static mc_status narrow_reals(const mc_dense *from, int64_t n, mc_dense *to, mc_diag *diag) {
    mc_status status = mc_dense_create(MC_F32, from->rows, n, n, to, diag);
    for (int64_t row = 0; row < from->rows && status == MC_OK; row++)
        memcpy((float *)to->data + row * n, (const float *)from->data + row * from->ld,
               (size_t)n * sizeof(float));
    return status;
}

/* The first n columns of what an N of the widest B has. */
typedef struct widest {
    mc_dense b, sums;
    sum_range within;
} widest;

static mc_status narrow_sums(work_problem *p, const widest *of, mc_diag *diag) {
    const problem_shape *s = &p->shape;
    if (of->within.least.data != NULL) {
        mc_status status = narrow_reals(&of->within.least, s->n, &p->within.least, diag);
        return status == MC_OK ? narrow_reals(&of->within.most, s->n, &p->within.most, diag) : status;
    }
    p->want = malloc((size_t)(s->m * s->n) * sizeof *p->want);
    if (p->want == NULL) return mc_fail(diag, MC_NOMEM, "no memory for C of N = %lld", (long long)s->n);
    for (int64_t row = 0; row < s->m; row++)
        for (int64_t j = 0; j < s->n; j++)
            p->want[row * s->n + j] = (int32_t)((const int64_t *)of->sums.data)[row * of->sums.ld + j];
    return MC_OK;
}

static mc_status narrow(work_problem *p, const widest *of, mc_diag *diag) {
    const problem_shape *s = &p->shape;
    const mc_dense *b = &of->b;
    mc_status status = mc_dense_create(b->type, s->k, s->n, work_whole_bytes(b->type, s->n), &p->b, diag);
    if (status != MC_OK) return status;
    size_t to = (size_t)mc_type_size(b->type, p->b.ld), from = (size_t)mc_type_size(b->type, b->ld);
    for (size_t k = 0; k < (size_t)s->k; k++)
        memcpy((char *)p->b.data + k * to, (const char *)b->data + k * from,
               (size_t)mc_type_size(b->type, s->n));
    return narrow_sums(p, of, diag);
}

/* Columns of B do not depend on how many there are (mc_dense_fill), so one product serves every N. */
static mc_status multiply(work *w, const work_plan *plan, mc_diag *diag) {
    widest of = {0};
    mc_dense bounds = {0};
    int64_t n = 0;
    bool within = work_is_within(plan->variants);
    for (size_t i = 0; i < plan->size_count; i++)
        if (plan->sizes[i] > n) n = plan->sizes[i];
    mc_type type = plan->variants->rhs;
    mc_status status = mc_dense_create(type, w->a.cols, n, work_whole_bytes(type, n), &of.b, diag);
    if (status == MC_OK) mc_dense_fill(&of.b, MC_VALUES_FULL, plan->seed + 1);
    if (status == MC_OK) status = mc_reference_spmm(&w->a, &of.b, &of.sums, diag);
    if (status == MC_OK && within) status = mc_reference_spmm_bounds(&w->a, &of.b, &bounds, diag);
    if (status == MC_OK && within) status = mc_sum_range_make(&of.sums, &bounds, &of.within, diag);
    for (size_t i = 0; i < plan->size_count && status == MC_OK; i++)
        status = narrow(&w->problems[i], &of, diag);
    mc_dense_free(&of.b);
    mc_dense_free(&of.sums);
    mc_dense_free(&bounds);
    mc_sum_range_free(&of.within);
    return status;
}

/* B as the sparse peers want it. */
static void convert_element(const work *w, work_problem *p, int64_t k, int64_t j) {
    int64_t n = p->shape.n, value = mc_dense_get(&p->b, k, j);
    bool real = mc_type_is_real(p->b.type);
    if (p->b_half != NULL) p->b_half[k * n + j] = real ? (uint16_t)value : half_of_s8((int8_t)value);
    if (real) p->b_float[k * n + j] = real_factor_value(p->b.type, value);
    else p->b_cols[j * w->padded_cols + k] = (int8_t)value;
}

static mc_status convert_b(const work *w, work_problem *p, mc_diag *diag) {
    bool real = mc_type_is_real(p->b.type), narrow = mc_type_bytes(p->b.type) <= 2;
    size_t count = (size_t)(w->padded_cols * p->shape.n);
    if (narrow) p->b_half = calloc(count, sizeof *p->b_half);
    if (real) p->b_float = calloc(count, sizeof *p->b_float);
    else p->b_cols = calloc(count, 1);
    if ((narrow && p->b_half == NULL) || (p->b_cols == NULL && p->b_float == NULL))
        return mc_fail(diag, MC_NOMEM, "no memory for B of N = %lld", (long long)p->shape.n);
    for (int64_t k = 0; k < p->shape.k; k++)
        for (int64_t j = 0; j < p->shape.n; j++) convert_element(w, p, k, j);
    return MC_OK;
}

/* The columns of panels, each of which serves all rows of its panel; NULL: A is packed otherwise. */
static const mc_packed_array *panel_columns(const mc_packed *packed) {
    const mc_packed_array *of_blocks = mc_packed_find(packed, "active_cols");
    if (of_blocks != NULL) return of_blocks;
    return mc_packed_find(packed, "items") != NULL ? mc_packed_find(packed, "col_idx") : NULL;
}

/* -1 stands where a panel has no more columns; narrower ones are not of panels. */
static int64_t named(const mc_packed *packed, const mc_vsparse *a) {
    const mc_packed_array *columns = panel_columns(packed);
    int64_t count = 0;
    if (columns == NULL || columns->type != MC_S32) return a->vectors;
    for (int64_t i = 0; i < columns->count; i++) count += ((const int32_t *)columns->data)[i] >= 0;
    return count;
}

/* Values of more than 8 bits have two planes. */
static int64_t slots(const mc_packed *packed, const mc_vsparse *a) {
    if (panel_columns(packed) != NULL) return panel_columns(packed)->count;
    const mc_packed_array *values = mc_packed_find(packed, "values");
    return values == NULL ? 0 : values->count / a->vec / (mc_type_bits(a->type) > 8 ? 2 : 1);
}

static mc_status prepare(work *w, const work_plan *plan, mc_diag *diag) {
    if (plan->variants->by_columns)
        return mc_fail(diag, MC_CANNOT,
                       "mcbench has B and C by columns of operands drawn on the GPU alone: --shapes");
    mc_status status = multiply(w, plan, diag);
    if (status == MC_OK && plan->sparse_peers) status = convert_a(w, diag);
    if (status == MC_OK && plan->sparse_peers) status = make_uniform(w, plan->seed + 2, diag);
    for (size_t i = 0; i < plan->size_count && status == MC_OK && plan->sparse_peers; i++)
        status = convert_b(w, &w->problems[i], diag);
    return status;
}

extern const operation operation_spmm;
const operation operation_spmm = {.op = MC_OP_SPMM,
                                  .usual = "256,512",
                                  .plain = true,
                                  .drawn = true,
                                  .dilate = dilate,
                                  .shape = shape,
                                  .prepare = prepare,
                                  .slots = slots,
                                  .named = named,
                                  .make_sums = products_sums,
                                  .make_output = products_output,
                                  .make_range = products_range,
                                  .load = floor_load_spmm};
