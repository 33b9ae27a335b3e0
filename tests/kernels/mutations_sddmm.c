#include <stdlib.h>
#include <string.h>
#include "mutations.h"

/* -- Provably equivalent ------------------------------------------------------------------------------ */

static bool is_index(const mutation *m, const char *instruction, const char *operand) {
    return m->kind == MUTATE_INDEX && strstr(m->from, instruction) && strstr(m->from, operand);
}

/* what B's registers hold beyond k meets zeros of A; of the edge path's loads of single values, those of A zeros of B too */
static bool beyond_k(const mutation *m) {
    static const char *const registers[] = {"%x",       "%y",       "%next_x",         "%next_y",
                                            "%third_x", "%third_y", "%edge_b_element", "%edge_a_element"};
    return mutation_of_zeros(m, registers, sizeof registers / sizeof *registers);
}

/* columns ascend inside a row block, so index i is that of slot 8 i at least, and -1 or a column of at least that */
static bool slot_threshold(const mutation *m) {
    const char *index = strstr(m->from, ", %index");
    return index && is_index(m, "setp.ge.s32", ", 0;") && mutation_number(m->to) >= 0 &&
           mutation_number(m->to) <= 8 * strtol(index + strlen(", %index"), NULL, 10);
}

/* where the wide path finds no unit, or is not taken, all is left to the edge path */
static bool other_path(const mutation *m) {
    return is_index(m, "setp.lt.s32", "%odd, %k,") ||
           (is_index(m, "setp.ne.s32", "%odd, %odd_bits, 0") && mutation_number(m->to) < 0);
}

/* a panel more, behind the last one, has no unit inside k */
static bool panel_more(const mutation *m) {
    bool later = is_index(m, "add.s32", "%k_left, %k_left, -") && mutation_number(m->to) < 0 &&
                 mutation_number(m->to) > mutation_number(m->from);
    bool lower = is_index(m, "setp.ge.s32", "%more, %k_left,") &&
                 mutation_number(m->to) < mutation_number(m->from) && mutation_number(m->to) > 0;
    return later || lower;
}

/* a group that the item does not have multiplies column 0, and is not stored */
static bool group_more(const mutation *m) {
    return is_index(m, "setp.lt.s32", "%last, %record2,") &&
           mutation_number(m->to) < mutation_number(m->from);
}

/* scales and mask values of slots that are not stored */
static bool unread_factor(const mutation *m) {
    return is_index(m, "mov.b32", "%mask_value") || is_index(m, "mov.b32", "_scale");
}

/* nothing uses the fourth word of an item, and nothing holds a value yet in what it could be read to */
static bool unused_word(const mutation *m) {
    const char *to = strstr(m->to, "%record2, ");
    return m->kind == MUTATE_OPERAND && strstr(m->from, "%record3}") && !strstr(m->to, "%record3}") && to &&
           strncmp(to + strlen("%record2, "), "%edge_", 6) == 0;
}

/* of method window: bits of a column's number that its shift leaves empty */
static bool empty_bits(const mutation *m) {
    return (is_index(m, "lop3.b32", "%odd, 64,") && strstr(m->to, "%odd, 6")) ||
           (is_index(m, "lop3.b32", "%copy_unit, 64,") && strstr(m->to, "%copy_unit, 6"));
}

/* of method window: an item's first slot, which has its first column, lies in row 0 or 1, of index 0; the others' words are slot << 16
   at least, or negative */
static bool window_threshold(const mutation *m) {
    return is_index(m, "setp.ge.s32", "%has_vector, %index") && !strstr(m->from, "%index0,") &&
           mutation_number(m->to) >= 0 && mutation_number(m->to) <= 1 << 16;
}

/* of method window: a word without a vector is the least s32, so that every negative threshold tells it from the others */
static bool negative_threshold(const mutation *m) {
    return is_index(m, "setp.ge.s32", "%has_vector, %index") && mutation_number(m->to) < 0;
}

/* bytes of the same word */
static bool same_word(const mutation *m) {
    const char *words = strchr(m->from, ',');
    if (!words || !is_index(m, "prmt.b32", "%")) return false;
    size_t length = strcspn(words + 2, ",");
    return strncmp(words + 2, words + 4 + length, length + 1) == 0 &&
           ((mutation_number(m->from) ^ mutation_number(m->to)) & 0x3333) == 0;
}

#define FACTOR                                                                                               \
    { unread_factor, "scales and mask values of slots that are not stored are not used" }
#define CONVERSION                                                                                           \
    { mutation_of_conversion, "a global address is the same number as its generic address" }

static const equivalence equivalents[] = {
    {beyond_k, "what B's registers hold beyond k meets zeros of A"},
    {slot_threshold, "columns ascend: slot j holds -1 or a column of at least j"},
    {other_path, "the edge path takes what the wide path does not, to the same sums"},
    {group_more, "a group that the item does not have is not stored"},
    {panel_more, "a panel behind the last one has no unit inside k"},
    {unused_word, "nothing uses the fourth word of an item"},
    FACTOR,
    CONVERSION,
    {NULL, NULL},
};
/* what is no NaN: zero times it is zero */
static bool finite_beyond_k(const mutation *m) { return beyond_k(m) && mutation_is_finite(m); }

static const equivalence float_equivalents[] = {
    {finite_beyond_k, "a finite number beyond k meets zeros of A"},
    {mutation_of_tiny_start, "a sum of at most 2^-146 is lost in any other, and as a C of 16 bits"},
    {slot_threshold, "columns ascend: slot j holds -1 or a column of at least j"},
    {other_path, "the edge path takes what the wide path does not, to the same sums"},
    {group_more, "a group that the item does not have is not stored"},
    {panel_more, "a panel behind the last one has no unit inside k"},
    {unused_word, "nothing uses the fourth word of an item"},
    FACTOR,
    CONVERSION,
    {NULL, NULL},
};
static const equivalence window_equivalents[] = {
    {empty_bits, "bits that are empty"},
    {negative_threshold, "a word without a vector is the least number"},
    {window_threshold, "words of other slots than the first, and of no vector, are not 0 to 65535"},
    {same_word, "the same bytes of the same word"},
    FACTOR,
    CONVERSION,
    {NULL, NULL},
};
static const equivalence dense_equivalents[] = {FACTOR, CONVERSION, {NULL, NULL}};

/* -- Kernels and problems ----------------------------------------------------------------------------- */

/* Both paths, several panels, every k modulo 16, less than a unit; leading dimensions that stop the wide path, each alone; row
   blocks around each number of groups, empty ones, and less than a thread block of items. */
static const problem_case cases[] = {
    {PATTERN_SIXTEENS, 12, 272, 131, 16, 0, .values = MC_VALUES_FULL, .lda_gap = 16},
    {PATTERN_SIXTEENS, 12, 321, 131, 31, 0, .values = MC_VALUES_FULL, .lda_gap = 31},
    {PATTERN_SIXTEENS, 12, 669, 140, 3, 0, .values = MC_VALUES_FULL, .lda_gap = 3},
    {PATTERN_SIXTEENS, 12, 127, 131, 1, 0, .values = MC_VALUES_FULL, .lda_gap = 1},
    {PATTERN_SIXTEENS, 12, 100, 131, 28, 0, .values = MC_VALUES_FULL, .lda_gap = 4},
    {PATTERN_SIXTEENS, 12, 102, 131, 14, 0, .values = MC_VALUES_FULL, .lda_gap = 26},
    {PATTERN_SIXTEENS, 12, 65, 131, 31, 0, .values = MC_VALUES_FULL, .lda_gap = 32},
    {PATTERN_SIXTEENS, 12, 66, 131, 31, 0, .values = MC_VALUES_FULL, .lda_gap = 30},
    {PATTERN_SIXTEENS, 12, 72, 131, 24, 0, .values = MC_VALUES_FULL, .lda_gap = 10},
    {PATTERN_SIXTEENS, 12, 90, 131, 8, 0, .values = MC_VALUES_FULL, .lda_gap = 6},
    {PATTERN_SIXTEENS, 12, 76, 131, 20, 0, .values = MC_VALUES_FULL, .lda_gap = 8},
    {PATTERN_SIXTEENS, 12, 30, 131, 2, 0, .values = MC_VALUES_FULL, .lda_gap = 2},
    {PATTERN_SIXTEENS, 12, 336, 131, 16, 0, .values = MC_VALUES_FULL, .lda_gap = 16},
    {PATTERN_SIXTEENS, 12, 400, 131, 16, 0, .values = MC_VALUES_FULL, .lda_gap = 16},
    {PATTERN_SIXTEENS, 12, 464, 131, 16, 0, .values = MC_VALUES_FULL, .lda_gap = 16},
    {PATTERN_SIXTEENS, 12, 43, 131, 0, 0, .values = MC_VALUES_FULL},
    {PATTERN_SIXTEENS, 12, 55, 131, 0, 0, .values = MC_VALUES_FULL},
    {PATTERN_ONE_FULL, 5, 517, 241, 27, 0, .values = MC_VALUES_EXTREME, .lda_gap = 27},
    {PATTERN_REALISTIC, 19, 515, 300, 29, 0, .values = MC_VALUES_FULL, .lda_gap = 29},
    {PATTERN_EMPTY_BLOCKS, 9, 73, 100, 15, 0, .values = MC_VALUES_FULL, .lda_gap = 23},
    {PATTERN_ONE_COLUMN, 3, 64, 1, 0, 0, .values = MC_VALUES_FULL},
};

/* Every order of C, every kind of output, sides of 4, 8 and 16 bits. */
static const mc_setting kernels[][MUTATION_SETTINGS] = {
    {{"groups", "4"}, {"warps", "4"}, {"tile_k", "256"}, {"prefetch", "on"}},
    {{"groups", "2"},
     {"warps", "1"},
     {"tile_k", "64"},
     {"prefetch", "off"},
     {"vec", "4"},
     {"lhs", "s16"},
     {"order", "srbcrs16"},
     {"out", "f16"},
     {"scale", "row"},
     {"mask", "values"}},
    {{"groups", "1"},
     {"warps", "8"},
     {"tile_k", "128"},
     {"window", "48"},
     {"vec", "2"},
     {"lhs", "s4"},
     {"rhs", "u4"},
     {"order", "srbcrs32"},
     {"out", "bf16"},
     {"scale", "column"}},
    {{"groups", "2"},
     {"warps", "2"},
     {"tile_k", "64"},
     {"prefetch", "on"},
     {"lhs", "u16"},
     {"rhs", "s16"},
     {"out", "f32"},
     {"scale", "tensor"},
     {"mask", "values"}},
    {{"groups", "1"},
     {"warps", "4"},
     {"tile_k", "64"},
     {"vec", "4"},
     {"rhs", "u4"},
     {"order", "srbcrs16"},
     {"layout", "rows"}},
    {{"lhs_in", "shared"},
     {"prefetch_lhs", "on"},
     {"groups", "2"},
     {"warps", "2"},
     {"tile_k", "64"},
     {"out", "f32"},
     {"scale", "column"},
     {"order", "srbcrs32"}},
    {{"reads", "lines"},
     {"groups", "2"},
     {"warps", "4"},
     {"tile_k", "256"},
     {"out", "f32"},
     {"scale", "row"}},
    {{"groups", "8"}, {"warps", "1"}, {"tile_k", "128"}, {"prefetch", "on"}, {"rhs", "s4"}},
};

/* Method window: windows that the last columns do not fill, more columns than a round copies, windows without items, also ahead of
   all others. */
static const problem_case window_cases[] = {
    {PATTERN_SIXTEENS, 12, 128, 131, 0, 0, .values = MC_VALUES_FULL},
    {PATTERN_SIXTEENS, 12, 128, 140, 32, 0, .values = MC_VALUES_FULL, .lda_gap = 64},
    {PATTERN_EMPTY_BLOCKS, 9, 128, 300, 0, 0, .values = MC_VALUES_FULL},
    {PATTERN_EITHER_END, 9, 128, 212, 64, 0, .values = MC_VALUES_FULL},
    {PATTERN_EITHER_END, 1, 128, 212, 0, 0, .values = MC_VALUES_FULL},
    {PATTERN_ONE_FULL, 5, 128, 241, 0, 0, .values = MC_VALUES_EXTREME},
    {PATTERN_REALISTIC, 19, 128, 292, 0, 0, .values = MC_VALUES_FULL},
    {PATTERN_ONE_COLUMN, 3, 128, 1, 0, 0, .values = MC_VALUES_FULL},
};

static const mc_setting window_kernels[][MUTATION_SETTINGS] = {
    {{"k", "128"}, {"window", "64"}, {"groups", "4"}, {"warps", "4"}, {"prefetch", "on"}},
    {{"k", "128"},
     {"window", "20"},
     {"groups", "1"},
     {"warps", "1"},
     {"prefetch", "off"},
     {"lhs", "u16"},
     {"vec", "4"},
     {"order", "srbcrs16"},
     {"out", "f32"},
     {"scale", "column"},
     {"mask", "values"}},
    {{"k", "128"},
     {"window", "100"},
     {"groups", "2"},
     {"warps", "12"},
     {"prefetch", "on"},
     {"rhs", "u16"},
     {"tile_k", "128"},
     {"order", "srbcrs32"},
     {"out", "f16"},
     {"scale", "row"}},
    {{"k", "128"},
     {"window", "64"},
     {"groups", "2"},
     {"warps", "4"},
     {"lhs", "s4"},
     {"rhs", "s4"},
     {"vec", "2"}},
};

/* Method dense: tiles that the last rows and columns do not fill, tiles of which the mask has nothing. */
static const problem_case dense_cases[] = {
    {PATTERN_SIXTEENS, 12, 128, 131, 0, 0, .values = MC_VALUES_FULL},
    {PATTERN_SIXTEENS, 17, 128, 140, 64, 0, .values = MC_VALUES_FULL, .lda_gap = 32},
    {PATTERN_EMPTY_BLOCKS, 9, 128, 300, 0, 0, .values = MC_VALUES_FULL},
    {PATTERN_EITHER_END, 9, 128, 212, 64, 0, .values = MC_VALUES_FULL},
    {PATTERN_EITHER_END, 1, 128, 212, 0, 0, .values = MC_VALUES_FULL},
    {PATTERN_ONE_FULL, 35, 128, 241, 0, 0, .values = MC_VALUES_EXTREME},
    {PATTERN_REALISTIC, 39, 128, 292, 0, 0, .values = MC_VALUES_FULL},
    {PATTERN_ONE_COLUMN, 3, 128, 1, 0, 0, .values = MC_VALUES_FULL},
};

static const mc_setting dense_kernels[][MUTATION_SETTINGS] = {
    {{"k", "128"}, {"tile_n", "64"}, {"tile_rows", "64"}, {"warps", "4"}},
    {{"k", "128"},
     {"tile_n", "32"},
     {"tile_rows", "64"},
     {"warps", "2"},
     {"vec", "4"},
     {"order", "srbcrs16"},
     {"out", "f16"},
     {"scale", "row"}},
    {{"k", "128"},
     {"tile_n", "128"},
     {"tile_rows", "64"},
     {"warps", "8"},
     {"vec", "2"},
     {"order", "srbcrs32"},
     {"out", "f32"},
     {"scale", "column"}},
    {{"k", "128"},
     {"tile_n", "64"},
     {"tile_rows", "32"},
     {"warps", "1"},
     {"out", "bf16"},
     {"scale", "tensor"}},
};

/* Floats, in each method: orders, mask values, A in shared memory, whole lines. */
static const mc_setting float_kernels[][MUTATION_SETTINGS] = {
    {{"groups", "4"}, {"warps", "4"}, {"tile_k", "128"}, {"prefetch", "on"}, {"out", "f32"}},
    {{"groups", "2"},
     {"warps", "1"},
     {"tile_k", "64"},
     {"prefetch", "off"},
     {"vec", "4"},
     {"lhs", "bf16"},
     {"rhs", "bf16"},
     {"order", "srbcrs16"},
     {"out", "f32"},
     {"scale", "row"},
     {"mask", "values"}},
    {{"groups", "1"},
     {"warps", "8"},
     {"tile_k", "128"},
     {"vec", "2"},
     {"order", "srbcrs32"},
     {"out", "f16"},
     {"layout", "rows"}},
    {{"lhs_in", "shared"},
     {"prefetch_lhs", "on"},
     {"groups", "2"},
     {"warps", "2"},
     {"tile_k", "64"},
     {"lhs", "bf16"},
     {"rhs", "bf16"},
     {"out", "bf16"}},
    {{"reads", "lines"},
     {"groups", "2"},
     {"warps", "4"},
     {"tile_k", "256"},
     {"out", "f32"},
     {"scale", "column"}},
};

static const mc_setting float_window_kernels[][MUTATION_SETTINGS] = {
    {{"k", "128"},
     {"tile_k", "128"},
     {"window", "64"},
     {"groups", "4"},
     {"warps", "4"},
     {"prefetch", "on"},
     {"lhs", "f16"},
     {"rhs", "f16"},
     {"out", "f32"}},
    {{"k", "128"},
     {"tile_k", "128"},
     {"window", "20"},
     {"groups", "1"},
     {"warps", "1"},
     {"lhs", "bf16"},
     {"rhs", "bf16"},
     {"vec", "4"},
     {"order", "srbcrs16"},
     {"out", "f32"},
     {"scale", "column"},
     {"mask", "values"}},
    {{"k", "128"},
     {"tile_k", "128"},
     {"window", "100"},
     {"groups", "2"},
     {"warps", "12"},
     {"prefetch", "on"},
     {"lhs", "f16"},
     {"rhs", "f16"},
     {"vec", "2"},
     {"order", "srbcrs32"},
     {"out", "f16"}},
    {{"k", "128"},
     {"tile_k", "128"},
     {"window", "100"},
     {"groups", "4"},
     {"warps", "2"},
     {"interleave", "2"},
     {"prefetch", "off"},
     {"lhs", "f16"},
     {"rhs", "f16"},
     {"out", "f16"},
     {"scale", "column"}},
    {{"k", "128"},
     {"tile_k", "128"},
     {"window", "64"},
     {"groups", "4"},
     {"warps", "2"},
     {"interleave", "2"},
     {"staging", "tma"},
     {"prefetch", "off"},
     {"lhs", "f16"},
     {"rhs", "f16"},
     {"out", "f32"}},
};

static const mc_setting float_dense_kernels[][MUTATION_SETTINGS] = {
    {{"k", "128"},
     {"tile_n", "64"},
     {"tile_rows", "64"},
     {"warps", "4"},
     {"lhs", "f16"},
     {"rhs", "f16"},
     {"out", "f32"}},
    {{"k", "128"},
     {"tile_n", "32"},
     {"tile_rows", "64"},
     {"warps", "2"},
     {"lhs", "bf16"},
     {"rhs", "bf16"},
     {"vec", "4"},
     {"order", "srbcrs16"},
     {"out", "f32"},
     {"scale", "row"}},
    {{"k", "128"},
     {"tile_n", "128"},
     {"tile_rows", "64"},
     {"warps", "8"},
     {"lhs", "f16"},
     {"rhs", "f16"},
     {"vec", "2"},
     {"out", "f16"}},
};

const mutation_suite sddmm_mutations[] = {
    {"sddmm", cases, LENGTH(cases), kernels, LENGTH(kernels), equivalents, false},
    {"sddmm_window", window_cases, LENGTH(window_cases), window_kernels, LENGTH(window_kernels),
     window_equivalents, false},
    {"sddmm_dense", dense_cases, LENGTH(dense_cases), dense_kernels, LENGTH(dense_kernels), dense_equivalents,
     false},
    {"sddmm_floats", cases, LENGTH(cases), float_kernels, LENGTH(float_kernels), float_equivalents, false},
    {"sddmm_window_floats", window_cases, LENGTH(window_cases), float_window_kernels,
     LENGTH(float_window_kernels), window_equivalents, false},
    {"sddmm_dense_floats", dense_cases, LENGTH(dense_cases), float_dense_kernels, LENGTH(float_dense_kernels),
     dense_equivalents, false},
    {NULL, NULL, 0, NULL, 0, NULL, false},
};
