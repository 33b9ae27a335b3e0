#include "parts/metadata.h"
#include "parts/emit.h"
#include "parts/packed24.h"

void metadata_begin(wgmma_metadata *m, mc_reg first, mc_reg row, mc_reg warp_row, mc_reg lane) {
    mc_builder *b = m->b;
    int lane_bytes = packed24_words(m->bytes) * WORD;
    note(b, "where the lane's metadata are in stage 0");
    if (row.id) row = add_s32(b, "meta_row", row, warp_row);
    else row = warp_row;
    mc_reg warp_at = mad_s32(b, "meta_warp", row, I(packed24_meta_row(m->bytes)), first);
    m->first = mad_s32(b, "meta_first", lane, I(lane_bytes), warp_at);
    m->at = carried(b, "meta_at", m->first);
}

void metadata_load(const wgmma_metadata *m, int block, const mc_reg *words) {
    mc_operand from = AT(m->at, block * packed24_meta(m->bytes));
    if (packed24_words(m->bytes) == 4) EMIT(m->b, lds_v4, V4(words), from);
    else EMIT(m->b, lds_v2, V2(words), from);
}

void metadata_next(const wgmma_metadata *m, mc_reg wrap) {
    EMIT(m->b, add_s32, m->at, m->at, I(m->stage_bytes));
    EMIT_IF(m->b, wrap, mov_b32, m->at, m->first);
}

void metadata_seek(const wgmma_metadata *m, mc_reg stage) {
    EMIT(m->b, mad_s32, m->at, stage, I(m->stage_bytes), m->first);
}
