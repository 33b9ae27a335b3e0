/* Plans of dense products by the C interface, on the simulator: which kernel is chosen for sizes that tensor copies of C
 * take and for others, open shapes, a residual and scales of blocks by the list, and what is refused. Sums are of small
 * integers, and scales powers of two, so that results are exact in every type. What kernels compute is in tests/kernels/product_test.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/real.h"
#include "check.h"
#include "mcrt_internal.h"
#include "plan/plan.h"

static mc_context *context;
static mc_diag *diag;

static bool worked(const char *what, mc_status status) {
    CHECK(status == MC_OK, "%s: %s", what, mc_diag_text(diag));
    mc_diag_clear(diag);
    return status == MC_OK;
}

static int value_of(int64_t row, int64_t col, int salt) { return (int)((row * 7 + col * 3 + salt) % 5) - 2; }

static mc_address put(mc_type type, int64_t rows, int64_t cols, int64_t ld, int salt) {
    mc_dense dense;
    mc_address address = 0;
    if (!worked("operand", mc_dense_create(type, rows, cols, ld, &dense, diag))) return 0;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            mc_dense_set(&dense, i, j,
                         mc_type_is_real(type) ? (int64_t)real_to_bits(type, (float)value_of(i, j, salt))
                                               : value_of(i, j, salt));
    size_t bytes = (size_t)mc_type_size(type, rows * ld);
    if (worked("memory", mc_memory_create(context, bytes, &address, diag)))
        (void)worked("write", mc_memory_write(context, address, dense.data, bytes, diag));
    mc_dense_free(&dense);
    return address;
}

enum { A_SALT = 1, B_SALT = 2, R_SALT = 3, BLOCK = 128 };

static float scale_of(int64_t row, int64_t block) { return ldexpf(1, (int)(row + 2 * block) % 3 - 1); }

static int64_t blocks_of(int64_t size) { return (size + BLOCK - 1) / BLOCK; }

/* Scales of ROWS x BLOCKS, by rows or by columns. */
static mc_address put_scales(int64_t rows, int64_t blocks, mc_major major) {
    const size_t count = (size_t)(rows * blocks);
    const bool turned = major == MC_MAJOR_COLUMN;
    float *scales = malloc(count * sizeof *scales);
    mc_address address = 0;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t q = 0; q < blocks; q++) scales[turned ? q * rows + i : i * blocks + q] = scale_of(i, q);
    if (worked("memory", mc_memory_create(context, count * sizeof *scales, &address, diag)))
        (void)worked("write", mc_memory_write(context, address, scales, count * sizeof *scales, diag));
    free(scales);
    return address;
}

static float want(const mc_plan_config *p, int64_t row, int64_t col) {
    float sum = 0;
    bool turned = p->a_major == MC_MAJOR_COLUMN;
    bool by_rows = p->b_layout == MC_LAYOUT_ROWS;
    for (int64_t k = 0; k < p->k; k++) {
        const int product = value_of(turned ? k : row, turned ? row : k, A_SALT) *
                            value_of(by_rows ? k : col, by_rows ? col : k, B_SALT);
        const int64_t block = k / BLOCK;
        const float scale = p->block_scales ? scale_of(row, block) * scale_of(col / BLOCK, block) : 1;
        sum += (float)product * scale;
    }
    return (sum + (float)(p->residual != MC_RESIDUAL_NONE ? value_of(row, col, R_SALT) : 0));
}

static void compare(const mc_plan_config *p, mc_address c, int64_t ld) {
    size_t bytes = (size_t)mc_type_size(p->c, p->m * ld);
    mc_dense got;
    int wrong = 0;
    if (!worked("c", mc_dense_create(p->c, p->m, p->n, ld, &got, diag))) return;
    if (worked("read", mc_memory_read(context, c, got.data, bytes, diag)))
        for (int64_t i = 0; i < p->m * p->n; i++)
            wrong += (float)mc_dense_real(&got, i / p->n, i % p->n) != want(p, i / p->n, i % p->n);
    CHECK(wrong == 0, "%d x %d x %d: %d elements wrong", (int)p->m, (int)p->n, (int)p->k, wrong);
    mc_dense_free(&got);
}

/* The leading dimension where none is named. */
static int64_t even_of(mc_type type, int64_t length) {
    return mc_type_bytes(type) == 0 ? length + length % 2 : length;
}

static void execute(const mc_plan *plan, const mc_plan_config *p) {
    bool turned = p->a_major == MC_MAJOR_COLUMN;
    int64_t a_row = turned ? p->m : p->k, lda = p->lda ? p->lda : even_of(p->a, a_row);
    bool by_rows = p->b_layout == MC_LAYOUT_ROWS;
    int64_t b_row = by_rows ? p->n : p->k, ldb = p->ldb ? p->ldb : even_of(p->b, b_row),
            ldc = p->ldc ? p->ldc : p->n;
    mc_address a = put(p->a, turned ? p->k : p->m, a_row, lda, A_SALT),
               b = put(p->b, by_rows ? p->k : p->n, b_row, ldb, B_SALT), c = put(p->c, p->m, p->n, ldc, 0),
               r = put(MC_F32, p->m, p->n, p->n, R_SALT),
               a_blocks = put_scales(p->m, blocks_of(p->k), p->a_blocks_major),
               b_blocks = put_scales(blocks_of(p->n), blocks_of(p->k), MC_MAJOR_ROW);
    const mc_argument list[] = {{.name = "residual", .address = r},
                                {.name = "a_blocks", .address = a_blocks},
                                {.name = "b_blocks", .address = b_blocks}};
    const mc_args args = {.size = sizeof args,
                          .a = a,
                          .b = b,
                          .c = c,
                          .list = list,
                          .list_count = p->block_scales ? 3 : p->residual != MC_RESIDUAL_NONE};
    mc_address room = 0;
    size_t bytes = mc_plan_workspace(plan);
    if (bytes > 0) (void)worked("workspace", mc_memory_create(context, bytes, &room, diag));
    if (worked("execute", mc_execute(plan, &args, room, NULL, diag))) compare(p, c, ldc);
    const mc_address all[] = {a, b, c, r, a_blocks, b_blocks, room};
    for (int i = 0; i < 7 - (room == 0); i++) mc_memory_destroy(context, all[i]);
}

static mc_plan_config problem_of(mc_type side, mc_type out, int64_t m, int64_t n, int64_t k) {
    return (mc_plan_config){.size = sizeof(mc_plan_config),
                            .op = MC_OP_GEMM,
                            .a = side,
                            .b = side,
                            .c = out,
                            .m = m,
                            .n = n,
                            .k = k};
}

/* FIELD is among those of the plan's kernel. */
static void try_plan(mc_plan_config p, const char *field) {
    mc_plan *plan = NULL;
    if (!worked("plan", mc_plan_create(context, &p, &plan, diag))) return;
    mc_plan_info info = {.size = sizeof info};
    if (worked("info", mc_plan_get_info(plan, &info, diag)))
        CHECK(strstr(info.fields, field) != NULL, "%s has no %s", info.fields, field);
    execute(plan, &p);
    mc_plan_destroy(plan);
}

static void refuse(mc_plan_config p, mc_status wanted, const char *why) {
    mc_plan *plan = NULL;
    mc_status status = mc_plan_create(context, &p, &plan, diag);
    CHECK(status == wanted && plan == NULL, "%s: status %d", why, (int)status);
    CHECK_TEXT(mc_diag_text(diag), why);
    mc_diag_clear(diag);
    mc_plan_destroy(plan);
}

/* Scales of blocks, both layouts of A's; what does not go with them; and that an execution brings them. */
static void try_block_scales(void) {
    mc_plan_config p = problem_of(MC_E4M3, MC_F32, 70, 144, 304);
    mc_plan *plan = NULL;
    p.sums = MC_SUMS_PROMOTED, p.block_scales = true;
    try_plan(p, "block_scales=on");
    p.a_blocks_major = MC_MAJOR_COLUMN, p.residual = MC_RESIDUAL_F32;
    try_plan(p, "a_blocks_major=column");
    p = problem_of(MC_E5M2, MC_F32, 33, 300, 129), p.ldb = 144, p.shapes = MC_SHAPES_OPEN;
    p.sums = MC_SUMS_PROMOTED, p.block_scales = true, p.a_major = MC_MAJOR_COLUMN;
    try_plan(p, "block_scales=on");
    if (worked("plan", mc_plan_create(context, &p, &plan, diag))) {
        const mc_args args = {.size = sizeof args, .a = 256, .b = 256, .c = 256};
        CHECK(mc_execute(plan, &args, 256, NULL, diag) == MC_CANNOT, "without scales");
        CHECK_TEXT(mc_diag_text(diag), "a_blocks is missing");
        mc_diag_clear(diag);
    }
    mc_plan_destroy(plan);
    p.batch = 2;
    refuse(p, MC_USAGE, "block_scales is set, and a batch has no scales of blocks");
    p.batch = 0, p.sums = MC_SUMS_FAST;
    refuse(p, MC_USAGE, "block_scales is set, which goes with promoted sums");
    p.block_scales = false, p.a_blocks_major = MC_MAJOR_COLUMN;
    refuse(p, MC_USAGE, "a_blocks_major is set, which goes with block_scales");
    p.a_blocks_major = (mc_major)2;
    refuse(p, MC_USAGE, "a_blocks_major is 2, must be one of its 2 choices");
    p = (mc_plan_config){.size = sizeof p, .op = MC_OP_QUANTISE, .block_scales = true};
    refuse(p, MC_USAGE, "block_scales is set, which only a gemm has");
}

/* PATH ends in XXXXXX.lua. */
static void write_spec(char *path, const char *spec) {
    int file = mkstemps(path, 4);
    FILE *stream = file >= 0 ? fdopen(file, "w") : NULL;
    CHECK(stream != NULL && fputs(spec, stream) >= 0 && fclose(stream) == 0, "no spec is written to %s",
          path);
}

/* A kernel whose last tiles are dealt out along k, five of them to two multiprocessors: its own part of the workspace lies
   behind what a pass writes, and nothing was written there before. */
static void try_stream(void) {
    static const char spec[] = "op = \"gemm\"\narch = \"sm_90a\"\nstream = \"on\"\n"
                               "tile_m = 64\ntile_n = 64\nconsumers = 1\nstore = \"single\"\n";
    char path[] = "/tmp/mcgen_stream_XXXXXX.lua";
    const char *const paths[] = {path};
    write_spec(path, spec);
    for (int turned = 0; turned < 2; turned++) {
        mc_plan_config p = problem_of(MC_S8, MC_S32, 300, 40, 1040);
        mc_plan *plan = NULL;
        p.specs = paths, p.spec_count = 1;
        p.a_major = turned ? MC_MAJOR_COLUMN : MC_MAJOR_ROW;
        if (!worked("plan", mc_plan_create(context, &p, &plan, diag))) continue;
        const mc_contract *c = mc_kernel_contract(plan->kernel->kernel);
        CHECK(c->flags > 0 && mc_plan_workspace(plan) == plan->passes.bytes + c->workspace, "%zu bytes",
              mc_plan_workspace(plan));
        CHECK(plan->launch.launch.grid[0] == 2, "%u thread blocks", plan->launch.launch.grid[0]);
        mc_args args = {.size = sizeof args, .a = 256, .b = 256, .c = 256};
        CHECK(mc_execute(plan, &args, 0, NULL, diag) == MC_CANNOT, "without a workspace");
        CHECK_TEXT(mc_diag_text(diag), "the workspace is missing");
        mc_diag_clear(diag);
        for (int i = 0; i < 2; i++) execute(plan, &p);
        mc_plan_destroy(plan);
    }
    (void)remove(path);
}

/* A kernel that copies A early may begin early, also behind a pass that writes B, but not behind one that writes A. */
static void try_early(void) {
    static const char spec[] = "op = \"gemm\"\narch = \"sm_90a\"\noverlap = \"on\"\nearly = \"on\"\n"
                               "tile_m = 64\ntile_n = 64\nconsumers = 1\nstore = \"single\"\n";
    char path[] = "/tmp/mcgen_early_XXXXXX.lua";
    const char *const paths[] = {path};
    write_spec(path, spec);
    for (int turned = 0; turned < 4; turned++) {
        mc_plan_config p =
            turned < 2 ? problem_of(MC_F16, MC_F16, 72, 40, 200) : problem_of(MC_S8, MC_S32, 72, 40, 208);
        mc_plan *plan = NULL;
        p.specs = paths, p.spec_count = 1;
        p.a_major = turned % 2 ? MC_MAJOR_COLUMN : MC_MAJOR_ROW;
        p.b_layout = turned < 2 ? MC_LAYOUT_COLUMNS : MC_LAYOUT_ROWS;
        if (!worked("plan", mc_plan_create(context, &p, &plan, diag))) continue;
        CHECK(plan->passes.count == turned / 2 + turned % 2, "%d passes", plan->passes.count);
        CHECK(plan->launch.launch.overlap == !(turned % 2), "A by %s", turned % 2 ? "columns" : "rows");
        execute(plan, &p);
        mc_plan_destroy(plan);
    }
    (void)remove(path);
}

int main(void) {
    diag = mc_diag_create();
    const mc_context_config config = {.size = sizeof config, .device = "sim", .records = ""};
    if (!worked("context", mc_context_create(&config, &context, diag))) return check_end();
    mc_plan_config p = problem_of(MC_F16, MC_F16, 65, 72, 104);
    try_plan(p, "overlap=wait");
    try_plan(problem_of(MC_F16, MC_F16, 1024, 768, 256), "store=tensor");
    try_plan(problem_of(MC_F16, MC_F16, 256, 8, 2000), "split=");
    p.residual = MC_RESIDUAL_F32;
    try_plan(p, "residual=f32");
    p = problem_of(MC_BF16, MC_F32, 40, 63, 200);
    try_plan(p, "store=single");
    p.shapes = MC_SHAPES_OPEN;
    try_plan(p, "n=open");
    try_plan(problem_of(MC_S8, MC_S32, 130, 36, 64), "lhs=s8");
    p = problem_of(MC_E4M3, MC_F16, 20, 40, 70);
    p.lda = p.ldb = 80;
    try_plan(p, "lda=80");
    p = problem_of(MC_F16, MC_F16, 45, 64, 70); /* A's rows are made, whole 16 bytes each */
    p.a_major = MC_MAJOR_COLUMN, p.ldb = 72;
    try_plan(p, "lda=72");
    p = problem_of(MC_S8, MC_S32, 100, 60, 33);
    p.a_major = MC_MAJOR_COLUMN, p.lda = 111, p.ldb = 48;
    try_plan(p, "lda=48");
    try_plan(problem_of(MC_F16, MC_F16, 64, 64, 100), "method=mma"); /* rows are at multiples of 8 bytes */
    p = problem_of(MC_S8, MC_S32, 33, 41, 77);
    p.lda = 79;
    try_plan(p, "method=mma");
    try_plan(problem_of(MC_TF32, MC_F32, 64, 64, 64), "method=mma");
    p = problem_of(MC_E4M3, MC_F16, 64, 64, 64);
    p.sums = MC_SUMS_PROMOTED;
    try_plan(p, "sums=promoted");
    p = problem_of(MC_E4M3, MC_F16, 50, 40, 75); /* both are made */
    p.a_major = MC_MAJOR_COLUMN, p.b_layout = MC_LAYOUT_ROWS, p.ldb = 45, p.residual = MC_RESIDUAL_F32;
    try_plan(p, "lda=80 ldb=80");
    p = problem_of(MC_F16, MC_F16, 64, 64, 64);
    p.sums = MC_SUMS_F16;
    try_plan(p, "sums=f16");
    p = problem_of(MC_F16, MC_F16, 64, 64, 64); /* whose kernels copy as narrowly as addresses allow */
    p.align = 4;
    try_plan(p, "copy=4");
    p = problem_of(MC_S8, MC_S32, 64, 64, 64);
    p.align = 1;
    try_plan(p, "copy=1");
    try_plan(problem_of(MC_S4, MC_S32, 70, 36, 256), "ldb=256"); /* rows are whole 16 bytes */
    p = problem_of(MC_S4, MC_S32, 70, 35, 129);
    try_plan(p, "copy=1");
    p.lda = p.ldb = 160, p.n = 40;
    try_plan(p, "lda=160 ldb=160");
    p.align = 4, p.n = 33;
    try_plan(p, "copy=4");
    p = problem_of(MC_S4, MC_S32, 9, 130, 7), p.lda = 24, p.ldb = 8, p.shapes = MC_SHAPES_OPEN;
    try_plan(p, "k=open");
    p = problem_of(MC_S4, MC_S32, 41, 63, 77); /* both are made, of rows that end inside of a byte */
    p.a_major = MC_MAJOR_COLUMN, p.b_layout = MC_LAYOUT_ROWS, p.ldb = 70;
    try_plan(p, "lda=96 ldb=96");
    try_early();
    try_block_scales();
    try_stream();
    p = problem_of(MC_F16, MC_F16, 64, 64, 64);
    p.sums = MC_SUMS_PROMOTED;
    refuse(p, MC_USAGE, "sums are promoted of floats of 8 bits, not of f16 by f16");
    p.sums = (mc_sum_mode)3;
    refuse(p, MC_USAGE, "sums is 3, must be one of its 3 choices");
    p = problem_of(MC_S4, MC_S32, 64, 64, 64), p.b = MC_S8;
    refuse(p, MC_CANNOT, "a is s4, b is s8: 4 bits are multiplied by 4 bits");
    p = problem_of(MC_S4, MC_S32, 64, 64, 64), p.lda = 65;
    refuse(p, MC_CANNOT, "lda is 65, must be even");
    p.a_major = MC_MAJOR_COLUMN;
    refuse(p, MC_CANNOT, "lda is 65, must be even");
    p.lda = 0, p.b_layout = MC_LAYOUT_ROWS, p.ldb = 67;
    refuse(p, MC_CANNOT, "ldb is 67, must be even");
    p = problem_of(MC_S4, MC_S32, 64, 64, 64), p.lda = 64, p.batch = 2, p.a_stride = 64 * 64 + 1;
    refuse(p, MC_CANNOT, "a_stride is 4097, must be even");
    refuse(problem_of(MC_F16, MC_S64, 64, 64, 64), MC_CANNOT, "c is s64, a gemm of floats gives");
    refuse(problem_of(MC_F16, MC_F16, 64, 64, 0), MC_CANNOT, "k is 0");
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return check_end();
}
