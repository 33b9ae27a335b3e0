/* The gather SpMM's epilogue where several warps share a row block. Each writes its partial sums to shared
 * memory; then the sums go around the row block's threads by quads, a quad being four neighbouring columns of
 * a row: a thread adds up what the warps have of its quads, and stores them.
 *
 * Rows lie in slots: slot V / 2 r + t holds row 2 t + r of the row block, in the paper's order slot g row g.
 * A thread's quads lie `step` slots apart. The first one's slot is below `step`, a power of two, so that rows
 * and addresses of the others are the first one's plus those of slot i * step, without a carry. */
#include "ops/spmm/gather/store.h"

static bool is_swapped(const gather_emitter *e) { return e->plan->base.math.order == SPMM_SWAPPED; }
static bool is_exact(const gather_emitter *e) { return e->plan->base.output.exact; }
static gather_partial layout(const gather_emitter *e, const gather_path *path) {
    return spmm_gather_partial_of(&e->plan->base.math, path->columns);
}

/* -- Into shared memory -------------------------------------------------------------------------------- */

/* Write and read four neighbouring sums in shared memory: 16 bytes, or where they are exact twice 16, PLANE
   bytes apart, so that either kind meets the banks alike. */
static void emit_put_quad(const gather_emitter *e, mc_reg at, int offset, int plane, const mc_reg sums[4]) {
    mc_builder *b = e->b;
    if (!is_exact(e)) {
        EMIT_IF(b, e->at.has_sums, sts_v4, AT(at, offset), V4(sums));
        return;
    }
    for (int i = 0; i < 2; i++)
        EMIT_IF(b, e->at.has_sums, sts_v2_b64, AT(at, offset + i * plane), V2(sums + 2 * i));
}

static void emit_get_quad(const gather_emitter *e, mc_reg at, int offset, int plane, const mc_reg sums[4]) {
    mc_builder *b = e->b;
    if (!is_exact(e)) {
        EMIT(b, lds_v4, V4(sums), AT(at, offset));
        return;
    }
    for (int i = 0; i < 2; i++) EMIT(b, lds_v2_b64, V2(sums + 2 * i), AT(at, offset + i * plane));
}

static void note_layout(const gather_emitter *e, gather_partial p) {
    const char *pairs = p.pair ? " + (t / 2) * 32" : "";
    if (is_swapped(e))
        heading(e->b, "Partial sums to shared memory, a share a warp: row 2 t + r at r * %d + t * %d%s",
                p.run * WORD, p.by_t * WORD, pairs);
    else
        heading(e->b,
                "Partial sums to shared memory, a share a warp: row g at g * %d, columns of t at t * %d%s",
                p.by_g * WORD, p.by_t * WORD, pairs);
    if (is_exact(e)) note(e->b, "columns 0 and 1 of four there, 2 and 3 %d bytes behind", p.warp * WORD);
}

/* Where run I of a lane lies, in words from its first one. */
static int place_of_run(const gather_emitter *e, gather_partial p, int i) {
    return spmm_is_tall(&e->plan->base.math) ? i / 2 * SPMM_MMA_ROWS * p.by_g + i % 2 * p.run : i * p.run;
}

/* Writes this warp's partial sums; gather_partial says where runs lie. */
static void emit_put_partial(gather_emitter *e, const gather_path *path, mc_reg shared) {
    mc_builder *b = e->b;
    gather_partial p = layout(e, path);
    mc_reg at = b32(b, "put_at");
    note_layout(e, p);
    EMIT(b, mad_s32, at, e->at.place.warp, I(spmm_gather_share_bytes(e->plan, path)), shared);
    EMIT(b, mad_s32, at, e->at.place.t, I(p.by_t * WORD), at);
    if (p.pair) EMIT(b, mad_s32, at, shr_u32(b, "t_pair", e->at.place.t, I(1)), I(p.pair * WORD), at);
    EMIT(b, mad_s32, at, e->at.place.g, I(p.by_g * WORD), at);
    for (int i = 0; i < gather_lane_sums_of(&e->plan->base.math, path->columns).runs; i++)
        for (int word = 0; word < path->columns / 32; word++) {
            mc_reg sums[4];
            spmm_gather_run_of_sums(e, word, i, 4, sums);
            emit_put_quad(e, at, WORD * (place_of_run(e, p, i) + 4 * word), p.warp * WORD, sums);
        }
}

/* -- Which quads are a thread's ------------------------------------------------------------------------ */

/* How the quads of a row block go around its threads. */
typedef struct quad_deal {
    int quads, all, threads; /* quads of a row, and of the row block; threads that share them */
    int count, step;         /* quads of a thread; slots from one to the next */
} quad_deal;

static quad_deal deal_of(const gather_emitter *e, const gather_path *path) {
    int quads = path->columns / 4;
    quad_deal k = {quads, e->plan->base.vec * quads, MC_WARP * e->plan->base.split, 0, 0};
    k.count = (k.all + k.threads - 1) / k.threads;
    k.step = k.threads / quads;
    return k;
}

/* A thread's first quad: its number in the row block and in its row; its slot there, and what of the slot
   or of the quad is a t. The last two are scratch for what comes of them. */
typedef struct quad {
    mc_reg number, of_row, row_slot, t;
} quad;

/* Slots of the first of each two rows. */
static int slot_pairs(const spmm_plan *plan) { return (plan->vec + 1) / 2; }

static int row_of_slot(const spmm_plan *plan, int slot) {
    int pairs = slot_pairs(plan);
    return plan->math.order == SPMM_SWAPPED ? slot % pairs * 2 + slot / pairs : slot;
}

/* Sets ROW, in C, from FIRST_ROW, the row block's. */
static void emit_quad_row(const gather_emitter *e, quad q, mc_reg row, mc_reg first_row) {
    mc_builder *b = e->b;
    int pairs = slot_pairs(&e->plan->base);
    if (!is_swapped(e)) {
        EMIT(b, add_s32, row, q.row_slot, first_row);
        return;
    }
    EMIT(b, and_b32, q.t, q.row_slot, I(pairs - 1));
    if (pairs > 1) EMIT(b, shr_u32, q.row_slot, q.row_slot, I(log2_of(pairs)));
    EMIT(b, mad_s32, row, q.t, I(2), first_row);
    EMIT(b, add_s32, row, row, q.row_slot);
}

/* Where slot SLOT lies, in bytes from a share's start. */
static int place_of_slot(const gather_emitter *e, const gather_path *path, int slot) {
    gather_partial p = layout(e, path);
    int pairs = slot_pairs(&e->plan->base), t = slot % pairs;
    if (!is_swapped(e)) return slot * p.by_g * WORD;
    return (slot / pairs * p.run + t * p.by_t + t / 2 * p.pair) * WORD;
}

/* -- Where a quad lies --------------------------------------------------------------------------------- */

/* Set AT to where the quad's slot lies, and in the paper's order the quad's t. That t follows from the
   row, in the paper's order from the quad. */
static void emit_find_slot(mc_builder *b, quad q, gather_partial p, mc_reg share, mc_reg at) {
    EMIT(b, mad_s32, at, q.row_slot, I(p.run * WORD), share);
    EMIT(b, mad_s32, at, q.t, I(p.by_t * WORD), at);
}

static void emit_find_row(mc_builder *b, quad q, gather_partial p, int columns, mc_reg share, mc_reg at) {
    int pad = p.by_t - columns;
    EMIT(b, mad_s32, at, q.row_slot, I(p.by_g * WORD), share);
    if (!pad && !p.pair) return;
    EMIT(b, shr_u32, q.t, q.of_row, I(log2_of(columns / 4)));
    if (pad) EMIT(b, mad_s32, at, q.t, I(pad * WORD), at);
}

/* Adds the pads between the columns of g and g + 1, where these do not adjoin. */
static void emit_skip_pads(mc_builder *b, quad q, gather_partial p, int run, mc_reg at) {
    int pad = p.by_g - run;
    if (!pad) return;
    EMIT(b, shr_u32, q.t, q.of_row, I(log2_of(run / 4)));
    EMIT(b, mad_s32, at, q.t, I(pad * WORD), at);
}

/* Returns the quad's address in the row block's first share. */
static mc_reg emit_find_quad(const gather_emitter *e, const gather_path *path, quad q, mc_reg share) {
    mc_builder *b = e->b;
    gather_partial p = layout(e, path);
    gather_lane_sums k = gather_lane_sums_of(&e->plan->base.math, path->columns);
    mc_reg at = b32(b, "sum_at");
    if (is_swapped(e)) emit_find_slot(b, q, p, share, at);
    else emit_find_row(b, q, p, k.columns, share, at);
    if (p.pair) {
        EMIT(b, shr_u32, q.t, q.t, I(1));
        EMIT(b, mad_s32, at, q.t, I(p.pair * WORD), at);
    }
    EMIT(b, mad_s32, at, q.of_row, I(4 * WORD), at);
    if (is_swapped(e)) emit_skip_pads(b, q, p, k.run, at);
    return at;
}

/* -- Sums ---------------------------------------------------------------------------------------------- */

/* A quad's sums, and those of another share. */
typedef struct quad_sums {
    mc_reg sum[4], other[4];
} quad_sums;

static quad_sums declare_sums(const gather_emitter *e) {
    quad_sums s = {.sum = {{0}}};
    (is_exact(e) ? b64_array : b32_array)(e->b, "sum", 4, s.sum);
    (is_exact(e) ? b64_array : b32_array)(e->b, "other", 4, s.other);
    return s;
}

/* Adds up the shares' sums of the quad at AT + PLACE. */
static void emit_add_shares(const gather_emitter *e, const gather_path *path, const quad_sums *s, mc_reg at,
                            int place) {
    mc_builder *b = e->b;
    mc_opcode add = sums_add(&e->sums);
    int plane = layout(e, path).warp * WORD;
    emit_get_quad(e, at, place, plane, s->sum);
    for (int part = 1; part < e->plan->base.split; part++) {
        emit_get_quad(e, at, place + part * spmm_gather_share_bytes(e->plan, path), plane, s->other);
        for (int i = 0; i < 4; i++)
            builder_emit(b, (mc_reg){0}, add, MC_OPERANDS(s->sum[i], s->sum[i], s->other[i]));
    }
}

/* The row block's first share. */
static mc_reg emit_first_share(const gather_emitter *e, const gather_path *path, mc_reg shared) {
    mc_builder *b = e->b;
    if (e->plan->base.row_blocks == 1) return shared;
    note(b, "the row block's first share");
    mc_reg share = b32(b, "share");
    EMIT(b, sub_s32, share, e->at.place.warp, e->at.part);
    EMIT(b, mad_s32, share, share, I(spmm_gather_share_bytes(e->plan, path)), shared);
    return share;
}

/* Adds up a thread's quads, the first one Q, and stores them. */
static void emit_quads(gather_emitter *e, const gather_path *path, quad q, mc_reg share, mc_reg tile_col,
                       const out_factors *factors) {
    mc_builder *b = e->b;
    const spmm_plan *plan = &e->plan->base;
    quad_deal k = deal_of(e, path);
    quad_sums s = declare_sums(e);
    out_writer w = spmm_gather_declare_writer(e, path, 4);
    mc_reg first_row = shl_b32(b, "first_row", e->row_block, spmm_gather_log_vec(e));
    EMIT(b, shr_u32, q.row_slot, q.number, I(log2_of(k.quads)));
    q.of_row = and_b32(b, "sum_quad", q.number, I(k.quads - 1));
    emit_quad_row(e, q, w.row, first_row);
    mc_reg at = emit_find_quad(e, path, q, share), col = mad_s32(b, "sum_col", q.of_row, I(4), tile_col);
    out_c_address(&w, w.row, col);
    out_residual_address(&w, w.row, col);
    for (int i = 0; i < k.count; i++) {
        emit_add_shares(e, path, &s, at, place_of_slot(e, path, i * k.step));
        int down = i ? row_of_slot(plan, i * k.step) - row_of_slot(plan, (i - 1) * k.step) : 0;
        if (i) out_advance_c(&w, down);
        out_advance_residual(&w, down);
        out_load_residual(&w, 0, col, 0, 4);
        out_store_run(&w, factors, &(out_run){.col = col, .count = 4, .sums = s.sum, .factor_row = i});
    }
}

/* The same of a column-major C: the elements go to the tile. */
static void emit_quads_of_columns(gather_emitter *e, const gather_path *path, quad q, mc_reg share,
                                  mc_reg tile_col, const out_factors *factors, column_writer *w) {
    mc_builder *b = e->b;
    quad_deal k = deal_of(e, path);
    quad_sums s = declare_sums(e);
    mc_reg row = b32(b, "block_row_of_quad"), zero = mov_b32(b, "no_row", I(0));
    EMIT(b, shr_u32, q.row_slot, q.number, I(log2_of(k.quads)));
    q.of_row = and_b32(b, "sum_quad", q.number, I(k.quads - 1));
    emit_quad_row(e, q, row, zero);
    mc_reg at = emit_find_quad(e, path, q, share);
    mc_reg local = shl_b32(b, "quad_column", q.of_row, I(2)), col = add_s32(b, "sum_col", local, tile_col);
    *w = spmm_gather_declare_columns(e, path, w->tile_at, 1, 4, row, local);
    if (e->plan->base.output.residual != OUT_NO_ADDEND) {
        mc_reg first_row = shl_b32(b, "first_row", e->row_block, spmm_gather_log_vec(e));
        columns_residual_address(w, add_s32(b, "residual_first_row", first_row, row));
    }
    for (int i = 0; i < k.count; i++) {
        emit_add_shares(e, path, &s, at, place_of_slot(e, path, i * k.step));
        int down = row_of_slot(&e->plan->base, i * k.step);
        columns_load_residual(w, col, 0, 4, down, 1, 1);
        columns_put(w, factors, &(out_patch){.columns = 4, .rows = 1, .sums = {s.sum}, .factor_row = i}, down,
                    0);
    }
}

/* Adds up the row block's V x columns sums, four at a time, over its split * 32 threads, and stores them. */
static void emit_sum(gather_emitter *e, const gather_path *path, mc_reg shared, mc_reg tile_col,
                     const out_factors *factors) {
    mc_builder *b = e->b;
    quad_deal k = deal_of(e, path);
    heading(b, "Sum of %d shares, four columns a thread, and store", e->plan->base.split);
    mc_label done = label(b, "SUM_DONE");
    bool by_columns = e->plan->base.c_columns;
    column_writer w = {.tile_at = by_columns ? spmm_gather_emit_tile_at(e, path) : shared};
    quad q = {.number = mad_s32(b, "item", e->at.part, I(MC_WARP), e->at.place.lane),
              .row_slot = b32(b, "sum_slot"),
              .t = b32(b, "sum_t")};
    if (k.threads > k.all) {
        mc_reg idle = setp_ge(b, "idle", q.number, I(k.all));
        EMIT_IF(b, idle, bra, TO(done));
    }
    mc_reg share = emit_first_share(e, path, shared);
    if (by_columns) emit_quads_of_columns(e, path, q, share, tile_col, factors, &w);
    else emit_quads(e, path, q, share, tile_col, factors);
    if (k.threads > k.all) set_label(b, done);
    if (by_columns) spmm_gather_emit_tile_store(e, &w, tile_col);
}

void spmm_gather_emit_shared_sums(gather_emitter *e, const gather_path *path, mc_reg path_col,
                                  const out_factors *factors) {
    mc_reg shared = mov_shared(e->b, "shared_at", NAME(gather_shared_name(e->plan)));
    emit_put_partial(e, path, shared);
    EMIT(e->b, bar_sync, I(0));
    emit_sum(e, path, shared, path_col, factors);
}

/* -- Scales and biases --------------------------------------------------------------------------------- */

/* Loads those of rows: each quad of a thread has a row of its own. */
static void emit_row_factors(const gather_emitter *e, quad_deal k, mc_reg number, out_factors *factors) {
    mc_builder *b = e->b;
    quad q = {.number = number, .row_slot = b32(b, "factor_slot"), .t = b32(b, "factor_t")};
    mc_reg row = b32(b, "factor_row");
    mc_reg first_row = shl_b32(b, "factor_first_row", e->row_block, spmm_gather_log_vec(e));
    EMIT(b, shr_u32, q.row_slot, q.number, I(log2_of(k.quads)));
    emit_quad_row(e, q, row, first_row);
    for (int i = 0; i < k.count; i++)
        out_load_row_factors(factors, i, row, row_of_slot(&e->plan->base, i * k.step), e->at.in_rows);
}

/* Loads those of columns. All quads of a thread have the same columns, since the quads of a row divide the
   threads. */
static void emit_column_factors(const gather_emitter *e, quad_deal k, mc_reg number, mc_reg tile_col,
                                out_factors *factors) {
    mc_builder *b = e->b;
    mc_reg col = b32(b, "factor_first_col");
    EMIT(b, and_b32, col, number, I(k.quads - 1));
    EMIT(b, mad_s32, col, col, I(4), tile_col);
    out_load_column_factors(factors, 0, col, 0, 4);
}

out_factors spmm_gather_emit_shared_factors(gather_emitter *e, const gather_path *path, mc_reg tile_col,
                                            mc_reg inside) {
    mc_builder *b = e->b;
    const out_kind *output = &e->plan->base.output;
    quad_deal k = deal_of(e, path);
    out_factors factors = {0};
    out_declare_factors(&factors, b, output, spmm_gather_columns_of(e, path), k.count, 4);
    out_declare_result(&factors);
    if (!out_by_rows(output) && !out_by_columns(output)) return factors;
    factors.inside = inside;
    mc_reg number = b32(b, "factor_item");
    EMIT(b, mad_s32, number, e->at.part, I(MC_WARP), e->at.place.lane);
    if (k.threads > k.all) note(b, "threads without a sum load what others load");
    if (k.threads > k.all) EMIT(b, and_b32, number, number, I(k.all - 1));
    if (out_by_columns(output)) emit_column_factors(e, k, number, tile_col, &factors);
    if (out_by_rows(output)) emit_row_factors(e, k, number, &factors);
    return factors;
}
