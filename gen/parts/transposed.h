/* The format transposed-steps, which the packer and the kernel of A^T B both know.
 *
 * A part is `warp_k` neighbouring columns of A, whose rows of C a warp keeps in shared memory. The warp walks
 * over the row blocks of A, one or two at a time, and takes the columns that these have in the part in steps.
 * A step has `slots` slots, 16 for each mma, a column for each; of each row block the step's vectors are
 * neighbours in A's values. A slot is a word:
 *
 *   bits 0 to 4     which of the first row block's vectors it has, counted from the step's first one
 *   bit 5           set: it has none
 *   bits 6 to 15    its column, counted from the part's first one: with zeros below them they are bytes in
 *                   the part's accumulators, of which a row has 64
 *   bits 16 to 20   as bits 0 to 4 of the second row block
 *   bit 21          as bit 5
 *   bit 31          set: there is no column
 *
 * Slot 16 j + 8 h + g of a step, which is row g + 8 h of its mma j, is word [g][2 j + h]. */
#ifndef MC_TRANSPOSED_H
#define MC_TRANSPOSED_H

#include <stdint.h>

enum {
    TRANSPOSED_MMA_SLOTS = 16,
    TRANSPOSED_GROUPS = 8,
    TRANSPOSED_BLOCK_BITS = 16, /* from a row block's bits to the next one's */
    TRANSPOSED_MAX_BLOCKS = 2,
    TRANSPOSED_VECTOR_MASK = 31,
    TRANSPOSED_NONE = 1 << 5,
    TRANSPOSED_ROW_BYTES = 64, /* of accumulators: 16 columns of C */
    TRANSPOSED_ROW_MASK = 0xffc0,
    TRANSPOSED_MAX_SLOTS = 32,
    TRANSPOSED_MAX_PART = 1024, /* columns */
    TRANSPOSED_STAGES = 3,      /* of rows of B in shared memory */
    TRANSPOSED_LEAD = 2,        /* steps by which rows of B are read before their step */
};

/* Where a slot's word lies among those of its step. MMA is one of MMAS. */
static inline int transposed_slot_place(int slot, int mmas) {
    int mma = slot / TRANSPOSED_MMA_SLOTS, half = slot / TRANSPOSED_GROUPS % 2,
        group = slot % TRANSPOSED_GROUPS;
    return 2 * (group * mmas + mma) + half;
}

/* The words of a step in `steps`: its row of B, and then its first vector of each row block. */
static inline int transposed_step_words(int blocks) { return blocks > 1 ? 4 : 2; }

/* The word of a step that says where its rows of B are: bits 0 to 30 the row in the ring of stages, bit 31
   whether the warp has to go on to the next stage first. */
#define TRANSPOSED_NEXT_STAGE 0x80000000U
#define TRANSPOSED_NO_SLOT    0x80000000U

#endif
