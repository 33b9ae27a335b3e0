#include "product.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pattern.h"
#include "sampled.h"
#include "text/file.h"

static const product_options *options_of(const session *s) { return (const product_options *)s->options; }

/* -- A run, as the session wants it */

static mc_status prepare(session *s, const mc_kernel *kernel, mc_diag *diag) {
    mc_status status = sampled_check_format(kernel, options_of(s)->format, diag);
    return status == MC_OK ? inputs_prepare((product_session *)s, kernel, diag) : status;
}

static host_operands operands_of(const session *s, const plan_problem *of) {
    host_operands operands = {.problem = of, .matrix = &s->problem.a};
    for (size_t i = 0; i < s->op->operand_count; i++) {
        operands.inputs[i] = &s->inputs[i];
        operands.factors[i] = s->factors[i];
    }
    return operands;
}

static mc_status expect_others(session *s, const host_operands *operands, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < s->op->operand_count && status == MC_OK; i++)
        if (operand_is_other(operands->problem, &s->op->operands[i]))
            status = operator_expect_other(s->op, operands, i, &s->want_others[i], diag);
    return status;
}

/* The operands, and the output that KERNEL must give. */
static mc_status expect(session *s, const mc_kernel *kernel, mc_diag *diag) {
    plan_problem whole = {0};
    mc_status status = inputs_check_limits((const product_session *)s, kernel, diag);
    if (status == MC_OK) status = inputs_make((product_session *)s, diag);
    if (status == MC_OK) status = inputs_make_factors((product_session *)s, kernel, diag);
    host_operands operands = operands_of(s, &whole);
    if (status == MC_OK)
        status = plan_problem_measure(kernel, &operands, member_get(&s->shape, operator_out(s->op)->ld),
                                      &whole, diag);
    if (status == MC_OK) status = operator_expect(s->op, &operands, &s->want, diag);
    return status == MC_OK ? expect_others(s, &operands, diag) : status;
}

static mc_status run(session *s, const mc_kernel *kernel, mc_timing *timing, mc_diag *diag) {
    const mc_run given = {.operands = operands_of(s, NULL),
                          .ld = member_get(&s->shape, operator_out(s->op)->ld),
                          .others = s->others,
                          .repeats = timing == NULL ? (int)s->options->repeat : 0,
                          .module = s->module};
    return mc_operator_run(s->device, kernel, s->ptx, &given, timing, &s->c, diag);
}

static mc_status judge(const session *s, const mc_kernel *kernel, mc_diag *diag) {
    plan_problem whole = {0};
    host_operands operands = operands_of(s, &whole);
    mc_status status =
        plan_problem_measure(kernel, &operands, member_get(&s->shape, operator_out(s->op)->ld), &whole, diag);
    return status == MC_OK ? operator_judge(s->op, kernel, &operands, &s->want, &s->c, diag) : status;
}

static mc_status write_others(const session *s, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < s->op->operand_count && status == MC_OK; i++) {
        const char *path = options_of(s)->other_files[i];
        if (path == NULL) continue;
        if (s->others[i].data == NULL)
            return mc_fail(diag, MC_CANNOT, "--out-%s: %s", s->op->operands[i].name,
                           s->want_others[i].low.data == NULL
                               ? "the kernel computes none"
                               : "C has no elements, and nothing was launched");
        bool factor = s->op->operands[i].kind == OPERAND_FACTOR;
        status = (factor ? mc_npy_write_vector : mc_npy_write)(path, &s->others[i], diag);
    }
    return status;
}

static mc_status write_out(const session *s, mc_diag *diag) {
    const product_options *o = options_of(s);
    const char *path = o->session.out_file;
    mc_status status = write_others(s, diag);
    if (status != MC_OK || path == NULL) return status;
    if (o->format <= SAMPLED_NPY) return mc_npy_write(path, &s->c, diag);
    return sampled_write(o->format, &s->problem.a, s->shape.order, &s->c, path, o->force, diag);
}

static const session_calls calls = {prepare, expect, run, judge, write_out, inputs_sources};

/* -- Options: a row for each size that no matrix gives, each dense operand, each leading dimension */

enum { MOST_ROWS = MEMBERS + 4 * MAX_OPERANDS + PRODUCT_ALIASES + 2, HELP_BYTES = 96, NAME_BYTES = 24 };

typedef struct product_command_data {
    cmd command;
    cmd_option rows[MOST_ROWS];
    char help[MOST_ROWS][HELP_BYTES], names[MOST_ROWS][NAME_BYTES];
    size_t count;
} product_command_data;

static const char *add_help(product_command_data *d, const char *format, const char *what, const char *more) {
    snprintf(d->help[d->count], HELP_BYTES, format, what, more);
    return d->help[d->count];
}

static void add_row(product_command_data *d, const cmd_option *row) { d->rows[d->count++] = *row; }

static void add_member(product_command_data *d, problem_member member, const char *argument,
                       const char *help) {
    char letter = member == MEMBER_n ? 'n' : '\0';
    add_row(d, &(cmd_option){problem_members[member].name, letter, OPTION_INTEGER,
                             offsetof(product_options, members) + member * sizeof(int64_t), argument, 1,
                             INT32_MAX, help});
}

static void add_sizes(product_command_data *d, const mc_operator *o) {
    static const char *const titles[] = {"M", "N", "K"};
    for (problem_member i = MEMBER_m; i <= MEMBER_k; i++) {
        bool of_matrix = o->matrix.wanted && (i == o->matrix.rows || i == o->matrix.cols);
        if (operator_has(o, i) && !of_matrix)
            add_member(d, i, titles[i - MEMBER_m], "a size (what a file has, the spec's, or 256)");
    }
    for (size_t i = 0; o->aliases != NULL && o->aliases[i].name != NULL && i < PRODUCT_ALIASES; i++)
        add_row(d, &(cmd_option){o->aliases[i].name, 0, OPTION_INTEGER,
                                 offsetof(product_options, aliases) + i * sizeof(int64_t), "SIZE", 1,
                                 INT32_MAX, o->aliases[i].help});
}

/* The next row's option: PREFIX and a factor's. */
static const char *option_name(product_command_data *d, const char *prefix, const char *operand) {
    char option[FACTOR_OPTION];
    factor_option(operand, option);
    snprintf(d->names[d->count], NAME_BYTES, "%s%s", prefix, option);
    return d->names[d->count];
}

/* Where a further output is to be written. */
static void add_out(product_command_data *d, const operand_row *operand, size_t place, const char *help) {
    add_row(d, &(cmd_option){option_name(d, "out-", operand->name), 0, OPTION_TEXT,
                             offsetof(product_options, other_files) + place * sizeof(char *), "FILE.npy", 0,
                             0, add_help(d, help, operand->name, "")});
}

/* "k", or "k / 128" of an operand that has one for so many. */
typedef struct size_text {
    char text[24];
} size_text;

static size_text size_of(problem_member size, int block) {
    size_text of;
    if (block > 0) snprintf(of.text, sizeof of.text, "%s / %d", problem_members[size].name, block);
    else snprintf(of.text, sizeof of.text, "%s", size != NO_MEMBER ? problem_members[size].name : "");
    return of;
}

static void add_operand(product_command_data *d, const operand_row *operand, size_t place) {
    const size_text rows_text = size_of(operand->rows, operand->row_block),
                    cols_text = size_of(operand->cols, operand->col_block);
    const char *rows = rows_text.text, *cols = cols_text.text;
    if (operand->kind == OPERAND_SAMPLED && !operand->out)
        add_row(d, &(cmd_option){operand->name, 0, OPTION_TEXT,
                                 offsetof(product_options, files) + place * sizeof(char *), "FILE.npy", 0, 0,
                                 "values of the mask's vectors, in the kernel's order (random)"});
    if (operand->kind != OPERAND_DENSE) return;
    if (operand_is_input(operand))
        add_row(d, &(cmd_option){option_name(d, "", operand->name), 0, OPTION_TEXT,
                                 offsetof(product_options, files) + place * sizeof(char *), "FILE.npy", 0, 0,
                                 add_help(d,
                                          operand->by_layout || operand->major != NO_MEMBER
                                              ? "%s x %s, whatever the spec's layout (random)"
                                              : "%s x %s (random)",
                                          rows, cols)});
    if (operand_is_transposed(operand))
        add_row(d,
                &(cmd_option){option_name(d, "", problem_members[operand->major].name), 0, OPTION_CHOICE,
                              offsetof(product_options, majors) + place * sizeof(int), "row|column", 0, 0,
                              add_help(d, "column: the file is %s x %s, a row for each token", cols, rows)});
    if (operand->ld != NO_MEMBER)
        add_member(d, operand->ld, "L", add_help(d, "leading dimension of %s%s", operand->name, ""));
    if (operand->in_place && !operand->out) add_out(d, operand, place, "write here what %s becomes%s");
}

/* A factor that problem.c has no row for; where to write it, if kernels may compute it. */
static void add_factor(product_command_data *d, const operand_row *operand, size_t place) {
    bool known = operand->computed == operand->per && operand->count == 0; /* no kernel reads it */
    char help[HELP_BYTES] = "%s%s: f32, 1, M or N of them (random)";
    if (operand->count > 0) snprintf(help, sizeof help, "%%s%%s: f32, %d of them (random)", operand->count);
    for (size_t i = 0; i < PROBLEM_VALUE_OPTIONS; i++)
        known |= strcmp(problem_value_table[i].name, operand->name) == 0;
    if (!known)
        add_row(d, &(cmd_option){option_name(d, "", operand->name), 0, OPTION_TEXT,
                                 offsetof(product_options, files) + place * sizeof(char *), "FILE.npy", 0, 0,
                                 add_help(d, help, operand->name, "")});
    if (operand->computed == NO_MEMBER) return;
    add_out(d, operand, place, "write here the %s that the kernel computes%s");
}

static void add_factors(product_command_data *d, const mc_operator *o) {
    for (size_t i = 0; i < o->operand_count; i++)
        if (o->operands[i].kind == OPERAND_FACTOR) add_factor(d, &o->operands[i], i);
}

/* Those of the sparse matrix's values, of scales and biases: problem.c has the rows. */
static void add_values(product_command_data *d, const mc_operator *o) {
    for (size_t i = 0; i < PROBLEM_VALUE_OPTIONS; i++) {
        const cmd_option *row = &problem_value_table[i];
        bool is_a = row->offset == offsetof(problem_options, a_file),
             is_mask = row->offset == offsetof(problem_options, mask_file);
        bool wanted = is_a      ? o->matrix.type != NO_MEMBER
                      : is_mask ? o->matrix.values_if != NO_MEMBER
                                : operator_operand(o, row->name) >= 0;
        if (wanted) add_row(d, row);
    }
}

static void add_formats(product_command_data *d, const mc_operator *o) {
    if (operator_out(o)->kind != OPERAND_SAMPLED) return;
    add_row(d, &(cmd_option){
                   "format", 0, OPTION_CHOICE, offsetof(product_options, format), "npy|bcrs|srbcrs", 0, 0,
                   "what --out is: a file in the kernel's order (the usual), or a directory that may "
                   "be a MATRIX"});
    add_row(d, &(cmd_option){"force", 0, OPTION_SWITCH, offsetof(product_options, force), NULL, 0, 0,
                             "replace these files in a directory that is not empty"});
}

/* A matrix may be one of 6:8 and the like. */
static void add_pattern(product_command_data *d, const mc_operator *o) {
    if (!o->matrix.wanted || !operator_has(o, MEMBER_pattern)) return;
    add_row(d, &(cmd_option){"pattern", 0, OPTION_TEXT, offsetof(product_options, session.problem.pattern),
                             PATTERN_WORDS, 0, 0, PATTERN_HELP});
}

static void fill_options(product_command_data *d, const mc_operator *o) {
    add_sizes(d, o);
    add_pattern(d, o);
    for (size_t i = 0; i < o->operand_count; i++) add_operand(d, &o->operands[i], i);
    add_values(d, o);
    add_factors(d, o);
    add_formats(d, o);
    d->command.options[0] = (cmd_option_table){d->rows, d->count};
    d->command.options[1] = (cmd_option_table){session_option_table, SESSION_OPTION_COUNT};
    d->command.options[2] = (cmd_option_table){problem_spec_table, PROBLEM_SPEC_OPTIONS};
    d->command.options[3] = (cmd_option_table){problem_pattern_table,
                                               o->matrix.wanted ? PROBLEM_PATTERN_OPTIONS : 1}; /* the seed */
}

/* -- The commands */

static int check_options(const product_options *o, const mc_operator *op, size_t specs) {
    bool directory = o->format > SAMPLED_NPY;
    if (o->format != 0 && o->session.out_file == NULL)
        return cmd_usage("%s: --format goes with --out", op->name);
    if (pattern_check(o->session.problem.pattern) != CMD_DONE) return CMD_USAGE;
    if (o->force && !directory) return cmd_usage("%s: --force goes with --format bcrs or srbcrs", op->name);
    return session_check_options(&o->session, op, specs);
}

/* A matrix where specs belong, or a spec where the matrix does. */
static int check_order(const mc_operator *op, char *const *words, const char *matrix) {
    for (size_t i = 0; words[i] != NULL && words[i] != matrix; i++)
        if (mc_csr_reads(words[i]) && !(matrix != NULL && cmd_is_spec(matrix)))
            return cmd_usage("%s: %s is a matrix, not a spec: the arguments are %s%s", op->name, words[i],
                             matrix != NULL ? "specs, then one " : "specs alone",
                             matrix != NULL ? op->matrix.argument : "");
    if (matrix == NULL || !cmd_is_spec(matrix) || cmd_is_spec(words[0])) return CMD_DONE;
    return cmd_usage("%s: %s is a spec, and %s none: specs come first, then %s", op->name, matrix, words[0],
                     op->matrix.argument);
}

/* Whether OUT, of OPTION, would replace what is read; a message then. */
static bool overwrites(const mc_operator *op, const char *option, const char *out, const product_options *o,
                       char *const *words) {
    const problem_options *p = &o->session.problem;
    const char *const files[] = {p->a_file, p->scale_file, p->bias_file, p->mask_file, o->session.ptx_file};
    const char *taken = NULL;
    if (out == NULL) return false;
    for (size_t i = 0; words[i] != NULL; i++) {
        bool is_matrix = op->matrix.wanted && words[i + 1] == NULL;
        if (!is_matrix && cmd_is_spec_name(words[i])) continue; /* it is no file */
        if (cmd_reads(words[i], out)) taken = words[i];
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i] != NULL && cmd_reads(files[i], out)) taken = files[i];
    for (size_t i = 0; i < MAX_OPERANDS; i++)
        if (o->files[i] != NULL && cmd_reads(o->files[i], out)) taken = o->files[i];
    if (taken != NULL)
        (void)cmd_usage("%s: %s %s would overwrite %s, which is read", op->name, option, out, taken);
    return taken != NULL;
}

static int check_outputs(const mc_operator *op, const product_options *o, char *const *words) {
    const char *outs[MAX_OPERANDS + 1] = {o->session.out_file};
    char options[MAX_OPERANDS + 1][NAME_BYTES] = {"--out"};
    for (size_t i = 0; i < op->operand_count; i++) {
        snprintf(options[i + 1], NAME_BYTES, "--out-%s", op->operands[i].name);
        outs[i + 1] = o->other_files[i];
    }
    for (size_t i = 0; i <= op->operand_count; i++) {
        if (overwrites(op, options[i], outs[i], o, words)) return CMD_USAGE;
        for (size_t k = 0; k < i; k++)
            if (outs[i] != NULL && outs[k] != NULL &&
                (strcmp(outs[i], outs[k]) == 0 || file_is_same(outs[i], outs[k])))
                return cmd_usage("%s: %s and %s are both %s", op->name, options[k], options[i], outs[i]);
    }
    return CMD_DONE;
}

int product_run(const cmd *command, int argc, char **argv) {
    const mc_operator *op = operator_named(command->name);
    product_options options = {.session = {.problem.seed = 1, .device = "auto"}};
    char **words;
    int exit_status;
    if (!cmd_parse(command, argc, argv, &options, &words, &exit_status)) return exit_status;
    size_t count = 0;
    while (words[count] != NULL) count++;
    const char *matrix = op->matrix.wanted ? words[--count] : NULL; /* the last one */
    exit_status = check_options(&options, op, count);
    if (exit_status == CMD_DONE) exit_status = check_order(op, words, matrix);
    if (exit_status == CMD_DONE) exit_status = check_outputs(op, &options, words);
    if (exit_status != CMD_DONE) return exit_status;
    mc_diag *diag = mc_diag_create();
    product_session s = {.base = {.op = op, .calls = &calls, .options = &options.session}};
    mc_status status = session_run(&s.base, words, count, matrix, diag);
    inputs_free(&s);
    return cmd_finish(status, diag);
}

const cmd *product_command(size_t index) {
    static product_command_data data;
    const mc_operator *o = operator_at(index);
    if (o == NULL) return NULL;
    static char words[64];
    bool several = o->estimates; /* of which the fastest is to be found */
    snprintf(words, sizeof words, "SPEC%s%s%s", several ? "..." : "", o->matrix.wanted ? " " : "",
             o->matrix.wanted ? o->matrix.argument : "");
    data =
        (product_command_data){.command = {.name = o->name,
                                           .operands = words,
                                           .summary = "runs a kernel and verifies it",
                                           .operand_count = (o->matrix.wanted ? 2 : 1) * (several ? -1 : 1)}};
    fill_options(&data, o);
    return &data.command;
}
