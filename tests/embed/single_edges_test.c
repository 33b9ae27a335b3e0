/* Plans of matrices without vectors at the edges of what there is: no rows, no columns, no nonzeros, a single element, one column, one
 * row; products of one column, and sampled ones of k = 1. Every solver takes them, by its spec and unasked; what leaves a leading
 * dimension too small is refused with one message. */
#include "product.h"

mc_diag *diag;

static mc_context *context;

/* -- What there is */

static const struct {
    const char *name;
    int64_t rows, cols;
    double sparsity;
} shapes[] = {{"no rows", 0, 5, 0.5},         {"no columns", 5, 0, 0.5},      {"nothing", 0, 0, 0.5},
              {"one element", 1, 1, 0},       {"one that is empty", 1, 1, 1}, {"no nonzeros", 33, 40, 1},
              {"one column", 35, 1, 0},       {"one row", 1, 700, 0.1},       {"one column, few", 70, 1, 0.9},
              {"all of few rows", 3, 300, 0}, {"odd rows", 17, 29, 0.7}};

static const struct {
    const char *spec; /* NULL: whichever the plan takes */
    mc_type type, out;
} solvers[] = {{"spmm_csr_f32.lua", MC_F32, MC_F32},
               {"spmm_csr_f32_segmented.lua", MC_F32, MC_F32},
               {"spmm_csr_f32_segmented.lua", MC_TF32, MC_F32},
               {"spmm_csr_f16.lua", MC_F16, MC_F16},
               {"spmm_csr_f16_shared.lua", MC_F16, MC_F32},
               {"spmm_csr_tf32.lua", MC_TF32, MC_F32},
               {"spmm_hrpb_tf32.lua", MC_TF32, MC_F32},
               {NULL, MC_F32, MC_F32},
               {NULL, MC_BF16, MC_F32},
               {NULL, MC_S8, MC_S32},
               {NULL, MC_E4M3, MC_F16}};

static const struct {
    const char *spec;
    mc_type type, out;
} samplers[] = {
    {"sddmm_csr_f32.lua", MC_F32, MC_F32}, {"sddmm_csr_f16.lua", MC_F16, MC_F16}, {NULL, MC_F16, MC_F32}};

static void run_one(product_kind *kind, const char *name, const char *spec) {
    char title[96], path[512];
    const char *specs[] = {path};
    snprintf(title, sizeof title, "%s, %s, n %d, k %d", spec != NULL ? spec : "any", name,
             (int)kind->config.n, (int)kind->config.k);
    snprintf(path, sizeof path, "%s/%s", SPECS, spec != NULL ? spec : "none");
    kind->name = title;
    if (spec != NULL) kind->config.specs = specs, kind->config.spec_count = 1;
    product_run(context, kind, 3);
}

static void test_spmm(void) {
    static const int sizes[] = {1, 40};
    for (size_t s = 0; s < sizeof solvers / sizeof *solvers; s++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
                product_kind kind = {.type = solvers[s].type,
                                     .vec = 1,
                                     .row_blocks = shapes[i].rows,
                                     .cols = shapes[i].cols,
                                     .sparsity = shapes[i].sparsity,
                                     .config = {.b = solvers[s].type, .c = solvers[s].out, .n = sizes[n]}};
                run_one(&kind, shapes[i].name, solvers[s].spec);
            }
}

static void test_sddmm(void) {
    static const int sizes[] = {1, 24};
    for (size_t s = 0; s < sizeof samplers / sizeof *samplers; s++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
                product_kind kind = {.type = MC_F32,
                                     .vec = 1,
                                     .row_blocks = shapes[i].rows,
                                     .cols = shapes[i].cols,
                                     .sparsity = shapes[i].sparsity,
                                     .config = {.op = MC_OP_SDDMM,
                                                .a = samplers[s].type,
                                                .b = samplers[s].type,
                                                .c = samplers[s].out,
                                                .k = sizes[k]}};
                run_one(&kind, shapes[i].name, samplers[s].spec);
            }
}

/* -- What is refused */

static void test_refusals(void) {
    static const struct {
        int64_t n, ldb, ldc;
        const char *message;
    } rows[] = {{8, 7, 0, "ldb"},
                {8, 0, 7, "ldc"},
                {-1, 0, 0, "n is -1"},
                {8, -8, 0, "ldb"},
                {8, (int64_t)1 << 31, 0, "ldb"},
                {8, 1 << 29, 0, "ldb"},
                {(int64_t)1 << 31, 0, 0, "n is 2147483648"}};
    static const product_kind kind = {
        "refused", MC_F32, 1, 9, 12, 0.5, .config = {.b = MC_F32, .c = MC_F32, .n = 8}};
    product p;
    if (product_open(&p, context, &kind, 1))
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            mc_plan_config config = p.config;
            mc_plan *plan = NULL;
            config.n = rows[i].n, config.ldb = rows[i].ldb, config.ldc = rows[i].ldc;
            const mc_status status = mc_plan_create(context, &config, &plan, diag);
            CHECK(status != MC_OK && plan == NULL, "row %zu is taken", i);
            CHECK_TEXT(mc_diag_text(diag), rows[i].message);
            mc_diag_clear(diag);
            mc_plan_destroy(plan);
        }
    product_close(&p);
}

int main(void) {
    const mc_context_config config = {
        .size = sizeof config, .device = "sim", .cache = MC_CACHE_MEMORY, .records = ""};
    diag = mc_diag_create();
    if (mc_context_create(&config, &context, diag) != MC_OK) {
        fprintf(stderr, "%s", mc_diag_text(diag));
        return 2;
    }
    test_spmm();
    test_sddmm();
    test_refusals();
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return product_end(check_end());
}
