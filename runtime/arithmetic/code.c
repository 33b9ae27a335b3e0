#include "arithmetic/code.h"
#include "arithmetic/arithmetic.h"

static const code_kind *kind_of(mc_type type) { return arithmetic_of(type)->code; }

mc_status code_make(mc_type type, mc_coding coding, mc_type unit, value_code *code, mc_diag *diag) {
    *code = (value_code){.type = type, .coding = coding, .unit = unit};
    return kind_of(type)->make(code, diag);
}

mc_type code_unit(mc_type type, mc_type digits) { return kind_of(type)->unit(type, digits); }

void code_split(const value_code *code, int64_t value, int64_t pieces[CODE_PIECES]) {
    kind_of(code->type)->split(code, value, pieces);
}

int64_t code_join(const value_code *code, const int64_t pieces[CODE_PIECES]) {
    return kind_of(code->type)->join(code, pieces);
}

int64_t code_most(const value_code *code) { return kind_of(code->type)->most(code); }

mc_status code_check(const value_code *code, const mc_vsparse *a, mc_diag *diag) {
    return kind_of(code->type)->check(code, a, diag);
}

mc_coding code_of_kernel(const mc_kernel *kernel) {
    mc_type type;
    if (mc_type_of(kernel, "lhs", &type, NULL) != MC_OK) return 0;
    return kind_of(type)->of_kernel(kernel);
}
