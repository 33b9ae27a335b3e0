/* spmmt in the bench: A's values in their own order, B and C of every N, and the product, which the CPU
   multiplies, with its bounds. */
#include "operation.h"
#include "race_state.h"

enum { A, B };

/* C has a row for each column of A. */
static problem_shape shape(const mc_vsparse *a, int64_t size) {
    return (problem_shape){a->cols, size, a->rows};
}

static mc_status dilate(const variant_list *list, const mc_csr *pattern, uint64_t seed, mc_vsparse *a,
                        mc_diag *diag) {
    (void)seed; /* values are an operand */
    return mc_vsparse_dilate(pattern, list->vec, list->lhs, a, diag);
}

static mc_status create(const mc_dense *shape, uint64_t seed, mc_dense *to, mc_diag *diag) {
    mc_status status = mc_dense_create(shape->type, shape->rows, shape->cols, shape->ld, to, diag);
    if (status == MC_OK) mc_dense_fill(to, MC_VALUES_FULL, seed);
    return status;
}

static mc_status make_operands(work *w, work_problem *p, const work_plan *plan, mc_diag *diag) {
    const variant_list *list = plan->variants;
    const problem_shape *s = &p->shape;
    const mc_dense b = {.type = list->rhs, .rows = s->k, .cols = s->n, .ld = s->n};
    mc_dense a;
    mc_status status = mc_sampled_shape(&w->a, MC_ORDER_BCRS, list->lhs, &a, diag);
    if (status == MC_OK) status = create(&a, plan->seed, &p->a, diag);
    return status == MC_OK ? create(&b, plan->seed + 1, &p->b, diag) : status;
}

static mc_status multiply(work *w, work_problem *p, const variant_list *list, mc_diag *diag) {
    const plan_problem problem = {
        .op = MC_OP_SPMMT, .lhs = list->lhs, .rhs = list->rhs, .out = MC_F32, .vec = w->a.vec};
    const host_operands operands = {
        .problem = &problem, .matrix = &w->a, .inputs = {[A] = &p->a, [B] = &p->b}};
    return operator_sums(operator_of(MC_OP_SPMMT), &operands, &p->within, diag);
}

static mc_status prepare(work *w, const work_plan *plan, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < plan->size_count && status == MC_OK; i++) {
        status = make_operands(w, &w->problems[i], plan, diag);
        if (status == MC_OK) status = multiply(w, &w->problems[i], plan->variants, diag);
    }
    return status;
}

static int64_t slots(const mc_packed *packed, const mc_vsparse *a) {
    const mc_packed_array *words = mc_packed_find(packed, "step_slots");
    (void)a;
    return words == NULL ? 0 : 2 * words->count;
}

static mc_status make_range(race *r, const want_kind *kind, reference_result *want, mc_diag *diag) {
    return mc_reference_range(&kind->output, NULL, &r->problem->within, want, diag);
}

/* Accumulators are read and written for every vector; an mma of 16 vectors by 8 columns and 8 rows takes
   half as long as one of 32 s8. */
static floor_load load(const variant *v, const floor_problem *p) {
    enum { ACCUMULATOR_BYTES = 8, MACS = 16 };
    double vec = (double)mc_kernel_field(v->kernel, "vec"), vectors = (double)p->vectors, n = (double)p->n;
    double a = p->packed_bytes + vectors * vec * (double)mc_type_bytes(MC_F16);
    double tiles_n = n / (double)mc_kernel_field(v->kernel, "tile_n"),
           tiles_k = (double)p->m / (double)mc_kernel_field(v->kernel, "tile_k");
    double b = (double)p->b_bytes, c = (double)(p->elements * (int64_t)mc_type_bytes(v->output.type));
    return (floor_load){.memory = a + b + c,
                        .gathered = a * tiles_n + b * tiles_k,
                        .footprint = a + b,
                        .shared = vectors * n * ACCUMULATOR_BYTES,
                        .macs = vectors * n * MACS};
}

extern const operation operation_spmmt;
const operation operation_spmmt = {.op = MC_OP_SPMMT,
                                   .usual = "256,512",
                                   .turned = true,
                                   .dilate = dilate,
                                   .shape = shape,
                                   .prepare = prepare,
                                   .slots = slots,
                                   .make_sums = race_write_middles,
                                   .make_range = make_range,
                                   .load = load};
