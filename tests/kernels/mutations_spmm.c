/* The gather kernel of the SpMM with integers, straight and through shared memory. */
#include <stdlib.h>
#include <string.h>
#include "mutations.h"

/* -- Provably equivalent ------------------------------------------------------------------------------ */

/* A shift by one lane is V = 2's, where the first of four lanes alone has sums: it reads the second one by
   either mask. */
static bool wider_segment(const mutation *m) {
    return m->kind == MUTATE_INDEX && strstr(m->from, "shfl.sync.down") &&
           strstr(m->from, ", 1, 0x00001c03,") && strstr(m->to, ", 1, 0x3806,");
}

/* columns ascend inside a row block, so slot j holds -1 or a column of at least j; index j is slot j's or, shuffled, one of the
   same 8 */
static bool slot_threshold(const mutation *m) {
    static const long shuffled[] = {0, 2, 4, 6, 1, 3, 5, 7};
    const char *index = strstr(m->from, "index");
    long j = index ? strtol(index + 5, NULL, 10) : 0, slot = j - j % 8 + shuffled[j % 8];
    return m->kind == MUTATE_INDEX && strstr(m->from, "setp.ge.s32") && index &&
           mutation_number(m->to) <= (slot < j ? slot : j) && mutation_number(m->to) >= 0;
}

/* accumulators become full only in longer rows than these (exact_test.c) */
static bool other_round(const mutation *m) { return m->kind == MUTATE_INDEX && strstr(m->from, "done,"); }

static const equivalence gather_equivalents[] = {
    {mutation_of_row, "bytes of B in a padding slot meet a value of zero"},
    {slot_threshold, "columns ascend: slot j holds -1 or a column of at least j"},
    {mutation_of_sooner_edge, "a full tile takes the edge path, to the same sums"},
    {mutation_of_longer_edge, "the next tile's columns are computed twice, with the same sums"},
    {mutation_of_conversion, "a global address is the same number as its generic address"},
    {NULL, NULL},
};
static const equivalence exact_equivalents[] = {
    {mutation_of_row, "bytes of B in a padding slot meet a value of zero"},
    {slot_threshold, "columns ascend: slot j holds -1 or a column of at least j"},
    {mutation_of_sooner_edge, "a full tile takes the edge path, to the same sums"},
    {mutation_of_longer_edge, "the next tile's columns are computed twice, with the same sums"},
    {wider_segment, "the first of four lanes reads the second one by either mask"},
    {other_round, "a round of another length gives the same totals, until accumulators are full"},
    {mutation_of_conversion, "a global address is the same number as its generic address"},
    {NULL, NULL},
};
/* -- Kernels and problems ----------------------------------------------------------------------------- */

/* Problems take both paths, full and empty row blocks, padding in the first stride, every alignment. */
static const problem_case gather_cases[] = {
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
    {PATTERN_BOUNDARIES, 9, 131, 128, 1, 0, .values = MC_VALUES_FULL},
    {PATTERN_BOUNDARIES, 9, 131, 128, 2, 0, .values = MC_VALUES_FULL},
    {PATTERN_BOUNDARIES, 9, 131, 46, 0, 0, .values = MC_VALUES_FULL},
    {PATTERN_ONE_FULL, 5, 300, 47, 0, 0, .values = MC_VALUES_EXTREME},
    {PATTERN_ONE_COLUMN, 3, 1, 1, 0, 0, .values = MC_VALUES_FULL},
};

static const mc_setting gather_kernels[][MUTATION_SETTINGS] = {
    {{"tile_n", "128"},
     {"warps", "4"},
     {"split", "4"},
     {"stride", "32"},
     {"prefetch", "on"},
     {"align", "16"}},
    {{"tile_n", "64"}, {"warps", "8"}, {"split", "2"}, {"stride", "64"}, {"prefetch", "on"}, {"align", "16"}},
    {{"tile_n", "32"},
     {"warps", "1"},
     {"split", "1"},
     {"stride", "32"},
     {"prefetch", "off"},
     {"align", "16"}},
    {{"tile_n", "128"},
     {"warps", "2"},
     {"split", "1"},
     {"stride", "32"},
     {"prefetch", "on"},
     {"align", "16"}},
    {{"tile_n", "64"},
     {"warps", "4"},
     {"split", "2"},
     {"stride", "32"},
     {"prefetch", "on"},
     {"align", "16"},
     {"out", "f16"},
     {"scale", "row"},
     {"bias", "column"}},
    {{"tile_n", "128"},
     {"warps", "2"},
     {"split", "1"},
     {"stride", "32"},
     {"prefetch", "on"},
     {"align", "16"},
     {"out", "bf16"},
     {"scale", "column"},
     {"bias", "row"}},
};

/* Digits on either side and both, halves of bytes, each V. */
static const mc_setting type_kernels[][MUTATION_SETTINGS] = {
    {{"lhs", "s16"},
     {"rhs", "s16"},
     {"vec", "8"},
     {"tile_n", "64"},
     {"warps", "4"},
     {"split", "4"},
     {"stride", "32"},
     {"prefetch", "on"}},
    {{"lhs", "s4"},
     {"rhs", "s4"},
     {"vec", "4"},
     {"tile_n", "128"},
     {"warps", "4"},
     {"split", "2"},
     {"stride", "64"},
     {"prefetch", "on"},
     {"mma", "int8"}},
    {{"lhs", "s8"},
     {"rhs", "s4"},
     {"vec", "4"},
     {"tile_n", "128"},
     {"warps", "4"},
     {"split", "2"},
     {"stride", "64"},
     {"prefetch", "on"},
     {"mma", "int4"}},
    {{"lhs", "u12"},
     {"rhs", "u4"},
     {"vec", "2"},
     {"tile_n", "128"},
     {"warps", "1"},
     {"split", "1"},
     {"stride", "32"},
     {"prefetch", "off"},
     {"mma", "int8"}},
    {{"lhs", "u12"},
     {"rhs", "u4"},
     {"vec", "8"},
     {"tile_n", "64"},
     {"warps", "1"},
     {"split", "1"},
     {"stride", "32"},
     {"prefetch", "off"},
     {"mma", "int4"},
     {"shuffle", "off"}},
    {{"lhs", "s8"},
     {"rhs", "u16"},
     {"vec", "4"},
     {"tile_n", "32"},
     {"warps", "2"},
     {"split", "1"},
     {"stride", "32"},
     {"prefetch", "on"},
     {"out", "f32"},
     {"scale", "row"},
     {"bias", "column"},
     {"act", "relu"}},
};

/* Sums in s64, from registers and through shared memory. Their rounds are of one stride each. */
static const mc_setting exact_kernels[][MUTATION_SETTINGS] = {
    {{"lhs", "u16"},
     {"rhs", "s16"},
     {"sum", "exact"},
     {"out", "s64"},
     {"tile_n", "64"},
     {"warps", "4"},
     {"split", "4"},
     {"stride", "32"}},
    {{"lhs", "s16"},
     {"rhs", "s8"},
     {"vec", "4"},
     {"sum", "exact"},
     {"out", "s64"},
     {"tile_n", "64"},
     {"warps", "2"},
     {"split", "1"},
     {"stride", "64"}},
    {{"lhs", "u16"},
     {"rhs", "u8"},
     {"vec", "2"},
     {"sum", "exact"},
     {"out", "f32"},
     {"scale", "row"},
     {"bias", "column"},
     {"tile_n", "32"},
     {"warps", "4"},
     {"split", "2"},
     {"stride", "32"}},
};

/* Rows through shared memory, and the paper's order. */
static const mc_setting shared_kernels[][MUTATION_SETTINGS] = {
    {{"tile_n", "128"},
     {"warps", "4"},
     {"split", "4"},
     {"stride", "32"},
     {"prefetch", "on"},
     {"order", "paper"}},
    {{"tile_n", "64"},
     {"warps", "2"},
     {"split", "1"},
     {"stride", "64"},
     {"prefetch", "off"},
     {"padding", "off"},
     {"vec", "4"}},
    {{"tile_n", "32"},
     {"warps", "4"},
     {"split", "2"},
     {"stride", "32"},
     {"prefetch", "on"},
     {"order", "paper"},
     {"lhs", "u16"},
     {"vec", "4"}},
    {{"tile_n", "64"},
     {"warps", "1"},
     {"split", "1"},
     {"stride", "32"},
     {"prefetch", "on"},
     {"order", "paper"},
     {"out", "f16"},
     {"scale", "column"},
     {"bias", "row"}},
};

const mutation_suite spmm_mutations[] = {
    {"gather", gather_cases, LENGTH(gather_cases), gather_kernels, LENGTH(gather_kernels), gather_equivalents,
     false},
    {"types", gather_cases, LENGTH(gather_cases), type_kernels, LENGTH(type_kernels), gather_equivalents,
     false},
    {"shared", gather_cases, LENGTH(gather_cases), shared_kernels, LENGTH(shared_kernels), gather_equivalents,
     false},
    {"exact", gather_cases, LENGTH(gather_cases), exact_kernels, LENGTH(exact_kernels), exact_equivalents,
     true},
    {NULL, NULL, 0, NULL, 0, NULL, false},
};
