#include "compare.h"

#include "values.h"

#include <math.h>
#include <string.h>

/* The format of a float result, as a kind of value: by its register, else by what the code speaks of. */
static char kind_of(const struct form *form) {
    char result = form->row->result;
    if (result == 'f' || result == 'g') return result;
    return strstr(form->code, "bf16") ? 'b' : strstr(form->code, "tf32") ? 't' : 'h';
}

static int result_bits(const struct form *form) {
    char result = form->row->result;
    if (result == 'p') return 1;
    if (form_is_matrix(form)) return form->row->compare == FORM_SUM && result == '2' ? 16 : 32;
    int bits = (int)form_warp_bytes(form) * 8 / 32;
    bool pair = result == 'r' && form->row->compare == FORM_ANY_NAN && kind_of(form) != 't';
    return pair ? 16 : bits;
}

int compare_count(const struct form *form, int blocks) {
    return (int)form_warp_bytes(form) * 8 / result_bits(form) * blocks;
}

int compare_lane(const struct form *form, int index) { return index / (compare_count(form, 1) / 32); }

uint64_t compare_result(const struct form *form, const uint32_t *words, int index) {
    int bits = result_bits(form);
    if (bits == 64) return words[2 * index] | (uint64_t)words[2 * index + 1] << 32;
    size_t bit = (size_t)index * (size_t)bits;
    uint32_t ones = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
    return words[bit / 32] >> bit % 32 & ones;
}

static bool is_nan(char kind, uint64_t bits) {
    int exponent, fraction;
    if (!value_format(kind, &exponent, &fraction)) return false;
    uint64_t infinity = ((UINT64_C(1) << exponent) - 1) << fraction, sign = UINT64_C(1)
                                                                            << (exponent + fraction);
    if (kind == 't') bits >>= 13;
    return (bits & (sign - 1)) > infinity;
}

static float single(uint64_t bits) {
    uint32_t low = (uint32_t)bits;
    float x;
    memcpy(&x, &low, sizeof x);
    return x;
}

/* Beside the bound, half a unit in the last place: what is compared with is rounded, too. */
static bool is_close(const struct form *form, uint64_t got, uint64_t want) {
    double x = (double)single(got), y = (double)single(want), error = fabs(x - y), half = 0x1p-24 * fabs(y);
    if (!isfinite(x) || !isfinite(y) || y == 0) return got == want || (x != x && y != y);
    /* near 1 the bound is an absolute one: |log2 x| < 1 there */
    if (form->row->compare == FORM_LOG2 && fabs(y) < 1) return error <= form->row->bound + half;
    return error <= form->row->bound * fabs(y) + half + 0x1p-150;
}

bool compare_equal(const struct form *form, uint64_t got, uint64_t want) {
    if (got == want) return true;
    switch (form->row->compare) {
    case FORM_ANY_NAN: return is_nan(kind_of(form), got) && is_nan(kind_of(form), want);
    case FORM_RELATIVE:
    case FORM_LOG2: return is_close(form, got, want);
    default: return false;
    }
}
