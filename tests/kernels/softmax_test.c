/* Softmax kernels on the simulator against the CPU reference, bit for bit or within its range: every V, order and type, row blocks of all
 * lengths, in registers and beyond, special values, the second output. And the reference against a softmax in double.
 * softmax_test SPEC PART of those in `parts`. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "base/real.h"
#include "matrix/random.h"
#include "rows.h"
#include "verify/run.h"

enum { X, SCALE, C_SCALE, LSE, C };

/* What -infinity in a mask, and values that no number comes of, make of rows. Every other row stays as it is. */
static void spoil(rows_bench *t) {
    static const float values[] = {-INFINITY, INFINITY, NAN, 65504, -65504, 0};
    for (int64_t i = 0; i < t->x.rows * t->x.cols; i += 37) {
        float value = values[i / 37 % 6];
        if (t->x.type != MC_S32)
            mc_dense_set(&t->x, i / t->x.cols, i % t->x.cols, real_to_bits(t->x.type, value));
    }
    float *mask = t->mask.values;
    for (int64_t v = t->mask.row_ptr[1]; v < t->mask.vectors; v++)
        for (int r = 0; r < t->mask.vec; r++)
            if (r == 0 ? v < t->mask.row_ptr[4] : (v + r) % 5 == 0) mask[v * t->mask.vec + r] = -INFINITY;
}

static mc_status make_operands(rows_bench *t) {
    mc_dense shape;
    mc_status status = operand_whole_shape(&t->problem, &t->op->operands[X], &t->mask, &shape, t->diag);
    if (status == MC_OK)
        status = mc_dense_create(shape.type, shape.rows, shape.cols, shape.ld, &t->x, t->diag);
    if (status != MC_OK) return status;
    mc_dense_fill(&t->x, t->law, 7);
    t->scale = t->problem.lhs == MC_S32 ? 0x1.3p-29F : -0.75F;
    if (t->own_scale != NULL) t->scale = *t->own_scale;
    t->c_scale = t->special ? -0x1.1p-20F : 0x1.1p-9F;
    if (t->special) spoil(t);
    return MC_OK;
}

/* -- One kernel */

static mc_status compare(rows_bench *t, const host_operands *operands, const mc_dense *c,
                         const mc_dense *others) {
    reference_result want;
    reference_result lse = {0};
    mc_status status = operator_expect(t->op, operands, &want, t->diag);
    if (status == MC_OK) status = mc_result_compare(c, &want, t->diag);
    mc_result_free(&want);
    if (status != MC_OK || operands->problem->lse == MC_PER_NONE) return status;
    status = operator_expect_other(t->op, operands, LSE, &lse, t->diag);
    if (status == MC_OK) status = mc_result_compare_named("lse", &others[LSE], &lse, t->diag);
    mc_result_free(&lse);
    return status;
}

static mc_status run_kernel(rows_bench *t) {
    mc_dense c = {0}, others[MAX_OPERANDS] = {{0}};
    plan_problem whole;
    mc_run run = {.others = others, .operands = {.problem = &whole, .matrix = &t->mask}};
    unsigned align = (unsigned)mc_kernel_field(t->kernel, "align");
    mc_status status = make_operands(t);
    run.operands.inputs[X] = &t->x;
    if (t->problem.scale != MC_PER_NONE) run.operands.factors[SCALE] = &t->scale;
    if (t->problem.c_scale != MC_PER_NONE) run.operands.factors[C_SCALE] = &t->c_scale;
    if (align < 16) run.offsets[X] = run.offsets[C] = 4;
    if (align < 4 && mc_type_bytes(t->problem.lhs) == 2) run.offsets[X] = 2;
    if (align < 4) run.offsets[C] = (unsigned)mc_type_bytes(t->problem.out);
    if (status == MC_OK) status = plan_problem_measure(t->kernel, &run.operands, 0, &whole, t->diag);
    if (status == MC_OK) status = mc_operator_run(t->device, t->kernel, NULL, &run, NULL, &c, t->diag);
    if (status == MC_OK) status = compare(t, &run.operands, &c, others);
    mc_dense_free(&c);
    for (int i = 0; i < MAX_OPERANDS; i++) mc_dense_free(&others[i]);
    mc_dense_free(&t->x);
    return status;
}

static void types(rows_bench *t, const char *spec) {
    static const choice all[] = {EVERY_VEC,       EVERY_ORDER,          EVERY_IN, EVERY_OUT, {"warps", {"4"}},
                                 {"hold", {"2"}}, {"scale", {"tensor"}}};
    TRY(t, spec, 1, all);
}

/* How the work is divided: the bits stay the same. */
static void schedules(rows_bench *t, const char *spec) {
    static const choice few[] = {EVERY_VEC,
                                 EVERY_ORDER,
                                 {"warps", {"1"}},
                                 {"hold", {"4", "8"}},
                                 {"lhs", {"f16", "s32"}},
                                 {"out", {"u8"}},
                                 {"lse", {"none", "row"}}};
    static const choice many[] = {
        EVERY_VEC,        EVERY_ORDER,      {"warps", {"8", "2"}}, {"hold", {"2", "4"}},
        {"lhs", {"f16"}}, {"out", {"f32"}}, {"lse", {"row"}}};
    static const choice units[] = {EVERY_VEC,
                                   EVERY_ORDER,
                                   {"warps", {"4", "1"}},
                                   {"hold", {"16", "8"}},
                                   {"unit", {"4", "8"}},
                                   {"lhs", {"f16"}},
                                   {"exp", {"approx", "polynomial"}}};
    static const choice vectors[] = {
        EVERY_VEC,        {"warps", {"1", "2"}}, {"hold", {"1", "2"}}, {"lhs", {"f32", "bf16"}},
        {"out", {"s16"}}, {"lse", {"row"}}};
    rows_bench longer = *t;
    rows_make_long(&longer);
    TRY(t, spec, 1, few);
    TRY(&longer, spec, 3, few);
    TRY(t, spec, 1, units);
    TRY(&longer, spec, 3, units);
    TRY(t, spec, 3, many);
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
                                 {"out", {"u8", "f16", "f32"}},
                                 {"warps", {"16"}},
                                 {"hold", {"2"}},
                                 {"mask", {"pattern", "values"}}};
    TRY(t, spec, 1, all);
}

static void factors(rows_bench *t, const char *spec) {
    static const choice all[] = {EVERY_VEC,
                                 EVERY_ORDER,
                                 {"mask", {"pattern", "values"}},
                                 {"scale", {"none", "tensor"}},
                                 {"lse", {"none", "row"}},
                                 {"out", {"f16", "f32"}},
                                 {"lhs", {"f16", "f32", "s32"}},
                                 {"warps", {"4"}}};
    static const choice integers[] = {EVERY_VEC,
                                      {"out", {"s8", "u8", "s16", "u16"}},
                                      {"c_scale", {"tensor"}},
                                      {"order", {"srbcrs32", "bcrs"}},
                                      {"mask", {"values"}},
                                      {"warps", {"4"}}};
    rows_bench special = *t;
    special.special = true;
    TRY(t, spec, 4, all);
    TRY(&special, spec, 3, all);
    TRY(t, spec, 3, integers);
    TRY(&special, spec, 1, integers);
}

/* C of 4 bits: two elements share a byte, which one thread has. With a scale of C's own elements are cut off. */
static void pairs(rows_bench *t, const char *spec) {
    static const choice vectors[] = {
        {"vec", {"2", "4", "8", "16"}}, EVERY_ORDER,           EVERY_IN,
        {"out", {"s4", "u4"}},          {"warps", {"4", "2"}}, {"hold", {"4", "8"}},
        {"scale", {"tensor"}}};
    static const choice ones[] = {{"vec", {"1"}},
                                  {"order", {"srbcrs16", "srbcrs32"}},
                                  EVERY_IN,
                                  {"out", {"s4", "u4"}},
                                  {"warps", {"1", "2"}},
                                  {"hold", {"1", "2"}}};
    static const choice factors[] = {{"vec", {"2", "8", "16"}},         EVERY_ORDER,
                                     {"lhs", {"f16", "s32"}},           {"out", {"s4", "u4"}},
                                     {"c_scale", {"tensor"}},           {"mask", {"values", "pattern"}},
                                     {"exp", {"polynomial", "approx"}}, {"lse", {"row"}}};
    static const choice addresses[] = {{"vec", {"2", "4", "8"}}, EVERY_ORDER,      {"lhs", {"f16", "bf16"}},
                                       {"out", {"s4", "u4"}},    {"align", {"4"}}, {"unit", {"16", "4"}},
                                       {"warps", {"8"}},         {"hold", {"2"}}};
    rows_bench special = *t, longer = *t;
    special.special = true;
    rows_make_long(&longer);
    TRY(t, spec, 1, vectors);
    TRY(&longer, spec, 7, vectors);
    TRY(t, spec, 1, ones);
    TRY(t, spec, 1, factors);
    TRY(&special, spec, 1, factors);
    TRY(t, spec, 1, addresses);
}

/* Exponentials of the hardware: within their range, and the same sums and quotients. */
static void approximate(rows_bench *t, const char *spec) {
    static const choice types[] = {EVERY_VEC,
                                   EVERY_ORDER,
                                   EVERY_IN,
                                   EVERY_OUT,
                                   {"warps", {"4", "1"}},
                                   {"hold", {"2"}},
                                   {"exp", {"approx"}},
                                   {"lse", {"row", "none"}},
                                   {"align", {"16", "1"}}};
    static const choice factors[] = {EVERY_VEC,
                                     EVERY_ORDER,
                                     {"exp", {"approx"}},
                                     {"mask", {"pattern", "values"}},
                                     {"scale", {"none", "tensor"}},
                                     {"lse", {"none", "row"}},
                                     {"out", {"f16", "f32", "u8"}},
                                     {"lhs", {"f16", "bf16", "f32"}},
                                     {"warps", {"4"}},
                                     {"hold", {"1", "2", "4"}}};
    static const float scales[] = {0, -0.0F, 3e38F, INFINITY, NAN, 0x1p-140F, 5, -1e6F};
    static const choice few[] = {
        EVERY_VEC, EVERY_ORDER, {"exp", {"approx"}}, {"lse", {"row"}}, {"lhs", {"f16", "f32"}}};
    rows_bench special = *t, longer = *t;
    special.special = true;
    rows_make_long(&longer);
    TRY(t, spec, 5, types);
    TRY(t, spec, 7, factors);
    TRY(&special, spec, 5, factors);
    TRY(&longer, spec, 31, factors);
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        special.own_scale = &scales[i];
        TRY(&special, spec, 1, few);
    }
}

/* One exchange among the threads of a row block, whose rows are near each other, or far apart. */
static void once(rows_bench *t, const char *spec) {
    static const choice usual[] = {EVERY_VEC,
                                   EVERY_ORDER,
                                   {"exp", {"approx"}},
                                   {"exchange", {"once"}},
                                   {"warps", {"4", "8"}},
                                   {"hold", {"4", "8"}},
                                   {"unit", {"16", "8"}},
                                   {"out", {"f32", "f16", "u8"}},
                                   {"lhs", {"f16", "bf16", "f32", "s32"}},
                                   {"mask", {"pattern", "values"}}};
    static const choice small[] = {{"vec", {"1", "2", "4", "8"}}, EVERY_ORDER,           {"exp", {"approx"}},
                                   {"exchange", {"once"}},        {"warps", {"1", "2"}}, {"hold", {"8"}},
                                   {"unit", {"16", "8", "4"}}};
    static const choice many[] = {
        EVERY_VEC,         EVERY_ORDER,     {"exp", {"approx"}},  {"exchange", {"once"}},
        {"warps", {"16"}}, {"hold", {"2"}}, {"unit", {"16", "4"}}};
    static const choice few[] = {EVERY_VEC,
                                 EVERY_ORDER,
                                 {"exp", {"approx"}},
                                 {"exchange", {"once"}},
                                 {"warps", {"8", "4"}},
                                 {"hold", {"4"}},
                                 {"out", {"f32"}},
                                 {"lhs", {"f16", "bf16", "f32"}},
                                 {"scale", {"tensor"}}};
    static const float scales[] = {0.01F, -0.2F, 5, -1e6F, 0, -0.0F, 3e38F, INFINITY, NAN, 0x1p-140F};
    rows_bench special = *t, longer = *t, scaled = *t;
    special.special = true;
    rows_make_long(&longer);
    scaled.own_scale = special.own_scale = &scales[0];
    TRY(&scaled, spec, 41, usual);
    TRY(&scaled, spec, 1, small);
    TRY(&scaled, spec, 1, many);
    TRY(&special, spec, 1, few);
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        longer.own_scale = special.own_scale = scaled.own_scale = &scales[i];
        TRY(&scaled, spec, 2, few);
        TRY(&special, spec, 5, few);
        TRY(&longer, spec, 17, few);
    }
}

/* Several rows a warp; longer ones are all threads'. One row after the last thread block's, and fewer than it takes. */
static void teams(rows_bench *t, const char *spec) {
    static const choice types[] = {{"vec", {"1"}},
                                   {"order", {"bcrs"}},
                                   EVERY_IN,
                                   EVERY_OUT,
                                   {"rows_per_warp", {"4", "2", "8"}},
                                   {"warps", {"4", "1"}},
                                   {"hold", {"2"}},
                                   {"scale", {"tensor"}}};
    static const choice factors[] = {{"vec", {"1"}},
                                     {"order", {"bcrs"}},
                                     {"lhs", {"f16", "f32"}},
                                     {"out", {"f32", "u8"}},
                                     {"mask", {"pattern", "values"}},
                                     {"lse", {"row", "none"}},
                                     {"exp", {"polynomial", "approx"}},
                                     {"rows_per_warp", {"2", "4", "8"}},
                                     {"warps", {"1", "2", "8"}},
                                     {"hold", {"1", "4", "16"}}};
    static const int one = 5;
    rows_bench graph = *t, special = *t, longer = *t, single = *t;
    rows_make_short(&graph);
    special = graph, special.special = true;
    rows_make_long(&longer);
    single.lengths = &one, single.blocks = 1;
    TRY(&graph, spec, 3, types);
    TRY(&graph, spec, 5, factors);
    TRY(&special, spec, 7, factors);
    TRY(&longer, spec, 7, factors);
    TRY(&single, spec, 11, factors);
    TRY(t, spec, 5, factors);
    longer.law = MC_VALUES_ONES;
    TRY(&longer, spec, 7, types);
}

/* What a team of 16 or 4 lanes just holds, of 16 and of 32 elements a lane, and one more; and nothing. */
static void edges(rows_bench *t, const char *spec) {
    static const choice wide[] = {{"vec", {"1"}},           {"order", {"bcrs"}},   EVERY_IN,
                                  {"out", {"f32", "u16"}},  {"lse", {"row"}},      {"align", {"1"}},
                                  {"rows_per_warp", {"2"}}, {"warps", {"1", "4"}}, {"hold", {"32"}}};
    static const choice narrow[] = {{"vec", {"1"}},           {"order", {"bcrs"}},   EVERY_IN,
                                    {"out", {"bf16", "s8"}},  {"lse", {"row"}},      {"align", {"1"}},
                                    {"rows_per_warp", {"8"}}, {"warps", {"1", "4"}}, {"hold", {"16"}},
                                    {"m", {"37", "open"}}};
    rows_bench edge = *t;
    for (int e = ROWS_EMPTY; e <= ROWS_BEYOND; e++) {
        rows_make_edges(&edge, (rows_edge)e, 16 * 32);
        TRY(&edge, spec, 1, wide);
        rows_make_edges(&edge, (rows_edge)e, 4 * 16);
        TRY(&edge, spec, 1, narrow);
        edge.special = true;
        TRY(&edge, spec, 1, narrow);
        edge.special = false;
    }
    edge.law = MC_VALUES_ONES; /* the sum of a row of 512 leaves 32 bits */
    rows_make_edges(&edge, ROWS_AT, 16 * 32);
    TRY(&edge, spec, 1, wide);
}

/* -- The reference itself */

typedef struct row_case {
    float x[4];
    int count;
    float want[4], lse;
} row_case;

/* Exact but for rounding: a difference of ln(2) is a factor of 2. */
static const row_case rows[] = {
    {{3}, 1, {1}, 3},
    {{-2, -2, -2, -2}, 4, {.25F, .25F, .25F, .25F}, -2 + 1.3862943611F},
    {{1, 1 + 0.69314718056F}, 2, {1 / 3.0F, 2 / 3.0F}, 1 + 1.0986122887F},
    {{-INFINITY, 5, -INFINITY}, 3, {0, 1, 0}, 5},
    {{-INFINITY, -INFINITY}, 2, {0, 0}, -INFINITY},
    {{INFINITY, 5}, 2, {NAN, NAN}, INFINITY},
    {{NAN, 5}, 2, {NAN, NAN}, NAN},
    {{0, -90, -200}, 3, {1, 0, 0}, 0},
    {{3e38F, -3e38F, 3e38F}, 3, {.5F, 0, .5F}, 3e38F},
    {{0}, 0, {0}, -INFINITY},
};

static bool is_near(float got, float want, float off) {
    if (isnan(want)) return isnan(got);
    return got == want || fabsf(got - want) <= off * fabsf(want);
}

static void check_row(rows_bench *t, const row_case *of) {
    int length = of->count;
    mc_dense c = {0}, sums = {0}, shape;
    reference_result lse = {0};
    plan_problem p = {.op = MC_OP_SOFTMAX,
                      .lhs = MC_F32,
                      .out = MC_F32,
                      .vec = 1,
                      .m = 1,
                      .n = ROWS_COLUMNS,
                      .lse = MC_PER_ROW};
    t->op = operator_of(p.op);
    t->lengths = &length, t->blocks = 1;
    mc_status status = rows_make_mask(t, 1);
    if (status == MC_OK) status = operand_whole_shape(&p, &t->op->operands[X], &t->mask, &shape, t->diag);
    if (status == MC_OK)
        status = mc_dense_create(shape.type, shape.rows, shape.cols, shape.ld, &t->x, t->diag);
    if (status == MC_OK && length > 0) memcpy(t->x.data, of->x, (size_t)length * sizeof(float));
    const host_operands operands = {.problem = &p, .matrix = &t->mask, .inputs[X] = &t->x};
    if (status == MC_OK) status = t->op->sums(&operands, &sums, t->diag);
    if (status == MC_OK) status = t->op->finish(&operands, &sums, &c, t->diag);
    if (status == MC_OK) status = t->op->other(&operands, &sums, LSE, &lse, t->diag);
    CHECK(status == MC_OK, "row %d: %s", (int)(of - rows), mc_diag_text(t->diag));
    for (int i = 0; status == MC_OK && i < length; i++)
        CHECK(is_near(((float *)c.data)[i], of->want[i], 0x1p-21F), "row %d, element %d: %.9g, not %.9g",
              (int)(of - rows), i, (double)((float *)c.data)[i], (double)of->want[i]);
    if (status == MC_OK)
        CHECK(is_near(((float *)lse.low.data)[0], of->lse, 0x1p-21F), "row %d: lse %.9g, not %.9g",
              (int)(of - rows), (double)((float *)lse.low.data)[0], (double)of->lse);
    mc_dense_free(&c), mc_result_free(&lse), mc_dense_free(&sums), mc_dense_free(&t->x),
        mc_vsparse_free(&t->mask);
}

/* Random scores, as the reference takes them, and their exact softmax. */
typedef struct exact_row {
    double x[1024], want[1024], lse, spread, sum;
    int count;
} exact_row;

static void draw(rows_bench *t, exact_row *row, float spread, uint64_t seed) {
    double most = -INFINITY, least = INFINITY;
    mcrt_random random = random_start(seed, 0);
    for (int i = 0; i < row->count; i++) {
        float x = spread * ((float)(random_next(&random) >> 40) * 0x1p-24F - .5F);
        mc_dense_set(&t->x, i, 0, real_to_bits(t->x.type, x));
        row->x[i] = real_from_bits(t->x.type, real_to_bits(t->x.type, x));
        most = fmax(most, row->x[i]), least = fmin(least, row->x[i]);
    }
    row->sum = 0, row->spread = most - least;
    for (int i = 0; i < row->count; i++) row->sum += exp(row->x[i] - most);
    for (int i = 0; i < row->count; i++) row->want[i] = exp(row->x[i] - most) / row->sum;
    row->lse = most + log(row->sum);
}

/* How far one end of the reference's range is off, as a part of BOUND; LN: what the logarithm adds, of it. */
static double off_of(const exact_row *row, const mc_dense *c, const mc_dense *lse, double bound, double ln) {
    double worst = 0, lost = lse->data != NULL ? 0x1p-125 : row->count * 0x1p-93;
    if (lse->data != NULL)
        worst = fabs(((float *)lse->data)[0] - row->lse) / (bound + ln * (log(row->sum) + fabs(row->lse)));
    for (int i = 0; i < row->count; i++) {
        double off = fabs(((float *)c->data)[i] - row->want[i]) - lost;
        worst = isnan(off) ? INFINITY : fmax(worst, off / row->want[i] / bound);
    }
    return worst;
}

/* The greatest part of its bound of docs/softmax.md that lse or any element of COUNT random scores is off. */
static double worst_of(rows_bench *t, mc_exp exp, bool with_lse, int count, float spread, uint64_t seed) {
    static exact_row row;
    plan_problem p = {.op = MC_OP_SOFTMAX,
                      .lhs = exp == MC_EXP_APPROX ? MC_F16 : MC_F32,
                      .out = MC_F32,
                      .exp = exp,
                      .vec = 1,
                      .m = 1,
                      .n = ROWS_COLUMNS,
                      .lse = with_lse ? MC_PER_ROW : MC_PER_NONE};
    reference_result c = {0}, lse = {0};
    double worst = INFINITY;
    row.count = count;
    t->lengths = &count, t->blocks = 1;
    t->op = operator_of(p.op);
    mc_status status = rows_make_mask(t, 1);
    if (status == MC_OK) status = mc_dense_create(p.lhs, count, 1, 1, &t->x, t->diag);
    if (status == MC_OK) {
        draw(t, &row, spread, seed);
        const host_operands operands = {.problem = &p, .matrix = &t->mask, .inputs[X] = &t->x};
        status = operator_expect(t->op, &operands, &c, t->diag);
        if (status == MC_OK && with_lse) status = operator_expect_other(t->op, &operands, LSE, &lse, t->diag);
    }
    double fixed = exp == MC_EXP_APPROX ? 0x1p-20 : 0x1p-21, ln = exp == MC_EXP_APPROX ? 0x1p-21 : 0x1p-23,
           bound = 0x1p-21 * row.spread + count * 0x1p-24 + fixed;
    if (exp == MC_EXP_APPROX && !with_lse) bound = 0x1p-20 * row.spread + count * 0x1p-23 + 0x1p-15;
    if (status == MC_OK) worst = off_of(&row, &c.low, &lse.low, bound, ln);
    if (status == MC_OK && c.high.data != NULL)
        worst = fmax(worst, off_of(&row, &c.high, &lse.high, bound, ln));
    mc_result_free(&c), mc_result_free(&lse), mc_dense_free(&t->x), mc_vsparse_free(&t->mask);
    return worst;
}

static void reference(rows_bench *t, const char *spec) {
    static const float spreads[] = {0.01F, 1, 10, 60, 160};
    (void)spec;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_row(t, &rows[i]);
    for (int count = 1; count <= 1000; count *= 10)
        for (size_t i = 0; i < sizeof spreads / sizeof *spreads; i++) {
            double exact = worst_of(t, MC_EXP_POLYNOMIAL, true, count, spreads[i], i),
                   approx = worst_of(t, MC_EXP_APPROX, true, count, spreads[i], i),
                   once = worst_of(t, MC_EXP_APPROX, false, count, spreads[i], i);
            CHECK(exact <= 1, "%d scores over %g: %g of the bound", count, (double)spreads[i], exact);
            CHECK(approx <= 1, "%d scores over %g: %g of the bound of approx", count, (double)spreads[i],
                  approx);
            CHECK(once <= 1, "%d scores over %g: %g of the bound of one exchange", count, (double)spreads[i],
                  once);
        }
}

static const rows_part parts[] = {{"types", types}, {"schedules", schedules}, {"addresses", addresses},
                                  {"pairs", pairs}, {"factors", factors},     {"approximate", approximate},
                                  {"once", once},   {"reference", reference}, {"teams", teams},
                                  {"edges", edges}};

int main(int argc, char **argv) {
    int failed = rows_main(argc, argv, run_kernel, parts, sizeof parts / sizeof *parts);
    return check_end() | failed;
}
