/* How long an SpMM kernel should take on a problem. The model is a roofline with latencies; nothing is
 * generated or measured for it.
 *
 *   plan, problem -> what a thread block does -> how thread blocks share the multiprocessors -> microseconds
 *
 * The first step is a solver's (estimate.c in its folder), the second one is here. docs/choice.md says
 * what it is good for. Its numbers are in gen/arch/gpu.c and costs.c. */
#ifndef MC_SPMM_MODEL_H
#define MC_SPMM_MODEL_H

#include "ops/spmm/costs.h"
#include "ops/spmm/problem.h"
#include "parts/model.h"

typedef struct spmm_situation {
    const spmm_plan *plan;
    const mc_gpu *gpu;
    const mc_problem *problem;
    spmm_costs cost;
    double row_blocks, mean; /* mean: vectors of a row block */
    double tiles;            /* tiles of columns */
    int registers_wanted;    /* of a thread, by the solver */
} spmm_situation;

/* A thread block's share of a kernel. */
typedef struct spmm_work {
    double blocks;   /* of the grid */
    double resident; /* thread blocks that a multiprocessor holds at once */
    double busy;     /* us that it keeps its multiprocessor busy */
    double latency;  /* us that it lasts at least, by what waits for what: on average */
    double longest;  /* the same of the thread block with the longest row block */
    double memory;   /* us of what the launch takes out of memory, and waits for */
    double streamed; /* the same of what comes while it does other work */
    double rows;     /* of a column-major C, that are stored beside one another */
} spmm_work;

/* What A and B take together: more than the larger one, since neither hides the other completely. */
static inline double spmm_overlapped(double a, double b) { return hypot(a, b); }

/* PROBLEM as PLAN's kernel meets it. REGISTERS are those that ptxas 13 gives a thread where A and B have 8
   bits; other types have more accumulators. */
spmm_situation spmm_meet(const spmm_plan *plan, const mc_gpu *gpu, const mc_problem *problem, int registers);
/* Whether what the spec fixes is the problem's. */
bool spmm_can_run(const spmm_plan *plan, const mc_problem *problem);

/* Bytes of a row of B that a thread block's tile takes. */
static inline int spmm_tile_bytes(const spmm_plan *plan) { return (int)spmm_b_bytes(plan, plan->tile_n); }
/* The row of a table of registers: tiles of up to 32, of 64, and of 128 bytes and more. */
static inline int spmm_tile_class(const spmm_plan *plan) {
    return (int)model_least(spmm_tile_bytes(plan) / 64, 2);
}
/* Whether rows of B begin inside of a sector of L2: 16-byte copies of such rows are slow. */
bool spmm_rows_cut_sectors(const spmm_situation *s);
/* The part of A that L2 does not keep from column tile to column tile. */
double spmm_missed_of(const spmm_situation *s);
/* Microseconds of what does not come out of L2. Each column tile reads all of A. L2 keeps A, and a tile's
   part of B and C, if there is room; of cold operands it keeps nothing at first. */
double spmm_memory_of(const spmm_situation *s);
/* Microseconds of what L2 does not keep of B, C and PACKED bytes of A from launch to launch. */
double spmm_unkept_of(const spmm_situation *s, double packed);
/* Registers that a thread has: no more than leave room for one thread block, since the generator limits them
   (kernel.c). */
int spmm_registers_of(const spmm_situation *s);
/* Thread blocks that a multiprocessor holds at once. A quarter of it takes whole warps of any thread
   block. */
double spmm_resident_of(const spmm_situation *s);
/* Thread blocks a multiprocessor that a launch counts on whose thread blocks stay (contract->blocks_per_sm):
   these have whole fours of warps each. */
double spmm_counted_on(const spmm_situation *s);
/* The expected longest of COUNT row blocks, a power of two. */
double spmm_longest_of(const spmm_situation *s, int count);

/* Microseconds of a launch whose thread blocks do WORK. */
double spmm_time_of(const spmm_situation *s, const spmm_work *work);

#endif
