/* Sums of kernels that read csr-stream, in their order, to the bit (docs/unstructured.md).
 *
 * Each product is rounded. Lanes that share a row have neighbouring products of it, which each of them
 * adds up one after another, from +0 on. Then they add up in a tree. A row that has several items has 32
 * lanes in each of them, and the items' sums are added one after another. */
#include <math.h>
#include <stdlib.h>
#include "base/memory.h"
#include "base/real.h"
#include "formats/csr_stream.h"
#include "ops/reference.h"

enum { NAN_OF_GPU = 0x7fffffff /* what every operation of f32 makes that gives none of the numbers */ };

typedef struct stream_product {
    const mc_vsparse *a;
    const mc_dense *b;
    const mc_csr_stream *form;
    mc_dense *c;
    int64_t column; /* of B and C */
    float *items;   /* sums of the items that share the row at hand */
} stream_product;

static float product_of(const stream_product *p, int64_t i) {
    const float value = real_factor_value(p->a->type, mc_vsparse_value(p->a, i, 0));
    const float of_b = real_factor_value(p->b->type, mc_dense_get(p->b, p->a->col_idx[i], p->column));
    return value * of_b;
}

/* Nonzeros FROM to TO, which so many LANES share. Of a step of the tree that is wider than what is left only
   some lanes have a partner. */
static float add_lanes(const stream_product *p, int64_t from, int64_t to, int lanes) {
    float sum[CSR_WARP] = {0};
    for (int l = 0; l < lanes; l++)
        for (int64_t i = csr_stream_cut(to - from, l, lanes); i < csr_stream_cut(to - from, l + 1, lanes);
             i++)
            sum[l] += product_of(p, from + i);
    for (int distance = CSR_WARP / 2; distance >= 1; distance /= 2)
        for (int l = 0; l < distance && l + distance < lanes; l++) sum[l] += sum[l + distance];
    return sum[0];
}

static float add_warps(const float *sums, int warps) {
    float total = sums[0];
    for (int w = 1; w < warps; w++) total += sums[w];
    return total;
}

/* The row's nonzeros begin at FIRST. */
static float add_long(const stream_product *p, int64_t first, int64_t length) {
    const panel_sharing s = csr_stream_share(p->form, length);
    for (int64_t leaf = 0; leaf < s.pieces * s.parts; leaf++)
        p->items[leaf] = add_lanes(p, first + panels_cut(s, length, leaf),
                                   first + panels_cut(s, length, leaf + 1), CSR_WARP);
    float *last = &p->items[(s.pieces - 1) * s.parts];
    for (int w = 0; w < s.parts; w++)
        for (int64_t piece = w; piece < s.pieces - 1; piece += s.parts)
            last[w] += add_warps(&p->items[piece * s.parts], s.parts);
    return add_warps(last, s.parts);
}

static int64_t length_of(const mc_vsparse *a, int64_t row) { return a->row_ptr[row + 1] - a->row_ptr[row]; }

static void keep(const stream_product *p, int64_t row, float sum) {
    mc_dense_set(p->c, row, p->column, isnan(sum) ? NAN_OF_GPU : real_to_bits(MC_F32, sum));
}

static void add_column(const stream_product *p) {
    const mc_vsparse *a = p->a;
    for (int64_t first = 0, end; first < a->rows; first = end) {
        end = first + 1;
        if (length_of(a, first) > csr_stream_slots(p->form)) {
            keep(p, first, add_long(p, a->row_ptr[first], length_of(a, first)));
            continue;
        }
        end = csr_stream_end(p->form, a, first);
        const int64_t most = csr_stream_most(a, first, end);
        for (int64_t row = first; row < end; row++)
            keep(p, row,
                 add_lanes(p, a->row_ptr[row], a->row_ptr[row + 1],
                           csr_stream_lanes(length_of(a, row), most)));
    }
}

static mc_status check(const mc_vsparse *a, const mc_dense *b, mc_diag *diag) {
    mc_status status = reference_check_spmm(a, b, diag);
    if (status != MC_OK || (mc_type_is_real(a->type) && a->type == b->type && a->vec == 1)) return status;
    return mc_fail(diag, MC_CANNOT,
                   "A is %s with vec = %d, B is %s: the order of csr-stream is of floats of one type",
                   mc_type_text(a->type), a->vec, mc_type_text(b->type));
}

/* Sums of as many items as any row has. */
static mc_status make_room(stream_product *p, mc_diag *diag) {
    int64_t most = 1;
    for (int64_t row = 0; row < p->a->rows; row++) {
        const panel_sharing s = csr_stream_share(p->form, length_of(p->a, row));
        if (s.pieces * s.parts > most) most = s.pieces * s.parts;
    }
    p->items = mcrt_array(most, sizeof *p->items);
    return p->items != NULL ? MC_OK : mcrt_no_memory(diag, most, "items of a row");
}

mc_status mc_reference_spmm_stream_ordered(const mc_vsparse *a, const mc_dense *b, const mc_csr_stream *form,
                                           mc_dense *c, mc_diag *diag) {
    stream_product p = {.a = a, .b = b, .form = form, .c = c};
    *c = (mc_dense){0};
    mc_status status = csr_stream_check_form(form, diag);
    if (status == MC_OK) status = check(a, b, diag);
    if (status == MC_OK) status = make_room(&p, diag);
    if (status == MC_OK) status = mc_dense_create(MC_F32, a->rows, b->cols, b->cols, c, diag);
    for (; status == MC_OK && p.column < b->cols; p.column++) add_column(&p);
    free(p.items);
    return status;
}
