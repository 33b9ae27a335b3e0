/* optimise: an optimiser's step, in place. docs/optimise.md says what is computed, to the bit. */
#include <math.h>
#include "ops/operator.h"
#include "ops/output.h"

extern const mc_operator operator_optimise;

enum { G, HYPER, MASTER, FIRST, SECOND, W };

/* What is usual, in a step that is not the first one. Of extreme ones a few are none. */
static void fill_hyper(float *hyper, int64_t count, mc_value_law law, uint64_t seed) {
    static const float usual[MC_HYPERS] = {
        [MC_HYPER_RATE] = 0x1p-10F,     [MC_HYPER_DECAY] = 0.01F,     [MC_HYPER_UNSCALE] = 0x1p-3F,
        [MC_HYPER_MOMENTUM] = 0.9F,     [MC_HYPER_BETA2] = 0.999F,    [MC_HYPER_EPSILON] = 1e-8F,
        [MC_HYPER_CORRECT1] = 1.23456F, [MC_HYPER_CORRECT2] = 54.321F};
    for (int64_t i = 0; i < count; i++) hyper[i] = usual[i];
    if (law != MC_VALUES_EXTREME) return;
    hyper[seed % MC_HYPERS] = seed / MC_HYPERS % 2 ? INFINITY : 0;
}

/* Without gaps, as all operands. */
#define MATRIX .kind = OPERAND_DENSE, .rows = MEMBER_m, .cols = MEMBER_n
static const operand_row operands[] = {
    [G] = {.name = "g", MATRIX, .type = MEMBER_lhs, .argument = offsetof(mc_args, a)},
    [HYPER] = {.name = "hyper", .kind = OPERAND_FACTOR, .count = MC_HYPERS, .fill = fill_hyper},
    [MASTER] = {.name = "master", MATRIX, .in_place = true, .only_if = MEMBER_master},
    [FIRST] = {.name = "first", MATRIX, .in_place = true},
    [SECOND] = {.name = "second",
                MATRIX,
                .in_place = true,
                .magnitudes = true,
                .only_if = MEMBER_rule,
                .least = MC_RULE_ADAM},
    [W] = {.name = "w",
           MATRIX,
           .in_place = true,
           .out = true,
           .type = MEMBER_out,
           .argument = offsetof(mc_args, c)},
};

/* -- What there are no kernels for */

static mc_status check(const plan_problem *p, mc_type matrix, mc_diag *diag) {
    (void)matrix;
    if (!type_is_wide_real(p->lhs))
        return mc_fail(diag, MC_CANNOT, "a is %s, gradients are f16, bf16 or f32", mc_type_text(p->lhs));
    if (!type_is_wide_real(p->out))
        return mc_fail(diag, MC_CANNOT, "c is %s, weights are f16, bf16 or f32", mc_type_text(p->out));
    if (!p->master || p->out != MC_F32) return MC_OK;
    return mc_fail(diag, MC_USAGE, "c is f32, which is its own master: leave master out");
}

/* -- The reference */

/* An element in f32: the weight, or its copy; and the moments. */
typedef struct element {
    float g, w, first, second;
} element;

static void step_sgd(const float *hyper, bool nesterov, element *x) {
    float momentum = hyper[MC_HYPER_MOMENTUM], g = fmaf(hyper[MC_HYPER_DECAY], x->w, x->g);
    x->first = fmaf(momentum, x->first, g);
    x->w = fmaf(-hyper[MC_HYPER_RATE], nesterov ? fmaf(momentum, x->first, g) : x->first, x->w);
}

static void step_adam(const float *hyper, bool decoupled, element *x) {
    float rate = hyper[MC_HYPER_RATE], decay = hyper[MC_HYPER_DECAY], beta1 = hyper[MC_HYPER_MOMENTUM],
          beta2 = hyper[MC_HYPER_BETA2], g = decoupled ? x->g : fmaf(decay, x->w, x->g);
    if (decoupled) x->w = fmaf(-rate * decay, x->w, x->w);
    x->first = fmaf(beta1, x->first, (1 - beta1) * g);
    x->second = fmaf(beta2, x->second, (1 - beta2) * g * g);
    float root = sqrtf(x->second * hyper[MC_HYPER_CORRECT2]) + hyper[MC_HYPER_EPSILON];
    x->w = fmaf(-rate, x->first * hyper[MC_HYPER_CORRECT1] / root, x->w);
}

/* Element (I, J) before the step; then what it becomes. */
static element made(const host_operands *o, int64_t i, int64_t j) {
    const plan_problem *p = o->problem;
    bool adam = p->rule >= MC_RULE_ADAM;
    element x = {.g = (float)mc_dense_real(o->inputs[G], i, j) * o->factors[HYPER][MC_HYPER_UNSCALE],
                 .w = (float)mc_dense_real(o->inputs[p->master ? MASTER : W], i, j),
                 .first = (float)mc_dense_real(o->inputs[FIRST], i, j),
                 .second = adam ? (float)mc_dense_real(o->inputs[SECOND], i, j) : 0};
    if (adam) step_adam(o->factors[HYPER], p->rule == MC_RULE_ADAMW, &x);
    else step_sgd(o->factors[HYPER], p->rule == MC_RULE_NESTEROV, &x);
    return x;
}

/* What operand INDEX becomes, in TYPE. */
static mc_status make(const host_operands *o, size_t index, mc_type type, mc_dense *result, mc_diag *diag) {
    const plan_problem *p = o->problem;
    mc_status status = mc_dense_create(type, p->m, p->n, p->n, result, diag);
    for (int64_t i = 0; status == MC_OK && i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            const element x = made(o, i, j);
            float real = index == FIRST ? x.first : index == SECOND ? x.second : x.w;
            mc_dense_set(result, i, j, output_element(type, real, NULL));
        }
    return status;
}

/* The weight before it is rounded. */
static mc_status sums(const host_operands *o, mc_dense *result, mc_diag *diag) {
    return make(o, W, MC_F32, result, diag);
}

static mc_status finish(const host_operands *o, const mc_dense *exact, mc_dense *w, mc_diag *diag) {
    const plan_problem *p = o->problem;
    mc_status status = mc_dense_create(p->out, p->m, p->n, p->n, w, diag);
    for (int64_t i = 0; status == MC_OK && i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++)
            mc_dense_set(w, i, j, output_element(p->out, (float)mc_dense_real(exact, i, j), NULL));
    return status;
}

static mc_status other(const host_operands *o, const mc_dense *exact, size_t index, reference_result *out,
                       mc_diag *diag) {
    (void)exact;
    *out = (reference_result){0};
    return make(o, index, MC_F32, &out->low, diag);
}

/* -- The row */

const mc_operator operator_optimise = {
    .op = MC_OP_OPTIMISE,
    .name = "optimise",
    .title = "optimise",
    .members =
        HAS(op) | HAS(lhs) | HAS(out) | HAS(rule) | HAS(master) | HAS(shapes) | HAS(align) | HAS(m) | HAS(n),
    .matrix = {.rows = MEMBER_m},
    .size = MEMBER_n,
    .operands = operands,
    .operand_count = sizeof operands / sizeof *operands,
    .estimates = true,
    .check = check,
    .sums = sums,
    .finish = finish,
    .other = other,
};
