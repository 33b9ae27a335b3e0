/* How far sums of floats of 8 bits may be off, as wgmma adds them up; and sums of f16.
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
 * A kernel that splits k, or deals it out, has such a sum of each part, with s_i steps and P_i, and adds
 * these up in f32. The parts' errors are those above with P_i, s_i and A_i, where the P_i add up to P and
 * the A_i to at most the bound of A. Each s_i is at most s less the number of other parts that have
 * products; and for each of these adding up rounds once more, by at most 2^-24 (P + E), which is less than
 * the 2 2^-13 (P + E) that one step more has. Adding a part without products changes nothing. So the bound
 * holds for it, too.
 *
 * Promoted, the sums of at most four steps are added up in f32. The bound is a multiple of P, so that those
 * of all sums add up to the one of P with s = 4; and each of the s / 4 additions, parts' too, rounds by at
 * most 2^-24 (P + E).
 *
 * With scales of blocks each promoted sum is multiplied by its scale s, an f32 that kernel and reference have
 * alike. So its error E_q counts |s_q| times. Let B be what these add up to, over all q blocks, and b what
 * adding them up in f32 gives: each addition rounds once, by at most 2^-24 of the result, or 2^-150 where
 * that is subnormal, so that B is at most (1 + q 2^-23) (b + q 2^-150).
 *   What kernel and reference add up themselves is rounded, too: q times by each, and by a kernel that splits
 * k at most q times more. No sum on its way has a magnitude above what |s_q| (P_q + E_q) add up to, but for
 * that rounding. By the formula above E_q is at least 4 2^-13 P_q, so that is at most (2^11 + 1) B. Together
 * these roundings are at most 4 (q + 1) 2^-24 (2^11 + 1) B, which is (q + 1) (2^-11 + 2^-22) B, and
 * 3 q 2^-150; the fourth part is for what magnitudes grow by rounding, up to q = 2^20. Where a magnitude may
 * leave f32, or a scale is no number, a sum may be anything.
 *
 * A sum of f16 is, in each of its s steps, what a sum in f32 would be, rounded to f16: by at most 2^-11 of
 * it, or 2^-25 where it is subnormal. No sum on its way is above P + E. E is then the bound of f32 and
 * g (P + E), with g = s 2^-11, and s 2^-25; a step has 16 products, or 8 where a GPU's mma adds them in two
 * turns. What could be 65,520 or more on its way may end as an infinity. */
#include "ops/gemm/bounds.h"
#include <math.h>

enum { STEP = 32, PROMOTED_STEPS = 4, HALF_STEP = 8 };
static const double unit = 0x1p-13, reference_unit = 0x1p-23, promoted_unit = 0x1p-24;
static const double half_unit = 0x1p-11, half_subnormal = 0x1p-25, half_end = 65520;

void gemm_take_magnitudes(mc_dense *dense) {
    static const struct {
        mc_type type;
        int64_t mask, least,
            special; /* of a magnitude's bits; the least normal number, the first special one */
    } rows[] = {{MC_E4M3, 0x7f, 0x08, 0x7f}, {MC_E5M2, 0x7f, 0x04, 0x7c}, {MC_F16, 0x7fff, 0x0400, 0x7c00}};
    size_t row = 0;
    while (rows[row].type != dense->type) row++;
    const int64_t least = rows[row].least, special = rows[row].special;
    for (int64_t i = 0; i < dense->rows; i++)
        for (int64_t j = 0; j < dense->cols; j++) {
            int64_t magnitude = mc_dense_get(dense, i, j) & rows[row].mask;
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

void gemm_bound_bytes(mc_dense *magnitudes, int64_t terms, bool promoted) {
    double all = ceil((double)terms / STEP), rounding = (double)terms * reference_unit;
    double steps = promoted ? fmin(all, PROMOTED_STEPS) : all;
    double adding = promoted ? (all / PROMOTED_STEPS + 1) * promoted_unit : 0;
    float *p = magnitudes->data;
    for (int64_t i = 0; i < magnitudes->rows * magnitudes->ld; i++) {
        double most = p[i] * (1 + rounding);
        double error = bound_of(most, steps);
        error += adding * (most + error);
        p[i] = nextafterf((float)(error + rounding * most), INFINITY);
    }
}

void gemm_bound_scaled(mc_dense *summed, int64_t blocks) {
    const double q = (double)blocks, subnormal = 0x1p-150 * q, greatest = 0x1p-12 * 0x1p127;
    const double growth = (1 + q * reference_unit) * (1 + (q + 1) * (0x1p-11 + 0x1p-22));
    float *bound = summed->data;
    for (int64_t i = 0; i < summed->rows * summed->ld; i++) {
        const double error = bound[i] < greatest ? (bound[i] + subnormal) * growth + 3 * subnormal : INFINITY;
        bound[i] = nextafterf((float)error, INFINITY);
    }
}

void gemm_bound_halves(const mc_dense *magnitudes, int64_t terms, mc_dense *bounds) {
    double steps = ceil((double)terms / HALF_STEP), growth = steps * half_unit;
    double rounding = (double)terms * reference_unit;
    const float *p = magnitudes->data;
    float *bound = bounds->data;
    for (int64_t i = 0; i < bounds->rows * bounds->ld; i++) {
        double most = p[i] * (1 + rounding), error = INFINITY;
        if (growth < 1) error = (bound[i] + growth * most + steps * half_subnormal) / (1 - growth);
        if (!(most + error < half_end)) error = INFINITY;
        bound[i] = nextafterf((float)error, INFINITY);
    }
}
