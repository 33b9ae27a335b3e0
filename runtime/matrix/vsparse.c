#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/element.h"
#include "base/memory.h"
#include "base/real.h"
#include "matrix/panel_counts.h"
#include "matrix/random.h"
#include "matrix/vsparse.h"

mc_status mcrt_vsparse_outline(mc_type type, int vec, int64_t row_blocks, int64_t cols, int64_t vectors,
                               mc_vsparse *out, mc_diag *diag) {
    *out = (mc_vsparse){0};
    if (vec < 1) return mc_fail(diag, MC_USAGE, "vectors of %d elements: must be 1 or more", vec);
    mc_vsparse a = {.type = type,
                    .vec = vec,
                    .rows = mcrt_product(row_blocks, vec),
                    .cols = cols,
                    .row_blocks = row_blocks,
                    .vectors = vectors};
    a.row_ptr = mcrt_array(a.rows >= 0 && row_blocks < INT64_MAX ? row_blocks + 1 : -1, sizeof *a.row_ptr);
    if (a.row_ptr == NULL) return mcrt_no_memory(diag, row_blocks, "row blocks");
    *out = a;
    return MC_OK;
}

mc_status mcrt_vsparse_create(mc_type type, int vec, int64_t row_blocks, int64_t cols, int64_t vectors,
                              mc_vsparse *out, mc_diag *diag) {
    mc_status status = mcrt_vsparse_outline(type, vec, row_blocks, cols, vectors, out, diag);
    if (status != MC_OK) return status;
    out->col_idx = mcrt_array(vectors, sizeof *out->col_idx);
    out->values = mcrt_array(mc_type_size(type, mcrt_product(vectors, vec)), 1);
    if (out->col_idx && out->values) return MC_OK;
    mc_vsparse_free(out);
    return mcrt_no_memory(diag, vectors, "nonzero vectors");
}

int64_t mcrt_vsparse_longest(const mc_vsparse *a, int64_t first, int64_t count) {
    int64_t longest = 0;
    for (int64_t b = first; b < first + count; b++) {
        int64_t vectors = a->row_ptr[b + 1] - a->row_ptr[b];
        if (vectors > longest) longest = vectors;
    }
    return longest;
}

void mc_vsparse_free(mc_vsparse *a) {
    free(a->row_ptr);
    free(a->col_idx);
    free(a->values);
    free(a->source.col_idx);
    *a = (mc_vsparse){0};
}

mc_status mc_vsparse_dilate(const mc_csr *csr, int vec, mc_type type, mc_vsparse *out, mc_diag *diag) {
    mc_status status = mcrt_vsparse_create(type, vec, csr->rows, csr->cols, csr->nnz, out, diag);
    if (status != MC_OK) return status;
    memcpy(out->row_ptr, csr->row_ptr, (size_t)(csr->rows + 1) * sizeof *csr->row_ptr);
    memcpy(out->col_idx, csr->col_idx, (size_t)csr->nnz * sizeof *csr->col_idx);
    return MC_OK;
}

/* -- Union of row groups */

/* The rows of one group, each with a cursor to its first column not yet merged. */
typedef struct merge {
    const mc_csr *csr;
    int64_t first_row;
    int rows;        /* fewer than vec in the last group */
    int64_t *cursor; /* vec of them */
} merge;

static void start_group(merge *m, int64_t group, int vec) {
    m->first_row = group * vec;
    int64_t left = m->csr->rows - m->first_row;
    m->rows = left < vec ? (int)left : vec;
    for (int r = 0; r < m->rows; r++) m->cursor[r] = m->csr->row_ptr[m->first_row + r];
}

static bool at_column(const merge *m, int row, int32_t col) {
    int64_t cursor = m->cursor[row];
    return cursor < m->csr->row_ptr[m->first_row + row + 1] && m->csr->col_idx[cursor] == col;
}

/* The least column of the group not yet merged, or -1. Its rows' cursors move on, and MEMBERS, if not NULL,
   receives which rows had it. */
static int32_t next_column(merge *m, uint8_t *members) {
    int32_t least = -1;
    for (int r = 0; r < m->rows; r++) {
        int64_t cursor = m->cursor[r];
        if (cursor == m->csr->row_ptr[m->first_row + r + 1]) continue;
        int32_t col = m->csr->col_idx[cursor];
        if (least < 0 || col < least) least = col;
    }
    for (int r = 0; least >= 0 && r < m->rows; r++) {
        if (!at_column(m, r, least)) continue;
        m->cursor[r]++;
        if (members) members[r] = 1;
    }
    return least;
}

static int64_t count_columns(merge *m, int64_t groups, int vec) {
    int64_t count = 0;
    for (int64_t g = 0; g < groups; g++) {
        start_group(m, g, vec);
        while (next_column(m, NULL) >= 0) count++;
    }
    return count;
}

static void fill_columns(merge *m, mc_vsparse *out, uint8_t *mask) {
    int64_t vector = 0;
    for (int64_t g = 0; g < out->row_blocks; g++) {
        start_group(m, g, out->vec);
        for (;; vector++) {
            int32_t col = next_column(m, mask ? mask + vector * out->vec : NULL);
            if (col < 0) break;
            out->col_idx[vector] = col;
        }
        out->row_ptr[g + 1] = vector;
    }
}

static mc_status merge_groups(merge *m, int vec, mc_type type, mc_vsparse *out, uint8_t **mask,
                              mc_diag *diag) {
    int64_t groups = m->csr->rows / vec + (m->csr->rows % vec != 0);
    int64_t vectors = count_columns(m, groups, vec);
    mc_status status = mcrt_vsparse_create(type, vec, groups, m->csr->cols, vectors, out, diag);
    if (status != MC_OK) return status;
    if (mask && !(*mask = mcrt_array(mcrt_product(vectors, vec), 1))) {
        mc_vsparse_free(out);
        return mcrt_no_memory(diag, vectors, "nonzero vectors' mask");
    }
    fill_columns(m, out, mask ? *mask : NULL);
    return MC_OK;
}

mc_status mc_vsparse_union(const mc_csr *csr, int vec, mc_type type, mc_vsparse *out, double *fill,
                           uint8_t **mask, mc_diag *diag) {
    *out = (mc_vsparse){0};
    *fill = 0;
    if (mask) *mask = NULL;
    if (vec < 1) return mc_fail(diag, MC_USAGE, "vectors of %d elements: must be 1 or more", vec);
    merge m = {.csr = csr, .cursor = mcrt_array(vec, sizeof *m.cursor)};
    if (!m.cursor) return mcrt_no_memory(diag, vec, "rows of a row block");
    mc_status status = merge_groups(&m, vec, type, out, mask, diag);
    free(m.cursor);
    if (status != MC_OK) return status;
    *fill = out->vectors ? (double)csr->nnz / ((double)out->vectors * vec) : 1;
    return MC_OK;
}

/* -- Values */

int64_t mc_vsparse_value(const mc_vsparse *a, int64_t vector, int row) {
    return element_get(a->type, a->values, vector * a->vec + row);
}

void mc_vsparse_set_value(mc_vsparse *a, int64_t vector, int row, int64_t value) {
    element_set(a->type, a->values, vector * a->vec + row, value);
}

/* A masked value takes its random number too, so that the others do not depend on the mask. */
void mc_vsparse_fill(mc_vsparse *a, mc_value_law law, uint64_t seed, const uint8_t *mask) {
    mcrt_random random = random_start(seed, 0);
    for (int64_t i = 0; i < a->vectors * a->vec; i++) {
        int64_t value = random_value(&random, a->type, law);
        element_set(a->type, a->values, i, mask && !mask[i] ? 0 : value);
    }
}

void mc_vsparse_clamp(mc_vsparse *a, int64_t most) {
    for (int64_t i = 0; i < a->vectors * a->vec; i++)
        if (element_get(a->type, a->values, i) > most) element_set(a->type, a->values, i, most);
}

/* A matrix of f32 may be a mask. */
static const char *title_of(const mc_vsparse *a) { return a->type == MC_F32 ? "the matrix" : "A"; }

static mc_status check_real(const mc_vsparse *a, const mc_dense *dense, mc_diag *diag) {
    if (type_of_elements(dense->type) == type_of_elements(a->type)) return MC_OK;
    return mc_fail(diag, MC_FORMAT, "values of %s are %s, these are %s", title_of(a), mc_type_text(a->type),
                   mc_type_text(dense->type));
}

static mc_status check_range(const mc_vsparse *a, const mc_dense *dense, mc_diag *diag) {
    if (mc_type_is_real(a->type)) return check_real(a, dense, diag);
    if (mc_type_is_real(dense->type))
        return mc_fail(diag, MC_FORMAT, "values of A are integers, these are %s", mc_type_text(dense->type));
    int64_t least = mc_type_min(a->type), most = mc_type_max(a->type);
    for (int64_t i = 0; i < dense->rows; i++)
        for (int64_t j = 0; j < dense->cols; j++) {
            int64_t value = mc_dense_get(dense, i, j);
            if (value < least || value > most)
                return mc_fail(diag, MC_FORMAT,
                               "A[%" PRId64 "][%" PRId64 "] is %" PRId64 ", out of %s's range", i, j, value,
                               mc_type_text(a->type));
        }
    return MC_OK;
}

static mc_status check_outside(const mc_vsparse *a, const mc_dense *dense, mc_diag *diag) {
    for (int64_t i = 0; i < a->rows; i++) {
        int64_t vector = a->row_ptr[i / a->vec], end = a->row_ptr[i / a->vec + 1];
        for (int64_t j = 0; j < a->cols; j++) {
            double value = mc_dense_real(dense, i, j);
            if (vector < end && a->col_idx[vector] == j) vector++;
            else if (value != 0)
                return mc_fail(diag, MC_FORMAT,
                               "%s[%" PRId64 "][%" PRId64 "] is %.9g, but outside of the pattern",
                               a->type == MC_F32 ? "matrix" : "A", i, j, value);
        }
    }
    return MC_OK;
}

static void take_matrix(mc_vsparse *a, const mc_dense *dense) {
    for (int64_t block = 0; block < a->row_blocks; block++)
        for (int64_t v = a->row_ptr[block]; v < a->row_ptr[block + 1]; v++)
            for (int r = 0; r < a->vec; r++)
                mc_vsparse_set_value(a, v, r, mc_dense_get(dense, block * a->vec + r, a->col_idx[v]));
}

static void take_vectors(mc_vsparse *a, const mc_dense *dense) {
    for (int64_t v = 0; v < a->vectors; v++)
        for (int r = 0; r < a->vec; r++) mc_vsparse_set_value(a, v, r, mc_dense_get(dense, v, r));
}

mc_status mc_vsparse_take(mc_vsparse *a, const mc_dense *dense, mc_diag *diag) {
    return mc_vsparse_take_as(a, dense, MC_TAKE_BY_SHAPE, diag);
}

mc_status mc_vsparse_take_as(mc_vsparse *a, const mc_dense *dense, mc_take_order order, mc_diag *diag) {
    bool matrix = dense->rows == a->rows && dense->cols == a->cols && order != MC_TAKE_VECTORS;
    bool vectors = dense->rows == a->vectors && dense->cols == a->vec && order != MC_TAKE_MATRIX;
    if (!matrix && !vectors)
        return mc_fail(diag, MC_FORMAT,
                       "values are %" PRId64 " x %" PRId64 ", must be %" PRId64 " x %" PRId64
                       " (the matrix) or %" PRId64 " x %d (its nonzero vectors)",
                       dense->rows, dense->cols, a->rows, a->cols, a->vectors, a->vec);
    mc_status status = check_range(a, dense, diag);
    if (status == MC_OK && matrix) status = check_outside(a, dense, diag);
    if (status != MC_OK) return status;
    if (matrix) take_matrix(a, dense);
    else take_vectors(a, dense);
    return MC_OK;
}

/* -- Values of a CSR matrix */

/* Visits all entries with the vector of A that each lies in. */
static mc_status for_entries(mc_vsparse *a, const mc_csr *csr, void *user,
                             mc_status (*visit)(mc_vsparse *a, int64_t row, int64_t entry, int64_t vector,
                                                void *user)) {
    mc_status status = MC_OK;
    for (int64_t row = 0; row < csr->rows && status == MC_OK; row++) {
        int64_t vector = a->row_ptr[row / a->vec];
        for (int64_t i = csr->row_ptr[row]; i < csr->row_ptr[row + 1] && status == MC_OK; i++) {
            while (a->col_idx[vector] < csr->col_idx[i]) vector++;
            status = visit(a, row, i, vector, user);
        }
    }
    return status;
}

typedef struct taking {
    const mc_csr *csr;
    double scale;
    mc_diag *diag;
} taking;

/* VALUE cut off to a float whose last bit is set if anything was lost. Rounding that to a narrower float
   gives what rounding VALUE does. */
static float round_to_odd(double value) {
    float rounded = (float)value;
    uint32_t bits;
    if (isnan(value) || isinf(rounded) || (double)rounded == value) return rounded;
    if (fabs((double)rounded) > fabs(value)) rounded = nextafterf(rounded, 0);
    memcpy(&bits, &rounded, sizeof bits);
    bits |= 1;
    memcpy(&rounded, &bits, sizeof bits);
    return rounded;
}

/* The bits of the float of TYPE that is nearest to VALUE. */
static uint32_t nearest_real(mc_type type, double value) {
    bool narrow = mc_type_bits(type) < mc_type_bits(MC_F32);
    return real_to_bits(type, narrow ? round_to_odd(value) : (float)value);
}

/* Of a type without infinities the greatest number is nearest to whatever lies beyond it: up to half a unit
   of its last place that is a rounding. */
static bool is_beyond(mc_type type, double value) {
    const float_bits of = float_bits_of(type);
    uint32_t bits = nearest_real(type, value) & (uint32_t)of.magnitude;
    double nearest = (double)real_from_bits(type, bits);
    if (isinf(value) || isinf(nearest) || bits != of.most) return isinf(value) || isinf(nearest);
    return fabs(value) > nearest + (nearest - (double)real_from_bits(type, bits - 1)) / 2;
}

static mc_status check_entry(mc_vsparse *a, int64_t row, int64_t entry, int64_t vector, void *user) {
    const taking *t = user;
    double given = t->csr->values[entry];
    if (mc_type_is_real(a->type) && is_beyond(a->type, t->scale != 0 ? given / t->scale : given))
        return mc_fail(t->diag, MC_CANNOT, "entry (%" PRId64 ", %d) is %.9g, out of %s's range", row + 1,
                       t->csr->col_idx[entry] + 1, given, mc_type_text(a->type));
    if (mc_type_is_real(a->type)) return MC_OK;
    double value = rint(t->scale != 0 ? given / t->scale : given);
    (void)vector;
    if (t->scale == 0 && value != given)
        return mc_fail(t->diag, MC_CANNOT, "entry (%" PRId64 ", %d) is %.9g, no integer", row + 1,
                       t->csr->col_idx[entry] + 1, given);
    if (value >= (double)mc_type_min(a->type) && value <= (double)mc_type_max(a->type)) return MC_OK;
    return mc_fail(t->diag, MC_CANNOT, "entry (%" PRId64 ", %d) is %.9g, out of %s's range", row + 1,
                   t->csr->col_idx[entry] + 1, given, mc_type_text(a->type));
}

static mc_status take_entry(mc_vsparse *a, int64_t row, int64_t entry, int64_t vector, void *user) {
    const taking *t = user;
    double value = t->scale != 0 ? t->csr->values[entry] / t->scale : t->csr->values[entry];
    int r = (int)(row % a->vec);
    bool real = mc_type_is_real(a->type);
    mc_vsparse_set_value(a, vector, r, real ? nearest_real(a->type, value) : (int64_t)rint(value));
    return MC_OK;
}

mc_status mc_vsparse_take_csr(mc_vsparse *a, const mc_csr *csr, double scale, mc_diag *diag) {
    taking t = {csr, scale, diag};
    mc_status status = for_entries(a, csr, &t, check_entry);
    if (status != MC_OK) return status;
    memset(a->values, 0, (size_t)mc_type_size(a->type, a->vectors * a->vec));
    return for_entries(a, csr, &t, take_entry);
}

mc_problem mc_problem_of(const mc_vsparse *a, int64_t n, int64_t ldb) {
    mc_problem p = {.m = a->rows, .n = n, .k = a->cols, .ldb = ldb, .vectors = a->vectors};
    double blocks = a->row_blocks > 0 ? (double)a->row_blocks : 1, mean = (double)a->vectors / blocks,
           squares = 0;
    for (int64_t i = 0; i < a->row_blocks; i++) {
        int64_t vectors = a->row_ptr[i + 1] - a->row_ptr[i];
        double off = (double)vectors - mean;
        if (vectors > p.longest) p.longest = vectors;
        squares += off * off;
    }
    p.spread = sqrt(squares / blocks);
    panel_counts_of(a, &p.panels);
    p.span = column_span_of(a);
    return p;
}
