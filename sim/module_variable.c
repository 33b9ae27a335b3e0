/* Variables of a module in .global and .const: allocations of the simulator's memory from the module's
 * loading until its end, each one of its own, so that what runs past one of them is found. */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

static bool allocate(ptxsim *sim, struct sim_variable *v) {
    if (!sim_memory_alloc(&sim->memory, v->bytes, &v->address)) {
        v->address = 0;
        return false;
    }
    struct sim_allocation *a = sim_memory_find(&sim->memory, v->address);
    a->variable = true;
    a->constant = v->space == SIM_CONST;
    if (v->initial) memcpy(a->data, v->initial, v->bytes);
    sim_shadow_write_range(a->shadow, 0, v->bytes);
    return true;
}

static void relocate(const ptxsim *sim, const ptxsim_module *module, const struct sim_relocation *r) {
    uint64_t address = r->variable->address + r->offset;
    unsigned char *to = r->to;
    if (r->variable->space == SIM_CONST && !r->generic) address -= SIM_CONST_BASE;
    for (unsigned i = 0; i < r->count; i++) memcpy(to + (size_t)i * r->bytes, &address, r->bytes);
    for (const struct sim_variable *v = module->variables; v && r->count == 1; v = v->next)
        if (v->initial && to >= v->initial && to < v->initial + v->bytes)
            memcpy(sim_memory_find(&sim->memory, v->address)->data + (to - v->initial), &address, r->bytes);
}

void sim_variables_free(ptxsim *sim, const ptxsim_module *module) {
    for (const struct sim_variable *v = module->variables; v; v = v->next)
        if (v->address) sim_memory_free(&sim->memory, v->address);
}

bool sim_variables_open(ptxsim *sim, const ptxsim_module *module) {
    for (struct sim_variable *v = module->variables; v; v = v->next)
        if (!allocate(sim, v)) return false;
    for (const struct sim_relocation *r = module->relocations; r; r = r->next) relocate(sim, module, r);
    return true;
}

ptxsim_status ptxsim_module_variable(ptxsim *sim, const ptxsim_module *module, const char *name,
                                     uint64_t *address, size_t *bytes) {
    if (!module || !name || !address) return sim_fail(sim, PTXSIM_INVALID, "no module, name or address");
    *address = 0;
    for (const struct sim_variable *v = module->variables; v; v = v->next) {
        if (strcmp(v->name, name) != 0) continue;
        *address = v->address;
        if (bytes) *bytes = v->bytes;
        return sim_done(sim);
    }
    return sim_fail(sim, PTXSIM_INVALID, "the module has no variable `%.100s` in .global or .const", name);
}
