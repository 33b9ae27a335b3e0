/* A persistent grid whose last tiles of C are dealt out along k ("stream-k": Osama et al., 2023), so that
 * thread blocks do not wait for a few that have a tile more.
 *
 * Of T tiles G thread blocks take whole ones in turn, G at a time. Those that are left over fill a part of
 * one turn more. If it is more than 5/8 of it, they are taken whole, too. Else their stages of k make a line:
 * the first tile's stages, then the second one's, and so on. The line is cut into as many ranges of equal
 * length as there are thread blocks, but at most four for each tile; the first ones have one stage more
 * where they do not come out even.
 *
 *   tiles      |      0      |      1      |             13 stages each, 4 thread blocks: 7, 7, 6, 6
 *   ranges     |   0   |   1   |   2  |  3 |
 *
 * Why not more: thread blocks that multiply the same tile at different k share no operands in L2 with their
 * neighbours, so that a stage takes 1.6 times as long (measured on an H200); and a tile's pieces are added
 * up by one of them.
 *
 * A range has pieces of tiles. One that begins inside of a tile is left in the workspace for whoever has the
 * tile's first piece, who adds the others' sums to its own, in the order of k. So a range leaves at most one
 * piece, its first, and waits for others at most once, for its last one: it leaves before it waits.
 *
 * Of R ranges, number r is thread block R - 1 - r's. What a thread block waits for is thus left by those of
 * lower numbers, which begin no later: no matter how many of them run at once, none waits in vain.
 *
 * All roles of a thread block (roles.h) go the same way, each with registers of its own: schedule.h does so
 * for them. */
#ifndef MC_STREAM_H
#define MC_STREAM_H

#include "parts/gemm_order.h"
#include "parts/warpgroup.h"
#include "schema/family.h"

/* Whether LEFT tiles, of BLOCKS thread blocks, are dealt out along k. */
static inline bool stream_deals(double left, double blocks) {
    return left > 0 && STREAM_OF * left <= STREAM_FULL * blocks;
}

/* -- Which pieces a thread block has ------------------------------------------------------------------- */

/* The caller sets the first part. */
typedef struct stream_line {
    mc_builder *b;
    mc_reg stages; /* of a whole tile */

    mc_reg whole;         /* tiles that are taken whole; those behind them are the line's */
    mc_reg least, longer; /* stages of a range, of which the first `longer` have one more */
    mc_reg last;          /* the number of the last range */
    mc_reg block;         /* the thread block's number */
    mc_reg at, end;       /* of its range: the next stage, and the end */
    /* The piece at hand: its tile, its first stage there, how many it has; whether it is a whole tile */
    mc_reg tile, first, length, is_whole;
} stream_line;

/* TILES are dealt to BLOCKS thread blocks. */
void stream_begin(stream_line *s, mc_reg tiles, mc_reg block, mc_reg blocks);
/* Takes tile NUMBER whole, or, if that is the line's, the range's next piece. Goes to END where there is
   none. */
void stream_take(const stream_line *s, mc_reg number, mc_label end);
/* A predicate: whether there is anything to take then. */
mc_reg stream_has(const stream_line *s, const char *name, mc_reg number);

/* -- Sums of pieces ------------------------------------------------------------------------------------ */

/* The workspace has a flag for each warp that multiplies, of each thread block; behind these for each
 * thread block room for the sums of all its threads, 16 bytes of a thread's beside those of the next one.
 * A warp leaves its sums by itself, and the same warp of another thread block takes them.
 *
 * A flag is set where it holds STREAM_MARK. Whoever has seen it so clears it, so that all flags are clear
 * when the launch has ended. Before, they may hold anything but the mark, so that nobody has to clear them
 * ahead of a launch, and the workspace may be any memory. Both words of the mark are signalling NaNs,
 * which no sum of floats is; that other data are the mark by chance has a probability of 2^-64 a flag. */
#define STREAM_MARK 0x7fa5c3967fb5d2e1

enum {
    STREAM_FLAG = 8,             /* bytes */
    STREAM_VECTOR = 4,           /* sums that are loaded or stored at once */
    STREAM_PARTS = 8,            /* loads that are on their way at once */
    STREAM_MULTIPROCESSORS = 144 /* that there is room for: of a whole die, and no GPU of sm_90a has more */
};

/* The caller sets the first part. */
typedef struct stream_sums {
    mc_builder *b;
    const stream_line *line;
    int threads;         /* that multiply */
    int blocks;          /* of 64 rows that a thread has */
    int sums;            /* of each of these */
    int most;            /* thread blocks that there is room for */
    bool real;           /* sums are f32; else s32 */
    mc_reg thread, warp; /* of those that multiply */
    mc_reg tells;        /* whether the thread speaks for its warp */

    mc_reg workspace;
    /* scratch: who left a piece, how many stages the tile still misses, a flag's number, a predicate; an
       address and what a flag holds; what comes in */
    mc_reg from, missing, flag, is_so;
    mc_reg address, state;
    mc_reg part[STREAM_PARTS][STREAM_VECTOR];
} stream_sums;

/* Stages that a tile may have, since a line's are counted in s32: it has those of less than a tile for each
   thread block, and twice that is room enough. */
static inline int64_t stream_most_stages(const stream_sums *s) { return INT32_MAX / (2 * s->most); }
/* Bytes of the workspace: of the flags, of all. */
unsigned stream_flag_bytes(const stream_sums *s);
unsigned stream_bytes(const stream_sums *s);

/* Says in the contract that the kernel has the workspace, and is launched with as many thread blocks as run
   at once. */
void stream_add_contract(const stream_sums *s, mc_contract *c);
void stream_sums_begin(stream_sums *s);
/* SUMS are those of the piece at hand. If it is no tile's first one, they are left to another thread block,
   and the way goes on at NEXT. If the tile has other pieces, their sums are added to SUMS. */
void stream_join(const stream_sums *s, const warpgroup_block *sums, mc_label next);

#endif
