/* Indices of sampled-windows: for which of the item's slots each row of its mma is, and in which column of
   the window (fragment.h). */
#ifndef MCRT_SAMPLED_WINDOW_H
#define MCRT_SAMPLED_WINDOW_H

#include "parts/fragment.h"
#include "mcgen.h"
#include "mcrt.h"

enum { SAMPLED_MAX_GROUPS = 8, SAMPLED_MAX_ITEM = SAMPLED_MAX_GROUPS * MC_SAMPLED_SLOTS };

typedef struct sampled_item {
    int groups;
    int64_t first_column; /* its window's first column */
    int count;            /* for sampled_put_entries: slots in use */
    int pair_bit;         /* likewise: the bit of a column in which those of a pair differ */
    int64_t number, cols; /* for sampled_get_entries: the item's number, for messages; the mask's columns */
} sampled_item;

/* Makes the item's ENTRIES of COLUMNS, 16 * groups of them in the order of slots; -1 where there is no
   vector. */
void sampled_put_entries(const sampled_item *item, const int32_t *columns, int32_t *entries);
/* The way back: MC_FORMAT where ENTRIES name a slot or a column that there is not. */
mc_status sampled_get_entries(const sampled_item *item, const int32_t *entries, int32_t *columns,
                              mc_diag *diag);

#endif
