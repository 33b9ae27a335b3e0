/* The solver `gather` of the SDDMM: its plan, and what its emitters share. */
#ifndef MC_SDDMM_GATHER_H
#define MC_SDDMM_GATHER_H

#include "ops/sddmm/items/items.h"

enum {
    GATHER_MAX_CHAINS = 4,
    GATHER_MAX_ABREAST = 2,
    GATHER_MAX_BUFFERS = 4,
    GATHER_MAX_WARPS = 8,
    GATHER_MAX_SLOTS = 2 * SDDMM_MAX_GROUPS, /* of a lane, in each set */
};

/* In the order of the spec's names. */
typedef enum gather_lhs_in { GATHER_LHS_REGISTERS, GATHER_LHS_SHARED } gather_lhs_in;

/* What the wide path needs and the spec leaves open. Each thread tests what is true here. */
typedef struct gather_checks {
    bool lda, ldb, a_address, b_address;
} gather_checks;

typedef struct gather_plan {
    sddmm_problem problem;
    sddmm_items items;
    int abreast; /* lane groups that read a column of B side by side, a chunk each: 1 or 2 (lines.c) */
    gather_lhs_in lhs_in;
    bool prefetch, prefetch_lhs;
    bool wide, edge;
    bool loops;       /* the wide path can have several panels */
    bool guard_units; /* units of a panel can lie beyond k */
    int buffers;      /* groups whose columns of B have registers: all but one are loaded ahead */
    int chains;       /* chains of a group's mma, for each octet; each has accumulators of its own */
    bool store_early; /* a group's sums are whole before the next group's begin */
    gather_checks checks;
    unsigned shared_bytes; /* panels of A, with lhs_in "shared" */
} gather_plan;

/* Units that a lane loads of a column of B for a panel. */
static inline int gather_loads(const gather_plan *plan) {
    return (plan->items.chunks + plan->abreast - 1) / plan->abreast;
}
/* The last chunk that one of the lanes abreast loads by load LOAD. */
static inline int gather_last_chunk(const gather_plan *plan, int load) {
    int last = plan->abreast * (load + 1) - 1;
    return last < plan->items.chunks ? last : plan->items.chunks - 1;
}
/* Registers of a lane for what the wide path loads of a column of B in a chunk: words, or values of a
   row-major B. */
static inline int gather_chunk_regs(const gather_plan *plan) {
    bool rows = plan->problem.layout == SDDMM_ROWS;
    return rows ? plan->problem.arithmetic.unit_k : SDDMM_UNIT / 4;
}
/* The same for a group's columns. */
static inline int gather_group_regs(const gather_plan *plan) {
    return plan->abreast * 2 * gather_chunk_regs(plan) * gather_loads(plan);
}

/* check.c */
void sddmm_gather_check(const gather_plan *plan, mc_complaints *complaints);
/* lhs.c: bytes of shared memory that a thread block has for panels of A. */
unsigned gather_lhs_shared_bytes(const gather_plan *plan);

/* -- What the emitters share -------------------------------------------------------------------------- */

/* Which units and slots are this lane's. */
typedef struct gather_lanes {
    mc_reg own;  /* of eight slots, the one whose sums this lane stores: g, or with lines 4 h + v */
    mc_reg unit; /* of the units that lanes load side by side of a row of B: t, or with lines 4 h + t */
    mc_reg even; /* lines: whether h is 0 */
} gather_lanes;

/* Of slots 16 j + own and 16 j + 8 + own the index as loaded, negative where there is no vector. Of the slots
   that this lane reads the column, [set]: a slot without a vector has column 0, which can always be read. */
typedef struct gather_slots {
    mc_reg index[GATHER_MAX_SLOTS], column[GATHER_MAX_ABREAST][GATHER_MAX_SLOTS];
} gather_slots;

typedef struct gather_sums {
    /* [group][set][octet][sum][4] */
    mc_reg acc[SDDMM_MAX_GROUPS * SDDMM_MAX_OCTETS * GATHER_MAX_ABREAST * SDDMM_MAX_ACCS];
    /* lines: a group's accumulators of odd chunks, [set][octet][sum][4] */
    mc_reg odd[GATHER_MAX_ABREAST][SDDMM_MAX_OCTETS * SDDMM_MAX_ACCS];
    mc_reg chain[(GATHER_MAX_CHAINS - 1) * SDDMM_ACC]; /* of the chains behind the first, [chain][octet][4] */
    mc_reg give;                                       /* lines: scratch of the exchange */
} gather_sums;

/* B. The last five are for a row-major one (rows.c). */
typedef struct gather_rhs {
    mc_reg array;
    mc_operand row_bytes; /* from a column, or a row, to the next */
    mc_reg row_step, value_at, row_k, shift, byte_column;
} gather_rhs;

typedef struct gather_emitter {
    const gather_plan *plan;
    mc_builder *b;
    thread_place place;
    gather_lanes lanes;
    mc_reg words[4]; /* of this warp's item */
    gather_slots slots;
    mc_reg k, k_left;               /* k_left: k that are left for the panels to come and the edge path */
    mc_reg a_row[SDDMM_MAX_OCTETS]; /* this lane's row of A in each octet */
    gather_rhs rhs;
    gather_sums sums;
    sddmm_multiplier multiplier;
    sddmm_store store;
    mc_reg last; /* scratch: whether the item lacks the next group */
} gather_emitter;

/* The slots of a group that one mma has, all sixteen or with lines eight; and where it is about sums, the
   octet of A's rows. */
typedef struct gather_set {
    int group, set, octet;
} gather_set;

/* The accumulators of set OF: [sum][4]. Those of its octets adjoin. */
static inline const mc_reg *gather_acc(const gather_emitter *e, gather_set of) {
    int octets = sddmm_octets(&e->plan->problem), set = of.group * e->plan->abreast + of.set;
    return &e->sums.acc[(set * octets + of.octet) * e->plan->problem.arithmetic.accs];
}

/* -- emit.c ------------------------------------------------------------------------------------------- */

void sddmm_gather_emit(const void *plan, mc_builder *b);

/* -- item.c ------------------------------------------------------------------------------------------- */

/* Sets the thread's place, and loads its warp's item and the lane's indices. */
void gather_emit_item(gather_emitter *e);
/* Stands ahead of group GROUP: goes to END if the item has no such group. Of groups that have runs together
   it has all, or none. */
void gather_emit_group_end(gather_emitter *e, int group, mc_label end);

/* -- lines.c: which lane reads what of B, and whose sums come of it ----------------------------------- */

/* Sets the lane's unit and slots. Returns which row of an item's indices the lane reads. */
mc_reg gather_emit_lane(gather_emitter *e);
/* Declares registers for that row's indices. The next two load those of other rows that the lane needs, and
   make columns of all. */
const mc_reg *gather_declare_indices(gather_emitter *e);
void gather_emit_more_indices(gather_emitter *e, mc_reg index_at);
void gather_emit_columns(gather_emitter *e);
/* Words for the PTX's comments: the slots whose columns a lane reads; those of a set; which slot of eight it
   stores. */
const char *gather_slots_text(const gather_plan *plan);
void gather_note_set(const gather_emitter *e, const char *what, gather_set of);
const char *gather_own_text(const gather_plan *plan);

/* -- sums.c: accumulators ----------------------------------------------------------------------------- */

/* Declares a group's accumulators, and sets them to zero. The second declares those of chains. */
void gather_emit_accumulators(gather_emitter *e);
void gather_declare_chains(gather_emitter *e);
/* Stand around a panel's products of GROUP. The products of chunk CHUNK in set OF are added up in
   gather_chunk_acc. */
void gather_emit_begin(gather_emitter *e, int group);
const mc_reg *gather_chunk_acc(const gather_emitter *e, gather_set of, int chunk);
void gather_emit_finish(gather_emitter *e, int group);
/* Emits the mma of step STEP of the panel's loads in set OF. X and Y are the lane's words of the mma's rows g
   and g + 8, LHS has A's operands. The next one adds the chains' sums to the group's. */
void gather_emit_step(const gather_emitter *e, const mc_reg *x, const mc_reg *y, const sddmm_panel *lhs,
                      gather_set of, int step);
void gather_emit_join_chains(const gather_emitter *e, int group);
/* Settles GROUP's accumulators, and stores its sums. */
void gather_emit_store(gather_emitter *e, int group);

/* -- lhs.c: a panel of A, in registers or in shared memory -------------------------------------------- */

typedef struct gather_lhs {
    mc_reg at[SDDMM_MAX_OCTETS]; /* this lane's first unit of its row in each octet */
    /* Where the panel is in shared memory, its words are scratch, and its operands are those that are
       read, in turn. */
    sddmm_panel panel;
    mc_reg units, operands;        /* in shared memory: where this lane's first unit and first operands lie */
    mc_reg size[SDDMM_MAX_CHUNKS]; /* scratch: bytes of each copy */
} gather_lhs;

void gather_declare_lhs(gather_emitter *e, gather_lhs *lhs);
/* Load the panel at lhs->at, INSIDE as for sddmm_emit_load_panel; wait for it and make operands of it; bring
   into registers what gather_emit_step wants for step STEP. */
void gather_emit_load_lhs(const gather_emitter *e, const gather_lhs *lhs, const mc_reg *inside);
void gather_emit_ready_lhs(const gather_emitter *e, const gather_lhs *lhs);
void gather_emit_read_lhs(const gather_emitter *e, const gather_lhs *lhs, int step);
/* Emits what is left to do behind the last panel. */
void gather_emit_end_lhs(const gather_emitter *e);

/* -- wide.c and edge.c -------------------------------------------------------------------------------- */

/* Adds the products of all whole units of k, and stores them where plan->store_early. */
void gather_emit_wide(gather_emitter *e);
/* Adds the products of the last k_left k, by loads of a value each. */
void gather_emit_edge(gather_emitter *e);

/* -- rows.c: a row-major B ---------------------------------------------------------------------------- */

/* Declares registers, if B is row-major. */
void gather_declare_rows(gather_emitter *e);
/* Loads COUNT values of COLUMN from k = K + OFFSET on, each where its guard holds (none: always). */
void gather_emit_row_loads(const gather_emitter *e, mc_reg column, mc_reg k, int offset, int count,
                           const mc_reg *guards, const mc_reg *to);
/* Makes WORDS of a step's VALUES of COLUMN. The values' registers are used up. */
void gather_emit_row_words(const gather_emitter *e, mc_reg column, const mc_reg *values, const mc_reg *words);

#endif
