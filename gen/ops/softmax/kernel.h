/* The emitters of a softmax. */
#ifndef MC_SOFTMAX_KERNEL_H
#define MC_SOFTMAX_KERNEL_H

#include "ops/softmax/softmax.h"

typedef struct softmax_constants {
    mc_reg log2_e, least_power, least, one, lowest, unit; /* as mc_softmax.h has them */
    activation power;
} softmax_constants;

/* Of the thread block's row block: the addresses of its first elements, and how much there is. */
typedef struct softmax_block {
    mc_reg number, x, c, mask, vectors, units;
} softmax_block;

/* A unit at each of the places that are taken at once. */
typedef struct softmax_units {
    int count;
    mc_reg first;                    /* the number of the first one */
    mc_reg inside[SOFTMAX_MAX_HOLD]; /* it is the row block's */
    mc_reg left[SOFTMAX_MAX_HOLD];   /* vectors from its first slot on; of srbcrs */
    mc_reg raw[SOFTMAX_MAX_HOLD * SOFTMAX_UNIT_BYTES / WORD];
    mc_reg value[SOFTMAX_MAX_VALUES]; /* [unit][element], f32 */
} softmax_units;

/* Of each of the thread's rows: M, the sum of u in two words, its part from at most `hold` units, max(M,
   lowest), s, and what exponentials are multiplied by. */
typedef struct softmax_rows {
    mc_reg greatest[SOFTMAX_MAX_ROWS], low[SOFTMAX_MAX_ROWS], high[SOFTMAX_MAX_ROWS], part[SOFTMAX_MAX_ROWS];
    mc_reg shift[SOFTMAX_MAX_ROWS], sum[SOFTMAX_MAX_ROWS], by[SOFTMAX_MAX_ROWS];
} softmax_rows;

typedef struct softmax_scratch {
    mc_reg at, real, other, test; /* an address, two words, a predicate */
} softmax_scratch;

typedef struct softmax_emitter {
    mc_builder *b;
    const softmax_plan *plan;
    mc_reg thread, lane, warp;
    mc_reg row;   /* the first of the thread's, in the row block */
    mc_reg scale; /* none: there is none */
    mc_reg c_by;  /* what makes quotients C's integers; none: C is real */
    softmax_constants constant;
    softmax_block block;
    softmax_units units;
    softmax_rows of;
    softmax_scratch scratch;
} softmax_emitter;

/* Which of the thread's rows ELEMENT of unit I is of. */
static inline int softmax_row_of(const softmax_plan *plan, int i, int element) {
    return plan->order == SOFTMAX_BCRS ? element : i % plan->rows;
}

/* -- load.c */

void softmax_begin(softmax_emitter *e, mc_builder *b, const softmax_plan *plan, const mc_batch_array *arrays);
/* Loads COUNT units, T apart from unit FIRST on, and makes f32 of them: scaled, with the mask's values, and
   -infinity where there is no element. */
void softmax_take(softmax_emitter *e, mc_reg first, int count);
/* Sets e->scratch.test to whether ELEMENT of unit I is there. Only of srbcrs. */
void softmax_test_element(const softmax_emitter *e, int i, int element);

/* -- join.c */

/* e->of.greatest become those of the thread block's rows; e->of.low and e->of.high likewise. */
void softmax_join_greatest(softmax_emitter *e);
void softmax_join_sums(softmax_emitter *e);

/* -- store.c */

void softmax_start_greatest(softmax_emitter *e);
void softmax_take_greatest(softmax_emitter *e);
void softmax_shift(softmax_emitter *e);
void softmax_start_sums(softmax_emitter *e);
/* Values become exponentials, and are added to the sums if these are WANTED. */
void softmax_take_powers(softmax_emitter *e, bool wanted);
/* From sums to factors. */
void softmax_divide(softmax_emitter *e);
void softmax_store(softmax_emitter *e);
void softmax_store_lse(softmax_emitter *e);

#endif
