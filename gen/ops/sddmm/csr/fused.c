/* The arithmetic of the solver `csr`: values of f32, tf32, f16 or bf16, made f32, and fused multiply-adds. It
   emits nothing for others: the solver multiplies by itself (parts/fused.h). */
#include "ops/sddmm/arithmetic.h"
#include "ops/sddmm/fields.h"
#include "parts/fused.h"
#include "parts/side.h"
#include <stdio.h>

static void describe(sddmm_arithmetic *a) {
    static const char *const what[] = {[SDDMM_MATRIX_A] = "A: %s[m][lda], row-major",
                                       [SDDMM_MATRIX_COLUMNS] = "B: %s[n][ldb], columns of B",
                                       [SDDMM_MATRIX_ROWS] = "B: %s[k][ldb], row-major"};
    for (int i = 0; i < SDDMM_MATRICES; i++)
        snprintf(a->real.docs[i], sizeof a->real.docs[i], what[i], a->lhs.name);
}

static void plan(const int64_t *point, bool by_rows, sddmm_arithmetic *a, mc_complaints *complaints) {
    int lhs = (int)point[F_LHS], rhs = (int)point[F_RHS];
    (void)by_rows;
    if (!fused_takes(lhs))
        complain(complaints, F_LHS, "method = \"csr\" multiplies f32, tf32, f16 and bf16, not \"%s\"",
                 side_type_names[lhs]);
    else if (lhs != rhs)
        complain(complaints, F_RHS, "lhs = \"%s\" takes rhs = \"%s\" with method = \"csr\", not \"%s\"",
                 side_type_names[lhs], side_type_names[lhs], side_type_names[rhs]);
    if (point[F_PRECISION_SPLIT])
        complain(complaints, F_PRECISION_SPLIT,
                 "method = \"csr\" multiplies floats, which are no digits; leave "
                 "it out");
    if (!fused_takes(lhs) || lhs != rhs) lhs = SIDE_F32;
    a->lhs = a->rhs = (sddmm_values){side_type_names[lhs], side_value_bits(lhs)};
    a->unit_k = a->step_k = 8 * SDDMM_UNIT / a->lhs.bits;
    a->steps = 1;
    describe(a);
}

static mc_sums sums_contract(const sddmm_arithmetic *a, int64_t k) {
    return (void)a, (void)k, (mc_sums){.lhs = NULL};
}
static const char *matrix_doc(const sddmm_arithmetic *a, sddmm_matrix which) { return a->real.docs[which]; }

const sddmm_arithmetic_kind sddmm_fused = {
    .real = true, .plan = plan, .sums_contract = sums_contract, .matrix_doc = matrix_doc};
