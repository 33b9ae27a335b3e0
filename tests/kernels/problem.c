#include "problem.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- Patterns ----------------------------------------------------------------------------------------- */

static const int boundary_counts[] = {0, 1, 31, 32, 33, 63, 64, 65, 129};

/* COUNT vectors: the last columns, so that the last row of B is read, and column 0. */
static bool boundary_column(int count, int k, int col) {
    if (count > 1 && col == 0) return true;
    return col >= k - (count > 1 ? count - 1 : count);
}

/* Whether row block ROW has column COL: spread by a fixed multiplicative hash. */
static bool has_column(const problem_case *spec, int row, int col) {
    unsigned hash = ((unsigned)row * 40503u + (unsigned)col * 2654435761u) >> 16 & 0xffff;
    switch (spec->pattern) {
    case PATTERN_EMPTY_BLOCKS: return row % 3 != 1 && hash % 100 < 30;
    case PATTERN_ONE_FULL: return row == spec->row_blocks / 2;
    case PATTERN_BOUNDARIES: return boundary_column(boundary_counts[row % 9], spec->k, col);
    case PATTERN_ONE_COLUMN: return row % 2 == 0;
    case PATTERN_FIRST_COLUMNS: return col < 3;
    case PATTERN_EITHER_END: return row % 2 ? col < 40 : col >= spec->k - 3;
    default: return false;
    }
}

/* Enough for any kernel's output: by row, by column, or the first for all. mc_scale_fill suits products of 16 bits; longer
   ones are scaled down, so that f16 can tell one wrong sum from another. */
static mc_status make_factors(const problem_kind *kind, problem *p, mc_diag *diag) {
    int longer = mc_type_bits(kind->lhs) + mc_type_bits(kind->rhs) - 16;
    int64_t count = p->a.rows > p->b.cols ? p->a.rows : p->b.cols;
    p->scale = calloc((size_t)count + 1, sizeof *p->scale);
    p->bias = calloc((size_t)count + 1, sizeof *p->bias);
    if (!p->scale || !p->bias) return mc_fail(diag, MC_NOMEM, "out of memory");
    mc_scale_fill(p->scale, count, p->spec->values, 3);
    mc_bias_fill(p->bias, count, p->spec->values, 4);
    for (int64_t i = 0; longer > 0 && i < count; i++) p->scale[i] = ldexpf(p->scale[i], -longer);
    return MC_OK;
}

static mc_status make_pattern(const problem_case *spec, mc_csr *csr, mc_diag *diag) {
    if (spec->pattern == PATTERN_REALISTIC) {
        mc_pattern law = {spec->row_blocks, spec->k, 0.8, MC_PATTERN_REALISTIC, 0.3, 11};
        return mc_csr_generate(&law, csr, diag);
    }
    *csr = (mc_csr){.rows = spec->row_blocks, .cols = spec->k};
    csr->row_ptr = calloc((size_t)spec->row_blocks + 1, sizeof *csr->row_ptr);
    csr->col_idx = malloc((size_t)spec->row_blocks * (size_t)spec->k * sizeof *csr->col_idx);
    if (!csr->row_ptr || !csr->col_idx) return mc_fail(diag, MC_NOMEM, "out of memory");
    for (int row = 0; row < spec->row_blocks; row++) {
        for (int col = 0; col < spec->k; col++) {
            if (has_column(spec, row, col)) csr->col_idx[csr->nnz++] = col;
        }
        csr->row_ptr[row + 1] = csr->nnz;
    }
    return MC_OK;
}

mc_status problem_kind_of(const mc_kernel *kernel, problem_kind *kind, mc_diag *diag) {
    kind->vec = (int)mc_kernel_field(kernel, "vec");
    mc_status status = mc_type_of(kernel, "lhs", &kind->lhs, diag);
    if (status == MC_OK) kind->most = mc_pack_most(kernel, kind->lhs);
    return status == MC_OK ? mc_type_of(kernel, "rhs", &kind->rhs, diag) : status;
}

int problem_ldb(const problem_case *spec, const problem_kind *kind) {
    int ldb = spec->n + spec->ldb_gap;
    if (mc_type_bits(kind->rhs) >= 8) return ldb;
    ldb += ldb % 2;
    return spec->ldb_gap > 0 && ldb % 16 != 0 && ldb % 4 == 0 ? ldb + 2 : ldb;
}

mc_status problem_make(const problem_case *spec, const problem_kind *kind, problem *p, mc_diag *diag) {
    mc_csr csr = {0};
    *p = (problem){.spec = spec, .ldc = spec->n + spec->ldc_gap};
    mc_status status = make_pattern(spec, &csr, diag);
    if (status == MC_OK) status = mc_vsparse_dilate(&csr, kind->vec, kind->lhs, &p->a, diag);
    if (status == MC_OK)
        status = mc_dense_create(kind->rhs, spec->k, spec->n, problem_ldb(spec, kind), &p->b, diag);
    if (status == MC_OK) {
        mc_vsparse_fill(&p->a, spec->values, 1, NULL);
        if (kind->most) mc_vsparse_clamp(&p->a, kind->most);
        mc_dense_fill(&p->b, spec->values, 2);
        status = mc_reference_spmm(&p->a, &p->b, &p->sums, diag);
        if (status == MC_OK) status = make_factors(kind, p, diag);
    }
    mc_csr_free(&csr);
    if (status != MC_OK) problem_free(p);
    return status;
}

void problem_free(problem *p) {
    mc_vsparse_free(&p->a);
    mc_dense_free(&p->b);
    mc_dense_free(&p->sums);
    free(p->scale);
    free(p->bias);
}

mc_status problem_run(const problem *p, mc_device *device, const mc_kernel *kernel, const char *ptx,
                      mc_diag *diag) {
    mc_dense c = {0}, want = {0};
    mc_output output;
    mc_status status = mc_output_of(kernel, &output, diag);
    const float *scale = output.scale ? p->scale : NULL, *bias = output.bias ? p->bias : NULL;
    mc_spmm spmm = {&p->a, &p->b, p->ldc, p->spec->b_offset, p->spec->c_offset, scale, bias};
    if (status == MC_OK) status = mc_spmm_run(device, kernel, ptx, &spmm, NULL, &c, diag);
    if (status == MC_OK) status = mc_reference_output(&output, scale, bias, &p->sums, &want, diag);
    if (status == MC_OK) status = mc_dense_compare(&c, &want, diag);
    mc_dense_free(&c);
    mc_dense_free(&want);
    return status;
}

void problem_fix(const problem_case *spec, const problem_kind *kind, fixed_settings *fixed) {
    static const char *const names[] = {"m", "n", "k", "ldb", "ldc"};
    const int values[] = {spec->row_blocks * kind->vec, spec->n, spec->k, problem_ldb(spec, kind),
                          spec->n + spec->ldc_gap};
    for (int i = 0; i < 5; i++) {
        snprintf(fixed->text[i], sizeof fixed->text[i], "%d", values[i]);
        fixed->settings[i] = (mc_setting){names[i], fixed->text[i]};
    }
}

/* -- Pairs -------------------------------------------------------------------------------------------- */

enum { MAX_TOKENS = 16, MAX_PAIRS = 4096 };

/* The "field=value" words of each variant. */
typedef struct words {
    char *text;
    const char *word[MAX_TOKENS];
    int count;
} words;

typedef struct pair {
    const char *first, *second;
    bool covered;
} pair;

static bool split_words(const mc_spec *spec, size_t variant, words *w) {
    w->text = mc_spec_variant_text(spec, variant, false);
    if (!w->text) return false;
    for (char *rest = NULL, *word = strtok_r(w->text, " ", &rest); word && w->count < MAX_TOKENS;
         word = strtok_r(NULL, " ", &rest))
        w->word[w->count++] = word;
    return true;
}

static pair *find_pair(pair *pairs, size_t count, const char *first, const char *second) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(pairs[i].first, first) == 0 && strcmp(pairs[i].second, second) == 0) return &pairs[i];
    }
    return NULL;
}

static void collect_pairs(const words *w, pair *pairs, size_t *count) {
    for (int i = 0; i < w->count; i++) {
        for (int j = i + 1; j < w->count; j++) {
            if (*count < MAX_PAIRS && !find_pair(pairs, *count, w->word[i], w->word[j]))
                pairs[(*count)++] = (pair){w->word[i], w->word[j], false};
        }
    }
}

/* How many uncovered pairs W has; MARK covers them. */
static int new_pairs(const words *w, pair *pairs, size_t count, bool mark) {
    int fresh = 0;
    for (int i = 0; i < w->count; i++) {
        for (int j = i + 1; j < w->count; j++) {
            pair *p = find_pair(pairs, count, w->word[i], w->word[j]);
            fresh += p && !p->covered;
            if (p && mark) p->covered = true;
        }
    }
    return fresh;
}

/* Greedy: the variant with the most uncovered pairs next, the default first. */
static size_t choose(const words *all, size_t variants, pair *pairs, size_t pair_count, size_t *chosen) {
    size_t count = 0, next = 0;
    for (;;) {
        new_pairs(&all[next], pairs, pair_count, true);
        chosen[count++] = next;
        int best = 0;
        for (size_t v = 0; v < variants; v++) {
            int fresh = new_pairs(&all[v], pairs, pair_count, false);
            if (fresh > best) best = fresh, next = v;
        }
        if (best == 0) return count;
    }
}

size_t cover_pairs(const mc_spec *spec, size_t *chosen, size_t *pair_count) {
    size_t variants = mc_spec_variant_count(spec), count = 0;
    words *all = calloc(variants, sizeof *all);
    pair *pairs = calloc(MAX_PAIRS, sizeof *pairs);
    bool ready = all && pairs;
    *pair_count = 0;
    for (size_t v = 0; ready && v < variants; v++) {
        ready = split_words(spec, v, &all[v]);
        if (ready) collect_pairs(&all[v], pairs, pair_count);
    }
    if (ready) count = choose(all, variants, pairs, *pair_count, chosen);
    for (size_t v = 0; all && v < variants; v++) free(all[v].text);
    free(all);
    free(pairs);
    return count;
}
