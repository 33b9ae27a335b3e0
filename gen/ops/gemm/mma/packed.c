/* A 2:4 sparse A, packed in atoms (packed24.h), from memory by way of a stage to registers. A stage has an
 * atom of each 64 of the tile's rows, which lies as it does in memory: its chunks are exchanged already as
 * those of a shared_tile. Behind A and B it has the atoms' metadata, which are in the order of lanes. */
#include "ops/gemm/mma/mma.h"
#include "parts/packed24.h"

enum { PIECE = 16 };

mc_opcode mma_sparse_like(mc_opcode mma) {
    static const mc_opcode like[][2] = {{OP_mma_f16, OP_mma_sp_f16},
                                        {OP_mma_f16_sums, OP_mma_sp_f16_sums},
                                        {OP_mma_bf16, OP_mma_sp_bf16},
                                        {OP_mma_tf32, OP_mma_sp_tf32},
                                        {OP_mma_s8, OP_mma_sp_s8},
                                        {OP_mma_s8_u8, OP_mma_sp_s8_u8},
                                        {OP_mma_u8_s8, OP_mma_sp_u8_s8},
                                        {OP_mma_u8, OP_mma_sp_u8},
                                        {OP_mma_s4_k64, OP_mma_sp_s4},
                                        {OP_mma_s4_u4_k64, OP_mma_sp_s4_u4},
                                        {OP_mma_u4_s4_k64, OP_mma_sp_u4_s4},
                                        {OP_mma_u4_k64, OP_mma_sp_u4},
                                        {OP_mma_e4m3, OP_mma_sp_e4m3},
                                        {OP_mma_e4m3_e5m2, OP_mma_sp_e4m3_e5m2},
                                        {OP_mma_e5m2_e4m3, OP_mma_sp_e5m2_e4m3},
                                        {OP_mma_e5m2, OP_mma_sp_e5m2}};
    for (size_t i = 0; i < sizeof like / sizeof *like; i++)
        if (like[i][0] == mma) return like[i][1];
    return MC_OPCODES;
}

/* -- To a stage ----------------------------------------------------------------------------------------- */

static int atoms_of(const mma_plan *plan) { return plan->tile_m / PACKED24_ROWS; }
static int metadata_at(const mma_kernel *g) { return tile_bytes(&g->lhs) + tile_bytes(&g->rhs); }

/* Sets AT to where atom GROUP of the tile's first stage begins in an array of atoms of BYTES from FIRST on,
   or that of the matrix's last rows. */
static void place_atom(const mma_kernel *g, mc_reg at, mc_operand group, mc_reg last, int bytes, mc_reg first,
                       mc_reg atom) {
    mc_builder *b = g->b;
    EMIT(b, shr_u32, atom, g->row, I(log2_of(PACKED24_ROWS)));
    EMIT(b, add_s32, atom, atom, group);
    EMIT(b, min_s32, atom, atom, last);
    EMIT(b, mul_s32, atom, atom, g->k_stages);
    EMIT(b, mad_wide, at, atom, I(bytes), first);
}

/* The piece of the thread: the I-th is so many threads further on, maybe in another atom. */
static void begin_metadata(mma_feed *f, mc_reg last, mc_reg atom) {
    const mma_kernel *g = f->g;
    mc_builder *b = g->b;
    mma_packed *p = &f->packed;
    int bytes = packed24_meta(g->plan->form.bytes), threads = mma_threads(g->plan), pieces = bytes / PIECE;
    int all = atoms_of(g->plan) * pieces;
    p->meta_count = all > threads ? all / threads : 1;
    if (all < threads) p->thread = g->place.thread, p->some = pred(b, "some");
    mc_reg array = load_array(b, "meta"), piece = b32(b, "meta_piece"), group = b32(b, "meta_group");
    b64_array(b, "meta_from", p->meta_count, p->meta);
    for (int i = 0; i < p->meta_count; i++) {
        EMIT(b, add_s32, piece, g->place.thread, I(i * threads));
        EMIT(b, shr_u32, group, piece, I(log2_of(pieces)));
        EMIT(b, and_b32, piece, piece, I(pieces - 1));
        place_atom(g, p->meta[i], group, last, bytes, array, atom);
        EMIT(b, mad_wide, p->meta[i], piece, I(PIECE), p->meta[i]);
    }
}

void mma_begin_packed(mma_feed *f) {
    const mma_kernel *g = f->g;
    mc_builder *b = g->b;
    mma_packed *p = &f->packed;
    int atoms = atoms_of(g->plan);
    b->prefix = "a_";
    note(b, "of A a thread copies pieces thread + %d i of the stage's atoms, and of their metadata",
         mma_threads(g->plan));
    mc_reg last = shr_u32(b, "last_atom", add_s32(b, "last_row", g->m, I(-1)), I(log2_of(PACKED24_ROWS)));
    mc_reg atom = b32(b, "atom");
    mc_reg first = mad_wide(b, "piece_at", g->place.thread, I(PIECE), load_array(b, "values"));
    p->count = atoms * packed24_values() / PIECE / mma_threads(g->plan);
    b64_array(b, "from", atoms, p->values);
    for (int i = 0; i < atoms; i++) place_atom(g, p->values[i], I(i), last, packed24_values(), first, atom);
    begin_metadata(f, last, atom);
    p->to = mad_s32(b, "to", g->place.thread, I(PIECE), g->shared), p->target = b32(b, "target");
    b->prefix = NULL;
}

/* Who has a piece of metadata, where not all threads have: sets `some`, and returns it. */
static mc_reg holders(const mma_feed *f, mc_reg guard) {
    const mma_packed *p = &f->packed;
    mc_builder *b = f->g->b;
    int all = mma_metadata_bytes(f->g->plan) / PIECE;
    if (!p->thread.id) return guard;
    if (guard.id) EMIT(b, setp_lt_and, p->some, p->thread, I(all), guard);
    else EMIT(b, setp_lt, p->some, p->thread, I(all));
    return p->some;
}

void mma_copy_packed(const mma_feed *f, mc_reg guard) {
    const mma_kernel *g = f->g;
    const mma_packed *p = &f->packed;
    int step = mma_threads(g->plan) * PIECE;
    EMIT(g->b, add_s32, p->target, p->to, f->fill);
    for (int i = 0; i < p->count; i++) {
        int at = i * step;
        copy_async(g->b, PIECE,
                   (copy_piece){.guard = guard,
                                .to = AT(p->target, at),
                                .from = AT(p->values[at / packed24_values()], at % packed24_values())});
    }
    mc_reg has = holders(f, guard);
    for (int i = 0; i < p->meta_count; i++)
        copy_async(g->b, PIECE,
                   (copy_piece){.guard = has,
                                .to = AT(p->target, metadata_at(g) + i * step),
                                .from = AT(p->meta[i], 0)});
}

void mma_next_packed(const mma_feed *f) {
    const mma_packed *p = &f->packed;
    mc_builder *b = f->g->b;
    for (int i = 0; i < atoms_of(f->g->plan); i++)
        EMIT(b, add_s64, p->values[i], p->values[i], I(packed24_values()));
    for (int i = 0; i < p->meta_count; i++)
        EMIT(b, add_s64, p->meta[i], p->meta[i], I(packed24_meta(f->g->plan->form.bytes)));
}

/* -- To registers --------------------------------------------------------------------------------------- */

static int words_of(const mma_kernel *g) { return packed24_words(g->plan->form.bytes); }
static int row_bytes(const mma_kernel *g) { return PACKED24_LANES * words_of(g) * WORD; } /* of 16 rows */

void mma_begin_metadata(mma_metadata *m, const mma_kernel *g) {
    mc_builder *b = g->b;
    static const char *const now[] = {"e0_", "e1_", "e2_", "e3_"}, *const next[] = {"e0_next", "e1_next",
                                                                                    "e2_next", "e3_next"};
    mc_reg rows = shr_u32(b, "e_rows", g->warp_row, I(log2_of(PACKED24_WARP_ROWS)));
    mc_reg first = mad_s32(b, "e_rows_at", rows, I(row_bytes(g)), g->shared);
    m->lane = mad_s32(b, "e_lane_at", g->place.lane, I(words_of(g) * WORD), first);
    m->at = b32(b, "e_at");
    for (int i = 0; i < mma_row_tiles(g->plan); i++) {
        b32_array(b, now[i], words_of(g), m->now[i]);
        b32_array(b, next[i], words_of(g), m->next[i]);
    }
}

void mma_load_metadata(const mma_metadata *m, const mma_kernel *g, mc_reg read, mc_reg guard) {
    mc_builder *b = g->b;
    EMIT(b, add_s32, m->at, m->lane, read);
    for (int i = 0; i < mma_row_tiles(g->plan); i++) {
        mc_operand from = AT(m->at, metadata_at(g) + i * row_bytes(g));
        if (words_of(g) == 2) EMIT_IF(b, guard, lds_v2, V2(m->next[i]), from);
        else EMIT_IF(b, guard, lds_v4, V4(m->next[i]), from);
    }
}

void mma_take_metadata(const mma_metadata *m, const mma_kernel *g) {
    for (int i = 0; i < mma_row_tiles(g->plan); i++)
        for (int j = 0; j < words_of(g); j++) EMIT(g->b, mov_b32, m->now[i][j], m->next[i][j]);
}

mc_reg mma_metadata_word(const mma_metadata *m, const mma_kernel *g, int step, int row) {
    return m->now[row][step / packed24_word_steps(g->plan->form.bytes)];
}

int mma_metadata_selector(const mma_kernel *g, int step) {
    return step % packed24_word_steps(g->plan->form.bytes);
}
