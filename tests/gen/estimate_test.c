/* Estimates: what they depend on, what cannot run, and sizes at the edge. How far they are off is `mcbench fit`'s to say. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "mcgen.h"

static const mc_problem usual = {
    .m = 4096, .n = 512, .k = 2048, .ldb = 512, .vectors = 104857, .longest = 260, .spread = 15};

static double least_of(const mc_spec *spec, const mc_gpu *gpu, mc_problem problem) {
    size_t variant;
    double us = mc_spec_pick(spec, gpu, &problem, &variant);
    CHECK(!isfinite(us) || us == mc_spec_estimate(spec, variant, gpu, &problem), "the pick's own");
    for (size_t i = 0; i < mc_spec_variant_count(spec); i++)
        CHECK(mc_spec_estimate(spec, i, gpu, &problem) >= us, "variant %zu is below the least", i);
    return us;
}

static void check_growth(const mc_spec *spec, const mc_gpu *gpu) {
    mc_problem more = usual;
    double before = least_of(spec, gpu, usual);
    more.vectors *= 3, more.longest *= 3;
    CHECK(least_of(spec, gpu, more) > before, "three times the vectors");
    more = usual, more.n *= 4, more.ldb *= 4;
    CHECK(least_of(spec, gpu, more) > before, "four times the columns");
    more = usual, more.m *= 4, more.vectors *= 4;
    CHECK(least_of(spec, gpu, more) > before, "four times the rows");
    mc_gpu half = *gpu;
    half.multiprocessors /= 2;
    CHECK(least_of(spec, &half, usual) > before, "half the multiprocessors");
}

static void check_edges(const mc_spec *spec, const mc_gpu *gpu) {
    const mc_problem edges[] = {
        {.m = 8, .n = 16, .k = 1, .ldb = 16, .vectors = 1, .longest = 1},
        {.m = 8, .n = 16, .k = 1, .ldb = 16},
        {.m = 0, .n = 0, .k = 0, .ldb = 0},
        {.m = 800, .n = 32, .k = 0, .ldb = 32},
        {.m = 8, .n = 32, .k = INT32_MAX, .ldb = 32, .vectors = INT32_MAX, .longest = INT32_MAX},
        {.m = INT32_MAX - 7,
         .n = 65535 * 32,
         .k = INT32_MAX,
         .ldb = 65535 * 32,
         .vectors = INT64_MAX / 8,
         .longest = INT32_MAX},
    };
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        for (size_t v = 0; v < mc_spec_variant_count(spec); v++) {
            double us = mc_spec_estimate(spec, v, gpu, &edges[i]);
            CHECK(isfinite(us) && us > 0, "edge %zu, variant %zu: %g", i, v, us);
        }
}

/* Unaligned rows and cut tiles take the direct kernel's edge path, and rule the ring kernel out. */
static void check_alignment(const mc_spec *spec, const mc_gpu *gpu, bool staged) {
    mc_problem odd = usual;
    double before = least_of(spec, gpu, usual);
    odd.ldb = 520;
    CHECK(staged ? isinf(least_of(spec, gpu, odd)) : least_of(spec, gpu, odd) <= before * 1.5, "ldb 520");
    odd.ldb = 513;
    CHECK(staged ? isinf(least_of(spec, gpu, odd)) : least_of(spec, gpu, odd) > 1.5 * before, "ldb 513");
    mc_problem wide = usual;
    wide.n = wide.ldb = (int64_t)65535 * 128 + 16;
    CHECK(isinf(least_of(spec, gpu, wide)), "more tiles than a grid has");
}

static mc_spec *read_spec(const char *path, const mc_setting *settings, size_t count) {
    mc_spec *spec = NULL;
    mc_diag *diag = mc_diag_create();
    CHECK(mc_spec_read(path, settings, count, &spec, diag) == MC_OK, "%s", mc_diag_text(diag));
    mc_diag_destroy(diag);
    return spec;
}

/* A spec that fixes a shape fits no other; a target that is too new fits no older GPU. */
static void check_fixed(const char *path, const mc_gpu *gpu) {
    const mc_setting fixed[] = {{"n", "512"}, {"k", "2048"}}, newer[] = {{"arch", "sm_120"}};
    mc_spec *spec = read_spec(path, fixed, 2);
    mc_problem other = usual;
    CHECK(spec && isfinite(least_of(spec, gpu, usual)), "the fixed shape");
    other.k = 2049;
    CHECK(spec && isinf(least_of(spec, gpu, other)), "another k");
    mc_spec_destroy(spec);
    spec = read_spec(path, newer, 1);
    CHECK(spec && isinf(least_of(spec, gpu, usual)), "sm_120 on sm_90");
    mc_spec_destroy(spec);
}

/* The one variant that SETTINGS leave, on PROBLEM. */
static double estimate_of(const char *path, const mc_setting *settings, size_t count, mc_problem problem) {
    mc_spec *spec = read_spec(path, settings, count);
    if (!spec) return 0;
    CHECK(mc_spec_variant_count(spec) == 1, "%zu variants", mc_spec_variant_count(spec));
    double us = mc_spec_estimate(spec, 0, mc_gpu_find(NULL, 90), &problem);
    mc_spec_destroy(spec);
    return us;
}

/* A direct kernel's estimate on PROBLEM. */
static double direct_estimate(const char *path, const char *split, const char *prefetch, mc_problem problem) {
    const mc_setting settings[] = {
        {"tile_n", "64"}, {"stride", "32"}, {"warps", "4"}, {"split", split}, {"prefetch", prefetch}};
    return estimate_of(path, settings, sizeof settings / sizeof *settings, problem);
}

static void check_direct(const char *path) {
    mc_problem few = usual, short_rows = usual;
    few.m = 64, few.vectors = 8 * 200;
    short_rows.m = 512, short_rows.vectors = 512, short_rows.longest = 20, short_rows.spread = 3;
    CHECK(direct_estimate(path, "4", "on", few) < direct_estimate(path, "1", "on", few), "few row blocks");
    CHECK(direct_estimate(path, "4", "on", short_rows) > direct_estimate(path, "1", "on", short_rows),
          "a stride a row block");
    CHECK(direct_estimate(path, "1", "on", usual) < direct_estimate(path, "1", "off", usual), "prefetched");
    double apart =
        direct_estimate(path, "1", "on", short_rows) - direct_estimate(path, "1", "off", short_rows);
    CHECK(fabs(apart) < 1e-9, "nothing to prefetch: %g", apart);
    const mc_setting small[] = {{"arch", "sm_90"}, {"overlap", "on"},  {"tile_n", "32"}, {"stride", "32"},
                                {"warps", "1"},    {"prefetch", "on"}, {"split", "1"}};
    short_rows.m = 4096, short_rows.vectors = 4096;
    CHECK(estimate_of(path, small, sizeof small / sizeof *small, short_rows) > 5, "8192 thread blocks begin");
}

/* A ring kernel: FIELDS are warps, split, window, stages, resident, overlap. */
static double ring_estimate(const char *path, const char *const fields[6], mc_problem problem) {
    const mc_setting settings[] = {{"warps", fields[0]},  {"split", fields[1]},    {"window", fields[2]},
                                   {"stages", fields[3]}, {"resident", fields[4]}, {"overlap", fields[5]},
                                   {"group", "all"}};
    return estimate_of(path, settings, sizeof settings / sizeof *settings, problem);
}
#define RING(problem, ...) ring_estimate(path, (const char *const[]){__VA_ARGS__}, problem)

static void check_ring(const char *path) {
    mc_problem shallow = usual, few = usual, many = usual;
    shallow.k = 64, shallow.vectors = 8192, shallow.longest = 24, shallow.spread = 3;
    CHECK(RING(shallow, "4", "1", "64", "12", "off", "on") < RING(shallow, "4", "1", "256", "3", "off", "on"),
          "as much shared memory, but a window beyond k is filled up with zeros");
    few.n = few.ldb = 256, few.vectors = 314572, few.longest = 680;
    CHECK(RING(few, "16", "2", "256", "6", "off", "on") < RING(few, "16", "1", "256", "6", "off", "on"),
          "half as many thread blocks as multiprocessors");
    few.m = 64, few.vectors = 8 * 600;
    CHECK(RING(few, "8", "2", "256", "6", "off", "on") < RING(few, "4", "1", "256", "6", "off", "on"),
          "half the strides for each warp");
    CHECK(RING(usual, "16", "2", "256", "6", "off", "on") > RING(usual, "16", "1", "256", "6", "off", "on"),
          "as many");
    many.m = 1 << 17, many.k = 256, many.vectors = 64 * 16384, many.longest = 80;
    CHECK(RING(many, "16", "1", "256", "3", "on", "on") < RING(many, "16", "1", "256", "3", "off", "on"),
          "B copied once");
    CHECK(RING(usual, "8", "1", "256", "6", "on", "on") > RING(usual, "8", "1", "256", "6", "off", "on"),
          "B does not fit: stays to no purpose");
    CHECK(RING(usual, "16", "1", "256", "6", "off", "off") > RING(usual, "16", "1", "256", "6", "off", "on"),
          "launches that wait for each other");
}

/* One GPU's costs never pass for another's of the same capability; a GPU without costs has the nearest ones,
   under their own name. */
static void check_gpus(void) {
    size_t count;
    const mc_gpu *list = mc_gpu_list(&count);
    for (size_t i = 0; i < count; i++) {
        const mc_gpu *found = mc_gpu_find(list[i].name, list[i].capability);
        CHECK(strcmp(found->name, list[i].name) == 0, "%s is %s", list[i].name, found->name);
    }
    const mc_gpu *unknown = mc_gpu_find("NVIDIA A100-SXM4-80GB", 80),
                 *h100 = mc_gpu_find("NVIDIA H100 PCIe", 90);
    CHECK(strcmp(unknown->name, "NVIDIA A100-SXM4-80GB") != 0, "an A100 was not measured");
    CHECK(strcmp(h100->name, "NVIDIA H100 PCIe") != 0, "nor this H100");
    const double *one, *other;
    const mc_cost *costs = mc_costs_of("spmm", mc_gpu_find("NVIDIA H200", 90), &one, &count);
    CHECK(costs != NULL &&
              mc_costs_of("spmm", mc_gpu_find("NVIDIA H100 80GB HBM3", 90), &other, &count) == costs,
          "the same costs");
    CHECK(memcmp(one, other, count * sizeof *one) != 0, "their memory is not alike");
}

/* What does not fit into L2 takes longer, and so does what is not there yet. */
static void check_memory(const mc_spec *spec, const mc_gpu *gpu) {
    mc_problem cold = usual, large = usual;
    cold.cold = true;
    CHECK(least_of(spec, gpu, cold) > least_of(spec, gpu, usual), "cold operands");
    large.m *= 16, large.vectors *= 16;
    double share = least_of(spec, gpu, large) / least_of(spec, gpu, usual);
    CHECK(share > 8 && share < 40, "16 times the rows: %g times as long", share);
}

/* A direct kernel made for N columns. */
static double estimate_for(const char *path, const char *n) {
    mc_problem problem = usual;
    problem.n = problem.ldb = atoi(n);
    const mc_setting settings[] = {{"tile_n", "32"},   {"stride", "32"}, {"warps", "4"}, {"split", "4"},
                                   {"prefetch", "on"}, {"n", n},         {"ldb", n},     {"ldc", n}};
    return estimate_of(path, settings, sizeof settings / sizeof *settings, problem);
}

/* Few columns: some are loaded by words, one by bytes; neither takes as long as several tiles. */
static void check_few(const char *path) {
    CHECK(estimate_for(path, "8") < estimate_for(path, "1"), "8 columns by words, one by bytes");
    CHECK(estimate_for(path, "16") < 1.2 * estimate_for(path, "8"), "16 columns, as wide");
    CHECK(estimate_for(path, "1") < estimate_for(path, "256"), "a column");
}

/* Arguments: a spec of staging direct, one of staging tma. */
int main(int argc, char **argv) {
    const mc_gpu *gpu = mc_gpu_find(NULL, 90);
    if (argc != 3) return 2;
    CHECK(mc_gpu_find(NULL, 80) && mc_gpu_find(NULL, 120) && gpu->capability == 90, "the nearest record");
    for (int i = 1; i < argc; i++) {
        mc_spec *spec = read_spec(argv[i], NULL, 0);
        if (!spec) return 1;
        CHECK(isinf(mc_spec_estimate(spec, mc_spec_variant_count(spec), gpu, &usual)), "no such variant");
        check_growth(spec, gpu);
        check_edges(spec, gpu);
        check_alignment(spec, gpu, i == 2);
        check_fixed(argv[i], gpu);
        check_memory(spec, gpu);
        mc_spec_destroy(spec);
    }
    check_gpus();
    check_few(argv[1]);
    check_direct(argv[1]);
    check_ring(argv[2]);
    return check_end();
}
