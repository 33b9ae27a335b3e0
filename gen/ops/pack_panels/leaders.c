#include "ops/pack_panels/pack_panels.h"
#include "parts/segment.h"

/* Steps "count" and "list". A warp has a segment of 1024 places of sorted nonzeros, and each lane a word of
   32 bits of it, one for each leader. Behind the last nonzero is a bit, too, so that a column always ends
   where the next leader is. */

enum { TURNS = MC_SEGMENT_WORDS, AT_ONCE = 8 };

static mc_reg first_place(mc_builder *b, const grid_warp *warp) {
    mc_reg first = shl_b32(b, "first_place", warp->number, I(log2_of(MC_SEGMENT)));
    return carried(b, "place", add_s32(b, "lane_place", first, warp->lane));
}

/* The lane's word of ARRAY. */
static mc_reg word_at(mc_builder *b, const char *name, const grid_warp *warp, const char *array) {
    mc_reg word = mad_s32(b, name_with(name, "_word").text, warp->number, I(TURNS), warp->lane);
    return panels_at(b, name, load_array(b, array), word, WORD);
}

typedef struct count_emitter {
    mc_builder *b;
    grid_warp warp;
    mc_reg nonzeros, sorted, place, turn, bits;
} count_emitter;

static mc_reg load_column(count_emitter *e, int i) {
    mc_builder *b = e->b;
    mc_reg place = add_s32(b, "its_place", e->place, I((int64_t)i * MC_WARP));
    mc_reg column = carried(b, "its_column", I(0));
    EMIT_IF(b, setp_eq(b, "is_end", place, e->nonzeros), mov_b32, column, LEADER);
    EMIT_IF(b, setp_lt(b, "is_nonzero", place, e->nonzeros), ldg_b32, column,
            AT(panels_at(b, "column_at", e->sorted, place, WORD), 0));
    return column;
}

static void keep_word(count_emitter *e, int i, mc_reg column) {
    mc_builder *b = e->b;
    mc_reg word = vote_ballot(b, "word", setp_lt(b, "is_leader", column, I(0)), ALL_LANES);
    mc_reg turn = add_s32(b, "its_turn", e->turn, I(i));
    EMIT_IF(b, setp_eq(b, "is_own", turn, e->warp.lane), mov_b32, e->bits, word);
}

static void take_turns(count_emitter *e) {
    mc_builder *b = e->b;
    mc_reg columns[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) {
        made_name prefix = name_with(name_nth("t", i).text, "_");
        b->prefix = prefix.text;
        columns[i] = load_column(e, i);
        b->prefix = NULL;
    }
    for (int i = 0; i < AT_ONCE; i++) {
        made_name prefix = name_with(name_nth("t", i).text, "_");
        b->prefix = prefix.text;
        keep_word(e, i, columns[i]);
        b->prefix = NULL;
    }
    EMIT(b, add_s32, e->place, e->place, I(AT_ONCE * MC_WARP));
    EMIT(b, add_s32, e->turn, e->turn, I(AT_ONCE));
}

void panels_emit_count(const pack_panels_plan *plan, mc_builder *b) {
    count_emitter e = {.b = b};
    mc_label end = label(b, "END"), loop = label(b, "TURNS");
    (void)plan;
    heading(b, "The warp's segment");
    e.warp = panels_find_warp(b, "segments", end);
    e.nonzeros = load_shape(b, "nonzeros", true);
    e.sorted = load_array(b, "sorted");
    e.place = first_place(b, &e.warp);
    e.turn = carried(b, "turn", I(0));
    e.bits = carried(b, "bits_of_lane", I(0));
    mc_reg more = pred(b, "more");
    heading(b, "A bit for each leader");
    set_label(b, loop);
    take_turns(&e);
    EMIT(b, setp_lt, more, e.turn, I(TURNS));
    EMIT_IF(b, more, bra_uni, TO(loop));
    EMIT(b, stg_b32, AT(word_at(b, "bits_at", &e.warp, "bits"), 0), e.bits);
    mc_reg count = redux_add_s32(b, "count", popc_b32(b, "of_lane", e.bits), ALL_LANES);
    mc_reg at = panels_at(b, "count_at", load_array(b, "counts"), e.warp.number, WORD);
    EMIT_IF(b, setp_eq(b, "is_first", e.warp.lane, I(0)), stg_b32, AT(at, 0), count);
    set_label(b, end);
    EMIT_RET(b);
}

/* The number of each leader says where its place goes, and before each word their number is kept. */
void panels_emit_list(const pack_panels_plan *plan, mc_builder *b) {
    mc_label end = label(b, "END"), loop = label(b, "TURNS");
    (void)plan;
    heading(b, "The warp's segment");
    grid_warp warp = panels_find_warp(b, "segments", end);
    mc_reg bits = ldg_b32(b, "bits_of_lane", AT(word_at(b, "bits_at", &warp, "bits"), 0));
    mc_reg own = popc_b32(b, "of_lane", bits);
    mc_reg at = panels_at(b, "sum_at", load_array(b, "sums"), warp.number, WORD);
    mc_reg sum = carried(b, "of_lanes", own);
    lanes_sum(b, warp.lane, sum);
    mc_reg in_segment = sub_s32(b, "in_segment", sum, own);
    mc_reg before = add_s32(b, "before_word", in_segment, ldg_b32(b, "before_segment", AT(at, 0)));
    EMIT(b, stg_b32, AT(word_at(b, "before_at", &warp, "before"), 0), before);
    mc_reg leaders = load_array(b, "leaders"), place = first_place(b, &warp);
    mc_reg lower = lanes_lower(b, warp.lane);
    mc_reg turn = carried(b, "turn", I(0)), more = pred(b, "more");
    heading(b, "Its words, 32 places each");
    set_label(b, loop);
    mc_reg word = shfl_idx(b, "word", bits, turn, I(LAST_LANE), ALL_LANES);
    mc_reg start = shfl_idx(b, "start", before, turn, I(LAST_LANE), ALL_LANES);
    mc_reg bit = and_b32(b, "bit", shr_u32(b, "from_own", word, warp.lane), I(1));
    mc_reg number = add_s32(b, "number", start, popc_b32(b, "lower", and_b32(b, "lower_bits", word, lower)));
    EMIT_IF(b, setp_ne(b, "is_set", bit, I(0)), stg_b32,
            AT(panels_at(b, "leader_at", leaders, number, WORD), 0), place);
    EMIT(b, add_s32, place, place, I(MC_WARP));
    EMIT(b, add_s32, turn, turn, I(1));
    EMIT(b, setp_lt, more, turn, I(TURNS));
    EMIT_IF(b, more, bra_uni, TO(loop));
    set_label(b, end);
    EMIT_RET(b);
}
