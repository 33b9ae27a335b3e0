/* What the models of times have in common, whatever the operator. */
#ifndef MC_MODEL_H
#define MC_MODEL_H

#include <math.h>
#include <string.h>
#include "schema/family.h"

static inline double model_least(double a, double b) { return a < b ? a : b; }
static inline double model_most(double a, double b) { return a > b ? a : b; }

/* Whether what a spec fixes is the problem's. */
static inline bool model_fits(int64_t fixed, int64_t shape) { return fixed == MC_OPEN || fixed == shape; }

enum { MODEL_BLOCK_SHARED = 1 << 10 /* bytes of shared memory that a thread block takes beside its own */ };

/* Costs of a GPU, a struct of doubles, as the array that a mc_cost_table has. */
#define MODEL_VALUES(costs) (const double *)&(costs)
/* Sets COSTS, the operator's struct, to GPU's of TABLE. */
static inline void model_take_costs(const mc_cost_table *table, const mc_gpu *gpu, void *costs) {
    memcpy(costs, costs_on(table, gpu), table->count * sizeof(double));
}

#endif
