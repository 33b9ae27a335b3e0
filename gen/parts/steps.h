/* The contract of a family that the runtime launches in steps: arrays and shapes are described once, and each
   step names those that it takes. */
#ifndef MC_STEPS_H
#define MC_STEPS_H

#include "parts/emit.h"

typedef struct step_array {
    const char *name;
    unsigned words; /* of which its address must be a multiple */
    const char *doc;
} step_array;

typedef struct step_shape {
    const char *name, *doc;
} step_shape;

/* All that a family's steps take. */
typedef struct step_params {
    const step_array *arrays;
    size_t array_count;
    const step_shape *shapes;
    size_t shape_count;
} step_params;

enum { STEP_ARRAYS = 10, STEP_SHAPES = 8 };

/* What a step takes, in the order of the kernel's parameters. */
typedef struct step_launch {
    const char *arrays[STEP_ARRAYS], *shapes[STEP_SHAPES]; /* the last one is NULL */
    const char *grid;                                      /* NULL: one thread block */
    unsigned per_block;
} step_launch;

/* Adds the parameters of LAUNCH to C, its grid, and thread blocks of THREADS. */
void step_contract(mc_contract *c, const step_params *params, const step_launch *launch, int threads);

#endif
