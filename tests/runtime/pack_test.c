/* mc_pack: the kernel's contract chooses the format, and its fields must fit the matrix. */
#include "scratch.h"

static mc_kernel *make_kernel(const char *text, mc_diag *diag) {
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;
    expect_ok(text, mc_spec_read_text("test.lua", text, strlen(text), NULL, 0, &spec, diag), diag);
    if (spec) expect_ok(text, mc_kernel_generate(spec, mc_spec_default(spec), &kernel, diag), diag);
    mc_spec_destroy(spec);
    return kernel;
}

#define SPEC "op = 'spmm' lhs = 's8' rhs = 's8' vec = 8 stride = 64 split = 2 "

/* The matrix of the cases: 24 x 20. */
static const struct {
    const char *spec;
    int vec;
    mc_type type;
    const char *message; /* NULL: packs */
} cases[] = {
    {SPEC, 8, MC_S8, NULL},
    {SPEC "m = 24 k = 20", 8, MC_S8, NULL},
    {SPEC "m = 32", 8, MC_S8, "the kernel is made for m = 32, the matrix has 24"},
    {SPEC "k = 64", 8, MC_S8, "the kernel is made for k = 64, the matrix has 20"},
    {SPEC, 4, MC_S8, "the kernel is made for vec = 8, the matrix has 4"},
    {SPEC, 8, MC_S16, "the kernel is made for lhs = s8, the matrix holds s16"},
};

static void check_arrays(const mc_contract *contract, const mc_packed *packed) {
    CHECK(packed->array_count == contract->array_count, "%zu arrays", packed->array_count);
    for (size_t i = 0; i < contract->array_count; i++) {
        const mc_packed_array *array = mc_packed_find(packed, contract->arrays[i].name);
        CHECK(array && strcmp(mc_type_text(array->type), contract->arrays[i].type) == 0, "array %s",
              contract->arrays[i].name);
    }
}

/* The kernel alone says how PACKED becomes A again. */
static void check_unpacked(const mc_kernel *kernel, const mc_packed *packed, const mc_vsparse *a,
                           mc_diag *diag) {
    mc_vsparse back;
    expect_ok("unpack", mc_unpack(kernel, packed, a->rows, a->cols, &back, diag), diag);
    CHECK(back.row_ptr && same_vsparse(a, &back), "%s", mc_kernel_contract(kernel)->format);
    mc_vsparse_free(&back);
}

static void run_case(size_t i, const mc_csr *csr, mc_diag *diag) {
    mc_vsparse a, back;
    mc_packed packed;
    mc_kernel *kernel = make_kernel(cases[i].spec, diag);
    if (!kernel) return;
    expect_ok("dilate", mc_vsparse_dilate(csr, cases[i].vec, cases[i].type, &a, diag), diag);
    a.rows = 24; /* vec 4 is refused before its rows are looked at */
    mc_vsparse_fill(&a, MC_VALUES_FULL, 1, NULL);
    mc_status status = mc_pack(kernel, &a, &packed, diag);
    if (cases[i].message) {
        expect_failure(cases[i].spec, status, MC_CANNOT, diag, cases[i].message);
        CHECK(packed.array_count == 0, "the output is not zeroed");
        expect_failure(cases[i].spec, mc_pack_values(kernel, &a, &packed, diag), MC_CANNOT, diag,
                       cases[i].message);
    } else {
        expect_ok(cases[i].spec, status, diag);
        check_arrays(mc_kernel_contract(kernel), &packed);
        const mc_strided form = {.stride = 64, .heads = 2};
        expect_ok("unpack", mc_strided_unpack(&packed, MC_S8, 8, &form, a.rows, a.cols, &back, diag), diag);
        CHECK(back.row_ptr && same_vsparse(&a, &back), "%s", cases[i].spec);
        mc_vsparse_free(&back);
        check_unpacked(kernel, &packed, &a, diag);
    }
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
    mc_kernel_destroy(kernel);
}

/* Arrays of one kernel's form are not another's. */
static void test_values_of_another(const mc_csr *csr, mc_diag *diag) {
    static const struct {
        const char *spec, *message;
    } others[] = {
        {"op = 'spmm' lhs = 's8' rhs = 's8' vec = 8 stride = 32 split = 2 ",
         "col_idx has 384 elements, must have 192"},
        {"op = 'spmm' lhs = 's8' rhs = 's8' vec = 8 stride = 64 split = 4 ",
         "col_idx has 384 elements, must have 768"},
        {"op = 'spmm' lhs = 's8' rhs = 's8' vec = 8 arch = 'sm_90' staging = 'tma' warps = 4 ",
         "there is no packed array row_order"},
    };
    mc_vsparse a;
    mc_packed packed;
    mc_kernel *kernel = make_kernel(SPEC, diag);
    expect_ok("dilate", mc_vsparse_dilate(csr, 8, MC_S8, &a, diag), diag);
    expect_ok("pack", mc_pack(kernel, &a, &packed, diag), diag);
    expect_ok("values", mc_pack_values(kernel, &a, &packed, diag), diag);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        mc_kernel *other = make_kernel(others[i].spec, diag);
        if (other)
            expect_failure(others[i].spec, mc_pack_values(other, &a, &packed, diag), MC_FORMAT, diag,
                           others[i].message);
        mc_kernel_destroy(other);
    }
    mc_kernel_destroy(kernel);
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
}

/* A format takes matrices of its own kind alone, and has a way back or says that it has none. */
static void test_kinds(const mc_csr *csr, mc_diag *diag) {
    mc_vsparse a, back;
    mc_packed packed;
    const host_matrix elements = host_csr(csr);
    mc_kernel *kernel = make_kernel(SPEC, diag),
              *ring = make_kernel(SPEC "stride = 32 arch = 'sm_90' staging = 'tma' warps = 4", diag);
    expect_failure(
        "csr", mc_pack_host(kernel, &elements, &packed, diag), MC_CANNOT, diag,
        "the format strided-bcrs (row blocks padded to whole strides) is made of nonzero vectors, the "
        "matrix has single elements (CSR)");
    CHECK(packed.array_count == 0, "the output is not zeroed");
    expect_ok("dilate", mc_vsparse_dilate(csr, 8, MC_S8, &a, diag), diag);
    const host_matrix vectors = host_vectors(&a);
    expect_ok("pack", mc_pack_host(ring, &vectors, &packed, diag), diag);
    expect_failure(
        "ring", mc_unpack(ring, &packed, a.rows, a.cols, &back, diag), MC_CANNOT, diag,
        "the format windowed-bcrs (strides in the order in which windows of B pass) is not unpacked");
    CHECK(!back.values, "the output is not zeroed");
    expect_failure("other arrays", mc_unpack(kernel, &packed, a.rows, a.cols, &back, diag), MC_FORMAT, diag,
                   "row_ptr has");
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
    mc_kernel_destroy(ring);
    mc_kernel_destroy(kernel);
}

/* -- The mask of an SDDMM: 24 x 20, and of f32 unless it says otherwise */

#define SDDMM "op = 'sddmm' lhs = 's8' rhs = 's8' vec = 8 "

static const struct {
    const char *spec;
    mc_sampled form;
    mc_type type;
    const char *message; /* NULL: packs */
} masks[] = {
    {SDDMM "groups = 2", {.groups = 2, .window = MC_OPEN}, MC_F32, NULL},
    {SDDMM "groups = 1 window = 8", {.groups = 1, .window = 8}, MC_F32, NULL},
    {SDDMM "groups = 4 order = 'srbcrs16'",
     {.groups = 4, .window = MC_OPEN, .order = MC_ORDER_SRBCRS16},
     MC_F32,
     NULL},
    {SDDMM "groups = 4 order = 'srbcrs32'",
     {.groups = 4, .window = MC_OPEN, .order = MC_ORDER_SRBCRS32},
     MC_F32,
     NULL},
    {SDDMM "groups = 1 out = 'f16' scale = 'row' mask = 'values'",
     {.groups = 1, .window = MC_OPEN, .values = true},
     MC_F32,
     NULL},
    {SDDMM "groups = 1 m = 24 n = 20 k = 7", {.groups = 1}, MC_S8, NULL},
    {SDDMM "m = 32", {0}, MC_F32, "the kernel is made for m = 32, the matrix has 24"},
    {SDDMM "n = 24", {0}, MC_F32, "the kernel is made for n = 24, the matrix has 20"},
    {"op = 'sddmm' lhs = 's8' rhs = 's8' vec = 4",
     {0},
     MC_F32,
     "the kernel is made for vec = 4, the matrix has 8"},
    {SDDMM "out = 'f16' scale = 'row' mask = 'values'", {0}, MC_S8, "the mask holds s8"},
};

static bool same_packed(const mc_packed *a, const mc_packed *b) {
    bool same = a->array_count == b->array_count;
    for (size_t i = 0; same && i < a->array_count; i++)
        same = a->arrays[i].count == b->arrays[i].count &&
               memcmp(a->arrays[i].data, b->arrays[i].data, (size_t)a->arrays[i].count * 4) == 0;
    return same;
}

static void pack_mask(size_t i, const mc_csr *csr, mc_diag *diag) {
    mc_vsparse mask;
    mc_packed packed, want = {0};
    mc_kernel *kernel = make_kernel(masks[i].spec, diag);
    if (!kernel) return;
    expect_ok("dilate", mc_vsparse_dilate(csr, 8, masks[i].type, &mask, diag), diag);
    if (mask.type == MC_F32) mc_scale_fill(mask.values, mask.vectors * 8, MC_VALUES_FULL, 1);
    mc_status status = mc_pack(kernel, &mask, &packed, diag);
    if (masks[i].message) {
        expect_failure(masks[i].spec, status, MC_CANNOT, diag, masks[i].message);
        CHECK(packed.array_count == 0, "the output is not zeroed");
    } else {
        expect_ok(masks[i].spec, status, diag);
        expect_ok("pack", mc_sampled_pack(&mask, &masks[i].form, &want, diag), diag);
        CHECK(same_packed(&packed, &want), "%s", masks[i].spec);
        check_arrays(mc_kernel_contract(kernel), &packed);
        expect_ok("values", mc_pack_values(kernel, &mask, &packed, diag), diag);
        if (!masks[i].form.values)
            memset(mask.values, 0, (size_t)(mask.vectors * 8) * mc_type_bytes(mask.type));
        if (mask.type == MC_F32) check_unpacked(kernel, &packed, &mask, diag);
    }
    mc_packed_free(&packed);
    mc_packed_free(&want);
    mc_vsparse_free(&mask);
    mc_kernel_destroy(kernel);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    mc_pattern pattern = {3, 20, .5, MC_PATTERN_UNIFORM, 0, 1};
    mc_csr csr;
    expect_ok("generate", mc_csr_generate(&pattern, &csr, diag), diag);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) run_case(i, &csr, diag);
    test_values_of_another(&csr, diag);
    test_kinds(&csr, diag);
    for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++) pack_mask(i, &csr, diag);
    mc_csr_free(&csr);
    mc_diag_destroy(diag);
    return check_end();
}
