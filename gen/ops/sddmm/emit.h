/* What the emitters of the SDDMM share: the registers that live through the kernel. */
#ifndef MC_SDDMM_EMIT_H
#define MC_SDDMM_EMIT_H

#include "parts/emit.h"
#include "ops/sddmm/sddmm.h"

enum {
    SDDMM_MAX_GROUPS = 8,
    SDDMM_MAX_SUMS = 3, /* weights of two digits times two */
    SDDMM_MAX_CHUNKS = SDDMM_MAX_PANEL / 64,
    SDDMM_MAX_STEP_A = 8, /* registers of a step of A: its values as loaded, or as operands */
    SDDMM_MAX_STEP_B = 4, /* the same of B */
    SDDMM_MAX_STEP_K = 16,
    SDDMM_ACC = 4,                          /* accumulators of an mma */
    SDDMM_MAX_ROW = SDDMM_MAX_CHUNKS * 4,   /* registers of a panel: of a row of B, or of A */
    SDDMM_MAX_BATCH = 2 * SDDMM_MAX_STEP_A, /* operands of a unit of A, and at least of a piece (lhs.c) */
    SDDMM_MAX_A = SDDMM_MAX_CHUNKS * 2 * SDDMM_MAX_STEP_A,
};

/* An array that lies in C's order: C, or the mask's values (store.c). */
typedef struct sddmm_ordered {
    mc_reg array;
    /* address of this lane's rows: in BCRS order those of the emitter's `slot`, in SR-BCRS those of slot 0 of
       C */
    mc_reg lane;
    int log_bytes;
} sddmm_ordered;

typedef struct sddmm_emitter {
    const sddmm_plan *plan;
    mc_builder *b;
    mc_reg lane, g, t;
    mc_reg warp; /* none where the block is one warp */
    mc_reg own;  /* of eight slots, the one whose sums this lane stores: g, or with lines 4 h + v */
    /* of the units that lanes load side by side of a row of B, this lane's: t, or with lines 4 h + t */
    mc_reg unit;
    mc_reg even;      /* lines: whether h is 0 */
    mc_reg record[4]; /* of this warp's item: row block, first slot of C, slots, 0 */
    /* index: of slots 16 j + own and 16 j + 8 + own, as loaded; negative where there is no vector. column:
       [set], of the slots that this lane reads. A slot without a vector has column 0, which can always be
       read. */
    mc_reg index[2 * SDDMM_MAX_GROUPS], column[SDDMM_MAX_ABREAST][2 * SDDMM_MAX_GROUPS];
    mc_reg k, lda, ldb;
    /* first column of the window; none where columns count from B's first */
    mc_reg first_column;
    mc_operand a_row_bytes, row_bytes; /* bytes from a row of A, and of B, to the next */
    mc_reg row, a_row, b_array;
    mc_reg k_left; /* k that are left for the panels to come and the edge path */
    mc_reg acc[SDDMM_MAX_GROUPS * SDDMM_MAX_ABREAST * SDDMM_MAX_SUMS * SDDMM_ACC]; /* [group][set][sum][4] */
    /* lines: a group's accumulators of odd chunks */
    mc_reg odd_acc[SDDMM_MAX_ABREAST][SDDMM_MAX_SUMS * SDDMM_ACC];
    mc_reg chain[(SDDMM_MAX_CHAINS - 1) * SDDMM_ACC]; /* accumulators of the chains behind the first */
    mc_reg part[SDDMM_ACC];                           /* B's operand, where that is not the words as loaded */
    mc_reg join[2];                                   /* scratch: values on their way into a word */
    mc_reg nibble[2 * SDDMM_MAX_STEP_A], pair[2];     /* scratch: A's 4-bit values as bytes; bytes joined */
    mc_reg next;                                      /* scratch: whether the item lacks the next group */
    mc_reg give;                                      /* lines: scratch of the exchange */
    /* rows.c */
    mc_reg row_step, value_at, row_k, shift, byte_column;
    /* store.c */
    mc_reg slot;       /* the slot of C from which this lane's indices count */
    mc_reg slots_left; /* slots that the item has from there on; gather: 0 in lanes that store nothing */
    mc_reg has_rows;   /* window: whether this lane has rows to store; none where all lanes have */
    mc_reg in_item;    /* scratch: the slot of an index, counted from `slot` */
    mc_reg stride, c_at, stores, has_vector; /* scratch of a store */
    sddmm_ordered c, values;
    mc_reg scale, scale_array, scale_at, scale_row;
    mc_reg row_scale[2], column_scale[2 * SDDMM_MAX_GROUPS], mask_value[4 * SDDMM_MAX_GROUPS];
    out_scratch scratch;
} sddmm_emitter;

/* The slots of a group that one mma has: all sixteen, or with lines eight. */
typedef struct sddmm_set {
    int group, set;
} sddmm_set;

static inline mc_reg sddmm_row_block(const sddmm_emitter *e) { return e->record[0]; }
static inline mc_reg sddmm_first(const sddmm_emitter *e) { return e->record[1]; }
static inline mc_reg sddmm_count(const sddmm_emitter *e) { return e->record[2]; }

/* -- sides.c: from words as loaded to operands --------------------------------------------------- */

/* Registers of a step: of A's values as loaded, of A's operands, of B's values as loaded. */
int sddmm_a_words(const sddmm_plan *plan);
int sddmm_a_operands(const sddmm_plan *plan);
int sddmm_b_words(const sddmm_plan *plan);
/* Whether A's operands are its words as loaded. */
bool sddmm_a_is_plain(const sddmm_plan *plan);
/* Declares the registers that the next two want besides. */
void sddmm_declare_sides(sddmm_emitter *e);
/* Makes OPERANDS of A's WORDS of a step. */
void sddmm_emit_a_step(sddmm_emitter *e, const mc_reg *words, const mc_reg *operands);
/* Joins values of SIDE, an element in each register, to COUNT words. Of 4 bits an element is two values. */
void sddmm_emit_join(sddmm_emitter *e, digit_side side, const mc_reg *elements, int count,
                     const mc_reg *words);
/* A step of A, and the accumulators of its products. */
typedef struct sddmm_factor {
    const mc_reg *operands, *acc;
} sddmm_factor;
/* Emits the step's mma: rows X and Y of B (the mma's rows g and g + 8) times each of COUNT FACTORS. */
void sddmm_emit_products(sddmm_emitter *e, const mc_reg *x, const mc_reg *y, const sddmm_factor *factors,
                         int count);
/* Makes one sum of the accumulators of several digits: the first four. */
void sddmm_emit_settle(sddmm_emitter *e, const mc_reg *acc);

/* -- lines.c: which lane reads what of B, and whose sums come of it -------------------------------- */

/* Sets own, unit and even, from the lane's number. Returns which row of an item's indices the lane reads. */
mc_reg sddmm_emit_lane(sddmm_emitter *e, mc_reg lane);
/* Declares registers for that row's indices. The next two load those of other rows that the lane needs, and
   make columns of all. */
const mc_reg *sddmm_declare_indices(sddmm_emitter *e);
void sddmm_emit_more_indices(sddmm_emitter *e, mc_reg index_at);
void sddmm_emit_columns(sddmm_emitter *e);
/* Words for the PTX's comments: the slots whose columns a lane reads; those of a set; which slot of eight it
   stores. */
const char *sddmm_slots(const sddmm_plan *plan);
void sddmm_note_set(sddmm_emitter *e, const char *what, sddmm_set of);
const char *sddmm_own_name(const sddmm_plan *plan);
/* Stand around a panel's products of GROUP. The products of chunk CHUNK in set OF are added up in
   sddmm_chunk_acc. */
void sddmm_emit_begin(sddmm_emitter *e, int group);
const mc_reg *sddmm_chunk_acc(const sddmm_emitter *e, sddmm_set of, int chunk);
void sddmm_emit_finish(sddmm_emitter *e, int group);
/* Settles GROUP's accumulators. Returns four registers: rows 2 t and 2 t + 1 of slot own, then of slot own +
   8. */
const mc_reg *sddmm_emit_sums(sddmm_emitter *e, int group);

/* -- panel.c ------------------------------------------------------------------------------------ */

void sddmm_emit_zero(mc_builder *b, const mc_reg *regs, int count);
/* Loads BYTES, by a load that ptxas leaves where it stands. */
void sddmm_emit_load(mc_builder *b, mc_reg guard, int bytes, const mc_reg *to, mc_operand from);
/* Declares registers for a panel of A: WORDS as loaded, and OPERANDS, [chunk][step][...]. They are the same
   registers where there is no difference and the next words are not loaded ahead. */
void sddmm_declare_a(sddmm_emitter *e, mc_reg *words, mc_reg *operands);
/* Loads the lane's units of a row of A, the first one at AT. INSIDE says for each chunk whether its unit lies
   before k; none where all do. */
void sddmm_emit_load_a(sddmm_emitter *e, mc_reg at, const mc_reg *inside, const mc_reg *words);
void sddmm_emit_operands(sddmm_emitter *e, const mc_reg *words, const mc_reg *operands);

/* -- lhs.c: the same where the panel may be in shared memory --------------------------------------- */

/* A panel of A. */
typedef struct sddmm_lhs {
    mc_reg at; /* this lane's first unit of its row */
    /* as loaded, [chunk][step][...]; where the panel is in shared memory: scratch */
    mc_reg word[SDDMM_MAX_A];
    /* [chunk][step][...]; where it is in shared memory: those that are read, in turn */
    mc_reg operand[SDDMM_MAX_A];
    mc_reg units, operands;        /* in shared memory: where this lane's first unit and first operands lie */
    mc_reg size[SDDMM_MAX_CHUNKS]; /* scratch: bytes of each copy */
} sddmm_lhs;

void sddmm_declare_lhs(sddmm_emitter *e, sddmm_lhs *lhs);
/* Load the panel at lhs->at, INSIDE as for sddmm_emit_load_a; wait for it and make operands of it; bring into
   registers what sddmm_emit_step wants for step STEP. */
void sddmm_emit_load_lhs(sddmm_emitter *e, const sddmm_lhs *lhs, const mc_reg *inside);
void sddmm_emit_ready_lhs(sddmm_emitter *e, const sddmm_lhs *lhs);
void sddmm_emit_read_lhs(sddmm_emitter *e, const sddmm_lhs *lhs, int step);
/* Emits what is left to do behind the last panel. */
void sddmm_emit_end_lhs(sddmm_emitter *e);

/* -- panel.c: products -------------------------------------------------------------------------- */

void sddmm_declare_chains(sddmm_emitter *e);
/* Emits the mma of step STEP of the panel's loads in set OF. X and Y are the lane's words of the mma's rows g
   and g + 8. The next one adds the chains' sums to the group's. */
void sddmm_emit_step(sddmm_emitter *e, const mc_reg *x, const mc_reg *y, const mc_reg *operands, sddmm_set of,
                     int step);
void sddmm_emit_join_chains(sddmm_emitter *e, int group);

/* -- wide.c ------------------------------------------------------------------------------------- */

/* Adds the products of all whole units of k, and stores them where plan->store_early. */
void sddmm_emit_wide(sddmm_emitter *e);

/* -- rows.c: a row-major B ---------------------------------------------------------------------- */

/* Declares registers, if B is row-major. */
void sddmm_declare_rows(sddmm_emitter *e);
/* Loads COUNT values of COLUMN from k = K + OFFSET on, each where its guard holds (none: always). */
void sddmm_emit_row_loads(sddmm_emitter *e, mc_reg column, mc_reg k, int offset, int count,
                          const mc_reg *guards, const mc_reg *to);
/* Makes WORDS of a step's VALUES of COLUMN. The values' registers are used up. */
void sddmm_emit_row_words(sddmm_emitter *e, mc_reg column, const mc_reg *values, const mc_reg *words);

/* -- edge.c ------------------------------------------------------------------------------------- */

/* Adds the products of the last k_left k, by loads of a value each. */
void sddmm_emit_edge(sddmm_emitter *e);

/* -- store.c ------------------------------------------------------------------------------------ */

/* Declares registers, and emits what is the same for all items. */
void sddmm_declare_output(sddmm_emitter *e);
/* Load scales and mask values: the first what the item wants, once it is known; the second what GROUP wants,
   ahead of its store. */
void sddmm_emit_item_factors(sddmm_emitter *e);
void sddmm_emit_group_factors(sddmm_emitter *e, int group);
/* Stores group GROUP's sums in C. */
void sddmm_emit_store(sddmm_emitter *e, int group);

/* -- emit.c ------------------------------------------------------------------------------------- */

/* The accumulators of set OF: [sum][4]. */
static inline const mc_reg *sddmm_acc(const sddmm_emitter *e, sddmm_set of) {
    return &e->acc[(of.group * e->plan->abreast + of.set) * e->plan->sums * SDDMM_ACC];
}
/* Loads this lane's indices of an item to INDEX, from AT + OFFSET. */
void sddmm_emit_load_indices(sddmm_emitter *e, mc_reg at, int offset, const mc_reg *index);
/* The bytes from a row of A, or of B, to the next. */
mc_operand sddmm_emit_row_bytes(sddmm_emitter *e, bool is_b);
/* Sets e->row: this lane's row of A, in ROW_BLOCK. */
void sddmm_emit_row(sddmm_emitter *e, mc_reg row_block);
/* Stands ahead of group GROUP: goes to END if the item has no such group. */
void sddmm_emit_group_end(sddmm_emitter *e, int group, mc_label end);

#endif
