/* How a stage lies in shared memory, and which pieces of it a thread copies. */
#include "ops/gemm/mma/mma.h"
#include "parts/packed24.h"

enum { ROW_OF_BANKS = 128 };

shared_tile mma_lhs(const mma_plan *plan) {
    int bytes = plan->form.bytes;
    return (shared_tile){.rows = plan->tile_m, .k = plan->span / bytes, .bytes = bytes, .span = plan->span};
}

/* Of a B by rows a line is up to 128 bytes of one k. A sparse A wants twice as much of k, in two panels. */
shared_tile mma_rhs(const mma_plan *plan) {
    shared_tile rhs = mma_lhs(plan);
    int line = plan->tile_n * rhs.bytes;
    rhs.rows = plan->tile_n, rhs.mn_major = plan->problem.b_rows;
    if (plan->problem.sparse) rhs.k *= 2;
    if (rhs.mn_major) rhs.span = line < ROW_OF_BANKS ? line : ROW_OF_BANKS;
    return rhs;
}

int mma_stage_bytes(const mma_plan *plan) {
    shared_tile lhs = mma_lhs(plan), rhs = mma_rhs(plan);
    return tile_bytes(&lhs) + tile_bytes(&rhs) + mma_metadata_bytes(plan);
}

int mma_stage_k(const mma_plan *plan) {
    shared_tile rhs = mma_rhs(plan);
    return rhs.k * mma_held(plan);
}

int mma_metadata_bytes(const mma_plan *plan) {
    return plan->problem.sparse ? plan->tile_m * packed24_meta_row(plan->form.bytes) : 0;
}

int mma_shared_bytes(const mma_plan *plan) { return plan->stages * mma_stage_bytes(plan); }

/* -- The order of chunks -------------------------------------------------------------------------------- */

/* Lines that share a row of banks have one key, and 8 lines that lie in rows of banks one behind the other
   different ones. Of elements of 4 bytes by rows a warp reads 32 bytes of each of 4 lines at once: these are
   two chunks, which stay together. */
mma_key mma_key_of(const shared_tile *tile) {
    bool words = tile->mn_major && tile->bytes == WORD;
    if (words) return (mma_key){.shift = 0, .mask = 3, .left = 1};
    return (mma_key){.shift = log2_of(ROW_OF_BANKS / tile->span), .mask = tile->span / TILE_CHUNK - 1};
}

int mma_key_bytes(mma_key key, int line) { return ((line >> key.shift & key.mask) << key.left) * TILE_CHUNK; }

mc_reg mma_emit_key(mc_builder *b, const char *name, mma_key key, mc_reg line) {
    mc_reg bytes = carried(b, name, line);
    if (key.shift) EMIT(b, shr_u32, bytes, bytes, I(key.shift));
    EMIT(b, and_b32, bytes, bytes, I(key.mask));
    EMIT(b, shl_b32, bytes, bytes, I(key.left + log2_of(TILE_CHUNK)));
    return bytes;
}

/* -- What a thread copies ------------------------------------------------------------------------------- */

/* Elements are loaded one by one, and stored by the word. */
mma_share mma_share_of(const mma_plan *plan, const shared_tile *tile) {
    int line = (tile->mn_major ? tile->rows : tile->k) * tile->bytes, threads = mma_threads(plan);
    mma_share s = {.lines = tile_lines(tile), .width = plan->copy == 1 ? WORD : plan->copy};
    s.pieces = line / s.width;
    s.step = threads / s.pieces;
    s.count = s.step > 0 ? s.lines / s.step : 0;
    return s;
}
