/* The arithmetic of the solver `csr`, without tensor cores (parts/fused.h). Its table is in arithmetic.h with
   the others. */
#include "ops/spmm/fields.h"
#include "ops/spmm/arithmetic.h"
#include "parts/fused.h"
#include "parts/side.h"
#include <stdio.h>

static void plan(const int64_t *point, bool gathers, spmm_arithmetic *math, mc_complaints *complaints) {
    int lhs = (int)point[F_LHS], rhs = (int)point[F_RHS];
    (void)gathers;
    if (!fused_takes(lhs))
        complain(complaints, F_LHS, "staging = \"csr\" multiplies f32, tf32, f16 and bf16, not \"%s\"",
                 side_type_names[lhs]);
    else if (lhs != rhs)
        complain(complaints, F_RHS, "lhs = \"%s\" takes rhs = \"%s\" with staging = \"csr\", not \"%s\"",
                 side_type_names[lhs], side_type_names[lhs], side_type_names[rhs]);
    if (!fused_takes(lhs) || lhs != rhs) lhs = SIDE_F32;
    math->lhs = math->rhs = side_type_names[lhs];
    math->b_bits = side_value_bits(lhs);
    math->mma = math->sums = math->b_operands = 1;
    math->value_bytes = math->b_bits / 8;
    math->value_type = math->lhs;
    snprintf(math->real.b_docs[0], sizeof math->real.b_docs[0], "B: %s[k][ldb], row-major", math->rhs);
}

static void check(const int64_t *point, const spmm_arithmetic *math, const char *staging, bool gathers,
                  mc_complaints *complaints) {
    static const struct {
        int field, standard;
    } lacking[] = {{F_DIGITS, 0}, {F_PRECISION_SPLIT, 0}, {F_STACKING, STACKING_AUTO},
                   {F_MMA, 0},    {F_SHUFFLE, 1},         {F_SUM, 0}};
    (void)math, (void)gathers;
    for (size_t i = 0; i < sizeof lacking / sizeof *lacking; i++)
        if (point[lacking[i].field] != lacking[i].standard)
            complain(complaints, lacking[i].field,
                     "staging = \"%s\" multiplies floats one by one; leave it out", staging);
}

static const char *b_doc(const spmm_arithmetic *math, bool as_map) { return math->real.b_docs[as_map]; }
static mc_sums sums_contract(const spmm_arithmetic *math) { return (void)math, (mc_sums){.lhs = NULL}; }
static int64_t k_limit(const spmm_arithmetic *math) { return (void)math, 0; }

const spmm_arithmetic_kind spmm_fused = {.real = true,
                                         .plan = plan,
                                         .check = check,
                                         .b_doc = b_doc,
                                         .sums_contract = sums_contract,
                                         .k_limit = k_limit};
