/* Element types: ranges, sizes, elements of 4 and 12 bits in matrices and files, conversions that must stay in range. */
#include "scratch.h"

static const struct {
    const char *text;
    mc_type type;
    int bits;
    size_t bytes;
    int64_t least, most;
} integers[] = {{"s4", MC_S4, 4, 0, -8, 7},
                {"u4", MC_U4, 4, 0, 0, 15},
                {"s8", MC_S8, 8, 1, -128, 127},
                {"u8", MC_U8, 8, 1, 0, 255},
                {"s12", MC_S12, 12, 2, -2048, 2047},
                {"u12", MC_U12, 12, 2, 0, 4095},
                {"s16", MC_S16, 16, 2, -32768, 32767},
                {"u16", MC_U16, 16, 2, 0, 65535},
                {"s32", MC_S32, 32, 4, INT32_MIN, INT32_MAX},
                {"s64", MC_S64, 64, 8, INT64_MIN, INT64_MAX}};
enum { INTEGERS = sizeof integers / sizeof integers[0], SMALL = 8 /* of at most 16 bits */ };

static void test_list(mc_diag *diag) {
    mc_type type;
    for (int i = 0; i < INTEGERS; i++) {
        expect_ok("type", mc_type_from_text(integers[i].text, &type, diag), diag);
        CHECK(type == integers[i].type && strcmp(mc_type_text(type), integers[i].text) == 0, "%s",
              integers[i].text);
        CHECK(mc_type_bits(type) == integers[i].bits && mc_type_bytes(type) == integers[i].bytes, "%s",
              integers[i].text);
        CHECK(mc_type_min(type) == integers[i].least && mc_type_max(type) == integers[i].most, "%s",
              integers[i].text);
        CHECK(!mc_type_is_real(type), "%s is real", integers[i].text);
    }
    CHECK(mc_type_is_real(MC_F16) && mc_type_is_real(MC_BF16) && mc_type_is_real(MC_F32), "reals");
    expect_failure("f64", mc_type_from_text("f64", &type, diag), MC_USAGE, diag, "'f64' is not an element");
}

static void test_sizes(void) {
    static const struct {
        mc_type type;
        int64_t count, bytes;
    } sizes[] = {{MC_S4, 0, 0},
                 {MC_U4, 1, 1},
                 {MC_S4, 2, 1},
                 {MC_S4, 7, 4},
                 {MC_S4, INT64_MAX, (int64_t)1 << 62},
                 {MC_U12, 7, 14},
                 {MC_S64, INT64_MAX / 8, INT64_MAX / 8 * 8},
                 {MC_S64, INT64_MAX / 8 + 1, -1},
                 {MC_S8, -1, -1},
                 {MC_U4, -1, -1}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        CHECK(mc_type_size(sizes[i].type, sizes[i].count) == sizes[i].bytes, "case %zu: %lld", i,
              (long long)mc_type_size(sizes[i].type, sizes[i].count));
}

/* -- Matrices ----------------------------------------------------------------------------------------- */

/* Every value of the small types goes in and comes out, beside neighbours that stay. */
static void check_elements(mc_type type, mc_diag *diag) {
    mc_dense dense;
    int64_t least = mc_type_min(type), count = mc_type_max(type) - least + 1, wrong = 0;
    expect_ok("create", mc_dense_create(type, 3, count, count + 2, &dense, diag), diag);
    for (int64_t v = 0; v < count; v++) mc_dense_set(&dense, 1, v, least + v);
    for (int64_t v = 0; v < count; v++) {
        wrong += mc_dense_get(&dense, 1, v) != least + v;
        wrong += mc_dense_get(&dense, 0, v) != 0 || mc_dense_get(&dense, 2, v) != 0;
    }
    CHECK(wrong == 0, "%s: %lld wrong", mc_type_text(type), (long long)wrong);
    mc_dense_set(&dense, 0, 0, mc_type_max(type) + 1);
    mc_dense_set(&dense, 0, 1, mc_type_min(type) - 1);
    CHECK(mc_dense_get(&dense, 0, 0) == mc_type_min(type), "%s wraps at its most", mc_type_text(type));
    CHECK(mc_dense_get(&dense, 0, 1) == mc_type_max(type), "%s wraps at its least", mc_type_text(type));
    mc_dense_free(&dense);
}

static void test_nibbles(mc_diag *diag) {
    static const uint8_t want[8] = {0xf1, 0x08, 0x00, 0x00, 0x27, 0x00, 0x90, 0x00};
    mc_dense dense;
    expect_failure("odd", mc_dense_create(MC_U4, 2, 3, 3, &dense, diag), MC_USAGE, diag,
                   "leading dimension 3 must be even: two elements of u4 share a byte");
    expect_ok("create", mc_dense_create(MC_S4, 2, 7, 8, &dense, diag), diag);
    mc_dense_set(&dense, 0, 0, 1);
    mc_dense_set(&dense, 0, 1, -1);
    mc_dense_set(&dense, 0, 2, -8);
    mc_dense_set(&dense, 1, 0, 7);
    mc_dense_set(&dense, 1, 1, 2);
    mc_dense_set(&dense, 1, 5, -7);
    CHECK(memcmp(dense.data, want, sizeof want) == 0, "the lower index has the low nibble");
    CHECK(mc_dense_get(&dense, 0, 1) == -1 && mc_dense_get(&dense, 1, 5) == -7, "signs");
    dense.type = MC_U4;
    CHECK(mc_dense_get(&dense, 0, 1) == 15 && mc_dense_get(&dense, 1, 5) == 9, "no signs");
    mc_dense_free(&dense);
}

static void check_fill(mc_type type, mc_diag *diag) {
    mc_dense dense;
    int64_t least = 0, most = 0, low = INT64_MAX, high = INT64_MIN;
    expect_ok("create", mc_dense_create(type, 40, 50, 54, &dense, diag), diag);
    mc_dense_fill(&dense, MC_VALUES_EXTREME, 1);
    for (int i = 0; i < 2000; i++) {
        least += mc_dense_get(&dense, i / 50, i % 50) == mc_type_min(type);
        most += mc_dense_get(&dense, i / 50, i % 50) == mc_type_max(type);
    }
    CHECK(least + most == 2000 && least > 800 && most > 800, "%s: %lld least, %lld most", mc_type_text(type),
          (long long)least, (long long)most);
    mc_dense_fill(&dense, MC_VALUES_FULL, 1);
    for (int i = 0; i < 2000; i++) {
        int64_t value = mc_dense_get(&dense, i / 50, i % 50);
        low = value < low ? value : low, high = value > high ? value : high;
    }
    int64_t near = (mc_type_max(type) - mc_type_min(type)) / 64; /* 2000 draws come as close as that */
    CHECK(low >= mc_type_min(type) && low <= mc_type_min(type) + near && high <= mc_type_max(type) &&
              high >= mc_type_max(type) - near,
          "%s: from %lld to %lld", mc_type_text(type), (long long)low, (long long)high);
    mc_dense_free(&dense);
}

static void check_vectors(mc_type type, mc_diag *diag) {
    int64_t row_ptr[] = {0, 2, 5};
    int32_t col_idx[] = {0, 3, 1, 2, 4};
    const mc_csr csr = {2, 5, 5, row_ptr, col_idx, MC_CSR_PATTERN, NULL, 0};
    mc_vsparse a;
    expect_ok("dilate", mc_vsparse_dilate(&csr, 3, type, &a, diag), diag);
    for (int i = 0; i < 15; i++) mc_vsparse_set_value(&a, i / 3, i % 3, mc_type_max(type) - i);
    for (int i = 0; i < 15; i++)
        CHECK(mc_vsparse_value(&a, i / 3, i % 3) == mc_type_max(type) - i, "%s, value %d", mc_type_text(type),
              i);
    mc_vsparse_free(&a);
}

/* -- Conversions -------------------------------------------------------------------------------------- */

static void test_convert(mc_diag *diag) {
    static const struct {
        mc_type from, to;
        int64_t value;
        const char *message; /* NULL: converts */
    } cases[] = {
        {MC_S8, MC_S4, 7, NULL},
        {MC_S8, MC_S4, -8, NULL},
        {MC_S8, MC_S4, 8, "of s4's"},
        {MC_S8, MC_S4, -9, "B[1][2] is -9, out of s4's range"},
        {MC_S64, MC_U4, 15, NULL},
        {MC_S64, MC_U4, -1, "B[1][2] is -1, out of u4's range"},
        {MC_S16, MC_S12, -2048, NULL},
        {MC_S16, MC_S12, 2048, "B[1][2] is 2048, out of s12's range"},
        {MC_U16, MC_U12, 4095, NULL},
        {MC_U16, MC_U12, 4096, "B[1][2] is 4096, out of u12's range"},
        {MC_U8, MC_S8, 128, "of s8's"},
        {MC_S4, MC_S8, -8, NULL},
        {MC_F32, MC_S8, 0, "B holds f32, must hold s8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mc_dense from, to;
        expect_ok("create", mc_dense_create(cases[i].from, 2, 3, 4, &from, diag), diag);
        mc_dense_set(&from, 1, 2, cases[i].value);
        mc_dense_set(&from, 0, 1, 3);
        mc_status status = mc_dense_convert(&from, "B", cases[i].to, 6, &to, diag);
        if (cases[i].message) {
            expect_failure("convert", status, MC_FORMAT, diag, cases[i].message);
            CHECK(!to.data, "the output is not zeroed");
        } else {
            expect_ok("convert", status, diag);
            CHECK(to.type == cases[i].to && to.ld == 6 && mc_dense_get(&to, 1, 2) == cases[i].value,
                  "case %zu", i);
            expect_ok("same", mc_dense_compare(&from, &to, diag), diag);
        }
        mc_dense_free(&from);
        mc_dense_free(&to);
    }
}

/* Written as the next whole type, read, and made what it was. */
static void check_file(mc_type type, mc_diag *diag) {
    mc_dense out, read, back;
    const char *path = scratch_path("small.npy");
    expect_ok("create", mc_dense_create(type, 5, 7, 10, &out, diag), diag);
    mc_dense_fill(&out, MC_VALUES_FULL, 5);
    expect_ok("write", mc_npy_write(path, &out, diag), diag);
    expect_ok("read", mc_npy_read(path, &read, diag), diag);
    CHECK(mc_type_bits(read.type) == (mc_type_bits(type) <= 8 ? 8 : 16) &&
              (mc_type_min(read.type) < 0) == (mc_type_min(type) < 0),
          "%s was read as %s", mc_type_text(type), mc_type_text(read.type));
    expect_ok("convert", mc_dense_convert(&read, "B", type, 8, &back, diag), diag);
    expect_ok("compare", mc_dense_compare(&back, &out, diag), diag);
    mc_dense_free(&out);
    mc_dense_free(&read);
    mc_dense_free(&back);
    unlink(path);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    scratch_begin();
    test_list(diag);
    test_sizes();
    test_nibbles(diag);
    test_convert(diag);
    for (int i = 0; i < SMALL; i++) {
        check_elements(integers[i].type, diag);
        check_fill(integers[i].type, diag);
        check_vectors(integers[i].type, diag);
        check_file(integers[i].type, diag);
    }
    mc_diag_destroy(diag);
    return scratch_end();
}
