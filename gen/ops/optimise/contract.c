/* What launching an optimiser's step takes, and what --describe says of it. */
#include "ops/optimise/optimise.h"
#include <stdio.h>

#define FIRST_HYPERS "f32[8]: rate, decay, 1 / loss scale, "

static void add_operands(const optimise_plan *plan, mc_contract *c) {
    optimise_operand operands[OPTIMISE_MAX_STREAMS];
    int count = optimise_operands(plan, operands);
    for (int i = 0; i < count; i++) {
        int element = optimise_bytes(operands[i].type), align = plan->align > element ? plan->align : element;
        add_param(c, (mc_param){operands[i].name, "u64", MC_PARAM_ARRAY, (unsigned)align, operands[i].doc});
    }
}

void optimise_contract(const void *data, mc_contract *c) {
    const optimise_plan *plan = data;
    add_operands(plan, c);
    add_param(c, (mc_param){"hyper", "u64", MC_PARAM_ARRAY, OPTIMISE_PIECE,
                            optimise_is_adam(plan) ? FIRST_HYPERS
                                "beta1, beta2, epsilon, 1 / (1 - beta1^t), 1 / (1 - beta2^t)"
                                                   : FIRST_HYPERS "momentum; four that are not read"});
    add_shape(c, "m", plan->m, "rows");
    add_shape(c, "n", plan->n, "columns");
    c->grid[0] = (mc_grid_axis){"multiprocessors", 1};
    c->grid[1] = (mc_grid_axis){NULL, plan->blocks};
    c->grid[2] = (mc_grid_axis){NULL, 1};
    c->block[0] = (unsigned)optimise_threads(plan), c->block[1] = c->block[2] = 1;
}

void optimise_facts(const void *data, mc_facts *facts) {
    const optimise_plan *plan = data;
    int threads = optimise_threads(plan);
    add_fact(facts, "threads", threads, "a thread block");
    add_fact(facts, "thread_blocks", plan->blocks, "for each multiprocessor");
    add_fact(facts, "turn_elements", (int64_t)threads * plan->hold * plan->unit,
             "that a thread block takes at once");
    add_fact(facts, "element_bytes", optimise_element_bytes(plan), "read and written for each element");
}

const char *optimise_computes(const void *data) {
    static const char *const texts[] = {
        [MC_RULE_SGD] = "first = momentum * first + g + decay * w; w = w - rate * first.",
        [MC_RULE_NESTEROV] =
            "d = g + decay * w; first = momentum * first + d; w = w - rate * (d + momentum * first).",
        [MC_RULE_ADAM] = "first, second = moments of g + decay * w and its square; w = w - rate * first' / "
                         "(sqrt(second') + epsilon).",
        [MC_RULE_ADAMW] = "first, second = moments of g and its square; w = w - rate * decay * w - rate * "
                          "first' / (sqrt(second') + epsilon)."};
    const optimise_plan *plan = data;
    return texts[plan->rule];
}

void optimise_entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    const optimise_plan *plan = data;
    snprintf(name, MC_MAX_ENTRY, "optimise_%s_%s_%s%s_u%d_h%d_w%d_b%d", optimise_rule_names[plan->rule],
             optimise_real_names[plan->grad], optimise_real_names[plan->weight],
             plan->master ? "_master" : "", plan->unit, plan->hold, plan->warps, plan->blocks);
}
