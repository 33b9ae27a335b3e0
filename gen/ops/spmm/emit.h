/* What the emitters of the gather kernel share, and those of the ring kernel with them: the registers that
   live through the kernel. */
#ifndef MC_SPMM_EMIT_H
#define MC_SPMM_EMIT_H

#include "parts/emit.h"
#include "parts/fragment.h"
#include "ops/spmm/spmm.h"

enum {
    SPMM_MAX_ACC = 64,                                 /* accumulators of one weight */
    SPMM_MAX_STEPS = 2,                                /* steps of 32 slots in a stride */
    SPMM_MAX_VALUES = SPMM_MAX_STEPS * MAX_DIGITS * 2, /* registers of a lane's values in a stride */
    SPMM_BYTES = 4,
};

typedef struct spmm_emitter {
    const spmm_plan *plan;
    mc_builder *b;
    thread_place place;
    mc_reg part; /* this warp's part of the row block; none where one warp has it all */
    mc_reg row_block, tile_col;
    mc_reg in_rows; /* whether A has the row block; none where that is certain */
    /* whether this lane holds values of A, for each mma; none where all lanes do */
    mc_reg has_values[MAX_DIGITS];
    mc_reg has_sums;       /* vec < 8: whether this lane has sums */
    mc_reg stores;         /* whether this lane stores sums, where one warp has the row block */
    mc_reg m, n, ldb, ldc; /* shapes that are parameters; none where fixed */
    mc_reg b_array, c_array;
    mc_reg head, first, last; /* this warp's head; the row block's strides that are no heads */
    /* Without heads in front of all strides: whether this warp has one, and this lane values of it for each
       mma; none else */
    mc_reg has_head, head_values[MAX_DIGITS];
    mc_reg col_idx;
    mc_reg index_lane, value_lane; /* address of this lane's indices and values of stride 0 */
    /* indices of a lane in a step: 8, or one for each row that it copies */
    int indices;
    mc_reg index_at, value_at; /* the same of the stride that is loaded */
    mc_reg index[SPMM_MAX_STEPS * MC_LANE_SLOTS], value[SPMM_MAX_VALUES];
    mc_operand row_bytes; /* bytes from a row of B to the next */
    /* scratch of the transpose, and what it makes */
    mc_reg pair[4], low[SPMM_BYTES * MAX_DIGITS], high[SPMM_BYTES * MAX_DIGITS];
    /* rhs of 4 bits: the even and the odd column of `low`, then of `high` */
    mc_reg nibble[4];
    /* rhs s4: -8 in each byte; the sums of A's rows times it (halves.c) */
    mc_reg bias, bias_sum[4 * MAX_DIGITS];
    mc_reg column[4 * SPMM_BYTES]; /* mma int4: the operand A of each two columns */
    mc_reg odd, odd_bits;
    mc_reg col;          /* this lane's first column of C in the path's tile */
    out_factors factors; /* scales and biases of the path that is being emitted */
    /* [sum][mma][4]: of an mma's four, frag_c_row is the column of C, frag_c_col its row */
    mc_reg acc[SPMM_MAX_ACC * MAX_DIGITS];
    /* exact sums: the totals of all digits, laid out like the accumulators of one sum */
    mc_reg total[SPMM_MAX_ACC];
    mc_label rounds;
    mc_reg done, in_round; /* exact sums: strides done in this round; whether the round has another one */
} spmm_emitter;

/* The mma for these digits of A and of B, by the digits' signs. */
mc_opcode spmm_mma(const spmm_plan *plan, int lhs_digit, int rhs_digit);
/* What an mma multiplies: values of A in `count` registers, and two columns of B in the form of the large
   mma's operand A. That has twice as many registers; frag_a_reg says which column and slots each one holds.
   With `columns` 1 nothing is wanted of the second column. */
typedef struct spmm_operands {
    const mc_reg *b, *a;
    int count, columns;
} spmm_operands;
/* Adds the products to the lane's accumulators, of which frag_c_reg(column, run) names one. Emits one large
   mma, or in the paper's order `count` small ones for each column. */
void spmm_emit_product(spmm_emitter *e, mc_opcode op, spmm_operands of, const mc_reg acc[4]);
/* int4.c. Declares `column`. */
void spmm_declare_columns4(spmm_emitter *e);
/* Notes, in the PTX, what the next one does. */
void spmm_note_columns4(spmm_emitter *e);
/* Makes operands of the first BYTES of `low` and `high`, which have two columns each of step STEP's slots:
   the registers of `column` for that step. */
void spmm_emit_columns4(spmm_emitter *e, int bytes, int step);
/* Multiplies the two columns of byte BYTE by each digit in VALUE. The first digit's sums are in ACC, each
   other one's ACC_COUNT registers on. */
void spmm_emit_mma4(spmm_emitter *e, int byte, const mc_reg *value, mc_reg *acc, int acc_count);
/* Adds up the accumulators, COUNT of each weight, by their weights: the first COUNT become the sums. */
void spmm_emit_weigh(spmm_emitter *e, int count);
/* halves.c. Makes an operand of BYTES, each two 4-bit columns: of the even columns, or with HIGH of the odd
   ones. Returns the register that it is in, TO or BYTES itself. */
mc_reg spmm_emit_half(spmm_emitter *e, mc_reg bytes, bool high, mc_reg to);
/* The sums of A's rows that halves.c describes. They are declared once a kernel, zeroed before a row block's
   strides, and VALUES of an mma in 32 slots of a stride are added to them. */
void spmm_declare_bias(spmm_emitter *e);
void spmm_emit_zero_bias(spmm_emitter *e);
void spmm_emit_add_bias(spmm_emitter *e, int mma, const mc_reg values[2]);
/* Takes off what 4-bit values have too much, before the digits are weighed. There are COUNT accumulators for
   each mma. ODD_COLUMN is the bit of an accumulator's number that says that its column is odd; the number
   without that bit is the even column beside it. */
void spmm_emit_settle_halves(spmm_emitter *e, int count, int odd_column);
/* Sets has_sums and stores, once in_rows is known. */
void spmm_emit_sum_guards(spmm_emitter *e);

/* exact.c. These do nothing where sums are not exact, or accumulators cannot get full. COUNT is the number of
   accumulators of one weight. */
void spmm_declare_totals(spmm_emitter *e, int count);
void spmm_emit_begin_rounds(spmm_emitter *e, int count);
/* Returns whether the round has another stride. MORE: there is another stride at all. */
mc_reg spmm_emit_end_stride(spmm_emitter *e, mc_reg more);
/* Adds the accumulators to the totals, and begins the next round if there are MORE strides. */
void spmm_emit_totals(spmm_emitter *e, int count, mc_reg more);

/* stack.c */

/* Sets has_values. Returns whether there is a lane without values. */
bool spmm_emit_has_values(spmm_emitter *e);
/* Declares a predicate for each mma: there is a stride, and this lane has values of it. Where all lanes have
   values it is ALWAYS, which says only that there is a stride. NAMES are those of the predicates, the second
   one for a last mma that fills other columns. */
void spmm_declare_guards(const spmm_emitter *e, const char *const names[2], mc_reg always, mc_reg *guards);
/* Sets the predicates; there is a stride where AT is before END. */
void spmm_emit_guards(const spmm_emitter *e, mc_reg at, mc_reg end, const mc_reg *guards);
/* Makes sums of rows of the first COUNT accumulators (of totals, where sums are exact), whose columns are
   digit planes. */
void spmm_emit_unstack(spmm_emitter *e, int count);

/* Sets row_bytes, once ldb is known. */
void spmm_emit_row_bytes(spmm_emitter *e);

/* Sets this thread's place and its block's column tile: place, part, tile_col. */
void spmm_emit_thread(spmm_emitter *e);

/* The name of the shared array: of partial sums, or of rows of B, where partial sums lie later. */
static inline const char *spmm_shared_name(const spmm_plan *plan) {
    return plan->staging == SPMM_SHARED ? "rows" : "partial";
}

/* shared.c: rows of B on their way through shared memory. */
typedef struct spmm_stager {
    mc_reg base;                  /* address of this lane's 16 bytes of row 0 of B */
    mc_reg to, from;              /* where its first copy goes; where its columns of slot 8 t are read */
    const mc_reg *used, *address; /* scratch, one a copy */
} spmm_stager;

/* Sets e->index_lane for the rows that this lane copies. */
void spmm_shared_index_lane(spmm_emitter *e);
/* The first of the columns that this lane copies. */
mc_reg spmm_shared_first_column(spmm_emitter *e, mc_reg path_col);
/* Sets s->to and s->from, and fills what this lane copies to with zeros. */
void spmm_shared_start(spmm_emitter *e, spmm_stager *s);
/* Copies this lane's part of the rows that e->index names, where GUARD holds (none: always). */
void spmm_shared_copy(spmm_emitter *e, const spmm_stager *s, mc_reg guard);
/* Waits until the warp's rows are there, and reads this lane's columns of slots 8 t to 8 t + 7 of each step
   into ROW[step][slot][WORDS]. After it the rows may be overwritten. */
void spmm_shared_read(spmm_emitter *e, const spmm_stager *s, const mc_reg *row, int words);

/* Loads this lane's indices and values of the head to e->index and e->value. */
void spmm_emit_load_head(spmm_emitter *e);

/* Computes and stores one tile of path->columns columns from path_col on. The head has been loaded. */
void spmm_emit_tile(spmm_emitter *e, const spmm_path *path, mc_reg path_col);

/* Loads scales and biases for PATH, but for those of 16 columns. INSIDE says whether the path is taken (none:
   always); where it is not, nothing beyond n is read. */
void spmm_emit_factors(spmm_emitter *e, const spmm_path *path, mc_reg path_col, mc_reg inside);

/* Adds up the warps that share the row block and stores its rows of C, path->columns columns from path_col
 * on. */
void spmm_emit_epilogue(spmm_emitter *e, const spmm_path *path, mc_reg path_col);

#endif
