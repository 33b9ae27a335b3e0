/* mcrun pack: a directory with all that launching a kernel needs, its PTX, its contract, its packed arrays;
   or with the matrix in a published format. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "directory.h"
#include "factors.h"
#include "published.h"
#include "text/file.h"

/* Places in their options' lists of words; 0: not given. */
enum { FORMAT_KERNEL = 1, FORMAT_BCRS, FORMAT_SRBCRS, FORMAT_HRPB };
enum { K_16 = 1, K_32 };
enum { PIECES_4 = 1, PIECES_8 };
enum { SHUFFLE_ON = 1, SHUFFLE_OFF };
enum { TILE_ROWS_16 = 1, TILE_ROWS_32 };
enum { PAPER_TILE_COLS = 16 }; /* TK of cuTeSpMM */

typedef struct pack_options {
    problem_options problem;
    const char *directory;
    const char *b_scale, *c_scale, *zero, *beta;
    int format, k, piece_bits, shuffle, tile_rows;
    int64_t n, tile_cols;
    bool force;
} pack_options;

static const cmd_option pack_table[] = {
    {"out", 'o', OPTION_TEXT, offsetof(pack_options, directory), "DIR", 0, 0, "directory to make"},
    {"format", 0, OPTION_CHOICE, offsetof(pack_options, format), "kernel|bcrs|srbcrs|hrpb", 0, 0,
     "kernel (the usual): NAME.bin, contract.json, kernel.ptx; others: NAME.npy, format.json"},
    {"k", 0, OPTION_CHOICE, offsetof(pack_options, k), "16|32", 0, 0,
     "srbcrs: slots a stride (32 where a side of the spec has 4 bits, else 16)"},
    {"digit-bits", 0, OPTION_CHOICE, offsetof(pack_options, piece_bits), "4|8", 0, 0,
     "srbcrs: width of the digits that values are cut into (4 where k is 32, else 8)"},
    {"shuffle", 0, OPTION_CHOICE, offsetof(pack_options, shuffle), "on|off", 0, 0,
     "srbcrs: indices shuffled for a 4-bit B (on where k is 32)"},
    {"tile-rows", 0, OPTION_CHOICE, offsetof(pack_options, tile_rows), "16|32", 0, 0,
     "hrpb: rows of a panel (16)"},
    {"tile-cols", 0, OPTION_INTEGER, offsetof(pack_options, tile_cols), "TK", 4, 64,
     "hrpb: active columns of a block, a multiple of 4 (16)"},
    {"n", 'n', OPTION_INTEGER, offsetof(pack_options, n), "N", 1, INT32_MAX,
     "columns of C, where a scale or bias of an SpMM goes by columns (the spec's)"},
    {"b-scale", 0, OPTION_TEXT, offsetof(pack_options, b_scale), "FILE.npy", 0, 0,
     "scales of B's columns, f32 (random)"},
    {"c-scale", 0, OPTION_TEXT, offsetof(pack_options, c_scale), "FILE.npy", 0, 0,
     "the scale of C's elements, f32 (random)"},
    {"zero", 0, OPTION_TEXT, offsetof(pack_options, zero), "FILE.npy", 0, 0, "C's zero point, f32 (random)"},
    {"beta", 0, OPTION_TEXT, offsetof(pack_options, beta), "FILE.npy", 0, 0,
     "the residual's factor, f32 (random)"},
    {"force", 0, OPTION_SWITCH, offsetof(pack_options, force), NULL, 0, 0,
     "replace these files in a DIR that is not empty"},
};

/* The factors' files, by the names of operands. */
typedef struct factor_file {
    const char *name, *file;
} factor_file;
enum { FACTOR_FILES = 6 };

static void list_factor_files(const pack_options *o, factor_file list[FACTOR_FILES]) {
    const factor_file all[FACTOR_FILES] = {{"scale", o->problem.scale_file},
                                           {"bias", o->problem.bias_file},
                                           {"b_scale", o->b_scale},
                                           {"c_scale", o->c_scale},
                                           {"zero", o->zero},
                                           {"beta", o->beta}};
    memcpy(list, all, sizeof all);
}

static int check_options(const pack_options *options, const char *spec, const char *matrix) {
    const problem_options *shared = &options->problem;
    bool published = options->format != FORMAT_KERNEL;
    if (options->directory == NULL || *options->directory == '\0') return cmd_usage("pack: --out is missing");
    if (cmd_is_spec(matrix) && !cmd_is_spec(spec))
        return cmd_usage("pack: %s is a spec, and %s none: the spec comes first, then MATRIX", matrix, spec);
    if (cmd_reads(matrix, options->directory) || cmd_is_in(matrix, options->directory))
        return cmd_usage("pack: --out %s would overwrite the matrix, which is read", options->directory);
    factor_file factors_of[FACTOR_FILES];
    const char *files[3 + FACTOR_FILES] = {spec, shared->a_file, shared->mask_file};
    bool has_factors = false;
    list_factor_files(options, factors_of);
    for (size_t i = 0; i < FACTOR_FILES; i++) {
        files[3 + i] = factors_of[i].file;
        has_factors |= factors_of[i].file != NULL;
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i] != NULL && cmd_is_in(files[i], options->directory))
            return cmd_usage("pack: --out %s has %s, which is read", options->directory, files[i]);
    if (options->format != FORMAT_SRBCRS && (options->k || options->piece_bits || options->shuffle))
        return cmd_usage("pack: --k, --digit-bits and --shuffle go with --format srbcrs");
    if (options->format != FORMAT_HRPB && (options->tile_rows || options->tile_cols))
        return cmd_usage("pack: --tile-rows and --tile-cols go with --format hrpb");
    if (options->tile_cols % 4 != 0)
        return cmd_usage("pack: --tile-cols %lld is no multiple of 4", (long long)options->tile_cols);
    if (published && (options->n > 0 || has_factors))
        return cmd_usage("pack: --n, --scale and --bias go with --format kernel");
    return CMD_DONE;
}

/* -- As the kernel reads it */

static void list_files(const mc_kernel *kernel, const mc_packed *packed, const factors *f,
                       const char *contract, out_files *files) {
    *files = (out_files){0};
    for (size_t i = 0; i < packed->array_count; i++) {
        const mc_packed_array *array = &packed->arrays[i];
        out_add(files, array->name, ".bin", array->data, (size_t)mc_type_size(array->type, array->count));
    }
    for (size_t i = 0; i < MAX_OPERANDS; i++)
        if (f->values[i] != NULL)
            out_add(files, f->op->operands[i].name, ".bin", f->values[i],
                    (size_t)f->counts[i] * sizeof *f->values[i]);
    out_add(files, "kernel", ".ptx", mc_kernel_ptx(kernel), strlen(mc_kernel_ptx(kernel)));
    out_add(files, "contract", ".json", contract, strlen(contract)); /* the last: it stands for all */
}

static void print_summary(const mc_packed *packed, const factors *f) {
    for (size_t i = 0; i < packed->array_count; i++)
        printf("%s.bin  %s[%lld]\n", packed->arrays[i].name, mc_type_text(packed->arrays[i].type),
               (long long)packed->arrays[i].count);
    for (size_t i = 0; i < MAX_OPERANDS; i++)
        if (f->values[i] != NULL)
            printf("%s.bin  f32[%lld]\n", f->op->operands[i].name, (long long)f->counts[i]);
    printf("kernel.ptx\ncontract.json\n");
}

/* Columns of C; -1: not known. */
static mc_status columns_of(const problem *p, const mc_kernel *kernel, int64_t given, int64_t *n,
                            mc_diag *diag) {
    int64_t fixed = mc_kernel_field(kernel, "n");
    *n = given > 0 ? given : fixed > 0 ? fixed : -1;
    if (problem_is_mask(kernel)) *n = p->a.cols;
    if (given > 0 && given != *n)
        return mc_fail(diag, MC_USAGE, "--n is %lld, but the mask has %lld columns", (long long)given,
                       (long long)*n);
    if (given > 0 && fixed > 0 && given != fixed)
        return mc_fail(diag, MC_USAGE, "--n is %lld, but the kernel's n is fixed at %lld", (long long)given,
                       (long long)fixed);
    return MC_OK;
}

/* The file that OPTIONS have of the factors NAME; NULL: none. */
static const char *file_of(const pack_options *options, const char *name) {
    factor_file list[FACTOR_FILES];
    list_factor_files(options, list);
    for (size_t i = 0; i < FACTOR_FILES; i++)
        if (strcmp(list[i].name, name) == 0) return list[i].file;
    return NULL;
}

static mc_status pack_factors(const problem *p, const mc_kernel *kernel, const pack_options *options,
                              factors *f, mc_diag *diag) {
    const char *files[MAX_OPERANDS] = {NULL};
    const mc_operator *op = operator_named(mc_kernel_field_text(kernel, "op"));
    int64_t n;
    for (size_t i = 0; op != NULL && i < op->operand_count; i++)
        files[i] = file_of(options, op->operands[i].name);
    mc_status status = columns_of(p, kernel, options->n, &n, diag);
    return status == MC_OK ? factors_make(p, kernel, files, p->a.rows, n, f, diag) : status;
}

static mc_status pack_kernel(const problem *p, const mc_kernel *kernel, const pack_options *options,
                             mc_diag *diag) {
    mc_packed packed = {0};
    factors f = {0};
    out_files files;
    char *contract = NULL;
    mc_status status = mc_pack(kernel, &p->a, &packed, diag);
    if (status == MC_OK) status = pack_factors(p, kernel, options, &f, diag);
    if (status == MC_OK && (contract = mc_kernel_describe(kernel, true)) == NULL)
        status = mc_fail(diag, MC_NOMEM, "out of memory");
    if (status == MC_OK) {
        list_files(kernel, &packed, &f, contract, &files);
        status = out_write(options->directory, options->force, &files, diag);
    }
    if (status == MC_OK) print_summary(&packed, &f);
    free(contract);
    factors_free(&f);
    mc_packed_free(&packed);
    return status;
}

/* -- As published */

/* What the paper's kernels want for the spec's pair of types, and what was asked for instead. */
static mc_status published_form_of(const mc_kernel *kernel, const pack_options *options, published_form *form,
                                   mc_diag *diag) {
    mc_type lhs = MC_S8, rhs = MC_S8;
    mc_status status = mc_type_of(kernel, "lhs", &lhs, diag);
    if (status == MC_OK) status = mc_type_of(kernel, "rhs", &rhs, diag);
    bool narrow = mc_type_bits(lhs) == 4 || mc_type_bits(rhs) == 4;
    int k = options->k ? options->k : narrow ? K_32 : K_16;
    int pieces = options->piece_bits ? options->piece_bits : k == K_32 ? PIECES_4 : PIECES_8;
    int shuffle = options->shuffle ? options->shuffle : k == K_32 ? SHUFFLE_ON : SHUFFLE_OFF;
    static const published_name names[] = {
        [FORMAT_BCRS] = PUBLISHED_BCRS, [FORMAT_SRBCRS] = PUBLISHED_SRBCRS, [FORMAT_HRPB] = PUBLISHED_HRPB};
    *form = (published_form){
        .name = names[options->format],
        .srbcrs = {.k = k == K_32 ? 32 : 16,
                   .piece_bits = pieces == PIECES_4 ? 4 : 8,
                   .shuffle = shuffle == SHUFFLE_ON},
        .hrpb = {.tile_rows = options->tile_rows == TILE_ROWS_32 ? 32 : 16,
                 .tile_cols = options->tile_cols ? (int)options->tile_cols : PAPER_TILE_COLS}};
    return status;
}

static mc_status pack_published(const problem *p, const mc_kernel *kernel, const pack_options *options,
                                mc_diag *diag) {
    published_form form;
    if (problem_is_mask(kernel) && options->format != FORMAT_HRPB)
        return mc_fail(diag, MC_CANNOT,
                       "--format: published formats hold integers, and the values of a mask are f32");
    mc_status status = published_form_of(kernel, options, &form, diag);
    return status == MC_OK
               ? published_write(&form, &p->a, NULL, 0, options->directory, options->force, true, diag)
               : status;
}

/* -- The command */

static mc_status pack_problem(problem *p, const mc_kernel *kernel, const pack_options *options,
                              mc_diag *diag) {
    bool changed;
    mc_status status = problem_fit(p, kernel, &changed, diag);
    if (status != MC_OK) return status;
    return options->format == FORMAT_KERNEL ? pack_kernel(p, kernel, options, diag)
                                            : pack_published(p, kernel, options, diag);
}

static int pack_run(int argc, char **argv) {
    pack_options options = {.problem.seed = 1, .format = FORMAT_KERNEL};
    char **operands;
    int exit_status;
    if (!cmd_parse(&cmd_pack, argc, argv, &options, &operands, &exit_status)) return exit_status;
    exit_status = check_options(&options, operands[0], operands[1]);
    if (exit_status != CMD_DONE) return exit_status;
    mc_diag *diag = mc_diag_create();
    problem p;
    size_t variant;
    mc_kernel *kernel = NULL;
    mc_status status = problem_open(&p, operands[0], operands[1], &options.problem, 0, diag);
    if (status == MC_OK) status = problem_variant(&p, &variant, diag);
    if (status == MC_OK) status = mc_kernel_generate(p.spec, variant, &kernel, diag);
    if (status == MC_OK) status = pack_problem(&p, kernel, &options, diag);
    mc_kernel_destroy(kernel);
    problem_close(&p);
    return cmd_finish(status, diag);
}

const cmd cmd_pack = {"pack",
                      "SPEC MATRIX",
                      "writes A or a mask into a directory, as the kernel reads it or as published; the "
                      "latter may be a MATRIX again",
                      2,
                      {{pack_table, sizeof pack_table / sizeof pack_table[0]},
                       {problem_spec_table, PROBLEM_SPEC_OPTIONS},
                       {problem_value_table, PROBLEM_VALUE_OPTIONS},
                       {problem_pattern_table, PROBLEM_PATTERN_OPTIONS}},
                      pack_run};
