/* Measuring a list of kernels: the order of things, and what the listener hears. */
#include <stdlib.h>
#include "base/clock.h"
#include "tune/measurement.h"

static const double verify_share = .8; /* of the seconds that there are, until then */

/* -- Events */

bool tune_over(measurement *m, double share) {
    double seconds = m->race->seconds;
    bool late = seconds > 0 && clock_seconds() - m->begin >= share * seconds;
    if (late || m->stopped) m->partial = true;
    return late || m->stopped;
}

bool tune_tell(measurement *m, const tune_event *event, double share) {
    if (!m->listener(m->user, event)) m->stopped = true;
    return !tune_over(m, share);
}

bool tune_tell_preparing(measurement *m) {
    const tune_event event = {TUNE_VERIFY, 0, m->race->count, m->race->count, TUNE_WAITS, 0, ""};
    return tune_tell(m, &event, 1);
}

void tune_set_state(measurement *m, tune_stage stage, size_t done, size_t index, tune_state state,
                    double microseconds, const mc_diag *why) {
    size_t total = stage == TUNE_TIME ? m->rounds : m->race->count;
    const tune_event event = {
        stage, done, total, index, state, microseconds, why != NULL ? mc_diag_text(why) : ""};
    m->kernels[index].state = state;
    (void)tune_tell(m, &event, 1);
}

mc_status tune_settle(measurement *m, tune_stage stage, size_t done, size_t index, mc_status status,
                      const mc_diag *why, mc_diag *diag) {
    if (status == MC_OK) return MC_OK;
    if (status == MC_NOMEM) return mc_fail(diag, MC_NOMEM, "no memory to tune with");
    tune_set_state(m, stage, done, index, status == MC_MISMATCH ? TUNE_WRONG : TUNE_FAILED, 0, why);
    if (status != MC_DEVICE || mc_device_synchronize(m->context->device, NULL, NULL) == MC_OK) return MC_OK;
    return mc_fail(diag, MC_DEVICE, "the device is of no use any more: kernel %s: %s",
                   m->race->entrants[index].fields, mc_diag_text(why));
}

/* -- Verifying */

static bool was_compiled(const tune_kernel *k) { return k->state == TUNE_WAITS && k->kernel != NULL; }

static bool any_compiled(const measurement *m) {
    for (size_t i = 0; i < m->race->count; i++)
        if (was_compiled(&m->kernels[i])) return true;
    return false;
}

static mc_status try_kernel(measurement *m, size_t index, mc_diag *why, mc_diag *diag) {
    tune_kernel *k = &m->kernels[index];
    if (k->packing->absent) {
        m->partial = true;
        context_log(m->context, MC_LOG_NOTE, "tuning: kernel left out: %s", mc_diag_text(k->packing->why));
        return MC_OK;
    }
    tune_set_state(m, TUNE_VERIFY, index, index, TUNE_RUNS, 0, NULL);
    mc_status status = tune_load(m, k, why);
    if (status == MC_OK) status = tune_verify(m, k, why);
    if (status == MC_OK) status = tune_guess(m, k, why);
    if (status != MC_OK) return tune_settle(m, TUNE_VERIFY, index + 1, index, status, why, diag);
    tune_set_state(m, TUNE_VERIFY, index + 1, index, TUNE_RIGHT, k->guess, NULL);
    return MC_OK;
}

static mc_status verify_all(measurement *m, mc_diag *diag) {
    mc_diag *why = mc_diag_create();
    mc_status status = why != NULL ? MC_OK : mc_fail(diag, MC_NOMEM, "out of memory");
    for (size_t i = 0; i < m->race->count && status == MC_OK && !tune_over(m, verify_share); i++) {
        mc_diag_clear(why);
        if (was_compiled(&m->kernels[i])) status = try_kernel(m, i, why, diag);
    }
    mc_diag_destroy(why);
    return status;
}

/* -- The whole */

static mc_status prepare(measurement *m, mc_diag *diag) {
    mc_status status = tune_operands_make(m, diag);
    if (status == MC_OK) status = tune_operands_pack(m, diag);
    if (status == MC_OK && !tune_over(m, 1)) status = tune_reference(m, diag);
    if (status == MC_OK && !tune_over(m, 1)) status = tune_operands_upload(m, diag);
    return status;
}

static mc_status measure(measurement *m, mc_diag *diag) {
    m->kernels = calloc(m->race->count + 1, sizeof *m->kernels);
    if (m->kernels == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    mc_status status = tune_compile(m, diag);
    if (status != MC_OK || m->stopped || !any_compiled(m)) return status;
    status = prepare(m, diag);
    if (status == MC_OK && !tune_over(m, 1)) status = verify_all(m, diag);
    return status == MC_OK ? tune_time(m, diag) : status;
}

static void free_kernels(measurement *m) {
    for (size_t i = 0; m->kernels != NULL && i < m->race->count; i++) {
        tune_kernel *k = &m->kernels[i];
        mc_graph_destroy(k->graph);
        mc_module_unload(k->module);
        mc_image_free(&k->image);
        mc_kernel_destroy(k->kernel);
        mc_diag_destroy(k->why);
        free(k->launches);
        free(k->maps);
    }
    free(m->kernels);
}

mc_status tune_measure(mc_context *context, const tune_race *race, tune_listener *listener, void *user,
                       bool *complete, mc_diag *diag) {
    measurement m = {.context = context,
                     .operator= operator_of(race->problem->op),
                     .race = race,
                     .listener = listener,
                     .user = user,
                     .begin = clock_seconds()};
    mc_status status = measure(&m, diag);
    tune_operands_free(&m);
    free_kernels(&m);
    *complete = status == MC_OK && !m.partial;
    return status;
}
