/* Every pair of operand types that a spec's kernels take, with V = 1 to 16, on the simulator: exact on the edge table.
 * Variants, outputs, fixed and open shapes, unaligned addresses and orders of the warps take turns, so that each meets many
 * pairs.
 * And every way to cut values of A into digits, stacked or not: digits "balanced" and "offset", values with digits at their ends.
 *
 *   types_test SPEC [COLUMNS [TURN]]   COLUMNS: how many of the edge table's n each pair and V gets with each pattern (2; 8:
 *                                      all); TURN: where the turns begin (0). SPEC's lhs, rhs and vec are set here */
#include "check.h"
#include "ledger.h"
#include "tour.h"
#include <stdlib.h>

/* Those of the tour, and two behind them. */
static const char *const vecs[] = {"2", "4", "8", "1", "16"};
enum { VECS = sizeof vecs / sizeof *vecs };

static const char tiles[] = "32,64,128,256"; /* what is not for a pair is no variant */
enum {
    RING_ALIGN = 4,
    LONG_ALIGN = 8,
    OPERANDS = 8,
    MOST_SETTINGS = OPERANDS + PROBLEM_SHAPES + 2 + OUTPUT_FIELDS
};

typedef struct session {
    tour tour;
    bool
        ring; /* B passes through shared memory: of 8 bits or more, its rows and address multiples of `unit` bytes */
    int unit;
    bool paper;         /* order: such kernels take no tiles of 256 columns */
    long beyond, exact; /* problems with a sum beyond s32; runs with exact sums */
} session;

/* How one run differs from the next. */
typedef struct turn {
    tour_mode mode;
    int gap, order, output; /* output: -1 for the sums */
    bool exact;             /* in s64, not s32 */
    size_t variant;
} turn;

static turn turn_of(const session *t) {
    return (turn){
        .mode = (tour_mode)tour_choose(
            &t->tour, 0, t->unit == 16 ? TOUR_UNALIGNED : TOUR_MODES), /* tma: nothing is unaligned */
        .gap = (int)tour_choose(&t->tour, 1, EDGE_GAPS),
        .order = (int)tour_choose(&t->tour, 2, TOUR_ORDERS),
        .output = tour_choose(&t->tour, 3, 5) < 3 ? -1 : (int)tour_choose(&t->tour, 4, OUTPUTS),
        .exact = !t->ring && tour_choose(&t->tour, 7, 4) == 0,
        .variant = tour_choose(&t->tour, 6, 2) ? 0 : tour_choose(&t->tour, 5, 1 << 20)}; /* 0: the default */
}

/* The settings of one run on top of the first OPERANDS of SETTINGS. */
static size_t add_settings(const session *t, const turn *now, const problem_case *c, const problem_kind *kind,
                           fixed_settings *fixed, mc_setting *settings) {
    size_t count = OPERANDS;
    if (now->mode == TOUR_FIXED) count = tour_fix(c, kind, TOUR_ALL_SHAPES, fixed, settings, count);
    if (now->mode == TOUR_UNALIGNED)
        settings[count++] = (mc_setting){"align", t->ring ? "4" /* RING_ALIGN */ : "1"};
    if (now->exact) settings[count++] = (mc_setting){"sum", "exact"};
    if (now->exact && now->output < 0) settings[count++] = (mc_setting){"out", "s64"};
    if (now->output < 0) return count;
    return count + output_settings(OPERATOR_SPMM, now->output, settings + count);
}

/* The least multiple of UNIT that is not below X. */
static int multiple(int x, int unit) { return (x + unit - 1) / unit * unit; }

static problem_case make_case(const session *t, const turn *now, const problem_kind *kind, int mask,
                              int column) {
    problem_case c = edge_case(kind, mask, column, now->gap, now->output >= 0);
    if (now->mode == TOUR_UNALIGNED)
        edge_unalign(&c, kind, now->gap, 1, now->output >= 0 && output_is_16_bit(now->output) ? 2 : 4);
    if (now->exact && now->output < 0) c.c_offset = (unsigned)multiple((int)c.c_offset, LONG_ALIGN);
    if (t->ring) {
        c.ldb_gap = multiple(c.n + c.ldb_gap, t->unit / (int)mc_type_size(kind->rhs, 1)) - c.n;
        c.b_offset = (unsigned)multiple((int)c.b_offset, t->unit);
        c.c_offset = (unsigned)multiple((int)c.c_offset, RING_ALIGN);
    }
    return c;
}

/* Of values that KERNEL's digits hold. */
static mc_status make_problem(const problem_case *c, const problem_kind *kind, const mc_kernel *kernel,
                              problem *p, mc_diag *diag) {
    problem_kind held = *kind;
    held.most = mc_pack_most(kernel, kind->lhs);
    return problem_make(c, &held, p, diag);
}

static void run_case(session *t, const problem_kind *kind, mc_setting *settings, int mask, int column) {
    turn now = turn_of(t);
    fixed_settings fixed;
    problem p = {0};
    mc_kernel *kernel = NULL;
    problem_case c = make_case(t, &now, kind, mask, column);
    size_t count = add_settings(t, &now, &c, kind, &fixed, settings);
    mc_status status = tour_kernel(&t->tour, settings, count, now.variant, &kernel);
    if (status == MC_OK) status = make_problem(&c, kind, kernel, &p, t->tour.diag);
    if (status == MC_OK) {
        t->beyond += tour_is_beyond_s32(&p.sums);
        t->exact += now.exact;
        status = problem_run(&p, tour_device(&t->tour, now.order), kernel, NULL, t->tour.diag);
    }
    CHECK(status == MC_OK,
          "%s x %s, vec %d, %s, digits %s, stacking %s, variant %zu, output %d%s, pattern %d, k %d, n %d, "
          "ldb %d, ldc +%d, %s, %s, b "
          "+%u, c "
          "+%u: %s",
          mc_type_text(kind->lhs), mc_type_text(kind->rhs), kind->vec, settings[3].value, settings[5].value,
          settings[6].value, now.variant, now.output, now.exact ? " of exact sums" : "", (int)c.pattern, c.k,
          c.n, problem_ldb(&c, kind), c.ldc_gap, tour_modes[now.mode], tour_orders[now.order], c.b_offset,
          c.c_offset, mc_diag_text(t->tour.diag));
    mc_diag_clear(t->tour.diag);
    problem_free(&p);
    mc_kernel_destroy(kernel);
    t->tour.turn++;
}

static mc_status kind_of(const session *t, int lhs, int rhs, int vec, problem_kind *kind) {
    mc_status status = tour_kind(&t->tour, lhs, rhs, 0, OPERATOR_SPMM, kind);
    kind->vec = atoi(vecs[vec]);
    return status;
}

/* Vectors of 16 rows have no 4-bit mma, and are not multiplied in the paper's order. */
static bool takes(const session *t, int vec, const char *mma) {
    return atoi(vecs[vec]) <= 8 || (!t->paper && strcmp(mma, "int8") == 0);
}

/* MMA: with "int4" the shuffle takes turns too. */
static void run_pair(session *t, int lhs, int rhs, int vec, const char *mma, int columns) {
    mc_setting settings[MOST_SETTINGS] = {
        {"lhs", tour_types[lhs]}, {"rhs", tour_types[rhs]}, {"vec", vecs[vec]},   {"mma", mma},
        {"shuffle", "on"},        {"digits", "top-signed"}, {"stacking", "auto"}, {"tile_n", tiles}};
    problem_kind kind;
    long before = t->beyond;
    if (!takes(t, vec, mma)) return;
    CHECK(kind_of(t, lhs, rhs, vec, &kind) == MC_OK, "%s", mc_diag_text(t->tour.diag));
    for (int mask = 0; mask < EDGE_PATTERNS; mask++)
        for (int i = 0; i < columns; i++) {
            if (strcmp(mma, "int4") == 0) settings[4].value = tour_choose(&t->tour, 6, 2) ? "on" : "off";
            run_case(t, &kind, settings, mask, (lhs + 3 * rhs + 2 * vec + mask + 5 * i) % EDGE_COLUMNS);
        }
    bool wide = mc_type_bits(kind.lhs) + mc_type_bits(kind.rhs) >= 32;
    CHECK(!wide || t->beyond > before, "%s x %s: no sum leaves s32", tour_types[lhs], tour_types[rhs]);
}

/* -- Digits of A ------------------------------------------------------------------------------------------ */

/* How values of several digits are cut, and whether digits share an mma; for signed types or unsigned ones, up to some V. */
static const struct form {
    const char *digits, *stacking;
    bool is_signed;
    int vec;
} forms[] = {{"top-signed", "off", false, 4}, {"top-signed", "auto", true, 4}, {"balanced", "auto", true, 4},
             {"balanced", "off", true, 16},   {"offset", "auto", true, 4},     {"offset", "off", true, 4}};
enum { FORMS = sizeof forms / sizeof *forms };

/* Two values of A that take turns: digits at their ends, and carries from one into the other. */
static const int64_t digit_values[][2] = {
    {-32768, -32768}, {32767, 32767}, {0x00ff, 0x00ff}, {-256, -256},     {0x00ff, -256},
    {0x0080, 0x007f}, {-129, -128},   {-1, 0},          {0x7f7f, 0x7f80}, {-32640, 32639},
};
enum { DIGIT_VALUES = sizeof digit_values / sizeof *digit_values };

/* The nearest one of A's type up to MOST; of unsigned types, those that have its bits. */
static int64_t nearest(mc_type type, int64_t most, int64_t value) {
    int64_t least = mc_type_min(type);
    if (least == 0) value &= most;
    return value < least ? least : value > most ? most : value;
}

static mc_status set_values(const mc_kernel *kernel, const int64_t values[2], problem *p, mc_diag *diag) {
    int64_t most = mc_pack_most(kernel, p->a.type);
    for (int64_t v = 0; v < p->a.vectors; v++)
        for (int r = 0; r < p->a.vec; r++)
            mc_vsparse_set_value(&p->a, v, r, nearest(p->a.type, most, values[(v + r) % 2]));
    mc_dense_free(&p->sums);
    return mc_reference_spmm(&p->a, &p->b, &p->sums, diag);
}

static void run_values(session *t, const problem_kind *kind, const mc_setting *settings,
                       const int64_t values[2]) {
    turn now = turn_of(t);
    now.mode = TOUR_OPEN, now.output = -1, now.exact = false;
    problem p = {0};
    mc_kernel *kernel = NULL;
    problem_case c =
        make_case(t, &now, kind, 3 /* PATTERN_BOUNDARIES */, (int)tour_choose(&t->tour, 8, EDGE_COLUMNS));
    c.values = MC_VALUES_EXTREME;
    mc_status status = tour_kernel(&t->tour, settings, OPERANDS, now.variant, &kernel);
    if (status == MC_OK) status = make_problem(&c, kind, kernel, &p, t->tour.diag);
    if (status == MC_OK) status = set_values(kernel, values, &p, t->tour.diag);
    if (status == MC_OK)
        status = problem_run(&p, tour_device(&t->tour, now.order), kernel, NULL, t->tour.diag);
    CHECK(status == MC_OK, "%s x %s, vec %d, %s, digits %s, stacking %s, values %lld and %lld, n %d: %s",
          settings[0].value, settings[1].value, kind->vec, settings[3].value, settings[5].value,
          settings[6].value, (long long)values[0], (long long)values[1], c.n, mc_diag_text(t->tour.diag));
    mc_diag_clear(t->tour.diag);
    problem_free(&p);
    mc_kernel_destroy(kernel);
    t->tour.turn++;
}

/* With one of the edge table's patterns, and with one of the values. */
static void run_form(session *t, const struct form *form, int lhs, int rhs, int vec, const char *mma) {
    mc_setting settings[MOST_SETTINGS] = {
        {"lhs", tour_types[lhs]}, {"rhs", tour_types[rhs]}, {"vec", vecs[vec]},           {"mma", mma},
        {"shuffle", "on"},        {"digits", form->digits}, {"stacking", form->stacking}, {"tile_n", tiles}};
    problem_kind kind;
    CHECK(kind_of(t, lhs, rhs, vec, &kind) == MC_OK, "%s", mc_diag_text(t->tour.diag));
    if (!takes(t, vec, mma) || kind.vec > form->vec || (mc_type_min(kind.lhs) < 0) != form->is_signed) return;
    run_case(t, &kind, settings, (int)tour_choose(&t->tour, 9, EDGE_PATTERNS),
             (int)tour_choose(&t->tour, 8, EDGE_COLUMNS));
    run_values(t, &kind, settings, digit_values[(3 * rhs + lhs + vec) % DIGIT_VALUES]);
}

/* Those of several digits: of 8 bits, or of 4. COUNT of the V from FIRST on. */
static void test_forms(session *t, int first, int count) {
    for (int lhs = TOUR_WHOLE_BYTES; lhs < TOUR_TYPES; lhs++)
        for (int rhs = t->ring ? TOUR_WHOLE_BYTES : 0; rhs < TOUR_TYPES; rhs++)
            for (int i = 0; i < count * FORMS; i++) {
                const struct form *form = &forms[i / count];
                int vec = first + i % count;
                if (lhs >= TOUR_WIDE) run_form(t, form, lhs, rhs, vec, "int8");
                if (rhs < TOUR_WHOLE_BYTES) run_form(t, form, lhs, rhs, vec, "int4");
            }
}

/* -- The longest sums ------------------------------------------------------------------------------------ */

/* A's values with the greatest digits, and those of a 4-bit B. */
static const struct {
    const char *lhs;
    int64_t value;
    const char *digits;
} longest[] = {{"s4", -8, "top-signed"},
               {"u4", 15, "top-signed"},
               {"s8", -128, "top-signed"},
               {"u8", 255, "top-signed"},
               {"s12", -1, "top-signed"},
               {"s16", -1, "top-signed"},
               {"s16", -32640, "balanced"} /* -128 and -127 */,
               {"s16", 32767, "offset"},
               {"u16", 65535, "top-signed"}};
static const struct {
    const char *rhs;
    int64_t value;
} halves[] = {{"s4", -8}, {"u4", 15}};

static void fill(problem *p, int64_t a, int64_t b) {
    for (int64_t v = 0; v < p->a.vectors; v++)
        for (int r = 0; r < p->a.vec; r++) mc_vsparse_set_value(&p->a, v, r, a);
    for (int64_t k = 0; k < p->b.rows; k++)
        for (int64_t n = 0; n < p->b.cols; n++) mc_dense_set(&p->b, k, n, b);
}

/* One full row of K products A B, in an even and an odd column. */
static mc_status run_longest(session *t, const mc_kernel *kernel, int k, int64_t a, int64_t b) {
    const problem_case c = {
        .pattern = PATTERN_ONE_FULL, .row_blocks = 1, .k = k, .n = 2, .ldb_gap = 30, .unfilled = true};
    problem_kind kind;
    problem p = {0};
    mc_status status = problem_kind_of(kernel, &kind, t->tour.diag);
    if (status == MC_OK) status = problem_make(&c, &kind, &p, t->tour.diag);
    if (status == MC_OK) {
        fill(&p, a, b);
        status = mc_reference_spmm(&p.a, &p.b, &p.sums, t->tour.diag);
    }
    if (status == MC_OK) status = problem_run(&p, tour_device(&t->tour, 0), kernel, NULL, t->tour.diag);
    problem_free(&p);
    return status;
}

/* A spec that fixes a K beyond the limit gets a kernel without one. */
static void test_fixed_longer(session *t, mc_setting *settings, size_t count, int k, int64_t a, int64_t b) {
    char text[16];
    mc_kernel *kernel = NULL;
    snprintf(text, sizeof text, "%d", k);
    settings[count++] = (mc_setting){"k", text};
    mc_status status = tour_kernel(&t->tour, settings, count, 0, &kernel);
    if (status == MC_OK) status = run_longest(t, kernel, k, a, b);
    CHECK(status == MC_OK && mc_contract_of_shape(mc_kernel_contract(kernel), "k").limit == 0,
          "%s x %s, k fixed at %d: %s", settings[0].value, settings[1].value, k, mc_diag_text(t->tour.diag));
    mc_diag_clear(t->tour.diag);
    mc_kernel_destroy(kernel);
}

/* Exact up to the contract's k_limit, refused beyond; exact there where the spec says so. */
static void test_longest(session *t, const char *lhs, const char *digits, const char *rhs, int64_t a,
                         int64_t b) {
    mc_setting settings[7] = {{"lhs", lhs},   {"rhs", rhs},    {"vec", "2"},
                              {"split", "1"}, {"mma", "int8"}, {"digits", digits}};
    mc_kernel *kernel = NULL;
    mc_status status = tour_kernel(&t->tour, settings, 6, 0, &kernel);
    CHECK(status == MC_OK, "%s x %s: %s", lhs, rhs, mc_diag_text(t->tour.diag));
    if (status == MC_OK) {
        int limit = (int)mc_contract_of_shape(mc_kernel_contract(kernel), "k").limit;
        CHECK(limit > 0, "%s x %s has no limit", lhs, rhs);
        CHECK(run_longest(t, kernel, limit, a, b) == MC_OK, "%s x %s, k = %d: %s", lhs, rhs, limit,
              mc_diag_text(t->tour.diag));
        mc_diag_clear(t->tour.diag);
        CHECK(run_longest(t, kernel, limit + 1, a, b) == MC_CANNOT, "%s x %s, k = %d", lhs, rhs, limit + 1);
        CHECK_TEXT(mc_diag_text(t->tour.diag), "a spec that fixes k has no limit");
        mc_diag_clear(t->tour.diag);
        test_fixed_longer(t, settings, 6, limit + 1, a, b);
    }
    mc_diag_clear(t->tour.diag);
    mc_kernel_destroy(kernel);
}

/* -- Tiles of 256 columns -------------------------------------------------------------------------------- */

/* Whole tiles, and the tail of one. */
static const int wide_columns[] = {512, 300};

static void run_wide(session *t, mc_setting *settings, size_t count, int columns) {
    turn now = turn_of(t);
    mc_kernel *kernel = NULL;
    problem_kind kind;
    problem p = {0};
    const problem_case c = {
        .pattern = PATTERN_EMPTY_BLOCKS, .row_blocks = 9, .k = 200, .n = columns, .ldb_gap = -columns & 31};
    mc_status status = tour_kernel(&t->tour, settings, count, now.variant, &kernel);
    if (status == MC_OK) status = problem_kind_of(kernel, &kind, t->tour.diag);
    if (status == MC_OK) status = problem_make(&c, &kind, &p, t->tour.diag);
    if (status == MC_OK)
        status = problem_run(&p, tour_device(&t->tour, now.order), kernel, NULL, t->tour.diag);
    CHECK(status == MC_OK, "%s x %s, vec %s, split %s, variant %zu, n %d: %s", settings[0].value,
          settings[1].value, settings[2].value, settings[3].value, now.variant, columns,
          mc_diag_text(t->tour.diag));
    mc_diag_clear(t->tour.diag);
    problem_free(&p);
    mc_kernel_destroy(kernel);
    t->tour.turn++;
}

static void test_wide(session *t) {
    static const char *const lefts[] = {"s8", "u16"}, *const splits[] = {"1", "2", "4"};
    for (int i = 0; i < 2 * 2 * 3 * TOUR_VECS * 2; i++) {
        const char *split = splits[i / 4 % 3];
        mc_setting settings[] = {{"lhs", lefts[i % 2]},
                                 {"rhs", halves[i / 2 % 2].rhs},
                                 {"vec", tour_vecs[i / 12 % TOUR_VECS]},
                                 {"split", split},
                                 {"tile_n", "256"},
                                 {"warps", "4"},
                                 {"mma", "int8"}};
        run_wide(t, settings, sizeof settings / sizeof *settings, wide_columns[i / 12 / TOUR_VECS]);
    }
}

/* Every pair with COUNT of the V from FIRST on. Returns how many pairs there are. */
static int test_pairs(session *t, int first, int count, int columns) {
    int pairs = 0;
    for (int lhs = 0; check_failed == 0 && lhs < TOUR_TYPES; lhs++)
        for (int rhs = t->ring ? TOUR_WHOLE_BYTES : 0; rhs < TOUR_TYPES; rhs++, pairs++)
            for (int vec = first; vec < first + count; vec++) {
                run_pair(t, lhs, rhs, vec, "int8", columns);
                if (rhs < TOUR_WHOLE_BYTES && !t->ring) run_pair(t, lhs, rhs, vec, "int4", columns);
            }
    return pairs;
}

/* How the spec's kernels take B. */
static void read_staging(session *t) {
    mc_kernel *kernel = NULL;
    CHECK(tour_kernel(&t->tour, NULL, 0, 0, &kernel) == MC_OK, "%s", mc_diag_text(t->tour.diag));
    const char *staging = kernel ? mc_kernel_field_text(kernel, "staging") : "direct";
    t->unit = strcmp(staging, "tma") == 0 ? 16 : strcmp(staging, "async") == 0 ? 4 : 1;
    t->ring = t->unit > 1;
    t->paper = kernel && strcmp(mc_kernel_field_text(kernel, "order"), "paper") == 0;
    mc_kernel_destroy(kernel);
}

int main(int argc, char **argv) {
    proof_begin(argc, argv);
    if (argc < 2) return 2;
    int columns = argc > 2 ? atoi(argv[2]) : 2;
    size_t first = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;
    session t = {0};
    CHECK(tour_open(&t.tour, argv[1], first), "%s", mc_diag_text(t.tour.diag));
    read_staging(&t);
    int pairs = test_pairs(&t, 0, TOUR_VECS, columns);
    if (check_failed == 0) test_forms(&t, 0, TOUR_VECS);
    size_t sums = sizeof longest / sizeof *longest * 2;
    for (size_t i = t.ring ? 4 : 0 /* 8 bits and more: k stays short */;
         (!t.ring || t.unit == 16) && i < sums; i++)
        test_longest(&t, longest[i / 2].lhs, longest[i / 2].digits, halves[i % 2].rhs, longest[i / 2].value,
                     halves[i % 2].value);
    if ((!t.ring || t.unit == 16) && !t.paper) test_wide(&t);
    test_pairs(&t, TOUR_VECS, VECS - TOUR_VECS, columns);
    if (check_failed == 0) test_forms(&t, TOUR_VECS, VECS - TOUR_VECS);
    printf("coverage: %d pairs of types, V = 1 to 16: %zu runs, %ld of them with sums beyond s32, %ld with "
           "exact sums\n",
           pairs, t.tour.turn - first, t.beyond, t.exact);
    tour_close(&t.tour);
    return proof_end(check_end());
}
