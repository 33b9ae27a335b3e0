/* strided-bcrs-int4, read as a kernel reads it: the nibbles of each digit's plane make the values again, in their plain order
   inside each 8 slots, and with the shuffle the indices lie where two registers of bytes leave them when they are joined. */
#include "scratch.h"

static const mc_type types[] = {MC_S4, MC_U4, MC_S8, MC_U8, MC_S12, MC_U12, MC_S16, MC_U16};
static const int vecs[] = {1, 2, 4, 8}, strides[] = {32, 64};
enum { TYPES = sizeof types / sizeof types[0], VECS = sizeof vecs / sizeof vecs[0] };

static void make_matrix(mc_type type, int vec, mc_vsparse *a, mc_diag *diag) {
    const mc_pattern pattern = {5, 170, .6, MC_PATTERN_REALISTIC, .5, 3};
    mc_csr csr;
    expect_ok("generate", mc_csr_generate(&pattern, &csr, diag), diag);
    expect_ok("dilate", mc_vsparse_dilate(&csr, vec, type, a, diag), diag);
    mc_vsparse_fill(a, MC_VALUES_EXTREME, 1, NULL);
    mc_csr_free(&csr);
}

/* Rows 0 to vec - 1 of each digit in turn, STRIDE nibbles each: those of slots 8 t to 8 t + 7, of a stride of 64 with 32 + 8 t to
   32 + 8 t + 7 behind them, for each t. */
static int64_t read_value(const uint8_t *values, mc_type type, int vec, int stride, int slot, int row) {
    int digits = mc_type_bits(type) / 4, place = slot;
    int64_t value = 0;
    if (stride == 64) place = slot % 32 / 8 * 16 + slot / 32 * 8 + slot % 8;
    for (int d = 0; d < digits; d++) {
        int byte = values[((d * vec + row) * stride + place) / 2];
        value += (int64_t)(slot % 2 ? byte >> 4 : byte & 15) << 4 * d;
    }
    bool negative = mc_type_min(type) < 0 && value >> (4 * digits - 1);
    return negative ? value - ((int64_t)1 << 4 * digits) : value;
}

/* Byte i of two registers is of the i-th and of the (4 + i)-th row that was loaded; of each nibble of their join, the slot
   whose index was loaded there. */
static int index_of(int slot, bool shuffle) {
    static const int loaded[] = {0, 4, 1, 5, 2, 6, 3, 7};
    return shuffle ? slot / 8 * 8 + loaded[slot % 8] : slot;
}

static int64_t slot_of(const mc_packed *packed, int64_t block, int64_t vector, const mc_strided *form) {
    const int32_t *row_ptr = mc_packed_find(packed, "row_ptr")->data;
    int64_t heads = (int64_t)form->heads * form->stride;
    return vector < heads ? block * heads + vector : (int64_t)row_ptr[block] * form->stride + vector - heads;
}

static void check_vectors(const mc_vsparse *a, const mc_packed *packed, const mc_strided *form) {
    const mc_packed_array *values = mc_packed_find(packed, "values"),
                          *col = mc_packed_find(packed, "col_idx");
    const int32_t *col_idx = col->data;
    int stride_bytes = mc_type_bits(a->type) / 4 * a->vec * form->stride / 2, wrong = 0, misplaced = 0;
    CHECK(values->type == MC_S8 && values->count == col->count / form->stride * stride_bytes, "%lld values",
          (long long)values->count);
    for (int64_t block = 0; block < a->row_blocks; block++)
        for (int64_t v = a->row_ptr[block]; v < a->row_ptr[block + 1]; v++) {
            int64_t slot = slot_of(packed, block, v - a->row_ptr[block], form), stride = slot / form->stride;
            int place = (int)(slot % form->stride);
            const uint8_t *at = (const uint8_t *)values->data + stride * stride_bytes;
            misplaced += col_idx[stride * form->stride + index_of(place, form->shuffle)] != a->col_idx[v];
            for (int r = 0; r < a->vec; r++)
                wrong += read_value(at, a->type, a->vec, form->stride, place, r) != mc_vsparse_value(a, v, r);
        }
    CHECK(wrong == 0 && misplaced == 0, "%s, vec %d, stride %d, shuffle %d: %d values, %d indices wrong",
          mc_type_text(a->type), a->vec, form->stride, form->shuffle, wrong, misplaced);
}

static void check_packing(mc_type type, int vec, const mc_strided *form, mc_diag *diag) {
    mc_vsparse a, back;
    mc_packed packed;
    make_matrix(type, vec, &a, diag);
    expect_ok("pack", mc_strided_pack(&a, form, &packed, diag), diag);
    check_vectors(&a, &packed, form);
    expect_ok("unpack", mc_strided_unpack(&packed, type, vec, form, a.rows, a.cols, &back, diag), diag);
    CHECK(back.row_ptr && same_vsparse(&a, &back), "%s, vec %d: another matrix", mc_type_text(type), vec);
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
    mc_vsparse_free(&back);
}

/* A nibble of padding that is not 0, and an index that is none of A's. */
static void test_broken(mc_diag *diag) {
    const mc_strided form = {.stride = 64, .heads = 1, .int4 = true, .shuffle = true};
    int64_t row_ptr[] = {0, 1};
    int32_t col_idx[] = {0};
    const mc_csr csr = {1, 1, 1, row_ptr, col_idx, MC_CSR_PATTERN, NULL, 0};
    mc_vsparse a, back;
    mc_packed packed;
    expect_ok("dilate", mc_vsparse_dilate(&csr, 2, MC_S4, &a, diag), diag);
    expect_ok("pack", mc_strided_pack(&a, &form, &packed, diag), diag);
    uint8_t *values = mc_packed_find(&packed, "values")->data;
    values[0] |= 0x10;
    expect_failure("unpack", mc_strided_unpack(&packed, MC_S4, 2, &form, 2, 1, &back, diag), MC_FORMAT, diag,
                   "padding slot 1 must have index -1 and values 0");
    values[0] &= 15;
    int32_t *index = mc_packed_find(&packed, "col_idx")->data;
    index[4] = 0; /* slot 1's */
    expect_failure("unpack", mc_strided_unpack(&packed, MC_S4, 2, &form, 2, 1, &back, diag), MC_FORMAT, diag,
                   "column 0 after column 0");
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    for (int t = 0; t < TYPES; t++)
        for (int v = 0; v < VECS; v++)
            for (int s = 0; s < 2; s++)
                for (int shuffle = 0; shuffle < 2; shuffle++) {
                    const mc_strided form = {
                        .stride = strides[s], .heads = 1 + s, .int4 = true, .shuffle = shuffle != 0};
                    check_packing(types[t], vecs[v], &form, diag);
                }
    test_broken(diag);
    mc_diag_destroy(diag);
    return check_end();
}
