/* Kernels of the dense product's solver wgmma (gen/parts/wgmma) in all that the parts for asynchronous tensor
 * cores can do, also what no spec asks for yet: clusters, A through registers or 2:4 sparse, other swizzles, C += A B.
 * C [m][n] = A [m][k] B, where B lies as [n][k], or as [k][n]. They are there for the parts' tests. */
#ifndef TESTS_GEN_PARTS_GEMM_H
#define TESTS_GEN_PARTS_GEMM_H

#include "parts/tensor_copy.h"
#include "parts/warpgroup.h"
#include "text/text.h"

typedef struct gemm_config {
    const char *name;
    const char *lhs, *rhs, *sums; /* a wgmma_form */
    const char *out;              /* "f32", "s32", "f16": of f32 sums, or of f16 sums as they are */
    int tile_m, tile_n;           /* of C; of a thread block, with turns of a consumer */
    int stages, consumers;
    int cluster;      /* thread blocks one below the other, which share B; 0: there is none */
    int split;        /* thread blocks of a cluster that share a tile, each with a part of k; 0: none */
    bool turns;       /* two consumers take tiles in turn (ping-pong); else they share them */
    bool a_registers; /* A goes through registers */
    bool a_mn_major, b_mn_major; /* A lies as [k][m], B as [k][n] */
    int span;                    /* of the swizzle of A and B: 64, 32, 16 for none; 0: 128 */
    bool sparse;                 /* A is 2:4 sparse, packed (packed24.h) */
    bool direct;                 /* C is stored from registers */
    bool adds;                   /* C += A B */
} gemm_config;

enum { GEMM_GROUP = 4 };

extern const gemm_config gemm_goldens[];
extern const size_t gemm_golden_count;

/* Configuration INDEX of a sweep over types, tiles of 64 to 256 columns, 2 to 6 stages, clusters, and ways to
   share tiles. Its name stays until the next call. False: there are no more. */
bool gemm_of_sweep(size_t index, gemm_config *c);

shared_tile gemm_lhs(const gemm_config *c);
shared_tile gemm_rhs(const gemm_config *c);
int gemm_out_bytes(const gemm_config *c);
/* Columns of C that a warpgroup stores at a time. */
int gemm_result_columns(const gemm_config *c);
/* Rows of a box of C. */
int gemm_store_rows(const gemm_config *c);
/* Bytes of dynamic shared memory, and threads. */
int gemm_shared(const gemm_config *c);
int gemm_threads(const gemm_config *c);

/* The kernel as PTX with the entry NAME; NULL: the builder found a mistake, which is on stderr. Its
 * parameters are c, values and meta (u64), m, n, k and ldc (s32), and the tensor maps a_map, b_map and c_map. */
char *gemm_ptx(const gemm_config *c, const char *name);

#endif
