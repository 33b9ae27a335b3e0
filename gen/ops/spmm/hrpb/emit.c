/* The instructions of the solver `hrpb`, from its plan: the item, the loop over blocks, what follows it. */
#include "ops/spmm/hrpb/emit.h"
#include "parts/panels.h"

/* Registers that ptxas 13 takes besides, where a lane has many sums, and scales or biases of columns. */
enum { MANY_SUMS = 64, COLUMNS_SPARE = 32 };

static const char *const words[] = {"panel", "first", "last", "sharing"};

/* Sets which rows of C the lane has. */
static void find_rows(hrpb_emitter *e, mc_reg panel) {
    mc_builder *b = e->b;
    const spmm_plan *base = &e->plan->base;
    e->row = mad_s32(b, "lane_row", panel, I(base->vec), e->at.place.g);
    const int rows = e->plan->block.brick_rows * HRPB_HALVES;
    mc_reg row = carried(b, "next_row", e->row);
    pred_array(b, "has_row", rows, e->has_row);
    for (int r = 0; r < rows; r++) {
        if (r > 0) EMIT(b, add_s32, row, row, I(HRPB_TILE_ROWS / HRPB_HALVES));
        EMIT(b, setp_lt, e->has_row[r], row, dim_operand(base->m, e->at.m));
    }
}

static void emit_item(hrpb_emitter *e) {
    mc_builder *b = e->b;
    mc_reg word[PANEL_ITEM_WORDS];
    heading(b, "This thread block's virtual panel: %d rows, and which of its blocks", e->plan->base.vec);
    e->thread_block = load_special(b, "block", "ctaid.x");
    mc_reg at = mad_wide(b, "item_at", e->thread_block, I(PANEL_ITEM_WORDS * WORD), load_array(b, "items"));
    for (int i = 0; i < PANEL_ITEM_WORDS; i++) word[i] = b32(b, words[i]);
    EMIT(b, ldr_v4, V4(word), AT(at, 0));
    e->sharing = word[3];
    e->left = b32(b, "left");
    EMIT(b, sub_s32, e->left, word[2], word[1]);
    e->size_at = b64(b, "size_at"), e->columns_at = b64(b, "columns_at");
    EMIT(b, mad_wide, e->size_at, word[1], I(WORD), load_array(b, "size_ptr"));
    EMIT(b, mad_wide, e->columns_at, word[1], I(e->plan->block_cols * WORD), load_array(b, "active_cols"));
    e->packed = load_array(b, "packed_blocks");
    find_rows(e, word[0]);
}

static void load_shapes(spmm_emitter *at) {
    mc_builder *b = at->b;
    const spmm_plan *plan = at->plan;
    at->m = load_shape(b, "m", plan->m == MC_OPEN), at->n = load_shape(b, "n", plan->n == MC_OPEN);
    at->ldb = load_shape(b, "ldb", plan->ldb == MC_OPEN),
    at->ldc = load_shape(b, "ldc", plan->ldc == MC_OPEN);
    at->b_array = load_array(b, "b"), at->c_array = load_array(b, "c");
    spmm_emit_row_bytes(at);
}

static void emit_blocks(hrpb_emitter *e, const hrpb_copier *copier, const hrpb_multiplier *multiplier) {
    mc_builder *b = e->b;
    mc_label loop = label(b, "BLOCKS"), done = label(b, "NO_BLOCKS");
    mc_reg none = setp_eq(b, "no_block", e->left, I(0)), more = pred(b, "more");
    EMIT_IF(b, none, bra_uni, TO(done));
    heading(b, "Loop over blocks of %d active columns", e->plan->block_cols);
    set_label(b, loop);
    spmm_hrpb_emit_copies(e, copier);
    EMIT_BARE(b, cp_async_wait_all);
    EMIT(b, bar_sync, I(0));
    spmm_hrpb_emit_multiply(e, multiplier);
    EMIT(b, add_s32, e->left, e->left, I(-1));
    EMIT(b, setp_gt, more, e->left, I(0));
    EMIT(b, add_s64, e->size_at, e->size_at, I(WORD));
    EMIT(b, add_s64, e->columns_at, e->columns_at, I(e->plan->block_cols * WORD));
    note(b, "nobody overwrites what is still being read");
    EMIT(b, bar_sync, I(0));
    EMIT_IF(b, more, bra_uni, TO(loop));
    set_label(b, done);
}

static void emit_kernel(hrpb_emitter *e) {
    mc_builder *b = e->b;
    const spmm_plan *base = &e->plan->base;
    hrpb_copier copier;
    hrpb_multiplier multiplier;
    mc_label end = label(b, "END");
    emit_launch_next(b, base->overlap);
    spmm_emit_lane(&e->at);
    spmm_emit_tile_column(&e->at);
    if (base->warps > 1) e->warp_col = mul_s32(b, "warp_col", e->at.place.warp, I(e->plan->warp_n));
    load_shapes(&e->at);
    emit_item(e);
    e->block_shared = mov_shared(b, "block_shared", NAME("block"));
    e->rows_shared = mov_shared(b, "rows_shared", NAME("rows"));
    spmm_hrpb_begin_copies(e, &copier);
    spmm_hrpb_begin_multiply(e, &multiplier);
    b32_array(b, "acc", hrpb_sums(e->plan), e->acc);
    for (int i = 0; i < hrpb_sums(e->plan); i++) EMIT(b, mov_b32, e->acc[i], I(0));
    emit_grid_wait(b, base->overlap, "B");
    emit_blocks(e, &copier, &multiplier);
    spmm_hrpb_emit_join(e, end);
    spmm_hrpb_emit_store(e);
    set_label(b, end);
    EMIT_RET(b);
}

void spmm_hrpb_emit(const void *data, mc_builder *b) {
    const hrpb_plan *plan = data;
    hrpb_emitter e = {.plan = plan, .b = b, .at = {.plan = &plan->base, .b = b}};
    shared_array(b, "block", (unsigned)plan->block_bytes, HRPB_ALIGN);
    shared_array(b, "rows", (unsigned)(plan->block_cols * plan->row_bytes), HRPB_ALIGN);
    if (hrpb_sums(plan) >= MANY_SUMS && out_by_columns(&plan->base.output)) b->spare += COLUMNS_SPARE;
    emit_kernel(&e);
}
