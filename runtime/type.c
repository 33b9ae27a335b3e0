#include <string.h>
#include "mcrt.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files and kernels hold little-endian integers");

static const struct {
    size_t bytes;
    const char *text;
} types[] = {
#define X(name, text, bytes, descr) {bytes, text},
    MC_TYPE_LIST(X)
#undef X
};

enum { TYPE_COUNT = sizeof types / sizeof types[0] };

size_t mc_type_bytes(mc_type type) { return types[type].bytes; }

const char *mc_type_text(mc_type type) { return types[type].text; }

mc_status mc_type_from_text(const char *text, mc_type *type, mc_diag *diag) {
    for (int i = 0; i < TYPE_COUNT; i++) {
        if (strcmp(text, types[i].text) != 0) continue;
        *type = (mc_type)i;
        return MC_OK;
    }
    return mc_fail(diag, MC_USAGE, "'%s' is not an element type: s8, s16, s32, s64, f16, bf16 or f32", text);
}

bool mc_type_is_real(mc_type type) { return type >= MC_F16; }

int64_t mc_type_max(mc_type type) { return INT64_MAX >> (64 - 8 * types[type].bytes); }

int64_t mc_type_min(mc_type type) { return -mc_type_max(type) - 1; }
