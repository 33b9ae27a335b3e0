/* sampled-panels: the example of docs/formats.md, both heights of panels, shares, new values, other patterns, vectors and other
   types refused. */
#include "scratch.h"
#include "parts/sampled_panels.h"

enum { COLUMNS = 8, ROWS = 3, NONZEROS = 3, SLOTS = 16 };

/* Row 0 has columns 1 and 4, row 1 has none, row 2 has column 6. */
static int64_t row_ptr[] = {0, 2, 2, 3}, other_ptr[] = {0, 1, 2, 3};
static int32_t col_idx[] = {1, 4, 6};
static float values[] = {1, 2, 3}, others[] = {-1, 5, -3};
static const mc_vsparse example = {MC_F32, 1, ROWS, COLUMNS, ROWS, NONZEROS, row_ptr, col_idx, values, {0}};

static mc_kernel *make_kernel(const char *mask, const char *panel, const char *ahead, const char *share,
                              mc_diag *diag) {
    static const char text[] =
        "op = 'sddmm' lhs = 'f16' rhs = 'f16' out = 'f32' vec = 1 method = 'panels' tile_k = 64";
    const mc_setting settings[] = {{"mask", mask}, {"panel", panel}, {"ahead", ahead}, {"share", share}};
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;
    expect_ok("spec", mc_spec_read_text("test", text, sizeof text - 1, settings, 4, &spec, diag), diag);
    expect_ok("kernel", mc_kernel_generate(spec, 0, &kernel, diag), diag);
    mc_spec_destroy(spec);
    return kernel;
}

static void check_array(const mc_packed *packed, const char *name, const int32_t *want, int64_t count) {
    const mc_packed_array *array = mc_packed_find(packed, name);
    CHECK(array != NULL && array->type == MC_S32 && array->count == count, "%s", name);
    for (int64_t i = 0; array != NULL && i < count && i < array->count; i++) {
        const int32_t got = ((const int32_t *)array->data)[i];
        CHECK(got == want[i], "%s[%d] is %d, not %d", name, (int)i, (int)got, (int)want[i]);
    }
}

static void check_values(const mc_packed *packed, const float *want) {
    const mc_packed_array *array = mc_packed_find(packed, "mask_values");
    CHECK(array != NULL && array->count == NONZEROS && memcmp(array->data, want, sizeof values) == 0,
          "mask_values");
}

static void test_example(mc_diag *diag) {
    static const int32_t items[] = {0, 0, 1, 2},
                         columns[SLOTS] = {1, 6, 4, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6},
                         rows[2 * 8] = {3, 0, 0, 0, 4, 0, 2, 0};
    mc_kernel *kernel = make_kernel("values", "8", "2", "32", diag);
    mc_packed packed;
    mc_vsparse next = example;
    expect_ok("pack", mc_pack(kernel, &example, &packed, diag), diag);
    check_array(&packed, "items", items, 4);
    check_array(&packed, "col_idx", columns, SLOTS);
    check_array(&packed, "row_slots", rows, 2 * 8);
    CHECK(mc_sampled_items(&packed) == 1, "item_count");
    check_values(&packed, values);
    next.values = others;
    expect_ok("values", mc_pack_values(kernel, &next, &packed, diag), diag);
    check_array(&packed, "row_slots", rows, 2 * 8);
    check_values(&packed, others);
    next.row_ptr = other_ptr, next.values = values;
    expect_failure("rows", mc_pack_values(kernel, &next, &packed, diag), MC_FORMAT, diag, "row_slots");
    check_values(&packed, others);
    mc_packed_free(&packed);
    next = example, next.type = MC_U8;
    expect_failure("type", mc_pack(kernel, &next, &packed, diag), MC_CANNOT, diag,
                   "multiplies by the mask's values as f32, the mask holds u8");
    CHECK(packed.array_count == 0, "nothing half-made stays");
    mc_kernel_destroy(kernel);
}

/* A full row 17 of 100 columns, and a nonzero at column 99 of row 1: panels of 16 rows, strides of 32 columns, 64 of them an item. */
static void test_long(mc_diag *diag) {
    enum { LONG = 100, TALL = 18, STRIDES = 5 };
    static const int32_t items[] = {0, 0, 1, 15, 1, 1, 2, 1, 1, 3, 2, 1};
    static int64_t ptr[TALL + 1];
    static int32_t index[LONG + 1];
    for (int row = 2; row <= TALL; row++) ptr[row] = row < TALL ? 1 : LONG + 1;
    index[0] = LONG - 1;
    for (int i = 0; i < LONG; i++) index[i + 1] = i;
    const mc_vsparse mask = {MC_F16, 1, TALL, LONG, TALL, LONG + 1, ptr, index, NULL, {0}};
    mc_kernel *kernel = make_kernel("pattern", "16", "4", "64", diag);
    mc_packed packed;
    expect_ok("pack", mc_pack(kernel, &mask, &packed, diag), diag);
    CHECK(packed.array_count == 3, "%zu arrays", packed.array_count);
    check_array(&packed, "items", items, sizeof items / sizeof *items);
    const int32_t *columns = mc_packed_find(&packed, "col_idx")->data,
                  *words = mc_packed_find(&packed, "row_slots")->data;
    const int t = 0, second = 1; /* row 1 of a panel is lane 0's second one */
    for (int i = 0; i < LONG; i++)
        CHECK(columns[32 * (1 + i / 32) + sampled_panel_column(i % 32, 32)] == i, "column %d", i);
    for (int stride = 0; stride < STRIDES; stride++) {
        const int32_t *mask_of = words + 32 * stride + sampled_panel_mask(t, second, 16);
        const int32_t want = stride == 0            ? 1
                             : stride < STRIDES - 1 ? -1
                                                    : 15,
                      first = stride == 0 ? 0 : 1 + 32 * (stride - 1);
        CHECK(mask_of[0] == want && mask_of[sampled_lane_rows(16)] == first, "stride %d: %x from %d on",
              stride, (unsigned)mask_of[0], (int)mask_of[sampled_lane_rows(16)]);
        CHECK(mask_of[-1] == 0 && mask_of[1] == 0, "stride %d: other rows", stride);
    }
    mc_packed_free(&packed);
    mc_kernel_destroy(kernel);
}

static void test_refused(mc_diag *diag) {
    static int64_t none_ptr[ROWS + 1];
    mc_kernel *kernel = make_kernel("pattern", "16", "2", "16", diag);
    mc_packed packed;
    mc_vsparse mask = example;
    mask.row_ptr = none_ptr, mask.vectors = 0;
    expect_ok("none", mc_pack(kernel, &mask, &packed, diag), diag);
    CHECK(mc_sampled_items(&packed) == 0, "items of no nonzero");
    expect_ok("values", mc_pack_values(kernel, &mask, &packed, diag), diag);
    mc_packed_free(&packed);
    mask.vectors = ((int64_t)1 << 31) - 1;
    expect_failure("count", mc_pack(kernel, &mask, &packed, diag), MC_CANNOT, diag,
                   "2^31 - 32 nonzeros or more");
    mask = example, mask.rows = ((int64_t)1 << 31) - 8;
    expect_failure("rows", mc_pack(kernel, &mask, &packed, diag), MC_CANNOT, diag, "2^31 - 16 rows or more");
    mc_kernel_destroy(kernel);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_example(diag);
    test_long(diag);
    test_refused(diag);
    mc_diag_destroy(diag);
    return check_end();
}
