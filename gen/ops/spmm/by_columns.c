#include "ops/spmm/by_columns.h"
#include "parts/tensor_copy.h"

void spmm_check_by_columns(const int64_t *point, const char *staging, mc_complaints *complaints) {
    static const struct {
        int field, wanted;
        const char *why;
    } rows[] = {{F_C_MAJOR, 1, "it has C by columns, too: c_major = \"column\""},
                {F_SPLIT, 1, "thread blocks share k, not warps: `parts`"},
                {F_SUM, 0, "its sums are s32: sum = \"wrap\""},
                {F_BETA, 0, "it has no factor of the residual: beta = \"none\""},
                {F_BATCH, 0, "it computes single products: batch = false"}};
    if (point[F_B_MAJOR] != 1)
        complain(complaints, F_B_MAJOR, "staging = \"%s\" copies B by columns: b_major = \"column\"",
                 staging);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (point[rows[i].field] != rows[i].wanted) complain(complaints, rows[i].field, "%s", rows[i].why);
}

void spmm_add_b_by_columns(const shared_tile *tile, mc_contract *c) {
    const tensor_box box = tensor_copy_box(tile, 1);
    add_map(c,
            (mc_map_param){.param = "b_map",
                           .array = "b",
                           .type = "rhs",
                           .rows = "n",
                           .cols = "k",
                           .ld = "ldb",
                           .box_rows = (unsigned)box.outer,
                           .box_cols = (unsigned)box.inner,
                           .swizzle = (unsigned)tile->span,
                           .element_bytes = (unsigned)tile->bytes,
                           .per_byte = 1},
            "B, [n][ldb]");
    add_constraint(c, (mc_constraint){"ldb", MC_TENSOR_MAP_ALIGN, 0, NULL});
}

void spmm_add_shapes_by_columns(const spmm_plan *plan, bool takes_ldc, mc_contract *c) {
    add_shape(c, "m", plan->m, "rows of A and C, a multiple of vec");
    add_shape(c, "n", plan->n, "columns of B and C");
    add_shape(c, "k", plan->k, "columns of A, rows of B");
    if (takes_ldc) add_shape(c, "ldc", plan->ldc, "elements from one column of C to the next");
    if (plan->output.residual != OUT_NO_ADDEND)
        add_shape(c, "ldr", plan->ldr, "elements from one column of the residual to the next");
}

void spmm_add_sums_by_columns(const spmm_plan *plan, mc_contract *c) {
    add_constraint(c, (mc_constraint){"k", 0, spmm_k_limit(&plan->math), SUMS_ARE_EXACT});
    c->sums = spmm_sums_contract(&plan->math);
}

const char *spmm_computes_by_columns(const void *plan) {
    (void)plan;
    return "C[m,n] = A[m,k] B[k,n]: A of vec x 1 nonzero vectors, B and C dense and column-major; integers, "
           "sums in s32.";
}
