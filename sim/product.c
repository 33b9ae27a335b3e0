#include "product.h"

#include "format.h"

#include <math.h>

/* Columns are worked on eight at a time, by vectors of the compiler's, which it makes of whatever the
   processor has. (As arguments they would have an interface that depends on the processor: so pointers.) */
enum { WIDE = 8 };
typedef int32_t wide_int __attribute__((vector_size(4 * WIDE)));
typedef float wide_float __attribute__((vector_size(4 * WIDE)));

#define SIM_INLINE static inline __attribute__((always_inline))

/* FUNCTION_body is compiled twice on x86, for processors with AVX2 and for all, and the right one is
   called. */
#if defined __x86_64__
#define BY_PROCESSOR(function, job)                                                                          \
    __attribute__((target("avx2"))) static void function##_avx2(const struct job *j) { function##_body(j); } \
    static void function##_plain(const struct job *j) { function##_body(j); }                                \
    static void function(const struct job *j) {                                                              \
        if (__builtin_cpu_supports("avx2")) function##_avx2(j);                                              \
        else function##_plain(j);                                                                            \
    }
#else
#define BY_PROCESSOR(function, job)                                                                          \
    static void function(const struct job *j) { function##_body(j); }
#endif

static const sim_places in_order = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                    16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
                                    32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
                                    48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};

/* -- Integers -------------------------------------------------------------------------------------------- */

struct integer_job {
    int32_t (*a)[SIM_PRODUCT_KEPT];
    int rows, count;
    const struct sim_integers *b;
    const sim_places *places;
    bool saturate;
    int32_t *sum;
};

static int32_t accumulate(int32_t c, int32_t product, bool saturate) {
    const int64_t sum = (int64_t)c + product;
    if (saturate) return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : (int32_t)sum;
    return (int32_t)(uint32_t)sum;
}

SIM_INLINE void eight_integers(const struct integer_job *j, int row, int column, int columns) {
    const uint8_t *places = j->places ? j->places[row] : in_order;
    wide_int product = {0}, factor;
    int32_t products[WIDE], *sum = &j->sum[row * columns + column];
    for (int i = 0; i < j->count; i++) {
        memcpy(&factor, &j->b->value[places[i] * columns + column], sizeof factor);
        product += j->a[row][i] * factor;
    }
    memcpy(products, &product, sizeof products);
    for (int i = 0; i < WIDE; i++) sum[i] = accumulate(sum[i], products[i], j->saturate);
}

/* Eight columns of B stay at hand for all rows. */
SIM_INLINE void multiply_integers_body(const struct integer_job *j) {
    for (int column = 0; column < j->b->columns; column += WIDE)
        for (int row = 0; row < j->rows; row++) {
            if (j->b->columns == WIDE) eight_integers(j, row, 0, WIDE);
            else eight_integers(j, row, column, j->b->columns);
        }
}
BY_PROCESSOR(multiply_integers, integer_job)

void sim_multiply_integers(int32_t (*a)[SIM_PRODUCT_KEPT], int rows, int count, const struct sim_integers *b,
                           const sim_places *places, bool saturate, int32_t *sum) {
    const struct integer_job job = {a, rows, count, b, places, saturate, sum};
    multiply_integers(&job);
}

/* -- The elements of floats ------------------------------------------------------------------------------ */

enum { NO_EXPONENT = -4096 }; /* of a zero: the sum of two, one of them this, is below that of any product */
enum { F32_ONE = 127 << 23, F32_FRACTION = (1 << 23) - 1 };

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* An infinity, a NaN, a zero or a subnormal number, of the format's smallest exponent and with REST for a
   fraction. */
static void put_odd(const struct sim_format *f, int field, uint32_t rest, float sign, float *fraction,
                    int32_t *exponent, bool *special) {
    const int least = 2 - (1 << (f->exponent_bits - 1));
    *fraction = sign * (float)rest / (float)(1u << f->fraction_bits);
    *exponent = rest ? least : NO_EXPONENT;
    if (field == 0) return;
    *special = true;
    *exponent = 0;
    *fraction = rest ? NAN : sign * INFINITY;
}

SIM_INLINE void put_real(const struct sim_format *f, uint32_t bits, float *fraction, int32_t *exponent,
                         bool *special) {
    const int ones = (1 << f->exponent_bits) - 1;
    bits >>= f->unused_bits;
    const int field = (int)(bits >> f->fraction_bits) & ones;
    const uint32_t one = 1u << f->fraction_bits, rest = bits & (one - 1),
                   sign = bits >> (f->exponent_bits + f->fraction_bits) << 31;
    if (field == 0 || (field == ones && (!f->no_infinity || rest == one - 1))) {
        put_odd(f, field, rest, sign ? -1.0f : 1.0f, fraction, exponent, special);
        return;
    }
    *fraction = float_of(sign | F32_ONE | rest << (23 - f->fraction_bits));
    *exponent = field - ones / 2;
}

/* A subnormal number of a narrower format is a normal f16, as far as that has the exponent. */
static void widen(float *fraction, int32_t *exponent) {
    for (; fabsf(*fraction) < 1 && *exponent > -14; *exponent -= 1) *fraction *= 2;
}

SIM_INLINE void put_all(unsigned type, const uint32_t *bits, int count, float *fraction, int32_t *exponent,
                        int stride, bool widened, bool *special) {
    const struct sim_format format = *sim_format_of(type);
    for (int i = 0; i < count; i++, fraction += stride, exponent += stride) {
        put_real(&format, bits[i], fraction, exponent, special);
        if (widened) widen(fraction, exponent);
    }
}

void sim_row_put(struct sim_real_row *row, int at, unsigned type, const uint32_t *bits, int count) {
    put_all(type, bits, count, &row->fraction[at], &row->exponent[at], 1, row->widened, &row->special);
}

void sim_column_put(struct sim_reals *b, int k, int column, unsigned type, const uint32_t *bits, int count) {
    const int at = k * b->columns + column;
    put_all(type, bits, count, &b->fraction[at], &b->exponent[at], b->columns, b->widened, &b->special);
}

/* -- The rules of sm_90 ---------------------------------------------------------------------------------- */

/* 8-bit elements are widened to f16 before they are multiplied, in two steps, and C comes last. */
struct sim_sum_rule sim_mma_rule(unsigned a_type, unsigned type, int depth) {
    const bool is_byte = sim_types[a_type].bytes == 1;
    return (struct sim_sum_rule){
        .type = type, .depth = depth, .step = is_byte ? depth / 2 : depth, .c_last = is_byte, .kept = 25};
}

/* 8-bit elements are multiplied as they are, and their sums have a fraction of 13 bits. */
struct sim_sum_rule sim_wgmma_rule(unsigned a_type, unsigned type, int depth) {
    const bool is_byte = sim_types[a_type].bytes == 1;
    return (struct sim_sum_rule){.type = type,
                                 .depth = depth,
                                 .step = depth,
                                 .kept = is_byte ? 13 : 25,
                                 .dropped = is_byte && type == SIM_f32 ? 10 : 0};
}

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

static uint32_t finish_odd(const struct sim_sum_rule *rule, double x) {
    if (rule->type == SIM_f16) return round_to_f16(x);
    const uint32_t bits = cut_to_f32(x);
    return isfinite(x) ? bits & ~((1u << rule->dropped) - 1) : bits;
}

/* The same, faster for what is a normal f32: then exponent and fraction of the double begin with those of the
   result. */
SIM_INLINE uint32_t finish(const struct sim_sum_rule *rule, double x) {
    const uint64_t between = (uint64_t)(1023 - 127) << 52;
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint64_t magnitude = bits & INT64_MAX, exponent = magnitude >> 52;
    if (rule->type != SIM_f32 || exponent < 1023 - 126 || exponent > 1023 + 127) return finish_odd(rule, x);
    const uint32_t cut = (uint32_t)((magnitude - between) >> 29) & ~((1u << rule->dropped) - 1);
    return (uint32_t)(bits >> 63) << 31 | cut;
}

/* -- A step of eight columns ----------------------------------------------------------------------------- */

struct real_job {
    const struct sim_sum_rule *rule;
    const struct sim_real_row *a;
    int rows;
    const struct sim_reals *b;
    const sim_places *places;
    uint32_t *sum;
};

/* Where a step is: which products of which row and columns. */
struct step {
    const struct sim_real_row *a;
    const struct sim_reals *b;
    const uint8_t *places;
    int column, columns, first;
    bool special; /* some factor or summand is infinite or a NaN */
};

/* Of each column the larger of the two. */
#define LARGER(a, b) (((a) & ((a) > (b))) | ((b) & ~((a) > (b))))

/* 2^(KEPT - the bits by which EXPONENT is below MOST). Far below it does not matter how far. */
SIM_INLINE void put_unit(wide_float *unit, const wide_int *exponent, const wide_int *most, int kept) {
    const wide_int least = (wide_int){0} - 64;
    wide_int below = *exponent - *most;
    below = (LARGER(below, least) + (kept + 127)) << 23;
    memcpy(unit, &below, sizeof *unit);
}

/* The sums so far as fractions and exponents. */
SIM_INLINE void put_summands(const struct sim_sum_rule *rule, const uint32_t *bits, wide_float *fraction,
                             wide_int *exponent, bool *special) {
    float fractions[WIDE];
    int32_t exponents[WIDE];
    if (rule->type == SIM_f32) {
        wide_int word, field;
        memcpy(&word, bits, sizeof word);
        field = word >> 23 & 255;
        const wide_int is_odd = (field == 0) | (field == 255), is_zero = (word & INT32_MAX) == 0;
        const wide_int odd = is_odd & ~is_zero;
        int any = 0;
        for (int i = 0; i < WIDE; i++) any |= odd[i];
        if (!any) {
            *exponent = ((field - 127) & ~is_zero) | (is_zero & ((wide_int){0} + NO_EXPONENT));
            word = ((word & (INT32_MIN | F32_FRACTION)) | F32_ONE) & ~is_zero;
            memcpy(fraction, &word, sizeof word);
            return;
        }
    }
    for (int i = 0; i < WIDE; i++)
        put_real(sim_format_of(rule->type), bits[i], &fractions[i], &exponents[i], special);
    memcpy(fraction, fractions, sizeof *fraction);
    memcpy(exponent, exponents, sizeof *exponent);
}

SIM_INLINE void add_product(wide_int *sum, float a, int32_t a_exponent, const float *b,
                            const int32_t *b_exponent, const wide_int *most, int kept) {
    wide_int exponent;
    wide_float factor, unit;
    memcpy(&exponent, b_exponent, sizeof exponent);
    memcpy(&factor, b, sizeof factor);
    exponent += a_exponent;
    put_unit(&unit, &exponent, most, kept);
    factor *= a * unit;
    *sum += __builtin_convertvector(factor, wide_int);
}

/* Puts in TOTAL the products in units of 2^-kept of the largest exponent, MOST, what is less cut off
   towards zero. Half of the terms, of which there is an even number, go to another sum each, which cannot
   pass 2^31 then: a term is below 4 * 2^25. */
SIM_INLINE void add_products(const struct sim_sum_rule *rule, const struct step *s, wide_int *most,
                             wide_int total[2]) {
    const int32_t *a_exponent = s->a->exponent + s->first;
    const float *a = s->a->fraction + s->first;
    const uint8_t *places = s->places + s->first;
    const float *b = s->b->fraction + s->column;
    const int32_t *b_exponent = s->b->exponent + s->column;
    const int columns = s->columns, step = rule->step;
    wide_int exponent, largest = (wide_int){0} + 2 * NO_EXPONENT, even = {0}, odd = {0};
    for (int i = 0; i < step; i++) {
        memcpy(&exponent, b_exponent + places[i] * columns, sizeof exponent);
        exponent += a_exponent[i];
        largest = LARGER(largest, exponent);
    }
    const wide_int top = LARGER(*most, largest);
    for (int i = 0; i < step; i += 2) {
        add_product(&even, a[i], a_exponent[i], b + places[i] * columns, b_exponent + places[i] * columns,
                    &top, rule->kept);
        add_product(&odd, a[i + 1], a_exponent[i + 1], b + places[i + 1] * columns,
                    b_exponent + places[i + 1] * columns, &top, rule->kept);
    }
    *most = top;
    total[0] = even;
    total[1] = odd;
}

static double value_of(float fraction, int32_t exponent) {
    return fraction == 0 ? 0 : (double)fraction * sim_power(exponent);
}

/* Infinities and NaNs follow the rules of sums. */
static void put_special(const struct sim_sum_rule *rule, const struct step *s, const float *c,
                        const int32_t *c_exponent, uint32_t *bits) {
    for (int column = 0; column < WIDE; column++) {
        double sum = value_of(c[column], c_exponent[column]);
        for (int i = s->first; i < s->first + rule->step; i++) {
            const int at = s->places[i] * s->columns + s->column + column;
            sum += value_of(s->a->fraction[i], s->a->exponent[i]) *
                   value_of(s->b->fraction[at], s->b->exponent[at]);
        }
        if (!isfinite(sum)) bits[column] = finish_odd(rule, sum);
    }
}

/* The sum's double, from units of 2^-kept of 2^MOST. */
SIM_INLINE double scaled(int64_t sum, int32_t most, int kept) {
    return sum ? (double)sum * sim_power(most - kept) : 0;
}

SIM_INLINE void run_step(const struct sim_sum_rule *rule, struct step *s, uint32_t *bits) {
    wide_float c, unit;
    wide_int c_exponent, most, total[2];
    int32_t sums[3][WIDE], largest[WIDE], exponents[WIDE];
    float fractions[WIDE];
    put_summands(rule, bits, &c, &c_exponent, &s->special);
    most = c_exponent;
    add_products(rule, s, &most, total);
    put_unit(&unit, &c_exponent, &most, rule->kept);
    memcpy(fractions, &c, sizeof fractions);
    memcpy(exponents, &c_exponent, sizeof exponents);
    const wide_int from_c = __builtin_convertvector(c * unit, wide_int);
    memcpy(sums[0], &from_c, sizeof sums[0]);
    memcpy(sums[1], total, sizeof total);
    memcpy(largest, &most, sizeof largest);
    for (int i = 0; i < WIDE; i++) {
        const int64_t sum = (int64_t)sums[0][i] + sums[1][i] + sums[2][i];
        bits[i] = finish(rule, scaled(sum, largest[i], rule->kept));
    }
    if (s->special) put_special(rule, s, fractions, exponents, bits);
}

static uint32_t add_last(unsigned type, uint32_t c, uint32_t products) {
    const struct sim_format *f = sim_format_of(type);
    return sim_encode(f, sim_sum(sim_decode(f, c), sim_decode(f, products), SIM_RN), SIM_RN, false);
}

SIM_INLINE void eight_sums(const struct real_job *j, int row, int column, int columns) {
    const struct sim_sum_rule *rule = j->rule;
    uint32_t bits[WIDE] = {0}, *sum = &j->sum[row * columns + column];
    struct step s = {.a = &j->a[row], .b = j->b, .column = column, .columns = columns};
    s.places = j->places ? j->places[row] : in_order;
    if (!rule->c_last) memcpy(bits, sum, sizeof bits);
    for (; s.first < rule->depth; s.first += rule->step) {
        s.special = s.a->special || s.b->special;
        run_step(rule, &s, bits);
    }
    for (int i = 0; rule->c_last && i < WIDE; i++) bits[i] = add_last(rule->type, sum[i], bits[i]);
    memcpy(sum, bits, sizeof bits);
}

/* Eight columns of B stay at hand for all rows. */
SIM_INLINE void multiply_reals_body(const struct real_job *j) {
    for (int column = 0; column < j->b->columns; column += WIDE)
        for (int row = 0; row < j->rows; row++) {
            if (j->b->columns == WIDE) eight_sums(j, row, 0, WIDE);
            else eight_sums(j, row, column, j->b->columns);
        }
}
BY_PROCESSOR(multiply_reals, real_job)

void sim_multiply_reals(const struct sim_sum_rule *rule, const struct sim_real_row *a, int rows,
                        const struct sim_reals *b, const sim_places *places, uint32_t *sum) {
    const struct real_job job = {rule, a, rows, b, places, sum};
    multiply_reals(&job);
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
