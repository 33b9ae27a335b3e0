/* Estimates of kernels for few columns, on layers whose operands are cold: which kind is the least, what asking
   for strides ahead is worth, and that they are near what an H200 took. docs/choice.md has the whole of it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "check.h"
#include "mcgen.h"

enum { MOST = 12 };
static const char *specs;
static const mc_gpu *gpu;

/* Random vectors of 8 rows, as mcbench draws them with --seed 1. */
static const mc_problem square7 = {.m = 4096, .k = 4096, .vectors = 629131, .longest = 1319, .spread = 29.6},
                        square9 = {.m = 4096, .k = 4096, .vectors = 209335, .longest = 462, .spread = 18.5},
                        tall7 = {.m = 14336, .k = 4096, .vectors = 2199875, .longest = 1328, .spread = 28.7},
                        tall9 = {.m = 14336, .k = 4096, .vectors = 733777, .longest = 471, .spread = 18.9},
                        large8 = {.m = 28672, .k = 8192, .vectors = 5868791, .longest = 1760, .spread = 36.2},
                        large9 = {.m = 28672, .k = 8192, .vectors = 2933234, .longest = 912, .spread = 27.2},
                        wide7 = {.m = 4096, .k = 11008, .vectors = 1688829, .longest = 3426, .spread = 47.6};

static mc_problem of_columns(mc_problem layer, int64_t n, bool cold) {
    layer.n = n, layer.ldb = (n + 15) / 16 * 16, layer.cold = cold;
    return layer;
}

/* The spec NAME with "field=value ..." of SETTINGS. */
static mc_spec *read_spec(const char *name, const char *settings) {
    char path[300], text[300];
    mc_setting all[MOST];
    size_t count = 0;
    snprintf(path, sizeof path, "%s/%s.lua", specs, name);
    snprintf(text, sizeof text, "%s", settings);
    for (char *rest = text, *word; count < MOST && (word = strtok_r(rest, " ", &rest)) != NULL;) {
        char *value = strchr(word, '=');
        *value = 0;
        all[count++] = (mc_setting){word, value + 1};
    }
    mc_spec *spec = NULL;
    mc_diag *diag = mc_diag_create();
    CHECK(mc_spec_read(path, all, count, &spec, diag) == MC_OK, "%s: %s", path, mc_diag_text(diag));
    mc_diag_destroy(diag);
    return spec;
}

static double least(const char *name, const char *settings, mc_problem problem) {
    mc_spec *spec = read_spec(name, settings);
    size_t variant;
    double us = spec ? mc_spec_pick(spec, gpu, &problem, &variant) : 0;
    mc_spec_destroy(spec);
    return us;
}

/* The one kernel of SETTINGS. */
static double of_kernel(const char *name, const char *settings, mc_problem problem) {
    mc_spec *spec = read_spec(name, settings);
    CHECK(spec && mc_spec_variant_count(spec) == 1, "%s: one kernel", settings);
    double us = spec ? mc_spec_estimate(spec, 0, gpu, &problem) : 0;
    mc_spec_destroy(spec);
    return us;
}

/* -- Near what was measured ------------------------------------------------------------------------------ */

typedef struct measured {
    const char *spec, *settings;
    const mc_problem *layer;
    int n;
    double us;
} measured;

#define DECODE(w, s, st, d)                                                                                  \
    "warps=" w " split=" s " stages=" st " depth=" d " prefetch_l2=off resident=always"
#define PARTS(p, w, st, d)                                                                                   \
    "parts=" p " tile_n=64 warps=" w " stages=" st " depth=" d " prefetch_l2=off resident=off"
#define WHOLE(p, w)  "parts=" p " tile_n=64 warps=" w " stages=8 depth=3 prefetch_l2=off resident=always"
#define STAYS(p, st) "parts=" p " tile_n=64 warps=16 stages=" st " depth=4 prefetch_l2=off resident=on"
#define HELD(p, st)  "parts=" p " tile_n=64 warps=16 stages=" st " depth=3 prefetch_l2=on resident=on"
#define TURNS(p, w)  "parts=" p " tile_n=64 warps=" w " stages=8 depth=3 prefetch_l2=off resident=on"
#define GATHER       "arch=sm_90 stride=64 tile_n=32 warps=4 split=4 prefetch=on"
static const measured cold[] = {
    {"spmm_l8r8_decode", DECODE("8", "2", "12", "8"), &square7, 8, 4.58},
    {"spmm_l8r8_decode", DECODE("8", "2", "12", "2"), &square7, 8, 11.2},
    {"spmm_l8r8_decode", DECODE("16", "4", "12", "4"), &wide7, 1, 9.93},
    {"spmm_l8r8_decode", DECODE("16", "4", "12", "2"), &wide7, 1, 16.4},
    {"spmm_l8r8_decode", DECODE("8", "4", "4", "8"), &tall7, 16, 11.3},
    {"spmm_l8r8_decode", DECODE("16", "2", "4", "4"), &tall9, 16, 5.72},
    {"spmm_l8r8_split", PARTS("2", "8", "6", "8"), &square7, 64, 6.83},
    {"spmm_l8r8_split", PARTS("2", "8", "6", "2"), &square7, 64, 12.34},
    {"spmm_l8r8_split", PARTS("4", "16", "4", "8"), &square7, 64, 11},
    {"spmm_l8r8_split", PARTS("2", "16", "4", "8"), &tall9, 64, 11.74},
    {"spmm_l8r8_whole", WHOLE("4", "18"), &square7, 64, 5.78},
    {"spmm_l8r8_whole", WHOLE("4", "18"), &square9, 64, 4.1},
    {"spmm_l8r8_whole", WHOLE("2", "28"), &tall7, 64, 11.61},
    {"spmm_l8r8_whole", WHOLE("2", "28"), &tall9, 64, 6.45},
    {"spmm_l8r8_whole", WHOLE("2", "16"), &tall7, 64, 16.98},
    {"spmm_l8r8_whole", WHOLE("2", "16"), &tall9, 64, 9.87},
    {"spmm_l8r8_whole", "parts=2 tile_n=32 warps=28 stages=8 depth=3 prefetch_l2=off resident=always", &tall9,
     32, 5.19},
    {"spmm_l8r8_whole", "parts=2 tile_n=32 warps=18 stages=8 depth=3 prefetch_l2=on resident=always", &tall9,
     32, 5.36},
    {"spmm_l8r8_whole", TURNS("4", "24"), &large8, 64, 29.92},
    {"spmm_l8r8_whole", TURNS("4", "24"), &large9, 64, 20.54},
    {"spmm_l8r8_whole", TURNS("4", "16"), &large9, 64, 23.33},
    {"spmm_l8r8_split", STAYS("2", "8"), &tall9, 64, 9.99},
    {"spmm_l8r8_split", STAYS("4", "4"), &tall9, 64, 11.4},
    {"spmm_l8r8_split", HELD("2", "8"), &tall9, 64, 9.27},
    {"spmm_l8r8_split", HELD("4", "4"), &tall9, 64, 9.84},
    {"spmm_l8r8_split", HELD("4", "4"), &tall7, 64, 15.5},
    {"spmm_l8r8_split", STAYS("2", "8"), &tall7, 64, 16.8},
    {"spmm_l8r8_split", STAYS("2", "8"), &square9, 64, 5.65},
    {"spmm_l8r8_f16", GATHER, &square7, 8, 13.4},
    {"spmm_l8r8_f16", GATHER, &wide7, 8, 30.6},
};

static void check_measured(void) {
    for (size_t i = 0; i < sizeof cold / sizeof *cold; i++) {
        const measured *c = &cold[i];
        double us = of_kernel(c->spec, c->settings, of_columns(*c->layer, c->n, true));
        CHECK(us > c->us / 1.3 && us < c->us * 1.3, "%s, %s, n = %d: %.2f us, measured %.2f", c->spec,
              c->settings, c->n, us, c->us);
    }
}

/* -- Which kind ------------------------------------------------------------------------------------------ */

static void check_kinds(void) {
    const mc_problem *layers[] = {&square7, &square9, &wide7, &tall7, &tall9};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        for (int n = 1; n <= 16; n += n < 8 ? 7 : 8)
            for (int is_cold = 0; is_cold < 2; is_cold++) {
                mc_problem p = of_columns(*layers[i], n, is_cold);
                CHECK(least("spmm_l8r8_decode", "", p) < least("spmm_l8r8_f16", "", p), "layer %zu, n = %d",
                      i, n);
            }
    mc_problem dense = of_columns(square7, 64, true), sparse = of_columns(square9, 64, true);
    CHECK(least("spmm_l8r8_split", "", dense) < least("spmm_l8r8_f16", "", dense), "64 tokens at .7");
    CHECK(least("spmm_l8r8_split", "", sparse) > least("spmm_l8r8_overlap", "", sparse), "and at .9");
    CHECK(least("spmm_l8r8_whole", "", dense) < least("spmm_l8r8_split", "", dense), "parts copied whole");
    sparse = of_columns(tall9, 64, true);
    CHECK(least("spmm_l8r8_whole", "", sparse) < least("spmm_l8r8_split", "", sparse), "in one wave");
    CHECK(least("spmm_l8r8_whole", "", sparse) < least("spmm_l8r8_overlap", "", sparse), "and for gathers");
    sparse = of_columns(large9, 64, true);
    CHECK(least("spmm_l8r8_whole", "resident=on", sparse) <
              least("spmm_l8r8_whole", "resident=always", sparse),
          "parts that stay, of many rows");
    CHECK(least("spmm_l8r8_whole", "", sparse) < least("spmm_l8r8_split", "", sparse), "which threads copy");
    dense = of_columns(tall7, 64, true);
    CHECK(least("spmm_l8r8_whole", "prefetch_l2=off", dense) <
              least("spmm_l8r8_whole", "prefetch_l2=on", dense),
          "which asks L2 for nothing");
    mc_problem many = of_columns(square7, 512, false);
    CHECK(least("spmm_l8r8_tiled", "", many) < least("spmm_l8r8_split", "", many), "512 tokens");
    CHECK(least("spmm_l8r8_tiled", "", many) < least("spmm_l8r8_f16", "", many), "512 tokens, gather");
}

/* -- Strides ahead --------------------------------------------------------------------------------------- */

#define LONG  "warps=8 split=2 stages=12 resident=always "
#define SHORT "warps=16 split=8 stages=4 resident=always "
static double decode(const char *settings, mc_problem problem) {
    return of_kernel("spmm_l8r8_decode", settings, problem);
}

/* Out of memory, long rows want many strides ahead. Short ones want few, for a queue begins with each row block. */
static void check_ahead(void) {
    mc_problem rows = of_columns(square7, 8, true), few = of_columns(tall9, 8, true);
    double two = decode(LONG "depth=2 prefetch_l2=off", rows),
           four = decode(LONG "depth=4 prefetch_l2=off", rows),
           eight = decode(LONG "depth=8 prefetch_l2=off", rows);
    CHECK(eight < four && four < two / 1.3, "depth 2, 4 and 8: %.2f, %.2f, %.2f us", two, four, eight);
    CHECK(decode(LONG "depth=2 prefetch_l2=on", rows) < two, "L2 is asked ahead");
    two = decode(SHORT "depth=2 prefetch_l2=off", few), eight = decode(SHORT "depth=8 prefetch_l2=off", few);
    CHECK(two < eight, "two strides a warp: %.2f, with a queue %.2f us", two, eight);
    CHECK(eight < decode(SHORT "depth=8 prefetch_l2=on", few), "and L2 asked for what is on its way");
    rows.cold = false;
    double near = decode(LONG "depth=2 prefetch_l2=off", rows);
    CHECK(near < two && near < decode(LONG "depth=2 prefetch_l2=on", rows), "nothing to ask for in L2");
}

/* The edge path loads single elements where n is open. Of one column they are the same element. */
static void check_single(void) {
    double one = of_kernel("spmm_l8r8_f16", GATHER, of_columns(square7, 1, false)),
           eight = of_kernel("spmm_l8r8_f16", GATHER, of_columns(square7, 8, false));
    CHECK(eight > 1.3 * one, "8 columns %.2f us, one %.2f us", eight, one);
}

/* Where windows pass, a stride reaches over half of the ring's. With few vectors in these it is not full. */
static void check_sparse(void) {
    static const char wide[] = "warps=16 split=1 resident=off group=all together=1 window=256 stages=6",
                      narrow[] = "warps=16 split=1 resident=off group=all together=1 window=64 stages=6",
                      held[] = "warps=16 split=1 resident=off group=all together=1 window=64 stages=12";
    mc_problem p = of_columns(square9, 4096, false), small = p;
    p.vectors /= 2, p.longest /= 2;
    CHECK(of_kernel("spmm_l8r8_tiled", narrow, p) > 2.7 * of_kernel("spmm_l8r8_tiled", wide, p),
          "6 vectors in a stride's windows, and 25");
    small.k = 64 * 12, small.vectors /= 10, small.longest /= 10;
    CHECK(of_kernel("spmm_l8r8_tiled", narrow, small) > 2 * of_kernel("spmm_l8r8_tiled", held, small),
          "a ring that holds all of B");
}

/* Argument: the folder of specs. */
/* Rows of tiles in groups, for an A that is larger than L2, and for no other one: as measured. */
static void check_groups(void) {
    static const mc_problem
        small = {.m = 14336, .k = 4096, .vectors = 733777, .longest = 900, .spread = 25.6},
        large = {.m = 28672, .k = 8192, .vectors = 2936013, .longest = 1747, .spread = 36.2};
    static const char all[] = "warps=15 tile_n=128 stages=6 group=all",
                      some[] = "warps=15 tile_n=128 stages=6 group=16";
    mc_problem fits = of_columns(small, 4096, false), does_not = of_columns(large, 4096, false);
    CHECK(of_kernel("spmm_l8r8_v16", all, fits) < of_kernel("spmm_l8r8_v16", some, fits),
          "groups of 16, in L2");
    double column = of_kernel("spmm_l8r8_v16", all, does_not),
           group = of_kernel("spmm_l8r8_v16", some, does_not);
    CHECK(column > 1.05 * group && column < 1.4 * group, "out of L2 %.1f us, in groups %.1f us", column,
          group);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    specs = argv[1], gpu = mc_gpu_find("NVIDIA H200", 90);
    check_measured();
    check_groups();
    check_kinds();
    check_ahead();
    check_single();
    check_sparse();
    return check_end();
}
