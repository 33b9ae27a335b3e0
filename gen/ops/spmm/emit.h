/* What the emitters share: the registers that live through the kernel. */
#ifndef MC_SPMM_EMIT_H
#define MC_SPMM_EMIT_H

#include "parts/emit.h"
#include "parts/fragment.h"
#include "ops/spmm/spmm.h"

enum {
    SPMM_MAX_ACC = 64,                                 /* of a weight */
    SPMM_MAX_STEPS = 2,                                /* mma steps of 32 slots in a stride */
    SPMM_MAX_VALUES = SPMM_MAX_STEPS * MAX_DIGITS * 2, /* registers of a lane's values of a stride */
    SPMM_BYTES = 4,
};

typedef struct spmm_emitter {
    const spmm_plan *plan;
    mc_builder *b;
    thread_place place;
    mc_reg part; /* which of the warps that share a row block; none where there is one warp */
    mc_reg row_block, tile_col;
    mc_reg in_rows;                /* the row block is one of A's; none where that is certain */
    mc_reg has_values[MAX_DIGITS]; /* of each mma: this lane holds values of A; none where all do */
    mc_reg has_sums;               /* vec < 8: and these sums */
    mc_reg stores;                 /* it stores them; one warp a row block */
    mc_reg m, n, ldb, ldc;         /* shapes that are parameters; none where fixed */
    mc_reg b_array, c_array;
    mc_reg head, first, last; /* this warp's head; the row block's strides that are no heads */
    /* Without heads in front of all strides: this warp has one, and this lane has values of it, of each mma; none else */
    mc_reg has_head, head_values[MAX_DIGITS];
    mc_reg col_idx;
    mc_reg index_lane, value_lane; /* this lane's share of stride 0 */
    int indices;                   /* of it, a step: 8, or one for each row that it copies */
    mc_reg index_at, value_at;     /* and of the stride that is loaded */
    mc_reg index[SPMM_MAX_STEPS * MC_LANE_SLOTS], value[SPMM_MAX_VALUES];
    mc_operand row_bytes; /* from a row of B to the next */
    mc_reg pair[4], low[SPMM_BYTES * MAX_DIGITS], high[SPMM_BYTES * MAX_DIGITS]; /* of the transpose */
    mc_reg nibble[4];                      /* rhs of 4 bits: even and odd column of `low`, then of `high` */
    mc_reg bias, bias_sum[4 * MAX_DIGITS]; /* rhs s4: of the mma that adds up A's rows (halves.c) */
    mc_reg column[4 * SPMM_BYTES];         /* mma int4: the operand A of each two columns */
    mc_reg odd, odd_bits;
    mc_reg col;          /* this lane's first column of C in the path's tile */
    out_factors factors; /* of the path that is being emitted */
    /* [mma][4]: frag_c_row is the column of C, frag_c_col its row; then those of the next digit */
    mc_reg acc[SPMM_MAX_ACC * MAX_DIGITS];
    mc_reg total[SPMM_MAX_ACC]; /* exact sums: of all digits, like the accumulators of one */
    mc_label rounds;
    mc_reg done, in_round; /* strides of this round; there are more, and they belong to it */
} spmm_emitter;

/* The instruction for a digit of A's values and one of B's: which of them have signs. */
mc_opcode spmm_mma(const spmm_plan *plan, int lhs_digit, int rhs_digit);
/* What an mma multiplies: values of A in `count` registers, and of B two columns, as the operand A of the large mma has them: twice
   as many registers, of which frag_a_reg says which column and slots they hold. `columns` 1: nothing is wanted of the second one. */
typedef struct spmm_operands {
    const mc_reg *b, *a;
    int count, columns;
} spmm_operands;
/* Adds its products to the lane's accumulators, frag_c_reg(column, run): one large mma, or in the paper's order `count` small ones a
   column. */
void spmm_emit_product(spmm_emitter *e, mc_opcode op, spmm_operands of, const mc_reg acc[4]);
/* int4.c. Declares `column`. */
void spmm_declare_columns4(spmm_emitter *e);
/* What the next ones do, in words. */
void spmm_note_columns4(spmm_emitter *e);
/* BYTES of two columns each, of step STEP's slots in `low` and `high`, to the registers of `column` that hold
   them. */
void spmm_emit_columns4(spmm_emitter *e, int bytes, int step);
/* The mma of the two columns of byte BYTE with each digit in VALUE; sums of the first in ACC, of each other ACC_COUNT
   registers behind. */
void spmm_emit_mma4(spmm_emitter *e, int byte, const mc_reg *value, mc_reg *acc, int acc_count);
/* Accumulators, COUNT of each weight, become those of the sums: the first COUNT. */
void spmm_emit_weigh(spmm_emitter *e, int count);
/* halves.c. BYTES of 4-bit columns as an operand: of the even columns, or the HIGH ones, the odd. Returns the register, TO or
   BYTES itself. */
mc_reg spmm_emit_half(spmm_emitter *e, mc_reg bytes, bool high, mc_reg to);
/* Once a kernel; before a row block's strides; for VALUES of an mma in a stride's 32 slots. */
void spmm_declare_bias(spmm_emitter *e);
void spmm_emit_zero_bias(spmm_emitter *e);
void spmm_emit_add_bias(spmm_emitter *e, int mma, const mc_reg values[2]);
/* Before the digits are weighed: accumulators, COUNT of each mma, become their sums. ODD_COLUMN: the bit
   of an accumulator's number that says that its column is odd; without it, it is the even one's beside. */
void spmm_emit_settle_halves(spmm_emitter *e, int count, int odd_column);
/* has_sums and stores, once in_rows is known. */
void spmm_emit_sum_guards(spmm_emitter *e);

/* exact.c. All do nothing where sums are not exact, or accumulators cannot get full. COUNT: accumulators of a weight. */
void spmm_declare_totals(spmm_emitter *e, int count);
void spmm_emit_begin_rounds(spmm_emitter *e, int count);
/* Whether the round has another stride: MORE (there is one), or less. */
mc_reg spmm_emit_end_stride(spmm_emitter *e, mc_reg more);
/* Accumulators become totals; and the next round, if there are MORE strides. */
void spmm_emit_totals(spmm_emitter *e, int count, mc_reg more);

/* stack.c */

/* Sets has_values. Whether there is a lane without values. */
bool spmm_emit_has_values(spmm_emitter *e);
/* For each mma a predicate: there is a stride, and this lane has values of it. ALWAYS where all lanes have: that there is
   one. NAMES: of all, and of a last mma that fills other columns. */
void spmm_declare_guards(const spmm_emitter *e, const char *const names[2], mc_reg always, mc_reg *guards);
/* Sets them: AT is before END. */
void spmm_emit_guards(const spmm_emitter *e, mc_reg at, mc_reg end, const mc_reg *guards);
/* The first COUNT accumulators, or totals where sums are exact, of columns that are digit planes become sums of rows. */
void spmm_emit_unstack(spmm_emitter *e, int count);

/* row_bytes, once ldb is known. */
void spmm_emit_row_bytes(spmm_emitter *e);

/* This thread's place, and the block's column tile: place, part, tile_col. */
void spmm_emit_thread(spmm_emitter *e);

/* The shared array: of partial sums, or of rows of B before them. */
static inline const char *spmm_shared_name(const spmm_plan *plan) {
    return plan->staging == SPMM_SHARED ? "rows" : "partial";
}

/* shared.c: rows of B on their way through shared memory. */
typedef struct spmm_stager {
    mc_reg base;                  /* address of this lane's 16 bytes of row 0 of B */
    mc_reg to, from;              /* places of its first copy, and of its columns of slot 8 t */
    const mc_reg *used, *address; /* scratch, one a copy */
} spmm_stager;

/* Sets e->index_lane for the rows that this lane copies. */
void spmm_shared_index_lane(spmm_emitter *e);
/* The first of the columns that this lane copies. */
mc_reg spmm_shared_first_column(spmm_emitter *e, mc_reg path_col);
/* Sets s->to and s->from; the places of this lane's copies become zero. */
void spmm_shared_start(spmm_emitter *e, spmm_stager *s);
/* Where GUARD holds (none: always), copies this lane's part of the rows that e->index names. */
void spmm_shared_copy(spmm_emitter *e, const spmm_stager *s, mc_reg guard);
/* Waits until the warp's rows are there, and reads this lane's columns of slots 8 t to 8 t + 7 of each step: ROW[step][slot][WORDS].
   After it the rows may be overwritten. */
void spmm_shared_read(spmm_emitter *e, const spmm_stager *s, const mc_reg *row, int words);

/* Loads this lane's share of the head to e->index and e->value. */
void spmm_emit_load_head(spmm_emitter *e);

/* Computes and stores one tile of path->columns columns from path_col on. The head has been loaded. */
void spmm_emit_tile(spmm_emitter *e, const spmm_path *path, mc_reg path_col);

/* Loads scales and biases for PATH, those of 16 columns excepted. INSIDE (none: always): whether the path is taken; where
   it is not, nothing is read beyond n. */
void spmm_emit_factors(spmm_emitter *e, const spmm_path *path, mc_reg path_col, mc_reg inside);

/* Adds up the warps that share the row block and stores its rows of C, path->columns columns from path_col
 * on. */
void spmm_emit_epilogue(spmm_emitter *e, const spmm_path *path, mc_reg path_col);

#endif
