/* Stores of records and their files: what is found, merged, kept, and what survives damage,
   crashes and company. */
#include <math.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../runtime/scratch.h"
#include "record_text.h"
#include "records.h"

static const char gpu[] = "NVIDIA H200";

/* What the log said. */
static char said[1 << 16];
static size_t said_lines;
static void hear(void *user, const char *message) {
    (void)user;
    said_lines++;
    snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", message);
}

static record_store *open_store(const char *path) {
    record_store *store;
    mc_status status = record_store_open(&(record_store_config){.path = path, .log = hear}, &store, NULL);
    said[0] = '\0', said_lines = 0;
    CHECK(status == MC_OK, "open");
    return store;
}

/* The log is that of the opening. */
static record_store *reopen(record_store *store, const char *path) {
    record_store_close(store);
    said[0] = '\0', said_lines = 0;
    CHECK(record_store_open(&(record_store_config){.path = path, .log = hear}, &store, NULL) == MC_OK,
          "open");
    return store;
}

static bool count_record(void *user, const record *r, bool own) {
    (void)r, (void)own;
    ++*(size_t *)user;
    return true;
}
static size_t records_of(record_store *store) {
    size_t count = 0;
    record_walk(store, count_record, &count);
    return count;
}

static void add(record_store *store, const record *r) {
    mc_diag *diag = mc_diag_create();
    CHECK(record_add(store, r, diag) == MC_OK, "%s", mc_diag_text(diag));
    mc_diag_destroy(diag);
}

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

/* -- Files */

static void append_bytes(const char *path, const char *bytes, size_t size) {
    FILE *file = fopen(path, "ab");
    CHECK(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, "%s", path);
}

/* A crash leaves half a line: what was before it and what comes after it is kept. */
static void test_torn(void) {
    static test_record t;
    const char *path = scratch_path("torn.jsonl");
    record_store *store = open_store(path);
    plan_problem p = test_problem(MC_OP_SPMM);
    test_fill(&t, &p, gpu, 3);
    add(store, &t.r);
    char *line = record_print(&t.r);
    append_bytes(path, "\n\r\n", 3);
    append_bytes(path, line, strlen(line) / 2);
    free(line);
    store = reopen(store, path);
    CHECK(records_of(store) == 1 && said_lines == 1, "%zu records, %s", records_of(store), said);
    CHECK_TEXT(said, "torn.jsonl:4: passed over: at character ");
    p.n += 8;
    test_fill(&t, &p, gpu, 3);
    add(store, &t.r);
    store = reopen(store, path);
    CHECK(records_of(store) == 2 && said_lines == 1, "%zu records, %s", records_of(store), said);
    record_store_close(store);
    unlink(path);
}

/* Any bytes are no more than warnings. */
static void test_garbage(void) {
    const char *path = scratch_path("garbage.jsonl");
    static char bytes[20000];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)test_random(256);
    append_bytes(path, bytes, sizeof bytes);
    record_store *store = open_store(path);
    CHECK(records_of(store) == 0, "%zu records", records_of(store));
    record_store_close(store);
    unlink(path);
}

/* Made with its folders, for nobody else. */
static void test_modes(void) {
    static test_record t;
    char path[300];
    struct stat info;
    umask(0);
    snprintf(path, sizeof path, "%s", scratch_path("a/b/records.jsonl"));
    record_store *store = open_store(path);
    plan_problem p = test_problem(MC_OP_SPMM);
    test_fill(&t, &p, gpu, 1);
    add(store, &t.r);
    CHECK(stat(path, &info) == 0 && (info.st_mode & 07777) == 0600, "mode %o", (unsigned)info.st_mode);
    CHECK(stat(scratch_path("a/b"), &info) == 0 && (info.st_mode & 07777) == 0700, "mode %o",
          (unsigned)info.st_mode);
    record_store_close(store);
    unlink(path);
    rmdir(scratch_path("a/b"));
    rmdir(scratch_path("a"));
}

/* Where there is no file to write, the record is remembered and the failure told. Nobody waits for a pipe. */
static void test_unwritable(mc_diag *diag) {
    static test_record t;
    plan_problem p = test_problem(MC_OP_SPMM);
    record found;
    char path[300];
    snprintf(path, sizeof path, "%s", scratch_path("pipe"));
    CHECK(mkfifo(path, 0600) == 0, "mkfifo");
    const char *const paths[] = {"/proc/nowhere/records.jsonl", scratch_dir, path};
    for (size_t i = 0; i < 3; i++) {
        record_store *store = open_store(NULL);
        store = reopen(store, paths[i]);
        CHECK(said_lines == (i != 0), "%s", said);
        test_fill(&t, &p, gpu, 2);
        CHECK(record_add(store, &t.r, diag) == MC_IO && mc_diag_count(diag) == 1, "%s", mc_diag_text(diag));
        mc_diag_clear(diag);
        CHECK(record_find(store, gpu, &p, false, &found), "remembered");
        record_free(&found);
        record_store_close(store);
    }
    unlink(path);
}

/* Neither a record nor an export that leaves the process's limit of file sizes ends it
   (SIGXFSZ), or leaves a part. */
static void test_file_limit(mc_diag *diag) {
    static test_record t;
    struct rlimit before, limit;
    plan_problem p = test_problem(MC_OP_SPMM);
    struct stat info;
    char path[300];
    snprintf(path, sizeof path, "%s", scratch_path("limit.jsonl"));
    record_store *store = open_store(path);
    test_fill(&t, &p, gpu, 2);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 10;
    setrlimit(RLIMIT_FSIZE, &limit);
    mc_status added = record_add(store, &t.r, diag);
    mc_status exported = record_export(store, scratch_path("limited.jsonl"), 0, NULL, diag);
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK(added == MC_IO && exported == MC_IO, "%d, %d", (int)added, (int)exported);
    CHECK_TEXT(mc_diag_text(diag), "limit.jsonl: File too large");
    CHECK_TEXT(mc_diag_text(diag), "limited.jsonl: File too large");
    CHECK(stat(path, &info) == 0 && info.st_size == 0, "nothing was appended");
    CHECK(stat(scratch_path("limited.jsonl"), &info) != 0, "no file was made");
    mc_diag_clear(diag);
    record_store_close(store);
    unlink(path);
}

/* -- Company */

enum { WRITERS = 4, EACH = 500 };

static void write_many(const char *path, int writer) {
    static test_record t;
    record_store *store = open_store(path);
    test_seed += (uint64_t)writer;
    for (int i = 0; i < EACH; i++) {
        plan_problem p = test_problem(MC_OP_SPMM);
        p.ldc = writer * EACH + i + 1; /* so that no two are one */
        test_fill(&t, &p, gpu, (int)test_random(TEST_CANDIDATES));
        add(store, &t.r);
    }
    record_store_close(store);
    exit(check_failed != 0);
}

/* Imports again and again, which puts new files in the old one's place. */
static void import_many(const char *path, const char *from) {
    for (int i = 0; i < 20; i++) {
        record_store *store = open_store(path);
        CHECK(record_import(store, from, NULL, NULL) == MC_OK, "import");
        record_store_close(store);
    }
    exit(check_failed != 0);
}

static void test_company(void) {
    static test_record t;
    char path[300], other[300];
    snprintf(path, sizeof path, "%s", scratch_path("company.jsonl"));
    snprintf(other, sizeof other, "%s", scratch_path("other.jsonl"));
    record_store *store = open_store(other);
    plan_problem p = test_problem(MC_OP_SDDMM);
    test_fill(&t, &p, gpu, 2);
    add(store, &t.r);
    record_store_close(store);
    fflush(stdout);
    for (int writer = 0; writer < WRITERS; writer++)
        if (fork() == 0) write_many(path, writer);
    if (fork() == 0) import_many(path, other);
    for (int i = 0; i <= WRITERS; i++) {
        int status;
        wait(&status);
        CHECK(status == 0, "a writer failed");
    }
    store = reopen(open_store(NULL), path);
    CHECK(said_lines == 0, "%s", said);
    CHECK(records_of(store) == WRITERS * EACH + 1, "%zu records", records_of(store));
    record_store_close(store);
    unlink(path);
    unlink(other);
}

/* -- A child that the application forks meanwhile */

ssize_t __real_write(int descriptor, const void *bytes, size_t size);
ssize_t __wrap_write(int descriptor, const void *bytes, size_t size);

static pid_t bystander = -1; /* 0: the next write is preceded by its birth */

ssize_t __wrap_write(int descriptor, const void *bytes, size_t size) {
    if (bystander == 0 && (bystander = fork()) == 0)
        for (;;) pause();
    return __real_write(descriptor, bytes, size);
}

/* It has the file open, but not locked. */
static void test_fork(void) {
    static test_record t;
    const char *path = scratch_path("forked.jsonl");
    record_store *store = open_store(path);
    plan_problem p = test_problem(MC_OP_SPMM);
    test_fill(&t, &p, gpu, 2);
    fflush(stdout);
    bystander = 0;
    add(store, &t.r);
    record_store_close(store);
    int file = open(path, O_RDWR);
    CHECK(bystander > 0 && flock(file, LOCK_EX | LOCK_NB) == 0, "locked by a child that does nothing");
    close(file);
    if (bystander > 0) kill(bystander, SIGKILL);
    while (wait(NULL) > 0) continue;
    unlink(path);
}

/* -- Import and export */

static size_t bytes_of(const char *path, char *bytes, size_t room) {
    FILE *file = fopen(path, "rb");
    size_t size = file != NULL ? fread(bytes, 1, room, file) : 0;
    if (file != NULL) fclose(file);
    return size;
}

static void test_share(mc_diag *diag) {
    static test_record t;
    static char first[1 << 17], second[1 << 17];
    char own[300], theirs[300], out[300];
    snprintf(own, sizeof own, "%s", scratch_path("own.jsonl"));
    snprintf(theirs, sizeof theirs, "%s", scratch_path("theirs.jsonl"));
    snprintf(out, sizeof out, "%s", scratch_path("out.jsonl"));
    plan_problem p[6];
    record_store *a = open_store(own), *b = open_store(theirs);
    for (int i = 0; i < 6; i++) {
        p[i] = test_problem(MC_OP_SPMM);
        test_fill(&t, &p[i], gpu, 3);
        if (i < 4) add(a, &t.r);
        if (i > 1) add(b, &t.r);
    }
    append_bytes(own, "{\"schema\":9}\n", 13); /* of a later version: it stays */
    size_t count = 99;
    CHECK(record_import(a, theirs, &count, diag) == MC_OK && count == 2, "%zu: %s", count,
          mc_diag_text(diag));
    CHECK(record_import(a, theirs, &count, diag) == MC_OK && count == 0, "%zu: %s", count,
          mc_diag_text(diag));
    a = reopen(a, own);
    CHECK(records_of(a) == 6 && said_lines == 1, "%zu records: %s", records_of(a), said);
    CHECK_TEXT(said, "schema is 9");
    CHECK(record_export(a, out, 0, &count, diag) == MC_OK && count == 6, "%zu: %s", count,
          mc_diag_text(diag));
    size_t size = bytes_of(out, first, sizeof first);
    record_store_close(b);
    b = open_store(NULL);
    CHECK(record_import(b, out, &count, diag) == MC_OK && count == 6, "%zu", count);
    CHECK(record_export(b, out, 0, &count, diag) == MC_OK && count == 6, "%zu", count);
    CHECK(bytes_of(out, second, sizeof second) == size && memcmp(first, second, size) == 0, "other bytes");
    record_store *c = open_store(NULL); /* the other way round */
    CHECK(record_import(c, theirs, &count, diag) == MC_OK && count == 4, "%zu", count);
    CHECK(record_import(c, own, &count, diag) == MC_OK && count == 2, "%zu", count);
    CHECK(record_export(c, out, 0, &count, diag) == MC_OK && count == 6, "%zu", count);
    CHECK(bytes_of(out, second, sizeof second) == size && memcmp(first, second, size) == 0, "other bytes");
    record_store_close(c);
    CHECK(record_import(b, scratch_path("nowhere"), &count, diag) == MC_IO, "no file");
    CHECK_TEXT(mc_diag_text(diag), "nowhere: No such file");
    mc_diag_clear(diag);
    CHECK(record_export(b, "/proc/nowhere/x", 0, &count, diag) == MC_IO && count == 0, "no folder");
    mc_diag_clear(diag);
    record_store_close(a);
    record_store_close(b);
    unlink(own);
    unlink(theirs);
    unlink(out);
}

/* What is shipped has the fastest kernels alone. */
static void test_brief(mc_diag *diag) {
    static test_record t;
    char out[300];
    snprintf(out, sizeof out, "%s", scratch_path("brief.jsonl"));
    const plan_problem p = test_problem(MC_OP_SPMM);
    record_store *all = open_store(NULL), *few = open_store(NULL);
    record found;
    size_t count;
    test_fill(&t, &p, gpu, 40);
    add(all, &t.r);
    CHECK(record_export(all, out, RECORD_BRIEF, &count, diag) == MC_OK && count == 1, "%s",
          mc_diag_text(diag));
    CHECK(record_import(few, out, &count, diag) == MC_OK && count == 1, "%s", mc_diag_text(diag));
    CHECK(record_find(few, gpu, &p, t.r.cold, &found), "not there");
    CHECK(found.candidate_count == 3 && strcmp(found.fields, t.r.fields) == 0 &&
              found.candidates[0].hash == t.r.candidates[0].hash,
          "%zu candidates", found.candidate_count);
    record_free(&found);
    record_store_close(few);
    record_store_close(all);
    unlink(out);
}

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
    test_merge();
    test_digest();
    test_torn();
    test_garbage();
    test_modes();
    test_unwritable(diag);
    test_file_limit(diag);
    test_company();
    test_fork();
    test_share(diag);
    test_brief(diag);
    test_shipped(diag);
    test_default_path();
    test_speed();
    mc_diag_destroy(diag);
    return scratch_end();
}
