/* In which order a kernel adds floats up by mma: which nonzero vectors each mma takes. A row block has one
   part or several; a warp adds each of them up, mma after mma, and then the parts' sums are added. */
#ifndef MCRT_SPMM_WALK_H
#define MCRT_SPMM_WALK_H

#include "formats/panels.h"
#include "ops/reference.h"

enum { WALK_GROUP = 32, WALK_PADDING = -1 };

typedef struct slot_walk {
    int depth;      /* slots of an mma: its k */
    int parts;      /* of a row block; of panels at most so many */
    int64_t *start; /* [row_blocks * parts + 1]: the first mma of part p of row block b at b * parts + p */
    /* Of panels [row_blocks + 1]: the first part of each, by which `start` goes then. NULL: all row blocks
       have `parts` */
    int64_t *first_part;
    /* Of panels with more parts than these: that many warps of several thread blocks, one after another. The
       sums of a thread block but the last one are added first. Each warp of the last one adds those of every
       `warps`-th thread block to its own, and then these are added */
    int warps;
    int64_t *vector; /* [mma][depth]: what an mma has at each place along k; WALK_PADDING: none */
    /* Of HRPB [mma]: bit i says whether the mma's brick in the i-th 16 rows of the row block has something.
       Where it has nothing, these rows are not multiplied. NULL: an mma takes all rows */
    uint32_t *bricks;
    /* Columns of C whose sums one part adds up, and the next part those beside them. The part begins with its
       own sum; next comes that of the part with its number xor 1, then xor 2 and so on. 0: part 0 has all. */
    int64_t owned;
} slot_walk;

/* Those of the gather kernel and of the ring kernel, for mma of DEPTH slots. B's elements have ELEMENT_BYTES.
   walk_free frees them, also after a failure. */
mc_status walk_gather(const mc_vsparse *a, const mc_gather_order *order, int depth, slot_walk *walk,
                      mc_diag *diag);
mc_status walk_ring(const mc_vsparse *a, size_t element_bytes, const mc_ring *ring, int depth,
                    slot_walk *walk, mc_diag *diag);
/* That of panels, of whose rows A is joined. */
mc_status walk_panels(const panel_matrix *m, const mc_panels *form, int depth, slot_walk *walk,
                      mc_diag *diag);
/* That of HRPB, likewise; a panel's parts are its virtual panels. */
mc_status walk_hrpb(const panel_matrix *m, const mc_hrpb *form, double waves, slot_walk *walk, mc_diag *diag);
void walk_free(slot_walk *walk);
/* TO receives the vectors that the mma of a group of 32 slots have, at all their places along k. */
void walk_take_group(const int64_t *slots, int depth, int64_t *to);
#endif
