#include "layer.h"
#include <stdlib.h>
#include <string.h>
#include "mcrt_internal.h"
#include "context/matrix.h"

static mc_output output_of(const layer *l) {
    return (mc_output){.type = l->shape.out, .scale = l->shape.scale};
}

/* What the layer has to give, from its values now. */
static mc_status make_want(layer *l, mc_diag *diag) {
    mc_dense sums = {0};
    const mc_output output = output_of(l);
    bool spmm = l->shape.op == MC_OP_SPMM;
    mc_dense_free(&l->want);
    mc_status status = spmm ? mc_reference_spmm(&l->host, &l->b, &sums, diag)
                            : mc_reference_sddmm(&l->host, &l->a, &l->b, MC_LAYOUT_COLUMNS, &sums, diag);
    if (status == MC_OK && spmm)
        status = mc_reference_output(&output, &(mc_factors){.scale = l->scale, .bias = NULL}, &sums, &l->want,
                                     diag);
    else if (status == MC_OK)
        status = mc_reference_sampled(&output, &l->host, MC_ORDER_BCRS, l->scale, &sums, &l->want, diag);
    mc_dense_free(&sums);
    if (status == MC_OK) l->c_bytes = (size_t)mc_type_size(l->want.type, l->want.rows * l->want.cols);
    return status;
}

static mc_status make_matrix(layer *l, uint64_t seed, mc_diag *diag) {
    const layer_shape *s = &l->shape;
    bool spmm = s->op == MC_OP_SPMM;
    const mc_pattern pattern = {.rows = s->m / s->vec,
                                .cols = spmm ? s->k : s->n,
                                .sparsity = s->sparsity,
                                .law = MC_PATTERN_REALISTIC,
                                .cv = 0.3,
                                .seed = seed};
    mc_csr csr = {0};
    mc_status status = mc_csr_generate(&pattern, &csr, diag);
    if (status == MC_OK) status = mc_vsparse_dilate(&csr, s->vec, spmm ? s->lhs : MC_F32, &l->host, diag);
    mc_csr_free(&csr);
    if (status != MC_OK) return status;
    if (spmm) mc_vsparse_fill(&l->host, MC_VALUES_FULL, seed + 1, NULL);
    return matrix_of_host(l->context, &l->host, &l->matrix, diag);
}

static mc_status put(layer *l, const void *data, size_t bytes, mc_address *address, mc_diag *diag) {
    mc_status status = mc_memory_create(l->context, bytes, address, diag);
    return status == MC_OK ? mc_memory_write(l->context, *address, data, bytes, diag) : status;
}

static mc_status put_dense(layer *l, mc_dense *dense, mc_type type, int64_t rows, int64_t cols, uint64_t seed,
                           mc_address *address, mc_diag *diag) {
    mc_status status = mc_dense_create(type, rows, cols, cols, dense, diag);
    if (status != MC_OK) return status;
    mc_dense_fill(dense, MC_VALUES_FULL, seed);
    return put(l, dense->data, (size_t)mc_type_size(type, rows * cols), address, diag);
}

static mc_status make_scale(layer *l, uint64_t seed, mc_diag *diag) {
    int64_t count = mc_per_count(l->shape.scale, l->shape.m, l->shape.n);
    if (count == 0) return MC_OK;
    l->scale = calloc((size_t)count, sizeof *l->scale);
    if (l->scale == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    mc_scale_fill(l->scale, count, MC_VALUES_FULL, seed);
    return put(l, l->scale, (size_t)count * sizeof *l->scale, &l->device_scale, diag);
}

mc_status layer_open_matrix(layer *l, mc_context *context, const layer_shape *shape, uint64_t seed,
                            mc_diag *diag) {
    *l = (layer){.shape = *shape, .context = context};
    return make_matrix(l, seed, diag);
}

mc_status layer_open(layer *l, mc_context *context, const layer_shape *shape, uint64_t seed, mc_diag *diag) {
    bool spmm = shape->op == MC_OP_SPMM;
    mc_status status = layer_open_matrix(l, context, shape, seed, diag);
    if (status == MC_OK && !spmm)
        status = put_dense(l, &l->a, shape->lhs, shape->m, shape->k, seed + 2, &l->device_a, diag);
    if (status == MC_OK)
        status = put_dense(l, &l->b, shape->rhs, spmm ? shape->k : shape->n, spmm ? shape->n : shape->k,
                           seed + 3, &l->device_b, diag);
    if (status == MC_OK) status = make_scale(l, seed + 4, diag);
    if (status == MC_OK) status = make_want(l, diag);
    if (status == MC_OK) status = mc_memory_create(context, l->c_bytes, &l->device_c, diag);
    if (status == MC_OK && (l->got = malloc(l->c_bytes)) == NULL)
        status = mc_fail(diag, MC_NOMEM, "out of memory");
    return status;
}

void layer_close(layer *l) {
    const mc_address addresses[] = {l->device_a, l->device_b, l->device_c, l->device_scale};
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++)
        if (addresses[i] != 0) mc_memory_destroy(l->context, addresses[i]);
    mc_matrix_destroy(l->matrix);
    mc_dense_free(&l->a);
    mc_dense_free(&l->b);
    mc_dense_free(&l->want);
    mc_vsparse_free(&l->host);
    free(l->scale);
    free(l->got);
    *l = (layer){0};
}

mc_plan_config layer_plan(const layer *l) {
    const layer_shape *s = &l->shape;
    mc_plan_config config = {.size = sizeof config,
                             .op = s->op,
                             .matrix = l->matrix,
                             .a = s->lhs,
                             .b = s->rhs,
                             .c = s->out,
                             .scale = s->scale};
    if (s->op == MC_OP_SPMM) config.n = s->n;
    else config.k = s->k;
    return config;
}

mc_args layer_args(const layer *l) {
    return (mc_args){.size = sizeof(mc_args),
                     .a = l->device_a,
                     .b = l->device_b,
                     .c = l->device_c,
                     .scale = l->device_scale,
                     .scale_value = l->scale != NULL ? l->scale[0] : 0};
}

mc_status layer_poison(const layer *l, mc_diag *diag) {
    memset(l->got, 0x80, l->c_bytes);
    return mc_memory_write(l->context, l->device_c, l->got, l->c_bytes, diag);
}

mc_status layer_check(layer *l, mc_diag *diag) {
    mc_status status = mc_memory_read(l->context, l->device_c, l->got, l->c_bytes, diag);
    if (status != MC_OK || memcmp(l->got, l->want.data, l->c_bytes) == 0) return status;
    mc_dense got = l->want;
    got.data = l->got;
    return mc_dense_compare(&got, &l->want, diag); /* NaNs may differ in their bits */
}

mc_status layer_change_values(layer *l, uint64_t seed, void *stream, mc_diag *diag) {
    mc_vsparse_fill(&l->host, MC_VALUES_FULL, seed, NULL);
    mc_status status = mc_matrix_set_values(l->matrix, l->host.values, stream, diag);
    return status == MC_OK ? make_want(l, diag) : status;
}
