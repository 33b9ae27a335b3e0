/* Plans of both operators, of many types and shapes, on the simulator: exact against the CPU reference. */
#include "product.h"

mc_diag *diag;

/* Row blocks, columns and sparsity of most products. */
#define SMALL .row_blocks = 6, .cols = 100, .sparsity = 0.7
#define SPMM(...)                                                                                            \
    { .op = MC_OP_SPMM, __VA_ARGS__ }
#define SDDMM(...)                                                                                           \
    { .op = MC_OP_SDDMM, __VA_ARGS__ }

static const product_kind kinds[] = {
    {"s8 x s8 -> s32", MC_S8, 8, SMALL, .config = SPMM(.b = MC_S8, .c = MC_S32, .n = 64)},
    {"the same, open", MC_S8, 8, SMALL,
     .config = SPMM(.b = MC_S8, .c = MC_S32, .n = 64, .shapes = MC_SHAPES_OPEN)},
    {"V = 4, n = 33, gaps", MC_S8, 4, SMALL,
     .config = SPMM(.b = MC_U8, .c = MC_S32, .n = 33, .ldb = 48, .ldc = 40)},
    {"V = 2, n = 1", MC_U8, 2, SMALL, .config = SPMM(.b = MC_S8, .c = MC_S32, .n = 1)},
    {"u4 B, odd n", MC_U8, 8, SMALL, .config = SPMM(.b = MC_U4, .c = MC_S32, .n = 33)},
    {"s4 x s4", MC_S4, 8, SMALL, .config = SPMM(.b = MC_S4, .c = MC_S32, .n = 64)},
    {"s12 x s8", MC_S12, 4, SMALL, .config = SPMM(.b = MC_S8, .c = MC_S32, .n = 64)},
    {"s16 x s16", MC_S16, 8, SMALL, .config = SPMM(.b = MC_S16, .c = MC_S32, .n = 40)},
    {"u16 x s16, exact", MC_U16, 8, SMALL, .config = SPMM(.b = MC_S16, .c = MC_S64, .n = 32, .exact = true)},
    {"f16, scale by row, bias by column, relu", MC_S8, 8, SMALL,
     .config = SPMM(.b = MC_S8, .c = MC_F16, .n = 64, .scale = MC_PER_ROW, .bias = MC_PER_COLUMN,
                    .activation = MC_ACTIVATION_RELU)},
    {"s8 for the next layer", MC_S8, 8, SMALL,
     .config = SPMM(.b = MC_S8, .c = MC_S8, .n = 96, .scale = MC_PER_ROW, .b_scale = MC_PER_COLUMN,
                    .bias = MC_PER_ROW, .activation = MC_ACTIVATION_GELU, .c_scale = MC_PER_TENSOR,
                    .zero = MC_PER_TENSOR)},
    {"s4, an odd number of columns", MC_S8, 8, SMALL,
     .config = SPMM(.b = MC_S8, .c = MC_S4, .n = 45, .scale = MC_PER_ROW, .b_scale = MC_PER_COLUMN)},
    {"u4, gaps, open", MC_U4, 4, SMALL,
     .config = SPMM(.b = MC_U4, .c = MC_U4, .n = 61, .ldc = 80, .scale = MC_PER_TENSOR,
                    .b_scale = MC_PER_COLUMN, .zero = MC_PER_TENSOR, .shapes = MC_SHAPES_OPEN)},
    {"f16 and a residual, gelu", MC_S8, 8, SMALL,
     .config = SPMM(.b = MC_S8, .c = MC_F16, .n = 64, .scale = MC_PER_ROW, .bias = MC_PER_COLUMN,
                    .activation = MC_ACTIVATION_GELU, .residual = MC_RESIDUAL_F16)},
    {"s8 and a residual with gaps, open", MC_S8, 4, SMALL,
     .config =
         SPMM(.b = MC_S8, .c = MC_S8, .n = 52, .ldr = 61, .scale = MC_PER_TENSOR, .c_scale = MC_PER_TENSOR,
              .b_scale = MC_PER_COLUMN, .residual = MC_RESIDUAL_F32, .shapes = MC_SHAPES_OPEN)},
    {"u8, of silu", MC_S8, 4, SMALL,
     .config =
         SPMM(.b = MC_S8, .c = MC_U8, .n = 61, .scale = MC_PER_TENSOR, .activation = MC_ACTIVATION_SILU)},
    {"bf16, one scale, gaps", MC_U4, 8, SMALL,
     .config = SPMM(.b = MC_U8, .c = MC_BF16, .n = 31, .scale = MC_PER_TENSOR, .ldb = 32, .ldc = 33)},
    {"f32, scale by column, bias by row, open", MC_S16, 4, SMALL,
     .config = SPMM(.b = MC_S8, .c = MC_F32, .n = 48, .scale = MC_PER_COLUMN, .bias = MC_PER_ROW,
                    .shapes = MC_SHAPES_OPEN)},
    {"f32 of exact sums", MC_S16, 8, SMALL,
     .config = SPMM(.b = MC_S16, .c = MC_F32, .n = 32, .scale = MC_PER_TENSOR, .exact = true)},
    {"f16 x f16 -> f16", MC_F16, 8, SMALL, .config = SPMM(.b = MC_F16, .c = MC_F16, .n = 64)},
    {"f16 x f16 -> f32, V = 16, gaps, open", MC_F16, 16, SMALL,
     .config = SPMM(.b = MC_F16, .c = MC_F32, .n = 33, .ldb = 48, .ldc = 40, .shapes = MC_SHAPES_OPEN)},
    {"bf16, gelu of sum, bias and a residual", MC_BF16, 4, SMALL,
     .config = SPMM(.b = MC_BF16, .c = MC_BF16, .n = 52, .bias = MC_PER_COLUMN,
                    .activation = MC_ACTIVATION_GELU, .residual = MC_RESIDUAL_F32)},
    {"tf32, of any address, bias", MC_TF32, 8, SMALL, .offset = 4,
     .config = SPMM(.b = MC_TF32, .c = MC_F32, .n = 61, .bias = MC_PER_ROW, .align = 4)},
    {"f16, silu, s8 for the next layer", MC_F16, 8, SMALL,
     .config = SPMM(.b = MC_F16, .c = MC_S8, .n = 64, .scale = MC_PER_ROW, .b_scale = MC_PER_COLUMN,
                    .activation = MC_ACTIVATION_SILU, .c_scale = MC_PER_TENSOR, .zero = MC_PER_TENSOR)},
    {"f16, addresses of any kind", MC_F16, 2, SMALL, .offset = 4,
     .config = SPMM(.b = MC_F16, .c = MC_F16, .n = 35, .align = 1)},
    {"s8 x f16, scale by row, a residual", MC_S8, 8, SMALL,
     .config = SPMM(.b = MC_F16, .c = MC_F16, .n = 64, .scale = MC_PER_ROW, .residual = MC_RESIDUAL_F16)},
    {"u8 x bf16 -> u8, V = 16, odd n, open", MC_U8, 16, SMALL,
     .config = SPMM(.b = MC_BF16, .c = MC_U8, .n = 35, .scale = MC_PER_ROW, .bias = MC_PER_COLUMN,
                    .zero = MC_PER_TENSOR, .shapes = MC_SHAPES_OPEN)},
    {"s4 x f16, addresses of any kind", MC_S4, 4, SMALL, .offset = 4,
     .config = SPMM(.b = MC_F16, .c = MC_F32, .n = 40, .align = 1)},
    {"addresses of any kind", MC_S8, 8, SMALL, .offset = 4,
     .config = SPMM(.b = MC_S8, .c = MC_S32, .n = 35, .align = 1)},
    {"addresses in fours", MC_S8, 8, SMALL, .offset = 4,
     .config = SPMM(.b = MC_S8, .c = MC_F16, .n = 64, .align = 4, .scale = MC_PER_ROW)},
    {"B by columns", MC_S8, 8, SMALL,
     .config = SPMM(.b = MC_S8, .c = MC_S32, .n = 64, .b_major = MC_MAJOR_COLUMN)},
    {"B by columns, whole units", MC_S8, 8, .row_blocks = 6, .cols = 128, .sparsity = 0.7,
     .config = SPMM(.b = MC_S8, .c = MC_S32, .n = 80, .b_major = MC_MAJOR_COLUMN)},
    {"B by columns, open, gaps", MC_U8, 4, SMALL,
     .config = SPMM(.b = MC_U8, .c = MC_S32, .n = 33, .ldb = 117, .shapes = MC_SHAPES_OPEN,
                    .b_major = MC_MAJOR_COLUMN)},
    {"B by columns, s12 x s12, n = 1", MC_S12, 8, SMALL,
     .config = SPMM(.b = MC_S12, .c = MC_S32, .n = 1, .b_major = MC_MAJOR_COLUMN)},
    {"B by columns, s16 x s16, addresses of any kind", MC_S16, 8, SMALL, .offset = 6,
     .config = SPMM(.b = MC_S16, .c = MC_F16, .n = 41, .align = 1, .scale = MC_PER_TENSOR,
                    .b_major = MC_MAJOR_COLUMN)},
    {"B by columns, f16, bias and residual", MC_F16, 8, SMALL,
     .config = SPMM(.b = MC_F16, .c = MC_F16, .n = 52, .ldb = 104, .bias = MC_PER_ROW,
                    .residual = MC_RESIDUAL_F16, .b_major = MC_MAJOR_COLUMN)},
    {"B by columns, tf32, addresses in fours", MC_TF32, 8, SMALL, .offset = 4,
     .config = SPMM(.b = MC_TF32, .c = MC_F32, .n = 61, .align = 4, .b_major = MC_MAJOR_COLUMN)},
    {"B by columns, s8 x f16", MC_S8, 8, SMALL,
     .config = SPMM(.b = MC_F16, .c = MC_F16, .n = 33, .scale = MC_PER_ROW, .b_major = MC_MAJOR_COLUMN)},
    {"B by columns, no vectors", MC_S8, 8, .row_blocks = 3, .cols = 40, .sparsity = 1,
     .config = SPMM(.b = MC_S8, .c = MC_S32, .n = 64, .b_major = MC_MAJOR_COLUMN)},
    {"B by columns, no columns of A", MC_S8, 8, .row_blocks = 3, .cols = 0, .sparsity = 1,
     .config = SPMM(.b = MC_S8, .c = MC_S32, .n = 64, .b_major = MC_MAJOR_COLUMN)},
    {"B by columns, n = 0", MC_S8, 8, SMALL,
     .config = SPMM(.b = MC_S8, .c = MC_S32, .n = 0, .b_major = MC_MAJOR_COLUMN)},
    {"long row blocks", MC_S8, 8, .row_blocks = 2, .cols = 700, .sparsity = 0.2,
     .config = SPMM(.b = MC_S8, .c = MC_S32, .n = 64)},
    {"no vectors, bias", MC_S8, 8, .row_blocks = 3, .cols = 40, .sparsity = 1,
     .config = SPMM(.b = MC_S8, .c = MC_F16, .n = 64, .scale = MC_PER_TENSOR, .bias = MC_PER_ROW)},
    {"no vectors", MC_S8, 8, .row_blocks = 3, .cols = 40, .sparsity = 1,
     .config = SPMM(.b = MC_S8, .c = MC_S32, .n = 64)},
    {"no columns of A", MC_S8, 8, .row_blocks = 3, .cols = 0, .sparsity = 1,
     .config = SPMM(.b = MC_S8, .c = MC_S32, .n = 64)},
    {"n = 0", MC_S8, 8, SMALL, .config = SPMM(.b = MC_S8, .c = MC_S32, .n = 0)},
    {"no rows", MC_S8, 8, .row_blocks = 0, .cols = 40, .sparsity = 1,
     .config = SPMM(.b = MC_S8, .c = MC_S32, .n = 64)},

    {"SDDMM s8 x s8 -> s32", MC_S8, 8, SMALL, .config = SDDMM(.b = MC_S8, .c = MC_S32, .k = 64)},
    {"SDDMM, the same, open", MC_S8, 8, SMALL,
     .config = SDDMM(.b = MC_S8, .c = MC_S32, .k = 64, .shapes = MC_SHAPES_OPEN)},
    {"SDDMM, V = 4, strides of 16, gaps", MC_S8, 4, SMALL,
     .config = SDDMM(.b = MC_U8, .c = MC_S32, .k = 70, .lda = 96, .ldb = 80, .c_order = MC_ORDER_SRBCRS16)},
    {"SDDMM, V = 2, strides of 32", MC_S8, 2, SMALL,
     .config = SDDMM(.a = MC_U8, .c = MC_S32, .k = 64, .c_order = MC_ORDER_SRBCRS32)},
    {"SDDMM, B by rows", MC_S8, 8, SMALL,
     .config = SDDMM(.b = MC_S8, .c = MC_S32, .k = 64, .ldb = 112, .b_layout = MC_LAYOUT_ROWS)},
    {"SDDMM s16 x s8, f16, scale by row", MC_S8, 8, SMALL,
     .config = SDDMM(.a = MC_S16, .b = MC_S8, .c = MC_F16, .k = 64, .scale = MC_PER_ROW)},
    {"SDDMM u4 x u4, odd k", MC_S8, 8, SMALL, .config = SDDMM(.a = MC_U4, .b = MC_U4, .c = MC_S32, .k = 65)},
    {"SDDMM, mask's values, one scale", MC_F32, 8, SMALL,
     .config = SDDMM(.b = MC_S8, .c = MC_F32, .k = 64, .scale = MC_PER_TENSOR, .mask_values = true)},
    {"SDDMM, mask's values, scale by column, strides", MC_F32, 4, SMALL,
     .config = SDDMM(.b = MC_S8, .c = MC_BF16, .k = 64, .scale = MC_PER_COLUMN, .mask_values = true,
                     .c_order = MC_ORDER_SRBCRS16)},
    {"SDDMM, addresses of any kind", MC_S8, 8, SMALL, .offset = 4,
     .config = SDDMM(.b = MC_S8, .c = MC_S32, .k = 67, .align = 1)},
    {"SDDMM, an empty mask", MC_S8, 8, .row_blocks = 3, .cols = 40, .sparsity = 1,
     .config = SDDMM(.b = MC_S8, .c = MC_S32, .k = 64)},
    {"SDDMM, k = 0", MC_S8, 8, SMALL, .config = SDDMM(.b = MC_S8, .c = MC_S32, .k = 0)},
};

/* -- Every spec that the library ships, alone, for a problem of its own kind */

static mc_per per_of(const mc_kernel *kernel, const char *field) {
    static const char *const names[] = {"none", "tensor", "row", "column"};
    const char *text = mc_kernel_field_text(kernel, field);
    for (int i = 0; text != NULL && i < 4; i++)
        if (strcmp(text, names[i]) == 0) return (mc_per)i;
    return MC_PER_NONE;
}

static mc_major major_of(const mc_kernel *kernel, const char *field) {
    const char *text = mc_kernel_field_text(kernel, field);
    return text != NULL && strcmp(text, "column") == 0 ? MC_MAJOR_COLUMN : MC_MAJOR_ROW;
}

/* B's columns begin at multiples of 16 bytes, where kernels read them. */
static product_kind kind_of(const char *name, const mc_kernel *kernel, const char *const *path) {
    mc_type lhs, rhs, out;
    (void)worked("lhs", mc_type_of(kernel, "lhs", &lhs, diag));
    (void)worked("rhs", mc_type_of(kernel, "rhs", &rhs, diag));
    (void)worked("out", mc_type_of(kernel, "out", &out, diag));
    product_kind kind = {name, lhs, (int)mc_kernel_field(kernel, "vec"), SMALL,
                         .config = SPMM(.b = rhs, .c = out, .n = 128, .specs = path, .spec_count = 1)};
    kind.config.scale = per_of(kernel, "scale");
    kind.config.bias = per_of(kernel, "bias");
    kind.config.c_major = major_of(kernel, "c_major");
    kind.config.b_major = major_of(kernel, "b_major");
    if (kind.config.b_major == MC_MAJOR_COLUMN) kind.config.ldb = 112;
    if (strcmp(mc_kernel_contract(kernel)->family, "spmm") == 0) return kind;
    kind.config.op = MC_OP_SDDMM;
    kind.config.a = lhs;
    kind.config.n = 0;
    kind.config.k = 256;
    return kind;
}

static mc_kernel *default_kernel(const mc_builtin_spec *builtin) {
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;
    if (worked(builtin->name, mc_spec_read_text_for(builtin->name, builtin->text, strlen(builtin->text), NULL,
                                                    0, 90, &spec, diag)))
        (void)worked(builtin->name, mc_kernel_generate(spec, mc_spec_default(spec), &kernel, diag));
    mc_spec_destroy(spec);
    return kernel;
}

/* An SpMM or an SDDMM. */
static bool is_product(const mc_kernel *kernel) {
    const char *family = mc_kernel_contract(kernel)->family;
    return strcmp(family, "spmm") == 0 || strcmp(family, "sddmm") == 0;
}

static void test_every_spec(mc_context *context) {
    for (const mc_builtin_spec *builtin = mc_builtin_specs(); builtin->name != NULL; builtin++) {
        char path[1024];
        const char *const paths[] = {path};
        mc_kernel *kernel = default_kernel(builtin);
        snprintf(path, sizeof path, "%s/%s", SPECS, builtin->name);
        if (kernel != NULL && is_product(kernel)) {
            const product_kind kind = kind_of(builtin->name, kernel, paths);
            product_run(context, &kind, 7);
        }
        mc_kernel_destroy(kernel);
    }
}

/* -- */

/* Without elements of C nothing is chosen, loaded or launched, and no address is wanted. */
static void test_nothing(mc_context *context) {
    static const product_kind kind = {"n = 0", MC_S8, 8, SMALL, .config = SPMM(.c = MC_S32)};
    const mc_args none = {.size = sizeof none};
    mc_plan_info info = {.size = sizeof info};
    product p;
    if (product_open(&p, context, &kind, 1) && product_plan(&p)) {
        CHECK(mc_execute(p.plan, &none, 0, NULL, diag) == MC_OK, "%s", mc_diag_text(diag));
        CHECK(mc_plan_get_info(p.plan, &info, diag) == MC_OK);
        CHECK(info.c_elements == 0 && info.fields[0] == '\0' && info.spec[0] == '\0' &&
              info.jit_log[0] == '\0');
        CHECK(mc_plan_workspace(p.plan) == 0);
    }
    product_close(&p);
}

/* Operands without elements need no address. */
static void test_no_k(mc_context *context) {
    static const product_kind no_columns = {"A without columns",
                                            MC_S8,
                                            8,
                                            .row_blocks = 3,
                                            .cols = 0,
                                            .sparsity = 1,
                                            .config = SPMM(.c = MC_S32, .n = 64)};
    static const product_kind no_k = {"SDDMM without k", MC_S8, 8, SMALL, .config = SDDMM(.c = MC_S32)};
    const product_kind *const both[] = {&no_columns, &no_k};
    for (int i = 0; i < 2; i++) {
        product p;
        if (product_open(&p, context, both[i], 1) && product_plan(&p)) {
            p.args.a = p.args.b = 0;
            product_check(&p);
        }
        product_close(&p);
    }
}

static void test_no_residual(mc_context *context) {
    static const product_kind kind = {
        "a residual that is missing", MC_S8, 8, SMALL,
        .config = SPMM(.b = MC_S8, .c = MC_F16, .n = 64, .scale = MC_PER_ROW, .residual = MC_RESIDUAL_F16)};
    product p;
    if (product_open(&p, context, &kind, 3) && product_plan(&p)) {
        mc_address at = p.list[3].address;
        p.list[3].address = 0;
        mc_diag_clear(diag);
        CHECK(mc_execute(p.plan, &p.args, 0, NULL, diag) == MC_CANNOT);
        CHECK_TEXT(mc_diag_text(diag), "residual is missing");
        p.list[3].address = at + 8;
        mc_diag_clear(diag);
        CHECK(mc_execute(p.plan, &p.args, 0, NULL, diag) == MC_CANNOT);
        CHECK_TEXT(mc_diag_text(diag), "residual lies at 0x");
    }
    product_close(&p);
}

static void test_info(mc_context *context) {
    static const product_kind kind = {"strides", MC_S8, 8, SMALL,
                                      .config = SDDMM(.c = MC_S32, .k = 64, .c_order = MC_ORDER_SRBCRS16)};
    product p;
    mc_plan_info info = {.size = sizeof info};
    if (product_open(&p, context, &kind, 1) && product_plan(&p)) {
        mc_dense want = product_want(&p);
        CHECK(mc_plan_get_info(p.plan, &info, diag) == MC_OK, "%s", mc_diag_text(diag));
        CHECK(info.c_elements == want.rows * want.cols, "%lld", (long long)info.c_elements);
        CHECK_TEXT(info.fields, "op=sddmm");
        CHECK_TEXT(info.fields, "order=srbcrs16");
        CHECK_TEXT(info.fields, "m=48 n=100 k=64 lda=64 ldb=64");
        CHECK_TEXT(info.spec, ".lua");
        CHECK(info.hash != 0 && info.jit_log != NULL);
        mc_dense_free(&want);
    }
    product_close(&p);
}

/* What plan_problem_test.c has not: structs, handles, problems without a kernel. */
static void test_refusals(mc_context *context) {
    static const product_kind kind = {"refused", MC_S8, 8, SMALL, .config = SPMM(.c = MC_S32, .n = 64)};
    static const char *const nowhere[] = {"/nowhere/at/all.lua"}, *const other[] = {SPECS "/sddmm_l8r8.lua"};
    product p;
    if (!product_open(&p, context, &kind, 1)) return;
    mc_plan_config no_size = p.config, longer = p.config, no_matrix = p.config, wrong = p.config,
                   lost = p.config, none = p.config;
    no_size.size = 0;
    longer.size += 8;
    no_matrix.matrix = NULL;
    wrong.align = 3;
    lost.specs = nowhere;
    none.specs = other;
    lost.spec_count = none.spec_count = 1;
    const struct {
        const mc_plan_config *config;
        mc_status status;
        const char *message;
    } rows[] = {{NULL, MC_USAGE, "mc_plan_config is NULL"},
                {&no_size, MC_USAGE, "the size of mc_plan_config is 0"},
                {&longer, MC_USAGE, "made for a later version of the library"},
                {&no_matrix, MC_USAGE, "matrix is NULL"},
                {&wrong, MC_USAGE, "align is 3"},
                {&lost, MC_IO, "/nowhere/at/all.lua"},
                {&none, MC_CANNOT, "is of family spmm"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mc_plan *plan = (mc_plan *)&p;
        mc_diag_clear(diag);
        mc_status status = mc_plan_create(context, rows[i].config, &plan, diag);
        CHECK(status == rows[i].status && plan == NULL, "row %zu: %s", i, mc_status_text(status));
        CHECK_TEXT(mc_diag_text(diag), rows[i].message);
    }
    if (product_plan(&p)) {
        mc_plan_info info = {.size = sizeof info + 8};
        CHECK(mc_plan_get_info(p.plan, &info, NULL) == MC_USAGE);
        CHECK(mc_plan_get_info(p.plan, NULL, NULL) == MC_USAGE);
    }
    mc_plan_destroy(NULL);
    product_close(&p);
}

int main(void) {
    mc_context *context = NULL;
    const mc_context_config config = {.size = sizeof config, .device = "sim", .cache = MC_CACHE_MEMORY};
    diag = mc_diag_create();
    if (worked("mc_context_create", mc_context_create(&config, &context, diag))) {
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) product_run(context, &kinds[i], 100 + i);
        test_every_spec(context);
        test_nothing(context);
        test_no_k(context);
        test_info(context);
        test_no_residual(context);
        test_refusals(context);
    }
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return product_end(check_end());
}
