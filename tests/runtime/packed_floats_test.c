/* Packed floats: where strided-bcrs puts them, that all bits survive, which formats refuse them. windowed_test.c decodes
   those of windowed-bcrs. */
#include "parts/fragment.h"
#include "scratch.h"

static const mc_type types[] = {MC_F16, MC_BF16};
static const mc_strided forms[] = {
    {.stride = 32}, {.stride = 32, .heads = 1}, {.stride = 64, .heads = 2}, {.stride = 96, .heads = 3}};
enum { TYPES = sizeof types / sizeof *types, FORMS = sizeof forms / sizeof *forms };

/* Row blocks of 70, 0, 1 and 40 vectors. The values go through all that 16 bits can be: NaNs with any payload,
   infinities, both zeros, subnormal numbers. */
static mc_vsparse make_matrix(mc_type type, int vec, int64_t first, mc_diag *diag) {
    static int64_t row_ptr[] = {0, 70, 70, 71, 111};
    static int32_t col_idx[111];
    for (int v = 0; v < 111; v++) col_idx[v] = v < 70 ? v : v < 71 ? 5 : v - 71;
    const mc_csr csr = {.rows = 4, .cols = 70, .nnz = 111, .row_ptr = row_ptr, .col_idx = col_idx};
    mc_vsparse a;
    expect_ok("dilate", mc_vsparse_dilate(&csr, vec, type, &a, diag), diag);
    for (int64_t i = 0; i < a.vectors * vec; i++)
        mc_vsparse_set_value(&a, i / vec, (int)(i % vec), (first + i * 73) & 0xffff);
    return a;
}

/* A lane's eight elements of a group of 32 slots are 16 bytes: slots 8 t to 8 t + 7 of row g. */
static void test_lanes(mc_diag *diag) {
    mc_vsparse a = make_matrix(MC_F16, 8, 1, diag);
    mc_packed packed;
    expect_ok("pack", mc_strided_pack(&a, &forms[2], &packed, diag), diag);
    const mc_packed_array *array = mc_packed_find(&packed, "values");
    const uint8_t *bytes = array->data;
    CHECK(array->type == MC_S8 && array->count == 2 * 8 * mc_packed_find(&packed, "col_idx")->count,
          "%lld bytes", (long long)array->count);
    int wrong = 0;
    for (int element = 0; element < 512; element++) { /* of the first stride */
        int group = element / 256, lane = element % 256 / 8;
        int slot = 32 * group + 8 * frag_thread(lane) + element % 8;
        int got = bytes[2 * element] | bytes[2 * element + 1] << 8;
        wrong += got != mc_vsparse_value(&a, slot, frag_group(lane));
    }
    CHECK(wrong == 0, "%d elements wrong", wrong);
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
}

static void check_round_trip(mc_type type, int vec, const mc_strided *form, int64_t first, mc_diag *diag) {
    mc_vsparse a = make_matrix(type, vec, first, diag), other = make_matrix(type, vec, first + 77, diag),
               back;
    mc_packed packed;
    expect_ok("pack", mc_strided_pack(&a, form, &packed, diag), diag);
    expect_ok("unpack", mc_strided_unpack(&packed, type, vec, form, a.rows, a.cols, &back, diag), diag);
    CHECK(back.row_ptr && same_vsparse(&a, &back), "%s, vec %d, stride %d", mc_type_text(type), vec,
          form->stride);
    mc_vsparse_free(&back);
    expect_ok("values", mc_strided_pack_values(&other, form, &packed, diag), diag);
    expect_ok("unpack", mc_strided_unpack(&packed, type, vec, form, a.rows, a.cols, &back, diag), diag);
    CHECK(back.row_ptr && same_vsparse(&other, &back), "%s, vec %d: new values", mc_type_text(type), vec);
    mc_vsparse_free(&back);
    mc_packed_free(&packed);
    mc_vsparse_free(&other);
    mc_vsparse_free(&a);
}

static void test_round_trips(mc_diag *diag) {
    for (int t = 0; t < TYPES; t++)
        for (int f = 0; f < FORMS; f++)
            for (int vec = 1; vec <= 16; vec *= 2)
                for (int64_t first = 0; first < 0x10000; first += 0x1555)
                    check_round_trip(types[t], vec, &forms[f], first, diag);
}

/* Padding is 0 in all bits: -0 in it is no matrix's. */
static void test_padding(mc_diag *diag) {
    mc_vsparse a = make_matrix(MC_F16, 2, 1, diag), back;
    mc_packed packed;
    expect_ok("pack", mc_strided_pack(&a, &forms[1], &packed, diag), diag);
    int64_t slots = mc_packed_find(&packed, "col_idx")->count;
    uint16_t *values = mc_packed_find(&packed, "values")->data;
    const int32_t *col_idx = mc_packed_find(&packed, "col_idx")->data;
    for (int64_t slot = 0; slot < slots; slot++)
        for (int r = 0; r < 2; r++)
            if (col_idx[slot] == -1)
                CHECK(values[slot / 32 * 64 + 32 * r + slot % 32] == 0, "slot %lld", (long long)slot);
    values[31 + 32 * 2] = 0x8000; /* row block 1, which is empty */
    expect_failure("-0", mc_strided_unpack(&packed, MC_F16, 2, &forms[1], a.rows, a.cols, &back, diag),
                   MC_FORMAT, diag, "row block 1: padding slot 63 must have index -1 and values 0");
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
}

static void test_refused(mc_diag *diag) {
    static const mc_strided int4 = {.stride = 64, .heads = 1, .int4 = true},
                            balanced = {.stride = 32, .heads = 1, .coding = 1};
    static const mc_srbcrs bytes = {.k = 32, .piece_bits = 8};
    mc_packed packed;
    for (int t = 0; t < TYPES; t++) {
        mc_vsparse a = make_matrix(types[t], 4, 1, diag);
        expect_failure("int4", mc_strided_pack(&a, &int4, &packed, diag), MC_CANNOT, diag,
                       "the packed format holds integers of at most 16 bits");
        expect_failure("digits", mc_strided_pack(&a, &balanced, &packed, diag), MC_CANNOT, diag,
                       "the packed format holds integers");
        expect_failure("sr-bcrs", mc_srbcrs_export(&a, &bytes, &packed, diag), MC_CANNOT, diag,
                       "the packed format holds integers");
        mc_vsparse_free(&a);
    }
    mc_vsparse a = make_matrix(MC_F16, 17, 1, diag);
    expect_failure("vec", mc_strided_pack(&a, &forms[0], &packed, diag), MC_CANNOT, diag,
                   "vectors of 1 to 16 elements, the matrix 17");
    mc_vsparse_free(&a);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_lanes(diag);
    test_round_trips(diag);
    test_padding(diag);
    test_refused(diag);
    mc_diag_destroy(diag);
    return check_end();
}
