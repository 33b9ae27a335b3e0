/* The dense SDDMM: the vectors that the mask has in a tile, from shared memory to C.
 *
 * Each warp takes one group of 8 rows of A after another, or of 16 where a row block has as many. These are
 * 8 / V row blocks, or one, which share the warp's lanes evenly. tile_ptr says which vectors of a row block
 * have columns in the tile. They adjoin in C, so that neighbouring lanes copy neighbours: in BCRS 16 bytes at
 * a time, in SR-BCRS, which is row-major, an element of each row. */
#include "ops/sddmm/dense/dense.h"
#include <stdio.h>

/* Groups of rows that a warp samples. */
static int sampled_groups(const dense_plan *plan) {
    int groups = plan->tile_rows / dense_group_rows(plan);
    return groups > plan->problem.warps ? groups / plan->problem.warps : 1;
}

/* -- Ranges ------------------------------------------------------------------------------------------- */

/* What finds the ranges of a lane's row blocks, one of each group. */
typedef struct range_finder {
    mc_reg tile_ptr;
    mc_reg row_block;       /* the lane's row block among those of a group; none where there is one */
    mc_reg row, exists, at; /* scratch: the row block's first row, counted in the tile; whether it is there */
} range_finder;

/* Sets the row of the lane's row block of group GROUP. */
static void emit_row(const dense_emitter *d, const range_finder *f, int group) {
    mc_builder *b = d->b;
    mc_reg warp = d->place.warp;
    int rows = dense_group_rows(d->plan), warp_rows = sampled_groups(d->plan) * rows;
    if (warp.id) EMIT(b, mad_s32, f->row, warp, I(warp_rows), I(group * rows));
    else EMIT(b, mov_b32, f->row, I(group * rows));
    if (f->row_block.id) EMIT(b, mad_s32, f->row, f->row_block, I(d->plan->problem.vec), f->row);
}

/* Sets whether the row block is one of the tile and of the mask. */
static void emit_exists(const dense_emitter *d, const range_finder *f) {
    const dense_plan *plan = d->plan;
    EMIT(d->b, setp_ge, f->exists, d->rows.last, f->row);
    if (plan->problem.warps * dense_group_rows(plan) > plan->tile_rows)
        EMIT(d->b, setp_lt_and, f->exists, f->row, I(plan->tile_rows), f->exists);
}

static void emit_range(const dense_emitter *d, const range_finder *f, const dense_vectors *v) {
    mc_builder *b = d->b;
    mc_reg row_block = v->column; /* not loaded yet */
    EMIT(b, mov_b32, v->slot, I(0));
    EMIT(b, mov_b32, v->end, I(0));
    EMIT(b, add_s32, row_block, f->row, d->rows.first);
    EMIT(b, shr_u32, row_block, row_block, I(log2_of(d->plan->problem.vec)));
    EMIT(b, mad_wide, f->at, row_block, d->ptr_row, f->tile_ptr);
    EMIT_IF(b, f->exists, ldr_b32, v->slot, AT(f->at, 0));
    EMIT_IF(b, f->exists, ldr_b32, v->end, AT(f->at, WORD));
}

static void declare_vectors(const dense_emitter *d, dense_mask *mask) {
    mc_builder *b = d->b;
    int groups = sampled_groups(d->plan);
    mc_reg slot[DENSE_MAX_SAMPLED], end[DENSE_MAX_SAMPLED], column[DENSE_MAX_SAMPLED], at[DENSE_MAX_SAMPLED];
    b32_array(b, "slot", groups, slot);
    b32_array(b, "slot_end", groups, end);
    b32_array(b, "column", groups, column);
    b32_array(b, "sample_at", groups, at);
    for (int i = 0; i < groups; i++)
        mask->vectors[i] = (dense_vectors){.slot = slot[i], .end = end[i], .column = column[i], .at = at[i]};
}

static range_finder emit_finder(const dense_emitter *d, dense_mask *mask) {
    mc_builder *b = d->b;
    int lanes = dense_lanes(d->plan);
    range_finder f = {.row = b32(b, "row"), .exists = pred(b, "exists"), .at = b64(b, "range_at")};
    mc_reg tile = load_special(b, "tile_number", "ctaid.x");
    f.tile_ptr = load_array(b, "tile_ptr");
    mask->col_idx = load_array(b, "col_idx");
    EMIT(b, mad_wide, f.tile_ptr, tile, I(WORD), f.tile_ptr);
    mask->in_row_block = d->place.lane;
    if (lanes == MC_WARP) return f;
    f.row_block = shr_u32(b, "row_block", d->place.lane, I(log2_of(lanes)));
    mask->in_row_block = and_b32(b, "in_row_block", d->place.lane, I(lanes - 1));
    return f;
}

void dense_emit_ranges(const dense_emitter *d, dense_mask *mask) {
    int element = out_element_bytes(d->plan->problem.output.element);
    heading(d->b, "Where the mask's vectors of this tile lie in C");
    range_finder f = emit_finder(d, mask);
    declare_vectors(d, mask);
    for (int group = 0; group < sampled_groups(d->plan); group++) {
        const dense_vectors *v = &mask->vectors[group];
        emit_row(d, &f, group);
        emit_exists(d, &f);
        EMIT(d->b, mad_s32, v->at, f.row, I(element), d->shared);
        emit_range(d, &f, v);
    }
}

/* -- The next vector ---------------------------------------------------------------------------------- */

/* A vector that a lane copies. */
typedef struct lane_vector {
    mc_reg slot, column;
    mc_reg exists, at; /* whether the row block has such a slot in the tile; scratch */
} lane_vector;

/* Makes VECTOR that of slot FROM + STEP, and loads its column where END says that it is there. */
static void emit_next(mc_builder *b, const dense_mask *mask, const lane_vector *vector, mc_reg from,
                      mc_operand step, mc_reg end) {
    EMIT(b, add_s32, vector->slot, from, step);
    EMIT(b, mov_b32, vector->column, I(0));
    EMIT(b, setp_lt, vector->exists, vector->slot, end);
    EMIT(b, mad_wide, vector->at, vector->slot, I(WORD), mask->col_idx);
    EMIT_IF(b, vector->exists, ldr_b32, vector->column, AT(vector->at, 0));
}

void dense_emit_first_columns(const dense_emitter *d, const dense_mask *mask) {
    mc_builder *b = d->b;
    int vector_lanes = dense_vector_lanes(d->plan);
    mc_reg first = mask->in_row_block, exists = pred(b, "has_first"), at = b64(b, "first_at");
    heading(b, "This lane's first vectors");
    if (vector_lanes > 1) {
        note(b, "%d lanes copy a vector", vector_lanes);
        first = shr_u32(b, "first", first, I(log2_of(vector_lanes)));
    }
    for (int group = 0; group < sampled_groups(d->plan); group++) {
        const dense_vectors *v = &mask->vectors[group];
        emit_next(b, mask, &(lane_vector){v->slot, v->column, exists, at}, v->slot, first, v->end);
    }
}

/* -- Samples ------------------------------------------------------------------------------------------ */

enum { MAX_VECTOR_WORDS = 16 };

/* Scratch of a slot of SR-BCRS. */
typedef struct slot_scratch {
    mc_reg has_vector; /* whether the slot is no padding */
    mc_reg stride;     /* the first slot of its stride */
    mc_reg half;       /* the upper half of a word */
} slot_scratch;

/* What copies a lane's vectors. All but the first two is written again for each vector. */
typedef struct sampler {
    mc_reg c;
    mc_reg piece; /* bytes of the vector that other lanes copy before this one's; none where none does */
    mc_reg word[MAX_VECTOR_WORDS], from, to;
    mc_reg done; /* whether the row block has no vectors for this lane */
    lane_vector next;
    slot_scratch slot;
} sampler;

/* Bytes of a vector that a lane copies: 2, or whole words. */
static int lane_bytes(const dense_plan *plan) { return dense_vector_bytes(plan) / dense_vector_lanes(plan); }
static int lane_words(const dense_plan *plan) { return (lane_bytes(plan) + WORD - 1) / WORD; }

/* Sets which bytes of a vector are this lane's, where several lanes copy it. */
static void emit_piece(const dense_emitter *d, const dense_mask *mask, sampler *s) {
    mc_builder *b = d->b;
    int lanes = dense_vector_lanes(d->plan);
    if (lanes == 1) return;
    s->piece = b32(b, "piece");
    EMIT(b, and_b32, s->piece, mask->in_row_block, I(lanes - 1));
    EMIT(b, shl_b32, s->piece, s->piece, I(log2_of(DENSE_COPY)));
    EMIT(b, mad_wide, s->c, s->piece, I(1), s->c);
}

static sampler emit_sampler(const dense_emitter *d, const dense_mask *mask) {
    mc_builder *b = d->b;
    sampler s = {.c = load_array(b, "c")};
    emit_piece(d, mask, &s);
    b32_array(b, "element", lane_words(d->plan), s.word);
    s.from = b32(b, "sampled"), s.to = b64(b, "to"), s.done = pred(b, "done");
    s.next.slot = b32(b, "next"), s.next.column = b32(b, "next_column");
    s.next.exists = pred(b, "has_next"), s.next.at = b64(b, "index_at");
    if (!sddmm_stride(&d->plan->problem)) return s;
    s.slot.half = b32(b, "high_half"), s.slot.stride = b32(b, "stride");
    s.slot.has_vector = pred(b, "has_vector");
    return s;
}

/* Reads the lane's words of its vector from shared memory. */
static void emit_take(const dense_emitter *d, const sampler *s, const dense_vectors *v) {
    mc_builder *b = d->b;
    int words = lane_words(d->plan);
    if (sddmm_stride(&d->plan->problem)) {
        note(b, "a slot without a vector reads the tile's first column");
        EMIT(b, setp_ge, s->slot.has_vector, v->column, I(0));
        EMIT(b, max_s32, v->column, v->column, d->columns.first);
    }
    EMIT(b, sub_s32, s->from, v->column, d->columns.first);
    EMIT(b, mad_s32, s->from, s->from, I(dense_column_bytes(d->plan)), v->at);
    for (int i = 0; i < words; i += 4) {
        mc_operand from = AT(s->from, i * WORD);
        if (words >= 4) EMIT(b, lds_v4, V4(&s->word[i]), from);
        else if (words == 2) EMIT(b, lds_v2, V2(s->word), from);
        else if (lane_bytes(d->plan) == WORD) EMIT(b, lds_b32, s->word[0], from);
        else EMIT(b, lds_u16, s->word[0], from);
    }
}

static void emit_vector(const dense_emitter *d, const sampler *s, mc_reg slot) {
    out_element element = d->plan->problem.output.element;
    int count = lane_bytes(d->plan) / out_element_bytes(element);
    EMIT(d->b, mad_wide, s->to, slot, I(dense_vector_bytes(d->plan)), s->c);
    out_store(d->b, (mc_reg){0}, AT(s->to, 0), element, count, s->word);
}

/* The word whose low bytes are the element of row ROW. */
static mc_reg emit_row_word(mc_builder *b, const sampler *s, int row, int element) {
    mc_reg word = s->word[row * element / WORD];
    if (row * element % WORD == 0) return word;
    EMIT(b, shr_u32, s->slot.half, word, I(16));
    return s->slot.half;
}

/* Stores a slot of SR-BCRS: row r of slot s goes to s + (vec - 1) * (s rounded down to a multiple of S) + r *
   S. */
static void emit_slot(const dense_emitter *d, const sampler *s, mc_reg slot) {
    mc_builder *b = d->b;
    const sddmm_problem *p = &d->plan->problem;
    int stride = sddmm_stride(p), element = out_element_bytes(p->output.element);
    if (p->vec > 1) EMIT(b, and_b32, s->slot.stride, slot, I(-stride));
    EMIT(b, mad_wide, s->to, slot, I(element), s->c);
    if (p->vec > 1) EMIT(b, mad_wide, s->to, s->slot.stride, I((p->vec - 1) * element), s->to);
    for (int i = 0; i < lane_words(d->plan); i++)
        EMIT(b, selp_b32, s->word[i], s->word[i], I(0), s->slot.has_vector);
    for (int row = 0; row < p->vec; row++) {
        mc_reg word = emit_row_word(b, s, row, element);
        out_store(b, (mc_reg){0}, AT(s->to, row * stride * element), p->output.element, 1, &word);
    }
}

static mc_label numbered_label(mc_builder *b, const char *name, int number) {
    char text[MC_MAX_NAME];
    snprintf(text, sizeof text, "%s_%d", name, number);
    return label(b, text);
}

/* Copies the vectors of group GROUP. The next column is on its way while a vector is copied. */
static void emit_group(const dense_emitter *d, const dense_mask *mask, const sampler *s, int group) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    const dense_vectors *v = &mask->vectors[group];
    mc_label loop = numbered_label(b, "VECTORS", group), end = numbered_label(b, "END", group);
    if (s->piece.id) EMIT(b, add_s32, v->at, v->at, s->piece);
    EMIT(b, setp_ge, s->done, v->slot, v->end);
    EMIT_IF(b, s->done, bra, TO(end));
    set_label(b, loop);
    emit_next(b, mask, &s->next, v->slot, I(dense_lanes(plan) / dense_vector_lanes(plan)), v->end);
    emit_take(d, s, v);
    if (sddmm_stride(&plan->problem)) emit_slot(d, s, v->slot);
    else emit_vector(d, s, v->slot);
    EMIT(b, mov_b32, v->slot, s->next.slot);
    EMIT(b, mov_b32, v->column, s->next.column);
    EMIT_IF(b, s->next.exists, bra, TO(loop));
    set_label(b, end);
}

void dense_emit_samples(const dense_emitter *d, const dense_mask *mask) {
    heading(d->b, "Samples: each warp's rows in turn, %d at a time", dense_group_rows(d->plan));
    sampler s = emit_sampler(d, mask);
    for (int group = 0; group < sampled_groups(d->plan); group++) emit_group(d, mask, &s, group);
}
