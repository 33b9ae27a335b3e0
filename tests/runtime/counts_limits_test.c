/* Matrices without vectors at the ends of what 32 bits count. Their counts alone are so large, not their arrays: packers refuse them
 * before they look at these, and how long rows are shared is computed without them. */
#include "formats/csr.h"
#include "formats/panels.h"
#include "scratch.h"

static const int64_t beyond = (int64_t)INT32_MAX + 1;

/* -- Packers ------------------------------------------------------------------------------------------- */

static const mc_csr_form csr = {.lanes = 1, .groups = 4, .warps = 4, .share = 8};

static mc_status pack_csr(const mc_vsparse *a, mc_packed *packed, mc_diag *diag) {
    return mc_csr_pack(a, &csr, packed, diag);
}

static mc_status pack_panels(const mc_vsparse *a, mc_packed *packed, mc_diag *diag) {
    const mc_panels form = {.rows = 8, .warps = 4, .share = 4};
    return mc_panels_pack(a, &form, packed, diag);
}

static mc_status pack_sampled(const char *settings, const mc_vsparse *a, mc_packed *packed, mc_diag *diag) {
    char text[160];
    const int length =
        snprintf(text, sizeof text, "op = 'sddmm' out = 'f32' vec = 1 tile_k = 64 %s", settings);
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;
    *packed = (mc_packed){0};
    mc_status status = mc_spec_read_text("test", text, (size_t)length, NULL, 0, &spec, diag);
    if (status == MC_OK) status = mc_kernel_generate(spec, 0, &kernel, diag);
    if (status == MC_OK) status = mc_pack(kernel, a, packed, diag);
    mc_kernel_destroy(kernel);
    mc_spec_destroy(spec);
    return status;
}

static mc_status pack_pairs(const mc_vsparse *a, mc_packed *packed, mc_diag *diag) {
    return pack_sampled("lhs = 'f32' rhs = 'f32' method = 'csr'", a, packed, diag);
}
static mc_status pack_sampled_panels(const mc_vsparse *a, mc_packed *packed, mc_diag *diag) {
    return pack_sampled("lhs = 'f16' rhs = 'f16' method = 'panels'", a, packed, diag);
}

static void test_packers(mc_diag *diag) {
    static const struct {
        mc_status (*pack)(const mc_vsparse *a, mc_packed *packed, mc_diag *diag);
        bool rows; /* too many, else nonzeros */
        const char *want;
    } cases[] = {
        {pack_csr, false, "2^31 nonzeros or more, which csr counts in s32"},
        {pack_csr, true, "2^31 rows or more, which csr counts in s32"},
        {pack_panels, false, "2147483648 nonzeros, panels take fewer than 2^31"},
        {pack_pairs, false, "2^31 - 2^16 nonzeros or more, which sampled-pairs counts in s32"},
        {pack_pairs, true, "2^31 rows or more, which sampled-pairs counts in s32"},
        {pack_sampled_panels, false, "2^31 - 32 nonzeros or more, which sampled-panels counts in s32"},
        {pack_sampled_panels, true, "2^31 - 16 rows or more, which sampled-panels counts in s32"}};
    static int64_t row_ptr[] = {0, 1};
    static int32_t col_idx[] = {0};
    static float value[] = {1};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mc_vsparse a = {MC_F32, 1, 1, 1, 1, 1, row_ptr, col_idx, value, {0}};
        mc_packed packed;
        if (cases[i].rows) a.rows = a.row_blocks = beyond;
        else a.vectors = beyond;
        expect_failure("count", cases[i].pack(&a, &packed, diag), MC_CANNOT, diag, cases[i].want);
        CHECK(packed.array_count == 0, "%s: nothing half-made stays", cases[i].want);
    }
}

static void test_form(mc_diag *diag) {
    static int64_t row_ptr[] = {0, 1};
    static int32_t col_idx[] = {0};
    static float value[] = {1};
    const mc_vsparse a = {MC_F32, 1, 1, 1, 1, 1, row_ptr, col_idx, value, {0}};
    mc_csr_form form = csr;
    mc_packed packed;
    form.groups = 32, form.share = INT32_MAX / 32;
    expect_ok("share", mc_csr_pack(&a, &form, &packed, diag), diag);
    mc_packed_free(&packed);
    form.share++;
    expect_failure("share", mc_csr_pack(&a, &form, &packed, diag), MC_USAGE, diag, "and 0 to 67108863");
}

/* Sizes of what a device packs: a slot more than 32 bits count is refused. */
static void test_outline(mc_diag *diag) {
    const mc_panels form = {.rows = 16, .warps = 4, .share = 4};
    panel_sizes sizes = {.nonzeros = INT32_MAX, .strides = INT32_MAX / 32, .items = INT32_MAX};
    mc_packed packed;
    packed_slots slots;
    expect_ok("outline", panels_outline(&form, MC_F16, &sizes, &packed, &slots, diag), diag);
    const mc_packed_array *items = mc_packed_find(&packed, "items"),
                          *values = mc_packed_find(&packed, "values");
    CHECK(items->count == (int64_t)INT32_MAX * PANEL_ITEM_WORDS, "%lld words of items",
          (long long)items->count);
    CHECK(values->count == INT32_MAX / 32 * (int64_t)1024, "%lld bytes of values", (long long)values->count);
    packed_slots_free(&slots);
    sizes.strides++;
    expect_failure("outline", panels_outline(&form, MC_F16, &sizes, &packed, &slots, diag), MC_CANNOT, diag,
                   "67108864 strides leave s32");
    packed_slots_free(&slots);
}

/* -- Shares -------------------------------------------------------------------------------------------- */

/* A matrix that is one row: parts follow each other, the last one ends where the row does, and none is longer than another by more
 * than one. */
static void check_cut(panel_sharing s, int64_t length) {
    const int64_t leaves = s.pieces * s.parts;
    CHECK(panels_cut(s, length, 0) == 0 && panels_cut(s, length, leaves) == length, "%lld: ends",
          (long long)length);
    for (int64_t i = 0; i < leaves; i++) {
        const int64_t part = panels_cut(s, length, i + 1) - panels_cut(s, length, i);
        CHECK(part == length / leaves || part == length / leaves + 1, "part %lld of %lld is %lld",
              (long long)i, (long long)length, (long long)part);
    }
}

static void test_shares(void) {
    static const int64_t lengths[] = {INT32_MAX, INT32_MAX - 1, INT32_MAX / 2, (1 << 30) + 1};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const mc_panels form = {.rows = 8, .warps = 8, .share = 1};
        const panel_sharing rows = csr_share(&csr, lengths[i]), panels = panels_share(&form, lengths[i] / 32);
        CHECK(rows.pieces > 1 && rows.pieces <= PANEL_MOST_PIECES, "%lld pieces", (long long)rows.pieces);
        CHECK(panels.pieces == PANEL_MOST_PIECES, "%lld pieces", (long long)panels.pieces);
        check_cut(rows, lengths[i]);
        check_cut(panels, lengths[i] / 32);
        CHECK(csr_group_cut(&csr, lengths[i], csr.groups) == lengths[i], "the groups' end");
    }
}

/* -- Workspaces ---------------------------------------------------------------------------------------- */

/* Room for 2^20 pieces and 2^10 tiles is more than 32 bits count, and more than 4 GB. */
static void test_workspace(mc_diag *diag) {
    static const char text[] = "op = 'spmm' lhs = 'f32' rhs = 'f32' out = 'f32' scale = 'none' vec = 1 "
                               "staging = 'csr' tile_n = 32 lanes = 1 ahead = 4 warps = 4 share = 8";
    const mc_packed packed = {.pieces = 1 << 20};
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;
    expect_ok("spec", mc_spec_read_text("test", text, sizeof text - 1, NULL, 0, &spec, diag), diag);
    expect_ok("kernel", mc_kernel_generate(spec, 0, &kernel, diag), diag);
    const size_t each = (size_t)mc_kernel_contract(kernel)->workspace;
    CHECK(each >= 32 * sizeof(float) && mc_workspace_bytes(kernel, &packed, 32 << 10, 0) == each << 30,
          "%zu bytes each, all %zu", each, mc_workspace_bytes(kernel, &packed, 32 << 10, 0));
    mc_kernel_destroy(kernel);
    mc_spec_destroy(spec);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_packers(diag);
    test_form(diag);
    test_outline(diag);
    test_shares();
    test_workspace(diag);
    mc_diag_destroy(diag);
    return check_end();
}
