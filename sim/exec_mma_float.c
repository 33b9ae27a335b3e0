/* Floating-point mma.sync. How tensor cores add is not in the ISA; this is a model that has not been compared with
 * hardware yet: the exact products of a step and the sum so far are aligned to the largest exponent among them, cut
 * off below a fixed number of bits, added exactly, and the result is cut off to the format of the sum. */
#include "exec.h"
#include "format.h"

#include <math.h>

enum { COLUMNS = 8, MAX_ROWS = 16, MAX_DEPTH = 32 };

/* How a type's sums are made. */
struct sum_rule {
    int step;          /* products that are added at once */
    int fraction_bits; /* that are kept below the largest exponent */
};

/* exponent: of the operand itself, unnormalised products have the sum of two. A zero has the least. */
struct operand {
    double value[MAX_ROWS][MAX_DEPTH];
    int exponent[MAX_ROWS][MAX_DEPTH];
};

enum { NO_EXPONENT = -4096 };

static int exponent_of(double x) { return x == 0 || !isfinite(x) ? NO_EXPONENT : ilogb(x); }

/* The elements of a register are of one row: see exec_mma.c. */
static void unpack(const struct sim_warp *warp, const struct sim_value *value, unsigned type, int first_row,
                   int k, struct operand *to) {
    const uint32_t *lanes = sim_source(warp, value);
    int bits = 8 * sim_types[type].bytes, count = 32 / bits;
    uint32_t ones = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
    SIM_EACH_LANE(l) {
        for (int i = 0; i < count; i++) {
            int row = first_row + l / 4, at = k + l % 4 * count + i;
            to->value[row][at] = sim_decode(sim_format_of(type), lanes[l] >> bits * i & ones);
            to->exponent[row][at] = exponent_of(to->value[row][at]);
        }
    }
}

/* X in units of 2^-SHIFT, what is below one cut off. */
static int64_t cut(double x, double unit) { return (int64_t)(x * unit); }

/* C plus the products of COUNT pairs. */
static double add_step(const double *a, const int *a_exponent, const double *b, const int *b_exponent,
                       int count, double c, int fraction_bits) {
    int most = exponent_of(c);
    double plain = c;
    for (int i = 0; i < count; i++) {
        int exponent = a_exponent[i] + b_exponent[i];
        if (exponent > most) most = exponent;
        plain += a[i] * b[i];
    }
    if (!isfinite(plain)) return plain; /* infinities and NaNs follow the rules of sums */
    if (most <= NO_EXPONENT) return plain;
    double unit = ldexp(1, fraction_bits - most);
    int64_t sum = cut(c, unit);
    for (int i = 0; i < count; i++) sum += cut(a[i] * b[i], unit);
    return ldexp((double)sum, most - fraction_bits);
}

static uint32_t element(const struct operand *a, int row, const struct operand *b, int column, int depth,
                        uint32_t c_bits, unsigned type, const struct sum_rule *rule) {
    const struct sim_format *format = sim_format_of(type);
    double sum = sim_decode(format, c_bits);
    int step = rule->step < depth ? rule->step : depth;
    uint32_t bits = c_bits;
    for (int k = 0; k < depth; k += step) {
        sum = add_step(a->value[row] + k, a->exponent[row] + k, b->value[column] + k, b->exponent[column] + k,
                       step, sum, rule->fraction_bits);
        bits = sim_encode(format, sum, type == SIM_f16 ? SIM_RN : SIM_RZ, false);
        sum = sim_decode(format, bits);
    }
    return bits;
}

/* Accumulators: of f32, a register a column; of f16, a register holds two. */
static void add_products(struct sim_warp *warp, const struct sim_insn *insn, const struct operand *a,
                         const struct operand *b, int depth, const struct sim_value *c, unsigned type,
                         const struct sum_rule *rule) {
    int columns = type == SIM_f16 ? 2 : 1;
    for (int reg = 0; reg < insn->destination_count; reg++) {
        const uint32_t *lanes = sim_source(warp, &c[reg]);
        uint32_t r[SIM_LANES] = {0};
        SIM_EACH_LANE(l) {
            for (int i = 0; i < columns; i++) {
                int at = reg * columns + i, row = l / 4 + at / 2 * 8, column = l % 4 * 2 + at % 2;
                uint32_t bits = columns == 2 ? lanes[l] >> 16 * i & 0xffff : lanes[l];
                r[l] |= element(a, row, b, column, depth, bits, type, rule) << 16 * i;
            }
        }
        sim_put(warp, &insn->value[reg], r, sizeof *r, SIM_FULL_MASK);
    }
}

static void mma(struct sim_warp *warp, const struct sim_insn *insn, unsigned a_type, unsigned b_type,
                unsigned type, const struct sum_rule *rule) {
    struct operand a, b;
    const struct sim_value *value = &insn->value[insn->destination_count];
    int registers = insn->value_count - 2 * insn->destination_count, chunks = registers / 3;
    int chunk = 16 / sim_types[a_type].bytes;
    for (int k = 0; k < chunks; k++)
        for (int block = 0; block < 2; block++) unpack(warp, value++, a_type, block * 8, k * chunk, &a);
    for (int k = 0; k < chunks; k++) unpack(warp, value++, b_type, 0, k * chunk, &b);
    add_products(warp, insn, &a, &b, chunks * chunk, value, type, rule);
    warp->block->counts.mma++;
}

static const struct sum_rule half_rule = {16, 25}, tf32_rule = {4, 25}, f8_rule = {16, 25};

#define MMA(name, a, b, type, rule)                                                                          \
    void sim_mma_##name(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {                 \
        (void)mask;                                                                                          \
        mma(warp, insn, a, b, type, &rule);                                                                  \
    }
MMA(f16, SIM_f16, SIM_f16, SIM_f32, half_rule)
MMA(f16_to_f16, SIM_f16, SIM_f16, SIM_f16, half_rule)
MMA(bf16, SIM_bf16, SIM_bf16, SIM_f32, half_rule)
MMA(tf32, SIM_tf32, SIM_tf32, SIM_f32, tf32_rule)
MMA(f8, insn->type2, insn->type3, SIM_f32, f8_rule)
