/* Matrices to tune for. A file of shapes has a line for each, which needs no file of its own:
 *
 *     # rows  columns  sparsity  sizes
 *       4096     4096      0.9   1,16,256
 *       1024     4096      0.75  256        seed=7 cv=0.2 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pattern.h"
#include "problem.h"
#include "published.h"
#include "tune.h"
#include "mcrt_internal.h"
#include "base/text_input.h"
#include "matrix/slide24.h"

enum { USUAL_SIZE = 256 };
static const double usual_cv = 0.3;
#define AS_GOOD_AS_EQUAL 5e-4 /* of sparsities, as people write them */

/* -- Sizes */

/* TEXT is "1,16,256". WHAT stands in front of a message. */
static mc_status parse_sizes(const char *text, const char *what, tune_source *source, mc_diag *diag) {
    const char *at = text;
    source->size_count = 0;
    for (;;) {
        char *end;
        errno = 0;
        long long size = strtoll(at, &end, 10);
        if (*at < '0' || *at > '9' || errno != 0 || size < 1 || size > INT32_MAX ||
            (*end != ',' && *end != '\0'))
            return mc_fail(diag, MC_USAGE, "%s: '%s' is no list of sizes from 1 to %d, as 1,16,256", what,
                           text, INT32_MAX);
        if (source->size_count == TUNE_MAX_SIZES)
            return mc_fail(diag, MC_USAGE, "%s: more than %d sizes", what, TUNE_MAX_SIZES);
        source->sizes[source->size_count++] = size;
        if (*end == '\0') return MC_OK;
        at = end + 1;
    }
}

/* Of a matrix in a file: those of the option, else the specs', else the usual one. */
static mc_status find_sizes(const tune_options *options, const tune_kind *kind, tune_source *source,
                            mc_diag *diag) {
    const char *name = problem_members[kind->op->size].name, *other = *name == 'n' ? "k" : "n", *given = NULL;
    char option[8];
    snprintf(option, sizeof option, "--%s", name);
    if (kind->op->size == MEMBER_n) given = options->n;
    else if (kind->op->size == MEMBER_k) given = options->k;
    if (kind->op->size == MEMBER_batch) { /* the matrix gives all sizes: one product */
        if (options->n != NULL || options->k != NULL)
            return mc_fail(diag, MC_USAGE, "%s: %s has no --n and no --k: the matrix gives all sizes",
                           options->command, kind->op->title);
        source->sizes[0] = 1, source->size_count = 1;
        return MC_OK;
    }
    if ((*other == 'n' ? options->n : options->k) != NULL)
        return mc_fail(diag, MC_USAGE, "%s: %s %s is %s for sizes %s, its --%s is the matrix's",
                       options->command, operator_article(kind->op), kind->op->title,
                       strcmp(options->command, "tune") == 0 ? "tuned" : "planned", option, other);
    if (given != NULL) return parse_sizes(given, option, source, diag);
    int64_t fixed = member_of_config(&kind->config, kind->op->size);
    source->sizes[0] = fixed > 0 ? fixed : USUAL_SIZE;
    source->size_count = 1;
    return MC_OK;
}

/* -- The list */

static mc_status add_source(tune_sources *sources, const tune_source *source, const char *name,
                            mc_diag *diag) {
    tune_source *items = realloc(sources->items, (sources->count + 1) * sizeof *items);
    if (items == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    sources->items = items;
    tune_source *added = &items[sources->count];
    *added = *source;
    added->name = strdup(name);
    if (added->name == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    sources->count++;
    sources->problems += source->size_count;
    return MC_OK;
}

/* A path that is misspelt is found out before the first measurement. */
static mc_status add_file(tune_sources *sources, const tune_source *source, const char *path, mc_diag *diag) {
    if (access(path, R_OK) != 0) return mc_fail(diag, MC_IO, "%s: %s", path, strerror(errno));
    return add_source(sources, source, path, diag);
}

void tune_sources_free(tune_sources *sources) {
    for (size_t i = 0; i < sources->count; i++) free(sources->items[i].name);
    free(sources->items);
    *sources = (tune_sources){0};
}

/* -- Lines of --shapes */

static mc_status take_rows(text_input *in, int vec, int64_t *rows) {
    mc_status status = input_integer(in, "the number of rows", 1, INT32_MAX, rows);
    if (status == MC_OK && *rows % vec != 0)
        return input_fail(in, MC_FORMAT, "the number of rows, %" PRId64 ", is not a multiple of vec = %d",
                          *rows, vec);
    return status;
}

static mc_status take_sizes(text_input *in, tune_source *source) {
    source->size_count = 0;
    do {
        if (source->size_count == TUNE_MAX_SIZES)
            return input_fail(in, MC_FORMAT, "more than %d sizes", TUNE_MAX_SIZES);
        in->at += source->size_count > 0; /* the comma */
        mc_status status = input_integer(in, "a size", 1, INT32_MAX, &source->sizes[source->size_count++]);
        if (status != MC_OK) return status;
    } while (in->at < in->end && *in->at == ',');
    return MC_OK;
}

static bool take_word(text_input *in, const char *word) {
    size_t length = strlen(word);
    if (input_left(in) < length || memcmp(in->at, word, length) != 0) return false;
    in->at += length;
    return true;
}

/* seed=S and cv=X, in any order. */
static mc_status take_extras(text_input *in, mc_pattern *pattern) {
    for (;;) {
        mc_status status;
        int64_t seed;
        input_skip_blanks(in);
        if (input_at_line_end(in) || *in->at == '#') return MC_OK;
        if (take_word(in, "seed=")) {
            status = input_integer(in, "the seed", 0, INT64_MAX, &seed);
            if (status == MC_OK) pattern->seed = (uint64_t)seed;
        } else if (take_word(in, "cv=")) {
            status = input_real(in, "cv", 0, 4, &pattern->cv);
        } else {
            status = input_fail(in, MC_FORMAT, "%s: only seed=S and cv=X may follow the sizes",
                                input_token(in).text);
        }
        if (status != MC_OK) return status;
    }
}

static mc_status take_line(text_input *in, const tune_options *options, int vec, tune_source *source) {
    mc_pattern *pattern = &source->pattern;
    *source = (tune_source){
        .generated = true,
        .pattern = {.law = MC_PATTERN_REALISTIC, .cv = usual_cv, .seed = (uint64_t)options->seed}};
    mc_status status = take_rows(in, vec, &pattern->rows);
    if (status == MC_OK) status = input_integer(in, "the number of columns", 1, INT32_MAX, &pattern->cols);
    if (status == MC_OK) status = input_real(in, "the sparsity", 0, 1, &pattern->sparsity);
    if (status == MC_OK) status = take_sizes(in, source);
    return status == MC_OK ? take_extras(in, pattern) : status;
}

static void skip_comments(text_input *in) {
    for (input_skip_space(in); in->at < in->end && *in->at == '#'; input_skip_space(in)) input_skip_line(in);
}

static mc_status add_line(text_input *in, const tune_options *options, int vec, tune_sources *sources) {
    tune_source source;
    char name[512];
    snprintf(name, sizeof name, "%s:%" PRId64, in->path, in->line);
    mc_status status = take_line(in, options, vec, &source);
    if (status != MC_OK) return status;
    skip_comments(in);
    return add_source(sources, &source, name, in->diag);
}

static mc_status read_shapes(const tune_options *options, const tune_kind *kind, tune_sources *sources,
                             mc_diag *diag) {
    text_input in;
    if (options->n != NULL || options->k != NULL)
        return mc_fail(diag, MC_USAGE, "%s: with --shapes, sizes are in the file: no --n, no --k",
                       options->command);
    mc_status status = input_open(&in, options->shapes_file, diag);
    if (status != MC_OK) return status;
    skip_comments(&in);
    if (in.at == in.end) status = input_fail(&in, MC_FORMAT, "there is no shape in this file");
    while (status == MC_OK && in.at < in.end) status = add_line(&in, options, kind->vec, sources);
    input_close(&in);
    return status;
}

mc_status tune_sources_read(const tune_options *options, const tune_kind *kind, char **paths, size_t count,
                            tune_sources *sources, mc_diag *diag) {
    tune_source source = {0};
    *sources = (tune_sources){0};
    if (options->dilate && options->unite)
        return mc_fail(diag, MC_USAGE, "--dilate and --union exclude each other");
    if (count == 0 && options->shapes_file == NULL)
        return mc_fail(diag, MC_USAGE, "%s: wants a MATRIX, or --shapes", options->command);
    if (count > 0 && options->shapes_file != NULL)
        return mc_fail(diag, MC_USAGE, "%s: wants either a MATRIX or --shapes: '%s' is too much",
                       options->command, paths[0]);
    mc_status status = count > 0 ? find_sizes(options, kind, &source, diag) : MC_OK;
    for (size_t i = 0; i < count && status == MC_OK; i++) status = add_file(sources, &source, paths[i], diag);
    if (status == MC_OK && options->shapes_file != NULL) status = read_shapes(options, kind, sources, diag);
    if (status != MC_OK) tune_sources_free(sources);
    return status;
}

/* -- Loading */

/* The pattern of vectors; CSR is row blocks by columns. */
static mc_status load_published(const char *path, const tune_options *options, const tune_kind *kind,
                                mc_vsparse *matrix, mc_diag *diag) {
    mc_vsparse read;
    if (options->unite) return mc_fail(diag, MC_USAGE, "--union: %s holds vectors already", path);
    mc_status status = published_read(path, &read, diag);
    if (status != MC_OK) return status;
    const mc_csr pattern = {.rows = read.row_blocks,
                            .cols = read.cols,
                            .nnz = read.vectors,
                            .row_ptr = read.row_ptr,
                            .col_idx = read.col_idx};
    if (read.vec == kind->vec) status = mc_vsparse_dilate(&pattern, kind->vec, kind->type, matrix, diag);
    else
        status = mc_fail(diag, MC_CANNOT, "%s holds vectors of %d elements, the kernel's have %d", path,
                         read.vec, kind->vec);
    mc_vsparse_free(&read);
    return status;
}

static mc_status generate(const tune_source *source, const tune_kind *kind, int span, mc_csr *csr,
                          mc_diag *diag) {
    mc_pattern pattern = source->pattern;
    mc_sparse24_rule rule;
    pattern.rows /= kind->vec;
    if (!kind->op->two_of_four) return mc_csr_generate(&pattern, csr, diag);
    mc_status status = mc_sparse24_rule_of(kind->type, &rule, diag);
    if (status != MC_OK) return status;
    const int of = span > 0 ? span : rule.group, kept = span > 0 ? span - 2 : rule.kept;
    const mc_grouped groups = {pattern.rows, pattern.cols, kept, of, pattern.seed, rule.unit};
    const double sparsity = 1 - (double)kept / of;
    if (fabs(pattern.sparsity - sparsity) < AS_GOOD_AS_EQUAL)
        return mc_csr_generate_grouped(&groups, csr, diag);
    return mc_fail(diag, MC_USAGE, "%s: the sparsity is %g, that of a %d:%d matrix %.3g", source->name,
                   pattern.sparsity, span > 0 ? kept : 2, span > 0 ? of : 4, sparsity);
}

static mc_status load_pattern(const tune_source *source, const tune_options *options, const tune_kind *kind,
                              mc_csr *csr, mc_diag *diag) {
    const int vec = kind->vec;
    mc_blocks blocks;
    if (source->generated) return generate(source, kind, pattern_span(options->pattern), csr, diag);
    mc_status status = problem_read_pattern(source->name, csr, &blocks, diag);
    if (status == MC_OK && options->dilate && blocks.rows > 0)
        status = mc_fail(diag, MC_USAGE, "--dilate: %s holds blocks", source->name);
    if (status == MC_OK && !options->unite) status = problem_check_blocks(source->name, &blocks, vec, diag);
    if (status != MC_OK) mc_csr_free(csr);
    return status;
}

static mc_status load(const tune_source *source, const tune_options *options, const tune_kind *kind,
                      mc_vsparse *matrix, mc_diag *diag) {
    mc_csr csr;
    double fill;
    *matrix = (mc_vsparse){0};
    if (!source->generated && published_is_directory(source->name))
        return load_published(source->name, options, kind, matrix, diag);
    bool dilate =
        source->generated || options->dilate || (!options->unite && problem_is_dilated(source->name));
    mc_status status = load_pattern(source, options, kind, &csr, diag);
    if (status != MC_OK) return status;
    status = dilate ? mc_vsparse_dilate(&csr, kind->vec, kind->type, matrix, diag)
                    : mc_vsparse_union(&csr, kind->vec, kind->type, matrix, &fill, NULL, diag);
    mc_csr_free(&csr);
    return status;
}

mc_status tune_source_load(const tune_source *source, const tune_options *options, const tune_kind *kind,
                           mc_vsparse *matrix, mc_diag *diag) {
    const int span = pattern_span(options->pattern);
    const bool takes = operator_has(kind->op, MEMBER_pattern);
    *matrix = (mc_vsparse){0};
    if (span > 0 && takes && !kind->op->matrix.wanted)
        return mc_fail(diag, MC_USAGE, "--pattern is a matrix's; for %s %s: --set pattern=%s",
                       operator_article(kind->op), kind->op->title, options->pattern);
    if (span > 0 && !takes)
        return mc_fail(diag, MC_USAGE, "--pattern: %s %s has none", operator_article(kind->op),
                       kind->op->title);
    mc_status status = load(source, options, kind, matrix, diag);
    if (status == MC_OK) status = mc_slide24_take(matrix, span, diag);
    if (status != MC_OK) mc_vsparse_free(matrix);
    return status;
}
