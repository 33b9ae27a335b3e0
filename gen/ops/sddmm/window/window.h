/* The solver `window` of the SDDMM: its plan, and what its emitters share. */
#ifndef MC_SDDMM_WINDOW_H
#define MC_SDDMM_WINDOW_H

#include "ops/sddmm/items/items.h"

enum {
    WINDOW_MAX_GROUPS = 4,
    WINDOW_CHUNK = 4 * SDDMM_UNIT, /* bytes */
    WINDOW_CHUNK_SHIFT = 6,
    WINDOW_BANKS = 2 * WINDOW_CHUNK, /* bytes of a row of all banks */
    WINDOW_XOR_AND = 0x78,           /* lop3's table of a ^ (b & c) */
    WINDOW_REAL_SPARE = 16,          /* registers beyond those alive, without which ptxas 13 spills floats */
};

typedef struct window_plan {
    sddmm_problem problem;
    sddmm_items items;
    bool prefetch;
    unsigned shared_bytes; /* the window's columns */
} window_plan;

/* Bytes of a column of B. */
static inline int window_column_bytes(const window_plan *plan) {
    return (int)values_bytes(plan->problem.arithmetic.rhs, plan->problem.k);
}
/* Whether odd columns have each two chunks changed over (emit.c, "Banks"). */
static inline bool window_swaps(const window_plan *plan) {
    return window_column_bytes(plan) % WINDOW_BANKS == 0;
}

void window_check(const int64_t *point, const window_plan *plan, mc_complaints *complaints);

/* -- copy.c ------------------------------------------------------------------------------------------- */

/* Columns of B in global memory: the window's first one, and bytes from one to the next. */
typedef struct window_source {
    mc_reg array, n, first_column;
    mc_operand column_bytes;
} window_source;

/* Copies the window's columns to the shared address TO. */
void window_emit_copy(const window_plan *plan, mc_builder *b, const thread_place *place,
                      const window_source *source, mc_reg to);

/* -- emit.c ------------------------------------------------------------------------------------------- */

void window_emit(const void *plan, mc_builder *b);

#endif
