#include "product_batch.h"
#include <stdlib.h>
#include <string.h>

enum { POISON = 0x80, BEHIND = 256, MULTIPROCESSORS = 2 };

static mc_status add_buffer(product_batch *b, const char *name, size_t bytes, unsigned offset,
                            uint64_t *address, mc_diag *diag) {
    uint64_t base = 0;
    mc_status status = mc_device_alloc(b->device, bytes + offset, &base, diag);
    if (status != MC_OK) return status;
    b->buffers[b->buffer_count++] = base;
    *address = base + offset;
    bind_value(&b->bindings, name, (int64_t)*address);
    return MC_OK;
}

static mc_status put_array(product_batch *b, const char *name, const void *data, size_t bytes,
                           mc_diag *diag) {
    uint64_t address = 0;
    mc_status status = add_buffer(b, name, bytes, 0, &address, diag);
    return status == MC_OK ? mc_device_write(b->device, address, data, bytes, diag) : status;
}

/* -- What all products have */

static mc_status put_packed(product_batch *b, const mc_vsparse *matrix, mc_diag *diag) {
    if (!b->op->matrix.wanted) return MC_OK;
    mc_status status = mc_pack(b->kernel, matrix, &b->packed, diag);
    for (size_t i = 0; i < b->packed.array_count && status == MC_OK; i++) {
        const mc_packed_array *a = &b->packed.arrays[i];
        status = put_array(b, a->name, a->data, (size_t)mc_type_size(a->type, a->count), diag);
    }
    return status;
}

static mc_status put_factors(product_batch *b, const operand_row *operand, const float *values,
                             mc_diag *diag) {
    if (!operand_has_factors(&b->problem, operand)) return MC_OK;
    if (!operand_is_factors(&b->problem, operand)) {
        b->bindings.items[b->bindings.count++] = mc_bind_f32(operand->name, *values);
        return MC_OK;
    }
    return put_array(b, operand->name, values, (size_t)operand_factors(&b->problem, operand) * sizeof *values,
                     diag);
}

/* -- Operands of each product */

static size_t span_of(const mc_dense *shape) {
    return (size_t)mc_type_size(shape->type, (shape->rows - 1) * shape->ld + shape->cols);
}

static int64_t stride_of(const product_batch *b, size_t i, const mc_dense *shape) {
    const char *name = problem_members[b->op->operands[i].stride].name;
    int64_t unit = mc_contract_of_shape(mc_kernel_contract(b->kernel), name).multiple;
    if (b->shared >> i & 1) return 0;
    if (unit < 2) unit = mc_type_bytes(shape->type) == 0 ? 2 : 1;
    return (shape->rows * shape->ld + unit - 1) / unit * unit + b->gap * unit;
}

/* Room for all products' operand I. */
static mc_status open_operand(product_batch *b, size_t i, unsigned offset, mc_diag *diag) {
    const operand_row *operand = &b->op->operands[i];
    const mc_dense shape = operand_shape(&b->problem, operand);
    int64_t stride = stride_of(b, i, &shape);
    member_set(&b->problem, operand->stride, stride);
    size_t bytes = (size_t)mc_type_size(shape.type, (b->count - 1) * stride) + span_of(&shape);
    mc_status status =
        add_buffer(b, operand->name, bytes + (operand->out ? BEHIND : 0), offset, &b->addresses[i], diag);
    if (status != MC_OK || !operand->out) return status;
    b->c_bytes = bytes + BEHIND;
    return mc_device_fill(b->device, b->addresses[i], POISON, b->c_bytes, diag);
}

static mc_status open_batch(product_batch *b, const mc_run *given, mc_diag *diag) {
    const host_operands *host = &given->operands;
    b->op = operator_of(host->problem->op);
    b->problem = *host->problem;
    b->problem.batch = b->count;
    mc_status status = put_packed(b, host->matrix, diag);
    for (size_t i = 0; i < b->op->operand_count && status == MC_OK; i++) {
        const operand_row *operand = &b->op->operands[i];
        if (operand->kind == OPERAND_FACTOR) status = put_factors(b, operand, host->factors[i], diag);
        else if (operand_is_there(&b->problem, operand)) status = open_operand(b, i, given->offsets[i], diag);
    }
    return status;
}

/* Gaps stay unwritten, so that the simulator stops who reads them. */
static mc_status write_rows(const product_batch *b, uint64_t address, const mc_dense *from, mc_diag *diag) {
    size_t step = (size_t)mc_type_size(from->type, from->ld),
           row = (size_t)mc_type_size(from->type, from->cols);
    mc_status status = MC_OK;
    for (size_t i = 0; i < (size_t)from->rows && status == MC_OK; i++)
        status =
            mc_device_write(b->device, address + i * step, (const char *)from->data + i * step, row, diag);
    return status;
}

static size_t product_at(const product_batch *b, size_t i, int64_t number, mc_type type) {
    return (size_t)mc_type_size(type, number * member_get(&b->problem, b->op->operands[i].stride));
}

mc_status product_batch_put(product_batch *b, int64_t number, const mc_run *given, mc_diag *diag) {
    mc_status status = number == 0 ? open_batch(b, given, diag) : MC_OK;
    for (size_t i = 0; i < b->op->operand_count && status == MC_OK; i++) {
        const mc_dense *input = given->operands.inputs[i];
        if (input == NULL || b->op->operands[i].out || (number > 0 && b->shared >> i & 1)) continue;
        status = write_rows(b, b->addresses[i] + product_at(b, i, number, input->type), input, diag);
    }
    return status;
}

/* -- The launch */

mc_status product_batch_launch(product_batch *b, mc_diag *diag) {
    mc_launch launch;
    mc_module *module = NULL;
    bind_sizes(&b->bindings, &b->problem);
    bind_value(&b->bindings, "multiprocessors", MULTIPROCESSORS);
    mc_status status =
        mc_bind_maps(b->device, b->kernel, b->bindings.items, &b->bindings.count, b->maps, diag);
    if (status == MC_OK) status = mc_bind(b->kernel, b->bindings.items, b->bindings.count, &launch, diag);
    if (status == MC_OK)
        status = mc_module_load(b->device, mc_kernel_ptx(b->kernel), mc_kernel_contract(b->kernel)->entry,
                                &module, diag);
    if (status == MC_OK) status = mc_module_launch(module, &launch, diag);
    b->c = malloc(b->c_bytes);
    uint64_t c = b->addresses[b->op->operand_count - 1];
    if (status == MC_OK) status = mc_device_read(b->device, c, b->c, b->c_bytes, diag);
    mc_module_unload(module);
    return status;
}

/* What is taken becomes poison again. */
mc_status product_batch_take(product_batch *b, int64_t number, mc_dense *c, mc_diag *diag) {
    size_t last = b->op->operand_count - 1;
    const mc_dense shape = operand_shape(&b->problem, &b->op->operands[last]);
    mc_status status = mc_dense_create(shape.type, shape.rows, shape.cols, shape.ld, c, diag);
    size_t step = (size_t)mc_type_size(shape.type, shape.ld),
           row = (size_t)mc_type_size(shape.type, shape.cols);
    for (size_t i = 0; i < (size_t)shape.rows && status == MC_OK; i++) {
        unsigned char *from = b->c + product_at(b, last, number, shape.type) + i * step;
        memcpy((char *)c->data + i * step, from, row);
        memset(from, POISON, row);
    }
    return status;
}

mc_status product_batch_end(const product_batch *b, mc_diag *diag) {
    for (size_t i = 0; i < b->c_bytes; i++)
        if (b->c[i] != POISON)
            return mc_fail(diag, MC_MISMATCH,
                           "the kernel wrote byte %zu of C's memory, which is no product's", i);
    return MC_OK;
}

void product_batch_close(product_batch *b) {
    for (size_t i = 0; i < b->buffer_count; i++) mc_device_free(b->device, b->buffers[i]);
    mc_packed_free(&b->packed);
    free(b->c);
}
