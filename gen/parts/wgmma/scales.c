/* Scales of blocks in a wgmma kernel: where a lane's lie, and when they are loaded. */
#include "parts/wgmma/wgmma.h"
#include "parts/emit.h"
#include "parts/fragment.h"

enum { SCALE_BYTES = sizeof(float), LANE_ROWS_APART = 8 };

static int row_blocks(const wgmma_scales *s) { return wgmma_blocks(s->g->plan); }

/* -- Begin -------------------------------------------------------------------------------------------- */

static void begin_row(wgmma_scales *s, mc_reg own_row) {
    const wgmma_kernel *g = s->g;
    mc_builder *b = g->b;
    mc_reg group = shr_u32(b, "block_g", g->roles.lane, I(FRAG_GROUP_SHIFT));
    s->line = add_s32(b, "scale_line", g->roles.warp_row, group);
    if (own_row.id) s->line = add_s32(b, "scale_own_line", s->line, own_row);
    s->last_row = add_s32(b, "last_row_of_a", g->m, I(-1));
    s->row = b32(b, "scale_row");
}

/* Bytes from a block of k to the next, and from a row, or 128 columns, to the next. */
static void begin_steps(wgmma_scales *s) {
    const wgmma_kernel *g = s->g;
    mc_builder *b = g->b;
    mc_reg blocks = wgmma_is_split(g->plan) ? g->k_all : g->k_stages;
    s->b_row = shl_b32(b, "scales_of_k", blocks, I(log2_of(SCALE_BYTES)));
    s->a_row = s->b_row, s->a_step = I(SCALE_BYTES);
    if (!g->plan->problem.a_blocks_columns) return;
    s->a_row = I(SCALE_BYTES);
    s->a_step = mul_wide(b, "scales_of_m", g->m, I(SCALE_BYTES));
}

/* Split: the first block of k is the part's. */
static void begin_part(wgmma_scales *s) {
    const wgmma_kernel *g = s->g;
    mc_builder *b = g->b;
    if (!wgmma_is_split(g->plan)) return;
    mc_reg apart = g->plan->problem.a_blocks_columns ? g->m : mov_b32(b, "apart", I(1));
    mc_reg skipped = mul_wide(b, "a_scales_before", g->k_first, apart);
    mc_reg bytes = shl_b64(b, "a_bytes_before", skipped, I(log2_of(SCALE_BYTES)));
    s->a_array = add_s64(b, "a_blocks_of_part", s->a_array, bytes);
    s->b_array = mad_wide(b, "b_blocks_of_part", g->k_first, I(SCALE_BYTES), s->b_array);
    s->any = setp_lt(b, "part_has_blocks", g->k_first, g->k_all);
}

static void declare_scales(wgmma_scales *s) {
    mc_builder *b = s->g->b;
    static const char *const at[WARPGROUP_BLOCKS][WARPGROUP_LANE_ROWS] = {{"a_block_at", "a_block_at_8"},
                                                                          {"a_block_at_64", "a_block_at_72"}};
    static const char *const names[] = {"a_block", "a_block_below"};
    for (int block = 0; block < row_blocks(s); block++) {
        b32_array(b, names[block], WARPGROUP_LANE_ROWS, s->a[block]);
        for (int half = 0; half < WARPGROUP_LANE_ROWS; half++) s->a_at[block][half] = b64(b, at[block][half]);
    }
    s->b = b32(b, "b_block"), s->b_at = b64(b, "b_block_at");
}

void wgmma_begin_scales(wgmma_scales *s, const wgmma_kernel *g, mc_reg own_row) {
    mc_builder *b = g->b;
    *s = (wgmma_scales){.g = g};
    note(b, "scales of blocks: of the lane's rows of A, and of the tile's columns of B");
    begin_row(s, own_row);
    s->a_array = load_array(b, "a_blocks"), s->b_array = load_array(b, "b_blocks");
    begin_steps(s);
    begin_part(s);
    declare_scales(s);
}

/* -- Loads -------------------------------------------------------------------------------------------- */

/* The load stays where it stands, ahead of the products (isa.def). */
static void load(const wgmma_scales *s, mc_reg scale, mc_reg at, mc_reg guard) {
    EMIT_IF(s->g->b, guard, ldr_b32, scale, AT(at, 0));
}

static void load_all(const wgmma_scales *s, mc_reg guard) {
    load(s, s->b, s->b_at, guard);
    for (int block = 0; block < row_blocks(s); block++)
        for (int half = 0; half < WARPGROUP_LANE_ROWS; half++)
            load(s, s->a[block][half], s->a_at[block][half], guard);
}

/* Of a part without blocks, whose sums are 0, as the scales are then. */
static void clear_all(const wgmma_scales *s) {
    mc_builder *b = s->g->b;
    EMIT(b, mov_b32, s->b, I(0));
    for (int block = 0; block < row_blocks(s); block++)
        for (int half = 0; half < WARPGROUP_LANE_ROWS; half++) EMIT(b, mov_b32, s->a[block][half], I(0));
}

/* Rows behind A's last one have its scales: nothing of them is stored. */
static void find_row(const wgmma_scales *s, mc_reg row, int block, int half) {
    mc_builder *b = s->g->b;
    int offset = block * WARPGROUP_ROWS + half * LANE_ROWS_APART;
    EMIT(b, add_s32, s->row, row, s->line);
    if (offset) EMIT(b, add_s32, s->row, s->row, I(offset));
    EMIT(b, min_s32, s->row, s->row, s->last_row);
    EMIT(b, mad_wide, s->a_at[block][half], s->row, s->a_row, s->a_array);
}

void wgmma_load_scales(const wgmma_scales *s, mc_reg row, mc_reg column) {
    mc_builder *b = s->g->b;
    note(b, "the scales of the tile's first stage");
    for (int block = 0; block < row_blocks(s); block++)
        for (int half = 0; half < WARPGROUP_LANE_ROWS; half++) find_row(s, row, block, half);
    EMIT(b, shr_u32, s->row, column, I(log2_of(GEMM_BLOCK)));
    EMIT(b, mad_wide, s->b_at, s->row, s->b_row, s->b_array);
    if (s->any.id) clear_all(s);
    load_all(s, s->any);
}

/* -- Stages ------------------------------------------------------------------------------------------- */

void wgmma_take_scales(const wgmma_scales *s, const mc_reg scales[][WARPGROUP_LANE_ROWS], mc_reg more) {
    mc_builder *b = s->g->b;
    note(b, "the stage's scales; those of the next one are loaded while this one is multiplied");
    EMIT(b, add_s64, s->b_at, s->b_at, I(SCALE_BYTES));
    for (int block = 0; block < row_blocks(s); block++)
        for (int half = 0; half < WARPGROUP_LANE_ROWS; half++) {
            EMIT(b, mul_f32, scales[block][half], s->a[block][half], s->b);
            EMIT(b, add_s64, s->a_at[block][half], s->a_at[block][half], s->a_step);
        }
    load_all(s, more);
}
