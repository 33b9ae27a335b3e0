#include "parts/real/mma.h"
#include <stdio.h>
#include <string.h>

enum { ANY_SM = 80 };

/* Of several that a GPU has the first one is taken: those of f16 are for GPUs without mma of 8 bits. A's f32
   are rounded to tf32 when they are packed. */
static const real_pair pairs[] = {
    {"f16", "f16", OP_mma_f16, OP_mma_f16, 16, ANY_SM, REAL_AS_IT_IS, REAL_AS_IT_IS},
    {"bf16", "bf16", OP_mma_bf16, OP_mma_bf16, 16, ANY_SM, REAL_AS_IT_IS, REAL_AS_IT_IS},
    {"s8", "f16", OP_mma_f16, OP_mma_f16, 16, ANY_SM, REAL_S8_TO_F16, REAL_AS_IT_IS},
    {"u8", "f16", OP_mma_f16, OP_mma_f16, 16, ANY_SM, REAL_U8_TO_F16, REAL_AS_IT_IS},
    {"s4", "f16", OP_mma_f16, OP_mma_f16, 16, ANY_SM, REAL_S8_TO_F16, REAL_AS_IT_IS},
    {"u4", "f16", OP_mma_f16, OP_mma_f16, 16, ANY_SM, REAL_U8_TO_F16, REAL_AS_IT_IS},
    {"s8", "bf16", OP_mma_bf16, OP_mma_bf16, 16, ANY_SM, REAL_S8_TO_BF16, REAL_AS_IT_IS},
    {"u8", "bf16", OP_mma_bf16, OP_mma_bf16, 16, ANY_SM, REAL_U8_TO_BF16, REAL_AS_IT_IS},
    {"s4", "bf16", OP_mma_bf16, OP_mma_bf16, 16, ANY_SM, REAL_S8_TO_BF16, REAL_AS_IT_IS},
    {"u4", "bf16", OP_mma_bf16, OP_mma_bf16, 16, ANY_SM, REAL_U8_TO_BF16, REAL_AS_IT_IS},
    {"e4m3", "f16", OP_mma_f16, OP_mma_f16, 16, ANY_SM, REAL_E4M3_TO_F16, REAL_AS_IT_IS},
    {"e5m2", "f16", OP_mma_f16, OP_mma_f16, 16, ANY_SM, REAL_E5M2_TO_F16, REAL_AS_IT_IS},
    {"tf32", "tf32", OP_mma_tf32, OP_mma_tf32, 32, ANY_SM, REAL_AS_IT_IS, REAL_ROUNDED},
    {"e4m3", "e4m3", OP_mma_e4m3, OP_mma_e4m3, 8, REAL_ADA, REAL_AS_IT_IS, REAL_AS_IT_IS},
    {"e4m3", "e5m2", OP_mma_e4m3_e5m2, OP_mma_e5m2_e4m3, 8, REAL_ADA, REAL_AS_IT_IS, REAL_AS_IT_IS},
    {"e5m2", "e4m3", OP_mma_e5m2_e4m3, OP_mma_e4m3_e5m2, 8, REAL_ADA, REAL_AS_IT_IS, REAL_AS_IT_IS},
    {"e5m2", "e5m2", OP_mma_e5m2, OP_mma_e5m2, 8, REAL_ADA, REAL_AS_IT_IS, REAL_AS_IT_IS},
    {"e4m3", "e4m3", OP_mma_f16, OP_mma_f16, 16, ANY_SM, REAL_E4M3_TO_F16, REAL_E4M3_TO_F16},
    {"e4m3", "e5m2", OP_mma_f16, OP_mma_f16, 16, ANY_SM, REAL_E4M3_TO_F16, REAL_E5M2_TO_F16},
    {"e5m2", "e4m3", OP_mma_f16, OP_mma_f16, 16, ANY_SM, REAL_E5M2_TO_F16, REAL_E4M3_TO_F16},
    {"e5m2", "e5m2", OP_mma_f16, OP_mma_f16, 16, ANY_SM, REAL_E5M2_TO_F16, REAL_E5M2_TO_F16},
};
enum { PAIRS = sizeof pairs / sizeof *pairs };

static bool is_of(const real_pair *pair, const char *lhs, int sm) {
    return pair->sm <= sm && strcmp(pair->lhs, lhs) == 0;
}

const real_pair *real_pair_of(const char *lhs, const char *rhs, int sm) {
    for (int i = 0; i < PAIRS; i++)
        if (is_of(&pairs[i], lhs, sm) && strcmp(pairs[i].rhs, rhs) == 0) return &pairs[i];
    return NULL;
}

/* Whether ptxas 13 makes such an mma of others, of f16, for GPUs of capability SM: sm_90 and sm_100 have none
   of 8 bits. */
static bool is_emulated(const real_pair *pair, int sm) { return pair->bits == 8 && sm >= 90 && sm < 120; }

const real_pair *real_pair_wide(const char *lhs, const char *rhs, int sm) {
    const real_pair *pair = real_pair_of(lhs, rhs, sm);
    return pair && is_emulated(pair, sm) ? real_pair_of(lhs, rhs, ANY_SM) : pair;
}

static bool is_alike(const real_pair *pair) {
    return real_stored_bits(pair, pair->a_form) == real_stored_bits(pair, pair->b_form);
}

const real_pair *real_pair_with(const char *lhs, int sm, bool mixed, char takes[REAL_TAKES]) {
    const real_pair *first = NULL;
    for (int i = 0; i < PAIRS; i++) {
        const real_pair *pair = &pairs[i];
        if (!is_of(pair, lhs, sm) || real_pair_of(lhs, pair->rhs, sm) != pair) continue;
        if (!mixed && !is_alike(pair)) continue;
        size_t used = first ? strlen(takes) : 0;
        snprintf(takes + used, REAL_TAKES - used, "%s\"%s\"", first ? " or " : "", pair->rhs);
        if (!first) first = pair;
    }
    return first;
}

const char *real_wide_name(real_form form) {
    return form == REAL_S8_TO_BF16 || form == REAL_U8_TO_BF16 ? "bf16" : "f16";
}

bool real_has(const char *lhs) {
    for (int i = 0; i < PAIRS; i++)
        if (strcmp(pairs[i].lhs, lhs) == 0) return true;
    return false;
}
