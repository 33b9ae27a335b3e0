/* Estimates of kernels with panels: against times of an H200, and what they depend on. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "check.h"
#include "mcgen.h"

enum { MOST_PATH = 1024, MOST_SETTINGS = 6 };

static const mc_problem bcsstk13 = {
    .m = 2003,
    .k = 2003,
    .vectors = 83883,
    .longest = 95,
    .spread = 22.8,
    .panels = {{24405, 16850, 11682, 8322, 6207}, {{882, 7, {0, 55, 142, 54}}, {582, 8, {0, 3, 61, 62}}}},
};
static const mc_problem gt_as = {
    .m = 22963,
    .k = 22963,
    .vectors = 96872,
    .longest = 2390,
    .spread = 32.94,
    .panels = {{81290, 75189, 68540, 61306, 55947},
               {{4183, 144, {2532, 209, 75, 31, 12, 5, 3, 4}}, {2946, 200, {965, 321, 91, 35, 13, 7, 0, 4}}}},
};
static const mc_problem amazon_cs = {
    .m = 13752,
    .k = 13752,
    .vectors = 287209,
    .longest = 87,
    .spread = 18.49,
    .panels = {{271840, 259437, 241598, 217230, 186067},
               {{9336, 11, {1, 32, 440, 1209, 37}}, {8523, 17, {0, 0, 0, 204, 655, 1}}}},
};
static const mc_problem pubmed = {
    .m = 19717,
    .k = 19717,
    .vectors = 88651,
    .longest = 171,
    .spread = 7.43,
    .panels = {{87964, 87572, 86865, 85739, 83713},
               {{3902, 7, {1339, 885, 226, 15}}, {3315, 11, {85, 528, 565, 52, 3}}}},
};

typedef struct kernel {
    const char *spec, *panel, *tile_n, *warps, *values, *share;
} kernel;

/* The one variant of spec K, of FOLDER, that has K's fields. */
static double estimate(const char *folder, kernel k, mc_problem problem) {
    char path[MOST_PATH];
    const mc_setting settings[MOST_SETTINGS] = {{"arch", "sm_90"},    {"panel", k.panel},
                                                {"tile_n", k.tile_n}, {"warps", k.warps},
                                                {"values", k.values}, {"share", k.share}};
    mc_spec *spec = NULL;
    mc_diag *diag = mc_diag_create();
    double us = 0;
    snprintf(path, sizeof path, "%s/%s.lua", folder, k.spec);
    CHECK(mc_spec_read(path, settings, MOST_SETTINGS, &spec, diag) == MC_OK, "%s", mc_diag_text(diag));
    if (spec != NULL) us = mc_spec_estimate(spec, 0, mc_gpu_find("NVIDIA H200", 90), &problem);
    mc_spec_destroy(spec);
    mc_diag_destroy(diag);
    return us;
}

static mc_problem by(mc_problem problem, int64_t n) {
    problem.n = problem.ldb = n;
    return problem;
}

/* -- Against what was measured ------------------------------------------------------------------------ */

#define F16    "spmm_csr_f16"
#define TF32   "spmm_csr_tf32"
#define SHARED "_shared"

typedef struct measured {
    const mc_problem *matrix;
    int64_t n;
    struct {
        double us;
        kernel kernel;
    } times[5]; /* the fastest of all variants, and some that are slower */
} measured;

static const measured problems[] = {
    {&bcsstk13,
     128,
     {{3.229, {F16 SHARED, "16", "32", "4", "slots", "2"}},
      {3.792, {F16 SHARED, "8", "32", "8", "slots", "8"}},
      {3.990, {F16, "16", "32", "4", "nonzeros", "2"}},
      {4.141, {F16 SHARED, "16", "32", "2", "nonzeros", "4"}},
      {8.275, {F16, "16", "64", "8", "nonzeros", "8"}}}},
    {&gt_as,
     32,
     {{4.643, {F16 SHARED, "8", "32", "8", "slots", "2"}},
      {4.803, {F16, "8", "32", "8", "slots", "2"}},
      {5.824, {F16 SHARED, "8", "32", "4", "slots", "2"}},
      {6.224, {F16, "16", "32", "4", "slots", "4"}},
      {12.10, {F16, "16", "64", "2", "nonzeros", "2"}}}},
    {&amazon_cs,
     128,
     {{25.40, {TF32 SHARED, "8", "32", "2", "nonzeros", "8"}},
      {26.26, {TF32 SHARED, "8", "32", "2", "nonzeros", "4"}},
      {30.08, {TF32, "16", "32", "4", "nonzeros", "8"}},
      {34.65, {TF32, "8", "32", "2", "nonzeros", "2"}},
      {63.50, {TF32 SHARED, "16", "32", "8", "slots", "2"}}}},
    {&pubmed,
     512,
     {{48.04, {TF32 SHARED, "8", "32", "2", "slots", "4"}},
      {48.93, {TF32, "8", "32", "2", "slots", "4"}},
      {54.29, {TF32 SHARED, "8", "32", "2", "nonzeros", "2"}},
      {66.56, {TF32 SHARED, "8", "32", "8", "nonzeros", "8"}},
      {92.52, {TF32 SHARED, "16", "32", "8", "slots", "2"}}}},
};

/* Within a fifth of each time, and the kernel of the least estimate is hardly slower than the fastest. */
static void check_measured(const char *folder) {
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        double least = INFINITY, taken = INFINITY;
        for (size_t j = 0; j < 5; j++) {
            double us = problems[i].times[j].us;
            double guess =
                estimate(folder, problems[i].times[j].kernel, by(*problems[i].matrix, problems[i].n));
            CHECK(fabs(log(guess / us)) < 0.2, "problem %zu, kernel %zu: %.2f us for %.2f", i, j, guess, us);
            if (guess < least) least = guess, taken = us;
        }
        CHECK(taken < 1.05 * problems[i].times[0].us, "problem %zu takes a kernel of %.2f us", i, taken);
    }
}

/* -- What they depend on ------------------------------------------------------------------------------ */

static const kernel direct = {F16, "8", "64", "4", "slots", "4"},
                    copied = {F16 SHARED, "8", "64", "4", "slots", "4"},
                    tall = {F16, "16", "64", "4", "slots", "4"};

/* What rows of other panels share is found in L1, which copies to shared memory pass by. */
static void check_neighbours(const char *folder) {
    mc_problem near = by(amazon_cs, 512), apart = near;
    for (int h = 1; h < MC_PANEL_HEIGHTS; h++) apart.panels.columns[h] = apart.panels.columns[0];
    for (int h = 1; h < MC_PANEL_HEIGHTS; h++) near.panels.columns[h] = near.panels.columns[0] / 4;
    CHECK(estimate(folder, direct, near) < 0.95 * estimate(folder, direct, apart), "direct");
    CHECK(fabs(estimate(folder, copied, near) - estimate(folder, copied, apart)) < 1e-9, "shared");
    CHECK(estimate(folder, copied, apart) < estimate(folder, direct, apart), "nothing in L1");
}

static void check_sharing(const char *folder) {
    mc_problem one = by(amazon_cs, 512), half = one;
    half.panels.columns[0] /= 2, half.panels.of[0].strides /= 2;
    CHECK(estimate(folder, direct, half) < 0.8 * estimate(folder, direct, one), "half the columns");
    CHECK(fabs(estimate(folder, tall, half) - estimate(folder, tall, one)) < 1e-9,
          "of panels of 16 rows, as many");
}

/* A panel of 400 strides, the others of one: a share of 2 strides for each warp in place of 8. */
static void check_uneven(const char *folder) {
    mc_problem even = by(pubmed, 32), uneven = even;
    const kernel little = {F16, "8", "32", "8", "slots", "2"}, much = {F16, "8", "32", "8", "slots", "8"};
    even.panels.of[0] = (mc_panel_strides){2465, 1, {2465}};
    uneven.panels.of[0] = (mc_panel_strides){2864, 400, {2464, [7] = 1}};
    CHECK(estimate(folder, much, uneven) > 1.3 * estimate(folder, much, even), "a long panel");
    CHECK(estimate(folder, little, uneven) < 0.9 * estimate(folder, much, uneven), "shared by more");
    CHECK(fabs(estimate(folder, little, even) - estimate(folder, much, even)) < 1e-9, "nothing to share");
}

/* Where nothing was counted, rows are alike; a matrix whose rows are alike and share nothing has the same
   estimate if it was. */
static void check_uncounted(const char *folder) {
    const mc_problem unknown = {
        .m = 8192, .n = 128, .k = 8192, .ldb = 128, .vectors = 8192 * 16, .longest = 16};
    mc_problem known = unknown;
    for (int h = 0; h < MC_PANEL_HEIGHTS; h++) known.panels.columns[h] = unknown.vectors;
    known.panels.of[0] = (mc_panel_strides){4096, 4, {0, 0, 1024}};
    CHECK(fabs(estimate(folder, direct, known) - estimate(folder, direct, unknown)) < 1e-9, "%g and %g",
          estimate(folder, direct, known), estimate(folder, direct, unknown));
}

static void check_memory(const char *folder) {
    mc_problem warm = by(amazon_cs, 128), cold = warm;
    cold.cold = true;
    CHECK(estimate(folder, direct, cold) > 1.05 * estimate(folder, direct, warm), "cold operands");
    mc_problem odd = by(amazon_cs, 128);
    odd.ldb = 129;
    CHECK(estimate(folder, direct, odd) > 1.3 * estimate(folder, direct, warm), "rows that are not aligned");
    odd = by(amazon_cs, 127), odd.ldb = 128;
    CHECK(estimate(folder, direct, odd) > estimate(folder, direct, warm), "n ends inside of a tile");
}

static void check_edges(const char *folder) {
    const mc_panel_strides most = {INT64_MAX / 64, INT64_MAX / 64, {[7] = INT64_MAX / 64}};
    const mc_problem edges[] = {
        {.m = 0},
        {.m = 8, .n = 1, .k = 1, .ldb = 1, .vectors = 1, .longest = 1},
        {.m = 8, .n = 16, .k = 1, .ldb = 16},
        {.m = INT32_MAX, .n = 32, .k = INT32_MAX, .ldb = 32, .vectors = INT64_MAX / 8, .longest = INT32_MAX},
        {.m = INT32_MAX,
         .n = 65535 * 32,
         .k = INT32_MAX,
         .ldb = 65535 * 32,
         .vectors = INT64_MAX,
         .longest = INT32_MAX,
         .panels = {{INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX}, {most, most}}},
    };
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        const double us[] = {estimate(folder, direct, edges[i]), estimate(folder, copied, edges[i]),
                             estimate(folder, tall, edges[i])};
        for (int k = 0; k < 3; k++)
            CHECK(isfinite(us[k]) && us[k] > 0, "edge %zu, kernel %d: %g", i, k, us[k]);
    }
}

/* Argument: the folder with specs. */
int main(int argc, char **argv) {
    if (argc != 2) return 2;
    check_measured(argv[1]);
    check_neighbours(argv[1]);
    check_sharing(argv[1]);
    check_uneven(argv[1]);
    check_uncounted(argv[1]);
    check_memory(argv[1]);
    check_edges(argv[1]);
    return check_end();
}
