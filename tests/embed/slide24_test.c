/* Products by weights of 6:8 and other patterns of 2N - 2 of 2N, by plans on the simulator: what the kernel that makes B longer writes,
 * to the byte; products against sums of the weight itself, all of small integers and so exact in every type; new values, batches, the
 * dense kernel that a plan may take, and what is refused. */
#include <stdlib.h>
#include <string.h>
#include "base/real.h"
#include "check.h"
#include "matrix/slide24.h"
#include "mc_describe.h"
#include "mcrt_internal.h"
#include "plan/plan.h"

static mc_context *context;
static mc_diag *diag;

static bool worked(const char *what, mc_status status) {
    CHECK(status == MC_OK, "%s: %s", what, mc_diag_text(diag));
    mc_diag_clear(diag);
    return status == MC_OK;
}

static void refused(mc_status wanted, mc_status status, const char *why) {
    CHECK(status == wanted, "%s: status %d", why, (int)status);
    CHECK_TEXT(mc_diag_text(diag), why);
    mc_diag_clear(diag);
}

/* -- Operands */

/* In span S of a row the units that are left out are two that depend on both. SPAN is in units of UNIT elements; the earlier ones of few
   rows are left out in pairs, so that groups are empty, too. */
static bool is_kept(int span, int unit, int64_t row, int64_t col) {
    const int64_t place = col / unit, at = place % span, first = (row * 5 + place / span * 3) % span;
    const int64_t second = row % 3 == 0 ? (first + 1) % span : (first + 2 + row % (span - 2)) % span;
    if (row % 7 == 6) return at % 3 == 0 && at < span - 2;
    return at != first && at != second;
}

static int value_of(int64_t row, int64_t col, int salt) { return (int)((row * 7 + col * 3 + salt) % 5) - 2; }

static int small(mc_type type, int value) {
    return mc_type_min(type) < 0 || mc_type_is_real(type) ? value : value + 2;
}

typedef struct weight {
    mc_type type;
    int span, unit;
    int64_t rows, cols;
} weight;

static int value_of_a(const weight *w, int64_t row, int64_t col, int salt) {
    const int value = value_of(row, col, salt);
    return is_kept(w->span, w->unit, row, col) ? small(w->type, value < 0 ? value : value + 1) : 0;
}

static int value_of_b(mc_type type, int64_t k, int64_t column) { return small(type, value_of(column, k, 2)); }

static void set_number(mc_dense *dense, int64_t i, int64_t j, int number) {
    mc_dense_set(dense, i, j,
                 mc_type_is_real(dense->type) ? (int64_t)real_to_bits(dense->type, (float)number) : number);
}

static mc_dense new_dense(mc_type type, int64_t rows, int64_t cols, int64_t ld) {
    mc_dense dense = {0};
    if (!worked("operand", mc_dense_create(type, rows, cols, ld, &dense, diag))) exit(1);
    return dense;
}

static int64_t even(int64_t count) { return count + count % 2; }

static mc_dense make_a(const weight *w, int salt) {
    mc_dense a = new_dense(w->type, w->rows, w->cols, even(w->cols));
    for (int64_t i = 0; i < a.rows; i++)
        for (int64_t j = 0; j < a.cols; j++) set_number(&a, i, j, value_of_a(w, i, j, salt));
    return a;
}

static mc_address put(const void *data, size_t bytes) {
    mc_address address = 0;
    if (worked("memory", mc_memory_create(context, bytes, &address, diag)))
        (void)worked("write", mc_memory_write(context, address, data, bytes, diag));
    return address;
}

static mc_address put_dense(const mc_dense *dense) {
    return put(dense->data, (size_t)mc_type_size(dense->type, dense->rows * dense->ld));
}

static mc_matrix *matrix_of(const weight *w, int salt, bool by_vectors) {
    mc_matrix *matrix = NULL;
    mc_dense a = make_a(w, salt);
    const mc_dense_config config = {.size = sizeof config,
                                    .type = w->type,
                                    .vec = 1,
                                    .rows = w->rows,
                                    .cols = w->cols,
                                    .ld = a.ld,
                                    .data = a.data,
                                    .span = by_vectors ? 0 : w->span};
    (void)worked("matrix", mc_matrix_from_dense(context, &config, &matrix, diag));
    mc_dense_free(&a);
    if (!by_vectors) return matrix;
    const mc_vsparse *host = matrix_host(matrix);
    mc_vsparse with = *host;
    mc_matrix *made = NULL;
    with.source.span = w->span, with.source.cols = host->cols, with.source.col_idx = host->col_idx;
    (void)worked("matrix of vectors", matrix_of_host(context, &with, &made, diag));
    mc_matrix_destroy(matrix);
    return made;
}

/* -- A product: C[i][j], and of product z of a batch B is that of column j + 100 z */

typedef struct product {
    weight w;
    mc_plan_config config;
} product;

enum { APART = 100 };

static float want(const product *p, int64_t row, int64_t col, int salt) {
    int64_t sum = 0;
    for (int64_t i = 0; i < p->w.cols; i++)
        sum += (int64_t)value_of_a(&p->w, row, i, salt) * value_of_b(p->config.b, i, col);
    return (float)sum;
}

static int64_t products_of(const product *p) { return p->config.batch > 1 ? p->config.batch : 1; }

static bool is_shared(const product *p) { return p->config.b_stride == MC_SHARED; }

/* Beyond what B is made of lies a number that no element has: what is read of it shows. */
static mc_address put_b(const product *p) {
    const mc_plan_config *c = &p->config;
    const bool by_rows = c->b_layout == MC_LAYOUT_ROWS;
    const int64_t k = p->w.cols, lines = by_rows ? k : c->n, line = by_rows ? c->n : k,
                  least = mc_type_bytes(c->b) > 0 ? line : even(line), ld = c->ldb > 0 ? c->ldb : least;
    const int64_t count = is_shared(p) ? 1 : products_of(p);
    mc_dense b = new_dense(c->b, lines * count, ld, ld);
    for (int64_t z = 0; z < count; z++)
        for (int64_t i = 0; i < lines; i++)
            for (int64_t j = 0; j < ld; j++) {
                const int64_t of_k = by_rows ? i : j, column = (by_rows ? j : i) + APART * z;
                set_number(&b, z * lines + i, j, j < line ? value_of_b(c->b, of_k, column) : 7);
            }
    mc_address address = put_dense(&b);
    mc_dense_free(&b);
    return address;
}

static void compare(const product *p, const char *what, mc_address address, int salt) {
    const mc_plan_config *c = &p->config;
    const int64_t rows = p->w.rows;
    mc_dense got = new_dense(c->c, rows * products_of(p), c->n, c->n);
    int wrong = 0;
    (void)worked("read", mc_memory_read(context, address, got.data,
                                        (size_t)mc_type_size(c->c, got.rows * got.ld), diag));
    for (int64_t i = 0; i < got.rows; i++)
        for (int64_t j = 0; j < c->n; j++) {
            const int64_t column = j + (is_shared(p) ? 0 : APART * (i / rows));
            wrong += (float)mc_dense_real(&got, i, j) != want(p, i % rows, column, salt);
        }
    CHECK(wrong == 0, "%s: %s, span %d, k %d: %d elements wrong", what, mc_type_text(p->w.type), p->w.span,
          (int)p->w.cols, wrong);
    mc_dense_free(&got);
}

static void execute(const product *p, const char *what, const mc_plan *plan, int salt) {
    const mc_plan_config *c = &p->config;
    mc_dense result = new_dense(c->c, p->w.rows * products_of(p), c->n, c->n);
    mc_address room = 0, b = put_b(p), address = put_dense(&result);
    const size_t bytes = mc_plan_workspace(plan);
    void *poison = malloc(bytes + 1);
    memset(poison, 0x7e, bytes + 1);
    if (bytes > 0) room = put(poison, bytes);
    const mc_args args = {.size = sizeof args, .b = b, .c = address};
    if (worked(what, mc_execute(plan, &args, room, NULL, diag))) compare(p, what, address, salt);
    mc_memory_destroy(context, b);
    mc_memory_destroy(context, address);
    if (room != 0) mc_memory_destroy(context, room);
    mc_dense_free(&result);
    free(poison);
}

static mc_type out_of(mc_type type) { return mc_type_is_real(type) ? MC_F32 : MC_S32; }

static product product_of(mc_type type, int span, int64_t m, int64_t n, int64_t k) {
    return (product){
        .w = {.type = type, .span = span, .unit = mc_slide24_unit(type), .rows = m, .cols = k},
        .config = {.size = sizeof(mc_plan_config), .op = MC_OP_GEMM24, .b = type, .c = out_of(type), .n = n}};
}

/* What the caller sees is the weight's own. PASSES: of B, ahead. */
static void check_seen(const product *p, const mc_plan *plan, int passes) {
    mc_operand_info b = {.size = sizeof b};
    mc_matrix_info matrix = {.size = sizeof matrix};
    mc_pass_info pass = {.size = sizeof pass};
    const bool by_rows = p->config.b_layout == MC_LAYOUT_ROWS;
    (void)worked("operand", mc_plan_get_operand(plan, 0, &b, diag));
    CHECK((by_rows ? b.rows : b.cols) == p->w.cols && b.type == p->config.b, "%lld x %lld", (long long)b.rows,
          (long long)b.cols);
    (void)worked("matrix", mc_matrix_get_info(p->config.matrix, &matrix, diag));
    CHECK(matrix.cols == p->w.cols, "%lld columns", (long long)matrix.cols);
    for (int i = 0; i < passes; i++)
        if (worked("pass", mc_plan_get_pass(plan, (size_t)i, &pass, diag))) CHECK_TEXT(pass.operand, "b");
    CHECK(mc_plan_get_pass(plan, (size_t)passes, &pass, diag) == MC_USAGE, "more than %d passes", passes);
}

/* Of floats of 8 bits sm_90 has wgmma alone, which wants rows at multiples of 16 bytes: a GPU may be one. */
static bool has_kernel(mc_status status) {
    if (status != MC_CANNOT || strstr(mc_diag_text(diag), "others have no such mma.sp") == NULL)
        return worked("plan", status);
    mc_diag_clear(diag);
    return false;
}

static void try_product(product p, bool by_vectors, int passes) {
    mc_plan *plan = NULL;
    p.config.matrix = matrix_of(&p.w, 1, by_vectors);
    if (p.config.matrix != NULL && has_kernel(mc_plan_create(context, &p.config, &plan, diag))) {
        check_seen(&p, plan, passes);
        execute(&p, "product", plan, 1);
    }
    mc_plan_destroy(plan);
    mc_matrix_destroy(p.config.matrix);
}

static void test_products(void) {
    static const mc_type types[] = {MC_F16, MC_BF16, MC_E4M3, MC_S8, MC_U8, MC_S4};
    static const int spans[] = {4, 6, 8, 10, 64};
    static const int64_t sizes[] = {1, 7, 8, 9, 63, 64, 65, 129, 200};
    int number = 0;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t s = 0; s < sizeof spans / sizeof *spans; s++)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++, number++) {
                product p = product_of(types[t], spans[s], 16 + number % 20, 3 + number % 9, sizes[i]);
                if (number % 2)
                    p.config.ldb = even(sizes[i]) + number % 16 * (mc_type_bytes(types[t]) ? 1 : 2);
                if (number % 3 == 0) p.config.shapes = MC_SHAPES_OPEN;
                if (number % 7 == 0) p.config.span = spans[s]; /* the matrix's own */
                if (number % 5 == 0) p.config.b_layout = MC_LAYOUT_ROWS, p.config.ldb = 0;
                const bool rows = p.config.b_layout == MC_LAYOUT_ROWS, spread = spans[s] > 4;
                const bool turned = rows && (spread || mc_type_bits(types[t]) <= 8);
                try_product(p, number % 4 == 3, spread + turned);
            }
}

/* -- Batches */

static void test_batches(void) {
    for (int i = 0; i < 4; i++) {
        product p = product_of(i % 2 ? MC_S8 : MC_F16, 8, 24, 5, 72);
        p.config.batch = 3;
        if (i >= 2) p.config.b_stride = MC_SHARED;
        p.config.ldb = 80;
        try_product(p, false, 1);
        p.config.ldb = 0, p.config.n = 8;
        p.config.b_layout = MC_LAYOUT_ROWS;
        try_product(p, false, 2);
    }
}

/* -- A kernel with a workspace of its own, behind what the pass writes */

static void test_workspace(void) {
    static const char *const specs[] = {"gemm24_f16_stream"};
    product p = product_of(MC_F16, 8, 300, 250, 1000);
    p.config.specs = specs, p.config.spec_count = 1;
    p.config.ldc = 0, p.config.n = 256;
    try_product(p, false, 1);
}

/* -- New values in the same places */

static void set_from_device(mc_matrix *matrix, const weight *w, int salt) {
    mc_dense a = make_a(w, salt);
    const mc_device_values values = {
        .size = sizeof values, .from = MC_FROM_ROWS, .address = put_dense(&a), .ld = a.ld};
    (void)worked("device values", mc_matrix_set_device_values(matrix, &values, NULL, diag));
    (void)worked("synchronize", mc_synchronize(context, NULL, diag));
    mc_memory_destroy(context, values.address);
    mc_dense_free(&a);
}

static void set_from_host(mc_matrix *matrix, const weight *w, int salt) {
    const mc_vsparse *host = matrix_host(matrix);
    mc_dense a = make_a(w, salt), values = new_dense(w->type, 1, host->vectors, even(host->vectors));
    int32_t *row_ptr = calloc((size_t)w->rows + 1, sizeof *row_ptr),
            *columns = calloc((size_t)host->vectors, sizeof *columns);
    if (worked("read", mc_matrix_read(matrix, row_ptr, columns, NULL, diag)))
        for (int64_t i = 0; i < w->rows; i++)
            for (int32_t v = row_ptr[i]; v < row_ptr[i + 1]; v++) {
                CHECK(is_kept(w->span, w->unit, i, columns[v]), "row %d has column %d", (int)i,
                      (int)columns[v]);
                mc_dense_set(&values, 0, v, mc_dense_get(&a, i, columns[v]));
            }
    (void)worked("values", mc_matrix_set_values(matrix, values.data, NULL, diag));
    mc_dense_free(&a);
    mc_dense_free(&values);
    free(row_ptr);
    free(columns);
}

static void test_values(void) {
    static const mc_type types[] = {MC_F16, MC_S8, MC_S4};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        product p = product_of(types[i], 8, 33, 7, 150);
        mc_plan *plan = NULL;
        p.config.matrix = matrix_of(&p.w, 1, false);
        if (worked("plan", mc_plan_create(context, &p.config, &plan, diag))) {
            set_from_host(p.config.matrix, &p.w, 3);
            execute(&p, "values from the host", plan, 3);
            set_from_device(p.config.matrix, &p.w, 4);
            execute(&p, "values from the device", plan, 4);
        }
        mc_plan_destroy(plan);
        mc_matrix_destroy(p.config.matrix);
    }
}

/* -- The dense kernel of the weight with its zeros, which reads B as it lies */

static void test_dense(void) {
    for (int i = 0; i < 2; i++) {
        product p = product_of(i ? MC_S8 : MC_F16, 62, 32, 40, 2048);
        mc_plan *plan = NULL;
        mc_plan_info info = {.size = sizeof info};
        p.config.matrix = matrix_of(&p.w, 1, false);
        p.config.dense = MC_DENSE_IF_FASTER;
        if (worked("plan", mc_plan_create(context, &p.config, &plan, diag)) &&
            worked("info", mc_plan_get_info(plan, &info, diag))) {
            CHECK(info.dense && info.sparse_microseconds > info.dense_microseconds, "%s", info.dense_reason);
            check_seen(&p, plan, 0);
            execute(&p, "dense", plan, 1);
            set_from_host(p.config.matrix, &p.w, 3);
            execute(&p, "dense, new values", plan, 3);
            set_from_device(p.config.matrix, &p.w, 4);
            execute(&p, "dense, values from the device", plan, 4);
        }
        mc_plan_destroy(plan);
        mc_matrix_destroy(p.config.matrix);
    }
}

/* -- The kernel by itself: every element that it writes, and nothing behind a row */

static void spread_rows(mc_type type, int span, int64_t m, int64_t n, int64_t lda, int64_t more,
                        unsigned offset, unsigned align) {
    const int64_t cols = mc_slide24_length(span, n), ldc = cols + more;
    const size_t size = mc_type_bytes(type);
    mc_plan *plan = NULL;
    mc_dense x = new_dense(type, m, lda, lda), c = new_dense(type, m, ldc, ldc), rows;
    for (int64_t i = 0; i < m * lda; i++) mc_dense_set(&x, i / lda, i % lda, (i * 37 + i / 11) % 100 + 1);
    memset(c.data, 0x7e, (size_t)(m * ldc) * size);
    const mc_plan_config config = {.size = sizeof config,
                                   .op = MC_OP_SLIDE24,
                                   .a = type,
                                   .c = type,
                                   .m = m,
                                   .n = n,
                                   .lda = lda,
                                   .ldc = ldc,
                                   .span = span,
                                   .align = align};
    char *room = calloc((size_t)(m * (ldc > lda ? ldc : lda)) * size + offset, 1);
    memcpy(room + offset, x.data, (size_t)(m * lda) * size);
    mc_address from = put(room, (size_t)(m * lda) * size + offset);
    memset(room, 0x7e, (size_t)(m * ldc) * size + offset);
    mc_address to = put(room, (size_t)(m * ldc) * size + offset);
    const mc_args args = {.size = sizeof args, .a = from + offset, .c = to + offset};
    int wrong = 0;
    if (worked("plan of rows", mc_plan_create(context, &config, &plan, diag)) &&
        worked("rows", mc_execute(plan, &args, 0, NULL, diag)) &&
        worked("read", mc_memory_read(context, to + offset, c.data, (size_t)(m * ldc) * size, diag)) &&
        worked("which rows", mc_slide24_rows(MC_S8, span, n, &rows, diag))) {
        for (int64_t i = 0; i < m * ldc; i++) {
            const int64_t col = i % ldc, row = col < cols ? mc_dense_get(&rows, 0, col) : -1;
            const int64_t poison = size == 1 ? 0x7e : 0x7e7e, got = mc_dense_get(&c, i / ldc, col);
            wrong += got != (col >= cols ? poison : row < 0 ? 0 : mc_dense_get(&x, i / ldc, row));
        }
        mc_dense_free(&rows);
    }
    CHECK(wrong == 0, "%s, span %d, %lld x %lld, lda %lld: %d elements wrong", mc_type_text(type), span,
          (long long)m, (long long)n, (long long)lda, wrong);
    mc_plan_destroy(plan);
    mc_memory_destroy(context, from);
    mc_memory_destroy(context, to);
    mc_dense_free(&x);
    mc_dense_free(&c);
    free(room);
}

static void test_rows(void) {
    static const mc_type types[] = {MC_F16, MC_BF16, MC_E4M3, MC_E5M2, MC_S8, MC_U8, MC_S16};
    static const int64_t sizes[] = {1, 7, 8, 9, 63, 64, 65, 129, 200, 1344, 3000};
    int number = 0;
    for (int span = MC_SLIDE24_LEAST; span <= MC_SLIDE24_MOST; span += 2)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++, number++) {
            const mc_type type = types[number % 7];
            const int64_t n = sizes[i],
                          more = number % 4 == 1 ? 1 : (16 - mc_slide24_length(span, n) % 16) % 16;
            const unsigned size = (unsigned)mc_type_bytes(type);
            spread_rows(type, span, 1 + number % 6, n, n + number % 3, more, number % 5 == 4 ? size : 0,
                        number % 5 == 4 ? 1 : 16);
        }
}

/* -- Refusals */

static void refuse_matrix(mc_type type, int vec, int span, int64_t patterns, mc_status status,
                          const char *why) {
    static const int32_t row_ptr[] = {0, 7, 7, 15, 15, 15, 15, 15, 15};
    static const int32_t columns[] = {0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    const mc_matrix_config config = {.size = sizeof config,
                                     .type = type,
                                     .vec = vec,
                                     .rows = 8,
                                     .cols = 16,
                                     .row_ptr = row_ptr,
                                     .col_idx = columns,
                                     .span = span,
                                     .patterns = patterns};
    mc_matrix *matrix = NULL;
    refused(status, mc_matrix_create(context, &config, &matrix, diag), why);
    CHECK(matrix == NULL, "%s", why);
}

static void refuse_plan(mc_plan_config config, mc_status status, const char *why) {
    mc_plan *plan = NULL;
    config.size = sizeof config;
    refused(status, mc_plan_create(context, &config, &plan, diag), why);
    mc_plan_destroy(plan);
}

/* Addresses that are promised little: kernels of method mma, and a pass that looks at what it gets. */
static void test_promises(void) {
    static const unsigned aligns[] = {1, 4};
    for (int i = 0; i < 4; i++) {
        product p = product_of(i % 2 ? MC_S8 : MC_F16, 8, 24, 5, 75);
        p.config.align = aligns[i / 2];
        p.config.ldb = 75 + i;
        try_product(p, false, 1);
    }
}

static void test_refusals(void) {
    refuse_matrix(MC_F16, 1, 8, 0, MC_FORMAT,
                  "2 spans have more than 6 of 8 elements, the first one is row 0, columns 0 to 7");
    refuse_matrix(MC_S8, 1, 4, 0, MC_FORMAT,
                  "4 spans have more than 2 of 4 elements, the first one is row 0, columns 0 to 3");
    refuse_matrix(MC_S4, 1, 4, 0, MC_FORMAT,
                  "2 spans have more than 2 of 4 pairs, the first one is row 0, columns 0 to 7");
    refuse_matrix(MC_F16, 1, 7, 0, MC_USAGE, "a span of 7: must be even, 4 to 64");
    refuse_matrix(MC_F16, 1, 66, 0, MC_USAGE, "a span of 66: must be even, 4 to 64");
    refuse_matrix(MC_F16, 1, -8, 0, MC_USAGE, "a span of -8: must be even, 4 to 64");
    refuse_matrix(MC_F16, 2, 8, 0, MC_CANNOT, "spans are of vectors of one row, and these have 2");
    refuse_matrix(MC_TF32, 1, 8, 0, MC_CANNOT, "tf32: one of two elements is kept");
    refuse_matrix(MC_F16, 1, 16, 2, MC_USAGE, "span is 16, and patterns 2: spans are of one pattern");
    product p = product_of(MC_F16, 8, 32, 8, 64);
    p.config.matrix = matrix_of(&p.w, 1, false);
    refuse_plan((mc_plan_config){.matrix = p.config.matrix, .b = MC_F16, .c = MC_F16, .n = 8}, MC_CANNOT,
                "the matrix has spans of 8, which an SpMM does not take");
    p.config.span = 10;
    refuse_plan(p.config, MC_USAGE, "span is 10, that of the matrix 8");
    p.config.span = 0, p.config.k = 96;
    refuse_plan(p.config, MC_USAGE, "k is 96, the matrix has 64 columns");
    mc_matrix_destroy(p.config.matrix);
    const mc_plan_config rows = {.op = MC_OP_SLIDE24, .a = MC_F16, .c = MC_F16, .m = 4, .n = 64};
    mc_plan_config other = rows;
    refuse_plan(rows, MC_USAGE, "span is 0, and rows have spans of 4 to 64 elements");
    other.span = 9;
    refuse_plan(other, MC_USAGE, "span is 9");
    other.span = 8, other.a = other.c = MC_F32;
    refuse_plan(other, MC_CANNOT, "a is f32, a slide24 takes elements of 1 and 2 bytes");
    other.a = MC_F16;
    refuse_plan(other, MC_USAGE, "c is f32, a is f16: a slide24 leaves elements as they are");
}

/* slide24_test [DEVICE]: the simulator, unless it names another. */
int main(int argc, char **argv) {
    const mc_context_config config = {
        .size = sizeof config, .device = argc > 1 ? argv[1] : "sim", .cache = MC_CACHE_MEMORY, .records = ""};
    diag = mc_diag_create();
    if (!worked("context", mc_context_create(&config, &context, diag))) return check_end();
    test_rows();
    test_products();
    test_batches();
    test_promises();
    test_workspace();
    test_values();
    test_dense();
    test_refusals();
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return check_end();
}
