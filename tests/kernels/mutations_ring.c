/* The ring kernel of the SpMM, of integers, of floats, and of integers by floats. */
#include <stdlib.h>
#include <string.h>
#include "mutations.h"

/* In the ring kernel: what would be loaded, if there were a stride or a row block, is not used. */
static bool unread(const mutation *m) {
    static const char *const names[] = {"value", "step", "%place",    "next_place", "c_row_block",
                                        "%high", "%low", "row_scale", "row_bias"};
    if (mutation_of_zeros(m, names, sizeof names / sizeof *names)) return true;
    if (m->kind != MUTATE_INDEX || !strstr(m->from, "mov.b32") || !strstr(m->from, ", 0;")) return false;
    return (strstr(m->from, "%stride,") || strstr(m->from, "%next_first,")) &&
           mutation_number(m->to) > 0; /* row_last is 0 */
}

/* there are no strides up to a last one below the first, 0 */
static bool none_up_to(const mutation *m) {
    bool last = strstr(m->from, "%next_last, 0;") || strstr(m->from, "%row_last, 0;");
    return m->kind == MUTATE_INDEX && last && mutation_number(m->to) < 0;
}

/* a tile that is whole goes by the edge path, to the same sums */
static bool sooner_edge(const mutation *m) {
    long from = mutation_number(m->from), to = mutation_number(m->to);
    bool pitch = m->kind == MUTATE_INDEX && strstr(m->from, "and.b32") && strstr(m->from, "%test, %ldc, ");
    return (pitch && to >= 0 && (to & from) == from) || mutation_adds_more(m, "%test, %tile_col, ") ||
           mutation_adds_more(m, "%test, %column, ");
}

/* Whether LINE's first register is %bits. */
static bool sets_bits(const char *line) {
    const char *first = strchr(line, '%');
    return first && strncmp(first, "%bits, ", strlen("%bits, ")) == 0;
}

/* what is awaited is added to an address by none of its bits */
static bool other_awaited(const mutation *m) {
    bool gathers = strstr(m->from, "mov.b32") || strstr(m->from, "or.b32");
    return m->kind == MUTATE_OPERAND && gathers && sets_bits(m->from) && sets_bits(m->to);
}

/* the map's address is loaded before it is used */
static bool other_map(const mutation *m) {
    return m->kind == MUTATE_INDEX && strstr(m->from, "%copy_map, 0;");
}

/* A's values are 0 where the row of zeros is read, and B's may be any finite ones: integers are, and floats next to 0 */
static bool other_zeros(const mutation *m) {
    static const char *const names[] = {"%zero"};
    return mutation_of_zeros(m, names, 1) && mutation_is_finite(m);
}

/* windows behind B's last row are zeros, which nothing reads */
static bool more_windows(const mutation *m) {
    return m->kind == MUTATE_INDEX &&
           (strstr(m->from, "%windows, %windows, 63") || strstr(m->from, "%windows, %k, 63")) &&
           mutation_number(m->to) > 63;
}

/* the copying warp uses no other 64-bit register than the map's address */
static bool unused_state(const mutation *m) {
    return m->kind == MUTATE_OPERAND && strstr(m->from, "mbarrier.arrive.expect_tx") &&
           !strstr(m->to, "%state") && !strstr(m->to, "%copy_map");
}

/* a 0 that no compiler knows is read from a row of zeros, 128 bytes */
static bool other_zero(const mutation *m) {
    if (m->kind != MUTATE_INDEX || !strstr(m->from, "%no_bits")) return false;
    const char *from = strchr(m->from, '+'), *to = strchr(m->to, '+');
    if (!from || !to) return false;
    long further = strtol(to, NULL, 0) - strtol(from, NULL, 0);
    return further >= 0 && further < 128 && further % 4 == 0;
}

/* a thread block's number is never negative: halves without slots are read, too, and are all padding */
static bool empty_half(const mutation *m) {
    return strstr(m->from, "setp.ge.s32") && strstr(m->from, "%whole, %step, 0") &&
           strstr(m->to, "%whole, %block, 0");
}

/* a queue's wait for more groups than it must wait for */
static bool longer_wait(const mutation *m) {
    return strstr(m->from, "cp.async.wait_group") && mutation_number(m->to) >= 0 &&
           mutation_number(m->to) < mutation_number(m->from);
}

static const equivalence ring_equivalents[] = {
    {longer_wait, "what arrived later than it must is there as well"},
    {unread, "what there is no stride or row block for is not used"},
    {more_windows, "windows behind B's last row are zeros, which nothing reads"},
    {none_up_to, "there are no strides up to a last one below the first"},
    {sooner_edge, "a whole tile goes by the edge path, to the same sums"},
    {other_awaited, "none of the bits of what is awaited is added"},
    {other_map, "the map's address is loaded before it is used"},
    {other_zeros, "the row of zeros is multiplied by zeros"},
    {unused_state, "the copying warp uses no other 64-bit register than the map's address"},
    {other_zero, "the row of zeros has no other words"},
    {empty_half, "a half of padding may be read, too"},
    {mutation_of_conversion, "a global address is the same number as its generic address"},
    {NULL, NULL},
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
    {PATTERN_ONE_FULL, 2, 2500, 32, 0, 0, .values = MC_VALUES_FULL},
    {PATTERN_ONE_COLUMN, 3, 2010, 32, 0, 0, .values = MC_VALUES_FULL},
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
    {{"tile_n", "64"},
     {"warps", "4"},
     {"split", "1"},
     {"window", "64"},
     {"stages", "3"},
     {"resident", "off"},
     {"depth", "4"}},
    {{"tile_n", "64"},
     {"warps", "4"},
     {"split", "1"},
     {"window", "64"},
     {"stages", "3"},
     {"resident", "off"},
     {"sparse_mma", "on"},
     {"vec", "16"}},
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

const mutation_suite ring_mutations[] = {
    {"ring", ring_cases, LENGTH(ring_cases), ring_kernels, LENGTH(ring_kernels), ring_equivalents, false},
    {"float_ring", ring_cases, LENGTH(ring_cases), float_ring_kernels, LENGTH(float_ring_kernels),
     ring_equivalents, false},
    {"mixed_ring", ring_cases, LENGTH(ring_cases), mixed_ring_kernels, LENGTH(mixed_ring_kernels),
     ring_equivalents, false},
    {NULL, NULL, 0, NULL, 0, NULL, false},
};
