/* mc_execute, on a driver that is a fake: one launch with every address where the kernel's contract has it,
   and nothing else: no allocation, no lock, no other call of the driver's. And what it refuses. */
#include <dlfcn.h>
#include <pthread.h>
#include "cli/fake_cuda.h"
#include "plan/plan.h"
#include "product.h"

mc_diag *diag;
static fake_cuda *fake;
static char *handles; /* the driver's objects; those from 41 on are nobody's */
static int (*set_current)(void *), (*get_current)(void **);

enum { CONTEXT_0, CALLERS_CONTEXT = 41, CALLERS_STREAM = 45 };

/* -- What mc_execute must not do (linked with --wrap) */

static int allocations, locks;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);

void *__wrap_malloc(size_t size) {
    allocations++;
    return __real_malloc(size);
}
void *__wrap_calloc(size_t count, size_t size) {
    allocations++;
    return __real_calloc(count, size);
}
void *__wrap_realloc(void *old, size_t size) {
    allocations++;
    return __real_realloc(old, size);
}
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex) {
    locks++;
    return __real_pthread_mutex_lock(mutex);
}

/* -- What a launch gets */

static uint64_t launched[MC_MAX_PARAMS];

static size_t launches, first_count; /* first_count: parameters of the first one, where these are others */
static uint64_t first_launched[MC_MAX_PARAMS];

static void keep_values(void *const *params) {
    bool other = launches++ == 0 && first_count > 0;
    for (size_t i = 0; other && i < first_count; i++) first_launched[i] = *(const uint64_t *)params[i];
    if (other) return;
    for (size_t i = 0; i < fake->params; i++) memcpy(&launched[i], params[i], sizeof launched[i]);
}

/* The parameter NAME of the last launch. */
static uint64_t value_of(const mc_contract *contract, const char *name) {
    for (size_t i = 0; i < contract->param_count; i++)
        if (strcmp(contract->params[i].name, name) == 0)
            return strcmp(contract->params[i].type, "u64") == 0 ? launched[i] : (uint32_t)launched[i];
    CHECK(false, "the kernel has no parameter %s", name);
    return 0;
}

/* The fake's kernels have as many parameters as it is told, one of them a tensor map (0: none): those of the
   contract are found by trying. */
static bool try_params(product *p, size_t map_at) {
    mc_status status = MC_CANNOT;
    fake->map_at = map_at;
    for (fake->params = map_at + 1; status != MC_OK && fake->params < MC_MAX_PARAMS; fake->params++)
        status = mc_plan_create(p->context, &p->config, &p->plan, NULL);
    fake->params--;
    return status == MC_OK;
}

static bool make_plan(product *p) {
    bool made = try_params(p, 0);
    CHECK(made, "%s: no plan", p->kind->name);
    return made;
}

static void execute(const product *p, const char *log) {
    fake->log[0] = '\0';
    allocations = locks = 0;
    launches = 0;
    mc_status status = mc_execute(p->plan, &p->args, p->workspace, &handles[CALLERS_STREAM], diag);
    CHECK(allocations == 0 && locks == 0, "%d allocations, %d locks", allocations, locks);
    CHECK(status == MC_OK, "%s", mc_diag_text(diag));
    char calls[sizeof fake->log] = "";
    size_t used = 0;
    for (const char *c = fake->log; *c != '\0'; c += strcspn(c, "\n") + 1)
        used += (size_t)snprintf(calls + used, sizeof calls - used, "%.*s ", (int)strcspn(c, " \n"), c);
    CHECK(strcmp(calls, log) == 0, "%s: want %s, got %s", p->kind->name, log, calls);
}

static mc_kernel *kernel_of(const mc_plan *plan) {
    mc_plan_info info = {.size = sizeof info};
    mc_kernel *kernel = NULL;
    (void)worked("mc_plan_get_info", mc_plan_get_info(plan, &info, diag));
    (void)worked(info.fields, mc_kernel_from_fields(info.fields, &kernel, diag));
    return kernel;
}

/* -- Kernels of all kinds of parameters */

static const char *const gather[] = {SPECS "/spmm_l8r8_f16.lua"},
                         *const ring[] = {SPECS "/spmm_l8r8_tiled.lua"},
                         *const sampled[] = {SPECS "/sddmm_l8r8.lua"};

#define SMALL .row_blocks = 6, .cols = 100, .sparsity = 0.7

static const product_kind rows = {
    "scales by row, biases by column", MC_S8, 8, SMALL,
    .config = {
        .c = MC_F16, .n = 64, .scale = MC_PER_ROW, .bias = MC_PER_COLUMN, .specs = gather, .spec_count = 1}};
static const product_kind tensor = {"one scale, open", MC_S8, 8, SMALL,
                                    .config = {.c = MC_F16,
                                               .n = 64,
                                               .scale = MC_PER_TENSOR,
                                               .shapes = MC_SHAPES_OPEN,
                                               .specs = gather,
                                               .spec_count = 1}};
static const product_kind mapped = {
    "a tensor map", MC_S8, 8, SMALL,
    .config = {.c = MC_S32, .n = 64, .ldb = 80, .specs = ring, .spec_count = 1}};
static const product_kind columns = {
    "a B by columns", MC_S8, 8, SMALL,
    .config = {.c = MC_S32, .n = 64, .b_major = MC_MAJOR_COLUMN, .specs = gather, .spec_count = 1}};
static const product_kind mask = {"SDDMM", MC_S8, 8, SMALL,
                                  .config = {.op = MC_OP_SDDMM,
                                             .c = MC_S32,
                                             .k = 64,
                                             .lda = 80,
                                             .shapes = MC_SHAPES_OPEN,
                                             .specs = sampled,
                                             .spec_count = 1}};

#define LAUNCH "cuLaunchKernel "
#define EARLY  "cuLaunchKernelEx "
#define ENTERING(calls)                                                                                      \
    "cuCtxPushCurrent_v2 cuThreadExchangeStreamCaptureMode " calls                                           \
    "cuThreadExchangeStreamCaptureMode cuCtxPopCurrent_v2 "

#define ENCODE "cuCtxSetCurrent cuTensorMapEncodeTiled "

static void test_arrays(mc_context *context) {
    product p;
    if (product_open(&p, context, &rows, 1) && make_plan(&p)) {
        mc_kernel *kernel = kernel_of(p.plan);
        const mc_contract *contract = mc_kernel_contract(kernel);
        for (mc_address step = 0; step < 3; step++) {
            execute(&p, ENTERING(LAUNCH));
            CHECK(value_of(contract, "b") == p.args.b && value_of(contract, "c") == p.args.c);
            CHECK(value_of(contract, "scale") == p.args.scale && value_of(contract, "bias") == p.args.bias);
            CHECK(value_of(contract, "values") % 256 == 0 && value_of(contract, "values") != 0);
            p.args.b += 16;
            p.args.c += 32;
        }
        CHECK_TEXT(fake->log, "stream the caller's");
        mc_kernel_destroy(kernel);
    }
    product_close(&p);
}

static void test_scalar(mc_context *context) {
    product p;
    if (product_open(&p, context, &tensor, 2) && make_plan(&p)) {
        mc_kernel *kernel = kernel_of(p.plan);
        const float scales[] = {0.5f, -3};
        for (int i = 0; i < 2; i++) {
            uint32_t bits;
            p.args.scale_value = scales[i];
            memcpy(&bits, &scales[i], sizeof bits);
            execute(&p, ENTERING(LAUNCH));
            CHECK(value_of(mc_kernel_contract(kernel), "scale") == bits);
        }
        CHECK(value_of(mc_kernel_contract(kernel), "n") == 64 &&
              value_of(mc_kernel_contract(kernel), "ldb") == 64);
        mc_kernel_destroy(kernel);
    }
    product_close(&p);
}

static void test_map(mc_context *context) {
    char at[64];
    product p;
    bool planned = false;
    if (!product_open(&p, context, &mapped, 3)) return;
    for (size_t map_at = 1; map_at < 8 && !planned; map_at++) planned = try_params(&p, map_at);
    CHECK(planned, "no plan with a tensor map");
    for (int i = 0; planned && i < 2; i++) {
        execute(&p, ENTERING(ENCODE EARLY "map "));
        snprintf(at, sizeof at, "at 0x%llx dims 64,100 stride 80 ", (unsigned long long)p.args.b);
        CHECK_TEXT(fake->log, at);
        CHECK_TEXT(fake->log, "map begins with 0x6d6d6d6d");
        p.args.b += 16;
    }
    p.args.b += 8;
    mc_diag_clear(diag);
    CHECK(planned && mc_execute(p.plan, &p.args, 0, NULL, diag) == MC_CANNOT);
    CHECK_TEXT(mc_diag_text(diag), "b lies at 0x");
    fake->map_at = 0;
    product_close(&p);
}

/* A kernel that starts early reads packed values before the one ahead of it has ended: not where that one makes them. */
static void test_values(mc_context *context) {
    product p;
    bool planned = false;
    if (!product_open(&p, context, &mapped, 6)) return;
    for (size_t map_at = 1; map_at < 8 && !planned; map_at++) planned = try_params(&p, map_at);
    CHECK(planned, "no plan with a tensor map");
    if (planned) {
        atomic_uintptr_t *new_on = &p.plan->packing->new_on;
        execute(&p, ENTERING(ENCODE EARLY "map "));
        atomic_store(new_on, (uintptr_t)&handles[CALLERS_STREAM] + 1);
        execute(&p, ENTERING(ENCODE LAUNCH "map "));
        execute(&p, ENTERING(ENCODE EARLY "map "));
        atomic_store(new_on, (uintptr_t)&handles[CALLERS_STREAM - 1] + 1);
        execute(&p, ENTERING(ENCODE EARLY "map "));
        CHECK(atomic_load(new_on) != 0, "an execution on another stream is not behind them");
    }
    fake->map_at = 0;
    product_close(&p);
}

static void test_sampled(mc_context *context) {
    product p;
    if (product_open(&p, context, &mask, 4) && make_plan(&p)) {
        mc_kernel *kernel = kernel_of(p.plan);
        const mc_contract *contract = mc_kernel_contract(kernel);
        execute(&p, ENTERING(LAUNCH));
        CHECK(value_of(contract, "a") == p.args.a && value_of(contract, "b") == p.args.b);
        CHECK(value_of(contract, "c") == p.args.c && value_of(contract, "lda") == 80);
        CHECK(value_of(contract, "item_count") > 0);
        mc_kernel_destroy(kernel);
    }
    product_close(&p);
}

/* -- A B by columns: two launches, the first of B's transpose, whose shapes are fixed */

static void test_transpose(mc_context *context) {
    product p;
    fake->other = "quantise", fake->other_params = first_count = 2;
    if (product_open(&p, context, &columns, 8) && make_plan(&p)) {
        mc_kernel *kernel = kernel_of(p.plan);
        (void)worked("workspace", mc_memory_create(context, mc_plan_workspace(p.plan), &p.workspace, diag));
        p.buffers[p.buffer_count++] = p.workspace;
        execute(&p, ENTERING(EARLY LAUNCH));
        CHECK(first_launched[0] == p.args.b && first_launched[1] == p.workspace);
        CHECK(value_of(mc_kernel_contract(kernel), "b") == p.workspace);
        CHECK(value_of(mc_kernel_contract(kernel), "c") == p.args.c);
        CHECK_TEXT(fake->log, "stream the caller's");
        (void)set_current(&handles[CONTEXT_0]);
        execute(&p, EARLY LAUNCH);
        fake->calls = 0, fake->fail_at = 1, fake->log[0] = '\0';
        CHECK(mc_execute(p.plan, &p.args, p.workspace, NULL, diag) == MC_DEVICE, "%s", mc_diag_text(diag));
        CHECK(fake->calls == 1, "%d calls: what is not transposed is not multiplied", fake->calls);
        fake->fail_at = 0;
        mc_diag_clear(diag);
        (void)set_current(NULL);
        mc_kernel_destroy(kernel);
    }
    product_close(&p);
    fake->other = NULL, first_count = 0;
}

/* -- The calling thread's context */

static void test_context(mc_context *context) {
    void *current = NULL;
    product p;
    if (product_open(&p, context, &rows, 5) && make_plan(&p)) {
        (void)set_current(&handles[CALLERS_CONTEXT]);
        execute(&p, ENTERING(LAUNCH));
        CHECK(get_current(&current) == 0 && current == &handles[CALLERS_CONTEXT], "as it was");
        (void)set_current(&handles[CONTEXT_0]);
        execute(&p, LAUNCH);
        fake->calls = 0;
        fake->fail_at = 1;
        mc_diag_clear(diag);
        CHECK(mc_execute(p.plan, &p.args, 0, NULL, diag) == MC_DEVICE, "%s", mc_diag_text(diag));
        CHECK_TEXT(mc_diag_text(diag), "cuLaunchKernel: CUDA_ERROR_INVALID_VALUE");
        fake->fail_at = 0;
        (void)set_current(NULL);
    }
    product_close(&p);
}

/* Two GPUs side by side: each plan is launched in its own context, whichever is current. */
static void test_two_gpus(mc_context *first) {
    const mc_context_config config = {
        .size = sizeof config, .device = "cuda:1", .cache = MC_CACHE_OFF, .tuning = MC_TUNING_OFF};
    mc_context *contexts[2] = {first};
    mc_context_info info = {.size = sizeof info};
    product p[2];
    if (!worked("mc_context_create", mc_context_create(&config, &contexts[1], diag))) return;
    (void)worked("mc_context_get_info", mc_context_get_info(contexts[1], &info, diag));
    CHECK(strcmp(info.device, "Fake GPU 71") == 0 && info.capability == 90, "%s", info.device);
    for (int i = 0; i < 2; i++)
        if (!product_open(&p[i], contexts[i], &rows, 30) || !make_plan(&p[i])) return;
    (void)set_current(&handles[CONTEXT_0]);
    for (int i = 0; i < 2; i++) {
        execute(&p[0], LAUNCH);
        execute(&p[1], ENTERING(LAUNCH));
        CHECK_TEXT(fake->log, "cuCtxPushCurrent_v2 1\n");
    }
    (void)set_current(NULL);
    for (int i = 0; i < 2; i++) product_close(&p[i]);
    mc_context_destroy(contexts[1]);
}

/* -- Every call of the driver's fails once */

static void count_notes(void *user, mc_log_level level, const char *message) {
    (void)message;
    *(int *)user += level == MC_LOG_NOTE;
}

static mc_status plan_with_failure(int fail_at, int *notes) {
    static const char *const two[] = {SPECS "/spmm_l8r8_f16.lua", SPECS "/spmm_l8r8_shared.lua"};
    const mc_context_config config = {.size = sizeof config,
                                      .device = "cuda:0",
                                      .cache = MC_CACHE_OFF,
                                      .tuning = MC_TUNING_OFF,
                                      .log = count_notes,
                                      .log_user = notes};
    mc_context *context = NULL;
    product_kind kind = rows;
    product p;
    mc_status status = MC_CANNOT;
    kind.config.specs = two;
    kind.config.spec_count = 2;
    if (worked("mc_context_create", mc_context_create(&config, &context, diag)) &&
        product_open(&p, context, &kind, 1)) {
        fake->log[0] = '\0';
        fake->calls = 0;
        fake->fail_at = fail_at;
        mc_diag_clear(diag);
        status = mc_plan_create(context, &p.config, &p.plan, diag);
        fake->fail_at = 0;
        if (status == MC_OK) status = mc_execute(p.plan, &p.args, 0, NULL, diag);
        product_close(&p);
    }
    mc_context_destroy(context);
    return status;
}

/* A plan comes of it all the same, with the next kernel, but for a context that cannot be entered. Nothing is
   left behind. */
static void test_every_failure(void) {
    int fail_at = 1, planned = 0, notes;
    fake->params = 7; /* of both kernels: three packed arrays, B, C, scales, biases */
    fake->map_at = 0;
    (void)set_current(&handles[CALLERS_CONTEXT]);
    int alive = fake->alive;
    do {
        void *current = NULL;
        notes = 0;
        mc_status status = plan_with_failure(fail_at, &notes);
        CHECK(fake->alive == alive, "call %d: %d objects are left", fail_at, fake->alive - alive);
        CHECK(get_current(&current) == 0 && current == &handles[CALLERS_CONTEXT], "call %d", fail_at);
        CHECK(status == MC_OK ? mc_diag_count(diag) == 0 : mc_diag_count(diag) > 0, "call %d: %s", fail_at,
              mc_diag_text(diag));
        planned += status == MC_OK && notes == 1;
    } while (fake->calls >= fail_at++ && fail_at < 200);
    CHECK(planned >= 10 && fail_at < 200, "%d calls, %d plans in spite of a failure", fail_at, planned);
    (void)set_current(NULL);
}

/* -- What is refused */

static void refuse(const product *p, const mc_args *args, mc_status want, const char *message) {
    fake->log[0] = '\0';
    mc_diag_clear(diag);
    mc_status status = mc_execute(p->plan, args, 0, NULL, diag);
    CHECK(status == want && mc_diag_count(diag) == 1, "%s: %s", message, mc_status_text(status));
    CHECK_TEXT(mc_diag_text(diag), message);
    CHECK(fake->log[0] == '\0', "%s", fake->log);
}

#define CHANGED(member, value) (args = p.args, args.member = (value), &args)

static void test_refusals(mc_context *context) {
    product p;
    mc_args args;
    if (product_open(&p, context, &rows, 6) && make_plan(&p)) {
        refuse(&p, NULL, MC_USAGE, "mc_args is NULL");
        refuse(&p, CHANGED(size, 0), MC_USAGE, "the size of mc_args is 0");
        refuse(&p, CHANGED(size, sizeof args + 8), MC_USAGE, "made for a later version of the library");
        refuse(&p, CHANGED(b, 0), MC_CANNOT, "b is missing");
        refuse(&p, CHANGED(c, 0), MC_CANNOT, "c is missing");
        refuse(&p, CHANGED(scale, 0), MC_CANNOT, "scale is missing");
        refuse(&p, CHANGED(bias, 0), MC_CANNOT, "bias is missing");
        refuse(&p, CHANGED(b, p.args.b + 8), MC_CANNOT, "which is not a multiple of 16 bytes");
        refuse(&p, CHANGED(c, p.args.c + 4), MC_CANNOT, "c lies at 0x");
        refuse(&p, CHANGED(scale, p.args.scale + 4), MC_CANNOT, "scale lies at 0x");
        refuse(&p, CHANGED(bias, p.args.bias + 8), MC_CANNOT, "bias lies at 0x");
        CHECK(mc_execute(p.plan, CHANGED(a, 3), 0, NULL, diag) == MC_OK, "an SpMM has no a");
    }
    product_close(&p);
    if (product_open(&p, context, &mask, 7) && make_plan(&p)) {
        refuse(&p, CHANGED(a, 0), MC_CANNOT, "a is missing");
        refuse(&p, CHANGED(a, p.args.a + 1), MC_CANNOT, "a lies at 0x");
    }
    product_close(&p);
}

/* Of a C of f16 with align = 1, addresses are multiples of its elements all the same. */
static void test_least_alignment(mc_context *context) {
    product p;
    product_kind loose = rows;
    mc_args args;
    loose.config.align = 1;
    if (product_open(&p, context, &loose, 8) && make_plan(&p)) {
        CHECK(mc_execute(p.plan, CHANGED(b, p.args.b + 1), 0, NULL, diag) == MC_OK, "%s", mc_diag_text(diag));
        CHECK(mc_execute(p.plan, CHANGED(c, p.args.c + 2), 0, NULL, diag) == MC_OK, "%s", mc_diag_text(diag));
        refuse(&p, CHANGED(c, p.args.c + 1), MC_CANNOT, "which is not a multiple of 2 bytes");
    }
    product_close(&p);
}

/* New values cannot become part of a graph; those that were there stay,
   and what was there can be replaced later. */
static void test_values_while_captured(mc_context *context) {
    product p;
    if (product_open(&p, context, &rows, 9) && make_plan(&p)) {
        mc_diag_clear(diag);
        fake->captured = 1;
        CHECK(mc_matrix_set_values(p.matrix, p.host.values, &handles[CALLERS_STREAM], diag) == MC_CANNOT);
        CHECK_TEXT(mc_diag_text(diag), "a stream that is being captured");
        fake->captured = 0;
        fake->log[0] = '\0';
        (void)worked("mc_matrix_set_values",
                     mc_matrix_set_values(p.matrix, p.host.values, &handles[CALLERS_STREAM], diag));
        CHECK_TEXT(fake->log, "cuMemcpyHtoDAsync_v2");
        CHECK_TEXT(fake->log, "stream the caller's");
    }
    product_close(&p);
}

/* A plan comes and goes without the default stream: streams that wait for it may be captured meanwhile. */
static void test_default_stream(mc_context *context) {
    static const char *const waits[] = {"cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2", "cuMemsetD8_v2", "stream none",
                                        "cuStreamSynchronize none"};
    product p;
    bool opened = product_open(&p, context, &rows, 10);
    fake->log[0] = '\0';
    if (opened && make_plan(&p)) {
        mc_plan_destroy(p.plan);
        p.plan = NULL;
        CHECK_TEXT(fake->log, "stream own");
        for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
            CHECK(strstr(fake->log, waits[i]) == NULL, "%s\n%s", waits[i], fake->log);
    }
    product_close(&p);
}

int main(void) {
    mc_context *context = NULL;
    const mc_context_config config = {
        .size = sizeof config, .device = "cuda:0", .cache = MC_CACHE_OFF, .tuning = MC_TUNING_OFF};
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    fake = library ? dlsym(library, "fake_cuda_state") : NULL;
    handles = library ? dlsym(library, "fake_cuda_handles") : NULL;
    if (fake == NULL || handles == NULL) return 2;
    *(void **)&set_current = dlsym(library, "cuCtxSetCurrent");
    *(void **)&get_current = dlsym(library, "cuCtxGetCurrent");
    diag = mc_diag_create();
    fake->kernel = keep_values;
    if (worked("mc_context_create", mc_context_create(&config, &context, diag))) {
        (void)set_current(NULL);
        test_arrays(context);
        test_scalar(context);
        test_map(context);
        test_values(context);
        test_sampled(context);
        test_transpose(context);
        test_context(context);
        test_two_gpus(context);
        test_refusals(context);
        test_least_alignment(context);
        test_values_while_captured(context);
        test_default_stream(context);
        test_every_failure();
    }
    mc_context_destroy(context);
    CHECK(fake->alive == 0, "%d objects of the driver's are left", fake->alive);
    mc_diag_destroy(diag);
    return product_end(check_end());
}
