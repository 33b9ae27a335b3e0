/* Seeded sparsity patterns. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "matrix/csr.h"
#include "base/memory.h"
#include "matrix/csr_builder.h"
#include "matrix/random.h"

/* -- Uniform */

static bool uniform_row(csr_builder *b, mcrt_random *random, double sparsity) {
    if (sparsity >= 1) return true;
    double log_sparsity = csr_log_sparsity(sparsity);
    int64_t cols = b->csr.cols;
    for (int64_t col = 0; (col = csr_next_kept(random, log_sparsity, col, cols)) < cols; col++)
        if (!csr_append(b, (int32_t)col)) return false;
    return true;
}

static bool uniform(csr_builder *b, const void *of) {
    const mc_pattern *pattern = of;
    mcrt_random random = random_start(pattern->seed, 0);
    for (int64_t row = 0; row < pattern->rows; row++) {
        if (!uniform_row(b, &random, pattern->sparsity)) return false;
        b->csr.row_ptr[row + 1] = b->csr.nnz;
    }
    return true;
}

/* -- Realistic: row lengths */

/* Log-normal with coefficient of variation CV: sigma^2 = ln(1 + CV^2). A fraction becomes one more nonzero
   with that probability. */
static void draw_lengths(double *length, const mc_pattern *pattern) {
    double most = (double)pattern->cols, want = (1 - pattern->sparsity) * most * (double)pattern->rows;
    double sigma = sqrt(portable_log(1 + pattern->cv * pattern->cv));
    mcrt_random random = random_start(pattern->seed, 1);
    for (int64_t row = 0; row < pattern->rows; row++)
        length[row] = portable_exp(sigma * random_normal(&random));
    csr_fit_lengths(length, pattern->rows, most, want, &random);
}

/* -- Realistic: columns */

typedef struct columns {
    uint32_t *weight;  /* of each column: chance of being taken when drawn, of 2^32; 1/3 to 1 */
    uint64_t *members; /* bit set of the row at hand */
    int64_t count, words;
} columns;

static bool create_columns(columns *c, const mc_pattern *pattern) {
    c->count = pattern->cols;
    c->words = (c->count + 63) / 64;
    c->weight = mcrt_array(c->count, sizeof *c->weight);
    c->members = mcrt_array(c->words, sizeof *c->members);
    if (!c->weight || !c->members) return false;
    mcrt_random random = random_start(pattern->seed, 2);
    for (int64_t col = 0; col < c->count; col++)
        c->weight[col] = UINT32_MAX / 3 + (uint32_t)((random_next(&random) >> 32) * 2 / 3);
    return true;
}

static void free_columns(columns *c) {
    free(c->weight);
    free(c->members);
}

/* Draws WANT members. INVERTED prefers the columns that are disliked otherwise. */
static void draw_members(columns *c, mcrt_random *random, int64_t want, bool inverted) {
    memset(c->members, 0, (size_t)c->words * sizeof *c->members);
    while (want > 0) {
        uint64_t bits = random_next(random);
        uint64_t col = (bits >> 32) * (uint64_t)c->count >> 32;
        uint32_t weight = inverted ? UINT32_MAX / 3 + (UINT32_MAX - c->weight[col]) : c->weight[col];
        uint64_t bit = (uint64_t)1 << col % 64;
        if ((uint32_t)bits > weight || (c->members[col / 64] & bit)) continue;
        c->members[col / 64] |= bit;
        want--;
    }
}

/* A row more than half full draws what it leaves out, so that draws seldom meet a member. */
static bool realistic_row(csr_builder *b, columns *c, mcrt_random *random, int64_t length) {
    bool complement = length > c->count / 2;
    draw_members(c, random, complement ? c->count - length : length, complement);
    for (int64_t word = 0; word < c->words; word++) {
        uint64_t left = complement ? ~c->members[word] : c->members[word];
        if (word == c->words - 1 && c->count % 64) left &= ((uint64_t)1 << c->count % 64) - 1;
        for (; left; left &= left - 1)
            if (!csr_append(b, (int32_t)(word * 64 + __builtin_ctzll(left)))) return false;
    }
    return true;
}

static bool realistic(csr_builder *b, const void *of) {
    const mc_pattern *pattern = of;
    columns c = {0};
    double *length = mcrt_array(pattern->rows, sizeof *length);
    bool done = length && create_columns(&c, pattern);
    if (done) draw_lengths(length, pattern);
    mcrt_random random = random_start(pattern->seed, 3);
    for (int64_t row = 0; done && row < pattern->rows; row++) {
        done = realistic_row(b, &c, &random, (int64_t)length[row]);
        b->csr.row_ptr[row + 1] = b->csr.nnz;
    }
    free_columns(&c);
    free(length);
    return done;
}

/* -- */

enum { MOST_CV = 4 };

static mc_status check_shape(int64_t rows, int64_t cols, double sparsity, mc_diag *diag) {
    mc_status status = csr_check_shape(rows, cols, diag);
    if (status != MC_OK) return status;
    if (!(sparsity >= 0 && sparsity <= 1))
        return mc_fail(diag, MC_USAGE, "sparsity is %g, must be 0 to 1", sparsity);
    return MC_OK;
}

static mc_status check_pattern(const mc_pattern *p, mc_diag *diag) {
    mc_status status = check_shape(p->rows, p->cols, p->sparsity, diag);
    if (status != MC_OK) return status;
    if (p->law == MC_PATTERN_REALISTIC && !(p->cv >= 0 && p->cv <= MOST_CV))
        return mc_fail(diag, MC_USAGE, "the coefficient of variation is %g, must be 0 to %d", p->cv, MOST_CV);
    return MC_OK;
}

mc_status mc_csr_generate(const mc_pattern *pattern, mc_csr *csr, mc_diag *diag) {
    *csr = (mc_csr){0};
    mc_status status = check_pattern(pattern, diag);
    if (status != MC_OK) return status;
    return csr_build(pattern->rows, pattern->cols, pattern->law == MC_PATTERN_UNIFORM ? uniform : realistic,
                     pattern, csr, diag);
}

/* -- Band */

/* The columns of a row that are in the band: half of it before the middle of the row's part of the diagonal,
   half behind it, as far as there are columns. */
typedef struct band_part {
    int64_t first, count;
} band_part;

static band_part band_of(const mc_banded *p, int64_t row) {
    int64_t middle = (int64_t)(((double)row + .5) * (double)p->cols / (double)p->rows);
    int64_t first = middle - p->band / 2, end = first + p->band;
    if (first < 0) first = 0;
    if (end > p->cols) end = p->cols;
    return (band_part){first, end - first};
}

/* Entries in the band. */
static int64_t band_total(const mc_banded *p) {
    int64_t total = 0;
    for (int64_t row = 0; row < p->rows; row++) total += band_of(p, row).count;
    return total;
}

/* Columns outside of the band are counted as if it were not there. */
static bool band_row(csr_builder *b, mcrt_random *random, band_part band, double log_sparsity) {
    int64_t outside = b->csr.cols - band.count, col = csr_next_kept(random, log_sparsity, 0, outside);
    for (; col < band.first; col = csr_next_kept(random, log_sparsity, col + 1, outside))
        if (!csr_append(b, (int32_t)col)) return false;
    for (int64_t i = 0; i < band.count; i++)
        if (!csr_append(b, (int32_t)(band.first + i))) return false;
    for (; col < outside; col = csr_next_kept(random, log_sparsity, col + 1, outside))
        if (!csr_append(b, (int32_t)(band.count + col))) return false;
    return true;
}

/* The logarithm of the sparsity outside of the band. Of -0 csr_next_kept keeps nothing. */
static double outer_log(const mc_banded *p) {
    double all = (double)p->rows * (double)p->cols, outside = all - (double)band_total(p);
    double left = outside > 0 ? p->sparsity * all / outside : 1;
    if (left >= 1) return -0.0;
    return left > 0 ? portable_log(left) : -INFINITY;
}

/* Each entry of the band with the same probability, and none outside of it. */
static bool filled_row(csr_builder *b, mcrt_random *random, band_part band, double log_sparsity) {
    for (int64_t i = 0; (i = csr_next_kept(random, log_sparsity, i, band.count)) < band.count; i++)
        if (!csr_append(b, (int32_t)(band.first + i))) return false;
    return true;
}

static bool banded(csr_builder *b, const void *of) {
    const mc_banded *pattern = of;
    mcrt_random random = random_start(pattern->seed, 4);
    const bool filled = pattern->fill > 0;
    double log_sparsity = filled ? csr_log_sparsity(1 - pattern->fill) : outer_log(pattern);
    for (int64_t row = 0; row < pattern->rows; row++) {
        const band_part band = band_of(pattern, row);
        if (!(filled ? filled_row : band_row)(b, &random, band, log_sparsity)) return false;
        b->csr.row_ptr[row + 1] = b->csr.nnz;
    }
    return true;
}

static mc_status check_band(const mc_banded *p, mc_diag *diag) {
    if (p->band < 0 || p->band > p->cols)
        return mc_fail(diag, MC_USAGE,
                       "a band of %" PRId64 " columns: must be 0 to the %" PRId64 " there are", p->band,
                       p->cols);
    if (!(p->fill >= 0 && p->fill <= 1))
        return mc_fail(diag, MC_USAGE, "the fill is %g, must be 0 to 1", p->fill);
    double all = (double)p->rows * (double)p->cols, left = 1 - (double)band_total(p) / fmax(all, 1);
    if (p->fill > 0) return MC_OK;
    if (all == 0 || p->sparsity <= left) return MC_OK;
    return mc_fail(diag, MC_USAGE, "sparsity is %g: a band of %" PRId64 " columns leaves %g at most",
                   p->sparsity, p->band, left);
}

mc_status mc_csr_generate_banded(const mc_banded *pattern, mc_csr *csr, mc_diag *diag) {
    *csr = (mc_csr){0};
    mc_status status =
        check_shape(pattern->rows, pattern->cols, pattern->fill > 0 ? 0 : pattern->sparsity, diag);
    if (status == MC_OK) status = check_band(pattern, diag);
    return status == MC_OK ? csr_build(pattern->rows, pattern->cols, banded, pattern, csr, diag) : status;
}

/* -- Groups */

/* COUNT neighbours from FIRST on, as far as there are COLS. */
static bool append_unit(csr_builder *b, int64_t first, int count, int64_t cols) {
    for (int64_t column = first; column < first + count && column < cols; column++)
        if (!csr_append(b, (int32_t)column)) return false;
    return true;
}

/* Each entry is kept with the probability that as many are as are wanted of those that are left. */
static bool grouped_row(csr_builder *b, mcrt_random *random, const mc_grouped *p) {
    const int unit = p->unit > 0 ? p->unit : 1;
    for (int64_t first = 0; first < p->cols; first += (int64_t)p->of * unit) {
        int wanted = p->kept;
        for (int i = 0; i < p->of; i++) {
            if (random_unit(random) * (p->of - i) > wanted) continue;
            wanted--;
            if (!append_unit(b, first + (int64_t)i * unit, unit, p->cols)) return false;
        }
    }
    return true;
}

static bool grouped(csr_builder *b, const void *of) {
    const mc_grouped *pattern = of;
    mcrt_random random = random_start(pattern->seed, 5);
    for (int64_t row = 0; row < pattern->rows; row++) {
        if (!grouped_row(b, &random, pattern)) return false;
        b->csr.row_ptr[row + 1] = b->csr.nnz;
    }
    return true;
}

mc_status mc_csr_generate_grouped(const mc_grouped *pattern, mc_csr *csr, mc_diag *diag) {
    *csr = (mc_csr){0};
    if (pattern->of < 1 || pattern->kept < 0 || pattern->kept > pattern->of)
        return mc_fail(diag, MC_USAGE, "groups of %d keep %d: must be 0 to the %d there are", pattern->of,
                       pattern->kept, pattern->of);
    mc_status status = check_shape(pattern->rows, pattern->cols, 0, diag);
    return status == MC_OK ? csr_build(pattern->rows, pattern->cols, grouped, pattern, csr, diag) : status;
}
