/* mcrun prune: a dense weight becomes a MATRIX of V x 1 vectors, quantised, with its scales. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include "matrix/prune.h"
#include "options.h"
#include "published.h"
#include "shown.h"
#include "text/file.h"

enum {
    CRITERION_MAGNITUDE = 1,
    CRITERION_L2,
    TYPE_S4 = 1,
    TYPE_S8,
    TYPE_S12,
    TYPE_S16,
    PER_TENSOR = 1,
    PER_ROW
};
enum { RANDOM_TOKENS = 16 };

typedef struct prune_options {
    int64_t vec, seed;
    double sparsity;
    int criterion, type, per;
    const char *mask, *activations, *directory;
    bool force, json;
} prune_options;

static const cmd_option table[] = {
    {"vec", 0, OPTION_INTEGER, offsetof(prune_options, vec), "V", 1, 64, "rows of a nonzero vector (8)"},
    {"sparsity", 0, OPTION_REAL, offsetof(prune_options, sparsity), "S", 0, 1,
     "part of the vectors that is dropped, 0 to 1"},
    {"criterion", 0, OPTION_CHOICE, offsetof(prune_options, criterion), "magnitude|l2", 0, 0,
     "what a vector is worth: the sum of its magnitudes, or of its squares (magnitude)"},
    {"mask", 0, OPTION_TEXT, offsetof(prune_options, mask), "MATRIX", 0, 0,
     "instead of --sparsity: vectors with a nonzero in this matrix (.smtx, .mtx, dense) are kept"},
    {"quantise", 0, OPTION_CHOICE, offsetof(prune_options, type), "s4|s8|s12|s16", 0, 0,
     "type of the integers (s8)"},
    {"per", 0, OPTION_CHOICE, offsetof(prune_options, per), "tensor|row", 0, 0,
     "one scale for all, or one for each row (row)"},
    {"activations", 0, OPTION_TEXT, offsetof(prune_options, activations), "X.npy", 0, 0,
     "tokens x features, to tell the error of a product by (16 random tokens)"},
    {"out", 'o', OPTION_TEXT, offsetof(prune_options, directory), "DIR", 0, 0,
     "directory to make: a MATRIX (BCRS), and scale.npy"},
    {"force", 0, OPTION_SWITCH, offsetof(prune_options, force), NULL, 0, 0,
     "replace these files in a DIR that is not empty"},
    {"seed", 0, OPTION_INTEGER, offsetof(prune_options, seed), "S", 0, INT64_MAX,
     "seed of random tokens (1)"},
    {"json", 0, OPTION_SWITCH, offsetof(prune_options, json), NULL, 0, 0, "print JSON"},
};

/* What there is to tell. */
typedef struct pruning {
    const prune_options *options;
    mc_dense weight, x;
    mc_csr mask;
    mc_pruned pruned;
    double error, unquantised;
} pruning;

static int check_options(const prune_options *o, const char *weight) {
    if (o->directory == NULL || *o->directory == '\0') return cmd_usage("prune: --out is missing");
    if (isnan(o->sparsity) == (o->mask == NULL)) return cmd_usage("prune: wants either --sparsity or --mask");
    if (o->mask != NULL && o->criterion != 0) return cmd_usage("prune: --criterion goes with --sparsity");
    const char *const read[] = {weight, o->mask, o->activations};
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        if (read[i] != NULL && (cmd_reads(read[i], o->directory) || cmd_is_in(read[i], o->directory)))
            return cmd_usage("prune: --out %s would overwrite %s, which is read", o->directory, read[i]);
    return CMD_DONE;
}

/* -- What is read */

static mc_status read_tokens(pruning *p, mc_diag *diag) {
    if (p->options->activations != NULL) return mc_dense_read(p->options->activations, &p->x, diag);
    mc_status status = mc_dense_create(MC_F32, RANDOM_TOKENS, p->weight.cols, p->weight.cols, &p->x, diag);
    if (status == MC_OK) mc_dense_fill(&p->x, MC_VALUES_FULL, (uint64_t)p->options->seed);
    return status;
}

static mc_status prune(pruning *p, const char *weight, mc_diag *diag) {
    static const mc_type types[] = {MC_S8, MC_S4, MC_S8, MC_S12, MC_S16};
    const prune_options *o = p->options;
    const mc_prune_config config = {.vec = (int)o->vec,
                                    .sparsity = o->mask != NULL ? 0 : o->sparsity,
                                    .by = o->criterion == CRITERION_L2 ? MC_PRUNE_L2 : MC_PRUNE_MAGNITUDE,
                                    .mask = o->mask != NULL ? &p->mask : NULL,
                                    .type = types[o->type],
                                    .scale_rows = o->per != PER_TENSOR};
    mc_status status = mc_dense_read(weight, &p->weight, diag);
    if (status == MC_OK && o->mask != NULL) status = mc_csr_read(o->mask, &p->mask, diag);
    if (status == MC_OK) status = read_tokens(p, diag);
    if (status == MC_OK) status = mc_prune(&p->weight, &config, &p->pruned, diag);
    return status == MC_OK ? mc_prune_error(&p->weight, &p->pruned, &p->x, &p->error, &p->unquantised, diag)
                           : status;
}

/* -- What is told */

static double sparsity_of(const pruning *p) {
    double vectors = (double)p->pruned.a.row_blocks * (double)p->pruned.a.cols;
    return vectors > 0 ? 1 - (double)p->pruned.a.vectors / vectors : 0;
}

static void print(const pruning *p) {
    const mc_vsparse *a = &p->pruned.a;
    printf("shape      %" PRId64 " x %" PRId64, p->weight.rows, p->weight.cols);
    if (a->rows > p->weight.rows) printf(", and %" PRId64 " empty rows", a->rows - p->weight.rows);
    printf("\nkept       %" PRId64 " of %" PRId64 " vectors of %d x 1, sparsity %.4f\n", a->vectors,
           a->row_blocks * a->cols, a->vec, sparsity_of(p));
    printf("energy     %.4f of the sum of squares\n", p->pruned.energy);
    printf("quantised  %s, %s\n", mc_type_text(a->type),
           p->pruned.scales.cols > 1 ? "a scale for each row" : "one scale");
    printf("error      %.4f of a product with %" PRId64 " %s, %.4f by pruning alone\n", p->error, p->x.rows,
           p->options->activations != NULL ? "tokens" : "random tokens", p->unquantised);
    printf("written    %s: a MATRIX, and scale.npy for --scale\n", shown(p->options->directory).text);
}

static mc_status print_json(const pruning *p, mc_diag *diag) {
    const mc_vsparse *a = &p->pruned.a;
    json_t *json = json_pack(
        "{s:I, s:I, s:I, s:i, s:I, s:f, s:f, s:s, s:I, s:f, s:f, s:o}", "rows", (json_int_t)p->weight.rows,
        "cols", (json_int_t)p->weight.cols, "padded_rows", (json_int_t)a->rows, "vec", a->vec, "vectors",
        (json_int_t)a->vectors, "sparsity", sparsity_of(p), "energy", p->pruned.energy, "type",
        mc_type_text(a->type), "scales", (json_int_t)p->pruned.scales.cols, "error", p->error,
        "error_unquantised", p->unquantised, "out", shown_json(p->options->directory));
    return cmd_print_json(json, diag);
}

static int run(int argc, char **argv) {
    prune_options options = {.vec = 8, .seed = 1, .sparsity = NAN};
    char **operands;
    int exit_status;
    if (!cmd_parse(&cmd_prune, argc, argv, &options, &operands, &exit_status)) return exit_status;
    exit_status = check_options(&options, operands[0]);
    if (exit_status != CMD_DONE) return exit_status;
    mc_diag *diag = mc_diag_create();
    pruning p = {.options = &options};
    const published_form form = {.name = PUBLISHED_BCRS};
    mc_status status = prune(&p, operands[0], diag);
    if (status == MC_OK)
        status = published_write(&form, &p.pruned.a, &p.pruned.scales, options.directory, options.force,
                                 false, diag);
    if (status == MC_OK && options.json) status = print_json(&p, diag);
    else if (status == MC_OK) print(&p);
    mc_pruned_free(&p.pruned);
    mc_csr_free(&p.mask);
    mc_dense_free(&p.weight);
    mc_dense_free(&p.x);
    return cmd_finish(status, diag);
}

const cmd cmd_prune = {"prune",
                       "W.npy",
                       "prunes a dense weight to nonzero vectors, quantises it, and tells what that costs",
                       1,
                       {{table, sizeof table / sizeof table[0]}},
                       run};
