/* Runs the rows of isa.h on a GPU: a check of the table, not of the simulator. Exits with 77, which
 * CTest takes for "skipped", where there is no CUDA driver or no device. */
#include "../check.h"
#include "isa.h"

#include <dlfcn.h>
#include <stdlib.h>

typedef int cu_result;
typedef struct cu_handle *cu_pointer;

/* The part of the driver's interface that is needed; _v2 names are those that cuda.h maps the plain ones to.
 */
static struct {
    cu_result (*cuInit)(unsigned);
    cu_result (*cuDeviceGet)(int *, int);
    cu_result (*cuDevicePrimaryCtxRetain)(cu_pointer *, int);
    cu_result (*cuCtxSetCurrent)(cu_pointer);
    cu_result (*cuModuleLoadData)(cu_pointer *, const void *);
    cu_result (*cuModuleGetFunction)(cu_pointer *, cu_pointer, const char *);
    cu_result (*cuMemAlloc_v2)(uint64_t *, size_t);
    cu_result (*cuMemcpyDtoH_v2)(void *, uint64_t, size_t);
    cu_result (*cuLaunchKernel)(cu_pointer, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                unsigned, cu_pointer, void **, void **);
    cu_result (*cuCtxSynchronize)(void);
} cu;

static int load_driver(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) return 0;
#define LOAD(name)                                                                                           \
    do {                                                                                                     \
        void *symbol = dlsym(library, #name);                                                                \
        if (!symbol) return 0;                                                                               \
        memcpy(&cu.name, &symbol, sizeof symbol);                                                            \
    } while (0)
    LOAD(cuInit);
    LOAD(cuDeviceGet);
    LOAD(cuDevicePrimaryCtxRetain);
    LOAD(cuCtxSetCurrent);
    LOAD(cuModuleLoadData);
    LOAD(cuModuleGetFunction);
    LOAD(cuMemAlloc_v2);
    LOAD(cuMemcpyDtoH_v2);
    LOAD(cuLaunchKernel);
    LOAD(cuCtxSynchronize);
    return 1;
}

static char *module_text(const struct isa_module *module) {
    char entry[ISA_TEXT], name[16];
    char *text = malloc((size_t)module->count * ISA_TEXT + ISA_HEADER_TEXT);
    if (!text) return NULL;
    size_t used = strlen(strcpy(text, module->header));
    for (int i = 0; i < module->count; i++) {
        snprintf(name, sizeof name, "e%d", i);
        isa_entry(entry, name, &module->rows[i]);
        used += strlen(strcpy(text + used, entry));
    }
    return text;
}

static void run_row(cu_pointer module, const struct isa_row *row, int i, uint64_t scratch, uint64_t out) {
    char name[16];
    cu_pointer function;
    uint64_t a = row->a, b = row->b, c = row->c, got = 0;
    void *params[] = {&a, &b, &c, &scratch, &out};
    snprintf(name, sizeof name, "e%d", i);
    CHECK(cu.cuModuleGetFunction(&function, module, name) == 0, "%s", name);
    CHECK(cu.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL) == 0, "%s", row->code);
    CHECK(cu.cuCtxSynchronize() == 0, "%s", row->code);
    CHECK(cu.cuMemcpyDtoH_v2(&got, out, isa_result_bytes(row)) == 0, "%s", row->code);
    CHECK(got == row->want, "%s (0x%llx, 0x%llx, 0x%llx): got 0x%llx, want 0x%llx", row->code,
          (unsigned long long)a, (unsigned long long)b, (unsigned long long)c, (unsigned long long)got,
          (unsigned long long)row->want);
}

/* A GPU that is older than the rows refuses them. */
static void run_module(const struct isa_module *isa, uint64_t scratch, uint64_t out) {
    cu_pointer module;
    char *text = module_text(isa);
    if (!text || cu.cuModuleLoadData(&module, text) != 0) {
        CHECK(isa != &isa_modules[0], "the driver refuses the module");
        printf("SKIPPED: %d rows for a newer GPU\n", isa->count);
    } else {
        for (int i = 0; i < isa->count; i++) run_row(module, &isa->rows[i], i, scratch, out);
    }
    free(text);
}

int main(void) {
    cu_pointer context;
    uint64_t scratch, out;
    int device;
    if (!load_driver() || cu.cuInit(0) || cu.cuDeviceGet(&device, 0)) {
        printf("SKIPPED: no CUDA device\n");
        return 77;
    }
    CHECK(cu.cuDevicePrimaryCtxRetain(&context, device) == 0 && cu.cuCtxSetCurrent(context) == 0);
    CHECK(cu.cuMemAlloc_v2(&scratch, 64 * 32) == 0 && cu.cuMemAlloc_v2(&out, 8) == 0);
    for (int m = 0; m < ISA_MODULES; m++) run_module(&isa_modules[m], scratch, out);
    return check_end();
}
