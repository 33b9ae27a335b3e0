/* Method "dense": from a tile's sums to the vectors that the mask has in it.
 *
 * Sums become elements of C and go to shared memory, where the stages were: [column][row]. Then each warp
 * takes one group of 8 rows of A after another. These are 8 / V row blocks, which share the warp's lanes
 * evenly. tile_ptr says which vectors of a row block have columns in the tile. They adjoin in C, so that
 * neighbouring lanes copy neighbours: in BCRS 16 bytes at a time, in SR-BCRS, which is row-major, an element
 * of each row. */
#include "ops/sddmm/dense/dense.h"
#include <stdio.h>

/* -- What is loaded ahead ----------------------------------------------------------------------------- */

static int turns_of(const dense_plan *plan) {
    int groups = plan->tile_rows / SDDMM_MMA_ROWS;
    return groups > plan->problem.warps ? groups / plan->problem.warps : 1;
}

/* Sets the lane's row block among those of 8 rows, and the lane's number among that row block's lanes. */
static void emit_lanes(dense_emitter *d) {
    mc_builder *b = d->b;
    int lanes = dense_lanes(d->plan);
    d->in_row_block = d->place.lane;
    if (lanes == MC_WARP) return;
    d->row_block = b32(b, "row_block"), d->in_row_block = b32(b, "in_row_block");
    EMIT(b, shr_u32, d->row_block, d->place.lane, I(log2_of(lanes)));
    EMIT(b, and_b32, d->in_row_block, d->place.lane, I(lanes - 1));
}

/* Sets ROW to the first row of the lane's row block in turn I, counted in the tile. */
static void emit_row(dense_emitter *d, int i, mc_reg row) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    if (d->place.warp.id)
        EMIT(b, mad_s32, row, d->place.warp, I(turns_of(plan) * SDDMM_MMA_ROWS), I(i * SDDMM_MMA_ROWS));
    else EMIT(b, mov_b32, row, I(i * SDDMM_MMA_ROWS));
    if (d->row_block.id) EMIT(b, mad_s32, row, d->row_block, I(plan->problem.vec), row);
}

/* Sets EXISTS: whether the row block is one of the tile and of the mask. */
static void emit_exists(dense_emitter *d, mc_reg row, mc_reg exists) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    EMIT(b, setp_ge, exists, d->last_row, row);
    if (plan->problem.warps * SDDMM_MMA_ROWS > plan->tile_rows)
        EMIT(b, setp_lt_and, exists, row, I(plan->tile_rows), exists);
}

static void emit_range(dense_emitter *d, dense_turn *turn, mc_reg row, mc_reg exists, mc_reg at) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    mc_reg row_block = turn->column; /* not loaded yet */
    EMIT(b, mov_b32, turn->slot, I(0));
    EMIT(b, mov_b32, turn->end, I(0));
    EMIT(b, add_s32, row_block, row, d->tile_row);
    EMIT(b, shr_u32, row_block, row_block, I(log2_of(plan->problem.vec)));
    EMIT(b, mad_wide, at, row_block, d->ptr_row, d->tile_ptr);
    EMIT_IF(b, exists, ldr_b32, turn->slot, AT(at, 0));
    EMIT_IF(b, exists, ldr_b32, turn->end, AT(at, WORD));
}

void dense_emit_ranges(dense_emitter *d) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    int turns = turns_of(plan);
    mc_reg slots[DENSE_MAX_TURNS], ends[DENSE_MAX_TURNS], columns[DENSE_MAX_TURNS], ats[DENSE_MAX_TURNS];
    heading(b, "Where the mask's vectors of this tile lie in C");
    mc_reg tile = load_special(b, "tile_number", "ctaid.x"), row = b32(b, "row"), exists = pred(b, "exists"),
           at = b64(b, "range_at");
    d->tile_ptr = load_array(b, "tile_ptr"), d->col_idx = load_array(b, "col_idx");
    EMIT(b, mad_wide, d->tile_ptr, tile, I(WORD), d->tile_ptr);
    emit_lanes(d);
    b32_array(b, "slot", turns, slots);
    b32_array(b, "slot_end", turns, ends);
    b32_array(b, "column", turns, columns);
    b32_array(b, "sample_at", turns, ats);
    for (int i = 0; i < turns; i++) {
        d->turn[i] = (dense_turn){slots[i], ends[i], columns[i], ats[i]};
        emit_row(d, i, row);
        emit_exists(d, row, exists);
        EMIT(b, mad_s32, ats[i], row, I(out_element_bytes(plan->problem.output.element)), d->shared);
        emit_range(d, &d->turn[i], row, exists, at);
    }
}

/* Loads col_idx[slot] to COLUMN, if the row block has that slot in the tile. */
static void emit_column(dense_emitter *d, mc_reg slot, mc_reg end, mc_reg column, mc_reg exists, mc_reg at) {
    mc_builder *b = d->b;
    EMIT(b, setp_lt, exists, slot, end);
    EMIT(b, mad_wide, at, slot, I(WORD), d->col_idx);
    EMIT_IF(b, exists, ldr_b32, column, AT(at, 0));
}

void dense_emit_first_columns(dense_emitter *d) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    int vector_lanes = dense_vector_lanes(plan);
    mc_reg first = d->in_row_block, exists = pred(b, "has_first"), at = b64(b, "first_at");
    heading(b, "This lane's first vectors");
    if (vector_lanes > 1) {
        first = b32(b, "first");
        note(b, "%d lanes copy a vector", vector_lanes);
        EMIT(b, shr_u32, first, d->in_row_block, I(log2_of(vector_lanes)));
    }
    for (int i = 0; i < turns_of(plan); i++) {
        dense_turn *turn = &d->turn[i];
        EMIT(b, add_s32, turn->slot, turn->slot, first);
        EMIT(b, mov_b32, turn->column, I(0));
        emit_column(d, turn->slot, turn->end, turn->column, exists, at);
    }
}

/* -- Scales ------------------------------------------------------------------------------------------- */

/* Loads scales of rows. Rows beyond the last one have its scales; so have columns, below. */
static void emit_row_scales(dense_emitter *d, mc_reg array) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    mc_reg row = b32(b, "scale_row"), first = b32(b, "first_scale_row"), last = b32(b, "last_scale_row"),
           at = b64(b, "scale_at");
    b32_array(b, "row_scale", 2 * plan->warp_rows, d->row_scale);
    EMIT(b, mad_wide, array, d->tile_row, I(WORD), array);
    EMIT(b, shl_b32, first, d->place.t, I(1));
    if (d->warp_row.id) EMIT(b, mad_s32, first, d->warp_row, I(plan->warp_rows * SDDMM_MMA_ROWS), first);
    note(b, "rows 2 t and 2 t + 1 of 8: both are there, or none is");
    EMIT(b, add_s32, last, d->last_row, I(-1));
    for (int i = 0; i < plan->warp_rows; i++) {
        EMIT(b, add_s32, row, first, I(i * SDDMM_MMA_ROWS));
        EMIT(b, min_s32, row, row, last);
        EMIT(b, mad_wide, at, row, I(WORD), array);
        EMIT(b, ldr_v2, V2(&d->row_scale[2 * i]), AT(at, 0));
    }
}

static void emit_column_scales(dense_emitter *d, mc_reg array) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    mc_reg column = b32(b, "scale_column"), first = d->place.g, at = b64(b, "scale_at");
    b32_array(b, "column_scale", 2 * plan->warp_columns, d->column_scale);
    EMIT(b, mad_wide, array, d->tile_column, I(WORD), array);
    if (d->warp_column.id) {
        first = b32(b, "first_scale_column");
        EMIT(b, mad_s32, first, d->warp_column, I(plan->warp_columns * MC_SAMPLED_SLOTS), d->place.g);
    }
    for (int i = 0; i < 2 * plan->warp_columns; i++) {
        EMIT(b, add_s32, column, first, I(8 * i));
        EMIT(b, min_s32, column, column, d->last_column);
        EMIT(b, mad_wide, at, column, I(WORD), array);
        EMIT(b, ldr_b32, d->column_scale[i], AT(at, 0));
    }
}

void dense_emit_scales(dense_emitter *d) {
    mc_builder *b = d->b;
    out_per per = d->plan->problem.output.scale;
    if (per == OUT_PER_NONE) return;
    heading(b, "Scales");
    if (per == OUT_PER_TENSOR) {
        d->scale = b32(b, "scale");
        EMIT(b, ld_param_f32, d->scale, NAME("scale"));
        return;
    }
    mc_reg array = load_array(b, "scale");
    if (per == OUT_PER_ROW) emit_row_scales(d, array);
    else emit_column_scales(d, array);
}

/* -- Result ------------------------------------------------------------------------------------------- */

/* Makes words of C's elements of rows 2 t and 2 t + 1 of a column. */
static const mc_reg *emit_elements(dense_emitter *d, int row, int column, const mc_reg *sums) {
    mc_builder *b = d->b;
    const out_kind *output = &d->plan->problem.output;
    if (!out_is_scaled(output->element)) return sums;
    for (int i = 0; i < 2; i++) {
        out_terms terms = {.scale = d->scale};
        if (output->scale == OUT_PER_ROW) terms.scale = d->row_scale[2 * row + i];
        if (output->scale == OUT_PER_COLUMN) terms.scale = d->column_scale[column];
        out_scale(b, output, sums[i], terms, d->scratch.real[i]);
    }
    return out_pack(b, output->element, &d->scratch, 2);
}

static void emit_group_result(dense_emitter *d, mc_reg at, int row, int column) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    int element = out_element_bytes(plan->problem.output.element);
    const mc_reg *acc = dense_acc(d, row, column);
    sddmm_emit_settle(&d->multiplier, acc);
    for (int half = 0; half < 2; half++) {
        int place = (2 * column + half) * 8 * dense_column_bytes(plan) + row * SDDMM_MMA_ROWS * element;
        const mc_reg sums[] = {acc[frag_c_reg(half, 0)], acc[frag_c_reg(half, 1)]};
        const mc_reg *words = emit_elements(d, row, 2 * column + half, sums);
        if (element == 2) EMIT(b, sts_b32, AT(at, place), words[0]);
        else EMIT(b, sts_v2, AT(at, place), V2(words));
    }
}

void dense_emit_result(dense_emitter *d) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    int element = out_element_bytes(plan->problem.output.element), column_bytes = dense_column_bytes(plan);
    heading(b, "Result: [%d columns][%d rows], %d bytes a column, where the stages were", plan->tile_n,
            plan->tile_rows, column_bytes);
    mc_reg at = b32(b, "result_at");
    out_declare_scratch(&d->scratch, b, plan->problem.output.element, 2);
    EMIT(b, mad_s32, at, d->place.g, I(column_bytes), d->shared);
    EMIT(b, mad_s32, at, d->place.t, I(2 * element), at);
    if (d->warp_row.id) EMIT(b, mad_s32, at, d->warp_row, I(plan->warp_rows * SDDMM_MMA_ROWS * element), at);
    if (d->warp_column.id)
        EMIT(b, mad_s32, at, d->warp_column, I(plan->warp_columns * MC_SAMPLED_SLOTS * column_bytes), at);
    if (plan->tile_n * column_bytes > (plan->stages - 1) * dense_stage_bytes(plan)) {
        note(b, "every warp has read the last stage, of which the result overwrites some");
        EMIT(b, bar_sync, I(0));
    }
    for (int row = 0; row < plan->warp_rows; row++)
        for (int column = 0; column < plan->warp_columns; column++) emit_group_result(d, at, row, column);
    note(b, "every warp's sums are there");
    EMIT(b, bar_sync, I(0));
}

/* -- Samples ------------------------------------------------------------------------------------------ */

enum { MAX_VECTOR_WORDS = 8 };

/* Registers of a lane's copies. */
typedef struct sampler {
    mc_reg c,
        /* C, and the bytes of the vector that other lanes copy before this one's, none where a lane has a
           vector for itself */
        piece;
    mc_reg word[MAX_VECTOR_WORDS], half;
    mc_reg next, next_column; /* the lane's next vector */
    mc_reg from, to, index_at, stride;
    mc_reg exists, done, has_vector;
} sampler;

static int lane_words(const dense_plan *plan) {
    return dense_vector_bytes(plan) / dense_vector_lanes(plan) / WORD;
}

static sampler declare_sampler(dense_emitter *d) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    sampler s = {.c = load_array(b, "c"),
                 .next = b32(b, "next"),
                 .next_column = b32(b, "next_column"),
                 .from = b32(b, "sampled"),
                 .to = b64(b, "to"),
                 .index_at = b64(b, "index_at"),
                 .exists = pred(b, "has_next"),
                 .done = pred(b, "done")};
    b32_array(b, "element", lane_words(plan), s.word);
    if (sddmm_stride(&plan->problem))
        s.half = b32(b, "high_half"), s.stride = b32(b, "stride"), s.has_vector = pred(b, "has_vector");
    int lanes = dense_vector_lanes(plan);
    if (lanes == 1) return s;
    s.piece = b32(b, "piece");
    EMIT(b, and_b32, s.piece, d->in_row_block, I(lanes - 1));
    EMIT(b, shl_b32, s.piece, s.piece, I(log2_of(DENSE_COPY)));
    EMIT(b, mad_wide, s.c, s.piece, I(1), s.c);
    return s;
}

/* Reads the lane's part of its vector from shared memory. */
static void emit_take(dense_emitter *d, const sampler *s, const dense_turn *turn) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    int words = lane_words(plan);
    if (sddmm_stride(&plan->problem)) {
        note(b, "a slot without a vector reads the tile's first column");
        EMIT(b, setp_ge, s->has_vector, turn->column, I(0));
        EMIT(b, max_s32, turn->column, turn->column, d->tile_column);
    }
    EMIT(b, sub_s32, s->from, turn->column, d->tile_column);
    EMIT(b, mad_s32, s->from, s->from, I(dense_column_bytes(plan)), turn->at);
    for (int i = 0; i < words; i += 4) {
        mc_operand from = AT(s->from, i * WORD);
        if (words >= 4) EMIT(b, lds_v4, V4(&s->word[i]), from);
        else if (words == 2) EMIT(b, lds_v2, V2(s->word), from);
        else EMIT(b, lds_b32, s->word[0], from);
    }
}

static void emit_vector(dense_emitter *d, const sampler *s, mc_reg slot) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    int bytes = lane_words(plan) * WORD, element = out_element_bytes(plan->problem.output.element);
    EMIT(b, mad_wide, s->to, slot, I(dense_vector_bytes(plan)), s->c);
    out_store(b, (mc_reg){0}, AT(s->to, 0), plan->problem.output.element, bytes / element, s->word);
}

/* Stores a slot of SR-BCRS: row r of slot s goes to s + (vec - 1) * (s rounded down to a multiple of S) + r *
   S. */
static void emit_slot(dense_emitter *d, const sampler *s, mc_reg slot) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    int stride = sddmm_stride(&plan->problem), element = out_element_bytes(plan->problem.output.element);
    EMIT(b, and_b32, s->stride, slot, I(-stride));
    EMIT(b, mad_wide, s->to, slot, I(element), s->c);
    EMIT(b, mad_wide, s->to, s->stride, I((plan->problem.vec - 1) * element), s->to);
    for (int i = 0; i < lane_words(plan); i++) EMIT(b, selp_b32, s->word[i], s->word[i], I(0), s->has_vector);
    for (int row = 0; row < plan->problem.vec; row++) {
        mc_reg word = s->word[row * element / WORD];
        if (row * element % WORD) {
            EMIT(b, shr_u32, s->half, word, I(16));
            word = s->half;
        }
        out_store(b, (mc_reg){0}, AT(s->to, row * stride * element), plan->problem.output.element, 1, &word);
    }
}

static mc_label numbered_label(mc_builder *b, const char *name, int number) {
    char text[MC_MAX_NAME];
    snprintf(text, sizeof text, "%s_%d", name, number);
    return label(b, text);
}

/* Copies the vectors of turn I. The next column is on its way while a vector is copied. */
static void emit_turn(dense_emitter *d, const sampler *s, int i) {
    mc_builder *b = d->b;
    const dense_plan *plan = d->plan;
    const dense_turn *turn = &d->turn[i];
    mc_label loop = numbered_label(b, "VECTORS", i), end = numbered_label(b, "END", i);
    EMIT(b, setp_ge, s->done, turn->slot, turn->end);
    EMIT_IF(b, s->done, bra, TO(end));
    set_label(b, loop);
    EMIT(b, add_s32, s->next, turn->slot, I(dense_lanes(plan) / dense_vector_lanes(plan)));
    EMIT(b, mov_b32, s->next_column, I(0));
    emit_column(d, s->next, turn->end, s->next_column, s->exists, s->index_at);
    emit_take(d, s, turn);
    if (sddmm_stride(&plan->problem)) emit_slot(d, s, turn->slot);
    else emit_vector(d, s, turn->slot);
    EMIT(b, mov_b32, turn->slot, s->next);
    EMIT(b, mov_b32, turn->column, s->next_column);
    EMIT_IF(b, s->exists, bra, TO(loop));
    set_label(b, end);
}

void dense_emit_samples(dense_emitter *d) {
    mc_builder *b = d->b;
    heading(b, "Samples: each warp's rows in turn, %d at a time", SDDMM_MMA_ROWS);
    sampler s = declare_sampler(d);
    for (int i = 0; i < turns_of(d->plan); i++) {
        if (s.piece.id) EMIT(b, add_s32, d->turn[i].at, d->turn[i].at, s.piece);
        emit_turn(d, &s, i);
    }
}
