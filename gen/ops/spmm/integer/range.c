/* How large a sum can get. First the range of a side's values, then of a digit, then of a product of digits,
   then of what one slot adds to an accumulator. */
#include "ops/spmm/integer/products.h"

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static digit_span value_products(const spmm_arithmetic *math) {
    return span_of_product(span_of_side(math->integer.lhs), span_of_side(math->integer.rhs));
}

int64_t spmm_largest_product(const spmm_arithmetic *math) { return span_magnitude(value_products(math)); }

int64_t spmm_sum_bound(const spmm_arithmetic *math) { return span_terms_in_s32(value_products(math)); }

/* The range of what one slot adds to accumulator SUM in plane PLANE of its mma: all products of digits that
   meet there. 4-bit values of B may count 16 times. */
static digit_span slot_span(const spmm_arithmetic *math, int sum, int plane) {
    int64_t factor = math->integer.times_16 ? 16 : 1;
    digit_span slot = {0, 0};
    for (int i = plane; i < math->integer.a.count; i += math->integer.planes)
        for (int j = 0; j < math->integer.b.count; j++) {
            if (spmm_sum_of(math, i / math->integer.planes, j) != sum) continue;
            digit_span products = span_of_product(span_of_digit(math->integer.lhs, math->integer.a, i),
                                                  span_of_digit(math->integer.rhs, math->integer.b, j));
            slot.low += products.low * factor;
            slot.high += products.high * factor;
        }
    return slot;
}

int64_t spmm_accumulator_bound(const spmm_arithmetic *math) {
    int64_t bound = INT64_MAX;
    for (int sum = 0; sum < math->sums; sum++)
        for (int plane = 0; plane < math->integer.planes; plane++)
            bound = least(bound, span_terms_in_s32(slot_span(math, sum, plane)));
    return bound;
}

int64_t spmm_exact_k(const spmm_arithmetic *math) {
    spmm_arithmetic times_16 = *math;
    times_16.integer.times_16 = true;
    return spmm_accumulator_bound(&times_16);
}

int spmm_flush_strides(const spmm_arithmetic *math) {
    int64_t bound = spmm_accumulator_bound(math);
    if (!math->exact || (math->k != MC_OPEN && math->k <= bound)) return 0;
    return (int)(bound / math->stride);
}
