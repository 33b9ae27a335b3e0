#include "parts/emit.h"
#include "parts/fragment.h"

int log2_of(int power) {
    int log = 0;
    while (power >> log > 1) log++;
    return log;
}

mc_operand dim_operand(int64_t fixed, mc_reg reg) { return fixed == MC_OPEN ? reg : I(fixed); }

mc_reg load_size(mc_builder *b, const char *reg, const char *name, int64_t fixed) {
    return fixed == MC_OPEN ? ld_param_s32(b, reg, NAME(name)) : mov_b32(b, reg, I(fixed));
}

mc_reg load_shape(mc_builder *b, const char *name, bool wanted) {
    if (!wanted) return (mc_reg){0};
    return ld_param_s32(b, name, NAME(name));
}

mc_reg load_special(mc_builder *b, const char *reg_name, const char *special_name) {
    mc_reg reg = b32(b, reg_name);
    EMIT(b, mov_special, reg, NAME(special_name));
    return reg;
}

thread_place load_thread_place(mc_builder *b, int threads) {
    thread_place p = {.thread = load_special(b, "thread", "tid.x")};
    p.lane = and_b32(b, "lane", p.thread, I(MC_WARP - 1));
    p.g = shr_u32(b, "g", p.lane, I(FRAG_GROUP_SHIFT));
    p.t = and_b32(b, "t", p.lane, I(FRAG_THREAD_MASK));
    if (threads != MC_WARP) p.warp = shr_u32(b, "warp", p.thread, I(log2_of(MC_WARP)));
    return p;
}

void emit_launch_next(mc_builder *b, family_overlap overlap) {
    if (overlap != OVERLAP_ON) return;
    note(b, "the kernel behind this one may start");
    EMIT_BARE(b, launch_dependents);
}

void emit_grid_wait(mc_builder *b, bool overlap, const char *inputs) {
    if (!overlap) return;
    note(b, "the kernel before this one may still write %s or read C", inputs);
    EMIT_BARE(b, grid_wait);
}
