#include "arithmetic/arithmetic.h"

static const arithmetic *const of_kind[] = {[ELEMENT_INTEGER] = &integer_arithmetic,
                                            [ELEMENT_FLOAT] = &float_arithmetic,
                                            [ELEMENT_FINITE] = &float_arithmetic,
                                            [ELEMENT_ROUNDED] = &float_arithmetic,
                                            [ELEMENT_CUT] = &float_arithmetic};

const arithmetic *arithmetic_of(mc_type type) { return of_kind[element_rows[type].kind]; }

/* Values of both in f32, and their products, are exact. */
static bool is_made_float(mc_type a, mc_type b) {
    return arithmetic_of(a) == &integer_arithmetic && mc_type_bits(a) <= 8 &&
           arithmetic_of(b) == &float_arithmetic;
}

const arithmetic *arithmetic_of_sides(mc_type a, mc_type b) {
    return arithmetic_of(a) == arithmetic_of(b) || is_made_float(a, b) ? arithmetic_of(b) : NULL;
}

mc_status arithmetic_of_product(mc_type a, mc_type b, const arithmetic **which, mc_diag *diag) {
    *which = arithmetic_of_sides(a, b);
    if (*which != NULL) return MC_OK;
    return mc_fail(
        diag, MC_USAGE,
        "A is %s, B is %s: the reference multiplies integers, floats, or integers of at most 8 bits "
        "by floats",
        mc_type_text(a), mc_type_text(b));
}

bool arithmetic_wants_scale(const arithmetic *of, mc_type type) {
    return of->scaled || !mc_type_is_real(type);
}
