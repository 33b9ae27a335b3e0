/* Our kernels on one problem: what must come out, their operands, and who may take part. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "race_state.h"

enum { QUICK_LAUNCHES = 10, MAX_BINDINGS = MC_MAX_ARRAYS + 11 };

/* s8 problems in f16: value / 128 of A and of B. */
static const float half_scale = 0x1p-14F;

/* -- What must come out */

static mc_status make_want(race *r, mc_type type, const output_rule *rule, uint64_t *address) {
    const mc_vsparse *a = &r->work->a;
    mc_status status = mc_device_alloc(r->track->gpu.device, (size_t)(a->rows * r->n) * 4, address, r->diag);
    if (status != MC_OK) return status;
    return helpers_output(&r->track->helpers, type, r->want_s32, *address, a->rows, r->n, rule, r->diag);
}

/* mc_scale_fill suits products of 16 bits: of longer ones f16 would show infinities, which compare with nothing. */
static void scale_down(race *r) {
    int longer = mc_type_bits(r->work->a.type) + mc_type_bits(r->work->dense[r->n_index].b.type) - 16;
    for (size_t i = 0; longer > 0 && i < r->factor_count; i++) r->factors[i] = ldexpf(r->factors[i], -longer);
}

/* Behind the factors on the device stand the constants 2^-14 and 0, for cuSPARSE's results and where there is no bias. */
static mc_status make_factors(race *r) {
    const mc_vsparse *a = &r->work->a;
    size_t count = (size_t)(a->rows > r->n ? a->rows : r->n), all = 2 * count + 2;
    r->factor_count = count;
    r->factors = calloc(all, sizeof *r->factors);
    if (r->factors == NULL) return mc_fail(r->diag, MC_NOMEM, "out of memory");
    mc_scale_fill(r->factors, (int64_t)count, MC_VALUES_FULL, 3);
    scale_down(r);
    mc_bias_fill(r->factors + count, (int64_t)count, MC_VALUES_FULL, 4);
    r->factors[2 * count] = half_scale;
    mc_status status =
        mc_device_alloc(r->track->gpu.device, all * sizeof *r->factors, &r->device_factors, r->diag);
    if (status != MC_OK) return status;
    return mc_device_write(r->track->gpu.device, r->device_factors, r->factors, all * sizeof *r->factors,
                           r->diag);
}

static mc_status upload_want(race *r) {
    size_t bytes = (size_t)(r->work->a.rows * r->n) * 4;
    mc_device *device = r->track->gpu.device;
    mc_status status = make_factors(r);
    if (status == MC_OK) status = mc_device_alloc(device, bytes, &r->want_s32, r->diag);
    if (status == MC_OK)
        status = mc_device_write(device, r->want_s32, r->work->dense[r->n_index].want, bytes, r->diag);
    uint64_t constants = r->device_factors + 2 * r->factor_count * sizeof(float);
    const output_rule rule = {.scale = constants, .bias = constants + sizeof(float)};
    return status == MC_OK ? make_want(r, MC_F32, &rule, &r->want_half) : status;
}

static output_rule rule_of(const race *r, const mc_output *output) {
    uint64_t biases = r->device_factors + r->factor_count * sizeof(float);
    bool biased = output->bias != MC_PER_NONE;
    return (output_rule){.scale = r->device_factors,
                         .bias = biased ? biases : biases + (r->factor_count + 1) * sizeof(float),
                         .scale_row = output->scale == MC_PER_ROW,
                         .scale_col = output->scale == MC_PER_COLUMN,
                         .bias_row = output->bias == MC_PER_ROW,
                         .bias_col = output->bias == MC_PER_COLUMN};
}

/* The address of what OUTPUT must be; made when it is first asked for. */
static mc_status find_want(race *r, const mc_output *output, uint64_t *address, mc_diag *diag) {
    *address = r->want_s32;
    if (output->type == MC_S32) return MC_OK;
    for (size_t i = 0; i < r->want_count; i++) {
        const mc_output *made = &r->wants[i].output;
        *address = r->wants[i].address;
        if (made->type == output->type && made->scale == output->scale && made->bias == output->bias)
            return MC_OK;
    }
    if (r->want_count == MAX_WANTS)
        return mc_fail(diag, MC_CANNOT, "more than %d kinds of output in one run", MAX_WANTS);
    output_rule rule = rule_of(r, output);
    our_want *made = &r->wants[r->want_count++];
    made->output = *output;
    mc_status status = make_want(r, output->type, &rule, &made->address);
    *address = made->address;
    return status;
}

/* -- Operands */

static mc_status upload_operands(race *r, size_t group) {
    our_operands *o = &r->operands[group];
    gpu_device *gpu = &r->track->gpu;
    const mc_packed *packed = &r->work->packings[group];
    const mc_dense *b = &r->work->dense[r->n_index].b;
    size_t b_bytes = (size_t)mc_type_size(b->type, r->work->a.cols * b->ld);
    for (size_t i = 0; i < packed->array_count; i++) {
        size_t bytes = (size_t)mc_type_size(packed->arrays[i].type, packed->arrays[i].count);
        o->arrays[i] = slab_part(&o->slab, bytes);
        o->packed_bytes += (double)bytes;
        if (strcmp(packed->arrays[i].name, "values") == 0)
            o->slots = packed->arrays[i].count / r->work->a.vec / (mc_type_bits(r->work->a.type) > 8 ? 2 : 1);
    }
    o->b = slab_part(&o->slab, b_bytes);
    o->c = slab_part(&o->slab, (size_t)(r->work->a.rows * r->n) * 4);
    o->factors = slab_part(&o->slab, 2 * r->factor_count * sizeof(float));
    mc_status status = slab_create(gpu, &o->slab, gpu_sets(gpu, &o->slab, r->track->rules.cold), r->diag);
    for (size_t i = 0; i < packed->array_count && status == MC_OK; i++) {
        const mc_packed_array *array = &packed->arrays[i];
        size_t bytes = (size_t)mc_type_size(array->type, array->count);
        status = slab_write(gpu, &o->slab, o->arrays[i], array->data, bytes, r->diag);
    }
    if (status == MC_OK)
        status =
            slab_write(gpu, &o->slab, o->factors, r->factors, 2 * r->factor_count * sizeof(float), r->diag);
    return status == MC_OK ? slab_write(gpu, &o->slab, o->b, b->data, b_bytes, r->diag) : status;
}

/* Scales or biases: one by value, more by address. */
static size_t bind_factor(const char *name, mc_per per, float first, uint64_t address, mc_binding *binding) {
    if (per == MC_PER_NONE) return 0;
    *binding = per == MC_PER_TENSOR ? mc_bind_f32(name, first) : (mc_binding){name, (int64_t)address};
    return 1;
}

static mc_status bind_set(const race *r, const variant *v, int set, mc_tensor_map *map, mc_launch *launch,
                          mc_diag *diag) {
    const our_operands *o = &r->operands[v->packing];
    const mc_packed *packed = &r->work->packings[v->packing];
    const mc_device_info *info = mc_device_get_info(r->track->gpu.device);
    mc_binding bindings[MAX_BINDINGS] = {{"m", r->work->a.rows},
                                         {"n", r->n},
                                         {"k", r->work->a.cols},
                                         {"ldb", r->work->dense[r->n_index].b.ld},
                                         {"ldc", r->n},
                                         {"b", (int64_t)slab_address(&o->slab, o->b, set)},
                                         {"c", (int64_t)slab_address(&o->slab, o->c, set)},
                                         {"multiprocessors", info->multiprocessors}};
    size_t count = 8;
    for (size_t i = 0; i < packed->array_count; i++)
        bindings[count++] =
            (mc_binding){packed->arrays[i].name, (int64_t)slab_address(&o->slab, o->arrays[i], set)};
    uint64_t scales = slab_address(&o->slab, o->factors, set),
             biases = scales + r->factor_count * sizeof(float);
    count += bind_factor("scale", v->output.scale, r->factors[0], scales, &bindings[count]);
    count += bind_factor("bias", v->output.bias, r->factors[r->factor_count], biases, &bindings[count]);
    mc_status status =
        mc_bind_map(r->track->gpu.device, v->kernel, bindings, count, map, &bindings[count], diag);
    if (status != MC_OK) return status;
    count += bindings[count].name != NULL;
    return mc_bind(v->kernel, bindings, count, launch, diag);
}

/* -- Entering */

static mc_status enqueue_ours(const contender *c, int set, cuda_stream stream, mc_diag *diag) {
    const our_entry *e = c->state;
    return mc_module_enqueue(e->variant->module, &e->launches[set], stream, diag);
}

static mc_status enter_variant(race *r, our_entry *e, mc_diag *diag) {
    const variant *v = e->variant;
    const our_operands *o = &r->operands[v->packing];
    contender *c = &e->contender;
    *c = (contender){.sets = o->slab.sets, .enqueue = enqueue_ours, .state = e};
    snprintf(c->label, sizeof c->label, "%s", v->label);
    snprintf(c->detail, sizeof c->detail, "%s", v->text != NULL ? v->text : "");
    uint64_t want;
    mc_status status = find_want(r, &v->output, &want, diag);
    c->check = (result_check){
        v->output.type, slab_address(&o->slab, o->c, 0), want, (uint64_t)(r->work->a.rows * r->n), {0, 0}};
    e->launches = calloc((size_t)c->sets, sizeof *e->launches);
    e->maps = aligned_alloc(_Alignof(mc_tensor_map), (size_t)c->sets * sizeof *e->maps);
    if (e->launches == NULL || e->maps == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    for (int set = 0; set < c->sets && status == MC_OK; set++)
        status = bind_set(r, v, set, &e->maps[set], &e->launches[set], diag);
    if (status == MC_OK) status = contender_verify(&r->track->gpu, &r->track->helpers, c, diag);
    if (status == MC_OK) status = timer_quick(&r->track->gpu, c, QUICK_LAUNCHES, diag);
    return status;
}

/* A launch that was refused is one variant's matter; an error that stays, as after an illegal access, ends the run. */
static mc_status check_alive(race *r, const char *hash, const char *why) {
    if (CUDA_CALL(r->track->gpu.driver, NULL, StreamSynchronize, r->track->gpu.stream) == MC_OK) return MC_OK;
    return mc_fail(r->diag, MC_DEVICE, "variant %s: %s", hash, why);
}

mc_status race_enter_all(race *r, race_summary *summary) {
    const variant_list *list = &r->track->variants;
    mc_status status = MC_OK;
    mc_diag *diag = mc_diag_create();
    for (size_t i = 0; i < list->count && status == MC_OK; i++) {
        our_entry *e = &r->entries[i];
        e->variant = &list->items[i];
        if (e->variant->error != NULL) continue;
        mc_diag_clear(diag);
        mc_status entered = enter_variant(r, e, diag);
        if (entered == MC_OK) continue;
        char hash[17];
        variant_hash_text(e->variant, hash);
        summary->wrong += entered == MC_MISMATCH;
        summary->failed += entered != MC_MISMATCH;
        e->contender.quick = 0;
        status = race_note(r, hash, mc_diag_text(diag));
        if (entered == MC_DEVICE && status == MC_OK) status = check_alive(r, hash, mc_diag_text(diag));
    }
    mc_diag_destroy(diag);
    return status;
}

/* -- The whole */

mc_status race_upload(race *r) {
    const variant_list *list = &r->track->variants;
    r->operands = calloc(list->packing_count + 1, sizeof *r->operands);
    r->entries = calloc(list->count + 1, sizeof *r->entries);
    if (r->operands == NULL || r->entries == NULL) return mc_fail(r->diag, MC_NOMEM, "out of memory");
    mc_status status = upload_want(r);
    for (size_t i = 0; i < list->packing_count && status == MC_OK; i++) status = upload_operands(r, i);
    return status;
}

void race_drop_ours(race *r) {
    const variant_list *list = &r->track->variants;
    gpu_device *gpu = &r->track->gpu;
    for (size_t i = 0; r->entries != NULL && i < list->count; i++) {
        free(r->entries[i].launches);
        free(r->entries[i].maps);
    }
    for (size_t i = 0; r->operands != NULL && i < list->packing_count; i++)
        slab_free(gpu, &r->operands[i].slab);
    mc_device_free(gpu->device, r->want_s32);
    mc_device_free(gpu->device, r->want_half);
    mc_device_free(gpu->device, r->device_factors);
    for (size_t i = 0; i < r->want_count; i++) mc_device_free(gpu->device, r->wants[i].address);
    free(r->factors);
    free(r->entries);
    free(r->operands);
}
