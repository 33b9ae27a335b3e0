/* The emitters of a softmax_grad. */
#ifndef MC_SOFTMAX_GRAD_KERNEL_H
#define MC_SOFTMAX_GRAD_KERNEL_H

#include "ops/softmax_grad/softmax_grad.h"

/* The thread's units, as they were loaded, and their terms, [unit][element]. */
typedef struct grad_units {
    mc_reg p[ROWS_MAX_VALUES], d[ROWS_MAX_VALUES], term[ROWS_MAX_VALUES];
} grad_units;

/* Of each of the thread's rows: G (where the plan is packed of two in a word), of a long row block the
   greatest t and the greatest -t; 2^21 / g; the sum of u from at most `hold` units, and in two words; D. */
typedef struct grad_rows {
    mc_reg greatest[ROWS_MAX_ROWS], least[ROWS_MAX_ROWS];
    mc_reg by[ROWS_MAX_ROWS], part[ROWS_MAX_ROWS], low[ROWS_MAX_ROWS], high[ROWS_MAX_ROWS];
    mc_reg sum[ROWS_MAX_ROWS];
} grad_rows;

/* Of the row that is the lane's own once threads have joined: G, or the greatest t and the greatest -t; the
   bits of g; 2^21 / g; the sum of u in two words; D. */
typedef struct grad_own {
    mc_reg greatest, least, power, by, total[2], sum;
} grad_own;

typedef struct grad_emitter {
    mc_builder *b;
    const grad_plan *plan;
    rows_emitter rows;
    mc_reg scale; /* none: there is none */
    mc_reg rounder;
    rows_array p, d;
    mc_reg c; /* the address of the row block's first element */
    grad_units units;
    grad_rows of;
    grad_own own;
    out_scratch packing; /* of elements of C */
    mc_label longer;     /* the way of row blocks that are not held */
} grad_emitter;

/* -- terms.c: I is a unit */

/* With teams the row block is found later, and grad_place_block says where its elements are. */
void grad_begin(grad_emitter *e, mc_builder *b, const grad_plan *plan, const mc_batch_array *arrays);
void grad_place_block(grad_emitter *e);
/* Asks for the placed units. */
void grad_load(grad_emitter *e);
/* Terms, 0 where there is no element. */
void grad_take(grad_emitter *e, int i);
/* G of the thread's rows, of all units. */
void grad_start_greatest(grad_emitter *e);
void grad_take_greatest(grad_emitter *e);
/* The same with a sign. */
void grad_start_ends(grad_emitter *e);
void grad_take_ends(grad_emitter *e, int i);
/* From G, or from both ends of each row, to g and 2^21 / g. */
void grad_join_greatest(grad_emitter *e);
void grad_join_ends(grad_emitter *e);
/* Parts of at most `hold` units; and these to sums. */
void grad_start_parts(grad_emitter *e);
void grad_add(grad_emitter *e, int i);
void grad_start_sums(grad_emitter *e);
void grad_add_parts(grad_emitter *e);
/* D, from parts where ONE_WORD holds what a warp has of a row, else from sums; where rows have ends, of those
   that are not finite. */
void grad_join_sums(grad_emitter *e, bool one_word);
void grad_mend_sums(grad_emitter *e);
void grad_spread_sums(grad_emitter *e);
void grad_start_store(grad_emitter *e);
void grad_store(grad_emitter *e, int i);

#endif
