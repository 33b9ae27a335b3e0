/* What mma.sync of integers and of floats share: where a warp's lanes have elements (ISA, "Matrix Fragments
 * for mma"). */
#ifndef SIM_MMA_OPERAND_H
#define SIM_MMA_OPERAND_H

#include "product.h"

#include <string.h>

enum { SIM_MMA_COLUMNS = 8 };

/* Inlined whatever it costs: the figures are constants then. */
#ifndef SIM_INLINE
#define SIM_INLINE static inline __attribute__((always_inline))
#endif

/* Lane = 4 * group + member. A register holds 32 / BITS elements of row `group` of A (in each block of 8
   rows), or of a column of B; members follow one another along k. So the 16 bytes of 4 lanes are a row's next
   elements. */
SIM_INLINE uint32_t sim_mma_element(const uint32_t *lanes, int bits, int row, int i) {
    const unsigned char *bytes = (const unsigned char *)lanes + 16 * row;
    uint16_t half;
    switch (bits) {
    case 4: return bytes[i / 2] >> i % 2 * 4 & 15;
    case 8: return bytes[i];
    case 16: memcpy(&half, bytes + 2 * i, sizeof half); return half;
    default: return lanes[4 * row + i];
    }
}

#endif
