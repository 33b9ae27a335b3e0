#include "product.h"

#include "format.h"

#include <math.h>

/* Columns are worked on eight at a time, by vectors of the compiler's, which it makes of whatever the
   processor has. */
enum { WIDE = 8 };
typedef int32_t wide_int __attribute__((vector_size(4 * WIDE)));
typedef float wide_float __attribute__((vector_size(4 * WIDE)));

#define SIM_INLINE static inline __attribute__((always_inline))

/* FUNCTION's body is compiled twice on x86, for processors with AVX2 and for all, and the right one is called. */
#if defined __x86_64__
#define BY_PROCESSOR(function, parameters, arguments)                                                        \
    __attribute__((target("avx2"))) static void function##_avx2 parameters { function##_body arguments; }    \
    static void function##_plain parameters { function##_body arguments; }                                   \
    static void function parameters {                                                                        \
        if (__builtin_cpu_supports("avx2")) function##_avx2 arguments;                                       \
        else function##_plain arguments;                                                                     \
    }
#else
#define BY_PROCESSOR(function, parameters, arguments)                                                        \
    static void function parameters { function##_body arguments; }
#endif

SIM_INLINE void load(const void *from, void *wide) { memcpy(wide, from, 4 * WIDE); }
SIM_INLINE void store(void *to, const void *wide) { memcpy(to, wide, 4 * WIDE); }

/* -- Integers -------------------------------------------------------------------------------------------- */

int32_t sim_integer_of(unsigned type, uint32_t bits) {
    const int32_t sign = type == SIM_s8 ? 128 : type == SIM_s4 ? 8 : 0;
    return ((int32_t)bits ^ sign) - sign;
}

SIM_INLINE void dot_integers_body(const int32_t *a, int count, const struct sim_integers *b,
                                  const uint8_t *places, int32_t *products) {
    for (int column = 0; column < b->columns; column += WIDE) {
        wide_int sum = {0}, factor;
        for (int i = 0; i < count; i++) {
            load(&b->value[places[i] * b->columns + column], &factor);
            sum += a[i] * factor;
        }
        store(&products[column], &sum);
    }
}
BY_PROCESSOR(dot_integers,
             (const int32_t *a, int count, const struct sim_integers *b, const uint8_t *places,
              int32_t *products),
             (a, count, b, places, products))

static int32_t accumulate(int32_t c, int32_t product, bool saturate) {
    const int64_t sum = (int64_t)c + product;
    if (saturate) return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : (int32_t)sum;
    return (int32_t)(uint32_t)sum;
}

void sim_multiply_integers(const int32_t *a, int count, const struct sim_integers *b, const sim_places places,
                           bool saturate, int32_t *sum) {
    int32_t products[SIM_PRODUCT_COLUMNS];
    dot_integers(a, count, b, places, products);
    for (int column = 0; column < b->columns; column++)
        sum[column] = accumulate(sum[column], products[column], saturate);
}

/* -- The elements of floats ------------------------------------------------------------------------------ */

enum { NO_EXPONENT = -4096 }; /* of a zero: the sum of two, one of them this, is below that of any product */

static void put_real(const struct sim_format *f, uint32_t bits, float *fraction, int32_t *exponent,
                     bool *special) {
    const int bias = (1 << (f->exponent_bits - 1)) - 1, ones = (1 << f->exponent_bits) - 1;
    const uint32_t one = 1u << f->fraction_bits;
    bits >>= f->unused_bits;
    const int field = (int)(bits >> f->fraction_bits) & ones;
    const uint32_t rest = bits & (one - 1);
    const float sign = bits >> (f->exponent_bits + f->fraction_bits) & 1 ? -1.0f : 1.0f;
    const bool is_special = field == ones && (!f->no_infinity || rest == one - 1);
    *fraction = sign * (float)(field ? rest + one : rest) / (float)one;
    *exponent = field ? field - bias : rest ? 1 - bias : NO_EXPONENT;
    if (!is_special) return;
    *special = true;
    *exponent = 0;
    *fraction = rest ? NAN : sign * INFINITY;
}

/* A subnormal number of a narrower format is a normal f16, as far as that has the exponent. */
static void widen(float *fraction, int32_t *exponent) {
    for (; fabsf(*fraction) < 1 && *exponent > -14; *exponent -= 1) *fraction *= 2;
}

void sim_real_row_put(struct sim_real_row *row, int at, unsigned type, uint32_t bits) {
    put_real(sim_format_of(type), bits, &row->fraction[at], &row->exponent[at], &row->special);
    if (row->widened) widen(&row->fraction[at], &row->exponent[at]);
}

void sim_reals_put(struct sim_reals *b, int k, int column, unsigned type, uint32_t bits) {
    const int at = k * b->columns + column;
    put_real(sim_format_of(type), bits, &b->fraction[at], &b->exponent[at], &b->special);
    if (b->widened) widen(&b->fraction[at], &b->exponent[at]);
}

/* -- The rules of sm_90 ---------------------------------------------------------------------------------- */

/* 8-bit elements are widened to f16 before they are multiplied, in two steps, and C comes last. */
struct sim_sum_rule sim_mma_rule(unsigned a_type, unsigned type, int depth) {
    const bool is_byte = sim_types[a_type].bytes == 1;
    return (struct sim_sum_rule){
        .type = type, .depth = depth, .step = is_byte ? depth / 2 : depth, .c_last = is_byte, .kept = 25};
}

/* 8-bit elements are multiplied as they are, and their sums have the bits of a fraction of 13. */
struct sim_sum_rule sim_wgmma_rule(unsigned a_type, unsigned type, int depth) {
    const bool is_byte = sim_types[a_type].bytes == 1;
    return (struct sim_sum_rule){.type = type,
                                 .depth = depth,
                                 .step = depth,
                                 .kept = is_byte ? 13 : 25,
                                 .dropped = is_byte && type == SIM_f32 ? 10 : 0};
}

/* -- A step ---------------------------------------------------------------------------------------------- */

/* Of each column: the largest exponent of a step, and the sum of what its terms are in units of 2^-kept of
   that, cut off towards zero. */
struct step {
    int32_t most[SIM_PRODUCT_COLUMNS], low[SIM_PRODUCT_COLUMNS], high[SIM_PRODUCT_COLUMNS];
};

/* A becomes the larger of A and B. (Vectors as arguments would have an interface that depends on the
   processor.) */
SIM_INLINE void raise(wide_int *a, const wide_int *b) {
    const wide_int is_larger = *a > *b;
    *a = (*a & is_larger) | (*b & ~is_larger);
}

/* 2^(KEPT - the bits by which EXPONENT is below MOST). Far below it does not matter how far. */
SIM_INLINE void put_unit(wide_float *unit, const wide_int *exponent, const wide_int *most, int kept) {
    wide_int below = *exponent - *most, least = (wide_int){0} - 64;
    raise(&below, &least);
    below = (below + (kept + 127)) << 23;
    memcpy(unit, &below, sizeof *unit);
}

/* COUNT products of the row and of eight columns of B that begin at FRACTION and EXPONENT, STRIDE apart. Half
   of the terms go to another sum each, which cannot pass 2^31 then: a term is below 4 * 2^25. */
SIM_INLINE void add_products_body(const float *a, const int32_t *a_exponent, int count,
                                  const struct sim_reals *b, const uint8_t *places, int kept,
                                  struct step *step) {
    for (int column = 0; column < b->columns; column += WIDE) {
        wide_int most, exponent, half[2] = {{0}, {0}};
        wide_float factor, unit;
        load(&step->most[column], &most);
        for (int i = 0; i < count; i++) {
            load(&b->exponent[places[i] * b->columns + column], &exponent);
            exponent += a_exponent[i];
            raise(&most, &exponent);
        }
        store(&step->most[column], &most);
        for (int i = 0; i < count; i++) {
            const int at = places[i] * b->columns + column;
            load(&b->exponent[at], &exponent);
            load(&b->fraction[at], &factor);
            exponent += a_exponent[i];
            put_unit(&unit, &exponent, &most, kept);
            factor *= a[i] * unit;
            half[i % 2] += __builtin_convertvector(factor, wide_int);
        }
        store(&step->low[column], &half[0]);
        store(&step->high[column], &half[1]);
    }
}
BY_PROCESSOR(add_products,
             (const float *a, const int32_t *a_exponent, int count, const struct sim_reals *b,
              const uint8_t *places, int kept, struct step *step),
             (a, a_exponent, count, b, places, kept, step))

/* -- Results --------------------------------------------------------------------------------------------- */

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

static uint32_t finish(const struct sim_sum_rule *rule, double x) {
    if (rule->type == SIM_f16) return round_to_f16(x);
    const uint32_t bits = cut_to_f32(x);
    return isfinite(x) ? bits & ~((1u << rule->dropped) - 1) : bits;
}

/* C's term, which is below 2 * 2^25, joins the products'. */
static double total_of(const struct step *step, int column, int kept, float c, int32_t c_exponent) {
    const int32_t most = step->most[column];
    if (most < NO_EXPONENT / 2) return 0;
    const int below = c_exponent - most < -64 ? -64 : c_exponent - most;
    const int64_t sum = (int64_t)step->low[column] + step->high[column] +
                        (int64_t)((double)c * sim_power(kept + below));
    return (double)sum * sim_power(most - kept);
}

/* Infinities and NaNs follow the rules of sums; NaN where these do not decide. */
static double plain_sum(const struct sim_real_row *a, const struct sim_reals *b, const sim_places places,
                        int first, int count, int column, float c, int32_t c_exponent) {
    double sum = ldexp((double)c, c_exponent);
    for (int i = first; i < first + count; i++) {
        const int at = places[i] * b->columns + column;
        sum += ldexp((double)a->fraction[i], a->exponent[i]) * ldexp((double)b->fraction[at], b->exponent[at]);
    }
    return sum;
}

/* Products FIRST and on of a step, added to C, bits of the sum's type for each column. */
static void run_step(const struct sim_sum_rule *rule, const struct sim_real_row *a, const struct sim_reals *b,
                     const sim_places places, int first, uint32_t *sum) {
    const struct sim_format *format = sim_format_of(rule->type);
    float c[SIM_PRODUCT_COLUMNS];
    int32_t c_exponent[SIM_PRODUCT_COLUMNS];
    struct step step;
    bool special = a->special || b->special;
    for (int column = 0; column < b->columns; column++) {
        put_real(format, sum[column], &c[column], &c_exponent[column], &special);
        step.most[column] = c_exponent[column];
    }
    add_products(a->fraction + first, a->exponent + first, rule->step, b, places + first, rule->kept, &step);
    for (int column = 0; column < b->columns; column++) {
        double plain = 0;
        if (special)
            plain = plain_sum(a, b, places, first, rule->step, column, c[column], c_exponent[column]);
        sum[column] = finish(rule, isfinite(plain)
                                       ? total_of(&step, column, rule->kept, c[column], c_exponent[column])
                                       : plain);
    }
}

void sim_multiply_reals(const struct sim_sum_rule *rule, const struct sim_real_row *a,
                        const struct sim_reals *b, const sim_places places, uint32_t *sum) {
    const struct sim_format *format = sim_format_of(rule->type);
    uint32_t products[SIM_PRODUCT_COLUMNS] = {0}, *to = rule->c_last ? products : sum;
    for (int first = 0; first < rule->depth; first += rule->step) run_step(rule, a, b, places, first, to);
    for (int column = 0; rule->c_last && column < b->columns; column++)
        sum[column] = sim_encode(
            format,
            sim_sum(sim_decode(format, sum[column]), sim_decode(format, products[column]), SIM_RN), SIM_RN,
            false);
}

/* -- Accumulators ---------------------------------------------------------------------------------------- */

/* Where LANE's element I of register REG is: two neighbours, of row `group` and the row 8 below, of each
   block of 8 columns. */
static int place_of(int reg, int i, int lane, bool is_half, int columns) {
    const int at = is_half ? 2 * reg + i : reg;
    const int row = lane / 4 + at / 2 % 2 * 8, column = at / 4 * 8 + lane % 4 * 2 + at % 2;
    return row * columns + column;
}

void sim_accumulator_read(const struct sim_warp *warp, const struct sim_value *value, int count, bool is_half,
                          int columns, uint32_t *sum) {
    for (int reg = 0; reg < count; reg++) {
        const uint32_t *lanes = sim_source(warp, &value[reg]);
        SIM_EACH_LANE(l) {
            const uint32_t word = lanes[l];
            if (!is_half) sum[place_of(reg, 0, l, false, columns)] = word;
            for (int i = 0; is_half && i < 2; i++)
                sum[place_of(reg, i, l, true, columns)] = word >> 16 * i & 0xffff;
        }
    }
}

void sim_accumulator_write(struct sim_warp *warp, const struct sim_value *value, int count, bool is_half,
                           int columns, const uint32_t *sum) {
    for (int reg = 0; reg < count; reg++) {
        uint32_t r[SIM_LANES];
        SIM_EACH_LANE(l) {
            r[l] = sum[place_of(reg, 0, l, is_half, columns)];
            if (is_half) r[l] |= sum[place_of(reg, 1, l, true, columns)] << 16;
        }
        sim_put(warp, &value[reg], r, sizeof *r, SIM_FULL_MASK);
    }
}
