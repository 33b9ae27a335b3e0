/* How far rows of A reach, and the scales that come of it: what solvers share that compute scales. */
#ifndef MC_QUANTISE_ENDS_H
#define MC_QUANTISE_ENDS_H

#include "ops/quantise/patch.h"

enum { QUANTISE_ENDS = 2 };

/* The greatest magnitude of each row of the patch (of all rows, where a scale is the tensor's), or with zero
   points how far the row reaches above and below zero, as a float that is not negative or NaN. Those of f16
   and bf16 without zero points are packed: one of the even columns, one of the odd ones. */
typedef struct quantise_ends {
    mc_reg of[QUANTISE_ENDS][QUANTISE_MAX_ROWS];
} quantise_ends;

/* How many ends a row has. */
static inline int quantise_end_count(const quantise_plan *plan) { return plan->zero ? 2 : 1; }

void quantise_declare_ends(const quantise_emitter *e, quantise_ends *ends);
/* Takes the patch RAW into account. */
void quantise_take_patch(const quantise_emitter *e, const quantise_ends *ends, const mc_reg *raw);
/* Makes one float of an END that is packed. */
void quantise_unpack_end(const quantise_emitter *e, mc_reg end);
/* The lanes of a warp take elements of row ROW of A in turn, from column FIRST to END, one by one. Ends that
   are taken so are not packed. */
void quantise_take_row(const quantise_emitter *e, mc_reg row, mc_reg first, mc_operand end,
                       const quantise_ends *ends);

/* What comes of a row's ends: the scale, what values are multiplied by, and the zero point as its array holds
   it; none without zero points. */
typedef struct quantise_made {
    mc_reg scale, by, zero;
} quantise_made;
quantise_made quantise_make_scale(const quantise_emitter *e, const mc_reg ends[QUANTISE_ENDS]);

#endif
