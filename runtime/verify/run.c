#include "verify/run.h"
#include <stdlib.h>
#include <string.h>
#include "problem/binding_set.h"

enum {
    RUN_BOUNDARY = 256,                             /* device allocations start at a multiple of it */
    RUN_BUFFERS = MC_MAX_ARRAYS + MAX_OPERANDS + 1, /* and a workspace */
    /* What C holds until the kernel writes it: repeated, the number furthest from zero in every integer type,
       and nearly zero in every real one. Sums of wide types, modulo 2^32, may be any number, but hardly all
       of those that a fault leaves unwritten. */
    POISON = 0x80,
    BEHIND = RUN_BOUNDARY,  /* poisoned bytes behind C */
    SIM_MULTIPROCESSORS = 2 /* few, so that thread blocks take turns on the simulator too */
};

/* An output on the device: the matrix that it becomes, what it holds before (NULL: poison), where it lies,
   past its offset, and its name. */
typedef struct run_output {
    mc_dense *to;
    const mc_dense *from;
    uint64_t address;
    unsigned offset;
    char title[OPERAND_TITLE];
} run_output;

/* A run in progress; run_close frees what it has, whatever happened. */
typedef struct device_run {
    mc_device *device;
    const mc_kernel *kernel;
    const mc_run *given;
    plan_problem problem;
    const mc_operator *op;
    mc_packed packed;
    uint64_t buffers[RUN_BUFFERS];
    size_t buffer_count;
    run_output outputs[MAX_OPERANDS];
    size_t output_count;
    mc_dense others[MAX_OPERANDS]; /* further outputs, at the operand's index */
    binding_set bindings;
    mc_tensor_map maps[MC_MAX_MAPS];
    mc_module *module;
    mc_launch launch;
} device_run;

static mc_status check_offset(const operand_row *operand, unsigned offset, mc_diag *diag) {
    char title[OPERAND_TITLE];
    operand_title(operand, title);
    if (offset < RUN_BOUNDARY) return MC_OK;
    return mc_fail(diag, MC_USAGE, "the offset of %s is %u, must be below %d bytes", title, offset,
                   RUN_BOUNDARY);
}

static mc_status run_open(device_run *run, mc_diag *diag) {
    int multiprocessors = mc_device_get_info(run->device)->multiprocessors;
    if (run->given->multiprocessors > 0) multiprocessors = run->given->multiprocessors;
    bind_value(&run->bindings, "multiprocessors",
               multiprocessors > 0 ? multiprocessors : SIM_MULTIPROCESSORS);
    mc_status status =
        plan_problem_measure(run->kernel, &run->given->operands, run->given->ld, &run->problem, diag);
    run->op = operator_of(run->problem.op);
    for (size_t i = 0; status == MC_OK && i < run->op->operand_count; i++)
        status = check_offset(&run->op->operands[i], run->given->offsets[i], diag);
    return status;
}

static void run_close(device_run *run) {
    if (run->module != run->given->module) mc_module_unload(run->module);
    for (size_t i = 0; i < run->buffer_count; i++) mc_device_free(run->device, run->buffers[i]);
    for (size_t i = 0; i < MAX_OPERANDS; i++) mc_dense_free(&run->others[i]);
    mc_packed_free(&run->packed);
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
    bind_value(&run->bindings, name, (int64_t)*address);
    return MC_OK;
}

static mc_status put_array(device_run *run, const char *name, const void *data, size_t bytes, mc_diag *diag) {
    uint64_t address;
    mc_status status = add_buffer(run, name, bytes, 0, &address, diag);
    return status == MC_OK ? mc_device_write(run->device, address, data, bytes, diag) : status;
}

/* Packs the sparse matrix. */
static mc_status put_packed(device_run *run, mc_diag *diag) {
    mc_status status = mc_pack(run->kernel, run->given->operands.matrix, &run->packed, diag);
    for (size_t i = 0; i < run->packed.array_count && status == MC_OK; i++) {
        const mc_packed_array *array = &run->packed.arrays[i];
        status =
            put_array(run, array->name, array->data, (size_t)mc_type_size(array->type, array->count), diag);
    }
    return status;
}

/* Elements from the first to the last, without the gap of the last row, in bytes. */
static size_t span_of(const mc_dense *matrix) {
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

/* Puts MATRIX on the device, OFFSET past a boundary. Gaps stay unwritten there, so that the simulator stops a
   kernel that reads them. */
static mc_status put_dense(device_run *run, const char *name, const mc_dense *matrix, unsigned offset,
                           mc_diag *diag) {
    uint64_t address;
    mc_status status = add_buffer(run, name, span_of(matrix), offset, &address, diag);
    return status == MC_OK ? write_rows(run, address, matrix, diag) : status;
}

/* One by value, more as an array. */
static mc_status put_factors(device_run *run, const operand_row *operand, const float *values,
                             mc_diag *diag) {
    if (!operand_has_factors(&run->problem, operand)) return MC_OK;
    if (operand_is_factors(&run->problem, operand))
        return put_array(run, operand->name, values,
                         (size_t)operand_factors(&run->problem, operand) * sizeof *values, diag);
    run->bindings.items[run->bindings.count++] = mc_bind_f32(operand->name, *values);
    return MC_OK;
}

/* What the simulator finds unwritten there must not be read. */
static mc_status put_workspace(device_run *run, mc_diag *diag) {
    uint64_t address;
    size_t bytes = mc_workspace_bytes(run->kernel, &run->packed, run->problem.n, run->problem.batch);
    if (bytes > 0) return add_buffer(run, MC_WORKSPACE, bytes, 0, &address, diag);
    bind_value(&run->bindings, MC_WORKSPACE, 0);
    return MC_OK;
}

/* What an output in place holds, once more. */
static mc_status begin_output(const device_run *run, const run_output *output, mc_diag *diag) {
    return output->from != NULL ? write_rows(run, output->address, output->from, diag) : MC_OK;
}

static mc_status begin_outputs(const device_run *run, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < run->output_count && status == MC_OK; i++)
        status = begin_output(run, &run->outputs[i], diag);
    return status;
}

/* Poisoned, unless it is in place, and so is what lies in front and behind. */
static mc_status put_output(device_run *run, size_t i, mc_dense *to, mc_diag *diag) {
    const operand_row *operand = &run->op->operands[i];
    run_output *output = &run->outputs[run->output_count++];
    size_t bytes = span_of(to) + BEHIND;
    output->to = to, output->offset = run->given->offsets[i];
    output->from = operand->in_place ? run->given->operands.inputs[i] : NULL;
    operand_title(operand, output->title);
    mc_status status = add_buffer(run, operand->name, bytes, output->offset, &output->address, diag);
    if (status == MC_OK)
        status = mc_device_fill(run->device, output->address - output->offset, POISON, bytes + output->offset,
                                diag);
    return status == MC_OK ? begin_output(run, output, diag) : status;
}

static mc_status put_other(device_run *run, size_t i, mc_diag *diag) {
    mc_dense shape;
    mc_status status =
        operand_whole_shape(&run->problem, &run->op->operands[i], run->given->operands.matrix, &shape, diag);
    if (status == MC_OK)
        status = mc_dense_create(shape.type, shape.rows, shape.cols, shape.ld, &run->others[i], diag);
    return status == MC_OK ? put_output(run, i, &run->others[i], diag) : status;
}

static mc_status put_operand(device_run *run, size_t i, mc_dense *c, mc_diag *diag) {
    const operand_row *operand = &run->op->operands[i];
    const host_operands *host = &run->given->operands;
    if (operand_is_other(&run->problem, operand)) return put_other(run, i, diag);
    if (operand->kind == OPERAND_FACTOR) return put_factors(run, operand, host->factors[i], diag);
    if (operand->kind == OPERAND_VALUES) return MC_OK; /* the packed ones */
    if (!operand_is_there(&run->problem, operand)) return MC_OK;
    if (operand->out) return put_output(run, i, c, diag);
    return put_dense(run, operand->name, host->inputs[i], run->given->offsets[i], diag);
}

/* -- The launch */

static mc_status load(device_run *run, const char *ptx, mc_diag *diag) {
    mc_status status =
        mc_bind_maps(run->device, run->kernel, run->bindings.items, &run->bindings.count, run->maps, diag);
    if (status != MC_OK) return status;
    status = mc_bind(run->kernel, run->bindings.items, run->bindings.count, &run->launch, diag);
    if (status != MC_OK) return status;
    run->module = run->given->module;
    if (run->module != NULL) return MC_OK;
    return mc_module_load(run->device, ptx != NULL ? ptx : mc_kernel_ptx(run->kernel),
                          mc_kernel_contract(run->kernel)->entry, &run->module, diag);
}

/* Index of the first byte that is no longer poison, or COUNT. */
static size_t first_touched(const unsigned char *bytes, size_t count) {
    size_t i = 0;
    while (i < count && bytes[i] == POISON) i++;
    return i;
}

static mc_status check_poison(const device_run *run, const run_output *output, uint64_t address, size_t bytes,
                              const char *where, mc_diag *diag) {
    unsigned char poison[BEHIND];
    mc_status status = mc_device_read(run->device, address, poison, bytes, diag);
    if (status == MC_OK && first_touched(poison, bytes) < bytes)
        status = mc_fail(diag, MC_MISMATCH, "the kernel wrote %s %s", where, output->title);
    return status;
}

static mc_status check_gap(const run_output *output, mc_diag *diag) {
    const mc_dense *c = output->to;
    size_t row_bytes = (size_t)mc_type_size(c->type, c->cols), step = (size_t)mc_type_size(c->type, c->ld);
    int64_t per_byte = mc_type_bytes(c->type) == 0 ? 2 : 1, element = mc_type_size(c->type, 1);
    for (int64_t row = 0; row + 1 < c->rows; row++) {
        const unsigned char *gap = (const unsigned char *)c->data + (size_t)row * step + row_bytes;
        size_t touched = first_touched(gap, step - row_bytes);
        if (touched < step - row_bytes)
            return mc_fail(diag, MC_MISMATCH, "the kernel wrote %s's gap: row %lld, column %lld of %lld",
                           output->title, (long long)row,
                           (long long)((int64_t)(row_bytes + touched) * per_byte / element),
                           (long long)c->cols);
    }
    return MC_OK;
}

static mc_status read_output(const device_run *run, const run_output *output, mc_diag *diag) {
    size_t bytes = span_of(output->to);
    uint64_t begin = output->address - output->offset;
    mc_status status = mc_device_read(run->device, output->address, output->to->data, bytes, diag);
    if (status == MC_OK) status = check_poison(run, output, begin, output->offset, "in front of", diag);
    if (status == MC_OK) status = check_poison(run, output, output->address + bytes, BEHIND, "behind", diag);
    return status == MC_OK ? check_gap(output, diag) : status;
}

static mc_status read_outputs(const device_run *run, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < run->output_count && status == MC_OK; i++)
        status = read_output(run, &run->outputs[i], diag);
    return status;
}

/* Launch number I, of which the bytes must be those that the outputs have. Outputs that are not in place keep
   what the launch before left, so that a kernel that leaves an element out is not found here, but by the
   first launch. */
static mc_status repeat(const device_run *run, int i, unsigned char *bytes, mc_diag *diag) {
    mc_status status = begin_outputs(run, diag);
    if (status == MC_OK) status = mc_module_launch(run->module, &run->launch, diag);
    for (size_t k = 0; k < run->output_count && status == MC_OK; k++) {
        const run_output *output = &run->outputs[k];
        size_t count = span_of(output->to);
        status = mc_device_read(run->device, output->address, bytes, count, diag);
        if (status == MC_OK && memcmp(bytes, output->to->data, count) != 0)
            status = mc_fail(diag, MC_MISMATCH, "launch %d gave other bytes of %s than the first one", i,
                             output->title);
    }
    return status;
}

static mc_status repeat_all(const device_run *run, mc_diag *diag) {
    size_t most = 0;
    for (size_t k = 0; k < run->output_count; k++)
        if (span_of(run->outputs[k].to) > most) most = span_of(run->outputs[k].to);
    unsigned char *bytes = malloc(most);
    mc_status status = bytes != NULL ? MC_OK : mc_fail(diag, MC_NOMEM, "out of memory");
    for (int i = 0; i < run->given->repeats && status == MC_OK; i++) status = repeat(run, i + 2, bytes, diag);
    free(bytes);
    return status;
}

/* What is in place has changed with every launch since the first one. */
static mc_status launch_again(const device_run *run, mc_diag *diag) {
    bool in_place = false;
    for (size_t i = 0; i < run->output_count; i++) in_place |= run->outputs[i].from != NULL;
    if (!in_place) return MC_OK;
    mc_status status = begin_outputs(run, diag);
    return status == MC_OK ? mc_module_launch(run->module, &run->launch, diag) : status;
}

static mc_status launch(device_run *run, const char *ptx, mc_timing *timing, mc_diag *diag) {
    bool timed = timing != NULL && timing->rounds > 0;
    mc_status status = load(run, ptx, diag);
    if (status == MC_OK) status = mc_module_launch(run->module, &run->launch, diag);
    if (status == MC_OK && timed)
        status = mc_module_time(run->module, &run->launch, timing->launches, timing->rounds,
                                &timing->microseconds, diag);
    if (status == MC_OK && timed) status = launch_again(run, diag);
    if (status == MC_OK) status = read_outputs(run, diag); /* of the last launch */
    return status == MC_OK && run->given->repeats > 0 ? repeat_all(run, diag) : status;
}

/* -- The whole */

static mc_status make_out(const device_run *run, mc_dense *out, mc_diag *diag) {
    mc_dense shape;
    mc_status status = operator_out_shape(run->op, &run->problem, run->given->operands.matrix, &shape, diag);
    if (status != MC_OK) return status;
    return mc_dense_create(shape.type, shape.rows, shape.cols, shape.ld, out, diag);
}

static mc_status run_all(device_run *run, const char *ptx, mc_timing *timing, mc_dense *out, mc_diag *diag) {
    mc_status status = put_packed(run, diag);
    if (status == MC_OK && span_of(out) == 0) return MC_OK; /* no element: a grid without blocks */
    for (size_t i = 0; i < run->op->operand_count && status == MC_OK; i++)
        status = put_operand(run, i, out, diag);
    if (status == MC_OK) status = put_workspace(run, diag);
    if (status != MC_OK) return status;
    bind_sizes(&run->bindings, &run->problem);
    bind_value(&run->bindings, "item_count", mc_sampled_items(&run->packed));
    bind_value(&run->bindings, "window_items", mc_sampled_longest(&run->packed));
    return launch(run, ptx, timing, diag);
}

mc_status mc_operator_run(mc_device *device, const mc_kernel *kernel, const char *ptx, const mc_run *given,
                          mc_timing *timing, mc_dense *out, mc_diag *diag) {
    device_run run = {.device = device, .kernel = kernel, .given = given};
    *out = (mc_dense){0};
    if (timing != NULL) timing->microseconds = 0;
    mc_status status = run_open(&run, diag);
    if (status == MC_OK) status = make_out(&run, out, diag);
    if (status == MC_OK) status = run_all(&run, ptx, timing, out, diag);
    for (size_t i = 0; status == MC_OK && given->others != NULL && i < MAX_OPERANDS; i++) {
        given->others[i] = run.others[i];
        run.others[i] = (mc_dense){0};
    }
    run_close(&run);
    if (status != MC_OK) mc_dense_free(out);
    return status;
}
