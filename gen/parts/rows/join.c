/* What threads have of a row becomes what the row has: over the lanes of a warp, then over warps by way of
 * shared memory.
 *
 * Lanes that have the same rows differ in some bits of their numbers. For each of these bits two lanes
 * exchange. While they have several rows, each gives away the half of them that the other one keeps; so of 8
 * rows 4, 2, 1, 1 and 1 values are exchanged over 32 lanes. In the end a lane has one row, and leaves it in
 * shared memory: [part][row], a part from each of the warps that have elements of the row.
 *
 * Then lane l reads row l % vec, its own, of part l / vec and so on, and lanes of the same row join once
 * more. So each warp has what all of them have, a row a lane; and what is made of it, such as a quotient, is
 * made once, before each thread gets it of its own rows. */
#include "parts/rows/rows.h"
#include <stdio.h>

/* A value is of `together` rows, and has `words` words. */
typedef struct joining {
    rows_emitter *r;
    rows_joint joint;
    int words, together;
    mc_reg give[2], keep[2], wide[2];
} joining;

void rows_greater_pairs(mc_builder *b, rows_joined what, mc_reg to, mc_reg x, mc_reg y) {
    if (what == ROWS_GREATEST_F16X2) EMIT(b, max_nan_f16x2, to, x, y);
    else EMIT(b, max_nan_bf16x2, to, x, y);
}

static void combine(const joining *j, rows_joined what, const mc_reg *to, const mc_reg *kept,
                    const mc_reg *got) {
    mc_builder *b = j->r->b;
    switch (what) {
    case ROWS_GREATEST: EMIT(b, max_nan_f32, to[0], kept[0], got[0]); break;
    case ROWS_GREATEST_F16X2:
    case ROWS_GREATEST_BF16X2: rows_greater_pairs(b, what, to[0], kept[0], got[0]); break;
    case ROWS_REALS: EMIT(b, add_f32, to[0], kept[0], got[0]); break;
    case ROWS_SUMS_OF_A_WORD: EMIT(b, add_s32, to[0], kept[0], got[0]); break;
    case ROWS_SUMS_OF_TWO:
        EMIT(b, join_b64, j->wide[0], V2(kept));
        EMIT(b, join_b64, j->wide[1], V2(got));
        EMIT(b, add_s64, j->wide[0], j->wide[0], j->wide[1]);
        EMIT(b, split_b64, V2(to), j->wide[0]);
    }
}

static void shuffle(const joining *j, mc_reg to, mc_reg from, int bit) {
    EMIT(j->r->b, shfl_bfly, to, from, I(1 << bit), I(MC_WARP - 1), H(0xffffffff));
}

/* Exchanges ROW, and where HALF is above 0 one of ROW and ROW + HALF: UPPER, the one that this lane keeps. */
static void exchange(joining *j, int row, int half, int bit, mc_reg upper) {
    mc_builder *b = j->r->b;
    mc_reg kept[2], to[2];
    for (int w = 0; w < j->words; w++) {
        mc_reg low = j->joint.word[w][row];
        kept[w] = low;
        if (half > 0) {
            mc_reg high = j->joint.word[w][row + half];
            EMIT(b, selp_b32, j->give[w], low, high, upper);
            EMIT(b, selp_b32, j->keep[w], high, low, upper);
            kept[w] = j->keep[w];
        }
        shuffle(j, j->give[w], half > 0 ? j->give[w] : low, bit);
        to[w] = low;
    }
    combine(j, j->joint.what, to, kept, j->give);
}

/* Over the lanes of a warp. Returns the place of the value that this lane then has, as its first: the row, or
   half of it where two are together. REST has the bits of lanes that have the same one. */
static mc_reg join_lanes(joining *j, unsigned *rest) {
    const rows_plan *plan = j->r->plan;
    mc_builder *b = j->r->b;
    mc_reg row = carried(b, "row_kept", j->r->row), set = b32(b, "lane_bit"), upper = pred(b, "upper");
    int rows = plan->rows / j->together;
    if (j->together > 1) EMIT(b, shr_u32, row, row, I(log2_of(j->together)));
    *rest = 0;
    for (int bit = 0; 1 << bit < MC_WARP; bit++) {
        if (!(plan->lane_bits >> bit & 1)) continue;
        int half = rows > 1 ? rows / 2 : 0;
        if (half > 0) {
            EMIT(b, and_b32, set, j->r->lane, I(1 << bit));
            EMIT(b, setp_ne, upper, set, I(0));
            EMIT(b, shr_u32, set, set, I(bit));
            EMIT(b, mad_s32, row, set, I((int64_t)half * plan->row_step), row);
        } else *rest |= 1U << bit;
        for (int i = 0; i < (half > 0 ? half : 1); i++) exchange(j, i, half, bit, upper);
        if (half > 0) rows = half;
    }
    return row;
}

/* Words that are left in shared memory for each row and warp. */
static int words_left(const joining *j) { return j->joint.weigh != NULL ? 2 : j->words; }

static void store_part(const joining *j, mc_reg row, unsigned rest) {
    const rows_plan *plan = j->r->plan;
    mc_builder *b = j->r->b;
    mc_reg parts = mov_shared(b, "parts", NAME(j->joint.array));
    mc_reg part = shr_u32(b, "warp_part", j->r->warp, I(log2_of(plan->warps / plan->row_warps)));
    mc_reg place = mad_s32(b, "part_place", part, I(plan->vec / j->together), row);
    mc_reg at = mad_s32(b, "part_at", place, I(words_left(j) * WORD), parts), first = {0};
    if (rest) first = setp_eq(b, "first_lane", and_b32(b, "same", j->r->lane, H(rest)), I(0));
    if (words_left(j) == 1) {
        EMIT_IF(b, first, sts_b32, AT(at, 0), j->joint.word[0][0]);
    } else {
        const mc_reg words[2] = {j->joint.word[0][0], j->words > 1 ? j->joint.word[1][0] : j->joint.beside};
        EMIT_IF(b, first, sts_v2, AT(at, 0), V2(words));
    }
    if (plan->warps > 1) EMIT(b, bar_sync, I(0));
    else EMIT(b, bar_warp_sync, H(0xffffffff));
}

/* A sum of one word gets a second. */
static void widen(const joining *j, const mc_reg *sum) {
    if (j->joint.is_signed) EMIT(j->r->b, shr_s32, sum[1], sum[0], I(31));
    else EMIT(j->r->b, mov_b32, sum[1], I(0));
}

/* Parts that the lanes of a warp read at once. */
static int parts_at_once(const joining *j) {
    const rows_plan *plan = j->r->plan;
    int beside = MC_WARP / plan->vec;
    return plan->row_warps < beside ? plan->row_warps : beside;
}

/* The address of the lane's own row in the first part that it reads. */
static mc_reg own_address(const joining *j) {
    const rows_plan *plan = j->r->plan;
    mc_builder *b = j->r->b;
    mc_reg place = and_b32(b, "own_place", j->r->lane, I(parts_at_once(j) * plan->vec - 1));
    if (j->together > 1) place = shr_u32(b, "own_word", place, I(log2_of(j->together)));
    mc_reg parts = mov_shared(b, "all_parts", NAME(j->joint.array));
    return mad_s32(b, "own_at", place, I(words_left(j) * WORD), parts);
}

/* Over lanes that read other parts of the same row: TO has WORDS. */
static void join_parts(const joining *j, rows_joined what, int words, mc_reg *to) {
    const rows_plan *plan = j->r->plan;
    for (int bit = log2_of(plan->vec); 1 << bit < parts_at_once(j) * plan->vec; bit++) {
        for (int w = 0; w < words; w++) shuffle(j, j->give[w], to[w], bit);
        combine(j, what, to, to, j->give);
    }
}

/* What all parts have of the lane's own row. Sums have two words from here on. */
static void load_own(joining *j, mc_reg *to) {
    const rows_plan *plan = j->r->plan;
    mc_builder *b = j->r->b;
    rows_joined what = j->joint.what == ROWS_SUMS_OF_A_WORD ? ROWS_SUMS_OF_TWO : j->joint.what;
    int at_once = parts_at_once(j);
    mc_reg from = own_address(j);
    for (int part = 0; part < plan->row_warps; part += at_once) {
        mc_reg *into = part ? j->give : to;
        mc_operand at = AT(from, (int64_t)part * plan->vec / j->together * j->words * WORD);
        if (j->words == 1) EMIT(b, lds_b32, into[0], at);
        else EMIT(b, lds_v2, V2(into), at);
        if (what == ROWS_SUMS_OF_TWO && j->words == 1) widen(j, into);
        if (part) combine(j, what, to, to, j->give);
    }
    join_parts(j, what, what == ROWS_SUMS_OF_TWO ? 2 : 1, to);
}

/* The same of values that are weighed first. */
static void load_weighed(joining *j, mc_reg *to) {
    const rows_plan *plan = j->r->plan;
    mc_builder *b = j->r->b;
    int at_once = parts_at_once(j), count = plan->row_warps / at_once;
    mc_reg from = own_address(j), value[ROWS_MAX_PARTS], word[ROWS_MAX_PARTS];
    b32_array(b, "value_left", count, value);
    b32_array(b, "word_left", count, word);
    for (int i = 0; i < count; i++) {
        const mc_reg both[2] = {value[i], word[i]};
        EMIT(b, lds_v2, V2(both), AT(from, (int64_t)i * at_once * plan->vec * 2 * WORD));
    }
    j->joint.weigh(j->joint.user, count, value, word);
    EMIT(b, mov_b32, to[0], value[0]);
    for (int i = 1; i < count; i++) EMIT(b, add_f32, to[0], to[0], value[i]);
    join_parts(j, j->joint.what, 1, to);
}

/* All lanes of a team have what the row has. */
static void take_team(const joining *j, mc_reg *to) {
    for (int w = 0; w < j->words; w++) EMIT(j->r->b, mov_b32, to[w], j->joint.word[w][0]);
    if (j->joint.what == ROWS_SUMS_OF_A_WORD) widen(j, to);
}

void rows_join(rows_emitter *r, const rows_joint *joint, mc_reg *to) {
    mc_builder *b = r->b;
    const char *before = b->prefix;
    char both[MC_MAX_NAME];
    bool pairs = joint->what == ROWS_GREATEST_F16X2 || joint->what == ROWS_GREATEST_BF16X2;
    joining j = {
        .r = r, .joint = *joint, .words = joint->what == ROWS_SUMS_OF_TWO ? 2 : 1, .together = pairs ? 2 : 1};
    unsigned rest;
    snprintf(both, sizeof both, "%s%s", before ? before : "", joint->prefix);
    b->prefix = both;
    b32_array(b, "give", 2, j.give);
    b32_array(b, "keep", 2, j.keep);
    b64_array(b, "wide", 2, j.wide);
    mc_reg row = join_lanes(&j, &rest);
    if (rows_in_teams(r->plan)) {
        take_team(&j, to);
        b->prefix = before;
        return;
    }
    store_part(&j, row, rest);
    if (joint->weigh != NULL) load_weighed(&j, to);
    else load_own(&j, to);
    b->prefix = before;
}

void rows_spread(rows_emitter *r, mc_reg word, const mc_reg *to) {
    mc_builder *b = r->b;
    if (rows_in_teams(r->plan)) {
        EMIT(b, mov_b32, to[0], word);
        return;
    }
    for (int i = 0; i < r->plan->rows; i++) {
        mc_reg lane = r->row;
        if (i > 0) EMIT(b, add_s32, lane = r->scratch.other, r->row, I((int64_t)i * r->plan->row_step));
        EMIT(b, shfl_idx, to[i], word, lane, I(MC_WARP - 1), H(0xffffffff));
    }
}
