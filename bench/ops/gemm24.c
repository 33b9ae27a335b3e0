/* gemm24 in the bench: of a file's matrix only the shape counts, which is A's; of each group of A as many
   elements are kept, at random places, as sparse tensor cores take. Sizes are columns of B, which lies by
   columns. */
#include "matrix/sparse24.h"
#include "products.h"

/* operands of gemm24 */
enum { B };

static mc_status dilate(const variant_list *list, const mc_csr *pattern, uint64_t seed, mc_vsparse *a,
                        mc_diag *diag) {
    mc_sparse24_rule rule;
    mc_csr csr = {0};
    mc_status status = mc_sparse24_rule_of(list->lhs, &rule, diag);
    if (status != MC_OK) return status;
    const mc_grouped groups = {pattern->rows, pattern->cols, rule.kept, rule.group, seed, rule.unit};
    status = mc_csr_generate_grouped(&groups, &csr, diag);
    if (status == MC_OK) status = mc_vsparse_dilate(&csr, 1, list->lhs, a, diag);
    if (status == MC_OK) mc_vsparse_fill(a, MC_VALUES_FULL, seed, NULL);
    mc_csr_free(&csr);
    return status;
}

static mc_status prepare(work *w, const work_plan *plan, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < plan->size_count && status == MC_OK; i++) {
        work_problem *p = &w->problems[i];
        status = products_make_b(p, plan, diag);
        const host_operands operands = {.matrix = &w->a, .inputs = {[B] = &p->b}};
        if (status == MC_OK) status = products_multiply(MC_OP_GEMM24, operands, plan->variants, p, diag);
    }
    return status;
}

/* Of the values, the fill of atoms included. */
static int64_t slots(const mc_packed *packed, const mc_vsparse *a) {
    (void)a;
    return mc_packed_find(packed, "values")->count;
}

extern const operation operation_gemm24;
const operation operation_gemm24 = {.op = MC_OP_GEMM24,
                                    .mask = MASK_24,
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
