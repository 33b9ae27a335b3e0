/* The fields of the families `gemm` and `gemm24`, for those who look at a point. Hashes and variants' numbers
   depend on their order, so that new ones come last. Their rows are in the files fields.def: the operators',
   and one in the folder of each solver; a family's own row is in gemm.c. */
#ifndef MC_GEMM_FIELDS_H
#define MC_GEMM_FIELDS_H

#include "schema/family.h"

enum {
    F_LHS = FIELD_ARCH + 1,
    F_RHS,
    F_OUT,
    F_SCALE,
    F_BIAS,
    F_ACT,
    F_LAYOUT,
    F_METHOD,
    F_TILE_M,
    F_TILE_N,
    F_STAGES,
    F_CONSUMERS,
    F_TURNS,
    F_STORE,
    F_GROUP,
    F_ALIGN,
    F_M,
    F_N,
    F_K,
    F_LDA,
    F_VEC = F_LDA, /* gemm24 has it in that one's place */
    F_LDB,
    F_LDC,
    F_B_SCALE,
    F_C_SCALE,
    F_ZERO,
    F_RESIDUAL,
    F_LDR,
    F_SPLIT,
    F_OVERLAP,
    F_EARLY,
    F_ONCE,
    F_WARP_M,
    F_WARP_N,
    F_SPAN,
    F_COPY,
    F_SUMS,
    F_BATCH,
    F_STREAM,
    GEMM24_FIELDS, /* gemm24 has those before it */
    F_BLOCK_SCALES = GEMM24_FIELDS,
    F_A_BLOCKS_MAJOR,
    GEMM_FIELDS
};

typedef enum gemm_method { GEMM_WGMMA, GEMM_MMA } gemm_method;

#endif
