/* The strides of A that a warp of the gather kernel takes: where they lie, and the loads of their indices and
   values. */
#include "ops/spmm/gather/emit.h"

enum { STEP_INDEX_BYTES = MC_GROUP_SLOTS * WORD /* bytes of col_idx in a step of 32 slots */ };

/* -- Which strides ------------------------------------------------------------------------------------ */

/* The head is stride row_block * split + part. A row block beyond m has no head. Its warps take the last head
   that there is, and store nothing. */
void spmm_gather_emit_head(gather_emitter *e) {
    mc_builder *b = e->b;
    const spmm_plan *plan = &e->plan->base;
    heading(b, "This warp's first stride, the head: it lies where row_ptr need not be known");
    mc_reg head = e->stream.head = b32(b, "head");
    EMIT(b, mov_special, head, NAME("ctaid.x"));
    if (plan->warps > 1) EMIT(b, mad_s32, head, head, I(plan->warps), e->at.place.warp);
    if (!plan->guard_rows) return;
    mc_reg last = b32(b, "last_head");
    EMIT(b, shr_u32, last, dim_operand(plan->m, e->at.m), I(log2_of(plan->vec)));
    EMIT(b, mad_s32, last, last, I(plan->split), I(-1));
    EMIT(b, min_s32, head, head, last);
}

/* Without heads in front of all strides a row block's own first strides take their place. A warp may have
   none. */
static void emit_own_head(gather_emitter *e) {
    static const char *const names[] = {"head_values", "last_head_values"};
    mc_builder *b = e->b;
    gather_stream *s = &e->stream;
    heading(b, "This warp's first stride, if the row block has as many");
    s->head = e->at.part.id ? add_s32(b, "head", s->first, e->at.part) : mov_b32(b, "head", s->first);
    EMIT(b, add_s32, s->first, s->first, I(e->plan->base.split));
    s->has_head = setp_lt(b, "has_head", s->head, s->last);
    s->head_values = lanes_where(&e->plan->base.math, b, names, s->has_values, s->head, s->last, s->has_head);
    if (e->plan->given) emit_grid_wait(b, e->plan->base.overlap, "values or B");
}

/* A row block beyond m has no strides. */
void spmm_gather_emit_strides(gather_emitter *e) {
    mc_builder *b = e->b;
    const spmm_plan *plan = &e->plan->base;
    gather_stream *s = &e->stream;
    heading(b, "The row block's other strides: row_ptr[row_block] up to row_ptr[row_block + 1]");
    mc_reg at = mad_wide(b, "row_ptr_at", e->row_block, I(WORD), load_array(b, "row_ptr"));
    s->first = b32(b, "first"), s->last = b32(b, "last");
    if (plan->guard_rows) {
        mc_reg blocks = shr_u32(b, "row_blocks", dim_operand(plan->m, e->at.m), I(log2_of(plan->vec)));
        e->at.in_rows = setp_lt(b, "in_rows", e->row_block, blocks);
        EMIT(b, mov_b32, s->first, I(0));
        EMIT(b, mov_b32, s->last, I(0));
    }
    spmm_emit_sum_guards(&e->at, plan->split > 1);
    EMIT_IF(b, e->at.in_rows, ldr_b32, s->first, AT(at, 0));
    EMIT_IF(b, e->at.in_rows, ldr_b32, s->last, AT(at, WORD));
}

/* -- Where their indices and values lie ---------------------------------------------------------------- */

void spmm_gather_emit_index_lane(gather_emitter *e, const gather_path *path) {
    mc_builder *b = e->b;
    gather_stream *s = &e->stream;
    s->indices = path->copy ? e->plan->rows.copies : MC_LANE_SLOTS;
    if (path->copy) {
        spmm_gather_shared_index_lane(e);
        return;
    }
    spmm_values values = spmm_values_of(&e->plan->base.math);
    note(b, "lane t: 8 indices at slot 8 t; lane: %d values at %d lane", values.count,
         values.load_regs * WORD);
    EMIT(b, mad_wide, s->index_lane, e->at.place.t, I(MC_LANE_SLOTS * WORD), s->col_idx);
}

/* Declares registers of a stride. Where a load may leave them as they are they are zeros, or padding. */
static void declare_stride(gather_emitter *e) {
    mc_builder *b = e->b;
    const spmm_arithmetic *math = &e->plan->base.math;
    gather_stream *s = &e->stream;
    int indices = e->plan->stride_steps * MC_LANE_SLOTS,
        values = e->plan->nonzeros ? 0 : spmm_load_regs(math);
    s->index_at = b64(b, "index_at"), s->value_at = b64(b, "value_at");
    b32_array(b, "index", indices, s->index);
    if (values > 0) b32_array(b, "value", values, s->value);
    s->has_values = lanes_with_values(math, b, e->at.place.g);
    bool heads = e->plan->heads;
    for (int i = 0; (spmm_has_idle_lanes(math) || !heads) && i < values; i++)
        EMIT(b, mov_b32, s->value[i], I(0));
    for (int i = 0; !heads && i < indices; i++) EMIT(b, mov_b32, s->index[i], I(-1));
}

void spmm_gather_emit_stream(gather_emitter *e) {
    mc_builder *b = e->b;
    const gather_plan *plan = e->plan;
    gather_stream *s = &e->stream;
    s->col_idx = load_array(b, "col_idx");
    mc_reg values = load_array(b, "values");
    declare_stride(e);
    s->index_lane = b64(b, "index_lane");
    spmm_gather_emit_index_lane(e, plan->wide.emitted ? &plan->wide : &plan->edge);
    int lane_bytes = spmm_values_of(&plan->base.math).load_regs * WORD;
    if (plan->nonzeros) spmm_gather_declare_nonzeros(e, load_array(b, "masks"), values);
    else s->value_lane = mad_wide(b, "value_lane", e->at.place.lane, I(lane_bytes), values);
    if (!plan->heads) emit_own_head(e);
    if (plan->prefetch) spmm_gather_emit_load_head(e);
}

/* -- Loads --------------------------------------------------------------------------------------------- */

static void find_indices(gather_emitter *e, mc_reg stride) {
    EMIT(e->b, mad_wide, e->stream.index_at, stride, I(e->plan->base.stride * WORD), e->stream.index_lane);
}

static void find_values(gather_emitter *e, mc_reg stride) {
    EMIT(e->b, mad_wide, e->stream.value_at, stride, I(e->plan->base.stride_values), e->stream.value_lane);
}

static void load_indices(gather_emitter *e, mc_reg guard, mc_opcode v4, mc_opcode v2) {
    const gather_stream *s = &e->stream;
    for (int step = 0; step < e->plan->stride_steps; step++) {
        const mc_reg *index = &s->index[step * MC_LANE_SLOTS];
        for (int i = 0; i < s->indices; i += 4) {
            mc_operand from = AT(s->index_at, step * STEP_INDEX_BYTES + i * WORD);
            if (s->indices < 4) builder_emit(e->b, guard, v2, MC_OPERANDS(V2(index), from));
            else builder_emit(e->b, guard, v4, MC_OPERANDS(V4(index + i), from));
        }
    }
}

/* Loads, by how many registers they fill; and the same relaxed, which ptxas leaves where they are. */
enum { MOST_REGS = 4 };
static const mc_opcode loads[MOST_REGS + 1] = {[1] = OP_ldg_b32, [2] = OP_ldg_v2, [4] = OP_ldg_v4};
static const mc_opcode early_loads[MOST_REGS + 1] = {[1] = OP_ldr_b32, [2] = OP_ldr_v2, [4] = OP_ldr_v4};

/* Loads REGS registers from OFFSET on, at most four at once. */
static void load_vector(gather_emitter *e, mc_reg guard, const mc_opcode *ops, const mc_reg *to, int regs,
                        int offset) {
    int each = regs < MOST_REGS ? regs : MOST_REGS;
    for (int i = 0; i < regs; i += each)
        builder_emit(e->b, guard, ops[each],
                     MC_OPERANDS(operand_vector(to + i, each), AT(e->stream.value_at, offset + i * WORD)));
}

/* Loads the registers of values. */
static void load_values(gather_emitter *e, spmm_value_lanes with_values, const mc_opcode *ops) {
    if (e->plan->nonzeros) {
        spmm_gather_load_masks(e, with_values.mma[0], ops[2]);
        return;
    }
    spmm_values k = spmm_values_of(&e->plan->base.math);
    int values = 0;
    for (int group = 0; group < k.groups; group++)
        for (int i = 0; i < k.loads; i++, values += k.load_regs)
            load_vector(e, with_values.mma[i], ops, &e->stream.value[values], k.load_regs,
                        group * k.group_bytes + i * k.load_bytes);
}

/* These loads are relaxed: ptxas would move others down to their first use, behind those of row_ptr and of
   scales. */
void spmm_gather_emit_load_head(gather_emitter *e) {
    const gather_stream *s = &e->stream;
    find_indices(e, s->head);
    find_values(e, s->head);
    load_indices(e, s->has_head, OP_ldr_v4, OP_ldr_v2);
    load_values(e, e->plan->heads ? s->has_values : s->head_values, early_loads);
}

void spmm_gather_emit_load_indices(gather_emitter *e, mc_reg stride, mc_reg guard) {
    find_indices(e, stride);
    load_indices(e, guard, OP_ldg_v4, OP_ldg_v2);
}

void spmm_gather_emit_load_values(gather_emitter *e, mc_reg stride, spmm_value_lanes with_values) {
    find_values(e, stride);
    load_values(e, with_values, loads);
}

void spmm_gather_emit_load_stride(gather_emitter *e, mc_reg stride, mc_reg guard,
                                  spmm_value_lanes with_values) {
    find_indices(e, stride);
    find_values(e, stride);
    load_indices(e, guard, OP_ldg_v4, OP_ldg_v2);
    load_values(e, with_values, loads);
}
