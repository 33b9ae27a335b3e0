#include "pattern.h"
#include <stdlib.h>

static const int around_strides[] = {0, 1, 31, 32, 33, 63, 64, 65, 129};
static const int around_sixteens[] = {0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 129};

/* COUNT vectors: the last columns, so that the dense operand is read up to its end, and column 0. */
static bool boundary_column(int count, int columns, int col) {
    if (count > 1 && col == 0) return true;
    return col >= columns - (count > 1 ? count - 1 : count);
}

/* Whether row block ROW has column COL: spread by a fixed multiplicative hash. */
static bool has_column(pattern law, int row_blocks, int columns, int row, int col) {
    unsigned hash = ((unsigned)row * 40503u + (unsigned)col * 2654435761u) >> 16 & 0xffff;
    switch (law) {
    case PATTERN_EMPTY_BLOCKS: return row % 3 != 1 && hash % 100 < 30;
    case PATTERN_ONE_FULL: return row == row_blocks / 2;
    case PATTERN_BOUNDARIES: return boundary_column(around_strides[row % 9], columns, col);
    case PATTERN_SIXTEENS: return boundary_column(around_sixteens[row % 12], columns, col);
    case PATTERN_ONE_COLUMN: return row % 2 == 0;
    case PATTERN_FIRST_COLUMNS: return col < 3;
    case PATTERN_EITHER_END: return row % 2 ? col < 40 : col >= columns - 3;
    default: return false;
    }
}

mc_status pattern_make(pattern law, int row_blocks, int columns, mc_csr *csr, mc_diag *diag) {
    if (law == PATTERN_REALISTIC) {
        mc_pattern realistic = {row_blocks, columns, 0.8, MC_PATTERN_REALISTIC, 0.3, 11};
        return mc_csr_generate(&realistic, csr, diag);
    }
    *csr = (mc_csr){.rows = row_blocks, .cols = columns};
    csr->row_ptr = calloc((size_t)row_blocks + 1, sizeof *csr->row_ptr);
    csr->col_idx = malloc((size_t)row_blocks * (size_t)columns * sizeof *csr->col_idx + 1);
    if (!csr->row_ptr || !csr->col_idx) return mc_fail(diag, MC_NOMEM, "out of memory");
    for (int row = 0; row < row_blocks; row++) {
        for (int col = 0; col < columns; col++)
            if (has_column(law, row_blocks, columns, row, col)) csr->col_idx[csr->nnz++] = col;
        csr->row_ptr[row + 1] = csr->nnz;
    }
    return MC_OK;
}
