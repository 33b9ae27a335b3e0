#include <stdio.h>
#include <string.h>
#include "base/memory.h"
#include "base/type.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files and kernels hold little-endian integers");

#define SIDE 1
#define NO   0
#define ROW(X, name, text, bits, bytes, npy, kind, is_signed, exponent, accumulator, tensor, round, side,    \
            ...)                                                                                             \
    {text, npy, bits, bytes, ELEMENT_##kind, is_signed, side, exponent, MC_##accumulator, TENSOR_##tensor},
const element_row element_rows[MC_TYPE_COUNT] = {MC_ELEMENT_LIST(ROW, )};
#undef ROW

int mc_type_bits(mc_type type) { return element_rows[type].bits; }

size_t mc_type_bytes(mc_type type) { return (size_t)element_rows[type].bytes; }

int64_t mc_type_size(mc_type type, int64_t count) {
    if (element_rows[type].bytes == 0 && count >= 0) return count / 2 + count % 2;
    return mcrt_product(count, element_rows[type].bytes);
}

const char *mc_type_text(mc_type type) { return element_rows[type].text; }

enum { ALL_TYPES = 256 };

/* "s8, u8 or f32": all of them. */
static void list_types(char text[ALL_TYPES]) {
    size_t used = 0;
    for (int i = 0; i < MC_TYPE_COUNT && used < ALL_TYPES; i++)
        used += (size_t)snprintf(text + used, ALL_TYPES - used, "%s%s",
                                 i == 0                  ? ""
                                 : i + 1 < MC_TYPE_COUNT ? ", "
                                                         : " or ",
                                 element_rows[i].text);
}

mc_status mc_type_from_text(const char *text, mc_type *type, mc_diag *diag) {
    char all[ALL_TYPES];
    for (int i = 0; i < MC_TYPE_COUNT; i++) {
        if (strcmp(text, element_rows[i].text) != 0) continue;
        *type = (mc_type)i;
        return MC_OK;
    }
    list_types(all);
    return mc_fail(diag, MC_USAGE, "'%s' is not an element type: %s", text, all);
}

mc_status mc_type_of(const mc_kernel *kernel, const char *field, mc_type *type, mc_diag *diag) {
    const char *text = mc_kernel_field_text(kernel, field);
    if (text == NULL) return mc_fail(diag, MC_CANNOT, "the kernel has no field %s", field);
    return mc_type_from_text(text, type, diag);
}

bool mc_type_is_real(mc_type type) { return element_rows[type].kind != ELEMENT_INTEGER; }

static bool has_negative(mc_type type) { return !mc_type_is_real(type) && element_rows[type].is_signed; }

int64_t mc_type_max(mc_type type) { return INT64_MAX >> (63 + has_negative(type) - element_rows[type].bits); }

int64_t mc_type_min(mc_type type) { return has_negative(type) ? -mc_type_max(type) - 1 : 0; }

bool type_fills_bytes(mc_type type) {
    const element_row *row = &element_rows[type];
    return row->bytes == 0 || 8 * row->bytes == row->bits;
}
