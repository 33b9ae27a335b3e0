/* The arithmetic of softmax_grad, in f32 operations that round to nearest even: kernels, simulator and CPU
 * reference give the same bits, however a kernel divides its work. Of a row with the elements p and d, the
 * greatest of |p d| being G:
 *
 *   t = p d
 *   g = max(2^floor(log2(G)), LEAST)            the bits of G that are its exponent; infinite of a NaN
 *   u = nearest(t 2^21 / g)                     an integer, at most 2^22: last bits of t 2^21 / g + ROUNDER
 *   D = f32(sum of u) (2^-21 g)                 the sum is exact, in 64 bits
 *   y = (d - D) p scale
 *
 * Where G is infinite or NaN, D is max(0, t ...) - max(0, -t ...): an infinity, or a NaN. */
#ifndef MC_SOFTMAX_GRAD_H
#define MC_SOFTMAX_GRAD_H

/* Below that 2^21 / g leaves f32. */
#define GRAD_LEAST 0x1p-105F
/* 1.5 * 2^23: f32 from there on to 2^24 are integers, whose bits count on. */
#define GRAD_ROUNDER      0x1.8p23F
#define GRAD_ROUNDER_BITS 0x4b400000
/* The bits of infinity; of powers of two: those of 2^k are 127 + k at FRACTION_BITS. */
#define GRAD_INFINITY_BITS 0x7f800000
#define GRAD_FRACTION_BITS 23
#define GRAD_BIAS          127
#define GRAD_SUM_BITS      21

#endif
