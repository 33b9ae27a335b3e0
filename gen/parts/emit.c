#include "parts/emit.h"
#include "parts/batch.h"
#include "parts/fragment.h"

int log2_of(int power) {
    int log = 0;
    while (power >> log > 1) log++;
    return log;
}

mc_operand dim_operand(int64_t fixed, mc_reg reg) { return fixed == MC_OPEN ? reg : I(fixed); }

mc_reg load_array(mc_builder *b, const char *name) {
    mc_reg reg = b64(b, name);
    EMIT(b, ld_param_u64, reg, NAME(name));
    EMIT(b, cvta_global, reg, reg);
    batch_move(b, name, reg);
    return reg;
}

mc_reg load_shape(mc_builder *b, const char *name, bool wanted) {
    if (!wanted) return (mc_reg){0};
    mc_reg reg = b32(b, name);
    EMIT(b, ld_param_s32, reg, NAME(name));
    return reg;
}

mc_reg load_special(mc_builder *b, const char *reg_name, const char *special_name) {
    mc_reg reg = b32(b, reg_name);
    EMIT(b, mov_special, reg, NAME(special_name));
    return reg;
}

thread_place load_thread_place(mc_builder *b, int threads) {
    thread_place p = {.thread = load_special(b, "thread", "tid.x")};
    p.lane = b32(b, "lane"), p.g = b32(b, "g"), p.t = b32(b, "t");
    EMIT(b, and_b32, p.lane, p.thread, I(MC_WARP - 1));
    EMIT(b, shr_u32, p.g, p.lane, I(FRAG_GROUP_SHIFT));
    EMIT(b, and_b32, p.t, p.lane, I(FRAG_THREAD_MASK));
    if (threads == MC_WARP) return p;
    p.warp = b32(b, "warp");
    EMIT(b, shr_u32, p.warp, p.thread, I(log2_of(MC_WARP)));
    return p;
}

void emit_launch_next(mc_builder *b, bool overlap) {
    if (!overlap) return;
    note(b, "the kernel behind this one may start");
    EMIT_BARE(b, launch_dependents);
}

void emit_grid_wait(mc_builder *b, bool overlap, const char *inputs) {
    if (!overlap) return;
    note(b, "the kernel before this one may still write %s or read C", inputs);
    EMIT_BARE(b, grid_wait);
}

/* -- 4-bit values as bytes ---------------------------------------------------------------------------- */

enum {
    BIASES = 0x08080808, /* the least s4 becomes 0 */
    AND_XOR = 0x6a,      /* lop3's table of (a & b) ^ c */
};

static void emit_low(mc_builder *b, bool is_signed, mc_reg bytes, mc_reg to) {
    if (is_signed) EMIT(b, lop3, to, bytes, H(LOW_HALVES), H(BIASES), I(AND_XOR));
    else EMIT(b, and_b32, to, bytes, H(LOW_HALVES));
}

mc_reg emit_halves(mc_builder *b, half_form form, mc_reg bytes, bool second, mc_reg to) {
    if (!second) {
        emit_low(b, form.is_signed, bytes, to);
    } else if (!form.times_16) {
        EMIT(b, shr_u32, to, bytes, I(4));
        emit_low(b, form.is_signed, to, to);
    } else if (form.is_signed) {
        EMIT(b, and_b32, to, bytes, H(~(uint32_t)LOW_HALVES));
    } else {
        return bytes;
    }
    return to;
}
