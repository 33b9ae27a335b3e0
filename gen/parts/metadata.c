#include "parts/metadata.h"
#include "parts/emit.h"
#include "parts/fragment.h"
#include "parts/roles.h"

/* How many rows a lane loads from. */
static int rows_of(const wgmma_metadata *m) { return m->bytes == 1 ? 1 : 2; }

static void begin_halves(wgmma_metadata *m) {
    mc_builder *b = m->b;
    mc_reg half = and_b32(b, "meta_half", m->lane, I(1));
    mc_reg is_upper = setp_eq(b, "meta_is_upper", half, I(1));
    m->order = selp_b32(b, "meta_order", H(0x7632), H(0x5410), is_upper);
    m->line = add_s32(b, "meta_line", m->warp_row, shr_u32(b, "meta_g", m->lane, I(FRAG_GROUP_SHIFT)));
}

static void begin_words(wgmma_metadata *m) {
    mc_builder *b = m->b;
    mc_reg t = and_b32(b, "meta_t", m->lane, I(FRAG_THREAD_MASK)), odd = and_b32(b, "meta_odd", t, I(1));
    mc_reg g = shr_u32(b, "meta_g", m->lane, I(FRAG_GROUP_SHIFT));
    mc_reg below = mad_s32(b, "meta_below", odd, I(8), g);
    m->line = add_s32(b, "meta_line", below, m->warp_row);
    mc_reg word = shr_u32(b, "meta_word", t, I(1));
    m->array = mad_wide(b, "meta_words", word, I(WORD), m->array);
}

void metadata_begin(wgmma_metadata *m) {
    static const char *const loaded[][METADATA_ROWS] = {{"meta_upper_row", "meta_lower_row"},
                                                        {"meta_upper_row_below", "meta_lower_row_below"}},
                             *const places[] = {"meta_at", "meta_at_below"};
    note(m->b, "the metadata that are the lane's");
    if (m->bytes == 1) begin_words(m);
    else begin_halves(m);
    for (int block = 0; block < m->blocks; block++) {
        b64_array(m->b, places[block], rows_of(m), m->at[block]);
        for (int i = 0; i < rows_of(m); i++)
            b32_array(m->b, loaded[block][i], METADATA_STEPS, m->of_row[block][i]);
    }
    m->row = b32(m->b, "meta_from");
}

void metadata_rows(const wgmma_metadata *m, mc_reg row, mc_reg last) {
    mc_builder *b = m->b;
    note(b, "where the metadata of the lane's rows are; below C they are those of its last row");
    for (int block = 0; block < m->blocks; block++)
        for (int i = 0; i < rows_of(m); i++) {
            int below = block * WARPGROUP_ROWS + i * 8;
            EMIT(b, add_s32, m->row, row, m->line);
            if (below) EMIT(b, add_s32, m->row, m->row, I(below));
            EMIT(b, min_s32, m->row, m->row, last);
            EMIT(b, mad_wide, m->at[block][i], m->row, m->row_bytes, m->array);
        }
}

static void load_words(const wgmma_metadata *m, int block) {
    mc_builder *b = m->b;
    const mc_reg at = m->at[block][0];
    for (int step = 0; step < METADATA_STEPS; step++)
        EMIT(b, ldg_b32, m->of_row[block][0][step], AT(at, step * 2 * WORD));
    EMIT(b, add_s64, at, at, I(METADATA_STEPS * 2 * WORD));
}

static void load_rows(const wgmma_metadata *m, int block) {
    mc_builder *b = m->b;
    for (int i = 0; i < METADATA_ROWS; i++) {
        const mc_reg at = m->at[block][i];
        EMIT(b, ldg_v4, V4(m->of_row[block][i]), AT(at, 0));
        EMIT(b, add_s64, at, at, I(METADATA_STEPS * WORD));
    }
}

void metadata_load(const wgmma_metadata *m) {
    for (int block = 0; block < m->blocks; block++)
        if (m->bytes == 1) load_words(m, block);
        else load_rows(m, block);
}

void metadata_take(const wgmma_metadata *m, int block, const mc_reg metadata[METADATA_STEPS]) {
    mc_builder *b = m->b;
    const mc_reg(*of)[METADATA_STEPS] = m->of_row[block];
    note(b, "the lane's part of them, one register a step of k");
    for (int step = 0; step < METADATA_STEPS; step++) {
        if (m->bytes == 1) EMIT(b, mov_b32, metadata[step], of[0][step]);
        else EMIT(b, prmt_by, metadata[step], of[0][step], of[1][step], m->order);
    }
}
