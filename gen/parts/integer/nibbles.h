/* Which lane holds which element of an operand of an mma of 4-bit types: m16n8k64, and m16n8k32, which has
   the registers of the first 32 k. fragment.h has what all mma share. */
#ifndef MC_NIBBLES_H
#define MC_NIBBLES_H

#include "parts/fragment.h"

/* A register holds 8 nibbles along k, the first one in its lowest bits. As with 8 bits, A's registers 0 and 2
   are row g, 1 and 3 row g + 8, and B's column is g. */
enum { MC_NIBBLES = 8 };
static inline int frag4_a_k(int lane, int reg, int nibble) {
    return 32 * (reg >> 1) + MC_NIBBLES * frag_thread(lane) + nibble;
}
static inline int frag4_b_k(int lane, int reg, int nibble) {
    return 32 * reg + MC_NIBBLES * frag_thread(lane) + nibble;
}

/* Here a slot is its own k: slot 32 h + 8 t + i is nibble i of lane t's register h. So a lane has the same
   rows of B as with 8 bits. */
static inline int slot4_reg(int slot) { return slot / MC_GROUP_SLOTS; }
static inline int slot4_thread(int slot) { return slot % MC_GROUP_SLOTS / MC_NIBBLES; }
static inline int slot4_k(int slot) {
    return frag4_b_k(slot4_thread(slot), slot4_reg(slot), slot % MC_NIBBLES);
}

/* Which nibble is the value of row ROW and slot SLOT, among those for an mma of DEPTH, 32 or 64: lane after
   lane, DEPTH / 8 bytes a lane. With 32 that is row-major [8][32], as in SR-BCRS. */
static inline int slot4_value_place(int row, int slot, int depth) {
    int lane = 4 * row + slot4_thread(slot); /* the lane with frag_b_col(lane) == row */
    return lane * (depth / 4) + MC_NIBBLES * slot4_reg(slot) + slot % MC_NIBBLES;
}

/* The index shuffle (Magicube, section IV-B3, figure 7): at which position the index of slot SLOT stands. A
   transpose by bytes gives the columns of the rows read 0th to 3rd, and of those read 4th to 7th. Their
   nibbles are joined in the order 0, 4, 1, 5, 2, 6, 3, 7, and with these indices that is the order of slots
   again. */
static inline int64_t shuffled_slot(int64_t slot) {
    int64_t in_8 = slot % MC_NIBBLES;
    return slot - in_8 + in_8 % 2 * 4 + in_8 / 2;
}

#endif
