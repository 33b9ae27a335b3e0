/* What a plan does where its first choice cannot be had, and where it is to tune first. */
#include <stdlib.h>
#include "product.h"
#include "tree.h"

mc_diag *diag;
static char directory[] = "plan-next-XXXXXX";

/* -- Specs and log of a test's own */

static const char *write_spec(const char *name, const char *text) {
    static char paths[4][64];
    static int next;
    char *path = paths[next++];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, "%s", path);
    return path;
}

static mc_context *open_context(heard *h, mc_tuning tuning, const char *records) {
    mc_context *context = NULL;
    const mc_context_config config = {.size = sizeof config,
                                      .device = "sim",
                                      .cache = MC_CACHE_MEMORY,
                                      .tuning = tuning,
                                      .records = records,
                                      .log = product_listen,
                                      .log_user = h};
    (void)worked("mc_context_create", mc_context_create(&config, &context, diag));
    return context;
}

static void check_origin(const product *p, mc_origin origin, const char *spec, const char *fields) {
    mc_plan_info info = {.size = sizeof info};
    (void)worked("mc_plan_get_info", mc_plan_get_info(p->plan, &info, diag));
    CHECK(info.origin == origin, "origin %d of %s", (int)info.origin, info.fields);
    CHECK_TEXT(info.spec, spec);
    CHECK_TEXT(info.fields, fields);
}

/* -- Values that a kernel has no digits for (docs/precisions.md) */

#define COMMON "op = 'spmm' lhs = 's16' rhs = 's8' vec = 4 tile_n = 64 warps = 4 split = 4 "
static const char balanced_text[] = COMMON "digits = 'balanced'", plain_text[] = COMMON "prefetch = 'off'";

static product_kind balanced_kind(const char *const *specs, size_t count) {
    return (product_kind){"balanced digits",
                          MC_S16,
                          4,
                          .row_blocks = 4,
                          .cols = 60,
                          .sparsity = 0.6,
                          .config = {.c = MC_S32, .n = 64, .specs = specs, .spec_count = count}};
}

/* The greatest value of all: balanced digits end before it. */
static void test_next_choice(const char *const *specs) {
    heard h = {0};
    product p;
    mc_context *context = open_context(&h, MC_TUNING_OFF, NULL);
    const product_kind kind = balanced_kind(specs, 2), alone = balanced_kind(specs, 1);
    if (product_open(&p, context, &kind, 1)) {
        mc_vsparse_set_value(&p.host, 2, 1, 32767);
        (void)worked("mc_matrix_set_values", mc_matrix_set_values(p.matrix, p.host.values, NULL, diag));
        if (product_plan(&p)) {
            check_origin(&p, MC_ORIGIN_DEFAULT, "plain.lua", "prefetch=off");
            product_check(&p);
        }
        CHECK(h.notes == 1, "%d notes", h.notes);
        CHECK_TEXT(h.last, "digits=balanced");
        CHECK_TEXT(h.last, "of balanced.lua cannot be had: ");
        mc_plan *none = (mc_plan *)&p;
        p.config.spec_count = alone.config.spec_count;
        mc_diag_clear(diag);
        CHECK(mc_plan_create(context, &p.config, &none, diag) == MC_CANNOT && none == NULL);
        CHECK(mc_diag_count(diag) == 1, "%s", mc_diag_text(diag));
        CHECK_TEXT(mc_diag_text(diag), "32767");
    }
    product_close(&p);
    mc_context_destroy(context);
}

/* New values that the kernel of a plan does not take leave everything as it is. */
static void test_values_refused(const char *const *specs) {
    heard h = {0};
    product p;
    mc_context *context = open_context(&h, MC_TUNING_OFF, NULL);
    const product_kind kind = balanced_kind(specs, 1);
    if (product_open(&p, context, &kind, 1)) {
        mc_vsparse_clamp(&p.host, 1000);
        (void)worked("mc_matrix_set_values", mc_matrix_set_values(p.matrix, p.host.values, NULL, diag));
        if (product_plan(&p)) {
            int64_t before = mc_vsparse_value(&p.host, 2, 1);
            mc_vsparse_set_value(&p.host, 2, 1, 32767);
            mc_diag_clear(diag);
            CHECK(mc_matrix_set_values(p.matrix, p.host.values, NULL, diag) == MC_CANNOT);
            CHECK_TEXT(mc_diag_text(diag), "32767");
            mc_vsparse_set_value(&p.host, 2, 1, before);
            product_check(&p);
            mc_vsparse_set_value(&p.host, 2, 1, -32768);
            (void)worked("mc_matrix_set_values", mc_matrix_set_values(p.matrix, p.host.values, NULL, diag));
            product_check(&p);
        }
    }
    product_close(&p);
    mc_context_destroy(context);
}

/* -- Tuning first */

static const char small_text[] =
    "op = 'spmm' lhs = 's8' rhs = 's8' vec = 8 warps = {4, 2} split = {4, 2} tile_n = 64";

static void test_tuned(const char *const *specs) {
    char records[64];
    heard h = {0};
    product p;
    const product_kind kind = {"tuned",
                               MC_S8,
                               8,
                               .row_blocks = 4,
                               .cols = 60,
                               .sparsity = 0.6,
                               .config = {.c = MC_S32, .n = 64, .specs = specs, .spec_count = 1}};
    snprintf(records, sizeof records, "%s/records.jsonl", directory);
    mc_context *context = open_context(&h, MC_TUNING_TUNE, records);
    if (product_open(&p, context, &kind, 1) && product_plan(&p)) {
        check_origin(&p, MC_ORIGIN_MEASURED, "small.lua", "tile_n=64");
        product_check(&p);
        mc_context_info before = {.size = sizeof before}, after = {.size = sizeof after};
        (void)worked("info", mc_context_get_info(context, &before, diag));
        mc_plan *again = NULL;
        (void)worked("again", mc_plan_create(context, &p.config, &again, diag));
        (void)worked("info", mc_context_get_info(context, &after, diag));
        CHECK(before.kernels_compiled >= 3 && before.kernels_compiled == after.kernels_compiled,
              "%llu kernels compiled for tuning, then %llu", (unsigned long long)before.kernels_compiled,
              (unsigned long long)after.kernels_compiled);
        mc_plan_destroy(again);
    }
    product_close(&p);
    mc_context_destroy(context);
    context = open_context(&h, MC_TUNING_REPLAY, records); /* the record has stayed */
    if (product_open(&p, context, &kind, 1) && product_plan(&p))
        check_origin(&p, MC_ORIGIN_MEASURED, "small.lua", "tile_n=64");
    product_close(&p);
    CHECK(h.notes == 0, "%s", h.last);
    mc_context_destroy(context);
}

int main(void) {
    diag = mc_diag_create();
    CHECK(mkdtemp(directory) != NULL, "no directory");
    const char *const digits[] = {write_spec("balanced.lua", balanced_text),
                                  write_spec("plain.lua", plain_text)};
    const char *const small[] = {write_spec("small.lua", small_text)};
    test_next_choice(digits);
    test_values_refused(digits);
    test_tuned(small);
    tree_remove(directory);
    mc_diag_destroy(diag);
    return product_end(check_end());
}
