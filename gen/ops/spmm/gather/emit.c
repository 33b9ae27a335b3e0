/* The gather SpMM's instructions, from its plan.
 *
 *   thread's place -> the row block's strides -> [wide path] -> [edge path: tiles of 32 columns in a loop]
 *   a path: loop.c (where to read B, loop over strides), then store.c (epilogue)
 *
 * Slots and fragments are named as in fragment.h: lane = 4 g + t; lane t holds slots 8t .. 8t + 7 of each
 * 32. */
#include "ops/spmm/gather/emit.h"
#include <stdio.h>

/* Registers that ptxas 13 takes besides. Without them it spills in order paper for sm_100 and sm_120. */
enum { PAPER_SPARE = 32, WIDE_SPARE = 16 };

/* -- The thread's place and the row block's strides --------------------------------------------------- */

/* Sets this thread's place, its row block and its column tile. */
static void emit_place(gather_emitter *e) {
    mc_builder *b = e->b;
    const gather_plan *plan = e->plan;
    spmm_emit_lane(&e->at);
    e->row_block = load_special(b, "row_block", "ctaid.x");
    if (plan->base.row_blocks > 1) {
        mc_reg local = b32(b, "local_block");
        note(b, "%d row blocks a thread block", plan->base.row_blocks);
        EMIT(b, shr_u32, local, e->at.place.warp, I(log2_of(plan->base.split)));
        EMIT(b, mad_s32, e->row_block, e->row_block, I(plan->base.row_blocks), local);
    }
    spmm_emit_tile_column(&e->at);
}

/* Sets head, this warp's first stride: row_block * split + part. A row block beyond m has no head. Its warps
   take the last head that there is, and store nothing. */
static void emit_head(gather_emitter *e) {
    mc_builder *b = e->b;
    const gather_plan *plan = e->plan;
    heading(b, "This warp's first stride, the head: it lies where row_ptr need not be known");
    e->head = load_special(b, "head", "ctaid.x");
    if (plan->base.warps > 1) EMIT(b, mad_s32, e->head, e->head, I(plan->base.warps), e->at.place.warp);
    if (!plan->base.guard_rows) return;
    mc_reg last = b32(b, "last_head");
    EMIT(b, shr_u32, last, dim_operand(plan->base.m, e->at.m), I(log2_of(plan->base.vec)));
    EMIT(b, mad_s32, last, last, I(plan->base.split), I(-1));
    EMIT(b, min_s32, e->head, e->head, last);
}

/* Sets which indices a lane loads on PATH: those of the rows that it reads, or of those that it copies. */
static void emit_index_lane(gather_emitter *e, const gather_path *path) {
    mc_builder *b = e->b;
    e->indices = path->copy ? e->plan->rows.copies : MC_LANE_SLOTS;
    if (path->copy) {
        gather_shared_index_lane(e);
        return;
    }
    spmm_values values = spmm_values_of(&e->plan->base.math);
    note(b, "lane t: 8 indices at slot 8 t; lane: %d values at %d lane", values.count, values.regs * WORD);
    EMIT(b, mad_wide, e->index_lane, e->at.place.t, I(MC_LANE_SLOTS * WORD), e->col_idx);
}

/* Without heads in front of all strides a row block's own first strides take their place. A warp may have
   none. */
static void emit_own_head(gather_emitter *e) {
    static const char *const names[] = {"head_values", "last_head_values"};
    mc_builder *b = e->b;
    heading(b, "This warp's first stride, if the row block has as many");
    e->head = b32(b, "head"), e->has_head = pred(b, "has_head");
    if (e->at.part.id) EMIT(b, add_s32, e->head, e->first, e->at.part);
    else EMIT(b, mov_b32, e->head, e->first);
    EMIT(b, add_s32, e->first, e->first, I(e->plan->base.split));
    EMIT(b, setp_lt, e->has_head, e->head, e->last);
    const spmm_arithmetic *math = &e->plan->base.math;
    e->head_values = lanes_declare(math, b, names, e->has_head);
    lanes_set(math, b, e->has_values, e->head, e->last, e->head_values);
    emit_grid_wait(b, e->plan->base.overlap, "values or B");
}

static void emit_packed(gather_emitter *e) {
    mc_builder *b = e->b;
    int steps = e->plan->stride_steps, value_regs = spmm_value_regs(&e->plan->base.math);
    const spmm_arithmetic *math = &e->plan->base.math;
    mc_reg values;
    e->col_idx = load_array(b, "col_idx"), values = load_array(b, "values");
    e->index_lane = b64(b, "index_lane"), e->value_lane = b64(b, "value_lane");
    e->index_at = b64(b, "index_at"), e->value_at = b64(b, "value_at");
    b32_array(b, "index", steps * MC_LANE_SLOTS, e->index);
    b32_array(b, "value", value_regs, e->value);
    e->has_values = lanes_with_values(math, b, e->at.place.g);
    if (spmm_has_idle_lanes(math) || !e->plan->heads)
        for (int i = 0; i < value_regs; i++) EMIT(b, mov_b32, e->value[i], I(0));
    if (!e->plan->heads)
        for (int i = 0; i < steps * MC_LANE_SLOTS; i++) EMIT(b, mov_b32, e->index[i], I(-1));
    emit_index_lane(e, e->plan->wide.emitted ? &e->plan->wide : &e->plan->edge);
    EMIT(b, mad_wide, e->value_lane, e->at.place.lane, I(spmm_values_of(math).regs * WORD), values);
    if (!e->plan->heads) emit_own_head(e);
    if (e->plan->prefetch) gather_emit_load_head(e);
}

/* Sets first and last: the row block's strides that are no heads. A row block beyond m has none. */
static void emit_strides(gather_emitter *e) {
    mc_builder *b = e->b;
    heading(b, "The row block's other strides: row_ptr[row_block] up to row_ptr[row_block + 1]");
    mc_reg row_ptr = load_array(b, "row_ptr"), at = b64(b, "row_ptr_at");
    e->first = b32(b, "first"), e->last = b32(b, "last");
    EMIT(b, mad_wide, at, e->row_block, I(WORD), row_ptr);
    if (e->plan->base.guard_rows) {
        mc_reg blocks = b32(b, "row_blocks");
        e->at.in_rows = pred(b, "in_rows");
        EMIT(b, shr_u32, blocks, dim_operand(e->plan->base.m, e->at.m), I(log2_of(e->plan->base.vec)));
        EMIT(b, setp_lt, e->at.in_rows, e->row_block, blocks);
        EMIT(b, mov_b32, e->first, I(0));
        EMIT(b, mov_b32, e->last, I(0));
    }
    spmm_emit_sum_guards(&e->at, e->plan->base.split > 1);
    EMIT_IF(b, e->at.in_rows, ldr_b32, e->first, AT(at, 0));
    EMIT_IF(b, e->at.in_rows, ldr_b32, e->last, AT(at, WORD));
}

/* Loads the head for the edge path, which reads rows where the wide path copies them: a lane's indices are
   others. */
static void emit_other_head(gather_emitter *e) {
    emit_index_lane(e, &e->plan->edge);
    if (e->plan->prefetch) gather_emit_load_head(e);
}

/* Emits the edge path, which takes its tile 32 columns at a time, so that it stays short. */
static void emit_edge(gather_emitter *e) {
    mc_builder *b = e->b;
    const gather_path *path = &e->plan->edge;
    if (e->plan->base.tile_n == path->columns) {
        gather_emit_factors(e, path, e->at.tile_col, (mc_reg){0});
        gather_emit_tile(e, path, e->at.tile_col);
        return;
    }
    mc_reg col = b32(b, "part_col"), end = b32(b, "part_end"), again = pred(b, "again");
    mc_label loop = label(b, "COLUMNS");
    EMIT(b, add_s32, end, e->at.tile_col, I(e->plan->base.tile_n));
    EMIT(b, min_s32, end, end, dim_operand(e->plan->base.n, e->at.n));
    EMIT(b, mov_b32, col, e->at.tile_col);
    set_label(b, loop);
    gather_emit_factors(e, path, col, (mc_reg){0});
    gather_emit_tile(e, path, col);
    EMIT(b, add_s32, col, col, I(path->columns));
    EMIT(b, setp_lt, again, col, end);
    if (e->plan->prefetch) {
        note(b, "the next columns, if any, start at the head again");
        gather_emit_load_head(e);
    }
    if (e->plan->base.split > 1) note(b, "nobody overwrites partial sums that are still being read");
    if (e->plan->base.split > 1) EMIT(b, bar_sync, I(0));
    EMIT_IF(b, again, bra_uni, TO(loop));
}

/* Loads the wide path's scales and biases, which are on their way together with the head and row_ptr. */
static void emit_early_factors(gather_emitter *e) {
    mc_builder *b = e->b;
    mc_reg inside = {0};
    if (e->plan->checks.full_tile && out_by_columns(&e->plan->base.output)) {
        mc_reg end = b32(b, "tile_end");
        inside = pred(b, "full_tile");
        EMIT(b, add_s32, end, e->at.tile_col, I(e->plan->base.tile_n - 1));
        EMIT(b, setp_lt, inside, end, dim_operand(e->plan->base.n, e->at.n));
    }
    gather_emit_factors(e, &e->plan->wide, e->at.tile_col, inside);
}

/* -- Which path --------------------------------------------------------------------------------------- */

static void branch_if_odd(gather_emitter *e, mc_reg value, int unit, mc_label edge, const char *why) {
    mc_builder *b = e->b;
    note(b, "%s", why);
    EMIT(b, and_b32, e->odd_bits, value, I(unit - 1));
    EMIT(b, setp_ne, e->odd, e->odd_bits, I(0));
    EMIT_IF(b, e->odd, bra_uni, TO(edge));
}

static mc_reg low_half(gather_emitter *e, const char *name, mc_reg array) {
    mc_reg low = b32(e->b, name);
    EMIT(e->b, cvt_low, low, array);
    return low;
}

/* Chooses the path. Every thread of the block chooses alike, so that no warp is split here. */
static void emit_choice(gather_emitter *e, mc_label edge) {
    mc_builder *b = e->b;
    const gather_checks *checks = &e->plan->checks;
    heading(b, "Wide path or edge path: what the spec leaves open");
    e->odd = pred(b, "odd");
    e->odd_bits = b32(b, "odd_bits");
    if (checks->full_tile) {
        note(b, "the tile reaches beyond n");
        EMIT(b, add_s32, e->odd_bits, e->at.tile_col, I(e->plan->base.tile_n));
        EMIT(b, setp_gt, e->odd, e->odd_bits, dim_operand(e->plan->base.n, e->at.n));
        EMIT_IF(b, e->odd, bra_uni, TO(edge));
    }
    int access = gather_access(&e->plan->wide);
    if (checks->ldb)
        branch_if_odd(e, e->at.ldb, gather_access_columns(e->plan), edge,
                      "rows of B are not aligned for vector loads");
    if (checks->b_address)
        branch_if_odd(e, low_half(e, "b_low", e->at.b_array), access, edge, "B itself is not");
    int store = e->plan->wide.store, bytes = store * out_element_bytes(e->plan->base.output.element);
    char stores[64];
    snprintf(stores, sizeof stores, "rows of C are not aligned for %d-byte stores", bytes);
    if (checks->ldc) branch_if_odd(e, e->at.ldc, store, edge, stores);
    if (checks->c_address)
        branch_if_odd(e, low_half(e, "c_low", e->at.c_array), bytes, edge, "C itself is not");
}

void gather_emit(const void *data, mc_builder *b) {
    const gather_plan *plan = data;
    spmm_batch batch = spmm_batch_of(&plan->base);
    gather_emitter emitter = {.at = {.plan = &plan->base, .b = b}, .plan = plan, .b = b}, *e = &emitter;
    e->sums = (spmm_sums){.of = &plan->base.math, .b = b};
    e->gathered.sums = &e->sums;
    if (plan->base.batch) batch_begin(b, batch.arrays, SPMM_BATCH_ARRAYS);
    if (plan->base.math.order == SPMM_PAPER) b->spare += PAPER_SPARE;
    if (plan->base.shared_bytes) shared_array(b, gather_shared_name(plan), plan->base.shared_bytes, 16);
    emit_launch_next(b, plan->base.overlap);
    emit_place(e);
    e->at.m = load_shape(b, "m", plan->base.guard_rows && plan->base.m == MC_OPEN);
    e->at.n = load_shape(b, "n", plan->base.n == MC_OPEN);
    e->at.ldb = load_shape(b, "ldb", plan->base.ldb == MC_OPEN);
    e->at.ldc = load_shape(b, "ldc", plan->base.ldc == MC_OPEN);
    if (plan->heads) emit_head(e);
    else emit_strides(e);
    emit_packed(e);
    if (plan->heads) emit_strides(e);
    e->at.b_array = load_array(b, "b"), e->at.c_array = load_array(b, "c");
    if (plan->wide.emitted) emit_early_factors(e);
    gathered_declare(&e->gathered);
    sums_begin(&e->sums);
    if (plan->base.tile_n > 128) b->spare += WIDE_SPARE;
    spmm_emit_row_bytes(&e->at);

    mc_label edge = label(b, "EDGE");
    if (plan->wide.emitted && plan->edge.emitted) emit_choice(e, edge);
    if (plan->wide.emitted) {
        heading(b, "Wide path: %d columns, %d bytes of each row of B a lane", plan->wide.columns,
                plan->wide.unit);
        gather_emit_tile(e, &plan->wide, e->at.tile_col);
        EMIT_RET(b);
    }
    if (plan->edge.emitted) {
        b->prefix = "edge_";
        heading(b, "Edge path: 32 columns at a time, B in loads of %d byte%s", plan->edge.unit,
                plan->edge.unit == 1 ? "" : "s");
        set_label(b, edge);
        if (plan->wide.copy && plan->wide.emitted) emit_other_head(e);
        emit_edge(e);
        EMIT_RET(b);
    }
}
