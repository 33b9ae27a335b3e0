/* Contexts: configurations and their environment, structs of other versions, memory, the application's own
   allocator. */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include "mcrt_internal.h"
#include "context/context.h"
#include "product.h"

mc_diag *diag;

static mc_context_config simulator(void) {
    return (mc_context_config){.size = sizeof(mc_context_config), .device = "sim", .cache = MC_CACHE_MEMORY};
}

static mc_context *open_context(const mc_context_config *config) {
    mc_context *context = NULL;
    (void)worked("mc_context_create", mc_context_create(config, &context, diag));
    return context;
}

/* -- Configurations that make no sense */

static mc_address allocate_nothing(void *user, size_t bytes) {
    (void)user, (void)bytes;
    return 0;
}

static void refuse(const char *what, mc_context_config config, mc_status want, const char *message) {
    mc_context *context = (mc_context *)&config;
    mc_diag_clear(diag);
    mc_status status = mc_context_create(&config, &context, diag);
    CHECK(status == want && context == NULL, "%s: %s", what, mc_status_text(status));
    CHECK(mc_diag_count(diag) == 1, "%s: %zu messages", what, mc_diag_count(diag));
    CHECK_TEXT(mc_diag_text(diag), message);
}

static void test_refusals(void) {
    mc_context_config c = simulator();
    c.size = 0;
    refuse("size 0", c, MC_USAGE, "the size of mc_context_config is 0: set it with sizeof");
    c.size = sizeof c + 8;
    refuse("a later version", c, MC_USAGE, "made for a later version of the library");
    c.size = 16;
    refuse("no version", c, MC_USAGE, "mc_context_config of 16 bytes: no version has fewer than these");
    c = simulator();
    c.device = "tpu:0";
    refuse("device", c, MC_USAGE, "device 'tpu:0'");
    c = simulator();
    c.cache = (mc_cache_mode)9;
    refuse("cache", c, MC_USAGE, "cache is 9, must be an mc_cache_mode");
    c = simulator();
    c.tuning = (mc_tuning)-1;
    refuse("tuning", c, MC_USAGE, "tuning is -1, must be an mc_tuning");
    c = simulator();
    c.allocate = allocate_nothing;
    refuse("allocate alone", c, MC_USAGE, "allocate and release go together: release is NULL");
}

/* -- Structs of other versions */

typedef struct version_2 {
    size_t size;
    int32_t first, second, third; /* version 1 had the first one */
} version_2;

enum { VERSION_1 = offsetof(version_2, second) };

static void test_struct_sizes(void) {
    const version_2 from = {.size = sizeof from, .first = 1, .second = 2, .third = 3},
                    old = {.size = VERSION_1, .first = 1, .second = 99};
    version_2 to = {.third = 7};
    CHECK(take_struct(&to, sizeof to, &from, VERSION_1, "it", diag) == MC_OK && to.first == 1 &&
          to.third == 3);
    CHECK(take_struct(&to, sizeof to, &old, VERSION_1, "it", diag) == MC_OK);
    CHECK(to.first == 1 && to.second == 0 && to.third == 0, "members of later versions are zero");
    CHECK(take_struct(&to, sizeof to, NULL, VERSION_1, "it", NULL) == MC_USAGE);
    version_2 got = {.size = VERSION_1, .second = 42};
    CHECK(give_struct(&got, VERSION_1, &from, sizeof from, "it", diag) == MC_OK);
    CHECK(got.size == VERSION_1 && got.first == 1 && got.second == 42, "nothing is written behind the size");
    CHECK(give_struct(NULL, VERSION_1, &from, sizeof from, "it", NULL) == MC_USAGE);
    CHECK(check_struct_size(VERSION_1 - 1, VERSION_1, sizeof to, "it", NULL) == MC_USAGE);
    CHECK(check_struct_size(sizeof to + 1, VERSION_1, sizeof to, "it", NULL) == MC_USAGE);
}

/* -- Log and environment */

static void check_note(const char *variable, const char *value, const char *want) {
    heard h = {0};
    mc_context_config config = simulator();
    config.cache = MC_CACHE_ENVIRONMENT;
    config.log = product_listen;
    config.log_user = &h;
    setenv("MCGEN_CACHE", "mem", 1);
    setenv(variable, value, 1);
    mc_context *context = open_context(&config);
    if (want == NULL) CHECK(h.notes == 0, "%s", h.last);
    else CHECK_TEXT(h.last, want);
    mc_context_destroy(context);
    unsetenv(variable);
    unsetenv("MCGEN_CACHE");
}

static void test_environment(void) {
    check_note("MCGEN_TUNING", "fast", "MCGEN_TUNING is 'fast', must be off, replay or tune");
    check_note("MCGEN_TUNING", "off", NULL);
    check_note("MCGEN_TUNING", "", NULL);
    check_note("MCGEN_CACHE", "sometimes", "MCGEN_CACHE");
    check_note("MCGEN_CACHE", "mem", NULL);
}

/* A later chdir changes nothing. */
static void test_relative_records(void) {
    static const char name[] = "records-of-this-test.jsonl";
    char here[4096], want[4096 + sizeof name];
    mc_context_info info = {.size = sizeof info};
    mc_context_config config = simulator();
    config.records = name;
    mc_context *context = open_context(&config);
    if (getcwd(here, sizeof here) == NULL) exit(1);
    snprintf(want, sizeof want, "%s/%s", here, name);
    (void)worked("mc_context_get_info", mc_context_get_info(context, &info, diag));
    CHECK(strcmp(info.records, want) == 0, "%s", info.records);
    mc_context_destroy(context);
}

static void test_log_is_a_line(void) {
    heard h = {0};
    mc_context_config config = simulator();
    config.log = product_listen;
    config.log_user = &h;
    mc_context *context = open_context(&config);
    context_log(context, MC_LOG_NOTE, "%s\n%s", "one", "two");
    CHECK(strcmp(h.last, "one two") == 0, "%s", h.last);
    mc_context_destroy(context);
}

/* The strings of a configuration may go when the context is there. */
static void test_strings_are_copied(void) {
    char device[] = "sim", records[] = "/nonexistent/none.jsonl";
    mc_context_config config = simulator();
    config.device = device;
    config.records = records;
    mc_context *context = open_context(&config);
    memset(device, 'x', sizeof device - 1);
    memset(records, 'x', sizeof records - 1);
    mc_context_info info = {.size = sizeof info};
    CHECK(mc_context_get_info(context, &info, diag) == MC_OK, "%s", mc_diag_text(diag));
    CHECK_TEXT(info.records, "/none.jsonl");
    CHECK(strcmp(info.device, "PTX simulator") == 0 && info.capability == 0 && info.driver[0] != '\0');
    CHECK(info.cache_directory == NULL, "a cache in memory has no directory");
    CHECK(info.kernels_loaded == 0 && info.kernels_compiled == 0 && info.kernels_from_cache == 0);
    info.size = 8;
    CHECK(mc_context_get_info(context, &info, NULL) == MC_USAGE);
    mc_context_destroy(context);
    mc_context_destroy(NULL);
}

/* -- Memory */

static void test_memory(void) {
    const mc_context_config config = simulator();
    mc_context *context = open_context(&config);
    mc_address address = 0;
    char text[] = "there and back", back[sizeof text] = "";
    (void)worked("create", mc_memory_create(context, sizeof text, &address, diag));
    (void)worked("write", mc_memory_write(context, address, text, sizeof text, diag));
    (void)worked("read", mc_memory_read(context, address, back, sizeof back, diag));
    CHECK(strcmp(text, back) == 0, "%s", back);
    (void)worked("synchronize", mc_synchronize(context, NULL, diag));
    mc_memory_destroy(context, address);
    CHECK(mc_memory_read(context, address, back, sizeof back, NULL) != MC_OK, "it is freed");
    mc_memory_destroy(context, 0);
    mc_context_destroy(context);
}

/* An allocator of the application's, on top of the context's own memory: it counts. */
typedef struct pool {
    mc_context *context; /* NULL: nothing is left */
    int held, asked;
    mc_address shift;
} pool;

static mc_address pool_allocate(void *user, size_t bytes) {
    pool *p = user;
    mc_address address = 0;
    p->asked++;
    if (p->context == NULL || mc_memory_create(p->context, bytes, &address, NULL) != MC_OK) return 0;
    p->held++;
    return address + p->shift;
}

static void pool_release(void *user, mc_address address) {
    pool *p = user;
    p->held--;
    mc_memory_destroy(p->context, address - p->shift);
}

static void test_allocator(void) {
    static const product_kind kind = {"with an allocator",
                                      MC_S8,
                                      8,
                                      .row_blocks = 4,
                                      .cols = 60,
                                      .sparsity = 0.6,
                                      .config = {.c = MC_S32, .n = 32}};
    pool p = {0};
    mc_context_config config = simulator();
    config.allocate = pool_allocate;
    config.release = pool_release;
    config.memory_user = &p;
    mc_context *context = open_context(&config);
    mc_address address = 1;
    mc_diag_clear(diag);
    CHECK(context_alloc(context, 100, &address, diag) == MC_NOMEM && address == 0);
    CHECK_TEXT(mc_diag_text(diag), "no memory for 100 bytes on the device");
    p.context = context;
    p.shift = 8;
    mc_diag_clear(diag);
    CHECK(context_alloc(context, 100, &address, diag) == MC_USAGE && address == 0 && p.held == 0);
    CHECK_TEXT(mc_diag_text(diag), "is not a multiple of 256");
    p.shift = 0;
    p.asked = 0;
    product_run(context, &kind, 5);
    CHECK(p.asked >= 3 && p.held == 0, "asked %d times, %d are not given back", p.asked, p.held);
    mc_context_destroy(context);
}

/* -- Handles that were never made */

static void is_null(const char *function, const char *what, mc_status status) {
    CHECK(status == MC_USAGE && mc_diag_count(diag) == 1, "%s: %s", function, mc_status_text(status));
    CHECK(strstr(mc_diag_text(diag), what) == mc_diag_text(diag), "%s: %s", function, mc_diag_text(diag));
    mc_diag_clear(diag);
}

static void test_no_context(void) {
    const int8_t value = 1;
    const int32_t row_ptr[] = {0, 0};
    const mc_matrix_config sparse = {.size = sizeof sparse, .vec = 8, .rows = 8, .row_ptr = row_ptr};
    const mc_dense_config dense = {.size = sizeof dense, .vec = 8, .data = &value};
    const mc_plan_config problem = {.size = sizeof problem, .c = MC_S32};
    mc_context_info info = {.size = sizeof info};
    mc_matrix *matrix = NULL;
    mc_plan *plan = NULL;
    mc_address address = 1;
    char byte = 0;
    mc_diag_clear(diag);
    is_null("get_info", "context is NULL", mc_context_get_info(NULL, &info, diag));
    is_null("memory_create", "context is NULL", mc_memory_create(NULL, 1, &address, diag));
    mc_memory_destroy(NULL, 256);
    is_null("write", "context is NULL", mc_memory_write(NULL, 256, &value, 1, diag));
    is_null("read", "context is NULL", mc_memory_read(NULL, 256, &byte, 1, diag));
    is_null("synchronize", "context is NULL", mc_synchronize(NULL, NULL, diag));
    is_null("matrix_create", "context is NULL", mc_matrix_create(NULL, &sparse, &matrix, diag));
    is_null("from_dense", "context is NULL", mc_matrix_from_dense(NULL, &dense, &matrix, diag));
    is_null("plan_create", "context is NULL", mc_plan_create(NULL, &problem, &plan, diag));
    is_null("tune", "context is NULL", mc_tune(NULL, &problem, NULL, NULL, diag));
    is_null("import", "context is NULL", mc_records_import(NULL, "x", NULL, diag));
    is_null("export", "context is NULL", mc_records_export(NULL, "x", NULL, diag));
    CHECK(matrix == NULL && plan == NULL && address == 0);
}

static void test_no_handle(void) {
    const mc_context_config config = simulator();
    mc_context *context = open_context(&config);
    mc_matrix_info matrix = {.size = sizeof matrix};
    mc_plan_info plan = {.size = sizeof plan};
    const mc_args args = {.size = sizeof args};
    const mc_plan_config problem = {.size = sizeof problem, .c = MC_S32};
    mc_plan *made = NULL;
    const int8_t value = 1;
    mc_diag_clear(diag);
    is_null("matrix_get_info", "matrix is NULL", mc_matrix_get_info(NULL, &matrix, diag));
    is_null("set_values", "matrix is NULL", mc_matrix_set_values(NULL, &value, NULL, diag));
    is_null("plan_create", "matrix is NULL", mc_plan_create(context, &problem, &made, diag));
    is_null("tune", "matrix is NULL", mc_tune(context, &problem, NULL, NULL, diag));
    is_null("plan_get_info", "plan is NULL", mc_plan_get_info(NULL, &plan, diag));
    is_null("execute", "plan is NULL", mc_execute(NULL, &args, 0, NULL, diag));
    is_null("import", "path is NULL", mc_records_import(context, NULL, NULL, diag));
    is_null("write", "data is NULL", mc_memory_write(context, 256, NULL, 1, diag));
    is_null("read", "data is NULL", mc_memory_read(context, 256, NULL, 1, diag));
    CHECK(mc_plan_workspace(NULL) == 0);
    mc_context_destroy(context);
}

/* Where the result goes is NULL. */
static void test_no_result(void) {
    const mc_context_config config = simulator();
    mc_context *context = open_context(&config);
    static const int32_t row_ptr[] = {0, 0};
    const float value = 1;
    const mc_matrix_config sparse = {.size = sizeof sparse, .vec = 8, .rows = 8, .row_ptr = row_ptr};
    const mc_dense_config dense = {.size = sizeof dense, .vec = 8, .data = &value};
    const mc_plan_config problem = {.size = sizeof problem, .c = MC_S32};
    mc_diag_clear(diag);
    is_null("context_create", "context is NULL", mc_context_create(&config, NULL, diag));
    is_null("get_info", "mc_context_info is NULL", mc_context_get_info(context, NULL, diag));
    is_null("memory_create", "address is NULL", mc_memory_create(context, 1, NULL, diag));
    is_null("matrix_create", "matrix is NULL", mc_matrix_create(context, &sparse, NULL, diag));
    is_null("from_dense", "matrix is NULL", mc_matrix_from_dense(context, &dense, NULL, diag));
    is_null("plan_create", "plan is NULL", mc_plan_create(context, &problem, NULL, diag));
    mc_context_destroy(context);
}

/* Two contexts hold kernels, matrices and plans of their own. */
static void test_two_contexts(void) {
    static const product_kind kind = {"in two contexts",
                                      MC_S8,
                                      8,
                                      .row_blocks = 4,
                                      .cols = 60,
                                      .sparsity = 0.6,
                                      .config = {.c = MC_S32, .n = 32}};
    const mc_context_config config = simulator();
    mc_context *contexts[2] = {open_context(&config), open_context(&config)};
    product p[2];
    for (int i = 0; i < 2; i++)
        if (!product_open(&p[i], contexts[i], &kind, 20 + (uint64_t)i) || !product_plan(&p[i])) return;
    for (int i = 0; i < 4; i++) product_check(&p[i % 2]);
    mc_plan *plan = NULL;
    p[0].config.matrix = p[1].matrix;
    mc_diag_clear(diag);
    CHECK(mc_plan_create(contexts[0], &p[0].config, &plan, diag) == MC_USAGE && plan == NULL);
    CHECK_TEXT(mc_diag_text(diag), "the matrix is of another context");
    mc_diag_clear(diag);
    CHECK(mc_tune(contexts[0], &p[0].config, NULL, NULL, diag) == MC_USAGE);
    CHECK_TEXT(mc_diag_text(diag), "the matrix is of another context");
    product_close(&p[0]);
    mc_context_destroy(contexts[0]);
    product_check(&p[1]);
    product_close(&p[1]);
    mc_context_destroy(contexts[1]);
}

int main(void) {
    diag = mc_diag_create();
    test_refusals();
    test_struct_sizes();
    test_environment();
    test_relative_records();
    test_log_is_a_line();
    test_strings_are_copied();
    test_memory();
    test_allocator();
    test_two_contexts();
    test_no_context();
    test_no_handle();
    test_no_result();
    mc_diag_destroy(diag);
    return product_end(check_end());
}
