/* The list of operators, and what follows from their rows. */
#include "ops/operator.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/real.h"
#include "matrix/slide24.h"

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

const mc_operator *operator_transposing(void) {
    size_t i = 0;
    while (!operators[i]->transposes) i++;
    return operators[i];
}

const mc_operator *operator_spreading(void) {
    size_t i = 0;
    while (!operators[i]->spreads) i++;
    return operators[i];
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

bool operand_is_turned(const plan_problem *problem, const operand_row *operand) {
    return (operand->by_layout && problem->layout == MC_LAYOUT_COLUMNS) ||
           member_get(problem, operand->major) == MC_MAJOR_COLUMN;
}

bool operand_is_transposed(const operand_row *operand) { return operand->transposed; }

bool operand_wants_spreading(const plan_problem *problem, const operand_row *operand) {
    return operand->spread && operand->by_layout && problem->pattern != 0;
}

static bool is_read_by_columns(const plan_problem *problem, const operand_row *operand) {
    const size_t bytes = mc_type_bytes(operand_element(problem, operand));
    const bool small = bytes < operand->rows_from || operand_wants_spreading(problem, operand);
    return operand->by_layout && small;
}

bool operand_wants_pass(const plan_problem *problem, const operand_row *operand) {
    const bool turned = operand_is_turned(problem, operand);
    return turned ? operand_is_transposed(operand) : is_read_by_columns(problem, operand);
}

mc_type operand_element(const plan_problem *problem, const operand_row *operand) {
    return operand->type == NO_MEMBER ? MC_F32 : (mc_type)member_get(problem, operand->type);
}

static int64_t blocks_of(int64_t size, int block) {
    return block > 0 ? size / block + (size % block != 0) : size;
}

int64_t operand_rows(const plan_problem *problem, const operand_row *operand) {
    return blocks_of(member_get(problem, operand->rows), operand->row_block);
}

int64_t operand_cols(const plan_problem *problem, const operand_row *operand) {
    const int64_t cols = blocks_of(member_get(problem, operand->cols), operand->col_block);
    const bool longer = operand->spread && !operand->by_layout && problem->pattern != 0;
    return longer ? mc_slide24_length(problem->pattern, cols) : cols;
}

mc_dense operand_shape(const plan_problem *problem, const operand_row *operand) {
    mc_dense shape = {.type = operand_element(problem, operand),
                      .rows = operand_rows(problem, operand),
                      .cols = operand_cols(problem, operand),
                      .ld = member_get(problem, operand->ld)};
    if (operand_is_turned(problem, operand)) {
        shape.rows = operand_cols(problem, operand);
        shape.cols = operand_rows(problem, operand);
    }
    if (operand->ld == NO_MEMBER) shape.ld = shape.cols;
    return shape;
}

bool operand_is_there(const plan_problem *problem, const operand_row *operand) {
    return operand_is_there_with(operand, member_get(problem, operand->only_if));
}

bool operator_lacks_ld(const mc_operator *o, const plan_problem *problem, problem_member ld) {
    for (size_t i = 0; i < o->operand_count; i++)
        if (o->operands[i].ld == ld && !operand_is_there(problem, &o->operands[i])) return true;
    return false;
}

mc_per operand_per(const plan_problem *problem, const operand_row *operand) {
    return operand->kind == OPERAND_FACTOR ? (mc_per)member_get(problem, operand->per) : MC_PER_NONE;
}

bool operand_has_factors(const plan_problem *problem, const operand_row *operand) {
    return operand->count > 0 || operand_per(problem, operand) != MC_PER_NONE;
}

int64_t operand_factors(const plan_problem *problem, const operand_row *operand) {
    if (operand->count > 0) return operand->count;
    return mc_per_count(operand_per(problem, operand), problem->m, problem->n);
}

bool operand_is_computed(const plan_problem *problem, const operand_row *operand) {
    return operand_per(problem, operand) != MC_PER_NONE && member_get(problem, operand->computed) != 0;
}

bool operand_is_input(const operand_row *operand) { return !operand->out || operand->in_place; }

bool operand_is_other(const plan_problem *problem, const operand_row *operand) {
    bool in_place = operand->in_place && !operand->out;
    return in_place ? operand_is_there(problem, operand) : operand_is_computed(problem, operand);
}

void operand_fill(const operand_row *operand, mc_dense *dense, uint64_t seed) {
    mc_dense_fill(dense, MC_VALUES_FULL, seed);
    for (int64_t i = 0; operand->magnitudes && i < dense->rows; i++)
        for (int64_t j = 0; j < dense->cols; j++)
            mc_dense_set(dense, i, j, real_to_bits(dense->type, fabsf((float)mc_dense_real(dense, i, j))));
}

bool operand_is_factors(const plan_problem *problem, const operand_row *operand) {
    mc_per per = operand_per(problem, operand);
    return per == MC_PER_ROW || per == MC_PER_COLUMN || operand->count > 0 ||
           operand_is_computed(problem, operand);
}

mc_output operator_output(const plan_problem *problem) {
    return (mc_output){.type = problem->out,
                       .scale = problem->scale,
                       .bias = problem->bias,
                       .b_scale = problem->b_scale,
                       .c_scale = problem->c_scale,
                       .zero = problem->zero,
                       .beta = problem->beta,
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
    const mc_type type = operand_element(problem, operand);
    *shape = operand_shape(problem, operand);
    if (operand->kind == OPERAND_FACTOR) {
        int64_t count = operand_factors(problem, operand);
        *shape = (mc_dense){.type = MC_F32, .rows = 1, .cols = count, .ld = count};
    }
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

static bool is_side(mc_type type, const void *user) { return (void)user, element_rows[type].is_side; }

static mc_status check_side(const char *who, mc_type type, mc_diag *diag) {
    char text[TYPES_TEXT];
    if (element_rows[type].is_side) return MC_OK;
    type_list(is_side, NULL, " and ", text);
    return mc_fail(diag, MC_CANNOT, "%s is %s, there are kernels for %s", who, mc_type_text(type), text);
}

mc_status check_product_sides(const char *lhs, const char *rhs, bool mixed, const plan_problem *p,
                              mc_diag *diag) {
    mc_status status = check_side(lhs, p->lhs, diag);
    if (status == MC_OK) status = check_side(rhs, p->rhs, diag);
    bool alike = arithmetic_of(p->lhs) == arithmetic_of(p->rhs);
    bool halves = mc_type_bits(p->rhs) == 16; /* kernels make A's integers such floats */
    if (status != MC_OK || alike || (mixed && halves && arithmetic_of_sides(p->lhs, p->rhs))) return status;
    return mc_fail(diag, MC_CANNOT, "%s is %s, %s is %s: there are kernels for two sides of %s, or of %s%s",
                   lhs, mc_type_text(p->lhs), rhs, mc_type_text(p->rhs), integer_arithmetic.name,
                   float_arithmetic.name, mixed ? ", or for integers of at most 8 bits by f16 or bf16" : "");
}

/* What a product of one arithmetic gives. */
typedef struct given_types {
    const arithmetic *of;
    output_types types;
} given_types;

/* Whether C may be TYPE because that holds the sums; because it holds what is made of them. */
static bool gives_sums(mc_type type, const void *user) {
    const given_types *given = user;
    bool wide = type != element_rows[MC_S8].accumulator;
    return given->of->holds_sums(type) && (!wide || given->types.s64);
}

static bool gives_rounded(mc_type type, const void *user) {
    if (!element_rows[type].is_out || integer_arithmetic.holds_sums(type)) return false;
    const output_types *given = &((const given_types *)user)->types;
    return mc_type_is_real(type) || (mc_type_bytes(type) == 0 ? given->pairs : given->bytes);
}

static bool gives(mc_type type, const void *user) {
    return gives_sums(type, user) || gives_rounded(type, user);
}

static bool is_real_out(mc_type type, const void *user) {
    return (void)user, element_rows[type].is_out && mc_type_is_real(type);
}

static mc_status check_unscaled(const plan_problem *p, const given_types *given, mc_diag *diag) {
    char text[TYPES_TEXT];
    bool more = p->bias != MC_PER_NONE || p->activation != MC_ACTIVATION_NONE || p->mask_values ||
                p->b_scale != MC_PER_NONE || p->residual != MC_RESIDUAL_NONE;
    if (p->scale == MC_PER_NONE && !more) return MC_OK;
    type_list(gives_rounded, given, " and ", text);
    return mc_fail(diag, MC_USAGE, "c is %s: scale, bias, residual, activation and mask_values go with %s",
                   mc_type_text(p->out), text);
}

/* Of a C that holds the sums. */
mc_status operator_check_k(const mc_operator *o, int64_t k, mc_diag *diag) {
    if (!o->some_k || k > 0) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "k is 0, and there are kernels for 1 and more");
}

static mc_status check_exact(const plan_problem *p, mc_diag *diag) {
    char text[TYPES_TEXT];
    bool wide = p->out != element_rows[MC_S8].accumulator;
    if (p->exact == wide) return MC_OK;
    type_list(is_real_out, NULL, " or ", text);
    if (p->exact)
        return mc_fail(diag, MC_USAGE, "exact sums want a c of s64, %s, not %s", text, mc_type_text(p->out));
    return mc_fail(diag, MC_USAGE, "c is %s, which wants exact sums", mc_type_text(p->out));
}

static mc_status check_given(const mc_operator *o, const plan_problem *p, const given_types *given,
                             mc_diag *diag) {
    char text[TYPES_TEXT];
    bool of_floats = given->of != &integer_arithmetic;
    if (gives(p->out, given)) return MC_OK;
    type_list(gives, given, " or ", text);
    return mc_fail(diag, MC_CANNOT, "c is %s, %s %s%s%s gives %s", mc_type_text(p->out), operator_article(o),
                   o->title, of_floats ? " of " : "", of_floats ? given->of->name : "", text);
}

mc_status check_product_output(const mc_operator *o, const plan_problem *p, output_types types,
                               mc_diag *diag) {
    const given_types given = {arithmetic_of_sides(p->lhs, p->rhs), types};
    bool rounded = gives_rounded(p->out, &given);
    mc_status status = check_given(o, p, &given, diag);
    if (status != MC_OK) return status;
    if (p->exact && given.of->bound != NULL)
        return mc_fail(diag, MC_CANNOT, "exact sums are of integers, not of %s", given.of->name);
    if (rounded && p->scale == MC_PER_NONE && arithmetic_wants_scale(given.of, p->out))
        return mc_fail(diag, MC_USAGE, "c is %s, which wants a scale", mc_type_text(p->out));
    if (!rounded) status = check_unscaled(p, &given, diag);
    if (status == MC_OK && p->bias == MC_PER_TENSOR)
        status = mc_fail(diag, MC_USAGE, "bias is MC_PER_TENSOR, must be by row or column");
    return status == MC_OK && !rounded ? check_exact(p, diag) : status;
}

mc_status check_product_factors(const plan_problem *p, mc_diag *diag) {
    bool integer = !mc_type_is_real(p->out) && p->scale != MC_PER_NONE;
    bool small = integer || mc_type_bits(p->out) == 8;
    if (p->b_scale != MC_PER_NONE && p->b_scale != MC_PER_COLUMN)
        return mc_fail(diag, MC_USAGE, "b_scale must be MC_PER_NONE or by column");
    if ((!small && p->c_scale != MC_PER_NONE) || (!integer && p->zero != MC_PER_NONE))
        return mc_fail(diag, MC_USAGE,
                       "c is %s: c_scale goes with s8, u8, s4, u4, e4m3 and e5m2, zero with the first four",
                       mc_type_text(p->out));
    if ((p->c_scale != MC_PER_NONE && p->c_scale != MC_PER_TENSOR) ||
        (p->zero != MC_PER_NONE && p->zero != MC_PER_TENSOR))
        return mc_fail(diag, MC_USAGE, "c_scale and zero must be MC_PER_NONE or MC_PER_TENSOR");
    return MC_OK;
}

void operand_fill_c_scale(float *scale, int64_t count, mc_value_law law, uint64_t seed) {
    mc_scale_fill(scale, count, law, seed);
    for (int64_t i = 0; i < count && law == MC_VALUES_FULL; i++) scale[i] = ldexpf(fabsf(scale[i]), 10);
}

void operand_fill_b_scale(float *scale, int64_t count, mc_value_law law, uint64_t seed) {
    mc_scale_fill(scale, count, law, seed);
    for (int64_t i = 0; i < count && law == MC_VALUES_FULL; i++) scale[i] = ldexpf(scale[i], 12);
}

/* -- Results */

bool operator_is_exact(const mc_operator *o, const plan_problem *problem) {
    if (o->exact != NULL) return o->exact(problem);
    return o->bounds == NULL || arithmetic_of_sides(problem->lhs, problem->rhs)->bound == NULL;
}

mc_status operator_sums(const mc_operator *o, const host_operands *operands, sum_range *sums, mc_diag *diag) {
    mc_dense middle = {0}, bounds = {0};
    *sums = (sum_range){0};
    if (operator_is_exact(o, operands->problem)) return o->sums(operands, &sums->least, diag);
    mc_status status = o->sums(operands, &middle, diag);
    if (status == MC_OK) status = o->bounds(operands, &bounds, diag);
    if (status == MC_OK) status = mc_sum_range_make(&middle, &bounds, sums, diag);
    mc_dense_free(&middle);
    mc_dense_free(&bounds);
    return status;
}

mc_status operator_finish(const mc_operator *o, const host_operands *operands, const sum_range *sums,
                          reference_result *want, mc_diag *diag) {
    *want = (reference_result){0};
    if (sums->most.data == NULL) return o->finish(operands, &sums->least, &want->low, diag);
    return o->range(operands, sums, want, diag);
}

mc_status operator_expect(const mc_operator *o, const host_operands *operands, reference_result *want,
                          mc_diag *diag) {
    sum_range sums;
    *want = (reference_result){0};
    mc_status status = operator_sums(o, operands, &sums, diag);
    if (status == MC_OK) status = operator_finish(o, operands, &sums, want, diag);
    mc_sum_range_free(&sums);
    return status;
}

/* What comes of MATRIX instead of the operands' own. */
static mc_status judge_with(const mc_operator *o, const host_operands *operands, const mc_vsparse *matrix,
                            const mc_dense *out, mc_diag *diag) {
    host_operands with = *operands;
    reference_result want;
    with.matrix = matrix;
    mc_status status = operator_expect(o, &with, &want, diag);
    if (status == MC_OK) status = mc_result_compare(out, &want, diag);
    mc_result_free(&want);
    return status;
}

mc_status operator_judge(const mc_operator *o, const mc_kernel *kernel, const host_operands *operands,
                         const reference_result *want, const mc_dense *out, mc_diag *diag) {
    mc_vsparse multiplied = {0};
    mc_status status = o->multiplied ? o->multiplied(kernel, operands, &multiplied, diag) : MC_OK;
    if (status != MC_OK) return status;
    if (multiplied.row_ptr == NULL) return mc_result_compare(out, want, diag);
    status = judge_with(o, operands, &multiplied, out, diag);
    mc_vsparse_free(&multiplied);
    return status;
}

mc_status operator_expect_other(const mc_operator *o, const host_operands *operands, size_t index,
                                reference_result *want, mc_diag *diag) {
    mc_dense sums = {0};
    *want = (reference_result){0};
    mc_status status = o->sums(operands, &sums, diag);
    if (status == MC_OK) status = o->other(operands, &sums, index, want, diag);
    if (status != MC_OK) mc_result_free(want);
    mc_dense_free(&sums);
    return status;
}
