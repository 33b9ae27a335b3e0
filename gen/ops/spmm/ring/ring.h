/* What the ring kernel's emitters share: the registers of its warps. docs/house.md says what ring, window and
   stage are, windowed.h how strides refer to windows. */
#ifndef MC_SPMM_RING_H
#define MC_SPMM_RING_H

#include "ops/spmm/emit.h"
#include "ops/spmm/sums.h"
#include "ops/spmm/ring/plan.h"

enum {
    RING_MAX_LOADS = 4, /* ldmatrix for 16 slots; each takes 32 bytes of their rows */
    RING_HALVES = 2,    /* halves of a stride: 16 slots each */
    RING_WIDTHS = 3,    /* widths of a cp.async: 16, 8 and 4 bytes */
};

/* What a lane loads of a stride. */
typedef struct packed_stride {
    mc_reg place, value[SPMM_MAX_MMA * RING_HALVES], control; /* value: for each mma, of both halves */
} packed_stride;

/* Staging "async": which copies are a thread's, and how far the thread block is. */
typedef struct ring_async {
    mc_operand log_width, log_pieces, width; /* bytes of a copy; copies that a row of the tile takes */
    /* whether the copy has that width; none where the spec settles it */
    mc_reg wide[RING_WIDTHS];
    /* the thread's first row in a window; from a row to its next, in rows and in bytes */
    mc_reg first, row_step, to_step;
    /* bytes of the copy that lie inside n; where in its row the copy's 16-byte unit begins; where the
       thread's first copy goes in stage 0, but for that unit; where it comes from in row 0 of B */
    mc_reg inside, unit, to_first, from;
    /* windows copied so far; of the next one the first row, and its stage's offset in the ring */
    mc_reg copied, stage_row, stage_at;
    mc_reg passes; /* passes that are to come */
    mc_reg row, row_end, to, at, bytes, address, beyond, enough;
} ring_async;

/* Where warps share a row block: where this lane's sums of it lie behind the ring, where those for its own
   part lie, the row block's barrier, and scratch for four accumulators that move at once. */
typedef struct ring_sum {
    mc_reg at, part_at, barrier, to, other, gift[4];
} ring_sum;

/* The row blocks of A, and which of them this warp takes (rows.c). */
typedef struct ring_rows {
    mc_operand count;     /* row blocks of A; set where the kernel needs it */
    mc_reg block, blocks; /* this thread block's number, and how many the column tile has */
    /* this warp's row block, counted in its thread block, and its place; resident: of the next turn */
    mc_reg item, place;
    mc_reg ptr, order, at; /* row_ptr (of this warp's part), row_order; scratch */
    /* resident: what the items of this turn and the next add up to; whether there is a next place */
    mc_reg two_items, is_next;
    mc_reg next_first, next_last, next_c_row_block;
} ring_rows;

typedef struct ring_emitter {
    spmm_emitter e;
    const ring_plan *plan;
    spmm_sums sums;
    spmm_pairs pairs;
    mc_reg col;                        /* this lane's first column of C */
    out_factors factors;               /* its scales and biases */
    spmm_value_lanes has_values;       /* whether this lane holds values of A */
    mc_reg ring_at, full_at, empty_at; /* shared addresses */
    mc_reg k, windows;                 /* rows of B, none where the spec fixes them; windows of B */
    ring_async async;
    ring_rows rows;
    /* of the row block at hand: its stride at hand, the end of its strides, its number */
    mc_reg stride, row_last, c_row_block;
    mc_reg places_base, values_base, control_base, places_at, values_at, control_at;
    packed_stride at_hand, next_up; /* the stride at hand, and the next, which is on its way */
    mc_reg fetch, some, whole;      /* fetch, some: scratch; whole: the stride at hand has slots from 16 on */
    spmm_value_lanes some_values;
    mc_reg wants; /* what the control of the stride at hand says of windows */
    /* Where this warp is in the ring: the barriers of the next window to wait for and of the next one to
       leave, and how many windows it has waited for and left. */
    mc_reg wait_at, parity, leave_at, empty_end, waited, left;
    mc_reg count, again, wrap, done, first_lane, state;
    /* resident: WINDOWED_WANTS_MASK while windows still come, then 0, since all of B is there */
    mc_reg heed;
    mc_reg lane_unit; /* 1 in both halves of the word for lanes that read the 16 columns beside; else 0 */
    mc_reg at[RING_HALVES], matrix_at, matrix[RING_HALVES][RING_MAX_LOADS][4];
    mc_reg late_value[SPMM_MAX_MMA]; /* values of the second half, while those of the next stride move up */
    ring_sum sum;
    mc_label next; /* resident: behind a row block's store */
} ring_emitter;

/* rows.c */

/* Sets stride, row_last and c_row_block for this warp's first place. */
void ring_emit_first_row(ring_emitter *r);
/* Resident: declares what the next place needs. */
void ring_declare_turns(ring_emitter *r);
/* Resident: loads what there is to know of the row block at the next place. */
void ring_emit_next_row(ring_emitter *r);

/* copy.c */

/* Sets ring_at and windows. */
void ring_emit_addresses(ring_emitter *r);
/* Sets full_at and empty_at. */
void ring_emit_barrier_addresses(ring_emitter *r);
/* All of the copying warp's instructions. It initialises the barriers, and meets the other warps at barrier
   0. */
void ring_emit_copier(ring_emitter *r);
/* Waits until the barrier at AT is beyond the phase of PARITY. */
void ring_emit_await(ring_emitter *r, const char *name, mc_reg at, mc_reg parity);
/* Moves AT to the next stage's barrier; at END, back to START, where PARITY, if there is one, changes. */
void ring_emit_next_stage(ring_emitter *r, mc_reg at, mc_reg start, mc_reg end, mc_reg wrap, mc_reg parity);

/* Sets `wants` for the stride at hand. */
void ring_emit_wants(ring_emitter *r);

/* sum.c */

void ring_declare_sum(ring_emitter *r);
void ring_emit_sum_place(ring_emitter *r);
/* Brings the sums of this part's columns into the first accumulators. */
void ring_emit_sum(ring_emitter *r);

/* store.c */

/* Sets col, the lane's first column of C. */
void ring_emit_column(ring_emitter *r);
void ring_declare_factors(ring_emitter *r);
/* Loads scales and biases of the lane's two rows: before the loop over strides, which hides their latency. */
void ring_emit_row_factors(ring_emitter *r);
/* Stores the row block at hand in C; then goes to r->next, or ends. */
void ring_emit_output(ring_emitter *r);

/* async.c. All of it wants the shapes loaded, and every warp to take part. */

/* Begins to copy the first windows. */
void ring_emit_async_fill(ring_emitter *r);
/* Waits for the first windows. */
void ring_emit_async_start(ring_emitter *r);
/* Before a stride: passes as many windows as its control says. */
void ring_emit_async_control(ring_emitter *r);
/* Behind the last stride of a row block: passes all other windows. Behind a later row block nothing is left
   to pass. */
void ring_emit_async_rest(ring_emitter *r);

#endif
