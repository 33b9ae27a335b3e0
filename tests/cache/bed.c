#include "bed.h"
#include "tree.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void give_up(const char *what) {
    perror(what);
    exit(1);
}

/* -- Directories -------------------------------------------------------------------------------------- */

void bed_make(cache_bed *bed) {
    const char *where = getenv("TMPDIR");
    if (!where || *where != '/') where = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(bed->top, sizeof bed->top, "%s/mccache-XXXXXX", where);
    if (!mkdtemp(bed->top)) give_up(bed->top);
    int length = snprintf(bed->cache, sizeof bed->cache, "%s/cache", bed->top);
    if (length >= (int)sizeof bed->cache) give_up("TMPDIR");
}

void bed_remove(const cache_bed *bed) { remove_tree(bed->top); }

static int open_up(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)place;
    if (kind == FTW_D || kind == FTW_DNR) (void)!chmod(path, 0700);
    return 0;
}

void remove_tree(const char *path) {
    nftw(path, open_up, 16, FTW_PHYS);
    tree_remove(path);
}

static int files_counted; /* nftw passes nothing on */

static int count_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)path, (void)place;
    files_counted += kind == FTW_F && S_ISREG(status->st_mode);
    return 0;
}

int count_files(const char *path) {
    files_counted = 0;
    nftw(path, count_one, 16, FTW_PHYS);
    return files_counted;
}

/* -- Samples ------------------------------------------------------------------------------------------ */

enum { SAMPLE_MOST = 20000 };

mccache_key sample_key(unsigned number) {
    const mccache_field fields[] = {mccache_text("test", "sample"), {"number", &number, sizeof number}};
    return mccache_key_of(fields, 2);
}

/* Empty, small, and some larger than a page; versions differ in size, too. */
static size_t sample_size(unsigned number, unsigned version) {
    return number % 7 == 6 ? 0 : ((number + 1) * 2654435761u >> 8) % SAMPLE_MOST + version;
}

static void sample_fill(unsigned number, unsigned version, unsigned char *bytes, size_t size) {
    unsigned state = number * 40503u + version;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)((state = state * 1664525u + 1013904223u) >> 24);
}

void sample_put(mccache *cache, unsigned number, unsigned version) {
    unsigned char bytes[SAMPLE_MOST + SAMPLE_VERSIONS];
    char label[64];
    size_t size = sample_size(number, version);
    mccache_key key = sample_key(number);
    sample_fill(number, version, bytes, size);
    snprintf(label, sizeof label, "sample %u", number);
    mccache_put(cache, &key, label, bytes, size);
}

static bool sample_is(const mccache_blob *blob, unsigned number, unsigned version) {
    unsigned char bytes[SAMPLE_MOST + SAMPLE_VERSIONS];
    size_t size = sample_size(number, version);
    if (blob->size != size) return false;
    sample_fill(number, version, bytes, size);
    return size == 0 || memcmp(blob->data, bytes, size) == 0;
}

sample_state sample_get(mccache *cache, unsigned number) {
    mccache_blob blob = {0};
    mccache_key key = sample_key(number);
    char label[64];
    bool right = false;
    if (!mccache_get(cache, &key, &blob)) return SAMPLE_MISS;
    for (unsigned version = 0; !right && version < SAMPLE_VERSIONS; version++)
        right = sample_is(&blob, number, version);
    snprintf(label, sizeof label, "sample %u", number);
    right = right && blob.label && strcmp(blob.label, label) == 0;
    mccache_blob_free(&blob);
    return right ? SAMPLE_RIGHT : SAMPLE_WRONG;
}

typedef struct search {
    mccache_key key;
    const cache_bed *bed;
    char *path;
} search;

static bool is_it(void *user, const mccache_item *item) {
    search *s = user;
    if (memcmp(&item->key, &s->key, sizeof s->key) != 0) return true;
    snprintf(s->path, BED_PATH, "%.100s/%.127s", s->bed->cache, item->file);
    return false;
}

void sample_file(const cache_bed *bed, unsigned number, char path[BED_PATH]) {
    search s = {sample_key(number), bed, path};
    const mccache_config config = {.size = sizeof config, .mode = MCCACHE_READ_ONLY, .directory = bed->cache};
    mccache *cache = mccache_open(&config);
    path[0] = 0;
    if (!cache) give_up("mccache_open");
    mccache_walk(cache, false, is_it, &s);
    mccache_close(cache);
}

/* -- Log ---------------------------------------------------------------------------------------------- */

void log_count(void *user, const char *message) {
    log_lines *lines = user;
    if (lines->count == LOG_LINES) return;
    char *text = lines->text[lines->count];
    snprintf(text, LOG_TEXT, "%s", message);
    for (int i = 0; i < lines->count; i++)
        if (strcmp(lines->text[i], text) == 0) {
            lines->same++;
            break;
        }
    lines->count++;
}

/* -- Processes ---------------------------------------------------------------------------------------- */

void *shared_memory(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) give_up("mmap");
    return memory;
}

pid_t child_start(void (*function)(void *), void *user, unsigned seconds) {
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) give_up("fork");
    if (child > 0) return child;
    alarm(seconds);
    function(user);
    _exit(0);
}

int child_wait(pid_t child) {
    int status;
    if (waitpid(child, &status, 0) != child) give_up("waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int child_run(void (*function)(void *), void *user) { return child_wait(child_start(function, user, 20)); }

double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void sleep_ms(unsigned milliseconds) {
    struct timespec time = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    nanosleep(&time, NULL);
}
