/* The format transposed-steps, which the packer and the kernel of A^T B both know.
 *
 * A part is `warp_k` neighbouring columns of A, whose rows of C a warp keeps in shared memory. The warp
 * walks over the row blocks of A, and takes the vectors that each has in the part in steps: a step has
 * `slots` slots, 16 for each mma, and all its vectors are neighbours in A's values. A slot is half a word:
 *
 *   bits 0 to 4    which vector it is, counted from the step's first one
 *   bit 5          set: there is none
 *   bits 6 to 15   the vector's column, counted from the part's first one: with zeros below them they are
 *                  bytes in the part's accumulators, of which a row has 64
 *
 * Slot 16 j + 8 h + g of a step, which is row g + 8 h of its mma j, is half h of word [g][j]. */
#ifndef MC_TRANSPOSED_H
#define MC_TRANSPOSED_H

#include <stdint.h>

enum {
    TRANSPOSED_MMA_SLOTS = 16,
    TRANSPOSED_GROUPS = 8, /* words of a step's mma: one for each lane group */
    TRANSPOSED_HALF_BITS = 16,
    TRANSPOSED_VECTOR_MASK = 31,
    TRANSPOSED_NONE = 1 << 5,
    TRANSPOSED_ROW_BYTES = 64, /* of accumulators: 16 columns of C */
    TRANSPOSED_ROW_MASK = 0xffc0,
    TRANSPOSED_MAX_SLOTS = 32,
    TRANSPOSED_MAX_PART = 1024, /* columns */
    TRANSPOSED_STAGES = 3,      /* of rows of B in shared memory */
    TRANSPOSED_LEAD = 2,        /* steps by which rows of B are read before their step */
    TRANSPOSED_STEP_WORDS = 2,  /* of a step in `steps` */
};

/* Where a slot's half word lies among those of its step. MMA is one of MMAS. */
static inline int transposed_half_place(int slot, int mmas) {
    int mma = slot / TRANSPOSED_MMA_SLOTS, half = slot / TRANSPOSED_GROUPS % 2,
        group = slot % TRANSPOSED_GROUPS;
    return 2 * (group * mmas + mma) + half;
}

/* The word of a step that says where its rows of B are: bits 0 to 30 the row in the ring of stages, bit 31
   whether the warp has to go on to the next stage first. */
#define TRANSPOSED_NEXT_STAGE 0x80000000U

#endif
