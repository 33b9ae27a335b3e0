/* A plan's launch: parameters bound and checked once, with addresses that each execution replaces. */
#include <string.h>
#include "formats/sampled.h"
#include "problem/binding_set.h"
#include "plan/plan.h"

const char *const plan_argument_names[PLAN_ARGUMENTS] = {"a", "b", "c", "scale", "bias"};

enum { NOWHERE = 256 }; /* stands for an address until there is one: aligned as any may have to be */

static void bind_problem(binding_set *set, const plan_problem *problem) {
    bind_sizes(set, problem);
    for (int i = 0; i < PLAN_ARGUMENTS; i++) bind_value(set, plan_argument_names[i], NOWHERE);
}

static void bind_packing(binding_set *set, const matrix_packing *packing) {
    const mc_packed *host = &packing->host;
    for (size_t i = 0; i < host->array_count; i++)
        bind_value(set, host->arrays[i].name, (int64_t)packing->arrays[i]);
    bind_value(set, "item_count", mc_sampled_items(host));
    bind_value(set, "window_items", mc_sampled_longest(host));
}

/* -- What executions bring */

static bool is_array(mc_per per) { return per == MC_PER_ROW || per == MC_PER_COLUMN; }

/* Without k, A and B have no elements, and nobody reads them. */
static bool is_wanted(const plan_problem *problem, plan_argument argument) {
    switch (argument) {
    case PLAN_A: return problem->op == MC_OP_SDDMM && problem->k > 0;
    case PLAN_B: return problem->k > 0;
    case PLAN_SCALE: return is_array(problem->scale);
    case PLAN_BIAS: return is_array(problem->bias);
    default: return true;
    }
}

static int find_slot(const mc_contract *contract, const char *name, mc_param_kind kind) {
    for (size_t i = 0; i < contract->param_count; i++)
        if (contract->params[i].kind == kind && strcmp(contract->params[i].name, name) == 0) return (int)i;
    return PLAN_NONE;
}

/* Operands are aligned as the configuration promises and the kernel wants (one with a tensor map takes no
   promise of less than MC_TENSOR_MAP_ALIGN); scales and biases as the kernel wants. */
static void describe_argument(const plan_problem *problem, const mc_contract *contract,
                              plan_argument argument, plan_launch *launch) {
    const char *name = plan_argument_names[argument];
    int slot = find_slot(contract, name, MC_PARAM_ARRAY);
    bool operand = argument == PLAN_A || argument == PLAN_B || argument == PLAN_C;
    unsigned align = operand ? problem->align : 1;
    if (slot != PLAN_NONE && contract->params[slot].align > align) align = contract->params[slot].align;
    launch->arguments[argument].wanted = is_wanted(problem, argument);
    launch->arguments[argument].slot = slot;
    launch->arguments[argument].align = align;
}

static void describe_arguments(const plan_problem *problem, const mc_contract *contract,
                               plan_launch *launch) {
    launch->map_slot = PLAN_NONE;
    if (contract->map.param != NULL)
        launch->map_slot = find_slot(contract, contract->map.param, MC_PARAM_TENSOR_MAP);
    launch->scale_slot = find_slot(contract, plan_argument_names[PLAN_SCALE], MC_PARAM_SCALAR);
    for (int i = 0; i < PLAN_ARGUMENTS; i++) describe_argument(problem, contract, (plan_argument)i, launch);
}

/* -- The whole */

mc_status plan_launch_make(const mc_context *context, const plan_problem *problem, const mc_kernel *kernel,
                           const matrix_packing *packing, plan_launch *launch, mc_diag *diag) {
    static const mc_tensor_map no_map; /* stands for the map until there is one */
    const mc_contract *contract = mc_kernel_contract(kernel);
    binding_set set = {.count = 0};
    *launch = (plan_launch){0};
    bind_problem(&set, problem);
    bind_packing(&set, packing);
    bind_value(&set, "multiprocessors", mc_device_get_info(context->device)->multiprocessors);
    mc_status status = mc_bind_tensor(kernel, set.items, set.count, &launch->tensor, diag);
    if (status != MC_OK) return status;
    if (contract->map.param != NULL) bind_value(&set, contract->map.param, (int64_t)(uintptr_t)&no_map);
    status = mc_bind(kernel, set.items, set.count, &launch->launch, diag);
    if (status == MC_OK) describe_arguments(problem, contract, launch);
    return status;
}
