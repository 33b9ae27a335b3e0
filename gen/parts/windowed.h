/* The format windowed-bcrs, which the ring kernel of the SpMM reads: facts that the emitter and the packer
 * share.
 *
 * B passes through a ring in shared memory, of `stages` windows of `window` rows each. Row k of B lies in
 * ring row k mod (stages * window). Row blocks come in an order of their own (row_order), the strides of one
 * after those of another. A stride has 32 slots, for nonzero vectors whose rows of B are in the ring at the
 * same time. Where `split` warps share a row block, its strides are dealt out in turn to as many parts, one
 * for each warp, and the warps add up.
 *
 *   row_order  s32[row_blocks]              the row block that place q computes: longest first
 *   row_ptr    s32[split * row_blocks + 1]  [p * row_blocks + q]: the first stride of part p of place q. The
 *                                           part ends where the next one begins
 *   control    s32[strides]                 what a warp does before the stride: it leaves as many windows as
 *                                           bits 8-30 say, then waits for as many as bits 0-7 say. Bit 31:
 *                                           slots 16 to 31 are empty
 *   places     s32[strides * 16]            where a slot's row lies in the ring, in units of 16 bytes,
 *                                           swizzled, for rows of a tile's bytes. Word w has slot w in its
 *                                           low half and slot 16 + w in its high half; of elements of 32
 *                                           bits windowed_word_of
 *   values     s8 [strides * V * 32 * D]    windowed_value_offset, for sparse mma windowed_fours_offset,
 *                                           in each of D digits, the low one first; 0 where padded.
 *                                           Digits "offset": 32 bytes more a stride, laid out as row 0, 1
 *                                           for each vector
 *              lhs[strides * V * 32]        of floats: windowed_float_place, of 32 bits windowed_word_place
 *
 * Where thread blocks of a cluster share the windows instead (`parts` of them, with split = 1), part p has
 * windows floor(W p / parts) to floor(W (p + 1) / parts) - 1 of all W, and a ring of its own. row_ptr has
 * parts in place of split. What is said of windows and rows of B then counts from the part's first window on.
 *
 * Each warp counts on the barriers by itself. So each part is a sequence of its own, and may have no strides
 * at all. Windows are waited for and left in order, and a warp leaves only those that it has waited for. So a
 * stage's barrier counts every warp once, and a part's first stride leaves none. A window gets into the ring
 * when all warps have left the window before it in its stage. Where a part skips many windows, strides of
 * padding let them pass.
 *
 * A stride's vectors lie in the stages - 1 windows from the oldest one on that has not been left (with 2
 * stages: in that one), or anywhere, if the ring holds all of B. Packing takes those of fewer windows, so
 * that more of them are on their way (windowed_reach). A padding slot names a row of that oldest
 * window, in a bank that the slots of its 8 leave free, if it can. Where B is of floats it names the row
 * behind the last stage, which is zeros, since a zero times an infinity is none. Staging async relies on
 * both: it passes windows by the number of windows to leave alone (ops/spmm/ring/async.c). */
#ifndef MC_WINDOWED_H
#define MC_WINDOWED_H

#include <stdbool.h>
#include <stdint.h>

enum {
    WINDOWED_SLOTS = 32,
    WINDOWED_HALF = 16, /* slots of one ldmatrix.x4: two groups of 8 rows */
    WINDOWED_GROUP = 8, /* rows of an 8 x 8 matrix; they are read at once if row mod 8 is different in all */
    WINDOWED_GROUPS = WINDOWED_SLOTS / WINDOWED_GROUP, /* of a stride */
    /* Vectors that a stride is chosen from: more choice, more windows that must be there */
    WINDOWED_POOL = 160,
    WINDOWED_UNIT = 16, /* bytes */
    WINDOWED_STRIDE_WORDS = 16,
    WINDOWED_ROW_VALUES = 32,       /* bytes that a row of A has in a stride, for each digit */
    WINDOWED_LANE_FOURS = 16,       /* bytes of a lane in windowed_fours_offset */
    WINDOWED_MAX_VALUES = 16 * 128, /* bytes of a stride: 16 rows of floats of 32 bits */
    WINDOWED_WAIT_MASK = 255,
    WINDOWED_WANTS_MASK = INT32_MAX, /* all bits but the sign */
    WINDOWED_ONE_HALF = INT32_MIN,
    WINDOWED_LEAVE_SHIFT = 8,
    /* A lane of ldmatrix.x4 names a row of one of four matrices (PTX ISA, "ldmatrix"). Bits 0-2 of the lane
       say which row, bit 3 says that it is the 16 columns beside, bit 4 that it is the second group of slots.
       The lane's word of `places` is row + 8 * bit 4. Slots 16 further on are in the word's high half.
       For rows of 16 bytes, and for sparse mma, there are no columns beside. The four matrices are the groups
       of a stride then, and lane l names the row of slot l, which is a half of word l mod 16. */
    WINDOWED_ROW_MASK = WINDOWED_GROUP - 1,
    WINDOWED_BESIDE_SHIFT = 3,
    WINDOWED_SECOND_SHIFT = 4,
};

/* Windows that a stride may span, of WINDOWS in all, through a ring of STAGES: all of them if the ring holds
   them. Else half of the stages: the more windows a stride wants, the fewer are on their way, and kernels
   wait for those where they copy more than they multiply. One less where matrices are SPARSE, so that a row
   block has less than half a stride's vectors in a window (docs/measurements.md). */
static inline int64_t windowed_reach(int64_t windows, int stages, bool sparse) {
    if (windows <= stages) return windows;
    const int half = stages > 3 ? stages / 2 : stages - 1;
    return half > 2 && sparse ? half - 1 : half;
}

/* Where the first 16 bytes of a ring row lie, in units of 16 bytes, for rows of ROW_BYTES. The tensor copy's
   swizzle of so many bytes (PTX ISA, "Swizzling Modes") moves these units inside rows of 128 bytes of shared
   memory. */
static inline int windowed_place(int row, int row_bytes) {
    int units = row_bytes / WINDOWED_UNIT, rows = 8 / units; /* a row's units; rows in 128 bytes */
    return row * units + (row / rows) % units;
}

/* Of elements of 32 bits lane t reads slots t and t + 4 of each group of 8 and has their places beside each
   other: group i's in word 4 t + i, in its low and high half. Four slots t, and four slots t + 4, are read at
   once if row mod 8 / 2 is different in them. */
static inline int windowed_word_of(int slot) { return slot % 4 * 4 + slot / WINDOWED_GROUP; }
static inline int windowed_is_high(int slot) { return slot / 4 % 2; }

/* Where the value of row ROW (0 .. V - 1) and slot SLOT lies in a digit's V * 32 bytes of a stride. Lane 4
   ROW + t has 8 bytes: 4 for slots 0-15, 4 for slots 16-31. Of each 4, bytes 0 and 2 are slots 2t and 2t + 1
   of the first group of 8, bytes 1 and 3 the same of the second group. So x & 0x00ff00ff and (x >> 8) &
   0x00ff00ff are the mma's operand with zeros between, as the transposed 16-bit matrices of an 8-bit B want
   it. */
static inline int windowed_value_offset(int row, int slot) {
    int half = slot / WINDOWED_HALF, group = slot / WINDOWED_GROUP % 2, in_group = slot % WINDOWED_GROUP;
    return (row * 4 + in_group / 2) * 8 + half * 4 + group + 2 * (in_group % 2);
}

/* The same for sparse mma, of V = 16 rows. Lane 4 (ROW mod 8) + t has 16 bytes, the registers of an operand
   A: slots 4 t to 4 t + 3 of either half, of row ROW mod 8 and of the row 8 further on. */
static inline int windowed_fours_offset(int row, int slot) {
    int half = slot / WINDOWED_HALF, in_half = slot % WINDOWED_HALF;
    return (row % 8 * 4 + in_half / 4) * WINDOWED_LANE_FOURS + row / 8 * 4 + half * 8 + in_half % 4;
}

/* The same of a float, counted in floats. Each 8 rows have a plane. Lane 4 (ROW mod 8) + t has 8 floats: 4
   for slots 0-15, 4 for slots 16-31. Of each 4 the first two are slots 2t and 2t + 1 of the first group of 8,
   the others the same of the second group. */
static inline int windowed_float_place(int row, int slot) {
    int half = slot / WINDOWED_HALF, group = slot / WINDOWED_GROUP % 2, in_group = slot % WINDOWED_GROUP;
    return (row * 4 + in_group / 2) * 8 + half * 4 + 2 * group + in_group % 2;
}
/* The slot at place K of an mma's k where floats have 8 bits: a lane's 4 floats of a half are places 4t to
   4t + 3, or those 16 further on. */
static inline int windowed_slot_of(int k) {
    int half = k / WINDOWED_HALF, t = k % WINDOWED_HALF / 4, group = k / 2 % 2;
    return WINDOWED_HALF * half + WINDOWED_GROUP * group + 2 * t + k % 2;
}
/* Where a float of 32 bits lies: lane 4 (ROW mod 8) + t has slots t and t + 4 of each group of 8 in turn. */
static inline int windowed_word_place(int row, int slot) {
    return (row * 4 + slot % 4) * 8 + slot / WINDOWED_GROUP * 2 + slot / 4 % 2;
}

#endif
