/* What the simulator says of the generated SpMM: each barrier is needed (in tiles that take several turns at the edge), and shared memory is free of bank
 * conflicts, and stores of C fill their sectors.
 * Where rows of B go through shared memory, also: what their padding saves.
 *
 *   judge_test SPEC
 *   judge_test ring SPEC    of the ring kernel: stores of C alone
 *   judge_test floats SPEC  of floats, with every V: the same */
#include "check.h"
#include "problem.h"
#include "ptxsim.h"
#include <stdlib.h>
#include <string.h>

static const problem_kind kind = {.lhs = MC_S8, .rhs = MC_S8, .vec = 8};
static const problem_case shape = {PATTERN_BOUNDARIES, 9, 131, 300, 4, 4, .values = MC_VALUES_FULL};

static int line_of(const char *text, const char *at) {
    int line = 1;
    for (; text < at; text++) line += *text == '\n';
    return line;
}

static bool line_has(const char *ptx, int line, const char *word) {
    for (; line > 1; line--) ptx = strchr(ptx, '\n') + 1;
    size_t length = strcspn(ptx, "\n");
    return memmem(ptx, length, word, strlen(word)) != NULL;
}

/* What orders accesses to shared memory, and what a launch without it stops for. */
static const struct {
    const char *name, *stop;
} orders[] = {{"bar.sync", "race on shared"},
              {"barrier.sync", "race on shared"},
              {"bar.warp.sync", "race on shared"},
              {"cp.async.wait", "asynchronous copy"}};

/* Without what stands at AT the launch stops for STOP. */
static void without(const problem *p, const mc_kernel *kernel, const char *at, const char *stop,
                    mc_device *device, mc_diag *diag) {
    char *ptx = strdup(mc_kernel_ptx(kernel));
    size_t offset = (size_t)(at - mc_kernel_ptx(kernel));
    CHECK(ptx != NULL);
    if (!ptx) return;
    memset(ptx + offset, ' ', strcspn(ptx + offset, ";") + 1);
    mc_status status = problem_run(p, device, kernel, ptx, diag);
    CHECK(status == MC_DEVICE, "barrier of line %d: status %d", line_of(mc_kernel_ptx(kernel), at),
          (int)status);
    CHECK(strstr(mc_diag_text(diag), stop) != NULL, "barrier of line %d: %s",
          line_of(mc_kernel_ptx(kernel), at), mc_diag_text(diag));
    mc_diag_clear(diag);
    free(ptx);
}

static void barriers(const problem *p, const mc_kernel *kernel, mc_device *device, mc_diag *diag) {
    int count = 0;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        for (const char *at = mc_kernel_ptx(kernel); (at = strstr(at, orders[i].name)) != NULL; at++, count++)
            without(p, kernel, at, orders[i].stop, device, diag);
    CHECK(count > 0, "the kernel has no barrier");
    printf("%d barriers, each missed\n", count);
}

static void wavefronts(const problem *p, const mc_kernel *kernel, mc_device *device, mc_diag *diag) {
    CHECK(problem_run(p, device, kernel, NULL, diag) == MC_OK, "%s", mc_diag_text(diag));
    const ptxsim *sim = mc_device_ptxsim(device);
    ptxsim_line sum = ptxsim_line_sum(sim);
    for (size_t i = 0; i < ptxsim_line_count(sim); i++) {
        const ptxsim_line *l = ptxsim_line_at(sim, i);
        CHECK(l->shared_wavefronts == l->shared_ideal, "line %d: %llu wavefronts, %llu would do", l->line,
              (unsigned long long)l->shared_wavefronts, (unsigned long long)l->shared_ideal);
        CHECK(l->shared_requests == 0 || line_has(mc_kernel_ptx(kernel), l->line, ".shared"));
    }
    CHECK(sum.shared_requests > 0);
    printf("shared: %llu requests, %llu wavefronts, ideally %llu; global: %llu requests, %llu sectors, %llu "
           "bytes\n",
           (unsigned long long)sum.shared_requests, (unsigned long long)sum.shared_wavefronts,
           (unsigned long long)sum.shared_ideal, (unsigned long long)sum.global_requests,
           (unsigned long long)sum.global_sectors, (unsigned long long)sum.global_bytes);
}

static void judge(const char *spec_path, const char *tile_n, bool exact, mc_device *device, mc_diag *diag) {
    const mc_setting settings[] = {{"tile_n", tile_n},
                                   {"warps", "4"},
                                   {"split", "4"},
                                   {"stride", "32"},
                                   {"align", "16"},
                                   {"out", exact ? "s64" : "s32"},
                                   {"sum", exact ? "exact" : "wrap"}};
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;
    problem p;
    mc_status status = problem_make(&shape, &kind, &p, diag);
    if (status == MC_OK)
        status = mc_spec_read(spec_path, settings, sizeof settings / sizeof *settings, &spec, diag);
    if (status == MC_OK) status = mc_kernel_generate(spec, 0, &kernel, diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(diag));
    if (status == MC_OK) {
        printf("tile_n %s%s: ", tile_n, exact ? ", exact sums" : "");
        wavefronts(&p, kernel, device, diag);
        if (strcmp(tile_n, "32") != 0)
            barriers(&p, kernel, device, diag); /* its edge loop goes round but once */
    }
    mc_kernel_destroy(kernel);
    mc_spec_destroy(spec);
    problem_free(&p);
}

/* -- Stores of C -------------------------------------------------------------------------------------- */

/* Whole tiles, so that the wide path takes all. */
static const problem_case tiled = {PATTERN_BOUNDARIES, 9, 131, 256, 0, 0, .values = MC_VALUES_FULL};

/* Where warps share a row block; and from one warp's registers, where a lane has no more than one store in a row: with the paper's
   order it has two. */
static const struct {
    const char *out, *scale, *split;
    int most_tile_n;
} stores[] = {{"s32", "none", "4", 128},    {"f16", "row", "4", 128}, {"f32", "column", "4", 128},
              {"bf16", "tensor", "4", 128}, {"s32", "none", "1", 32}, {"f16", "row", "1", 64},
              {"f32", "column", "1", 32}};

static void sectors(const problem *p, const mc_kernel *kernel, mc_device *device, mc_diag *diag) {
    int seen = 0;
    CHECK(problem_run(p, device, kernel, NULL, diag) == MC_OK, "%s", mc_diag_text(diag));
    const ptxsim *sim = mc_device_ptxsim(device);
    for (size_t i = 0; i < ptxsim_line_count(sim); i++) {
        const ptxsim_line *l = ptxsim_line_at(sim, i);
        if (!l->global_requests || !line_has(mc_kernel_ptx(kernel), l->line, "st.global")) continue;
        CHECK(l->global_sectors * 32 == l->global_bytes, "%s, line %d: %llu sectors for %llu bytes",
              mc_kernel_contract(kernel)->entry, l->line, (unsigned long long)l->global_sectors,
              (unsigned long long)l->global_bytes);
        seen++;
    }
    CHECK(seen > 0, "no store of C");
}

/* Of the default kernel with SETTINGS. */
static mc_status judge_store(const char *spec_path, const mc_setting *settings, size_t count,
                             const problem *p, mc_device *device, mc_diag *diag) {
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;
    mc_status status = mc_spec_read(spec_path, settings, count, &spec, diag);
    if (status == MC_OK) status = mc_kernel_generate(spec, 0, &kernel, diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(diag));
    if (status == MC_OK) sectors(p, kernel, device, diag);
    mc_kernel_destroy(kernel);
    mc_spec_destroy(spec);
    return status;
}

static void judge_stores(const char *spec_path, const char *tile_n, bool paper, mc_device *device,
                         mc_diag *diag) {
    problem p;
    mc_status status = problem_make(&tiled, &kind, &p, diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(diag));
    for (size_t i = 0; status == MC_OK && i < sizeof stores / sizeof *stores; i++) {
        const mc_setting settings[] = {{"tile_n", tile_n},         {"out", stores[i].out},
                                       {"scale", stores[i].scale}, {"warps", "4"},
                                       {"stride", "32"},           {"split", stores[i].split}};
        if (atoi(tile_n) > stores[i].most_tile_n || (paper && strcmp(stores[i].split, "1") == 0)) continue;
        status = judge_store(spec_path, settings, sizeof settings / sizeof *settings, &p, device, diag);
    }
    problem_free(&p);
}

/* Of the ring kernel, whose lanes have two columns of each 16. */
static void judge_ring_stores(const char *spec_path, mc_device *device, mc_diag *diag) {
    static const char *const outs[] = {"f16", "s8", "u8"}, *const splits[] = {"1", "2"};
    problem p;
    mc_status status = problem_make(&tiled, &kind, &p, diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(diag));
    for (size_t i = 0; status == MC_OK && i < 6; i++) {
        const mc_setting settings[] = {
            {"arch", "sm_90"}, {"out", outs[i / 2]}, {"scale", "row"}, {"split", splits[i % 2]}};
        status = judge_store(spec_path, settings, sizeof settings / sizeof *settings, &p, device, diag);
    }
    problem_free(&p);
}

/* Of floats with every V, 64 columns a tile: a row of it is 128 bytes, or with split = 2 64 for each warp. */
static void judge_float_stores(const char *spec_path, mc_device *device, mc_diag *diag) {
    static const char *const vecs[] = {"1", "2", "4", "8", "16"}, *const splits[] = {"1", "2"};
    for (size_t i = 0; i < 10; i++) {
        const mc_setting settings[] = {{"vec", vecs[i / 2]}, {"split", splits[i % 2]}, {"tile_n", "64"},
                                       {"warps", "4"},       {"out", "f16"},           {"bias", "column"}};
        const problem_kind floats = {.lhs = MC_F16, .rhs = MC_F16, .vec = atoi(vecs[i / 2])};
        problem p = {0};
        mc_status status = problem_make(&tiled, &floats, &p, diag);
        CHECK(status == MC_OK, "%s", mc_diag_text(diag));
        if (status == MC_OK)
            judge_store(spec_path, settings, sizeof settings / sizeof *settings, &p, device, diag);
        problem_free(&p);
    }
}

/* -- Rows of B with and without padding --------------------------------------------------------------- */

/* What reads take without padding, over the ideal. Lanes that read different rows meet in the same banks: four in each eight of 16
   bytes, four of 4 bytes; of 8 bytes, which take two turns in any case, two a turn. */
static const struct {
    const char *rhs, *tile_n;
    unsigned unpadded;
} rows[] = {{"s8", "128", 4}, {"s8", "64", 2},  {"s8", "32", 4}, {"s4", "128", 2},
            {"s4", "64", 4},  {"s16", "64", 4}, {"s16", "32", 2}};

/* Whether all accesses whose line has WORD take TIMES the ideal. */
static bool takes(const mc_kernel *kernel, const ptxsim *sim, const char *word, unsigned times) {
    uint64_t ideal = 0;
    for (size_t i = 0; i < ptxsim_line_count(sim); i++) {
        const ptxsim_line *l = ptxsim_line_at(sim, i);
        if (!line_has(mc_kernel_ptx(kernel), l->line, word)) continue;
        if (l->shared_wavefronts != times * l->shared_ideal) return false;
        ideal += l->shared_ideal;
    }
    return ideal > 0;
}

/* Copies do not meet in any case. */
static void judge_rows(const char *spec_path, size_t row, bool padding, mc_device *device, mc_diag *diag) {
    const mc_setting settings[] = {{"rhs", rows[row].rhs}, {"tile_n", rows[row].tile_n},
                                   {"warps", "4"},         {"split", "1"},
                                   {"stride", "64"},       {"padding", padding ? "on" : "off"}};
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;
    problem_kind of;
    problem p = {0};
    mc_status status = mc_spec_read(spec_path, settings, sizeof settings / sizeof *settings, &spec, diag);
    if (status == MC_OK) status = mc_kernel_generate(spec, 0, &kernel, diag);
    if (status == MC_OK) status = problem_kind_of(kernel, &of, diag);
    if (status == MC_OK) status = problem_make(&tiled, &of, &p, diag);
    if (status == MC_OK) status = problem_run(&p, device, kernel, NULL, diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(diag));
    if (status == MC_OK) {
        const ptxsim *sim = mc_device_ptxsim(device);
        CHECK(takes(kernel, sim, "ld.shared", padding ? 1 : rows[row].unpadded),
              "%s, tile_n %s, padding %d: reads", rows[row].rhs, rows[row].tile_n, padding);
        CHECK(takes(kernel, sim, "cp.async.cg", 1), "%s, tile_n %s: copies meet", rows[row].rhs,
              rows[row].tile_n);
    }
    mc_kernel_destroy(kernel);
    mc_spec_destroy(spec);
    problem_free(&p);
}

/* How the spec's default kernel multiplies. */
static void read_controls(const char *spec_path, bool *shared, bool *paper, mc_diag *diag) {
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;
    mc_status status = mc_spec_read(spec_path, NULL, 0, &spec, diag);
    if (status == MC_OK) status = mc_kernel_generate(spec, 0, &kernel, diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(diag));
    *shared = kernel && strcmp(mc_kernel_field_text(kernel, "staging"), "shared") == 0;
    *paper = kernel && strcmp(mc_kernel_field_text(kernel, "order"), "paper") == 0;
    mc_kernel_destroy(kernel);
    mc_spec_destroy(spec);
}

static void judge_all(const char *spec_path, mc_device *device, mc_diag *diag) {
    static const char *const tiles[] = {"32", "64", "128"};
    bool shared = false, paper = false;
    read_controls(spec_path, &shared, &paper, diag);
    for (int i = 0; i < 3; i++) {
        for (int exact = 0; exact < 2; exact++) judge(spec_path, tiles[i], exact, device, diag);
        judge_stores(spec_path, tiles[i], paper, device, diag);
    }
    for (size_t i = 0; shared && i < 2 * sizeof rows / sizeof *rows; i++)
        judge_rows(spec_path, i / 2, i % 2 != 0, device, diag);
}

int main(int argc, char **argv) {
    mc_device *device = NULL;
    mc_diag *diag = mc_diag_create();
    bool ring = argc == 3 && strcmp(argv[1], "ring") == 0,
         floats = argc == 3 && strcmp(argv[1], "floats") == 0;
    if (argc != 2 && !ring && !floats) return 2;
    CHECK(mc_device_open("sim", &device, diag) == MC_OK, "%s", mc_diag_text(diag));
    if (device && ring) judge_ring_stores(argv[2], device, diag);
    else if (device && floats) judge_float_stores(argv[2], device, diag);
    else if (device) judge_all(argv[1], device, diag);
    mc_device_close(device);
    mc_diag_destroy(diag);
    return check_end();
}
