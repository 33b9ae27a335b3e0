/* The solver `ring`: windows of B go through a ring in shared memory, from which all row blocks of the thread
   block gather. Its plan. docs/house.md says what ring, window and stage are, windowed.h how strides refer to
   windows. */
#ifndef MC_SPMM_RING_PLAN_H
#define MC_SPMM_RING_PLAN_H

#include "ops/spmm/problem.h"
#include "parts/columns.h"
#include "parts/pipeline.h"
#include "parts/windowed.h"

enum {
    RING_LOAD_BYTES = 32,
    RING_NARROW_BYTES = 16,
    RING_BY_ELEMENTS = 1, /* ring_plan.copy */
    RING_PIECE = 16,      /* bytes of A that a lane copies at once */
    RING_HELD = 3         /* strides of A that registers hold at most */
};

/* The names of `resident`, in their order. */
enum { RING_OFF, RING_ON, RING_ALWAYS };

typedef struct ring_plan {
    spmm_plan base;
    int window, stages; /* rows of B that are copied at once; windows that the ring holds */
    int copy;           /* async: bytes of a thread's copy, or RING_BY_ELEMENTS; 0: the kernel finds it out */
    bool tensor;        /* staging "tma": a warp of its own copies, by tensor copies; else all threads copy */
    int together;       /* row blocks beside one another in C; above 1 they share a tile */
    int parts; /* thread blocks of a cluster that share row blocks, each with a part of k's windows */
    /* Thread blocks keep B's column tile and take row blocks in turn where the ring has all of it; whether it
       has it in any case. k is at most window * stages then, for each part, and no window passes */
    bool resident, keeps_all;
    int depth;     /* strides of A that a warp's queue holds; 2 and 3: there is none (queue.c) */
    bool prefetch; /* a lane asks L2 for its warp's strides ahead */
    int queues;    /* where the queues begin in shared memory */
} ring_plan;

/* Bytes of a row of B in the ring, and of a window; ldmatrix that read a row. */
static inline int ring_row_bytes(const ring_plan *plan) {
    return (int)spmm_b_bytes(&plan->base, plan->base.tile_n);
}
static inline int ring_window_bytes(const ring_plan *plan) { return plan->window * ring_row_bytes(plan); }
/* Whether rows have 16 bytes, which are 16 columns of 8 bits. An ldmatrix reads all 32 slots of a stride
   then, and an mma multiplies them by values of both halves (integer/pairs.c). */
static inline bool ring_is_narrow(const ring_plan *plan) { return ring_row_bytes(plan) == RING_NARROW_BYTES; }
static inline int ring_loads(const ring_plan *plan) {
    return ring_is_narrow(plan) ? 1 : ring_row_bytes(plan) / RING_LOAD_BYTES;
}

/* Whether threads copy windows, and pass from one to the next together (async.c). */
static inline bool ring_passes(const ring_plan *plan) { return !plan->tensor && !plan->keeps_all; }

/* Whether mma.sp pick bytes out of pairs (sparse.c). */
static inline bool ring_is_sparse(const ring_plan *plan) { return plan->base.math.sparse; }

/* Sparse mma: pieces of a row, of WINDOWED_UNIT bytes, of which an ldmatrix brings one of all 32 slots; and
   how many are on their way while one is multiplied. */
static inline int ring_pieces(const ring_plan *plan) { return ring_row_bytes(plan) / WINDOWED_UNIT; }
static inline int ring_pieces_ahead(const ring_plan *plan) { return ring_pieces(plan) > 2 ? 2 : 1; }

/* Rows of B that the ring holds. */
static inline int ring_capacity(const ring_plan *plan) { return plan->window * plan->stages; }
/* The greatest k of which the rings of all parts hold all rows. */
static inline int ring_most_k(const ring_plan *plan) { return ring_capacity(plan) * plan->parts; }

/* Whether lanes load elements of rows in the ring, of 32 bits each, which ldmatrix does not transpose
   (words.c). A load is 16 bytes of a slot's row then, and as many loads read a row. */
static inline bool ring_reads_words(const ring_plan *plan) { return plan->base.math.b_bits == 32; }
/* A lane's words of a stride's `places`. */
static inline int ring_place_words(const ring_plan *plan) { return ring_reads_words(plan) ? 4 : 1; }

/* Neighbouring columns of C that a lane has at the store: a run (store.c). They come of a pair of bytes of B,
   or of two pairs where each pair is a column or vectors have 16 rows; of words they come of a load, or of
   two. And columns of which a lane has one run: all lane groups g share them, or, with vectors of 16 rows,
   the four lanes t. */
static inline int ring_run(const ring_plan *plan) {
    if (ring_reads_words(plan)) return spmm_is_tall(&plan->base.math) ? 8 : 4;
    if (spmm_is_tall(&plan->base.math)) return 2 * 16 / plan->base.math.b_bits;
    return spmm_b_is_paired(&plan->base) ? 4 : 2;
}
static inline int ring_run_span(const ring_plan *plan) {
    return ring_run(plan) * (spmm_is_tall(&plan->base.math) ? 4 : 8);
}
/* Rows that a lane has: one where the row block has no more. Of two the second one is so far behind the
   first: rows 2t and 2t + 1, or, with vectors of 16 rows, g and g + 8. */
static inline int ring_lane_rows(const ring_plan *plan) { return plan->base.vec == 1 ? 1 : 2; }
static inline int ring_row_step(const ring_plan *plan) { return spmm_is_tall(&plan->base.math) ? 8 : 1; }

/* A lane's accumulators of one weight. */
static inline int ring_acc_count(const ring_plan *plan) {
    return 2 * ring_run(plan) * plan->base.tile_n / ring_run_span(plan);
}

/* Resident parts: row blocks that a thread block finishes in a turn, and warps beside the others, each of
   which finishes one (finishers.c). */
static inline int ring_finished(const ring_plan *plan) { return plan->base.warps / plan->parts; }
static inline int ring_finishers(const ring_plan *plan) {
    return plan->resident && plan->parts > 1 ? ring_finished(plan) : 0;
}
/* Other parts: each thread block stores some of the columns (parts.c). */
static inline bool ring_shares_columns(const ring_plan *plan) { return plan->parts > 1 && !plan->resident; }

/* Whether warps may take turns in which they have no row block. */
static inline bool ring_goes_along(const ring_plan *plan) {
    return plan->together > 1 || (plan->resident && plan->parts > 1);
}

/* A row of zeros behind the last stage. Where values may be infinite, padding slots name it. With floats and
   sparse mma its zeros make arrivals wait for reads (tma.c). */
static inline int ring_zero_offset(const ring_plan *plan) { return plan->stages * ring_window_bytes(plan); }
static inline int ring_zero_bytes(const ring_plan *plan) {
    const spmm_arithmetic *math = &plan->base.math;
    return math->kind->real || ring_is_sparse(plan) ? 128 : 0;
}

/* Where the sums lie that warps share: behind the ring and its barriers. */
static inline int ring_sum_offset(const ring_plan *plan) {
    int window = ring_window_bytes(plan);
    return ring_zero_bytes(plan) +
           (plan->tensor ? pipeline_bytes(plan->stages, window) : plan->stages * window);
}
/* The fewest columns that a warp can have of a row block that warps share: an ldmatrix takes 32 bytes of a
   row, and what lanes load of it all of it. */
static inline int ring_part_columns(const ring_plan *plan) {
    return ring_reads_words(plan) ? 32 : spmm_b_is_paired(&plan->base) ? 64 : 32 / spmm_b_unit(&plan->base);
}
/* Whether one of the warps that share a row block has all of its sums in the end, as there are no columns
   for each; and how many warps, or thread blocks of a cluster, have columns of a row block to store. */
static inline bool ring_sums_to_first(const ring_plan *plan) {
    return plan->base.split > 1 && plan->base.split > plan->base.tile_n / ring_part_columns(plan);
}
static inline int ring_owners(const ring_plan *plan) {
    if (ring_shares_columns(plan)) return plan->parts;
    return ring_sums_to_first(plan) ? 1 : plan->base.split;
}
/* sum.c. Bytes of shared memory, behind the barriers, through which warps that share a row block exchange
   sums. */
unsigned ring_sum_bytes(const ring_plan *plan);

/* together.c. The tile of columns that row blocks share, the rows of a column that a thread stores at once,
   and the bytes of all tiles, behind the barriers. */
column_tile ring_tile(const ring_plan *plan);
int ring_tile_store(const ring_plan *plan);
unsigned ring_tile_bytes(const ring_plan *plan);

/* parts.c, finishers.c. Bytes of shared memory, behind the barriers, through which thread blocks that share
   row blocks exchange sums: room for what comes in, and barriers. */
unsigned ring_parts_bytes(const ring_plan *plan);
unsigned ring_finisher_bytes(const ring_plan *plan);

/* queue.c. Whether warps have queues; bytes of an entry, and of all queues. */
static inline bool ring_is_queued(const ring_plan *plan) { return plan->depth > RING_HELD; }
/* Whether the loop goes through all strides that registers hold, so that none of them moves. */
static inline bool ring_rotates(const ring_plan *plan) { return plan->depth == RING_HELD; }
/* Whether more than the next stride has been asked for: one of these two. */
static inline bool ring_asks_ahead(const ring_plan *plan) { return plan->depth > 2; }
int ring_entry_bytes(const ring_plan *plan);
unsigned ring_queue_bytes(const ring_plan *plan);

/* B's address must be a multiple of so many bytes, and ldb of so many elements. */
static inline int ring_copy_unit(const ring_plan *plan) {
    return plan->tensor ? 16 : ring_is_narrow(plan) ? 1 : 4;
}
/* Whether rows of B may have to be copied element by element (elements.c). */
static inline bool ring_may_copy_elements(const ring_plan *plan) {
    return ring_copy_unit(plan) == 1 && plan->copy < 4;
}
static inline int ring_ldb_unit(const ring_plan *plan) {
    return ring_copy_unit(plan) * 8 / plan->base.math.b_bits;
}

/* plan.c. Derives PLAN, a ring_plan, and complains of what cannot run. */
void ring_make_plan(const int64_t *point, void *plan, mc_complaints *complaints);
/* check.c */
void ring_check(const int64_t *point, const ring_plan *plan, mc_complaints *complaints);
/* estimate.c */
double ring_estimate(const void *plan, const mc_gpu *gpu, const mc_problem *problem);
/* emit.c */
void ring_emit(const void *plan, mc_builder *b);

#endif
