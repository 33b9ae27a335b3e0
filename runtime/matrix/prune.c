#include "matrix/prune.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "base/memory.h"

/* One byte for each vector of the dense matrix, block by block: whether it is kept. */
typedef struct choice {
    int64_t blocks, cols, kept;
    uint8_t *keep;
} choice;

/* -- Which vectors */

static double element(const mc_dense *dense, int64_t row, int64_t col) {
    return row < dense->rows ? mc_dense_real(dense, row, col) : 0;
}

static double worth(const mc_dense *dense, const mc_prune_config *config, int64_t block, int64_t col) {
    double sum = 0;
    for (int r = 0; r < config->vec; r++) {
        double value = element(dense, block * config->vec + r, col);
        sum += config->by == MC_PRUNE_L2 ? value * value : fabs(value);
    }
    return sum;
}

static int descending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static mc_status choose_by_worth(const mc_dense *dense, const mc_prune_config *config, choice *c,
                                 mc_diag *diag) {
    int64_t vectors = mcrt_product(c->blocks, c->cols), above = 0;
    double *worths = mcrt_array(vectors, sizeof *worths), *sorted = mcrt_array(vectors, sizeof *sorted);
    if (worths != NULL && sorted != NULL) {
        for (int64_t i = 0; i < vectors; i++)
            sorted[i] = worths[i] = worth(dense, config, i / c->cols, i % c->cols);
        qsort(sorted, (size_t)vectors, sizeof *sorted, descending);
        c->kept = (int64_t)rint((1 - config->sparsity) * (double)vectors);
        double least = c->kept > 0 ? sorted[c->kept - 1] : INFINITY;
        while (above < c->kept && sorted[above] > least) above++;
        int64_t equal = c->kept - above;
        for (int64_t i = 0; i < vectors; i++)
            c->keep[i] = worths[i] > least || (worths[i] == least && equal-- > 0);
    }
    bool room = worths != NULL && sorted != NULL;
    free(worths);
    free(sorted);
    return room ? MC_OK : mcrt_no_memory(diag, vectors, "vectors");
}

static mc_status choose_by_mask(const mc_dense *dense, const mc_prune_config *config, choice *c,
                                mc_diag *diag) {
    const mc_csr *mask = config->mask;
    if (mask->rows != dense->rows || mask->cols != dense->cols)
        return mc_fail(diag, MC_USAGE,
                       "the mask is %" PRId64 " x %" PRId64 ", the matrix %" PRId64 " x %" PRId64, mask->rows,
                       mask->cols, dense->rows, dense->cols);
    for (int64_t row = 0; row < mask->rows; row++)
        for (int64_t i = mask->row_ptr[row]; i < mask->row_ptr[row + 1]; i++) {
            uint8_t *keep = &c->keep[row / config->vec * c->cols + mask->col_idx[i]];
            c->kept += !*keep;
            *keep = 1;
        }
    return MC_OK;
}

static mc_status check(const mc_dense *dense, const mc_prune_config *config, mc_diag *diag) {
    if (config->vec < 1)
        return mc_fail(diag, MC_USAGE, "vectors of %d elements: must be 1 or more", config->vec);
    if (!(config->sparsity >= 0 && config->sparsity <= 1))
        return mc_fail(diag, MC_USAGE, "a sparsity of %g: must be 0 to 1", config->sparsity);
    if (mc_type_is_real(config->type) || mc_type_min(config->type) >= 0)
        return mc_fail(diag, MC_USAGE, "%s: values are quantised to signed integers",
                       mc_type_text(config->type));
    for (int64_t i = 0; i < dense->rows; i++)
        for (int64_t j = 0; j < dense->cols; j++)
            if (!isfinite(mc_dense_real(dense, i, j)))
                return mc_fail(diag, MC_CANNOT, "element [%" PRId64 "][%" PRId64 "] is %g", i, j,
                               mc_dense_real(dense, i, j));
    return MC_OK;
}

/* -- Values */

static mc_status place_vectors(const mc_prune_config *config, const choice *c, mc_vsparse *a, mc_diag *diag) {
    mc_status status = mcrt_vsparse_create(config->type, config->vec, c->blocks, c->cols, c->kept, a, diag);
    int64_t at = 0;
    for (int64_t block = 0; status == MC_OK && block < c->blocks; block++) {
        for (int64_t col = 0; col < c->cols; col++)
            if (c->keep[block * c->cols + col]) a->col_idx[at++] = (int32_t)col;
        a->row_ptr[block + 1] = at;
    }
    return status;
}

/* Calls VISIT for each element of A's vectors. */
static void for_kept(const mc_dense *dense, mc_pruned *p,
                     void (*visit)(mc_pruned *p, int64_t vector, int64_t row, double value)) {
    const mc_vsparse *a = &p->a;
    for (int64_t block = 0; block < a->row_blocks; block++)
        for (int64_t v = a->row_ptr[block]; v < a->row_ptr[block + 1]; v++)
            for (int64_t row = block * a->vec; row < (block + 1) * a->vec; row++)
                visit(p, v, row, element(dense, row, a->col_idx[v]));
}

static float *scale_of(const mc_pruned *p, int64_t row) {
    return (float *)p->scales.data + (p->scales.cols > 1 ? row : 0);
}

/* Scales are the greatest magnitudes at first. */
static void reach(mc_pruned *p, int64_t vector, int64_t row, double value) {
    float *scale = scale_of(p, row);
    (void)vector;
    if ((float)fabs(value) > *scale) *scale = (float)fabs(value);
    p->energy += value * value;
}

static void quantise(mc_pruned *p, int64_t vector, int64_t row, double value) {
    double most = (double)mc_type_max(p->a.type), q = rint(value / (double)*scale_of(p, row));
    mc_vsparse_set_value(&p->a, vector, (int)(row % p->a.vec), (int64_t)fmax(-most, fmin(most, q)));
}

static void make_values(const mc_dense *dense, mc_pruned *p) {
    double all = 0;
    for_kept(dense, p, reach);
    for (int64_t i = 0; i < p->scales.cols; i++) {
        float *scale = (float *)p->scales.data + i;
        *scale /= (float)mc_type_max(p->a.type);
        if (*scale < 0x1p-126F) *scale = 0x1p-126F;
    }
    for_kept(dense, p, quantise);
    for (int64_t i = 0; i < dense->rows; i++)
        for (int64_t j = 0; j < dense->cols; j++) all += element(dense, i, j) * element(dense, i, j);
    p->energy = all > 0 ? p->energy / all : 1;
}

mc_status mc_prune(const mc_dense *dense, const mc_prune_config *config, mc_pruned *out, mc_diag *diag) {
    *out = (mc_pruned){.energy = 0};
    mc_status status = check(dense, config, diag);
    if (status != MC_OK) return status;
    choice c = {.blocks = (dense->rows + config->vec - 1) / config->vec, .cols = dense->cols};
    int64_t rows = c.blocks * config->vec, scales = config->scale_rows ? rows : 1;
    c.keep = mcrt_array(mcrt_product(c.blocks, c.cols), 1);
    if (c.keep == NULL) return mcrt_no_memory(diag, mcrt_product(c.blocks, c.cols), "vectors");
    status = config->mask != NULL ? choose_by_mask(dense, config, &c, diag)
                                  : choose_by_worth(dense, config, &c, diag);
    if (status == MC_OK) status = place_vectors(config, &c, &out->a, diag);
    if (status == MC_OK) status = mc_dense_create(MC_F32, 1, scales, scales, &out->scales, diag);
    if (status == MC_OK) make_values(dense, out);
    free(c.keep);
    if (status != MC_OK) mc_pruned_free(out);
    return status;
}

void mc_pruned_free(mc_pruned *pruned) {
    mc_vsparse_free(&pruned->a);
    mc_dense_free(&pruned->scales);
    *pruned = (mc_pruned){.energy = 0};
}
