/* How good the kernel of a problem without a record is: untuned N MATRIX.smtx... plans each matrix
 * (s8 x s8 -> f16, V = 8, N columns) with the records that the library ships, then tunes it, and prints how
 * much longer the planned kernel takes than the fastest. Exit status 77: no GPU. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "mcrt_internal.h"
#include "choose/choose.h"
#include "context/matrix.h"
#include "records/record.h"

static mc_diag *diag;

static mc_status open_matrix(mc_context *context, const char *path, mc_matrix **matrix) {
    mc_csr csr = {0};
    mc_vsparse a = {0};
    mc_status status = mc_csr_read(path, &csr, diag);
    if (status == MC_OK) status = mc_vsparse_dilate(&csr, 8, MC_S8, &a, diag);
    if (status == MC_OK) status = matrix_of_host(context, &a, matrix, diag);
    mc_vsparse_free(&a);
    mc_csr_free(&csr);
    return status;
}

/* Microseconds of the kernel of HASH in the record that tuning made; 0: it was not timed. */
static double recorded_us(const mc_context *context, const mc_plan_config *config, uint64_t hash,
                          double *best) {
    plan_problem problem;
    record r;
    double us = 0;
    if (plan_problem_of(config, &config->matrix->host, &problem, diag) != MC_OK ||
        !record_find(context->records, mc_device_get_info(context->device)->name, &problem, false, &r))
        return 0;
    *best = r.microseconds;
    for (size_t i = 0; i < r.candidate_count; i++)
        if (r.candidates[i].hash == hash && r.candidates[i].status == RECORD_TIMED)
            us = r.candidates[i].microseconds;
    record_free(&r);
    return us;
}

/* The ratio, or 0. */
static double measure(mc_context *context, mc_matrix *matrix, int64_t n, const char *path) {
    const mc_plan_config config = {
        .size = sizeof config, .matrix = matrix, .b = MC_S8, .c = MC_F16, .n = n, .scale = MC_PER_ROW};
    const mc_tune_config tune = {.size = sizeof tune, .again = true};
    mc_plan *plan = NULL;
    mc_plan_info info = {.size = sizeof info};
    double best = 0, us = 0;
    mc_status status = mc_plan_create(context, &config, &plan, diag);
    if (status == MC_OK) status = mc_plan_get_info(plan, &info, diag);
    if (status == MC_OK) status = mc_tune(context, &config, &tune, NULL, diag);
    if (status == MC_OK) us = recorded_us(context, &config, info.hash, &best);
    if (us > 0)
        printf("%-9s %8.2f us  best %8.2f us  %.3f  %s\n", choice_origin_texts[info.origin], us, best,
               us / best, path);
    else
        printf("%-9s not timed: %s  %s\n", status == MC_OK ? choice_origin_texts[info.origin] : "failed",
               mc_diag_text(diag), path);
    mc_plan_destroy(plan);
    mc_diag_clear(diag);
    return us > 0 ? us / best : 0;
}

/* In a context of its own, which knows of no other problem's tuning but the shipped ones. */
static double measure_one(int64_t n, const char *path) {
    const mc_context_config config = {.size = sizeof config, .device = "cuda:0", .records = ""};
    mc_context *context = NULL;
    mc_matrix *matrix = NULL;
    mc_status status = mc_context_create(&config, &context, diag);
    if (status == MC_OK) status = open_matrix(context, path, &matrix);
    double ratio = status == MC_OK ? measure(context, matrix, n, path) : 0;
    if (status != MC_OK) fprintf(stderr, "%s: %s\n", mc_status_text(status), mc_diag_text(diag));
    mc_diag_clear(diag);
    mc_matrix_destroy(matrix);
    mc_context_destroy(context);
    return ratio;
}

int main(int argc, char **argv) {
    if (mc_device_cuda_count() == 0) {
        printf("SKIPPED: no GPU\n");
        return 77;
    }
    diag = mc_diag_create();
    double logs = 0, worst = 0;
    int count = 0;
    for (int i = 2; i < argc; i++) {
        double ratio = measure_one(atoi(argv[1]), argv[i]);
        if (ratio == 0) continue;
        logs += log(ratio);
        worst = fmax(worst, ratio);
        count++;
    }
    printf("%d problems: geometric mean %.3f, worst %.3f\n", count, exp(logs / (count ? count : 1)), worst);
    mc_diag_destroy(diag);
    return count == 0;
}
