#include "problem/densify.h"
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
static bool is_of_sparsity(problem_member member) { return member == MEMBER_op || member == MEMBER_vec; }

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
static void take_layout(const plan_problem *problem, const mc_operator *dense, mc_plan_config *config) {
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

mc_status plan_problem_densify(const plan_problem *problem, plan_problem *dense, mc_diag *diag) {
    const mc_operator *o = operator_of(problem->op);
    *dense = (plan_problem){0};
    if (o->dense.by == NULL)
        return mc_fail(diag, MC_CANNOT, "%s %s has no dense operator", operator_article(o), o->title);
    const mc_operator *by = operator_named(o->dense.by);
    mc_plan_config config = {.size = sizeof config, .op = by->op};
    mc_status status = check_sums(problem, by, diag);
    for (problem_member i = FIRST_MEMBER; i < MEMBERS && status == MC_OK; i++)
        status = take_member(problem, by, i, &config, diag);
    if (status != MC_OK) return status;
    take_layout(problem, by, &config);
    const mc_type type = (mc_type)member_get(problem, o->matrix.type);
    member_set_config(&config, operand_named(by, o->dense.operand)->ld,
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
