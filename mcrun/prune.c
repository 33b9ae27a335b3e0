/* mcrun prune: a dense weight becomes a MATRIX of V x 1 vectors, quantised, with its scales. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "matrix/calibrate.h"
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
    const char *scale_by; /* of activations; NULL: absmax */
    int activation_type;
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
     "samples, tokens x features: their scale is written, and the error of a product with them told (16 "
     "random tokens, and no scale)"},
    {"activation-scale", 0, OPTION_TEXT, offsetof(prune_options, scale_by),
     "absmax|percentile=P|least-squares", 0, 0,
     "how far the activations' type reaches: as far as the samples, or P % of them, or where their squared "
     "error is least; one scale for all tokens (absmax)"},
    {"activation-type", 0, OPTION_CHOICE, offsetof(prune_options, activation_type), "s8|u8|s4|u4", 0, 0,
     "type of the activations' integers; u8 and u4 with a zero point (s8)"},
    {"out", 'o', OPTION_TEXT, offsetof(prune_options, directory), "DIR", 0, 0,
     "directory to make: a MATRIX (BCRS), scale.npy, and what the activations gave"},
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
    mc_prune_errors errors;
    mc_calibrate_config calibrate;
    mc_calibration activations; /* of --activations, with their arrays */
    mc_dense scale, zero, bias;
} pruning;

static int check_options(const prune_options *o, const char *weight) {
    if (o->directory == NULL || *o->directory == '\0') return cmd_usage("prune: --out is missing");
    if (isnan(o->sparsity) == (o->mask == NULL)) return cmd_usage("prune: wants either --sparsity or --mask");
    if (o->mask != NULL && o->criterion != 0) return cmd_usage("prune: --criterion goes with --sparsity");
    if (o->activations == NULL && (o->scale_by != NULL || o->activation_type != 0))
        return cmd_usage("prune: --activation-scale and --activation-type go with --activations");
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
    return status == MC_OK ? mc_prune(&p->weight, &config, &p->pruned, diag) : status;
}

/* -- The activations' scale */

/* Into CONFIG, from "absmax", "least-squares" or "percentile=P". */
static int take_scale_by(const char *text, mc_calibrate_config *config) {
    static const char percentile[] = "percentile=";
    const size_t length = sizeof percentile - 1;
    if (text == NULL || strcmp(text, "absmax") == 0) return CMD_DONE;
    if (strcmp(text, "least-squares") == 0) {
        config->by = MC_CALIBRATE_LEAST_SQUARES;
        return CMD_DONE;
    }
    if (strncmp(text, percentile, length) != 0)
        return cmd_usage("--activation-scale: '%s' is not one of absmax|percentile=P|least-squares: a scale "
                         "that is written is one for all tokens",
                         text);
    char *end;
    const char *number = text + length;
    config->by = MC_CALIBRATE_PERCENTILE;
    config->percentile = strtod(number, &end);
    bool plain = *number != '\0' && strspn(number, "+.eE0123456789") == strlen(number) && *end == '\0';
    if (plain && config->percentile > 0 && config->percentile <= 100) return CMD_DONE;
    return cmd_usage("--activation-scale: '%s' is not a percentage above 0, at most 100", number);
}

static mc_status make_one(float value, mc_dense *array, mc_diag *diag) {
    mc_status status = mc_dense_create(MC_F32, 1, 1, 1, array, diag);
    if (status == MC_OK) *(float *)array->data = value;
    return status;
}

static bool has_zero(const pruning *p) { return mc_type_min(p->calibrate.type) == 0; }

static mc_status calibrate(pruning *p, mc_diag *diag) {
    mc_diag *why = mc_diag_create();
    mc_status status = mc_calibrate(&p->x, &p->calibrate, &p->activations, why);
    if (status != MC_OK && why != NULL)
        (void)mc_fail(diag, status, "%s: %s", p->options->activations, mc_diag_text(why));
    mc_diag_destroy(why);
    const quantiser *how = &p->activations.how;
    if (status == MC_OK) status = make_one(how->scale, &p->scale, diag);
    if (status == MC_OK && has_zero(p)) status = make_one(how->zero, &p->zero, diag);
    if (status == MC_OK && has_zero(p)) status = mc_prune_bias(&p->pruned, how, &p->bias, diag);
    return status;
}

static mc_status measure(pruning *p, mc_diag *diag) {
    bool given = p->options->activations != NULL;
    mc_status status = given ? calibrate(p, diag) : MC_OK;
    return status == MC_OK ? mc_prune_error(&p->weight, &p->pruned, &p->x, given ? &p->activations.how : NULL,
                                            &p->errors, diag)
                           : status;
}

static mc_status write_all(const pruning *p, mc_diag *diag) {
    const published_form form = {.name = PUBLISHED_BCRS};
    const published_beside beside[PUBLISHED_MOST_BESIDE] = {{"scale", &p->pruned.scales},
                                                            {"activation_scale", &p->scale},
                                                            {"activation_zero", &p->zero},
                                                            {"activation_bias", &p->bias}};
    size_t count = p->options->activations == NULL ? 1 : has_zero(p) ? PUBLISHED_MOST_BESIDE : 2;
    return published_write(&form, &p->pruned.a, beside, count, p->options->directory, p->options->force,
                           false, diag);
}

/* -- What is told */

static double sparsity_of(const pruning *p) {
    double vectors = (double)p->pruned.a.row_blocks * (double)p->pruned.a.cols;
    return vectors > 0 ? 1 - (double)p->pruned.a.vectors / vectors : 0;
}

static const char *const by_words[] = {[MC_CALIBRATE_ABSMAX] = "absmax",
                                       [MC_CALIBRATE_PERCENTILE] = "percentile",
                                       [MC_CALIBRATE_LEAST_SQUARES] = "least-squares"};

static void print_activations(const pruning *p) {
    const mc_calibration *c = &p->activations;
    printf("           %.4f with the tokens quantised, too\n", p->errors.activations);
    printf("tokens     %s, scale %.9g", mc_type_text(c->how.type), (double)c->how.scale);
    if (has_zero(p)) printf(", zero point %" PRId64, quantiser_zero(&c->how));
    printf(" (%s", by_words[p->calibrate.by]);
    if (p->calibrate.by == MC_CALIBRATE_PERCENTILE) printf(" %g", p->calibrate.percentile);
    printf("): %.3g of their values saturate, their squared error is %.3g of their energy\n", c->saturated,
           c->error);
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
    bool given = p->options->activations != NULL;
    printf("error      %.4f of a product with %" PRId64 " %s, %.4f by pruning alone\n", p->errors.quantised,
           p->x.rows, given ? "tokens" : "random tokens", p->errors.pruned);
    if (given) print_activations(p);
    printf("written    %s: a MATRIX, and scale.npy for --scale\n", shown(p->options->directory).text);
    if (given) printf("           activation_scale.npy, for quantise's --scale and for --b-scale\n");
    if (given && has_zero(p))
        printf("           activation_zero.npy, for quantise's --zero; activation_bias.npy, for --bias\n");
}

/* NULL without --activations. */
static json_t *activations_json(const pruning *p) {
    const mc_calibration *c = &p->activations;
    if (p->options->activations == NULL) return NULL;
    json_t *json = json_pack("{s:s, s:s, s:f, s:f, s:f, s:f}", "type", mc_type_text(c->how.type), "by",
                             by_words[p->calibrate.by], "scale", (double)c->how.scale, "saturated",
                             c->saturated, "squared_error", c->error, "error", p->errors.activations);
    if (p->calibrate.by == MC_CALIBRATE_PERCENTILE)
        json_object_set_new(json, "percentile", json_real(p->calibrate.percentile));
    if (has_zero(p)) json_object_set_new(json, "zero", json_integer((json_int_t)quantiser_zero(&c->how)));
    return json;
}

static mc_status print_json(const pruning *p, mc_diag *diag) {
    const mc_vsparse *a = &p->pruned.a;
    json_t *json = json_pack("{s:I, s:I, s:I, s:i, s:I, s:f, s:f, s:s, s:I, s:f, s:f, s:o*, s:o}", "rows",
                             (json_int_t)p->weight.rows, "cols", (json_int_t)p->weight.cols, "padded_rows",
                             (json_int_t)a->rows, "vec", a->vec, "vectors", (json_int_t)a->vectors,
                             "sparsity", sparsity_of(p), "energy", p->pruned.energy, "type",
                             mc_type_text(a->type), "scales", (json_int_t)p->pruned.scales.cols, "error",
                             p->errors.quantised, "error_unquantised", p->errors.pruned, "activations",
                             activations_json(p), "out", shown_json(p->options->directory));
    return cmd_print_json(json, diag);
}

/* -- The command */

static void close_all(pruning *p) {
    mc_dense *const all[] = {&p->weight, &p->x, &p->scale, &p->zero, &p->bias};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) mc_dense_free(all[i]);
    mc_pruned_free(&p->pruned);
    mc_csr_free(&p->mask);
}

static int run(int argc, char **argv) {
    prune_options options = {.vec = 8, .seed = 1, .sparsity = NAN};
    char **operands;
    int exit_status;
    if (!cmd_parse(&cmd_prune, argc, argv, &options, &operands, &exit_status)) return exit_status;
    static const mc_type types[] = {MC_S8, MC_S8, MC_U8, MC_S4, MC_U4};
    pruning p = {.options = &options, .calibrate.type = types[options.activation_type]};
    exit_status = check_options(&options, operands[0]);
    if (exit_status == CMD_DONE) exit_status = take_scale_by(options.scale_by, &p.calibrate);
    if (exit_status != CMD_DONE) return exit_status;
    mc_diag *diag = mc_diag_create();
    mc_status status = prune(&p, operands[0], diag);
    if (status == MC_OK) status = measure(&p, diag);
    if (status == MC_OK) status = write_all(&p, diag);
    if (status == MC_OK && options.json) status = print_json(&p, diag);
    else if (status == MC_OK) print(&p);
    close_all(&p);
    return cmd_finish(status, diag);
}

const cmd cmd_prune = {"prune",
                       "W.npy",
                       "prunes a dense weight to nonzero vectors, quantises it, and tells what that costs",
                       1,
                       {{table, sizeof table / sizeof table[0]}},
                       run};
