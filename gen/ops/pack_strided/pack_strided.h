/* The family `pack_strided`: columns, and which vector each slot holds, of strided-bcrs and
 * strided-bcrs-int4, out of a pattern in device memory. No operator of the runtime: matrices made from
 * device memory launch it (docs/matrices.md). Values are put in place by the family `values`.
 *
 *   pack_strided.c  schema, contract, names, the family
 *   kernel.c        the kernel */
#ifndef MC_PACK_STRIDED_FAMILY_H
#define MC_PACK_STRIDED_FAMILY_H

#include "parts/segments.h"

extern const mc_family mc_family_pack_strided;

typedef enum strided_ones { STRIDED_NO_ONES, STRIDED_BYTES, STRIDED_HALVES } strided_ones;

/* The fields, in the order of the schema. */
enum { F_INDEX = FIELD_ARCH + 1, F_ONES, F_GROUP, F_HOLD };

enum { STRIDED_MAX_HOLD = 8 };

typedef struct strided_plan {
    bool shuffled;
    strided_ones ones;
    int group, hold;
} strided_plan;

void strided_emit(const void *plan, mc_builder *b);

#endif
