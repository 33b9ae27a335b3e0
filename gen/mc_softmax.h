/* The arithmetic of softmax, in f32 operations that round to nearest even: kernels, simulator and CPU
 * reference give the same bits, however a kernel divides its work. Of a row with the elements x, of which the
 * greatest is M:
 *
 *   t = max((x - max(M, LOWEST)) log2(e), -126), a NaN stays one
 *   e = 2^t - 2^-126                            the polynomial of mc_activation.h; 0 for -infinity
 *   u = bits(1 + e) - bits(1)                   e in units of 2^-23, an integer
 *   s = max(2^-23 f32(sum of u), 1)             the sum is exact, in 64 bits
 *   y = e ((1 / s) + max(M, LOWEST) 0)          the zero makes a NaN of an M that is one, or infinity
 *   lse = M + ln(s)
 *
 * With exp = "approx" e = ex2.approx.ftz(t), t = (x - max(M, LOWEST)) (g log2(e)), of which e alone is not
 * stated to the bit; it is within APPROX_ERROR, and 0 below 2^-126. g is 1 but for f16 and bf16 without the
 * mask's values. Of these x is an element of A as it is, or its negative where the scale's sign bit is set,
 *
 *   g = max(|scale|, 2^-126), y = e ((1 / s) + max(M, LOWEST) 0 + (g log2(e)) 0),
 *   lse = M g + (ln(s) + (g log2(e)) 0)
 *
 * ln(s): k and m are s = 2^k m with m in sqrt(1/2) to sqrt(2), z = (m - 1) / (m + 1), and ln(s) is
 * k ln(2) + z (2 + 2/3 z^2 + 2/5 z^4 + ...). */
#ifndef MC_SOFTMAX_H
#define MC_SOFTMAX_H

/* Where ex2.approx makes exponentials: the relative error that the PTX ISA allows it. */
#define SOFTMAX_APPROX_ERROR 0x1p-22
#define SOFTMAX_LOG2_E       0x1.715476p0F
#define SOFTMAX_LOWEST       (-0x1.fffffep127F)
#define SOFTMAX_LEAST        0x1p-126F
#define SOFTMAX_UNIT         0x1p-23F
/* With one exchange (gen/ops/softmax/once.c) a row's sum is of exponentials against the greatest exponent of
   the row block: the bits of the least such sum, 2^-LEAST_SUM_POWER, and of the greatest, 2^LEAST_SUM_POWER.
   An exponential goes through at most 96 additions, each rounded; ADDS counts the reciprocal, which is 2^-23
   off, as two more. */
#define SOFTMAX_LEAST_SUM_POWER 32
#define SOFTMAX_LEAST_SUM_BITS  ((127 - SOFTMAX_LEAST_SUM_POWER) << 23)
#define SOFTMAX_MOST_SUM_BITS   ((127 + SOFTMAX_LEAST_SUM_POWER) << 23)
#define SOFTMAX_ADDS            98
/* The bits of 1, and of the square root of 1/2. */
#define SOFTMAX_ONE_BITS  0x3f800000
#define SOFTMAX_ROOT_BITS 0x3f3504f3
#define SOFTMAX_LN_2      0x1.62e43p-1F
/* Coefficients of z, z^3, z^5, ... */
#define SOFTMAX_LN_TERMS                                                                                     \
    {                                                                                                        \
        2.0F, 0.666666686534881591796875F, 0.4000000059604644775390625F, 0.285714298486709594726562F,        \
            0.22222222387790679931640625F                                                                    \
    }

#endif
