/* An optimiser's step in the bench: of a file's matrix only the rows count. All operands but the gradient,
   the weight too, are the problem's further ones. */
#include "made.h"

static mc_status dilate(const variant_list *list, const mc_csr *pattern, uint64_t seed, mc_vsparse *a,
                        mc_diag *diag) {
    (void)seed;
    return mc_vsparse_dilate(pattern, list->vec, MC_S8, a, diag);
}

static problem_shape shape(const mc_vsparse *a, int64_t size) { return (problem_shape){a->rows, size, size}; }

/* What all variants compute: that of the first one. */
static mc_status find_problem(const variant_list *list, plan_problem *problem, mc_diag *diag) {
    bool found = false;
    for (size_t i = 0; i < list->count; i++) {
        plan_problem own;
        if (list->items[i].error != NULL) continue;
        mc_status status = plan_problem_read(list->items[i].kernel, &own, diag);
        if (status != MC_OK) return status;
        if (found && (own.rule != problem->rule || own.master != problem->master))
            return mc_fail(diag, MC_CANNOT, "the variants have several rules, or some a master: one a run");
        *problem = own, found = true;
    }
    return MC_OK;
}

static mc_status make_other(const operand_row *operand, const plan_problem *of, uint64_t seed, mc_dense *made,
                            mc_diag *diag) {
    bool factors = operand->kind == OPERAND_FACTOR;
    mc_dense want;
    mc_status status = operand_whole_shape(of, operand, NULL, &want, diag);
    if (status == MC_OK) status = mc_dense_create(want.type, want.rows, want.cols, want.ld, made, diag);
    if (status == MC_OK && factors) operand->fill(made->data, operand->count, MC_VALUES_FULL, seed);
    else if (status == MC_OK) operand_fill(operand, made, seed);
    return status;
}

static mc_status make(work_problem *p, plan_problem of, uint64_t seed, mc_diag *diag) {
    const mc_operator *op = operator_of(MC_OP_OPTIMISE);
    mc_status status = mc_dense_create(of.lhs, p->shape.m, p->shape.n, p->shape.n, &p->a, diag);
    if (status == MC_OK) mc_dense_fill(&p->a, MC_VALUES_FULL, seed);
    of.m = p->shape.m, of.n = p->shape.n;
    for (size_t i = 1; i < op->operand_count && status == MC_OK; i++)
        if (operand_is_there(&of, &op->operands[i]))
            status = make_other(&op->operands[i], &of, seed + i, &p->others[i], diag);
    return status;
}

static mc_status prepare(work *w, const work_plan *plan, mc_diag *diag) {
    plan_problem problem = {0};
    mc_status status = find_problem(plan->variants, &problem, diag);
    for (size_t i = 0; i < plan->size_count && status == MC_OK; i++)
        status = make(&w->problems[i], problem, plan->seed + 1, diag);
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

/* What is in place is read and written; of a weight with a master nothing is read. */
static floor_load load(const variant *v, const floor_problem *problem) {
    const mc_operator *op = operator_of(MC_OP_OPTIMISE);
    plan_problem of;
    double bytes = 0;
    if (plan_problem_read(v->kernel, &of, NULL) != MC_OK) return (floor_load){0};
    for (size_t i = 0; i < op->operand_count; i++) {
        const operand_row *operand = &op->operands[i];
        if (operand->kind != OPERAND_DENSE || !operand_is_there(&of, operand)) continue;
        int times = operand->in_place && !(operand->out && of.master) ? 2 : 1;
        bytes += times * (double)mc_type_size(operand_element(&of, operand), problem->elements);
    }
    return (floor_load){.memory = bytes};
}

extern const operation operation_optimise;
const operation operation_optimise = {.op = MC_OP_OPTIMISE,
                                      .usual = "4096",
                                      .dilate = dilate,
                                      .shape = shape,
                                      .prepare = prepare,
                                      .slots = slots,
                                      .make_sums = made_sums,
                                      .make_output = make_output,
                                      .load = load};
