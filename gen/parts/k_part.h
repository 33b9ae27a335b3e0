/* Thread blocks of a cluster that share a tile of C, each with a part of k: which stages of k are whose. */
#ifndef MC_K_PART_H
#define MC_K_PART_H

#include "ptx/builder.h"

typedef struct k_part {
    mc_reg first, stages; /* the part's first stage, and how many it has */
} k_part;

/* The stages of k, ALL of them, are dealt out in order over PARTS, a power of two, the first parts having one
   more where they are no multiple. RANK is the thread block's number in the cluster. A part has at least one:
   where k has fewer, that lies behind its end. */
k_part k_part_of(mc_builder *b, mc_reg rank, int parts, mc_reg all);

#endif
