/* How the ring kernel reads rows whose elements have 32 bits. ldmatrix would transpose halves of them. So
 * lane (g, t) loads 16 bytes, columns 4 g to 4 g + 3, of slots t and t + 4 of each group of 8. Each column is
 * an element of an mma's operand. Shared memory serves 8 lanes of such a load at a time, which read two
 * neighbouring units of four slots. These lie in different banks if row mod 8 / 2 is different in the four
 * slots, for which the packer orders a group's slots (windowed.h). */
#include "ops/spmm/ring/ring.h"
#include "parts/windowed.h"

mc_reg ring_words_unit(const ring_emitter *r) {
    mc_builder *b = r->at.b;
    note(b, "lane: columns 4 g to 4 g + 3 of slots t and t + 4");
    return mul_s32(b, "lane_unit", r->at.place.g, H(0x00010001));
}

void ring_words_find(const ring_strides *s) {
    const mc_reg *place = s->packed->at_hand.place;
    for (int i = 0; i < RING_MAX_PLACES; i++) EMIT(s->r->at.b, xor_b32, place[i], place[i], s->lane_unit);
}

void ring_words_gather(const ring_strides *s, int half) {
    enum { GROUPS = WINDOWED_HALF / WINDOWED_GROUP };
    mc_builder *b = s->r->at.b;
    mc_reg at = s->matrix_at;
    for (int q = 0; q < 2 * GROUPS; q++) {
        mc_reg place = s->packed->at_hand.place[GROUPS * half + q / 2];
        if (q % 2 == 0) EMIT(b, and_b32, at, place, H(0xffff));
        else EMIT(b, shr_u32, at, place, I(16));
        EMIT(b, mad_s32, at, at, I(WINDOWED_UNIT), s->r->ring);
        EMIT(b, lds_v4, V4(s->matrix[half][q]), AT(at, 0));
    }
}
