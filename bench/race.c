#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "floor.h"
#include "race.h"

enum { QUICK_LAUNCHES = 10, MAX_FINALISTS = 64, MAX_BINDINGS = MC_MAX_ARRAYS + 10 };

/* s8 problems in f16: value / 128 of A and of B. */
static const float half_scale = 0x1p-14F;

/* Operands of the variants that pack alike. */
typedef struct our_operands {
    operand_slab slab;
    size_t arrays[MC_MAX_ARRAYS], b, c, factors; /* parts */
    double packed_bytes;
    int64_t slots;
} our_operands;

/* A variant on this problem: a launch for each operand set. */
typedef struct our_entry {
    const variant *variant;
    mc_launch *launches;
    mc_tensor_map *maps; /* of the launches */
    contender contender; /* quick 0: out of the race */
} our_entry;

/* What an output other than the sums must be, on the device, in f32. */
typedef struct our_want {
    mc_output output;
    uint64_t address;
} our_want;

enum { MAX_WANTS = 12 }; /* 3 types, 3 kinds of scales and the biases asked for: more is MC_CANNOT */

typedef struct race {
    race_track *track;
    const work *work;
    size_t n_index;
    int64_t n;
    const dense_peers *dense;
    sparse_peers *sparse;
    uint64_t want_s32, want_half; /* the exact sums; 2^-14 of them, in f32 */
    our_want wants[MAX_WANTS];
    size_t want_count;
    float *factors; /* scales, then biases, factor_count each: as many as the longer side of C */
    size_t factor_count;
    uint64_t device_factors;
    our_operands *operands; /* one a packing group */
    our_entry *entries;     /* one a variant */
    mc_diag *diag;
} race;

/* -- Lines of output -------------------------------------------------------------------------------------- */

static mc_status write_line(race *r, json_t *line, mc_diag *diag) {
    if (line == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    json_dumpf(line, r->track->out, JSON_COMPACT | JSON_REAL_PRECISION(6));
    fputc('\n', r->track->out);
    json_decref(line);
    return MC_OK;
}

static double sparsity_of(const mc_vsparse *a) {
    return 1 - (double)a->vectors / ((double)a->row_blocks * (double)a->cols);
}

double sparsity_class(double sparsity) {
    static const double classes[] = {0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99};
    double nearest = classes[0];
    for (size_t i = 1; i < sizeof classes / sizeof classes[0]; i++)
        if (fabs(classes[i] - sparsity) < fabs(nearest - sparsity)) nearest = classes[i];
    return nearest;
}

/* What every line of a problem begins with. */
static json_t *problem_json(const race *r, const char *kind) {
    const mc_vsparse *a = &r->work->a;
    double sparsity = sparsity_of(a);
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:i, s:I, s:f, s:f, s:b}", "kind", kind, "matrix",
                     r->work->name, "m", (json_int_t)a->rows, "n", (json_int_t)r->n, "k", (json_int_t)a->cols,
                     "vec", a->vec, "vectors", (json_int_t)a->vectors, "sparsity", sparsity, "class",
                     sparsity_class(sparsity), "cold", (int)r->track->rules.cold);
}

static mc_status note(race *r, const char *who, const char *text) {
    json_t *line = problem_json(r, "note");
    json_object_set_new(line, "contender", json_string(who));
    json_object_set_new(line, "text", json_string(text));
    return write_line(r, line, r->diag);
}

static void hash_text(const variant *v, char text[17]) { snprintf(text, 17, "%016" PRIx64, v->hash); }

static mc_status write_quick(race *r) {
    json_t *line = problem_json(r, "quick"), *times = json_object();
    for (size_t i = 0; i < r->track->variants.count; i++) {
        char hash[17];
        hash_text(&r->track->variants.items[i], hash);
        if (r->entries[i].contender.quick > 0)
            json_object_set_new(times, hash, json_real(r->entries[i].contender.quick));
    }
    json_object_set_new(line, "us", times);
    return write_line(r, line, r->diag);
}

static void add_floor(const race *r, const our_entry *e, double us, json_t *line) {
    const our_operands *o = &r->operands[e->variant->packing];
    const floor_problem problem = {.m = r->work->a.rows,
                                   .n = r->n,
                                   .k = r->work->a.cols,
                                   .vectors = r->work->a.vectors,
                                   .slots = o->slots,
                                   .packed_bytes = o->packed_bytes};
    floor_times times = floor_of(&r->track->ceilings, e->variant, &problem);
    const char *limit;
    double least = floor_us(&times, &limit);
    char hash[17];
    hash_text(e->variant, hash);
    json_object_set_new(line, "series", json_string(e->variant->series));
    json_object_set_new(line, "variant", json_string(hash));
    json_object_set_new(line, "floor_us", json_real(least));
    json_object_set_new(line, "limit", json_string(limit));
    json_object_set_new(line, "fraction", json_real(least / us));
    json_object_set_new(line, "floors",
                        json_pack("{s:f, s:f, s:f, s:f, s:f}", "launch", times.launch, "memory", times.memory,
                                  "gather", times.gather, "shared", times.shared, "mma", times.mma));
}

/* ENTRY is NULL for a peer. */
static mc_status write_result(race *r, const contender *c, const timing *t, const our_entry *entry) {
    json_t *line = problem_json(r, "result");
    json_object_set_new(line, "contender", json_string(c->label));
    json_object_set_new(line, "detail", json_string(c->detail));
    json_object_set_new(line, "us", json_real(t->median));
    json_object_set_new(line, "low", json_real(t->low));
    json_object_set_new(line, "high", json_real(t->high));
    json_object_set_new(line, "rounds", json_integer(t->rounds));
    json_object_set_new(line, "launches", json_integer(t->launches));
    json_object_set_new(line, "sets", json_integer(c->sets));
    if (entry != NULL) add_floor(r, entry, t->median, line);
    return write_line(r, line, r->diag);
}

/* -- Our kernels ------------------------------------------------------------------------------------------ */

/* -- What must come out */

static mc_status make_want(race *r, mc_type type, const output_rule *rule, uint64_t *address) {
    const mc_vsparse *a = &r->work->a;
    mc_status status = mc_device_alloc(r->track->gpu.device, (size_t)(a->rows * r->n) * 4, address, r->diag);
    if (status != MC_OK) return status;
    return helpers_output(&r->track->helpers, type, r->want_s32, *address, a->rows, r->n, rule, r->diag);
}

/* Behind the factors on the device stand the constants 2^-14 and 0, for cuSPARSE's results and where there is no bias. */
static mc_status make_factors(race *r) {
    const mc_vsparse *a = &r->work->a;
    size_t count = (size_t)(a->rows > r->n ? a->rows : r->n), all = 2 * count + 2;
    r->factor_count = count;
    r->factors = calloc(all, sizeof *r->factors);
    if (r->factors == NULL) return mc_fail(r->diag, MC_NOMEM, "out of memory");
    mc_scale_fill(r->factors, (int64_t)count, MC_VALUES_FULL, 3);
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
    size_t b_bytes = (size_t)(r->work->a.cols * r->n);
    for (size_t i = 0; i < packed->array_count; i++) {
        size_t bytes = (size_t)packed->arrays[i].count * mc_type_bytes(packed->arrays[i].type);
        o->arrays[i] = slab_part(&o->slab, bytes);
        o->packed_bytes += (double)bytes;
        if (strcmp(packed->arrays[i].name, "values") == 0)
            o->slots = packed->arrays[i].count / r->work->a.vec;
    }
    o->b = slab_part(&o->slab, b_bytes);
    o->c = slab_part(&o->slab, (size_t)(r->work->a.rows * r->n) * 4);
    o->factors = slab_part(&o->slab, 2 * r->factor_count * sizeof(float));
    mc_status status = slab_create(gpu, &o->slab, gpu_sets(gpu, &o->slab, r->track->rules.cold), r->diag);
    for (size_t i = 0; i < packed->array_count && status == MC_OK; i++) {
        const mc_packed_array *array = &packed->arrays[i];
        size_t bytes = (size_t)array->count * mc_type_bytes(array->type);
        status = slab_write(gpu, &o->slab, o->arrays[i], array->data, bytes, r->diag);
    }
    if (status == MC_OK)
        status =
            slab_write(gpu, &o->slab, o->factors, r->factors, 2 * r->factor_count * sizeof(float), r->diag);
    return status == MC_OK ? slab_write(gpu, &o->slab, o->b, r->work->dense[r->n_index].b, b_bytes, r->diag)
                           : status;
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
    mc_binding bindings[MAX_BINDINGS] = {{"m", r->work->a.rows},
                                         {"n", r->n},
                                         {"k", r->work->a.cols},
                                         {"ldb", r->n},
                                         {"ldc", r->n},
                                         {"b", (int64_t)slab_address(&o->slab, o->b, set)},
                                         {"c", (int64_t)slab_address(&o->slab, o->c, set)}};
    size_t count = 7;
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

/* A variant that fails or is wrong is out of the race, and a note says why. */
static mc_status enter_all(race *r, race_summary *summary) {
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
        hash_text(e->variant, hash);
        summary->wrong += entered == MC_MISMATCH;
        summary->failed += entered != MC_MISMATCH;
        e->contender.quick = 0;
        status = note(r, hash, mc_diag_text(diag));
        if (entered == MC_DEVICE && status == MC_OK)
            status = mc_fail(r->diag, MC_DEVICE, "variant %s: %s", hash, mc_diag_text(diag));
    }
    mc_diag_destroy(diag);
    return status;
}

/* -- The careful stage ------------------------------------------------------------------------------------ */

typedef struct final_field {
    const contender *contenders[MAX_FINALISTS];
    const our_entry *entries[MAX_FINALISTS]; /* NULL for peers */
    size_t count;
} final_field;

static void add_finalist(final_field *f, const contender *c, const our_entry *entry) {
    if (f->count == MAX_FINALISTS) return;
    f->entries[f->count] = entry;
    f->contenders[f->count++] = c;
}

/* How many of E's series were faster than it. */
static int rank_of(const race *r, const our_entry *e) {
    int rank = 0;
    for (size_t i = 0; i < r->track->variants.count; i++) {
        const our_entry *other = &r->entries[i];
        if (other == e || other->contender.quick <= 0 ||
            strcmp(other->variant->series, e->variant->series) != 0)
            continue;
        bool before = other->contender.quick < e->contender.quick ||
                      (other->contender.quick == e->contender.quick && other < e);
        rank += before;
    }
    return rank;
}

static void choose_finalists(const race *r, final_field *f) {
    for (size_t i = 0; i < r->track->variants.count; i++) {
        const our_entry *e = &r->entries[i];
        if (e->contender.quick > 0 && rank_of(r, e) < r->track->rules.finalists)
            add_finalist(f, &e->contender, e);
    }
    for (size_t i = 0; r->dense != NULL && i < r->dense->count; i++)
        add_finalist(f, &r->dense->contenders[i], NULL);
    for (size_t i = 0; r->sparse != NULL && i < r->sparse->count; i++)
        add_finalist(f, &r->sparse->contenders[i], NULL);
}

static void keep_least(double *least, double us) {
    if (*least == 0 || us < *least) *least = us;
}

/* The finalists' results once more: our variants share C, so each runs again before it is looked at. */
static mc_status finish(race *r, const final_field *f, const timing *timings, race_summary *summary) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < f->count && status == MC_OK; i++) {
        const contender *c = f->contenders[i];
        status = contender_verify(&r->track->gpu, &r->track->helpers, c, r->diag);
        if (status == MC_MISMATCH) {
            status = note(r, c->label, "right at first, wrong after the timing");
            summary->wrong++;
            continue;
        }
        if (status == MC_OK) status = write_result(r, c, &timings[i], f->entries[i]);
        if (f->entries[i] != NULL) keep_least(&summary->best_us, timings[i].median);
        else if (strcmp(c->label, "cublaslt f16") == 0) keep_least(&summary->dense_us, timings[i].median);
    }
    return status;
}

static mc_status run_final(race *r, race_summary *summary) {
    final_field field = {.count = 0};
    timing timings[MAX_FINALISTS];
    choose_finalists(r, &field);
    mc_status status =
        timer_rounds(&r->track->gpu, field.contenders, field.count, r->track->rules.rounds, timings, r->diag);
    return status == MC_OK ? finish(r, &field, timings, summary) : status;
}

/* -- The whole -------------------------------------------------------------------------------------------- */

static mc_status write_notes(race *r) {
    mc_status status = MC_OK;
    for (int i = 0; r->dense != NULL && i < DENSE_TYPES && status == MC_OK; i++)
        if (r->dense->notes[i][0] != '\0') status = note(r, "cublaslt", r->dense->notes[i]);
    for (int i = 0; r->sparse != NULL && i < SPARSE_FORMATS && status == MC_OK; i++)
        if (r->sparse->notes[i][0] != '\0') status = note(r, "cusparse", r->sparse->notes[i]);
    return status;
}

static mc_status race_open(race *r) {
    const variant_list *list = &r->track->variants;
    r->operands = calloc(list->packing_count + 1, sizeof *r->operands);
    r->entries = calloc(list->count + 1, sizeof *r->entries);
    if (r->operands == NULL || r->entries == NULL) return mc_fail(r->diag, MC_NOMEM, "out of memory");
    mc_status status = upload_want(r);
    for (size_t i = 0; i < list->packing_count && status == MC_OK; i++) status = upload_operands(r, i);
    if (status != MC_OK || r->track->sparse.handle == NULL) return status;
    r->sparse = malloc(sizeof *r->sparse);
    if (r->sparse == NULL) return mc_fail(r->diag, MC_NOMEM, "out of memory");
    sparse_open(r->sparse, &r->track->sparse, &r->track->gpu, &r->track->helpers, r->work, r->n_index, r->n,
                r->track->rules.cold, r->want_s32, r->want_half);
    return MC_OK;
}

static void race_close(race *r) {
    const variant_list *list = &r->track->variants;
    gpu_device *gpu = &r->track->gpu;
    for (size_t i = 0; r->entries != NULL && i < list->count; i++) {
        free(r->entries[i].launches);
        free(r->entries[i].maps);
    }
    for (size_t i = 0; r->operands != NULL && i < list->packing_count; i++)
        slab_free(gpu, &r->operands[i].slab);
    if (r->sparse != NULL) sparse_close(r->sparse, gpu);
    mc_device_free(gpu->device, r->want_s32);
    mc_device_free(gpu->device, r->want_half);
    mc_device_free(gpu->device, r->device_factors);
    for (size_t i = 0; i < r->want_count; i++) mc_device_free(gpu->device, r->wants[i].address);
    free(r->factors);
    free(r->sparse);
    free(r->entries);
    free(r->operands);
}

mc_status race_run(race_track *track, const work *w, size_t n_index, int64_t n, const dense_peers *peers,
                   race_summary *summary, mc_diag *diag) {
    race r = {.track = track, .work = w, .n_index = n_index, .n = n, .dense = peers, .diag = diag};
    *summary = (race_summary){0};
    mc_status status = race_open(&r);
    if (status == MC_OK) status = write_notes(&r);
    if (status == MC_OK) status = enter_all(&r, summary);
    if (status == MC_OK) status = write_quick(&r);
    if (status == MC_OK) status = run_final(&r, summary);
    race_close(&r);
    return status;
}
