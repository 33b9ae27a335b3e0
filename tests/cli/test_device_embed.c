/* What the embedded runtime asks of the CUDA backend, against the fake driver: the caller's context, cubins,
   launches that only launch, copies on streams, graphs. test_device_embed works | named */
#include <dlfcn.h>
#include <stdlib.h>
#include "check.h"
#include "fake_cuda.h"
#include "mcrt_internal.h"

enum { CONTEXT_0, CONTEXT_1, CALLERS_CONTEXT = 41, CALLERS_STREAM = 45 }; /* where the driver's objects are */

static fake_cuda *fake;
static char *handles; /* of the driver */
static int (*set_current)(void *), (*get_current)(void **);
static mc_diag *diag;

static const char *message(void) { return mc_diag_text(diag); }

static void fresh(void) {
    mc_diag_clear(diag);
    fake->log[0] = '\0';
    fake->calls = fake->fail_at = 0;
}

static void *current(void) {
    void *context = NULL;
    (void)get_current(&context);
    return context;
}

static mc_device *open_device(const char *name) {
    mc_device *device;
    CHECK(mc_device_open(name, &device, diag) == MC_OK, "%s: %s", name, message());
    fresh();
    return device;
}

static void expect(mc_status got, mc_status want, const char *text) {
    CHECK(got == want, "status %d, want %d: %s", got, want, message());
    CHECK_TEXT(message(), text);
    mc_diag_clear(diag);
}

static void expect_log(const char *want) {
    CHECK(strcmp(fake->log, want) == 0, "want %s, got %s", want, fake->log);
    fresh();
}

/* -- The calling thread */

static void test_enter(void) {
    mc_device *device = open_device("cuda:1");
    int mode;
    (void)set_current(&handles[CALLERS_CONTEXT]);
    fake->capture_mode = 0;
    fresh();
    CHECK(!mc_device_is_current(device), "the caller's context is");
    expect(mc_device_enter(device, &mode, diag), MC_OK, "");
    CHECK(mc_device_is_current(device) && fake->capture_mode == 2, "mode %d", fake->capture_mode);
    expect(mc_device_synchronize(device, &handles[CALLERS_STREAM], diag), MC_OK, "");
    mc_device_leave(device, mode);
    CHECK(current() == &handles[CALLERS_CONTEXT] && fake->capture_mode == 0, "as it was");
    expect_log("cuCtxPushCurrent_v2 1\ncuThreadExchangeStreamCaptureMode 2\ncuCtxSetCurrent 1\n"
               "cuStreamSynchronize the caller's\n"
               "cuThreadExchangeStreamCaptureMode 0\ncuCtxPopCurrent_v2\n");
    fake->fail_at = 2;
    expect(mc_device_enter(device, &mode, diag), MC_DEVICE, "cuThreadExchangeStreamCaptureMode: ");
    CHECK(current() == &handles[CALLERS_CONTEXT], "a context was left behind");
    mc_device_close(device);
    CHECK(fake->alive == 0, "%d", fake->alive);
}

static void test_open_in(void) {
    mc_device *device;
    void *own = &handles[CONTEXT_1];
    (void)set_current(&handles[CALLERS_CONTEXT]);
    fresh();
    expect(mc_device_open_in("cuda:1", own, &device, diag), MC_OK, "");
    CHECK(strstr(fake->log, "PrimaryCtxRetain") == NULL, "%s", fake->log);
    mc_device_close(device);
    CHECK(strstr(fake->log, "PrimaryCtxRelease") == NULL, "%s", fake->log);
    expect(mc_device_open_in("auto", own, &device, diag), MC_OK, "");
    CHECK(strcmp(mc_device_get_info(device)->name, "Fake GPU 71") == 0, "%s",
          mc_device_get_info(device)->name);
    CHECK(mc_device_get_info(device)->ordinal == 1, "cuda:%d", mc_device_get_info(device)->ordinal);
    mc_device_close(device);
    expect(mc_device_open_in("cuda:0", own, &device, diag), MC_USAGE, "cuda:0: the context is another GPU's");
    CHECK(device == NULL);
    expect(mc_device_open_in("cuda:7", own, &device, diag), MC_CANNOT, "cuda:7: the driver sees 2 GPUs");
    expect(mc_device_open_in("sim", own, &device, diag), MC_USAGE, "the simulator works in no CUDA context");
    CHECK(current() == &handles[CALLERS_CONTEXT] && fake->alive == 0, "%d", fake->alive);
}

/* -- Compiling */

static void test_compile(void) {
    mc_device *device = open_device("cuda:0");
    mc_module *module;
    mc_image image;
    char *log;
    fake->jit_info = "ptxas info : Used 40 registers";
    expect(mc_device_compile(device, ".version 7.8", &image, &log, diag), MC_OK, "");
    expect_log("cuCtxSetCurrent 0\ncuLinkCreate_v2\ncuLinkAddData_v2 1 \".version 7.8\" 13\n"
               "cuLinkComplete\ncuLinkDestroy\n");
    CHECK(strcmp(log, fake->jit_info) == 0, "%s", log);
    CHECK(image.size == strlen("cubin of .version 7.8") + 1 &&
              strcmp(image.data, "cubin of .version 7.8") == 0,
          "%.20s", (char *)image.data);
    free(log);
    expect(mc_module_load_image(device, &image, "kernel", &module, diag), MC_OK, "");
    expect_log("cuCtxSetCurrent 0\ncuModuleLoadDataEx \"cubin of .version 7.\"\n"
               "cuModuleGetFunction kernel\ncuFuncLoad\n");
    mc_module_unload(module);
    mc_image_free(&image);
    CHECK(image.data == NULL && image.size == 0);
    fake->jit_info = NULL;
    expect(mc_device_compile(device, "x", &image, &log, diag), MC_OK, "");
    CHECK(strcmp(log, "") == 0, "%s", log);
    free(log);
    mc_image_free(&image);
    expect(mc_device_compile(device, "x", &image, NULL, diag), MC_OK, "");
    mc_image_free(&image);
    mc_device_close(device);
    CHECK(fake->alive == 0, "%d", fake->alive);
}

/* What the driver makes of setmaxnreg stays in its cache: by the linker that would have no effect. */
static void test_compile_whole(void) {
    static const char ptx[] = ".version 8.2\nsetmaxnreg.inc.sync.aligned.u32 232;";
    mc_device *device = open_device("cuda:0");
    mc_image image;
    char *log;
    expect(mc_device_compile(device, ptx, &image, &log, diag), MC_OK, "");
    expect_log("cuCtxSetCurrent 0\ncuModuleLoadDataEx \".version 8.2\nsetmaxn\"\ncuModuleUnload\n");
    CHECK(image.size == sizeof ptx && memcmp(image.data, ptx, sizeof ptx) == 0, "%zu", image.size);
    free(log);
    mc_image_free(&image);
    fake->jit_error = "ptxas fatal, line 2; syntax error\n";
    CHECK(mc_device_compile(device, ptx, &image, &log, diag) == MC_DEVICE && image.data == NULL);
    CHECK(strcmp(message(), "cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX: meaning of the error\n"
                            "ptxas fatal, line 2; syntax error") == 0,
          "%s", message());
    CHECK(strcmp(log, fake->jit_error) == 0, "%s", log);
    free(log);
    fake->jit_error = NULL;
    mc_device_close(device);
    CHECK(fake->alive == 0, "%d", fake->alive);
}

static void test_compile_errors(void) {
    mc_device *device = open_device("cuda:0");
    mc_image image;
    char *log;
    fake->jit_error = "ptxas fatal, line 12; syntax error\nptxas fatal: aborted\n";
    CHECK(mc_device_compile(device, "x", &image, &log, diag) == MC_DEVICE && image.data == NULL);
    CHECK(strcmp(message(), "cuLinkAddData: CUDA_ERROR_INVALID_PTX: meaning of the error\n"
                            "ptxas fatal, line 12; syntax error\nptxas fatal: aborted") == 0,
          "%s", message());
    CHECK(strcmp(log, fake->jit_error) == 0, "%s", log);
    free(log);
    /* a log that fills the buffer */
    static char longest[20000];
    memset(longest, 'e', sizeof longest - 1);
    fake->jit_error = longest;
    fresh();
    CHECK(mc_device_compile(device, "x", &image, &log, diag) == MC_DEVICE);
    CHECK(strlen(log) > 8000 && strspn(log, "e") == strlen(log), "%zu characters", strlen(log));
    free(log);
    fake->jit_error = NULL;
    mc_device_close(device);
    CHECK(fake->alive == 0, "%d", fake->alive);
}

/* -- Launches */

static const mc_launch launch = {
    .grid = {3, 2, 1}, .block = {128, 1, 1}, .shared_dynamic = 65536, .values = {1ull << 40, 77}, .count = 2};
#define LAUNCHED(stream) "cuLaunchKernel 3,2,1 128,1,1 shared 65536 stream " stream " args 1099511627776 77\n"

static void test_put(void) {
    mc_device *device = open_device("cuda:0");
    mc_module *module;
    int mode;
    expect(mc_module_load(device, "x", "kernel", &module, diag), MC_OK, "");
    expect(mc_device_enter(device, &mode, diag), MC_OK, "");
    fresh();
    expect(mc_module_prepare(module, &launch, diag), MC_OK, "");
    expect_log("cuFuncSetAttribute 8 65536\n");
    expect(mc_module_put(module, &launch, &handles[CALLERS_STREAM], diag), MC_OK, "");
    expect_log(LAUNCHED("the caller's"));
    expect(mc_module_put(module, &launch, NULL, diag), MC_OK, "");
    expect_log(LAUNCHED("none"));
    fake->params = 3;
    expect(mc_module_prepare(module, &launch, diag), MC_CANNOT,
           "the PTX's entry has 3 parameters, its contract 2");
    fake->params = 0;
    mc_device_leave(device, mode);
    mc_module_unload(module);
    mc_device_close(device);
    CHECK(fake->alive == 0, "%d", fake->alive);
}

/* What is written or filled is there for streams that do not wait for the default one. */
static void test_write(void) {
    mc_device *device = open_device("cuda:0");
    uint64_t address;
    expect(mc_device_alloc(device, 4, &address, diag), MC_OK, "");
    fresh();
    expect(mc_device_write(device, address, "abc", 4, diag), MC_OK, "");
    expect_log("cuCtxSetCurrent 0\ncuMemcpyHtoD_v2 4\ncuStreamSynchronize none\n");
    expect(mc_device_fill(device, address, 7, 4, diag), MC_OK, "");
    expect_log("cuCtxSetCurrent 0\ncuMemsetD8_v2 0x7 4\ncuStreamSynchronize none\n");
    mc_device_free(device, address);
    mc_device_close(device);
    CHECK(fake->alive == 0, "%d", fake->alive);
}

/* By a stream of its own that waits for none, made once: no capture elsewhere notices. */
static void test_upload(void) {
    char got[4] = "";
    (void)set_current(&handles[CALLERS_CONTEXT]);
    mc_device *device = open_device("cuda:0");
    uint64_t address;
    expect(mc_device_alloc(device, 4, &address, diag), MC_OK, "");
    fresh();
    expect(mc_device_upload(device, address, "abc", 4, diag), MC_OK, "");
    expect_log(
        "cuCtxSetCurrent 0\ncuStreamCreate 1\ncuMemcpyHtoDAsync_v2 4 stream own\ncuStreamSynchronize own\n");
    expect(mc_device_upload(device, address, "xyz", 4, diag), MC_OK, "");
    expect_log("cuCtxSetCurrent 0\ncuMemcpyHtoDAsync_v2 4 stream own\ncuStreamSynchronize own\n");
    expect(mc_device_upload(device, address, "", 0, diag), MC_OK, "");
    expect_log("");
    expect(mc_device_read(device, address, got, 4, diag), MC_OK, "");
    CHECK(strcmp(got, "xyz") == 0, "%s", got);
    mc_device_free(device, address);
    (void)set_current(&handles[CALLERS_CONTEXT]);
    mc_device_close(device);
    CHECK(fake->alive == 0 && current() == &handles[CALLERS_CONTEXT], "%d", fake->alive);
}

static void test_write_on(void) {
    char got[4] = "";
    for (int host_tables = 0; host_tables <= 1; host_tables++) {
        fake->host_tables = host_tables;
        mc_device *device = open_device("cuda:0");
        void *stream = &handles[CALLERS_STREAM];
        uint64_t address;
        expect(mc_device_alloc(device, 4, &address, diag), MC_OK, "");
        fresh();
        expect(mc_device_write_on(device, address, "abc", 4, stream, diag), MC_OK, "");
        expect_log(host_tables
                       ? "cuCtxSetCurrent 0\ncuStreamIsCapturing the caller's\n"
                         "cuMemcpyHtoDAsync_v2 4 stream the caller's\ncuStreamSynchronize the caller's\n"
                       : "cuCtxSetCurrent 0\ncuStreamIsCapturing the caller's\n"
                         "cuMemcpyHtoDAsync_v2 4 stream the caller's\n");
        expect(mc_device_read(device, address, got, 4, diag), MC_OK, "");
        CHECK(strcmp(got, "abc") == 0, "%s", got);
        fake->captured = 1;
        expect(mc_device_write_on(device, address, "xyz", 4, stream, diag), MC_CANNOT,
               "on a stream that is being captured");
        fake->captured = 0;
        expect(mc_device_write_on(device, address, "", 0, stream, diag), MC_OK, "");
        mc_device_free(device, address);
        mc_device_close(device);
    }
    fake->host_tables = 0;
    CHECK(fake->alive == 0, "%d", fake->alive);
}

/* On a stream, which is waited for; one that is being captured is refused before anything is put on it. */
static void test_read_on(void) {
    char got[4] = "";
    mc_device *device = open_device("cuda:0");
    void *stream = &handles[CALLERS_STREAM], *own = NULL;
    uint64_t address;
    expect(mc_device_alloc(device, 4, &address, diag), MC_OK, "");
    expect(mc_device_upload(device, address, "abc", 4, diag), MC_OK, "");
    fresh();
    expect(mc_device_read_on(device, address, got, 4, stream, diag), MC_OK, "");
    expect_log(
        "cuCtxSetCurrent 0\ncuMemcpyDtoHAsync_v2 4 stream the caller's\ncuStreamSynchronize the caller's\n");
    CHECK(strcmp(got, "abc") == 0, "%s", got);
    expect(mc_device_read_on(device, address, got, 0, stream, diag), MC_OK, "");
    expect_log("");
    expect(mc_device_check_stream(device, stream, diag), MC_OK, "");
    fake->captured = 1;
    expect(mc_device_check_stream(device, stream, diag), MC_CANNOT, "the stream is being captured");
    fake->captured = 0;
    fresh();
    expect(mc_device_own_stream(device, &own, diag), MC_OK, "");
    expect_log("cuCtxSetCurrent 0\n"); /* made by the upload */
    CHECK(own != NULL && own != stream);
    mc_device_free(device, address);
    mc_device_close(device);
    CHECK(fake->alive == 0, "%d", fake->alive);
}

static void test_graph(void) {
    static const float elapsed[] = {0.25f, 1.5f, 0.75f};
    mc_device *device = open_device("cuda:0");
    mc_launch launches[] = {launch, launch};
    mc_module *module;
    mc_graph *graph;
    double us;
    launches[1].values[1] = 88;
    expect(mc_module_load(device, "x", "kernel", &module, diag), MC_OK, "");
    expect(mc_graph_create(module, launches, 0, &graph, diag), MC_USAGE, "a graph of no launches");
    expect(mc_graph_create(module, launches, 2, &graph, diag), MC_OK, "");
    CHECK_TEXT(fake->log, LAUNCHED("own") "cuLaunchKernel 3,2,1 128,1,1 shared 65536 stream own args "
                                          "1099511627776 88\ncuStreamEndCapture\n");
    fake->elapsed = elapsed;
    expect(mc_graph_replay(graph, &us, diag), MC_OK, "");
    CHECK(us == 250, "%f", us);
    fresh();
    expect(mc_graph_replay(graph, &us, diag), MC_OK, "");
    CHECK(us == 1500, "%f", us);
    expect_log("cuCtxSetCurrent 0\ncuEventRecord 20\ncuGraphLaunch\ncuEventRecord 21\ncuEventSynchronize 21\n"
               "cuEventElapsedTime\n");
    fresh();
    expect(mc_graph_replay_last(graph, 0, &us, diag), MC_USAGE, "0 replays: want at least 1");
    expect(mc_graph_replay_last(graph, 2, &us, diag), MC_OK, "");
    CHECK(us == 750, "%f", us);
    expect_log("cuCtxSetCurrent 0\ncuGraphLaunch\ncuEventRecord 20\ncuGraphLaunch\ncuEventRecord 21\n"
               "cuEventSynchronize 21\ncuEventElapsedTime\n");
    mc_graph_destroy(graph);
    mc_graph_destroy(NULL);
    mc_module_unload(module);
    mc_device_close(device);
    CHECK(fake->alive == 0, "%d", fake->alive);
}

/* -- Failures */

typedef struct used {
    mc_device *device;
    mc_image image;
    mc_module *module;
    mc_graph *graph;
    uint64_t address;
    int mode;
    bool entered;
} used;

/* A use of everything, up to the first error. */
static mc_status use_all(used *u) {
    double us;
    mc_status status = mc_device_open_in("cuda:1", &handles[CONTEXT_1], &u->device, diag);
    if (status == MC_OK) status = mc_device_enter(u->device, &u->mode, diag);
    u->entered = status == MC_OK;
    if (status == MC_OK) status = mc_device_compile(u->device, "x", &u->image, NULL, diag);
    if (status == MC_OK) status = mc_module_load_image(u->device, &u->image, "kernel", &u->module, diag);
    if (status == MC_OK) status = mc_device_alloc(u->device, 8, &u->address, diag);
    if (status == MC_OK) status = mc_device_upload(u->device, u->address, "x", 1, diag);
    if (status == MC_OK) status = mc_device_write_on(u->device, u->address, "x", 1, NULL, diag);
    if (status == MC_OK) status = mc_module_prepare(u->module, &launch, diag);
    if (status == MC_OK) status = mc_module_put(u->module, &launch, NULL, diag);
    if (status == MC_OK) status = mc_graph_create(u->module, &launch, 1, &u->graph, diag);
    if (status == MC_OK) status = mc_graph_replay(u->graph, &us, diag);
    if (status == MC_OK) status = mc_device_synchronize(u->device, NULL, diag);
    return status;
}

static mc_status use_once(int fail_at) {
    static const float elapsed[] = {1};
    used u = {0};
    fresh();
    fake->elapsed = elapsed;
    fake->fail_at = fail_at;
    mc_status status = use_all(&u);
    fake->fail_at = 0;
    mc_graph_destroy(u.graph);
    mc_module_unload(u.module);
    mc_image_free(&u.image);
    if (u.device != NULL) mc_device_free(u.device, u.address);
    if (u.entered) mc_device_leave(u.device, u.mode);
    mc_device_close(u.device);
    return status;
}

static void test_every_failure(void) {
    int fail_at = 1;
    (void)set_current(&handles[CALLERS_CONTEXT]);
    for (; use_once(fail_at) != MC_OK && fail_at < 200; fail_at++) {
        CHECK_TEXT(message(), ": CUDA_ERROR_INVALID_VALUE: meaning of the error");
        CHECK(mc_diag_count(diag) == 1, "%s", message());
        CHECK(fake->alive == 0, "call %d fails: %d objects left\n%s", fail_at, fake->alive, fake->log);
        CHECK(current() == &handles[CALLERS_CONTEXT] && fake->capture_mode == 0, "call %d fails", fail_at);
    }
    CHECK(fail_at > 45 && fail_at < 200, "%d calls", fail_at);
}

static void test_build(const char *want) {
    mc_device *device = open_device("cuda:0");
    CHECK(strcmp(mc_device_build(device), want) == 0, "%s", mc_device_build(device));
    mc_device_close(device);
}

int main(int argc, char **argv) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    fake = library ? dlsym(library, "fake_cuda_state") : NULL;
    handles = library ? dlsym(library, "fake_cuda_handles") : NULL;
    if (argc != 2 || fake == NULL || handles == NULL) return 2;
    *(void **)&set_current = dlsym(library, "cuCtxSetCurrent");
    *(void **)&get_current = dlsym(library, "cuCtxGetCurrent");
    diag = mc_diag_create();
    if (strcmp(argv[1], "named") == 0) {
        test_build("580.95.05");
    } else {
        test_build("577.12.01");
        test_enter();
        test_open_in();
        test_compile();
        test_compile_whole();
        test_compile_errors();
        test_put();
        test_write();
        test_upload();
        test_write_on();
        test_read_on();
        test_graph();
        test_every_failure();
    }
    mc_diag_destroy(diag);
    return check_end();
}
