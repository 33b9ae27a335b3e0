/* The order of the gather kernel, whose slots are those of strided-bcrs. */
#include <stdlib.h>
#include "base/memory.h"
#include "formats/stride.h"
#include "parts/fragment.h"
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

typedef struct gather_slots {
    const mc_gather_order *order;
    int64_t *start;  /* each row block's first slot, behind the heads; and the number of slots */
    int64_t *vector; /* of each slot */
} gather_slots;

static mc_status find_slots(const mc_vsparse *a, gather_slots *slots, mc_diag *diag) {
    const mc_gather_order *order = slots->order;
    const stride_layout layout = {
        .vec = a->vec, .stride = order->stride, .heads = order->heads ? order->split : 0};
    mc_status status = stride_starts(&layout, a, &slots->start, diag);
    if (status != MC_OK) return status;
    int64_t count = slots->start[a->row_blocks];
    slots->vector = mcrt_array(count, sizeof *slots->vector);
    if (!slots->vector) return mcrt_no_memory(diag, count, "slots");
    for (int64_t slot = 0; slot < count; slot++) slots->vector[slot] = WALK_PADDING;
    for (int64_t b = 0; b < a->row_blocks; b++)
        for (int64_t v = a->row_ptr[b]; v < a->row_ptr[b + 1]; v++)
            slots->vector[stride_slot(&layout, slots->start[b], b, v - a->row_ptr[b])] = v;
    return MC_OK;
}

/* The first slot of the stride that PART takes in its turn TURN; -1: it has no more. Part p begins with head
   p, if there are heads. Of the other strides it takes each `split`-th one, from its p-th on. */
static int64_t stride_of(const gather_slots *slots, int64_t block, int part, int64_t turn) {
    const mc_gather_order *order = slots->order;
    if (order->heads && turn == 0) return (block * order->split + part) * order->stride;
    int64_t turns_before = turn - (order->heads ? 1 : 0);
    int64_t slot = slots->start[block] + (turns_before * order->split + part) * order->stride;
    return slot < slots->start[block + 1] ? slot : -1;
}

/* Which slot of a group mma MMA has at place K. Of an mma of 8 E places lane t has places E t to E t + E - 1
   in one register, and those 4 E further on in another (PTX ISA, "Matrix Fragments for mma.m16n8k16" and its
   neighbours). Of a group it has eight neighbouring slots, and each mma takes the next 2 E of them. */
static int slot_of(int depth, int mma, int k) {
    int elements = depth / 8, of_reg = depth / 2;
    return k % of_reg / elements * MC_LANE_SLOTS + (2 * mma + k / of_reg) * elements + k % elements;
}

void walk_take_group(const int64_t *slots, int depth, int64_t *to) {
    for (int i = 0; i < WALK_GROUP; i++) *to++ = slots[slot_of(depth, i / depth, i % depth)];
}

static void take_slots(const gather_slots *slots, int64_t row_blocks, slot_walk *walk) {
    int64_t taken = 0, slot;
    for (int64_t b = 0; b < row_blocks; b++)
        for (int part = 0; part < walk->parts; part++) {
            walk->start[b * walk->parts + part] = taken / walk->depth;
            for (int64_t turn = 0; (slot = stride_of(slots, b, part, turn)) >= 0; turn++)
                for (int i = 0; i < slots->order->stride; i += WALK_GROUP, taken += WALK_GROUP)
                    walk_take_group(&slots->vector[slot + i], walk->depth, &walk->vector[taken]);
        }
    walk->start[row_blocks * walk->parts] = taken / walk->depth;
}

mc_status walk_gather(const mc_vsparse *a, const mc_gather_order *order, int depth, slot_walk *walk,
                      mc_diag *diag) {
    gather_slots slots = {.order = order};
    *walk = (slot_walk){.depth = depth, .parts = order->split};
    mc_status status = check_order(order, diag);
    if (status == MC_OK) status = find_slots(a, &slots, diag);
    if (status == MC_OK) {
        int64_t count = slots.start[a->row_blocks];
        walk->start = mcrt_array(a->row_blocks * order->split + 1, sizeof *walk->start);
        walk->vector = mcrt_array(count, sizeof *walk->vector);
        if (walk->start && walk->vector) take_slots(&slots, a->row_blocks, walk);
        else status = mcrt_no_memory(diag, count, "slots");
    }
    free(slots.start);
    free(slots.vector);
    return status;
}

void walk_free(slot_walk *walk) {
    free(walk->vector);
    free(walk->bricks);
    free(walk->start);
    free(walk->first_part);
    *walk = (slot_walk){0};
}
