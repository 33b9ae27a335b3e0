/* Clusters that work: exchanges through distributed shared memory, in every schedule; what special registers
 * say; what a launch refuses; how counts and limits add up. */
#include "cluster_table.h"

enum { LIMIT = 1000000 };

/* -- Exchanges ---------------------------------------------------------------------------------------- */

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
    for (int e = 0; e < EXCHANGES; e++)
        for (int s = 0; s < EXCHANGE_SHAPES; s++)
            for (int t = 0; t < EXCHANGE_THREADS; t++)
                run_everywhere(&exchanges[e], exchange_shapes[s][0], exchange_shapes[s][1],
                               exchange_threads[t]);
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
    for (int i = 0; i < EXCHANGES; i++) cluster_dump(i, ".reqnctapercluster 4", exchanges[i].code);
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
