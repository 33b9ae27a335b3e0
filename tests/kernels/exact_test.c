/* Sums in s64 (sum = "exact"): rows whose accumulators become full at the last product of a round, one before and
 * one behind it; rounds of one and two strides, which small problems go through many of; f32, f16 and bf16 where sums beyond s32
 * lie between two of their numbers. The same sums modulo 2^32 under sum = "wrap". exact_test SPEC [DEVICE]; on the simulator, if none
 * is named */
#include "products.h"
#include "check.h"
#include "edges.h"
#include "ledger.h"
#include "mutate.h"
#include "proof.h"
#include <inttypes.h>
#include <stdlib.h>

enum { MAX_SETTINGS = 16, STRIDE = 32 };

typedef struct session {
    const char *spec_path;
    mc_device *device;
    bool named; /* the device: it has one order of the warps */
    mc_diag *diag;
} session;

/* The device, to run in order of warps ORDER, 0 or 1; one that was named has its own. */
static mc_device *in_order(const session *s, int order) {
    proof_choose(s->device, s->named ? 0 : order, 1);
    return s->device;
}

/* -- Kernels of settings as one text ---------------------------------------------------------------------- */

/* The kernel of SETTINGS ("lhs=s8 rhs=u8 ..."); NULL where there is none. */
static mc_kernel *make_kernel(session *s, const char *text) {
    char copy[256];
    mc_setting settings[MAX_SETTINGS];
    size_t count = 0;
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *rest = copy, *word; (word = strtok_r(NULL, " ", &rest)) != NULL && count < MAX_SETTINGS;) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        settings[count++] = (mc_setting){word, value};
    }
    mc_status status = mc_spec_read(s->spec_path, settings, count, &spec, s->diag);
    if (status == MC_OK) status = mc_kernel_generate(spec, mc_spec_default(spec), &kernel, s->diag);
    CHECK(status == MC_OK, "%s: %s", text, mc_diag_text(s->diag));
    mc_spec_destroy(spec);
    return kernel;
}

static mc_status make_problem(session *s, const mc_kernel *kernel, const problem_case *c, problem *p) {
    problem_kind kind;
    *p = (problem){0};
    mc_status status = problem_kind_of(kernel, &kind, s->diag);
    return status == MC_OK ? problem_make(c, &kind, p, s->diag) : status;
}

/* The strides of a round, as the PTX says; 0: it has none. */
static int round_of(const mc_kernel *kernel) {
    const char *at = strstr(mc_kernel_ptx(kernel), "Rounds of ");
    return at ? atoi(at + strlen("Rounds of ")) : 0;
}

/* -- Full accumulators ------------------------------------------------------------------------------------ */

#define OFF "stacking=off"

/* One value of A and one of B whose products fill an accumulator fastest, and the strides of 32 after which it is full. DIGITS:
   of A; those of the last rows want V = 2. */
static const struct {
    const char *lhs, *rhs;
    int64_t a, b;
    int strides;
    const char *digits;
} fullest[] = {
    {"u16", "u16", 65535, 65535, 516,
     OFF}, /* 2 products of 255 255: 16512 slots, which fill 516 strides to the last */
    {"s16", "s16", -32513, -32513, 1028, OFF}, /* digits 255 and -128 */
    {"s16", "u16", 32767, 65535, 688, OFF},    /* 127 255 + 255 255 */
    {"u12", "u16", 4095, 65535, 974, OFF},     /* 255 255 + 15 255 */
    {"u8", "u8", 255, 255, 1032, OFF},
    {"s8", "s8", -128, -128, 4095, OFF},
    {"s8", "u8", -128, 255, 2056, OFF},
    {"s16", "u8", 255, 255, 1032, OFF},
    /* odd columns of a 4-bit B are multiplied by 16 */
    {"s16", "s4", -32513, -8, 2056, OFF},
    {"u16", "u4", 65535, 15, 1096, OFF},
    {"u16", "u16", 65535, 65535, 1032, "stacking=on"}, /* planes of 255 255 beside each other */
    {"s16", "u16", 32767, 65535, 516, "digits=offset stacking=off"},
    {"s16", "u16", 32767, 65535, 1032, "digits=offset stacking=on"},
    {"s16", "u8", -32640, 255, 2056, "digits=balanced stacking=on"}, /* digits -128 and -127 */
};
enum { FULLEST = sizeof fullest / sizeof *fullest, STACKED = 10 /* from here on */ };

static void fill(problem *p, int64_t a, int64_t b) {
    for (int64_t v = 0; v < p->a.vectors; v++)
        for (int r = 0; r < p->a.vec; r++) mc_vsparse_set_value(&p->a, v, r, a);
    for (int64_t k = 0; k < p->b.rows; k++)
        for (int64_t j = 0; j < p->b.cols; j++) mc_dense_set(&p->b, k, j, b);
}

/* A full row of K products of A and B, in N columns. */
static mc_status run_row(session *s, const mc_kernel *kernel, int k, int n, int64_t a, int64_t b,
                         bool *beyond) {
    const problem_case c = {.pattern = PATTERN_ONE_FULL, .row_blocks = 1, .k = k, .n = n, .unfilled = true};
    problem p;
    mc_status status = make_problem(s, kernel, &c, &p);
    if (status == MC_OK) {
        fill(&p, a, b);
        status = mc_reference_spmm(&p.a, &p.b, &p.sums, s->diag);
    }
    if (status == MC_OK) {
        int64_t sum = mc_dense_get(&p.sums, 0, 0);
        CHECK(sum == k * a * b, "the reference itself: %" PRId64, sum);
        *beyond = sum < INT32_MIN || sum > INT32_MAX;
        status = problem_run(&p, in_order(s, 0), kernel, NULL, s->diag);
    }
    problem_free(&p);
    return status;
}

/* Rows around one round and two of each of SPLIT warps; modulo 2^32 in a kernel for just that k. */
static void test_full(session *s, int pair, int vec, int split, int n) {
    const int strides = fullest[pair].strides, full = strides * STRIDE * split;
    const int lengths[] = {full - 1, full, full + 1, full + STRIDE * split, 2 * full + 3};
    char common[160], exact[200], wrap[200];
    snprintf(common, sizeof common,
             "lhs=%s rhs=%s mma=int8 vec=%d split=%d warps=8 stride=32 tile_n=64 n=%d %s", fullest[pair].lhs,
             fullest[pair].rhs, vec, split, n, fullest[pair].digits);
    snprintf(exact, sizeof exact, "%s sum=exact out=s64", common);
    mc_kernel *kernel = make_kernel(s, exact);
    if (kernel) CHECK(round_of(kernel) == strides, "%s: rounds of %d", exact, round_of(kernel));
    for (size_t i = 0; kernel && i < sizeof lengths / sizeof *lengths; i++) {
        bool beyond = false;
        snprintf(wrap, sizeof wrap, "%s k=%d", common, lengths[i]);
        mc_kernel *kernels[2] = {kernel, make_kernel(s, wrap)};
        for (int wrapped = 0; kernels[1] && wrapped < 2; wrapped++) {
            mc_status status =
                run_row(s, kernels[wrapped], lengths[i], n, fullest[pair].a, fullest[pair].b, &beyond);
            CHECK(status == MC_OK, "%s, %d products: %s", wrapped ? wrap : exact, lengths[i],
                  mc_diag_text(s->diag));
            mc_diag_clear(s->diag);
        }
        CHECK(beyond || i < 3, "%s: %d products stay in s32", exact, lengths[i]);
        mc_kernel_destroy(kernels[1]);
    }
    mc_kernel_destroy(kernel);
}

/* -- A fixed k -------------------------------------------------------------------------------------------- */

/* The largest k for which accumulators are widened once, at the end. */
static const struct { int pair, k; } single_rounds[] = {{0, 16512}, {4, 33025}, {5, 131071}};

static void test_fixed(session *s) {
    for (size_t i = 0; i < sizeof single_rounds / sizeof *single_rounds; i++)
        for (int more = 0; more < 2; more++) {
            int pair = single_rounds[i].pair, k = single_rounds[i].k + more;
            char text[200];
            bool beyond;
            snprintf(text, sizeof text,
                     "lhs=%s rhs=%s vec=4 split=1 tile_n=64 sum=exact out=s64 k=%d stacking=off",
                     fullest[pair].lhs, fullest[pair].rhs, k);
            mc_kernel *kernel = make_kernel(s, text);
            if (!kernel) continue;
            CHECK((round_of(kernel) > 0) == more, "%s: rounds of %d", text, round_of(kernel));
            mc_status status = run_row(s, kernel, k, 2, fullest[pair].a, fullest[pair].b, &beyond);
            CHECK(status == MC_OK, "%s: %s", text, mc_diag_text(s->diag));
            mc_diag_clear(s->diag);
            mc_kernel_destroy(kernel);
        }
}

/* -- Short rounds ----------------------------------------------------------------------------------------- */

static const char *const short_kernels[] = {
    "lhs=s16 rhs=s16 vec=8 tile_n=64 warps=4 split=4 stride=32 out=s64",
    "lhs=u16 rhs=s8 vec=4 tile_n=128 warps=2 split=1 stride=64 out=s64",
    "lhs=s8 rhs=u12 vec=2 tile_n=32 warps=8 split=2 stride=32 prefetch=off out=f32 scale=row bias=column",
    "lhs=s8 rhs=s8 vec=8 tile_n=128 warps=1 split=1 stride=32 out=f16 scale=tensor",
    "lhs=u4 rhs=s4 mma=int4 vec=2 tile_n=64 warps=2 split=2 stride=64 out=s64",
    "lhs=u16 rhs=u4 mma=int4 vec=4 tile_n=64 warps=4 split=1 stride=32 prefetch=off out=s64",
    "lhs=u4 rhs=s4 mma=int8 vec=2 tile_n=64 warps=2 split=2 stride=64 out=s64",
    "lhs=s12 rhs=s4 mma=int4 vec=8 tile_n=64 warps=4 split=2 stride=64 out=s64",
    "lhs=s12 rhs=s4 mma=int8 vec=8 tile_n=128 warps=4 split=1 stride=32 prefetch=off out=s64",
    "lhs=u8 rhs=s16 vec=8 tile_n=64 warps=4 split=2 stride=32 staging=shared out=s64",
    "lhs=s8 rhs=s8 vec=4 tile_n=128 warps=2 split=1 stride=32 prefetch=off staging=shared out=f32 scale=row",
    "lhs=s16 rhs=u16 vec=2 digits=offset tile_n=64 warps=2 split=2 stride=32 out=s64",
    "lhs=s12 rhs=u8 vec=4 digits=offset tile_n=128 warps=2 split=1 stride=64 out=s64",
    "lhs=s16 rhs=s8 vec=8 tile_n=64 warps=4 split=4 stride=32 order=paper out=s64",
    "lhs=u8 rhs=s8 vec=2 tile_n=128 warps=2 split=1 stride=32 staging=shared order=paper out=s64",
    "lhs=s16 rhs=u4 vec=2 digits=offset tile_n=64 warps=2 split=2 stride=32 order=paper out=s64",
    "lhs=u16 rhs=u8 vec=1 tile_n=128 warps=4 split=4 stride=32 out=s64",
    "lhs=s16 rhs=s16 vec=1 digits=offset tile_n=64 warps=2 split=1 stride=64 out=s64",
    "lhs=s12 rhs=s4 mma=int4 vec=1 digits=offset tile_n=64 warps=2 split=2 stride=64 out=s64",
    "lhs=s16 rhs=u8 vec=1 digits=offset stacking=off tile_n=64 warps=2 split=2 stride=32 out=s64",
    "lhs=u16 rhs=s8 vec=1 tile_n=64 warps=2 split=2 stride=32 order=paper out=s64",
    "lhs=s16 rhs=u16 vec=16 tile_n=64 warps=2 split=2 stride=32 out=s64",
    "lhs=s8 rhs=s8 vec=16 tile_n=64 warps=4 split=1 stride=64 out=f32 scale=row bias=column",
    "lhs=u16 rhs=s4 mma=int8 vec=16 tile_n=64 warps=2 split=2 stride=64 out=s64",
    "lhs=u8 rhs=u4 mma=int8 vec=16 tile_n=64 warps=1 split=1 stride=32 staging=shared out=s64",
    "lhs=s16 rhs=u4 mma=int8 vec=4 tile_n=64 warps=8 split=8 stride=32 out=bf16 scale=column",
};

static void test_short(session *s, const char *settings, int turn) {
    char text[200];
    snprintf(text, sizeof text, "%s sum=exact", settings);
    mc_kernel *kernel = make_kernel(s, text);
    if (!kernel) return;
    char *ptx[2];
    for (int i = 0; i < 2; i++) {
        int places = 0;
        ptx[i] = shorten_rounds(mc_kernel_ptx(kernel), i + 1, &places);
        CHECK(ptx[i] && places > 0, "%s: no rounds", text);
    }
    problem_kind kind;
    CHECK(problem_kind_of(kernel, &kind, s->diag) == MC_OK, "%s", mc_diag_text(s->diag));
    for (int run = 0; run < 2 * EDGE_PATTERNS; run++) {
        int column = (turn + 3 * run) % EDGE_COLUMNS, gap = (turn + run) % EDGE_GAPS;
        const problem_case c = edge_case(&kind, run / 2, column, gap, true);
        problem p;
        mc_status status = problem_make(&c, &kind, &p, s->diag);
        if (status == MC_OK)
            status = problem_run(&p, in_order(s, run % 2), kernel, ptx[(run + turn) % 2], s->diag);
        CHECK(status == MC_OK, "%s, pattern %d, n %d, gap %d: %s", text, run / 2, c.n, gap,
              mc_diag_text(s->diag));
        mc_diag_clear(s->diag);
        problem_free(&p);
    }
    for (int i = 0; i < 2; i++) free(ptx[i]);
    mc_kernel_destroy(kernel);
}

/* -- Rounding --------------------------------------------------------------------------------------------- */

/* COUNT products of 32768 and 32768, one of A and 1: sums of COUNT 2^30 + A. With a scale of 1 (f16: 2^-20). */
static const struct {
    const char *out;
    int count;
    int64_t a;
    uint32_t want, wrapped;
} roundings[] = {
    {"f32", 8, 512, 0x50000000, 0x44000000},  /* 2^33 + 2^9: a tie, to even */
    {"f32", 8, 513, 0x50000001, 0x44004000},  /* above */
    {"f32", 8, 1536, 0x50000002, 0x44c00000}, /* the next tie */
    {"f32", 2, 0, 0x4f000000, 0xcf000000},    /* 2^31 */
    {"f32", 7, 3, 0x4fe00000, 0xce800000},    {"bf16", 8, 0, 0x5000, 0},
    {"bf16", 9, 0, 0x5010, 0x4e80},           {"f16", 8, 7, 0x7000, 0x0070}, /* 8192; 7 2^-20 */
};

static void test_rounding(session *s, int row, int split, bool exact) {
    char text[200];
    const problem_case c = {
        .pattern = PATTERN_ONE_FULL, .row_blocks = 1, .k = roundings[row].count + 1, .n = 40};
    problem p;
    mc_output output = {0};
    mc_dense got = {0};
    snprintf(text, sizeof text, "lhs=u16 rhs=u16 vec=8 tile_n=32 warps=4 split=%d out=%s scale=tensor sum=%s",
             split, roundings[row].out, exact ? "exact" : "wrap");
    mc_kernel *kernel = make_kernel(s, text);
    if (!kernel) return;
    mc_status status = make_problem(s, kernel, &c, &p);
    if (status == MC_OK) status = mc_output_of(kernel, &output, s->diag);
    if (status == MC_OK) {
        const float scale = output.type == MC_F16 ? 0x1p-20f : 1;
        const mc_spmm spmm = {.a = &p.a, .b = &p.b, .ldc = c.n, .scale = &scale};
        fill(&p, 32768, 32768);
        for (int r = 0; r < p.a.vec; r++) mc_vsparse_set_value(&p.a, 0, r, roundings[row].a);
        for (int j = 0; j < c.n; j++) mc_dense_set(&p.b, 0, j, 1);
        status = mc_spmm_run(in_order(s, 0), kernel, NULL, &spmm, NULL, &got, s->diag);
    }
    CHECK(status == MC_OK, "%s: %s", text, mc_diag_text(s->diag));
    uint32_t want = exact ? roundings[row].want : roundings[row].wrapped;
    for (int64_t i = 0; status == MC_OK && i < got.rows * got.cols; i++) {
        uint32_t bits = (uint32_t)mc_dense_get(&got, i / got.cols, i % got.cols);
        CHECK(bits == want, "%s, row %d: 0x%x, must be 0x%x", text, row, bits, want);
    }
    mc_dense_free(&got);
    problem_free(&p);
    mc_kernel_destroy(kernel);
}

static void run_all(session *s) {
    static const int vecs[] = {2, 4, 8};
    for (int pair = 0; pair < FULLEST; pair++)
        test_full(s, pair, pair < STACKED ? vecs[pair % 3] : 2, 1, pair % 2 ? 3 : 64);
    test_full(s, 0, 4, 8, 1);
    test_full(s, 4, 8, 2, 64);
    test_full(s, 0, 1, 2, 64);
    test_full(s, 0, 16, 1, 3);
    test_fixed(s);
    for (size_t i = 0; i < sizeof short_kernels / sizeof *short_kernels; i++)
        test_short(s, short_kernels[i], (int)i);
    for (size_t i = 0; i < sizeof roundings / sizeof *roundings; i++)
        for (int turn = 0; turn < 4; turn++) test_rounding(s, (int)i, turn / 2 ? 4 : 1, turn % 2);
}

int main(int argc, char **argv) {
    proof_begin(argc, argv);
    if (argc < 2) return 2;
    const char *const names[] = {argc > 2 ? argv[2] : "sim", "sim:seed=1"};
    session s = {.spec_path = argv[1], .named = argc > 2, .diag = mc_diag_create()};
    CHECK(proof_open(names, s.named ? 1 : 2, &s.device, s.diag) == MC_OK, "%s", mc_diag_text(s.diag));
    if (check_failed == 0) run_all(&s);
    mc_device_close(s.device);
    mc_diag_destroy(s.diag);
    return proof_end(check_end());
}
