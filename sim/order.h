/* What strong accesses and fences order (ISA, "Memory Consistency Model": release and acquire patterns,
 * synchronises-with, observation order).
 *
 * A release pattern is a release, or a fence and a later strong write by the same thread. An acquire pattern
 * is an acquire, or a strong read and a later fence by the same thread. If the read observes the write, or an
 * atomic of a chain that began with it, the acquiring thread knows what the releasing one knew and did.
 * Between blocks both must have at least the scope .gpu. Only kernels with fences, acquires or releases have
 * any of this. */
#ifndef SIM_ORDER_H
#define SIM_ORDER_H

#include "known.h"

/* A word that strong accesses meet at. */
struct sim_place {
    uint64_t address;       /* 0: none */
    sim_record block;       /* the block whose threads the view is about */
    struct sim_view view;   /* what a read of the word makes known inside of that block */
    struct sim_blocks wide; /* what it makes known in all blocks */
};

struct sim_warp_order {
    uint32_t fenced;          /* lanes that have fenced: their strong writes release what was before */
    uint32_t fenced_wide;     /* those that have fenced with a scope that reaches other blocks */
    struct sim_view before;   /* what they knew and did before their fence */
    uint32_t observers;       /* lanes that read a released word and have not fenced yet */
    struct sim_view observed; /* what the fence will make known */
    struct sim_blocks observed_wide;
};

/* The words, and what blocks released there: of all clusters that a worker runs. */
struct sim_messages {
    struct sim_place *places;   /* by address, hashed */
    size_t count, capacity;     /* a power of two */
    struct sim_known *released; /* by block: what it has released to all others; NULL if blocks run at once */
    size_t released_bytes;
};

/* Of a block. */
struct sim_order {
    struct sim_messages *messages;
    struct sim_warp_order warp[SIM_MAX_WARPS];
};

/* False: out of memory. */
bool sim_messages_open(struct sim_messages *messages, const struct sim_launch *launch);
void sim_messages_close(struct sim_messages *messages);
/* NULL: out of memory. To be freed. */
struct sim_order *sim_order_new(struct sim_messages *messages);
void sim_order_start(struct sim_block *block);
/* A strong access of LANE, after it was found not to race. ADDRESS names the word among all that the cluster
   accesses. False after a fault: out of memory. */
bool sim_order_access(struct sim_warp *warp, const struct sim_insn *insn, int lane, uint64_t address,
                      enum sim_access access);
void sim_order_fence(struct sim_warp *warp, uint32_t mask, bool wide);
/* Relaxed operations on mbarriers: whether a fence of some lane in MASK lies before; and what the next
   fence of these lanes makes known. */
bool sim_order_is_fenced(const struct sim_warp *warp, uint32_t mask);
void sim_order_observe(struct sim_warp *warp, uint32_t mask, const struct sim_view *view);
/* Whether LANE is ordered after what THREAD of another BLOCK (a number as in records) did up to CLOCK. */
bool sim_order_holds(const struct sim_warp *warp, int lane, sim_record block, unsigned thread,
                     uint32_t clock);

#endif
