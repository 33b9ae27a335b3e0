/* cp.async, bulk copies and mbarriers, in every schedule and whenever copies land. */
#include "async_table.h"

enum { BLOCKS = 3, BLOCK_BYTES = 512 };

static void check_results(ptxsim *sim, const struct async_case *c, uint64_t out) {
    for (unsigned t = 0; t < c->threads; t++) {
        uint32_t got = 0;
        if (t >= 64 && ptxsim_read(sim, out + 4 * t, &got, sizeof got) == PTXSIM_UNINIT)
            continue; /* a producer */
        CHECK(ptxsim_read(sim, out + 4 * t, &got, sizeof got) == PTXSIM_OK && got == c->want(t),
              "%s: thread %u: 0x%x, want 0x%x", c->name, t, got, c->want(t));
    }
}

static ptxsim_line run_case(const struct async_case *c, const struct async_run *run) {
    static char text[ASYNC_TEXT];
    ptxsim *sim = async_create(run);
    unsigned char map[PTXSIM_TENSOR_MAP_BYTES] = {0};
    uint64_t in = async_input(sim), out = 0;
    CHECK(ptxsim_alloc(sim, BLOCKS * BLOCK_BYTES, &out) == PTXSIM_OK);
    void *params[] = {&in, &out, map};
    async_text(text, sizeof text, c->code);
    ptxsim_status status =
        run_kernel(sim, text, (ptxsim_dim3){BLOCKS, 1, 1}, (ptxsim_dim3){c->threads, 1, 1}, 0, params);
    CHECK(status == PTXSIM_OK, "%s, order %d, landing %d, seed %d: %s", c->name, (int)run->order,
          (int)run->landing, (int)run->seed, ptxsim_fault_text(sim));
    for (unsigned b = 0; b < BLOCKS && status == PTXSIM_OK; b++) check_results(sim, c, out + b * BLOCK_BYTES);
    ptxsim_line sum = ptxsim_line_sum(sim);
    ptxsim_destroy(sim);
    return sum;
}

/* A wait is counted when it goes on, or returns false: which it does in seeded schedules, and where lanes of a warp wait
   for each other. Otherwise counts do not depend on the schedule, and never on how many blocks run at once. */
static void run_all(int i) {
    ptxsim_line sums[ASYNC_RUNS];
    for (int r = 0; r < ASYNC_RUNS; r++) sums[r] = run_case(&async_cases[i], &async_runs[r]);
    for (int r = 1; async_runs[r].order != PTXSIM_SEEDED && i < ASYNC_CASES - 1; r++)
        CHECK(memcmp(&sums[r], &sums[0], sizeof sums[0]) == 0, "%s, run %d: other counts",
              async_cases[i].name, r);
    CHECK(memcmp(&sums[ASYNC_RUNS - 1], &sums[ASYNC_RUNS - 2], sizeof sums[0]) == 0, "%s: counts by workers",
          async_cases[i].name);
}

static int dump(void) {
    static char text[ASYNC_TEXT], renamed[ASYNC_TEXT];
    printf(ASYNC_HEADER);
    for (int i = 0; i < ASYNC_CASES; i++) {
        async_text(text, sizeof text, async_cases[i].code);
        snprintf(renamed, sizeof renamed, ".visible .entry k%d%s", i,
                 strchr(text + strlen(ASYNC_HEADER), '('));
        printf("%s", renamed);
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "dump") == 0) return dump();
    for (int i = 0; i < ASYNC_CASES; i++) run_all(i);
    return check_end();
}
