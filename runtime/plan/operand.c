/* What a plan's operands are (mc_describe.h). */
#include "mc_describe.h"
#include "plan/plan.h"

#define OPERAND_FIRST STRUCT_SIZE_TO(mc_operand_info, align)

/* From the first element to the last one of all products. */
static int64_t bytes_of(const mc_operand_info *info) {
    if (info->rows <= 0 || info->cols <= 0) return 0;
    int64_t elements = (info->rows - 1) * info->ld + info->cols;
    return (int64_t)mc_type_size(info->type, (info->products - 1) * info->stride + elements);
}

static mc_status measure_operand(const plan_problem *problem, const operand_row *operand,
                                 const mc_vsparse *matrix, mc_operand_info *info, mc_diag *diag) {
    mc_dense shape;
    mc_status status = operand_whole_shape(problem, operand, matrix, &shape, diag);
    if (status != MC_OK) return status;
    int64_t stride = member_get(problem, operand->stride);
    if (operand_is_computed(problem, operand)) stride = shape.cols;
    bool shared = problem->batch == 0 || stride <= 0;
    info->type = shape.type;
    info->rows = shape.rows, info->cols = shape.cols, info->ld = shape.ld;
    info->products = shared ? 1 : problem->batch;
    info->stride = shared ? 0 : stride;
    info->bytes = bytes_of(info);
    return MC_OK;
}

/* What the launch has as OPERAND, which a dense kernel may call otherwise; NONE: nothing. */
static const struct plan_argument *argument_of(const mc_plan *plan, const operand_row *operand,
                                               const struct plan_argument *none) {
    const plan_launch *launch = &plan->launch;
    for (size_t i = 0; plan->kernel != NULL && i < launch->operator->operand_count; i++)
        if (launch->arguments[i].from == operand) return &launch->arguments[i];
    return none;
}

mc_status mc_plan_get_operand(const mc_plan *plan, size_t index, mc_operand_info *info, mc_diag *diag) {
    if (plan == NULL) return check_handle(plan, "plan", diag);
    const plan_problem *posed = &plan->posed;
    const mc_operator *o = operator_of(posed->op);
    if (index >= o->operand_count) return MC_USAGE;
    const operand_row *operand = &o->operands[index];
    const struct plan_argument none = {0}, *argument = argument_of(plan, operand, &none);
    bool there = operand_is_there(posed, operand), factor = operand->kind == OPERAND_FACTOR;
    mc_operand_info all = {.name = operand->name,
                           .wanted = argument->wanted,
                           .by_value = there && factor && operand_has_factors(posed, operand) &&
                                       !operand_is_factors(posed, operand),
                           .align = argument->align > 0 ? argument->align : 1};
    all.out = operand->out || operand_is_other(posed, operand);
    all.in = operand_is_input(operand) && !operand_is_computed(posed, operand);
    mc_status status = there ? measure_operand(posed, operand, matrix_host(plan->matrix), &all, diag) : MC_OK;
    return status == MC_OK ? give_struct(info, OPERAND_FIRST, &all, sizeof all, "mc_operand_info", diag)
                           : status;
}
