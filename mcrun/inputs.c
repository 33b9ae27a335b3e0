#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "matrix/slide24.h"
#include "operand.h"
#include "pattern.h"
#include "product.h"

enum { USUAL_SIZE = 256 };

static const product_options *options_of(const product_session *s) {
    return (const product_options *)s->base.options;
}

/* "--ldb", "N": a member as options and messages have it. */
typedef struct member_title {
    char text[16];
} member_title;

static member_title option_title(problem_member member) {
    member_title title;
    snprintf(title.text, sizeof title.text, "--%s", problem_members[member].name);
    return title;
}

static member_title size_title(problem_member member) {
    member_title title;
    snprintf(title.text, sizeof title.text, "%s", problem_members[member].name);
    for (char *at = title.text; *at != '\0'; at++) *at = (char)toupper((unsigned char)*at);
    return title;
}

/* -- Sizes */

/* A size, and who says it. */
typedef struct said {
    int64_t value;
    const char *by;   /* an option or a file, or the matrix; NULL: nobody yet */
    const char *what; /* of the matrix: "rows", "columns" */
} said;

typedef struct sizing {
    product_session *session;
    said sizes[MEMBERS];
    mc_diag *diag;
} sizing;

/* A FILE that has VALUE rows or columns (WHAT). */
static mc_status agree(sizing *z, problem_member size, int64_t value, const char *file, const char *what) {
    said *known = &z->sizes[size];
    if (known->by == NULL) *known = (said){value, file, NULL};
    if (known->value == value) return MC_OK;
    if (known->what == NULL)
        return mc_fail(z->diag, MC_USAGE, "%s is %lld by %s, but %lld by %s", size_title(size).text,
                       (long long)known->value, known->by, (long long)value, file);
    bool same = strcmp(known->what, what) == 0;
    return mc_fail(z->diag, MC_CANNOT, "%s has %lld %s, %s %lld%s%s", file, (long long)value, what, known->by,
                   (long long)known->value, same ? "" : " ", same ? "" : known->what);
}

static void know_matrix(sizing *z) {
    const mc_operator *o = z->session->base.op;
    const problem *p = &z->session->base.problem;
    if (!o->matrix.wanted) return;
    z->sizes[o->matrix.cols] = (said){p->pattern.cols, o->matrix.title, "columns"};
    if (p->a.vec > 0) z->sizes[o->matrix.rows] = (said){p->a.rows, o->matrix.title, "rows"};
}

/* Of an operand that has one for blocks of rows or columns: sizes are known by now. */
static mc_status check_blocks(const product_session *s, size_t i, mc_diag *diag) {
    const operand_row *operand = &s->base.op->operands[i];
    const mc_dense *given = &s->given[i];
    const int64_t rows = operand_rows(&s->base.shape, operand), cols = operand_cols(&s->base.shape, operand);
    if (options_of(s)->files[i] == NULL || !operand_has_blocks(operand)) return MC_OK;
    if (given->rows == rows && given->cols == cols) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%s is %lld x %lld, must be %lld x %lld", options_of(s)->files[i],
                   (long long)given->rows, (long long)given->cols, (long long)rows, (long long)cols);
}

static mc_status agree_with_file(sizing *z, size_t i) {
    const operand_row *operand = &z->session->base.op->operands[i];
    const mc_dense *given = &z->session->given[i];
    const char *file = options_of(z->session)->files[i];
    const mc_operator *o = z->session->base.op;
    bool rows_known =
        !o->matrix.wanted || z->session->base.problem.a.vec > 0 || operand->rows != o->matrix.rows;
    mc_status status = MC_OK;
    if (file == NULL || operand->kind != OPERAND_DENSE || operand_has_blocks(operand)) return MC_OK;
    if (rows_known) status = agree(z, operand->rows, given->rows, file, "rows");
    return status == MC_OK ? agree(z, operand->cols, given->cols, file, "columns") : status;
}

/* Sizes that options give by the operator's own names for them. */
static mc_status take_aliases(sizing *z) {
    const size_alias *aliases = z->session->base.op->aliases;
    mc_status status = MC_OK;
    for (size_t i = 0; aliases != NULL && aliases[i].name != NULL && status == MC_OK; i++) {
        int64_t given = options_of(z->session)->aliases[i];
        if (given > 0)
            status = agree(z, aliases[i].member(&z->session->base.shape), given, aliases[i].name, "");
    }
    return status;
}

/* Finds all sizes: from the matrix, options, files, the kernel, or the usual one. M is not known before the
   matrix fits. */
static mc_status find_sizes(sizing *z, const mc_kernel *kernel) {
    product_session *s = z->session;
    const mc_operator *o = s->base.op;
    mc_status status = MC_OK;
    know_matrix(z);
    for (problem_member i = MEMBER_m; i <= MEMBER_k; i++) {
        int64_t given = options_of(s)->members[i];
        if (given > 0) z->sizes[i] = (said){given, NULL, NULL};
        if (given > 0) z->sizes[i].by = i == MEMBER_m ? "--m" : i == MEMBER_n ? "--n" : "--k";
    }
    status = take_aliases(z);
    for (size_t i = 0; i < o->operand_count && status == MC_OK; i++) status = agree_with_file(z, i);
    for (problem_member i = MEMBER_m; i <= MEMBER_k && status == MC_OK; i++) {
        bool later = o->matrix.wanted && i == o->matrix.rows;
        if (!operator_has(o, i) || later) continue;
        if (z->sizes[i].by == NULL)
            z->sizes[i].value = operand_shape_or(0, kernel, problem_members[i].field, USUAL_SIZE);
        member_set(&s->base.shape, i, z->sizes[i].value);
    }
    return status;
}

/* -- A matrix of 6:8 and the like: kernels have more of k, and files what the matrix has */

static int span_of(const product_session *s) {
    const int span = pattern_span(s->base.options->problem.pattern);
    return span > MC_SLIDE24_LEAST ? span : 0;
}

static bool is_spread(const product_session *s, const operand_row *operand) {
    return operand->spread && operand->by_layout && span_of(s) > 0;
}

static void take_spans(product_session *s) {
    const problem_member k = s->base.op->matrix.cols;
    const int span = span_of(s), unit = mc_slide24_unit(s->base.shape.lhs);
    const int64_t cols = s->base.problem.pattern.cols;
    if (span > 0) member_set(&s->base.shape, k, unit * mc_slide24_length(span, (cols + unit - 1) / unit));
}

/* Rows of an operand become those that the spans' groups want. LD: of the new rows. */
static mc_status spread(const product_session *s, mc_dense *dense, int64_t ld, mc_diag *diag) {
    mc_dense rows = {0}, gathered = {0};
    mc_status status = mc_slide24_rows(dense->type, span_of(s), dense->rows, &rows, diag);
    if (status == MC_OK) status = mc_slide24_gather(dense, &rows, &gathered, diag);
    mc_dense_free(dense);
    if (status == MC_OK) status = mc_dense_convert(&gathered, "B", gathered.type, ld, dense, diag);
    mc_dense_free(&rows);
    mc_dense_free(&gathered);
    return status;
}

/* -- Leading dimensions */

static bool is_fixed_otherwise(const mc_kernel *kernel, problem_member member, int64_t value) {
    int64_t fixed = mc_kernel_field(kernel, problem_members[member].field);
    return fixed > 0 && fixed != value;
}

/* That the kernel's copies need LD to be a multiple of; 0: any will do. */
static int64_t unit_of(const mc_kernel *kernel, problem_member ld) {
    return mc_contract_of_shape(mc_kernel_contract(kernel), problem_members[ld].field).multiple;
}

/* Of an operand that the kernel has not. */
static mc_status refuse_ld(product_session *s, const operand_row *operand, mc_diag *diag) {
    member_set(&s->base.shape, operand->ld, 0);
    if (options_of(s)->members[operand->ld] == 0) return MC_OK;
    return mc_fail(diag, MC_USAGE, "%s: the kernel takes no %s", option_title(operand->ld).text,
                   operand->name);
}

/* Rows without gaps; those of a B that is made longer begin at multiples of 16 bytes, as plans have them. */
static int64_t usual_ld(const product_session *s, const operand_row *operand, const mc_dense *stored) {
    const bool made = is_spread(s, operand) && operand_is_turned(&s->base.shape, operand);
    return made ? type_leading(stored->type, stored->cols) : operand_tight(stored->type, stored->cols);
}

/* Where one of many variants is to be found, those that cannot take it are passed over. */
static mc_status find_ld(product_session *s, const mc_kernel *kernel, const operand_row *operand,
                         mc_diag *diag) {
    plan_problem *shape = &s->base.shape;
    if (!operand_is_there(shape, operand)) return refuse_ld(s, operand, diag);
    const mc_dense stored = operand_shape(shape, operand);
    problem_member length = operand_is_turned(shape, operand) ? operand->rows : operand->cols;
    const member_title option = option_title(operand->ld), row = size_title(length);
    int64_t given = options_of(s)->members[operand->ld], usual = usual_ld(s, operand, &stored),
            ld = operand_shape_or(given, kernel, problem_members[operand->ld].field, usual);
    /* A length that the kernel does not take is refused as such later. */
    bool any = s->base.options->variants == VARIANTS_BEST ||
               (given == 0 && is_fixed_otherwise(kernel, length, stored.cols));
    const operand_ld check = {option.text, row.text,    given > 0,
                              ld,          stored.cols, any ? 0 : unit_of(kernel, operand->ld)};
    member_set(shape, operand->ld, ld);
    return operand_check_ld(&check, diag);
}

static mc_status find_lds(product_session *s, const mc_kernel *kernel, mc_diag *diag) {
    const mc_operator *o = s->base.op;
    mc_status status = MC_OK;
    for (size_t i = 0; i < o->operand_count && status == MC_OK; i++)
        if (o->operands[i].ld != NO_MEMBER) status = find_ld(s, kernel, &o->operands[i], diag);
    return status;
}

/* Rows may lie so far apart that it takes long to fill an operand. */
mc_status inputs_check_limits(const product_session *s, const mc_kernel *kernel, mc_diag *diag) {
    const mc_operator *o = s->base.op;
    mc_status status = MC_OK;
    for (size_t i = 0; i < o->operand_count && status == MC_OK; i++) {
        const operand_row *operand = &o->operands[i];
        if (operand->ld == NO_MEMBER || !operand_is_there(&s->base.shape, operand)) continue;
        const mc_constraint c =
            mc_contract_of_shape(mc_kernel_contract(kernel), problem_members[operand->ld].field);
        status = mc_bind_check_limit(&c, member_get(&s->base.shape, operand->ld), diag);
    }
    return status;
}

/* By columns: the transposed matrix, row by row, with the leading dimension LD. */
static mc_status lay_out(mc_dense *dense, int64_t ld, mc_diag *diag) {
    mc_dense turned;
    mc_status status = mc_dense_transpose(dense, ld, &turned, diag);
    if (status != MC_OK) return status;
    mc_dense_free(dense);
    *dense = turned;
    return MC_OK;
}

/* -- Before the matrix fits */

static mc_status refuse_file(const operand_row *operand, mc_diag *diag) {
    char option[FACTOR_OPTION];
    factor_option(operand->name, option);
    return mc_fail(diag, MC_CANNOT, "--%s: the kernel takes none", option);
}

static mc_status read_files(product_session *s, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < s->base.op->operand_count && status == MC_OK; i++) {
        const operand_row *operand = &s->base.op->operands[i];
        const char *file = options_of(s)->files[i];
        if (file == NULL && options_of(s)->majors[i] != 0)
            return mc_fail(diag, MC_USAGE, "--%s-major goes with --%s", operand->name, operand->name);
        if (file == NULL || operand->kind == OPERAND_FACTOR) continue;
        if (!operand_is_there(&s->base.shape, operand)) return refuse_file(operand, diag);
        status = mc_dense_read(file, &s->given[i], diag);
        if (status == MC_OK && options_of(s)->majors[i] == 1 + MC_MAJOR_COLUMN)
            status = lay_out(&s->given[i], operand_tight(s->given[i].type, s->given[i].rows), diag);
    }
    return status;
}

/* Operands have their types from this kernel; a variant that reads another type says so when it runs. */
mc_status inputs_prepare(product_session *s, const mc_kernel *kernel, mc_diag *diag) {
    sizing z = {.session = s, .diag = diag};
    mc_status status = plan_problem_read(kernel, &s->base.shape, diag);
    if (status == MC_OK) status = read_files(s, diag);
    if (status == MC_OK) status = find_sizes(&z, kernel);
    if (status == MC_OK) take_spans(s);
    return status == MC_OK ? find_lds(s, kernel, diag) : status;
}

/* -- Operands */

/* The whole operand, rows x cols, as it was given, or random. LD: of its rows. */
static mc_status make_rows(const product_session *s, size_t i, mc_type type, int64_t ld, mc_dense *made,
                           mc_diag *diag) {
    const operand_row *operand = &s->base.op->operands[i];
    char title[OPERAND_TITLE];
    operand_title(operand, title);
    if (options_of(s)->files[i] != NULL) return mc_dense_convert(&s->given[i], title, type, ld, made, diag);
    const int64_t rows =
        is_spread(s, operand) ? s->base.problem.pattern.cols : operand_rows(&s->base.shape, operand);
    mc_status status = mc_dense_create(type, rows, operand_cols(&s->base.shape, operand), ld, made, diag);
    if (status == MC_OK) operand_fill(operand, made, (uint64_t)s->base.options->problem.seed + i);
    return status;
}

static mc_status make_input(product_session *s, size_t i, mc_diag *diag) {
    const operand_row *operand = &s->base.op->operands[i];
    const mc_dense stored = operand_shape(&s->base.shape, operand);
    bool turned = operand_is_turned(&s->base.shape, operand);
    int64_t ld = turned ? operand_tight(stored.type, stored.rows) : stored.ld;
    mc_dense *input = &s->base.inputs[i];
    mc_dense_free(input);
    mc_status status = make_rows(s, i, stored.type, ld, input, diag);
    if (status == MC_OK && is_spread(s, operand)) status = spread(s, input, ld, diag);
    return status == MC_OK && turned ? lay_out(input, stored.ld, diag) : status;
}

/* As it was given, or random. */
static mc_status make_sampled(product_session *s, size_t i, mc_diag *diag) {
    const operand_row *operand = &s->base.op->operands[i];
    mc_dense *input = &s->base.inputs[i], shape;
    char title[OPERAND_TITLE];
    operand_title(operand, title);
    mc_dense_free(input);
    mc_status status = operand_whole_shape(&s->base.shape, operand, &s->base.problem.a, &shape, diag);
    if (status != MC_OK) return status;
    if (options_of(s)->files[i] != NULL)
        return mc_dense_convert(&s->given[i], title, shape.type, s->given[i].cols, input, diag);
    status = mc_dense_create(shape.type, shape.rows, shape.cols, shape.ld, input, diag);
    if (status == MC_OK) mc_dense_fill(input, MC_VALUES_FULL, (uint64_t)s->base.options->problem.seed + i);
    return status;
}

mc_status inputs_make(product_session *s, mc_diag *diag) {
    const mc_operator *o = s->base.op;
    sizing z = {.session = s, .diag = diag};
    mc_status status = MC_OK;
    know_matrix(&z);
    if (o->matrix.wanted) member_set(&s->base.shape, o->matrix.rows, s->base.problem.a.rows);
    for (size_t i = 0; i < o->operand_count && status == MC_OK; i++) {
        if (!operand_is_input(&o->operands[i]) || !operand_is_there(&s->base.shape, &o->operands[i]))
            continue;
        if (o->operands[i].kind == OPERAND_SAMPLED) status = make_sampled(s, i, diag);
        if (o->operands[i].kind != OPERAND_DENSE) continue;
        status = agree_with_file(&z, i);
        if (status == MC_OK) status = check_blocks(s, i, diag);
        if (status == MC_OK) status = make_input(s, i, diag);
    }
    return status;
}

/* -- Factors */

static const char *factor_file(const product_session *s, size_t i) {
    const problem_options *of = &s->base.options->problem;
    const char *name = s->base.op->operands[i].name;
    if (strcmp(name, "scale") == 0) return of->scale_file;
    return strcmp(name, "bias") == 0 ? of->bias_file : options_of(s)->files[i];
}

mc_status inputs_make_factors(product_session *s, const mc_kernel *kernel, mc_diag *diag) {
    const char *files[MAX_OPERANDS] = {NULL};
    factors made;
    for (size_t i = 0; i < s->base.op->operand_count; i++) files[i] = factor_file(s, i);
    mc_status status =
        factors_make(&s->base.problem, kernel, files, s->base.shape.m, s->base.shape.n, &made, diag);
    memcpy(s->base.factors, made.values, sizeof made.values);
    return status;
}

/* -- Where values came from */

size_t inputs_sources(const session *base, value_source *list) {
    const product_session *s = (const product_session *)base;
    const mc_operator *o = base->op;
    size_t count = 0;
    bool mask = o->matrix.type == NO_MEMBER,
         counts = !mask || member_get(&base->shape, o->matrix.values_if) != 0;
    if (o->matrix.wanted && counts)
        list[count++] = (value_source){.title = "", .from = base->problem.values_from};
    if (count > 0) snprintf(list[0].title, OPERAND_TITLE, "%s", mask ? "mask" : o->matrix.title);
    for (size_t i = 0; i < o->operand_count; i++) {
        const operand_row *operand = &o->operands[i];
        bool factor = operand->kind == OPERAND_FACTOR;
        if (!operand_is_input(operand) || operand->kind == OPERAND_VALUES ||
            operand_is_computed(&base->shape, operand))
            continue;
        if (!operand_is_there(&base->shape, operand)) continue;
        if (factor && !operand_has_factors(&base->shape, operand)) continue;
        const char *file = factor ? factor_file(s, i) : options_of(s)->files[i];
        if (factor && file == NULL && base->problem.scale > 0 && strcmp(operand->name, "scale") == 0)
            file = base->problem.values_from;
        operand_title(operand, list[count].title);
        list[count++].from = file;
    }
    return count;
}

void inputs_free(product_session *s) {
    for (size_t i = 0; i < MAX_OPERANDS; i++) {
        mc_dense_free(&s->given[i]);
        mc_dense_free(&s->base.inputs[i]);
    }
}
