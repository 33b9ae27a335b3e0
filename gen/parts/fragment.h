/* Which lane holds which element of an mma operand (PTX ISA, "Matrix Fragments for mma.m16n8k32", 8-bit
   types). It is stated once, here: the emitters and the host's packers both call these functions. As in the
   ISA's figures, g = lane / 4 and t = lane % 4. */
#ifndef MC_FRAGMENT_H
#define MC_FRAGMENT_H

#include <stdint.h>

enum {
    MC_WARP = 32,
    FRAG_GROUP_SHIFT = 2, /* g = lane >> 2 and t = lane & 3, as an emitter writes them */
    FRAG_THREAD_MASK = 3,
};

static inline int frag_group(int lane) { return lane >> FRAG_GROUP_SHIFT; }
static inline int frag_thread(int lane) { return lane & FRAG_THREAD_MASK; }

/* Operand A (16 x 32): the row and the k of byte BYTE of register REG (0..3). */
static inline int frag_a_row(int lane, int reg) { return frag_group(lane) + 8 * (reg & 1); }
static inline int frag_a_k(int lane, int reg, int byte) {
    return 16 * (reg >> 1) + 4 * frag_thread(lane) + byte;
}

/* The register of A that holds row g + 8 ROW_HALF, and k from 16 K_HALF on. */
static inline int frag_a_reg(int row_half, int k_half) { return row_half + 2 * k_half; }

/* Operand B (32 x 8): the k and the column of byte BYTE of register REG (0..1). */
static inline int frag_b_k(int lane, int reg, int byte) { return 16 * reg + 4 * frag_thread(lane) + byte; }
static inline int frag_b_col(int lane) { return frag_group(lane); }

/* C and D (16 x 8): the row and the column of 32-bit register REG (0..3). */
static inline int frag_c_row(int lane, int reg) { return frag_group(lane) + 8 * (reg >> 1); }
static inline int frag_c_col(int lane, int reg) { return 2 * frag_thread(lane) + (reg & 1); }

/* The register of C that holds row g + 8 ROW_HALF and column 2t + ODD. */
static inline int frag_c_reg(int row_half, int odd) { return 2 * row_half + odd; }

/* The small mma, 8 x 8 x 16 (PTX ISA, "Matrix Fragments for mma.m8n8k16"). A and B have one register each,
   which holds row (of B: column) g and k from 4t on. C's register REG (0..1) holds row g and column 2t + REG.
   So a register of either operand, for the k from 16 HALF on, is laid out like register HALF of the large
   mma's B, and like the register of the large mma's A that has row g and these k. */
static inline int frag_small_k(int lane, int byte) { return 4 * frag_thread(lane) + byte; }
static inline int frag_small_c_row(int lane) { return frag_group(lane); }
static inline int frag_small_c_col(int lane, int reg) { return 2 * frag_thread(lane) + reg; }

/* The format strided-bcrs numbers the 32 nonzero vectors of a group by slot, so that one lane's eight k
   indices are eight consecutive slots: lane t holds slots 8t..8t+7 in its A registers {0, 2} (bytes in order)
   and its B registers {0, 1}. The sum does not care which slot meets which k, as long as both operands
   agree. */
enum { MC_GROUP_SLOTS = 32, MC_LANE_SLOTS = 8 };
static inline int slot_thread(int slot) { return slot / MC_LANE_SLOTS; }
static inline int slot_reg(int slot) { return slot % MC_LANE_SLOTS / 4; }
static inline int slot_byte(int slot) { return slot % 4; }
static inline int slot_k(int slot) { return frag_b_k(slot_thread(slot), slot_reg(slot), slot_byte(slot)); }

/* Where the value of row ROW (0..7) and slot SLOT lies in a group's 256 bytes: lane after lane, 8 bytes a
   lane. That comes out as row-major [8][32], which is SR-BCRS's order inside a stride. */
static inline int slot_value_offset(int row, int slot) {
    int lane = 4 * row + slot_thread(slot); /* the lane with frag_b_col(lane) == row */
    return lane * MC_LANE_SLOTS + 4 * slot_reg(slot) + slot_byte(slot);
}

/* The format sampled-list (SDDMM). The 16 rows of an mma's A are nonzero vectors: slot 16 j + 8 h + g of a
   warp's item is row g + 8 h of its mma j. An item of GROUPS mma has its slots' columns at [g][2 j + h], so
   that a lane loads all that it wants of its row g at once. */
enum { MC_SAMPLED_SLOTS = 16 };
static inline int sampled_index_place(int slot, int groups) {
    int mma = slot / MC_SAMPLED_SLOTS, half = slot / 8 % 2, group = slot % 8;
    return group * 2 * groups + 2 * mma + half;
}
/* The same where each lane group has runs of RUN neighbouring slots: its indices are those of a run of the
   first 8 RUN slots, then of a run of the next ones. A run of 1 is the order above. */
static inline int sampled_run_place(int slot, int groups, int run) {
    int runs = slot / (8 * run), group = slot % (8 * run) / run;
    return group * 2 * groups + run * runs + slot % run;
}

/* The format sampled-windows has the same array, but each of its words says itself for which slot of the item
   it is. The low bits have the slot's column, counted from its window's first, and the bits above have the
   slot. Slots can stand in any order, as long as those in use are in the first mma. A word without a vector
   has the sign set and column 0. */
enum {
    SAMPLED_SLOT_SHIFT = 16,
    SAMPLED_SLOT_MASK = 0x7fff,
    SAMPLED_COLUMN_MASK = 0xffff,
    SAMPLED_NONE = INT32_MIN,
    SAMPLED_MAX_WINDOW = SAMPLED_COLUMN_MASK + 1, /* columns */
};

#endif
