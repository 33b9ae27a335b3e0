/* Batches: one launch computes several products of a pattern, each with operands of its own. */
#include <stdlib.h>
#include "product.h"

mc_diag *diag;

enum { MOST = 5, POISON = 0x80 };

typedef struct batch {
    product one; /* the first of them; its buffers are not used */
    mc_dense a[MOST], b[MOST], residual[MOST];
    int64_t count, a_stride, b_stride, c_stride, r_stride; /* as they come to be */
    int64_t c_rows, c_ld;
    mc_address c;
} batch;

/* -- Operands */

static int64_t stride_of(int64_t given, int64_t usual) {
    return given == MC_SHARED ? 0 : given == 0 ? usual : given;
}

/* COUNT operands like FIRST, which is the first of them, on the device. */
static mc_address put_all(batch *of, const mc_dense *first, int64_t stride, uint64_t seed, mc_dense *all) {
    int64_t elements = (of->count - 1) * stride + first->rows * first->ld;
    mc_address base = product_reserve(&of->one, mc_type_size(first->type, elements), of->one.kind->offset);
    for (int64_t z = 0; z < of->count; z++) {
        all[z] = product_dense(first->type, first->rows, first->cols, first->ld,
                               stride == 0 ? seed : seed + (uint64_t)z);
        product_write(&of->one, base + (mc_address)mc_type_size(first->type, z * stride), &all[z]);
    }
    return base;
}

/* B's, as they lie. */
static mc_address put_b(batch *of, uint64_t seed) {
    product *p = &of->one;
    mc_dense first = product_stored(p, &p->b);
    of->b_stride = stride_of(p->config.b_stride, first.rows * first.ld);
    int64_t elements = (of->count - 1) * of->b_stride + first.rows * first.ld;
    mc_address base = product_reserve(p, mc_type_size(first.type, elements), p->kind->offset);
    for (int64_t z = 0; z < of->count; z++) {
        of->b[z] = product_dense(first.type, p->b.rows, p->b.cols, p->b.ld,
                                 of->b_stride == 0 ? seed : seed + (uint64_t)z);
        mc_dense stored = product_stored(p, &of->b[z]);
        product_write(p, base + (mc_address)mc_type_size(first.type, z * of->b_stride), &stored);
        mc_dense_free(&stored);
    }
    mc_dense_free(&first);
    return base;
}

static int64_t c_elements(const batch *of) { return of->c_rows * of->c_ld; }

static void open_c(batch *of) {
    const product *p = &of->one;
    mc_dense want = product_want(p);
    of->c_rows = want.rows;
    of->c_ld = p->ldc != 0 ? p->ldc : want.cols;
    mc_dense_free(&want);
    of->c_stride = stride_of(p->config.c_stride, c_elements(of));
    int64_t bytes = mc_type_size(p->config.c, (of->count - 1) * of->c_stride + c_elements(of));
    of->c = product_reserve(&of->one, bytes, p->kind->offset);
}

static bool batch_open(batch *of, mc_context *context, const product_kind *kind, uint64_t seed) {
    *of = (batch){.count = kind->config.batch};
    if (!product_open(&of->one, context, kind, seed)) return false;
    product *p = &of->one;
    p->args.b = put_b(of, seed + 100);
    if (p->config.op == MC_OP_SDDMM) {
        of->a_stride = stride_of(p->config.a_stride, p->a.rows * p->a.ld);
        p->args.a = put_all(of, &p->a, of->a_stride, seed + 200, of->a);
    }
    if (p->residual.data != NULL) {
        of->r_stride = stride_of(p->config.r_stride, p->residual.rows * p->residual.ld);
        p->list[3].address = put_all(of, &p->residual, of->r_stride, seed + 300, of->residual);
    }
    open_c(of);
    p->args.c = of->c;
    return true;
}

static void batch_close(batch *of) {
    for (int z = 0; z < MOST; z++) {
        mc_dense_free(&of->a[z]);
        mc_dense_free(&of->b[z]);
        mc_dense_free(&of->residual[z]);
    }
    product_close(&of->one);
}

/* -- Products, each against the reference; what lies between them is not written */

static void compare(batch *of, const char *all, int64_t z) {
    product one = of->one;
    one.a = of->a[z];
    one.b = of->b[z];
    one.residual = of->residual[z];
    mc_type type = one.config.c;
    reference_result want = product_result(&one);
    mc_dense got = {0};
    mc_diag_clear(diag);
    if (!worked("mc_dense_create", mc_dense_create(type, want.low.rows, want.low.cols, of->c_ld, &got, diag)))
        return;
    memcpy(got.data, all + mc_type_size(type, z * of->c_stride), (size_t)mc_type_size(type, c_elements(of)));
    CHECK(mc_result_compare(&got, &want, diag) == MC_OK, "%s, product %d: %s", one.kind->name, (int)z,
          mc_diag_text(diag));
    mc_dense_free(&got);
    mc_result_free(&want);
}

static void check_between(const batch *of, const char *all, int64_t z) {
    mc_type type = of->one.config.c;
    int64_t from = mc_type_size(type, z * of->c_stride + c_elements(of)),
            to = mc_type_size(type, (z + 1) * of->c_stride);
    for (int64_t i = from; i < to; i++)
        if ((unsigned char)all[i] != POISON) {
            CHECK(false, "%s: what lies behind product %d was written", of->one.kind->name, (int)z);
            return;
        }
}

static void check_products(batch *of) {
    const product *p = &of->one;
    size_t bytes = (size_t)mc_type_size(p->config.c, (of->count - 1) * of->c_stride + c_elements(of));
    char *all = malloc(bytes);
    memset(all, POISON, bytes);
    (void)worked("poison", mc_memory_write(p->context, of->c, all, bytes, diag));
    if (worked(p->kind->name, mc_execute(p->plan, &p->args, p->workspace, NULL, diag)) &&
        worked("mc_memory_read", mc_memory_read(p->context, of->c, all, bytes, diag)))
        for (int64_t z = 0; z < of->count; z++) {
            compare(of, all, z);
            if (z + 1 < of->count) check_between(of, all, z);
        }
    free(all);
}

static void run(mc_context *context, const product_kind *kind, uint64_t seed) {
    batch of;
    mc_diag_clear(diag);
    if (batch_open(&of, context, kind, seed) && product_plan(&of.one)) {
        mc_plan_info info = {.size = sizeof info};
        check_products(&of);
        if (worked("mc_plan_get_info", mc_plan_get_info(of.one.plan, &info, diag)))
            printf("%-34s %s\n", kind->name, info.fields);
    }
    batch_close(&of);
}

static const char *const direct[] = {SPECS "/spmm_l8r8.lua"}, *const scaled[] = {SPECS "/spmm_l8r8_f16.lua"},
                         *const shared[] = {SPECS "/spmm_l8r8_shared.lua"},
                         *const int4[] = {SPECS "/spmm_l4r4.lua"}, *const wide[] = {SPECS "/spmm_l16r8.lua"},
                         *const sampled[] = {SPECS "/sddmm_l8r8.lua"},
                         *const sampled16[] = {SPECS "/sddmm_l16r16.lua"},
                         *const sampled4[] = {SPECS "/sddmm_l4r4.lua"};

#define SMALL    .row_blocks = 6, .cols = 100, .sparsity = 0.7
#define OF(list) .specs = list, .spec_count = 1

static const product_kind kinds[] = {
    {"SpMM", MC_S8, 8, SMALL, .config = {.c = MC_S32, .n = 64, .batch = 3, OF(direct)}},
    {"SpMM, open, ends of tiles", MC_S8, 4, SMALL,
     .config =
         {.c = MC_S32, .n = 52, .ldb = 64, .ldc = 60, .batch = 4, .shapes = MC_SHAPES_OPEN, OF(direct)}},
    {"SpMM, wide strides", MC_S8, 8, SMALL,
     .config = {.c = MC_S32, .n = 64, .batch = 3, .b_stride = 6656, .c_stride = 4096, OF(shared)}},
    {"SpMM, one B, f16", MC_S8, 8, SMALL,
     .config = {.c = MC_F16,
                .n = 64,
                .scale = MC_PER_ROW,
                .bias = MC_PER_COLUMN,
                .batch = 2,
                .b_stride = MC_SHARED,
                OF(scaled)}},
    {"SpMM, residuals", MC_S8, 8, SMALL,
     .config =
         {.c = MC_F16, .n = 64, .scale = MC_PER_ROW, .residual = MC_RESIDUAL_F32, .batch = 3, OF(scaled)}},
    {"SpMM, one residual, wide rows", MC_S8, 4, SMALL,
     .config = {.c = MC_F32,
                .n = 52,
                .ldr = 60,
                .scale = MC_PER_TENSOR,
                .residual = MC_RESIDUAL_BF16,
                .r_stride = MC_SHARED,
                .batch = 2,
                .shapes = MC_SHAPES_OPEN,
                OF(direct)}},
    {"SpMM, results of 4 bits", MC_S8, 8, SMALL,
     .config = {.c = MC_S4, .n = 64, .ldc = 96, .scale = MC_PER_ROW, .batch = 3, OF(scaled)}},
    {"SpMM, 4 bits", MC_S4, 8, SMALL, .config = {.b = MC_S4, .c = MC_S32, .n = 64, .batch = 3, OF(int4)}},
    {"SpMM, digits", MC_S16, 8, SMALL, .config = {.c = MC_S32, .n = 64, .batch = 5, OF(wide)}},
    {"SDDMM", MC_S8, 8, SMALL, .config = {.op = MC_OP_SDDMM, .c = MC_S32, .k = 64, .batch = 3, OF(sampled)}},
    {"SDDMM, rows, wide strides", MC_S8, 8, SMALL,
     .config = {.op = MC_OP_SDDMM,
                .c = MC_F16,
                .k = 64,
                .scale = MC_PER_TENSOR,
                .b_layout = MC_LAYOUT_ROWS,
                .ldb = 112,
                .a_stride = 4096,
                .c_stride = 20000,
                .batch = 3,
                OF(sampled)}},
    {"SDDMM, one A, srbcrs32, u8", MC_S8, 8, SMALL,
     .config = {.op = MC_OP_SDDMM,
                .c = MC_U8,
                .k = 48,
                .scale = MC_PER_TENSOR,
                .c_order = MC_ORDER_SRBCRS32,
                .a_stride = MC_SHARED,
                .batch = 3,
                .shapes = MC_SHAPES_OPEN,
                OF(sampled)}},
    {"SDDMM, 16 bits", MC_S8, 4, SMALL,
     .config =
         {.op = MC_OP_SDDMM, .a = MC_S16, .b = MC_S16, .c = MC_S32, .k = 64, .batch = 2, OF(sampled16)}},
    {"SDDMM, vectors of 16", MC_F32, 16, SMALL,
     .config =
         {.op = MC_OP_SDDMM, .c = MC_S32, .k = 64, .c_order = MC_ORDER_SRBCRS16, .batch = 3, OF(sampled)}},
    {"SDDMM, 4 bits", MC_S8, 8, SMALL,
     .config = {.op = MC_OP_SDDMM, .a = MC_S4, .b = MC_S4, .c = MC_S32, .k = 128, .batch = 2, OF(sampled4)}},
    {"SpMM, f16", MC_F16, 8, SMALL,
     .config = {.b = MC_F16, .c = MC_F16, .n = 64, .batch = 3, .b_stride = 6432, .c_stride = 3080}},
    {"SpMM, bf16, one B, residuals, gelu", MC_BF16, 4, SMALL,
     .config = {.b = MC_BF16,
                .c = MC_BF16,
                .n = 52,
                .activation = MC_ACTIVATION_GELU,
                .residual = MC_RESIDUAL_BF16,
                .batch = 3,
                .b_stride = MC_SHARED}},
    {"SpMM, tf32, V = 16", MC_TF32, 16, SMALL, .config = {.b = MC_TF32, .c = MC_F32, .n = 48, .batch = 2}},
    {"SpMM, e4m3 by e5m2, V = 1", MC_E4M3, 1, SMALL,
     .config = {.b = MC_E5M2, .c = MC_F16, .n = 64, .batch = 2}},
    {"SDDMM, f16", MC_F32, 8, SMALL,
     .config = {.op = MC_OP_SDDMM, .a = MC_F16, .b = MC_F16, .c = MC_F16, .k = 64, .batch = 3}},
    {"SDDMM, bf16, V = 16, one A, mask values", MC_F32, 16, SMALL,
     .config = {.op = MC_OP_SDDMM,
                .a = MC_BF16,
                .b = MC_BF16,
                .c = MC_F32,
                .k = 72,
                .mask_values = true,
                .batch = 2,
                .a_stride = MC_SHARED}},
    {"SpMM, B's by columns, open", MC_S8, 4, SMALL,
     .config = {.c = MC_S32,
                .n = 52,
                .ldb = 112,
                .batch = 3,
                .shapes = MC_SHAPES_OPEN,
                .b_major = MC_MAJOR_COLUMN,
                OF(direct)}},
    {"SpMM, B's of 16 bits by columns, wide strides", MC_S16, 8, SMALL,
     .config = {.b = MC_S16, .c = MC_S32, .n = 33, .b_stride = 4000, .batch = 3, .b_major = MC_MAJOR_COLUMN}},
    {"SpMM, one B by columns", MC_S8, 8, SMALL,
     .config = {.c = MC_S32, .n = 40, .batch = 2, .b_stride = MC_SHARED, .b_major = MC_MAJOR_COLUMN}},
    /* What plans find on their own. */
    {"SpMM, usual", MC_S8, 8, SMALL, .config = {.c = MC_S32, .n = 128, .batch = 3}},
    {"SDDMM, usual", MC_S8, 8, SMALL, .config = {.op = MC_OP_SDDMM, .c = MC_S32, .k = 64, .batch = 3}},
    /* Without elements, or without vectors */
    {"SpMM, n = 0", MC_S8, 8, SMALL, .config = {.c = MC_S32, .n = 0, .batch = 3}},
    {"SDDMM, k = 0", MC_S8, 8, SMALL, .config = {.op = MC_OP_SDDMM, .c = MC_S32, .k = 0, .batch = 3}},
    {"SpMM, no vectors", MC_S8, 8, .row_blocks = 6, .cols = 100, .sparsity = 1,
     .config = {.c = MC_S32, .n = 64, .batch = 3}},
    {"SpMM, no vectors, values of nowhere", MC_S8, 8, .row_blocks = 6, .cols = 100, .sparsity = 1,
     .config = {.c = MC_S32, .n = 64, .batch = 3, .given_values = true}},
    {"SpMM, a batch of one", MC_S8, 8, SMALL, .config = {.c = MC_S32, .n = 64, .batch = 1, OF(direct)}},
};

/* -- What is refused */

static const struct {
    const char *message;
    mc_status status;
    mc_plan_config config;
} refused[] = {
    {"batch is -1", MC_USAGE, {.c = MC_S32, .n = 64, .batch = -1}},
    {"batch is 65536, a launch computes up to 65535 products",
     MC_CANNOT,
     {.c = MC_S32, .n = 64, .batch = 65536}},
    {"c_stride is 3071, must be at least 3072",
     MC_USAGE,
     {.c = MC_S32, .n = 64, .batch = 2, .c_stride = 3071}},
    {"c_stride is -1, must be at least 3072",
     MC_USAGE,
     {.c = MC_S32, .n = 64, .batch = 2, .c_stride = MC_SHARED}},
    {"b_stride is -2", MC_USAGE, {.c = MC_S32, .n = 64, .batch = 2, .b_stride = -2}},
    {"b_stride is 6401 elements of s8: products would not begin at multiples of 16 bytes",
     MC_CANNOT,
     {.c = MC_S32, .n = 64, .batch = 2, .b_stride = 6401}},
    {"b_stride is set, which goes with batch", MC_USAGE, {.c = MC_S32, .n = 64, .b_stride = 6400}},
    {"values_stride is set, which goes with given_values",
     MC_USAGE,
     {.c = MC_S32, .n = 64, .batch = 3, .values_stride = 4096}},
    {"values_stride is 8193 elements of s8: products would not begin at multiples of 8 bytes",
     MC_CANNOT,
     {.c = MC_S32, .n = 64, .batch = 3, .given_values = true, .align = 1, .values_stride = 8193}},
    {"b_stride is 6401, must be even: two elements of s4 share a byte",
     MC_CANNOT,
     {.b = MC_S4, .c = MC_S32, .n = 64, .batch = 3, .align = 1, .b_stride = 6401}},
    {"c_stride is 1633, must be even: two elements of s4 share a byte",
     MC_CANNOT,
     {.c = MC_S4, .n = 33, .scale = MC_PER_TENSOR, .batch = 3, .align = 1, .c_stride = 1633}},
    {"B lies by columns: its rows would have 2147484800 elements, there may be up to 2147483647",
     MC_CANNOT,
     {.c = MC_S32, .n = 21474836, .batch = 2, .b_major = MC_MAJOR_COLUMN}},
    {"given_values has no exact sums",
     MC_CANNOT,
     {.c = MC_S64, .n = 64, .exact = true, .given_values = true}},
    {"values_stride is 8196 elements of s16: products would not begin at multiples of 16 bytes",
     MC_CANNOT,
     {.c = MC_S32, .n = 64, .batch = 3, .given_values = true, .align = 1, .values_stride = 8196}},
};

static void test_refused(mc_context *context) {
    static const product_kind kind = {"refused", MC_S8, 8, SMALL,
                                      .config = {.c = MC_S32, .n = 64, OF(direct)}};
    static const product_kind sixteen = {"refused", MC_S16, 8, SMALL,
                                         .config = {.c = MC_S32, .n = 64, OF(wide)}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        product p;
        mc_diag_clear(diag);
        if (product_open(&p, context, strstr(refused[i].message, "s16") != NULL ? &sixteen : &kind, 1)) {
            mc_plan_config config = refused[i].config;
            config.size = sizeof config;
            config.matrix = p.matrix;
            mc_status status = mc_plan_create(context, &config, &p.plan, diag);
            CHECK(status == refused[i].status, "%zu: status %d", i, (int)status);
            CHECK_TEXT(mc_diag_text(diag), refused[i].message);
        }
        product_close(&p);
    }
    mc_diag_clear(diag);
}

/* Kernels with copies by tensor maps have one map, of one B: such a spec has no kernel for a batch. */
static void test_tiled(mc_context *context) {
    static const char *const tiled[] = {SPECS "/spmm_l8r8_tiled.lua"};
    const product_kind kind = {"tiled", MC_S8, 8, SMALL,
                               .config = {.c = MC_S32, .n = 64, .batch = 2, OF(tiled)}};
    product p;
    mc_diag_clear(diag);
    if (product_open(&p, context, &kind, 1)) {
        mc_status status = mc_plan_create(context, &p.config, &p.plan, diag);
        printf("tiled: status %d: %s\n", (int)status, mc_diag_text(diag));
        CHECK(status == MC_CANNOT, "status %d", (int)status);
        CHECK_TEXT(mc_diag_text(diag), "batch");
    }
    product_close(&p);
}

int main(int argc, char **argv) {
    mc_context *context = NULL;
    const mc_context_config config = {.size = sizeof config,
                                      .device = argc > 1 ? argv[1] : "sim",
                                      .cache = MC_CACHE_OFF,
                                      .tuning = MC_TUNING_OFF};
    diag = mc_diag_create();
    if (worked("mc_context_create", mc_context_create(&config, &context, diag))) {
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) run(context, &kinds[i], 1000 * i + 1);
        test_refused(context);
        test_tiled(context);
    }
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return product_end(check_end());
}
