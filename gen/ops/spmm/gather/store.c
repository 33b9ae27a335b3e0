/* The gather SpMM's epilogue: accumulators (or totals, where sums are exact) become elements of C, through
 * shared memory where warps share a row block.
 *
 * After the mma of columns 4 word + 2 two and the next, a lane's four accumulators are two of the first
 * column, then two of the second: those of rows 2t and 2t + 1, or in the paper's order those of lane groups
 * 2t and 2t + 1 (fragment.h, frag_c_reg; gather.h, gather_lane_sums). So a lane owns two runs of neighbouring
 * columns. */
#include "parts/fragment.h"
#include "ops/spmm/gather/emit.h"

enum { LANE_RUNS = 2 };

static const mc_reg *accumulator(const gather_emitter *e, int word, int run, int column) {
    const mc_reg *sums = sums_result(&e->sums);
    return &sums[(2 * word + column / 2) * 4 + frag_c_reg(column % 2, run)];
}

/* Collects COUNT columns of run RUN, from word WORD on. */
static void run_of_sums(const gather_emitter *e, int word, int run, int count, mc_reg *out) {
    for (int column = 0; column < count; column++)
        out[column] = *accumulator(e, word + column / 4, run, column % 4);
}

static out_columns columns_of(const gather_emitter *e, const gather_path *path) {
    return (out_columns){dim_operand(e->plan->base.n, e->at.n), path->clamp, path->whole};
}

static out_writer declare_writer(gather_emitter *e, const gather_path *path) {
    out_writer w = {.b = e->b,
                    .output = &e->plan->base.output,
                    .columns = columns_of(e, path),
                    .ldc = dim_operand(e->plan->base.ldc, e->at.ldc),
                    .c_array = e->at.c_array,
                    .in_rows = e->at.stores,
                    .store = path->store};
    out_declare_writer(&w);
    return w;
}

/* -- One warp a row block: from registers ------------------------------------------------------------- */

static gather_lane_sums lane_sums(const gather_emitter *e, const gather_path *path) {
    return gather_lane_sums_of(e->plan->base.math.order, path->columns);
}

/* Sets ROW to the lane's first row of C. */
static void emit_lane_row(gather_emitter *e, const gather_path *path, mc_reg row, mc_reg first_row) {
    mc_builder *b = e->b;
    EMIT(b, shl_b32, first_row, e->row_block, I(log2_of(e->plan->base.vec)));
    if (e->plan->base.math.order == SPMM_SWAPPED)
        EMIT(b, mad_s32, row, e->at.place.t, I(lane_sums(e, path).rows), first_row);
    else EMIT(b, add_s32, row, e->at.place.g, first_row);
}

/* The lane's first column of C. It is where the lane loads B from, unless the lane loads for others, or the
   paper's order gives it other sums. */
static mc_reg lane_column(gather_emitter *e, const gather_path *path, mc_reg path_col) {
    mc_builder *b = e->b;
    bool swapped = e->plan->base.math.order == SPMM_SWAPPED;
    if (swapped && !path->copy) return e->col;
    mc_reg col = b32(b, "c_first_col");
    EMIT(b, mad_s32, col, (swapped ? e->at.place.g : e->at.place.t), I(lane_sums(e, path).columns), path_col);
    return col;
}

static void emit_direct_factors(gather_emitter *e, const gather_path *path) {
    mc_builder *b = e->b;
    gather_lane_sums k = lane_sums(e, path);
    out_declare_factors(&e->factors, b, &e->plan->base.output, columns_of(e, path), k.rows, k.run);
    if (!out_by_rows(&e->plan->base.output)) return;
    mc_reg row = b32(b, "factor_row");
    emit_lane_row(e, path, row, row);
    for (int r = 0; r < k.rows; r++) out_load_row_factors(&e->factors, r, row, r, e->at.stores);
}

/* Stores from registers. Scales and biases of up to 16 columns are too many registers to hold through the
   loop: they are loaded here, all at once for a run. */
static void emit_direct(gather_emitter *e, const gather_path *path, mc_reg path_col) {
    mc_builder *b = e->b;
    gather_lane_sums k = lane_sums(e, path);
    heading(b, "Store: %s of the row block", k.rows == 2 ? "rows 2 t and 2 t + 1" : "row g");
    out_writer w = declare_writer(e, path);
    emit_lane_row(e, path, w.row, b32(b, "first_row"));
    mc_reg col = lane_column(e, path, path_col);
    for (int i = 0; i < LANE_RUNS; i++) {
        mc_reg sums[OUT_MAX_RUN];
        int row = gather_run_row(k, i), column = gather_run_column(k, i);
        if (i == 0 || column > 0) out_load_column_factors(&e->factors, 0, col, column, k.run);
        if (i == 0) out_c_address(&w, w.row, col);
        run_of_sums(e, 0, i, k.run, sums);
        if (row > 0) out_advance_c(&w, 1);
        out_store_run(
            &w, &e->factors,
            &(out_run){.col = col, .offset = column, .count = k.run, .sums = sums, .factor_row = row});
    }
}

/* -- Several warps a row block: through shared memory ------------------------------------------------- */

/* Write and read four neighbouring sums in shared memory: 16 bytes, or where they are exact twice 16, PLANE
   bytes apart, so that either kind meets the banks alike. */
static void emit_put_quad(gather_emitter *e, mc_reg at, int offset, int plane, const mc_reg sums[4]) {
    mc_builder *b = e->b;
    if (!e->plan->base.output.exact) {
        EMIT_IF(b, e->at.has_sums, sts_v4, AT(at, offset), V4(sums));
        return;
    }
    for (int i = 0; i < 2; i++)
        EMIT_IF(b, e->at.has_sums, sts_v2_b64, AT(at, offset + i * plane), V2(sums + 2 * i));
}

static void emit_get_quad(gather_emitter *e, mc_reg at, int offset, int plane, const mc_reg sums[4]) {
    mc_builder *b = e->b;
    if (!e->plan->base.output.exact) {
        EMIT(b, lds_v4, V4(sums), AT(at, offset));
        return;
    }
    for (int i = 0; i < 2; i++) EMIT(b, lds_v2_b64, V2(sums + 2 * i), AT(at, offset + i * plane));
}

/* Writes this warp's partial sums; gather_partial says where runs lie. */
static void emit_put_partial(gather_emitter *e, const gather_path *path, mc_reg shared) {
    mc_builder *b = e->b;
    gather_partial p = gather_partial_of(e->plan->base.math.order, path->columns);
    mc_reg at = b32(b, "put_at");
    if (e->plan->base.math.order == SPMM_SWAPPED)
        heading(b, "Partial sums to shared memory, a share a warp: row 2 t + r at r * %d + t * %d%s",
                p.run * WORD, p.by_t * WORD, p.pair ? " + (t / 2) * 32" : "");
    else
        heading(b, "Partial sums to shared memory, a share a warp: row g at g * %d, columns of t at t * %d%s",
                p.by_g * WORD, p.by_t * WORD, p.pair ? " + (t / 2) * 32" : "");
    if (e->plan->base.output.exact)
        note(b, "columns 0 and 1 of four there, 2 and 3 %d bytes behind", p.warp * WORD);
    EMIT(b, mad_s32, at, e->at.place.warp, I(gather_share_bytes(e->plan, path)), shared);
    EMIT(b, mad_s32, at, e->at.place.t, I(p.by_t * WORD), at);
    if (p.pair) {
        mc_reg pair = b32(b, "t_pair");
        EMIT(b, shr_u32, pair, e->at.place.t, I(1));
        EMIT(b, mad_s32, at, pair, I(p.pair * WORD), at);
    }
    EMIT(b, mad_s32, at, e->at.place.g, I(p.by_g * WORD), at);
    for (int i = 0; i < LANE_RUNS; i++) {
        for (int word = 0; word < path->columns / 32; word++) {
            mc_reg sums[4];
            run_of_sums(e, word, i, 4, sums);
            emit_put_quad(e, at, WORD * (i * p.run + 4 * word), p.warp * WORD, sums);
        }
    }
}

/* Registers of the sum, declared for each path. */
typedef struct summer {
    mc_reg item, slot, t, quad_col, at, col, sum[4], other[4];
} summer;

static summer declare_summer(gather_emitter *e) {
    mc_builder *b = e->b;
    summer u = {.item = b32(b, "item"),
                .slot = b32(b, "sum_slot"),
                .t = b32(b, "sum_t"),
                .quad_col = b32(b, "sum_quad"),
                .at = b32(b, "sum_at"),
                .col = b32(b, "sum_col")};
    (e->plan->base.output.exact ? b64_array : b32_array)(b, "sum", 4, u.sum);
    (e->plan->base.output.exact ? b64_array : b32_array)(b, "other", 4, u.other);
    return u;
}

/* The sums go around the threads as items. An item is four neighbouring columns, a quad, of the row in a
   slot. Slot V / 2 r + t holds row 2 t + r of the row block, in the paper's order slot g row g. A thread's
   items lie `step` slots apart. The first one's slot is below `step`, a power of two, so that rows and
   addresses of the others are the first one's plus those of slot i * step, without a carry. */
static int row_of_slot(const gather_plan *plan, int slot) {
    int pairs = plan->base.vec / 2;
    return plan->base.math.order == SPMM_SWAPPED ? slot % pairs * 2 + slot / pairs : slot;
}

static void emit_item_row(gather_emitter *e, const summer *u, int quads, mc_reg row, mc_reg first_row) {
    mc_builder *b = e->b;
    int pairs = e->plan->base.vec / 2;
    EMIT(b, shr_u32, u->slot, u->item, I(log2_of(quads)));
    if (u->quad_col.id) EMIT(b, and_b32, u->quad_col, u->item, I(quads - 1));
    if (e->plan->base.math.order == SPMM_PAPER) {
        EMIT(b, add_s32, row, u->slot, first_row);
        return;
    }
    EMIT(b, and_b32, u->t, u->slot, I(pairs - 1));
    if (pairs > 1) EMIT(b, shr_u32, u->slot, u->slot, I(log2_of(pairs)));
    EMIT(b, mad_s32, row, u->t, I(2), first_row);
    EMIT(b, add_s32, row, row, u->slot);
}

/* Where slot SLOT lies, in bytes from a share's start. */
static int place_of_slot(const gather_plan *plan, const gather_path *path, int slot) {
    gather_partial p = gather_partial_of(plan->base.math.order, path->columns);
    int pairs = plan->base.vec / 2, t = slot % pairs;
    if (plan->base.math.order == SPMM_PAPER) return slot * p.by_g * WORD;
    return (slot / pairs * p.run + t * p.by_t + t / 2 * p.pair) * WORD;
}

/* The same of the first item's slot and its quad there, in registers. Its t follows from the row, in the
   paper's order from the quad. */
static void emit_find_slot(gather_emitter *e, const summer *u, gather_partial p, mc_reg share) {
    mc_builder *b = e->b;
    EMIT(b, mad_s32, u->at, u->slot, I(p.run * WORD), share);
    EMIT(b, mad_s32, u->at, u->t, I(p.by_t * WORD), u->at);
}

static void emit_find_quad(gather_emitter *e, const gather_path *path, const summer *u, gather_partial p,
                           mc_reg share) {
    mc_builder *b = e->b;
    int columns = lane_sums(e, path).columns, pad = p.by_t - columns;
    EMIT(b, mad_s32, u->at, u->slot, I(p.by_g * WORD), share);
    if (!pad && !p.pair) return;
    EMIT(b, shr_u32, u->t, u->quad_col, I(log2_of(columns / 4)));
    if (pad) EMIT(b, mad_s32, u->at, u->t, I(pad * WORD), u->at);
}

/* Adds the pads between the columns of g and g + 1, where these do not adjoin. */
static void emit_skip_pads(gather_emitter *e, const gather_path *path, const summer *u, gather_partial p) {
    mc_builder *b = e->b;
    int run = path->columns / 8, pad = p.by_g - run;
    if (!pad) return;
    EMIT(b, shr_u32, u->t, u->quad_col, I(log2_of(run / 4)));
    EMIT(b, mad_s32, u->at, u->t, I(pad * WORD), u->at);
}

/* Sets `at` to the first item's address in the row block's first share. */
static void emit_find_item(gather_emitter *e, const gather_path *path, const summer *u, mc_reg share) {
    mc_builder *b = e->b;
    gather_partial p = gather_partial_of(e->plan->base.math.order, path->columns);
    if (e->plan->base.math.order == SPMM_SWAPPED) emit_find_slot(e, u, p, share);
    else emit_find_quad(e, path, u, p, share);
    if (p.pair) {
        EMIT(b, shr_u32, u->t, u->t, I(1));
        EMIT(b, mad_s32, u->at, u->t, I(p.pair * WORD), u->at);
    }
    EMIT(b, mad_s32, u->at, u->quad_col, I(4 * WORD), u->at);
    if (e->plan->base.math.order == SPMM_SWAPPED) emit_skip_pads(e, path, u, p);
}

/* Adds up the shares' sums of an item, PLACE bytes from the thread's first one. */
static void emit_add_shares(gather_emitter *e, const gather_path *path, const summer *u, int place) {
    mc_builder *b = e->b;
    mc_opcode add = e->plan->base.output.exact ? OP_add_s64 : OP_add_s32;
    int plane = gather_partial_of(e->plan->base.math.order, path->columns).warp * WORD;
    emit_get_quad(e, u->at, place, plane, u->sum);
    for (int part = 1; part < e->plan->base.split; part++) {
        emit_get_quad(e, u->at, place + part * gather_share_bytes(e->plan, path), plane, u->other);
        for (int i = 0; i < 4; i++)
            builder_emit(b, (mc_reg){0}, add, MC_OPERANDS(u->sum[i], u->sum[i], u->other[i]));
    }
}

/* How the sums of a row block go around its threads. */
typedef struct turns {
    /* quads of a row; items of the row block; threads that share them */
    int quads, items, threads;
    int count, step; /* items of a thread; slots from one to the next */
} turns;

static turns turns_of(const gather_emitter *e, const gather_path *path) {
    int quads = path->columns / 4;
    turns k = {quads, e->plan->base.vec * quads, MC_WARP * e->plan->base.split, 0, 0};
    k.count = (k.items + k.threads - 1) / k.threads;
    k.step = k.threads / quads;
    return k;
}

/* Adds up the row block's V x columns sums, four at a time, over its split * 32 threads, and stores them. */
static void emit_sum(gather_emitter *e, const gather_path *path, mc_reg shared, mc_reg tile_col) {
    mc_builder *b = e->b;
    int split = e->plan->base.split;
    turns k = turns_of(e, path);
    heading(b, "Sum of %d shares, four columns a thread, and store", split);
    summer u = declare_summer(e);
    out_writer w = declare_writer(e, path);
    mc_reg share = shared, first_row = b32(b, "first_row");
    mc_label done = label(b, "SUM_DONE");
    EMIT(b, mad_s32, u.item, e->at.part, I(MC_WARP), e->at.place.lane);
    if (k.threads > k.items) {
        mc_reg idle = pred(b, "idle");
        EMIT(b, setp_ge, idle, u.item, I(k.items));
        EMIT_IF(b, idle, bra, TO(done));
    }
    if (e->plan->base.row_blocks > 1) {
        note(b, "the row block's first share");
        share = b32(b, "share");
        EMIT(b, sub_s32, share, e->at.place.warp, e->at.part);
        EMIT(b, mad_s32, share, share, I(gather_share_bytes(e->plan, path)), shared);
    }
    EMIT(b, shl_b32, first_row, e->row_block, I(log2_of(e->plan->base.vec)));
    emit_item_row(e, &u, k.quads, w.row, first_row);
    emit_find_item(e, path, &u, share);
    EMIT(b, mad_s32, u.col, u.quad_col, I(4), tile_col);
    out_c_address(&w, w.row, u.col);
    for (int i = 0; i < k.count; i++) {
        emit_add_shares(e, path, &u, place_of_slot(e->plan, path, i * k.step));
        if (i) out_advance_c(&w, row_of_slot(e->plan, i * k.step) - row_of_slot(e->plan, (i - 1) * k.step));
        out_store_run(&w, &e->factors, &(out_run){.col = u.col, .count = 4, .sums = u.sum, .factor_row = i});
    }
    if (k.threads > k.items) set_label(b, done);
}

/* Loads the scales and biases of rows: each item of a thread has a row of its own. */
static void emit_sum_row_factors(gather_emitter *e, turns k, mc_reg item) {
    mc_builder *b = e->b;
    summer u = {.item = item, .slot = b32(b, "factor_slot"), .t = b32(b, "factor_t")};
    mc_reg row = b32(b, "factor_row"), first_row = b32(b, "factor_first_row");
    EMIT(b, shl_b32, first_row, e->row_block, I(log2_of(e->plan->base.vec)));
    emit_item_row(e, &u, k.quads, row, first_row);
    for (int i = 0; i < k.count; i++)
        out_load_row_factors(&e->factors, i, row, row_of_slot(e->plan, i * k.step), e->at.in_rows);
}

/* Loads those of columns. All items of a thread have the same columns, since the quads of a row divide the
   threads. */
static void emit_sum_column_factors(gather_emitter *e, turns k, mc_reg item, mc_reg tile_col) {
    mc_builder *b = e->b;
    mc_reg col = b32(b, "factor_first_col");
    EMIT(b, and_b32, col, item, I(k.quads - 1));
    EMIT(b, mad_s32, col, col, I(4), tile_col);
    out_load_column_factors(&e->factors, 0, col, 0, 4);
}

static void emit_sum_factors(gather_emitter *e, const gather_path *path, mc_reg tile_col, mc_reg inside) {
    mc_builder *b = e->b;
    const out_kind *output = &e->plan->base.output;
    turns k = turns_of(e, path);
    out_declare_factors(&e->factors, b, output, columns_of(e, path), k.count, 4);
    if (!out_by_rows(output) && !out_by_columns(output)) return;
    e->factors.inside = inside;
    mc_reg item = b32(b, "factor_item");
    EMIT(b, mad_s32, item, e->at.part, I(MC_WARP), e->at.place.lane);
    if (k.threads > k.items) note(b, "threads without a sum load what others load");
    if (k.threads > k.items) EMIT(b, and_b32, item, item, I(k.items - 1));
    if (out_by_columns(output)) emit_sum_column_factors(e, k, item, tile_col);
    if (out_by_rows(output)) emit_sum_row_factors(e, k, item);
}

/* -- Both --------------------------------------------------------------------------------------------- */

void gather_emit_factors(gather_emitter *e, const gather_path *path, mc_reg path_col, mc_reg inside) {
    const out_kind *output = &e->plan->base.output;
    if (out_is_scaled(output->element)) heading(e->b, "Scales and biases");
    /* Arrays of them may be, like B, what the kernel before this one writes. */
    if (out_by_rows(output) || out_by_columns(output)) emit_grid_wait(e->b, e->plan->base.overlap, "B");
    if (e->plan->base.split == 1) emit_direct_factors(e, path);
    else emit_sum_factors(e, path, path_col, inside);
}

void gather_emit_epilogue(gather_emitter *e, const gather_path *path, mc_reg path_col) {
    mc_builder *b = e->b;
    if (e->plan->base.split == 1) {
        emit_direct(e, path, path_col);
        return;
    }
    mc_reg shared = b32(b, "shared_at");
    EMIT(b, mov_shared, shared, NAME(gather_shared_name(e->plan)));
    emit_put_partial(e, path, shared);
    EMIT(b, bar_sync, I(0));
    emit_sum(e, path, shared, path_col);
}
