/* Rows, of elements, columns or slots, cut into segments of 1024 elements: 32 for each lane of a warp. Every
 * segment is the work of one warp. A launch is told how many segments a row has, and how many there are:
 *
 *   items     rows * segments
 *   segments  of a row */
#ifndef MC_SEGMENTS_H
#define MC_SEGMENTS_H

#include "parts/emit.h"
#include "parts/fragment.h"
#include "parts/segment.h"
#include "schema/family.h"

enum {
    SEGMENT_TURNS = MC_SEGMENT / MC_WARP, /* elements of a lane: in each turn the warp takes one a lane */
    SEGMENT_WARPS = 8,
    SEGMENT_THREADS = SEGMENT_WARPS * MC_WARP,
};
static const uint32_t segment_lanes = 0xffffffff; /* all that take part in an exchange */

void segments_contract(mc_contract *contract);

/* A warp's segment. */
typedef struct segment_place {
    mc_reg lane;
    mc_reg item;  /* number of the segment */
    mc_reg row;   /* the row that it is of */
    mc_reg first; /* its first element, counted in the row */
} segment_place;

/* Warps without a segment go to END. */
segment_place segments_begin(mc_builder *b, mc_label end);

/* A loop over the turns of a segment, HOLD of them each time, as far as the row's COUNT elements reach. */
typedef struct segment_turns {
    mc_label loop, end;
    mc_reg turn; /* the first one of this time */
    mc_reg turns;
    int hold;
} segment_turns;

segment_turns segments_begin_turns(mc_builder *b, const segment_place *place, mc_operand count, int hold);
void segments_end_turns(mc_builder *b, const segment_turns *turns);

/* Where the lane's word lies in ARRAY, which has 32 of them for each segment. */
mc_reg segments_word_at(mc_builder *b, const segment_place *place, mc_reg array);

#endif
