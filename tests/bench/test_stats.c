/* Medians, classes, ceilings and floors. */
#include <math.h>
#include "ceilings.h"
#include "check.h"
#include "floor.h"
#include "race.h"
#include "stats.h"

static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * fabs(b); }

static void test_box(void) {
    double one[] = {7}, two[] = {3, 1}, five[] = {50, 10, 40, 20, 30}, four[] = {4, 3, 2, 1};
    box b = box_of(one, 1);
    CHECK(b.least == 7 && b.low == 7 && b.median == 7 && b.high == 7 && b.most == 7);
    b = box_of(two, 2);
    CHECK(b.least == 1 && b.low == 1.5 && b.median == 2 && b.high == 2.5 && b.most == 3);
    b = box_of(five, 5);
    CHECK(b.least == 10 && b.low == 20 && b.median == 30 && b.high == 40 && b.most == 50);
    b = box_of(four, 4);
    CHECK(b.low == 1.75 && b.median == 2.5 && b.high == 3.25, "%f %f %f", b.low, b.median, b.high);
}

static void test_mean(void) {
    const double values[] = {4, 0.25, 8, 0.5};
    CHECK(near(geometric_mean(values, 2), 1));
    CHECK(near(geometric_mean(values, 4), sqrt(2)));
    CHECK(geometric_mean(values, 0) == 0);
}

static void test_classes(void) {
    static const double pairs[][2] = {{0.7, 0.7},    {0.700001, 0.7}, {0.8499, 0.8}, {0.851, 0.9},
                                      {0.949, 0.95}, {0.964, 0.95},   {0.966, 0.98}, {0.982, 0.98},
                                      {0.999, 0.99}, {0, 0.5}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        CHECK(sparsity_class(pairs[i][0]) == pairs[i][1], "%g gives %g", pairs[i][0],
              sparsity_class(pairs[i][0]));
}

static const ceilings machine = {.launch_us = 0.5,
                                 .footprints = {1e5, 1e6, 1e7, 1e8, 1e9, 1e10},
                                 .gather = {16e6, 8e6, 8e6, 4e6, 2e6, 2e6},
                                 .copy = {4e6, 4e6, 4e6, 4e6, 4e6, 4e6},
                                 .shared = 32e6,
                                 .mma_s8 = 600e6};

static void test_ceilings(void) {
    CHECK(ceiling_at(&machine, machine.gather, 1) == 16e6);
    CHECK(ceiling_at(&machine, machine.gather, 1e5) == 16e6);
    CHECK(near(ceiling_at(&machine, machine.gather, sqrt(1e11)), 12e6), "halfway by the logarithm");
    CHECK(near(ceiling_at(&machine, machine.gather, 3e6), 8e6));
    CHECK(ceiling_at(&machine, machine.gather, 1e12) == 2e6);
}

/* 1000 row blocks of 100 vectors, K = 1024, N = 256, packed with 128 slots a row block. */
static void test_floor(void) {
    const floor_problem problem = {.m = 8000,
                                   .n = 256,
                                   .k = 1024,
                                   .vectors = 100000,
                                   .slots = 128000,
                                   .b_bytes = 1024 * 256,
                                   .elements = 8000 * 256,
                                   .packed_bytes = 128000 * 12};
    variant direct = {.facts = {.stride = 32, .stride_mma = 8, .tile_rows = 8, .tile_columns = 128},
                      .output = {.type = MC_S32}};
    const char *limit;
    floor_load load = floor_load_spmm(&direct, &problem);
    floor_times t = floor_of(&machine, &load);
    double b = 1024 * 256, a = 128000 * 12, c = 8000.0 * 256 * 4;
    CHECK(near(t.memory, (a + b + c) / 4e6));
    CHECK(near(t.gather, (100000.0 * 256 + 2 * a) / 8e6), "%f", t.gather);
    CHECK(near(t.mma, 4000.0 * 8 * 2 * 4096 / 600e6));
    CHECK(t.shared == 0 && t.launch == 0.5);
    CHECK(near(floor_us(&t, &limit), t.gather) && strcmp(limit, "gather") == 0, "%s", limit);
    variant staged = direct;
    staged.facts.staged = true;
    staged.facts.tile_rows = 128;
    staged.output.type = MC_F16;
    load = floor_load_spmm(&staged, &problem);
    t = floor_of(&machine, &load);
    CHECK(near(t.memory, (a + b + c / 2) / 4e6));
    CHECK(near(t.gather, (63.0 * 1024 * 256 + 2 * a) / 8e6), "%f", t.gather);
    CHECK(near(t.shared, 100000.0 * 256 / 32e6));
}

/* 1000 vectors of 8 elements, packed with 1024 slots; K = 600 in panels of 256. */
static void test_sampled_floor(void) {
    const floor_problem problem = {.m = 800,
                                   .n = 500,
                                   .k = 600,
                                   .vectors = 1000,
                                   .slots = 1024,
                                   .a_bytes = 800 * 600 * 2,
                                   .b_bytes = 500 * 600,
                                   .elements = 8000,
                                   .packed_bytes = 5000};
    const variant v = {.facts = {.group_mma = 16, .panel_k = 256}, .output = {.type = MC_F16}};
    floor_load load = floor_load_sddmm(&v, &problem);
    CHECK(load.memory == 5000 + 960000 + 300000 + 16000, "%f", load.memory);
    CHECK(load.gathered == 5000 + 960000 + 1000.0 * 600, "%f", load.gathered);
    CHECK(load.footprint == 300000 && load.shared == 0);
    CHECK(load.macs == 64.0 * 3 * 16 * 4096, "%f", load.macs);
}

int main(void) {
    test_box();
    test_mean();
    test_classes();
    test_ceilings();
    test_floor();
    test_sampled_floor();
    return check_end();
}
