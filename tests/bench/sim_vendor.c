/* A libcublasLt, a libcusparse and a libcusparseLt beside sim_cuda.c, so that whole runs with peers work without a GPU: each call reads its operands
   as its descriptors say, multiplies in double precision and writes the result. One algorithm for everything. Written from the
   libraries' API documentation. */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { OK = 0, FAILED = 1, UNSUPPORTED = 10 };
enum {
    R_32F = 0,
    R_16F = 2,
    R_8I = 3,
    R_32I = 10,
    R_16BF = 14,
    R_E4M3 = 28,
    R_E5M2 = 29
};                                     /* cudaDataType_t */
enum { ORDER_COL = 1, ORDER_ROW = 2 }; /* cusparseOrder_t */

/* -- Device memory and elements */

static int call_driver(const char *name, void *a, uint64_t b, void *c, size_t bytes) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *symbol = driver == NULL ? NULL : dlsym(driver, name);
    int (*read)(void *, uint64_t, size_t);
    int (*write)(uint64_t, const void *, size_t);
    if (symbol == NULL) return FAILED;
    memcpy(&read, &symbol, sizeof read);
    memcpy(&write, &symbol, sizeof write);
    return c == NULL ? read(a, b, bytes) : write(b, c, bytes);
}

static void count_launch(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW),
         *symbol = driver == NULL ? NULL : dlsym(driver, "sim_cuda_count");
    void (*count)(void);
    memcpy(&count, &symbol, sizeof count);
    if (symbol != NULL) count();
}

static void *fetch(uint64_t address, size_t bytes) {
    void *data = calloc(bytes + 1, 1);
    if (data == NULL || call_driver("cuMemcpyDtoH_v2", data, address, NULL, bytes) != OK) abort();
    return data;
}

static size_t size_of(int type) {
    return type == R_8I || type == R_E4M3 || type == R_E5M2 ? 1 : type == R_16F || type == R_16BF ? 2 : 4;
}

static double load(const void *data, int type, int64_t i) {
    float real;
    uint32_t bits;
    if (type == R_8I) return ((const int8_t *)data)[i];
    if (type == R_32I) return ((const int32_t *)data)[i];
    if (type == R_32F) return (double)((const float *)data)[i];
    if (type == R_E4M3) {
        uint8_t byte = ((const uint8_t *)data)[i];
        int exponent = byte >> 3 & 15, fraction = byte & 7;
        double size = exponent ? ldexp(8 + fraction, exponent - 10) : ldexp(fraction, -9);
        return byte & 128 ? -size : size;
    }
    uint32_t half = type == R_E5M2 ? (uint32_t)((const uint8_t *)data)[i] << 8 : ((const uint16_t *)data)[i];
    if (type == R_E5M2 && (half & 0x7c00) == 0) /* subnormal */
        return (half & 0x8000 ? -1 : 1) * ldexp(half & 0x3ff, -24);
    if (type == R_16BF) bits = half << 16;
    else bits = (half & 0x8000) << 16 | ((half & 0x7fff) == 0 ? 0 : ((half & 0x7fff) << 13) + (112u << 23));
    memcpy(&real, &bits, sizeof real);
    return (double)real;
}

/* To the nearest; halves too small for f16's normal range become 0. */
static void store(void *data, int type, int64_t i, double value) {
    float real = (float)value;
    uint32_t bits;
    memcpy(&bits, &real, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (type == R_32I) ((int32_t *)data)[i] = (int32_t)value;
    else if (type == R_8I) ((int8_t *)data)[i] = (int8_t)fmax(fmin(rint(value), 127), -128);
    else if (type == R_32F) ((float *)data)[i] = real;
    else if (type == R_16BF) ((uint16_t *)data)[i] = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    else if (magnitude > 0x7f800000) ((uint16_t *)data)[i] = 0x7fff;
    else if (magnitude < 113u << 23) ((uint16_t *)data)[i] = (uint16_t)sign;
    else
        ((uint16_t *)data)[i] =
            (uint16_t)(sign | (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13);
}

/* -- Matrices */

typedef enum kind { DENSE, CSR, COO, BSR, ELL } kind;

typedef struct matrix {
    kind kind;
    int64_t rows, cols, ld, count; /* count: of the stored values of a sparse one */
    int64_t block, blocks;         /* ELL: blocks of a block row */
    int type, order;
    uint64_t row_ptr, col_idx, values;
} matrix;

static int make(void **out, matrix m) {
    matrix *made = malloc(sizeof *made);
    *out = made;
    if (made != NULL) *made = m;
    return made == NULL ? FAILED : OK;
}

/* Calls VISIT with the place of each stored element, its row and its column. */
typedef struct visitor {
    void (*visit)(const struct visitor *v, int64_t place, int64_t row, int64_t col);
    void *values;
    double *dense;
    int64_t cols;
    int type;
} visitor;

static void visit_block(const matrix *m, const visitor *v, int64_t first, int64_t pitch, int64_t row,
                        int64_t col) {
    for (int64_t r = 0; r < m->block; r++)
        for (int64_t c = 0; c < m->block; c++)
            v->visit(v, first + r * pitch + c, row * m->block + r, col * m->block + c);
}

/* Rows must ascend, as the library wants them. */
static void visit_coo(const matrix *m, const visitor *v) {
    int32_t *rows = fetch(m->row_ptr, (size_t)m->count * 4), *cols = fetch(m->col_idx, (size_t)m->count * 4);
    for (int64_t i = 0; i < m->count; i++) {
        if (i > 0 && rows[i] < rows[i - 1]) abort();
        v->visit(v, i, rows[i], cols[i]);
    }
    free(rows);
    free(cols);
}

static void visit_sparse(const matrix *m, const visitor *v) {
    if (m->kind == COO) {
        visit_coo(m, v);
        return;
    }
    int64_t block = m->kind == CSR ? 1 : m->block, lines = m->rows / block;
    int64_t indices = m->kind == ELL ? lines * m->blocks : m->kind == CSR ? m->count : m->blocks;
    int32_t *ptr = m->kind == ELL ? NULL : fetch(m->row_ptr, (size_t)(lines + 1) * 4),
            *idx = fetch(m->col_idx, (size_t)indices * 4);
    for (int64_t line = 0; line < lines; line++) {
        int64_t first = ptr != NULL ? ptr[line] : line * m->blocks,
                end = ptr != NULL ? ptr[line + 1] : first + m->blocks;
        for (int64_t i = first; i < end; i++) {
            if (m->kind == CSR) v->visit(v, i, line, idx[i]);
            else if (m->kind == BSR) visit_block(m, v, i * block * block, block, line, idx[i]);
            else if (idx[i] >= 0)
                visit_block(m, v, line * block * m->blocks * block + (i - first) * block, m->blocks * block,
                            line, idx[i]);
        }
    }
    free(ptr);
    free(idx);
}

static void visit_dense(const matrix *m, const visitor *v) {
    for (int64_t row = 0; row < m->rows; row++)
        for (int64_t col = 0; col < m->cols; col++)
            v->visit(v, m->order == ORDER_ROW ? row * m->ld + col : col * m->ld + row, row, col);
}

static size_t value_bytes(const matrix *m) {
    int64_t lines = m->order == ORDER_ROW ? m->rows : m->cols;
    return (size_t)(m->kind == DENSE ? (lines - 1) * m->ld + (m->order == ORDER_ROW ? m->cols : m->rows)
                                     : m->count) *
           size_of(m->type);
}

static void take(const visitor *v, int64_t place, int64_t row, int64_t col) {
    v->dense[row * v->cols + col] = load(v->values, v->type, place);
}

static void put(const visitor *v, int64_t place, int64_t row, int64_t col) {
    store(v->values, v->type, place, v->dense[row * v->cols + col]);
}

/* SDDMM: beta is 0, and what stood there is multiplied by it. */
static void add(const visitor *v, int64_t place, int64_t row, int64_t col) {
    store(v->values, v->type, place, v->dense[row * v->cols + col] + 0 * load(v->values, v->type, place));
}

static void visit_all(const matrix *m, double *dense, void *values,
                      void (*visit)(const visitor *, int64_t, int64_t, int64_t)) {
    const visitor v = {visit, values, dense, m->cols, m->type};
    if (m->kind == DENSE) visit_dense(m, &v);
    else visit_sparse(m, &v);
}

static double *expand(const matrix *m) {
    double *dense = calloc((size_t)(m->rows * m->cols) + 1, sizeof *dense);
    void *values = fetch(m->values, value_bytes(m));
    if (dense == NULL) abort();
    visit_all(m, dense, values, take);
    free(values);
    return dense;
}

/* An element of A by a row of B, which is added to one of C. */
typedef struct sum {
    visitor visitor; /* the first member: its `dense` is B */
    double alpha, *to;
    int64_t width;
} sum;

static void accumulate(const visitor *v, int64_t place, int64_t row, int64_t col) {
    const sum *s = (const sum *)v;
    double value = s->alpha * load(v->values, v->type, place);
    for (int64_t j = 0; j < s->width; j++) s->to[row * s->width + j] += value * v->dense[col * s->width + j];
}

/* ALPHA A B. A is not expanded: it may be large. */
static int multiply(double alpha, const matrix *a, const matrix *b, const matrix *c) {
    if (a->cols != b->rows || c->rows != a->rows || c->cols != b->cols) return FAILED;
    double *y = expand(b), *z = calloc((size_t)(c->rows * c->cols) + 1, sizeof *z);
    void *x = fetch(a->values, value_bytes(a)),
         *values = c->kind == DENSE ? calloc(value_bytes(c) + 1, 1) : fetch(c->values, value_bytes(c));
    if (z == NULL || values == NULL) abort();
    const sum s = {{accumulate, x, y, a->cols, a->type}, alpha, z, b->cols};
    if (a->kind == DENSE) visit_dense(a, &s.visitor);
    else visit_sparse(a, &s.visitor);
    visit_all(c, z, values, c->kind == DENSE ? put : add);
    int status = call_driver("cuMemcpyHtoD_v2", NULL, c->values, values, value_bytes(c));
    free(x);
    free(y);
    free(z);
    free(values);
    return status;
}

/* -- cuBLASLt */

typedef struct product {
    int transposed[2];  /* of A, of B */
    uint64_t scales[2]; /* of A, of B; 0: none */
} product;

static double factor_at(uint64_t address) {
    if (address == 0) return 1;
    float *factor = fetch(address, sizeof *factor);
    double value = (double)*factor;
    free(factor);
    return value;
}

EXPORT int cublasLtCreate(void **handle) { return make(handle, (matrix){0}); }
EXPORT int cublasLtDestroy(void *handle) { return free(handle), OK; }
EXPORT size_t cublasLtGetVersion(void) { return 130000; }
EXPORT int cublasLtMatmulDescCreate(void **desc, int compute, int scale) {
    (void)compute, (void)scale;
    *desc = calloc(1, sizeof(product));
    return *desc == NULL ? FAILED : OK;
}
EXPORT int cublasLtMatmulDescDestroy(void *desc) { return free(desc), OK; }
EXPORT int cublasLtMatmulDescSetAttribute(void *desc, int attribute, const void *value, size_t size) {
    if (attribute == 25) return size == 1 ? OK : FAILED; /* sums of fewer bits: not here */
    if (attribute == 17 || attribute == 18)
        return size == 8 ? (memcpy(&((product *)desc)->scales[attribute - 17], value, size), OK) : FAILED;
    if ((attribute != 3 && attribute != 4) || size != sizeof(int)) return FAILED;
    return memcpy(&((product *)desc)->transposed[attribute - 3], value, size), OK;
}
EXPORT int cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows, uint64_t cols, int64_t ld) {
    return make(layout, (matrix){DENSE, .rows = (int64_t)rows, .cols = (int64_t)cols, .ld = ld, .type = type,
                                 .order = ORDER_COL});
}
EXPORT int cublasLtMatrixLayoutDestroy(void *layout) { return free(layout), OK; }
EXPORT int cublasLtMatmulPreferenceCreate(void **preference) { return make(preference, (matrix){0}); }
EXPORT int cublasLtMatmulPreferenceDestroy(void *preference) { return free(preference), OK; }
EXPORT int cublasLtMatmulPreferenceSetAttribute(void *preference, int attribute, const void *value,
                                                size_t size) {
    return (void)preference, (void)attribute, (void)value, (void)size, OK;
}
/* cublasLtMatmulHeuristicResult_t: 64 bytes of algorithm, the workspace, the state. */
EXPORT int cublasLtMatmulAlgoGetHeuristic(void *handle, void *desc, void *a, void *b, void *c, void *d,
                                          void *preference, int requested, void *results, int *returned) {
    (void)handle, (void)desc, (void)a, (void)b, (void)c, (void)d, (void)preference, (void)requested;
    return memset(results, 0, 96), *returned = 1, OK;
}
EXPORT int cublasLtMatmulAlgoConfigGetAttribute(const void *algo, int attribute, void *value, size_t size,
                                                size_t *written) {
    return (void)algo, (void)attribute, memset(value, 0, size), *written = size, OK;
}

/* The same memory, transposed or not, row-major or not. */
static matrix operand(const void *layout, uint64_t values, int transposed) {
    matrix m = *(const matrix *)layout;
    int64_t rows = m.rows;
    m.values = values;
    if (transposed) m.rows = m.cols, m.cols = rows, m.order = ORDER_ROW;
    return m;
}

EXPORT int cublasLtMatmul(void *handle, void *desc, const void *alpha, uint64_t a, void *a_layout, uint64_t b,
                          void *b_layout, const void *beta, uint64_t c, void *c_layout, uint64_t d,
                          void *d_layout, const void *algo, uint64_t workspace, size_t workspace_bytes,
                          void *stream) {
    const product *p = desc;
    (void)handle, (void)alpha, (void)beta, (void)c, (void)c_layout, (void)algo, (void)workspace,
        (void)workspace_bytes, (void)stream;
    matrix x = operand(a_layout, a, p->transposed[0]), y = operand(b_layout, b, p->transposed[1]),
           z = operand(d_layout, d, 0);
    count_launch();
    return multiply(factor_at(p->scales[0]) * factor_at(p->scales[1]), &x, &y, &z);
}

/* -- cuSPARSE */

EXPORT int cusparseCreate(void **handle) { return make(handle, (matrix){0}); }
EXPORT int cusparseDestroy(void *handle) { return free(handle), OK; }
EXPORT int cusparseGetVersion(void *handle, int *version) { return (void)handle, *version = 12600, OK; }
EXPORT int cusparseSetStream(void *handle, void *stream) { return (void)handle, (void)stream, OK; }

EXPORT int cusparseCreateCsr(void **desc, int64_t rows, int64_t cols, int64_t nnz, uint64_t row_ptr,
                             uint64_t col_idx, uint64_t values, int row_type, int col_type, int base,
                             int type) {
    (void)row_type, (void)col_type, (void)base;
    return make(desc, (matrix){CSR, rows, cols, .count = nnz, .type = type, .row_ptr = row_ptr,
                               .col_idx = col_idx, .values = values});
}
EXPORT int cusparseCreateCoo(void **desc, int64_t rows, int64_t cols, int64_t nnz, uint64_t row_idx,
                             uint64_t col_idx, uint64_t values, int index_type, int base, int type) {
    (void)index_type, (void)base;
    return make(desc, (matrix){COO, rows, cols, .count = nnz, .type = type, .row_ptr = row_idx,
                               .col_idx = col_idx, .values = values});
}
EXPORT int cusparseCreateBsr(void **desc, int64_t block_rows, int64_t block_cols, int64_t blocks,
                             int64_t row_size, int64_t col_size, uint64_t row_ptr, uint64_t col_idx,
                             uint64_t values, int row_type, int col_type, int base, int type, int order) {
    (void)row_type, (void)col_type, (void)base;
    if (row_size != col_size || order != ORDER_ROW) return FAILED;
    return make(desc, (matrix){BSR, block_rows * row_size, block_cols * col_size,
                               .count = blocks * row_size * col_size, .block = row_size, .blocks = blocks,
                               .type = type, .row_ptr = row_ptr, .col_idx = col_idx, .values = values});
}
EXPORT int cusparseCreateBlockedEll(void **desc, int64_t rows, int64_t cols, int64_t block, int64_t ell_cols,
                                    uint64_t col_idx, uint64_t values, int col_type, int base, int type) {
    (void)col_type, (void)base;
    return make(desc,
                (matrix){ELL, rows, cols, .count = rows * ell_cols, .block = block,
                         .blocks = ell_cols / block, .type = type, .col_idx = col_idx, .values = values});
}
EXPORT int cusparseDestroySpMat(void *desc) { return free(desc), OK; }
EXPORT int cusparseCreateDnMat(void **desc, int64_t rows, int64_t cols, int64_t ld, uint64_t values, int type,
                               int order) {
    return make(desc, (matrix){DENSE, rows, cols, .ld = ld, .type = type, .order = order, .values = values});
}
EXPORT int cusparseDestroyDnMat(void *desc) { return free(desc), OK; }
/* One column, whose elements are neighbours. No leading dimension says that it is a vector. */
EXPORT int cusparseCreateDnVec(void **desc, int64_t size, uint64_t values, int type) {
    return make(desc, (matrix){DENSE, size, 1, .ld = 0, .type = type, .order = ORDER_COL, .values = values});
}
EXPORT int cusparseDestroyDnVec(void *desc) {
    if (((const matrix *)desc)->ld != 0) abort();
    return free(desc), OK;
}

#define ARGUMENTS                                                                                            \
    void *handle, int op_a, int op_b, const void *alpha, void *a, void *b, const void *beta, void *c,        \
        int compute, int algorithm
#define UNUSED (void)handle, (void)op_a, (void)op_b, (void)alpha, (void)beta, (void)compute, (void)algorithm

/* cusparseSpMMAlg_t: of one format each. SDDMM has the one that is 0. */
static int fits(const matrix *a, int algorithm, int sampled) {
    static const kind kinds[] = {
        [1] = COO, [2] = COO, [3] = COO, [4] = CSR, [5] = COO, [6] = CSR, [12] = CSR, [13] = ELL, [14] = BSR};
    if (sampled) return algorithm == 0;
    return algorithm > 0 && algorithm < (int)(sizeof kinds / sizeof *kinds) && kinds[algorithm] == a->kind;
}

/* One matrix is sparse: the first of SpMM, the last of SDDMM, which knows no Blocked-ELL and no COO. */
static int check(const matrix *a, const matrix *b, const matrix *c, int algorithm, int sampled) {
    if ((a->kind != DENSE) == sampled || b->kind != DENSE || (c->kind != DENSE) != sampled) return FAILED;
    return (sampled && (c->kind == ELL || c->kind == COO)) || !fits(a, algorithm, sampled) ? UNSUPPORTED : OK;
}

static int run(ARGUMENTS, int sampled) {
    UNUSED;
    int status = check(a, b, c, algorithm, sampled);
    count_launch();
    return status == OK ? multiply(1, a, b, c) : status;
}

#define PRODUCT(name, sampled)                                                                               \
    EXPORT int cusparse##name##_bufferSize(ARGUMENTS, size_t *bytes) {                                       \
        UNUSED;                                                                                              \
        return *bytes = 64, check(a, b, c, algorithm, sampled);                                              \
    }                                                                                                        \
    EXPORT int cusparse##name##_preprocess(ARGUMENTS, uint64_t buffer) {                                     \
        UNUSED;                                                                                              \
        return (void)buffer, check(a, b, c, algorithm, sampled);                                             \
    }                                                                                                        \
    EXPORT int cusparse##name(ARGUMENTS, uint64_t buffer) {                                                  \
        (void)buffer;                                                                                        \
        return run(handle, op_a, op_b, alpha, a, b, beta, c, compute, algorithm, sampled);                   \
    }

/* cusparseSpMVAlg_t: of one format each. */
static int fits_vector(const matrix *a, const matrix *x, const matrix *y, int algorithm) {
    static const kind kinds[] = {[1] = COO, [2] = CSR, [3] = CSR, [4] = COO, [6] = BSR};
    if (a->kind == DENSE || x->kind != DENSE || y->kind != DENSE || x->ld != 0 || y->ld != 0) return FAILED;
    if (x->rows != a->cols || y->rows != a->rows) return FAILED;
    return algorithm > 0 && algorithm < (int)(sizeof kinds / sizeof *kinds) && kinds[algorithm] == a->kind
               ? OK
               : UNSUPPORTED;
}

#define VECTOR_ARGUMENTS                                                                                     \
    void *handle, int op_a, const void *alpha, void *a, void *x, const void *beta, void *y, int compute,     \
        int algorithm
#define VECTOR_UNUSED (void)handle, (void)op_a, (void)alpha, (void)beta, (void)compute

EXPORT int cusparseSpMV_bufferSize(VECTOR_ARGUMENTS, size_t *bytes) {
    VECTOR_UNUSED;
    return *bytes = 64, fits_vector(a, x, y, algorithm);
}
EXPORT int cusparseSpMV_preprocess(VECTOR_ARGUMENTS, uint64_t buffer) {
    VECTOR_UNUSED;
    return (void)buffer, fits_vector(a, x, y, algorithm);
}
EXPORT int cusparseSpMV(VECTOR_ARGUMENTS, uint64_t buffer) {
    VECTOR_UNUSED;
    (void)buffer;
    int status = fits_vector(a, x, y, algorithm);
    count_launch();
    return status == OK ? multiply(1, a, x, y) : status;
}

PRODUCT(SpMM, 0)
PRODUCT(SDDMM, 1)

/* -- cuSPARSELt: objects lie in memory of the caller's. A compressed matrix is here the dense one, with its zeros. Of three algorithms
   the last one is never right, and k is split in one kernel only. */

typedef struct matmul {
    matrix operands[3];
    int transposed;
} matmul;

typedef struct selection {
    int attributes[6]; /* cusparseLtMatmulAlgAttribute_t */
} selection;

typedef struct plan {
    matmul of;
    selection *selected;
} plan;

enum { SELECTED_ID, MOST_ID, SPLIT = 3, SPLIT_MODE, ALGORITHMS = 3 };

EXPORT int cusparseLtInit(void *handle) { return memset(handle, 0, 512), OK; }
EXPORT int cusparseLtDestroy(const void *handle) { return (void)handle, OK; }
EXPORT int cusparseLtGetVersion(const void *handle, int *version) {
    const char *text = getenv("SIM_SPARSELT_VERSION");
    return (void)handle, *version = text != NULL ? atoi(text) : 1000, OK;
}

EXPORT int cusparseLtDenseDescriptorInit(const void *handle, void *desc, int64_t rows, int64_t cols,
                                         int64_t ld, uint32_t alignment, int type, int order) {
    matrix m = {DENSE, rows, cols, .ld = ld, .type = type, .order = order};
    return (void)handle, (void)alignment, memcpy(desc, &m, sizeof m), OK;
}
EXPORT int cusparseLtStructuredDescriptorInit(const void *handle, void *desc, int64_t rows, int64_t cols,
                                              int64_t ld, uint32_t alignment, int type, int order,
                                              int sparsity) {
    if (rows % 32 != 0 || cols % 32 != 0 || sparsity != 0) return UNSUPPORTED;
    return cusparseLtDenseDescriptorInit(handle, desc, rows, cols, ld, alignment, type, order);
}
EXPORT int cusparseLtMatDescriptorDestroy(const void *desc) { return (void)desc, OK; }

EXPORT int cusparseLtMatmulDescriptorInit(const void *handle, void *desc, int op_a, int op_b, const void *a,
                                          const void *b, const void *c, const void *d, int compute) {
    matmul m = {{*(const matrix *)a, *(const matrix *)b, *(const matrix *)d}, op_b};
    (void)handle, (void)c, (void)compute;
    return op_a == 0 ? (memcpy(desc, &m, sizeof m), OK) : UNSUPPORTED;
}

EXPORT int cusparseLtMatmulAlgSelectionInit(const void *handle, void *selected, const void *desc,
                                            int algorithm) {
    selection s = {{0, ALGORITHMS, 5, 1, 1, 0}};
    return (void)handle, (void)desc, memcpy(selected, &s, sizeof s), algorithm == 0 ? OK : FAILED;
}
EXPORT int cusparseLtMatmulAlgSelectionDestroy(const void *selected) { return (void)selected, OK; }
EXPORT int cusparseLtMatmulAlgSetAttribute(const void *handle, void *selected, int attribute,
                                           const void *value, size_t size) {
    int number;
    if (size != sizeof number || attribute == MOST_ID) return FAILED;
    memcpy(&number, value, size);
    if ((attribute == SELECTED_ID && number >= ALGORITHMS) || (attribute == SPLIT_MODE && number != 1))
        return UNSUPPORTED;
    return (void)handle, ((selection *)selected)->attributes[attribute] = number, OK;
}
EXPORT int cusparseLtMatmulAlgGetAttribute(const void *handle, const void *selected, int attribute,
                                           void *value, size_t size) {
    return (void)handle, memcpy(value, &((const selection *)selected)->attributes[attribute], size), OK;
}

EXPORT int cusparseLtMatmulPlanInit(const void *handle, void *made, const void *desc, const void *selected) {
    plan p = {*(const matmul *)desc, (selection *)(uintptr_t)selected};
    return (void)handle, memcpy(made, &p, sizeof p), OK;
}
EXPORT int cusparseLtMatmulPlanDestroy(const void *made) { return (void)made, OK; }
EXPORT int cusparseLtMatmulGetWorkspace(const void *handle, const void *made, size_t *bytes) {
    return (void)handle, *bytes = ((const plan *)made)->selected->attributes[SPLIT] > 1 ? 64 : 0, OK;
}

EXPORT int cusparseLtSpMMACompressedSize2(const void *handle, const void *desc, size_t *bytes,
                                          size_t *buffer) {
    return (void)handle, *bytes = value_bytes(desc), *buffer = 64, OK;
}
EXPORT int cusparseLtSpMMACompress2(const void *handle, const void *desc, int is_a, int op, uint64_t dense,
                                    uint64_t compressed, uint64_t buffer, void *stream) {
    const matrix *m = desc;
    void *values = fetch(dense, value_bytes(m));
    int most = 0;
    (void)handle, (void)is_a, (void)op, (void)buffer, (void)stream;
    for (int64_t i = 0; i < m->rows * m->cols; i += 4) {
        int kept = 0;
        for (int64_t j = i; j < i + 4; j++) kept += load(values, m->type, j) != 0;
        if (kept > most) most = kept;
    }
    int status = most > 2 ? FAILED : call_driver("cuMemcpyHtoD_v2", NULL, compressed, values, value_bytes(m));
    return free(values), status;
}

EXPORT int cusparseLtMatmul(const void *handle, const void *made, const void *alpha, uint64_t a, uint64_t b,
                            const void *beta, uint64_t c, uint64_t d, uint64_t workspace, void *streams,
                            int count) {
    const plan *p = made;
    float factor;
    (void)handle, (void)beta, (void)c, (void)workspace, (void)streams, (void)count;
    memcpy(&factor, alpha, sizeof factor);
    matrix x = operand(&p->of.operands[0], a, 0), z = operand(&p->of.operands[2], d, 0);
    matrix y = p->of.operands[1];
    y.values = b;
    if (p->of.transposed)
        y.rows = p->of.operands[1].cols, y.cols = p->of.operands[1].rows, y.order = ORDER_COL;
    count_launch();
    if (p->selected->attributes[SELECTED_ID] == ALGORITHMS - 1) factor *= 2;
    return multiply((double)factor, &x, &y, &z);
}
EXPORT int cusparseLtMatmulSearch(const void *handle, void *made, const void *alpha, uint64_t a, uint64_t b,
                                  const void *beta, uint64_t c, uint64_t d, uint64_t workspace, void *streams,
                                  int count) {
    ((plan *)made)->selected->attributes[SELECTED_ID] = 1;
    return cusparseLtMatmul(handle, made, alpha, a, b, beta, c, d, workspace, streams, count);
}
