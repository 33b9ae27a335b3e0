/* The field `stream`: the kernel whose warps take the nonzeros of several rows side by side (format
 * csr-stream).
 *
 * Where a warp's nonzeros lie follows from its number alone. So it asks for its item, for the parts of its
 * lanes, and for the first columns and values at once, and B's elements are all that waits for a load. Lanes
 * put the products in the warp's part of shared memory, whatever rows they are of. Then each lane adds up
 * neighbouring products of a row, and the lanes that share a row add up in a tree. A long row's part is an
 * item of one row, which all lanes share.
 *
 * A turn is what a lane has in flight of B. The columns and values of a turn and of the next one are loaded
 * ahead of both, and so are the elements of B.
 *
 * With sorted columns a warp has nonzeros of all rows of its thread block, in the order of their columns, and
 * puts each product where it belongs: the sums are the same.
 *
 * A stride of 32 products has 33 words. So lanes whose products begin a multiple of 8 apart, as those of rows
 * of 8, 16, 32 ... nonzeros do, read different banks. */
#include "ops/spmm/csr/emit.h"
#include "parts/fragment.h"
#include "parts/fused.h"
#include "parts/panels.h"
#include "parts/words.h"
#include <stdio.h>

enum {
    AT_ONCE = 4,   /* products that a lane loads before it adds them */
    IN_FLIGHT = 2, /* turns */
    MOST_TURN = 8  /* strides */
};
#define PRODUCTS "products" /* the shared array of all warps */

/* What is in flight of a turn, of each of its strides. A column is a word, or half of one, and so is a
   value. */
typedef struct turn_registers {
    mc_reg column[MOST_TURN], value[MOST_TURN], element[MOST_TURN], element_at[MOST_TURN];
    mc_reg index[MOST_TURN]; /* columns that share a word with something */
} turn_registers;

typedef struct stream_emitter {
    csr_emitter *e;
    int columns, values, turn;            /* strides of a load of either, and of a turn */
    mc_reg item[PANEL_ITEM_WORDS], lanes; /* lanes: this one's entry of `parts` */
    mc_reg rows, most_lanes;              /* of the item; of its row that has most */
    mc_reg index_at, value_at;            /* this lane's slots of the item */
    mc_reg b_column; /* the tile's element of the row of B from which columns are counted */
    turn_registers in_flight[IN_FLIGHT];
    mc_reg products;       /* the warp's */
    mc_reg block_products; /* all warps' */
    mc_reg stride;         /* of a product's place */
} stream_emitter;

static int share_of(const stream_emitter *s) { return s->e->plan->share; }
static int turns_of(const stream_emitter *s) { return (share_of(s) + s->turn - 1) / s->turn; }
/* The last turn has what is left. */
static int strides_of(const stream_emitter *s, int turn) {
    int left = share_of(s) - turn * s->turn;
    return left < s->turn ? left : s->turn;
}
static int value_bytes(const stream_emitter *s) { return csr_element_bytes(s->e->plan); }
static int column_bytes(const stream_emitter *s) { return csr_column_bytes(s->e->plan->column_form); }
static bool has_halves(const stream_emitter *s) { return column_bytes(s) < WORD; }
static bool is_sorted(const stream_emitter *s) { return s->e->plan->column_form == CSR_COLUMNS_SORTED; }
static int place_bits(const stream_emitter *s) {
    return csr_place_bits(s->e->plan->base.warps, s->e->plan->share);
}
static int words_of(int bytes) { return bytes > WORD ? bytes / WORD : 1; }
static int value_words(const stream_emitter *s) { return words_of(s->values * value_bytes(s)); }
static int column_words(const stream_emitter *s) { return words_of(s->columns * column_bytes(s)); }
/* Which register of a turn has element I, of those that loads of VECTOR elements of BYTES put there. */
static int register_of(int i, int vector, int bytes) {
    return i / vector * words_of(vector * bytes) + i % vector * bytes / WORD;
}
static turn_registers *of_turn(stream_emitter *s, int turn) { return &s->in_flight[turn % IN_FLIGHT]; }

/* -- Loads of A --------------------------------------------------------------------------------------- */

static void declare_turns(stream_emitter *s) {
    static const char *const names[IN_FLIGHT][5] = {
        {"index", "value", "element", "element_at", "of_item"},
        {"next_index", "next_value", "next_element", "next_element_at", "next_of_item"}};
    mc_builder *b = s->e->b;
    for (int i = 0; i < IN_FLIGHT && i < turns_of(s); i++) {
        turn_registers *turn = &s->in_flight[i];
        b32_array(b, names[i][0], s->turn / s->columns * column_words(s), turn->column);
        b32_array(b, names[i][1], s->turn / s->values * value_words(s), turn->value);
        b32_array(b, names[i][2], s->turn, turn->element);
        b64_array(b, names[i][3], s->turn, turn->element_at);
        if (has_halves(s) || is_sorted(s)) b32_array(b, names[i][4], s->turn, turn->index);
    }
}

/* So many BYTES of each of a turn's strides, VECTOR strides at a time. */
static void load_slots(stream_emitter *s, int turn, int vector, int bytes, const mc_reg *to, mc_reg from) {
    const int first = turn * s->turn;
    for (int i = 0; i < strides_of(s, turn); i += vector)
        emit_load_words(s->e->b, (mc_reg){0}, WORDS_RELAXED, vector * bytes,
                        &to[register_of(i, vector, bytes)], AT(from, (first + i) * CSR_STRIDE * bytes));
}

static void load_turn(stream_emitter *s, int turn) {
    const turn_registers *to = of_turn(s, turn);
    load_slots(s, turn, s->columns, column_bytes(s), to->column, s->index_at);
    load_slots(s, turn, s->values, value_bytes(s), to->value, s->value_at);
}

/* Where this warp's ARRAY is, which has BYTES of each item, and there this lane's, which has LANE_BYTES. */
static mc_reg place_in(stream_emitter *s, const char *name, const char *array, mc_reg number, int bytes,
                       int lane_bytes) {
    mc_builder *b = s->e->b;
    mc_reg at = mad_wide(b, name, number, I(bytes), load_array(b, array));
    if (lane_bytes == 0) return at;
    char of_lane[MC_MAX_NAME];
    snprintf(of_lane, sizeof of_lane, "lane_%s", name);
    return mad_wide(b, of_lane, s->e->at.place.lane, I(lane_bytes), at);
}

static void load_item(stream_emitter *s) {
    static const char *const words[][PANEL_ITEM_WORDS] = {
        {"item_row", "item_rows", "most_lanes", "sharing"},
        {"item_row", "rows_and_lanes", "least_column", "sharing"}};
    csr_emitter *e = s->e;
    mc_builder *b = e->b;
    const int warps = e->plan->base.warps, slots = share_of(s) * CSR_STRIDE;
    heading(b, "This warp's item: it and its first %d nonzeros a lane are asked for at once", s->turn);
    e->block = load_special(b, "block", "ctaid.x");
    mc_reg number = warps > 1 ? mad_s32(b, "item", e->block, I(warps), e->at.place.warp) : e->block;
    s->index_at =
        place_in(s, "index_at", "col_idx", number, slots * column_bytes(s), s->columns * column_bytes(s));
    s->value_at =
        place_in(s, "value_at", "values", number, slots * value_bytes(s), s->values * value_bytes(s));
    mc_reg parts_at = place_in(s, "parts_at", "parts", number, CSR_WARP * 2, 2);
    mc_reg item_at = place_in(s, "item_at", "items", number, PANEL_ITEM_WORDS * WORD, 0);
    for (int i = 0; i < PANEL_ITEM_WORDS; i++) s->item[i] = b32(b, words[has_halves(s)][i]);
    s->lanes = b32(b, "lane_part");
    declare_turns(s);
    load_turn(s, 0);
    EMIT(b, ldr_u16, s->lanes, AT(parts_at, 0));
    EMIT(b, ldr_v4, V4(s->item), AT(item_at, 0));
    if (turns_of(s) > 1) load_turn(s, 1);
    s->rows = s->item[1], s->most_lanes = s->item[2];
    e->sharing = s->item[3];
}

/* With columns of 16 bits the item says from which column they are counted, and has two numbers in its second
   word. */
static void open_item(stream_emitter *s) {
    mc_builder *b = s->e->b;
    if (!has_halves(s)) return;
    note(b, "columns are counted from the item's least one");
    s->b_column = mad_wide(b, "least_at", s->item[2], s->e->at.row_bytes, s->b_column);
    s->rows = and_b32(b, "item_rows", s->item[1], I((1 << CSR_LANES_SHIFT) - 1));
    s->most_lanes = shr_u32(b, "most_lanes", s->item[1], I(CSR_LANES_SHIFT));
}

/* -- Products ----------------------------------------------------------------------------------------- */

/* The column of the turn's stride I. */
static mc_reg column_of(stream_emitter *s, const turn_registers *r, int i) {
    mc_builder *b = s->e->b;
    const mc_reg word = r->column[register_of(i, s->columns, column_bytes(s))];
    if (!has_halves(s) && !is_sorted(s)) return word;
    if (is_sorted(s)) EMIT(b, shr_u32, r->index[i], word, I(place_bits(s)));
    else if (i % s->columns % 2) EMIT(b, shr_u32, r->index[i], word, I(16));
    else EMIT(b, and_b32, r->index[i], word, I(0xffff));
    return r->index[i];
}

static void load_elements(stream_emitter *s, int turn) {
    mc_builder *b = s->e->b;
    const turn_registers *r = of_turn(s, turn);
    for (int i = 0; i < strides_of(s, turn); i++)
        EMIT(b, mad_wide, r->element_at[i], column_of(s, r, i), s->e->at.row_bytes, s->b_column);
    for (int i = 0; i < strides_of(s, turn); i++)
        emit_load_words(b, (mc_reg){0}, WORDS_GLOBAL, value_bytes(s), &r->element[i],
                        AT(r->element_at[i], 0));
}

/* Where the product of the turn's stride I goes, at OFFSET words from AT where it is in its own place: with
   sorted columns the word of its column says where. */
static mc_operand product_place(stream_emitter *s, const turn_registers *r, int i, mc_reg at, int offset) {
    mc_builder *b = s->e->b;
    mc_reg place = r->index[i];
    if (!is_sorted(s)) return AT(at, offset * WORD);
    EMIT(b, and_b32, place, r->column[i], I((1 << place_bits(s)) - 1));
    EMIT(b, shr_u32, s->stride, place, I(log2_of(CSR_STRIDE)));
    EMIT(b, add_s32, place, place, s->stride);
    EMIT(b, mad_s32, place, place, I(WORD), s->block_products);
    return AT(place, 0);
}

static void keep_products(stream_emitter *s, int turn, mc_reg at) {
    csr_emitter *e = s->e;
    const char *type = e->plan->base.math.lhs;
    const turn_registers *r = of_turn(s, turn);
    const bool halves = value_bytes(s) < WORD;
    for (int i = 0; i < strides_of(s, turn); i++) {
        const int of = register_of(i, s->values, value_bytes(s));
        mc_reg value = fused_element(e->b, type, r->value[of], halves && i % s->values % 2, e->scratch[0]);
        mc_reg element = fused_element(e->b, type, r->element[i], false, e->scratch[1]);
        EMIT(e->b, mul_f32, r->element[i], value, element);
        EMIT(e->b, sts_b32, product_place(s, r, i, at, (turn * s->turn + i) * CSR_STREAM_PITCH),
             r->element[i]);
    }
}

static void emit_products(stream_emitter *s) {
    csr_emitter *e = s->e;
    mc_builder *b = e->b;
    heading(b, "Products, whatever rows they are of: %d strides", share_of(s));
    s->products = s->block_products = mov_shared(b, "products_at", NAME(PRODUCTS));
    if (e->plan->base.warps > 1)
        s->products =
            mad_s32(b, "warp_products", e->at.place.warp, I(csr_product_bytes(e->plan)), s->products);
    mc_reg at = s->products;
    if (is_sorted(s)) s->stride = b32(b, "place_stride");
    else at = mad_s32(b, "product_at", e->at.place.lane, I(WORD), s->products);
    if (value_bytes(s) < WORD) e->scratch[0] = b32(b, "a_real"), e->scratch[1] = b32(b, "b_real");
    open_item(s);
    load_elements(s, 0);
    for (int turn = 0; turn < turns_of(s); turn++) {
        if (turn + 1 < turns_of(s)) load_elements(s, turn + 1);
        keep_products(s, turn, at);
        if (turn + IN_FLIGHT < turns_of(s)) load_turn(s, turn + IN_FLIGHT);
    }
}

/* -- Sums --------------------------------------------------------------------------------------------- */

/* Adds products NEXT to END, without the last, to the sum. */
static void add_products(const stream_emitter *s, mc_reg next, mc_reg end) {
    mc_builder *b = s->e->b;
    mc_reg sum = s->e->sum[0];
    mc_label again = label(b, "ADD"), done = label(b, "ADDED");
    mc_reg has[AT_ONCE], product[AT_ONCE], at[AT_ONCE], left = b32(b, "products_left");
    pred_array(b, "has_product", AT_ONCE, has);
    b32_array(b, "product", AT_ONCE, product);
    b32_array(b, "summed_at", AT_ONCE, at);
    for (int i = 0; i < AT_ONCE; i++) EMIT(b, mov_b32, product[i], I(0));
    mc_reg row_at = b32(b, "row_products");
    EMIT(b, mad_s32, row_at, next, I(WORD), s->products);
    set_label(b, again);
    EMIT(b, sub_s32, left, end, next);
    for (int i = 0; i < AT_ONCE; i++) EMIT(b, setp_gt, has[i], left, I(i));
    EMIT_IF(b, NOT(has[0]), bra, TO(done));
    note(b, "a word more for each stride in front of a product");
    for (int i = 0; i < AT_ONCE; i++) {
        EMIT(b, add_s32, at[i], next, I(i));
        EMIT(b, shr_u32, at[i], at[i], I(log2_of(CSR_STRIDE)));
        EMIT(b, mad_s32, at[i], at[i], I(WORD), row_at);
        EMIT_IF(b, has[i], lds_b32, product[i], AT(at[i], i * WORD));
    }
    for (int i = 0; i < AT_ONCE; i++) EMIT_IF(b, has[i], add_f32, sum, sum, product[i]);
    EMIT(b, add_s32, next, next, I(AT_ONCE));
    EMIT(b, add_s32, row_at, row_at, I(AT_ONCE * WORD));
    EMIT(b, bra, TO(again));
    set_label(b, done);
}

/* The first lane of a row has the sum in the end. BEHIND: how many lanes of the row follow this one. */
static void add_row_lanes(const stream_emitter *s, mc_reg behind) {
    mc_builder *b = s->e->b;
    mc_reg sum = s->e->sum[0], other = b32(b, "other_lane"), has = pred(b, "has_lane");
    mc_label alone = label(b, "LANES_ADDED");
    mc_reg is_alone = setp_lt(b, "lanes_alone", s->most_lanes, I(2));
    EMIT_IF(b, is_alone, bra_uni, TO(alone));
    note(b, "lanes that share a row add up in a tree");
    for (int distance = MC_WARP / 2; distance >= 1; distance /= 2) {
        EMIT(b, shfl_down, other, sum, I(distance), I(MC_WARP - 1), H(0xffffffff));
        EMIT(b, setp_ge, has, behind, I(distance));
        EMIT_IF(b, has, add_f32, sum, sum, other);
    }
    set_label(b, alone);
}

/* Which row this lane has, and whether it is the first one of it. The lane before says where this one's
   products begin. */
static mc_reg find_row(const stream_emitter *s) {
    csr_emitter *e = s->e;
    mc_builder *b = e->b;
    mc_reg lane = e->at.place.lane;
    heading(b, "This lane's part of a row");
    mc_reg left = add_s32(b, "left", lane, I(MC_WARP - 1)),
           left_lane = and_b32(b, "left_lane", left, I(MC_WARP - 1));
    mc_reg before = b32(b, "part_before");
    EMIT(b, shfl_idx, before, s->lanes, left_lane, I(MC_WARP - 1), H(0xffffffff));
    mc_reg is_first = setp_eq(b, "is_first", lane, I(0));
    EMIT_IF(b, is_first, mov_b32, before, I(0));
    mc_reg follow = shr_u32(b, "follow", before, I(CSR_BEHIND_SHIFT));
    mc_reg begins = setp_eq(b, "begins_row", follow, I(0));
    mc_reg rows = vote_ballot(b, "first_lanes", begins, H(0xffffffff));
    mc_reg one = mov_b32(b, "one", I(1)), bit = shl_b32(b, "lane_bit", one, lane),
           below = add_s32(b, "lanes_below", bit, I(-1));
    mc_reg rows_below = and_b32(b, "rows_below", rows, below),
           number = popc_b32(b, "rows_in_front", rows_below);
    e->row = add_s32(b, "row", s->item[0], number);
    e->stores = setp_lt_and(b, "stores", number, s->rows, begins);
    return and_b32(b, "next_product", before, I((1 << CSR_BEHIND_SHIFT) - 1));
}

static void emit_sums(stream_emitter *s) {
    csr_emitter *e = s->e;
    mc_builder *b = e->b;
    mc_reg begin = find_row(s), next = carried(b, "product_number", begin);
    mc_reg end = and_b32(b, "end_product", s->lanes, I((1 << CSR_BEHIND_SHIFT) - 1));
    mc_reg behind = shr_u32(b, "lanes_behind", s->lanes, I(CSR_BEHIND_SHIFT));
    note(b, "all products are there");
    if (is_sorted(s) && e->plan->base.warps > 1) EMIT(b, bar_sync, I(0));
    else EMIT(b, bar_warp_sync, I(-1));
    heading(b, "Each lane adds up its part of a row's products");
    b32_array(b, "sum", 1, e->sum);
    EMIT(b, mov_b32, e->sum[0], I(0));
    add_products(s, next, end);
    add_row_lanes(s, behind);
}

/* -- The kernel --------------------------------------------------------------------------------------- */

void spmm_csr_emit_stream(csr_emitter *e) {
    mc_builder *b = e->b;
    const csr_plan *plan = e->plan;
    stream_emitter s = {
        .e = e,
        .columns = csr_stream_vector(plan->column_form, plan->share, csr_column_bytes(plan->column_form)),
        .values = csr_stream_vector(plan->column_form, plan->share, csr_element_bytes(plan)),
        .turn = csr_stream_turn(plan)};
    mc_label end = label(b, "END");
    shared_array(b, PRODUCTS, (unsigned)(plan->base.warps * csr_product_bytes(plan)), 16);
    emit_launch_next(b, plan->base.overlap);
    spmm_emit_shapes(&e->at);
    spmm_emit_lane(&e->at);
    load_item(&s);
    spmm_emit_tile_column(&e->at);
    e->column = mov_b32(b, "column", I(0));
    e->at.b_array = load_array(b, "b"), e->at.c_array = load_array(b, "c");
    e->residual = spmm_emit_residual(&e->at);
    spmm_emit_row_bytes(&e->at);
    s.b_column = mad_wide(b, "b_column", e->at.tile_col, I(value_bytes(&s)), e->at.b_array);
    emit_grid_wait(b, plan->base.overlap, "B");
    emit_products(&s);
    emit_sums(&s);
    e->is_long = setp_lt(b, "is_long", e->sharing, I(0));
    spmm_csr_emit_join(e, &plan->wide, end);
    spmm_csr_emit_store(e, &plan->wide, e->at.tile_col);
    set_label(b, end);
    EMIT_RET(b);
}
