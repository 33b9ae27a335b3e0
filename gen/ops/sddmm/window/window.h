/* The solver `window` of the SDDMM: its plan, and what its emitters share. */
#ifndef MC_SDDMM_WINDOW_H
#define MC_SDDMM_WINDOW_H

#include "ops/sddmm/items/items.h"

enum {
    WINDOW_MAX_INTERLEAVE = 2,
    WINDOW_INTEGER_GROUPS = 4,     /* the most groups of integers, whose sums take more registers */
    WINDOW_CHUNK = 4 * SDDMM_UNIT, /* bytes */
    WINDOW_CHUNK_SHIFT = 6,
    WINDOW_BANKS = 2 * WINDOW_CHUNK, /* bytes of a row of all banks */
    WINDOW_RECORD = 3,               /* words of an item that are read */
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
/* Whether odd columns have each two chunks changed over (group.c, "Banks"). */
static inline bool window_swaps(const window_plan *plan) {
    return window_column_bytes(plan) % WINDOW_BANKS == 0;
}

void window_check(const int64_t *point, const window_plan *plan, mc_complaints *complaints);

/* The window's items, and which of them are this warp's. */
typedef struct window_items {
    mc_reg item, last;     /* this warp's next item, the window's last */
    mc_reg two_items;      /* what that item and the one behind it add up to */
    mc_reg two_turns;      /* the items of two turns */
    mc_reg none;           /* whether this warp has no item at all */
    mc_reg more;           /* whether there is a next item */
    mc_reg items, indices; /* addresses of all items and of this lane's indices */
    mc_reg at, clamped;    /* scratch */
    mc_reg next_words[WINDOW_RECORD];
} window_items;

/* This lane's row of A in each octet. */
typedef struct window_lhs {
    mc_reg array, row;           /* A, and a row */
    mc_reg at[SDDMM_MAX_OCTETS]; /* the rows' first units */
    mc_operand row_bytes;
    sddmm_panel panel;
} window_lhs;

/* Registers of a group that is multiplied: the columns of the window that this lane reads for it, and its
   sums. */
typedef struct window_group {
    mc_reg at[2], swapped[2]; /* where the even chunks lie, from chunk 0 on; the odd ones, less 128 bytes */
    mc_reg words[2][SDDMM_MAX_ROW];                /* [slots g and g + 8][chunk, word] */
    mc_reg acc[SDDMM_MAX_OCTETS * SDDMM_MAX_ACCS]; /* [octet][sum][4] */
} window_group;

typedef struct window_emitter {
    const window_plan *plan;
    mc_builder *b;
    thread_place place;
    sddmm_multiplier multiplier;
    window_items range;
    window_lhs lhs;
    mc_reg lane;        /* the window's shared address + 16 t */
    mc_reg column, odd; /* scratch */
    window_group group[WINDOW_MAX_INTERLEAVE];
    mc_reg words[WINDOW_RECORD], index[2 * SDDMM_MAX_GROUPS]; /* of this warp's item */
    mc_reg last; /* scratch: whether the item lacks the next group */
    sddmm_store store;
} window_emitter;

static inline int window_octets(const window_emitter *w) { return sddmm_octets(&w->plan->problem); }

/* -- copy.c ------------------------------------------------------------------------------------------- */

/* Columns of B in global memory: the window's first one, and bytes from one to the next. */
typedef struct window_source {
    mc_reg array, n, first_column;
    mc_operand column_bytes;
} window_source;

/* Copies the window's columns to the shared address TO. */
void window_emit_copy(const window_plan *plan, mc_builder *b, const thread_place *place,
                      const window_source *source, mc_reg to);

/* -- group.c: groups of an item are multiplied --------------------------------------------------------- */

/* Declares their registers. */
void window_declare_groups(window_emitter *w);
/* Multiplies and stores COUNT groups of an item at once, from FIRST on. */
void window_emit_groups(const window_emitter *w, int first, int count);

/* -- emit.c ------------------------------------------------------------------------------------------- */

void window_emit(const void *plan, mc_builder *b);

#endif
