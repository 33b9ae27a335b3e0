#include "attention_race.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "choose/candidates.h"
#include "context/context.h"
#include "entrant_spec.h"

enum { SPECS = 3, TURNS = 3, LAUNCHES = 8 };

static const char *const specs[STEPS][SPECS] = {
    [STEP_SCORES] = {ATTENTION_SPECS "/attention_scores.lua", ATTENTION_SPECS "/attention_scores_window.lua",
                     ATTENTION_SPECS "/attention_scores_window_f16.lua"},
    [STEP_SOFTMAX] = {ATTENTION_SPECS "/attention_softmax.lua"},
    [STEP_MIX] = {ATTENTION_SPECS "/attention_mix.lua", ATTENTION_SPECS "/attention_mix_shared.lua"},
};

/* -- Time --------------------------------------------------------------------------------------------- */

static mc_status time_launches(const attention *t, const attention_race *race, const mc_plan *plan,
                               attention_step step, const cuda_event marks[2], double *us, mc_diag *diag) {
    float ms = 0;
    mc_status status = CUDA_CALL(race->driver, diag, EventRecord, marks[0], race->stream);
    for (int i = 0; i < LAUNCHES && status == MC_OK; i++)
        status = attention_execute(t, plan, step, race->stream, diag);
    if (status == MC_OK) status = CUDA_CALL(race->driver, diag, EventRecord, marks[1], race->stream);
    if (status == MC_OK) status = CUDA_CALL(race->driver, diag, StreamSynchronize, race->stream);
    if (status == MC_OK) status = CUDA_CALL(race->driver, diag, EventElapsedTime, &ms, marks[0], marks[1]);
    *us = 1e3 * (double)ms / LAUNCHES;
    return status;
}

/* The least of some turns, the first of which is not counted. */
static mc_status time_plan(const attention *t, const attention_race *race, const mc_plan *plan,
                           attention_step step, double *us, mc_diag *diag) {
    cuda_event marks[2] = {NULL, NULL};
    double turn;
    *us = 0;
    if (race->driver == NULL) return attention_execute(t, plan, step, NULL, diag);
    mc_status status = CUDA_CALL(race->driver, diag, EventCreate, &marks[0], 0);
    if (status == MC_OK) status = CUDA_CALL(race->driver, diag, EventCreate, &marks[1], 0);
    for (int i = 0; i <= TURNS && status == MC_OK; i++) {
        status = time_launches(t, race, plan, step, marks, &turn, diag);
        if (i <= 1 || turn < *us) *us = turn;
    }
    for (int i = 0; i < 2; i++)
        if (marks[i] != NULL) (void)race->driver->EventDestroy(marks[i]);
    return status;
}

/* -- Entrants ----------------------------------------------------------------------------------------- */

/* A spec of one kernel, "op=sddmm groups=4 ...": a line for each field. */
static mc_status write_spec(const candidate *of, const char *path, mc_diag *diag) {
    FILE *f = fopen(path, "w");
    if (f == NULL) return mc_fail(diag, MC_IO, "cannot write %s", path);
    for (const char *at = of->fields; *at != '\0';) {
        int name = (int)strcspn(at, "="), whole = (int)strcspn(at, " ");
        const char *value = at + name + 1, *quote = isdigit((unsigned char)*value) ? "" : "\"";
        fprintf(f, "%.*s = %s%.*s%s\n", name, at, quote, whole - name - 1, value, quote);
        at += whole + (at[whole] == ' ');
    }
    return fclose(f) == 0 ? MC_OK : mc_fail(diag, MC_IO, "cannot write %s", path);
}

typedef struct leader {
    double us;
    mc_plan *plan; /* NULL: that which the attention has */
} leader;

static void tell(const attention_race *race, attention_step step, double us, const char *what) {
    if (race->told) printf("    %-8s %9.2f us  %s\n", attention_step_names[step], us, what);
}

/* Whoever cannot run is told of, and passed over. */
static void enter(attention *t, const attention_race *race, attention_step step, const candidate *of,
                  leader *best) {
    mc_plan_config config = attention_config(t, step);
    mc_diag *diag = mc_diag_create();
    mc_plan *plan = NULL;
    double us = 0;
    const char *spec = entrant_spec("attention_gpu");
    config.specs = &spec;
    config.spec_count = 1;
    mc_status status = write_spec(of, spec, diag);
    if (status == MC_OK) status = mc_plan_create(t->context, &config, &plan, diag);
    if (status == MC_OK) status = time_plan(t, race, plan, step, &us, diag);
    if (status == MC_OK) tell(race, step, us, of->tuned);
    else printf("    %-8s %s: %s\n", attention_step_names[step], of->tuned, mc_diag_text(diag));
    if (status == MC_OK && us <= best->us) {
        mc_plan *slower = best->plan;
        *best = (leader){us, plan};
        plan = slower;
    }
    mc_plan_destroy(plan);
    mc_diag_destroy(diag);
}

/* A spec that has no kernel for the problem is passed over. */
static mc_status enter_spec(attention *t, const attention_race *race, attention_step step, const char *file,
                            leader *best, mc_diag *diag) {
    const mc_plan_config config = attention_config(t, step);
    const candidate_target target = candidate_target_of(t->context->device);
    candidate_list list = {0};
    plan_problem problem;
    mc_diag *why = mc_diag_create();
    mc_status status = plan_problem_of(&config, &t->mask, &problem, diag);
    mc_status found = status == MC_OK ? candidates_find(&problem, &target, &file, 1, &list, why) : status;
    if (status == MC_OK && found != MC_OK && found != MC_CANNOT)
        status = mc_fail(diag, found, "%s", mc_diag_text(why));
    if (found == MC_CANNOT && race->told)
        printf("    %-8s %s\n", attention_step_names[step], mc_diag_text(why));
    for (size_t i = 0; i < list.count && i < race->most; i++) enter(t, race, step, &list.items[i], best);
    candidates_free(&list);
    mc_diag_destroy(why);
    return status;
}

static mc_status race_step(attention *t, const attention_race *race, attention_step step, mc_diag *diag) {
    leader best = {.us = INFINITY};
    mc_status status = time_plan(t, race, t->plans[step], step, &best.us, diag);
    if (status == MC_OK) tell(race, step, best.us, "what plans take");
    for (int i = 0; i < SPECS && specs[step][i] != NULL && status == MC_OK; i++)
        status = enter_spec(t, race, step, specs[step][i], &best, diag);
    if (best.plan != NULL) attention_take_plan(t, step, best.plan);
    return status;
}

mc_status attention_hold_race(attention *t, const attention_race *race, mc_diag *diag) {
    mc_status status = MC_OK;
    for (attention_step i = 0; i < STEPS && status == MC_OK; i++) status = race_step(t, race, i, diag);
    (void)remove(entrant_spec("attention_gpu"));
    return status;
}
