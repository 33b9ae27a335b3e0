#include <stdio.h>
#include <string.h>
#include "base/memory.h"
#include "base/type.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files and kernels hold little-endian integers");

#define SIDE                        1
#define OUT                         1
#define NO                          0
#define BELOW_0(kind, is_signed)    (ELEMENT_##kind == ELEMENT_INTEGER && (is_signed))
#define MOST(kind, is_signed, bits) (INT64_MAX >> (63 + BELOW_0(kind, is_signed) - (bits)))
#define ROW(X, name, text, bits, bytes, npy, kind, is_signed, exponent, accumulator, tensor, round, side,    \
            side_at, out, out_at)                                                                            \
    {text,                                                                                                   \
     npy,                                                                                                    \
     bits,                                                                                                   \
     bytes,                                                                                                  \
     ELEMENT_##kind,                                                                                         \
     BELOW_0(kind, is_signed) ? -MOST(kind, is_signed, bits) - 1 : 0,                                        \
     MOST(kind, is_signed, bits),                                                                            \
     side,                                                                                                   \
     out,                                                                                                    \
     exponent,                                                                                               \
     MC_##accumulator,                                                                                       \
     TENSOR_##tensor},
const element_row element_rows[MC_TYPE_COUNT] = {MC_ELEMENT_LIST(ROW, )};
#undef ROW

int mc_type_bits(mc_type type) { return element_rows[type].bits; }

size_t mc_type_bytes(mc_type type) { return (size_t)element_rows[type].bytes; }

int64_t mc_type_size(mc_type type, int64_t count) {
    if (element_rows[type].bytes == 0 && count >= 0) return count / 2 + count % 2;
    return mcrt_product(count, element_rows[type].bytes);
}

const char *mc_type_text(mc_type type) { return element_rows[type].text; }

void type_list(bool (*wanted)(mc_type type, const void *user), const void *user, const char *last,
               char text[TYPES_TEXT]) {
    int left = 0;
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < MC_TYPE_COUNT; i++) left += wanted((mc_type)i, user);
    for (int i = 0; i < MC_TYPE_COUNT && used < TYPES_TEXT; i++) {
        if (!wanted((mc_type)i, user)) continue;
        const char *link = --left > 1 ? ", " : left == 1 ? last : "";
        used += (size_t)snprintf(text + used, TYPES_TEXT - used, "%s%s", element_rows[i].text, link);
    }
}

static bool any(mc_type type, const void *user) { return (void)type, (void)user, true; }

mc_status mc_type_from_text(const char *text, mc_type *type, mc_diag *diag) {
    char all[TYPES_TEXT];
    for (int i = 0; i < MC_TYPE_COUNT; i++) {
        if (strcmp(text, element_rows[i].text) != 0) continue;
        *type = (mc_type)i;
        return MC_OK;
    }
    type_list(any, NULL, " or ", all);
    return mc_fail(diag, MC_USAGE, "'%s' is not an element type: %s", text, all);
}

mc_status mc_type_of(const mc_kernel *kernel, const char *field, mc_type *type, mc_diag *diag) {
    const char *text = mc_kernel_field_text(kernel, field);
    if (text == NULL) return mc_fail(diag, MC_CANNOT, "the kernel has no field %s", field);
    return mc_type_from_text(text, type, diag);
}

bool mc_type_is_real(mc_type type) { return element_rows[type].kind != ELEMENT_INTEGER; }

int64_t mc_type_max(mc_type type) { return element_rows[type].most; }

int64_t mc_type_min(mc_type type) { return element_rows[type].least; }

mc_type type_of_elements(mc_type type) { return element_rows[type].kind >= ELEMENT_ROUNDED ? MC_F32 : type; }

int64_t type_leading(mc_type type, int64_t cols) {
    const int64_t bytes = (int64_t)mc_type_bytes(type),
                  unit = bytes > 0 ? LEADING_BYTES / bytes : 2 * LEADING_BYTES;
    return (cols + unit - 1) / unit * unit;
}

bool type_fills_bytes(mc_type type) {
    const element_row *row = &element_rows[type];
    return row->bytes == 0 || 8 * row->bytes == row->bits;
}
