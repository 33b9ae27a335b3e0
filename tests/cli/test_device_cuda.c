/* The CUDA backend against the fake driver. The driver is loaded once a process, so each state of it is a run
   of its own: test_device_cuda absent | old | broken | no-device | works. */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include "check.h"
#include "fake_cuda.h"
#include "mcrt_internal.h"

static fake_cuda *fake;
static mc_diag *diag;

static const char *message(void) { return mc_diag_text(diag); }

static void fresh(void) {
    mc_diag_clear(diag);
    if (fake == NULL) return;
    fake->log[0] = '\0';
    fake->calls = fake->fail_at = 0;
}

/* -- States without a GPU */

static void expect_no_gpu(mc_status automatic, const char *want) {
    mc_device *device;
    CHECK(mc_device_cuda_count() == 0);
    CHECK(mc_device_open("cuda:0", &device, diag) == MC_CANNOT, "%s", message());
    CHECK(device == NULL);
    CHECK_TEXT(message(), want);
    fresh();
    CHECK(mc_device_open("auto", &device, diag) == automatic, "%s", message());
    if (automatic == MC_OK) CHECK(mc_device_get_info(device)->kind == MC_DEVICE_SIM);
    if (automatic == MC_OK) CHECK(mc_diag_count(diag) == 0, "the fallback is silent: %s", message());
    mc_device_close(device);
}

/* -- A driver that works */

static mc_device *open_device(const char *name) {
    mc_device *device;
    mc_status status = mc_device_open(name, &device, diag);
    CHECK(status == MC_OK, "%s: %s", name, message());
    return device;
}

static void test_info(void) {
    mc_device *device = open_device("auto");
    const mc_device_info *info = mc_device_get_info(device);
    CHECK(info->kind == MC_DEVICE_CUDA && info->capability == 90 && info->driver == 13000);
    CHECK(info->multiprocessors == 132 && info->memory == (uint64_t)1 << 34);
    CHECK(strcmp(info->name, "Fake GPU 70") == 0, "%s", info->name);
    CHECK(mc_device_cuda_count() == 2);
    mc_device_close(device);
    CHECK(fake->alive == 0);
}

static void test_names(void) {
    static const struct {
        const char *name;
        mc_status status;
        const char *want;
    } rows[] = {
        {"cuda:2", MC_CANNOT, "cuda:2: the driver sees 2 GPUs"},
        {"cuda:99999", MC_USAGE, "device 'cuda:99999'"},
        {"cuda:-1", MC_USAGE, "device 'cuda:-1'"},
        {"cuda:1x", MC_USAGE, "want auto"},
        {"cuda:", MC_USAGE, "want auto"},
        {"cuda", MC_USAGE, "want auto"},
        {"sim:", MC_USAGE, "want auto"},
        {"sim:landing=soon", MC_USAGE, "want auto"},
        {"sim:limit=5:landing=last", MC_USAGE, "want auto"},
        {"", MC_USAGE, "want auto"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mc_device *device;
        fresh();
        CHECK(mc_device_open(rows[i].name, &device, diag) == rows[i].status, "%s", rows[i].name);
        CHECK_TEXT(message(), rows[i].want);
        CHECK(device == NULL);
    }
}

static void test_memory(void) {
    mc_device *device = open_device("cuda:0"), *other = open_device("cuda:1");
    uint64_t address, nothing;
    char back[8] = "";
    CHECK(mc_device_alloc(device, 8, &address, diag) == MC_OK && address % 256 == 0);
    CHECK(mc_device_alloc(device, 0, &nothing, diag) == MC_OK && nothing != 0, "%s", message());
    CHECK(mc_device_fill(device, address, 0x41, 8, diag) == MC_OK);
    CHECK(mc_device_write(device, address + 2, "xyz", 3, diag) == MC_OK);
    CHECK(mc_device_read(device, address, back, 7, diag) == MC_OK && strcmp(back, "AAxyzAA") == 0, "%s",
          back);
    fresh();
    CHECK(mc_device_read(other, address, back, 1, diag) == MC_OK);
    CHECK(strcmp(fake->log, "cuCtxSetCurrent 1\ncuMemcpyDtoH_v2 1\n") == 0, "%s", fake->log);
    fresh();
    CHECK(mc_device_read(device, address, back, 1, diag) == MC_OK);
    CHECK(strcmp(fake->log, "cuCtxSetCurrent 0\ncuMemcpyDtoH_v2 1\n") == 0, "%s", fake->log);
    mc_device_free(device, address);
    mc_device_free(device, nothing);
    mc_device_free(device, 0);
    mc_device_close(other);
    mc_device_close(device);
    CHECK(fake->alive == 0, "%d", fake->alive);
}

static const mc_launch launch = {
    .grid = {3, 2, 1}, .block = {128, 1, 1}, .shared_dynamic = 65536, .values = {1ull << 40, 77}, .count = 2};

static void test_launch(void) {
    mc_device *device = open_device("cuda:0");
    mc_module *module;
    mc_launch small = launch;
    small.shared_dynamic = 0;
    CHECK(mc_module_load(device, ".version 7.0", "kernel", &module, diag) == MC_OK, "%s", message());
    CHECK_TEXT(fake->log, "cuModuleLoadDataEx \".version 7.0\"\ncuModuleGetFunction kernel\n");
    fresh();
    CHECK(mc_module_launch(module, &launch, diag) == MC_OK, "%s", message());
    CHECK(strcmp(fake->log, "cuCtxSetCurrent 0\ncuFuncSetAttribute 8 65536\n"
                            "cuLaunchKernel 3,2,1 128,1,1 shared 65536 stream none args 1099511627776 77\n"
                            "cuCtxSynchronize\n") == 0,
          "%s", fake->log);
    fresh();
    CHECK(mc_module_launch(module, &small, diag) == MC_OK);
    CHECK(strstr(fake->log, "cuFuncSetAttribute") == NULL, "%s", fake->log);
    fresh();
    CHECK(mc_module_enqueue(module, &small, NULL, diag) == MC_OK);
    CHECK_TEXT(fake->log, "cuLaunchKernel 3,2,1 128,1,1 shared 0 stream none");
    CHECK(strstr(fake->log, "cuCtxSynchronize") == NULL, "%s", fake->log);
    fresh();
    fake->params = 3;
    CHECK(mc_module_launch(module, &launch, diag) == MC_CANNOT);
    CHECK_TEXT(message(), "the PTX's entry has 3 parameters, its contract 2");
    CHECK(strstr(fake->log, "cuLaunchKernel") == NULL, "%s", fake->log);
    fake->params = 0;
    mc_module_unload(module);
    mc_device_close(device);
    CHECK(fake->alive == 0);
}

static void test_tensor_map(void) {
    static const mc_tensor tensor = {.type = MC_BF16,
                                     .rank = 2,
                                     .address = 4096,
                                     .dims = {100, 50},
                                     .strides = {256},
                                     .box = {64, 8},
                                     .swizzle = MC_SWIZZLE_128B};
    mc_tensor bad = tensor;
    mc_device *device = open_device("cuda:0");
    mc_module *module;
    mc_tensor_map map;
    mc_launch with_map = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .maps = {[2] = &map}, .count = 3};
    fresh();
    CHECK(mc_device_tensor_map(device, &tensor, &map, diag) == MC_OK, "%s", message());
    CHECK_TEXT(fake->log,
               "type 9 rank 2 at 0x1000 dims 100,50 stride 256 box 64,8 steps 1,1 interleave 0 swizzle 3 "
               "promotion 3 fill 0");
    bad.box[0] = 32, bad.swizzle = MC_SWIZZLE_64B;
    fresh();
    CHECK(mc_device_tensor_map(device, &bad, &map, diag) == MC_OK, "%s", message());
    CHECK_TEXT(fake->log, "box 32,8 steps 1,1 interleave 0 swizzle 2 promotion 0 fill 0");
    bad.rank = 4;
    CHECK(mc_device_tensor_map(device, &bad, &map, diag) == MC_USAGE);
    CHECK_TEXT(message(), "rank 4");
    CHECK(mc_device_tensor_map(device, &tensor, &map, diag) == MC_OK);
    CHECK(mc_module_load(device, "x", "kernel", &module, diag) == MC_OK);
    fake->params = 3;
    fresh();
    CHECK(mc_module_launch(module, &with_map, diag) == MC_CANNOT);
    CHECK_TEXT(message(), "parameter 2 has 8 bytes, and a tensor map is passed");
    fake->map_at = 2;
    fresh();
    CHECK(mc_module_launch(module, &with_map, diag) == MC_OK, "%s", message());
    CHECK_TEXT(fake->log, "map begins with 0x6d6d6d6d");
    fresh();
    with_map.maps[2] = NULL;
    CHECK(mc_module_launch(module, &with_map, diag) == MC_CANNOT);
    CHECK_TEXT(message(), "parameter 2 has 128 bytes, more than any");
    fake->params = fake->map_at = 0;
    mc_module_unload(module);
    mc_device_close(device);
    CHECK(fake->alive == 0);
}

static void test_load_errors(void) {
    mc_device *device = open_device("cuda:0");
    mc_module *module;
    fresh();
    fake->jit_error = "ptxas fatal, line 12; syntax error\nptxas fatal: aborted\n";
    CHECK(mc_module_load(device, "x", "kernel", &module, diag) == MC_DEVICE && module == NULL);
    CHECK(strcmp(message(), "cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX: meaning of the error\n"
                            "ptxas fatal, line 12; syntax error\nptxas fatal: aborted") == 0,
          "%s", message());
    fake->jit_error = NULL;
    fresh();
    CHECK(mc_module_load(device, "x", "absent", &module, diag) == MC_DEVICE && module == NULL);
    CHECK_TEXT(message(), "cuModuleGetFunction");
    mc_device_close(device);
    CHECK(fake->alive == 0);
}

static void expect_time(mc_module *module, const float *elapsed, int launches, int rounds, double want) {
    double got;
    fake->elapsed = elapsed;
    CHECK(mc_module_time(module, &launch, launches, rounds, &got, diag) == MC_OK, "%s", message());
    CHECK(fabs(got - want) < 1e-9, "want %f us, got %f", want, got);
    CHECK(fake->elapsed == elapsed + rounds);
}

static int occurrences(const char *text, const char *word) {
    int count = 0;
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) count++;
    return count;
}

static void test_time(void) {
    static const float elapsed[] = {30, 10, 50, 20, 40};
    mc_device *device = open_device("cuda:0");
    mc_module *module;
    double time;
    CHECK(mc_module_load(device, "x", "kernel", &module, diag) == MC_OK);
    fresh();
    expect_time(module, elapsed, 20, 5, 1500); /* the middle one of five */
    CHECK(occurrences(fake->log, "cuLaunchKernel") == 20);
    CHECK(occurrences(fake->log, "stream own") == 20);
    CHECK(occurrences(fake->log, "cuGraphLaunch") == 6, "5 and a warm-up");
    CHECK_TEXT(fake->log, "cuEventRecord 20\ncuGraphLaunch\ncuEventRecord 21\ncuEventSynchronize 21\n");
    expect_time(module, elapsed, 10, 4, 2500); /* between the middle two of four */
    expect_time(module, elapsed, 1, 1, 30000);
    CHECK(mc_module_time(module, &launch, 0, 5, &time, diag) == MC_USAGE);
    CHECK(mc_module_time(module, &launch, 5, 0, &time, diag) == MC_USAGE);
    mc_module_unload(module);
    mc_device_close(device);
    CHECK(fake->alive == 0);
}

/* A use of everything, up to the first error. */
static mc_status use_all(mc_device *device, mc_module **module, uint64_t *address) {
    char byte = 0;
    double time;
    mc_status status = mc_device_alloc(device, 8, address, diag);
    if (status == MC_OK) status = mc_device_fill(device, *address, 1, 8, diag);
    if (status == MC_OK) status = mc_device_write(device, *address, &byte, 1, diag);
    if (status == MC_OK) status = mc_device_read(device, *address, &byte, 1, diag);
    if (status == MC_OK) status = mc_module_load(device, "x", "kernel", module, diag);
    if (status == MC_OK) status = mc_module_launch(*module, &launch, diag);
    if (status == MC_OK) status = mc_module_time(*module, &launch, 2, 3, &time, diag);
    return status;
}

static mc_status use_once(int fail_at) {
    static const float elapsed[] = {1, 2, 3};
    mc_device *device;
    mc_module *module = NULL;
    uint64_t address = 0;
    fresh();
    fake->elapsed = elapsed;
    fake->fail_at = fail_at;
    mc_status status = mc_device_open("cuda:1", &device, diag);
    if (status == MC_OK) status = use_all(device, &module, &address);
    fake->fail_at = 0;
    mc_module_unload(module);
    if (device != NULL) mc_device_free(device, address);
    mc_device_close(device);
    return status;
}

/* Whichever call fails, the error names it and nothing stays behind. */
static void test_every_failure(void) {
    int fail_at = 1;
    for (; use_once(fail_at) != MC_OK && fail_at < 200; fail_at++) {
        CHECK_TEXT(message(), ": CUDA_ERROR_INVALID_VALUE: meaning of the error");
        CHECK(mc_diag_count(diag) == 1, "%s", message());
        CHECK(fake->alive == 0, "call %d fails: %d objects left\n%s", fail_at, fake->alive, fake->log);
    }
    CHECK(fail_at > 40 && fail_at < 200, "%d calls", fail_at);
}

static void test_driver_that_works(void) {
    test_info();
    test_names();
    test_memory();
    test_launch();
    test_tensor_map();
    test_load_errors();
    test_time();
    test_every_failure();
}

int main(int argc, char **argv) {
    const char *state = argc > 1 ? argv[1] : "";
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library != NULL) fake = dlsym(library, "fake_cuda_state");
    if (strcmp(state, "absent") == 0 && library != NULL) return 77; /* skipped: the machine has a driver */
    diag = mc_diag_create();
    if (strcmp(state, "absent") == 0) expect_no_gpu(MC_OK, "no CUDA driver: libcuda.so.1");
    else if (strcmp(state, "old") == 0) expect_no_gpu(MC_CANNOT, "the CUDA driver has no cuEventElapsedTime");
    else if (strcmp(state, "broken") == 0) expect_no_gpu(MC_CANNOT, "cuInit: unknown CUDA error 999");
    else if (strcmp(state, "no-device") == 0)
        expect_no_gpu(MC_OK, "cuInit: CUDA_ERROR_NO_DEVICE: meaning of the error");
    else CHECK(fake != NULL, "the fake driver is not the one found");
    if (strcmp(state, "works") == 0 && fake != NULL) test_driver_that_works();
    mc_diag_destroy(diag);
    return check_end();
}
