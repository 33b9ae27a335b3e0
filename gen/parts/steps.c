#include "parts/steps.h"
#include <string.h>

static void add_array_of(mc_contract *c, const step_params *params, const char *name) {
    for (size_t i = 0; i < params->array_count; i++) {
        const step_array *array = &params->arrays[i];
        if (strcmp(array->name, name) == 0)
            add_param(c, (mc_param){name, "u64", MC_PARAM_ARRAY, array->words * WORD, array->doc});
    }
}

static void add_shape_of(mc_contract *c, const step_params *params, const char *name) {
    for (size_t i = 0; i < params->shape_count; i++)
        if (strcmp(params->shapes[i].name, name) == 0) add_shape(c, name, MC_OPEN, params->shapes[i].doc);
}

void step_contract(mc_contract *c, const step_params *params, const step_launch *launch, int threads) {
    for (const char *const *name = launch->arrays; *name != NULL; name++) add_array_of(c, params, *name);
    for (const char *const *name = launch->shapes; *name != NULL; name++) add_shape_of(c, params, *name);
    c->grid[0] = (mc_grid_axis){launch->grid, launch->per_block};
    c->grid[1] = c->grid[2] = (mc_grid_axis){NULL, 1};
    c->block[0] = (unsigned)threads, c->block[1] = c->block[2] = 1;
}
