/* bitmap-bcrs, for kernels that expand A into dense tiles: which of 32 columns have a vector is a word of
   bits, and the vectors' values lie one after another without padding.
     masks   s32[(row_blocks * words + 64) * 2]  row block by row block, a pair for each 32 columns: the
                                                number of their first vector, and their bits: bit i says that
                                                column 32 w + i has a vector. Columns are padded to whole 128,
                                                so that `words` is a multiple of 4; padding has no bits.
                                                Behind all are 64 pairs of the number of vectors and 0, which
                                                kernels read that load ahead
     values  lhs[bytes]                         vectors * vec elements as they are, a vector's one after
                                                another; zeros up to a multiple of 16 bytes, and 32 more
   Vectors are counted over all row blocks, in the order of columns inside each. Elements have 8 bits, and vec
   is a multiple of 8. */
#ifndef MCRT_BITMAP_H
#define MCRT_BITMAP_H

#include "formats/pack.h"

/* MC_CANNOT for other elements and vectors, and where vectors or masks leave s32. PACKED is the caller's to
   free. */
mc_status bitmap_pack(const mc_vsparse *a, mc_packed *packed, mc_diag *diag);
/* Puts A's values where bitmap_pack would. MC_FORMAT, and PACKED as before: it is not of A's pattern. */
mc_status bitmap_pack_values(const mc_vsparse *a, mc_packed *packed, mc_diag *diag);
/* The way back; TYPE, VEC, ROWS and COLS are the matrix's. Checks everything it reads: MC_FORMAT, with the
   array and the place, for what no matrix gives, MC_USAGE for a shape that none has. A is the caller's to
   free; it is empty where this fails. */
mc_status bitmap_unpack(const mc_packed *packed, mc_type type, int vec, int64_t rows, int64_t cols,
                        mc_vsparse *a, mc_diag *diag);

#endif
