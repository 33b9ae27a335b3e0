/* Which pieces of k make a tile of C where the last tiles are dealt out along k (docs/gemm.md). */
#ifndef MCRT_GEMM_PIECES_H
#define MCRT_GEMM_PIECES_H

#include "ops/reference.h"

typedef struct gemm_pieces {
    mc_gemm_stream stream;
    int64_t m, n, stages; /* of C; of k, for a tile */
} gemm_pieces;

/* The end, in stages, of the piece of k that begins with stage AT of the sum of element (ROW, COLUMN). */
int64_t gemm_piece_end(const gemm_pieces *p, int64_t row, int64_t column, int64_t at);

#endif
