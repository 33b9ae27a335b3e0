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

static bool uniform(builder *b, const mc_pattern *pattern) {
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

static bool realistic(builder *b, const mc_pattern *pattern) {
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

static mc_status check_pattern(const mc_pattern *p, mc_diag *diag) {
    if (p->rows < 0 || p->cols < 0 || p->cols > INT32_MAX)
        return mc_fail(diag, MC_USAGE,
                       "a pattern of %" PRId64 " x %" PRId64 ": rows must be 0 or more, columns 0 to %d",
                       p->rows, p->cols, INT32_MAX);
    if (!(p->sparsity >= 0 && p->sparsity <= 1))
        return mc_fail(diag, MC_USAGE, "sparsity is %g, must be 0 to 1", p->sparsity);
    if (p->law == MC_PATTERN_REALISTIC && !(p->cv >= 0 && p->cv <= MOST_CV))
        return mc_fail(diag, MC_USAGE, "the coefficient of variation is %g, must be 0 to %d", p->cv, MOST_CV);
    return MC_OK;
}

mc_status mc_csr_generate(const mc_pattern *pattern, mc_csr *csr, mc_diag *diag) {
    *csr = (mc_csr){0};
    mc_status status = check_pattern(pattern, diag);
    if (status != MC_OK) return status;
    builder b = {0};
    status = mcrt_csr_create(pattern->rows, pattern->cols, 0, &b.csr, diag);
    if (status != MC_OK) return status;
    bool done = pattern->law == MC_PATTERN_UNIFORM ? uniform(&b, pattern) : realistic(&b, pattern);
    if (!done) {
        mc_csr_free(&b.csr);
        return mc_fail(diag, MC_NOMEM, "no memory for a pattern of %" PRId64 " x %" PRId64, pattern->rows,
                       pattern->cols);
    }
    *csr = b.csr;
    return MC_OK;
}
