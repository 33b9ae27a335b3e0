/* The simulator as a device: memory, errors with the simulator's words, and what it cannot do. */
#include <pthread.h>
#include <stdlib.h>
#include "check.h"
#include "mcrt_internal.h"

static const char ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry store(.param .u64 to, .param .s32 value)\n{\n"
                          "    .reg .u64 %to;\n    .reg .s32 %value;\n"
                          "    ld.param.u64 %to, [to];\n    ld.param.s32 %value, [value];\n"
                          "    st.global.s32 [%to], %value;\n    ret;\n}\n";

static mc_diag *diag;

static void expect(mc_status got, mc_status want, const char *text) {
    CHECK(got == want, "status %d, want %d: %s", got, want, mc_diag_text(diag));
    CHECK_TEXT(mc_diag_text(diag), text);
    mc_diag_clear(diag);
}

static void test_memory(mc_device *device) {
    uint64_t address;
    char bytes[8];
    expect(mc_device_alloc(device, 8, &address, diag), MC_OK, "");
    expect(mc_device_write(device, address, "abcd", 4, diag), MC_OK, "");
    expect(mc_device_read(device, address, bytes, 4, diag), MC_OK, "");
    CHECK(memcmp(bytes, "abcd", 4) == 0);
    expect(mc_device_read(device, address, bytes, 5, diag), MC_DEVICE, "never written");
    expect(mc_device_fill(device, address, 'x', 8, diag), MC_OK, "");
    expect(mc_device_read(device, address, bytes, 8, diag), MC_OK, "");
    CHECK(memcmp(bytes, "xxxxxxxx", 8) == 0);
    expect(mc_device_write(device, address + 1, "abcdefgh", 8, diag), MC_DEVICE, "out of bounds");
    expect(mc_device_read(device, address + 8, bytes, 0, diag), MC_OK, "");
    mc_device_free(device, address);
    expect(mc_device_read(device, address, bytes, 1, diag), MC_DEVICE, "simulator: ");
}

static void test_module(mc_device *device) {
    mc_module *module;
    uint64_t address;
    int32_t stored = 0;
    double time;
    expect(mc_device_alloc(device, 4, &address, diag), MC_OK, "");
    mc_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .values = {address, (uint32_t)-5}, .count = 2};
    expect(mc_module_load(device, ptx, "store", &module, diag), MC_OK, "");
    expect(mc_module_launch(module, &launch, diag), MC_OK, "");
    expect(mc_device_read(device, address, &stored, 4, diag), MC_OK, "");
    CHECK(stored == -5, "%d", stored);
    expect(mc_module_time(module, &launch, 1, 1, &time, diag), MC_CANNOT, "timing needs a GPU");
    expect(mc_module_enqueue(module, &launch, NULL, diag), MC_CANNOT, "the simulator has no streams");
    launch.values[0] = address + 4;
    expect(mc_module_launch(module, &launch, diag), MC_DEVICE, "line 10, block (0,0,0), thread (0,0,0)");
    mc_module_unload(module);
    mc_device_free(device, address);
    expect(mc_module_load(device, ptx, "other", &module, diag), MC_DEVICE, "other");
    CHECK(module == NULL);
    expect(mc_module_load(device, ".version 7.0\nnonsense", "store", &module, diag), MC_DEVICE, "line 2");
    CHECK(module == NULL);
}

static const char tensor_ptx[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n"
    ".visible .entry row(.param .u64 to, .param .align 64 .b8 map[128])\n{\n"
    "    .reg .b64 %to, %map; .reg .b32 %r<3>; .reg .pred %p; .shared .align 128 .b8 box[256]; .shared .b64 "
    "full;\n"
    "    ld.param.u64 %to, [to]; mov.b64 %map, map; cvta.param.u64 %map, %map; mbarrier.init.shared.b64 "
    "[full], 1;\n"
    "    fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared.b64 _, [full], 256;\n"
    "    cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [box], [%map, {4, 2}], "
    "[full];\n"
    "W:  mbarrier.try_wait.parity.shared.b64 %p, [full], 0; @!%p bra W;\n"
    "    ld.shared.b32 %r1, [box]; st.global.b32 [%to], %r1; ret;\n}\n";

/* A kernel that takes a map by value. */
static void test_tensor_map(mc_device *device) {
    int32_t elements[16 * 16], got = 0;
    mc_tensor tensor = {.type = MC_S32, .rank = 2, .dims = {16, 16}, .strides = {64}, .box = {16, 4}};
    mc_module *module;
    mc_tensor_map map;
    uint64_t to;
    for (int i = 0; i < 256; i++) elements[i] = 1000 + i;
    expect(mc_device_alloc(device, sizeof elements, &tensor.address, diag), MC_OK, "");
    expect(mc_device_write(device, tensor.address, elements, sizeof elements, diag), MC_OK, "");
    expect(mc_device_alloc(device, 4, &to, diag), MC_OK, "");
    expect(mc_device_tensor_map(device, &tensor, &map, diag), MC_OK, "");
    mc_launch launch = {
        .grid = {1, 1, 1}, .block = {1, 1, 1}, .values = {to}, .maps = {[1] = &map}, .count = 2};
    expect(mc_module_load(device, tensor_ptx, "row", &module, diag), MC_OK, "");
    expect(mc_module_launch(module, &launch, diag), MC_OK, "");
    expect(mc_device_read(device, to, &got, 4, diag), MC_OK, "");
    CHECK(got == 1000 + 2 * 16 + 4, "%d", got);
    launch.maps[1] = NULL;
    expect(mc_module_launch(module, &launch, diag), MC_CANNOT, "parameter 1 has 128 bytes");
    mc_module_unload(module);
    tensor.strides[0] = 60;
    expect(mc_device_tensor_map(device, &tensor, &map, diag), MC_DEVICE, "stride 60");
    tensor.rank = 0;
    expect(mc_device_tensor_map(device, &tensor, &map, diag), MC_USAGE, "rank 0");
}

/* -- What the embedded runtime asks for */

static void test_image(mc_device *device) {
    static const char text[] = "no PTX";
    const mc_image cut = {(void *)(uintptr_t)ptx, sizeof ptx - 1}, empty = {0},
                   other = {(void *)(uintptr_t)text, sizeof text};
    mc_module *module;
    mc_image image;
    char *log = NULL;
    CHECK(strncmp(mc_device_build(device), "ptxsim ", 7) == 0, "%s", mc_device_build(device));
    expect(mc_device_compile(device, ptx, &image, &log, diag), MC_OK, "");
    CHECK(log != NULL && strcmp(log, "") == 0);
    CHECK(image.size == sizeof ptx && memcmp(image.data, ptx, sizeof ptx) == 0);
    expect(mc_module_load_image(device, &image, "store", &module, diag), MC_OK, "");
    mc_module_unload(module);
    mc_image_free(&image);
    free(log);
    expect(mc_device_compile(device, ".version 7.0\nnonsense", &image, &log, diag), MC_DEVICE, "line 2");
    CHECK(image.data == NULL && log != NULL);
    free(log);
    expect(mc_module_load_image(device, &cut, "store", &module, diag), MC_FORMAT, "not of the simulator");
    expect(mc_module_load_image(device, &empty, "store", &module, diag), MC_FORMAT, "not of the simulator");
    expect(mc_module_load_image(device, &other, "store", &module, diag), MC_DEVICE, "line 1");
    CHECK(module == NULL);
}

static void test_put(mc_device *device) {
    mc_module *module;
    mc_graph *graph;
    uint64_t address;
    int32_t stored[2] = {0};
    double us = 0;
    int mode, some_stream;
    expect(mc_device_enter(device, &mode, diag), MC_OK, "");
    CHECK(mc_device_is_current(device));
    expect(mc_device_alloc(device, 8, &address, diag), MC_OK, "");
    expect(mc_device_write_on(device, address, stored, 8, &some_stream, diag), MC_OK, "");
    mc_launch launches[] = {
        {.grid = {1, 1, 1}, .block = {1, 1, 1}, .values = {address, 5}, .count = 2},
        {.grid = {1, 1, 1}, .block = {64, 1, 1}, .values = {address + 4, 6}, .count = 2},
    };
    expect(mc_module_load(device, ptx, "store", &module, diag), MC_OK, "");
    expect(mc_module_prepare(module, &launches[0], diag), MC_OK, "");
    expect(mc_module_put(module, &launches[0], &some_stream, diag), MC_OK, "");
    expect(mc_device_synchronize(device, &some_stream, diag), MC_OK, "");
    expect(mc_device_read(device, address, stored, 8, diag), MC_OK, "");
    CHECK(stored[0] == 5 && stored[1] == 0, "%d %d", stored[0], stored[1]);
    expect(mc_graph_create(module, launches, 1, &graph, diag), MC_OK, "");
    launches[0].values[1] = 7; /* a graph has its own */
    expect(mc_graph_replay(graph, &us, diag), MC_OK, "");
    CHECK(us == 0.004, "one warp's four instructions: %g us", us);
    mc_graph_destroy(graph);
    expect(mc_device_read(device, address, stored, 4, diag), MC_OK, "");
    CHECK(stored[0] == 5, "%d", stored[0]);
    launches[0].count = 3;
    expect(mc_module_prepare(module, &launches[0], diag), MC_CANNOT, "has 2 parameters, its contract 3");
    expect(mc_graph_create(module, launches, 2, &graph, diag), MC_CANNOT, "has 2 parameters, its contract 3");
    mc_module_unload(module);
    mc_device_free(device, address);
    mc_device_leave(device, mode);
}

/* A graph of two warps' launches that takes maps with it. */
static void test_graph(mc_device *device) {
    int32_t elements[16 * 16], got = 0;
    mc_tensor tensor = {.type = MC_S32, .rank = 2, .dims = {16, 16}, .strides = {64}, .box = {16, 4}};
    mc_module *module;
    mc_tensor_map map;
    mc_graph *graph;
    uint64_t to;
    double once, twice;
    for (int i = 0; i < 256; i++) elements[i] = 1000 + i;
    expect(mc_device_alloc(device, sizeof elements, &tensor.address, diag), MC_OK, "");
    expect(mc_device_write(device, tensor.address, elements, sizeof elements, diag), MC_OK, "");
    expect(mc_device_alloc(device, 4, &to, diag), MC_OK, "");
    expect(mc_device_tensor_map(device, &tensor, &map, diag), MC_OK, "");
    const mc_launch launch = {
        .grid = {1, 1, 1}, .block = {1, 1, 1}, .values = {to}, .maps = {[1] = &map}, .count = 2};
    const mc_launch both[] = {launch, launch};
    expect(mc_module_load(device, tensor_ptx, "row", &module, diag), MC_OK, "");
    expect(mc_graph_create(module, both, 1, &graph, diag), MC_OK, "");
    expect(mc_graph_replay(graph, &once, diag), MC_OK, "");
    mc_graph_destroy(graph);
    expect(mc_graph_create(module, both, 2, &graph, diag), MC_OK, "");
    memset(&map, 0, sizeof map);
    expect(mc_device_fill(device, to, 0, 4, diag), MC_OK, "");
    expect(mc_graph_replay(graph, &twice, diag), MC_OK, "");
    CHECK(once > 0 && twice == 2 * once, "%g and %g us", once, twice);
    expect(mc_device_read(device, to, &got, 4, diag), MC_OK, "");
    CHECK(got == 1000 + 2 * 16 + 4, "%d", got);
    expect(mc_graph_replay_last(graph, 3, &twice, diag), MC_OK, "");
    CHECK(twice == 2 * once, "the last of three: %g us", twice);
    mc_graph_destroy(graph);
    mc_module_unload(module);
}

/* Threads share a device: each one's stores are there, each one's fault is its own. */
typedef struct worker {
    mc_device *device;
    int number, wrong;
} worker;

static void *work(void *data) {
    worker *w = data;
    mc_diag *own = mc_diag_create();
    for (int i = 0; i < 40; i++) {
        mc_module *module = NULL;
        uint64_t address = 0;
        int32_t stored = 0;
        char fault[32];
        bool right = mc_device_alloc(w->device, 4, &address, own) == MC_OK;
        mc_launch launch = {.grid = {1, 1, 1},
                            .block = {1, 1, 1},
                            .values = {address, (uint64_t)(1000 * w->number + i)},
                            .count = 2};
        right = right && mc_module_load(w->device, ptx, "store", &module, own) == MC_OK;
        right = right && mc_module_put(module, &launch, NULL, own) == MC_OK;
        right = right && mc_device_read(w->device, address, &stored, 4, own) == MC_OK;
        right = right && stored == 1000 * w->number + i && mc_diag_count(own) == 0;
        mc_module_unload(module);
        snprintf(fault, sizeof fault, "absent%d", w->number);
        right = right && mc_module_load(w->device, ptx, fault, &module, own) == MC_DEVICE;
        right = right && strstr(mc_diag_text(own), fault) != NULL && mc_diag_count(own) == 1;
        mc_diag_clear(own);
        mc_device_free(w->device, address);
        w->wrong += !right;
    }
    mc_diag_destroy(own);
    return NULL;
}

static void test_threads(mc_device *device) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){device, i, 0};
        CHECK(pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(workers[i].wrong == 0, "thread %d: %d times", i, workers[i].wrong);
    }
}

int main(void) {
    static const char *const names[] = {"sim", "sim:reversed", "sim:seed=7", "sim:landing=first",
                                        "sim:seed=7:landing=last:limit=1000"};
    diag = mc_diag_create();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        mc_device *device;
        expect(mc_device_open(names[i], &device, diag), MC_OK, "");
        CHECK(mc_device_get_info(device)->kind == MC_DEVICE_SIM);
        test_memory(device);
        test_module(device);
        test_tensor_map(device);
        test_image(device);
        test_put(device);
        test_graph(device);
        test_threads(device);
        mc_device_close(device);
    }
    mc_diag_destroy(diag);
    return check_end();
}
