/* Given scales, or a computed one of the tensor: what the two files of the solver share. */
#ifndef MC_QUANTISE_TILE_H
#define MC_QUANTISE_TILE_H

#include "ops/quantise/ends.h"

/* -- reach.c: a computed scale of the tensor */

/* The first pass, whole: thread blocks leave in the workspace how far tiles of A reach. */
void tile_emit_reach(const quantise_emitter *e, mc_reg workspace);
/* The second pass begins: the scale, of what the first one left, and factors of it. */
void tile_take_reach(quantise_emitter *e, mc_reg workspace);

/* -- estimate.c */

double quantise_tile_estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem);

#endif
