#include "parts/metadata.h"
#include "parts/emit.h"
#include "parts/fragment.h"

/* How many rows a lane loads from. */
static int rows_of(const wgmma_metadata *m) { return m->bytes == 1 ? 1 : 2; }

static void begin_halves(wgmma_metadata *m) {
    mc_builder *b = m->b;
    mc_reg half = and_b32(b, "meta_half", m->lane, I(1));
    mc_reg is_upper = setp_eq(b, "meta_is_upper", half, I(1));
    m->order = selp_b32(b, "meta_order", H(0x7632), H(0x5410), is_upper);
    m->line = add_s32(b, "meta_line", m->warp_row, shr_u32(b, "meta_g", m->lane, I(FRAG_GROUP_SHIFT)));
    b32_array(b, "meta_upper_row", METADATA_STEPS, m->of_row[0]);
    b32_array(b, "meta_lower_row", METADATA_STEPS, m->of_row[1]);
}

static void begin_words(wgmma_metadata *m) {
    mc_builder *b = m->b;
    mc_reg t = and_b32(b, "meta_t", m->lane, I(FRAG_THREAD_MASK)), odd = and_b32(b, "meta_odd", t, I(1));
    mc_reg g = shr_u32(b, "meta_g", m->lane, I(FRAG_GROUP_SHIFT));
    mc_reg below = mad_s32(b, "meta_below", odd, I(8), g);
    m->line = add_s32(b, "meta_line", below, m->warp_row);
    mc_reg word = shr_u32(b, "meta_word", t, I(1));
    m->array = mad_wide(b, "meta_words", word, I(WORD), m->array);
    b32_array(b, "meta_row", METADATA_STEPS, m->of_row[0]);
}

void metadata_begin(wgmma_metadata *m) {
    note(m->b, "the metadata that are the lane's");
    if (m->bytes == 1) begin_words(m);
    else begin_halves(m);
    b64_array(m->b, "meta_at", rows_of(m), m->at);
    m->row = b32(m->b, "meta_from");
}

void metadata_rows(const wgmma_metadata *m, mc_reg row, mc_reg last) {
    mc_builder *b = m->b;
    note(b, "where the metadata of the lane's rows are; below C they are those of its last row");
    for (int i = 0; i < rows_of(m); i++) {
        EMIT(b, add_s32, m->row, row, m->line);
        if (i) EMIT(b, add_s32, m->row, m->row, I(8));
        EMIT(b, min_s32, m->row, m->row, last);
        EMIT(b, mad_wide, m->at[i], m->row, m->row_bytes, m->array);
    }
}

void metadata_load(const wgmma_metadata *m) {
    mc_builder *b = m->b;
    if (m->bytes == 1) {
        for (int step = 0; step < METADATA_STEPS; step++)
            EMIT(b, ldg_b32, m->of_row[0][step], AT(m->at[0], step * 2 * WORD));
        EMIT(b, add_s64, m->at[0], m->at[0], I(METADATA_STEPS * 2 * WORD));
        return;
    }
    for (int i = 0; i < rows_of(m); i++) {
        EMIT(b, ldg_v4, V4(m->of_row[i]), AT(m->at[i], 0));
        EMIT(b, add_s64, m->at[i], m->at[i], I(METADATA_STEPS * WORD));
    }
}

void metadata_take(const wgmma_metadata *m, const mc_reg metadata[METADATA_STEPS]) {
    mc_builder *b = m->b;
    note(b, "the lane's part of them, one register a step of k");
    for (int step = 0; step < METADATA_STEPS; step++) {
        if (m->bytes == 1) EMIT(b, mov_b32, metadata[step], m->of_row[0][step]);
        else EMIT(b, prmt_by, metadata[step], m->of_row[0][step], m->of_row[1][step], m->order);
    }
}
