/* Sums of floats of an SDDMM are those of the reference in its kernel's order, to the bit (docs/sddmm.md): all methods, V = 1 to
 * 16, both layouts of B, whole units of k and what is left of it. sddmm_order_test TYPES [DEVICE [ARCH]]; TYPES as
 * "f16,e4m3:e5m2", of both sides or of A and B; on the simulator, if no device is named; for sm_90, if no GPU is. */
#include "check.h"
#include "halves.h"
#include "base/real.h"
#include "matrix/random.h"
#include "pattern.h"
#include "products.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 70, ROW_BLOCKS = 12, NAME = 16, FIELDS = 256, VECTORS = 5, WORD_BITS = 32 };

/* A kernel for values of 32 bits, and its problem. Of narrower ones tile_k and k are as many times greater, and then ODD k more. */
static const struct run {
    struct {
        mc_sample_sums sums;
        bool aligned;
    } order;
    const char *fields;
    int tile_k, k, fixed; /* FIXED: k, with lda and ldb, or 0 */
    int odd, gap;         /* gap: elements between rows */
} runs[] = {
    {{MC_SAMPLE_ONE, true}, "groups=2", 32, 72, 0, 0, 0},
    {{MC_SAMPLE_ONE, true}, "groups=1 prefetch_lhs=on", 32, 84, 0, 3, 13},
    {{MC_SAMPLE_ONE, true}, "groups=2", 32, 88, 0, 15, 1}, /* all but one k of a unit are left */
    {{MC_SAMPLE_ONE, true}, "groups=1", 32, 68, 0, 0, 0},  /* a unit is left for the last panel */
    {{MC_SAMPLE_ONE, false}, "groups=2 align=1", 32, 52, 0, 1, 2},
    {{MC_SAMPLE_ONE, true}, "groups=2 lhs_in=shared", 64, 152, 0, 0, 0},
    {{MC_SAMPLE_ONE, true}, "groups=1 layout=rows", 32, 52, 0, 3, 13},
    {{MC_SAMPLE_ONE, false}, "groups=1 layout=rows align=1", 32, 36, 0, 1, 0},
    {{MC_SAMPLE_CHAINS, true}, "groups=1", 128, 100, 100, 0, 0},
    {{MC_SAMPLE_CHAINS, true}, "groups=2", 32, 32, 32, 0, 0},
    {{MC_SAMPLE_CHAINS, true}, "groups=2 order=srbcrs32 run=4", 32, 32, 32, 0, 0},
    {{MC_SAMPLE_LINES, true}, "groups=2 reads=lines order=srbcrs16 run=2", 32, 104, 0, 1, 15},
    {{MC_SAMPLE_CHAINS, true}, "groups=1", 32, 12, 12, 0, 0},
    {{MC_SAMPLE_CHAINS, true}, "groups=1 layout=rows", 32, 28, 28, 0, 0},
    {{MC_SAMPLE_LINES, true}, "groups=2 reads=lines", 32, 104, 0, 1, 15},
    {{MC_SAMPLE_LINES, true}, "groups=1 reads=lines lhs_in=shared", 64, 64, 64, 0, 0},
    {{MC_SAMPLE_ONE, true}, "method=window window=33 warps=4 groups=2", 64, 48, 48, 0, 0},
    {{MC_SAMPLE_ONE, true}, "method=window window=70 warps=8 groups=1 prefetch=off", 128, 96, 96, 0, 0},
    {{MC_SAMPLE_ONE, true},
     "method=window window=70 warps=4 groups=4 interleave=2 prefetch=off",
     128,
     96,
     96,
     0,
     0},
    {{MC_SAMPLE_ONE, true},
     "method=window window=24 warps=4 groups=2 staging=tma",
     64,
     48,
     48,
     0,
     0}, /* 3 chunks */
    {{MC_SAMPLE_ONE, true},
     "method=window window=272 warps=4 groups=4 staging=tma overlap=on",
     128,
     96,
     96,
     0,
     0},
    {{MC_SAMPLE_ONE, true},
     "method=window window=16 warps=4 groups=4 interleave=2 prefetch=off staging=tma",
     64,
     48,
     48,
     0,
     0},
    {{MC_SAMPLE_ONE, true}, "method=dense warps=4 tile_rows=32 tile_n=32", 0, 80, 80, 0, 0},
};

typedef struct session {
    mc_type types[2]; /* of A and B */
    const char *arch;
    mc_device *device;
    mc_diag *diag;
    mcrt_random random;
    long sums;
    int run;
} session;

/* -- Operands ------------------------------------------------------------------------------------------ */

/* Of either sign; powers of two apart; now and then zero or subnormal. */
static uint32_t number(mc_type type, mcrt_random *random) {
    uint64_t r = random_next(random);
    int bits = mc_type_bits(type), fraction = bits - 1 - element_rows[type].exponent;
    if (r % 16 == 0) return (uint32_t)(r >> 32) & (1u << (bits - 1) | ((1u << fraction) - 1));
    return real_to_bits(type, ldexpf((float)random_normal(random), (int)(r / 16 % 17) - 8));
}

/* Now and then an infinity, in E4M3 a NaN. */
static uint32_t value(mc_type type, mcrt_random *random) {
    uint64_t r = random_next(random);
    if (r % 4096) return number(type, random);
    if (element_rows[type].kind == ELEMENT_FINITE) return real_to_bits(type, NAN);
    return real_to_bits(type, r >> 63 ? INFINITY : -INFINITY);
}

/* What lies between rows is NaN. */
static void make_dense(session *s, mc_type type, int64_t rows, int64_t cols, int64_t ld, mc_dense *dense) {
    CHECK(mc_dense_create(type, rows, cols, ld, dense, s->diag) == MC_OK, "%s", mc_diag_text(s->diag));
    mc_dense whole = *dense;
    whole.cols = ld;
    for (int64_t i = 0; i < rows * ld; i++)
        mc_dense_set(&whole, i / ld, i % ld,
                     i % ld < cols ? value(type, &s->random) : real_to_bits(type, NAN));
}

typedef struct problem {
    mc_vsparse mask;
    mc_dense a, b;
    mc_layout layout;
} problem;

static void make_problem(session *s, int vec, mc_layout layout, int64_t k, int64_t gap, problem *p) {
    mc_csr csr = {0};
    bool by_rows = layout == MC_LAYOUT_ROWS;
    *p = (problem){.layout = layout};
    CHECK(pattern_make(PATTERN_SIXTEENS, ROW_BLOCKS, COLUMNS, &csr, s->diag) == MC_OK &&
              mc_vsparse_dilate(&csr, vec, MC_F32, &p->mask, s->diag) == MC_OK,
          "%s", mc_diag_text(s->diag));
    make_dense(s, s->types[0], p->mask.rows, k, k + gap, &p->a);
    if (by_rows) make_dense(s, s->types[1], k, COLUMNS, COLUMNS + gap, &p->b);
    else make_dense(s, s->types[1], COLUMNS, k, k + gap, &p->b);
    mc_csr_free(&csr);
}

static void free_problem(problem *p) {
    mc_vsparse_free(&p->mask);
    mc_dense_free(&p->a);
    mc_dense_free(&p->b);
}

/* -- Sums ---------------------------------------------------------------------------------------------- */

/* C without padding. */
static mc_status collect(const mc_kernel *kernel, const mc_vsparse *mask, mc_dense *c, mc_diag *diag) {
    mc_order order;
    mc_dense vectors;
    mc_status status = mc_order_of(kernel, &order, diag);
    if (status == MC_OK) status = mc_sampled_collect(mask, order, c, &vectors, diag);
    if (status != MC_OK) return status;
    mc_dense_free(c);
    *c = vectors;
    return MC_OK;
}

static void check_sums(session *s, const struct run *run, const mc_kernel *kernel, const problem *p,
                       const char *fields) {
    const mc_sample_order order = {run->order.sums, run->order.aligned, kernel_makes_halves(kernel)};
    const mc_sddmm product = {.mask = &p->mask, .a = &p->a, .b = &p->b};
    mc_dense got = {0}, want = {0};
    long wrong = 0;
    mc_status status = mc_sddmm_run(s->device, kernel, NULL, &product, NULL, &got, s->diag);
    if (status == MC_OK) status = collect(kernel, &p->mask, &got, s->diag);
    if (status == MC_OK)
        status = mc_reference_sddmm_ordered(&p->mask, &p->a, &p->b, p->layout, &order, &want, s->diag);
    CHECK(status == MC_OK, "%s: %s", fields, mc_diag_text(s->diag));
    for (int64_t i = 0; status == MC_OK && i < want.rows * want.cols; i++, s->sums++)
        wrong += mc_dense_get(&got, i / want.cols, i % want.cols) !=
                 mc_dense_get(&want, i / want.cols, i % want.cols);
    CHECK(wrong == 0, "%s: %ld of %ld sums differ", fields, wrong, (long)(want.rows * want.cols));
    mc_dense_free(&got);
    mc_dense_free(&want);
    mc_diag_clear(s->diag);
}

static void write_fields(const session *s, const struct run *run, int vec, int times, char fields[FIELDS]) {
    bool items = run->tile_k > 0;
    int used = snprintf(fields, FIELDS, "op=sddmm arch=%s lhs=%s rhs=%s out=f32 vec=%d %s", s->arch,
                        mc_type_text(s->types[0]), mc_type_text(s->types[1]), vec, run->fields);
    if (items) used += snprintf(fields + used, FIELDS - (size_t)used, " tile_k=%d", run->tile_k * times);
    if (run->fixed == 0) return;
    int ldb = strstr(run->fields, "layout=rows") ? COLUMNS : run->k * times;
    snprintf(fields + used, FIELDS - (size_t)used, " k=%d lda=%d ldb=%d", run->k * times, run->k * times,
             ldb);
}

static void check_run(session *s, const struct run *run, int vec) {
    mc_kernel *kernel = NULL;
    problem p;
    char fields[FIELDS];
    int times = WORD_BITS / mc_type_bits(s->types[0]);
    mc_layout layout = strstr(run->fields, "layout=rows") ? MC_LAYOUT_ROWS : MC_LAYOUT_COLUMNS;
    write_fields(s, run, vec, times, fields);
    mc_status status = mc_kernel_from_fields(fields, &kernel, s->diag);
    CHECK(status == MC_OK, "%s: %s", fields, mc_diag_text(s->diag));
    mc_diag_clear(s->diag);
    if (status != MC_OK) return;
    make_problem(s, vec, layout, run->k * times + run->odd, run->gap, &p);
    check_sums(s, run, kernel, &p, fields);
    free_problem(&p);
    mc_kernel_destroy(kernel);
}

/* GPUs before sm_90 copy no tensors. */
static bool is_possible(const session *s, const char *fields) {
    if (strcmp(s->arch, "sm_90") < 0 && strstr(fields, "staging=tma")) return false;
    return multiplies_as_stored(s->arch, s->types[0]) || !strstr(fields, "interleave=2");
}

/* TYPES: a type, or two with a colon between. */
static void check_types(session *s, const char *types) {
    static const int vecs[VECTORS] = {8, 16, 1, 2, 4};
    char names[2][NAME];
    int found = sscanf(types, "%15[^:,]:%15[^,]", names[0], names[1]);
    for (int i = 0; i < 2; i++)
        CHECK(mc_type_from_text(names[found > 1 ? i : 0], &s->types[i], s->diag) == MC_OK, "%s",
              mc_diag_text(s->diag));
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        for (size_t v = 0; v < 3 && is_possible(s, runs[i].fields); v++)
            if (check_takes(s->run++)) check_run(s, &runs[i], vecs[v == 2 ? 2 + i % 3 : v]);
}

int main(int argc, char **argv) {
    session s = {
        .diag = mc_diag_create(), .random = random_start(7, 5), .arch = argc > 3 ? argv[3] : "sm_90"};
    if (argc < 2 || mc_device_open(argc > 2 ? argv[2] : "sim", &s.device, s.diag) != MC_OK) return 2;
    for (char *types = strtok(argv[1], ","); types != NULL; types = strtok(NULL, ",")) check_types(&s, types);
    printf("%ld sums\n", s.sums);
    mc_device_close(s.device);
    mc_diag_destroy(s.diag);
    return check_end();
}
