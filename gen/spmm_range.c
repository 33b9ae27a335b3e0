/* What sums can reach: the ranges of the two sides' types, of their digits, and of products of these. */
#include "spmm.h"

typedef struct span {
    int64_t low, high;
} span;

static span span_of_bits(int bits, bool is_signed) {
    int64_t half = (int64_t)1 << (bits - 1);
    return is_signed ? (span){-half, half - 1} : (span){0, 2 * half - 1};
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static span product_span(span a, span b) {
    return (span){least(least(a.low * b.low, a.low * b.high), least(a.high * b.low, a.high * b.high)),
                  most(most(a.low * b.low, a.low * b.high), most(a.high * b.low, a.high * b.high))};
}

/* The terms of a sum that stays in s32 wherever in TERM they lie. */
static int64_t terms_in_s32(span term) {
    int64_t up = term.high > 0 ? INT32_MAX / term.high : INT64_MAX;
    int64_t down = term.low < 0 ? INT32_MIN / term.low : INT64_MAX;
    return least(up, down);
}

static span value_products(const spmm_plan *plan) {
    return product_span(span_of_bits(plan->lhs.bits, plan->lhs.is_signed),
                        span_of_bits(plan->rhs.bits, plan->rhs.is_signed));
}

int64_t spmm_largest_product(const spmm_plan *plan) {
    span products = value_products(plan);
    return most(products.high, -products.low);
}

int64_t spmm_sum_bound(const spmm_plan *plan) { return terms_in_s32(value_products(plan)); }

/* A top digit over signed ones takes a carry: its range has one value more. */
static span digit_span(spmm_side side, spmm_digits digits, int digit) {
    bool top = digit == digits.count - 1, is_signed = spmm_digit_is_signed(digits, digit);
    int bits = top ? side.bits - digits.bits * (digits.count - 1) : digits.bits;
    span values = span_of_bits(bits, is_signed);
    if (top && digits.count > 1 && digits.low_signed) values.high++;
    return values;
}

/* What a slot can add to the accumulator SUM of the mma's plane PLANE. 4-bit values of B may be multiplied by 16. */
static span slot_span(const spmm_plan *plan, int sum, int plane) {
    int64_t factor = plan->times_16 ? 16 : 1;
    span slot = {0, 0};
    for (int i = plane; i < plan->a.count; i += plan->planes)
        for (int j = 0; j < plan->b.count; j++) {
            if (spmm_sum_of(plan, i / plan->planes, j) != sum) continue;
            span products =
                product_span(digit_span(plan->lhs, plan->a, i), digit_span(plan->rhs, plan->b, j));
            slot.low += products.low * factor;
            slot.high += products.high * factor;
        }
    return slot;
}

int64_t spmm_accumulator_bound(const spmm_plan *plan) {
    int64_t bound = INT64_MAX;
    for (int sum = 0; sum < plan->sums; sum++)
        for (int plane = 0; plane < plan->planes; plane++)
            bound = least(bound, terms_in_s32(slot_span(plan, sum, plane)));
    return bound;
}

int64_t spmm_exact_k(const spmm_plan *plan) {
    spmm_plan times_16 = *plan;
    times_16.times_16 = true;
    return spmm_accumulator_bound(&times_16);
}

int spmm_flush_strides(const spmm_plan *plan) {
    int64_t bound = spmm_accumulator_bound(plan);
    if (!plan->output.exact || (plan->k != MC_OPEN && plan->k <= bound)) return 0;
    return (int)(bound / plan->stride);
}
