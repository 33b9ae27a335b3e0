/* Sums of floats in a kernel are those of the reference in its order, to the bit (docs/floats.md), on the wide
 * path and the edge path, of every STEP-th variant, and where C is column-major of fewer.
 * order_test SPEC STEP TYPES [DEVICE [ARCH]]; TYPES as "f16,e4m3:e5m2", of both sides or of A and B; on the
 * simulator, if no device is named. */
#include "check.h"
#include "halves.h"
#include "base/real.h"
#include "matrix/random.h"
#include "mcrt_internal.h"
#include "verify/run.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 500, VECTORS = 5, NAME = 16, MORE = 3 /* of the variants with a column-major C */ };

typedef struct session {
    const char *spec, *arch; /* arch: NULL, the spec's */
    size_t step;             /* from one variant to the next */
    mc_device *device;
    mc_diag *diag;
    long kernels, sums;
} session;

/* Of floats: of either sign; powers of two apart; now and then zero or subnormal. Of integers any. */
static uint32_t number(mc_type type, mcrt_random *random) {
    uint64_t r = random_next(random);
    if (!mc_type_is_real(type)) return (uint32_t)r;
    int bits = mc_type_bits(type), fraction = bits - 1 - element_rows[type].exponent;
    if (r % 16 == 0) return (uint32_t)(r >> 32) & (1u << (bits - 1) | ((1u << fraction) - 1));
    return real_to_bits(type, ldexpf((float)random_normal(random), (int)(r / 16 % 17) - 8));
}

/* An infinity of either sign; a NaN where the type has none. */
static uint32_t endless(mc_type type, bool negative) {
    if (element_rows[type].kind == ELEMENT_FINITE) return real_to_bits(type, NAN);
    return real_to_bits(type, negative ? -INFINITY : INFINITY);
}

/* Element I. */
static uint32_t any(mc_type type, mcrt_random *random, int64_t i) {
    bool ends = mc_type_is_real(type) && random_next(random) % 2048 == 0;
    return ends ? endless(type, i % 3 == 0) : number(type, random);
}

/* Of tf32 also NaNs with nothing among the bits that an mma reads. B has none: an H200 makes them infinities. */
static uint32_t any_of_a(mc_type type, mcrt_random *random, int64_t i) {
    static const uint32_t low[] = {0x7f800001, 0x7f801000, 0xff800fff};
    bool ends = element_rows[type].kind == ELEMENT_ROUNDED && i % 257 == 256;
    return ends ? low[i / 257 % 3] : any(type, random, i);
}

static void make_operands(session *s, const mc_type types[2], int vec, int64_t n, int64_t ldb, mc_vsparse *a,
                          mc_dense *b) {
    const mc_pattern pattern = {9, COLUMNS, .5, MC_PATTERN_UNIFORM, .8, (uint64_t)n};
    mcrt_random random = random_start((uint64_t)(n * vec), 5);
    mc_csr csr;
    CHECK(mc_csr_generate(&pattern, &csr, s->diag) == MC_OK &&
              mc_vsparse_dilate(&csr, vec, types[0], a, s->diag) == MC_OK &&
              mc_dense_create(types[1], COLUMNS, n, ldb, b, s->diag) == MC_OK,
          "%s", mc_diag_text(s->diag));
    /* Infinities now and then: padding, whose values are zeros, must meet none of them. */
    for (int64_t i = 0; i < a->vectors * vec; i++)
        mc_vsparse_set_value(a, i / vec, (int)(i % vec), any_of_a(types[0], &random, i));
    for (int64_t i = 0; i < COLUMNS * n; i++) mc_dense_set(b, i / n, i % n, any(types[1], &random, i));
    mc_csr_free(&csr);
}

/* In KERNEL's order. */
static mc_status sum_in_order(const mc_kernel *kernel, const mc_vsparse *a, const mc_dense *b, mc_dense *sums,
                              mc_diag *diag) {
    int split = (int)mc_kernel_field(kernel, "split");
    if (strcmp(mc_kernel_contract(kernel)->format, "strided-bcrs") == 0) {
        const mc_gather_order order = {.stride = (int)mc_kernel_field(kernel, "stride"),
                                       .split = split,
                                       .heads = mc_kernel_field(kernel, "heads") != 0,
                                       .halves = kernel_makes_halves(kernel)};
        return mc_reference_spmm_ordered(a, b, &order, sums, diag);
    }
    const mc_ring ring = {.window = (int)mc_kernel_field(kernel, "window"),
                          .stages = (int)mc_kernel_field(kernel, "stages"),
                          .tile_n =
                              (int)(mc_kernel_field(kernel, "tile_n") * (int64_t)mc_type_bytes(b->type)),
                          .split = split};
    return mc_reference_spmm_ring_ordered(a, b, &ring, kernel_makes_halves(kernel), sums, diag);
}

static void check_sums(session *s, const mc_kernel *kernel, const mc_vsparse *a, const mc_dense *b) {
    const mc_operator *spmm = operator_named("spmm");
    mc_run run = {.operands = {.matrix = a}};
    mc_dense got = {0}, want = {0};
    int64_t wrong = 0;
    run.operands.inputs[operator_operand(spmm, "b")] = b;
    mc_status status = mc_operator_run(s->device, kernel, NULL, &run, NULL, &got, s->diag);
    if (status == MC_OK) status = sum_in_order(kernel, a, b, &want, s->diag);
    CHECK(status == MC_OK, "%s: %s", mc_kernel_contract(kernel)->entry, mc_diag_text(s->diag));
    bool turned = strcmp(mc_kernel_field_text(kernel, "c_major"), "column") == 0;
    for (int64_t i = 0; status == MC_OK && i < a->rows * b->cols; i++, s->sums++) {
        int64_t row = i / b->cols, col = i % b->cols;
        wrong += mc_dense_get(&got, turned ? col : row, turned ? row : col) != mc_dense_get(&want, row, col);
    }
    CHECK(wrong == 0, "%s: %d sums of %d differ", mc_kernel_contract(kernel)->entry, (int)wrong,
          (int)(a->rows * b->cols));
    mc_dense_free(&got);
    mc_dense_free(&want);
    mc_diag_clear(s->diag);
}

static void check_kernel(session *s, const mc_kernel *kernel) {
    static const int64_t sizes[][2] = {{96, 96}, {37, 48}};
    mc_type types[2] = {MC_F16, MC_F16};
    CHECK(mc_type_of(kernel, "lhs", &types[0], s->diag) == MC_OK &&
              mc_type_of(kernel, "rhs", &types[1], s->diag) == MC_OK,
          "no types");
    for (int i = 0; i < 2; i++) {
        mc_vsparse a;
        mc_dense b;
        make_operands(s, types, (int)mc_kernel_field(kernel, "vec"), sizes[i][0], sizes[i][1], &a, &b);
        check_sums(s, kernel, &a, &b);
        mc_vsparse_free(&a);
        mc_dense_free(&b);
    }
    s->kernels++;
}

static void check_spec(session *s, const char *lhs, const char *rhs, const char *vec, const char *major,
                       size_t step) {
    const mc_setting settings[] = {{"lhs", lhs}, {"rhs", rhs},       {"out", "f32"},   {"scale", "none"},
                                   {"vec", vec}, {"c_major", major}, {"arch", s->arch}};
    mc_spec *spec = NULL;
    mc_status status =
        mc_spec_read(s->spec, settings, sizeof settings / sizeof *settings - !s->arch, &spec, s->diag);
    CHECK(status == MC_OK, "%s: %s", s->spec, mc_diag_text(s->diag));
    const check_share part = check_part();
    size_t first = step * (size_t)part.first, each = step * (size_t)part.step;
    for (size_t i = first; status == MC_OK && i < mc_spec_variant_count(spec); i += each) {
        mc_kernel *kernel = NULL;
        status = mc_kernel_generate(spec, i, &kernel, s->diag);
        CHECK(status == MC_OK, "%s", mc_diag_text(s->diag));
        if (status == MC_OK) check_kernel(s, kernel);
        mc_kernel_destroy(kernel);
    }
    mc_spec_destroy(spec);
}

/* TYPES: a type, or two with a colon between. */
static void check_types(session *s, const char *types) {
    static const char *const vecs[VECTORS] = {"1", "2", "4", "8", "16"};
    char lhs[NAME], rhs[NAME];
    int found = sscanf(types, "%15[^:,]:%15[^,]", lhs, rhs);
    CHECK(found > 0, "no types: %s", types);
    for (int i = 0; i < VECTORS; i++) {
        check_spec(s, lhs, found > 1 ? rhs : lhs, vecs[i], "row", s->step);
        check_spec(s, lhs, found > 1 ? rhs : lhs, vecs[i], "column", s->step * MORE);
    }
}

int main(int argc, char **argv) {
    session s = {.diag = mc_diag_create()};
    if (argc < 4 || mc_device_open(argc > 4 ? argv[4] : "sim", &s.device, s.diag) != MC_OK) return 2;
    s.spec = argv[1], s.step = (size_t)atoi(argv[2]), s.arch = argc > 5 ? argv[5] : NULL;
    for (char *types = strtok(argv[3], ","); types != NULL; types = strtok(NULL, ",")) check_types(&s, types);
    printf("%ld kernels, %ld sums\n", s.kernels, s.sums);
    mc_device_close(s.device);
    mc_diag_destroy(s.diag);
    return check_end();
}
