/* strided-bcrs of every value type: the digit planes, read as a kernel reads them, make the values again. */
#include "fragment.h"
#include "scratch.h"

static const mc_type types[] = {MC_S4, MC_U4, MC_S8, MC_U8, MC_S12, MC_U12, MC_S16, MC_U16};
static const int vecs[] = {1, 2, 4, 8};
enum { TYPES = sizeof types / sizeof types[0], VECS = sizeof vecs / sizeof vecs[0] };

static void make_matrix(mc_type type, int vec, mc_value_law law, mc_vsparse *a, mc_diag *diag) {
    const mc_pattern pattern = {5, 170, .6, MC_PATTERN_REALISTIC, .5, 3};
    mc_csr csr;
    expect_ok("generate", mc_csr_generate(&pattern, &csr, diag), diag);
    expect_ok("dilate", mc_vsparse_dilate(&csr, vec, type, a, diag), diag);
    mc_vsparse_fill(a, law, 1, NULL);
    mc_csr_free(&csr);
}

/* The value in a group of 32 slots: planes of VEC rows of 32 bytes, a slot's byte where a lane's registers have it. */
static int64_t read_value(const uint8_t *group, mc_type type, int vec, int slot, int row) {
    const uint8_t *at = group + 32 * row + 8 * (slot / 8) + slot % 8;
    bool has_sign = mc_type_min(type) < 0;
    if (mc_type_bits(type) <= 8) return has_sign ? (int8_t)*at : *at;
    int high = has_sign ? (int8_t)at[32 * vec] : at[32 * vec];
    return *at + 256 * high;
}

static int64_t slot_of(const mc_packed *packed, int64_t block, int64_t vector, const mc_strided *form) {
    const int32_t *row_ptr = mc_packed_find(packed, "row_ptr")->data;
    int64_t heads = (int64_t)form->heads * form->stride;
    return vector < heads ? block * heads + vector : (int64_t)row_ptr[block] * form->stride + vector - heads;
}

static void check_values(const mc_vsparse *a, const mc_packed *packed, const mc_strided *form) {
    const mc_packed_array *values = mc_packed_find(packed, "values");
    int planes = mc_type_bits(a->type) <= 8 ? 1 : 2, group_bytes = planes * a->vec * 32;
    int64_t slots = mc_packed_find(packed, "col_idx")->count, wrong = 0;
    CHECK(values->type == MC_S8 && values->count == slots * planes * a->vec, "%lld values",
          (long long)values->count);
    for (int64_t block = 0; block < a->row_blocks; block++)
        for (int64_t v = a->row_ptr[block]; v < a->row_ptr[block + 1]; v++)
            for (int r = 0; r < a->vec; r++) {
                int64_t slot = slot_of(packed, block, v - a->row_ptr[block], form);
                const uint8_t *group = (const uint8_t *)values->data + slot / 32 * group_bytes;
                wrong += read_value(group, a->type, a->vec, (int)(slot % 32), r) != mc_vsparse_value(a, v, r);
            }
    CHECK(wrong == 0, "%s, vec %d: %lld values wrong", mc_type_text(a->type), a->vec, (long long)wrong);
}

static void check_packing(mc_type type, int vec, const mc_strided *form, mc_value_law law, mc_diag *diag) {
    mc_vsparse a, back;
    mc_packed packed;
    make_matrix(type, vec, law, &a, diag);
    expect_ok("pack", mc_strided_pack(&a, form, &packed, diag), diag);
    check_values(&a, &packed, form);
    expect_ok("unpack", mc_strided_unpack(&packed, type, vec, form, a.rows, a.cols, &back, diag), diag);
    CHECK(back.row_ptr && same_vsparse(&a, &back), "%s, vec %d: another matrix", mc_type_text(type), vec);
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
    mc_vsparse_free(&back);
}

static void test_packing(mc_diag *diag) {
    static const mc_strided forms[] = {{32, 1}, {64, 2}};
    for (int t = 0; t < TYPES; t++)
        for (int v = 0; v < VECS; v++)
            for (int f = 0; f < 2; f++) {
                check_packing(types[t], vecs[v], &forms[f], MC_VALUES_FULL, diag);
                check_packing(types[t], vecs[v], &forms[f], MC_VALUES_EXTREME, diag);
            }
}

/* A byte that no value of the type has. */
static void test_out_of_range(mc_diag *diag) {
    static const struct {
        mc_type type;
        int plane, byte;
        const char *message;
    } cases[] = {{MC_S4, 0, 8, "slot 0 holds 8, out of s4's range"},
                 {MC_U4, 0, 16, "slot 0 holds 16, out of u4's range"},
                 {MC_S12, 1, 8, "out of s12's range"},
                 {MC_U12, 1, 16, "out of u12's range"}};
    const mc_strided form = {32, 1};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mc_vsparse a, back;
        mc_packed packed;
        make_matrix(cases[i].type, 2, MC_VALUES_FULL, &a, diag);
        expect_ok("pack", mc_strided_pack(&a, &form, &packed, diag), diag);
        ((uint8_t *)mc_packed_find(&packed, "values")->data)[64 * cases[i].plane] = (uint8_t)cases[i].byte;
        expect_failure("unpack", mc_strided_unpack(&packed, a.type, 2, &form, a.rows, a.cols, &back, diag),
                       MC_FORMAT, diag, cases[i].message);
        CHECK(!back.values, "the output is not zeroed");
        mc_packed_free(&packed);
        mc_vsparse_free(&a);
    }
}

/* Padding is zero in both planes. */
static void test_padding(mc_diag *diag) {
    const mc_strided form = {32, 1};
    int64_t row_ptr[] = {0, 1};
    int32_t col_idx[] = {0};
    const mc_csr csr = {1, 1, 1, row_ptr, col_idx};
    mc_vsparse a, back;
    mc_packed packed;
    expect_ok("dilate", mc_vsparse_dilate(&csr, 2, MC_S16, &a, diag), diag);
    expect_ok("pack", mc_strided_pack(&a, &form, &packed, diag), diag);
    ((uint8_t *)mc_packed_find(&packed, "values")->data)[64 + 32 + 31] = 1;
    expect_failure("unpack", mc_strided_unpack(&packed, MC_S16, 2, &form, 2, 1, &back, diag), MC_FORMAT, diag,
                   "padding slot 31 must have index -1 and values 0");
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
}

/* The order of bytes above is the fragment's. */
static void test_order(void) {
    for (int row = 0; row < 8; row++)
        for (int slot = 0; slot < 32; slot++)
            CHECK(slot_value_offset(row, slot) == 32 * row + 8 * (slot / 8) + slot % 8, "row %d, slot %d",
                  row, slot);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_order();
    test_packing(diag);
    test_out_of_range(diag);
    test_padding(diag);
    mc_diag_destroy(diag);
    return check_end();
}
