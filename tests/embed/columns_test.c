/* Plans of an SpMM whose B lies by columns. A plan takes a kernel that reads columns, or one that reads rows
   and a pass ahead of it: by estimates, by records, and by what there is. Results are exact on the
   simulator. */
#include "product.h"

mc_diag *diag;
static mc_context *context;

enum { TOKENS = 64, LDB = 256 };

/* A linear layer by tokens. The transposing kernel reads single elements where K is no multiple of 16, and
   should then take 4.3 us, else 1.7. The kernels behind it should take 1.8, those that read columns 4.5. */
#define LAYER(row_count, k) .vec = 8, .row_blocks = (row_count) / 8, .cols = (k), .sparsity = 0.7
#define CONFIG(...)                                                                                          \
    {                                                                                                        \
        .op = MC_OP_SPMM, .c = MC_F16, .n = TOKENS, .ldb = LDB, .b_major = MC_MAJOR_COLUMN,                  \
        .scale = MC_PER_ROW, __VA_ARGS__                                                                     \
    }
#define BY_COLUMNS .c_major = MC_MAJOR_COLUMN

typedef struct row {
    product_kind kind;
    bool direct;
} row;

static const char *const expand[] = {"spmm_l8r8_expand"}, *const rows_only[] = {"spmm_l8r8"},
                         *const both[] = {"spmm_l8r8", "spmm_l8r8_expand"};

static const row rows[] = {
    {{"a pass is fast", MC_S8, LAYER(256, 256), .config = CONFIG(.b = MC_S8, BY_COLUMNS)}, false},
    {{"a pass is slow", MC_S8, LAYER(256, 250), .config = CONFIG(.b = MC_S8, BY_COLUMNS)}, true},
    {{"a pass is slow, u8", MC_U8, LAYER(64, 250), .config = CONFIG(.b = MC_U8, BY_COLUMNS)}, true},
    {{"shapes that are open", MC_S8, LAYER(64, 250),
      .config = CONFIG(.b = MC_S8, BY_COLUMNS, .shapes = MC_SHAPES_OPEN)},
     true},
    {{"the slower spec alone", MC_S8, LAYER(64, 256),
      .config = CONFIG(.b = MC_S8, BY_COLUMNS, .specs = expand, .spec_count = 1)},
     true},
    {{"the other spec alone", MC_S8, LAYER(64, 250),
      .config = CONFIG(.b = MC_S8, BY_COLUMNS, .specs = rows_only, .spec_count = 1)},
     false},
    {{"both specs, a pass is fast", MC_S8, LAYER(64, 256),
      .config = CONFIG(.b = MC_S8, BY_COLUMNS, .specs = both, .spec_count = 2)},
     false},
    {{"both specs, a pass is slow", MC_S8, LAYER(64, 250),
      .config = CONFIG(.b = MC_S8, BY_COLUMNS, .specs = both, .spec_count = 2)},
     true},
    {{"f16, which no kernel reads by columns", MC_F16, LAYER(64, 250),
      .config = {.b = MC_F16, .c = MC_F16, .n = TOKENS, .b_major = MC_MAJOR_COLUMN, BY_COLUMNS}},
     false},
    {{"C by rows", MC_S8, LAYER(64, 250), .config = CONFIG(.b = MC_S8)}, false},
    {{"columns that begin anywhere", MC_S8, LAYER(64, 250),
      .config = {.b = MC_S8,
                 .c = MC_F16,
                 .n = TOKENS,
                 .ldb = 251,
                 .b_major = MC_MAJOR_COLUMN,
                 BY_COLUMNS,
                 .scale = MC_PER_ROW}},
     false},
    {{"addresses in fours", MC_S8, LAYER(64, 250), .offset = 4,
      .config = CONFIG(.b = MC_S8, BY_COLUMNS, .align = 4)},
     false},
};

static mc_plan_info info_of(const mc_plan *plan) {
    mc_plan_info info = {.size = sizeof info};
    (void)worked("info", mc_plan_get_info(plan, &info, diag));
    return info;
}

static bool is_direct(const mc_plan *plan) { return strstr(info_of(plan).fields, "b_major=column") != NULL; }

/* There is a pass, and room for what it writes, exactly where the plan's kernel reads rows. */
static void check_passes(const product *p, bool direct) {
    const mc_plan_info info = info_of(p->plan);
    const char *name = p->kind->name;
    mc_pass_info pass = {.size = sizeof pass};
    const size_t bytes = (size_t)mc_type_size(p->config.b, TOKENS) * (size_t)p->kind->cols;
    CHECK(is_direct(p->plan) == direct, "%s: %s", name, info.fields);
    CHECK((info.transpose_fields[0] == '\0') == direct, "%s: %s", name, info.transpose_fields);
    CHECK((info.transpose_microseconds > 0) != direct, "%s: %g", name, info.transpose_microseconds);
    CHECK(mc_plan_workspace(p->plan) == (direct ? 0 : bytes), "%s: %zu", name, mc_plan_workspace(p->plan));
    CHECK(mc_plan_get_pass(p->plan, 0, &pass, diag) == (direct ? MC_USAGE : MC_OK), "%s: a pass", name);
    CHECK(pass.bytes == (direct ? 0 : bytes), "%s: %zu", name, pass.bytes);
    if (!direct && pass.operand != NULL) CHECK_TEXT(pass.operand, "b");
    CHECK(mc_plan_get_pass(p->plan, 1, &pass, diag) == MC_USAGE, "%s: one pass at most", name);
    mc_diag_clear(diag);
}

static void test_estimates(bool execute) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        product p;
        if (product_open(&p, context, &rows[i].kind, 40 + i) && product_plan(&p)) {
            check_passes(&p, rows[i].direct);
            if (execute) product_check(&p);
        }
        product_close(&p);
    }
}

/* -- Without elements there is nothing to choose, and nothing to measure */

static void test_nothing(void) {
    static const product_kind kinds[] = {
        {"no columns of C", MC_S8, LAYER(64, 256),
         .config = {.b = MC_S8, .c = MC_F16, .b_major = MC_MAJOR_COLUMN, BY_COLUMNS, .scale = MC_PER_ROW}},
        {"no rows", MC_S8, 8, .row_blocks = 0, .cols = 256, .sparsity = 1,
         .config = CONFIG(.b = MC_S8, BY_COLUMNS)},
        {"no columns of A", MC_S8, 8, .row_blocks = 8, .cols = 0, .sparsity = 1,
         .config = CONFIG(.b = MC_S8, BY_COLUMNS)},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) product_run(context, &kinds[i], 7);
}

/* -- Records */

static void open_context(mc_context **made, mc_cache_mode cache) {
    const mc_context_config config = {
        .size = sizeof config, .device = "sim", .cache = cache, .tuning = MC_TUNING_REPLAY, .records = ""};
    (void)worked("context", mc_context_create(&config, made, diag));
}

/* The plan of KIND with the policy TUNING goes by a record. What it computes is right. */
static void check_measured(mc_context *of, const product_kind *kind, mc_tuning tuning, bool direct) {
    product_kind with = *kind;
    product p;
    with.config.tuning = tuning;
    if (product_open(&p, of, &with, 5) && product_plan(&p)) {
        CHECK(info_of(p.plan).origin == MC_ORIGIN_MEASURED, "%s: %s", kind->name, info_of(p.plan).reason);
        check_passes(&p, direct);
        product_check(&p);
    }
    product_close(&p);
}

/* The policy TUNE measures both ways, and what was measured counts. The simulator counts instructions.
   Where A has many vectors the kernel that reads columns takes 3768, and the fastest one that reads rows 3560
   beside its pass. Estimates would take the pass of K = 256. */
static void test_tuned(const product_kind *kind, bool direct) {
    mc_context *tuned = NULL;
    open_context(&tuned, MC_CACHE_OFF);
    if (tuned == NULL) return;
    check_measured(tuned, kind, MC_TUNING_TUNE, direct);
    check_measured(tuned, kind, MC_TUNING_REPLAY, direct);
    mc_context_destroy(tuned);
}

/* mc_tune measures kernels that read columns where a caller names their spec, and plans find the record. */
static void test_named(void) {
    static const product_kind kind = {"named", MC_S8, LAYER(64, 256),
                                      .config =
                                          CONFIG(.b = MC_S8, BY_COLUMNS, .specs = expand, .spec_count = 1)};
    const mc_tune_config tune = {.size = sizeof tune, .candidates = 2};
    mc_tune_result told = {.size = sizeof told};
    mc_context *tuned = NULL;
    product p;
    open_context(&tuned, MC_CACHE_OFF);
    if (tuned == NULL) return;
    if (product_open(&p, tuned, &kind, 5))
        (void)worked("tune", mc_tune(tuned, &p.config, &tune, &told, diag));
    CHECK(told.measured >= 2 && told.wrong == 0 && told.failed == 0, "%zu, %zu, %zu", told.measured,
          told.wrong, told.failed);
    product_close(&p);
    check_measured(tuned, &kind, MC_TUNING_REPLAY, true);
    mc_context_destroy(tuned);
}

/* -- Refusals say what either problem wants */

static void test_refused(void) {
    static const product_kind kind = {"columns that begin anywhere", MC_S8, LAYER(64, 250),
                                      .config = {.b = MC_S8,
                                                 .c = MC_F16,
                                                 .n = TOKENS,
                                                 .ldb = 250,
                                                 .b_major = MC_MAJOR_COLUMN,
                                                 BY_COLUMNS,
                                                 .scale = MC_PER_ROW,
                                                 .specs = expand,
                                                 .spec_count = 1}};
    mc_tune_result told = {.size = sizeof told};
    product p;
    if (product_open(&p, context, &kind, 5)) {
        mc_diag_clear(diag);
        CHECK(mc_plan_create(context, &p.config, &p.plan, diag) == MC_CANNOT, "%s", kind.name);
        CHECK_TEXT(mc_diag_text(diag), "with operands by columns, as they lie:");
        CHECK_TEXT(mc_diag_text(diag), "ldb is 250, not a multiple of the 16");
        mc_diag_clear(diag);
        CHECK(mc_tune(context, &p.config, NULL, &told, diag) == MC_CANNOT, "%s", kind.name);
        CHECK_TEXT(mc_diag_text(diag), "ldb is 250, not a multiple of the 16");
        mc_diag_clear(diag);
    }
    product_close(&p);
}

#define OF_BOTH CONFIG(.b = MC_S8, BY_COLUMNS, .specs = both, .spec_count = 2)

int main(void) {
    static const product_kind fast = {"tuned, a pass is fast", MC_S8, LAYER(64, 256), .config = OF_BOTH},
                              slow = {"tuned, a pass is slow", MC_S8, LAYER(64, 250), .config = OF_BOTH},
                              sparse = {"tuned, few vectors", MC_S8,       8,
                                        .row_blocks = 8,      .cols = 256, .sparsity = 0.98,
                                        .config = OF_BOTH};
    diag = mc_diag_create();
    open_context(&context, MC_CACHE_OFF);
    if (context != NULL) {
        test_estimates(true);
        test_nothing();
        test_tuned(&fast, true);
        test_tuned(&slow, true);
        test_tuned(&sparse, false);
        test_named();
    }
    mc_context_destroy(context);
    context = NULL;
    open_context(&context, MC_CACHE_MEMORY);
    for (int times = 0; times < 2 && context != NULL; times++) {
        test_estimates(false); /* the second time choices come out of the cache, also that there is none */
        test_refused();
    }
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return product_end(check_end());
}
