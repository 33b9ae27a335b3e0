/* axpby in the bench: of a file's matrix only the rows count. */
#include <stdlib.h>
#include "operation.h"
#include "race_state.h"

static mc_status dilate(const variant_list *list, const mc_csr *pattern, uint64_t seed, mc_vsparse *a,
                        mc_diag *diag) {
    (void)seed;
    return mc_vsparse_dilate(pattern, list->vec, MC_S8, a, diag);
}

static problem_shape shape(const mc_vsparse *a, int64_t size) { return (problem_shape){a->rows, size, 1}; }

static mc_status make(work_problem *p, const work_plan *plan, mc_diag *diag) {
    const problem_shape *s = &p->shape;
    mc_status status = mc_dense_create(MC_S8, s->m, s->n, s->n, &p->a, diag);
    if (status == MC_OK) status = mc_dense_create(MC_S8, s->m, s->n, s->n, &p->b, diag);
    p->want = malloc((size_t)(s->m * s->n) * sizeof *p->want);
    if (status != MC_OK || p->want == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    mc_dense_fill(&p->a, MC_VALUES_FULL, plan->seed + 1);
    mc_dense_fill(&p->b, MC_VALUES_FULL, plan->seed + 2);
    for (int64_t i = 0; i < s->m * s->n; i++)
        p->want[i] = 2 * ((const int8_t *)p->a.data)[i] - ((const int8_t *)p->b.data)[i];
    return MC_OK;
}

static mc_status prepare(work *w, const work_plan *plan, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < plan->size_count && status == MC_OK; i++)
        status = make(&w->problems[i], plan, diag);
    return status;
}

static int64_t slots(const mc_packed *packed, const mc_vsparse *a) {
    (void)packed, (void)a;
    return 0;
}

static mc_status make_sums(race *r, our_sums *sums, mc_diag *diag) {
    return mc_device_write(r->track->gpu.device, sums->address, r->problem->want,
                           (size_t)sums->elements * sizeof(int32_t), diag);
}

static mc_status make_output(race *r, const our_sums *sums, const want_kind *kind, const output_rule *rule,
                             uint64_t out, mc_diag *diag) {
    (void)r, (void)sums, (void)kind, (void)rule, (void)out;
    return mc_fail(diag, MC_CANNOT, "an axpby gives s32");
}

static floor_load load(const variant *variant, const floor_problem *problem) {
    (void)variant;
    return (floor_load){.memory = (double)(problem->a_bytes + problem->b_bytes + 4 * problem->elements)};
}

extern const operation operation_axpby;
const operation operation_axpby = {.op = MC_OP_AXPBY,
                                   .usual = "64",
                                   .dilate = dilate,
                                   .shape = shape,
                                   .prepare = prepare,
                                   .slots = slots,
                                   .make_sums = make_sums,
                                   .make_output = make_output,
                                   .load = load};
