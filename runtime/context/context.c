/* Contexts: a device with everything that is kept for it. */
#include "context/context.h"
#include <stdlib.h>
#include <string.h>
#include "context/kernels.h"
#include "records/record.h"

#define CONFIG_FIRST STRUCT_SIZE_TO(mc_context_config, memory_user)
#define INFO_FIRST   STRUCT_SIZE_TO(mc_context_info, kernels_from_cache)

/* -- Public structs */

mc_status check_struct_size(size_t size, size_t least, size_t newest, const char *what, mc_diag *diag) {
    if (size >= least && size <= newest) return MC_OK;
    if (size == 0) return mc_fail(diag, MC_USAGE, "the size of %s is 0: set it with sizeof", what);
    return mc_fail(diag, MC_USAGE, "%s of %zu bytes: %s", what, size,
                   size > newest ? "made for a later version of the library"
                                 : "no version has fewer than these");
}

mc_status take_struct(void *to, size_t newest, const void *from, size_t least, const char *what,
                      mc_diag *diag) {
    size_t size;
    memset(to, 0, newest);
    if (from == NULL) return mc_fail(diag, MC_USAGE, "%s is NULL", what);
    memcpy(&size, from, sizeof size);
    mc_status status = check_struct_size(size, least, newest, what, diag);
    if (status == MC_OK) memcpy(to, from, size);
    return status;
}

/* The size stays the caller's. */
mc_status give_struct(void *to, size_t least, const void *from, size_t newest, const char *what,
                      mc_diag *diag) {
    size_t size;
    if (to == NULL) return mc_fail(diag, MC_USAGE, "%s is NULL", what);
    memcpy(&size, to, sizeof size);
    mc_status status = check_struct_size(size, least, newest, what, diag);
    if (status == MC_OK)
        memcpy((char *)to + sizeof size, (const char *)from + sizeof size, size - sizeof size);
    return status;
}

mc_status check_handle(const void *handle, const char *what, mc_diag *diag) {
    return handle != NULL ? MC_OK : mc_fail(diag, MC_USAGE, "%s is NULL", what);
}

/* -- Log */

/* What the cache and the records say costs time, never a result. */
static void log_note(void *user, const char *message) { context_log(user, MC_LOG_NOTE, "%s", message); }

/* -- The calling thread's CUDA context */

mc_status context_enter(mc_context *context, context_visit *visit, mc_diag *diag) {
    *visit = (context_visit){0};
    mc_status status = check_handle(context, "context", diag);
    if (status == MC_OK) status = mc_device_enter(context->device, &visit->capture_mode, diag);
    visit->entered = status == MC_OK;
    return status;
}

void context_leave(mc_context *context, const context_visit *visit) {
    if (visit->entered) mc_device_leave(context->device, visit->capture_mode);
}

/* -- Memory: between context_enter and context_leave */

enum { MEMORY_ALIGN = 256 };

mc_status context_alloc(mc_context *context, size_t bytes, mc_address *address, mc_diag *diag) {
    const mc_context_config *config = &context->config;
    *address = 0;
    if (config->allocate == NULL) return mc_device_alloc(context->device, bytes, address, diag);
    mc_address got = config->allocate(config->memory_user, bytes > 0 ? bytes : 1);
    if (got == 0) return mc_fail(diag, MC_NOMEM, "no memory for %zu bytes on the device", bytes);
    if (got % MEMORY_ALIGN != 0) {
        config->release(config->memory_user, got);
        return mc_fail(diag, MC_USAGE, "the config's allocate gave 0x%llx, which is not a multiple of %d",
                       (unsigned long long)got, MEMORY_ALIGN);
    }
    *address = got;
    return MC_OK;
}

void context_free(mc_context *context, mc_address address) {
    if (address == 0) return;
    if (context->config.release != NULL) context->config.release(context->config.memory_user, address);
    else mc_device_free(context->device, address);
}

/* -- Opening */

static mc_status copy_string(const char **string, mc_diag *diag) {
    if (*string == NULL) return MC_OK;
    *string = strdup(*string);
    return *string != NULL ? MC_OK : mc_fail(diag, MC_NOMEM, "out of memory");
}

static mc_status check_config(const mc_context_config *config, mc_diag *diag) {
    if ((unsigned)config->cache > MC_CACHE_OFF)
        return mc_fail(diag, MC_USAGE, "cache is %d, must be an mc_cache_mode", (int)config->cache);
    if ((unsigned)config->tuning > MC_TUNING_TUNE)
        return mc_fail(diag, MC_USAGE, "tuning is %d, must be an mc_tuning", (int)config->tuning);
    if ((config->allocate == NULL) != (config->release == NULL))
        return mc_fail(diag, MC_USAGE, "allocate and release go together: %s is NULL",
                       config->allocate == NULL ? "allocate" : "release");
    return MC_OK;
}

/* The strings become the context's own, whatever comes of it. */
static mc_status take_config(mc_context *context, const mc_context_config *config, mc_diag *diag) {
    static const mc_context_config usual = {.size = sizeof usual};
    mc_context_config *own = &context->config;
    mc_status status = take_struct(own, sizeof *own, config != NULL ? config : &usual, CONFIG_FIRST,
                                   "mc_context_config", diag);
    const char **strings[] = {&own->device, &own->cache_directory, &own->records};
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) {
        if (status == MC_OK) status = copy_string(strings[i], diag);
        else *strings[i] = NULL;
    }
    return status == MC_OK ? check_config(own, diag) : status;
}

/* MCGEN_TUNING stands in for ENVIRONMENT. */
static void take_tuning(mc_context *context) {
    static const char *const names[] = {
        [MC_TUNING_REPLAY] = "replay", [MC_TUNING_OFF] = "off", [MC_TUNING_TUNE] = "tune"};
    if (context->config.tuning != MC_TUNING_ENVIRONMENT) return;
    const char *value = secure_getenv("MCGEN_TUNING");
    context->config.tuning = MC_TUNING_REPLAY;
    if (value == NULL || *value == '\0') return;
    for (int i = MC_TUNING_REPLAY; i <= MC_TUNING_TUNE; i++)
        if (strcmp(value, names[i]) == 0) {
            context->config.tuning = (mc_tuning)i;
            return;
        }
    context_log(context, MC_LOG_NOTE, "MCGEN_TUNING is '%s', must be off, replay or tune: replay is taken",
                value);
}

static mc_status open_cache(mc_context *context, mc_diag *diag) {
    static const mccache_mode modes[] = {[MC_CACHE_READ_WRITE] = MCCACHE_READ_WRITE,
                                         [MC_CACHE_READ_ONLY] = MCCACHE_READ_ONLY,
                                         [MC_CACHE_MEMORY] = MCCACHE_MEMORY,
                                         [MC_CACHE_OFF] = MCCACHE_OFF};
    const mc_context_config *config = &context->config;
    mccache_config cache = {.size = sizeof cache};
    mccache_paths paths;
    const char *why = NULL;
    if (!mccache_environment(&cache, &paths, &why)) context_log(context, MC_LOG_NOTE, "cache: %s", why);
    if (config->cache != MC_CACHE_ENVIRONMENT) cache.mode = modes[config->cache];
    if (config->cache_directory != NULL) cache.directory = config->cache_directory;
    if (config->cache_bytes != 0) cache.max_bytes = config->cache_bytes;
    if (config->cache_files != 0) cache.max_files = config->cache_files;
    cache.log = log_note;
    cache.log_user = context;
    context->cache = mccache_open(&cache);
    return context->cache != NULL ? MC_OK : mc_fail(diag, MC_NOMEM, "out of memory");
}

/* NULL: none. */
static const char *records_of(const mc_context *context) {
    const char *path = context->config.records;
    return path != NULL && *path != '\0' ? path : NULL;
}

/* Absolute: tuning appends to the file that was read, wherever the program's current directory is by then. */
static mc_status name_records(mc_context *context, mc_diag *diag) {
    char path[MCCACHE_MAX_PATH];
    const char *named = context->config.records;
    if (named == NULL && record_default_path(path, sizeof path)) named = path;
    if (named == NULL || *named == '\0') return MC_OK;
    char *full = mccache_absolute_path(named);
    if (full == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    free((char *)context->config.records);
    context->config.records = full;
    return MC_OK;
}

static mc_status open_records(mc_context *context, mc_diag *diag) {
    mc_status status = name_records(context, diag);
    if (status != MC_OK) return status;
    const record_store_config config = {.path = records_of(context),
                                        .shipped = true,
                                        .gpu = mc_device_get_info(context->device)->name,
                                        .log = log_note,
                                        .log_user = context};
    return record_store_open(&config, &context->records, diag);
}

static mc_status open_device(mc_context *context, mc_diag *diag) {
    const char *name = context->config.device != NULL ? context->config.device : "auto";
    return mc_device_open_in(name, context->config.cuda_context, &context->device, diag);
}

static mc_status open_all(mc_context *context, const mc_context_config *config, mc_diag *diag) {
    mc_status status = take_config(context, config, diag);
    if (status != MC_OK) return status;
    context_take_log(&context->config);
    take_tuning(context);
    status = open_device(context, diag);
    if (status == MC_OK) status = open_cache(context, diag);
    return status == MC_OK ? open_records(context, diag) : status;
}

/* False: a lock could not be had, and none is left. */
static bool make_locks(mc_context *context) {
    if (pthread_mutex_init(&context->lock, NULL) != 0) return false;
    if (pthread_mutex_init(&context->tuning, NULL) == 0) {
        if (pthread_cond_init(&context->loaded, NULL) == 0) return true;
        pthread_mutex_destroy(&context->tuning);
    }
    pthread_mutex_destroy(&context->lock);
    return false;
}

static void drop_locks(mc_context *context) {
    pthread_cond_destroy(&context->loaded);
    pthread_mutex_destroy(&context->tuning);
    pthread_mutex_destroy(&context->lock);
}

mc_status mc_context_create(const mc_context_config *config, mc_context **context, mc_diag *diag) {
    if (context == NULL) return check_handle(context, "context", diag);
    *context = NULL;
    mc_context *made = calloc(1, sizeof *made);
    if (made == NULL || !make_locks(made)) {
        free(made);
        return mc_fail(diag, MC_NOMEM, "out of memory");
    }
    mc_status status = open_all(made, config, diag);
    if (status == MC_OK) *context = made;
    else mc_context_destroy(made);
    return status;
}

static void close_kernels(mc_context *context) {
    context_visit visit;
    if (context->kernels == NULL) return;
    (void)context_enter(context, &visit, NULL);
    kernels_close(context);
    context_leave(context, &visit);
}

void mc_context_destroy(mc_context *context) {
    if (context == NULL) return;
    close_kernels(context);
    record_store_close(context->records);
    mccache_close(context->cache);
    mc_device_close(context->device);
    drop_locks(context);
    free((char *)context->config.device);
    free((char *)context->config.cache_directory);
    free((char *)context->config.records);
    free(context);
}

/* -- Public functions on an open context */

mc_status mc_context_get_info(mc_context *context, mc_context_info *info, mc_diag *diag) {
    if (context == NULL) return check_handle(context, "context", diag);
    const mc_device_info *device = mc_device_get_info(context->device);
    mc_context_info all = {.device = device->name,
                           .driver = mc_device_build(context->device),
                           .capability = device->capability,
                           .cache_directory = mccache_directory(context->cache),
                           .records = records_of(context)};
    pthread_mutex_lock(&context->lock);
    all.kernels_compiled = context->compiled;
    all.kernels_from_cache = context->from_cache;
    all.kernels_loaded = context->loads;
    pthread_mutex_unlock(&context->lock);
    return give_struct(info, INFO_FIRST, &all, sizeof all, "mc_context_info", diag);
}

mc_status mc_memory_create(mc_context *context, size_t bytes, mc_address *address, mc_diag *diag) {
    context_visit visit;
    if (address == NULL) return check_handle(address, "address", diag);
    *address = 0;
    mc_status status = context_enter(context, &visit, diag);
    if (status == MC_OK) status = mc_device_alloc(context->device, bytes, address, diag);
    context_leave(context, &visit);
    return status;
}

void mc_memory_destroy(mc_context *context, mc_address address) {
    context_visit visit;
    if (address == 0 || context_enter(context, &visit, NULL) != MC_OK) return;
    mc_device_free(context->device, address);
    context_leave(context, &visit);
}

mc_status mc_memory_write(mc_context *context, mc_address address, const void *data, size_t bytes,
                          mc_diag *diag) {
    context_visit visit;
    mc_status status = bytes > 0 ? check_handle(data, "data", diag) : MC_OK;
    if (status != MC_OK) return status;
    status = context_enter(context, &visit, diag);
    if (status == MC_OK) status = mc_device_write(context->device, address, data, bytes, diag);
    context_leave(context, &visit);
    return status;
}

mc_status mc_memory_read(mc_context *context, mc_address address, void *data, size_t bytes, mc_diag *diag) {
    context_visit visit;
    mc_status status = bytes > 0 ? check_handle(data, "data", diag) : MC_OK;
    if (status != MC_OK) return status;
    status = context_enter(context, &visit, diag);
    if (status == MC_OK) status = mc_device_read(context->device, address, data, bytes, diag);
    context_leave(context, &visit);
    return status;
}

mc_status mc_synchronize(mc_context *context, void *stream, mc_diag *diag) {
    context_visit visit;
    mc_status status = context_enter(context, &visit, diag);
    if (status == MC_OK) status = mc_device_synchronize(context->device, stream, diag);
    context_leave(context, &visit);
    return status;
}
