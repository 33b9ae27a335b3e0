/* Estimates of optimisers' steps: every kernel has one for every problem, and what they must agree with. */
#include <math.h>
#include <stdio.h>
#include "check.h"
#include "mcgen.h"

static const char *specs;
static const mc_gpu *gpu;

enum { MOST_SETTINGS = 6 };

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

static double least(const char *name, const mc_setting *settings, mc_problem problem) {
    size_t variant;
    mc_spec *spec = read_spec(name, settings);
    double us = spec != NULL ? mc_spec_pick(spec, gpu, &problem, &variant) : 0;
    mc_spec_destroy(spec);
    return us;
}

/* The least of the variants that SET leaves, for M x 8. */
#define LEAST(name, rows, ...)                                                                               \
    least(name, (const mc_setting[MOST_SETTINGS]){__VA_ARGS__, {0}}, (mc_problem){.m = (rows), .n = 8})
#define NOTHING                                                                                              \
    { 0 }
#define SGD  "optimise_sgd"
#define ADAM "optimise_adam"

static void check_all(const char *name) {
    static const int64_t rows[] = {0, 1, 2, 100, 4099, 600000, INT32_MAX};
    static const mc_setting none[] = {{0}};
    mc_spec *spec = read_spec(name, none);
    for (size_t v = 0; spec != NULL && v < mc_spec_variant_count(spec); v++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const mc_problem p = {.m = rows[i], .n = 8};
            double us = mc_spec_estimate(spec, v, gpu, &p);
            CHECK(isfinite(us) && us > 0, "%s, variant %zu, %d x 8: %g", name, v, (int)rows[i], us);
        }
    mc_spec_destroy(spec);
}

/* Of 600000 x 8 bytes decide: as many times as there are bytes, within a fifth. */
static void check_bytes(void) {
    enum { MANY = 600000 };
    const double of_sgd = LEAST(SGD, MANY, NOTHING), bytes_of_sgd = 14;
    const struct {
        const char *what;
        double us, bytes;
    } rows[] = {{"sgd with a master", LEAST(SGD, MANY, {"master", "on"}), 20},
                {"sgd in f32", LEAST(SGD, MANY, {"lhs", "f32"}, {"out", "f32"}), 20},
                {"adamw", LEAST(ADAM, MANY, {"master", "off"}), 22},
                {"adamw with a master", LEAST(ADAM, MANY, NOTHING), 28}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double by = rows[i].us / of_sgd, want = rows[i].bytes / bytes_of_sgd;
        CHECK(by > want * .8 && by < want * 1.2 + 1, "%s takes %g of sgd's time, has %g of its bytes",
              rows[i].what, by, want);
    }
}

/* What a multiprocessor does not hold at once, what a spec fixes, what L2 has not. */
static void check_rest(void) {
    CHECK(LEAST(ADAM, 30000, {"blocks", "4"}, {"warps", "8"}, {"hold", "2"}, {"unit", "4"}) >
              LEAST(ADAM, 30000, {"blocks", "3"}, {"warps", "8"}, {"hold", "2"}, {"unit", "4"}),
          "thread blocks that wait cost nothing");
    CHECK(LEAST(SGD, 16, {"m", "17"}) == INFINITY, "a kernel of another m");
    const mc_setting none[] = {{0}};
    CHECK(least(SGD, none, (mc_problem){.m = 100000, .n = 8, .cold = true}) > LEAST(SGD, 100000, NOTHING),
          "cold operands take no longer");
    CHECK(LEAST(SGD, 1, NOTHING) < LEAST(SGD, 600000, NOTHING), "a few elements take as long as many");
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    specs = argv[1];
    gpu = mc_gpu_find("NVIDIA H200", 90);
    check_all(SGD);
    check_all(ADAM);
    check_bytes();
    check_rest();
    return check_end();
}
