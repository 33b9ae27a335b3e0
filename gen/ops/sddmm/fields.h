/* The fields of the family `sddmm`, in the order of its schema, for those who look at a point. Their rows
   stand in fields.def, here and in the folders of solvers. Hashes and the numbers of variants go by this
   order, so that a new field comes last. Rows of newer solvers are FIELD(F_NAME, ...), and their names come
   from there. */
#ifndef MC_SDDMM_FIELDS_H
#define MC_SDDMM_FIELDS_H

#include "schema/family.h"

enum {
    F_LHS = FIELD_ARCH + 1,
    F_RHS,
    F_PRECISION_SPLIT,
    F_OUT,
    F_SCALE,
    F_MASK,
    F_VEC,
    F_ORDER,
    F_LAYOUT,
    F_METHOD,
    F_GROUPS,
    F_WARPS,
    F_TILE_K,
    F_TILE_N,
    F_TILE_ROWS,
    F_WINDOW,
    F_READS,
    F_PREFETCH,
    F_LHS_IN,
    F_PREFETCH_LHS,
    F_OVERLAP,
    F_BATCH,
    F_ALIGN,
    F_M,
    F_N,
    F_K,
    F_LDA,
    F_LDB,
    F_INTERLEAVE,
    F_STAGING,
    F_RUN,
    F_TURN,
#define FIELD(name, ...) name,
#include "ops/sddmm/csr/fields.def"
#include "ops/sddmm/panels/fields.def"
#undef FIELD
    SDDMM_FIELDS
};

/* The values of the field `method`, each of which is a solver. */
typedef enum sddmm_method {
#define METHOD(name, word, solver, kind, doc) SDDMM_##name,
#include "ops/sddmm/methods.def"
#undef METHOD
} sddmm_method;

extern const mc_hint sddmm_hints[]; /* hints.c */

#endif
