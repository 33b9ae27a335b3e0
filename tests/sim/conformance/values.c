#include "values.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

uint64_t value_random(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

/* A number below COUNT. */
static unsigned choose(unsigned count, uint64_t *state) {
    return (unsigned)(value_random(state) >> 40) % count;
}

static const struct format {
    char kind;
    int exponent_bits, fraction_bits, unused_bits;
} formats[] = {{'g', 11, 52, 0}, {'f', 8, 23, 0}, {'h', 5, 10, 0}, {'b', 8, 7, 0},
               {'t', 8, 10, 13}, {'4', 4, 3, 0},  {'5', 5, 2, 0}};

static const struct format *format_of(char kind) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].kind == kind) return &formats[i];
    return NULL;
}

bool value_format(char kind, int *exponent_bits, int *fraction_bits) {
    const struct format *f = format_of(kind);
    if (!f) return false;
    *exponent_bits = f->exponent_bits;
    *fraction_bits = f->fraction_bits;
    return true;
}

double value_of(char kind, uint32_t bits) {
    const struct format *f = format_of(kind);
    bits >>= f->unused_bits;
    int bias = (1 << (f->exponent_bits - 1)) - 1, all = (1 << f->exponent_bits) - 1;
    int one = 1 << f->fraction_bits, fraction = (int)bits & (one - 1),
        exponent = (int)(bits >> f->fraction_bits) & all;
    double magnitude = exponent ? ldexp(fraction + one, exponent - bias - f->fraction_bits)
                                : ldexp(fraction, 1 - bias - f->fraction_bits);
    if (exponent == all && kind != '4') magnitude = (double)(fraction ? NAN : INFINITY);
    if (exponent == all && kind == '4' && fraction == one - 1) magnitude = (double)NAN;
    return bits >> (f->exponent_bits + f->fraction_bits) & 1 ? -magnitude : magnitude;
}

static uint64_t ones(int bits) { return UINT64_MAX >> (64 - bits); }

/* A random sign and fraction, and an exponent of COUNT from FIRST on, as far as there are normal numbers. */
static uint64_t number_of_exponent(const struct format *f, int first, int count, uint64_t *state) {
    uint64_t r = value_random(state);
    int most = (int)ones(f->exponent_bits) - 1, exponent = first + (int)choose((unsigned)count, state);
    if (exponent < 1) exponent = 1;
    if (exponent > most) exponent = most;
    return (r >> 63) << (f->exponent_bits + f->fraction_bits) | (uint64_t)exponent << f->fraction_bits |
           (r & ones(f->fraction_bits));
}

static uint64_t number_near_one(const struct format *f, int spread, uint64_t *state) {
    return number_of_exponent(f, (int)ones(f->exponent_bits - 1) - spread / 2, spread, state);
}

/* Zero, the smallest and largest subnormals and normals, 1 and its neighbours, infinity, NaNs. */
static uint64_t number_at_an_edge(const struct format *f, uint64_t *state) {
    uint64_t one = UINT64_C(1) << f->fraction_bits, top = ones(f->exponent_bits) << f->fraction_bits,
             bias = ones(f->exponent_bits - 1);
    const uint64_t edges[] = {0,
                              1,
                              one / 2,
                              one - 1,
                              one,
                              (bias << f->fraction_bits) - 1,
                              bias << f->fraction_bits,
                              (bias << f->fraction_bits) + 1,
                              top - 1,
                              top,
                              top + 1,
                              top + one / 2,
                              top + one - 1};
    uint64_t sign = value_random(state) >> 63 << (f->exponent_bits + f->fraction_bits);
    return sign | edges[choose(sizeof edges / sizeof *edges, state)];
}

static uint64_t any_number(const struct format *f, uint64_t *state) {
    unsigned pick = choose(16, state);
    if (pick < 6) return number_near_one(f, 8, state);
    if (pick < 9) return number_near_one(f, f->exponent_bits > 5 ? 60 : 30, state);
    if (pick < 13) return number_at_an_edge(f, state);
    return value_random(state) >> 7 & ones(f->exponent_bits + f->fraction_bits + 1);
}

static uint64_t shaped_number(const struct format *f, enum value_shape shape, uint64_t *state) {
    int width = f->exponent_bits + f->fraction_bits;
    switch (shape) {
    case VALUE_WIDE: return number_near_one(f, f->exponent_bits > 5 ? 40 : 30, state);
    case VALUE_ALIGNED: return number_near_one(f, f->exponent_bits > 4 ? 14 : 8, state);
    case VALUE_SUBNORMAL: /* zeros and the smallest normals among them */
        return value_random(state) >> 11 & (ones(f->fraction_bits + 1) | UINT64_C(1) << width);
    case VALUE_LOW:
        if (f->kind == 'f') return number_of_exponent(f, 1, 24, state);
        return number_of_exponent(f, f->exponent_bits > 5 ? 55 : 1, f->exponent_bits > 5 ? 14 : 6, state);
    default: return choose(8, state) ? number_near_one(f, 4, state) : number_at_an_edge(f, state);
    }
}

static uint64_t integer(uint64_t *state) {
    static const uint64_t edges[] = {0,          1,          0x7fffffff, 0x80000000,         0xffffffff,
                                     UINT64_MAX, 0x8000,     0x7fff,     UINT64_C(1) << 63,  INT64_MAX,
                                     0x80808080, 0x7f7f7f7f, 0x80,       0x8000000000008080, 0xffff};
    unsigned pick = choose(4, state);
    if (pick == 0) return edges[choose(sizeof edges / sizeof *edges, state)];
    uint64_t r = value_random(state);
    return pick == 1 ? r >> 56 : r;
}

/* Mostly inside the width of a register, now and then far beyond. */
static uint64_t shift_amount(uint64_t *state) {
    static const uint64_t far[] = {31, 32, 33, 63, 64, 65, 255, 256, 0xffffffff, 0x80000000};
    return choose(4, state) ? choose(40, state) : far[choose(sizeof far / sizeof *far, state)];
}

typedef uint64_t generator(const struct format *f, enum value_shape shape, uint64_t *state);

static uint64_t any_shape(const struct format *f, enum value_shape shape, uint64_t *state) {
    (void)shape;
    return any_number(f, state);
}

static uint64_t pack(const struct format *f, generator *next, enum value_shape shape, uint64_t *state) {
    int width = 1 + f->exponent_bits + f->fraction_bits + f->unused_bits;
    uint64_t packed = 0;
    for (int at = 0; at < 64; at += width) packed |= next(f, shape, state) << f->unused_bits << at;
    return packed;
}

uint64_t value_any(char kind, uint64_t *state) {
    const struct format *f = format_of(kind);
    if (f) return pack(f, any_shape, VALUE_EDGES, state);
    return kind == 's' ? shift_amount(state) : integer(state);
}

uint64_t value_shaped(char kind, enum value_shape shape, uint64_t *state) {
    const struct format *f = format_of(kind);
    return f ? pack(f, shaped_number, shape, state) : integer(state);
}
