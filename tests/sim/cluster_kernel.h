/* What kernels of clusters are tested with: a frame of declarations, and schedules. */
#ifndef TESTS_SIM_CLUSTER_KERNEL_H
#define TESTS_SIM_CLUSTER_KERNEL_H

#include "harness.h"

#include <stdbool.h>

#define CLUSTER_HEADER ".version 8.1\n.target sm_90\n.address_size 64\n"

/* %t: thread, %c: block, %rank and %n: rank in the cluster and blocks of it, %out: address of the result, of
   which a block has 1024 bytes; sm: 1024 bytes, bar: an mbarrier. %a: address of word %t of sm, %b: that of
   the next rank's. The first %s is for the directive, code stands from line 8 on. */
#define CLUSTER_KERNEL                                                                                       \
    CLUSTER_HEADER                                                                                           \
    ".visible .entry k(.param .u64 out) %s\n"                                                                \
    "{ .reg .b32 %%r<10>, %%t, %%c, %%rank, %%n, %%a, %%b; .reg .b64 %%out, %%mine, %%rd<6>; .reg .pred "    \
    "%%p<4>; .reg .b16 %%h<3>; .reg .f32 %%f<4>; .reg .f64 %%d;\n"                                           \
    ".shared .align 1024 .b8 sm[1024]; .shared .align 8 .b64 bar; mov.u32 %%t, %%tid.x; mov.u32 %%c, "       \
    "%%ctaid.x; mov.u32 %%rank, %%cluster_ctarank; mov.u32 %%n, %%cluster_nctarank; ld.param.u64 %%out, "    \
    "[out]; mad.wide.u32 %%mine, %%c, 1024, %%out; mad.wide.u32 %%mine, %%t, 4, %%mine;\n"                   \
    "mov.u32 %%a, sm; mad.lo.u32 %%a, %%t, 4, %%a; add.u32 %%r0, %%rank, 1; rem.u32 %%r0, %%r0, %%n; "       \
    "mapa.shared::cluster.u32 %%b, %%a, %%r0;\n%s\nret; }\n"

#define ARRIVE  "barrier.cluster.arrive.aligned; "
#define RELAXED "barrier.cluster.arrive.relaxed.aligned; "
#define WAIT    "barrier.cluster.wait.aligned;\n"
#define SYNC    ARRIVE WAIT
/* Every word of sm that a thread owns is 0, and all blocks have started. */
#define INIT "mov.u32 %r9, 0; st.shared.u32 [%a], %r9; " SYNC

enum { CLUSTER_TEXT = 8192, CLUSTER_BLOCK_BYTES = 1024, CLUSTER_SEEDS = 6 };

static inline void cluster_text(char text[CLUSTER_TEXT], const char *directive, const char *code) {
    int length = snprintf(text, CLUSTER_TEXT, CLUSTER_KERNEL, directive, code);
    CHECK(length > 0 && length < CLUSTER_TEXT);
}

/* Prints the kernel under a name of its own, for ptxas. */
static inline void cluster_dump(int number, const char *directive, const char *code) {
    static char text[CLUSTER_TEXT];
    cluster_text(text, directive, code);
    printf(".visible .entry k%d%s", number, strchr(text + strlen(CLUSTER_HEADER), '('));
}

struct cluster_run {
    ptxsim_order order;
    uint64_t seed;
    unsigned workers;
};

static const struct cluster_run cluster_runs[] = {
    {PTXSIM_IN_ORDER, 0, 1}, {PTXSIM_IN_ORDER, 0, 2}, {PTXSIM_REVERSED, 0, 1}, {PTXSIM_REVERSED, 0, 2},
    {PTXSIM_SEEDED, 1, 1},   {PTXSIM_SEEDED, 2, 2},   {PTXSIM_SEEDED, 3, 1},   {PTXSIM_SEEDED, 4, 2},
    {PTXSIM_SEEDED, 5, 1},   {PTXSIM_SEEDED, 6, 2}};

enum { CLUSTER_RUNS = sizeof cluster_runs / sizeof *cluster_runs };

static inline ptxsim *cluster_create(const struct cluster_run *run, uint64_t limit) {
    ptxsim *sim = NULL;
    ptxsim_options options = {.size = sizeof options,
                              .order = run->order,
                              .seed = run->seed,
                              .threads = run->workers,
                              .max_instructions = limit};
    CHECK(ptxsim_create(&options, &sim) == PTXSIM_OK);
    return sim;
}

#endif
