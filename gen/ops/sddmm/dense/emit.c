/* The SDDMM of method "dense": a thread block computes a tile of A B whole, and stores what the mask has of
 * it.
 *
 *   ranges of the mask -> all stages' copies asked for -> [wait for a stage -> multiply]
 *                      -> result to shared memory -> vectors to C
 *
 * Operands are swapped, as in the gather: columns of B are the mma's rows. A stage is 64 bytes of each column
 * of B, a unit for each lane of a lane group, and the same k of A's rows. In shared memory
 *
 *   columns of B  lie as [column][64], 16 bytes a lane: two columns fill a row of banks, which is what a
 *                 quarter of a warp reads at once
 *   rows of A     lie as [plane][row][4 lanes]: units of more than 16 bytes are cut into planes, so that the
 *                 same is true of them
 *
 * All stages have room at once, so that one barrier a stage is enough. */
#include "ops/sddmm/dense/dense.h"

static const char shared_name[] = "tile";
/* Registers beyond those alive, without which ptxas 13 spills. It computes addresses ahead, and scales have
   more of these; B's digits and parities, and small tiles, want some, too. */
enum { SPARE = 16, MORE_SPARE = 8, SCALE_SPARE = 24 };

/* -- This thread's place ------------------------------------------------------------------------------ */

/* Sets FIRST to ctaid * TILE along AXIS, and LAST to the last of EXTENT's, counted in the tile. */
static void emit_tile(mc_builder *b, const char *axis, int tile, mc_operand extent, mc_reg first,
                      mc_reg last) {
    mc_reg number = load_special(b, axis[6] == 'x' ? "block_x" : "block_y", axis);
    EMIT(b, mul_s32, first, number, I(tile));
    EMIT(b, sub_s32, last, extent, first);
    EMIT(b, add_s32, last, last, I(-1));
}

static void emit_tile_place(dense_emitter *d) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    mc_reg m = load_shape(b, "m", plan->problem.m == MC_OPEN),
           n = load_shape(b, "n", plan->problem.n == MC_OPEN);
    mc_operand columns = dim_operand(plan->problem.n, n);
    d->tile_row = b32(b, "tile_row"), d->last_row = b32(b, "last_row");
    d->tile_column = b32(b, "tile_column"), d->last_column = b32(b, "last_column");
    note(b, "the tile's first row and column, and the last ones that there are in it");
    emit_tile(b, "ctaid.y", plan->tile_rows, dim_operand(plan->problem.m, m), d->tile_row, d->last_row);
    emit_tile(b, "ctaid.x", plan->tile_n, columns, d->tile_column, d->last_column);
    d->ptr_row = b32(b, "ptr_row");
    if (plan->problem.n != MC_OPEN) {
        EMIT(b, mov_b32, d->ptr_row, I(((plan->problem.n - 1) / plan->tile_n + 2) * WORD));
        return;
    }
    EMIT(b, add_s32, d->ptr_row, columns, I(2 * plan->tile_n - 1));
    EMIT(b, shr_u32, d->ptr_row, d->ptr_row, I(log2_of(plan->tile_n)));
    EMIT(b, shl_b32, d->ptr_row, d->ptr_row, I(log2_of(WORD)));
}

/* Sets warp_row and warp_column: the warp's number is warp_row + row_warps * warp_column. */
static void emit_split(dense_emitter *d) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    if (plan->column_warps == 1) {
        d->warp_row = d->place.warp;
        return;
    }
    d->warp_column = d->place.warp;
    if (plan->row_warps == 1) return;
    d->warp_row = b32(b, "warp_row"), d->warp_column = b32(b, "warp_column");
    EMIT(b, and_b32, d->warp_row, d->place.warp, I(plan->row_warps - 1));
    EMIT(b, shr_u32, d->warp_column, d->place.warp, I(log2_of(plan->row_warps)));
}

static void emit_place(dense_emitter *d) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    heading(b, "The tile; lane = 4 g + t");
    d->place = load_thread_place(b, MC_WARP * plan->problem.warps);
    d->shared = b32(b, "shared");
    EMIT(b, mov_shared, d->shared, NAME(shared_name));
    emit_tile_place(d);
    emit_split(d);
}

/* -- Copies ------------------------------------------------------------------------------------------- */

/* What a side's copies are made of. */
typedef struct copy_side {
    mc_reg array;
    mc_operand row_bytes;
    int rows, planes, plane_row; /* rows of the tile; planes in shared memory; bytes of a row of each */
    mc_reg first, last;          /* the tile's first row; the last one that there is, counted in the tile */
} copy_side;

/* Sets where a thread copies to: unit u of a row goes to plane u % planes, lane u / planes. */
static void emit_copy_place(dense_emitter *d, const copy_side *s, const dense_copies *c, mc_reg row,
                            mc_reg unit) {
    mc_builder *b = d->b;
    EMIT(b, mad_s32, c->to, row, I(s->plane_row), d->shared);
    if (s->planes == 1) {
        EMIT(b, mad_s32, c->to, unit, I(DENSE_COPY), c->to);
        return;
    }
    mc_reg part = b32(b, "plane");
    EMIT(b, shr_u32, part, unit, I(log2_of(s->planes)));
    EMIT(b, mad_s32, c->to, part, I(DENSE_COPY), c->to);
    EMIT(b, and_b32, part, unit, I(s->planes - 1));
    EMIT(b, mad_s32, c->to, part, I(s->rows * s->plane_row), c->to);
}

/* Sets where a thread copies from. Rows beyond the last one are that one again: their sums are not stored. */
static void emit_copy_sources(dense_emitter *d, const copy_side *s, dense_copies *c, mc_reg row,
                              mc_reg unit) {
    mc_builder *b = d->b;
    mc_reg at = b64(b, "at"), clamped = b32(b, "row");
    EMIT(b, mad_wide, at, s->first, s->row_bytes, s->array);
    EMIT(b, mad_wide, at, unit, I(DENSE_COPY), at);
    b64_array(b, "from", c->count, c->from);
    for (int i = 0; i < c->count; i++) {
        if (i) EMIT(b, add_s32, clamped, row, I(i * c->step));
        EMIT(b, min_s32, clamped, (i ? clamped : row), s->last);
        EMIT(b, mad_wide, c->from[i], clamped, s->row_bytes, at);
    }
}

static void emit_copy_start(dense_emitter *d, const copy_side *s, dense_copies *c) {
    mc_builder *b = d->b;
    int threads = MC_WARP * d->plan->problem.warps, units = s->planes * s->plane_row / DENSE_COPY;
    mc_reg row = b32(b, "first_row"), unit = b32(b, "unit");
    c->step = threads / units;
    c->count = s->rows / c->step;
    c->step_bytes = c->step * s->plane_row;
    c->stage_k_bytes = units * DENSE_COPY;
    c->to = b32(b, "to");
    note(b, "a thread copies unit thread mod %d of rows thread / %d + %d i", units, units, c->step);
    EMIT(b, shr_u32, row, d->place.thread, I(log2_of(units)));
    EMIT(b, and_b32, unit, d->place.thread, I(units - 1));
    emit_copy_place(d, s, c, row, unit);
    if (c->count == 0) {
        c->count = 1;
        c->some = pred(b, "some");
        EMIT(b, setp_lt, c->some, row, I(s->rows));
    }
    emit_copy_sources(d, s, c, row, unit);
}

static void emit_copy_starts(dense_emitter *d) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    const sddmm_problem *p = &plan->problem;
    mc_reg lda = load_shape(b, "lda", p->lda == MC_OPEN), ldb = load_shape(b, "ldb", p->ldb == MC_OPEN);
    const copy_side rows = {.array = load_array(b, "a"),
                            .row_bytes =
                                sddmm_emit_row_bytes(b, "a_row_bytes", p->arithmetic.lhs, p->lda, lda),
                            .rows = plan->tile_rows,
                            .planes = dense_a_planes(plan),
                            .plane_row = dense_a_plane_row(plan),
                            .first = d->tile_row,
                            .last = d->last_row};
    const copy_side columns = {.array = load_array(b, "b"),
                               .row_bytes =
                                   sddmm_emit_row_bytes(b, "b_row_bytes", p->arithmetic.rhs, p->ldb, ldb),
                               .rows = plan->tile_n,
                               .planes = 1,
                               .plane_row = DENSE_STAGE_ROW,
                               .first = d->tile_column,
                               .last = d->last_column};
    b->prefix = "a_";
    emit_copy_start(d, &rows, &d->a_copies);
    b->prefix = "b_";
    emit_copy_start(d, &columns, &d->b_copies);
    b->prefix = NULL;
}

static void emit_stage_copies(dense_emitter *d, const dense_copies *c, int place, int number) {
    for (int i = 0; i < c->count; i++)
        EMIT_IF(d->b, c->some, cp_async_whole, AT(c->to, place + i * c->step_bytes),
                AT(c->from[i], number * c->stage_k_bytes), I(DENSE_COPY));
}

static void emit_copies(dense_emitter *d) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    for (int i = 0; i < plan->stages; i++) {
        int place = i * dense_stage_bytes(plan);
        note(b, "stage %d", i);
        emit_stage_copies(d, &d->a_copies, place, i);
        emit_stage_copies(d, &d->b_copies, place + dense_a_bytes(plan), i);
        EMIT_BARE(b, cp_async_commit);
    }
}

/* -- Products ----------------------------------------------------------------------------------------- */

static int unit_words(const dense_plan *plan) {
    return plan->problem.arithmetic.steps * plan->problem.arithmetic.a_words;
}
static int unit_operands(const dense_plan *plan) {
    return plan->problem.arithmetic.steps * plan->problem.arithmetic.a_operands;
}

static void declare_products(dense_emitter *d) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    int rows = plan->warp_rows, acc = rows * plan->warp_columns * plan->problem.arithmetic.accs;
    b32_array(b, "acc", acc, d->acc);
    for (int i = 0; i < acc; i++) EMIT(b, mov_b32, d->acc[i], I(0));
    b32_array(b, "a_word", rows * unit_words(plan), d->word);
    if (!plan->problem.arithmetic.a_is_plain)
        b32_array(b, "a_operand", rows * unit_operands(plan), d->operand);
    else
        for (int i = 0; i < rows * unit_words(plan); i++) d->operand[i] = d->word[i];
    d->multiplier = sddmm_declare_multiplier(b, &plan->problem.arithmetic, false);
}

/* Sets where this lane's unit is in row g of its warp's rows. The warp has PART_ROWS rows, from PART *
   PART_ROWS on. */
static mc_reg emit_lane_place(dense_emitter *d, const char *name, int row_bytes, mc_reg part, int part_rows) {
    mc_builder *b = d->b;
    mc_reg at = b32(b, name);
    EMIT(b, mad_s32, at, d->place.lane, I(row_bytes / 4), d->shared);
    if (part.id) EMIT(b, mad_s32, at, part, I(part_rows * row_bytes), at);
    return at;
}

static void emit_load(mc_builder *b, int bytes, const mc_reg *to, mc_operand from) {
    switch (bytes) {
    case 16: EMIT(b, lds_v4, V4(to), from); break;
    case 8: EMIT(b, lds_v2, V2(to), from); break;
    default: EMIT(b, lds_b32, *to, from);
    }
}

static void emit_load_a(dense_emitter *d, int stage_at) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    int access = sddmm_a_access(&plan->problem.arithmetic), words = unit_words(plan),
        row_bytes = dense_a_plane_row(plan);
    int operands = plan->problem.arithmetic.a_operands, step_words = plan->problem.arithmetic.a_words;
    for (int row = 0; row < plan->warp_rows; row++) {
        const mc_reg *word = &d->word[row * words], *operand = &d->operand[row * unit_operands(plan)];
        for (int plane = 0; plane < dense_a_planes(plan); plane++) {
            int place = plane * plan->tile_rows * row_bytes + row * SDDMM_MMA_ROWS * row_bytes;
            emit_load(b, access, word + plane * access / WORD, AT(d->a_lane, stage_at + place));
        }
        for (int step = 0; step < plan->problem.arithmetic.steps; step++)
            sddmm_emit_a_step(&d->multiplier, word + step * step_words, operand + step * operands);
    }
}

/* Multiplies column group COLUMN of this warp by all its rows. */
static void emit_column(dense_emitter *d, int stage_at, int column, const mc_reg *x, const mc_reg *y) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    int place = stage_at + dense_a_bytes(plan) + column * MC_SAMPLED_SLOTS * DENSE_STAGE_ROW;
    int operands = plan->problem.arithmetic.a_operands, words = plan->problem.arithmetic.b_words,
        rows = plan->warp_rows;
    EMIT(b, lds_v4, V4(x), AT(d->b_lane, place));
    EMIT(b, lds_v4, V4(y), AT(d->b_lane, place + 8 * DENSE_STAGE_ROW));
    for (int step = 0; step < plan->problem.arithmetic.steps; step++) {
        sddmm_factor factors[DENSE_MAX_ROWS];
        for (int row = 0; row < rows; row++)
            factors[row] = (sddmm_factor){&d->operand[row * unit_operands(plan) + step * operands],
                                          dense_acc(d, row, column)};
        sddmm_emit_products(&d->multiplier, x + step * words, y + step * words, factors, rows);
    }
}

static void emit_products(dense_emitter *d) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    mc_reg x[4], y[4];
    heading(b, "Multiply: %d columns and %d rows a warp", plan->warp_columns * MC_SAMPLED_SLOTS,
            plan->warp_rows * SDDMM_MMA_ROWS);
    b32_array(b, "x", 4, x);
    b32_array(b, "y", 4, y);
    for (int i = 0; i < plan->stages; i++) {
        note(b, "stage %d has arrived, of every thread's copies", i);
        EMIT(b, cp_async_wait, I(plan->stages - 1 - i));
        EMIT(b, bar_sync, I(0));
        emit_load_a(d, i * dense_stage_bytes(plan));
        for (int column = 0; column < plan->warp_columns; column++)
            emit_column(d, i * dense_stage_bytes(plan), column, x, y);
    }
}

/* -- The kernel --------------------------------------------------------------------------------------- */

static int spare_registers(const dense_plan *plan) {
    bool more = plan->tile_n < 64 || plan->tile_rows < 64 || !plan->problem.arithmetic.b_is_plain;
    bool scales = out_by_rows(&plan->problem.output) || out_by_columns(&plan->problem.output);
    return SPARE + (more ? MORE_SPARE : 0) + (scales ? SCALE_SPARE : 0);
}

void dense_emit(const void *data, mc_builder *b) {
    const dense_plan *plan = data;
    dense_emitter emitter = {.plan = plan, .b = b}, *d = &emitter;
    shared_dynamic(b, shared_name, DENSE_COPY);
    b->fills_shared = true;
    b->spare += spare_registers(plan);
    sddmm_begin(&plan->problem, b);
    emit_launch_next(b, plan->problem.overlap);
    emit_place(d);
    dense_emit_ranges(d);
    emit_grid_wait(b, plan->problem.overlap, "A or B");
    heading(b, "Copies: %d stages", plan->stages);
    emit_copy_starts(d);
    emit_copies(d);
    dense_emit_first_columns(d);
    dense_emit_scales(d);
    declare_products(d);
    d->a_lane =
        emit_lane_place(d, "a_lane", dense_a_plane_row(plan), d->warp_row, plan->warp_rows * SDDMM_MMA_ROWS);
    d->b_lane =
        emit_lane_place(d, "b_lane", DENSE_STAGE_ROW, d->warp_column, plan->warp_columns * MC_SAMPLED_SLOTS);
    emit_products(d);
    dense_emit_result(d);
    dense_emit_samples(d);
    EMIT_RET(b);
}
