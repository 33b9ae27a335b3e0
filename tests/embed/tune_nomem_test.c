/* Tuning where the nth allocation fails, or all from the nth on: success or MC_NOMEM, no kernel taken for
   faulty for it, nothing leaks (AddressSanitizer tells), and the next tuning goes well. */
#include <jansson.h>
#include "../runtime/scratch.h"
#include "layer.h"
#include "nomem.h"

enum { EACH = 200, SEED = 7, COLUMNS = 16 };

static const char small[] = "op = 'spmm' tile_n = 32 warps = {2, 1} split = 1 prefetch = 'on'";

static mc_status open_context(mc_context **context, mc_diag *diag) {
    const mc_context_config config = {
        .size = sizeof config, .device = "sim", .cache = MC_CACHE_MEMORY, .records = "/dev/null/records"};
    return mc_context_create(&config, context, diag);
}

static mc_status tune(mc_context *context, mc_matrix *matrix, const char *spec, mc_tune_result *result,
                      mc_diag *diag) {
    mc_plan_config problem = layer_problem(matrix, COLUMNS);
    problem.specs = &spec;
    problem.spec_count = 1;
    const mc_tune_config config = {.size = sizeof config, .again = true};
    *result = (mc_tune_result){.size = sizeof *result};
    return mc_tune(context, &problem, &config, result, diag);
}

static void test_failures(mc_context *context, mc_matrix *matrix, const char *spec, bool stays,
                          mc_diag *diag) {
    mc_tune_result result;
    long n = 0, runs = 0, reported = 0;
    for (int failed = 1; failed; n += runs < EACH ? 1 : 1 + n / EACH, runs++) {
        mc_diag_clear(diag);
        nomem_begin(n, stays);
        mc_status status = tune(context, matrix, spec, &result, diag);
        failed = nomem_end();
        CHECK(status == MC_OK || (failed && status == MC_NOMEM), "allocation %ld%s: %s: %s", n + 1,
              stays ? " and all after it" : "", mc_status_text(status), mc_diag_text(diag));
        CHECK(result.wrong == 0 && result.failed == 0, "allocation %ld%s: %zu wrong, %zu failed", n + 1,
              stays ? " and all after it" : "", result.wrong, result.failed);
        reported += status == MC_NOMEM;
    }
    CHECK(reported > 0, "nothing was reported");
    mc_diag_clear(diag);
    expect_ok("then", tune(context, matrix, spec, &result, diag), diag);
    CHECK(result.measured == 2 && result.complete, "%zu measured", result.measured);
    printf("%s: %ld runs, %ld allocations, %ld reported\n", stays ? "all from one on" : "one", runs, n,
           reported);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    mc_context *context;
    mc_matrix *matrix;
    scratch_begin();
    json_set_alloc_funcs(__real_malloc, free); /* jansson 2.14 asserts that a token's bytes could be kept */
    const char *spec = strdup(scratch_write("small.lua", small, sizeof small - 1));
    expect_ok("context", open_context(&context, diag), diag);
    expect_ok("matrix", layer_matrix(context, SEED, &matrix, diag), diag);
    for (int stays = 0; stays < 2; stays++) test_failures(context, matrix, spec, stays != 0, diag);
    mc_matrix_destroy(matrix);
    mc_context_destroy(context);
    unlink(spec);
    free((char *)spec);
    mc_diag_destroy(diag);
    return scratch_end();
}
