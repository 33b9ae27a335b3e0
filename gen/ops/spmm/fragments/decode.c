/* How a lane expands segments to words of A: it names one of the 32 segments that ldmatrix takes at a
   time. */
#include "ops/spmm/fragments/fragments.h"
#include "parts/fragment.h"
#include <stdio.h>

enum {
    SEGMENT = BITMAP_TILES_SEGMENT,
    MATRIX = 8, /* segments of one of the four matrices that ldmatrix takes */
};

/* Lanes 8 i to 8 i + 7 name the segments of matrix i: 0 and 1 have the first 16 k of a step, of 8 rows
   each, 2 and 3 the others (wgmma's operand A of 8 bits; frag_a_reg). */
static void begin_place(fragments_decoder *d) {
    const fragments_kernel *f = d->f;
    const fragments_plan *plan = f->plan;
    mc_builder *b = d->b;
    const int vec = plan->base.vec;
    note(b, "the segments that the lane names: of 8 rows of each 16 of its warp's, a pair of k");
    mc_reg matrix = shr_u32(b, "matrix", f->roles.lane, I(log2_of(MATRIX)));
    mc_reg h = and_b32(b, "matrix_rows", matrix, I(FRAGMENTS_HALVES - 1));
    mc_reg group = mad_s32(b, "lane_group", f->roles.warp, I(fragments_groups(plan)), h);
    mc_reg block = vec > TILE_LINES ? shr_u32(b, "lane_block", group, I(log2_of(vec / TILE_LINES))) : group;
    mc_reg bits = mad_s32(b, "lane_bits", block, I(WORD), f->pipe.first);
    d->bits_start = add_s32(b, "bits_start", bits, I(fragments_bits_at(plan)));
    d->bits_end = add_s32(b, "bits_end", d->bits_start, I(plan->stages * fragments_stage_bytes(plan)));
    mc_reg values = f->pipe.first;
    if (vec > TILE_LINES) values = mad_s32(b, "lane_values", h, I(SEGMENT), values);
    d->values_start = add_s32(b, "values_start", values, I(fragments_values_at(plan)));
    d->bits_at = carried(b, "bits_at", d->bits_start);
    d->values_at = carried(b, "values_at", d->values_start);
}

/* The lane's pair of a step's 16: of matrices 2 and 3 one of the last 8. */
static void begin_pair(fragments_decoder *d) {
    const mc_reg lane = d->f->roles.lane;
    mc_builder *b = d->b;
    mc_reg far = and_b32(b, "matrix_k", lane, I(2 * MATRIX));
    mc_reg in = and_b32(b, "in_matrix", lane, I(MATRIX - 1));
    mc_reg pair = add_s32(b, "lane_pair", shr_u32(b, "first_pair", far, I(1)), in);
    d->bit = shl_b32(b, "bit", I(1), pair);
    d->below = add_s32(b, "below", d->bit, I(-1));
    d->apart = mad_s32(b, "apart", in, I(-SEGMENT), I(-SEGMENT));
}

fragments_decoder spmm_fragments_begin_decoder(const fragments_kernel *f) {
    fragments_decoder d = {.f = f, .b = f->b};
    mc_builder *b = f->b;
    char name[MC_MAX_NAME];
    begin_place(&d);
    begin_pair(&d);
    for (int set = 0; set < FRAGMENTS_SETS; set++) {
        snprintf(name, sizeof name, "word%d_", set);
        b32_array(b, name, fragments_unit(f->plan), d.word[set]);
        snprintf(name, sizeof name, "segment%d_", set);
        b32_array(b, name, fragments_unit(f->plan), d.at[set]);
        for (int i = 0; i < fragments_unit(f->plan); i++) {
            snprintf(name, sizeof name, "a%d_%d_", set, i);
            b32_array(b, name, WGMMA_A_REGS, d.a[set][i]);
        }
    }
    d.rank = b32(b, "slot"), d.zero = b32(b, "zero"), d.has = pred(b, "has");
    return d;
}

static void read_unit(const fragments_decoder *d, int unit) {
    const fragments_plan *plan = d->f->plan;
    const int step = unit / fragments_step_units(plan), part = unit % fragments_step_units(plan);
    const int apart = FRAGMENTS_HALVES * TILE_LINES / plan->base.vec * WORD; /* of two blocks */
    const int first = step * fragments_step_bits(plan) + part * fragments_unit(plan) * apart;
    for (int i = 0; i < fragments_unit(plan); i++)
        EMIT(d->b, lds_b32, d->word[unit % FRAGMENTS_SETS][i], AT(d->bits_at, first + i * apart));
}

void spmm_fragments_read(const fragments_decoder *d, int unit) {
    for (int i = 0; i < FRAGMENTS_SETS; i++) read_unit(d, unit + i);
}

/* The segments of a matrix lie in banks that follow one another, 8 at most. Lanes without one name zeros
   in the banks before those, backwards: so no bank is met twice. */
static void find_segment(const fragments_decoder *d, mc_reg word, mc_reg at) {
    enum { BANKS = FRAGMENTS_ZEROS - SEGMENT };
    mc_builder *b = d->b;
    EMIT(b, and_b32, d->rank, word, d->below);
    EMIT(b, popc_b32, d->rank, d->rank);
    EMIT(b, shr_u32, d->zero, word, I(BITMAP_TILES_FIRST_SHIFT));
    EMIT(b, add_s32, d->rank, d->rank, d->zero);
    EMIT(b, mad_s32, at, d->rank, I(fragments_slot_bytes(d->f->plan)), d->values_at);
    EMIT(b, add_s32, d->zero, at, d->apart);
    EMIT(b, and_b32, d->zero, d->zero, I(BANKS));
    EMIT(b, or_b32, d->zero, d->zero, d->f->zeros);
    EMIT(b, and_b32, word, word, d->bit);
    EMIT(b, setp_ne, d->has, word, I(0));
    EMIT(b, selp_b32, at, at, d->zero, d->has);
}

void spmm_fragments_find(const fragments_decoder *d) {
    for (int set = 0; set < FRAGMENTS_SETS; set++)
        for (int i = 0; i < fragments_unit(d->f->plan); i++) find_segment(d, d->word[set][i], d->at[set][i]);
}

void spmm_fragments_load(const fragments_decoder *d, int unit) {
    for (int i = 0; i < fragments_unit(d->f->plan); i++)
        EMIT(d->b, ldmatrix_x4_trans, V4(d->a[unit % FRAGMENTS_SETS][i]),
             AT(d->at[unit % FRAGMENTS_SETS][i], 0));
}

void spmm_fragments_next(const fragments_decoder *d, mc_reg more) {
    mc_builder *b = d->b;
    const int bytes = fragments_stage_bytes(d->f->plan);
    EMIT_IF(b, more, add_s32, d->bits_at, d->bits_at, I(bytes));
    EMIT_IF(b, more, add_s32, d->values_at, d->values_at, I(bytes));
    EMIT(b, setp_eq, d->has, d->bits_at, d->bits_end);
    EMIT_IF(b, d->has, mov_b32, d->bits_at, d->bits_start);
    EMIT_IF(b, d->has, mov_b32, d->values_at, d->values_start);
}

void spmm_fragments_rewind(const fragments_decoder *d) {
    const int bytes = fragments_stage_bytes(d->f->plan);
    EMIT(d->b, add_s32, d->bits_at, d->bits_at, I(-bytes));
    EMIT(d->b, add_s32, d->values_at, d->values_at, I(-bytes));
}
