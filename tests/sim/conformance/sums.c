#include "sums.h"

#include "values.h"

#include <math.h>
#include <string.h>

enum { LANES = 32, ELEMENTS = 4, B_WORD = 4, C_WORD = 6 };

static int bits_of(char kind) {
    return kind == '4' || kind == '5' ? 8 : kind == 'h' || kind == 'b' ? 16 : 32;
}

/* An operand's element of ROW (of B, column) and K (ISA, "Matrix Fragments for mma"): a register holds neighbours along k,
   four lanes have a row's, and every second register of A is eight rows below. */
static uint32_t element(const uint32_t *warp, char kind, int first, int stride, int row, int k) {
    int bits = bits_of(kind), count = 32 / bits, lane = row % 8 * 4 + k / count % 4;
    int reg = k / (4 * count) * stride + row / 8;
    uint32_t word = warp[lane * FORM_INPUT_WORDS + first + reg];
    return bits == 32 ? word : word >> bits * (k % count) & ((1u << bits) - 1);
}

static int least_exponent(char kind) {
    int e = 0, f = 0;
    value_format(kind, &e, &f);
    return 2 - (1 << (e - 1));
}

/* As the exponent field says. */
static int exponent_of(double x, char kind) {
    if (x == 0 || !isfinite(x)) return -4096;
    int exponent = ilogb(x);
    return exponent < least_exponent(kind) ? least_exponent(kind) : exponent;
}

/* The K of mma's "m16n8kK". */
static int depth_of(const struct form *form) {
    int depth = 0;
    for (const char *s = strstr(form->code, "n8k") + 3; *s >= '0' && *s <= '9'; s++)
        depth = depth * 10 + *s - '0';
    return depth;
}

static int steps_of(char kind, int depth, int capability) {
    if (capability != 90) return depth / 4;
    return bits_of(kind) == 8 ? 2 : 1;
}

void sum_terms_of(const struct form *form, const uint32_t *words, int index, struct sum_terms *terms) {
    const char *kind = form->row->inputs;
    int lane = index / ELEMENTS % LANES, i = index % ELEMENTS, row = lane / 4 + i / 2 * 8,
        column = lane % 4 * 2 + i % 2;
    const uint32_t *warp = words + index / (LANES * ELEMENTS) * LANES * FORM_INPUT_WORDS;
    const uint32_t *c_words = warp + lane * FORM_INPUT_WORDS + C_WORD;
    terms->depth = depth_of(form);
    terms->c = kind[2] == 'h' ? c_words[i / 2] >> 16 * (i % 2) & 0xffff : c_words[i];
    for (int k = 0; k < terms->depth; k++) {
        terms->a[k] = element(warp, kind[0], 0, 2, row, k);
        terms->b[k] = element(warp, kind[1], B_WORD, 1, column, k);
    }
}

struct sum_bound sum_bound_of(const struct form *form, const uint32_t *words, int index, int capability) {
    const char *kind = form->row->inputs;
    struct sum_terms terms;
    sum_terms_of(form, words, index, &terms);
    int depth = terms.depth, steps = steps_of(kind[0], depth, capability), kept = capability == 90 ? 25 : 23;
    double c = value_of(kind[2], terms.c), sum = c, magnitudes = fabs(c);
    int most = exponent_of(c, kind[2]);
    for (int k = 0; k < depth; k++) {
        double a = value_of(kind[0], terms.a[k]), b = value_of(kind[1], terms.b[k]);
        int exponent = exponent_of(a, kind[0]) + exponent_of(b, kind[1]);
        if (exponent > most) most = exponent;
        sum += a * b;
        magnitudes += fabs(a * b);
    }
    if (!isfinite(sum)) return (struct sum_bound){sum, (double)INFINITY};
    if (magnitudes > 0 && ilogb(magnitudes) > most) most = ilogb(magnitudes);
    bool half = kind[2] == 'h', overflows = magnitudes >= (half ? 65504 : 0x1.fffffep127);
    int roundings = steps + (bits_of(kind[0]) == 8);
    double bound = ldexp(depth + steps, most - kept) + roundings * magnitudes * (half ? 0x1p-11 : 0x1p-23) +
                   (half ? 0x1p-24 : 0x1p-149);
    return (struct sum_bound){sum, overflows ? (double)INFINITY : bound};
}
