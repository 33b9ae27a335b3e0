/* ptxsim_launch: checks the shape, then runs the blocks. */
#include "cluster.h"
#include "sim.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* Limits that every device since compute capability 3.0 has. */
enum { SIM_MAX_WORKERS = 256 };
enum { MAX_GRID_X = 2147483647, MAX_GRID_YZ = 65535, MAX_BLOCK_XY = 1024, MAX_BLOCK_Z = 64 };

static bool grid_is_legal(ptxsim_dim3 grid) {
    return grid.x >= 1 && grid.y >= 1 && grid.z >= 1 && grid.x <= MAX_GRID_X && grid.y <= MAX_GRID_YZ &&
           grid.z <= MAX_GRID_YZ;
}

static bool block_is_legal(ptxsim_dim3 block) {
    return block.x >= 1 && block.y >= 1 && block.z >= 1 && block.x <= MAX_BLOCK_XY &&
           block.y <= MAX_BLOCK_XY && block.z <= MAX_BLOCK_Z && block.x * block.y * block.z <= SIM_MAX_BLOCK;
}

static ptxsim_status check_cluster(ptxsim *sim, const ptxsim_function *f, ptxsim_dim3 grid) {
    const unsigned *c = f->cluster;
    if (!c[0] && f->explicit_cluster)
        return sim_fail(sim, PTXSIM_INVALID, ".explicitcluster, and nothing says how large a cluster is");
    if (!c[0]) return PTXSIM_OK;
    if ((uint64_t)c[0] * c[1] * c[2] > SIM_MAX_CLUSTER)
        return sim_fail(sim, PTXSIM_INVALID, "a cluster of (%u,%u,%u) blocks: %d blocks are the most", c[0],
                        c[1], c[2], SIM_MAX_CLUSTER);
    if (grid.x % c[0] || grid.y % c[1] || grid.z % c[2])
        return sim_fail(sim, PTXSIM_INVALID,
                        "a grid of (%u,%u,%u) blocks is no multiple of .reqnctapercluster, %u, %u, %u",
                        grid.x, grid.y, grid.z, c[0], c[1], c[2]);
    return PTXSIM_OK;
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
    return check_cluster(sim, f, grid);
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

/* Whether INSN has one of the registers that are MARKED; MARK: marks them. */
static bool has_marked(const struct sim_insn *insn, bool *marked, bool mark) {
    bool any = false;
    for (int i = 0; i < insn->value_count; i++) {
        if (insn->value[i].kind != SIM_REGISTER) continue;
        any |= marked[insn->value[i].reg];
        if (mark && sim_types[insn->value[i].type].bytes == 4) marked[insn->value[i].reg] = true;
    }
    for (int i = 0; i < insn->use_count; i++) any |= marked[insn->use[i]];
    return any;
}

/* Finds the instructions that access accumulators of wgmma or registers that hold its A. */
static bool mark_fragments(struct sim_launch *launch) {
    const ptxsim_function *f = launch->function;
    bool *marked = calloc((size_t)f->register_count + 1, sizeof *marked);
    if (!marked) return false;
    for (int i = 0; i < f->code_count; i++)
        if (launch->traits[i].together) has_marked(&f->code[i], marked, true);
    for (int i = 0; i < f->code_count; i++)
        launch->traits[i].fragments = !launch->traits[i].together && has_marked(&f->code[i], marked, false);
    free(marked);
    return true;
}

/* Strong accesses and fences (ISA, "Memory Consistency Model": strong operations, morally strong). */
static bool set_traits(struct sim_launch *launch) {
    static const char *const strong[] = {"atom",       "red%",       "ld.volatile", "st.volatile",
                                         "ld.relaxed", "st.relaxed", "ld.acquire",  "st.release",
                                         "cp.reduce",  NULL};
    const ptxsim_function *f = launch->function;
    launch->traits = calloc((size_t)f->code_count + 1, sizeof *launch->traits);
    if (!launch->traits) return false;
    launch->registers = sim_first_registers(f);
    for (int i = 0; i < f->code_count; i++) {
        const struct sim_insn *insn = &f->code[i];
        const char *name = insn->op->pattern;
        struct sim_trait *t = &launch->traits[i];
        t->strong = starts_with_one(name, strong);
        t->touches = !sim_is_private(insn->space) && !insn->reduction &&
                     (t->strong || starts_with(name, "ld") || starts_with(name, "st"));
        t->service = sim_service_of(insn);
        bool async = insn->op->flags & SIM_OP_ASYNC;
        t->touches |= async;
        launch->async |= async;
        t->acquires = t->strong && (insn->order == SIM_ACQUIRE || insn->order == SIM_ACQ_REL);
        t->releases = t->strong && (insn->order == SIM_RELEASE || insn->order == SIM_ACQ_REL);
        t->wide = sim_is_wide(insn);
        t->reaches = sim_reaches_cluster(insn);
        t->together = insn->columns != 0;
        t->bulk = starts_with(name, "cp.async.bulk") || starts_with(name, "cp.reduce");
        launch->wgmma |= (insn->op->flags & SIM_OP_WARPGROUP) != 0;
        launch->clustered |= (insn->op->flags & SIM_OP_CLUSTER) != 0;
        launch->ordered |= launch->races && (t->acquires || t->releases || insn->exec == sim_fence);
        bool inside =
            insn->space == SIM_SHARED || insn->space == SIM_SHARED_CLUSTER || sim_is_private(insn->space);
        launch->sequential |= insn->reads_clock || insn->reduction || (t->strong && !inside);
    }
    /* what threads know is told by lane there, and passed on */
    launch->async |= launch->ordered || launch->cluster_blocks > 1;
    return !launch->wgmma || mark_fragments(launch);
}

/* -- Clusters, one after another or at once ------------------------------------------------------------- */

/* Clusters are handed out in order. */
struct queue {
    uint64_t next, count;
    bool stop; /* a cluster faulted */
};

struct worker {
    struct queue *queue;
    struct sim_cluster *cluster;
    pthread_t thread;
    bool started;
};

/* How many clusters the grid has in each dimension. */
static ptxsim_dim3 clusters_of(const struct sim_launch *launch) {
    ptxsim_dim3 grid = launch->grid, size = launch->cluster;
    return (ptxsim_dim3){grid.x / size.x, grid.y / size.y, grid.z / size.z};
}

static void *work(void *argument) {
    struct worker *w = argument;
    ptxsim_dim3 grid = clusters_of(w->cluster->launch);
    while (!__atomic_load_n(&w->queue->stop, __ATOMIC_RELAXED)) {
        uint64_t i = __atomic_fetch_add(&w->queue->next, 1, __ATOMIC_RELAXED), row = i / grid.x;
        if (i >= w->queue->count) break;
        ptxsim_dim3 index = {(unsigned)(i % grid.x), (unsigned)(row % grid.y), (unsigned)(row / grid.y)};
        if (!sim_cluster_run(w->cluster, index)) __atomic_store_n(&w->queue->stop, true, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void add_counts(ptxsim_counts *to, const ptxsim_counts *from) {
    to->warp_instructions += from->warp_instructions;
    to->thread_instructions += from->thread_instructions;
    to->mma += from->mma;
    to->barriers += from->barriers;
    to->global_load_bytes += from->global_load_bytes;
    to->global_store_bytes += from->global_store_bytes;
    to->bulk_bytes += from->bulk_bytes;
}

static void join_block(struct sim_block *all, const struct sim_block *block) {
    if (block == all) return;
    add_counts(&all->counts, &block->counts);
    for (int pc = 0; pc < all->launch->function->code_count; pc++)
        sim_metric_add(&all->lines[pc], &block->lines[pc]);
    if (all->fault.status == PTXSIM_OK) all->fault = block->fault;
    all->restart |= block->restart;
}

/* Adds up what the workers counted in the first one's first block, and the first fault that is at hand. */
static void join_workers(struct worker *workers, unsigned count) {
    struct sim_block *all = workers[0].cluster->block[0];
    for (unsigned i = 0; i < count; i++) {
        const struct sim_cluster *cluster = workers[i].cluster;
        if (workers[i].started) pthread_join(workers[i].thread, NULL);
        for (unsigned rank = 0; rank < cluster->count; rank++) join_block(all, cluster->block[rank]);
    }
}

static uint64_t cluster_count(const struct sim_launch *launch) {
    ptxsim_dim3 n = clusters_of(launch);
    return (uint64_t)n.x * n.y * n.z;
}

static bool run_workers(const struct sim_launch *launch, struct worker *workers, unsigned count) {
    struct queue queue = {.count = cluster_count(launch)};
    for (unsigned i = 0; i < count; i++) {
        workers[i] = (struct worker){.queue = &queue, .cluster = sim_cluster_new(launch)};
        if (workers[i].cluster) continue;
        while (i) sim_cluster_free(workers[--i].cluster);
        return false;
    }
    for (unsigned i = 1; i < count; i++) /* without a thread the others do its work */
        workers[i].started = pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0;
    work(&workers[0]);
    join_workers(workers, count);
    for (unsigned i = 1; i < count; i++) sim_cluster_free(workers[i].cluster);
    return true;
}

static unsigned worker_count(const ptxsim *sim, const struct sim_launch *launch) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned count = sim->threads ? sim->threads : cores > 0 ? (unsigned)cores : 1;
    uint64_t clusters = cluster_count(launch);
    if (count > SIM_MAX_WORKERS) count = SIM_MAX_WORKERS;
    if (launch->sequential) count = 1;
    return clusters < count ? (unsigned)clusters : count;
}

static ptxsim_status finish(ptxsim *sim, const struct sim_launch *launch, struct sim_cluster *cluster) {
    const struct sim_block *block = cluster->block[0];
    sim->counts = block->counts;
    sim->fault = block->fault;
    bool counted = block->fault.status != PTXSIM_OK || sim_metric_lines(sim, launch->function, block->lines);
    sim_cluster_free(cluster);
    return counted ? sim->fault.status : sim_fail(sim, PTXSIM_NOMEM, "no memory for the counts");
}

/* How a run of the grid ended. */
enum outcome { DONE, FAULTED, RESTARTED, NO_MEMORY };

/* Runs the grid by COUNT workers. *CLUSTER is then one whose first block has all that they counted, NULL
   without memory. */
static enum outcome attempt(struct sim_launch *launch, unsigned count, struct sim_cluster **cluster) {
    struct worker workers[SIM_MAX_WORKERS] = {0};
    launch->parallel = count > 1;
    *cluster = NULL;
    if (!run_workers(launch, workers, count)) return NO_MEMORY;
    *cluster = workers[0].cluster;
    const struct sim_block *all = (*cluster)->block[0];
    if (all->restart) return RESTARTED;
    bool done = all->fault.status == PTXSIM_OK && all->counts.warp_instructions <= launch->max_instructions;
    return done ? DONE : FAULTED;
}

/* Runs the grid by COUNT workers, and again where an allocation turns out to be written that was taken for
   one that is only read. If it is not done, memory is as before. */
static enum outcome run_undoable(struct sim_launch *launch, unsigned count, struct sim_cluster **cluster) {
    pthread_mutex_t saving = PTHREAD_MUTEX_INITIALIZER;
    enum outcome outcome;
    launch->memory->saving = &saving;
    launch->undoable = true;
    do {
        outcome = attempt(launch, count, cluster);
        sim_memory_end_saved(launch->memory, outcome != DONE);
        if (outcome != DONE) sim_cluster_free(*cluster);
        if (outcome == RESTARTED && !sim_race_reopen(launch)) outcome = NO_MEMORY;
    } while (outcome == RESTARTED);
    launch->undoable = false;
    launch->memory->saving = NULL;
    return outcome;
}

/* A launch that faults runs again by one worker, with an eye on all memory and nothing kept, so that its
   fault, its memory and its counts do not depend on how many workers there are, nor on memory for copies. */
static ptxsim_status run(ptxsim *sim, struct sim_launch *launch) {
    struct sim_cluster *cluster;
    bool ready = set_traits(launch) && (!launch->races || sim_race_open(launch, false));
    unsigned count = worker_count(sim, launch);
    if (ready && (count > 1 || launch->races)) {
        if (run_undoable(launch, count, &cluster) == DONE) return finish(sim, launch, cluster);
        sim_race_close(launch);
        ready = !launch->races || sim_race_open(launch, true);
    }
    if (!ready) return sim_fail(sim, PTXSIM_NOMEM, "no memory to watch for races");
    if (attempt(launch, 1, &cluster) == NO_MEMORY)
        return sim_fail(sim, PTXSIM_NOMEM, "no memory for a block's registers");
    return finish(sim, launch, cluster);
}

static ptxsim_dim3 cluster_of(const ptxsim_function *f) {
    const unsigned *c = f->cluster;
    return c[0] ? (ptxsim_dim3){c[0], c[1], c[2]} : (ptxsim_dim3){1, 1, 1};
}

ptxsim_status ptxsim_launch(ptxsim *sim, const ptxsim_function *function, ptxsim_dim3 grid, ptxsim_dim3 block,
                            size_t dynamic_shared, void *const *params) {
    sim->counts = (ptxsim_counts){0};
    sim->line_count = 0;
    memset(sim->by_class, 0, sizeof sim->by_class);
    if (!function) return sim_fail(sim, PTXSIM_INVALID, "no function");
    if (function->param_count && !params) return sim_fail(sim, PTXSIM_INVALID, "no parameters");
    for (int i = 0; i < function->param_count; i++)
        if (!params[i])
            return sim_fail(sim, PTXSIM_INVALID, "no value of parameter `%.100s`", function->params[i].name);
    if (check_shape(sim, function, grid, block, dynamic_shared) != PTXSIM_OK) return sim->fault.status;
    unsigned char *values = gather_params(function, params);
    if (!values) return sim_fail(sim, PTXSIM_NOMEM, "no memory for the parameters");
    ptxsim_dim3 cluster = cluster_of(function);
    struct sim_launch launch = {.function = function,
                                .memory = &sim->memory,
                                .grid = grid,
                                .block = block,
                                .cluster = cluster,
                                .cluster_blocks = cluster.x * cluster.y * cluster.z,
                                .clustered = cluster.x * cluster.y * cluster.z > 1,
                                .shared_bytes = function->shared_bytes + (uint32_t)dynamic_shared,
                                .dynamic_bytes = (uint32_t)dynamic_shared,
                                .params = values,
                                .max_instructions = sim->max_instructions,
                                .order = sim->order,
                                .seed = sim->seed,
                                .landing = sim->landing,
                                .races = sim->races};
    ptxsim_status status = run(sim, &launch);
    sim_race_close(&launch);
    free(launch.traits);
    free(values);
    return status;
}
