/* Estimates of dense products: that every kernel has one for every problem, what they depend on, and which
 * variants they choose. How far they are off is `mcbench fit`'s to say. estimate_gemm_test SPECS */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "mcgen.h"

static const mc_gpu *gpu;

static mc_spec *read_spec(const char *specs, const char *name) {
    char path[300];
    mc_spec *spec = NULL;
    mc_diag *diag = mc_diag_create();
    snprintf(path, sizeof path, "%s/gemm_%s.lua", specs, name);
    CHECK(mc_spec_read(path, NULL, 0, &spec, diag) == MC_OK, "%s", mc_diag_text(diag));
    mc_diag_destroy(diag);
    return spec;
}

static void check_everywhere(const mc_spec *spec) {
    static const int64_t sizes[] = {0, 1, 7, 64, 100, 4096, 28672};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    for (size_t i = 0; i < 2 * SIZES * SIZES * SIZES; i++) {
        const mc_problem p = {.m = sizes[i / 2 % SIZES],
                              .n = sizes[i / 2 / SIZES % SIZES],
                              .k = sizes[i / 2 / SIZES / SIZES],
                              .cold = i % 2};
        for (size_t v = 0; v < mc_spec_variant_count(spec); v++) {
            double us = mc_spec_estimate(spec, v, gpu, &p);
            CHECK(isfinite(us) && us > 0, "variant %zu, %d x %d x %d: %g", v, (int)p.m, (int)p.n, (int)p.k,
                  us);
        }
    }
}

/* The variant of the least estimate has WANTED. */
static void check_choice(const mc_spec *spec, mc_problem p, const char *wanted) {
    size_t variant;
    double us = mc_spec_pick(spec, gpu, &p, &variant);
    char *text = mc_spec_variant_text(spec, variant, false);
    CHECK(isfinite(us) && text && strstr(text, wanted), "%d x %d x %d: %s, not %s", (int)p.m, (int)p.n,
          (int)p.k, text, wanted);
    free(text);
}

static double least(const mc_spec *spec, mc_problem p) {
    size_t variant;
    return mc_spec_pick(spec, gpu, &p, &variant);
}

static mc_kernel *kernel_of(const char *more) {
    char fields[200];
    mc_kernel *kernel = NULL;
    snprintf(fields, sizeof fields, "op=gemm arch=sm_90a lhs=f16 rhs=f16 out=f16 tile_m=128 tile_n=64%s",
             more);
    CHECK(mc_kernel_outline_fields(fields, &kernel, NULL) == MC_OK, "%s", fields);
    return kernel;
}

/* Alone a kernel is estimated without overlap, and one that is nothing without it, as it is. */
static void check_alone(void) {
    const mc_problem p = {.m = 4096, .n = 64, .k = 4096};
    mc_kernel *off = kernel_of(""), *on = kernel_of(" overlap=on"),
              *early = kernel_of(" overlap=on early=on");
    if (!off || !on || !early) return;
    double without = mc_kernel_estimate(off, gpu, &p), with = mc_kernel_estimate(early, gpu, &p);
    CHECK(with < without, "overlap: %g us for %g", with, without);
    CHECK(mc_kernel_estimate_alone(off, gpu, &p) == without, "not that of the kernel without overlap");
    CHECK(mc_kernel_estimate_alone(on, gpu, &p) == without, "overlap counts");
    CHECK(mc_kernel_estimate_alone(early, gpu, &p) == with, "the kernel is none without overlap");
    mc_kernel_destroy(off);
    mc_kernel_destroy(on);
    mc_kernel_destroy(early);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    mc_spec *f16 = read_spec(argv[1], "f16"), *s8 = read_spec(argv[1], "s8"),
            *mma = read_spec(argv[1], "f16_mma"), *parts = read_spec(argv[1], "f16_split"),
            *stream = read_spec(argv[1], "f16_stream");
    gpu = mc_gpu_find("NVIDIA H100 80GB HBM3", 90);
    if (!f16 || !s8 || !mma || !parts || !stream) return check_end();
    check_alone();
    check_everywhere(f16);
    check_everywhere(mma);
    check_choice(mma, (mc_problem){.m = 4096, .n = 4096, .k = 4096}, "tile_m=128 tile_n=128");
    check_choice(mma, (mc_problem){.m = 64, .n = 256, .k = 4096}, "tile_m=64 tile_n=64");
    check_choice(f16, (mc_problem){.m = 4096, .n = 4096, .k = 4096}, "tile_m=128 tile_n=256 stages=4");
    check_choice(s8, (mc_problem){.m = 4096, .n = 4096, .k = 4096}, "turns=on store=tensor");
    check_choice(f16, (mc_problem){.m = 4096, .n = 16, .k = 4096}, "tile_n=64");
    check_choice(f16, (mc_problem){.m = 64, .n = 4096, .k = 4096}, "tile_m=64");
    const mc_problem large = {.m = 8192, .n = 8192, .k = 8192},
                     cold = {.m = 28672, .n = 8, .k = 8192, .cold = true};
    double ratio = least(f16, large) / least(s8, large), slower = least(mma, large) / least(f16, large);
    CHECK(slower > 1.1 && slower < 2, "8192 cubed: mma takes %.2f of wgmma", slower);
    CHECK(ratio > 1.8 && ratio < 2.2, "8192 cubed: f16 takes %.2f of s8", ratio);
    CHECK(least(f16, cold) > 28672.0 * 8192 * 2 / 3.4e6, "memory is faster than 3.4 TB/s: %.1f us",
          least(f16, cold));
    check_everywhere(parts);
    check_choice(parts, (mc_problem){.m = 4096, .n = 16, .k = 4096}, "tile_n=16");
    check_choice(parts, (mc_problem){.m = 4096, .n = 16, .k = 4096}, "split=");
    /* 12 and 16 tiles of 128 x 128, where 15 clusters of eight run at once */
    check_choice(parts, (mc_problem){.m = 384, .n = 512, .k = 16384}, "split=8");
    check_choice(parts, (mc_problem){.m = 512, .n = 512, .k = 16384}, "tile_m=64 tile_n=64");
    /* a product of few tiles, and one that fills the GPU: split k, and not */
    const mc_problem few = {.m = 4096, .n = 16, .k = 4096}, square = {.m = 4096, .n = 4096, .k = 4096};
    CHECK(least(parts, few) < 0.8 * least(f16, few), "16 columns: %.1f us split, %.1f not", least(parts, few),
          least(f16, few));
    CHECK(least(f16, square) < least(parts, square), "4096 cubed: %.1f us split, %.1f not",
          least(parts, square), least(f16, square));
    check_everywhere(stream);
    /* a few tiles more than multiprocessors, and what comes out even */
    const mc_problem uneven = {.m = 1280, .n = 3584, .k = 16384}, even = {.m = 2816, .n = 3072, .k = 4096};
    CHECK(least(stream, uneven) < 0.9 * least(f16, uneven), "140 tiles: %.1f us dealt out, %.1f not",
          least(stream, uneven), least(f16, uneven));
    CHECK(least(f16, even) <= least(stream, even), "264 tiles: %.1f us dealt out, %.1f not",
          least(stream, even), least(f16, even));
    mc_spec_destroy(stream);
    mc_spec_destroy(parts);
    mc_spec_destroy(f16);
    mc_spec_destroy(s8);
    mc_spec_destroy(mma);
    return check_end();
}
