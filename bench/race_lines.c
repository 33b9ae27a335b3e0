/* The lines of JSON that a problem leaves. */
#include <inttypes.h>
#include <math.h>
#include "../mcrun/shown.h"
#include "floor.h"
#include "race_state.h"

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
    bool dense = r->operation->mask == MASK_SHAPE;
    double sparsity = dense ? 0 : sparsity_of(a);
    const problem_shape *s = &r->problem->shape;
    return json_pack("{s:s, s:o, s:I, s:I, s:I, s:i, s:I, s:f, s:f, s:b, s:s}", "kind", kind, "matrix",
                     shown_json(r->work->name), "m", (json_int_t)s->m, "n", (json_int_t)s->n, "k",
                     (json_int_t)s->k, "vec", a->vec, "vectors", (json_int_t)a->vectors, "sparsity", sparsity,
                     "class", dense ? 0 : sparsity_class(sparsity), "cold", (int)r->track->rules.cold, "op",
                     operation_name(r->operation));
}

mc_status race_note(race *r, const char *who, const char *text) {
    json_t *line = problem_json(r, "note");
    json_object_set_new(line, "contender", json_string(who));
    json_object_set_new(line, "text", shown_json(text));
    return write_line(r, line, r->diag);
}

void variant_hash_text(const variant *v, char text[17]) { snprintf(text, 17, "%016" PRIx64, v->hash); }

mc_status race_write_quick(race *r) {
    json_t *line = problem_json(r, "quick"), *times = json_object();
    for (size_t i = 0; i < r->track->variants.count; i++) {
        char hash[17];
        const variant *v = &r->track->variants.items[i];
        variant_hash_text(v, hash);
        if (r->entries[i].contender.quick > 0 && v->ptx == NULL)
            json_object_set_new(times, hash, json_real(r->entries[i].contender.quick));
    }
    json_object_set_new(line, "us", times);
    return write_line(r, line, r->diag);
}

static void add_floor(const race *r, const our_entry *e, double us, json_t *line) {
    const our_operands *o = &r->operands[e->variant->packing];
    const variant_list *list = &r->track->variants;
    const problem_shape *s = &r->problem->shape;
    bool dense_a = r->problem->a.rows > 0;
    const floor_problem problem = {.m = s->m,
                                   .n = s->n,
                                   .k = s->k,
                                   .vectors = o->named,
                                   .slots = o->slots,
                                   .a_bytes = dense_a ? mc_type_size(list->lhs, s->m * s->k) : 0,
                                   .b_bytes = mc_type_size(list->rhs, s->k * s->n),
                                   .elements = race_elements(r, e->variant->order),
                                   .packed_bytes = o->packed_bytes};
    floor_load load = r->operation->load(e->variant, &problem);
    floor_times times = floor_of(&r->track->ceilings, &load);
    const char *limit;
    double least = floor_us(&times, &limit);
    char hash[17];
    variant_hash_text(e->variant, hash);
    json_object_set_new(line, "series", json_string(e->variant->series));
    json_object_set_new(line, "variant", json_string(hash));
    json_object_set_new(line, "floor_us", json_real(least));
    json_object_set_new(line, "limit", json_string(limit));
    json_object_set_new(line, "fraction", json_real(least / us));
    json_object_set_new(line, "floors",
                        json_pack("{s:f, s:f, s:f, s:f, s:f}", "launch", times.launch, "memory", times.memory,
                                  "gather", times.gather, "shared", times.shared, "mma", times.mma));
}

mc_status race_write_result(race *r, const contender *c, const timing *t, const our_entry *entry) {
    json_t *line = problem_json(r, "result");
    json_object_set_new(line, "contender", json_string(c->label));
    json_object_set_new(line, "detail", json_string(c->detail));
    json_object_set_new(line, "us", json_real(t->median));
    json_object_set_new(line, "low", json_real(t->low));
    json_object_set_new(line, "high", json_real(t->high));
    json_object_set_new(line, "rounds", json_integer(t->rounds));
    json_object_set_new(line, "launches", json_integer(t->launches));
    json_object_set_new(line, "sets", json_integer(c->sets));
    const struct {
        const char *name;
        double us;
    } once[] = {{"prepare_us", c->prepare},
                {"device_prepare_us", c->prepare_there},
                {"device_matrix_us", c->matrix_there}};
    for (size_t i = 0; i < sizeof once / sizeof *once; i++)
        if (once[i].us > 0) json_object_set_new(line, once[i].name, json_real(once[i].us));
    if (entry != NULL) {
        add_floor(r, entry, t->median, line);
        if (isfinite(entry->estimate)) json_object_set_new(line, "estimate", json_real(entry->estimate));
        json_object_set_new(line, "picked", json_boolean(entry->picked));
    }
    return write_line(r, line, r->diag);
}
