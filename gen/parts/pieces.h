/* What kernels of the family `values` are told of packed values, and how (gen/ops/values). The packer of the
   runtime writes it. */
#ifndef MC_PARTS_PIECES_H
#define MC_PARTS_PIECES_H

/* An entry of the array `pieces`, s16, one for each piece of a group:
   digit << DIGIT_SHIFT | slot * vec + row, or below 0, where the piece is no value's. */
enum {
    MC_PIECE_DIGIT_SHIFT = 12,
    MC_PIECE_PLACE_MASK = (1 << MC_PIECE_DIGIT_SHIFT) - 1,
    MC_PIECE_NONE = -1,
};

#endif
