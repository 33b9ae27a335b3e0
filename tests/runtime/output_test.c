/* What becomes of sums: rounding to the narrow types, the reference's arithmetic and its stated error bound, random
   scales, vectors in .npy files. */
#include <math.h>
#include "scratch.h"

static uint64_t draw(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* C of one row: the sums times SCALE plus BIAS (NULL: none). */
static void convert(mc_type type, const int64_t *sums, const float *scale, const float *bias, int count,
                    mc_dense *c, mc_diag *diag) {
    mc_dense s;
    mc_output output = {.type = type, .scale = MC_PER_COLUMN, .bias = bias ? MC_PER_COLUMN : MC_PER_NONE};
    expect_ok("create", mc_dense_create(MC_S64, 1, count, count, &s, diag), diag);
    memcpy(s.data, sums, (size_t)count * sizeof *sums);
    expect_ok("output",
              mc_reference_output(&output, &(mc_factors){.scale = scale, .bias = bias}, &s, c, diag), diag);
    mc_dense_free(&s);
}

/* -- Rounding ----------------------------------------------------------------------------------------- */

/* The value that finite element BITS of TYPE stands for, and what follows the greatest where the exponent has no end. */
static double value_of(mc_type type, uint32_t bits) {
    int fraction = type == MC_F16 ? 10 : 7, bias = type == MC_F16 ? 15 : 127;
    uint32_t field = bits >> fraction, rest = bits & ((1u << fraction) - 1);
    return field ? ldexp((double)(rest | 1u << fraction), (int)field - bias - fraction)
                 : ldexp((double)rest, 1 - bias - fraction);
}

/* The nearest element to a magnitude, by search, ties to even. */
static uint32_t nearest(mc_type type, double magnitude) {
    uint32_t low = 0, high = type == MC_F16 ? 0x7c00 : 0x7f80;
    if (magnitude >= value_of(type, high)) return high;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (value_of(type, middle) <= magnitude) low = middle;
        else high = middle;
    }
    double below = magnitude - value_of(type, low), above = value_of(type, high) - magnitude;
    return below < above || (below == above && low % 2 == 0) ? low : high;
}

/* Sums of 1 times the value itself. */
static void test_rounding(mc_type type, mc_diag *diag) {
    enum { COUNT = 20000 };
    static float values[COUNT];
    static int64_t ones[COUNT];
    uint64_t state = 7;
    mc_dense c;
    for (int i = 0; i < COUNT; i++) {
        uint32_t element = (uint32_t)(draw(&state) % (type == MC_F16 ? 0x7c00 : 0x7f7f));
        double tie = (value_of(type, element) + value_of(type, element + 1)) / 2;
        uint32_t any = (uint32_t)(draw(&state) >> 32);
        float near = nextafterf((float)tie, i % 3 == 0 ? 0 : INFINITY);
        values[i] = i % 4 == 0 ? float_of(any) : i % 4 == 1 ? (float)tie : i % 4 == 2 ? near : -(float)tie;
        ones[i] = 1;
    }
    convert(type, ones, values, NULL, COUNT, &c, diag);
    for (int i = 0; i < COUNT; i++) {
        uint32_t got = (uint32_t)mc_dense_get(&c, 0, i);
        uint32_t sign = signbit(values[i]) ? 0x8000 : 0, want = sign | nearest(type, fabs((double)values[i]));
        if (isnan(values[i])) CHECK(isnan(mc_dense_real(&c, 0, i)), "%a", (double)values[i]);
        else
            CHECK(got == want, "%s of %a is 0x%04x, must be 0x%04x", mc_type_text(type), (double)values[i],
                  got, want);
    }
    mc_dense_free(&c);
}

/* Each element's value, read back by the public function. */
static void test_values(mc_type type, mc_diag *diag) {
    mc_dense all;
    expect_ok("create", mc_dense_create(type, 256, 256, 256, &all, diag), diag);
    uint32_t infinity = type == MC_F16 ? 0x7c00 : 0x7f80;
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        uint32_t magnitude = bits & 0x7fff;
        mc_dense_set(&all, bits / 256, bits % 256, bits);
        double got = mc_dense_real(&all, bits / 256, bits % 256), want = value_of(type, magnitude);
        if (magnitude == infinity) want = INFINITY;
        if (bits >> 15) want = -want;
        if (magnitude > infinity) CHECK(isnan(got), "0x%04x", bits);
        else CHECK(got == want && signbit(got) == signbit(want), "0x%04x is %a, must be %a", bits, got, want);
    }
    mc_dense_free(&all);
}

/* -- Known results ------------------------------------------------------------------------------------ */

static const struct {
    mc_type type;
    int64_t sum;
    float scale, bias;
    bool with_bias;
    uint32_t want, relu; /* without and with it */
} known[] = {
    {MC_F32, 16777217, 1, 0, false, 0x4b800000, 0x4b800000},  /* 2^24 + 1: to even */
    {MC_F32, INT32_MAX, 1, 0, false, 0x4f000000, 0x4f000000}, /* 2^31 */
    {MC_F32, (int64_t)1 << 31, 1, 0, false, 0xcf000000, 0},   /* modulo 2^32 */
    {MC_F32, 3, 0x1.555556p-2f, -1, true, 0x33000000,
     0x33000000},                             /* fused: 2^-25, where two roundings give 0 */
    {MC_F32, -5, 0, 0, false, 0x80000000, 0}, /* -0 */
    {MC_F16, 65504, 1, 0, false, 0x7bff, 0x7bff},
    {MC_F16, 65519, 1, 0, false, 0x7bff, 0x7bff},
    {MC_F16, 65520, 1, 0, false, 0x7c00, 0x7c00}, /* infinity */
    {MC_F16, -65520, 1, 0, false, 0xfc00, 0},
    {MC_F16, 1, 0x1p-24f, 0, false, 0x0001, 0x0001},
    {MC_F16, 1, 0x1p-25f, 0, false, 0x0000, 0x0000}, /* a tie, to even */
    {MC_F16, 3, 0x1p-25f, 0, false, 0x0002, 0x0002},
    {MC_F16, 2049, 1, 0, false, 0x6800, 0x6800}, /* 2048 */
    {MC_F16, 2051, 1, 0, false, 0x6802, 0x6802}, /* 2052 */
    {MC_BF16, 257, 1, 0, false, 0x4380, 0x4380}, /* 256 */
    {MC_BF16, 259, 1, 0, false, 0x4382, 0x4382}, /* 260 */
    {MC_BF16, 1, 3.3961776e38f, 0, false, 0x7f80, 0x7f80},
    {MC_F32, 1, 0x1p-149f, 0, false, 0x00000001, 0x00000001}, /* subnormal */
    {MC_F32, -1, 0x1p-149f, 0, false, 0x80000001, 0},
    {MC_F32, 5, -INFINITY, 0, false, 0xff800000, 0},
    {MC_F32, 5, INFINITY, 0, false, 0x7f800000, 0x7f800000},
    {MC_F16, -1, 0x1p-26f, 0, false, 0x8000, 0}, /* -0 by rounding */
    {MC_BF16, 0, -1, 0, false, 0x8000, 0},
    {MC_F16, 0, INFINITY, 0, false, 0x7fff, 0x7fff}, /* NaN */
    {MC_BF16, 1, NAN, -1, true, 0x7fff, 0x7fff},
    {MC_S32, ((int64_t)1 << 32) + 7, 0, 0, false, 7, 0},
};

static void test_row(size_t i, mc_activation activation, uint32_t want, mc_diag *diag) {
    mc_dense sums, c;
    mc_output output = {.type = known[i].type,
                        .scale = mc_type_is_real(known[i].type) ? MC_PER_TENSOR : MC_PER_NONE,
                        .bias = known[i].with_bias ? MC_PER_ROW : MC_PER_NONE,
                        .activation = activation};
    expect_ok("create", mc_dense_create(MC_S64, 1, 1, 1, &sums, diag), diag);
    mc_dense_set(&sums, 0, 0, known[i].sum);
    expect_ok("output",
              mc_reference_output(&output, &(mc_factors){.scale = &known[i].scale, .bias = &known[i].bias},
                                  &sums, &c, diag),
              diag);
    CHECK((uint32_t)mc_dense_get(&c, 0, 0) == want, "row %zu: 0x%llx, must be 0x%x", i,
          (unsigned long long)mc_dense_get(&c, 0, 0), want);
    mc_dense_free(&sums);
    mc_dense_free(&c);
}

static void test_known(mc_diag *diag) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        test_row(i, MC_ACTIVATION_NONE, known[i].want, diag);
        if (mc_type_is_real(known[i].type)) test_row(i, MC_ACTIVATION_RELU, known[i].relu, diag);
    }
}

/* 8 bits: with C's own scale and zero point, and a second scale before the bias. */
static const struct {
    mc_type type;
    int64_t sum;
    float scale, b_scale, bias, c_scale, zero;
    const char *has; /* b: b_scale, +: bias, c: c_scale, z: zero */
    mc_activation activation;
    int64_t want;
} byte_rows[] = {
    {MC_S8, 5, 0.5F, 0, 0, 0, 0, "", MC_ACTIVATION_NONE, 2}, /* ties to even */
    {MC_S8, 7, 0.5F, 0, 0, 0, 0, "", MC_ACTIVATION_NONE, 4},
    {MC_S8, -5, 0.5F, 0, 0, 0, 0, "", MC_ACTIVATION_NONE, -2},
    {MC_S8, 1000, 1, 0, 0, 0, 0, "", MC_ACTIVATION_NONE, 127},
    {MC_S8, -1000, 1, 0, 0, 0, 0, "", MC_ACTIVATION_NONE, -128},
    {MC_U8, -1, 1, 0, 0, 0, 0, "", MC_ACTIVATION_NONE, 0},
    {MC_U8, 300, 1, 0, 0, 0, 0, "", MC_ACTIVATION_NONE, 255},
    {MC_S8, 0, INFINITY, 0, 0, 0, 0, "", MC_ACTIVATION_NONE, 0}, /* of a NaN */
    {MC_S8, 0, INFINITY, 0, 0, 0, 9, "z", MC_ACTIVATION_NONE, 9},
    {MC_S8, 1, INFINITY, 0, 0, 0, -3, "z", MC_ACTIVATION_NONE, 127},
    {MC_S8, -1, INFINITY, 0, 0, 0, 3, "z", MC_ACTIVATION_NONE, -128},
    {MC_S8, 5, 0.5F, 0, 0, 0, 1, "z", MC_ACTIVATION_NONE, 3}, /* rounded before the point is added */
    {MC_S8, 5, 1, 0, 0, 0, 2.5F, "z", MC_ACTIVATION_NONE, 7}, /* a point is rounded, too */
    {MC_S8, 200, 1, 0, 0, 0, -100, "z", MC_ACTIVATION_NONE, 100},
    {MC_U8, -20, 1, 0, 0, 0, 128, "z", MC_ACTIVATION_NONE, 108},
    {MC_U8, -20, 1, 0, 0, 0, 1000, "z", MC_ACTIVATION_NONE, 235}, /* a point is one of the type's integers */
    {MC_U8, 20, 1, 0, 0, 0, NAN, "z", MC_ACTIVATION_NONE, 20},
    {MC_S4, 5, 0.5F, 0, 0, 0, 0, "", MC_ACTIVATION_NONE, 2}, /* ties to even */
    {MC_S4, -7, 0.5F, 0, 0, 0, 0, "", MC_ACTIVATION_NONE, -4},
    {MC_S4, 8, 1, 0, 0, 0, 0, "", MC_ACTIVATION_NONE, 7},
    {MC_S4, -1000, 1, 0, 0, 0, 0, "", MC_ACTIVATION_NONE, -8},
    {MC_U4, 1000, 1, 0, 0, 0, 0, "", MC_ACTIVATION_NONE, 15},
    {MC_U4, -1, 1, 0, 0, 0, 0, "", MC_ACTIVATION_NONE, 0},
    {MC_U4, -20, 1, 0, 0, 0, 8, "z", MC_ACTIVATION_NONE, 0},
    {MC_U4, -3, 1, 0, 0, 0, 1000, "z", MC_ACTIVATION_NONE, 12}, /* a point is one of the type's integers */
    {MC_S4, 0, INFINITY, 0, 0, 0, -3, "z", MC_ACTIVATION_NONE, -3},
    {MC_S8, 10, 1, 0, 0, 3, 0, "c", MC_ACTIVATION_NONE, 3},
    {MC_S8, 10, 1, 0, 0, 0.25F, -7, "cz", MC_ACTIVATION_NONE, 33},
    {MC_S8, 10, 3, 0.5F, 0, 0, 0, "b", MC_ACTIVATION_NONE, 15},
    {MC_S8, 10, 3, 0.5F, 4, 0, 0, "b+", MC_ACTIVATION_NONE, 19},
    {MC_S8, 10, 3, 0.5F, -25, 0, 0, "b+", MC_ACTIVATION_RELU, 0},
    {MC_S8, 10, 3, 0.5F, 4, 0.5F, 1, "b+cz", MC_ACTIVATION_RELU, 39},
    {MC_S8, -3, 1, 0, 0, 0x1p-5F, 0, "c", MC_ACTIVATION_SILU, -5}, /* -0.1423, before C's scale */
};

static void test_bytes(mc_diag *diag) {
    for (size_t i = 0; i < sizeof byte_rows / sizeof *byte_rows; i++) {
#define WITH(letter) (strchr(byte_rows[i].has, letter) != NULL)
        mc_dense sums, c;
        const mc_output output = {.type = byte_rows[i].type,
                                  .scale = MC_PER_TENSOR,
                                  .b_scale = WITH('b') ? MC_PER_COLUMN : MC_PER_NONE,
                                  .bias = WITH('+') ? MC_PER_ROW : MC_PER_NONE,
                                  .c_scale = WITH('c') ? MC_PER_TENSOR : MC_PER_NONE,
                                  .zero = WITH('z') ? MC_PER_TENSOR : MC_PER_NONE,
                                  .activation = byte_rows[i].activation};
        const mc_factors factors = {.scale = &byte_rows[i].scale,
                                    .b_scale = &byte_rows[i].b_scale,
                                    .bias = &byte_rows[i].bias,
                                    .c_scale = &byte_rows[i].c_scale,
                                    .zero = &byte_rows[i].zero};
        expect_ok("create", mc_dense_create(MC_S64, 1, 1, 1, &sums, diag), diag);
        mc_dense_set(&sums, 0, 0, byte_rows[i].sum);
        expect_ok("output", mc_reference_output(&output, &factors, &sums, &c, diag), diag);
        CHECK(mc_dense_get(&c, 0, 0) == byte_rows[i].want, "row %zu: %lld, must be %lld", i,
              (long long)mc_dense_get(&c, 0, 0), (long long)byte_rows[i].want);
        mc_dense_free(&sums);
        mc_dense_free(&c);
#undef WITH
    }
}

/* What is added to 3 * SCALE + 1, as its bits, before an activation and C's scale. */
static const struct {
    mc_type type, residual;
    float scale;
    uint32_t added;
    mc_activation activation;
    float c_scale; /* 0: none */
    int64_t want;
} residual_rows[] = {
    {MC_F32, MC_F32, 2, 0x3f000000, MC_ACTIVATION_NONE, 0, 0x40f00000},       /* 7 + 0.5 */
    {MC_F32, MC_F32, 0x1p24F, 0x40000000, MC_ACTIVATION_NONE, 0, 0x4c400000}, /* each addition rounds */
    {MC_F32, MC_F32, 0x1.555556p-2F, 0xc0000000, MC_ACTIVATION_NONE, 0, 0},   /* -2, to a rounded fma */
    {MC_F32, MC_F16, 2, 0x2e66, MC_ACTIVATION_NONE, 0, 0x40e33300},           /* 0.1 in f16 */
    {MC_F32, MC_BF16, 2, 0x3dcd, MC_ACTIVATION_NONE, 0, 0x40e33400},          /* 0.1 in bf16 */
    {MC_F16, MC_F32, 2, 0xc1000000, MC_ACTIVATION_RELU, 0, 0},                /* -8 */
    {MC_F32, MC_F32, 2, 0x7fc00000, MC_ACTIVATION_NONE, 0, 0x7fffffff},       /* NaN */
    {MC_S8, MC_F32, 2, 0x7fc00000, MC_ACTIVATION_NONE, 0, 0},
    {MC_S8, MC_F16, 2, 0xc300, MC_ACTIVATION_NONE, 0.5F, 7},         /* -3.5 */
    {MC_S8, MC_F32, 2, 0xc1200000, MC_ACTIVATION_SILU, 0x1p-5F, -5}, /* of -3, before C's scale */
};

static void test_residuals(mc_diag *diag) {
    for (size_t i = 0; i < sizeof residual_rows / sizeof *residual_rows; i++) {
        const float one = 1;
        mc_dense sums, added, c;
        const mc_output output = {.type = residual_rows[i].type,
                                  .scale = MC_PER_TENSOR,
                                  .bias = MC_PER_ROW,
                                  .c_scale = residual_rows[i].c_scale > 0 ? MC_PER_TENSOR : MC_PER_NONE,
                                  .activation = residual_rows[i].activation};
        const mc_factors factors = {.scale = &residual_rows[i].scale,
                                    .bias = &one,
                                    .c_scale = &residual_rows[i].c_scale,
                                    .residual = &added};
        expect_ok("create", mc_dense_create(MC_S64, 1, 1, 1, &sums, diag), diag);
        expect_ok("create", mc_dense_create(residual_rows[i].residual, 1, 1, 1, &added, diag), diag);
        mc_dense_set(&sums, 0, 0, 3);
        mc_dense_set(&added, 0, 0, residual_rows[i].added);
        expect_ok("output", mc_reference_output(&output, &factors, &sums, &c, diag), diag);
        CHECK(mc_dense_get(&c, 0, 0) == residual_rows[i].want, "row %zu: 0x%llx, must be 0x%llx", i,
              (unsigned long long)mc_dense_get(&c, 0, 0), (unsigned long long)residual_rows[i].want);
        mc_dense_free(&c);
        const mc_output sum = {.type = MC_S32};
        expect_failure("sums", mc_reference_output(&sum, &(mc_factors){.residual = &added}, &sums, &c, diag),
                       MC_USAGE, diag, "is not added to a C of s32");
        added.cols = 0;
        expect_failure("shape", mc_reference_output(&output, &factors, &sums, &c, diag), MC_USAGE, diag,
                       "the residual is 1 x 0, C 1 x 1");
        mc_dense_free(&sums);
        mc_dense_free(&added);
    }
}

/* Sums beyond s32, as they are and modulo 2^32. */
#define TWO(power) ((int64_t)1 << (power))
static const struct {
    mc_type type;
    int64_t sum;
    float scale;
    uint64_t exact, wrapped;
} beyond[] = {
    {MC_F32, TWO(31), 1, 0x4f000000, 0xcf000000},
    {MC_F32, -TWO(32) - 3, 1, 0xcf800000, 0xc0400000},
    {MC_F32, TWO(40) + TWO(16), 1, 0x53800000, 0x47800000}, /* ties, to even */
    {MC_F32, TWO(40) + 3 * TWO(16), 1, 0x53800002, 0x48400000},
    {MC_F32, TWO(62) + TWO(38), 1, 0x5e800000, 0},
    {MC_F32, TWO(62) + TWO(38) + 1, 1, 0x5e800001, 0x3f800000}, /* by way of f64 a tie */
    {MC_F32, -TWO(62) - TWO(38) - 1, 1, 0xde800001, 0xbf800000},
    {MC_F16, TWO(32) + 7, 0x1p-20f, 0x6c00, 0x0070}, /* 4096; 7 2^-20 */
    {MC_BF16, TWO(40) + TWO(32), 1, 0x5380, 0},      /* a tie */
};

static void test_beyond(mc_diag *diag) {
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++)
        for (int exact = 0; exact < 2; exact++) {
            mc_dense sums, c;
            mc_output output = {.type = beyond[i].type, .scale = MC_PER_TENSOR, .exact = exact};
            uint64_t want = exact ? beyond[i].exact : beyond[i].wrapped;
            expect_ok("create", mc_dense_create(MC_S64, 1, 1, 1, &sums, diag), diag);
            mc_dense_set(&sums, 0, 0, beyond[i].sum);
            expect_ok("output",
                      mc_reference_output(&output, &(mc_factors){.scale = &beyond[i].scale, .bias = NULL},
                                          &sums, &c, diag),
                      diag);
            CHECK((uint64_t)mc_dense_get(&c, 0, 0) == want, "row %zu, exact %d: 0x%llx", i, exact,
                  (unsigned long long)mc_dense_get(&c, 0, 0));
            mc_dense_free(&c);
            output = (mc_output){.type = MC_S64, .exact = true};
            expect_ok("s64", mc_reference_output(&output, NULL, &sums, &c, diag), diag);
            CHECK(mc_dense_get(&c, 0, 0) == beyond[i].sum, "row %zu", i);
            mc_dense_free(&c);
            mc_dense_free(&sums);
        }
}

/* -- The error bound of docs/output.md ---------------------------------------------------------------- */

/* sum * scale has 55 bits and fits a long double of 64; adding the bias rounds by 2^-64, which the bound's factor of two
   leaves room for. */
static void test_bound(mc_type type, long double u, long double s, mc_diag *diag) {
    enum { COUNT = 50000 };
    static int64_t sums[COUNT];
    static float scale[COUNT], bias[COUNT];
    uint64_t state = 99;
    mc_dense c;
    if (__LDBL_MANT_DIG__ < 64) return;
    mc_scale_fill(scale, COUNT, MC_VALUES_FULL, 1);
    mc_bias_fill(bias, COUNT, MC_VALUES_FULL, 2);
    for (int i = 0; i < COUNT; i++) {
        sums[i] = (int32_t)draw(&state) >> (draw(&state) % 31);
        if (i % 3 == 0) bias[i] = -(float)sums[i] * scale[i]; /* cancels */
        if (i % 5 == 0) scale[i] *= 0x1p-20f;                 /* subnormal halves */
    }
    convert(type, sums, scale, bias, COUNT, &c, diag);
    for (int i = 0; i < COUNT; i++) {
        long double product = (long double)sums[i] * scale[i], exact = product + bias[i];
        long double got = mc_dense_real(&c, 0, i);
        if (isinf((double)got)) continue;
        long double bound = u * fabsl(exact) + 0x1p-23L * (fabsl(product) + fabsl(exact)) + s;
        CHECK(fabsl(got - exact) <= bound, "%s: %lld * %a + %a is %La, got %La", mc_type_text(type),
              (long long)sums[i], (double)scale[i], (double)bias[i], exact, got);
    }
    mc_dense_free(&c);
}

/* -- Rows and columns, refusals, comparison ----------------------------------------------------------- */

static void test_places(mc_diag *diag) {
    const float three[3] = {1, 10, 100}, two[2] = {0.5f, -0.5f};
    const mc_output by_row = {.type = MC_F32, .scale = MC_PER_ROW, .bias = MC_PER_COLUMN},
                    by_column = {.type = MC_F32, .scale = MC_PER_COLUMN, .bias = MC_PER_ROW};
    mc_dense sums, c;
    expect_ok("create", mc_dense_create(MC_S64, 3, 2, 2, &sums, diag), diag);
    for (int i = 0; i < 6; i++) mc_dense_set(&sums, i / 2, i % 2, i + 1);
    expect_ok("by row",
              mc_reference_output(&by_row, &(mc_factors){.scale = three, .bias = two}, &sums, &c, diag),
              diag);
    for (int i = 0; i < 6; i++)
        CHECK(mc_dense_real(&c, i / 2, i % 2) == (i + 1) * (double)three[i / 2] + (double)two[i % 2], "%d",
              i);
    mc_dense_free(&c);
    expect_ok("by column",
              mc_reference_output(&by_column, &(mc_factors){.scale = two, .bias = three}, &sums, &c, diag),
              diag);
    for (int i = 0; i < 6; i++)
        CHECK(mc_dense_real(&c, i / 2, i % 2) == (i + 1) * (double)two[i % 2] + (double)three[i / 2], "%d",
              i);
    mc_dense_free(&c);
    const mc_output unscaled = {.type = MC_F16}, scaled = {.type = MC_S32, .scale = MC_PER_ROW},
                    wrapped = {.type = MC_S64}, active = {.type = MC_S32, .activation = MC_ACTIVATION_RELU};
    expect_failure("unscaled", mc_reference_output(&unscaled, NULL, &sums, &c, diag), MC_USAGE, diag,
                   "C of f16 wants a scale");
    expect_failure("scaled",
                   mc_reference_output(&scaled, &(mc_factors){.scale = three, .bias = NULL}, &sums, &c, diag),
                   MC_USAGE, diag, "C of s32 takes no scale");
    expect_failure("wrapped", mc_reference_output(&wrapped, NULL, &sums, &c, diag), MC_USAGE, diag,
                   "C of s64 wants exact sums");
    expect_failure("active", mc_reference_output(&active, NULL, &sums, &c, diag), MC_USAGE, diag,
                   "C of s32 takes no activation");
    mc_dense_free(&sums);
    CHECK(mc_per_count(MC_PER_NONE, 3, 2) == 0 && mc_per_count(MC_PER_TENSOR, 3, 2) == 1);
    CHECK(mc_per_count(MC_PER_ROW, 3, 2) == 3 && mc_per_count(MC_PER_COLUMN, 3, 2) == 2);
}

static void test_compare(mc_diag *diag) {
    mc_dense got, want, other;
    expect_ok("create", mc_dense_create(MC_F16, 1, 3, 4, &got, diag), diag);
    expect_ok("create", mc_dense_create(MC_F16, 1, 3, 3, &want, diag), diag);
    expect_ok("create", mc_dense_create(MC_F32, 1, 3, 3, &other, diag), diag);
    const uint16_t is[3] = {0x3c00, 0x7e01, 0xfc00}, must[3] = {0x3c00, 0x7fff, 0xfc00};
    for (int j = 0; j < 3; j++) {
        mc_dense_set(&got, 0, j, is[j]);
        mc_dense_set(&want, 0, j, must[j]);
    }
    expect_ok("a NaN is a NaN", mc_dense_compare(&got, &want, diag), diag);
    mc_dense_set(&got, 0, 1, 0x8000);
    mc_dense_set(&want, 0, 1, 0x0000);
    expect_failure("zeros have signs", mc_dense_compare(&got, &want, diag), MC_MISMATCH, diag,
                   "C[0][1] is -0 (0x8000), must be 0 (0x0000) (1 of 3 elements wrong)");
    expect_failure("types", mc_dense_compare(&got, &other, diag), MC_USAGE, diag,
                   "f16 elements cannot be compared");
    mc_dense_free(&got);
    mc_dense_free(&want);
    mc_dense_free(&other);
}

static void test_fill(mc_diag *diag) {
    enum { COUNT = 1000 };
    float scale[COUNT], again[COUNT], bias[COUNT];
    int negative = 0, zeros = 0;
    (void)diag;
    mc_scale_fill(scale, COUNT, MC_VALUES_FULL, 5);
    mc_scale_fill(again, COUNT, MC_VALUES_FULL, 5);
    CHECK(memcmp(scale, again, sizeof scale) == 0, "one seed, two results");
    for (int i = 0; i < COUNT; i++) {
        CHECK(fabsf(scale[i]) >= 0x1p-16f && fabsf(scale[i]) < 0x1p-8f, "%a", (double)scale[i]);
        negative += scale[i] < 0;
    }
    CHECK(negative > COUNT / 3 && negative < COUNT * 2 / 3, "%d", negative);
    mc_bias_fill(bias, COUNT, MC_VALUES_EXTREME, 5);
    for (int i = 0; i < COUNT; i++) zeros += bias[i] == 0;
    CHECK(zeros > COUNT / 40 && zeros < COUNT / 5, "%d", zeros);
    mc_scale_fill(scale, COUNT, MC_VALUES_ONES, 5);
    for (int i = 0; i < COUNT; i++) CHECK(scale[i] == 1);
}

/* -- Files -------------------------------------------------------------------------------------------- */

static void test_vectors(mc_diag *diag) {
    static const struct {
        const char *shape;
        int rows, cols;
    } shapes[] = {{"(6,)", 1, 6}, {"(6, 1)", 6, 1}, {"(1, 6)", 1, 6}, {"()", 1, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char file[256] = "\x93NUMPY\1\0\0\0";
        float values[6] = {1, 2, 3, 4, 5, 6};
        int length = snprintf(file + 10, 200, "{'descr': '<f4', 'fortran_order': False, 'shape': %s}",
                              shapes[i].shape);
        size_t bytes = (size_t)(shapes[i].rows * shapes[i].cols) * sizeof *values;
        mc_dense read, matrix;
        file[8] = (char)length;
        memcpy(file + 10 + length, values, bytes);
        const char *path = scratch_write("v.npy", file, 10 + (size_t)length + bytes);
        expect_ok(shapes[i].shape, mc_npy_read_vector(path, &read, diag), diag);
        CHECK(read.type == MC_F32 && read.rows == shapes[i].rows && read.cols == shapes[i].cols);
        CHECK(read.data && memcmp(read.data, values, bytes) == 0);
        mc_dense_free(&read);
        bool is_matrix = strchr(shapes[i].shape, ' ') != NULL;
        CHECK((mc_npy_read(path, &matrix, diag) == MC_OK) == is_matrix, "%s", shapes[i].shape);
        mc_diag_clear(diag);
        mc_dense_free(&matrix);
        unlink(path);
    }
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    scratch_begin();
    for (int type = MC_F16; type <= MC_BF16; type++) {
        test_values((mc_type)type, diag);
        test_rounding((mc_type)type, diag);
    }
    test_known(diag);
    test_bytes(diag);
    test_residuals(diag);
    test_beyond(diag);
    test_bound(MC_F16, 0x1p-11L, 0x1p-25L, diag);
    test_bound(MC_BF16, 0x1p-8L, 0x1p-134L, diag);
    test_bound(MC_F32, 0, 0x1p-150L, diag);
    test_places(diag);
    test_compare(diag);
    test_fill(diag);
    test_vectors(diag);
    mc_diag_destroy(diag);
    return scratch_end();
}
