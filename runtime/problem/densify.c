#include "problem/densify.h"
#include <string.h>
#include "formats/dense.h"

static const operand_row *operand_named(const mc_operator *o, const char *name) {
    const int at = operator_operand(o, name);
    return at < 0 ? NULL : &o->operands[at];
}

/* Whether MEMBER, by which an operand of O lies in columns, is said by the layout of the dense operator. */
static bool is_by_layout(const mc_operator *o, const mc_operator *dense, problem_member member) {
    for (size_t i = 0; i < o->operand_count; i++) {
        const operand_row *same = operand_named(dense, o->operands[i].name);
        if (o->operands[i].major == member && same != NULL && same->by_layout) return true;
    }
    return false;
}

/* Members of the matrix alone. */
static bool is_of_sparsity(problem_member member) {
    return member == MEMBER_op || member == MEMBER_vec || member == MEMBER_pattern;
}

static mc_status take_member(const plan_problem *problem, const mc_operator *dense, problem_member member,
                             mc_plan_config *config, mc_diag *diag) {
    const int64_t value = member_get(problem, member);
    if (value == 0 || is_of_sparsity(member)) return MC_OK;
    if (operator_has(dense, member)) return member_set_config(config, member, value), MC_OK;
    if (is_by_layout(operator_of(problem->op), dense, member)) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%s is set, which %s %s has not", problem_members[member].config,
                   operator_article(dense), dense->title);
}

/* B lies as it does in PROBLEM. */
static void keep_layout(const plan_problem *problem, const mc_operator *dense, mc_plan_config *config) {
    const mc_operator *o = operator_of(problem->op);
    for (size_t i = 0; i < dense->operand_count; i++) {
        const operand_row *same = operand_named(o, dense->operands[i].name);
        if (!dense->operands[i].by_layout || same == NULL) continue;
        config->b_layout = operand_is_turned(problem, same) ? MC_LAYOUT_COLUMNS : MC_LAYOUT_ROWS;
    }
}

/* The dense product's sums are as good as those of PROBLEM. */
static mc_status check_sums(const plan_problem *problem, const mc_operator *dense, mc_diag *diag) {
    const mc_operator *o = operator_of(problem->op);
    const bool small = mc_type_is_real(problem->lhs) && mc_type_bits(problem->lhs) == 8;
    if (!small || o->coarse || !dense->coarse) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%s %s keeps 13 bits of sums of %s, %s %s those of f32",
                   operator_article(dense), dense->title, mc_type_text(problem->lhs), operator_article(o),
                   o->title);
}

/* -- C by columns: B^T A^T in rows */

static bool is_transposed(const plan_problem *problem) {
    const mc_operator *o = operator_of(problem->op);
    return o->dense.turned != NULL && operand_is_turned(problem, operator_out(o));
}

static mc_per other_per(mc_per per) {
    return per == MC_PER_ROW ? MC_PER_COLUMN : per == MC_PER_COLUMN ? MC_PER_ROW : per;
}

/* Makes TURNED, the problem of the transpose, whose A is PROBLEM's B. */
static mc_status turn(const plan_problem *problem, plan_problem *turned, mc_diag *diag) {
    const mc_operator *o = operator_of(problem->op);
    const operand_row *b = operand_named(o, o->dense.turned);
    if (!operand_is_turned(problem, b))
        return mc_fail(diag, MC_CANNOT, "c lies by columns, and %s by rows", b->name);
    if (problem->b_scale != MC_PER_NONE)
        return mc_fail(diag, MC_CANNOT, "c lies by columns, and b_scale is set: it would be by row");
    *turned = *problem;
    turned->m = problem->n, turned->n = problem->m;
    turned->lhs = problem->rhs, turned->rhs = problem->lhs;
    turned->lda = problem->ldb, turned->ldb = 0;
    turned->scale = other_per(problem->scale), turned->bias = other_per(problem->bias);
    turned->c_major = turned->b_major = MC_MAJOR_ROW;
    return MC_OK;
}

/* -- The whole */

const char *densified_operand(const plan_problem *problem) {
    const mc_operator *o = operator_of(problem->op);
    return is_transposed(problem) ? o->dense.turned : o->dense.operand;
}

const operand_row *densified_from(const plan_problem *problem, const char *name) {
    const mc_operator *o = operator_of(problem->op);
    const bool is_a = strcmp(name, o->dense.operand) == 0;
    if (strcmp(name, densified_operand(problem)) == 0) return NULL;
    return operand_named(o, is_transposed(problem) && is_a ? o->dense.turned : name);
}

static mc_status take_members(const plan_problem *problem, const mc_operator *by, mc_plan_config *config,
                              mc_diag *diag) {
    mc_status status = MC_OK;
    for (problem_member i = FIRST_MEMBER; i < MEMBERS && status == MC_OK; i++)
        status = take_member(problem, by, i, config, diag);
    return status;
}

mc_status plan_problem_densify(const plan_problem *problem, plan_problem *dense, mc_diag *diag) {
    const mc_operator *o = operator_of(problem->op);
    plan_problem same = *problem;
    *dense = (plan_problem){0};
    if (o->dense.by == NULL)
        return mc_fail(diag, MC_CANNOT, "%s %s has no dense operator", operator_article(o), o->title);
    const mc_operator *by = operator_named(o->dense.by);
    mc_plan_config config = {.size = sizeof config, .op = by->op};
    mc_status status = check_sums(problem, by, diag);
    if (status == MC_OK && problem->batch > 1)
        status = mc_fail(diag, MC_CANNOT, "batch is set, and a dense plan computes one product");
    if (status == MC_OK && is_transposed(problem)) status = turn(problem, &same, diag);
    if (status == MC_OK) status = take_members(&same, by, &config, diag);
    if (status != MC_OK) return status;
    if (is_transposed(problem)) config.b_layout = MC_LAYOUT_COLUMNS; /* the matrix's rows */
    else keep_layout(problem, by, &config);
    const mc_type type = (mc_type)member_get(problem, o->matrix.type);
    member_set_config(&config, operand_named(by, densified_operand(problem))->ld,
                      type_leading(type, member_get(problem, o->matrix.cols)));
    return plan_problem_of(&config, NULL, dense, diag);
}

int64_t densified_bytes(const plan_problem *problem) {
    const mc_operator *o = operator_of(problem->op);
    const mc_type type = (mc_type)member_get(problem, o->matrix.type);
    const int64_t elements =
        dense_elements(type, member_get(problem, o->matrix.rows), member_get(problem, o->matrix.cols));
    return elements < 0 ? 0 : mc_type_size(type, elements);
}
