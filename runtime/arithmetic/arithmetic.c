#include "arithmetic/arithmetic.h"

static const arithmetic *const of_kind[] = {[ELEMENT_INTEGER] = &integer_arithmetic,
                                            [ELEMENT_FLOAT] = &float_arithmetic,
                                            [ELEMENT_FINITE] = &float_arithmetic,
                                            [ELEMENT_ROUNDED] = &float_arithmetic};

const arithmetic *arithmetic_of(mc_type type) { return of_kind[element_rows[type].kind]; }

mc_status arithmetic_of_product(mc_type a, mc_type b, const arithmetic **which, mc_diag *diag) {
    *which = arithmetic_of(a);
    if (*which == arithmetic_of(b)) return MC_OK;
    return mc_fail(diag, MC_USAGE, "A is %s, B is %s: the reference multiplies integers, or floats",
                   mc_type_text(a), mc_type_text(b));
}

bool arithmetic_wants_scale(const arithmetic *of, mc_type type) {
    return of->scaled || !mc_type_is_real(type);
}
