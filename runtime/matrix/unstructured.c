#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "matrix/csr_builder.h"
#include "matrix/unstructured.h"

/* Streams of the seed; matrix/pattern.c has those up to 5. */
enum { STREAM_POWER = 6, STREAM_BLOCKS, STREAM_HEAVY };

static int64_t half_of(int64_t cols) { return cols / 2 + cols % 2; }

static mc_status check_shape(int64_t rows, int64_t cols, mc_diag *diag) {
    if (rows <= INT32_MAX) return csr_check_shape(rows, cols, diag);
    return mc_fail(diag, MC_USAGE, "%" PRId64 " rows: at most %d", rows, INT32_MAX);
}

/* -- Drawing the columns of a row */

typedef struct chooser {
    int64_t cols;
    /* Walker's alias method (Vose, 1991): of a column drawn with all alike it is the column itself below
       LIMIT of 2^32, else OTHER. NULL: all columns are alike. */
    uint32_t *limit;
    int32_t *other;
    int32_t *taken; /* by column, the last row that has it, counted from 1 */
} chooser;

static void free_chooser(chooser *c) {
    free(c->limit);
    free(c->other);
    free(c->taken);
}

static bool create_chooser(chooser *c, int64_t cols) {
    *c = (chooser){.cols = cols, .taken = mcrt_array(cols, sizeof *c->taken)};
    return c->taken != NULL;
}

/* Pairs each column that is wanted less than on average with one that is wanted more: the first one's share
   is filled up with the other's. LIST holds the first kind from its begin on, the second from its end on. */
static void pair_columns(chooser *c, double *share, int32_t *list) {
    int64_t low = 0, high = c->cols;
    for (int64_t col = 0; col < c->cols; col++) {
        if (share[col] < 1) list[low++] = (int32_t)col;
        else list[--high] = (int32_t)col;
        c->limit[col] = UINT32_MAX;
        c->other[col] = (int32_t)col;
    }
    while (low > 0 && high < c->cols) {
        int32_t small = list[--low], large = list[high];
        c->limit[small] = (uint32_t)(share[small] * (double)UINT32_MAX);
        c->other[small] = large;
        share[large] -= 1 - share[small];
        if (share[large] >= 1) continue;
        high++; /* it is of the first kind now */
        list[low++] = large;
    }
}

/* Columns in proportion to WEIGHT, which is lost. */
static bool weigh_columns(chooser *c, double *weight) {
    int32_t *list = mcrt_array(c->cols, sizeof *list);
    c->limit = mcrt_array(c->cols, sizeof *c->limit);
    c->other = mcrt_array(c->cols, sizeof *c->other);
    bool room = list != NULL && c->limit != NULL && c->other != NULL;
    double total = 0;
    for (int64_t col = 0; col < c->cols; col++) total += weight[col];
    for (int64_t col = 0; col < c->cols; col++) weight[col] *= (double)c->cols / total;
    if (room) pair_columns(c, weight, list);
    free(list);
    return room;
}

static int32_t draw_column(const chooser *c, mcrt_random *random, bool weighed) {
    uint64_t bits = random_next(random);
    int32_t col = (int32_t)((bits >> 32) * (uint64_t)c->cols >> 32);
    return !weighed || (uint32_t)bits < c->limit[col] ? col : c->other[col];
}

static int by_column(const void *left, const void *right) {
    int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

/* Adds LENGTH distinct columns, at most half of those there are. Where the popular ones are soon taken, the
   rest are drawn with all alike. */
static bool draw_row(csr_builder *b, chooser *c, mcrt_random *random, int64_t row, int64_t length) {
    const int64_t first = b->csr.nnz, patience = c->limit != NULL ? 4 * length + 16 : 0;
    for (int64_t tries = 0; b->csr.nnz < first + length; tries++) {
        int32_t col = draw_column(c, random, tries < patience);
        if (c->taken[col] == row + 1) continue;
        c->taken[col] = (int32_t)(row + 1);
        if (!csr_append(b, col)) return false;
    }
    if (length > 1) qsort(b->csr.col_idx + first, (size_t)length, sizeof(int32_t), by_column);
    return true;
}

static bool draw_rows(csr_builder *b, chooser *c, mcrt_random *random, const double *length) {
    for (int64_t row = 0; row < b->csr.rows; row++) {
        if (!draw_row(b, c, random, row, (int64_t)length[row])) return false;
        b->csr.row_ptr[row + 1] = b->csr.nnz;
    }
    return true;
}

/* -- Power law */

/* The weights k^(-1 / (exponent - 1)) of k from 1 on, in an order that is drawn. */
static void power_weights(double *weight, int64_t count, double exponent, mcrt_random *random) {
    for (int64_t i = 0; i < count; i++)
        weight[i] = portable_exp(-portable_log((double)(i + 1)) / (exponent - 1));
    for (int64_t i = count - 1; i > 0; i--) {
        int64_t j = (int64_t)((random_next(random) >> 32) * (uint64_t)(i + 1) >> 32);
        double kept = weight[i];
        weight[i] = weight[j];
        weight[j] = kept;
    }
}

static void draw_lengths(double *length, const mc_power_law *p, mcrt_random *random) {
    if (p->row_law == MC_ROWS_POWER) power_weights(length, p->rows, p->exponent, random);
    for (int64_t row = 0; p->row_law == MC_ROWS_LEVEL && row < p->rows; row++)
        length[row] = fmax(1 + random_unit(random) * 2 * (p->degree - 1), 0);
    csr_fit_lengths(length, p->rows, (double)half_of(p->cols), p->degree * (double)p->rows, random);
}

static bool power_law(csr_builder *b, const void *of) {
    const mc_power_law *p = of;
    chooser c;
    mcrt_random random = random_start(p->seed, STREAM_POWER);
    double *length = mcrt_array(p->rows, sizeof *length), *weight = mcrt_array(p->cols, sizeof *weight);
    bool done = create_chooser(&c, p->cols) && length != NULL && weight != NULL;
    if (done) {
        power_weights(weight, p->cols, p->exponent, &random);
        draw_lengths(length, p, &random);
    }
    done = done && weigh_columns(&c, weight) && draw_rows(b, &c, &random, length);
    free_chooser(&c);
    free(weight);
    free(length);
    return done;
}

mc_status mc_csr_generate_power(const mc_power_law *p, mc_csr *csr, mc_diag *diag) {
    *csr = (mc_csr){0};
    mc_status status = check_shape(p->rows, p->cols, diag);
    if (status != MC_OK) return status;
    if (!(p->exponent >= 1.5 && p->exponent <= 100))
        return mc_fail(diag, MC_USAGE, "the exponent is %g, must be 1.5 to 100", p->exponent);
    if (!(p->degree >= 0 && p->degree <= (double)half_of(p->cols)))
        return mc_fail(diag, MC_USAGE,
                       "the degree is %g, must be 0 to %" PRId64 ", half of the %" PRId64 " columns",
                       p->degree, half_of(p->cols), p->cols);
    return csr_build(p->rows, p->cols, power_law, p, csr, diag);
}

/* -- Meshes */

/* The unknowns of the node at X, Y, Z: its first row and column. */
static int64_t first_unknown(const mc_mesh *m, int64_t x, int64_t y, int64_t z) {
    return ((z * m->nodes[1] + y) * m->nodes[0] + x) * m->dof;
}

static bool append_unknowns(csr_builder *b, const mc_mesh *m, int64_t first) {
    for (int64_t i = 0; i < m->dof; i++)
        if (!csr_append(b, (int32_t)(first + i))) return false;
    return true;
}

/* Whether the node that lies so many steps from another one is its neighbour. */
static bool is_neighbour(const mc_mesh *m, int dx, int dy, int dz) {
    return m->stencil == MC_STENCIL_BOX || abs(dx) + abs(dy) + abs(dz) <= 1;
}

static bool append_neighbours(csr_builder *b, const mc_mesh *m, const int64_t at[3]) {
    for (int step = 0; step < 27; step++) { /* x first, and so in the order of columns */
        const int64_t x = at[0] + step % 3 - 1, y = at[1] + step / 3 % 3 - 1, z = at[2] + step / 9 - 1;
        if (x < 0 || y < 0 || z < 0 || x >= m->nodes[0] || y >= m->nodes[1] || z >= m->nodes[2]) continue;
        if (!is_neighbour(m, step % 3 - 1, step / 3 % 3 - 1, step / 9 - 1)) continue;
        if (!append_unknowns(b, m, first_unknown(m, x, y, z))) return false;
    }
    return true;
}

static bool mesh(csr_builder *b, const void *of) {
    const mc_mesh *m = of;
    for (int64_t row = 0; row < b->csr.rows; row++) {
        const int64_t node = row / m->dof, layer = m->nodes[0] * m->nodes[1];
        const int64_t at[3] = {node % m->nodes[0], node / m->nodes[0] % m->nodes[1], node / layer};
        if (!append_neighbours(b, m, at)) return false;
        b->csr.row_ptr[row + 1] = b->csr.nnz;
    }
    return true;
}

mc_status mc_csr_generate_mesh(const mc_mesh *m, mc_csr *csr, mc_diag *diag) {
    int64_t rows = m->dof;
    *csr = (mc_csr){0};
    if (m->dof < 1) return mc_fail(diag, MC_USAGE, "%" PRId64 " unknowns a node: at least 1", m->dof);
    for (int i = 0; i < 3; i++) {
        if (m->nodes[i] < 1) return mc_fail(diag, MC_USAGE, "%" PRId64 " nodes: at least 1", m->nodes[i]);
        rows = mcrt_product(rows, m->nodes[i]);
    }
    if (rows < 0 || rows > INT32_MAX)
        return mc_fail(diag, MC_USAGE,
                       "a grid of %" PRId64 " x %" PRId64 " x %" PRId64 " nodes with %" PRId64
                       " unknowns: at most %d unknowns",
                       m->nodes[0], m->nodes[1], m->nodes[2], m->dof, INT32_MAX);
    return csr_build(rows, rows, mesh, m, csr, diag);
}

/* -- Blocks */

static bool append_run(csr_builder *b, int64_t first, int64_t end) {
    for (int64_t col = first; col < end; col++)
        if (!csr_append(b, (int32_t)col)) return false;
    return true;
}

/* The first row of a row of blocks. */
static bool draw_blocks(csr_builder *b, const mc_dense_blocks *p, mcrt_random *random) {
    const int64_t count = (p->cols + p->block_cols - 1) / p->block_cols;
    const double log_sparsity = csr_log_sparsity(p->sparsity);
    for (int64_t i = 0; (i = csr_next_kept(random, log_sparsity, i, count)) < count; i++) {
        const int64_t first = i * p->block_cols, room = p->cols - first;
        if (!append_run(b, first, first + (room < p->block_cols ? room : p->block_cols))) return false;
    }
    return true;
}

static bool copy_row(csr_builder *b, int64_t first, int64_t end) {
    for (int64_t i = first; i < end; i++)
        if (!csr_append(b, b->csr.col_idx[i])) return false;
    return true;
}

static bool dense_blocks(csr_builder *b, const void *of) {
    const mc_dense_blocks *p = of;
    int64_t *row_ptr = b->csr.row_ptr;
    mcrt_random random = random_start(p->seed, STREAM_BLOCKS);
    for (int64_t row = 0; row < p->rows; row++) {
        bool done = row % p->block_rows == 0 ? draw_blocks(b, p, &random)
                                             : copy_row(b, row_ptr[row - 1], row_ptr[row]);
        if (!done) return false;
        row_ptr[row + 1] = b->csr.nnz;
    }
    return true;
}

mc_status mc_csr_generate_blocks(const mc_dense_blocks *p, mc_csr *csr, mc_diag *diag) {
    *csr = (mc_csr){0};
    mc_status status = check_shape(p->rows, p->cols, diag);
    if (status != MC_OK) return status;
    if (p->block_rows < 1 || p->block_cols < 1 || p->block_rows > INT32_MAX || p->block_cols > INT32_MAX)
        return mc_fail(diag, MC_USAGE, "blocks of %" PRId64 " x %" PRId64 ": must be 1 to %d each way",
                       p->block_rows, p->block_cols, INT32_MAX);
    if (!(p->sparsity >= 0 && p->sparsity <= 1))
        return mc_fail(diag, MC_USAGE, "sparsity is %g, must be 0 to 1", p->sparsity);
    return csr_build(p->rows, p->cols, dense_blocks, p, csr, diag);
}

/* -- A heavy row */

/* LENGTH of all columns, any of them alike often: each is kept with the probability that as many are as are
   wanted of those that are left. */
static bool choose_columns(csr_builder *b, mcrt_random *random, int64_t length) {
    for (int64_t col = 0; col < b->csr.cols && length > 0; col++) {
        if (random_unit(random) * (double)(b->csr.cols - col) > (double)length) continue;
        length--;
        if (!csr_append(b, (int32_t)col)) return false;
    }
    return true;
}

/* Whole numbers around the degree, at most half of the columns, and how many they are. */
static int64_t level_lengths(double *length, const mc_heavy_row *p, int64_t heavy, mcrt_random *random) {
    int64_t total = 0;
    for (int64_t row = 0; row < p->rows; row++) {
        length[row] = fmin(floor(p->degree + (1 - random_unit(random))), (double)half_of(p->cols));
        if (row == heavy) length[row] = 0;
        total += (int64_t)length[row];
    }
    return total;
}

static bool heavy_row(csr_builder *b, const void *of) {
    const mc_heavy_row *p = of;
    chooser c;
    mcrt_random random = random_start(p->seed, STREAM_HEAVY);
    const int64_t heavy = (int64_t)((random_next(&random) >> 32) * (uint64_t)p->rows >> 32);
    double *length = mcrt_array(p->rows, sizeof *length);
    bool done = create_chooser(&c, p->cols) && length != NULL;
    int64_t most = done ? level_lengths(length, p, heavy, &random) : 0;
    for (int64_t row = 0; done && row < p->rows; row++) {
        done = row == heavy ? choose_columns(b, &random, most < p->cols ? most : p->cols)
                            : draw_row(b, &c, &random, row, (int64_t)length[row]);
        b->csr.row_ptr[row + 1] = b->csr.nnz;
    }
    free_chooser(&c);
    free(length);
    return done;
}

mc_status mc_csr_generate_heavy(const mc_heavy_row *p, mc_csr *csr, mc_diag *diag) {
    *csr = (mc_csr){0};
    mc_status status = check_shape(p->rows, p->cols, diag);
    if (status != MC_OK) return status;
    const double most = p->rows > 1 ? (double)p->cols / (double)(p->rows - 1) : 0;
    if (!(p->degree >= 0 && p->degree <= most))
        return mc_fail(diag, MC_USAGE,
                       "the degree is %g, must be 0 to %g: the heavy row would have more than %" PRId64
                       " nonzeros, one for each column",
                       p->degree, most, p->cols);
    return csr_build(p->rows, p->cols, heavy_row, p, csr, diag);
}
