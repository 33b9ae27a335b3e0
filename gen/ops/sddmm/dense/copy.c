/* The dense SDDMM: its copies, by cp.async, of the tile's rows of A and columns of B. All stages have room in
 * shared memory at once, so that all copies are asked for before the first product.
 *
 * A stage is 64 bytes of each column of B, a unit for each lane of a lane group, and the same k of A's rows.
 * In shared memory
 *
 *   columns of B  lie as [column][64], 16 bytes a lane: two columns fill a row of banks, which is what a
 *                 quarter of a warp reads at once
 *   rows of A     lie as [plane][row][4 lanes]: units of more than 16 bytes are cut into planes, so that the
 *                 same is true of them */
#include "ops/sddmm/dense/dense.h"
#include "parts/copy.h"

/* What is copied of one side of the tile. Rows are rows of A, or columns of B. */
typedef struct copied_side {
    const dense_side *side;
    mc_reg array;
    mc_operand row_bytes;        /* from a row to the next, in memory */
    int rows, planes, plane_row; /* rows of the tile; planes in shared memory; bytes of a row of each */
} copied_side;

/* A thread's copies of one side: the same unit of every so-many-th row. */
typedef struct copier {
    int count, step;             /* copies of a stage; rows from one to the next */
    int step_bytes, stage_bytes; /* how far the next row is in shared memory; how far a row's next stage is */
    mc_reg row, unit;            /* the thread's first row, and its unit */
    mc_reg copies;               /* whether the thread copies; none where all threads do */
    mc_reg to, from[DENSE_MAX_COPIES];
} copier;

/* Sets where the thread copies to: unit u of a row goes to plane u % planes, lane u / planes. */
static mc_reg emit_target(const dense_emitter *d, const copied_side *s, const copier *c) {
    mc_builder *b = d->b;
    mc_reg to = b32(b, "to");
    EMIT(b, mad_s32, to, c->row, I(s->plane_row), d->shared);
    if (s->planes == 1) {
        EMIT(b, mad_s32, to, c->unit, I(DENSE_COPY), to);
        return to;
    }
    mc_reg plane = b32(b, "plane"); /* the lane, and then the plane */
    EMIT(b, shr_u32, plane, c->unit, I(log2_of(s->planes)));
    EMIT(b, mad_s32, to, plane, I(DENSE_COPY), to);
    EMIT(b, and_b32, plane, c->unit, I(s->planes - 1));
    EMIT(b, mad_s32, to, plane, I(s->rows * s->plane_row), to);
    return to;
}

/* Sets where the thread copies from. Rows beyond the last one are that one again: their sums are not
   stored. */
static void emit_sources(mc_builder *b, const copied_side *s, copier *c) {
    mc_reg at = b64(b, "at"), row = b32(b, "row");
    EMIT(b, mad_wide, at, s->side->first, s->row_bytes, s->array);
    EMIT(b, mad_wide, at, c->unit, I(DENSE_COPY), at);
    b64_array(b, "from", c->count, c->from);
    for (int i = 0; i < c->count; i++) {
        if (i) EMIT(b, add_s32, row, c->row, I(i * c->step));
        EMIT(b, min_s32, row, (i ? row : c->row), s->side->last);
        EMIT(b, mad_wide, c->from[i], row, s->row_bytes, at);
    }
}

static copier emit_copier(const dense_emitter *d, const copied_side *s) {
    mc_builder *b = d->b;
    int units = s->planes * s->plane_row / DENSE_COPY, step = MC_WARP * d->plan->problem.warps / units;
    copier c = {.count = s->rows / step,
                .step = step,
                .step_bytes = step * s->plane_row,
                .stage_bytes = units * DENSE_COPY};
    note(b, "a thread copies unit thread mod %d of rows thread / %d + %d i", units, units, step);
    c.row = shr_u32(b, "first_row", d->place.thread, I(log2_of(units)));
    c.unit = and_b32(b, "unit", d->place.thread, I(units - 1));
    c.to = emit_target(d, s, &c);
    if (c.count == 0) {
        c.count = 1;
        c.copies = setp_lt(b, "some", c.row, I(s->rows));
    }
    emit_sources(b, s, &c);
    return c;
}

/* A's rows, and B's columns. */
static copied_side load_rows(const dense_emitter *d, mc_reg lda) {
    const sddmm_problem *p = &d->plan->problem;
    copied_side s = {.side = &d->rows,
                     .array = load_array(d->b, "a"),
                     .rows = d->plan->tile_rows,
                     .planes = dense_a_planes(d->plan),
                     .plane_row = dense_a_plane_row(d->plan)};
    s.row_bytes = sddmm_emit_row_bytes(d->b, "a_row_bytes", p->arithmetic.lhs, p->lda, lda);
    return s;
}

static copied_side load_columns(const dense_emitter *d, mc_reg ldb) {
    const sddmm_problem *p = &d->plan->problem;
    copied_side s = {.side = &d->columns,
                     .array = load_array(d->b, "b"),
                     .rows = d->plan->tile_n,
                     .planes = 1,
                     .plane_row = DENSE_STAGE_ROW};
    s.row_bytes = sddmm_emit_row_bytes(d->b, "b_row_bytes", p->arithmetic.rhs, p->ldb, ldb);
    return s;
}

/* Asks for stage STAGE of a side, to OFFSET in shared memory. */
static void emit_stage(mc_builder *b, const copier *c, int stage, int offset) {
    for (int i = 0; i < c->count; i++)
        copy_async(b, DENSE_COPY,
                   (copy_piece){.guard = c->copies,
                                .to = AT(c->to, offset + i * c->step_bytes),
                                .from = AT(c->from[i], stage * c->stage_bytes)});
}

void dense_emit_copies(const dense_emitter *d) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    const sddmm_problem *p = &plan->problem;
    heading(b, "Copies: %d stages", plan->stages);
    mc_reg lda = load_shape(b, "lda", p->lda == MC_OPEN), ldb = load_shape(b, "ldb", p->ldb == MC_OPEN);
    const copied_side rows = load_rows(d, lda), columns = load_columns(d, ldb);
    b->prefix = "a_";
    const copier a_copier = emit_copier(d, &rows);
    b->prefix = "b_";
    const copier b_copier = emit_copier(d, &columns);
    b->prefix = NULL;
    for (int stage = 0; stage < plan->stages; stage++) {
        int offset = stage * dense_stage_bytes(plan);
        note(b, "stage %d", stage);
        emit_stage(b, &a_copier, stage, offset);
        emit_stage(b, &b_copier, stage, offset + dense_a_bytes(plan));
        EMIT_BARE(b, cp_async_commit);
    }
}
