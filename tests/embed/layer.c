#include "layer.h"

#include <string.h>

enum { VEC = 8, BLOCKS = LAYER_ROWS / VEC, APART = 3, MOST_VECTORS = BLOCKS * LAYER_COLS / APART };

mc_context_config layer_context(const char *cache_directory, const char *records) {
    return (mc_context_config){.size = sizeof(mc_context_config),
                               .device = "sim",
                               .cache = MC_CACHE_READ_WRITE,
                               .cache_directory = cache_directory,
                               .records = records};
}

/* The columns with vectors differ from row block to row block. */
static int first_column(int block) { return block % APART; }

static int pattern(int32_t row_ptr[BLOCKS + 1], int32_t col_idx[MOST_VECTORS]) {
    int count = 0;
    for (int block = 0; block < BLOCKS; block++) {
        row_ptr[block] = count;
        for (int column = first_column(block); column < LAYER_COLS; column += APART)
            col_idx[count++] = column;
    }
    row_ptr[BLOCKS] = count;
    return count;
}

static int8_t some_s8(unsigned seed, unsigned index) {
    unsigned hash = (seed * 2654435761u + index) * 2246822519u;
    return (int8_t)((hash ^ hash >> 15) * 3266489917u >> 24);
}

static void fill(int8_t *bytes, size_t count, unsigned seed) {
    for (size_t i = 0; i < count; i++) bytes[i] = some_s8(seed, (unsigned)i);
}

mc_status layer_matrix(mc_context *context, unsigned seed, mc_matrix **matrix, mc_diag *diag) {
    int32_t row_ptr[BLOCKS + 1], col_idx[MOST_VECTORS];
    int8_t values[MOST_VECTORS * VEC];
    pattern(row_ptr, col_idx);
    fill(values, sizeof values, seed);
    const mc_matrix_config config = {.size = sizeof config,
                                     .type = MC_S8,
                                     .vec = VEC,
                                     .rows = LAYER_ROWS,
                                     .cols = LAYER_COLS,
                                     .row_ptr = row_ptr,
                                     .col_idx = col_idx,
                                     .values = values};
    return mc_matrix_create(context, &config, matrix, diag);
}

static mc_status put(mc_context *context, const void *data, size_t bytes, mc_address *address,
                     mc_diag *diag) {
    mc_status status = mc_memory_create(context, bytes, address, diag);
    return status == MC_OK ? mc_memory_write(context, *address, data, bytes, diag) : status;
}

mc_status layer_device_matrix(mc_context *context, unsigned seed, mc_matrix **matrix, mc_diag *diag) {
    int32_t row_ptr[BLOCKS + 1], col_idx[MOST_VECTORS];
    int8_t values[MOST_VECTORS * VEC];
    mc_device_matrix_config config = {
        .size = sizeof config, .type = MC_S8, .vec = VEC, .rows = LAYER_ROWS, .cols = LAYER_COLS};
    pattern(row_ptr, col_idx);
    fill(values, sizeof values, seed);
    *matrix = NULL;
    mc_status status = put(context, row_ptr, sizeof row_ptr, &config.row_ptr, diag);
    if (status == MC_OK) status = put(context, col_idx, sizeof col_idx, &config.col_idx, diag);
    if (status == MC_OK) status = put(context, values, sizeof values, &config.values, diag);
    if (status == MC_OK) status = mc_matrix_from_device(context, &config, NULL, matrix, diag);
    mc_memory_destroy(context, config.row_ptr);
    mc_memory_destroy(context, config.col_idx);
    mc_memory_destroy(context, config.values);
    return status;
}

mc_status layer_set_values(mc_matrix *matrix, unsigned seed, mc_diag *diag) {
    int8_t values[MOST_VECTORS * VEC];
    fill(values, sizeof values, seed);
    return mc_matrix_set_values(matrix, values, NULL, diag);
}

mc_plan_config layer_problem(mc_matrix *matrix, int n) {
    return (mc_plan_config){
        .size = sizeof(mc_plan_config), .op = MC_OP_SPMM, .matrix = matrix, .b = MC_S8, .c = MC_S32, .n = n};
}

mc_status layer_plan(mc_context *context, mc_matrix *matrix, int n, mc_plan **plan, mc_diag *diag) {
    const mc_plan_config config = layer_problem(matrix, n);
    return mc_plan_create(context, &config, plan, diag);
}

/* Elements of C that are not as they must be. */
static int compare(const int32_t *c, const int8_t *b, unsigned seed, int n) {
    int32_t row_ptr[BLOCKS + 1], col_idx[MOST_VECTORS], want[LAYER_ROWS][LAYER_MOST_N] = {{0}};
    int wrong = 0, count = pattern(row_ptr, col_idx), block = 0;
    for (int v = 0; v < count; v++) {
        while (v >= row_ptr[block + 1]) block++;
        for (int r = 0; r < VEC; r++)
            for (int j = 0; j < n; j++)
                want[block * VEC + r][j] += some_s8(seed, (unsigned)(v * VEC + r)) * b[col_idx[v] * n + j];
    }
    for (int i = 0; i < LAYER_ROWS * n; i++) wrong += c[i] != want[i / n][i % n];
    return wrong;
}

mc_status layer_execute(mc_context *context, const mc_plan *plan, unsigned seed, int n, int *wrong,
                        mc_diag *diag) {
    int8_t b[LAYER_COLS * LAYER_MOST_N];
    int32_t c[LAYER_ROWS * LAYER_MOST_N];
    size_t b_bytes = (size_t)(LAYER_COLS * n), c_bytes = (size_t)(LAYER_ROWS * n) * sizeof *c;
    mc_args args = {.size = sizeof args};
    fill(b, b_bytes, seed + 1);
    memset(c, 0x5a, c_bytes);
    mc_status status = mc_memory_create(context, b_bytes, &args.b, diag);
    if (status == MC_OK) status = mc_memory_create(context, c_bytes, &args.c, diag);
    if (status == MC_OK) status = mc_memory_write(context, args.b, b, b_bytes, diag);
    if (status == MC_OK) status = mc_memory_write(context, args.c, c, c_bytes, diag);
    if (status == MC_OK) status = mc_execute(plan, &args, 0, NULL, diag);
    if (status == MC_OK) status = mc_synchronize(context, NULL, diag);
    if (status == MC_OK) status = mc_memory_read(context, args.c, c, c_bytes, diag);
    mc_memory_destroy(context, args.b);
    mc_memory_destroy(context, args.c);
    *wrong = status == MC_OK ? compare(c, b, seed, n) : 0;
    return status;
}

mc_status layer_run(mc_context *context, unsigned seed, int n, int *wrong, mc_diag *diag) {
    mc_matrix *matrix = NULL;
    mc_plan *plan = NULL;
    int first = 0, second = 0;
    mc_status status = layer_matrix(context, seed, &matrix, diag);
    if (status == MC_OK) status = layer_plan(context, matrix, n, &plan, diag);
    if (status == MC_OK) status = layer_execute(context, plan, seed, n, &first, diag);
    if (status == MC_OK) status = layer_set_values(matrix, seed + 100, diag);
    if (status == MC_OK) status = layer_execute(context, plan, seed + 100, n, &second, diag);
    *wrong = first + second;
    mc_matrix_destroy(matrix);
    mc_plan_destroy(plan);
    return status;
}
