/* What the embedded runtime promises on a GPU, measured: runtime [FOLDER].
 * FOLDER, emptied before, becomes the cache.
 *
 *   first use of a kernel    nothing cached: read specs, choose, generate, compile, load, pack   under 150 ms
 *   warm plan                context up, matrix packed, kernel on disk: its module loaded, too   under 1 ms
 *   mc_execute               host time beyond a bare launch of the same function                 under 1 us
 *   elsewhere                the same where another CUDA context is current to the caller
 *   graph                    a captured execution, replayed 1000 times, right each time
 *   capture                  executions are captured while another thread makes plans
 *   values                   replaced in place, right afterwards
 *   contexts                 two in one process, one of them in a CUcontext of its own, and on every GPU,
 *                            from threads
 *
 * CUDA_CACHE_DISABLE=1 must be set, so that the driver's own cache takes no part. Exit status 77: no GPU. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>
#include "../check.h"
#include "mcrt_internal.h"
#include "device/cuda.h"
#include "layer.h"

enum { CAPTURE_GLOBAL = 0 }; /* CUstreamCaptureMode: the strictest */
enum { REPLAYS = 1000, LAUNCHES = 200, BATCHES = 50, THREAD_ROUNDS = 20, SIM_ROUNDS = 2, MOST_WORKERS = 12 };

static const layer_shape shapes[] = {
    {MC_OP_SPMM, MC_S8, MC_S8, MC_F16, 8, 512, 256, 2048, 0.9, MC_PER_ROW},
    {MC_OP_SPMM, MC_S8, MC_S8, MC_S32, 4, 512, 256, 2048, 0.8, MC_PER_NONE},
    {MC_OP_SPMM, MC_S16, MC_S8, MC_F16, 8, 512, 256, 1024, 0.9, MC_PER_ROW},
    {MC_OP_SPMM, MC_S4, MC_S4, MC_BF16, 8, 1024, 512, 1024, 0.95, MC_PER_COLUMN},
    {MC_OP_SDDMM, MC_S8, MC_S8, MC_F16, 8, 512, 1024, 256, 0.9, MC_PER_TENSOR},
    {MC_OP_SDDMM, MC_S4, MC_S4, MC_S32, 8, 512, 1024, 256, 0.9, MC_PER_NONE},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static mc_diag *diag;
static const char *cache;

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static bool works(mc_status status, const char *what) {
    CHECK(status == MC_OK, "%s: %s: %s", what, mc_status_text(status), mc_diag_text(diag));
    mc_diag_clear(diag);
    return status == MC_OK;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count) {
    qsort(values, count, sizeof values[0], compare_doubles);
    return values[count / 2];
}

static void log_line(void *user, mc_log_level level, const char *message) {
    if (level == MC_LOG_NOTE || getenv("RUNTIME_DETAIL") != NULL)
        fprintf(stderr, "%s: %s\n", (const char *)user, message);
}

static mc_context *open_context(const char *device, cuda_context own) {
    const mc_context_config config = {.size = sizeof config,
                                      .device = device,
                                      .cuda_context = own,
                                      .cache_directory = cache,
                                      .log = log_line,
                                      .log_user = (void *)(uintptr_t) "log"};
    mc_context *context = NULL;
    works(mc_context_create(&config, &context, diag), "mc_context_create");
    return context;
}

static void describe(const layer_shape *s, char *text, size_t size) {
    snprintf(text, size, "%s %s x %s -> %s V=%d %lld x %lld x %lld", s->op == MC_OP_SPMM ? "spmm" : "sddmm",
             mc_type_text(s->lhs), mc_type_text(s->rhs), mc_type_text(s->out), s->vec, (long long)s->m,
             (long long)s->n, (long long)s->k);
}

/* -- Plans: cold, then warm in a new context */

/* Poisoned, executed, right. */
static bool runs(layer *l, const mc_plan *plan, void *stream) {
    const mc_args args = layer_args(l);
    mc_status status = layer_poison(l, diag);
    if (status == MC_OK) status = mc_execute(plan, &args, 0, stream, diag);
    if (status == MC_OK) status = mc_synchronize(l->context, stream, diag);
    if (status == MC_OK) status = layer_check(l, diag);
    return works(status, "execution");
}

static double plan_us(layer *l, mc_plan **plan) {
    const mc_plan_config config = layer_plan(l);
    double begin = now_us();
    mc_status status = mc_plan_create(l->context, &config, plan, diag);
    double us = now_us() - begin;
    return works(status, "mc_plan_create") ? us : 0;
}

static void print_plan(const char *what, const layer *l, double us, const mc_plan *plan) {
    char text[128];
    mc_plan_info info = {.size = sizeof info};
    describe(&l->shape, text, sizeof text);
    if (plan == NULL || mc_plan_get_info(plan, &info, diag) != MC_OK) return;
    printf("%-12s %9.1f us  %-52s origin %d, %s\n", what, us, text, (int)info.origin, info.spec);
}

static void test_first(void) {
    mc_context *context = open_context("cuda:0", NULL);
    for (int i = 0; i < SHAPES && context != NULL; i++) {
        layer l;
        mc_plan *plan = NULL;
        if (works(layer_open(&l, context, &shapes[i], (uint64_t)i, diag), "layer_open")) {
            double us = plan_us(&l, &plan);
            print_plan("first use", &l, us, plan);
            CHECK(us < 150e3, "first use took %.1f ms", us / 1e3);
            if (plan != NULL) runs(&l, plan, NULL);
        }
        mc_plan_destroy(plan);
        layer_close(&l);
    }
    mc_context_destroy(context);
}

enum { WARM_ROUNDS = 5 };

/* Microseconds of a plan whose kernel is on disk and whose matrix is packed: an open kernel reads, as a rule,
   the arrays that the fixed one beside it does. *PACKED: bytes of those that it does not. */
static double warm_us(layer *l, mc_plan **plan, int64_t *packed) {
    mc_matrix_info before = {.size = sizeof before}, after = before;
    mc_plan_config open = layer_plan(l);
    mc_plan *other = NULL;
    open.shapes = MC_SHAPES_OPEN;
    works(mc_plan_create(l->context, &open, &other, diag), "open plan");
    mc_matrix_get_info(l->matrix, &before, diag);
    double us = plan_us(l, plan);
    mc_matrix_get_info(l->matrix, &after, diag);
    *packed = after.device_bytes - before.device_bytes;
    mc_plan_destroy(other);
    return us;
}

static void check_warm(layer *l, const mc_plan *plan, double us, int64_t packed) {
    mc_context_info info = {.size = sizeof info};
    print_plan("warm", l, us, plan);
    if (packed != 0) printf("             (packed anew: %lld bytes)\n", (long long)packed);
    CHECK(us < 1e3, "a warm plan took %.1f us", us);
    if (plan != NULL) runs(l, plan, NULL);
    mc_context_get_info(l->context, &info, diag);
    CHECK(info.kernels_compiled == 0, "%llu kernels were compiled",
          (unsigned long long)info.kernels_compiled);
}

/* In contexts of their own, since one context loads a kernel's module once. */
static void test_warm_shape(const layer_shape *shape, uint64_t seed) {
    double times[WARM_ROUNDS] = {0};
    for (int round = 0; round < WARM_ROUNDS; round++) {
        mc_context *context = open_context("cuda:0", NULL);
        layer l;
        mc_plan *plan = NULL;
        int64_t packed = 0;
        if (context == NULL) return;
        if (works(layer_open(&l, context, shape, seed, diag), "layer_open")) {
            times[round] = warm_us(&l, &plan, &packed);
            if (round == WARM_ROUNDS - 1) check_warm(&l, plan, median(times, WARM_ROUNDS), packed);
        }
        mc_plan_destroy(plan);
        layer_close(&l);
        mc_context_destroy(context);
    }
}

static void test_warm(void) {
    for (int i = 0; i < SHAPES; i++) test_warm_shape(&shapes[i], (uint64_t)i);
}

/* -- mc_execute beside a bare launch */

typedef struct bare_launch {
    const cuda_driver *driver;
    cuda_function function;
    mc_launch launch;
    void *pointers[MC_MAX_PARAMS];
    bool overlap;
} bare_launch;

static cuda_result launch_bare(bare_launch *b, cuda_stream stream) {
    const unsigned *grid = b->launch.grid, *block = b->launch.block;
    if (!b->overlap)
        return b->driver->LaunchKernel(b->function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                       b->launch.shared_dynamic, stream, b->pointers, NULL);
    cuda_launch_attribute attribute = {.id = CUDA_ATTRIBUTE_PROGRAMMATIC_SERIALIZATION, .value.allowed = 1};
    cuda_launch_config config = {.shared_bytes = b->launch.shared_dynamic,
                                 .stream = stream,
                                 .attributes = &attribute,
                                 .attribute_count = 1};
    memcpy(config.grid, grid, sizeof config.grid);
    memcpy(config.block, block, sizeof config.block);
    return b->driver->LaunchKernelEx(&config, b->function, b->pointers, NULL);
}

/* An empty kernel with the parameters that C has. */
static mc_module *load_empty(const mc_contract *c, mc_device *device) {
    char ptx[2048];
    int size =
        snprintf(ptx, sizeof ptx, ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry empty(\n");
    for (size_t i = 0; i < c->param_count; i++) {
        const mc_param *p = &c->params[i];
        bool map = p->kind == MC_PARAM_TENSOR_MAP;
        size += snprintf(ptx + size, sizeof ptx - (size_t)size, "  .param %s.%s p%zu%s%s\n",
                         map ? ".align 64 " : "", map ? "b8" : p->type, i, map ? "[128]" : "",
                         i + 1 < c->param_count ? "," : "");
    }
    snprintf(ptx + size, sizeof ptx - (size_t)size, ") { ret; }\n");
    mc_module *module = NULL;
    works(mc_module_load(device, ptx, "empty", &module, diag), "empty kernel");
    return module;
}

/* How long the host takes to launch an empty kernel with KERNEL's parameters: that is what a bare launch
   takes. Its grid is one block, so that no queue fills up. */
static double bare_us(const mc_kernel *kernel, mc_device *device, cuda_stream stream) {
    static _Alignas(64) unsigned char zeros[128];
    const mc_contract *c = mc_kernel_contract(kernel);
    const cuda_driver *driver = ((cuda_device_state *)device)->driver;
    mc_module *module = load_empty(c, device);
    if (module == NULL) return 0;
    bare_launch b = {.driver = driver,
                     .function = ((cuda_module_state *)module)->function,
                     .launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}},
                     .overlap = c->overlap};
    for (size_t i = 0; i < MC_MAX_PARAMS; i++) b.pointers[i] = zeros;
    double times[BATCHES];
    for (int batch = 0; batch < BATCHES; batch++) {
        double begin = now_us();
        for (int i = 0; i < LAUNCHES; i++) (void)launch_bare(&b, stream);
        times[batch] = (now_us() - begin) / LAUNCHES;
        (void)driver->StreamSynchronize(stream);
    }
    mc_module_unload(module);
    return median(times, BATCHES);
}

/* Few enough launches at a time not to fill the stream's queue, where the host would wait for the GPU. */
static double execute_us(const layer *l, const mc_plan *plan, cuda_stream stream) {
    const mc_args args = layer_args(l);
    double times[BATCHES];
    for (int batch = 0; batch < BATCHES; batch++) {
        double begin = now_us();
        for (int j = 0; j < LAUNCHES; j++) (void)mc_execute(plan, &args, 0, stream, NULL);
        times[batch] = (now_us() - begin) / LAUNCHES;
        works(mc_synchronize(l->context, stream, diag), "synchronize");
    }
    return median(times, BATCHES);
}

static void time_execute(mc_context *context, const layer_shape *shape, const char *what, mc_device *device,
                         cuda_stream stream, cuda_stream bare_stream) {
    layer l;
    mc_plan *plan = NULL;
    mc_plan_info info = {.size = sizeof info};
    mc_kernel *kernel = NULL;
    if (works(layer_open(&l, context, shape, 1, diag), "layer_open")) plan_us(&l, &plan);
    if (plan != NULL && works(mc_plan_get_info(plan, &info, diag), "info") &&
        works(mc_kernel_from_fields(info.fields, &kernel, diag), "mc_kernel_from_fields")) {
        double bare = bare_us(kernel, device, bare_stream), ours = execute_us(&l, plan, stream);
        char text[128];
        describe(shape, text, sizeof text);
        printf("%-12s %9.2f us  %-52s bare launch %.2f us%s\n", what, ours, text, bare,
               mc_kernel_contract(kernel)->map_count > 0 ? ", with a tensor map" : "");
        CHECK(ours - bare < 1, "mc_execute adds %.2f us", ours - bare);
        runs(&l, plan, stream);
    }
    mc_kernel_destroy(kernel);
    mc_plan_destroy(plan);
    layer_close(&l);
}

static void test_execute(mc_device *device, cuda_stream stream) {
    mc_context *context = open_context("cuda:0", NULL);
    for (int i = 0; i < SHAPES && context != NULL; i++)
        time_execute(context, &shapes[i], "execute", device, stream, stream);
    mc_context_destroy(context);
}

/* cuCtxCreate, which libmcrt itself has no use for. What was current stays so. */
static cuda_context own_cuda_context(const cuda_driver *driver) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW),
         *symbol = library ? dlsym(library, "cuCtxCreate_v2") : NULL;
    cuda_result (*create)(cuda_context *, unsigned, cuda_device) = NULL;
    cuda_context context = NULL, before = NULL;
    memcpy(&create, &symbol, sizeof symbol);
    (void)driver->CtxGetCurrent(&before);
    if (create == NULL || create(&context, 0, 0) != CUDA_SUCCESS) return NULL;
    (void)driver->CtxSetCurrent(before);
    return context;
}

/* Each execution then makes the plan's context current, and puts the caller's back. */
static void test_execute_elsewhere(mc_device *device, cuda_stream stream, cuda_context own) {
    mc_context *context = open_context("cuda:0", own);
    for (int i = 0; i < 2 && context != NULL; i++)
        time_execute(context, &shapes[i], "elsewhere", device, NULL, stream);
    mc_context_destroy(context);
}

/* -- Graphs and values */

static bool capture(const cuda_driver *driver, layer *l, const mc_plan *plan, cuda_stream stream,
                    cuda_graph_exec *exec) {
    const mc_args args = layer_args(l);
    cuda_graph graph = NULL;
    mc_status status = CUDA_CALL(driver, diag, StreamBeginCapture, stream, CAPTURE_GLOBAL);
    if (status == MC_OK) status = mc_execute(plan, &args, 0, stream, diag);
    cuda_result ended = driver->StreamEndCapture(stream, &graph);
    if (status == MC_OK) status = cuda_check(driver, ended, "cuStreamEndCapture", diag);
    if (status == MC_OK) status = CUDA_CALL(driver, diag, GraphInstantiateWithFlags, exec, graph, 0);
    if (graph != NULL) (void)driver->GraphDestroy(graph);
    return works(status, "capture");
}

static mc_status replay(const cuda_driver *driver, layer *l, cuda_graph_exec exec, cuda_stream stream) {
    mc_status status = layer_poison(l, diag);
    if (status == MC_OK) status = CUDA_CALL(driver, diag, GraphLaunch, exec, stream);
    if (status == MC_OK) status = mc_synchronize(l->context, stream, diag);
    return status == MC_OK ? layer_check(l, diag) : status;
}

/* How many were right; only the first that is wrong is told. Half way the values change: the graph's kernel
   reads the new ones. */
static int replay_all(const cuda_driver *driver, layer *l, cuda_graph_exec exec, cuda_stream stream) {
    int right = 0;
    for (int i = 0; i < REPLAYS; i++) {
        if (i == REPLAYS / 2 && l->shape.op == MC_OP_SPMM)
            works(layer_change_values(l, 77, stream, diag), "mc_matrix_set_values");
        mc_status status = replay(driver, l, exec, stream);
        if (status == MC_OK) right++;
        else if (right == i) works(status, "replay");
        mc_diag_clear(diag);
    }
    CHECK(right == REPLAYS, "%d of %d replays were right", right, REPLAYS);
    return right;
}

static void test_graph(const cuda_driver *driver, cuda_stream stream) {
    mc_context *context = open_context("cuda:0", NULL);
    for (int i = 0; i < SHAPES && context != NULL; i++) {
        layer l;
        mc_plan *plan = NULL;
        cuda_graph_exec exec = NULL;
        char text[128];
        int right = 0;
        if (works(layer_open(&l, context, &shapes[i], (uint64_t)i, diag), "layer_open")) plan_us(&l, &plan);
        if (plan != NULL && capture(driver, &l, plan, stream, &exec))
            right = replay_all(driver, &l, exec, stream);
        describe(&shapes[i], text, sizeof text);
        printf("graph        %d replays right  %s\n", right, text);
        if (exec != NULL) (void)driver->GraphExecDestroy(exec);
        mc_plan_destroy(plan);
        layer_close(&l);
    }
    mc_context_destroy(context);
}

/* -- Plans made while another thread captures */

typedef struct planner {
    mc_context *context;
    mc_status (*open)(layer *l, mc_context *context, const layer_shape *shape, uint64_t seed, mc_diag *diag);
    int64_t more; /* columns than the shapes have */
    atomic_bool stop;
    int plans;
    char message[512];
} planner;

/* New sizes each time: generated, compiled, loaded, packed. */
static int make_plans(void *argument) {
    planner *p = argument;
    mc_diag *own = mc_diag_create();
    while (!atomic_load(&p->stop) && p->message[0] == '\0') {
        layer_shape shape = shapes[p->plans % SHAPES];
        layer l;
        mc_plan *plan = NULL;
        shape.n += p->more + 8 * (p->plans / SHAPES);
        mc_status status = p->open(&l, p->context, &shape, 5, own);
        const mc_plan_config config = layer_plan(&l);
        if (status == MC_OK) status = mc_plan_create(p->context, &config, &plan, own);
        if (status != MC_OK) snprintf(p->message, sizeof p->message, "%s", mc_diag_text(own));
        mc_plan_destroy(plan);
        layer_close(&l);
        p->plans++;
    }
    mc_diag_destroy(own);
    return 0;
}

static void capture_beside(const cuda_driver *driver, cuda_stream stream, planner *p) {
    layer l;
    mc_plan *plan = NULL;
    thrd_t thread;
    int captured = 0;
    if (works(layer_open(&l, p->context, &shapes[1], 1, diag), "layer_open")) plan_us(&l, &plan);
    thrd_create(&thread, make_plans, p);
    for (double begin = now_us(); plan != NULL && now_us() - begin < 1e6;) {
        cuda_graph_exec exec = NULL;
        if (!capture(driver, &l, plan, stream, &exec)) break;
        (void)driver->GraphExecDestroy(exec);
        captured++;
    }
    atomic_store(&p->stop, true);
    thrd_join(thread, NULL);
    CHECK(captured > 0 && p->plans > 0 && p->message[0] == '\0', "%d plans: %s", p->plans, p->message);
    printf("capture      %d graphs captured%s while another thread made %d plans\n", captured,
           p->open == layer_open ? "" : ", of a stream that waits for the default one,", p->plans);
    mc_plan_destroy(plan);
    layer_close(&l);
}

/* What waits for the default stream, as writing memory does, is beside the first alone. */
static void test_capture_beside(const cuda_driver *driver, cuda_stream stream) {
    planner all = {.context = open_context("cuda:0", NULL), .open = layer_open, .more = 8};
    planner plans = {.context = all.context, .open = layer_open_matrix, .more = 1024};
    cuda_stream blocking = NULL;
    CHECK(driver->StreamCreate(&blocking, CUDA_STREAM_DEFAULT) == CUDA_SUCCESS, "cuStreamCreate");
    capture_beside(driver, stream, &all);
    capture_beside(driver, blocking, &plans);
    (void)driver->StreamDestroy(blocking);
    mc_context_destroy(all.context);
}

/* -- Several contexts at once */

typedef struct worker {
    const char *device;
    void *cuda_context;
    int index, rounds, right;
    char message[512];
} worker;

static mc_status work_once(mc_context *context, const worker *w, int round, mc_diag *own) {
    layer l;
    mc_plan *plan = NULL;
    mc_status status = layer_open(&l, context, &shapes[(w->index + round) % SHAPES], (uint64_t)round, own);
    if (status == MC_OK) {
        const mc_plan_config config = layer_plan(&l);
        status = mc_plan_create(context, &config, &plan, own);
    }
    const mc_args args = layer_args(&l);
    if (status == MC_OK) status = layer_poison(&l, own);
    if (status == MC_OK) status = mc_execute(plan, &args, 0, NULL, own);
    if (status == MC_OK) status = mc_synchronize(context, NULL, own);
    if (status == MC_OK) status = layer_check(&l, own);
    mc_plan_destroy(plan);
    layer_close(&l);
    return status;
}

static int run_worker(void *argument) {
    worker *w = argument;
    mc_diag *own = mc_diag_create();
    mc_context *context = NULL;
    const mc_context_config config = {.size = sizeof config,
                                      .device = w->device,
                                      .cuda_context = w->cuda_context,
                                      .cache_directory = cache};
    mc_status status = mc_context_create(&config, &context, own);
    for (int round = 0; round < w->rounds && status == MC_OK; round++) {
        status = work_once(context, w, round, own);
        w->right += status == MC_OK;
    }
    if (status != MC_OK) snprintf(w->message, sizeof w->message, "%s", mc_diag_text(own));
    mc_context_destroy(context);
    mc_diag_destroy(own);
    return 0;
}

static void test_contexts(const cuda_driver *driver, cuda_context own) {
    static char devices[8][16];
    int gpus = mc_device_cuda_count(), count = 0;
    worker workers[MOST_WORKERS] = {0};
    thrd_t threads[MOST_WORKERS];
    cuda_context before = NULL, current = NULL;
    (void)driver->CtxGetCurrent(&before);
    for (int i = 0; i < gpus && i < 4; i++) {
        snprintf(devices[i], sizeof devices[i], "cuda:%d", i);
        workers[count++] = (worker){.device = devices[i], .index = i, .rounds = THREAD_ROUNDS};
        workers[count++] = (worker){.device = devices[i], .index = i + 2, .rounds = THREAD_ROUNDS};
    }
    workers[count++] = (worker){.device = "cuda:0", .cuda_context = own, .index = 1, .rounds = THREAD_ROUNDS};
    workers[count++] = (worker){.device = "sim", .index = 4, .rounds = SIM_ROUNDS};
    for (int i = 0; i < count; i++) thrd_create(&threads[i], run_worker, &workers[i]);
    for (int i = 0; i < count; i++) {
        thrd_join(threads[i], NULL);
        CHECK(workers[i].right == workers[i].rounds, "%s: %d of %d were right: %s", workers[i].device,
              workers[i].right, workers[i].rounds, workers[i].message);
        printf("context %d    %d executions right on %s%s\n", i, workers[i].right, workers[i].device,
               workers[i].cuda_context != NULL ? ", in a CUcontext of the caller's" : "");
    }
    /* The caller's current context is as it was. */
    mc_context *context = open_context("cuda:0", NULL);
    CHECK(driver->CtxGetCurrent(&current) == CUDA_SUCCESS && current == before,
          "the current context changed");
    mc_context_destroy(context);
    CHECK(driver->CtxGetCurrent(&current) == CUDA_SUCCESS && current == before,
          "the current context changed");
}

int main(int argc, char **argv) {
    if (mc_device_cuda_count() == 0) {
        printf("SKIPPED: no GPU\n");
        return 77;
    }
    cache = argc > 1 ? argv[1] : "runtime-cache";
    diag = mc_diag_create();
    mc_device *device = NULL;
    if (!works(mc_device_open("cuda:0", &device, diag), "mc_device_open")) return check_end();
    const cuda_driver *driver = ((cuda_device_state *)device)->driver;
    cuda_stream stream = NULL;
    works(CUDA_CALL(driver, diag, CtxSetCurrent, ((cuda_device_state *)device)->context), "context");
    works(CUDA_CALL(driver, diag, StreamCreate, &stream, CUDA_STREAM_NON_BLOCKING), "stream");
    test_first();
    test_warm();
    cuda_context own = own_cuda_context(driver);
    test_execute(device, stream);
    test_execute_elsewhere(device, stream, own);
    test_graph(driver, stream);
    test_capture_beside(driver, stream);
    test_contexts(driver, own);
    mc_device_close(device);
    mc_diag_destroy(diag);
    return check_end();
}
