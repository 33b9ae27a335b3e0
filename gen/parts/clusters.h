/* Where clusters of thread blocks find room. Estimates and launches both know it. */
#ifndef MC_CLUSTERS_H
#define MC_CLUSTERS_H

#include <stdint.h>

/* Of MULTIPROCESSORS those that clusters of MEMBERS thread blocks (0: none) fill at once. A cluster lies in
   one group of them (GPC), and what a group has beyond whole clusters stays empty. Of an H200's 132
   multiprocessors 30 clusters of four fill 120, and so do 15 of eight; clusters of two fill all
   (docs/measurements.md, 2026-11-29). */
static inline int64_t cluster_room(int members, int64_t multiprocessors) {
    enum { FILLED = 120, OF = 132 };
    if (members <= 2) return multiprocessors;
    int64_t clusters = multiprocessors * FILLED / OF / members;
    return clusters > 0 ? clusters * members : multiprocessors;
}

#endif
