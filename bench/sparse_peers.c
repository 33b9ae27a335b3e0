#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sparse_peers.h"

enum { QUICK_LAUNCHES = 3, OPERANDS = 3 };

typedef enum sparse_layout { CSR, BSR, BLOCKED_ELL } sparse_layout;

typedef struct sparse_algorithm {
    int number;
    const char *name;
} sparse_algorithm;

/* One row a format. */
typedef struct sparse_format {
    const char *label;
    sparse_layout layout;
    int arrays; /* the format that WORK has them of */
    mc_type operand, result;
    result_order order;
    sparse_algorithm algorithms[SPARSE_MAX_ALGORITHMS + 1]; /* the last one without a name */
} sparse_format;

static const sparse_format formats[SPARSE_FORMATS] = {
    [SPARSE_CSR] = {"cusparse csr f16",
                    CSR,
                    SPARSE_CSR,
                    MC_F16,
                    MC_F16,
                    ORDER_ROWS,
                    {{SP_ALG_CSR_1, "csr_alg1"}, {SP_ALG_CSR_2, "csr_alg2"}, {SP_ALG_CSR_3, "csr_alg3"}}},
    [SPARSE_BSR] =
        {"cusparse bsr f16", BSR, SPARSE_BSR, MC_F16, MC_F16, ORDER_ROWS, {{SP_ALG_BSR_1, "bsr_alg1"}}},
    [SPARSE_ELL] = {"cusparse blocked-ell f16",
                    BLOCKED_ELL,
                    SPARSE_ELL,
                    MC_F16,
                    MC_F16,
                    ORDER_ROWS,
                    {{SP_ALG_BLOCKED_ELL_1, "blocked_ell_alg1"}}},
    [SPARSE_ELL_S8] = {"cusparse blocked-ell s8",
                       BLOCKED_ELL,
                       SPARSE_ELL_S8,
                       MC_S8,
                       MC_S32,
                       ORDER_ROWS,
                       {{SP_ALG_BLOCKED_ELL_1, "blocked_ell_alg1"}}},
    [SPARSE_SAMPLED_CSR] = {"cusparse csr f16",
                            CSR,
                            SPARSE_SAMPLED_CSR,
                            MC_F16,
                            MC_F16,
                            ORDER_CSR,
                            {{SP_SDDMM_DEFAULT, "default"}}},
    [SPARSE_SAMPLED_BSR] = {"cusparse bsr f16",
                            BSR,
                            SPARSE_SAMPLED_BSR,
                            MC_F16,
                            MC_F16,
                            ORDER_BSR,
                            {{SP_SDDMM_DEFAULT, "default"}}},
    [SPARSE_SAMPLED_CSR_F32] = {"cusparse csr f32",
                                CSR,
                                SPARSE_SAMPLED_CSR,
                                MC_F32,
                                MC_F32,
                                ORDER_CSR,
                                {{SP_SDDMM_DEFAULT, "default"}}},
    [SPARSE_SAMPLED_BSR_F32] = {"cusparse bsr f32",
                                BSR,
                                SPARSE_SAMPLED_BSR,
                                MC_F32,
                                MC_F32,
                                ORDER_BSR,
                                {{SP_SDDMM_DEFAULT, "default"}}},
};

static const sparse_format *format_of(const sparse_product *p) { return &formats[p->format]; }
static bool is_sampled(const sparse_product *p) { return format_of(p)->order != ORDER_ROWS; }

bool sparse_is_of(int format, mc_op op) {
    return op == (formats[format].order == ORDER_ROWS ? MC_OP_SPMM : MC_OP_SDDMM);
}
mc_type sparse_result_type(int format) { return formats[format].result; }
result_order sparse_order(int format) { return formats[format].order; }

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

static int vendor_type(mc_type type) {
    return type == MC_F16   ? VENDOR_R_16F
           : type == MC_F32 ? VENDOR_R_32F
           : type == MC_S8  ? VENDOR_R_8I
                            : VENDOR_R_32I;
}

static bool is_integer(const sparse_product *p) { return format_of(p)->result == MC_S32; }
static int compute_type(const sparse_product *p) { return is_integer(p) ? VENDOR_R_32I : VENDOR_R_32F; }

/* A part of the slab, and what is copied there: NULL where the result will lie. */
typedef struct operand {
    size_t *part;
    const void *data;
    size_t bytes;
} operand;

static void list_spmm(sparse_product *p, const sparse_problem *q, operand list[OPERANDS]) {
    const work_problem *d = q->problem;
    const sparse_arrays *s = &q->work->formats[format_of(p)->arrays];
    size_t bytes = mc_type_bytes(format_of(p)->operand), b = (size_t)(q->work->padded_cols * d->shape.n);
    list[0] = (operand){&p->values, s->values, (size_t)s->value_count * s->value_bytes};
    list[1] = (operand){&p->dense[0], is_integer(p) ? (const void *)d->b_cols : d->b_half, b * bytes};
    list[2] =
        (operand){&p->dense[1], NULL, (size_t)q->elements[p->format] * mc_type_bytes(format_of(p)->result)};
}

static void list_sddmm(sparse_product *p, const sparse_problem *q, operand list[OPERANDS]) {
    const work_problem *d = q->problem;
    bool half = format_of(p)->operand == MC_F16;
    size_t k_bytes = (size_t)d->shape.k * mc_type_bytes(format_of(p)->operand);
    list[0] =
        (operand){&p->values, NULL, (size_t)q->elements[p->format] * mc_type_bytes(format_of(p)->result)};
    list[1] =
        (operand){&p->dense[0], half ? (const void *)d->a_half : d->a_float, (size_t)d->shape.m * k_bytes};
    list[2] = (operand){&p->dense[1], half ? (const void *)d->b_half : d->b_float,
                        (size_t)q->work->padded_cols * k_bytes};
}

static mc_status upload(sparse_product *p, gpu_device *gpu, const sparse_problem *q, mc_diag *diag) {
    const sparse_arrays *s = &q->work->formats[format_of(p)->arrays];
    operand list[OPERANDS + 2];
    if (!is_sampled(p)) list_spmm(p, q, list);
    else list_sddmm(p, q, list);
    list[OPERANDS] = (operand){&p->row_ptr, s->row_ptr, (size_t)(s->rows + 1) * sizeof(int32_t)};
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
    const work *w = q->work;
    const sparse_arrays *s = &w->formats[format_of(p)->arrays];
    uint64_t row_ptr = slab_address(&p->slab, p->row_ptr, set),
             col_idx = slab_address(&p->slab, p->col_idx, set),
             values = slab_address(&p->slab, p->values, set);
    int64_t vec = w->a.vec;
    if (format_of(p)->layout == CSR)
        return SP_CALL(sp, diag, CreateCsr, desc, w->a.rows, w->a.cols, s->value_count, row_ptr, col_idx,
                       values, SP_INDEX_32I, SP_INDEX_32I, SP_BASE_ZERO, vendor_type(type));
    if (format_of(p)->layout == BSR)
        return SP_CALL(sp, diag, CreateBsr, desc, w->a.row_blocks, w->padded_cols / vec, s->indices, vec, vec,
                       row_ptr, col_idx, values, SP_INDEX_32I, SP_INDEX_32I, SP_BASE_ZERO, vendor_type(type),
                       SP_ORDER_ROW);
    return SP_CALL(sp, diag, CreateBlockedEll, desc, w->a.rows, w->padded_cols, vec, s->ell_blocks * vec,
                   col_idx, values, SP_INDEX_32I, SP_BASE_ZERO, vendor_type(type));
}

static mc_status describe_dense(const sparse_product *p, int which, int set, int64_t rows, int64_t cols,
                                int order, mc_type type, void **desc, mc_diag *diag) {
    return SP_CALL(&p->library->sp, diag, CreateDnMat, desc, rows, cols, order == SP_ORDER_ROW ? cols : rows,
                   slab_address(&p->slab, p->dense[which], set), vendor_type(type), order);
}

/* The sparse matrix' columns: in whole blocks where there are blocks. */
static int64_t columns_of(const sparse_product *p, const work *w) {
    return format_of(p)->layout == CSR ? w->a.cols : w->padded_cols;
}

static mc_status describe_spmm(const sparse_product *p, const sparse_problem *q, int set, void **desc,
                               mc_diag *diag) {
    const sparse_format *f = format_of(p);
    const problem_shape *s = &q->problem->shape;
    int order = is_integer(p) ? SP_ORDER_COL : SP_ORDER_ROW;
    mc_status status = describe_sparse(p, q, set, f->operand, &desc[0], diag);
    if (status == MC_OK)
        status = describe_dense(p, 0, set, columns_of(p, q->work), s->n, order, f->operand, &desc[1], diag);
    if (status != MC_OK) return status;
    return describe_dense(p, 1, set, s->m, s->n, SP_ORDER_ROW, f->result, &desc[2], diag);
}

static mc_status describe_sddmm(const sparse_product *p, const sparse_problem *q, int set, void **desc,
                                mc_diag *diag) {
    const sparse_format *f = format_of(p);
    const problem_shape *s = &q->problem->shape;
    int64_t n = columns_of(p, q->work);
    mc_status status = describe_dense(p, 0, set, s->m, s->k, SP_ORDER_ROW, f->operand, &desc[0], diag);
    if (status == MC_OK)
        status = describe_dense(p, 1, set, s->k, n, SP_ORDER_COL, f->operand, &desc[1], diag);
    return status == MC_OK ? describe_sparse(p, q, set, f->result, &desc[2], diag) : status;
}

/* -- Calls ----------------------------------------------------------------------------------------------- */

/* What differs between the families: descriptors, and the library's functions. */
typedef struct sparse_functions {
    mc_status (*describe)(const sparse_product *p, const sparse_problem *q, int set, void **desc,
                          mc_diag *diag);
    int (*buffer_size)(SP_PRODUCT_ARGUMENTS, size_t *bytes);
    int (*preprocess)(SP_PRODUCT_ARGUMENTS, uint64_t buffer);
    int (*run)(SP_PRODUCT_ARGUMENTS, uint64_t buffer);
} sparse_functions;

static sparse_functions functions_of(const sparse_product *p) {
    const cusparse *sp = &p->library->sp;
    if (is_sampled(p))
        return (sparse_functions){describe_sddmm, sp->SDDMM_bufferSize, sp->SDDMM_preprocess, sp->SDDMM};
    return (sparse_functions){describe_spmm, sp->SpMM_bufferSize, sp->SpMM_preprocess, sp->SpMM};
}

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

static mc_status check(const sparse_product *p, int result, const char *step, mc_diag *diag) {
    char call[48];
    snprintf(call, sizeof call, "cusparse%s%s", is_sampled(p) ? "SDDMM" : "SpMM", step);
    return cusparse_check(result, call, diag);
}

static mc_status enqueue(const contender *c, int set, cuda_stream stream, mc_diag *diag) {
    const sparse_call *call = c->state;
    const sparse_product *p = call->product;
    (void)stream; /* the handle's */
    return check(p, functions_of(p).run(PRODUCT_ARGUMENTS(p, call, (size_t)set), call->buffer), "", diag);
}

/* The buffer serves all sets: they hold the same matrix. */
static mc_status prepare_call(sparse_call *call, gpu_device *gpu, const sparse_problem *q, mc_diag *diag) {
    const sparse_product *p = call->product;
    const sparse_functions f = functions_of(p);
    size_t bytes = 0, sets = (size_t)p->slab.sets;
    mc_status status = MC_OK;
    call->descs = calloc(sets * OPERANDS, sizeof *call->descs);
    if (call->descs == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    for (size_t set = 0; set < sets && status == MC_OK; set++)
        status = f.describe(p, q, (int)set, call->descs + set * OPERANDS, diag);
    if (status == MC_OK)
        status = check(p, f.buffer_size(PRODUCT_ARGUMENTS(p, call, 0), &bytes), "_bufferSize", diag);
    if (status == MC_OK) status = mc_device_alloc(gpu->device, bytes, &call->buffer, diag);
    for (size_t set = 0; set < sets && status == MC_OK; set++)
        status = check(p, f.preprocess(PRODUCT_ARGUMENTS(p, call, set), call->buffer), "_preprocess", diag);
    return status;
}

static void close_call(sparse_call *call, gpu_device *gpu) {
    if (call->descs == NULL) return;
    const sparse_product *p = call->product;
    const size_t sparse = !is_sampled(p) ? 0 : 2;
    for (size_t i = 0; i < (size_t)p->slab.sets * OPERANDS; i++)
        if (call->descs[i] != NULL)
            (void)(i % OPERANDS == sparse ? p->library->sp.DestroySpMat(call->descs[i])
                                          : p->library->sp.DestroyDnMat(call->descs[i]));
    mc_device_free(gpu->device, call->buffer);
    free(call->descs);
}

/* -- Contenders ------------------------------------------------------------------------------------------ */

/* What is exact in f32 and rounded once, unless the library adds in f16: allowed as in dense.c. */
static tolerance allowed(const sparse_product *p, const sparse_problem *q) {
    if (is_integer(p)) return (tolerance){0, 0};
    double length = is_sampled(p) ? (double)q->problem->shape.k
                                  : (double)q->work->a.vectors / (double)q->work->a.row_blocks;
    return (tolerance){type_rounding(format_of(p)->result) + length * 0x1p-23, 4 * sqrt(length) / 3};
}

/* SDDMM multiplies what stood in C by zero, which no NaN survives. */
static contender contender_of(const sparse_call *call, const sparse_problem *q, const char *algorithm) {
    const sparse_product *p = call->product;
    const sparse_format *f = format_of(p);
    contender c = {.sets = p->slab.sets, .enqueue = enqueue, .state = call};
    snprintf(c.label, sizeof c.label, "%s", f->label);
    snprintf(c.detail, sizeof c.detail, "%s, fill %.3f", algorithm, q->work->formats[f->arrays].fill);
    c.check = (result_check){.type = f->result,
                             .got = result_address(p),
                             .want = q->want[p->format],
                             .count = (uint64_t)q->elements[p->format],
                             .allowed = allowed(p, q),
                             .finite = f->order != ORDER_ROWS};
    return c;
}

/* Verifies and times every algorithm; the fastest goes to *BEST, whose quick is 0 while there is none. */
static mc_status try_algorithms(sparse_product *p, gpu_device *gpu, helpers *h, const sparse_problem *q,
                                contender *best, mc_diag *diag) {
    mc_status last = MC_OK;
    for (int i = 0; i < SPARSE_MAX_ALGORITHMS && format_of(p)->algorithms[i].name != NULL; i++) {
        const sparse_algorithm *algorithm = &format_of(p)->algorithms[i];
        sparse_call *call = &p->calls[i];
        *call = (sparse_call){.product = p, .algorithm = algorithm->number};
        mc_diag_clear(diag);
        mc_status status = prepare_call(call, gpu, q, diag);
        contender c = contender_of(call, q, algorithm->name);
        if (status == MC_OK) status = contender_verify(gpu, h, &c, diag);
        if (status == MC_OK) status = timer_quick(gpu, &c, QUICK_LAUNCHES, diag);
        if (status != MC_OK) last = status;
        else if (best->quick == 0 || c.quick < best->quick) *best = c;
    }
    return best->quick > 0 ? MC_OK : last;
}

void sparse_open(sparse_peers *peers, const sparse_library *library, gpu_device *gpu, helpers *h,
                 const sparse_problem *q) {
    *peers = (sparse_peers){0};
    mc_diag *diag = mc_diag_create();
    for (int i = 0; i < SPARSE_FORMATS; i++) {
        sparse_product *p = &peers->products[i];
        contender best = {0};
        if (!sparse_is_of(i, q->op)) continue;
        p->library = library;
        p->format = i;
        mc_diag_clear(diag);
        mc_status status = upload(p, gpu, q, diag);
        if (status == MC_OK) status = try_algorithms(p, gpu, h, q, &best, diag);
        if (status == MC_OK) peers->contenders[peers->count++] = best;
        else
            snprintf(peers->notes[i], sizeof peers->notes[i], "%s: %s", formats[i].label, mc_diag_text(diag));
    }
    mc_diag_destroy(diag);
}

void sparse_close(sparse_peers *peers, gpu_device *gpu) {
    for (int i = 0; i < SPARSE_FORMATS; i++) {
        sparse_product *p = &peers->products[i];
        for (int j = 0; j < SPARSE_MAX_ALGORITHMS; j++) close_call(&p->calls[j], gpu);
        slab_free(gpu, &p->slab);
    }
    *peers = (sparse_peers){0};
}
