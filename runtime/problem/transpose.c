#include "problem/transpose.h"
#include <inttypes.h>

/* -1: there is none. */
static int find_operand(const mc_operator *o, const plan_problem *problem) {
    for (size_t i = 0; i < o->operand_count; i++)
        if (operand_is_transposed(&o->operands[i]) && operand_is_turned(problem, &o->operands[i]))
            return (int)i;
    return -1;
}

/* Any type of as many bytes: elements stay as they are. */
static mc_type moved_as(mc_type type) {
    const size_t bytes = mc_type_bytes(type);
    return bytes == 1 ? MC_S8 : bytes == 2 ? MC_S16 : MC_S32;
}

/* STORED is the operand as it lies, PRODUCTS are those that have one of their own. */
static mc_status make_problem(const plan_problem *problem, const operand_row *operand, const mc_dense *stored,
                              int64_t products, plan_problem *made, mc_diag *diag) {
    const mc_plan_config config = {.op = operator_transposing()->op,
                                   .a = moved_as(stored->type),
                                   .c = moved_as(stored->type),
                                   .m = stored->rows,
                                   .n = stored->cols,
                                   .lda = stored->ld,
                                   .ldc = type_leading(stored->type, stored->rows),
                                   .b_layout = MC_LAYOUT_COLUMNS,
                                   .align = problem->align,
                                   .shapes = problem->shapes,
                                   .batch = products,
                                   .a_stride = products > 1 ? member_get(problem, operand->stride) : 0};
    return plan_problem_of(&config, NULL, made, diag);
}

/* Strides of a batch are counted in s32, bytes in s64. */
static mc_status check_rows(const operand_row *operand, int64_t ld, int64_t elements, int64_t products,
                            mc_diag *diag) {
    char title[OPERAND_TITLE];
    const int64_t most = products > 1 ? INT32_MAX : INT64_MAX / 8;
    if (elements <= most && ld <= INT32_MAX) return MC_OK;
    operand_title(operand, title);
    if (ld > INT32_MAX)
        return mc_fail(diag, MC_CANNOT,
                       "%s lies by columns: a row of it would have %" PRId64 " elements, whole %d bytes",
                       title, ld, LEADING_BYTES);
    return mc_fail(diag, MC_CANNOT,
                   "%s lies by columns: its rows would have %" PRId64
                   " elements, there may be up to %" PRId64,
                   title, elements, most);
}

mc_status plan_problem_transpose(plan_problem *problem, problem_transpose *transpose, mc_diag *diag) {
    const mc_operator *o = operator_of(problem->op);
    const int at = find_operand(o, problem);
    *transpose = (problem_transpose){.operand = -1};
    if (at < 0) return MC_OK;
    const operand_row *operand = &o->operands[at];
    const mc_dense stored = operand_shape(problem, operand);
    const int64_t ld = type_leading(stored.type, stored.rows), elements = stored.cols * ld;
    const bool shared = problem->batch > 1 && member_get(problem, operand->stride) == 0;
    const int64_t products = problem->batch > 1 && !shared ? problem->batch : 1;
    mc_status status = check_rows(operand, ld, elements, products, diag);
    if (status == MC_OK && stored.rows > 0 && stored.cols > 0) {
        status = make_problem(problem, operand, &stored, products, &transpose->problem, diag);
        transpose->operand = at;
        transpose->bytes = mc_type_size(stored.type, products * elements);
    }
    if (status != MC_OK) return status;
    member_set(problem, operand->major, MC_MAJOR_ROW);
    member_set(problem, operand->ld, ld > 0 ? ld : 1);
    if (products > 1) member_set(problem, operand->stride, elements);
    return MC_OK;
}
