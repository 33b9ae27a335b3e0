/* The emitters of an optimiser's step. */
#ifndef MC_OPTIMISE_KERNEL_H
#define MC_OPTIMISE_KERNEL_H

#include "ops/optimise/optimise.h"

/* An operand's registers. */
typedef struct optimise_stream {
    optimise_operand is;
    mc_reg base, at;                 /* its address; that of the thread's first unit */
    mc_reg word[OPTIMISE_MAX_WORDS]; /* what the units hold, as it lies in memory; of what is read */
} optimise_stream;

/* What is the same for all elements. */
typedef struct optimise_numbers {
    mc_reg hyper[MC_HYPERS];
    mc_reg minus_rate, minus_decay; /* minus_decay: minus the rate times decay, of adamw */
    mc_reg rest1, rest2;            /* 1 - beta1, 1 - beta2 */
} optimise_numbers;

/* An element in f32, and scratch. */
typedef struct optimise_element {
    mc_reg g, w, first, second;
    mc_reg upper, over; /* scratch */
} optimise_element;

typedef struct optimise_emitter {
    mc_builder *b;
    const optimise_plan *plan;
    optimise_stream streams[OPTIMISE_MAX_STREAMS];
    int stream_count;
    optimise_numbers numbers;
    optimise_element element;
    mc_reg rounded[OPTIMISE_MAX_UNIT]; /* elements of the weight, in f32 until they are packed */
} optimise_emitter;

/* -- stream.c */

void optimise_declare_streams(optimise_emitter *e);
/* Sets all streams' addresses to that of element PLACE, which is s64. */
void optimise_place(const optimise_emitter *e, mc_reg place);
/* Loads unit I, of UNIT elements, of all streams that are read. */
void optimise_load(const optimise_emitter *e, int i, int unit);
/* Sets e->element to element ELEMENT of unit I; and puts what it became back. */
void optimise_take(optimise_emitter *e, int i, int unit, int element);
void optimise_put(const optimise_emitter *e, int i, int unit, int element);
/* Stores unit I of all streams that are written. */
void optimise_store(const optimise_emitter *e, int i, int unit);

/* -- step.c */

void optimise_load_numbers(optimise_emitter *e);
/* The element e->element becomes what the step makes of it. */
void optimise_step(const optimise_emitter *e);

#endif
