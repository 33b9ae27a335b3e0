/* bitmap-tiles: bytes worked out by hand, the order in which a kernel finds vectors, round trips, arrays that
   no matrix gives, values in place, no memory. */
#include "bitmap_check.h"
#include "formats/bitmap_tiles.h"

/* -- Bytes */

/* Tiles of 16 rows, so that the second one has a row block that is missing. */
static void test_bytes(void) {
    static const int32_t starts[] = {0, 3, 4, 5, 5};
    static const uint32_t masks[] = {0x00008001, 0x00020000, 0x00020001, 0x00030000, /* tile 0, from 0 on */
                                     0x00030000, 0x00030000, 0x00030000, 0x00030000, /* from column 64 on */
                                     0x00000001, 0x00010000, 0x00010000, 0x00010000, /* from 128 on */
                                     0x00010000, 0x00010000, 0x00010000, 0x00010000, /* from 192 on */
                                     0x00000004, 0x00010000, 0x00010000, 0x00010000, /* tile 1 */
                                     0x00010000, 0x00010000, 0x00010000, 0x00010000, /* from 64 on */
                                     0,          0,          0,          0,          0, 0, 0, 0};
    static const int columns[] = {0, 1, 0, 1, 1}; /* of the pair, where the slot has its only vector */
    uint8_t values[80] = {0};
    for (int i = 0; i < 40; i++) values[2 * i + columns[i / 8]] = (uint8_t)(i + 1);
    mc_vsparse a = small_matrix(MC_S8);
    mc_packed packed;
    expect_ok("pack", bitmap_tiles_pack(&a, 16, &packed, diag), diag);
    CHECK(packed.array_count == 3, "%zu arrays", packed.array_count);
    const mc_packed_array *s = mc_packed_find(&packed, "starts"), *m = mc_packed_find(&packed, "masks"),
                          *v = mc_packed_find(&packed, "values");
    CHECK(s && s->type == MC_S32 && s->count == 5 && memcmp(s->data, starts, sizeof starts) == 0, "starts");
    CHECK(m && m->type == MC_S32 && m->count == 32 && memcmp(m->data, masks, sizeof masks) == 0, "masks");
    CHECK(v && v->type == MC_S8 && v->count == 80 && memcmp(v->data, values, sizeof values) == 0, "values");
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
}

/* A row block whose vectors are in COLUMNS, COUNT of them. Element i of all is i + 1. */
static mc_vsparse make_row(int vec, int64_t cols, int32_t *columns, int count) {
    int64_t row_ptr[] = {0, count};
    const mc_csr csr = {.rows = 1, .cols = cols, .nnz = count, .row_ptr = row_ptr, .col_idx = columns};
    mc_vsparse a;
    expect_ok("dilate", mc_vsparse_dilate(&csr, vec, MC_U8, &a, diag), diag);
    for (int i = 0; i < count * vec; i++) mc_vsparse_set_value(&a, i / vec, i % vec, i + 1);
    return a;
}

/* Both columns of a pair, 16 rows. */
static void test_slot_bytes(void) {
    static const uint8_t values[] = {1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23, 8,  24,
                                     9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31, 16, 32};
    mc_vsparse a = make_row(16, 40, (int32_t[]){34, 35}, 2);
    mc_packed packed;
    expect_ok("pack", bitmap_tiles_pack(&a, 16, &packed, diag), diag);
    const mc_packed_array *m = mc_packed_find(&packed, "masks"), *v = mc_packed_find(&packed, "values");
    CHECK(m->count == 4 && memcmp(m->data, (int32_t[]){0, 2, 1 << 16, 1 << 16}, 16) == 0, "masks of a pair");
    CHECK(v->count == 32 && memcmp(v->data, values, sizeof values) == 0, "a slot of 16 rows");
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
}

/* -- As a kernel reads them */

/* The number of the vector in column COLUMN of row block BLOCK; -1: there is none. */
static int64_t find_vector(const mc_vsparse *a, int64_t block, int64_t column) {
    if (block >= a->row_blocks) return -1;
    for (int64_t v = a->row_ptr[block]; v < a->row_ptr[block + 1]; v++)
        if (a->col_idx[v] == column) return v;
    return -1;
}

/* Of a vector, or of vector -1. */
static uint8_t find_element(const mc_vsparse *a, int64_t vector, int row) {
    return vector < 0 ? 0 : ((const uint8_t *)a->values)[vector * a->vec + row];
}

/* A reader's place. */
typedef struct reader {
    const mc_vsparse *a;
    const uint8_t *values;
    const uint32_t *word; /* the next one */
    int64_t slot, start;  /* the next one, and where the stage began */
    int64_t wrong;
} reader;

/* Column I of a slot, where VECTOR is. */
static void read_column(reader *r, int64_t vector, int i) {
    const uint8_t *slot = r->values + r->slot * 2 * r->a->vec;
    for (int row = 0; row < r->a->vec; row++)
        r->wrong += slot[row / 8 * 16 + row % 8 * 2 + i] != find_element(r->a, vector, row);
}

static void read_pair(reader *r, bool is_there, int64_t block, int64_t column) {
    const int64_t first = find_vector(r->a, block, column), second = find_vector(r->a, block, column + 1);
    r->wrong += is_there != (first >= 0 || second >= 0);
    if (first < 0 && second < 0) return;
    read_column(r, first, 0);
    read_column(r, second, 1);
    r->slot++;
}

static void read_word(reader *r, int64_t block, int64_t column) {
    const uint32_t word = *r->word++;
    r->wrong += word >> 16 != r->slot - r->start;
    for (int i = 0; i < 16; i++) read_pair(r, word >> i & 1, block, column + 2 * i);
}

static void read_stage(reader *r, int64_t first_block, int64_t blocks, int64_t column) {
    r->start = r->slot;
    for (int64_t step = 0; step < 4; step++)
        for (int64_t b = 0; b < blocks; b++) read_word(r, first_block + b, column + 32 * step);
}

static void check_places(const mc_vsparse *a, int64_t rows, const mc_packed *packed, const char *what) {
    const int64_t blocks = rows / a->vec, tiles = (a->row_blocks + blocks - 1) / blocks,
                  stages = (a->cols + 127) / 128;
    const mc_packed_array *starts = mc_packed_find(packed, "starts"),
                          *masks = mc_packed_find(packed, "masks"),
                          *values = mc_packed_find(packed, "values");
    const int32_t *start = starts->data;
    reader r = {.a = a, .values = values->data, .word = masks->data};
    CHECK(starts->count == tiles * stages + 1 && masks->count == tiles * stages * 4 * blocks &&
              values->count == (int64_t)start[tiles * stages] * 2 * a->vec && values->type == a->type,
          "%s: sizes", what);
    for (int64_t tile = 0; tile < tiles; tile++)
        for (int64_t stage = 0; stage < stages; stage++) {
            r.wrong += *start++ != r.slot;
            read_stage(&r, tile * blocks, blocks, 128 * stage);
        }
    r.wrong += *start != r.slot;
    CHECK(r.wrong == 0, "%s: %lld wrong", what, (long long)r.wrong);
}

static void check_tiles(const shape *s, mc_type type, int vec, int64_t rows) {
    char what[96];
    mc_vsparse a = make_matrix(s, type, vec), back;
    mc_packed packed;
    snprintf(what, sizeof what, "%s, vec %d, %lld x %lld in tiles of %lld", mc_type_text(type), vec,
             (long long)a.rows, (long long)a.cols, (long long)rows);
    expect_ok(what, bitmap_tiles_pack(&a, rows, &packed, diag), diag);
    check_places(&a, rows, &packed, what);
    expect_ok(what, bitmap_tiles_unpack(&packed, type, vec, rows, a.rows, a.cols, &back, diag), diag);
    CHECK(back.row_ptr && same_vsparse(&a, &back), "%s: unpacked", what);
    mc_vsparse_free(&back);
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
}

/* Tiles of one row block, of several, of more than matrices have. */
static void test_tiles(void) {
    static const int64_t rows[] = {16, 48, 128, 512};
    for (int t = 0; t < TYPES; t++)
        for (int vec = 8; vec <= 16; vec += 8)
            for (int i = 0; i < SHAPES; i++)
                for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
                    check_tiles(&shapes[i], types[t], vec, rows[r]);
    for (int i = 0; i < SHAPES; i++) check_tiles(&shapes[i], MC_S8, 8, 8);
}

/* -- Through a kernel */

static mc_kernel *make_kernel(mc_type type, int vec, int rows) {
    char fields[160];
    snprintf(fields, sizeof fields,
             "op=spmm arch=sm_90a lhs=%s rhs=%s out=s32 vec=%d staging=expand b_major=column c_major=column "
             "block_rows=%d",
             mc_type_text(type), mc_type_text(type), vec, rows);
    return outline_kernel(fields, "bitmap-tiles");
}

static void check_kernel(const shape *s, mc_type type, int vec, int rows) {
    char what[96], form[96];
    mc_kernel *kernel = make_kernel(type, vec, rows);
    mc_vsparse a = make_matrix(s, type, vec);
    snprintf(what, sizeof what, "a kernel: %s, vec %d, %lld x %lld, %d rows", mc_type_text(type), vec,
             (long long)a.rows, (long long)a.cols, rows);
    snprintf(form, sizeof form, "bitmap-tiles lhs=%s vec=%d block_rows=%d", mc_type_text(type), vec, rows);
    check_through(kernel, &a, form, what);
    mc_vsparse_free(&a);
    mc_kernel_destroy(kernel);
}

static void test_kernels(void) {
    for (int i = 0; i < SHAPES; i++)
        for (int vec = 8; vec <= 16; vec += 8) {
            check_kernel(&shapes[i], MC_S8, vec, 128);
            check_kernel(&shapes[i], MC_U8, vec, 64);
        }
}

/* -- New values */

/* Of a pair the other column, so that the vectors are no longer there, but the slots are. */
static void test_other_column(void) {
    mc_vsparse a = make_row(8, 64, (int32_t[]){7, 20, 21}, 3), other = make_row(8, 64, (int32_t[]){6, 21}, 2);
    mc_packed packed, want;
    expect_ok("pack", bitmap_tiles_pack(&a, 8, &packed, diag), diag);
    expect_ok("pack", bitmap_tiles_pack(&other, 8, &want, diag), diag);
    expect_ok("values", bitmap_tiles_pack_values(&other, 8, &packed, diag), diag);
    CHECK(same_packed(&packed, &want), "vectors in other columns of the same pairs");
    mc_packed_free(&want);
    mc_packed_free(&packed);
    mc_vsparse_free(&other);
    mc_vsparse_free(&a);
}

static void test_values(void) {
    mc_vsparse a = small_matrix(MC_U8), other = small_matrix(MC_U8);
    mc_packed packed, before;
    expect_ok("pack", bitmap_tiles_pack(&a, 16, &packed, diag), diag);
    expect_ok("pack", bitmap_tiles_pack(&a, 16, &before, diag), diag);
    mc_vsparse_set_value(&other, 4, 0, 99);
    other.col_idx[4] = 6; /* another pair */
    expect_failure("column", bitmap_tiles_pack_values(&other, 16, &packed, diag), MC_FORMAT, diag,
                   "masks[16] is 4, must be 8 for this matrix");
    other.col_idx[4] = 128;
    expect_failure("stage", bitmap_tiles_pack_values(&other, 16, &packed, diag), MC_FORMAT, diag,
                   "starts[3] is 5, must be 4 for this matrix");
    other.col_idx[4] = 5, other.cols = 260;
    expect_failure("columns", bitmap_tiles_pack_values(&other, 16, &packed, diag), MC_FORMAT, diag,
                   "starts has 5 elements, must have 7");
    other.cols = 130;
    expect_failure("rows", bitmap_tiles_pack_values(&other, 24, &packed, diag), MC_FORMAT, diag,
                   "starts has 5 elements, must have 3");
    expect_failure("rows", bitmap_tiles_pack_values(&other, 20, &packed, diag), MC_CANNOT, diag,
                   "tiles of a multiple of 8 rows up to 512, the kernel's have 20");
    other.type = MC_S8;
    expect_failure("type", bitmap_tiles_pack_values(&other, 16, &packed, diag), MC_FORMAT, diag,
                   "values holds u8, must hold s8");
    other.type = MC_U8;
    packed.arrays[2].count--;
    expect_failure("values", bitmap_tiles_pack_values(&other, 16, &packed, diag), MC_FORMAT, diag,
                   "values has 79 elements, must have 80");
    packed.arrays[2].count++;
    CHECK(same_packed(&packed, &before), "refused, but changed");
    mc_packed_free(&before);
    mc_packed_free(&packed);
    mc_vsparse_free(&other);
    mc_vsparse_free(&a);
}

/* -- Vectors of zeros */

static bool same_dense(const mc_vsparse *a, const mc_vsparse *b) {
    int64_t wrong = a->vec != b->vec || a->row_blocks != b->row_blocks || a->cols != b->cols;
    for (int64_t i = 0; wrong == 0 && i < a->row_blocks * a->cols; i++) {
        const int64_t block = i / a->cols, column = i % a->cols;
        const int64_t in_a = find_vector(a, block, column), in_b = find_vector(b, block, column);
        for (int r = 0; r < a->vec; r++) wrong += find_element(a, in_a, r) != find_element(b, in_b, r);
    }
    return wrong == 0;
}

/* Vectors of zeros beside others, which are lost; alone, which become two; two of them; in the last column,
   which has none beside it. */
static void test_zeros(int vec) {
    static const int32_t want[] = {2, 5, 10, 11, 30, 31, 40, 41, 66};
    enum { COUNT = 8, WANT = sizeof want / sizeof *want };
    static const bool zeros[COUNT] = {false, true, true, false, true, true, true, true};
    mc_vsparse a = make_row(vec, 67, (int32_t[]){2, 3, 4, 5, 11, 31, 40, 66}, COUNT), back;
    mc_packed packed, again;
    for (int i = 0; i < COUNT * vec; i++)
        mc_vsparse_set_value(&a, i / vec, i % vec, !zeros[i / vec] && i % vec == vec - 1 ? 0x80 : 0);
    expect_ok("pack", bitmap_tiles_pack(&a, vec, &packed, diag), diag);
    expect_ok("unpack", bitmap_tiles_unpack(&packed, MC_U8, vec, vec, vec, 67, &back, diag), diag);
    CHECK(back.vectors == WANT && memcmp(back.col_idx, want, sizeof want) == 0, "vec %d: zeros", vec);
    CHECK(same_dense(&a, &back), "vec %d: zeros: another matrix", vec);
    expect_ok("pack", bitmap_tiles_pack(&back, vec, &again, diag), diag);
    CHECK(same_packed(&packed, &again), "vec %d: zeros: other arrays", vec);
    mc_packed_free(&again);
    mc_packed_free(&packed);
    mc_vsparse_free(&back);
    mc_vsparse_free(&a);
}

/* -- What no matrix gives */

static void expect_refused(const mc_packed *packed, mc_type type, int vec, int64_t tile_rows, int64_t rows,
                           int64_t cols, mc_status status, const char *message) {
    mc_vsparse back;
    expect_failure(message, bitmap_tiles_unpack(packed, type, vec, tile_rows, rows, cols, &back, diag),
                   status, diag, message);
    CHECK(!back.values && back.vectors == 0, "%s: the output is not zeroed", message);
}

static void test_damaged(void) {
    static const damage damages[] = {
        {"starts", 0, 2, "starts[0] is 2, must be 0, the slots before"},
        {"starts", 1, 4, "starts[1] is 4, must be 3, the slots before"},
        {"starts", 2, 0x80000000, "starts[2] is -2147483648, must be 4, the slots before"},
        {"starts", 3, 10, "starts[3] is 10, must be 5, the slots before"},
        {"starts", 4, 4, "starts[4] is 4, must be 5, the slots before"},
        {"masks", 0, 0x00018001, "masks[0] is 00018001, must be 00008001: 0 slots of the stage come before"},
        {"masks", 1, 0xffff0000, "masks[1] is ffff0000, must be 00020000: 2 slots of the stage come before"},
        {"masks", 2, 0x00020003, "masks[3] is 00030000, must be 00040000: 4 slots of the stage come before"},
        {"masks", 24, 0x00010000,
         "masks[24] is 00010000, must be 00000000: 0 slots of the stage come before"},
        {"masks", 8, 3,
         "masks[8] is 00000003, must be 00000001: 0 slots of the stage come before, and only "
         "pairs of 0001 may be there"},
        {"masks", 10, 0x00010001,
         "masks[10] is 00010001, must be 00010000: 1 slots of the stage come "
         "before, and only pairs of 0000 may be there"},
        {"masks", 17, 0x00010001, "only pairs of 0000 may be there"},
        {"masks", 31, 0x00008000, "masks[31] is 00008000, must be 00000000"},
        {"masks", 6, 0x00030004, "masks[7] is 00030000, must be 00040000"},
        {"masks", 16, 0, "masks[17] is 00010000, must be 00000000"},
    };
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        mc_vsparse a = small_matrix(MC_S8);
        mc_packed packed;
        expect_ok("pack", bitmap_tiles_pack(&a, 16, &packed, diag), diag);
        do_damage(&damages[i], &packed);
        expect_refused(&packed, MC_S8, 8, 16, 24, 130, MC_FORMAT, damages[i].message);
        mc_packed_free(&packed);
        mc_vsparse_free(&a);
    }
}

static void test_other_arrays(void) {
    mc_vsparse a = small_matrix(MC_S8);
    mc_packed packed;
    expect_ok("pack", bitmap_tiles_pack(&a, 16, &packed, diag), diag);
    expect_refused(&packed, MC_S8, 8, 16, 25, 130, MC_USAGE, "25 rows are no row blocks of 8");
    expect_refused(&packed, MC_S8, 8, 16, 24, -1, MC_USAGE, "-1 columns");
    expect_refused(&packed, MC_S8, 0, 16, 24, 130, MC_USAGE, "vectors of 0 elements");
    expect_refused(&packed, MC_S8, 8, 16, 40, 130, MC_FORMAT, "starts has 5 elements, must have 7");
    expect_refused(&packed, MC_S8, 8, 16, 24, 257, MC_FORMAT, "starts has 5 elements, must have 7");
    expect_refused(&packed, MC_S8, 8, 32, 64, 130, MC_FORMAT, "masks has 32 elements, must have 64");
    expect_refused(&packed, MC_S8, 8, 16, 24, 129, MC_FORMAT,
                   "values[49] is behind the last column and must be 0");
    expect_refused(&packed, MC_U8, 8, 16, 24, 130, MC_FORMAT, "values holds s8, must hold u8");
    expect_refused(&packed, MC_S16, 8, 16, 24, 130, MC_CANNOT, "holds elements of 8 bits, the matrix s16");
    expect_refused(&packed, MC_S8, 4, 16, 24, 130, MC_CANNOT, "vectors of a multiple of 8 elements up to 16");
    expect_refused(&packed, MC_S8, 8, 0, 24, 130, MC_CANNOT, "of 8 rows up to 512, the kernel's have 0");
    expect_refused(&packed, MC_S8, 8, 16, 8 * 64, INT32_MAX, MC_CANNOT,
                   "64 row blocks of 2147483647 columns in tiles of 2 row blocks: the masks leave s32");
    packed.arrays[2].count = 81;
    expect_refused(&packed, MC_S8, 8, 16, 24, 130, MC_FORMAT, "values has 81 elements, must have 80");
    packed.arrays[2].count = 80, packed.arrays[0].type = MC_U8;
    expect_refused(&packed, MC_S8, 8, 16, 24, 130, MC_FORMAT, "starts holds u8, must hold s32");
    static const char *const names[] = {"starts", "masks", "values"};
    packed.arrays[0].type = MC_S32;
    for (int i = 0; i < 3; i++) {
        char message[64];
        packed.arrays[i].name = "other";
        snprintf(message, sizeof message, "there is no packed array %s", names[i]);
        expect_refused(&packed, MC_S8, 8, 16, 24, 130, MC_FORMAT, message);
        packed.arrays[i].name = names[i];
    }
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
}

/* -- What is not packed */

static void test_refused(void) {
    static const struct {
        mc_vsparse a; /* of which nothing else is looked at */
        int64_t rows;
        const char *message;
    } rows[] = {
        {{.type = MC_S4, .vec = 8}, 128, "bitmap-tiles holds elements of 8 bits, the matrix s4"},
        {{.type = MC_S8, .vec = 4}, 128, "bitmap-tiles holds vectors of a multiple of 8 elements up to 16"},
        {{.type = MC_S8, .vec = 16}, 8, "tiles of a multiple of 16 rows up to 512, the kernel's have 8"},
        {{.type = MC_S8, .vec = 16}, 24, "tiles of a multiple of 16 rows up to 512, the kernel's have 24"},
        {{.type = MC_S8, .vec = 8}, -8, "tiles of a multiple of 8 rows up to 512, the kernel's have -8"},
        {{.type = MC_S8, .vec = 8}, 520, "tiles of a multiple of 8 rows up to 512, the kernel's have 520"},
        {{.type = MC_S8, .vec = 8, .row_blocks = 32, .cols = INT32_MAX},
         64,
         "32 row blocks of 2147483647 columns in tiles of 8 row blocks: the masks leave s32"},
        {{.type = MC_S8, .vec = 8, .row_blocks = (int64_t)1 << 62, .cols = 1}, 8, "the masks leave s32"},
        {{.type = MC_S8, .vec = 8, .row_blocks = 1, .cols = 1, .vectors = (int64_t)1 << 31},
         64,
         "2147483648 vectors: their numbers leave s32"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mc_packed packed;
        expect_failure(rows[i].message, bitmap_tiles_pack(&rows[i].a, rows[i].rows, &packed, diag), MC_CANNOT,
                       diag, rows[i].message);
        CHECK(packed.array_count == 0, "%s: the output is not zeroed", rows[i].message);
    }
}

static void test_memory(void) {
    mc_kernel *kernel = make_kernel(MC_S8, 8, 64);
    check_memory(kernel, &(const allocations){.pack = 3, .values = 2, .unpack = 3, .slots = 4});
    mc_kernel_destroy(kernel);
}

int main(void) {
    diag = mc_diag_create();
    test_bytes();
    test_slot_bytes();
    test_tiles();
    test_kernels();
    test_values();
    test_other_column();
    test_zeros(8);
    test_zeros(16);
    test_damaged();
    test_other_arrays();
    test_refused();
    test_memory();
    mc_diag_destroy(diag);
    return check_end();
}
