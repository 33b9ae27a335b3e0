/* Items: what the solvers `gather` and `window` of the SDDMM share. The mask's vectors are given out in
   items, of up to 16 * groups neighbours of one row block, and a warp computes an item. Operands are
   swapped: the vectors, which are columns of B, are the mma's rows, 16 in each group, and rows of A are
   its columns. */
#ifndef MC_SDDMM_ITEMS_H
#define MC_SDDMM_ITEMS_H

#include "ops/sddmm/problem.h"
#include "parts/emit.h"
#include "parts/fragment.h"

enum {
    SDDMM_MAX_GROUPS = 8,
    SDDMM_MAX_RUN = 4,
    SDDMM_MAX_PANEL = 512,                   /* bytes of a column of B in registers at once */
    SDDMM_MAX_ROWS = 128,                    /* the same of a row-major B, in k */
    SDDMM_MAX_TILE = 512,                    /* tile_k */
    SDDMM_MAX_CHUNKS = SDDMM_MAX_PANEL / 64, /* of a panel */
    SDDMM_MAX_ROW = SDDMM_MAX_CHUNKS * 4,    /* registers of a panel: of a row of B, or of A */
    SDDMM_MAX_A = SDDMM_MAX_OCTETS * SDDMM_MAX_CHUNKS * 2 * SDDMM_MAX_STEP_A,
};

typedef struct sddmm_items {
    int groups, tile_k;
    int chunks;     /* of a panel: units of a lane that are in registers at once */
    int64_t window; /* columns that the items of neighbouring warps are taken from; MC_OPEN: all */
    int at_once;    /* groups that are multiplied at once: so many have scales and mask values in registers */
    int turn;       /* neighbouring row blocks that take turns in the list; 1: one after another */
    bool says_slots; /* an index says itself for which slot it is (fragment.h, sampled-windows) */
    int run; /* neighbouring slots that a lane group has, and a lane stores at once; 1: each eighth one */
    char items_doc[176], index_extent[32];
} sddmm_items;

/* What the solver's plan has of items, but for its chunks. AT_ONCE: 0: all groups. */
sddmm_items sddmm_items_of(const int64_t *point, bool says_slots, int at_once);
/* Complains of a tile_k that is not whole chunks, or does not fit into registers. */
void sddmm_check_panel(const sddmm_problem *p, const sddmm_items *items, mc_complaints *complaints);
/* Add the packed arrays that both formats have. INDEX_DOC says what an index is. */
void sddmm_add_items(const sddmm_items *items, const char *index_doc, mc_contract *c);
void sddmm_add_mask_values(const sddmm_problem *p, mc_contract *c);
/* Adds what is said of a kernel with items. MMA: instructions of a unit. READ: where B's columns come
   from. */
void sddmm_items_facts(const sddmm_problem *p, const sddmm_items *items, int mma, const char *read,
                       mc_facts *facts);
/* Adds what both say of their shared memory, and which paths there are. */
void sddmm_items_paths(unsigned shared_bytes, bool wide, bool edge, mc_facts *facts);
/* "_g4_w4_k256" */
size_t sddmm_items_name(const sddmm_problem *p, const sddmm_items *items, char name[MC_MAX_ENTRY]);
#define SDDMM_SWAPPED                                                                                        \
    "Swapped operands: 16 nonzero vectors, columns of B, are the mma's rows, the row block's rows its "      \
    "columns.\n"

/* -- emit.c ------------------------------------------------------------------------------------------- */

/* The four words of an item: row block, first slot of C, slots, 0. */
static inline mc_reg item_row_block(const mc_reg *words) { return words[0]; }
static inline mc_reg item_first(const mc_reg *words) { return words[1]; }
static inline mc_reg item_count(const mc_reg *words) { return words[2]; }

/* Loads a lane's indices of an item of GROUPS, from AT + OFFSET. */
void sddmm_emit_load_indices(mc_builder *b, int groups, mc_reg at, int offset, const mc_reg *index);
/* Sets ROW to lane group G's row of A in ROW_BLOCK. The next one makes it that of the next octet. */
void sddmm_emit_row(mc_builder *b, const sddmm_problem *p, mc_reg row_block, mc_reg g, mc_reg row);
void sddmm_emit_next_octet(mc_builder *b, mc_reg row);
/* Stands ahead of group GROUP: goes to END if the item of COUNT slots has no such group. */
void sddmm_emit_group_end(mc_builder *b, mc_reg count, int group, mc_reg last, mc_label end);

/* -- panel.c: A in registers -------------------------------------------------------------------------- */

/* A panel of a row of A in each octet: its words as loaded and its operands, [octet][chunk][step][...]. They
   are the same registers where there is no difference and the next words are not loaded AHEAD. */
typedef struct sddmm_panel {
    const sddmm_multiplier *multiplier;
    int octets, chunks;
    int octet_operands; /* operands from one octet's first to the next's */
    mc_reg word[SDDMM_MAX_A], operand[SDDMM_MAX_A];
} sddmm_panel;

/* The operands of step STEP of octet OCTET. */
static inline const mc_reg *sddmm_panel_operands(const sddmm_panel *panel, int octet, int step) {
    return &panel->operand[octet * panel->octet_operands + panel->multiplier->arithmetic->a_operands * step];
}

void sddmm_declare_panel(sddmm_panel *panel, const sddmm_multiplier *m, int octets, int chunks, bool ahead);
/* Loads the lane's units of a row of A in each octet, the first ones AT there. INSIDE says for each chunk
   whether its unit lies before k; none where all do. */
void sddmm_emit_load_panel(const sddmm_panel *panel, const mc_reg *at, const mc_reg *inside);
void sddmm_emit_operands(const sddmm_panel *panel);

/* -- store.c: C --------------------------------------------------------------------------------------- */

/* An array that lies in C's order: C, or the mask's values. */
typedef struct sddmm_ordered {
    const char *name; /* of the register `lane` */
    mc_reg array;
    /* address of this lane's rows: in BCRS order those of `slot`, in SR-BCRS those of slot 0 of C */
    mc_reg lane;
    int log_bytes;
} sddmm_ordered;

/* Which slots of C this lane stores. */
typedef struct sddmm_slots {
    mc_reg first;    /* the slot of C from which this lane's indices count: its first one */
    mc_reg left;     /* slots that the item has from there on; gather: 0 in lanes that store nothing */
    mc_reg has_rows; /* says_slots: whether this lane has rows to store; none where all lanes have */
} sddmm_slots;

/* What sums are multiplied by. */
typedef struct sddmm_factors {
    mc_reg scale, array; /* a scale of all of C; where there are several, their array */
    mc_reg row_scale[SDDMM_MAX_LANE_ROWS], column_scale[2 * SDDMM_MAX_GROUPS];
    mc_reg mask_value[2 * SDDMM_MAX_LANE_ROWS * SDDMM_MAX_GROUPS];
} sddmm_factors;

/* Registers that every store writes again. */
typedef struct sddmm_store_scratch {
    mc_reg stores;     /* whether a slot is one of the item's, and this lane has rows of it */
    mc_reg in_item;    /* says_slots: the slot of an index, counted from the item's first */
    mc_reg has_vector; /* SR-BCRS: whether the slot is no padding */
    mc_reg has_vectors[SDDMM_MAX_RUN];
    mc_reg slot, at, scale_at;
} sddmm_store_scratch;

typedef struct sddmm_store {
    mc_builder *b;
    const sddmm_problem *problem;
    const sddmm_items *items;
    mc_reg t;
    const mc_reg *item_words, *index; /* the item's words, and this lane's indices of it */
    sddmm_slots slots;
    sddmm_factors factors;
    sddmm_ordered c, values;
    sddmm_store_scratch scratch;
    out_scratch elements;
} sddmm_store;

/* Declares registers, and emits what is the same for all items. The caller has set the first six members.
   FIRST_COLUMN is the column that indices count from; none: 0. */
void sddmm_declare_store(sddmm_store *s, mc_reg first_column);
/* Load scales and mask values: the first what the item wants, once it is known; the second what GROUP wants,
   ahead of its store. OWN: of eight slots, the one that this lane stores, where indices do not say it. */
void sddmm_emit_item_factors(sddmm_store *s, mc_reg own);
void sddmm_emit_group_factors(const sddmm_store *s, int group);
/* Stores group GROUP's SUMS, of each octet: rows 2 t and 2 t + 1 of this lane's first slot of the group, then
   of its second. */
void sddmm_emit_store(const sddmm_store *s, int group, const mc_reg *const sums[]);
/* The same of a run of slots, whose first index is one of GROUP. SUMS are those of the run's groups, one
   group's octets behind the other's. */
void sddmm_emit_store_run(const sddmm_store *s, int group, const mc_reg *const sums[]);
/* Groups that have a run's slots together. */
static inline int sddmm_run_groups(const sddmm_items *items) { return items->run > 2 ? items->run / 2 : 1; }

#endif
