/* Rows of B come to shared memory in stages, all columns of the tile, copied by all threads of the block. A
 * row lies 16 bytes more than its columns from the one before: eight rows of 16 bytes then meet no bank
 * twice. */
#include "ops/spmmt/kernel.h"
#include "parts/copy.h"

/* Pieces of 16 bytes, of a row of a stage. */
static int units_of(const spmmt_plan *plan) { return plan->tile_n * SPMMT_ELEMENT / SPMMT_COPY; }

/* The bytes of the piece that lie inside of a row of B: 16, fewer at the row's end, or none. */
static void count_bytes(spmmt_emitter *e, mc_reg column) {
    mc_builder *b = e->b;
    spmmt_copier *c = &e->copier;
    c->left = sub_s32(b, "columns_left", e->shapes.n, column);
    mc_reg least = max_s32(b, "columns_there", c->left, I(0));
    c->size =
        shl_b32(b, "copy_bytes", min_s32(b, "columns_copied", least, I(SPMMT_COPY / SPMMT_ELEMENT)), I(1));
}

/* The rows that steps read: B's, and those of a last row block's missing partner. */
static mc_operand count_rows(const spmmt_emitter *e) {
    const spmmt_plan *plan = e->plan;
    int together = plan->blocks * plan->vec;
    if (plan->blocks == 1) return e->shapes.m;
    if (plan->m != MC_OPEN) return I((plan->m + together - 1) / together * together);
    mc_reg up = add_s32(e->b, "rows_up", e->shapes.m, I(together - 1));
    return and_b32(e->b, "rows_read", up, H(~((uint32_t)together - 1)));
}

static void find_width(spmmt_emitter *e, mc_reg array) {
    mc_builder *b = e->b;
    mc_reg bits = or_b32(b, "b_bits", cvt_low(b, "b_low", array), e->shapes.b_row);
    mc_reg odd = and_b32(b, "b_odd", bits, I(SPMMT_COPY - 1));
    e->copier.wide = setp_eq(b, "wide", odd, I(0));
}

void spmmt_begin_copies(spmmt_emitter *e) {
    const spmmt_plan *plan = e->plan;
    mc_builder *b = e->b;
    spmmt_copier *c = &e->copier;
    int units = units_of(plan), stages = TRANSPOSED_STAGES * spmmt_stage_bytes(plan);
    c->step = spmmt_threads(plan) / units;
    c->count = plan->stage_rows > c->step ? plan->stage_rows / c->step : 1;
    note(b, "a thread copies unit thread mod %d of rows thread / %d + %d i of each stage", units, units,
         c->step);
    c->rows = count_rows(e);
    mc_reg row = shr_u32(b, "copy_row", e->place.thread, I(log2_of(units)));
    mc_reg unit = and_b32(b, "copy_unit", e->place.thread, I(units - 1)), array = load_array(b, "b");
    mc_reg column = mad_s32(b, "copy_column", unit, I(SPMMT_COPY / SPMMT_ELEMENT), e->tile_column);
    count_bytes(e, column);
    find_width(e, array);
    if (c->step > plan->stage_rows) c->copies = setp_lt(b, "some_copy", row, I(plan->stage_rows));
    mc_reg to = mad_s32(b, "copy_first", row, I(plan->pitch), e->shared);
    c->to = mad_s32(b, "copy_to_first", unit, I(SPMMT_COPY), to);
    c->end = add_s32(b, "copy_end", c->to, I(spmmt_stages_at(plan) + stages));
    c->to = carried(b, "copy_to", c->to);
    EMIT(b, add_s32, c->to, c->to, I(spmmt_stages_at(plan)));
    mc_reg at = mad_wide(b, "copy_at", column, I(SPMMT_ELEMENT), array);
    c->from = carried_b64(b, "copy_from", mad_wide(b, "copy_row_at", row, e->shapes.b_row, at));
    c->row = carried(b, "stage_row", row);
}

typedef struct copy_scratch {
    mc_reg inside, row, from, bytes, element, there;
} copy_scratch;

static void copy_wide(const spmmt_emitter *e, const copy_scratch *s, int to) {
    const spmmt_copier *c = &e->copier;
    mc_reg bytes = c->size;
    if (e->plan->blocks > 1) {
        EMIT(e->b, setp_lt, s->there, s->row, e->shapes.m);
        EMIT(e->b, selp_b32, bytes = s->bytes, c->size, I(0), s->there);
    }
    copy_async(e->b, SPMMT_COPY, (copy_piece){s->inside, AT(c->to, to), AT(s->from, 0), bytes});
}

/* A piece of rows that lie at no multiples of 16 bytes: element by element. */
static void copy_elements(const spmmt_emitter *e, const copy_scratch *s, int to) {
    const spmmt_copier *c = &e->copier;
    mc_builder *b = e->b;
    for (int i = 0; i < SPMMT_COPY / SPMMT_ELEMENT; i++) {
        EMIT(b, mov_b32, s->element, I(0));
        EMIT(b, setp_lt_and, s->there, I(i), c->left, s->inside);
        if (e->plan->blocks > 1) EMIT(b, setp_lt_and, s->there, s->row, e->shapes.m, s->there);
        EMIT_IF(b, s->there, ldg_u16, s->element, AT(s->from, (int64_t)i * SPMMT_ELEMENT));
        EMIT_IF(b, s->inside, sts_b16, AT(c->to, to + i * SPMMT_ELEMENT), s->element);
    }
}

/* Rows behind the last one, of a row block that is not there, become zeros. */
static void copy_pieces_by(const spmmt_emitter *e, const copy_scratch *s, bool wide) {
    const spmmt_copier *c = &e->copier;
    mc_builder *b = e->b;
    for (int i = 0; i < c->count; i++) {
        int to = i * c->step * e->plan->pitch;
        EMIT(b, add_s32, s->row, c->row, I((int64_t)i * c->step));
        if (c->copies.id) EMIT(b, setp_lt_and, s->inside, s->row, c->rows, c->copies);
        else EMIT(b, setp_lt, s->inside, s->row, c->rows);
        EMIT(b, mad_wide, s->from, e->shapes.b_row, I((int64_t)i * c->step), c->from);
        if (wide) copy_wide(e, s, to);
        else copy_elements(e, s, to);
    }
}

/* On to the next stage, which lies where the first one does behind the last. */
static void advance(const spmmt_emitter *e) {
    const spmmt_plan *plan = e->plan;
    const spmmt_copier *c = &e->copier;
    mc_builder *b = e->b;
    EMIT(b, add_s32, c->row, c->row, I(plan->stage_rows));
    EMIT(b, mad_wide, c->from, e->shapes.b_row, I(plan->stage_rows), c->from);
    EMIT(b, add_s32, c->to, c->to, I(spmmt_stage_bytes(plan)));
    mc_reg wraps = setp_ge(b, "wraps", c->to, c->end);
    EMIT_IF(b, wraps, sub_s32, c->to, c->to, I(TRANSPOSED_STAGES * spmmt_stage_bytes(plan)));
}

void spmmt_copy_stage(spmmt_emitter *e, const char *prefix) {
    mc_builder *b = e->b;
    b->prefix = prefix;
    const copy_scratch s = {.inside = pred(b, "inside"),
                            .row = b32(b, "row"),
                            .from = b64(b, "from"),
                            .bytes = b32(b, "bytes"),
                            .element = b32(b, "element"),
                            .there = pred(b, "is_there")};
    mc_label edge = label(b, "EDGE"), done = label(b, "COPIED");
    EMIT_IF(b, NOT(e->copier.wide), bra_uni, TO(edge));
    copy_pieces_by(e, &s, true);
    EMIT(b, bra_uni, TO(done));
    set_label(b, edge);
    copy_pieces_by(e, &s, false);
    set_label(b, done);
    advance(e);
    b->prefix = NULL;
}
