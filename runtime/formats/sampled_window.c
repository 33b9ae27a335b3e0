/* The order of an item's vectors in sampled-windows.
 *
 * The kernel has the window's columns in shared memory (gen/ops/sddmm/window/), and rows 2 q and 2 q + 1
 * of an mma are read together: without a bank conflict where one's column is even and the other's odd, or,
 * as tensor copies lay columns, where one's has bit 2 and the other's has not. So these are made pairs, as
 * far as they go, and the rest of either kind among themselves. Both kinds ascend, so that what is stored
 * together lies near by. A slot without a vector reads column 0. */
#include <inttypes.h>
#include "formats/sampled_window.h"

/* Slots of one kind, in order. */
typedef struct kind {
    int slots[SAMPLED_MAX_ITEM], count, taken;
} kind;

static void sort_slots(const sampled_item *item, const int32_t *columns, int rows, kind kinds[2]) {
    for (int none = 0; none < 2; none++)
        for (int slot = 0; slot < rows; slot++) {
            if ((columns[slot] < 0) != none) continue;
            kind *of = &kinds[none ? 0 : (columns[slot] - item->first_column) >> item->pair_bit & 1];
            of->slots[of->count++] = slot;
        }
}

static int take(kind *wanted, kind *other) {
    kind *from = wanted->taken < wanted->count ? wanted : other;
    return from->slots[from->taken++];
}

static int32_t entry_of(const sampled_item *item, int32_t column, int slot) {
    int32_t place = slot << SAMPLED_SLOT_SHIFT;
    return column < 0 ? place | SAMPLED_NONE : place | (int32_t)(column - item->first_column);
}

void sampled_put_entries(const sampled_item *item, const int32_t *columns, int32_t *entries) {
    kind kinds[2] = {{.count = 0}, {.count = 0}};
    int rows = (item->count + MC_SAMPLED_SLOTS - 1) / MC_SAMPLED_SLOTS * MC_SAMPLED_SLOTS;
    sort_slots(item, columns, rows, kinds);
    for (int row = 0; row < item->groups * MC_SAMPLED_SLOTS; row++) {
        int slot = row < rows ? take(&kinds[row % 2], &kinds[1 - row % 2]) : row;
        entries[sampled_index_place(row, item->groups)] = entry_of(item, columns[slot], slot);
    }
}

mc_status sampled_get_entries(const sampled_item *item, const int32_t *entries, int32_t *columns,
                              mc_diag *diag) {
    int slots = item->groups * MC_SAMPLED_SLOTS;
    for (int i = 0; i < slots; i++) columns[i] = -1;
    for (int i = 0; i < slots; i++) {
        if (entries[i] < 0) continue;
        int slot = entries[i] >> SAMPLED_SLOT_SHIFT;
        int64_t column = item->first_column + (entries[i] & SAMPLED_COLUMN_MASK);
        if (slot >= slots)
            return mc_fail(diag, MC_FORMAT, "item %" PRId64 " has a vector in slot %d of %d", item->number,
                           slot, slots);
        if (column >= item->cols)
            return mc_fail(diag, MC_FORMAT, "slot %d of item %" PRId64 " has column %" PRId64 " of %" PRId64,
                           slot, item->number, column, item->cols);
        columns[slot] = (int32_t)column;
    }
    return MC_OK;
}
