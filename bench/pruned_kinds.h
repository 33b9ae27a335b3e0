/* What of cuSPARSELt takes part: a row for each type of operands and of results. */
#ifndef BENCH_PRUNED_KINDS_H
#define BENCH_PRUNED_KINDS_H

#include "peers.h"

enum { PRUNED_KINDS = 12 };

typedef struct pruned_kind {
    const char *label;
    mc_type operand, result;
} pruned_kind;

extern const pruned_kind pruned_kinds[PRUNED_KINDS];

/* Whether KIND takes part in PROBLEM. */
bool pruned_kind_takes(const pruned_kind *kind, const peer_problem *problem);
/* Whether any does. */
bool pruned_kinds_take(const peer_problem *problem);

#endif
