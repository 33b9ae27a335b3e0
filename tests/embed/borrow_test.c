/* Matrices that borrow CSR in device memory: a plan's kernel gets the caller's addresses, nothing is allocated or copied, and what the
 * arrays hold when it runs counts; settling makes a matrix of copies behind it, also while other threads execute and plan; what cannot
 * be is refused. borrow_test [DEVICE]: the simulator, or cuda:0. */
#include <pthread.h>
#include <stdlib.h>
#include "borrowed.h"
#include "plan/plan.h"

mc_diag *diag;

static mc_matrix_info info_of(const mc_matrix *matrix) {
    mc_matrix_info info = {.size = sizeof info};
    (void)worked("mc_matrix_get_info", mc_matrix_get_info(matrix, &info, diag));
    return info;
}

static void *read_c(const product *p, size_t *bytes) {
    *bytes = (size_t)mc_type_size(p->config.c, p->host.rows * p->ldc);
    void *c = calloc(*bytes + 1, 1);
    (void)worked("read", mc_memory_read(context, p->args.c, c, *bytes, diag));
    return c;
}

/* The matrix is settled: the old plan has the same bits, and a new one reads copies. */
static void check_settled(borrowed_product *b) {
    product *p = &b->p;
    size_t bytes;
    void *before = read_c(p, &bytes);
    CHECK(!info_of(p->matrix).borrowed, "%s", p->kind->name);
    product_check(p);
    void *after = read_c(p, &bytes);
    CHECK(memcmp(before, after, bytes) == 0, "%s: the plan's bits differ after settling", p->kind->name);
    free(before), free(after);
    mc_plan_destroy(p->plan);
    p->plan = NULL;
    /* Copies are all that is read: the caller's columns become others. */
    int32_t *columns = p->host.col_idx;
    p->host.col_idx = calloc((size_t)b->csr.nonzeros + 1, sizeof *columns);
    borrowed_write_pattern(b);
    free(p->host.col_idx);
    p->host.col_idx = columns;
    if (!product_plan(p)) return;
    CHECK(!plan_has_field(p->plan, "deal=off"), "%s: a plan of the settled matrix", p->kind->name);
    matrix_packing *packing = NULL;
    CHECK(matrix_pack_for(p->matrix, p->plan->kernel->kernel, &packing, NULL) == MC_CANNOT && packing == NULL,
          "%s: what is borrowed is lent to a kernel that reads another format", p->kind->name);
    product_check(p);
}

static void test_product(const product_kind *kind, uint64_t seed) {
    borrowed_product b;
    if (borrowed_open(&b, kind, seed)) {
        const mc_matrix_info info = info_of(b.p.matrix);
        int before = borrowed_allocations;
        CHECK(info.borrowed && info.vectors == b.csr.nonzeros && info.device_bytes == 0, "%s", kind->name);
        if (worked(kind->name, mc_plan_create(context, &b.p.config, &b.p.plan, diag))) {
            CHECK(borrowed_allocations == before, "%s: planning allocates", kind->name);
            CHECK(info_of(b.p.matrix).device_bytes == 0, "%s", kind->name);
            if (mc_plan_workspace(b.p.plan) > 0)
                b.p.workspace = product_reserve(&b.p, (int64_t)mc_plan_workspace(b.p.plan), 0);
            borrowed_check_plan(&b);
            borrowed_write_pattern(&b), borrowed_write_values(&b); /* only now */
            product_check(&b.p);
            if (worked("mc_matrix_settle", mc_matrix_settle(b.p.matrix, NULL, diag))) check_settled(&b);
        }
    }
    product_close(&b.p);
}

static void test_products(void) {
    static const product_kind kinds[] = {
        {"f32", MC_F32, 1, 70, 90, 0.9, .config = {.b = MC_F32, .c = MC_F32, .n = 32}},
        {"f16", MC_F16, 1, 65, 130, 0.8, .config = {.b = MC_F16, .c = MC_F16, .n = 64}},
        {"bf16 to f32", MC_BF16, 1, 33, 40, 0.7, .config = {.b = MC_BF16, .c = MC_F32, .n = 8}},
        {"a vector", MC_F32, 1, 50, 300, 0.6, .config = {.b = MC_F32, .c = MC_F32, .n = 1}},
        {"gaps, open", MC_F32, 1, 40, 60, 0.8, .offset = 4,
         .config =
             {.b = MC_F32, .c = MC_F32, .n = 37, .ldb = 41, .ldc = 43, .align = 4, .shapes = MC_SHAPES_OPEN}},
        {"scale and bias", MC_F16, 1, 30, 60, 0.8,
         .config = {.b = MC_F16, .c = MC_F16, .n = 24, .scale = MC_PER_ROW, .bias = MC_PER_COLUMN}},
        {"B by columns", MC_F16, 1, 30, 64, 0.8,
         .config = {.b = MC_F16, .c = MC_F16, .n = 32, .b_major = MC_MAJOR_COLUMN}},
        {"no nonzeros", MC_F32, 1, 20, 30, 1.0, .config = {.b = MC_F32, .c = MC_F32, .n = 16}},
        {"all nonzeros", MC_F32, 1, 9, 200, 0.0, .config = {.b = MC_F32, .c = MC_F32, .n = 16}},
        {"one row", MC_F16, 1, 1, 77, 0.5, .config = {.b = MC_F16, .c = MC_F32, .n = 5}},
        {"never dense", MC_F16, 1, 32, 64, 0.1,
         .config = {
             .b = MC_F16, .c = MC_F16, .n = 64, .dense = MC_DENSE_IF_FASTER, .tuning = MC_TUNING_TUNE}}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) test_product(&kinds[i], 30 + i);
}

static const product_kind plain = {
    "plain", MC_F32, 1, 48, 64, 0.8, .config = {.b = MC_F32, .c = MC_F32, .n = 32}};

/* -- What the arrays hold counts when it is read */

static void test_changes(void) {
    borrowed_product b;
    if (borrowed_open(&b, &plain, 7) && product_plan(&b.p)) {
        borrowed_write_pattern(&b), borrowed_write_values(&b);
        product_check(&b.p);
        mc_scale_fill(b.p.host.values, b.p.host.vectors, MC_VALUES_FULL, 8);
        borrowed_write_values(&b);
        product_check(&b.p);
        /* A kernel that begins early would read arrays that the one ahead may be writing. */
        CHECK(!b.p.plan->launch.launch.overlap, "it begins early");
    }
    product_close(&b.p);
}

/* Rows a hundred times as long as others, two in one thread block and the last one of all. */
static bool has_hubs(int64_t row, int64_t col) {
    return row == 5 || (row == 7 && col % 3 != 0) || row == 40 || (row + col) % 97 == 0;
}

static void test_hubs(void) {
    static const device_shape hubs = {"hubs", 41, 2600, has_hubs};
    static const product_kind kinds[] = {
        {"hubs", MC_F32, 1, 41, 2600, 0.99, .config = {.b = MC_F32, .c = MC_F32, .n = 32}},
        {"hubs, open", MC_F16, 1, 41, 2600, 0.99, .offset = 4,
         .config =
             {.b = MC_F16, .c = MC_F16, .n = 21, .ldb = 22, .ldc = 24, .align = 4, .shapes = MC_SHAPES_OPEN}},
        {"hubs, a vector", MC_F32, 1, 41, 2600, 0.99, .config = {.b = MC_F32, .c = MC_F32, .n = 1}}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        borrowed_product b;
        if (borrowed_open_shape(&b, &kinds[i], &hubs, 12 + i) && product_plan(&b.p)) {
            borrowed_check_plan(&b);
            borrowed_write_pattern(&b), borrowed_write_values(&b);
            product_check(&b.p);
        }
        product_close(&b.p);
    }
}

/* Of a spec that has the kernel wait for the one ahead by itself. */
static void test_overlap(void) {
    static const char name[] = "borrow_test.lua", *const specs[] = {name};
    FILE *file = fopen(name, "w");
    borrowed_product b;
    if (file == NULL) exit(1);
    fputs("op = 'spmm' arch = 'sm_90' lhs = 'f32' rhs = 'f32' out = 'f32' vec = 1 staging = 'csr' overlap = "
          "'wait'\n",
          file);
    fclose(file);
    product_kind kind = plain;
    kind.config.specs = specs, kind.config.spec_count = 1;
    if (borrowed_open(&b, &kind, 9) && product_plan(&b.p)) {
        CHECK(plan_has_field(b.p.plan, "overlap=wait"));
        CHECK(!b.p.plan->launch.launch.overlap, "it begins early");
        borrowed_check_plan(&b);
        borrowed_write_pattern(&b), borrowed_write_values(&b);
        product_check(&b.p);
    }
    product_close(&b.p);
    remove(name);
}

/* -- Choices are not mistaken for each other's: rows that are alike, as those of a borrowed one are thought to be */

static bool has_quarter(int64_t row, int64_t col) { return (col + row) % 4 == 0; }
static const device_shape quarter = {"alike", 16, 20, has_quarter};

static void test_choices(void) {
    mc_vsparse host = device_make_host(MC_F32, 1, &quarter);
    mc_csr_config csr = {sizeof csr, MC_F32, host.rows, host.cols, host.vectors, 4096, 4096, 4096};
    mc_plan_config config = {
        .size = sizeof config, .b = MC_F32, .c = MC_F32, .n = 16, .tuning = MC_TUNING_OFF};
    mc_matrix *matrices[2] = {NULL, device_from_bcrs(&host, true)};
    (void)worked("borrow", mc_matrix_borrow(context, &csr, &matrices[0], diag));
    for (int i = 0; i < 4; i++) {
        mc_plan *plan = NULL;
        config.matrix = matrices[i % 2];
        if (worked("plan", mc_plan_create(context, &config, &plan, diag)))
            CHECK(plan_has_field(plan, "deal=off") == (i % 2 == 0), "plan %d", i);
        mc_plan_destroy(plan);
    }
    mc_matrix_destroy(matrices[0]);
    mc_matrix_destroy(matrices[1]);
    mc_vsparse_free(&host);
}

/* -- Refusals */

static void refused(const char *what, mc_status got, mc_status want, const char *message) {
    CHECK(got == want, "%s: %s, %s", what, mc_status_text(got), mc_diag_text(diag));
    CHECK(mc_diag_count(diag) == 1, "%s: %zu messages", what, mc_diag_count(diag));
    CHECK_TEXT(mc_diag_text(diag), message);
    mc_diag_clear(diag);
}

static void test_configs(void) {
    const mc_csr_config good = {sizeof good, MC_F16, 8, 10, 12, 4096, 4096, 4096};
    static const struct {
        size_t member;
        int64_t value;
        mc_status status;
        const char *message;
    } rows[] = {{offsetof(mc_csr_config, rows), -1, MC_USAGE, "rows is -1"},
                {offsetof(mc_csr_config, rows), (int64_t)1 << 31, MC_USAGE, "rows is 2147483648"},
                {offsetof(mc_csr_config, cols), -1, MC_USAGE, "cols is -1"},
                {offsetof(mc_csr_config, cols), 1, MC_USAGE, "nonzeros is 12, must be 0 to 8"},
                {offsetof(mc_csr_config, nonzeros), -1, MC_USAGE, "nonzeros is -1"},
                {offsetof(mc_csr_config, nonzeros), 81, MC_USAGE, "nonzeros is 81, must be 0 to 80"},
                {offsetof(mc_csr_config, row_ptr), 0, MC_USAGE, "row_ptr is 0"},
                {offsetof(mc_csr_config, row_ptr), 4098, MC_CANNOT, "row_ptr is 0x1002"},
                {offsetof(mc_csr_config, col_idx), 0, MC_USAGE, "col_idx is 0"},
                {offsetof(mc_csr_config, col_idx), 4097, MC_CANNOT, "col_idx is 0x1001"},
                {offsetof(mc_csr_config, values), 0, MC_USAGE, "values is 0"},
                {offsetof(mc_csr_config, values), 4097, MC_CANNOT, "values is 0x1001"}};
    mc_matrix *matrix = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mc_csr_config config = good;
        memcpy((char *)&config + rows[i].member, &rows[i].value, sizeof rows[i].value);
        refused("config", mc_matrix_borrow(context, &config, &matrix, diag), rows[i].status, rows[i].message);
        CHECK(matrix == NULL);
    }
    static const mc_type types[] = {MC_S8, MC_TF32, MC_U8, MC_E4M3, (mc_type)-1};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        mc_csr_config config = good;
        config.type = types[i];
        refused("type", mc_matrix_borrow(context, &config, &matrix, diag),
                types[i] == (mc_type)-1 ? MC_USAGE : MC_CANNOT, "type is");
    }
    mc_csr_config many = good;
    many.rows = many.cols = 100000, many.nonzeros = (int64_t)1 << 31;
    refused("many", mc_matrix_borrow(context, &many, &matrix, diag), MC_USAGE, "must be 0 to 2147483647");
    refused("NULL", mc_matrix_borrow(context, NULL, &matrix, diag), MC_USAGE, "mc_csr_config");
    refused("NULL", mc_matrix_borrow(NULL, &good, &matrix, diag), MC_USAGE, "context");
    refused("NULL", mc_matrix_borrow(context, &good, NULL, diag), MC_USAGE, "matrix");
    refused("NULL", mc_matrix_settle(NULL, NULL, diag), MC_USAGE, "matrix");
    many = (mc_csr_config){sizeof many, MC_F32, 0, 5, 0, 4096, 0, 0};
    if (worked("no rows", mc_matrix_borrow(context, &many, &matrix, diag))) {
        mc_plan *plan = NULL;
        const mc_plan_config config = {
            .size = sizeof config, .matrix = matrix, .b = MC_F32, .c = MC_F32, .n = 4};
        (void)worked("no rows", mc_plan_create(context, &config, &plan, diag));
        mc_plan_destroy(plan);
    }
    mc_matrix_destroy(matrix);
}

/* What is refused of MATRIX before it is settled, and works afterwards. */
static void check_uses(borrowed_product *b, bool settled) {
    mc_matrix *matrix = b->p.matrix;
    int32_t *columns = calloc((size_t)b->csr.nonzeros + 1, sizeof *columns);
    const mc_device_values values = {sizeof values, MC_FROM_VECTORS, b->csr.values, 0};
    const mc_plan_config sampled = {.size = sizeof sampled,
                                    .op = MC_OP_SDDMM,
                                    .matrix = matrix,
                                    .a = MC_F16,
                                    .b = MC_F16,
                                    .c = MC_F32,
                                    .k = 64};
    mc_plan *plan = NULL;
    for (int i = 0; i < 4; i++) {
        const mc_status got = i == 0   ? mc_matrix_set_values(matrix, b->p.host.values, NULL, diag)
                              : i == 1 ? mc_matrix_set_device_values(matrix, &values, NULL, diag)
                              : i == 2 ? mc_matrix_read(matrix, NULL, columns, NULL, diag)
                                       : mc_plan_create(context, &sampled, &plan, diag);
        if (settled) CHECK(got == MC_OK, "use %d: %s", i, mc_diag_text(diag));
        else refused("use", got, MC_CANNOT, "mc_matrix_settle");
    }
    const size_t bytes = (size_t)b->csr.nonzeros * sizeof *columns;
    if (settled) CHECK(memcmp(columns, b->p.host.col_idx, bytes) == 0, "columns");
    mc_plan_destroy(plan);
    free(columns);
}

/* Other plans of a borrowed matrix, and tuning. */
static void check_plans(const borrowed_product *b) {
    mc_plan_config configs[4] = {b->p.config, b->p.config, b->p.config, b->p.config};
    configs[0].given_values = true, configs[1].b = MC_S8;
    configs[2].dense = (mc_dense_policy)7, configs[3].tuning = (mc_tuning)9;
    for (size_t i = 0; i < 4; i++) {
        mc_plan *plan = NULL;
        const mc_status want = i < 2 ? MC_CANNOT : MC_USAGE;
        CHECK(mc_plan_create(context, &configs[i], &plan, diag) == want && plan == NULL, "plan %zu", i);
        CHECK(mc_diag_count(diag) > 0, "plan %zu is refused without a word", i);
        mc_diag_clear(diag);
    }
    refused("tune", mc_tune(context, &b->p.config, NULL, NULL, diag), MC_CANNOT, "mc_matrix_settle");
}

/* What nobody has looked at is looked at. */
static void check_contents(borrowed_product *b) {
    mc_matrix *matrix = b->p.matrix;
    mc_vsparse *host = &b->p.host;
    const int64_t end = host->row_ptr[host->rows], second = host->row_ptr[1];
    host->row_ptr[host->rows] = end + 5;
    borrowed_write_pattern(b);
    refused("end", mc_matrix_settle(matrix, NULL, diag), MC_FORMAT, "row_ptr[48] is");
    host->row_ptr[host->rows] = end, host->row_ptr[1] = end;
    borrowed_write_pattern(b);
    refused("offsets", mc_matrix_settle(matrix, NULL, diag), MC_FORMAT, "row_ptr[2] is");
    host->row_ptr[1] = second;
    const int32_t column = host->col_idx[end - 1];
    host->col_idx[end - 1] = (int32_t)host->cols;
    borrowed_write_pattern(b);
    refused("columns", mc_matrix_settle(matrix, NULL, diag), MC_FORMAT, "of row block");
    host->col_idx[end - 1] = column;
    borrowed_write_pattern(b);
    CHECK(info_of(matrix).borrowed, "it is settled by what was refused");
}

static void test_refusals(void) {
    borrowed_product b;
    product_kind kind = plain;
    kind.type = kind.config.b = MC_F16;
    test_configs();
    if (borrowed_open(&b, &kind, 11)) {
        borrowed_write_values(&b);
        check_contents(&b);
        check_uses(&b, false);
        check_plans(&b);
        if (product_plan(&b.p)) product_check(&b.p);
        (void)worked("settle", mc_matrix_settle(b.p.matrix, NULL, diag));
        (void)worked("settle again", mc_matrix_settle(b.p.matrix, NULL, diag));
        check_uses(&b, true);
        check_settled(&b);
    }
    product_close(&b.p);
    mc_vsparse host = product_host(&plain, 3);
    mc_matrix *own = product_matrix(context, &host);
    (void)worked("not borrowed", mc_matrix_settle(own, NULL, diag));
    CHECK(!info_of(own).borrowed);
    mc_matrix_destroy(own);
    mc_vsparse_free(&host);
}

/* -- In the background: threads settle and plan, others execute, until the matrix has become another one */

enum { THREADS = 3, PLANS = 4 };

typedef struct background {
    pthread_t thread;
    pthread_barrier_t *start;
    const product *p;
    mc_plan *plan;
    mc_status status;
} background;

static void *convert(void *data) {
    background *b = data;
    pthread_barrier_wait(b->start);
    b->status = mc_matrix_settle(b->p->matrix, NULL, NULL);
    if (b->status == MC_OK) b->status = mc_plan_create(context, &b->p->config, &b->plan, NULL);
    return NULL;
}

/* Of whichever the matrix is at the time. */
static void *plan_anew(void *data) {
    background *b = data;
    pthread_barrier_wait(b->start);
    for (int i = 0; i < PLANS && b->status == MC_OK; i++) {
        mc_plan *plan = NULL;
        mc_matrix_info info = {.size = sizeof info};
        b->status = mc_plan_create(context, &b->p->config, &plan, NULL);
        mc_plan_destroy(plan);
        if (b->status == MC_OK) b->status = mc_matrix_get_info(b->p->matrix, &info, NULL);
    }
    return NULL;
}

static void check_converted(borrowed_product *b, background *workers) {
    mc_plan *first = b->p.plan;
    for (int i = 0; i < THREADS; i++) {
        CHECK(workers[i].status == MC_OK, "thread %d: %s", i, mc_status_text(workers[i].status));
        if (workers[i].plan == NULL) continue;
        b->p.plan = workers[i].plan;
        b->p.workspace = 0;
        if (mc_plan_workspace(b->p.plan) > 0)
            b->p.workspace = product_reserve(&b->p, (int64_t)mc_plan_workspace(b->p.plan), 0);
        CHECK(!plan_has_field(b->p.plan, "deal=off"), "thread %d", i);
        product_check(&b->p);
        mc_plan_destroy(b->p.plan);
    }
    b->p.plan = first;
}

static void test_background(uint64_t seed) {
    pthread_barrier_t start;
    background workers[THREADS] = {{.status = MC_OK}};
    borrowed_product b;
    product_kind kind = plain;
    kind.type = kind.config.b = MC_F16;
    if (borrowed_open(&b, &kind, seed) && product_plan(&b.p)) {
        borrowed_write_pattern(&b), borrowed_write_values(&b);
        product_check(&b.p); /* the first call */
        pthread_barrier_init(&start, NULL, THREADS + 1);
        for (int i = 0; i < THREADS; i++) {
            workers[i].start = &start, workers[i].p = &b.p;
            pthread_create(&workers[i].thread, NULL, i < 2 ? convert : plan_anew, &workers[i]);
        }
        pthread_barrier_wait(&start);
        for (int i = 0; i < 3; i++) product_check(&b.p);
        for (int i = 0; i < THREADS; i++) pthread_join(workers[i].thread, NULL);
        pthread_barrier_destroy(&start);
        product_check(&b.p);
        check_converted(&b, workers);
    }
    product_close(&b.p);
}

int main(int count, char **arguments) {
    const char *device = count > 1 ? arguments[1] : "sim";
    diag = mc_diag_create();
    const mc_context_config config = {.size = sizeof config,
                                      .device = device,
                                      .cache = MC_CACHE_MEMORY,
                                      .records = "",
                                      .allocate = borrowed_allocate,
                                      .release = borrowed_release};
    if (strcmp(device, "sim") != 0 && mc_device_cuda_count() == 0) return 77;
    if (!worked("context", mc_context_create(&config, &context, diag))) return device_end(check_end());
    test_products();
    test_changes();
    test_hubs();
    test_overlap();
    test_choices();
    test_refusals();
    for (uint64_t seed = 60; seed < 62; seed++) test_background(seed);
    CHECK(borrowed_held == 0, "%d blocks are left", borrowed_held);
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return device_end(check_end());
}
