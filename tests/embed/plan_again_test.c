/* A plan that was made before is made of what is there: kernels in memory, then in the cache on disk, which a
   context leaves behind. */
#include <stdlib.h>
#include "product.h"
#include "tree.h"

mc_diag *diag;
static char directory[] = "plan-again-XXXXXX";

static const product_kind kind = {"again",
                                  MC_S8,
                                  8,
                                  .row_blocks = 4,
                                  .cols = 60,
                                  .sparsity = 0.6,
                                  .config = {.c = MC_F16, .n = 32, .scale = MC_PER_TENSOR}};

static mc_context *open_context(mc_cache_mode mode) {
    mc_context *context = NULL;
    const mc_context_config config = {
        .size = sizeof config, .device = "sim", .cache = mode, .cache_directory = directory};
    (void)worked("mc_context_create", mc_context_create(&config, &context, diag));
    return context;
}

static void check_counts(mc_context *context, uint64_t loaded, uint64_t compiled, uint64_t from_cache) {
    mc_context_info info = {.size = sizeof info};
    (void)worked("mc_context_get_info", mc_context_get_info(context, &info, diag));
    CHECK(info.kernels_loaded == loaded && info.kernels_compiled == compiled &&
              info.kernels_from_cache == from_cache,
          "%llu loaded, %llu compiled, %llu from the cache", (unsigned long long)info.kernels_loaded,
          (unsigned long long)info.kernels_compiled, (unsigned long long)info.kernels_from_cache);
}

/* Compiled once, the plan's fields come out the same each time. */
static void plan_twice(mc_cache_mode mode, uint64_t compiled, uint64_t from_cache, char *fields,
                       size_t size) {
    mc_context *context = open_context(mode);
    mc_plan_info info = {.size = sizeof info};
    for (int i = 0; i < 2; i++) {
        product_run(context, &kind, (uint64_t)i);
        check_counts(context, 1, compiled, from_cache);
    }
    product p;
    if (product_open(&p, context, &kind, 9) && product_plan(&p)) {
        (void)worked("mc_plan_get_info", mc_plan_get_info(p.plan, &info, diag));
        snprintf(fields, size, "%s", info.fields);
    }
    product_close(&p);
    mc_context_destroy(context);
}

static void test_again(void) {
    char first[512], second[512];
    plan_twice(MC_CACHE_READ_WRITE, 1, 0, first, sizeof first);
    plan_twice(MC_CACHE_READ_WRITE, 0, 1, second, sizeof second);
    CHECK(strcmp(first, second) == 0, "%s, then %s", first, second);
    plan_twice(MC_CACHE_READ_ONLY, 0, 1, second, sizeof second);
    plan_twice(MC_CACHE_MEMORY, 1, 0, second, sizeof second);
    plan_twice(MC_CACHE_OFF, 1, 0, second, sizeof second);
    CHECK(strcmp(first, second) == 0, "the cache changes no choice: %s, then %s", first, second);
}

/* With open shapes a spec of one variant has one kernel for all sizes. */
static void test_open_shapes(void) {
    static const int64_t sizes[] = {1, 32, 33, 128, 300};
    char spec[64];
    const char *const specs[] = {spec};
    snprintf(spec, sizeof spec, "%s/one.lua", directory);
    FILE *file = fopen(spec, "w");
    CHECK(file != NULL, "%s", spec);
    if (file == NULL) return;
    fputs("op = 'spmm' lhs = 's8' rhs = 's8' vec = 8 stride = 64 tile_n = 32 warps = 2", file);
    fclose(file);
    mc_context *context = open_context(MC_CACHE_OFF);
    product_kind open = kind;
    open.config.shapes = MC_SHAPES_OPEN;
    open.config.specs = specs;
    open.config.spec_count = 1;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        open.config.n = sizes[i];
        product_run(context, &open, i);
    }
    check_counts(context, 1, 1, 0);
    mc_context_destroy(context);
}

int main(void) {
    diag = mc_diag_create();
    CHECK(mkdtemp(directory) != NULL, "no directory");
    test_again();
    test_open_shapes();
    tree_remove(directory);
    mc_diag_destroy(diag);
    return product_end(check_end());
}
