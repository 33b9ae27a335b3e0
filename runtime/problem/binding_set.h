/* Values for mc_bind, one after another. */
#ifndef MCRT_BINDING_SET_H
#define MCRT_BINDING_SET_H

#include "device/bind.h"
#include "problem/problem.h"

/* The matrix's arrays and the operands; parameters; sizes and counts. */
enum { MOST_BINDINGS = 2 * MC_MAX_ARRAYS + MC_MAX_PARAMS + 16 };

typedef struct binding_set {
    mc_binding items[MOST_BINDINGS];
    size_t count;
} binding_set;

static inline void bind_value(binding_set *set, const char *name, int64_t value) {
    set->items[set->count++] = (mc_binding){name, value};
}

static inline void bind_sizes(binding_set *set, const plan_problem *problem) {
    bind_value(set, "m", problem->m);
    bind_value(set, "n", problem->n);
    bind_value(set, "k", problem->k);
    bind_value(set, "lda", problem->lda);
    bind_value(set, "ldb", problem->ldb);
    bind_value(set, "ldc", problem->ldc);
}

#endif
