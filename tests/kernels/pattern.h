/* Where the sparse matrices of the kernel tests have their nonzero vectors. */
#ifndef TESTS_PATTERN_H
#define TESTS_PATTERN_H

#include "mcrt_internal.h"

typedef enum pattern {
    PATTERN_EMPTY_BLOCKS, /* every third row block is empty, the others hold 30 % */
    PATTERN_ALL_EMPTY,
    PATTERN_ONE_FULL, /* one row block holds every column, the others none */
    PATTERN_BOUNDARIES, /* row blocks with 0, 1, 31, 32, 33, 63, 64, 65 and 129 vectors in turn: strides of 32 */
    PATTERN_SIXTEENS,      /* with 0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65 and 129: the rows of an mma */
    PATTERN_ONE_COLUMN,    /* every column, in every second row block */
    PATTERN_FIRST_COLUMNS, /* the first three, in every row block */
    PATTERN_EITHER_END,    /* the first forty in every second row block, the last three in the others */
    PATTERN_REALISTIC,     /* row lengths as in a pruned layer, 80 % sparse */
} pattern;

/* One row of CSR for each row block. */
mc_status pattern_make(pattern law, int row_blocks, int columns, mc_csr *csr, mc_diag *diag);

#endif
