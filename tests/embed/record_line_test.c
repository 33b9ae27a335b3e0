/* Records as lines: what is printed reads back; what is damaged is refused with a message,
   or is a record still. */
#include <math.h>
#include "mcrt_internal.h"
#include "records/parts.h"
#include "records/text.h"
#include "base/fields.h"
#include "records.h"

static bool same_candidate(const record_candidate *a, const record_candidate *b) {
    return a->hash == b->hash && a->status == b->status && !(a->microseconds < b->microseconds) &&
           !(a->microseconds > b->microseconds);
}

static bool same_features(const matrix_features *a, const matrix_features *b) {
    return a->vectors == b->vectors && memcmp(a->quantiles, b->quantiles, sizeof a->quantiles) == 0 &&
           memcmp(&a->spread, &b->spread, sizeof a->spread) == 0 &&
           memcmp(&a->panels, &b->panels, sizeof a->panels) == 0 && a->span == b->span;
}

/* Not by records/problem.c's table, which could lack a member. */
static bool same_problem(const plan_problem *a, const plan_problem *b) {
    return a->op == b->op && a->lhs == b->lhs && a->rhs == b->rhs && a->out == b->out && a->vec == b->vec &&
           a->scale == b->scale && a->bias == b->bias && a->activation == b->activation &&
           a->exact == b->exact && a->mask_values == b->mask_values && a->layout == b->layout &&
           a->order == b->order && a->align == b->align && a->shapes == b->shapes && a->m == b->m &&
           a->n == b->n && a->k == b->k && a->lda == b->lda && a->ldb == b->ldb && a->ldc == b->ldc &&
           a->residual == b->residual && a->ldr == b->ldr && same_features(&a->features, &b->features);
}

/* All of it, but for the fields of those candidates whose fields are left out. */
static void check_same(const record *got, const record *want, const char *line) {
    bool same = same_problem(&got->problem, &want->problem) && got->capability == want->capability &&
                got->cold == want->cold && got->time == want->time && strcmp(got->gpu, want->gpu) == 0 &&
                strcmp(got->driver, want->driver) == 0 && strcmp(got->generator, want->generator) == 0 &&
                strcmp(got->fields, want->fields) == 0 && strcmp(got->spec, want->spec) == 0 &&
                memcmp(&got->microseconds, &want->microseconds, sizeof got->microseconds) == 0 &&
                got->candidate_count == want->candidate_count;
    CHECK(same, "%s", line);
    for (size_t i = 0; same && i < got->candidate_count; i++) {
        const record_candidate *g = &got->candidates[i], *w = &want->candidates[i];
        CHECK(same_candidate(g, w), "candidate %zu of %s", i, line);
        if (g->fields[0] == '\0') continue;
        char *difference = fields_difference(g->fields, w->fields);
        CHECK(strcmp(difference, "") == 0, "candidate %zu: %s: %s", i, difference, line);
        free(difference);
        CHECK(strcmp(g->spec, w->spec) == 0, "%s", line);
    }
}

static void test_round_trip(mc_diag *diag) {
    static test_record t;
    static const char *const gpus[] = {"NVIDIA H200", "a \"b\" \\ \t\n", "GPU \xc3\xa4"};
    for (int i = 0; i < 2000; i++) {
        plan_problem p = test_problem(i % 2 ? MC_OP_SDDMM : MC_OP_SPMM);
        test_fill(&t, &p, gpus[i % 3], (int)test_random(TEST_CANDIDATES + 1));
        t.r.cold = i % 5 == 0;
        CHECK(record_arrange(&t.r), "arrange");
        char *line = record_print(&t.r);
        record back;
        mc_status status = record_parse(line, strlen(line), &back, diag);
        CHECK(status == MC_OK, "%s: %s", mc_diag_text(diag), line);
        CHECK(strchr(line, '\n') == NULL, "%s", line);
        mc_diag_clear(diag);
        if (status == MC_OK) check_same(&back, &t.r, line);
        CHECK(problem_same(&back.problem, &p) && problem_hash(&back.problem) == problem_hash(&p), "%s", line);
        record_free(&back);
        free(line);
    }
}

/* A record of before panels were counted is of the same problem, and reads as one that has none. */
static void test_panels(mc_diag *diag) {
    static test_record t;
    plan_problem p = test_usual(MC_OP_SPMM), q = p;
    p.features.panels = (mc_row_panels){{9, 8, 7, 6, 5}, {{4, 3, {2, 1}}, {4, 4, {[7] = 1}}}};
    q.features.panels = (mc_row_panels){0};
    CHECK(problem_same(&p, &q) && problem_hash(&p) == problem_hash(&q), "panels are no part of it");
    test_fill(&t, &q, "GPU", 3);
    CHECK(record_arrange(&t.r), "arrange");
    char *line = record_print(&t.r);
    record back;
    CHECK(strstr(line, "panels") == NULL, "%s", line);
    CHECK(record_parse(line, strlen(line), &back, diag) == MC_OK, "%s", mc_diag_text(diag));
    CHECK(same_features(&back.problem.features, &q.features), "%s", line);
    record_free(&back);
    free(line);
    q.features.span = 65537;
    CHECK(problem_same(&p, &q) && problem_hash(&p) == problem_hash(&q), "nor is the span");
    t.r.problem = q;
    line = record_print(&t.r);
    CHECK(record_parse(line, strlen(line), &back, diag) == MC_OK, "%s", mc_diag_text(diag));
    CHECK(same_features(&back.problem.features, &q.features), "%s", line);
    record_free(&back);
    free(line);
}

/* Of the chosen kernel and of those that are hardly slower, and of no others. */
static void test_fields_kept(mc_diag *diag) {
    static test_record t;
    plan_problem p = test_problem(MC_OP_SPMM);
    record back;
    test_fill(&t, &p, "GPU", 12);
    for (int i = 0; i < 12; i++) {
        t.candidates[i].status = RECORD_TIMED;
        t.candidates[i].microseconds = i < 4 ? 10 + i : 20;
    }
    t.r.microseconds = 10;
    char *line = record_print(&t.r);
    CHECK(record_parse(line, strlen(line), &back, diag) == MC_OK, "%s", mc_diag_text(diag));
    for (size_t i = 0; i < back.candidate_count; i++)
        CHECK((back.candidates[i].fields[0] != '\0') == (i < 3), "candidate %zu: %s", i,
              back.candidates[i].fields);
    record_free(&back);
    free(line);
}

static void test_size(void) {
    static test_record t;
    plan_problem p = {.op = MC_OP_SPMM,
                      .lhs = MC_S8,
                      .rhs = MC_S8,
                      .out = MC_F16,
                      .scale = MC_PER_ROW,
                      .vec = 8,
                      .align = 16};
    p.m = 4096, p.n = 512, p.k = 1024, p.features.vectors = 52429;
    test_complete(&p);
    test_fill(&t, &p, "NVIDIA H200", 40);
    for (int i = 0; i < 40; i++)
        t.candidates[i].microseconds = round(1000 * t.candidates[i].microseconds) / 1000;
    t.r.microseconds = t.candidates[0].microseconds;
    record_arrange(&t.r);
    char *line = record_print(&t.r);
    printf("a record of 40 candidates: %zu bytes\n", strlen(line));
    CHECK(strlen(line) < 2600, "%zu bytes", strlen(line));
    free(line);
}

static void expect(const char *line, const char *fragment, mc_diag *diag) {
    record r;
    mc_status status = record_parse(line, strlen(line), &r, diag);
    CHECK(status == (fragment ? MC_FORMAT : MC_OK), "status %d: %s", (int)status, line);
    if (fragment) CHECK_TEXT(mc_diag_text(diag), fragment);
    mc_diag_clear(diag);
    record_free(&r);
}

#define PROBLEM                                                                                              \
    "{\"op\":\"spmm\",\"lhs\":\"s8\",\"rhs\":\"s8\",\"out\":\"s32\",\"align\":16,\"vec\":8,\"m\":8,\"n\":8," \
    "\"k\":8,"                                                                                               \
    "\"ldb\":8,\"ldc\":8,\"vectors\":4,\"lengths\":[4,4,4,4,4],\"spread\":0"
#define HEAD                                                                                                 \
    "{\"schema\":1,\"gpu\":\"G\",\"problem\":" PROBLEM                                                       \
    "},\"cold\":false,\"driver\":\"1\",\"capability\":90,\"us\":1.5,"
/* A line without a problem so far. */
#define START(fields)                                                                                        \
    "{\"schema\":1,\"gpu\":\"G\",\"driver\":\"1\",\"generator\":\"g\",\"spec\":\"\",\"time\":1,\"fields\":"  \
    "\"" fields "\","
#define TAIL                                                                                                 \
    "\"time\":5,\"spec\":\"a.lua\",\"fields\":\"op=spmm\",\"candidates\":[[\"0123456789abcdef\",\"timed\","  \
    "1.5]]}"

static void test_messages(mc_diag *diag) {
    static const struct {
        const char *line, *fragment; /* NULL: a record */
    } rows[] = {
        {HEAD "\"generator\":\"g\"," TAIL, NULL},
        {HEAD "\"generator\":\"g\",\"later\":{\"x\":[1]}," TAIL, NULL}, /* unknown members are passed over */
        {HEAD TAIL, "generator is missing"},
        {HEAD "\"generator\":7," TAIL, "generator is not a text"},
        {HEAD "\"generator\":\"g\",\"generator\":\"g\"," TAIL, "duplicate"},
        {"{\"schema\":2}", "schema is 2, this version reads 1"},
        {"{}", "schema is missing"},
        {"[]", "schema is missing"},
        {"", "at character"},
        {START("") "\"capability\":90,\"us\":-1}", "us is not a number from 0 on"},
        {START("") "\"capability\":9e9,\"us\":1}", "capability is not a whole number"},
        {START("") "\"capability\":90,\"us\":1,\"cold\":false}", "problem is missing"},
        {START("") "\"capability\":90,\"us\":1,\"cold\":false,\"problem\":{\"op\":\"gemv\"}}",
         "op is 'gemv', which it cannot be"},
        {START("op=spmm") "\"capability\":90,\"us\":1,\"cold\":false,\"problem\":" PROBLEM
                          "},\"candidates\":[]}",
         "none of its candidates"},
        {START("op=spmm") "\"capability\":90,\"us\":1,\"cold\":false,\"problem\":" PROBLEM
                          "},\"candidates\":[[\"0123456789abcdef\",\"wrong\",1]]}",
         "not those of a timed candidate"},
        {START("") "\"capability\":90,\"us\":1,\"cold\":false,\"problem\":" PROBLEM
                   "},\"candidates\":[[\"0123456789abcdeX\",\"wrong\",1]]}",
         "candidate 0 is not"},
        {START("") "\"capability\":90,\"us\":1,\"cold\":false,\"problem\":" PROBLEM ",\"panels\":[1,2,3]}}",
         "panels are not 25 whole numbers"},
        {START("") "\"capability\":90,\"us\":1,\"cold\":false,\"problem\":" PROBLEM
                   ",\"panels\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,-1]}}",
         "panels are not 25 whole numbers"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) expect(rows[i].line, rows[i].fragment, diag);
}

/* Cut off anywhere it is no record; with any byte changed it is none, and says so,
   or prints and reads back. */
static void test_damage(mc_diag *diag) {
    static test_record t;
    plan_problem p = test_problem(MC_OP_SDDMM);
    test_fill(&t, &p, "NVIDIA H200", 5);
    char *line = record_print(&t.r);
    size_t size = strlen(line), refused = 0, tried = 0;
    record r;
    for (size_t cut = 0; cut < size; cut++) {
        CHECK(record_parse(line, cut, &r, diag) == MC_FORMAT && mc_diag_count(diag) == 1 && !r.storage,
              "cut at %zu", cut);
        mc_diag_clear(diag);
    }
    for (size_t at = 0; at < size; at++)
        for (int bit = 0; bit < 8; bit++) {
            line[at] = (char)(line[at] ^ 1 << bit);
            mc_status status = record_parse(line, size, &r, diag);
            CHECK(status == MC_OK || (status == MC_FORMAT && mc_diag_count(diag) > 0), "bit %d of byte %zu",
                  bit, at);
            mc_diag_clear(diag);
            tried++, refused += status != MC_OK;
            if (status == MC_OK) {
                char *again = record_print(&r);
                record back;
                CHECK(record_parse(again, strlen(again), &back, diag) == MC_OK, "bit %d of byte %zu: %s", bit,
                      at, mc_diag_text(diag));
                mc_diag_clear(diag);
                record_free(&back);
                free(again);
            }
            record_free(&r);
            line[at] = (char)(line[at] ^ 1 << bit);
        }
    printf("%zu of %zu flipped bits refused\n", refused, tried);
    free(line);
}

static void test_fields(void) {
    static const struct {
        const char *from, *changes, *want;
    } rows[] = {{"a=1 b=2 c=3", "b=7", "a=1 b=7 c=3"}, {"a=1 b=2 c=3", "b=", "a=1 c=3"},
                {"a=1", "b=2 c= d=4", "a=1 b=2 d=4"},  {"", "b=2", "b=2"},
                {"ab=1 a=2", "a=3", "ab=1 a=3"},       {"  a=1   b=2 ", "", "a=1 b=2"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *got = fields_change(rows[i].from, rows[i].changes);
        CHECK(strcmp(got, rows[i].want) == 0, "row %zu: %s", i, got);
        char *difference = fields_difference(rows[i].from, got),
             *again = fields_change(rows[i].from, difference);
        CHECK(strcmp(again, got) == 0, "row %zu: %s by %s", i, again, difference);
        free(got);
        free(difference);
        free(again);
    }
}

/* Symmetric, 0 to itself, farther the more one size grows, 1 where it is twice as large. */
static void test_distance(void) {
    for (int i = 0; i < 500; i++) {
        plan_problem p = test_problem(i % 2 ? MC_OP_SDDMM : MC_OP_SPMM),
                     q = test_problem(i % 2 ? MC_OP_SDDMM : MC_OP_SPMM);
        double there = record_distance(&p, &q), back = record_distance(&q, &p);
        CHECK((isinf(there) && isinf(back)) || fabs(there - back) < 1e-12, "%g %g", there, back);
        CHECK(fabs(record_distance(&p, &p)) < 1e-12, "to itself %g", record_distance(&p, &p));
        double before = 0;
        q = p;
        for (int doubled = 0; doubled < 4; doubled++) {
            q.n *= 2;
            if (p.op == MC_OP_SDDMM) q.features.vectors *= 2; /* as dense, lengths in proportion */
            if (p.op == MC_OP_SDDMM)
                for (int j = 0; j < ROW_QUANTILES; j++) q.features.quantiles[j] *= 2;
            if (p.op == MC_OP_SDDMM) q.features.spread *= 2;
            double now = record_distance(&p, &q);
            CHECK(now > before, "doubled %d times: %g after %g", doubled, now, before);
            CHECK(fabs(now - (doubled + 1)) < 1e-9, "doubled %d times: %g", doubled + 1, now);
            before = now;
        }
        q = p;
        q.rhs = p.rhs == MC_S8 ? MC_S16 : MC_S8;
        CHECK(isinf(record_distance(&p, &q)), "another type");
        q = p;
        q.features.spread = p.features.spread * 3 + 10;
        CHECK(p.features.vectors == 0 || record_distance(&p, &q) > 0, "more uneven");
    }
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_fields();
    test_round_trip(diag);
    test_panels(diag);
    test_fields_kept(diag);
    test_size();
    test_messages(diag);
    test_damage(diag);
    test_distance();
    mc_diag_destroy(diag);
    return check_end();
}
