/* The format windowed-bcrs, which the ring kernel of the SpMM reads: facts that the emitter and the packer share.
 *
 * B passes through a ring of `stages` windows of `window` rows in shared memory; row k of B lies in ring row
 * k mod (stages * window). Row blocks come in an order of their own (row_order), the strides of one after another.
 * A stride has 32 slots for nonzero vectors whose rows of B are in the ring at the same time. `split` warps share a row
 * block: its strides are dealt out in turn to as many parts, which their warps add up.
 *
 *   row_order  s32[row_blocks]              the row block that place q computes: longest first
 *   row_ptr    s32[split * row_blocks + 1]  [p * row_blocks + q]: the first stride of its part p, which ends where the
 *                                           next one begins
 *   control    s32[strides]                 bits 0-7: so many windows are waited for before this stride, after as many
 *                                           were left as bits 8-30 say; bit 31: slots 16 to 31 are empty
 *   places     s32[strides * 16]            where a slot's row lies in the ring, in 16 bytes, swizzled, for rows
 *                                           of a tile's bytes; word w: slot w in its low half, slot 16 + w in its high half
 *   values     s8 [strides * V * 32 * D]    windowed_value_offset in each of D digits, the low one first; 0 where padded. Digits
 *                                           "offset": 32 more a stride, the offset of row 0 again, 1 for each vector
 *
 * Each warp counts on the barriers by itself, so each part is a sequence of its own, and may have no strides at all.
 * Windows are waited for and left in order, and only those are left that were waited for: so a stage's barrier counts
 * every warp once, and a part's first stride leaves none. A window waits for a place in the ring until all have left the one before it there; where a
 * part skips many windows, strides of padding let them pass.
 * A stride's vectors lie in the stages - 1 windows from the oldest on that has not been left (stages 2: in that one), or
 * anywhere where the ring holds all of B; a padding slot's place is of a row of that oldest window, in a bank that the slots
 * of its 8 leave free if it can. Staging async relies on both: it passes windows by `leave` alone (ops/spmm/ring_async.c). */
#ifndef MC_WINDOWED_H
#define MC_WINDOWED_H

#include <stdint.h>

enum {
    WINDOWED_SLOTS = 32,
    WINDOWED_HALF = 16, /* slots of one ldmatrix.x4: two groups of 8 rows */
    WINDOWED_GROUP = 8, /* rows of an 8 x 8 matrix: read at once if row mod 8 is different in all */
    WINDOWED_UNIT = 16, /* bytes */
    WINDOWED_STRIDE_WORDS = 16,
    WINDOWED_ROW_VALUES = 32,           /* bytes of a row of A and digit, a stride */
    WINDOWED_MAX_VALUES = 2 * 256 + 32, /* of a stride: two digits, 8 rows, and the ones */
    WINDOWED_WAIT_MASK = 255,
    WINDOWED_WANTS_MASK = INT32_MAX, /* all but the sign: */
    WINDOWED_ONE_HALF = INT32_MIN,
    WINDOWED_LEAVE_SHIFT = 8,
    /* A lane of ldmatrix.x4 names a row of one of four matrices (PTX ISA, "ldmatrix"): bits 0-2 which row, bit 3 the 16
       columns beside, bit 4 the second group of slots. Its word is row + 8 * bit 4; words 16 slots on are in the high half. */
    WINDOWED_ROW_MASK = WINDOWED_GROUP - 1,
    WINDOWED_BESIDE_SHIFT = 3,
    WINDOWED_SECOND_SHIFT = 4,
};

/* The place of a ring row's first 16 columns, where rows have ROW_BYTES: the tensor copy's swizzle of so many bytes
   (PTX ISA, "Swizzling Modes") moves 16-byte units inside rows of 128 bytes of shared memory. */
static inline int windowed_place(int row, int row_bytes) {
    int units = row_bytes / WINDOWED_UNIT, rows = 8 / units; /* a row's units; rows in 128 bytes */
    return row * units + (row / rows) % units;
}

/* Where the value of row ROW (0 .. V - 1) and slot SLOT lies in a digit's V * 32 bytes of a stride. lane 4 ROW + t holds 8 bytes: 4 for slots
   0-15, 4 for slots 16-31; of these, bytes 0 and 2 are slots 2t and 2t + 1 of the first group of 8, bytes 1 and 3 of the
   second. So x & 0x00ff00ff and (x >> 8) & 0x00ff00ff are the mma's operand with zeros between, as transposed
   16-bit matrices of 8-bit B want it. */
static inline int windowed_value_offset(int row, int slot) {
    int half = slot / WINDOWED_HALF, group = slot / WINDOWED_GROUP % 2, in_group = slot % WINDOWED_GROUP;
    return (row * 4 + in_group / 2) * 8 + half * 4 + group + 2 * (in_group % 2);
}

#endif
