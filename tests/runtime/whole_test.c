/* strided-bcrs without heads: values lie as an SDDMM or a softmax of order srbcrs32 writes them, element after element, of every
   type that an execution may bring. */
#include "mcrt_internal.h"
#include "scratch.h"

static const mc_type types[] = {MC_S4,  MC_U4,  MC_S8,  MC_U8,   MC_S12,  MC_U12,
                                MC_S16, MC_U16, MC_F16, MC_BF16, MC_E4M3, MC_E5M2};
static const int vecs[] = {1, 2, 4, 8, 16};
static const mc_strided form = {.stride = 32};

static void make_matrix(mc_type type, int vec, uint64_t seed, mc_vsparse *a, mc_diag *diag) {
    const mc_pattern pattern = {7, 170, .8, MC_PATTERN_REALISTIC, .9, 3};
    mc_csr csr;
    expect_ok("generate", mc_csr_generate(&pattern, &csr, diag), diag);
    expect_ok("dilate", mc_vsparse_dilate(&csr, vec, type, a, diag), diag);
    mc_vsparse_fill(a, MC_VALUES_FULL, seed, NULL);
    mc_csr_free(&csr);
}

static void check_order(const mc_vsparse *a, const mc_packed *packed, mc_diag *diag) {
    const mc_dense vectors = {a->type, a->vectors, a->vec, a->vec, a->values};
    const mc_packed_array *values = mc_packed_find(packed, "values");
    mc_dense c;
    expect_ok("arrange", mc_sampled_arrange(a, MC_ORDER_SRBCRS32, &vectors, &c, diag), diag);
    int64_t bytes = mc_type_size(c.type, c.rows * c.cols);
    CHECK(mc_type_size(values->type, values->count) == bytes &&
              memcmp(values->data, c.data, (size_t)bytes) == 0,
          "%s, vec %d: values lie in another order", mc_type_text(a->type), a->vec);
    mc_dense_free(&c);
}

static void check_type(mc_type type, int vec, mc_diag *diag) {
    mc_vsparse a, other, back;
    mc_packed packed;
    make_matrix(type, vec, 1, &a, diag);
    make_matrix(type, vec, 2, &other, diag);
    expect_ok("pack", mc_strided_pack(&a, &form, &packed, diag), diag);
    check_order(&a, &packed, diag);
    expect_ok("replace", mc_strided_pack_values(&other, &form, &packed, diag), diag);
    check_order(&other, &packed, diag);
    expect_ok("unpack", mc_strided_unpack(&packed, type, vec, &form, a.rows, a.cols, &back, diag), diag);
    CHECK(same_vsparse(&other, &back), "%s, vec %d: unpacked", mc_type_text(type), vec);
    mc_packed_free(&packed);
    mc_vsparse_free(&a), mc_vsparse_free(&other), mc_vsparse_free(&back);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t v = 0; v < sizeof vecs / sizeof *vecs; v++) check_type(types[t], vecs[v], diag);
    mc_diag_destroy(diag);
    return check_end();
}
