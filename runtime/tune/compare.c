/* The memory of C and its guards after a launch, compared with what it must be. */
#include <string.h>
#include "tune/measurement.h"

/* C in MEMORY. */
static mc_dense c_in(const tune_operands *o, unsigned char *memory) {
    mc_dense c = o->c;
    c.data = memory + o->guard;
    return c;
}

static bool is_poison(const unsigned char *bytes, size_t count) {
    size_t i = 0;
    while (i < count && bytes[i] == TUNE_POISON) i++;
    return i == count;
}

static mc_status check_around(const tune_operands *o, const unsigned char *got, mc_diag *diag) {
    size_t row = (size_t)mc_type_size(o->c.type, o->c.ld),
           row_bytes = (size_t)mc_type_size(o->c.type, o->c.cols);
    const unsigned char *c = got + o->guard;
    if (!is_poison(got, o->guard)) return mc_fail(diag, MC_MISMATCH, "the kernel wrote in front of C");
    for (size_t i = 0; i < (size_t)o->c.rows; i++)
        if (!is_poison(c + i * row + row_bytes, row - row_bytes))
            return mc_fail(diag, MC_MISMATCH, "the kernel wrote C's gap in row %zu", i);
    if (is_poison(got + o->want_bytes - o->guard, o->guard)) return MC_OK;
    return mc_fail(diag, MC_MISMATCH, "the kernel wrote behind C");
}

mc_status tune_check_result(const tune_operands *o, unsigned char *got, mc_diag *diag) {
    const mc_dense is = c_in(o, got), least = c_in(o, o->want);
    mc_status status = MC_OK;
    if (o->most == NULL) {
        status = mc_dense_compare(&is, &least, diag);
    } else {
        const mc_dense most = c_in(o, o->most);
        status = mc_dense_within(&is, &least, &most, diag);
    }
    return status == MC_OK ? check_around(o, got, diag) : status;
}

mc_status tune_check_again(const tune_operands *o, unsigned char *first, unsigned char *second,
                           mc_diag *diag) {
    if (memcmp(first, second, o->want_bytes) == 0) return MC_OK;
    const mc_dense was = c_in(o, first), is = c_in(o, second);
    mc_status status = mc_dense_compare_named("a second launch: C", &is, &was, diag);
    if (status == MC_OK) status = check_around(o, second, diag);
    return status == MC_OK ? mc_fail(diag, MC_MISMATCH, "a second launch gave other bytes") : status;
}
