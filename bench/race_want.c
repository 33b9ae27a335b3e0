/* What must come out of a problem: the exact sums in each order of C that somebody writes, and the outputs
   made of them. */
#include <math.h>
#include <stdlib.h>
#include "drawn.h"

/* Behind the factors on the device: 2^-14 for operands of s8 / 128, 0 where there is no bias, 1 where there
   is no scale. */
static const float constants[] = {0x1p-14F, 0, 1};
enum { CONSTANT_HALVED, CONSTANT_ZERO, CONSTANT_ONE, CONSTANTS };

/* mc_scale_fill suits products of 16 bits: of longer ones f16 would show infinities, which compare with
   nothing, and of floats, whose products are some 2^8 times smaller, little but zeros; with one side of
   integers they are smaller by less. */
static void fit_scales(race *r) {
    const variant_list *list = &r->track->variants;
    int longer = mc_type_bits(list->lhs) + mc_type_bits(list->rhs) - 16, exponent = longer > 0 ? -longer : 0;
    if (work_is_within(list)) exponent = mc_type_is_real(list->lhs) ? 8 : 4;
    for (size_t i = 0; i < r->factor_count; i++) r->factors[i] = ldexpf(r->factors[i], exponent);
}

bool race_is_within(const race *r) {
    return !r->track->rules.drawn && r->operation->make_range != NULL && work_is_within(&r->track->variants);
}

const float race_c_scale = 0.75F, race_zero = -11;

mc_status race_make_factors(race *r) {
    const problem_shape *s = &r->problem->shape;
    mc_device *device = r->track->gpu.device;
    size_t longer = (size_t)(s->m > s->n ? s->m : s->n), count = (longer + 3) / 4 * 4, /* 16 bytes */
        all = FACTOR_BLOCKS * count + CONSTANTS;
    r->factor_count = count;
    r->factors = calloc(all, sizeof *r->factors);
    if (r->factors == NULL) return mc_fail(r->diag, MC_NOMEM, "out of memory");
    mc_scale_fill(r->factors, (int64_t)count, MC_VALUES_FULL, 3);
    fit_scales(r);
    mc_bias_fill(r->factors + FACTOR_BIASES * count, (int64_t)count, MC_VALUES_FULL, 4);
    float *b_scales = r->factors + FACTOR_B_SCALES * count;
    mc_scale_fill(b_scales, (int64_t)count, MC_VALUES_FULL, 5);
    for (size_t i = 0; i < count; i++) b_scales[i] = ldexpf(b_scales[i], 12);
    for (size_t i = 0; i < CONSTANTS; i++) r->factors[FACTOR_BLOCKS * count + i] = constants[i];
    mc_status status = mc_device_alloc(device, all * sizeof *r->factors, &r->device_factors, r->diag);
    if (status != MC_OK) return status;
    return mc_device_write(device, r->device_factors, r->factors, all * sizeof *r->factors, r->diag);
}

uint64_t race_one(const race *r) {
    return race_factors_at(r, r->device_factors, FACTOR_BLOCKS) + CONSTANT_ONE * sizeof(float);
}

static output_rule rule_of(const race *r, const want_kind *kind) {
    const mc_output *output = &kind->output;
    uint64_t biases = race_factors_at(r, r->device_factors, FACTOR_BIASES),
             behind = race_factors_at(r, r->device_factors, FACTOR_BLOCKS);
    bool scaled = output->scale != MC_PER_NONE, biased = output->bias != MC_PER_NONE;
    return (output_rule){.scale = kind->halved ? behind + CONSTANT_HALVED * sizeof(float)
                                  : scaled     ? r->device_factors
                                               : behind + CONSTANT_ONE * sizeof(float),
                         .bias = biased ? biases : behind + CONSTANT_ZERO * sizeof(float),
                         .scale_row = output->scale == MC_PER_ROW,
                         .scale_col = output->scale == MC_PER_COLUMN,
                         .bias_row = output->bias == MC_PER_ROW,
                         .bias_col = output->bias == MC_PER_COLUMN,
                         .least = output->activation == MC_ACTIVATION_RELU ? 0 : -INFINITY};
}

int64_t race_elements(const race *r, result_order order) {
    const problem_shape *s = &r->problem->shape;
    return order == ORDER_ROWS ? s->m * s->n : r->work->orders[order].elements;
}

problem_shape race_shape(const race *r) {
    const problem_shape *s = &r->problem->shape;
    return r->operation->turned ? (problem_shape){s->k, s->n, s->m} : *s;
}

/* What is left unwritten is wrong. */
mc_status race_make_sums(race *r, result_order order) {
    our_sums *sums = &r->sums[order];
    mc_device *device = r->track->gpu.device;
    if (sums->address != 0) return MC_OK;
    sums->order = order;
    sums->elements = race_elements(r, order);
    size_t bytes = (size_t)sums->elements * sizeof(int32_t);
    mc_status status = mc_device_alloc(device, bytes, &sums->address, r->diag);
    if (status == MC_OK) status = mc_device_fill(device, sums->address, 0x80, bytes, r->diag);
    if (status != MC_OK) return status;
    return r->track->rules.drawn ? drawn_sums(r, sums, r->diag) : r->operation->make_sums(r, sums, r->diag);
}

host_operands race_operands(const race *r) {
    const mc_operator *op = operator_of(r->operation->op);
    host_operands operands = {.matrix = &r->work->a, .inputs[0] = &r->problem->a};
    for (size_t i = 0; i < op->operand_count; i++) {
        const mc_dense *other = &r->problem->others[i];
        if (other->data == NULL) continue;
        if (op->operands[i].kind == OPERAND_FACTOR) operands.factors[i] = other->data;
        else operands.inputs[i] = other;
    }
    return operands;
}

mc_status race_write_reals(race *r, const mc_dense *c, uint64_t out, mc_diag *diag) {
    size_t count = (size_t)(c->rows * c->cols);
    float *reals = malloc(count * sizeof *reals + 1);
    if (reals == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    for (size_t i = 0; i < count; i++)
        reals[i] = (float)mc_dense_real(c, (int64_t)i / c->cols, (int64_t)i % c->cols);
    mc_status status = mc_device_write(r->track->gpu.device, out, reals, count * sizeof *reals, diag);
    free(reals);
    return status;
}

mc_status race_write_middles(race *r, our_sums *sums, mc_diag *diag) {
    const float *least = r->problem->within.least.data, *most = r->problem->within.most.data;
    float *middles = malloc((size_t)sums->elements * sizeof *middles + 1);
    if (middles == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    for (int64_t i = 0; i < sums->elements; i++)
        middles[i] = (float)(((double)least[i] + (double)most[i]) / 2);
    mc_status status = mc_device_write(r->track->gpu.device, sums->address, middles,
                                       (size_t)sums->elements * sizeof *middles, diag);
    free(middles);
    return status;
}

static bool same_kind(const want_kind *a, const want_kind *b) {
    return a->output.type == b->output.type && a->output.scale == b->output.scale &&
           a->output.bias == b->output.bias && a->output.activation == b->output.activation &&
           a->output.masked == b->output.masked && a->output.b_scale == b->output.b_scale &&
           a->output.c_scale == b->output.c_scale && a->output.zero == b->output.zero &&
           a->order == b->order && a->halved == b->halved;
}

static mc_status write_range(race *r, const want_kind *kind, const want_place *place, mc_diag *diag) {
    reference_result want = {0};
    mc_status status = r->operation->make_range(r, kind, &want, diag);
    if (status == MC_OK) status = race_write_reals(r, &want.low, place->want, diag);
    if (status == MC_OK) status = race_write_reals(r, &want.high, place->most, diag);
    mc_result_free(&want);
    return status;
}

static mc_status make_want(race *r, const our_sums *sums, our_want *made, mc_diag *diag) {
    const output_rule rule = rule_of(r, &made->kind);
    mc_device *device = r->track->gpu.device;
    size_t bytes = (size_t)sums->elements * sizeof(float);
    bool within = race_is_within(r);
    mc_status status = mc_device_alloc(device, bytes, &made->place.want, diag);
    if (status == MC_OK && within) status = mc_device_alloc(device, bytes, &made->place.most, diag);
    if (status != MC_OK) return status;
    if (within) return write_range(r, &made->kind, &made->place, diag);
    if (r->track->rules.drawn) return drawn_output(r, sums, &made->kind, &rule, made->place.want, diag);
    return r->operation->make_output(r, sums, &made->kind, &rule, made->place.want, diag);
}

mc_status race_find_want(race *r, const want_kind *kind, want_place *place, mc_diag *diag) {
    const our_sums *sums = &r->sums[kind->order];
    *place = (want_place){sums->address, 0};
    if (kind->output.type == MC_S32 || kind->about) return MC_OK;
    for (size_t i = 0; i < r->want_count; i++) {
        *place = r->wants[i].place;
        if (same_kind(&r->wants[i].kind, kind)) return MC_OK;
    }
    if (r->want_count == MAX_WANTS)
        return mc_fail(diag, MC_CANNOT, "more than %d kinds of output in one run", MAX_WANTS);
    our_want *made = &r->wants[r->want_count++];
    made->kind = *kind;
    mc_status status = make_want(r, sums, made, diag);
    *place = made->place;
    return status;
}

void race_drop_wants(race *r) {
    mc_device *device = r->track->gpu.device;
    for (int i = 0; i < ORDER_COUNT; i++) {
        mc_device_free(device, r->sums[i].address);
        mc_device_free(device, r->sums[i].slots);
        mc_device_free(device, r->sums[i].values);
    }
    for (size_t i = 0; i < r->want_count; i++) {
        mc_device_free(device, r->wants[i].place.want);
        mc_device_free(device, r->wants[i].place.most);
    }
    mc_device_free(device, r->device_factors);
    free(r->factors);
}
