/* mc_pack_form: kernels with one form read the same arrays, byte for byte. Of every spec, variants from all
   over its space pack one random matrix; those that must not share arrays have forms of their own. */
#include "check.h"
#include "matrix/sparse24.h"
#include "mcrt_internal.h"

enum { MOST_FORMS = 1024, VARIANTS = 40 /* of a spec, about */ };

static mc_diag *diag;

/* The first packing of each form, for each kind of matrix. */
static struct packing {
    char form[MC_PACK_FORM];
    mc_packed packed;
    int users;
} packings[MOST_FORMS];
static size_t count;

static uint64_t state = 88172645463325252u;
static uint64_t next_random(void) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* Row blocks of 0 to about 150 of 300 columns: heads, tails, several windows of every width. GROUPED: of each
   four neighbours two, or as TYPE has it. */
static mc_vsparse make_matrix(mc_type type, int vec, bool grouped) {
    mc_sparse24_rule rule = {.unit = 1, .kept = 2, .group = 4};
    if (grouped) CHECK(mc_sparse24_rule_of(type, &rule, diag) == MC_OK, "%s", mc_diag_text(diag));
    const mc_grouped groups = {
        .rows = 40, .cols = 300, .kept = rule.kept, .of = rule.group, .seed = 7, .unit = rule.unit};
    const mc_pattern pattern = {
        .rows = 40, .cols = 300, .sparsity = 0.7, .law = MC_PATTERN_REALISTIC, .cv = 0.8, .seed = 7};
    mc_csr csr;
    mc_vsparse a;
    CHECK((grouped ? mc_csr_generate_grouped(&groups, &csr, diag) : mc_csr_generate(&pattern, &csr, diag)) ==
              MC_OK,
          "%s", mc_diag_text(diag));
    CHECK(mc_vsparse_dilate(&csr, vec, type, &a, diag) == MC_OK, "%s", mc_diag_text(diag));
    mc_csr_free(&csr);
    if (type == MC_F32) mc_scale_fill(a.values, a.vectors * vec, MC_VALUES_FULL, 3);
    else mc_vsparse_fill(&a, MC_VALUES_FULL, 3, NULL);
    return a;
}

static bool same_arrays(const mc_packed *a, const mc_packed *b) {
    if (a->array_count != b->array_count) return false;
    for (size_t i = 0; i < a->array_count; i++) {
        const mc_packed_array *x = &a->arrays[i], *y = &b->arrays[i];
        if (strcmp(x->name, y->name) != 0 || x->type != y->type || x->count != y->count) return false;
        if (memcmp(x->data, y->data, (size_t)mc_type_size(x->type, x->count)) != 0) return false;
    }
    return true;
}

static void compare(const char *form, mc_packed *packed, const char *fields) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(packings[i].form, form) == 0) {
            CHECK(same_arrays(&packings[i].packed, packed), "%s: other arrays than its form's first: %s",
                  fields, form);
            packings[i].users++;
            mc_packed_free(packed);
            return;
        }
    CHECK(count < MOST_FORMS, "more forms than %d", MOST_FORMS);
    if (count == MOST_FORMS) return;
    strcpy(packings[count].form, form);
    packings[count].packed = *packed;
    packings[count++].users = 1;
}

static void try_kernel(const mc_kernel *kernel) {
    mc_type type = MC_F32;
    char form[MC_PACK_FORM];
    mc_packed packed;
    if (mc_kernel_field(kernel, "vec") < 0) return; /* it takes no sparse matrix */
    const char *family = mc_kernel_contract(kernel)->family;
    bool grouped = strcmp(family, "gemm24") == 0;
    if (grouped || strcmp(family, "spmm") == 0) CHECK(mc_type_of(kernel, "lhs", &type, diag) == MC_OK);
    mc_vsparse a = make_matrix(type, (int)mc_kernel_field(kernel, "vec"), grouped);
    if (type != MC_F32) mc_vsparse_clamp(&a, mc_pack_most(kernel, type));
    mc_status status = mc_pack(kernel, &a, &packed, diag);
    CHECK(status == MC_OK, "%s: %s", mc_kernel_fields(kernel), mc_diag_text(diag));
    mc_pack_form(kernel, form);
    CHECK(strlen(form) < MC_PACK_FORM - 1, "cut off: %s", form);
    if (status == MC_OK) compare(form, &packed, mc_kernel_fields(kernel));
    mc_vsparse_free(&a);
}

/* Any of many variants, and of what problems set. */
static void try_spec(const mc_builtin_spec *builtin, const mc_setting *settings, size_t setting_count,
                     size_t most) {
    mc_spec *spec;
    mc_diag_clear(diag);
    if (mc_spec_read_text_for(builtin->name, builtin->text, strlen(builtin->text), settings, setting_count,
                              90, &spec, diag) != MC_OK)
        return;
    size_t variants = mc_spec_variant_count(spec), step = variants / most + 1;
    for (size_t v = next_random() % step; v < variants; v += step) {
        mc_kernel *kernel;
        CHECK(mc_kernel_generate(spec, v, &kernel, diag) == MC_OK, "%s", mc_diag_text(diag));
        if (kernel) try_kernel(kernel);
        mc_kernel_destroy(kernel);
    }
    mc_spec_destroy(spec);
}

/* What every spec leaves alone, and packers read. */
static const mc_setting others[][3] = {
    {{"vec", "4"}, {"k", "300"}, {"m", "160"}},
    {{"rhs", "s16"}, {"tile_n", "32"}},
    {{"rhs", "u8"}, {"n", "300"}, {"align", "16"}},
    {{"lhs", "s12"}, {"digits", "offset"}, {"vec", "4"}},
    {{"lhs", "s16"}, {"digits", "balanced"}, {"vec", "4"}},
    {{"out", "f16"}, {"scale", "row"}},
    {{"order", "srbcrs16"}},
    {{"order", "srbcrs32"}, {"vec", "2"}},
    {{"mask", "values"}, {"out", "f32"}, {"scale", "tensor"}},
    {{"window", "37"}},
    {{"window", "64"}},
    {{"shuffle", "off"}, {"mma", "int4"}},
};

static int forms_with(const char *text) {
    int found = 0;
    for (size_t i = 0; i < count; i++) found += strstr(packings[i].form, text) != NULL;
    return found;
}

/* The space was wide, and forms are shared: else nothing was tested. */
static void check_coverage(void) {
    static const char *const texts[] = {
        "strided-bcrs ",  "strided-bcrs-int4 ", "windowed-bcrs ", "sampled-list ",   "sampled-windows ",
        "sampled-dense ", "packed24 ",          "digits=offset",  "digits=balanced", "mask=values",
        "order=srbcrs32", "window=37",          "split=4",        "shuffle=off",     "stride=64",
        "stages=3",       "groups=1 "};
    int users = 0;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        CHECK(forms_with(texts[i]) > 0, "no form with %s", texts[i]);
    for (size_t i = 0; i < count; i++) users += packings[i].users;
    CHECK(users > 3 * (int)count, "%d kernels have %zu forms: hardly any is shared", users, count);
    printf("%d kernels, %zu forms\n", users, count);
}

int main(void) {
    diag = mc_diag_create();
    for (const mc_builtin_spec *s = mc_builtin_specs(); s->name; s++) {
        try_spec(s, NULL, 0, VARIANTS);
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
            size_t settings = 0;
            while (settings < 3 && others[i][settings].field) settings++;
            try_spec(s, others[i], settings, VARIANTS / 8);
        }
    }
    check_coverage();
    for (size_t i = 0; i < count; i++) mc_packed_free(&packings[i].packed);
    mc_diag_destroy(diag);
    return check_end();
}
