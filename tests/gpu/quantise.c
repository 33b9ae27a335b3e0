/* How fast kernels that quantise f16 to s8, transposed, are beside a plain kernel that reads and writes the same
 * bytes. For each problem and each way to have scales: every variant of a spec is verified and timed, then the best
 * of them and the best plain kernels are timed in turns. Run by hand, in the root of the repository:
 *
 *   quantise_gpu [sim|WAY [M N]]   sim: small problems on the simulator, which has no time; WAY: a part of a way's text;
 *                                  M, N: this problem alone
 *
 * Times are those of a launch in a CUDA graph of many, warm. Exit status 77: no GPU. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mcrt_internal.h"
#include "plain.h"
#include "problem/bind.h"

enum { X, SCALE, ZERO, C };
enum {
    QUICK_LAUNCHES = 20,
    QUICK_ROUNDS = 5,
    LAUNCHES = 50,
    ROUNDS = 31,
    FINALISTS = 4,
    TURNS = 3,
    MOST = 512,
    WORKSPACE = 4096
};

typedef struct run {
    mc_device *device;
    bool times; /* a GPU is there */
    mc_diag *diag;
    int failed;
} run;

/* A kernel with its launch, and the least time so far. */
typedef struct entrant {
    char text[96];
    mc_module *module;
    mc_launch launch;
    double us;
} entrant;

typedef struct field {
    entrant items[MOST];
    size_t count;
} field;

static int by_time(const void *a, const void *b) {
    const entrant *x = a, *y = b;
    return x->us < y->us ? -1 : x->us > y->us;
}

/* Keeps the fastest KEEP. */
static void cut(field *f, size_t keep) {
    qsort(f->items, f->count, sizeof *f->items, by_time);
    while (f->count > keep) mc_module_unload(f->items[--f->count].module);
}

static mc_status time_one(run *r, entrant *e, int launches, int rounds) {
    double us = 0;
    if (!r->times) return MC_OK;
    mc_status status = mc_module_time(e->module, &e->launch, launches, rounds, &us, r->diag);
    if (status == MC_OK && (e->us == 0 || us < e->us)) e->us = us;
    return status;
}

/* -- Problems ----------------------------------------------------------------------------------------- */

/* A way to have scales, and the space of kernels for it. */
typedef struct way {
    const char *text, *spec;
    bool computed, tensor;
} way;

static const way ways[] = {
    {"a token, computed", "tests/gpu/quantise_computed.lua", true, false},
    {"a token, computed in clusters", "tests/gpu/quantise_cluster.lua", true, false},
    {"of the tensor, computed", "tests/gpu/quantise_tensor.lua", true, true},
    {"a token, given", "tests/gpu/quantise_given.lua", false, false},
};

typedef struct task {
    int64_t m, n;
    const way *way;
    mc_dense x;
    float *scales; /* given */
    reference_result want;
    reference_result want_scales;
    uint64_t x_at, scale_at, c_at, workspace_at;
} task;

static void setting(mc_setting *s, char text[24], const char *name, int64_t value) {
    snprintf(text, 24, "%lld", (long long)value);
    *s = (mc_setting){name, text};
}

static mc_status read_spec(const task *t, mc_spec **spec, mc_diag *diag) {
    char texts[4][24];
    mc_setting settings[5] = {{"arch", "sm_90"}};
    setting(&settings[1], texts[0], "m", t->m);
    setting(&settings[2], texts[1], "n", t->n);
    setting(&settings[3], texts[2], "lda", t->n);
    setting(&settings[4], texts[3], "ldc", t->m);
    return mc_spec_read(t->way->spec, settings, 5, spec, diag);
}

static mc_status expect(const mc_kernel *kernel, task *t, mc_diag *diag) {
    static const mc_vsparse no_matrix;
    plan_problem whole;
    host_operands operands = {.problem = &whole, .matrix = &no_matrix};
    const mc_operator *op = operator_of(MC_OP_QUANTISE);
    operands.inputs[X] = &t->x;
    operands.factors[SCALE] = t->way->computed ? NULL : t->scales;
    mc_status status = plan_problem_measure(kernel, &operands, t->m, &whole, diag);
    if (status == MC_OK) status = operator_expect(op, &operands, &t->want, diag);
    if (status == MC_OK && t->way->computed)
        status = operator_expect_other(op, &operands, SCALE, &t->want_scales, diag);
    return status;
}

static mc_status upload(run *r, task *t) {
    size_t x_bytes = (size_t)(2 * t->m * t->n), scale_bytes = (size_t)t->m * sizeof(float);
    mc_status status = mc_dense_create(MC_F16, t->m, t->n, t->n, &t->x, r->diag);
    if (status != MC_OK) return status;
    mc_dense_fill(&t->x, MC_VALUES_FULL, 1);
    t->scales = malloc(scale_bytes);
    for (int64_t i = 0; i < t->m; i++) t->scales[i] = 0.02F + 0.0001F * (float)(i % 977);
    status = mc_device_alloc(r->device, x_bytes, &t->x_at, r->diag);
    if (status == MC_OK) status = mc_device_alloc(r->device, scale_bytes, &t->scale_at, r->diag);
    if (status == MC_OK) status = mc_device_alloc(r->device, x_bytes / 2, &t->c_at, r->diag);
    if (status == MC_OK) status = mc_device_alloc(r->device, WORKSPACE, &t->workspace_at, r->diag);
    if (status == MC_OK) status = mc_device_write(r->device, t->x_at, t->x.data, x_bytes, r->diag);
    if (status == MC_OK) status = mc_device_write(r->device, t->scale_at, t->scales, scale_bytes, r->diag);
    return status;
}

static void release(run *r, task *t) {
    mc_device_free(r->device, t->x_at);
    mc_device_free(r->device, t->scale_at);
    mc_device_free(r->device, t->c_at);
    mc_device_free(r->device, t->workspace_at);
    mc_dense_free(&t->x);
    mc_result_free(&t->want_scales);
    mc_result_free(&t->want);
    free(t->scales);
}

/* -- Our kernels -------------------------------------------------------------------------------------- */

static mc_status compare(run *r, const task *t, uint64_t address, const mc_dense *want, const char *name) {
    mc_dense got;
    mc_status status = mc_dense_create(want->type, want->rows, want->cols, want->ld, &got, r->diag);
    size_t bytes = (size_t)mc_type_size(want->type, want->rows * want->ld);
    (void)t;
    if (status == MC_OK) status = mc_device_read(r->device, address, got.data, bytes, r->diag);
    if (status == MC_OK && memcmp(got.data, want->data, bytes) != 0)
        status = mc_dense_compare_named(name, &got, want, r->diag);
    mc_dense_free(&got);
    return status;
}

static mc_status verify(run *r, const task *t, entrant *e) {
    mc_status status = mc_device_fill(r->device, t->c_at, 0x80, (size_t)(t->m * t->n), r->diag);
    if (status == MC_OK && t->way->computed)
        status = mc_device_fill(r->device, t->scale_at, 0x80, (size_t)t->m * sizeof(float), r->diag);
    if (status == MC_OK) status = mc_module_launch(e->module, &e->launch, r->diag);
    if (status == MC_OK) status = compare(r, t, t->c_at, &t->want.low, "C");
    return status == MC_OK && t->way->computed ? compare(r, t, t->scale_at, &t->want_scales.low, "scale")
                                               : status;
}

static mc_status bind(const task *t, const mc_kernel *kernel, entrant *e, mc_diag *diag) {
    const mc_binding bindings[] = {{"m", t->m},
                                   {"n", t->n},
                                   {"k", 0},
                                   {"lda", t->n},
                                   {"ldb", 0},
                                   {"ldc", t->m},
                                   {"x", (int64_t)t->x_at},
                                   {"scale", (int64_t)t->scale_at},
                                   {"c", (int64_t)t->c_at},
                                   {MC_WORKSPACE, (int64_t)t->workspace_at}};
    return mc_bind(kernel, bindings, sizeof bindings / sizeof *bindings, &e->launch, diag);
}

/* Whether thread blocks are neither far too many nor far too few, and shares are shares: else the variant is passed
   over on a GPU, where each one is compiled. */
static bool is_sensible(const task *t, const mc_spec *spec, size_t variant) {
    mc_kernel *kernel = NULL;
    if (!t->way->computed || t->way->tensor || mc_kernel_outline(spec, variant, &kernel, NULL) != MC_OK)
        return true;
    int64_t tile = mc_kernel_field(kernel, "tile"), share = mc_kernel_field(kernel, "share");
    int64_t cluster = mc_kernel_field(kernel, "cluster");
    int64_t shares = share > 0 ? (t->n + share - 1) / share : cluster,
            blocks = (t->m + tile - 1) / tile * shares;
    bool added = strcmp(mc_kernel_field_text(kernel, "rounding"), "add") == 0;
    mc_kernel_destroy(kernel);
    return (share < 0 || shares > 1) && blocks >= 16 && blocks <= 600 && (added || tile == 32);
}

static mc_status enter(run *r, task *t, const mc_spec *spec, size_t variant, entrant *e) {
    mc_kernel *kernel = NULL;
    char *text = mc_spec_variant_text(spec, variant, false);
    *e = (entrant){.us = 0};
    snprintf(e->text, sizeof e->text, "%s", text != NULL ? text : "");
    free(text);
    mc_status status = mc_kernel_generate(spec, variant, &kernel, r->diag);
    if (status == MC_OK && t->want.low.data == NULL) status = expect(kernel, t, r->diag);
    if (status == MC_OK) status = bind(t, kernel, e, r->diag);
    if (status == MC_OK)
        status = mc_module_load(r->device, mc_kernel_ptx(kernel), mc_kernel_contract(kernel)->entry,
                                &e->module, r->diag);
    mc_kernel_destroy(kernel);
    if (status == MC_OK) status = verify(r, t, e);
    if (status == MC_OK) status = time_one(r, e, QUICK_LAUNCHES, QUICK_ROUNDS);
    return status;
}

static void enter_all(run *r, task *t, field *f) {
    mc_spec *spec = NULL;
    size_t count = 0, right = 0;
    if (read_spec(t, &spec, r->diag) == MC_OK) count = mc_spec_variant_count(spec);
    else printf("  %s\n", mc_diag_text(r->diag)), r->failed++;
    for (size_t i = 0; i < count; i += r->times ? 1 : 23) {
        if (r->times && !is_sensible(t, spec, i)) continue;
        entrant *e = &f->items[f->count];
        mc_diag_clear(r->diag);
        mc_status status = enter(r, t, spec, i, e);
        if (status == MC_OK) f->count++, right++;
        else printf("  %s: %s\n", e->text, mc_diag_text(r->diag)), r->failed++, mc_module_unload(e->module);
        if (f->count == MOST) cut(f, FINALISTS);
    }
    printf("  %zu variants of %zu are exact\n", right, count);
    mc_spec_destroy(spec);
}

/* -- The plain kernel --------------------------------------------------------------------------------- */

/* BLOCKS thread blocks; 0: as many as it takes for one turn. */
static mc_status enter_plain(run *r, const task *t, int threads, int unroll, int blocks, field *f) {
    entrant *e = &f->items[f->count];
    int64_t units = t->m * t->n / 16, all = (units + threads * unroll - 1) / (threads * unroll);
    *e = (entrant){.launch = {.grid = {(unsigned)(blocks > 0 && blocks < all ? blocks : all), 1, 1},
                              .block = {(unsigned)threads, 1, 1},
                              .values = {t->x_at, t->c_at, (uint64_t)units},
                              .count = 3}};
    snprintf(e->text, sizeof e->text, "plain: %u blocks of %d threads, %d units", e->launch.grid[0], threads,
             unroll);
    char *ptx = plain_ptx(threads, unroll, 2);
    mc_status status = mc_module_load(r->device, ptx, "plain", &e->module, r->diag);
    free(ptx);
    if (status == MC_OK) status = mc_module_launch(e->module, &e->launch, r->diag);
    if (status == MC_OK) status = time_one(r, e, QUICK_LAUNCHES, QUICK_ROUNDS);
    if (status == MC_OK) f->count++;
    else printf("  %s: %s\n", e->text, mc_diag_text(r->diag)), r->failed++;
    return status;
}

static void enter_plains(run *r, const task *t, field *f) {
    static const int threads[] = {128, 256, 512, 1024}, unrolls[] = {1, 2, 4},
                     blocks[] = {0, 132, 264, 528, 1056};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++)
        for (size_t j = 0; j < sizeof unrolls / sizeof *unrolls; j++)
            for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
                if (r->times || (i == 0 && k < 2))
                    (void)enter_plain(r, t, threads[i], unrolls[j], blocks[k], f);
}

/* -- The race ----------------------------------------------------------------------------------------- */

static void race(run *r, field *ours, field *plain) {
    cut(ours, FINALISTS);
    cut(plain, FINALISTS);
    for (int turn = 0; turn < TURNS; turn++)
        for (size_t i = 0; i < FINALISTS; i++) {
            if (i < ours->count) (void)time_one(r, &ours->items[i], LAUNCHES, ROUNDS);
            if (i < plain->count) (void)time_one(r, &plain->items[i], LAUNCHES, ROUNDS);
        }
    qsort(ours->items, ours->count, sizeof *ours->items, by_time);
    qsort(plain->items, plain->count, sizeof *plain->items, by_time);
}

static void print(const task *t, const field *ours, const field *plain) {
    double bytes = 3.0 * (double)t->m * (double)t->n;
    if (ours->count == 0 || plain->count == 0) return;
    double best = plain->items[0].us;
    printf("  %8.2f us %7.0f GB/s          %s\n", best, bytes / best / 1e3, plain->items[0].text);
    for (size_t i = 0; i < ours->count; i++)
        printf("  %8.2f us %7.0f GB/s  %.3f   %s\n", ours->items[i].us, bytes / ours->items[i].us / 1e3,
               best / ours->items[i].us, ours->items[i].text);
}

static void run_task(run *r, int64_t m, int64_t n, const way *w) {
    static field ours, plain;
    task t = {.m = m, .n = n, .way = w};
    ours.count = plain.count = 0;
    printf("%lld x %lld, f16 to s8, transposed, scales %s\n", (long long)m, (long long)n, w->text);
    mc_status status = upload(r, &t);
    if (status == MC_OK) {
        enter_all(r, &t, &ours);
        enter_plains(r, &t, &plain);
        race(r, &ours, &plain);
        if (r->times) print(&t, &ours, &plain);
    } else {
        printf("  %s\n", mc_diag_text(r->diag)), r->failed++;
    }
    cut(&ours, 0);
    cut(&plain, 0);
    release(r, &t);
    fflush(stdout);
}

int main(int argc, char **argv) {
    static const int64_t big[][2] = {{4096, 4096}, {2048, 11008}, {64, 4096}},
                         small[][2] = {{64, 512}, {48, 4096}};
    bool sim = argc > 1 && strcmp(argv[1], "sim") == 0;
    run r = {.times = !sim, .diag = mc_diag_create()};
    if (!sim && mc_device_cuda_count() == 0) {
        printf("SKIPPED: no GPU\n");
        return 77;
    }
    if (mc_device_open(sim ? "sim" : "cuda:0", &r.device, r.diag) != MC_OK) {
        fprintf(stderr, "%s\n", mc_diag_text(r.diag));
        return 1;
    }
    const int64_t one[1][2] = {{argc > 3 ? atoll(argv[2]) : 0, argc > 3 ? atoll(argv[3]) : 0}};
    const int64_t(*problems)[2] = sim ? small : argc > 3 ? one : big;
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        for (int i = 0; i < (sim ? 2 : argc > 3 ? 1 : 3); i++)
            if (sim || argc < 2 || strstr(ways[w].text, argv[1]) != NULL)
                run_task(&r, problems[i][0], problems[i][1], &ways[w]);
    mc_device_close(r.device);
    mc_diag_destroy(r.diag);
    return r.failed > 0;
}
