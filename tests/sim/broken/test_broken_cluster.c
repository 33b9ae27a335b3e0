/* Broken kernels of clusters, each diagnosed with its line, under every schedule and however many clusters
 * run at once. */
#include "cluster_kernels.h"

enum { BROKEN = sizeof broken_clusters / sizeof *broken_clusters, LIMIT = 100000 };

static ptxsim_status launch(const struct broken_cluster *k, const struct cluster_run *run, ptxsim **sim) {
    static char text[CLUSTER_TEXT];
    char directive[64];
    uint64_t out = 0;
    void *params[] = {&out};
    *sim = cluster_create(run, LIMIT);
    snprintf(directive, sizeof directive, ".reqnctapercluster %u", k->cluster);
    cluster_text(text, directive, k->code);
    CHECK(ptxsim_alloc(*sim, (size_t)k->blocks * CLUSTER_BLOCK_BYTES, &out) == PTXSIM_OK &&
          ptxsim_fill(*sim, out, 0, (size_t)k->blocks * CLUSTER_BLOCK_BYTES) == PTXSIM_OK);
    return run_kernel(*sim, text, (ptxsim_dim3){k->blocks, 1, 1}, (ptxsim_dim3){k->threads, 1, 1}, 0, params);
}

static void check_race(const struct broken_cluster *k, ptxsim *sim) {
    const ptxsim_fault *f = ptxsim_fault_of(sim);
    CHECK(f->other.line == k->other && f->race == k->race, "%s: %s", k->name, ptxsim_fault_text(sim));
    CHECK(f->block.x != f->other.block.x || f->thread.x != f->other.thread.x, "%s: %s", k->name,
          ptxsim_fault_text(sim));
}

/* In order, both sides are as the table says. */
static void run_in_order(const struct broken_cluster *k, const struct cluster_run *run) {
    ptxsim *sim;
    ptxsim_status status = launch(k, run, &sim);
    CHECK(status == k->status && ptxsim_fault_of(sim)->line == k->line, "%s: %s", k->name,
          ptxsim_fault_text(sim));
    CHECK_TEXT(ptxsim_fault_of(sim)->message, k->message);
    if (status == PTXSIM_RACE) check_race(k, sim);
    ptxsim_destroy(sim);
}

/* Another schedule may come to the other side last, but it finds the same pair of lines. */
static void run_scheduled(const struct broken_cluster *k, const struct cluster_run *run) {
    ptxsim *sim;
    ptxsim_status status = launch(k, run, &sim);
    int line = ptxsim_fault_of(sim)->line;
    bool lines = line == k->line || (status == PTXSIM_RACE && line == k->other);
    CHECK(status == k->status && lines, "%s, order %d, seed %d: %s", k->name, (int)run->order, (int)run->seed,
          ptxsim_fault_text(sim));
    ptxsim_destroy(sim);
}

static int dump(void) {
    printf(CLUSTER_HEADER);
    for (int i = 0; i < BROKEN; i++) cluster_dump(i, ".reqnctapercluster 4", broken_clusters[i].code);
    return 0;
}

int main(int argc, char **argv) {
    int broken = 0;
    if (argc > 1 && strcmp(argv[1], "dump") == 0) return dump();
    for (const struct broken_cluster *k = broken_clusters; k < broken_clusters + BROKEN; k++) {
        broken += k->status != PTXSIM_OK;
        for (int i = 0; i < CLUSTER_RUNS; i++)
            (cluster_runs[i].order == PTXSIM_IN_ORDER ? run_in_order : run_scheduled)(k, &cluster_runs[i]);
    }
    printf("%d broken kernels\n", broken);
    CHECK(broken >= 40);
    return check_end();
}
