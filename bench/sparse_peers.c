#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sparse_peers.h"
#include "stats.h"

enum { QUICK_LAUNCHES = 3, OPERANDS = 3, SPARES = 6 };

static const sparse_format *format_of(const sparse_product *p) { return &sparse_formats[p->format]; }
static bool is_sampled(const sparse_product *p) { return format_of(p)->order != ORDER_ROWS; }
static bool is_vector(const sparse_product *p) { return format_of(p)->vector; }
static mc_type operand_type(const sparse_product *p) { return sparse_operand(p->format, p->type); }
static mc_type result_type(const sparse_product *p) { return sparse_result(p->format, p->type); }

/* -- Library --------------------------------------------------------------------------------------------- */

mc_status sparse_library_open(sparse_library *library, gpu_device *gpu, mc_diag *diag) {
    *library = (sparse_library){0};
    mc_status status = cusparse_open(&library->sp, diag);
    if (status == MC_OK) status = SP_CALL(&library->sp, diag, Create, &library->handle);
    if (status == MC_OK) status = SP_CALL(&library->sp, diag, SetStream, library->handle, gpu->stream);
    if (status == MC_OK) status = SP_CALL(&library->sp, diag, GetVersion, library->handle, &library->version);
    return status;
}

void sparse_library_close(sparse_library *library) {
    if (library->handle != NULL) (void)library->sp.Destroy(library->handle);
    *library = (sparse_library){0};
}

/* -- Operands -------------------------------------------------------------------------------------------- */

static bool is_integer(const sparse_product *p) { return result_type(p) == MC_S32; }
static int compute_type(const sparse_product *p) { return is_integer(p) ? VENDOR_R_32I : VENDOR_R_32F; }

/* A part of the slab, and what is copied there: NULL where the result will lie. */
typedef struct operand {
    size_t *part;
    const void *data;
    size_t bytes;
} operand;

static const sparse_arrays *arrays_of(const sparse_product *p, const work *w) {
    return &w->formats[format_of(p)->arrays];
}

/* B as the format wants it. */
static const void *dense_b(const sparse_product *p, const work_problem *d) {
    mc_type type = operand_type(p);
    return type == MC_S8 ? (const void *)d->b_cols : type == MC_F32 ? (const void *)d->b_float : d->b_half;
}

static int64_t result_rows(const sparse_product *p, const sparse_problem *q) {
    bool whole = format_of(p)->block != 0 || format_of(p)->join != 0;
    return whole ? arrays_of(p, q->work)->matrix_rows : q->problem->shape.m;
}

/* How many elements the result has. */
static int64_t elements_of(const sparse_product *p, const sparse_problem *q) {
    return is_sampled(p) ? q->elements[p->format] : result_rows(p, q) * q->problem->shape.n;
}

static void list_spmm(sparse_product *p, const sparse_problem *q, operand list[OPERANDS]) {
    const work_problem *d = q->problem;
    const sparse_arrays *s = arrays_of(p, q->work);
    size_t b = (size_t)(q->work->padded_cols * d->shape.n) * mc_type_bytes(operand_type(p));
    list[0] = (operand){&p->values, s->values, (size_t)s->value_count * s->value_bytes};
    list[1] = (operand){&p->dense[0], dense_b(p, d), b};
    list[2] = (operand){&p->dense[1], NULL, (size_t)elements_of(p, q) * mc_type_bytes(result_type(p))};
}

static void list_sddmm(sparse_product *p, const sparse_problem *q, operand list[OPERANDS]) {
    const work_problem *d = q->problem;
    bool single = operand_type(p) == MC_F32;
    size_t k_bytes = (size_t)d->shape.k * mc_type_bytes(operand_type(p));
    list[0] = (operand){&p->values, NULL, (size_t)elements_of(p, q) * mc_type_bytes(result_type(p))};
    list[1] =
        (operand){&p->dense[0], single ? (const void *)d->a_float : d->a_half, (size_t)d->shape.m * k_bytes};
    list[2] = (operand){&p->dense[1], single ? (const void *)d->b_float : d->b_half,
                        (size_t)q->work->padded_cols * k_bytes};
}

/* work.h: what has no arrays was too long. */
static mc_status check_made(const sparse_product *p, const sparse_problem *q, mc_diag *diag) {
    if (arrays_of(p, q->work)->row_ptr != NULL) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "with its zeros A takes more than %d GiB", PEER_MOST_BYTES >> 30);
}

static mc_status upload(sparse_product *p, gpu_device *gpu, const sparse_problem *q, mc_diag *diag) {
    const sparse_arrays *s = arrays_of(p, q->work);
    operand list[OPERANDS + 2];
    if (!is_sampled(p)) list_spmm(p, q, list);
    else list_sddmm(p, q, list);
    int64_t row_entries = format_of(p)->layout == COO ? s->indices : s->rows + 1;
    list[OPERANDS] = (operand){&p->row_ptr, s->row_ptr, (size_t)row_entries * sizeof(int32_t)};
    list[OPERANDS + 1] = (operand){&p->col_idx, s->col_idx, (size_t)s->indices * sizeof(int32_t)};
    for (int i = 0; i < OPERANDS + 2; i++) *list[i].part = slab_part(&p->slab, list[i].bytes);
    mc_status status = slab_create(gpu, &p->slab, gpu_sets(gpu, &p->slab, q->cold), diag);
    for (int i = 0; i < OPERANDS + 2 && status == MC_OK; i++)
        if (list[i].data != NULL)
            status = slab_write(gpu, &p->slab, *list[i].part, list[i].data, list[i].bytes, diag);
    return status;
}

/* Where the result lies in set 0. */
static uint64_t result_address(const sparse_product *p) {
    return slab_address(&p->slab, !is_sampled(p) ? p->dense[1] : p->values, 0);
}

/* -- Descriptors ----------------------------------------------------------------------------------------- */

static mc_status describe_sparse(const sparse_product *p, const sparse_problem *q, int set, mc_type type,
                                 void **desc, mc_diag *diag) {
    const cusparse *sp = &p->library->sp;
    const sparse_arrays *s = arrays_of(p, q->work);
    uint64_t row_ptr = slab_address(&p->slab, p->row_ptr, set),
             col_idx = slab_address(&p->slab, p->col_idx, set),
             values = slab_address(&p->slab, p->values, set);
    int64_t block = s->block;
    if (format_of(p)->layout == CSR)
        return SP_CALL(sp, diag, CreateCsr, desc, s->matrix_rows, s->matrix_cols, s->value_count, row_ptr,
                       col_idx, values, SP_INDEX_32I, SP_INDEX_32I, SP_BASE_ZERO, vendor_type(type));
    if (format_of(p)->layout == COO)
        return SP_CALL(sp, diag, CreateCoo, desc, s->matrix_rows, s->matrix_cols, s->value_count, row_ptr,
                       col_idx, values, SP_INDEX_32I, SP_BASE_ZERO, vendor_type(type));
    if (format_of(p)->layout == BSR)
        return SP_CALL(sp, diag, CreateBsr, desc, s->rows, s->matrix_cols / block, s->indices, block, block,
                       row_ptr, col_idx, values, SP_INDEX_32I, SP_INDEX_32I, SP_BASE_ZERO, vendor_type(type),
                       SP_ORDER_ROW);
    return SP_CALL(sp, diag, CreateBlockedEll, desc, s->matrix_rows, s->matrix_cols, block,
                   s->ell_blocks * block, col_idx, values, SP_INDEX_32I, SP_BASE_ZERO, vendor_type(type));
}

/* A dense operand, and which of the slab's it is. */
typedef struct dense_view {
    int which, order;
    int64_t rows, cols, ld;
    mc_type type;
} dense_view;

static mc_status describe_dense(const sparse_product *p, int set, const dense_view *v, void **desc,
                                mc_diag *diag) {
    return SP_CALL(&p->library->sp, diag, CreateDnMat, desc, v->rows, v->cols, v->ld,
                   slab_address(&p->slab, p->dense[v->which], set), vendor_type(v->type), v->order);
}

/* B has as many rows as the sparse matrix has columns: no more than padded_cols. */
static mc_status describe_spmm(const sparse_product *p, const sparse_problem *q, int set, void **desc,
                               mc_diag *diag) {
    int64_t n = q->problem->shape.n, k = arrays_of(p, q->work)->matrix_cols, padded = q->work->padded_cols;
    int order = is_integer(p) ? SP_ORDER_COL : SP_ORDER_ROW;
    const dense_view b = {0, order, k, n, order == SP_ORDER_ROW ? n : padded, operand_type(p)},
                     c = {1, SP_ORDER_ROW, result_rows(p, q), n, n, result_type(p)};
    mc_status status = describe_sparse(p, q, set, operand_type(p), &desc[0], diag);
    if (status == MC_OK) status = describe_dense(p, set, &b, &desc[1], diag);
    return status == MC_OK ? describe_dense(p, set, &c, &desc[2], diag) : status;
}

/* Of vectors only their lengths are told. */
static mc_status describe_spmv(const sparse_product *p, const sparse_problem *q, int set, void **desc,
                               mc_diag *diag) {
    const cusparse *sp = &p->library->sp;
    uint64_t x = slab_address(&p->slab, p->dense[0], set), y = slab_address(&p->slab, p->dense[1], set);
    mc_status status = describe_sparse(p, q, set, operand_type(p), &desc[0], diag);
    if (status == MC_OK)
        status = SP_CALL(sp, diag, CreateDnVec, &desc[1], arrays_of(p, q->work)->matrix_cols, x,
                         vendor_type(operand_type(p)));
    if (status != MC_OK) return status;
    return SP_CALL(sp, diag, CreateDnVec, &desc[2], result_rows(p, q), y, vendor_type(result_type(p)));
}

static mc_status describe_sddmm(const sparse_product *p, const sparse_problem *q, int set, void **desc,
                                mc_diag *diag) {
    const problem_shape *s = &q->problem->shape;
    int64_t n = arrays_of(p, q->work)->matrix_cols;
    const dense_view a = {0, SP_ORDER_ROW, s->m, s->k, s->k, operand_type(p)},
                     b = {1, SP_ORDER_COL, s->k, n, s->k, operand_type(p)};
    mc_status status = describe_dense(p, set, &a, &desc[0], diag);
    if (status == MC_OK) status = describe_dense(p, set, &b, &desc[1], diag);
    return status == MC_OK ? describe_sparse(p, q, set, result_type(p), &desc[2], diag) : status;
}

/* -- Calls ----------------------------------------------------------------------------------------------- */

typedef struct factors {
    float one, zero;
    int32_t one_s32, zero_s32;
} factors;

static const factors unit = {1, 0, 1, 0};

static const void *alpha_of(const sparse_product *p) {
    return is_integer(p) ? (const void *)&unit.one_s32 : &unit.one;
}

static const void *beta_of(const sparse_product *p) {
    return is_integer(p) ? (const void *)&unit.zero_s32 : &unit.zero;
}

/* The arguments that a product, its preprocessing and its buffer size share. */
#define PRODUCT_ARGUMENTS(p, call, set)                                                                      \
    (p)->library->handle, SP_OP_N, SP_OP_N, alpha_of(p), (call)->descs[(set)*OPERANDS],                      \
        (call)->descs[(set)*OPERANDS + 1], beta_of(p), (call)->descs[(set)*OPERANDS + 2], compute_type(p),   \
        (call)->algorithm
#define VECTOR_ARGUMENTS(p, call, set)                                                                       \
    (p)->library->handle, SP_OP_N, alpha_of(p), (call)->descs[(set)*OPERANDS],                               \
        (call)->descs[(set)*OPERANDS + 1], beta_of(p), (call)->descs[(set)*OPERANDS + 2], compute_type(p),   \
        (call)->algorithm

/* What differs between the calls: descriptors, and the library's functions. Of an older library one without
   a function to preprocess has nothing to do there. */
typedef struct sparse_functions {
    const char *name;
    mc_status (*describe)(const sparse_product *p, const sparse_problem *q, int set, void **desc,
                          mc_diag *diag);
    int (*buffer_size)(const sparse_call *call, size_t set, size_t *bytes);
    int (*preprocess)(const sparse_call *call, size_t set);
    int (*run)(const sparse_call *call, size_t set);
} sparse_functions;

#define FUNCTIONS(name, arguments)                                                                           \
    static int name##_size(const sparse_call *call, size_t set, size_t *bytes) {                             \
        const sparse_product *p = call->product;                                                             \
        return p->library->sp.name##_bufferSize(arguments(p, call, set), bytes);                             \
    }                                                                                                        \
    static int name##_prepare(const sparse_call *call, size_t set) {                                         \
        const sparse_product *p = call->product;                                                             \
        if (p->library->sp.name##_preprocess == NULL) return 0;                                              \
        return p->library->sp.name##_preprocess(arguments(p, call, set), call->buffer);                      \
    }                                                                                                        \
    static int name##_run(const sparse_call *call, size_t set) {                                             \
        const sparse_product *p = call->product;                                                             \
        return p->library->sp.name(arguments(p, call, set), call->buffer);                                   \
    }
FUNCTIONS(SpMM, PRODUCT_ARGUMENTS)
FUNCTIONS(SpMV, VECTOR_ARGUMENTS)
FUNCTIONS(SDDMM, PRODUCT_ARGUMENTS)

static const sparse_functions *functions_of(const sparse_product *p) {
    static const sparse_functions spmm = {"SpMM", describe_spmm, SpMM_size, SpMM_prepare, SpMM_run},
                                  spmv = {"SpMV", describe_spmv, SpMV_size, SpMV_prepare, SpMV_run},
                                  sddmm = {"SDDMM", describe_sddmm, SDDMM_size, SDDMM_prepare, SDDMM_run};
    return is_sampled(p) ? &sddmm : is_vector(p) ? &spmv : &spmm;
}

static mc_status check(const sparse_product *p, int result, const char *step, mc_diag *diag) {
    char call[48];
    snprintf(call, sizeof call, "cusparse%s%s", functions_of(p)->name, step);
    return cusparse_check(result, call, diag);
}

static mc_status enqueue(const contender *c, int set, cuda_stream stream, mc_diag *diag) {
    const sparse_call *call = c->state;
    const sparse_product *p = call->product;
    (void)stream; /* the handle's */
    return check(p, functions_of(p)->run(call, (size_t)set), "", diag);
}

/* What is done once before the first product: asks for the buffer's size, takes a buffer where there is none
   yet, preprocesses. US: how long that took, until the GPU was done. */
static mc_status prepare_set(sparse_call *call, gpu_device *gpu, size_t set, double *us, mc_diag *diag) {
    const sparse_product *p = call->product;
    const sparse_functions *f = functions_of(p);
    size_t bytes = 0;
    double begin = timer_wall_us();
    mc_status status = check(p, f->buffer_size(call, set, &bytes), "_bufferSize", diag);
    if (status == MC_OK && call->buffer == 0)
        status = mc_device_alloc(gpu->device, bytes, &call->buffer, diag);
    if (status == MC_OK) status = check(p, f->preprocess(call, set), "_preprocess", diag);
    if (status == MC_OK) status = CUDA_CALL(gpu->driver, diag, StreamSynchronize, gpu->stream);
    *us = timer_wall_us() - begin;
    return status;
}

/* The buffer serves all sets: they hold the same matrix. Spare sets, with the operands of set 0, come first.
   Preparing them is timed, but for the first one, with which the library loads and allocates what it does
   once. */
static mc_status prepare_call(sparse_call *call, gpu_device *gpu, const sparse_problem *q, mc_diag *diag) {
    const sparse_product *p = call->product;
    const sparse_functions *f = functions_of(p);
    size_t sets = (size_t)p->slab.sets;
    double times[SPARES], untimed;
    mc_status status = MC_OK;
    call->descs = calloc((sets + SPARES) * OPERANDS, sizeof *call->descs);
    if (call->descs == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    for (size_t set = 0; set < sets + SPARES && status == MC_OK; set++)
        status = f->describe(p, q, set >= sets ? 0 : (int)set, call->descs + set * OPERANDS, diag);
    for (size_t i = 0; i < SPARES && status == MC_OK; i++)
        status = prepare_set(call, gpu, sets + i, &times[i], diag);
    if (status == MC_OK) call->prepare = box_of(times + 1, SPARES - 1).median;
    for (size_t set = 0; set < sets && status == MC_OK; set++)
        status = prepare_set(call, gpu, set, &untimed, diag);
    return status;
}

static void close_call(sparse_call *call, gpu_device *gpu) {
    if (call->descs == NULL) return;
    const sparse_product *p = call->product;
    const cusparse *sp = &p->library->sp;
    const size_t sparse = !is_sampled(p) ? 0 : 2;
    int (*destroy)(void *) = is_vector(p) ? sp->DestroyDnVec : sp->DestroyDnMat;
    for (size_t i = 0; i < ((size_t)p->slab.sets + SPARES) * OPERANDS; i++)
        if (call->descs[i] != NULL)
            (void)(i % OPERANDS == sparse ? sp->DestroySpMat(call->descs[i]) : destroy(call->descs[i]));
    mc_device_free(gpu->device, call->buffer);
    free(call->descs);
}

/* -- Matrices of whole blocks at random places ---------------------------------------------------------- */

static mc_status multiply_uniform(sparse_product *p, gpu_device *gpu, helpers *h, const sparse_problem *q,
                                  const uint16_t *dense, mc_diag *diag) {
    const sparse_arrays *s = arrays_of(p, q->work);
    int64_t n = q->problem->shape.n;
    size_t bytes = (size_t)(s->matrix_rows * s->matrix_cols) * sizeof *dense;
    uint64_t a = 0;
    mc_status status = mc_device_alloc(gpu->device, bytes, &a, diag);
    if (status == MC_OK) status = mc_device_write(gpu->device, a, dense, bytes, diag);
    const dense_product product = {.a = a,
                                   .b = slab_address(&p->slab, p->dense[0], 0),
                                   .c = p->want,
                                   .m = s->matrix_rows,
                                   .n = n,
                                   .k = s->matrix_cols,
                                   .lda = s->matrix_cols,
                                   .b_k = n,
                                   .b_n = 1};
    if (status == MC_OK) status = helpers_reference(h, operand_type(p), operand_type(p), &product, diag);
    mc_device_free(gpu->device, a);
    return status;
}

/* What must come out is computed here: our kernels have another matrix. */
static mc_status want_uniform(sparse_product *p, gpu_device *gpu, helpers *h, const sparse_problem *q,
                              mc_diag *diag) {
    if (format_of(p)->block == 0) return MC_OK;
    uint16_t *dense = formats_expand_ell(arrays_of(p, q->work));
    mc_status status = dense != NULL ? MC_OK : mc_fail(diag, MC_NOMEM, "out of memory");
    if (status == MC_OK)
        status = mc_device_alloc(gpu->device, (size_t)elements_of(p, q) * sizeof(float), &p->want, diag);
    if (status == MC_OK) status = multiply_uniform(p, gpu, h, q, dense, diag);
    free(dense);
    return status;
}

/* -- Contenders ------------------------------------------------------------------------------------------ */

static int64_t longest_row(const mc_vsparse *a) {
    int64_t most = 0;
    for (int64_t i = 0; i < a->row_blocks; i++)
        if (a->row_ptr[i + 1] - a->row_ptr[i] > most) most = a->row_ptr[i + 1] - a->row_ptr[i];
    return most;
}

/* How many products an element of the result adds up, at most. */
static double terms_of(const sparse_product *p, const sparse_problem *q) {
    const sparse_arrays *s = arrays_of(p, q->work);
    if (format_of(p)->block != 0) return (double)(s->ell_blocks * s->block);
    if (is_sampled(p)) return (double)q->problem->shape.k;
    return (double)longest_row(&q->work->a);
}

/* What a product may be off since our kernels round both factors to tf32, and the library perhaps not. */
static double rounded_factors(const sparse_product *p) { return p->type == MC_TF32 ? 0x1p-10 : 0; }

/* What is exact in f32 and rounded once, unless the library adds in f16: allowed as in dense.c. */
static tolerance allowed(const sparse_product *p, const sparse_problem *q) {
    double terms = terms_of(p, q);
    if (is_integer(p)) return (tolerance){0, 0};
    return (tolerance){type_rounding(result_type(p)) + terms * 0x1p-23 + rounded_factors(p),
                       4 * sqrt(terms) * q->spread};
}

/* SDDMM multiplies what stood in C by zero, which no NaN survives. */
static contender contender_of(const sparse_call *call, const sparse_problem *q, const char *algorithm) {
    const sparse_product *p = call->product;
    char label[SPARSE_LABEL];
    contender c = {.sets = p->slab.sets, .enqueue = enqueue, .state = call, .prepare = call->prepare};
    sparse_label(p->format, p->type, label);
    snprintf(c.label, sizeof c.label, "%s", label);
    snprintf(c.detail, sizeof c.detail, "%s, fill %.3f", algorithm, arrays_of(p, q->work)->fill);
    c.check = (result_check){.type = result_type(p),
                             .got = result_address(p),
                             .want = p->want != 0 ? p->want : q->want[p->format],
                             .count = (uint64_t)(p->want != 0 ? elements_of(p, q) : q->elements[p->format]),
                             .allowed = allowed(p, q),
                             .finite = is_sampled(p)};
    return c;
}

/* What FORMAT has to say; of an algorithm, or where that is NULL of them all. */
static void note(sparse_peers *peers, int format, const char *label, const sparse_algorithm *algorithm,
                 const mc_diag *diag) {
    const sparse_algorithm *first = sparse_formats[format].algorithms;
    ptrdiff_t place = algorithm == NULL ? 0 : algorithm - first;
    snprintf(peers->notes[format * SPARSE_MAX_ALGORITHMS + place], PEER_NOTE, "%s%s%s: %s", label,
             algorithm == NULL ? "" : ", ", algorithm == NULL ? "" : algorithm->name,
             peer_last_message(diag));
}

/* Verifies and times every algorithm. Each that is right is a contender. */
static void try_algorithms(sparse_peers *peers, sparse_product *p, gpu_device *gpu, helpers *h,
                           const sparse_problem *q, const char *label, mc_diag *diag) {
    for (int i = 0; i < SPARSE_MAX_ALGORITHMS && format_of(p)->algorithms[i].name != NULL; i++) {
        const sparse_algorithm *algorithm = &format_of(p)->algorithms[i];
        sparse_call *call = &p->calls[i];
        *call = (sparse_call){.product = p, .algorithm = algorithm->number};
        mc_diag_clear(diag);
        mc_status status = prepare_call(call, gpu, q, diag);
        contender c = contender_of(call, q, algorithm->name);
        if (status == MC_OK) status = contender_verify(gpu, h, &c, diag);
        if (status == MC_OK) status = timer_quick(gpu, &c, QUICK_LAUNCHES, diag);
        if (status == MC_OK) peers->contenders[peers->count++] = c;
        else note(peers, p->format, label, algorithm, diag);
    }
}

void sparse_open(sparse_peers *peers, const sparse_library *library, gpu_device *gpu, helpers *h,
                 const sparse_problem *q) {
    *peers = (sparse_peers){0};
    mc_diag *diag = mc_diag_create();
    for (int i = 0; i < SPARSE_FORMATS; i++) {
        sparse_product *p = &peers->products[i];
        char label[SPARSE_LABEL];
        if (!sparse_is_of(i, &q->sides)) continue;
        sparse_label(i, q->sides.type, label);
        if (!peer_is_named(q->names, label)) continue;
        p->library = library;
        p->format = i;
        p->type = q->sides.type;
        mc_diag_clear(diag);
        mc_status status = check_made(p, q, diag);
        if (status == MC_OK) status = upload(p, gpu, q, diag);
        if (status == MC_OK) status = want_uniform(p, gpu, h, q, diag);
        if (status == MC_OK) try_algorithms(peers, p, gpu, h, q, label, diag);
        else note(peers, i, label, NULL, diag);
    }
    mc_diag_destroy(diag);
}

void sparse_close(sparse_peers *peers, gpu_device *gpu) {
    for (int i = 0; i < SPARSE_FORMATS; i++) {
        sparse_product *p = &peers->products[i];
        for (int j = 0; j < SPARSE_MAX_ALGORITHMS; j++) close_call(&p->calls[j], gpu);
        mc_device_free(gpu->device, p->want);
        slab_free(gpu, &p->slab);
    }
    *peers = (sparse_peers){0};
}
