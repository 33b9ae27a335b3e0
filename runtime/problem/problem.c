/* A plan's configuration becomes a problem: every member checked, defaults put in, the matrix summed up. */
#include "problem/problem.h"
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "matrix/panel_counts.h"
#include "matrix/slide24.h"

const char *plan_op_text(mc_op op) { return operator_of(op)->name; }

/* -- Members on their own */

/* Values of WORDS that are not 0, 1, 2 ...: "0, 16 or 32". */
static bool list_values(const member_word *words, char *text, size_t size) {
    bool listed = false;
    size_t used = 0;
    for (int i = 0; words[i].text != NULL; i++) {
        const char *between = i == 0 ? "" : words[i + 1].text != NULL ? ", " : " or ";
        used += (size_t)snprintf(text + used, used < size ? size - used : 0, "%s%d", between, words[i].value);
        listed |= words[i].value != i;
    }
    return listed;
}

static int64_t count_words(const member_word *words) {
    int64_t count = 0;
    while (words[count].text != NULL) count++;
    return count;
}

static mc_status check_choice(const char *name, int64_t value, const member_word *words, mc_diag *diag) {
    char values[64];
    if (word_text(words, value) != NULL) return MC_OK;
    if (list_values(words, values, sizeof values))
        return mc_fail(diag, MC_USAGE, "%s is %" PRId64 ", must be %s", name, value, values);
    return mc_fail(diag, MC_USAGE, "%s is %" PRId64 ", must be one of its %" PRId64 " choices", name, value,
                   count_words(words));
}

static mc_status check_choices(const mc_plan_config *config, mc_diag *diag) {
    mc_status status = MC_OK;
    for (problem_member i = FIRST_MEMBER; i < MEMBERS && status == MC_OK; i++) {
        const member_row *row = &problem_members[i];
        if (row->form == FORM_WORD && row->config != NULL)
            status = check_choice(row->config, member_of_config(config, i), row->words, diag);
    }
    if (status != MC_OK) return status;
    if ((unsigned)config->tuning > MC_TUNING_TUNE)
        return mc_fail(diag, MC_USAGE, "tuning is %d, must be one of its %d choices", (int)config->tuning,
                       MC_TUNING_TUNE + 1);
    if ((unsigned)config->dense > MC_DENSE_IF_FASTER)
        return mc_fail(diag, MC_USAGE, "dense is %d, must be one of its %d choices", (int)config->dense,
                       MC_DENSE_IF_FASTER + 1);
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

/* The only operator that has MEMBER; NULL: several have. */
static const mc_operator *only_owner(problem_member member) {
    const mc_operator *owner = NULL, *o;
    for (size_t i = 0; (o = operator_at(i)) != NULL; i++) {
        if (!operator_has(o, member)) continue;
        if (owner != NULL) return NULL;
        owner = o;
    }
    return owner;
}

/* A size or type that the matrix gives may be named once more. */
static bool is_of_matrix(const mc_operator *o, problem_member member) {
    return o->matrix.wanted && (member == o->matrix.rows || member == o->matrix.cols ||
                                member == o->matrix.type || member == MEMBER_pattern);
}

/* SpMM and SDDMM are spelt out. */
static const char *article(const mc_operator *o) {
    return strchr("Saeiou", o->title[0]) != NULL ? "an" : "a";
}

/* Members that the operator has not must be 0. */
static mc_status check_members(const mc_operator *o, const mc_plan_config *config, mc_diag *diag) {
    for (problem_member i = FIRST_MEMBER; i < MEMBERS; i++) {
        const member_row *row = &problem_members[i];
        if (operator_has(o, i) || member_of_config(config, i) == 0) continue;
        const mc_operator *owner = only_owner(i);
        if (owner != NULL)
            return mc_fail(diag, MC_USAGE, "%s is set, which only %s %s has", row->config, article(owner),
                           owner->title);
        return mc_fail(diag, MC_USAGE, "%s is set, which %s %s has not", row->config, article(o), o->title);
    }
    if (config->dense != MC_DENSE_NEVER && o->dense.by == NULL)
        return mc_fail(diag, MC_USAGE, "dense is set, which %s %s has not", article(o), o->title);
    return MC_OK;
}

/* -- What the matrix gives */

static mc_status check_vec(const mc_vsparse *matrix, mc_diag *diag) {
    int vec = matrix->vec;
    if (vec == 1 || vec == 2 || vec == 4 || vec == 8 || vec == 16) return MC_OK;
    return mc_fail(diag, MC_CANNOT,
                   "the matrix has vectors of %d elements, there are kernels for 1, 2, 4, 8 and 16", vec);
}

static mc_status check_given_type(const mc_operator *o, const mc_plan_config *config, mc_type type,
                                  mc_diag *diag) {
    if (o->matrix.type == NO_MEMBER) return MC_OK;
    const mc_type given = (mc_type)member_of_config(config, o->matrix.type);
    if (given == (mc_type)0 || given == type) return MC_OK;
    const char *name = problem_members[o->matrix.type].config;
    return mc_fail(diag, MC_USAGE, "%s is %s, the matrix holds %s: leave %s out, %s %s takes the matrix's",
                   name, mc_type_text(given), mc_type_text(type), name, operator_article(o), o->title);
}

static mc_status check_given_size(const mc_plan_config *config, problem_member member, int64_t size,
                                  const char *what, mc_diag *diag) {
    const int64_t given = member_of_config(config, member);
    if (given == 0 || given == size) return MC_OK;
    return mc_fail(diag, MC_USAGE, "%s is %" PRId64 ", the matrix has %" PRId64 " %s",
                   problem_members[member].name, given, size, what);
}

/* A matrix with spans is one of 2:4 to kernels, with more columns than it has for callers. */
static mc_status check_spans(const mc_operator *o, const mc_plan_config *config, const mc_vsparse *matrix,
                             mc_diag *diag) {
    const int span = matrix->source.span;
    if (span != 0 && !operator_has(o, MEMBER_pattern))
        return mc_fail(diag, MC_CANNOT, "the matrix has spans of %d, which %s %s does not take", span,
                       operator_article(o), o->title);
    if (config->span == 0 || config->span == (span == 0 ? MC_SLIDE24_LEAST : span)) return MC_OK;
    return mc_fail(diag, MC_USAGE, "span is %d, that of the matrix %d: leave span out", config->span, span);
}

static mc_status take_matrix(const mc_operator *o, const mc_plan_config *config, const mc_vsparse *matrix,
                             plan_problem *problem, mc_diag *diag) {
    if (!o->matrix.wanted) return MC_OK;
    mc_status status = check_vec(matrix, diag);
    if (status == MC_OK) status = check_given_type(o, config, matrix->type, diag);
    if (status == MC_OK) status = check_given_size(config, o->matrix.rows, matrix->rows, "rows", diag);
    const int64_t cols = mc_slide24_source(matrix).cols;
    if (status == MC_OK) status = check_given_size(config, o->matrix.cols, cols, "columns", diag);
    if (status == MC_OK) status = check_spans(o, config, matrix, diag);
    if (status != MC_OK) return status;
    problem->vec = matrix->vec;
    problem->pattern = matrix->source.span;
    if (o->matrix.type != NO_MEMBER) member_set(problem, o->matrix.type, (int64_t)matrix->type);
    member_set(problem, o->matrix.rows, matrix->rows);
    member_set(problem, o->matrix.cols, cols);
    return MC_OK;
}

static void take_members(const mc_operator *o, const mc_plan_config *config, plan_problem *problem) {
    for (problem_member i = FIRST_MEMBER; i < MEMBERS; i++)
        if (operator_has(o, i) && !is_of_matrix(o, i)) member_set(problem, i, member_of_config(config, i));
    if (problem->align == 0) problem->align = 16;
}

/* -- Sizes */

/* Kernels count in s32. */
static mc_status check_size(const char *member, int64_t size, mc_diag *diag) {
    if (size < 0) return mc_fail(diag, MC_USAGE, "%s is %" PRId64 ", less than 0", member, size);
    if (size <= INT32_MAX) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%s is %" PRId64 ", kernels take sizes up to %d", member, size,
                   INT32_MAX);
}

static mc_status check_sizes(const plan_problem *problem, mc_diag *diag) {
    mc_status status = check_size("m", problem->m, diag);
    if (status == MC_OK) status = check_size("n", problem->n, diag);
    return status == MC_OK ? check_size("k", problem->k, diag) : status;
}

/* COUNT elements of TYPE end with a byte. */
static mc_status check_whole_bytes(const char *name, int64_t count, mc_type type, mc_diag *diag) {
    if (mc_type_bytes(type) != 0 || count % 2 == 0) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%s is %" PRId64 ", must be even: two elements of %s share a byte", name,
                   count, mc_type_text(type));
}

/* What is given, or for 0 the least one there is: rows begin with a byte, and no leading dimension is 0. */
static mc_status take_leading(const char *name, const mc_dense *shape, int64_t *ld, mc_diag *diag) {
    bool pairs = mc_type_bytes(shape->type) == 0;
    int64_t least = shape->cols > 0 ? shape->cols : 1;
    *ld = shape->ld != 0 ? shape->ld : least + (pairs && least % 2 != 0);
    mc_status status = check_size(name, *ld, diag);
    if (status != MC_OK) return status;
    if (*ld < shape->cols)
        return mc_fail(diag, MC_USAGE, "%s is %" PRId64 ", less than the row length of %" PRId64, name, *ld,
                       shape->cols);
    return check_whole_bytes(name, *ld, shape->type, diag);
}

/* MEMBER is OPERAND's, which is not there. */
static mc_status refuse_member(problem_member member, const operand_row *operand, const plan_problem *problem,
                               mc_diag *diag) {
    if (member_get(problem, member) == 0) return MC_OK;
    return mc_fail(diag, MC_USAGE, "%s is set, which goes with %s", problem_members[member].name,
                   problem_members[operand->only_if].name);
}

static mc_status take_leadings(const mc_operator *o, plan_problem *problem, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < o->operand_count && status == MC_OK; i++) {
        const operand_row *operand = &o->operands[i];
        if (operand->kind != OPERAND_DENSE || operand->ld == NO_MEMBER) continue;
        if (!operand_is_there(problem, operand)) {
            status = refuse_member(operand->ld, operand, problem, diag);
            continue;
        }
        const mc_dense shape = operand_shape(problem, operand);
        int64_t ld;
        status = take_leading(problem_members[operand->ld].name, &shape, &ld, diag);
        if (status == MC_OK) member_set(problem, operand->ld, ld);
    }
    return status;
}

/* -- Batches */

/* The grid's z (CUDA programming guide, "Technical Specifications per Compute Capability"). */
enum { MOST_PRODUCTS = 65535 };

/* Elements of one product's operand, from its first to its last; of pairs whole bytes. */
static int64_t elements_of(const mc_dense *shape) {
    if (shape->rows == 0 || shape->cols == 0) return 0;
    int64_t last_row = shape->rows - 1;
    return last_row * shape->ld + shape->cols + (mc_type_bytes(shape->type) == 0 && shape->cols % 2 != 0);
}

/* Of the matrix's values, kernels take so many at once, wherever operands may lie. */
enum { VALUES_AT_ONCE = 8 };

/* Every product's operand lies as the first one is promised to. */
static mc_status check_stride(const plan_problem *problem, const operand_row *operand, const mc_dense *shape,
                              int64_t stride, mc_diag *diag) {
    const char *name = problem_members[operand->stride].name;
    int64_t least = operand->out ? elements_of(shape) : 0;
    if (stride < least)
        return mc_fail(diag, MC_USAGE, "%s is %" PRId64 ", must be at least %" PRId64, name, stride, least);
    mc_status status = check_size(name, stride, diag);
    if (status == MC_OK) status = check_whole_bytes(name, stride, shape->type, diag);
    if (status != MC_OK) return status;
    unsigned align = problem->align, values = (unsigned)mc_type_size(shape->type, VALUES_AT_ONCE);
    if (operand->kind == OPERAND_VALUES && align < values) align = values;
    if (mc_type_size(shape->type, stride) % align == 0) return MC_OK;
    return mc_fail(diag, MC_CANNOT,
                   "%s is %" PRId64 " elements of %s: products would not begin at multiples of %u bytes",
                   name, stride, mc_type_text(shape->type), align);
}

static mc_status take_stride(const operand_row *operand, const mc_vsparse *matrix, plan_problem *problem,
                             mc_diag *diag) {
    mc_dense shape;
    int64_t given = member_get(problem, operand->stride), stride = given;
    if (!operand_is_there(problem, operand)) return MC_OK;
    mc_status status = operand_whole_shape(problem, operand, matrix, &shape, diag);
    if (status != MC_OK) return status;
    if (given == MC_SHARED && !operand->out) stride = 0;
    else if (given == 0) stride = elements_of(&shape) > 0 ? shape.rows * shape.ld : 0;
    member_set(problem, operand->stride, stride);
    return check_stride(problem, operand, &shape, stride, diag);
}

/* A stride goes with a batch, and with its operand. */
static mc_status refuse_stride(const operand_row *operand, const plan_problem *problem, mc_diag *diag) {
    const char *name = problem_members[operand->stride].name;
    if (member_get(problem, operand->stride) == 0) return MC_OK;
    if (problem->batch == 0) return mc_fail(diag, MC_USAGE, "%s is set, which goes with batch", name);
    return operand_is_there(problem, operand) ? MC_OK
                                              : refuse_member(operand->stride, operand, problem, diag);
}

static mc_status take_strides(const mc_operator *o, const mc_vsparse *matrix, plan_problem *problem,
                              mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < o->operand_count && status == MC_OK; i++) {
        const operand_row *operand = &o->operands[i];
        if (operand->stride == NO_MEMBER) continue;
        status = refuse_stride(operand, problem, diag);
        if (status == MC_OK && problem->batch > 1) status = take_stride(operand, matrix, problem, diag);
        else if (status == MC_OK) member_set(problem, operand->stride, 0);
    }
    return status;
}

/* A batch of one is none. */
static mc_status take_batch(const mc_operator *o, const mc_vsparse *matrix, plan_problem *problem,
                            mc_diag *diag) {
    mc_status status = check_size("batch", problem->batch, diag);
    if (status == MC_OK && problem->batch > MOST_PRODUCTS)
        status = mc_fail(diag, MC_CANNOT, "batch is %" PRId64 ", a launch computes up to %d products",
                         problem->batch, MOST_PRODUCTS);
    if (status == MC_OK) status = take_strides(o, matrix, problem, diag);
    if (problem->batch == 1) problem->batch = 0;
    return status;
}

/* -- The whole */

mc_status plan_problem_of(const mc_plan_config *config, const mc_vsparse *matrix, plan_problem *problem,
                          mc_diag *diag) {
    *problem = (plan_problem){0};
    mc_status status = check_choices(config, diag);
    if (status == MC_OK) status = check_specs(config, diag);
    if (status != MC_OK) return status;
    const mc_operator *o = operator_of(config->op);
    status = check_members(o, config, diag);
    if (status == MC_OK) take_members(o, config, problem);
    if (status == MC_OK) status = take_matrix(o, config, matrix, problem, diag);
    if (status == MC_OK) status = o->check(problem, matrix != NULL ? matrix->type : (mc_type)0, diag);
    if (status == MC_OK) status = check_sizes(problem, diag);
    if (status == MC_OK) status = take_leadings(o, problem, diag);
    if (status == MC_OK) status = take_batch(o, matrix, problem, diag);
    if (status != MC_OK) *problem = (plan_problem){0};
    else if (o->matrix.wanted) problem->features = matrix_features_of(matrix);
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
    panel_counts_of(matrix, &f.panels);
    f.span = column_span_of(matrix);
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
                        .spread = problem->features.spread,
                        .batch = problem->batch,
                        .panels = problem->features.panels,
                        .span = problem->features.span};
}

/* -- Kernels */

static int64_t read_member(const mc_kernel *kernel, const member_row *row) {
    const char *text = mc_kernel_field_text(kernel, row->field);
    int64_t value = 0;
    if (row->field_words == NULL) {
        value = mc_kernel_field(kernel, row->field);
        return value > 0 ? value : 0;
    }
    if (text != NULL) (void)word_value(row->field_words, text, &value);
    return value;
}

mc_status plan_problem_read(const mc_kernel *kernel, plan_problem *problem, mc_diag *diag) {
    const char *family = mc_kernel_contract(kernel)->family;
    const mc_operator *o = operator_named(family);
    *problem = (plan_problem){0};
    if (o == NULL) return mc_fail(diag, MC_CANNOT, "%s is no operator that is known here", family);
    for (problem_member i = FIRST_MEMBER; i < MEMBERS; i++)
        if (operator_has(o, i) && problem_members[i].field != NULL)
            member_set(problem, i, read_member(kernel, &problem_members[i]));
    problem->op = o->op;
    return MC_OK;
}

static void member_text(const member_row *row, int64_t value, char text[24]) {
    const char *word = row->field_words != NULL ? word_text(row->field_words, value) : NULL;
    if (word != NULL) snprintf(text, 24, "%s", word);
    else snprintf(text, 24, "%" PRId64, value);
}

mc_status plan_problem_check(const plan_problem *problem, const mc_kernel *kernel, mc_diag *diag) {
    plan_problem own;
    mc_status status = plan_problem_read(kernel, &own, diag);
    for (problem_member i = FIRST_MEMBER; i < MEMBERS && status == MC_OK; i++) {
        const member_row *row = &problem_members[i];
        int64_t got = member_get(&own, i), want = member_get(problem, i);
        bool many = row->setting == SETTING_MANY, says = row->field_words != NULL || many || i == MEMBER_vec;
        if (many) want = want > 1;
        char is[24], must_be[24];
        if (!says || got == want) continue;
        member_text(row, got, is);
        member_text(row, want, must_be);
        return mc_fail(diag, MC_CANNOT, "the kernel's %s is %s, the problem's %s", row->field, is, must_be);
    }
    return status;
}

/* -- Settings */

static void add_setting(problem_settings *settings, const char *field, const char *value) {
    settings->items[settings->count++] = (mc_setting){field, value};
}

static void add_number(problem_settings *settings, const char *field, int64_t value) {
    char *text = settings->texts[settings->count];
    snprintf(text, sizeof settings->texts[0], "%" PRId64, value);
    add_setting(settings, field, text);
}

/* No kernel is made for a size of 0. */
static void add_member(problem_settings *settings, const plan_problem *problem, const member_row *row,
                       int64_t value) {
    bool open = row->setting == SETTING_SHAPE && (problem->shapes == MC_SHAPES_OPEN || value == 0);
    if (row->field_words != NULL) add_setting(settings, row->field, word_text(row->field_words, value));
    else if (row->setting == SETTING_MANY) add_setting(settings, row->field, "on");
    else if (open) add_setting(settings, row->field, "open");
    else add_number(settings, row->field, value);
}

void plan_problem_settings(const plan_problem *problem, problem_settings *settings) {
    const mc_operator *o = operator_of(problem->op);
    *settings = (problem_settings){0};
    for (problem_member i = FIRST_MEMBER; i < MEMBERS; i++) {
        const member_row *row = &problem_members[i];
        int64_t value = member_get(problem, i);
        if (!operator_has(o, i) || row->setting == SETTING_NEVER) continue;
        bool usual = row->setting == SETTING_UNLESS_ZERO || row->setting == SETTING_MANY;
        if (!usual || value != 0) add_member(settings, problem, row, value);
    }
    if (!problem->as_csr) return;
    add_setting(settings, "staging", "csr");
    add_setting(settings, "deal", "off");
}
