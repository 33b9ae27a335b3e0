#include "ops/values/values.h"

/* Half a step of each digit below the top one: what carries into the digits above, balanced. */
static uint32_t half_steps(const values_plan *plan) {
    uint32_t halves = 0;
    for (int i = 0; i < plan->digits.count - 1; i++)
        halves |= 1U << (plan->piece_bits * i + plan->piece_bits - 1);
    return halves;
}

/* The greatest value that has balanced digits: all of them at their greatest. */
static int64_t most_balanced(const values_plan *plan) {
    int64_t all = 0, digit = (1 << (plan->piece_bits - 1)) - 1, most = span_of_side(plan->side).high;
    for (int i = 0; i < plan->digits.count; i++) all = all << plan->piece_bits | digit;
    return all < most ? all : most;
}

/* Whether the digits of an element in memory are its bits as they lie. */
static bool is_cut_only(const values_plan *plan) {
    bool fills = plan->side.bits == plan->bits && plan->bits >= plan->piece_bits;
    return !values_is_integer(plan) || (fills && plan->mode == DIGITS_TOP_SIGNED);
}

values_digit values_prepare_digit(const values_plan *plan, mc_builder *b, mc_reg entry) {
    values_digit d = {{0}, {0}};
    if (plan->mode == DIGITS_OFFSET) d.add = mov_b32(b, "offset", I(-span_of_side(plan->side).low));
    if (plan->digits.count == 1) return d;
    mc_reg digit = shr_s32(b, "digit", entry, I(MC_PIECE_DIGIT_SHIFT));
    d.shift = mul_s32(b, "shift", digit, I(plan->piece_bits));
    if (plan->mode != DIGITS_BALANCED) return d;
    mc_reg below = shl_b32(b, "steps_below", I(-1), d.shift);
    d.add = lop3(b, "carry", below, H(half_steps(plan)), I(0), H(0x0c)); /* the second without the first */
    return d;
}

/* The element as a number, within what has digits. */
static void widen(const values_plan *plan, mc_builder *b, mc_reg element) {
    const digit_span span = span_of_side(plan->side);
    int unused = 8 * WORD - plan->bits;
    if (plan->side.is_signed) {
        EMIT(b, shl_b32, element, element, I(unused));
        EMIT(b, shr_s32, element, element, I(unused));
    }
    int64_t most = plan->mode == DIGITS_BALANCED ? most_balanced(plan) : span.high;
    if (plan->side.bits < plan->bits) EMIT(b, max_s32, element, element, I(span.low));
    if (plan->side.bits < plan->bits || most < span.high) EMIT(b, min_s32, element, element, I(most));
}

/* An H200's cvt makes an infinity of a NaN without a bit above those that are dropped. So the NaN is put in
   its place. */
static void round_tf32(mc_builder *b, mc_reg element) {
    const uint32_t magnitude = 0x7fffffff, infinity = 0x7f800000;
    mc_reg bits = and_b32(b, "magnitude", element, H(magnitude));
    mc_reg is_nan = setp_gt(b, "is_nan", bits, H(infinity));
    EMIT(b, cvt_tf32_f32, element, element);
    EMIT(b, selp_b32, element, H(magnitude), element, is_nan);
}

void values_make_piece(const values_plan *plan, mc_builder *b, const values_digit *digit, mc_reg element) {
    if (plan->unit == VALUES_ROUNDED) round_tf32(b, element);
    if (!is_cut_only(plan)) widen(plan, b, element);
    if (digit->add.id) EMIT(b, add_s32, element, element, digit->add);
    if (digit->shift.id) EMIT(b, shr_s32, element, element, digit->shift);
}
