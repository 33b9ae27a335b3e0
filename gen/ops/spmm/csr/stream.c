/* The field `stream`: the nonzeros of several rows side by side.
 *
 * A warp's lanes read the nonzeros of its rows as they lie, whatever rows they are of, and put the products
 * in the warp's part of shared memory. Then 1 to 32 lanes share a row, a power of two of them, so many that
 * all rows have lanes. Each adds up neighbouring products, and the lanes add up in a tree.
 *
 * A stride of 32 products has 33 words. So lanes whose products begin a multiple of 8 apart, as those of rows
 * of 8, 16, 32 ... nonzeros do, read different banks. */
#include "ops/spmm/csr/emit.h"
#include "parts/fragment.h"

enum { AT_ONCE = 4 /* products that a lane loads before it adds them */ };

/* Lanes without a row have one of no nonzeros. */
void spmm_csr_declare_stream(csr_emitter *e) {
    mc_builder *b = e->b;
    e->stream = (csr_stream){.shift = carried(b, "lanes_shift", I(0)),
                             .part = carried(b, "row_part", I(0)),
                             .row_first = carried(b, "row_first", I(0)),
                             .length = carried(b, "row_length", I(0)),
                             .stores = pred(b, "stores")};
}

void spmm_csr_find_stream(csr_emitter *e, const mc_reg *words) {
    mc_builder *b = e->b;
    csr_stream *s = &e->stream;
    mc_reg lane = e->at.place.lane;
    note(b, "word 1: how many rows, the logarithm of the lanes that share one, how many nonzeros");
    mc_reg rows = and_b32(b, "item_rows", words[1], I((1 << CSR_LANES_SHIFT) - 1));
    mc_reg count = shr_u32(b, "item_nonzeros", words[1], I(CSR_NONZEROS_SHIFT));
    mc_reg from_shift = shr_u32(b, "from_shift", words[1], I(CSR_LANES_SHIFT));
    EMIT(b, and_b32, s->shift, from_shift, I((1 << (CSR_NONZEROS_SHIFT - CSR_LANES_SHIFT)) - 1));
    mc_reg number = shr_u32(b, "row_number", lane, s->shift), before = shl_b32(b, "before", number, s->shift);
    EMIT(b, sub_s32, s->part, lane, before);
    EMIT(b, setp_lt, e->in_rows, number, rows);
    EMIT(b, setp_lt_and, s->stores, s->part, I(1), e->in_rows);
    EMIT(b, add_s32, e->row, words[0], number);
    EMIT(b, mov_b32, e->first, words[2]);
    EMIT(b, add_s32, e->last, e->first, count);
    note(b, "where this lane's row lies: it is under way while the nonzeros are");
    mc_reg at = mad_wide(b, "row_ptr_at", e->row, I(WORD), load_array(b, "row_ptr"));
    EMIT_IF(b, e->in_rows, ldr_b32, s->row_first, AT(at, 0));
    EMIT_IF(b, e->in_rows, ldr_b32, s->length, AT(at, WORD));
}

/* Of COUNT products, what part PART has begins here. */
static void emit_cut(const csr_stream *s, mc_builder *b, mc_reg cut, mc_reg part, mc_reg begin) {
    EMIT(b, mul_s32, cut, s->length, part);
    EMIT(b, shr_u32, cut, cut, s->shift);
    EMIT(b, add_s32, cut, cut, begin);
}

/* Adds products NEXT to END, without the last, to the sum. */
static void add_products(csr_emitter *e, mc_reg products, mc_reg next, mc_reg end) {
    mc_builder *b = e->b;
    mc_label again = label(b, "ADD"), done = label(b, "ADDED");
    mc_reg has[AT_ONCE], product[AT_ONCE], at[AT_ONCE], left = b32(b, "products_left");
    pred_array(b, "has_product", AT_ONCE, has);
    b32_array(b, "product", AT_ONCE, product);
    b32_array(b, "at", AT_ONCE, at);
    for (int i = 0; i < AT_ONCE; i++) EMIT(b, mov_b32, product[i], I(0));
    set_label(b, again);
    EMIT(b, sub_s32, left, end, next);
    for (int i = 0; i < AT_ONCE; i++) EMIT(b, setp_gt, has[i], left, I(i));
    EMIT_IF(b, NOT(has[0]), bra, TO(done));
    mc_reg place = b32(b, "place");
    for (int i = 0; i < AT_ONCE; i++) {
        EMIT(b, add_s32, place, next, I(i));
        EMIT(b, shr_u32, at[i], place, I(log2_of(CSR_STRIDE)));
        EMIT(b, add_s32, place, place, at[i]);
        EMIT(b, mad_s32, at[i], place, I(WORD), products);
        EMIT_IF(b, has[i], lds_b32, product[i], AT(at[i], 0));
    }
    for (int i = 0; i < AT_ONCE; i++) EMIT_IF(b, has[i], add_f32, e->sum[0], e->sum[0], product[i]);
    EMIT(b, add_s32, next, next, I(AT_ONCE));
    EMIT(b, bra, TO(again));
    set_label(b, done);
}

/* Lanes that share a row add up: those of one that has fewer lanes than a step is wide leave it out. */
static void add_row_lanes(csr_emitter *e) {
    mc_builder *b = e->b;
    mc_reg one = mov_b32(b, "one", I(1)), lanes = shl_b32(b, "row_lanes", one, e->stream.shift);
    mc_reg other = b32(b, "other_lane"), has = pred(b, "has_lane");
    note(b, "lanes that share a row add up in a tree");
    for (int distance = MC_WARP / 2; distance >= 1; distance /= 2) {
        EMIT(b, shfl_bfly, other, e->sum[0], I(distance), I(MC_WARP - 1), H(0xffffffff));
        EMIT(b, setp_gt, has, lanes, I(distance));
        EMIT_IF(b, has, add_f32, e->sum[0], e->sum[0], other);
    }
}

static void emit_rows_of_item(csr_emitter *e, const csr_path *path, mc_reg lane_col) {
    mc_builder *b = e->b;
    const csr_stream *s = &e->stream;
    mc_reg products = mov_shared(b, "products_at", NAME(CSR_PRODUCTS));
    if (e->plan->base.warps > 1)
        products = mad_s32(b, "warp_products", e->at.place.warp, I(csr_product_bytes(e->plan)), products);
    mc_reg at = b32(b, "product_at"), next = b32(b, "next_product"), end = b32(b, "end_product");
    EMIT(b, mad_s32, at, e->at.place.lane, I(WORD), products);
    spmm_csr_emit_products(e, path, lane_col, at);
    note(b, "all products are there");
    EMIT(b, bar_warp_sync, I(-1));
    heading(b, "Each lane adds up its part of a row's products");
    EMIT(b, sub_s32, s->length, s->length, s->row_first);
    mc_reg begin = sub_s32(b, "row_begin", s->row_first, e->first);
    mc_reg other = add_s32(b, "next_part", s->part, I(1));
    emit_cut(s, b, next, s->part, begin);
    emit_cut(s, b, end, other, begin);
    EMIT(b, mov_b32, e->sum[0], I(0));
    add_products(e, products, next, end);
    add_row_lanes(e);
}

void spmm_csr_emit_stream(csr_emitter *e, const csr_path *path, mc_reg lane_col) {
    mc_builder *b = e->b;
    const char *prefix = b->prefix;
    mc_label rows = label(b, "ROWS"), found = label(b, "SUMS_FOUND");
    EMIT_IF(b, NOT(e->is_long), bra_uni, TO(rows));
    spmm_csr_emit_loop(e, path, lane_col);
    EMIT(b, bra_uni, TO(found));
    set_label(b, rows);
    b->prefix = path == &e->plan->wide ? "rows_" : "edge_rows_";
    emit_rows_of_item(e, path, lane_col);
    b->prefix = prefix;
    set_label(b, found);
}
