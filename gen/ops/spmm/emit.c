/* The gather SpMM's instructions, from its plan.
 *
 *   thread's place -> the row block's strides -> [wide path] -> [edge path: tiles of 32 columns in a loop]
 *   a path: loop.c (where to read B, loop over strides), then store.c (epilogue)
 *
 * Slots and fragments are named as in fragment.h: lane = 4 g + t; lane t holds slots 8t .. 8t + 7 of each
 * 32. */
#include "ops/spmm/emit.h"
#include "parts/fragment.h"
#include <stdio.h>

/* Registers that ptxas 13 takes besides. Without them it spills in order paper for sm_100 and sm_120. */
enum { PAPER_SPARE = 32, WIDE_SPARE = 16 };

mc_opcode spmm_mma(const spmm_plan *plan, int lhs_digit, int rhs_digit) {
    bool lhs_signed = digit_is_signed(plan->a, lhs_digit), rhs_signed = digit_is_signed(plan->b, rhs_digit);
    return plan->order == SPMM_PAPER ? mma_int8_small(lhs_signed, rhs_signed)
                                     : mma_int8(rhs_signed, lhs_signed);
}

/* Emits the small mma of the paper's order, in which A's values are the mma's rows and a column of B is one
   of its columns. Each takes one register of either: 16 slots, or 32 of 4 bits. The registers are those that
   the large mma takes (fragment.h). */
static void emit_small_products(spmm_emitter *e, mc_opcode op, spmm_operands of, const mc_reg acc[4]) {
    for (int i = 0; i < of.count; i++)
        for (int column = 0; column < of.columns; column++) {
            const mc_reg *sums = &acc[frag_c_reg(column, 0)];
            builder_emit(e->b, (mc_reg){0}, op,
                         MC_OPERANDS(V2(sums), of.a[i], of.b[frag_a_reg(column, i)], V2(sums)));
        }
}

void spmm_emit_product(spmm_emitter *e, mc_opcode op, spmm_operands of, const mc_reg acc[4]) {
    if (e->plan->order == SPMM_PAPER) emit_small_products(e, op, of, acc);
    else
        builder_emit(e->b, (mc_reg){0}, op,
                     MC_OPERANDS(V4(acc), operand_vector(of.b, 2 * of.count), operand_vector(of.a, of.count),
                                 V4(acc)));
}

void spmm_emit_weigh(spmm_emitter *e, int count) {
    mc_builder *b = e->b;
    int weight = 1 << spmm_sum_weight(e->plan, 1);
    for (int top = e->plan->sums - 1; top > 0; top--) {
        note(b, "a digit weighs %d times the one below", weight);
        for (int i = count * (top - 1); i < count * top; i++)
            EMIT(b, mad_s32, e->acc[i], e->acc[count + i], I(weight), e->acc[i]);
    }
    spmm_emit_unstack(e, count);
}

/* -- The thread's place and the row block's strides --------------------------------------------------- */

static void emit_tile_column(spmm_emitter *e) {
    mc_builder *b = e->b;
    mc_reg tile = load_special(b, "tile", "ctaid.y");
    e->tile_col = b32(b, "tile_col");
    EMIT(b, mul_s32, e->tile_col, tile, I(e->plan->tile_n));
}

static void emit_lane(spmm_emitter *e) {
    mc_builder *b = e->b;
    const spmm_plan *plan = e->plan;
    heading(b, "This thread's place: lane = 4 g + t of a warp%s",
            plan->split > 1 ? ", part of the warps that share a row block" : "");
    e->place = load_thread_place(b, plan->threads);
    if (plan->split > 1) {
        e->part = b32(b, "part");
        EMIT(b, and_b32, e->part, e->place.warp, I(plan->split - 1));
    }
}

void spmm_emit_thread(spmm_emitter *e) {
    emit_lane(e);
    emit_tile_column(e);
}

/* Sets this thread's place, its row block and its column tile. */
static void emit_place(spmm_emitter *e) {
    mc_builder *b = e->b;
    const spmm_plan *plan = e->plan;
    emit_lane(e);
    e->row_block = load_special(b, "row_block", "ctaid.x");
    if (plan->row_blocks > 1) {
        mc_reg local = b32(b, "local_block");
        note(b, "%d row blocks a thread block", plan->row_blocks);
        EMIT(b, shr_u32, local, e->place.warp, I(log2_of(plan->split)));
        EMIT(b, mad_s32, e->row_block, e->row_block, I(plan->row_blocks), local);
    }
    emit_tile_column(e);
}

/* Sets head, this warp's first stride: row_block * split + part. A row block beyond m has no head. Its warps
   take the last head that there is, and store nothing. */
static void emit_head(spmm_emitter *e) {
    mc_builder *b = e->b;
    const spmm_plan *plan = e->plan;
    heading(b, "This warp's first stride, the head: it lies where row_ptr need not be known");
    e->head = load_special(b, "head", "ctaid.x");
    if (plan->warps > 1) EMIT(b, mad_s32, e->head, e->head, I(plan->warps), e->place.warp);
    if (!plan->guard_rows) return;
    mc_reg last = b32(b, "last_head");
    EMIT(b, shr_u32, last, dim_operand(plan->m, e->m), I(log2_of(plan->vec)));
    EMIT(b, mad_s32, last, last, I(plan->split), I(-1));
    EMIT(b, min_s32, e->head, e->head, last);
}

/* Values that a lane has of each digit, for an mma; and the bytes that they take in all. */
static int lane_values(const spmm_plan *plan) { return plan->depth / 4; }
static int lane_value_bytes(const spmm_plan *plan) { return spmm_mma_regs(plan) * WORD; }

/* Sets which indices a lane loads on PATH: those of the rows that it reads, or of those that it copies. */
static void emit_index_lane(spmm_emitter *e, const spmm_path *path) {
    mc_builder *b = e->b;
    e->indices = path->copy ? e->plan->rows.copies : MC_LANE_SLOTS;
    if (path->copy) {
        spmm_shared_index_lane(e);
        return;
    }
    note(b, "lane t: 8 indices at slot 8 t; lane: %d values at %d lane", lane_values(e->plan),
         lane_value_bytes(e->plan));
    EMIT(b, mad_wide, e->index_lane, e->place.t, I(MC_LANE_SLOTS * WORD), e->col_idx);
}

/* Without heads in front of all strides a row block's own first strides take their place. A warp may have
   none. */
static void emit_own_head(spmm_emitter *e) {
    static const char *const names[] = {"head_values", "last_head_values"};
    mc_builder *b = e->b;
    heading(b, "This warp's first stride, if the row block has as many");
    e->head = b32(b, "head"), e->has_head = pred(b, "has_head");
    if (e->part.id) EMIT(b, add_s32, e->head, e->first, e->part);
    else EMIT(b, mov_b32, e->head, e->first);
    EMIT(b, add_s32, e->first, e->first, I(e->plan->split));
    EMIT(b, setp_lt, e->has_head, e->head, e->last);
    spmm_declare_guards(e, names, e->has_head, e->head_values);
    spmm_emit_guards(e, e->head, e->last, e->head_values);
    emit_grid_wait(b, e->plan->overlap, "values or B");
}

static void emit_packed(spmm_emitter *e) {
    mc_builder *b = e->b;
    int steps = e->plan->stride_steps, value_regs = spmm_value_regs(e->plan);
    mc_reg values;
    e->col_idx = load_array(b, "col_idx"), values = load_array(b, "values");
    e->index_lane = b64(b, "index_lane"), e->value_lane = b64(b, "value_lane");
    e->index_at = b64(b, "index_at"), e->value_at = b64(b, "value_at");
    b32_array(b, "index", steps * MC_LANE_SLOTS, e->index);
    b32_array(b, "value", value_regs, e->value);
    if (spmm_emit_has_values(e) || !e->plan->heads)
        for (int i = 0; i < value_regs; i++) EMIT(b, mov_b32, e->value[i], I(0));
    if (!e->plan->heads)
        for (int i = 0; i < steps * MC_LANE_SLOTS; i++) EMIT(b, mov_b32, e->index[i], I(-1));
    emit_index_lane(e, e->plan->wide.emitted ? &e->plan->wide : &e->plan->edge);
    EMIT(b, mad_wide, e->value_lane, e->place.lane, I(lane_value_bytes(e->plan)), values);
    if (!e->plan->heads) emit_own_head(e);
    if (e->plan->prefetch) spmm_emit_load_head(e);
}

/* Lane 4 g + t has sums of rows 2 t and 2 t + 1, in the paper's order of row g. */
void spmm_emit_sum_guards(spmm_emitter *e) {
    mc_builder *b = e->b;
    const spmm_plan *plan = e->plan;
    e->stores = e->in_rows;
    if (plan->vec == SPMM_MMA_ROWS) return;
    note(b, "lanes of the mma's empty columns have no sums");
    bool swapped = plan->order == SPMM_SWAPPED;
    mc_reg row = swapped ? e->place.t : e->place.g;
    int rows = swapped ? plan->vec / 2 : plan->vec;
    e->has_sums = pred(b, "has_sums");
    EMIT(b, setp_lt, e->has_sums, row, I(rows));
    if (!spmm_is_ring(plan) && plan->split > 1) return; /* then all lanes share the sums */
    e->stores = e->has_sums;
    if (!e->in_rows.id) return;
    e->stores = pred(b, "stores");
    EMIT(b, setp_lt_and, e->stores, row, I(rows), e->in_rows);
}

/* Sets first and last: the row block's strides that are no heads. A row block beyond m has none. */
static void emit_strides(spmm_emitter *e) {
    mc_builder *b = e->b;
    heading(b, "The row block's other strides: row_ptr[row_block] up to row_ptr[row_block + 1]");
    mc_reg row_ptr = load_array(b, "row_ptr"), at = b64(b, "row_ptr_at");
    e->first = b32(b, "first"), e->last = b32(b, "last");
    EMIT(b, mad_wide, at, e->row_block, I(WORD), row_ptr);
    if (e->plan->guard_rows) {
        mc_reg blocks = b32(b, "row_blocks");
        e->in_rows = pred(b, "in_rows");
        EMIT(b, shr_u32, blocks, dim_operand(e->plan->m, e->m), I(log2_of(e->plan->vec)));
        EMIT(b, setp_lt, e->in_rows, e->row_block, blocks);
        EMIT(b, mov_b32, e->first, I(0));
        EMIT(b, mov_b32, e->last, I(0));
    }
    spmm_emit_sum_guards(e);
    EMIT_IF(b, e->in_rows, ldr_b32, e->first, AT(at, 0));
    EMIT_IF(b, e->in_rows, ldr_b32, e->last, AT(at, WORD));
}

/* Loads the head for the edge path, which reads rows where the wide path copies them: a lane's indices are
   others. */
static void emit_other_head(spmm_emitter *e) {
    emit_index_lane(e, &e->plan->edge);
    if (e->plan->prefetch) spmm_emit_load_head(e);
}

/* Emits the edge path, which takes its tile 32 columns at a time, so that it stays short. */
static void emit_edge(spmm_emitter *e) {
    mc_builder *b = e->b;
    const spmm_path *path = &e->plan->edge;
    if (e->plan->tile_n == path->columns) {
        spmm_emit_factors(e, path, e->tile_col, (mc_reg){0});
        spmm_emit_tile(e, path, e->tile_col);
        return;
    }
    mc_reg col = b32(b, "part_col"), end = b32(b, "part_end"), again = pred(b, "again");
    mc_label loop = label(b, "COLUMNS");
    EMIT(b, add_s32, end, e->tile_col, I(e->plan->tile_n));
    EMIT(b, min_s32, end, end, dim_operand(e->plan->n, e->n));
    EMIT(b, mov_b32, col, e->tile_col);
    set_label(b, loop);
    spmm_emit_factors(e, path, col, (mc_reg){0});
    spmm_emit_tile(e, path, col);
    EMIT(b, add_s32, col, col, I(path->columns));
    EMIT(b, setp_lt, again, col, end);
    if (e->plan->prefetch) {
        note(b, "the next columns, if any, start at the head again");
        spmm_emit_load_head(e);
    }
    if (e->plan->split > 1) note(b, "nobody overwrites partial sums that are still being read");
    if (e->plan->split > 1) EMIT(b, bar_sync, I(0));
    EMIT_IF(b, again, bra_uni, TO(loop));
}

/* Loads the wide path's scales and biases, which are on their way together with the head and row_ptr. */
static void emit_early_factors(spmm_emitter *e) {
    mc_builder *b = e->b;
    mc_reg inside = {0};
    if (e->plan->checks.full_tile && out_by_columns(&e->plan->output)) {
        mc_reg end = b32(b, "tile_end");
        inside = pred(b, "full_tile");
        EMIT(b, add_s32, end, e->tile_col, I(e->plan->tile_n - 1));
        EMIT(b, setp_lt, inside, end, dim_operand(e->plan->n, e->n));
    }
    spmm_emit_factors(e, &e->plan->wide, e->tile_col, inside);
}

/* -- Which path --------------------------------------------------------------------------------------- */

static void branch_if_odd(spmm_emitter *e, mc_reg value, int unit, mc_label edge, const char *why) {
    mc_builder *b = e->b;
    note(b, "%s", why);
    EMIT(b, and_b32, e->odd_bits, value, I(unit - 1));
    EMIT(b, setp_ne, e->odd, e->odd_bits, I(0));
    EMIT_IF(b, e->odd, bra_uni, TO(edge));
}

static mc_reg low_half(spmm_emitter *e, const char *name, mc_reg array) {
    mc_reg low = b32(e->b, name);
    EMIT(e->b, cvt_low, low, array);
    return low;
}

/* Chooses the path. Every thread of the block chooses alike, so that no warp is split here. */
static void emit_choice(spmm_emitter *e, mc_label edge) {
    mc_builder *b = e->b;
    const spmm_checks *checks = &e->plan->checks;
    heading(b, "Wide path or edge path: what the spec leaves open");
    e->odd = pred(b, "odd");
    e->odd_bits = b32(b, "odd_bits");
    if (checks->full_tile) {
        note(b, "the tile reaches beyond n");
        EMIT(b, add_s32, e->odd_bits, e->tile_col, I(e->plan->tile_n));
        EMIT(b, setp_gt, e->odd, e->odd_bits, dim_operand(e->plan->n, e->n));
        EMIT_IF(b, e->odd, bra_uni, TO(edge));
    }
    int access = spmm_access(&e->plan->wide);
    if (checks->ldb)
        branch_if_odd(e, e->ldb, spmm_access_columns(e->plan), edge,
                      "rows of B are not aligned for vector loads");
    if (checks->b_address)
        branch_if_odd(e, low_half(e, "b_low", e->b_array), access, edge, "B itself is not");
    int store = e->plan->wide.store, bytes = store * out_element_bytes(e->plan->output.element);
    char stores[64];
    snprintf(stores, sizeof stores, "rows of C are not aligned for %d-byte stores", bytes);
    if (checks->ldc) branch_if_odd(e, e->ldc, store, edge, stores);
    if (checks->c_address) branch_if_odd(e, low_half(e, "c_low", e->c_array), bytes, edge, "C itself is not");
}

/* Of 4 bits a byte has two columns of B; of 12 and 16 bits a column has two bytes. */
void spmm_emit_row_bytes(spmm_emitter *e) {
    mc_builder *b = e->b;
    const spmm_plan *plan = e->plan;
    e->row_bytes = e->ldb;
    if (plan->ldb != MC_OPEN) e->row_bytes = I(side_row_bytes(plan->rhs, plan->ldb));
    if (plan->ldb != MC_OPEN || plan->rhs.bits == 8) return;
    mc_reg bytes = b32(b, "row_bytes");
    if (plan->rhs.bits == 4) EMIT(b, shr_u32, bytes, e->ldb, I(1));
    else EMIT(b, shl_b32, bytes, e->ldb, I(1));
    e->row_bytes = bytes;
}

void spmm_emit(const spmm_plan *plan, mc_builder *b) {
    spmm_emitter emitter = {.plan = plan, .b = b}, *e = &emitter;
    if (plan->order == SPMM_PAPER) b->spare += PAPER_SPARE;
    if (plan->shared_bytes) shared_array(b, spmm_shared_name(plan), plan->shared_bytes, 16);
    emit_launch_next(b, plan->overlap);
    emit_place(e);
    e->m = load_shape(b, "m", plan->guard_rows && plan->m == MC_OPEN);
    e->n = load_shape(b, "n", plan->n == MC_OPEN);
    e->ldb = load_shape(b, "ldb", plan->ldb == MC_OPEN);
    e->ldc = load_shape(b, "ldc", plan->ldc == MC_OPEN);
    if (plan->heads) emit_head(e);
    else emit_strides(e);
    emit_packed(e);
    if (plan->heads) emit_strides(e);
    e->b_array = load_array(b, "b"), e->c_array = load_array(b, "c");
    if (plan->wide.emitted) emit_early_factors(e);
    b32_array(b, "pair", 4, e->pair);
    b32_array(b, "low", SPMM_BYTES * plan->b.count, e->low);
    b32_array(b, "high", SPMM_BYTES * plan->b.count, e->high);
    if (plan->int4) spmm_declare_columns4(e);
    else if (plan->rhs.bits == 4) b32_array(b, "nibble", 4, e->nibble);
    spmm_declare_bias(e);
    if (plan->tile_n > 128) b->spare += WIDE_SPARE;
    spmm_emit_row_bytes(e);

    mc_label edge = label(b, "EDGE");
    if (plan->wide.emitted && plan->edge.emitted) emit_choice(e, edge);
    if (plan->wide.emitted) {
        heading(b, "Wide path: %d columns, %d bytes of each row of B a lane", plan->wide.columns,
                plan->wide.unit);
        spmm_emit_tile(e, &plan->wide, e->tile_col);
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
