#include <stdlib.h>
#include <string.h>
#include "mutations.h"

/* -- Provably equivalent ------------------------------------------------------------------------------ */

long mutation_number(const char *line) {
    const char *at = strrchr(line, ' ');
    return at ? strtol(at, NULL, 0) : 0;
}

bool mutation_of_conversion(const mutation *m) {
    return strstr(m->from, "cvta.to.global") && strcmp(strrchr(m->from, ' '), strrchr(m->to, ' ')) == 0;
}

static bool is_named(const char *reg, size_t length, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const char *at = strstr(reg, names[i]);
        if (at && at + strlen(names[i]) <= reg + length) return true;
    }
    return false;
}

bool mutation_of_zeros(const mutation *m, const char *const *names, size_t count) {
    bool one = strstr(m->from, "mov.b32") && strstr(m->from, ", 0;"),
         four = strstr(m->from, "mov.v4.b32") && strstr(m->from, "{0, 0, 0, 0};");
    if (m->kind != MUTATE_INDEX || (!one && !four)) return false;
    for (const char *reg = strchr(m->from, '%'); reg; reg = strchr(reg + 1, '%'))
        if (!is_named(reg, strcspn(reg, ",}"), names, count)) return false;
    return true;
}

/* bytes of B in a padding slot meet a value of zero */
static bool initial_row(const mutation *m) {
    static const char *const names[] = {"row"};
    return mutation_of_zeros(m, names, 1);
}

bool mutation_is_finite(const mutation *m) { return m->kind == MUTATE_INDEX && !strstr(m->to, "-1"); }

bool mutation_of_tiny_start(const mutation *m) {
    static const char *const names[] = {"acc"};
    return mutation_of_zeros(m, names, 1) && mutation_is_finite(m) && !strstr(m->entry, "f32_");
}

static bool finite_row(const mutation *m) { return initial_row(m) && mutation_is_finite(m); }

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
    return initial_row(m) && label && strncmp(label + strcspn(label, "S\n"), "STRIDES:", 8) == 0;
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

/* a full tile takes the edge path, to the same sums */
static bool sooner_edge(const mutation *m) {
    return m->kind == MUTATE_INDEX && strstr(m->from, "add.s32") && strstr(m->from, "%odd_bits, %tile_col") &&
           mutation_number(m->to) > mutation_number(m->from);
}

/* the next tile's columns are computed twice, with the same sums */
static bool longer_edge(const mutation *m) {
    return m->kind == MUTATE_INDEX && strstr(m->from, "part_end") && strstr(m->from, "add") &&
           mutation_number(m->to) > mutation_number(m->from);
}

/* accumulators become full only in longer rows than these (exact_test.c) */
static bool other_round(const mutation *m) { return m->kind == MUTATE_INDEX && strstr(m->from, "done,"); }

/* In the ring kernel: what would be loaded, if there were a stride or a row block, is not used. */
static bool unread(const mutation *m) {
    static const char *const names[] = {"value", "step", "%place", "next_place", "c_row_block", "%high"};
    if (mutation_of_zeros(m, names, sizeof names / sizeof *names)) return true;
    if (m->kind != MUTATE_INDEX || !strstr(m->from, "mov.b32") || !strstr(m->from, ", 0;")) return false;
    return (strstr(m->from, "%stride,") || strstr(m->from, "%next_first,")) &&
           mutation_number(m->to) > 0; /* row_last is 0 */
}

/* windows behind B's last row are zeros, which nothing reads */
static bool more_windows(const mutation *m) {
    return m->kind == MUTATE_INDEX && strstr(m->from, "%windows, %windows, 63") &&
           mutation_number(m->to) > 63;
}

/* the copying warp uses no other 64-bit register than the map's address */
static bool unused_state(const mutation *m) {
    return m->kind == MUTATE_OPERAND && strstr(m->from, "mbarrier.arrive.expect_tx") &&
           !strstr(m->to, "%state") && !strstr(m->to, "%copy_map");
}

static const equivalence gather_equivalents[] = {
    {initial_row, "bytes of B in a padding slot meet a value of zero"},
    {slot_threshold, "columns ascend: slot j holds -1 or a column of at least j"},
    {sooner_edge, "a full tile takes the edge path, to the same sums"},
    {longer_edge, "the next tile's columns are computed twice, with the same sums"},
    {mutation_of_conversion, "a global address is the same number as its generic address"},
    {NULL, NULL},
};
static const equivalence float_equivalents[] = {
    {finite_row, "a finite number of B in a padding slot meets a value of zero"},
    {row_before_loop, "each stride loads all rows, or clears them"},
    {mutation_of_tiny_start, "a sum of at most 2^-146 is lost in any other, and as a C of 16 bits"},
    {empty_columns, "lanes of the mma's empty columns have no values"},
    {first_of_four, "the first of four lanes alone has rows"},
    {float_slot_threshold, "columns ascend: slot j holds -1 or a column of at least j"},
    {sooner_edge, "a full tile takes the edge path, to the same sums"},
    {longer_edge, "the next tile's columns are computed twice, with the same sums"},
    {mutation_of_conversion, "a global address is the same number as its generic address"},
    {NULL, NULL},
};
static const equivalence exact_equivalents[] = {
    {initial_row, "bytes of B in a padding slot meet a value of zero"},
    {slot_threshold, "columns ascend: slot j holds -1 or a column of at least j"},
    {sooner_edge, "a full tile takes the edge path, to the same sums"},
    {longer_edge, "the next tile's columns are computed twice, with the same sums"},
    {wider_segment, "the first of four lanes reads the second one by either mask"},
    {other_round, "a round of another length gives the same totals, until accumulators are full"},
    {mutation_of_conversion, "a global address is the same number as its generic address"},
    {NULL, NULL},
};
static const equivalence ring_equivalents[] = {
    {unread, "what there is no stride or row block for is not used"},
    {more_windows, "windows behind B's last row are zeros, which nothing reads"},
    {unused_state, "the copying warp uses no other 64-bit register than the map's address"},
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

/* Round the ring and more, and B as a whole in it, in turns; tails of n in each 16 columns; windows that no row block reads, an
   odd and an even number of them. */
static const problem_case ring_cases[] = {
    {PATTERN_REALISTIC, 20, 700, 129, 15, 0, .values = MC_VALUES_FULL},
    {PATTERN_EMPTY_BLOCKS, 20, 900, 128, 0, 0, .values = MC_VALUES_FULL},
    {PATTERN_FIRST_COLUMNS, 9, 700, 128, 16, 1, .values = MC_VALUES_FULL},
    {PATTERN_BOUNDARIES, 9, 700, 46, 2, 0, .values = MC_VALUES_FULL},
    {PATTERN_REALISTIC, 50, 180, 130, 14, 2, .values = MC_VALUES_FULL},
    {PATTERN_EMPTY_BLOCKS, 50, 192, 128, 0, 0, .values = MC_VALUES_FULL},
    {PATTERN_REALISTIC, 9, 180, 24, 8, 0, .values = MC_VALUES_FULL},
    {PATTERN_REALISTIC, 9, 180, 57, 7, 2, .values = MC_VALUES_FULL},
    {PATTERN_REALISTIC, 9, 180, 90, 6, 0, .values = MC_VALUES_FULL},
    {PATTERN_REALISTIC, 9, 180, 105, 7, 0, .values = MC_VALUES_FULL},
    {PATTERN_REALISTIC, 9, 180, 72, 8, 0, .values = MC_VALUES_FULL},
    {PATTERN_ALL_EMPTY, 3, 40, 64, 0, 0, .values = MC_VALUES_FULL},
    {PATTERN_ALL_EMPTY, 3, 300, 64, 0, 0, .values = MC_VALUES_FULL},
    {PATTERN_ALL_EMPTY, 3, 640, 64, 0, 0, .values = MC_VALUES_FULL},
    {PATTERN_ONE_COLUMN, 3, 1, 1, 15, 0, .values = MC_VALUES_FULL},
    {PATTERN_ONE_FULL, 5, 300, 47, 1, 0, .values = MC_VALUES_EXTREME},
};

static const mc_setting ring_kernels[][MUTATION_SETTINGS] = {
    {{"tile_n", "128"},
     {"warps", "4"},
     {"split", "1"},
     {"window", "64"},
     {"stages", "3"},
     {"resident", "on"}},
    {{"tile_n", "128"},
     {"warps", "8"},
     {"split", "4"},
     {"window", "64"},
     {"stages", "3"},
     {"resident", "on"}},
    {{"tile_n", "64"},
     {"warps", "3"},
     {"split", "1"},
     {"window", "64"},
     {"stages", "2"},
     {"resident", "off"},
     {"out", "s32"},
     {"scale", "none"}},
    {{"tile_n", "32"},
     {"warps", "8"},
     {"split", "1"},
     {"window", "64"},
     {"stages", "4"},
     {"resident", "on"},
     {"out", "f32"},
     {"scale", "column"},
     {"bias", "row"},
     {"act", "relu"}},
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

static const mc_setting float_ring_kernels[][MUTATION_SETTINGS] = {
    {{"tile_n", "64"}, {"warps", "4"}, {"split", "1"}, {"window", "64"}, {"stages", "3"}, {"out", "f32"}},
    {{"tile_n", "64"},
     {"warps", "8"},
     {"split", "4"},
     {"window", "64"},
     {"stages", "3"},
     {"lhs", "bf16"},
     {"rhs", "bf16"},
     {"vec", "4"},
     {"out", "f32"}},
    {{"tile_n", "32"},
     {"warps", "4"},
     {"split", "1"},
     {"window", "64"},
     {"stages", "2"},
     {"resident", "off"},
     {"vec", "16"},
     {"out", "f32"},
     {"scale", "row"}},
    {{"tile_n", "64"},
     {"warps", "4"},
     {"split", "2"},
     {"window", "64"},
     {"stages", "3"},
     {"vec", "2"},
     {"out", "f16"}},
};

static const mc_setting mixed_ring_kernels[][MUTATION_SETTINGS] = {
    {{"tile_n", "32"}, {"warps", "4"}, {"split", "1"}, {"window", "64"}, {"stages", "3"}, {"out", "f32"}},
    {{"tile_n", "32"},
     {"warps", "4"},
     {"split", "2"},
     {"window", "64"},
     {"stages", "2"},
     {"resident", "off"},
     {"lhs", "u8"},
     {"rhs", "bf16"},
     {"vec", "16"},
     {"out", "f32"}},
};

#define LENGTH(a) (int)(sizeof(a) / sizeof *(a))

const mutation_suite spmm_mutations[] = {
    {"gather", gather_cases, LENGTH(gather_cases), gather_kernels, LENGTH(gather_kernels), gather_equivalents,
     false},
    {"types", gather_cases, LENGTH(gather_cases), type_kernels, LENGTH(type_kernels), gather_equivalents,
     false},
    {"shared", gather_cases, LENGTH(gather_cases), shared_kernels, LENGTH(shared_kernels), gather_equivalents,
     false},
    {"exact", gather_cases, LENGTH(gather_cases), exact_kernels, LENGTH(exact_kernels), exact_equivalents,
     true},
    {"ring", ring_cases, LENGTH(ring_cases), ring_kernels, LENGTH(ring_kernels), ring_equivalents, false},
    {"floats", float_cases, LENGTH(float_cases), float_kernels, LENGTH(float_kernels), float_equivalents,
     false},
    {"mixed", float_cases, LENGTH(float_cases), mixed_kernels, LENGTH(mixed_kernels), float_equivalents,
     false},
    {"float_ring", ring_cases, LENGTH(ring_cases), float_ring_kernels, LENGTH(float_ring_kernels),
     ring_equivalents, false},
    {"mixed_ring", ring_cases, LENGTH(ring_cases), mixed_ring_kernels, LENGTH(mixed_ring_kernels),
     ring_equivalents, false},
    {NULL, NULL, 0, NULL, 0, NULL, false},
};
