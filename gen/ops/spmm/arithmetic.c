/* Which arithmetic a point has: that of the kind of its values' types. */
#include "ops/spmm/arithmetic.h"
#include "ops/spmm/fields.h"
#include "parts/side.h"

spmm_arithmetic spmm_plan_arithmetic(const int64_t *point, bool gathers, bool exact,
                                     mc_complaints *complaints) {
    bool integer = side_is_integer((int)point[F_LHS]);
    spmm_arithmetic math = {
        .kind = integer ? &spmm_integers : &spmm_reals,
        .order = (spmm_order)point[F_ORDER],
        .vec = (int)point[F_VEC],
        .stride = (int)point[F_STRIDE],
        .k = point[F_K],
        .exact = exact,
    };
    math.kind->plan(point, gathers, &math, complaints);
    if (integer && !side_is_integer((int)point[F_RHS]))
        complain(complaints, F_RHS, "lhs = \"%s\" takes an integer, too, not \"%s\"", math.lhs, math.rhs);
    return math;
}
