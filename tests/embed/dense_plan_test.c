/* Plans that are never slower than dense: which of them take a dense kernel, what it computes (of integers exactly,
 * of floats to the bit in the dense kernels' order), new values, and what is not taken. On the
 * simulator estimates are an H200's. Records and graphs are in dense_records_test.c. */
#include <stdlib.h>
#include "base/element.h"
#include "context/context.h"
#include "mc_describe.h"
#include "dense_plan.h"

mc_diag *diag;
static mc_context *context;

/* -- Which are taken, and that all are right */

typedef struct row {
    product_kind kind;
    bool taken;
    const char *reason;
} row;

static const row rows[] = {
    {{"f16, V = 8", MC_F16, FULL(8), .config = CONFIG(TOKENS, .b = MC_F16, .c = MC_F16)},
     true,
     "gemm should be faster, by estimates"},
    {{"f16, V = 1", MC_F16, FULL(1),
      .config = CONFIG(TOKENS, .b = MC_F16, .c = MC_F32, .ldb = 56, .ldc = 48)},
     true,
     "gemm should be"},
    {{"bf16, V = 16", MC_BF16, FULL(16),
      .config = CONFIG(TOKENS, .b = MC_BF16, .c = MC_BF16, .scale = MC_PER_ROW, .bias = MC_PER_COLUMN,
                       .residual = MC_RESIDUAL_F32)},
     true,
     "gemm should be"},
    {{"shapes that are open", MC_F16, FULL(4),
      .config = CONFIG(TOKENS, .b = MC_F16, .c = MC_F16, .shapes = MC_SHAPES_OPEN)},
     true,
     "gemm should be"},
    {{"s8 by columns", MC_S8, FULL(8), .config = CONFIG(TOKENS, BY_COLUMNS, .c = MC_S32)},
     true,
     "gemm should be"},
    {{"u8 by s8, all factors", MC_U8, FULL(8),
      .config = CONFIG(TOKENS, BY_COLUMNS, .c = MC_S8, .scale = MC_PER_ROW, .bias = MC_PER_ROW,
                       .b_scale = MC_PER_COLUMN, .c_scale = MC_PER_TENSOR, .zero = MC_PER_TENSOR,
                       .activation = MC_ACTIVATION_RELU, .residual = MC_RESIDUAL_F16)},
     true,
     "gemm should be"},
    {{"98 %, V = 8", MC_F16, EMPTY(8), .config = CONFIG(TOKENS, .b = MC_F16, .c = MC_F16)},
     false,
     "gemm should be slower, by estimates"},
    {{"98 %, V = 1", MC_BF16, EMPTY(1), .config = CONFIG(TOKENS, .b = MC_BF16, .c = MC_F32)},
     false,
     "gemm should be slower, by estimates"},
    {{"never", MC_F16, FULL(8), .config = {.b = MC_F16, .c = MC_F16, .n = TOKENS}}, false, ""},
    {{"s8 by rows", MC_S8, FULL(8), .config = CONFIG(TOKENS, .b = MC_S8, .c = MC_S32)},
     false,
     "there is no dense kernel for this: layout: \"rows\" goes with elements of 2 bytes: rhs = \"s8\" wants"},
    {{"s8 by f16", MC_S8, FULL(8), .config = CONFIG(TOKENS, .b = MC_F16, .c = MC_F16)},
     false,
     "there is no dense product of this: a is s8, b is f16"},
    {{"e4m3", MC_E4M3, FULL(8),
      .config = CONFIG(TOKENS, .b = MC_E4M3, .b_major = MC_MAJOR_COLUMN, .c = MC_F16)},
     false,
     "there is no dense product of this: a gemm keeps 13 bits of sums of e4m3, an SpMM those of f32"},
    {{"rows that begin anywhere", MC_F16, FULL(8), .config = CONFIG(41, .b = MC_F16, .c = MC_F16, .ldb = 43)},
     false,
     "gemm should be slower"},
    {{"exact sums", MC_S8, FULL(8), .config = CONFIG(TOKENS, BY_COLUMNS, .c = MC_S64, .exact = true)},
     false,
     "there is no dense product of this: exact is set, which a gemm has not"},
    {{"an operand of 2 bytes' alignment", MC_F16, FULL(8), .offset = 4,
      .config = CONFIG(TOKENS, .b = MC_F16, .c = MC_F16, .align = 4)},
     false,
     "a dense kernel should be faster, and cannot be had: b wants to lie at a multiple of 16 bytes, align "
     "promises 4"},
};

static void run_row(const row *r) {
    product p;
    mc_diag_clear(diag);
    if (product_open(&p, context, &r->kind, 3) && product_plan(&p)) {
        check_said(&p, r->taken, r->reason);
        product_check(&p);
    }
    product_close(&p);
}

/* What a dense operator has not: nothing is executed. */
static const row unlike[] = {
    {{"C by columns", MC_F16, FULL(8),
      .config = CONFIG(TOKENS, .b = MC_F16, .c = MC_F16, .c_major = MC_MAJOR_COLUMN)},
     false,
     "there is no dense product of this: c lies by columns, and b by rows"},
    {{"a batch", MC_F16, FULL(8), .config = CONFIG(TOKENS, .b = MC_F16, .c = MC_F16, .batch = 2)},
     false,
     "there is no dense product of this: batch is set, which a gemm has not"},
    {{"given values", MC_F16, FULL(8),
      .config = CONFIG(TOKENS, .b = MC_F16, .c = MC_F16, .given_values = true)},
     false,
     "there is no dense product of this: given_values is set, which a gemm has not"},
};

static void say_row(const row *r) {
    product p;
    mc_diag_clear(diag);
    if (product_open(&p, context, &r->kind, 3) && product_plan(&p)) check_said(&p, r->taken, r->reason);
    product_close(&p);
}

/* -- To the bit, in the order of the dense kernel */

/* A, its zeros among its elements. */
static mc_dense densified(const mc_vsparse *a) {
    mc_dense dense = {0};
    if (!worked("dense", mc_dense_create(a->type, a->rows, a->cols, a->cols, &dense, diag))) return dense;
    for (int64_t b = 0; b < a->row_blocks; b++)
        for (int64_t v = a->row_ptr[b]; v < a->row_ptr[b + 1]; v++)
            for (int r = 0; r < a->vec; r++)
                mc_dense_set(&dense, b * a->vec + r, a->col_idx[v], mc_vsparse_value(a, v, r));
    return dense;
}

static int parts_of(const char *fields) {
    const char *split = strstr(fields, " split=");
    return split != NULL ? atoi(split + 7) : 1;
}

static void test_order(void) {
    static const product_kind kind = {"in order", MC_F16, FULL(8),
                                      .config = CONFIG(TOKENS, .b = MC_F16, .c = MC_F32)};
    product p;
    if (product_open(&p, context, &kind, 9) && product_plan(&p)) {
        const char *fields = info_of(p.plan).fields;
        const mc_gemm_order order = {.method =
                                         strstr(fields, "method=mma") != NULL ? MC_GEMM_MMA : MC_GEMM_WGMMA,
                                     .parts = parts_of(fields)};
        mc_dense a = densified(&p.host), want = {0};
        float *got = malloc(sizeof *got * 32 * TOKENS);
        product_check(&p);
        if (worked("order", mc_reference_gemm_ordered(&a, &p.b, MC_LAYOUT_ROWS, &order, &want, diag)) &&
            worked("read", mc_memory_read(context, p.args.c, got, sizeof *got * 32 * TOKENS, diag)))
            CHECK(memcmp(got, want.data, sizeof *got * 32 * TOKENS) == 0, "other bits: %s", fields);
        free(got);
        mc_dense_free(&a);
        mc_dense_free(&want);
    }
    product_close(&p);
}

/* -- 2:4 */

static void test_two_of_four(void) {
    enum { M = 32, K = 64, N = 24 };
    static int8_t a[M][K], b[N][K];
    int32_t c[M][N], wrong = 0;
    for (int i = 0; i < M * K; i++)
        a[i / K][i % K] = (int8_t)(i % 4 == i / 4 % 4 || i % 4 == (i / 4 + 1) % 4 ? i % 7 + 1 : 0);
    for (int i = 0; i < N * K; i++) b[i / K][i % K] = (int8_t)(i % 11 - 5);
    const mc_dense_config of = {.size = sizeof of, .type = MC_S8, .vec = 1, .rows = M, .cols = K, .data = a};
    mc_plan_config config = {.size = sizeof config,
                             .op = MC_OP_GEMM24,
                             .b = MC_S8,
                             .c = MC_S32,
                             .n = N,
                             .dense = MC_DENSE_IF_FASTER};
    mc_args args = {.size = sizeof args};
    mc_plan *plan = NULL;
    if (worked("matrix", mc_matrix_from_dense(context, &of, &config.matrix, diag)) &&
        worked("plan", mc_plan_create(context, &config, &plan, diag)) &&
        worked("b", mc_memory_create(context, sizeof b, &args.b, diag)) &&
        worked("c", mc_memory_create(context, sizeof c, &args.c, diag)) &&
        worked("write", mc_memory_write(context, args.b, b, sizeof b, diag)) &&
        worked("execute", mc_execute(plan, &args, 0, NULL, diag)) &&
        worked("read", mc_memory_read(context, args.c, c, sizeof c, diag))) {
        const mc_plan_info info = info_of(plan);
        CHECK(info.dense && strstr(info.fields, "op=gemm ") != NULL, "%s: %s", info.dense_reason,
              info.fields);
        for (int i = 0; i < M * N; i++) {
            int sum = 0;
            for (int k = 0; k < K; k++) sum += a[i / N][k] * b[i % N][k];
            wrong += c[i / N][i % N] != sum;
        }
        CHECK(wrong == 0, "%d elements are wrong", wrong);
    }
    mc_plan_destroy(plan);
    mc_memory_destroy(context, args.b);
    mc_memory_destroy(context, args.c);
    mc_matrix_destroy(config.matrix);
}

/* -- One weight in memory, for all plans, with the newest values */

static int64_t device_bytes(const mc_matrix *matrix) {
    mc_matrix_info info = {.size = sizeof info};
    (void)worked("info", mc_matrix_get_info(matrix, &info, diag));
    return info.device_bytes;
}

/* Puts the values of P's host side into its matrix FROM device memory. */
static void set_from_device(const product *p, mc_values_from from) {
    mc_dense all = densified(&p->host), columns = {0};
    const mc_dense vectors = {
        .type = all.type, .rows = p->host.vectors, .cols = p->host.vec, .data = p->host.values};
    const mc_dense *source = from == MC_FROM_ROWS ? &all : from == MC_FROM_COLUMNS ? &columns : &vectors;
    (void)worked("columns", mc_dense_transpose(&all, all.rows, &columns, diag));
    const size_t bytes = (size_t)mc_type_size(all.type, source->rows * source->cols);
    mc_device_values values = {.size = sizeof values, .from = from};
    (void)worked("source", mc_memory_create(context, bytes, &values.address, diag));
    (void)worked("source", mc_memory_write(context, values.address, source->data, bytes, diag));
    (void)worked("values", mc_matrix_set_device_values(p->matrix, &values, NULL, diag));
    (void)worked("wait", mc_synchronize(context, NULL, diag));
    mc_memory_destroy(context, values.address);
    mc_dense_free(&all);
    mc_dense_free(&columns);
}

static void check_read(const product *p) {
    const size_t bytes = (size_t)mc_type_size(p->host.type, p->host.vectors * p->host.vec);
    void *got = malloc(bytes);
    if (worked("read", mc_matrix_read(p->matrix, NULL, NULL, got, diag)))
        CHECK(memcmp(got, p->host.values, bytes) == 0, "%s: other values came back", p->kind->name);
    free(got);
}

static void try_values(const product_kind *kind) {
    product p;
    mc_plan *other = NULL;
    if (product_open(&p, context, kind, 5) && product_plan(&p)) {
        const int64_t bytes = device_bytes(p.matrix);
        const mc_plan_config usual = p.config;
        check_said(&p, true, "gemm");
        CHECK(bytes == info_of(p.plan).dense_bytes, "%lld bytes", (long long)bytes);
        p.config.n = 8;
        (void)worked("another", mc_plan_create(context, &p.config, &other, diag));
        CHECK(info_of(other).dense && device_bytes(p.matrix) == bytes, "the weight is there twice");
        p.config = usual;
        mc_vsparse_fill(&p.host, MC_VALUES_FULL, 77, NULL);
        (void)worked("set", mc_matrix_set_values(p.matrix, p.host.values, NULL, diag));
        product_check(&p);
        for (int from = MC_FROM_VECTORS; from <= MC_FROM_COLUMNS; from++) {
            mc_vsparse_fill(&p.host, MC_VALUES_FULL, 80 + (uint64_t)from, NULL);
            set_from_device(&p, (mc_values_from)from);
            product_check(&p);
        }
        check_read(&p);
        mc_plan_destroy(other);
        mc_plan_destroy(p.plan);
        p.plan = NULL;
        CHECK(device_bytes(p.matrix) == 0, "%lld bytes are left", (long long)device_bytes(p.matrix));
        check_read(&p);
        if (product_plan(&p)) product_check(&p);
    }
    product_close(&p);
}

static void test_values(void) {
    static const product_kind kinds[] = {
        {"values of f16", MC_F16, .vec = 8, .row_blocks = 4, .cols = 200, .sparsity = 0.3,
         .config = CONFIG(TOKENS, .b = MC_F16, .c = MC_F32)},
        {"values of s8", MC_S8, .vec = 2, .row_blocks = 9, .cols = 75, .sparsity = 0.3,
         .config = CONFIG(TOKENS, BY_COLUMNS, .c = MC_S32)},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) try_values(&kinds[i]);
}

/* Of a matrix that has its pattern and values on the device. */
static void test_device_matrix(void) {
    static const product_kind kind = {"a matrix from device memory", MC_F16, FULL(8),
                                      .config = CONFIG(TOKENS, .b = MC_F16, .c = MC_F32)};
    product p;
    if (product_open(&p, context, &kind, 5)) {
        mc_dense all = densified(&p.host);
        mc_device_dense_config of = {
            .size = sizeof of, .type = all.type, .vec = 8, .rows = all.rows, .cols = all.cols};
        const size_t bytes = (size_t)mc_type_size(all.type, all.rows * all.cols);
        mc_matrix_destroy(p.matrix);
        p.matrix = NULL;
        (void)worked("memory", mc_memory_create(context, bytes, &of.data, diag));
        (void)worked("memory", mc_memory_write(context, of.data, all.data, bytes, diag));
        (void)worked("matrix", mc_matrix_from_device_dense(context, &of, NULL, &p.matrix, diag));
        mc_memory_destroy(context, of.data);
        mc_dense_free(&all);
        p.config.matrix = p.matrix;
        if (product_plan(&p)) {
            check_said(&p, true, "gemm");
            product_check(&p);
            mc_vsparse_fill(&p.host, MC_VALUES_FULL, 78, NULL);
            set_from_device(&p, MC_FROM_ROWS);
            product_check(&p);
            mc_vsparse_fill(&p.host, MC_VALUES_FULL, 79, NULL);
            (void)worked("set", mc_matrix_set_values(p.matrix, p.host.values, NULL, diag));
            product_check(&p);
            check_read(&p);
        }
    }
    product_close(&p);
}

/* -- Operands and what executions refuse are the sparse plan's */

static void test_operands(void) {
    static const product_kind kind = {"operands", MC_S8, FULL(8),
                                      .config = CONFIG(TOKENS, BY_COLUMNS, .c = MC_F16, .ldb = LONG + 32,
                                                       .ldc = TOKENS + 8, .scale = MC_PER_ROW)};
    product p;
    mc_plan *sparse = NULL;
    if (product_open(&p, context, &kind, 5) && product_plan(&p)) {
        p.config.dense = MC_DENSE_NEVER;
        (void)worked("sparse", mc_plan_create(context, &p.config, &sparse, diag));
        for (size_t i = 0; i < operator_of(MC_OP_SPMM)->operand_count; i++) {
            mc_operand_info a = {.size = sizeof a}, b = {.size = sizeof b};
            (void)worked("dense", mc_plan_get_operand(p.plan, i, &a, diag));
            (void)worked("sparse", mc_plan_get_operand(sparse, i, &b, diag));
            CHECK(strcmp(a.name, b.name) == 0 && a.wanted == b.wanted && a.type == b.type &&
                      a.rows == b.rows && a.cols == b.cols && a.ld == b.ld && a.bytes == b.bytes &&
                      (!a.wanted || a.align == b.align),
                  "%s: %lld x %lld, ld %lld, align %u, and %lld x %lld, ld %lld, align %u", a.name,
                  (long long)a.rows, (long long)a.cols, (long long)a.ld, a.align, (long long)b.rows,
                  (long long)b.cols, (long long)b.ld, b.align);
        }
        mc_argument named = {"a", p.args.b, 0};
        p.args.list = &named, p.args.list_count = 1;
        CHECK(mc_execute(p.plan, &p.args, 0, NULL, diag) == MC_USAGE);
        CHECK_TEXT(mc_diag_text(diag), "list[0] is 'a', which is no operand of an SpMM");
        mc_diag_clear(diag);
        named.name = "b";
        p.args.b = 0;
        product_check(&p);
    }
    mc_plan_destroy(sparse);
    product_close(&p);
}

static void refuse(mc_plan_config config, const char *why) {
    mc_plan *plan = NULL;
    config.size = sizeof config;
    CHECK(mc_plan_create(context, &config, &plan, diag) == MC_USAGE && plan == NULL &&
              mc_diag_count(diag) == 1,
          "%s", why);
    CHECK_TEXT(mc_diag_text(diag), why);
    mc_diag_clear(diag);
}

static void test_refused(void) {
    static const product_kind kind = {"refused", MC_S8, 8, .row_blocks = 2, .cols = 16, .sparsity = 0.3};
    mc_vsparse host = product_host(&kind, 1);
    mc_matrix *matrix = product_matrix(context, &host);
    refuse((mc_plan_config){.matrix = matrix, .b = MC_S8, .c = MC_S32, .n = 8, .dense = (mc_dense_policy)2},
           "dense is 2, must be one of its 2 choices");
    refuse((mc_plan_config){.op = MC_OP_SDDMM,
                            .matrix = matrix,
                            .b = MC_S8,
                            .c = MC_S32,
                            .k = 8,
                            .dense = MC_DENSE_IF_FASTER},
           "dense is set, which an SDDMM has not");
    refuse(
        (mc_plan_config){
            .op = MC_OP_GEMM, .b = MC_F16, .c = MC_F16, .m = 8, .n = 8, .k = 8, .dense = MC_DENSE_IF_FASTER},
        "dense is set, which a gemm has not");
    mc_matrix_destroy(matrix);
    mc_vsparse_free(&host);
}

/* -- Specs that a caller names, of either operator */

static void test_specs(void) {
    static const char *const specs[] = {"spmm_f16", "gemm_f16_split"};
    product_kind kind = {"specs", MC_F16, FULL(8),
                         .config = CONFIG(TOKENS, .b = MC_F16, .c = MC_F16, .specs = specs)};
    for (kind.config.spec_count = 1; kind.config.spec_count <= 2; kind.config.spec_count++) {
        const bool both = kind.config.spec_count == 2;
        product p;
        if (product_open(&p, context, &kind, 5) && product_plan(&p)) {
            check_said(&p, both,
                       both ? "gemm"
                            : "there is no dense kernel for this: none of 1 specs is of family gemm");
            CHECK(!both || strcmp(info_of(p.plan).spec, "gemm_f16_split.lua") == 0, "%s",
                  info_of(p.plan).spec);
        }
        product_close(&p);
    }
}

/* -- No memory for the weight with its zeros */

typedef struct bounded {
    mc_context *context;
    size_t most;
} bounded;

static mc_address allocate(void *user, size_t bytes) {
    const bounded *b = user;
    mc_address address = 0;
    if (bytes > b->most || mc_memory_create(b->context, bytes, &address, NULL) != MC_OK) return 0;
    return address;
}

static void release(void *user, mc_address address) {
    mc_memory_destroy(((bounded *)user)->context, address);
}

static void test_no_memory(const char *device) {
    static const product_kind kind = {"no memory", MC_F16, FULL(8),
                                      .config = CONFIG(TOKENS, .b = MC_F16, .c = MC_F16)};
    heard log = {0};
    bounded memory = {.most = 32 * LONG * 2 - 1};
    const mc_context_config config = {.size = sizeof config,
                                      .device = device,
                                      .cache = MC_CACHE_OFF,
                                      .records = "",
                                      .allocate = allocate,
                                      .release = release,
                                      .memory_user = &memory,
                                      .log = product_listen,
                                      .log_user = &log};
    mc_context *usual = context;
    product p;
    if (worked("context", mc_context_create(&config, &context, diag))) {
        memory.context = context;
        if (product_open(&p, context, &kind, 5) && product_plan(&p)) {
            check_said(&p, false,
                       "a dense kernel should be faster, and cannot be had: no memory for 131072 bytes");
            CHECK_TEXT(log.last, "cannot be had: no memory for 131072 bytes");
            product_check(&p);
        }
        product_close(&p);
        mc_context_destroy(context);
    }
    context = usual;
}

int main(int argc, char **argv) {
    const char *device = argc > 1 ? argv[1] : "sim";
    const mc_context_config config = {.size = sizeof config,
                                      .device = device,
                                      .cache = MC_CACHE_OFF,
                                      .tuning = MC_TUNING_REPLAY,
                                      .records = ""};
    diag = mc_diag_create();
    if (worked("context", mc_context_create(&config, &context, diag))) {
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) run_row(&rows[i]);
        for (size_t i = 0; i < sizeof unlike / sizeof *unlike; i++) say_row(&unlike[i]);
        test_order();
        test_two_of_four();
        test_values();
        test_device_matrix();
        test_operands();
        test_refused();
        test_specs();
        test_no_memory(device);
    }
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return product_end(check_end());
}
