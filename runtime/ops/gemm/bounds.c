/* How far sums of floats of 8 bits may be off, as wgmma adds them up.
 *
 * A wgmma has 32 products and the sum so far. Each of these terms is cut off, towards zero, to a multiple of
 * u, and so is the result to 13 bits of fraction: u = 2^(e - 13), where e is the greatest of the terms'
 * exponents. That of a product is the sum of its factors' exponents, and a subnormal factor has the exponent
 * of the least normal number. Let P be the sum of all products of magnitudes, where none but a zero counts
 * less than the least normal number; A the largest magnitude that the sum has on its way; s the number of
 * steps. Then u is at most 2^-13 times the step's part of P, plus A. So
 *
 *   products lose at most        32 * 2^-13 (P + s A), and at most P, since each loses at most itself;
 *   the sum so far, cut twice    2 s 2^-13 A, plus its part of P: 2^-13 P.
 *
 * Let E be the sum of both. A is at most P + E, and at first E is at most P + 2^-13 P + 2 s 2^-13 A, which
 * gives A. The reference's own sums, and P, are added up in f32, one after another: each may be off by
 * k 2^-23 P. An infinity or a NaN counts as 0 in P: the result is then the same whatever is added first.
 *
 * A kernel that splits k has such a sum of each part, with s_i steps and P_i, and adds these up in f32. The
 * parts' errors are those above with P_i, s_i and A_i, where the P_i add up to P and the A_i to at most the
 * bound of A. Each s_i is at most s less the number of other parts that have products; and for each of these
 * adding up rounds once more, by at most 2^-24 (P + E), which is less than the 2 2^-13 (P + E) that one step
 * more has. Adding a part without products changes nothing. So the bound holds for it, too. */
#include "ops/gemm/bounds.h"
#include <math.h>

enum { STEP = 32 };
static const double unit = 0x1p-13, reference_unit = 0x1p-23;

void gemm_take_magnitudes(mc_dense *dense) {
    const bool finite = dense->type == MC_E4M3; /* it has no infinities */
    const int64_t least = finite ? 0x08 : 0x04, special = finite ? 0x7f : 0x7c;
    for (int64_t i = 0; i < dense->rows; i++)
        for (int64_t j = 0; j < dense->cols; j++) {
            int64_t magnitude = mc_dense_get(dense, i, j) & 0x7f;
            if (magnitude >= special) magnitude = 0;
            mc_dense_set(dense, i, j, magnitude && magnitude < least ? least : magnitude);
        }
}

/* Where the sum may be INFINITY, or is one, it is INFINITY. */
static double bound_of(double p, double steps) {
    if (2 * steps * unit >= 1) return INFINITY;
    double largest = 2 * p * (1 + unit) / (1 - 2 * steps * unit), error = INFINITY;
    for (int i = 0; i < 2; i++) {
        double products = fmin(p, STEP * unit * (p + steps * largest));
        error = products + unit * (2 * p + 2 * steps * largest);
        largest = fmin(largest, p + error);
    }
    return p + error < 0x1.fffffep127 ? error : INFINITY;
}

void gemm_bound_bytes(mc_dense *magnitudes, int64_t terms) {
    double steps = ceil((double)terms / STEP), rounding = (double)terms * reference_unit;
    float *p = magnitudes->data;
    for (int64_t i = 0; i < magnitudes->rows * magnitudes->ld; i++) {
        double most = p[i] * (1 + rounding);
        p[i] = nextafterf((float)(bound_of(most, steps) + rounding * most), INFINITY);
    }
}
