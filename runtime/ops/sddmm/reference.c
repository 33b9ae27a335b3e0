/* The CPU reference of the SDDMM: each element of C is the product of a row of A and a column of B, both
   brought side by side along k first. */
#include <inttypes.h>
#include <stdlib.h>
#include "base/memory.h"
#include "ops/reference.h"

typedef struct sides {
    const mc_vsparse *mask;
    const mc_dense *a, *b;
    mc_layout layout;
    int64_t k;
    const arithmetic *of;
} sides;

/* Rows of A and columns of B, made wide, and room for a row block's rows, side by side. */
typedef struct wide_lines {
    char *a, *b;
    float *panel;
} wide_lines;

/* COUNT lines of k values each, made wide, one after another: rows of a matrix, or columns if BY_COLUMNS.
   NULL: no memory. */
static char *widen(const sides *s, const sum_loops *loops, const mc_dense *from, bool by_columns,
                   int64_t count) {
    char *lines = mcrt_array(mcrt_product(count, s->k), loops->wide);
    int64_t line_step = by_columns ? 1 : from->ld, step = by_columns ? from->ld : 1;
    for (int64_t line = 0; lines && line < count; line++)
        loops->widen(from->type, from->data, line * line_step, step, s->k,
                     lines + (size_t)(line * s->k) * loops->wide);
    return lines;
}

/* Rows of K floats each, COUNT of them, side by side for each k. */
static void interleave(const float *rows, int count, int64_t k, float *panel) {
    for (int r = 0; r < count; r++)
        for (int64_t i = 0; i < k; i++) panel[i * count + r] = rows[r * k + i];
}

/* A row block's sums, one after another. */
static bool sample_block(const sides *s, const sum_loops *loops, int64_t block, const wide_lines *of,
                         mc_dense *sums) {
    const mc_vsparse *mask = s->mask;
    size_t line = (size_t)s->k * loops->wide, element = mc_type_bytes(sums->type);
    for (int64_t v = mask->row_ptr[block]; v < mask->row_ptr[block + 1]; v++)
        for (int64_t r = 0; r < mask->vec; r++) {
            const char *row = of->a + (size_t)(block * mask->vec + r) * line;
            char *sum = (char *)sums->data + (size_t)(v * mask->vec + r) * element;
            if (!loops->dot(row, of->b + (size_t)mask->col_idx[v] * line, s->k, sum)) return false;
        }
    return true;
}

/* The same where the arithmetic does many at once. False: it does not. */
static bool sample_at_once(const sides *s, const sum_loops *loops, int64_t block, const wide_lines *of,
                           mc_dense *sums) {
    const mc_vsparse *mask = s->mask;
    int64_t first = mask->row_ptr[block];
    const void *rows = of->a, *columns = of->b; /* of f32 */
    if (of->panel == NULL) return false;
    interleave((const float *)rows + block * mask->vec * s->k, mask->vec, s->k, of->panel);
    const sampled_product product = {.panel = of->panel,
                                     .columns = columns,
                                     .places = mask->col_idx + first,
                                     .count = mask->row_ptr[block + 1] - first,
                                     .k = s->k,
                                     .vec = mask->vec,
                                     .sums = (float *)sums->data + first * mask->vec};
    return loops->sample(&product);
}

static mc_status sample_lines(const sides *s, const sum_loops *loops, const wide_lines *of, mc_dense *sums,
                              mc_diag *diag) {
    for (int64_t block = 0; block < s->mask->row_blocks; block++)
        if (!sample_at_once(s, loops, block, of, sums) && !sample_block(s, loops, block, of, sums))
            return mc_fail(diag, MC_CANNOT, "a sum of row block %" PRId64 " leaves int64", block);
    return MC_OK;
}

static mc_status sample(const sides *s, const sum_loops *loops, mc_dense *sums, mc_diag *diag) {
    bool panel = loops->sample != NULL;
    wide_lines of = {.a = widen(s, loops, s->a, false, s->mask->rows),
                     .b = widen(s, loops, s->b, s->layout == MC_LAYOUT_ROWS, s->mask->cols),
                     .panel = panel ? mcrt_array(mcrt_product(s->mask->vec, s->k), sizeof(float)) : NULL};
    mc_status status =
        of.a && of.b && (of.panel || !panel)
            ? MC_OK
            : mcrt_no_memory(diag, s->k, "elements in each row of A and column of B, made wider");
    if (status == MC_OK) status = sample_lines(s, loops, &of, sums, diag);
    free(of.a);
    free(of.b);
    free(of.panel);
    return status;
}

mc_status reference_check_sddmm(const mc_vsparse *mask, const mc_dense *a, const mc_dense *b,
                                mc_layout layout, mc_diag *diag) {
    int64_t n = mc_layout_n(layout, b), k = mc_layout_k(layout, b);
    if (a->rows != mask->rows || n != mask->cols)
        return mc_fail(diag, MC_USAGE,
                       "the mask is %" PRId64 " x %" PRId64 ", A has %" PRId64 " rows, B %" PRId64 " columns",
                       mask->rows, mask->cols, a->rows, n);
    if (a->cols != k)
        return mc_fail(diag, MC_USAGE, "A has %" PRId64 " columns, B has %" PRId64 " rows", a->cols, k);
    return MC_OK;
}

static mc_status check_sides(sides *s, mc_diag *diag) {
    mc_status status = reference_check_sddmm(s->mask, s->a, s->b, s->layout, diag);
    if (status != MC_OK) return status;
    return arithmetic_of_product(s->a->type, s->b->type, &s->of, diag);
}

mc_status mc_reference_sddmm(const mc_vsparse *mask, const mc_dense *a, const mc_dense *b, mc_layout layout,
                             mc_dense *sums, mc_diag *diag) {
    sides s = {mask, a, b, layout, a->cols, NULL};
    *sums = (mc_dense){0};
    mc_status status = check_sides(&s, diag);
    if (status == MC_OK)
        status = mc_dense_create(s.of->sums, mask->vectors, mask->vec, mask->vec, sums, diag);
    if (status == MC_OK) status = sample(&s, s.of->loops(a->type, b->type), sums, diag);
    if (status != MC_OK) mc_dense_free(sums);
    return status;
}

mc_status mc_reference_sddmm_bounds(const mc_vsparse *mask, const mc_dense *a, const mc_dense *b,
                                    mc_layout layout, mc_dense *bounds, mc_diag *diag) {
    sides s = {mask, a, b, layout, a->cols, NULL};
    *bounds = (mc_dense){0};
    mc_status status = check_sides(&s, diag);
    if (status == MC_OK) status = mc_dense_create(MC_F32, mask->vectors, mask->vec, mask->vec, bounds, diag);
    if (status != MC_OK || s.of->bound == NULL) return status;
    status = sample(&s, s.of->magnitude_loops(a->type, b->type), bounds, diag);
    if (status == MC_OK) reference_bound(s.of, s.k, bounds->data, mask->vectors * mask->vec);
    else mc_dense_free(bounds);
    return status;
}
