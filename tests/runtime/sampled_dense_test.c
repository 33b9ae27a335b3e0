/* sampled-dense: literal layouts, what the kernel takes for granted, round trips, and refusal of arrays that no mask has. */
#include "scratch.h"

/* Row block 0 has vectors at columns 1, 4, 6 and 9, row block 1 none, row block 2 one at column 0. Vectors of 2 */
static int64_t tiny_row_ptr[] = {0, 4, 4, 5};
static int32_t tiny_col_idx[] = {1, 4, 6, 9, 0};
static float tiny_values[10];
static const mc_vsparse tiny = {MC_F32, 2, 6, 12, 3, 5, tiny_row_ptr, tiny_col_idx, tiny_values, {0}};
static const mc_sampled_tiles by_fives = {.tile_n = 5}, in_strides = {8, MC_ORDER_SRBCRS16};

static void check_array(const mc_packed *packed, const char *name, const int32_t *want, int64_t count) {
    const mc_packed_array *array = mc_packed_find(packed, name);
    CHECK(array != NULL && array->count == count, "%s is missing, or of another length", name);
    if (array && array->count == count)
        CHECK(memcmp(array->data, want, (size_t)count * sizeof *want) == 0, "%s is not as written here",
              name);
}

/* Tiles of columns 0 to 4, 5 to 9, 10 and 11. */
static void test_vectors(mc_diag *diag) {
    static const int32_t tile_ptr[] = {0, 2, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5};
    mc_packed packed;
    expect_ok("pack", mc_sampled_dense_pack(&tiny, &by_fives, &packed, diag), diag);
    check_array(&packed, "tile_ptr", tile_ptr, 12);
    check_array(&packed, "col_idx", tiny_col_idx, 5);
    mc_packed_free(&packed);
}

/* Padding goes with the last vector: row block 0's with column 9. */
static void test_strides(mc_diag *diag) {
    static const int32_t tile_ptr[] = {0, 3, 16, 16, 16, 16, 16, 32, 32};
    int32_t col_idx[32];
    mc_packed packed;
    memset(col_idx, -1, sizeof col_idx);
    memcpy(col_idx, tiny_col_idx, 4 * sizeof *col_idx);
    col_idx[16] = 0;
    expect_ok("pack", mc_sampled_dense_pack(&tiny, &in_strides, &packed, diag), diag);
    check_array(&packed, "tile_ptr", tile_ptr, 9);
    check_array(&packed, "col_idx", col_idx, 32);
    mc_packed_free(&packed);
}

/* -- Random masks ------------------------------------------------------------------------------------- */

/* Each slot lies in one tile, that of its column, and slots follow one another. */
static void check_tiles(const mc_vsparse *mask, const mc_sampled_tiles *form, const mc_packed *packed) {
    const int32_t *ptr = mc_packed_find(packed, "tile_ptr")->data;
    const mc_packed_array *columns = mc_packed_find(packed, "col_idx");
    int64_t tiles = (mask->cols + form->tile_n - 1) / form->tile_n, slot = 0, vectors = 0, wrong = 0;
    for (int64_t b = 0; b < mask->row_blocks; b++, ptr += tiles + 1)
        for (int64_t tile = 0; tile < tiles; tile++) {
            wrong += ptr[tile] != slot;
            for (; slot < ptr[tile + 1] && slot < columns->count; slot++) {
                int32_t column = ((int32_t *)columns->data)[slot];
                if (column >= 0) wrong += column / form->tile_n != tile || column != mask->col_idx[vectors++];
            }
        }
    CHECK(wrong == 0 && slot == columns->count && vectors == mask->vectors, "tiles of %d, order %d: %d wrong",
          (int)form->tile_n, (int)form->order, (int)wrong);
}

static bool same_columns(const mc_vsparse *a, const mc_vsparse *b) {
    return a->row_blocks == b->row_blocks && a->vectors == b->vectors &&
           memcmp(a->row_ptr, b->row_ptr, (size_t)(a->row_blocks + 1) * sizeof *a->row_ptr) == 0 &&
           memcmp(a->col_idx, b->col_idx, (size_t)a->vectors * sizeof *a->col_idx) == 0;
}

static void check_mask(const mc_vsparse *mask, const mc_sampled_tiles *form, mc_diag *diag) {
    mc_packed packed;
    mc_vsparse back;
    expect_ok("pack", mc_sampled_dense_pack(mask, form, &packed, diag), diag);
    check_tiles(mask, form, &packed);
    expect_ok("same", mc_sampled_dense_pack_values(mask, form, &packed, diag), diag);
    expect_ok("unpack",
              mc_sampled_dense_unpack(&packed, mask->vec, form, mask->rows, mask->cols, &back, diag), diag);
    CHECK(back.row_ptr && same_columns(mask, &back), "tiles of %d, order %d", (int)form->tile_n,
          (int)form->order);
    mc_packed_free(&packed);
    mc_vsparse_free(&back);
}

static void test_masks(mc_diag *diag) {
    static const mc_pattern patterns[] = {
        {7, 90, .5, MC_PATTERN_UNIFORM, 0, 1},     {7, 90, 1, MC_PATTERN_UNIFORM, 0, 2},
        {5, 200, .8, MC_PATTERN_REALISTIC, .9, 3}, {3, 64, 0, MC_PATTERN_UNIFORM, 0, 5},
        {0, 50, .5, MC_PATTERN_UNIFORM, 0, 6},     {4, 0, .5, MC_PATTERN_UNIFORM, 0, 7},
    };
    static const mc_order orders[] = {MC_ORDER_BCRS, MC_ORDER_SRBCRS16, MC_ORDER_SRBCRS32};
    static const int tiles[] = {32, 64, 128, 1, 7};
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        mc_csr csr;
        mc_vsparse mask;
        expect_ok("generate", mc_csr_generate(&patterns[p], &csr, diag), diag);
        expect_ok("dilate", mc_vsparse_dilate(&csr, 4, MC_S8, &mask, diag), diag);
        for (size_t t = 0; t < sizeof tiles / sizeof *tiles; t++)
            for (int order = 0; order < 3; order++)
                check_mask(&mask, &(mc_sampled_tiles){tiles[t], orders[order]}, diag);
        mc_csr_free(&csr);
        mc_vsparse_free(&mask);
    }
}

/* -- Refusals ----------------------------------------------------------------------------------------- */

/* One element of the packed tiny mask is overwritten. */
static const struct corruption {
    const char *array;
    int index, value;
    const char *message;
} corruptions[] = {
    {"tile_ptr", 0, 1, "row block 0 has slots 1 to 4 of 5, must begin with 0"},
    {"tile_ptr", 3, 6, "row block 0 has slots 0 to 6 of 5"},
    {"tile_ptr", 3, INT32_MIN, "row block 0 has slots 0 to -2147483648 of 5"},
    {"tile_ptr", 8, 3, "row block 2 has slots 3 to 5 of 5, must begin with 4"},
    {"tile_ptr", 11, 4, "col_idx has 5 slots, the row blocks 4"},
    {"tile_ptr", 1, 3, "tile_ptr[1] is 3, must be 2 for the mask that the columns make"},
    {"tile_ptr", 6, -1, "tile_ptr[6] is -1, must be 4"},
    {"col_idx", 1, 1, "col_idx[1] is 1 after 1 in row block 0: columns must ascend, below 12"},
    {"col_idx", 3, 12, "col_idx[3] is 12 after 6 in row block 0: columns must ascend, below 12"},
    {"col_idx", 0, -1, "tile_ptr[1] is 2, must be 1 for the mask that the columns make"},
    {"col_idx", 2, 3, "col_idx[2] is 3 after 4"},
};

static void test_corrupted(mc_diag *diag) {
    for (size_t i = 0; i < sizeof corruptions / sizeof *corruptions; i++) {
        const struct corruption *c = &corruptions[i];
        mc_packed packed;
        mc_vsparse mask;
        expect_ok("pack", mc_sampled_dense_pack(&tiny, &by_fives, &packed, diag), diag);
        ((int32_t *)mc_packed_find(&packed, c->array)->data)[c->index] = c->value;
        mc_status status = mc_sampled_dense_unpack(&packed, 2, &by_fives, 6, 12, &mask, diag);
        CHECK(!mask.values && mask.vectors == 0, "the output is not zeroed");
        expect_failure(c->message, status, MC_FORMAT, diag, c->message);
        mc_packed_free(&packed);
    }
}

/* Whatever is overwritten, what is taken packs to what it was taken from. */
static void check_damaged(const mc_packed *packed, const mc_sampled_tiles *form, mc_diag *diag) {
    mc_vsparse mask;
    mc_status status = mc_sampled_dense_unpack(packed, 2, form, 6, 12, &mask, diag);
    if (status == MC_OK) expect_ok("again", mc_sampled_dense_pack_values(&mask, form, packed, diag), diag);
    else CHECK(status == MC_FORMAT, "status %d", (int)status);
    mc_diag_clear(diag);
    mc_vsparse_free(&mask);
}

static void test_damage(const mc_sampled_tiles *form, mc_diag *diag) {
    static const int32_t values[] = {-2, -1, 0, 1, 3, 5, 11, 12, 16, INT32_MAX, INT32_MIN};
    mc_packed packed;
    expect_ok("pack", mc_sampled_dense_pack(&tiny, form, &packed, diag), diag);
    for (size_t a = 0; a < 2; a++)
        for (int64_t i = 0; i < packed.arrays[a].count; i++)
            for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
                int32_t *element = (int32_t *)packed.arrays[a].data + i, was = *element;
                *element = values[v];
                check_damaged(&packed, form, diag);
                *element = was;
            }
    mc_packed_free(&packed);
}

static void test_refused(mc_diag *diag) {
    static int32_t other_columns[] = {1, 4, 6, 10, 0};
    mc_vsparse other = tiny, mask;
    mc_packed packed;
    other.col_idx = other_columns;
    expect_failure("tiles", mc_sampled_dense_pack(&tiny, &(mc_sampled_tiles){0}, &packed, diag), MC_USAGE,
                   diag, "tiles of 0 columns");
    expect_ok("pack", mc_sampled_dense_pack(&tiny, &by_fives, &packed, diag), diag);
    expect_failure("pattern", mc_sampled_dense_pack_values(&other, &by_fives, &packed, diag), MC_FORMAT, diag,
                   "tile_ptr[2] is 4, must be 3 for this mask");
    expect_failure("rows", mc_sampled_dense_unpack(&packed, 2, &by_fives, 8, 12, &mask, diag), MC_FORMAT,
                   diag, "tile_ptr has 12 elements, must have 16");
    expect_failure("rows", mc_sampled_dense_unpack(&packed, 2, &by_fives, 7, 12, &mask, diag), MC_USAGE, diag,
                   "7");
    mc_packed_free(&packed);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_vectors(diag);
    test_strides(diag);
    test_masks(diag);
    test_corrupted(diag);
    test_damage(&by_fives, diag);
    test_damage(&in_strides, diag);
    test_refused(diag);
    mc_diag_destroy(diag);
    return check_end();
}
