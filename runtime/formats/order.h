/* Orders: of row blocks, and of an SDDMM's C, of which element is which row of which vector of its mask. */
#ifndef MCRT_ORDER_H
#define MCRT_ORDER_H

#include "matrix/vsparse.h"

/* START receives each row block's first slot, and the number of slots at the end: row_blocks + 1, malloc'ed.
   MC_CANNOT where they leave s32. */
mc_status order_starts(const mc_vsparse *mask, mc_order order, int64_t **start, mc_diag *diag);
/* Which element of C is row ROW of slot SLOT. */
int64_t order_place(mc_order order, int vec, int64_t slot, int row);
/* Sets the elements of C, of TYPE, to those of VALUES, which is vectors * vec in BCRS order.
   Padding is left alone. */
void order_put(const mc_vsparse *mask, mc_order order, const int64_t *start, mc_type type, const void *values,
               void *c);

/* ORDER = the row blocks, those with the most vectors first, equally long ones by number. With TOGETHER above
   1 so many neighbours stay together, ascending: such groups go by their longest row block, and one that is
   not whole is the last. */
mc_status order_longest_first(const mc_vsparse *a, int together, int32_t *order, mc_diag *diag);

#endif
