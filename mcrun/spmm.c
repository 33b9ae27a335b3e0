/* mcrun spmm: C = A B of a sparse A and a dense B. */
#include "operand.h"
#include "session.h"

enum { DEFAULT_N = 256 };

typedef struct spmm_options {
    session_options session;
    int64_t n, ldb, ldc; /* 0: not given */
    const char *b_file;
} spmm_options;

static const cmd_option spmm_table[] = {
    {"n", 0, OPTION_INTEGER, offsetof(spmm_options, n), "N", 1, INT32_MAX,
     "columns of B (the spec's, those of --b, or 256)"},
    {"b", 0, OPTION_TEXT, offsetof(spmm_options, b_file), "FILE.npy", 0, 0, "B, K x N (random)"},
    {"ldb", 0, OPTION_INTEGER, offsetof(spmm_options, ldb), "L", 1, INT32_MAX, "leading dimension of B (N)"},
    {"ldc", 0, OPTION_INTEGER, offsetof(spmm_options, ldc), "L", 1, INT32_MAX, "leading dimension of C (N)"},
};

typedef struct spmm_session {
    session base;
    int64_t ldc;
} spmm_session;

static const spmm_options *options_of(const session *s) { return (const spmm_options *)s->options; }

static int64_t ldc_of(const session *s) { return ((const spmm_session *)s)->ldc; }

/* -- B */

/* Of B for KERNEL; where one of many is to be found, those that cannot take it are passed over. */
static mc_status check_ldb(const session *s, int64_t ldb, int64_t n, const mc_kernel *kernel, mc_diag *diag) {
    bool any = s->options->variants == VARIANTS_BEST;
    const operand_ld ld = {"--ldb", "N", ldb, n, any ? 0 : mc_kernel_contract(kernel)->ldb_multiple};
    return operand_check_ld(&ld, diag);
}

static mc_status read_b(session *s, const mc_kernel *kernel, mc_type type, mc_diag *diag) {
    const spmm_options *o = options_of(s);
    mc_status status = mc_npy_read(o->b_file, &s->b, diag);
    if (status != MC_OK) return status;
    if (s->b.rows != s->problem.pattern.cols)
        return mc_fail(diag, MC_CANNOT, "%s has %lld rows, the matrix %lld columns", o->b_file,
                       (long long)s->b.rows, (long long)s->problem.pattern.cols);
    if (o->n > 0 && o->n != s->b.cols)
        return mc_fail(diag, MC_USAGE, "--n is %lld, but %s has %lld columns", (long long)o->n, o->b_file,
                       (long long)s->b.cols);
    int64_t ldb = o->ldb > 0 ? o->ldb : operand_tight(type, s->b.cols);
    status = check_ldb(s, ldb, s->b.cols, kernel, diag);
    return status == MC_OK ? operand_convert(&s->b, "B", type, ldb, diag) : status;
}

static mc_status make_b(session *s, const mc_kernel *kernel, mc_type type, mc_diag *diag) {
    const spmm_options *o = options_of(s);
    int64_t n = operand_shape(o->n, kernel, "n", DEFAULT_N),
            ldb = operand_shape(o->ldb, kernel, "ldb", operand_tight(type, n));
    mc_status status = check_ldb(s, ldb, n, kernel, diag);
    if (status == MC_OK) status = mc_dense_create(type, s->problem.pattern.cols, n, ldb, &s->b, diag);
    if (status == MC_OK) mc_dense_fill(&s->b, MC_VALUES_FULL, (uint64_t)s->options->problem.seed + 1);
    return status;
}

/* -- The operator */

/* B has its type from the first kernel; a variant that reads another type says so when it runs. */
static mc_status prepare(session *s, const mc_kernel *kernel, mc_diag *diag) {
    const spmm_options *o = options_of(s);
    mc_type type;
    mc_status status = mc_type_of(kernel, "rhs", &type, diag);
    if (status == MC_OK)
        status = o->b_file != NULL ? read_b(s, kernel, type, diag) : make_b(s, kernel, type, diag);
    if (status != MC_OK) return status;
    const operand_ld ldc = {"--ldc", "N", operand_shape(o->ldc, kernel, "ldc", s->b.cols), s->b.cols, 0};
    ((spmm_session *)s)->ldc = ldc.value;
    return operand_check_ld(&ldc, diag);
}

static run_shape shape_of(const session *s) {
    const mc_vsparse *a = &s->problem.a;
    int64_t n = s->b.cols;
    return (run_shape){.m = a->rows,
                       .n = n,
                       .k = a->cols,
                       .ld = {{"ldb", s->b.ld, n}, {"ldc", ldc_of(s), n}},
                       .vectors = a->vectors,
                       .vec = a->vec,
                       .length = n,
                       .bytes = mc_type_size(s->b.type, n),
                       .sparsity = report_sparsity(a),
                       .fill = s->problem.fill};
}

static mc_problem problem_of(const session *s) { return mc_problem_of(&s->problem.a, s->b.cols, s->b.ld); }

/* The scales, the biases, and the C that the kernel must give. */
static mc_status expect(session *s, const mc_kernel *kernel, mc_diag *diag) {
    mc_dense sums;
    mc_status status = mc_reference_spmm(&s->problem.a, &s->b, &sums, diag);
    if (status != MC_OK) return status;
    status = factors_make(&s->options->problem, kernel, sums.rows, sums.cols, &s->factors, diag);
    if (status == MC_OK)
        status =
            mc_reference_output(&s->factors.output, s->factors.scale, s->factors.bias, &sums, &s->want, diag);
    mc_dense_free(&sums);
    return status;
}

static mc_status run(session *s, const mc_kernel *kernel, mc_timing *timing, mc_diag *diag) {
    const mc_spmm spmm = {
        .a = &s->problem.a, .b = &s->b, .ldc = ldc_of(s), .scale = s->factors.scale, .bias = s->factors.bias};
    return mc_spmm_run(s->device, kernel, s->ptx, &spmm, timing, &s->c, diag);
}

static mc_status write_c(const session *s, mc_diag *diag) {
    return mc_npy_write(s->options->out_file, &s->c, diag);
}

static const session_operator spmm_operator = {"spmm", prepare, shape_of, problem_of, expect, run, write_c};

/* -- The command */

static int spmm_run_command(int argc, char **argv) {
    spmm_options options = {.session = {.problem.seed = 1, .device = "auto"}};
    char **operands;
    int exit_status;
    if (!cmd_parse(&cmd_spmm, argc, argv, &options, &operands, &exit_status)) return exit_status;
    size_t specs = 1; /* the last operand is the matrix */
    while (operands[specs + 1] != NULL) specs++;
    exit_status = session_check_options(&options.session, &spmm_operator, specs);
    if (exit_status != CMD_DONE) return exit_status;
    mc_diag *diag = mc_diag_create();
    spmm_session s = {.base = {.op = &spmm_operator, .options = &options.session}};
    return cmd_finish(session_run(&s.base, operands, specs, operands[specs], diag), diag);
}

const cmd cmd_spmm = {"spmm",
                      "SPEC... MATRIX",
                      "runs a kernel on a sparse matrix and verifies it",
                      -2,
                      {{spmm_table, sizeof spmm_table / sizeof spmm_table[0]},
                       {session_option_table, SESSION_OPTION_COUNT},
                       {problem_spec_table, PROBLEM_SPEC_OPTIONS},
                       {problem_value_table, PROBLEM_VALUE_OPTIONS},
                       {problem_pattern_table, PROBLEM_PATTERN_OPTIONS}},
                      spmm_run_command};
