/* The fields of the family `spmm`, in the order of its schema (spmm.c), for those who look at a point. */
#ifndef MC_SPMM_FIELDS_H
#define MC_SPMM_FIELDS_H

#include "schema/family.h"
#include "ops/spmm/spmm.h"

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
};

enum { STANDARD_WINDOW = 128, STANDARD_STAGES = 4 };
enum { STACKING_AUTO, STACKING_OFF, STACKING_ON };

extern const char *const spmm_stagings[]; /* in the order of spmm_staging */

extern const mc_hint spmm_hints[]; /* hints.c */

/* check.c. The first complains of what can be said before the kernel's own plan is made, the second of what
   can be said only then. */
void spmm_check_fields(const int64_t *point, const spmm_plan *plan, mc_complaints *complaints);
void spmm_check_kernel(const int64_t *point, const spmm_plan *plan, mc_complaints *complaints);

#endif
