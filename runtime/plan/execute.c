/* One launch: addresses put in, and off it goes. Nothing here allocates, locks, or reads a file, but for what
   a failure's message takes. */
#include <string.h>
#include "plan/plan.h"

#define ARGS_FIRST STRUCT_SIZE_TO(mc_args, scale_value)

static mc_status refuse(const plan_launch *plan, int argument, mc_address address, mc_diag *diag) {
    const char *name = plan_argument_names[argument];
    if (address == 0) return mc_fail(diag, MC_CANNOT, "%s is missing", name);
    return mc_fail(diag, MC_CANNOT, "%s lies at 0x%llx, which is not a multiple of %u bytes", name,
                   (unsigned long long)address, plan->arguments[argument].align);
}

static mc_status put_addresses(const plan_launch *plan, const mc_args *args, mc_launch *launch,
                               mc_diag *diag) {
    const mc_address addresses[PLAN_ARGUMENTS] = {args->a, args->b, args->c, args->scale, args->bias};
    for (int i = 0; i < PLAN_ARGUMENTS; i++) {
        if (!plan->arguments[i].wanted) continue;
        if (addresses[i] == 0 || (addresses[i] & (plan->arguments[i].align - 1)) != 0)
            return refuse(plan, i, addresses[i], diag);
        if (plan->arguments[i].slot >= 0) launch->values[plan->arguments[i].slot] = addresses[i];
    }
    if (plan->scale_slot >= 0) {
        uint32_t bits;
        memcpy(&bits, &args->scale_value, sizeof bits);
        launch->values[plan->scale_slot] = bits;
    }
    return MC_OK;
}

/* The context is current. */
static mc_status put(const mc_plan *plan, const mc_args *args, mc_launch *launch, void *stream,
                     mc_diag *diag) {
    mc_tensor_map map;
    if (plan->launch.map_slot >= 0) {
        mc_tensor tensor = plan->launch.tensor;
        if (plan->launch.arguments[PLAN_B].wanted) tensor.address = args->b;
        mc_status status = mc_device_tensor_map(plan->context->device, &tensor, &map, diag);
        if (status != MC_OK) return status;
        launch->maps[plan->launch.map_slot] = &map;
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
    (void)workspace; /* no kernel wants any so far */
    if (plan == NULL) return check_handle(plan, "plan", diag);
    if (args == NULL || args->size != sizeof *args) {
        mc_status status = take_struct(&whole, sizeof whole, args, ARGS_FIRST, "mc_args", diag);
        if (status != MC_OK) return status;
        args = &whole;
    }
    if (plan->kernel == NULL) return MC_OK; /* C has no elements */
    mc_launch launch = plan->launch.launch;
    mc_status status = put_addresses(&plan->launch, args, &launch, diag);
    if (status != MC_OK) return status;
    if (mc_device_is_current(plan->context->device)) return put(plan, args, &launch, stream, diag);
    return put_elsewhere(plan, args, &launch, stream, diag);
}
