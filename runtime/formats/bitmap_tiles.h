/* bitmap-tiles, for kernels that expand A into dense tiles: pairs of columns of A in the order in which a
   thread block wants them. A is cut into tiles of R rows, R / vec row blocks, and a tile into stages of 128
   columns, each of four steps of 32, 16 pairs of columns (2 i, 2 i + 1). Columns are padded to whole stages,
   and the row blocks to whole tiles. A row block has a slot for a pair if one of its columns has a vector.
     starts  s32[tiles * stages + 1]      tile by tile, for each stage the number of its first slot in
                                          `values`; the last one is the number of all slots
     masks   s32[tiles * stages * 4 * (R / vec)]
                                          tile by tile, stage by stage, step by step, a word for each of the
                                          tile's row blocks. Bit i of the low 16 says that pair i of the step
                                          has a slot; the high 16 are the number of the first slot, counted
                                          from the stage's start
     values  lhs[slots * 2 * vec]         slots in the order of the words, and of pairs inside each. A slot
                                          holds, row by row, the element of the pair's first column and that
                                          of the second: rows 0 to 7 are 16 bytes. A column without a vector
                                          is zeros
   Elements have 8 bits, vec is 8 or 16, and R a multiple of it, at most 512. */
#ifndef MCRT_BITMAP_TILES_H
#define MCRT_BITMAP_TILES_H

#include "formats/pack.h"

/* ROWS is R. MC_CANNOT for other elements, vectors and tiles, and where vectors or masks leave s32. PACKED is
   the caller's to free. */
mc_status bitmap_tiles_pack(const mc_vsparse *a, int64_t rows, mc_packed *packed, mc_diag *diag);
/* Puts A's values where bitmap_tiles_pack would. MC_FORMAT, and PACKED as before: its slots are not those of
   A's pattern. */
mc_status bitmap_tiles_pack_values(const mc_vsparse *a, int64_t rows, mc_packed *packed, mc_diag *diag);
/* The way back; TYPE, VEC, ROWS and COLS are the matrix's, TILE_ROWS is R. A slot gives a vector for each of
   its columns that is not all zeros, and for both where both are. So A is the matrix that was packed, but not
   always in its vectors of zeros: one beside another vector is lost, and one alone is joined by another one.
   Packing A gives the same arrays again. Checks everything it reads: MC_FORMAT, with the array and the place,
   for what no matrix gives, MC_USAGE for a shape that none has. A is the caller's to free; it is empty where
   this fails. */
mc_status bitmap_tiles_unpack(const mc_packed *packed, mc_type type, int vec, int64_t tile_rows, int64_t rows,
                              int64_t cols, mc_vsparse *a, mc_diag *diag);

#endif
