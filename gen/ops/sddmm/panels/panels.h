/* The solver `panels` of the SDDMM: tensor cores for matrices without vectors whose rows share columns. Its
 * plan.
 *
 * A panel is 8 or 16 neighbouring rows; a column in which any of them has a nonzero is an active one. A warp
 * takes up to `share` active columns of a panel, a stride of them at a time (parts/sampled_panels.h).
 * Operands are swapped, as in the solver `gather`: 16 active columns, a group, are an mma's rows, and the
 * rows of an octet of the panel are its columns. Sums of places where the matrix has nothing are not stored.
 *
 * A tile is `tile_k` of k: so long a part of the panel's rows of A, and of a stride's columns of B, is in
 * registers at once. */
#ifndef MC_SDDMM_PANELS_H
#define MC_SDDMM_PANELS_H

#include "ops/sddmm/items/items.h"
#include "ops/sddmm/problem.h"
#include "parts/emit.h"
#include "parts/sampled_panels.h"

enum {
    PANELS_MMA_COLUMNS = 16,                    /* active columns that an mma has room for: a group */
    PANELS_MOST_GROUPS = 2,                     /* of a stride */
    PANELS_MOST_SLOTS = 2 * PANELS_MOST_GROUPS, /* of a stride that a lane has */
    PANELS_MOST_ROWS = 2 * SDDMM_MAX_OCTETS,    /* of a panel, likewise */
    PANELS_MOST_ACCS = PANELS_MOST_GROUPS * SDDMM_MAX_OCTETS * SDDMM_ACC,
};

/* What the wide part needs and the spec leaves open. */
typedef struct panels_checks {
    bool lda, ldb, a_address, b_address;
} panels_checks;

/* Of k, whole units of 16 bytes are the wide part, tile by tile, and what is left comes in rounds, in loads
   of an element. Where rows are not aligned rounds have all of k. */
typedef struct panels_plan {
    sddmm_problem problem;
    int octets, groups; /* of a panel; of a stride */
    int share;          /* strides of a warp, at most */
    int tile_k, chunks; /* chunks: units of a lane that are in registers at once */
    bool wide, rounds;  /* which of the two there are */
    bool loops;         /* k may have several tiles */
    bool guards;        /* units of a tile may lie beyond k */
    panels_checks checks;
} panels_plan;

static inline int panels_rows(const panels_plan *plan) { return SDDMM_MMA_ROWS * plan->octets; }
static inline int panels_slots(const panels_plan *plan) { return PANELS_MMA_COLUMNS * plan->groups; }
static inline int panels_lane_rows(const panels_plan *plan) { return sampled_lane_rows(panels_rows(plan)); }
static inline int panels_lane_slots(const panels_plan *plan) { return 2 * plan->groups; }
/* Whether the k of the wide part is known to the running kernel alone. */
static inline bool panels_is_checked(const panels_plan *plan) {
    const panels_checks *c = &plan->checks;
    return c->lda || c->ldb || c->a_address || c->b_address;
}
/* k of the wide part, where k is fixed. */
static inline int64_t panels_units(const panels_plan *plan) {
    return plan->problem.k - plan->problem.k % plan->problem.arithmetic.unit_k;
}
/* Whether a row of A stays in registers from one stride to the next: always where a tile has all of k; where
   k is open, if it turns out so. */
static inline bool panels_may_stay(const panels_plan *plan) {
    return plan->loops && plan->problem.k == MC_OPEN;
}

/* emit.c */
void sddmm_panels_emit(const void *plan, mc_builder *b);

#endif
