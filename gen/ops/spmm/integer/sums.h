/* What the kernels' emitters see of the arithmetic (arithmetic.h): accumulators, operands made of loaded
 * words, products, and sums of C in the end.
 *
 *   spmm_sums s = {.of = &math, .b = b};
 *   sums_begin(&s);                      once a kernel
 *   sums_declare(&s, count);             accumulators of a path: so many of each weight
 *   sums_zero(&s);
 *   gathered_multiply(&g, ...);          or pairs_multiply: rows of B times values of A
 *   sums_settle(&s, odd_column, more);   accumulators become sums
 *   sums_result(&s)                      their registers */
#ifndef MC_SPMM_SUMS_H
#define MC_SPMM_SUMS_H

#include "ops/spmm/integer/arithmetic.h"
#include "parts/emit.h"
#include "parts/fragment.h"

enum {
    SPMM_MAX_ACC = 64,                                 /* accumulators of one weight */
    SPMM_MAX_STEPS = 2,                                /* steps of 32 slots in a stride */
    SPMM_MAX_MMA = MAX_DIGITS,                         /* mma that A's values take for a digit of B */
    SPMM_MAX_VALUES = SPMM_MAX_STEPS * MAX_DIGITS * 2, /* registers of a lane's values in a stride */
    SPMM_BYTES = 4,
};

/* -- Accumulators and sums: product.c, halves.c, exact.c, stack.c -------------------------------------- */

typedef struct spmm_sums {
    const spmm_arithmetic *of;
    mc_builder *b;
    int count; /* accumulators of one weight */
    /* [sum][mma][4]: of an mma's four, frag_c_row is the column of C, frag_c_col its row */
    mc_reg acc[SPMM_MAX_ACC * MAX_DIGITS];
    /* exact sums: the totals of all digits, laid out like the accumulators of one sum */
    mc_reg total[SPMM_MAX_ACC];
    /* rhs s4: -8 in each byte; the sums of A's rows times it (halves.c) */
    mc_reg bias, bias_sum[4 * MAX_DIGITS];
    mc_label rounds;
    mc_reg done, in_round; /* exact sums: strides done in this round; whether the round has another one */
} spmm_sums;

/* Declares what all paths of the kernel share. */
void sums_begin(spmm_sums *s);
/* Declares the accumulators of a path, COUNT of each weight. */
void sums_declare(spmm_sums *s, int count);
/* Zeroes them, before a row block's strides. */
void sums_zero(spmm_sums *s);
/* Before the loop over strides, and at the end of a stride. The second returns whether the loop goes on;
   MORE: there is another stride at all. */
void sums_begin_rounds(spmm_sums *s);
mc_reg sums_end_stride(spmm_sums *s, mc_reg more);
/* Behind the loop: accumulators become sums of C. ODD_COLUMN is the bit of an accumulator's number that says
   that its column is odd; the number without that bit is the even column beside it. If accumulators were full
   and there are MORE strides, the loop begins again. */
void sums_settle(spmm_sums *s, int odd_column, mc_reg more);
/* The sums, laid out like the accumulators of one weight. */
static inline const mc_reg *sums_result(const spmm_sums *s) { return s->of->exact ? s->total : s->acc; }

/* -- Which lanes have values of A: stack.c ------------------------------------------------------------- */

/* A predicate for each mma; none where all lanes have values. */
typedef struct spmm_value_lanes {
    mc_reg mma[MAX_DIGITS];
} spmm_value_lanes;

/* Whether there is a lane without values. */
bool spmm_has_idle_lanes(const spmm_arithmetic *math);
/* The lanes that have values, by their lane group G. */
spmm_value_lanes lanes_with_values(const spmm_arithmetic *math, mc_builder *b, mc_reg g);
/* Whether there is a stride, which is where AT is before END, and this lane has values of it: of the lanes
   OF. Where all lanes have values it is ALWAYS, which says only that there is a stride. NAMES are those of
   the predicates, the second one for a last mma that fills other columns. */
spmm_value_lanes lanes_where(const spmm_arithmetic *math, mc_builder *b, const char *const names[2],
                             spmm_value_lanes of, mc_reg at, mc_reg end, mc_reg always);
/* The same where it is set several times. Declares predicates: there is a stride, and this lane has values
   of it. Where all lanes have values it is ALWAYS, which says only that there is a stride. NAMES are those
   of the predicates, the second one for a last mma that fills other columns. */
spmm_value_lanes lanes_declare(const spmm_arithmetic *math, mc_builder *b, const char *const names[2],
                               mc_reg always);
/* Sets the predicates TO of lanes OF; there is a stride where AT is before END. */
void lanes_set(const spmm_arithmetic *math, mc_builder *b, spmm_value_lanes of, mc_reg at, mc_reg end,
               spmm_value_lanes to);

/* -- Rows that a lane has gathered to registers: gathered.c, int4.c ------------------------------------ */

/* A lane has columns of 8 slots of each step. The scratch of their transposes, and what these make. */
typedef struct spmm_gathered {
    spmm_sums *sums;
    mc_reg pair[4], low[SPMM_BYTES * MAX_DIGITS], high[SPMM_BYTES * MAX_DIGITS];
    /* rhs of 4 bits: the even and the odd column of `low`, then of `high` */
    mc_reg nibble[4];
    mc_reg column[4 * SPMM_BYTES]; /* mma int4: the operand A of each two columns */
} spmm_gathered;

void gathered_declare(spmm_gathered *g);
/* Multiplies a stride: ROW[step][slot][WORDS] by its values. */
void gathered_multiply(spmm_gathered *g, const mc_reg *row, int words, const mc_reg *value);
/* The same of single elements, of which each has a register. First what is noted before a stride; then, for
   each half of a step, four slots ROW[slot][UNITS] are joined; then the step is multiplied. */
void gathered_note(const spmm_gathered *g);
void gathered_join(spmm_gathered *g, int half, const mc_reg *row, int units);
void gathered_multiply_joined(spmm_gathered *g, int step, int units, const mc_reg *value);

/* -- Pairs of bytes, as ldmatrix.trans gives them: pairs.c --------------------------------------------- */

/* Operands of A's values, with zeros between; and of B's, where these have 4 bits. */
typedef struct spmm_pairs {
    spmm_sums *sums;
    int loads; /* matrices, each of 16 slots and 32 bytes of a row */
    mc_reg zero, even[2 * MAX_DIGITS], odd[2 * MAX_DIGITS]; /* with a 4-bit B, of each mma */
    mc_reg nibble[4];
} spmm_pairs;

/* Columns of B that a pair of bytes has; where it is one, the bytes are its digits. The accumulators of a
   pair's columns are those of neighbouring mma. */
static inline int spmm_pair_columns(const spmm_arithmetic *math) { return 16 / math->rhs.bits; }
/* With a 4-bit B, the bit of an accumulator's number that says that its mma has odd columns. */
enum { SPMM_PAIR_ODD = 4 };

void pairs_declare(spmm_pairs *p);
void pairs_start(spmm_pairs *p);
/* Multiplies half HALF of a stride's slots. VALUE are the first mma's values of it; the next mma's are STEP
   registers on. */
void pairs_multiply(spmm_pairs *p, int half, mc_reg matrix[][4], const mc_reg *value, int step);
/* Adds up what B's values have too much, for the values of a stride, which are two registers of each mma. */
void pairs_add_bias(spmm_pairs *p, const mc_reg *value);

/* -- Between the files of this folder ------------------------------------------------------------------ */

/* The mma for these digits of A and of B, by the digits' signs. */
mc_opcode spmm_mma(const spmm_arithmetic *math, int lhs_digit, int rhs_digit);
/* What an mma multiplies: values of A in `count` registers, and two columns of B in the form of the large
   mma's operand A. That has twice as many registers; frag_a_reg says which column and slots each one holds.
   With `columns` 1 nothing is wanted of the second column. */
typedef struct spmm_operands {
    const mc_reg *b, *a;
    int count, columns;
} spmm_operands;
/* Adds the products to the lane's accumulators, of which frag_c_reg(column, run) names one. Emits one large
   mma, or in the paper's order `count` small ones for each column. */
void spmm_emit_product(const spmm_sums *s, mc_opcode op, spmm_operands of, const mc_reg acc[4]);
/* The accumulators, four of them, of mma MMA, digit RHS_DIGIT of B and columns GROUP. */
static inline const mc_reg *spmm_acc_of(const spmm_sums *s, int mma, int rhs_digit, int group) {
    return &s->acc[s->count * spmm_sum_of(s->of, mma, rhs_digit) + 4 * group];
}

/* int4.c. Declares `column`. */
void spmm_declare_columns4(spmm_gathered *g);
/* Notes, in the PTX, what the next one does. */
void spmm_note_columns4(const spmm_gathered *g);
/* Makes operands of the first BYTES of `low` and `high`, which have two columns each of step STEP's slots:
   the registers of `column` for that step. */
void spmm_emit_columns4(const spmm_gathered *g, int bytes, int step);
/* Multiplies the two columns of byte BYTE, which are columns GROUP of the lane, by each digit in VALUE. */
void spmm_emit_mma4(const spmm_gathered *g, int byte, int group, const mc_reg *value);

/* halves.c. Makes an operand of BYTES, each two 4-bit columns: of the even columns, or with HIGH of the odd
   ones. Returns the register that it is in, TO or BYTES itself. */
mc_reg spmm_emit_half(const spmm_sums *s, mc_reg bytes, bool high, mc_reg to);
/* The sums of A's rows that halves.c describes. They are declared once a kernel, zeroed before a row block's
   strides, and VALUES of an mma in 32 slots of a stride are added to them. */
void spmm_declare_bias(spmm_sums *s);
void spmm_emit_zero_bias(const spmm_sums *s);
void spmm_emit_add_bias(const spmm_sums *s, int mma, const mc_reg values[2]);
/* Takes off what 4-bit values have too much, before the digits are weighed. */
void spmm_emit_settle_halves(const spmm_sums *s, int odd_column);

/* exact.c. They do nothing where sums are not exact. */
void spmm_declare_totals(spmm_sums *s);
/* Adds the accumulators to the totals, and begins the next round if there are MORE strides. */
void spmm_emit_totals(const spmm_sums *s, mc_reg more);

/* stack.c. Makes sums of rows of the sums, whose columns are digit planes. */
void spmm_emit_unstack(const spmm_sums *s);

#endif
