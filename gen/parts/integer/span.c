#include "parts/integer/integer.h"

static digit_span span_of_bits(int bits, bool is_signed) {
    int64_t half = (int64_t)1 << (bits - 1);
    return is_signed ? (digit_span){-half, half - 1} : (digit_span){0, 2 * half - 1};
}

digit_span span_of_side(digit_side side) { return span_of_bits(side.bits, side.is_signed); }

/* A top digit above signed ones takes a carry, so that its range has one value more. */
digit_span span_of_digit(digit_side side, digit_set digits, int digit) {
    bool top = digit == digits.count - 1, is_signed = digit_is_signed(digits, digit);
    int bits = top ? side.bits - digits.bits * (digits.count - 1) : digits.bits;
    digit_span values = span_of_bits(bits, is_signed);
    if (top && digits.count > 1 && digits.low_signed) values.high++;
    return values;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

digit_span span_of_product(digit_span a, digit_span b) {
    return (digit_span){least(least(a.low * b.low, a.low * b.high), least(a.high * b.low, a.high * b.high)),
                        most(most(a.low * b.low, a.low * b.high), most(a.high * b.low, a.high * b.high))};
}

int64_t span_magnitude(digit_span span) { return most(span.high, -span.low); }

int64_t span_terms_in_s32(digit_span term) {
    int64_t up = term.high > 0 ? INT32_MAX / term.high : INT64_MAX;
    int64_t down = term.low < 0 ? INT32_MIN / term.low : INT64_MAX;
    return least(up, down);
}

mc_sums sums_of_sides(digit_side lhs, digit_side rhs, int64_t k) {
    digit_span product = span_of_product(span_of_side(lhs), span_of_side(rhs));
    return (mc_sums){.lhs = lhs.name,
                     .rhs = rhs.name,
                     .largest_product = span_magnitude(product),
                     .bound = span_terms_in_s32(product),
                     .products = "products",
                     .k = k};
}
