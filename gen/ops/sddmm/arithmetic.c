/* Which arithmetic a point has: that of the kind of its values' types. */
#include "ops/sddmm/arithmetic.h"
#include "ops/sddmm/fields.h"
#include "parts/emit.h"
#include "parts/side.h"

sddmm_arithmetic sddmm_arithmetic_of(const int64_t *point, bool by_rows, mc_complaints *complaints) {
#define METHOD(name, word, solver, kind, doc) kind,
    static const sddmm_arithmetic_kind *const kinds[] = {
#include "ops/sddmm/methods.def"
    };
#undef METHOD
    const sddmm_arithmetic_kind *own = kinds[point[F_METHOD]];
    bool integer = side_is_integer((int)point[F_LHS]);
    sddmm_arithmetic a = {.kind = own != NULL ? own : integer ? &sddmm_integers : &sddmm_reals};
    a.kind->plan(point, by_rows, &a, complaints);
    if (a.kind == &sddmm_integers && !side_is_integer((int)point[F_RHS]))
        complain(complaints, F_RHS, "lhs = \"%s\" takes an integer, too, not \"%s\"", a.lhs.name, a.rhs.name);
    return a;
}

sddmm_multiplier sddmm_declare_multiplier(mc_builder *b, const sddmm_arithmetic *a, bool joins) {
    sddmm_multiplier m = {.b = b, .arithmetic = a};
    if (joins) b32_array(b, "join", 2, m.join);
    a->kind->emit->declare(&m);
    return m;
}
