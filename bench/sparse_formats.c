#include "sparse_formats.h"
#include <stdio.h>
#include "cusparse_api.h"

#define BIT(type) (1u << (type))
#define HALVES    (BIT(MC_F16) | BIT(MC_BF16))
#define ALL       (BIT(MC_S8) | HALVES)
#define REALS     (HALVES | BIT(MC_TF32) | BIT(MC_F32))
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
#define SPMV_CSR_ALGORITHMS                                                                                  \
    {                                                                                                        \
        {SP_SPMV_CSR_1, "csr_alg1"}, { SP_SPMV_CSR_2, "csr_alg2" }                                           \
    }
#define SPMV_COO_ALGORITHMS                                                                                  \
    {                                                                                                        \
        {SP_SPMV_COO_1, "coo_alg1"}, { SP_SPMV_COO_2, "coo_alg2" }                                           \
    }
#define SPMV_BSR_ALGORITHMS                                                                                  \
    {                                                                                                        \
        { SP_SPMV_BSR_1, "bsr_alg1" }                                                                        \
    }
#define SDDMM_ALGORITHMS                                                                                     \
    {                                                                                                        \
        { SP_SDDMM_DEFAULT, "default" }                                                                      \
    }

/* A product by rows of C: in the problem's own 16 bits, and the same values in f32. Behind the algorithms
   stand the members that are not 0. */
#define OWN(called, of, read, list, ...)                                                                     \
    {                                                                                                        \
        .name = called, .layout = of, .arrays = read, .own = true, .order = ORDER_ROWS, .only = ALL,         \
        .algorithms = list, __VA_ARGS__                                                                      \
    }
#define IN_F32(called, of, read, list, ...)                                                                  \
    {                                                                                                        \
        .name = called, .layout = of, .arrays = read, .operand = MC_F32, .result = MC_F32,                   \
        .order = ORDER_ROWS, .only = REALS, .algorithms = list, __VA_ARGS__                                  \
    }
#define SAMPLED(called, of, read, ordered, ...)                                                              \
    {                                                                                                        \
        .name = called, .layout = of, .arrays = read, .order = ordered, .algorithms = SDDMM_ALGORITHMS,      \
        __VA_ARGS__                                                                                          \
    }
#define SAMPLED_OWN .own = true, .only = BIT(MC_S8) | BIT(MC_F16)
#define SAMPLED_F32 .operand = MC_F32, .result = MC_F32, .only = BIT(MC_S8) | REALS

/* The library has no SDDMM of bf16. */
const sparse_format sparse_formats[SPARSE_FORMATS] = {
    [SPARSE_CSR] = OWN("csr", CSR, SPARSE_CSR, CSR_ALGORITHMS, .join = 0),
    [SPARSE_BSR] = OWN("bsr", BSR, SPARSE_BSR, BSR_ALGORITHMS, .join = 0),
    [SPARSE_ELL] = OWN("blocked-ell", BLOCKED_ELL, SPARSE_ELL, ELL_ALGORITHMS, .join = 0),
    [SPARSE_ELL_S8] = {.name = "blocked-ell",
                       .layout = BLOCKED_ELL,
                       .arrays = SPARSE_ELL_S8,
                       .operand = MC_S8,
                       .result = MC_S32,
                       .order = ORDER_ROWS,
                       .only = BIT(MC_S8),
                       .algorithms = ELL_ALGORITHMS},
    [SPARSE_CSR_F32] = IN_F32("csr", CSR, SPARSE_CSR_F32, CSR_ALGORITHMS, .join = 0),
    [SPARSE_ELL_F32] = IN_F32("blocked-ell", BLOCKED_ELL, SPARSE_ELL_F32, ELL_ALGORITHMS, .join = 0),
    [SPARSE_COO] = OWN("coo", COO, SPARSE_COO, COO_ALGORITHMS, .join = 0),
    [SPARSE_COO_F32] = IN_F32("coo", COO, SPARSE_COO_F32, COO_ALGORITHMS, .join = 0),
    [SPARSE_BSR_4] = OWN("bsr 4x4", BSR, SPARSE_BSR_4, BSR_ALGORITHMS, .join = 4),
    [SPARSE_BSR_4_F32] = IN_F32("bsr 4x4", BSR, SPARSE_BSR_4_F32, BSR_ALGORITHMS, .join = 4),
    [SPARSE_BSR_8] = OWN("bsr 8x8", BSR, SPARSE_BSR_8, BSR_ALGORITHMS, .join = 8),
    [SPARSE_BSR_8_F32] = IN_F32("bsr 8x8", BSR, SPARSE_BSR_8_F32, BSR_ALGORITHMS, .join = 8),
    [SPARSE_SPMV_CSR] = OWN("spmv csr", CSR, SPARSE_CSR, SPMV_CSR_ALGORITHMS, .vector = true),
    [SPARSE_SPMV_CSR_F32] = IN_F32("spmv csr", CSR, SPARSE_CSR_F32, SPMV_CSR_ALGORITHMS, .vector = true),
    [SPARSE_SPMV_COO] = OWN("spmv coo", COO, SPARSE_COO, SPMV_COO_ALGORITHMS, .vector = true),
    [SPARSE_SPMV_COO_F32] = IN_F32("spmv coo", COO, SPARSE_COO_F32, SPMV_COO_ALGORITHMS, .vector = true),
    [SPARSE_SPMV_BSR_4] =
        OWN("spmv bsr 4x4", BSR, SPARSE_BSR_4, SPMV_BSR_ALGORITHMS, .join = 4, .vector = true),
    [SPARSE_SPMV_BSR_4_F32] =
        IN_F32("spmv bsr 4x4", BSR, SPARSE_BSR_4_F32, SPMV_BSR_ALGORITHMS, .join = 4, .vector = true),
    [SPARSE_SPMV_BSR_8] =
        OWN("spmv bsr 8x8", BSR, SPARSE_BSR_8, SPMV_BSR_ALGORITHMS, .join = 8, .vector = true),
    [SPARSE_SPMV_BSR_8_F32] =
        IN_F32("spmv bsr 8x8", BSR, SPARSE_BSR_8_F32, SPMV_BSR_ALGORITHMS, .join = 8, .vector = true),
    [SPARSE_UNIFORM_8] =
        OWN("uniform blocked-ell 8x8", BLOCKED_ELL, SPARSE_UNIFORM_8, ELL_ALGORITHMS, .block = 8),
    [SPARSE_UNIFORM_16] =
        OWN("uniform blocked-ell 16x16", BLOCKED_ELL, SPARSE_UNIFORM_16, ELL_ALGORITHMS, .block = 16),
    [SPARSE_SAMPLED_CSR] = SAMPLED("csr", CSR, SPARSE_SAMPLED_CSR, ORDER_CSR, SAMPLED_OWN),
    [SPARSE_SAMPLED_BSR] = SAMPLED("bsr", BSR, SPARSE_SAMPLED_BSR, ORDER_BSR, SAMPLED_OWN),
    [SPARSE_SAMPLED_CSR_F32] = SAMPLED("csr", CSR, SPARSE_SAMPLED_CSR, ORDER_CSR, SAMPLED_F32),
    [SPARSE_SAMPLED_BSR_F32] = SAMPLED("bsr", BSR, SPARSE_SAMPLED_BSR, ORDER_BSR, SAMPLED_F32),
};

/* Blocks of a single value are none. Of longer vectors CSR stands for the formats without blocks. */
static bool fits(const sparse_format *f, const sparse_sides *s) {
    if (f->vector && s->cols != 1) return false;
    if (f->layout == COO || f->join != 0) return s->vec == 1;
    return f->layout == CSR || f->block != 0 || s->vec > 1;
}

bool sparse_is_of(int format, const sparse_sides *s) {
    const sparse_format *f = &sparse_formats[format];
    return s->op == (f->order == ORDER_ROWS ? MC_OP_SPMM : MC_OP_SDDMM) && (f->only & BIT(s->type)) != 0 &&
           fits(f, s);
}

bool sparse_takes(mc_op op, mc_type lhs, mc_type rhs) {
    const sparse_sides sides = {op, lhs, 2, 0};
    for (int i = 0; i < SPARSE_FORMATS; i++)
        if (lhs == rhs && sparse_is_of(i, &sides)) return true;
    return false;
}

bool sparse_lacks(mc_op op, mc_type type) {
    const sparse_sides sides = {op, type, 2, 0}, half = {op, MC_F16, 2, 0};
    bool has_half = false;
    for (int i = 0; i < SPARSE_FORMATS; i++) {
        bool own = sparse_formats[i].own || sparse_operand(i, type) == type;
        if (own && sparse_is_of(i, &sides)) return false;
        has_half |= sparse_is_of(i, &half);
    }
    return has_half;
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
