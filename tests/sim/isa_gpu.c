/* Runs the rows of isa_table.h on a GPU: a check of the table, not of the simulator. Exits with 77, which
 * CTest takes for "skipped", where there is no CUDA driver or no device. */
#include "../check.h"
#include "isa_table.h"

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

static char *module_text(void) {
    char entry[ISA_TEXT], name[16];
    char *text = malloc((size_t)ISA_ROWS * ISA_TEXT + sizeof ISA_HEADER);
    size_t used = strlen(strcpy(text, ISA_HEADER));
    for (int i = 0; i < ISA_ROWS; i++) {
        snprintf(name, sizeof name, "e%d", i);
        isa_entry(entry, name, &isa_table[i]);
        used += strlen(strcpy(text + used, entry));
    }
    return text;
}

static void run_row(cu_pointer module, int i, uint64_t scratch, uint64_t out) {
    const struct isa_row *row = &isa_table[i];
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

int main(void) {
    cu_pointer context, module;
    uint64_t scratch, out;
    int device;
    if (!load_driver() || cu.cuInit(0) || cu.cuDeviceGet(&device, 0)) {
        printf("SKIPPED: no CUDA device\n");
        return 77;
    }
    CHECK(cu.cuDevicePrimaryCtxRetain(&context, device) == 0 && cu.cuCtxSetCurrent(context) == 0);
    CHECK(cu.cuMemAlloc_v2(&scratch, 64 * 32) == 0 && cu.cuMemAlloc_v2(&out, 8) == 0);
    char *text = module_text();
    CHECK(cu.cuModuleLoadData(&module, text) == 0, "the driver refuses the module");
    if (!check_failed)
        for (int i = 0; i < ISA_ROWS; i++) run_row(module, i, scratch, out);
    free(text);
    return check_end();
}
