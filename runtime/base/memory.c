#include <inttypes.h>
#include <stdlib.h>
#include "base/memory.h"

void *mcrt_array(int64_t count, size_t size) {
    if (count < 0) return NULL;
    return calloc(count ? (size_t)count : 1, size);
}

int64_t mcrt_product(int64_t a, int64_t b) {
    int64_t product;
    if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product)) return -1;
    return product;
}

void *mcrt_room(void *items, size_t count, size_t *room, size_t size) {
    enum { FIRST = 64 };
    size_t wanted = *room == 0 ? FIRST : 2 * *room, bytes;
    if (count < *room) return items;
    if (__builtin_mul_overflow(wanted, size, &bytes)) return NULL;
    void *moved = realloc(items, bytes);
    if (moved != NULL) *room = wanted;
    return moved;
}

mc_status mcrt_no_memory(mc_diag *diag, int64_t count, const char *what) {
    if (count < 0) return mc_fail(diag, MC_NOMEM, "no memory: the number of %s overflows", what);
    return mc_fail(diag, MC_NOMEM, "no memory for %" PRId64 " %s", count, what);
}
