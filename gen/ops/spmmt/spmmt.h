/* The family `spmmt`: C = A^T B, of a sparse A whose values lie once, row block by row block.
 *
 *   spmmt.c     schema, hints, the family
 *   plan.c      the plan, and what fields have against each other
 *   contract.c  what a launch takes, facts, names
 *   costs.c     what the model of times adds to a GPU's rates; estimate.c is the model
 *   emit.c      the kernel as a whole
 *   copy.c      rows of B to shared memory
 *   step.c      a step: vectors of a row block times its rows of B, added to accumulators
 *   store.c     accumulators become C
 *
 * C stands still: a thread block has a tile of it in shared memory, in f32. Its warps share the tile,
 * warp_k rows (columns of A) by warp_n columns each, so that none writes another's. Each walks over all row
 * blocks of A. The vectors of a row block are the mma's 16 rows, its V rows k, columns of B the 8 columns:
 * an accumulator's row is wherever the vector's column says. */
#ifndef MC_SPMMT_FAMILY_H
#define MC_SPMMT_FAMILY_H

#include "parts/emit.h"
#include "parts/fragment.h"
#include "parts/output.h"
#include "parts/transposed.h"

extern const mc_family mc_family_spmmt;

typedef enum spmmt_side { SPMMT_F16, SPMMT_BF16 } spmmt_side;

enum {
    SPMMT_ELEMENT = 2, /* bytes, of A and B */
    SPMMT_HALF = 16,   /* columns of C of a row of accumulators */
    SPMMT_COLUMNS = 8, /* of an mma */
    SPMMT_COPY = 16,   /* bytes */
    SPMMT_ZEROS = 64,  /* bytes of the row of zeros: what a lane reads of a row */
    SPMMT_MAX_WARPS = 16,
    SPMMT_MAX_SHARED = 227 << 10,
    SPMMT_MAX_AHEAD = 6,
    SPMMT_MAX_MMA = TRANSPOSED_MAX_SLOTS / TRANSPOSED_MMA_SLOTS, /* of a step, for 8 columns */
    SPMMT_MAX_HALVES = 2,                                        /* of a warp's columns */
    SPMMT_MAX_COPIES = 16,                                       /* of a thread, for each stage */
};

/* The fields, in the order of the schema. */
enum {
    F_LHS = FIELD_ARCH + 1,
    F_RHS,
    F_OUT,
    F_VEC,
    F_TILE_K,
    F_TILE_N,
    F_WARP_K,
    F_WARP_N,
    F_SLOTS,
    F_BLOCKS,
    F_AHEAD,
    F_STAGE_ROWS,
    F_M,
    F_N,
    F_K,
    F_LDB,
    F_LDC,
};

typedef struct spmmt_plan {
    spmmt_side side;
    out_element out;
    int vec;
    int tile_k, tile_n; /* rows and columns of C of a thread block */
    int warp_k, warp_n; /* of a warp */
    int parts, beside;  /* warps along k, and along n */
    int slots, mmas;    /* of a step */
    int blocks;         /* row blocks of a step */
    int ahead;          /* steps that values are asked for ahead */
    int stage_rows;     /* rows of B */
    int pitch;          /* bytes from row to row of a stage */
    int fragments;      /* operands of B, a register each, that a step takes: for 8 columns and 8 rows */
    int64_t m, n, k, ldb, ldc;
} spmmt_plan;

static inline int spmmt_warps(const spmmt_plan *plan) { return plan->parts * plan->beside; }
static inline int spmmt_threads(const spmmt_plan *plan) { return MC_WARP * spmmt_warps(plan); }
static inline int spmmt_halves(const spmmt_plan *plan) { return plan->warp_n / SPMMT_HALF; }
/* Steps of a turn: those of two turns have registers of their own. */
static inline int spmmt_turn(const spmmt_plan *plan) { return 2 * plan->ahead; }
/* Shared memory: accumulators, [warp][half][row]; stages of B; a row of zeros, where V is below 8. */
static inline int spmmt_half_bytes(const spmmt_plan *plan) { return plan->warp_k * TRANSPOSED_ROW_BYTES; }
static inline int spmmt_share_bytes(const spmmt_plan *plan) {
    return spmmt_halves(plan) * spmmt_half_bytes(plan);
}
static inline int spmmt_stages_at(const spmmt_plan *plan) {
    return spmmt_warps(plan) * spmmt_share_bytes(plan);
}
static inline int spmmt_stage_bytes(const spmmt_plan *plan) { return plan->stage_rows * plan->pitch; }
static inline int spmmt_zeros_at(const spmmt_plan *plan) {
    return spmmt_stages_at(plan) + TRANSPOSED_STAGES * spmmt_stage_bytes(plan);
}
static inline bool spmmt_has_zeros(const spmmt_plan *plan) { return plan->vec < SPMMT_COLUMNS; }
static inline int spmmt_shared_bytes(const spmmt_plan *plan) {
    return spmmt_zeros_at(plan) + (spmmt_has_zeros(plan) ? SPMMT_ZEROS : 0);
}
/* Operands of A, registers of 2 values, of a row of an mma: two of 16 rows. */
static inline int spmmt_a_words(const spmmt_plan *plan) { return plan->vec > SPMMT_COLUMNS ? 2 : 1; }
/* Operands of B that a step takes for 8 columns, each of 8 rows: of a row block's two halves, or of each row
   block. */
static inline int spmmt_row_parts(const spmmt_plan *plan) { return spmmt_a_words(plan) * plan->blocks; }
/* Of a step: the lane's rows of its mma, words of all its slots; registers of its values, of its sums. */
static inline int spmmt_rows(const spmmt_plan *plan) { return 2 * plan->mmas; }
static inline int spmmt_step_words(const spmmt_plan *plan) {
    return transposed_step_words(plan->slots, plan->blocks);
}
static inline int spmmt_values(const spmmt_plan *plan) {
    return plan->blocks * 2 * plan->mmas * spmmt_a_words(plan);
}
static inline int spmmt_sums(const spmmt_plan *plan) { return 2 * plan->mmas * spmmt_halves(plan) * 4; }

/* Registers of a thread, about. */
int spmmt_registers(const spmmt_plan *plan);

void spmmt_make_plan(const int64_t *point, void *plan, mc_complaints *complaints);
void spmmt_contract(const void *plan, mc_contract *contract);
void spmmt_facts(const void *plan, mc_facts *facts);
void spmmt_entry_name(const void *plan, char name[MC_MAX_ENTRY]);
double spmmt_estimate(const void *plan, const mc_gpu *gpu, const mc_problem *problem);
void spmmt_emit(const void *plan, mc_builder *b);

#endif
