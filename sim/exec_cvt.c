/* cvt. Integers pass through int64_t, floats through double, so that each conversion rounds once
   (format.h). */
#include "format.h"
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
    uint32_t bits = 0;
    double real;
    if (type == SIM_f64) {
        memcpy(&real, from, sizeof real);
        return real;
    }
    memcpy(&bits, from, sim_types[type].bytes);
    return sim_decode(sim_format_of(type), bits);
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

static uint64_t double_to_float(double x, enum sim_type to, const struct sim_insn *insn) {
    uint64_t bits;
    if (to != SIM_f64)
        return sim_encode(sim_format_of(to), x, insn->rounding, insn->modifiers & SIM_SATFINITE);
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t integer_to_float(int64_t x, enum sim_type from, const struct sim_insn *insn) {
    bool is_signed = sim_types[from].kind == 's', negative = is_signed && x < 0;
    if (insn->modifiers & SIM_SAT) return double_to_float(x > 0 || (x != 0 && !is_signed), insn->type, insn);
    if (insn->type == SIM_f64)
        return double_to_float(is_signed ? (double)x : (double)(uint64_t)x, SIM_f64, insn);
    return double_to_float(sim_from_integer(negative ? 0 - (uint64_t)x : (uint64_t)x, negative), insn->type,
                           insn);
}

/* .ftz is about f32, whatever the other type. */
static double flush_f32(const struct sim_insn *insn, enum sim_type type, double x) {
    return insn->modifiers & SIM_FTZ && type == SIM_f32 ? sim_flush(sim_format_of(SIM_f32), x) : x;
}

static uint64_t float_to_float(const struct sim_insn *insn, double x) {
    if (insn->rounding >= SIM_RNI) x = round_to_integral(x, insn->rounding);
    if (insn->modifiers & SIM_SAT) x = x > 0 ? fmin(x, 1) : 0; /* NaN to 0, too */
    if (insn->modifiers & SIM_RELU && x <= 0) x = 0;
    return double_to_float(flush_f32(insn, insn->type, x), insn->type, insn);
}

static uint64_t convert(const struct sim_insn *insn, const unsigned char *from) {
    enum sim_type to = insn->type, type = insn->type2;
    bool to_float = to == SIM_f64 || sim_format_of(to);
    if (type == SIM_f64 || sim_format_of(type)) {
        double x = flush_f32(insn, type, read_float(from, type));
        if (to_float) return float_to_float(insn, x);
        return (uint64_t)float_to_integer(round_to_integral(x, insn->rounding), type, to);
    }
    int64_t value = read_integer(from, type);
    if (to_float) return integer_to_float(value, type, insn);
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
        if (sim_types[insn->type].kind == 'u' || sim_types[insn->type].kind == 's')
            bits = (uint64_t)read_integer((const unsigned char *)&bits, insn->type);
        memcpy(r + (size_t)l * to_bytes, &bits, to_bytes);
    }
    sim_put(warp, &insn->value[0], r, to_bytes, mask);
}

void sim_cvt_relu(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    sim_cvt(warp, insn, mask);
}

static uint32_t encode_element(const struct sim_insn *insn, double x) {
    if (insn->modifiers & SIM_RELU && x <= 0) x = 0;
    return sim_encode(sim_format_of(insn->type), x, insn->rounding, insn->modifiers & SIM_SATFINITE);
}

/* Two floats to one packed value: a in the high half, b in the low one. */
static void pair(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    const float *a = sim_source(warp, &insn->value[1]), *b = sim_source(warp, &insn->value[2]);
    unsigned bytes = sim_types[insn->type].bytes, shift = 4 * bytes;
    uint16_t narrow[SIM_LANES];
    uint32_t wide[SIM_LANES];
    SIM_EACH_LANE(l) {
        wide[l] = encode_element(insn, (double)a[l]) << shift | encode_element(insn, (double)b[l]);
        narrow[l] = (uint16_t)wide[l];
    }
    sim_put(warp, &insn->value[0], bytes == 4 ? (const void *)wide : narrow, bytes, mask);
}
sim_exec *const sim_cvt_pair[SIM_TYPE_COUNT] = {[SIM_f16x2] = pair, [SIM_bf16x2] = pair};
sim_exec *const sim_cvt_pair8[SIM_TYPE_COUNT] = {[SIM_e4m3x2] = pair, [SIM_e5m2x2] = pair};

/* Between two f16 and two 8-bit floats, element by element. */
static void narrow_pair(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    const uint32_t *a = sim_source(warp, &insn->value[1]);
    uint16_t r[SIM_LANES];
    SIM_EACH_LANE(l) {
        double low = sim_decode(sim_format_of(SIM_f16), a[l] & 0xffff);
        double high = sim_decode(sim_format_of(SIM_f16), a[l] >> 16);
        r[l] = (uint16_t)(encode_element(insn, high) << 8 | encode_element(insn, low));
    }
    sim_put(warp, &insn->value[0], r, sizeof *r, mask);
}
sim_exec *const sim_cvt_narrow_pair[SIM_TYPE_COUNT] = {
    [SIM_e4m3x2] = narrow_pair, [SIM_e5m2x2] = narrow_pair};

static void widen_pair(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    const uint16_t *a = sim_source(warp, &insn->value[1]);
    const struct sim_format *format = sim_format_of(insn->type2);
    uint32_t r[SIM_LANES];
    SIM_EACH_LANE(l) {
        uint32_t high = encode_element(insn, sim_decode(format, (uint32_t)(a[l] >> 8)));
        r[l] = high << 16 | encode_element(insn, sim_decode(format, a[l] & 0xff));
    }
    sim_put(warp, &insn->value[0], r, sizeof *r, mask);
}
sim_exec *const sim_cvt_widen_pair[SIM_TYPE_COUNT] = {[SIM_f16x2] = widen_pair};

/* b saturated in the lowest bytes, a above, and above them what fits of the low bytes of c (ISA,
   "cvt.pack"). */
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
