/* Copies by cp.async, from global to shared memory. Each thread asks for pieces of 16, 8 or 4 bytes, and goes
 * on while they are on their way (PTX ISA, "cp.async").
 *
 * The threads of a block copy a tile together. Its rows consist of equal pieces, and a thread copies the same
 * piece of rows that lie a fixed number of rows apart (copy_pieces). How wide pieces are is fixed, or it is
 * found out at launch (copy_width). */
#ifndef MC_COPY_H
#define MC_COPY_H

#include "ptx/builder.h"

enum {
    COPY_WIDEST = 16,
    COPY_WIDTHS = 3, /* 16, 8 and 4 bytes */
};

/* A piece of WIDTH bytes, from FROM to TO (AT(...)), which is copied where GUARD holds (none: always). Of its
   bytes the first SIZE are read, and the others become zeros; where SIZE is none, all are read. */
typedef struct copy_piece {
    mc_reg guard;
    mc_operand to, from, size;
} copy_piece;

void copy_async(mc_builder *b, int width, copy_piece piece);

/* -- How wide pieces are ------------------------------------------------------------------------------ */

typedef struct copy_width {
    int fixed;                   /* bytes; 0: it was found out at launch */
    mc_operand bytes, log_bytes; /* of a piece */
    mc_operand log_pieces;       /* of a row of the tile */
    mc_reg is[COPY_WIDTHS];      /* where it is not fixed: whether it is 16, 8, 4 bytes */
} copy_width;

/* Of a tile with rows of TILE_BYTES, a power of two. */
copy_width copy_fixed_width(int bytes, int tile_bytes);
/* Finds the widest pieces at launch: those that ARRAY (none: it is a multiple of 16) and ROW_BYTES, from a
   row in memory to the next, are multiples of. Both are multiples of 4 bytes. */
copy_width copy_find_width(mc_builder *b, mc_reg array, mc_operand row_bytes, int tile_bytes);
/* Copies a piece of that width. PIECE has no guard. */
void copy_any_width(mc_builder *b, const copy_width *width, copy_piece piece);

/* -- Which pieces are a thread's ---------------------------------------------------------------------- */

typedef struct copy_pieces {
    mc_reg first_row, row_step; /* the thread's first row of the tile, and how far on its next one is */
    mc_reg byte;                /* where in a row its piece begins; it may be written again */
} copy_pieces;

/* THREAD is the thread's number among THREADS, which are a multiple of a row's pieces. */
copy_pieces copy_pieces_of(mc_builder *b, const copy_width *width, mc_reg thread, int threads);

#endif
