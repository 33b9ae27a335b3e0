/* Which arithmetic a point has: that of the kind of its values' types. */
#include "ops/spmm/arithmetic.h"
#include "ops/spmm/fields.h"

spmm_arithmetic spmm_plan_arithmetic(const int64_t *point, bool gathers, bool exact,
                                     mc_complaints *complaints) {
    spmm_arithmetic math = {
        .kind = &spmm_integers,
        .order = (spmm_order)point[F_ORDER],
        .vec = (int)point[F_VEC],
        .stride = (int)point[F_STRIDE],
        .k = point[F_K],
        .exact = exact,
    };
    math.kind->plan(point, gathers, &math, complaints);
    return math;
}
