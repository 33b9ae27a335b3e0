#include "parts/warpgroup.h"
#include "parts/emit.h"
#include "parts/packed24.h"
#include <stdio.h>

#define OPS(name) OP_wgmma_##name, OP_wgmma_a_##name, OP_wgmma_sp_##name, OP_wgmma_sp_a_##name

static const wgmma_form forms[] = {
    {"f16", "f16", "f32", OPS(f16), 2, 2, 2},
    {"f16", "f16", "f16", OPS(f16_sums), 2, 2, 2},
    {"bf16", "bf16", "f32", OPS(bf16), 2, 2, 2},
    {"tf32", "tf32", "f32", OPS(tf32), 4, 2, 0},
    {"tf32rz", "tf32rz", "f32", OPS(tf32), 4, 2, 0},
    {"e4m3", "e4m3", "f32", OPS(e4m3), 1, 2, 0},
    {"e4m3", "e5m2", "f32", OPS(e4m3_e5m2), 1, 2, 0},
    {"e5m2", "e4m3", "f32", OPS(e5m2_e4m3), 1, 2, 0},
    {"e5m2", "e5m2", "f32", OPS(e5m2), 1, 2, 0},
    {"e4m3", "e4m3", "f16", OPS(e4m3_sums), 1, 2, 0},
    {"e4m3", "e5m2", "f16", OPS(e4m3_e5m2_sums), 1, 2, 0},
    {"e5m2", "e4m3", "f16", OPS(e5m2_e4m3_sums), 1, 2, 0},
    {"e5m2", "e5m2", "f16", OPS(e5m2_sums), 1, 2, 0},
    {"s8", "s8", "s32", OPS(s8), 1, 0, 0},
    {"s8", "u8", "s32", OPS(s8_u8), 1, 0, 0},
    {"u8", "s8", "s32", OPS(u8_s8), 1, 0, 0},
    {"u8", "u8", "s32", OPS(u8), 1, 0, 0},
};

const wgmma_form *wgmma_form_of(const char *lhs, const char *rhs, const char *sums) {
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (!strcmp(forms[i].lhs, lhs) && !strcmp(forms[i].rhs, rhs) && !strcmp(forms[i].sums, sums))
            return &forms[i];
    return NULL;
}

/* -- Steps of k --------------------------------------------------------------------------------------- */

/* Elements of k of A, of B, that a wgmma takes. */
static int lhs_step(const warpgroup_mma *m) { return WGMMA_K_BYTES / m->form->bytes; }
static int rhs_step(const warpgroup_mma *m) { return lhs_step(m) * (m->sparse ? 2 : 1); }
static int steps(const warpgroup_mma *m) { return m->rhs->k / rhs_step(m); }

static mc_opcode opcode(const warpgroup_mma *m) {
    const wgmma_form *f = m->form;
    if (m->sparse) return m->from_registers ? f->sparse_registers : f->sparse_shared;
    return m->from_registers ? f->registers : f->shared;
}

/* -- Begin -------------------------------------------------------------------------------------------- */

static void declare_sums(warpgroup_mma *m) {
    static const char *const names[] = {"sum", "sum_below"}, *const totals[] = {"total", "total_below"},
                             *const scales[] = {"scale_of_row", "scale_of_row_below"};
    for (int block = 0; block < m->blocks; block++)
        b32_array(m->b, names[block], warpgroup_sums(m), m->sums[block]);
    for (int block = 0; block < m->blocks && m->promoted; block++)
        b32_array(m->b, totals[block], warpgroup_sums(m), m->totals[block]);
    for (int block = 0; block < m->blocks && m->scaled; block++)
        b32_array(m->b, scales[block], WARPGROUP_LANE_ROWS, m->scales[block]);
}

/* Where the lane's row of each 16 x 16 (of bytes: 16 x 32) part of A lies: ldmatrix takes rows of 16 bytes,
   lanes 0 to 15 name those of the first chunk, the others those of the second. The swizzle exchanges chunks
   by the row, so that a step of k is an exclusive or. */
static void declare_fragments(warpgroup_mma *m, mc_reg at, mc_reg warp_row, mc_reg lane) {
    mc_builder *b = m->b;
    note(b, "A goes through registers: the lane's row and chunk, which the swizzle has moved");
    mc_reg row = and_b32(b, "a_lane_row", lane, I(15)), chunk = shr_u32(b, "a_chunk", lane, I(4));
    mc_reg below = add_s32(b, "a_row_below", row, warp_row);
    mc_reg line = and_b32(b, "a_line", row, I(TILE_LINES - 1));
    mc_reg moved = xor_b32(b, "a_moved", chunk, line);
    mc_reg start = mad_s32(b, "a_row_at", below, I(m->lhs->span), at);
    m->a_start = mad_s32(b, "a_start", moved, I(TILE_CHUNK), start);
    m->a_at = carried(b, "a_at", m->a_start);
    m->a_step = b32(b, "a_step");
    for (int i = 0; i < WARPGROUP_SETS * steps(m); i++) {
        char name[MC_MAX_NAME];
        snprintf(name, sizeof name, "a%d_", i);
        b32_array(b, name, WGMMA_A_REGS, m->a[i / steps(m)][i % steps(m)]);
    }
}

static mc_reg first_row(const warpgroup_mma *m, mc_reg at, mc_reg row) {
    if (!row.id) return at;
    return mad_s32(m->b, "a_rows_at", row, I(tile_offset(m->lhs, WARPGROUP_ROWS, 0) / WARPGROUP_ROWS), at);
}

/* A in registers is that of one block of rows. */
static void check_blocks(warpgroup_mma *m) {
    int most = m->from_registers ? 1 : WARPGROUP_BLOCKS;
    if (m->blocks <= most) return;
    builder_fail(m->b, "a consumer has %d rows of A, and at most %d are possible", m->blocks * WARPGROUP_ROWS,
                 most * WARPGROUP_ROWS);
    m->blocks = most;
}

void warpgroup_begin(warpgroup_mma *m, mc_reg first, mc_reg row, mc_reg warp_row, mc_reg lane) {
    mc_builder *b = m->b;
    mc_reg a = m->lhs_at ? add_s32(b, "a_tile", first, I(m->lhs_at)) : first;
    mc_reg b_tile = m->rhs_at ? add_s32(b, "b_tile", first, I(m->rhs_at)) : first;
    check_blocks(m);
    note(b, "descriptors of stage 0: where A and B begin, and how far panels and 8 lines lie apart");
    declare_sums(m);
    if (!m->promoted) m->adds = pred(b, "adds");
    a = first_row(m, a, row);
    if (m->from_registers) {
        declare_fragments(m, a, warp_row, lane);
    } else {
        m->a_first = tile_descriptor(b, "a_first", m->lhs, a);
        m->a_desc = carried_b64(b, "a_desc", m->a_first), m->step_a = b64(b, "a_step");
    }
    m->b_first = tile_descriptor(b, "b_first", m->rhs, b_tile);
    m->b_desc = carried_b64(b, "b_desc", m->b_first), m->step_b = b64(b, "b_step");
}

/* -- Products ----------------------------------------------------------------------------------------- */

/* Loads the A of all steps. */
static void load_fragments(const warpgroup_mma *m, int set) {
    mc_builder *b = m->b;
    note(b, "A of %d steps of k", steps(m));
    for (int step = 0; step < steps(m); step++) {
        mc_reg at = m->a_at;
        if (step) EMIT(b, xor_b32, m->a_step, m->a_at, I(step * WGMMA_K_BYTES));
        if (step) at = m->a_step;
        EMIT(b, ldmatrix_x4, V4(m->a[set][step]), AT(at, 0));
    }
}

/* The descriptor FROM moved by BYTES, in STEP. */
static mc_reg moved(mc_builder *b, mc_reg from, mc_reg step, int bytes) {
    if (bytes == 0) return from;
    EMIT(b, add_s64, step, from, descriptor_step(bytes));
    return step;
}

static void add_operands(mc_operand *list, size_t *count, int number, int value) {
    for (int i = 0; i < number; i++) list[(*count)++] = I(value);
}

/* One wgmma, of a block of 64 rows and a step of k. */
static void multiply(const warpgroup_mma *m, int set, int block, int step) {
    const wgmma_form *f = m->form;
    mc_operand list[12], rhs_desc;
    size_t count = 0;
    int lhs_bytes = tile_offset(m->lhs, block * WARPGROUP_ROWS, step * lhs_step(m));
    list[count++] = operand_vector(m->sums[block], warpgroup_sums(m));
    if (m->from_registers) list[count++] = V4(m->a[set][step]);
    else list[count++] = moved(m->b, m->a_desc, m->step_a, lhs_bytes);
    rhs_desc = moved(m->b, m->b_desc, m->step_b, tile_offset(m->rhs, 0, step * rhs_step(m)));
    list[count++] = rhs_desc;
    if (m->sparse) {
        int shared = packed24_word_steps(f->bytes);
        list[count++] = m->meta[set][block][step / shared];
        list[count++] = I(step % shared);
    }
    list[count++] = step ? I(1) : m->promoted ? I(0) : m->adds;
    add_operands(list, &count, f->signs, 1);
    if (f->transposes && !m->from_registers) list[count++] = I(m->lhs->mn_major);
    if (f->transposes) list[count++] = I(m->rhs->mn_major);
    builder_emit(m->b, (mc_reg){0}, opcode(m), list, count);
}

void warpgroup_issue(const warpgroup_mma *m, int set) {
    mc_builder *b = m->b;
    if (m->from_registers) load_fragments(m, set);
    note(b, "%d steps of k, which one group has", steps(m));
    EMIT_BARE(b, wgmma_fence);
    for (int step = 0; step < steps(m); step++)
        for (int block = 0; block < m->blocks; block++) multiply(m, set, block, step);
    EMIT_BARE(b, wgmma_commit);
}

/* The lane that leaves a stage does not know of the other lanes' loads from it: of A, or of its metadata. */
void warpgroup_wait(const warpgroup_mma *m, int pending) {
    EMIT(m->b, wgmma_wait, I(pending));
    if (m->from_registers || m->sparse) EMIT(m->b, bar_warp_sync, H(0xffffffff));
}

void warpgroup_clear_totals(const warpgroup_mma *m) {
    for (int block = 0; block < m->blocks; block++)
        for (int i = 0; i < warpgroup_sums(m); i++) EMIT(m->b, mov_b32, m->totals[block][i], I(0));
}

static void promote_sum(const warpgroup_mma *m, int block, int i) {
    const mc_reg sum = m->sums[block][i], total = m->totals[block][i];
    const mc_reg scale = m->scales[block][i / WARPGROUP_LANE_RUN % WARPGROUP_LANE_ROWS];
    if (m->scaled) EMIT(m->b, fma_f32, total, sum, scale, total);
    else EMIT(m->b, add_f32, total, total, sum);
}

void warpgroup_promote(const warpgroup_mma *m) {
    for (int block = 0; block < m->blocks; block++)
        for (int i = 0; i < warpgroup_sums(m); i++) promote_sum(m, block, i);
}

void warpgroup_next(const warpgroup_mma *m, mc_reg wrap) {
    mc_builder *b = m->b;
    note(b, "the next stage");
    if (m->from_registers) {
        EMIT(b, add_s32, m->a_at, m->a_at, I(m->stage_bytes));
        EMIT_IF(b, wrap, mov_b32, m->a_at, m->a_start);
    } else {
        EMIT(b, add_s64, m->a_desc, m->a_desc, descriptor_step(m->stage_bytes));
        EMIT_IF(b, wrap, mov_b64, m->a_desc, m->a_first);
    }
    EMIT(b, add_s64, m->b_desc, m->b_desc, descriptor_step(m->stage_bytes));
    EMIT_IF(b, wrap, mov_b64, m->b_desc, m->b_first);
}

void warpgroup_seek(const warpgroup_mma *m, mc_reg stage) {
    mc_builder *b = m->b;
    int units = m->stage_bytes / DESCRIPTOR_UNIT;
    if (m->from_registers) EMIT(b, mad_s32, m->a_at, stage, I(m->stage_bytes), m->a_start);
    else EMIT(b, mad_wide, m->a_desc, stage, I(units), m->a_first);
    EMIT(b, mad_wide, m->b_desc, stage, I(units), m->b_first);
}
