/* The list of operators, and what follows from their rows. */
#include "ops/operator.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define O(upper, lower) extern const mc_operator operator_##lower;
#include "ops/operators.def"
#undef O

static const mc_operator *const operators[] = {
#define O(upper, lower) [MC_OP_##upper] = &operator_##lower,
#include "ops/operators.def"
#undef O
};
enum { OPERATORS = sizeof operators / sizeof *operators };

const mc_operator *operator_at(size_t index) { return index < OPERATORS ? operators[index] : NULL; }

const mc_operator *operator_of(mc_op op) { return (unsigned)op < OPERATORS ? operators[op] : NULL; }

const mc_operator *operator_named(const char *name) {
    for (size_t i = 0; i < OPERATORS; i++)
        if (strcmp(operators[i]->name, name) == 0) return operators[i];
    return NULL;
}

/* -- Operands */

const operand_row *operator_out(const mc_operator *o) { return &o->operands[o->operand_count - 1]; }

int operator_operand(const mc_operator *o, const char *name) {
    for (size_t i = 0; i < o->operand_count; i++)
        if (strcmp(o->operands[i].name, name) == 0) return (int)i;
    return -1;
}

void operand_title(const operand_row *operand, char title[OPERAND_TITLE]) {
    bool letter = operand->name[1] == '\0';
    snprintf(title, OPERAND_TITLE, "%s", operand->name);
    if (letter) title[0] = (char)toupper((unsigned char)title[0]);
}

mc_dense operand_shape(const plan_problem *problem, const operand_row *operand) {
    mc_dense shape = {.type = (mc_type)member_get(problem, operand->type),
                      .rows = member_get(problem, operand->rows),
                      .cols = member_get(problem, operand->cols),
                      .ld = member_get(problem, operand->ld)};
    if (operand->by_layout && problem->layout == MC_LAYOUT_COLUMNS) {
        shape.rows = member_get(problem, operand->cols);
        shape.cols = member_get(problem, operand->rows);
    }
    return shape;
}

mc_per operand_per(const plan_problem *problem, const operand_row *operand) {
    return operand->kind == OPERAND_FACTOR ? (mc_per)member_get(problem, operand->per) : MC_PER_NONE;
}

int64_t operand_factors(const plan_problem *problem, const operand_row *operand) {
    return mc_per_count(operand_per(problem, operand), problem->m, problem->n);
}

mc_output operator_output(const plan_problem *problem) {
    return (mc_output){.type = problem->out,
                       .scale = problem->scale,
                       .bias = problem->bias,
                       .activation = problem->activation,
                       .exact = problem->exact,
                       .masked = problem->mask_values};
}

bool operator_gives(const mc_operator *o, const plan_problem *problem) {
    const operand_row *out = operator_out(o);
    if (out->kind == OPERAND_SAMPLED) return problem->features.vectors > 0;
    const mc_dense shape = operand_shape(problem, out);
    return shape.rows > 0 && shape.cols > 0;
}

mc_status operand_whole_shape(const plan_problem *problem, const operand_row *operand,
                              const mc_vsparse *matrix, mc_dense *shape, mc_diag *diag) {
    const mc_type type = (mc_type)member_get(problem, operand->type);
    *shape = operand_shape(problem, operand);
    if (operand->kind == OPERAND_SAMPLED) return mc_sampled_shape(matrix, problem->order, type, shape, diag);
    if (operand->kind == OPERAND_VALUES)
        return mc_sampled_shape(matrix, MC_ORDER_SRBCRS32, type, shape, diag);
    return MC_OK;
}

mc_status operator_out_shape(const mc_operator *o, const plan_problem *problem, const mc_vsparse *matrix,
                             mc_dense *shape, mc_diag *diag) {
    return operand_whole_shape(problem, operator_out(o), matrix, shape, diag);
}

/* -- Checks */

mc_status check_integer(const char *who, mc_type type, mc_diag *diag) {
    if (!mc_type_is_real(type) && mc_type_bits(type) <= 16) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%s is %s, there are kernels for integers of 4, 8, 12 and 16 bits", who,
                   mc_type_text(type));
}

mc_status check_product_output(const mc_operator *o, const plan_problem *p, output_types types,
                               mc_diag *diag) {
    bool bytes = p->out == MC_S8 || p->out == MC_U8, real = mc_type_is_real(p->out) || (types.bytes && bytes);
    const char *type = mc_type_text(p->out);
    if (!real && p->out != MC_S32 && !(types.s64 && p->out == MC_S64))
        return mc_fail(diag, MC_CANNOT, "c is %s, an %s gives s32, %sf16, bf16%s f32%s", type, o->title,
                       types.s64 ? "s64, " : "", types.bytes ? "," : " or", types.bytes ? ", s8 or u8" : "");
    if (real && p->scale == MC_PER_NONE) return mc_fail(diag, MC_USAGE, "c is %s, which wants a scale", type);
    if (!real && (p->scale != MC_PER_NONE || p->bias != MC_PER_NONE || p->activation != MC_ACTIVATION_NONE ||
                  p->mask_values))
        return mc_fail(diag, MC_USAGE,
                       "c is %s: scale, bias, activation and mask_values go with f16, bf16%s f32%s", type,
                       types.bytes ? "," : " and", types.bytes ? ", s8 and u8" : "");
    if (p->bias == MC_PER_TENSOR)
        return mc_fail(diag, MC_USAGE, "bias is MC_PER_TENSOR, must be by row or column");
    if (p->exact != (p->out == MC_S64) && !real)
        return mc_fail(diag, MC_USAGE,
                       p->exact ? "exact sums want a c of s64, f16, bf16 or f32, not %s"
                                : "c is %s, which wants exact sums",
                       type);
    return MC_OK;
}
