/* Estimates of kernels that quantise: what they depend on, what cannot run, and that every kernel has one for
   every problem. How far they are off is `mcbench fit`'s to say. */
#include <math.h>
#include <stdio.h>
#include "check.h"
#include "mcgen.h"

static const char *specs;
static const mc_gpu *gpu;

enum { MOST_SETTINGS = 10 };

/* SETTINGS end in a row without a field. */
static mc_spec *read_spec(const char *name, const mc_setting *settings) {
    char path[300];
    size_t count = 0;
    mc_spec *spec = NULL;
    mc_diag *diag = mc_diag_create();
    while (settings[count].field != NULL) count++;
    snprintf(path, sizeof path, "%s/%s.lua", specs, name);
    CHECK(mc_spec_read(path, settings, count, &spec, diag) == MC_OK, "%s", mc_diag_text(diag));
    mc_diag_destroy(diag);
    return spec;
}

static double least_on(const mc_gpu *on, const char *name, const mc_setting *settings, mc_problem problem) {
    size_t variant;
    mc_spec *spec = read_spec(name, settings);
    double us = spec != NULL ? mc_spec_pick(spec, on, &problem, &variant) : 0;
    mc_spec_destroy(spec);
    return us;
}

/* The least of the variants that SET leaves, for M x N. */
#define LEAST(name, rows, columns, ...)                                                                      \
    least_on(gpu, name, (const mc_setting[MOST_SETTINGS]){__VA_ARGS__, {0}},                                 \
             (mc_problem){.m = (rows), .n = (columns)})
#define NOTHING                                                                                              \
    { 0 }
#define COMPUTED "quantise_s8"
#define GIVEN    "quantise_s8_given"
#define TENSOR   "quantise_s8_tensor"
#define BACK     "dequantise_f16"

static const char *const all[] = {COMPUTED, GIVEN, TENSOR, BACK};
enum { SPECS = sizeof all / sizeof *all };

/* -- Every kernel, every problem ----------------------------------------------------------------------- */

static void check_problem(const char *name, const mc_spec *spec, const mc_problem *p) {
    for (size_t v = 0; v < mc_spec_variant_count(spec); v++) {
        double us = mc_spec_estimate(spec, v, gpu, p);
        if (isfinite(us) && us > 0) continue;
        CHECK(false, "%s, variant %zu, %d x %d: %g", name, v, (int)p->m, (int)p->n, us);
        return;
    }
}

static void check_everywhere(const char *name, const mc_setting *settings) {
    static const int64_t sizes[] = {0,  1,   2,   3,    7,    8,    16,    31,   33,
                                    64, 100, 255, 1024, 4096, 4100, 11008, 28672};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    mc_spec *spec = read_spec(name, settings);
    if (spec == NULL) return;
    for (size_t i = 0; i < SIZES * SIZES * 2; i++) {
        const mc_problem p = {.m = sizes[i / 2 / SIZES], .n = sizes[i / 2 % SIZES], .cold = i % 2};
        check_problem(name, spec, &p);
    }
    const mc_problem batch = {.m = 64, .n = 4096, .batch = 32};
    check_problem(name, spec, &batch);
    mc_spec_destroy(spec);
}

static void check_types(void) {
    static const struct {
        const char *name;
        mc_setting settings[MOST_SETTINGS];
    } kinds[] = {
        {COMPUTED, {{"lhs", "f32"}, {"out", "u8"}, {"zero", "row"}, {"rounding", "convert"}}},
        {COMPUTED, {{"out", "s4"}, {"tile", "8,32"}, {"words", "1"}, {"hold", "1"}}},
        {COMPUTED, {{"layout", "rows"}, {"words", "1"}}},
        {COMPUTED,
         {{"layout", "rows"}, {"words", "1"}, {"out", "u4"}, {"tile", "8,32"}, {"rounding", "convert"}}},
        {COMPUTED, {{"align", "1"}}},
        {GIVEN, {{"out", "s4"}, {"tile", "128"}}},
        {GIVEN, {{"layout", "rows"}, {"lhs", "f32"}, {"zero", "row"}}},
        {TENSOR, {{"zero", "tensor"}, {"lhs", "bf16"}}},
        {BACK, {{"lhs", "f16"}, {"out", "f32"}, {"scale", "row"}, {"tile", "32"}}},
        {BACK, {{"layout", "rows"}}},
    };
    for (size_t i = 0; i < SPECS; i++) check_everywhere(all[i], (const mc_setting[1]){NOTHING});
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        check_everywhere(kinds[i].name, kinds[i].settings);
}

/* -- What they depend on -------------------------------------------------------------------------------- */

static void check_growth(const char *name) {
    static const mc_setting none[1] = {NOTHING};
    const mc_problem usual = {.m = 512, .n = 4096};
    double before = least_on(gpu, name, none, usual);
    mc_problem more = usual;
    mc_gpu half = *gpu;
    more.m *= 8;
    CHECK(least_on(gpu, name, none, more) > 1.5 * before, "%s: eight times the rows", name);
    more = usual, more.n *= 8;
    CHECK(least_on(gpu, name, none, more) > 1.5 * before, "%s: eight times the columns", name);
    more = usual, more.batch = 8;
    CHECK(least_on(gpu, name, none, more) > 1.5 * before, "%s: eight of them", name);
    more = usual, more.cold = true;
    CHECK(least_on(gpu, name, none, more) > before, "%s: cold operands", name);
    half.multiprocessors /= 2;
    CHECK(least_on(&half, name, none, usual) > before, "%s: half the multiprocessors", name);
    const mc_problem huge = {.m = 16384, .n = 8192}, large = {.m = 4096, .n = 4096};
    CHECK(least_on(gpu, name, none, huge) > 9 * least_on(gpu, name, none, large), "%s: beyond L2", name);
}

static void check_fixed(const char *name) {
    CHECK(isfinite(LEAST(name, 64, 256, {"m", "64"}, {"n", "256"})), "%s: the fixed shape", name);
    CHECK(isinf(LEAST(name, 65, 256, {"m", "64"})), "%s: another m", name);
    CHECK(isinf(LEAST(name, 64, 257, {"n", "256"})), "%s: another n", name);
    CHECK(isinf(LEAST(name, 64, 256, {"arch", "sm_120"})), "%s: sm_120 on sm_90", name);
    CHECK(LEAST(name, 1024, 4097, NOTHING) > 1.2 * LEAST(name, 1024, 4096, NOTHING),
          "%s: rows that are not aligned", name);
    CHECK(LEAST(name, 1024, 4096, {"lda", "4099"}) > 1.2 * LEAST(name, 1024, 4096, NOTHING), "%s: lda 4099",
          name);
    CHECK(LEAST(name, 1024, 4096, {"ldc", "4099"}) > 1.2 * LEAST(name, 1024, 4096, NOTHING), "%s: ldc 4099",
          name);
    CHECK(LEAST(name, 1000, 4096, {"ldc", "4096"}) < LEAST(name, 1000, 4096, {"ldc", "4099"}), "%s: ldc 4096",
          name);
}

/* -- Scales a row, computed ------------------------------------------------------------------------------ */

/* One kernel of quantise_s8.lua. */
#define TOKEN(rows, columns, set_tile, set_warps, set_hold, set_keep, set_share, set_cluster)                \
    token_estimate((const char *const[]){set_tile, set_warps, set_hold, set_keep, set_share, set_cluster},   \
                   "1", rows, columns)

static double token_estimate(const char *const values[6], const char *words, int64_t m, int64_t n) {
    return LEAST(COMPUTED, m, n, {"arch", "sm_90"}, {"tile", values[0]}, {"warps", values[1]},
                 {"hold", values[2]}, {"keep", values[3]}, {"share", values[4]}, {"cluster", values[5]},
                 {"words", words});
}

static void check_token(void) {
    CHECK(3 * TOKEN(8, 11008, "8", "8", "2", "1", "512", "1") <
              TOKEN(8, 11008, "8", "8", "2", "1", "open", "1"),
          "few tokens: thread blocks share their rows");
    CHECK(TOKEN(4096, 4096, "32", "8", "2", "1", "512", "1") >
              2 * TOKEN(4096, 4096, "32", "8", "2", "1", "open", "1"),
          "many tokens: each reads all of the rows");
    CHECK(TOKEN(8, 4096, "32", "16", "1", "1", "512", "1") >
              1.5 * TOKEN(8, 4096, "8", "16", "1", "1", "512", "1"),
          "a cut tile is stored byte by byte");
    CHECK(TOKEN(40, 4096, "32", "16", "1", "1", "512", "1") >
              1.1 * TOKEN(64, 4096, "32", "16", "1", "1", "512", "1"),
          "the last tile is cut");
    CHECK(TOKEN(4096, 4096, "4", "16", "1", "1", "open", "1") >
              1.5 * TOKEN(4096, 4096, "32", "16", "1", "1", "open", "1"),
          "tiles that write to the same sectors");
    CHECK(TOKEN(2048, 8192, "16", "16", "1", "1", "open", "1") >
              TOKEN(2048, 8192, "16", "16", "1", "6", "open", "1"),
          "rows that are read again");
    CHECK(TOKEN(1024, 11008, "16", "16", "1", "2", "open", "2") <
              TOKEN(1024, 11008, "16", "16", "1", "2", "open", "1"),
          "long rows, few thread blocks: a cluster");
    CHECK(TOKEN(64, 11008, "8", "8", "1", "2", "open", "8") <
              TOKEN(64, 11008, "16", "16", "1", "2", "512", "1"),
          "long rows, few tokens: a cluster of eight, no shares");
    CHECK(TOKEN(8, 4096, "4", "8", "1", "1", "256", "1") < TOKEN(8, 4096, "8", "8", "1", "1", "open", "8"),
          "short rows, few tokens: shares");
    CHECK(TOKEN(4096, 1024, "32", "16", "1", "1", "open", "2") >
              TOKEN(4096, 1024, "32", "16", "1", "1", "open", "1"),
          "short rows: none");
    CHECK(TOKEN(296, 4096, "32", "16", "1", "1", "512", "1") >
              TOKEN(320, 4096, "32", "16", "1", "1", "512", "1"),
          "the last one of ten");
    CHECK(TOKEN(8192, 512, "16", "8", "1", "6", "open", "1") >
              TOKEN(8192, 512, "16", "8", "1", "1", "open", "1"),
          "shared memory for two thread blocks at a time");
    CHECK(LEAST(COMPUTED, 2048, 4096, {"rounding", "add"}) <
              LEAST(COMPUTED, 2048, 4096, {"rounding", "convert"}),
          "additions");
    CHECK(TOKEN(4096, 1024, "32", "16", "1", "1", "open", "2") >
              .5 + TOKEN(4096, 1024, "32", "16", "1", "1", "open", "1"),
          "thread blocks of a cluster wait for each other");
    CHECK(TOKEN(1, 4096, "32", "16", "1", "1", "open", "1") >
              1.5 * TOKEN(1, 4096, "32", "16", "1", "1", "512", "1"),
          "a token, shared");
    const char *const few[] = {"4", "16", "1", "1", "512", "1"}, *const many[] = {"32", "16",  "1",
                                                                                  "1",  "512", "1"};
    CHECK(token_estimate(few, "1", 1, 4096) < token_estimate(many, "1", 1, 4096),
          "a token, by the edge path");
}

/* -- Two passes ----------------------------------------------------------------------------------------- */

static void check_near(int64_t m, int64_t n, double us) {
    double least = LEAST(TENSOR, m, n, NOTHING);
    CHECK(least > us / 1.4 && least < us * 1.4, "%d x %d: %g us, measured %g", (int)m, (int)n, least, us);
}

/* Times of docs/quantise.md, on an H200. */
static void check_passes(void) {
    double given = LEAST(GIVEN, 512, 4096, {"scale", "tensor"}), tensor = LEAST(TENSOR, 512, 4096, NOTHING);
    CHECK(tensor > given + .5, "a launch more: %g and %g", tensor, given);
    given = LEAST(GIVEN, 4096, 4096, {"scale", "tensor"}, {"tile", "32"}, {"warps", "4"}, {"hold", "1"});
    tensor = LEAST(TENSOR, 4096, 4096, {"tile", "32"}, {"warps", "4"}, {"hold", "1"});
    CHECK(tensor > given + 12, "in the first pass tiles come one after another: %g and %g", given, tensor);
    check_near(4096, 4096, 22.0);
    check_near(2048, 11008, 29.7);
    check_near(64, 4096, 3.1);
}

/* Argument: the folder of specs. */
int main(int argc, char **argv) {
    if (argc != 2) return 2;
    specs = argv[1], gpu = mc_gpu_find("NVIDIA H200", 90);
    check_types();
    for (size_t i = 0; i < SPECS; i++) {
        check_growth(all[i]);
        check_fixed(all[i]);
    }
    check_token();
    check_passes();
    return check_end();
}
