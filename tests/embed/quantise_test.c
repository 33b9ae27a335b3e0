/* quantise by the C interface: plans, executions, batches, what is refused; and, on a CUDA driver that is the
 * simulator, an execution in a graph. quantise_test [DEVICE] */
#include <stdlib.h>
#include "check.h"
#include "context/context.h"
#include "device/cuda.h"
#include "matrix/random.h"
#include "mcrt_internal.h"

enum {
    TOKENS = 20,
    FEATURES = 48,
    MOST_PRODUCTS = 3,
    MOST = MOST_PRODUCTS * TOKENS * FEATURES,
    POISON = 0x5a
};
enum { X, SCALE, ZERO, C };

static mc_diag *diag;
static mc_context *context;

/* Everything on the device, and what must come out of it. */
typedef struct product {
    mc_plan *plan;
    plan_problem problem;
    int64_t products;
    mc_address x, scale, zero, c, workspace;
    uint16_t host[MOST];
    float scales[MOST_PRODUCTS * TOKENS], zeros[MOST_PRODUCTS * TOKENS];
} product;

static bool worked(const char *what, mc_status status) {
    CHECK(status == MC_OK, "%s: %s", what, mc_diag_text(diag));
    mc_diag_clear(diag);
    return status == MC_OK;
}

static mc_address upload(const void *data, size_t bytes) {
    mc_address at = 0;
    (void)worked("memory", mc_memory_create(context, bytes, &at, diag));
    (void)worked("write", mc_memory_write(context, at, data, bytes, diag));
    return at;
}

static bool open(product *p, const mc_plan_config *config) {
    mc_dense x = {MC_F16, MOST_PRODUCTS * TOKENS, FEATURES, FEATURES, p->host};
    static unsigned char poison[MOST];
    *p = (product){.products = config->batch > 0 ? config->batch : 1};
    mc_dense_fill(&x, MC_VALUES_FULL, 7);
    for (int i = 0; i < MOST_PRODUCTS * TOKENS; i++)
        p->scales[i] = 0.01F * (float)(i + 1), p->zeros[i] = (float)(i % 7);
    memset(poison, POISON, sizeof poison);
    p->x = upload(p->host, sizeof p->host);
    p->scale = upload(p->scales, sizeof p->scales);
    p->zero = upload(p->zeros, sizeof p->zeros);
    p->c = upload(poison, sizeof poison);
    if (!worked("problem", plan_problem_of(config, NULL, &p->problem, diag)) ||
        !worked("plan", mc_plan_create(context, config, &p->plan, diag)))
        return false;
    size_t bytes = mc_plan_workspace(p->plan);
    return bytes == 0 || worked("workspace", mc_memory_create(context, bytes, &p->workspace, diag));
}

static void close(product *p) {
    mc_plan_destroy(p->plan);
    const mc_address addresses[] = {p->x, p->scale, p->zero, p->c, p->workspace};
    for (int i = 0; i < 5; i++) mc_memory_destroy(context, addresses[i]);
}

static mc_status execute(const product *p, void *stream) {
    const mc_argument list[] = {{"zero", p->zero, 3}};
    const mc_args args = {
        .size = sizeof args,
        .a = p->x,
        .c = p->c,
        .scale = p->scale,
        .scale_value = 0.125F,
        .list = list,
        .list_count = operand_per(&p->problem, &operator_of(MC_OP_QUANTISE)->operands[ZERO]) != MC_PER_NONE};
    return mc_execute(p->plan, &args, p->workspace, stream, diag);
}

/* Product I: C, and the scales that are computed. */
static void check_product(product *p, int64_t i) {
    static const mc_vsparse no_matrix;
    const mc_operator *op = operator_of(MC_OP_QUANTISE);
    mc_dense x = {MC_F16, TOKENS, FEATURES, FEATURES, p->host + i * TOKENS * FEATURES};
    float tensor = 0.125F, point = 3;
    bool one = p->problem.scale == MC_PER_TENSOR;
    host_operands operands = {.problem = &p->problem, .matrix = &no_matrix};
    reference_result want;
    operands.inputs[X] = &x;
    operands.factors[SCALE] = one ? &tensor : p->scales + i * TOKENS;
    operands.factors[ZERO] = one ? &point : p->zeros + i * TOKENS;
    if (!worked("expect", operator_expect(op, &operands, &want, diag))) return;
    mc_dense got = want.low;
    int64_t bytes = mc_type_size(got.type, got.rows * got.ld);
    got.data = malloc((size_t)bytes);
    (void)worked("read",
                 mc_memory_read(context, p->c + (mc_address)(i * bytes), got.data, (size_t)bytes, diag));
    (void)worked("C", mc_dense_compare(&got, &want.low, diag));
    free(got.data);
    mc_result_free(&want);
    for (size_t o = SCALE; o <= ZERO && operand_is_computed(&p->problem, &op->operands[o]); o++) {
        float values[TOKENS];
        int64_t count = one ? 1 : TOKENS;
        size_t size = (size_t)count * sizeof *values;
        mc_dense is = {MC_F32, 1, count, count, values};
        reference_result must_be;
        mc_address at = (o == SCALE ? p->scale : p->zero) + (mc_address)i * size;
        (void)worked("other", operator_expect_other(op, &operands, o, &must_be, diag));
        (void)worked("read", mc_memory_read(context, at, values, size, diag));
        (void)worked(op->operands[o].name, mc_result_compare(&is, &must_be, diag));
        mc_result_free(&must_be);
    }
}

static void check(product *p) {
    for (int64_t i = 0; i < p->products; i++) check_product(p, i);
}

static mc_plan_config quantise(mc_type out) {
    return (mc_plan_config){.size = sizeof(mc_plan_config),
                            .op = MC_OP_QUANTISE,
                            .a = MC_F16,
                            .c = out,
                            .m = TOKENS,
                            .n = FEATURES,
                            .scale = MC_PER_ROW};
}

static void try_config(const char *what, const mc_plan_config *config) {
    static product p;
    if (open(&p, config) && worked(what, execute(&p, NULL)) &&
        worked(what, mc_synchronize(context, NULL, diag)))
        check(&p);
    close(&p);
}

static void test_plans(void) {
    static const mc_type outs[] = {MC_S8, MC_U8, MC_S4, MC_U4};
    for (int i = 0; i < 32; i++) {
        mc_plan_config config = quantise(outs[i % 4]);
        config.computed = i & 4, config.zero = i & 8 ? MC_PER_ROW : MC_PER_NONE;
        config.b_layout = i & 16 ? MC_LAYOUT_ROWS : MC_LAYOUT_COLUMNS;
        try_config("plan", &config);
        config.batch = MOST_PRODUCTS, config.shapes = i & 1 ? MC_SHAPES_OPEN : MC_SHAPES_FIXED;
        try_config("batch", &config);
    }
    mc_plan_config tensor = quantise(MC_S8);
    tensor.scale = tensor.zero = MC_PER_TENSOR;
    try_config("tensor", &tensor);
    tensor.computed = true;
    try_config("computed tensor", &tensor);
    tensor.batch = MOST_PRODUCTS;
    try_config("batch of tensors", &tensor);
    tensor.zero = MC_PER_NONE, tensor.c = MC_U4, tensor.align = 1;
    try_config("odd batch of tensors", &tensor);
    mc_plan_config back = {
        .size = sizeof back, .op = MC_OP_QUANTISE, .a = MC_F16, .c = MC_BF16, .m = TOKENS, .n = FEATURES};
    back.align = 4;
    try_config("back", &back);
}

static void refuse(mc_plan_config config, mc_status status, const char *why) {
    mc_plan *plan = NULL;
    CHECK(mc_plan_create(context, &config, &plan, diag) == status, "%s", why);
    CHECK_TEXT(mc_diag_text(diag), why);
    mc_diag_clear(diag);
    mc_plan_destroy(plan);
}

static void test_refused(void) {
    mc_plan_config c = quantise(MC_S16);
    refuse(c, MC_CANNOT, "c is s16, a quantise gives s8, u8, s4 or u4");
    c = quantise(MC_S8), c.a = MC_S32;
    refuse(c, MC_CANNOT, "x is s32, a quantise takes f16, bf16 or f32");
    c = quantise(MC_S8), c.scale = MC_PER_NONE;
    refuse(c, MC_USAGE, "wants a scale");
    c = quantise(MC_S8), c.scale = MC_PER_COLUMN;
    refuse(c, MC_CANNOT, "scale is by column");
    c = quantise(MC_S8), c.scale = MC_PER_COLUMN, c.computed = true;
    refuse(c, MC_CANNOT, "scale is by column");
    c = quantise(MC_S8), c.zero = MC_PER_TENSOR;
    refuse(c, MC_USAGE, "zero points go as scales do");
    c = quantise(MC_F16), c.computed = true;
    refuse(c, MC_USAGE, "zero points and computed scales go with s8");
    c = quantise(MC_F16), c.a = MC_S8;
    refuse(c, MC_CANNOT, "the way back takes s32");
    c = quantise(MC_S4), c.ldc = TOKENS + 1;
    refuse(c, MC_CANNOT, "ldc is 21, must be even");
    const char *endless = "/dev/zero";
    c = quantise(MC_S8), c.specs = &endless, c.spec_count = 1;
    refuse(c, MC_IO, "/dev/zero: it is a device, no regular file");
    c = quantise(MC_S8), c.k = 3;
    refuse(c, MC_USAGE, "k is set");
    c = (mc_plan_config){.size = sizeof c, .op = MC_OP_SPMM, .computed = true};
    refuse(c, MC_USAGE, "matrix");
}

static void test_missing(void) {
    static product p;
    mc_plan_config config = quantise(MC_S8);
    config.computed = true, config.zero = MC_PER_ROW;
    if (open(&p, &config)) {
        const mc_args args = {.size = sizeof args, .a = p.x, .c = p.c, .scale = p.scale};
        CHECK(mc_execute(p.plan, &args, 0, NULL, diag) == MC_CANNOT);
        CHECK_TEXT(mc_diag_text(diag), "zero is missing");
        mc_diag_clear(diag);
    }
    close(&p);
}

static void refuse_workspace(const product *p, mc_address workspace, const char *why) {
    const mc_args args = {.size = sizeof args, .a = p->x, .c = p->c, .scale = p->scale};
    CHECK(mc_execute(p->plan, &args, workspace, NULL, diag) == MC_CANNOT);
    CHECK_TEXT(mc_diag_text(diag), why);
    mc_diag_clear(diag);
}

static void test_workspace(void) {
    static product p;
    mc_plan_config config = quantise(MC_S8);
    config.computed = true;
    if (open(&p, &config)) CHECK(mc_plan_workspace(p.plan) == 0);
    close(&p);
    config.scale = MC_PER_TENSOR;
    if (open(&p, &config)) {
        CHECK(mc_plan_workspace(p.plan) == 1024);
        refuse_workspace(&p, 0, "the workspace is missing: this plan wants 1024 bytes");
        refuse_workspace(&p, p.workspace + 2, "which is not a multiple of 4 bytes");
    }
    close(&p);
    config.batch = MOST_PRODUCTS;
    if (open(&p, &config)) CHECK(mc_plan_workspace(p.plan) == (size_t)MOST_PRODUCTS * 1024);
    close(&p);
}

/* Captured, and replayed. The driver that is the simulator has run what it captures already then. */
static void test_graph(void) {
    static product p;
    const cuda_driver *driver = NULL;
    const char *why = "";
    context_visit visit;
    cuda_stream stream = NULL;
    cuda_graph graph = NULL;
    cuda_graph_exec exec = NULL;
    mc_plan_config config = quantise(MC_S8);
    config.computed = true;
    CHECK(cuda_driver_get(&driver, &why) == CUDA_READY, "%s", why);
    if (driver == NULL || !open(&p, &config)) return;
    (void)worked("enter", context_enter(context, &visit, diag));
    (void)worked("stream", CUDA_CALL(driver, diag, StreamCreate, &stream, 1));
    (void)worked("capture", CUDA_CALL(driver, diag, StreamBeginCapture, stream, 0));
    (void)worked("execute", execute(&p, stream));
    (void)worked("end", CUDA_CALL(driver, diag, StreamEndCapture, stream, &graph));
    (void)worked("graph", CUDA_CALL(driver, diag, GraphInstantiateWithFlags, &exec, graph, 0));
    (void)worked("replay", CUDA_CALL(driver, diag, GraphLaunch, exec, stream));
    (void)worked("wait", mc_synchronize(context, stream, diag));
    (void)worked("exec", CUDA_CALL(driver, diag, GraphExecDestroy, exec));
    (void)worked("graph", CUDA_CALL(driver, diag, GraphDestroy, graph));
    (void)worked("stream", CUDA_CALL(driver, diag, StreamDestroy, stream));
    context_leave(context, &visit);
    check(&p);
    close(&p);
}

int main(int argc, char **argv) {
    const char *device = argc > 1 ? argv[1] : "sim";
    const mc_context_config config = {.size = sizeof config,
                                      .device = device,
                                      .cache = MC_CACHE_OFF,
                                      .tuning = MC_TUNING_OFF,
                                      .records = ""};
    diag = mc_diag_create();
    if (worked("context", mc_context_create(&config, &context, diag))) {
        test_plans();
        test_refused();
        test_missing();
        test_workspace();
        if (argc > 1) test_graph();
    }
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return check_end();
}
