/* Broken kernels of wgmma pipelines, each found in every schedule and diagnosed at its line, and their right twins. */
#include "order_kernels.h"

static char text[WGMMA_TEXT];

static void make_text(const char *directive, const char *code) {
    int length = snprintf(text, sizeof text, WGMMA_KERNEL, directive, code);
    CHECK(length > 0 && length < (int)sizeof text);
}

/* Whether a line of the text ends with MARK. */
static bool is_marked(int line, const char *mark) {
    const char *start = text;
    for (; line > 1 && start; line--) start = strchr(start, '\n') ? strchr(start, '\n') + 1 : NULL;
    const char *end = start ? strchr(start, '\n') : NULL, *at = start ? strstr(start, mark) : NULL;
    return at && end && at < end;
}

static ptxsim_status launch(const struct broken_wgmma *k, const char *code, const struct async_run *run,
                            ptxsim **sim, uint64_t *out) {
    *sim = async_create(run);
    make_text(k->directive, code);
    uint64_t in = wgmma_input(*sim);
    CHECK(ptxsim_alloc(*sim, WGMMA_RESULT_BYTES, out) == PTXSIM_OK);
    void *params[] = {&in, out};
    return run_kernel(*sim, text, (ptxsim_dim3){k->blocks, 1, 1}, (ptxsim_dim3){k->threads, 1, 1}, 0, params);
}

/* In order, with copies that land late, the fault is as the table says. Other schedules may come upon the same mistake
   elsewhere, where the kernel is marked for that. */
static void run_wrong(const struct broken_wgmma *k, int number) {
    const struct async_run *run = &async_runs[number];
    ptxsim *sim;
    uint64_t out;
    ptxsim_status status = launch(k, k->wrong, run, &sim, &out);
    int line = ptxsim_fault_of(sim)->line;
    bool here = is_marked(line, "//!") || (number > 0 && is_marked(line, "//?"));
    CHECK(status != PTXSIM_OK && here, "%s, order %d, landing %d, seed %d: %s", k->name, (int)run->order,
          (int)run->landing, (int)run->seed, ptxsim_fault_text(sim));
    if (number == 0) {
        CHECK(status == k->status, "%s: %s", k->name, ptxsim_fault_text(sim));
        CHECK_TEXT(ptxsim_fault_of(sim)->message, k->message);
    }
    ptxsim_destroy(sim);
}

static void run_right(const struct broken_wgmma *k, const struct async_run *run) {
    ptxsim *sim;
    uint64_t out;
    ptxsim_status status = launch(k, k->right, run, &sim, &out);
    CHECK(status == PTXSIM_OK, "right twin of: %s, order %d, seed %d: %s", k->name, (int)run->order,
          (int)run->seed, ptxsim_fault_text(sim));
    for (unsigned block = 0; status == PTXSIM_OK && k->count && block < k->blocks; block++)
        for (int t = 0; t < 128; t++) {
            float sums[4];
            uint64_t at = out + (block * (uint64_t)k->threads + (unsigned)t) * sizeof sums;
            CHECK(ptxsim_read(sim, at, sums, sizeof sums) == PTXSIM_OK);
            for (int i = 0; i < 4; i++)
                CHECK(sums[i] == wgmma_sum(k->first, k->count, t, i), "right twin of: %s, thread %d: %g",
                      k->name, t, (double)sums[i]);
        }
    ptxsim_destroy(sim);
}

/* Of registers that are not there, ptxas says the same. */
static int dump(void) {
    printf(ASYNC_HEADER);
    for (int i = 0; i < 2 * BROKEN; i++) {
        const struct broken_wgmma *k = broken_at(i / 2);
        if (i % 2 == 0 && strstr(k->name, "setmaxnreg.dec to more")) continue;
        make_text(k->directive, i % 2 ? k->right : k->wrong);
        printf(".visible .entry k%d%s", i, strchr(text + strlen(ASYNC_HEADER), '('));
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "dump") == 0) return dump();
    for (int k = 0; k < BROKEN; k++)
        for (int i = 0; i < ASYNC_RUNS; i++) {
            run_wrong(broken_at(k), i);
            run_right(broken_at(k), &async_runs[i]);
        }
    printf("%d broken kernels, each with a right twin\n", (int)BROKEN);
    CHECK(BROKEN >= 40);
    return check_end();
}
