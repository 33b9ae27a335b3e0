/* gemm in the bench: of a file's matrix only the shape counts, which is A's; sizes are columns of B. B lies
   by columns, as kernels have it that are not told otherwise. */
#include "products.h"

enum { A, B };

static mc_status dilate(const variant_list *list, const mc_csr *pattern, uint64_t seed, mc_vsparse *a,
                        mc_diag *diag) {
    (void)seed;
    return mc_vsparse_dilate(pattern, list->vec, MC_S8, a, diag);
}

static mc_status make_a(work_problem *p, const work_plan *plan, mc_diag *diag) {
    const problem_shape *s = &p->shape;
    mc_status status = mc_dense_create(plan->variants->lhs, s->m, s->k, s->k, &p->a, diag);
    if (status == MC_OK) mc_dense_fill(&p->a, MC_VALUES_FULL, plan->seed + 1);
    return status;
}

static mc_status prepare(work *w, const work_plan *plan, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < plan->size_count && status == MC_OK; i++) {
        work_problem *p = &w->problems[i];
        status = make_a(p, plan, diag);
        if (status == MC_OK) status = products_make_b(p, plan, diag);
        const host_operands operands = {.inputs = {[A] = &p->a, [B] = &p->b}};
        if (status == MC_OK) status = products_multiply(MC_OP_GEMM, operands, plan->variants, p, diag);
    }
    return status;
}

static int64_t slots(const mc_packed *packed, const mc_vsparse *a) {
    (void)packed, (void)a;
    return 0;
}

extern const operation operation_gemm;
const operation operation_gemm = {.op = MC_OP_GEMM,
                                  .mask = MASK_SHAPE,
                                  .usual = "512,4096",
                                  .k_contiguous = true,
                                  .drawn = true,
                                  .dilate = dilate,
                                  .shape = products_shape,
                                  .prepare = prepare,
                                  .slots = slots,
                                  .make_sums = products_sums,
                                  .make_output = products_output,
                                  .make_range = products_range,
                                  .load = products_tiled_load};
