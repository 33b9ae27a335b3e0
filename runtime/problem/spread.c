/* An operand whose spans kernels read as groups: its columns become longer ones, by a kernel of their own. */
#include <inttypes.h>
#include "matrix/slide24.h"
#include "problem/transpose.h"

/* Lines of an operand in elements that the pass moves: of 4 bits two at a time. */
typedef struct spread_lines {
    int unit;         /* elements of the operand that are one of these */
    mc_type type;     /* of one of these */
    int64_t length;   /* of a line */
    int64_t from, to; /* leading dimensions */
    int64_t spread;   /* of a line, afterwards */
} spread_lines;

static spread_lines lines_of(const mc_dense *stored, int span) {
    spread_lines l = {.unit = mc_slide24_unit(stored->type)};
    l.type = l.unit > 1 ? MC_S8 : pass_type(stored->type);
    l.length = (stored->cols + l.unit - 1) / l.unit;
    l.from = stored->ld / l.unit;
    l.spread = mc_slide24_length(span, l.length);
    l.to = type_leading(stored->type, l.spread * l.unit) / l.unit;
    return l;
}

static mc_status make_problem(const plan_problem *problem, const operand_row *operand, const mc_dense *stored,
                              const spread_lines *l, plan_problem *made, mc_diag *diag) {
    const int64_t products = pass_products(problem, operand);
    const mc_plan_config config = {.op = operator_spreading()->op,
                                   .a = l->type,
                                   .c = l->type,
                                   .m = stored->rows,
                                   .n = l->length,
                                   .lda = l->from,
                                   .ldc = l->to,
                                   .span = problem->pattern,
                                   .align = problem->align,
                                   .shapes = problem->shapes,
                                   .batch = products,
                                   .a_stride =
                                       products > 1 ? member_get(problem, operand->stride) / l->unit : 0};
    return plan_problem_of(&config, NULL, made, diag);
}

static mc_status check_lines(const operand_row *operand, const mc_dense *stored, const spread_lines *l,
                             int64_t products, mc_diag *diag) {
    const int64_t most = products > 1 ? INT32_MAX : INT64_MAX / 8;
    char title[OPERAND_TITLE];
    if (l->to * l->unit <= INT32_MAX && stored->rows * l->to <= most / l->unit) return MC_OK;
    operand_title(operand, title);
    return mc_fail(diag, MC_CANNOT,
                   "%s has spans: %" PRId64 " columns of it would have %" PRId64 " elements each, too many",
                   title, stored->rows, l->to * l->unit);
}

mc_status problem_spread(plan_problem *problem, int at, problem_passes *passes, mc_diag *diag) {
    const operand_row *operand = &operator_of(problem->op)->operands[at];
    const mc_dense stored = operand_shape(problem, operand);
    const spread_lines l = lines_of(&stored, problem->pattern);
    const int64_t products = pass_products(problem, operand), elements = stored.rows * l.to * l.unit;
    mc_status status = check_lines(operand, &stored, &l, products, diag);
    if (status == MC_OK && stored.rows > 0 && stored.cols > 0) {
        problem_pass *pass = &passes->items[passes->count++];
        pass->operand = at;
        pass->bytes = mc_type_size(stored.type, products * elements);
        status = make_problem(problem, operand, &stored, &l, &pass->problem, diag);
    }
    if (status != MC_OK) return status;
    member_set(problem, operand->rows, l.spread * l.unit);
    member_set(problem, operand->ld, l.to > 0 ? l.to * l.unit : l.unit);
    problem->pattern = 0;
    if (products > 1) member_set(problem, operand->stride, elements);
    return MC_OK;
}
