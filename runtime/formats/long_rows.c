#include "formats/long_rows.h"
#include <stdlib.h>
#include "base/memory.h"

static int64_t length_of(const mc_vsparse *a, int64_t row) { return a->row_ptr[row + 1] - a->row_ptr[row]; }

static int64_t count_longer(const mc_vsparse *a, int64_t most) {
    int64_t count = 0;
    for (int64_t row = 0; row < a->rows; row++) count += length_of(a, row) > most;
    return count;
}

/* Those of PARTS warps, of several thread blocks or of one, come behind what OF has. */
static void take(const long_row *all, int64_t count, int parts, bool pieces, long_rows *of) {
    for (int64_t i = 0; i < count; i++)
        if (all[i].sharing.parts == parts && (all[i].sharing.pieces > 1) == pieces)
            of->rows[of->count++] = all[i];
}

static void sort(const long_row *all, int64_t count, int warps, long_rows *found) {
    take(all, count, warps, true, found);
    for (int64_t i = 0; i < found->count; i++) found->pieces += found->rows[i].sharing.pieces;
    for (int parts = warps; parts >= 1; parts /= 2) take(all, count, parts, false, found);
}

mc_status long_rows_find(const mc_vsparse *a, int64_t most, int warps, long_row_share *share,
                         const void *form, long_rows *found, mc_diag *diag) {
    const int64_t count = count_longer(a, most);
    *found = (long_rows){0};
    if (count == 0) return MC_OK;
    long_row *all = mcrt_array(count, sizeof *all);
    found->rows = mcrt_array(count, sizeof *found->rows);
    if (all == NULL || found->rows == NULL) {
        free(all);
        long_rows_free(found);
        return mcrt_no_memory(diag, count, "long rows");
    }
    int64_t next = 0;
    for (int64_t row = 0; row < a->rows && next < count; row++)
        if (length_of(a, row) > most) all[next++] = (long_row){row, share(form, length_of(a, row))};
    sort(all, count, warps, found);
    free(all);
    return MC_OK;
}

void long_rows_free(long_rows *found) {
    free(found->rows);
    *found = (long_rows){0};
}
