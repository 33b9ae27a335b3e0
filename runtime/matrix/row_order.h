/* Orders of a matrix's rows in which those that follow each other share more columns, or have lengths more
   alike, than in the order that they come in. */
#ifndef MCRT_ROW_ORDER_H
#define MCRT_ROW_ORDER_H

#include "matrix/csr.h"

/* In the order of the words of the field `reorder`. */
typedef enum row_order {
    ROWS_AS_THEY_COME,
    ROWS_BY_DEGREE, /* longest first; of rows as long as each other the first one comes first */
    /* Panel by panel: it begins with the longest row that is left, and then takes whichever row shares most
       columns with those that it has. ROWS_AS_THEY_COME where panels have no fewer columns that way. */
    ROWS_SIMILAR,
} row_order;

enum {
    /* Rows of a column through which similar rows are looked for: one with more says little, and takes
       long. */
    ROW_ORDER_MOST_SHARED = 64
};

/* Sets ROW_OF [csr->rows], the caller's, to the row that comes first, second and so on, for panels of
   PANEL_ROWS. The same rows get the same order on every machine. MC_NOMEM. */
mc_status row_order_of(const mc_csr *csr, row_order order, int panel_rows, int32_t *row_of, mc_diag *diag);

/* Columns of all panels in the order ROW_OF; -1 where memory is short. */
int64_t row_order_columns(const mc_csr *csr, const int32_t *row_of, int panel_rows);

#endif
