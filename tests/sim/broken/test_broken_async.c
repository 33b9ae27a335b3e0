/* Broken asynchronous kernels, each diagnosed with its line under every schedule and whenever copies land. */
#include "async_kernels.h"

static void encode_map(ptxsim *sim, uint64_t address, void *map) {
    ptxsim_tensor t = {.size = sizeof t,
                       .element = PTXSIM_ELEMENT_U32,
                       .rank = 2,
                       .address = address,
                       .dims = {64, 64},
                       .strides = {256},
                       .box = {8, 8}};
    CHECK(ptxsim_tensor_map_encode(sim, &t, map) == PTXSIM_OK, "%s", ptxsim_fault_text(sim));
}

static ptxsim_status launch(ptxsim *sim, const char *code, unsigned threads) {
    static char text[8192];
    _Alignas(64) unsigned char map[PTXSIM_TENSOR_MAP_BYTES];
    uint64_t in = async_input(sim), out = 0;
    CHECK(ptxsim_alloc(sim, 4096, &out) == PTXSIM_OK && ptxsim_fill(sim, out, 0, 4096) == PTXSIM_OK);
    encode_map(sim, in, map);
    void *params[] = {&in, &out, map};
    snprintf(text, sizeof text, ASYNC_KERNEL, code);
    return run_kernel(sim, text, (ptxsim_dim3){1, 1, 1}, (ptxsim_dim3){threads, 1, 1}, 0, params);
}

/* Whether the fault is what is wanted where copies land at once; *DIFFERS: that is not what it is otherwise. */
static bool is_first(const struct broken_async *k, const ptxsim_fault *f, bool *differs) {
    *differs = false;
    for (size_t i = 0; i < sizeof landed_first / sizeof *landed_first; i++) {
        if (strcmp(landed_first[i].name, k->name) != 0) continue;
        *differs = true;
        return f->status == landed_first[i].status && f->line == landed_first[i].line;
    }
    return false;
}

/* Another schedule may come to the other side of a race last; by chance, copies land at once or late. */
static bool is_diagnosed(const struct broken_async *k, const struct async_run *how, const ptxsim_fault *f) {
    bool late = f->status == k->status && f->line == k->line, differs, first = is_first(k, f, &differs);
    if (how->order != PTXSIM_IN_ORDER && k->other && f->status == k->status && f->line == k->other)
        return true;
    if (how->order == PTXSIM_SEEDED) return late || first;
    return differs && how->landing == PTXSIM_LANDING_FIRST ? first : late;
}

static void run(const struct broken_async *k, const struct async_run *how) {
    ptxsim *sim = async_create(how);
    launch(sim, k->code, k->threads);
    const ptxsim_fault *f = ptxsim_fault_of(sim);
    CHECK(is_diagnosed(k, how, f), "%s, order %d, landing %d, seed %d: %s", k->name, (int)how->order,
          (int)how->landing, (int)how->seed, ptxsim_fault_text(sim));
    if (how->order == PTXSIM_IN_ORDER && f->status == k->status) {
        CHECK(f->status != PTXSIM_RACE || f->other.line == k->other, "%s: %s", k->name,
              ptxsim_fault_text(sim));
        CHECK_TEXT(ptxsim_fault_text(sim), k->text);
    }
    ptxsim_destroy(sim);
}

static void run_unrepeated(void) {
    int found = 0;
    for (uint64_t seed = 1; seed <= 16; seed++) {
        ptxsim *sim = async_create(&(struct async_run){PTXSIM_SEEDED, PTXSIM_LANDING_ANY, seed, 1});
        ptxsim_status status = launch(sim, unrepeated_wait, 32);
        CHECK(status == PTXSIM_OK || (status == PTXSIM_ASYNC && ptxsim_fault_of(sim)->line == 13), "%s",
              ptxsim_fault_text(sim));
        found += status == PTXSIM_ASYNC;
        ptxsim_destroy(sim);
    }
    CHECK(found > 0 && found < 16, "%d of 16", found);
}

static int dump(void) {
    static char text[8192];
    printf(ASYNC_HEADER);
    for (size_t i = 0; i < sizeof broken_async / sizeof *broken_async; i++) {
        snprintf(text, sizeof text, ASYNC_KERNEL, broken_async[i].code);
        printf(".visible .entry k%zu%s", i, strchr(text + strlen(ASYNC_HEADER), '('));
    }
    return 0;
}

int main(int argc, char **argv) {
    int broken = 0;
    if (argc > 1 && strcmp(argv[1], "dump") == 0) return dump();
    for (size_t i = 0; i < sizeof broken_async / sizeof *broken_async; i++) {
        broken += broken_async[i].status != PTXSIM_OK;
        for (int r = 0; r < ASYNC_RUNS; r++) run(&broken_async[i], &async_runs[r]);
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        ptxsim *sim = async_create(&async_runs[0]);
        ptxsim_status status = launch(sim, refused[i].code, 32);
        CHECK(status == PTXSIM_UNSUPPORTED || status == PTXSIM_PARSE, "%s", refused[i].code);
        CHECK(ptxsim_fault_of(sim)->line == 8);
        CHECK_TEXT(ptxsim_fault_text(sim), refused[i].text);
        ptxsim_destroy(sim);
    }
    run_unrepeated();
    printf("%d broken kernels\n", broken);
    return check_end();
}
