/* Sums of floats in the order of kernels, to the bit (docs/gemm.md): each wgmma, or mma, adds the products of
 * A's next few elements to the sum. Of a 2:4 A these are the ones that it keeps.
 * What lies behind the last one is +0, which changes no bit of a sum. Kernels that split k have such a sum of
 * each part, and add these up; so have those that deal out the last tiles along k. */
#include <inttypes.h>
#include <math.h>
#include "arithmetic/mma_sum.h"
#include "base/real.h"
#include "matrix/sparse24_groups.h"
#include "ops/gemm/pieces.h"
#include "ops/gemm/scaled.h"

typedef struct ordered {
    const mc_dense *a;        /* dense */
    const mc_vsparse *filled; /* 2:4, with all that it keeps; each row keeps as much */
    const mc_dense *b;
    mc_layout layout;
    mma_form form;
    mc_gemm_order order;
    int64_t terms; /* of a row */
    int64_t stage; /* terms of which a part has a multiple, but for the last one */
    gemm_pieces pieces;
} ordered;

enum { STAGE_BYTES = 128 };

/* -- Parts */

/* The first term of part PART; that of the next one is its end. */
static int64_t part_begin(const ordered *o, int part) {
    const int64_t stages = (o->terms + o->stage - 1) / o->stage, more = stages % o->order.parts;
    const int64_t first = part * (stages / o->order.parts) + (part < more ? part : more);
    return first * o->stage < o->terms ? first * o->stage : o->terms;
}

/* What is multiplied: of tf32 the rounded value. */
static uint32_t factor(mc_type type, int64_t element) { return mma_factor(type, type, element); }

/* Term INDEX of ROW: an element of A, and where it stands in k. */
static uint32_t take_term(const ordered *o, int64_t row, int64_t index, int64_t *k) {
    *k = index;
    if (o->filled == NULL) return factor(o->a->type, mc_dense_get(o->a, row, index));
    const int64_t vector = o->filled->row_ptr[row] + index;
    *k = o->filled->col_idx[vector];
    return factor(o->filled->type, mc_vsparse_value(o->filled, vector, 0));
}

/* The sum of the products of terms from FROM on, below END. */
static uint32_t sum_of(const ordered *o, int64_t row, int64_t column, int64_t from, int64_t end) {
    const bool rows = o->layout == MC_LAYOUT_ROWS;
    uint32_t sum = 0;
    for (int64_t first = from; first < end; first += o->form.k) {
        uint32_t a[MMA_MOST_PRODUCTS] = {0}, b[MMA_MOST_PRODUCTS] = {0};
        for (int i = 0; i < o->form.k && first + i < end; i++) {
            int64_t k;
            a[i] = take_term(o, row, first + i, &k);
            b[i] = factor(o->b->type, mc_dense_get(o->b, rows ? k : column, rows ? column : k));
        }
        sum = (o->order.method == MC_GEMM_MMA ? mma_sum : wgmma_sum)(&o->form, a, b, sum);
    }
    return sum;
}

/* TOTAL and the SUM of the stage that begins at term FIRST, times its scale where there are any. */
static uint32_t promote(const ordered *o, int64_t row, int64_t column, int64_t first, uint32_t sum,
                        uint32_t total) {
    const block_scales scales = {o->order.a_blocks, o->order.b_blocks, o->order.a_blocks_major};
    if (scales.a_blocks == NULL) return mma_add_sums(total, sum);
    const float scale = block_scale(&scales, row, column, first / GEMM_BLOCK);
    const float scaled = fmaf(real_from_bits(MC_F32, sum), scale, real_from_bits(MC_F32, total));
    return isnan(scaled) ? 0x7fffffff : real_to_bits(MC_F32, scaled);
}

/* The same; promoted, of the sums of stages. */
static uint32_t part_sum(const ordered *o, int64_t row, int64_t column, int64_t from, int64_t end) {
    uint32_t total = 0;
    if (o->order.sums != MC_SUMS_PROMOTED) return sum_of(o, row, column, from, end);
    for (int64_t first = from; first < end; first += o->stage) {
        const int64_t next = first + o->stage < end ? first + o->stage : end;
        total = promote(o, row, column, first, sum_of(o, row, column, first, next), total);
    }
    return total;
}

static uint32_t parts_sum(const ordered *o, int64_t row, int64_t column) {
    uint32_t sum = part_sum(o, row, column, 0, part_begin(o, 1));
    for (int part = 1; part < o->order.parts; part++)
        sum = mma_add_sums(sum, part_sum(o, row, column, part_begin(o, part), part_begin(o, part + 1)));
    return sum;
}

/* The sum of the stages from FROM on, below END. */
static uint32_t piece_sum(const ordered *o, int64_t row, int64_t column, int64_t from, int64_t end) {
    const int64_t last = end * o->stage;
    return part_sum(o, row, column, from * o->stage, last < o->terms ? last : o->terms);
}

static uint32_t pieces_sum(const ordered *o, int64_t row, int64_t column) {
    int64_t at = gemm_piece_end(&o->pieces, row, column, 0);
    uint32_t sum = piece_sum(o, row, column, 0, at);
    while (at < o->pieces.stages) {
        int64_t end = gemm_piece_end(&o->pieces, row, column, at);
        sum = mma_add_sums(sum, piece_sum(o, row, column, at, end));
        at = end;
    }
    return sum;
}

static uint32_t element(const ordered *o, int64_t row, int64_t column) {
    const bool stream = o->order.stream.blocks > 0;
    uint32_t sum = stream ? pieces_sum(o, row, column) : parts_sum(o, row, column);
    if (o->order.sums != MC_SUMS_F16) return sum;
    return real_to_bits(MC_F32, real_from_bits(MC_F16, sum));
}

/* -- The whole */

static bool is_scales(const mc_dense *scales, int64_t rows, int64_t cols) {
    return scales->type == MC_F32 && scales->rows == rows && scales->cols == cols;
}

static mc_status check_scales(const ordered *o, mc_diag *diag) {
    const mc_gemm_order *order = &o->order;
    const bool columns = order->a_blocks_major == MC_MAJOR_COLUMN;
    if (order->a_blocks == NULL && order->b_blocks == NULL) return MC_OK;
    if (order->sums != MC_SUMS_PROMOTED || o->stage != GEMM_BLOCK || o->filled != NULL)
        return mc_fail(diag, MC_CANNOT,
                       "scales of blocks are those of a dense product of floats of 8 bits, whose sums are "
                       "promoted");
    const int64_t m = o->a->rows, n = mc_layout_n(o->layout, o->b), k = gemm_blocks(o->terms);
    if (order->a_blocks != NULL && order->b_blocks != NULL &&
        is_scales(order->a_blocks, columns ? k : m, columns ? m : k) &&
        is_scales(order->b_blocks, gemm_blocks(n), k))
        return MC_OK;
    return mc_fail(diag, MC_USAGE,
                   "scales of blocks must be f32, %" PRId64 " x %" PRId64 " and %" PRId64 " x %" PRId64, m, k,
                   gemm_blocks(n), k);
}

static bool is_stream_legal(const mc_gemm_order *order) {
    const mc_gemm_stream *s = &order->stream;
    return order->parts == 1 && s->tile_m > 0 && s->tile_n > 0 && s->group > 0;
}

/* What follows of the type and the shape of A. */
static mc_status begin(ordered *o, mc_type a, int64_t cols, mc_diag *diag) {
    int64_t k = mc_layout_k(o->layout, o->b);
    bool cuts = o->order.method == MC_GEMM_WGMMA && a == MC_TF32; /* where this project rounds */
    bool halves = o->order.sums == MC_SUMS_F16;
    if (o->order.parts < 1) return mc_fail(diag, MC_USAGE, "%d parts of k", o->order.parts);
    if (o->order.stream.blocks > 0 && !is_stream_legal(&o->order))
        return mc_fail(diag, MC_USAGE, "tiles of %d x %d in groups of %d, dealt out along k, of %d parts",
                       o->order.stream.tile_m, o->order.stream.tile_n, o->order.stream.group, o->order.parts);
    if (halves && (o->order.parts > 1 || o->order.stream.blocks > 0 || a != MC_F16))
        return mc_fail(diag, MC_CANNOT, "sums of f16 are those of f16, of which k is not split");
    if (cols != k)
        return mc_fail(diag, MC_USAGE, "A has %" PRId64 " columns, B has %" PRId64 " rows", cols, k);
    if (!mma_form_of(a, o->b->type, &o->form) || cuts)
        return mc_fail(diag, MC_CANNOT, "A is %s, B is %s: no mma adds up products of these in f32",
                       mc_type_text(a), mc_type_text(o->b->type));
    if (halves) o->form.sum = MMA_F16;
    o->stage = STAGE_BYTES * 8 / mc_type_bits(a);
    return check_scales(o, diag);
}

static mc_status add_up(ordered *o, int64_t rows, mc_dense *sums, mc_diag *diag) {
    int64_t n = mc_layout_n(o->layout, o->b);
    o->pieces = (gemm_pieces){o->order.stream, rows, n, (o->terms + o->stage - 1) / o->stage};
    mc_status status = mc_dense_create(MC_F32, rows, n, n, sums, diag);
    for (int64_t i = 0; status == MC_OK && i < rows; i++)
        for (int64_t j = 0; j < n; j++) mc_dense_set(sums, i, j, element(o, i, j));
    return status;
}

mc_status mc_reference_gemm_ordered(const mc_dense *a, const mc_dense *b, mc_layout layout,
                                    const mc_gemm_order *order, mc_dense *sums, mc_diag *diag) {
    ordered o = {.a = a, .b = b, .layout = layout, .order = *order, .terms = a->cols};
    *sums = (mc_dense){0};
    mc_status status = begin(&o, a->type, a->cols, diag);
    return status == MC_OK ? add_up(&o, a->rows, sums, diag) : status;
}

mc_status mc_reference_gemm24_ordered(const mc_vsparse *a, const mc_dense *b, mc_layout layout,
                                      const mc_gemm_order *order, mc_dense *sums, mc_diag *diag) {
    mc_vsparse filled = {0};
    ordered o = {.filled = &filled, .b = b, .layout = layout, .order = *order};
    *sums = (mc_dense){0};
    mc_status status = begin(&o, a->type, a->cols, diag);
    if (status == MC_OK) status = sparse24_fill(a, &filled, diag);
    if (status == MC_OK && a->rows > 0) o.terms = filled.row_ptr[1];
    if (status == MC_OK) status = add_up(&o, a->rows, sums, diag);
    mc_vsparse_free(&filled);
    return status;
}
