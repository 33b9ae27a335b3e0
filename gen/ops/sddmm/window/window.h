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
    WINDOW_SWIZZLE_SHIFT = 4,
    WINDOW_SWIZZLE = 0x70, /* bits of an address that a tensor copy changes over, by bits 7 to 9 */
    WINDOW_SWIZZLED = 8 * WINDOW_BANKS, /* bytes after which the swizzle repeats */
    WINDOW_MAX_BOX = 256,               /* columns of a tensor copy */
    WINDOW_BARRIER = 8,                 /* bytes of an mbarrier */
    WINDOW_RECORD = 3,                  /* words of an item that are read */
    WINDOW_XOR_AND = 0x78,              /* lop3's table of a ^ (b & c) */
    WINDOW_REAL_SPARE = 16, /* registers beyond those alive, without which ptxas 13 spills floats */
};

typedef struct window_plan {
    sddmm_problem problem;
    sddmm_items items;
    bool prefetch;
    bool tensor;            /* columns come by tensor copies */
    unsigned columns_bytes; /* of shared memory: the window's columns */
    unsigned shared_bytes;  /* these, and mbarriers */
} window_plan;

/* Bytes of a column of B. */
static inline int window_column_bytes(const window_plan *plan) {
    return (int)values_bytes(plan->problem.arithmetic.rhs, plan->problem.k);
}
/* Pairs of chunks: 128 bytes of a column, the last one perhaps half empty. */
static inline int window_pairs(const window_plan *plan) { return (plan->items.chunks + 1) / 2; }
/* From a column to the next, and from a pair of chunks to the next, in shared memory: tensor copies lay a
   pair of all columns together, threads a column's pairs. */
static inline int window_column_step(const window_plan *plan) {
    return plan->tensor ? WINDOW_BANKS : window_column_bytes(plan);
}
static inline int window_pair_step(const window_plan *plan) {
    return plan->tensor ? (int)plan->items.window * WINDOW_BANKS : WINDOW_BANKS;
}
/* Columns of a tensor copy: the most that divide the window in whole swizzles; 0: none do. */
static inline int window_box(const window_plan *plan) {
    int unit = WINDOW_SWIZZLED / WINDOW_BANKS, window = (int)plan->items.window;
    int box = window < WINDOW_MAX_BOX ? window / unit * unit : WINDOW_MAX_BOX;
    while (box > 0 && window % box) box -= unit;
    return box;
}
/* Whether some columns have each two chunks changed over (group.c, "Banks"). */
static inline bool window_swaps(const window_plan *plan) {
    return plan->tensor || window_column_bytes(plan) % WINDOW_BANKS == 0;
}

/* Registers of a thread that a kernel of floats wants. */
int window_registers(const window_plan *plan);
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

/* The window in shared memory. */
typedef struct window_columns {
    mc_reg lane;        /* its address + 16 t */
    mc_reg column, odd; /* scratch */
    mc_reg barriers;    /* tensor copies: the address of mbarriers, one for each pair of chunks */
    mc_reg passed;      /* likewise, scratch: whether one's phase is over */
} window_columns;

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
    window_columns columns;
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

/* -- tma.c: the same by tensor copies ----------------------------------------------------------------- */

/* One thread asks for all copies to the shared address TO. Others may wait for them behind the next barrier
   of the thread block. */
void window_tma_copy(window_emitter *w, mc_reg first_column, mc_reg to);
/* Waits until pair PAIR of all columns is there. NAME is what its labels begin with. */
void window_tma_wait(const window_emitter *w, const char *name, int pair);

/* -- group.c: groups of an item are multiplied --------------------------------------------------------- */

/* Declares their registers. */
void window_declare_groups(window_emitter *w);
/* Multiplies and stores COUNT groups of an item at once, from FIRST on. */
void window_emit_groups(const window_emitter *w, int first, int count);

/* -- emit.c ------------------------------------------------------------------------------------------- */

void window_emit(const void *plan, mc_builder *b);

#endif
