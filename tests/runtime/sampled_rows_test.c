/* sampled-rows: the example of docs/formats.md, new values, other rows and other types refused. */
#include "scratch.h"

enum { COLUMNS = 8, SLOTS = 16, VEC = 2 };

/* Row block 0 has vectors at columns 1, 4 and 6, row block 1 one at column 0. */
static int64_t row_ptr[] = {0, 3, 4}, other_ptr[] = {0, 2, 4};
static int32_t col_idx[] = {1, 4, 6, 0}, other_idx[] = {2, 3, 7, 5}, short_idx[] = {1, 4, 0, 6};
static float values[] = {1, 2, 3, 4, 5, 6, 7, 8}, others[] = {-1, 9, -3, 11, -5, 13, -7, 15};
static const mc_vsparse example = {MC_F32, VEC, 2 * VEC, COLUMNS, 2, 4, row_ptr, col_idx, values, {0}};

static mc_kernel *make_kernel(const char *mask, const char *order, mc_diag *diag) {
    const mc_setting settings[] = {{"vec", "2"}, {"mask", mask}, {"order", order}};
    static const char text[] = "op = 'softmax' lhs = 'f16' out = 'f16'";
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;
    expect_ok("spec", mc_spec_read_text("test", text, sizeof text - 1, settings, 3, &spec, diag), diag);
    expect_ok("kernel", mc_kernel_generate(spec, 0, &kernel, diag), diag);
    mc_spec_destroy(spec);
    return kernel;
}

/* ROW_VALUES, vector after vector, as srbcrs16 has them. */
static void check_values(const mc_packed *packed, const float *of) {
    float want[2 * VEC * SLOTS] = {0};
    for (int r = 0; r < VEC; r++) {
        for (int i = 0; i < 3; i++) want[r * SLOTS + i] = of[VEC * i + r];
        want[(VEC + r) * SLOTS] = of[VEC * 3 + r];
    }
    const mc_packed_array *array = mc_packed_find(packed, "mask_values");
    CHECK(array != NULL && array->type == MC_F32 && array->count == 2 * VEC * SLOTS &&
              memcmp(array->data, want, sizeof want) == 0,
          "mask_values");
}

static void check_rows(const mc_packed *packed, const int32_t want[8]) {
    const mc_packed_array *array = mc_packed_find(packed, "rows");
    CHECK(array != NULL && array->count == 8 && memcmp(array->data, want, 8 * sizeof *want) == 0, "rows");
}

static void test_values(mc_diag *diag) {
    static const int32_t rows[] = {0, 3, 0, 0, 16, 1, 1, 0};
    mc_kernel *kernel = make_kernel("values", "srbcrs16", diag);
    mc_packed packed;
    expect_ok("pack", mc_pack(kernel, &example, &packed, diag), diag);
    CHECK(packed.array_count == 2, "%zu arrays", packed.array_count);
    check_rows(&packed, rows);
    check_values(&packed, values);
    mc_vsparse next = example;
    next.values = others, next.col_idx = other_idx; /* columns are not kept */
    expect_ok("values", mc_pack_values(kernel, &next, &packed, diag), diag);
    check_rows(&packed, rows);
    check_values(&packed, others);
    next.row_ptr = other_ptr, next.col_idx = short_idx, next.values = values;
    expect_failure("rows", mc_pack_values(kernel, &next, &packed, diag), MC_FORMAT, diag, "rows");
    check_values(&packed, others);
    mc_packed_free(&packed);
    next = example, next.type = MC_U8;
    expect_failure("type", mc_pack(kernel, &next, &packed, diag), MC_CANNOT, diag,
                   "the kernel adds the mask's values as f32, the mask holds u8");
    CHECK(packed.array_count == 0, "nothing half-made stays");
    mc_kernel_destroy(kernel);
}

static void test_pattern(mc_diag *diag) {
    static const int32_t rows[] = {0, 3, 0, 0, 3, 1, 1, 0};
    mc_kernel *kernel = make_kernel("pattern", "bcrs", diag);
    mc_packed packed;
    expect_ok("pack", mc_pack(kernel, &example, &packed, diag), diag);
    CHECK(packed.array_count == 1, "%zu arrays", packed.array_count);
    check_rows(&packed, rows);
    expect_ok("values", mc_pack_values(kernel, &example, &packed, diag), diag);
    mc_packed_free(&packed);
    mc_kernel_destroy(kernel);
}

/* The longest row block first, and those that are equally long as they come. */
static void test_order(mc_diag *diag) {
    static int64_t ptr[] = {0, 1, 3, 3, 5};
    static int32_t idx[] = {4, 0, 7, 2, 3};
    static float of[10];
    static const int32_t want[] = {1, 2, 1, 0, 3, 2, 3, 0, 0, 1, 0, 0, 3, 0, 2, 0};
    const mc_vsparse mask = {MC_F32, VEC, 4 * VEC, COLUMNS, 4, 5, ptr, idx, of, {0}};
    mc_kernel *kernel = make_kernel("pattern", "bcrs", diag);
    mc_packed packed;
    expect_ok("pack", mc_pack(kernel, &mask, &packed, diag), diag);
    const mc_packed_array *array = mc_packed_find(&packed, "rows");
    CHECK(array != NULL && array->count == 16 && memcmp(array->data, want, sizeof want) == 0,
          "order of rows");
    mc_packed_free(&packed);
    mc_kernel_destroy(kernel);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_values(diag);
    test_pattern(diag);
    test_order(diag);
    mc_diag_destroy(diag);
    return check_end();
}
