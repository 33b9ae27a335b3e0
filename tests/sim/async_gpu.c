/* Runs the kernels of async_table.h and tensor_table.h on a GPU: a check of what the tables want, not of the simulator.
 * Exits with 77, which CTest takes for "skipped", where there is none of compute capability 9.0. */
#include "async_table.h"
#include "mcrt_internal.h"
#include "tensor_table.h"

#include <dlfcn.h>

enum { OUT_BYTES = 1 << 16, POISON = 0x5a };

typedef int encode_fn(void *map, int type, unsigned rank, void *address, const uint64_t *dims,
                      const uint64_t *strides, const unsigned *box, const unsigned *steps, int interleave,
                      int swizzle, int promotion, int fill);

static mc_device *device;
static mc_diag *diag;
static encode_fn *encode;
static uint64_t in, out;

static bool is_ok(mc_status status, const char *name) {
    CHECK(status == MC_OK, "%s: %s", name, mc_diag_text(diag));
    mc_diag_clear(diag);
    return status == MC_OK;
}

static bool run_text(const char *name, const char *text, unsigned threads, const mc_tensor_map *map,
                     uint64_t from) {
    mc_module *module;
    mc_launch launch = {
        .grid = {1, 1, 1}, .block = {threads, 1, 1}, .values = {from, out}, .maps = {[2] = map}, .count = 3};
    if (!is_ok(mc_module_load(device, text, "k", &module, diag), name)) return false;
    bool ran = is_ok(mc_module_launch(module, &launch, diag), name);
    mc_module_unload(module);
    return ran;
}

static void run_async(const struct async_case *c) {
    static char text[ASYNC_TEXT];
    mc_tensor_map map = {{0}};
    uint32_t got[1024];
    async_text(text, sizeof text, c->code);
    is_ok(mc_device_fill(device, out, POISON, OUT_BYTES, diag), c->name);
    if (!run_text(c->name, text, c->threads, &map, in)) return;
    is_ok(mc_device_read(device, out, got, sizeof got, diag), c->name);
    for (unsigned t = 0; t < c->threads; t++)
        CHECK(got[t] == c->want(t) || (t >= 64 && got[t] == 0x5a5a5a5a), "%s: thread %u: 0x%x, want 0x%x",
              c->name, t, got[t], c->want(t));
}

/* By the runtime where it has the type and the fill, else by the driver. */
static bool make_map(const struct tensor_case *c, uint64_t address, mc_tensor_map *map) {
    static const mc_type type_of_bytes[] = {[1] = MC_S8, [2] = MC_S16, [4] = MC_S32, [8] = MC_S64};
    static const unsigned steps[] = {1, 1, 1};
    mc_tensor t = {.type = type_of_bytes[element_bytes(c->element)],
                   .rank = (int)c->rank,
                   .address = address,
                   .swizzle = (mc_swizzle)c->swizzle};
    memcpy(t.dims, c->dims, sizeof t.dims);
    memcpy(t.strides, c->strides, sizeof t.strides);
    memcpy(t.box, c->box, sizeof t.box);
    if (!c->fill_nan) return is_ok(mc_device_tensor_map(device, &t, map, diag), c->name);
    int result = encode(map, (int)c->element, c->rank, (void *)(uintptr_t)address, c->dims, c->strides,
                        c->box, steps, 0, (int)c->swizzle, 0, 1);
    CHECK(result == 0, "%s: cuTensorMapEncodeTiled: %d", c->name, result);
    return result == 0;
}

static void compare(const char *what, const struct tensor_case *c, const unsigned char *want, size_t bytes) {
    static unsigned char got[OUT_BYTES];
    size_t i = 0;
    is_ok(mc_device_read(device, out, got, bytes, diag), c->name);
    while (i < bytes && got[i] == want[i]) i++;
    CHECK(i == bytes, "%s, %s: byte %zu is 0x%x, want 0x%x", what, c->name, i, got[i], want[i]);
}

static void run_tensor(const struct tensor_case *c) {
    static char text[8192];
    static unsigned char want[OUT_BYTES];
    mc_tensor_map map;
    load_kernel(c, text, sizeof text);
    memset(want, TENSOR_SENTINEL, sizeof want);
    each_element(c, model_load, want);
    if (make_map(c, in, &map) && run_text(c->name, text, 128, &map, in))
        compare("load", c, want, TENSOR_SHARED);
    if (!can_store(c)) return;
    store_kernel(c, text, sizeof text);
    is_ok(mc_device_fill(device, out, TENSOR_SENTINEL, OUT_BYTES, diag), c->name);
    memset(want, TENSOR_SENTINEL, sizeof want);
    each_element(c, model_store, want);
    if (make_map(c, out, &map) && run_text(c->name, text, 128, &map, in))
        compare("store", c, want, OUT_BYTES);
}

/* With a number, that case alone: a kernel that traps leaves nothing to the others. */
int main(int argc, char **argv) {
    int only = argc > 1 ? atoi(argv[1]) : -1;
    static uint32_t words[ASYNC_WORDS];
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    void *symbol = library ? dlsym(library, "cuTensorMapEncodeTiled") : NULL;
    diag = mc_diag_create();
    if (!symbol || mc_device_open("cuda:0", &device, diag) != MC_OK ||
        mc_device_get_info(device)->capability != 90) {
        printf("SKIPPED: no GPU of compute capability 9.0\n");
        return 77;
    }
    memcpy(&encode, &symbol, sizeof symbol);
    for (unsigned i = 0; i < ASYNC_WORDS; i++) words[i] = in_word(i);
    is_ok(mc_device_alloc(device, sizeof words, &in, diag), "the input");
    is_ok(mc_device_write(device, in, words, sizeof words, diag), "the input");
    is_ok(mc_device_alloc(device, OUT_BYTES, &out, diag), "the output");
    for (int i = 0; i < ASYNC_CASES; i++)
        if (only < 0 || only == i) run_async(&async_cases[i]);
    for (int i = 0; i < TENSOR_CASES; i++)
        if (only < 0 || only == ASYNC_CASES + i) run_tensor(&tensor_cases[i]);
    mc_device_close(device);
    mc_diag_destroy(diag);
    return check_end();
}
