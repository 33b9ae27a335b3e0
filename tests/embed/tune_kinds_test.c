/* Tuning of problems of all kinds, from memory of the caller's, by several threads; and what is refused. */
#include <math.h>
#include "tune_common.h"

/* -- Problems of all kinds: every candidate is right */

static const struct kind {
    const char *name;
    mc_type matrix;
    int vec;
    const char *spec; /* NULL: those built in */
    mc_plan_config config;
} kinds[] = {
    {"s32", MC_S8, 8, NULL, {.b = MC_S8, .c = MC_S32, .n = 40}},
    {"open shapes", MC_S8, 4, NULL, {.b = MC_S8, .c = MC_S32, .n = 17, .shapes = MC_SHAPES_OPEN}},
    {"four bytes aligned", MC_S8, 8, NULL, {.b = MC_S8, .c = MC_S32, .n = 32, .align = 4}},
    {"not aligned", MC_S8, 2, NULL, {.b = MC_S8, .c = MC_S32, .n = 33, .align = 1}},
    {"exact", MC_S16, 8, NULL, {.b = MC_S16, .c = MC_S64, .n = 16, .exact = true}},
    {"s4", MC_S4, 8, NULL, {.b = MC_S4, .c = MC_S32, .n = 32}},
    {"f16",
     MC_S8,
     8,
     NULL,
     {.b = MC_S8,
      .c = MC_F16,
      .n = 32,
      .scale = MC_PER_ROW,
      .bias = MC_PER_COLUMN,
      .activation = MC_ACTIVATION_RELU}},
    {"bf16", MC_S8, 8, NULL, {.b = MC_S8, .c = MC_BF16, .n = 32, .scale = MC_PER_TENSOR, .bias = MC_PER_ROW}},
    {"u4", MC_S8, 8, NULL, {.b = MC_S8, .c = MC_U4, .n = 31, .scale = MC_PER_ROW, .ldc = 36}},
    {"a residual",
     MC_S8,
     8,
     NULL,
     {.b = MC_S8, .c = MC_S8, .n = 32, .scale = MC_PER_ROW, .residual = MC_RESIDUAL_F16, .ldr = 40}},
    {"digits that do not hold all of s16",
     MC_S16,
     4,
     "op = 'spmm' lhs = 's16' rhs = 's8' vec = 4 digits = 'balanced' warps = {4, 1}",
     {.b = MC_S8, .c = MC_S32, .n = 32}},
    {"a tensor map of 16 bits",
     MC_S16,
     8,
     "op = 'spmm' arch = 'sm_90' lhs = 's16' rhs = 's16' vec = 8 staging = 'tma' tile_n = {64, 32} warps = 4 "
     "window = 64 stages = 2",
     {.b = MC_S16, .c = MC_S32, .n = 64}},
    {"floats", MC_F16, 8, NULL, {.b = MC_F16, .c = MC_F16, .n = 40, .ldc = 48}},
    {"floats, all that an epilogue does",
     MC_BF16,
     16,
     NULL,
     {.b = MC_BF16,
      .c = MC_F16,
      .n = 33,
      .scale = MC_PER_ROW,
      .bias = MC_PER_COLUMN,
      .residual = MC_RESIDUAL_F16,
      .activation = MC_ACTIVATION_SILU}},
    {"a column-major C",
     MC_S8,
     4,
     NULL,
     {.b = MC_S8, .c = MC_S32, .n = 33, .c_major = MC_MAJOR_COLUMN, .ldc = 24}},
    {"floats, a column-major C and residual",
     MC_F16,
     8,
     NULL,
     {.b = MC_F16, .c = MC_F16, .n = 40, .c_major = MC_MAJOR_COLUMN, .residual = MC_RESIDUAL_F32, .ldr = 41}},
    {"sddmm", MC_S8, 8, NULL, {.op = MC_OP_SDDMM, .a = MC_S8, .b = MC_S8, .c = MC_S32, .k = 64}},
    {"sddmm, a mask's values",
     MC_F32,
     4,
     NULL,
     {.op = MC_OP_SDDMM,
      .a = MC_S8,
      .b = MC_S8,
      .c = MC_F32,
      .k = 48,
      .scale = MC_PER_COLUMN,
      .mask_values = true}},
    {"sddmm, rows and order",
     MC_S8,
     8,
     NULL,
     {.op = MC_OP_SDDMM,
      .a = MC_S16,
      .b = MC_S8,
      .c = MC_S32,
      .k = 64,
      .b_layout = MC_LAYOUT_ROWS,
      .c_order = MC_ORDER_SRBCRS16}},
    {"a batch",
     MC_S8,
     8,
     NULL,
     {.b = MC_S8, .c = MC_S32, .n = 32, .batch = 3, .b_stride = 2064, .c_stride = 1284}},
    {"a batch with one B",
     MC_S8,
     8,
     NULL,
     {.b = MC_S8, .c = MC_S32, .n = 32, .batch = 2, .b_stride = MC_SHARED}},
    {"given values", MC_U8, 8, NULL, {.b = MC_S8, .c = MC_S32, .n = 32, .given_values = true}},
    {"a batch of given values",
     MC_U16,
     8,
     NULL,
     {.b = MC_S8, .c = MC_F16, .n = 32, .scale = MC_PER_TENSOR, .batch = 3, .given_values = true}},
    {"a batch of given floats, one for all, and a residual",
     MC_F16,
     8,
     NULL,
     {.b = MC_F16,
      .c = MC_F16,
      .n = 32,
      .residual = MC_RESIDUAL_F16,
      .batch = 3,
      .given_values = true,
      .values_stride = MC_SHARED}},
    {"sddmm, a batch",
     MC_U8,
     8,
     NULL,
     {.op = MC_OP_SDDMM,
      .a = MC_S8,
      .b = MC_S8,
      .c = MC_F16,
      .k = 64,
      .scale = MC_PER_TENSOR,
      .c_order = MC_ORDER_SRBCRS32,
      .batch = 4}},
    {"sddmm, a batch of floats",
     MC_F16,
     8,
     NULL,
     {.op = MC_OP_SDDMM, .a = MC_F16, .b = MC_F16, .c = MC_F16, .k = 64, .batch = 2, .b_stride = MC_SHARED}},
    {"softmax, a batch",
     MC_U8,
     8,
     NULL,
     {.op = MC_OP_SOFTMAX,
      .a = MC_F16,
      .c = MC_U8,
      .c_order = MC_ORDER_SRBCRS32,
      .batch = 3,
      .exp = MC_EXP_APPROX}},
};

static void check_kind(const struct kind *k, bool cold, mc_diag *diag) {
    mc_context *context = open_context("/dev/null/records", diag);
    mc_matrix *matrix = make_matrix(context, k->matrix, k->vec, k->spec != NULL ? 64 : 5, 64, diag);
    mc_plan_config config = k->config;
    mc_tune_config tune = {.size = sizeof tune, .candidates = 3, .cold = cold};
    mc_tune_result result = {.size = sizeof result};
    config.size = sizeof config;
    config.matrix = matrix;
    const char *path = k->spec != NULL ? scratch_write("own.lua", k->spec, strlen(k->spec)) : NULL;
    config.specs = &path;
    config.spec_count = path != NULL;
    expect_ok(k->name, mc_tune(context, &config, &tune, &result, diag), diag);
    CHECK(result.measured >= 1 && result.wrong == 0 && result.failed == 0 && result.complete,
          "%s: %zu measured, %zu wrong, %zu failed\n%s", k->name, result.measured, result.wrong,
          result.failed, log_text);
    /* sim_cuda.c: a launch in a graph lasts 10 us, whatever it does. */
    if (strcmp(device_name(), "sim") != 0)
        CHECK(fabs(result.microseconds - 10) < 1e-3 && fabs(result.standard - 10) < 1e-3,
              "%s: %g us, the default %g", k->name, result.microseconds, result.standard);
    mc_plan *plan = NULL;
    mc_plan_info info = {.size = sizeof info};
    config.tuning = MC_TUNING_REPLAY;
    expect_ok(k->name, mc_plan_create(context, &config, &plan, diag), diag);
    expect_ok(k->name, mc_plan_get_info(plan, &info, diag), diag);
    CHECK(cold || info.origin == MC_ORIGIN_MEASURED, "%s: %s", k->name, info.reason);
    mc_plan_destroy(plan);
    if (path != NULL) unlink(path);
    mc_matrix_destroy(matrix);
    mc_context_destroy(context);
}

static void test_kinds(mc_diag *diag) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) check_kind(&kinds[i], i % 2 == 0, diag);
}

/* -- Alignment: a kernel may not rely on more than the problem says */

static mc_status make_greedy(mc_context *context, const char *fields, mc_kernel **kernel, mc_image *image,
                             bool *from_cache, char **log, mc_diag *diag) {
    char greedy[1024];
    const char *at = strstr(fields, "align=4 ");
    if (at == NULL) return mc_fail(diag, MC_USAGE, "no align=4 in %s", fields);
    snprintf(greedy, sizeof greedy, "%.*salign=16 %s", (int)(at - fields), fields, at + strlen("align=4 "));
    return kernels_make(context, greedy, kernel, image, from_cache, log, diag);
}

static void test_alignment(mc_diag *diag) {
    bench b = open_bench(NULL, NULL, diag);
    const mc_tune_config tune = {.size = sizeof tune, .candidates = 2};
    tune_job job = {.context = b.context, .matrix = &b.matrix->host, .config = &tune, .make = make_greedy};
    b.config.align = 4;
    expect_ok("problem", plan_problem_of(&b.config, job.matrix, &job.problem, diag), diag);
    expect_failure("greedy", tune_run(&job, NULL, diag), MC_CANNOT, diag,
                   "which is not a multiple of the 16");
    close_bench(&b);
}

/* -- Batches: each product is looked at */

/* A kernel that takes C's stride for B's: its first product is right. */
static mc_status make_astray(mc_context *context, const char *fields, mc_kernel **kernel, mc_image *image,
                             bool *from_cache, char **log, mc_diag *diag) {
    mc_status status = kernels_make(context, fields, kernel, image, from_cache, log, diag);
    char *stride = status == MC_OK ? strstr(image->data, "[b_stride]") : NULL;
    if (stride != NULL) stride[1] = 'c';
    return status;
}

static void test_batch(mc_diag *diag) {
    bench b = open_bench(NULL, NULL, diag);
    const mc_tune_config tune = {.size = sizeof tune, .candidates = 2};
    tune_job job = {.context = b.context, .matrix = &b.matrix->host, .config = &tune, .make = make_astray};
    b.config.batch = 3;
    expect_ok("problem", plan_problem_of(&b.config, job.matrix, &job.problem, diag), diag);
    expect_failure("astray", tune_run(&job, NULL, diag), MC_CANNOT, diag, "product 1");
    b.config.b_stride = 64;
    expect_ok("problem", plan_problem_of(&b.config, job.matrix, &job.problem, diag), diag);
    job.make = NULL;
    expect_failure("overlap", tune_run(&job, NULL, diag), MC_CANNOT, diag,
                   "products whose operands overlap are not tuned: those of b");
    close_bench(&b);
}

/* -- Memory of the caller's */

typedef struct purse {
    mc_context *context;
    size_t bytes[256], used, most,
        refuse_at; /* of blocks; refuse_at: the number of the call that gets none; 0: none */
    mc_address addresses[256];
    size_t calls;
} purse;

static mc_address take_memory(void *user, size_t bytes) {
    purse *p = user;
    mc_address address = 0;
    size_t free_place = 0;
    if (++p->calls == p->refuse_at) return 0;
    while (p->addresses[free_place] != 0) free_place++;
    if (mc_device_alloc(p->context->device, bytes, &address, NULL) != MC_OK) return 0;
    p->addresses[free_place] = address;
    p->bytes[free_place] = bytes;
    p->used += bytes;
    if (p->used > p->most) p->most = p->used;
    return address;
}

static void give_memory(void *user, mc_address address) {
    purse *p = user;
    size_t place = 0;
    while (place < 256 && p->addresses[place] != address) place++;
    CHECK(place < 256, "memory that was never given: %llx", (unsigned long long)address);
    if (place == 256) return;
    p->addresses[place] = 0;
    p->used -= p->bytes[place];
    mc_device_free(p->context->device, address);
}

/* The N-th allocation fails; 0: none does. */
static mc_status tune_from(purse *p, size_t n, bool cold, mc_tune_result *result, mc_diag *diag) {
    const mc_context_config config = {.size = sizeof config,
                                      .device = device_name(),
                                      .cache = MC_CACHE_OFF,
                                      .records = "/dev/null/records",
                                      .allocate = take_memory,
                                      .release = give_memory,
                                      .memory_user = p};
    const mc_tune_config tune = {.size = sizeof tune, .candidates = 3, .cold = cold};
    *p = (purse){.refuse_at = n};
    *result = (mc_tune_result){.size = sizeof *result};
    expect_ok("context", mc_context_create(&config, &p->context, diag), diag);
    mc_matrix *matrix = make_matrix(p->context, MC_S8, 8, 3, 64, diag);
    const mc_plan_config problem = spmm_of(matrix, N);
    mc_status status = mc_tune(p->context, &problem, &tune, result, diag);
    CHECK(p->used == 0 && p->calls > 1, "%zu bytes are left of %zu calls", p->used, p->calls);
    mc_matrix_destroy(matrix);
    mc_context_destroy(p->context);
    return status;
}

static void test_memory(mc_diag *diag) {
    purse p;
    mc_tune_result result;
    expect_ok("warm", tune_from(&p, 0, false, &result, diag), diag);
    size_t warm = p.most, calls = p.calls, measured = result.measured;
    expect_ok("cold", tune_from(&p, 0, true, &result, diag), diag);
    CHECK(p.most > warm + warm / 2, "operands several times: %zu bytes, %zu", p.most, warm);
    for (size_t n = 1; n < calls; n++) {
        expect_ok("no room for a packing", tune_from(&p, n, false, &result, diag), diag);
        CHECK(!result.complete && result.failed == 0 && result.measured < measured, "call %zu: %zu of %zu", n,
              result.measured, measured);
    }
    expect_failure("no room for B and C", tune_from(&p, calls, false, &result, diag), MC_NOMEM, diag,
                   "no memory for");
}

/* -- Two at once */

typedef struct thread_job {
    mc_context *context;
    mc_plan_config config;
    mc_status status;
    mc_tune_result result;
} thread_job;

static void *tune_in_thread(void *argument) {
    thread_job *j = argument;
    const mc_tune_config tune = {.size = sizeof tune, .candidates = 4};
    j->result.size = sizeof j->result;
    j->status = mc_tune(j->context, &j->config, &tune, &j->result, NULL);
    return NULL;
}

/* Two problems, and twice the same one: who comes second knows what the first one measured. */
static void test_threads(mc_diag *diag) {
    for (int same = 0; same < 2; same++) {
        mc_context *context = open_context("/dev/null/records", diag);
        mc_matrix *a = make_matrix(context, MC_S8, 8, 3, 64, diag),
                  *b = make_matrix(context, MC_S8, 8, 3, 64, diag);
        thread_job jobs[2] = {{.context = context, .config = spmm_of(a, N)},
                              {.context = context, .config = spmm_of(b, same ? N : 2 * N)}};
        pthread_t threads[2];
        for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, tune_in_thread, &jobs[i]);
        for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
        for (int i = 0; i < 2; i++)
            CHECK(jobs[i].status == MC_OK && jobs[i].result.complete && jobs[i].result.wrong == 0, "%d: %s",
                  i, mc_status_text(jobs[i].status));
        size_t measured = jobs[0].result.measured * jobs[1].result.measured;
        CHECK((measured == 0) == same, "%zu and %zu measured", jobs[0].result.measured,
              jobs[1].result.measured);
        mc_matrix_destroy(a);
        mc_matrix_destroy(b);
        mc_context_destroy(context);
    }
}

/* -- Errors */

static void test_errors(mc_diag *diag) {
    mc_context *context = open_context("/dev/null/records", diag);
    mc_matrix *matrix = make_matrix(context, MC_S8, 8, 3, 64, diag),
              *empty = make_matrix(context, MC_S8, 8, 0, 64, diag);
    mc_plan_config config = spmm_of(matrix, N);
    mc_tune_config tune = {.size = sizeof tune + 8};
    mc_tune_result result = {.size = 1};
    expect_failure("problem", mc_tune(context, NULL, NULL, NULL, diag), MC_USAGE, diag,
                   "mc_plan_config is NULL");
    expect_failure("tune size", mc_tune(context, &config, &tune, NULL, diag), MC_USAGE, diag,
                   "mc_tune_config");
    tune.size = sizeof tune;
    expect_failure("result size", mc_tune(context, &config, &tune, &result, diag), MC_USAGE, diag,
                   "mc_tune_result");
    result.size = sizeof result;
    tune.seconds = -1;
    expect_failure("seconds", mc_tune(context, &config, &tune, &result, diag), MC_USAGE, diag,
                   "seconds is -1");
    tune.seconds = 0;
    config.matrix = NULL;
    expect_failure("matrix", mc_tune(context, &config, &tune, &result, diag), MC_USAGE, diag,
                   "matrix is NULL");
    config.matrix = empty;
    expect_failure("no rows", mc_tune(context, &config, &tune, &result, diag), MC_CANNOT, diag,
                   "C has no elements");
    config = spmm_of(matrix, 0);
    expect_failure("no columns", mc_tune(context, &config, &tune, &result, diag), MC_CANNOT, diag,
                   "C has no elements");
    config = spmm_of(matrix, N);
    config.b = MC_TF32, config.c = MC_F32;
    expect_failure("b", mc_tune(context, &config, &tune, &result, diag), MC_CANNOT, diag, "b is tf32");
    config = spmm_of(matrix, N);
    config.specs = &(const char *){"/nowhere.lua"};
    config.spec_count = 1;
    expect_failure("spec", mc_tune(context, &config, &tune, &result, diag), MC_IO, diag, "/nowhere.lua");
    CHECK(result.measured == 0, "%zu", result.measured);
    mc_matrix_destroy(matrix);
    mc_matrix_destroy(empty);
    mc_context_destroy(context);
}

/* -- A device that is lost */

/* C has no address in kernels of 64 columns. */
static mc_status make_deadly(mc_context *context, const char *fields, mc_kernel **kernel, mc_image *image,
                             bool *from_cache, char **log, mc_diag *diag) {
    static const char line[] = "cvta.to.global.u64              %c,", deadly[] = "mov.u64 %c, 64;//";
    mc_status status = kernels_make(context, fields, kernel, image, from_cache, log, diag);
    if (status != MC_OK || strstr(fields, "tile_n=64") == NULL) return status;
    char *at = strstr(image->data, line);
    CHECK(at != NULL, "no line with %s", line);
    if (at != NULL) memcpy(at, deadly, sizeof deadly - 1);
    return MC_OK;
}

/* What was measured before is kept, and that this one failed. The process has no device from here on. */
static void test_loss(mc_diag *diag) {
    static const char two[] = "op = 'spmm' tile_n = {64, 32} warps = 1 split = 1 prefetch = 'on'";
    const char *spec = scratch_write("two.lua", two, sizeof two - 1);
    const bench b = open_bench(NULL, &spec, diag);
    mc_tune_result result = {.size = sizeof result};
    tune_job job = {.context = b.context,
                    .matrix = &b.matrix->host,
                    .specs = &spec,
                    .spec_count = 1,
                    .make = make_deadly};
    record r;
    expect_ok("problem", plan_problem_of(&b.config, job.matrix, &job.problem, diag), diag);
    expect_failure("loss", tune_run(&job, &result, diag), MC_DEVICE, diag, "of no use any more");
    CHECK(result.failed == 1 && !result.complete, "%zu failed", result.failed);
    bool found =
        record_find(b.context->records, mc_device_get_info(b.context->device)->name, &job.problem, false, &r);
    CHECK(found, "no record");
    bool told = false;
    for (size_t i = 0; found && i < r.candidate_count; i++)
        told |=
            r.candidates[i].status == RECORD_FAILED && strstr(r.candidates[i].fields, "tile_n=64") != NULL;
    CHECK(told, "the kernel that did it is not told of");
    CHECK(!found || result.measured == 0 || strstr(r.fields, "tile_n=32") != NULL, "chosen: %s", r.fields);
    record_free(&r);
    unlink(spec);
    close_bench(&b);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    scratch_begin();
    test_kinds(diag);
    test_alignment(diag);
    test_batch(diag);
    test_memory(diag);
    test_threads(diag);
    test_errors(diag);
    if (getenv("SIM_CUDA_LOST") != NULL) test_loss(diag);
    mc_diag_destroy(diag);
    return scratch_end();
}
