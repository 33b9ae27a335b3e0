/* One launch: addresses put in, and off it goes. Nothing here allocates, locks, or reads a file, but for what
   a failure's message takes. */
#include <string.h>
#include "plan/plan.h"

#define ARGS_FIRST STRUCT_SIZE_TO(mc_args, scale_value)

static mc_status refuse(const plan_launch *plan, size_t argument, mc_address address, mc_diag *diag) {
    const char *name = plan->operator->operands[argument].name;
    if (address == 0) return mc_fail(diag, MC_CANNOT, "%s is missing", name);
    return mc_fail(diag, MC_CANNOT, "%s lies at 0x%llx, which is not a multiple of %u bytes", name,
                   (unsigned long long)address, plan->arguments[argument].align);
}

/* -- What ARGS say */

/* Of the list, the last one with NAME; NULL: none. */
static const mc_argument *listed(const mc_args *args, const char *name) {
    for (size_t i = args->list_count; i-- > 0;)
        if (args->list[i].name != NULL && strcmp(args->list[i].name, name) == 0) return &args->list[i];
    return NULL;
}

static mc_address address_of(const mc_args *args, const operand_row *operand) {
    const mc_argument *named = args->list_count > 0 ? listed(args, operand->name) : NULL;
    mc_address address = 0;
    if (named != NULL) return named->address;
    if (operand->argument != 0) memcpy(&address, (const char *)args + operand->argument, sizeof address);
    return address;
}

/* scale_value is the value of the factor that mc_args has as `scale`. */
static float value_of(const mc_args *args, const operand_row *operand) {
    const mc_argument *named = args->list_count > 0 ? listed(args, operand->name) : NULL;
    if (named != NULL) return named->value;
    return operand->argument == offsetof(mc_args, scale) ? args->scale_value : 0;
}

static mc_status check_list(const plan_launch *plan, const mc_args *args, mc_diag *diag) {
    if (args->list_count > 0 && args->list == NULL)
        return mc_fail(diag, MC_USAGE, "list_count is %zu, and list NULL", args->list_count);
    for (size_t i = 0; i < args->list_count; i++)
        if (args->list[i].name == NULL || operator_operand(plan->operator, args->list[i].name) < 0)
            return mc_fail(diag, MC_USAGE, "list[%zu] is '%s', which is no operand of an %s", i,
                           args->list[i].name != NULL ? args->list[i].name : "NULL", plan->operator->title);
    return MC_OK;
}

static mc_status put_addresses(const plan_launch *plan, const mc_args *args, mc_launch *launch,
                               mc_diag *diag) {
    for (size_t i = 0; i < plan->operator->operand_count; i++) {
        const operand_row *operand = &plan->operator->operands[i];
        const struct plan_argument *argument = &plan->arguments[i];
        if (argument->value_slot >= 0) {
            float value = value_of(args, operand);
            uint32_t bits;
            memcpy(&bits, &value, sizeof bits);
            launch->values[argument->value_slot] = bits;
        }
        if (!argument->wanted) continue;
        mc_address address = address_of(args, operand);
        if (address == 0 || (address & (argument->align - 1)) != 0) return refuse(plan, i, address, diag);
        if (argument->slot >= 0) launch->values[argument->slot] = address;
    }
    return MC_OK;
}

static mc_status put_workspace(const plan_launch *plan, mc_address workspace, mc_launch *launch,
                               mc_diag *diag) {
    const struct plan_workspace *w = &plan->workspace;
    if (w->slot == PLAN_NONE) return MC_OK;
    if (workspace == 0)
        return mc_fail(diag, MC_CANNOT, "the workspace is missing: this plan wants %zu bytes", w->bytes);
    if ((workspace & (w->align - 1)) != 0)
        return mc_fail(diag, MC_CANNOT, "the workspace lies at 0x%llx, which is not a multiple of %u bytes",
                       (unsigned long long)workspace, w->align);
    launch->values[w->slot] = workspace;
    return MC_OK;
}

/* The context is current. */
static mc_status put(const mc_plan *plan, const mc_args *args, mc_launch *launch, void *stream,
                     mc_diag *diag) {
    mc_tensor_map maps[MC_MAX_MAPS];
    for (size_t i = 0; i < plan->launch.map_count; i++) {
        const struct plan_map *map = &plan->launch.maps[i];
        mc_tensor tensor = map->tensor;
        if (plan->launch.arguments[map->argument].wanted)
            tensor.address = address_of(args, &plan->launch.operator->operands[map->argument]);
        mc_status status = mc_device_tensor_map(plan->context->device, &tensor, &maps[i], diag);
        if (status != MC_OK) return status;
        launch->maps[map->slot] = &maps[i];
    }
    return mc_module_put(plan->kernel->module, launch, stream, diag);
}

static mc_status put_elsewhere(const mc_plan *plan, const mc_args *args, mc_launch *launch, void *stream,
                               mc_diag *diag) {
    context_visit visit;
    mc_status status = context_enter(plan->context, &visit, diag);
    if (status == MC_OK) status = put(plan, args, launch, stream, diag);
    context_leave(plan->context, &visit);
    return status;
}

mc_status mc_execute(const mc_plan *plan, const mc_args *args, mc_address workspace, void *stream,
                     mc_diag *diag) {
    mc_args whole;
    if (plan == NULL) return check_handle(plan, "plan", diag);
    if (args == NULL || args->size != sizeof *args) {
        mc_status status = take_struct(&whole, sizeof whole, args, ARGS_FIRST, "mc_args", diag);
        if (status != MC_OK) return status;
        args = &whole;
    }
    if (plan->kernel == NULL) return MC_OK; /* C has no elements */
    mc_launch launch = plan->launch.launch;
    mc_status status = check_list(&plan->launch, args, diag);
    if (status == MC_OK) status = put_addresses(&plan->launch, args, &launch, diag);
    if (status == MC_OK) status = put_workspace(&plan->launch, workspace, &launch, diag);
    if (status != MC_OK) return status;
    if (mc_device_is_current(plan->context->device)) return put(plan, args, &launch, stream, diag);
    return put_elsewhere(plan, args, &launch, stream, diag);
}
