/* A launch, and those of its passes: addresses put in, and off they go. Nothing here allocates, locks, or
   reads a file, but for what a failure's message takes. */
#include <string.h>
#include "plan/plan.h"

#define ARGS_FIRST STRUCT_SIZE_TO(mc_args, scale_value)

static mc_status refuse(const plan_launch *plan, size_t argument, mc_address address, mc_diag *diag) {
    const char *name = plan->arguments[argument].from->name;
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

static mc_status check_list(const mc_plan *plan, const mc_args *args, mc_diag *diag) {
    const mc_operator *o = operator_of(plan->problem.op);
    if (args->list_count > 0 && args->list == NULL)
        return mc_fail(diag, MC_USAGE, "list_count is %zu, and list NULL", args->list_count);
    for (size_t i = 0; i < args->list_count; i++)
        if (args->list[i].name == NULL || operator_operand(o, args->list[i].name) < 0)
            return mc_fail(diag, MC_USAGE, "list[%zu] is '%s', which is no operand of %s %s", i,
                           args->list[i].name != NULL ? args->list[i].name : "NULL", operator_article(o),
                           o->title);
    return MC_OK;
}

/* -- Launches with all that an execution brings */

typedef struct execution {
    const mc_plan *plan;
    const mc_args *args;
    mc_address workspace;
    mc_launch launch;
} execution;

/* Where the kernel finds operand I: one that a pass writes, in the workspace. */
static mc_address place_of(const execution *x, size_t i) {
    const plan_pass *pass = plan_pass_of(&x->plan->passes, i);
    if (pass != NULL) return x->workspace + pass->at;
    return address_of(x->args, x->plan->launch.arguments[i].from);
}

static void put_value(const plan_launch *plan, const mc_args *args, size_t i, mc_launch *launch) {
    uint32_t bits;
    if (plan->arguments[i].value_slot < 0) return;
    float value = value_of(args, plan->arguments[i].from);
    memcpy(&bits, &value, sizeof bits);
    launch->values[plan->arguments[i].value_slot] = bits;
}

static mc_status put_addresses(execution *x, mc_diag *diag) {
    const plan_launch *plan = &x->plan->launch;
    for (size_t i = 0; i < plan->operator->operand_count; i++) {
        const struct plan_argument *argument = &plan->arguments[i];
        put_value(plan, x->args, i, &x->launch);
        if (!argument->wanted) continue;
        mc_address address = address_of(x->args, argument->from);
        if (address == 0 || (address & (argument->align - 1)) != 0) return refuse(plan, i, address, diag);
        if (argument->slot >= 0) x->launch.values[argument->slot] = place_of(x, i);
    }
    return MC_OK;
}

static mc_status check_workspace(const mc_plan *plan, mc_address workspace, mc_diag *diag) {
    const bool passes = plan->passes.count > 0;
    const unsigned align = passes ? PLAN_WORKSPACE_ALIGN : plan->launch.workspace.align;
    if (!passes && plan->launch.workspace.slot == PLAN_NONE) return MC_OK;
    if (workspace == 0)
        return mc_fail(diag, MC_CANNOT, "the workspace is missing: this plan wants %zu bytes",
                       plan_workspace_bytes(plan));
    if ((workspace & (align - 1)) != 0)
        return mc_fail(diag, MC_CANNOT, "the workspace lies at 0x%llx, which is not a multiple of %u bytes",
                       (unsigned long long)workspace, align);
    return MC_OK;
}

static void put_workspace(execution *x) {
    const mc_plan *plan = x->plan;
    if (plan->launch.workspace.slot != PLAN_NONE)
        x->launch.values[plan->launch.workspace.slot] = x->workspace + plan->passes.bytes;
}

/* PASS reads the operand, or what the pass ahead of it has made of that, and writes its place in the
   workspace. */
static mc_status put_pass(const execution *x, const plan_pass *pass, void *stream, mc_diag *diag) {
    const plan_launch *of = &pass->plan->launch;
    mc_launch launch = of->launch;
    mc_address from = address_of(x->args, x->plan->launch.arguments[pass->operand].from);
    if (pass->from != PLAN_NONE) from = x->workspace + x->plan->passes.items[pass->from].at;
    launch.values[of->arguments[0].slot] = from;
    launch.values[of->arguments[of->operator->operand_count - 1].slot] = x->workspace + pass->at;
    return mc_module_put(pass->plan->kernel->module, &launch, stream, diag);
}

/* A kernel that begins early reads the packed arrays before the one ahead of it has ended: not where that one
   may be writing new values there. Whether it is so. */
static bool await_values(execution *x, const void *stream) {
    const matrix_packing *packing = x->plan->packing;
    const uintptr_t here = (uintptr_t)stream + 1;
    if (packing == NULL || atomic_load_explicit(&packing->new_on, memory_order_relaxed) != here) return false;
    x->launch.overlap = false;
    return true;
}

/* An execution on STREAM stands behind the new values: the next ones there need not wait. */
static void forget_values(matrix_packing *packing, const void *stream) {
    uintptr_t here = (uintptr_t)stream + 1;
    atomic_compare_exchange_strong(&packing->new_on, &here, 0);
}

/* The context is current. */
static mc_status put(execution *x, void *stream, mc_diag *diag) {
    const mc_plan *plan = x->plan;
    mc_tensor_map maps[MC_MAX_MAPS];
    for (size_t i = 0; i < plan->launch.map_count; i++) {
        const struct plan_map *map = &plan->launch.maps[i];
        mc_tensor tensor = map->tensor;
        if (plan->launch.arguments[map->argument].wanted) tensor.address = place_of(x, (size_t)map->argument);
        mc_status status = mc_device_tensor_map(plan->context->device, &tensor, &maps[i], diag);
        if (status != MC_OK) return status;
        x->launch.maps[map->slot] = &maps[i];
    }
    mc_status status = MC_OK;
    for (int i = 0; i < plan->passes.count && status == MC_OK; i++)
        status = put_pass(x, &plan->passes.items[i], stream, diag);
    return status == MC_OK ? mc_module_put(plan->kernel->module, &x->launch, stream, diag) : status;
}

static mc_status put_elsewhere(execution *x, void *stream, mc_diag *diag) {
    context_visit visit;
    mc_status status = context_enter(x->plan->context, &visit, diag);
    if (status == MC_OK) status = put(x, stream, diag);
    context_leave(x->plan->context, &visit);
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
    execution x;
    x.plan = plan, x.args = args, x.workspace = workspace, x.launch = plan->launch.launch;
    mc_status status = check_list(plan, args, diag);
    if (status == MC_OK) status = put_addresses(&x, diag);
    if (status == MC_OK) status = check_workspace(plan, workspace, diag);
    if (status != MC_OK) return status;
    put_workspace(&x);
    const bool awaits = await_values(&x, stream);
    const bool is_current = mc_device_is_current(plan->context->device);
    status = is_current ? put(&x, stream, diag) : put_elsewhere(&x, stream, diag);
    if (awaits && status == MC_OK) forget_values(plan->packing, stream);
    return status;
}
