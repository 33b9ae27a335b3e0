/* The device that is libptxsim. */
#include <stdlib.h>
#include "device.h"
#include "ptxsim.h"

typedef struct sim_device {
    mc_device base;
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

static mc_status sim_check(ptxsim *sim, ptxsim_status status, mc_diag *diag) {
    if (status == PTXSIM_OK) return MC_OK;
    return mc_fail(diag, status == PTXSIM_NOMEM ? MC_NOMEM : MC_DEVICE, "simulator: %s: %s",
                   ptxsim_status_text(status), ptxsim_fault_text(sim));
}

static void sim_close(mc_device *device) {
    ptxsim_destroy(sim_of(device));
    free(device);
}

static mc_status sim_alloc(mc_device *device, size_t bytes, uint64_t *address, mc_diag *diag) {
    ptxsim *sim = sim_of(device);
    return sim_check(sim, ptxsim_alloc(sim, bytes, address), diag);
}

static void sim_free(mc_device *device, uint64_t address) { (void)ptxsim_free(sim_of(device), address); }

static mc_status sim_write(mc_device *device, uint64_t address, const void *data, size_t bytes,
                           mc_diag *diag) {
    ptxsim *sim = sim_of(device);
    return sim_check(sim, ptxsim_write(sim, address, data, bytes), diag);
}

static mc_status sim_read(mc_device *device, uint64_t address, void *data, size_t bytes, mc_diag *diag) {
    ptxsim *sim = sim_of(device);
    return sim_check(sim, ptxsim_read(sim, address, data, bytes), diag);
}

static mc_status sim_fill(mc_device *device, uint64_t address, int byte, size_t bytes, mc_diag *diag) {
    ptxsim *sim = sim_of(device);
    return sim_check(sim, ptxsim_fill(sim, address, byte, bytes), diag);
}

static const ptxsim_element element_of_type[] = {
    [MC_S8] = PTXSIM_ELEMENT_U8,     [MC_U8] = PTXSIM_ELEMENT_U8,   [MC_S12] = PTXSIM_ELEMENT_U16,
    [MC_U12] = PTXSIM_ELEMENT_U16,   [MC_S16] = PTXSIM_ELEMENT_U16, [MC_U16] = PTXSIM_ELEMENT_U16,
    [MC_S32] = PTXSIM_ELEMENT_S32,   [MC_S64] = PTXSIM_ELEMENT_S64, [MC_F16] = PTXSIM_ELEMENT_F16,
    [MC_BF16] = PTXSIM_ELEMENT_BF16, [MC_F32] = PTXSIM_ELEMENT_F32};

static mc_status sim_tensor_map(mc_device *device, const mc_tensor *tensor, mc_tensor_map *map,
                                mc_diag *diag) {
    ptxsim *sim = sim_of(device);
    ptxsim_tensor t = {.size = sizeof t,
                       .element = element_of_type[tensor->type],
                       .rank = (unsigned)tensor->rank,
                       .address = tensor->address,
                       .swizzle = (ptxsim_swizzle)tensor->swizzle};
    for (int d = 0; d < tensor->rank; d++) {
        t.dims[d] = tensor->dims[d];
        t.box[d] = tensor->box[d];
        if (d > 0) t.strides[d - 1] = tensor->strides[d - 1];
    }
    return sim_check(sim, ptxsim_tensor_map_encode(sim, &t, map->opaque), diag);
}

static void sim_unload(mc_module *module) {
    sim_module *loaded = (sim_module *)module;
    if (loaded->module != NULL) (void)ptxsim_module_unload(sim_of(module->device), loaded->module);
    free(loaded);
}

static mc_status sim_load(mc_device *device, const char *ptx, const char *entry, mc_module **module,
                          mc_diag *diag) {
    ptxsim *sim = sim_of(device);
    sim_module *loaded = calloc(1, sizeof *loaded);
    if (loaded == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    loaded->base.device = device;
    mc_status status = sim_check(sim, ptxsim_module_load(sim, ptx, &loaded->module), diag);
    if (status == MC_OK)
        status = sim_check(sim, ptxsim_module_function(sim, loaded->module, entry, &loaded->function), diag);
    if (status == MC_OK) *module = &loaded->base;
    else sim_unload(&loaded->base);
    return status;
}

/* PTX edited by hand may ask for other parameters than its contract gives. */
static mc_status check_params(const sim_module *loaded, const mc_launch *launch, mc_diag *diag) {
    size_t sizes[MC_MAX_PARAMS], count = ptxsim_function_params(loaded->function, sizes, MC_MAX_PARAMS);
    if (count != launch->count) return mc_fail(diag, MC_CANNOT, MC_PARAM_COUNT_MESSAGE, count, launch->count);
    for (size_t i = 0; i < count; i++)
        if (mc_launch_check_size(launch, i, sizes[i], diag) != MC_OK) return MC_CANNOT;
    return MC_OK;
}

static mc_status sim_launch(mc_module *module, const mc_launch *launch, mc_diag *diag) {
    const sim_module *loaded = (const sim_module *)module;
    ptxsim *sim = sim_of(module->device);
    void *pointers[MC_MAX_PARAMS];
    mc_status status = check_params(loaded, launch, diag);
    if (status != MC_OK) return status;
    mc_launch_pointers(launch, pointers);
    ptxsim_dim3 grid = {launch->grid[0], launch->grid[1], launch->grid[2]};
    ptxsim_dim3 block = {launch->block[0], launch->block[1], launch->block[2]};
    return sim_check(sim, ptxsim_launch(sim, loaded->function, grid, block, launch->shared_dynamic, pointers),
                     diag);
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

static const mc_device_ops sim_ops = {
    .close = sim_close,
    .alloc = sim_alloc,
    .free = sim_free,
    .write = sim_write,
    .read = sim_read,
    .fill = sim_fill,
    .tensor_map = sim_tensor_map,
    .load = sim_load,
    .unload = sim_unload,
    .launch = sim_launch,
    .enqueue = sim_enqueue,
    .time = sim_time,
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
    if (status != PTXSIM_OK) {
        free(opened);
        return mc_fail(diag, MC_NOMEM, "simulator: %s", ptxsim_status_text(status));
    }
    opened->base.ops = &sim_ops;
    opened->base.info = (mc_device_info){.kind = MC_DEVICE_SIM, .name = "PTX simulator"};
    *device = &opened->base;
    return MC_OK;
}
