#include "parts/exchange.h"
#include "parts/emit.h"
#include "parts/fragment.h"
#include "parts/pipeline.h"
#include <stdio.h>

enum { OCTET_SUMS = 4, OCTET_COLUMNS = 8, MOST_OCTETS = WGMMA_SUMS / OCTET_SUMS };

/* -- Shape -------------------------------------------------------------------------------------------- */

/* A block of rows is cut into halves of its columns as long as there is a thread block for each. */
exchange_shape exchange_shape_of(int parts, int consumers, int blocks, int octets, int least) {
    exchange_shape s = {parts, consumers * WARPGROUP, blocks, octets, octets};
    while (2 * exchange_slices(&s) <= parts && s.slice_octets % (2 * least) == 0) s.slice_octets /= 2;
    return s;
}

/* -- Begin -------------------------------------------------------------------------------------------- */

void exchange_place(sum_exchange *e) {
    e->empty = add_s32(e->b, "parts_empty", e->full, I(PIPELINE_BARRIER_BYTES));
}

void exchange_init(const sum_exchange *e, mc_reg guard) {
    mc_builder *b = e->b;
    int warps = e->shape.threads / MC_WARP;
    if (e->in_stages && exchange_slices(&e->shape) != e->shape.parts)
        builder_fail(b, "sums come in where stages were of thread blocks that have no slice");
    EMIT_IF(b, guard, mbarrier_init, AT(e->full, 0), I(1));
    EMIT_IF(b, guard, mbarrier_init, AT(e->empty, 0), I(warps * exchange_slices(&e->shape)));
}

/* Which slice is the thread block's. Slices go by columns in a block of rows. */
static void begin_slice(sum_exchange *e) {
    mc_builder *b = e->b;
    int columns = e->shape.octets / e->shape.slice_octets;
    mc_reg across = and_b32(b, "slice_across", e->rank, I(columns - 1));
    mc_reg down = shr_u32(b, "slice_down", e->rank, I(log2_of(columns)));
    e->row = mul_s32(b, "slice_row", down, I(WARPGROUP_ROWS));
    e->column = mul_s32(b, "slice_column", across, I(e->shape.slice_octets * OCTET_COLUMNS));
    e->takes = setp_lt(b, "takes_slice", e->rank, I(exchange_slices(&e->shape)));
    e->expects = setp_lt_and(b, "expects_slice", e->rank, I(exchange_slices(&e->shape)), e->first_thread);
}

void exchange_begin(sum_exchange *e) {
    mc_builder *b = e->b;
    note(b,
         "the slice of a tile that this thread block finishes, and where its threads' sums come in and go");
    begin_slice(e);
    e->in = mad_s32(b, "parts_in", e->thread, I(OCTET_BYTES), e->first);
    e->own = mad_s32(b, "part_out", e->rank, I(exchange_part_bytes(&e->shape)), e->in);
    e->tells = setp_lt(b, "tells_read", e->lane, I(e->shape.parts));
    mc_reg peer = and_b32(b, "read_peer", e->lane, I(e->shape.parts - 1));
    e->teller = mapa(b, "parts_empty_there", e->empty, peer);
    e->phase = carried(b, "parts_phase", I(e->in_stages ? 0 : 1));
    e->passed = pred(b, "parts_passed"), e->is_slice = pred(b, "is_slice"), e->state = b64(b, "parts_state");
    b32_array(b, "part", OCTET_SUMS, e->part);
    if (!e->in_stages) e->no_bits = shr_u32(b, "no_bits", load_special(b, "grid_x", "nctaid.x"), I(31));
}

/* -- A tile ------------------------------------------------------------------------------------------- */

/* The first sum of a slice. */
static const mc_reg *slice_sums(const sum_exchange *e, const mc_reg sums[WARPGROUP_BLOCKS][WGMMA_SUMS],
                                int slice) {
    int octets = e->shape.slice_octets, across = e->shape.octets / octets;
    return &sums[slice / across][slice % across * octets * OCTET_SUMS];
}

/* Puts the own slice where the others' sums of it come in. */
static void keep_slice(const sum_exchange *e, const mc_reg sums[WARPGROUP_BLOCKS][WGMMA_SUMS]) {
    mc_builder *b = e->b;
    for (int slice = 0; slice < exchange_slices(&e->shape); slice++) {
        EMIT(b, setp_eq, e->is_slice, e->rank, I(slice));
        for (int o = 0; o < e->shape.slice_octets; o++)
            EMIT_IF(b, e->is_slice, sts_v4, AT(e->own, o * e->shape.threads * OCTET_BYTES),
                    V4(slice_sums(e, sums, slice) + o * OCTET_SUMS));
    }
}

/* Sends its slice to the thread block whose number differs from the own one in the bits of TURN. So in each
   turn thread blocks send in pairs, and none gets more than one slice at a time if they keep step. */
static void send_slice(const sum_exchange *e, int turn, const mc_reg sums[WARPGROUP_BLOCKS][WGMMA_SUMS]) {
    mc_builder *b = e->b;
    char name[MC_MAX_NAME];
    snprintf(name, sizeof name, "peer%d", turn);
    mc_reg peer = xor_b32(b, name, e->rank, I(turn));
    snprintf(name, sizeof name, "part_to%d", turn);
    mc_reg to = mapa(b, name, e->own, peer);
    snprintf(name, sizeof name, "full_of%d", turn);
    mc_reg full = mapa(b, name, e->full, peer);
    for (int slice = 0; slice < exchange_slices(&e->shape); slice++) {
        EMIT(b, setp_eq, e->is_slice, peer, I(slice));
        for (int o = 0; o < e->shape.slice_octets; o++)
            EMIT_IF(b, e->is_slice, st_async_v4, AT(to, o * e->shape.threads * OCTET_BYTES),
                    V4(slice_sums(e, sums, slice) + o * OCTET_SUMS), AT(full, 0));
    }
}

/* Tells every thread block that this warp has read, once all of its lanes have. */
static void tell_read(const sum_exchange *e, mc_reg teller) {
    EMIT(e->b, bar_warp_sync, H(0xffffffff));
    EMIT_IF(e->b, e->tells, mbarrier_arrive_cluster, AT(teller, 0));
}

/* The barrier to tell, once the slice's SUMS are there: the first of each octet came with a load of each
   part. In stages nothing is written there again. */
static mc_reg behind_slice(const sum_exchange *e, const mc_reg *sums) {
    mc_reg loaded[MOST_OCTETS];
    if (e->in_stages) return e->teller;
    for (int o = 0; o < e->shape.slice_octets; o++) loaded[o] = sums[o * OCTET_SUMS];
    mc_reg bits = pipeline_behind(e->b, loaded, e->shape.slice_octets, e->no_bits);
    return add_s32(e->b, "teller_behind", e->teller, bits);
}

void exchange_free(const sum_exchange *e) {
    note(e->b, "this thread block's stages were read: every thread block may send sums there");
    tell_read(e, e->teller);
}

void exchange_send(const sum_exchange *e, const mc_reg sums[WARPGROUP_BLOCKS][WGMMA_SUMS]) {
    mc_builder *b = e->b;
    int slices = exchange_slices(&e->shape);
    note(b, "this part's sums go to the %d thread blocks that finish a slice each, once %s", slices,
         e->in_stages ? "all have read their" : "what they were sent");
    note(b, e->in_stages ? "stages" : "for the tile before was read");
    pipeline_await(b, "PARTS_EMPTY", e->passed, e->empty, e->phase);
    if (!e->in_stages) EMIT(b, xor_b32, e->phase, e->phase, I(1));
    EMIT_IF(b, e->expects, mbarrier_expect, e->state, AT(e->full, 0),
            I(exchange_bytes(&e->shape) - exchange_part_bytes(&e->shape)));
    for (int turn = 1; turn < e->shape.parts; turn++) send_slice(e, turn, sums);
    keep_slice(e, sums);
}

/* Adds the four sums of a part; floats are rounded to nearest. */
static void add_part(const sum_exchange *e, const mc_reg *sums) {
    for (int i = 0; i < OCTET_SUMS; i++)
        if (e->real) EMIT(e->b, add_f32, sums[i], sums[i], e->part[i]);
        else EMIT(e->b, add_s32, sums[i], sums[i], e->part[i]);
}

static void take_octet(const sum_exchange *e, int octet, const mc_reg *sums) {
    int at = octet * e->shape.threads * OCTET_BYTES, step = exchange_part_bytes(&e->shape);
    EMIT(e->b, lds_v4, V4(sums), AT(e->in, at));
    for (int part = 1; part < e->shape.parts; part++) {
        EMIT(e->b, lds_v4, V4(e->part), AT(e->in, at + part * step));
        add_part(e, sums);
    }
}

/* A warp has read what came in when all of its lanes have: then it tells all who send. */
void exchange_take(const sum_exchange *e, const mc_reg *sums, mc_label next) {
    mc_builder *b = e->b;
    EMIT_IF(b, NOT(e->takes), bra, TO(next));
    note(b, "the slice's sums of all %d parts are there: they are added up from part 0 on", e->shape.parts);
    pipeline_await(b, "PARTS_FULL", e->passed, e->full, e->phase);
    for (int o = 0; o < e->shape.slice_octets; o++) take_octet(e, o, sums + o * OCTET_SUMS);
    note(b, e->in_stages ? "they were read" : "they were read: every thread block may send again");
    tell_read(e, behind_slice(e, sums));
}

/* In stages that is the second phase: the first one ended when all had read their stages. */
void exchange_end(const sum_exchange *e) {
    note(e->b, "the slices of the last tile were read, and nobody reaches into this thread block any more");
    pipeline_await(e->b, "PARTS_READ", e->passed, e->empty, e->in_stages ? I(1) : e->phase);
}
