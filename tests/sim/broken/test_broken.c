/* Broken kernels, each diagnosed with its line, under every schedule and however many blocks run at once. */
#include "../harness.h"
#include "order.h"

#include <stdbool.h>

enum { BYTES = 1024, SEEDS = 4 };

static ptxsim_status launch(const struct broken *k, ptxsim_order order, uint64_t seed, unsigned threads,
                            ptxsim **sim) {
    char text[4096];
    uint64_t a;
    void *params[] = {&a};
    ptxsim_options options = {
        .size = sizeof options, .order = order, .max_instructions = 100000, .seed = seed, .threads = threads};
    snprintf(text, sizeof text,
             PTX_HEADER
             ".visible .entry k(.param .u64 a) { .reg .b32 %%r<4>, %%t, %%c; .reg .b64 %%rd<4>; .reg .pred "
             "%%p<2>; .shared .align 16 .b8 sm[1024];\n"
             "ld.param.u64 %%rd0, [a]; mov.u32 %%t, %%tid.x; mov.u32 %%c, %%ctaid.x;\n%s\nret; }\n",
             k->code);
    CHECK(ptxsim_create(&options, sim) == PTXSIM_OK);
    CHECK(ptxsim_alloc(*sim, BYTES, &a) == PTXSIM_OK && ptxsim_fill(*sim, a, 0, BYTES) == PTXSIM_OK);
    return run_kernel(*sim, text, (ptxsim_dim3){k->blocks, 1, 1}, (ptxsim_dim3){k->threads, 1, 1}, 0, params);
}

static bool is_same_thread(const ptxsim_fault *f) {
    return memcmp(&f->block, &f->other.block, sizeof f->block) == 0 &&
           memcmp(&f->thread, &f->other.thread, sizeof f->thread) == 0;
}

/* In order, both sides are as the table says. */
static void run_in_order(const struct broken *k, unsigned threads) {
    ptxsim *sim;
    ptxsim_status status = launch(k, PTXSIM_IN_ORDER, 0, threads, &sim);
    const ptxsim_fault *f = ptxsim_fault_of(sim);
    CHECK(status == k->status, "%s: %s", k->name, ptxsim_fault_text(sim));
    CHECK(f->line == k->line, "%s: %s", k->name, ptxsim_fault_text(sim));
    if (status == PTXSIM_RACE) {
        CHECK(f->other.line == k->other && f->race == k->race, "%s: %s", k->name, ptxsim_fault_text(sim));
        CHECK(!is_same_thread(f), "%s: %s", k->name, ptxsim_fault_text(sim));
    }
    ptxsim_destroy(sim);
}

/* Another schedule may come to the other side last, but it finds the same pair of lines. */
static void run_scheduled(const struct broken *k, ptxsim_order order, uint64_t seed) {
    ptxsim *sim;
    ptxsim_status status = launch(k, order, seed, 0, &sim);
    const ptxsim_fault *f = ptxsim_fault_of(sim);
    bool lines = status != PTXSIM_RACE || f->line == k->line || f->line == k->other;
    CHECK((status == k->status || (status == PTXSIM_UNINIT && k->status == PTXSIM_RACE)) && lines,
          "%s, order %d, seed %d: %s", k->name, (int)order, (int)seed, ptxsim_fault_text(sim));
    ptxsim_destroy(sim);
}

static int run_table(const struct broken *table, size_t count, bool spins) {
    int broken = 0;
    for (const struct broken *k = table; k < table + count; k++) {
        broken += k->status != PTXSIM_OK;
        run_in_order(k, 1);
        run_in_order(k, 2);
        if (!spins) run_scheduled(k, PTXSIM_REVERSED, 0);
        for (uint64_t seed = 1; seed <= SEEDS; seed++) run_scheduled(k, PTXSIM_SEEDED, seed);
    }
    return broken;
}

int main(void) {
#define TABLE(t) t, sizeof t / sizeof *t
    int broken = run_table(TABLE(broken_kernels), false) + run_table(TABLE(warp_messages), true) +
                 run_table(TABLE(block_messages), false);
    printf("%d broken kernels\n", broken);
    CHECK(broken >= 30);
    return check_end();
}
