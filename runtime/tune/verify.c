/* One kernel of a measurement: loaded, bound,
   and its result compared with what it must be (compare.c). */
#include <stdlib.h>
#include <string.h>
#include "problem/binding_set.h"
#include "context/kernels.h"
#include "tune/measurement.h"

enum { SIM_MULTIPROCESSORS = 2 }; /* few, so that thread blocks take turns on the simulator too */

/* -- Launches */

static void bind_slab(binding_set *b, const tune_slab *slab, int set) {
    for (size_t i = 0; i < slab->count; i++)
        bind_value(b, slab->parts[i].name, (int64_t)tune_slab_address(slab, i, set));
}

/* The last part of the operands is C and its guards. */
static mc_address address_of_c(const tune_operands *o, int set) {
    return tune_slab_address(&o->slab, o->slab.count - 1, set) + o->guard;
}

static mc_status bind_launch(measurement *m, tune_kernel *k, int set, mc_diag *diag) {
    const tune_operands *o = &m->operands;
    int multiprocessors = mc_device_get_info(m->context->device)->multiprocessors;
    binding_set b = {0};
    bind_sizes(&b, m->race->problem);
    bind_value(&b, "item_count", mc_sampled_items(&k->packing->packed));
    bind_value(&b, "window_items", mc_sampled_longest(&k->packing->packed));
    bind_value(&b, "multiprocessors", multiprocessors > 0 ? multiprocessors : SIM_MULTIPROCESSORS);
    bind_slab(&b, &k->packing->slab, set);
    bind_slab(&b, &o->slab, set);
    b.items[b.count - 1].value = (int64_t)address_of_c(o, set);
    bind_value(&b, MC_WORKSPACE, 0); /* the slab's, if it has one, comes before and counts */
    for (size_t i = 0; i < m->operator->operand_count; i++) {
        const operand_row *operand = &m->operator->operands[i];
        bool by_value = !operand_is_factors(m->race->problem, operand);
        if (operand_per(m->race->problem, operand) == MC_PER_TENSOR && by_value)
            b.items[b.count++] = mc_bind_f32(operand->name, o->factors[i][0]);
    }
    mc_status status =
        mc_bind_maps(m->context->device, k->kernel, b.items, &b.count, &k->maps[MC_MAX_MAPS * set], diag);
    if (status != MC_OK) return status;
    status = mc_bind(k->kernel, b.items, b.count, &k->launches[set], diag);
    /* A launch that begins before the one ahead of it has ended looks faster behind its own kind than it is
       behind another kernel, as in a network. So all are timed one after another. */
    k->launches[set].overlap = false;
    return status;
}

static mc_status bind_launches(measurement *m, tune_kernel *k, mc_diag *diag) {
    size_t sets = (size_t)k->packing->slab.sets;
    mc_status status = MC_OK;
    k->launches = calloc(sets, sizeof *k->launches);
    k->maps = aligned_alloc(_Alignof(mc_tensor_map), MC_MAX_MAPS * sets * sizeof *k->maps);
    if (k->launches == NULL || k->maps == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    for (int set = 0; set < (int)sets && status == MC_OK; set++) status = bind_launch(m, k, set, diag);
    return status;
}

static mc_status load_image(measurement *m, tune_kernel *k, mc_diag *diag) {
    const char *entry = mc_kernel_contract(k->kernel)->entry;
    return mc_module_load_image(m->context->device, &k->image, entry, &k->module, diag);
}

/* A cubin out of the cache that does not load is the cache's fault. */
static mc_status load_anew(measurement *m, tune_kernel *k, mc_diag *diag) {
    mc_kernel *made = NULL;
    mc_image_free(&k->image);
    mc_status status = kernels_make_anew(m->context, mc_kernel_fields(k->kernel), "it does not load", &made,
                                         &k->image, NULL, diag);
    mc_kernel_destroy(made);
    return status == MC_OK ? load_image(m, k, diag) : status;
}

mc_status tune_load(measurement *m, tune_kernel *k, mc_diag *diag) {
    if (k->packing->status != MC_OK)
        return mc_fail(diag, k->packing->status, "%s", mc_diag_text(k->packing->why));
    mc_status status = load_image(m, k, k->from_cache ? NULL : diag);
    if (status != MC_OK && status != MC_NOMEM && k->from_cache) status = load_anew(m, k, diag);
    mc_image_free(&k->image);
    if (status == MC_OK) status = bind_launches(m, k, diag);
    return status == MC_OK ? mc_module_prepare(k->module, &k->launches[0], diag) : status;
}

/* -- The result */

/* Of the memory of product Z's C and its guards, which part is its own: the guards only at the ends of all
   products, or as far as the next one. */
typedef struct own_part {
    size_t first, bytes;
} own_part;

static own_part part_of(const tune_operands *o, size_t z) {
    size_t c = o->want_bytes - 2 * o->guard, first = z == 0 ? 0 : o->guard, behind = o->guard;
    bool last = z + 1 == o->products;
    if (!last && o->c_step - c < behind) behind = o->c_step - c;
    return (own_part){first, o->guard - first + c + behind};
}

/* Where byte 0 of that memory lies. */
static mc_address memory_of_c(const tune_operands *o, size_t z) {
    return address_of_c(o, 0) + z * o->c_step - o->guard;
}

/* What is not its own is poison. */
static mc_status read_c(measurement *m, size_t z, unsigned char **got, mc_diag *diag) {
    const tune_operands *o = &m->operands;
    const own_part own = part_of(o, z);
    *got = malloc(o->want_bytes);
    if (*got == NULL) return mc_fail(diag, MC_NOMEM, "no memory for %zu bytes of C", o->want_bytes);
    memset(*got, TUNE_POISON, o->want_bytes);
    return mc_device_read(m->context->device, memory_of_c(o, z) + own.first, *got + own.first, own.bytes,
                          diag);
}

static mc_status check_product(measurement *m, size_t z, mc_diag *diag) {
    unsigned char *got = NULL;
    mc_status status = read_c(m, z, &got, diag);
    if (status == MC_OK) status = tune_check_result(&m->operands, got, diag);
    free(got);
    return status == MC_OK || z == 0 ? status : mc_fail(diag, status, "product %zu", z);
}

/* A single right result: mostly its bytes are found as they must be. */
static mc_status check_exact(measurement *m, size_t z, mc_diag *diag) {
    const tune_operands *o = &m->operands;
    const own_part own = part_of(o, z);
    bool same;
    mc_status status = tune_compare(m->context, memory_of_c(o, z) + own.first, o->want + own.first, own.bytes,
                                    &m->buffer, &same, diag);
    return status != MC_OK || same ? status : check_product(m, z, diag);
}

static mc_status begin_c(measurement *m, mc_diag *diag) {
    const tune_operands *o = &m->operands;
    const mc_address address = memory_of_c(o, 0);
    if (o->begin != NULL) return mc_device_write(m->context->device, address, o->begin, o->want_bytes, diag);
    return mc_device_fill(m->context->device, address, TUNE_POISON,
                          o->want_bytes + (o->products - 1) * o->c_step, diag);
}

/* What is in place as it was, poison in other outputs. */
static mc_status begin_other(measurement *m, size_t i, mc_diag *diag) {
    const tune_operands *o = &m->operands;
    const mc_dense *want = &o->others[i].low;
    size_t bytes = (size_t)mc_type_size(want->type, want->rows * want->ld);
    const mc_address address = tune_slab_address(&o->slab, o->other_parts[i], 0);
    if (o->inputs[i].data != NULL)
        return mc_device_write(m->context->device, address, o->inputs[i].data, bytes, diag);
    return mc_device_fill(m->context->device, address, TUNE_POISON, bytes, diag);
}

static mc_status begin_outputs(measurement *m, mc_diag *diag) {
    mc_status status = begin_c(m, diag);
    for (size_t i = 0; i < MAX_OPERANDS && status == MC_OK; i++)
        if (m->operands.others[i].low.data != NULL) status = begin_other(m, i, diag);
    return status;
}

/* Many are right, but a kernel has one of them: a second launch gives the same, of the first product. */
static mc_status check_range(measurement *m, const tune_kernel *k, mc_diag *diag) {
    unsigned char *first = NULL, *second = NULL;
    mc_status status = read_c(m, 0, &first, diag);
    for (size_t z = 0; z < m->operands.products && status == MC_OK; z++) status = check_product(m, z, diag);
    if (status == MC_OK) status = begin_outputs(m, diag);
    if (status == MC_OK) status = mc_module_launch(k->module, &k->launches[0], diag);
    if (status == MC_OK) status = read_c(m, 0, &second, diag);
    if (status == MC_OK) status = tune_check_again(&m->operands, first, second, diag);
    free(first);
    free(second);
    return status;
}

static mc_status check_c(measurement *m, const tune_kernel *k, mc_diag *diag) {
    mc_status status = MC_OK;
    if (m->operands.most != NULL) return check_range(m, k, diag);
    for (size_t z = 0; z < m->operands.products && status == MC_OK; z++) status = check_exact(m, z, diag);
    return status;
}

static mc_status check_other(measurement *m, size_t i, mc_diag *diag) {
    const reference_result *want = &m->operands.others[i];
    const mc_dense *shape = &want->low;
    mc_address address = tune_slab_address(&m->operands.slab, m->operands.other_parts[i], 0);
    mc_dense got;
    mc_status status = mc_dense_create(shape->type, shape->rows, shape->cols, shape->ld, &got, diag);
    if (status == MC_OK)
        status = mc_device_read(m->context->device, address, got.data,
                                (size_t)mc_type_size(shape->type, shape->rows * shape->ld), diag);
    if (status == MC_OK) status = mc_result_compare_named(m->operator->operands[i].name, &got, want, diag);
    mc_dense_free(&got);
    return status;
}

static mc_status check_others(measurement *m, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < MAX_OPERANDS && status == MC_OK; i++)
        if (m->operands.others[i].low.data != NULL) status = check_other(m, i, diag);
    return status;
}

/* What it reads is looked at too, and put right, also where it failed: a kernel that writes there would make
   all that follow wrong. */
mc_status tune_verify(measurement *m, tune_kernel *k, mc_diag *diag) {
    const tune_operands *o = &m->operands;
    mc_status status = begin_outputs(m, diag);
    if (status == MC_OK) status = mc_module_launch(k->module, &k->launches[0], diag);
    if (status == MC_OK) status = check_c(m, k, diag);
    if (status == MC_OK) status = check_others(m, diag);
    mc_status operands = tune_slab_check(m->context, &o->slab, &m->buffer, diag);
    mc_status packing = tune_slab_check(m->context, &k->packing->slab, &m->buffer, diag);
    return status != MC_OK ? status : operands != MC_OK ? operands : packing;
}
