/* What the ring kernel's emitters share: the registers of its warps. docs/house.md says what ring, window and
   stage are, windowed.h how strides refer to windows. */
#ifndef MC_SPMM_RING_H
#define MC_SPMM_RING_H

#include "ops/spmm/emit.h"

enum {
    RING_BARRIER_BYTES = 8,
    RING_BARRIERS = 2,  /* of a stage: full and empty */
    RING_MAX_LOADS = 4, /* ldmatrix for 16 slots; each takes 32 bytes of their rows */
    RING_HALVES = 2,    /* halves of a stride: 16 slots each */
    RING_LOAD_BYTES = 32,
    RING_WIDTHS = 3, /* widths of a cp.async: 16, 8 and 4 bytes */
    RING_ODD_COLUMN =
        /* with a 4-bit B, the bit of an accumulator's number that says that its mma has odd columns
           (emit_multiply_nibbles) */
    4,
};

/* What a lane loads of a stride. */
typedef struct packed_stride {
    mc_reg place, value[MAX_DIGITS * RING_HALVES], control; /* value: for each mma, of both halves */
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

/* The row blocks of A, and which of them this warp takes (ring_rows.c). */
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

typedef struct spmm_ring {
    spmm_emitter e;
    mc_reg ring_at, full_at, empty_at; /* shared addresses */
    mc_reg k, windows;                 /* rows of B, none where the spec fixes them; windows of B */
    ring_async async;
    ring_rows rows;
    /* of the row block at hand: its stride at hand, the end of its strides, its number */
    mc_reg stride, row_last, c_row_block;
    mc_reg places_base, values_base, control_base, places_at, values_at, control_at;
    packed_stride at_hand, next_up; /* the stride at hand, and the next, which is on its way */
    mc_reg fetch, some, whole;      /* fetch, some: scratch; whole: the stride at hand has slots from 16 on */
    mc_reg some_values[MAX_DIGITS];
    mc_reg wants; /* what the control of the stride at hand says of windows */
    /* Where this warp is in the ring: the barriers of the next window to wait for and of the next one to
       leave, and how many windows it has waited for and left. */
    mc_reg wait_at, parity, leave_at, empty_end, waited, left;
    mc_reg count, again, wrap, done, first_lane, state;
    /* resident: WINDOWED_WANTS_MASK while windows still come, then 0, since all of B is there */
    mc_reg heed;
    mc_reg lane_unit; /* 1 in both halves of the word for lanes that read the 16 columns beside; else 0 */
    mc_reg at[RING_HALVES], matrix_at, matrix[RING_HALVES][RING_MAX_LOADS][4];
    mc_reg late_value[MAX_DIGITS]; /* values of the second half, while those of the next stride move up */
    /* A's values as operands; with a 4-bit B, of each mma */
    mc_reg zero, even[2 * MAX_DIGITS], odd[2 * MAX_DIGITS];
    ring_sum sum;
    mc_label next; /* resident: behind a row block's store */
} spmm_ring;

/* Bytes of a row of B in the ring, and of a window; ldmatrix that read a row. */
static inline int ring_row_bytes(const spmm_plan *plan) {
    return (int)side_row_bytes(plan->rhs, plan->tile_n);
}
static inline int ring_window_bytes(const spmm_plan *plan) { return plan->window * ring_row_bytes(plan); }
static inline int ring_loads(const spmm_plan *plan) { return ring_row_bytes(plan) / RING_LOAD_BYTES; }

/* Neighbouring columns of C that a lane has at the store, of each 8 times as many (ring_store.c). They come
   of a pair of bytes of B, or of two pairs where each pair is a column. */
static inline int ring_run(const spmm_plan *plan) { return plan->rhs.bits == 4 ? 4 : 2; }

/* A lane's accumulators of one weight. */
static inline int ring_acc_count(const spmm_plan *plan) { return plan->tile_n / 16 * 4; }

/* Where the sums lie that warps share: behind the ring and its barriers. */
static inline int ring_sum_offset(const spmm_plan *plan) {
    int barriers = plan->staging == SPMM_TMA ? RING_BARRIERS * RING_BARRIER_BYTES : 0;
    return plan->stages * (ring_window_bytes(plan) + barriers);
}

/* Whether a warp of its own copies: staging "tma". */
static inline bool ring_has_copier(const spmm_ring *r) { return r->e.plan->staging == SPMM_TMA; }

/* ring_rows.c */

/* Sets stride, row_last and c_row_block for this warp's first place. */
void ring_emit_first_row(spmm_ring *r);
/* Resident: declares what the next place needs. */
void ring_declare_turns(spmm_ring *r);
/* Resident: loads what there is to know of the row block at the next place. */
void ring_emit_next_row(spmm_ring *r);

/* ring_copy.c */

/* Sets ring_at and windows. */
void ring_emit_addresses(spmm_ring *r);
/* Sets full_at and empty_at. */
void ring_emit_barrier_addresses(spmm_ring *r);
/* All of the copying warp's instructions. It initialises the barriers, and meets the other warps at barrier
   0. */
void ring_emit_copier(spmm_ring *r);
/* Waits until the barrier at AT is beyond the phase of PARITY. */
void ring_emit_await(spmm_ring *r, const char *name, mc_reg at, mc_reg parity);
/* Moves AT to the next stage's barrier; at END, back to START, where PARITY, if there is one, changes. */
void ring_emit_next_stage(spmm_ring *r, mc_reg at, mc_reg start, mc_reg end, mc_reg wrap, mc_reg parity);

/* Sets `wants` for the stride at hand. */
void ring_emit_wants(spmm_ring *r);

/* ring_sum.c */

/* Bytes of shared memory, behind the barriers, through which warps that share a row block exchange sums. */
unsigned ring_sum_bytes(const spmm_plan *plan);
void ring_declare_sum(spmm_ring *r);
void ring_emit_sum_place(spmm_ring *r);
/* Brings the sums of this part's columns into the first accumulators. */
void ring_emit_sum(spmm_ring *r);

/* ring_store.c */

/* Sets e.col, the lane's first column of C. */
void ring_emit_column(spmm_ring *r);
void ring_declare_factors(spmm_ring *r);
/* Loads scales and biases of the lane's two rows: before the loop over strides, which hides their latency. */
void ring_emit_row_factors(spmm_ring *r);
/* Stores the row block at hand in C; then goes to r->next, or ends. */
void ring_emit_output(spmm_ring *r);

/* ring_async.c. All of it wants the shapes loaded, and every warp to take part. */

/* Begins to copy the first windows. */
void ring_emit_async_fill(spmm_ring *r);
/* Waits for the first windows. */
void ring_emit_async_start(spmm_ring *r);
/* Before a stride: passes as many windows as its control says. */
void ring_emit_async_control(spmm_ring *r);
/* Behind the last stride of a row block: passes all other windows. Behind a later row block nothing is left
   to pass. */
void ring_emit_async_rest(spmm_ring *r);

#endif
