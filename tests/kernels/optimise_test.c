/* Kernels of an optimiser's step on the simulator against the CPU reference, bit for bit: rules, types, masters,
 * numbers of elements, addresses, values, orders of warps; weight, master and moments, all in place.
 * optimise_test SPEC PART of those in `parts`. */
#include <math.h>
#include <stdlib.h>
#include "check.h"
#include "choices.h"
#include "base/real.h"
#include "mcrt_internal.h"
#include "verify/run.h"

enum { G, HYPER, MASTER, FIRST, SECOND, W, OPERANDS };

/* -- Problems: sizes, a value law, and the elements that each operand lies past a boundary */

typedef struct shape {
    int64_t m, n;
    mc_value_law law;
    unsigned offset;
} shape;

/* Of 2 multiprocessors with thread blocks of 128 threads and up: less than a unit, a turn that is cut anywhere, many turns. */
static const shape shapes[] = {
    {1, 1, MC_VALUES_FULL, 0},    {1, 3, MC_VALUES_EXTREME, 0}, {1, 4, MC_VALUES_FULL, 0},
    {7, 1, MC_VALUES_EXTREME, 0}, {3, 3, MC_VALUES_FULL, 0},    {16, 1, MC_VALUES_ONES, 0},
    {129, 8, MC_VALUES_FULL, 0},  {1, 1023, MC_VALUES_FULL, 0}, {1, 1025, MC_VALUES_EXTREME, 0},
    {37, 111, MC_VALUES_FULL, 0}, {2, 8192, MC_VALUES_FULL, 0}, {16391, 1, MC_VALUES_FULL, 0},
    {4099, 8, MC_VALUES_FULL, 0}, {1, 5, MC_VALUES_FULL, 1},    {9, 131, MC_VALUES_FULL, 1},
    {300, 8, MC_VALUES_FULL, 2},  {1, 4096, MC_VALUES_FULL, 4}, {0, 8, MC_VALUES_FULL, 0},
    {8, 0, MC_VALUES_FULL, 0},
};

typedef struct bench {
    mc_device *device;
    mc_kernel *kernel;
    const mc_operator *op;
    plan_problem problem;
    mc_dense inputs[OPERANDS];
    float hyper[MC_HYPERS];
    mc_diag *diag;
    const char *spec, *text; /* text: of the settings at hand */
} bench;

/* What the step may meet: of extreme ones moments of an infinity, a NaN, a subnormal number, below zero. */
static mc_status make_input(bench *t, const shape *s, size_t i) {
    const operand_row *operand = &t->op->operands[i];
    mc_dense *made = &t->inputs[i];
    if (!operand_is_there(&t->problem, operand)) return MC_OK;
    mc_status status =
        mc_dense_create(operand_element(&t->problem, operand), s->m, s->n, s->n, made, t->diag);
    if (status == MC_OK && s->law == MC_VALUES_FULL) operand_fill(operand, made, 1 + i);
    else if (status == MC_OK) mc_dense_fill(made, s->law, 1 + i);
    return status;
}

static mc_status make_operands(bench *t, const shape *s) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < OPERANDS && status == MC_OK; i++)
        if (i != HYPER) status = make_input(t, s, i);
    t->op->operands[HYPER].fill(t->hyper, MC_HYPERS, s->law, (uint64_t)(s->m + s->n));
    return status;
}

static host_operands operands_of(const bench *t, const plan_problem *whole) {
    static const mc_vsparse no_matrix;
    host_operands operands = {.problem = whole, .matrix = &no_matrix, .factors[HYPER] = t->hyper};
    for (size_t i = 0; i < OPERANDS; i++) operands.inputs[i] = &t->inputs[i];
    return operands;
}

static mc_status compare(bench *t, const host_operands *operands, const mc_dense *w, const mc_dense *others) {
    reference_result want;
    mc_status status = operator_expect(t->op, operands, &want, t->diag);
    if (status == MC_OK) status = mc_result_compare_named("W", w, &want, t->diag);
    mc_result_free(&want);
    for (size_t i = 0; i < OPERANDS && status == MC_OK && w->rows * w->cols > 0; i++) {
        reference_result other = {0};
        if (!operand_is_other(operands->problem, &t->op->operands[i])) continue;
        status = operator_expect_other(t->op, operands, i, &other, t->diag);
        if (status == MC_OK)
            status = mc_result_compare_named(t->op->operands[i].name, &others[i], &other, t->diag);
        mc_result_free(&other);
    }
    return status;
}

static void free_operands(bench *t) {
    for (size_t i = 0; i < OPERANDS; i++) mc_dense_free(&t->inputs[i]);
}

/* Two launches, of which the second begins with the same operands. */
static mc_status try_shape(bench *t, const shape *s, const char *ptx) {
    mc_dense w = {0}, others[MAX_OPERANDS] = {{0}};
    plan_problem whole;
    mc_run run = {.others = others, .repeats = 1};
    mc_status status = make_operands(t, s);
    run.operands = operands_of(t, &whole);
    for (size_t i = 0; i < OPERANDS; i++)
        if (i != HYPER)
            run.offsets[i] =
                (unsigned)mc_type_size(operand_element(&t->problem, &t->op->operands[i]), s->offset);
    if (status == MC_OK) status = plan_problem_measure(t->kernel, &run.operands, 0, &whole, t->diag);
    if (status == MC_OK) status = mc_operator_run(t->device, t->kernel, ptx, &run, NULL, &w, t->diag);
    if (status == MC_OK) status = compare(t, &run.operands, &w, others);
    mc_dense_free(&w);
    for (int i = 0; i < MAX_OPERANDS; i++) mc_dense_free(&others[i]);
    free_operands(t);
    return status;
}

/* -- Kernels */

/* Whether an operand of S does not lie where the kernel is promised it does. */
static bool is_refused(const bench *t, const shape *s) {
    int64_t align = mc_kernel_field(t->kernel, "align");
    for (size_t i = 0; i < OPERANDS; i++) {
        const operand_row *operand = &t->op->operands[i];
        if (i == HYPER || !operand_is_there(&t->problem, operand) || s->m * s->n == 0) continue;
        if (mc_type_size(operand_element(&t->problem, operand), s->offset) % align != 0) return true;
    }
    return false;
}

static void try_shapes(bench *t) {
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        mc_diag_clear(t->diag);
        mc_status status = try_shape(t, &shapes[i], NULL);
        CHECK(status == (is_refused(t, &shapes[i]) ? MC_CANNOT : MC_OK), "%s, shape %zu (%d x %d): %s",
              t->text, i, (int)shapes[i].m, (int)shapes[i].n, mc_diag_text(t->diag));
    }
}

static bool open_kernel(bench *t, const mc_setting *settings, size_t count) {
    mc_diag_clear(t->diag);
    t->kernel = choices_kernel(t->spec, settings, count, t->diag);
    CHECK(t->kernel != NULL, "%s: %s", t->text, mc_diag_text(t->diag));
    if (t->kernel == NULL || plan_problem_read(t->kernel, &t->problem, t->diag) != MC_OK) return false;
    t->op = operator_of(t->problem.op);
    return true;
}

static void try_kernel(void *user, const char *text, const mc_setting *settings, size_t count) {
    bench *t = user;
    t->text = text;
    if (open_kernel(t, settings, count)) try_shapes(t);
    mc_kernel_destroy(t->kernel);
    t->text = "";
}

#define TRY(t, choices) choices_try_all(choices, sizeof(choices) / sizeof *(choices), 1, try_kernel, t)

static void types(bench *t) {
    static const choice all[] = {{"rule", {"sgd", "nesterov", "adam", "adamw"}},
                                 {"lhs", {"f16", "bf16", "f32"}},
                                 {"out", {"f16", "bf16"}},
                                 {"master", {"off", "on"}},
                                 {"warps", {"4"}},
                                 {"blocks", {"2"}},
                                 {"hold", {"2"}},
                                 {"unit", {"4"}},
                                 {"arch", {"sm_80"}}};
    static const choice f32[] = {{"rule", {"sgd", "nesterov", "adam", "adamw"}},
                                 {"lhs", {"f16", "bf16", "f32"}},
                                 {"out", {"f32"}},
                                 {"master", {"off"}},
                                 {"warps", {"4"}},
                                 {"blocks", {"1"}},
                                 {"hold", {"1"}},
                                 {"arch", {"sm_90"}}};
    TRY(t, all);
    TRY(t, f32);
}

static void turns(bench *t) {
    static const choice all[] = {
        {"unit", {"4", "8"}}, {"hold", {"1", "2", "4"}},  {"warps", {"4", "8"}}, {"blocks", {"1", "8"}},
        {"master", {"on"}},   {"rule", {"adamw", "sgd"}}, {"arch", {"sm_80"}}};
    static const choice halves[] = {{"unit", {"8"}},         {"hold", {"4"}},        {"master", {"off"}},
                                    {"warps", {"4"}},        {"rule", {"nesterov"}}, {"lhs", {"f32", "bf16"}},
                                    {"out", {"bf16", "f32"}}};
    TRY(t, all);
    TRY(t, halves);
}

static void addresses(bench *t) {
    static const choice all[] = {{"align", {"1", "4"}},    {"unit", {"4", "8"}},      {"hold", {"1", "2"}},
                                 {"lhs", {"f16", "f32"}},  {"rule", {"adam", "sgd"}}, {"out", {"bf16"}},
                                 {"master", {"off", "on"}}};
    TRY(t, all);
}

/* In other orders of warps and thread blocks. */
static void schedules(bench *t) {
    static const char *const devices[] = {"sim:reversed", "sim:seed=1", "sim:seed=77"};
    static const choice all[] = {{"rule", {"adamw", "nesterov"}},
                                 {"master", {"on", "off"}},
                                 {"hold", {"2"}},
                                 {"unit", {"4", "8"}},
                                 {"align", {"16", "1"}}};
    mc_device *first = t->device;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        mc_status status = mc_device_open(devices[i], &t->device, t->diag);
        CHECK(status == MC_OK, "%s: %s", devices[i], mc_diag_text(t->diag));
        if (status == MC_OK) TRY(t, all);
        if (status == MC_OK) mc_device_close(t->device);
    }
    t->device = first;
}

/* -- The reference itself: against steps in double, and where its order can be seen */

static void check_near(const char *what, double got, double want, double bound) {
    CHECK(fabs(got - want) <= bound * fabs(want), "%s is %.9g, in double %.9g", what, got, want);
}

typedef struct exact_step {
    double w, first, second;
} exact_step;

static exact_step step_exactly(mc_rule rule, const float *h, double g, double w, double first,
                               double second) {
    double rate = h[MC_HYPER_RATE], decay = h[MC_HYPER_DECAY], momentum = h[MC_HYPER_MOMENTUM],
           beta2 = h[MC_HYPER_BETA2];
    exact_step x = {.second = second};
    g *= h[MC_HYPER_UNSCALE];
    if (rule != MC_RULE_ADAMW) g += decay * w;
    else w -= rate * decay * w;
    if (rule < MC_RULE_ADAM) {
        x.first = momentum * first + g;
        x.w = w - rate * (rule == MC_RULE_NESTEROV ? g + momentum * x.first : x.first);
        return x;
    }
    x.first = momentum * first + (1 - momentum) * g;
    x.second = beta2 * second + (1 - beta2) * g * g;
    x.w = w - rate * x.first * h[MC_HYPER_CORRECT1] /
                  (sqrt(x.second * h[MC_HYPER_CORRECT2]) + h[MC_HYPER_EPSILON]);
    return x;
}

static float only(const reference_result *r) { return ((const float *)r->low.data)[0]; }

static void check_rule(bench *t, mc_rule rule, float g, float w, float first, float second) {
    float values[OPERANDS] = {[G] = g, [W] = w, [FIRST] = first, [SECOND] = second};
    reference_result want[OPERANDS] = {0};
    t->op = operator_of(MC_OP_OPTIMISE);
    plan_problem p = {.op = MC_OP_OPTIMISE, .lhs = MC_F32, .out = MC_F32, .rule = rule, .m = 1, .n = 1};
    host_operands operands = {.problem = &p, .factors[HYPER] = t->hyper};
    for (size_t i = 0; i < OPERANDS; i++) {
        t->inputs[i] = (mc_dense){.type = MC_F32, .rows = 1, .cols = 1, .ld = 1, .data = &values[i]};
        operands.inputs[i] = &t->inputs[i];
    }
    t->op->operands[HYPER].fill(t->hyper, MC_HYPERS, MC_VALUES_FULL, 0);
    const exact_step exact =
        step_exactly(rule, t->hyper, (double)g, (double)w, (double)first, (double)second);
    mc_status status = operator_expect(t->op, &operands, &want[W], t->diag);
    for (size_t i = FIRST; i <= SECOND && status == MC_OK; i++)
        status = operator_expect_other(t->op, &operands, i, &want[i], t->diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(t->diag));
    check_near("the weight", (double)only(&want[W]), exact.w, 0x1p-21);
    check_near("the first moment", (double)only(&want[FIRST]), exact.first, 0x1p-21);
    if (rule >= MC_RULE_ADAM)
        check_near("the second moment", (double)only(&want[SECOND]), exact.second, 0x1p-21);
    for (size_t i = 0; i < OPERANDS; i++) mc_result_free(&want[i]), t->inputs[i] = (mc_dense){0};
}

static void reference(bench *t) {
    static const float gradients[] = {1, -0.3F, 1e-6F, 700, 0.001F};
    for (mc_rule rule = MC_RULE_SGD; rule <= MC_RULE_ADAMW; rule++)
        for (size_t i = 0; i < sizeof gradients / sizeof *gradients; i++)
            check_rule(t, rule, gradients[i], 1.7F, gradients[i] / 3, gradients[i] * gradients[i] / 5);
}

/* -- Planted bugs, each of which some shape must find */

static const struct {
    const char *rule, *master, *from, *to;
} bugs[] = {
    {"adamw", "on", "sqrt.rn.f32", "sqrt.rz.f32"},
    {"adamw", "on", "div.rn.f32", "div.rz.f32"},
    {"adamw", "on", "sub.rn.f32                      %rest2", "add.rn.f32                      %rest2"},
    {"adamw", "on", "st.global.v4.b32                [%second_at]",
     "st.global.v4.b32                [%first_at]"},
    {"sgd", "off", "st.global.v4.b32                [%first_at]",
     "st.global.v4.b32                [%first_at+4]"},
    {"nesterov", "off", "cvt.rn.f16x2.f32", "cvt.rz.f16x2.f32"},
    {"sgd", "off", "add.s64                         %element, %element, %threads",
     "add.s64                         %element, %element, 1"},
};

static char *replaced(const char *ptx, const char *from, const char *to) {
    const char *at = strstr(ptx, from);
    size_t room = strlen(ptx) + strlen(to) + 1;
    char *text = at != NULL ? malloc(room) : NULL;
    if (text != NULL) snprintf(text, room, "%.*s%s%s", (int)(at - ptx), ptx, to, at + strlen(from));
    return text;
}

static bool is_found(bench *t, const char *ptx) {
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        mc_diag_clear(t->diag);
        if (shapes[i].offset == 0 && try_shape(t, &shapes[i], ptx) != MC_OK) return true;
    }
    return false;
}

static void mutations(bench *t) {
    for (size_t i = 0; i < sizeof bugs / sizeof *bugs; i++) {
        const mc_setting settings[] = {{"rule", bugs[i].rule},
                                       {"master", bugs[i].master},
                                       {"warps", "4"},
                                       {"blocks", "1"},
                                       {"align", "4"}};
        if (!open_kernel(t, settings, sizeof settings / sizeof *settings)) continue;
        char *ptx = replaced(mc_kernel_ptx(t->kernel), bugs[i].from, bugs[i].to);
        CHECK(ptx != NULL, "bug %zu: the PTX has no %s", i, bugs[i].from);
        if (ptx != NULL) CHECK(is_found(t, ptx), "bug %zu, %s, is not found", i, bugs[i].to);
        free(ptx);
        mc_kernel_destroy(t->kernel);
    }
}

static const struct {
    const char *name;
    void (*run)(bench *t);
} parts[] = {{"types", types},         {"turns", turns},         {"addresses", addresses},
             {"schedules", schedules}, {"reference", reference}, {"mutations", mutations}};

int main(int argc, char **argv) {
    bench t = {.diag = mc_diag_create(), .text = ""};
    if (argc != 3 || mc_device_open("sim", &t.device, t.diag) != MC_OK) return 2;
    bool found = false;
    t.spec = argv[1];
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !found; i++) {
        found = strcmp(argv[2], parts[i].name) == 0;
        if (found) parts[i].run(&t);
    }
    CHECK(found, "there is no part %s", argv[2]);
    mc_device_close(t.device);
    mc_diag_destroy(t.diag);
    return check_end();
}
