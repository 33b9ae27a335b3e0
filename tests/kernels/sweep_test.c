/* Exactness on the simulator, in several orders of the warps.
 *
 *   sweep_test SPEC MODE [FIELD=VALUE...]
 *   MODE: edges open|fixed|unaligned   covering set of variants x the whole edge table, in two orders
 *         judged open|fixed|unaligned  the same in all orders
 *         outputs open|fixed|unaligned edges with outputs that are not s32, each run in one order
 *         variants                     every variant x four shapes
 *         realistic                    the default variant on a matrix like a pruned layer, and where m, n or k is 0 */
#include "check.h"
#include "edges.h"
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
    bool fixed; /* shapes become settings */
    int unit; /* B's address and rows must be multiples of it, in bytes: 16 for staging = "tma", 4 for "async" */
    long refused;
    const char *align; /* setting, or NULL */
    bool with_outputs;
    int output; /* of output_settings */
    mc_device *devices[ORDERS];
    int orders; /* that every problem runs in */
    mc_diag *diag;
    long runs;
} sweep;

/* -- One problem, many variants ----------------------------------------------------------------------- */

static mc_status read_spec(const sweep *s, const problem_case *c, mc_spec **spec) {
    fixed_settings fixed;
    mc_setting settings[MAX_SETTINGS + 6 + OUTPUT_FIELDS];
    size_t count = s->setting_count;
    memcpy(settings, s->settings, sizeof s->settings);
    if (s->fixed) {
        problem_fix(c, &s->kind, &fixed);
        for (int i = 0; i < 5; i++) settings[count++] = fixed.settings[i];
    }
    if (s->align) settings[count++] = (mc_setting){"align", s->align};
    if (s->with_outputs) {
        output_settings(s->output, settings + count);
        count += OUTPUT_FIELDS;
    }
    return mc_spec_read(s->spec_path, settings, count, spec, s->diag);
}

static bool must_refuse(const sweep *s, const problem_case *c) {
    return mc_type_size(s->kind.rhs, problem_ldb(c, &s->kind)) % s->unit != 0 ||
           (int)c->b_offset % s->unit != 0;
}

/* What cannot run says so, from the spec or at the launch. */
static void check_refusal(sweep *s, mc_status status, mc_status want) {
    CHECK(status == want && strstr(mc_diag_text(s->diag), "multiple of") != NULL, "status %d: %s",
          (int)status, mc_diag_text(s->diag));
    mc_diag_clear(s->diag);
    s->refused++;
}

static void run_variant(sweep *s, const problem *p, const mc_spec *spec, size_t variant) {
    mc_kernel *kernel = NULL;
    mc_status status = mc_kernel_generate(spec, variant, &kernel, s->diag);
    if (status == MC_OK && must_refuse(s, p->spec)) {
        check_refusal(s, problem_run(p, s->devices[0], kernel, NULL, s->diag), MC_CANNOT);
        mc_kernel_destroy(kernel);
        return;
    }
    /* Either every order, or one, and another in the next run. */
    int first = s->with_outputs ? (int)(s->runs % ORDERS) : 0, last = s->with_outputs ? first + 1 : s->orders;
    for (int order = first; status == MC_OK && order < last; order++) {
        status = problem_run(p, s->devices[order], kernel, NULL, s->diag);
        s->runs++;
        CHECK(status == MC_OK, "variant %zu, output %d, pattern %d, k %d, n %d, ldb +%d, ldc +%d, %s, %s: %s",
              variant, s->output, (int)p->spec->pattern, p->spec->k, p->spec->n, p->spec->ldb_gap,
              p->spec->ldc_gap, s->fixed ? "fixed" : "open", orders[order], mc_diag_text(s->diag));
    }
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
    if (must_refuse(s, c) && s->fixed) check_refusal(s, status, MC_USAGE);
    else CHECK(status == MC_OK, "%s", mc_diag_text(s->diag));
    if (status == MC_OK && !variants) count = mc_spec_variant_count(spec);
    for (size_t i = 0; status == MC_OK && i < count; i++)
        run_variant(s, &p, spec, variants ? variants[i] : i);
    mc_spec_destroy(spec);
    problem_free(&p);
}

/* -- The edge table ----------------------------------------------------------------------------------- */

static long run_edges(sweep *s, bool unaligned, const size_t *variants, size_t count) {
    long cases = 0;
    for (int i = 0; i < EDGE_PATTERNS; i++) {
        for (int j = 0; j < EDGE_COLUMNS; j++) {
            for (int g = 0; g < EDGE_GAPS; g++, cases++) {
                s->output = (2 * i + j + 3 * g) % OUTPUTS; /* every n meets every output */
                problem_case c = edge_case(&s->kind, i, j, g, s->with_outputs);
                if (unaligned)
                    edge_unalign(&c, &s->kind, g, s->unit, s->with_outputs && output_is_16_bit(s->output));
                run_case(s, &c, variants, count);
            }
        }
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
    printf("coverage: %s shapes, %zu of %zu variants (%zu pairs of field values%s), %ld edge cases, %s%d "
           "warp orders%s: %ld runs\n",
           mode, count, mc_spec_variant_count(spec), pairs,
           unaligned ? ", half of the covering set" : ", each covered", cases,
           s->with_outputs ? "9 outputs, " : "", s->orders, s->with_outputs ? " in turn" : "", s->runs);
    free(chosen);
    mc_spec_destroy(spec);
}

/* -- Every variant ------------------------------------------------------------------------------------ */

static void variants(sweep *s) {
    static const problem_case shapes[] = {
        {PATTERN_BOUNDARIES, 9, 131, 144, 16, 0, MC_VALUES_FULL, 0, 0},
        {PATTERN_EMPTY_BLOCKS, 5, 300, 128, 0, 0, MC_VALUES_EXTREME, 0, 0},
        {PATTERN_REALISTIC, 6, 256, 45, 3, 0, MC_VALUES_FULL, 0, 0},
        {PATTERN_REALISTIC, 19, 1500, 80, 0, 0, MC_VALUES_FULL, 0, 0},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) run_case(s, &shapes[i], NULL, 0);
    printf("coverage: every variant on %zu shapes, %d warp orders: %ld runs\n",
           sizeof shapes / sizeof *shapes, s->orders, s->runs);
}

static void realistic(sweep *s) {
    static const problem_case layer = {PATTERN_REALISTIC, 128, 1024, 256, 0, 0, MC_VALUES_FULL, 0, 0};
    static const problem_case nothing[] = {
        {PATTERN_ALL_EMPTY, 0, 8, 16, 16, 0, MC_VALUES_FULL, 0, 0},
        {PATTERN_ALL_EMPTY, 2, 8, 0, 32, 1, MC_VALUES_FULL, 0, 0},
        {PATTERN_ALL_EMPTY, 2, 0, 16, 16, 0, MC_VALUES_FULL, 0, 0},
        {PATTERN_ALL_EMPTY, 0, 0, 0, 32, 0, MC_VALUES_FULL, 0, 0},
    };
    static const size_t first = 0;
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) run_case(s, &nothing[i], &first, 1);
    run_case(s, &layer, &first, 1);
    s->fixed = true;
    run_case(s, &layer, &first, 1);
    printf("coverage: a 1024 x 1024 layer, 80 %% sparse, n = 256, and sizes of 0: %ld runs\n", s->runs);
}

/* What the spec's kernels multiply, and the unit of their copies. */
static void read_kernel(sweep *s) {
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;
    CHECK(mc_spec_read(s->spec_path, s->settings, s->setting_count, &spec, s->diag) == MC_OK, "%s",
          mc_diag_text(s->diag));
    if (spec) CHECK(mc_kernel_generate(spec, 0, &kernel, s->diag) == MC_OK, "%s", mc_diag_text(s->diag));
    if (kernel) CHECK(problem_kind_of(kernel, &s->kind, s->diag) == MC_OK, "%s", mc_diag_text(s->diag));
    const char *staging = kernel ? mc_kernel_field_text(kernel, "staging") : "";
    s->unit = strcmp(staging, "tma") == 0 ? 16 : strcmp(staging, "async") == 0 ? 4 : 1;
    mc_kernel_destroy(kernel);
    mc_spec_destroy(spec);
}

/* False: the arguments ask for nothing. */
static bool run_mode(sweep *s, const char *mode, const char *shapes) {
    s->with_outputs = strcmp(mode, "outputs") == 0;
    if (s->with_outputs || strcmp(mode, "edges") == 0 || strcmp(mode, "judged") == 0) {
        if (!shapes) return false;
        if (strcmp(mode, "edges") == 0) s->orders = EDGE_ORDERS;
        edges(s, shapes);
    } else if (strcmp(mode, "variants") == 0) variants(s);
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
    argc = take_settings(&s, argc, argv);
    if (argc < 3) return 2;
    s.spec_path = argv[1];
    s.diag = mc_diag_create();
    for (int i = 0; i < ORDERS; i++)
        CHECK(mc_device_open(orders[i], &s.devices[i], s.diag) == MC_OK, "%s", mc_diag_text(s.diag));
    read_kernel(&s);
    if (check_failed == 0)
        CHECK(run_mode(&s, argv[2], argc > 3 ? argv[3] : NULL),
              "usage: sweep_test SPEC edges|judged|outputs SHAPES, or variants, or realistic");
    if (s.refused)
        printf("%ld kernels refused B with rows or an address that are no multiples of %d bytes\n", s.refused,
               s.unit);
    for (int i = 0; i < ORDERS; i++) mc_device_close(s.devices[i]);
    mc_diag_destroy(s.diag);
    return check_end();
}
