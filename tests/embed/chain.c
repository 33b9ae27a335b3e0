#include "chain.h"
#include <stdlib.h>
#include <string.h>

enum { POISON = 0x85 };

static const float scale = 1.0f / 400; /* most scaled sums fit 8 bits, some are cut off */

static bool is_new(const chain_kind *kind, int head) { return head == 0 || kind->patterns; }

/* -- What must come of it */

static mc_status make_mask(const chain_kind *kind, uint64_t seed, mc_vsparse *mask, mc_diag *diag) {
    const mc_pattern pattern = {.rows = kind->queries / kind->vec,
                                .cols = kind->keys,
                                .sparsity = kind->sparsity,
                                .law = MC_PATTERN_REALISTIC,
                                .cv = 0.5,
                                .seed = seed};
    mc_csr csr;
    mc_status status = mc_csr_generate(&pattern, &csr, diag);
    if (status != MC_OK) return status;
    status = mc_vsparse_dilate(&csr, kind->vec, kind->between, mask, diag);
    mc_csr_free(&csr);
    return status;
}

static mc_status make_random(int64_t rows, int64_t cols, uint64_t seed, mc_dense *dense, mc_diag *diag) {
    mc_status status = mc_dense_create(MC_S8, rows, cols, cols, dense, diag);
    if (status == MC_OK) mc_dense_fill(dense, MC_VALUES_FULL, seed);
    return status;
}

/* The mask's values become those of S. */
static mc_status take_values(mc_vsparse *mask, const mc_dense *sums, mc_diag *diag) {
    const mc_output output = {.type = mask->type, .scale = MC_PER_TENSOR};
    mc_dense s = {0};
    mc_status status = mc_reference_sampled(&output, mask, MC_ORDER_BCRS, &scale, sums, &s, diag);
    for (int64_t i = 0; i < s.rows; i++)
        for (int r = 0; r < mask->vec; r++) mc_vsparse_set_value(mask, i, r, mc_dense_get(&s, i, r));
    mc_dense_free(&s);
    return status;
}

static mc_status make_want(chain *c, int head, mc_diag *diag) {
    mc_vsparse *mask = &c->masks[is_new(c->kind, head) ? head : 0];
    mc_dense sums = {0};
    mc_status status = mc_reference_sddmm(mask, &c->q[head], &c->k[head], MC_LAYOUT_COLUMNS, &sums, diag);
    if (status == MC_OK) status = take_values(mask, &sums, diag);
    if (status == MC_OK) status = mc_reference_spmm(mask, &c->v[head], &c->want[head], diag);
    mc_dense_free(&sums);
    return status;
}

static mc_status make_head(chain *c, int head, uint64_t seed, mc_diag *diag) {
    const chain_kind *kind = c->kind;
    mc_status status = MC_OK;
    if (is_new(kind, head)) status = make_mask(kind, seed, &c->masks[head], diag);
    if (status == MC_OK) status = make_random(kind->queries, kind->depth, seed + 1, &c->q[head], diag);
    if (status == MC_OK) status = make_random(kind->keys, kind->depth, seed + 2, &c->k[head], diag);
    if (status == MC_OK) status = make_random(kind->keys, kind->width, seed + 3, &c->v[head], diag);
    return status == MC_OK ? make_want(c, head, diag) : status;
}

/* -- Matrix and plans. The matrix has no values. */

/* The heads' masks one below another. */
static mc_status make_matrix(chain *c, mc_diag *diag) {
    const chain_kind *kind = c->kind;
    int count = kind->patterns ? kind->heads : 1;
    int64_t blocks = c->masks[0].row_blocks, vectors = 0;
    for (int h = 0; h < count; h++) vectors += c->masks[h].vectors;
    int32_t *row_ptr = calloc((size_t)(count * blocks) + 1, sizeof *row_ptr),
            *col_idx = calloc((size_t)vectors + 1, sizeof *col_idx);
    if (row_ptr == NULL || col_idx == NULL) abort();
    for (int h = 0, at = 0; h < count; at += (int)c->masks[h++].vectors) {
        for (int64_t i = 1; i <= blocks; i++) row_ptr[h * blocks + i] = at + (int32_t)c->masks[h].row_ptr[i];
        memcpy(col_idx + at, c->masks[h].col_idx, (size_t)c->masks[h].vectors * sizeof *col_idx);
    }
    const mc_matrix_config config = {.size = sizeof config,
                                     .type = kind->between,
                                     .vec = kind->vec,
                                     .rows = count * kind->queries,
                                     .cols = kind->keys,
                                     .row_ptr = row_ptr,
                                     .col_idx = col_idx,
                                     .patterns = kind->patterns ? count : 0};
    mc_status status = mc_matrix_create(c->context, &config, &c->matrix, diag);
    free(row_ptr);
    free(col_idx);
    return status;
}

/* An S of all heads' masks along the diagonal has them one behind the other. */
static mc_status count_elements(chain *c, mc_diag *diag) {
    mc_plan_info info = {.size = sizeof info};
    mc_status status = mc_plan_get_info(c->sddmm, &info, diag);
    c->s_elements = info.c_elements;
    return status;
}

static mc_status make_plans(chain *c, mc_diag *diag) {
    const chain_kind *kind = c->kind;
    mc_plan_config sddmm = {.size = sizeof sddmm,
                            .op = MC_OP_SDDMM,
                            .matrix = c->matrix,
                            .a = MC_S8,
                            .b = MC_S8,
                            .c = kind->between,
                            .k = kind->depth,
                            .scale = MC_PER_TENSOR,
                            .c_order = MC_ORDER_SRBCRS32,
                            .shapes = kind->shapes};
    mc_plan_config spmm = {.size = sizeof spmm,
                           .op = MC_OP_SPMM,
                           .matrix = c->matrix,
                           .b = MC_S8,
                           .c = MC_S32,
                           .n = kind->width,
                           .given_values = true,
                           .shapes = kind->shapes};
    if (kind->specs[0] != NULL) {
        sddmm.specs = &kind->specs[0];
        spmm.specs = &kind->specs[1];
        sddmm.spec_count = spmm.spec_count = 1;
    }
    mc_status status = mc_plan_create(c->context, &sddmm, &c->sddmm, diag);
    if (status == MC_OK) status = count_elements(c, diag);
    if (status == MC_OK && !kind->patterns) {
        sddmm.batch = spmm.batch = kind->heads;
        if (kind->gap > 0) sddmm.c_stride = spmm.values_stride = c->s_elements + kind->gap;
        mc_plan_destroy(c->sddmm);
        status = mc_plan_create(c->context, &sddmm, &c->sddmm, diag);
    }
    if (status == MC_OK) status = mc_plan_create(c->context, &spmm, &c->spmm, diag);
    return status;
}

/* -- On the device */

static size_t s_bytes(const chain *c) {
    int64_t all = c->kind->patterns ? c->s_elements : c->kind->heads * (c->s_elements + c->kind->gap);
    return (size_t)all;
}

static size_t c_bytes(const chain *c) {
    return (size_t)(c->kind->heads * c->kind->queries * c->kind->width) * sizeof(int32_t);
}

static mc_status put(chain *c, const mc_dense *heads, mc_address *address, mc_diag *diag) {
    size_t bytes = (size_t)(heads[0].rows * heads[0].cols);
    mc_status status = mc_memory_create(c->context, bytes * (size_t)c->kind->heads, address, diag);
    for (int h = 0; h < c->kind->heads && status == MC_OK; h++)
        status = mc_memory_write(c->context, *address + (size_t)h * bytes, heads[h].data, bytes, diag);
    return status;
}

mc_status chain_open(chain *c, mc_context *context, const chain_kind *kind, uint64_t seed, mc_diag *diag) {
    *c = (chain){.kind = kind, .context = context};
    mc_status status = MC_OK;
    for (int h = 0; h < kind->heads && status == MC_OK; h++)
        status = make_head(c, h, seed + 10 * (uint64_t)h, diag);
    if (status == MC_OK) status = make_matrix(c, diag);
    if (status == MC_OK) status = make_plans(c, diag);
    if (status == MC_OK) status = put(c, c->q, &c->device_q, diag);
    if (status == MC_OK) status = put(c, c->k, &c->device_k, diag);
    if (status == MC_OK) status = put(c, c->v, &c->device_v, diag);
    if (status == MC_OK) status = mc_memory_create(context, s_bytes(c), &c->device_s, diag);
    if (status == MC_OK) status = mc_memory_create(context, c_bytes(c), &c->device_c, diag);
    return status;
}

void chain_close(chain *c) {
    const mc_address addresses[] = {c->device_q, c->device_k, c->device_v, c->device_s, c->device_c};
    mc_plan_destroy(c->sddmm);
    mc_plan_destroy(c->spmm);
    mc_matrix_destroy(c->matrix);
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++)
        if (addresses[i] != 0) mc_memory_destroy(c->context, addresses[i]);
    for (int h = 0; h < CHAIN_MOST_HEADS; h++) {
        mc_vsparse_free(&c->masks[h]);
        mc_dense_free(&c->q[h]);
        mc_dense_free(&c->k[h]);
        mc_dense_free(&c->v[h]);
        mc_dense_free(&c->want[h]);
    }
    *c = (chain){0};
}

static mc_status poison(const chain *c, mc_address address, size_t bytes, mc_diag *diag) {
    void *data = malloc(bytes);
    if (data == NULL) abort();
    memset(data, POISON, bytes);
    mc_status status = mc_memory_write(c->context, address, data, bytes, diag);
    free(data);
    return status;
}

mc_status chain_poison(const chain *c, mc_diag *diag) {
    mc_status status = poison(c, c->device_s, s_bytes(c), diag);
    return status == MC_OK ? poison(c, c->device_c, c_bytes(c), diag) : status;
}

mc_status chain_launch(const chain *c, void *stream, mc_diag *diag) {
    const mc_argument values = {.name = "values", .address = c->device_s};
    const mc_args first = {.size = sizeof first,
                           .a = c->device_q,
                           .b = c->device_k,
                           .c = c->device_s,
                           .scale_value = scale},
                  second = {.size = sizeof second,
                            .b = c->device_v,
                            .c = c->device_c,
                            .list = &values,
                            .list_count = 1};
    mc_status status = mc_execute(c->sddmm, &first, 0, stream, diag);
    return status == MC_OK ? mc_execute(c->spmm, &second, 0, stream, diag) : status;
}

mc_status chain_check(const chain *c, mc_diag *diag) {
    char *all = malloc(c_bytes(c));
    size_t each = c_bytes(c) / (size_t)c->kind->heads;
    if (all == NULL) abort();
    mc_status status = mc_memory_read(c->context, c->device_c, all, c_bytes(c), diag);
    for (int h = 0; h < c->kind->heads && status == MC_OK; h++) {
        mc_dense got = c->want[h];
        got.type = MC_S32;
        got.data = all + (size_t)h * each;
        mc_dense want = {0};
        const mc_output sums = {.type = MC_S32};
        status = mc_reference_output(&sums, NULL, &c->want[h], &want, diag);
        if (status == MC_OK) status = mc_dense_compare(&got, &want, diag);
        if (status != MC_OK) status = mc_fail(diag, status, "%s: head %d", c->kind->name, h);
        mc_dense_free(&want);
    }
    free(all);
    return status;
}
