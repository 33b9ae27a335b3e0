/* The SDDMM without tensor cores. sddmm_csr_test SPEC TYPES [DEVICE [ARCH]]; TYPES as "f32,f16", of both sides. */
#include "sampled_singles.h"

static mc_status sums_of(const mc_kernel *kernel, const operands *o, unsigned offset, mc_dense *sums,
                         mc_diag *diag) {
    (void)offset;
    return mc_reference_sddmm_csr_ordered(&o->mask, &o->a, &o->b, (int)mc_kernel_field(kernel, "lanes"), sums,
                                          diag);
}

static void check_types(session *s, const char *type) {
    static const struct {
        const char *lanes, *ahead, *tile_k, *share, *warps, *align, *k; /* k: NULL, open */
    } forms[] = {{"8", "4", "64", "32", "4", "16", NULL},    {"1", "2", "32", "8", "2", "16", NULL},
                 {"2", "4", "32", "16", "1", "1", NULL},     {"32", "2", "256", "8", "4", "16", NULL},
                 {"16", "4", "128", "64", "8", "16", "128"}, {"4", "4", "32", "8", "4", "1", NULL},
                 {"4", "2", "64", "128", "2", "16", "24"},   {"16", "8", "128", "8", "4", "16", "256"},
                 {"1", "2", "32", "8", "1", "16", "3"},      {"8", "8", "64", "16", "1", "16", "200"}};
    const check_share part = check_part();
    for (size_t i = (size_t)part.first; i < sizeof forms / sizeof *forms; i += (size_t)part.step) {
        const char *k = forms[i].k ? forms[i].k : "open";
        spec_settings settings = {.all = {{"lhs", type},
                                          {"rhs", type},
                                          {"lanes", forms[i].lanes},
                                          {"ahead", forms[i].ahead},
                                          {"tile_k", forms[i].tile_k},
                                          {"share", forms[i].share},
                                          {"warps", forms[i].warps},
                                          {"align", forms[i].align},
                                          {"k", k},
                                          {"lda", k},
                                          {"ldb", k}},
                                  .count = 11};
        check_settings(s, settings, i, forms[i].k ? atoi(forms[i].k) : 0);
    }
}

int main(int argc, char **argv) { return check_all(argc, argv, sums_of, check_types); }
