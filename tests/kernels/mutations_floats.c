/* The gather kernel of the SpMM with floats, and with integers by floats. */
#include <stdlib.h>
#include <string.h>
#include "mutations.h"

static bool finite_row(const mutation *m) { return mutation_of_row(m) && mutation_is_finite(m); }

/* The label behind the line. */
static const char *next_label(const mutation *m) {
    const char *at = m->ptx;
    for (int line = 1; at && line < m->line; line++) at = strchr(at, '\n') + 1;
    while (at && (*at == ' ' || *at == '\n')) at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
    return at;
}

/* each stride of floats loads all rows, or clears them before it loads some */
static bool row_before_loop(const mutation *m) {
    const char *label = next_label(m);
    return mutation_of_row(m) && label && strncmp(label + strcspn(label, "S\n"), "STRIDES:", 8) == 0;
}

/* at V below 8 lanes of the mma's empty columns have no values, and all others load them */
static bool empty_columns(const mutation *m) {
    static const char *const names[] = {"value"};
    return mutation_of_zeros(m, names, 1) && (strstr(m->entry, "_v2_") || strstr(m->entry, "_v4_"));
}

/* at V = 2 the first of four lanes alone has rows: 0 times anything */
static bool first_of_four(const mutation *m) {
    return m->kind == MUTATE_INDEX && strstr(m->from, "mad.lo.s32") && strstr(m->from, "%t, 2,") &&
           strstr(m->entry, "_v2_");
}

/* columns ascend, and index j of floats is slot j's or that of one behind */
static bool float_slot_threshold(const mutation *m) {
    const char *index = strstr(m->from, ", %index");
    return m->kind == MUTATE_INDEX && strstr(m->from, "setp.ge.s32") && index &&
           mutation_number(m->to) >= 0 &&
           mutation_number(m->to) <= strtol(index + strlen(", %index"), NULL, 10);
}

static const equivalence float_equivalents[] = {
    {finite_row, "a finite number of B in a padding slot meets a value of zero"},
    {row_before_loop, "each stride loads all rows, or clears them"},
    {mutation_of_tiny_start, "a sum of at most 2^-146 is lost in any other, and as a C of 16 bits"},
    {empty_columns, "lanes of the mma's empty columns have no values"},
    {first_of_four, "the first of four lanes alone has rows"},
    {float_slot_threshold, "columns ascend: slot j holds -1 or a column of at least j"},
    {mutation_of_sooner_edge, "a full tile takes the edge path, to the same sums"},
    {mutation_of_longer_edge, "the next tile's columns are computed twice, with the same sums"},
    {mutation_of_conversion, "a global address is the same number as its generic address"},
    {NULL, NULL},
};

/* As gather_cases; of extreme values sums are mostly infinities and NaNs, which say little. */
static const problem_case float_cases[] = {
    {PATTERN_BOUNDARIES, 9, 131, 129, 0, 0, .values = MC_VALUES_FULL},
    {PATTERN_BOUNDARIES, 9, 131, 128, 0, 0, .values = MC_VALUES_FULL},
    {PATTERN_EMPTY_BLOCKS, 6, 700, 256, 16, 4, .values = MC_VALUES_FULL},
    {PATTERN_BOUNDARIES, 9, 131, 128, 1, 1, .values = MC_VALUES_FULL},
    {PATTERN_BOUNDARIES, 9, 131, 128, 2, 2, .values = MC_VALUES_FULL},
    {PATTERN_BOUNDARIES, 9, 131, 128, 4, 3, .values = MC_VALUES_FULL},
    {PATTERN_BOUNDARIES, 9, 131, 128, 8, 0, .values = MC_VALUES_FULL},
    {PATTERN_BOUNDARIES, 9, 131, 128, 0, 1, .values = MC_VALUES_FULL},
    {PATTERN_BOUNDARIES, 9, 131, 128, 0, 2, .values = MC_VALUES_FULL},
    {PATTERN_BOUNDARIES, 9, 131, 128, 4, 0, .values = MC_VALUES_FULL},
    {PATTERN_BOUNDARIES, 9, 131, 128, 2, 0, .values = MC_VALUES_FULL},
    {PATTERN_BOUNDARIES, 9, 131, 46, 0, 0, .values = MC_VALUES_FULL},
    {PATTERN_ONE_FULL, 5, 300, 47, 0, 0, .values = MC_VALUES_FULL},
    {PATTERN_ONE_FULL, 5, 300, 64, 0, 0, .values = MC_VALUES_FULL, .infinities = 251},
    {PATTERN_BOUNDARIES, 9, 500, 59, 0, 0, .values = MC_VALUES_FULL, .infinities = 61},
    {PATTERN_FIRST_COLUMNS, 9, 40, 59, 0, 0, .values = MC_VALUES_FULL, .infinities = 7},
    {PATTERN_ONE_FULL, 5, 300, 64, 0, 0, .values = MC_VALUES_EXTREME},
    {PATTERN_ONE_COLUMN, 3, 1, 1, 0, 0, .values = MC_VALUES_FULL},
};

/* Floats: each V, both paths, sums as they are and scaled. */
static const mc_setting float_kernels[][MUTATION_SETTINGS] = {
    {{"tile_n", "64"}, {"warps", "4"}, {"split", "4"}, {"stride", "32"}, {"prefetch", "on"}, {"out", "f32"}},
    {{"lhs", "bf16"},
     {"rhs", "bf16"},
     {"vec", "4"},
     {"tile_n", "64"},
     {"warps", "2"},
     {"split", "1"},
     {"stride", "64"},
     {"prefetch", "on"},
     {"out", "bf16"}},
    {{"vec", "2"},
     {"tile_n", "32"},
     {"warps", "1"},
     {"split", "1"},
     {"stride", "32"},
     {"prefetch", "off"},
     {"out", "f16"},
     {"scale", "row"},
     {"bias", "column"}},
    {{"vec", "16"},
     {"tile_n", "32"},
     {"warps", "2"},
     {"split", "2"},
     {"stride", "32"},
     {"prefetch", "on"},
     {"out", "f32"}},
    {{"lhs", "bf16"},
     {"rhs", "bf16"},
     {"vec", "16"},
     {"tile_n", "64"},
     {"warps", "4"},
     {"split", "1"},
     {"stride", "32"},
     {"prefetch", "off"},
     {"out", "f16"},
     {"scale", "column"},
     {"act", "relu"}},
};

/* Values of A made wider. */
static const mc_setting mixed_kernels[][MUTATION_SETTINGS] = {
    {{"tile_n", "32"}, {"warps", "1"}, {"split", "1"}, {"stride", "32"}, {"out", "f32"}},
    {{"lhs", "u8"},
     {"rhs", "bf16"},
     {"vec", "16"},
     {"tile_n", "32"},
     {"warps", "1"},
     {"split", "1"},
     {"stride", "32"},
     {"prefetch", "off"},
     {"out", "f32"}},
    {{"rhs", "bf16"},
     {"vec", "4"},
     {"tile_n", "32"},
     {"warps", "2"},
     {"split", "2"},
     {"stride", "32"},
     {"prefetch", "off"},
     {"out", "f32"}},
};

const mutation_suite float_mutations[] = {
    {"floats", float_cases, LENGTH(float_cases), float_kernels, LENGTH(float_kernels), float_equivalents,
     false},
    {"mixed", float_cases, LENGTH(float_cases), mixed_kernels, LENGTH(mixed_kernels), float_equivalents,
     false},
    {NULL, NULL, 0, NULL, 0, NULL, false},
};
