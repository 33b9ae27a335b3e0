/* mcrun matrix-gen */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "matrix/unstructured.h"
#include "options.h"

/* -1, NAN, NULL and 0, in that order of types: not given. */
typedef struct gen_options {
    int64_t rows, cols, m, vec, seed, band, dof;
    double sparsity, cv, fill, degree, exponent;
    int law, stencil;
    const char *grid, *block, *output;
    int64_t size[3]; /* of the grid, or of blocks */
} gen_options;

enum gen_option {
    OPT_ROWS,
    OPT_M,
    OPT_VEC,
    OPT_COLS,
    OPT_SPARSITY,
    OPT_LAW,
    OPT_CV,
    OPT_BAND,
    OPT_FILL,
    OPT_DEGREE,
    OPT_EXPONENT,
    OPT_GRID,
    OPT_DOF,
    OPT_STENCIL,
    OPT_BLOCK,
    OPT_SEED,
    OPT_OUTPUT,
    OPT_COUNT
};

static const cmd_option gen_table[OPT_COUNT] = {
    [OPT_ROWS] = {"rows", 0, OPTION_INTEGER, offsetof(gen_options, rows), "R", 0, INT32_MAX,
                  "rows of the pattern: row blocks, where it is dilated"},
    [OPT_M] = {"m", 0, OPTION_INTEGER, offsetof(gen_options, m), "M", 0, INT32_MAX,
               "with --vec V: R = M / V"},
    [OPT_VEC] = {"vec", 0, OPTION_INTEGER, offsetof(gen_options, vec), "V", 1, 64,
                 "rows of a nonzero vector"},
    [OPT_COLS] = {"cols", 0, OPTION_INTEGER, offsetof(gen_options, cols), "C", 0, INT32_MAX, "columns"},
    [OPT_SPARSITY] = {"sparsity", 0, OPTION_REAL, offsetof(gen_options, sparsity), "S", 0, 1,
                      "0 (full) to 1 (empty)"},
    [OPT_LAW] =
        {"law", 0, OPTION_CHOICE, offsetof(gen_options, law),
         "uniform|realistic|band|2:4|1:2|4:8|4:6|6:8|8:10|14:16|power|bipartite|mesh|blocks|heavy", 0, 0,
         "how row lengths vary (uniform); band: the columns around the diagonal, others at random, or "
         "with --fill a part of the band alone; 2:4, 1:2: two of each four neighbours of a row, or one "
         "of two, 4:8: two of each four pairs; 4:6 and so on: so many of so many; power: few rows and "
         "columns have many nonzeros, as in a graph; bipartite: few columns do; mesh: finite elements on "
         "a grid; blocks: dense ones, drawn; heavy: one row has half of all nonzeros"},
    [OPT_CV] = {"cv", 0, OPTION_REAL, offsetof(gen_options, cv), "X", 0, 4,
                "realistic: coefficient of variation of row lengths (0.3)"},
    [OPT_BAND] = {"band", 0, OPTION_INTEGER, offsetof(gen_options, band), "W", 0, INT32_MAX,
                  "band: columns around the diagonal that are all there (256)"},
    [OPT_FILL] = {"fill", 0, OPTION_REAL, offsetof(gen_options, fill), "F", 0, 1,
                  "band: this part of it is there, and nothing else, instead of --sparsity"},
    [OPT_DEGREE] = {"degree", 0, OPTION_REAL, offsetof(gen_options, degree), "D", 0, INT32_MAX,
                    "power, bipartite, heavy: nonzeros of a row, on average"},
    [OPT_EXPONENT] = {"exponent", 0, OPTION_REAL, offsetof(gen_options, exponent), "G", 1, 100,
                      "power, bipartite: as many have d nonzeros as d^-G says, 1.5 or more (2.5)"},
    [OPT_GRID] = {"grid", 0, OPTION_TEXT, offsetof(gen_options, grid), "XxY[xZ]", 0, 0,
                  "mesh: nodes along each axis"},
    [OPT_DOF] = {"dof", 0, OPTION_INTEGER, offsetof(gen_options, dof), "U", 1, INT32_MAX,
                 "mesh: unknowns of a node, which are rows and columns (1)"},
    [OPT_STENCIL] =
        {"stencil", 0, OPTION_CHOICE, offsetof(gen_options, stencil), "box|star", 0, 0,
         "mesh: neighbours all around a node, 9 or 27 with itself, or along the axes, 5 or 7 (box)"},
    [OPT_BLOCK] = {"block", 0, OPTION_TEXT, offsetof(gen_options, block), "HxW", 0, 0,
                   "blocks: rows and columns of one (16x16)"},
    [OPT_SEED] = {"seed", 0, OPTION_INTEGER, offsetof(gen_options, seed), "S", 0, INT64_MAX, "seed (1)"},
    [OPT_OUTPUT] = {"output", 'o', OPTION_TEXT, offsetof(gen_options, output), "FILE", 0, 0,
                    "where to, a .mtx or else a .smtx (standard output)"},
};

/* -- Laws */

typedef struct law law;
typedef mc_status law_maker(const law *law, const gen_options *options, mc_csr *csr, mc_diag *diag);

#define WITH(option) (1U << OPT_##option)
/* What settles rows and columns, of all laws but a mesh */
#define SHAPED (WITH(ROWS) | WITH(M) | WITH(VEC) | WITH(COLS))
static const unsigned of_every_law = WITH(LAW) | WITH(SEED) | WITH(OUTPUT);

struct law {
    const char *name;
    law_maker *make;
    unsigned wants, takes; /* options that it cannot do without; those that it may have besides */
    unsigned one_of;       /* exactly one of these has to be there, too */
    int kept, of, unit;    /* grouped: so many of so many units are there */
    mc_row_law row_law;    /* power */
};

static uint64_t seed_of(const gen_options *options) { return (uint64_t)options->seed; }
static double real_or(double value, double usual) { return isnan(value) ? usual : value; }
static int64_t integer_or(int64_t value, int64_t usual) { return value < 0 ? usual : value; }

static mc_status make_pattern(const gen_options *o, mc_pattern_law how, mc_csr *csr, mc_diag *diag) {
    return mc_csr_generate(&(mc_pattern){o->rows, o->cols, o->sparsity, how, real_or(o->cv, 0.3), seed_of(o)},
                           csr, diag);
}

static mc_status make_uniform(const law *l, const gen_options *o, mc_csr *csr, mc_diag *diag) {
    (void)l;
    return make_pattern(o, MC_PATTERN_UNIFORM, csr, diag);
}

static mc_status make_realistic(const law *l, const gen_options *o, mc_csr *csr, mc_diag *diag) {
    (void)l;
    return make_pattern(o, MC_PATTERN_REALISTIC, csr, diag);
}

static mc_status make_band(const law *l, const gen_options *o, mc_csr *csr, mc_diag *diag) {
    (void)l;
    /* With a fill of 0 nothing is there, as in no band. */
    const int64_t band = o->fill == 0 ? 0 : integer_or(o->band, 256);
    return mc_csr_generate_banded(
        &(mc_banded){o->rows, o->cols, real_or(o->sparsity, 1), band, seed_of(o), real_or(o->fill, 0)}, csr,
        diag);
}

static mc_status make_grouped(const law *l, const gen_options *o, mc_csr *csr, mc_diag *diag) {
    return mc_csr_generate_grouped(&(mc_grouped){o->rows, o->cols, l->kept, l->of, seed_of(o), l->unit}, csr,
                                   diag);
}

static mc_status make_power(const law *l, const gen_options *o, mc_csr *csr, mc_diag *diag) {
    return mc_csr_generate_power(
        &(mc_power_law){o->rows, o->cols, o->degree, real_or(o->exponent, 2.5), l->row_law, seed_of(o)}, csr,
        diag);
}

static mc_status make_mesh(const law *l, const gen_options *o, mc_csr *csr, mc_diag *diag) {
    (void)l;
    return mc_csr_generate_mesh(&(mc_mesh){.nodes = {o->size[0], o->size[1], o->size[2]},
                                           .dof = integer_or(o->dof, 1),
                                           .stencil = o->stencil == 2 ? MC_STENCIL_STAR : MC_STENCIL_BOX},
                                csr, diag);
}

static mc_status make_blocks(const law *l, const gen_options *o, mc_csr *csr, mc_diag *diag) {
    (void)l;
    return mc_csr_generate_blocks(
        &(mc_dense_blocks){o->rows, o->cols, o->size[0], o->size[1], o->sparsity, seed_of(o)}, csr, diag);
}

static mc_status make_heavy(const law *l, const gen_options *o, mc_csr *csr, mc_diag *diag) {
    (void)l;
    return mc_csr_generate_heavy(&(mc_heavy_row){o->rows, o->cols, o->degree, seed_of(o)}, csr, diag);
}

/* clang-format off */
#define GROUPED(name, kept, of, unit) {name, make_grouped, 0, SHAPED, 0, kept, of, unit, 0}
#define LAW(name, make, wants, takes) {name, make, wants, SHAPED | (takes), 0, 0, 0, 0, 0}
/* In the order of --law's words. */
static const law laws[] = {
    LAW("uniform", make_uniform, WITH(SPARSITY), 0),
    LAW("realistic", make_realistic, WITH(SPARSITY), WITH(CV)),
    {"band", make_band, 0, SHAPED | WITH(BAND), WITH(SPARSITY) | WITH(FILL), 0, 0, 0, 0},
    GROUPED("2:4", 2, 4, 1), GROUPED("1:2", 1, 2, 1), GROUPED("4:8", 2, 4, 2), GROUPED("4:6", 4, 6, 1),
    GROUPED("6:8", 6, 8, 1), GROUPED("8:10", 8, 10, 1), GROUPED("14:16", 14, 16, 1),
    {"power", make_power, WITH(DEGREE), SHAPED | WITH(EXPONENT), 0, 0, 0, 0, MC_ROWS_POWER},
    {"bipartite", make_power, WITH(DEGREE), SHAPED | WITH(EXPONENT), 0, 0, 0, 0, MC_ROWS_LEVEL},
    {"mesh", make_mesh, WITH(GRID), WITH(DOF) | WITH(STENCIL), 0, 0, 0, 0, 0},
    LAW("blocks", make_blocks, WITH(SPARSITY), WITH(BLOCK)),
    LAW("heavy", make_heavy, WITH(DEGREE), 0),
};
/* clang-format on */
enum { LAWS = sizeof laws / sizeof laws[0] };

/* -- What was given */

static bool is_given(const gen_options *options, const cmd_option *option) {
    const char *member = (const char *)options + option->offset;
    switch (option->kind) {
    case OPTION_INTEGER: return *(const int64_t *)(const void *)member >= 0;
    case OPTION_REAL: return !isnan(*(const double *)(const void *)member);
    case OPTION_CHOICE: return *(const int *)(const void *)member != 0;
    default: return *(const char *const *)(const void *)member != NULL;
    }
}

static unsigned all_given(const gen_options *options) {
    unsigned given = 0;
    for (int i = 0; i < OPT_COUNT; i++)
        if (is_given(options, &gen_table[i])) given |= 1U << i;
    return given;
}

static int first_of(unsigned options) { return __builtin_ctz(options); }

/* "--cv goes with --law realistic" */
static int refuse_option(int option) {
    char with[160] = "";
    size_t at = 0;
    for (int i = 0; i < LAWS; i++)
        if ((laws[i].wants | laws[i].takes | laws[i].one_of) & 1U << option)
            at += (size_t)snprintf(with + at, sizeof with - at, "%s%s", at > 0 ? ", " : "", laws[i].name);
    return cmd_usage("matrix-gen: --%s goes with --law %s", gen_table[option].name, with);
}

static int check_options(const law *l, unsigned given) {
    const unsigned other = given & ~(of_every_law | l->wants | l->takes | l->one_of),
                   missing = l->wants & ~given;
    if (other != 0) return refuse_option(first_of(other));
    if ((l->takes & WITH(COLS)) && !(given & WITH(COLS))) return cmd_usage("matrix-gen: --cols is missing");
    if (missing != 0) return cmd_usage("matrix-gen: --%s is missing", gen_table[first_of(missing)].name);
    if (l->one_of != 0 && __builtin_popcount(given & l->one_of) != 1)
        return cmd_usage("matrix-gen: --law %s wants either --sparsity or --fill", l->name);
    return CMD_DONE;
}

/* R from --rows or from --m and --vec, into options->rows; an exit status. */
static int settle_rows(gen_options *options) {
    bool by_m = options->m >= 0 || options->vec >= 0;
    if (by_m == (options->rows >= 0)) return cmd_usage("matrix-gen: wants either --rows, or --m and --vec");
    if (by_m && (options->m < 0 || options->vec < 0))
        return cmd_usage("matrix-gen: --m and --vec go together");
    if (by_m && options->m % options->vec != 0)
        return cmd_usage("matrix-gen: --m %" PRId64 " is not a multiple of --vec %" PRId64, options->m,
                         options->vec);
    if (by_m) options->rows = options->m / options->vec;
    return CMD_DONE;
}

/* LEAST to MOST sizes with an x between them; false: TEXT is something else. */
static bool read_sizes(const char *text, int least, int most, int64_t *size) {
    int count = 0;
    for (;; text++) {
        char *end;
        if (count == most || *text < '0' || *text > '9') return false;
        unsigned long long number = strtoull(text, &end, 10);
        if (number < 1 || number > INT32_MAX) return false;
        size[count++] = (int64_t)number;
        text = end;
        if (*text == '\0') return count >= least;
        if (*text != 'x') return false;
    }
}

static int settle_sizes(gen_options *options) {
    const char *block = options->block != NULL ? options->block : "16x16";
    options->size[2] = 1;
    if (options->grid == NULL)
        return read_sizes(block, 2, 2, options->size)
                   ? CMD_DONE
                   : cmd_usage("matrix-gen: --block %s: two sizes from 1 on, such as 16x16", block);
    return read_sizes(options->grid, 2, 3, options->size)
               ? CMD_DONE
               : cmd_usage("matrix-gen: --grid %s: two or three sizes from 1 on, such as 100x80x60",
                           options->grid);
}

static bool ends_with(const char *text, const char *ending) {
    size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && strcmp(text + length - tail, ending) == 0;
}

static int check_gen(gen_options *options, const law *l) {
    int status = check_options(l, all_given(options));
    if (status == CMD_DONE && options->output != NULL && ends_with(options->output, ".gz"))
        status = cmd_usage("matrix-gen: --output %s: it is written as text, and gzip compresses it",
                           options->output);
    if (status == CMD_DONE && (l->takes & WITH(ROWS))) status = settle_rows(options);
    return status == CMD_DONE ? settle_sizes(options) : status;
}

/* -- Output */

/* mc_csr_write_smtx replaces files; standard output may be one that is appended to. */
static void print_smtx(const mc_csr *csr) {
    printf("%" PRId64 ", %" PRId64 ", %" PRId64 "\n", csr->rows, csr->cols, csr->nnz);
    for (int64_t i = 0; i <= csr->rows; i++) printf("%s%" PRId64, i > 0 ? " " : "", csr->row_ptr[i]);
    printf("\n");
    for (int64_t i = 0; i < csr->nnz; i++) printf("%s%" PRId32, i > 0 ? " " : "", csr->col_idx[i]);
    printf("\n");
}

static mc_status write_output(const char *path, const mc_csr *csr, mc_diag *diag) {
    if (path != NULL)
        return (ends_with(path, ".mtx") ? mc_csr_write_mtx : mc_csr_write_smtx)(path, csr, diag);
    print_smtx(csr);
    return MC_OK;
}

static int gen_run(int argc, char **argv) {
    gen_options options = {.rows = -1,
                           .cols = -1,
                           .m = -1,
                           .vec = -1,
                           .band = -1,
                           .dof = -1,
                           .seed = 1,
                           .sparsity = NAN,
                           .cv = NAN,
                           .fill = NAN,
                           .degree = NAN,
                           .exponent = NAN};
    int exit_status;
    if (!cmd_parse(&cmd_matrix_gen, argc, argv, &options, NULL, &exit_status)) return exit_status;
    const law *l = &laws[options.law > 0 ? options.law - 1 : 0];
    exit_status = check_gen(&options, l);
    if (exit_status != CMD_DONE) return exit_status;
    mc_diag *diag = mc_diag_create();
    mc_csr csr;
    mc_status status = l->make(l, &options, &csr, diag);
    if (status == MC_OK) status = write_output(options.output, &csr, diag);
    mc_csr_free(&csr);
    return cmd_finish(status, diag);
}

const cmd cmd_matrix_gen = {"matrix-gen", "", "writes a random sparsity pattern", 0, {{gen_table, OPT_COUNT}},
                            gen_run};
