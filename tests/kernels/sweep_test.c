/* Exactness on the simulator, in several orders of the warps.
 *
 *   sweep_test SPEC MODE [FIELD=VALUE...]
 *   MODE: edges open|fixed|unaligned [PART]   covering set of variants x the whole edge table, or every PARTth place of it,
 *                                             in two orders
 *         judged open|fixed|unaligned [PART]  the same in all orders
 *         outputs open|fixed|unaligned [PART] edges with outputs that are not s32, each run in one order
 *         variants                     every variant x four shapes
 *         tokens                       SpMM: 1 to 17 columns and all gaps between rows of B, variants in turn
 *         long                         SpMM: the default variant on row blocks of up to 2400 vectors
 *         realistic                    the default variant on a matrix like a pruned layer, and where m, n or k is 0 */
#include "check.h"
#include "cover.h"
#include "edges.h"
#include "ledger.h"
#include "proof.h"
#include <stdlib.h>

/* Schedules of the warps, and moments at which copies land (late, if nothing is said); the edge table, which is large, takes
   the first two. */
static const char *const orders[] = {
    "sim", "sim:reversed:landing=first", "sim:seed=1", "sim:seed=2", "sim:seed=3", "sim:seed=4"};
enum { ORDERS = sizeof orders / sizeof *orders, EDGE_ORDERS = 2, MAX_SETTINGS = 8 };

typedef struct sweep {
    const char *spec_path;
    mc_setting settings[MAX_SETTINGS]; /* of all its kernels */
    size_t setting_count;
    problem_kind kind;
    mc_type out; /* without outputs */
    bool fixed;  /* shapes become settings */
    int unit; /* B's address and rows must be multiples of it, in bytes: 16 for staging = "tma" and methods "window" and "dense", 4 for "async", or 1 where its rows have 16 bytes */
    int chunk;  /* methods "window" and "dense": k is fixed at a multiple of it; 0: "gather" */
    int most_k; /* method "window": its tile_k has all of k; 0: others */
    int a_unit; /* bytes that A's rows must be multiples of */
    long refused;
    const char *align; /* setting, or NULL */
    bool with_outputs;
    int output, outputs; /* of output_settings: this one, how many the kernel has */
    mc_device *device;
    int orders; /* that every problem runs in */
    int part;   /* of the edge table: every part'th place of it */
    mc_diag *diag;
    long runs;
} sweep;

/* -- One problem, many variants ----------------------------------------------------------------------- */

static mc_status read_spec(const sweep *s, const problem_case *c, mc_spec **spec) {
    fixed_settings fixed;
    mc_setting settings[MAX_SETTINGS + PROBLEM_SHAPES + 2 + OUTPUT_FIELDS];
    size_t count = s->setting_count;
    memcpy(settings, s->settings, sizeof s->settings);
    problem_fix(c, &s->kind, &fixed);
    for (int i = 0; i < fixed.count; i++)
        if (s->fixed || (s->chunk && strcmp(fixed.settings[i].field, "k") == 0))
            settings[count++] = fixed.settings[i];
    if (s->align) settings[count++] = (mc_setting){"align", s->align};
    if (s->with_outputs) count += output_settings(s->kind.op, s->output, settings + count);
    return mc_spec_read(s->spec_path, settings, count, spec, s->diag);
}

static bool must_refuse_k(const sweep *s, const problem_case *c) { return s->chunk && c->k % s->chunk != 0; }

static bool must_refuse(const sweep *s, const problem_case *c) {
    return mc_type_size(s->kind.rhs, problem_ldb(c, &s->kind)) % s->unit != 0 ||
           (int)c->b_offset % s->unit != 0 ||
           (s->kind.op == OPERATOR_SDDMM &&
            mc_type_size(s->kind.lhs, problem_lda(c, &s->kind)) % s->a_unit != 0);
}

/* What cannot run says so, from the spec or at the launch. */
static void check_refusal(sweep *s, mc_status status, mc_status want, const char *why) {
    CHECK(status == want && strstr(mc_diag_text(s->diag), why) != NULL, "status %d: %s", (int)status,
          mc_diag_text(s->diag));
    mc_diag_clear(s->diag);
    s->refused++;
}

static void run_variant(sweep *s, const problem *p, const mc_spec *spec, size_t variant) {
    mc_kernel *kernel = NULL;
    mc_status status = mc_kernel_generate(spec, variant, &kernel, s->diag);
    bool launches = s->kind.op != OPERATOR_SDDMM || p->a.vectors > 0;
    /* Either every order, or one, and another in the next run. */
    int first = s->with_outputs ? (int)(s->runs % ORDERS) : 0, count = s->with_outputs ? 1 : s->orders;
    proof_choose(s->device, first, count);
    if (status == MC_OK) status = problem_run(p, s->device, kernel, NULL, s->diag);
    const int64_t most_k = kernel ? mc_contract_of_shape(mc_kernel_contract(kernel), "k").limit : 0;
    const bool too_long = most_k > 0 && p->spec->k > most_k;
    if (kernel && launches && (too_long || must_refuse(s, p->spec))) {
        static const char longest[] = "the kernel takes at most";
        const bool either = !must_refuse(s, p->spec) || strstr(mc_diag_text(s->diag), longest);
        check_refusal(s, status, MC_CANNOT, too_long && either ? longest : "multiple of");
        mc_kernel_destroy(kernel);
        return;
    }
    s->runs += count;
    CHECK(status == MC_OK,
          "variant %zu, output %d, pattern %d, k %d, n %d, lda +%d, ldb +%d, ldc +%d, %s: %s", variant,
          s->output, (int)p->spec->pattern, p->spec->k, p->spec->n, p->spec->lda_gap, p->spec->ldb_gap,
          p->spec->ldc_gap, s->fixed ? "fixed" : "open", mc_diag_text(s->diag));
    CHECK(kernel, "%s", mc_diag_text(s->diag));
    mc_diag_clear(s->diag);
    mc_kernel_destroy(kernel);
}

/* VARIANTS NULL: all of them. Returns how many variants there are. */
static void run_case(sweep *s, const problem_case *c, const size_t *variants, size_t count) {
    problem p;
    mc_spec *spec = NULL;
    mc_status status = problem_make(c, &s->kind, &p, s->diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(s->diag));
    if (status != MC_OK) return;
    status = read_spec(s, c, &spec);
    if (must_refuse_k(s, c) || (must_refuse(s, c) && s->fixed))
        check_refusal(s, status, MC_USAGE, "multiple of");
    else CHECK(status == MC_OK, "%s", mc_diag_text(s->diag));
    size_t legal = status == MC_OK ? mc_spec_variant_count(spec) : 0; /* fixed shapes may leave fewer */
    if (!variants) count = legal;
    for (size_t i = 0; legal > 0 && i < count; i++)
        run_variant(s, &p, spec, variants ? variants[i] % legal : i);
    mc_spec_destroy(spec);
    problem_free(&p);
}

/* -- The edge table ----------------------------------------------------------------------------------- */

static void run_edge(sweep *s, bool unaligned, int mask, int length, int gap, const size_t *variants,
                     size_t count) {
    s->output = edge_output(s->kind.op, mask, length, gap) % s->outputs;
    problem_case c = edge_case(&s->kind, mask, length, gap, s->with_outputs);
    if (s->most_k && c.k > s->most_k && !must_refuse_k(s, &c)) return; /* more than its tile_k */
    bool halves = s->with_outputs && output_is_16_bit(s->output);
    if (unaligned) edge_unalign(&c, &s->kind, gap, s->unit, halves ? 2 : mc_type_size(s->out, 1));
    run_case(s, &c, variants, count);
}

/* Every `part`th place of the table; gaps change slowest, so that each of them keeps its share. */
static long run_edges(sweep *s, bool unaligned, const size_t *variants, size_t count) {
    const edge_table *table = &edge_tables[s->kind.op];
    long cases = 0, place = 0;
    for (int gap = 0; gap < EDGE_GAPS; gap++)
        for (int mask = 0; mask < table->patterns; mask++)
            for (int length = 0; length < table->lengths; length++)
                if (place++ % s->part == 0) {
                    run_edge(s, unaligned, mask, length, gap, variants, count);
                    cases++;
                }
    return cases;
}

static void edges(sweep *s, const char *mode) {
    mc_spec *spec = NULL;
    size_t pairs = 0, count = 0, *chosen = NULL;
    bool unaligned = strcmp(mode, "unaligned") == 0;
    s->fixed = strcmp(mode, "fixed") == 0;
    s->align = !unaligned ? NULL : s->unit > 1 ? "4" : "1";
    CHECK(mc_spec_read(s->spec_path, s->settings, s->setting_count, &spec, s->diag) == MC_OK, "%s",
          mc_diag_text(s->diag));
    if (!spec) return;
    chosen = calloc(mc_spec_variant_count(spec), sizeof *chosen);
    if (chosen) count = cover_pairs(spec, chosen, &pairs);
    CHECK(count > 0, "no covering set");
    /* Unaligned addresses change the choice of path, which fields other than tile_n do not touch: half the
     * set. */
    if (unaligned) count = (count + 1) / 2;
    long cases = run_edges(s, unaligned, chosen, count);
    printf(
        "coverage: %s shapes, %zu of %zu variants (%zu pairs of field values%s), %ld edge cases, %d outputs, "
        "%d warp orders%s: %ld runs\n",
        mode, count, mc_spec_variant_count(spec), pairs,
        unaligned ? ", half of the covering set" : ", each covered", cases, s->with_outputs ? s->outputs : 1,
        s->orders, s->with_outputs ? " in turn" : "", s->runs);
    free(chosen);
    mc_spec_destroy(spec);
}

/* -- Every variant ------------------------------------------------------------------------------------ */

enum { SHAPES = 4 };

static const problem_case shapes[OPERATORS][SHAPES] = {
    {{PATTERN_BOUNDARIES, 9, 131, 144, 16, 0, .values = MC_VALUES_FULL},
     {PATTERN_EMPTY_BLOCKS, 5, 300, 128, 0, 0, .values = MC_VALUES_EXTREME},
     {PATTERN_REALISTIC, 6, 256, 45, 3, 0, .values = MC_VALUES_FULL},
     {PATTERN_REALISTIC, 19, 1500, 80, 0, 0, .values = MC_VALUES_FULL}},
    {{PATTERN_SIXTEENS, 12, 144, 131, 0, 0, .values = MC_VALUES_FULL, .lda_gap = 16},
     {PATTERN_EMPTY_BLOCKS, 5, 128, 300, 0, 0, .values = MC_VALUES_EXTREME},
     {PATTERN_REALISTIC, 6, 45, 256, 3, 0, .values = MC_VALUES_FULL, .lda_gap = 1},
     {PATTERN_REALISTIC, 19, 560, 400, 0, 0, .values = MC_VALUES_FULL}},
};

static int next_multiple(int length, int unit) { return (length + unit - 1) / unit * unit; }

/* C with a k and gaps that the kernel takes: none are refused. */
static problem_case fit(const sweep *s, const problem_case *c) {
    problem_case fitting = *c;
    if (!s->chunk) return fitting;
    fitting.k = next_multiple(c->k > 0 ? c->k : 1, s->chunk);
    if (s->most_k && fitting.k > s->most_k) fitting.k = s->most_k;
    fitting.lda_gap = next_multiple(c->lda_gap, 2 * s->unit);
    fitting.ldb_gap = next_multiple(c->ldb_gap, 2 * s->unit);
    return fitting;
}

static void run_fitting(sweep *s, const problem_case *of, const size_t *variants, size_t count) {
    const problem_case c = fit(s, of);
    run_case(s, &c, variants, count);
}

static void variants(sweep *s) {
    for (size_t i = 0; i < SHAPES; i++) run_fitting(s, &shapes[s->kind.op][i], NULL, 0);
    printf("coverage: every variant on %d shapes, %d warp orders: %ld runs\n", SHAPES, s->orders, s->runs);
}

/* Few columns, of B that lies so and so: variants of the covering set in turn, three for each problem. */
static void tokens(sweep *s) {
    enum { MOST = 17, GAPS = 5, VARIANTS = 3 };
    static const problem_case of[] = {
        {.pattern = PATTERN_EMPTY_BLOCKS, .row_blocks = 9, .k = 100, .values = MC_VALUES_FULL},
        {.pattern = PATTERN_BOUNDARIES, .row_blocks = 9, .k = 131, .values = MC_VALUES_FULL},
        {.pattern = PATTERN_ONE_FULL, .row_blocks = 5, .k = 200, .values = MC_VALUES_EXTREME},
        {.pattern = PATTERN_REALISTIC, .row_blocks = 19, .k = 1500, .values = MC_VALUES_FULL},
        {.pattern = PATTERN_ONE_COLUMN, .row_blocks = 2, .k = 1, .values = MC_VALUES_EXTREME}};
    static const int whole[] = {16, 112, 1920, 1000, 1024, 1008};
    enum { PROBLEMS = sizeof of / sizeof *of, WHOLE = sizeof whole / sizeof *whole };
    mc_spec *spec = NULL;
    size_t pairs = 0, count = 0, *chosen = NULL, turn = 0;
    CHECK(mc_spec_read(s->spec_path, s->settings, s->setting_count, &spec, s->diag) == MC_OK, "%s",
          mc_diag_text(s->diag));
    if (spec) chosen = calloc(mc_spec_variant_count(spec), sizeof *chosen);
    if (chosen) count = cover_pairs(spec, chosen, &pairs);
    CHECK(count > 0, "no covering set");
    s->align = s->unit == 1 ? "1" : "4";
    for (int n = 1; count > 0 && n <= MOST; n++)
        for (int i = 0; i < GAPS; i++) {
            problem_case c = of[(n + i) % PROBLEMS];
            size_t variants[VARIANTS];
            c.n = n, c.ldb_gap = i, c.ldc_gap = i % 2, c.b_offset = (unsigned)(n * i % 4);
            for (int j = 0; j < VARIANTS; j++) variants[j] = chosen[turn++ % count];
            run_case(s, &c, variants, VARIANTS);
        }
    /* without gaps, of 1 to 16 bytes a row; an address that is no multiple of 16 among them */
    for (int n = 1; count > 0 && n <= 16; n *= 2)
        for (int i = 0; i < WHOLE; i++) {
            problem_case c = {.pattern = PATTERN_REALISTIC,
                              .row_blocks = 9,
                              .k = whole[i],
                              .n = n,
                              .values = MC_VALUES_FULL,
                              .b_offset = i == WHOLE - 1 ? 8 : 0};
            size_t variants[VARIANTS];
            for (int j = 0; j < VARIANTS; j++) variants[j] = chosen[turn++ % count];
            run_case(s, &c, variants, VARIANTS);
        }
    printf("coverage: 1 to %d columns, gaps of 0 to %d, %zu variants in turn, %d warp orders: %ld runs\n",
           MOST, GAPS - 1, count, s->orders, s->runs);
    free(chosen);
    mc_spec_destroy(spec);
}

static const problem_case layers[OPERATORS] = {
    {.pattern = PATTERN_REALISTIC, .row_blocks = 128, .k = 1024, .n = 256},
    {.pattern = PATTERN_REALISTIC, .row_blocks = 128, .k = 256, .n = 1024},
};
/* Without rows, without columns, and without anything to add up. */
static const problem_case nothing[OPERATORS][SHAPES] = {
    {{PATTERN_ALL_EMPTY, 0, 8, 16, 16, 0, .values = MC_VALUES_FULL},
     {PATTERN_ALL_EMPTY, 2, 8, 0, 32, 1, .values = MC_VALUES_FULL},
     {PATTERN_ALL_EMPTY, 2, 0, 16, 16, 0, .values = MC_VALUES_FULL},
     {PATTERN_ALL_EMPTY, 0, 0, 0, 32, 0, .values = MC_VALUES_FULL}},
    {{PATTERN_ALL_EMPTY, 0, 8, 16, 16, 0, .values = MC_VALUES_FULL, .lda_gap = 8},
     {PATTERN_ALL_EMPTY, 2, 8, 0, 32, 0, .values = MC_VALUES_FULL},
     {PATTERN_SIXTEENS, 12, 0, 131, 16, 0, .values = MC_VALUES_FULL, .lda_gap = 16},
     {PATTERN_EMPTY_BLOCKS, 9, 0, 100, 0, 0, .values = MC_VALUES_FULL}},
};

static void realistic(sweep *s) {
    static const size_t first = 0;
    const problem_case *layer = &layers[s->kind.op];
    for (size_t i = 0; i < SHAPES; i++) run_fitting(s, &nothing[s->kind.op][i], &first, 1);
    run_fitting(s, layer, &first, 1);
    s->fixed = true;
    run_fitting(s, layer, &first, 1);
    printf("coverage: a layer of %d x %d, 80 %% sparse, its other length %d, and sizes of 0: %ld runs\n",
           layer->row_blocks * s->kind.vec, s->kind.op == OPERATOR_SDDMM ? layer->n : layer->k,
           s->kind.op == OPERATOR_SDDMM ? layer->k : layer->n, s->runs);
}

/* Row blocks of more strides than a kernel asks for at once of anything (ring/ahead.c: 32), which begin at various
   numbers. */
static void lengthy(sweep *s) {
    static const size_t first = 0;
    static const problem_case of[] = {
        {.pattern = PATTERN_ONE_FULL, .row_blocks = 3, .k = 2400, .n = 16},
        {.pattern = PATTERN_ONE_COLUMN, .row_blocks = 7, .k = 2010, .n = 48, .values = MC_VALUES_FULL},
        {.pattern = PATTERN_EMPTY_BLOCKS, .row_blocks = 4, .k = 7100, .n = 16, .values = MC_VALUES_FULL}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) run_fitting(s, &of[i], &first, 1);
    printf("coverage: row blocks of up to 2400 vectors, %d warp orders: %ld runs\n", s->orders, s->runs);
}

/* What the spec's kernels multiply, and the unit of their copies. */
static void read_kernel(sweep *s) {
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;
    CHECK(mc_spec_read(s->spec_path, s->settings, s->setting_count, &spec, s->diag) == MC_OK, "%s",
          mc_diag_text(s->diag));
    if (spec) CHECK(mc_kernel_generate(spec, 0, &kernel, s->diag) == MC_OK, "%s", mc_diag_text(s->diag));
    if (kernel) CHECK(problem_kind_of(kernel, &s->kind, s->diag) == MC_OK, "%s", mc_diag_text(s->diag));
    if (kernel) CHECK(mc_type_of(kernel, "out", &s->out, s->diag) == MC_OK, "%s", mc_diag_text(s->diag));
    const char *staging = kernel ? mc_kernel_field_text(kernel, "staging") : NULL;
    if (s->kind.op == OPERATOR_SDDMM) staging = NULL; /* of method "window", which wants 16 either way */
    s->unit = !staging ? 1 : strcmp(staging, "tma") == 0 ? 16 : strcmp(staging, "async") == 0 ? 4 : 1;
    if (s->unit == 4 && mc_type_size(s->kind.rhs, mc_kernel_field(kernel, "tile_n")) == 16) s->unit = 1;
    s->outputs = edge_tables[s->kind.op].outputs;
    s->a_unit = 1;
    const char *method = kernel ? mc_kernel_field_text(kernel, "method") : NULL;
    bool dense = method && strcmp(method, "dense") == 0;
    if (dense) s->outputs /= 2; /* no mask values */
    if (dense || (method && strcmp(method, "window") == 0)) {
        s->unit = 16;
        s->chunk = (int)(64 * 8 / mc_type_size(s->kind.rhs, 8)); /* 64 bytes of B */
        if (strcmp(method, "window") == 0) s->most_k = (int)mc_kernel_field(kernel, "tile_k");
        int64_t with_unit = mc_type_size(s->kind.lhs, s->chunk / 4); /* of A, with 16 bytes of B */
        s->a_unit = dense || with_unit > 16 ? 16 : (int)with_unit;
    }
    mc_kernel_destroy(kernel);
    mc_spec_destroy(spec);
}

/* MODE, SHAPES and PART, as far as they are there. False: they ask for nothing. */
static bool run_mode(sweep *s, int count, char **words) {
    const char *mode = words[0];
    s->with_outputs = strcmp(mode, "outputs") == 0;
    if (s->with_outputs || strcmp(mode, "edges") == 0 || strcmp(mode, "judged") == 0) {
        s->part = count > 2 ? atoi(words[2]) : 1;
        if (count < 2 || s->part < 1) return false;
        if (strcmp(mode, "edges") == 0) s->orders = EDGE_ORDERS;
        edges(s, words[1]);
    } else if (strcmp(mode, "variants") == 0) variants(s);
    else if (strcmp(mode, "tokens") == 0 && s->kind.op == OPERATOR_SPMM) tokens(s);
    else if (strcmp(mode, "long") == 0 && s->kind.op == OPERATOR_SPMM) lengthy(s);
    else if (strcmp(mode, "realistic") == 0) realistic(s);
    else return false;
    return true;
}

/* Takes FIELD=VALUE off the arguments' end. */
static int take_settings(sweep *s, int argc, char **argv) {
    char *equals;
    while (argc > 0 && s->setting_count < MAX_SETTINGS && (equals = strchr(argv[argc - 1], '=')) != NULL) {
        *equals = '\0';
        s->settings[s->setting_count++] = (mc_setting){argv[argc - 1], equals + 1};
        argc--;
    }
    return argc;
}

int main(int argc, char **argv) {
    sweep s = {.orders = ORDERS};
    proof_begin(argc, argv);
    argc = take_settings(&s, argc, argv);
    if (argc < 3) return 2;
    s.spec_path = argv[1];
    s.diag = mc_diag_create();
    CHECK(proof_open(orders, ORDERS, &s.device, s.diag) == MC_OK, "%s", mc_diag_text(s.diag));
    read_kernel(&s);
    if (check_failed == 0)
        CHECK(run_mode(&s, argc - 2, argv + 2),
              "usage: sweep_test SPEC edges|judged|outputs SHAPES [PART], or variants, tokens or realistic");
    if (s.refused)
        printf("%ld kernels refused a k that is too long, or a length of rows or an address that is no "
               "multiple of %d bytes\n",
               s.refused, s.unit);
    mc_device_close(s.device);
    mc_diag_destroy(s.diag);
    return proof_end(check_end());
}
