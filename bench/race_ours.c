/* Our kernels on one problem: their operands, and who may take part. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "drawn.h"

enum { QUICK_LAUNCHES = 10, MAX_BINDINGS = MC_MAX_ARRAYS + MC_MAX_MAPS + MAX_OPERANDS + 24 };

/* -- Operands */

static size_t dense_bytes(const mc_dense *dense) {
    return (size_t)mc_type_size(dense->type, dense->rows * dense->ld);
}

/* Of the longest C that a variant of GROUP writes. */
static size_t result_bytes(const race *r, size_t group) {
    const variant_list *list = &r->track->variants;
    int64_t most = 0;
    for (size_t i = 0; i < list->count; i++) {
        const variant *v = &list->items[i];
        bool counts = race_takes(r, i) && v->packing == group;
        int64_t elements = counts ? race_elements(r, v->order) : 0;
        if (counts && r->track->rules.drawn)
            elements = drawn_ld(r->problem->shape.m) * drawn_ld(r->problem->shape.n);
        if (elements > most) most = elements;
    }
    return (size_t)most * sizeof(int32_t);
}

/* The most that a variant of the group wants for itself. */
static size_t workspace_bytes(const race *r, size_t group) {
    const variant_list *list = &r->track->variants;
    size_t most = 0;
    for (size_t i = 0; i < list->count; i++) {
        const variant *v = &list->items[i];
        bool counts = race_takes(r, i) && v->packing == group;
        const mc_packed *packed = &r->work->packings[group];
        size_t bytes = counts ? mc_workspace_bytes(v->kernel, packed, r->problem->shape.n, 0) : 0;
        if (bytes > most) most = bytes;
    }
    return most;
}

static void reserve_operands(const race *r, size_t group, our_operands *o) {
    const mc_packed *packed = &r->work->packings[group];
    o->slots = r->operation->slots(packed, &r->work->a);
    o->named = r->operation->named != NULL ? r->operation->named(packed, &r->work->a) : r->work->a.vectors;
    for (size_t i = 0; i < packed->array_count; i++) {
        size_t bytes = (size_t)mc_type_size(packed->arrays[i].type, packed->arrays[i].count);
        o->arrays[i] = slab_part(&o->slab, bytes);
        o->packed_bytes += (double)bytes;
    }
    o->a = slab_part(&o->slab, dense_bytes(&r->problem->a));
    o->b = slab_part(&o->slab, dense_bytes(&r->problem->b));
    o->c = slab_part(&o->slab, result_bytes(r, group));
    o->factors = slab_part(&o->slab, race_factor_bytes(r));
    o->workspace = slab_part(&o->slab, workspace_bytes(r, group));
    const mc_operator *op = operator_of(r->operation->op);
    for (size_t i = 0; i < op->operand_count; i++)
        o->others[i] = op->operands[i].out ? o->c : slab_part(&o->slab, dense_bytes(&r->problem->others[i]));
}

enum { SEED_A = 1, SEED_B };

static mc_status write_dense(race *r, const our_operands *o, size_t part, const mc_dense *dense,
                             uint32_t seed) {
    if (dense->rows > 0 && dense->data == NULL && r->track->rules.drawn)
        return drawn_write(r, &o->slab, part, dense, seed, r->diag);
    if (dense->data == NULL) return MC_OK;
    return slab_write(&r->track->gpu, &o->slab, part, dense->data, dense_bytes(dense), r->diag);
}

/* To all sets, of which one counts. */
static mc_status write_packed(race *r, size_t group) {
    our_operands *o = &r->operands[group];
    const mc_packed *packed = &r->work->packings[group];
    double begin = timer_wall_us();
    mc_status status = MC_OK;
    for (size_t i = 0; i < packed->array_count && status == MC_OK; i++) {
        const mc_packed_array *array = &packed->arrays[i];
        size_t bytes = (size_t)mc_type_size(array->type, array->count);
        status = slab_write(&r->track->gpu, &o->slab, o->arrays[i], array->data, bytes, r->diag);
    }
    double copied = (timer_wall_us() - begin) / o->slab.sets;
    o->prepare = packed->array_count > 0 ? r->work->pack_us[group] + copied : 0;
    return status;
}

static mc_status upload_operands(race *r, size_t group) {
    our_operands *o = &r->operands[group];
    gpu_device *gpu = &r->track->gpu;
    reserve_operands(r, group, o);
    mc_status status = slab_create(gpu, &o->slab, gpu_sets(gpu, &o->slab, r->track->rules.cold), r->diag);
    if (status == MC_OK) status = write_packed(r, group);
    if (status == MC_OK)
        status = slab_write(gpu, &o->slab, o->factors, r->factors, race_factor_bytes(r), r->diag);
    if (status == MC_OK) status = write_dense(r, o, o->a, &r->problem->a, SEED_A);
    if (status == MC_OK) status = write_dense(r, o, o->b, &r->problem->b, SEED_B);
    for (size_t i = 0; i < MAX_OPERANDS && status == MC_OK; i++)
        status = write_dense(r, o, o->others[i], &r->problem->others[i], 0);
    return status;
}

/* -- Results in place, and further ones */

static void list_begins(const race *r, our_operands *o) {
    const mc_operator *op = operator_of(r->operation->op);
    for (size_t i = 0; i < op->operand_count; i++) {
        const mc_dense *other = &r->problem->others[i];
        if (other->data == NULL || !op->operands[i].in_place) continue;
        const uint64_t address = slab_address(&o->slab, o->others[i], 0);
        o->begins[o->begin_count++] = (result_begin){address, other->data, dense_bytes(other)};
    }
}

/* What operand INDEX must become, in f32 on the device. */
static mc_status add_check(race *r, our_operands *o, const host_operands *operands, size_t index) {
    const mc_operator *op = operator_of(r->operation->op);
    reference_result want = {0};
    mc_status status = operator_expect_other(op, operands, index, &want, r->diag);
    if (status == MC_OK) {
        const size_t count = (size_t)(want.low.rows * want.low.cols);
        result_check *check = &o->checks[o->check_count++];
        *check = (result_check){
            .type = want.low.type, .got = slab_address(&o->slab, o->others[index], 0), .count = count};
        status = mc_device_alloc(r->track->gpu.device, count * sizeof(float), &check->want, r->diag);
        if (status == MC_OK) status = race_write_reals(r, &want.low, check->want, r->diag);
    }
    mc_result_free(&want);
    return status;
}

/* Of KERNEL, whose problem all variants have. */
static mc_status add_checks(race *r, our_operands *o, const mc_kernel *kernel) {
    plan_problem whole;
    host_operands operands = race_operands(r);
    operands.problem = &whole;
    mc_status status = plan_problem_measure(kernel, &operands, 0, &whole, r->diag);
    const mc_operator *op = operator_of(r->operation->op);
    for (size_t i = 0; i < op->operand_count && status == MC_OK; i++)
        if (operand_is_other(&whole, &op->operands[i])) status = add_check(r, o, &operands, i);
    return status;
}

static mc_status list_results(race *r, size_t group) {
    const variant_list *list = &r->track->variants;
    our_operands *o = &r->operands[group];
    list_begins(r, o);
    if (o->begin_count == 0) return MC_OK;
    size_t i = 0;
    while (!race_takes(r, i) || list->items[i].packing != group) i++;
    return add_checks(r, o, list->items[i].kernel);
}

/* Rows of C without gaps, as the kernel's layout has them; whose operands are drawn, those of drawn.h. */
static int64_t out_ld(const race *r, const variant *v) {
    const operand_row *out = operator_out(operator_of(r->operation->op));
    const problem_shape *s = &r->problem->shape;
    plan_problem problem;
    if (r->track->rules.drawn) return drawn_ld(r->track->variants.by_columns ? s->m : s->n);
    if (out->kind != OPERAND_DENSE || plan_problem_read(v->kernel, &problem, NULL) != MC_OK) return s->n;
    problem.m = s->m, problem.n = s->n, problem.k = s->k;
    return operand_shape(&problem, out).cols;
}

/* A dense operand by the operator's name for it, unless that is the one of mc_args. */
static size_t bind_operand(const our_operands *o, const operand_row *operand, int set, mc_binding *binding) {
    const struct {
        size_t argument, part;
        const char *name;
    } parts[] = {{offsetof(mc_args, a), o->a, "a"}, {offsetof(mc_args, b), o->b, "b"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (operand->argument != parts[i].argument || strcmp(operand->name, parts[i].name) == 0) continue;
        *binding = (mc_binding){operand->name, (int64_t)slab_address(&o->slab, parts[i].part, set)};
        return 1;
    }
    return 0;
}

/* Operands that the problem has beside these. */
static size_t bind_other(const race *r, const our_operands *o, const operand_row *operand, size_t i, int set,
                         mc_binding *binding) {
    if (r->problem->others[i].data == NULL) return 0;
    *binding = (mc_binding){operand->name, (int64_t)slab_address(&o->slab, o->others[i], set)};
    return 1;
}

/* Scales or biases: a given one by value, others by address. */
static size_t bind_factor(const char *name, mc_per per, const float *given, uint64_t address,
                          mc_binding *binding) {
    bool by_value = per == MC_PER_TENSOR && given != NULL;
    if (per == MC_PER_NONE) return 0;
    *binding = by_value ? mc_bind_f32(name, *given) : (mc_binding){name, (int64_t)address};
    return 1;
}

/* ALL: the address of the factors. */
static size_t bind_factors(const race *r, const variant *v, uint64_t all, mc_binding *bindings) {
    const mc_output *of = &v->output;
    const struct {
        const char *name;
        mc_per per;
        const float *given;
        uint64_t address;
    } rows[] = {
        {"scale", of->scale, r->track->variants.computed ? NULL : race_factors(r, FACTOR_SCALES), all},
        {"bias", of->bias, race_factors(r, FACTOR_BIASES), race_factors_at(r, all, FACTOR_BIASES)},
        {"b_scale", of->b_scale, NULL, race_factors_at(r, all, FACTOR_B_SCALES)},
        {"c_scale", of->c_scale, &race_c_scale, 0},
        {"zero", of->zero, &race_zero, 0}};
    size_t count = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        count += bind_factor(rows[i].name, rows[i].per, rows[i].given, rows[i].address, &bindings[count]);
    return count;
}

static mc_status bind_set(const race *r, our_entry *e, int set, mc_diag *diag) {
    const variant *v = e->variant;
    const our_operands *o = &r->operands[v->packing];
    const mc_packed *packed = &r->work->packings[v->packing];
    const mc_device_info *info = mc_device_get_info(r->track->gpu.device);
    const mc_operator *op = operator_of(r->operation->op);
    const work_problem *p = r->problem;
    const problem_shape s = race_shape(r);
    mc_binding bindings[MAX_BINDINGS] = {{"m", s.m},
                                         {"n", e->n},
                                         {"k", s.k},
                                         {"lda", p->a.ld},
                                         {"ldb", p->b.ld},
                                         {"ldc", out_ld(r, v)},
                                         {"a", (int64_t)slab_address(&o->slab, o->a, set)},
                                         {"b", (int64_t)slab_address(&o->slab, o->b, set)},
                                         {"c", (int64_t)slab_address(&o->slab, o->c, set)},
                                         {"item_count", mc_sampled_items(packed)},
                                         {"window_items", mc_sampled_longest(packed)},
                                         {"multiprocessors", info->multiprocessors}};
    size_t count = 12;
    for (size_t i = 0; i < packed->array_count; i++)
        bindings[count++] =
            (mc_binding){packed->arrays[i].name, (int64_t)slab_address(&o->slab, o->arrays[i], set)};
    for (size_t i = 0; i < op->operand_count; i++)
        count += bind_operand(o, &op->operands[i], set, &bindings[count]);
    for (size_t i = 0; i < op->operand_count; i++)
        count += bind_other(r, o, &op->operands[i], i, set, &bindings[count]);
    count += bind_factors(r, v, slab_address(&o->slab, o->factors, set), &bindings[count]);
    bindings[count++] = (mc_binding){MC_WORKSPACE, (int64_t)slab_address(&o->slab, o->workspace, set)};
    mc_tensor_map *maps = &e->maps[MC_MAX_MAPS * set];
    mc_status status = mc_bind_maps(r->track->gpu.device, v->kernel, bindings, &count, maps, diag);
    if (status != MC_OK) return status;
    return mc_bind(v->kernel, bindings, count, &e->launches[set], diag);
}

static mc_status bind_all(const race *r, our_entry *e, mc_diag *diag) {
    mc_status status = MC_OK;
    for (int set = 0; set < e->contender.sets && status == MC_OK; set++) status = bind_set(r, e, set, diag);
    return status;
}

/* A kernel that does not take the problem's n may take it rounded up, where B and C have room. */
static mc_status bind_entry(const race *r, our_entry *e, mc_diag *diag) {
    int64_t n = race_shape(r).n, more = drawn_ld(n);
    e->n = n;
    mc_status status = bind_all(r, e, diag);
    if (status != MC_CANNOT || !r->track->rules.drawn || more == n) return status;
    e->n = more;
    mc_diag_clear(diag);
    return bind_all(r, e, diag);
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
    want_place want;
    const want_kind kind = {.output = v->output, .order = v->order};
    mc_status status = race_find_want(r, &kind, &want, diag);
    c->prepare = o->prepare;
    c->begins = o->begins, c->begin_count = o->begin_count;
    c->others = o->checks, c->other_count = o->check_count;
    c->check = (result_check){.type = v->output.type,
                              .got = slab_address(&o->slab, o->c, 0),
                              .want = want.want,
                              .most = want.most,
                              .count = (uint64_t)race_elements(r, v->order)};
    e->launches = calloc((size_t)c->sets, sizeof *e->launches);
    e->maps = aligned_alloc(_Alignof(mc_tensor_map), MC_MAX_MAPS * (size_t)c->sets * sizeof *e->maps);
    if (e->launches == NULL || e->maps == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    if (status == MC_OK) status = bind_entry(r, e, diag);
    if (r->track->rules.drawn) drawn_check(r, &v->output, e->n, c);
    if (status == MC_OK) status = contender_verify(&r->track->gpu, &r->track->helpers, c, diag);
    if (status == MC_OK) status = timer_quick(&r->track->gpu, c, QUICK_LAUNCHES, diag);
    return status;
}

/* A launch that was refused is one variant's matter; an error that stays, as after an illegal access, ends
   the run. */
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
        e->estimate = r->problem->estimates[i];
        if (!race_takes(r, i)) continue;
        mc_diag_clear(diag);
        mc_status entered = variants_need(&r->track->variants, i, r->track->gpu.context, diag);
        if (entered == MC_OK) entered = enter_variant(r, e, diag);
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

static bool takes_group(const race *r, size_t group) {
    for (size_t i = 0; i < r->track->variants.count; i++)
        if (race_takes(r, i) && r->track->variants.items[i].packing == group) return true;
    return false;
}

mc_status race_upload(race *r) {
    const variant_list *list = &r->track->variants;
    r->operands = calloc(list->packing_count + 1, sizeof *r->operands);
    r->entries = calloc(list->count + 1, sizeof *r->entries);
    if (r->operands == NULL || r->entries == NULL) return mc_fail(r->diag, MC_NOMEM, "out of memory");
    mc_status status = race_make_factors(r);
    for (size_t i = 0; i < list->packing_count && status == MC_OK; i++)
        if (takes_group(r, i)) status = upload_operands(r, i);
    for (size_t i = 0; i < list->packing_count && status == MC_OK; i++)
        if (takes_group(r, i)) status = list_results(r, i);
    for (size_t i = 0; i < list->count && status == MC_OK; i++)
        if (race_takes(r, i)) status = race_make_sums(r, list->items[i].order);
    return status;
}

void race_drop_ours(race *r) {
    const variant_list *list = &r->track->variants;
    gpu_device *gpu = &r->track->gpu;
    for (size_t i = 0; r->entries != NULL && i < list->count; i++) {
        free(r->entries[i].launches);
        free(r->entries[i].maps);
    }
    for (size_t i = 0; r->operands != NULL && i < list->packing_count; i++) {
        our_operands *o = &r->operands[i];
        slab_free(gpu, &o->slab);
        for (size_t k = 0; k < o->check_count; k++) mc_device_free(gpu->device, o->checks[k].want);
    }
    free(r->entries);
    free(r->operands);
}
