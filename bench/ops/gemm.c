/* gemm in the bench: of a file's matrix only the shape counts, which is A's; sizes are columns of B. */
#include "made.h"

static mc_status dilate(const variant_list *list, const mc_csr *pattern, uint64_t seed, mc_vsparse *a,
                        mc_diag *diag) {
    (void)seed;
    return mc_vsparse_dilate(pattern, list->vec, MC_S8, a, diag);
}

static problem_shape shape(const mc_vsparse *a, int64_t size) {
    return (problem_shape){a->rows, size, a->cols};
}

/* B lies by columns, as the kernels' default is. */
static mc_status make(work_problem *p, const work_plan *plan, mc_diag *diag) {
    const problem_shape *s = &p->shape;
    mc_status status = mc_dense_create(plan->variants->lhs, s->m, s->k, s->k, &p->a, diag);
    if (status == MC_OK) status = mc_dense_create(plan->variants->rhs, s->n, s->k, s->k, &p->b, diag);
    if (status != MC_OK) return status;
    mc_dense_fill(&p->a, MC_VALUES_FULL, plan->seed + 1);
    mc_dense_fill(&p->b, MC_VALUES_FULL, plan->seed + 2);
    return MC_OK;
}

static mc_status prepare(work *w, const work_plan *plan, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < plan->size_count && status == MC_OK; i++)
        status = make(&w->problems[i], plan, diag);
    return status;
}

static int64_t slots(const mc_packed *packed, const mc_vsparse *a) {
    (void)packed, (void)a;
    return 0;
}

static mc_status make_output(race *r, const our_sums *sums, const want_kind *kind, const output_rule *rule,
                             uint64_t out, mc_diag *diag) {
    (void)sums, (void)rule;
    return made_output(r, kind, race_factors(r, FACTOR_SCALES), out, diag);
}

extern const operation operation_gemm;
const operation operation_gemm = {.op = MC_OP_GEMM,
                                  .usual = "4096",
                                  .k_contiguous = true,
                                  .dilate = dilate,
                                  .shape = shape,
                                  .prepare = prepare,
                                  .slots = slots,
                                  .make_sums = made_sums,
                                  .make_output = make_output,
                                  .load = made_load};
