/* Packed formats: literal layouts, round trips over edge shapes, and refusal of arrays that no matrix has. */
#include "parts/fragment.h"
#include "scratch.h"

/* -- Layout, from the definition (Magicube, section IV-A): row block 0 holds vectors (1, 2), (3, 4), (5, 6)
   at columns 2, 5, 6; row block 1 none; row block 2 one vector (7, 0) at column 0. */

static int64_t tiny_row_ptr[] = {0, 3, 3, 4};
static int32_t tiny_col_idx[] = {2, 5, 6, 0};
static int8_t tiny_values[] = {1, 2, 3, 4, 5, 6, 7, 0};
static const mc_vsparse tiny = {MC_S8, 2, 6, 8, 3, 4, tiny_row_ptr, tiny_col_idx, tiny_values, {0}};

#define PAD8  -1, -1, -1, -1, -1, -1, -1, -1
#define PAD64 PAD8, PAD8, PAD8, PAD8, PAD8, PAD8, PAD8, PAD8

static const mc_strided one_head = {.stride = 32, .heads = 1}, two_heads = {.stride = 32, .heads = 2},
                        wide_heads = {.stride = 96, .heads = 3},
                        int4 = {.stride = 64, .heads = 2, .int4 = true},
                        int4_shuffled = {.stride = 32, .heads = 1, .int4 = true, .shuffle = true};
static const mc_srbcrs k_16 = {.k = 16, .piece_bits = 8}, k_32 = {.k = 32, .piece_bits = 8},
                       shuffled = {.k = 32, .piece_bits = 8, .shuffle = true};

static void check_array(const mc_packed *packed, const char *name, const void *want, size_t bytes) {
    const mc_packed_array *array = mc_packed_find(packed, name);
    CHECK(array != NULL, "%s is missing", name);
    if (!array) return;
    size_t size = (size_t)array->count * mc_type_bytes(array->type);
    CHECK(size == bytes && memcmp(array->data, want, bytes) == 0, "%s, %zu bytes", name, size);
}

static void test_srbcrs_16(mc_diag *diag) {
    static const int32_t row_ptr[] = {0, 3, 16, 16, 16, 17};
    static const int32_t col_idx[] = {2, 5, 6, -1, -1, -1, -1, -1, PAD8, 0, -1, -1, -1, -1, -1, -1, -1, PAD8};
    static const int8_t values[64] = {[0] = 1, 3, 5, [16] = 2, 4, 6, [32] = 7};
    mc_packed packed;
    expect_ok("export", mc_srbcrs_export(&tiny, &k_16, &packed, diag), diag);
    check_array(&packed, "row_ptr", row_ptr, sizeof row_ptr);
    check_array(&packed, "col_idx", col_idx, sizeof col_idx);
    check_array(&packed, "values", values, sizeof values);
    CHECK(mc_packed_find(&packed, "tail") == NULL, "found an array that is not there");
    mc_packed_free(&packed);
}

/* A head each, the one of row block 1 all padding, and nothing behind them. */
static void test_strided(mc_diag *diag) {
    static const int32_t row_ptr[] = {3, 3, 3, 3};
    static const int32_t col_idx[] = {2,    5,    6,    -1,   -1,    -1,   -1,   -1,   PAD8, PAD8, PAD8,
                                      PAD8, PAD8, PAD8, PAD8, PAD64, 0,    -1,   -1,   -1,   -1,   -1,
                                      -1,   -1,   PAD8, PAD8, PAD8,  PAD8, PAD8, PAD8, PAD8};
    static const int8_t values[384] = {[0] = 1, 3, 5, [32] = 2, 4, 6, [256] = 7};
    mc_packed packed;
    expect_ok("pack", mc_strided_pack(&tiny, &(mc_strided){.stride = 64, .heads = 1}, &packed, diag), diag);
    check_array(&packed, "row_ptr", row_ptr, sizeof row_ptr);
    check_array(&packed, "col_idx", col_idx, sizeof col_idx);
    check_array(&packed, "values", values, sizeof values);
    mc_packed_free(&packed);
}

/* Row blocks of 70, 0 and 40 vectors, vector i in column i: their heads are strides 0 to 2, behind them lie the rest of
   the first (strides 3 and 4) and of the last (stride 5). */
static void test_strided_tail(mc_diag *diag) {
    static int64_t row_ptr[] = {0, 70, 70, 110};
    static const int32_t in_strides[] = {3, 5, 5, 6};
    static const struct {
        int first, count; /* of the stride's columns */
    } strides[] = {{0, 32}, {0, 0}, {0, 32}, {32, 32}, {64, 6}, {32, 8}};
    int32_t col_idx[110], want[6 * 32];
    int8_t values[110];
    for (int v = 0; v < 110; v++) col_idx[v] = v < 70 ? v : v - 70, values[v] = (int8_t)v;
    for (int slot = 0; slot < 6 * 32; slot++)
        want[slot] = slot % 32 < strides[slot / 32].count ? strides[slot / 32].first + slot % 32 : -1;
    const mc_vsparse a = {MC_S8, 1, 3, 70, 3, 110, row_ptr, col_idx, values, {0}};
    mc_packed packed;
    mc_vsparse back;
    expect_ok("pack", mc_strided_pack(&a, &one_head, &packed, diag), diag);
    check_array(&packed, "row_ptr", in_strides, sizeof in_strides);
    check_array(&packed, "col_idx", want, sizeof want);
    int32_t *packed_col = mc_packed_find(&packed, "col_idx")->data;
    packed_col[1] = -1;
    expect_failure(
        "tail", mc_strided_unpack(&packed, MC_S8, 1, &one_head, 3, 70, &back, diag), MC_FORMAT, diag,
        "row block 0 has 1 vectors before its padding, but 2 strides of 32 slots behind its heads");
    mc_packed_free(&packed);
}

/* Each lane's eight bytes of a group must be the eight values that its fragment registers hold. */
static void test_strided_lanes(mc_diag *diag) {
    mc_pattern pattern = {1, 64, 0, MC_PATTERN_UNIFORM, 0, 1};
    mc_csr csr;
    mc_vsparse a;
    mc_packed packed;
    expect_ok("generate", mc_csr_generate(&pattern, &csr, diag), diag);
    expect_ok("dilate", mc_vsparse_dilate(&csr, 8, MC_S8, &a, diag), diag);
    mc_vsparse_fill(&a, MC_VALUES_FULL, 1, NULL);
    expect_ok("pack", mc_strided_pack(&a, &(mc_strided){.stride = 64, .heads = 1}, &packed, diag), diag);
    const int8_t *values = mc_packed_find(&packed, "values")->data;
    int wrong = 0;
    for (int byte = 0; byte < 512; byte++) {
        int group = byte / 256, lane = byte % 256 / 8, slot = 8 * frag_thread(lane) + byte % 8;
        wrong += values[byte] != mc_vsparse_value(&a, 32 * group + slot, frag_group(lane));
    }
    CHECK(wrong == 0, "%d bytes wrong", wrong);
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
    mc_csr_free(&csr);
}

/* -- Round trips */

typedef mc_status packer(const mc_vsparse *a, mc_packed *packed, mc_diag *diag);
typedef mc_status unpacker(const mc_packed *packed, int vec, int64_t rows, int64_t cols, mc_vsparse *a,
                           mc_diag *diag);

#define FORMAT(name, pack_call, unpack_call)                                                                 \
    static mc_status pack_##name(const mc_vsparse *a, mc_packed *packed, mc_diag *diag) {                    \
        return pack_call;                                                                                    \
    }                                                                                                        \
    static mc_status unpack_##name(const mc_packed *packed, int vec, int64_t rows, int64_t cols,             \
                                   mc_vsparse *a, mc_diag *diag) {                                           \
        return unpack_call;                                                                                  \
    }
FORMAT(strided_32, mc_strided_pack(a, &one_head, packed, diag),
       mc_strided_unpack(packed, MC_S8, vec, &one_head, rows, cols, a, diag))
FORMAT(strided_32_2, mc_strided_pack(a, &two_heads, packed, diag),
       mc_strided_unpack(packed, MC_S8, vec, &two_heads, rows, cols, a, diag))
FORMAT(strided_96_3, mc_strided_pack(a, &wide_heads, packed, diag),
       mc_strided_unpack(packed, MC_S8, vec, &wide_heads, rows, cols, a, diag))
FORMAT(int4, mc_strided_pack(a, &int4, packed, diag),
       mc_strided_unpack(packed, MC_S8, vec, &int4, rows, cols, a, diag))
FORMAT(int4_shuffled, mc_strided_pack(a, &int4_shuffled, packed, diag),
       mc_strided_unpack(packed, MC_S8, vec, &int4_shuffled, rows, cols, a, diag))
FORMAT(srbcrs_16, mc_srbcrs_export(a, &k_16, packed, diag),
       mc_srbcrs_import(packed, MC_S8, vec, &k_16, rows, cols, a, diag))
FORMAT(srbcrs_32, mc_srbcrs_export(a, &k_32, packed, diag),
       mc_srbcrs_import(packed, MC_S8, vec, &k_32, rows, cols, a, diag))
FORMAT(shuffled_32, mc_srbcrs_export(a, &shuffled, packed, diag),
       mc_srbcrs_import(packed, MC_S8, vec, &shuffled, rows, cols, a, diag))

static const struct {
    const char *name;
    packer *pack;
    unpacker *unpack;
} formats[] = {
    {"strided 32", pack_strided_32, unpack_strided_32},
    {"strided 32, 2 heads", pack_strided_32_2, unpack_strided_32_2},
    {"strided 96, 3 heads", pack_strided_96_3, unpack_strided_96_3},
    {"int4 64, 2 heads", pack_int4, unpack_int4},
    {"int4 32, shuffled", pack_int4_shuffled, unpack_int4_shuffled},
    {"sr-bcrs 16", pack_srbcrs_16, unpack_srbcrs_16},
    {"sr-bcrs 32", pack_srbcrs_32, unpack_srbcrs_32},
    {"shuffled", pack_shuffled_32, unpack_shuffled_32},
};

/* Row lengths, ended by -1. */
static const struct {
    int64_t cols;
    int length[8];
} shapes[] = {
    {0, {-1}},
    {5, {-1}},
    {5, {0, 0, 0, -1}},
    {1, {1, 0, 1, -1}},
    {64, {64, -1}},
    {100, {15, 16, 17, 31, 32, 33, 64, -1}},
    {300, {96, 97, 0, 0, 300, 95, -1}},
    {300, {288, 289, 63, 65, 287, -1}},
};

/* Every cols / length-th column; the values include stored zeros. */
static mc_vsparse make_matrix(int shape, int vec, mc_diag *diag) {
    mc_csr csr = {.cols = shapes[shape].cols};
    int64_t offsets[9] = {0};
    int32_t cols[1024];
    for (const int *length = shapes[shape].length; *length >= 0; length++) {
        for (int i = 0; i < *length; i++) cols[csr.nnz++] = (int32_t)(i * csr.cols / *length);
        offsets[++csr.rows] = csr.nnz;
    }
    csr.row_ptr = offsets;
    csr.col_idx = cols;
    mc_vsparse a;
    expect_ok("dilate", mc_vsparse_dilate(&csr, vec, MC_S8, &a, diag), diag);
    mc_vsparse_fill(&a, MC_VALUES_FULL, 1, NULL);
    for (int64_t v = 0; v < a.vectors; v += 3)
        for (int r = 0; r < vec; r++) mc_vsparse_set_value(&a, v, r, 0);
    return a;
}

static void test_round_trips(mc_diag *diag) {
    static const int vecs[] = {1, 2, 4, 8, 16};
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++)
        for (int shape = 0; shape < (int)(sizeof shapes / sizeof shapes[0]); shape++)
            for (int v = 0; v < 5; v++) {
                mc_vsparse a = make_matrix(shape, vecs[v], diag), back;
                mc_packed packed;
                expect_ok(formats[f].name, formats[f].pack(&a, &packed, diag), diag);
                expect_ok(formats[f].name, formats[f].unpack(&packed, a.vec, a.rows, a.cols, &back, diag),
                          diag);
                CHECK(back.row_ptr && same_vsparse(&a, &back), "%s, shape %d, vec %d", formats[f].name, shape,
                      a.vec);
                mc_packed_free(&packed);
                mc_vsparse_free(&a);
                mc_vsparse_free(&back);
            }
}

/* -- Refusals */

/* One element of the packed tiny matrix is overwritten. */
typedef struct corruption {
    const char *array;
    int index, value;
    const char *message;
} corruption;

static void check_corruption(const corruption *c, packer *pack, unpacker *unpack, mc_diag *diag) {
    mc_packed packed;
    mc_vsparse a;
    expect_ok("pack", pack(&tiny, &packed, diag), diag);
    const mc_packed_array *array = mc_packed_find(&packed, c->array);
    if (array->type == MC_S8) ((int8_t *)array->data)[c->index] = (int8_t)c->value;
    else ((int32_t *)array->data)[c->index] = c->value;
    mc_status status = unpack(&packed, tiny.vec, tiny.rows, tiny.cols, &a, diag);
    CHECK(!a.values && a.vectors == 0, "the output is not zeroed");
    expect_failure(c->message, status, MC_FORMAT, diag, c->message);
    mc_packed_free(&packed);
}

static void test_corrupted(mc_diag *diag) {
    static const corruption strided[] = {
        {"row_ptr", 0, 1, "row_ptr[0] is 1, must be 3, the heads"},
        {"row_ptr", 1, -1, "row_ptr[1] is -1, below the one before"},
        {"row_ptr", 1, 4, "row_ptr[2] is 3, below the one before, 4"},
        {"row_ptr", 3, 4, "row_ptr ends at 4 strides of 32 slots, col_idx has 96 slots"},
        {"row_ptr", 3, INT32_MAX, "row_ptr ends at 2147483647 strides"},
        {"col_idx", 0, -1, "row block 0: padding slot 0 must have index -1 and values 0"},
        {"col_idx", 33, 0, "row block 1: padding slot 33 must have index -1"},
        {"col_idx", 1, -1, "row block 0: padding slot 1 must have index -1"},
        {"col_idx", 0, 8, "slot 0 of row block 0 has column 8 of 8"},
        {"col_idx", 0, -2, "slot 0 of row block 0 has column -2 of 8"},
        {"col_idx", 1, 2, "slot 1 of row block 0 has column 2 after column 2"},
        {"col_idx", 5, 0, "row block 0: padding slot 5 must have index -1"},
        {"col_idx", 5, 7, "row block 0: padding slot 5 must have index -1"},
        {"values", 31, 1, "row block 0: padding slot 31 must have index -1 and values 0"},
    };
    static const corruption srbcrs[] = {
        {"row_ptr", 0, 16, "row_ptr[0] is 16, must be 0"},
        {"row_ptr", 1, -1, "row_ptr[1] is -1, below its start 0"},
        {"row_ptr", 1, 17, "row_ptr[2] is 16, must be 32"},
        {"row_ptr", 1, INT32_MAX, "row_ptr[2] is 16, must be 2147483648"},
        {"row_ptr", 5, 33, "col_idx has 32 elements, must have 48"},
        {"row_ptr", 5, 18, "slot 1 of row block 2 has column -1 of 8"},
        {"row_ptr", 1, 2, "row block 0: padding slot 2 must have index -1"},
        {"col_idx", 2, 9, "slot 2 of row block 0 has column 9 of 8"},
        {"values", 15, 1, "row block 0: padding slot 15"},
    };
    for (size_t i = 0; i < sizeof strided / sizeof strided[0]; i++)
        check_corruption(&strided[i], pack_strided_32, unpack_strided_32, diag);
    for (size_t i = 0; i < sizeof srbcrs / sizeof srbcrs[0]; i++)
        check_corruption(&srbcrs[i], pack_srbcrs_16, unpack_srbcrs_16, diag);
}

static void test_arrays(mc_diag *diag) {
    mc_packed packed;
    mc_vsparse a;
    expect_ok("pack", mc_strided_pack(&tiny, &one_head, &packed, diag), diag);
    expect_failure("rows", unpack_strided_32(&packed, 2, 8, 8, &a, diag), MC_FORMAT, diag,
                   "row_ptr has 4 elements, must have 5");
    expect_failure("rows", unpack_strided_32(&packed, 2, 7, 8, &a, diag), MC_USAGE, diag,
                   "7 rows are no row blocks of 2");
    expect_failure("vec", unpack_strided_32(&packed, 1, 3, 8, &a, diag), MC_FORMAT, diag,
                   "values has 192 elements, must have 96");
    expect_failure("vec", unpack_strided_32(&packed, 17, 51, 8, &a, diag), MC_USAGE, diag,
                   "vectors of 17 elements");
    expect_failure("cols", unpack_strided_32(&packed, 2, 6, -1, &a, diag), MC_USAGE, diag, "-1 columns");
    packed.arrays[1].type = MC_S16;
    expect_failure("type", unpack_strided_32(&packed, 2, 6, 8, &a, diag), MC_FORMAT, diag,
                   "col_idx holds s16, must hold s32");
    packed.arrays[1].type = MC_S32;
    packed.arrays[2].name = "digits";
    expect_failure("missing", unpack_strided_32(&packed, 2, 6, 8, &a, diag), MC_FORMAT, diag,
                   "there is no packed array values");
    mc_packed_free(&packed);
}

static void test_refused(mc_diag *diag) {
    static const struct {
        mc_strided form;
        const char *message;
    } forms[] = {
        {{.stride = 48, .heads = 1}, "strides of 48 slots"},
        {{.stride = 0, .heads = 1}, "strides of 0 slots"},
        {{.stride = 32, .heads = -1}, "-1 heads a row block"},
        {{.stride = 32, .heads = 33}, "33 heads a row block: must be 0 to 32"},
        {{.stride = 96, .heads = 1, .int4 = true}, "strides of 96 slots: an int4 mma takes 32 or 64"},
        {{.stride = 32, .heads = 1, .shuffle = true}, "indices are shuffled for an int4 mma only"},
    };
    mc_packed packed;
    mc_vsparse back;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        expect_failure("form", mc_strided_pack(&tiny, &forms[i].form, &packed, diag), MC_USAGE, diag,
                       forms[i].message);
        expect_failure("form", mc_strided_unpack(&packed, MC_S8, 2, &forms[i].form, 6, 8, &back, diag),
                       MC_USAGE, diag, forms[i].message);
    }
    mc_vsparse other = tiny;
    other.type = MC_S32;
    expect_failure("type", mc_strided_pack(&other, &one_head, &packed, diag), MC_CANNOT, diag,
                   "integers of at most 16 bits, the matrix s32");
    other.type = MC_S8;
    other.vec = 17;
    expect_failure("vec", mc_strided_pack(&other, &one_head, &packed, diag), MC_CANNOT, diag,
                   "the matrix 17");
    int64_t huge_row_ptr[] = {0, (int64_t)INT32_MAX + 1};
    mc_vsparse huge = {MC_S8, 1, 1, 8, 1, huge_row_ptr[1], huge_row_ptr, tiny_col_idx, tiny_values, {0}};
    expect_failure("slots", mc_strided_pack(&huge, &one_head, &packed, diag), MC_CANNOT, diag,
                   "2147483648 padded slots or more leave s32");
    mc_vsparse many = {MC_S8, 1, INT32_MAX, 8, INT32_MAX, 0, huge_row_ptr, tiny_col_idx, tiny_values, {0}};
    expect_failure("heads", mc_strided_pack(&many, &two_heads, &packed, diag), MC_CANNOT, diag,
                   "137438953408 padded slots or more leave s32");
    many.row_blocks = INT64_MAX / 64;
    expect_failure("heads", mc_strided_pack(&many, &wide_heads, &packed, diag), MC_CANNOT, diag,
                   "the heads' slots leave s64");
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_srbcrs_16(diag);
    test_strided(diag);
    test_strided_tail(diag);
    test_strided_lanes(diag);
    test_round_trips(diag);
    test_corrupted(diag);
    test_arrays(diag);
    test_refused(diag);
    mc_diag_destroy(diag);
    return check_end();
}
