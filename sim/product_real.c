#include "wide.h"

#include "format.h"

#include <math.h>

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

static uint32_t finish(const struct sim_sum_rule *rule, double x) {
    if (rule->type == SIM_f16) return round_to_f16(x);
    const uint32_t bits = cut_to_f32(x);
    return isfinite(x) ? bits & ~((1u << rule->dropped) - 1) : bits;
}

/* -- Four sums as doubles -------------------------------------------------------------------------------- */

enum { HALF = SIM_WIDE / 2 };
typedef int32_t half_int __attribute__((vector_size(4 * HALF)));
typedef float half_float __attribute__((vector_size(4 * HALF)));
typedef double half_double __attribute__((vector_size(8 * HALF)));
typedef int64_t half_long __attribute__((vector_size(8 * HALF)));

/* 2^EXPONENT. */
SIM_INLINE void put_powers(half_double *power, const half_int *exponent) {
    const half_long bits = __builtin_convertvector(*exponent + 1023, half_long) << 52;
    memcpy(power, &bits, sizeof *power);
}

/* The bits of the sums X. A normal f32 begins with the bits of the double, and the rest is cut off. */
SIM_INLINE void finish_half(const struct sim_sum_rule *rule, const half_double *x, uint32_t *bits) {
    const int64_t least = (int64_t)(1023 - 126) << 52, past = (int64_t)(1023 + 128) << 52,
                  kept_bits = -((int64_t)1 << (29 + rule->dropped));
    half_long cut;
    half_double kept;
    double sums[HALF];
    int64_t odd[HALF];
    memcpy(&cut, x, sizeof cut);
    const half_long magnitude = cut & INT64_MAX,
                    is_odd = ((magnitude < least) | (magnitude >= past)) & (magnitude != 0);
    cut &= kept_bits;
    memcpy(&kept, &cut, sizeof kept);
    const half_float result = __builtin_convertvector(kept, half_float);
    memcpy(bits, &result, sizeof result);
    memcpy(odd, &is_odd, sizeof odd);
    if (rule->type == SIM_f32 && !(odd[0] | odd[1] | odd[2] | odd[3])) return;
    memcpy(sums, x, sizeof sums);
    for (int i = 0; i < HALF; i++)
        if (rule->type != SIM_f32 || odd[i]) bits[i] = finish(rule, sums[i]);
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
    const float *a, *b;
    const int32_t *a_exponent, *b_exponent;
    const uint8_t *places;
    int count;
    bool special; /* some factor or summand is infinite or a NaN */
};

/* Eight sums on their way: in units of 2^-kept of 2^most. */
struct terms {
    wide_int most;
    wide_int even, odd; /* of products, cut off towards zero, which half of them each cannot pass 2^31: a
                           product is below 4 * 2^25 */
};

/* Least exponents of a unit: nothing but zeros is below, as NEAR says, or as f32 does. */
enum { NEAR_LEAST = -96, FAR_LEAST = -300 };

SIM_INLINE void put_summands(const struct sim_sum_rule *rule, const uint32_t *bits, float *value,
                             wide_int *exponent, bool *special) {
    wide_int word, field;
    if (rule->type != SIM_f32) {
        struct sim_real_row row = {0};
        sim_row_put(&row, rule->type, bits, SIM_WIDE);
        memcpy(value, row.value, SIM_WIDE * sizeof *value);
        memcpy(exponent, row.exponent, sizeof *exponent);
        *special |= row.kind.special;
        return;
    }
    memcpy(&word, bits, sizeof word);
    memcpy(value, bits, sizeof word);
    field = word >> 23 & 255;
    const wide_int is_odd = field == 255, one = (wide_int){0} + 1, is_zero = (word & INT32_MAX) == 0;
    field = (SIM_LARGER(field, one) - 127) & ~is_odd;
    *exponent = (field & ~is_zero) | (is_zero & ((wide_int){0} + SIM_NO_EXPONENT));
    *special |= sim_any(&is_odd);
}

/* Where the element of B is that the step's element I of A meets. Without places it is known when this is
   compiled. */
SIM_INLINE int place(const struct step *s, int i) { return (s->places ? s->places[i] : i) * SIM_WIDE; }

SIM_INLINE void meet(const struct step *s, int i, wide_int *largest) {
    wide_int exponent;
    memcpy(&exponent, s->b_exponent + place(s, i), sizeof exponent);
    exponent += s->a_exponent[i];
    *largest = SIM_LARGER(*largest, exponent);
}

/* The larger of MOST and the exponents of the products. Two chains of them take half as long as one. */
SIM_INLINE void put_most(const struct step *s, wide_int *most) {
    wide_int even = *most, odd = *most;
    for (int i = 0; i < s->count; i += 2) {
        meet(s, i, &even);
        meet(s, i + 1, &odd);
    }
    *most = SIM_LARGER(even, odd);
}

SIM_INLINE void add_near(wide_int *sum, float a, const float *b, const wide_float *unit) {
    wide_float factor;
    memcpy(&factor, b, sizeof factor);
    factor = factor * a * *unit;
    *sum += __builtin_convertvector(factor, wide_int);
}

/* Products, and these in units, are exact in f32, or below a unit. */
SIM_INLINE void add_products_near(const struct sim_sum_rule *rule, const struct step *s, struct terms *t) {
    /* cppcheck-suppress ctuuninitvar ; put_most has set it */
    const wide_int least = (wide_int){0} + NEAR_LEAST, bits = (rule->kept + 127 - SIM_LARGER(t->most, least))
                                                              << 23;
    wide_float unit;
    wide_int even = {0}, odd = {0};
    memcpy(&unit, &bits, sizeof unit);
    for (int i = 0; i < s->count; i += 2) {
        add_near(&even, s->a[i], s->b + place(s, i), &unit);
        add_near(&odd, s->a[i + 1], s->b + place(s, i + 1), &unit);
    }
    t->even = even;
    t->odd = odd;
}

/* The same where f32 has not the exponents, or where some are infinite or NaNs, which put_special adds. */
SIM_INLINE void add_products_far(const struct sim_sum_rule *rule, const struct step *s, struct terms *t) {
    int32_t most[SIM_WIDE], sum[2][SIM_WIDE] = {{0}};
    memcpy(most, &t->most, sizeof most);
    for (int column = 0; column < SIM_WIDE; column++) {
        const double unit = sim_power(rule->kept - (most[column] < FAR_LEAST ? FAR_LEAST : most[column]));
        for (int i = 0; i < s->count; i++) {
            const double product = (double)s->a[i] * (double)s->b[place(s, i) + column] * unit;
            sum[i % 2][column] += isfinite(product) ? (int32_t)product : 0;
        }
    }
    memcpy(&t->even, sum[0], sizeof sum[0]);
    memcpy(&t->odd, sum[1], sizeof sum[1]);
}

/* Adds C to the terms, and makes results of the sums. */
SIM_INLINE void finish_sums(const struct sim_sum_rule *rule, const struct terms *t, const float *c,
                            uint32_t *bits) {
    for (int at = 0; at < SIM_WIDE; at += HALF) {
        half_int most, even, odd;
        half_float summand;
        half_double unit, scale;
        const half_int least = (half_int){0} + FAR_LEAST;
        memcpy(&most, (const int32_t *)&t->most + at, sizeof most);
        memcpy(&even, (const int32_t *)&t->even + at, sizeof even);
        memcpy(&odd, (const int32_t *)&t->odd + at, sizeof odd);
        memcpy(&summand, c + at, sizeof summand);
        most = SIM_LARGER(most, least);
        const half_int up = rule->kept - most, down = most - rule->kept;
        put_powers(&unit, &up);
        put_powers(&scale, &down);
        const half_int from_c =
            __builtin_convertvector(__builtin_convertvector(summand, half_double) * unit, half_int);
        const half_double sum = __builtin_convertvector(from_c, half_double) +
                                __builtin_convertvector(even, half_double) +
                                __builtin_convertvector(odd, half_double),
                          x = sum * scale;
        finish_half(rule, &x, bits + at);
    }
}

/* Infinities and NaNs follow the rules of sums. */
static void put_special(const struct sim_sum_rule *rule, const struct step *s, const float *c,
                        uint32_t *bits) {
    for (int column = 0; column < SIM_WIDE; column++) {
        double sum = c[column];
        for (int i = 0; i < s->count; i++) sum += (double)s->a[i] * (double)s->b[place(s, i) + column];
        if (!isfinite(sum)) bits[column] = finish(rule, sum);
    }
}

SIM_INLINE void run_step(const struct sim_sum_rule *rule, struct step *s, bool far, uint32_t *bits) {
    struct terms t;
    float c[SIM_WIDE];
    put_summands(rule, bits, c, &t.most, &s->special);
    put_most(s, &t.most);
    if (far || s->special) add_products_far(rule, s, &t);
    else add_products_near(rule, s, &t);
    finish_sums(rule, &t, c, bits);
    if (s->special) put_special(rule, s, c, bits);
}

static uint32_t add_last(unsigned type, uint32_t c, uint32_t products) {
    const struct sim_format *f = sim_format_of(type);
    if (type == SIM_f32) {
        float summand, sum;
        uint32_t bits;
        memcpy(&summand, &c, sizeof summand);
        memcpy(&sum, &products, sizeof sum);
        sum += summand;
        memcpy(&bits, &sum, sizeof bits);
        return isnan(sum) ? f->nan : bits;
    }
    return sim_encode(f, sim_sum(sim_decode(f, c), sim_decode(f, products), SIM_RN), SIM_RN, false);
}

SIM_INLINE void eight_sums(const struct real_job *j, int row, int column, const uint8_t *places) {
    const struct sim_sum_rule *rule = j->rule;
    const struct sim_real_row *a = &j->a[row];
    const int at = sim_place_in_b(j->b->depth, 0, column);
    const bool special = a->kind.special || j->b->kind.special, far = a->kind.far || j->b->kind.far;
    uint32_t bits[SIM_WIDE] = {0}, *sum = &j->sum[row * j->b->columns + column];
    if (!rule->c_last) memcpy(bits, sum, sizeof bits);
    for (int first = 0; first < rule->depth; first += rule->step) {
        const int of_b = at + (places ? 0 : first * SIM_WIDE);
        struct step s = {.a = a->value + first,
                         .b = j->b->value + of_b,
                         .a_exponent = a->exponent + first,
                         .b_exponent = j->b->exponent + of_b,
                         .places = places ? places + first : NULL,
                         .count = rule->step,
                         .special = special};
        run_step(rule, &s, far, bits);
    }
    for (int i = 0; rule->c_last && i < SIM_WIDE; i++) bits[i] = add_last(rule->type, sum[i], bits[i]);
    memcpy(sum, bits, sizeof bits);
}

/* Eight columns of B stay at hand for all rows. */
SIM_INLINE void multiply_reals_body(const struct real_job *j) {
    for (int column = 0; column < j->b->columns; column += SIM_WIDE)
        for (int row = 0; row < j->rows; row++) {
            if (j->places) eight_sums(j, row, column, j->places[row]);
            else eight_sums(j, row, column, NULL);
        }
}
SIM_BY_PROCESSOR(multiply_reals, real_job)

void sim_multiply_reals(const struct sim_sum_rule *rule, const struct sim_real_row *a, int rows,
                        const struct sim_reals *b, const sim_places *places, uint32_t *sum) {
    const struct real_job job = {rule, a, rows, b, places, sum};
    multiply_reals(&job);
}
