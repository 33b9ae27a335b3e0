/* A plan's launch: parameters bound and checked once, with addresses that each execution replaces. */
#include <string.h>
#include "formats/sampled.h"
#include "problem/binding_set.h"
#include "plan/plan.h"

enum {
    NOWHERE = 256,          /* stands for an address until there is one: aligned as any may have to be */
    SIM_MULTIPROCESSORS = 2 /* few, so that thread blocks take turns on the simulator too */
};

static void bind_problem(binding_set *set, const mc_operator *o, const plan_problem *problem) {
    bind_sizes(set, problem);
    for (size_t i = 0; i < o->operand_count; i++)
        if (operand_is_there(problem, &o->operands[i])) bind_value(set, o->operands[i].name, NOWHERE);
}

static void bind_packing(binding_set *set, const matrix_packing *packing, const char *matrix) {
    static const mc_packed nothing;
    const mc_packed *host = packing != NULL ? &packing->host : &nothing;
    if (matrix != NULL) bind_value(set, matrix, (int64_t)packing->arrays[0]);
    for (size_t i = 0; i < host->array_count; i++)
        bind_value(set, host->arrays[i].name, (int64_t)packing->arrays[i]);
    bind_value(set, "item_count", mc_sampled_items(host));
    bind_value(set, "window_items", mc_sampled_longest(host));
}

/* -- What executions bring */

/* What has no elements is not read. */
static bool is_wanted(const plan_problem *problem, const operand_row *operand) {
    if (!operand_is_there(problem, operand)) return false;
    if (operand->kind == OPERAND_FACTOR) return operand_is_factors(problem, operand);
    bool of_matrix = operand->kind == OPERAND_VALUES || operand->kind == OPERAND_SAMPLED;
    if (of_matrix) return operand->out || problem->features.vectors > 0;
    const mc_dense shape = operand_shape(problem, operand);
    return operand->out || (shape.rows > 0 && shape.cols > 0);
}

static int find_slot(const mc_contract *contract, const char *name, mc_param_kind kind) {
    for (size_t i = 0; i < contract->param_count; i++)
        if (contract->params[i].kind == kind && strcmp(contract->params[i].name, name) == 0) return (int)i;
    return PLAN_NONE;
}

/* Operands are aligned as the configuration promises and the kernel wants (one with a tensor map takes no
   promise of less than MC_TENSOR_MAP_ALIGN); scales and biases as the kernel wants. */
static void describe_argument(const plan_problem *problem, const mc_contract *contract,
                              const operand_row *operand, struct plan_argument *argument) {
    int slot = find_slot(contract, operand->name, MC_PARAM_ARRAY);
    unsigned align = operand->kind == OPERAND_FACTOR ? 1 : problem->align;
    if (slot != PLAN_NONE && contract->params[slot].align > align) align = contract->params[slot].align;
    *argument = (struct plan_argument){.from = operand,
                                       .wanted = is_wanted(problem, operand),
                                       .slot = slot,
                                       .align = align,
                                       .value_slot = find_slot(contract, operand->name, MC_PARAM_SCALAR)};
}

static void describe_arguments(const plan_problem *problem, const mc_contract *contract,
                               plan_launch *launch) {
    const mc_operator *o = launch->operator;
    for (size_t i = 0; i < launch->map_count; i++) {
        launch->maps[i].slot = find_slot(contract, contract->maps[i].param, MC_PARAM_TENSOR_MAP);
        launch->maps[i].argument = operator_operand(o, contract->maps[i].array);
    }
    int slot = find_slot(contract, MC_WORKSPACE, MC_PARAM_ARRAY);
    if (slot != PLAN_NONE && launch->workspace.bytes > 0)
        launch->workspace.slot = slot, launch->workspace.align = contract->params[slot].align;
    for (size_t i = 0; i < o->operand_count; i++)
        describe_argument(problem, contract, &o->operands[i], &launch->arguments[i]);
}

/* Describes the tensors of maps. Something stands for the maps until there are any. */
static mc_status bind_tensors(const mc_kernel *kernel, binding_set *set, plan_launch *launch, mc_diag *diag) {
    static const mc_tensor_map no_map;
    const mc_contract *contract = mc_kernel_contract(kernel);
    mc_status status = MC_OK;
    for (size_t i = 0; i < contract->map_count && status == MC_OK; i++) {
        status = mc_bind_tensor(kernel, i, set->items, set->count, &launch->maps[i].tensor, diag);
        bind_value(set, contract->maps[i].param, (int64_t)(uintptr_t)&no_map);
    }
    launch->map_count = contract->map_count;
    return status;
}

static size_t workspace_bytes(const mc_kernel *kernel, const matrix_packing *packing,
                              const plan_problem *problem) {
    return mc_workspace_bytes(kernel, packing != NULL ? &packing->host : NULL, problem->n, problem->batch);
}

/* -- The whole */

mc_status plan_launch_make(const mc_context *context, const plan_problem *problem, const mc_kernel *kernel,
                           const matrix_packing *packing, const char *matrix, plan_launch *launch,
                           mc_diag *diag) {
    const mc_contract *contract = mc_kernel_contract(kernel);
    binding_set set = {.count = 0};
    *launch = (plan_launch){.operator= operator_of(problem->op)};
    bind_packing(&set, packing, matrix); /* first: of two bindings of a name the first one counts */
    bind_problem(&set, launch->operator, problem);
    launch->workspace = (struct plan_workspace){workspace_bytes(kernel, packing, problem), PLAN_NONE, 1};
    bind_value(&set, MC_WORKSPACE, NOWHERE);
    int multiprocessors = mc_device_get_info(context->device)->multiprocessors;
    bind_value(&set, "multiprocessors", multiprocessors > 0 ? multiprocessors : SIM_MULTIPROCESSORS);
    mc_status status = bind_tensors(kernel, &set, launch, diag);
    if (status != MC_OK) return status;
    status = mc_bind(kernel, set.items, set.count, &launch->launch, diag);
    if (status != MC_OK) return status;
    /* A kernel that begins early reads the matrix then, and the one ahead may be writing a borrowed one. */
    if (packing != NULL && packing->borrowed) launch->launch.overlap = false;
    describe_arguments(problem, contract, launch);
    if (matrix != NULL) launch->arguments[operator_operand(launch->operator, matrix)].wanted = false;
    return MC_OK;
}
