/* slide24 in the bench, which refuses it. */
#include "made.h"

static mc_status dilate(const variant_list *list, const mc_csr *pattern, uint64_t seed, mc_vsparse *a,
                        mc_diag *diag) {
    (void)seed;
    return mc_vsparse_dilate(pattern, list->vec, MC_S8, a, diag);
}

static problem_shape shape(const mc_vsparse *a, int64_t size) { return (problem_shape){a->rows, size, size}; }

/* Results are as wide as operands here, and C is wider than A. */
static mc_status prepare(work *w, const work_plan *plan, mc_diag *diag) {
    (void)w, (void)plan;
    return mc_fail(diag, MC_CANNOT,
                   "mcbench has no race of slide24: mcrun slide24 --bench times its kernels");
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
