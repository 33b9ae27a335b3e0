/* Random problems and records for tests, and what is looked at in several of these. */
#ifndef TESTS_EMBED_RECORDS_H
#define TESTS_EMBED_RECORDS_H

#include <time.h>
#include "check.h"
#include "mcrt_internal.h"
#include "choose/fits.h"
#include "records/record.h"

/* xorshift64*: the same everywhere. */
static uint64_t test_seed = 0x9e3779b97f4a7c15u;

static inline uint64_t test_random(uint64_t below) {
    test_seed ^= test_seed >> 12;
    test_seed ^= test_seed << 25;
    test_seed ^= test_seed >> 27;
    return (test_seed * 0x2545f4914f6cdd1du >> 11) % below;
}

static inline int64_t test_between(int64_t least, int64_t most) {
    return least + (int64_t)test_random((uint64_t)(most - least) + 1);
}

static const mc_type test_operands[] = {MC_S4, MC_U4, MC_S8, MC_U8, MC_S12, MC_U12, MC_S16, MC_U16};
enum { TEST_OPERANDS = sizeof test_operands / sizeof *test_operands };

/* What follows from shapes, types and vectors: leading dimensions without gaps,
   and features of some matrix. */
static inline void test_complete(plan_problem *p) {
    bool spmm = p->op == MC_OP_SPMM;
    int64_t b = spmm || p->layout == MC_LAYOUT_ROWS ? p->n : p->k, mean;
    int64_t blocks = p->m / p->vec;
    p->ldb = b + (mc_type_bytes(p->rhs) == 0 && b % 2 != 0);
    p->ldc = spmm ? p->n : 0;
    p->ldr = p->residual != MC_RESIDUAL_NONE ? p->n : 0;
    p->lda = spmm ? 0 : p->k + (mc_type_bytes(p->lhs) == 0 && p->k % 2 != 0);
    mean = blocks != 0 ? p->features.vectors / blocks : 0;
    for (int i = 0; i < ROW_QUANTILES; i++) p->features.quantiles[i] = mean / 2 + mean * i / 4;
    p->features.spread = (double)mean / 3;
    p->features.panels = (mc_row_panels){0}; /* of half of all, whatever their vectors */
    if (p->features.vectors % 2)
        p->features.panels = (mc_row_panels){{mean + 5, mean, 3}, {{7, 2, {1, 2}}, {.longest = 9}}};
}

/* A layer of middle size. */
static inline plan_problem test_usual(mc_op op) {
    plan_problem p = {
        .op = op, .lhs = MC_S8, .rhs = MC_S8, .out = MC_F16, .scale = MC_PER_ROW, .vec = 8, .align = 16};
    p.m = 512, p.n = 256, p.k = 256, p.features.vectors = 3000;
    test_complete(&p);
    return p;
}

static inline void test_output(plan_problem *p) {
    static const mc_type reals[] = {MC_F16, MC_BF16, MC_F32};
    bool spmm = p->op == MC_OP_SPMM, real = test_random(2) == 0;
    p->out = MC_S32;
    if (spmm && test_random(8) == 0) p->exact = true;
    if (p->exact && !real) p->out = MC_S64;
    if (!real) return;
    p->out = reals[test_random(3)];
    p->scale = (mc_per)test_between(MC_PER_TENSOR, MC_PER_COLUMN);
    if (spmm && test_random(2) == 0) p->bias = test_random(2) ? MC_PER_ROW : MC_PER_COLUMN;
    if (spmm && test_random(4) == 0) p->activation = MC_ACTIVATION_RELU;
    if (!spmm && test_random(4) == 0) p->mask_values = true;
    if (spmm && test_random(4) == 0) p->residual = test_random(2) ? MC_RESIDUAL_F16 : MC_RESIDUAL_F32;
}

/* One that plan_problem_of could have made, with any types, shapes and leading dimensions. */
static inline plan_problem test_problem(mc_op op) {
    static const int vecs[] = {2, 4, 8};
    static const unsigned aligns[] = {1, 4, 16};
    static const mc_order orders[] = {MC_ORDER_BCRS, MC_ORDER_SRBCRS16, MC_ORDER_SRBCRS32};
    plan_problem p = {.op = op, .vec = vecs[test_random(3)], .align = aligns[test_random(3)]};
    p.lhs = test_operands[test_random(TEST_OPERANDS)];
    p.rhs = test_operands[test_random(TEST_OPERANDS)];
    p.shapes = test_random(4) ? MC_SHAPES_FIXED : MC_SHAPES_OPEN;
    int64_t unit = test_random(2) ? 64 : 1;
    p.m = p.vec * test_between(1, 600);
    p.n = unit * test_between(1, 4096 / unit);
    p.k = unit * test_between(1, 5000 / unit);
    if (op == MC_OP_SDDMM) {
        p.layout = test_random(4) ? MC_LAYOUT_COLUMNS : MC_LAYOUT_ROWS;
        p.order = orders[test_random(3)];
    }
    test_output(&p);
    p.features.vectors = test_between(0, p.m / p.vec * (op == MC_OP_SPMM ? p.k : p.n));
    test_complete(&p);
    bool pairs = mc_type_bytes(p.rhs) == 0;
    if (test_random(4) == 0) p.ldb += (1 + pairs) * test_between(0, 70);
    return p;
}

enum { TEST_CANDIDATES = 40 };

/* A record with the fields that RECORD has room for. */
typedef struct test_record {
    record r;
    record_candidate candidates[TEST_CANDIDATES];
    char fields[TEST_CANDIDATES][256];
} test_record;

static inline void test_fill(test_record *t, const plan_problem *problem, const char *gpu, int count) {
    static const int tiles[] = {32, 64, 128}, stages[] = {2, 3, 4, 6};
    *t = (test_record){.r = {.problem = *problem, .gpu = gpu, .driver = "580.95.05", .capability = 90}};
    t->r.generator = mc_generator_id();
    t->r.time = test_between(1, 1 << 30);
    t->r.candidates = t->candidates;
    t->r.candidate_count = (size_t)count;
    double us = 1 + (double)test_random(1000000) / 1000;
    for (int i = 0; i < count; i++) {
        record_candidate *c = &t->candidates[i];
        *c = (record_candidate){.hash = (uint64_t)i + 1 + (test_random(1u << 30) << 30),
                                .spec = "spmm_l8r8_tiled.lua"};
        c->status = i == 0 ? RECORD_TIMED : (record_status)(test_random(6) ? 0 : test_between(1, 3));
        c->microseconds = us;
        us *= 1 + (double)test_random(1000) / 10007; /* a number of many digits */
        snprintf(t->fields[i], sizeof t->fields[i],
                 "op=spmm arch=sm_90 lhs=s8 rhs=s8 out=s32 vec=8 tile_n=%d warps=%d staging=tma",
                 tiles[test_random(3)], i + 1);
        if (test_random(2))
            snprintf(t->fields[i] + strlen(t->fields[i]), 64, " stages=%d", stages[test_random(4)]);
        c->fields = t->fields[i];
    }
    t->r.fields = count ? t->fields[0] : "";
    t->r.spec = count ? "spmm_l8r8_tiled.lua" : "";
    t->r.microseconds = count ? t->candidates[0].microseconds : 0;
}

/* KERNEL takes P, and has its settings. */
static inline void test_kernel(const mc_kernel *kernel, const plan_problem *p) {
    mc_diag *diag = mc_diag_create();
    problem_settings settings;
    plan_problem_settings(p, &settings);
    CHECK(kernel_fits(kernel, p, diag) == MC_OK, "%s: %s", mc_diag_text(diag), mc_kernel_fields(kernel));
    for (size_t i = 0; i < settings.count; i++) {
        const char *got = mc_kernel_field_text(kernel, settings.items[i].field);
        CHECK(got != NULL && strcmp(got, settings.items[i].value) == 0, "%s is %s in %s",
              settings.items[i].field, settings.items[i].value, mc_kernel_fields(kernel));
    }
    mc_diag_destroy(diag);
}

/* Microseconds of this thread on a processor: other programs have no part in it. */
static inline double test_cpu_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

#endif
