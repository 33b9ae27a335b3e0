/* The device that is libptxsim. It has no CUDA context and no streams: what is put on one has run when the
   call returns. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/type.h"
#include "device/kind.h"
#include "ptxsim.h"

typedef struct sim_device {
    mc_device base;
    pthread_mutex_t lock; /* of sim, which is one thread's at a time (ptxsim.h) */
    ptxsim *sim;
} sim_device;

typedef struct sim_module {
    mc_module base;
    ptxsim_module *module;
    const ptxsim_function *function;
} sim_module;

static ptxsim *sim_of(const mc_device *device) { return ((const sim_device *)device)->sim; }

struct ptxsim *mc_device_ptxsim(const mc_device *device) {
    return device->info.kind == MC_DEVICE_SIM ? sim_of(device) : NULL;
}

static void lock(mc_device *device) { (void)pthread_mutex_lock(&((sim_device *)device)->lock); }
static void unlock(mc_device *device) { (void)pthread_mutex_unlock(&((sim_device *)device)->lock); }

static mc_status sim_check(mc_device *device, ptxsim_status status, mc_diag *diag) {
    if (status == PTXSIM_OK) return MC_OK;
    return mc_fail(diag, status == PTXSIM_NOMEM ? MC_NOMEM : MC_DEVICE, "simulator: %s: %s",
                   ptxsim_status_text(status), ptxsim_fault_text(sim_of(device)));
}

static mc_status sim_end(mc_device *device, ptxsim_status result, mc_diag *diag) {
    mc_status status = sim_check(device, result, diag);
    unlock(device);
    return status;
}

/* Calls one function of the simulator, alone with it until its message was read: SIM_CALL(device, diag, free,
   address). */
#define SIM_CALL(device, diag, name, ...)                                                                    \
    sim_end(device, (lock(device), ptxsim_##name(sim_of(device), __VA_ARGS__)), diag)

static void sim_close(mc_device *device) {
    ptxsim_destroy(sim_of(device));
    (void)pthread_mutex_destroy(&((sim_device *)device)->lock);
    free(device);
}

static mc_status sim_enter(mc_device *device, int *mode, mc_diag *diag) {
    (void)device, (void)diag;
    *mode = 0;
    return MC_OK;
}

static void sim_leave(mc_device *device, int mode) { (void)device, (void)mode; }
static bool sim_is_current(mc_device *device) { return (void)device, true; }

static mc_status sim_synchronize(mc_device *device, void *stream, mc_diag *diag) {
    return (void)device, (void)stream, (void)diag, MC_OK;
}

/* -- Memory */

static mc_status sim_alloc(mc_device *device, size_t bytes, uint64_t *address, mc_diag *diag) {
    return SIM_CALL(device, diag, alloc, bytes, address);
}

static void sim_free(mc_device *device, uint64_t address) { (void)SIM_CALL(device, NULL, free, address); }

static mc_status sim_write(mc_device *device, uint64_t address, const void *data, size_t bytes,
                           mc_diag *diag) {
    return SIM_CALL(device, diag, write, address, data, bytes);
}

static mc_status sim_write_on(mc_device *device, uint64_t address, const void *data, size_t bytes,
                              void *stream, mc_diag *diag) {
    (void)stream;
    return sim_write(device, address, data, bytes, diag);
}

static mc_status sim_read(mc_device *device, uint64_t address, void *data, size_t bytes, mc_diag *diag) {
    return SIM_CALL(device, diag, read, address, data, bytes);
}

static mc_status sim_fill(mc_device *device, uint64_t address, int byte, size_t bytes, mc_diag *diag) {
    return SIM_CALL(device, diag, fill, address, byte, bytes);
}

static const ptxsim_element element_of[] = {
    [TENSOR_UINT8] = PTXSIM_ELEMENT_U8,    [TENSOR_UINT16] = PTXSIM_ELEMENT_U16,
    [TENSOR_INT32] = PTXSIM_ELEMENT_S32,   [TENSOR_INT64] = PTXSIM_ELEMENT_S64,
    [TENSOR_FLOAT16] = PTXSIM_ELEMENT_F16, [TENSOR_BFLOAT16] = PTXSIM_ELEMENT_BF16,
    [TENSOR_FLOAT32] = PTXSIM_ELEMENT_F32};

static mc_status sim_tensor_map(mc_device *device, const mc_tensor *tensor, mc_tensor_map *map,
                                mc_diag *diag) {
    ptxsim_tensor t = {.size = sizeof t,
                       .element = element_of[element_rows[tensor->type].tensor],
                       .rank = (unsigned)tensor->rank,
                       .address = tensor->address,
                       .swizzle = (ptxsim_swizzle)tensor->swizzle};
    for (int d = 0; d < tensor->rank; d++) {
        t.dims[d] = tensor->dims[d];
        t.box[d] = tensor->box[d];
        if (d > 0) t.strides[d - 1] = tensor->strides[d - 1];
    }
    return SIM_CALL(device, diag, tensor_map_encode, &t, map->opaque);
}

/* -- Modules */

static void sim_unload(mc_module *module) {
    sim_module *loaded = (sim_module *)module;
    if (loaded->module != NULL) (void)SIM_CALL(module->device, NULL, module_unload, loaded->module);
    free(loaded);
}

static mc_status sim_load(mc_device *device, const mc_image *image, const char *entry, mc_module **module,
                          mc_diag *diag) {
    const char *ptx = image->data;
    if (image->size == 0 || ptx[image->size - 1] != '\0')
        return mc_fail(diag, MC_FORMAT, "an image that is no text: not of the simulator");
    sim_module *loaded = calloc(1, sizeof *loaded);
    if (loaded == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    loaded->base.device = device;
    mc_status status = SIM_CALL(device, diag, module_load, ptx, &loaded->module);
    if (status == MC_OK)
        status = SIM_CALL(device, diag, module_function, loaded->module, entry, &loaded->function);
    if (status == MC_OK) *module = &loaded->base;
    else sim_unload(&loaded->base);
    return status;
}

/* Nothing to make: PTX that the simulator takes is the image. */
static mc_status sim_compile(mc_device *device, const char *ptx, mc_image *image, char **log, mc_diag *diag) {
    ptxsim_module *module;
    (void)log;
    mc_status status = SIM_CALL(device, diag, module_load, ptx, &module);
    if (status == MC_OK) status = SIM_CALL(device, diag, module_unload, module);
    if (status != MC_OK) return status;
    image->size = strlen(ptx) + 1;
    image->data = malloc(image->size);
    if (image->data == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    memcpy(image->data, ptx, image->size);
    return MC_OK;
}

/* -- Launches */

/* PTX edited by hand may ask for other parameters than its contract gives. */
static mc_status sim_prepare(mc_module *module, const mc_launch *launch, mc_diag *diag) {
    const ptxsim_function *function = ((const sim_module *)module)->function;
    size_t sizes[MC_MAX_PARAMS], count = ptxsim_function_params(function, sizes, MC_MAX_PARAMS);
    if (count != launch->count) return mc_fail(diag, MC_CANNOT, MC_PARAM_COUNT_MESSAGE, count, launch->count);
    for (size_t i = 0; i < count; i++)
        if (mc_launch_check_size(launch, i, sizes[i], diag) != MC_OK) return MC_CANNOT;
    return MC_OK;
}

static mc_status run_pass(mc_module *module, const mc_launch *launch, void *instructions, mc_diag *diag) {
    ptxsim *sim = sim_of(module->device);
    void *pointers[MC_MAX_PARAMS];
    mc_launch_pointers(launch, pointers);
    ptxsim_dim3 grid = {launch->grid[0], launch->grid[1], launch->grid[2]};
    ptxsim_dim3 block = {launch->block[0], launch->block[1], launch->block[2]};
    ptxsim_status result = ptxsim_launch(sim, ((const sim_module *)module)->function, grid, block,
                                         launch->shared_dynamic, pointers);
    *(uint64_t *)instructions += ptxsim_counts_of(sim)->warp_instructions;
    return sim_check(module->device, result, diag);
}

/* *INSTRUCTIONS: warp instructions that it executed. The lock is held by the caller. */
static mc_status launch_locked(mc_module *module, const mc_launch *launch, uint64_t *instructions,
                               mc_diag *diag) {
    *instructions = 0;
    return mc_launch_passes(module, launch, run_pass, instructions, diag);
}

static mc_status sim_put(mc_module *module, const mc_launch *launch, void *stream, mc_diag *diag) {
    uint64_t instructions;
    (void)stream;
    lock(module->device);
    mc_status status = launch_locked(module, launch, &instructions, diag);
    unlock(module->device);
    return status;
}

static mc_status sim_launch(mc_module *module, const mc_launch *launch, mc_diag *diag) {
    mc_status status = sim_prepare(module, launch, diag);
    return status != MC_OK ? status : sim_put(module, launch, NULL, diag);
}

static mc_status sim_enqueue(mc_module *module, const mc_launch *launch, void *stream, mc_diag *diag) {
    (void)module, (void)launch, (void)stream;
    return mc_fail(diag, MC_CANNOT, "the simulator has no streams: mc_module_launch runs and waits");
}

static mc_status sim_time(mc_module *module, const mc_launch *launch, int launches, int rounds,
                          double *microseconds, mc_diag *diag) {
    (void)module, (void)launch, (void)launches, (void)rounds, (void)microseconds;
    return mc_fail(diag, MC_CANNOT, "the simulator has no time to measure: timing needs a GPU");
}

/* -- Graphs */

/* A launch with maps of its own, as a graph's are. */
typedef struct sim_node {
    mc_tensor_map maps[MC_MAX_PARAMS];
    mc_launch launch;
} sim_node;

typedef struct sim_graph {
    mc_graph base;
    mc_module *module;
    sim_node *nodes;
    size_t count;
} sim_graph;

static void copy_launch(const mc_launch *launch, sim_node *node) {
    node->launch = *launch;
    for (size_t i = 0; i < MC_MAX_PARAMS; i++) {
        if (launch->maps[i] == NULL) continue;
        node->maps[i] = *launch->maps[i];
        node->launch.maps[i] = &node->maps[i];
    }
}

static void sim_graph_destroy(mc_graph *graph) {
    free(((sim_graph *)graph)->nodes);
    free(graph);
}

static mc_status sim_graph_create(mc_module *module, const mc_launch *launches, size_t count,
                                  mc_graph **graph, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < count && status == MC_OK; i++) status = sim_prepare(module, &launches[i], diag);
    if (status != MC_OK) return status;
    sim_graph *made = calloc(1, sizeof *made);
    sim_node *nodes =
        count > SIZE_MAX / sizeof *nodes ? NULL : aligned_alloc(_Alignof(sim_node), count * sizeof *nodes);
    if (made == NULL || nodes == NULL) {
        free(made);
        free(nodes);
        return mc_fail(diag, MC_NOMEM, "out of memory");
    }
    for (size_t i = 0; i < count; i++) copy_launch(&launches[i], &nodes[i]);
    *made = (sim_graph){{module->device}, module, nodes, count};
    *graph = &made->base;
    return MC_OK;
}

static mc_status replay_once(const sim_graph *graph, uint64_t *instructions, mc_diag *diag) {
    mc_status status = MC_OK;
    *instructions = 0;
    for (size_t i = 0; i < graph->count && status == MC_OK; i++) {
        uint64_t launch = 0;
        status = launch_locked(graph->module, &graph->nodes[i].launch, &launch, diag);
        *instructions += launch;
    }
    return status;
}

static mc_status sim_graph_replay(mc_graph *graph, int count, double *microseconds, mc_diag *diag) {
    mc_status status = MC_OK;
    uint64_t instructions = 0;
    lock(graph->device);
    for (int i = 0; i < count && status == MC_OK; i++)
        status = replay_once((const sim_graph *)graph, &instructions, diag);
    unlock(graph->device);
    *microseconds = (double)instructions / 1000;
    return status;
}

static const mc_device_ops sim_ops = {
    .close = sim_close,
    .alloc = sim_alloc,
    .free = sim_free,
    .write = sim_write,
    .upload = sim_write,
    .write_on = sim_write_on,
    .synchronize = sim_synchronize,
    .enter = sim_enter,
    .leave = sim_leave,
    .is_current = sim_is_current,
    .compile = sim_compile,
    .read = sim_read,
    .fill = sim_fill,
    .tensor_map = sim_tensor_map,
    .load = sim_load,
    .unload = sim_unload,
    .prepare = sim_prepare,
    .put = sim_put,
    .launch = sim_launch,
    .enqueue = sim_enqueue,
    .time = sim_time,
    .graph_create = sim_graph_create,
    .graph_replay = sim_graph_replay,
    .graph_destroy = sim_graph_destroy,
};

static const ptxsim_landing landing_of[] = {[MC_LANDING_ANY] = PTXSIM_LANDING_ANY,
                                            [MC_LANDING_FIRST] = PTXSIM_LANDING_FIRST,
                                            [MC_LANDING_LAST] = PTXSIM_LANDING_LAST};

mc_status mc_device_sim_open(const mc_sim_settings *settings, mc_device **device, mc_diag *diag) {
    ptxsim_options options = {.size = sizeof options,
                              .order = settings->reversed ? PTXSIM_REVERSED
                                       : settings->seed   ? PTXSIM_SEEDED
                                                          : PTXSIM_IN_ORDER,
                              .seed = settings->seed,
                              .landing = landing_of[settings->landing],
                              .max_instructions = settings->limit};
    sim_device *opened = calloc(1, sizeof *opened);
    if (opened == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    ptxsim_status status = ptxsim_create(&options, &opened->sim);
    if (status != PTXSIM_OK || pthread_mutex_init(&opened->lock, NULL) != 0) {
        ptxsim_destroy(opened->sim);
        free(opened);
        return mc_fail(diag, MC_NOMEM, "simulator: %s", ptxsim_status_text(PTXSIM_NOMEM));
    }
    opened->base.ops = &sim_ops;
    snprintf(opened->base.build, sizeof opened->base.build, "ptxsim " MC_VERSION);
    opened->base.info = (mc_device_info){.kind = MC_DEVICE_SIM, .name = "PTX simulator"};
    *device = &opened->base;
    return MC_OK;
}
