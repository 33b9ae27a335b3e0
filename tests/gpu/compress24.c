/* How fast kernels are that make a dense matrix a 2:4 one, beside a plain kernel that reads and writes as many bytes (plain.h), and beside the
 * family's own that moves the same bytes in the same way (mode = "copy"). What is compressed is compared with the host's before it is timed.
 * Run by hand:
 *
 *   compress24_gpu [sim|cuda:I [M N [TYPE]]]   sim: small matrices on the simulator, which has no time; M, N: this matrix alone; TYPE: f16
 *
 * Times are those of a launch in a CUDA graph of 50, warm. The fraction is the plain kernel's time over ours: of the best of 60 plain
 * kernels. Exit status 77: no GPU. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "context/compress24.h"
#include "matrix/random.h"
#include "matrix/sparse24.h"
#include "mcrt_internal.h"
#include "plain.h"

enum { LAUNCHES = 50, ROUNDS = 31, QUICK_LAUNCHES = 20, QUICK_ROUNDS = 5, PLAIN_READ = 32, PLAIN_MOVED = 48 };

static const struct kind {
    mc_type type;
    mc_layout24 layout;
    bool prune;
} kinds[] = {
    {MC_F16, MC_LAYOUT24_PACKED, false},  {MC_F16, MC_LAYOUT24_PACKED, true},
    {MC_BF16, MC_LAYOUT24_PACKED, true},  {MC_F16, MC_LAYOUT24_NATURAL, false},
    {MC_F16, MC_LAYOUT24_SM80, false},    {MC_F16, MC_LAYOUT24_SM90, false},
    {MC_S8, MC_LAYOUT24_PACKED, false},   {MC_S8, MC_LAYOUT24_PACKED, true},
    {MC_E4M3, MC_LAYOUT24_PACKED, false}, {MC_E5M2, MC_LAYOUT24_PACKED, true},
    {MC_S8, MC_LAYOUT24_NATURAL, false},  {MC_S8, MC_LAYOUT24_SM80, false},
    {MC_S8, MC_LAYOUT24_SM90, false},     {MC_F32, MC_LAYOUT24_PACKED, false},
    {MC_S4, MC_LAYOUT24_PACKED, false},   {MC_S4, MC_LAYOUT24_PACKED, true},
    {MC_U4, MC_LAYOUT24_PACKED, true},    {MC_S4, MC_LAYOUT24_NATURAL, false},
};
static const char *const layouts[] = {"packed24", "natural", "cutlass-sm80", "cutlass-sm90"};

typedef struct bench {
    mc_context *context;
    mc_diag *diag;
    bool times;
    mc_dense a;
    mc_compress24_config config;
    mc_compress24_size sizes;
    int64_t plain_bytes; /* of the plain kernel that was timed last */
    double plain_us;
} bench;

static mc_status make(bench *t, const struct kind *kind, int64_t m, int64_t n) {
    mcrt_random random = random_start(1, 1);
    mc_sparse24_rule rule;
    mc_status status = mc_sparse24_rule_of(kind->type, &rule, t->diag);
    if (status == MC_OK) status = mc_dense_create(kind->type, m, n, n, &t->a, t->diag);
    if (status != MC_OK) return status;
    mc_dense_fill(&t->a, MC_VALUES_FULL, 1);
    for (int64_t i = 0; i < m && !kind->prune; i++)
        for (int64_t j = 0; j < n; j += rule.group * rule.unit) {
            int keep = (int)(random_next(&random) >> 40) % rule.group;
            for (int e = 0; e < rule.group * rule.unit && j + e < n; e++) {
                const int place = e / rule.unit;
                if (place != keep && (rule.kept == 1 || place != (keep + 1) % rule.group))
                    mc_dense_set(&t->a, i, j + e, 0);
            }
        }
    return MC_OK;
}

static mc_status upload(bench *t, const struct kind *kind) {
    const size_t bytes = (size_t)mc_type_size(t->a.type, t->a.rows * t->a.ld);
    t->config = (mc_compress24_config){.size = sizeof t->config,
                                       .type = kind->type,
                                       .rows = t->a.rows,
                                       .cols = t->a.cols,
                                       .layout = kind->layout,
                                       .prune = kind->prune};
    t->sizes.size = sizeof t->sizes;
    mc_status status = mc_compress24_sizes(&t->config, &t->sizes, t->diag);
    if (status == MC_OK) status = mc_memory_create(t->context, bytes, &t->config.data, t->diag);
    if (status == MC_OK) status = mc_memory_write(t->context, t->config.data, t->a.data, bytes, t->diag);
    if (status == MC_OK)
        status = mc_memory_create(t->context, (size_t)t->sizes.values, &t->config.values, t->diag);
    return status == MC_OK ? mc_memory_create(t->context, (size_t)t->sizes.meta, &t->config.meta, t->diag)
                           : status;
}

/* -- Verified ------------------------------------------------------------------------------------------ */

/* Values of the natural order; packed24 and metadata are compared in tests/embed/compress24_test.c. */
static mc_status compare_values(bench *t, const mc_sparse24 *want) {
    const size_t bytes = (size_t)t->sizes.values;
    const int64_t row = mc_type_size(want->values.type, want->values.cols),
                  step = mc_type_size(want->values.type, want->values.ld);
    unsigned char *got = malloc(bytes + 1);
    mc_status status = mc_memory_read(t->context, t->config.values, got, bytes, t->diag);
    for (int64_t i = 0; i < want->rows && status == MC_OK; i++)
        if (memcmp(got + i * t->sizes.values_pitch, (const unsigned char *)want->values.data + i * step,
                   (size_t)row) != 0)
            status = mc_fail(t->diag, MC_DEVICE, "row %" PRId64 " has other values", i);
    free(got);
    return status;
}

static mc_status verify(bench *t) {
    mc_compress24_report report = {.size = sizeof report};
    mc_sparse24 want;
    mc_status status = mc_compress24(t->context, &t->config, NULL, &report, t->diag);
    if (status == MC_OK)
        status = mc_sparse24_compress(&t->a, t->config.prune ? MC_SPARSE24_PRUNE : MC_SPARSE24_STRICT, &want,
                                      t->diag);
    if (status != MC_OK) return status;
    if (report.full != want.lost)
        status = mc_fail(t->diag, MC_DEVICE, "%" PRId64 " groups are full, must be %" PRId64, report.full,
                         want.lost);
    if (status == MC_OK && t->sizes.values_pitch > 0) status = compare_values(t, &want);
    mc_sparse24_free(&want);
    return status;
}

/* -- Plain kernels ------------------------------------------------------------------------------------- */

/* One that moves BYTES, two thirds of them read: out of and into memory of its own. BLOCKS 0: one turn. */
static mc_status time_plain(bench *t, mc_address from, mc_address to, int64_t bytes, const int shape[3],
                            int launches, int rounds, double *us) {
    const int64_t units = bytes / PLAIN_MOVED, of_block = (int64_t)shape[0] * shape[1],
                  all = (units + of_block - 1) / of_block;
    const mc_launch launch = {.grid = {(unsigned)(shape[2] > 0 && shape[2] < all ? shape[2] : all), 1, 1},
                              .block = {(unsigned)shape[0], 1, 1},
                              .values = {from, to, (uint64_t)units},
                              .count = 3};
    mc_module *module = NULL;
    char *ptx = plain_ptx(shape[0], shape[1], 2);
    mc_status status = mc_module_load(t->context->device, ptx, "plain", &module, t->diag);
    free(ptx);
    if (status == MC_OK) status = mc_module_time(module, &launch, launches, rounds, us, t->diag);
    mc_module_unload(module);
    return status;
}

static mc_status best_plain(bench *t, int64_t bytes, double *best) {
    static const int threads[] = {128, 256, 512, 1024}, unrolls[] = {1, 2, 4},
                     blocks[] = {0, 132, 264, 528, 1056};
    mc_address from = 0, to = 0;
    int fastest[3] = {0};
    double us;
    mc_status status =
        mc_memory_create(t->context, (size_t)(bytes / PLAIN_MOVED * PLAIN_READ + PLAIN_READ), &from, t->diag);
    if (status == MC_OK)
        status = mc_memory_create(t->context,
                                  (size_t)(bytes / PLAIN_MOVED * (PLAIN_MOVED - PLAIN_READ) + PLAIN_READ),
                                  &to, t->diag);
    if (status == MC_OK)
        status =
            mc_device_fill(t->context->device, from, 1, (size_t)(bytes / PLAIN_MOVED * PLAIN_READ), t->diag);
    *best = 0;
    for (int i = 0; i < 60 && status == MC_OK; i++) {
        const int shape[] = {threads[i % 4], unrolls[i / 4 % 3], blocks[i / 12]};
        status = time_plain(t, from, to, bytes, shape, QUICK_LAUNCHES, QUICK_ROUNDS, &us);
        if (status == MC_OK && (*best == 0 || us < *best)) *best = us, memcpy(fastest, shape, sizeof fastest);
    }
    if (status == MC_OK) status = time_plain(t, from, to, bytes, fastest, LAUNCHES, ROUNDS, &us);
    if (status == MC_OK && us < *best) *best = us;
    mc_memory_destroy(t->context, from);
    mc_memory_destroy(t->context, to);
    return status;
}

/* -- The whole ----------------------------------------------------------------------------------------- */

/* Kinds that move nearly as many bytes as the one before, within 1 %, are held against its plain kernel. */
static mc_status find_plain(bench *t, int64_t bytes, double *us) {
    const int64_t apart = bytes > t->plain_bytes ? bytes - t->plain_bytes : t->plain_bytes - bytes;
    mc_status status = MC_OK;
    if (apart > bytes / 100) {
        status = best_plain(t, bytes, &t->plain_us);
        t->plain_bytes = bytes;
    }
    *us = t->plain_us * (double)bytes / (double)t->plain_bytes;
    return status;
}

static mc_status time_all(bench *t) {
    compress24_times times;
    context_visit visit;
    double plain = 0;
    mc_status status = compress24_time(t->context, &t->config, &times, t->diag);
    if (status == MC_OK) status = context_enter(t->context, &visit, t->diag);
    if (status != MC_OK) return status;
    status = find_plain(t, times.bytes, &plain);
    context_leave(t->context, &visit);
    if (status == MC_OK)
        printf("  %8.2f us %6.0f GB/s  plain %8.2f us: %.3f  copy %8.2f us: %.3f\n", times.compress,
               (double)times.bytes / times.compress * 1e-3, plain, plain / times.compress, times.copy,
               times.copy / times.compress);
    return status;
}

static mc_status run_kind(bench *t, const struct kind *kind, int64_t m, int64_t n) {
    printf("%" PRId64 " x %" PRId64 " %s %s %s\n", m, n, mc_type_text(kind->type), layouts[kind->layout],
           kind->prune ? "prune" : "strict");
    mc_status status = make(t, kind, m, n);
    if (status == MC_OK) status = upload(t, kind);
    if (status == MC_OK) status = verify(t);
    if (status == MC_OK && t->times) status = time_all(t);
    if (status != MC_OK) printf("  %s\n", mc_diag_text(t->diag));
    const mc_address used[] = {t->config.data, t->config.values, t->config.meta};
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) mc_memory_destroy(t->context, used[i]);
    mc_dense_free(&t->a);
    mc_diag_clear(t->diag);
    fflush(stdout);
    return status;
}

int main(int argc, char **argv) {
    static const int64_t big[][2] = {{4096, 4096}, {11008, 4096}}, small[][2] = {{64, 512}, {70, 264}};
    const char *device = argc > 1 ? argv[1] : "cuda:0";
    const bool sim = strncmp(device, "sim", 3) == 0;
    const mc_context_config config = {
        .size = sizeof config, .device = device, .cache = MC_CACHE_MEMORY, .records = ""};
    const int64_t one[1][2] = {{argc > 3 ? atoll(argv[2]) : 0, argc > 3 ? atoll(argv[3]) : 0}};
    const int64_t(*shapes)[2] = argc > 3 ? one : sim ? small : big;
    bench t = {.times = !sim, .diag = mc_diag_create()};
    int failed = 0;
    if (!sim && mc_device_cuda_count() == 0) return printf("SKIPPED: no GPU\n"), 77;
    if (mc_context_create(&config, &t.context, t.diag) != MC_OK)
        return fprintf(stderr, "%s\n", mc_diag_text(t.diag)), 1;
    for (int s = 0; s < (argc > 3 ? 1 : 2); s++)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (argc < 5 || strcmp(mc_type_text(kinds[i].type), argv[4]) == 0)
                failed += run_kind(&t, &kinds[i], shapes[s][0], shapes[s][1]) != MC_OK;
    mc_context_destroy(t.context);
    mc_diag_destroy(t.diag);
    return failed > 0;
}
