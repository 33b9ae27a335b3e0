/* Patterns as graphs, finite elements and other unstructured matrices have them. Same arguments, same matrix,
   on every machine. All functions give MC_USAGE where the arguments are of no such matrix, and MC_NOMEM; *CSR
   is then zeroed. Rows and columns are at most INT32_MAX. */
#ifndef MCRT_UNSTRUCTURED_H
#define MCRT_UNSTRUCTURED_H

#include "matrix/csr.h"

/* How row lengths are drawn: by the power law of columns, or from 1 to about 2 degree, all alike often. */
typedef enum mc_row_law { MC_ROWS_POWER, MC_ROWS_LEVEL } mc_row_law;

/* A graph by given expected degrees (Chung and Lu, "Connected components in random graphs with given
   expected degree sequences", 2002): of n columns the k-th most popular one is drawn with a probability as
   k^(-1 / (exponent - 1)), so that the number of columns with d nonzeros falls as d^-exponent. Which column
   is the k-th is drawn, too. The columns of a row are distinct. */
typedef struct mc_power_law {
    int64_t rows, cols;
    double degree;   /* nonzeros of a row, on average: at most half of the columns, rounded up */
    double exponent; /* 1.5 to 100 */
    mc_row_law row_law;
    uint64_t seed;
} mc_power_law;
MC_API mc_status mc_csr_generate_power(const mc_power_law *pattern, mc_csr *csr, mc_diag *diag);

/* Which nodes a node of a grid shares elements with: all around it (9 or 27 with itself, as bilinear and
   trilinear elements), or those along the axes (5 or 7, as finite differences). */
typedef enum mc_stencil { MC_STENCIL_BOX, MC_STENCIL_STAR } mc_stencil;

/* A matrix of finite elements on a grid: each node has `dof` unknowns, its neighbours are numbered x first,
   and a nonzero is there for each two unknowns of neighbours, so that nonzeros come in blocks of
   dof x dof. A node is its own neighbour. */
typedef struct mc_mesh {
    int64_t nodes[3]; /* along x, y, z; a grid of two dimensions has 1 along z */
    int64_t dof;
    mc_stencil stencil;
} mc_mesh;
MC_API mc_status mc_csr_generate_mesh(const mc_mesh *pattern, mc_csr *csr, mc_diag *diag);

/* Dense blocks: the matrix is cut into blocks of block_rows x block_cols, and each one is full, or as full as
   the matrix's edge leaves it, with the probability 1 - sparsity, and else empty. */
typedef struct mc_dense_blocks {
    int64_t rows, cols, block_rows, block_cols;
    double sparsity;
    uint64_t seed;
} mc_dense_blocks;
MC_API mc_status mc_csr_generate_blocks(const mc_dense_blocks *pattern, mc_csr *csr, mc_diag *diag);

/* A single row, drawn, has as many nonzeros as all others together. Those have `degree` on average, in
   columns all alike often. */
typedef struct mc_heavy_row {
    int64_t rows, cols;
    double degree; /* at most cols / (rows - 1), so that the row has columns enough */
    uint64_t seed;
} mc_heavy_row;
MC_API mc_status mc_csr_generate_heavy(const mc_heavy_row *pattern, mc_csr *csr, mc_diag *diag);

#endif
