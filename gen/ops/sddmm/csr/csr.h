/* The solver `csr` of the SDDMM: no tensor cores, for matrices without vectors. Its plan.
 *
 * Nonzeros are dealt out in equal numbers, in the order of CSR, wherever rows begin. The lanes of a warp are
 * lane = group * lanes + part:
 *
 *   group   has `share` of the warp's neighbouring nonzeros, `ahead` at a time: the first group has the
 *           first `ahead`, the next group the next ones; after the last group it is the first one's turn
 *   part    `lanes` lanes share the k of a nonzero: part p has of A's row and B's column units p, p + lanes
 *           and so on, of 16 bytes each. A run is a unit of each part
 *
 * A panel is `tile_k` of k, the runs that a lane has in registers at once. A panel of A's row stays there
 * from one nonzero to the next of the same row. */
#ifndef MC_SDDMM_CSR_H
#define MC_SDDMM_CSR_H

#include "ops/sddmm/problem.h"
#include "parts/emit.h"

enum { CSR_MOST_RUNS = 8, CSR_MOST_AHEAD = 8, CSR_MOST_UNIT = SDDMM_UNIT / 2 /* elements */ };

/* The wide path is for aligned rows of whole units, the edge path for the rest. Sums are the same. */
typedef struct csr_path {
    bool emitted;
    bool singles; /* elements are loaded one by one, else units */
    int runs;     /* of a panel */
    bool loops;   /* k may have several panels */
    bool guards;  /* units, or elements, of a panel may lie beyond k */
} csr_path;

/* What the wide path needs and the spec leaves open. */
typedef struct csr_checks {
    bool k, lda, ldb, a_address, b_address;
} csr_checks;

typedef struct csr_plan {
    sddmm_problem problem;
    int lanes, groups, share, ahead, tile_k;
    csr_path wide, edge;
    csr_checks checks;
} csr_plan;

/* Elements of a unit, and k of a run. */
static inline int csr_unit(const csr_plan *plan) { return plan->problem.arithmetic.unit_k; }
static inline int csr_run_k(const csr_plan *plan) { return plan->lanes * csr_unit(plan); }
static inline int csr_panel_k(const csr_plan *plan, const csr_path *path) {
    return path->runs * csr_run_k(plan);
}
/* Nonzeros that a warp takes in a turn, and those of a thread block. */
static inline int csr_turn(const csr_plan *plan) { return plan->groups * plan->ahead; }
static inline int csr_block_nonzeros(const csr_plan *plan) {
    return plan->problem.warps * plan->groups * plan->share;
}
/* Nonzeros, of those a group takes at a time, whose sums a lane has in the end. */
static inline int csr_own(const csr_plan *plan) {
    return plan->ahead > plan->lanes ? plan->ahead / plan->lanes : 1;
}

/* emit.c */
void sddmm_csr_emit(const void *plan, mc_builder *b);

#endif
