/* mcbench summary: tables of recorded results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bands.h"
#include "commands.h"
#include "grids.h"
#include "over.h"
#include "results.h"
#include "stats.h"

enum { MAX_CLASSES = 16, MAX_SIZES = 16, LABEL_WIDTH = 36, SHOWN_VARIANTS = 8 };

static const double long_us = 20; /* problems above it should come near their floor */

/* The distinct values of what results are grouped by, ascending. */
typedef struct groups {
    double classes[MAX_CLASSES], sizes[MAX_SIZES];
    size_t class_count, size_count;
} groups;

static void add_distinct(double value, double *list, size_t *count, size_t room) {
    size_t at = 0;
    while (at < *count && list[at] < value) at++;
    if ((at < *count && list[at] == value) || *count == room) return;
    memmove(list + at + 1, list + at, (*count - at) * sizeof *list);
    list[at] = value;
    ++*count;
}

static groups groups_of(const results *r) {
    groups g = {.class_count = 0};
    for (size_t i = 0; i < r->problem_count; i++) {
        add_distinct(r->problems[i].class, g.classes, &g.class_count, MAX_CLASSES);
        add_distinct((double)r->problems[i].size, g.sizes, &g.size_count, MAX_SIZES);
    }
    return g;
}

/* -- The run --------------------------------------------------------------------------------------------- */

static void print_machine(const json_t *line) {
    const char *gpu = "", *driver = "";
    int capability = 0, cuda = 0, lt = 0, sp = 0, lts = 0, cold = 0, between = 0, vec = 0, rounds = 0, sm = 0,
        best = 0;
    json_unpack((json_t *)line, "{s:s, s:s, s:i, s:i, s:i, s:i, s?i, s:b, s?b, s:i, s:i, s:i, s?i}", "gpu",
                &gpu, "driver", &driver, "capability", &capability, "cuda", &cuda, "cublaslt", &lt,
                "cusparse", &sp, "cusparselt", &lts, "cold", &cold, "between", &between, "vec", &vec,
                "rounds", &rounds, "sm_mhz", &sm, "best", &best);
    char pruned[40] = "";
    if (lts > 0) snprintf(pruned, sizeof pruned, ", cuSPARSELt %d", lts);
    printf("%s (sm_%d, %d MHz before), driver %s, CUDA %d.%d, cuBLASLt %d, cuSPARSE %d%s; V = %d, %s L2, "
           "medians of %d "
           "rounds%s\n",
           gpu, capability, sm, driver, cuda / 1000, cuda % 1000 / 10, lt, sp, pruned, vec,
           cold ? "cold" : "warm", rounds, between ? ", an ordinary kernel before each launch" : "");
    if (best > 0) printf("Of each problem's variants only the %d that the estimate puts first\n", best);
}

static const char *const packed_words[] = {
    [PACKED_DEVICE] = "on the device, where its format can be",
    [PACKED_ARRAYS] = "on the device, where its format can be, out of CSR's arrays there",
    [PACKED_HOST] = "on the host"};

static void print_head(const results *r) {
    size_t notes = 0;
    for (size_t i = 0; i < r->line_count; i++) {
        const char *kind = json_string_value(json_object_get(r->lines[i], "kind"));
        if (strcmp(kind, "machine") == 0) print_machine(r->lines[i]);
        notes += strcmp(kind, "note") == 0;
    }
    printf("%zu problems", r->problem_count);
    if (notes > 0) printf(", %zu notes of contenders that could not take part or were wrong", notes);
    printf("\n");
    if (r->rule.products > 0)
        printf("Times have their share of what is prepared once, for %lld products; ours is packed %s\n",
               (long long)r->rule.products, packed_words[r->rule.packed]);
}

/* -- Speeds ---------------------------------------------------------------------------------------------- */

/* Speeds of LABEL in CLASS where the size is as asked for (0: any), into VALUES; how many. */
static size_t gather_speeds(const results *r, size_t label, double class, double size, double *values) {
    size_t count = 0;
    for (size_t i = 0; i < r->problem_count; i++) {
        const result_problem *p = &r->problems[i];
        double speed = result_speed(p, label);
        if (speed > 0 && p->class == class && (size == 0 || (double)p->size == size)) values[count++] = speed;
    }
    return count;
}

/* A spec that is the only one of its types would be the same row twice. */
static bool is_shown(const results *r, size_t label) {
    return r->parents[label] == 0 || label_is_part(r, label);
}

static void print_speed_table(const results *r, const groups *g, double size, double *values) {
    if (size > 0) printf("\n%c = %.0f\n", r->problems[0].size_name, size);
    else printf("\nSpeed over the fastest verified %s, geometric means (problems)\n", r->labels[0]);
    printf("%-*s", LABEL_WIDTH, "sparsity");
    for (size_t c = 0; c < g->class_count; c++) printf("%13g", g->classes[c]);
    printf("\n");
    for (size_t label = 1; label < r->label_count; label++) {
        if (!is_shown(r, label)) continue;
        printf("%-*s", LABEL_WIDTH, r->labels[label]);
        for (size_t c = 0; c < g->class_count; c++) {
            size_t count = gather_speeds(r, label, g->classes[c], size, values);
            if (count == 0) printf("%13s", "-");
            else printf("%7.2f (%3zu)", geometric_mean(values, count), count);
            if (count > 0) printf(" ");
        }
        printf("\n");
    }
}

/* -- Floors ---------------------------------------------------------------------------------------------- */

static void print_floor(const results *r, size_t label, double *values) {
    size_t all = 0, longer = 0, below = 0;
    double least = 0;
    for (size_t i = 0; i < r->problem_count; i++)
        if (r->problems[i].best[label].fraction > 0) values[all++] = r->problems[i].best[label].fraction;
    if (all == 0) return;
    double mean = geometric_mean(values, all);
    for (size_t i = 0; i < r->problem_count; i++) {
        const result_best *b = &r->problems[i].best[label];
        if (b->fraction <= 0 || b->us <= long_us) continue;
        values[longer++] = b->fraction;
        below += b->fraction < 0.6;
        if (least == 0 || b->fraction < least) least = b->fraction;
    }
    printf("%-*s %.2f of the floor", LABEL_WIDTH - 1, r->labels[label], mean);
    if (longer > 0)
        printf("; the %zu above %.0f us: %.2f, least %.2f, %zu below 0.60", longer, long_us,
               geometric_mean(values, longer), least, below);
    printf("\n");
}

/* -- What the estimate picks ----------------------------------------------------------------------------- */

static void print_picks_of(const results *r, const groups *g, size_t label, double *values) {
    printf("%-*s", LABEL_WIDTH, r->labels[label]);
    for (size_t c = 0; c <= g->class_count; c++) {
        size_t count = 0;
        double worst = 1;
        for (size_t i = 0; i < r->problem_count; i++) {
            const result_problem *p = &r->problems[i];
            const result_best *b = &p->best[label];
            if (b->picked_us <= 0 || (c < g->class_count && p->class != g->classes[c])) continue;
            values[count++] = b->us / b->picked_us;
            if (values[count - 1] < worst) worst = values[count - 1];
        }
        if (count == 0) printf("%13s", "-");
        else printf("%7.2f (%.2f)", geometric_mean(values, count), worst);
    }
    printf("\n");
}

static bool has_picks(const results *r, size_t label) {
    for (size_t i = 0; i < r->problem_count; i++)
        if (r->problems[i].best[label].picked_us > 0) return true;
    return false;
}

/* Contenders are picked from, all specs of the same types together; parts of them are not. */
static void print_picks(const results *r, const groups *g, double *values) {
    bool headed = false;
    for (size_t label = 1; label < r->label_count; label++) {
        if (r->parents[label] > 0 || !has_picks(r, label)) continue;
        if (!headed) {
            printf("\nSpeed of the estimate's pick over the best variant, geometric means (worst)\n%-*s",
                   LABEL_WIDTH, "sparsity");
            for (size_t c = 0; c < g->class_count; c++) printf("%13g", g->classes[c]);
            printf("%13s\n", "all");
        }
        headed = true;
        print_picks_of(r, g, label, values);
    }
}

/* -- Which variants win ---------------------------------------------------------------------------------- */

typedef struct winner {
    const char *variant, *detail;
    size_t wins;
} winner;

static int more_wins(const void *a, const void *b) {
    size_t x = ((const winner *)a)->wins, y = ((const winner *)b)->wins;
    return (x < y) - (x > y);
}

static size_t count_wins(const results *r, size_t label, winner *winners) {
    size_t count = 0;
    for (size_t i = 0; i < r->problem_count; i++) {
        const result_best *b = &r->problems[i].best[label];
        if (b->variant == NULL) continue;
        size_t at = 0;
        while (at < count && strcmp(winners[at].variant, b->variant) != 0) at++;
        if (at == count) winners[count++] = (winner){b->variant, b->detail, 0};
        winners[at].wins++;
    }
    qsort(winners, count, sizeof winners[0], more_wins);
    return count;
}

static void print_winners(const results *r, size_t label, winner *winners) {
    size_t count = count_wins(r, label, winners);
    printf("\n%s: %zu variants are the best of some problem\n", r->labels[label], count);
    for (size_t i = 0; i < count && i < SHOWN_VARIANTS; i++)
        printf("%5zu  %s  %s\n", winners[i].wins, winners[i].variant,
               winners[i].detail != NULL ? winners[i].detail : "");
}

/* -- Losses ---------------------------------------------------------------------------------------------- */

static size_t fastest_cusparse(const results *r, const result_problem *p) {
    size_t best = 0;
    for (size_t label = 1; label < r->label_count; label++)
        if (label_is_cusparse(r->labels[label]) && p->best[label].us > 0 &&
            (best == 0 || p->best[label].us < p->best[best].us))
            best = label;
    return best;
}

static void print_losses(const results *r, size_t label) {
    size_t losses = 0, met = 0;
    for (size_t i = 0; i < r->problem_count; i++) {
        const result_problem *p = &r->problems[i];
        size_t other = fastest_cusparse(r, p);
        if (other == 0 || p->best[label].us <= 0) continue;
        met++;
        if (p->best[other].us >= p->best[label].us) continue;
        if (losses++ == 0) printf("\n%s: slower than cuSPARSE on\n", r->labels[label]);
        printf("  %c %-5lld %8.2f us, %s %8.2f us  %s\n", p->size_name, (long long)p->size, p->best[label].us,
               r->labels[other], p->best[other].us, p->matrix);
    }
    if (losses == 0 && met > 0)
        printf("\n%s: faster than every cuSPARSE format on all %zu problems\n", r->labels[label], met);
}

/* -- The command ----------------------------------------------------------------------------------------- */

/* Contenders of two operators have the same names. */
static mc_status check_operators(const results *r, mc_diag *diag) {
    for (size_t i = 1; i < r->problem_count; i++)
        if (strcmp(r->problems[i].op, r->problems[0].op) != 0)
            return mc_fail(diag, MC_CANNOT, "results of %s and of %s: give them apart", r->problems[0].op,
                           r->problems[i].op);
    return MC_OK;
}

/* Whether some run's problems are of a set of shapes, whose columns are few and many. */
static bool has_shapes(const results *r) {
    for (size_t i = 0; i < r->line_count; i++)
        if (json_object_get(r->lines[i], "shapes") != NULL) return true;
    return false;
}

/* What follows the speeds. */
static void print_rest(const results *r, const groups *g, double *values, winner *winners) {
    printf("\n");
    for (size_t label = 1; label < r->label_count; label++)
        if (is_shown(r, label)) print_floor(r, label, values);
    print_picks(r, g, values);
    for (size_t label = 1; label < r->label_count; label++)
        if (label_is_ours(r->labels[label]) && r->parents[label] == 0) {
            print_winners(r, label, winners);
            print_losses(r, label);
        }
}

static mc_status print_all(const results *r, bool speeds, mc_diag *diag) {
    const groups g = groups_of(r);
    double *values = calloc(r->problem_count, sizeof *values);
    winner *winners = calloc(r->problem_count, sizeof *winners);
    if (values == NULL || winners == NULL) {
        free(values);
        free(winners);
        return mc_fail(diag, MC_NOMEM, "out of memory");
    }
    print_head(r);
    print_speed_table(r, &g, 0, values);
    for (size_t i = 0; g.size_count > 1 && i < g.size_count; i++)
        print_speed_table(r, &g, g.sizes[i], values);
    bool shapes = has_shapes(r);
    mc_status status = shapes ? bands_print(r, diag) : MC_OK;
    if (r->rule.over != NULL) over_print(r, g.sizes, g.size_count, speeds, values);
    if (shapes && !speeds) grids_print(r, g.sizes, g.size_count);
    if (!speeds) print_rest(r, &g, values, winners);
    free(values);
    free(winners);
    return status;
}

typedef struct summary_options {
    results_rule rule;
    int packed; /* the place of the word, from 1; 0: none */
    bool speeds, json;
} summary_options;

static const cmd_option summary_table[] = {
    {"over", 0, OPTION_TEXT, offsetof(summary_options, rule.over), "CONTENDER", 0, 0,
     "what speeds are relative to (" RESULTS_BASE
     "); cusparse: on each problem the fastest of its contenders"},
    {"products", 0, OPTION_INTEGER, offsetof(summary_options, rule.products), "P", 1, INT32_MAX,
     "count what is prepared once for a matrix: one of P parts of it with each product"},
    {"packed", 0, OPTION_CHOICE, offsetof(summary_options, packed), RESULTS_PACKED_WORDS, 0, 0,
     "of --products: where ours is packed (device, where its format can be); arrays: there, and made a "
     "matrix "
     "of CSR's arrays before"},
    {"speeds", 0, OPTION_SWITCH, offsetof(summary_options, speeds), NULL, 0, 0, "the tables of speeds alone"},
    {"json", 0, OPTION_SWITCH, offsetof(summary_options, json), NULL, 0, 0,
     "lines of JSON: our times beside each peer's, where N >= 512 and where N <= 64"},
};

static int summary_run(int argc, char **argv) {
    char **operands;
    int exit_status;
    summary_options options = {0};
    if (!cmd_parse(&cmd_summary, argc, argv, &options, &operands, &exit_status)) return exit_status;
    if (options.packed > 0 && options.rule.products == 0)
        return cmd_usage("summary: --packed is for --products");
    if (options.packed > 0) options.rule.packed = (results_packed)(options.packed - 1);
    mc_diag *diag = mc_diag_create();
    results r;
    mc_status status = results_read(&r, &options.rule, operands, diag);
    if (status == MC_OK) status = check_operators(&r, diag);
    if (status == MC_OK)
        status = options.json ? bands_print_json(&r, diag) : print_all(&r, options.speeds, diag);
    results_free(&r);
    return cmd_finish(status, diag);
}

const cmd cmd_summary = {"summary",
                         "RESULTS...",
                         "tables by sparsity: speeds, floors, winners, losses",
                         -1,
                         {{summary_table, sizeof summary_table / sizeof summary_table[0]}},
                         summary_run};
