#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "race_state.h"
#include "results.h"

enum { MAX_FINALISTS = 256, GROUPS = 4 };

/* What one library's peers are, and what they have to say. */
typedef struct peer_group {
    const char *who;
    const contender *contenders;
    size_t count;
    const char *notes; /* NOTE_COUNT of them, NOTE_SIZE each; "" where there is none */
    size_t note_count, note_size;
} peer_group;

#define GROUP(name, peers)                                                                                   \
    {                                                                                                        \
        name, (peers)->contenders, (peers)->count, (peers)->notes[0],                                        \
            sizeof(peers)->notes / sizeof *(peers)->notes, sizeof *(peers)->notes                            \
    }

static size_t list_groups(const race *r, peer_group groups[GROUPS]) {
    size_t count = 0;
    if (r->peers->dense != NULL) groups[count++] = (peer_group)GROUP("cublaslt", r->peers->dense);
    if (r->peers->pruned != NULL) groups[count++] = (peer_group)GROUP("cusparselt", r->peers->pruned);
    if (r->sparse != NULL) groups[count++] = (peer_group)GROUP("cusparse", r->sparse);
    groups[count++] = (peer_group)GROUP("plain", &r->plain);
    return count;
}

/* -- The careful stage ----------------------------------------------------------------------------------- */

typedef struct final_field {
    const contender *contenders[MAX_FINALISTS];
    our_entry *entries[MAX_FINALISTS]; /* NULL for peers */
    size_t count;
} final_field;

static void add_finalist(final_field *f, const contender *c, our_entry *entry) {
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

/* Whether E has the least estimate of its label in the race. A family without a model has none. */
static bool is_pick(const race *r, const our_entry *e) {
    if (!isfinite(e->estimate)) return false;
    for (size_t i = 0; i < r->track->variants.count; i++) {
        const our_entry *other = &r->entries[i];
        if (other == e || other->contender.quick <= 0 ||
            strcmp(other->contender.label, e->contender.label) != 0)
            continue;
        if (other->estimate < e->estimate || (other->estimate == e->estimate && other < e)) return false;
    }
    return true;
}

/* The fastest of each series, what the estimate picks, and all peers. */
static void choose_finalists(race *r, final_field *f) {
    for (size_t i = 0; i < r->track->variants.count; i++) {
        our_entry *e = &r->entries[i];
        e->picked = e->contender.quick > 0 && is_pick(r, e);
        if (e->contender.quick > 0 && (e->picked || rank_of(r, e) < r->track->rules.finalists))
            add_finalist(f, &e->contender, e);
    }
    peer_group groups[GROUPS];
    size_t count = list_groups(r, groups);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < groups[i].count; j++) add_finalist(f, &groups[i].contenders[j], NULL);
}

/* What packing takes where the matrix lies on the device. What is packed otherwise there is wrong. */
static mc_status time_packing(race *r, our_entry *e, race_summary *summary) {
    race_track *t = r->track;
    device_packing_time time;
    char hash[17];
    mc_diag *diag = mc_diag_create();
    mc_status status =
        device_packing_measure(&t->packing, &t->gpu, &t->variants, r->work, e->variant->packing, &time, diag);
    if (status == MC_OK) e->contender.prepare_there = time.pack, e->contender.matrix_there = time.matrix;
    if (status == MC_MISMATCH) {
        summary->wrong++;
        variant_hash_text(e->variant, hash);
        status = race_note(r, hash, mc_diag_text(diag));
    }
    if (status != MC_OK) mc_fail(r->diag, status, "%s", mc_diag_text(diag));
    mc_diag_destroy(diag);
    return status;
}

static mc_status time_packings(race *r, final_field *f, race_summary *summary) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < f->count && status == MC_OK; i++)
        if (f->entries[i] != NULL && f->entries[i]->contender.prepare > 0)
            status = time_packing(r, f->entries[i], summary);
    return status;
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
            status = race_note(r, c->label, "right at first, wrong after the timing");
            summary->wrong += f->entries[i] != NULL;
            continue;
        }
        if (status == MC_OK) status = race_write_result(r, c, &timings[i], f->entries[i]);
        if (f->entries[i] != NULL) keep_least(&summary->best_us, timings[i].median);
        else if (strcmp(c->label, "cublaslt f16") == 0) keep_least(&summary->dense_us, timings[i].median);
        else if (label_is_cusparse(c->label)) keep_least(&summary->sparse_us, timings[i].median);
    }
    return status;
}

static mc_status run_final(race *r, race_summary *summary) {
    final_field field = {.count = 0};
    timing timings[MAX_FINALISTS];
    choose_finalists(r, &field);
    mc_status status = time_packings(r, &field, summary);
    if (status == MC_OK)
        status = timer_rounds(&r->track->gpu, field.contenders, field.count, r->track->rules.rounds, timings,
                              r->diag);
    return status == MC_OK ? finish(r, &field, timings, summary) : status;
}

/* -- The whole ------------------------------------------------------------------------------------------- */

static mc_status write_notes(race *r) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < r->track->variants.packing_count && status == MC_OK; i++)
        if (r->work->refused[i] != NULL) status = race_note(r, "packing", r->work->refused[i]);
    peer_group groups[GROUPS];
    size_t count = list_groups(r, groups);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < groups[i].note_count && status == MC_OK; j++) {
            const char *note = groups[i].notes + j * groups[i].note_size;
            if (note[0] != '\0') status = race_note(r, groups[i].who, note);
        }
    return status;
}

/* What each format of the sparse peers must give, of our matrix. */
static mc_status find_peer_wants(race *r, sparse_problem *p) {
    mc_status status = MC_OK;
    for (int i = 0; i < SPARSE_FORMATS && status == MC_OK; i++) {
        want_place place = {0};
        if (!sparse_is_of(i, &p->sides) || sparse_formats[i].block != 0) continue;
        bool integer = sparse_result(i, p->sides.type) == MC_S32, within = race_is_within(r);
        const want_kind kind = {.output = {.type = integer ? MC_S32 : MC_F32},
                                .order = sparse_formats[i].order,
                                .halved = !integer && !within,
                                .about = within};
        p->elements[i] = race_elements(r, kind.order);
        status = race_make_sums(r, kind.order);
        if (status == MC_OK) status = race_find_want(r, &kind, &place, r->diag);
        p->want[i] = place.want;
    }
    return status;
}

/* Deviations of a product: of two uniforms on [-1, 1); of two floats as mc_dense_fill draws them. */
static const double spread_of_s8 = 1.0 / 3, spread_of_floats = 17;

static mc_status open_sparse(race *r) {
    race_track *t = r->track;
    sparse_problem problem = {
        .sides = {r->operation->op, t->variants.lhs, r->work->a.vec, r->problem->shape.n},
        .work = r->work,
        .problem = r->problem,
        .cold = t->rules.cold,
        .names = t->rules.names,
        .spread = race_is_within(r) ? spread_of_floats : spread_of_s8};
    if (t->sparse.handle == NULL) return MC_OK;
    r->sparse = malloc(sizeof *r->sparse);
    if (r->sparse == NULL) return mc_fail(r->diag, MC_NOMEM, "out of memory");
    *r->sparse = (sparse_peers){0};
    mc_status status = find_peer_wants(r, &problem);
    if (status == MC_OK) sparse_open(r->sparse, &t->sparse, &t->gpu, &t->helpers, &problem);
    return status;
}

static void race_close(race *r) {
    if (r->sparse != NULL) sparse_close(r->sparse, &r->track->gpu);
    free(r->sparse);
    plain_close(&r->plain);
    race_drop_ours(r);
    race_drop_wants(r);
}

mc_status race_run(race_track *track, const work *w, const work_problem *problem, const race_peers *peers,
                   race_summary *summary, mc_diag *diag) {
    race r = {.track = track,
              .operation = track->variants.operation,
              .work = w,
              .problem = problem,
              .peers = peers,
              .diag = diag};
    *summary = (race_summary){0};
    mc_status status = race_upload(&r);
    if (status == MC_OK) status = open_sparse(&r);
    if (status == MC_OK) status = write_notes(&r);
    if (status == MC_OK) status = race_enter_all(&r, summary);
    if (status == MC_OK) status = plain_open(&r.plain, &r, diag);
    if (status == MC_OK) status = race_write_quick(&r);
    if (status == MC_OK) status = run_final(&r, summary);
    race_close(&r);
    return status;
}
