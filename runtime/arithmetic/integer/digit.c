#include "arithmetic/integer/digit.h"
#include <inttypes.h>
#include <string.h>
#include "base/element.h"

static bool is_signed(mc_type type) { return mc_type_min(type) < 0; }

static bool has_sign(const digit_code *code, int digit) {
    if (code->mode == MC_DIGITS_BALANCED) return true;
    return code->mode == MC_DIGITS_TOP_SIGNED && digit == code->count - 1 && is_signed(code->type);
}

/* What OFFSET adds to a value. */
static int64_t offset_of(const digit_code *code) {
    return code->mode == MC_DIGITS_OFFSET ? -mc_type_min(code->type) : 0;
}

mc_status digit_code_make(mc_type type, mc_digits mode, int bits, digit_code *code, mc_diag *diag) {
    static const char *const names[] = {"top-signed", "balanced", "offset"};
    *code = (digit_code){.type = type, .mode = mode, .bits = bits};
    if (mc_type_is_real(type) || mc_type_bits(type) > 16)
        return mc_fail(diag, MC_CANNOT, "the packed format holds integers of at most 16 bits, the matrix %s",
                       mc_type_text(type));
    if ((unsigned)mode > MC_DIGITS_OFFSET) return mc_fail(diag, MC_USAGE, "no such digits: %d", (int)mode);
    code->count = (mc_type_bits(type) + bits - 1) / bits;
    if (mode == MC_DIGITS_TOP_SIGNED || (is_signed(type) && code->count > 1)) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%s digits are for signed values of several digits, the matrix holds %s",
                   names[mode], mc_type_text(type));
}

void digit_split(const digit_code *code, int64_t value, int8_t digits[DIGIT_MAX]) {
    int top = code->count - 1;
    value += offset_of(code);
    for (int i = 0; i < top; i++) {
        int64_t low = value & ((1 << code->bits) - 1);
        int64_t digit = has_sign(code, i) ? element_sign(low, code->bits) : low;
        digits[i] = (int8_t)digit;
        value = (value - digit) / (1 << code->bits);
    }
    digits[top] = (int8_t)value;
}

int64_t digit_join(const digit_code *code, const int8_t digits[DIGIT_MAX]) {
    int64_t value = 0;
    for (int i = code->count - 1; i >= 0; i--) {
        int64_t low = digits[i] & ((1 << code->bits) - 1);
        value = value * (1 << code->bits) + (has_sign(code, i) ? element_sign(low, code->bits) : low);
    }
    return value - offset_of(code);
}

/* All digits at their greatest. */
int64_t digit_most(const digit_code *code) {
    int64_t all = 0, type_most = mc_type_max(code->type);
    if (code->mode != MC_DIGITS_BALANCED) return type_most;
    for (int i = 0; i < code->count; i++) all = all * (1 << code->bits) + (1 << (code->bits - 1)) - 1;
    return all < type_most ? all : type_most;
}

int64_t mc_digits_most(mc_digits digits, int bits, mc_type type) {
    digit_code code;
    return digit_code_make(type, digits, bits, &code, NULL) == MC_OK ? digit_most(&code) : mc_type_max(type);
}

mc_status digit_check(const digit_code *code, const mc_vsparse *a, mc_diag *diag) {
    int64_t greatest = digit_most(code);
    if (greatest == mc_type_max(a->type)) return MC_OK;
    for (int64_t block = 0; block < a->row_blocks; block++)
        for (int64_t v = a->row_ptr[block]; v < a->row_ptr[block + 1]; v++)
            for (int r = 0; r < a->vec; r++)
                if (mc_vsparse_value(a, v, r) > greatest)
                    return mc_fail(diag, MC_CANNOT,
                                   "row %" PRId64 ", column %" PRId32 ": %" PRId64 " is beyond %" PRId64
                                   ", the greatest value with %d balanced digits of %d bits",
                                   block * a->vec + r, a->col_idx[v], mc_vsparse_value(a, v, r), greatest,
                                   code->count, code->bits);
    return MC_OK;
}

mc_digits mc_digits_of(const mc_kernel *kernel) {
    const char *name = mc_kernel_field_text(kernel, "digits");
    if (name && strcmp(name, "balanced") == 0) return MC_DIGITS_BALANCED;
    return name && strcmp(name, "offset") == 0 ? MC_DIGITS_OFFSET : MC_DIGITS_TOP_SIGNED;
}

/* -- As a code */

/* Whether values are stored as they are, whatever their bits. */
static bool is_whole(const value_code *code) { return code->unit == code->type; }

static digit_code digits_of(const value_code *code) {
    return (digit_code){code->type, (mc_digits)code->coding, mc_type_bits(code->unit), code->pieces};
}

static mc_status make(value_code *code, mc_diag *diag) {
    digit_code digits;
    mc_status status =
        digit_code_make(code->type, (mc_digits)code->coding, mc_type_bits(code->unit), &digits, diag);
    code->pieces = digits.count;
    code->ones = digits.mode == MC_DIGITS_OFFSET;
    return status;
}

static void split(const value_code *code, int64_t value, int64_t pieces[CODE_PIECES]) {
    const digit_code d = digits_of(code);
    int8_t digits[DIGIT_MAX];
    if (is_whole(code)) {
        pieces[0] = value;
        return;
    }
    digit_split(&d, value, digits);
    for (int i = 0; i < d.count; i++) pieces[i] = digits[i];
}

static int64_t join(const value_code *code, const int64_t pieces[CODE_PIECES]) {
    const digit_code d = digits_of(code);
    int8_t digits[DIGIT_MAX];
    if (is_whole(code)) return pieces[0];
    for (int i = 0; i < d.count; i++) digits[i] = (int8_t)pieces[i];
    return digit_join(&d, digits);
}

static int64_t most(const value_code *code) {
    const digit_code d = digits_of(code);
    return digit_most(&d);
}

static mc_status check(const value_code *code, const mc_vsparse *a, mc_diag *diag) {
    const digit_code d = digits_of(code);
    return digit_check(&d, a, diag);
}

static mc_coding of_kernel(const mc_kernel *kernel) { return (mc_coding)mc_digits_of(kernel); }

static mc_type unit(mc_type type, mc_type digits) { return (void)type, digits; }

const code_kind digit_kind = {of_kernel, unit, make, split, join, most, check};
