/* softmax in the bench: values in the one order that all variants have. It has no size beside the mask's. */
#include "made.h"

static bool is_masked(const variant_list *list) {
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].error == NULL && list->items[i].output.masked) return true;
    return false;
}

static mc_status dilate(const variant_list *list, const mc_csr *pattern, uint64_t seed, mc_vsparse *mask,
                        mc_diag *diag) {
    mc_status status = mc_vsparse_dilate(pattern, list->vec, MC_F32, mask, diag);
    if (status == MC_OK && is_masked(list))
        mc_bias_fill(mask->values, mask->vectors * mask->vec, MC_VALUES_FULL, seed);
    return status;
}

static mc_status make_output(race *r, const our_sums *sums, const want_kind *kind, const output_rule *rule,
                             uint64_t out, mc_diag *diag) {
    plan_problem p;
    (void)sums, (void)rule;
    mc_status status = made_problem(r, kind, &p, diag);
    if (status != MC_OK) return status;
    if (p.c_scale != MC_PER_NONE || p.lse != MC_PER_NONE || p.exp != MC_EXP_POLYNOMIAL)
        return mc_fail(diag, MC_CANNOT,
                       "mcbench knows no c_scale of a softmax, no lse, and no exp but the polynomial");
    bool scaled = p.scale != MC_PER_NONE;
    return made_output(r, kind, scaled ? race_factors(r, FACTOR_SCALES) : NULL, out, diag);
}

extern const operation operation_softmax;
const operation operation_softmax = {.op = MC_OP_SOFTMAX,
                                     .usual = "1",
                                     .dilate = dilate,
                                     .shape = made_sampled_shape,
                                     .prepare = made_sampled_prepare,
                                     .slots = made_sampled_slots,
                                     .make_sums = made_sums,
                                     .make_output = make_output,
                                     .load = made_sampled_load};
