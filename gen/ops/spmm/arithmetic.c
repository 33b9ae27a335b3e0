/* Which arithmetic a point has: that of the types of its two sides. */
#include "ops/spmm/arithmetic.h"
#include "ops/spmm/fields.h"
#include "parts/side.h"

/* Integers of A that are multiplied by floats are made floats. */
static bool is_real(const int64_t *point) {
    int lhs = (int)point[F_LHS], rhs = (int)point[F_RHS];
    if (side_is_integer(lhs) && side_is_integer(rhs)) return false;
    return !side_is_integer(lhs) || real_has(side_type_names[lhs]);
}

static const spmm_arithmetic_kind *kind_of(const int64_t *point) {
#define STAGING(name, word, solver, kind, doc) kind,
    static const spmm_arithmetic_kind *const kinds[] = {
#include "ops/spmm/stagings.def"
    };
#undef STAGING
    const spmm_arithmetic_kind *own = kinds[point[F_STAGING]];
    if (own != NULL) return own;
    return is_real(point) ? &spmm_reals : &spmm_integers;
}

spmm_arithmetic spmm_plan_arithmetic(const int64_t *point, bool gathers, bool exact,
                                     mc_complaints *complaints) {
    spmm_arithmetic math = {
        .kind = kind_of(point),
        .order = (spmm_order)point[F_ORDER],
        .vec = spmm_rows_of(point),
        .height = point[F_PANEL] > 1 ? "panel" : "vec",
        .stride = (int)point[F_STRIDE],
        .k = point[F_K],
        .exact = exact,
        .given_bits = point[F_HEADS] ? 8 : side_value_bits((int)point[F_LHS]),
    };
    math.kind->plan(point, gathers, &math, complaints);
    if (math.kind == &spmm_integers && !side_is_integer((int)point[F_RHS]))
        complain(complaints, F_RHS, "lhs = \"%s\" takes an integer, too, not \"%s\"", math.lhs, math.rhs);
    return math;
}
