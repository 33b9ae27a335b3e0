/* What threads have of a row becomes what the row has: over the lanes of a warp, then over warps by way of
 * shared memory.
 *
 * Lanes that have the same rows differ in some bits of their numbers. For each of these bits two lanes
 * exchange. While they have several rows, each gives away the half of them that the other one keeps; so of 8
 * rows 4, 2, 1, 1 and 1 values are exchanged over 32 lanes. In the end a lane has one row. */
#include "ops/softmax/kernel.h"
#include <stdio.h>

/* Values of 1 or 2 words of each of the thread's rows, and how two become one. */
typedef struct joining {
    softmax_emitter *e;
    int words;
    mc_reg *word[2];
    const char *array;
    mc_reg give[2], keep[2], wide[2];
} joining;

static void combine(const joining *j, int row, const mc_reg *kept, const mc_reg *got) {
    mc_builder *b = j->e->b;
    if (j->words == 1) {
        EMIT(b, max_nan_f32, j->word[0][row], kept[0], got[0]);
        return;
    }
    EMIT(b, join_b64, j->wide[0], V2(kept));
    EMIT(b, join_b64, j->wide[1], V2(got));
    EMIT(b, add_s64, j->wide[0], j->wide[0], j->wide[1]);
    const mc_reg to[2] = {j->word[0][row], j->word[1][row]};
    EMIT(b, split_b64, V2(to), j->wide[0]);
}

/* Exchanges ROW, and where HALF is above 0 one of ROW and ROW + HALF: UPPER, the one that this lane keeps. */
static void exchange(joining *j, int row, int half, int bit, mc_reg upper) {
    mc_builder *b = j->e->b;
    mc_reg kept[2];
    for (int w = 0; w < j->words; w++) {
        mc_reg low = j->word[w][row];
        kept[w] = low;
        if (half > 0) {
            mc_reg high = j->word[w][row + half];
            EMIT(b, selp_b32, j->give[w], low, high, upper);
            EMIT(b, selp_b32, j->keep[w], high, low, upper);
            kept[w] = j->keep[w];
        }
        EMIT(b, shfl_bfly, j->give[w], half > 0 ? j->give[w] : low, I(1 << bit), I(MC_WARP - 1),
             H(0xffffffff));
    }
    combine(j, row, kept, j->give);
}

/* Over the lanes of a warp. Returns the row that this lane then has, as its first; REST has the bits of
   lanes that have the same one. */
static mc_reg join_lanes(joining *j, unsigned *rest) {
    const softmax_plan *plan = j->e->plan;
    mc_builder *b = j->e->b;
    mc_reg row = carried(b, "row_kept", j->e->row), set = b32(b, "lane_bit"), upper = pred(b, "upper");
    int rows = plan->rows;
    *rest = 0;
    for (int bit = 0; 1 << bit < MC_WARP; bit++) {
        if (!(plan->lane_bits >> bit & 1)) continue;
        int half = rows > 1 ? rows / 2 : 0;
        if (half > 0) {
            EMIT(b, and_b32, set, j->e->lane, I(1 << bit));
            EMIT(b, setp_ne, upper, set, I(0));
            EMIT(b, shr_u32, set, set, I(bit));
            EMIT(b, mad_s32, row, set, I((int64_t)half * plan->row_step), row);
        } else *rest |= 1U << bit;
        for (int i = 0; i < (half > 0 ? half : 1); i++) exchange(j, i, half, bit, upper);
        if (half > 0) rows = half;
    }
    return row;
}

static void store_part(const joining *j, mc_reg row, unsigned rest) {
    const softmax_plan *plan = j->e->plan;
    mc_builder *b = j->e->b;
    mc_reg parts = mov_shared(b, "parts", NAME(j->array));
    mc_reg place = mad_s32(b, "part_place", j->e->warp, I(plan->vec), row);
    mc_reg at = mad_s32(b, "part_at", place, I(j->words * WORD), parts), first = {0};
    if (rest) first = setp_eq(b, "first_lane", and_b32(b, "same", j->e->lane, H(rest)), I(0));
    const mc_reg words[2] = {j->word[0][0], j->words > 1 ? j->word[1][0] : j->word[0][0]};
    if (j->words == 1) EMIT_IF(b, first, sts_b32, AT(at, 0), words[0]);
    else EMIT_IF(b, first, sts_v2, AT(at, 0), V2(words));
    if (plan->warps > 1) EMIT(b, bar_sync, I(0));
    else EMIT(b, bar_warp_sync, H(0xffffffff));
}

/* The parts of the I-th of the thread's rows. */
static void load_row(joining *j, mc_reg from, int i) {
    const softmax_plan *plan = j->e->plan;
    mc_builder *b = j->e->b;
    int apart = plan->warps / plan->row_warps;
    const mc_reg to[2] = {j->word[0][i], j->words > 1 ? j->word[1][i] : j->word[0][i]};
    for (int warp = 0; warp < plan->row_warps; warp++) {
        const mc_reg *into = warp ? j->give : to;
        int64_t place = ((int64_t)warp * apart * plan->vec + (int64_t)i * plan->row_step) * j->words * WORD;
        if (j->words == 1) EMIT(b, lds_b32, into[0], AT(from, place));
        else EMIT(b, lds_v2, V2(into), AT(from, place));
        if (warp) combine(j, i, to, j->give);
    }
}

static void load_rows(joining *j) {
    const softmax_plan *plan = j->e->plan;
    mc_builder *b = j->e->b;
    int apart = plan->warps / plan->row_warps;
    mc_reg parts = mov_shared(b, "all_parts", NAME(j->array)), place = j->e->row;
    if (apart > 1) {
        mc_reg warp = and_b32(b, "first_warp", j->e->warp, I(apart - 1));
        place = mad_s32(b, "row_place", warp, I(plan->vec), place);
    }
    mc_reg from = mad_s32(b, "row_at", place, I(j->words * WORD), parts);
    for (int i = 0; i < plan->rows; i++) load_row(j, from, i);
}

static void join(joining *j, const char *prefix) {
    mc_builder *b = j->e->b;
    const char *before = b->prefix;
    char both[MC_MAX_NAME];
    unsigned rest;
    snprintf(both, sizeof both, "%s%s", before ? before : "", prefix);
    b->prefix = both;
    b32_array(b, "give", 2, j->give);
    b32_array(b, "keep", 2, j->keep);
    b64_array(b, "wide", 2, j->wide);
    mc_reg row = join_lanes(j, &rest);
    store_part(j, row, rest);
    load_rows(j);
    b->prefix = before;
}

void softmax_join_greatest(softmax_emitter *e) {
    joining j = {.e = e, .words = 1, .word = {e->of.greatest}, .array = "greatest_parts"};
    note(e->b, "the rows' greatest elements, of all threads");
    join(&j, "greatest_");
}

void softmax_join_sums(softmax_emitter *e) {
    joining j = {.e = e, .words = 2, .word = {e->of.low, e->of.high}, .array = "sum_parts"};
    note(e->b, "the rows' sums, of all threads");
    join(&j, "sums_");
}
