/* One SpMM on a device, from packing to the result in host memory. */
#include <stdlib.h>
#include <string.h>
#include "mcrt.h"

enum {
    BOUNDARY = 256, /* device allocations start at a multiple of it */
    /* What C holds until the kernel writes it: repeated, the number furthest from zero in every integer type, and nearly zero in every
       real one. Sums of wide types, modulo 2^32, may be any number, but hardly all of those that a fault leaves unwritten. */
    POISON = 0x80,
    SIM_MULTIPROCESSORS = 2,        /* few, so that thread blocks take turns on the simulator too */
    MAX_BUFFERS = MC_MAX_ARRAYS + 4 /* B, C, scales, biases */
};

/* A run in progress; the buffers are freed whatever happened. */
typedef struct spmm_run {
    mc_device *device;
    const mc_kernel *kernel;
    const mc_spmm *problem;
    mc_output output;
    mc_packed packed;
    uint64_t buffers[MAX_BUFFERS];
    size_t buffer_count;
    uint64_t b_address, c_address; /* past their offsets */
    mc_binding bindings[MAX_BUFFERS + 7];
    size_t binding_count;
    mc_tensor_map map;
    mc_module *module;
    mc_launch launch;
} spmm_run;

static void run_close(spmm_run *run) {
    mc_module_unload(run->module);
    for (size_t i = 0; i < run->buffer_count; i++) mc_device_free(run->device, run->buffers[i]);
    mc_packed_free(&run->packed);
}

static void run_bind(spmm_run *run, const char *name, int64_t value) {
    run->bindings[run->binding_count++] = (mc_binding){name, value};
}

/* Allocates BYTES that lie OFFSET past a boundary and binds NAME to them. */
static mc_status add_buffer(spmm_run *run, const char *name, size_t bytes, unsigned offset, uint64_t *address,
                            mc_diag *diag) {
    uint64_t base;
    mc_status status = mc_device_alloc(run->device, bytes + offset, &base, diag);
    if (status != MC_OK) return status;
    run->buffers[run->buffer_count++] = base;
    *address = base + offset;
    run_bind(run, name, (int64_t)*address);
    return MC_OK;
}

/* Elements from the first to the last of a row-major matrix, without the gap of the last row. */
static int64_t span_elements(int64_t rows, int64_t cols, int64_t ld) {
    return rows == 0 || cols == 0 ? 0 : (rows - 1) * ld + cols;
}

/* -- Into the device */

static mc_status check_factor(mc_per per, const float *given, const char *name, mc_diag *diag) {
    if ((per != MC_PER_NONE) == (given != NULL)) return MC_OK;
    return mc_fail(diag, MC_CANNOT, given != NULL ? "the kernel takes no %s" : "the kernel wants its %s",
                   name);
}

static mc_status check_problem(const spmm_run *run, mc_diag *diag) {
    const mc_spmm *problem = run->problem;
    const char *rhs = mc_kernel_field_text(run->kernel, "rhs");
    if (problem->b->rows != problem->a->cols)
        return mc_fail(diag, MC_CANNOT, "A has %lld columns, B %lld rows", (long long)problem->a->cols,
                       (long long)problem->b->rows);
    if (rhs != NULL && strcmp(rhs, mc_type_text(problem->b->type)) != 0)
        return mc_fail(diag, MC_CANNOT, "the kernel reads B as %s, this one is %s", rhs,
                       mc_type_text(problem->b->type));
    if (problem->ldc < problem->b->cols)
        return mc_fail(diag, MC_CANNOT, "ldc is %lld, less than the row length n of %lld",
                       (long long)problem->ldc, (long long)problem->b->cols);
    if (problem->b_offset >= BOUNDARY || problem->c_offset >= BOUNDARY)
        return mc_fail(diag, MC_USAGE, "offsets of B and C are below %d bytes", BOUNDARY);
    mc_status status = check_factor(run->output.scale, problem->scale, "scale", diag);
    return status != MC_OK ? status : check_factor(run->output.bias, problem->bias, "bias", diag);
}

static mc_status upload_packed(spmm_run *run, mc_diag *diag) {
    mc_status status = mc_pack(run->kernel, run->problem->a, &run->packed, diag);
    for (size_t i = 0; i < run->packed.array_count && status == MC_OK; i++) {
        const mc_packed_array *array = &run->packed.arrays[i];
        size_t bytes = (size_t)mc_type_size(array->type, array->count);
        uint64_t address;
        status = add_buffer(run, array->name, bytes, 0, &address, diag);
        if (status == MC_OK) status = mc_device_write(run->device, address, array->data, bytes, diag);
    }
    return status;
}

/* Row by row where there is a gap: the gap stays unwritten on the device, so that the simulator stops a
   kernel that reads it. */
static mc_status upload_rows(const spmm_run *run, const mc_dense *b, mc_diag *diag) {
    size_t step = (size_t)mc_type_size(b->type, b->ld), row_bytes = (size_t)mc_type_size(b->type, b->cols);
    mc_status status = MC_OK;
    if (step == row_bytes)
        return mc_device_write(run->device, run->b_address, b->data, (size_t)b->rows * row_bytes, diag);
    for (size_t row = 0; row < (size_t)b->rows && status == MC_OK; row++)
        status = mc_device_write(run->device, run->b_address + row * step, (const char *)b->data + row * step,
                                 row_bytes, diag);
    return status;
}

static mc_status upload_b(spmm_run *run, mc_diag *diag) {
    const mc_dense *b = run->problem->b;
    size_t bytes = (size_t)mc_type_size(b->type, span_elements(b->rows, b->cols, b->ld));
    mc_status status = add_buffer(run, "b", bytes, run->problem->b_offset, &run->b_address, diag);
    return status != MC_OK ? status : upload_rows(run, b, diag);
}

/* Scales or biases: one by value, more as an array. */
static mc_status upload_factors(spmm_run *run, const char *name, mc_per per, const float *values,
                                mc_diag *diag) {
    int64_t count = mc_per_count(per, run->problem->a->rows, run->problem->b->cols);
    uint64_t address;
    if (per == MC_PER_NONE) return MC_OK;
    if (per == MC_PER_TENSOR) {
        run->bindings[run->binding_count++] = mc_bind_f32(name, *values);
        return MC_OK;
    }
    mc_status status = add_buffer(run, name, (size_t)count * sizeof *values, 0, &address, diag);
    return status != MC_OK
               ? status
               : mc_device_write(run->device, address, values, (size_t)count * sizeof *values, diag);
}

static size_t c_bytes(const mc_dense *c) {
    return (size_t)span_elements(c->rows, c->cols, c->ld) * mc_type_bytes(c->type);
}

static mc_status poison_c(spmm_run *run, const mc_dense *c, mc_diag *diag) {
    unsigned offset = run->problem->c_offset;
    mc_status status = add_buffer(run, "c", c_bytes(c), offset, &run->c_address, diag);
    if (status != MC_OK) return status;
    return mc_device_fill(run->device, run->c_address - offset, POISON, c_bytes(c) + offset, diag);
}

static mc_status prepare_launch(spmm_run *run, const char *ptx, mc_diag *diag) {
    const mc_spmm *problem = run->problem;
    run_bind(run, "m", problem->a->rows);
    run_bind(run, "n", problem->b->cols);
    run_bind(run, "k", problem->a->cols);
    run_bind(run, "ldb", problem->b->ld);
    run_bind(run, "ldc", problem->ldc);
    int multiprocessors = mc_device_get_info(run->device)->multiprocessors;
    run_bind(run, "multiprocessors", multiprocessors > 0 ? multiprocessors : SIM_MULTIPROCESSORS);
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

/* -- Back from the device */

/* Index of the first byte that is no longer poison, or COUNT. */
static size_t first_touched(const unsigned char *bytes, size_t count) {
    size_t i = 0;
    while (i < count && bytes[i] == POISON) i++;
    return i;
}

static mc_status check_lead(const spmm_run *run, mc_diag *diag) {
    unsigned char lead[BOUNDARY];
    unsigned offset = run->problem->c_offset;
    mc_status status = mc_device_read(run->device, run->c_address - offset, lead, offset, diag);
    if (status == MC_OK && first_touched(lead, offset) < offset)
        status = mc_fail(diag, MC_MISMATCH, "the kernel wrote in front of C");
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

static mc_status download_c(const spmm_run *run, mc_dense *c, mc_diag *diag) {
    mc_status status = mc_device_read(run->device, run->c_address, c->data, c_bytes(c), diag);
    if (status == MC_OK) status = check_lead(run, diag);
    if (status == MC_OK) status = check_gap(c, diag);
    return status;
}

/* -- The whole */

static mc_status launch_and_time(const spmm_run *run, mc_spmm_timing *timing, mc_dense *c, mc_diag *diag) {
    mc_status status = mc_module_launch(run->module, &run->launch, diag);
    if (status == MC_OK && timing != NULL && timing->rounds > 0)
        status = mc_module_time(run->module, &run->launch, timing->launches, timing->rounds,
                                &timing->microseconds, diag);
    return status == MC_OK ? download_c(run, c, diag) : status; /* of the last launch */
}

static mc_status run_all(spmm_run *run, const char *ptx, mc_spmm_timing *timing, mc_dense *c, mc_diag *diag) {
    mc_status status = upload_packed(run, diag);
    if (status == MC_OK && c_bytes(c) == 0) return MC_OK; /* no element of C: a grid without blocks */
    if (status == MC_OK) status = upload_b(run, diag);
    if (status == MC_OK) status = upload_factors(run, "scale", run->output.scale, run->problem->scale, diag);
    if (status == MC_OK) status = upload_factors(run, "bias", run->output.bias, run->problem->bias, diag);
    if (status == MC_OK) status = poison_c(run, c, diag);
    if (status == MC_OK) status = prepare_launch(run, ptx, diag);
    if (status == MC_OK) status = launch_and_time(run, timing, c, diag);
    return status;
}

mc_status mc_spmm_run(mc_device *device, const mc_kernel *kernel, const char *ptx, const mc_spmm *problem,
                      mc_spmm_timing *timing, mc_dense *c, mc_diag *diag) {
    spmm_run run = {.device = device, .kernel = kernel, .problem = problem};
    *c = (mc_dense){0};
    if (timing != NULL) timing->microseconds = 0;
    mc_status status = mc_output_of(kernel, &run.output, diag);
    if (status == MC_OK) status = check_problem(&run, diag);
    if (status == MC_OK)
        status = mc_dense_create(run.output.type, problem->a->rows, problem->b->cols, problem->ldc, c, diag);
    if (status == MC_OK) status = run_all(&run, ptx, timing, c, diag);
    run_close(&run);
    if (status != MC_OK) mc_dense_free(c);
    return status;
}
