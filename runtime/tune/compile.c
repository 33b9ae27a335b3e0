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

static mc_status check_type(const mc_kernel *kernel, const char *field, mc_type want, mc_diag *diag) {
    mc_type type;
    mc_status status = mc_type_of(kernel, field, &type, diag);
    if (status != MC_OK || type == want) return status;
    return mc_fail(diag, MC_CANNOT, "the kernel's %s is %s, the problem's %s", field, mc_type_text(type),
                   mc_type_text(want));
}

static bool same_output(const mc_output *a, const mc_output *b) {
    return a->type == b->type && a->scale == b->scale && a->bias == b->bias &&
           a->activation == b->activation && a->exact == b->exact && a->masked == b->masked;
}

/* Buffers are made for the problem: a kernel for another one would write past their ends. */
static mc_status check_kernel(const measurement *m, const mc_kernel *kernel, mc_diag *diag) {
    const plan_problem *p = m->race->problem;
    mc_output output;
    mc_status status = check_type(kernel, "lhs", p->lhs, diag);
    if (status == MC_OK) status = check_type(kernel, "rhs", p->rhs, diag);
    if (status == MC_OK) status = mc_output_of(kernel, &output, diag);
    if (status == MC_OK && !same_output(&output, &m->operands.output))
        status = mc_fail(diag, MC_CANNOT, "the kernel's output is not the problem's");
    return status;
}

mc_status tune_compile(measurement *m, mc_diag *diag) {
    const plan_problem *p = m->race->problem;
    const tune_work work = {m->race->count, make_kernel, tick, m};
    m->operands.output = (mc_output){.type = p->out,
                                     .scale = p->scale,
                                     .bias = p->bias,
                                     .activation = p->activation,
                                     .exact = p->exact,
                                     .masked = p->mask_values};
    size_t done = tune_work_do(&work);
    mc_status status = MC_OK;
    for (size_t i = 0; i < done && status == MC_OK; i++) {
        tune_kernel *k = &m->kernels[i];
        if (k->status == MC_OK) k->status = check_kernel(m, k->kernel, k->why);
        if (k->status != MC_OK) status = tune_settle(m, TUNE_COMPILE, done, i, k->status, k->why, diag);
    }
    return status;
}
