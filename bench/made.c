#include <string.h>
#include "made.h"

mc_status made_sums(race *r, our_sums *sums, mc_diag *diag) {
    (void)r, (void)sums, (void)diag;
    return MC_OK;
}

/* The first variant that gives KIND says what else is computed. */
static const mc_kernel *kernel_of(const race *r, const want_kind *kind) {
    const variant_list *list = &r->track->variants;
    for (size_t i = 0; i < list->count; i++) {
        const mc_output *output = &list->items[i].output;
        if (list->items[i].error == NULL && output->type == kind->output.type &&
            output->scale == kind->output.scale)
            return list->items[i].kernel;
    }
    return NULL;
}

mc_status made_problem(const race *r, const want_kind *kind, plan_problem *problem, mc_diag *diag) {
    return plan_problem_read(kernel_of(r, kind), problem, diag);
}

/* The race's operands, and SCALE, where OP has them. */
static host_operands operands_of(const race *r, const mc_operator *op, const plan_problem *whole,
                                 const float *scale) {
    host_operands operands = race_operands(r);
    operands.problem = whole;
    for (size_t i = 0; i < op->operand_count; i++) {
        const operand_row *operand = &op->operands[i];
        if (operand->argument == offsetof(mc_args, a)) operands.inputs[i] = &r->problem->a;
        if (operand->argument == offsetof(mc_args, b)) operands.inputs[i] = &r->problem->b;
        if (scale != NULL && strcmp(operand->name, "scale") == 0) operands.factors[i] = scale;
    }
    return operands;
}

mc_status made_output(race *r, const want_kind *kind, const float *scale, uint64_t out, mc_diag *diag) {
    const mc_operator *op = operator_of(r->operation->op);
    plan_problem whole;
    const host_operands operands = operands_of(r, op, &whole, scale);
    reference_result want = {0};
    mc_status status = plan_problem_measure(kernel_of(r, kind), &operands, 0, &whole, diag);
    if (status == MC_OK) status = operator_expect(op, &operands, &want, diag);
    if (status == MC_OK) status = race_write_reals(r, &want.low, out, diag);
    mc_result_free(&want);
    return status;
}

floor_load made_load(const variant *v, const floor_problem *problem) {
    int64_t written = mc_type_size(v->output.type, problem->elements);
    return (floor_load){.memory = (double)(problem->a_bytes + written)};
}

/* -- Sampled operands --------------------------------------------------------------------------------- */

problem_shape made_sampled_shape(const mc_vsparse *a, int64_t size) {
    (void)size;
    return (problem_shape){a->rows, a->cols, 1};
}

int64_t made_sampled_slots(const mc_packed *packed, const mc_vsparse *a) {
    (void)packed;
    return a->vectors;
}

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

static const mc_order orders[] = {
    [ORDER_BCRS] = MC_ORDER_BCRS, [ORDER_SRBCRS16] = MC_ORDER_SRBCRS16, [ORDER_SRBCRS32] = MC_ORDER_SRBCRS32};

static mc_status make_values(const work *w, mc_order order, mc_type type, uint64_t seed, mc_dense *x,
                             mc_diag *diag) {
    mc_dense stored;
    mc_status status = mc_sampled_shape(&w->a, order, type, &stored, diag);
    if (status == MC_OK) status = mc_dense_create(stored.type, stored.rows, stored.cols, stored.ld, x, diag);
    if (status == MC_OK) mc_dense_fill(x, MC_VALUES_FULL, seed);
    return status;
}

mc_status made_sampled_prepare(work *w, const work_plan *plan, mc_diag *diag) {
    const variant_list *list = plan->variants;
    bool both = operator_has(operator_of(plan->operation->op), MEMBER_rhs);
    result_order order = ORDER_BCRS;
    if (w->a.vectors == 0) return mc_fail(diag, MC_CANNOT, "%s: the mask is empty", w->path);
    mc_status status = find_order(list, &order, diag);
    if (status == MC_OK) status = order_make(&w->a, order, false, &w->orders[order], diag);
    for (size_t i = 0; i < plan->size_count && status == MC_OK; i++) {
        work_problem *p = &w->problems[i];
        status = make_values(w, orders[order], list->lhs, plan->seed + 1, &p->a, diag);
        if (status == MC_OK && both)
            status = make_values(w, orders[order], list->rhs, plan->seed + 2, &p->b, diag);
    }
    return status;
}

floor_load made_sampled_load(const variant *v, const floor_problem *problem) {
    plan_problem p;
    if (plan_problem_read(v->kernel, &p, NULL) != MC_OK) return (floor_load){0};
    int64_t bytes = mc_type_size(p.lhs, problem->elements) + mc_type_size(p.out, problem->elements);
    if (operator_has(operator_of(p.op), MEMBER_rhs)) bytes += mc_type_size(p.rhs, problem->elements);
    return (floor_load){.memory = (double)bytes};
}
