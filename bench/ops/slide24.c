/* slide24 in the bench: of a file's matrix only the rows count; sizes are columns. */
#include "made.h"

static mc_status dilate(const variant_list *list, const mc_csr *pattern, uint64_t seed, mc_vsparse *a,
                        mc_diag *diag) {
    (void)seed;
    return mc_vsparse_dilate(pattern, list->vec, MC_S8, a, diag);
}

static problem_shape shape(const mc_vsparse *a, int64_t size) { return (problem_shape){a->rows, size, size}; }

static mc_status prepare(work *w, const work_plan *plan, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < plan->size_count && status == MC_OK; i++) {
        const problem_shape *s = &w->problems[i].shape;
        status = mc_dense_create(plan->variants->lhs, s->m, s->n, s->n, &w->problems[i].a, diag);
        if (status == MC_OK) mc_dense_fill(&w->problems[i].a, MC_VALUES_FULL, plan->seed + 1);
    }
    return status;
}

static int64_t slots(const mc_packed *packed, const mc_vsparse *a) {
    (void)packed, (void)a;
    return 0;
}

static mc_status make_output(race *r, const our_sums *sums, const want_kind *kind, const output_rule *rule,
                             uint64_t out, mc_diag *diag) {
    (void)sums, (void)rule;
    return made_output(r, kind, NULL, out, diag);
}

extern const operation operation_slide24;
const operation operation_slide24 = {.op = MC_OP_SLIDE24,
                                     .usual = "4096",
                                     .dilate = dilate,
                                     .shape = shape,
                                     .prepare = prepare,
                                     .slots = slots,
                                     .make_sums = made_sums,
                                     .make_output = make_output,
                                     .load = made_load};
