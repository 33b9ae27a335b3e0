/* SDDMM: every pair of operand types with V = 1 to 16, on the simulator, exact on the edge table. Variants, outputs, the order
 * of C, the layout of B, shapes that are open, fixed, or some of each, unaligned addresses and orders of
 * the warps take turns, so that each meets many pairs.
 * And the longest sums that a kernel with a 4-bit B takes.
 *
 *   sddmm_types_test SPEC [LENGTHS [TURN]]   LENGTHS: how many of the edge table's k each pair and V gets with each pattern (2;
 *                                            17: all); TURN: where the turns begin (0). SPEC's lhs, rhs, vec, order and layout
 *                                            are set here */
#include <stdlib.h>
#include "check.h"
#include "ledger.h"
#include "tour.h"

static const struct {
    int rows;
    const char *text;
} vecs[] = {{2, "2"}, {4, "4"}, {8, "8"}, {16, "16"}, {1, "1"}};
enum { VECS = sizeof vecs / sizeof *vecs };
static const char *const orders[] = {"bcrs", "srbcrs16", "srbcrs32"}, *const layouts[] = {"columns", "rows"};
enum { OPERANDS = 5, MOST_SETTINGS = OPERANDS + PROBLEM_SHAPES + 1 + OUTPUT_FIELDS };

/* How one run differs from the next. */
typedef struct turn {
    tour_mode mode;
    int gap, warp_order, output; /* output: -1 for the sums */
    const char *order, *layout;
    unsigned shapes; /* that mode "fixed" fixes: a bit each, in the order of problem_fix */
    size_t variant;
} turn;

/* All shapes, or as often any of them. */
static unsigned choose_shapes(const tour *t) {
    return tour_choose(t, 9, 2) ? TOUR_ALL_SHAPES : tour_choose(t, 10, TOUR_ALL_SHAPES + 1);
}

static turn turn_of(const tour *t) {
    unsigned outputs = (unsigned)edge_tables[OPERATOR_SDDMM].outputs;
    return (turn){.mode = (tour_mode)tour_choose(t, 0, TOUR_MODES),
                  .gap = (int)tour_choose(t, 1, EDGE_GAPS),
                  .warp_order = (int)tour_choose(t, 2, TOUR_ORDERS),
                  .output = tour_choose(t, 3, 5) < 3 ? -1 : (int)tour_choose(t, 4, outputs),
                  .order = orders[tour_choose(t, 7, 3)],
                  .layout = layouts[tour_choose(t, 8, 2)],
                  .shapes = choose_shapes(t),
                  .variant = tour_choose(t, 6, 2) ? 0 : tour_choose(t, 5, 1 << 20)}; /* 0: the default */
}

static problem_case make_case(const turn *now, const problem_kind *kind, int mask, int length) {
    problem_case c = edge_case(kind, mask, length, now->gap, now->output >= 0);
    if (now->mode == TOUR_UNALIGNED)
        edge_unalign(&c, kind, now->gap, 1, now->output >= 0 && output_is_16_bit(now->output) ? 2 : 4);
    return c;
}

/* The settings of one run on top of those of the operands. */
static size_t add_settings(const turn *now, const problem_case *c, const problem_kind *kind,
                           fixed_settings *fixed, mc_setting *settings) {
    size_t count = OPERANDS;
    if (now->mode == TOUR_FIXED) count = tour_fix(c, kind, now->shapes, fixed, settings, count);
    if (now->mode == TOUR_UNALIGNED) settings[count++] = (mc_setting){"align", "1"};
    if (now->output < 0) return count;
    return count + output_settings(OPERATOR_SDDMM, now->output, settings + count);
}

static void run_case(tour *t, problem_kind *kind, const char *vec, int mask, int length, long *beyond) {
    turn now = turn_of(t);
    mc_setting settings[MOST_SETTINGS] = {{"lhs", mc_type_text(kind->lhs)},
                                          {"rhs", mc_type_text(kind->rhs)},
                                          {"vec", vec},
                                          {"order", now.order},
                                          {"layout", now.layout}};
    fixed_settings fixed;
    problem p = {0};
    mc_kernel *kernel = NULL;
    kind->layout = now.layout == layouts[0] ? MC_LAYOUT_COLUMNS : MC_LAYOUT_ROWS;
    problem_case c = make_case(&now, kind, mask, length);
    size_t count = add_settings(&now, &c, kind, &fixed, settings);
    mc_status status = tour_kernel(t, settings, count, now.variant, &kernel);
    if (status == MC_OK) status = problem_make(&c, kind, &p, t->diag);
    if (status == MC_OK) {
        *beyond += tour_is_beyond_s32(&p.sums);
        status = problem_run(&p, tour_device(t, now.warp_order), kernel, NULL, t->diag);
    }
    CHECK(status == MC_OK,
          "%s x %s, vec %d, order %s, layout %s, variant %zu, output %d, pattern %d, k %d, n %d, lda %d, ldb "
          "%d, %s (%x), %s, a +%u, b +%u, c +%u: %s",
          settings[0].value, settings[1].value, kind->vec, now.order, now.layout, now.variant, now.output,
          (int)c.pattern, c.k, c.n, problem_lda(&c, kind), problem_ldb(&c, kind), tour_modes[now.mode],
          now.shapes, tour_orders[now.warp_order], c.a_offset, c.b_offset, c.c_offset, mc_diag_text(t->diag));
    mc_diag_clear(t->diag);
    problem_free(&p);
    mc_kernel_destroy(kernel);
    t->turn++;
}

static long run_pair(tour *t, int lhs, int rhs, int vec, int lengths) {
    const edge_table *table = &edge_tables[OPERATOR_SDDMM];
    problem_kind kind;
    long beyond = 0;
    CHECK(tour_kind(t, lhs, rhs, 0, OPERATOR_SDDMM, &kind) == MC_OK, "%s", mc_diag_text(t->diag));
    kind.vec = vecs[vec].rows;
    for (int mask = 0; mask < table->patterns; mask++)
        for (int i = 0; i < lengths; i++)
            run_case(t, &kind, vecs[vec].text, mask,
                     (lhs + 3 * rhs + 2 * vec + mask + 5 * i) % table->lengths, &beyond);
    bool wide = mc_type_bits(kind.lhs) + mc_type_bits(kind.rhs) >= 32;
    CHECK(!wide || lengths < 2 || beyond > 0, "%s x %s: no sum leaves s32", tour_types[lhs], tour_types[rhs]);
    return beyond;
}

/* -- The longest sums ------------------------------------------------------------------------------------ */

/* Values with the greatest digits. */
static const struct longest {
    const char *lhs, *rhs;
    int64_t a, b;
} longest[] = {{"s8", "s4", -128, -8}, {"u8", "s4", 255, -8}, {"s8", "u4", -128, 15},
               {"u8", "u4", 255, 15},  {"s16", "s4", -1, -8}, {"u16", "u4", 65535, 15},
               {"u4", "u4", 15, 15},   {"s4", "s4", -8, -8},  {"s4", "u4", -8, 15},
               {"s12", "u4", -1, 15}};

static void fill(mc_dense *dense, int64_t value) {
    for (int64_t i = 0; i < dense->rows; i++)
        for (int64_t j = 0; j < dense->cols; j++) mc_dense_set(dense, i, j, value);
}

/* One vector of K products A B. */
static mc_status run_longest(tour *t, const mc_kernel *kernel, int k, const struct longest *of) {
    const problem_case c = {.pattern = PATTERN_ONE_FULL, .row_blocks = 1, .k = k, .n = 1, .unfilled = true};
    problem_kind kind;
    problem p = {0};
    mc_status status = problem_kind_of(kernel, &kind, t->diag);
    if (status == MC_OK) status = problem_make(&c, &kind, &p, t->diag);
    if (status == MC_OK) {
        fill(&p.dense_a, of->a);
        fill(&p.b, of->b);
        status = mc_reference_sddmm(&p.a, &p.dense_a, &p.b, kind.layout, &p.sums, t->diag);
    }
    if (status == MC_OK) status = problem_run(&p, tour_device(t, 0), kernel, NULL, t->diag);
    problem_free(&p);
    return status;
}

/* A spec that fixes a k beyond the limit gets a kernel without one. */
static void test_fixed_longer(tour *t, mc_setting *settings, size_t count, int k, const struct longest *of) {
    char text[16];
    mc_kernel *kernel = NULL;
    snprintf(text, sizeof text, "%d", k);
    settings[count++] = (mc_setting){"k", text};
    mc_status status = tour_kernel(t, settings, count, 0, &kernel);
    if (status == MC_OK) status = run_longest(t, kernel, k, of);
    CHECK(status == MC_OK && mc_contract_of_shape(mc_kernel_contract(kernel), "k").limit == 0,
          "%s x %s, k fixed at %d: %s", of->lhs, of->rhs, k, mc_diag_text(t->diag));
    mc_diag_clear(t->diag);
    mc_kernel_destroy(kernel);
}

/* Exact up to the contract's k_limit, refused beyond; exact there where the spec says so. */
static void test_longest(tour *t, const struct longest *of) {
    mc_setting settings[4] = {{"lhs", of->lhs}, {"rhs", of->rhs}, {"vec", "2"}};
    mc_kernel *kernel = NULL;
    mc_status status = tour_kernel(t, settings, 3, 0, &kernel);
    CHECK(status == MC_OK, "%s x %s: %s", of->lhs, of->rhs, mc_diag_text(t->diag));
    if (status == MC_OK) {
        int limit = (int)mc_contract_of_shape(mc_kernel_contract(kernel), "k").limit;
        CHECK(limit > 0, "%s x %s has no limit", of->lhs, of->rhs);
        CHECK(run_longest(t, kernel, limit, of) == MC_OK, "%s x %s, k = %d: %s", of->lhs, of->rhs, limit,
              mc_diag_text(t->diag));
        mc_diag_clear(t->diag);
        CHECK(run_longest(t, kernel, limit + 1, of) == MC_CANNOT, "%s x %s, k = %d", of->lhs, of->rhs,
              limit + 1);
        CHECK_TEXT(mc_diag_text(t->diag), "a spec that fixes k has no limit");
        mc_diag_clear(t->diag);
        test_fixed_longer(t, settings, 3, limit + 1, of);
    }
    mc_diag_clear(t->diag);
    mc_kernel_destroy(kernel);
}

int main(int argc, char **argv) {
    proof_begin(argc, argv);
    if (argc < 2) return 2;
    int lengths = argc > 2 ? atoi(argv[2]) : 2, pairs = 0;
    size_t first = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;
    long beyond = 0;
    tour t;
    CHECK(tour_open(&t, argv[1], first), "%s", mc_diag_text(t.diag));
    for (int lhs = 0; check_failed == 0 && lhs < TOUR_TYPES; lhs++)
        for (int rhs = 0; rhs < TOUR_TYPES; rhs++, pairs++)
            for (int vec = 0; vec < VECS; vec++) beyond += run_pair(&t, lhs, rhs, vec, lengths);
    for (size_t i = 0; check_failed == 0 && i < sizeof longest / sizeof *longest; i++)
        test_longest(&t, &longest[i]);
    printf("coverage: %d pairs of types, V = 1, 2, 4, 8, 16: %zu runs, %ld of them with sums beyond s32\n",
           pairs, t.turn - first, beyond);
    tour_close(&t);
    return proof_end(check_end());
}
