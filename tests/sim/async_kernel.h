/* What kernels with asynchronous copies are tested with: an input whose words are known, a result word a thread, and
 * all ways in which copies may land. */
#ifndef TESTS_SIM_ASYNC_KERNEL_H
#define TESTS_SIM_ASYNC_KERNEL_H

#include "harness.h"

#include <stdbool.h>

#define ASYNC_HEADER ".version 8.6\n.target sm_90a\n.address_size 64\n"

/* %t: thread; %in, %out: addresses, the latter 512 bytes on for each block; %map: generic address of the tensor map; sm: 16 KiB, bar: mbarriers. Code stands
   from line 8 on. */
#define ASYNC_KERNEL                                                                                         \
    ASYNC_HEADER ".visible .entry k(.param .u64 in, .param .u64 out, .param .align 64 .b8 map[128]) {\n"     \
                 ".reg .b32 %%r<10>, %%t, %%s, %%b; .reg .b64 %%in, %%out, %%map, %%rd<4>; .reg .pred "      \
                 "%%p<4>;\n"                                                                                 \
                 ".shared .align 1024 .b8 sm[16384]; .shared .align 8 .b64 bar[8]; mov.u32 %%t, %%tid.x;\n"  \
                 "ld.param.u64 %%in, [in]; ld.param.u64 %%out, [out]; mov.u32 %%s, %%ctaid.x; mad.wide.u32 " \
                 "%%out, %%s, 512, "                                                                         \
                 "%%out; mov.b64 %%map, map; cvta.param.u64 %%map, %%map; mov.u32 %%s, sm; mov.u32 %%b, "    \
                 "bar;\n%s\nret; }\n"

/* Waits until the phase of parity P of the mbarrier at BAR is over. */
#define WAIT_PARITY(bar, p)                                                                                  \
    "{ W: mbarrier.try_wait.parity.shared::cta.b64 %p0, [" bar "], " p "; @!%p0 bra W; }\n"
/* Thread 0 initialises bar[0] for N arrivals, and all know of it. */
#define INIT_BAR(n)                                                                                          \
    "setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared::cta.b64 [%b], " n "; @%p1 "                          \
    "fence.mbarrier_init.release.cluster; bar.sync 0;\n"

enum { ASYNC_WORDS = 1 << 14, ASYNC_SEEDS = 4 };

static inline uint32_t in_word(unsigned i) { return i * 2654435761u + 1; }

/* A schedule of warps and a moment of landing. */
struct async_run {
    ptxsim_order order;
    ptxsim_landing landing;
    uint64_t seed;
    unsigned workers;
};

static const struct async_run async_runs[] = {
    {PTXSIM_IN_ORDER, PTXSIM_LANDING_LAST, 0, 1}, {PTXSIM_IN_ORDER, PTXSIM_LANDING_FIRST, 0, 1},
    {PTXSIM_REVERSED, PTXSIM_LANDING_LAST, 0, 2}, {PTXSIM_REVERSED, PTXSIM_LANDING_FIRST, 0, 1},
    {PTXSIM_SEEDED, PTXSIM_LANDING_ANY, 1, 2},    {PTXSIM_SEEDED, PTXSIM_LANDING_ANY, 2, 2},
    {PTXSIM_SEEDED, PTXSIM_LANDING_ANY, 3, 1},    {PTXSIM_SEEDED, PTXSIM_LANDING_ANY, 3, 2}};

enum { ASYNC_RUNS = sizeof async_runs / sizeof *async_runs };

static inline ptxsim *async_create(const struct async_run *run) {
    ptxsim *sim = NULL;
    ptxsim_options options = {.size = sizeof options,
                              .order = run->order,
                              .landing = run->landing,
                              .seed = run->seed,
                              .threads = run->workers,
                              .max_instructions = 1000000};
    CHECK(ptxsim_create(&options, &sim) == PTXSIM_OK);
    return sim;
}

/* The input, ASYNC_WORDS words. */
static inline uint64_t async_input(ptxsim *sim) {
    uint32_t words[ASYNC_WORDS];
    uint64_t in = 0;
    for (unsigned i = 0; i < ASYNC_WORDS; i++) words[i] = in_word(i);
    CHECK(ptxsim_alloc(sim, sizeof words, &in) == PTXSIM_OK &&
          ptxsim_write(sim, in, words, sizeof words) == PTXSIM_OK);
    return in;
}

#endif
