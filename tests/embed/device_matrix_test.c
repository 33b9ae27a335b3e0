/* Matrices made from device memory, of BCRS or of a dense matrix with or without a mask: they hold what the same matrix from the host
 * holds; plans on them give the same products, also with new values, and in a graph; what no matrix has is refused with its place;
 * nothing leaks where memory ends. device_matrix_test [DEVICE]: the simulator, or cuda:0. */
#include <stdlib.h>
#include "device/cuda.h"
#include "device_matrix.h"

mc_diag *diag;

/* -- Dense matrices */

static void try_dense(mc_type type, int vec, const device_shape *s) {
    mc_vsparse host = device_make_host(type, vec, s);
    device_fill(&host, 7, mc_type_max(type));
    for (int64_t v = 0; v < host.vectors; v++) mc_vsparse_set_value(&host, v, (int)(v % vec), 1);
    for (size_t i = 0; i < DEVICE_DENSE_KINDS; i++) {
        char text[200];
        if (device_dense_kinds[i].junk && (type == MC_S12 || type == MC_U12))
            continue; /* which is out of range */
        snprintf(text, sizeof text, "dense %s, V = %d, %s, kind %zu", mc_type_text(type), vec, s->name, i);
        mc_matrix *matrix = device_from_dense(&host, device_dense_kinds[i]);
        if (matrix != NULL) device_compare_host(matrix, &host, text);
        mc_matrix_destroy(matrix);
    }
    mc_vsparse_free(&host);
}

/* What is not zero: of floats not the sign alone. On the host mc_matrix_from_dense says the same. */
static void test_zeros(void) {
    static const uint16_t halves[] = {0x8000, 0x0001, 0, 0x8001, 0x7e00, 0xffff, 0x8000, 0x3c00};
    enum { COUNT = sizeof halves / sizeof *halves };
    mc_matrix *host = NULL, *device = NULL;
    const mc_dense_config on_host = {sizeof on_host, MC_F16, 1, 2, COUNT / 2, 0, halves, 0};
    mc_device_dense_config config = {
        .size = sizeof config, .type = MC_F16, .vec = 1, .rows = 2, .cols = COUNT / 2};
    config.data = device_put(halves, sizeof halves);
    (void)worked("host", mc_matrix_from_dense(context, &on_host, &host, diag));
    (void)worked("device", mc_matrix_from_device_dense(context, &config, NULL, &device, diag));
    if (host != NULL && device != NULL) device_compare_host(device, matrix_host(host), "zeros");
    CHECK(host != NULL && matrix_host(host)->vectors == 5);
    mc_matrix_destroy(host);
    mc_matrix_destroy(device);
    mc_memory_destroy(context, config.data);
}

static void test_dense(void) {
    static const mc_type types[] = {MC_S8,  MC_U8,   MC_S4,   MC_U4,   MC_S12,  MC_U12, MC_S16, MC_U16,
                                    MC_F16, MC_BF16, MC_TF32, MC_E4M3, MC_E5M2, MC_F32, MC_S32};
    const size_t count = sizeof types / sizeof *types;
    for (size_t i = 0; i < count; i++)
        for (int vec = 1, turn = 0; vec <= 16; vec *= 2, turn++) {
            try_dense(types[i], vec, &device_shapes[0]);
            try_dense(types[i], vec, &device_shapes[(i + (size_t)turn) % DEVICE_SHAPES]);
        }
    test_zeros();
}

/* -- Zeros, patterns along a diagonal, types that are no kernel's */

static void test_kinds(void) {
    mc_vsparse host = device_make_host(MC_S4, 2, &device_shapes[0]);
    device_fill(&host, 3, 7);
    mc_matrix *matrix = device_from_bcrs(&host, true);
    memset(host.values, 0, device_value_bytes(&host));
    if (matrix != NULL) device_compare_host(matrix, &host, "zeros");
    mc_matrix_destroy(matrix);
    mc_vsparse_free(&host);
    static const int32_t row_ptr[] = {0, 2, 3, 3, 5}, col_idx[] = {0, 4, 2, 1, 3};
    const mc_matrix_config on_host = {.size = sizeof on_host,
                                      .type = MC_F16,
                                      .vec = 1,
                                      .rows = 4,
                                      .cols = 5,
                                      .row_ptr = row_ptr,
                                      .col_idx = col_idx,
                                      .patterns = 2};
    mc_device_matrix_config config = {.size = sizeof config,
                                      .type = MC_F16,
                                      .vec = 1,
                                      .rows = 4,
                                      .cols = 5,
                                      .row_ptr = device_put(row_ptr, sizeof row_ptr),
                                      .col_idx = device_put(col_idx, sizeof col_idx),
                                      .patterns = 2};
    mc_matrix *want = NULL;
    (void)worked("host", mc_matrix_create(context, &on_host, &want, diag));
    (void)worked("device", mc_matrix_from_device(context, &config, NULL, &matrix, diag));
    if (want != NULL && matrix != NULL) device_compare_host(matrix, matrix_host(want), "patterns");
    CHECK(want != NULL && matrix_host(want)->col_idx[4] == 8);
    mc_matrix_destroy(want);
    mc_matrix_destroy(matrix);
    mc_memory_destroy(context, config.row_ptr);
    mc_memory_destroy(context, config.col_idx);
}

/* -- Refusals: the device says what the host says */

enum { WRONG_COLS = 1300, WRONG_VECTORS = 2 * WRONG_COLS };

/* Row blocks 0 and 2 have all columns, 1 none, at first. */
typedef struct wrong_bcrs {
    int32_t row_ptr[4], col_idx[WRONG_VECTORS];
    int16_t values[WRONG_VECTORS];
} wrong_bcrs;

static void check_refusal(const wrong_bcrs *w, mc_type type, const char *message) {
    mc_diag *said = mc_diag_create();
    mc_matrix *matrix = NULL;
    const mc_matrix_config on_host = {.size = sizeof on_host,
                                      .type = type,
                                      .vec = 1,
                                      .rows = 3,
                                      .cols = WRONG_COLS,
                                      .row_ptr = w->row_ptr,
                                      .col_idx = w->col_idx,
                                      .values = w->values};
    mc_device_matrix_config config = {
        .size = sizeof config, .type = type, .vec = 1, .rows = 3, .cols = WRONG_COLS};
    config.row_ptr = device_put(w->row_ptr, sizeof w->row_ptr);
    config.col_idx = device_put(w->col_idx, sizeof w->col_idx);
    config.values = device_put(w->values, sizeof w->values);
    CHECK(mc_matrix_create(context, &on_host, &matrix, said) == MC_FORMAT, "%s", message);
    CHECK(mc_matrix_from_device(context, &config, NULL, &matrix, diag) == MC_FORMAT && matrix == NULL, "%s",
          message);
    CHECK(strcmp(mc_diag_text(said), mc_diag_text(diag)) == 0, "\"%s\", on the host \"%s\"",
          mc_diag_text(diag), mc_diag_text(said));
    CHECK_TEXT(mc_diag_text(diag), message);
    mc_diag_clear(diag);
    mc_diag_destroy(said);
    mc_memory_destroy(context, config.row_ptr);
    mc_memory_destroy(context, config.col_idx);
    mc_memory_destroy(context, config.values);
}

static wrong_bcrs right_bcrs(void) {
    wrong_bcrs w = {.row_ptr = {0, WRONG_COLS, WRONG_COLS, WRONG_VECTORS}};
    for (int i = 0; i < WRONG_VECTORS; i++) w.col_idx[i] = i % WRONG_COLS, w.values[i] = (int16_t)(i % 2000);
    return w;
}

static void test_contents(void) {
    wrong_bcrs w = right_bcrs();
    w.row_ptr[0] = 1;
    check_refusal(&w, MC_S16, "row_ptr[0] is 1");
    w = right_bcrs();
    w.row_ptr[2] = 5;
    check_refusal(&w, MC_S16, "row_ptr[2] is 5, less than the 1300");
    w = right_bcrs();
    w.col_idx[2400] = 1, w.col_idx[2599] = 5000;
    check_refusal(&w, MC_S16, "col_idx[2400], of row block 2, is 1:");
    w.col_idx[1299] = WRONG_COLS;
    check_refusal(&w, MC_S16, "col_idx[1299], of row block 0, is 1300:");
    w.col_idx[1100] = w.col_idx[1099];
    check_refusal(&w, MC_S16, "col_idx[1100], of row block 0, is 1099:");
    w.col_idx[0] = -1;
    check_refusal(&w, MC_S16, "col_idx[0], of row block 0, is -1:");
    w = right_bcrs();
    w.values[2599] = 2048, w.values[1030] = -2049, w.values[1031] = 3000;
    check_refusal(&w, MC_S12, "values[1030] is -2049, out of s12's range");
    w.values[1030] = 0, w.values[1031] = 4096;
    check_refusal(&w, MC_U12, "values[1031] is 4096, out of u12's range");
}

/* The first wrong element by rows is not the first of its segment or row block. */
static void check_wrong_dense(bool by_columns) {
    enum { ROWS = 4, COLS = 1500 };
    static int16_t rows[ROWS * COLS], lines[ROWS * COLS];
    memset(rows, 0, sizeof rows);
    rows[3 * COLS + 2] = 4000, rows[1 * COLS + 1400] = 2048, rows[1 * COLS + 1401] = -3000,
                    rows[2 * COLS] = 9000;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++) lines[by_columns ? j * ROWS + i : i * COLS + j] = rows[i * COLS + j];
    mc_device_dense_config config = {.size = sizeof config,
                                     .type = MC_S12,
                                     .vec = 4,
                                     .rows = ROWS,
                                     .cols = COLS,
                                     .major = by_columns ? MC_MAJOR_COLUMN : MC_MAJOR_ROW};
    mc_matrix *matrix = NULL;
    config.data = device_put(lines, sizeof lines);
    CHECK(mc_matrix_from_device_dense(context, &config, NULL, &matrix, diag) == MC_FORMAT && matrix == NULL);
    CHECK_TEXT(mc_diag_text(diag), "data[1][1400] is 2048, out of s12's range");
    mc_diag_clear(diag);
    mc_memory_destroy(context, config.data);
}

static void test_usage(void) {
    static const struct {
        mc_device_matrix_config config;
        mc_status status;
        const char *message;
    } rows[] = {
        {{.type = MC_F16, .vec = 3, .rows = 3, .cols = 3, .row_ptr = 256}, MC_USAGE, "vec is 3"},
        {{.type = MC_S64, .vec = 1, .rows = 3, .cols = 3, .row_ptr = 256}, MC_CANNOT, "type is s64"},
        {{.type = MC_F16, .vec = 1, .rows = 3, .cols = 3}, MC_USAGE, "row_ptr is 0"},
        {{.type = MC_F16, .vec = 1, .rows = 3, .cols = 3, .row_ptr = 258}, MC_CANNOT, "row_ptr is 0x102"},
        {{.type = MC_F16, .vec = 1, .rows = 3, .cols = 3, .row_ptr = 256, .values = 257},
         MC_CANNOT,
         "values is 0x101"},
        {{.type = MC_F16, .vec = 1, .rows = 3, .cols = 3, .row_ptr = 256, .patterns = 2},
         MC_USAGE,
         "patterns is 2"},
    };
    static const struct {
        mc_device_dense_config config;
        mc_status status;
        const char *message;
    } dense[] = {
        {{.type = MC_F16, .vec = 2, .rows = 3, .cols = 3, .data = 256}, MC_USAGE, "rows is 3"},
        {{.type = MC_F16, .vec = 2, .rows = 4, .cols = 3}, MC_USAGE, "data is 0"},
        {{.type = MC_F16, .vec = 2, .rows = 4, .cols = 3, .data = 257}, MC_CANNOT, "data is 0x101"},
        {{.type = MC_F16, .vec = 2, .rows = 4, .cols = 3, .data = 256, .ld = 2},
         MC_USAGE,
         "ld is 2, must be 3, the columns"},
        {{.type = MC_F16,
          .vec = 2,
          .rows = 4,
          .cols = 3,
          .data = 256,
          .major = MC_MAJOR_COLUMN,
          .mask_ld = 3},
         MC_USAGE,
         "mask_ld is 3, must be 4, the rows"},
        {{.type = MC_S4, .vec = 2, .rows = 4, .cols = 3, .data = 256}, MC_USAGE, "ld is 3, must be even"},
        {{.type = MC_S4, .vec = 2, .rows = 4, .cols = 3, .data = 256, .major = (mc_major)2},
         MC_USAGE,
         "major is 2"},
    };
    mc_matrix *matrix = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mc_device_matrix_config config = rows[i].config;
        config.size = sizeof config;
        CHECK(mc_matrix_from_device(context, &config, NULL, &matrix, diag) == rows[i].status, "row %zu", i);
        CHECK_TEXT(mc_diag_text(diag), rows[i].message);
        mc_diag_clear(diag);
    }
    for (size_t i = 0; i < sizeof dense / sizeof *dense; i++) {
        mc_device_dense_config config = dense[i].config;
        config.size = sizeof config;
        CHECK(mc_matrix_from_device_dense(context, &config, NULL, &matrix, diag) == dense[i].status,
              "row %zu", i);
        CHECK_TEXT(mc_diag_text(diag), dense[i].message);
        mc_diag_clear(diag);
    }
    CHECK(mc_matrix_from_device(context, NULL, NULL, &matrix, NULL) == MC_USAGE && matrix == NULL);
    CHECK(mc_matrix_from_device(NULL, NULL, NULL, &matrix, NULL) == MC_USAGE);
    CHECK(mc_matrix_from_device_dense(context, NULL, NULL, NULL, NULL) == MC_USAGE);
}

/* -- Plans */

static const product_kind kind = {"f16",
                                  MC_F16,
                                  8,
                                  .row_blocks = 6,
                                  .cols = 100,
                                  .sparsity = 0.6,
                                  .config = {.b = MC_F16, .c = MC_F16, .n = 40}};

/* P's matrix becomes one from device memory. */
static bool open_product(product *p) {
    if (!product_open(p, context, &kind, 4)) return false;
    mc_matrix_destroy(p->matrix);
    p->matrix = device_from_bcrs(&p->host, false);
    p->config.matrix = p->matrix;
    return p->matrix != NULL;
}

/* A plan takes the newest values, whichever way they came, and also where no other plan is left. */
static void test_plans(void) {
    static const char *const gather[] = {"spmm_f16"}, *const ring[] = {"spmm_f16_tiled"};
    product p;
    if (!open_product(&p)) return;
    p.config.specs = gather, p.config.spec_count = 1;
    mc_vsparse_fill(&p.host, MC_VALUES_FULL, 49, NULL);
    device_set_values(p.matrix, &p.host, 0); /* no plan wants them yet */
    if (product_plan(&p)) {
        product_check(&p);
        mc_plan *first = p.plan;
        mc_vsparse_fill(&p.host, MC_VALUES_FULL, 50, NULL);
        device_set_values(p.matrix, &p.host, 1);
        product_check(&p);
        p.config.specs = ring, p.plan = NULL;
        if (product_plan(&p)) product_check(&p);
        mc_plan_destroy(first);
        mc_vsparse_fill(&p.host, MC_VALUES_FULL, 51, NULL);
        (void)worked("set values", mc_matrix_set_values(p.matrix, p.host.values, NULL, diag));
        product_check(&p);
        mc_plan_destroy(p.plan);
        p.config.specs = gather, p.plan = NULL;
        if (product_plan(&p)) product_check(&p);
    }
    product_close(&p);
}

/* Tuning computes a reference on the host, which wants columns and values: they are fetched. */
static void test_tuning(void) {
    static const char *const gather[] = {"spmm_f16"};
    const mc_tune_config config = {.size = sizeof config, .candidates = 1, .worker = ""};
    mc_tune_result result = {.size = sizeof result};
    product p;
    if (!open_product(&p)) return;
    p.config.specs = gather, p.config.spec_count = 1;
    if (worked("mc_tune", mc_tune(context, &p.config, &config, &result, diag)))
        CHECK(result.measured > 0 && result.wrong == 0, "%zu measured, %zu wrong", result.measured,
              result.wrong);
    product_close(&p);
}

/* New values and an execution in one graph. The driver that is the simulator runs what it captures. */
static void test_graph(void) {
    const cuda_driver *driver = NULL;
    const char *why = "";
    context_visit visit;
    cuda_stream stream = NULL;
    cuda_graph graph = NULL;
    cuda_graph_exec exec = NULL;
    product p;
    CHECK(cuda_driver_get(&driver, &why) == CUDA_READY, "%s", why);
    if (driver == NULL || !open_product(&p) || !product_plan(&p)) return;
    device_set_values(p.matrix, &p.host, 0); /* makes what it needs */
    mc_vsparse_fill(&p.host, MC_VALUES_FULL, 60, NULL);
    mc_device_values values = {.size = sizeof values,
                               .address = device_put(p.host.values, device_value_bytes(&p.host))};
    product_poison(&p);
    (void)worked("enter", context_enter(context, &visit, diag));
    (void)worked("stream", CUDA_CALL(driver, diag, StreamCreate, &stream, 1));
    (void)worked("capture", CUDA_CALL(driver, diag, StreamBeginCapture, stream, 0));
    (void)worked("set", mc_matrix_set_device_values(p.matrix, &values, stream, diag));
    (void)worked("execute", mc_execute(p.plan, &p.args, p.workspace, stream, diag));
    (void)worked("end", CUDA_CALL(driver, diag, StreamEndCapture, stream, &graph));
    (void)worked("graph", CUDA_CALL(driver, diag, GraphInstantiateWithFlags, &exec, graph, 0));
    (void)worked("replay", CUDA_CALL(driver, diag, GraphLaunch, exec, stream));
    (void)worked("wait", mc_synchronize(context, stream, diag));
    (void)worked("graph", CUDA_CALL(driver, diag, GraphExecDestroy, exec));
    (void)worked("graph", CUDA_CALL(driver, diag, GraphDestroy, graph));
    (void)worked("stream", CUDA_CALL(driver, diag, StreamDestroy, stream));
    context_leave(context, &visit);
    product_compare(&p);
    mc_memory_destroy(context, values.address);
    product_close(&p);
}

/* -- Where memory ends: after each allocation in turn */

static int allocations_left, allocations_open;

static mc_address allocate(void *user, size_t bytes) {
    mc_address address = 0;
    if (allocations_left == 0 || mc_memory_create(*(mc_context **)user, bytes, &address, NULL) != MC_OK)
        return 0;
    allocations_left--;
    allocations_open++;
    return address;
}

static void release(void *user, mc_address address) {
    if (address != 0) allocations_open--;
    mc_memory_destroy(*(mc_context **)user, address);
}

static mc_status make_and_pack(const mc_kernel *kernel, const mc_device_dense_config *config) {
    mc_matrix *matrix = NULL;
    matrix_packing *packing = NULL;
    context_visit visit;
    mc_status status = mc_matrix_from_device_dense(context, config, NULL, &matrix, NULL);
    CHECK((matrix != NULL) == (status == MC_OK));
    if (status != MC_OK) return status;
    (void)context_enter(context, &visit, diag);
    status = matrix_pack_for(matrix, kernel, &packing, NULL);
    if (status == MC_OK) matrix_unpack(matrix, packing);
    context_leave(context, &visit);
    mc_matrix_destroy(matrix);
    return status;
}

static void test_memory(const char *device) {
    const mc_context_config config = {.size = sizeof config,
                                      .device = device,
                                      .cache = MC_CACHE_MEMORY,
                                      .records = "",
                                      .allocate = allocate,
                                      .release = release,
                                      .memory_user = &context};
    mc_context *usual = context;
    mc_kernel *kernel = NULL;
    mc_status status = MC_NOMEM;
    int count = 0;
    (void)worked("kernel", mc_kernel_from_fields("op=spmm lhs=f16 rhs=f16 out=f16 tile_n=64", &kernel, diag));
    if (!worked("mc_context_create", mc_context_create(&config, &context, diag))) return;
    mc_vsparse host = device_make_host(MC_F16, 8, &device_shapes[0]);
    device_fill(&host, 9, 0);
    size_t bytes;
    void *data = device_make_dense(&host, device_dense_kinds[0], &bytes);
    mc_device_dense_config dense = device_dense_config(&host, device_dense_kinds[0]);
    dense.data = device_put(data, bytes);
    for (; count < 40 && status != MC_OK; count++) {
        allocations_left = count;
        status = make_and_pack(kernel, &dense);
        CHECK(status == MC_OK || status == MC_NOMEM, "%d allocations: status %d", count, (int)status);
        CHECK(allocations_open == 0, "%d allocations: %d left", count, allocations_open);
    }
    CHECK(status == MC_OK && count > 10, "%d allocations", count);
    mc_memory_destroy(context, dense.data);
    free(data);
    mc_vsparse_free(&host);
    mc_kernel_destroy(kernel);
    mc_context_destroy(context);
    context = usual;
}

int main(int argc, char **argv) {
    const char *device = argc > 1 ? argv[1] : "sim";
    const mc_context_config config = {
        .size = sizeof config, .device = device, .cache = MC_CACHE_MEMORY, .records = ""};
    diag = mc_diag_create();
    if (worked("mc_context_create", mc_context_create(&config, &context, diag))) {
        test_kinds();
        test_contents();
        check_wrong_dense(false);
        check_wrong_dense(true);
        test_usage();
        test_plans();
        test_tuning();
        if (strncmp(device, "cuda", 4) == 0) test_graph();
        test_memory(device);
        test_dense();
    }
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return device_end(check_end());
}
