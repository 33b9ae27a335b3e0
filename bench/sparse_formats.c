#include "sparse_formats.h"
#include <stdio.h>
#include "cusparse_api.h"

#define BIT(type) (1u << (type))
#define HALVES    (BIT(MC_F16) | BIT(MC_BF16))
#define ALL       (BIT(MC_S8) | HALVES)
#define REALS     (HALVES | BIT(MC_TF32))
#define CSR_ALGORITHMS                                                                                       \
    {                                                                                                        \
        {SP_ALG_CSR_1, "csr_alg1"}, {SP_ALG_CSR_2, "csr_alg2"}, { SP_ALG_CSR_3, "csr_alg3" }                 \
    }
#define COO_ALGORITHMS                                                                                       \
    {                                                                                                        \
        {SP_ALG_COO_1, "coo_alg1"}, {SP_ALG_COO_2, "coo_alg2"}, {SP_ALG_COO_3, "coo_alg3"}, {                \
            SP_ALG_COO_4, "coo_alg4"                                                                         \
        }                                                                                                    \
    }
#define BSR_ALGORITHMS                                                                                       \
    {                                                                                                        \
        { SP_ALG_BSR_1, "bsr_alg1" }                                                                         \
    }
#define ELL_ALGORITHMS                                                                                       \
    {                                                                                                        \
        { SP_ALG_BLOCKED_ELL_1, "blocked_ell_alg1" }                                                         \
    }
#define SDDMM_ALGORITHMS                                                                                     \
    {                                                                                                        \
        { SP_SDDMM_DEFAULT, "default" }                                                                      \
    }

/* The library has no SDDMM of bf16. */
const sparse_format sparse_formats[SPARSE_FORMATS] = {
    [SPARSE_CSR] = {"csr", CSR, SPARSE_CSR, true, 0, 0, ORDER_ROWS, 0, ALL, CSR_ALGORITHMS, 0},
    [SPARSE_BSR] = {"bsr", BSR, SPARSE_BSR, true, 0, 0, ORDER_ROWS, 0, ALL, BSR_ALGORITHMS, 0},
    [SPARSE_ELL] = {"blocked-ell", BLOCKED_ELL, SPARSE_ELL, true, 0, 0, ORDER_ROWS, 0, ALL, ELL_ALGORITHMS,
                    0},
    [SPARSE_ELL_S8] = {"blocked-ell", BLOCKED_ELL, SPARSE_ELL_S8, false, MC_S8, MC_S32, ORDER_ROWS, 0,
                       BIT(MC_S8), ELL_ALGORITHMS, 0},
    [SPARSE_CSR_F32] = {"csr", CSR, SPARSE_CSR_F32, false, MC_F32, MC_F32, ORDER_ROWS, 0, REALS,
                        CSR_ALGORITHMS, 0},
    [SPARSE_ELL_F32] = {"blocked-ell", BLOCKED_ELL, SPARSE_ELL_F32, false, MC_F32, MC_F32, ORDER_ROWS, 0,
                        REALS, ELL_ALGORITHMS, 0},
    [SPARSE_COO] = {"coo", COO, SPARSE_COO, true, 0, 0, ORDER_ROWS, 0, ALL, COO_ALGORITHMS, 0},
    [SPARSE_COO_F32] = {"coo", COO, SPARSE_COO_F32, false, MC_F32, MC_F32, ORDER_ROWS, 0, REALS,
                        COO_ALGORITHMS, 0},
    [SPARSE_BSR_4] = {"bsr 4x4", BSR, SPARSE_BSR_4, true, 0, 0, ORDER_ROWS, 0, ALL, BSR_ALGORITHMS, 4},
    [SPARSE_BSR_4_F32] = {"bsr 4x4", BSR, SPARSE_BSR_4_F32, false, MC_F32, MC_F32, ORDER_ROWS, 0, REALS,
                          BSR_ALGORITHMS, 4},
    [SPARSE_BSR_8] = {"bsr 8x8", BSR, SPARSE_BSR_8, true, 0, 0, ORDER_ROWS, 0, ALL, BSR_ALGORITHMS, 8},
    [SPARSE_BSR_8_F32] = {"bsr 8x8", BSR, SPARSE_BSR_8_F32, false, MC_F32, MC_F32, ORDER_ROWS, 0, REALS,
                          BSR_ALGORITHMS, 8},
    [SPARSE_UNIFORM_8] = {"uniform blocked-ell 8x8", BLOCKED_ELL, SPARSE_UNIFORM_8, true, 0, 0, ORDER_ROWS, 8,
                          ALL, ELL_ALGORITHMS, 0},
    [SPARSE_UNIFORM_16] = {"uniform blocked-ell 16x16", BLOCKED_ELL, SPARSE_UNIFORM_16, true, 0, 0,
                           ORDER_ROWS, 16, ALL, ELL_ALGORITHMS, 0},
    [SPARSE_SAMPLED_CSR] = {"csr", CSR, SPARSE_SAMPLED_CSR, true, 0, 0, ORDER_CSR, 0,
                            BIT(MC_S8) | BIT(MC_F16), SDDMM_ALGORITHMS, 0},
    [SPARSE_SAMPLED_BSR] = {"bsr", BSR, SPARSE_SAMPLED_BSR, true, 0, 0, ORDER_BSR, 0,
                            BIT(MC_S8) | BIT(MC_F16), SDDMM_ALGORITHMS, 0},
    [SPARSE_SAMPLED_CSR_F32] = {"csr", CSR, SPARSE_SAMPLED_CSR, false, MC_F32, MC_F32, ORDER_CSR, 0,
                                BIT(MC_S8) | REALS, SDDMM_ALGORITHMS, 0},
    [SPARSE_SAMPLED_BSR_F32] = {"bsr", BSR, SPARSE_SAMPLED_BSR, false, MC_F32, MC_F32, ORDER_BSR, 0,
                                BIT(MC_S8) | REALS, SDDMM_ALGORITHMS, 0},
};

/* Blocks of a single value are none. Of longer vectors CSR stands for the formats without blocks. */
static bool fits(const sparse_format *f, int vec) {
    if (f->layout == COO || f->join != 0) return vec == 1;
    return f->layout == CSR || f->block != 0 || vec > 1;
}

bool sparse_is_of(int format, const sparse_sides *s) {
    const sparse_format *f = &sparse_formats[format];
    return s->op == (f->order == ORDER_ROWS ? MC_OP_SPMM : MC_OP_SDDMM) && (f->only & BIT(s->type)) != 0 &&
           fits(f, s->vec);
}

bool sparse_takes(mc_op op, mc_type lhs, mc_type rhs) {
    const sparse_sides sides = {op, lhs, 2};
    for (int i = 0; i < SPARSE_FORMATS; i++)
        if (lhs == rhs && sparse_is_of(i, &sides)) return true;
    return false;
}

bool sparse_lacks(mc_op op, mc_type type) {
    const sparse_sides sides = {op, type, 2}, half = {op, MC_F16, 2};
    for (int i = 0; i < SPARSE_FORMATS; i++)
        if (sparse_formats[i].own && sparse_is_of(i, &half) && !sparse_is_of(i, &sides)) return true;
    return false;
}

static mc_type own_type(mc_type type) { return type == MC_BF16 ? MC_BF16 : MC_F16; }

mc_type sparse_operand(int format, mc_type type) {
    return sparse_formats[format].own ? own_type(type) : sparse_formats[format].operand;
}

mc_type sparse_result(int format, mc_type type) {
    return sparse_formats[format].own ? own_type(type) : sparse_formats[format].result;
}

void sparse_label(int format, mc_type type, char label[SPARSE_LABEL]) {
    snprintf(label, SPARSE_LABEL, "cusparse %s %s", sparse_formats[format].name,
             mc_type_text(sparse_operand(format, type)));
}
