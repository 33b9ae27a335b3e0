/* The flags of a product whose last tiles are dealt out along k (gen/parts/stream.h): whatever the workspace holds,
 * launches one behind another give the sums, and leave no flag set; and a thread block does wait for a flag.
 * stream_test SPEC [DEVICE], where SPEC's kernels multiply s8. */
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "choices.h"
#include "parts/stream.h"
#include "problem/binding_set.h"
#include "mcrt_internal.h"

enum { SKIPPED = 77, LAUNCHES = 3, ANYTHING = 0x5a, POISON = 0x80 };

/* Tiles of 64 x 64: five by two, dealt to four thread blocks, so that two of them make the line. */
enum { M = 260, N = 68, K = 1040, MULTIPROCESSORS = 4 };

typedef struct bench {
    mc_device *device;
    mc_kernel *kernel;
    mc_module *module;
    mc_launch launch;
    mc_tensor_map maps[MC_MAX_MAPS];
    binding_set bindings;
    uint64_t a, b, c, workspace;
    mc_diag *diag;
} bench;

static bool worked(const bench *t, const char *what, mc_status status) {
    CHECK(status == MC_OK, "%s: %s", what, mc_diag_text(t->diag));
    return status == MC_OK;
}

/* Memory that is full of BYTE. */
static uint64_t filled(bench *t, const char *name, size_t bytes, int byte) {
    uint64_t address = 0;
    mc_status status = mc_device_alloc(t->device, bytes, &address, t->diag);
    if (status == MC_OK) status = mc_device_fill(t->device, address, byte, bytes, t->diag);
    (void)worked(t, name, status);
    bind_value(&t->bindings, name, (int64_t)address);
    return address;
}

static bool load(bench *t, const char *ptx) {
    mc_status status =
        mc_bind_maps(t->device, t->kernel, t->bindings.items, &t->bindings.count, t->maps, t->diag);
    if (status == MC_OK)
        status = mc_bind(t->kernel, t->bindings.items, t->bindings.count, &t->launch, t->diag);
    if (status == MC_OK)
        status = mc_module_load(t->device, ptx, mc_kernel_contract(t->kernel)->entry, &t->module, t->diag);
    return worked(t, "load", status);
}

static void begin(bench *t, const char *device, int multiprocessors) {
    static const struct {
        const char *name;
        int64_t value;
    } sizes[] = {{"m", M}, {"n", N}, {"k", K}, {"lda", K}, {"ldb", K}, {"ldc", N}};
    if (!worked(t, device, mc_device_open(device, &t->device, t->diag))) return;
    t->a = filled(t, "a", (size_t)M * K, 1), t->b = filled(t, "b", (size_t)N * K, 1);
    t->c = filled(t, "c", (size_t)M * N * sizeof(int32_t), POISON);
    t->workspace = filled(t, MC_WORKSPACE, mc_workspace_bytes(t->kernel, NULL, 0, 0), ANYTHING);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        bind_value(&t->bindings, sizes[i].name, sizes[i].value);
    if (multiprocessors > 0) bind_value(&t->bindings, "multiprocessors", multiprocessors);
}

static void end(bench *t) {
    const uint64_t memory[] = {t->a, t->b, t->c, t->workspace};
    mc_module_unload(t->module);
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) mc_device_free(t->device, memory[i]);
    mc_device_close(t->device);
    t->module = NULL, t->device = NULL, t->bindings.count = 0;
}

/* Every sum is that of K ones. */
static void check_sums(bench *t) {
    const size_t bytes = (size_t)M * N * sizeof(int32_t);
    int32_t *sums = malloc(bytes);
    int wrong = 0;
    if (worked(t, "read C", mc_device_read(t->device, t->c, sums, bytes, t->diag)))
        for (int i = 0; i < M * N; i++) wrong += sums[i] != K;
    CHECK(wrong == 0, "%d of %d sums are wrong", wrong, M * N);
    (void)worked(t, "poison", mc_device_fill(t->device, t->c, POISON, bytes, t->diag));
    free(sums);
}

/* Those that were set are 0 by now; the others hold what they did. */
static void check_flags(bench *t) {
    const size_t bytes = mc_kernel_contract(t->kernel)->flags, count = bytes / sizeof(uint64_t);
    uint64_t *flags = malloc(bytes), untouched;
    size_t set = 0, cleared = 0, others = 0;
    memset(&untouched, ANYTHING, sizeof untouched);
    if (worked(t, "read flags", mc_device_read(t->device, t->workspace, flags, bytes, t->diag)))
        for (size_t i = 0; i < count; i++) {
            set += flags[i] == STREAM_MARK, cleared += flags[i] == 0;
            others += flags[i] != 0 && flags[i] != untouched;
        }
    /* ranges that begin inside of a tile: all but the first one; four warps each */
    CHECK(set == 0 && others == 0 && cleared == (MULTIPROCESSORS - 1) * 4, "%zu set, %zu cleared, %zu others",
          set, cleared, others);
    free(flags);
}

static void test_launches(bench *t, const char *device) {
    begin(t, device, MULTIPROCESSORS);
    if (load(t, mc_kernel_ptx(t->kernel))) {
        CHECK(t->launch.grid[0] == MULTIPROCESSORS, "%u thread blocks", t->launch.grid[0]);
        for (int i = 0; i < LAUNCHES; i++)
            if (worked(t, "launch", mc_module_launch(t->module, &t->launch, t->diag)))
                check_sums(t), check_flags(t);
    }
    end(t);
}

/* What launching PTX gives within a number of instructions that a launch without a mistake needs. */
static mc_status limited(bench *t, const char *ptx) {
    mc_status status = MC_USAGE;
    begin(t, "sim:limit=200000", MULTIPROCESSORS);
    if (load(t, ptx)) status = mc_module_launch(t->module, &t->launch, t->diag);
    end(t);
    mc_diag_clear(t->diag);
    return status;
}

/* Whoever leaves a piece sets another mark: then who waits for it waits in vain. */
static void test_waiting(bench *t) {
    char mark[64], *ptx = strdup(mc_kernel_ptx(t->kernel));
    snprintf(mark, sizeof mark, "piece_flag, %llu;", (unsigned long long)STREAM_MARK);
    char *at = strstr(ptx, mark);
    CHECK(at != NULL, "no mark");
    if (at != NULL) at[strlen(mark) - 2] ^= 1;
    CHECK(limited(t, mc_kernel_ptx(t->kernel)) == MC_OK && limited(t, ptx) == MC_DEVICE, "nobody waits");
    free(ptx);
}

/* The workspace has room for so many thread blocks, however many there might be. */
static void test_grid(bench *t) {
    const int most = mc_kernel_contract(t->kernel)->turn_most;
    begin(t, "sim", 1000);
    if (load(t, mc_kernel_ptx(t->kernel)))
        CHECK(t->launch.grid[0] == (unsigned)most, "%u thread blocks", t->launch.grid[0]);
    end(t);
    begin(t, "sim", 0);
    if (load(t, mc_kernel_ptx(t->kernel)))
        CHECK(t->launch.grid[0] == 10, "%u thread blocks for 10 tiles", t->launch.grid[0]);
    end(t);
}

/* Consumers that share tiles, and that take them in turn. */
static void test_kernel(bench *t, const char *spec, const char *device, bool turns) {
    const mc_setting settings[] = {{"stream", "on"},
                                   {"tile_m", "64"},
                                   {"tile_n", "64"},
                                   {"consumers", turns ? "2" : "1"},
                                   {"store", "single"},
                                   {"stages", "3"},
                                   {"turns", turns ? "on" : "off"}};
    t->kernel = choices_kernel(spec, settings, sizeof settings / sizeof *settings, t->diag);
    CHECK(t->kernel != NULL, "%s", mc_diag_text(t->diag));
    if (t->kernel == NULL) return;
    test_launches(t, device != NULL ? device : "sim:seed=3");
    if (device == NULL) test_waiting(t), test_grid(t);
    mc_kernel_destroy(t->kernel);
}

int main(int argc, char **argv) {
    bench t = {.diag = mc_diag_create()};
    mc_device *device = NULL;
    if (argc != 2 && argc != 3) return 2;
    if (argc == 3 && mc_device_open(argv[2], &device, t.diag) != MC_OK) {
        printf("SKIPPED: %s\n", mc_diag_text(t.diag));
        mc_diag_destroy(t.diag);
        return SKIPPED;
    }
    mc_device_close(device);
    for (int turns = 0; turns < 2; turns++) test_kernel(&t, argv[1], argc == 3 ? argv[2] : NULL, turns);
    mc_diag_destroy(t.diag);
    return check_end();
}
