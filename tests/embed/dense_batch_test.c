/* Batches of dense products, and of products by one 2:4 matrix, by the C interface: one launch, operands with gaps between
 * them or one for all products, residuals, every way in which kernels reach C. Sums are of small integers, and so
 * exact in every type; all bytes of C's memory are compared, those between rows and products too. With a DEVICE on
 * that one, else on the simulator. */
#include <stdlib.h>
#include <string.h>
#include "base/real.h"
#include "check.h"
#include "mcrt_internal.h"

enum { POISON = 0x80, SKIPPED = 77 };

static mc_context *context;
static mc_diag *diag;

static bool worked(const char *what, mc_status status) {
    CHECK(status == MC_OK, "%s: %s", what, mc_diag_text(diag));
    mc_diag_clear(diag);
    return status == MC_OK;
}

/* -- Operands */

/* COUNT matrices of ROWS x COLS, LD elements from row to row and STRIDE from one to the next; 0: there is one. */
typedef struct operand {
    mc_type type;
    int64_t count, rows, cols, ld, stride;
    int (*value)(int64_t row, int64_t col, int64_t salt);
    int64_t salt;
    mc_address address;
} operand;

static int value_of(int64_t row, int64_t col, int64_t salt) {
    return (int)((row * 7 + col * 3 + salt) % 5) - 2;
}
/* Of each four neighbours of a row of a 2:4 matrix two are there. */
static int sparse_value_of(int64_t row, int64_t col, int64_t salt) {
    int64_t first = (row + col / 4) % 3;
    return col % 4 == first || col % 4 == 3 ? value_of(row, col, salt) | 1 : 0;
}

static int element_of(const operand *o, int64_t z, int64_t row, int64_t col) {
    return o->value(row, col, o->salt + (o->stride > 0 ? z * 11 : 0));
}

static void set(mc_dense *dense, int64_t row, int64_t col, float value) {
    bool real = mc_type_is_real(dense->type);
    mc_dense_set(dense, row, col, real ? (int64_t)real_to_bits(dense->type, value) : (int64_t)value);
}

/* The matrix numbered Z, in rows without gaps. */
static mc_dense matrix_of(const operand *o, int64_t z) {
    mc_dense dense = {0};
    if (!worked("matrix", mc_dense_create(o->type, o->rows, o->cols, o->cols, &dense, diag))) exit(1);
    for (int64_t i = 0; i < o->rows; i++)
        for (int64_t j = 0; j < o->cols; j++) set(&dense, i, j, (float)element_of(o, z, i, j));
    return dense;
}

static size_t bytes_of(const operand *o) {
    int64_t before = o->stride > 0 ? (o->count - 1) * o->stride : 0;
    return (size_t)mc_type_size(o->type, before + (o->rows - 1) * o->ld + o->cols);
}

/* What lies between rows and matrices stays unwritten, so that the simulator stops who reads it. */
static void put(operand *o) {
    size_t row = (size_t)mc_type_size(o->type, o->cols);
    if (!worked("memory", mc_memory_create(context, bytes_of(o), &o->address, diag))) exit(1);
    for (int64_t z = 0; z < (o->stride > 0 ? o->count : 1); z++) {
        mc_dense dense = matrix_of(o, z);
        for (int64_t i = 0; i < o->rows; i++) {
            size_t at = (size_t)mc_type_size(o->type, z * o->stride + i * o->ld);
            (void)worked("write", mc_memory_write(context, o->address + at,
                                                  (const char *)dense.data + (size_t)i * row, row, diag));
        }
        mc_dense_free(&dense);
    }
}

/* -- A batch */

typedef struct batch {
    const mc_plan_config *config;
    int64_t m, n, k;
    operand a, b, residual, c;
    mc_address scale, bias; /* of rows, and of columns */
} batch;

static int64_t stride_of(int64_t given, int64_t rows, int64_t ld) {
    return given == MC_SHARED ? 0 : given == 0 ? rows * ld : given;
}

static operand operand_like(mc_type type, int64_t rows, int64_t cols, int64_t ld, int64_t stride,
                            const mc_plan_config *p) {
    operand o = {.type = type, .count = p->batch > 1 ? p->batch : 1, .rows = rows, .cols = cols};
    o.ld = ld ? ld : cols;
    o.stride = stride_of(stride, rows, o.ld);
    o.value = value_of;
    return o;
}

static float scale_of(int64_t row) { return row % 3 == 1 ? 0.5F : 1; }
static float bias_of(int64_t col) { return (float)(col % 7) - 3; }

static mc_address put_factors(int64_t count, float (*factor)(int64_t)) {
    mc_address address = 0;
    float *values = malloc((size_t)count * sizeof *values);
    for (int64_t i = 0; i < count; i++) values[i] = factor(i);
    if (worked("memory", mc_memory_create(context, (size_t)count * sizeof *values, &address, diag)))
        (void)worked("write",
                     mc_memory_write(context, address, values, (size_t)count * sizeof *values, diag));
    free(values);
    return address;
}

static void open(batch *of, const mc_plan_config *p, int64_t m, int64_t k) {
    bool rows = p->b_layout == MC_LAYOUT_ROWS, turned = p->a_major == MC_MAJOR_COLUMN;
    *of = (batch){.config = p, .m = m, .n = p->n, .k = k};
    of->a = operand_like(p->a, turned ? k : m, turned ? m : k, p->lda, p->a_stride, p);
    of->b = operand_like(p->b, rows ? k : p->n, rows ? p->n : k, p->ldb, p->b_stride, p);
    of->c = operand_like(p->c, m, p->n, p->ldc, p->c_stride, p);
    of->residual = operand_like(MC_F32, m, p->n, p->ldr, p->r_stride, p);
    of->a.salt = 1, of->b.salt = 2, of->residual.salt = 3;
    if (p->op == MC_OP_GEMM) put(&of->a);
    put(&of->b);
    if (p->residual != MC_RESIDUAL_NONE) put(&of->residual);
    if (p->scale == MC_PER_ROW) of->scale = put_factors(m, scale_of);
    if (p->bias == MC_PER_COLUMN) of->bias = put_factors(p->n, bias_of);
}

static void close(batch *of) {
    const mc_address all[] = {of->a.address, of->b.address, of->residual.address,
                              of->c.address, of->scale,     of->bias};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]) mc_memory_destroy(context, all[i]);
}

static float want(const batch *of, int64_t z, int64_t row, int64_t col) {
    const mc_plan_config *p = of->config;
    bool rows = p->b_layout == MC_LAYOUT_ROWS, turned = p->a_major == MC_MAJOR_COLUMN;
    int sum = 0;
    for (int64_t k = 0; k < of->k; k++)
        sum += element_of(&of->a, z, turned ? k : row, turned ? row : k) *
               element_of(&of->b, z, rows ? k : col, rows ? col : k);
    float value = (float)sum * (of->scale ? scale_of(row) : 1) + (of->bias ? bias_of(col) : 0);
    return value + (p->residual != MC_RESIDUAL_NONE ? (float)element_of(&of->residual, z, row, col) : 0);
}

/* C's memory as it must become. */
static char *wanted(const batch *of) {
    const operand *c = &of->c;
    char *all = malloc(bytes_of(c));
    memset(all, POISON, bytes_of(c));
    for (int64_t z = 0; z < c->count; z++) {
        mc_dense product = {0};
        if (!worked("product", mc_dense_create(c->type, c->rows, c->cols, c->cols, &product, diag))) exit(1);
        for (int64_t i = 0; i < c->rows * c->cols; i++)
            set(&product, i / c->cols, i % c->cols, want(of, z, i / c->cols, i % c->cols));
        size_t row = (size_t)mc_type_size(c->type, c->cols);
        for (int64_t i = 0; i < c->rows; i++)
            memcpy(all + mc_type_size(c->type, z * c->stride + i * c->ld),
                   (char *)product.data + (size_t)i * row, row);
        mc_dense_free(&product);
    }
    return all;
}

static void compare(const batch *of, const char *name) {
    const operand *c = &of->c;
    size_t bytes = bytes_of(c), i = 0;
    char *got = malloc(bytes), *all = wanted(of);
    if (worked("read", mc_memory_read(context, c->address, got, bytes, diag))) {
        while (i < bytes && got[i] == all[i]) i++;
        int64_t at = (int64_t)i / mc_type_size(c->type, 1);
        CHECK(i == bytes, "%s: product %d, element %d of it", name, (int)(at / c->stride),
              (int)(at % c->stride));
    }
    free(got);
    free(all);
}

static void execute(batch *of, const mc_plan *plan, const char *name) {
    operand *c = &of->c;
    char *poison = malloc(bytes_of(c));
    memset(poison, POISON, bytes_of(c));
    if (!worked("memory", mc_memory_create(context, bytes_of(c), &c->address, diag))) exit(1);
    (void)worked("poison", mc_memory_write(context, c->address, poison, bytes_of(c), diag));
    free(poison);
    const mc_argument list[] = {{.name = "residual", .address = of->residual.address}};
    const mc_args args = {.size = sizeof args,
                          .a = of->a.address,
                          .b = of->b.address,
                          .c = c->address,
                          .scale = of->scale,
                          .bias = of->bias,
                          .list = list,
                          .list_count = of->residual.address != 0};
    mc_address room = 0;
    size_t bytes = mc_plan_workspace(plan);
    if (bytes > 0) (void)worked("workspace", mc_memory_create(context, bytes, &room, diag));
    if (worked(name, mc_execute(plan, &args, room, NULL, diag))) compare(of, name);
    if (room) mc_memory_destroy(context, room);
}

/* -- What there is */

#define SPEC(text)   "op = \"gemm\"\n" text
#define SPEC24(text) "op = \"gemm24\"\n" text
#define SMALL_WGMMA  "arch = \"sm_90a\"\ntile_m = 64\ntile_n = 64\nconsumers = 1\nstages = 3\n"
#define SMALL_MMA                                                                                            \
    "method = \"mma\"\ntile_m = 64\ntile_n = 64\nwarp_m = 32\nwarp_n = 32\nstages = 2\nstore = \"pairs\"\n"
#define F16S .a = MC_F16, .b = MC_F16, .c = MC_F16
#define S8S  .a = MC_S8, .b = MC_S8, .c = MC_S32

/* SPEC: NULL: the shipped ones. FIELD is among those of the plan's kernel. */
static const struct {
    const char *name, *spec, *field;
    mc_plan_config config;
} kinds[] = {
    {"wgmma", SPEC(SMALL_WGMMA), "store=tensor", {F16S, .m = 100, .n = 72, .k = 136, .batch = 3}},
    {"wgmma, open, gaps",
     SPEC(SMALL_WGMMA),
     "n=open",
     {F16S, .m = 65, .n = 136, .k = 70, .lda = 80, .ldb = 72, .ldc = 144, .batch = 4, .a_stride = 5600,
      .b_stride = 9800, .c_stride = 9472, .shapes = MC_SHAPES_OPEN}},
    {"wgmma, one A",
     SPEC(SMALL_WGMMA),
     "store=tensor",
     {F16S, .m = 130, .n = 64, .k = 64, .batch = 3, .a_stride = MC_SHARED}},
    {"wgmma, one B, open",
     SPEC(SMALL_WGMMA),
     "store=tensor",
     {F16S, .m = 66, .n = 96, .k = 200, .batch = 3, .b_stride = MC_SHARED, .shapes = MC_SHAPES_OPEN}},
    {"wgmma, one A and B, residuals",
     SPEC(SMALL_WGMMA),
     "residual=f32",
     {F16S, .m = 66, .n = 96, .k = 72, .batch = 2, .a_stride = MC_SHARED, .b_stride = MC_SHARED,
      .residual = MC_RESIDUAL_F32, .ldr = 104, .r_stride = 8000}},
    {"wgmma, one residual, scales, biases",
     SPEC(SMALL_WGMMA "store = \"pairs\"\n"),
     "store=pairs",
     {F16S, .m = 66, .n = 62, .k = 72, .ldc = 70, .batch = 3, .scale = MC_PER_ROW, .bias = MC_PER_COLUMN,
      .residual = MC_RESIDUAL_F32, .r_stride = MC_SHARED, .c_stride = 5000}},
    {"wgmma, singles",
     SPEC(SMALL_WGMMA "store = \"single\"\n"),
     "store=single",
     {S8S, .m = 33, .n = 77, .k = 48, .batch = 5, .c_stride = 3000}},
    {"wgmma, turns",
     SPEC("arch = \"sm_90a\"\ntile_m = 64\ntile_n = 64\nturns = \"on\"\n"),
     "turns=on",
     {F16S, .m = 200, .n = 200, .k = 96, .batch = 2}},
    {"wgmma, split",
     SPEC(SMALL_WGMMA "split = 4\n"),
     "split=4",
     {F16S, .m = 100, .n = 64, .k = 520, .batch = 3}},
    {"wgmma, B by rows",
     SPEC(SMALL_WGMMA),
     "layout=rows",
     {F16S, .m = 70, .n = 104, .k = 90, .lda = 96, .b_layout = MC_LAYOUT_ROWS, .batch = 3, .b_stride = 9600}},
    {"wgmma, early, A read once",
     SPEC(SMALL_WGMMA "overlap = \"on\"\nearly = \"on\"\nonce = \"on\"\n"),
     "once=on",
     {F16S, .m = 70, .n = 64, .k = 90, .lda = 96, .ldb = 96, .batch = 3, .b_stride = MC_SHARED}},
    {"wgmma, A by columns",
     SPEC(SMALL_WGMMA),
     "lda=72",
     {F16S, .m = 50, .n = 64, .k = 70, .ldb = 72, .a_major = MC_MAJOR_COLUMN, .batch = 3, .a_stride = 3600}},
    {"wgmma, one A by columns",
     SPEC(SMALL_WGMMA),
     "lda=72",
     {F16S, .m = 50, .n = 64, .k = 70, .ldb = 72, .a_major = MC_MAJOR_COLUMN, .batch = 3,
      .a_stride = MC_SHARED}},
    {"mma", SPEC(SMALL_MMA), "method=mma", {F16S, .m = 100, .n = 72, .k = 136, .batch = 3}},
    {"mma, open, gaps",
     SPEC(SMALL_MMA),
     "n=open",
     {F16S, .m = 65, .n = 130, .k = 70, .lda = 80, .ldb = 72, .ldc = 134, .batch = 4, .a_stride = 5600,
      .b_stride = 9600, .c_stride = 9000, .shapes = MC_SHAPES_OPEN}},
    {"mma, one A, narrow copies",
     SPEC(SMALL_MMA "copy = 4\n"),
     "copy=4",
     {F16S, .m = 70, .n = 66, .k = 62, .batch = 3, .align = 4, .a_stride = MC_SHARED, .b_stride = 4094}},
    {"mma, one B, elements, anywhere",
     SPEC(SMALL_MMA "copy = 1\nstore = \"single\"\n"),
     "copy=1",
     {F16S, .m = 35, .n = 37, .k = 39, .batch = 3, .align = 1, .a_stride = 1401, .b_stride = MC_SHARED,
      .c_stride = 1297}},
    {"mma, residuals, scales, biases",
     SPEC(SMALL_MMA),
     "residual=f32",
     {F16S, .m = 66, .n = 96, .k = 72, .batch = 3, .scale = MC_PER_ROW, .bias = MC_PER_COLUMN,
      .residual = MC_RESIDUAL_F32, .ldr = 104, .r_stride = 8000, .c_stride = 7000}},
    {"mma, tf32, B by rows",
     SPEC(SMALL_MMA),
     "layout=rows",
     {.a = MC_TF32,
      .b = MC_TF32,
      .c = MC_F32,
      .m = 40,
      .n = 72,
      .k = 44,
      .b_layout = MC_LAYOUT_ROWS,
      .batch = 2}},
    {"mma, s8, A by columns",
     SPEC(SMALL_MMA),
     "lda=48",
     {S8S, .m = 60, .n = 66, .k = 48, .a_major = MC_MAJOR_COLUMN, .batch = 3, .lda = 64}},
    {"wgmma, s8, B by rows with gaps, and A by columns",
     SPEC(SMALL_WGMMA),
     "ldb=48",
     {S8S, .m = 60, .n = 68, .k = 48, .a_major = MC_MAJOR_COLUMN, .b_layout = MC_LAYOUT_ROWS, .batch = 3,
      .lda = 64, .ldb = 80, .b_stride = 4000}},
    {"2:4, wgmma",
     SPEC24(SMALL_WGMMA),
     "store=tensor",
     {F16S, .op = MC_OP_GEMM24, .m = 100, .n = 72, .k = 136, .batch = 3, .b_stride = 9800, .c_stride = 8000}},
    {"2:4, wgmma, split, residuals",
     SPEC24(SMALL_WGMMA "split = 2\nstore = \"pairs\"\n"),
     "split=2",
     {F16S, .op = MC_OP_GEMM24, .m = 70, .n = 40, .k = 520, .batch = 2, .residual = MC_RESIDUAL_F32}},
    {"2:4, mma",
     SPEC24(SMALL_MMA),
     "method=mma",
     {.op = MC_OP_GEMM24, S8S, .m = 70, .n = 66, .k = 200, .ldb = 208, .batch = 3, .c_stride = 4640}},
    {"2:4, mma, one B, residuals",
     SPEC24(SMALL_MMA),
     "method=mma",
     {F16S, .op = MC_OP_GEMM24, .m = 70, .n = 66, .k = 200, .batch = 3, .b_stride = MC_SHARED,
      .residual = MC_RESIDUAL_F32, .c_stride = 4640, .r_stride = 4624}},
    /* What plans find on their own: strides that tensor copies do not take go to the others. */
    {"usual", NULL, "batch=on", {F16S, .m = 64, .n = 64, .k = 64, .batch = 6}},
    {"usual, C anywhere",
     NULL,
     "store=single",
     {F16S, .m = 64, .n = 64, .k = 64, .align = 1, .batch = 2, .c_stride = 4097}},
    {"usual, A at multiples of 8 bytes",
     NULL,
     "method=mma",
     {F16S, .m = 64, .n = 64, .k = 64, .align = 4, .batch = 2, .a_stride = 4100}},
    {"usual, 2:4", NULL, "batch=on", {F16S, .op = MC_OP_GEMM24, .m = 64, .n = 64, .k = 64, .batch = 3}},
    {"a batch of one", SPEC(SMALL_WGMMA), "store=tensor", {F16S, .m = 64, .n = 64, .k = 64, .batch = 1}},
};

static mc_matrix *sparse_matrix(batch *of) {
    mc_matrix *matrix = NULL;
    of->a.value = sparse_value_of, of->a.stride = 0;
    mc_dense a = matrix_of(&of->a, 0);
    const mc_dense_config config = {
        .size = sizeof config, .type = a.type, .vec = 1, .rows = a.rows, .cols = a.cols, .data = a.data};
    (void)worked("matrix", mc_matrix_from_dense(context, &config, &matrix, diag));
    mc_dense_free(&a);
    return matrix;
}

static bool write_spec(const char *spec, char *path) {
    int file = mkstemps(path, 4);
    FILE *stream = file >= 0 ? fdopen(file, "w") : NULL;
    bool written = stream != NULL && fputs(spec, stream) >= 0;
    if (stream != NULL) (void)fclose(stream);
    CHECK(written, "no spec is written to %s", path);
    return written;
}

static void try_kind(size_t i) {
    char path[] = "/tmp/mcgen_batch_XXXXXX.lua";
    const char *const paths[] = {path};
    mc_plan_config p = kinds[i].config;
    mc_plan *plan = NULL;
    mc_matrix *matrix = NULL;
    batch of;
    p.size = sizeof p;
    if (p.op == MC_OP_SPMM) p.op = MC_OP_GEMM;
    open(&of, &p, p.m, p.k);
    if (p.op == MC_OP_GEMM24) p.matrix = matrix = sparse_matrix(&of), p.a = (mc_type)0, p.m = p.k = 0;
    if (kinds[i].spec && write_spec(kinds[i].spec, path)) p.specs = paths, p.spec_count = 1;
    if (worked(kinds[i].name, mc_plan_create(context, &p, &plan, diag))) {
        mc_plan_info info = {.size = sizeof info};
        if (worked("info", mc_plan_get_info(plan, &info, diag)))
            CHECK(strstr(info.fields, kinds[i].field) != NULL, "%s: %s has no %s", kinds[i].name, info.fields,
                  kinds[i].field);
        execute(&of, plan, kinds[i].name);
    }
    mc_plan_destroy(plan);
    mc_matrix_destroy(matrix);
    close(&of);
    if (p.spec_count) (void)remove(path);
}

/* Tuning looks at each product, and plans take what was measured. */
static const struct {
    const char *name, *spec;
    mc_plan_config config;
} tuned[] = {
    {"tuned, wgmma",
     SPEC(SMALL_WGMMA "store = { \"tensor\", \"pairs\" }\n"),
     {F16S, .m = 66, .n = 64, .k = 72, .batch = 3, .a_stride = 4800, .c_stride = 4304}},
    {"tuned, wgmma, one A",
     SPEC(SMALL_WGMMA "turns = \"off\"\ngroup = { 1, 2 }\n"),
     {F16S, .m = 66, .n = 64, .k = 72, .batch = 2, .a_stride = MC_SHARED, .residual = MC_RESIDUAL_F32}},
    {"tuned, mma, one B",
     SPEC(SMALL_MMA "span = { 128, 64 }\n"),
     {F16S, .m = 66, .n = 64, .k = 72, .batch = 3, .b_stride = MC_SHARED}},
};

static void try_tuned(size_t i) {
    char path[] = "/tmp/mcgen_batch_XXXXXX.lua";
    const char *const paths[] = {path};
    const mc_tune_config tune = {.size = sizeof tune, .candidates = 2};
    mc_tune_result result = {.size = sizeof result};
    mc_plan_config p = tuned[i].config;
    mc_plan *plan = NULL;
    batch of;
    if (!write_spec(tuned[i].spec, path)) return;
    p.size = sizeof p, p.op = MC_OP_GEMM, p.specs = paths, p.spec_count = 1;
    (void)worked(tuned[i].name, mc_tune(context, &p, &tune, &result, diag));
    CHECK(result.measured == 2 && result.wrong == 0 && result.failed == 0,
          "%s: %d measured, %d wrong, %d failed", tuned[i].name, (int)result.measured, (int)result.wrong,
          (int)result.failed);
    open(&of, &p, p.m, p.k);
    if (worked(tuned[i].name, mc_plan_create(context, &p, &plan, diag))) {
        mc_plan_info info = {.size = sizeof info};
        if (worked("info", mc_plan_get_info(plan, &info, diag)))
            CHECK(info.origin == MC_ORIGIN_MEASURED, "%s: %s", tuned[i].name, info.reason);
        execute(&of, plan, tuned[i].name);
    }
    mc_plan_destroy(plan);
    close(&of);
    (void)remove(path);
}

/* -- What is refused */

static const struct {
    const char *why;
    mc_status status;
    mc_plan_config config;
} refused[] = {
    {"batch is -1", MC_USAGE, {.batch = -1}},
    {"batch is 65536, a launch computes up to 65535 products", MC_CANNOT, {.batch = 65536}},
    {"a_stride is set, which goes with batch", MC_USAGE, {.a_stride = 4096}},
    {"b_stride is set, which goes with batch", MC_USAGE, {.b_stride = MC_SHARED}},
    {"c_stride is 4095, must be at least 4096", MC_USAGE, {.batch = 2, .c_stride = 4095}},
    {"c_stride is -1, must be at least 4096", MC_USAGE, {.batch = 2, .c_stride = MC_SHARED}},
    {"a_stride is -2", MC_USAGE, {.batch = 2, .a_stride = -2}},
    {"a_stride is 4097 elements of f16: products would not begin at multiples of 16 bytes",
     MC_CANNOT,
     {.batch = 2, .a_stride = 4097}},
    {"r_stride is set, which goes with residual", MC_USAGE, {.batch = 2, .r_stride = 4096}},
};

static void test_refused(void) {
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        mc_plan_config p = refused[i].config;
        mc_plan *plan = NULL;
        p.size = sizeof p, p.op = MC_OP_GEMM, p.a = p.b = p.c = MC_F16, p.m = p.n = p.k = 64;
        mc_status status = mc_plan_create(context, &p, &plan, diag);
        CHECK(status == refused[i].status && plan == NULL, "%s: status %d", refused[i].why, (int)status);
        CHECK_TEXT(mc_diag_text(diag), refused[i].why);
        mc_diag_clear(diag);
        mc_plan_destroy(plan);
    }
}

int main(int argc, char **argv) {
    diag = mc_diag_create();
    const mc_context_config config = {
        .size = sizeof config, .device = argc > 1 ? argv[1] : "sim", .records = "", .cache = MC_CACHE_OFF};
    mc_status status = mc_context_create(&config, &context, diag);
    if (status != MC_OK && argc > 1) {
        printf("SKIPPED: %s\n", mc_diag_text(diag));
        mc_diag_destroy(diag);
        return SKIPPED;
    }
    if (worked("context", status)) {
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (check_takes((int)i)) try_kind(i);
        for (size_t i = 0; i < sizeof tuned / sizeof *tuned; i++) try_tuned(i);
        test_refused();
    }
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return check_end();
}
