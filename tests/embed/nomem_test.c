/* Lets the nth allocation fail, or all from the nth on, in each of the library's functions: what comes of it
 * is success or MC_NOMEM, nothing leaks (AddressSanitizer tells),
 * and what was open before goes on working. */
#include <jansson.h>
#include <unistd.h>
#include "check.h"
#include "layer.h"
#include "nomem.h"
#include "tree.h"

/* What a phase works on, and how far it came. */
typedef struct bench {
    mc_context *context;
    mc_matrix *matrix;
    mc_plan *plan;
    int n;     /* columns of B: a kernel for each */
    int wrong; /* elements */
} bench;

/* COLD_N columns and more are those of kernels that are used in turn, more of them than stay loaded. */
enum { USUAL_N = 16, COLD_N = 24, SEED = 7 };

static char root[] = "nomem-XXXXXX", cache_directory[64], records[64];
static mc_diag *diag;

static mc_status open_context(mc_cache_mode mode, mc_context **context) {
    mc_context_config config = layer_context(cache_directory, records);
    config.cache = mode;
    return mc_context_create(&config, context, diag);
}

/* -- Phases: each leaves what it made in the bench, and make_good puts back what it must not break ------- */

static mc_status do_context(bench *b) {
    mc_context *context = NULL;
    (void)b;
    mc_status status = open_context(MC_CACHE_READ_WRITE, &context);
    CHECK((context != NULL) == (status == MC_OK), "context %d, status %d", context != NULL, (int)status);
    mc_context_destroy(context);
    return status;
}

static mc_status do_matrix(bench *b) {
    mc_matrix *matrix = NULL;
    mc_status status = layer_matrix(b->context, SEED, &matrix, diag);
    CHECK((matrix != NULL) == (status == MC_OK), "matrix %d, status %d", matrix != NULL, (int)status);
    mc_matrix_destroy(matrix);
    return status;
}

/* A plan of MATRIX that was made is right, whatever failed on the way. */
static mc_status plan_with(bench *b, mc_matrix *matrix, int n) {
    mc_plan *plan = NULL;
    int wrong = 0;
    mc_status status = layer_plan(b->context, matrix, n, &plan, diag);
    int failed = nomem_end();
    CHECK((plan != NULL) == (status == MC_OK), "plan %d, status %d", plan != NULL, (int)status);
    if (plan != NULL) {
        mc_status executed = layer_execute(b->context, plan, SEED, n, &wrong, diag);
        CHECK(executed == MC_OK && wrong == 0, "%s; %d wrong", mc_diag_text(diag), wrong);
    }
    mc_plan_destroy(plan);
    nomem_failed = failed;
    return status;
}

static mc_status plan_and_execute(bench *b, int n) { return plan_with(b, b->matrix, n); }

/* Packed on the device. */
static mc_status do_device_matrix(bench *b) {
    mc_matrix *matrix = NULL;
    mc_status status = layer_device_matrix(b->context, SEED, &matrix, diag);
    CHECK((matrix != NULL) == (status == MC_OK), "matrix %d, status %d", matrix != NULL, (int)status);
    if (status == MC_OK) status = plan_with(b, matrix, USUAL_N);
    mc_matrix_destroy(matrix);
    return status;
}

static mc_status do_warm_plan(bench *b) { return plan_and_execute(b, USUAL_N); }

/* Of a kernel that is not loaded. */
static mc_status do_cold_plan(bench *b) {
    b->n = b->n < LAYER_MOST_N ? b->n + 1 : COLD_N;
    return plan_and_execute(b, b->n);
}

/* Of two kernels. */
static mc_status do_transposed_plan(bench *b) {
    mc_plan_config config = layer_problem(b->matrix, USUAL_N);
    mc_plan *plan = NULL;
    config.b_major = MC_MAJOR_COLUMN;
    mc_status status = mc_plan_create(b->context, &config, &plan, diag);
    CHECK((plan != NULL) == (status == MC_OK), "plan %d, status %d", plan != NULL, (int)status);
    CHECK(plan == NULL || mc_plan_workspace(plan) > 0, "no workspace");
    mc_plan_destroy(plan);
    return status;
}

/* Of three kernels: two passes, and a product. */
static mc_status do_passes_plan(bench *b) {
    const mc_plan_config config = {.size = sizeof config,
                                   .op = MC_OP_GEMM,
                                   .a = MC_S8,
                                   .b = MC_S8,
                                   .c = MC_S32,
                                   .m = 40,
                                   .n = 24,
                                   .k = 32,
                                   .a_major = MC_MAJOR_COLUMN,
                                   .b_layout = MC_LAYOUT_ROWS};
    mc_plan *plan = NULL;
    mc_pass_info pass = {.size = sizeof pass};
    mc_status status = mc_plan_create(b->context, &config, &plan, diag);
    CHECK((plan != NULL) == (status == MC_OK), "plan %d, status %d", plan != NULL, (int)status);
    CHECK(plan == NULL || mc_plan_get_pass(plan, 1, &pass, NULL) == MC_OK, "no second pass");
    mc_plan_destroy(plan);
    return status;
}

/* Without memory for the dense kernel there is still the sparse one. */
static mc_status do_dense_plan(bench *b) {
    mc_plan_config config = layer_problem(b->matrix, USUAL_N);
    mc_plan *plan = NULL;
    config.b_major = MC_MAJOR_COLUMN, config.dense = MC_DENSE_IF_FASTER;
    mc_status status = mc_plan_create(b->context, &config, &plan, diag);
    CHECK((plan != NULL) == (status == MC_OK), "plan %d, status %d", plan != NULL, (int)status);
    mc_plan_info info = {.size = sizeof info};
    if (plan != NULL) CHECK(mc_plan_get_info(plan, &info, NULL) == MC_OK && info.dense_reason[0] != '\0');
    CHECK(plan == NULL || nomem_failed || info.dense, "%s", info.dense_reason);
    mc_plan_destroy(plan);
    return status;
}

static mc_status do_execute(bench *b) {
    return layer_execute(b->context, b->plan, SEED, USUAL_N, &b->wrong, diag);
}

/* Values that could not be replaced are those of before. */
static mc_status do_values(bench *b) {
    mc_status status = layer_set_values(b->matrix, SEED + 1, diag);
    int failed = nomem_end(), wrong = 0;
    mc_status executed =
        layer_execute(b->context, b->plan, status == MC_OK ? SEED + 1 : SEED, USUAL_N, &wrong, diag);
    CHECK(executed == MC_OK && wrong == 0, "%s; %d wrong", mc_diag_text(diag), wrong);
    executed = layer_set_values(b->matrix, SEED, diag);
    CHECK(executed == MC_OK, "%s", mc_diag_text(diag));
    nomem_failed = failed;
    return status;
}

/* No kernel is called wrong or faulty because there was no memory for it. */
static mc_status do_tuning(bench *b) {
    const mc_tune_config config = {.size = sizeof config, .candidates = 2, .again = true};
    mc_tune_result result = {.size = sizeof result};
    const mc_plan_config problem = layer_problem(b->matrix, USUAL_N);
    mc_status status = mc_tune(b->context, &problem, &config, &result, diag);
    nomem_failed |= nomem_end();
    CHECK(status != MC_OK || (result.wrong == 0 && result.failed == 0 && result.measured >= 2),
          "%d measured, %d wrong, %d failed", (int)result.measured, (int)result.wrong, (int)result.failed);
    return status;
}

static mc_status do_records(bench *b) {
    char path[80];
    size_t count = 0;
    snprintf(path, sizeof path, "%s/exported", root);
    mc_status status = mc_records_export(b->context, path, &count, diag);
    if (status == MC_OK) status = mc_records_import(b->context, path, &count, diag);
    int failed = nomem_end();
    (void)unlink(path);
    nomem_failed = failed;
    return status == MC_IO && failed ? MC_NOMEM
                                     : status; /* what errno says of a name's copy or of a stream */
}

static const struct phase {
    const char *name;
    mc_status (*run)(bench *b);
    mc_cache_mode cache;
    int most; /* failures tried: the first ones, and then others in steps that grow; of a part fewer */
} phases[] = {
    {"context", do_context, MC_CACHE_OFF, 20},
    {"matrix", do_matrix, MC_CACHE_OFF, 60},
    {"matrix from device memory", do_device_matrix, MC_CACHE_OFF, 60},
    {"plan, cold", do_cold_plan, MC_CACHE_OFF, 30},
    {"plan, the choice cached", do_warm_plan, MC_CACHE_READ_WRITE, 60},
    {"plan, all of it cached", do_cold_plan, MC_CACHE_READ_WRITE, 60},
    {"plan, B by columns", do_transposed_plan, MC_CACHE_OFF, 30},
    {"plan, two passes", do_passes_plan, MC_CACHE_OFF, 5},
    {"plan, never slower than dense", do_dense_plan, MC_CACHE_OFF, 10},
    {"execution", do_execute, MC_CACHE_OFF, 60},
    {"new values", do_values, MC_CACHE_OFF, 60},
    {"tuning", do_tuning, MC_CACHE_READ_WRITE, 6},
    {"records", do_records, MC_CACHE_OFF, 60},
};

static bool make_bench(const struct phase *phase, bench *b) {
    *b = (bench){.n = COLD_N - 1};
    mc_status status = open_context(phase->cache, &b->context);
    if (status == MC_OK) status = layer_matrix(b->context, SEED, &b->matrix, diag);
    for (int n = COLD_N; phase->cache == MC_CACHE_READ_WRITE && n <= LAYER_MOST_N && status == MC_OK; n++)
        status = plan_and_execute(b, n);
    if (status == MC_OK) status = layer_plan(b->context, b->matrix, USUAL_N, &b->plan, diag);
    CHECK(status == MC_OK, "%s: %s", phase->name, mc_diag_text(diag));
    return status == MC_OK;
}

static void drop_bench(bench *b) {
    mc_plan_destroy(b->plan);
    mc_matrix_destroy(b->matrix);
    mc_context_destroy(b->context);
}

/* Runs with the Nth allocation failing; whether there were so many. */
static bool run_once(const struct phase *phase, bench *b, long n, bool stays, int *reported) {
    mc_diag_clear(diag);
    nomem_begin(n, stays);
    mc_status status = phase->run(b);
    bool failed = nomem_end() || nomem_failed;
    CHECK(status == MC_OK || (failed && status == MC_NOMEM), "%s: allocation %ld%s: %s: %s", phase->name,
          n + 1, stays ? " and all after it" : "", mc_status_text(status), mc_diag_text(diag));
    CHECK(b->wrong == 0, "%s: allocation %ld: %d elements are wrong", phase->name, n + 1, b->wrong);
    *reported += status == MC_NOMEM;
    return failed;
}

/* Whether all goes well after so many failures. */
static void run_well(const struct phase *phase, bench *b) {
    int wrong = 0;
    mc_diag_clear(diag);
    CHECK(phase->run(b) == MC_OK, "%s, without failure: %s", phase->name, mc_diag_text(diag));
    mc_status status = layer_run(b->context, SEED + 3, USUAL_N + 1, &wrong, diag);
    CHECK(status == MC_OK && wrong == 0, "after %s: %s; %d wrong", phase->name, mc_diag_text(diag), wrong);
}

static void run_phase(const struct phase *phase, bool stays) {
    enum { LEAST = 3 };
    const int part = phase->most / check_part().step, most = part > LEAST ? part : LEAST;
    bench b;
    int reported = 0, runs = 0;
    long n = 0, last = 0;
    if (make_bench(phase, &b)) {
        for (bool failed = true; failed; n += runs < most ? 1 : 1 + n / most) {
            failed = run_once(phase, &b, n, stays, &reported);
            last = n;
            runs++;
        }
        CHECK(reported > 0, "%s: nothing was reported", phase->name);
        run_well(phase, &b);
    }
    drop_bench(&b);
    printf("%s, %s: %d runs, %ld allocations, %d reported\n", phase->name, stays ? "all from one on" : "one",
           runs, last, reported);
}

int main(void) {
    diag = mc_diag_create();
    if (diag == NULL || mkdtemp(root) == NULL) return 1;
    json_set_alloc_funcs(__real_malloc, free); /* jansson 2.14 asserts that a token's bytes could be kept */
    snprintf(cache_directory, sizeof cache_directory, "%s/cache", root);
    snprintf(records, sizeof records, "%s/records.jsonl", root);
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        for (int stays = 0; stays < 2; stays++) run_phase(&phases[i], stays != 0);
    mc_diag_destroy(diag);
    tree_remove(root);
    return check_end();
}
