/* A plan's configuration becomes a problem: every member checked, defaults put in, the matrix summed up. */
#include "problem/problem.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* -- Texts as specs have them */

static const char *const op_texts[] = {"spmm", "sddmm"};
static const char *const per_texts[] = {"none", "tensor", "row", "column"};
static const char *const activation_texts[] = {"none", "relu"};
static const char *const layout_texts[] = {"columns", "rows"};

#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

const char *plan_op_text(mc_op op) { return op_texts[op]; }

static const char *order_text(mc_order order) {
    return order == MC_ORDER_BCRS ? "bcrs" : order == MC_ORDER_SRBCRS16 ? "srbcrs16" : "srbcrs32";
}

/* -- Members on their own */

static mc_status check_choices(const mc_plan_config *config, mc_diag *diag) {
    const struct {
        const char *member;
        int64_t value, count; /* 0 to count - 1 */
    } choices[] = {{"op", (int64_t)config->op, COUNT(op_texts)},
                   {"a", (int64_t)config->a, MC_TYPE_COUNT},
                   {"b", (int64_t)config->b, MC_TYPE_COUNT},
                   {"c", (int64_t)config->c, MC_TYPE_COUNT},
                   {"scale", (int64_t)config->scale, COUNT(per_texts)},
                   {"bias", (int64_t)config->bias, COUNT(per_texts)},
                   {"activation", (int64_t)config->activation, COUNT(activation_texts)},
                   {"b_layout", (int64_t)config->b_layout, COUNT(layout_texts)},
                   {"shapes", (int64_t)config->shapes, MC_SHAPES_OPEN + 1},
                   {"tuning", (int64_t)config->tuning, MC_TUNING_TUNE + 1}};
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++)
        if (choices[i].value < 0 || choices[i].value >= choices[i].count)
            return mc_fail(diag, MC_USAGE, "%s is %" PRId64 ", must be one of its %" PRId64 " choices",
                           choices[i].member, choices[i].value, choices[i].count);
    mc_order order = config->c_order;
    if (order != MC_ORDER_BCRS && order != MC_ORDER_SRBCRS16 && order != MC_ORDER_SRBCRS32)
        return mc_fail(diag, MC_USAGE, "c_order is %d, must be 0, 16 or 32", (int)order);
    if (config->align != 0 && config->align != 1 && config->align != 4 && config->align != 16)
        return mc_fail(diag, MC_USAGE, "align is %u, must be 1, 4 or 16 (0: 16)", config->align);
    return MC_OK;
}

static mc_status check_specs(const mc_plan_config *config, mc_diag *diag) {
    if (config->spec_count > 0 && config->specs == NULL)
        return mc_fail(diag, MC_USAGE, "spec_count is %zu, and specs NULL", config->spec_count);
    for (size_t i = 0; i < config->spec_count; i++)
        if (config->specs[i] == NULL) return mc_fail(diag, MC_USAGE, "specs[%zu] is NULL", i);
    return MC_OK;
}

/* Members of one operator must be 0 with the other. */
static mc_status check_members(const mc_plan_config *config, mc_diag *diag) {
    const struct {
        const char *member;
        bool set;
        mc_op op;
    } members[] = {{"bias", config->bias != MC_PER_NONE, MC_OP_SPMM},
                   {"activation", config->activation != MC_ACTIVATION_NONE, MC_OP_SPMM},
                   {"exact", config->exact, MC_OP_SPMM},
                   {"ldc", config->ldc != 0, MC_OP_SPMM},
                   {"lda", config->lda != 0, MC_OP_SDDMM},
                   {"b_layout", config->b_layout != MC_LAYOUT_COLUMNS, MC_OP_SDDMM},
                   {"c_order", config->c_order != MC_ORDER_BCRS, MC_OP_SDDMM},
                   {"mask_values", config->mask_values, MC_OP_SDDMM}};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (members[i].set && members[i].op != config->op)
            return mc_fail(diag, MC_USAGE, "%s is set, which only an %s has", members[i].member,
                           members[i].op == MC_OP_SPMM ? "SpMM" : "SDDMM");
    return MC_OK;
}

/* -- Types and output */

static mc_status check_operand(const char *member, mc_type type, mc_diag *diag) {
    if (!mc_type_is_real(type) && mc_type_bits(type) <= 16) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%s is %s, there are kernels for integers of 4, 8, 12 and 16 bits",
                   member, mc_type_text(type));
}

/* The matrix's type is A's of an SpMM; of an SDDMM it counts only with mask_values. */
static mc_status take_types(const mc_plan_config *config, const mc_vsparse *matrix, plan_problem *problem,
                            mc_diag *diag) {
    bool spmm = config->op == MC_OP_SPMM;
    problem->lhs = spmm ? matrix->type : config->a;
    problem->rhs = config->b;
    problem->out = config->c;
    if (spmm && config->a != (mc_type)0 && config->a != matrix->type)
        return mc_fail(diag, MC_USAGE,
                       "a is %s, the matrix holds %s: leave a out, an SpMM takes the matrix's",
                       mc_type_text(config->a), mc_type_text(matrix->type));
    if (!spmm && config->mask_values && matrix->type != MC_F32)
        return mc_fail(diag, MC_USAGE, "mask_values wants a matrix of f32, this one is of %s",
                       mc_type_text(matrix->type));
    mc_status status = check_operand(spmm ? "the matrix's type" : "a", problem->lhs, diag);
    return status == MC_OK ? check_operand("b", problem->rhs, diag) : status;
}

static mc_status check_output(const mc_plan_config *config, mc_diag *diag) {
    bool real = mc_type_is_real(config->c), spmm = config->op == MC_OP_SPMM;
    const char *type = mc_type_text(config->c);
    if (!real && config->c != MC_S32 && !(spmm && config->c == MC_S64))
        return mc_fail(diag, MC_CANNOT, "c is %s, an %s gives s32, %sf16, bf16 or f32", type,
                       spmm ? "SpMM" : "SDDMM", spmm ? "s64, " : "");
    if (real && config->scale == MC_PER_NONE)
        return mc_fail(diag, MC_USAGE, "c is %s, which wants a scale", type);
    if (!real && (config->scale != MC_PER_NONE || config->bias != MC_PER_NONE ||
                  config->activation != MC_ACTIVATION_NONE || config->mask_values))
        return mc_fail(diag, MC_USAGE,
                       "c is %s: scale, bias, activation and mask_values go with f16, bf16 and f32", type);
    if (config->bias == MC_PER_TENSOR)
        return mc_fail(diag, MC_USAGE, "bias is MC_PER_TENSOR, must be by row or column");
    if (config->exact != (config->c == MC_S64) && !real)
        return mc_fail(diag, MC_USAGE,
                       config->exact ? "exact sums want a c of s64, f16, bf16 or f32, not %s"
                                     : "c is %s, which wants exact sums",
                       type);
    return MC_OK;
}

/* -- Sizes */

/* Kernels count in s32. */
static mc_status check_size(const char *member, int64_t size, mc_diag *diag) {
    if (size < 0) return mc_fail(diag, MC_USAGE, "%s is %" PRId64 ", less than 0", member, size);
    if (size <= INT32_MAX) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%s is %" PRId64 ", kernels take sizes up to %d", member, size,
                   INT32_MAX);
}

/* A size that the matrix gives may be named once more. */
static mc_status check_same(const char *member, int64_t given, int64_t cols, mc_diag *diag) {
    if (given == 0 || given == cols) return MC_OK;
    return mc_fail(diag, MC_USAGE, "%s is %" PRId64 ", the matrix has %" PRId64 " columns", member, given,
                   cols);
}

static mc_status take_sizes(const mc_plan_config *config, const mc_vsparse *matrix, plan_problem *problem,
                            mc_diag *diag) {
    bool spmm = config->op == MC_OP_SPMM;
    problem->m = matrix->rows;
    problem->n = spmm ? config->n : matrix->cols;
    problem->k = spmm ? matrix->cols : config->k;
    mc_status status = check_same(spmm ? "k" : "n", spmm ? config->k : config->n, matrix->cols, diag);
    if (status == MC_OK) status = check_size("m", problem->m, diag);
    if (status == MC_OK) status = check_size("n", problem->n, diag);
    return status == MC_OK ? check_size("k", problem->k, diag) : status;
}

/* GIVEN, or for 0 the least one there is: rows begin with a byte, and no leading dimension is 0. */
static mc_status take_leading(const char *member, int64_t given, mc_type type, int64_t length, int64_t *ld,
                              mc_diag *diag) {
    bool pairs = mc_type_bytes(type) == 0;
    int64_t least = length > 0 ? length : 1;
    *ld = given != 0 ? given : least + (pairs && least % 2 != 0);
    mc_status status = check_size(member, *ld, diag);
    if (status != MC_OK) return status;
    if (*ld < length)
        return mc_fail(diag, MC_USAGE, "%s is %" PRId64 ", less than the row length of %" PRId64, member, *ld,
                       length);
    if (pairs && *ld % 2 != 0)
        return mc_fail(diag, MC_CANNOT, "%s is %" PRId64 ", must be even: two elements of %s share a byte",
                       member, *ld, mc_type_text(type));
    return MC_OK;
}

static mc_status take_leadings(const mc_plan_config *config, plan_problem *problem, mc_diag *diag) {
    bool spmm = config->op == MC_OP_SPMM;
    int64_t b_length = spmm || config->b_layout == MC_LAYOUT_ROWS ? problem->n : problem->k;
    mc_status status = take_leading("ldb", config->ldb, problem->rhs, b_length, &problem->ldb, diag);
    if (status != MC_OK) return status;
    if (spmm) return take_leading("ldc", config->ldc, problem->out, problem->n, &problem->ldc, diag);
    return take_leading("lda", config->lda, problem->lhs, problem->k, &problem->lda, diag);
}

/* -- The whole */

static void take_choices(const mc_plan_config *config, const mc_vsparse *matrix, plan_problem *problem) {
    problem->op = config->op;
    problem->vec = matrix->vec;
    problem->scale = config->scale;
    problem->bias = config->bias;
    problem->activation = config->activation;
    problem->exact = config->exact;
    problem->mask_values = config->mask_values;
    problem->layout = config->b_layout;
    problem->order = config->c_order;
    problem->align = config->align != 0 ? config->align : 16;
    problem->shapes = config->shapes;
}

static mc_status check_vec(int vec, mc_diag *diag) {
    if (vec == 2 || vec == 4 || vec == 8) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "the matrix has vectors of %d elements, there are kernels for 2, 4 and 8",
                   vec);
}

mc_status plan_problem_of(const mc_plan_config *config, const mc_vsparse *matrix, plan_problem *problem,
                          mc_diag *diag) {
    *problem = (plan_problem){0};
    mc_status status = check_choices(config, diag);
    if (status == MC_OK) status = check_specs(config, diag);
    if (status == MC_OK) status = check_members(config, diag);
    if (status == MC_OK) status = check_vec(matrix->vec, diag);
    if (status == MC_OK) status = take_types(config, matrix, problem, diag);
    if (status == MC_OK) status = check_output(config, diag);
    if (status == MC_OK) status = take_sizes(config, matrix, problem, diag);
    if (status == MC_OK) status = take_leadings(config, problem, diag);
    if (status == MC_OK) {
        take_choices(config, matrix, problem);
        problem->features = matrix_features_of(matrix);
    } else {
        *problem = (plan_problem){0};
    }
    return status;
}

/* -- Features */

static int64_t length_of(const mc_vsparse *matrix, int64_t block) {
    return matrix->row_ptr[block + 1] - matrix->row_ptr[block];
}

static int64_t count_up_to(const mc_vsparse *matrix, int64_t length) {
    int64_t count = 0;
    for (int64_t i = 0; i < matrix->row_blocks; i++) count += length_of(matrix, i) <= length;
    return count;
}

/* The length at place RANK of all lengths in ascending order, which is from LEAST to MOST: by bisection, so
   that nothing is allocated or sorted. */
static int64_t length_at(const mc_vsparse *matrix, int64_t rank, int64_t least, int64_t most) {
    while (least < most) {
        int64_t middle = least + (most - least) / 2;
        if (count_up_to(matrix, middle) > rank) most = middle;
        else least = middle + 1;
    }
    return least;
}

matrix_features matrix_features_of(const mc_vsparse *matrix) {
    matrix_features f = {.vectors = matrix->vectors};
    int64_t blocks = matrix->row_blocks, last = ROW_QUANTILES - 1;
    if (blocks == 0) return f;
    double mean = (double)matrix->vectors / (double)blocks, squares = 0;
    f.quantiles[0] = matrix->vectors;
    for (int64_t i = 0; i < blocks; i++) {
        int64_t length = length_of(matrix, i);
        double off = (double)length - mean;
        if (length < f.quantiles[0]) f.quantiles[0] = length;
        if (length > f.quantiles[last]) f.quantiles[last] = length;
        squares += off * off;
    }
    f.spread = sqrt(squares / (double)blocks);
    for (int64_t q = 1; q < last; q++)
        f.quantiles[q] = length_at(matrix, (blocks - 1) * q / last, f.quantiles[q - 1], f.quantiles[last]);
    return f;
}

mc_problem plan_problem_estimate(const plan_problem *problem) {
    return (mc_problem){.m = problem->m,
                        .n = problem->n,
                        .k = problem->k,
                        .ldb = problem->ldb,
                        .vectors = problem->features.vectors,
                        .longest = problem->features.quantiles[ROW_QUANTILES - 1],
                        .spread = problem->features.spread};
}

/* -- Settings */

static void set(problem_settings *settings, const char *field, const char *value) {
    settings->items[settings->count++] = (mc_setting){field, value};
}

static void set_number(problem_settings *settings, const char *field, int64_t value) {
    char *text = settings->texts[settings->count];
    snprintf(text, sizeof settings->texts[0], "%" PRId64, value);
    set(settings, field, text);
}

/* No kernel is made for a size of 0. */
static void set_shape(problem_settings *settings, const plan_problem *problem, const char *field,
                      int64_t value) {
    if (problem->shapes == MC_SHAPES_OPEN || value == 0) set(settings, field, "open");
    else set_number(settings, field, value);
}

static void set_common(problem_settings *settings, const plan_problem *problem) {
    set(settings, "lhs", mc_type_text(problem->lhs));
    set(settings, "rhs", mc_type_text(problem->rhs));
    set(settings, "out", mc_type_text(problem->out));
    set(settings, "scale", per_texts[problem->scale]);
    set_number(settings, "vec", problem->vec);
    set_number(settings, "align", problem->align);
    set_shape(settings, problem, "m", problem->m);
    set_shape(settings, problem, "n", problem->n);
    set_shape(settings, problem, "k", problem->k);
    set_shape(settings, problem, "ldb", problem->ldb);
}

static void set_spmm(problem_settings *settings, const plan_problem *problem) {
    set(settings, "bias", per_texts[problem->bias]);
    set(settings, "sum", problem->exact ? "exact" : "wrap");
    set_shape(settings, problem, "ldc", problem->ldc);
    if (problem->activation != MC_ACTIVATION_NONE)
        set(settings, "act", activation_texts[problem->activation]);
}

static void set_sddmm(problem_settings *settings, const plan_problem *problem) {
    set(settings, "mask", problem->mask_values ? "values" : "pattern");
    set(settings, "order", order_text(problem->order));
    set(settings, "layout", layout_texts[problem->layout]);
    set_shape(settings, problem, "lda", problem->lda);
}

void plan_problem_settings(const plan_problem *problem, problem_settings *settings) {
    *settings = (problem_settings){0};
    set_common(settings, problem);
    if (problem->op == MC_OP_SPMM) set_spmm(settings, problem);
    else set_sddmm(settings, problem);
}
