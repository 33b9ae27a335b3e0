/* Kernels of all entrants, on all cores. */
#include "context/kernels.h"
#include "tune/measurement.h"
#include "tune/pool.h"

static const double compile_share = .6; /* of the seconds that there are */

static void make_kernel(void *user, size_t index) {
    measurement *m = user;
    tune_kernel *k = &m->kernels[index];
    tune_maker *make = m->race->make != NULL ? m->race->make : kernels_make;
    context_visit visit;
    k->why = mc_diag_create();
    k->status = k->why != NULL ? context_enter(m->context, &visit, k->why) : MC_NOMEM;
    if (k->status != MC_OK) return;
    k->status = make(m->context, m->race->entrants[index].fields, &k->kernel, &k->image, &k->from_cache, NULL,
                     k->why);
    context_leave(m->context, &visit);
}

static bool tick(void *user, size_t done) {
    measurement *m = user;
    const tune_event event = {TUNE_COMPILE, done, m->race->count, m->race->count, TUNE_WAITS, 0, ""};
    return tune_tell(m, &event, compile_share);
}

mc_status tune_compile(measurement *m, mc_diag *diag) {
    const tune_work work = {m->race->count, make_kernel, tick, m};
    size_t done = tune_work_do(&work);
    mc_status status = MC_OK;
    for (size_t i = 0; i < done && status == MC_OK; i++) {
        tune_kernel *k = &m->kernels[i];
        /* Buffers are made for the problem: a kernel for another one would write past their ends. */
        if (k->status == MC_OK) k->status = plan_problem_check(m->race->problem, k->kernel, k->why);
        if (k->status != MC_OK) status = tune_settle(m, TUNE_COMPILE, done, i, k->status, k->why, diag);
    }
    return status;
}
