/* Plans of gemm whose operands lie otherwise than kernels read them: A by columns, B of 8 bits by rows, and both. Integers
 * are exact, floats right to the bit in the kernel's order. Odd sizes, gaps, all alignments; what plans say of their
 * passes; what is refused; a captured graph. Which operands want a pass is in transpose_test.c. */
#include <stdlib.h>
#include "check.h"
#include "device/cuda.h"
#include "mc_describe.h"
#include "mcrt_internal.h"
#include "plan/plan.h"

enum { POISON = 0x7e };

static mc_context *context;
static mc_diag *diag;

static bool worked(const char *what, mc_status status) {
    CHECK(status == MC_OK, "%s: %s", what, mc_diag_text(diag));
    mc_diag_clear(diag);
    return status == MC_OK;
}

static void refused(const char *why, mc_status status) {
    CHECK(status == MC_CANNOT, "%s: status %d", why, (int)status);
    CHECK_TEXT(mc_diag_text(diag), why);
    mc_diag_clear(diag);
}

/* -- A product with its operands */

typedef struct row {
    const char *name;
    mc_type type;
    int64_t m, n, k;
    mc_major a;
    mc_layout b;
    int64_t a_gap, b_gap; /* elements behind each row, or column, as it lies */
    unsigned align;       /* operands lie at an odd multiple of it; 0: of 16 */
    bool open;
    mc_sum_mode sums;
    int passes;
} row;

typedef struct product {
    const row *row;
    mc_plan_config config;
    mc_plan *plan;
    mc_dense a, b; /* m x k, k x n */
    mc_address memory[4];
    mc_address room; /* the workspace, as large as the plan says */
    mc_args args;
} product;

enum { C_GAP = 3, ROOM = 64 };

/* C lies at a multiple of its elements' size at least. */
static mc_address reserve(product *p, size_t bytes, unsigned least) {
    const unsigned wanted = p->row->align != 0 ? p->row->align : 16, align = wanted > least ? wanted : least;
    int i = 0;
    while (p->memory[i] != 0) i++;
    (void)worked("memory", mc_memory_create(context, bytes + ROOM, &p->memory[i], diag));
    return p->memory[i] + align;
}

/* Row by row: gaps stay unwritten, and the simulator stops who reads them. */
static mc_address put(product *p, const mc_dense *dense) {
    const size_t step = (size_t)mc_type_size(dense->type, dense->ld),
                 bytes = (size_t)mc_type_size(dense->type, dense->cols);
    const mc_address address = reserve(p, (size_t)dense->rows * step, 1);
    for (size_t i = 0; i < (size_t)dense->rows; i++)
        (void)worked("operand", mc_memory_write(context, address + i * step,
                                                (const char *)dense->data + i * step, bytes, diag));
    return address;
}

/* DENSE as it lies, with GAP elements behind each row of that. */
static mc_address put_lying(product *p, const mc_dense *dense, bool turned, int64_t gap) {
    mc_dense lying = {0};
    if (turned) (void)worked("turned", mc_dense_transpose(dense, dense->rows + gap, &lying, diag));
    else
        (void)worked("as it is", mc_dense_convert(dense, "it", dense->type, dense->cols + gap, &lying, diag));
    const mc_address address = put(p, &lying);
    mc_dense_free(&lying);
    return address;
}

static mc_dense filled(mc_type type, int64_t rows, int64_t cols, uint64_t seed) {
    mc_dense dense = {0};
    if (!worked("operand", mc_dense_create(type, rows, cols, cols, &dense, diag))) exit(1);
    mc_dense_fill(&dense, MC_VALUES_FULL, seed);
    return dense;
}

static mc_plan_config config_of(const row *r) {
    const bool columns = r->a == MC_MAJOR_COLUMN, by_rows = r->b == MC_LAYOUT_ROWS;
    return (mc_plan_config){.size = sizeof(mc_plan_config),
                            .op = MC_OP_GEMM,
                            .a = r->type,
                            .b = r->type,
                            .c = mc_type_is_real(r->type) ? MC_F32 : MC_S32,
                            .m = r->m,
                            .n = r->n,
                            .k = r->k,
                            .a_major = r->a,
                            .b_layout = r->b,
                            .lda = (columns ? r->m : r->k) + r->a_gap,
                            .ldb = (by_rows ? r->n : r->k) + r->b_gap,
                            .ldc = r->n + C_GAP,
                            .align = r->align,
                            .sums = r->sums,
                            .shapes = r->open ? MC_SHAPES_OPEN : MC_SHAPES_FIXED};
}

static bool open_product(product *p, const row *r) {
    *p = (product){.row = r, .config = config_of(r)};
    if (!worked(r->name, mc_plan_create(context, &p->config, &p->plan, diag))) return false;
    const size_t bytes = (size_t)(r->m * p->config.ldc) * sizeof(float);
    void *poison = malloc(bytes);
    p->a = filled(r->type, r->m, r->k, 5), p->b = filled(r->type, r->k, r->n, 6);
    p->args = (mc_args){.size = sizeof p->args,
                        .a = put_lying(p, &p->a, r->a == MC_MAJOR_COLUMN, r->a_gap),
                        .b = put_lying(p, &p->b, r->b == MC_LAYOUT_COLUMNS, r->b_gap),
                        .c = reserve(p, bytes, sizeof(float))};
    memset(poison, POISON, bytes);
    (void)worked("poison", mc_memory_write(context, p->args.c, poison, bytes, diag));
    free(poison);
    if (mc_plan_workspace(p->plan) == 0) return true;
    return worked("workspace", mc_memory_create(context, mc_plan_workspace(p->plan), &p->room, diag));
}

static void close_product(product *p) {
    mc_plan_destroy(p->plan);
    for (int i = 0; i < 4; i++)
        if (p->memory[i] != 0) mc_memory_destroy(context, p->memory[i]);
    if (p->room != 0) mc_memory_destroy(context, p->room);
    mc_dense_free(&p->a);
    mc_dense_free(&p->b);
}

/* -- What must come of it */

static mc_plan_info info_of(const mc_plan *plan) {
    mc_plan_info info = {.size = sizeof info};
    (void)worked("info", mc_plan_get_info(plan, &info, diag));
    return info;
}

static mc_dense floats(const product *p) {
    const char *fields = info_of(p->plan).fields, *split = strstr(fields, " split=");
    const bool mma = strstr(fields, "method=mma") != NULL;
    const mc_gemm_order order = {.method = mma ? MC_GEMM_MMA : MC_GEMM_WGMMA,
                                 .parts = split != NULL ? atoi(split + 7) : 1,
                                 .sums = p->config.sums};
    mc_dense want = {0};
    (void)worked("order", mc_reference_gemm_ordered(&p->a, &p->b, MC_LAYOUT_ROWS, &order, &want, diag));
    return want;
}

static mc_dense integers(const product *p) {
    mc_dense want = filled(MC_S32, p->row->m, p->row->n, 1);
    for (int64_t i = 0; i < want.rows * want.cols; i++) {
        int64_t sum = 0;
        for (int64_t k = 0; k < p->row->k; k++)
            sum += mc_dense_get(&p->a, i / want.cols, k) * mc_dense_get(&p->b, k, i % want.cols);
        mc_dense_set(&want, i / want.cols, i % want.cols, sum);
    }
    return want;
}

/* Gaps of C stay as they were. */
static void compare(const product *p, const char *what) {
    const int64_t ld = p->config.ldc, count = p->row->m * ld;
    mc_dense want = mc_type_is_real(p->row->type) ? floats(p) : integers(p);
    uint32_t *got = malloc((size_t)count * sizeof *got), gap;
    int wrong = 0;
    memset(&gap, POISON, sizeof gap);
    if (want.data != NULL &&
        worked("read", mc_memory_read(context, p->args.c, got, (size_t)count * sizeof *got, diag)))
        for (int64_t i = 0; i < count; i++) {
            const uint32_t *place = (const uint32_t *)want.data + i / ld * want.ld + i % ld;
            wrong += got[i] != (i % ld < want.cols ? *place : gap);
        }
    CHECK(wrong == 0, "%s, %s: %d elements are wrong: %s", p->row->name, what, wrong,
          info_of(p->plan).fields);
    free(got);
    mc_dense_free(&want);
}

/* -- What the plan says */

static size_t whole(size_t bytes) { return (bytes + 15) / 16 * 16; }

static void check_operand(const product *p, size_t index, int64_t rows, int64_t cols, int64_t ld) {
    mc_operand_info o = {.size = sizeof o};
    if (!worked("operand", mc_plan_get_operand(p->plan, index, &o, diag))) return;
    CHECK(o.rows == rows && o.cols == cols && o.ld == ld && o.type == p->row->type && o.wanted, "%s: %s",
          p->row->name, o.name);
}

static void check_said(const product *p) {
    const row *r = p->row;
    const bool columns = r->a == MC_MAJOR_COLUMN, of_b = r->passes > columns;
    const mc_plan_info info = info_of(p->plan);
    const size_t line = whole((size_t)mc_type_size(r->type, r->k));
    size_t bytes = 0;
    double us = 0;
    int count = 0;
    for (mc_pass_info pass = {.size = sizeof pass};
         mc_plan_get_pass(p->plan, (size_t)count, &pass, diag) == MC_OK; count++) {
        const bool is_b = count > 0 || !columns;
        CHECK(strcmp(pass.operand, is_b ? "b" : "a") == 0, "%s: pass %d is of %s", r->name, count,
              pass.operand);
        CHECK(pass.bytes == line * (size_t)(is_b ? r->n : r->m), "%s: %zu bytes", r->name, pass.bytes);
        CHECK_TEXT(pass.fields, "op=quantise");
        CHECK(count > 0 || strcmp(pass.fields, info.transpose_fields) == 0, "%s", info.transpose_fields);
        us += pass.microseconds, bytes += pass.bytes;
    }
    CHECK(count == r->passes && mc_diag_count(diag) == 0, "%s: %d passes", r->name, count);
    CHECK(info.transpose_microseconds == us && (us > 0) == (count > 0), "%s: %g us", r->name, us);
    CHECK(mc_plan_workspace(p->plan) == bytes, "%s: %zu bytes", r->name, mc_plan_workspace(p->plan));
    CHECK((strstr(info.fields, "layout=rows") != NULL) == (r->b == MC_LAYOUT_ROWS && !of_b), "%s",
          info.fields);
    check_operand(p, 0, columns ? r->k : r->m, columns ? r->m : r->k, p->config.lda);
    const bool by_rows = r->b == MC_LAYOUT_ROWS;
    check_operand(p, 1, by_rows ? r->k : r->n, by_rows ? r->n : r->k, p->config.ldb);
}

#define A_COLUMNS         .a = MC_MAJOR_COLUMN
#define B_ROWS            .b = MC_LAYOUT_ROWS
#define SIZES(m_, n_, k_) .m = (m_), .n = (n_), .k = (k_)

static const row rows[] = {
    {"s8", MC_S8, SIZES(130, 36, 64), B_ROWS, .passes = 1},
    {"u8, gaps", MC_U8, SIZES(33, 41, 77), B_ROWS, .a_gap = 2, .b_gap = 5, .passes = 1},
    {"s8, one column", MC_S8, SIZES(40, 1, 200), B_ROWS, .passes = 1},
    {"s8, one product", MC_S8, SIZES(20, 70, 1), B_ROWS, .passes = 1},
    {"u8, one of all, both", MC_U8, SIZES(1, 1, 1), A_COLUMNS, B_ROWS, .passes = 2},
    {"s8, both, gaps", MC_S8, SIZES(100, 60, 33), A_COLUMNS, B_ROWS, .a_gap = 11, .b_gap = 4, .passes = 2},
    {"u8, both, one column", MC_U8, SIZES(65, 1, 48), A_COLUMNS, B_ROWS, .passes = 2},
    {"s8, both, open", MC_S8, SIZES(45, 80, 96), A_COLUMNS, B_ROWS, .open = true, .passes = 2},
    {"e4m3", MC_E4M3, SIZES(64, 48, 160), B_ROWS, .passes = 1},
    {"e4m3, both, odd", MC_E4M3, SIZES(61, 35, 131), A_COLUMNS, B_ROWS, .a_gap = 1, .b_gap = 2, .passes = 2},
    {"e4m3, few columns", MC_E4M3, SIZES(128, 8, 2048), B_ROWS, .passes = 1},
    {"e4m3, promoted", MC_E4M3, SIZES(64, 32, 304), B_ROWS, .sums = MC_SUMS_PROMOTED, .passes = 1},
    {"e5m2, both", MC_E5M2, SIZES(40, 64, 96), A_COLUMNS, B_ROWS, .passes = 2},
    {"s8, both, at 4 bytes", MC_S8, SIZES(36, 52, 68), A_COLUMNS, B_ROWS, .align = 4, .passes = 2},
    {"e4m3, both, anywhere", MC_E4M3, SIZES(33, 34, 35), A_COLUMNS, B_ROWS, .align = 1, .passes = 2},
    {"s8 by columns", MC_S8, SIZES(64, 40, 64), .passes = 0},
    {"f16 by rows", MC_F16, SIZES(45, 64, 72), B_ROWS, .passes = 0},
    {"f16, A alone", MC_F16, SIZES(45, 64, 70), A_COLUMNS, B_ROWS, .b_gap = 8, .passes = 1},
    {"tf32rz by rows", MC_TF32RZ, SIZES(40, 32, 24), B_ROWS, .passes = 0},
};

static void run_row(const row *r) {
    product p;
    if (open_product(&p, r)) {
        check_said(&p);
        for (int again = 0; again < 2; again++)
            if (worked(r->name, mc_execute(p.plan, &p.args, p.room, NULL, diag)) &&
                worked("wait", mc_synchronize(context, NULL, diag)))
                compare(&p, again ? "again" : "first");
    }
    close_product(&p);
}

/* -- Refusals: nothing is launched then */

static void test_refused(void) {
    static const row both = {"both", MC_S8, SIZES(40, 24, 32), A_COLUMNS, B_ROWS, .passes = 2};
    product p;
    if (open_product(&p, &both)) {
        mc_args args = p.args;
        refused("the workspace is missing: this plan wants 2048 bytes",
                mc_execute(p.plan, &p.args, 0, NULL, diag));
        refused("which is not a multiple of 16 bytes", mc_execute(p.plan, &p.args, p.room + 8, NULL, diag));
        args.b = 0;
        refused("b is missing", mc_execute(p.plan, &args, p.room, NULL, diag));
        args.b = p.args.b + 1;
        refused("b lies at", mc_execute(p.plan, &args, p.room, NULL, diag));
        args.b = p.args.b, args.a = 0;
        refused("a is missing", mc_execute(p.plan, &args, p.room, NULL, diag));
    }
    close_product(&p);
    mc_plan_config config = config_of(&both);
    mc_plan *plan = NULL;
    config.k = INT32_MAX, config.m = 1;
    config.a_major = MC_MAJOR_ROW, config.lda = 0;
    refused("B lies by rows: a column of it would have 2147483648 elements, whole 16 bytes",
            mc_plan_create(context, &config, &plan, diag));
    const char *spec = "spmm_l8r8";
    config = config_of(&both), config.specs = &spec, config.spec_count = 1;
    refused("none of 1 specs is of family gemm", mc_plan_create(context, &config, &plan, diag));
    CHECK(plan == NULL);
    mc_pass_info pass = {.size = sizeof pass};
    CHECK(mc_plan_get_pass(NULL, 0, &pass, diag) == MC_USAGE);
    CHECK_TEXT(mc_diag_text(diag), "plan is NULL");
    mc_diag_clear(diag);
}

/* -- Tuning measures the product alone, and plans of operands that lie either way find its record */

static void test_tune(void) {
    static const row both = {"tuned", MC_S8, SIZES(40, 24, 32), A_COLUMNS, B_ROWS, .passes = 2},
                     none = {"as kernels read it", MC_S8, SIZES(40, 24, 32), .passes = 0};
    const row *const found[] = {&both, &none};
    const mc_tune_config tune = {.size = sizeof tune, .candidates = 2};
    const mc_plan_config config = config_of(&both);
    const mc_context_config with = {
        .size = sizeof with, .device = "sim", .cache = MC_CACHE_OFF, .records = ""};
    mc_tune_result told = {.size = sizeof told};
    mc_context *usual = context;
    if (worked("context", mc_context_create(&with, &context, diag)) &&
        worked("tune", mc_tune(context, &config, &tune, &told, diag)))
        CHECK(told.measured >= 2 && told.wrong == 0 && told.failed == 0, "%zu measured", told.measured);
    for (int i = 0; i < 2; i++) {
        product p;
        if (open_product(&p, found[i])) {
            CHECK(info_of(p.plan).origin == MC_ORIGIN_MEASURED, "%s", info_of(p.plan).reason);
            check_said(&p);
        }
        close_product(&p);
    }
    mc_context_destroy(context);
    context = usual;
}

/* -- Captured, and replayed. The driver that is the simulator has run what it captures already then. */

static void test_graph(void) {
    static const row both = {"a graph", MC_E4M3, SIZES(50, 30, 70), A_COLUMNS, B_ROWS, .passes = 2};
    const cuda_driver *driver = NULL;
    const char *why = "";
    context_visit visit;
    cuda_stream stream = NULL;
    cuda_graph graph = NULL;
    cuda_graph_exec exec = NULL;
    product p;
    CHECK(cuda_driver_get(&driver, &why) == CUDA_READY, "%s", why);
    if (driver == NULL || !open_product(&p, &both)) return;
    (void)worked("enter", context_enter(context, &visit, diag));
    (void)worked("stream", CUDA_CALL(driver, diag, StreamCreate, &stream, 1));
    (void)worked("capture", CUDA_CALL(driver, diag, StreamBeginCapture, stream, 0));
    (void)worked("execute", mc_execute(p.plan, &p.args, p.room, stream, diag));
    (void)worked("end", CUDA_CALL(driver, diag, StreamEndCapture, stream, &graph));
    (void)worked("graph", CUDA_CALL(driver, diag, GraphInstantiateWithFlags, &exec, graph, 0));
    (void)worked("replay", CUDA_CALL(driver, diag, GraphLaunch, exec, stream));
    (void)worked("wait", mc_synchronize(context, stream, diag));
    (void)worked("exec", CUDA_CALL(driver, diag, GraphExecDestroy, exec));
    (void)worked("graph", CUDA_CALL(driver, diag, GraphDestroy, graph));
    (void)worked("stream", CUDA_CALL(driver, diag, StreamDestroy, stream));
    context_leave(context, &visit);
    compare(&p, "replayed");
    close_product(&p);
}

int main(int argc, char **argv) {
    const mc_context_config config = {.size = sizeof config,
                                      .device = argc > 1 ? argv[1] : "sim",
                                      .cache = MC_CACHE_OFF,
                                      .tuning = MC_TUNING_OFF,
                                      .records = ""};
    diag = mc_diag_create();
    if (worked("context", mc_context_create(&config, &context, diag))) {
        if (argc > 1) test_graph();
        else test_tune();
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) run_row(&rows[i]);
        test_refused();
    }
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return check_end();
}
