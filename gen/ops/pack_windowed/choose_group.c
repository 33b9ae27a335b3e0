/* A group takes one vector after another of the fullest class that it may have more of, and has as many
 * accesses as windowed_choose.c says. One after another is not needed: if of each class what it could give is
 * written down with how full the class then is,
 *
 *   available, available - 1, ..., and not more than the class's limit,
 *
 * the vectors that are taken are the greatest of these numbers, those of lower classes first, in their order.
 * So a lane has such a number, counts how many come before it, and knows its slot. */
#include "ops/pack_windowed/choose.h"

typedef struct group_state {
    choose_emitter *e;
    int group;
    mc_reg available[BANKS]; /* of each class, and how many of it may be taken */
    mc_reg limit[BANKS];
    mc_reg own_limit;
    mc_reg most;  /* of a class that the group takes: its accesses */
    mc_reg found; /* what the limits allow in all */
} group_state;

static int groups_here(const group_state *g) { return WINDOWED_GROUPS - g->group; }

static void gather_available(group_state *g) {
    mc_builder *b = g->e->b;
    b32_array(b, "available", BANKS, g->available);
    for (int i = 0; i < BANKS; i++)
        EMIT(b, shfl_idx, g->available[i], g->e->bank.available, I(BANK_LANES * i), I(LAST_LANE), ALL_LANES);
}

/* The first of words of all classes becomes their sum; pairs first, so that no addition waits for long. */
static void add_up(mc_builder *b, const mc_reg words[BANKS]) {
    for (int apart = 1; apart < BANKS; apart *= 2)
        for (int i = 0; i < BANKS; i += 2 * apart) EMIT(b, add_s32, words[i], words[i], words[i + apart]);
}

/* What group_accesses begins with: GROUPS that the vectors are for, the vectors that are WANTED at least, and
   how many the FULLEST class has where it must be given its share: else 0. */
typedef struct group_wish {
    mc_reg groups, wanted, fullest;
} group_wish;

static group_wish wish_of(const group_state *g) {
    const vector_stream *s = &g->e->stream;
    mc_builder *b = g->e->b;
    const int slots_here = groups_here(g) * WINDOWED_GROUP;
    mc_reg pool = sub_s32(b, "pool", s->seen, s->taken), left = sub_s32(b, "left_over", s->count, s->taken);
    mc_reg outside = setp_gt(b, "is_more", pool, I(slots_here));
    mc_reg rest = selp_b32(b, "rest", left, pool, outside);
    mc_reg later = max_s32(b, "later", sub_s32(b, "beyond", rest, I(slots_here)), I(0));
    mc_reg strides = shr_u32(b, "later_strides", add_s32(b, "rounded", later, I(WINDOWED_SLOTS - 1)),
                             I(log2_of(WINDOWED_SLOTS)));
    mc_reg groups = mad_s32(b, "groups", strides, I(WINDOWED_GROUPS), I(groups_here(g)));
    mc_reg slots = shl_b32(b, "slots_left", groups, I(log2_of(WINDOWED_GROUP)));
    mc_reg empty = sub_s32(b, "empty", slots, rest), few = min_s32(b, "few", empty, g->e->spare);
    mc_reg whole = setp_eq(b, "is_whole", pool, rest);
    empty = selp_b32(b, "may_be_empty", empty, few, whole);
    mc_reg most = min_s32(b, "group_pool", pool, I(WINDOWED_GROUP));
    mc_reg fullest = redux_max_u32(b, "fullest", g->e->bank.available, ALL_LANES);
    return (group_wish){groups, sub_s32(b, "wanted", most, empty),
                        selp_b32(b, "must_share", fullest, I(0), whole)};
}

/* As few accesses as give the group what it wants, and the fullest class its share. */
static void find_accesses(group_state *g) {
    mc_builder *b = g->e->b;
    const group_wish wish = wish_of(g);
    mc_label more = label(b, "MORE_ACCESSES");
    mc_reg sums[BANKS];
    b32_array(b, "found", BANKS, sums);
    g->most = carried(b, "accesses", I(0));
    g->found = sums[0];
    b32_array(b, "limit", BANKS, g->limit);
    set_label(b, more);
    EMIT(b, add_s32, g->most, g->most, I(1));
    for (int i = 0; i < BANKS; i++) {
        EMIT(b, min_s32, g->limit[i], g->available[i], g->most);
        EMIT(b, mov_b32, sums[i], g->limit[i]);
    }
    add_up(b, sums);
    mc_reg shared = mul_s32(b, "shared_out", g->most, wish.groups);
    EMIT_IF(b, setp_lt(b, "lacks_vectors", g->found, wish.wanted), bra_uni, TO(more));
    EMIT_IF(b, setp_lt(b, "lacks_share", shared, wish.fullest), bra_uni, TO(more));
    g->own_limit = carried(b, "own_limit", I(0));
    EMIT(b, min_s32, g->own_limit, g->e->bank.available, g->most);
}

/* The oldest vector has the stride's first slot, whatever its class: else the ring could not move on. */
static void take_oldest(group_state *g) {
    choose_emitter *e = g->e;
    mc_builder *b = e->b;
    mc_reg lanes = vote_ballot(b, "oldest_lanes", e->stride.is_oldest, ALL_LANES);
    for (int i = 0; i < BANKS; i++) {
        mc_reg above = shr_u32(b, name_nth("lanes_from", i).text, lanes, I(BANK_LANES * i));
        mc_reg one = and_b32(b, name_nth("one", i).text, above, I(1));
        EMIT(b, sub_s32, g->available[i], g->available[i], one);
        EMIT(b, sub_s32, g->limit[i], g->limit[i], one);
    }
    mc_reg own = selp_b32(b, "own_one", I(1), I(0), e->stride.is_oldest);
    EMIT(b, sub_s32, g->own_limit, g->own_limit, own);
    EMIT(b, sub_s32, e->bank.available, e->bank.available, own);
    EMIT(b, add_s32, e->bank.head, e->bank.head, own);
    mc_reg first = setp_eq_and(b, "is_first", e->bank.item, I(0), e->stride.is_oldest);
    EMIT_IF(b, first, sts_b32, AT(e->stride.slots, 0), e->stride.front);
}

/* How many vectors come before the class's one with NUMBER: of each class those whose numbers are greater,
   or, in a lower class, as great. */
static mc_reg rank_of(const group_state *g, mc_reg number) {
    mc_builder *b = g->e->b;
    mc_reg before[BANKS];
    b32_array(b, "before", BANKS, before);
    for (int i = 0; i < BANKS; i++) {
        EMIT(b, add_s32, before[i], g->available[i], g->e->bank.lower[i]);
        EMIT(b, sub_s32, before[i], before[i], number);
        EMIT(b, max_s32, before[i], before[i], I(0));
        EMIT(b, min_s32, before[i], before[i], g->limit[i]);
    }
    add_up(b, before);
    return before[0];
}

/* The vector of item ITEM of the class goes to SLOT of the stride. */
static void put_in_slot(group_state *g, mc_reg is_taken, mc_reg item, mc_reg slot) {
    choose_emitter *e = g->e;
    mc_builder *b = e->b;
    mc_reg entry[2];
    b32_array(b, "entry", 2, entry);
    for (int i = 0; i < 2; i++) EMIT(b, mov_b32, entry[i], I(0));
    mc_reg index = add_s32(b, "item_index", e->bank.head, item);
    EMIT_IF(b, is_taken, lds_v2, V2(entry), AT(choose_entry_at(e, "item_at", index), 0));
    mc_reg at = mad_s32(b, "slot_at", slot, I(WORD), e->stride.slots);
    EMIT_IF(b, is_taken, sts_b32, AT(at, (int64_t)g->group * WINDOWED_GROUP * WORD), entry[0]);
    EMIT(b, max_s32, e->stride.last, e->stride.last, entry[1]);
}

/* Each lane of a class has an item, and another one if the group may take so many. */
static void take_items(group_state *g) {
    choose_emitter *e = g->e;
    mc_builder *b = e->b;
    mc_label more = label(b, "MORE_ITEMS");
    mc_reg item = carried(b, "item", e->bank.item), first = carried(b, "first_item", I(0)),
           taken = carried(b, "taken_items", I(0));
    set_label(b, more);
    mc_reg rank = rank_of(g, sub_s32(b, "number", e->bank.available, item));
    mc_reg slot = g->group == 0 ? add_s32(b, "slot", rank, I(1)) : rank;
    mc_reg allowed = setp_lt(b, "is_allowed", item, g->own_limit);
    mc_reg is_taken = setp_lt_and(b, "is_taken", slot, I(WINDOWED_GROUP), allowed);
    mc_reg own = and_b32(b, "own_taken", vote_ballot(b, "takers", is_taken, ALL_LANES), e->bank.lanes);
    EMIT(b, add_s32, taken, taken, popc_b32(b, "own_takers", own));
    put_in_slot(g, is_taken, item, slot);
    EMIT(b, add_s32, item, item, I(BANK_LANES));
    EMIT(b, add_s32, first, first, I(BANK_LANES));
    EMIT_IF(b, setp_lt(b, "has_more", first, g->most), bra_uni, TO(more));
    EMIT(b, add_s32, e->bank.head, e->bank.head, taken);
    EMIT(b, sub_s32, e->bank.available, e->bank.available, taken);
}

void choose_take_group(choose_emitter *e, int group) {
    group_state g = {.e = e, .group = group};
    mc_builder *b = e->b;
    const made_name prefix = name_with(name_nth("g", group).text, "_");
    note(b, "group %d", group);
    b->prefix = prefix.text;
    gather_available(&g);
    find_accesses(&g);
    mc_reg count = min_s32(b, "count", g.found, I(WINDOWED_GROUP));
    if (group == 0) take_oldest(&g);
    take_items(&g);
    EMIT(b, add_s32, e->stream.taken, e->stream.taken, count);
    b->prefix = NULL;
}
