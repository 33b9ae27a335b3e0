/* Scales that the kernel computes: what the two files of the solver share. */
#ifndef MC_QUANTISE_TOKEN_H
#define MC_QUANTISE_TOKEN_H

#include "ops/quantise/patch.h"

enum { TOKEN_ENDS = 2 };

/* The greatest magnitude of each row of the patch, or with zero points how far the row reaches above and
   below zero, as a float that is not negative or NaN. Those of f16 and bf16 without zero points are packed:
   one of the even columns, one of the odd ones. */
typedef struct token_ends {
    mc_reg of[TOKEN_ENDS][QUANTISE_MAX_ROWS];
} token_ends;

/* How many ends a row has. */
static inline int token_end_count(const quantise_plan *plan) { return plan->zero ? 2 : 1; }

/* -- ends.c */

void token_declare_ends(const quantise_emitter *e, token_ends *ends);
/* Takes the patch RAW into account. */
void token_take_patch(const quantise_emitter *e, const token_ends *ends, const mc_reg *raw);
/* Makes scales of all warps' ENDS, writes them, and leaves the patch's factors in registers. SHARED: the
   address of shared memory, where the rows' factors stand first. */
void token_make_factors(quantise_emitter *e, const quantise_patch *patch, const token_ends *ends,
                        mc_reg shared);
/* The edge path: scales, from all elements one by one. */
void token_make_factors_by_points(quantise_emitter *e, mc_reg shared);

#endif
