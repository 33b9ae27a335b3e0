/* Block-sparse matrices as SciPy (BSR) and PyTorch (BSR, BSC) have them, and their CSR and CSC. */
#ifndef MCRT_BSR_H
#define MCRT_BSR_H

#include "matrix/csr.h"

/* What was read: blocks of ROWS x COLS; zeros, where it was no matrix of blocks. */
typedef struct mc_blocks {
    int64_t rows, cols;
} mc_blocks;

/* Whether PATH is of such a matrix: a directory with indptr.npy, crow_indices.npy or ccol_indices.npy, or
   FILE.safetensors, perhaps with :NAME behind, with a tensor crow_indices (NAME.crow_indices), and so on. */
MC_API bool mc_bsr_is(const char *path);

/* Reads its arrays: offsets, indices and values [blocks, rows, columns], of a CSR or CSC [nonzeros], and
   `shape`, the matrix's two sizes. By rows they are indptr, indices, data or crow_indices, col_indices,
   values; by columns ccol_indices, row_indices, values, where blocks of 1 x V may stand for V x 1, those of
   the transpose. CSR gets every element of every block, zeros too. MC_FORMAT for what no matrix gives, with
   the array and the place. */
MC_API mc_status mc_bsr_read(const char *path, mc_csr *csr, mc_blocks *blocks, mc_diag *diag);

#endif
