/* Where clusters of thread blocks find room. Estimates and launches both know it. */
#ifndef MC_CLUSTERS_H
#define MC_CLUSTERS_H

#include <stdint.h>

/* Of MULTIPROCESSORS those that clusters of MEMBERS thread blocks (0: none) fill. A cluster is on
   multiprocessors of one group (GPC), of which Hopper's have 16 or 18: of more than two thread blocks those
   that 16 hold count. */
static inline int64_t cluster_room(int members, int64_t multiprocessors) {
    enum { GROUP = 16 };
    return members > 2 && multiprocessors >= GROUP ? multiprocessors / GROUP * GROUP : multiprocessors;
}

#endif
