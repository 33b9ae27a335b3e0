#include "parts/schedule.h"
#include "parts/emit.h"
#include <stdio.h>

static int members(const tile_schedule *s) { return s->cluster > 1 ? s->cluster : 1; }

/* How many pieces of SIZE cover EXTENT. */
static mc_reg pieces(mc_builder *b, const char *name, mc_operand extent, int size) {
    char reg[MC_MAX_NAME];
    snprintf(reg, sizeof reg, "%s_end", name);
    return div_u32(b, name, add_s32(b, reg, extent, I(size - 1)), I(size));
}

/* The thread block's first number, and how far it goes on. */
static void begin_static(tile_schedule *s) {
    mc_builder *b = s->b;
    s->block = load_special(b, "block", "ctaid.x"), s->blocks = load_special(b, "blocks", "nctaid.x");
    int log = log2_of(members(s));
    mc_reg unit = log ? shr_u32(b, "unit", s->block, I(log)) : s->block;
    mc_reg units = log ? shr_u32(b, "grid_units", s->blocks, I(log)) : s->blocks;
    s->tile = carried(b, "tile", unit);
    s->step = s->turn_step = units;
    if (s->turns < 2 || s->stream) return;
    note(b, "each consumer takes one of %d of the thread block's tiles", s->turns);
    EMIT(b, mad_s32, s->tile, s->turn, units, s->tile);
    s->step = mul_s32(b, "tile_step", units, I(s->turns));
}

/* Counts rows of tiles; returns how many columns of tiles there are. */
static mc_reg count_tiles(tile_schedule *s, mc_operand m, mc_operand n) {
    s->units = pieces(s->b, "tile_rows", m, s->tile_rows * members(s));
    return pieces(s->b, "tile_columns", n, s->tile_columns);
}

static void declare_place(tile_schedule *s) {
    mc_builder *b = s->b;
    s->row = b32(b, "row"), s->column = b32(b, "column");
    s->unit_row = b32(b, "tile_row"), s->unit_column = b32(b, "tile_column");
    s->group_first = b32(b, "group_first"), s->group_rows = b32(b, "group_rows");
}

void schedule_begin(tile_schedule *s, mc_operand m, mc_operand n) {
    mc_builder *b = s->b;
    mc_reg columns = count_tiles(s, m, n);
    s->count = mul_s32(b, "tiles", s->units, columns);
    s->group_tiles = mul_s32(b, "group_tiles", columns, I(s->group));
    begin_static(s);
    s->line.b = b;
    if (s->stream) stream_begin(&s->line, s->count, s->block, s->blocks);
    s->more = pred(b, "more_tiles");
    declare_place(s);
}

/* Goes to END where there is no tile left. Returns the number of the next one. */
static mc_reg take_number(const tile_schedule *s, mc_label end) {
    if (s->stream) {
        stream_take(&s->line, s->tile, end);
        return s->line.tile;
    }
    EMIT(s->b, setp_lt, s->more, s->tile, s->count);
    EMIT_IF(s->b, NOT(s->more), bra, TO(end));
    return s->tile;
}

/* Inside of a group of R rows, tile i has row i mod R and column i / R. The last group may be lower. */
static void place(const tile_schedule *s, mc_reg tile) {
    mc_builder *b = s->b;
    note(b, "the tile's place: in groups of %d rows of tiles, by columns", s->group);
    EMIT(b, div_u32, s->group_first, tile, s->group_tiles);
    EMIT(b, rem_u32, s->unit_column, tile, s->group_tiles);
    EMIT(b, mul_s32, s->group_first, s->group_first, I(s->group));
    EMIT(b, sub_s32, s->group_rows, s->units, s->group_first);
    EMIT(b, min_s32, s->group_rows, s->group_rows, I(s->group));
    EMIT(b, rem_u32, s->unit_row, s->unit_column, s->group_rows);
    EMIT(b, div_u32, s->unit_column, s->unit_column, s->group_rows);
    EMIT(b, add_s32, s->unit_row, s->unit_row, s->group_first);
    if (members(s) > 1) EMIT(b, mad_s32, s->unit_row, s->unit_row, I(members(s)), s->rank);
    EMIT(b, mul_s32, s->row, s->unit_row, I(s->tile_rows));
    EMIT(b, mul_s32, s->column, s->unit_column, I(s->tile_columns));
}

void schedule_take(const tile_schedule *s, mc_label end) { place(s, take_number(s, end)); }

void schedule_only(tile_schedule *s, mc_operand m, mc_operand n) {
    mc_builder *b = s->b;
    mc_reg columns = count_tiles(s, m, n);
    s->group_tiles = mul_s32(b, "group_tiles", columns, I(s->group));
    s->block = load_special(b, "block", "ctaid.x");
    declare_place(s);
    place(s, s->block);
}

void schedule_next(const tile_schedule *s) { EMIT(s->b, add_s32, s->tile, s->tile, s->step); }

mc_reg schedule_is_more(const tile_schedule *s, const char *name) {
    mc_builder *b = s->b;
    char reg[MC_MAX_NAME];
    snprintf(reg, sizeof reg, "%s_tile", name);
    mc_reg tile = add_s32(b, reg, s->tile, s->turn_step);
    return s->stream ? stream_has(&s->line, name, tile) : setp_lt(b, name, tile, s->count);
}
