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

#include "ops/spmm/arithmetic.h"
#include "parts/emit.h"
#include "parts/fragment.h"

enum {
    SPMM_MAX_ACC = 64,  /* accumulators of one weight */
    SPMM_MAX_STEPS = 2, /* steps of 32 slots in a stride */
    SPMM_MAX_MMA =
        4, /* mma that A's values take, and operands that a column of B makes: each at most so many */
    SPMM_MAX_VALUES = SPMM_MAX_STEPS * SPMM_MAX_MMA * 4, /* registers of a lane's values in a stride */
    SPMM_BYTES = 4,
    SPMM_MAX_LOADS = 4, /* reads of the ring for 16 slots: 32 bytes of their rows each, or words */
};

/* -- Accumulators and sums ------------------------------------------------------------------------------ */

typedef struct spmm_sums {
    const spmm_arithmetic *of;
    mc_builder *b;
    int count; /* accumulators of one weight */
    /* [sum][mma][4]: of an mma's four, frag_c_row is the column of C, frag_c_col its row */
    mc_reg acc[SPMM_MAX_ACC * SPMM_MAX_MMA];
    /* exact sums: the totals of all digits, laid out like the accumulators of one sum */
    mc_reg total[SPMM_MAX_ACC];
    /* rhs s4: -8 in each byte; the sums of A's rows times it (halves.c) */
    mc_reg bias, bias_sum[4 * SPMM_MAX_MMA];
    mc_label rounds;
    mc_reg done; /* exact sums: strides done in this round */
} spmm_sums;

/* The sums, laid out like the accumulators of one weight. */
static inline const mc_reg *sums_result(const spmm_sums *s) { return s->of->exact ? s->total : s->acc; }

/* -- Which lanes have values of A (lanes.c) ------------------------------------------------------------- */

/* A predicate for each mma; none where all lanes have values. */
typedef struct spmm_value_lanes {
    mc_reg mma[SPMM_MAX_MMA];
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

/* -- Rows that a lane has gathered to registers --------------------------------------------------------- */

/* A lane has columns of 8 slots of each step. The scratch of their transposes, and what these make: `low` of
   slots 0..3, `high` of slots 4..7. Floats take these two alone, and `real`. */
typedef struct spmm_gathered {
    spmm_sums *sums;
    real_operands real;
    mc_reg pair[4], low[SPMM_BYTES * SPMM_MAX_MMA], high[SPMM_BYTES * SPMM_MAX_MMA];
    /* rhs of 4 bits: the even and the odd column of `low`, then of `high` */
    mc_reg half[4];
    mc_reg column[4 * SPMM_BYTES]; /* mma int4: the operand A of each two columns */
} spmm_gathered;

/* -- What is read of the ring: pairs of bytes by ldmatrix.trans, or words -------------------------------- */

/* Of integers operands of A's values, with zeros between; and of B's, where these have 4 bits; or sparse, the
   metadata that pick the bytes at even places and at odd ones. Where pairs of bytes are taken apart, the
   columns of each load in the first half of a stride, and of one load in the second half; of narrow rows
   those of the whole stride. Floats of 16 bits are operands as they are; what is made such is `real`. */
typedef struct spmm_pairs {
    spmm_sums *sums;
    int loads;
    real_operands real;
    mc_reg zero, even[2 * SPMM_MAX_MMA], odd[2 * SPMM_MAX_MMA]; /* with a 4-bit B, of each mma */
    mc_reg half[4], picks[2];
    mc_reg first[SPMM_MAX_LOADS][4], second[4];
} spmm_pairs;

/* Columns of B that a pair of bytes has; where it is one, the bytes are its digits. The accumulators of a
   pair's columns are those of neighbouring mma. */
static inline int spmm_pair_columns(const spmm_arithmetic *math) { return 16 / math->b_bits; }
/* With a 4-bit B, the bit of an accumulator's number that says that its mma has odd columns. */
enum { SPMM_PAIR_ODD = 4 };

/* -- What an arithmetic implements ----------------------------------------------------------------------- */

/* The functions below the table call it, and say what each is to do. */
typedef struct spmm_emitters {
    mc_opcode (*add)(const spmm_sums *s);
    void (*begin)(spmm_sums *s);
    void (*declare)(spmm_sums *s, int count);
    void (*zero)(spmm_sums *s);
    void (*begin_rounds)(spmm_sums *s);
    mc_reg (*end_stride)(spmm_sums *s, mc_reg more);
    void (*settle)(spmm_sums *s, int odd_column, mc_reg more);
    void (*gathered_declare)(spmm_gathered *g);
    void (*gathered_multiply)(spmm_gathered *g, const mc_reg *row, int words, const mc_reg *value);
    void (*gathered_note)(const spmm_gathered *g);
    void (*gathered_join)(spmm_gathered *g, int half, const mc_reg *row, int units);
    void (*gathered_take_apart)(const spmm_gathered *g, const mc_reg *loaded, const mc_reg *value);
    void (*gathered_multiply_joined)(spmm_gathered *g, int step, int units, const mc_reg *value);
    spmm_pairs (*pairs_begin)(spmm_sums *sums, int loads);
    void (*pairs_multiply)(const spmm_pairs *p, int half, mc_reg matrix[][4], const mc_reg *value, int step);
    void (*pairs_multiply_sparse)(const spmm_pairs *p, int piece, const mc_reg matrix[4],
                                  const mc_reg *value);
    void (*pairs_add_bias)(const spmm_pairs *p, const mc_reg *value);
} spmm_emitters;

static inline const spmm_emitters *spmm_emitters_of(const spmm_sums *s) { return s->of->kind->emit; }

/* The instruction that adds two sums. */
static inline mc_opcode sums_add(const spmm_sums *s) { return spmm_emitters_of(s)->add(s); }
/* Declares what all paths of the kernel share. */
static inline void sums_begin(spmm_sums *s) { spmm_emitters_of(s)->begin(s); }
/* Declares the accumulators of a path, COUNT of each weight. */
static inline void sums_declare(spmm_sums *s, int count) { spmm_emitters_of(s)->declare(s, count); }
/* Zeroes them, before a row block's strides. */
static inline void sums_zero(spmm_sums *s) { spmm_emitters_of(s)->zero(s); }
/* Before the loop over strides, and at the end of a stride. The second returns whether the loop goes on;
   MORE: there is another stride at all. */
static inline void sums_begin_rounds(spmm_sums *s) { spmm_emitters_of(s)->begin_rounds(s); }
static inline mc_reg sums_end_stride(spmm_sums *s, mc_reg more) {
    return spmm_emitters_of(s)->end_stride(s, more);
}
/* Behind the loop: accumulators become sums of C. ODD_COLUMN is the bit of an accumulator's number that says
   that its column is odd; the number without that bit is the even column beside it. If accumulators were full
   and there are MORE strides, the loop begins again. */
static inline void sums_settle(spmm_sums *s, int odd_column, mc_reg more) {
    spmm_emitters_of(s)->settle(s, odd_column, more);
}

/* Where A's values are whole elements: what was LOADED of a stride becomes VALUE, registers that mma take. */
static inline void gathered_take_apart(const spmm_gathered *g, const mc_reg *loaded, const mc_reg *value) {
    spmm_emitters_of(g->sums)->gathered_take_apart(g, loaded, value);
}
static inline void gathered_declare(spmm_gathered *g) { spmm_emitters_of(g->sums)->gathered_declare(g); }
/* Multiplies a stride: ROW[step][slot][WORDS] by its values. */
static inline void gathered_multiply(spmm_gathered *g, const mc_reg *row, int words, const mc_reg *value) {
    spmm_emitters_of(g->sums)->gathered_multiply(g, row, words, value);
}
/* The same of single elements, of which each has a register. First what is noted before a stride; then, for
   each half of a step, four slots ROW[slot][UNITS] are joined; then the step is multiplied. */
static inline void gathered_note(const spmm_gathered *g) { spmm_emitters_of(g->sums)->gathered_note(g); }
static inline void gathered_join(spmm_gathered *g, int half, const mc_reg *row, int units) {
    spmm_emitters_of(g->sums)->gathered_join(g, half, row, units);
}
static inline void gathered_multiply_joined(spmm_gathered *g, int step, int units, const mc_reg *value) {
    spmm_emitters_of(g->sums)->gathered_multiply_joined(g, step, units, value);
}

/* Matrices are LOADS, each of 16 slots and 32 bytes of a row. */
static inline spmm_pairs pairs_begin(spmm_sums *sums, int loads) {
    return spmm_emitters_of(sums)->pairs_begin(sums, loads);
}
/* Multiplies half HALF of a stride's slots. VALUE are the first mma's values of it, math->value_bytes
   registers of them; the next mma's are STEP registers on. Where an mma takes both halves, the first half is
   kept, and the second one brings VALUE of both: twice as many registers. */
static inline void pairs_multiply(const spmm_pairs *p, int half, mc_reg matrix[][4], const mc_reg *value,
                                  int step) {
    spmm_emitters_of(p->sums)->pairs_multiply(p, half, matrix, value, step);
}
/* Sparse: multiplies 16 bytes of the rows of all 32 slots, the PIECE-th ones, MATRIX, by VALUE: an operand A
   for each digit. */
static inline void pairs_multiply_sparse(const spmm_pairs *p, int piece, const mc_reg matrix[4],
                                         const mc_reg *value) {
    spmm_emitters_of(p->sums)->pairs_multiply_sparse(p, piece, matrix, value);
}
/* Adds up what B's values have too much, for the values of a stride, which are two registers of each mma. */
static inline void pairs_add_bias(const spmm_pairs *p, const mc_reg *value) {
    spmm_emitters_of(p->sums)->pairs_add_bias(p, value);
}

#endif
