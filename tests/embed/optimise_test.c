/* Steps of an optimiser by the C interface: one after another on the same operands, each with its row of numbers,
 * as a training has them; and in a captured graph, on a driver that is the simulator. optimise_test [DEVICE] */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/real.h"
#include "check.h"
#include "context/context.h"
#include "device/cuda_driver.h"
#include "mcrt_internal.h"

enum { G, HYPER, MASTER, FIRST, SECOND, W, OPERANDS };
enum { VECTORS = 67, VEC = 8, STEPS = 4 };

static mc_diag *diag;
static mc_context *context;

static bool worked(const char *what, mc_status status) {
    CHECK(status == MC_OK, "%s: %s", what, mc_diag_text(diag));
    mc_diag_clear(diag);
    return status == MC_OK;
}

/* -- A training */

typedef struct training {
    plan_problem problem;
    const mc_operator *op;
    mc_plan *plan;
    mc_dense operands[OPERANDS]; /* as they must be on the device; no data: there is none */
    float hyper[STEPS][MC_HYPERS];
    mc_address at[OPERANDS];
} training;

static mc_address upload(const void *data, size_t bytes) {
    mc_address address = 0;
    if (worked("memory", mc_memory_create(context, bytes, &address, diag)))
        (void)worked("write", mc_memory_write(context, address, data, bytes, diag));
    return address;
}

static size_t bytes_of(const mc_dense *dense) {
    return (size_t)mc_type_size(dense->type, dense->rows * dense->cols);
}

static void make_operand(training *t, size_t i) {
    const operand_row *operand = &t->op->operands[i];
    mc_dense *made = &t->operands[i];
    if (!operand_is_there(&t->problem, operand)) return;
    mc_type type = operand_element(&t->problem, operand);
    if (!worked("operand", mc_dense_create(type, VECTORS, VEC, VEC, made, diag))) return;
    operand_fill(operand, made, i);
    t->at[i] = upload(made->data, bytes_of(made));
}

/* The loss scale is halved on the way, and the learning rate falls. */
static void make_hyper(training *t) {
    const double beta1 = 0.9, beta2 = 0.99;
    for (int i = 0; i < STEPS; i++) {
        const float row[MC_HYPERS] = {[MC_HYPER_RATE] = 0.125F / (float)(i + 1),
                                      [MC_HYPER_DECAY] = 0.25F,
                                      [MC_HYPER_UNSCALE] = i < 2 ? 0x1p-4F : 0x1p-3F,
                                      [MC_HYPER_MOMENTUM] = (float)beta1,
                                      [MC_HYPER_BETA2] = (float)beta2,
                                      [MC_HYPER_EPSILON] = 1e-6F,
                                      [MC_HYPER_CORRECT1] = (float)(1 / (1 - pow(beta1, i + 1))),
                                      [MC_HYPER_CORRECT2] = (float)(1 / (1 - pow(beta2, i + 1)))};
        memcpy(t->hyper[i], row, sizeof row);
    }
    t->at[HYPER] = upload(t->hyper, sizeof t->hyper);
}

static void open_training(training *t, mc_plan_config config) {
    *t = (training){.op = operator_of(MC_OP_OPTIMISE)};
    config.size = sizeof config, config.op = MC_OP_OPTIMISE, config.m = VECTORS, config.n = VEC;
    (void)worked("problem", plan_problem_of(&config, NULL, &t->problem, diag));
    (void)worked("plan", mc_plan_create(context, &config, &t->plan, diag));
    for (size_t i = 0; i < OPERANDS; i++)
        if (i != HYPER) make_operand(t, i);
    make_hyper(t);
}

static void close_training(training *t) {
    for (size_t i = 0; i < OPERANDS; i++) {
        mc_memory_destroy(context, t->at[i]);
        mc_dense_free(&t->operands[i]);
    }
    mc_plan_destroy(t->plan);
}

static mc_status launch(const training *t, mc_address hyper, void *stream) {
    mc_argument list[OPERANDS];
    for (size_t i = 0; i < OPERANDS; i++)
        list[i] = (mc_argument){.name = t->op->operands[i].name, .address = i == HYPER ? hyper : t->at[i]};
    const mc_args args = {.size = sizeof args, .list = list, .list_count = OPERANDS};
    return mc_execute(t->plan, &args, 0, stream, diag);
}

/* Step I by the reference: what is in place goes on from there. */
static void expect_step(training *t, int i) {
    reference_result made[OPERANDS] = {0};
    host_operands operands = {.problem = &t->problem, .factors[HYPER] = t->hyper[i]};
    for (size_t k = 0; k < OPERANDS; k++) operands.inputs[k] = &t->operands[k];
    (void)worked("weight", operator_expect(t->op, &operands, &made[W], diag));
    for (size_t k = 0; k < W; k++)
        if (operand_is_other(&t->problem, &t->op->operands[k]))
            (void)worked("other", operator_expect_other(t->op, &operands, k, &made[k], diag));
    for (size_t k = 0; k < OPERANDS; k++) {
        if (made[k].low.data == NULL) continue;
        mc_dense_free(&t->operands[k]);
        t->operands[k] = made[k].low;
    }
}

static void check_operands(const training *t, int i) {
    for (size_t k = 0; k < OPERANDS; k++) {
        const mc_dense *want = &t->operands[k];
        mc_dense got;
        if (want->data == NULL || !worked("got", mc_dense_create(want->type, VECTORS, VEC, VEC, &got, diag)))
            continue;
        (void)worked("read", mc_memory_read(context, t->at[k], got.data, bytes_of(&got), diag));
        mc_status status = mc_dense_compare_named(t->op->operands[k].name, &got, want, diag);
        CHECK(status == MC_OK, "step %d: %s", i, mc_diag_text(diag));
        mc_diag_clear(diag);
        mc_dense_free(&got);
    }
}

static void test_training(mc_plan_config config) {
    training t;
    open_training(&t, config);
    for (int i = 0; i < STEPS; i++) {
        (void)worked("step", launch(&t, t.at[HYPER] + (mc_address)i * sizeof t.hyper[0], NULL));
        expect_step(&t, i);
        check_operands(&t, i);
    }
    close_training(&t);
}

/* -- In a graph. The driver that is the simulator runs what it captures, and replays nothing: what is seen is
   that it can be captured, reads its numbers from the address that it was given, and is right. */

static void test_graph(void) {
    training t;
    const cuda_driver *driver = NULL;
    const char *why = "";
    context_visit visit;
    cuda_stream stream = NULL;
    cuda_graph graph = NULL;
    cuda_graph_exec exec = NULL;
    CHECK(cuda_driver_get(&driver, &why) == CUDA_READY, "%s", why);
    if (driver == NULL) return;
    open_training(&t, (mc_plan_config){.a = MC_F16, .c = MC_F16, .rule = MC_RULE_ADAMW, .master = true});
    (void)worked("enter", context_enter(context, &visit, diag));
    (void)worked("stream", CUDA_CALL(driver, diag, StreamCreate, &stream, 1));
    (void)worked("numbers", mc_memory_write(context, t.at[HYPER], t.hyper[2], sizeof t.hyper[2], diag));
    (void)worked("capture", CUDA_CALL(driver, diag, StreamBeginCapture, stream, 0));
    (void)worked("step", launch(&t, t.at[HYPER], stream));
    (void)worked("end", CUDA_CALL(driver, diag, StreamEndCapture, stream, &graph));
    (void)worked("graph", CUDA_CALL(driver, diag, GraphInstantiateWithFlags, &exec, graph, 0));
    (void)worked("replay", CUDA_CALL(driver, diag, GraphLaunch, exec, stream));
    (void)worked("wait", mc_synchronize(context, stream, diag));
    (void)worked("graph", CUDA_CALL(driver, diag, GraphExecDestroy, exec));
    (void)worked("graph", CUDA_CALL(driver, diag, GraphDestroy, graph));
    (void)worked("stream", CUDA_CALL(driver, diag, StreamDestroy, stream));
    context_leave(context, &visit);
    expect_step(&t, 2);
    check_operands(&t, 2);
    close_training(&t);
}

/* -- What makes no sense */

static void refuse(mc_plan_config config, mc_status want, const char *text) {
    mc_plan *plan = NULL;
    config.size = sizeof config, config.m = 2, config.n = VEC;
    if (config.op == 0) config.op = MC_OP_OPTIMISE;
    CHECK(mc_plan_create(context, &config, &plan, diag) == want, "%s", mc_diag_text(diag));
    CHECK_TEXT(mc_diag_text(diag), text);
    mc_diag_clear(diag);
    mc_plan_destroy(plan);
}

static void refuse_execution(void) {
    training t;
    open_training(&t, (mc_plan_config){.a = MC_F16, .c = MC_F16, .rule = MC_RULE_ADAM});
    const struct {
        size_t operand;
        mc_address address;
        const char *text;
    } rows[] = {{SECOND, 0, "second is missing"},
                {HYPER, 0, "hyper is missing"},
                {HYPER, 4, "hyper lies at 0x4, which is not a multiple of 16 bytes"},
                {FIRST, 8, "first lies at 0x8, which is not a multiple of 16 bytes"},
                {G, 0, "g is missing"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mc_address kept = t.at[rows[i].operand];
        t.at[rows[i].operand] = rows[i].address;
        CHECK(launch(&t, t.at[HYPER], NULL) == MC_CANNOT, "%s", rows[i].text);
        CHECK_TEXT(mc_diag_text(diag), rows[i].text);
        mc_diag_clear(diag);
        t.at[rows[i].operand] = kept;
    }
    check_operands(&t, 0);
    close_training(&t);
}

static void test_refusals(void) {
    refuse((mc_plan_config){.a = MC_S8, .c = MC_F16}, MC_CANNOT, "a is s8, gradients are f16, bf16 or f32");
    refuse((mc_plan_config){.a = MC_F16, .c = MC_S32}, MC_CANNOT, "c is s32, weights are f16, bf16 or f32");
    refuse((mc_plan_config){.a = MC_F16, .c = MC_F32, .master = true}, MC_USAGE, "its own master");
    refuse((mc_plan_config){.a = MC_F16, .c = MC_F16, .rule = (mc_rule)9}, MC_USAGE, "rule is 9");
    refuse((mc_plan_config){.a = MC_F16, .c = MC_F16, .lda = 8}, MC_USAGE, "lda is set, which an optimise");
    refuse((mc_plan_config){.op = MC_OP_QUANTISE, .a = MC_F16, .c = MC_F16, .rule = MC_RULE_ADAM}, MC_USAGE,
           "rule is set, which only an optimise has");
}

/* Nothing is launched, whatever the addresses. */
static void test_nothing(void) {
    const mc_plan_config config = {
        .size = sizeof config, .op = MC_OP_OPTIMISE, .a = MC_F16, .c = MC_F16, .m = 0, .n = VEC};
    mc_plan *plan = NULL;
    if (worked("plan", mc_plan_create(context, &config, &plan, diag)))
        (void)worked("execute", mc_execute(plan, &(mc_args){.size = sizeof(mc_args)}, 0, NULL, diag));
    mc_plan_destroy(plan);
}

int main(int argc, char **argv) {
    const mc_context_config config = {.size = sizeof config,
                                      .device = argc > 1 ? argv[1] : "sim",
                                      .cache = MC_CACHE_OFF,
                                      .tuning = MC_TUNING_OFF,
                                      .records = ""};
    diag = mc_diag_create();
    if (worked("mc_context_create", mc_context_create(&config, &context, diag))) {
        test_training((mc_plan_config){.a = MC_F16, .c = MC_F16, .rule = MC_RULE_ADAMW, .master = true});
        test_training((mc_plan_config){.a = MC_F32, .c = MC_BF16, .rule = MC_RULE_ADAM});
        test_training((mc_plan_config){.a = MC_BF16, .c = MC_F32, .rule = MC_RULE_NESTEROV});
        test_training((mc_plan_config){.a = MC_F16, .c = MC_F16, .shapes = MC_SHAPES_OPEN, .align = 4});
        test_refusals();
        refuse_execution();
        test_nothing();
        if (argc > 1) test_graph();
    }
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return check_end();
}
