/* softmax_grad in the bench: values in the one order that all variants have, exact results. */
#include "made.h"

static mc_status dilate(const variant_list *list, const mc_csr *pattern, uint64_t seed, mc_vsparse *mask,
                        mc_diag *diag) {
    (void)seed;
    return mc_vsparse_dilate(pattern, list->vec, MC_F32, mask, diag);
}

static mc_status make_output(race *r, const our_sums *sums, const want_kind *kind, const output_rule *rule,
                             uint64_t out, mc_diag *diag) {
    plan_problem p;
    (void)sums, (void)rule;
    mc_status status = made_problem(r, kind, &p, diag);
    bool scaled = status == MC_OK && p.scale != MC_PER_NONE;
    return status == MC_OK ? made_output(r, kind, scaled ? race_factors(r, FACTOR_SCALES) : NULL, out, diag)
                           : status;
}

extern const operation operation_softmax_grad;
const operation operation_softmax_grad = {.op = MC_OP_SOFTMAX_GRAD,
                                          .usual = "1",
                                          .dilate = dilate,
                                          .shape = made_sampled_shape,
                                          .prepare = made_sampled_prepare,
                                          .slots = made_sampled_slots,
                                          .make_sums = made_sums,
                                          .make_output = make_output,
                                          .load = made_sampled_load};
