#include "product.h"
#include "mcrt_internal.h"
#include "context/matrix.h"
#include <stdlib.h>

enum { POISON = 0x80, ROOM = 256 };

int product_end(int test_end) { return check_end() | test_end; }

bool worked(const char *what, mc_status status) {
    CHECK(status == MC_OK, "%s: %s", what, mc_diag_text(diag));
    if (status != MC_OK) mc_diag_clear(diag);
    return status == MC_OK;
}

void product_listen(void *user, mc_log_level level, const char *message) {
    heard *h = user;
    if (level != MC_LOG_NOTE) return;
    h->notes++;
    snprintf(h->last, sizeof h->last, "%s", message);
}

/* -- Operands */

mc_vsparse product_host(const product_kind *kind, uint64_t seed) {
    const mc_pattern pattern = {.rows = kind->row_blocks,
                                .cols = kind->cols,
                                .sparsity = kind->sparsity,
                                .law = MC_PATTERN_REALISTIC,
                                .cv = 0.5,
                                .seed = seed};
    mc_csr csr;
    mc_vsparse host = {0};
    if (!worked("pattern", mc_csr_generate(&pattern, &csr, diag))) return host;
    (void)worked("matrix", mc_vsparse_dilate(&csr, kind->vec, kind->type, &host, diag));
    mc_csr_free(&csr);
    if (kind->type == MC_F32) mc_scale_fill(host.values, host.vectors * kind->vec, MC_VALUES_FULL, seed);
    else mc_vsparse_fill(&host, MC_VALUES_FULL, seed, NULL);
    return host;
}

mc_matrix *product_matrix(mc_context *context, const mc_vsparse *host) {
    mc_matrix *matrix;
    (void)worked("mc_matrix_create", matrix_of_host(context, host, &matrix, diag));
    return matrix;
}

static int64_t at_least(int64_t ld, mc_type type, int64_t length) {
    if (ld != 0) return ld;
    return length == 0 ? 2 : mc_type_bytes(type) == 0 ? length + length % 2 : length;
}

mc_dense product_dense(mc_type type, int64_t rows, int64_t cols, int64_t ld, uint64_t seed) {
    mc_dense dense = {0};
    if (worked("mc_dense_create", mc_dense_create(type, rows, cols, at_least(ld, type, cols), &dense, diag)))
        mc_dense_fill(&dense, MC_VALUES_FULL, seed);
    return dense;
}

static float *factors(mc_per per, int64_t rows, int64_t cols,
                      void (*fill)(float *values, int64_t count, mc_value_law law, uint64_t seed),
                      uint64_t seed) {
    int64_t count = mc_per_count(per, rows, cols);
    float *values = calloc((size_t)count + 1, sizeof *values);
    fill(values, count, MC_VALUES_FULL, seed);
    return values;
}

/* Of an SpMM. */
static bool has_c_by_columns(const product *p) { return p->config.c_major == MC_MAJOR_COLUMN; }

static void make_operands(product *p, uint64_t seed) {
    const mc_plan_config *c = &p->config;
    bool spmm = c->op == MC_OP_SPMM;
    int64_t m = p->host.rows, n = spmm ? c->n : p->host.cols, k = spmm ? p->host.cols : c->k;
    bool columns = !spmm && c->b_layout == MC_LAYOUT_COLUMNS;
    int64_t ldb = c->b_major == MC_MAJOR_COLUMN ? 0 : c->ldb; /* of rows, which the reference reads */
    p->b = product_dense(c->b, columns ? n : k, columns ? k : n, ldb, seed + 1);
    if (!spmm) p->a = product_dense(c->a, m, k, c->lda, seed + 2);
    p->ldc = spmm ? at_least(c->ldc, c->c, has_c_by_columns(p) ? m : n) : 0;
    if (c->residual != MC_RESIDUAL_NONE)
        p->residual = product_dense((mc_type)c->residual, m, n, c->ldr, seed + 6);
    p->scale = factors(c->scale, m, n, mc_scale_fill, seed + 3);
    p->bias = factors(c->bias, m, n, mc_bias_fill, seed + 4);
    p->b_scale = factors(c->b_scale, m, n, mc_scale_fill, seed + 5);
    for (int64_t i = 0; i < mc_per_count(c->b_scale, m, n); i++) p->b_scale[i] *= 0x1p12F;
    p->c_scale = 0.75F, p->zero = c->zero != MC_PER_NONE ? -11 : 0;
}

mc_dense product_stored(const product *p, const mc_dense *b) {
    const mc_plan_config *c = &p->config;
    bool turned = c->b_major == MC_MAJOR_COLUMN;
    mc_dense stored = {0};
    int64_t ld = turned ? at_least(c->ldb, c->b, b->rows) : b->ld;
    if (turned) (void)worked("mc_dense_transpose", mc_dense_transpose(b, ld, &stored, diag));
    else (void)worked("mc_dense_convert", mc_dense_convert(b, "B", b->type, ld, &stored, diag));
    return stored;
}

/* -- Into the device */

mc_address product_reserve(product *p, int64_t bytes, unsigned offset) {
    mc_address address = 0;
    if (!worked("mc_memory_create", mc_memory_create(p->context, (size_t)bytes + ROOM, &address, diag)))
        return 0;
    p->buffers[p->buffer_count++] = address;
    return address + offset;
}

void product_write(const product *p, mc_address address, const mc_dense *dense) {
    size_t step = (size_t)mc_type_size(dense->type, dense->ld),
           bytes = (size_t)mc_type_size(dense->type, dense->cols);
    for (size_t i = 0; i < (size_t)dense->rows; i++)
        (void)worked("mc_memory_write", mc_memory_write(p->context, address + i * step,
                                                        (const char *)dense->data + i * step, bytes, diag));
}

static mc_address put_dense(product *p, const mc_dense *dense) {
    mc_address address =
        product_reserve(p, mc_type_size(dense->type, dense->rows * dense->ld), p->kind->offset);
    product_write(p, address, dense);
    return address;
}

static mc_address put_b(product *p) {
    mc_dense stored = product_stored(p, &p->b);
    mc_address address = put_dense(p, &stored);
    mc_dense_free(&stored);
    return address;
}

static mc_address put_factors(product *p, mc_per per, const float *values, int64_t rows, int64_t cols) {
    int64_t bytes = mc_per_count(per, rows, cols) * (int64_t)sizeof *values;
    if (per == MC_PER_NONE || per == MC_PER_TENSOR) return 0;
    mc_address address = product_reserve(p, bytes, 0);
    (void)worked("mc_memory_write", mc_memory_write(p->context, address, values, (size_t)bytes, diag));
    return address;
}

bool product_open(product *p, mc_context *context, const product_kind *kind, uint64_t seed) {
    int before = check_failed;
    *p = (product){.kind = kind, .context = context, .config = kind->config};
    p->config.size = sizeof p->config;
    p->host = product_host(kind, seed);
    p->matrix = p->config.matrix = product_matrix(context, &p->host);
    make_operands(p, seed);
    int64_t n = p->config.op == MC_OP_SPMM ? p->config.n : p->host.cols;
    p->args = (mc_args){.size = sizeof p->args,
                        .b = put_b(p),
                        .scale = put_factors(p, p->config.scale, p->scale, p->host.rows, n),
                        .bias = put_factors(p, p->config.bias, p->bias, p->host.rows, n),
                        .scale_value = p->scale[0]};
    p->list[0] = (mc_argument){"b_scale", put_factors(p, p->config.b_scale, p->b_scale, p->host.rows, n), 0};
    p->list[1] = (mc_argument){"c_scale", 0, p->c_scale};
    p->list[2] = (mc_argument){"zero", 0, p->zero};
    if (p->residual.data != NULL) p->list[3] = (mc_argument){"residual", put_dense(p, &p->residual), 0};
    if (p->config.b_scale != MC_PER_NONE) p->args.list = p->list, p->args.list_count = 3;
    if (p->residual.data != NULL) p->args.list = p->list, p->args.list_count = 4;
    if (p->config.op == MC_OP_SDDMM) p->args.a = put_dense(p, &p->a);
    mc_dense want = product_want(p);
    int64_t rows = has_c_by_columns(p) ? want.cols : want.rows, ld = p->ldc != 0 ? p->ldc : want.cols;
    mc_dense_free(&want);
    p->args.c = product_reserve(p, mc_type_size(p->config.c, rows * ld), kind->offset);
    return check_failed == before;
}

bool product_plan(product *p) {
    if (!worked(p->kind->name, mc_plan_create(p->context, &p->config, &p->plan, diag))) return false;
    size_t bytes = mc_plan_workspace(p->plan);
    if (bytes == 0) return true;
    if (!worked("workspace", mc_memory_create(p->context, bytes, &p->workspace, diag))) return false;
    p->buffers[p->buffer_count++] = p->workspace;
    return true;
}

void product_close(product *p) {
    mc_plan_destroy(p->plan);
    mc_matrix_destroy(p->matrix);
    for (size_t i = 0; i < p->buffer_count; i++) mc_memory_destroy(p->context, p->buffers[i]);
    mc_vsparse_free(&p->host);
    mc_dense_free(&p->a);
    mc_dense_free(&p->b);
    mc_dense_free(&p->residual);
    free(p->scale);
    free(p->bias);
    free(p->b_scale);
    *p = (product){0};
}

/* -- Results */

static void want_product(const product *p, const mc_output *output, const sum_range *sums,
                         reference_result *want) {
    const mc_factors factors = {.scale = p->scale,
                                .bias = p->bias,
                                .b_scale = p->b_scale,
                                .c_scale = &p->c_scale,
                                .zero = &p->zero,
                                .residual = &p->residual};
    if (sums->most.data != NULL)
        (void)worked("mc_reference_range", mc_reference_range(output, &factors, sums, want, diag));
    else
        (void)worked("mc_reference_output",
                     mc_reference_output(output, &factors, &sums->least, &want->low, diag));
}

static void want_sampled(const product *p, const mc_output *output, const sum_range *sums,
                         reference_result *want) {
    mc_order order = p->config.c_order;
    if (sums->most.data != NULL)
        (void)worked("mc_reference_sampled_range",
                     mc_reference_sampled_range(output, &p->host, order, p->scale, sums, want, diag));
    else
        (void)worked("mc_reference_sampled",
                     mc_reference_sampled(output, &p->host, order, p->scale, &sums->least, &want->low, diag));
}

static mc_status make_sums(const product *p, mc_dense *sums) {
    if (p->config.op == MC_OP_SPMM) return mc_reference_spmm(&p->host, &p->b, sums, diag);
    return mc_reference_sddmm(&p->host, &p->a, &p->b, p->config.b_layout, sums, diag);
}

static mc_status make_bounds(const product *p, mc_dense *bounds) {
    if (p->config.op == MC_OP_SPMM) return mc_reference_spmm_bounds(&p->host, &p->b, bounds, diag);
    return mc_reference_sddmm_bounds(&p->host, &p->a, &p->b, p->config.b_layout, bounds, diag);
}

/* Sums of floats have a range. */
static sum_range sums_of(const product *p) {
    mc_dense sums = {0}, bounds = {0};
    sum_range range = {0};
    if (!worked("sums", make_sums(p, &sums))) return range;
    if (!mc_type_is_real(p->config.b)) return (sum_range){.least = sums};
    if (worked("bounds", make_bounds(p, &bounds)))
        (void)worked("range", mc_sum_range_make(&sums, &bounds, &range, diag));
    mc_dense_free(&sums);
    mc_dense_free(&bounds);
    return range;
}

reference_result product_result(const product *p) {
    const mc_plan_config *c = &p->config;
    const mc_output output = {.type = c->c,
                              .scale = c->scale,
                              .bias = c->bias,
                              .b_scale = c->b_scale,
                              .c_scale = c->c_scale,
                              .zero = c->zero,
                              .activation = c->activation,
                              .exact = c->exact,
                              .masked = c->mask_values};
    reference_result want = {0};
    sum_range sums = sums_of(p);
    if (c->op == MC_OP_SPMM) want_product(p, &output, &sums, &want);
    else want_sampled(p, &output, &sums, &want);
    mc_sum_range_free(&sums);
    return want;
}

mc_dense product_want(const product *p) {
    reference_result want = product_result(p);
    mc_dense_free(&want.high);
    return want.low;
}

static void check_gaps(const product *p, const mc_dense *c) {
    size_t row = (size_t)mc_type_size(c->type, c->cols), step = (size_t)mc_type_size(c->type, c->ld);
    const unsigned char *bytes = c->data;
    for (size_t i = 0; i < (size_t)c->rows; i++)
        for (size_t j = row; j < step; j++)
            if (bytes[i * step + j] != POISON) {
                CHECK(false, "%s: the gap behind row %zu of C was written", p->kind->name, i);
                return;
            }
}

/* Zeros in the shape that C has on the device. */
static mc_dense device_c(const product *p, const mc_dense *want) {
    mc_dense c = {0};
    const bool turned = has_c_by_columns(p);
    int64_t rows = turned ? want->cols : want->rows, cols = turned ? want->rows : want->cols;
    int64_t ld = p->ldc != 0 ? p->ldc : cols;
    (void)worked("mc_dense_create", mc_dense_create(want->type, rows, cols, ld, &c, diag));
    return c;
}

static size_t dense_bytes(const mc_dense *c) { return (size_t)mc_type_size(c->type, c->rows * c->ld); }

void product_poison(const product *p) {
    mc_dense want = product_want(p), c = device_c(p, &want);
    memset(c.data, POISON, dense_bytes(&c));
    (void)worked("poison", mc_memory_write(p->context, p->args.c, c.data, dense_bytes(&c), diag));
    mc_dense_free(&c);
    mc_dense_free(&want);
}

/* WANT, which is row-major, becomes as C lies. */
static void turn(const product *p, mc_dense *want) {
    mc_dense turned = {0};
    if (want->data == NULL || !has_c_by_columns(p)) return;
    (void)worked("mc_dense_transpose", mc_dense_transpose(want, want->rows, &turned, diag));
    mc_dense_free(want);
    *want = turned;
}

void product_compare(const product *p) {
    reference_result want = product_result(p);
    mc_dense c = device_c(p, &want.low);
    turn(p, &want.low);
    turn(p, &want.high);
    mc_diag_clear(diag);
    if (worked("mc_memory_read", mc_memory_read(p->context, p->args.c, c.data, dense_bytes(&c), diag)) &&
        worked(p->kind->name, mc_result_compare(&c, &want, diag)))
        check_gaps(p, &c);
    mc_dense_free(&c);
    mc_result_free(&want);
}

void product_check(const product *p) {
    product_poison(p);
    mc_diag_clear(diag);
    if (worked(p->kind->name, mc_execute(p->plan, &p->args, p->workspace, NULL, diag)) &&
        worked("mc_synchronize", mc_synchronize(p->context, NULL, diag)))
        product_compare(p);
}

void product_run(mc_context *context, const product_kind *kind, uint64_t seed) {
    product p;
    mc_diag_clear(diag);
    if (product_open(&p, context, kind, seed) && product_plan(&p)) {
        mc_plan_info info = {.size = sizeof info};
        product_check(&p);
        if (worked("mc_plan_get_info", mc_plan_get_info(p.plan, &info, diag)))
            printf("%-40s %s\n", kind->name, info.fields);
    }
    product_close(&p);
}
