/* Every problem has kernels, and none among them that would be refused. */
#include <math.h>
#include <stdlib.h>
#include "mcrt_internal.h"
#include "choose/candidates.h"
#include "base/fields.h"
#include "records.h"

static const int capabilities[] = {0, 80, 86, 90, 120};
enum { CAPABILITIES = sizeof capabilities / sizeof *capabilities };

static candidate_target target_of(int capability) {
    candidate_target target = {*mc_gpu_find(NULL, capability), capability, false};
    if (capability) target.gpu.capability = capability;
    return target;
}

static const char *value_of(const char *fields, const char *name, char text[64]) {
    size_t size;
    const char *value = fields_value(fields, name, strlen(name), &size);
    snprintf(text, 64, "%.*s", (int)size, value != NULL ? value : "");
    return text;
}

/* Its fields are the problem's; the kernel that they make fits; it is for this GPU. */
static void check_candidate(const candidate *c, const plan_problem *p, int capability) {
    mc_kernel *kernel = NULL;
    char text[64];
    mc_diag *diag = mc_diag_create();
    CHECK(mc_kernel_outline_fields(c->fields, &kernel, diag) == MC_OK, "%s: %s", mc_diag_text(diag),
          c->fields);
    if (kernel != NULL) {
        CHECK(mc_kernel_hash(kernel) == c->hash && strcmp(mc_kernel_fields(kernel), c->fields) == 0, "%s",
              c->fields);
        test_kernel(kernel, p);
    }
    const char *arch = mc_arch_for(capability);
    CHECK(arch == NULL || strcmp(value_of(c->fields, "arch", text), arch) == 0, "arch %s for %d", text,
          capability);
    mc_kernel_destroy(kernel);
    mc_diag_destroy(diag);
}

static void check_list(const candidate_list *list, const plan_problem *p, int capability) {
    for (size_t i = 0; i < list->count; i++) {
        const candidate *c = &list->items[i], *before = i ? &list->items[i - 1] : NULL;
        CHECK(isfinite(c->estimate) && c->estimate > 0, "%g: %s", c->estimate, c->fields);
        CHECK(before == NULL || before->estimate <= c->estimate, "order");
        for (size_t j = 0; j < i; j++) CHECK(list->items[j].hash != c->hash, "twice: %s", c->fields);
    }
    for (size_t i = 0; i < list->count; i += 1 + list->count / 10)
        check_candidate(&list->items[i], p, capability);
}

/* All pairs of types, any shapes, alignments and leading dimensions. */
static void test_unseen(mc_diag *diag) {
    size_t least = SIZE_MAX, most = 0;
    for (int op = MC_OP_SPMM; op <= MC_OP_SDDMM; op++)
        for (int pair = 0; pair < TEST_OPERANDS * TEST_OPERANDS; pair++) {
            int capability = capabilities[test_random(CAPABILITIES)];
            candidate_target target = target_of(capability);
            candidate_list list;
            plan_problem p = test_problem((mc_op)op);
            p.lhs = test_operands[pair % TEST_OPERANDS], p.rhs = test_operands[pair / TEST_OPERANDS];
            test_complete(&p);
            mc_status status = candidates_find(&p, &target, NULL, 0, &list, diag);
            CHECK(status == MC_OK && list.count > 0, "%s %s x %s: %s", op ? "sddmm" : "spmm",
                  mc_type_text(p.lhs), mc_type_text(p.rhs), mc_diag_text(diag));
            mc_diag_clear(diag);
            check_list(&list, &p, capability);
            if (list.count < least) least = list.count;
            if (list.count > most) most = list.count;
            candidates_free(&list);
        }
    printf("%zu to %zu candidates\n", least, most);
}

static size_t count_with(const candidate_list *list, const char *name, const char *value) {
    size_t count = 0;
    char text[64];
    for (size_t i = 0; i < list->count; i++)
        count += strcmp(value_of(list->items[i].fields, name, text), value) == 0;
    return count;
}

typedef struct row {
    const char *what;
    mc_op op;
    int64_t k, ldb;
    unsigned align;
    int capability;
    const char *field, *value;
    bool there;
} row;

/* What a problem promises decides which kernels there are. */
static void test_promises(mc_diag *diag) {
    static const row rows[] = {
        {"ring", MC_OP_SPMM, 256, 256, 16, 90, "staging", "tma", true},
        {"rows of B not aligned for tensor copies", MC_OP_SPMM, 256, 264, 16, 90, "staging", "tma", false},
        {"B not aligned for tensor copies", MC_OP_SPMM, 256, 256, 4, 90, "staging", "tma", false},
        {"no tensor copies", MC_OP_SPMM, 256, 256, 16, 80, "staging", "tma", false},
        {"the simulator has them", MC_OP_SPMM, 256, 256, 16, 0, "staging", "tma", true},
        {"ring of sm_80", MC_OP_SPMM, 256, 264, 16, 80, "staging", "async", true},
        {"gather", MC_OP_SPMM, 256, 257, 1, 80, "staging", "direct", true},
        {"window", MC_OP_SDDMM, 256, 256, 16, 90, "method", "window", true},
        {"window, k in no tile", MC_OP_SDDMM, 1024, 1024, 16, 90, "method", "window", false},
        {"window, k not whole", MC_OP_SDDMM, 250, 256, 16, 90, "method", "window", false},
        {"window, rows of B not aligned", MC_OP_SDDMM, 256, 260, 16, 90, "method", "window", false},
        {"dense", MC_OP_SDDMM, 192, 192, 16, 90, "method", "dense", true},
        {"gather, the usual method, takes all", MC_OP_SDDMM, 250, 251, 1, 90, "method", "", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *r = &rows[i];
        plan_problem p = test_usual(r->op);
        candidate_target target = target_of(r->capability);
        candidate_list list;
        p.k = r->k, p.align = r->align;
        test_complete(&p);
        p.ldb = r->ldb;
        CHECK(candidates_find(&p, &target, NULL, 0, &list, diag) == MC_OK, "%s: %s", r->what,
              mc_diag_text(diag));
        CHECK((count_with(&list, r->field, r->value) != 0) == r->there, "%s: %zu", r->what,
              count_with(&list, r->field, r->value));
        candidates_free(&list);
        mc_diag_clear(diag);
    }
}

/* A kernel that may begin early is not thought faster than the same one without that. */
static void test_overlap(mc_diag *diag) {
    plan_problem p = test_usual(MC_OP_SPMM);
    candidate_target target = target_of(90);
    const mc_problem shape = plan_problem_estimate(&p);
    candidate_list list;
    size_t checked = 0;
    CHECK(candidates_find(&p, &target, NULL, 0, &list, diag) == MC_OK, "%s", mc_diag_text(diag));
    for (size_t i = 0; i < list.count; i++) {
        mc_kernel *with = NULL, *without = NULL;
        char *fields = fields_change(list.items[i].fields, "overlap=off");
        CHECK(mc_kernel_outline_fields(list.items[i].fields, &with, diag) == MC_OK &&
                  mc_kernel_outline_fields(fields, &without, diag) == MC_OK,
              "%s", mc_diag_text(diag));
        double wanted = mc_kernel_estimate(without, &target.gpu, &shape);
        CHECK(memcmp(&list.items[i].estimate, &wanted, sizeof wanted) == 0, "%g, not %g: %s",
              list.items[i].estimate, wanted, fields);
        checked += mc_kernel_contract(with)->overlap;
        mc_kernel_destroy(with);
        mc_kernel_destroy(without);
        free(fields);
    }
    CHECK(checked > 0, "no kernel overlaps");
    candidates_free(&list);
}

/* Kernels that may refuse a value, for what digits they cut it in, are for those who name their spec. */
static void test_digits(mc_diag *diag) {
    static const char *const named[] = {SPECS "/spmm_l16r8.lua", SPECS "/spmm_l16r8_stacked.lua"};
    static const mc_type wide[] = {MC_S12, MC_S16, MC_U16};
    candidate_list list;
    for (int i = 0; i < 3 * CAPABILITIES * 3; i++) {
        plan_problem p = test_usual(MC_OP_SPMM);
        candidate_target target = target_of(capabilities[i / 3 % CAPABILITIES]);
        p.lhs = wide[i % 3], p.vec = 2 << i / 3 / CAPABILITIES, p.m = 8 * p.vec;
        test_complete(&p);
        CHECK(candidates_find(&p, &target, NULL, 0, &list, diag) == MC_OK, "%s", mc_diag_text(diag));
        CHECK(count_with(&list, "digits", "") == list.count, "%s: digits of a kind", mc_type_text(p.lhs));
        candidates_free(&list);
    }
    plan_problem p = test_usual(MC_OP_SPMM);
    candidate_target target = target_of(90);
    p.lhs = MC_S16, p.vec = 4;
    test_complete(&p);
    CHECK(candidates_find(&p, &target, named, 2, &list, diag) == MC_OK, "%s", mc_diag_text(diag));
    CHECK(count_with(&list, "digits", "balanced") > 0 && count_with(&list, "digits", "") > 0, "named specs");
    candidates_free(&list);
}

/* Integers take no spec of floats, whose values have as many bits, and floats none of integers; f16, bf16 and
   integers by floats take their own. */
static void test_floats(mc_diag *diag) {
    static const struct {
        mc_type lhs, rhs;
        const char *own;
        int sm;
    } sides[] = {{MC_F16, MC_F16, "spmm_f16", 0},     {MC_BF16, MC_BF16, "spmm_bf16", 0},
                 {MC_S16, MC_S16, "spmm_l16r16", 0},  {MC_U16, MC_U16, "spmm_l16r16", 0},
                 {MC_TF32, MC_TF32, "spmm_tf32", 0},  {MC_E4M3, MC_E4M3, "spmm_e4m3", 0},
                 {MC_E5M2, MC_E5M2, "spmm_e4m3", 0},  {MC_E4M3, MC_E4M3, "spmm_e4m3", 80},
                 {MC_E4M3, MC_E5M2, "spmm_e4m3", 86}, {MC_S8, MC_F16, "spmm_s8f16", 0},
                 {MC_U8, MC_F16, "spmm_s8f16", 0},    {MC_S8, MC_BF16, "spmm_s8f16", 0},
                 {MC_E4M3, MC_F16, "spmm_s8f16", 0},  {MC_E5M2, MC_F16, "spmm_s8f16", 80}};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        plan_problem p = test_usual(MC_OP_SPMM);
        candidate_target target = target_of(sides[i].sm ? sides[i].sm : 90);
        candidate_list list;
        p.lhs = sides[i].lhs, p.rhs = sides[i].rhs, p.out = MC_F32, p.scale = MC_PER_ROW;
        test_complete(&p);
        CHECK(candidates_find(&p, &target, NULL, 0, &list, diag) == MC_OK && list.count > 0, "%s: %s",
              sides[i].own, mc_diag_text(diag));
        mc_diag_clear(diag);
        for (size_t j = 0; j < list.count; j++)
            CHECK(strncmp(list.items[j].spec, sides[i].own, strlen(sides[i].own)) == 0, "%s: %s",
                  sides[i].own, list.items[j].spec);
        CHECK((count_with(&list, "staging", "tma") > 0) == (sides[i].sm == 0), "%s: ring kernels",
              sides[i].own);
        candidates_free(&list);
    }
}

/* An SDDMM of floats takes specs of floats, also where none is of its types, and in either layout of B. */
static void test_sampled_floats(mc_diag *diag) {
    static const struct {
        mc_type lhs, rhs;
        int capability;
    } pairs[] = {{MC_F16, MC_F16, 80},   {MC_BF16, MC_BF16, 80}, {MC_TF32, MC_TF32, 80},
                 {MC_E4M3, MC_E4M3, 89}, {MC_E4M3, MC_E5M2, 90}, {MC_E5M2, MC_E4M3, 90},
                 {MC_E5M2, MC_E5M2, 89}, {MC_E5M2, MC_E5M2, 86}};
    for (size_t i = 0; i < 2 * sizeof pairs / sizeof *pairs; i++) {
        plan_problem p = test_usual(MC_OP_SDDMM);
        candidate_target target = target_of(pairs[i / 2].capability);
        candidate_list list;
        p.lhs = pairs[i / 2].lhs, p.rhs = pairs[i / 2].rhs, p.out = MC_F32, p.scale = MC_PER_NONE;
        p.layout = i % 2 ? MC_LAYOUT_ROWS : MC_LAYOUT_COLUMNS;
        test_complete(&p);
        mc_status status = candidates_find(&p, &target, NULL, 0, &list, diag);
        CHECK(status == MC_OK && list.count > 0, "pair %zu: %s", i / 2, mc_diag_text(diag));
        mc_diag_clear(diag);
        for (size_t j = 0; j < list.count; j++)
            CHECK(strncmp(list.items[j].spec, "sddmm_f16", 9) == 0 ||
                      strncmp(list.items[j].spec, "sddmm_bf16", 10) == 0,
                  "pair %zu: %s", i / 2, list.items[j].spec);
        candidates_free(&list);
    }
}

/* Specs of single nonzeros are for a matrix of these alone. */
static void test_single_nonzeros(mc_diag *diag) {
    for (int vec = 1; vec <= 8; vec += 7) {
        plan_problem p = test_usual(MC_OP_SDDMM);
        candidate_target target = target_of(80);
        candidate_list list;
        size_t count = 0;
        p.lhs = p.rhs = MC_F16, p.out = MC_F16, p.scale = MC_PER_NONE, p.vec = vec;
        test_complete(&p);
        CHECK(candidates_find(&p, &target, NULL, 0, &list, diag) == MC_OK, "%s", mc_diag_text(diag));
        for (size_t i = 0; i < list.count; i++) count += strcmp(list.items[i].spec, "sddmm_csr_f16.lua") == 0;
        CHECK((count > 0) == (vec == 1), "vec %d: %zu of sddmm_csr_f16", vec, count);
        candidates_free(&list);
    }
}

/* A caller's own: those of another family are passed over, what is no spec is an error. */
static void test_paths(mc_diag *diag) {
    static const char *const both[] = {SPECS "/sddmm_l8r8.lua", SPECS "/spmm_l16r16.lua"};
    static const char *const names[] = {"sddmm_l8r8", "spmm_l16r16"}, *const misspelt = "spmm_l8r9";
    const char *const nowhere = SPECS "/nowhere.lua", *const text = SPECS "/../README.md";
    plan_problem p = test_usual(MC_OP_SPMM);
    candidate_target target = target_of(90);
    candidate_list list;
    CHECK(candidates_find(&p, &target, both, 2, &list, diag) == MC_OK, "%s", mc_diag_text(diag));
    for (size_t i = 0; i < list.count; i++)
        CHECK(strcmp(list.items[i].spec, "spmm_l16r16.lua") == 0, "%s", list.items[i].spec);
    check_list(&list, &p, 90);
    candidates_free(&list);
    CHECK(candidates_find(&p, &target, names, 2, &list, diag) == MC_OK, "%s", mc_diag_text(diag));
    for (size_t i = 0; i < list.count; i++)
        CHECK(strcmp(list.items[i].spec, "spmm_l16r16.lua") == 0, "%s", list.items[i].spec);
    check_list(&list, &p, 90);
    candidates_free(&list);
    CHECK(candidates_find(&p, &target, &misspelt, 1, &list, diag) == MC_USAGE, "misspelt");
    CHECK_TEXT(mc_diag_text(diag), "spmm_l8r9: no shipped spec has this name");
    mc_diag_clear(diag);
    CHECK(candidates_find(&p, &target, both, 1, &list, diag) == MC_CANNOT && list.items == NULL, "family");
    CHECK_TEXT(mc_diag_text(diag), "none of 1 specs is of family spmm");
    mc_diag_clear(diag);
    CHECK(candidates_find(&p, &target, &nowhere, 1, &list, diag) == MC_IO, "nowhere");
    mc_diag_clear(diag);
    CHECK(candidates_find(&p, &target, &text, 1, &list, diag) == MC_USAGE, "no spec");
    mc_diag_clear(diag);
    const char *const window = SPECS "/sddmm_l8r8_window.lua";
    p = test_usual(MC_OP_SDDMM);
    p.ldb = 1000;
    CHECK(candidates_find(&p, &target, &window, 1, &list, diag) == MC_CANNOT, "window");
    CHECK_TEXT(mc_diag_text(diag), "ldb: method = \"window\" wants a multiple of 16");
    mc_diag_clear(diag);
    p.shapes = MC_SHAPES_OPEN;
    CHECK(candidates_find(&p, &target, &window, 1, &list, diag) == MC_CANNOT, "open");
    CHECK_TEXT(mc_diag_text(diag), "wants it fixed");
    mc_diag_clear(diag);
}

/* Why there is no kernel is told in lines of which no two are the same, though many specs say it. */
static void test_reasons(mc_diag *diag) {
    plan_problem p = test_usual(MC_OP_SPMM);
    candidate_target target = target_of(90);
    candidate_list list;
    p.n = 1 << 30;
    test_complete(&p);
    CHECK(candidates_find(&p, &target, NULL, 0, &list, diag) == MC_CANNOT && list.items == NULL, "n");
    const char *text = mc_diag_text(diag), *why = "more than 65535 tiles of 128 columns";
    CHECK_TEXT(text, "no kernel of family spmm does this problem:\n--set: n: more than 65535 tiles");
    const char *first = strstr(text, why);
    CHECK(first != NULL && strstr(first + 1, why) == NULL, "%s", text);
    CHECK(strstr(text, "more than 65535 tiles of 64 columns") != NULL, "%s", text);
    mc_diag_clear(diag);
}

/* With shapes open the contract alone knows: rows of B that copies do not take. */
static void test_open(mc_diag *diag) {
    plan_problem p = test_usual(MC_OP_SPMM);
    candidate_target target = target_of(90);
    candidate_list list;
    p.shapes = MC_SHAPES_OPEN;
    p.ldb = 264;
    CHECK(candidates_find(&p, &target, NULL, 0, &list, diag) == MC_OK, "%s", mc_diag_text(diag));
    CHECK(count_with(&list, "staging", "tma") == 0 && list.count > 0, "%zu", list.count);
    candidates_free(&list);
    p.ldb = 256;
    CHECK(candidates_find(&p, &target, NULL, 0, &list, diag) == MC_OK &&
              count_with(&list, "staging", "tma") != 0,
          "%zu", list.count);
    candidates_free(&list);
    p = test_usual(MC_OP_SDDMM); /* s8 x s4 is exact up to k = 131,071 unless it is fixed */
    p.rhs = MC_S4, p.k = 200000;
    test_complete(&p);
    CHECK(candidates_find(&p, &target, NULL, 0, &list, diag) == MC_OK, "%s", mc_diag_text(diag));
    candidates_free(&list);
    p.shapes = MC_SHAPES_OPEN;
    CHECK(candidates_find(&p, &target, NULL, 0, &list, diag) == MC_CANNOT, "k");
    CHECK_TEXT(mc_diag_text(diag),
               "k is 200000, the kernel takes at most 131071: sums beyond it may be wrong");
    mc_diag_clear(diag);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_unseen(diag);
    test_promises(diag);
    test_overlap(diag);
    test_digits(diag);
    test_floats(diag);
    test_sampled_floats(diag);
    test_single_nonzeros(diag);
    test_paths(diag);
    test_reasons(diag);
    test_open(diag);
    mc_diag_destroy(diag);
    return check_end();
}
