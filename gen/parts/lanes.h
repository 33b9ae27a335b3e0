/* Words that lanes of a warp exchange, and their sums. */
#ifndef MC_LANES_H
#define MC_LANES_H

#include "parts/fragment.h"
#include "ptx/builder.h"

/* A warp's lanes, all of which take part, and the last one, which a shuffle through the whole warp names. */
#define ALL_LANES H(0xffffffff)
enum { LAST_LANE = MC_WARP - 1 };

/* Lanes whose numbers differ in bit BIT alone exchange. ODD: whether that bit of this lane's is set. */
typedef struct lane_exchange {
    mc_builder *b;
    int bit;
    mc_reg odd;
    mc_reg give, got; /* scratch */
} lane_exchange;

/* Two lanes have two words each, a 2 x 2 matrix with a lane for each column: it is transposed. The even lane
   gets the FIRST words of both, the odd one the SECOND ones, the even lane's word in front. */
void lanes_exchange(const lane_exchange *x, mc_reg first, mc_reg second);

/* The same of COUNT neighbouring lanes, 2 or 4, that have COUNT words each. PLACE counts them. */
enum { LANES_MOST = 4 };
typedef struct lane_transpose {
    mc_reg place;
    int count;
    lane_exchange exchange[2];
} lane_transpose;

/* LANE is this lane's number in its warp. */
lane_transpose lanes_declare_transpose(mc_builder *b, mc_reg lane, int count);
/* WORD[i] becomes the word of this lane's place that the lane of place i had. */
void lanes_transpose(const lane_transpose *x, const mc_reg word[]);

/* WORD becomes the sum of those of the warp's lanes up to this one. */
void lanes_sum(mc_builder *b, mc_reg lane, mc_reg word);
/* A bit for each lower lane. */
mc_reg lanes_lower(mc_builder *b, mc_reg lane);

#endif
