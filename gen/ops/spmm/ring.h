/* What the ring kernel's emitters share: the registers of its warps. */
#ifndef MC_SPMM_RING_H
#define MC_SPMM_RING_H

#include "ops/spmm/emit.h"

enum {
    RING_BARRIER_BYTES = 8,
    RING_BARRIERS = 2,  /* a stage: full, empty */
    RING_MAX_LOADS = 4, /* ldmatrix of 16 slots: 32 bytes of each row */
    RING_HALVES = 2,    /* of a stride */
    RING_LOAD_BYTES = 32,
    RING_WIDTHS = 3, /* of a cp.async: 16, 8, 4 bytes */
    RING_ODD_COLUMN =
        4, /* bit of an accumulator's number, 4-bit B: its mma has odd columns (emit_multiply_nibbles) */
};

/* What a stride's loads bring. */
typedef struct packed_stride {
    mc_reg place, value[MAX_DIGITS * RING_HALVES], control; /* value: of each mma, both halves */
} packed_stride;

/* Staging "async": what a thread copies, and how far the block is. */
typedef struct ring_async {
    mc_operand log_width, log_pieces, width; /* bytes of a copy, copies of a row of the tile */
    mc_reg wide[RING_WIDTHS];                /* which width it is; none where that is settled */
    mc_reg first, row_step, to_step;         /* its first row in a window; to its next, in rows and bytes */
    mc_reg inside, unit, to_first, from;     /* bytes inside n; 16-byte unit, in bytes; where to and from */
    mc_reg copied, stage_row, stage_at; /* windows so far; the next one's first row and place in the ring */
    mc_reg passes;                      /* that are to come */
    mc_reg row, row_end, to, at, bytes, address, beyond, enough;
} ring_async;

/* Of the warps that share a row block: this lane's sums behind the ring, those for its part, and what a quad of them needs. */
typedef struct ring_sum {
    mc_reg at, part_at, barrier, to, other, gift[4];
} ring_sum;

/* The row blocks of A, and which this warp takes. */
typedef struct ring_rows {
    mc_operand count;          /* of A; where it matters */
    mc_reg block, blocks;      /* this thread block, all of the column tile */
    mc_reg item, place;        /* of this thread block, of all: this warp's, resident the next one */
    mc_reg ptr, order, at;     /* the arrays */
    mc_reg two_items, is_next; /* resident: of this turn and the next; there is a next place */
    mc_reg next_first, next_last, next_c_row_block;
} ring_rows;

typedef struct spmm_ring {
    spmm_emitter e;
    mc_reg ring_at, full_at, empty_at; /* shared addresses */
    mc_reg k, windows;                 /* rows of B, none where fixed; windows that it has */
    ring_async async;
    ring_rows rows;
    mc_reg stride, row_last,
        c_row_block; /* of the row block at hand: this stride, the end of all; which it is */
    mc_reg places_base, values_base, control_base, places_at, values_at, control_at;
    packed_stride at_hand, next_up; /* next_up: on its way */
    mc_reg fetch, some, whole;      /* whole: the stride at hand has slots from 16 on */
    mc_reg some_values[MAX_DIGITS];
    mc_reg wants; /* what the control says of windows */
    /* Where this warp is in the ring: the barriers of the next window to wait for and to leave, and how many were. */
    mc_reg wait_at, parity, leave_at, empty_end, waited, left;
    mc_reg count, again, wrap, done, first_lane, state;
    mc_reg heed;      /* resident: WINDOWED_WANTS_MASK while windows come, then 0: all of B is there */
    mc_reg lane_unit; /* 0, or 1 in both halves for the lanes that read the columns beside */
    mc_reg at[RING_HALVES], matrix_at, matrix[RING_HALVES][RING_MAX_LOADS][4];
    mc_reg late_value[MAX_DIGITS]; /* of the second half, while the next stride's registers move up */
    mc_reg zero, even[2 * MAX_DIGITS], odd[2 * MAX_DIGITS]; /* A's values; 4-bit B: of each mma */
    ring_sum sum;
    mc_label next; /* behind a row block's store */
} spmm_ring;

/* Of B in the ring. */
static inline int ring_row_bytes(const spmm_plan *plan) {
    return (int)side_row_bytes(plan->rhs, plan->tile_n);
}
static inline int ring_window_bytes(const spmm_plan *plan) { return plan->window * ring_row_bytes(plan); }
static inline int ring_loads(const spmm_plan *plan) { return ring_row_bytes(plan) / RING_LOAD_BYTES; }

/* At the store a lane has so many neighbouring columns of each 8 times as many: those of a pair of bytes, or of two pairs that
   are a column each (ring_store.c). */
static inline int ring_run(const spmm_plan *plan) { return plan->rhs.bits == 4 ? 4 : 2; }

/* Accumulators of one weight. */
static inline int ring_acc_count(const spmm_plan *plan) { return plan->tile_n / 16 * 4; }

/* From the ring to what lies behind it and its barriers. */
static inline int ring_sum_offset(const spmm_plan *plan) {
    int barriers = plan->staging == SPMM_TMA ? RING_BARRIERS * RING_BARRIER_BYTES : 0;
    return plan->stages * (ring_window_bytes(plan) + barriers);
}

/* Staging "tma". */
static inline bool ring_has_copier(const spmm_ring *r) { return r->e.plan->staging == SPMM_TMA; }

/* ring_rows.c */

/* Sets stride, row_last and c_row_block for this warp's first place. */
void ring_emit_first_row(spmm_ring *r);
/* Resident: what the next place needs. */
void ring_declare_turns(spmm_ring *r);
/* Resident: asks for the next place. */
void ring_emit_next_row(spmm_ring *r);

/* ring_copy.c */

/* Where the ring lies, and how many windows B has. */
void ring_emit_addresses(spmm_ring *r);
/* Where its barriers lie. */
void ring_emit_barrier_addresses(spmm_ring *r);
/* All of the copying warp; it readies the barriers and meets the other warps at barrier 0. */
void ring_emit_copier(spmm_ring *r);
/* Until the barrier at AT is beyond the phase of PARITY. */
void ring_emit_await(spmm_ring *r, const char *name, mc_reg at, mc_reg parity);
/* AT to the next stage's barrier; around the ring, back to START. PARITY, if there is one, changes there. */
void ring_emit_next_stage(spmm_ring *r, mc_reg at, mc_reg start, mc_reg end, mc_reg wrap, mc_reg parity);

/* Sets `wants` for the stride at hand. */
void ring_emit_wants(spmm_ring *r);

/* ring_sum.c */

/* Bytes of shared memory behind the barriers where the warps that share a row block put sums. */
unsigned ring_sum_bytes(const spmm_plan *plan);
void ring_declare_sum(spmm_ring *r);
void ring_emit_sum_place(spmm_ring *r);
/* This part's columns of the row block's sums into the first accumulators. */
void ring_emit_sum(spmm_ring *r);

/* ring_store.c */

/* The lane's first column of C. */
void ring_emit_column(spmm_ring *r);
void ring_declare_factors(spmm_ring *r);
/* Scales and biases of the lane's two rows: before the loop over strides, which hides their latency. */
void ring_emit_row_factors(spmm_ring *r);
/* The row block at hand to C; then to r->next, or the end. */
void ring_emit_output(spmm_ring *r);

/* ring_async.c: requires the shapes; every warp takes part in all of it. */

/* Asks for the first windows. */
void ring_emit_async_fill(spmm_ring *r);
/* They are there. */
void ring_emit_async_start(spmm_ring *r);
/* Before a stride: what its control says. */
void ring_emit_async_control(spmm_ring *r);
/* Behind the last stride of a row block; of another one behind it there is nothing left to pass. */
void ring_emit_async_rest(spmm_ring *r);

#endif
