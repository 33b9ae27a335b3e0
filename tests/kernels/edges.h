/* The edge table of each operator, and the outputs that it is run with. */
#ifndef TESTS_EDGES_H
#define TESTS_EDGES_H

#include "problem.h"

/* Of SpMM, and what all operators have. */
enum { EDGE_PATTERNS = 5, EDGE_COLUMNS = 8, EDGE_GAPS = 3, OUTPUT_FIELDS = 4, OUTPUTS = 9 };

/* How many there are of each. */
typedef struct edge_table {
    int patterns; /* of nonzeros, each with its values and the matrix's shape */
    int lengths;  /* of the dense dimension that patterns leave open: SpMM's n, SDDMM's k */
    int outputs;  /* that are not s32 */
} edge_table;
extern const edge_table edge_tables[OPERATORS];

/* Gap 0 is tight, 1 breaks every alignment, 2 goes to the next multiple of 16 bytes or beyond; OF_16_BIT: where elements of C
   have 16 bits, that one has its rows aligned to half of a 16-byte store. Operands at aligned addresses. */
problem_case edge_case(const problem_kind *kind, int mask, int length, int gap, bool with_outputs);
/* Moves operands and C, of C_BYTES an element, off their alignment, as far as the elements allow. */
void edge_unalign(problem_case *c, const problem_kind *kind, int gap, int unit, int64_t c_bytes);

/* One of the outputs that are not s32, as settings; how many these are. */
size_t output_settings(problem_operator op, int output, mc_setting settings[OUTPUT_FIELDS]);
bool output_is_16_bit(int output);
/* The output for a place of the table: every length meets nearly all of them. */
int edge_output(problem_operator op, int mask, int length, int gap);

#endif
