/* Can the checks fail? 200 seeded mutations of the PTX, each one operand, one index or one barrier: at least
 * 95 % must be caught, by a wrong result or a stop of the simulator. A mutation that provably changes no
 * result does not count: rules below say which those are, and why. mutation_test gather|types|shared|exact|ring SPEC [SEED [COUNT]] */
#include "check.h"
#include "mutate.h"
#include "problem.h"
#include <stdlib.h>

/* -- Provably equivalent ------------------------------------------------------------------------------ */

/* The number that a line ends with. */
static long last_number(const char *line) {
    const char *at = strrchr(line, ' ');
    return at ? strtol(at, NULL, 0) : 0;
}

/* bytes of B in a padding slot meet a value of zero */
static bool initial_row(const mutation *m) {
    return m->kind == MUTATE_INDEX && strstr(m->from, "mov.b32") && strstr(m->from, "row") &&
           strstr(m->from, ", 0;");
}

/* columns ascend inside a row block, so slot j holds -1 or a column of at least j; index j is slot j's or, shuffled, one of the
   same 8 */
static bool slot_threshold(const mutation *m) {
    static const long shuffled[] = {0, 2, 4, 6, 1, 3, 5, 7};
    const char *index = strstr(m->from, "index");
    long j = index ? strtol(index + 5, NULL, 10) : 0, slot = j - j % 8 + shuffled[j % 8];
    return m->kind == MUTATE_INDEX && strstr(m->from, "setp.ge.s32") && index &&
           last_number(m->to) <= (slot < j ? slot : j) && last_number(m->to) >= 0;
}

/* a full tile takes the edge path, to the same sums */
static bool sooner_edge(const mutation *m) {
    return m->kind == MUTATE_INDEX && strstr(m->from, "add.s32") && strstr(m->from, "%odd_bits, %tile_col") &&
           last_number(m->to) > last_number(m->from);
}

/* the next tile's columns are computed twice, with the same sums */
static bool longer_edge(const mutation *m) {
    return m->kind == MUTATE_INDEX && strstr(m->from, "part_end") && strstr(m->from, "add") &&
           last_number(m->to) > last_number(m->from);
}

/* what is a generic address is a global address */
static bool unused_conversion(const mutation *m) {
    return strstr(m->from, "cvta.to.global") && strcmp(strrchr(m->from, ' '), strrchr(m->to, ' ')) == 0;
}

/* accumulators become full only in longer rows than these (exact_test.c) */
static bool other_round(const mutation *m) { return m->kind == MUTATE_INDEX && strstr(m->from, "done,"); }

/* In the ring kernel: what would be loaded, if there were a stride or a row block, is not used. */
static bool unread(const mutation *m) {
    static const char *const names[] = {"value", "step", "%place", "next_place", "c_row_block", "%high"};
    if (m->kind != MUTATE_INDEX || !strstr(m->from, "mov.b32") || !strstr(m->from, ", 0;")) return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(m->from, names[i])) return true;
    return (strstr(m->from, "%stride,") || strstr(m->from, "%next_first,")) &&
           last_number(m->to) > 0; /* row_last is 0 */
}

/* windows behind B's last row are zeros, which nothing reads */
static bool more_windows(const mutation *m) {
    return m->kind == MUTATE_INDEX && strstr(m->from, "%windows, %windows, 63") && last_number(m->to) > 63;
}

/* the copying warp uses no other 64-bit register than the map's address */
static bool unused_state(const mutation *m) {
    return m->kind == MUTATE_OPERAND && strstr(m->from, "mbarrier.arrive.expect_tx") &&
           !strstr(m->to, "%state") && !strstr(m->to, "%copy_map");
}

typedef struct equivalence {
    bool (*holds)(const mutation *);
    const char *why;
} equivalence;

static const equivalence gather_equivalents[] = {
    {initial_row, "bytes of B in a padding slot meet a value of zero"},
    {slot_threshold, "columns ascend: slot j holds -1 or a column of at least j"},
    {sooner_edge, "a full tile takes the edge path, to the same sums"},
    {longer_edge, "the next tile's columns are computed twice, with the same sums"},
    {unused_conversion, "a global address is the same number as its generic address"},
    {NULL, NULL},
};
static const equivalence exact_equivalents[] = {
    {initial_row, "bytes of B in a padding slot meet a value of zero"},
    {slot_threshold, "columns ascend: slot j holds -1 or a column of at least j"},
    {sooner_edge, "a full tile takes the edge path, to the same sums"},
    {longer_edge, "the next tile's columns are computed twice, with the same sums"},
    {other_round, "a round of another length gives the same totals, until accumulators are full"},
    {unused_conversion, "a global address is the same number as its generic address"},
    {NULL, NULL},
};
static const equivalence ring_equivalents[] = {
    {unread, "what there is no stride or row block for is not used"},
    {more_windows, "windows behind B's last row are zeros, which nothing reads"},
    {unused_state, "the copying warp uses no other 64-bit register than the map's address"},
    {unused_conversion, "a global address is the same number as its generic address"},
    {NULL, NULL},
};

static const char *equivalent(const equivalence *rules, const mutation *m) {
    for (; rules->holds; rules++)
        if (rules->holds(m)) return rules->why;
    return NULL;
}

/* -- Kernels and problems ----------------------------------------------------------------------------- */

/* Problems take both paths, full and empty row blocks, padding in the first stride, every alignment. */
static const problem_case gather_cases[] = {
    {PATTERN_BOUNDARIES, 9, 131, 129, 0, 0, MC_VALUES_FULL, 0, 0},
    {PATTERN_BOUNDARIES, 9, 131, 128, 0, 0, MC_VALUES_FULL, 0, 0},
    {PATTERN_EMPTY_BLOCKS, 6, 700, 256, 16, 4, MC_VALUES_FULL, 0, 0},
    {PATTERN_BOUNDARIES, 9, 131, 128, 1, 1, MC_VALUES_FULL, 0, 0},
    {PATTERN_BOUNDARIES, 9, 131, 128, 2, 2, MC_VALUES_FULL, 0, 0},
    {PATTERN_BOUNDARIES, 9, 131, 128, 4, 3, MC_VALUES_FULL, 0, 0},
    {PATTERN_BOUNDARIES, 9, 131, 128, 8, 0, MC_VALUES_FULL, 0, 0},
    {PATTERN_BOUNDARIES, 9, 131, 128, 0, 1, MC_VALUES_FULL, 0, 0},
    {PATTERN_BOUNDARIES, 9, 131, 128, 0, 2, MC_VALUES_FULL, 0, 0},
    {PATTERN_BOUNDARIES, 9, 131, 128, 4, 0, MC_VALUES_FULL, 0, 0},
    {PATTERN_BOUNDARIES, 9, 131, 128, 1, 0, MC_VALUES_FULL, 0, 0},
    {PATTERN_BOUNDARIES, 9, 131, 128, 2, 0, MC_VALUES_FULL, 0, 0},
    {PATTERN_BOUNDARIES, 9, 131, 46, 0, 0, MC_VALUES_FULL, 0, 0},
    {PATTERN_ONE_FULL, 5, 300, 47, 0, 0, MC_VALUES_EXTREME, 0, 0},
    {PATTERN_ONE_COLUMN, 3, 1, 1, 0, 0, MC_VALUES_FULL, 0, 0},
};

enum { MAX_SETTINGS = 12 };
static const mc_setting gather_kernels[][MAX_SETTINGS] = {
    {{"tile_n", "128"},
     {"warps", "4"},
     {"split", "4"},
     {"stride", "32"},
     {"prefetch", "on"},
     {"align", "16"}},
    {{"tile_n", "64"}, {"warps", "8"}, {"split", "2"}, {"stride", "64"}, {"prefetch", "on"}, {"align", "16"}},
    {{"tile_n", "32"},
     {"warps", "1"},
     {"split", "1"},
     {"stride", "32"},
     {"prefetch", "off"},
     {"align", "16"}},
    {{"tile_n", "128"},
     {"warps", "2"},
     {"split", "1"},
     {"stride", "32"},
     {"prefetch", "on"},
     {"align", "16"}},
    {{"tile_n", "64"},
     {"warps", "4"},
     {"split", "2"},
     {"stride", "32"},
     {"prefetch", "on"},
     {"align", "16"},
     {"out", "f16"},
     {"scale", "row"},
     {"bias", "column"}},
    {{"tile_n", "128"},
     {"warps", "2"},
     {"split", "1"},
     {"stride", "32"},
     {"prefetch", "on"},
     {"align", "16"},
     {"out", "bf16"},
     {"scale", "column"},
     {"bias", "row"}},
};

/* Digits on either side and both, halves of bytes, each V. */
static const mc_setting type_kernels[][MAX_SETTINGS] = {
    {{"lhs", "s16"},
     {"rhs", "s16"},
     {"vec", "8"},
     {"tile_n", "64"},
     {"warps", "4"},
     {"split", "4"},
     {"stride", "32"},
     {"prefetch", "on"}},
    {{"lhs", "s4"},
     {"rhs", "s4"},
     {"vec", "4"},
     {"tile_n", "128"},
     {"warps", "4"},
     {"split", "2"},
     {"stride", "64"},
     {"prefetch", "on"},
     {"mma", "int8"}},
    {{"lhs", "s8"},
     {"rhs", "s4"},
     {"vec", "4"},
     {"tile_n", "128"},
     {"warps", "4"},
     {"split", "2"},
     {"stride", "64"},
     {"prefetch", "on"},
     {"mma", "int4"}},
    {{"lhs", "u12"},
     {"rhs", "u4"},
     {"vec", "2"},
     {"tile_n", "128"},
     {"warps", "1"},
     {"split", "1"},
     {"stride", "32"},
     {"prefetch", "off"},
     {"mma", "int8"}},
    {{"lhs", "u12"},
     {"rhs", "u4"},
     {"vec", "8"},
     {"tile_n", "64"},
     {"warps", "1"},
     {"split", "1"},
     {"stride", "32"},
     {"prefetch", "off"},
     {"mma", "int4"},
     {"shuffle", "off"}},
    {{"lhs", "s8"},
     {"rhs", "u16"},
     {"vec", "4"},
     {"tile_n", "32"},
     {"warps", "2"},
     {"split", "1"},
     {"stride", "32"},
     {"prefetch", "on"},
     {"out", "f32"},
     {"scale", "row"},
     {"bias", "column"}},
};

/* Sums in s64, from registers and through shared memory. Their rounds are of one stride each. */
static const mc_setting exact_kernels[][MAX_SETTINGS] = {
    {{"lhs", "u16"},
     {"rhs", "s16"},
     {"sum", "exact"},
     {"out", "s64"},
     {"tile_n", "64"},
     {"warps", "4"},
     {"split", "4"},
     {"stride", "32"}},
    {{"lhs", "s16"},
     {"rhs", "s8"},
     {"vec", "4"},
     {"sum", "exact"},
     {"out", "s64"},
     {"tile_n", "64"},
     {"warps", "2"},
     {"split", "1"},
     {"stride", "64"}},
    {{"lhs", "u16"},
     {"rhs", "u8"},
     {"vec", "2"},
     {"sum", "exact"},
     {"out", "f32"},
     {"scale", "row"},
     {"bias", "column"},
     {"tile_n", "32"},
     {"warps", "4"},
     {"split", "2"},
     {"stride", "32"}},
};

/* Rows through shared memory, and the paper's order. */
static const mc_setting shared_kernels[][MAX_SETTINGS] = {
    {{"tile_n", "128"},
     {"warps", "4"},
     {"split", "4"},
     {"stride", "32"},
     {"prefetch", "on"},
     {"order", "paper"}},
    {{"tile_n", "64"},
     {"warps", "2"},
     {"split", "1"},
     {"stride", "64"},
     {"prefetch", "off"},
     {"padding", "off"},
     {"vec", "4"}},
    {{"tile_n", "32"},
     {"warps", "4"},
     {"split", "2"},
     {"stride", "32"},
     {"prefetch", "on"},
     {"order", "paper"},
     {"lhs", "u16"},
     {"vec", "4"}},
    {{"tile_n", "64"},
     {"warps", "1"},
     {"split", "1"},
     {"stride", "32"},
     {"prefetch", "on"},
     {"order", "paper"},
     {"out", "f16"},
     {"scale", "column"},
     {"bias", "row"}},
};

/* Round the ring and more, and B as a whole in it, in turns; tails of n in each 16 columns; windows that no row block reads, an
   odd and an even number of them. */
static const problem_case ring_cases[] = {
    {PATTERN_REALISTIC, 20, 700, 129, 15, 0, MC_VALUES_FULL, 0, 0},
    {PATTERN_EMPTY_BLOCKS, 20, 900, 128, 0, 0, MC_VALUES_FULL, 0, 0},
    {PATTERN_FIRST_COLUMNS, 9, 700, 128, 16, 1, MC_VALUES_FULL, 0, 0},
    {PATTERN_BOUNDARIES, 9, 700, 46, 2, 0, MC_VALUES_FULL, 0, 0},
    {PATTERN_REALISTIC, 50, 180, 130, 14, 2, MC_VALUES_FULL, 0, 0},
    {PATTERN_EMPTY_BLOCKS, 50, 192, 128, 0, 0, MC_VALUES_FULL, 0, 0},
    {PATTERN_REALISTIC, 9, 180, 24, 8, 0, MC_VALUES_FULL, 0, 0},
    {PATTERN_REALISTIC, 9, 180, 57, 7, 2, MC_VALUES_FULL, 0, 0},
    {PATTERN_REALISTIC, 9, 180, 90, 6, 0, MC_VALUES_FULL, 0, 0},
    {PATTERN_REALISTIC, 9, 180, 105, 7, 0, MC_VALUES_FULL, 0, 0},
    {PATTERN_REALISTIC, 9, 180, 72, 8, 0, MC_VALUES_FULL, 0, 0},
    {PATTERN_ALL_EMPTY, 3, 40, 64, 0, 0, MC_VALUES_FULL, 0, 0},
    {PATTERN_ALL_EMPTY, 3, 300, 64, 0, 0, MC_VALUES_FULL, 0, 0},
    {PATTERN_ALL_EMPTY, 3, 640, 64, 0, 0, MC_VALUES_FULL, 0, 0},
    {PATTERN_ONE_COLUMN, 3, 1, 1, 15, 0, MC_VALUES_FULL, 0, 0},
    {PATTERN_ONE_FULL, 5, 300, 47, 1, 0, MC_VALUES_EXTREME, 0, 0},
};

static const mc_setting ring_kernels[][MAX_SETTINGS] = {
    {{"tile_n", "128"},
     {"warps", "4"},
     {"split", "1"},
     {"window", "64"},
     {"stages", "3"},
     {"resident", "on"}},
    {{"tile_n", "128"},
     {"warps", "8"},
     {"split", "4"},
     {"window", "64"},
     {"stages", "3"},
     {"resident", "on"}},
    {{"tile_n", "64"},
     {"warps", "3"},
     {"split", "1"},
     {"window", "64"},
     {"stages", "2"},
     {"resident", "off"},
     {"out", "s32"},
     {"scale", "none"}},
    {{"tile_n", "32"},
     {"warps", "8"},
     {"split", "1"},
     {"window", "64"},
     {"stages", "4"},
     {"resident", "on"},
     {"scale", "column"},
     {"bias", "row"}},
};

#define LENGTH(a) (int)(sizeof(a) / sizeof *(a))

static const struct suite {
    const char *name;
    const problem_case *cases;
    int case_count;
    const mc_setting (*kernels)[MAX_SETTINGS];
    int kernel_count;
    const equivalence *equivalents;
    bool rounds; /* kernels of exact sums */
} suites[] = {
    {"gather", gather_cases, LENGTH(gather_cases), gather_kernels, LENGTH(gather_kernels), gather_equivalents,
     false},
    {"types", gather_cases, LENGTH(gather_cases), type_kernels, LENGTH(type_kernels), gather_equivalents,
     false},
    {"shared", gather_cases, LENGTH(gather_cases), shared_kernels, LENGTH(shared_kernels), gather_equivalents,
     false},
    {"exact", gather_cases, LENGTH(gather_cases), exact_kernels, LENGTH(exact_kernels), exact_equivalents,
     true},
    {"ring", ring_cases, LENGTH(ring_cases), ring_kernels, LENGTH(ring_kernels), ring_equivalents, false},
};

/* Warp instructions: ten times what the longest problem takes, so that a loop without end is soon caught. */
#define LIMIT "2000000"

enum { MAX_CASES = 16, MAX_KERNELS = 8 };

typedef struct bench {
    const struct suite *suite;
    problem problems[MAX_KERNELS][MAX_CASES];
    mc_kernel *kernels[MAX_KERNELS];
    char *ptx[MAX_KERNELS]; /* what is mutated */
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
        while (count < MAX_SETTINGS && t->suite->kernels[i][count].field) count++;
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
    const char *why = equivalent(t->suite->equivalents, &m);
    if (why) sum->equivalent++;
    else if (survives(t, index, ptx))
        sum->survived++, why = "NOT CAUGHT: no problem of the table tells it apart";
    else sum->caught++;
    if (why)
        printf("%s of %s, line %d: %s\n  was%s\n  is %s\n", kind_names[m.kind],
               mc_kernel_contract(kernel)->entry, m.line, why, m.from, m.to);
    mc_diag_clear(t->diag);
    free(ptx);
}

int main(int argc, char **argv) {
    static bench t = {.suite = suites};
    tally sum = {0};
    if (argc < 3) return 2;
    while (t.suite < suites + LENGTH(suites) && strcmp(argv[1], t.suite->name) != 0) t.suite++;
    if (t.suite == suites + LENGTH(suites)) return 2;
    uint64_t state = argc > 3 ? strtoull(argv[3], NULL, 0) : 2024;
    int count = argc > 4 ? atoi(argv[4]) : 200;
    if (bench_open(&t, argv[2])) {
        for (int i = 0; i < t.suite->kernel_count; i++)
            CHECK(survives(&t, i, t.ptx[i]), "the kernel itself: %s", mc_diag_text(t.diag));
        for (int i = 0; check_failed == 0 && sum.caught + sum.survived < count; i++)
            try_one(&t, i, &state, &sum);
        printf("%d mutations: %d caught, %d survived; %d more are provably equivalent\n",
               sum.caught + sum.survived, sum.caught, sum.survived, sum.equivalent);
        CHECK(sum.caught * 100 >= 95 * (sum.caught + sum.survived), "fewer than 95 %% caught");
    }
    bench_close(&t);
    return check_end();
}
