/* A cache in unkind surroundings: any umask, no HOME, a directory that may only be read, that is another
 * user's, that goes away, a disk that is really full, clocks that are put back, no standard streams, a fork
 * in the middle. */
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "check.h"
#include "bed.h"

enum { NOBODY = 65534, SAMPLES = 8, NOT_HERE = 78 /* exit status: the system does not permit it */ };

/* Shared with the children. */
typedef struct scene {
    cache_bed bed;
    log_lines lines;
    int right, missed, wrong; /* gets */
    bool usable;
    uint64_t now; /* of the clock, where one is set */
} scene;

static uint64_t scene_clock(void *user) { return ((const scene *)user)->now; }

static mccache *open_cache(scene *s, uint64_t max_files) {
    const mccache_config config = {.size = sizeof config,
                                   .directory = s->bed.cache,
                                   .max_files = max_files,
                                   .log = log_count,
                                   .log_user = &s->lines,
                                   .clock = s->now ? scene_clock : NULL,
                                   .clock_user = s};
    return mccache_open(&config);
}

static void put_all(mccache *cache) {
    for (unsigned i = 0; i < SAMPLES; i++) sample_put(cache, i, 0);
}

static void get_all(scene *s, mccache *cache) {
    s->right = s->missed = s->wrong = 0;
    for (unsigned i = 0; i < SAMPLES; i++) {
        sample_state state = sample_get(cache, i);
        s->right += state == SAMPLE_RIGHT;
        s->missed += state == SAMPLE_MISS;
        s->wrong += state == SAMPLE_WRONG;
    }
}

static void put_and_get(void *user) {
    scene *s = user;
    mccache *cache = open_cache(s, 0);
    s->usable = mccache_usable(cache, NULL);
    put_all(cache);
    get_all(s, cache);
    mccache_close(cache);
}

static void get_and_put(void *user) {
    scene *s = user;
    mccache *cache = open_cache(s, 0);
    s->usable = mccache_usable(cache, NULL);
    get_all(s, cache);
    put_all(cache);
    mccache_close(cache);
}

/* STATUS of a child; false, and says so, where the system did not permit what it tried. */
static bool ran(const char *what, int status) {
    if (status == NOT_HERE) printf("SKIPPED: %s: not permitted here\n", what);
    else CHECK(status == 0, "%s: ended with %d", what, status);
    return status == 0;
}

static void expect(const char *what, const scene *s, int right, int lines) {
    CHECK(s->right == right && s->wrong == 0, "%s: %d right, %d wrong, %d missed", what, s->right, s->wrong,
          s->missed);
    CHECK(s->lines.count <= lines && s->lines.same == 0, "%s: %d lines: %s", what, s->lines.count,
          s->lines.text[0]);
}

/* -- Modes ---------------------------------------------------------------------------------------------- */

static int modes_wrong;

static int check_mode(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)path, (void)place;
    mode_t want = kind == FTW_F ? 0600 : 0700;
    modes_wrong += (status->st_mode & 07777) != want;
    return 0;
}

static mode_t mask;

static void under_mask(void *user) {
    umask(mask);
    put_and_get(user);
}

static void test_umask(scene *s, mode_t value) {
    char what[32];
    snprintf(what, sizeof what, "umask %03o", (unsigned)value);
    *s = (scene){0};
    bed_make(&s->bed);
    mask = value;
    ran(what, child_run(under_mask, s));
    expect(what, s, SAMPLES, 0);
    modes_wrong = 0;
    nftw(s->bed.cache, check_mode, 16, FTW_PHYS);
    CHECK(modes_wrong == 0, "%s: %d modes are not 0600 or 0700", what, modes_wrong);
    bed_remove(&s->bed);
}

/* -- No home --------------------------------------------------------------------------------------------- */

static const struct home {
    const char *home, *xdg;
} homes[] = {{NULL, NULL}, {"", NULL}, {"", ""}, {"relative", NULL}, {NULL, "relative"}, {"../x", "./y"}};

static const struct home *home_of;

static void set_or_not(const char *name, const char *value) {
    if (value) setenv(name, value, 1);
    else unsetenv(name);
}

static void without_home(void *user) {
    scene *s = user;
    mccache_config config = {.size = sizeof config, .log = log_count, .log_user = &s->lines};
    mccache_paths paths;
    const char *const others[] = {"MCGEN_CACHE", "MCGEN_CACHE_DIR", "MCGEN_CACHE_MAX", "MCGEN_CACHE_SYSTEM"};
    for (int i = 0; i < 4; i++) unsetenv(others[i]);
    set_or_not("HOME", home_of->home);
    set_or_not("XDG_CACHE_HOME", home_of->xdg);
    if (chdir(s->bed.top) != 0) _exit(1);
    mccache_environment(&config, &paths, NULL);
    mccache *cache = mccache_open(&config);
    if (!cache || mccache_directory(cache)) _exit(2);
    put_all(cache);
    get_all(s, cache);
    mccache_key key = sample_key(0);
    if (mccache_lock_take(cache, &key, 10000)) _exit(3);
    mccache_close(cache);
}

static void test_no_home(scene *s) {
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
        char what[80];
        home_of = &homes[i];
        snprintf(what, sizeof what, "HOME %s, XDG_CACHE_HOME %s", home_of->home ? home_of->home : "unset",
                 home_of->xdg ? home_of->xdg : "unset");
        *s = (scene){0};
        bed_make(&s->bed);
        double begin = seconds_now();
        ran(what, child_run(without_home, s));
        CHECK(seconds_now() - begin < 5, "%s: waits for a lock that cannot be", what);
        expect(what, s, 0, 1);
        CHECK(rmdir(s->bed.top) == 0, "%s: made files", what);
        bed_remove(&s->bed);
    }
}

/* -- Who may not write ----------------------------------------------------------------------------------- */

static void become_nobody(void) {
    if (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0) _exit(NOT_HERE);
}

static void nobody_gets(void *user) {
    if (geteuid() == 0) become_nobody();
    get_and_put(user);
}

static int give_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    return lchown(path, NOBODY, NOBODY);
}

static int close_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)place;
    return kind == FTW_F ? 0 : chmod(path, 0500);
}

/* What a user has, and may not write any more. */
static void test_read_only(scene *s) {
    *s = (scene){0};
    bed_make(&s->bed);
    ran("filling", child_run(put_and_get, s));
    if (geteuid() == 0) nftw(s->bed.top, give_one, 16, FTW_PHYS);
    nftw(s->bed.cache, close_one, 16, FTW_PHYS);
    int before = count_files(s->bed.cache);
    if (ran("a directory that may be read only", child_run(nobody_gets, s))) {
        expect("a directory that may be read only", s, SAMPLES, 2);
        CHECK(count_files(s->bed.cache) == before, "a directory that may be read only has new files");
    }
    bed_remove(&s->bed);
}

static int publish_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)place;
    return chmod(path, kind == FTW_F ? 0644 : 0755);
}

/* Root's directory is to be trusted; the other way round it is not. */
static void test_other_user(scene *s) {
    if (geteuid() != 0) {
        printf("SKIPPED: other users' directories: not root\n");
        return;
    }
    *s = (scene){0};
    bed_make(&s->bed);
    ran("filling", child_run(put_and_get, s));
    nftw(s->bed.top, publish_one, 16, FTW_PHYS);
    if (ran("root's directory", child_run(nobody_gets, s))) {
        expect("root's directory", s, SAMPLES, 2);
        CHECK(!s->usable, "root's directory cannot be written");
    }
    nftw(s->bed.cache, give_one, 16, FTW_PHYS);
    s->lines = (log_lines){0};
    ran("another's directory", child_run(get_and_put, s));
    expect("another's directory", s, 0, 1);
    CHECK(!s->usable && s->lines.count == 1, "another's directory: %d lines", s->lines.count);
    bed_remove(&s->bed);
}

/* -- A disk that is full, and one that became read-only -------------------------------------------------- */

static void on_small_disk(void *user) {
    scene *s = user;
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", s->bed.top, "tmpfs", 0, "size=32k,mode=700") != 0)
        _exit(NOT_HERE);
    put_and_get(s);
    int kept = s->right;
    if (kept == 0 || kept == SAMPLES || s->wrong != 0 || s->lines.count != 1) _exit(1);
    if (count_files(s->bed.cache) < kept) _exit(2);
    s->lines = (log_lines){0};
    if (mount(NULL, s->bed.top, NULL, MS_REMOUNT | MS_RDONLY, NULL) != 0) _exit(NOT_HERE);
    get_and_put(s);
    if (s->right != kept) _exit(3);
}

static void test_full_disk(scene *s) {
    *s = (scene){0};
    bed_make(&s->bed);
    if (ran("a full disk", child_run(on_small_disk, s))) {
        CHECK(s->wrong == 0 && !s->usable, "a read-only disk: %d wrong, usable %d", s->wrong, s->usable);
        CHECK(s->lines.count >= 1 && s->lines.count <= 2 && s->lines.same == 0,
              "a read-only disk: %d lines: %s", s->lines.count, s->lines.text[0]);
    }
    bed_remove(&s->bed);
}

/* -- Clocks ---------------------------------------------------------------------------------------------- */

enum { KEPT = 4 };

static void age(const cache_bed *bed, unsigned number, time_t seconds) {
    char file[BED_PATH];
    struct timespec times[2] = {{.tv_sec = time(NULL) + seconds}, {.tv_sec = time(NULL) + seconds}};
    sample_file(bed, number, file);
    CHECK(file[0] && utimensat(AT_FDCWD, file, times, 0) == 0, "sample %u", number);
}

/* The clock goes back ten years between puts: what was just put is still there, limits hold. */
static void test_clock_back(scene *s) {
    const uint64_t year = 365 * 24 * 60 * 60;
    *s = (scene){.now = (uint64_t)time(NULL)};
    bed_make(&s->bed);
    mccache *cache = open_cache(s, KEPT);
    for (unsigned i = 0; i < 200; i++) {
        if (i == 100) s->now -= 10 * year;
        sample_put(cache, i, 0);
        CHECK(sample_get(cache, i) == SAMPLE_RIGHT, "clock put back: sample %u is gone", i);
        s->now++;
    }
    mccache_prune(cache, UINT64_MAX, KEPT);
    mccache_stats stats = {.size = sizeof stats};
    mccache_get_stats(cache, &stats);
    CHECK(stats.files <= KEPT, "clock put back: %lu files", (unsigned long)stats.files);
    mccache_close(cache);
    expect("clock put back", s, 0, 0);
    bed_remove(&s->bed);
}

/* Entries used "next year" are not for ever: new ones stay, and the others go. */
static void test_future(scene *s) {
    *s = (scene){0};
    bed_make(&s->bed);
    mccache *cache = open_cache(s, KEPT);
    for (unsigned i = 0; i < KEPT; i++) {
        sample_put(cache, i, 0);
        age(&s->bed, i, 366 * 24 * 60 * 60);
    }
    for (unsigned i = KEPT; i < 3 * KEPT; i++) {
        sample_put(cache, i, 0);
        mccache_prune(cache, UINT64_MAX, KEPT);
        CHECK(sample_get(cache, i) == SAMPLE_RIGHT, "sample %u went for one of next year", i);
    }
    for (unsigned i = 0; i < KEPT; i++)
        CHECK(sample_get(cache, i) == SAMPLE_MISS, "sample %u of next year stays for ever", i);
    mccache_close(cache);
    bed_remove(&s->bed);
}

/* -- The process and its directory ----------------------------------------------------------------------- */

static void test_removed(scene *s) {
    *s = (scene){0};
    bed_make(&s->bed);
    mccache *cache = open_cache(s, 0);
    put_all(cache);
    remove_tree(s->bed.cache);
    get_all(s, cache);
    CHECK(s->right == 0 && s->wrong == 0, "removed below us: %d right, %d wrong", s->right, s->wrong);
    put_all(cache);
    get_all(s, cache);
    CHECK(s->wrong == 0, "removed below us, put again: %d wrong", s->wrong);
    mccache_close(cache);
    CHECK(s->lines.count <= 2 && s->lines.same == 0, "removed below us: %s", s->lines.text[0]);
    bed_remove(&s->bed);
}

static void without_streams(void *user) {
    for (int file = 0; file < 3; file++) close(file);
    put_and_get(user);
}

static void test_no_streams(scene *s) {
    *s = (scene){0};
    bed_make(&s->bed);
    ran("no standard streams", child_run(without_streams, s));
    expect("no standard streams", s, SAMPLES, 0);
    bed_remove(&s->bed);
}

static mccache *inherited;

static void use_inherited(void *user) {
    scene *s = user;
    int wrong = 0;
    for (int round = 0; round < 40; round++) {
        put_all(inherited);
        for (unsigned i = 0; i < SAMPLES; i++) wrong += sample_get(inherited, i) != SAMPLE_RIGHT;
    }
    if (wrong || s->lines.count) _exit(1);
    mccache_close(inherited);
}

/* Parent and children go on with the same open cache. */
static void test_fork(scene *s) {
    enum { CHILDREN = 4 };
    pid_t children[CHILDREN];
    *s = (scene){0};
    bed_make(&s->bed);
    inherited = open_cache(s, 0);
    sample_put(inherited, SAMPLES, 0);
    for (int i = 0; i < CHILDREN; i++) children[i] = child_start(use_inherited, s, 20);
    for (int i = 0; i < CHILDREN; i++) ran("fork", child_wait(children[i]));
    get_all(s, inherited);
    expect("fork", s, SAMPLES, 0);
    mccache_close(inherited);
    bed_remove(&s->bed);
}

int main(void) {
    scene *s = shared_memory(sizeof *s);
    const mode_t masks[] = {0, 022, 077, 0777};
    for (int i = 0; i < 4; i++) test_umask(s, masks[i]);
    test_no_home(s);
    test_read_only(s);
    test_other_user(s);
    test_full_disk(s);
    test_clock_back(s);
    test_future(s);
    test_removed(s);
    test_no_streams(s);
    test_fork(s);
    return check_end();
}
