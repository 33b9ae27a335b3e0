/* Limits, and the order in which entries go: by last use, also where the clock goes back. */
#include "fixture.h"

enum { ENTRY_BYTES = 56 + 5 + 4 + 16 }; /* of a put_text of four letters */
static const char *directory;

static mccache *fresh(uint64_t bytes, uint64_t files) {
    tree_remove(directory);
    fixture_clock = START;
    fixture_log[0] = '\0';
    return open_limits(MCCACHE_READ_WRITE, directory, bytes, files);
}

static void put_range(mccache *cache, int first, int last) {
    for (int i = first; i <= last; i++, fixture_clock += 100) put_text(cache, i, "text");
}

/* "1.1" for entries FIRST to LAST that are there, not there and there. Looks at names,
   so that nothing is used. */
static const char *present(int first, int last) {
    static char marks[256];
    for (int i = first; i <= last; i++)
        marks[i - first] = access(entry_path(directory, i), F_OK) == 0 ? '1' : '.';
    marks[last - first + 1] = '\0';
    return marks;
}

static void expect_present(const char *what, const char *want, int first, int last) {
    const char *got = present(first, last);
    CHECK(strcmp(got, want) == 0, "%s: %s, want %s", what, got, want);
}

static void check_files(void) {
    mccache *cache = fresh(0, 4);
    put_range(cache, 1, 4);
    expect_present("as many as there may be", "1111", 1, 4);
    put_range(cache, 5, 5);
    expect_present("one more", ".1111", 1, 5);
    CHECK(has_text(cache, 2, "text"), "2 is used");
    put_range(cache, 6, 6);
    expect_present("by use", ".1.111", 1, 6);
    CHECK(stats_of(cache).evicted == 2 && stats_of(cache).files == 4, "%d", (int)stats_of(cache).evicted);
    mccache_close(cache);
}

static void check_bytes(void) {
    mccache *cache = fresh(3 * ENTRY_BYTES, 0);
    put_range(cache, 1, 3);
    expect_present("as many bytes as there may be", "111", 1, 3);
    put_range(cache, 4, 4);
    expect_present("a 32nd goes at once", "..11", 1, 4);
    CHECK(stats_of(cache).bytes == 2 * ENTRY_BYTES, "%d", (int)stats_of(cache).bytes);
    mccache_close(cache);
}

/* What others put is seen at the first put, and 64 puts later. */
static void check_others(void) {
    mccache *other = fresh(0, 0);
    put_range(other, 1, 100);
    mccache *cache = open_limits(MCCACHE_READ_WRITE, directory, 0, 80);
    put_range(cache, 101, 101);
    CHECK(stats_of(cache).files == 78, "%d files", (int)stats_of(cache).files);
    expect_present("the newest stay", ".111", 23, 26);
    mccache_close(cache);
    cache = open_limits(MCCACHE_READ_WRITE, directory, 0, 160);
    put_range(cache, 102, 102);
    put_range(other, 103, 200);
    for (int i = 0; i < 64; i++) put_text(cache, 102, "text");
    CHECK(stats_of(cache).files == 177, "not looked at yet: %d files", (int)stats_of(cache).files);
    put_text(cache, 102, "text");
    CHECK(stats_of(cache).files == 155, "%d files", (int)stats_of(cache).files);
    mccache_close(cache);
    mccache_close(other);
}

/* A use is written down once a minute. */
static void check_touch(void) {
    mccache *cache = fresh(0, 2);
    put_text(cache, 1, "text");
    fixture_clock += 30;
    put_text(cache, 2, "text");
    fixture_clock += 29;
    CHECK(has_text(cache, 1, "text"), "used before a minute is over");
    struct stat status;
    CHECK(stat(entry_path(directory, 1), &status) == 0 && status.st_mtime == START, "not written down");
    fixture_clock += 1;
    CHECK(has_text(cache, 1, "text"), "used after a minute");
    CHECK(stat(entry_path(directory, 1), &status) == 0 && status.st_mtime == START + 60, "written down");
    put_range(cache, 3, 3);
    expect_present("2 was used longest ago", "1.1", 1, 3);
    mccache_close(cache);
}

/* The clock is put back by a year: what has times of the future was used before that, so longest ago. */
static void check_clock(void) {
    mccache *cache = fresh(0, 4);
    put_range(cache, 1, 4);
    fixture_clock -= 365 * 86400;
    CHECK(has_text(cache, 3, "text"), "used after the clock was put back");
    struct stat status;
    CHECK(stat(entry_path(directory, 3), &status) == 0 && (uint64_t)status.st_mtime == fixture_clock,
          "put right");
    fixture_clock += 100;
    put_range(cache, 5, 6);
    expect_present("1 and 2 go first", "..1111", 1, 6);
    put_range(cache, 7, 7);
    expect_present("then 4, though its time is the latest", "..1.111", 1, 7);
    put_range(cache, 8, 8);
    expect_present("then 3", "....1111", 1, 8);
    mccache_close(cache);
}

/* Clocks of two machines differ a little: that is not a clock put back. */
static void check_skew(void) {
    mccache *cache = fresh(0, 2);
    put_text(cache, 1, "text");
    fixture_clock += 600;
    put_text(cache, 2, "text");
    fixture_clock -= 300;
    put_text(cache, 3, "text");
    expect_present("1 is oldest", ".11", 1, 3);
    mccache_close(cache);
}

static void make_temporary(const char *name, int64_t age) {
    const char *path = shard_path(directory, 1, name);
    write_file(path, (const unsigned char *)"half", 4);
    struct timespec time = {.tv_sec = (time_t)((int64_t)fixture_clock - age)};
    utimensat(AT_FDCWD, path, (const struct timespec[]){time, time}, 0);
}

static bool has_temporary(const char *name) { return access(shard_path(directory, 1, name), F_OK) == 0; }

/* Of processes that died. Names that are not quite ours are somebody else's. */
static void check_temporaries(void) {
    static const struct {
        const char *name;
        int64_t age;
        bool stays;
    } files[] = {
        {"tmp.1.0123456789abcdef", 3601, false},
        {"tmp.2.0123456789abcdef", 3599, true},
        {"tmp.3.0123456789abcdef", -3601, false},
        {"tmp.4.0123456789abcdef", -3599, true},
        {"tmp.5.0123456789abcdefg", 100000, true},
        {"tmp.6.0123456789ABCDEF", 100000, true},
        {"tmp.x.0123456789abcdef", 100000, true},
        {"tmp", 100000, true},
        {"temporary", 100000, true},
    };
    mccache *cache = fresh(0, 0);
    put_text(cache, 1, "text");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) make_temporary(files[i].name, files[i].age);
    CHECK(stats_of(cache).stale == 2 && stats_of(cache).files == 1, "%d stale", (int)stats_of(cache).stale);
    mccache_close(cache);
    cache = open_mode(MCCACHE_READ_WRITE, directory);
    put_text(cache, 2, "text");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        CHECK(has_temporary(files[i].name) == files[i].stays, "%s", files[i].name);
    mccache_close(cache);
}

/* Who has an entry open reads it to its end. */
static void check_reader(void) {
    mccache *cache = fresh(0, 1);
    unsigned char before[256], after[256];
    put_text(cache, 1, "text");
    size_t size = read_file(entry_path(directory, 1), before, sizeof before);
    int fd = open(entry_path(directory, 1), O_RDONLY);
    fixture_clock++;
    put_text(cache, 2, "text");
    expect_present("evicted", ".1", 1, 2);
    CHECK(read(fd, after, sizeof after) == (ssize_t)size && memcmp(before, after, size) == 0,
          "what was open");
    close(fd);
    mccache_close(cache);
}

int main(void) {
    fixture_begin();
    directory = strdup(path_of("cache"));
    check_files();
    check_bytes();
    check_others();
    check_touch();
    check_clock();
    check_skew();
    check_temporaries();
    check_reader();
    CHECK(fixture_log[0] == '\0', "no fault: %s", fixture_log);
    free((char *)directory);
    return fixture_end();
}
