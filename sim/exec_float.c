/* Floating-point arithmetic, rounded to nearest even. Every NaN that an operation makes is the canonical one
 * (ISA, "Floating-Point Instructions": 0x7fffffff for .f32). With modifiers: exec_narrow.c. */
#include "lanes.h"

#include <math.h>

static float result_f32(float x) {
    uint32_t bits = 0x7fffffff;
    if (x != x) memcpy(&x, &bits, sizeof x);
    return x;
}

static double result_f64(double x) { return x; }

#define FLOAT(T, type, fma_function)                                                                         \
    SIM_BINARY(add_##type, T, result_##type(x + y))                                                          \
    SIM_BINARY(sub_##type, T, result_##type(x - y))                                                          \
    SIM_BINARY(mul_##type, T, result_##type(x *y))                                                           \
    SIM_BINARY(div_##type, T, result_##type(x / y))                                                          \
    SIM_TERNARY(fma_##type, T, result_##type(fma_function(x, y, z)))
FLOAT(float, f32, fmaf)
FLOAT(double, f64, fma)

#define FLOAT_TABLE(op)                                                                                      \
    { [SIM_f32] = op##_f32, [SIM_f64] = op##_f64 }
sim_exec *const sim_add_float[SIM_TYPE_COUNT] = FLOAT_TABLE(add);
sim_exec *const sim_sub_float[SIM_TYPE_COUNT] = FLOAT_TABLE(sub);
sim_exec *const sim_mul_float[SIM_TYPE_COUNT] = FLOAT_TABLE(mul);
sim_exec *const sim_div_float[SIM_TYPE_COUNT] = FLOAT_TABLE(div);
sim_exec *const sim_fma_float[SIM_TYPE_COUNT] = FLOAT_TABLE(fma);

SIM_UNARY(sqrt_f32, float, float, result_f32(sqrtf(x)))
SIM_UNARY(sqrt_f64, double, double, sqrt(x))
SIM_UNARY(rcp_f32, float, float, result_f32(1 / x))
SIM_UNARY(rcp_f64, double, double, 1 / x)
sim_exec *const sim_sqrt_float[SIM_TYPE_COUNT] = FLOAT_TABLE(sqrt);
sim_exec *const sim_rcp_float[SIM_TYPE_COUNT] = FLOAT_TABLE(rcp);

/* min and max pass over a NaN, and -0 is less than +0 (ISA, "min", "max"). */
#define EXTREMA(T, type)                                                                                     \
    static T least_##type(T x, T y) {                                                                        \
        if (x != x) return result_##type(y);                                                                 \
        if (y != y) return x;                                                                                \
        return x < y || (x == y && signbit(x)) ? x : y;                                                      \
    }                                                                                                        \
    static T greatest_##type(T x, T y) {                                                                     \
        if (x != x) return result_##type(y);                                                                 \
        if (y != y) return x;                                                                                \
        return x > y || (x == y && !signbit(x)) ? x : y;                                                     \
    }                                                                                                        \
    SIM_BINARY(min_##type, T, least_##type(x, y))                                                            \
    SIM_BINARY(max_##type, T, greatest_##type(x, y))
EXTREMA(float, f32)
EXTREMA(double, f64)
sim_exec *const sim_min_float[SIM_TYPE_COUNT] = FLOAT_TABLE(min);
sim_exec *const sim_max_float[SIM_TYPE_COUNT] = FLOAT_TABLE(max);

SIM_UNARY(neg_f32, uint32_t, uint32_t, x ^ 0x80000000u)
SIM_UNARY(neg_f64, uint64_t, uint64_t, x ^ UINT64_C(1) << 63)
SIM_UNARY(abs_f32, uint32_t, uint32_t, x & 0x7fffffffu)
SIM_UNARY(abs_f64, uint64_t, uint64_t, x & ~(UINT64_C(1) << 63))
sim_exec *const sim_neg_float[SIM_TYPE_COUNT] = FLOAT_TABLE(neg);
sim_exec *const sim_abs_float[SIM_TYPE_COUNT] = FLOAT_TABLE(abs);
