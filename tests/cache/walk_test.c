/* Housekeeping: what mccache_walk tells of each file, and what mccache_prune removes and leaves. */
#include "fixture.h"

static const char *directory;

enum { LINES = 4096 };
typedef struct seen {
    char lines[LINES]; /* "STATE name: fault" */
    int count, stop_after;
    bool ordered;
    char last[128];
} seen;

static const char *const states[] = {"good", "damaged", "foreign", "stale"};

static bool look(void *user, const mccache_item *item) {
    seen *s = user;
    size_t used = strlen(s->lines);
    snprintf(s->lines + used, LINES - used, "%s %s: %s; %s\n", states[item->state], item->file,
             item->fault ? item->fault : "", item->label);
    s->ordered &= strcmp(s->last, item->file) < 0;
    snprintf(s->last, sizeof s->last, "%s", item->file);
    return ++s->count != s->stop_after;
}

static seen walk(mccache *cache, bool check) {
    seen s = {.ordered = true};
    CHECK(mccache_walk(cache, check, look, &s), "walk");
    return s;
}

/* The line that must be there for entry NUMBER, or for the file beside it called NAME. */
static void expect_line(const seen *s, const char *state, int number, const char *name, const char *rest) {
    char line[512];
    const char *path = entry_path(directory, number) + strlen(directory) + 1;
    snprintf(line, sizeof line, "%s %.*s%s: %s", state, name ? 3 : 128, path, name ? name : "", rest);
    CHECK_TEXT(s->lines, line);
}

static void flip_last_byte(int number) {
    unsigned char bytes[512];
    size_t size = read_file(entry_path(directory, number), bytes, sizeof bytes);
    bytes[size - 1] ^= 1;
    write_file(entry_path(directory, number), bytes, size);
}

static void write_beside(int number, const char *name) {
    write_file(shard_path(directory, number, name), (const unsigned char *)"theirs", 6);
}

static bool is_beside(int number, const char *name) {
    return access(shard_path(directory, number, name), F_OK) == 0;
}

static const char temporary[] = "tmp.77.0123456789abcdef";

/* 1 good, 2 with a wrong checksum, 3 cut off, 4 open to others, 5 a link, 6 of another version, 7 a folder;
   and strangers. */
static void fill(mccache *cache) {
    for (int i = 1; i <= 7; i++) put_text(cache, i, "text");
    flip_last_byte(2);
    CHECK(truncate(entry_path(directory, 3), 20) == 0, "truncate");
    chmod(entry_path(directory, 4), 0620);
    remove(entry_path(directory, 5));
    CHECK(symlink(entry_path(directory, 1), entry_path(directory, 5)) == 0, "symlink");
    unsigned char bytes[512];
    size_t size = read_file(entry_path(directory, 6), bytes, sizeof bytes);
    bytes[8] = 2;
    write_file(entry_path(directory, 6), bytes, size);
    remove(entry_path(directory, 7));
    mkdir(entry_path(directory, 7), 0700);
    write_beside(1, temporary);
    fixture_clock = 2000000000;
    write_beside(1, "notes.txt");
    write_file(path_of("cache/README"), (const unsigned char *)"theirs", 6);
    mkdir(path_of("cache/photos"), 0700);
}

static void check_walk(mccache *cache) {
    seen s = walk(cache, true);
    CHECK(s.count == 8 && s.ordered, "%d files: %s", s.count, s.lines);
    expect_line(&s, "good", 1, NULL, "; label");
    expect_line(&s, "damaged", 2, NULL, "its checksum is wrong; ");
    expect_line(&s, "damaged", 3, NULL, "cut off; ");
    expect_line(&s, "foreign", 4, NULL, "others may write to it; ");
    expect_line(&s, "foreign", 5, NULL, "not a regular file; ");
    expect_line(&s, "stale", 6, NULL, "written by another version; ");
    expect_line(&s, "foreign", 7, NULL, "not a regular file; ");
    expect_line(&s, "stale", 1, temporary, "left by a process that died; ");
    s = walk(cache, false);
    CHECK(s.count == 8, "%d files", s.count);
    expect_line(&s, "good", 2, NULL, "; label");
    expect_line(&s, "damaged", 3, NULL, "cut off; ");
    s = (seen){.stop_after = 2};
    CHECK(mccache_walk(cache, false, look, &s) && s.count == 2, "stopped after %d", s.count);
}

static void check_stats(mccache *cache) {
    mccache_stats stats = stats_of(cache);
    CHECK(stats.files == 6 && stats.stale == 1, "%d files, %d stale", (int)stats.files, (int)stats.stale);
    CHECK(stats.max_files == 10000 && stats.max_bytes == (uint64_t)512 << 20, "limits");
    CHECK(stats.puts == 7, "puts");
    mccache_stats cut;
    memset(&cut, 0x55, sizeof cut);
    cut.size = offsetof(mccache_stats, max_files);
    mccache_get_stats(cache, &cut);
    CHECK(cut.files == 6 && cut.max_files == 0x5555555555555555u, "a shorter struct of an older version");
}

static bool strangers_stay(void) {
    return is_beside(1, "notes.txt") && is_beside(1, "lock") && access(path_of("cache/README"), F_OK) == 0 &&
           access(path_of("cache/photos"), F_OK) == 0;
}

static void check_prune(mccache *cache) {
    mccache_key key = key_number(1);
    mccache_lock_release(mccache_lock_take(cache, &key, 0));
    CHECK(mccache_prune(cache, UINT64_MAX, UINT64_MAX) == 7, "damaged, foreign and stale ones");
    seen s = walk(cache, true);
    CHECK(s.count == 1, "%s", s.lines);
    expect_line(&s, "good", 1, NULL, "; label");
    CHECK(has_text(cache, 1, "text"), "what the link of 5 led to");
    CHECK(strangers_stay(), "somebody else's files");
    for (int i = 10; i < 20; i++, fixture_clock += 100) put_text(cache, i, "text");
    CHECK(mccache_prune(cache, UINT64_MAX, 4) == 7 && stats_of(cache).files == 4, "by files");
    CHECK(has_text(cache, 19, "text") && has_text(cache, 16, "text") && !has_text(cache, 15, "text"),
          "the newest stay");
    uint64_t bytes = stats_of(cache).bytes;
    CHECK(mccache_prune(cache, bytes - 1, UINT64_MAX) == 1 && stats_of(cache).files == 3, "by bytes");
    flip_last_byte(18);
    CHECK(mccache_prune(cache, 0, 0) == 3 && stats_of(cache).files == 0, "all");
    CHECK(strangers_stay(), "somebody else's files");
}

static char *aside(const char *path, int number) {
    static char name[4128];
    snprintf(name, sizeof name, "%s.aside.%d", path, number);
    return name;
}

/* Where something stands that the cache did not make, nothing is put until prune has made room; that of others
   is kept under another name. */
static void check_places(mccache *cache) {
    char entry[4000], shard[4000], inside[4160];
    snprintf(entry, sizeof entry, "%s", entry_path(directory, 1));
    snprintf(shard, sizeof shard, "%s", shard_path(directory, 2, NULL));
    snprintf(inside, sizeof inside, "%s/photo", entry);
    for (int round = 0; round < 2; round++) {
        put_text(cache, 2, "text");
        remove(entry);
        CHECK(mkdir(entry, 0700) == 0, "%s", entry);
        write_file(inside, (const unsigned char *)"theirs", 6);
        put_text(cache, 1, "text");
        CHECK(!has_text(cache, 1, "text"), "a directory in an entry's place");
        CHECK(mccache_prune(cache, UINT64_MAX, UINT64_MAX) == 1, "the directory");
        snprintf(inside, sizeof inside, "%s/photo", aside(entry, round));
        CHECK(access(inside, F_OK) == 0, "%s", inside);
        snprintf(inside, sizeof inside, "%s/photo", entry);
        put_text(cache, 1, "text");
        CHECK(has_text(cache, 1, "text"), "the entry is put again");
    }
    CHECK(rename(shard, path_of("cache/moved")) == 0 && symlink("moved", shard) == 0, "%s", shard);
    CHECK(!has_text(cache, 2, "text"), "a link in a shard's place");
    CHECK(mccache_prune(cache, UINT64_MAX, UINT64_MAX) == 1, "the link");
    CHECK(access(path_of("cache/moved"), F_OK) == 0, "what the link led to");
    write_file(shard, (const unsigned char *)"theirs", 6);
    CHECK(mccache_prune(cache, UINT64_MAX, UINT64_MAX) == 1, "the file");
    CHECK(access(aside(shard, 0), F_OK) == 0, "%s", aside(shard, 0));
    put_text(cache, 2, "text");
    CHECK(has_text(cache, 2, "text"), "the shard is made again");
    chmod(shard, 0770);
    CHECK(mccache_prune(cache, UINT64_MAX, UINT64_MAX) == 0, "a shard of entries");
    chmod(shard, 0700);
    CHECK(mccache_prune(cache, 0, 0) == 2, "all");
}

/* A shard that others may write into is told of, not read, and left alone. */
static void check_foreign_shard(mccache *cache) {
    put_text(cache, 1, "text");
    const char *shard = shard_path(directory, 1, NULL);
    char line[64];
    chmod(shard, 0770);
    fixture_log[0] = '\0';
    CHECK(!has_text(cache, 1, "text"), "a shard open to others");
    CHECK_TEXT(fixture_log, "others may write into it: entries below it are not used");
    seen s = walk(cache, true);
    snprintf(line, sizeof line, "foreign %s: others may write into it", strrchr(shard, '/') + 1);
    CHECK_TEXT(s.lines, line);
    CHECK(mccache_prune(cache, 0, 0) == 0, "nothing that we may touch");
    chmod(shard, 0700);
    CHECK(has_text(cache, 1, "text"), "put right");
}

int main(void) {
    fixture_begin();
    directory = strdup(path_of("cache"));
    mccache *cache = open_mode(MCCACHE_READ_WRITE, directory);
    fill(cache);
    check_walk(cache);
    check_stats(cache);
    check_prune(cache);
    check_foreign_shard(cache);
    check_places(cache);
    mccache_close(cache);
    free((char *)directory);
    return fixture_end();
}
