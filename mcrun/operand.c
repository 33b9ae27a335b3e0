#include "operand.h"

int64_t operand_shape_or(int64_t given, const mc_kernel *kernel, const char *field, int64_t usual) {
    int64_t fixed = mc_kernel_field(kernel, field);
    return given > 0 ? given : fixed > 0 ? fixed : usual;
}

int64_t operand_tight(mc_type type, int64_t length) {
    return mc_type_bytes(type) == 0 ? length + length % 2 : length;
}

mc_status operand_check_ld(const operand_ld *ld, mc_diag *diag) {
    if (ld->value < ld->length)
        return mc_fail(diag, MC_USAGE, "%s is %lld, less than %s = %lld", ld->option, (long long)ld->value,
                       ld->row, (long long)ld->length);
    if (ld->unit == 0 || ld->value % ld->unit == 0) return MC_OK;
    long long next = (ld->value / ld->unit + 1) * ld->unit;
    if (ld->given)
        return mc_fail(diag, MC_USAGE,
                       "%s is %lld, not a multiple of the %lld that the kernel needs: %lld is one",
                       ld->option, (long long)ld->value, (long long)ld->unit, next);
    return mc_fail(
        diag, MC_USAGE,
        "with %s = %lld and no %s it is %lld, not a multiple of the %lld that the kernel needs: %s "
        "%lld is one",
        ld->row, (long long)ld->length, ld->option, (long long)ld->value, (long long)ld->unit, ld->option,
        next);
}
