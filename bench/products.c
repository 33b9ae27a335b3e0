#include "products.h"
#include <stdlib.h>

mc_status products_sums(race *r, our_sums *sums, mc_diag *diag) {
    if (r->problem->want == NULL) return race_write_middles(r, sums, diag);
    return mc_device_write(r->track->gpu.device, sums->address, r->problem->want,
                           (size_t)sums->elements * sizeof(int32_t), diag);
}

/* What the helpers' kernels do not compute. */
static bool is_more(const mc_output *o) {
    return mc_type_bytes(o->type) == 1 || o->activation > MC_ACTIVATION_RELU || o->b_scale != MC_PER_NONE ||
           o->c_scale != MC_PER_NONE || o->zero != MC_PER_NONE;
}

static mc_factors factors_of(const race *r) {
    return (mc_factors){.scale = race_factors(r, FACTOR_SCALES),
                        .b_scale = race_factors(r, FACTOR_B_SCALES),
                        .bias = race_factors(r, FACTOR_BIASES),
                        .c_scale = &race_c_scale,
                        .zero = &race_zero};
}

static mc_status make_on_host(race *r, const mc_output *output, uint64_t out, mc_diag *diag) {
    const problem_shape *s = &r->problem->shape;
    const mc_factors factors = factors_of(r);
    mc_dense sums = {0}, c = {0};
    mc_status status = mc_dense_create(MC_S64, s->m, s->n, s->n, &sums, diag);
    for (int64_t i = 0; status == MC_OK && i < s->m * s->n; i++)
        ((int64_t *)sums.data)[i] = r->problem->want[i];
    if (status == MC_OK) status = mc_reference_output(output, &factors, &sums, &c, diag);
    if (status == MC_OK) status = race_write_reals(r, &c, out, diag);
    mc_dense_free(&sums);
    mc_dense_free(&c);
    return status;
}

mc_status products_output(race *r, const our_sums *sums, const want_kind *kind, const output_rule *rule,
                          uint64_t out, mc_diag *diag) {
    const problem_shape *s = &r->problem->shape;
    if (is_more(&kind->output)) return make_on_host(r, &kind->output, out, diag);
    return helpers_output(&r->track->helpers, kind->output.type, sums->address, out, s->m, s->n, rule, diag);
}

mc_status products_range(race *r, const want_kind *kind, reference_result *want, mc_diag *diag) {
    const mc_factors factors = factors_of(r);
    return mc_reference_range(&kind->output, &factors, &r->problem->within, want, diag);
}

/* -- Tiled products ------------------------------------------------------------------------------------ */

problem_shape products_shape(const mc_vsparse *a, int64_t size) {
    return (problem_shape){a->rows, size, a->cols};
}

mc_status products_make_b(work_problem *p, const work_plan *plan, mc_diag *diag) {
    const problem_shape *s = &p->shape;
    mc_status status = mc_dense_create(plan->variants->rhs, s->n, s->k, s->k, &p->b, diag);
    if (status == MC_OK) mc_dense_fill(&p->b, MC_VALUES_FULL, plan->seed + 2);
    return status;
}

/* Exact sums, modulo 2^32, which ends them. */
static mc_status take_exact(work_problem *p, mc_diag *diag) {
    const int64_t count = p->shape.m * p->shape.n, *sums = p->within.least.data;
    p->want = malloc((size_t)count * sizeof *p->want + 1);
    if (p->want == NULL) return mc_fail(diag, MC_NOMEM, "no memory for C of N = %lld", (long long)p->shape.n);
    for (int64_t i = 0; i < count; i++) p->want[i] = (int32_t)sums[i];
    mc_sum_range_free(&p->within);
    p->within = (sum_range){0};
    return MC_OK;
}

mc_status products_multiply(mc_op op, host_operands operands, const variant_list *list, work_problem *p,
                            mc_diag *diag) {
    const plan_problem problem = {.op = op,
                                  .lhs = list->lhs,
                                  .rhs = list->rhs,
                                  .out = MC_F32,
                                  .layout = MC_LAYOUT_COLUMNS,
                                  .m = p->shape.m,
                                  .n = p->shape.n,
                                  .k = p->shape.k};
    operands.problem = &problem;
    mc_status status = operator_sums(operator_of(op), &operands, &p->within, diag);
    if (status != MC_OK || mc_type_is_real(list->rhs)) return status;
    return take_exact(p, diag);
}

/* Operands pass from L2 once for each tile of C. There is no rate of wgmma among the ceilings, which are of
   mma.sync. */
floor_load products_tiled_load(const variant *v, const floor_problem *p) {
    double m = (double)p->m, n = (double)p->n, operands = (double)(p->a_bytes + p->b_bytes);
    double tiles_m = m / (double)mc_kernel_field(v->kernel, "tile_m"),
           tiles_n = n / (double)mc_kernel_field(v->kernel, "tile_n");
    return (floor_load){.memory = operands + (double)mc_type_size(v->output.type, p->elements),
                        .gathered = (double)p->a_bytes * tiles_n + (double)p->b_bytes * tiles_m,
                        .footprint = operands};
}
