/* Matrices: what none has is refused with its place; dense ones; new values in all packings; lifetimes. */
#include <stdlib.h>
#include "mcrt_internal.h"
#include "context/matrix.h"
#include "product.h"

mc_diag *diag;
static mc_context *context;

/* -- What no matrix has: changes to one that is right, 16 x 40 with 4 vectors of s12 */

static const int32_t row_ptr[] = {0, 3, 4}, col_idx[] = {0, 7, 39, 5};
static const int16_t values[32] = {-2048, 2047};

#define MATRIX(...)                                                                                          \
    { .size = sizeof(mc_matrix_config), .type = MC_S12, __VA_ARGS__ }

static const struct refusal {
    mc_matrix_config config;
    mc_status status;
    const char *message;
} refusals[] = {
    {MATRIX(.vec = 3, .rows = 16, .cols = 40, .row_ptr = row_ptr, .col_idx = col_idx), MC_USAGE,
     "vec is 3, must be 1, 2, 4, 8 or 16"},
    {MATRIX(.vec = 32, .rows = 32, .cols = 40, .row_ptr = row_ptr, .col_idx = col_idx), MC_USAGE,
     "vec is 32, must be 1, 2, 4, 8 or 16"},
    {{.size = sizeof(mc_matrix_config), .type = MC_F16, .vec = 12, .rows = 24, .cols = 40},
     MC_USAGE,
     "vec is 12, must be 1, 2, 4, 8 or 16"},
    {MATRIX(.vec = 8, .rows = 17, .cols = 40, .row_ptr = row_ptr, .col_idx = col_idx), MC_USAGE,
     "rows is 17, must be a multiple of vec = 8"},
    {MATRIX(.vec = 8, .rows = -8, .cols = 40, .row_ptr = row_ptr, .col_idx = col_idx), MC_USAGE,
     "rows is -8"},
    {MATRIX(.vec = 8, .rows = (int64_t)1 << 31, .cols = 40, .row_ptr = row_ptr, .col_idx = col_idx), MC_USAGE,
     "rows is 2147483648"},
    {MATRIX(.vec = 8, .rows = 16, .cols = -1, .row_ptr = row_ptr, .col_idx = col_idx), MC_USAGE,
     "cols is -1, must be 0 to 2147483647"},
    {MATRIX(.vec = 8, .rows = 16, .cols = 40, .col_idx = col_idx), MC_USAGE, "row_ptr is NULL"},
    {MATRIX(.vec = 8, .rows = 16, .cols = 40, .row_ptr = row_ptr), MC_USAGE, "col_idx is NULL"},
    {MATRIX(.vec = 8, .rows = 16, .cols = 40, .row_ptr = (const int32_t[]){1, 3, 4}, .col_idx = col_idx),
     MC_FORMAT, "row_ptr[0] is 1, must be 0"},
    {MATRIX(.vec = 8, .rows = 16, .cols = 40, .row_ptr = (const int32_t[]){0, 3, 2}, .col_idx = col_idx),
     MC_FORMAT, "row_ptr[2] is 2, less than the 3 before it"},
    {MATRIX(.vec = 8, .rows = 16, .cols = 40, .row_ptr = (const int32_t[]){0, -1, 2}, .col_idx = col_idx),
     MC_FORMAT, "row_ptr[1] is -1, less than the 0 before it"},
    {MATRIX(.vec = 8, .rows = 16, .cols = 39, .row_ptr = row_ptr, .col_idx = col_idx), MC_FORMAT,
     "col_idx[2], of row block 0, is 39: columns ascend and are less than 39"},
    {MATRIX(.vec = 8, .rows = 16, .cols = 40, .row_ptr = row_ptr, .col_idx = (const int32_t[]){0, 7, 7, 5}),
     MC_FORMAT, "col_idx[2], of row block 0, is 7: columns ascend"},
    {MATRIX(.vec = 8, .rows = 16, .cols = 40, .row_ptr = row_ptr, .col_idx = (const int32_t[]){0, 7, 8, -1}),
     MC_FORMAT, "col_idx[3], of row block 1, is -1"},
    {MATRIX(.vec = 8, .rows = 16, .cols = 40, .row_ptr = row_ptr, .col_idx = col_idx,
            .values = (const int16_t[32]){[9] = 2048}),
     MC_FORMAT, "values[9] is 2048, out of s12's range"},
    {MATRIX(.vec = 8, .rows = 16, .cols = 40, .row_ptr = row_ptr, .col_idx = col_idx, .patterns = 3),
     MC_USAGE, "patterns is 3, must divide the 2 row blocks"},
    {MATRIX(.vec = 8, .rows = 16, .cols = 40, .row_ptr = row_ptr, .col_idx = col_idx, .patterns = -1),
     MC_USAGE, "patterns is -1"},
    {MATRIX(.vec = 8, .rows = 16, .cols = 1 << 30, .row_ptr = row_ptr, .col_idx = col_idx, .patterns = 2),
     MC_USAGE, "2 patterns of 1073741824 columns: must be 2147483647 columns at most"},
};

static void test_refusals(void) {
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        mc_matrix *matrix = (mc_matrix *)&context;
        mc_diag_clear(diag);
        mc_status status = mc_matrix_create(context, &refusals[i].config, &matrix, diag);
        CHECK(status == refusals[i].status && matrix == NULL, "row %zu: %s", i, mc_status_text(status));
        CHECK(mc_diag_count(diag) == 1, "row %zu: %zu messages", i, mc_diag_count(diag));
        CHECK_TEXT(mc_diag_text(diag), refusals[i].message);
    }
    mc_matrix *matrix;
    mc_matrix_config config =
        MATRIX(.vec = 8, .rows = 16, .cols = 40, .row_ptr = row_ptr, .col_idx = col_idx);
    config.type = (mc_type)99;
    CHECK(mc_matrix_create(context, &config, &matrix, NULL) == MC_USAGE);
    config.size = 8;
    CHECK(mc_matrix_create(context, &config, &matrix, NULL) == MC_USAGE);
    CHECK(mc_matrix_create(context, NULL, &matrix, NULL) == MC_USAGE);
}

static void test_info(void) {
    const mc_matrix_config config =
        MATRIX(.vec = 8, .rows = 16, .cols = 40, .row_ptr = row_ptr, .col_idx = col_idx, .values = values);
    mc_matrix *matrix = NULL;
    mc_matrix_info info = {.size = sizeof info};
    (void)worked("mc_matrix_create", mc_matrix_create(context, &config, &matrix, diag));
    (void)worked("mc_matrix_get_info", mc_matrix_get_info(matrix, &info, diag));
    CHECK(info.type == MC_S12 && info.vec == 8 && info.rows == 16 && info.cols == 40 && info.vectors == 4);
    CHECK(info.device_bytes == 0, "nothing is packed yet");
    CHECK(mc_vsparse_value(&matrix->host, 0, 0) == -2048 && mc_vsparse_value(&matrix->host, 0, 1) == 2047);
    mc_diag_clear(diag);
    CHECK(mc_matrix_set_values(matrix, NULL, NULL, diag) == MC_USAGE);
    CHECK_TEXT(mc_diag_text(diag), "values is NULL");
    mc_diag_clear(diag);
    CHECK(mc_matrix_set_values(matrix, (const int16_t[32]){[31] = -2049}, NULL, diag) == MC_FORMAT);
    CHECK_TEXT(mc_diag_text(diag), "values[31] is -2049, out of s12's range");
    CHECK(mc_vsparse_value(&matrix->host, 0, 1) == 2047, "values stay after a failure");
    int32_t read_ptr[3], read_idx[4];
    int16_t read_values[32];
    (void)worked("mc_matrix_read", mc_matrix_read(matrix, read_ptr, read_idx, read_values, diag));
    CHECK(memcmp(read_ptr, row_ptr, sizeof read_ptr) == 0 && memcmp(read_idx, col_idx, sizeof read_idx) == 0);
    CHECK(memcmp(read_values, values, sizeof read_values) == 0);
    CHECK(mc_matrix_read(matrix, NULL, NULL, NULL, diag) == MC_OK &&
          mc_matrix_read(NULL, NULL, NULL, NULL, NULL) == MC_USAGE);
    info.size = 0;
    CHECK(mc_matrix_get_info(matrix, &info, NULL) == MC_USAGE);
    mc_matrix_destroy(matrix);
    mc_matrix_destroy(NULL);
}

/* -- Dense matrices */

static void refuse_dense(const mc_dense_config *config, mc_status want, const char *message) {
    mc_matrix *matrix = (mc_matrix *)&context;
    mc_diag_clear(diag);
    mc_status status = mc_matrix_from_dense(context, config, &matrix, diag);
    CHECK(status == want && matrix == NULL, "%s: %s", message, mc_status_text(status));
    CHECK_TEXT(mc_diag_text(diag), message);
}

#define DENSE(...)                                                                                           \
    &(const mc_dense_config) { .size = sizeof(mc_dense_config), __VA_ARGS__ }

static void test_dense_refusals(void) {
    static const int16_t data[64] = {[33] = -3000};
    refuse_dense(DENSE(.vec = 3, .rows = 9, .cols = 8, .data = data), MC_USAGE, "vec is 3");
    refuse_dense(DENSE(.vec = 8, .rows = 9, .cols = 8, .data = data), MC_USAGE, "rows is 9");
    refuse_dense(DENSE(.vec = 8, .rows = 8, .cols = 8, .ld = 7, .data = data), MC_USAGE,
                 "ld is 7, less than the 8 columns");
    refuse_dense(DENSE(.type = MC_U4, .vec = 8, .rows = 8, .cols = 7, .data = data), MC_USAGE,
                 "ld is 7, must be even: two elements of u4 share a byte");
    refuse_dense(DENSE(.vec = 8, .rows = 8, .cols = 8), MC_USAGE, "data is NULL");
    refuse_dense(DENSE(.vec = 8, .rows = 8, .cols = 8, .ld = INT64_MAX / 2, .data = data), MC_USAGE,
                 "leave the address space");
    refuse_dense(DENSE(.type = MC_S12, .vec = 8, .rows = 8, .cols = 8, .data = data), MC_FORMAT,
                 "data[4][1] is -3000, out of s12's range");
    refuse_dense(&(const mc_dense_config){.size = 1}, MC_USAGE, "mc_dense_config of 1 bytes");
}

/* What is not in the matrix is zero, and every vector has a value that is not. */
static void check_dense(mc_type type, int vec, int64_t rows, int64_t cols, int64_t ld) {
    mc_dense dense;
    mc_matrix *matrix = NULL;
    if (!worked("mc_dense_create", mc_dense_create(type, rows, cols, ld, &dense, diag))) return;
    mc_dense_fill(&dense, MC_VALUES_FULL, 9);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            if ((i / vec * 7 + j * 5) % 3 != 0 || i % 2 == 1) mc_dense_set(&dense, i, j, 0);
    (void)worked("mc_matrix_from_dense",
                 mc_matrix_from_dense(context,
                                      DENSE(.type = type, .vec = vec, .rows = rows, .cols = cols, .ld = ld,
                                            .data = dense.data),
                                      &matrix, diag));
    mc_vsparse back = matrix->host;
    CHECK(mc_vsparse_take(&back, &dense, diag) == MC_OK, "%s",
          mc_diag_text(diag)); /* refuses values elsewhere */
    int64_t all_zero = 0;
    for (int64_t v = 0; v < back.vectors; v++) {
        bool zero = true;
        for (int r = 0; r < vec; r++) zero = zero && mc_vsparse_value(&back, v, r) == 0;
        all_zero += zero;
    }
    CHECK(back.vectors > 0 && all_zero == 0, "%lld vectors, %lld of them zero", (long long)back.vectors,
          (long long)all_zero);
    mc_matrix_destroy(matrix);
    mc_dense_free(&dense);
}

static void test_dense(void) {
    static const float zeros[16] = {[3] = -0.0F, [8] = 1e-40F};
    mc_matrix *matrix = NULL;
    check_dense(MC_S8, 8, 32, 40, 40);
    check_dense(MC_U4, 4, 16, 21, 24);
    check_dense(MC_S16, 2, 10, 33, 50);
    (void)worked("mc_matrix_from_dense",
                 mc_matrix_from_dense(context,
                                      DENSE(.type = MC_F32, .vec = 2, .rows = 2, .cols = 8, .data = zeros),
                                      &matrix, diag));
    CHECK(matrix->host.vectors == 1 && matrix->host.col_idx[0] == 0, "-0 is zero, the least number is not");
    mc_matrix_destroy(matrix);
}

/* -- Packings and new values */

static const product_kind kind = {"f16",
                                  MC_S16,
                                  8,
                                  .row_blocks = 6,
                                  .cols = 100,
                                  .sparsity = 0.6,
                                  .config = {.b = MC_S8, .c = MC_S32, .n = 64}};
static const product_kind mask_kind = {
    "mask",
    MC_F32,
    8,
    .row_blocks = 6,
    .cols = 100,
    .sparsity = 0.6,
    .config = {.op = MC_OP_SDDMM, .c = MC_F32, .k = 64, .scale = MC_PER_TENSOR, .mask_values = true}};

static int64_t device_bytes(const mc_matrix *matrix) {
    mc_matrix_info info = {.size = sizeof info};
    (void)worked("mc_matrix_get_info", mc_matrix_get_info(matrix, &info, diag));
    return info.device_bytes;
}

static void replace_values(product *p, uint64_t seed) {
    if (p->host.type == MC_F32)
        mc_scale_fill(p->host.values, p->host.vectors * p->host.vec, MC_VALUES_FULL, seed);
    else mc_vsparse_fill(&p->host, MC_VALUES_FULL, seed, NULL);
    size_t bytes = (size_t)mc_type_size(p->host.type, p->host.vectors * p->host.vec);
    void *copy = malloc(bytes);
    memcpy(copy, p->host.values, bytes);
    (void)worked("mc_matrix_set_values", mc_matrix_set_values(p->matrix, copy, NULL, diag));
    memset(copy, 0x55, bytes); /* the call has taken what it needs */
    free(copy);
}

static void test_values(const product_kind *which) {
    product p;
    if (product_open(&p, context, which, 3) && product_plan(&p)) {
        const matrix_packing *packing = p.matrix->packings;
        mc_address before[MC_MAX_ARRAYS];
        memcpy(before, packing->arrays, sizeof before);
        product_check(&p);
        for (uint64_t seed = 50; seed < 53; seed++) {
            replace_values(&p, seed);
            product_check(&p);
        }
        CHECK(p.matrix->packings == packing && memcmp(before, packing->arrays, sizeof before) == 0,
              "addresses stay");
    }
    product_close(&p);
}

/* Plans of one form share their arrays; the last of them gives them back. Values reach every packing, and
   plans made later. */
static void test_sharing(void) {
    product p;
    if (!product_open(&p, context, &kind, 4) || !product_plan(&p)) return;
    mc_plan *first = p.plan, *second = NULL, *other = NULL;
    int64_t bytes = device_bytes(p.matrix);
    CHECK(bytes > 0);
    mc_plan_config config = p.config;
    config.shapes = MC_SHAPES_OPEN;
    (void)worked("open shapes", mc_plan_create(context, &config, &second, diag));
    CHECK(device_bytes(p.matrix) == bytes, "one form, one packing");
    config.b = MC_S16;
    config.op = MC_OP_SDDMM;
    config.n = 0;
    config.k = 32;
    (void)worked("as a mask", mc_plan_create(context, &config, &other, diag));
    CHECK(device_bytes(p.matrix) > bytes, "another form, another packing");
    replace_values(&p, 77);
    product_check(&p);
    p.plan = second;
    product_check(&p);
    mc_plan_destroy(other);
    mc_plan_destroy(first);
    CHECK(device_bytes(p.matrix) == bytes, "%lld", (long long)device_bytes(p.matrix));
    replace_values(&p, 78); /* the kernel that packed first is gone */
    product_check(&p);
    mc_plan_destroy(second);
    CHECK(device_bytes(p.matrix) == 0);
    p.plan = NULL;
    if (product_plan(&p)) product_check(&p);
    product_close(&p);
}

/* A plan lives on when its matrix is destroyed. */
static void test_plan_outlives_matrix(void) {
    product p;
    if (product_open(&p, context, &kind, 6) && product_plan(&p)) {
        mc_matrix_destroy(p.matrix);
        p.matrix = NULL;
        product_check(&p);
    }
    product_close(&p);
}

int main(void) {
    const mc_context_config config = {.size = sizeof config, .device = "sim", .cache = MC_CACHE_MEMORY};
    diag = mc_diag_create();
    if (worked("mc_context_create", mc_context_create(&config, &context, diag))) {
        test_refusals();
        test_info();
        test_dense_refusals();
        test_dense();
        test_values(&kind);
        test_values(&mask_kind);
        test_sharing();
        test_plan_outlives_matrix();
    }
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return product_end(check_end());
}
