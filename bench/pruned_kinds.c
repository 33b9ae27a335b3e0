#include "pruned_kinds.h"

const pruned_kind pruned_kinds[PRUNED_KINDS] = {
    {"cusparselt f16", MC_F16, MC_F16},         {"cusparselt bf16", MC_BF16, MC_BF16},
    {"cusparselt s8 s32", MC_S8, MC_S32},       {"cusparselt s8 s8", MC_S8, MC_S8},
    {"cusparselt s8 f16", MC_S8, MC_F16},       {"cusparselt s8 bf16", MC_S8, MC_BF16},
    {"cusparselt e4m3 f16", MC_E4M3, MC_F16},   {"cusparselt e4m3 bf16", MC_E4M3, MC_BF16},
    {"cusparselt e4m3 f32", MC_E4M3, MC_F32},   {"cusparselt e5m2 f16", MC_E5M2, MC_F16},
    {"cusparselt e5m2 bf16", MC_E5M2, MC_BF16}, {"cusparselt e5m2 f32", MC_E5M2, MC_F32},
};

static unsigned results_of(mc_type operand) {
    unsigned results = 0;
    for (int i = 0; i < PRUNED_KINDS; i++)
        if (pruned_kinds[i].operand == operand) results |= 1u << pruned_kinds[i].result;
    return results;
}

bool pruned_kind_takes(const pruned_kind *kind, const peer_problem *p) {
    if (p->names != NULL) return peer_is_named(p->names, kind->label);
    return peer_is_own(p, kind->operand, kind->operand, kind->result, results_of(kind->operand));
}

bool pruned_kinds_take(const peer_problem *problem) {
    bool any = false;
    for (int i = 0; i < PRUNED_KINDS; i++) any = any || pruned_kind_takes(&pruned_kinds[i], problem);
    return any;
}
