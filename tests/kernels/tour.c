#include "tour.h"
#include <stdlib.h>
#include "proof.h"

const char *const tour_types[TOUR_TYPES] = {"s4", "u4", "s8", "u8", "s12", "u12", "s16", "u16"};
const char *const tour_vecs[TOUR_VECS] = {"2", "4", "8"};
const char *const tour_orders[TOUR_ORDERS] = {"sim", "sim:reversed:landing=first", "sim:seed=1",
                                              "sim:seed=2:landing=last"};
const char *const tour_modes[TOUR_MODES] = {"open", "fixed", "unaligned"};

bool tour_open(tour *t, const char *spec_path, size_t turn) {
    *t = (tour){.spec_path = spec_path, .diag = mc_diag_create(), .turn = turn};
    return proof_open(tour_orders, TOUR_ORDERS, &t->device, t->diag) == MC_OK;
}

void tour_close(tour *t) {
    mc_device_close(t->device);
    mc_diag_destroy(t->diag);
}

mc_device *tour_device(const tour *t, int order) {
    proof_choose(t->device, order, 1);
    return t->device;
}

unsigned tour_choose(const tour *t, unsigned what, unsigned count) {
    uint64_t x = (t->turn * 16 + what) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    return (unsigned)(x >> 33) % count;
}

mc_status tour_kernel(const tour *t, const mc_setting *settings, size_t count, size_t variant,
                      mc_kernel **kernel) {
    mc_spec *spec = NULL;
    mc_status status = mc_spec_read(t->spec_path, settings, count, &spec, t->diag);
    if (status == MC_OK)
        status = mc_kernel_generate(spec, variant % mc_spec_variant_count(spec), kernel, t->diag);
    mc_spec_destroy(spec);
    return status;
}

size_t tour_fix(const problem_case *c, const problem_kind *kind, unsigned shapes, fixed_settings *fixed,
                mc_setting *settings, size_t count) {
    problem_fix(c, kind, fixed);
    for (int i = 0; i < PROBLEM_SHAPES; i++)
        if (shapes >> i & 1) settings[count++] = fixed->settings[i];
    return count;
}

mc_status tour_kind(const tour *t, int lhs, int rhs, int vec, problem_operator op, problem_kind *kind) {
    *kind = (problem_kind){.vec = atoi(tour_vecs[vec]), .op = op};
    mc_status status = mc_type_from_text(tour_types[lhs], &kind->lhs, t->diag);
    return status == MC_OK ? mc_type_from_text(tour_types[rhs], &kind->rhs, t->diag) : status;
}

bool tour_is_beyond_s32(const mc_dense *sums) {
    for (int64_t i = 0; i < sums->rows; i++)
        for (int64_t j = 0; j < sums->cols; j++) {
            int64_t sum = mc_dense_get(sums, i, j);
            if (sum < INT32_MIN || sum > INT32_MAX) return true;
        }
    return false;
}
