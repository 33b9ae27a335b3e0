#include "driver_gpu.h"
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* CUDA Driver API manual: CUresult and CUdevice_attribute. */
enum { SUCCESS = 0, STUB_LIBRARY = 34, NO_DEVICE = 100 };
enum { CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };

typedef struct driver {
    int (*Init)(unsigned flags);
    int (*DeviceGet)(int *device, int ordinal);
    int (*DeviceGetAttribute)(int *value, int attribute, int device);
    int (*DeviceGetName)(char *name, int size, int device);
} driver;

static bool load(driver *d) {
    static const struct {
        const char *symbol;
        size_t offset;
    } entry_points[] = {{"cuInit", offsetof(driver, Init)},
                        {"cuDeviceGet", offsetof(driver, DeviceGet)},
                        {"cuDeviceGetAttribute", offsetof(driver, DeviceGetAttribute)},
                        {"cuDeviceGetName", offsetof(driver, DeviceGetName)}};
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
    for (size_t i = 0; i < sizeof entry_points / sizeof *entry_points; i++) {
        void *symbol = dlsym(library, entry_points[i].symbol);
        if (!symbol) return false;
        memcpy((char *)d + entry_points[i].offset, &symbol, sizeof symbol);
    }
    return true;
}

/* Whether CALL, which gave RESULT, went well; the first that did not is kept. */
static bool passed(driver_gpu *gpu, const char *call, int result) {
    if (result == SUCCESS) return true;
    gpu->failed = call;
    gpu->error = result;
    return false;
}

static void ask(const driver *d, driver_gpu *gpu) {
    int device, major, minor;
    int init = d->Init(0);
    if (init == NO_DEVICE || init == STUB_LIBRARY || !passed(gpu, "cuInit", init)) return;
    if (passed(gpu, "cuDeviceGet", d->DeviceGet(&device, 0)) &&
        passed(gpu, "cuDeviceGetName", d->DeviceGetName(gpu->name, sizeof gpu->name, device)) &&
        passed(gpu, "cuDeviceGetAttribute", d->DeviceGetAttribute(&major, CAPABILITY_MAJOR, device)) &&
        passed(gpu, "cuDeviceGetAttribute", d->DeviceGetAttribute(&minor, CAPABILITY_MINOR, device)))
        gpu->capability = 10 * major + minor;
}

driver_gpu driver_gpu_find(void) {
    driver d;
    driver_gpu gpu = {0};
    if (load(&d)) ask(&d, &gpu);
    return gpu;
}
