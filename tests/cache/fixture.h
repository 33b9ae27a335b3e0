/* A directory of a test's own, caches in it with a clock that the test sets, and what they log. */
#ifndef TESTS_CACHE_FIXTURE_H
#define TESTS_CACHE_FIXTURE_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "check.h"
#include "mccache.h"
#include "tree.h"

enum { LOG_BYTES = 8192, START = 1700000000 };

static char fixture_root[] = "cache-XXXXXX";
static uint64_t fixture_clock = START;
static char fixture_log[LOG_BYTES]; /* lines, newest last */

static inline void fixture_begin(void) {
    if (mkdtemp(fixture_root) != NULL) return;
    perror(fixture_root);
    exit(1);
}

static inline int fixture_end(void) {
    tree_remove(fixture_root);
    return check_end();
}

static inline uint64_t read_clock(void *user) { return *(const uint64_t *)user; }

static inline void keep_log(void *user, const char *message) {
    size_t used = strlen(fixture_log);
    (void)user;
    snprintf(fixture_log + used, LOG_BYTES - used, "%s\n", message);
}

static inline int log_lines(void) {
    int lines = 0;
    for (const char *at = fixture_log; (at = strchr(at, '\n')) != NULL; at++) lines++;
    return lines;
}

/* Below the test's directory. Valid until the fourth call from here. */
static inline const char *path_of(const char *name) {
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", fixture_root, name);
    return path;
}

static inline mccache_config config_of(mccache_mode mode, const char *directory) {
    return (mccache_config){.size = sizeof(mccache_config),
                            .mode = mode,
                            .directory = directory,
                            .log = keep_log,
                            .clock = read_clock,
                            .clock_user = &fixture_clock};
}

static inline mccache *open_mode(mccache_mode mode, const char *directory) {
    mccache_config config = config_of(mode, directory);
    mccache *cache = mccache_open(&config);
    if (cache == NULL) exit(1);
    return cache;
}

static inline mccache *open_limits(mccache_mode mode, const char *directory, uint64_t bytes, uint64_t files) {
    mccache_config config = config_of(mode, directory);
    config.max_bytes = bytes;
    config.max_files = files;
    mccache *cache = mccache_open(&config);
    if (cache == NULL) exit(1);
    return cache;
}

static inline mccache_key key_number(int number) {
    mccache_field field = {"number", &number, sizeof number};
    return mccache_key_of(&field, 1);
}

static inline void put_text(mccache *cache, int number, const char *text) {
    mccache_key key = key_number(number);
    mccache_put(cache, &key, "label", text, strlen(text));
}

/* Whether there is an entry NUMBER with TEXT; anything but TEXT is a failure. */
static inline bool has_text(mccache *cache, int number, const char *text) {
    mccache_key key = key_number(number);
    mccache_blob blob;
    bool found = mccache_get(cache, &key, &blob);
    if (found)
        CHECK(blob.size == strlen(text) && memcmp(blob.data, text, blob.size) == 0,
              "entry %d holds '%s', want '%s'", number, (char *)blob.data, text);
    mccache_blob_free(&blob);
    return found;
}

/* The path of entry NUMBER below DIRECTORY, by docs/cache.md. Valid as that of path_of. */
static inline const char *entry_path(const char *directory, int number) {
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4], text[MCCACHE_KEY_TEXT];
    mccache_key key = key_number(number);
    mccache_key_text(&key, text);
    snprintf(path, sizeof paths[0], "%s/%.2s/%s.entry", directory, text, text);
    return path;
}

/* The folder that entry NUMBER lies in; with a NAME, a file of that name there. Valid as that of path_of. */
static inline const char *shard_path(const char *directory, int number, const char *name) {
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    const char *entry = entry_path(directory, number);
    snprintf(path, sizeof paths[0], "%.*s%s%s", (int)(strrchr(entry, '/') - entry), entry,
             name != NULL ? "/" : "", name != NULL ? name : "");
    return path;
}

static inline size_t read_file(const char *path, unsigned char *bytes, size_t size) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) return 0;
    size_t count = fread(bytes, 1, size, file);
    fclose(file);
    return count;
}

/* In place: owner, mode and name stay. */
static inline void write_file(const char *path, const unsigned char *bytes, size_t size) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || close(fd) != 0) {
        perror(path);
        exit(1);
    }
}

static inline mccache_stats stats_of(mccache *cache) {
    mccache_stats stats = {.size = sizeof stats};
    mccache_get_stats(cache, &stats);
    return stats;
}

#endif
