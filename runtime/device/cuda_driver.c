/* Finds the CUDA driver. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include "device/cuda_driver.h"

typedef struct driver_state {
    cuda_presence presence;
    cuda_driver driver;
    char why[256];
} driver_state;

/* Written once, by load_driver; constant afterwards. The library stays loaded: the driver keeps threads. */
static driver_state state;
static once_flag state_once = ONCE_FLAG_INIT;

static const struct {
    const char *symbol;
    size_t offset;
    bool optional;
} entry_points[] = {
#define X(name, suffix, parameters) {"cu" #name #suffix, offsetof(cuda_driver, name), false},
    CUDA_DRIVER_LIST(X)
#undef X
#define X(name, suffix, parameters) {"cu" #name #suffix, offsetof(cuda_driver, name), true},
        CUDA_OPTIONAL_LIST(X)
#undef X
};

static cuda_presence resolve(void *library) {
    for (size_t i = 0; i < sizeof entry_points / sizeof entry_points[0]; i++) {
        void *symbol = dlsym(library, entry_points[i].symbol);
        if (symbol == NULL && !entry_points[i].optional) {
            snprintf(state.why, sizeof state.why, "the CUDA driver has no %s: it is too old",
                     entry_points[i].symbol);
            return CUDA_BROKEN;
        }
        memcpy((char *)&state.driver + entry_points[i].offset, &symbol, sizeof symbol);
    }
    return CUDA_READY;
}

static void describe(const cuda_driver *driver, cuda_result result, const char *call, char *text,
                     size_t size) {
    const char *name = NULL, *meaning = NULL;
    driver->GetErrorName(result, &name);
    driver->GetErrorString(result, &meaning);
    if (name == NULL || meaning == NULL) snprintf(text, size, "%s: unknown CUDA error %d", call, result);
    else snprintf(text, size, "%s: %s: %s", call, name, meaning);
}

static cuda_presence initialise(void) {
    cuda_result result = state.driver.Init(0);
    if (result == CUDA_SUCCESS) return CUDA_READY;
    describe(&state.driver, result, "cuInit", state.why, sizeof state.why);
    bool absent = result == CUDA_ERROR_NO_DEVICE || result == CUDA_ERROR_STUB_LIBRARY;
    return absent ? CUDA_ABSENT : CUDA_BROKEN;
}

static void load_driver(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        snprintf(state.why, sizeof state.why, "no CUDA driver: %s", dlerror());
        state.presence = CUDA_ABSENT;
        return;
    }
    state.presence = resolve(library);
    if (state.presence == CUDA_READY) state.presence = initialise();
}

cuda_presence cuda_driver_get(const cuda_driver **driver, const char **why) {
    call_once(&state_once, load_driver);
    *driver = state.presence == CUDA_READY ? &state.driver : NULL;
    *why = state.why;
    return state.presence;
}

mc_status cuda_check(const cuda_driver *driver, cuda_result result, const char *call, mc_diag *diag) {
    if (result == CUDA_SUCCESS) return MC_OK;
    char text[256];
    describe(driver, result, call, text, sizeof text);
    return mc_fail(diag, MC_DEVICE, "%s", text);
}
