/* SR-BCRS of every width: bytes worked out by hand from the published layout, round trips, and arrays that no matrix
   gives. */
#include "scratch.h"

static const mc_type types[] = {MC_S4, MC_U4, MC_S8, MC_U8, MC_S12, MC_U12, MC_S16, MC_U16};
static const int vecs[] = {1, 2, 4, 8, 16};
static const mc_srbcrs forms[] = {{16, 8, false}, {16, 4, false}, {32, 8, false},
                                  {32, 4, false}, {32, 8, true},  {32, 4, true}};
enum {
    TYPES = sizeof types / sizeof types[0],
    VECS = sizeof vecs / sizeof vecs[0],
    FORMS = sizeof forms / sizeof forms[0]
};

static const mc_srbcrs bytes_16 = {.k = 16, .piece_bits = 8},
                       nibbles_32 = {.k = 32, .piece_bits = 4, .shuffle = true};

/* -- Bytes */

/* Three vectors of 2 in one row block: (v0, v1), (v2, v3), (v4, v5). A row of a plane has 16 bytes, 16 digits of 8 bits or
   32 of 4; the rows below are the first bytes of each row of each plane, all others are 0. */
typedef struct written {
    mc_type type;
    const mc_srbcrs *form;
    int values[6];
    int rows;
    uint8_t bytes[8][3];
} written;

static const written written_out[] = {
    {MC_S8, &bytes_16, {1, -2, 3, 4, -128, 127}, 2, {{0x01, 0x03, 0x80}, {0xfe, 0x04, 0x7f}}},
    {MC_U8, &bytes_16, {200, 5, 0, 255, 17, 34}, 2, {{0xc8, 0x00, 0x11}, {0x05, 0xff, 0x22}}},
    {MC_S4, &bytes_16, {-8, 7, 1, -1, 0, -3}, 2, {{0xf8, 0x01, 0x00}, {0x07, 0xff, 0xfd}}},
    {MC_U4, &bytes_16, {15, 1, 2, 3, 4, 5}, 2, {{0x0f, 0x02, 0x04}, {0x01, 0x03, 0x05}}},
    {MC_S16,
     &bytes_16,
     {0x1234, -2, -32768, 32767, 0x00ff, 0x0100},
     4,
     {{0x34, 0x00, 0xff}, {0xfe, 0xff, 0x00}, {0x12, 0x80, 0x00}, {0xff, 0x7f, 0x01}}},
    {MC_U16,
     &bytes_16,
     {0xabcd, 0x00ef, 0xffff, 0x0001, 0x8000, 0x7f80},
     4,
     {{0xcd, 0xff, 0x00}, {0xef, 0x01, 0x80}, {0xab, 0xff, 0x80}, {0x00, 0x00, 0x7f}}},
    {MC_S12,
     &bytes_16,
     {-2048, 2047, -1, 256, 0x123, 0},
     4,
     {{0x00, 0xff, 0x23}, {0xff, 0x00, 0x00}, {0xf8, 0xff, 0x01}, {0x07, 0x01, 0x00}}},
    {MC_U12,
     &bytes_16,
     {0xabc, 0xfff, 0x100, 0x00f, 0x000, 0x800},
     4,
     {{0xbc, 0x00, 0x00}, {0xff, 0x0f, 0x00}, {0x0a, 0x01, 0x00}, {0x0f, 0x00, 0x08}}},
    {MC_U4, &nibbles_32, {15, 1, 2, 3, 4, 5}, 2, {{0x2f, 0x04}, {0x31, 0x05}}},
    {MC_S4, &nibbles_32, {-8, 7, 1, -1, 0, -3}, 2, {{0x18, 0x00}, {0xf7, 0x0d}}},
    /* Section IV-D's example: 1110 1101 is 237, or -19 = 16 * -2 + 13. */
    {MC_U8,
     &nibbles_32,
     {237, 1, 127, 128, 16, 255},
     4,
     {{0xfd, 0x00}, {0x01, 0x0f}, {0x7e, 0x01}, {0x80, 0x0f}}},
    {MC_S8,
     &nibbles_32,
     {-19, 1, 127, -128, 16, -1},
     4,
     {{0xfd, 0x00}, {0x01, 0x0f}, {0x7e, 0x01}, {0x80, 0x0f}}},
    /* The room of 16 bits: the rows of the fourth plane are 0. */
    {MC_S12,
     &nibbles_32,
     {-2048, 2047, -1, 256, 0x123, 0},
     8,
     {{0xf0, 0x03}, {0x0f, 0x00}, {0xf0, 0x02}, {0x0f, 0x00}, {0xf8, 0x01}, {0x17, 0x00}}},
    {MC_U12,
     &nibbles_32,
     {0xabc, 0xfff, 0x100, 0x00f, 0x000, 0x800},
     8,
     {{0x0c, 0x00}, {0xff, 0x00}, {0x0b, 0x00}, {0x0f, 0x00}, {0x1a, 0x00}, {0x0f, 0x08}}},
    {MC_S16,
     &nibbles_32,
     {0x1234, -2, -32768, 32767, 0x00ff, 0x0100},
     8,
     {{0x04, 0x0f},
      {0xfe, 0x00},
      {0x03, 0x0f},
      {0xff, 0x00},
      {0x02, 0x00},
      {0xff, 0x01},
      {0x81, 0x00},
      {0x7f, 0x00}}},
    {MC_U16,
     &nibbles_32,
     {0xabcd, 0x00ef, 0xffff, 0x0001, 0x8000, 0x7f80},
     8,
     {{0xfd, 0x00},
      {0x1f, 0x00},
      {0xfc, 0x00},
      {0x0e, 0x08},
      {0xfb, 0x00},
      {0x00, 0x0f},
      {0xfa, 0x08},
      {0x00, 0x07}}},
};

/* Columns 4, 7, 9. */
static mc_vsparse three_vectors(mc_type type, const int values[6], mc_diag *diag) {
    int64_t row_ptr[] = {0, 3};
    int32_t col_idx[] = {4, 7, 9};
    const mc_csr csr = {1, 12, 3, row_ptr, col_idx, MC_CSR_PATTERN, NULL, 0};
    mc_vsparse a;
    expect_ok("dilate", mc_vsparse_dilate(&csr, 2, type, &a, diag), diag);
    for (int i = 0; i < 6; i++) mc_vsparse_set_value(&a, i / 2, i % 2, values[i]);
    return a;
}

static void check_array(const mc_packed *packed, const char *name, const void *want, size_t bytes) {
    const mc_packed_array *array = mc_packed_find(packed, name);
    size_t size = array ? (size_t)mc_type_size(array->type, array->count) : 0;
    CHECK(array && size == bytes && memcmp(array->data, want, bytes) == 0, "%s, %zu bytes", name, size);
}

static void test_bytes(mc_diag *diag) {
    static const int32_t row_ptr[] = {0, 3};
    int32_t plain[16] = {4, 7, 9}, shuffled[32] = {4, 9, -1, -1, 7};
    for (int i = 3; i < 16; i++) plain[i] = -1;
    for (int i = 5; i < 32; i++) shuffled[i] = -1;
    for (size_t i = 0; i < sizeof written_out / sizeof written_out[0]; i++) {
        const written *w = &written_out[i];
        uint8_t want[128] = {0};
        for (int row = 0; row < w->rows; row++) memcpy(want + 16 * row, w->bytes[row], 3);
        mc_vsparse a = three_vectors(w->type, w->values, diag);
        mc_packed packed;
        expect_ok("export", mc_srbcrs_export(&a, w->form, &packed, diag), diag);
        check_array(&packed, "row_ptr", row_ptr, sizeof row_ptr);
        if (w->form->shuffle) check_array(&packed, "col_idx", shuffled, sizeof shuffled);
        else check_array(&packed, "col_idx", plain, sizeof plain);
        check_array(&packed, mc_packed_find(&packed, "values") ? "values" : "", want, (size_t)w->rows * 16);
        mc_packed_free(&packed);
        mc_vsparse_free(&a);
    }
}

/* Position j of 8 moves to (j % 2) * 4 + j / 2: 0 1 2 3 4 5 6 7 becomes 0 2 4 6 1 3 5 7. Values stay. */
static void test_shuffle(mc_diag *diag) {
    static int64_t row_ptr[] = {0, 11};
    static int32_t col_idx[] = {10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
    static int8_t values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    const mc_vsparse a = {MC_S8, 1, 1, 32, 1, 11, row_ptr, col_idx, values, {0}};
    static const int32_t shuffled[] = {10, 12, 14, 16, 11, 13, 15, 17, 18, 20, -1, -1, 19, -1, -1, -1,
                                       -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    static const int8_t plain[32] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    const mc_srbcrs form = {.k = 32, .piece_bits = 8, .shuffle = true};
    mc_packed packed;
    expect_ok("export", mc_srbcrs_export(&a, &form, &packed, diag), diag);
    check_array(&packed, "col_idx", shuffled, sizeof shuffled);
    check_array(&packed, "values", plain, sizeof plain);
    mc_packed_free(&packed);
}

/* Planes lie inside a stride: of 18 vectors of 4 u16 values, k = 16, the second stride begins at byte 128, its high
   digits at 192. */
static void test_second_stride(mc_diag *diag) {
    int64_t row_ptr[] = {0, 18};
    int32_t col_idx[18];
    for (int i = 0; i < 18; i++) col_idx[i] = i;
    const mc_csr csr = {1, 18, 18, row_ptr, col_idx, MC_CSR_PATTERN, NULL, 0};
    mc_vsparse a;
    mc_packed packed;
    expect_ok("dilate", mc_vsparse_dilate(&csr, 4, MC_U16, &a, diag), diag);
    mc_vsparse_set_value(&a, 15, 3, 0x1122);
    mc_vsparse_set_value(&a, 16, 0, 0x3344);
    mc_vsparse_set_value(&a, 17, 2, 0x5566);
    expect_ok("export", mc_srbcrs_export(&a, &bytes_16, &packed, diag), diag);
    static const uint8_t want[256] = {
        [3 * 16 + 15] = 0x22, [64 + 3 * 16 + 15] = 0x11, [128] = 0x44,
        [192] = 0x33,         [128 + 2 * 16 + 1] = 0x66, [192 + 2 * 16 + 1] = 0x55};
    check_array(&packed, "values", want, sizeof want);
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
}

/* -- The authors' arrays */

/* Checksums of row_ptr, col_idx and values of one random matrix for each of the paper's pairs, made by a program apart from this project
   that follows the index arithmetic of the host code (the SpMM benchmark) that the paper's authors published. */
static const struct {
    mc_type lhs;
    int rhs_bits, vec;
    uint64_t sum;
} authors[] = {
    {MC_U4, 4, 2, 0x83e0b92e106cc8c9},  {MC_U8, 4, 2, 0x9ef59f36eb16875d},
    {MC_U12, 4, 2, 0x96006446c3cc67be}, {MC_U16, 4, 2, 0x82d5cb3991f3861e},
    {MC_U8, 8, 2, 0xb185964a73c89195},  {MC_U12, 8, 2, 0xc6459c132f7999e0},
    {MC_U16, 8, 2, 0x8824c3a8156a6717}, {MC_U16, 16, 2, 0x8824c3a8156a6717},
    {MC_U4, 4, 4, 0x7c39b0a57d08a112},  {MC_U8, 4, 4, 0x4b04a2bd3b076271},
    {MC_U12, 4, 4, 0x86bdaad3622da541}, {MC_U16, 4, 4, 0xa45dcf05691a5da2},
    {MC_U8, 8, 4, 0x58f572169b6efdac},  {MC_U12, 8, 4, 0x917941c3f9d5553b},
    {MC_U16, 8, 4, 0x6196fd9b4f692420}, {MC_U16, 16, 4, 0x6196fd9b4f692420},
    {MC_U4, 4, 8, 0x6c19a6ba06d1a6fe},  {MC_U8, 4, 8, 0x0d0651f17d8453d3},
    {MC_U12, 4, 8, 0xe75d796a587f00c7}, {MC_U16, 4, 8, 0xaeb787ee539174c6},
    {MC_U8, 8, 8, 0x6ab478ea0244af84},  {MC_U12, 8, 8, 0x089660ab5606eaf3},
    {MC_U16, 8, 8, 0x448721a8b6a88151}, {MC_U16, 16, 8, 0x448721a8b6a88151},
};

static void test_authors(mc_diag *diag) {
    const mc_pattern pattern = {9, 200, .6, MC_PATTERN_REALISTIC, .9, 7};
    mc_csr csr;
    expect_ok("generate", mc_csr_generate(&pattern, &csr, diag), diag);
    for (size_t i = 0; i < sizeof authors / sizeof authors[0]; i++) {
        mc_vsparse a;
        mc_packed packed;
        uint64_t sum = 0;
        bool narrow = authors[i].lhs == MC_U4 || authors[i].rhs_bits == 4;
        expect_ok("dilate", mc_vsparse_dilate(&csr, authors[i].vec, authors[i].lhs, &a, diag), diag);
        mc_vsparse_fill(&a, MC_VALUES_FULL, 3, NULL);
        expect_ok("export", mc_srbcrs_export(&a, narrow ? &nibbles_32 : &bytes_16, &packed, diag), diag);
        for (size_t j = 0; j < packed.array_count; j++)
            sum = checksum(sum, packed.arrays[j].data,
                           (size_t)mc_type_size(packed.arrays[j].type, packed.arrays[j].count));
        CHECK(sum == authors[i].sum, "%s against %d bits, vec %d: 0x%016llx", mc_type_text(authors[i].lhs),
              authors[i].rhs_bits, authors[i].vec, (unsigned long long)sum);
        mc_packed_free(&packed);
        mc_vsparse_free(&a);
    }
    mc_csr_free(&csr);
}

/* -- Round trips */

static mc_vsparse make_matrix(mc_type type, int vec, mc_value_law law, mc_diag *diag) {
    const mc_pattern pattern = {6, 90, .6, MC_PATTERN_REALISTIC, .9, 3};
    mc_csr csr;
    mc_vsparse a;
    expect_ok("generate", mc_csr_generate(&pattern, &csr, diag), diag);
    expect_ok("dilate", mc_vsparse_dilate(&csr, vec, type, &a, diag), diag);
    mc_vsparse_fill(&a, law, (uint64_t)type, NULL);
    mc_csr_free(&csr);
    return a;
}

static void check_round_trip(const mc_vsparse *a, const mc_srbcrs *form, mc_diag *diag) {
    mc_packed packed;
    mc_vsparse back;
    expect_ok("export", mc_srbcrs_export(a, form, &packed, diag), diag);
    expect_ok("import", mc_srbcrs_import(&packed, a->type, a->vec, form, a->rows, a->cols, &back, diag),
              diag);
    CHECK(back.row_ptr && same_vsparse(a, &back), "%s, vec %d, k %d, digits of %d", mc_type_text(a->type),
          a->vec, form->k, form->piece_bits);
    mc_packed_free(&packed);
    mc_vsparse_free(&back);
}

static void test_round_trips(mc_diag *diag) {
    for (int t = 0; t < TYPES; t++)
        for (int v = 0; v < VECS; v++) {
            mc_vsparse full = make_matrix(types[t], vecs[v], MC_VALUES_FULL, diag),
                       extreme = make_matrix(types[t], vecs[v], MC_VALUES_EXTREME, diag);
            for (int f = 0; f < FORMS; f++) {
                check_round_trip(&full, &forms[f], diag);
                check_round_trip(&extreme, &forms[f], diag);
            }
            mc_vsparse_free(&full);
            mc_vsparse_free(&extreme);
        }
}

/* -- Values in place */

static bool same_packed(const mc_packed *a, const mc_packed *b) {
    bool same = a->array_count == b->array_count;
    for (size_t i = 0; same && i < a->array_count; i++)
        same = a->arrays[i].count == b->arrays[i].count &&
               memcmp(a->arrays[i].data, b->arrays[i].data,
                      (size_t)mc_type_size(a->arrays[i].type, a->arrays[i].count)) == 0;
    return same;
}

static void check_values(mc_type type, int vec, const mc_srbcrs *form, mc_diag *diag) {
    mc_packed packed, anew;
    mc_vsparse a = make_matrix(type, vec, MC_VALUES_EXTREME, diag);
    expect_ok("export", mc_srbcrs_export(&a, form, &packed, diag), diag);
    const void *before = mc_packed_find(&packed, "values")->data;
    mc_vsparse_fill(&a, MC_VALUES_FULL, 9, NULL);
    expect_ok("values", mc_srbcrs_export_values(&a, form, &packed, diag), diag);
    expect_ok("export", mc_srbcrs_export(&a, form, &anew, diag), diag);
    CHECK(mc_packed_find(&packed, "values")->data == before, "the array has moved");
    CHECK(same_packed(&packed, &anew), "%s, vec %d, k %d, digits of %d", mc_type_text(type), vec, form->k,
          form->piece_bits);
    mc_packed_free(&packed);
    mc_packed_free(&anew);
    mc_vsparse_free(&a);
}

/* What is of another pattern stays as it is. */
static void test_other_pattern(mc_diag *diag) {
    mc_packed packed, before;
    mc_vsparse a = make_matrix(MC_S12, 4, MC_VALUES_FULL, diag);
    expect_ok("export", mc_srbcrs_export(&a, &nibbles_32, &packed, diag), diag);
    expect_ok("export", mc_srbcrs_export(&a, &nibbles_32, &before, diag), diag);
    mc_vsparse_fill(&a, MC_VALUES_ONES, 0, NULL);
    a.col_idx[a.vectors - 1]++;
    expect_failure("column", mc_srbcrs_export_values(&a, &nibbles_32, &packed, diag), MC_FORMAT, diag,
                   "packed for another pattern: col_idx[");
    a.col_idx[a.vectors - 1]--;
    a.row_ptr[1]--;
    expect_failure("row", mc_srbcrs_export_values(&a, &nibbles_32, &packed, diag), MC_FORMAT, diag,
                   "packed for another pattern: row_ptr[1] is ");
    a.row_ptr[1]++;
    expect_failure("form", mc_srbcrs_export_values(&a, &bytes_16, &packed, diag), MC_FORMAT, diag,
                   "elements, must have ");
    CHECK(same_packed(&packed, &before), "a refused replacement has changed something");
    mc_packed_free(&packed);
    mc_packed_free(&before);
    mc_vsparse_free(&a);
}

static void test_values(mc_diag *diag) {
    for (int t = 0; t < TYPES; t++)
        for (int f = 0; f < FORMS; f++) check_values(types[t], vecs[(t + f) % VECS], &forms[f], diag);
    test_other_pattern(diag);
}

/* -- Refusals */

/* One byte of the values of three vectors is overwritten (or, of 4-byte elements, one of the array named). */
static const struct {
    mc_type type;
    const mc_srbcrs *form;
    const char *array;
    int index, value;
    const char *message;
} damages[] = {
    {MC_S4, &bytes_16, "values", 0, 8, "slot 0 holds 8, out of s4's range"},
    {MC_U4, &bytes_16, "values", 17, 16, "slot 1 holds 16, out of u4's range"},
    {MC_U12, &bytes_16, "values", 34, 16, "slot 2 holds 4096, out of u12's range"},
    {MC_S12, &bytes_16, "values", 32, 8, "slot 0 holds 2048, out of s12's range"},
    {MC_S12, &nibbles_32, "values", 96, 0x10, "slot 1 has a digit beyond the 3 of s12"},
    {MC_U12, &nibbles_32, "values", 113, 0x01, "slot 2 has a digit beyond the 3 of u12"},
    {MC_U12, &nibbles_32, "values", 113, 0x10, "row block 0: padding slot 3 must have index -1 and values 0"},
    {MC_S16, &nibbles_32, "values", 127, 0x80, "row block 0: padding slot 31 must have"},
    {MC_U4, &nibbles_32, "values", 1, 0x10, "row block 0: padding slot 3 must have"},
    {MC_U4, &nibbles_32, "col_idx", 4, 4, "slot 1 of row block 0 has column 4 after column 4"},
    {MC_U4, &nibbles_32, "col_idx", 1, 12, "slot 2 of row block 0 has column 12 of 12"},
    {MC_U4, &nibbles_32, "col_idx", 5, 11, "row block 0: padding slot 3 must have index -1"},
    {MC_S16, &bytes_16, "row_ptr", 0, 16, "row_ptr[0] is 16, must be 0"},
    {MC_S16, &bytes_16, "row_ptr", 1, -1, "row_ptr[1] is -1, below its start 0"},
    {MC_S16, &bytes_16, "row_ptr", 1, 17, "col_idx has 16 elements, must have 32"},
};

static void test_damaged(mc_diag *diag) {
    static const int zeros[6];
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        mc_vsparse a = three_vectors(damages[i].type, zeros, diag), back;
        mc_packed packed;
        expect_ok("export", mc_srbcrs_export(&a, damages[i].form, &packed, diag), diag);
        const mc_packed_array *array = mc_packed_find(&packed, damages[i].array);
        if (array->type == MC_S8) ((uint8_t *)array->data)[damages[i].index] = (uint8_t)damages[i].value;
        else ((int32_t *)array->data)[damages[i].index] = damages[i].value;
        expect_failure(damages[i].message,
                       mc_srbcrs_import(&packed, a.type, 2, damages[i].form, 2, 12, &back, diag), MC_FORMAT,
                       diag, damages[i].message);
        CHECK(!back.values && back.vectors == 0, "the output is not zeroed");
        mc_packed_free(&packed);
        mc_vsparse_free(&a);
    }
}

/* Arrays that mean another form, type or shape. */
static void test_another(mc_diag *diag) {
    mc_vsparse a = make_matrix(MC_U8, 4, MC_VALUES_FULL, diag), back;
    mc_packed packed;
    expect_ok("export", mc_srbcrs_export(&a, &bytes_16, &packed, diag), diag);
    int64_t bytes = mc_packed_find(&packed, "values")->count;
    char message[96];
    snprintf(message, sizeof message, "values has %lld elements, must have %lld", (long long)bytes,
             (long long)bytes * 2);
    expect_failure("type", mc_srbcrs_import(&packed, MC_U16, 4, &bytes_16, a.rows, a.cols, &back, diag),
                   MC_FORMAT, diag, message);
    expect_failure("rows", mc_srbcrs_import(&packed, MC_U8, 4, &bytes_16, a.rows + 4, a.cols, &back, diag),
                   MC_FORMAT, diag, "row_ptr has 12 elements, must have 14");
    expect_failure("rows", mc_srbcrs_import(&packed, MC_U8, 4, &bytes_16, a.rows + 1, a.cols, &back, diag),
                   MC_USAGE, diag, "25 rows are no row blocks of 4");
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
}

static void test_refused(mc_diag *diag) {
    static const struct {
        mc_srbcrs form;
        const char *message;
    } bad[] = {
        {{8, 8, false}, "k = 8: must be 16 or 32"},
        {{64, 4, false}, "k = 64: must be 16 or 32"},
        {{16, 2, false}, "digits of 2 bits: must be 4 or 8"},
        {{16, 4, true}, "shuffles indices with k = 32 only"},
    };
    static const int zeros[6];
    mc_packed packed;
    mc_vsparse a = three_vectors(MC_S8, zeros, diag), back;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        expect_failure("form", mc_srbcrs_export(&a, &bad[i].form, &packed, diag), MC_USAGE, diag,
                       bad[i].message);
        expect_failure("form", mc_srbcrs_import(&packed, MC_S8, 2, &bad[i].form, 2, 12, &back, diag),
                       MC_USAGE, diag, bad[i].message);
    }
    mc_vsparse other = a;
    other.type = MC_S32;
    expect_failure("type", mc_srbcrs_export(&other, &bytes_16, &packed, diag), MC_CANNOT, diag,
                   "integers of at most 16 bits, the matrix s32");
    other.type = MC_F16;
    expect_failure("type", mc_srbcrs_export(&other, &bytes_16, &packed, diag), MC_CANNOT, diag,
                   "the matrix f16");
    other = a;
    other.vec = 17;
    expect_failure("vec", mc_srbcrs_export(&other, &bytes_16, &packed, diag), MC_CANNOT, diag,
                   "the matrix 17");
    mc_vsparse_free(&a);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_bytes(diag);
    test_shuffle(diag);
    test_second_stride(diag);
    test_authors(diag);
    test_round_trips(diag);
    test_values(diag);
    test_damaged(diag);
    test_another(diag);
    test_refused(diag);
    mc_diag_destroy(diag);
    return check_end();
}
