#include "ops/families.h"
#include <string.h>

#define O(upper, lower) extern const mc_family mc_family_##lower;
#define H(lower)        extern const mc_family mc_family_##lower;
#include "ops/operators.def"
#include "ops/helpers.def"
#undef O
#undef H

const mc_family *const mc_families[] = {
#define O(upper, lower) &mc_family_##lower,
#define H(lower)        &mc_family_##lower,
#include "ops/operators.def"
#include "ops/helpers.def"
#undef O
#undef H
    NULL};

const mc_cost *mc_costs_of(const char *family, const mc_gpu *gpu, const double **values, size_t *count) {
    const mc_family *of = family_find(family);
    *values = NULL;
    *count = 0;
    if (!of || !of->costs) return NULL;
    *values = costs_on(of->costs, gpu);
    *count = of->costs->count;
    return of->costs->costs;
}

const mc_family *family_find(const char *name) {
    for (int i = 0; mc_families[i]; i++) {
        if (strcmp(mc_families[i]->name, name) == 0) return mc_families[i];
    }
    return NULL;
}
