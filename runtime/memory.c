#include <inttypes.h>
#include <stdlib.h>
#include "memory.h"

void *mcrt_array(int64_t count, size_t size) {
    if (count < 0) return NULL;
    return calloc(count ? (size_t)count : 1, size);
}

int64_t mcrt_product(int64_t a, int64_t b) {
    int64_t product;
    if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product)) return -1;
    return product;
}

mc_status mcrt_no_memory(mc_diag *diag, int64_t count, const char *what) {
    if (count < 0) return mc_fail(diag, MC_NOMEM, "no memory: the number of %s overflows", what);
    return mc_fail(diag, MC_NOMEM, "no memory for %" PRId64 " %s", count, what);
}
