/* Kernels of A^T B on the simulator, bit for bit as mc_reference_spmmt_ordered has their sums: every V,
 * both types, all outputs, patterns and shapes at their edges, special values, several schedules. And that
 * reference against the usual one's bounds. spmmt_test SPEC PART of those in `parts`. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "choices.h"
#include "base/real.h"
#include "matrix/random.h"
#include "matrix/vsparse.h"
#include "verify/run.h"
#include "mcrt_internal.h"

enum { A, B, C };

/* Vectors of row blocks, ended by -1. A row block's columns are spread over all COLUMNS, or lie side by
   side from the first one or to the last one on. */
typedef enum spread { EVEN, FIRST, LAST, RANDOM } spread;

typedef struct edge {
    const char *name;
    int lengths[48];
    int columns;
    spread spread;
    int n, more_b, more_c; /* more: gaps behind rows */
    unsigned b_offset, c_offset;
    bool special;
} edge;

#define TWENTY 9, 3, 0, 14, 33, 1, 8, 17, 16, 2, 5, 40, 7, 0, 12, 15, 31, 6, 4, 11

static const edge edges[] = {
    {"plain", {20, 3, 0, 40, 16, 17, -1}, 100, RANDOM, .n = 32},
    {"one element", {1, -1}, 1, EVEN, .n = 1},
    {"no vectors", {0, 0, 0, -1}, 40, EVEN, .n = 24},
    {"one full row block", {0, 300, 0, -1}, 300, EVEN, .n = 8},
    {"first and last columns", {5, 5, 5, 5, -1}, 1030, LAST, .n = 7, .more_b = 1, .more_c = 2},
    {"first columns alone", {16, 32, 33, 64, -1}, 700, FIRST, .n = 40, .more_b = 8, .more_c = 8},
    {"many row blocks", {TWENTY, TWENTY, -1}, 200, RANDOM, .n = 17, .more_b = 3, .more_c = 1},
    {"the same columns again", {16, 16, 16, 16, 16, 16, 16, 16, -1}, 16, EVEN, .n = 16},
    {"wide", {8, 60, 8, -1}, 130, RANDOM, .n = 129, .more_b = 7, .more_c = 3},
    {"whole tiles, odd rows", {TWENTY, -1}, 512, RANDOM, .n = 64, .more_b = 1, .more_c = 1},
    {"addresses of two bytes", {TWENTY, -1}, 90, RANDOM, .n = 33, .more_b = 7, .b_offset = 2, .c_offset = 4},
    {"special values", {TWENTY, -1}, 70, RANDOM, .n = 40, .special = true},
    {"special values, odd rows", {TWENTY, -1}, 70, RANDOM, .n = 31, .more_b = 2, .special = true},
};

typedef struct bench {
    const char *spec;
    mc_device *device;
    mc_kernel *kernel;
    plan_problem problem;
    mc_vsparse a;
    mc_dense values, b;
    mc_value_law law;
    mc_diag *diag;
    char text[300];
} bench;

/* -- Operands */

static int count_blocks(const edge *of) {
    int blocks = 0;
    while (of->lengths[blocks] >= 0) blocks++;
    return blocks;
}

static int least(int a, int b) { return a < b ? a : b; }

/* COUNT ascending ones of all columns, each one as likely as any other. */
static void draw_columns(int32_t *columns, int count, int all, uint64_t seed) {
    mcrt_random random = random_start(seed, 0);
    for (int column = 0, taken = 0; taken < count; column++)
        if ((int)(random_next(&random) % (uint64_t)(all - column)) < count - taken) columns[taken++] = column;
}

static void put_columns(const edge *of, int32_t *columns, int count, uint64_t seed) {
    if (of->spread == RANDOM) draw_columns(columns, count, of->columns, seed);
    for (int i = 0; i < count && of->spread != RANDOM; i++) {
        int even = (int)((int64_t)i * of->columns / count);
        columns[i] = of->spread == EVEN ? even : of->spread == FIRST ? i : of->columns - count + i;
    }
}

static mc_status make_pattern(bench *t, const edge *of) {
    int blocks = count_blocks(of), vectors = 0;
    for (int b = 0; b < blocks; b++) vectors += least(of->lengths[b], of->columns);
    mc_status status =
        mcrt_vsparse_create(MC_F32, t->problem.vec, blocks, of->columns, vectors, &t->a, t->diag);
    if (status != MC_OK) return status;
    for (int b = 0; b < blocks; b++) {
        int64_t first = t->a.row_ptr[b];
        int count = least(of->lengths[b], of->columns);
        t->a.row_ptr[b + 1] = first + count;
        put_columns(of, t->a.col_idx + first, count, (uint64_t)b + 5);
    }
    return MC_OK;
}

/* Some elements of either side become what makes a product special: zeros by infinities, too. */
static void spoil(mc_dense *of, int step) {
    static const float values[] = {INFINITY, 0, -INFINITY, NAN, 65504, -65504, 0x1p-24F, -0.F};
    for (int64_t i = 0; i < of->rows * of->cols; i += step)
        mc_dense_set(of, i / of->cols, i % of->cols, real_to_bits(of->type, values[i / step % 8]));
}

static mc_status make_operands(bench *t, const edge *of) {
    const plan_problem *p = &t->problem;
    mc_status status = make_pattern(t, of);
    if (status == MC_OK)
        status = mc_dense_create(p->lhs, t->a.vectors, t->a.vec, t->a.vec, &t->values, t->diag);
    if (status == MC_OK)
        status = mc_dense_create(p->rhs, t->a.rows, of->n, of->n + of->more_b, &t->b, t->diag);
    if (status != MC_OK) return status;
    mc_dense_fill(&t->values, t->law, 7);
    mc_dense_fill(&t->b, t->law, 8);
    if (of->special) spoil(&t->values, 61), spoil(&t->b, 97);
    return MC_OK;
}

static void free_operands(bench *t) {
    mc_dense_free(&t->values);
    mc_dense_free(&t->b);
    mc_vsparse_free(&t->a);
    memset(&t->a, 0, sizeof t->a);
}

/* -- One kernel, one problem */

static mc_status expect(const bench *t, const plan_problem *whole, reference_result *want) {
    const mc_output output = operator_output(whole);
    mc_dense sums;
    *want = (reference_result){0};
    mc_status status = mc_reference_spmmt_ordered(&t->a, &t->values, &t->b, &sums, t->diag);
    if (status == MC_OK) status = mc_reference_output(&output, NULL, &sums, &want->low, t->diag);
    mc_dense_free(&sums);
    return status;
}

/* C to the bit; and both references agree within the bounds. */
static mc_status compare(const bench *t, const host_operands *operands, const mc_dense *c) {
    reference_result want = {0}, within = {0};
    mc_status status = expect(t, operands->problem, &want);
    if (status == MC_OK) status = mc_result_compare(c, &want, t->diag);
    if (status == MC_OK)
        status = operator_expect(operator_of(operands->problem->op), operands, &within, t->diag);
    if (status == MC_OK) status = mc_result_compare(c, &within, t->diag);
    mc_result_free(&want);
    mc_result_free(&within);
    return status;
}

static mc_status run_kernel(bench *t, const edge *of) {
    mc_dense c = {0};
    plan_problem whole;
    mc_run run = {.operands = {.problem = &whole, .matrix = &t->a, .inputs = {[A] = &t->values, [B] = &t->b}},
                  .ld = of->n + of->more_c,
                  .offsets = {[B] = of->b_offset, [C] = of->c_offset}};
    mc_status status = make_operands(t, of);
    if (status == MC_OK) status = plan_problem_measure(t->kernel, &run.operands, run.ld, &whole, t->diag);
    if (status == MC_OK) status = mc_operator_run(t->device, t->kernel, NULL, &run, NULL, &c, t->diag);
    if (status == MC_OK) status = compare(t, &run.operands, &c);
    mc_dense_free(&c);
    free_operands(t);
    return status;
}

/* -- Many */

/* Each kernel with all edges. */
typedef struct edge_list {
    bench *bench;
    const edge *edges;
    size_t count;
} edge_list;

static void try_kernel(void *user, const char *text, const mc_setting *settings, size_t count) {
    const edge_list *list = user;
    bench *t = list->bench;
    mc_diag_clear(t->diag);
    t->kernel = choices_kernel(t->spec, settings, count, t->diag);
    bool made = t->kernel != NULL && plan_problem_read(t->kernel, &t->problem, t->diag) == MC_OK;
    CHECK(made, "%s: %s", text, mc_diag_text(t->diag));
    for (size_t i = 0; made && i < list->count; i++) {
        mc_diag_clear(t->diag);
        mc_status status = run_kernel(t, &list->edges[i]);
        CHECK(status == MC_OK, "%s, %s: %s", text, list->edges[i].name, mc_diag_text(t->diag));
    }
    mc_kernel_destroy(t->kernel);
}

#define TRY(t, step, choices, list)                                                                          \
    choices_try_all(choices, sizeof(choices) / sizeof *(choices), step, try_kernel,                          \
                    &(edge_list){t, list, sizeof(list) / sizeof *(list)})

#define EVERY_VEC                                                                                            \
    {                                                                                                        \
        "vec", { "8", "1", "2", "4", "16" }                                                                  \
    }
/* Small tiles, so that small matrices have several. */
#define SMALL_TILE                                                                                           \
    {"tile_k", {"128"}}, {"warp_k", {"64"}}, {                                                               \
        "tile_n", { "32" }                                                                                   \
    }

static void types(bench *t) {
    static const choice
        f16[] = {EVERY_VEC, {"out", {"f16", "f32", "bf16"}}, SMALL_TILE, {"lhs", {"f16"}}, {"rhs", {"f16"}}},
        bf16[] = {
            EVERY_VEC, {"out", {"bf16", "f32", "f16"}}, SMALL_TILE, {"lhs", {"bf16"}}, {"rhs", {"bf16"}}};
    TRY(t, 1, f16, edges);
    TRY(t, 1, bf16, edges);
}

/* How the work is divided: the bits stay the same. */
static void shares(bench *t) {
    static const choice all[] = {{"slots", {"16", "32"}},    EVERY_VEC,           {"ahead", {"1", "2"}},
                                 {"warp_k", {"128", "256"}}, {"tile_k", {"512"}}, {"stage_rows", {"256"}},
                                 {"arch", {"sm_90"}}},
                        long_turns[] = {{"warp_n", {"16", "32"}}, {"vec", {"8", "4", "2", "1"}},
                                        {"ahead", {"3", "4"}},    {"tile_k", {"512"}},
                                        {"arch", {"sm_90"}},      {"stage_rows", {"256"}}},
                        pairs[] = {{"vec", {"8", "4", "2", "1"}},
                                   {"ahead", {"2", "3", "4"}},
                                   {"warp_k", {"128", "256"}},
                                   {"tile_k", {"512"}},
                                   {"stage_rows", {"256"}},
                                   {"arch", {"sm_90"}},
                                   {"blocks", {"2"}}};
    TRY(t, 3, all, edges);
    TRY(t, 3, long_turns, edges);
    TRY(t, 5, pairs, edges);
}

/* Stages of few row blocks, so that many follow one another; large tiles. */
static void stages(bench *t) {
    static const choice few[] = {{"vec", {"8", "16", "4"}},
                                 {"ahead", {"2"}},
                                 {"stage_rows", {"64"}},
                                 SMALL_TILE,
                                 {"slots", {"16", "32"}}},
                        pairs[] = {{"blocks", {"2"}}, {"vec", {"8", "4", "1"}},
                                   {"ahead", {"1"}},  {"stage_rows", {"64"}},
                                   SMALL_TILE,        {"slots", {"16", "32"}}},
                        large[] = {{"tile_k", {"1024"}},
                                   {"warp_k", {"256", "512", "1024"}},
                                   {"warp_n", {"16", "32"}},
                                   {"tile_n", {"32"}},
                                   {"arch", {"sm_90"}}};
    TRY(t, 1, few, edges);
    TRY(t, 1, pairs, edges);
    TRY(t, 1, large, edges);
}

static void values(bench *t) {
    static const choice f16[] = {EVERY_VEC, {"out", {"f32"}}, SMALL_TILE};
    t->law = MC_VALUES_EXTREME;
    TRY(t, 1, f16, edges);
}

/* Fixed shapes, which the edge has. */
static void fixed(bench *t) {
    static const edge one[] = {{"fixed", {TWENTY, -1}, 90, RANDOM, .n = 40, .more_b = 8, .more_c = 2}};
    static const choice all[] = {EVERY_VEC,       {"n", {"40"}},   {"k", {"90"}},
                                 {"ldb", {"48"}}, {"ldc", {"42"}}, SMALL_TILE};
    TRY(t, 1, all, one);
}

static const struct {
    const char *name;
    void (*run)(bench *t);
} parts[] = {{"types", types}, {"shares", shares}, {"stages", stages}, {"values", values}, {"fixed", fixed}};

static const char *const devices[] = {"sim", "sim:reversed", "sim:seed=3:landing=last",
                                      "sim:seed=11:landing=first"};

int main(int argc, char **argv) {
    bench t = {.diag = mc_diag_create()};
    bool found = false;
    if (argc != 3) return 2;
    t.spec = argv[1];
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strcmp(argv[2], parts[i].name) != 0) continue;
        found = true;
        for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
            if (d > 0 && strcmp(argv[2], "stages") != 0) break;
            if (mc_device_open(devices[d], &t.device, t.diag) != MC_OK) return 2;
            parts[i].run(&t);
            mc_device_close(t.device);
        }
    }
    CHECK(found, "there is no part %s", argv[2]);
    mc_diag_destroy(t.diag);
    return check_end();
}
