/* What the tests of tuning share: a context on the simulator, what it logs, and a small matrix. */
#ifndef TESTS_TUNE_COMMON_H
#define TESTS_TUNE_COMMON_H

#include <pthread.h>
#include <stdlib.h>
#include "../runtime/scratch.h"
#include "mcrt_internal.h"
#include "context/kernels.h"
#include "context/matrix.h"
#include "tune/tune.h"

/* A tile of columns; 8 columns of gap in C and 16 in B. */
enum { N = 32, ROWS = 24, LDC = N + 8, LDB = N + 16 };

/* -- A context, its log, a matrix */

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static char log_text[1 << 16];

static inline void log_line(void *user, mc_log_level level, const char *message) {
    (void)user, (void)level;
    pthread_mutex_lock(&log_lock);
    size_t used = strlen(log_text);
    snprintf(log_text + used, sizeof log_text - used, "%s\n", message);
    pthread_mutex_unlock(&log_lock);
}

/* The simulator; or, for TUNE_DEVICE=cuda:0, a driver that is one (tests/bench/sim_cuda.c),
   with graphs and events. */
static inline const char *device_name(void) {
    const char *name = getenv("TUNE_DEVICE");
    return name != NULL ? name : "sim";
}

static inline mc_context *open_context(const char *records, mc_diag *diag) {
    mc_context *context = NULL;
    const mc_context_config config = {.size = sizeof config,
                                      .device = device_name(),
                                      .cache = MC_CACHE_OFF,
                                      .tuning = MC_TUNING_OFF,
                                      .records = records,
                                      .log = log_line};
    log_text[0] = '\0';
    expect_ok("context", mc_context_create(&config, &context, diag), diag);
    return context;
}

/* A fifth of the vectors of BLOCKS row blocks; values all zero. */
static inline mc_matrix *make_matrix(mc_context *context, mc_type type, int vec, int64_t blocks, int64_t cols,
                                     mc_diag *diag) {
    mc_csr csr;
    mc_matrix *matrix = NULL;
    const mc_pattern pattern = {blocks, cols, .8, MC_PATTERN_UNIFORM, 0, 1};
    expect_ok("pattern", mc_csr_generate(&pattern, &csr, diag), diag);
    int32_t *row_ptr = calloc((size_t)blocks + 1, sizeof *row_ptr);
    for (int64_t i = 0; i <= blocks; i++) row_ptr[i] = (int32_t)csr.row_ptr[i];
    const mc_matrix_config config = {.size = sizeof config,
                                     .type = type,
                                     .vec = vec,
                                     .rows = blocks * vec,
                                     .cols = cols,
                                     .row_ptr = row_ptr,
                                     .col_idx = csr.col_idx};
    expect_ok("matrix", mc_matrix_create(context, &config, &matrix, diag), diag);
    mc_csr_free(&csr);
    free(row_ptr);
    return matrix;
}

static inline mc_plan_config spmm_of(mc_matrix *matrix, int64_t n) {
    return (mc_plan_config){.size = sizeof(mc_plan_config),
                            .op = MC_OP_SPMM,
                            .matrix = matrix,
                            .b = MC_S8,
                            .c = MC_S32,
                            .n = n,
                            .ldb = n + LDB - N,
                            .ldc = n + LDC - N};
}

/* A small SpMM, and a context that knows nothing of it. */
typedef struct bench {
    mc_context *context;
    mc_matrix *matrix;
    mc_plan_config config;
} bench;

/* RECORDS: the file of records, NULL: one that cannot be written. SPEC: the one to choose from, NULL: those
   built in. */
static inline bench open_bench(const char *records, const char *const *spec, mc_diag *diag) {
    bench b = {.context = open_context(records != NULL ? records : "/dev/null/records", diag)};
    b.matrix = make_matrix(b.context, MC_S8, 8, ROWS / 8, 64, diag);
    b.config = spmm_of(b.matrix, N);
    b.config.specs = spec;
    b.config.spec_count = spec != NULL;
    return b;
}

static inline void close_bench(const bench *b) {
    mc_matrix_destroy(b->matrix);
    mc_context_destroy(b->context);
}

#endif
