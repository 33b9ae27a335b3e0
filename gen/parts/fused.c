#include "parts/fused.h"
#include "parts/side.h"
#include <string.h>

bool fused_takes(int side) {
    return side == SIDE_F32 || side == SIDE_TF32 || side == SIDE_F16 || side == SIDE_BF16;
}

static bool is(const char *type, int side) { return strcmp(type, side_type_names[side]) == 0; }

mc_reg fused_element(mc_builder *b, const char *type, mc_reg word, bool high, mc_reg scratch) {
    if (is(type, SIDE_F32)) return word;
    if (is(type, SIDE_TF32)) {
        EMIT(b, cvt_tf32_f32, word, word);
        return word;
    }
    if (is(type, SIDE_BF16)) {
        if (high) EMIT(b, and_b32, scratch, word, H(0xffff0000));
        else EMIT(b, shl_b32, scratch, word, I(16));
        return scratch;
    }
    if (high) EMIT(b, shr_u32, scratch, word, I(16));
    EMIT(b, cvt_f32_f16, scratch, high ? scratch : word);
    return scratch;
}
