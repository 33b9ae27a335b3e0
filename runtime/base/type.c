#include <string.h>
#include "base/memory.h"
#include "base/type.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files and kernels hold little-endian integers");

static const struct {
    const char *text;
    int bits;
    size_t bytes;
} types[MC_TYPE_COUNT] = {
#define X(name, text, bits, bytes, descr) {text, bits, bytes},
    MC_TYPE_LIST(X)
#undef X
};

int mc_type_bits(mc_type type) { return types[type].bits; }

size_t mc_type_bytes(mc_type type) { return types[type].bytes; }

int64_t mc_type_size(mc_type type, int64_t count) {
    if (types[type].bytes == 0 && count >= 0) return count / 2 + count % 2;
    return mcrt_product(count, (int64_t)types[type].bytes);
}

const char *mc_type_text(mc_type type) { return types[type].text; }

mc_status mc_type_from_text(const char *text, mc_type *type, mc_diag *diag) {
    for (int i = 0; i < MC_TYPE_COUNT; i++) {
        if (strcmp(text, types[i].text) != 0) continue;
        *type = (mc_type)i;
        return MC_OK;
    }
    return mc_fail(diag, MC_USAGE,
                   "'%s' is not an element type: s or u with 4, 8, 12 or 16, s32, s64, f16, bf16 or f32",
                   text);
}

mc_status mc_type_of(const mc_kernel *kernel, const char *field, mc_type *type, mc_diag *diag) {
    const char *text = mc_kernel_field_text(kernel, field);
    if (text == NULL) return mc_fail(diag, MC_CANNOT, "the kernel has no field %s", field);
    return mc_type_from_text(text, type, diag);
}

bool mc_type_is_real(mc_type type) { return type >= MC_F16; }

static bool is_signed(mc_type type) { return types[type].text[0] == 's'; }

int64_t mc_type_max(mc_type type) { return INT64_MAX >> (63 + is_signed(type) - types[type].bits); }

int64_t mc_type_min(mc_type type) { return is_signed(type) ? -mc_type_max(type) - 1 : 0; }
