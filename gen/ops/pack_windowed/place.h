/* What the files of the kernel "place" share. */
#ifndef MC_PACK_WINDOWED_PLACE_H
#define MC_PACK_WINDOWED_PLACE_H

#include "ops/pack_windowed/pack_windowed.h"

enum {
    GROUP_LANES = (MC_WARP - WINDOWED_GROUP) << 8 | (WINDOWED_GROUP - 1), /* a shuffle through 8 lanes */
    ZERO_UNIT = 16 /* bytes that a lane zeroes at once */
};

/* Windows of the stride at hand, and of its part before it. */
typedef struct placed_windows {
    mc_reg oldest, last, left, waited;
} placed_windows;

/* The lane's slot: its vector of the row block, below 0: none; its column; the ring's row of that. */
typedef struct placed_slot {
    mc_reg vector, column, row;
} placed_slot;

typedef struct place_ring {
    mc_reg window, span, stages;
    mc_reg rows; /* in all */
} place_ring;

typedef struct place_emitter {
    mc_builder *b;
    const pack_windowed_plan *plan;
    mc_reg lane, warp;
    mc_reg lanes_below;
    place_ring ring;
    placed_windows windows;
    placed_slot slot;
} place_emitter;

/* -- place_slots.c ------------------------------------------------------------------------------------ */

/* Puts the vectors of the stride's groups in the order of elements of 32 bits. */
void place_deal_words(place_emitter *e);
/* Where the slot's row lies in the ring, where the slot is HELD, a predicate, or padding. */
mc_reg place_in_ring(place_emitter *e, mc_reg held);
/* The word of `places` that the lane, one of the first 16, has, of all lanes' PLACE. */
mc_reg place_word(place_emitter *e, mc_reg place);

#endif
