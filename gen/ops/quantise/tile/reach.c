/* A scale of the whole tensor, in two passes. In the first the grid's first thread blocks, at most
 * QUANTISE_REACHES, go over all tiles, and each leaves in the workspace how far its tiles reach. In the
 * second every warp joins these, and makes the same scale of them. */
#include "ops/quantise/tile/tile.h"

static const uint32_t all_lanes = 0xffffffff;

/* The grid's tiles, by numbers: those below each other come first. */
typedef struct tiles {
    mc_reg down, count, number; /* number: the thread block's own */
} tiles;

static tiles number_tiles(mc_builder *b) {
    tiles t = {.down = load_special(b, "tiles_down", "nctaid.x")};
    t.count = mul_s32(b, "tiles", t.down, load_special(b, "tiles_across", "nctaid.y"));
    t.number = mad_s32(b, "tile_number", load_special(b, "tile_y", "ctaid.y"), t.down,
                       load_special(b, "tile_x", "ctaid.x"));
    return t;
}

static int64_t columns_of(const quantise_plan *plan) { return (int64_t)plan->hold * plan->step; }

/* -- The first pass ----------------------------------------------------------------------------------- */

static void take_tile(const quantise_emitter *e, const quantise_ends *ends) {
    quantise_patch patch;
    quantise_held held;
    quantise_place(e, &patch);
    quantise_load_steps(e, &patch, &held);
    for (int s = 0; s < e->plan->hold; s++) quantise_take_patch(e, ends, held.raw[s]);
}

/* The warps take the tile's rows in turn, their lanes the elements. */
static void take_points(const quantise_emitter *e, const quantise_ends *ends) {
    mc_builder *b = e->b;
    mc_reg rows = mov_b32(b, "all_rows", e->m), columns = mov_b32(b, "all_columns", e->n);
    mc_reg last = min_s32(b, "rows_end", rows, add_s32(b, "tile_end", e->row0, I(e->plan->tile)));
    mc_reg end =
        min_s32(b, "columns_end", columns, add_s32(b, "tile_right", e->col0, I(columns_of(e->plan))));
    mc_reg row = carried(b, "reach_row", add_s32(b, "first_row", e->row0, e->number.warp));
    mc_reg col = add_s32(b, "first_col", e->col0, e->number.lane);
    mc_label loop = label(b, "ROWS"), done = label(b, "ROWS_END");
    mc_reg more = pred(b, "more_rows");
    EMIT_IF(b, setp_ge(b, "no_row", row, last), bra, TO(done));
    set_label(b, loop);
    quantise_take_row(e, row, col, end, ends);
    EMIT(b, add_s32, row, row, I(e->plan->warps));
    EMIT(b, setp_lt, more, row, last);
    EMIT_IF(b, more, bra, TO(loop));
    set_label(b, done);
}

/* TAKE on every QUANTISE_REACHES-th tile. */
static void for_tiles(const quantise_emitter *e, const tiles *t, const char *name, const quantise_ends *ends,
                      void (*take)(const quantise_emitter *e, const quantise_ends *ends)) {
    mc_builder *b = e->b;
    quantise_emitter of_tile = *e;
    const char *before = b->prefix;
    b->prefix = name;
    mc_label loop = label(b, "TILES");
    mc_reg number = carried(b, "number", t->number), more = pred(b, "more_tiles");
    set_label(b, loop);
    mc_reg down = rem_u32(b, "down_the_grid", number, t->down);
    mc_reg across = div_u32(b, "across_the_grid", number, t->down);
    of_tile.row0 = mul_s32(b, "row0", down, I(e->plan->tile));
    of_tile.col0 = mul_s32(b, "col0", across, I(columns_of(e->plan)));
    take(&of_tile, ends);
    EMIT(b, add_s32, number, number, I(QUANTISE_REACHES));
    EMIT(b, setp_lt, more, number, t->count);
    EMIT_IF(b, more, bra, TO(loop));
    b->prefix = before;
}

/* Floats that are not negative, and NaN above them, are ordered as integers. */
static mc_reg farthest(mc_builder *b, const char *name, mc_reg of_lane) {
    return redux_max_u32(b, name, of_lane, H(all_lanes));
}

/* The ends of all warps become one a thread block, at its number in the workspace. Warps that have nothing to
   do any more go to END. */
static void leave_ends(const quantise_emitter *e, const tiles *t, const quantise_ends *ends, mc_reg workspace,
                       mc_label end) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    int count = quantise_end_count(plan);
    mc_reg first = setp_eq(b, "is_first_lane", e->number.lane, I(0));
    mc_reg shared = mov_shared(b, "reach_at", NAME("reaches"));
    mc_reg own_at = mad_s32(b, "own_at", e->number.warp, I(WORD), shared);
    for (int i = 0; i < count; i++) {
        mc_reg of_warp = farthest(b, i ? "below_of_warp" : "reach_of_warp", ends->of[i][0]);
        EMIT_IF(b, first, sts_b32, AT(own_at, (int64_t)i * plan->warps * WORD), of_warp);
    }
    EMIT(b, bar_sync, I(0));
    EMIT_IF(b, setp_ne(b, "is_other_warp", e->number.warp, I(0)), bra, TO(end));
    mc_reg counts = setp_lt(b, "has_warp", e->number.lane, I(plan->warps));
    mc_reg lane_at = mad_s32(b, "lane_at", e->number.lane, I(WORD), shared);
    mc_reg at = mad_wide(b, "reach_to", t->number, I(WORD), workspace);
    for (int i = 0; i < count; i++) {
        mc_reg of_lane = carried(b, i ? "below_of_lane" : "reach_of_lane", I(0));
        EMIT_IF(b, counts, lds_b32, of_lane, AT(lane_at, (int64_t)i * plan->warps * WORD));
        mc_reg of_block = farthest(b, i ? "below_of_block" : "reach_of_block", of_lane);
        EMIT_IF(b, first, stg_b32, AT(at, (int64_t)i * QUANTISE_REACHES * WORD), of_block);
    }
}

void tile_emit_reach(const quantise_emitter *e, mc_reg workspace) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    quantise_ends ends;
    mc_label end = label(b, "REACH_END"), edge = label(b, "REACH_EDGE"), join = label(b, "REACH_JOIN");
    b->prefix = "reach_";
    shared_array(b, "reaches", quantise_reach_bytes(plan), QUANTISE_UNIT);
    const tiles t = number_tiles(b);
    EMIT_IF(b, setp_ge(b, "is_idle", t.number, I(QUANTISE_REACHES)), bra, TO(end));
    quantise_declare_ends(e, &ends);
    if (plan->wide) {
        if (plan->edge) quantise_test_wide(e, edge);
        for_tiles(e, &t, "reach_wide_", &ends, take_tile);
        for (int i = 0; i < quantise_end_count(plan); i++) quantise_unpack_end(e, ends.of[i][0]);
        if (plan->edge) EMIT(b, bra, TO(join));
    }
    if (plan->edge) {
        set_label(b, edge);
        for_tiles(e, &t, "reach_edge_", &ends, take_points);
        if (plan->wide) set_label(b, join);
    }
    leave_ends(e, &t, &ends, workspace, end);
    set_label(b, end);
    EMIT_RET(b);
    b->prefix = NULL;
}

/* -- The second pass ---------------------------------------------------------------------------------- */

/* The farthest of USED ends from AT on, each lane's own of every 32. */
static mc_reg join_ends(const quantise_emitter *e, const char *name, mc_reg used, mc_reg at, int64_t offset) {
    enum { TURNS = QUANTISE_REACHES / MC_WARP };
    mc_builder *b = e->b;
    mc_reg of[TURNS];
    b->prefix = name;
    b32_array(b, "left", TURNS, of);
    for (int i = 0; i < TURNS; i++) {
        mc_reg place =
            i ? add_s32(b, NTH("place", i), e->number.lane, I((int64_t)i * MC_WARP)) : e->number.lane;
        mc_reg is_left = setp_lt(b, NTH("is_left", i), place, used);
        EMIT(b, mov_b32, of[i], I(0));
        EMIT_IF(b, is_left, ldg_b32, of[i], AT(at, offset + (int64_t)i * MC_WARP * WORD));
    }
    for (int i = 1; i < TURNS; i++) EMIT(b, max_s32, of[0], of[0], of[i]);
    mc_reg joined = farthest(b, "farthest", of[0]);
    b->prefix = NULL;
    return joined;
}

static void write_made(const quantise_emitter *e, const tiles *t, const quantise_made *made) {
    mc_builder *b = e->b;
    mc_reg first = setp_eq(b, "is_first_thread", e->number.thread, I(0));
    mc_reg writes = setp_eq_and(b, "writes_scale", t->number, I(0), first);
    EMIT_IF(b, writes, stg_b32, AT(e->factors.scale, 0), made->scale);
    if (e->plan->zero) EMIT_IF(b, writes, stg_b32, AT(e->factors.zero, 0), made->zero);
}

void tile_take_reach(quantise_emitter *e, mc_reg workspace) {
    mc_builder *b = e->b;
    quantise_factors *f = &e->factors;
    mc_reg ends[QUANTISE_ENDS] = {{0}};
    note(b, "the scale, of what the first pass has left");
    const tiles t = number_tiles(b);
    mc_reg used = min_s32(b, "reaches_used", t.count, I(QUANTISE_REACHES));
    mc_reg at = mad_wide(b, "left_at", e->number.lane, I(WORD), workspace);
    for (int i = 0; i < quantise_end_count(e->plan); i++)
        ends[i] = join_ends(e, i ? "below_" : "above_", used, at, (int64_t)i * QUANTISE_REACHES * WORD);
    const quantise_made made = quantise_make_scale(e, ends);
    EMIT(b, mov_b32, f->by[0], made.by);
    if (e->plan->zero) quantise_set_point(e, made.zero, f->point[0], f->low[0], f->high[0]);
    write_made(e, &t, &made);
}
