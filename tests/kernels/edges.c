#include "edges.h"

static const struct {
    pattern pattern;
    int row_blocks, k;
    mc_value_law values;
} patterns[EDGE_PATTERNS] = {
    {PATTERN_EMPTY_BLOCKS, 9, 100, MC_VALUES_FULL}, {PATTERN_ALL_EMPTY, 3, 70, MC_VALUES_FULL},
    {PATTERN_ONE_FULL, 5, 200, MC_VALUES_EXTREME},  {PATTERN_BOUNDARIES, 9, 131, MC_VALUES_FULL},
    {PATTERN_ONE_COLUMN, 2, 1, MC_VALUES_EXTREME},
};
static const int columns[EDGE_COLUMNS] = {1, 7, 16, 100, 128, 129, 136, 256};

/* Of B and of C; TO_NEXT: up to the next multiple. */
enum { TO_NEXT = -1, C_MULTIPLE = 16 };
static const int gaps[EDGE_GAPS][2] = {{0, 0}, {3, 1}, {TO_NEXT, TO_NEXT}};
/* The last: rows of C aligned to half of a 16-byte store of 16-bit elements. */
static const int output_gaps[EDGE_GAPS][2] = {{0, 0}, {3, 1}, {TO_NEXT, 4}};

static int gap_of(int gap, int n, int multiple) { return gap == TO_NEXT ? multiple - n % multiple : gap; }

problem_case edge_case(const problem_kind *kind, int mask, int column, int gap, bool with_outputs) {
    const int *of = with_outputs ? output_gaps[gap] : gaps[gap], n = columns[column];
    int b_multiple = mc_type_bits(kind->rhs) < 8 ? 32 : 16; /* at least 16 bytes */
    return (problem_case){.pattern = patterns[mask].pattern,
                          .row_blocks = patterns[mask].row_blocks,
                          .k = patterns[mask].k,
                          .n = n,
                          .ldb_gap = gap_of(of[0], n, b_multiple),
                          .ldc_gap = gap_of(of[1], n, C_MULTIPLE),
                          .values = patterns[mask].values};
}

void edge_unalign(problem_case *c, const problem_kind *kind, int gap, int unit, bool of_16_bit) {
    /* The second where copies take words at least. */
    static const unsigned b_offsets[EDGE_GAPS] = {1, 4, 0}, b_offsets_of_words[EDGE_GAPS] = {4, 1, 8},
                          c_offsets[EDGE_GAPS] = {0, 4, 8}, c_offsets_16_bit[EDGE_GAPS] = {0, 2, 8};
    unsigned least = mc_type_bits(kind->rhs) > 8 ? 2 : 0;
    c->b_offset = (unit > 1 ? b_offsets_of_words : b_offsets)[gap];
    if (c->b_offset > 0 && c->b_offset < least) c->b_offset = least;
    c->c_offset = (of_16_bit ? c_offsets_16_bit : c_offsets)[gap];
}

/* A Latin square: each pair of values of two of the fields stands in one of the nine. */
void output_settings(int output, mc_setting settings[OUTPUT_FIELDS]) {
    static const char *const outs[] = {"f16", "bf16", "f32"}, *const scales[] = {"tensor", "row", "column"},
                             *const biases[] = {"none", "row", "column"};
    settings[0] = (mc_setting){"out", outs[output % 3]};
    settings[1] = (mc_setting){"scale", scales[output / 3]};
    settings[2] = (mc_setting){"bias", biases[(output % 3 + output / 3) % 3]};
}

bool output_is_16_bit(int output) { return output % 3 < 2; }
