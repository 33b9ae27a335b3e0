/* Seeded sparsity patterns. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "matrix/csr.h"
#include "base/memory.h"
#include "matrix/random.h"

/* -- A pattern that grows row by row */

typedef struct builder {
    mc_csr csr; /* nnz so far */
    int64_t capacity;
} builder;

static bool append(builder *b, int32_t col) {
    mc_csr *csr = &b->csr;
    if (csr->nnz == b->capacity) {
        int64_t capacity = b->capacity + b->capacity / 2 + 1024;
        int32_t *grown = realloc(csr->col_idx, (size_t)capacity * sizeof *grown);
        if (!grown) return false;
        csr->col_idx = grown;
        b->capacity = capacity;
    }
    csr->col_idx[csr->nnz++] = col;
    return true;
}

/* -- Uniform */

/* The distance from one kept entry to the next is geometric: one random number a nonzero, not one an
   element. */
static int64_t next_kept(mcrt_random *random, double log_sparsity, int64_t col, int64_t cols) {
    double gap = portable_log(random_unit(random)) / log_sparsity;
    return gap < (double)(cols - col) ? col + (int64_t)gap : cols;
}

static bool uniform_row(builder *b, mcrt_random *random, double sparsity) {
    if (sparsity >= 1) return true;
    double log_sparsity = sparsity > 0 ? portable_log(sparsity) : -INFINITY;
    int64_t cols = b->csr.cols;
    for (int64_t col = 0; (col = next_kept(random, log_sparsity, col, cols)) < cols; col++)
        if (!append(b, (int32_t)col)) return false;
    return true;
}

static bool uniform(builder *b, const void *of) {
    const mc_pattern *pattern = of;
    mcrt_random random = random_start(pattern->seed, 0);
    for (int64_t row = 0; row < pattern->rows; row++) {
        if (!uniform_row(b, &random, pattern->sparsity)) return false;
        b->csr.row_ptr[row + 1] = b->csr.nnz;
    }
    return true;
}

/* -- Realistic: row lengths */

static double total_length(const double *length, int64_t rows, double scale, double most) {
    double total = 0;
    for (int64_t row = 0; row < rows; row++) total += fmin(length[row] * scale, most);
    return total;
}

/* The factor that makes lengths, cut at MOST, sum up to WANT. */
static double fit_scale(const double *length, int64_t rows, double most, double want) {
    double low = 0, high = 1;
    while (high < 0x1p60 && total_length(length, rows, high, most) < want) high *= 2;
    for (int step = 0; step < 50; step++) {
        double middle = (low + high) / 2;
        if (total_length(length, rows, middle, most) < want) low = middle;
        else high = middle;
    }
    return high;
}

/* Log-normal with coefficient of variation CV: sigma^2 = ln(1 + CV^2). A fraction becomes one more nonzero
   with that probability. */
static void draw_lengths(double *length, const mc_pattern *pattern) {
    double most = (double)pattern->cols, want = (1 - pattern->sparsity) * most * (double)pattern->rows;
    double sigma = sqrt(portable_log(1 + pattern->cv * pattern->cv));
    mcrt_random random = random_start(pattern->seed, 1);
    for (int64_t row = 0; row < pattern->rows; row++)
        length[row] = portable_exp(sigma * random_normal(&random));
    double scale = fit_scale(length, pattern->rows, most, want);
    for (int64_t row = 0; row < pattern->rows; row++)
        length[row] = floor(fmin(length[row] * scale, most) + (1 - random_unit(&random)));
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
static bool realistic_row(builder *b, columns *c, mcrt_random *random, int64_t length) {
    bool complement = length > c->count / 2;
    draw_members(c, random, complement ? c->count - length : length, complement);
    for (int64_t word = 0; word < c->words; word++) {
        uint64_t left = complement ? ~c->members[word] : c->members[word];
        if (word == c->words - 1 && c->count % 64) left &= ((uint64_t)1 << c->count % 64) - 1;
        for (; left; left &= left - 1)
            if (!append(b, (int32_t)(word * 64 + __builtin_ctzll(left)))) return false;
    }
    return true;
}

static bool realistic(builder *b, const void *of) {
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
    if (rows < 0 || cols < 0 || cols > INT32_MAX)
        return mc_fail(diag, MC_USAGE,
                       "a pattern of %" PRId64 " x %" PRId64 ": rows must be 0 or more, columns 0 to %d",
                       rows, cols, INT32_MAX);
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

typedef bool grow(builder *b, const void *pattern);

/* Takes what HOW makes of PATTERN. */
static mc_status generate(int64_t rows, int64_t cols, grow *how, const void *pattern, mc_csr *csr,
                          mc_diag *diag) {
    builder b = {0};
    mc_status status = mcrt_csr_create(rows, cols, 0, &b.csr, diag);
    if (status != MC_OK) return status;
    if (how(&b, pattern)) {
        *csr = b.csr;
        return MC_OK;
    }
    mc_csr_free(&b.csr);
    return mc_fail(diag, MC_NOMEM, "no memory for a pattern of %" PRId64 " x %" PRId64, rows, cols);
}

mc_status mc_csr_generate(const mc_pattern *pattern, mc_csr *csr, mc_diag *diag) {
    *csr = (mc_csr){0};
    mc_status status = check_pattern(pattern, diag);
    if (status != MC_OK) return status;
    return generate(pattern->rows, pattern->cols, pattern->law == MC_PATTERN_UNIFORM ? uniform : realistic,
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
static bool band_row(builder *b, mcrt_random *random, band_part band, double log_sparsity) {
    int64_t outside = b->csr.cols - band.count, col = next_kept(random, log_sparsity, 0, outside);
    for (; col < band.first; col = next_kept(random, log_sparsity, col + 1, outside))
        if (!append(b, (int32_t)col)) return false;
    for (int64_t i = 0; i < band.count; i++)
        if (!append(b, (int32_t)(band.first + i))) return false;
    for (; col < outside; col = next_kept(random, log_sparsity, col + 1, outside))
        if (!append(b, (int32_t)(band.count + col))) return false;
    return true;
}

/* The logarithm of the sparsity outside of the band. Of -0 next_kept keeps nothing. */
static double outer_log(const mc_banded *p) {
    double all = (double)p->rows * (double)p->cols, outside = all - (double)band_total(p);
    double left = outside > 0 ? p->sparsity * all / outside : 1;
    if (left >= 1) return -0.0;
    return left > 0 ? portable_log(left) : -INFINITY;
}

static bool banded(builder *b, const void *of) {
    const mc_banded *pattern = of;
    mcrt_random random = random_start(pattern->seed, 4);
    double log_sparsity = outer_log(pattern);
    for (int64_t row = 0; row < pattern->rows; row++) {
        if (!band_row(b, &random, band_of(pattern, row), log_sparsity)) return false;
        b->csr.row_ptr[row + 1] = b->csr.nnz;
    }
    return true;
}

static mc_status check_band(const mc_banded *p, mc_diag *diag) {
    if (p->band < 0 || p->band > p->cols)
        return mc_fail(diag, MC_USAGE,
                       "a band of %" PRId64 " columns: must be 0 to the %" PRId64 " there are", p->band,
                       p->cols);
    double all = (double)p->rows * (double)p->cols, left = 1 - (double)band_total(p) / fmax(all, 1);
    if (all == 0 || p->sparsity <= left) return MC_OK;
    return mc_fail(diag, MC_USAGE, "sparsity is %g: a band of %" PRId64 " columns leaves %g at most",
                   p->sparsity, p->band, left);
}

mc_status mc_csr_generate_banded(const mc_banded *pattern, mc_csr *csr, mc_diag *diag) {
    *csr = (mc_csr){0};
    mc_status status = check_shape(pattern->rows, pattern->cols, pattern->sparsity, diag);
    if (status == MC_OK) status = check_band(pattern, diag);
    return status == MC_OK ? generate(pattern->rows, pattern->cols, banded, pattern, csr, diag) : status;
}

/* -- Groups */

/* COUNT neighbours from FIRST on, as far as there are COLS. */
static bool append_unit(builder *b, int64_t first, int count, int64_t cols) {
    for (int64_t column = first; column < first + count && column < cols; column++)
        if (!append(b, (int32_t)column)) return false;
    return true;
}

/* Each entry is kept with the probability that as many are as are wanted of those that are left. */
static bool grouped_row(builder *b, mcrt_random *random, const mc_grouped *p) {
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

static bool grouped(builder *b, const void *of) {
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
    return status == MC_OK ? generate(pattern->rows, pattern->cols, grouped, pattern, csr, diag) : status;
}
