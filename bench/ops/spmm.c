/* SpMM in the bench: B and C of every N, and the exact product, which the CPU multiplies. */
#include <stdlib.h>
#include <string.h>
#include "operation.h"
#include "race_state.h"

static problem_shape shape(const mc_vsparse *a, int64_t size) {
    return (problem_shape){a->rows, size, a->cols};
}

/* What mc_vsparse_fill gives, none beyond what the variants' digits hold. */
static mc_status dilate(const variant_list *list, const mc_csr *pattern, uint64_t seed, mc_vsparse *a,
                        mc_diag *diag) {
    mc_status status = mc_vsparse_dilate(pattern, list->vec, list->lhs, a, diag);
    if (status != MC_OK) return status;
    mc_vsparse_fill(a, MC_VALUES_FULL, seed, NULL);
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].error == NULL) mc_vsparse_clamp(a, mc_pack_most(list->items[i].kernel, list->lhs));
    return MC_OK;
}

/* -- On the host ----------------------------------------------------------------------------------------- */

static mc_status convert_a(work *w, mc_diag *diag) {
    mc_status status = formats_csr(&w->a, FORMAT_F16, &w->formats[SPARSE_CSR], diag);
    if (status == MC_OK) status = formats_bsr(&w->a, FORMAT_F16, &w->formats[SPARSE_BSR], diag);
    if (status == MC_OK) status = formats_blocked_ell(&w->a, FORMAT_F16, &w->formats[SPARSE_ELL], diag);
    if (status == MC_OK) status = formats_blocked_ell(&w->a, FORMAT_S8, &w->formats[SPARSE_ELL_S8], diag);
    return status;
}

/* The first n columns of the widest B and C. */
static mc_status narrow(work_problem *p, const mc_dense *b, const mc_dense *want, mc_diag *diag) {
    const problem_shape *s = &p->shape;
    mc_status status = mc_dense_create(b->type, s->k, s->n, work_whole_bytes(b->type, s->n), &p->b, diag);
    p->want = malloc((size_t)(s->m * s->n) * sizeof *p->want);
    if (status != MC_OK || p->want == NULL)
        return mc_fail(diag, MC_NOMEM, "no memory for B and C of N = %lld", (long long)s->n);
    size_t to = (size_t)mc_type_size(b->type, p->b.ld), from = (size_t)mc_type_size(b->type, b->ld);
    for (size_t k = 0; k < (size_t)s->k; k++)
        memcpy((char *)p->b.data + k * to, (const char *)b->data + k * from,
               (size_t)mc_type_size(b->type, s->n));
    for (int64_t row = 0; row < s->m; row++)
        for (int64_t j = 0; j < s->n; j++)
            p->want[row * s->n + j] = (int32_t)((const int64_t *)want->data)[row * want->ld + j];
    return MC_OK;
}

/* B as the sparse peers want it. */
static mc_status convert_b(const work *w, work_problem *p, mc_diag *diag) {
    int64_t n = p->shape.n;
    const int8_t *b = p->b.data;
    p->b_half = calloc((size_t)(w->padded_cols * n), sizeof *p->b_half);
    p->b_cols = calloc((size_t)(w->padded_cols * n), 1);
    if (p->b_half == NULL || p->b_cols == NULL)
        return mc_fail(diag, MC_NOMEM, "no memory for B of N = %lld", (long long)n);
    for (int64_t k = 0; k < p->shape.k; k++)
        for (int64_t j = 0; j < n; j++) {
            p->b_half[k * n + j] = half_of_s8(b[k * n + j]);
            p->b_cols[j * w->padded_cols + k] = b[k * n + j];
        }
    return MC_OK;
}

/* Columns of B do not depend on how many there are (mc_dense_fill), so one product serves every N. */
static mc_status multiply(work *w, const work_plan *plan, mc_diag *diag) {
    mc_dense b = {0}, want = {0};
    int64_t widest = 0;
    for (size_t i = 0; i < plan->size_count; i++)
        if (plan->sizes[i] > widest) widest = plan->sizes[i];
    mc_type type = plan->variants->rhs;
    mc_status status = mc_dense_create(type, w->a.cols, widest, work_whole_bytes(type, widest), &b, diag);
    if (status == MC_OK) mc_dense_fill(&b, MC_VALUES_FULL, plan->seed + 1);
    if (status == MC_OK) status = mc_reference_spmm(&w->a, &b, &want, diag);
    for (size_t i = 0; i < plan->size_count && status == MC_OK; i++)
        status = narrow(&w->problems[i], &b, &want, diag);
    mc_dense_free(&b);
    mc_dense_free(&want);
    return status;
}

/* Values of more than 8 bits have two planes. */
static int64_t slots(const mc_packed *packed, const mc_vsparse *a) {
    const mc_packed_array *values = mc_packed_find(packed, "values");
    return values == NULL ? 0 : values->count / a->vec / (mc_type_bits(a->type) > 8 ? 2 : 1);
}

static mc_status prepare(work *w, const work_plan *plan, mc_diag *diag) {
    mc_status status = multiply(w, plan, diag);
    if (status == MC_OK && plan->sparse_peers) status = convert_a(w, diag);
    for (size_t i = 0; i < plan->size_count && status == MC_OK && plan->sparse_peers; i++)
        status = convert_b(w, &w->problems[i], diag);
    return status;
}

/* -- On the device --------------------------------------------------------------------------------------- */

/* What the CPU multiplied. */
static mc_status make_sums(race *r, our_sums *sums, mc_diag *diag) {
    return mc_device_write(r->track->gpu.device, sums->address, r->problem->want,
                           (size_t)sums->elements * sizeof(int32_t), diag);
}

/* What the helpers' kernels do not compute. */
static bool is_more(const mc_output *o) {
    return mc_type_bytes(o->type) == 1 || o->activation > MC_ACTIVATION_RELU || o->b_scale != MC_PER_NONE ||
           o->c_scale != MC_PER_NONE || o->zero != MC_PER_NONE;
}

static mc_status make_on_host(race *r, const mc_output *output, uint64_t out, mc_diag *diag) {
    const problem_shape *s = &r->problem->shape;
    const mc_factors factors = {.scale = race_factors(r, FACTOR_SCALES),
                                .b_scale = race_factors(r, FACTOR_B_SCALES),
                                .bias = race_factors(r, FACTOR_BIASES),
                                .c_scale = &race_c_scale,
                                .zero = &race_zero};
    mc_dense sums = {0}, c = {0};
    mc_status status = mc_dense_create(MC_S64, s->m, s->n, s->n, &sums, diag);
    for (int64_t i = 0; status == MC_OK && i < s->m * s->n; i++)
        ((int64_t *)sums.data)[i] = r->problem->want[i];
    if (status == MC_OK) status = mc_reference_output(output, &factors, &sums, &c, diag);
    if (status == MC_OK) status = race_write_reals(r, &c, out, diag);
    mc_dense_free(&sums);
    mc_dense_free(&c);
    return status;
}

static mc_status make_output(race *r, const our_sums *sums, const want_kind *kind, const output_rule *rule,
                             uint64_t out, mc_diag *diag) {
    const problem_shape *s = &r->problem->shape;
    if (is_more(&kind->output)) return make_on_host(r, &kind->output, out, diag);
    return helpers_output(&r->track->helpers, kind->output.type, sums->address, out, s->m, s->n, rule, diag);
}

extern const operation operation_spmm;
const operation operation_spmm = {.op = MC_OP_SPMM,
                                  .usual = "256,512",
                                  .dilate = dilate,
                                  .shape = shape,
                                  .prepare = prepare,
                                  .slots = slots,
                                  .make_sums = make_sums,
                                  .make_output = make_output,
                                  .load = floor_load_spmm};
