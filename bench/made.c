#include "made.h"

enum { SCALE = 1 };

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

mc_status made_output(race *r, const want_kind *kind, const float *scale, uint64_t out, mc_diag *diag) {
    plan_problem whole;
    host_operands operands = race_operands(r);
    operands.problem = &whole;
    if (scale != NULL) operands.factors[SCALE] = scale;
    reference_result want = {0};
    mc_status status = plan_problem_measure(kernel_of(r, kind), &operands, 0, &whole, diag);
    if (status == MC_OK) status = operator_expect(operator_of(whole.op), &operands, &want, diag);
    if (status == MC_OK) status = race_write_reals(r, &want.low, out, diag);
    mc_result_free(&want);
    return status;
}

floor_load made_load(const variant *v, const floor_problem *problem) {
    int64_t written = mc_type_size(v->output.type, problem->elements);
    return (floor_load){.memory = (double)(problem->a_bytes + written)};
}
