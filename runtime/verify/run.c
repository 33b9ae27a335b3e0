#include "verify/run.h"
#include <string.h>

enum {
    /* What C holds until the kernel writes it: repeated, the number furthest from zero in every integer type,
       and nearly zero in every real one. Sums of wide types, modulo 2^32, may be any number, but hardly all
       of those that a fault leaves unwritten. */
    POISON = 0x80,
    BEHIND = RUN_BOUNDARY,  /* poisoned bytes behind C */
    SIM_MULTIPROCESSORS = 2 /* few, so that thread blocks take turns on the simulator too */
};

mc_status run_open(device_run *run, mc_device *device, const mc_kernel *kernel, mc_diag *diag) {
    int multiprocessors = mc_device_get_info(device)->multiprocessors;
    run->device = device;
    run->kernel = kernel;
    run_bind(run, "multiprocessors", multiprocessors > 0 ? multiprocessors : SIM_MULTIPROCESSORS);
    return mc_output_of(kernel, &run->output, diag);
}

void run_close(device_run *run) {
    mc_module_unload(run->module);
    for (size_t i = 0; i < run->buffer_count; i++) mc_device_free(run->device, run->buffers[i]);
    mc_packed_free(&run->packed);
}

void run_bind(device_run *run, const char *name, int64_t value) {
    run->bindings[run->binding_count++] = (mc_binding){name, value};
}

/* -- What a problem must be */

mc_status run_check_type(const device_run *run, const char *name, const char *field, const mc_dense *matrix,
                         mc_diag *diag) {
    const char *want = mc_kernel_field_text(run->kernel, field), *type = mc_type_text(matrix->type);
    if (want == NULL || strcmp(want, type) == 0) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "the kernel reads %s as %s, this one is %s", name, want, type);
}

mc_status run_check_factor(mc_per per, const float *given, const char *name, mc_diag *diag) {
    if ((per != MC_PER_NONE) == (given != NULL)) return MC_OK;
    return mc_fail(diag, MC_CANNOT, given != NULL ? "the kernel takes no %s" : "the kernel wants its %s",
                   name);
}

mc_status run_check_offset(const char *name, unsigned offset, mc_diag *diag) {
    if (offset < RUN_BOUNDARY) return MC_OK;
    return mc_fail(diag, MC_USAGE, "the offset of %s is %u, must be below %d bytes", name, offset,
                   RUN_BOUNDARY);
}

/* -- Into the device */

/* Allocates BYTES that lie OFFSET past a boundary, and binds NAME to them. */
static mc_status add_buffer(device_run *run, const char *name, size_t bytes, unsigned offset,
                            uint64_t *address, mc_diag *diag) {
    uint64_t base;
    mc_status status = mc_device_alloc(run->device, bytes + offset, &base, diag);
    if (status != MC_OK) return status;
    run->buffers[run->buffer_count++] = base;
    *address = base + offset;
    run_bind(run, name, (int64_t)*address);
    return MC_OK;
}

static mc_status put_array(device_run *run, const char *name, const void *data, size_t bytes, mc_diag *diag) {
    uint64_t address;
    mc_status status = add_buffer(run, name, bytes, 0, &address, diag);
    return status == MC_OK ? mc_device_write(run->device, address, data, bytes, diag) : status;
}

mc_status run_put_packed(device_run *run, const mc_vsparse *matrix, mc_diag *diag) {
    mc_status status = mc_pack(run->kernel, matrix, &run->packed, diag);
    for (size_t i = 0; i < run->packed.array_count && status == MC_OK; i++) {
        const mc_packed_array *array = &run->packed.arrays[i];
        status =
            put_array(run, array->name, array->data, (size_t)mc_type_size(array->type, array->count), diag);
    }
    return status;
}

size_t run_span(const mc_dense *matrix) {
    if (matrix->rows == 0 || matrix->cols == 0) return 0;
    return (size_t)mc_type_size(matrix->type, (matrix->rows - 1) * matrix->ld + matrix->cols);
}

/* Row by row where there is a gap. */
static mc_status write_rows(const device_run *run, uint64_t address, const mc_dense *matrix, mc_diag *diag) {
    size_t step = (size_t)mc_type_size(matrix->type, matrix->ld),
           row_bytes = (size_t)mc_type_size(matrix->type, matrix->cols);
    mc_status status = MC_OK;
    if (step == row_bytes)
        return mc_device_write(run->device, address, matrix->data, (size_t)matrix->rows * row_bytes, diag);
    for (size_t row = 0; row < (size_t)matrix->rows && status == MC_OK; row++)
        status = mc_device_write(run->device, address + row * step, (const char *)matrix->data + row * step,
                                 row_bytes, diag);
    return status;
}

mc_status run_put_dense(device_run *run, const char *name, const mc_dense *matrix, unsigned offset,
                        mc_diag *diag) {
    uint64_t address;
    mc_status status = add_buffer(run, name, run_span(matrix), offset, &address, diag);
    return status == MC_OK ? write_rows(run, address, matrix, diag) : status;
}

/* One by value, more as an array. */
mc_status run_put_factors(device_run *run, const char *name, mc_per per, const float *values, int64_t rows,
                          int64_t cols, mc_diag *diag) {
    if (per == MC_PER_NONE) return MC_OK;
    if (per != MC_PER_TENSOR)
        return put_array(run, name, values, (size_t)mc_per_count(per, rows, cols) * sizeof *values, diag);
    run->bindings[run->binding_count++] = mc_bind_f32(name, *values);
    return MC_OK;
}

mc_status run_put_c(device_run *run, const mc_dense *c, unsigned offset, mc_diag *diag) {
    size_t bytes = run_span(c) + BEHIND;
    mc_status status = add_buffer(run, "c", bytes, offset, &run->c_address, diag);
    run->c_offset = offset;
    if (status != MC_OK) return status;
    return mc_device_fill(run->device, run->c_address - offset, POISON, bytes + offset, diag);
}

/* -- The launch */

static mc_status load(device_run *run, const char *ptx, mc_diag *diag) {
    mc_binding map;
    mc_status status =
        mc_bind_map(run->device, run->kernel, run->bindings, run->binding_count, &run->map, &map, diag);
    if (status != MC_OK) return status;
    if (map.name != NULL) run->bindings[run->binding_count++] = map;
    status = mc_bind(run->kernel, run->bindings, run->binding_count, &run->launch, diag);
    if (status != MC_OK) return status;
    return mc_module_load(run->device, ptx != NULL ? ptx : mc_kernel_ptx(run->kernel),
                          mc_kernel_contract(run->kernel)->entry, &run->module, diag);
}

/* Index of the first byte that is no longer poison, or COUNT. */
static size_t first_touched(const unsigned char *bytes, size_t count) {
    size_t i = 0;
    while (i < count && bytes[i] == POISON) i++;
    return i;
}

static mc_status check_poison(const device_run *run, uint64_t address, size_t bytes, const char *where,
                              mc_diag *diag) {
    unsigned char poison[BEHIND];
    mc_status status = mc_device_read(run->device, address, poison, bytes, diag);
    if (status == MC_OK && first_touched(poison, bytes) < bytes)
        status = mc_fail(diag, MC_MISMATCH, "the kernel wrote %s C", where);
    return status;
}

static mc_status check_gap(const mc_dense *c, mc_diag *diag) {
    size_t element = mc_type_bytes(c->type);
    size_t gap_bytes = (size_t)(c->ld - c->cols) * element;
    for (int64_t row = 0; row + 1 < c->rows; row++) {
        const unsigned char *gap = (const unsigned char *)c->data + (size_t)(row * c->ld + c->cols) * element;
        size_t touched = first_touched(gap, gap_bytes);
        if (touched < gap_bytes)
            return mc_fail(diag, MC_MISMATCH, "the kernel wrote C's gap: row %lld, column %lld of %lld",
                           (long long)row, (long long)(c->cols + (int64_t)(touched / element)),
                           (long long)c->cols);
    }
    return MC_OK;
}

static mc_status read_c(const device_run *run, mc_dense *c, mc_diag *diag) {
    mc_status status = mc_device_read(run->device, run->c_address, c->data, run_span(c), diag);
    if (status == MC_OK)
        status = check_poison(run, run->c_address - run->c_offset, run->c_offset, "in front of", diag);
    if (status == MC_OK) status = check_poison(run, run->c_address + run_span(c), BEHIND, "behind", diag);
    return status == MC_OK ? check_gap(c, diag) : status;
}

mc_status run_launch(device_run *run, const char *ptx, mc_timing *timing, mc_dense *c, mc_diag *diag) {
    mc_status status = load(run, ptx, diag);
    if (status == MC_OK) status = mc_module_launch(run->module, &run->launch, diag);
    if (status == MC_OK && timing != NULL && timing->rounds > 0)
        status = mc_module_time(run->module, &run->launch, timing->launches, timing->rounds,
                                &timing->microseconds, diag);
    return status == MC_OK ? read_c(run, c, diag) : status; /* of the last launch */
}
