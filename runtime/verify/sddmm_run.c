/* One SDDMM on a device. */
#include "verify/run.h"

static mc_status check_shapes(const mc_sddmm *problem, mc_layout layout, mc_diag *diag) {
    const mc_vsparse *mask = problem->mask;
    int64_t n = mc_layout_n(layout, problem->b), k = mc_layout_k(layout, problem->b);
    if (problem->a->rows != mask->rows || n != mask->cols)
        return mc_fail(diag, MC_CANNOT, "the mask is %lld x %lld, A has %lld rows, B %lld columns",
                       (long long)mask->rows, (long long)mask->cols, (long long)problem->a->rows,
                       (long long)n);
    if (problem->a->cols == k) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "A has %lld columns, B %lld rows", (long long)problem->a->cols,
                   (long long)k);
}

static mc_status check_problem(const device_run *run, const mc_sddmm *problem, mc_diag *diag) {
    mc_layout layout;
    mc_status status = mc_layout_of(run->kernel, &layout, diag);
    if (status == MC_OK) status = check_shapes(problem, layout, diag);
    if (status == MC_OK) status = run_check_type(run, "A", "lhs", problem->a, diag);
    if (status == MC_OK) status = run_check_type(run, "B", "rhs", problem->b, diag);
    if (status == MC_OK) status = run_check_offset("A", problem->a_offset, diag);
    if (status == MC_OK) status = run_check_offset("B", problem->b_offset, diag);
    if (status == MC_OK) status = run_check_offset("C", problem->c_offset, diag);
    return status == MC_OK ? run_check_factor(run->output.scale, problem->scale, "scale", diag) : status;
}

static void bind_shapes(device_run *run, const mc_sddmm *problem) {
    run_bind(run, "m", problem->mask->rows);
    run_bind(run, "n", problem->mask->cols);
    run_bind(run, "k", problem->a->cols);
    run_bind(run, "lda", problem->a->ld);
    run_bind(run, "ldb", problem->b->ld);
    run_bind(run, "item_count", mc_sampled_items(&run->packed));
    run_bind(run, "window_items", mc_sampled_longest(&run->packed));
}

static mc_status run_all(device_run *run, const char *ptx, const mc_sddmm *problem, mc_timing *timing,
                         mc_dense *c, mc_diag *diag) {
    mc_status status = run_put_packed(run, problem->mask, diag);
    if (status == MC_OK && run_span(c) == 0) return MC_OK; /* an empty mask: a grid without blocks */
    if (status == MC_OK) status = run_put_dense(run, "a", problem->a, problem->a_offset, diag);
    if (status == MC_OK) status = run_put_dense(run, "b", problem->b, problem->b_offset, diag);
    if (status == MC_OK)
        status = run_put_factors(run, "scale", run->output.scale, problem->scale, problem->mask->rows,
                                 problem->mask->cols, diag);
    if (status == MC_OK) status = run_put_c(run, c, problem->c_offset, diag);
    bind_shapes(run, problem);
    return status == MC_OK ? run_launch(run, ptx, timing, c, diag) : status;
}

mc_status mc_sddmm_run(mc_device *device, const mc_kernel *kernel, const char *ptx, const mc_sddmm *problem,
                       mc_timing *timing, mc_dense *c, mc_diag *diag) {
    device_run run = {0};
    mc_order order;
    *c = (mc_dense){0};
    if (timing != NULL) timing->microseconds = 0;
    mc_status status = run_open(&run, device, kernel, diag);
    if (status == MC_OK) status = check_problem(&run, problem, diag);
    if (status == MC_OK) status = mc_order_of(kernel, &order, diag);
    if (status == MC_OK) status = mc_sampled_create(problem->mask, order, run.output.type, c, diag);
    if (status == MC_OK) status = run_all(&run, ptx, problem, timing, c, diag);
    run_close(&run);
    if (status != MC_OK) mc_dense_free(c);
    return status;
}
