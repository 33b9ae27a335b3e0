/* Values for mc_bind, one after another. */
#ifndef MCRT_BINDING_SET_H
#define MCRT_BINDING_SET_H

#include "problem/bind.h"
#include "problem/problem.h"

/* Room for the matrix's arrays and the operands; for parameters; for sizes and counts. */
enum { MOST_BINDINGS = 2 * MC_MAX_ARRAYS + MC_MAX_PARAMS + MEMBERS };

typedef struct binding_set {
    mc_binding items[MOST_BINDINGS];
    size_t count;
} binding_set;

static inline void bind_value(binding_set *set, const char *name, int64_t value) {
    set->items[set->count++] = (mc_binding){name, value};
}

static inline void bind_sizes(binding_set *set, const plan_problem *problem) {
    for (problem_member i = FIRST_MEMBER; i < MEMBERS; i++)
        if (problem_members[i].form == FORM_NUMBER)
            bind_value(set, problem_members[i].name, member_get(problem, i));
}

#endif
