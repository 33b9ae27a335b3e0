/* Elements of C that a warpgroup has in registers go there through shared memory, by tensor copies.
 *
 * Each warp stores for itself: its 16 rows by `span` bytes of columns are a box, or two of 8 rows, which it
 * puts into a slot of its own in shared memory, swizzled as the tensor map says, and one lane asks for the
 * copy. With two slots a warp fills one while the other one's copy still reads (groups of bulk copies, which
 * the lane waits for). So warps never wait for each other. What lies outside of C is left out by the copy,
 * but for this: where n ends inside of 16 bytes of a row, all of these are written. So n is a multiple of 16
 * bytes, or C has room behind its rows.
 *
 *   f16, bf16    two neighbours to a register; stmatrix stores four 8 x 8 matrices: 16 columns of 16 rows, or
 *                32 of 8
 *   f32, s32     pairs of registers. Lanes of odd rows exchange the 8 columns of a pair with those 16 on, so
 *                that the four rows of half a warp meet all banks */
#ifndef MC_TILE_STORE_H
#define MC_TILE_STORE_H

#include "ptx/builder.h"

enum { STORE_ROWS = 16, STORE_HALF = 8, STORE_LINE = 128 };

/* What a warp has for C on its way: `count` slots, 1 or 2, of `rows` rows each, STORE_ROWS or STORE_HALF.
   Half the rows want a store_span of 64 bytes or more. */
typedef struct store_slots {
    int count, rows;
} store_slots;

/* The caller sets the first part. */
typedef struct tile_store {
    mc_builder *b;
    const char *param; /* the tensor map of C: a box has slots.rows rows of store_span bytes */
    int columns;       /* of the warpgroup's tile; of 2 bytes a multiple of 16, of 4 bytes of 32 */
    int bytes;         /* of an element: 4 or 2 */
    bool adds; /* to what C has, in the tensor map's type: for products that several thread blocks share */
    store_slots slots;
    mc_reg first; /* the shared address of the thread block's slots, at a multiple of 1024 */
    mc_reg warp, lane, warp_row;
    mc_reg product; /* C's number in a batch, the tensor map's third coordinate; none: it has two */

    mc_reg map, at;     /* where the lane's first element lies in slot 0 */
    mc_reg slot;        /* the warp's slot 0 */
    mc_reg copies;      /* whether this lane asks for copies */
    mc_reg odd;         /* of 4 bytes: whether the lane's row is odd */
    mc_reg row, column; /* scratch: of a box, in C */
    mc_reg to, put[4];  /* scratch */
} tile_store;

/* Bytes of a box's line: the widest that the columns are a multiple of. */
int store_span(int columns, int bytes);
/* Bytes of shared memory for WARPS warps. */
static inline int store_bytes(int warps, store_slots slots) {
    return warps * slots.count * slots.rows * STORE_LINE;
}

void store_begin(tile_store *s);
/* Stores WORDS, the elements of 64 rows, to C from (ROW + OFFSET, COLUMN) on. They lie as the sums of a wgmma
   do (warpgroup.h), but that of 2 bytes a register has both of columns 2 t and 2 t + 1. */
void store_tile(const tile_store *s, const mc_reg *words, mc_reg row, int offset, mc_reg column);
/* Before the thread ends: the copies have read shared memory. */
void store_end(const tile_store *s);

#endif
