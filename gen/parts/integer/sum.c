#include "parts/integer/integer.h"

void emit_real_of_sum(mc_builder *b, bool exact, mc_reg sum, mc_reg real) {
    if (exact) EMIT(b, cvt_f32_s64, real, sum);
    else EMIT(b, cvt_f32_s32, real, sum);
}
