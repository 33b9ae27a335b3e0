/* The fields of the family `spmm`, for those who look at a point. Hashes and variants' numbers depend on
   their order, so that new ones come last. Their rows are in the files fields.def: the operator's, the
   arithmetic's, and one in the folder of each solver. Rows of newer solvers are FIELD(F_NAME, ...), and their
   names come from there. */
#ifndef MC_SPMM_FIELDS_H
#define MC_SPMM_FIELDS_H

#include "schema/family.h"

enum {
    F_LHS = FIELD_ARCH + 1,
    F_RHS,
    F_OUT,
    F_SCALE,
    F_BIAS,
    F_ACT,
    F_SUM,
    F_VEC,
    F_STRIDE,
    F_TILE_N,
    F_WARPS,
    F_SPLIT,
    F_PREFETCH,
    F_DIGITS,
    F_PRECISION_SPLIT,
    F_STACKING,
    F_MMA,
    F_SHUFFLE,
    F_STAGING,
    F_PADDING,
    F_HEADS,
    F_ORDER,
    F_WINDOW,
    F_STAGES,
    F_RESIDENT,
    F_OVERLAP,
    F_BATCH,
    F_ALIGN,
    F_M,
    F_N,
    F_K,
    F_LDB,
    F_LDC,
    F_B_SCALE,
    F_C_SCALE,
    F_ZERO,
    F_RESIDUAL,
    F_LDR,
    F_C_MAJOR,
    F_TOGETHER,
    F_PANEL,
    F_SHARE,
    F_VALUES,
#define FIELD(name, ...) name,
#include "ops/spmm/csr/fields.def"
#include "ops/spmm/hrpb/fields.def"
    F_BETA,
    F_REORDER,
#include "ops/spmm/csr/stream_fields.def"
#include "ops/spmm/csr/segmented_fields.def"
#include "ops/spmm/csr/columns_fields.def"
#include "ops/spmm/ring/parts_fields.def"
#include "ops/spmm/expand/fields.def"
#include "ops/spmm/fragments/fields.def"
#undef FIELD
};

/* The solvers that multiply dense tiles of A, in rows of fields that all of them have. */
#define SPMM_TILED "expand fragments"

enum { STANDARD_WINDOW = 128, STANDARD_STAGES = 4, STANDARD_SHARE = 2 };
typedef enum spmm_stacking { STACKING_AUTO, STACKING_OFF, STACKING_ON } spmm_stacking;
typedef enum spmm_staging {
#define STAGING(name, word, solver, kind, doc) SPMM_##name,
#include "ops/spmm/stagings.def"
#undef STAGING
} spmm_staging;
extern const char *const spmm_stagings[]; /* their words; problem.c */

/* Rows of A that a warp multiplies together: those of a nonzero vector, or of a panel. */
static inline int spmm_rows_of(const int64_t *point) {
    return (int)(point[F_PANEL] > 1 ? point[F_PANEL] : point[F_VEC]);
}

#endif
