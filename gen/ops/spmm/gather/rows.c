/* Where a lane of the gather kernel reads B, and its loads. */
#include "ops/spmm/gather/rows.h"
#include "parts/words.h"
#include <stdio.h>

void spmm_gather_declare_rows(gather_emitter *e, gather_lane_rows *r, const gather_path *path) {
    mc_builder *b = e->b;
    *r = (gather_lane_rows){.path = path, .single = path->unit == spmm_b_unit(&e->plan->base)};
    r->units = (int)spmm_b_bytes(&e->plan->base, path->columns / 8) / path->unit;
    r->words = r->single ? r->units : path->unit / WORD;
    r->count = r->single ? 4 * r->units : e->plan->stride_steps * MC_LANE_SLOTS * r->words;
    b64_array(b, "base", r->units, r->base);
    b32_array(b, "row", r->count, r->row);
    pred_array(b, "used", MC_LANE_SLOTS, r->used);
    b64_array(b, "address", MC_LANE_SLOTS, r->address);
    if (e->plan->base.math.kind->real) r->is_full = pred(b, "is_full");
    if (path->copy) r->stager = (gather_stager){.base = r->base[0], .used = r->used, .address = r->address};
}

/* -- Where the lane's columns are ---------------------------------------------------------------------- */

/* Sets base[UNIT]: the address of element UNIT behind column AT in row 0 of B (where two share a byte, of
   that pair of elements). With clamp it is the last element inside, LAST_AT, if that one lies beyond n.
   LOAD_AT is scratch. */
static void emit_base(gather_emitter *e, gather_lane_rows *r, int unit, mc_reg at, mc_reg load_at,
                      mc_reg last_at) {
    mc_builder *b = e->b;
    if (spmm_b_is_paired(&e->plan->base)) {
        EMIT(b, shr_u32, load_at, at, I(1));
        at = load_at;
    }
    if (unit) {
        EMIT(b, add_s32, load_at, at, I(unit));
        at = load_at;
    }
    if (r->path->clamp) {
        EMIT(b, min_s32, load_at, at, last_at);
        at = load_at;
    }
    EMIT(b, mad_wide, r->base[unit], at, I(spmm_b_unit(&e->plan->base)), e->at.b_array);
}

/* The last unit inside n, in elements, or where two share a byte in pairs. */
static mc_reg emit_last(gather_emitter *e, const gather_lane_rows *r) {
    mc_builder *b = e->b;
    const spmm_plan *plan = &e->plan->base;
    bool pairs = spmm_b_is_paired(plan);
    int access = gather_access(r->path), columns = r->single || pairs ? 1 : access / spmm_b_unit(plan);
    mc_reg last = b32(b, "last_at");
    note(b, "columns beyond n are read at the last %s inside; their sums are not stored",
         r->single ? "element" : "group of columns");
    EMIT(b, add_s32, last, dim_operand(plan->n, e->at.n), I(-columns));
    if (pairs) EMIT(b, shr_u32, last, last, I(1));
    if (pairs && access > 1) EMIT(b, add_s32, last, last, I(1 - access));
    return last;
}

/* The same where runs are set apart. */
static mc_reg emit_run_column(gather_emitter *e, int columns, mc_reg path_col) {
    mc_builder *b = e->b;
    note(b,
         "run r is columns %d r .. %d r + %d of the tile; this lane's is g / 2, or where g is odd g / 2 + %d",
         columns, columns, columns - 1, GATHER_APART);
    mc_reg odd = and_b32(b, "g_odd", e->at.place.g, I(1)), half = shr_u32(b, "g_half", e->at.place.g, I(1));
    mc_reg run = mad_s32(b, "run", odd, I(GATHER_APART), half);
    return mad_s32(b, "col", run, I(columns), path_col);
}

static mc_reg emit_lane_column(gather_emitter *e, int columns, mc_reg path_col) {
    note(e->b, "columns %d g .. %d g + %d of the tile are this lane's", columns, columns, columns - 1);
    return mad_s32(e->b, "col", e->at.place.g, I(columns), path_col);
}

mc_reg spmm_gather_find_rows(gather_emitter *e, gather_lane_rows *r, mc_reg path_col) {
    const gather_path *path = r->path;
    mc_reg lane_col = {0}, first, load_at = {0}, last_at = {0};
    if (path->copy) first = spmm_gather_shared_first_column(e, path_col);
    else if (gather_sets_apart(e->plan, path)) first = emit_run_column(e, path->columns / 8, path_col);
    else first = lane_col = emit_lane_column(e, path->columns / 8, path_col);
    if (path->clamp || spmm_b_is_paired(&e->plan->base)) load_at = b32(e->b, "load_at");
    if (path->clamp) last_at = emit_last(e, r);
    for (int unit = 0; unit < r->units; unit++) emit_base(e, r, unit, first, load_at, last_at);
    return lane_col;
}

/* -- Loads --------------------------------------------------------------------------------------------- */

void spmm_gather_clear_rows(gather_emitter *e, gather_lane_rows *r) {
    if (r->path->copy) {
        spmm_gather_shared_start(e, &r->stager);
        return;
    }
    if (e->plan->base.math.kind->real) note(e->b, "each stride loads all rows, or clears them before");
    else note(e->b, "a padding slot loads nothing: its old bytes stay, and meet a value of zero");
    for (int i = 0; i < r->count; i++) EMIT(e->b, mov_b32, r->row[i], I(0));
}

static const mc_reg *row_of(const gather_lane_rows *r, int step, int slot) {
    return r->single ? &r->row[slot % 4 * r->units] : &r->row[(step * MC_LANE_SLOTS + slot) * r->words];
}

/* Padding brings no bytes of B. Where these could be infinities or NaNs, what was in a slot's registers
   before could, too: they are cleared. A lane's padding comes last, so that its last slot says whether there
   is any. */
static void emit_clear_padding(gather_emitter *e, const gather_lane_rows *r, int step, int first, int count) {
    mc_builder *b = e->b;
    mc_reg last = e->stream.index[step * MC_LANE_SLOTS + first + count - 1];
    char name[MC_MAX_NAME];
    snprintf(name, sizeof name, "FULL_%d", step * MC_LANE_SLOTS + first);
    mc_label full = label(b, name);
    note(b, "padding meets values of zero, and so must be finite");
    EMIT(b, setp_ge, r->is_full, last, I(0));
    EMIT_IF(b, r->is_full, bra, TO(full));
    for (int slot = first; slot < first + count; slot++)
        for (int i = 0; i < r->words; i++) EMIT(b, mov_b32, row_of(r, step, slot)[i], I(0));
    set_label(b, full);
}

/* Slots with index -1 are padding. */
void spmm_gather_load_rows(gather_emitter *e, const gather_lane_rows *r, int step, int first, int count) {
    mc_builder *b = e->b;
    if (e->plan->base.math.kind->real) emit_clear_padding(e, r, step, first, count);
    for (int slot = first; slot < first + count; slot++) {
        mc_reg index = e->stream.index[step * MC_LANE_SLOTS + slot];
        EMIT(b, setp_ge, r->used[slot], index, I(0));
        for (int unit = 0; unit < r->units; unit++) {
            EMIT(b, mad_wide, r->address[slot], index, e->at.row_bytes, r->base[unit]);
            emit_load_words(b, r->used[slot], WORDS_GLOBAL, r->path->unit, row_of(r, step, slot) + unit,
                            AT(r->address[slot], 0));
        }
    }
}
