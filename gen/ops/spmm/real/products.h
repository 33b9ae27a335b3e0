/* Between the files of this folder. */
#ifndef MC_SPMM_REAL_PRODUCTS_H
#define MC_SPMM_REAL_PRODUCTS_H

#include "ops/spmm/sums.h"

/* What the table of real.c has: sums.h says what each is to do. gathered.c */
void real_gathered_declare(spmm_gathered *g);
void real_gathered_multiply(spmm_gathered *g, const mc_reg *row, int words, const mc_reg *value);
void real_gathered_note(const spmm_gathered *g);
void real_gathered_join(spmm_gathered *g, int half, const mc_reg *row, int units);
void real_gathered_multiply_joined(spmm_gathered *g, int step, int units, const mc_reg *value);
/* windows.c */
spmm_pairs real_pairs_begin(spmm_sums *sums, int loads);
void real_pairs_multiply(const spmm_pairs *p, int half, mc_reg matrix[][4], const mc_reg *value, int step);
void real_pairs_add_bias(const spmm_pairs *p, const mc_reg *value);

/* Multiplies the mma's slots and adds to accumulators GROUP: A is the mma's operand A, four registers, B its
   operand B, two. */
static inline void real_emit_mma(const spmm_sums *s, const mc_reg a[4], const mc_reg b[2], int group) {
    const real_pair *pair = s->of->real.pair;
    const mc_reg *acc = &s->acc[4 * group];
    builder_emit(s->b, (mc_reg){0}, spmm_is_tall(s->of) ? pair->mma : pair->swapped,
                 MC_OPERANDS(V4(acc), V4(a), V2(b), V4(acc)));
}

/* The operand A of vectors of 16 rows: VALUE are two registers of the first 8 rows; those of the others are
   STEP registers on. */
static inline void real_emit_tall_mma(const spmm_sums *s, const mc_reg *value, int step, const mc_reg b[2],
                                      int group) {
    real_emit_mma(s, (const mc_reg[]){value[0], value[step], value[1], value[step + 1]}, b, group);
}

#endif
