/* The fields of the family `sddmm`, in the order of its schema (sddmm.c), for those who look at a point. */
#ifndef MC_SDDMM_FIELDS_H
#define MC_SDDMM_FIELDS_H

#include "schema/family.h"
#include "ops/sddmm/sddmm.h"

extern const mc_family mc_family_sddmm;

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
};

extern const mc_hint sddmm_hints[]; /* hints.c */

/* dense.c */
void sddmm_dense_check(const int64_t *point, const sddmm_plan *plan, mc_complaints *complaints);
/* check.c */
/* Complains of FIELDS, which METHOD has not, where they are not as if nothing was said. */
void sddmm_check_unused(const int64_t *point, const char *method, const int *unused, size_t count,
                        mc_complaints *complaints);
void sddmm_check(const int64_t *point, const sddmm_plan *plan, mc_complaints *complaints);

#endif
