/* A program that was compiled with the first mcrt.h: its structs as they were, their sizes, and bytes of no meaning behind
 * them, which the library must not read. It runs on the simulator as it always did. */
#include <stdlib.h>
#include "check.h"
#include "mcrt.h"

/* -- The structs of the first version that have grown since */

typedef struct first_plan_config {
    size_t size;
    mc_op op;
    mc_matrix *matrix;
    mc_type a, b, c;
    int64_t n, k;
    int64_t lda, ldb, ldc;
    mc_per scale, bias;
    mc_activation activation;
    bool exact;
    mc_layout b_layout;
    mc_order c_order;
    bool mask_values;
    unsigned align;
    mc_shapes shapes;
    mc_tuning tuning;
    const char *const *specs;
    size_t spec_count;
} first_plan_config;
_Static_assert(sizeof(void *) != 8 || sizeof(first_plan_config) == 136, "as it was");

typedef struct first_matrix_config {
    size_t size;
    mc_type type;
    int vec;
    int64_t rows, cols;
    const int32_t *row_ptr, *col_idx;
    const void *values;
} first_matrix_config;
_Static_assert(sizeof(void *) != 8 || sizeof(first_matrix_config) == 56, "as it was");

typedef struct first_args {
    size_t size;
    mc_address a, b, c;
    mc_address scale, bias;
    float scale_value;
} first_args;
_Static_assert(sizeof(void *) != 8 || sizeof(first_args) == 56, "as it was");

typedef struct first_plan_info {
    size_t size;
    mc_origin origin;
    double microseconds;
    const char *spec, *fields;
    uint64_t hash;
    const char *jit_log;
    int64_t c_elements;
} first_plan_info;
_Static_assert(sizeof(void *) != 8 || sizeof(first_plan_info) == 64, "as it was");

typedef struct first_matrix_info {
    size_t size;
    mc_type type;
    int vec;
    int64_t rows, cols, vectors, device_bytes;
} first_matrix_info;
_Static_assert(sizeof(void *) != 8 || sizeof(first_matrix_info) == 48, "as it was");

enum { BEHIND = 256 };

/* FROM, with bytes behind it that are neither zeros nor addresses. The caller frees. */
static void *followed(const void *from, size_t size) {
    unsigned char *bytes = malloc(size + BEHIND);
    if (bytes == NULL) abort();
    memset(bytes, 0xa5, size + BEHIND);
    memcpy(bytes, from, size);
    return bytes;
}

/* -- The program */

enum { ROWS = 8, COLUMNS = 24, N = 16 };

static mc_diag *diag;
static mc_context *context;
static int8_t a[ROWS][COLUMNS], b[COLUMNS][N];
static int32_t c[ROWS][N];

static bool worked(const char *what, mc_status status) {
    CHECK(status == MC_OK, "%s: %s", what, mc_diag_text(diag));
    mc_diag_clear(diag);
    return status == MC_OK;
}

static mc_address upload(const void *data, size_t bytes) {
    mc_address address = 0;
    if (worked("memory", mc_memory_create(context, bytes, &address, diag)))
        (void)worked("copy", mc_memory_write(context, address, data, bytes, diag));
    return address;
}

static void check_c(void) {
    int wrong = 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < N; j++) {
            int sum = 0;
            for (int k = 0; k < COLUMNS; k++) sum += a[i][k] * b[k][j];
            wrong += c[i][j] != sum;
        }
    CHECK(wrong == 0, "%d elements wrong", wrong);
}

static void execute(const mc_plan *plan) {
    const first_args args = {
        .size = sizeof args, .b = upload(b, sizeof b), .c = upload(c, sizeof c), .scale_value = 1};
    mc_args *given = followed(&args, sizeof args);
    if (worked("execution", mc_execute(plan, given, 0, NULL, diag)) &&
        worked("copy", mc_memory_read(context, args.c, c, sizeof c, diag)))
        check_c();
    mc_memory_destroy(context, args.b);
    mc_memory_destroy(context, args.c);
    free(given);
}

/* What it does not know is not written. */
static void look_at(const mc_plan *plan) {
    const first_plan_info empty = {.size = sizeof empty};
    first_plan_info *info = followed(&empty, sizeof empty);
    const unsigned char *behind = (const unsigned char *)(info + 1);
    if (worked("info", mc_plan_get_info(plan, (mc_plan_info *)info, diag)))
        CHECK(info->size == sizeof *info && info->c_elements == ROWS * N, "of %zu bytes, %lld elements",
              info->size, (long long)info->c_elements);
    for (int i = 0; i < BEHIND; i++) CHECK(behind[i] == 0xa5, "byte %d behind the info was written", i);
    free(info);
}

static void look_at_matrix(const mc_matrix *matrix) {
    const first_matrix_info empty = {.size = sizeof empty};
    first_matrix_info *info = followed(&empty, sizeof empty);
    const unsigned char *behind = (const unsigned char *)(info + 1);
    if (worked("info", mc_matrix_get_info(matrix, (mc_matrix_info *)info, diag)))
        CHECK(info->size == sizeof *info && info->rows == ROWS, "of %zu bytes", info->size);
    for (int i = 0; i < BEHIND; i++) CHECK(behind[i] == 0xa5, "byte %d behind the info was written", i);
    free(info);
}

static void run(mc_matrix *matrix) {
    const first_plan_config config = {
        .size = sizeof config, .op = MC_OP_SPMM, .matrix = matrix, .b = MC_S8, .c = MC_S32, .n = N};
    mc_plan_config *given = followed(&config, sizeof config);
    mc_tune_config tune = {.size = sizeof tune, .candidates = 1, .worker = ""};
    mc_plan *plan = NULL;
    if (worked("plan", mc_plan_create(context, given, &plan, diag))) {
        execute(plan);
        look_at(plan);
        look_at_matrix(matrix);
    }
    (void)worked("tuning", mc_tune(context, given, &tune, NULL, diag));
    mc_plan_destroy(plan);
    free(given);
}

/* A row block with all of its columns. */
static void run_vectors(void) {
    int32_t row_ptr[] = {0, COLUMNS}, col_idx[COLUMNS];
    int8_t values[COLUMNS][ROWS];
    for (int j = 0; j < COLUMNS; j++) {
        col_idx[j] = j;
        for (int i = 0; i < ROWS; i++) values[j][i] = a[i][j];
    }
    const first_matrix_config config = {.size = sizeof config,
                                        .type = MC_S8,
                                        .vec = ROWS,
                                        .rows = ROWS,
                                        .cols = COLUMNS,
                                        .row_ptr = row_ptr,
                                        .col_idx = col_idx,
                                        .values = values};
    mc_matrix_config *given = followed(&config, sizeof config);
    mc_matrix *matrix = NULL;
    if (worked("matrix of vectors", mc_matrix_create(context, given, &matrix, diag))) run(matrix);
    mc_matrix_destroy(matrix);
    free(given);
}

int main(void) {
    const mc_context_config config = {
        .size = sizeof config, .device = "sim", .cache = MC_CACHE_OFF, .records = ""};
    const mc_dense_config dense = {
        .size = sizeof dense, .type = MC_S8, .vec = 8, .rows = ROWS, .cols = COLUMNS, .data = a};
    mc_matrix *matrix = NULL;
    diag = mc_diag_create();
    for (int i = 0; i < ROWS * COLUMNS; i++) a[i / COLUMNS][i % COLUMNS] = (int8_t)(i % 3 ? 5 * i : 0);
    for (int i = 0; i < COLUMNS * N; i++) b[i / N][i % N] = (int8_t)(3 * i - 50);
    if (worked("context", mc_context_create(&config, &context, diag)) &&
        worked("matrix", mc_matrix_from_dense(context, &dense, &matrix, diag)))
        run(matrix);
    mc_matrix_destroy(matrix);
    if (context != NULL) run_vectors();
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return check_end();
}
