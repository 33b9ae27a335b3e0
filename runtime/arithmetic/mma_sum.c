/* All terms of a step, which are products and the sum so far, become integers in units of one power of two.
   What a term has below that unit is cut off; the integers' sum is exact, and is made a float in the end. */
#include "arithmetic/mma_sum.h"
#include <math.h>
#include "base/real.h"

/* The unit is so many bits below the power of two that the greatest of the terms' exponents means: of wgmma
   of floats of 8 bits it is the lesser number, to which the sum is cut off, too. */
enum { KEPT_BITS = 25, KEPT_OF_BYTES = 13 };

typedef struct mma_format {
    int exponent_bits, fraction_bits, unused_bits;
    int least;    /* exponent of the least normal number in the format that is multiplied */
    bool finite;  /* no infinities; the NaNs have every bit of their magnitude set */
    bool narrow;  /* it is made f16 before it is multiplied */
    bool nearest; /* a sum is rounded to nearest even; else it is cut off */
} mma_format;

static const mma_format formats[] = {
    [MMA_F16] = {5, 10, 0, -14, .nearest = true}, [MMA_BF16] = {8, 7, .least = -126},
    [MMA_TF32] = {8, 10, 13, .least = -126},      [MMA_E4M3] = {4, 3, 0, -14, .finite = true, .narrow = true},
    [MMA_E5M2] = {5, 2, 0, -14, .narrow = true},  [MMA_F32] = {8, 23, .least = -126},
};

/* -- Terms -------------------------------------------------------------------------------------------- */

typedef enum term_kind { TERM_NUMBER, TERM_INFINITY, TERM_NAN } term_kind;

/* A number: significand * 2^unit, negative or not. Its exponent is what its format's field says, so that the
   significand may lie below 2^exponent. */
typedef struct term {
    term_kind kind;
    bool negative;
    int64_t significand;
    int unit, exponent;
} term;

static uint32_t infinity_of(const mma_format *f) {
    return (((uint32_t)1 << f->exponent_bits) - 1) << f->fraction_bits;
}

static uint32_t sign_of(const mma_format *f) { return (uint32_t)1 << (f->exponent_bits + f->fraction_bits); }

static term_kind kind_of(const mma_format *f, uint32_t magnitude) {
    if (f->finite) return magnitude == sign_of(f) - 1 ? TERM_NAN : TERM_NUMBER;
    if (magnitude < infinity_of(f)) return TERM_NUMBER;
    return magnitude == infinity_of(f) ? TERM_INFINITY : TERM_NAN;
}

/* A subnormal number has the exponent of the least normal one. Where its format is made f16, which has lesser
   exponents than e4m3, that is the least one of f16. OWN: its format is multiplied as it is. */
static term term_of(mma_type type, uint32_t bits, bool own) {
    const mma_format *f = &formats[type];
    uint32_t whole = bits >> f->unused_bits, magnitude = whole & (sign_of(f) - 1);
    int field = (int)(magnitude >> f->fraction_bits), bias = (1 << (f->exponent_bits - 1)) - 1;
    int64_t one = (int64_t)1 << f->fraction_bits, fraction = magnitude & (one - 1);
    term t = {.kind = kind_of(f, magnitude), .negative = whole & sign_of(f)};
    t.significand = field ? one + fraction : fraction;
    t.exponent = (field ? field : 1) - bias;
    int least = own ? 1 - bias : f->least;
    for (; t.significand && t.significand < one && t.exponent > least; t.exponent--) t.significand *= 2;
    t.unit = t.exponent - f->fraction_bits;
    return t;
}

static term_kind kind_of_product(term a, term b) {
    if (a.kind == TERM_NUMBER && b.kind == TERM_NUMBER) return TERM_NUMBER;
    bool defined = a.kind != TERM_NAN && b.kind != TERM_NAN && a.significand && b.significand;
    return defined ? TERM_INFINITY : TERM_NAN;
}

static term multiply(term a, term b) {
    return (term){kind_of_product(a, b), a.negative != b.negative, a.significand * b.significand,
                  a.unit + b.unit, a.exponent + b.exponent};
}

/* -- From an integer to a float ----------------------------------------------------------------------- */

static int length_of(uint64_t x) {
    int length = 0;
    for (; x; x >>= 1) length++;
    return length;
}

/* MAGNITUDE / 2^DROP. */
static uint64_t shorten(uint64_t magnitude, int drop, bool nearest) {
    if (drop <= 0) return magnitude << -drop;
    if (drop >= 63) return 0;
    uint64_t kept = magnitude >> drop, rest = magnitude - (kept << drop), tie = (uint64_t)1 << (drop - 1);
    return kept + (nearest && (rest > tie || (rest == tie && (kept & 1))));
}

/* SUM * 2^UNIT. What becomes a zero is +0. */
static uint32_t encode(const mma_format *f, int64_t sum, int unit) {
    uint64_t magnitude = (uint64_t)(sum < 0 ? -sum : sum);
    int exponent = unit + length_of(magnitude) - 1;
    if (exponent < f->least) exponent = f->least;
    uint64_t kept = shorten(magnitude, exponent - f->fraction_bits - unit, f->nearest);
    /* the leading bit counts one step of the exponent */
    uint64_t bits = ((uint64_t)(exponent - f->least) << f->fraction_bits) + kept;
    if (kept == 0) return 0;
    if (bits > infinity_of(f)) bits = infinity_of(f);
    return (uint32_t)bits | (sum < 0 ? sign_of(f) : 0);
}

/* -- A step ------------------------------------------------------------------------------------------- */

static int64_t in_units(term t, int unit) {
    int shift = t.unit - unit;
    if (shift <= -63) return 0;
    int64_t magnitude = shift < 0 ? t.significand >> -shift : t.significand << shift;
    return t.negative ? -magnitude : magnitude;
}

/* A zero has no exponent. */
static uint32_t add_numbers(const mma_format *f, const term *terms, int count, int kept) {
    const term *greatest = NULL;
    int64_t sum = 0;
    for (int i = 0; i < count; i++)
        if (terms[i].significand && (!greatest || terms[i].exponent > greatest->exponent))
            greatest = &terms[i];
    if (!greatest) return 0;
    int unit = greatest->exponent - kept;
    for (int i = 0; i < count; i++)
        if (terms[i].significand) sum += in_units(terms[i], unit);
    return encode(f, sum, unit);
}

static uint32_t add_terms(mma_type type, const term *terms, int count, int kept) {
    const mma_format *f = &formats[type];
    bool undefined = false, infinite[2] = {false, false};
    for (int i = 0; i < count; i++) {
        undefined |= terms[i].kind == TERM_NAN;
        infinite[terms[i].negative] |= terms[i].kind == TERM_INFINITY;
    }
    if (undefined || (infinite[0] && infinite[1])) return sign_of(f) - 1;
    if (infinite[0] || infinite[1]) return infinity_of(f) | (infinite[1] ? sign_of(f) : 0);
    return add_numbers(f, terms, count, kept);
}

/* -- An mma ------------------------------------------------------------------------------------------- */

uint32_t mma_add_sums(uint32_t x, uint32_t y) {
    float sum = real_from_bits(MC_F32, x) + real_from_bits(MC_F32, y);
    return isnan(sum) ? 0x7fffffff : real_to_bits(MC_F32, sum);
}

/* f16: f32 has bits enough that rounding to it first changes nothing. */
static uint32_t add_rounded(mma_type type, uint32_t x, uint32_t y) {
    if (type == MMA_F32) return mma_add_sums(x, y);
    return real_to_bits(MC_F16, real_from_bits(MC_F16, x) + real_from_bits(MC_F16, y));
}

/* SUM and the products of step STEP. A step has all products; of narrow types the first one has elements 0
   and 1 of every four, and the second one the others. */
static uint32_t add_step(const mma_form *form, const uint32_t *a, const uint32_t *b, int step, uint32_t sum) {
    term terms[MMA_MOST_PRODUCTS + 1] = {term_of(form->sum, sum, false)};
    bool all = !formats[form->a].narrow;
    int count = 1;
    for (int i = 0; i < form->k; i++)
        if (all || i / 2 % 2 == step)
            terms[count++] = multiply(term_of(form->a, a[i], false), term_of(form->b, b[i], false));
    return add_terms(form->sum, terms, count, KEPT_BITS);
}

uint32_t mma_sum(const mma_form *form, const uint32_t *a, const uint32_t *b, uint32_t c) {
    if (!formats[form->a].narrow) return add_step(form, a, b, 0, c);
    uint32_t products = add_step(form, a, b, 1, add_step(form, a, b, 0, 0));
    return add_rounded(form->sum, c, products);
}

uint32_t wgmma_sum(const mma_form *form, const uint32_t *a, const uint32_t *b, uint32_t c) {
    term terms[MMA_MOST_PRODUCTS + 1] = {term_of(form->sum, c, true)};
    const mma_format *f = &formats[form->sum];
    bool bytes = formats[form->a].narrow;
    for (int i = 0; i < form->k; i++)
        terms[i + 1] = multiply(term_of(form->a, a[i], true), term_of(form->b, b[i], true));
    uint32_t sum = add_terms(form->sum, terms, form->k + 1, bytes ? KEPT_OF_BYTES : KEPT_BITS);
    bool number = (sum & (sign_of(f) - 1)) < infinity_of(f);
    if (!bytes || !number || f->fraction_bits <= KEPT_OF_BYTES) return sum;
    return sum & ~(((uint32_t)1 << (f->fraction_bits - KEPT_OF_BYTES)) - 1);
}

bool mma_form_of(mc_type a, mc_type b, mma_form *form) {
    static const struct {
        mc_type a, b;
        mma_form form;
    } rows[] = {{MC_F16, MC_F16, {MMA_F16, MMA_F16, MMA_F32, 16}},
                {MC_BF16, MC_BF16, {MMA_BF16, MMA_BF16, MMA_F32, 16}},
                {MC_TF32, MC_TF32, {MMA_TF32, MMA_TF32, MMA_F32, 8}},
                {MC_TF32RZ, MC_TF32RZ, {MMA_TF32, MMA_TF32, MMA_F32, 8}},
                {MC_E4M3, MC_E4M3, {MMA_E4M3, MMA_E4M3, MMA_F32, 32}},
                {MC_E4M3, MC_E5M2, {MMA_E4M3, MMA_E5M2, MMA_F32, 32}},
                {MC_E5M2, MC_E4M3, {MMA_E5M2, MMA_E4M3, MMA_F32, 32}},
                {MC_E5M2, MC_E5M2, {MMA_E5M2, MMA_E5M2, MMA_F32, 32}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (a == rows[i].a && b == rows[i].b) return *form = rows[i].form, true;
    return false;
}

mc_type mma_operand_type(mc_type stored, bool halves) {
    bool bytes = mc_type_is_real(stored) && mc_type_bits(stored) == 8;
    return halves && bytes ? MC_F16 : stored;
}

uint32_t mma_factor(mc_type stored, mc_type type, int64_t element) {
    if (type == stored) return real_factor(type, (uint32_t)element);
    return real_to_bits(type,
                        mc_type_is_real(stored) ? real_from_bits(stored, (uint32_t)element) : (float)element);
}
