#include "problem/transpose.h"
#include <inttypes.h>

const char *pass_from(const operand_row *operand) {
    return operand_is_transposed(operand) ? "columns" : "rows";
}

mc_type pass_type(mc_type type) {
    const size_t bytes = mc_type_bytes(type);
    return bytes == 0 ? MC_S4 : bytes == 1 ? MC_S8 : bytes == 2 ? MC_S16 : MC_S32;
}

int64_t pass_products(const plan_problem *problem, const operand_row *operand) {
    const bool shared = problem->batch > 1 && member_get(problem, operand->stride) == 0;
    return problem->batch > 1 && !shared ? problem->batch : 1;
}

/* STORED is the operand as it lies, PRODUCTS are those that have one of their own. */
static mc_status make_problem(const plan_problem *problem, const operand_row *operand, const mc_dense *stored,
                              int64_t products, plan_problem *made, mc_diag *diag) {
    const mc_plan_config config = {.op = operator_transposing()->op,
                                   .a = pass_type(stored->type),
                                   .c = pass_type(stored->type),
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

/* What is written is lines of LD elements each. Strides of a batch are counted in s32, bytes in s64. */
static mc_status check_lines(const operand_row *operand, int64_t ld, int64_t elements, int64_t products,
                             mc_diag *diag) {
    char title[OPERAND_TITLE];
    const int64_t most = products > 1 ? INT32_MAX : INT64_MAX / 8;
    const char *line = operand_is_transposed(operand) ? "row" : "column";
    if (elements <= most && ld <= INT32_MAX) return MC_OK;
    operand_title(operand, title);
    if (ld > INT32_MAX)
        return mc_fail(diag, MC_CANNOT,
                       "%s lies by %s: a %s of it would have %" PRId64 " elements, whole %d bytes", title,
                       pass_from(operand), line, ld, LEADING_BYTES);
    return mc_fail(diag, MC_CANNOT,
                   "%s lies by %s: its %ss would have %" PRId64 " elements, there may be up to %" PRId64,
                   title, pass_from(operand), line, elements, most);
}

/* OPERAND lies in PROBLEM as kernels read it, line by line, LD elements each. */
static void turn(plan_problem *problem, const operand_row *operand, int64_t ld) {
    if (operand_is_transposed(operand)) member_set(problem, operand->major, MC_MAJOR_ROW);
    else member_set(problem, MEMBER_layout, MC_LAYOUT_COLUMNS);
    member_set(problem, operand->ld, ld > 0 ? ld : 1);
}

static mc_status add_pass(plan_problem *problem, int at, problem_passes *passes, mc_diag *diag) {
    const operand_row *operand = &operator_of(problem->op)->operands[at];
    const mc_dense stored = operand_shape(problem, operand);
    const int64_t ld = type_leading(stored.type, stored.rows), elements = stored.cols * ld;
    const int64_t products = pass_products(problem, operand);
    mc_status status = check_lines(operand, ld, elements, products, diag);
    if (status == MC_OK && stored.rows > 0 && stored.cols > 0) {
        problem_pass *pass = &passes->items[passes->count++];
        pass->operand = at;
        pass->bytes = mc_type_size(stored.type, products * elements);
        status = make_problem(problem, operand, &stored, products, &pass->problem, diag);
    }
    if (status != MC_OK) return status;
    turn(problem, operand, ld);
    if (products > 1) member_set(problem, operand->stride, elements);
    return MC_OK;
}

/* Whether specs have a field for how OPERAND lies, which is by columns. */
static bool may_stay(const plan_problem *problem, const operand_row *operand) {
    return operand_is_turned(problem, operand) && operand->major != NO_MEMBER &&
           problem_members[operand->major].setting != SETTING_NEVER;
}

static bool is_empty(const plan_problem *problem, const operand_row *operand) {
    return operand_rows(problem, operand) == 0 || operand_cols(problem, operand) == 0;
}

bool plan_problem_may_stay(const plan_problem *problem) {
    const mc_operator *o = operator_of(problem->op);
    int turned = 0;
    for (size_t i = 0; i < o->operand_count; i++) {
        const operand_row *operand = &o->operands[i];
        if (operand_wants_spreading(problem, operand)) return false;
        if (!operand_wants_pass(problem, operand)) continue;
        if (!may_stay(problem, operand) || is_empty(problem, operand)) return false;
        turned++;
    }
    return turned > 0 && !is_empty(problem, operator_out(o));
}

mc_status plan_problem_transpose(plan_problem *problem, problem_passes *passes, mc_diag *diag) {
    const mc_operator *o = operator_of(problem->op);
    mc_status status = MC_OK;
    passes->count = 0;
    for (size_t i = 0; i < o->operand_count && status == MC_OK; i++) {
        if (operand_wants_pass(problem, &o->operands[i])) status = add_pass(problem, (int)i, passes, diag);
        if (status == MC_OK && operand_wants_spreading(problem, &o->operands[i]))
            status = problem_spread(problem, (int)i, passes, diag);
    }
    return status;
}
