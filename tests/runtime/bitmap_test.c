/* bitmap-bcrs: bytes worked out by hand, the way a kernel finds vectors, round trips, arrays that no matrix
   gives, values in place, no memory. */
#include "bitmap_check.h"
#include "formats/bitmap.h"

/* -- Bytes */

static void test_bytes(void) {
    static const uint32_t masks[] = {
        0, 0x80000001, 2, 1, 3, 0, 3, 0, 3, 2, 4, 0, 4, 0, 4, 0, /* row block 0 */
        4, 0,          4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, /* 1 */
        4, 0x20,       5, 0, 5, 0, 5, 0, 5, 0, 5, 0, 5, 0, 5, 0, /* 2 */
        5, 0};
    uint8_t values[80] = {0};
    for (int i = 0; i < 40; i++) values[i] = (uint8_t)(i + 1);
    mc_vsparse a = small_matrix(MC_S8);
    mc_packed packed;
    expect_ok("pack", bitmap_pack(&a, &packed, diag), diag);
    CHECK(packed.array_count == 2, "%zu arrays", packed.array_count);
    const mc_packed_array *m = mc_packed_find(&packed, "masks"), *v = mc_packed_find(&packed, "values");
    CHECK(m && m->type == MC_S32 && m->count == 2 * (24 + 64) && memcmp(m->data, masks, sizeof masks) == 0,
          "masks");
    CHECK(v && v->type == MC_S8 && v->count == 80 && memcmp(v->data, values, sizeof values) == 0, "values");
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
}

/* -- As a kernel reads them */

/* The number of the vector in column COLUMN of row block BLOCK; -1: there is none. */
static int64_t find_vector(const int32_t *masks, int64_t words, int64_t block, int64_t column) {
    const int32_t *pair = masks + 2 * (block * words + column / 32);
    const uint32_t bits = (uint32_t)pair[1];
    if (!(bits >> column % 32 & 1)) return -1;
    int64_t vector = pair[0];
    for (int i = 0; i < column % 32; i++) vector += bits >> i & 1;
    return vector;
}

static void check_places(const mc_vsparse *a, const mc_packed *packed, const char *what) {
    const int64_t words = (a->cols + 127) / 128 * 4;
    const mc_packed_array *masks = mc_packed_find(packed, "masks"),
                          *values = mc_packed_find(packed, "values");
    const int32_t *pairs = masks->data;
    const uint8_t *bytes = values->data, *own = a->values;
    const int64_t used = a->vectors * a->vec, zeros = values->count - used;
    int64_t wrong = 0;
    CHECK(masks->count == 2 * (a->row_blocks * words + 64), "%s: %lld elements of masks", what,
          (long long)masks->count);
    CHECK(zeros >= 32 && zeros < 48 && values->count % 16 == 0, "%s: %lld values", what,
          (long long)values->count);
    for (int64_t b = 0; b < a->row_blocks; b++)
        for (int64_t c = 0, v = a->row_ptr[b]; c < 32 * words; c++) {
            if (c % 32 == 0) wrong += pairs[2 * (b * words + c / 32)] != v;
            const bool there = v < a->row_ptr[b + 1] && a->col_idx[v] == c;
            wrong += find_vector(pairs, words, b, c) != (there ? v : -1);
            v += there;
        }
    for (int64_t i = 2 * a->row_blocks * words; i < masks->count; i += 2)
        wrong += pairs[i] != a->vectors || pairs[i + 1] != 0;
    for (int64_t i = 0; i < values->count; i++) wrong += bytes[i] != (i < used ? own[i] : 0);
    CHECK(wrong == 0, "%s: %lld wrong", what, (long long)wrong);
}

/* -- Through a kernel */

static mc_kernel *make_kernel(mc_type type, int vec, const char *sizes) {
    char fields[128];
    snprintf(fields, sizeof fields, "op=spmm arch=sm_90 lhs=%s rhs=%s out=f32 vec=%d%s%s", mc_type_text(type),
             mc_type_text(type), vec, mc_type_is_real(type) ? "" : " scale=tensor", sizes);
    return outline_kernel(fields, "bitmap-bcrs");
}

static void check_shape(const shape *s, mc_type type, int vec) {
    char what[96], form[96];
    mc_kernel *kernel = make_kernel(type, vec, "");
    mc_vsparse a = make_matrix(s, type, vec);
    mc_packed packed;
    snprintf(what, sizeof what, "%s, vec %d, %lld x %lld", mc_type_text(type), vec, (long long)a.rows,
             (long long)a.cols);
    snprintf(form, sizeof form, "bitmap-bcrs lhs=%s vec=%d", mc_type_text(type), vec);
    expect_ok(what, bitmap_pack(&a, &packed, diag), diag);
    check_places(&a, &packed, what);
    mc_packed_free(&packed);
    check_through(kernel, &a, form, what);
    mc_vsparse_free(&a);
    mc_kernel_destroy(kernel);
}

/* A kernel's fixed sizes and its types are held against the matrix, 24 x 130 of s8. */
static void test_fits(void) {
    static const struct {
        mc_type type;
        int vec;
        const char *sizes, *message; /* NULL: it fits */
    } rows[] = {{MC_S8, 8, " m=24 k=130", NULL},
                {MC_S8, 8, " m=32", "the kernel is made for m = 32, the matrix has 24"},
                {MC_S8, 8, " k=128", "the kernel is made for k = 128, the matrix has 130"},
                {MC_U8, 8, "", "the kernel is made for lhs = u8, the matrix holds s8"},
                {MC_S8, 16, "", "the kernel is made for vec = 16, the matrix has 8"}};
    mc_vsparse a = small_matrix(MC_S8);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mc_kernel *kernel = make_kernel(rows[i].type, rows[i].vec, rows[i].sizes);
        mc_packed packed;
        const mc_status status = mc_pack(kernel, &a, &packed, diag);
        if (rows[i].message == NULL) expect_ok("fits", status, diag);
        else expect_failure(rows[i].message, status, MC_CANNOT, diag, rows[i].message);
        mc_packed_free(&packed);
        mc_kernel_destroy(kernel);
    }
    mc_vsparse_free(&a);
}

/* -- New values */

static void test_values(void) {
    mc_vsparse a = small_matrix(MC_U8), other = small_matrix(MC_U8);
    mc_packed packed, before;
    expect_ok("pack", bitmap_pack(&a, &packed, diag), diag);
    expect_ok("pack", bitmap_pack(&a, &before, diag), diag);
    mc_vsparse_set_value(&other, 4, 0, 99);
    other.col_idx[4] = 6;
    expect_failure("column", bitmap_pack_values(&other, &packed, diag), MC_FORMAT, diag,
                   "masks[33] is 32, must be 64 for this matrix");
    other.col_idx[4] = 5, other.cols = 260;
    expect_failure("columns", bitmap_pack_values(&other, &packed, diag), MC_FORMAT, diag,
                   "masks has 176 elements, must have 200");
    other.cols = 130, other.type = MC_S8;
    expect_failure("type", bitmap_pack_values(&other, &packed, diag), MC_FORMAT, diag,
                   "values holds u8, must hold s8");
    other.type = MC_S16;
    expect_failure("type", bitmap_pack_values(&other, &packed, diag), MC_CANNOT, diag, "the matrix s16");
    other.type = MC_U8;
    packed.arrays[1].count--;
    expect_failure("values", bitmap_pack_values(&other, &packed, diag), MC_FORMAT, diag,
                   "values has 79 elements, must have 80");
    packed.arrays[1].count++;
    CHECK(same_packed(&packed, &before), "refused, but changed");
    mc_packed_free(&before);
    mc_packed_free(&packed);
    mc_vsparse_free(&other);
    mc_vsparse_free(&a);
}

/* -- What no matrix gives */

static const damage damages[] = {
    {"masks", 0, 1, "masks[0] is 1, must be 0, the vectors before"},
    {"masks", 16, 3, "masks[16] is 3, must be 4, the vectors before"},
    {"masks", 4, 0x80000000, "masks[4] is -2147483648, must be 3, the vectors before"},
    {"masks", 3, 3, "masks[4] is 3, must be 4, the vectors before"},
    {"masks", 33, 0, "masks[34] is 5, must be 4, the vectors before"},
    {"masks", 48, 4, "masks[48] is 4, must be 5, the vectors before"},
    {"masks", 9, 4, "masks[9] is 00000004, which has vectors beyond the last column: only bits of 00000003"},
    {"masks", 11, 1,
     "masks[11] is 00000001, which has vectors beyond the last column: only bits of 00000000"},
    {"masks", 47, 0x80000000, "masks[47] is 80000000, which has vectors beyond the last column"},
    {"masks", 49, 1, "masks[49] is 00000001, which has vectors beyond the last column"},
    {"masks", 174, 4, "masks[174] is 4, must be 5, the vectors before"},
    {"masks", 175, 1, "masks[175] is 00000001, which has vectors beyond the last column"},
    {"values", 40, 1, "values[40] is behind the last vector and must be 0"},
    {"values", 79, 0x80, "values[79] is behind the last vector and must be 0"},
};

static void expect_refused(const mc_packed *packed, mc_type type, int vec, int64_t rows, int64_t cols,
                           mc_status status, const char *message) {
    mc_vsparse back;
    expect_failure(message, bitmap_unpack(packed, type, vec, rows, cols, &back, diag), status, diag, message);
    CHECK(!back.values && back.vectors == 0, "%s: the output is not zeroed", message);
}

static void test_damaged(void) {
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        mc_vsparse a = small_matrix(MC_S8);
        mc_packed packed;
        expect_ok("pack", bitmap_pack(&a, &packed, diag), diag);
        do_damage(&damages[i], &packed);
        expect_refused(&packed, MC_S8, 8, 24, 130, MC_FORMAT, damages[i].message);
        mc_packed_free(&packed);
        mc_vsparse_free(&a);
    }
}

static void test_other_arrays(void) {
    mc_vsparse a = small_matrix(MC_S8);
    mc_packed packed;
    expect_ok("pack", bitmap_pack(&a, &packed, diag), diag);
    expect_refused(&packed, MC_S8, 8, 25, 130, MC_USAGE, "25 rows are no row blocks of 8");
    expect_refused(&packed, MC_S8, 8, 24, -1, MC_USAGE, "-1 columns");
    expect_refused(&packed, MC_S8, 8, 32, 130, MC_FORMAT, "masks has 176 elements, must have 192");
    expect_refused(&packed, MC_S8, 8, 24, 257, MC_FORMAT, "masks has 176 elements, must have 200");
    expect_refused(&packed, MC_S8, 16, 48, 130, MC_FORMAT, "values has 80 elements, must have 112");
    expect_refused(&packed, MC_U8, 8, 24, 130, MC_FORMAT, "values holds s8, must hold u8");
    expect_refused(&packed, MC_S16, 8, 24, 130, MC_CANNOT, "holds elements of 8 bits, the matrix s16");
    expect_refused(&packed, MC_S8, 4, 24, 130, MC_CANNOT, "vectors of a multiple of 8 elements up to 16");
    expect_refused(&packed, MC_S8, 8, 8 * 16, INT32_MAX, MC_CANNOT,
                   "16 row blocks of 67108864 words of 32 columns: the masks leave s32");
    packed.arrays[0].type = MC_U8;
    expect_refused(&packed, MC_S8, 8, 24, 130, MC_FORMAT, "masks holds u8, must hold s32");
    packed.arrays[0].type = MC_S32, packed.arrays[0].name = "marks";
    expect_refused(&packed, MC_S8, 8, 24, 130, MC_FORMAT, "there is no packed array masks");
    packed.arrays[0].name = "masks", packed.arrays[1].name = "value";
    expect_refused(&packed, MC_S8, 8, 24, 130, MC_FORMAT, "there is no packed array values");
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
}

/* -- What is not packed */

static void test_refused(void) {
    static const struct {
        mc_vsparse a; /* of which nothing else is looked at */
        const char *message;
    } rows[] = {
        {{.type = MC_S4, .vec = 8}, "bitmap-bcrs holds elements of 8 bits, the matrix s4"},
        {{.type = MC_F16, .vec = 8}, "bitmap-bcrs holds elements of 8 bits, the matrix f16"},
        {{.type = MC_S8, .vec = 4}, "vectors of a multiple of 8 elements up to 16, the matrix has 4"},
        {{.type = MC_S8, .vec = 12}, "vectors of a multiple of 8 elements up to 16, the matrix has 12"},
        {{.type = MC_S8, .vec = 24}, "vectors of a multiple of 8 elements up to 16, the matrix has 24"},
        {{.type = MC_S8, .vec = 8, .row_blocks = 16, .cols = INT32_MAX},
         "16 row blocks of 67108864 words of 32 columns: the masks leave s32"},
        {{.type = MC_S8, .vec = 8, .row_blocks = (int64_t)1 << 62, .cols = 1}, "the masks leave s32"},
        {{.type = MC_S8, .vec = 8, .row_blocks = 1, .cols = 1, .vectors = (int64_t)1 << 31},
         "2147483648 vectors: their numbers leave s32"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mc_packed packed;
        expect_failure(rows[i].message, bitmap_pack(&rows[i].a, &packed, diag), MC_CANNOT, diag,
                       rows[i].message);
        CHECK(packed.array_count == 0, "%s: the output is not zeroed", rows[i].message);
    }
}

static void test_memory(void) {
    mc_kernel *kernel = make_kernel(MC_S8, 8, "");
    check_memory(kernel, &(const allocations){.pack = 2, .values = 1, .unpack = 3, .slots = 2});
    mc_kernel_destroy(kernel);
}

int main(void) {
    diag = mc_diag_create();
    test_bytes();
    for (int t = 0; t < TYPES; t++)
        for (int vec = 8; vec <= 16; vec += 8)
            for (int i = 0; i < SHAPES; i++) check_shape(&shapes[i], types[t], vec);
    test_fits();
    test_values();
    test_damaged();
    test_other_arrays();
    test_refused();
    test_memory();
    mc_diag_destroy(diag);
    return check_end();
}
