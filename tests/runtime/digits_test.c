/* strided-bcrs of every value type: the digit planes, read as a kernel reads them, make the values again. */
#include "mcrt_internal.h"
#include "arithmetic/integer/digit.h"
#include "parts/fragment.h"
#include "scratch.h"

static const mc_type types[] = {MC_S4, MC_U4, MC_S8, MC_U8, MC_S12, MC_U12, MC_S16, MC_U16};
static const int vecs[] = {1, 2, 4, 8, 16};
enum { TYPES = sizeof types / sizeof types[0], VECS = sizeof vecs / sizeof vecs[0] };

static const char *const mode_names[] = {"top-signed", "balanced", "offset"};

static bool has_mode(mc_type type, mc_digits mode) {
    return mode == MC_DIGITS_TOP_SIGNED || (mc_type_min(type) < 0 && mc_type_bits(type) > 8);
}

static void make_matrix(mc_type type, int vec, mc_value_law law, mc_vsparse *a, mc_diag *diag) {
    const mc_pattern pattern = {5, 170, .6, MC_PATTERN_REALISTIC, .5, 3};
    mc_csr csr;
    expect_ok("generate", mc_csr_generate(&pattern, &csr, diag), diag);
    expect_ok("dilate", mc_vsparse_dilate(&csr, vec, type, a, diag), diag);
    mc_vsparse_fill(a, law, 1, NULL);
    mc_csr_free(&csr);
}

/* The value in a group of 32 slots: planes of VEC rows of 32 bytes, a slot's byte where a lane's registers have it. Offset
   digits: then a row of ones, each of which stands for 2^(W - 1). */
static int64_t read_value(const uint8_t *group, mc_type type, mc_digits mode, int vec, int slot, int row) {
    const uint8_t *at = group + 32 * row + 8 * (slot / 8) + slot % 8;
    bool has_sign = mc_type_min(type) < 0;
    if (mc_type_bits(type) <= 8) return has_sign ? (int8_t)*at : *at;
    int low = at[0], high = at[32 * vec];
    if (mode == MC_DIGITS_OFFSET) return low + 256 * high + at[32 * (2 * vec - row)] * mc_type_min(type);
    return (mode == MC_DIGITS_BALANCED ? (int8_t)low : low) + 256 * (has_sign ? (int8_t)high : high);
}

static int64_t slot_of(const mc_packed *packed, int64_t block, int64_t vector, const mc_strided *form) {
    const int32_t *row_ptr = mc_packed_find(packed, "row_ptr")->data;
    int64_t heads = (int64_t)form->heads * form->stride;
    return vector < heads ? block * heads + vector : (int64_t)row_ptr[block] * form->stride + vector - heads;
}

static void check_values(const mc_vsparse *a, const mc_packed *packed, const mc_strided *form) {
    const mc_packed_array *values = mc_packed_find(packed, "values");
    int planes = mc_type_bits(a->type) <= 8 ? 1 : 2;
    int rows = planes * a->vec + (form->coding == MC_DIGITS_OFFSET), group_bytes = rows * 32;
    int64_t slots = mc_packed_find(packed, "col_idx")->count, wrong = 0;
    CHECK(values->type == MC_S8 && values->count == slots * rows, "%lld values", (long long)values->count);
    for (int64_t block = 0; block < a->row_blocks; block++)
        for (int64_t v = a->row_ptr[block]; v < a->row_ptr[block + 1]; v++)
            for (int r = 0; r < a->vec; r++) {
                int64_t slot = slot_of(packed, block, v - a->row_ptr[block], form);
                const uint8_t *group = (const uint8_t *)values->data + slot / 32 * group_bytes;
                wrong += read_value(group, a->type, form->coding, a->vec, (int)(slot % 32), r) !=
                         mc_vsparse_value(a, v, r);
            }
    CHECK(wrong == 0, "%s, vec %d, %s: %lld values wrong", mc_type_text(a->type), a->vec,
          mode_names[form->coding], (long long)wrong);
}

/* Values put into what was packed of others are those that packing would make. */
static void check_replaced(const mc_vsparse *a, const mc_packed *packed, const mc_strided *form,
                           mc_diag *diag) {
    mc_vsparse other;
    mc_packed replaced;
    make_matrix(a->type, a->vec, MC_VALUES_ONES, &other, diag);
    expect_ok("pack", mc_strided_pack(&other, form, &replaced, diag), diag);
    expect_ok("replace", mc_strided_pack_values(a, form, &replaced, diag), diag);
    const mc_packed_array *got = mc_packed_find(&replaced, "values"),
                          *want = mc_packed_find(packed, "values");
    CHECK(got->count == want->count && memcmp(got->data, want->data, (size_t)want->count) == 0,
          "%s, vec %d, %s: values replaced are others", mc_type_text(a->type), a->vec,
          mode_names[form->coding]);
    mc_packed_free(&replaced);
    mc_vsparse_free(&other);
}

static void check_packing(mc_type type, int vec, const mc_strided *form, mc_value_law law, mc_diag *diag) {
    mc_vsparse a, back;
    mc_packed packed;
    make_matrix(type, vec, law, &a, diag);
    mc_vsparse_clamp(&a, mc_digits_most(form->coding, 8, type));
    expect_ok("pack", mc_strided_pack(&a, form, &packed, diag), diag);
    check_values(&a, &packed, form);
    check_replaced(&a, &packed, form, diag);
    expect_ok("unpack", mc_strided_unpack(&packed, type, vec, form, a.rows, a.cols, &back, diag), diag);
    CHECK(back.row_ptr && same_vsparse(&a, &back), "%s, vec %d, %s: another matrix", mc_type_text(type), vec,
          mode_names[form->coding]);
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
    mc_vsparse_free(&back);
}

static void test_packing(mc_diag *diag) {
    static const mc_strided forms[] = {{.stride = 32, .heads = 1, .coding = MC_DIGITS_TOP_SIGNED},
                                       {.stride = 64, .heads = 2, .coding = MC_DIGITS_TOP_SIGNED},
                                       {.stride = 32, .heads = 1, .coding = MC_DIGITS_BALANCED},
                                       {.stride = 64, .heads = 2, .coding = MC_DIGITS_BALANCED},
                                       {.stride = 32, .heads = 1, .coding = MC_DIGITS_OFFSET},
                                       {.stride = 64, .heads = 2, .coding = MC_DIGITS_OFFSET}};
    for (int t = 0; t < TYPES; t++)
        for (int v = 0; v < VECS; v++)
            for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
                if (!has_mode(types[t], forms[f].coding)) continue;
                check_packing(types[t], vecs[v], &forms[f], MC_VALUES_FULL, diag);
                check_packing(types[t], vecs[v], &forms[f], MC_VALUES_EXTREME, diag);
            }
}

/* -- Digits of a value -------------------------------------------------------------------------------- */

/* Every value up to the greatest has digits in their range, which make it again. */
static void check_code(mc_type type, mc_digits mode, int bits, int64_t most, mc_diag *diag) {
    digit_code code;
    int64_t wrong = 0;
    expect_ok("code", digit_code_make(type, mode, bits, &code, diag), diag);
    CHECK(digit_most(&code) == most, "%s, %s, %d bits: the greatest is %lld", mc_type_text(type),
          mode_names[mode], bits, (long long)digit_most(&code));
    for (int64_t value = mc_type_min(type); value <= most; value++) {
        int8_t digits[DIGIT_MAX];
        int64_t sum = 0;
        digit_split(&code, value, digits);
        for (int i = code.count - 1; i >= 0; i--) {
            bool top = i == code.count - 1;
            bool has_sign =
                mode == MC_DIGITS_BALANCED || (top && mode == MC_DIGITS_TOP_SIGNED && mc_type_min(type) < 0);
            int digit = has_sign ? digits[i] : (uint8_t)digits[i], half = 1 << (bits - 1);
            wrong += has_sign ? digit < -half || digit >= half : digit < 0 || digit >= 2 * half;
            sum = sum * 2 * half + digit;
        }
        wrong += sum - (mode == MC_DIGITS_OFFSET ? -mc_type_min(type) : 0) != value;
        wrong += digit_join(&code, digits) != value;
    }
    CHECK(wrong == 0, "%s, %s, %d bits: %lld digits or values wrong", mc_type_text(type), mode_names[mode],
          bits, (long long)wrong);
}

static void test_codes(mc_diag *diag) {
    static const struct {
        mc_type type;
        mc_digits mode;
        int bits;
        int64_t most;
    } codes[] = {
        {MC_S8, MC_DIGITS_TOP_SIGNED, 8, 127},    {MC_U16, MC_DIGITS_TOP_SIGNED, 8, 65535},
        {MC_S12, MC_DIGITS_TOP_SIGNED, 8, 2047},  {MC_S16, MC_DIGITS_TOP_SIGNED, 8, 32767},
        {MC_S12, MC_DIGITS_BALANCED, 8, 2047},    {MC_S16, MC_DIGITS_BALANCED, 8, 32639},
        {MC_S12, MC_DIGITS_OFFSET, 8, 2047},      {MC_S16, MC_DIGITS_OFFSET, 8, 32767},
        {MC_S8, MC_DIGITS_TOP_SIGNED, 4, 127},    {MC_U12, MC_DIGITS_TOP_SIGNED, 4, 4095},
        {MC_S16, MC_DIGITS_TOP_SIGNED, 4, 32767}, {MC_S8, MC_DIGITS_BALANCED, 4, 119},
        {MC_S12, MC_DIGITS_BALANCED, 4, 1911},    {MC_S16, MC_DIGITS_BALANCED, 4, 30583},
        {MC_S8, MC_DIGITS_OFFSET, 4, 127},        {MC_S12, MC_DIGITS_OFFSET, 4, 2047},
    };
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        check_code(codes[i].type, codes[i].mode, codes[i].bits, codes[i].most, diag);
    digit_code code;
    expect_failure("u16", digit_code_make(MC_U16, MC_DIGITS_BALANCED, 8, &code, diag), MC_CANNOT, diag,
                   "balanced digits are for signed values of several digits, the matrix holds u16");
    expect_failure("mode", digit_code_make(MC_S16, (mc_digits)3, 8, &code, diag), MC_USAGE, diag,
                   "no such digits: 3");
    expect_failure("s8", digit_code_make(MC_S8, MC_DIGITS_OFFSET, 8, &code, diag), MC_CANNOT, diag,
                   "offset digits are for signed values of several digits, the matrix holds s8");
}

/* -- Refused ------------------------------------------------------------------------------------------ */

/* The first value without balanced digits is named, in the order of row blocks; those up to the bound pack. */
static void test_beyond(mc_diag *diag) {
    const mc_strided form = {.stride = 32, .heads = 1, .coding = MC_DIGITS_BALANCED};
    static const struct {
        mc_type type;
        int bits;
        int64_t value;
        const char *message; /* NULL: packs */
    } cases[] = {
        {MC_S16, 8, 32639, NULL},
        {MC_S16, 8, 32640,
         "row 5, column 2: 32640 is beyond 32639, the greatest value with 2 balanced digits of 8 bits"},
        {MC_S16, 8, 32767, "row 5, column 2: 32767 is beyond 32639"},
        {MC_S16, 8, -32768, NULL},
        {MC_S12, 8, 2047, NULL},
        {MC_S12, 4, 1911, NULL},
        {MC_S12, 4, 1912, "1912 is beyond 1911, the greatest value with 3 balanced digits of 4 bits"},
        {MC_S12, 4, 2047, "2047 is beyond 1911"},
        {MC_S8, 4, 119, NULL},
        {MC_S8, 4, 120, "120 is beyond 119, the greatest value with 2 balanced digits of 4 bits"},
        {MC_S8, 4, 127, "127 is beyond 119"},
    };
    int64_t row_ptr[] = {0, 1, 3};
    int32_t col_idx[] = {1, 0, 2};
    const mc_csr csr = {2, 3, 3, row_ptr, col_idx, MC_CSR_PATTERN, NULL, 0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mc_vsparse a;
        mc_packed packed = {0};
        digit_code code;
        expect_ok("dilate", mc_vsparse_dilate(&csr, 4, cases[i].type, &a, diag), diag);
        mc_vsparse_set_value(&a, 2, 1, cases[i].value);
        mc_vsparse_set_value(&a, 2, 3, cases[i].value);
        expect_ok("code", digit_code_make(a.type, MC_DIGITS_BALANCED, cases[i].bits, &code, diag), diag);
        mc_status status =
            cases[i].bits == 8 ? mc_strided_pack(&a, &form, &packed, diag) : digit_check(&code, &a, diag);
        if (cases[i].message) expect_failure("pack", status, MC_CANNOT, diag, cases[i].message);
        else expect_ok("pack", status, diag);
        mc_packed_free(&packed);
        mc_vsparse_free(&a);
    }
}

/* A vector without its 1, padding with one, and digits of no value. */
static void test_ones(mc_diag *diag) {
    enum { VEC = 2, ONES = 32 * 2 * VEC };
    static const struct {
        int at, byte;
        const char *message;
    } cases[] = {{ONES, 0, "slot 0 holds a vector, but no 1 behind its digits"},
                 {ONES, 2, "slot 0 holds a vector, but no 1 behind its digits"},
                 {ONES + 31, 1, "padding slot 31 must have index -1 and values 0"},
                 {31, 1, "padding slot 31 must have index -1 and values 0"},
                 {32 * VEC, 16, "slot 0 holds 2048, out of s12's range"}};
    const mc_strided form = {.stride = 32, .heads = 1, .coding = MC_DIGITS_OFFSET};
    int64_t row_ptr[] = {0, 1};
    int32_t col_idx[] = {0};
    const mc_csr csr = {1, 1, 1, row_ptr, col_idx, MC_CSR_PATTERN, NULL, 0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mc_vsparse a, back;
        mc_packed packed;
        expect_ok("dilate", mc_vsparse_dilate(&csr, VEC, MC_S12, &a, diag), diag);
        mc_vsparse_set_value(&a, 0, 0, -2048);
        expect_ok("pack", mc_strided_pack(&a, &form, &packed, diag), diag);
        ((uint8_t *)mc_packed_find(&packed, "values")->data)[cases[i].at] = (uint8_t)cases[i].byte;
        expect_failure("unpack", mc_strided_unpack(&packed, MC_S12, VEC, &form, VEC, 1, &back, diag),
                       MC_FORMAT, diag, cases[i].message);
        mc_packed_free(&packed);
        mc_vsparse_free(&a);
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
    const mc_strided form = {.stride = 32, .heads = 1};
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
    const mc_strided form = {.stride = 32, .heads = 1};
    int64_t row_ptr[] = {0, 1};
    int32_t col_idx[] = {0};
    const mc_csr csr = {1, 1, 1, row_ptr, col_idx, MC_CSR_PATTERN, NULL, 0};
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
    test_codes(diag);
    test_beyond(diag);
    test_ones(diag);
    test_out_of_range(diag);
    test_padding(diag);
    mc_diag_destroy(diag);
    return check_end();
}
