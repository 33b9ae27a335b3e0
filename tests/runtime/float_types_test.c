/* Floats of 8 bits and tf32: their values, how they are rounded, matrices and files of them, what kernels
   multiply of an element, sums in the reference's order and in a kernel's. */
#include "check.h"
#include "base/real.h"
#include "ops/output.h"
#include "mcrt_internal.h"
#include "scratch.h"
#include <math.h>

typedef struct known_value {
    uint32_t bits;
    float value;
} known_value;

static const known_value e4m3[] = {{0x00, 0},   {0x01, 0x1p-9f}, {0x07, 0x7p-9f}, {0x08, 0x1p-6f},
                                   {0x38, 1},   {0x3c, 1.5f},    {0x77, 240},     {0x78, 256},
                                   {0x7e, 448}, {0xfe, -448},    {0x81, -0x1p-9f}};
static const known_value e5m2[] = {{0x00, 0},         {0x01, 0x1p-16f}, {0x03, 0x3p-16f}, {0x04, 0x1p-14f},
                                   {0x3c, 1},         {0x3e, 1.5f},     {0x7b, 57344},    {0x7c, INFINITY},
                                   {0xfc, -INFINITY}, {0x82, -0x1p-15f}};

static void check_known(mc_type type, const known_value *known, size_t count) {
    for (size_t i = 0; i < count; i++) {
        CHECK(real_from_bits(type, known[i].bits) == known[i].value, "%s %#x: %g", mc_type_text(type),
              known[i].bits, (double)real_from_bits(type, known[i].bits));
        CHECK(real_to_bits(type, known[i].value) == known[i].bits, "%s %g", mc_type_text(type),
              (double)known[i].value);
    }
    for (uint32_t bits = 0; bits < 256; bits++)
        if (!isnan(real_from_bits(type, bits)))
            CHECK(real_to_bits(type, real_from_bits(type, bits)) == bits, "%s %#x", mc_type_text(type), bits);
}

static void test_values(void) {
    check_known(MC_E4M3, e4m3, sizeof e4m3 / sizeof *e4m3);
    check_known(MC_E5M2, e5m2, sizeof e5m2 / sizeof *e5m2);
    CHECK(isnan(real_from_bits(MC_E4M3, 0x7f)) && isnan(real_from_bits(MC_E4M3, 0xff)), "NaNs of e4m3");
    CHECK(isnan(real_from_bits(MC_E5M2, 0x7d)) && isnan(real_from_bits(MC_E5M2, 0xff)), "NaNs of e5m2");
    CHECK(real_to_bits(MC_E4M3, NAN) == 0x7f && real_to_bits(MC_E5M2, NAN) == 0x7f, "the NaN");
    CHECK(real_to_bits(MC_E4M3, 1e30f) == 0x7e && real_to_bits(MC_E4M3, -INFINITY) == 0xfe,
          "e4m3 has no infinities");
    CHECK(real_to_bits(MC_E5M2, 1e30f) == 0x7c && real_to_bits(MC_E5M2, 61439) == 0x7b, "e5m2 has");
    CHECK(real_to_bits(MC_E4M3, 1.0625f) == 0x38 && real_to_bits(MC_E4M3, 1.1875f) == 0x3a, "ties to even");
}

/* Elements of C are cut off at the greatest finite value, infinities too. */
static void test_outputs(void) {
    CHECK(output_element(MC_E5M2, 1e30f, NULL) == 0x7b && output_element(MC_E5M2, -INFINITY, NULL) == 0xfb,
          "e5m2 is cut off");
    CHECK(output_element(MC_E4M3, 1e30f, NULL) == 0x7e && output_element(MC_E4M3, -INFINITY, NULL) == 0xfe,
          "e4m3 is cut off");
    CHECK(output_element(MC_E5M2, NAN, NULL) == 0x7f && output_element(MC_E4M3, NAN, NULL) == 0x7f, "NaNs");
    CHECK(output_element(MC_F16, 1e30f, NULL) == 0x7c00, "f16 has infinities");
}

/* What cvt.rna.tf32.f32 makes of these. */
static void test_factors(void) {
    static const uint32_t cases[][2] = {
        {0x3f800000, 0x3f800000}, {0x3f800fff, 0x3f800000}, {0x3f801000, 0x3f802000},
        {0xbf801000, 0xbf802000}, {0x3f803000, 0x3f804000}, {0x3fffffff, 0x40000000},
        {0x7f7fffff, 0x7f800000}, {0x7f800000, 0x7f800000}, {0x7fffffff, 0x7fffffff},
        {0x00000fff, 0x00000000}, {0x80001000, 0x80002000}, {0x007fffff, 0x00800000},
        {0x7f800001, 0x7fffffff}, {0x7f801000, 0x7fffffff}, {0xff800fff, 0x7fffffff},
        {0xffc00000, 0x7fffffff}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t got = real_factor(MC_TF32, cases[i][0]);
        CHECK(got == cases[i][1], "%#x becomes %#x", cases[i][0], got);
        CHECK(real_factor(MC_F32, cases[i][0]) == cases[i][0], "f32 stays");
    }
    CHECK(type_of_elements(MC_TF32) == MC_F32 && type_of_elements(MC_E4M3) == MC_E4M3, "types in files");
}

/* -- Matrices and files ------------------------------------------------------------------------------- */

/* A matrix of TYPE is written as DESCR, and read back as READ. */
static void check_file(mc_type type, const char *descr, mc_type read, mc_diag *diag) {
    char header[80] = "";
    const char *path = scratch_path("floats.npy");
    mc_dense a, back, wanted;
    CHECK(mc_dense_create(type, 3, 5, 5, &a, diag) == MC_OK, "%s", mc_diag_text(diag));
    mc_dense_fill(&a, MC_VALUES_FULL, 7);
    CHECK(mc_npy_write(path, &a, diag) == MC_OK && mc_npy_read(path, &back, diag) == MC_OK, "%s",
          mc_diag_text(diag));
    FILE *file = fopen(path, "rb");
    CHECK(file && fread(header, 1, sizeof header - 1, file) > 0 && strstr(header + 10, descr), "%s",
          header + 10);
    if (file) fclose(file);
    unlink(path);
    CHECK(back.type == read, "%s is read as %s", mc_type_text(type), mc_type_text(back.type));
    CHECK(mc_dense_convert(&back, "X", type, 5, &wanted, diag) == MC_OK &&
              mc_dense_compare(&wanted, &a, diag) == MC_OK,
          "%s", mc_diag_text(diag));
    mc_dense_free(&a);
    mc_dense_free(&back);
    mc_dense_free(&wanted);
}

static void test_files(mc_diag *diag) {
    mc_dense a, other;
    check_file(MC_E4M3, "'<V1'", MC_E4M3, diag);
    check_file(MC_E5M2, "'<f1'", MC_E5M2, diag);
    check_file(MC_TF32, "'<f4'", MC_F32, diag);
    CHECK(mc_dense_create(MC_E4M3, 1, 1, 1, &a, diag) == MC_OK, "%s", mc_diag_text(diag));
    CHECK(mc_dense_convert(&a, "X", MC_E5M2, 1, &other, diag) == MC_FORMAT &&
              strstr(mc_diag_text(diag), "X holds e4m3, must hold e5m2"),
          "%s", mc_diag_text(diag));
    mc_diag_clear(diag);
    mc_dense_free(&a);
}

/* A takes 464, which is as near to 448 as to 480, and nothing beyond it. */
static void test_beyond(mc_diag *diag) {
    static const struct {
        double value;
        bool fits;
    } cases[] = {{448, true}, {464, true}, {-464, true}, {464.5, false}, {-1e30, false}, {INFINITY, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t row_ptr[] = {0, 1};
        int32_t columns[] = {0};
        double value = cases[i].value;
        uint8_t element = 0;
        mc_vsparse a = {MC_E4M3, 1, 1, 1, 1, 1, row_ptr, columns, &element, {0}};
        const mc_csr csr = {
            .rows = 1, .cols = 1, .nnz = 1, .row_ptr = row_ptr, .col_idx = columns, .values = &value};
        mc_status status = mc_vsparse_take_csr(&a, &csr, 0, diag);
        CHECK((status == MC_OK) == cases[i].fits, "%g: %s", value, mc_diag_text(diag));
        CHECK(status != MC_OK || (element & 0x7f) == 0x7e, "%g became %#x", value, element);
        mc_diag_clear(diag);
    }
}

/* -- Sums --------------------------------------------------------------------------------------------- */

static void check_sum(const mc_vsparse *a, const mc_dense *b, double want, double in_order, mc_diag *diag) {
    const mc_gather_order order = {.stride = 32, .split = 1, .heads = true};
    mc_dense sums, bounds, ordered;
    CHECK(mc_reference_spmm(a, b, &sums, diag) == MC_OK &&
              mc_reference_spmm_bounds(a, b, &bounds, diag) == MC_OK &&
              mc_reference_spmm_ordered(a, b, &order, &ordered, diag) == MC_OK,
          "%s", mc_diag_text(diag));
    double got = mc_dense_real(&sums, 0, 0), bound = mc_dense_real(&bounds, 0, 0);
    CHECK(got == want, "%s: %.9g", mc_type_text(a->type), got);
    CHECK(mc_dense_real(&ordered, 0, 0) == in_order, "%s in order: %.9g", mc_type_text(a->type),
          mc_dense_real(&ordered, 0, 0));
    CHECK(bound > 0 && fabs(in_order - want) <= bound, "%s: bound %g", mc_type_text(a->type), bound);
    mc_dense_free(&sums);
    mc_dense_free(&bounds);
    mc_dense_free(&ordered);
}

/* 448 * 448 + 2^-9 - 448 * 448: the reference rounds the least term off; of an mma's first step are slots
   0 and 1, of its second one is slot 2, so that there it is cut off, too. With slots 0 and 1 cancelling it
   stays. */
static void test_sums(mc_diag *diag) {
    int64_t row_ptr[] = {0, 3};
    int32_t columns[] = {0, 1, 2};
    uint8_t values[] = {0x7e, 0x01, 0xfe}, rows[] = {0x7e, 0x38, 0x7e}, swapped[] = {0x7e, 0xfe, 0x01};
    uint8_t behind[] = {0x7e, 0x7e, 0x38};
    const mc_vsparse a = {MC_E4M3, 1, 1, 3, 1, 3, row_ptr, columns, values, {0}};
    const mc_vsparse c = {MC_E4M3, 1, 1, 3, 1, 3, row_ptr, columns, swapped, {0}};
    const mc_dense b = {MC_E4M3, 3, 1, 1, rows}, d = {MC_E4M3, 3, 1, 1, behind};
    check_sum(&a, &b, 0x1p-9 - 0x1p-9, 0, diag);
    check_sum(&c, &d, 0x1p-9, 0x1p-9, diag);
}

/* Both factors round: 1 + 2^-11 to 1 + 2^-10, and 1 + 2^-12 to 1. */
static void test_tf32(mc_diag *diag) {
    int64_t row_ptr[] = {0, 1};
    int32_t columns[] = {0};
    float value = 1 + 0x1p-11f, row = 1 + 0x1p-12f, tie = -1 - 0x1p-11f;
    const mc_vsparse a = {MC_TF32, 1, 1, 1, 1, 1, row_ptr, columns, &value, {0}};
    const mc_dense b = {MC_TF32, 1, 1, 1, &row}, c = {MC_TF32, 1, 1, 1, &tie};
    check_sum(&a, &b, 1 + 0x1p-10, 1 + 0x1p-10, diag);
    check_sum(&a, &c, -(1 + 0x1p-10) * (1 + 0x1p-10), -(1 + 0x1p-10) * (1 + 0x1p-10), diag);
}

/* A NaN whose bits an mma ignores, and which would be an infinity there. */
static void test_low_nan(mc_diag *diag) {
    int64_t row_ptr[] = {0, 1};
    int32_t columns[] = {0};
    uint32_t value = 0x7f800001;
    float row = 1;
    const mc_vsparse a = {MC_TF32, 1, 1, 1, 1, 1, row_ptr, columns, &value, {0}};
    const mc_dense b = {MC_TF32, 1, 1, 1, &row};
    const mc_gather_order order = {.stride = 32, .split = 1};
    mc_dense ordered = {0};
    CHECK(mc_reference_spmm_ordered(&a, &b, &order, &ordered, diag) == MC_OK, "%s", mc_diag_text(diag));
    CHECK(isnan(mc_dense_real(&ordered, 0, 0)), "a NaN becomes %g", mc_dense_real(&ordered, 0, 0));
    mc_dense_free(&ordered);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    scratch_begin();
    test_values();
    test_outputs();
    test_factors();
    test_files(diag);
    test_beyond(diag);
    test_sums(diag);
    test_tf32(diag);
    test_low_nan(diag);
    mc_diag_destroy(diag);
    return scratch_end();
}
