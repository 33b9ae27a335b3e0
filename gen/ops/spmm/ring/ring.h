/* What the ring kernel's emitters share: a small struct for each stage of the kernel. docs/house.md says what
 * ring, window and stage are, windowed.h how strides refer to windows.
 *
 *   rows.c      which row block a warp takes
 *   tma.c       windows come by tensor copies of a warp of their own, and stages have barriers
 *   async.c     windows come by cp.async of all threads, which pass from window to window together
 *   elements.c  which come element by element where cp.async cannot copy them
 *   contiguous.c  or 16 bytes of B at once, where its rows have few bytes and no gaps
 *   packed.c    strides of the packed arrays, in registers
 *   queue.c     how they are asked for ahead: by queues in shared memory, and out of L2
 *   ahead.c     how they are asked for ahead in registers, with sparse mma
 *   strides.c   the loop over a row block's strides
 *   sparse.c    the same with sparse mma
 *   words.c     how it reads elements of 32 bits
 *   sum.c       sums of warps that share a row block
 *   parts.c     thread blocks that share row blocks, and their sums
 *   finishers.c  the same where they take row blocks in turn
 *   turns.c     row blocks in turn
 *   together.c  columns of warps whose row blocks are neighbours in C
 *   store.c     the epilogue */
#ifndef MC_SPMM_RING_H
#define MC_SPMM_RING_H

#include "ops/spmm/emit.h"
#include "ops/spmm/ring/plan.h"
#include "ops/spmm/sums.h"
#include "parts/copy.h"
#include "parts/pipeline.h"

enum {
    RING_MAX_LOADS = SPMM_MAX_LOADS,
    RING_SETS = 2,       /* strides of A that are asked for ahead in registers: an even one, an odd one */
    RING_OPERANDS = 4,   /* pieces of B, of 16 bytes and 32 slots, that sparse mma have registers for */
    RING_HALVES = 2,     /* halves of a stride: 16 slots each */
    RING_MAX_LATE = 8,   /* registers of a lane's values in a half: up to 4 for each mma */
    RING_MAX_PLACES = 4, /* of its places in a stride */
    RING_PREFETCH_BYTES = 64 << 10,               /* of a row block's values, for which L2 is asked at once */
    RING_MAX_ROWS = 8,                            /* that a thread copies at once by elements */
    RING_QUAD = 4,                                /* sums of a lane that move at once */
    RING_QUAD_BYTES = MC_WARP * RING_QUAD * WORD, /* of a warp */
};

/* What all stages of the kernel know. */
typedef struct ring_emitter {
    const ring_plan *plan;
    spmm_emitter at;      /* the thread's place, the shapes and the arrays */
    mc_reg ring;          /* the ring's shared address */
    mc_reg k, windows;    /* rows of B, none where the spec fixes them; windows of B, or of this part of it */
    mc_reg block, blocks; /* the thread block's number, of how many that its column of tiles has */
    /* parts: the thread block's number in the cluster, and the first row of its part of B */
    mc_reg rank, first_row;
    /* parts, resident: whether the warp finishes row blocks. The parity that it awaits: of sums, from 0 on,
       or, of a warp that multiplies, of the room for them, from 1 on */
    mc_reg finishes, sums_phase;
    mc_reg sums_full; /* other parts: the warp's barrier, where sums of other thread blocks have come */
} ring_emitter;

/* -- rows.c ------------------------------------------------------------------------------------------- */

/* A row block as its warp sees it: its stride at hand, the end of its strides, its number in A. */
typedef struct ring_row_block {
    mc_reg stride, last, number;
} ring_row_block;

/* The row blocks of A, and which of them this warp takes. */
typedef struct ring_rows {
    mc_operand count;     /* row blocks of A; set where the kernel needs it */
    mc_reg block, blocks; /* this thread block's number, and how many the column tile has */
    mc_reg turn, place; /* of the row block that was loaded last: its number in the thread block, its place */
    mc_reg first;       /* the first place of the warp's group, which is its place where groups have one */
    /* together: whether that is there, and the warp's number in the group */
    mc_reg in_group, member;
    mc_reg two_turns; /* resident: what the numbers of this turn and the next add up to */
    /* parts, resident: the least place of the thread block, and from turn to turn */
    mc_reg block_place, step;
    mc_reg ptr, order; /* row_ptr (of this warp's part), row_order */
    mc_reg at;         /* scratch */
} ring_rows;

/* Finds this warp's first place, loads its row block BLOCK, and sets in_rows and stores of R. */
ring_rows ring_emit_rows(ring_emitter *r, ring_row_block *block);
/* Resident, together or parts: whether the row block at the next place is there. */
void ring_emit_next_guards(const ring_emitter *r, const ring_rows *rows);
/* Resident: loads what there is to know of the row block at the next place. */
ring_row_block ring_emit_next_row(const ring_emitter *r, const ring_rows *rows);

/* -- How windows reach the ring: tma.c, async.c ------------------------------------------------------- */

typedef struct ring_tma {
    pipeline pipe;
    pipeline_consumer warp;
    mc_label copier;
    mc_reg wants; /* what the control of the stride at hand says of windows */
    /* resident: WINDOWED_WANTS_MASK while windows still come, then 0, since all of B is there */
    mc_reg heed;
    mc_reg count, again; /* scratch: windows to wait for or to leave; whether there are more */
    /* sparse: what of it is known before: whether anything is wanted, whether a window is left, and one
       waited for, if there are not `many` of them, which is found then */
    mc_reg any, leaves, waits, many;
    mc_reg there; /* and whether the next window to wait for is there already */
} ring_tma;

/* A thread's copies of a window, in registers that each copy writes again: the row, and the end of the
   window's rows; where the row's piece goes in the ring, but for the swizzle, and with it; how many bytes are
   read, and where. */
typedef struct ring_piece {
    mc_reg row, row_end, to, at, bytes, address;
    mc_reg beyond, enough; /* whether the row is beyond k; whether there is no other one */
} ring_piece;

/* A thread's copies by elements, in registers that each window writes again: the row at hand, and the end of
   the window's rows; where it goes in the ring, and its next element. */
typedef struct ring_elements {
    int count;   /* rows at once, as far apart as there are threads; 0: there are no such copies */
    mc_reg uses; /* whether windows come so; none: they all do */
    mc_reg columns, last, from; /* columns of the tile inside n; the last row of B; the tile's row 0 in B */
    mc_reg row, end, to, at;
    mc_reg column, source, done; /* scratch */
    mc_reg zero, value[RING_MAX_ROWS], address[RING_MAX_ROWS];
} ring_elements;

/* All of a B whose rows have few bytes and no gaps: how many bytes it has, and a row of it; the latter is 0
   where B is another one, and none where it cannot be such a one. */
typedef struct ring_contiguous {
    mc_reg bytes, width;
} ring_contiguous;

typedef struct ring_async {
    copy_width width;
    copy_pieces pieces;
    /* where the thread's first piece goes in stage 0, but for its 16-byte unit; the unit's place in its row;
       from a piece to the thread's next one */
    mc_reg to_first, unit, to_step;
    /* Where the piece comes from in row 0 of B, or of this part of it, which has so many rows; bytes of it
       that lie inside n */
    mc_reg from, inside;
    mc_operand rows;
    /* windows copied so far; of the next one the first row, and its stage's offset in the ring */
    mc_reg copied, stage_row, stage_at;
    mc_reg passes;       /* passes that are to come */
    mc_reg count, again; /* scratch: windows to copy or to pass; whether there are none */
    ring_piece piece;
    ring_elements elements;
    ring_contiguous contiguous;
} ring_async;

/* Windows on their way into the ring, by one staging or the other. */
typedef struct ring_feed {
    ring_emitter *r;
    /* Of floats and sparse mma: registers that a read of the ring may still be on its way to when windows are
       left, one of each read or of what was made of it, and one that holds 0, which no compiler knows
       (tma.c). COUNT 0: multiplications lie between */
    mc_reg pending[RING_HALVES * RING_MAX_LOADS], zero;
    int pending_count;
    ring_tma tma;
    ring_async async;
} ring_feed;

/* A staging's part of the kernel, in the order of its instructions. NULL: it has nothing to do there. */
typedef struct ring_staging {
    void (*split)(ring_feed *f); /* before all else: parts a copying warp from the others */
    void (*fill)(ring_feed *f);  /* begins to copy the first windows, once shapes are known */
    void (*begin)(ring_feed *f); /* behind the prologue: windows may be waited for */
    /* Before a stride, whose control is CONTROL: waits for the windows that it reads, and leaves those that
       it has no use for. FIRST: it is a row block's first stride. */
    void (*before_stride)(const ring_feed *f, mc_reg control, bool first);
    void (*rest)(const ring_feed *f); /* behind a row block's last stride: lets go of all other windows */
    /* Resident: behind a row block. Goes to NEXT, which takes another one, once all of B is there. ALL is
       scratch. */
    void (*turn)(ring_feed *f, mc_reg all, mc_label next);
    void (*end)(ring_feed *f); /* behind all else: the copying warp */
} ring_staging;

/* all_at_once: as async, where the ring keeps all of B, so that no window passes. */
extern const ring_staging ring_by_tma, ring_by_async, ring_all_at_once;

/* tma.c, for sparse mma: declares predicates; finds what CONTROL, that of the next stride, wants; and does
   it, which no first stride of a row block asks for. */
void ring_tma_wants_begin(ring_feed *f);
void ring_tma_find_wants(const ring_feed *f, mc_reg control);
void ring_tma_do_wants(const ring_feed *f);

/* async.c. Sets a thread's first ROW of the window that is copied next, the END of the window's rows, and
   where the row goes (TO). In window 0 these are FIRST and PLACE. Where the ring keeps all of B, that is one
   window. */
void ring_emit_window_rows(const ring_emitter *r, const ring_async *a, mc_reg first, mc_reg place, mc_reg row,
                           mc_reg end, mc_reg to);
/* elements.c. The first one sets E, if there may be such copies. The second one copies the window from row
   stage_row on to stage_at, and goes to COPIED. */
void ring_emit_elements_start(const ring_emitter *r, ring_elements *e);
void ring_emit_elements(const ring_emitter *r, const ring_async *a, mc_label copied);

/* contiguous.c. Whether B may be contiguous in rows of 1, 2, 4 or 8 bytes, and the ring has all of it. The
   second one finds out whether it is. The third one then brings all of B to the ring and goes to COPIED. */
bool ring_may_be_contiguous(const ring_plan *plan);
void ring_emit_contiguous_start(const ring_emitter *r, ring_contiguous *c);
void ring_emit_contiguous(const ring_emitter *r, const ring_contiguous *c, mc_label copied);

/* -- packed.c ----------------------------------------------------------------------------------------- */

/* What a lane loads of a stride. */
typedef struct ring_stride {
    mc_reg place[RING_MAX_PLACES], control,
        value[RING_MAX_LATE * RING_HALVES]; /* value: for each mma, of both halves */
} ring_stride;

/* The packed arrays in memory. */
typedef struct ring_arrays {
    mc_reg places, values, control;
} ring_arrays;

/* A warp's queue of strides, as a lane sees it (queue.c). */
typedef struct ring_queue {
    mc_reg values, places, control; /* what entry 0 has of each, in shared memory */
    /* In memory, of stride 0: the lane's first piece of the values, and its last piece, which is one of
       values or of places; from a stride's last piece to the next one's. In entry 0: where the first goes */
    mc_reg values_from, from, step, to;
    mc_reg copies, first; /* whether the lane has a last piece; copies the control, as lane 0 does */
    mc_reg there, from_at, to_at, entry; /* scratch */
} ring_queue;

/* What a load brings of so many STRIDES, each of BYTES: a word a lane. */
typedef struct ring_share {
    int strides, bytes;
    mc_reg from, stride; /* where the lane's word of the array's first strides is; which of them it is of */
    mc_reg now, next;    /* that of the strides at hand, and of the next ones */
} ring_share;

/* Strides asked for ahead in registers (ahead.c): where they lie, and values of several. */
typedef struct ring_ahead {
    ring_share places, control;
    mc_reg word;                            /* the word that the lane wants of a stride's places */
    mc_reg first, at, from;                 /* scratch */
    mc_reg value[RING_SETS][RING_MAX_LATE]; /* of a stride: up to 8, of two digits */
} ring_ahead;

typedef struct ring_packed {
    ring_arrays arrays;
    ring_queue queue;
    /* Addresses of what this lane reads of stride 0; where there is a queue, of its entry 0 */
    mc_reg places, values, control;
    mc_reg places_at, values_at, control_at; /* scratch: of the stride that is loaded */
    spmm_value_lanes has_values;             /* whether this lane holds values of A */
    /* scratch: the number of the stride that is loaded; whether the row block has it, and this lane values */
    mc_reg fetch, some;
    spmm_value_lanes some_values;
    ring_stride at_hand;         /* the stride at hand */
    ring_stride held[RING_HELD]; /* it and those that are on their way: two, or all that registers hold */
    int hand;                    /* which of them is at hand; 0, unless the loop goes through them */
    ring_ahead ahead;            /* sparse: instead of `held` */
} ring_packed;

/* Sets where strides lie, and makes those in registers empty, since a load may leave them as they are. */
ring_packed ring_emit_packed(const ring_emitter *r);
/* Asks for BLOCK's first strides: loads as many as registers hold, or copies as many as the queue does. All
   lanes must have read what the queue held before. */
void ring_emit_first_strides(const ring_emitter *r, const ring_packed *p, ring_row_block block);
/* Comes behind it, where BLOCK has strides: loads the first two out of the queue, if there is one. */
void ring_emit_take_first(const ring_emitter *r, const ring_packed *p, ring_row_block block);
/* Makes the next stride the one at hand, and begins to load the one behind it, or the last one for which
   there are registers. */
void ring_emit_next_stride(const ring_emitter *r, ring_packed *p, ring_row_block block);

/* -- queue.c ------------------------------------------------------------------------------------------ */

/* Loads the addresses ARRAYS. Sets where this warp's queue lies, and which pieces this lane copies. */
void ring_queue_begin(const ring_emitter *r, ring_queue *q, ring_arrays *arrays);
/* Copies stride AT to its entry, if it is before LAST. The copies are a group of their own; without a stride
   it is an empty one. */
void ring_queue_ask(const ring_emitter *r, const ring_packed *p, mc_reg at, mc_reg last);
/* Waits until no more than the latest COUNT groups are on their way. Then all lanes may read what the others
   brought, and what lanes have read before may be written over. */
void ring_queue_await(const ring_emitter *r, int count);
/* Asks L2 for BLOCK's strides, if there are any: for up to RING_PREFETCH_BYTES of values, and for the same
   strides' places and control. */
void ring_emit_prefetch(const ring_emitter *r, const ring_packed *p, ring_row_block block);

/* -- ahead.c ------------------------------------------------------------------------------------------- */

/* The functions above, with sparse mma. */
ring_packed ring_ahead_begin(const ring_emitter *r);
void ring_ahead_ask_first(const ring_emitter *r, const ring_packed *p, ring_row_block block);
/* Brings to `at_hand` where the rows of BLOCK's first stride lie, and its control. */
void ring_ahead_take_slots(const ring_emitter *r, const ring_packed *p, ring_row_block block);
/* Brings there the values of BLOCK's `stride`, and place and control of the one behind it. What is at hand
   must have been used. */
void ring_ahead_take(const ring_emitter *r, const ring_packed *p, ring_row_block block);

/* -- strides.c ---------------------------------------------------------------------------------------- */

typedef struct ring_strides {
    const ring_emitter *r;
    const ring_staging *staging;
    const ring_feed *feed;
    ring_packed *packed;
    /* The row block at hand; with `resident` and `prefetch_l2` the next one, for which L2 is asked */
    ring_row_block block, next;
    spmm_sums *sums;
    spmm_pairs pairs;
    /* 1 in both halves of the word for lanes that read the 16 bytes beside, else 0; of words g in both */
    mc_reg lane_unit;
    mc_reg lane_half, none; /* narrow rows, sparse mma: which half of its word is a lane's place; 0 */
    /* what is read of either half, and for ldmatrix the address of its first row; scratch for addresses */
    mc_reg matrix[RING_HALVES][RING_MAX_LOADS][4], at[RING_HALVES], matrix_at;
} ring_strides;

/* Sets lane_unit and pairs, and declares what is read. */
void ring_emit_strides_start(ring_strides *s);
/* Adds all strides of the row block to the sums. */
void ring_emit_strides(ring_strides *s);
/* Sets `at`: the addresses of the rows that this lane names to ldmatrix, in either half. */
void ring_emit_row_addresses(const ring_strides *s);
/* sparse.c. The loop, and what comes before it. */
void ring_emit_sparse(ring_strides *s);

/* -- words.c ------------------------------------------------------------------------------------------ */

mc_reg ring_words_unit(const ring_emitter *r);
/* Makes a lane's places of the stride at hand those of its own 16 bytes. */
void ring_words_find(const ring_strides *s);
/* Reads these of the slots of HALF, to its matrices: of group i of 8 slots, slot t to matrix 2 i and slot t +
   4 to the next one. */
void ring_words_gather(const ring_strides *s, int half);

/* -- sum.c -------------------------------------------------------------------------------------------- */

/* Where warps share a row block: where this lane's sums of it lie behind the ring, where those for its own
   part lie, and the row block's barrier. */
typedef struct ring_sum {
    mc_reg at, part_at, barrier;
} ring_sum;

ring_sum ring_emit_sum_place(const ring_emitter *r);
/* Brings the sums of this part's columns into the first accumulators. Where there are no columns for each
   part the first one gets all sums (ring_sums_to_first), and the others go to GIVEN. */
void ring_emit_sum(const ring_emitter *r, ring_sum place, const spmm_sums *sums, mc_label given);
/* Adds to TO the four sums of the lane that lie at AT in shared memory, by way of GOT. */
void ring_emit_add_quad(const spmm_sums *sums, mc_operand at, const mc_reg got[RING_QUAD],
                        const mc_reg to[RING_QUAD]);

/* -- parts.c ------------------------------------------------------------------------------------------ */

/* Sets rank, windows, which are those of all of B before, and first_row. */
void ring_emit_part(ring_emitter *r);
/* Where thread blocks share columns, before barrier 0: sets sums_full, and initialises that barrier. */
void ring_emit_parts_barrier(ring_emitter *r);
/* Behind barrier 0, by all warps: the other thread blocks learn that this one's barriers are there; and,
   before the first sums are sent: those of all thread blocks are. */
void ring_emit_parts_begun(const ring_emitter *r);
void ring_emit_parts_meet(const ring_emitter *r);

/* -- finishers.c -------------------------------------------------------------------------------------- */

/* Resident parts. By one thread, before a fence and barrier 0: initialises the barriers of finishers, and of
   those whose row blocks they finish. */
void ring_emit_finisher_init(const ring_emitter *r);
/* Sets finishes, and gives those warps the number of the warp whose row blocks they finish. */
void ring_emit_finisher(ring_emitter *r);
/* Sends the warp's sums of a turn. sums_phase is that of the turn before. */
void ring_emit_send_sums(const ring_emitter *r, const spmm_sums *sums);
/* By finishers: takes the sums of all parts of a turn, whose phase is sums_phase. */
void ring_emit_take_sums(const ring_emitter *r, const ring_rows *rows, const spmm_sums *sums);

/* -- store.c ------------------------------------------------------------------------------------------ */

/* Together: the group's barrier, and the warp's number in the group. */
typedef struct ring_group {
    mc_reg barrier, member;
} ring_group;

typedef struct ring_epilogue {
    const ring_emitter *r;
    spmm_sums *sums;
    mc_reg row_block, col; /* the number of the row block at hand; this lane's first column of C */
    out_factors factors;   /* its scales and biases */
    out_residual residual; /* behind the loop over strides */
    ring_sum sum;
    ring_group group;
    mc_label next; /* resident, sums of the first warp: behind a row block's store */
} ring_epilogue;

/* Sets col, sum and factors. */
void ring_emit_epilogue_start(ring_epilogue *e);
/* Loads scales and biases of the lane's rows: before the loop over strides, which hides their latency. */
void ring_emit_row_factors(ring_epilogue *e);
/* Stores the row block at hand in C; then goes to `next`, or ends. The second one does so where its sums are
   those of all of k. */
void ring_emit_output(ring_epilogue *e);
void ring_emit_results(ring_epilogue *e);

/* parts.c. Thread blocks that share columns: what the others have of this one's is added to this one's sums,
   which come first then, as those of a warp's only columns. */
void ring_emit_parts_sum(const ring_epilogue *e);

/* -- turns.c ------------------------------------------------------------------------------------------ */

/* Resident: all row blocks of a warp. */
void ring_emit_turns(ring_strides *s, ring_feed *feed, ring_epilogue *epilogue, const ring_rows *rows);
/* Resident, parts: all row blocks of a warp that finishes them, of which BLOCK is the first one. */
void ring_emit_finishes(ring_emitter *r, ring_epilogue *epilogue, const ring_rows *rows,
                        ring_row_block block);

#endif
