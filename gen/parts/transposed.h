/* The format transposed-steps, which the packer and the kernel of A^T B both know.
 *
 * A part is `warp_k` neighbouring columns of A, whose rows of C a warp keeps in shared memory. The warp walks
 * over the row blocks of A, one or two at a time, and takes the columns that these have in the part in steps.
 * A step has `slots` slots, 16 for each mma, a column for each. A slot has a word for its column, and one for
 * its vector of each row block, the vector's number; -1: the row block has none there. The first word:
 *
 *   bits 6 to 15    the column, counted from the part's first one: as bytes in the part's accumulators, of
 *                   which a row has 64
 *   bits 0 and 1    with two row blocks: set where the first, the second one has no vector
 *   bit 31          set: there is no column, nor any vector
 *
 * Slot 16 j + 8 h + g of a step is row g + 8 h of its mma j. Its first word is at [g][2 j + h] of the step's
 * first `slots` words, and that of its vector of row block i behind these at [g][i][2 j + h]. */
#ifndef MC_TRANSPOSED_H
#define MC_TRANSPOSED_H

#include <stdint.h>

enum {
    TRANSPOSED_MMA_SLOTS = 16,
    TRANSPOSED_GROUPS = 8,
    TRANSPOSED_MAX_BLOCKS = 2,
    TRANSPOSED_NO_VECTOR = -1,
    TRANSPOSED_ROW_BYTES = 64, /* of accumulators: 16 columns of C */
    TRANSPOSED_ROW_MASK = 0xffc0,
    TRANSPOSED_MAX_SLOTS = 32,
    TRANSPOSED_MAX_PART = 1024, /* columns */
    TRANSPOSED_STAGES = 3,      /* of rows of B in shared memory */
    TRANSPOSED_LEAD = 2,        /* steps by which rows of B are read before their step */
};

/* Where a slot's first word lies among those of its step, and where that of its vector of row block BLOCK. */
static inline int transposed_row(int slot) {
    return slot / TRANSPOSED_MMA_SLOTS * 2 + slot / TRANSPOSED_GROUPS % 2;
}
static inline int transposed_column_place(int slot, int slots) {
    return slot % TRANSPOSED_GROUPS * (slots / TRANSPOSED_GROUPS) + transposed_row(slot);
}
static inline int transposed_vector_place(int slot, int slots, int blocks, int block) {
    int rows = slots / TRANSPOSED_GROUPS;
    return slots + (slot % TRANSPOSED_GROUPS * blocks + block) * rows + transposed_row(slot);
}
static inline int transposed_step_words(int slots, int blocks) { return slots * (1 + blocks); }

/* The word of a step that says where its rows of B are: bits 0 to 30 the row in the ring of stages, bit 31
   whether the warp has to go on to the next stage first. */
#define TRANSPOSED_NEXT_STAGE 0x80000000U
#define TRANSPOSED_NO_SLOT    0x80000000U

#endif
