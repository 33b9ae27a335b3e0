/* Which arithmetic a point has: that of the kind of its values' types. */
#include "ops/sddmm/arithmetic.h"
#include "ops/sddmm/fields.h"
#include "parts/emit.h"
#include "parts/side.h"

static void check_kind(const int64_t *point, int field, mc_complaints *complaints) {
    if (!side_is_integer((int)point[field]))
        complain(complaints, field, "\"%s\": an SDDMM multiplies integers", side_type_names[point[field]]);
}

sddmm_arithmetic sddmm_arithmetic_of(const int64_t *point, bool by_rows, mc_complaints *complaints) {
    sddmm_arithmetic a = {.kind = &sddmm_integers};
    a.kind->plan(point, by_rows, &a, complaints);
    check_kind(point, F_LHS, complaints);
    check_kind(point, F_RHS, complaints);
    return a;
}

sddmm_multiplier sddmm_declare_multiplier(mc_builder *b, const sddmm_arithmetic *a, bool joins) {
    sddmm_multiplier m = {.b = b, .arithmetic = a};
    if (joins) b32_array(b, "join", 2, m.join);
    a->kind->emit->declare(&m);
    return m;
}
