/* HRPB: arrays worked out by hand, round trips, arrays that no matrix gives, allocations that fail,
   values in place, virtual panels. */
#include "failing_memory.h"
#include "base/real.h"
#include "parts/hrpb.h"
#include "scratch.h"

static const mc_hrpb small = {.tile_rows = 16, .tile_cols = 4}, tall = {.tile_rows = 32, .tile_cols = 8};

/* 18 x 9: row 0 has columns 1 and 7, row 1 column 8, row 15 columns 0, 1, 3 and 8, row 17 column 2; the others nothing. */
static mc_vsparse make_matrix(mc_type type, mc_diag *diag) {
    int64_t row_ptr[19] = {0, 2, 3};
    int32_t col_idx[] = {1, 7, 8, 0, 1, 3, 8, 2};
    for (int r = 3; r < 19; r++) row_ptr[r] = r < 16 ? 3 : r < 18 ? 7 : 8;
    const mc_csr csr = {18, 9, 8, row_ptr, col_idx, MC_CSR_PATTERN, NULL, 0};
    mc_vsparse a;
    expect_ok("dilate", mc_vsparse_dilate(&csr, 1, type, &a, diag), diag);
    for (int i = 0; i < 8; i++) mc_vsparse_set_value(&a, i, 0, i + 1);
    return a;
}

static void check_array(const mc_packed *packed, const char *name, const void *want, size_t bytes) {
    const mc_packed_array *array = mc_packed_find(packed, name);
    size_t size = array ? (size_t)mc_type_size(array->type, array->count) : 0;
    CHECK(array && size == bytes && memcmp(array->data, want, bytes) == 0, "%s: %zu bytes, want %zu", name,
          size, bytes);
}

/* -- Worked out by hand -------------------------------------------------------------------------------- */

/* TM = 16, TK = 4: panel 0's active columns are 0 1 3 7 and 8, panel 1's is 2. A block is 8 + 8 + 4 bytes of indices and
   s8 values, 32 bytes in all. */
typedef struct small_block {
    uint64_t pattern;
    uint32_t col_ptr[2], row;
    uint8_t values[12];
} small_block;
_Static_assert(sizeof(small_block) == 32, "a block without padding");

static void test_small(mc_diag *diag) {
    static const int32_t row_ptr[] = {0, 2, 3}, size_ptr[] = {0, 32, 64, 96},
                         active_cols[] = {0, 1, 3, 7, 8, -1, -1, -1, 2, -1, -1, -1};
    /* Row 0: places 1 and 3; row 15: 0, 1, 2. Row 1 and 15 of the next block: place 0. Row 1 of the last one: 0. */
    const small_block blocks[] = {{0xaull | 7ull << 60, {0, 1}, 0, {1, 2, 4, 5, 6}},
                                  {1ull << 4 | 1ull << 60, {0, 1}, 0, {3, 7}},
                                  {1ull << 4, {0, 1}, 0, {8}}};
    mc_vsparse a = make_matrix(MC_S8, diag);
    mc_packed packed;
    expect_ok("export", mc_hrpb_export(&a, &small, &packed, diag), diag);
    check_array(&packed, "blocked_row_ptr", row_ptr, sizeof row_ptr);
    check_array(&packed, "size_ptr", size_ptr, sizeof size_ptr);
    check_array(&packed, "active_cols", active_cols, sizeof active_cols);
    check_array(&packed, "packed_blocks", blocks, sizeof blocks);
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
}

/* TM = 32, TK = 8: one panel with the active columns 0 1 2 3 7 8, one block, and three bricks: column 0 of bricks has two. */
static void test_tall(mc_diag *diag) {
    struct {
        uint64_t patterns[4];
        uint32_t col_ptr[3], rows[4];
        uint16_t values[10];
    } block = {
        {2 | 11ull << 60, 4 << 4, 1 | 2 << 4 | 2ull << 60}, {0, 2, 3}, {0, 1, 0}, {1, 4, 5, 6, 8, 2, 3, 7}};
    static const int32_t row_ptr[] = {0, 1}, size_ptr[] = {0, 80}, active_cols[] = {0, 1, 2, 3, 7, 8, -1, -1};
    mc_vsparse a = make_matrix(MC_U16, diag);
    mc_packed packed;
    expect_ok("export", mc_hrpb_export(&a, &tall, &packed, diag), diag);
    check_array(&packed, "blocked_row_ptr", row_ptr, sizeof row_ptr);
    check_array(&packed, "size_ptr", size_ptr, sizeof size_ptr);
    check_array(&packed, "active_cols", active_cols, sizeof active_cols);
    check_array(&packed, "packed_blocks", &block, sizeof block);
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
}

/* -- There and back ------------------------------------------------------------------------------------ */

static const mc_type types[] = {MC_S8,  MC_U8,   MC_S12, MC_U12,  MC_S16,  MC_U16,
                                MC_F16, MC_BF16, MC_F32, MC_TF32, MC_E4M3, MC_TF32RZ};
enum { TYPES = sizeof types / sizeof types[0] };

static void check_round_trip(const mc_csr *csr, mc_type type, const mc_hrpb *form, mc_diag *diag) {
    mc_vsparse a, back;
    mc_packed packed;
    expect_ok("dilate", mc_vsparse_dilate(csr, 1, type, &a, diag), diag);
    expect_ok("export", mc_hrpb_export(&a, form, &packed, diag), diag);
    mc_vsparse_fill(&a, MC_VALUES_EXTREME, 4, NULL);
    expect_ok("values", mc_hrpb_export_values(&a, form, &packed, diag), diag);
    for (int64_t i = 0; i < a.vectors && mc_type_is_real(type); i++) /* of tf32 they are rounded */
        mc_vsparse_set_value(&a, i, 0, real_packed(type, (uint32_t)mc_vsparse_value(&a, i, 0)));
    expect_ok("import", mc_hrpb_import(&packed, type, form, a.rows, a.cols, &back, diag), diag);
    CHECK(back.row_ptr && same_vsparse(&a, &back), "%s, %d x %d, of %d x %d", mc_type_text(type),
          form->tile_rows, form->tile_cols, (int)a.rows, (int)a.cols);
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
    mc_vsparse_free(&back);
}

/* No rows, no columns, no nonzeros, one of each, panels that are not whole, full matrices, many blocks. */
static const struct {
    int rows, cols;
    double sparsity;
} shapes[] = {{0, 0, 0},    {0, 5, 0},       {5, 0, 0},    {40, 30, 1}, {1, 1, 0},     {16, 1, 0},
              {17, 1, 0},   {1, 70, .5},     {16, 4, 0},   {32, 16, 0}, {33, 65, 0},   {15, 100, .9},
              {31, 50, .7}, {100, 300, .95}, {64, 64, .5}, {47, 3, .3}, {200, 90, .99}};

static void test_round_trips(mc_diag *diag) {
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const mc_pattern pattern = {shapes[i].rows, shapes[i].cols, shapes[i].sparsity, MC_PATTERN_UNIFORM, 0,
                                    i + 1};
        mc_csr csr;
        expect_ok("generate", mc_csr_generate(&pattern, &csr, diag), diag);
        for (int t = 0; t < TYPES; t++)
            for (int tm = 16; tm <= 32; tm += 16)
                for (int tk = 4; tk <= 64; tk += tk < 16 ? 4 : 16)
                    check_round_trip(&csr, types[t], &(mc_hrpb){tm, tk}, diag);
        mc_csr_free(&csr);
    }
}

/* -- Arrays that no matrix gives ----------------------------------------------------------------------- */

/* Of make_matrix in `small`, s12: its three blocks have 20 bytes of arrays and are 32 bytes long. */
static const struct {
    const char *array;
    int index, value; /* of packed_blocks a byte */
    const char *message;
} damages[] = {
    {"blocked_row_ptr", 0, 1, "blocked_row_ptr[0] is 1, must be 0"},
    {"blocked_row_ptr", 1, 4, "blocked_row_ptr[2] is 3, below the one before, 4"},
    {"blocked_row_ptr", 2, 4, "size_ptr has 4 elements, must have 5"},
    {"blocked_row_ptr", 2, INT32_MAX, "size_ptr has 4 elements, must have 2147483648"},
    {"blocked_row_ptr", 1, 1, "active_cols[5] is -1 of 9 columns"},
    {"size_ptr", 0, 16, "size_ptr[0] is 16, must be 0"},
    {"size_ptr", 1, -1, "size_ptr[1] is -1, below the one before, 0"},
    {"size_ptr", 3, 128, "packed_blocks has 96 elements, must have 128"},
    {"size_ptr", 1, 48, "block 0: size_ptr gives it 48 bytes, its patterns want another number"},
    {"size_ptr", 1, 16, "block 0: size_ptr gives it 16 bytes, fewer than its arrays take"},
    {"active_cols", 0, -1, "active_cols[0] is -1 of 9 columns"},
    {"active_cols", 3, 9, "active_cols[3] is 9 of 9 columns"},
    {"active_cols", 3, -1, "active_cols[3] is -1 of 9 columns"},
    {"active_cols", 4, -1, "active_cols[4] is -1 of 9 columns"},
    {"active_cols", 4, 7, "active_cols[4] is 7 after 7: columns must ascend"},
    {"active_cols", 2, 1, "active_cols[2] is 1 after 1: columns must ascend"},
    {"active_cols", 6, 8, "active_cols[6] is 8 behind a -1"},
    {"active_cols", 9, 3, "block 2: an active column has nothing, in column 0 of bricks"},
    {"packed_blocks", 8, 1, "block 0: col_ptr[0] is 1, must be 0"},
    {"packed_blocks", 12, 2, "block 0: a column has 2 bricks, more than fit"},
    {"packed_blocks", 15, 255, "more than fit"},
    {"packed_blocks", 12, 0, "block 0: an active column has nothing, in column 0 of bricks"},
    {"packed_blocks", 16, 1, "block 0: rows has 1, which must ascend in a column and be the block's"},
    {"packed_blocks", 19, 128, "block 0: rows has 2147483648"},
    {"packed_blocks", 0, 2, "block 0: an active column has nothing, in column 0 of bricks"},
    {"packed_blocks", 32, 2, "block 1: the pattern has places outside of the matrix, of brick 0"},
    {"packed_blocks", 65, 1, "block 2: the pattern has places outside of the matrix, of brick 0"},
    {"packed_blocks", 64, 0, "block 2: there is nothing in brick 0"},
    {"packed_blocks", 30, 1, "block 0: padding must be 0, byte 30"},
    {"packed_blocks", 21, 8, "block 0: it holds 2049, out of s12's range"},
};

static void damage(const mc_packed *packed, const char *name, int index, int value) {
    const mc_packed_array *array = mc_packed_find(packed, name);
    if (array->type == MC_S8) ((uint8_t *)array->data)[index] = (uint8_t)value;
    else ((int32_t *)array->data)[index] = value;
}

static void test_damaged(mc_diag *diag) {
    mc_vsparse a = make_matrix(MC_S12, diag), back;
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        mc_packed packed;
        expect_ok("export", mc_hrpb_export(&a, &small, &packed, diag), diag);
        damage(&packed, damages[i].array, damages[i].index, damages[i].value);
        expect_failure(damages[i].message, mc_hrpb_import(&packed, a.type, &small, 18, 9, &back, diag),
                       MC_FORMAT, diag, damages[i].message);
        CHECK(!back.values && back.vectors == 0, "the output is not zeroed");
        mc_packed_free(&packed);
    }
    mc_vsparse_free(&a);
}

/* In `tall` a column may have two bricks; the second column of bricks of one block has only two active columns. */
static const struct {
    int index, value;
    const char *message;
} tall_damages[] = {
    {48, 0, "block 0: rows has 0, which must ascend in a column and be the block's"},
    {24, 1, "block 0: patterns and rows must be 0 from brick 3 on"},
    {56, 1, "block 0: patterns and rows must be 0 from brick 3 on"},
    {40, 2, "block 0: an active column has nothing, in column 1 of bricks"},
    {36, 1, "block 0: an active column has nothing, in column 0 of bricks"},
    {40, 0, "block 0: col_ptr has 0, below the one before"},
    {16, 5, "block 0: the pattern has places outside of the matrix, of brick 2"},
};

static void test_tall_damaged(mc_diag *diag) {
    mc_vsparse a = make_matrix(MC_U16, diag), back;
    for (size_t i = 0; i < sizeof tall_damages / sizeof tall_damages[0]; i++) {
        mc_packed packed;
        expect_ok("export", mc_hrpb_export(&a, &tall, &packed, diag), diag);
        damage(&packed, "packed_blocks", tall_damages[i].index, tall_damages[i].value);
        expect_failure(tall_damages[i].message, mc_hrpb_import(&packed, a.type, &tall, 18, 9, &back, diag),
                       MC_FORMAT, diag, tall_damages[i].message);
        mc_packed_free(&packed);
    }
    mc_vsparse_free(&a);
}

/* Any byte of any array changed: refused, or a matrix that becomes these very arrays. */
static void test_any_damage(mc_diag *diag) {
    const mc_pattern pattern = {40, 30, .8, MC_PATTERN_UNIFORM, 0, 5};
    const mc_hrpb form = {.tile_rows = 32, .tile_cols = 8};
    uint32_t state = 1;
    int taken = 0;
    mc_csr csr;
    mc_vsparse a, back;
    mc_packed packed, again;
    expect_ok("generate", mc_csr_generate(&pattern, &csr, diag), diag);
    expect_ok("dilate", mc_vsparse_dilate(&csr, 1, MC_S16, &a, diag), diag);
    mc_vsparse_fill(&a, MC_VALUES_FULL, 4, NULL);
    expect_ok("export", mc_hrpb_export(&a, &form, &packed, diag), diag);
    for (int i = 0; i < 20000; i++) {
        state = state * 1664525 + 1013904223;
        const mc_packed_array *array = &packed.arrays[(state >> 28) % 4];
        const int64_t size = mc_type_size(array->type, array->count);
        uint8_t *byte = (uint8_t *)array->data + (state >> 8) % size, was = *byte;
        state = state * 1664525 + 1013904223;
        *byte ^= (uint8_t)(state >> 30 & 1 ? 1u << (state >> 27 & 7) : state >> 16);
        mc_status status = mc_hrpb_import(&packed, MC_S16, &form, a.rows, a.cols, &back, diag);
        CHECK((status == MC_FORMAT) == (mc_diag_count(diag) == 1), "status %d", (int)status);
        if (status == MC_OK) {
            taken++;
            expect_ok("again", mc_hrpb_export(&back, &form, &again, diag), diag);
            for (size_t n = 0; n < 4; n++) {
                const mc_packed_array *is = &again.arrays[n], *was_given = &packed.arrays[n];
                CHECK(is->count == was_given->count &&
                          memcmp(is->data, was_given->data, (size_t)mc_type_size(is->type, is->count)) == 0,
                      "%s is another one", is->name);
            }
            mc_packed_free(&again);
        }
        mc_diag_clear(diag);
        mc_vsparse_free(&back);
        *byte = was;
    }
    CHECK(taken > 1000 && taken < 19000, "%d of 20000 were matrices", taken);
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
    mc_csr_free(&csr);
}

/* Each allocation fails in turn, until none is left to fail: MC_NOMEM, and nothing is left. */
static void test_memory(mc_diag *diag) {
    mc_vsparse a = make_matrix(MC_S8, diag), back;
    mc_packed given, packed;
    expect_ok("export", mc_hrpb_export(&a, &small, &given, diag), diag);
    for (int what = 0; what < 4; what++) {
        mc_status status = MC_NOMEM;
        int count = 0;
        for (; status == MC_NOMEM && count < 40; count++) {
            mc_packed split = given;
            failing_after = count;
            if (what == 0) status = mc_hrpb_export(&a, &small, &packed, NULL);
            else if (what == 1) status = mc_hrpb_import(&given, MC_S8, &small, 18, 9, &back, NULL);
            else if (what == 2) status = mc_hrpb_export_values(&a, &small, &given, NULL);
            else status = mc_hrpb_split(&split, 1, NULL);
            failing_after = -1;
            if (what == 0) CHECK(status == MC_OK || packed.array_count == 0, "arrays are left");
            if (what == 0) mc_packed_free(&packed);
            if (what == 1) CHECK(status == MC_OK || back.values == NULL, "a matrix is left");
            if (what == 1) mc_vsparse_free(&back);
            if (what == 3 && status == MC_OK) free(split.arrays[4].data);
        }
        CHECK(status == MC_OK && count > (what < 3 ? 4 : 1), "operation %d: %d runs, status %d", what, count,
              (int)status);
    }
    mc_packed_free(&given);
    mc_vsparse_free(&a);
}

static void test_refused(mc_diag *diag) {
    mc_vsparse a = make_matrix(MC_S8, diag), back;
    mc_packed packed;
    static const struct {
        mc_hrpb form;
        const char *message;
    } forms[] = {{{8, 16}, "HRPB with panels of 8 rows: must be 16 or 32"},
                 {{16, 0}, "HRPB with blocks of 0 columns: must be a multiple of 4, at most 64"},
                 {{16, 68}, "HRPB with blocks of 68 columns"},
                 {{32, 6}, "HRPB with blocks of 6 columns"}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        expect_failure("form", mc_hrpb_export(&a, &forms[i].form, &packed, diag), MC_USAGE, diag,
                       forms[i].message);
        expect_failure("form", mc_hrpb_import(&packed, MC_S8, &forms[i].form, 18, 9, &back, diag), MC_USAGE,
                       diag, forms[i].message);
    }
    expect_ok("export", mc_hrpb_export(&a, &small, &packed, diag), diag);
    expect_failure("rows", mc_hrpb_import(&packed, MC_S8, &small, 33, 9, &back, diag), MC_FORMAT, diag,
                   "blocked_row_ptr has 3 elements, must have 4");
    expect_failure("rows", mc_hrpb_import(&packed, MC_S8, &small, -1, 9, &back, diag), MC_USAGE, diag,
                   "-1 rows");
    expect_failure("rows", mc_hrpb_import(&packed, MC_S8, &small, 17, 9, &back, diag), MC_FORMAT, diag,
                   "places outside of the matrix");
    expect_failure("type", mc_hrpb_import(&packed, MC_F32, &small, 18, 9, &back, diag), MC_FORMAT, diag,
                   "block 0: size_ptr gives it 32 bytes");
    expect_failure("type", mc_hrpb_import(&packed, MC_S4, &small, 18, 9, &back, diag), MC_CANNOT, diag,
                   "HRPB holds values of whole bytes, the matrix s4");
    a.col_idx[0]++;
    expect_failure("values", mc_hrpb_export_values(&a, &small, &packed, diag), MC_FORMAT, diag,
                   "must be 2 for this matrix");
    a.col_idx[0] = 0;
    expect_failure("values", mc_hrpb_export_values(&a, &small, &packed, diag), MC_FORMAT, diag,
                   "other bricks");
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
    const mc_pattern pattern = {4, 4, 0, MC_PATTERN_UNIFORM, 0, 1};
    mc_csr csr;
    expect_ok("generate", mc_csr_generate(&pattern, &csr, diag), diag);
    expect_ok("dilate", mc_vsparse_dilate(&csr, 2, MC_S8, &a, diag), diag);
    expect_failure("vec", mc_hrpb_export(&a, &small, &packed, diag), MC_CANNOT, diag,
                   "HRPB is of single nonzeros, the matrix has vectors of 2");
    mc_vsparse_free(&a);
    mc_csr_free(&csr);
}

/* -- Virtual panels ------------------------------------------------------------------------------------ */

/* Panels of 10, 0, 1 and 1 blocks, 3 on average: with one wave the first one has ceil(10 / 3) = 4 parts, with two 2. */
static void test_split(mc_diag *diag) {
    static const struct {
        double waves;
        size_t count;
        int32_t wanted[7][4];
    } rows[] = {
        {0, 4, {{0, 0, 10, 0}, {1, 10, 10, 0}, {2, 10, 11, 0}, {3, 11, 12, 0}}},
        {1,
         7,
         {{0, 0, 2, 3 << 16},
          {0, 2, 5, 1 | 3 << 16},
          {0, 5, 7, 2 | 3 << 16},
          {0, 7, 10, 3 | 3 << 16},
          {1, 10, 10, 0},
          {2, 10, 11, 0},
          {3, 11, 12, 0}}},
        {2, 5, {{0, 0, 5, 1 << 16}, {0, 5, 10, 1 | 1 << 16}, {1, 10, 10, 0}, {2, 10, 11, 0}, {3, 11, 12, 0}}},
    };
    static int32_t row_ptr[] = {0, 10, 10, 11, 12};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mc_packed packed = {.arrays = {{"blocked_row_ptr", MC_S32, 5, row_ptr}}, .array_count = 1};
        expect_ok("split", mc_hrpb_split(&packed, rows[i].waves, diag), diag);
        check_array(&packed, "virtual_panels", rows[i].wanted, rows[i].count * sizeof rows[i].wanted[0]);
        free(packed.arrays[1].data);
    }
    mc_packed none = {.array_count = 0};
    expect_failure("split", mc_hrpb_split(&none, 1, diag), MC_FORMAT, diag,
                   "there is no packed array blocked_row_ptr");
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_small(diag);
    test_tall(diag);
    test_round_trips(diag);
    test_damaged(diag);
    test_tall_damaged(diag);
    test_any_damage(diag);
    test_memory(diag);
    test_refused(diag);
    test_split(diag);
    mc_diag_destroy(diag);
    return check_end();
}
