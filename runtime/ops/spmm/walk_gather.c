/* The order of the gather kernel, whose slots are those of strided-bcrs. */
#include <stdlib.h>
#include "base/memory.h"
#include "formats/stride.h"
#include "ops/spmm/walk.h"

enum { MOST_PARTS = 32 };

static mc_status check_order(const mc_gather_order *order, mc_diag *diag) {
    if (order->stride < WALK_GROUP || order->stride % WALK_GROUP != 0)
        return mc_fail(diag, MC_USAGE, "strides of %d slots: must be a multiple of %d", order->stride,
                       WALK_GROUP);
    if (order->split < 1 || order->split > MOST_PARTS)
        return mc_fail(diag, MC_USAGE, "%d warps share a row block: must be 1 to %d", order->split,
                       MOST_PARTS);
    return MC_OK;
}

/* Part p begins with head p, if there are heads. Of the other strides it takes each `parts`-th one, from its
   p-th on. */
static int64_t group_of(const slot_walk *walk, int64_t block, int part, int64_t group) {
    int64_t groups = walk->stride / WALK_GROUP, turn = group / groups, rest = group % groups * WALK_GROUP;
    if (walk->heads && turn == 0) return (block * walk->parts + part) * walk->stride + rest;
    int64_t turns_before = turn - (walk->heads ? 1 : 0);
    int64_t slot = walk->start[block] + (turns_before * walk->parts + part) * walk->stride;
    return slot < walk->start[block + 1] ? slot + rest : -1;
}

/* Lane t has eight neighbouring slots: four of the first mma, and four of the second. Of an mma lane t has
   places 2 t and 2 t + 1, 2 t + 8 and 2 t + 9 (PTX ISA, "Matrix Fragments for mma.m16n8k16"). */
static int slot_of(int mma, int k) { return k % 8 / 2 * 8 + mma * 4 + k / 8 * 2 + k % 2; }

static mc_status find_vectors(const stride_layout *layout, const mc_vsparse *a, slot_walk *walk,
                              mc_diag *diag) {
    int64_t slots = walk->start[a->row_blocks];
    walk->vector = mcrt_array(slots, sizeof *walk->vector);
    if (!walk->vector) return mcrt_no_memory(diag, slots, "slots");
    for (int64_t slot = 0; slot < slots; slot++) walk->vector[slot] = WALK_PADDING;
    for (int64_t b = 0; b < a->row_blocks; b++)
        for (int64_t v = a->row_ptr[b]; v < a->row_ptr[b + 1]; v++)
            walk->vector[stride_slot(layout, walk->start[b], b, v - a->row_ptr[b])] = v;
    return MC_OK;
}

mc_status walk_gather(const mc_vsparse *a, const mc_gather_order *order, slot_walk *walk, mc_diag *diag) {
    const stride_layout layout = {
        .vec = a->vec, .stride = order->stride, .heads = order->heads ? order->split : 0};
    *walk = (slot_walk){.parts = order->split,
                        .stride = order->stride,
                        .heads = order->heads,
                        .group = group_of,
                        .slot = slot_of};
    mc_status status = check_order(order, diag);
    if (status == MC_OK) status = stride_starts(&layout, a, &walk->start, diag);
    return status == MC_OK ? find_vectors(&layout, a, walk, diag) : status;
}

void walk_free(slot_walk *walk) {
    free(walk->vector);
    free(walk->start);
    *walk = (slot_walk){0};
}
