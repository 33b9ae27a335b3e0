/* Clusters that work: exchanges through distributed shared memory, in every schedule; what special registers
 * say; what a launch refuses; how counts and limits add up. */
#include "cluster_kernel.h"

enum { MOST_BLOCKS = 16, LIMIT = 1000000 };

/* -- Exchanges ---------------------------------------------------------------------------------------- */

struct exchange {
    const char *name, *code; /* stores a word at %mine */
    uint32_t (*want)(unsigned cluster, unsigned block, unsigned threads, unsigned thread);
};

/* What a thread stores in its word: its block, then itself. */
static uint32_t word_of(unsigned block, unsigned thread) { return block * 4096 + thread; }

static uint32_t sum_of_all(unsigned cluster, unsigned block, unsigned threads, unsigned thread) {
    uint32_t sum = 0;
    (void)threads;
    for (unsigned rank = 0; rank < cluster; rank++) sum += word_of(block - block % cluster + rank, thread);
    return sum;
}

static unsigned next_block(unsigned cluster, unsigned block) {
    return block - block % cluster + (block % cluster + 1) % cluster;
}

static unsigned block_before(unsigned cluster, unsigned block) {
    return block - block % cluster + (block % cluster + cluster - 1) % cluster;
}

static uint32_t of_next(unsigned cluster, unsigned block, unsigned threads, unsigned thread) {
    (void)threads;
    return word_of(next_block(cluster, block), thread);
}

static uint32_t of_before(unsigned cluster, unsigned block, unsigned threads, unsigned thread) {
    (void)threads;
    return word_of(block_before(cluster, block), thread);
}

static uint32_t reversed_of_next(unsigned cluster, unsigned block, unsigned threads, unsigned thread) {
    return word_of(next_block(cluster, block), threads - 1 - thread);
}

static uint32_t threads_of_all(unsigned cluster, unsigned block, unsigned threads, unsigned thread) {
    (void)block, (void)thread;
    return cluster * threads;
}

/* After as many steps as the cluster has blocks, each word has come round to its block, plus 1 a step. */
static uint32_t after_ring(unsigned cluster, unsigned block, unsigned threads, unsigned thread) {
    (void)threads;
    return word_of(block, thread) + cluster;
}

static uint32_t constant_7(unsigned cluster, unsigned block, unsigned threads, unsigned thread) {
    (void)cluster, (void)block, (void)threads, (void)thread;
    return 7;
}

#define WORD       "mad.lo.u32 %r1, %c, 4096, %t; "
#define STORE      WORD "st.shared.u32 [%a], %r1;\n"
#define RESULT     "\nst.global.u32 [%mine], %r2;"
#define FIRST_LANE "setp.eq.u32 %p0, %t, 0; "

static const struct exchange exchanges[] = {
    {"each block adds up the words of all",
     STORE SYNC "mov.u32 %r2, 0; mov.u32 %r3, 0;\nL: mapa.shared::cluster.u32 %r4, %a, %r3;\n"
                "ld.shared::cluster.u32 %r5, [%r4]; add.u32 %r2, %r2, %r5; add.u32 %r3, %r3, 1; "
                "setp.lt.u32 %p0, %r3, %n;\n@%p0 bra L;\n" SYNC RESULT,
     sum_of_all},
    {"each block writes into the next",
     "barrier.cluster.arrive.relaxed; barrier.cluster.wait.acquire;\n" WORD
     "st.shared::cluster.u32 [%b], %r1;\n" SYNC "ld.shared.u32 %r2, [%a];" RESULT,
     of_before},
    {"across the threads, by another warp's word",
     STORE SYNC "mov.u32 %r3, %ntid.x; sub.u32 %r3, %r3, 1; sub.u32 %r3, %r3, %t; sub.u32 %r3, %r3, %t; "
                "shl.b32 %r3, %r3, 2;"
                "add.u32 %r3, %r3, %b; ld.shared::cluster.u32 %r2, [%r3];\n" SYNC RESULT,
     reversed_of_next},
    {"by generic addresses",
     STORE SYNC "cvt.u64.u32 %rd0, %a; cvta.shared.u64 %rd0, %rd0; add.u32 %r3, %rank, 1; rem.u32 %r3, %r3, "
                "%n; mapa.u64 %rd1, %rd0, %r3; ld.u32 %r2, [%rd1];\n" SYNC RESULT,
     of_next},
    {"by 64-bit shared addresses, converted there and back",
     STORE SYNC "cvt.u64.u32 %rd0, %a; add.u32 %r3, %rank, 1; rem.u32 %r3, %r3, %n; "
                "mapa.shared::cluster.u64 %rd1, %rd0, %r3; cvta.shared::cluster.u64 %rd2, %rd1; ld.u32 %r4, "
                "[%rd2]; cvta.to.shared::cluster.u64 %rd3, %rd2; ld.shared::cluster.u32 %r2, [%rd3]; "
                "sub.u32 %r4, %r4, %r2; add.u32 %r2, %r2, %r4;\n" SYNC RESULT,
     of_next},
    {"by a variable's name, and an own address in .shared::cluster",
     FIRST_LANE "mov.u32 %r1, 3; @%p0 st.shared::cluster.u32 [sm], %r1; mov.u32 %r1, 4; @%p0 st.shared.u32 "
                "[sm+4], %r1;\n" SYNC "mov.u32 %r3, 0; mapa.shared::cluster.u32 %r4, sm, %r3; "
                "mapa.shared::cluster.u32 %r5, sm+4, %rank; ld.shared::cluster.u32 %r6, [%r4]; "
                "ld.shared::cluster.u32 %r7, [%r5]; add.u32 %r2, %r6, %r7;\n" SYNC RESULT,
     constant_7},
    {"vectors and narrow types",
     "shl.b32 %r3, %t, 4; mov.u32 %r4, sm; add.u32 %r3, %r3, %r4; setp.lt.u32 %p0, %t, 32; add.u32 %r5, "
     "%rank, 1; rem.u32 %r5, %r5, %n; mapa.shared::cluster.u32 %r6, %r3, %r5; mov.u32 %r4, 0; " SYNC
     "@%p0 st.shared::cluster.v4.u32 [%r6], {%r4, %r4, %r4, %t};\n" SYNC
     "@%p0 st.shared::cluster.v2.u32 [%r6], {%t, %t}; @%p0 st.shared::cluster.u8 [%r6+8], %t; "
     "@%p0 ld.shared::cluster.v4.u32 {%r4, %r5, %r7, %r8}, [%r6]; @%p0 ld.shared::cluster.u8 %h0, [%r6+8]; "
     "@%p0 ld.shared::cluster.v2.f32 {%f0, %f1}, [%r6]; @%p0 ld.shared::cluster.f64 %d, [%r6+8]; "
     "@%p0 ld.shared::cluster.b64 %rd0, [%r6+8]; @%p0 ld.volatile.shared::cluster.s16 %h1, [%r6]; "
     "@%p0 ld.weak.shared::cluster.s8 %h1, [%r6];\n"
     "mov.u32 %r2, 7; @%p0 sub.u32 %r4, %r4, %r8; @%p0 sub.u32 %r7, %r7, %r5; @%p0 add.u32 %r2, %r2, %r4; "
     "@%p0 add.u32 %r2, %r2, %r7;\n" SYNC RESULT,
     constant_7},
    {"atomics on the first block's word",
     FIRST_LANE "mov.u32 %r1, 0; @%p0 st.shared.u32 [sm], %r1;\n" SYNC
                "mapa.shared::cluster.u32 %r4, sm, %r1; atom.shared::cluster.add.u32 %r5, [%r4], 0; "
                "red.relaxed.cluster.shared::cluster.add.u32 [%r4], 1;\n" SYNC
                "ld.shared::cluster.u32 %r2, [%r4];\n" SYNC RESULT,
     threads_of_all},
    {"atomics on subnormal floats, which shared memory keeps",
     FIRST_LANE "mov.u32 %r1, 1; mov.f32 %f0, 0f00000000; @%p0 st.shared.u32 [sm], %r1;\n" SYNC
                "mov.u32 %r3, sm; cvt.u64.u32 %rd0, %r3; cvta.shared.u64 %rd0, %rd0; mov.u32 %r3, 0; "
                "mapa.u64 %rd1, %rd0, %r3; atom.add.f32 %f1, [%rd1], %f0;\n" SYNC
                "ld.shared.u32 %r2, [sm]; add.u32 %r2, %r2, 6;\n" SYNC RESULT,
     constant_7},
    {"atomics of the cluster's scope on global memory",
     "sub.u32 %r3, %c, %rank; mad.wide.u32 %rd0, %r3, 1024, %out; add.u64 %rd0, %rd0, 1020; mov.u32 %r1, 0; "
     "setp.eq.u32 %p0, %t, 0; setp.eq.and.u32 %p0, %rank, 0, %p0;\n@%p0 st.global.u32 [%rd0], %r1;\n" SYNC
     "red.relaxed.cluster.global.add.u32 [%rd0], 1;\n" SYNC "ld.global.u32 %r2, [%rd0];" RESULT,
     threads_of_all},
    {"words that go round the ring, two barriers a step",
     STORE "mov.u32 %r3, 0;\n" SYNC "L: ld.shared.u32 %r4, [%a]; add.u32 %r4, %r4, 1;\n" SYNC
           "st.shared::cluster.u32 [%b], %r4;\n" SYNC
           "add.u32 %r3, %r3, 1; setp.lt.u32 %p0, %r3, %n;\n@%p0 bra L;\nld.shared.u32 %r2, [%a];" RESULT,
     after_ring},
    {"work between arrival and wait",
     STORE ARRIVE "mov.u32 %r2, 0; st.global.u32 [%mine], %r2; " WAIT
                  "ld.shared::cluster.u32 %r2, [%b];\n" ARRIVE "st.global.u32 [%mine], %r2; " WAIT,
     of_next},
    {"through global memory",
     WORD
     "st.global.u32 [%mine], %r1;\n" SYNC
     "add.u32 %r3, %rank, 1; rem.u32 %r3, %r3, %n; sub.u32 %r4, %c, %rank; add.u32 %r3, %r3, %r4; "
     "mad.wide.u32 %rd0, %r3, 1024, %out; mad.wide.u32 %rd0, %t, 4, %rd0; ld.global.u32 %r2, [%rd0];\n" SYNC
         RESULT,
     of_next},
    {"cp.async, awaited before the barrier",
     WORD "st.global.u32 [%mine], %r1; cp.async.ca.shared.global [%a], [%mine], 4; cp.async.wait_all;\n" SYNC
          "ld.shared::cluster.u32 %r2, [%b];\n" SYNC RESULT,
     of_next},
    {"a bulk copy, awaited by one thread before the barrier",
     "mul.wide.u32 %rd0, %t, 4; sub.u64 %rd0, %mine, %rd0; " WORD "st.global.u32 [%mine], %r1; setp.eq.u32 "
     "%p0, %t, 0; fence.proxy.async;\nbar.sync 0; @%p0 mbarrier.init.shared::cta.b64 [bar], 1; @!%p0 bra J;\n"
     "fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128; "
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sm], [%rd0], 128, [bar];\n"
     "W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; @!%p1 bra W;\nJ:\n" SYNC
     "mov.u32 %r2, 7; setp.lt.u32 %p2, %t, 32; mul.wide.u32 %rd0, %t, 4; @%p2 ld.shared::cluster.u32 %r2, "
     "[%b]; add.u32 %r3, %rank, 1; rem.u32 %r3, %r3, %n; sub.u32 %r3, %r3, %rank; add.u32 %r3, %r3, %c; "
     "shl.b32 %r3, %r3, 12; add.u32 %r3, %r3, %t; sub.u32 %r2, %r2, %r3; add.u32 %r2, %r2, 7; "
     "@!%p2 mov.u32 %r2, 7;\n" SYNC RESULT,
     constant_7},
    {"an exited warp holds up nobody, nor does one that exits after it arrived",
     "mov.u32 %r2, 7; st.global.u32 [%mine], %r2; shr.u32 %r3, %t, 5; setp.eq.u32 %p0, %r3, 2;\n@%p0 ret;\n"
     "setp.eq.u32 %p0, %r3, 1; " ARRIVE "\n@%p0 ret;\n" WAIT SYNC SYNC,
     constant_7},
};

static void directive_of(char text[64], unsigned cluster) {
    snprintf(text, 64, ".reqnctapercluster %u", cluster);
}

static void check_exchange(ptxsim *sim, const struct exchange *e, unsigned cluster, unsigned blocks,
                           unsigned threads, uint64_t out) {
    for (unsigned b = 0; b < blocks; b++)
        for (unsigned t = 0; t < threads; t++) {
            uint32_t got = 0, want = e->want(cluster, b, threads, t);
            CHECK(ptxsim_read(sim, out + b * CLUSTER_BLOCK_BYTES + 4 * t, &got, 4) == PTXSIM_OK &&
                      got == want,
                  "%s: %u blocks of %u, block %u, thread %u: %u, want %u", e->name, blocks, cluster, b, t,
                  got, want);
        }
}

static ptxsim_counts run_exchange(const struct exchange *e, const struct cluster_run *run, unsigned cluster,
                                  unsigned blocks, unsigned threads) {
    static char text[CLUSTER_TEXT];
    char directive[64];
    uint64_t out = 0;
    void *params[] = {&out};
    ptxsim *sim = cluster_create(run, LIMIT);
    directive_of(directive, cluster);
    cluster_text(text, directive, e->code);
    CHECK(ptxsim_alloc(sim, (size_t)blocks * CLUSTER_BLOCK_BYTES, &out) == PTXSIM_OK);
    ptxsim_status status =
        run_kernel(sim, text, (ptxsim_dim3){blocks, 1, 1}, (ptxsim_dim3){threads, 1, 1}, 0, params);
    CHECK(status == PTXSIM_OK, "%s: cluster of %u, %u threads, order %d, seed %d: %s", e->name, cluster,
          threads, (int)run->order, (int)run->seed, ptxsim_fault_text(sim));
    if (status == PTXSIM_OK) check_exchange(sim, e, cluster, blocks, threads, out);
    ptxsim_counts counts = *ptxsim_counts_of(sim);
    bool all_run = !strchr(e->code, '@'); /* lines count no instruction that a guard held back */
    CHECK(!all_run || ptxsim_line_sum(sim).warp_instructions == counts.warp_instructions,
          "%s: lines add up to less", e->name);
    ptxsim_destroy(sim);
    return counts;
}

/* Counts depend on neither schedule nor workers, except where a wait in a seeded one returns false. */
static void run_everywhere(const struct exchange *e, unsigned cluster, unsigned blocks, unsigned threads) {
    ptxsim_counts first = run_exchange(e, &cluster_runs[0], cluster, blocks, threads);
    for (int i = 1; i < CLUSTER_RUNS; i++) {
        ptxsim_counts counts = run_exchange(e, &cluster_runs[i], cluster, blocks, threads);
        bool polls = strstr(e->code, "try_wait") && cluster_runs[i].order == PTXSIM_SEEDED;
        CHECK(polls || memcmp(&counts, &first, sizeof first) == 0, "%s, run %d: other counts", e->name, i);
    }
}

static void run_exchanges(void) {
    static const unsigned shapes[][2] = {{1, 3}, {2, 4}, {3, 6}, {4, 4}, {4, 16}, {8, 8}};
    static const unsigned threads[] = {32, 96, 40};
    for (size_t e = 0; e < sizeof exchanges / sizeof *exchanges; e++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (size_t t = 0; t < sizeof threads / sizeof *threads; t++)
                run_everywhere(&exchanges[e], shapes[s][0], shapes[s][1], threads[t]);
}

/* -- Special registers -------------------------------------------------------------------------------- */

static const char *const specials[] = {
    "cluster_ctarank",  "cluster_nctarank", "cluster_ctaid.x", "cluster_ctaid.y",  "cluster_ctaid.z",
    "clusterid.x",      "clusterid.y",      "clusterid.z",     "cluster_nctaid.x", "cluster_nctaid.y",
    "cluster_nctaid.z", "nclusterid.x",     "nclusterid.y",    "nclusterid.z"};

enum { SPECIALS = sizeof specials / sizeof *specials, SPECIAL_BYTES = 4 * (SPECIALS + 1) };

/* Each block stores all special registers, and whether the cluster is explicit, at a place of its own. */
static void special_text(char *text, size_t size, const char *directive) {
    size_t used = (size_t)snprintf(
        text, size,
        CLUSTER_HEADER ".visible .entry k(.param .u64 out) %s { .reg .b32 %%r<5>; .reg .b64 %%d; .reg .pred "
                       "%%p; ld.param.u64 %%d, [out]; mov.u32 %%r0, %%ctaid.z; mov.u32 %%r1, %%nctaid.y; "
                       "mov.u32 %%r2, %%ctaid.y; mad.lo.u32 %%r0, %%r0, %%r1, %%r2; mov.u32 %%r1, "
                       "%%nctaid.x; mov.u32 %%r2, %%ctaid.x; mad.lo.u32 %%r0, %%r0, %%r1, %%r2; "
                       "mad.wide.u32 %%d, %%r0, %d, %%d;\n",
        directive, (int)SPECIAL_BYTES);
    for (int i = 0; i < SPECIALS; i++)
        used += (size_t)snprintf(text + used, size - used,
                                 "mov.u32 %%r0, %%%s; st.global.u32 [%%d+%d], %%r0;\n", specials[i], 4 * i);
    snprintf(text + used, size - used,
             "mov.pred %%p, %%is_explicit_cluster; selp.u32 %%r0, 1, 0, %%p; st.global.u32 [%%d+%d], %%r0; "
             "ret; }\n",
             4 * SPECIALS);
}

static void check_specials(const uint32_t got[SPECIALS + 1], ptxsim_dim3 grid, ptxsim_dim3 size,
                           ptxsim_dim3 at, bool is_explicit) {
    ptxsim_dim3 in = {at.x % size.x, at.y % size.y, at.z % size.z};
    const uint32_t want[SPECIALS + 1] = {in.x + size.x * (in.y + size.y * in.z),
                                         size.x * size.y * size.z,
                                         in.x,
                                         in.y,
                                         in.z,
                                         at.x / size.x,
                                         at.y / size.y,
                                         at.z / size.z,
                                         size.x,
                                         size.y,
                                         size.z,
                                         grid.x / size.x,
                                         grid.y / size.y,
                                         grid.z / size.z,
                                         is_explicit};
    for (int i = 0; i <= SPECIALS; i++)
        CHECK(got[i] == want[i], "block (%u,%u,%u), %s: %u, want %u", at.x, at.y, at.z,
              i < SPECIALS ? specials[i] : "is_explicit_cluster", got[i], want[i]);
}

static void run_specials(const char *directive, ptxsim_dim3 grid, ptxsim_dim3 size) {
    static char text[CLUSTER_TEXT];
    unsigned blocks = grid.x * grid.y * grid.z;
    uint32_t got[SPECIALS + 1];
    uint64_t out = 0;
    void *params[] = {&out};
    ptxsim *sim = cluster_create(&cluster_runs[0], LIMIT);
    special_text(text, sizeof text, directive);
    CHECK(ptxsim_alloc(sim, (size_t)blocks * SPECIAL_BYTES, &out) == PTXSIM_OK);
    CHECK(run_kernel(sim, text, grid, (ptxsim_dim3){1, 1, 1}, 0, params) == PTXSIM_OK, "%s",
          ptxsim_fault_text(sim));
    for (unsigned b = 0; b < blocks; b++) {
        ptxsim_dim3 at = {b % grid.x, b / grid.x % grid.y, b / grid.x / grid.y};
        CHECK(ptxsim_read(sim, out + (uint64_t)b * SPECIAL_BYTES, got, sizeof got) == PTXSIM_OK);
        check_specials(got, grid, size, at, directive[0] != 0);
    }
    ptxsim_destroy(sim);
}

/* -- Launches, counts, limits ------------------------------------------------------------------------- */

static const struct {
    const char *directive;
    ptxsim_dim3 grid;
    ptxsim_status status;
    const char *message;
} launches[] = {
    {".reqnctapercluster 2", {4, 1, 1}, PTXSIM_OK, ""},
    {".reqnctapercluster 2",
     {3, 1, 1},
     PTXSIM_INVALID,
     "a grid of (3,1,1) blocks is no multiple of .reqnctapercluster, 2, 1, 1"},
    {".reqnctapercluster 1, 2", {3, 4, 1}, PTXSIM_OK, ""},
    {".reqnctapercluster 1, 2", {4, 3, 1}, PTXSIM_INVALID, "a grid of (4,3,1) blocks is no multiple"},
    {".reqnctapercluster 1, 1, 2", {4, 4, 1}, PTXSIM_INVALID, "a grid of (4,4,1) blocks is no multiple"},
    {".reqnctapercluster 8", {8, 1, 1}, PTXSIM_OK, ""},
    {".reqnctapercluster 9", {9, 1, 1}, PTXSIM_INVALID, "a cluster of (9,1,1) blocks: 8 blocks are the most"},
    {".reqnctapercluster 65535, 65535, 65535", {1, 1, 1}, PTXSIM_INVALID, "8 blocks are the most"},
    {".explicitcluster .reqnctapercluster 2", {2, 1, 1}, PTXSIM_OK, ""},
    {".explicitcluster", {2, 1, 1}, PTXSIM_INVALID, "nothing says how large a cluster is"},
    {".maxclusterrank 4", {3, 1, 1}, PTXSIM_OK, ""},
};

static void run_launches(void) {
    static char text[CLUSTER_TEXT];
    for (size_t i = 0; i < sizeof launches / sizeof *launches; i++) {
        uint64_t out = 0;
        void *params[] = {&out};
        ptxsim *sim = cluster_create(&cluster_runs[0], LIMIT);
        CHECK(ptxsim_alloc(sim, 64 * CLUSTER_BLOCK_BYTES, &out) == PTXSIM_OK);
        cluster_text(text, launches[i].directive, SYNC);
        ptxsim_status status = run_kernel(sim, text, launches[i].grid, (ptxsim_dim3){32, 1, 1}, 0, params);
        CHECK(status == launches[i].status, "%s: %s", launches[i].directive, ptxsim_fault_text(sim));
        CHECK_TEXT(ptxsim_fault_of(sim)->message, launches[i].message);
        ptxsim_destroy(sim);
    }
}

/* A kernel that exchanges nothing is counted the same in clusters of any size. */
static void run_counts(void) {
    static const struct exchange sync = {"a barrier", SYNC "mov.u32 %r2, 7;" RESULT, constant_7};
    ptxsim_counts one = {0};
    for (unsigned cluster = 1; cluster <= 8; cluster *= 2) {
        ptxsim_counts counts = run_exchange(&sync, &cluster_runs[1], cluster, 8, 64);
        CHECK(counts.barriers == 8 * 2, "%u arrivals", (unsigned)counts.barriers);
        if (cluster == 1) one = counts;
        CHECK(memcmp(&one, &counts, sizeof one) == 0, "clusters of %u: other counts", cluster);
    }
}

/* The limit is one for the blocks of a launch together. */
static void run_limit(void) {
    static char text[CLUSTER_TEXT];
    const struct exchange *e = &exchanges[0];
    uint64_t needed = run_exchange(e, &cluster_runs[0], 4, 8, 64).warp_instructions;
    cluster_text(text, ".reqnctapercluster 4", e->code);
    for (int i = 0; i < CLUSTER_RUNS; i++)
        for (uint64_t less = 0; less < 2; less++) {
            uint64_t out = 0;
            void *params[] = {&out};
            ptxsim *sim = cluster_create(&cluster_runs[i], needed - less);
            CHECK(ptxsim_alloc(sim, 8 * CLUSTER_BLOCK_BYTES, &out) == PTXSIM_OK);
            ptxsim_status status =
                run_kernel(sim, text, (ptxsim_dim3){8, 1, 1}, (ptxsim_dim3){64, 1, 1}, 0, params);
            CHECK(status == (less ? PTXSIM_LIMIT : PTXSIM_OK), "%s", ptxsim_fault_text(sim));
            ptxsim_destroy(sim);
        }
}

/* Blocks get their turns in the order that warps do: of two that write one word, the fault is the later
   one's. */
static void run_order(void) {
    static char text[CLUSTER_TEXT];
    bool seen[2] = {false, false};
    cluster_text(text, ".reqnctapercluster 2", "st.global.u32 [%out], %c;");
    for (int i = 0; i < CLUSTER_RUNS; i++) {
        uint64_t out = 0;
        void *params[] = {&out};
        ptxsim *sim = cluster_create(&cluster_runs[i], LIMIT);
        CHECK(ptxsim_alloc(sim, CLUSTER_BLOCK_BYTES, &out) == PTXSIM_OK);
        CHECK(run_kernel(sim, text, (ptxsim_dim3){2, 1, 1}, (ptxsim_dim3){1, 1, 1}, 0, params) ==
              PTXSIM_RACE);
        unsigned later = ptxsim_fault_of(sim)->block.x;
        CHECK(ptxsim_fault_of(sim)->other.block.x == 1 - later);
        CHECK(cluster_runs[i].order == PTXSIM_SEEDED || later == (cluster_runs[i].order == PTXSIM_IN_ORDER));
        seen[later] |= cluster_runs[i].order == PTXSIM_SEEDED;
        ptxsim_destroy(sim);
    }
    CHECK(seen[0] && seen[1]);
}

static int dump(void) {
    printf(CLUSTER_HEADER);
    for (int i = 0; i < (int)(sizeof exchanges / sizeof *exchanges); i++)
        cluster_dump(i, ".reqnctapercluster 4", exchanges[i].code);
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "dump") == 0) return dump();
    run_exchanges();
    run_specials("", (ptxsim_dim3){3, 2, 2}, (ptxsim_dim3){1, 1, 1});
    run_specials(".reqnctapercluster 2, 2, 2", (ptxsim_dim3){4, 6, 2}, (ptxsim_dim3){2, 2, 2});
    run_specials(".reqnctapercluster 3, 1, 2", (ptxsim_dim3){6, 2, 4}, (ptxsim_dim3){3, 1, 2});
    run_launches();
    run_counts();
    run_limit();
    run_order();
    return check_end();
}
