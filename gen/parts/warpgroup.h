/* Products by asynchronous tensor cores: a warpgroup adds A (its rows x k) B (k x n) to sums in its
 * registers, of operands that lie in the stages of a pipeline (shared_tile.h), a stage at a time.
 *
 *   warpgroup_mma m = {.b = b, .form = wgmma_form_of("f16", "f16", "f32"), .lhs = &a, .rhs = &bt, ...};
 *   warpgroup_begin(&m, first, row, warp_row, lane);
 *   warpgroup_issue(&m, 0);        for the stage at hand, which has arrived
 *   warpgroup_next(&m, wrap);      the next stage
 *   warpgroup_wait(&m, 1);         those before the last one issued have ended: their stage may be left
 *
 * A wgmma reads shared memory, and registers, until it has been waited for. Between there is nothing to
 * write: sums, A in registers and metadata are touched again only behind a wait. wgmma_fence stands before
 * the first wgmma that reads registers which the warp has written.
 *
 * With A in registers, or sparse, there are two sets of registers, which stages take in turn: a stage's set
 * was last read by the stage before the last one, which has been waited for.
 *
 * `adds` is false for a tile's first stage, whose first wgmma writes the sums. So nothing is zeroed.
 *
 * With `promoted` each stage's sums are made anew, and warpgroup_promote adds them to the totals, in f32,
 * once the stage has been waited for. With `scaled` it multiplies them by `scales` first, which the caller
 * writes for each stage: one for each of the lane's two rows of a block.
 *
 * In D, lane 4 g + t of warp w of the warpgroup has rows 16 w + g and 16 w + g + 8, and of each 8 columns 2 t
 * and 2 t + 1: sum 4 j + 2 h + c is that of row 16 w + g + 8 h and column 8 j + 2 t + c (PTX ISA, "Register
 * Fragments and Shared Memory Matrix Layouts"). */
#ifndef MC_WARPGROUP_H
#define MC_WARPGROUP_H

#include "parts/roles.h"
#include "parts/shared_tile.h"

/* What a wgmma multiplies and adds up, and which instruction that is. */
typedef struct wgmma_form {
    const char *lhs, *rhs, *sums;
    mc_opcode shared, registers;               /* A in shared memory; in registers */
    mc_opcode sparse_shared, sparse_registers; /* the same where A is 2:4 sparse */
    int bytes;                                 /* of an element */
    int signs, transposes;                     /* how many operands of these it has, A's and B's */
} wgmma_form;

/* NULL: there is none. */
const wgmma_form *wgmma_form_of(const char *lhs, const char *rhs, const char *sums);

/* Bytes of k that one wgmma takes of A, and of B: of a sparse A it takes the nonzeros of twice as much. */
enum { WGMMA_K_BYTES = 32 };

enum { WARPGROUP_SETS = 2, WARPGROUP_BLOCKS = 2, WGMMA_SUMS = 128, WGMMA_A_REGS = 4, STAGE_STEPS = 4 };
enum { WARPGROUP_LANE_ROWS = 2, WARPGROUP_LANE_RUN = 2 }; /* a lane's rows of a block; columns side by side */

/* The caller sets the first part. An A in registers has one block of rows; more are a mistake. */
typedef struct warpgroup_mma {
    mc_builder *b;
    const wgmma_form *form;
    const shared_tile *lhs, *rhs;
    int lhs_at, rhs_at, stage_bytes; /* where the tiles lie in a stage */
    int n;                           /* columns of a tile of C: the rows of `rhs` */
    int blocks;                      /* of 64 rows that the warpgroup has */
    bool from_registers;             /* A is loaded to registers first */
    bool sparse;                     /* A's nonzeros: lhs has half of rhs's k */
    bool promoted;                   /* of sums in f32 */
    bool scaled;                     /* promoted: stages' sums are multiplied by scales of their rows */

    mc_reg sums[WARPGROUP_BLOCKS][WGMMA_SUMS], totals[WARPGROUP_BLOCKS][WGMMA_SUMS];
    mc_reg scales[WARPGROUP_BLOCKS][WARPGROUP_LANE_ROWS];
    mc_reg adds;
    mc_reg a_first, b_first, a_desc, b_desc; /* descriptors: of stage 0, of the stage at hand */
    mc_reg step_a, step_b;                   /* scratch: those of a step of k */
    mc_reg a_at, a_start;                    /* from registers: where the lane's row lies, in the stage */
    mc_reg a[WARPGROUP_SETS][STAGE_STEPS][WGMMA_A_REGS], a_step;
    /* sparse: the metadata of a stage, which the caller writes (packed24_words) */
    mc_reg meta[WARPGROUP_SETS][WARPGROUP_BLOCKS][STAGE_STEPS];
} warpgroup_mma;

static inline int warpgroup_sums(const warpgroup_mma *m) { return m->n / op_columns(m->form->shared); }

/* FIRST is the address of stage 0, ROW the first of the warpgroup's rows of `lhs`, a multiple of 64 (none:
   0), and WARP_ROW as in warp_roles. */
void warpgroup_begin(warpgroup_mma *m, mc_reg first, mc_reg row, mc_reg warp_row, mc_reg lane);
/* How many sets of registers there are: 1, where a stage needs none. */
static inline int warpgroup_sets(const warpgroup_mma *m) {
    return m->from_registers || m->sparse ? WARPGROUP_SETS : 1;
}
/* Multiplies the stage at hand, in a group of its own, with registers of SET: stages take the sets in turn,
   and a tile begins with set 0. */
void warpgroup_issue(const warpgroup_mma *m, int set);
/* Waits for all but the last PENDING stages that were issued, 0 or 1: nobody reads them any more. With 0 the
   sums are there. */
void warpgroup_wait(const warpgroup_mma *m, int pending);
/* Promoted: zeroes the totals, before a tile; adds the sums to them, which have been waited for. */
void warpgroup_clear_totals(const warpgroup_mma *m);
void warpgroup_promote(const warpgroup_mma *m);
/* What a tile's products add up to, of each block: totals, or sums. */
typedef mc_reg warpgroup_block[WGMMA_SUMS];
static inline const warpgroup_block *warpgroup_result(const warpgroup_mma *m) {
    return m->promoted ? m->totals : m->sums;
}
/* Goes to the next stage: to stage 0 where WRAP holds. To stage STAGE. */
void warpgroup_next(const warpgroup_mma *m, mc_reg wrap);
void warpgroup_seek(const warpgroup_mma *m, mc_reg stage);

#endif
