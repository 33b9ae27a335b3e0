/* cvt. Integers pass through int64_t, floats through double: wide enough for every pair, so that each
 * conversion rounds once. The exception is u64 and s64 to f32, which go directly. */
#include "half.h"
#include "lanes.h"

#include <math.h>

/* A lane's value as the type says, sign- or zero-extended. u64 above INT64_MAX keeps its bits. */
static int64_t read_integer(const unsigned char *from, enum sim_type type) {
    unsigned bytes = sim_types[type].bytes;
    uint64_t bits = 0;
    memcpy(&bits, from, bytes);
    uint64_t sign = UINT64_C(1) << (8 * bytes - 1);
    return (int64_t)(sim_types[type].kind == 's' && bits & sign ? bits | (0 - sign) : bits);
}

static int64_t lowest(enum sim_type type) {
    return sim_types[type].kind == 's' ? INT64_MIN >> (64 - 8 * sim_types[type].bytes) : 0;
}

static uint64_t highest(enum sim_type type) {
    return (sim_types[type].kind == 's' ? (uint64_t)INT64_MAX : UINT64_MAX) >>
           (64 - 8 * sim_types[type].bytes);
}

/* VALUE, read from type FROM, clamped to what TO holds. */
static int64_t saturate(int64_t value, enum sim_type from, enum sim_type to) {
    bool negative = sim_types[from].kind == 's' && value < 0;
    if (negative) return value < lowest(to) ? lowest(to) : value;
    return (uint64_t)value > highest(to) ? (int64_t)highest(to) : value;
}

static double read_float(const unsigned char *from, enum sim_type type) {
    uint16_t half;
    float single;
    double real;
    switch (type) {
    case SIM_f16: memcpy(&half, from, sizeof half); return (double)sim_half_to_float(half);
    case SIM_f32: memcpy(&single, from, sizeof single); return (double)single;
    default: memcpy(&real, from, sizeof real); return real;
    }
}

static double round_to_integral(double x, enum sim_rounding rounding) {
    switch (rounding) {
    case SIM_RNI: return nearbyint(x);
    case SIM_RZI: return trunc(x);
    case SIM_RMI: return floor(x);
    default: return ceil(x);
    }
}

/* Out of range clamps. A NaN is 0, but where 64-bit types take part it is the highest bit alone: so does the
   hardware, while the ISA ("cvt") speaks of 0 only. */
static int64_t float_to_integer(double x, enum sim_type from, enum sim_type to) {
    bool wide = sim_types[from].bytes == 8 || sim_types[to].bytes == 8;
    if (x != x) return wide ? (int64_t)(UINT64_C(1) << (8 * sim_types[to].bytes - 1)) : 0;
    if (x <= (double)lowest(to)) return lowest(to);
    if (x >= (double)highest(to)) return (int64_t)highest(to);
    return sim_types[to].kind == 's' ? (int64_t)x : (int64_t)(uint64_t)x;
}

static uint64_t float_bits(float x) {
    uint32_t bits = 0x7fffffff;
    if (x == x) memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t double_to_float(double x, enum sim_type to) {
    uint64_t bits;
    switch (to) {
    case SIM_f16: return sim_double_to_half(x);
    case SIM_f32: return float_bits((float)x);
    default: memcpy(&bits, &x, sizeof bits); return bits;
    }
}

static uint64_t integer_to_float(int64_t x, enum sim_type from, enum sim_type to) {
    bool is_signed = sim_types[from].kind == 's';
    if (to == SIM_f32) return float_bits(is_signed ? (float)x : (float)(uint64_t)x);
    return double_to_float(is_signed ? (double)x : (double)(uint64_t)x, to);
}

static uint64_t convert(const struct sim_insn *insn, const unsigned char *from) {
    enum sim_type to = insn->type, type = insn->type2;
    bool to_float = sim_types[to].kind == 'f';
    if (sim_types[type].kind == 'f') {
        double x = read_float(from, type);
        if (!to_float) return (uint64_t)float_to_integer(round_to_integral(x, insn->rounding), type, to);
        if (insn->modifiers & SIM_SAT) x = x > 0 ? fmin(x, 1) : 0; /* NaN to 0, too */
        return double_to_float(x, to);
    }
    int64_t value = read_integer(from, type);
    if (to_float) return integer_to_float(value, type, to);
    return (uint64_t)(insn->modifiers & SIM_SAT ? saturate(value, type, to) : value);
}

/* A destination register wider than the type gets the result extended: by the sign if the type is signed. */
void sim_cvt(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    const unsigned char *from = sim_source(warp, &insn->value[1]);
    size_t from_bytes = sim_types[insn->value[1].type].bytes, to_bytes = sim_types[insn->value[0].type].bytes;
    unsigned char r[SIM_LANES * 8] = {0};
    SIM_EACH_LANE(l) {
        if (!SIM_ACTIVE(mask, l)) continue;
        uint64_t bits = convert(insn, from + (size_t)l * from_bytes);
        if (sim_types[insn->type].kind != 'f')
            bits = (uint64_t)read_integer((const unsigned char *)&bits, insn->type);
        memcpy(r + (size_t)l * to_bytes, &bits, to_bytes);
    }
    sim_put(warp, &insn->value[0], r, to_bytes, mask);
}

/* a in the high half, b in the low one. */
void sim_cvt_f16x2(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    const float *a = sim_source(warp, &insn->value[1]), *b = sim_source(warp, &insn->value[2]);
    uint32_t r[SIM_LANES];
    SIM_EACH_LANE(l) r[l] = (uint32_t)sim_double_to_half(a[l]) << 16 | sim_double_to_half(b[l]);
    sim_put(warp, &insn->value[0], r, sizeof *r, mask);
}

/* b saturated in the lowest bytes, a above, and above them what fits of the low bytes of c (ISA, "cvt.pack").
 */
void sim_cvt_pack(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    const int32_t *a = sim_source(warp, &insn->value[1]), *b = sim_source(warp, &insn->value[2]);
    unsigned bits = 8u * sim_types[insn->type].bytes;
    uint32_t r[SIM_LANES], keep = (1u << bits) - 1;
    SIM_EACH_LANE(l) {
        uint32_t high = (uint32_t)saturate(a[l], SIM_s32, insn->type) & keep;
        uint32_t low = (uint32_t)saturate(b[l], SIM_s32, insn->type) & keep;
        r[l] = high << bits | low;
        if (insn->value_count > 3) r[l] |= sim_lane_u32(warp, &insn->value[3], l) << 2 * bits;
    }
    sim_put(warp, &insn->value[0], r, sizeof *r, mask);
}
