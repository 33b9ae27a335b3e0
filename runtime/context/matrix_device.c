/* New values for the vectors of a matrix, from device memory: a kernel of the family `values` for each
   packing (gen/ops/values). What it wants to know of the packing is made when values first come so. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "context/matrix.h"
#include "matrix/slide24.h"
#include "problem/bind.h"

#define VALUES_FIRST STRUCT_SIZE_TO(mc_device_values, ld)

enum { FIELDS_TEXT = 160, NOWHERE = 256 /* stands for an address until there is one */, HOLD = 4 };

/* -- The kernel */

static const char *unit_of(const value_code *code) {
    if (!mc_type_is_real(code->type)) return mc_type_bits(code->unit) == 4 ? "half" : "byte";
    return code->type == MC_TF32 ? "rounded" : "element";
}

/* Values of masks are f32, and stay as they are. */
static const char *type_of(const value_code *code) {
    return mc_type_text(code->type == MC_F32 ? MC_TF32 : code->type);
}

/* As the kernels that read the packing have them: the words of the field, in the order of mc_digits. */
static const char *digits_of(const value_code *code) {
    static const char *const words[] = {"top-signed", "balanced", "offset"};
    return mc_type_is_real(code->type) ? words[0] : words[code->coding];
}

static mc_status obtain_kernel(mc_context *context, const packed_slots *slots, mc_values_from from,
                               loaded_kernel **kernel, mc_diag *diag) {
    static const char *const froms[] = {"vectors", "rows", "columns"};
    char fields[FIELDS_TEXT];
    snprintf(fields, sizeof fields, "lhs=%s unit=%s digits=%s from=%s vec=%d group=%d hold=%d",
             type_of(&slots->code), unit_of(&slots->code), digits_of(&slots->code), froms[from], slots->vec,
             slots->group, HOLD);
    return helper_obtain(context, "values", fields, kernel, diag);
}

/* -- What it reads of the packing */

static mc_status upload(mc_context *context, const void *data, size_t bytes, mc_address *address,
                        mc_diag *diag) {
    mc_status status = context_alloc(context, bytes, address, diag);
    return status == MC_OK ? mc_device_upload(context->device, *address, data, bytes, diag) : status;
}

static int64_t slot_count(const packed_slots *slots) { return slots->groups * slots->group; }

static mc_status upload_vectors(mc_context *context, const packed_slots *slots, mc_address *address,
                                mc_diag *diag) {
    size_t count = (size_t)slot_count(slots);
    return upload(context, slots->vectors, count * sizeof *slots->vectors, address, diag);
}

/* The first row and the column of each vector, as slots hold them. */
typedef struct vector_place {
    int32_t row, column;
} vector_place;

static void place_vectors(const mc_vsparse *a, vector_place *places) {
    for (int64_t b = 0; b < a->row_blocks; b++)
        for (int64_t v = a->row_ptr[b]; v < a->row_ptr[b + 1]; v++)
            places[v] = (vector_place){(int32_t)(b * a->vec), a->col_idx[v]};
}

static vector_place place_slot(const mc_matrix *matrix, const packed_slots *slots, int64_t index,
                               const vector_place *places) {
    const slot_place at = packed_slot_place(slots, index, matrix->host.vec);
    return (vector_place){places[at.vector].row + at.row, places[at.vector].column};
}

static mc_status upload_places(mc_matrix *matrix, const packed_slots *slots, mc_address *address,
                               mc_diag *diag) {
    int64_t count = slot_count(slots);
    vector_place *places = mcrt_array(matrix->host.vectors, sizeof *places),
                 *all = mcrt_array(count, sizeof *all);
    mc_status status = MC_OK;
    if (places == NULL || all == NULL) status = mcrt_no_memory(diag, count, "slots");
    const mc_vsparse source = mc_slide24_source(&matrix->host);
    if (status == MC_OK) place_vectors(&source, places);
    for (int64_t i = 0; i < count && status == MC_OK; i++)
        all[i] = slots->vectors[i] >= 0 ? place_slot(matrix, slots, i, places) : (vector_place){-1, 0};
    if (status == MC_OK) status = upload(matrix->context, all, (size_t)count * sizeof *all, address, diag);
    free(places);
    free(all);
    return status;
}

/* Of a packing whose slots the device knows. */
static mc_status put_places(device_work *work, const mc_matrix *matrix, const matrix_packing *packing,
                            mc_address *address, mc_diag *diag) {
    const int64_t count = slot_count(&packing->slots);
    mc_status status = context_alloc(work->context, (size_t)count * sizeof(vector_place), address, diag);
    const mc_binding bindings[] = {
        {"vectors", (int64_t)packing->vectors},  {"offsets", (int64_t)matrix->offsets},
        {"columns", (int64_t)matrix->columns},   {"places", (int64_t)*address},
        {"row_blocks", matrix->host.row_blocks}, {"slots", count}};
    if (status != MC_OK) return status;
    return work_put_step(work, "places", matrix->host.vec, bindings, sizeof bindings / sizeof *bindings,
                         diag);
}

/* -- A way */

static int find_param(const mc_contract *contract, const char *name) {
    for (size_t i = 0; i < contract->param_count; i++)
        if (strcmp(contract->params[i].name, name) == 0) return (int)i;
    return -1;
}

static mc_status bind_way(const matrix_packing *packing, values_way *way, mc_diag *diag) {
    const mc_kernel *kernel = way->kernel->kernel;
    const size_t array = (size_t)(packing_values(packing) - packing->host.arrays);
    const mc_binding bindings[] = {{"slots", (int64_t)way->slots},
                                   {"pieces", (int64_t)packing->pieces},
                                   {"source", NOWHERE},
                                   {"values", (int64_t)packing->arrays[array]},
                                   {"groups", packing->slots.groups},
                                   {"lds", 1},
                                   {"m", 0}};
    way->source = find_param(mc_kernel_contract(kernel), "source");
    way->ld = find_param(mc_kernel_contract(kernel), "lds");
    mc_status status = mc_bind(kernel, bindings, sizeof bindings / sizeof *bindings, &way->launch, diag);
    return status == MC_OK ? mc_module_prepare(way->kernel->module, &way->launch, diag) : status;
}

static void free_way(mc_context *context, const matrix_packing *packing, values_way *way) {
    if (way->slots != packing->vectors) context_free(context, way->slots);
    if (way->kernel != NULL) kernels_release(context, way->kernel);
    *way = (values_way){0};
}

void packing_free_ways(mc_context *context, matrix_packing *packing) {
    for (int from = MC_FROM_VECTORS; from <= MC_FROM_COLUMNS; from++)
        free_way(context, packing, &packing->ways[from]);
    context_free(context, packing->pieces);
    packing->pieces = 0;
    packed_slots_free(&packing->slots);
}

static mc_status find_slots(mc_matrix *matrix, matrix_packing *packing, mc_diag *diag) {
    if (packing->slots.array != NULL) return MC_OK;
    packed_slots *slots = &packing->slots;
    const mc_vsparse seen = matrix_seen_by(packing->kernel, &matrix->host);
    mc_status status = mc_pack_slots(packing->kernel, &seen, slots, diag);
    if (status == MC_OK)
        status = upload(matrix->context, slots->pieces, (size_t)slots->period * sizeof *slots->pieces,
                        &packing->pieces, diag);
    if (status != MC_OK) packing_free_ways(matrix->context, packing);
    return status;
}

/* Where a way's kernel finds which vectors slots hold. */
static mc_status make_slots(device_work *work, mc_matrix *matrix, matrix_packing *packing,
                            mc_values_from from, mc_address *slots, mc_diag *diag) {
    const bool on_device = packing->vectors != 0;
    if (from != MC_FROM_VECTORS)
        return on_device ? put_places(work, matrix, packing, slots, diag)
                         : upload_places(matrix, &packing->slots, slots, diag);
    if (!on_device) return upload_vectors(matrix->context, &packing->slots, slots, diag);
    *slots = packing->vectors;
    return MC_OK;
}

mc_status packing_make_way(device_work *work, mc_matrix *matrix, matrix_packing *packing, mc_values_from from,
                           mc_diag *diag) {
    values_way *way = &packing->ways[from];
    mc_status status = find_slots(matrix, packing, diag);
    if (status != MC_OK || way->kernel != NULL || packing->slots.groups == 0) return status;
    status = make_slots(work, matrix, packing, from, &way->slots, diag);
    if (status == MC_OK) status = obtain_kernel(matrix->context, &packing->slots, from, &way->kernel, diag);
    if (status == MC_OK) status = bind_way(packing, way, diag);
    if (status != MC_OK) free_way(matrix->context, packing, way);
    return status;
}

/* -- The whole */

static mc_status check_ld(const mc_matrix *matrix, mc_device_values *values, mc_diag *diag) {
    const mc_vsparse source = mc_slide24_source(&matrix->host), *a = &source;
    const bool rows = values->from == MC_FROM_ROWS;
    const int64_t length = rows ? a->cols : a->rows;
    if (values->from == MC_FROM_VECTORS) {
        if (values->ld == 0) return MC_OK;
        return mc_fail(diag, MC_USAGE, "ld is %" PRId64 ", which vectors have not", values->ld);
    }
    if (values->ld == 0) values->ld = length > 0 ? length : 1;
    if (values->ld < length || values->ld > INT32_MAX)
        return mc_fail(diag, MC_USAGE, "ld is %" PRId64 ", must be %" PRId64 ", the %s, to %d", values->ld,
                       length, rows ? "columns" : "rows", INT32_MAX);
    if (mc_type_bytes(a->type) > 0 || values->ld % 2 == 0) return MC_OK;
    return mc_fail(diag, MC_USAGE, "ld is %" PRId64 ", must be even: two elements of %s share a byte",
                   values->ld, mc_type_text(a->type));
}

static mc_status check_source(const mc_matrix *matrix, const mc_device_values *values, mc_diag *diag) {
    const size_t bytes = mc_type_bytes(matrix->host.type);
    if ((unsigned)values->from > MC_FROM_COLUMNS)
        return mc_fail(diag, MC_USAGE, "from is %d, must be an mc_values_from", (int)values->from);
    if (values->address == 0 && matrix->host.vectors > 0) return mc_fail(diag, MC_USAGE, "address is 0");
    if (bytes > 1 && values->address % bytes != 0)
        return mc_fail(diag, MC_CANNOT,
                       "address is 0x%" PRIx64 ", which is not a multiple of the %zu bytes of %s",
                       values->address, bytes, mc_type_text(matrix->host.type));
    return MC_OK;
}

mc_status matrix_make_ways(mc_matrix *matrix, mc_values_from from, mc_diag *diag) {
    device_work work;
    bool any = false;
    mc_status status = work_begin_own(&work, matrix->context, diag);
    for (matrix_packing *p = matrix->packings; p != NULL && status == MC_OK; p = p->next) {
        if (packing_values(p) == NULL) continue;
        any = true;
        status = packing_make_way(&work, matrix, p, from, diag);
    }
    status = work_end(&work, status, diag);
    if (status != MC_OK || any) return status;
    return mc_fail(diag, MC_CANNOT,
                   "no plan has values of the matrix: there must be one before they are set");
}

mc_status packing_put_values(matrix_packing *packing, mc_values_from from, mc_address source, int64_t ld,
                             void *stream, mc_diag *diag) {
    const values_way *way = &packing->ways[from];
    if (way->kernel == NULL) return MC_OK;
    mc_launch launch = way->launch;
    launch.values[way->source] = source;
    if (way->ld >= 0) launch.values[way->ld] = (uint64_t)ld;
    atomic_store_explicit(&packing->new_on, (uintptr_t)stream + 1, memory_order_relaxed);
    return mc_module_put(way->kernel->module, &launch, stream, diag);
}

/* Everything is made before anything is put on the stream. */
static mc_status put_values(mc_matrix *matrix, const mc_device_values *values, void *stream, mc_diag *diag) {
    mc_status status = matrix_make_ways(matrix, values->from, diag);
    if (status != MC_OK) return status;
    matrix->device_values = true;
    for (matrix_packing *p = matrix->packings; p != NULL && status == MC_OK; p = p->next)
        status = packing_put_values(p, values->from, values->address, values->ld, stream, diag);
    return status;
}

mc_status mc_matrix_set_device_values(mc_matrix *matrix, const mc_device_values *values, void *stream,
                                      mc_diag *diag) {
    mc_device_values whole;
    context_visit visit;
    if (matrix == NULL) return check_handle(matrix, "matrix", diag);
    matrix = matrix_now(matrix);
    mc_status status = take_struct(&whole, sizeof whole, values, VALUES_FIRST, "mc_device_values", diag);
    if (status == MC_OK) status = matrix_refuse_borrowed(matrix, diag);
    if (status == MC_OK) status = check_source(matrix, &whole, diag);
    if (status == MC_OK) status = check_ld(matrix, &whole, diag);
    if (status != MC_OK || matrix->host.vectors == 0) return status;
    matrix_lock(matrix);
    status = context_enter(matrix->context, &visit, diag);
    if (status == MC_OK) status = put_values(matrix, &whole, stream, diag);
    context_leave(matrix->context, &visit);
    matrix_unlock(matrix);
    return status;
}

/* -- The way back */

/* A packing that has what came from device memory and can be read back, but for EXCEPT. */
static const matrix_packing *other_packing(const mc_matrix *matrix, const matrix_packing *except) {
    const matrix_packing *p = matrix->packings;
    while (p != NULL && (p == except || p->slots.vectors == NULL)) p = p->next;
    return p;
}

static mc_status read_packing(mc_matrix *matrix, const matrix_packing *packing, mc_diag *diag) {
    const mc_packed_array *array = packing_values(packing);
    const size_t bytes = (size_t)mc_type_size(array->type, array->count);
    void *values = mcrt_array((int64_t)bytes, 1);
    if (values == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    mc_status status = mc_device_read(matrix->context->device, packing->arrays[array - packing->host.arrays],
                                      values, bytes, diag);
    if (status == MC_OK) packed_slots_take(&packing->slots, values, &matrix->host);
    free(values);
    return status;
}

/* They lie as the host side has them. */
static mc_status read_own(mc_matrix *matrix, mc_diag *diag) {
    mc_vsparse *host = &matrix->host;
    const int64_t bytes = mc_type_size(host->type, host->vectors * host->vec);
    void *stream = NULL;
    if (host->values == NULL) host->values = mcrt_array(bytes, 1);
    if (host->values == NULL) return mcrt_no_memory(diag, host->vectors, "nonzero vectors");
    mc_status status = mc_device_own_stream(matrix->context->device, &stream, diag);
    if (status != MC_OK) return status;
    return mc_device_read_on(matrix->context->device, matrix_own_values(matrix), host->values, (size_t)bytes,
                             stream, diag);
}

mc_status matrix_fetch_values(mc_matrix *matrix, const matrix_packing *except, mc_diag *diag) {
    if (!matrix->device_values) return MC_OK;
    if (matrix->own != NULL) return except == NULL ? read_own(matrix, diag) : MC_OK;
    const matrix_packing *other = other_packing(matrix, except);
    if (except == NULL) return other != NULL ? read_packing(matrix, other, diag) : MC_OK;
    return other == NULL && except->slots.vectors != NULL ? read_packing(matrix, except, diag) : MC_OK;
}
