/* sampled-pairs: the example of docs/formats.md, new values, other patterns, vectors and other types refused. */
#include "scratch.h"

enum { COLUMNS = 8, ROWS = 3, NONZEROS = 3 };

/* Row 0 has columns 1 and 4, row 1 has none, row 2 has column 6. */
static int64_t row_ptr[] = {0, 2, 2, 3}, other_ptr[] = {0, 1, 2, 3};
static int32_t col_idx[] = {1, 4, 6};
static float values[] = {1, 2, 3}, others[] = {-1, 5, -3};
static const mc_vsparse example = {MC_F32, 1, ROWS, COLUMNS, ROWS, NONZEROS, row_ptr, col_idx, values, {0}};

static mc_kernel *make_kernel(const char *mask, mc_diag *diag) {
    static const char text[] =
        "op = 'sddmm' lhs = 'f32' rhs = 'f32' out = 'f32' vec = 1 method = 'csr' tile_k = 64";
    const mc_setting settings[] = {{"mask", mask}};
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;
    expect_ok("spec", mc_spec_read_text("test", text, sizeof text - 1, settings, 1, &spec, diag), diag);
    expect_ok("kernel", mc_kernel_generate(spec, 0, &kernel, diag), diag);
    mc_spec_destroy(spec);
    return kernel;
}

static void check_items(const mc_packed *packed, const int32_t *want, int64_t count) {
    const mc_packed_array *array = mc_packed_find(packed, "items");
    CHECK(array != NULL && array->type == MC_S32 && array->count == count &&
              memcmp(array->data, want, (size_t)count * sizeof *want) == 0,
          "items");
    CHECK(mc_sampled_items(packed) == count / 4, "item_count");
}

static void check_values(const mc_packed *packed, const float *want) {
    const mc_packed_array *array = mc_packed_find(packed, "mask_values");
    CHECK(array != NULL && array->count == NONZEROS && memcmp(array->data, want, sizeof values) == 0,
          "mask_values");
}

static void test_values(mc_diag *diag) {
    static const int32_t items[] = {0, 1, 0, 4, 2, 6, 2, -1};
    mc_kernel *kernel = make_kernel("values", diag);
    mc_packed packed;
    mc_vsparse next = example;
    expect_ok("pack", mc_pack(kernel, &example, &packed, diag), diag);
    check_items(&packed, items, 8);
    check_values(&packed, values);
    next.values = others;
    expect_ok("values", mc_pack_values(kernel, &next, &packed, diag), diag);
    check_items(&packed, items, 8);
    check_values(&packed, others);
    next.row_ptr = other_ptr, next.values = values;
    expect_failure("rows", mc_pack_values(kernel, &next, &packed, diag), MC_FORMAT, diag, "items");
    check_values(&packed, others);
    mc_packed_free(&packed);
    next = example, next.type = MC_U8;
    expect_failure("type", mc_pack(kernel, &next, &packed, diag), MC_CANNOT, diag,
                   "multiplies by the mask's values as f32, the mask holds u8");
    CHECK(packed.array_count == 0, "nothing half-made stays");
    mc_kernel_destroy(kernel);
}

/* An even number of nonzeros, none at all, and a pattern without values. */
static void test_pattern(mc_diag *diag) {
    static const int32_t items[] = {0, 1, 0, 4};
    static int64_t none_ptr[ROWS + 1], two_ptr[] = {0, 2, 2, 2};
    mc_kernel *kernel = make_kernel("pattern", diag);
    mc_packed packed;
    mc_vsparse mask = example;
    mask.row_ptr = two_ptr, mask.vectors = 2, mask.type = MC_F16;
    expect_ok("pack", mc_pack(kernel, &mask, &packed, diag), diag);
    CHECK(packed.array_count == 1, "%zu arrays", packed.array_count);
    check_items(&packed, items, 4);
    expect_ok("values", mc_pack_values(kernel, &mask, &packed, diag), diag);
    mc_packed_free(&packed);
    mask.row_ptr = none_ptr, mask.vectors = 0;
    expect_ok("none", mc_pack(kernel, &mask, &packed, diag), diag);
    CHECK(mc_sampled_items(&packed) == 0, "items of no nonzero");
    mc_packed_free(&packed);
    mask.vectors = ((int64_t)1 << 31) - (1 << 16);
    expect_failure("count", mc_pack(kernel, &mask, &packed, diag), MC_CANNOT, diag,
                   "2^31 - 2^16 nonzeros or more");
    mc_kernel_destroy(kernel);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_values(diag);
    test_pattern(diag);
    mc_diag_destroy(diag);
    return check_end();
}
