/* Ends of each row across the lanes and warps, and the rows' scales. */
#include "ops/quantise/token/token.h"

enum { MAGIC = 0x4b400000 };
static const uint32_t all_lanes = 0xffffffff;

/* -- Across lanes and warps --------------------------------------------------------------------------- */

/* Floats that are not negative, and NaN above them, are ordered as integers. */
static void reduce_lanes(const quantise_emitter *e, mc_reg end) {
    mc_builder *b = e->b;
    mc_reg other = e->scratch.half;
    quantise_unpack_end(e, end);
    for (int mask = 1; mask < e->plan->lanes_across; mask *= 2) {
        EMIT(b, shfl_bfly, other, end, I(mask), I(MC_WARP - 1), H(all_lanes));
        EMIT(b, max_s32, end, end, other);
    }
}

/* Shared memory: the rows' multipliers and zero points, then the ends of each warp's rows. */
static int64_t warp_place(const quantise_plan *plan, int end) {
    int64_t rows = plan->tile;
    return (quantise_end_count(plan) * rows + (int64_t)end * plan->warps * rows) * WORD;
}

static void write_warp(const quantise_emitter *e, const quantise_patch *patch, const quantise_ends *ends,
                       mc_reg shared) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    mc_reg first = setp_eq(b, "is_first", patch->across, I(0));
    mc_reg warp_at = mad_s32(b, "warp_at", e->number.warp, I((int64_t)plan->tile * WORD), shared);
    mc_reg at = mad_s32(b, "ends_at", patch->down, I((int64_t)plan->rows * WORD), warp_at);
    for (int end = 0; end < quantise_end_count(plan); end++)
        for (int i = 0; i < plan->rows; i++)
            EMIT_IF(b, first, sts_b32, AT(at, warp_place(plan, end) + (int64_t)i * WORD), ends->of[end][i]);
}

/* -- Scales ------------------------------------------------------------------------------------------- */

/* Row ROW of the thread block's, of which these are the ends: the first lane writes what comes of them. */
static void finish_row(const quantise_emitter *e, mc_reg row, const mc_reg ends[QUANTISE_ENDS],
                       mc_reg shared) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    const quantise_made made = quantise_make_scale(e, ends);
    mc_reg first = setp_eq(b, "is_lane_0", e->number.lane, I(0));
    mc_reg at = mad_s32(b, "factor_place", row, I(WORD), shared);
    EMIT_IF(b, first, sts_b32, AT(at, 0), made.by);
    if (plan->zero) EMIT_IF(b, first, sts_b32, AT(at, (int64_t)plan->tile * WORD), made.zero);
    mc_reg of_a = add_s32(b, "row_of_a", row, e->row0);
    mc_reg writer = first;
    if (e->share.id) writer = setp_eq_and(b, "is_writer", e->share, I(0), first);
    mc_reg writes = setp_lt_and(b, "writes_scale", of_a, e->m, writer);
    EMIT_IF(b, writes, stg_b32, AT(mad_wide(b, "scale_at", of_a, I(WORD), e->factors.scale), 0), made.scale);
    if (plan->zero)
        EMIT_IF(b, writes, stg_b32, AT(mad_wide(b, "zero_at", of_a, I(WORD), e->factors.zero), 0), made.zero);
}

/* The warps take the tile's rows in turn: turn TURN. */
static mc_reg begin_turn(const quantise_emitter *e, int turn, mc_label next) {
    mc_builder *b = e->b;
    mc_reg row = add_s32(b, "row", e->number.warp, I((int64_t)turn * e->plan->warps));
    if (e->plan->warps > e->plan->tile)
        EMIT_IF(b, setp_ge(b, "no_row", row, I(e->plan->tile)), bra, TO(next));
    return row;
}

static int turns_of(const quantise_plan *plan) {
    return plan->tile > plan->warps ? plan->tile / plan->warps : 1;
}

/* The greatest of the warps' ends. */
static void join_row(const quantise_emitter *e, mc_reg row, mc_reg shared, mc_reg ends[QUANTISE_ENDS]) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    mc_reg counts =
        plan->warps < MC_WARP ? setp_lt(b, "counts", e->number.lane, I(plan->warps)) : (mc_reg){0};
    mc_reg place = mad_s32(b, "place", e->number.lane, I(plan->tile), row);
    mc_reg at = mad_s32(b, "join_at", place, I(WORD), shared);
    for (int end = 0; end < quantise_end_count(plan); end++) {
        mc_reg of_warp = carried(b, end ? "below_of_warp" : "of_warp", I(0));
        EMIT_IF(b, counts, lds_b32, of_warp, AT(at, warp_place(plan, end)));
        ends[end] = redux_max_u32(b, end ? "row_below" : "row_reach", of_warp, H(all_lanes));
    }
}

/* -- In a cluster ------------------------------------------------------------------------------------- */

/* Shared memory, behind the warps' ends of the rows: those of each thread block of the cluster. */
static int64_t block_place(const quantise_plan *plan, int end) {
    return warp_place(plan, quantise_end_count(plan)) + (int64_t)end * plan->cluster * plan->tile * WORD;
}

/* Writes the thread block's ends of ROW to all thread blocks of the cluster, a lane to each. */
static void tell_cluster(const quantise_emitter *e, mc_reg row, mc_reg shared,
                         const mc_reg ends[QUANTISE_ENDS]) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    mc_reg tells = setp_lt(b, "tells", e->number.lane, I(plan->cluster));
    mc_reg place = mad_s32(b, "tell_place", e->share, I(plan->tile), row);
    mc_reg there = carried(b, "there", mad_s32(b, "tell_at", place, I(WORD), shared));
    EMIT_IF(b, tells, mapa, there, there, e->number.lane);
    for (int end = 0; end < quantise_end_count(plan); end++)
        EMIT_IF(b, tells, sts_cluster_b32, AT(there, block_place(plan, end)), ends[end]);
}

/* The greatest of the thread blocks' ends. */
static void join_cluster(const quantise_emitter *e, mc_reg row, mc_reg shared, mc_reg ends[QUANTISE_ENDS]) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    mc_reg counts = setp_lt(b, "block_counts", e->number.lane, I(plan->cluster));
    mc_reg place = mad_s32(b, "block_place", e->number.lane, I(plan->tile), row);
    mc_reg at = mad_s32(b, "block_at", place, I(WORD), shared);
    for (int end = 0; end < quantise_end_count(plan); end++) {
        mc_reg of_block = carried(b, end ? "below_of_block" : "of_block", I(0));
        EMIT_IF(b, counts, lds_b32, of_block, AT(at, block_place(plan, end)));
        ends[end] = redux_max_u32(b, end ? "cluster_below" : "cluster_reach", of_block, H(all_lanes));
    }
}

void token_begin_cluster(const quantise_emitter *e) {
    if (e->plan->cluster == 1) return;
    note(e->b, "this thread block has begun: the others may write to its shared memory");
    EMIT_BARE(e->b, cluster_arrive);
}

/* -- Factors ------------------------------------------------------------------------------------------ */

static void load_row_factors(quantise_emitter *e, const quantise_patch *patch, mc_reg shared) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    quantise_factors *f = &e->factors;
    mc_reg at = mad_s32(b, "factors_at", patch->down, I((int64_t)plan->rows * WORD), shared);
    for (int i = 0; i < plan->rows; i++) {
        EMIT(b, lds_b32, f->by[i], AT(at, (int64_t)i * WORD));
        if (!plan->zero) continue;
        mc_reg zero = lds_b32(b, NTH("shared_zero", i), AT(at, ((int64_t)plan->tile + i) * WORD));
        quantise_set_point(e, zero, f->point[i], f->low[i], f->high[i]);
    }
}

/* A row's multiplier is 0 or NaN where its scale is not finite: bits of such rows are 0. */
static void prepare_addition(quantise_emitter *e) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    quantise_factors *f = &e->factors;
    f->magic = mov_b32(b, "magic", H(MAGIC));
    for (int w = 0; w < plan->words; w++) f->mask[w] = carried(b, NTH("word_mask", w), I(0));
    mc_reg zero = mov_b32(b, "no_multiplier", I(0));
    for (int i = 0; i < plan->rows; i++) {
        mc_reg finite = setp_lt_f32(b, NTH("is_finite", i), zero, f->by[i]);
        f->row_mask[i] = selp_b32(b, NTH("row_mask", i), H(all_lanes), I(0), finite);
        mc_reg mask = f->mask[i / quantise_word_rows(plan)];
        EMIT(b, bfi, mask, f->row_mask[i], mask, I((int64_t)plan->out_bits * (i % quantise_word_rows(plan))),
             I(plan->out_bits));
    }
}

/* Of one turn's row */
typedef void of_row(const quantise_emitter *e, mc_reg row, mc_reg shared);

static void join_and_finish(const quantise_emitter *e, mc_reg row, mc_reg shared) {
    mc_reg joined[QUANTISE_ENDS];
    join_row(e, row, shared, joined);
    finish_row(e, row, joined, shared);
}

static void join_and_tell(const quantise_emitter *e, mc_reg row, mc_reg shared) {
    mc_reg joined[QUANTISE_ENDS];
    join_row(e, row, shared, joined);
    tell_cluster(e, row, shared, joined);
}

static void join_cluster_and_finish(const quantise_emitter *e, mc_reg row, mc_reg shared) {
    mc_reg ends[QUANTISE_ENDS];
    join_cluster(e, row, shared, ends);
    finish_row(e, row, ends, shared);
}

static void for_turns(const quantise_emitter *e, const char *name, mc_reg shared, of_row *body) {
    mc_builder *b = e->b;
    for (int turn = 0; turn < turns_of(e->plan); turn++) {
        made_name prefix = quantise_numbered(name, turn);
        b->prefix = prefix.text;
        mc_label next = label(b, "NEXT");
        body(e, begin_turn(e, turn, next), shared);
        set_label(b, next);
        b->prefix = NULL;
    }
}

void token_make_factors(quantise_emitter *e, const quantise_patch *patch, const quantise_ends *ends,
                        mc_reg shared) {
    const quantise_plan *plan = e->plan;
    mc_builder *b = e->b;
    note(b, "the ends of each row: of the warp, of the thread block, and the scales that come of them");
    for (int end = 0; end < quantise_end_count(plan); end++)
        for (int i = 0; i < plan->rows; i++) reduce_lanes(e, ends->of[end][i]);
    write_warp(e, patch, ends, shared);
    if (plan->cluster > 1) EMIT_BARE(b, cluster_wait);
    EMIT(b, bar_sync, I(0));
    for_turns(e, "turn", shared, plan->cluster > 1 ? join_and_tell : join_and_finish);
    if (plan->cluster > 1) {
        EMIT_BARE(b, cluster_arrive);
        EMIT_BARE(b, cluster_wait);
        for_turns(e, "cluster", shared, join_cluster_and_finish);
    }
    EMIT(b, bar_sync, I(0));
    load_row_factors(e, patch, shared);
    if (plan->by_addition) prepare_addition(e);
}

/* -- The edge path ------------------------------------------------------------------------------------ */

static void take_and_finish(const quantise_emitter *e, mc_reg row, mc_reg shared) {
    mc_builder *b = e->b;
    quantise_ends ends;
    mc_reg joined[QUANTISE_ENDS], of_a = add_s32(b, "turn_row", row, e->row0);
    mc_label beyond = label(b, "BEYOND");
    EMIT_IF(b, setp_ge(b, "beyond", of_a, e->m), bra, TO(beyond));
    for (int end = 0; end < quantise_end_count(e->plan); end++)
        ends.of[end][0] = carried(b, end ? "edge_below" : "edge_reach", I(0));
    quantise_take_row(e, of_a, e->number.lane, e->n, &ends);
    for (int end = 0; end < quantise_end_count(e->plan); end++)
        joined[end] = redux_max_u32(b, end ? "joined_below" : "joined_reach", ends.of[end][0], H(all_lanes));
    finish_row(e, row, joined, shared);
    set_label(b, beyond);
}

void token_make_factors_by_points(quantise_emitter *e, mc_reg shared) {
    for_turns(e, "points", shared, take_and_finish);
    EMIT(e->b, bar_sync, I(0));
}
