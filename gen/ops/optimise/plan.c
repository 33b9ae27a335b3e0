#include "ops/optimise/optimise.h"

const char *const optimise_real_names[] = {"f16", "bf16", "f32", NULL};
const char *const optimise_rule_names[] = {"sgd", "nesterov", "adam", "adamw", NULL};

/* Registers beside the words that a thread holds: what ptxas takes for sm_90. */
enum { SM_THREADS = 2048, OF_SGD = 32, OF_ADAM = 52, SM_REGISTERS = 65536, MOST_REGISTERS = 255 };

int optimise_operands(const optimise_plan *plan, optimise_operand operands[OPTIMISE_MAX_STREAMS]) {
    static const char *const grads[] = {"the gradient: f16[m][n]", "the gradient: bf16[m][n]",
                                        "the gradient: f32[m][n]"};
    static const char *const weights[] = {"the weight, in place: f16[m][n]",
                                          "the weight, in place: bf16[m][n]",
                                          "the weight, in place: f32[m][n]"};
    int count = 0;
    operands[count++] = (optimise_operand){"g", grads[plan->grad], plan->grad, true, false};
    if (plan->master)
        operands[count++] =
            (optimise_operand){"master", "the weight's copy, in place: f32[m][n]", OPTIMISE_F32, true, true};
    operands[count++] = (optimise_operand){
        "first", optimise_is_adam(plan) ? "Adam's m, in place: f32[m][n]" : "momentum, in place: f32[m][n]",
        OPTIMISE_F32, true, true};
    if (optimise_is_adam(plan))
        operands[count++] =
            (optimise_operand){"second", "Adam's v, in place: f32[m][n]", OPTIMISE_F32, true, true};
    operands[count++] = (optimise_operand){"w", weights[plan->weight], plan->weight, !plan->master, true};
    return count;
}

int optimise_element_bytes(const optimise_plan *plan) {
    optimise_operand operands[OPTIMISE_MAX_STREAMS];
    int count = optimise_operands(plan, operands), bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += optimise_bytes(operands[i].type) * (operands[i].read + operands[i].written);
    return bytes;
}

static void take_point(const int64_t *point, optimise_plan *plan) {
    *plan = (optimise_plan){.rule = (mc_rule)point[F_RULE],
                            .master = point[F_MASTER] != 0,
                            .grad = (optimise_real)point[F_LHS],
                            .weight = (optimise_real)point[F_OUT],
                            .unit = (int)point[F_UNIT],
                            .hold = (int)point[F_HOLD],
                            .warps = (int)point[F_WARPS],
                            .blocks = (int)point[F_BLOCKS],
                            .align = (int)point[F_ALIGN],
                            .m = point[F_M],
                            .n = point[F_N]};
}

/* Registers of the words that a thread holds. */
static int held_words(const optimise_plan *plan) {
    optimise_operand operands[OPTIMISE_MAX_STREAMS];
    int count = optimise_operands(plan, operands), bytes = 0;
    for (int i = 0; i < count; i++)
        if (operands[i].read) bytes += optimise_bytes(operands[i].type);
    return bytes * plan->unit * plan->hold / WORD;
}

int optimise_registers(const optimise_plan *plan) {
    return held_words(plan) + (optimise_is_adam(plan) ? OF_ADAM : OF_SGD);
}

void optimise_make_plan(const int64_t *point, void *data, mc_complaints *complaints) {
    optimise_plan *plan = data;
    take_point(point, plan);
    int threads = optimise_threads(plan), registers = optimise_registers(plan),
        limit = SM_REGISTERS / threads;
    if (plan->master && plan->weight == OPTIMISE_F32)
        complain(complaints, F_MASTER, "a weight of f32 is its own master: leave it out");
    if (threads * plan->blocks > SM_THREADS)
        complain(complaints, F_BLOCKS, "%d thread blocks of %d warps are more than %d threads", plan->blocks,
                 plan->warps, SM_THREADS);
    if (registers > limit || registers > MOST_REGISTERS)
        complain(complaints, F_HOLD, "%d registers a thread are too many for %d warps", registers,
                 plan->warps);
}
