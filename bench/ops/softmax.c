/* softmax in the bench: values in the one order that all variants have. It has no size beside the mask's. */
#include "operation.h"
#include "race_state.h"

enum { X, SCALE };

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

/* There are none: C is made of A itself. */
static mc_status make_sums(race *r, our_sums *sums, mc_diag *diag) {
    (void)r, (void)sums, (void)diag;
    return MC_OK;
}

/* The first variant that gives KIND says what else is computed. */
static const mc_kernel *kernel_of(const race *r, const want_kind *kind) {
    const variant_list *list = &r->track->variants;
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].error == NULL && list->items[i].output.type == kind->output.type &&
            list->items[i].output.scale == kind->output.scale)
            return list->items[i].kernel;
    return NULL;
}

static mc_status make_output(race *r, const our_sums *sums, const want_kind *kind, const output_rule *rule,
                             uint64_t out, mc_diag *diag) {
    const mc_operator *op = operator_of(MC_OP_SOFTMAX);
    const mc_kernel *kernel = kernel_of(r, kind);
    plan_problem whole;
    host_operands operands = {.problem = &whole, .matrix = &r->work->a};
    reference_result want = {0};
    (void)sums, (void)rule;
    mc_status status = plan_problem_read(kernel, &whole, diag);
    if (status != MC_OK) return status;
    operands.inputs[X] = &r->problem->a;
    if (whole.scale != MC_PER_NONE) operands.factors[SCALE] = race_factors(r, FACTOR_SCALES);
    if (whole.c_scale != MC_PER_NONE || whole.lse != MC_PER_NONE)
        return mc_fail(diag, MC_CANNOT, "mcbench knows no c_scale of a softmax, and no lse");
    status = plan_problem_measure(kernel, &operands, 0, &whole, diag);
    if (status == MC_OK) status = operator_expect(op, &operands, &want, diag);
    if (status == MC_OK) status = race_write_reals(r, &want.low, out, diag);
    mc_result_free(&want);
    return status;
}

static floor_load load(const variant *v, const floor_problem *problem) {
    int64_t written = mc_type_size(v->output.type, problem->elements);
    return (floor_load){.memory = (double)(problem->a_bytes + written)};
}

extern const operation operation_softmax;
const operation operation_softmax = {.op = MC_OP_SOFTMAX,
                                     .usual = "1",
                                     .dilate = dilate,
                                     .shape = shape,
                                     .prepare = prepare,
                                     .slots = slots,
                                     .make_sums = make_sums,
                                     .make_output = make_output,
                                     .load = load};
