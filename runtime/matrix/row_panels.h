/* Row panels of a sparsity pattern, and what they say of a product on tensor cores: how often an element of B
   is used once it was read, and how full the operands of an mma are. All of it follows from the pattern.

   A row panel is so many neighbouring rows, from a multiple of that number on; the last one may have fewer.
   Its active columns are those in which a row of it has a nonzero. HRPB (Xiang et al., "cuTeSpMM", 2025,
   section 3.2) brings them together on the left, in their order, and cuts them into bricks of 16 rows and 4
   columns and into blocks of 16 columns. */
#ifndef MCRT_ROW_PANELS_H
#define MCRT_ROW_PANELS_H

#include "matrix/csr.h"

enum { ROW_PANEL_MOST_ROWS = 64 };
enum { HRPB_BRICK_ROWS = 16, HRPB_BRICK_COLS = 4, HRPB_BLOCK_COLS = 16 };

/* -- Panel by panel, as a packer takes them ------------------------------------------------------------ */

/* Its active columns, ascending, and the rows that have a nonzero there: bit r is that of row first_row + r.
   Valid until the next panel. */
typedef struct row_panel {
    int64_t first_row;
    int rows;
    int64_t nonzeros, columns;
    const int32_t *column;
    const uint64_t *row_mask;
} row_panel;

typedef struct row_panel_walk {
    const mc_csr *csr;
    int rows;
    int64_t next_row;
    struct {
        int32_t *column;
        uint64_t *row_mask;
    } side[2];                        /* lists of columns, merged from one into the other */
    int64_t end[ROW_PANEL_MOST_ROWS]; /* of the lists of the side at hand */
} row_panel_walk;

/* Walks through panels of ROWS rows, 1 to ROW_PANEL_MOST_ROWS (else MC_USAGE), of CSR, which the caller
   keeps. The caller closes it also after a failure, MC_NOMEM. */
mc_status row_panels_open(const mc_csr *csr, int rows, row_panel_walk *walk, mc_diag *diag);
/* False: there are no more. */
bool row_panels_next(row_panel_walk *walk, row_panel *panel);
void row_panels_close(row_panel_walk *walk);

/* -- All panels of a matrix ---------------------------------------------------------------------------- */

typedef struct row_panel_facts {
    int64_t panels;
    int64_t columns;      /* active ones of all panels: rows of B, where each panel reads its own */
    int64_t most_columns; /* of a panel */
    double reuse; /* nonzeros for each of these columns: 1 to the panel's rows; 0 where there are none */
} row_panel_facts;

/* Of panels of ROWS rows. */
mc_status row_panel_facts_of(const mc_csr *csr, int rows, row_panel_facts *facts, mc_diag *diag);

/* What table 1 of the paper calls the matrix by alpha: below 1/8, below 1/4, and others. */
typedef enum hrpb_synergy { HRPB_LOW, HRPB_MEDIUM, HRPB_HIGH } hrpb_synergy;

typedef struct hrpb_facts {
    int64_t panels, blocks, most_blocks; /* most_blocks: of a panel */
    int64_t bricks, brick_columns;       /* bricks with a nonzero; columns of bricks that have one */
    double alpha;                        /* nonzeros of a brick, of its 64 places */
    double beta;      /* bricks of a column of bricks that has any (section 4, at equation 5) */
    double intensity; /* OI of shared memory: hrpb_intensity of these two */
    hrpb_synergy synergy;
} hrpb_facts;

/* Of panels of TILE_ROWS rows (TM), a multiple of 16, and at most ROW_PANEL_MOST_ROWS; with 16, as the
   paper's kernel has them, beta is 1. Ratios of a matrix without nonzeros are 0. */
mc_status hrpb_facts_of(const mc_csr *csr, int tile_rows, hrpb_facts *facts, mc_diag *diag);

/* Operations for each transaction of shared memory, with TN = 32: 2 N nnz over the sum of equation 3 for A
   and equation 5 for B. It is 512 alpha where beta is 1 (equation 4). */
double hrpb_intensity(double alpha, double beta);

/* Into how many parts a panel of so many blocks is split (equations 6 and 7): its blocks over MEAN_BLOCKS,
   the mean of all panels, over the waves of thread blocks that a launch takes, rounded up; at least 1, and
   none without a block of its own. */
int64_t hrpb_parts(int64_t blocks, double mean_blocks, double waves);

#endif
