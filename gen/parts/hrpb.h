/* The format HRPB (Xiang et al., "cuTeSpMM: Accelerating Sparse-Dense Matrix Multiplication using GPU Tensor
   Cores", 2025, section 3.2): where the parts of a packed block lie. The packer writes them, kernels read
   them.

   A matrix is cut into row panels of TM rows, and the columns in which a panel has something, its active
   columns, into blocks of TK. A brick is 16 rows and 4 active columns of a block. A block holds its bricks
   with something in them, column of bricks by column, from the top to the bottom. */
#ifndef MC_PARTS_HRPB_H
#define MC_PARTS_HRPB_H

#include <stdint.h>

enum {
    HRPB_TILE_ROWS = 16, /* of a brick */
    HRPB_TILE_COLS = 4,
    HRPB_MOST_TM = 32,
    HRPB_MOST_TK = 64,
    HRPB_ALIGN = 16, /* bytes that a block's address and size are multiples of */
};

/* An entry of the array `virtual_panels`: the panel, its first block, the block behind its last one, and
   which part of the panel that is: the part's number, and above it the number of parts less 1. Parts of a
   panel lie one after another, in the order of their blocks. */
enum { HRPB_VIRTUAL_WORDS = 4, HRPB_PARTS_SHIFT = 16, HRPB_MOST_PARTS = 1 << 11 };

/* Offsets in bytes from where a block begins. Patterns come first, at 0. */
typedef struct hrpb_block {
    int brick_rows, brick_cols; /* TM / 16 and TK / 4 */
    int bricks;                 /* at most: their product. All three arrays have room for so many */
    int col_ptr;                /* u32[brick_cols + 1]: the first brick of each column of bricks */
    int rows;                   /* u32[bricks]: which of the brick_rows a brick is in */
    int values;                 /* of all bricks, one behind the other */
} hrpb_block;

static inline hrpb_block hrpb_block_of(int tile_rows, int tile_cols) {
    hrpb_block b = {.brick_rows = tile_rows / HRPB_TILE_ROWS, .brick_cols = tile_cols / HRPB_TILE_COLS};
    b.bricks = b.brick_rows * b.brick_cols;
    b.col_ptr = b.bricks * (int)sizeof(uint64_t);
    b.rows = b.col_ptr + (b.brick_cols + 1) * (int)sizeof(uint32_t);
    b.values = b.rows + b.bricks * (int)sizeof(uint32_t);
    return b;
}

/* Bytes of a block with NONZEROS values of VALUE_BYTES each. */
static inline int64_t hrpb_block_bytes(const hrpb_block *b, int64_t nonzeros, int value_bytes) {
    return (b->values + nonzeros * value_bytes + HRPB_ALIGN - 1) / HRPB_ALIGN * HRPB_ALIGN;
}

#endif
