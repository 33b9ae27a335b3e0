/* Floating-point mma.sync. How tensor cores add is not in the ISA. This is what sm_90 does, found by
 * experiment and equal to it bit for bit on all that was recorded (docs/simulator.md, "Sums of mma"): the
 * exact products of a step and the sum so far are aligned to the largest exponent among them, cut off below
 * 25 bits under it, added exactly, and the result is rounded to the format of the sum. Exponents are those
 * that the formats' fields say: a product's is the sum of two, so that subnormals count as the smallest
 * normal numbers do. */
#include "exec_mma.h"
#include "format.h"

#include <math.h>

enum { KEPT_BITS = 25 };

enum { NO_EXPONENT = -4096 }; /* of a zero: the sum of two, one of them this, is below that of any product */

static int exponent_of(double x, int least) {
    if (x == 0 || !isfinite(x)) return NO_EXPONENT;
    int exponent = sim_exponent(x);
    return exponent < least ? least : exponent;
}

/* 8-bit elements are widened to f16 before sm_90 multiplies them, two of each four first, so that they are
   added in two steps: those two have the first half of the places. */
int sim_mma_place(int bits, int depth, int chunk, int lane, int i) {
    if (bits == 8) return i / 2 * (depth / 2) + chunk * 8 + lane % 4 * 2 + i % 2;
    int count = 32 / bits;
    return chunk * 4 * count + lane % 4 * count + i;
}

/* The least exponent of elements of TYPE, for which 8-bit ones are widened to f16. */
static int least_of(unsigned type) {
    return sim_least_exponent(sim_format_of(sim_types[type].bytes == 1 ? SIM_f16 : type));
}

void sim_mma_put(struct sim_operand *to, int row, int at, unsigned type, uint32_t bits) {
    const double x = sim_decode(sim_format_of(type), bits);
    to->value[row][at] = x;
    to->exponent[row][at] = exponent_of(x, least_of(type));
}

/* The elements of a register are of one row: see exec_mma.c. */
static void unpack(const struct sim_warp *warp, const struct sim_value *value, unsigned type, int first_row,
                   int chunk, int depth, struct sim_operand *to) {
    const uint32_t *lanes = sim_source(warp, value);
    const struct sim_format *format = sim_format_of(type);
    int bits = 8 * sim_types[type].bytes, count = 32 / bits, least = least_of(type);
    uint32_t ones = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
    SIM_EACH_LANE(l) {
        for (int i = 0; i < count; i++) {
            int row = first_row + l / 4, at = sim_mma_place(bits, depth, chunk, l, i);
            double x = sim_decode(format, lanes[l] >> bits * i & ones);
            to->value[row][at] = x;
            to->exponent[row][at] = exponent_of(x, least);
        }
    }
}

/* X in units of 1 / UNIT, what is below one cut off. A product is less than 4 times as large as its exponent
   says. */
static int32_t cut(double x, double unit) { return (int32_t)(x * unit); }

/* C, whose exponent is given, plus the products of COUNT pairs. A sum that is zero is +0. */
static double add_step(const double *a, const int *a_exponent, const double *b, const int *b_exponent,
                       int count, double c, int c_exponent) {
    int most = c_exponent;
    double plain = c;
    for (int i = 0; i < count; i++) {
        int exponent = a_exponent[i] + b_exponent[i];
        if (exponent > most) most = exponent;
        plain += a[i] * b[i];
    }
    if (!isfinite(plain)) return plain; /* infinities and NaNs follow the rules of sums */
    if (most < NO_EXPONENT / 2) return 0;
    double unit = sim_power(KEPT_BITS - most);
    int64_t sum = cut(c, unit);
    for (int i = 0; i < count; i++) sum += cut(a[i] * b[i], unit);
    return (double)sum * sim_power(most - KEPT_BITS);
}

/* X towards zero, but to infinity from 2^128 on. What becomes a zero is +0. */
static uint32_t cut_to_f32(double x) {
    float nearest = (float)x;
    uint32_t bits = 0x7fffffff;
    if (x == x) memcpy(&bits, &nearest, sizeof bits);
    if (fabs((double)nearest) > fabs(x) && fabs(x) < 0x1p128) bits--;
    return bits == 0x80000000 ? 0 : bits;
}

/* X to nearest even. What becomes a zero is +0. */
static uint32_t round_to_f16(double x) {
    uint32_t bits = sim_encode(sim_format_of(SIM_f16), x, SIM_RN, false);
    return bits == 0x8000 ? 0 : bits;
}

uint32_t sim_mma_element(const struct sim_operand *a, int row, const struct sim_operand *b, int column,
                         uint32_t c_bits, const struct sim_sum_rule *rule) {
    const struct sim_format *format = sim_format_of(rule->type);
    uint32_t bits = rule->c_last ? 0 : c_bits;
    for (int k = 0; k < rule->depth; k += rule->step) {
        double sum = sim_decode(format, bits);
        sum = add_step(a->value[row] + k, a->exponent[row] + k, b->value[column] + k, b->exponent[column] + k,
                       rule->step, sum, exponent_of(sum, sim_least_exponent(format)));
        bits = rule->type == SIM_f16 ? round_to_f16(sum) : cut_to_f32(sum);
    }
    if (!rule->c_last) return bits;
    return sim_encode(format, sim_sum(sim_decode(format, c_bits), sim_decode(format, bits), SIM_RN), SIM_RN,
                      false);
}

/* Accumulators: of f32, a register a column; of f16, a register holds two. */
static void add_products(struct sim_warp *warp, const struct sim_insn *insn, const struct sim_operand *a,
                         const struct sim_operand *b, const struct sim_value *c,
                         const struct sim_sum_rule *rule) {
    int columns = rule->type == SIM_f16 ? 2 : 1;
    for (int reg = 0; reg < insn->destination_count; reg++) {
        const uint32_t *lanes = sim_source(warp, &c[reg]);
        uint32_t r[SIM_LANES] = {0};
        SIM_EACH_LANE(l) {
            for (int i = 0; i < columns; i++) {
                int at = reg * columns + i, row = l / 4 + at / 2 * 8, column = l % 4 * 2 + at % 2;
                uint32_t bits = columns == 2 ? lanes[l] >> 16 * i & 0xffff : lanes[l];
                r[l] |= sim_mma_element(a, row, b, column, bits, rule) << 16 * i;
            }
        }
        sim_put(warp, &insn->value[reg], r, sizeof *r, SIM_FULL_MASK);
    }
}

struct sim_sum_rule sim_sum_rule_of(unsigned a_type, unsigned type, int depth) {
    const bool is_byte = sim_types[a_type].bytes == 1;
    return (struct sim_sum_rule){type, depth, is_byte ? depth / 2 : depth, is_byte};
}

/* The operands' registers say how deep the product is. */
static void mma(struct sim_warp *warp, const struct sim_insn *insn, unsigned a_type, unsigned b_type,
                unsigned type) {
    struct sim_operand a, b;
    const struct sim_value *value = &insn->value[insn->destination_count];
    int chunks = (insn->value_count - 2 * insn->destination_count) / 3,
        depth = chunks * 16 / sim_types[a_type].bytes;
    const struct sim_sum_rule rule = sim_sum_rule_of(a_type, type, depth);
    for (int k = 0; k < chunks; k++)
        for (int block = 0; block < 2; block++) unpack(warp, value++, a_type, block * 8, k, depth, &a);
    for (int k = 0; k < chunks; k++) unpack(warp, value++, b_type, 0, k, depth, &b);
    add_products(warp, insn, &a, &b, value, &rule);
    sim_mma_count(warp, insn, 8 * sim_types[a_type].bytes, true, 2, chunks);
}

#define MMA(name, a, b, type)                                                                                \
    void sim_mma_##name(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {                 \
        (void)mask;                                                                                          \
        mma(warp, insn, a, b, type);                                                                         \
    }
MMA(f16, SIM_f16, SIM_f16, SIM_f32)
MMA(f16_to_f16, SIM_f16, SIM_f16, SIM_f16)
MMA(bf16, SIM_bf16, SIM_bf16, SIM_f32)
MMA(tf32, SIM_tf32, SIM_tf32, SIM_f32)
MMA(f8, insn->type2, insn->type3, SIM_f32)
MMA(f8_to_f16, insn->type2, insn->type3, SIM_f16)
