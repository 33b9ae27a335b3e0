#include "products.h"
#include <stdlib.h>

mc_status products_sums(race *r, our_sums *sums, mc_diag *diag) {
    if (r->problem->want == NULL) return race_write_middles(r, sums, diag);
    return mc_device_write(r->track->gpu.device, sums->address, r->problem->want,
                           (size_t)sums->elements * sizeof(int32_t), diag);
}

/* What the helpers' kernels do not compute. */
static bool is_more(const mc_output *o) {
    return mc_type_bytes(o->type) == 1 || o->activation > MC_ACTIVATION_RELU || o->b_scale != MC_PER_NONE ||
           o->c_scale != MC_PER_NONE || o->zero != MC_PER_NONE;
}

static mc_factors factors_of(const race *r) {
    return (mc_factors){.scale = race_factors(r, FACTOR_SCALES),
                        .b_scale = race_factors(r, FACTOR_B_SCALES),
                        .bias = race_factors(r, FACTOR_BIASES),
                        .c_scale = &race_c_scale,
                        .zero = &race_zero};
}

static mc_status make_on_host(race *r, const mc_output *output, uint64_t out, mc_diag *diag) {
    const problem_shape *s = &r->problem->shape;
    const mc_factors factors = factors_of(r);
    mc_dense sums = {0}, c = {0};
    mc_status status = mc_dense_create(MC_S64, s->m, s->n, s->n, &sums, diag);
    for (int64_t i = 0; status == MC_OK && i < s->m * s->n; i++)
        ((int64_t *)sums.data)[i] = r->problem->want[i];
    if (status == MC_OK) status = mc_reference_output(output, &factors, &sums, &c, diag);
    if (status == MC_OK) status = race_write_reals(r, &c, out, diag);
    mc_dense_free(&sums);
    mc_dense_free(&c);
    return status;
}

mc_status products_output(race *r, const our_sums *sums, const want_kind *kind, const output_rule *rule,
                          uint64_t out, mc_diag *diag) {
    const problem_shape *s = &r->problem->shape;
    if (is_more(&kind->output)) return make_on_host(r, &kind->output, out, diag);
    return helpers_output(&r->track->helpers, kind->output.type, sums->address, out, s->m, s->n, rule, diag);
}

mc_status products_range(race *r, const want_kind *kind, reference_result *want, mc_diag *diag) {
    const mc_factors factors = factors_of(r);
    return mc_reference_range(&kind->output, &factors, &r->problem->within, want, diag);
}
