/* The order of the ring kernel, whose slots are those of windowed-bcrs. */
#include <stdlib.h>
#include "base/memory.h"
#include "formats/windowed_choose.h"
#include "ops/spmm/walk.h"

typedef struct ring_walker {
    const mc_vsparse *a;
    const mc_ring *ring;
    stride_choice choice; /* of a row block */
    slot_walk *walk;
    int64_t taken, room; /* slots */
} ring_walker;

static bool make_room(ring_walker *w) {
    if (w->taken + WINDOWED_SLOTS <= w->room) return true;
    int64_t room = 2 * w->room + 64 * WINDOWED_SLOTS;
    int64_t *vector = realloc(w->walk->vector, (size_t)room * sizeof *vector);
    if (!vector) return false;
    w->walk->vector = vector, w->room = room;
    return true;
}

/* An mma of a half takes neighbouring slots, in their order. One of a whole stride takes some of both groups
   of 8 in each of its steps. */
static bool take_stride(ring_walker *w, int64_t first, const chosen_stride *stride) {
    if (!make_room(w)) return false;
    for (int k = 0; k < WINDOWED_SLOTS; k++) {
        int64_t v = stride->slots[w->walk->depth == WINDOWED_SLOTS ? windowed_slot_of(k) : k];
        w->walk->vector[w->taken++] = v < 0 ? WALK_PADDING : first + v;
    }
    return true;
}

/* Strides are dealt out to the parts in turn. */
static bool take_block(ring_walker *w, int64_t block) {
    const mc_vsparse *a = w->a;
    int64_t first = a->row_ptr[block], count = a->row_ptr[block + 1] - first;
    const int64_t span = windowed_span(w->ring, a->cols, a->vectors, a->row_blocks);
    if (!windowed_choose(w->ring, span, a->col_idx + first, count, &w->choice)) return false;
    for (int part = 0; part < w->walk->parts; part++) {
        for (int64_t s = part; s < w->choice.count; s += w->walk->parts)
            if (!take_stride(w, first, &w->choice.items[s])) return false;
        w->walk->start[block * w->walk->parts + part + 1] = w->taken / w->walk->depth;
    }
    return true;
}

mc_status walk_ring(const mc_vsparse *a, size_t element_bytes, const mc_ring *ring, int depth,
                    slot_walk *walk, mc_diag *diag) {
    ring_walker w = {.a = a, .ring = ring, .walk = walk};
    *walk = (slot_walk){.depth = depth};
    mc_status status = windowed_check_ring(ring, diag);
    if (status != MC_OK) return status;
    if (ring->parts > 1)
        return mc_fail(diag, MC_CANNOT, "no order is known of thread blocks that share windows, here %d",
                       ring->parts);
    walk->parts = ring->split;
    walk->owned = ring->tile_n / (int64_t)element_bytes / ring->split;
    walk->start = mcrt_array(a->row_blocks * ring->split + 1, sizeof *walk->start);
    bool done = walk->start != NULL;
    for (int64_t b = 0; done && b < a->row_blocks; b++) done = take_block(&w, b);
    free(w.choice.items);
    free(w.choice.taken);
    return done ? MC_OK : mcrt_no_memory(diag, w.taken, "slots");
}
