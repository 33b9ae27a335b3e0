#include "parts/integer/integer.h"

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
