/* The SDDMM in panels. sddmm_panels_test SPEC TYPES [DEVICE [ARCH]]; TYPES as "f16,e4m3:e5m2", one of both sides or
   one of each. */
#include "sampled_singles.h"

/* Whether the kernel loads units of 16 bytes, which come first. */
static bool is_aligned(const mc_kernel *kernel, const operands *o, unsigned offset) {
    const int unit = 128 / mc_type_bits(o->a.type);
    const bool any = mc_kernel_field(kernel, "align") == 1;
    return o->a.ld % unit == 0 && o->b.ld % unit == 0 && (!any || offset % 16 == 0);
}

static mc_status sums_of(const mc_kernel *kernel, const operands *o, unsigned offset, mc_dense *sums,
                         mc_diag *diag) {
    const char *arch = mc_kernel_field_text(kernel, "arch");
    const mc_sample_order order = {.sums = MC_SAMPLE_ONE,
                                   .aligned = is_aligned(kernel, o, offset),
                                   .halves = arch == NULL || strcmp(arch, "sm_89") != 0};
    return mc_reference_sddmm_ordered(&o->mask, &o->a, &o->b, MC_LAYOUT_COLUMNS, &order, sums, diag);
}

static void check_types(session *s, const char *types) {
    static const struct {
        const char *panel, *ahead, *tile_k, *share, *warps, *align,
            *k; /* tile_k: of 16 bits; k: NULL, open */
    } forms[] = {{"16", "2", "128", "128", "4", "16", NULL}, {"8", "4", "64", "32", "2", "16", NULL},
                 {"16", "4", "32", "64", "1", "1", NULL},    {"8", "2", "32", "16", "8", "1", NULL},
                 {"16", "2", "128", "32", "4", "16", "128"}, {"16", "4", "64", "128", "4", "16", "256"},
                 {"8", "2", "128", "64", "2", "16", "24"},   {"16", "4", "64", "32", "4", "1", "200"},
                 {"16", "2", "64", "16", "1", "16", "3"},    {"8", "4", "32", "64", "4", "16", "72"}};
    const check_share part = check_part();
    char lhs[32];
    snprintf(lhs, sizeof lhs, "%s", types);
    char *rhs = strchr(lhs, ':');
    if (rhs != NULL) *rhs++ = 0;
    const bool bytes = lhs[0] == 'e';
    for (size_t i = (size_t)part.first; i < sizeof forms / sizeof *forms; i += (size_t)part.step) {
        const char *k = forms[i].k ? forms[i].k : "open", *tile_k = forms[i].tile_k;
        if (bytes) tile_k = "64"; /* the k of a chunk */
        if (lhs[0] == 't') tile_k = strcmp(tile_k, "128") == 0 && forms[i].panel[0] == '8' ? "64" : "32";
        spec_settings settings = {.all = {{"lhs", lhs},
                                          {"rhs", rhs != NULL ? rhs : lhs},
                                          {"panel", forms[i].panel},
                                          {"ahead", forms[i].ahead},
                                          {"tile_k", tile_k},
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
