/* mcrun sddmm: C = A B of dense A and B, where a mask has its nonzero vectors. */
#include "operand.h"
#include "sampled.h"
#include "session.h"

enum { DEFAULT_K = 256 };

typedef struct sddmm_options {
    session_options session;
    int64_t k, lda, ldb; /* 0: not given */
    const char *a_file, *b_file;
    int format; /* of C: SAMPLED_*; 0: not given */
    bool force;
} sddmm_options;

static const cmd_option sddmm_table[] = {
    {"k", 0, OPTION_INTEGER, offsetof(sddmm_options, k), "K", 1, INT32_MAX,
     "columns of A and rows of B (those of --a or --b, the spec's, or 256)"},
    {"a", 0, OPTION_TEXT, offsetof(sddmm_options, a_file), "FILE.npy", 0, 0, "A, M x K (random)"},
    {"b", 0, OPTION_TEXT, offsetof(sddmm_options, b_file), "FILE.npy", 0, 0,
     "B, K x N, whatever the spec's layout (random)"},
    {"lda", 0, OPTION_INTEGER, offsetof(sddmm_options, lda), "L", 1, INT32_MAX, "leading dimension of A (K)"},
    {"ldb", 0, OPTION_INTEGER, offsetof(sddmm_options, ldb), "L", 1, INT32_MAX,
     "leading dimension of B (K, of layout rows N)"},
    {"mask-values", 0, OPTION_TEXT, offsetof(sddmm_options, session.problem.mask_file), "FILE.npy", 0, 0,
     "values of the mask, f32: rows x columns, or vectors x V (random, or those of a MASK that has some)"},
    {"scale", 0, OPTION_TEXT, offsetof(sddmm_options, session.problem.scale_file), "FILE.npy", 0, 0,
     "scales, where the kernel's output has some: f32, 1, M or N of them (random)"},
    {"format", 0, OPTION_CHOICE, offsetof(sddmm_options, format), "npy|bcrs|srbcrs", 0, 0,
     "what --out is: a file in the kernel's order (the usual), or a directory that may be a MATRIX"},
    {"force", 0, OPTION_SWITCH, offsetof(sddmm_options, force), NULL, 0, 0,
     "replace these files in a directory that is not empty"},
};

typedef struct sddmm_session {
    session base;
    mc_dense given; /* the file of --a */
    mc_dense a;
    int64_t k, lda;
    mc_layout layout;
    mc_order order;
} sddmm_session;

static const sddmm_options *options_of(const session *s) { return (const sddmm_options *)s->options; }

static const sddmm_session *own(const session *s) { return (const sddmm_session *)s; }

/* -- K */

/* A size, and who says it: an option or a file. */
typedef struct said {
    int64_t value;
    const char *by; /* NULL: nobody yet */
} said;

static mc_status agree(said *k, int64_t value, const char *by, mc_diag *diag) {
    if (k->by == NULL) *k = (said){value, by};
    if (k->value == value) return MC_OK;
    return mc_fail(diag, MC_USAGE, "K is %lld by %s, but %lld by %s", (long long)k->value, k->by,
                   (long long)value, by);
}

static mc_status find_k(sddmm_session *s, const mc_kernel *kernel, mc_diag *diag) {
    const sddmm_options *o = options_of(&s->base);
    mc_status status = MC_OK;
    said k = {0};
    if (o->k > 0) status = agree(&k, o->k, "--k", diag);
    if (status == MC_OK && o->a_file != NULL) status = agree(&k, s->given.cols, o->a_file, diag);
    if (status == MC_OK && o->b_file != NULL) status = agree(&k, s->base.b.rows, o->b_file, diag);
    s->k = k.by != NULL ? k.value : operand_shape(0, kernel, "k", DEFAULT_K);
    return status;
}

/* -- A and B */

static mc_status find_lda(sddmm_session *s, const mc_kernel *kernel, mc_diag *diag) {
    mc_type type;
    mc_status status = mc_type_of(kernel, "lhs", &type, diag);
    if (status != MC_OK) return status;
    s->lda = operand_shape(options_of(&s->base)->lda, kernel, "lda", operand_tight(type, s->k));
    const operand_ld ld = {"--lda", "K", s->lda, s->k, mc_kernel_contract(kernel)->lda_multiple};
    return operand_check_ld(&ld, diag);
}

/* M goes with the mask, so with a variant's V. */
static mc_status make_a(sddmm_session *s, const mc_kernel *kernel, mc_diag *diag) {
    const sddmm_options *o = options_of(&s->base);
    int64_t m = s->base.problem.a.rows;
    mc_type type;
    mc_status status = mc_type_of(kernel, "lhs", &type, diag);
    mc_dense_free(&s->a);
    if (status != MC_OK) return status;
    if (o->a_file != NULL && s->given.rows != m)
        return mc_fail(diag, MC_CANNOT, "%s has %lld rows, the mask %lld", o->a_file,
                       (long long)s->given.rows, (long long)m);
    if (o->a_file != NULL) return mc_dense_convert(&s->given, "A", type, s->lda, &s->a, diag);
    status = mc_dense_create(type, m, s->k, s->lda, &s->a, diag);
    if (status == MC_OK) mc_dense_fill(&s->a, MC_VALUES_FULL, (uint64_t)o->session.problem.seed);
    return status;
}

/* Row j of TO is column j of FROM. */
static void transpose(const mc_dense *from, mc_dense *to) {
    for (int64_t j = 0; j < to->rows; j++)
        for (int64_t i = 0; i < to->cols; i++) mc_dense_set(to, j, i, mc_dense_get(from, i, j));
}

/* B, which is K x N of its own type and without gaps, as the kernel reads it. */
static mc_status lay_out(sddmm_session *s, int64_t ldb, mc_diag *diag) {
    mc_dense *b = &s->base.b, columns;
    if (s->layout == MC_LAYOUT_ROWS) return operand_convert(b, "B", b->type, ldb, diag);
    mc_status status = mc_dense_create(b->type, b->cols, b->rows, ldb, &columns, diag);
    if (status != MC_OK) return status;
    transpose(b, &columns);
    mc_dense_free(b);
    *b = columns;
    return MC_OK;
}

/* The same values in every layout. */
static mc_status make_b(sddmm_session *s, const mc_kernel *kernel, mc_diag *diag) {
    const sddmm_options *o = options_of(&s->base);
    int64_t n = s->base.problem.pattern.cols;
    bool rows = s->layout == MC_LAYOUT_ROWS;
    mc_type type;
    mc_status status = mc_type_of(kernel, "rhs", &type, diag);
    if (status != MC_OK) return status;
    int64_t length = rows ? n : s->k, ldb = operand_shape(o->ldb, kernel, "ldb", operand_tight(type, length));
    const operand_ld ld = {"--ldb", rows ? "N" : "K", ldb, length, mc_kernel_contract(kernel)->ldb_multiple};
    status = operand_check_ld(&ld, diag);
    if (status != MC_OK) return status;
    if (o->b_file != NULL) {
        status = operand_convert(&s->base.b, "B", type, operand_tight(type, n), diag);
    } else {
        status = mc_dense_create(type, s->k, n, operand_tight(type, n), &s->base.b, diag);
        if (status == MC_OK) mc_dense_fill(&s->base.b, MC_VALUES_FULL, (uint64_t)o->session.problem.seed + 1);
    }
    return status == MC_OK ? lay_out(s, ldb, diag) : status;
}

static mc_status read_files(sddmm_session *s, mc_diag *diag) {
    const sddmm_options *o = options_of(&s->base);
    int64_t n = s->base.problem.pattern.cols;
    mc_status status = MC_OK;
    if (o->a_file != NULL) status = mc_npy_read(o->a_file, &s->given, diag);
    if (status == MC_OK && o->b_file != NULL) status = mc_npy_read(o->b_file, &s->base.b, diag);
    if (status == MC_OK && o->b_file != NULL && s->base.b.cols != n)
        status = mc_fail(diag, MC_CANNOT, "%s has %lld columns, the mask %lld", o->b_file,
                         (long long)s->base.b.cols, (long long)n);
    return status;
}

/* -- The operator */

static mc_status prepare(session *base, const mc_kernel *kernel, mc_diag *diag) {
    sddmm_session *s = (sddmm_session *)base;
    mc_status status = mc_layout_of(kernel, &s->layout, diag);
    if (status == MC_OK) status = mc_order_of(kernel, &s->order, diag);
    if (status == MC_OK) status = sampled_check_format(kernel, options_of(base)->format, diag);
    if (status == MC_OK) status = read_files(s, diag);
    if (status == MC_OK) status = find_k(s, kernel, diag);
    if (status == MC_OK) status = find_lda(s, kernel, diag);
    return status == MC_OK ? make_b(s, kernel, diag) : status;
}

static run_shape shape_of(const session *base) {
    const sddmm_session *s = own(base);
    const mc_vsparse *mask = &base->problem.a;
    int64_t k = s->k;
    return (run_shape){.m = mask->rows,
                       .n = mask->cols,
                       .k = k,
                       .ld = {{"lda", s->lda, k}, {"ldb", base->b.ld, base->b.cols}},
                       .vectors = mask->vectors,
                       .vec = mask->vec,
                       .length = k,
                       .bytes = mc_type_size(base->b.type, k),
                       .sparsity = report_sparsity(mask),
                       .fill = base->problem.fill};
}

static mc_status expect(session *base, const mc_kernel *kernel, mc_diag *diag) {
    sddmm_session *s = (sddmm_session *)base;
    const mc_vsparse *mask = &base->problem.a;
    mc_dense sums;
    mc_status status = make_a(s, kernel, diag);
    if (status == MC_OK) status = mc_reference_sddmm(mask, &s->a, &base->b, s->layout, &sums, diag);
    if (status != MC_OK) return status;
    status = factors_make(&base->options->problem, kernel, mask->rows, mask->cols, &base->factors, diag);
    if (status == MC_OK)
        status = mc_reference_sampled(&base->factors.output, mask, s->order, base->factors.scale, &sums,
                                      &base->want, diag);
    mc_dense_free(&sums);
    return status;
}

static mc_status run(session *base, const mc_kernel *kernel, mc_timing *timing, mc_diag *diag) {
    const mc_sddmm sddmm = {
        .mask = &base->problem.a, .a = &own(base)->a, .b = &base->b, .scale = base->factors.scale};
    return mc_sddmm_run(base->device, kernel, base->ptx, &sddmm, timing, &base->c, diag);
}

static mc_status write_c(const session *base, mc_diag *diag) {
    const sddmm_options *o = options_of(base);
    const char *out = o->session.out_file;
    if (o->format <= SAMPLED_NPY) return mc_npy_write(out, &base->c, diag);
    return sampled_write(o->format, &base->problem.a, own(base)->order, &base->c, out, o->force, diag);
}

static const session_operator sddmm_operator = {"sddmm", prepare, shape_of, NULL, expect, run, write_c};

/* -- The command */

static int check_options(const sddmm_options *o) {
    bool directory = o->format > SAMPLED_NPY;
    if (o->format != 0 && o->session.out_file == NULL) return cmd_usage("sddmm: --format goes with --out");
    if (o->force && !directory) return cmd_usage("sddmm: --force goes with --format bcrs or srbcrs");
    return session_check_options(&o->session, &sddmm_operator, 1);
}

static int sddmm_run_command(int argc, char **argv) {
    sddmm_options options = {.session = {.problem.seed = 1, .device = "auto"}};
    char **operands;
    int exit_status;
    if (!cmd_parse(&cmd_sddmm, argc, argv, &options, &operands, &exit_status)) return exit_status;
    exit_status = check_options(&options);
    if (exit_status != CMD_DONE) return exit_status;
    mc_diag *diag = mc_diag_create();
    sddmm_session s = {.base = {.op = &sddmm_operator, .options = &options.session}};
    mc_status status = session_run(&s.base, operands, 1, operands[1], diag);
    mc_dense_free(&s.given);
    mc_dense_free(&s.a);
    return cmd_finish(status, diag);
}

const cmd cmd_sddmm = {"sddmm",
                       "SPEC MASK",
                       "runs a kernel that multiplies where a mask says, and verifies it",
                       2,
                       {{sddmm_table, sizeof sddmm_table / sizeof sddmm_table[0]},
                        {session_option_table, SESSION_OPTION_COUNT},
                        {problem_spec_table, PROBLEM_SPEC_OPTIONS},
                        {problem_pattern_table, PROBLEM_PATTERN_OPTIONS}},
                       sddmm_run_command};
