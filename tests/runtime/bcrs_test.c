/* BCRS: bytes worked out by hand, round trips, arrays that no matrix gives, values in place. */
#include "scratch.h"

static const mc_type types[] = {MC_S4,  MC_U4,  MC_S8,  MC_U8,   MC_S12,  MC_U12,
                                MC_S16, MC_U16, MC_F16, MC_BF16, MC_E4M3, MC_E5M2};
enum { TYPES = sizeof types / sizeof types[0] };

/* Row block 0: vectors at columns 2 and 5; row block 1: none; row block 2: one at column 0. */
static mc_vsparse make_matrix(mc_type type, int vec, const int *values, mc_diag *diag) {
    int64_t row_ptr[] = {0, 2, 2, 3};
    int32_t col_idx[] = {2, 5, 0};
    const mc_csr csr = {3, 6, 3, row_ptr, col_idx, MC_CSR_PATTERN, NULL, 0};
    mc_vsparse a;
    expect_ok("dilate", mc_vsparse_dilate(&csr, vec, type, &a, diag), diag);
    for (int i = 0; i < 3 * vec; i++) mc_vsparse_set_value(&a, i / vec, i % vec, values[i]);
    return a;
}

static void check_array(const mc_packed *packed, const char *name, const void *want, size_t bytes) {
    const mc_packed_array *array = mc_packed_find(packed, name);
    size_t size = array ? (size_t)mc_type_size(array->type, array->count) : 0;
    CHECK(array && size == bytes && memcmp(array->data, want, bytes) == 0, "%s, %zu bytes", name, size);
}

static const struct {
    mc_type type;
    int vec, values[6];
    size_t size;
    uint8_t bytes[12];
} written_out[] = {
    {MC_S8, 2, {1, -2, 3, -128, 127, 0}, 6, {0x01, 0xfe, 0x03, 0x80, 0x7f, 0x00}},
    {MC_U8, 2, {200, 1, 0, 255, 2, 3}, 6, {0xc8, 0x01, 0x00, 0xff, 0x02, 0x03}},
    {MC_S4, 2, {1, -2, 7, -8, 0, 5}, 3, {0xe1, 0x87, 0x50}},
    {MC_U4, 1, {9, 15, 3}, 2, {0xf9, 0x03}},
    {MC_S12, 2, {-2048, 2047, -1, 256, 1, 0}, 12, {0x00, 0xf8, 0xff, 0x07, 0xff, 0xff, 0x00, 0x01, 0x01}},
    {MC_U16, 1, {0xabcd, 0xffff, 0x0102}, 6, {0xcd, 0xab, 0xff, 0xff, 0x02, 0x01}},
    {MC_F16, 1, {0x3c00, 0x8001, 0xfc00}, 6, {0x00, 0x3c, 0x01, 0x80, 0x00, 0xfc}},
    {MC_E4M3, 2, {0x38, 0x7f, 0xff, 0, 1, 0x80}, 6, {0x38, 0x7f, 0xff, 0x00, 0x01, 0x80}},
};

static void test_bytes(mc_diag *diag) {
    static const int32_t row_ptr[] = {0, 2, 2, 3}, col_idx[] = {2, 5, 0};
    for (size_t i = 0; i < sizeof written_out / sizeof written_out[0]; i++) {
        mc_vsparse a = make_matrix(written_out[i].type, written_out[i].vec, written_out[i].values, diag);
        mc_packed packed;
        expect_ok("export", mc_bcrs_export(&a, &packed, diag), diag);
        check_array(&packed, "row_ptr", row_ptr, sizeof row_ptr);
        check_array(&packed, "col_idx", col_idx, sizeof col_idx);
        check_array(&packed, "values", written_out[i].bytes, written_out[i].size);
        check_array(&packed, "values", a.values, written_out[i].size);
        mc_packed_free(&packed);
        mc_vsparse_free(&a);
    }
}

static void check_round_trip(mc_type type, int vec, mc_diag *diag) {
    const mc_pattern pattern = {5, 60, .7, MC_PATTERN_REALISTIC, .9, 3};
    mc_csr csr;
    mc_vsparse a, back;
    mc_packed packed;
    expect_ok("generate", mc_csr_generate(&pattern, &csr, diag), diag);
    expect_ok("dilate", mc_vsparse_dilate(&csr, vec, type, &a, diag), diag);
    expect_ok("export", mc_bcrs_export(&a, &packed, diag), diag);
    mc_vsparse_fill(&a, MC_VALUES_EXTREME, 4, NULL);
    expect_ok("values", mc_bcrs_export_values(&a, &packed, diag), diag);
    expect_ok("import", mc_bcrs_import(&packed, type, vec, a.rows, a.cols, &back, diag), diag);
    CHECK(back.row_ptr && same_vsparse(&a, &back), "%s, vec %d", mc_type_text(type), vec);
    a.col_idx[a.vectors - 1]++;
    expect_failure("values", mc_bcrs_export_values(&a, &packed, diag), MC_FORMAT, diag,
                   "packed for another pattern: col_idx[");
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
    mc_vsparse_free(&back);
    mc_csr_free(&csr);
}

static const struct {
    mc_type type;
    const char *array;
    int index, value;
    const char *message;
} damages[] = {
    {MC_S8, "row_ptr", 0, 1, "row_ptr[0] is 1, must be 0"},
    {MC_S8, "row_ptr", 1, -1, "row_ptr[1] is -1, below the one before, 0"},
    {MC_S8, "row_ptr", 2, 1, "row_ptr[2] is 1, below the one before, 2"},
    {MC_S8, "row_ptr", 3, 4, "col_idx has 3 elements, must have 4"},
    {MC_S8, "row_ptr", 3, INT32_MAX, "col_idx has 3 elements, must have 2147483647"},
    {MC_S8, "col_idx", 1, 6, "slot 1 of row block 0 has column 6 of 6"},
    {MC_S8, "col_idx", 2, -1, "slot 0 of row block 2 has column -1 of 6"},
    {MC_S8, "col_idx", 1, 2, "slot 1 of row block 0 has column 2 after column 2"},
    {MC_S12, "values", 1, 8, "slot 0 holds 2048, out of s12's range"},
    {MC_U12, "values", 11, 16, "slot 2 holds 4096, out of u12's range"},
};

static void test_damaged(mc_diag *diag) {
    static const int zeros[6];
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        mc_vsparse a = make_matrix(damages[i].type, 2, zeros, diag), back;
        mc_packed packed;
        expect_ok("export", mc_bcrs_export(&a, &packed, diag), diag);
        const mc_packed_array *array = mc_packed_find(&packed, damages[i].array);
        if (array->type == MC_S8) ((uint8_t *)array->data)[damages[i].index] = (uint8_t)damages[i].value;
        else ((int32_t *)array->data)[damages[i].index] = damages[i].value;
        expect_failure(damages[i].message, mc_bcrs_import(&packed, a.type, 2, 6, 6, &back, diag), MC_FORMAT,
                       diag, damages[i].message);
        CHECK(!back.values && back.vectors == 0, "the output is not zeroed");
        mc_packed_free(&packed);
        mc_vsparse_free(&a);
    }
}

/* Three u4 values: the second half of the second byte is none of them. */
static void test_half_byte(mc_diag *diag) {
    static const int values[] = {9, 15, 3};
    mc_packed packed;
    mc_vsparse a = make_matrix(MC_U4, 1, values, diag), back;
    expect_ok("export", mc_bcrs_export(&a, &packed, diag), diag);
    ((uint8_t *)mc_packed_find(&packed, "values")->data)[1] = 0x13;
    expect_failure("half", mc_bcrs_import(&packed, MC_U4, 1, 3, 6, &back, diag), MC_FORMAT, diag,
                   "values[1] ends in half a byte that belongs to no value and must be 0");
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
}

static void test_refused(mc_diag *diag) {
    static const int zeros[6];
    mc_packed packed;
    mc_vsparse a = make_matrix(MC_S8, 2, zeros, diag), back;
    expect_ok("export", mc_bcrs_export(&a, &packed, diag), diag);
    expect_failure("rows", mc_bcrs_import(&packed, MC_S8, 2, 5, 6, &back, diag), MC_USAGE, diag,
                   "5 rows are no row blocks of 2");
    expect_failure("rows", mc_bcrs_import(&packed, MC_S8, 2, 8, 6, &back, diag), MC_FORMAT, diag,
                   "row_ptr has 4 elements, must have 5");
    expect_failure("type", mc_bcrs_import(&packed, MC_S16, 2, 6, 6, &back, diag), MC_FORMAT, diag,
                   "values has 6 elements, must have 12");
    expect_failure("type", mc_bcrs_import(&packed, MC_F16, 2, 6, 6, &back, diag), MC_FORMAT, diag,
                   "values has 6 elements, must have 12");
    mc_packed_free(&packed);
    a.type = MC_S32;
    expect_failure("type", mc_bcrs_export(&a, &packed, diag), MC_CANNOT, diag, "the matrix s32");
    a.type = MC_S8;
    mc_vsparse_free(&a);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_bytes(diag);
    for (int t = 0; t < TYPES; t++)
        for (int vec = 1; vec <= 16; vec++) check_round_trip(types[t], vec, diag);
    test_damaged(diag);
    test_half_byte(diag);
    test_refused(diag);
    mc_diag_destroy(diag);
    return check_end();
}
