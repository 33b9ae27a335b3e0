/* The window SDDMM: a thread block's window of columns of B, from global to shared memory. A thread copies
   the same unit of every so many-th column. */
#include "ops/sddmm/window/window.h"
#include "parts/copy.h"

enum { COPIES = 8 }; /* copies of a thread between two tests whether there is more to copy; even */

typedef struct copier {
    mc_builder *b;
    const window_plan *plan;
    int units, columns, step; /* of a column; columns that a warp, and all warps, copy at once */
    mc_reg row, unit;         /* this thread's first column, counted from the window's first, and its unit */
    mc_reg left, all_left;    /* columns left from this thread's on, and of the window */
    mc_reg from, to, other;   /* other: `to` for columns that are odd where this thread's first one is even */
    mc_reg wanted;
} copier;

/* Sets which column and unit a lane begins with. Lanes behind the warp's last whole column have nothing to
   copy. */
static void emit_pieces(copier *c, const thread_place *place) {
    mc_builder *b = c->b;
    c->row = carried(b, "copy_column", I(0));
    for (int column = 1; column <= c->columns && column * c->units < MC_WARP; column++) {
        EMIT(b, setp_ge, c->wanted, place->lane, I(column * c->units));
        EMIT_IF(b, c->wanted, mov_b32, c->row, I(column));
    }
    c->unit = b32(b, "copy_unit"), c->left = b32(b, "copies_left");
    EMIT(b, mad_s32, c->unit, c->row, I(-c->units), place->lane);
    EMIT(b, setp_lt, c->wanted, c->row, I(c->columns));
    if (place->warp.id) EMIT(b, mad_s32, c->row, place->warp, I(c->columns), c->row);
    EMIT(b, sub_s32, c->left, c->all_left, c->row);
    EMIT(b, selp_b32, c->left, c->left, I(0), c->wanted);
}

static void emit_ends(copier *c, const window_source *source, mc_reg to) {
    mc_builder *b = c->b;
    c->to = b32(b, "copy_to"), c->other = b32(b, "copy_other"), c->from = b64(b, "copy_from");
    EMIT(b, mad_s32, c->to, c->row, I(window_column_bytes(c->plan)), to);
    EMIT(b, mad_s32, c->to, c->unit, I(SDDMM_UNIT), c->to);
    EMIT(b, add_s32, c->other, c->row, source->first_column);
    EMIT(b, mad_wide, c->from, c->other, source->column_bytes, source->array);
    EMIT(b, mad_wide, c->from, c->unit, I(SDDMM_UNIT), c->from);
    EMIT(b, mov_b32, c->other, c->to);
    if (!window_swaps(c->plan)) return;
    note(b, "odd columns have chunks 0 and 1, 2 and 3, .. changed over");
    EMIT(b, shl_b32, c->unit, c->row, I(WINDOW_CHUNK_SHIFT));
    EMIT(b, lop3, c->to, c->to, c->unit, I(WINDOW_CHUNK), H(WINDOW_XOR_AND));
    if (c->step % 2) EMIT(b, xor_b32, c->other, c->to, I(WINDOW_CHUNK));
    else EMIT(b, mov_b32, c->other, c->to);
}

static void emit_copies(const copier *c, mc_reg from_step) {
    mc_builder *b = c->b;
    int most = (int)((c->plan->items.window + c->step - 1) / c->step);
    int bytes = c->step * window_column_bytes(c->plan);
    mc_label loop = label(b, "COPIES");
    if (most > COPIES) set_label(b, loop);
    for (int i = 0; i < most && i < COPIES; i++) {
        EMIT(b, setp_gt, c->wanted, c->left, I(i * c->step));
        copy_async(b, SDDMM_UNIT,
                   (copy_piece){.guard = c->wanted,
                                .to = AT(i % 2 ? c->other : c->to, i * bytes),
                                .from = AT(c->from, 0)});
        EMIT(b, add_s64, c->from, c->from, from_step);
    }
    if (most <= COPIES) return;
    EMIT(b, add_s32, c->to, c->to, I(COPIES * bytes));
    EMIT(b, add_s32, c->other, c->other, I(COPIES * bytes));
    EMIT(b, add_s32, c->left, c->left, I(-COPIES * c->step));
    EMIT(b, add_s32, c->all_left, c->all_left, I(-COPIES * c->step));
    EMIT(b, setp_gt, c->wanted, c->all_left, I(0));
    EMIT_IF(b, c->wanted, bra_uni, TO(loop));
}

void window_emit_copy(const window_plan *plan, mc_builder *b, const thread_place *place,
                      const window_source *source, mc_reg to) {
    int units = window_column_bytes(plan) / SDDMM_UNIT, columns = MC_WARP / units;
    heading(b, "The window's columns to shared memory: units of %d bytes", SDDMM_UNIT);
    copier c = {.b = b,
                .plan = plan,
                .units = units,
                .columns = columns,
                .step = columns * plan->problem.warps,
                .all_left = b32(b, "columns_left"),
                .wanted = pred(b, "wanted")};
    EMIT(b, sub_s32, c.all_left, dim_operand(plan->problem.n, source->n), source->first_column);
    EMIT(b, min_s32, c.all_left, c.all_left, I(plan->items.window));
    emit_pieces(&c, place);
    emit_ends(&c, source, to);
    EMIT(b, mov_b32, c.unit, I(c.step));
    emit_copies(&c, mul_wide(b, "copy_step", c.unit, source->column_bytes));
}
