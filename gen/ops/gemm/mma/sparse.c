/* The metadata of a 2:4 sparse A, from memory by way of a stage to the register that each lane passes to
 * mma.sp. In a stage they lie row by row behind A and B, those of two steps:
 *
 *   2 and 4 bytes   a step has a word of each row. Lane 4 g + t passes half t mod 2 of those of rows g and
 *                   g + 8, row g's in the lower half of its register
 *   1 byte          a step has two words of each row. Lane 4 g + t passes word t / 2 of row g + 8 (t mod 2).
 *                   Of rows 8 to 15 of 16 the two steps' words are exchanged, so that no bank is met twice
 *
 * (PTX ISA, "Sparse matrix storage" of mma.sp; the selector is 0.) */
#include "ops/gemm/mma/mma.h"
#include "parts/fragment.h"

enum { PIECE = 8, HALF_ROWS = 8 };

mc_opcode mma_sparse_like(mc_opcode mma) {
    static const mc_opcode like[][2] = {{OP_mma_f16, OP_mma_sp_f16},
                                        {OP_mma_bf16, OP_mma_sp_bf16},
                                        {OP_mma_tf32, OP_mma_sp_tf32},
                                        {OP_mma_s8, OP_mma_sp_s8},
                                        {OP_mma_s8_u8, OP_mma_sp_s8_u8},
                                        {OP_mma_u8_s8, OP_mma_sp_u8_s8},
                                        {OP_mma_u8, OP_mma_sp_u8},
                                        {OP_mma_e4m3, OP_mma_sp_e4m3},
                                        {OP_mma_e4m3_e5m2, OP_mma_sp_e4m3_e5m2},
                                        {OP_mma_e5m2_e4m3, OP_mma_sp_e5m2_e4m3},
                                        {OP_mma_e5m2, OP_mma_sp_e5m2}};
    for (size_t i = 0; i < sizeof like / sizeof *like; i++)
        if (like[i][0] == mma) return like[i][1];
    return MC_OPCODES;
}

mc_reg mma_kept(const mma_kernel *g) {
    mc_builder *b = g->b;
    bool pairs = g->plan->form.bytes == WORD; /* one of two is kept */
    mc_reg groups = shr_u32(b, "groups", add_s32(b, "k_up", g->k, I(pairs ? 1 : 3)), I(pairs ? 1 : 2));
    return pairs ? groups : shl_b32(b, "kept", groups, I(1));
}

/* -- To a stage ----------------------------------------------------------------------------------------- */

static int pieces_of(const mma_plan *plan) { return mma_metadata_bytes(plan) / PIECE; }

/* Where metadata begin in a stage. */
static int metadata_at(const mma_kernel *g) { return tile_bytes(&g->lhs) + tile_bytes(&g->rhs); }

/* Rows below A's last one have its metadata. */
static mc_reg row_of(const mma_feed *f, mc_reg first, int offset, mc_reg last) {
    mc_builder *b = f->g->b;
    mc_reg row = carried(b, "memory_row", first);
    EMIT(b, add_s32, row, row, f->g->row);
    if (offset) EMIT(b, add_s32, row, row, I(offset));
    EMIT(b, min_s32, row, row, last);
    return row;
}

void mma_begin_metadata(mma_feed *f) {
    const mma_kernel *g = f->g;
    mc_builder *b = g->b;
    mma_metadata *m = &f->metadata;
    int pieces = pieces_of(g->plan), threads = mma_threads(g->plan), rows = threads / pieces;
    m->count = g->plan->tile_m > rows ? g->plan->tile_m / rows : 1;
    b->prefix = "e_";
    note(b, "of metadata a thread copies 8 bytes of rows thread / %d + %d i", pieces, rows);
    mc_reg row = shr_u32(b, "line", g->place.thread, I(log2_of(pieces)));
    mc_reg piece = and_b32(b, "piece", g->place.thread, I(pieces - 1)), place = piece;
    if (g->plan->form.bytes == 1) {
        mc_reg half = shr_u32(b, "row_half", row, I(log2_of(HALF_ROWS)));
        place = xor_b32(b, "place", piece, and_b32(b, "exchanged", half, I(1)));
    }
    if (rows > g->plan->tile_m) m->row = row, m->some = pred(b, "some");
    mc_reg line_at = mad_s32(b, "line_at", row, I(pieces * PIECE), g->shared);
    m->to = mad_s32(b, "to", place, I(PIECE), line_at), m->target = b32(b, "target");
    mc_reg array = load_array(b, "e"), ld = ld_param_s32(b, "ld", NAME("lde"));
    mc_reg first = mad_wide(b, "first", piece, I(PIECE), array);
    mc_reg last = add_s32(b, "last", g->m, I(-1));
    b64_array(b, "from", m->count, m->from);
    for (int i = 0; i < m->count; i++) {
        if (i > 0) b->prefix = i == 1 ? "e_second_" : i == 2 ? "e_third_" : "e_fourth_";
        EMIT(b, mad_wide, m->from[i], row_of(f, row, i * rows, last), ld, first);
    }
    b->prefix = NULL;
}

/* Rows that lie 16 apart and more are exchanged alike: a thread's are. */
void mma_copy_metadata(const mma_feed *f, mc_reg guard) {
    const mma_kernel *g = f->g;
    const mma_metadata *m = &f->metadata;
    int rows = mma_threads(g->plan) / pieces_of(g->plan);
    if (m->row.id && guard.id) EMIT(g->b, setp_lt_and, m->some, m->row, I(g->plan->tile_m), guard);
    else if (m->row.id) EMIT(g->b, setp_lt, m->some, m->row, I(g->plan->tile_m));
    EMIT(g->b, add_s32, m->target, m->to, f->fill);
    for (int i = 0; i < m->count; i++)
        copy_async(g->b, PIECE,
                   (copy_piece){.guard = m->row.id ? m->some : guard,
                                .to = AT(m->target, metadata_at(g) + i * rows * pieces_of(g->plan) * PIECE),
                                .from = AT(m->from[i], 0)});
}

void mma_next_metadata(const mma_feed *f) {
    for (int i = 0; i < f->metadata.count; i++)
        EMIT(f->g->b, add_s64, f->metadata.from[i], f->metadata.from[i], I(mma_metadata_bytes(f->g->plan)));
}

/* -- To registers --------------------------------------------------------------------------------------- */

/* Where the lane's first word lies. */
mma_metadata_lane mma_metadata_of_lane(const mma_kernel *g) {
    mc_builder *b = g->b;
    mma_metadata_lane l = {.g = g};
    int row_bytes = mma_metadata_bytes(g->plan);
    mc_reg row = add_s32(b, "lane_e_row", g->warp_row, g->place.g), first = g->shared;
    mc_reg odd = and_b32(b, "lane_e_odd", g->place.t, I(1));
    if (g->plan->form.bytes == 1) {
        mc_reg below = mad_s32(b, "lane_e_below", odd, I(HALF_ROWS), row);
        mc_reg word =
            mad_s32(b, "lane_e_word", shr_u32(b, "lane_e_half", g->place.t, I(1)), I(WORD), g->shared);
        first = mad_s32(b, "lane_e_exchanged", odd, I(PIECE), word), row = below;
    } else {
        mc_reg upper = setp_eq(b, "lane_e_upper", odd, I(1));
        l.order = selp_b32(b, "lane_e_order", H(0x7632), H(0x5410), upper);
        b32_array(b, "lane_e_of_row", 2, l.word);
    }
    l.lane = mad_s32(b, "lane_e_lane", row, I(row_bytes), first);
    l.row_at = b32(b, "lane_e_at");
    return l;
}

void mma_load_metadata(const mma_metadata_lane *l, mc_reg read, int step, int tile, mc_reg to, mc_reg guard) {
    const mma_kernel *g = l->g;
    mc_builder *b = g->b;
    int row_bytes = mma_metadata_bytes(g->plan), at = metadata_at(g) + tile * MMA_ROWS * row_bytes;
    if (tile == 0) EMIT(b, add_s32, l->row_at, l->lane, read);
    if (g->plan->form.bytes == 1) {
        if (step && tile == 0) EMIT(b, xor_b32, l->row_at, l->row_at, I(PIECE));
        EMIT_IF(b, guard, lds_b32, to, AT(l->row_at, at));
        return;
    }
    for (int half = 0; half < 2; half++)
        EMIT_IF(b, guard, lds_b32, l->word[half],
                AT(l->row_at, at + half * HALF_ROWS * row_bytes + step * WORD));
    EMIT_IF(b, guard, prmt_by, to, l->word[0], l->word[1], l->order);
}
