#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "sparse_peers.h"

enum { QUICK_LAUNCHES = 3, A = 0, B = 1, C = 2, OPERANDS = 3 };

typedef struct sparse_algorithm {
    int number;
    const char *name;
} sparse_algorithm;

/* One row a format; algorithms end with a NULL name. */
static const struct {
    const char *label;
    bool half;
    sparse_algorithm algorithms[SPARSE_MAX_ALGORITHMS + 1];
} formats[SPARSE_FORMATS] = {
#define X(name, label) [SPARSE_##name] = {label, SPARSE_##name != SPARSE_ELL_S8, ALGORITHMS_##name},
#define ALGORITHMS_CSR                                                                                       \
    {                                                                                                        \
        {SP_ALG_CSR_1, "csr_alg1"}, {SP_ALG_CSR_2, "csr_alg2"}, { SP_ALG_CSR_3, "csr_alg3" }                 \
    }
#define ALGORITHMS_BSR                                                                                       \
    {                                                                                                        \
        { SP_ALG_BSR_1, "bsr_alg1" }                                                                         \
    }
#define ALGORITHMS_ELL                                                                                       \
    {                                                                                                        \
        { SP_ALG_BLOCKED_ELL_1, "blocked_ell_alg1" }                                                         \
    }
#define ALGORITHMS_ELL_S8                                                                                    \
    {                                                                                                        \
        { SP_ALG_BLOCKED_ELL_1, "blocked_ell_alg1" }                                                         \
    }
    SPARSE_LIST(X)
#undef X
};

/* -- Library ---------------------------------------------------------------------------------------------- */

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

/* -- Operands --------------------------------------------------------------------------------------------- */

static int vendor_operand(const sparse_product *p) {
    return formats[p->format].half ? VENDOR_R_16F : VENDOR_R_8I;
}
static int vendor_result(const sparse_product *p) {
    return formats[p->format].half ? VENDOR_R_16F : VENDOR_R_32I;
}
static int compute_type(const sparse_product *p) {
    return formats[p->format].half ? VENDOR_R_32F : VENDOR_R_32I;
}
static mc_type result_type(const sparse_product *p) { return formats[p->format].half ? MC_F16 : MC_S32; }

static mc_status upload(sparse_product *p, gpu_device *gpu, const work *w, const work_dense *d, int64_t n,
                        bool cold, mc_diag *diag) {
    const sparse_arrays *s = &w->formats[p->format];
    bool half = formats[p->format].half;
    size_t row_bytes = (size_t)(s->rows + 1) * 4, col_bytes = (size_t)s->indices * 4,
           value_bytes = (size_t)s->value_count * s->value_bytes;
    size_t b_bytes = (size_t)(w->padded_k * n) * (half ? 2 : 1);
    p->row_ptr = slab_part(&p->slab, row_bytes);
    p->col_idx = slab_part(&p->slab, col_bytes);
    p->values = slab_part(&p->slab, value_bytes);
    p->b = slab_part(&p->slab, b_bytes);
    p->c = slab_part(&p->slab, (size_t)(w->a.rows * n) * mc_type_bytes(result_type(p)));
    mc_status status = slab_create(gpu, &p->slab, gpu_sets(gpu, &p->slab, cold), diag);
    if (status == MC_OK) status = slab_write(gpu, &p->slab, p->row_ptr, s->row_ptr, row_bytes, diag);
    if (status == MC_OK) status = slab_write(gpu, &p->slab, p->col_idx, s->col_idx, col_bytes, diag);
    if (status == MC_OK) status = slab_write(gpu, &p->slab, p->values, s->values, value_bytes, diag);
    const void *b = half ? (const void *)d->b_half : d->b_cols;
    return status == MC_OK ? slab_write(gpu, &p->slab, p->b, b, b_bytes, diag) : status;
}

static mc_status describe_a(const sparse_product *p, const work *w, int set, void **desc, mc_diag *diag) {
    const cusparse *sp = &p->library->sp;
    const sparse_arrays *s = &w->formats[p->format];
    uint64_t row_ptr = slab_address(&p->slab, p->row_ptr, set),
             col_idx = slab_address(&p->slab, p->col_idx, set),
             values = slab_address(&p->slab, p->values, set);
    int64_t vec = w->a.vec;
    if (p->format == SPARSE_CSR)
        return SP_CALL(sp, diag, CreateCsr, desc, w->a.rows, w->a.cols, s->value_count, row_ptr, col_idx,
                       values, SP_INDEX_32I, SP_INDEX_32I, SP_BASE_ZERO, vendor_operand(p));
    if (p->format == SPARSE_BSR)
        return SP_CALL(sp, diag, CreateBsr, desc, w->a.row_blocks, w->padded_k / vec, s->indices, vec, vec,
                       row_ptr, col_idx, values, SP_INDEX_32I, SP_INDEX_32I, SP_BASE_ZERO, vendor_operand(p),
                       SP_ORDER_ROW);
    return SP_CALL(sp, diag, CreateBlockedEll, desc, w->a.rows, w->padded_k, vec, s->ell_blocks * vec,
                   col_idx, values, SP_INDEX_32I, SP_BASE_ZERO, vendor_operand(p));
}

static mc_status describe_set(sparse_call *call, const work *w, int64_t n, int set, mc_diag *diag) {
    const sparse_product *p = call->product;
    const cusparse *sp = &p->library->sp;
    void **desc = call->descs + (size_t)set * OPERANDS;
    int64_t k = p->format == SPARSE_CSR ? w->a.cols : w->padded_k;
    mc_status status = describe_a(p, w, set, &desc[A], diag);
    bool half = formats[p->format].half;
    if (status == MC_OK)
        status =
            SP_CALL(sp, diag, CreateDnMat, &desc[B], k, n, half ? n : k, slab_address(&p->slab, p->b, set),
                    vendor_operand(p), half ? SP_ORDER_ROW : SP_ORDER_COL);
    if (status == MC_OK)
        status = SP_CALL(sp, diag, CreateDnMat, &desc[C], w->a.rows, n, n, slab_address(&p->slab, p->c, set),
                         vendor_result(p), SP_ORDER_ROW);
    return status;
}

/* -- Calls ------------------------------------------------------------------------------------------------ */

typedef struct factors {
    float one, zero;
    int32_t one_s32, zero_s32;
} factors;

static const factors unit = {1, 0, 1, 0};

static const void *alpha_of(const sparse_product *p) {
    return formats[p->format].half ? (const void *)&unit.one : &unit.one_s32;
}

static const void *beta_of(const sparse_product *p) {
    return formats[p->format].half ? (const void *)&unit.zero : &unit.zero_s32;
}

/* The arguments that SpMM, its preprocessing and its buffer size share. */
#define SPMM_ARGUMENTS(p, call, set)                                                                         \
    (p)->library->handle, SP_OP_N, SP_OP_N, alpha_of(p), (call)->descs[(set)*OPERANDS + A],                  \
        (call)->descs[(set)*OPERANDS + B], beta_of(p), (call)->descs[(set)*OPERANDS + C], compute_type(p),   \
        (call)->algorithm

static mc_status enqueue(const contender *c, int set, cuda_stream stream, mc_diag *diag) {
    const sparse_call *call = c->state;
    const sparse_product *p = call->product;
    (void)stream; /* the handle's */
    return SP_CALL(&p->library->sp, diag, SpMM, SPMM_ARGUMENTS(p, call, (size_t)set), call->buffer);
}

/* The buffer serves all sets: they hold the same matrix. */
static mc_status prepare_call(sparse_call *call, gpu_device *gpu, const work *w, int64_t n, mc_diag *diag) {
    const sparse_product *p = call->product;
    const cusparse *sp = &p->library->sp;
    size_t bytes = 0;
    mc_status status = MC_OK;
    call->descs = calloc((size_t)p->slab.sets * OPERANDS, sizeof *call->descs);
    if (call->descs == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    for (int set = 0; set < p->slab.sets && status == MC_OK; set++)
        status = describe_set(call, w, n, set, diag);
    if (status == MC_OK) status = SP_CALL(sp, diag, SpMM_bufferSize, SPMM_ARGUMENTS(p, call, 0), &bytes);
    if (status == MC_OK) status = mc_device_alloc(gpu->device, bytes, &call->buffer, diag);
    for (size_t set = 0; set < (size_t)p->slab.sets && status == MC_OK; set++)
        status = SP_CALL(sp, diag, SpMM_preprocess, SPMM_ARGUMENTS(p, call, set), call->buffer);
    return status;
}

static void close_call(sparse_call *call, gpu_device *gpu) {
    if (call->descs == NULL) return;
    const sparse_product *p = call->product;
    for (size_t i = 0; i < (size_t)p->slab.sets * OPERANDS; i++)
        if (call->descs[i] != NULL)
            (void)(i % OPERANDS == A ? p->library->sp.DestroySpMat(call->descs[i])
                                     : p->library->sp.DestroyDnMat(call->descs[i]));
    mc_device_free(gpu->device, call->buffer);
    free(call->descs);
}

/* -- Contenders ------------------------------------------------------------------------------------------- */

/* What is exact in f32 and rounded once, unless the library adds in f16: allowed as in dense.c. */
static tolerance allowed(const sparse_product *p, const work *w) {
    if (!formats[p->format].half) return (tolerance){0, 0};
    double length = (double)w->a.vectors / (double)w->a.row_blocks;
    return (tolerance){type_rounding(MC_F16) + length * 0x1p-23, 4 * sqrt(length) / 3};
}

static contender contender_of(const sparse_call *call, const work *w, int64_t n, uint64_t want,
                              const char *algorithm) {
    const sparse_product *p = call->product;
    contender c = {.sets = p->slab.sets, .enqueue = enqueue, .state = call};
    snprintf(c.label, sizeof c.label, "%s", formats[p->format].label);
    snprintf(c.detail, sizeof c.detail, "%s, fill %.3f", algorithm, w->formats[p->format].fill);
    c.check = (result_check){result_type(p), slab_address(&p->slab, p->c, 0), want, (uint64_t)(w->a.rows * n),
                             allowed(p, w)};
    return c;
}

/* Verifies and times every algorithm; the fastest goes to *BEST, whose quick is 0 while there is none. */
static mc_status try_algorithms(sparse_product *p, gpu_device *gpu, helpers *h, const work *w, int64_t n,
                                uint64_t want, contender *best, mc_diag *diag) {
    mc_status last = MC_OK;
    for (int i = 0; i < SPARSE_MAX_ALGORITHMS && formats[p->format].algorithms[i].name != NULL; i++) {
        const sparse_algorithm *algorithm = &formats[p->format].algorithms[i];
        sparse_call *call = &p->calls[i];
        *call = (sparse_call){.product = p, .algorithm = algorithm->number};
        mc_diag_clear(diag);
        mc_status status = prepare_call(call, gpu, w, n, diag);
        contender c = contender_of(call, w, n, want, algorithm->name);
        if (status == MC_OK) status = contender_verify(gpu, h, &c, diag);
        if (status == MC_OK) status = timer_quick(gpu, &c, QUICK_LAUNCHES, diag);
        if (status != MC_OK) last = status;
        else if (best->quick == 0 || c.quick < best->quick) *best = c;
    }
    return best->quick > 0 ? MC_OK : last;
}

void sparse_open(sparse_peers *peers, const sparse_library *library, gpu_device *gpu, helpers *h,
                 const work *w, size_t n_index, int64_t n, bool cold, uint64_t want_s32, uint64_t want_f32) {
    *peers = (sparse_peers){0};
    mc_diag *diag = mc_diag_create();
    for (int i = 0; i < SPARSE_FORMATS; i++) {
        sparse_product *p = &peers->products[i];
        contender best = {0};
        p->library = library;
        p->format = i;
        mc_diag_clear(diag);
        mc_status status = upload(p, gpu, w, &w->dense[n_index], n, cold, diag);
        uint64_t want = formats[i].half ? want_f32 : want_s32;
        if (status == MC_OK) status = try_algorithms(p, gpu, h, w, n, want, &best, diag);
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
