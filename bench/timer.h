/* Timing by replays of CUDA graphs. */
#ifndef BENCH_TIMER_H
#define BENCH_TIMER_H

#include "gpu.h"
#include "helpers.h"

enum { TIMER_LABEL = 128 };

/* Where a contender leaves its result (set 0), and what must stand there. */
typedef struct result_check {
    mc_type type;
    uint64_t got, want; /* WANT as helpers_compare takes it */
    uint64_t most;      /* not 0: anything from WANT to MOST is right, as helpers_within takes them */
    uint64_t count;
    uint64_t cols, ld; /* rows of so many elements, LD apart; 0: there are no gaps */
    tolerance allowed;
    bool finite; /* no NaN is left there before: the call multiplies what it finds by zero */
} result_check;

/* What a contender's launches change: BYTES of DATA, which stand at ADDRESS before the one that is
   checked. */
typedef struct result_begin {
    uint64_t address;
    const void *data;
    size_t bytes;
} result_begin;

/* One kernel or library call on one problem. */
typedef struct contender {
    char label[TIMER_LABEL]; /* what results are grouped by: "cublaslt f16", "mcgen s8 s8 s32" */
    char detail[200];        /* which algorithm or variant */
    int sets;                /* of operands, over which launches rotate; 1: warm L2 */
    /* Puts the call on operand set SET on STREAM. */
    mc_status (*enqueue)(const struct contender *contender, int set, cuda_stream stream, mc_diag *diag);
    const void *state; /* enqueue's own */
    size_t index;
    result_check check;
    const result_begin *begins; /* of results in place */
    size_t begin_count;
    const result_check *others; /* further results */
    size_t other_count;
    double quick; /* microseconds, of timer_quick */
    /* Likewise, of what is done once for a matrix before its first product; 0: nothing is. Of ours, which the
       host packs and copies there, also where it lies on the device (device_packing.h) */
    double prepare, prepare_there, matrix_there;
} contender;

typedef struct timing {
    double median, low, high; /* microseconds a launch; low and high are the quartiles over the rounds */
    int launches, rounds;
} timing;

/* Microseconds of the clock on the wall, and of the calling thread. */
double timer_wall_us(void);
double timer_thread_us(void);

/* Runs CONTENDER on set 0 over a poisoned result (NaN where that exists), or what stands there before, and
   compares. MC_MISMATCH: "12 of 4096 elements are wrong". */
mc_status contender_verify(gpu_device *gpu, helpers *helpers, const contender *contender, mc_diag *diag);
/* A first idea: median of 3 replays of LAUNCHES launches; stored in CONTENDER. Here and below, where
   gpu->between is set, it runs before each launch, and its time is subtracted. */
mc_status timer_quick(gpu_device *gpu, contender *contender, int launches, mc_diag *diag);

/* Interleaved: in each round every contender's graph is replayed twice, one after another, and the second
   replay is timed, so that each is timed on the L2 that its own launches left. A graph holds as many launches
   as last 250 us by `quick`, at least 3 (in whole turns of the operand sets); contenders that would take more
   than 4 ms a round sit out after MIN_ROUNDS. TIMINGS: one a contender. */
enum { TIMER_MIN_ROUNDS = 5 };
mc_status timer_rounds(gpu_device *gpu, const contender *const *contenders, size_t count, int rounds,
                       timing *timings, mc_diag *diag);

#endif
