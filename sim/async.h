/* Asynchronous copies and mbarriers of a block (ISA, "Data Movement and Conversion Instructions: Asynchronous
 * copy", "Parallel Synchronization and Communication Instructions: mbarrier", "Asynchronous Operations",
 * "Proxies"). A copy moves its bytes at the first or at the last moment that is legal, and whichever it is,
 * the bytes that it writes are nobody's until they were waited for. Only blocks whose kernel has such
 * instructions have a sim_async. */
#ifndef SIM_ASYNC_H
#define SIM_ASYNC_H

#include "exec.h"
#include "known.h"

enum { SIM_TAG_BYTES = 4, SIM_MBARRIER_BYTES = 8 };

/* In sim_warp.barrier: the warp has reached a wait for a phase that is not complete. */
enum { SIM_STALLED = -2 };

enum sim_copy_kind {
    SIM_COPY_FREE,
    SIM_COPY_LANES,   /* one cp.async of a warp */
    SIM_COPY_LOAD,    /* bulk or tensor, into shared memory; an mbarrier tells when it is done */
    SIM_COPY_STORE,   /* bulk or tensor, into global memory */
    SIM_COPY_ARRIVAL, /* cp.async.mbarrier.arrive: moves nothing, arrives after the lanes' copies */
    SIM_COPY_MBARRIER /* no copy: marks the bytes of an mbarrier */
};

/* A piece is up to 16 bytes of a copy. They lie in shared memory at AT, and in global memory at ADDRESS;
   where ADDRESS is 0, the bytes at GLOBAL are what shared memory is filled with. */
struct sim_piece {
    unsigned char *global;
    uint64_t address;
    uint32_t at;
    uint8_t bytes, lane;
};

/* Bounds of global bytes, from low to below high; none, where low is not below high. */
struct sim_bounds {
    uint64_t low, high;
};

struct sim_copy {
    enum sim_copy_kind kind;
    struct sim_bounds global; /* of its pieces */
    bool ascends;             /* each piece's global bytes lie behind those of the one before */
    const struct sim_insn *insn;
    struct sim_warp
        *by; /* the warp that issued it; of another block, where this block's memory is written from there */
    int lane;
    bool late;        /* moves its bytes as late as is legal */
    bool landed;      /* has moved them */
    bool read;        /* of a store: has read its source, and somebody has waited for that */
    uint32_t flying;  /* of a cp.async: lanes that have not waited for it; of an arrival: its lanes */
    uint32_t tracked; /* of a cp.async: lanes for which an mbarrier tracks it */
    uint64_t serial;  /* in the order of issue */
    uint32_t group[SIM_LANES]; /* for each lane, how many groups it had committed before */
    int mbarrier;              /* the mbarrier that completes a load or arrival */
    uint32_t phase;            /* of a landed load: the phase in which it landed */
    uint32_t bytes;            /* bytes that a load tells the mbarrier */
    unsigned type;             /* of the elements of a reduction */
    struct sim_piece *pieces;
    int piece_count;
    unsigned char *data;       /* of a store: what it read, in the order of its pieces */
    struct sim_view *released; /* of an arrival */
    /* the next copy in the list of the issuing warp, of the mbarrier's phase, or of free copies */
    uint32_t next;
};

/* Who did something, and when, for the order of accesses. */
struct sim_moment {
    const struct sim_insn *insn;
    unsigned thread;
    uint32_t clock;
};

struct sim_mbarrier {
    struct sim_block *owner; /* in whose shared memory it lies */
    bool live;
    uint32_t at;
    uint32_t expected, pending; /* arrivals that a phase expects; those that are left in this one */
    int64_t bytes;              /* tx-count */
    /* the phase of the object's first use, and the current one; phases count on when the object is made
       anew */
    uint32_t first, phase;
    uint32_t observed; /* the most phases that a wait saw completed */
    uint32_t tag;
    uint32_t loads; /* list of the loads that landed in this phase and the one before */
    /* its initialisation, and where the same thread fenced that by fence.mbarrier_init or fence.proxy.async;
       insn is NULL: it did not */
    struct sim_moment init, fence, proxied;
    /* what arrivals of this phase make known, and what those of all phases before do */
    struct sim_view arriving, completed;
};

/* The wait at which a warp stalls. */
struct sim_stall {
    const struct sim_insn *insn;
    int mbarrier, lane;
    uint32_t phase; /* the phase that it waits for */
    bool give_up;   /* return false this time */
};

struct sim_async {
    uint32_t *tag;           /* by 4 bytes of shared memory: the index of the copy that holds them, or 0 */
    struct sim_copy *copies; /* from 1 on */
    uint32_t copy_count, copy_capacity, free_copies;
    uint32_t *late; /* queue of loads and arrivals that have yet to land */
    uint32_t late_first, late_count, late_capacity;
    int loads, stores;                /* loads and stores in flight: they read and write global memory */
    struct sim_bounds loaded, stored; /* of the global bytes of both */
    /* for each warp, the list of copies that it can wait for, the last one first; 0: none */
    uint32_t open[SIM_MAX_WARPS];
    /* groups that were committed */
    uint32_t groups[SIM_MAX_WARPS][SIM_LANES], bulk_groups[SIM_MAX_WARPS][SIM_LANES];
    struct sim_mbarrier mbarrier[SIM_MAX_MBARRIERS];
    int mbarrier_count;
    struct sim_stall stall[SIM_MAX_WARPS];
    /* changes to memory, barriers and mbarriers, which show that anything moves at all */
    uint64_t changes, changes_seen;
    int polls; /* rounds of waits that gave up since something changed */
    uint64_t random, serial;
    struct sim_warp_view *view; /* by warp */
    struct sim_view barrier[SIM_BARRIERS];
};

/* -- async.c: the state, who holds which bytes, what is left at the end ---------------------------------- */

struct sim_async *sim_async_new(const struct sim_launch *launch, int warps);
void sim_async_free(struct sim_async *async);
void sim_async_start(struct sim_block *block);
/* Whether a warp of the block waits for a phase of an mbarrier. */
bool sim_async_is_stalled(const struct sim_block *block);
/* Called for a block that is stalled. True if a copy landed that sets a warp going. */
bool sim_async_land(struct sim_block *block);
/* Called for a stalled block when nothing is left to land: its waits give up, which sets warps going. False
   if they gave up in vain too often: a fault. MOVES: memory or barriers changed since the last call. */
bool sim_async_give_up(struct sim_block *block, bool moves);
/* Called when all threads have exited: no copy may be left that somebody should have waited for. */
bool sim_async_finish(struct sim_block *block);
void sim_async_exit(struct sim_warp *warp, uint32_t mask);
/* Checks an access to OWNER's bytes that are held: false after a fault. */
bool sim_async_held(struct sim_warp *warp, const struct sim_block *owner, const struct sim_insn *insn,
                    int lane, uint32_t tag, size_t at, enum sim_access access);
bool sim_async_touch_global(struct sim_warp *warp, const struct sim_insn *insn, int lane, uint64_t address,
                            unsigned bytes, enum sim_access access);
void sim_async_hold(struct sim_async *async, size_t at, unsigned bytes, uint32_t tag);
void sim_async_let_go(struct sim_async *async, size_t at, unsigned bytes, uint32_t tag);

/* The same as sim_async_touch_shared of a read by all lanes of the warp together: what one of them knows is
   enough. */
bool sim_async_touch_together(struct sim_warp *warp, const struct sim_insn *insn, size_t at, unsigned bytes);
/* wgmma.c: whether bytes may be written that a wgmma in flight may read; false after a fault. */
bool sim_wgmma_unread(struct sim_warp *warp, const struct sim_block *owner, const struct sim_insn *insn,
                      int lane, size_t at, unsigned bytes);

/* An access to OWNER's shared memory. */
static inline bool sim_async_touch_shared(struct sim_warp *warp, const struct sim_block *owner,
                                          const struct sim_insn *insn, int lane, size_t at, unsigned bytes,
                                          enum sim_access access) {
    struct sim_async *async = owner->async;
    uint32_t read = 0; /* tags that were found readable */
    async->changes += access != SIM_READ;
    if (owner->wgmma && access != SIM_READ && !sim_wgmma_unread(warp, owner, insn, lane, at, bytes))
        return false;
    for (size_t i = at / SIM_TAG_BYTES; i <= (at + bytes - 1) / SIM_TAG_BYTES; i++) {
        uint32_t tag = async->tag[i];
        if (tag == 0 || tag == read) continue;
        if (!sim_async_held(warp, owner, insn, lane, tag, i * SIM_TAG_BYTES, access)) return false;
        if (access == SIM_READ) read = tag;
    }
    return true;
}

/* -- copy.c: copies from issue to completion ------------------------------------------------------------- */

/* A random number from 0 to BELOW - 1, by the launch's seed. */
unsigned sim_async_draw(struct sim_async *async, unsigned below);
/* A new copy into or out of OWNER's memory, with room for PIECES pieces; 0 after a fault: out of memory. */
uint32_t sim_copy_new(struct sim_warp *warp, struct sim_block *owner, const struct sim_insn *insn, int lane,
                      enum sim_copy_kind kind, int pieces);
void sim_copy_drop(struct sim_async *async, uint32_t index);
/* Adds a piece, and holds its shared bytes. */
struct sim_piece *sim_copy_add(struct sim_async *async, uint32_t index, int lane, size_t at, uint64_t address,
                               unsigned char *global, unsigned bytes);
/* Called when all pieces are there: the copy moves its bytes now, or is put where it is found later. */
bool sim_copy_issue(struct sim_block *block, uint32_t index);
/* Moves a load's or an arrival's bytes, and tells its mbarrier. */
void sim_copy_land(struct sim_block *block, uint32_t index);
/* The loads that completed before PHASE of M are over: nobody looks any more whether what they read
   changes. */
void sim_copy_end_loads(struct sim_async *async, struct sim_mbarrier *m, uint32_t phase);
/* Lanes in MASK wait for their cp.async of all but the last KEEP groups, or for all. */
void sim_copy_wait(struct sim_warp *warp, uint32_t mask, uint32_t keep, bool all);
/* The same for bulk stores; READ: only until their sources were read. */
void sim_copy_wait_bulk(struct sim_warp *warp, uint32_t mask, uint32_t keep, bool read);
/* Writes what stores still hold. */
bool sim_copy_write_back(struct sim_block *block, uint32_t index);

/* -- mbarrier.c ----------------------------------------------------------------------------------------- */

/* The live mbarrier at an address in OWNER's shared memory, whose initialisation LANE is ordered after;
   NULL after a fault. */
struct sim_mbarrier *sim_mbarrier_at(struct sim_warp *warp, struct sim_block *owner,
                                     const struct sim_insn *insn, int lane, uint64_t address);
/* The same for the address of every lane in MASK; false after a fault. FAR: it may be another block's of the
   cluster. */
bool sim_mbarrier_find(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask, bool far,
                       struct sim_mbarrier *found[SIM_LANES]);
/* The lanes in MASK that found the object that LANE did. */
uint32_t sim_mbarrier_lanes(struct sim_mbarrier *const found[SIM_LANES], uint32_t mask, int lane);
int sim_mbarrier_index(const struct sim_mbarrier *m);
/* Whether the async proxy knows of the initialisation; false after a fault. */
bool sim_mbarrier_is_fenced(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                            const struct sim_mbarrier *m);
/* fence.proxy.async of shared memory by lanes in MASK. */
void sim_mbarrier_fence_proxy(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask);
bool sim_mbarrier_expect(struct sim_warp *warp, const struct sim_insn *insn, int lane, struct sim_mbarrier *m,
                         int64_t bytes);
bool sim_mbarrier_arrive(struct sim_warp *warp, const struct sim_insn *insn, int lane, struct sim_mbarrier *m,
                         uint32_t count);
/* The block of the cluster in whose shared memory an instruction's address is, by its state space or generic.
   *ADDRESS becomes the address there. NULL after a fault: none, or, unless FAR, another than the warp's. */
struct sim_block *sim_shared_owner(struct sim_warp *warp, const struct sim_insn *insn, int lane, bool far,
                                   uint64_t *address);

/* -- exec_async.c, exec_bulk.c: what executors share ----------------------------------------------------- */

/* An address among the operands: two values, base and offset. */
uint64_t sim_operand_address(const struct sim_warp *warp, const struct sim_value *value, int lane);
/* Lanes in MASK end a group. */
void sim_commit(uint32_t groups[SIM_LANES], uint32_t mask);
/* Whether a bulk copy may access OWNER's shared bytes. They must be there, neither in use by another copy nor
   unknown to the async proxy. False after a fault. */
bool sim_bulk_shared(struct sim_warp *warp, const struct sim_block *owner, const struct sim_insn *insn,
                     int lane, uint64_t at, unsigned bytes, enum sim_access access);
/* Where global bytes lie that a bulk copy accesses, of which the async proxy must know what is read. NULL
   after a fault. */
unsigned char *sim_bulk_global(struct sim_warp *warp, const struct sim_insn *insn, int lane, uint64_t address,
                               unsigned bytes, enum sim_access access);
/* Where a lane's bulk load goes. A multicast goes to the same place in several blocks, by rank; else there
   is one. */
struct sim_destinations {
    unsigned count;
    struct {
        struct sim_block *block;
        struct sim_mbarrier *mbarrier; /* it signals this one */
        uint64_t at;
    } to[SIM_MAX_CLUSTER];
};

/* What the operands say: TO and SIGNAL are two values each, an address; MASK is NULL without .multicast.
   False after a fault. */
bool sim_bulk_destinations(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                           const struct sim_value *to, const struct sim_value *signal,
                           const struct sim_value *mask, struct sim_destinations *targets);
/* A new bulk copy of BYTES, made of at most PIECES pieces, which signals M, or which a group waits for. 0
   after a fault. */
uint32_t sim_bulk_new(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                      const struct sim_mbarrier *m, uint32_t bytes, int pieces);
/* Issues a bulk copy into or out of OWNER's memory, and counts it: bulk copies have counts of bytes of
   their own, and are no requests of lanes. BEFORE: the block's counts before its pieces were accessed.
   False after a fault. */
bool sim_bulk_issue(struct sim_warp *warp, struct sim_block *owner, uint32_t index,
                    const ptxsim_counts *before);

#endif
