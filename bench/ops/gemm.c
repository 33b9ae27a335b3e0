/* gemm in the bench: of a file's matrix only the shape counts, which is A's; sizes are columns of B. B lies
   by columns, as kernels have it that are not told otherwise. */
#include <stdlib.h>
#include "products.h"

enum { A, B };

static mc_status dilate(const variant_list *list, const mc_csr *pattern, uint64_t seed, mc_vsparse *a,
                        mc_diag *diag) {
    (void)seed;
    return mc_vsparse_dilate(pattern, list->vec, MC_S8, a, diag);
}

static problem_shape shape(const mc_vsparse *a, int64_t size) {
    return (problem_shape){a->rows, size, a->cols};
}

static mc_status make_operands(work_problem *p, const work_plan *plan, mc_diag *diag) {
    const problem_shape *s = &p->shape;
    mc_status status = mc_dense_create(plan->variants->lhs, s->m, s->k, s->k, &p->a, diag);
    if (status == MC_OK) status = mc_dense_create(plan->variants->rhs, s->n, s->k, s->k, &p->b, diag);
    if (status != MC_OK) return status;
    mc_dense_fill(&p->a, MC_VALUES_FULL, plan->seed + 1);
    mc_dense_fill(&p->b, MC_VALUES_FULL, plan->seed + 2);
    return MC_OK;
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

static mc_status multiply(work_problem *p, const variant_list *list, mc_diag *diag) {
    const plan_problem problem = {.op = MC_OP_GEMM,
                                  .lhs = list->lhs,
                                  .rhs = list->rhs,
                                  .out = MC_F32,
                                  .layout = MC_LAYOUT_COLUMNS,
                                  .m = p->shape.m,
                                  .n = p->shape.n,
                                  .k = p->shape.k};
    const host_operands operands = {.problem = &problem, .inputs = {[A] = &p->a, [B] = &p->b}};
    mc_status status = operator_sums(operator_of(MC_OP_GEMM), &operands, &p->within, diag);
    if (status != MC_OK || mc_type_is_real(list->rhs)) return status;
    return take_exact(p, diag);
}

static mc_status prepare(work *w, const work_plan *plan, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < plan->size_count && status == MC_OK; i++) {
        status = make_operands(&w->problems[i], plan, diag);
        if (status == MC_OK) status = multiply(&w->problems[i], plan->variants, diag);
    }
    return status;
}

static int64_t slots(const mc_packed *packed, const mc_vsparse *a) {
    (void)packed, (void)a;
    return 0;
}

/* Operands pass from L2 once for each tile of C. There is no rate of wgmma among the ceilings, which are of
   mma.sync. */
static floor_load load(const variant *v, const floor_problem *p) {
    double m = (double)p->m, n = (double)p->n, operands = (double)(p->a_bytes + p->b_bytes);
    double tiles_m = m / (double)mc_kernel_field(v->kernel, "tile_m"),
           tiles_n = n / (double)mc_kernel_field(v->kernel, "tile_n");
    return (floor_load){.memory = operands + (double)mc_type_size(v->output.type, p->elements),
                        .gathered = (double)p->a_bytes * tiles_n + (double)p->b_bytes * tiles_m,
                        .footprint = operands};
}

extern const operation operation_gemm;
const operation operation_gemm = {.op = MC_OP_GEMM,
                                  .mask = MASK_SHAPE,
                                  .usual = "512,4096",
                                  .k_contiguous = true,
                                  .drawn = true,
                                  .dilate = dilate,
                                  .shape = shape,
                                  .prepare = prepare,
                                  .slots = slots,
                                  .make_sums = products_sums,
                                  .make_output = products_output,
                                  .make_range = products_range,
                                  .load = load};
