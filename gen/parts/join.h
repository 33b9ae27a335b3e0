/* Sums that warps of one thread block, or of several, have of the same elements of C are added up in a fixed
 * order, so that the bits are the same every time (parts/panels.h says who shares what).
 *
 *   parts    the warps of a thread block put their sums in shared memory, and the first of them adds these to
 *            its own, in the order of the parts
 *   pieces   all thread blocks but the last one leave their sums in the workspace, each with a flag. Warp w
 *            of the last one adds those of pieces w, w + warps, w + 2 warps and so on to its own, before the
 *            parts are added up
 *
 * Pieces lie in front of the one that waits for them, in thread blocks that begin no later. So nobody waits
 * in vain. A flag is cleared by who has seen it, for the next launch. */
#ifndef MC_JOIN_H
#define MC_JOIN_H

#include "parts/emit.h"

enum { JOIN_MOST_VECTOR = 4 /* sums that are loaded or stored at once */ };

/* The caller sets the first part. A piece has its sums at the beginning and flags behind them. The pieces of
   a thread block's tiles of columns lie side by side, and those of the next thread block behind them. */
typedef struct join {
    mc_builder *b;
    const char *of;     /* what is shared, for notes: "panel" */
    const mc_reg *sums; /* of this lane */
    int count, vector;  /* sums, and how many of them are stored at once: 1, 2 or 4 */
    int beside, pitch;  /* so many vectors lie side by side; bytes from these to a lane's next ones */
    mc_reg keeps;       /* the lanes whose sums count, among them lane 0; none: all */
    mc_opcode add;
    int warps;          /* that have parts of the same elements, where there are pieces */
    mc_reg warp;        /* this one's number; none where there is one */
    mc_reg lane, block; /* the numbers of this lane and of this thread block */
    int piece_bytes, flags_at;
    mc_operand part, more_parts;    /* this warp's part; parts of this thread block, less 1 */
    mc_reg in_piece, flag_in_piece; /* bytes to this lane's first sum, and from the first flag to its flag */

    mc_reg piece, more_pieces;
    mc_reg workspace, tiles, tile, first_lane;
    mc_reg other[JOIN_MOST_VECTOR], slot, at, flag_at, mark; /* scratch; `other`: what comes in */
} join;

/* The number that stands in BITS bits of SHARING, an item's last word, from SHIFT on. */
mc_reg join_field(mc_builder *b, const char *name, mc_reg sharing, int shift, int bits);
/* Sets piece and more_pieces, and declares `other`. */
void join_take_pieces_of(join *j, mc_reg sharing);
/* Finds the workspace and this tile's number; declares what pieces take. */
void join_find_tile(join *j);
void join_declare_pieces(join *j);
/* Adds the other pieces, if this is the last one. */
void join_take_pieces(const join *j);
/* Leaves this piece's sums to the last one. */
void join_leave_piece(const join *j);
/* Parts put their sums into the shared array ARRAY, SHARE bytes for each warp, LANE_BYTES from one lane to
   the next by LANE. The first one adds them to its own; all others go to END. */
void join_add_parts(const join *j, const char *array, int share, mc_reg lane, int lane_bytes, mc_label end);

#endif
