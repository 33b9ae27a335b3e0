/* A kernel and operands in host memory become a problem. */
#include "problem/problem.h"
#include <stdio.h>

/* What is known of the sizes, and who said it: "A has 70 columns". */
typedef struct measuring {
    const mc_operator *op;
    const host_operands *operands;
    plan_problem *problem;
    struct {
        char who[OPERAND_TITLE];
        const char *what; /* NULL: nobody has said it yet */
    } said[MEMBERS];
    mc_diag *diag;
} measuring;

static mc_status say(measuring *m, problem_member size, int64_t value, const char *who, const char *what) {
    if (m->said[size].what == NULL) {
        snprintf(m->said[size].who, OPERAND_TITLE, "%s", who);
        m->said[size].what = what;
        member_set(m->problem, size, value);
        return MC_OK;
    }
    int64_t before = member_get(m->problem, size);
    if (before == value) return MC_OK;
    return mc_fail(m->diag, MC_CANNOT, "%s has %lld %s, %s %lld %s", m->said[size].who, (long long)before,
                   m->said[size].what, who, (long long)value, what);
}

static mc_status take_matrix(measuring *m) {
    const mc_vsparse *matrix = m->operands->matrix;
    const char *who = m->op->matrix.title;
    if (!m->op->matrix.wanted) return MC_OK;
    mc_status status = say(m, m->op->matrix.rows, matrix->rows, who, "rows");
    if (status == MC_OK) status = say(m, m->op->matrix.cols, matrix->cols, who, "columns");
    m->problem->vec = matrix->vec;
    m->problem->features.vectors = matrix->vectors;
    return status;
}

/* Of an operand that has one for blocks of rows or columns: as many as there are by what others have said. */
static mc_status check_blocks(const measuring *m, const operand_row *operand, const mc_dense *input,
                              const char *who) {
    const mc_dense want = operand_shape(m->problem, operand);
    if (input->rows == want.rows && input->cols == want.cols) return MC_OK;
    return mc_fail(m->diag, MC_CANNOT, "%s is %lld x %lld, must be %lld x %lld", who, (long long)input->rows,
                   (long long)input->cols, (long long)want.rows, (long long)want.cols);
}

static mc_status take_sizes(measuring *m, const operand_row *operand, const mc_dense *input,
                            const char *who) {
    bool turned = operand_is_turned(m->problem, operand);
    if (operand_has_blocks(operand)) return check_blocks(m, operand, input, who);
    mc_status status = say(m, operand->rows, turned ? input->cols : input->rows, who, "rows");
    if (status != MC_OK) return status;
    return say(m, operand->cols, turned ? input->rows : input->cols, who, "columns");
}

static mc_status take_dense(measuring *m, const operand_row *operand, const mc_dense *input) {
    char who[OPERAND_TITLE];
    mc_type type = operand_element(m->problem, operand);
    operand_title(operand, who);
    mc_status status = take_sizes(m, operand, input, who);
    if (status == MC_OK && input->type != type)
        return mc_fail(m->diag, MC_CANNOT, "the kernel reads %s as %s, this one is %s", who,
                       mc_type_text(type), mc_type_text(input->type));
    if (operand->ld != NO_MEMBER) member_set(m->problem, operand->ld, input->ld);
    else if (status == MC_OK && input->ld != input->cols)
        return mc_fail(m->diag, MC_CANNOT, "rows of %s lie %lld elements apart, must have no gaps", who,
                       (long long)input->ld);
    return status;
}

/* An element for each one of the matrix, in the problem's order. */
static mc_status take_sampled(const measuring *m, const operand_row *operand, const mc_dense *input) {
    mc_dense want;
    char who[OPERAND_TITLE];
    operand_title(operand, who);
    mc_status status = operand_whole_shape(m->problem, operand, m->operands->matrix, &want, m->diag);
    if (status != MC_OK) return status;
    if (input->type != want.type)
        return mc_fail(m->diag, MC_CANNOT, "the kernel reads %s as %s, this one is %s", who,
                       mc_type_text(want.type), mc_type_text(input->type));
    if (input->rows == want.rows && input->cols == want.cols && input->ld == want.ld) return MC_OK;
    return mc_fail(m->diag, MC_CANNOT, "%s is %lld x %lld, must be %lld x %lld", who, (long long)input->rows,
                   (long long)input->cols, (long long)want.rows, (long long)want.cols);
}

/* Factors are there where the kernel takes some, and only there. */
static mc_status check_factors(const measuring *m, const operand_row *operand, const float *factors) {
    bool computed = operand_is_computed(m->problem, operand),
         wanted = operand_has_factors(m->problem, operand) && !computed;
    if (computed && factors != NULL)
        return mc_fail(m->diag, MC_CANNOT, "the kernel computes its %s itself", operand->name);
    if (wanted == (factors != NULL)) return MC_OK;
    return mc_fail(m->diag, MC_CANNOT, wanted ? "the kernel wants its %s" : "the kernel takes no %s",
                   operand->name);
}

/* What the kernel has only sometimes is there where it has it, and only there. */
static mc_status check_presence(const measuring *m, const operand_row *operand, const mc_dense *input) {
    bool given = input != NULL && input->data != NULL, wanted = operand_is_there(m->problem, operand);
    if (given == wanted) return MC_OK;
    return mc_fail(m->diag, MC_CANNOT, wanted ? "the kernel wants its %s" : "the kernel takes no %s",
                   operand->name);
}

static mc_status take_operand(measuring *m, size_t i) {
    const operand_row *operand = &m->op->operands[i];
    if (operand->kind == OPERAND_FACTOR) return check_factors(m, operand, m->operands->factors[i]);
    if (operand->kind == OPERAND_VALUES || !operand_is_input(operand)) return MC_OK;
    if (operand->only_if != NO_MEMBER) {
        mc_status status = check_presence(m, operand, m->operands->inputs[i]);
        if (status != MC_OK || !operand_is_there(m->problem, operand)) return status;
    }
    const mc_dense *input = m->operands->inputs[i];
    return operand->kind == OPERAND_SAMPLED ? take_sampled(m, operand, input) : take_dense(m, operand, input);
}

static mc_status take_ld(measuring *m, int64_t ld) {
    const operand_row *out = operator_out(m->op);
    const mc_dense shape = operand_shape(m->problem, out);
    if (out->ld == NO_MEMBER) return MC_OK;
    if (ld == 0) ld = shape.cols + (mc_type_bytes(shape.type) == 0 && shape.cols % 2 != 0);
    if (ld < shape.cols)
        return mc_fail(m->diag, MC_CANNOT, "%s is %lld, less than the row length %s of %lld",
                       problem_members[out->ld].name, (long long)ld, problem_members[out->cols].name,
                       (long long)shape.cols);
    member_set(m->problem, out->ld, ld);
    return MC_OK;
}

mc_status plan_problem_measure(const mc_kernel *kernel, const host_operands *operands, int64_t ld,
                               plan_problem *problem, mc_diag *diag) {
    measuring m = {.operands = operands, .problem = problem, .diag = diag};
    mc_status status = plan_problem_read(kernel, problem, diag);
    if (status != MC_OK) return status;
    m.op = operator_of(problem->op);
    status = take_matrix(&m);
    for (size_t i = 0; i < m.op->operand_count && status == MC_OK; i++) status = take_operand(&m, i);
    return status == MC_OK ? take_ld(&m, ld) : status;
}
