/* Races: two accesses to the same bytes, at least one of them a write and not both of them strong, by threads
 * that nothing orders (ISA, "Memory Consistency Model": conflict, causality order, data race).
 *
 * Every granule of memory has a cell with its last write and two of its reads. A warp knows, of every other
 * warp, up to where it is ordered after it (vector clocks). The cells are those of Flanagan and Freund,
 * FastTrack, PLDI 2009, with two reads in the place of one, and a set of reads where two do not do. A granule
 * is the smallest access of the kernel to that space, so that a cell never stands for bytes of two threads
 * that do not meet. */
#ifndef SIM_RACE_H
#define SIM_RACE_H

#include "module.h"

#include <stdbool.h>

enum { SIM_MAX_WARPS = SIM_MAX_BLOCK / SIM_LANES, SIM_BLOCK_NUMBERS = (1 << 20) - 1 };

/* An access, as bits from bit 0 on: strong 1, thread 10, clock 17, pc 16, block 20. 0: none. In a shared cell
   the block is a number among those that its worker had run, so that what an earlier cluster left is known to
   be stale, and what the blocks of one did is told apart. */
typedef uint64_t sim_record;

struct sim_race_cell {
    sim_record write, read[2]; /* read[1]: not ordered after read[0], or a set of reads (readers.h) */
};

/* What a warp is ordered after. Its clock goes up at each of its synchronisations. */
struct sim_clock {
    uint32_t now;
    uint32_t floor;               /* its own lanes are ordered after each other's accesses up to here */
    uint32_t seen[SIM_MAX_WARPS]; /* by warp: ordered after its accesses up to here */
    bool partial;                 /* some of its lanes synchronised without the others: SYNCED counts */
    uint32_t synced[SIM_LANES][SIM_LANES]; /* [lane][of lane] */
};

struct sim_warp;
struct sim_block;
struct sim_launch;
struct sim_allocation;
enum sim_access { SIM_READ, SIM_WRITE, SIM_UPDATE };

/* Finds the granules of LAUNCH's kernel, as shifts, and makes cells for the allocations, all of which are
   WATCHED or none. False: out of memory. */
bool sim_race_open(struct sim_launch *launch, bool watched);
void sim_race_close(struct sim_launch *launch);
/* Forgets all accesses, to start again. Allocations that are watched by now will be watched from the first
   access on. */
bool sim_race_reopen(struct sim_launch *launch);

void sim_race_start_block(struct sim_block *block);
void sim_race_start_warp(struct sim_warp *warp);

/* bar.warp.sync of the lanes in MASK. */
void sim_race_warp_sync(struct sim_warp *warp, uint32_t mask);
/* WARP arrives at a barrier whose participants' knowledge gathers in SEEN, to wait or to go on. */
void sim_race_arrive(struct sim_warp *warp, uint32_t seen[SIM_MAX_WARPS], bool waits);
void sim_race_release(struct sim_warp *warp, const uint32_t seen[SIM_MAX_WARPS]);

/* Whether LANE of WARP is ordered after what another THREAD of the block did up to CLOCK. */
bool sim_race_ordered(const struct sim_warp *warp, int lane, unsigned thread, uint32_t clock);
/* An access of the async proxy to OWNER's shared memory that LANE issues: false after a race, or where the
   last write was not made known to the proxy. The bytes that it writes become the copy's: no accesses to
   them are known any more. */
bool sim_race_bulk(struct sim_warp *warp, const struct sim_block *owner, const struct sim_insn *insn,
                   int lane, size_t at, unsigned bytes, enum sim_access access);
/* Whether LANE is ordered after what THREAD of OWNER, a block of the cluster, did up to CLOCK. */
bool sim_race_ordered_in(const struct sim_warp *warp, const struct sim_block *owner, int lane,
                         unsigned thread, uint32_t clock);

/* A read of the async proxy by all lanes of the warp together: what one of them knows is enough. False
   after a race, or where the last write was not made known to the proxy. */
bool sim_race_together(struct sim_warp *warp, const struct sim_insn *insn, size_t at, unsigned bytes);

/* Whether the async proxy knows of the block's last writes to bytes of A that it is to read; false after a
   fault. */
bool sim_race_fenced(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                     const struct sim_allocation *a, size_t at, unsigned bytes);

/* Notes an access; false after a race. AT and BYTES are in OWNER's shared memory, or in the allocation A.
   Nothing is noted of allocations that no block has written to: most memory is only read. At the first write
   to one that was read before, the launch has to start again (block->restart; false, too). */
bool sim_race_shared(struct sim_warp *warp, const struct sim_block *owner, const struct sim_insn *insn,
                     int lane, size_t at, unsigned bytes, enum sim_access access);
bool sim_race_global(struct sim_warp *warp, const struct sim_insn *insn, int lane, struct sim_allocation *a,
                     size_t at, unsigned bytes, enum sim_access access);

#endif
