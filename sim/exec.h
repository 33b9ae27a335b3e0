/* A block while it runs. Apart from global memory, all that a block changes is reached from its sim_block. */
#ifndef SIM_EXEC_H
#define SIM_EXEC_H

#include "memory.h"
#include "metric.h"
#include "module.h"
#include "ops.h"
#include "race.h"

#include <string.h>

/* Generic addresses from here on, as many as a block may have shared bytes, are shared memory; all others are
   global (ISA, "Generic Addressing"). Global allocations lie above. */
#define SIM_SHARED_WINDOW (UINT64_C(1) << 40)
/* The same window for the kernel's parameters (cvta.param). */
#define SIM_PARAM_WINDOW (SIM_SHARED_WINDOW + (UINT64_C(1) << 32))
/* And for what each thread has for itself. */
#define SIM_LOCAL_WINDOW (SIM_PARAM_WINDOW + (UINT64_C(1) << 32))
/* An address in .shared::cluster is that of the executing block itself below 1 << SIM_RANK_AT. Else it is
   rank + 1 of a block of the cluster there, and the address in that block's shared memory below. */
enum { SIM_RANK_AT = 24 };

/* Lanes that run from PC until RECONVERGE. Every split takes a lane at least from a mask, so that the stack
 * is bounded; a call is a path, too. */
struct sim_path {
    int pc, reconverge;
    uint32_t mask;
};

/* In sim_warp.barrier: the warp waits at none, or in setmaxnreg for registers. (-2 and -3: async.h,
   cluster.h.) */
enum { SIM_NOT_WAITING = -1, SIM_AT_REGISTERS = -4 };

enum { SIM_MAX_PATHS = 2 * SIM_LANES + 4 + SIM_MAX_CALL_DEPTH };

struct sim_warp {
    struct sim_block *block;
    unsigned char *file; /* registers */
    uint32_t *defined;   /* for each register, the lanes where it was written */
    int index;
    int pc, next_pc, reconverge; /* of the path that runs */
    uint32_t active;             /* its lanes */
    uint32_t alive;              /* lanes that have not exited */
    int depth;
    struct sim_path path[SIM_MAX_PATHS]; /* the paths that wait */
    int barrier;                         /* the barrier that it waits at, or SIM_NOT_WAITING */
    int barrier_pc;
    int maxnreg_count, maxnreg_pc; /* setmaxnreg executed, and the last one */
    int registers;                 /* a thread, as setmaxnreg leaves them */
    struct sim_clock clock;
    unsigned char *own, *own_shadow; /* lane by lane: local memory and frames, and which bytes were written */
    uint32_t carry, carry_known;     /* the condition code's flag, and the lanes where it was set */
};

struct sim_barrier {
    uint32_t waiting; /* warps that wait here */
    uint32_t arrived; /* warps that arrived and went on */
    unsigned threads; /* threads that the barrier was told to wait for; 0: all */
    bool in_use;
    uint32_t seen[SIM_MAX_WARPS]; /* what its participants are ordered after */
};

/* What never changes about an instruction, and a launch asks often. */
struct sim_trait {
    bool strong; /* an atomic, or a volatile, relaxed, acquire or release access */
    bool acquires, releases;
    bool wide;      /* of scope .gpu or more */
    bool reaches;   /* of scope .cluster or more */
    bool touches;   /* accesses shared or global memory */
    bool together;  /* a wgmma: what it reads, all lanes of its warp have read */
    bool bulk;      /* a bulk copy: of the async proxy itself */
    bool fragments; /* accesses registers that a wgmma has, too */
    struct sim_service service;
};

/* What a launch's blocks share and do not change. */
struct sim_launch {
    const ptxsim_function *function;
    struct sim_memory *memory;
    struct sim_trait *traits;         /* by instruction */
    ptxsim_dim3 grid, block, cluster; /* in blocks, threads, blocks */
    unsigned cluster_blocks;
    bool clustered; /* clusters have several blocks, or the kernel has a barrier of the cluster */
    uint32_t shared_bytes, dynamic_bytes;
    const unsigned char *params;
    uint64_t max_instructions;
    ptxsim_order order;
    uint64_t seed;
    bool races;   /* whether it looks for races */
    bool ordered; /* the kernel has a fence, an acquire or a release: its strong accesses may order others */
    bool sequential; /* blocks must run one after another: the kernel may see in which order they run */
    bool async;      /* the kernel has asynchronous copies, mbarriers or proxy fences */
    bool wgmma;      /* the kernel has wgmma */
    int registers;   /* a thread's at the start, as far as setmaxnreg needs to know; 0: it does not */
    ptxsim_landing landing;
    bool parallel;                  /* several workers run blocks */
    bool undoable;                  /* whether what blocks overwrite is kept */
    int shared_shift, global_shift; /* granules of the races' cells are 1 << shift bytes */
};

struct sim_cluster;

struct sim_block {
    const struct sim_launch *launch;
    struct sim_cluster *cluster;
    unsigned rank; /* in the cluster */
    ptxsim_dim3 index;
    int warp_count;
    struct sim_warp *warps;
    struct sim_barrier barrier[SIM_BARRIERS];
    struct sim_async *async; /* NULL unless launch->async */
    struct sim_order *order; /* NULL unless launch->ordered */
    struct sim_wgmma *wgmma; /* NULL unless launch->wgmma */
    unsigned char *shared, *shared_shadow;
    struct sim_allocation **hit; /* for each instruction, the allocation that it accessed last */
    struct sim_race_cell *shared_cells;
    sim_record global_id, shared_id; /* this block in the records of global and of shared cells */
    uint64_t limit;                  /* warp instructions that counts may reach */
    bool restart;                    /* the launch must start again, race.h */
    uint64_t random;
    struct sim_request request; /* of the instruction that executes */
    ptxsim_line *lines;         /* counts of each instruction */
    ptxsim_counts counts;       /* counts, also of the blocks that ran here before */
    ptxsim_fault fault;
};

/* A block of CLUSTER; NULL: out of memory. */
struct sim_block *sim_block_new(struct sim_cluster *cluster, unsigned rank);
void sim_block_free(struct sim_block *block);
/* Makes it block INDEX of the grid, of which nothing has run yet. */
void sim_block_start(struct sim_block *block, ptxsim_dim3 index);
bool sim_block_can_run(const struct sim_block *block);
/* Runs each warp that can run until it waits, or, in seeded schedules, for a while. False after a fault. */
bool sim_block_turn(struct sim_block *block);
/* Called when no warp will run any more: false if that is a fault. */
bool sim_block_finish(struct sim_block *block);

/* A random number; *RANDOM is the generator's state. */
uint32_t sim_draw(uint64_t *random);
/* "shared", or whose shared memory it is where OWNER is not WARP's block. */
enum { SIM_SHARED_NAME = 64 };
const char *sim_shared_name(char text[SIM_SHARED_NAME], const struct sim_warp *warp,
                            const struct sim_block *owner);

/* A fault of one lane: it stops the launch. The first one stays. */
void sim_fault_at(struct sim_warp *warp, const struct sim_insn *insn, int lane, ptxsim_status status,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The thread of a block whose number is LINEAR. */
ptxsim_dim3 sim_index_of(unsigned linear, ptxsim_dim3 size);

/* exec_flow.c */
/* completes the barriers that only threads were missing at that have exited */
void sim_barriers_check(struct sim_block *block);
void sim_reconverge(struct sim_warp *warp);
/* Goes on with the lanes on the other side of the last branch. False: there are none. */
bool sim_switch_path(struct sim_warp *warp);
void sim_exit_lanes(struct sim_warp *warp, uint32_t mask);
/* Whether all that the instruction at PC does is to end its thread. */
bool sim_only_exits(const ptxsim_function *f, int pc);
/* Lanes whose next instruction is a ret execute it now: nobody needs to wait for them. */
void sim_exit_early(struct sim_warp *warp, uint32_t mask);
/* A path that waits until those above it have met. */
void sim_push_path(struct sim_warp *warp, int pc, int reconverge, uint32_t mask);

/* exec_maxnreg.c: whether the warps of each warpgroup executed the same ones, at a block's end; false after a
   fault. */
bool sim_setmaxnreg_finish(struct sim_block *block);
/* Whether a warp waits for registers, when nobody can run: a fault. */
bool sim_setmaxnreg_waits(struct sim_block *block);
/* Registers a thread that a block begins with; 0: the kernel does not say. */
int sim_first_registers(const ptxsim_function *f);

/* mma_count.c: counts an mma with BLOCKS of 8 rows and CHUNKS of 16 bytes of each row; elements have BITS. */
void sim_mma_count(struct sim_warp *warp, const struct sim_insn *insn, int bits, bool is_float, int blocks,
                   int chunks);

/* mem_access.c: every access to memory goes through one of these. They check bounds, alignment, and whether
   what is read was written. They return where the bytes lie, or NULL after a fault. */
unsigned char *sim_access_memory(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                                 uint64_t address, unsigned bytes, enum sim_access access);

/* Their parts. */
bool sim_is_aligned(struct sim_warp *warp, const struct sim_insn *insn, int lane, uint64_t address,
                    unsigned bytes, enum sim_access access);
void sim_fault_unwritten(struct sim_warp *warp, const struct sim_insn *insn, int lane, const char *space,
                         uint64_t address, const unsigned char *shadow, size_t at, unsigned bytes);

/* local_memory.c: the same in what each thread has for itself, LOCAL or parameters of a call, and in
   constant memory. */
unsigned char *sim_access_own(struct sim_warp *warp, const struct sim_insn *insn, int lane, uint64_t address,
                              unsigned bytes, enum sim_access access, bool local);
unsigned char *sim_access_const(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                                uint64_t address, unsigned bytes);

/* The same, in a space that is not the instruction's. */
unsigned char *sim_access_space(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                                enum sim_space space, uint64_t address, unsigned bytes,
                                enum sim_access access);

static inline const void *sim_source(const struct sim_warp *warp, const struct sim_value *value) {
    return value->kind == SIM_CONSTANT ? value->lanes : warp->file + value->at;
}

/* A predicate operand as a mask of lanes. */
static inline uint32_t sim_predicate(const struct sim_warp *warp, const struct sim_value *value) {
    uint32_t bits;
    memcpy(&bits, sim_source(warp, value), sizeof bits);
    return value->negated ? ~bits : bits;
}

static inline void sim_put_predicate(struct sim_warp *warp, const struct sim_value *value, uint32_t bits,
                                     uint32_t mask) {
    if (value->kind != SIM_REGISTER) return;
    uint32_t old;
    memcpy(&old, warp->file + value->at, sizeof old);
    bits = (old & ~mask) | (bits & mask);
    memcpy(warp->file + value->at, &bits, sizeof bits);
    warp->defined[value->reg] |= mask;
}

void sim_put_masked(void *to, const void *lanes, size_t bytes, uint32_t mask);

/* Writes the lanes in MASK of a result: 32 values of BYTES each. */
static inline void sim_put(struct sim_warp *warp, const struct sim_value *value, const void *lanes,
                           size_t bytes, uint32_t mask) {
    if (value->kind != SIM_REGISTER) return;
    warp->defined[value->reg] |= mask;
    if (mask == SIM_FULL_MASK) memcpy(warp->file + value->at, lanes, SIM_LANES * bytes);
    else sim_put_masked(warp->file + value->at, lanes, bytes, mask);
}

static inline uint32_t sim_lane_u32(const struct sim_warp *warp, const struct sim_value *value, int lane) {
    return ((const uint32_t *)sim_source(warp, value))[lane];
}

#endif
