/* ptxsim_launch: checks the shape, then runs block after block. */
#include "exec.h"
#include "sim.h"

#include <stdlib.h>

/* Limits that every device since compute capability 3.0 has. */
enum { MAX_GRID_X = 2147483647, MAX_GRID_YZ = 65535, MAX_BLOCK_XY = 1024, MAX_BLOCK_Z = 64 };

static bool grid_is_legal(ptxsim_dim3 grid) {
    return grid.x >= 1 && grid.y >= 1 && grid.z >= 1 && grid.x <= MAX_GRID_X && grid.y <= MAX_GRID_YZ &&
           grid.z <= MAX_GRID_YZ;
}

static bool block_is_legal(ptxsim_dim3 block) {
    return block.x >= 1 && block.y >= 1 && block.z >= 1 && block.x <= MAX_BLOCK_XY &&
           block.y <= MAX_BLOCK_XY && block.z <= MAX_BLOCK_Z && block.x * block.y * block.z <= SIM_MAX_BLOCK;
}

static ptxsim_status check_shape(ptxsim *sim, const ptxsim_function *f, ptxsim_dim3 grid, ptxsim_dim3 block,
                                 size_t dynamic) {
    const unsigned *req = f->reqntid;
    if (!grid_is_legal(grid))
        return sim_fail(sim, PTXSIM_INVALID, "a grid of (%u,%u,%u) blocks", grid.x, grid.y, grid.z);
    if (!block_is_legal(block))
        return sim_fail(sim, PTXSIM_INVALID, "a block of (%u,%u,%u) threads", block.x, block.y, block.z);
    if (req[0] && (req[0] != block.x || req[1] != block.y || req[2] != block.z))
        return sim_fail(sim, PTXSIM_INVALID, "a block of (%u,%u,%u) threads, and .reqntid is %u, %u, %u",
                        block.x, block.y, block.z, req[0], req[1], req[2]);
    if (f->maxntid && block.x * block.y * block.z > f->maxntid)
        return sim_fail(sim, PTXSIM_INVALID, "a block of %u threads, and .maxntid is %u",
                        block.x * block.y * block.z, f->maxntid);
    if (dynamic > SIM_MAX_SHARED || f->shared_bytes + dynamic > SIM_MAX_SHARED)
        return sim_fail(sim, PTXSIM_INVALID, "%zu bytes of shared memory a block; %d is the most",
                        f->shared_bytes + dynamic, SIM_MAX_SHARED);
    return PTXSIM_OK;
}

/* The parameters' values as ld.param sees them. */
static unsigned char *gather_params(const ptxsim_function *f, void *const *params) {
    unsigned char *bytes = calloc(1, (size_t)f->param_bytes + 1);
    for (int i = 0; bytes && i < f->param_count; i++)
        memcpy(bytes + f->params[i].at, params[i], f->params[i].bytes);
    return bytes;
}

static bool starts_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

static bool starts_with_one(const char *text, const char *const *starts) {
    while (*starts && !starts_with(text, *starts)) starts++;
    return *starts != NULL;
}

/* Strong accesses and fences (ISA, "Memory Consistency Model": strong operations, morally strong). */
static bool set_traits(struct sim_launch *launch) {
    static const char *const strong[] = {"atom",        "red%",       "ld.volatile",
                                         "st.volatile", "ld.relaxed", "st.relaxed",
                                         "ld.acquire",  "st.release", NULL};
    static const char *const fences[] = {"fence", "membar", "ld.acquire", "st.release", NULL};
    const ptxsim_function *f = launch->function;
    launch->traits = calloc((size_t)f->code_count + 1, sizeof *launch->traits);
    if (!launch->traits) return false;
    for (int i = 0; i < f->code_count; i++) {
        const struct sim_insn *insn = &f->code[i];
        const char *name = insn->op->pattern;
        struct sim_trait *t = &launch->traits[i];
        t->strong = starts_with_one(name, strong);
        t->touches = insn->space != SIM_PARAM && (t->strong || starts_with(name, "ld") ||
                                                  starts_with(name, "st%") || starts_with(name, "st."));
        launch->fences |= starts_with_one(name, fences);
        launch->sequential |= insn->reads_clock || (t->strong && insn->space != SIM_SHARED);
    }
    return true;
}

static bool run_grid(struct sim_block *block, ptxsim_dim3 grid) {
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++)
                if (!sim_block_run(block, (ptxsim_dim3){x, y, z})) return false;
    return true;
}

static ptxsim_status run(ptxsim *sim, struct sim_launch *launch) {
    if (!set_traits(launch) || (launch->races && !sim_race_open(launch)))
        return sim_fail(sim, PTXSIM_NOMEM, "no memory to watch for races");
    struct sim_block *block = sim_block_new(launch);
    if (!block) return sim_fail(sim, PTXSIM_NOMEM, "no memory for a block's registers");
    run_grid(block, launch->grid);
    sim->counts = block->counts;
    sim->fault = block->fault;
    sim_block_free(block);
    return sim->fault.status;
}

ptxsim_status ptxsim_launch(ptxsim *sim, const ptxsim_function *function, ptxsim_dim3 grid, ptxsim_dim3 block,
                            size_t dynamic_shared, void *const *params) {
    sim->counts = (ptxsim_counts){0};
    if (!function) return sim_fail(sim, PTXSIM_INVALID, "no function");
    if (function->param_count && !params) return sim_fail(sim, PTXSIM_INVALID, "no parameters");
    for (int i = 0; i < function->param_count; i++)
        if (!params[i])
            return sim_fail(sim, PTXSIM_INVALID, "no value of parameter `%.100s`", function->params[i].name);
    if (check_shape(sim, function, grid, block, dynamic_shared) != PTXSIM_OK) return sim->fault.status;
    unsigned char *values = gather_params(function, params);
    if (!values) return sim_fail(sim, PTXSIM_NOMEM, "no memory for the parameters");
    struct sim_launch launch = {.function = function,
                                .memory = &sim->memory,
                                .grid = grid,
                                .block = block,
                                .shared_bytes = function->shared_bytes + (uint32_t)dynamic_shared,
                                .dynamic_bytes = (uint32_t)dynamic_shared,
                                .params = values,
                                .max_instructions = sim->max_instructions,
                                .order = sim->order,
                                .seed = sim->seed,
                                .races = sim->races};
    ptxsim_status status = run(sim, &launch);
    sim_race_close(&launch);
    free(launch.traits);
    free(values);
    return status;
}
