#include "formats/bitmap_words.h"
#include <inttypes.h>
#include "formats/stride.h"

enum { VEC_UNIT = 8 };

mc_status bitmap_check_elements(const char *format, mc_type type, int vec, mc_diag *diag) {
    if (mc_type_bits(type) != 8)
        return mc_fail(diag, MC_CANNOT, "%s holds elements of 8 bits, the matrix %s", format,
                       mc_type_text(type));
    if (vec >= VEC_UNIT && vec <= MC_MAX_VEC && vec % VEC_UNIT == 0) return MC_OK;
    return mc_fail(diag, MC_CANNOT,
                   "%s holds vectors of a multiple of %d elements up to %d, the matrix has %d", format,
                   VEC_UNIT, MC_MAX_VEC, vec);
}

mc_status bitmap_check_vectors(int64_t vectors, mc_diag *diag) {
    if (vectors <= INT32_MAX) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%" PRId64 " vectors: their numbers leave s32", vectors);
}
