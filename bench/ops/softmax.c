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

static problem_shape shape(const mc_vsparse *a, int64_t size) {
    (void)size;
    return (problem_shape){a->rows, a->cols, 1};
}

static const mc_order orders[] = {
    [ORDER_BCRS] = MC_ORDER_BCRS, [ORDER_SRBCRS16] = MC_ORDER_SRBCRS16, [ORDER_SRBCRS32] = MC_ORDER_SRBCRS32};

static mc_status find_order(const variant_list *list, result_order *order, mc_diag *diag) {
    bool found = false;
    for (size_t i = 0; i < list->count; i++) {
        const variant *v = &list->items[i];
        if (v->error != NULL) continue;
        if (found && v->order != *order)
            return mc_fail(diag, MC_CANNOT,
                           "the variants' values lie in several orders: bench one at a time");
        *order = v->order, found = true;
    }
    return MC_OK;
}

static mc_status prepare(work *w, const work_plan *plan, mc_diag *diag) {
    const variant_list *list = plan->variants;
    result_order order = ORDER_BCRS;
    mc_dense stored;
    if (w->a.vectors == 0) return mc_fail(diag, MC_CANNOT, "%s: the mask is empty", w->path);
    mc_status status = find_order(list, &order, diag);
    if (status == MC_OK) status = order_make(&w->a, order, false, &w->orders[order], diag);
    if (status == MC_OK) status = mc_sampled_shape(&w->a, orders[order], list->lhs, &stored, diag);
    for (size_t i = 0; i < plan->size_count && status == MC_OK; i++) {
        mc_dense *x = &w->problems[i].a;
        status = mc_dense_create(stored.type, stored.rows, stored.cols, stored.ld, x, diag);
        if (status == MC_OK) mc_dense_fill(x, MC_VALUES_FULL, plan->seed + 1);
    }
    return status;
}

static int64_t slots(const mc_packed *packed, const mc_vsparse *a) {
    (void)packed;
    return a->vectors;
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
                                     .shape = shape,
                                     .prepare = prepare,
                                     .slots = slots,
                                     .make_sums = made_sums,
                                     .make_output = make_output,
                                     .load = made_load};
