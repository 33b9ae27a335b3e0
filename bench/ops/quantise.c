/* quantise in the bench: of a file's matrix only the rows count, which are tokens; sizes are features. */
#include <stdlib.h>
#include "operation.h"
#include "race_state.h"

enum { X, SCALE, ZERO };

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

/* There are none: C is made of A itself. */
static mc_status make_sums(race *r, our_sums *sums, mc_diag *diag) {
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

static mc_status make_output(race *r, const our_sums *sums, const want_kind *kind, const output_rule *rule,
                             uint64_t out, mc_diag *diag) {
    const mc_operator *op = operator_of(MC_OP_QUANTISE);
    const mc_kernel *kernel = kernel_of(r, kind);
    plan_problem whole;
    host_operands operands = {.problem = &whole, .matrix = &r->work->a};
    reference_result want = {0};
    (void)sums, (void)rule;
    mc_status status = plan_problem_read(kernel, &whole, diag);
    if (status != MC_OK) return status;
    operands.inputs[X] = &r->problem->a;
    if (whole.scale != MC_PER_NONE && !whole.computed)
        operands.factors[SCALE] = race_factors(r, FACTOR_SCALES);
    if (whole.zero != MC_PER_NONE || mc_type_bytes(whole.out) == 0)
        return mc_fail(diag, MC_CANNOT, "mcbench knows no zero points, and no results of 4 bits");
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

extern const operation operation_quantise;
const operation operation_quantise = {.op = MC_OP_QUANTISE,
                                      .usual = "4096",
                                      .dilate = dilate,
                                      .shape = shape,
                                      .prepare = prepare,
                                      .slots = slots,
                                      .make_sums = make_sums,
                                      .make_output = make_output,
                                      .load = load};
