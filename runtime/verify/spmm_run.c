/* One SpMM on a device. */
#include "verify/run.h"

static mc_status check_problem(const device_run *run, const mc_spmm *problem, mc_diag *diag) {
    if (problem->b->rows != problem->a->cols)
        return mc_fail(diag, MC_CANNOT, "A has %lld columns, B %lld rows", (long long)problem->a->cols,
                       (long long)problem->b->rows);
    mc_status status = run_check_type(run, "B", "rhs", problem->b, diag);
    if (status != MC_OK) return status;
    if (problem->ldc < problem->b->cols)
        return mc_fail(diag, MC_CANNOT, "ldc is %lld, less than the row length n of %lld",
                       (long long)problem->ldc, (long long)problem->b->cols);
    status = run_check_offset("B", problem->b_offset, diag);
    if (status == MC_OK) status = run_check_offset("C", problem->c_offset, diag);
    if (status == MC_OK) status = run_check_factor(run->output.scale, problem->scale, "scale", diag);
    return status == MC_OK ? run_check_factor(run->output.bias, problem->bias, "bias", diag) : status;
}

static void bind_shapes(device_run *run, const mc_spmm *problem) {
    run_bind(run, "m", problem->a->rows);
    run_bind(run, "n", problem->b->cols);
    run_bind(run, "k", problem->a->cols);
    run_bind(run, "ldb", problem->b->ld);
    run_bind(run, "ldc", problem->ldc);
}

static mc_status run_all(device_run *run, const char *ptx, const mc_spmm *problem, mc_timing *timing,
                         mc_dense *c, mc_diag *diag) {
    mc_status status = run_put_packed(run, problem->a, diag);
    if (status == MC_OK && run_span(c) == 0) return MC_OK; /* no element of C: a grid without blocks */
    if (status == MC_OK) status = run_put_dense(run, "b", problem->b, problem->b_offset, diag);
    if (status == MC_OK)
        status = run_put_factors(run, "scale", run->output.scale, problem->scale, c->rows, c->cols, diag);
    if (status == MC_OK)
        status = run_put_factors(run, "bias", run->output.bias, problem->bias, c->rows, c->cols, diag);
    if (status == MC_OK) status = run_put_c(run, c, problem->c_offset, diag);
    bind_shapes(run, problem);
    return status == MC_OK ? run_launch(run, ptx, timing, c, diag) : status;
}

mc_status mc_spmm_run(mc_device *device, const mc_kernel *kernel, const char *ptx, const mc_spmm *problem,
                      mc_timing *timing, mc_dense *c, mc_diag *diag) {
    device_run run = {0};
    *c = (mc_dense){0};
    if (timing != NULL) timing->microseconds = 0;
    mc_status status = run_open(&run, device, kernel, diag);
    if (status == MC_OK) status = check_problem(&run, problem, diag);
    if (status == MC_OK)
        status = mc_dense_create(run.output.type, problem->a->rows, problem->b->cols, problem->ldc, c, diag);
    if (status == MC_OK) status = run_all(&run, ptx, problem, timing, c, diag);
    run_close(&run);
    if (status != MC_OK) mc_dense_free(c);
    return status;
}
