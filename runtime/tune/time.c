/* Times of a measurement: CUDA graphs of launches, replayed. */
#include <math.h>
#include <stdlib.h>
#include "tune/measurement.h"
#include "tune/rounds.h"

enum {
    REPLAY_US = 250,     /* what a replay should last: many times the clock's grain and the graph's launch */
    MOST_LAUNCHES = 512, /* of a graph */
    QUICK_REPLAYS = 3,
    LONG_REPLAY_US = 4000, /* so long that the L2's content at its beginning does not matter */
    FINALISTS = 3
};

static const double hopeless = 4; /* times the best guess */

static bool is_exact(const measurement *m) {
    return mc_device_get_info(m->context->device)->kind == MC_DEVICE_SIM;
}

/* -- Graphs */

/* Launches rotate over the sets. */
static mc_status make_graph(tune_kernel *k, int count, mc_diag *diag) {
    int sets = k->packing->slab.sets;
    mc_graph_destroy(k->graph);
    k->graph = NULL;
    mc_launch *launches = calloc((size_t)count, sizeof *launches);
    if (launches == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    for (int i = 0; i < count; i++) launches[i] = k->launches[i % sets];
    mc_status status = mc_graph_create(k->module, launches, (size_t)count, &k->graph, diag);
    k->graph_launches = count;
    free(launches);
    return status;
}

/* The second of two where they are short: it finds in the L2 what the first one left there,
   and waits for nothing. */
static int replays_of(const tune_kernel *k) { return k->replay_us < LONG_REPLAY_US ? 2 : 1; }

static mc_status replay(tune_kernel *k, double *microseconds, mc_diag *diag) {
    return mc_graph_replay_last(k->graph, replays_of(k), microseconds, diag);
}

/* Whole turns of the sets. */
static int whole_turns(const tune_kernel *k, double launches) {
    int sets = k->packing->slab.sets;
    double turns = fmin(ceil(launches / sets), floor((double)MOST_LAUNCHES / sets));
    return turns < 1 ? sets : (int)turns * sets;
}

/* Longer and longer graphs, until a replay lasts about as long as it should. A short one's time is mostly
   that of its own launch, so the first step is not the last. */
static mc_status fit_graph(tune_kernel *k, mc_diag *diag) {
    int count = whole_turns(k, 1);
    for (;;) {
        mc_status status = make_graph(k, count, diag);
        if (status == MC_OK) status = replay(k, &k->replay_us, diag);
        if (status != MC_OK) return status;
        double launches = k->replay_us > 0 ? count * REPLAY_US / k->replay_us : MOST_LAUNCHES;
        int next = whole_turns(k, launches);
        if (k->replay_us > .7 * REPLAY_US || next <= count) return MC_OK;
        count = next;
    }
}

static double median_of_3(const double *t) { return fmax(fmin(t[0], t[1]), fmin(fmax(t[0], t[1]), t[2])); }

static mc_status quick_replays(tune_kernel *k, mc_diag *diag) {
    double times[QUICK_REPLAYS];
    mc_status status = MC_OK;
    if (k->replay_us >= LONG_REPLAY_US) return MC_OK; /* one such replay has said enough */
    for (int i = 0; i < QUICK_REPLAYS && status == MC_OK; i++) status = replay(k, &times[i], diag);
    if (status == MC_OK) k->replay_us = median_of_3(times);
    return status;
}

mc_status tune_guess(measurement *m, tune_kernel *k, mc_diag *diag) {
    mc_status status = is_exact(m) ? make_graph(k, whole_turns(k, 1), diag) : fit_graph(k, diag);
    if (status == MC_OK)
        status = is_exact(m) ? mc_graph_replay(k->graph, &k->replay_us, diag) : quick_replays(k, diag);
    if (status == MC_OK) k->guess = k->replay_us / k->graph_launches;
    return status;
}

/* -- Rounds */

/* Some of the kernels, as runners: runner i is entrant index[i]. */
typedef struct field {
    measurement *m;
    size_t *index;
    tune_runner *runners;
    size_t count;
    size_t rounds_before; /* of other fields of this measurement, for the progress */
    mc_diag *why;
} field;

static mc_status field_open(field *f, measurement *m, size_t room, mc_diag *diag) {
    *f = (field){.m = m, .index = calloc(room + 1, sizeof *f->index)};
    f->runners = calloc(room + 1, sizeof *f->runners);
    f->why = mc_diag_create();
    if (f->index != NULL && f->runners != NULL && f->why != NULL) return MC_OK;
    return mc_fail(diag, MC_NOMEM, "out of memory");
}

static void field_close(field *f) {
    tune_runners_free(f->runners, f->count);
    mc_diag_destroy(f->why);
    free(f->index);
}

static void field_add(field *f, size_t index) {
    const tune_kernel *k = &f->m->kernels[index];
    f->index[f->count] = index;
    f->runners[f->count++] = (tune_runner){.stays = f->m->race->entrants[index].standard,
                                           .guess = k->guess,
                                           .median = k->guess,
                                           .lap_us = k->replay_us * replays_of(k)};
}

static mc_status lap(void *user, size_t runner, double *microseconds, bool *failed, mc_diag *diag) {
    field *f = user;
    tune_kernel *k = &f->m->kernels[f->index[runner]];
    mc_diag_clear(f->why);
    mc_status status =
        is_exact(f->m) ? mc_graph_replay(k->graph, microseconds, f->why) : replay(k, microseconds, f->why);
    *microseconds /= k->graph_launches;
    *failed = status != MC_OK;
    return tune_settle(f->m, TUNE_TIME, f->rounds_before, f->index[runner], status, f->why, diag);
}

/* Tells the leader's median. */
static bool tick(void *user, int round, int rounds) {
    const field *f = user;
    size_t best = tune_choose(f->runners, f->count);
    (void)rounds;
    tune_event event = {
        TUNE_TIME, f->rounds_before + (size_t)round, f->m->rounds, f->m->race->count, TUNE_TIMED, 0, ""};
    if (best < f->count && round > 0) {
        event.index = f->index[best];
        event.microseconds = f->runners[best].median;
    }
    return tune_tell(f->m, &event, 1);
}

static mc_status field_run(field *f, const tune_rules *rules, mc_diag *diag) {
    const tune_track track = {lap, tick, f};
    return tune_rounds(&track, rules, f->runners, f->count, diag);
}

/* -- The whole field */

static const tune_rules *rules_of(const measurement *m, const tune_rules *usual) {
    return is_exact(m) ? &tune_rules_exact : usual;
}

/* All that are right; those that are hopeless are not even timed. */
static void enter_all(field *f) {
    measurement *m = f->m;
    double best = INFINITY;
    for (size_t i = 0; i < m->race->count; i++)
        if (m->kernels[i].state == TUNE_RIGHT && m->kernels[i].guess < best) best = m->kernels[i].guess;
    for (size_t i = 0; i < m->race->count; i++) {
        const tune_kernel *k = &m->kernels[i];
        if (k->state != TUNE_RIGHT) continue;
        if (k->guess <= hopeless * best || m->race->entrants[i].standard) field_add(f, i);
        else tune_set_state(m, TUNE_TIME, 0, i, TUNE_DROPPED, k->guess, NULL);
    }
}

/* Where the measurement was stopped early, those without enough rounds have no state:
   they are for another time. */
static void tell_times(field *f, const tune_rules *rules) {
    bool stopped = tune_over(f->m, 1);
    for (size_t i = 0; i < f->count; i++) {
        const tune_runner *r = &f->runners[i];
        bool timed = r->rounds >= rules->least || (!stopped && !r->out);
        if (r->failed || !(timed || r->out)) continue;
        tune_set_state(f->m, TUNE_TIME, f->rounds_before, f->index[i], timed ? TUNE_TIMED : TUNE_DROPPED,
                       r->median, NULL);
    }
}

/* -- The final */

/* The fastest of F that is not in FINAL, of the defaults alone if STANDARD. F's count: none. */
static size_t next_best(const field *f, const field *final, bool standard) {
    size_t best = f->count;
    for (size_t i = 0; i < f->count; i++) {
        const tune_runner *r = &f->runners[i];
        bool in = false;
        for (size_t j = 0; j < final->count; j++) in = in || final->index[j] == f->index[i];
        if (in || r->failed || (standard && !r->stays)) continue;
        if (best == f->count || r->median < f->runners[best].median) best = i;
    }
    return best;
}

static void enter_finalists(const field *f, field *final) {
    size_t best = next_best(f, final, true);
    if (best < f->count) field_add(final, f->index[best]);
    for (int i = 0; i < FINALISTS; i++) {
        best = next_best(f, final, false);
        if (best < f->count) field_add(final, f->index[best]);
    }
}

/* What was timed is verified once more: a fault that shows once in a while had
   hundreds of launches to show. */
static mc_status choose(field *f, mc_diag *diag) {
    measurement *m = f->m;
    for (size_t best; (best = tune_choose(f->runners, f->count)) < f->count;) {
        size_t index = f->index[best];
        mc_diag_clear(f->why);
        mc_status status = tune_verify(m, &m->kernels[index], f->why);
        if (status == MC_OK) {
            tune_set_state(m, TUNE_TIME, f->rounds_before, index, TUNE_CHOSEN, f->runners[best].median, NULL);
            return MC_OK;
        }
        f->runners[best].out = f->runners[best].failed = true;
        status = tune_settle(m, TUNE_TIME, f->rounds_before, index, status, f->why, diag);
        if (status != MC_OK) return status;
    }
    return MC_OK;
}

/* One that was cut short says less than the rounds before it. */
static mc_status run_final(field *f, mc_diag *diag) {
    field final;
    const tune_rules *rules = rules_of(f->m, &tune_rules_final);
    mc_status status = field_open(&final, f->m, FINALISTS + 1, diag);
    if (status == MC_OK) enter_finalists(f, &final);
    final.rounds_before = f->rounds_before;
    if (status == MC_OK) status = field_run(&final, rules, diag);
    final.rounds_before = f->m->rounds;
    bool cut = tune_over(f->m, 1);
    if (status == MC_OK && !cut) tell_times(&final, rules);
    if (status == MC_OK) status = choose(cut ? f : &final, diag);
    field_close(&final);
    return status;
}

mc_status tune_time(measurement *m, mc_diag *diag) {
    const tune_rules *rules = rules_of(m, &tune_rules_field), *last = rules_of(m, &tune_rules_final);
    field f;
    mc_status status = field_open(&f, m, m->race->count, diag);
    m->rounds = (size_t)(rules->most + last->most);
    if (status == MC_OK) enter_all(&f);
    if (status == MC_OK && !tune_over(m, 1)) status = field_run(&f, rules, diag);
    f.rounds_before = (size_t)rules->most;
    if (status == MC_OK) tell_times(&f, rules);
    if (status == MC_OK) status = tune_over(m, 1) ? choose(&f, diag) : run_final(&f, diag);
    field_close(&f);
    return status;
}
