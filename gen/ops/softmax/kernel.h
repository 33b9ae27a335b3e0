/* The emitters of a softmax. */
#ifndef MC_SOFTMAX_KERNEL_H
#define MC_SOFTMAX_KERNEL_H

#include "ops/softmax/softmax.h"

typedef struct softmax_constants {
    mc_reg log2_e, least_power, least, one, lowest, unit; /* as mc_softmax.h has them */
    activation power;
    /* What makes exponents of elements: log2_e, of either sign where the plan is packed. */
    mc_reg by;
    /* Of words of A: what turns their signs, none: nothing does; whether it does; what stands for none. */
    mc_reg sign, negative, absent;
} softmax_constants;

/* The addresses of the first elements of the thread block's row block. */
typedef struct softmax_block {
    mc_reg x, c, mask;
} softmax_block;

/* A unit at each of the places that are taken at once. */
typedef struct softmax_units {
    mc_reg raw[ROWS_MAX_VALUES];
    mc_reg value[ROWS_MAX_VALUES]; /* [unit][element], f32 */
} softmax_units;

/* Of each of the thread's rows: M (where the plan is packed of two in a word), the sum of u in two words, its
   part from at most `hold` units, what is taken off its elements (max(M, lowest), of the elements' sign where
   the plan is packed), and what exponentials are multiplied by. */
typedef struct softmax_rows {
    mc_reg greatest[ROWS_MAX_ROWS], low[ROWS_MAX_ROWS], high[ROWS_MAX_ROWS], part[ROWS_MAX_ROWS];
    mc_reg shift[ROWS_MAX_ROWS], by[ROWS_MAX_ROWS];
} softmax_rows;

/* Of the row that is the lane's own once threads have joined, lane % vec: M, what is taken off its elements,
   the sum of u in two words, and s. With one exchange greatest is the warp's greatest exponent, of all rows,
   shift its negative, key the same as an integer, most the row block's. */
typedef struct softmax_own {
    mc_reg greatest, shift, total[2], sum, key, most;
} softmax_own;

typedef struct softmax_emitter {
    mc_builder *b;
    const softmax_plan *plan;
    rows_emitter rows;
    rows_grid grid; /* with teams */
    mc_reg scale;   /* none: there is none; where the plan is late its magnitude */
    mc_reg c_by;    /* what makes quotients C's integers; none: C is real */
    softmax_constants constant;
    softmax_block block;
    softmax_units units;
    softmax_rows of;
    softmax_own own;
    out_scratch packing; /* of elements of C */
    mc_label longer;     /* the way of row blocks that are not held */
} softmax_emitter;

/* Two times -infinity, of a type of 16 bits. */
static inline uint32_t softmax_lowest_word(const softmax_plan *plan) {
    return plan->in == ROWS_F16 ? 0xfc00fc00U : 0xff80ff80U;
}
/* -- load.c */

/* With teams the row block is found later, and softmax_place_block says where its elements are. */
void softmax_begin(softmax_emitter *e, mc_builder *b, const softmax_plan *plan, const mc_batch_array *arrays);
void softmax_place_block(softmax_emitter *e);
/* Asks for the placed units, and for their values of the mask. */
void softmax_load(softmax_emitter *e);
/* Unit I in f32: scaled, with the mask's values, and -infinity where there is no element. Where the plan is
   packed nothing: it stays in words as it is, of which the absent ones are infinite. */
void softmax_take(softmax_emitter *e, int i);
/* Where the plan is packed: words become f32. */
void softmax_unpack(softmax_emitter *e, int i);

/* -- join.c */

void softmax_declare_own(softmax_emitter *e);
/* What joins words of two elements; TO = the greater ones, or the lesser ones, of the halves of A and B. */
rows_joined softmax_pairs(const softmax_plan *plan);
void softmax_greater_pairs(const softmax_emitter *e, mc_reg to, mc_reg a, mc_reg b);
void softmax_lesser_pairs(const softmax_emitter *e, mc_reg to, mc_reg a, mc_reg b);
/* From what threads have of their rows, e->of.greatest, to e->own.greatest and e->own.shift; and e->of.shift
   of the thread's rows. */
void softmax_join_greatest(softmax_emitter *e);
/* From e->of.part where ONE_WORD holds what a warp has of a row, else from e->of.low and e->of.high, to
   e->own.total. */
void softmax_join_sums(softmax_emitter *e, bool one_word);

/* Where the plan is packed, words of greatest elements get the sign that makes them so. */
void softmax_turn_words(softmax_emitter *e);
/* -- once.c */

/* From what the thread has of its rows, e->of.greatest, to the greatest exponent that its warp has of any
   row: e->own.greatest, and its negative, e->own.shift. */
void softmax_join_warp(softmax_emitter *e);
/* Values become exponentials against it. */
void softmax_take_powers_once(softmax_emitter *e, int i);
void softmax_start_reals(softmax_emitter *e);
/* Adds the exponentials of unit I up, as they are. */
void softmax_add_reals(softmax_emitter *e, int i);
/* From these to e->own.sum of the row that is the lane's own, against the row block's greatest exponent. */
void softmax_join_reals(softmax_emitter *e);
/* Row blocks with a row of which that is too small, too great or NaN leave for e->longer. */
void softmax_leave_if_apart(softmax_emitter *e);
/* From sums to factors. */
void softmax_divide_once(softmax_emitter *e);

/* -- store.c: I is a unit */

void softmax_start_greatest(softmax_emitter *e);
/* Of all units. */
void softmax_take_greatest(softmax_emitter *e);
void softmax_start_sums(softmax_emitter *e);
/* Values become exponentials. */
void softmax_take_powers(softmax_emitter *e, int i);
/* The bits of 1 and each of these are added to the parts, which begin with as many times less the bits of 1;
   and parts, of at most `hold` units, to the sums. */
void softmax_start_parts(softmax_emitter *e);
void softmax_add_powers(softmax_emitter *e, int i);
void softmax_add_parts(softmax_emitter *e);
/* From sums to factors. */
void softmax_divide(softmax_emitter *e);
void softmax_start_store(softmax_emitter *e);
void softmax_store(softmax_emitter *e, int i);
void softmax_store_lse(softmax_emitter *e);

#endif
