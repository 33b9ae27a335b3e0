#include "edges.h"

/* The second extent is the sparse matrix's columns: SpMM's k, SDDMM's n. */
typedef struct edge_pattern {
    pattern pattern;
    int row_blocks, columns;
    mc_value_law values;
} edge_pattern;

static const edge_pattern spmm_patterns[] = {
    {PATTERN_EMPTY_BLOCKS, 9, 100, MC_VALUES_FULL}, {PATTERN_ALL_EMPTY, 3, 70, MC_VALUES_FULL},
    {PATTERN_ONE_FULL, 5, 200, MC_VALUES_EXTREME},  {PATTERN_BOUNDARIES, 9, 131, MC_VALUES_FULL},
    {PATTERN_ONE_COLUMN, 2, 1, MC_VALUES_EXTREME},
};
static const edge_pattern sddmm_patterns[] = {
    {PATTERN_EMPTY_BLOCKS, 9, 100, MC_VALUES_FULL}, {PATTERN_ALL_EMPTY, 3, 70, MC_VALUES_FULL},
    {PATTERN_ONE_FULL, 5, 200, MC_VALUES_EXTREME},  {PATTERN_SIXTEENS, 12, 131, MC_VALUES_FULL},
    {PATTERN_ONE_COLUMN, 3, 1, MC_VALUES_EXTREME},
};
static const int spmm_lengths[] = {1, 7, 16, 100, 128, 129, 136, 256};
/* Around the k of an mma of 4 or 8 bits, and around what a tile of it may be. */
static const int sddmm_lengths[] = {1, 7, 16, 31, 32, 33, 63, 64, 65, 100, 128, 129, 136, 255, 256, 257, 523};

#define LENGTH(a) (int)(sizeof(a) / sizeof *(a))
_Static_assert(LENGTH(spmm_patterns) == EDGE_PATTERNS && LENGTH(spmm_lengths) == EDGE_COLUMNS,
               "as edges.h says");

const edge_table edge_tables[OPERATORS] = {
    {EDGE_PATTERNS, EDGE_COLUMNS, OUTPUTS},
    {LENGTH(sddmm_patterns), LENGTH(sddmm_lengths), 18},
};

/* -- Cases -------------------------------------------------------------------------------------------- */

/* Of two operands: SpMM's B and C, SDDMM's A and B. TO_NEXT: up to the next multiple. */
enum { TO_NEXT = -1, C_MULTIPLE = 16 };
static const int gaps[EDGE_GAPS][2] = {{0, 0}, {3, 1}, {TO_NEXT, TO_NEXT}};
/* The last: rows of C aligned to half of a 16-byte store of 16-bit elements. */
static const int output_gaps[EDGE_GAPS][2] = {{0, 0}, {3, 1}, {TO_NEXT, 4}};

static int gap_of(int gap, int length, int multiple) {
    return gap == TO_NEXT ? multiple - length % multiple : gap;
}

/* Elements in at least 16 bytes. */
static int multiple_of(mc_type type) { return mc_type_bits(type) < 8 ? 32 : 16; }

static problem_case spmm_case(const problem_kind *kind, const edge_pattern *of, int n, const int gap[2]) {
    return (problem_case){.pattern = of->pattern,
                          .row_blocks = of->row_blocks,
                          .k = of->columns,
                          .n = n,
                          .ldb_gap = gap_of(gap[0], n, multiple_of(kind->rhs)),
                          .ldc_gap = gap_of(gap[1], n, C_MULTIPLE),
                          .values = of->values};
}

static problem_case sddmm_case(const problem_kind *kind, const edge_pattern *of, int k, const int gap[2]) {
    int row = kind->layout == MC_LAYOUT_COLUMNS ? k : of->columns;
    return (problem_case){.pattern = of->pattern,
                          .row_blocks = of->row_blocks,
                          .k = k,
                          .n = of->columns,
                          .lda_gap = gap_of(gap[0], k, multiple_of(kind->lhs)),
                          .ldb_gap = gap_of(gap[1], row, multiple_of(kind->rhs)),
                          .values = of->values};
}

problem_case edge_case(const problem_kind *kind, int mask, int length, int gap, bool with_outputs) {
    if (kind->op == OPERATOR_SDDMM)
        return sddmm_case(kind, &sddmm_patterns[mask], sddmm_lengths[length], gaps[gap]);
    return spmm_case(kind, &spmm_patterns[mask], spmm_lengths[length],
                     with_outputs ? output_gaps[gap] : gaps[gap]);
}

/* Elements of several bytes lie at multiples of these. */
static unsigned at_least(mc_type type, unsigned offset) {
    unsigned bytes = (unsigned)mc_type_bytes(type), least = bytes > 1 ? bytes : 0;
    return offset > 0 && offset < least ? least : offset;
}

void edge_unalign(problem_case *c, const problem_kind *kind, int gap, int unit, int64_t c_bytes) {
    /* The second where copies take words at least. */
    static const unsigned b_offsets[EDGE_GAPS] = {1, 4, 0}, b_offsets_of_words[EDGE_GAPS] = {4, 1, 8},
                          c_offsets[][EDGE_GAPS] = {{0, 4, 8}, {1, 2, 8}, {0, 2, 8}},
                          a_offsets[EDGE_GAPS] = {0, 8, 1}; /* A or B alone, where rows are aligned */
    c->b_offset = at_least(kind->rhs, (unit > 1 ? b_offsets_of_words : b_offsets)[gap]);
    c->c_offset = c_offsets[unit == 1 && c_bytes <= 2 ? c_bytes : 0][gap];
    if (kind->op == OPERATOR_SDDMM) c->a_offset = at_least(kind->lhs, a_offsets[gap]);
    if (kind->residual == MC_RESIDUAL_NONE) return;
    unsigned element = (unsigned)mc_type_bytes((mc_type)kind->residual);
    c->residual_offset = unit > 1 ? 4 : element;
    if (c->pattern == PATTERN_BOUNDARIES) c->b_offset = c->c_offset = 0; /* the residual alone */
}

/* -- Outputs ------------------------------------------------------------------------------------------ */

/* SpMM's are a Latin square: each pair of values of two of the fields stands in one of the nine. Three of them have an activation, where
   an orthogonal square says so: with each out, scale and bias once. SDDMM's are all there are. */
size_t output_settings(problem_operator op, int output, mc_setting settings[OUTPUT_FIELDS]) {
    static const char *const outs[] = {"f16", "bf16", "f32"}, *const scales[] = {"tensor", "row", "column"},
                             *const biases[] = {"none", "row", "column"},
                             *const acts[] = {"relu", "none", "none"}, *const masks[] = {"pattern", "values"};
    int row = output / 3 % 3, column = output % 3;
    settings[0] = (mc_setting){"out", outs[column]};
    settings[1] = (mc_setting){"scale", scales[row]};
    if (op == OPERATOR_SDDMM) {
        settings[2] = (mc_setting){"mask", masks[output / 9]};
        return 3;
    }
    settings[2] = (mc_setting){"bias", biases[(column + row) % 3]};
    settings[3] = (mc_setting){"act", acts[(column + 2 * row) % 3]};
    return 4;
}

bool output_is_16_bit(int output) { return output % 3 < 2; }

int edge_output(problem_operator op, int mask, int length, int gap) {
    int place = op == OPERATOR_SDDMM ? 3 * mask + gap + length : 2 * mask + length + 3 * gap;
    return place % edge_tables[op].outputs;
}
