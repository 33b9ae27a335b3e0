/* softmax_grad kernels on the simulator against the CPU reference, bit for bit: every V, order and type, row blocks of all lengths, in
 * registers and beyond, special values. And the reference against a gradient in double. softmax_grad_test SPEC PART [DEVICE]: PART of
 * those in `parts`. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "base/real.h"
#include "matrix/random.h"
#include "rows.h"
#include "verify/run.h"

enum { P, GRADIENT, SCALE, C };

/* -- One kernel */

/* Values of which no number comes, at places that differ in both, in every other row block: their products are infinities of either
   sign, of both, and NaN. */
static void spoil(rows_bench *t) {
    static const float values[] = {INFINITY, -INFINITY, NAN, 65504, -65504, 0, 0x1p-24F};
    int64_t count = t->y.rows * t->y.cols;
    for (int64_t i = 0; i < count; i += 37)
        mc_dense_set(&t->y, i / t->y.cols, i % t->y.cols, real_to_bits(t->y.type, values[i / 37 % 7]));
    for (int64_t i = 5; i < count; i += 111)
        mc_dense_set(&t->x, i / t->x.cols, i % t->x.cols, real_to_bits(t->x.type, values[i / 111 % 7]));
}

static mc_status make_operand(rows_bench *t, size_t operand, uint64_t seed, mc_dense *x) {
    mc_dense shape;
    mc_status status = operand_whole_shape(&t->problem, &t->op->operands[operand], &t->mask, &shape, t->diag);
    if (status == MC_OK) status = mc_dense_create(shape.type, shape.rows, shape.cols, shape.ld, x, t->diag);
    if (status == MC_OK) mc_dense_fill(x, t->law, seed);
    return status;
}

/* P as a softmax writes it: from 0 to 1. */
static void make_probabilities(mc_dense *p) {
    mcrt_random random = random_start(11, 0);
    for (int64_t i = 0; i < p->rows * p->cols; i++) {
        float x = (float)(random_next(&random) >> 40) * 0x1p-24F;
        mc_dense_set(p, i / p->cols, i % p->cols, real_to_bits(p->type, x * x * x));
    }
}

static mc_status make_operands(rows_bench *t) {
    mc_status status = make_operand(t, P, 7, &t->x);
    if (status == MC_OK) status = make_operand(t, GRADIENT, 8, &t->y);
    if (status != MC_OK) return status;
    t->scale = t->own_scale != NULL ? *t->own_scale : -0.75F;
    if (t->law == MC_VALUES_FULL && !t->special) make_probabilities(&t->x);
    if (t->special) spoil(t);
    return MC_OK;
}

static mc_status run_kernel(rows_bench *t) {
    mc_dense c = {0}, others[MAX_OPERANDS] = {{0}};
    plan_problem whole;
    reference_result want = {0};
    mc_run run = {.others = others, .operands = {.problem = &whole, .matrix = &t->mask}};
    unsigned align = (unsigned)mc_kernel_field(t->kernel, "align");
    mc_status status = make_operands(t);
    run.operands.inputs[P] = &t->x, run.operands.inputs[GRADIENT] = &t->y;
    if (t->problem.scale != MC_PER_NONE) run.operands.factors[SCALE] = &t->scale;
    if (align < 16) run.offsets[P] = run.offsets[GRADIENT] = run.offsets[C] = 4;
    if (align < 4 && mc_type_bytes(t->problem.lhs) == 2) run.offsets[P] = 2;
    if (align < 4 && mc_type_bytes(t->problem.rhs) == 2) run.offsets[GRADIENT] = 2;
    if (align < 4) run.offsets[C] = (unsigned)mc_type_bytes(t->problem.out);
    if (status == MC_OK) status = plan_problem_measure(t->kernel, &run.operands, 0, &whole, t->diag);
    if (status == MC_OK) status = mc_operator_run(t->device, t->kernel, NULL, &run, NULL, &c, t->diag);
    if (status == MC_OK) status = operator_expect(t->op, &run.operands, &want, t->diag);
    if (status == MC_OK) status = mc_result_compare(&c, &want, t->diag);
    mc_result_free(&want);
    mc_dense_free(&c), mc_dense_free(&t->x), mc_dense_free(&t->y);
    return status;
}

/* -- Many */

#define EVERY_REAL                                                                                           \
    { "f16", "bf16", "f32" }

static void types(rows_bench *t, const char *spec) {
    static const choice all[] = {
        EVERY_VEC,           EVERY_ORDER,      {"lhs", EVERY_REAL}, {"rhs", EVERY_REAL},
        {"out", EVERY_REAL}, {"warps", {"4"}}, {"hold", {"2"}},     {"scale", {"tensor", "none"}}};
    TRY(t, spec, 1, all);
}

/* How the work is divided: the bits stay the same. */
static void schedules(rows_bench *t, const char *spec) {
    static const choice few[] = {EVERY_VEC,
                                 EVERY_ORDER,
                                 {"warps", {"1"}},
                                 {"hold", {"4", "8"}},
                                 {"lhs", {"f16", "f32"}},
                                 {"rhs", {"f16", "f32"}}};
    static const choice many[] = {
        EVERY_VEC, EVERY_ORDER, {"warps", {"8", "2", "16"}}, {"hold", {"2", "1"}}, {"rhs", {"f16", "f32"}}};
    static const choice units[] = {
        EVERY_VEC, EVERY_ORDER, {"warps", {"4", "1"}}, {"hold", {"16", "8"}}, {"unit", {"4", "8"}}};
    static const choice vectors[] = {
        EVERY_VEC, {"warps", {"1", "2"}}, {"hold", {"1", "2"}}, {"lhs", {"f32", "bf16"}}};
    rows_bench longer = *t;
    rows_make_long(&longer);
    TRY(t, spec, 1, few);
    TRY(&longer, spec, 3, few);
    TRY(t, spec, 1, units);
    TRY(&longer, spec, 3, units);
    TRY(t, spec, 2, many);
    TRY(&longer, spec, 5, many);
    TRY(&longer, spec, 1, vectors);
    longer.law = MC_VALUES_ONES; /* of which sums leave 32 bits */
    TRY(&longer, spec, 5, few);
    TRY(&longer, spec, 1, vectors);
}

/* Addresses that are promised to be multiples of less than 16 bytes. */
static void addresses(rows_bench *t, const char *spec) {
    static const choice all[] = {EVERY_VEC,
                                 EVERY_ORDER,
                                 {"align", {"1", "4"}},
                                 {"lhs", {"f16", "f32"}},
                                 {"rhs", {"bf16", "f32"}},
                                 {"out", {"f16", "f32"}},
                                 {"warps", {"16"}},
                                 {"hold", {"2"}}};
    TRY(t, spec, 1, all);
}

/* Infinities and NaN, in row blocks that are held and in longer ones; sums that leave f32, and terms too small for their unit. */
static void special(rows_bench *t, const char *spec) {
    static const choice all[] = {EVERY_VEC,
                                 EVERY_ORDER,
                                 {"lhs", EVERY_REAL},
                                 {"rhs", EVERY_REAL},
                                 {"out", {"f32", "f16"}},
                                 {"warps", {"4"}},
                                 {"hold", {"2", "4"}}};
    static const choice few[] = {
        EVERY_VEC, EVERY_ORDER, {"out", {"f32"}}, {"lhs", {"f32"}}, {"rhs", {"f32"}}};
    static const float scales[] = {0, -0.0F, 3e38F, INFINITY, NAN, 0x1p-140F};
    rows_bench spoilt = *t, longer;
    spoilt.special = true;
    longer = spoilt;
    rows_make_long(&longer);
    TRY(&spoilt, spec, 1, all);
    TRY(&longer, spec, 5, all);
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        spoilt.own_scale = &scales[i];
        TRY(&spoilt, spec, 2, few);
    }
}

/* Several rows a warp; longer ones are all threads'. */
static void teams(rows_bench *t, const char *spec) {
    static const choice all[] = {{"vec", {"1"}},
                                 {"order", {"bcrs"}},
                                 {"lhs", {"f32", "f16", "bf16"}},
                                 {"rhs", {"f16", "f32"}},
                                 {"out", {"f32", "bf16"}},
                                 {"scale", {"none", "tensor"}},
                                 {"rows_per_warp", {"2", "4", "8"}},
                                 {"warps", {"4", "1", "8"}},
                                 {"hold", {"1", "4", "16"}}};
    rows_bench graph = *t, special, longer = *t;
    rows_make_short(&graph);
    special = graph, special.special = true;
    rows_make_long(&longer);
    TRY(&graph, spec, 5, all);
    TRY(&special, spec, 7, all);
    TRY(&longer, spec, 7, all);
    TRY(t, spec, 11, all);
}

/* What a team of 16 or 4 lanes just holds, of 16 and of 32 elements a lane, and one more; and nothing. */
static void edges(rows_bench *t, const char *spec) {
    static const choice wide[] = {{"vec", {"1"}},        {"order", {"bcrs"}},      {"lhs", EVERY_REAL},
                                  {"rhs", {"f32"}},      {"out", {"f32"}},         {"align", {"1"}},
                                  {"scale", {"tensor"}}, {"rows_per_warp", {"2"}}, {"warps", {"1", "4"}},
                                  {"hold", {"32", "16"}}};
    static const choice narrow[] = {{"vec", {"1"}},      {"order", {"bcrs"}},      {"lhs", EVERY_REAL},
                                    {"rhs", EVERY_REAL}, {"out", {"f16"}},         {"align", {"1"}},
                                    {"scale", {"none"}}, {"rows_per_warp", {"8"}}, {"warps", {"1", "4"}},
                                    {"hold", {"16"}},    {"m", {"37", "open"}}};
    rows_bench edge = *t;
    for (int e = ROWS_EMPTY; e <= ROWS_BEYOND; e++)
        for (int special = 0; special < 2; special++) {
            edge.special = special;
            rows_make_edges(&edge, (rows_edge)e, 16 * 32);
            TRY(&edge, spec, 3, wide);
            rows_make_edges(&edge, (rows_edge)e, 4 * 16);
            TRY(&edge, spec, 5, narrow);
        }
    edge.law = MC_VALUES_ONES;
    rows_make_edges(&edge, ROWS_AT, 16 * 32);
    TRY(&edge, spec, 1, wide);
}

/* -- The reference itself */

typedef struct row_case {
    float p[4], d[4];
    int count;
    float want[4];
} row_case;

static const row_case cases[] = {
    {{.5F, .5F}, {1, 3}, 2, {-.5F, .5F}},
    {{1}, {7}, 1, {0}},
    {{.25F, .25F, .25F, .25F}, {1, 1, 1, 1}, 4, {0, 0, 0, 0}},
    {{0, 1}, {1e30F, 5}, 2, {0, 0}},
    {{.5F, .5F}, {INFINITY, 1}, 2, {NAN, -INFINITY}},
    {{.5F, .5F}, {-INFINITY, 1}, 2, {NAN, INFINITY}},
    {{.5F, .5F, .5F}, {-INFINITY, INFINITY, 1}, 3, {NAN, NAN, NAN}},
    {{0, .5F}, {INFINITY, 1}, 2, {NAN, NAN}},
    {{.5F, .5F}, {NAN, 1}, 2, {NAN, NAN}},
    {{1, 1, 1}, {3e38F, 3e38F, 1}, 3, {-INFINITY, -INFINITY, -INFINITY}},
    {{1, 1}, {0x1p-140F, -0x1p-140F}, 2, {0x1p-140F, -0x1p-140F}},
    {{0}, {0}, 0, {0}},
};

/* A row of COUNT elements; free what it makes. */
static mc_status expect_row(rows_bench *t, const float *p, const float *d, int count,
                            reference_result *want) {
    plan_problem problem = {.op = MC_OP_SOFTMAX_GRAD,
                            .lhs = MC_F32,
                            .rhs = MC_F32,
                            .out = MC_F32,
                            .vec = 1,
                            .m = 1,
                            .n = ROWS_COLUMNS};
    t->op = operator_of(problem.op), t->problem = problem;
    t->lengths = &count, t->blocks = 1;
    mc_status status = rows_make_mask(t, 1);
    if (status == MC_OK) status = make_operand(t, P, 1, &t->x);
    if (status == MC_OK) status = make_operand(t, GRADIENT, 1, &t->y);
    if (status == MC_OK && count > 0) {
        memcpy(t->x.data, p, (size_t)count * sizeof *p);
        memcpy(t->y.data, d, (size_t)count * sizeof *d);
    }
    const host_operands operands = {
        .problem = &problem, .matrix = &t->mask, .inputs[P] = &t->x, .inputs[GRADIENT] = &t->y};
    if (status == MC_OK) status = operator_expect(t->op, &operands, want, t->diag);
    mc_dense_free(&t->x), mc_dense_free(&t->y), mc_vsparse_free(&t->mask);
    return status;
}

static bool is_same(float got, float want) { return isnan(want) ? isnan(got) : got == want; }

static void check_row(rows_bench *t, const row_case *of) {
    reference_result got = {0};
    mc_status status = expect_row(t, of->p, of->d, of->count, &got);
    CHECK(status == MC_OK, "row %d: %s", (int)(of - cases), mc_diag_text(t->diag));
    for (int i = 0; status == MC_OK && i < of->count; i++)
        CHECK(is_same(((float *)got.low.data)[i], of->want[i]), "row %d, element %d: %.9g, not %.9g",
              (int)(of - cases), i, (double)((float *)got.low.data)[i], (double)of->want[i]);
    mc_result_free(&got);
}

/* The greatest part of its bound of docs/softmax.md that any element of COUNT random ones, in which P falls off by FALL, is off. */
static double worst_of(rows_bench *t, int count, float fall, uint64_t seed) {
    static float p[1000], d[1000];
    double sum = 0, all = 0, most = 0, worst = 0;
    mcrt_random random = random_start(seed, 0);
    reference_result got = {0};
    for (int i = 0; i < count; i++) {
        p[i] = expf(-fall * (float)(random_next(&random) >> 40) * 0x1p-24F) / (float)count;
        d[i] = (float)(random_next(&random) >> 40) * 0x1p-24F - .5F;
        double term = (double)p[i] * d[i];
        sum += term, all += fabs(term), most = fmax(most, fabs(term));
    }
    if (expect_row(t, p, d, count, &got) != MC_OK) return INFINITY;
    double off_sum = count * 0x1p-22 * fmax(most, 0x1p-105) + 0x1p-24 * (all + fabs(sum));
    for (int i = 0; i < count; i++) {
        double want = p[i] * (d[i] - sum), off = fabs(((float *)got.low.data)[i] - want);
        worst = fmax(worst, (off - 0x1p-149) / (0x1p-22 * fabs(want) + p[i] * off_sum));
    }
    mc_result_free(&got);
    return worst;
}

static void reference(rows_bench *t, const char *spec) {
    static const float falls[] = {0, 1, 10, 60};
    (void)spec;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_row(t, &cases[i]);
    for (int count = 1; count <= 1000; count *= 10)
        for (size_t i = 0; i < sizeof falls / sizeof *falls; i++) {
            double part = worst_of(t, count, falls[i], i);
            CHECK(part <= 1, "%d elements that fall by %g: %g of the bound", count, (double)falls[i], part);
        }
}

static const rows_part parts[] = {{"types", types},         {"teams", teams},     {"schedules", schedules},
                                  {"addresses", addresses}, {"special", special}, {"reference", reference},
                                  {"edges", edges}};

int main(int argc, char **argv) {
    int failed = rows_main(argc, argv, run_kernel, parts, sizeof parts / sizeof *parts);
    return check_end() | failed;
}
