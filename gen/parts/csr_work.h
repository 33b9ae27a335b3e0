/* What kernels that deal out rows of CSR (gen/ops/pack_csr) leave for one another, and for who launches
   them. */
#ifndef MC_CSR_WORK_H
#define MC_CSR_WORK_H

#include "parts/csr_lanes.h"
#include "parts/panels_work.h"

/* Items are counted by classes: those of long rows by the classes of panels, then those of short rows. Counts
   are [CSR_CLASSES][blocks], of blocks of CSR_DEAL_ROWS rows. */
enum { CSR_SHORT = PANEL_CLASSES, CSR_CLASSES };

/* Totals: the sum before the counts of each class, and behind all of them. */
enum {
    CSR_TOTALS = CSR_CLASSES + 1,
    CSR_TOTAL_PIECES = 1,          /* items of rows of several thread blocks */
    CSR_TOTAL_SHARED = PANEL_LONE, /* and all but those of one warp */
    CSR_TOTAL_ALL = CSR_CLASSES,
};

#endif
