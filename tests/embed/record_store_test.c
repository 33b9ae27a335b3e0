/* Stores of records: what is found and merged, what is there from the beginning, and how fast. */
#include <math.h>
#include <unistd.h>
#include "record_stores.h"
#include "mcrt_internal.h"
#include "records/text.h"

/* -- Finding */

static void test_find(void) {
    static test_record t;
    const char *path = scratch_path("find.jsonl");
    record_store *store = open_store(path);
    plan_problem problems[50];
    record found;
    for (int i = 0; i < 50; i++) {
        problems[i] = test_problem(i % 2 ? MC_OP_SDDMM : MC_OP_SPMM);
        test_fill(&t, &problems[i], i % 10 == 9 ? "another GPU" : gpu, 7);
        t.r.cold = i % 7 == 0;
        add(store, &t.r);
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 50; i++) {
            bool there = record_find(store, gpu, &problems[i], i % 7 == 0, &found);
            CHECK(there == (i % 10 != 9), "problem %d", i);
            CHECK(!there || (found.candidate_count == 7 && problem_same(&found.problem, &problems[i])), "%d",
                  i);
            record_free(&found);
            CHECK(!record_find(store, gpu, &problems[i], i % 7 != 0, &found), "problem %d, the other way", i);
            plan_problem other = problems[i];
            other.features.spread += 1;
            CHECK(!record_find(store, gpu, &other, i % 7 == 0, &found), "another spread");
        }
        CHECK(records_of(store) == 50, "%zu records", records_of(store));
        store = reopen(store, path);
        CHECK(said_lines == 0, "%s", said);
    }
    record_store_close(store);
    unlink(path);
}

static void test_nearest(void) {
    static test_record t;
    record_store *store = open_store(NULL);
    plan_problem p = test_problem(MC_OP_SPMM);
    record found[4];
    double distances[4];
    p.m = 1024, p.n = 256, p.k = 1024, p.features.vectors = 20000;
    test_complete(&p);
    for (int i = 1; i <= 6; i++) {
        plan_problem q = p;
        q.n = p.n * i;
        test_fill(&t, &q, gpu, 3);
        add(store, &t.r);
    }
    size_t count = record_nearest(store, gpu, &p, 4, found, distances);
    CHECK(count == 4, "%zu", count);
    for (size_t i = 0; i < count; i++) {
        CHECK(found[i].problem.n == p.n * (int64_t)(i + 1), "the %zu-th is of n = %d", i,
              (int)found[i].problem.n);
        CHECK(fabs(distances[i] - log2((double)(i + 1))) < 1e-9, "at %g", distances[i]);
        record_free(&found[i]);
    }
    CHECK(record_nearest(store, "another GPU", &p, 4, found, distances) == 0, "of another GPU");
    p.lhs = p.lhs == MC_S8 ? MC_S16 : MC_S8;
    CHECK(record_nearest(store, gpu, &p, 4, found, distances) == 0, "of another type");
    record_store_close(store);
}

/* GPUs of one architecture have records of their own. */
static void test_alike(void) {
    static test_record t;
    static const char h200[] = "NVIDIA H200", h100[] = "NVIDIA H100 80GB HBM3";
    record_store *store = open_store(NULL);
    plan_problem p = test_problem(MC_OP_SPMM);
    record found;
    double distance;
    test_fill(&t, &p, h200, 3);
    add(store, &t.r);
    CHECK(!record_find(store, h100, &p, false, &found), "an H200's record for an H100");
    CHECK(record_nearest(store, h100, &p, 1, &found, &distance) == 0, "or near one");
    CHECK(record_digest(store, h100) != record_digest(store, h200), "or in its digest");
    CHECK(record_find(store, h200, &p, false, &found), "its own");
    record_free(&found);
    record_store_close(store);
}

/* -- Merging */

/* One problem, measured again and again. */
typedef struct merging {
    record_store *store;
    plan_problem problem;
    test_record t;          /* what is added next */
    record_candidate first; /* the fastest of the first time */
} merging;

static record find_merged(const merging *m) {
    record found;
    CHECK(record_find(m->store, gpu, &m->problem, false, &found), "no record");
    return found;
}

/* One more candidate, which is the fastest; the clock went backwards. Read again it is the same. */
static void check_faster(merging *m, const char *path) {
    record_candidate *next = m->t.candidates;
    m->first = *next;
    *next = (record_candidate){77, RECORD_TIMED, m->t.r.microseconds / 2, "b.lua", "op=spmm warps=2"};
    m->t.r.fields = next->fields, m->t.r.spec = next->spec;
    m->t.r.candidate_count = 1;
    m->t.r.time = 50;
    add(m->store, &m->t.r);
    for (int pass = 0; pass < 2; pass++) {
        record found = find_merged(m);
        CHECK(found.candidate_count == 5, "%zu", found.candidate_count);
        CHECK(found.candidates[0].hash == 77 && strcmp(found.fields, "op=spmm warps=2") == 0, "%s",
              found.fields);
        CHECK(found.microseconds == found.candidates[0].microseconds && strcmp(found.spec, "b.lua") == 0,
              "%s", found.spec);
        CHECK(found.candidates[1].hash == m->first.hash, "second");
        record_free(&found);
        m->store = reopen(m->store, path);
    }
}

/* Measured again it is slow: the one before is taken again. */
static void check_slower(merging *m) {
    m->t.candidates[0].microseconds = m->first.microseconds * 3;
    m->t.r.time = 200;
    add(m->store, &m->t.r);
    record found = find_merged(m);
    CHECK(found.candidates[0].hash == m->first.hash, "%s", found.fields);
    CHECK(found.candidate_count == 5 && found.time == 200, "%zu", found.candidate_count);
    record_free(&found);
}

/* What is measured now counts, though the clock says that it was before. */
static void check_clock_back(merging *m) {
    m->t.candidates[0].microseconds = m->first.microseconds / 4;
    m->t.r.time = 150;
    add(m->store, &m->t.r);
    record found = find_merged(m);
    CHECK(found.candidates[0].hash == 77, "%s", found.fields);
    CHECK(found.time == 200 && found.microseconds < m->first.microseconds / 3, "%g", found.microseconds);
    record_free(&found);
}

/* Another generator's record stands beside it, and comes after it. */
static void check_other_generator(merging *m) {
    m->t.r.generator = "0000000000000000";
    m->t.r.time = 300;
    add(m->store, &m->t.r);
    CHECK(records_of(m->store) == 2, "%zu records", records_of(m->store));
    record found = find_merged(m);
    CHECK(strcmp(found.generator, mc_generator_id()) == 0, "%s", found.generator);
    record_free(&found);
}

static void test_merge(void) {
    static merging m;
    const char *path = scratch_path("merge.jsonl");
    m.store = open_store(path);
    m.problem = test_problem(MC_OP_SPMM);
    test_fill(&m.t, &m.problem, gpu, 4);
    for (int i = 0; i < 4; i++) m.t.candidates[i].status = RECORD_TIMED;
    m.t.r.time = 100;
    add(m.store, &m.t.r);
    check_faster(&m, path);
    check_slower(&m);
    check_clock_back(&m);
    check_other_generator(&m);
    m.t.r.fields = "op=sddmm";
    CHECK(record_add(m.store, &m.t.r, NULL) == MC_USAGE, "fields of no candidate");
    record_store_close(m.store);
    unlink(path);
}

static void test_digest(void) {
    static test_record t;
    record_store *store = open_store(NULL);
    plan_problem p = test_problem(MC_OP_SPMM);
    uint64_t none = record_digest(store, gpu);
    test_fill(&t, &p, "another GPU", 2);
    add(store, &t.r);
    CHECK(record_digest(store, gpu) == none, "another GPU's");
    t.r.gpu = gpu;
    add(store, &t.r);
    uint64_t one = record_digest(store, gpu);
    CHECK(one != none, "one record");
    t.candidates[0].microseconds *= 2;
    t.r.time++;
    add(store, &t.r);
    CHECK(record_digest(store, gpu) != one, "measured again");
    record_store_close(store);
}

/* -- What there is from the beginning, and where own records go */

static bool count_gpu(void *user, const record *r, bool own) {
    size_t *counts = user;
    (void)own;
    counts[strcmp(r->gpu, "NVIDIA H200") == 0]++;
    return true;
}

/* Those of the GPU that is there, all where none is named. */
static void test_shipped(mc_diag *diag) {
    static const struct {
        const char *gpu;
        bool any;
    } rows[] = {{NULL, true}, {"NVIDIA H200", true}, {"NVIDIA H20", false}, {"PTX simulator", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t counts[2] = {0};
        record_store *store = NULL;
        const record_store_config config = {.shipped = true, .gpu = rows[i].gpu, .log = hear};
        CHECK(record_store_open(&config, &store, diag) == MC_OK, "%s", mc_diag_text(diag));
        record_walk(store, count_gpu, counts);
        CHECK((counts[1] > 100) == rows[i].any, "%s: %zu", rows[i].gpu ? rows[i].gpu : "all", counts[1]);
        record_store_close(store);
    }
}

static void test_default_path(void) {
    char path[64];
    setenv("MCGEN_RECORDS", "here.jsonl", 1);
    setenv("XDG_DATA_HOME", "/data", 1);
    setenv("HOME", "/home/x", 1);
    CHECK(record_default_path(path, sizeof path) && strcmp(path, "here.jsonl") == 0, "%s", path);
    unsetenv("MCGEN_RECORDS");
    CHECK(record_default_path(path, sizeof path) && strcmp(path, "/data/mcgen/records.jsonl") == 0, "%s",
          path);
    setenv("XDG_DATA_HOME", "relative", 1);
    CHECK(record_default_path(path, sizeof path) &&
              strcmp(path, "/home/x/.local/share/mcgen/records.jsonl") == 0,
          "%s", path);
    CHECK(!record_default_path(path, 10), "too long");
    unsetenv("HOME");
    CHECK(!record_default_path(path, sizeof path), "nowhere");
}

/* -- Speed: what a warm plan has is a millisecond */

static void test_speed(void) {
    enum { RECORDS = 3000, LOOKUPS = 1000 };
    static test_record t;
    static plan_problem problems[RECORDS];
    const char *path = scratch_path("many.jsonl");
    record_store *store = open_store(NULL);
    FILE *file = fopen(path, "wb");
    for (int i = 0; i < RECORDS; i++) {
        problems[i] = test_problem(MC_OP_SPMM);
        test_fill(&t, &problems[i], gpu, 40);
        char *line = record_print(&t.r);
        fprintf(file, "%s\n", line);
        free(line);
    }
    fclose(file);
    double start = test_cpu_us();
    store = reopen(store, path);
    double opened = test_cpu_us();
    record found[8];
    double distances[8];
    for (int i = 0; i < LOOKUPS; i++) {
        CHECK(record_find(store, gpu, &problems[i * 3], false, &found[0]), "%d", i);
        record_free(&found[0]);
    }
    double looked = test_cpu_us();
    for (int i = 0; i < 100; i++) {
        problems[i].n++;
        size_t count = record_nearest(store, gpu, &problems[i], 8, found, distances);
        for (size_t j = 0; j < count; j++) record_free(&found[j]);
    }
    double compared = test_cpu_us();
    printf("%d records: opened in %.1f ms, one found in %.2f us, the nearest 8 in %.1f us\n", RECORDS,
           (opened - start) / 1e3, (looked - opened) / LOOKUPS, (compared - looked) / 100);
    CHECK((looked - opened) / LOOKUPS < 500, "%g us", (looked - opened) / LOOKUPS); /* sanitizers are slow */
    record_store_close(store);
    unlink(path);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    scratch_begin();
    test_find();
    test_nearest();
    test_alike();
    test_merge();
    test_digest();
    test_shipped(diag);
    test_default_path();
    test_speed();
    mc_diag_destroy(diag);
    return scratch_end();
}
