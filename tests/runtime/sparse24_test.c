/* Matrices for sparse tensor cores: compressed and back. */
#include "base/element.h"
#include "matrix/sparse24_layout.h"
#include "sparse24_matrices.h"

static bool is_legal(const mc_sparse24_rule *rule, int code) {
    return rule->kept == 1 ? code == 4 || code == 14 : strchr("489CDE", "0123456789ABCDEF"[code]) != NULL;
}

static void check_codes(const mc_dense *a, const mc_sparse24 *s, const mc_sparse24_rule *rule) {
    int64_t groups = mc_sparse24_groups(rule, a->cols), illegal = 0;
    CHECK(s->meta.rows == a->rows && s->meta.cols == (groups + 1) / 2, "size of the metadata");
    CHECK(s->values.cols == groups * rule->kept * rule->unit, "columns of the values");
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t g = 0; g < 2 * s->meta.cols; g++) {
            int code = nibble_get(s->meta.data, i * 2 * s->meta.ld + g);
            illegal += !is_legal(rule, code) || (g >= groups && code != 4);
        }
    CHECK(illegal == 0, "%lld codes", (long long)illegal);
}

static void test_round_trips(mc_diag *diag) {
    for (int t = 0; t < TYPES; t++)
        for (int i = 0; i < SHAPES; i++) {
            mc_sparse24 s, again;
            mc_sparse24_rule rule;
            mc_dense a = random_matrix(types[t], shapes[i].rows, shapes[i].cols, (uint64_t)i, diag), back;
            const char *name = mc_type_text(types[t]);
            expect_ok(name, mc_sparse24_rule_of(types[t], &rule, diag), diag);
            expect_ok(name, mc_sparse24_compress(&a, MC_SPARSE24_STRICT, &s, diag), diag);
            check_codes(&a, &s, &rule);
            expect_ok(name, mc_sparse24_decompress(&s, &back, diag), diag);
            CHECK(same(&a, &back), "%s: %lld x %lld", name, (long long)a.rows, (long long)a.cols);
            expect_ok(name, mc_sparse24_compress(&a, MC_SPARSE24_PRUNE, &again, diag), diag);
            CHECK(again.lost == 0 && same(&s.values, &again.values) && same(&s.meta, &again.meta),
                  "%s: nothing to prune", name);
            mc_sparse24_free(&again);
            mc_sparse24_free(&s);
            mc_dense_free(&back);
            mc_dense_free(&a);
        }
}

/* -- What a group becomes */

enum {
    NAN_16 = 0x7e00,
    NEGATIVE_NAN = 0xfc01,
    INFINITY_16 = 0x7c00,
    ONE = 0x3c00,
    TWO = 0x4000,
    MINUS = 0x8000
};

/* Of four halves by their bits. */
static const struct {
    const char *name;
    int in[4], code, out[2];
    bool is_full;
} groups[] = {
    {"none", {0}, 0x4, {0}, false},
    {"minus zeros", {0, MINUS, MINUS, 0}, 0x4, {0, MINUS}, false},
    {"first", {ONE}, 0x4, {ONE, 0}, false},
    {"second", {0, ONE}, 0x4, {0, ONE}, false},
    {"third", {0, 0, ONE}, 0x8, {0, ONE}, false},
    {"fourth", {0, 0, 0, ONE}, 0xC, {0, ONE}, false},
    {"01", {ONE, TWO}, 0x4, {ONE, TWO}, false},
    {"02", {ONE, 0, TWO}, 0x8, {ONE, TWO}, false},
    {"12", {0, ONE, TWO}, 0x9, {ONE, TWO}, false},
    {"03", {ONE, MINUS, 0, TWO}, 0xC, {ONE, TWO}, false},
    {"13", {0, ONE, 0, TWO}, 0xD, {ONE, TWO}, false},
    {"23", {MINUS, MINUS, ONE, TWO}, 0xE, {ONE, TWO}, false},
    {"subnormal", {0, 0, 1, MINUS | 1}, 0xE, {1, MINUS | 1}, false},
    {"three", {ONE, TWO, 0, MINUS | TWO}, 0xD, {TWO, MINUS | TWO}, true},
    {"of equal ones the earlier", {ONE, ONE, MINUS | ONE, TWO}, 0xC, {ONE, TWO}, true},
    {"four alike", {ONE, ONE, ONE, ONE}, 0x4, {ONE, ONE}, true},
    {"NaN beats infinity", {INFINITY_16, ONE, NAN_16, MINUS | INFINITY_16}, 0x8, {INFINITY_16, NAN_16}, true},
    {"NaNs are equal", {NEGATIVE_NAN, NAN_16, NAN_16, INFINITY_16}, 0x4, {NEGATIVE_NAN, NAN_16}, true},
};

static void test_groups(mc_diag *diag) {
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        mc_dense a = dense_of(MC_F16, 1, 4, diag);
        mc_sparse24 s;
        for (int j = 0; j < 4; j++) mc_dense_set(&a, 0, j, groups[i].in[j]);
        mc_status status = mc_sparse24_compress(&a, MC_SPARSE24_STRICT, &s, diag);
        CHECK((status == MC_FORMAT) == groups[i].is_full, "%s: strict", groups[i].name);
        mc_diag_clear(diag);
        mc_sparse24_free(&s);
        expect_ok(groups[i].name, mc_sparse24_compress(&a, MC_SPARSE24_PRUNE, &s, diag), diag);
        int code = nibble_get(s.meta.data, 0);
        int64_t first = mc_dense_get(&s.values, 0, 0), second = mc_dense_get(&s.values, 0, 1);
        CHECK(code == groups[i].code, "%s: %X", groups[i].name, (unsigned)code);
        CHECK(first == groups[i].out[0] && second == groups[i].out[1], "%s: %llx %llx", groups[i].name,
              (long long)first, (long long)second);
        CHECK(s.lost == groups[i].is_full, "%s: %lld", groups[i].name, (long long)s.lost);
        mc_sparse24_free(&s);
        mc_dense_free(&a);
    }
}

/* A row of COUNT integers. */
static mc_dense row_of(mc_type type, int count, const int *values, mc_diag *diag) {
    mc_dense a = dense_of(type, 1, count, diag);
    for (int i = 0; i < count; i++) mc_dense_set(&a, 0, i, values[i]);
    return a;
}

static void check_pruned(const char *name, mc_type type, int count, const int *in, int code, const int *out,
                         mc_diag *diag) {
    mc_sparse24 s;
    mc_dense a = row_of(type, count, in, diag);
    expect_ok(name, mc_sparse24_compress(&a, MC_SPARSE24_PRUNE, &s, diag), diag);
    CHECK(nibble_get(s.meta.data, 0) == code, "%s: %X", name, (unsigned)nibble_get(s.meta.data, 0));
    for (int i = 0; i < count / 2; i++)
        CHECK(mc_dense_get(&s.values, 0, i) == out[i], "%s: value %d is %lld", name, i,
              (long long)mc_dense_get(&s.values, 0, i));
    mc_sparse24_free(&s);
    mc_dense_free(&a);
}

static void test_other_types(mc_diag *diag) {
    check_pruned("s8's least", MC_S8, 4, (int[]){-127, 127, -128, 5}, 0x8, (int[]){-127, -128}, diag);
    check_pruned("u8", MC_U8, 4, (int[]){200, 127, 3, 255}, 0xC, (int[]){200, 255}, diag);
    check_pruned("e4m3's NaN", MC_E4M3, 4, (int[]){0x7e, 0x7d, 0xff, 0x80}, 0x8, (int[]){0x7e, 0xff}, diag);
    check_pruned("tf32's first", MC_TF32, 2, (int[]){1, 0}, 0x4, (int[]){1}, diag);
    check_pruned("tf32's second", MC_TF32, 2, (int[]){0, 0x3f800000}, 0xE, (int[]){0x3f800000}, diag);
    check_pruned("tf32 without", MC_TF32, 2, (int[]){0, 0}, 0x4, (int[]){0}, diag);
    check_pruned("tf32 alike", MC_F32, 2, (int[]){0x3f800000, 0x3f800000}, 0x4, (int[]){0x3f800000}, diag);
    check_pruned("pairs", MC_S4, 8, (int[]){0, 0, 0, -3, 0, 0, 2, 1}, 0xD, (int[]){0, -3, 2, 1}, diag);
    check_pruned("pairs by their sums", MC_S4, 8, (int[]){5, 0, 3, 3, 1, 4, 1, -8}, 0xD, (int[]){3, 3, 1, -8},
                 diag);
}

/* -- What is refused */

static void test_strict(mc_diag *diag) {
    mc_sparse24 s;
    mc_dense a = dense_of(MC_S8, 6, 20, diag), nine = dense_of(MC_U4, 1, 16, diag);
    for (int i = 0; i < 3; i++) mc_dense_set(&a, 4, 8 + i, 1), mc_dense_set(&a, 5, 16 + i, -1);
    expect_failure("full", mc_sparse24_compress(&a, MC_SPARSE24_STRICT, &s, diag), MC_FORMAT, diag,
                   "groups with more than 2 of 4 nonzero: 2, the first in row 4, group 2");
    CHECK(s.values.data == NULL && s.meta.data == NULL, "nothing is left");
    for (int i = 0; i < 3; i++) mc_dense_set(&nine, 0, 9 + 2 * i, 1);
    expect_failure("pairs", mc_sparse24_compress(&nine, MC_SPARSE24_STRICT, &s, diag), MC_FORMAT, diag,
                   "groups with more than 2 of 4 pairs nonzero: 1, the first in row 0, group 1");
    a.type = MC_S16, a.cols = 8;
    expect_failure("type", mc_sparse24_compress(&a, MC_SPARSE24_STRICT, &s, diag), MC_CANNOT, diag,
                   "s16: sparse tensor cores have");
    a.type = MC_S8, a.rows = (int64_t)1 << 40, a.cols = 0;
    expect_failure("size", mc_sparse24_compress(&a, MC_SPARSE24_STRICT, &s, diag), MC_CANNOT, diag,
                   "at most");
    mc_dense_free(&a);
    mc_dense_free(&nine);
}

static void test_codes(mc_diag *diag) {
    for (int t = 0; t < 2; t++)
        for (int code = 0; code < 16; code++) {
            mc_dense a = random_matrix(t ? MC_TF32 : MC_F16, 3, t ? 6 : 12, 1, diag), back;
            mc_sparse24 s;
            mc_sparse24_rule rule;
            expect_ok("rule", mc_sparse24_rule_of(a.type, &rule, diag), diag);
            expect_ok("compress", mc_sparse24_compress(&a, MC_SPARSE24_STRICT, &s, diag), diag);
            nibble_set(s.meta.data, 1 * 4 + 2, code);
            mc_status status = mc_sparse24_decompress(&s, &back, diag);
            CHECK(status == (is_legal(&rule, code) ? MC_OK : MC_FORMAT), "code %X: %s", (unsigned)code,
                  mc_diag_text(diag));
            if (code == 5)
                CHECK_TEXT(mc_diag_text(diag), t ? "metadata of row 1, group 2 are 5, must be 4 or E"
                                                 : "row 1, group 2 are 5, must be 4, 8, 9, C, D or E");
            mc_diag_clear(diag);
            mc_dense_free(&back);
            mc_sparse24_free(&s);
            mc_dense_free(&a);
        }
}

/* Codes without a meaning are mended where a group has no nonzero, and only there. */
static void test_mend(mc_diag *diag) {
    mc_dense a = row_of(MC_F16, 16, (int[16]){0, ONE, 0, 0, 0, 0, 0, 0, MINUS, 0, 0, 0, 0, 0, 0, TWO}, diag),
             back;
    mc_sparse24 s;
    int64_t mended;
    expect_ok("compress", mc_sparse24_compress(&a, MC_SPARSE24_STRICT, &s, diag), diag);
    nibble_set(s.meta.data, 1, 0), nibble_set(s.meta.data, 2, 5);
    expect_ok("mend", mc_sparse24_mend(&s, &mended, diag), diag);
    expect_ok("decompress", mc_sparse24_decompress(&s, &back, diag), diag);
    CHECK(mended == 2 && same(&a, &back), "%lld", (long long)mended);
    mc_dense_free(&back);
    nibble_set(s.meta.data, 3, 0);
    expect_ok("mend", mc_sparse24_mend(&s, &mended, diag), diag);
    CHECK(mended == 0, "%lld", (long long)mended);
    expect_failure("decompress", mc_sparse24_decompress(&s, &back, diag), MC_FORMAT, diag, "group 3 are 0");
    s.cols = 20;
    expect_failure("size", mc_sparse24_mend(&s, &mended, diag), MC_FORMAT, diag, "must be 1 x 10");
    mc_sparse24_free(&s);
    mc_dense_free(&a);
}

static void test_sizes(mc_diag *diag) {
    mc_dense a = random_matrix(MC_S8, 3, 16, 1, diag), back, meta;
    mc_meta_layout layout;
    mc_sparse24 s, broken;
    expect_ok("compress", mc_sparse24_compress(&a, MC_SPARSE24_STRICT, &s, diag), diag);
    broken = s, broken.cols = 17;
    expect_failure("cols", mc_sparse24_decompress(&broken, &back, diag), MC_FORMAT, diag,
                   "values are 3 x 8, must be 3 x 10");
    broken = s, broken.rows = -1;
    expect_failure("rows", mc_sparse24_decompress(&broken, &back, diag), MC_FORMAT, diag, "-1 x 16 elements");
    broken = s, broken.meta.cols = 1;
    expect_failure("meta", mc_sparse24_decompress(&broken, &back, diag), MC_FORMAT, diag,
                   "metadata are 3 x 1, must be 3 x 2");
    broken = s, broken.meta.type = MC_S8;
    expect_failure("meta", mc_sparse24_decompress(&broken, &back, diag), MC_FORMAT, diag,
                   "metadata are s8, must be u8");
    broken = s, broken.values.type = MC_S16;
    expect_failure("type", mc_sparse24_decompress(&broken, &back, diag), MC_CANNOT, diag, "s16: sparse");
    broken = s, broken.cols = 13;
    nibble_set(s.meta.data, 3, 0xE), mc_dense_set(&s.values, 0, 6, 1);
    expect_failure("beyond", mc_sparse24_decompress(&broken, &back, diag), MC_FORMAT, diag,
                   "row 0, group 3 have a nonzero beyond the last of 13 columns");
    expect_ok("layout", mc_meta_layout_named("cutlass-sm80", MC_S8, 0, &layout, diag), diag);
    expect_ok("export", mc_meta_export(&s, &layout, &meta, diag), diag);
    CHECK(meta.type == MC_S32 && meta.rows == 16 && meta.cols == 2, "padded");
    meta.rows = 15;
    expect_failure("size", mc_meta_import(&meta, &layout, &s, diag), MC_FORMAT, diag,
                   "metadata are 15 x 2 words, must be 16 x 2");
    meta.rows = 16, meta.type = MC_F32;
    expect_failure("type", mc_meta_import(&meta, &layout, &s, diag), MC_FORMAT, diag,
                   "metadata are f32, must be integers of 32 bits");
    CHECK(s.meta.rows == 3 && s.meta.cols == 2, "as before");
    mc_meta_layout_free(&layout);
    mc_dense_free(&meta);
    mc_sparse24_free(&s);
    mc_dense_free(&a);
}

/* Metadata of random bits are read or refused. */
static void test_hostile(mc_diag *diag) {
    mcrt_random random = random_start(5, 5);
    for (int round = 0; round < 500; round++) {
        mc_dense a = random_matrix(types[round % TYPES], 1 + round % 5, 1 + round % 23, 1, diag), back;
        mc_sparse24 s;
        expect_ok("compress", mc_sparse24_compress(&a, MC_SPARSE24_STRICT, &s, diag), diag);
        for (int64_t i = 0; i < s.meta.rows * s.meta.cols; i++)
            ((uint8_t *)s.meta.data)[i] = (uint8_t)random_next(&random);
        mc_status status = mc_sparse24_decompress(&s, &back, diag);
        CHECK(status == MC_OK || (status == MC_FORMAT && back.data == NULL && mc_diag_count(diag) == 1),
              "one message: %s", mc_diag_text(diag));
        mc_diag_clear(diag);
        mc_dense_free(&back);
        mc_sparse24_free(&s);
        mc_dense_free(&a);
    }
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_round_trips(diag);
    test_groups(diag);
    test_other_types(diag);
    test_strict(diag);
    test_codes(diag);
    test_mend(diag);
    test_sizes(diag);
    test_hostile(diag);
    mc_diag_destroy(diag);
    return check_end();
}
