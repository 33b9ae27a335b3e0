/* Files of records: what survives damage, crashes and company, and what is passed on. */
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "record_stores.h"
#include "records/parts.h"

/* -- Reading and adding */

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

/* Two stores that have two of six records in common: A of the first four, B of the last four. */
typedef struct sharing {
    record_store *a, *b;
    char own[300], theirs[300], out[300]; /* A's file, B's, and what is exported */
    char bytes[1 << 17];                  /* of that, */
    size_t size;                          /* so many */
} sharing;

static void open_sharing(sharing *s) {
    static test_record t;
    snprintf(s->own, sizeof s->own, "%s", scratch_path("own.jsonl"));
    snprintf(s->theirs, sizeof s->theirs, "%s", scratch_path("theirs.jsonl"));
    snprintf(s->out, sizeof s->out, "%s", scratch_path("out.jsonl"));
    s->a = open_store(s->own), s->b = open_store(s->theirs);
    for (int i = 0; i < 6; i++) {
        const plan_problem p = test_problem(MC_OP_SPMM);
        test_fill(&t, &p, gpu, 3);
        if (i < 4) add(s->a, &t.r);
        if (i > 1) add(s->b, &t.r);
    }
}

static void import_all(record_store *store, const char *path, size_t want) {
    mc_diag *diag = mc_diag_create();
    size_t count = 99;
    CHECK(record_import(store, path, &count, diag) == MC_OK && count == want, "%s: %zu, want %zu: %s", path,
          count, want, mc_diag_text(diag));
    mc_diag_destroy(diag);
}

static void export_all(record_store *store, const char *path, size_t want) {
    mc_diag *diag = mc_diag_create();
    size_t count = 99;
    CHECK(record_export(store, path, 0, &count, diag) == MC_OK && count == want, "%s: %zu, want %zu: %s",
          path, count, want, mc_diag_text(diag));
    mc_diag_destroy(diag);
}

/* What is new is added to the own file, in which a line of a later version stays. */
static void check_import(sharing *s) {
    append_bytes(s->own, "{\"schema\":9}\n", 13);
    import_all(s->a, s->theirs, 2);
    import_all(s->a, s->theirs, 0);
    s->a = reopen(s->a, s->own);
    CHECK(records_of(s->a) == 6 && said_lines == 1, "%zu records: %s", records_of(s->a), said);
    CHECK_TEXT(said, "schema is 9");
    export_all(s->a, s->out, 6);
    s->size = bytes_of(s->out, s->bytes, sizeof s->bytes);
}

/* The same records are the same bytes, whichever way they came: by FIRST, then SECOND (NULL: by it alone). */
static void check_same_bytes(sharing *s, const char *first, size_t first_count, const char *second,
                             size_t second_count) {
    static char bytes[sizeof s->bytes];
    record_store *store = open_store(NULL);
    import_all(store, first, first_count);
    if (second != NULL) import_all(store, second, second_count);
    export_all(store, s->out, 6);
    CHECK(bytes_of(s->out, bytes, sizeof bytes) == s->size && memcmp(bytes, s->bytes, s->size) == 0,
          "other bytes by %s", first);
    record_store_close(store);
}

static void test_share(mc_diag *diag) {
    static sharing s;
    size_t count;
    open_sharing(&s);
    check_import(&s);
    check_same_bytes(&s, s.out, 6, NULL, 0);
    check_same_bytes(&s, s.theirs, 4, s.own, 2);
    CHECK(record_import(s.b, scratch_path("nowhere"), &count, diag) == MC_IO, "no file");
    CHECK_TEXT(mc_diag_text(diag), "nowhere: No such file");
    mc_diag_clear(diag);
    CHECK(record_export(s.b, "/proc/nowhere/x", 0, &count, diag) == MC_IO && count == 0, "no folder");
    mc_diag_clear(diag);
    record_store_close(s.a);
    record_store_close(s.b);
    unlink(s.own);
    unlink(s.theirs);
    unlink(s.out);
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

/* A link of one's own is followed, one that another user made is not: it could lead to any file of ours. */
static void test_links(mc_diag *diag) {
    static const char line[] = "a line\n";
    char target[300], link[300], other[300];
    bool missing;
    struct stat info;
    snprintf(target, sizeof target, "%s", scratch_path("links/target.jsonl"));
    snprintf(link, sizeof link, "%s", scratch_path("links/records.jsonl"));
    snprintf(other, sizeof other, "%s", scratch_path("links/other.jsonl"));
    CHECK(mkdir(scratch_path("links"), 0700) == 0 && symlink("other.jsonl", link) == 0, "%s", link);
    CHECK(symlink("../links/target.jsonl", other) == 0, "%s", other);
    CHECK(record_file_append(link, line, sizeof line - 1, diag) == MC_OK, "%s", mc_diag_text(diag));
    CHECK(stat(target, &info) == 0 && info.st_size == (off_t)sizeof line - 1,
          "what a link to a link leads to");
    if (geteuid() == 0) {
        CHECK(lchown(link, 65534, 65534) == 0, "%s", link);
        mc_diag_clear(diag);
        CHECK(record_file_append(link, line, sizeof line - 1, diag) == MC_IO,
              "another user's link is followed");
        CHECK(strstr(mc_diag_text(diag), "a link that another user made is not followed") != NULL, "%s",
              mc_diag_text(diag));
        CHECK(record_file_read(link, NULL, NULL, NULL, &missing, diag) == MC_IO && !missing, "read");
        CHECK(stat(target, &info) == 0 && info.st_size == (off_t)sizeof line - 1, "it was written to");
        mc_diag_clear(diag);
    }
    unlink(link);
    unlink(other);
    unlink(target);
    rmdir(scratch_path("links"));
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    scratch_begin();
    test_torn();
    test_garbage();
    test_modes();
    test_unwritable(diag);
    test_file_limit(diag);
    test_company();
    test_fork();
    test_links(diag);
    test_share(diag);
    test_brief(diag);
    mc_diag_destroy(diag);
    return scratch_end();
}
