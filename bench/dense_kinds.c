#include "dense_kinds.h"

#define BYTES_ROW(name, x, y, mode, word, type, out, used)                                                   \
    {                                                                                                        \
        .label = "cublaslt " name " " word " " out, .a = x, .b = y, .result = type, .use = used,             \
        .sums = mode, .whole = true                                                                          \
    }
/* The first one takes part in more problems than those of its own types. */
#define BYTES_ROWS(name, a, b, use)                                                                          \
    BYTES_ROW(name, a, b, SUMS_FAST, "fast", MC_F16, "f16", use),                                            \
        BYTES_ROW(name, a, b, SUMS_FAST, "fast", MC_BF16, "bf16", USE_OWN),                                  \
        BYTES_ROW(name, a, b, SUMS_FAST, "fast", MC_F32, "f32", USE_OWN),                                    \
        BYTES_ROW(name, a, b, SUMS_PROMOTED, "promoted", MC_F16, "f16", USE_OWN),                            \
        BYTES_ROW(name, a, b, SUMS_PROMOTED, "promoted", MC_BF16, "bf16", USE_OWN),                          \
        BYTES_ROW(name, a, b, SUMS_PROMOTED, "promoted", MC_F32, "f32", USE_OWN)

const dense_kind dense_kinds[DENSE_KINDS] = {
    {.label = "cublaslt f16", .a = MC_F16, .b = MC_F16, .result = MC_F16, .use = USE_BASE},
    {.label = "cublaslt bf16", .a = MC_BF16, .b = MC_BF16, .result = MC_BF16, .use = USE_ALL},
    {.label = "cublaslt s8", .a = MC_S8, .b = MC_S8, .result = MC_S32, .use = USE_ALL, .whole = true},
    {.label = "cublaslt tf32", .a = MC_TF32, .b = MC_TF32, .result = MC_F32, .use = USE_OWN},
    {.label = "cublaslt f32", .a = MC_F32, .b = MC_F32, .result = MC_F32, .use = USE_OWN},
    {.label = "cublaslt f16 f32", .a = MC_F16, .b = MC_F16, .result = MC_F32, .use = USE_OWN},
    {.label = "cublaslt bf16 f32", .a = MC_BF16, .b = MC_BF16, .result = MC_F32, .use = USE_OWN},
    BYTES_ROWS("e4m3", MC_E4M3, MC_E4M3, USE_BYTES),
    BYTES_ROWS("e4m3 e5m2", MC_E4M3, MC_E5M2, USE_OWN),
    BYTES_ROWS("e5m2 e4m3", MC_E5M2, MC_E4M3, USE_OWN),
};

static unsigned results_of(mc_type a, mc_type b) {
    unsigned results = 0;
    for (int i = 0; i < DENSE_KINDS; i++)
        if (dense_kinds[i].a == a && dense_kinds[i].b == b) results |= 1u << dense_kinds[i].result;
    return results;
}

bool dense_kind_takes(const dense_kind *kind, const peer_problem *p) {
    if (p->names != NULL) return peer_is_named(p->names, kind->label);
    if (peer_is_own(p, kind->a, kind->b, kind->result, results_of(kind->a, kind->b))) return true;
    bool bytes = mc_type_bits(p->lhs) <= 8 && mc_type_bits(p->rhs) <= 8;
    bool used = kind->use >= USE_ALL || (kind->use == USE_BYTES && bytes);
    return p->own ? kind->use == USE_BASE : used;
}
