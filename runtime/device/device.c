/* The public device functions: opening by name, and dispatch to the backend. */
#include <stdlib.h>
#include <string.h>
#include "base/type.h"
#include "device/kind.h"

/* The I of "cuda:I": digits only. */
static bool parse_ordinal(const char *text, int *ordinal) {
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 4 || text[digits] != '\0') return false;
    *ordinal = atoi(text);
    return true;
}

/* The number behind ":name=" at the start of *TEXT, which it then passes. True, and *VALUE as it was, if
   there is no such option; false if its number is none, or begins with 0. */
static bool parse_number(const char **text, const char *option, uint64_t *value) {
    size_t length = strlen(option);
    if (strncmp(*text, option, length) != 0) return true;
    const char *number = *text + length;
    size_t digits = strspn(number, "0123456789");
    if (digits == 0 || digits > 18 || number[0] == '0') return false;
    *value = strtoull(number, NULL, 10);
    *text = number + digits;
    return true;
}

/* ":landing=" and when, or nothing. */
static bool parse_landing(const char **text, mc_landing *landing) {
    static const char option[] = ":landing=", first[] = "first", last[] = "last";
    if (strncmp(*text, option, sizeof option - 1) != 0) return true;
    const char *when = *text + sizeof option - 1;
    bool is_first = strncmp(when, first, sizeof first - 1) == 0,
         is_last = strncmp(when, last, sizeof last - 1) == 0;
    *landing = is_first ? MC_LANDING_FIRST : MC_LANDING_LAST;
    *text = when + (is_first ? sizeof first : sizeof last) - 1;
    return is_first || is_last;
}

/* What may follow "sim": ":reversed" or ":seed=N", then ":landing=...", then ":limit=N". */
static bool parse_sim(const char *text, mc_sim_settings *settings) {
    static const char reversed[] = ":reversed";
    *settings = (mc_sim_settings){0};
    if (strncmp(text, reversed, sizeof reversed - 1) == 0) {
        settings->reversed = true;
        text += sizeof reversed - 1;
    } else if (!parse_number(&text, ":seed=", &settings->seed)) {
        return false;
    }
    return parse_landing(&text, &settings->landing) && parse_number(&text, ":limit=", &settings->limit) &&
           *text == '\0';
}

mc_status mc_device_open(const char *name, mc_device **device, mc_diag *diag) {
    return mc_device_open_in(name, NULL, device, diag);
}

static mc_status open_sim(const mc_sim_settings *settings, void *context, mc_device **device, mc_diag *diag) {
    if (context != NULL) return mc_fail(diag, MC_USAGE, "the simulator works in no CUDA context");
    return mc_device_sim_open(settings, device, diag);
}

mc_status mc_device_open_in(const char *name, void *context, mc_device **device, mc_diag *diag) {
    int ordinal = 0;
    mc_sim_settings sim = {0};
    *device = NULL;
    if (strncmp(name, "sim", 3) == 0 && parse_sim(name + 3, &sim))
        return open_sim(&sim, context, device, diag);
    if (strcmp(name, "auto") == 0) {
        if (context != NULL) return mc_device_cuda_open(ANY_GPU, context, device, diag);
        return mc_device_cuda_absent() ? mc_device_sim_open(&sim, device, diag)
                                       : mc_device_cuda_open(0, NULL, device, diag);
    }
    if (strncmp(name, "cuda:", 5) == 0 && parse_ordinal(name + 5, &ordinal))
        return mc_device_cuda_open(ordinal, context, device, diag);
    return mc_fail(diag, MC_USAGE,
                   "device '%s': want auto, sim, sim:reversed, sim:seed=N (N from 1 on) or cuda:I", name);
}

void mc_device_close(mc_device *device) {
    if (device != NULL) device->ops->close(device);
}

const mc_device_info *mc_device_get_info(const mc_device *device) { return &device->info; }
const char *mc_device_build(const mc_device *device) { return device->build; }

mc_status mc_device_enter(mc_device *device, int *mode, mc_diag *diag) {
    return device->ops->enter(device, mode, diag);
}

void mc_device_leave(mc_device *device, int mode) { device->ops->leave(device, mode); }
bool mc_device_is_current(mc_device *device) { return device->ops->is_current(device); }

mc_status mc_device_synchronize(mc_device *device, void *stream, mc_diag *diag) {
    return device->ops->synchronize(device, stream, diag);
}

mc_gpu mc_device_gpu(const mc_device *device) {
    mc_gpu gpu = *mc_gpu_find(device->info.name, device->info.capability);
    if (device->info.kind == MC_DEVICE_SIM) return gpu;
    gpu.capability = device->info.capability;
    gpu.multiprocessors = device->info.multiprocessors;
    return gpu;
}

mc_status mc_device_alloc(mc_device *device, size_t bytes, uint64_t *address, mc_diag *diag) {
    *address = 0;
    return device->ops->alloc(device, bytes, address, diag);
}

void mc_device_free(mc_device *device, uint64_t address) {
    if (address != 0) device->ops->free(device, address);
}

mc_status mc_device_write(mc_device *device, uint64_t address, const void *data, size_t bytes,
                          mc_diag *diag) {
    return bytes == 0 ? MC_OK : device->ops->write(device, address, data, bytes, diag);
}

mc_status mc_device_upload(mc_device *device, uint64_t address, const void *data, size_t bytes,
                           mc_diag *diag) {
    return bytes == 0 ? MC_OK : device->ops->upload(device, address, data, bytes, diag);
}

mc_status mc_device_write_on(mc_device *device, uint64_t address, const void *data, size_t bytes,
                             void *stream, mc_diag *diag) {
    return bytes == 0 ? MC_OK : device->ops->write_on(device, address, data, bytes, stream, diag);
}

mc_status mc_device_read(mc_device *device, uint64_t address, void *data, size_t bytes, mc_diag *diag) {
    return bytes == 0 ? MC_OK : device->ops->read(device, address, data, bytes, diag);
}

mc_status mc_device_fill(mc_device *device, uint64_t address, int byte, size_t bytes, mc_diag *diag) {
    return bytes == 0 ? MC_OK : device->ops->fill(device, address, byte, bytes, diag);
}

mc_status mc_device_tensor_map(mc_device *device, const mc_tensor *tensor, mc_tensor_map *map,
                               mc_diag *diag) {
    memset(map, 0, sizeof *map);
    if (tensor->rank < 1 || tensor->rank > MC_TENSOR_RANK)
        return mc_fail(diag, MC_USAGE, "a tensor of rank %d: 1 to %d are possible", tensor->rank,
                       MC_TENSOR_RANK);
    if (mc_type_bytes(tensor->type) == 0)
        return mc_fail(diag, MC_CANNOT, "a tensor of %s: two elements share a byte",
                       mc_type_text(tensor->type));
    return device->ops->tensor_map(device, tensor, map, diag);
}

mc_status mc_module_load(mc_device *device, const char *ptx, const char *entry, mc_module **module,
                         mc_diag *diag) {
    const mc_image image = {(void *)(uintptr_t)ptx, strlen(ptx) + 1};
    return mc_module_load_image(device, &image, entry, module, diag);
}

mc_status mc_module_load_image(mc_device *device, const mc_image *image, const char *entry,
                               mc_module **module, mc_diag *diag) {
    *module = NULL;
    return device->ops->load(device, image, entry, module, diag);
}

mc_status mc_device_compile(mc_device *device, const char *ptx, mc_image *image, char **log, mc_diag *diag) {
    char *text = NULL;
    *image = (mc_image){0};
    mc_status status = device->ops->compile(device, ptx, image, &text, diag);
    if (text == NULL) text = strdup("");
    if (text == NULL && status == MC_OK) status = mc_fail(diag, MC_NOMEM, "out of memory");
    if (status != MC_OK) mc_image_free(image);
    if (log != NULL) *log = text;
    else free(text);
    return status;
}

void mc_image_free(mc_image *image) {
    free(image->data);
    *image = (mc_image){0};
}

void mc_module_unload(mc_module *module) {
    if (module != NULL) module->device->ops->unload(module);
}

mc_status mc_launch_passes(mc_module *module, const mc_launch *launch, mc_put_pass *put, void *user,
                           mc_diag *diag) {
    mc_status status = put(module, launch, user, diag);
    for (unsigned pass = 1; pass < launch->passes && status == MC_OK; pass++) {
        mc_launch next = *launch;
        next.values[launch->pass] = pass;
        next.overlap = false;
        status = put(module, &next, user, diag);
    }
    return status;
}

mc_status mc_module_launch(mc_module *module, const mc_launch *launch, mc_diag *diag) {
    return module->device->ops->launch(module, launch, diag);
}

mc_status mc_module_enqueue(mc_module *module, const mc_launch *launch, void *stream, mc_diag *diag) {
    return module->device->ops->enqueue(module, launch, stream, diag);
}

mc_status mc_module_prepare(mc_module *module, const mc_launch *launch, mc_diag *diag) {
    return module->device->ops->prepare(module, launch, diag);
}

mc_status mc_module_put(mc_module *module, const mc_launch *launch, void *stream, mc_diag *diag) {
    return module->device->ops->put(module, launch, stream, diag);
}

mc_status mc_module_time(mc_module *module, const mc_launch *launch, int launches, int rounds,
                         double *microseconds, mc_diag *diag) {
    *microseconds = 0;
    if (launches < 1 || rounds < 1)
        return mc_fail(diag, MC_USAGE, "timing wants at least 1 launch and 1 round, not %d and %d", launches,
                       rounds);
    return module->device->ops->time(module, launch, launches, rounds, microseconds, diag);
}

mc_status mc_graph_create(mc_module *module, const mc_launch *launches, size_t count, mc_graph **graph,
                          mc_diag *diag) {
    *graph = NULL;
    if (count == 0) return mc_fail(diag, MC_USAGE, "a graph of no launches");
    return module->device->ops->graph_create(module, launches, count, graph, diag);
}

mc_status mc_graph_replay(mc_graph *graph, double *microseconds, mc_diag *diag) {
    return mc_graph_replay_last(graph, 1, microseconds, diag);
}

mc_status mc_graph_replay_last(mc_graph *graph, int count, double *microseconds, mc_diag *diag) {
    *microseconds = 0;
    if (count < 1) return mc_fail(diag, MC_USAGE, "%d replays: want at least 1", count);
    return graph->device->ops->graph_replay(graph, count, microseconds, diag);
}

void mc_graph_destroy(mc_graph *graph) {
    if (graph != NULL) graph->device->ops->graph_destroy(graph);
}
