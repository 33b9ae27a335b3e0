/* Can the checks fail? 200 seeded mutations of the PTX, each one operand, one index or one barrier: at least
 * 95 % (of fewer mutations, which say less, 85 %) must be caught, by a wrong result or a stop of the simulator. A mutation that provably changes no
 * result does not count: rules (mutations_*.c) say which those are, and why.
 *
 *   mutation_test SUITE SPEC [SEED [COUNT]]   SUITE: gather, types, shared, exact, ring, sddmm, sddmm_window, sddmm_dense; of
 *                                             floats: floats, float_ring, sddmm_floats, sddmm_window_floats, sddmm_dense_floats */
#include "check.h"
#include "mutations.h"
#include <stdlib.h>

/* Warp instructions: ten times what the longest problem takes, so that a loop without end is soon caught. */
#define LIMIT "2000000"

typedef struct bench {
    const mutation_suite *suite;
    problem problems[MUTATION_KERNELS][MUTATION_CASES];
    mc_kernel *kernels[MUTATION_KERNELS];
    char *ptx[MUTATION_KERNELS]; /* what is mutated */
    mc_device *devices[2];
    mc_diag *diag;
} bench;

/* Of the types that the kernel multiplies. */
static mc_status make_problems(bench *t, int kernel) {
    problem_kind kind;
    mc_status status = problem_kind_of(t->kernels[kernel], &kind, t->diag);
    for (int i = 0; status == MC_OK && i < t->suite->case_count; i++)
        status = problem_make(&t->suite->cases[i], &kind, &t->problems[kernel][i], t->diag);
    return status;
}

static bool bench_open(bench *t, const char *spec_path) {
    t->diag = mc_diag_create();
    mc_status status = mc_device_open("sim:limit=" LIMIT, &t->devices[0], t->diag);
    if (status == MC_OK)
        status = mc_device_open("sim:reversed:landing=first:limit=" LIMIT, &t->devices[1], t->diag);
    for (int i = 0; status == MC_OK && i < t->suite->kernel_count; i++) {
        mc_spec *spec = NULL;
        size_t count = 0;
        while (count < MUTATION_SETTINGS && t->suite->kernels[i][count].field) count++;
        status = mc_spec_read(spec_path, t->suite->kernels[i], count, &spec, t->diag);
        if (status == MC_OK) status = mc_kernel_generate(spec, 0, &t->kernels[i], t->diag);
        mc_spec_destroy(spec);
    }
    for (int i = 0; status == MC_OK && i < t->suite->kernel_count; i++) status = make_problems(t, i);
    for (int i = 0; status == MC_OK && i < t->suite->kernel_count; i++) {
        int places = 0;
        const char *ptx = mc_kernel_ptx(t->kernels[i]);
        t->ptx[i] = t->suite->rounds ? shorten_rounds(ptx, 1, &places) : strdup(ptx);
        CHECK(t->ptx[i] && (places > 0) == t->suite->rounds, "%d rounds", places);
    }
    CHECK(status == MC_OK, "%s", mc_diag_text(t->diag));
    return status == MC_OK;
}

static void bench_close(bench *t) {
    for (int i = 0; i < t->suite->kernel_count; i++) {
        for (int j = 0; j < t->suite->case_count; j++) problem_free(&t->problems[i][j]);
        mc_kernel_destroy(t->kernels[i]);
        free(t->ptx[i]);
    }
    for (int i = 0; i < 2; i++) mc_device_close(t->devices[i]);
    mc_diag_destroy(t->diag);
}

/* Whether PTX in place of the kernel's own is exact on every problem in both orders. */
static bool survives(bench *t, int kernel, const char *ptx) {
    bool exact = true;
    for (int i = 0; exact && i < 2 * t->suite->case_count; i++) {
        exact = problem_run(&t->problems[kernel][i / 2], t->devices[i % 2], t->kernels[kernel], ptx,
                            t->diag) == MC_OK;
        if (exact) mc_diag_clear(t->diag);
    }
    return exact;
}

/* -- The mutations ------------------------------------------------------------------------------------ */

typedef struct tally {
    int caught, survived, equivalent;
} tally;

static const char *equivalent(const equivalence *rules, const mutation *m) {
    for (; rules->holds; rules++)
        if (rules->holds(m)) return rules->why;
    return NULL;
}

static const char *const kind_names[] = {"operand", "index", "barrier"};

static void try_one(bench *t, int number, uint64_t *state, tally *sum) {
    int index = number % t->suite->kernel_count;
    const mc_kernel *kernel = t->kernels[index];
    mutation_kind kind = number % 10 == 0 ? MUTATE_BARRIER : number % 2 ? MUTATE_OPERAND : MUTATE_INDEX;
    mutation m;
    char *ptx = mutate(t->ptx[index], kind, state, &m);
    if (!ptx) ptx = mutate(t->ptx[index], MUTATE_OPERAND, state, &m); /* one warp: no barrier */
    CHECK(ptx, "no mutation");
    if (!ptx) return;
    m.entry = mc_kernel_contract(kernel)->entry, m.ptx = t->ptx[index];
    const char *why = equivalent(t->suite->equivalents, &m);
    if (why) sum->equivalent++;
    else if (survives(t, index, ptx))
        sum->survived++, why = "NOT CAUGHT: no problem of the table tells it apart";
    else sum->caught++;
    if (why)
        printf("%s of %s, line %d: %s\n  was%s\n  is %s\n", kind_names[m.kind], m.entry, m.line, why, m.from,
               m.to);
    mc_diag_clear(t->diag);
    free(ptx);
}

static const mutation_suite *find_suite(const char *name) {
    static const mutation_suite *const lists[] = {spmm_mutations, float_mutations, ring_mutations,
                                                  sddmm_mutations};
    for (int i = 0; i < LENGTH(lists); i++)
        for (const mutation_suite *suite = lists[i]; suite->name; suite++)
            if (strcmp(suite->name, name) == 0) return suite;
    return NULL;
}

int main(int argc, char **argv) {
    static bench t;
    tally sum = {0};
    if (argc < 3) return 2;
    t.suite = find_suite(argv[1]);
    if (!t.suite) return 2;
    uint64_t state = argc > 3 ? strtoull(argv[3], NULL, 0) : 2024;
    int count = argc > 4 ? atoi(argv[4]) : 200;
    if (bench_open(&t, argv[2])) {
        for (int i = 0; i < t.suite->kernel_count; i++)
            CHECK(survives(&t, i, t.ptx[i]), "the kernel itself: %s", mc_diag_text(t.diag));
        for (int i = 0; check_failed == 0 && sum.caught + sum.survived < count; i++)
            try_one(&t, i, &state, &sum);
        printf("%d mutations: %d caught, %d survived; %d more are provably equivalent\n",
               sum.caught + sum.survived, sum.caught, sum.survived, sum.equivalent);
        int least = count < 200 ? 85 : 95;
        CHECK(sum.caught * 100 >= least * (sum.caught + sum.survived), "fewer than %d %% caught", least);
    }
    bench_close(&t);
    return check_end();
}
