/* Matrices of a context: counted by their creator and their plans,
   packed once for each form that plans want. */
#include "context/matrix.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "context/matrix_make.h"
#include "base/memory.h"
#include "matrix/slide24.h"

#define CONFIG_FIRST STRUCT_SIZE_TO(mc_matrix_config, values)
#define DENSE_FIRST  STRUCT_SIZE_TO(mc_dense_config, data)
#define INFO_FIRST   STRUCT_SIZE_TO(mc_matrix_info, device_bytes)

/* -- Handles */

mc_status matrix_new(mc_context *context, mc_vsparse *host, mc_matrix **matrix, mc_diag *diag) {
    mc_matrix *made = calloc(1, sizeof *made);
    if (made == NULL || pthread_mutex_init(&made->lock, NULL) != 0) {
        free(made);
        mc_vsparse_free(host);
        return mc_fail(diag, MC_NOMEM, "out of memory");
    }
    made->context = context;
    made->host = *host;
    made->users = 1;
    made->has_columns = true;
    *matrix = made;
    return MC_OK;
}

mc_status mc_matrix_create(mc_context *context, const mc_matrix_config *config, mc_matrix **matrix,
                           mc_diag *diag) {
    mc_matrix_config whole;
    mc_vsparse host;
    if (matrix == NULL) return check_handle(matrix, "matrix", diag);
    *matrix = NULL;
    mc_status status = check_handle(context, "context", diag);
    if (status == MC_OK)
        status = take_struct(&whole, sizeof whole, config, CONFIG_FIRST, "mc_matrix_config", diag);
    if (status == MC_OK) status = matrix_make(&whole, &host, diag);
    return status == MC_OK ? matrix_new(context, &host, matrix, diag) : status;
}

mc_status mc_matrix_from_dense(mc_context *context, const mc_dense_config *config, mc_matrix **matrix,
                               mc_diag *diag) {
    mc_dense_config whole;
    mc_vsparse host;
    if (matrix == NULL) return check_handle(matrix, "matrix", diag);
    *matrix = NULL;
    mc_status status = check_handle(context, "context", diag);
    if (status == MC_OK)
        status = take_struct(&whole, sizeof whole, config, DENSE_FIRST, "mc_dense_config", diag);
    if (status == MC_OK) status = matrix_make_dense(&whole, &host, diag);
    return status == MC_OK ? matrix_new(context, &host, matrix, diag) : status;
}

static int32_t *narrow(const int64_t *values, int64_t count) {
    int32_t *narrowed = mcrt_array(count, sizeof *narrowed);
    for (int64_t i = 0; narrowed != NULL && i < count; i++) narrowed[i] = (int32_t)values[i];
    return narrowed;
}

mc_status matrix_of_host(mc_context *context, const mc_vsparse *host, mc_matrix **matrix, mc_diag *diag) {
    *matrix = NULL;
    if (host->vectors > INT32_MAX)
        return mc_fail(diag, MC_CANNOT, "there are %" PRId64 " nonzero vectors, kernels take up to %d",
                       host->vectors, INT32_MAX);
    int32_t *row_ptr = narrow(host->row_ptr, host->row_blocks + 1);
    if (row_ptr == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    const mc_vsparse source = mc_slide24_source(host);
    const mc_matrix_config config = {.size = sizeof config,
                                     .type = host->type,
                                     .vec = host->vec,
                                     .rows = host->rows,
                                     .cols = source.cols,
                                     .row_ptr = row_ptr,
                                     .col_idx = source.col_idx,
                                     .values = host->values,
                                     .span = host->source.span};
    mc_status status = mc_matrix_create(context, &config, matrix, diag);
    free(row_ptr);
    return status;
}

mc_status matrix_check(mc_op op, const mc_matrix *matrix, const mc_context *context, mc_diag *diag) {
    const mc_operator *o = operator_of(op); /* NULL: plan_problem_of says so */
    if (context == NULL) return check_handle(context, "context", diag);
    if (o != NULL && !o->matrix.wanted && matrix == NULL) return MC_OK;
    if (o != NULL && !o->matrix.wanted)
        return mc_fail(diag, MC_USAGE, "matrix is set, which %s %s has not", operator_article(o), o->title);
    if (matrix == NULL) return check_handle(matrix, "matrix", diag);
    if (matrix->context != context) return mc_fail(diag, MC_USAGE, "the matrix is of another context");
    return o == NULL || o->csr ? MC_OK : matrix_refuse_borrowed(matrix, diag);
}

const mc_vsparse *matrix_host(const mc_matrix *matrix) {
    static int64_t no_rows[1];
    static const mc_vsparse nothing = {.type = MC_S8, .vec = 1, .row_ptr = no_rows};
    return matrix != NULL ? &matrix->host : &nothing;
}

mc_vsparse matrix_seen_by(const mc_kernel *kernel, const mc_vsparse *host) {
    return kernel == NULL ? mc_slide24_source(host) : *host;
}

void matrix_lock(mc_matrix *matrix) {
    if (matrix != NULL) pthread_mutex_lock(&matrix->lock);
}

void matrix_unlock(mc_matrix *matrix) {
    if (matrix != NULL) pthread_mutex_unlock(&matrix->lock);
}

/* The last one frees it: by then no plan is left, and so no packing. */
static void drop_user(mc_matrix *matrix) {
    pthread_mutex_lock(&matrix->lock);
    bool last = --matrix->users == 0;
    pthread_mutex_unlock(&matrix->lock);
    if (!last) return;
    if (matrix->settled != NULL) drop_user(matrix->settled);
    matrix_free_own(matrix);
    pthread_mutex_destroy(&matrix->lock);
    mc_vsparse_free(&matrix->host);
    free(matrix);
}

void mc_matrix_destroy(mc_matrix *matrix) {
    if (matrix != NULL) drop_user(matrix);
}

/* Of the pattern that a matrix made from device memory keeps. */
static int64_t pattern_bytes(const mc_matrix *matrix) {
    if (matrix->own == NULL) return 0;
    return (int64_t)sizeof(int32_t) * (matrix->host.row_blocks + 1 + matrix->host.vectors);
}

static int64_t packing_bytes(const matrix_packing *packing) {
    int64_t bytes = 0;
    for (size_t i = 0; i < packing->host.array_count && !packing->borrowed; i++)
        bytes += mc_type_size(packing->host.arrays[i].type, packing->host.arrays[i].count);
    return bytes;
}

mc_status mc_matrix_get_info(const mc_matrix *matrix, mc_matrix_info *info, mc_diag *diag) {
    if (matrix == NULL) return check_handle(matrix, "matrix", diag);
    mc_matrix *counted = matrix_now((mc_matrix *)(uintptr_t)matrix); /* for its lock */
    matrix = counted;
    mc_matrix_info all = {.type = matrix->host.type,
                          .vec = matrix->host.vec,
                          .rows = matrix->host.rows,
                          .cols = mc_slide24_source(&matrix->host).cols,
                          .vectors = matrix->host.vectors,
                          .borrowed = matrix_is_borrowed(matrix)};
    pthread_mutex_lock(&counted->lock);
    all.device_bytes = pattern_bytes(matrix);
    for (const matrix_packing *p = matrix->packings; p != NULL; p = p->next)
        all.device_bytes += packing_bytes(p);
    pthread_mutex_unlock(&counted->lock);
    return give_struct(info, INFO_FIRST, &all, sizeof all, "mc_matrix_info", diag);
}

/* -- Packings */

void packing_empty(mc_context *context, matrix_packing *packing) {
    packing_free_ways(context, packing);
    for (size_t i = 0; i < MC_MAX_ARRAYS && !packing->borrowed; i++)
        context_free(context, packing->arrays[i]);
    memset(packing->arrays, 0, sizeof packing->arrays);
    context_free(context, packing->vectors);
    packing->vectors = 0;
    mc_packed_free(&packing->host);
}

void packing_free(mc_context *context, matrix_packing *packing) {
    packing_empty(context, packing);
    mc_kernel_destroy(packing->kernel);
    free(packing);
}

static mc_status upload(mc_context *context, matrix_packing *packing, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < packing->host.array_count && status == MC_OK; i++) {
        const mc_packed_array *array = &packing->host.arrays[i];
        size_t bytes = (size_t)mc_type_size(array->type, array->count);
        status = context_alloc(context, bytes, &packing->arrays[i], diag);
        if (status == MC_OK)
            status = mc_device_upload(context->device, packing->arrays[i], array->data, bytes, diag);
    }
    return status;
}

/* A kernel of its own: that of the plan may be gone when values are replaced. */
static mc_status keep_kernel(matrix_packing *packing, const mc_kernel *kernel, mc_diag *diag) {
    if (kernel == NULL) return MC_OK;
    char *text = mc_kernel_save(kernel);
    if (text == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    mc_status status = mc_kernel_restore(text, &packing->kernel, diag);
    free(text);
    return status;
}

static mc_status pack_on_host(mc_matrix *matrix, const mc_kernel *kernel, matrix_packing *packing,
                              mc_diag *diag) {
    mc_status status = MC_OK;
    if (mc_packs(kernel)) status = matrix_complete(matrix, diag);
    const mc_vsparse seen = matrix_seen_by(kernel, &matrix->host);
    if (status == MC_OK) status = mc_pack(kernel, &seen, &packing->host, diag);
    return status == MC_OK ? upload(matrix->context, packing, diag) : status;
}

/* Where a pattern lies on the device it is packed there, if its format can be. */
static mc_status pack(mc_matrix *matrix, const mc_kernel *kernel, matrix_packing *packing, mc_diag *diag) {
    if (matrix_is_borrowed(matrix)) return matrix_lend(matrix, kernel, packing, diag);
    if (matrix->own == NULL) return pack_on_host(matrix, kernel, packing, diag);
    mc_diag *why = mc_diag_create();
    mc_status status = matrix_pack_on_device(matrix, kernel, packing, why);
    if (status != MC_OK && status != MC_CANNOT) (void)mc_fail(diag, status, "%s", mc_diag_text(why));
    mc_diag_destroy(why);
    return status == MC_CANNOT ? pack_on_host(matrix, kernel, packing, diag) : status;
}

static mc_status packing_new(mc_matrix *matrix, const mc_kernel *kernel, matrix_packing **packing,
                             mc_diag *diag) {
    matrix_packing *made = calloc(1, sizeof *made);
    if (made == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    mc_pack_form(kernel, made->form);
    mc_status status = pack(matrix, kernel, made, diag);
    if (status == MC_OK) status = keep_kernel(made, kernel, diag);
    if (status == MC_OK) *packing = made;
    else packing_free(matrix->context, made);
    return status;
}

static matrix_packing *find_packing(const mc_matrix *matrix, const mc_kernel *kernel) {
    char form[MC_PACK_FORM];
    mc_pack_form(kernel, form);
    matrix_packing *packing = matrix->packings;
    while (packing != NULL && strcmp(packing->form, form) != 0) packing = packing->next;
    return packing;
}

static mc_status find_or_make(mc_matrix *matrix, const mc_kernel *kernel, matrix_packing **packing,
                              mc_diag *diag) {
    *packing = find_packing(matrix, kernel);
    if (*packing != NULL) return MC_OK;
    mc_status status = packing_new(matrix, kernel, packing, diag);
    if (status != MC_OK) return status;
    (*packing)->next = matrix->packings;
    matrix->packings = *packing;
    return MC_OK;
}

mc_status matrix_pack_for(mc_matrix *matrix, const mc_kernel *kernel, matrix_packing **packing,
                          mc_diag *diag) {
    pthread_mutex_lock(&matrix->lock);
    mc_status status = find_or_make(matrix, kernel, packing, diag);
    if (status == MC_OK) {
        (*packing)->users++;
        matrix->users++;
    }
    pthread_mutex_unlock(&matrix->lock);
    return status;
}

/* Values that came from device memory are not to go with the last packing that has them. */
static void keep_values(mc_matrix *matrix, const matrix_packing *last) {
    mc_diag *diag = mc_diag_create();
    if (matrix_fetch_values(matrix, last, diag) != MC_OK)
        context_log(matrix->context, MC_LOG_NOTE, "values of a matrix are lost: %s", mc_diag_text(diag));
    mc_diag_destroy(diag);
}

static void drop_packing(mc_matrix *matrix, matrix_packing *packing) {
    matrix_packing **link = &matrix->packings;
    if (--packing->users > 0) return;
    keep_values(matrix, packing);
    while (*link != packing) link = &(*link)->next;
    *link = packing->next;
    packing_free(matrix->context, packing);
}

void matrix_unpack(mc_matrix *matrix, matrix_packing *packing) {
    pthread_mutex_lock(&matrix->lock);
    drop_packing(matrix, packing);
    pthread_mutex_unlock(&matrix->lock);
    drop_user(matrix);
}
