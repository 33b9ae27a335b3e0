/* Arithmetic on f16, bf16, pairs of them, and on f32 with modifiers: each element is decoded to double,
 * computed exactly or rounded to odd, and rounded once (format.h). Plain f32 has faster executors in
 * exec_float.c. */
#include "format.h"
#include "lanes.h"

#include <math.h>

typedef double operation(double x, double y, double z, const struct sim_insn *insn);

static double element(const struct sim_warp *warp, const struct sim_insn *insn, int operand, int lane,
                      unsigned part) {
    const struct sim_format *format = sim_format_of(insn->type);
    if (operand >= insn->value_count || insn->value[operand].kind == SIM_SINK) return 0;
    unsigned bytes = sim_types[insn->type].bytes;
    uint32_t bits = 0;
    memcpy(&bits, (const char *)sim_source(warp, &insn->value[operand]) + (size_t)lane * bytes, bytes);
    if (sim_types[insn->type].bytes == 4 && insn->type != SIM_f32) bits = bits >> 16 * part & 0xffff;
    double x = sim_decode(format, bits);
    return insn->modifiers & SIM_FTZ ? sim_flush(format, x) : x;
}

/* With .ftz, a result is flushed if it is subnormal before it is rounded: the ISA does not say so, but sm_90
   does. */
static uint32_t finish(const struct sim_insn *insn, double x) {
    const struct sim_format *format = sim_format_of(insn->type);
    if (insn->modifiers & SIM_SAT) x = x > 0 ? fmin(x, 1) : 0; /* NaN to 0, too */
    if (insn->modifiers & SIM_RELU && x <= 0) x = 0;
    if (insn->modifiers & SIM_FTZ) x = sim_flush(format, x);
    return sim_encode(format, x, insn->rounding, false);
}

static bool is_pair(const struct sim_insn *insn) {
    return insn->type == SIM_f16x2 || insn->type == SIM_bf16x2;
}

static void compute(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask, operation *op) {
    unsigned parts = is_pair(insn) ? 2 : 1, bytes = sim_types[insn->type].bytes;
    unsigned char r[SIM_LANES * 4] = {0};
    SIM_EACH_LANE(l) {
        uint32_t bits = 0;
        if (!SIM_ACTIVE(mask, l)) continue;
        for (unsigned part = 0; part < parts; part++) {
            double x = element(warp, insn, 1, l, part), y = element(warp, insn, 2, l, part),
                   z = element(warp, insn, 3, l, part);
            bits |= finish(insn, op(x, y, z, insn)) << 16 * part;
        }
        memcpy(r + (size_t)l * bytes, &bits, bytes);
    }
    sim_put(warp, &insn->value[0], r, bytes, mask);
}

/* The executor NAME and its tables: for f32, for f16 and pairs, for bf16 and pairs. */
#define NARROW(name, expression)                                                                             \
    static double name##_value(double x, double y, double z, const struct sim_insn *insn) {                  \
        (void)y, (void)z, (void)insn;                                                                        \
        return expression;                                                                                   \
    }                                                                                                        \
    static void run_##name(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {              \
        compute(warp, insn, mask, name##_value);                                                             \
    }
#define ROUNDED(name) sim_exec *const sim_##name##_rounded[SIM_TYPE_COUNT] = {[SIM_f32] = run_##name};
#define HALF(name)                                                                                           \
    sim_exec *const sim_##name##_half[SIM_TYPE_COUNT] = {[SIM_f16] = run_##name, [SIM_f16x2] = run_##name};
#define BRAIN(name)                                                                                          \
    sim_exec *const sim_##name##_brain[SIM_TYPE_COUNT] = {[SIM_bf16] = run_##name, [SIM_bf16x2] = run_##name};
#define EVERY(name) ROUNDED(name) HALF(name) BRAIN(name)

/* With .xorsign.abs, magnitudes are compared, and the result has the product's sign. */
static double signed_extremum(double x, double y, bool greatest, const struct sim_insn *insn);

/* min and max pass over a NaN unless .NaN is there, and -0 is less than +0 (ISA, "min", "max"). */
static double extremum(double x, double y, bool greatest, const struct sim_insn *insn) {
    if (insn->modifiers & SIM_XOR_SIGN) return signed_extremum(x, y, greatest, insn);
    if (x != x || y != y) return insn->modifiers & SIM_NAN_WINS ? (double)NAN : x != x ? y : x;
    bool x_less = x < y || (x == y && signbit(x));
    return x_less == greatest ? y : x;
}

static double signed_extremum(double x, double y, bool greatest, const struct sim_insn *insn) {
    struct sim_insn plain = *insn;
    plain.modifiers &= ~(uint32_t)SIM_XOR_SIGN;
    double r = extremum(fabs(x), fabs(y), greatest, &plain);
    return (signbit(x) != 0) != (signbit(y) != 0) ? -r : r;
}

/* A product of two values is exact: at most 48 significant bits. */
NARROW(add, sim_sum(x, y, insn->rounding))
NARROW(sub, sim_sum(x, -y, insn->rounding))
NARROW(mul, x *y)
NARROW(fma, sim_sum(x *y, z, insn->rounding))
NARROW(min, extremum(x, y, false, insn))
NARROW(max, extremum(x, y, true, insn))
NARROW(neg, -x)
NARROW(abs, fabs(x))
EVERY(add)
EVERY(sub)
EVERY(mul)
EVERY(fma)
EVERY(min)
EVERY(max)
EVERY(neg)
EVERY(abs)

/* By divisors beyond 2^126 the result is 0 (ISA, "div"). */
static double quotient_approx(double x, double y) {
    bool too_large = fabs(y) > 0x1p126 && !isinf(y);
    return too_large ? x * copysign(0, y) : sim_quotient(x, y);
}

NARROW(div, sim_quotient(x, y))
NARROW(div_approx, quotient_approx(x, y))
NARROW(rcp, sim_quotient(1, x))
NARROW(sqrt, sim_square_root(x))
ROUNDED(div)
ROUNDED(div_approx)
ROUNDED(rcp)
ROUNDED(sqrt)

/* The .approx functions give the exact result, rounded: within every bound that the ISA states, but not to
   the bit what a GPU gives. */
NARROW(rsqrt, 1 / sqrt(x))
NARROW(ex2, exp2(x))
NARROW(lg2, log2(x))
NARROW(tanh, tanh(x))
ROUNDED(rsqrt)
ROUNDED(ex2)
ROUNDED(lg2)
ROUNDED(tanh)
HALF(ex2)
BRAIN(ex2)
HALF(tanh)
BRAIN(tanh)
NARROW(sin, sin(x))
NARROW(cos, cos(x))
ROUNDED(sin)
ROUNDED(cos)

/* Of f64, the high half of the result is good to about 20 bits, and the low half is 0 (ISA,
   "rcp.approx.ftz.f64"); subnormals are zeros. */
static double gross(double x) {
    uint64_t bits;
    if (x != x) return NAN;
    memcpy(&bits, &x, sizeof bits);
    bits &= UINT64_C(0xffffffff) << 32;
    memcpy(&x, &bits, sizeof x);
    return fpclassify(x) == FP_SUBNORMAL ? copysign(0, x) : x;
}

SIM_UNARY(rcp_approx_f64, double, double, gross(1 / gross(x)))
SIM_UNARY(rsqrt_approx_f64, double, double, gross(1 / sqrt(gross(x))))
SIM_UNARY(rsqrt_f64, double, double, 1 / sqrt(x))
sim_exec *const sim_rcp_approx_double[SIM_TYPE_COUNT] = {[SIM_f64] = rcp_approx_f64};
sim_exec *const sim_rsqrt_approx_double[SIM_TYPE_COUNT] = {[SIM_f64] = rsqrt_approx_f64};
sim_exec *const sim_rsqrt_double[SIM_TYPE_COUNT] = {[SIM_f64] = rsqrt_f64};

/* setp: of a pair, p compares the low elements and q the high ones (ISA, "setp" of half precision). */
static uint32_t relation(struct sim_warp *warp, const struct sim_insn *insn, unsigned part) {
    uint32_t ordered = 0, less = 0, equal = 0;
    SIM_EACH_LANE(l) {
        double x = element(warp, insn, 2, l, part), y = element(warp, insn, 3, l, part);
        ordered |= (uint32_t)(x == x && y == y) << l;
        less |= (uint32_t)(x < y) << l;
        equal |= (uint32_t)(x == y) << l;
    }
    return sim_float_relation(insn->comparison, ordered, less, equal);
}

static void run_setp(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    uint32_t low = relation(warp, insn, 0), high = is_pair(insn) ? relation(warp, insn, 1) : ~low;
    uint32_t with = insn->combine ? sim_predicate(warp, &insn->value[4]) : 0;
    sim_put_predicate(warp, &insn->value[0], sim_combine(insn->combine, low, with), mask);
    sim_put_predicate(warp, &insn->value[1], sim_combine(insn->combine, high, with), mask);
}
EVERY(setp)
