/* Kernels that quantise, and the way back, on the simulator against the CPU reference, bit for bit: types, zero
 * points, given and computed scales, both layouts, and a table of shapes, leading dimensions, addresses and values.
 * quantise_test SPEC PART of those in `parts`. */
#include <stdlib.h>
#include "check.h"
#include "choices.h"
#include <math.h>
#include "base/real.h"
#include "verify/run.h"
#include "mcrt_internal.h"

enum { X, SCALE, ZERO, C, OPERANDS };

/* -- Shapes */

typedef struct shape {
    int64_t m, n;
    int gap_a, gap_c;            /* elements that rows are longer */
    unsigned a_offset, c_offset; /* elements */
    mc_value_law law;
} shape;

static const shape shapes[] = {
    {1, 1, 0, 0, 0, 0, MC_VALUES_FULL},       {1, 16, 0, 0, 0, 0, MC_VALUES_FULL},
    {16, 1, 0, 0, 0, 0, MC_VALUES_FULL},      {15, 17, 0, 0, 0, 0, MC_VALUES_EXTREME},
    {16, 64, 0, 0, 0, 0, MC_VALUES_FULL},     {17, 64, 0, 15, 0, 0, MC_VALUES_EXTREME},
    {31, 32, 0, 1, 0, 0, MC_VALUES_FULL},     {32, 33, 7, 0, 0, 0, MC_VALUES_FULL},
    {33, 40, 8, 15, 0, 0, MC_VALUES_FULL},    {64, 160, 0, 0, 0, 0, MC_VALUES_EXTREME},
    {100, 72, 0, 28, 0, 0, MC_VALUES_FULL},   {100, 100, 3, 1, 1, 1, MC_VALUES_FULL},
    {64, 128, 0, 0, 2, 0, MC_VALUES_FULL},    {64, 128, 0, 0, 0, 4, MC_VALUES_FULL},
    {16, 2056, 0, 0, 0, 0, MC_VALUES_FULL},   {5, 3080, 8, 3, 0, 0, MC_VALUES_FULL},
    {128, 160, 16, 32, 0, 0, MC_VALUES_ONES}, {48, 96, 0, 16, 8, 16, MC_VALUES_FULL},
};
/* More tiles than a first pass has thread blocks */
static const shape large[] = {{520, 552, 0, 8, 0, 0, MC_VALUES_ONES},
                              {4128, 68, 0, 0, 0, 0, MC_VALUES_FULL},
                              {8200, 72, 0, 0, 0, 0, MC_VALUES_ONES}};

static bool is_paired(mc_type type) { return mc_type_bytes(type) == 0; }

static int64_t even(mc_type type, int64_t count) { return is_paired(type) ? count + count % 2 : count; }

static unsigned bytes_of(mc_type type, unsigned elements) {
    return is_paired(type) ? elements : (unsigned)mc_type_size(type, elements);
}

/* -- One problem */

typedef struct bench {
    mc_device *device;
    mc_kernel *kernel;
    const mc_operator *op;
    plan_problem problem;
    mc_dense x;
    float *factors[OPERANDS];
    mc_diag *diag;
    const char *spec, *text; /* text: of the settings at hand */
    const shape *shapes;
    int shape_count;
} bench;

/* Rows of zeros, of one value with a tie, of the smallest numbers, with an infinity or a NaN; of FINITE values
   only. */
static void spoil_rows(mc_dense *x, bool finite) {
    static const float values[] = {0, 2.5F, 0x1p-149F, 0x1p-126F, INFINITY, NAN, -INFINITY, 65504};
    bool real = mc_type_is_real(x->type);
    for (int64_t i = 3; real && i < x->rows; i += 7) {
        float value = values[i / 7 % (finite ? 4 : 8)];
        for (int64_t j = i % 3; j < x->cols; j += value == 0 || value == 2.5F ? 1 : 13)
            mc_dense_set(x, i, j, real_to_bits(x->type, j % 2 ? -value : value));
    }
}

/* A scale of the tensor is mostly to be finite. Among ones the last element decides. */
static void spoil(mc_dense *x, const plan_problem *p, mc_value_law law) {
    spoil_rows(x, p->scale == MC_PER_TENSOR && law != MC_VALUES_EXTREME);
    if (law == MC_VALUES_ONES && mc_type_is_real(x->type))
        mc_dense_set(x, x->rows - 1, x->cols - 1, real_to_bits(x->type, -3));
}

static mc_status make_operands(bench *t, const shape *s) {
    const plan_problem *p = &t->problem;
    mc_status status = mc_dense_create(p->lhs, s->m, s->n, even(p->lhs, s->n + s->gap_a), &t->x, t->diag);
    if (status != MC_OK) return status;
    mc_dense_fill(&t->x, s->law, 1);
    spoil(&t->x, p, s->law);
    for (int i = SCALE; i <= ZERO; i++) {
        const operand_row *operand = &t->op->operands[i];
        mc_per per = operand_per(p, operand);
        t->factors[i] = NULL;
        if (per == MC_PER_NONE || operand_is_computed(p, operand)) continue;
        int64_t count = mc_per_count(per, s->m, s->n);
        t->factors[i] = malloc((size_t)count * sizeof(float));
        operand->fill(t->factors[i], count, s->law == MC_VALUES_EXTREME ? s->law : MC_VALUES_FULL,
                      2 + (uint64_t)i);
    }
    return MC_OK;
}

static void free_operands(bench *t) {
    mc_dense_free(&t->x);
    for (int i = SCALE; i <= ZERO; i++) free(t->factors[i]);
}

static mc_status compare(bench *t, const host_operands *operands, const mc_dense *c, const mc_dense *others) {
    reference_result want;
    mc_status status = operator_expect(t->op, operands, &want, t->diag);
    if (status == MC_OK) status = mc_result_compare(c, &want, t->diag);
    mc_result_free(&want);
    for (size_t i = SCALE; i <= ZERO && status == MC_OK; i++) {
        reference_result other = {0};
        if (!operand_is_computed(operands->problem, &t->op->operands[i])) continue;
        status = operator_expect_other(t->op, operands, i, &other, t->diag);
        if (status == MC_OK)
            status = mc_result_compare_named(t->op->operands[i].name, &others[i], &other, t->diag);
        mc_result_free(&other);
    }
    return status;
}

static const mc_vsparse no_matrix;

static mc_status try_shape(bench *t, const shape *s) {
    mc_dense c = {0}, others[MAX_OPERANDS] = {{0}};
    plan_problem whole;
    mc_run run = {.others = others};
    bool turned = t->problem.layout == MC_LAYOUT_COLUMNS;
    int64_t row = turned ? s->m : s->n;
    run.ld = even(t->problem.out, row + s->gap_c);
    run.offsets[X] = bytes_of(t->problem.lhs, s->a_offset),
    run.offsets[C] = bytes_of(t->problem.out, s->c_offset);
    mc_status status = make_operands(t, s);
    run.operands.matrix = &no_matrix, run.operands.inputs[X] = &t->x;
    for (int i = SCALE; i <= ZERO; i++) run.operands.factors[i] = t->factors[i];
    run.operands.problem = &whole;
    if (status == MC_OK) status = plan_problem_measure(t->kernel, &run.operands, run.ld, &whole, t->diag);
    if (status == MC_OK) status = mc_operator_run(t->device, t->kernel, NULL, &run, NULL, &c, t->diag);
    if (status == MC_OK) status = compare(t, &run.operands, &c, others);
    mc_dense_free(&c);
    for (int i = 0; i < MAX_OPERANDS; i++) mc_dense_free(&others[i]);
    free_operands(t);
    return status;
}

/* -- Kernels */

static void try_kernel(void *user, const char *text, const mc_setting *settings, size_t count) {
    bench *t = user;
    t->text = text;
    mc_diag_clear(t->diag);
    t->kernel = choices_kernel(t->spec, settings, count, t->diag);
    CHECK(t->kernel != NULL, "%s: %s", t->text, mc_diag_text(t->diag));
    if (t->kernel == NULL || plan_problem_read(t->kernel, &t->problem, t->diag) != MC_OK) return;
    t->op = operator_of(t->problem.op);
    for (int i = 0; i < t->shape_count; i++) {
        bool moved = t->shapes[i].a_offset || t->shapes[i].c_offset;
        if (moved && mc_kernel_field(t->kernel, "align") > 1) continue; /* refused */
        mc_diag_clear(t->diag);
        mc_status status = try_shape(t, &t->shapes[i]);
        CHECK(status == MC_OK, "%s, shape %d (%d x %d): %s", t->text, i, (int)t->shapes[i].m,
              (int)t->shapes[i].n, mc_diag_text(t->diag));
    }
    mc_kernel_destroy(t->kernel);
    t->text = "";
}

#define TRY(t, choices) choices_try_all(choices, sizeof(choices) / sizeof *(choices), 1, try_kernel, t)

static void many_tiles(bench *t) {
    static const choice all[] = {{"scale", {"tensor"}},   {"zero", {"none", "tensor"}},
                                 {"lhs", {"f32", "f16"}}, {"out", {"s8"}},
                                 {"words", {"1"}},        {"rounding", {"convert"}},
                                 {"align", {"16", "1"}},  {"tile", {"32"}},
                                 {"warps", {"2"}},        {"hold", {"1"}},
                                 {"keep", {"0"}},         {"arch", {"sm_90"}}};
    bench with_large = *t;
    with_large.shapes = large, with_large.shape_count = sizeof large / sizeof *large;
    TRY(&with_large, all);
}

static void computed(bench *t) {
    static const choice all[] = {{"lhs", {"f16", "bf16", "f32"}},
                                 {"out", {"s8", "u8", "s4", "u4"}},
                                 {"zero", {"none", "row"}},
                                 {"layout", {"columns", "rows"}},
                                 {"tile", {"16"}},
                                 {"warps", {"4"}},
                                 {"hold", {"1"}},
                                 {"keep", {"1"}},
                                 {"scale", {"row"}},
                                 {"scales", {"computed"}},
                                 {"arch", {"sm_80"}}};
    static const choice tiles[] = {{"tile", {"4", "8", "32"}}, {"warps", {"1", "8"}}, {"hold", {"2"}},
                                   {"keep", {"0", "2"}},       {"lhs", {"f16"}},      {"out", {"s8"}},
                                   {"align", {"16", "1"}},     {"arch", {"sm_90"}}};
    static const choice anywhere[] = {
        {"align", {"1"}},          {"lhs", {"f16", "f32"}},         {"out", {"u8", "s4"}},
        {"zero", {"none", "row"}}, {"layout", {"columns", "rows"}}, {"arch", {"sm_80"}}};
    static const choice additions[] = {{"rounding", {"add"}}, {"lhs", {"f16", "bf16", "f32"}},
                                       {"out", {"s8", "s4"}}, {"layout", {"columns", "rows"}},
                                       {"tile", {"16"}},      {"warps", {"4"}},
                                       {"hold", {"1"}},       {"keep", {"1"}},
                                       {"arch", {"sm_80"}}};
    TRY(t, all);
    TRY(t, tiles);
    TRY(t, anywhere);
    static const choice shares[] = {{"share", {"16", "64", "1032"}},
                                    {"layout", {"columns", "rows"}},
                                    {"zero", {"none", "row"}},
                                    {"out", {"s8", "u4"}},
                                    {"tile", {"8"}},
                                    {"warps", {"2"}},
                                    {"hold", {"1"}},
                                    {"keep", {"0", "1"}},
                                    {"arch", {"sm_80"}}};
    static const choice words[] = {
        {"words", {"2"}},          {"lhs", {"f16", "f32"}}, {"out", {"s8", "u8"}}, {"zero", {"none", "row"}},
        {"share", {"open", "64"}}, {"tile", {"8", "32"}},   {"warps", {"2"}},      {"hold", {"1"}},
        {"keep", {"1"}},           {"arch", {"sm_80"}}};
    TRY(t, additions);
    TRY(t, shares);
    TRY(t, words);
}

/* Thread blocks of a cluster, of which some have no columns. */
static void cluster(bench *t) {
    static const choice all[] = {{"cluster", {"2", "8"}},
                                 {"lhs", {"f16", "f32"}},
                                 {"out", {"s8", "u4"}},
                                 {"zero", {"none", "row"}},
                                 {"layout", {"columns", "rows"}},
                                 {"tile", {"8"}},
                                 {"warps", {"2"}},
                                 {"hold", {"1"}},
                                 {"keep", {"0", "1"}},
                                 {"arch", {"sm_90"}}};
    static const choice anywhere[] = {{"cluster", {"4"}},
                                      {"align", {"1"}},
                                      {"out", {"s8", "s4"}},
                                      {"zero", {"none", "row"}},
                                      {"arch", {"sm_90"}}};
    TRY(t, all);
    TRY(t, anywhere);
}

/* Of the tensor, in two passes. */
static void tensor(bench *t) {
    static const choice all[] = {{"lhs", {"f16", "bf16", "f32"}},
                                 {"out", {"s8", "u8", "s4", "u4"}},
                                 {"scale", {"tensor"}},
                                 {"zero", {"none", "tensor"}},
                                 {"layout", {"columns", "rows"}},
                                 {"align", {"16", "1"}},
                                 {"tile", {"64"}},
                                 {"warps", {"4"}},
                                 {"hold", {"2"}},
                                 {"keep", {"0"}},
                                 {"arch", {"sm_80"}}};
    TRY(t, all);
    many_tiles(t);
}

static void given(bench *t) {
    static const choice rows[] = {{"lhs", {"f16", "bf16", "f32"}},
                                  {"out", {"s8", "u8", "s4", "u4"}},
                                  {"zero", {"none", "row"}},
                                  {"layout", {"columns", "rows"}},
                                  {"scales", {"given"}},
                                  {"tile", {"64"}},
                                  {"warps", {"4"}},
                                  {"hold", {"1"}},
                                  {"keep", {"0"}},
                                  {"arch", {"sm_80"}}};
    static const choice tensor[] = {{"scale", {"tensor"}}, {"zero", {"none", "tensor"}},
                                    {"out", {"s8", "u4"}}, {"scales", {"given"}},
                                    {"tile", {"64"}},      {"warps", {"4"}},
                                    {"hold", {"2"}},       {"keep", {"0"}},
                                    {"arch", {"sm_80"}}};
    static const choice anywhere[] = {{"align", {"1", "4"}},   {"lhs", {"f16", "f32"}},
                                      {"out", {"s8", "u4"}},   {"scales", {"given"}},
                                      {"keep", {"0"}},         {"layout", {"columns", "rows"}},
                                      {"tile", {"64", "128"}}, {"warps", {"8"}},
                                      {"hold", {"2"}},         {"arch", {"sm_80"}}};
    TRY(t, rows);
    TRY(t, tensor);
    TRY(t, anywhere);
}

/* Elements of 4 bits, as they are: sizes of a table, whole units and lines, rows that end inside of a byte. */
static void halves_moved(bench *t) {
    static const int sizes[] = {1, 2, 7, 8, 31, 32, 63, 64, 65, 129, 160, 200, 520};
    static const choice all[] = {{"lhs", {"s4"}},
                                 {"out", {"s4"}},
                                 {"scale", {"none"}},
                                 {"zero", {"none"}},
                                 {"keep", {"0"}},
                                 {"words", {"1"}},
                                 {"scales", {"given"}},
                                 {"rounding", {"convert"}},
                                 {"arch", {"sm_80"}},
                                 {"tile", {"128"}},
                                 {"warps", {"4"}},
                                 {"hold", {"1", "2"}},
                                 {"layout", {"columns", "rows"}},
                                 {"align", {"16", "1"}}};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    shape every[SIZES * SIZES];
    bench with = *t;
    for (int i = 0; i < SIZES * SIZES; i++)
        every[i] = (shape){.m = sizes[i % SIZES],
                           .n = sizes[i / SIZES],
                           .gap_a = i % 3 * 32,
                           .gap_c = i % 4 * 32,
                           .a_offset = i % 5 == 0,
                           .c_offset = i % 7 == 0};
    with.shapes = every, with.shape_count = SIZES * SIZES;
    TRY(&with, all);
}

/* Elements stay as they are: one type on both sides, without scales. */
static void moved(bench *t) {
    static const struct {
        const char *type, *warps;
    } types[] = {{"s4", "4"},  {"s8", "8"},   {"s16", "16"}, {"s32", "16"},
                 {"f16", "8"}, {"bf16", "8"}, {"f32", "16"}};
    halves_moved(t);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const choice all[] = {{"lhs", {types[i].type}},
                              {"out", {types[i].type}},
                              {"scale", {"none"}},
                              {"scales", {"given"}},
                              {"layout", {"columns", "rows"}},
                              {"align", {"16", "1"}},
                              {"tile", {"32", "64"}},
                              {"warps", {types[i].warps}},
                              {"hold", {"1", "2"}},
                              {"keep", {"0"}},
                              {"words", {"1"}},
                              {"rounding", {"convert"}}};
        TRY(t, all);
    }
}

static void back(bench *t) {
    static const choice all[] = {{"lhs", {"s32", "f16", "bf16", "f32"}},
                                 {"out", {"f16", "bf16", "f32"}},
                                 {"scale", {"none", "tensor", "row", "column"}},
                                 {"layout", {"columns", "rows"}},
                                 {"scales", {"given"}},
                                 {"tile", {"16"}},
                                 {"warps", {"4"}},
                                 {"hold", {"1"}},
                                 {"keep", {"0"}},
                                 {"arch", {"sm_80"}}};
    static const choice anywhere[] = {{"align", {"1"}},   {"lhs", {"s32", "f16"}}, {"out", {"f16", "f32"}},
                                      {"scale", {"row"}}, {"scales", {"given"}},   {"keep", {"0"}},
                                      {"tile", {"32"}},   {"warps", {"8"}},        {"hold", {"2"}},
                                      {"arch", {"sm_80"}}};
    TRY(t, all);
    TRY(t, anywhere);
}

static const struct {
    const char *name;
    void (*run)(bench *t);
} parts[] = {{"computed", computed}, {"cluster", cluster}, {"tensor", tensor},
             {"given", given},       {"back", back},       {"moved", moved}};

int main(int argc, char **argv) {
    bench t = {.diag = mc_diag_create(),
               .text = "",
               .shapes = shapes,
               .shape_count = sizeof shapes / sizeof *shapes};
    if (argc != 3 || mc_device_open("sim", &t.device, t.diag) != MC_OK) return 2;
    t.spec = argv[1];
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(argv[2], parts[i].name) == 0) parts[i].run(&t);
    mc_device_close(t.device);
    mc_diag_destroy(t.diag);
    return check_end();
}
