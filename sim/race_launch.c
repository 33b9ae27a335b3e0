/* What a launch, and a block of it, needs before accesses are watched for races (race.c). */
#include "cluster.h"

/* The least bytes of which an asynchronous copy takes note, 0 if INSN is none. */
static unsigned unit_of_copy(const struct sim_insn *insn) {
    if (insn->exec == sim_cp_async) return *(const uint32_t *)insn->value[SIM_COPY_SIZE].lanes;
    return insn->exec == sim_mbarrier_init ? SIM_MBARRIER_BYTES : 0;
}

static int shift_of(const ptxsim_function *f, const struct sim_trait *traits, enum sim_space space) {
    unsigned least = 16;
    for (int i = 0; i < f->code_count; i++) {
        const struct sim_insn *insn = &f->code[i];
        unsigned bytes = sim_types[insn->type].bytes * (insn->vector ? insn->vector : 1u);
        unsigned copied = unit_of_copy(insn);
        if (copied && copied < least) least = copied;
        bool across = space == SIM_SHARED && insn->space == SIM_SHARED_CLUSTER;
        if (!traits[i].touches || traits[i].together ||
            (insn->space != space && !across && insn->space != SIM_GENERIC))
            continue;
        if (bytes > 0 && bytes < least) least = bytes;
    }
    return __builtin_ctz(least);
}

static bool map_cells(struct sim_launch *launch) {
    struct sim_memory *memory = launch->memory;
    for (size_t i = 0; i < memory->count; i++) {
        struct sim_allocation *a = memory->items[i];
        a->cells_mapped = ((a->bytes >> launch->global_shift) + 1) * sizeof *a->cells;
        a->cells = sim_map(a->cells_mapped);
        a->read = false;
        if (!a->cells) return false;
    }
    return true;
}

bool sim_race_open(struct sim_launch *launch, bool watched) {
    struct sim_memory *memory = launch->memory;
    launch->shared_shift = shift_of(launch->function, launch->traits, SIM_SHARED);
    launch->global_shift = shift_of(launch->function, launch->traits, SIM_GLOBAL);
    for (size_t i = 0; i < memory->count; i++) memory->items[i]->watched = watched;
    return map_cells(launch);
}

void sim_race_close(struct sim_launch *launch) {
    struct sim_memory *memory = launch->memory;
    for (size_t i = 0; i < memory->count; i++) {
        sim_unmap(memory->items[i]->cells, memory->items[i]->cells_mapped);
        memory->items[i]->cells = NULL;
    }
}

bool sim_race_reopen(struct sim_launch *launch) {
    sim_race_close(launch);
    return map_cells(launch);
}

void sim_race_start_block(struct sim_block *block) {
    const struct sim_launch *launch = block->launch;
    ptxsim_dim3 i = block->index, grid = launch->grid;
    uint64_t linear = ((uint64_t)i.z * grid.y + i.y) * grid.x + i.x;
    block->global_id = linear % SIM_BLOCK_NUMBERS + 1;
    block->shared_id = block->cluster->first_shared_id + block->rank;
    if (block->cluster->first_shared_id == 1 && launch->races)
        memset(block->shared_cells, 0,
               ((launch->shared_bytes >> launch->shared_shift) + 1) * sizeof *block->shared_cells);
}
