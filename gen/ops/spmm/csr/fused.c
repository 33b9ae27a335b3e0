/* The arithmetic of the solver `csr`: values of f32, f16 or bf16, made f32, and fused multiply-adds. */
#include "ops/spmm/fields.h"
#include "ops/spmm/csr/fused.h"
#include "parts/side.h"
#include <stdio.h>

static bool is_fused(int side) { return side == SIDE_F32 || side == SIDE_F16 || side == SIDE_BF16; }

static void plan(const int64_t *point, bool gathers, spmm_arithmetic *math, mc_complaints *complaints) {
    int lhs = (int)point[F_LHS], rhs = (int)point[F_RHS];
    (void)gathers;
    if (!is_fused(lhs))
        complain(complaints, F_LHS, "staging = \"csr\" multiplies f32, f16 and bf16, not \"%s\"",
                 side_type_names[lhs]);
    else if (lhs != rhs)
        complain(complaints, F_RHS, "lhs = \"%s\" takes rhs = \"%s\" with staging = \"csr\", not \"%s\"",
                 side_type_names[lhs], side_type_names[lhs], side_type_names[rhs]);
    if (!is_fused(lhs) || lhs != rhs) lhs = SIDE_F32;
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

/* -- Elements ----------------------------------------------------------------------------------------- */

mc_reg fused_element(mc_builder *b, const spmm_arithmetic *math, mc_reg word, bool high, mc_reg scratch) {
    if (math->b_bits == 32) return word;
    if (math->lhs == side_type_names[SIDE_BF16]) {
        if (high) EMIT(b, and_b32, scratch, word, H(0xffff0000));
        else EMIT(b, shl_b32, scratch, word, I(16));
        return scratch;
    }
    if (high) EMIT(b, shr_u32, scratch, word, I(16));
    EMIT(b, cvt_f32_f16, scratch, high ? scratch : word);
    return scratch;
}
