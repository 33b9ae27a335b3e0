/* Activations, each in a fixed order of f32 operations that round to nearest even: kernels, simulator and CPU
 * reference give the same bits. No step is one that hardware is free to approximate. docs/output.md has the
 * bounds.
 *
 *   relu        max(x, +0)
 *   silu        y / (1 + 2^t), y = max(x, -86), t = max(y * -log2(e), -126)
 *   gelu_tanh   the same with y = max(x, -9.5) and t = max(y (c0 + c1 y^2), -126)
 *   gelu        max(x, +0) - a 2^(p(a)), a = min(|x|, 8): 2^(p(a)) is the normal distribution's tail beyond a
 *
 * max() keeps a NaN. 2^t is a polynomial of what is left of t beside the nearest integer, which then becomes
 * an exponent: t is in -126 to 124.1. A division multiplies by a reciprocal: a constant less the divisor's
 * bits is 0.71 to 0.73 of it, a polynomial of their product leaves 2^-13.1, one of Newton's steps 2^-23.7. */
#ifndef MC_ACTIVATION_H
#define MC_ACTIVATION_H

/* A(NAME, text): in the order of specs and of mc_activation. */
#define MC_ACTIVATION_LIST(A)                                                                                \
    A(NONE, "none") A(RELU, "relu") A(SILU, "silu") A(GELU, "gelu") A(GELU_TANH, "gelu_tanh")

/* What the steps have in common. By an addition of ACTIVATION_WHOLE, 1.5 * 2^23, a number's integer stands in
   the low bits of the sum. */
#define ACTIVATION_WHOLE       0x1.8p23F
#define ACTIVATION_LEAST_POWER (-126.0F)
#define ACTIVATION_SILU_LEAST  (-86.0F)
#define ACTIVATION_SILU_BY     (-0x1.715476p0F) /* log2(e) */
#define ACTIVATION_TANH_LEAST  (-9.5F)
/* -2 sqrt(2 / pi) log2(e), and 0.044715 times that */
#define ACTIVATION_TANH_TERMS                                                                                \
    { -0x1.26aec2p1F, -0x1.a5a7dp-4F }
#define ACTIVATION_GELU_MOST 8.0F

/* Of a divisor 1 to 2^125: the constant, and the polynomial, of minus that product. */
#define ACTIVATION_INVERSE_BITS 0x7eb50000U
#define ACTIVATION_INVERSE_TERMS                                                                             \
    { 0x1.64b47ap1F, 0x1.f0f83cp0F }
/* Coefficients, that of the power 0 first. 2^f for f in -0.5 to 0.5 with a relative error of 2^-28.9; and
   log2 of the normal distribution's tail for a in 0 to 8, with odd powers' signs turned: kernels have -a. */
#define ACTIVATION_POWER_TERMS                                                                               \
    {                                                                                                        \
        1.0F, 0.6931472028571217F, 0.24022647913338432F, 0.05550332467873831F, 0.0096184373770482840F,       \
            0.001339887544119712F, 0.0001535335913053265F                                                    \
    }
#define ACTIVATION_TAIL_TERMS                                                                                \
    {                                                                                                        \
        -1.0F, 1.1511163021202722F, -0.45911901094537105F, 0.05275330255998321F, 0.007421532903998772F,      \
            0.00040376188136943540F, -7.792816295119262e-05F, -1.6943471447868764e-05F,                      \
            -9.842608922358214e-07F                                                                          \
    }

#endif
