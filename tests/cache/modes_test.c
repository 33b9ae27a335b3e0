/* Read-only, off, system directories, directories that cannot be used: misses, and nothing written where
   nothing may be. */
#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "fixture.h"

/* -- What lies below a directory: names, modes, sizes and times, as one number */

static uint64_t tree_hash;

static int hash_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
    char line[1024];
    (void)kind, (void)place;
    snprintf(line, sizeof line, "%s %o %lld %lld.%ld %lld.%ld", path, status->st_mode,
             (long long)status->st_size, (long long)status->st_mtim.tv_sec, status->st_mtim.tv_nsec,
             (long long)status->st_ctim.tv_sec, status->st_ctim.tv_nsec);
    for (const char *at = line; *at != '\0'; at++)
        tree_hash = (tree_hash ^ (unsigned char)*at) * 0x100000001b3u;
    return 0;
}

static uint64_t hash_tree(const char *path) {
    tree_hash = 0xcbf29ce484222325u;
    nftw(path, hash_one, 16, FTW_PHYS);
    return tree_hash;
}

/* -- Modes */

static void fill(const char *directory, int number, const char *text) {
    mccache *cache = open_mode(MCCACHE_READ_WRITE, directory);
    put_text(cache, number, text);
    mccache_close(cache);
}

static bool visit_none(void *user, const mccache_item *item) {
    (void)user, (void)item;
    return true;
}

/* Every call there is. */
static void use_all(mccache *cache) {
    mccache_key key = key_number(1);
    put_text(cache, 1, "other");
    put_text(cache, 9, "new");
    mccache_drop(cache, &key);
    mccache_lock *lock = mccache_lock_take(cache, &key, 0);
    CHECK(lock == NULL, "a lock where nothing is made");
    mccache_lock_release(lock);
    CHECK(mccache_prune(cache, 0, 0) == 0, "pruned");
    mccache_walk(cache, true, visit_none, NULL);
    CHECK(!has_text(cache, 9, "new"), "a put that must not be");
}

static void check_read_only(void) {
    fill(path_of("ro"), 1, "one");
    fixture_clock += 1000;
    uint64_t before = hash_tree(path_of("ro"));
    mccache *cache = open_mode(MCCACHE_READ_ONLY, path_of("ro"));
    CHECK(mccache_usable(cache, NULL), "usable");
    CHECK(has_text(cache, 1, "one"), "read");
    use_all(cache);
    CHECK(has_text(cache, 1, "one"), "still there");
    CHECK(hash_tree(path_of("ro")) == before, "something was written");
    mccache_close(cache);
}

static void check_read_only_absent(void) {
    const char *why;
    fixture_log[0] = '\0';
    mccache *cache = open_mode(MCCACHE_READ_ONLY, path_of("absent/below"));
    CHECK(!mccache_usable(cache, &why), "not there");
    CHECK_TEXT(why, "No such file");
    use_all(cache);
    CHECK(access(path_of("absent"), F_OK) != 0, "made");
    CHECK(log_lines() == 1, "%s", fixture_log);
    CHECK(!mccache_walk(cache, false, visit_none, NULL), "nothing to walk");
    mccache_close(cache);
}

static void check_off(void) {
    const char *why;
    fill(path_of("off"), 1, "one");
    mccache_config config = config_of(MCCACHE_OFF, path_of("off"));
    config.system[0] = path_of("off");
    mccache *cache = mccache_open(&config);
    CHECK(!mccache_usable(cache, &why) && mccache_directory(cache) == NULL, "off");
    CHECK_TEXT(why, "off");
    use_all(cache);
    CHECK(!has_text(cache, 1, "one"), "off");
    mccache_close(cache);
    for (int i = 0; i < 2; i++) {
        cache = open_mode(MCCACHE_READ_WRITE, i == 0 ? NULL : "");
        CHECK(!mccache_usable(cache, &why) && mccache_directory(cache) == NULL, "no directory");
        CHECK_TEXT(why, "no directory");
        use_all(cache);
        mccache_close(cache);
    }
}

/* Our own comes first; what is only in a system directory is found there, and nothing is written there. */
static void check_system(mccache_mode mode) {
    fill(path_of("system1"), 1, "first");
    fill(path_of("system2"), 1, "second");
    fill(path_of("system2"), 2, "two");
    uint64_t before[] = {hash_tree(path_of("system1")), hash_tree(path_of("system2"))};
    fixture_clock += 1000;
    fixture_log[0] = '\0';
    mccache_config config = config_of(mode, path_of("own"));
    config.system[0] = path_of("no-such");
    config.system[1] = path_of("system1");
    config.system[2] = path_of("system2");
    mccache *cache = mccache_open(&config);
    CHECK_TEXT(fixture_log, "No such file or directory: this system directory is not used");
    CHECK(has_text(cache, 1, "first") && has_text(cache, 2, "two"), "found in their order");
    put_text(cache, 1, "own");
    CHECK(has_text(cache, 1, "own"), "our own comes first");
    mccache_key key = key_number(1);
    mccache_drop(cache, &key);
    CHECK(has_text(cache, 1, "first"), "the system's again");
    mccache_prune(cache, 0, 0);
    CHECK(has_text(cache, 2, "two"), "still there");
    CHECK(hash_tree(path_of("system1")) == before[0] && hash_tree(path_of("system2")) == before[1],
          "written");
    CHECK(log_lines() == 1, "%s", fixture_log);
    mccache_close(cache);
}

/* A damaged entry of ours hides nothing that a system directory has. */
static void check_damaged_own(void) {
    fill(path_of("system1"), 5, "good");
    fill(path_of("own"), 5, "own");
    CHECK(truncate(entry_path(path_of("own"), 5), 60) == 0, "truncate");
    mccache_config config = config_of(MCCACHE_READ_WRITE, path_of("own"));
    config.system[0] = path_of("system1");
    mccache *cache = mccache_open(&config);
    CHECK(has_text(cache, 5, "good"), "the system's");
    CHECK(stats_of(cache).rejected == 1 && stats_of(cache).hits == 1, "rejected");
    mccache_close(cache);
}

/* -- Directories that cannot be used */

static void expect_unusable(const char *directory, const char *wanted) {
    const char *why;
    fixture_log[0] = '\0';
    mccache *cache = open_mode(MCCACHE_READ_WRITE, directory);
    CHECK(!mccache_usable(cache, &why), "%s", directory);
    CHECK_TEXT(why, wanted);
    CHECK(mccache_directory(cache) != NULL, "its path is known all the same");
    for (int i = 0; i < 3; i++) use_all(cache);
    CHECK(log_lines() == 1, "told once: %s", fixture_log);
    mccache_close(cache);
}

static void check_unusable(void) {
    write_file(path_of("file"), (const unsigned char *)"", 0);
    expect_unusable(path_of("file"), "Not a directory");
    expect_unusable(path_of("file/below"), "Not a directory");
    mkdir(path_of("open"), 0700);
    chmod(path_of("open"), 0770);
    expect_unusable(path_of("open"), "others may write into it");
    chmod(path_of("open"), 0702);
    expect_unusable(path_of("open"), "others may write into it");
    expect_unusable("/proc/no-such-directory", "No such file");
}

/* As a user who may not write there, where we may be one. */
static void check_not_ours(void) {
    const char *why;
    mkdir(path_of("roots"), 0755);
    chmod(fixture_root, 0755);
    if (geteuid() != 0 || seteuid(65534) != 0) return;
    mccache *cache = open_mode(MCCACHE_READ_WRITE, path_of("roots"));
    CHECK(!mccache_usable(cache, &why), "root's directory");
    CHECK_TEXT(why, "Permission denied");
    put_text(cache, 1, "x");
    CHECK(!has_text(cache, 1, "x"), "cannot be written");
    mccache_close(cache);
    expect_unusable(path_of("roots/not/there"), "Permission denied");
    CHECK(seteuid(0) == 0, "root again");
    CHECK(chown(path_of("roots"), 65534, 65534) == 0, "chown");
    expect_unusable(path_of("roots"), "owned by someone else");
}

/* As on a network's file system, whose server refuses before it looks whether the folder is there. */
int __real_mkdirat(int parent, const char *name, mode_t mode);
int __wrap_mkdirat(int parent, const char *name, mode_t mode);
static int refusal; /* 0: as usual */

int __wrap_mkdirat(int parent, const char *name, mode_t mode) {
    if (refusal == 0 || faccessat(parent, name, F_OK, 0) != 0) return __real_mkdirat(parent, name, mode);
    errno = refusal;
    return -1;
}

static void check_refused(void) {
    static const int refusals[] = {EACCES, EROFS, EPERM};
    for (int i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "refused%d/below/cache", i);
        refusal = refusals[i];
        mccache *cache = open_mode(MCCACHE_READ_WRITE, path_of(name));
        put_text(cache, 1, "one");
        CHECK(mccache_usable(cache, NULL) && has_text(cache, 1, "one"), "%s", strerror(refusal));
        mccache_close(cache);
        refusal = 0;
    }
}

/* Relative paths are made absolute once: a later chdir changes nothing. */
static void check_relative(void) {
    const char *relative = path_of("relative");
    mccache *cache = open_mode(MCCACHE_READ_WRITE, relative);
    CHECK(mccache_directory(cache)[0] == '/', "%s", mccache_directory(cache));
    pid_t child = fork();
    if (child == 0) {
        if (chdir("/") != 0) _exit(1);
        put_text(cache, 1, "one");
        _exit(has_text(cache, 1, "one") ? 0 : 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0, "after chdir");
    CHECK(access(entry_path(relative, 1), F_OK) == 0, "where it was opened");
    mccache_close(cache);
}

/* NULL from mccache_open would say that there is no memory. */
static int without_current_directory(void) {
    if (mkdir(path_of("current"), 0700) != 0 || chdir(path_of("current")) != 0 || rmdir("../current") != 0)
        return 1;
    mccache *cache = open_mode(MCCACHE_READ_WRITE, "relative");
    const char *why;
    bool usable = mccache_usable(cache, &why);
    put_text(cache, 1, "one");
    bool right = !usable && strstr(why, "No such file") != NULL && !has_text(cache, 1, "one");
    mccache_close(cache);
    return right ? 0 : 1;
}

/* The directory is removed, or another put in its place, while we have it open. */
static void check_replaced(void) {
    mccache *cache = open_mode(MCCACHE_READ_WRITE, path_of("replaced"));
    put_text(cache, 1, "one");
    CHECK(rename(path_of("replaced"), path_of("moved")) == 0, "rename");
    fill(path_of("replaced"), 1, "of the other directory");
    CHECK(has_text(cache, 1, "one"), "what was opened is what is used");
    tree_remove(path_of("moved"));
    CHECK(!has_text(cache, 1, "one"), "removed");
    put_text(cache, 1, "one");
    CHECK(!has_text(cache, 1, "one"), "nowhere to go");
    mccache_close(cache);
}

/* -- The process's own limits, in a child */

static int in_child(int (*work)(void)) {
    int status;
    pid_t child = fork();
    if (child == 0) _exit(work());
    return waitpid(child, &status, 0) == child ? status : -1;
}

/* More bytes than a file may have raise SIGXFSZ, which would end the process. */
static int with_short_files(void) {
    mccache *cache = open_mode(MCCACHE_READ_WRITE, path_of("limits"));
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){80, 80});
    put_text(cache, 1, "t");
    put_text(cache, 2, "too long for that");
    bool right = has_text(cache, 1, "t") && !has_text(cache, 2, "") && stats_of(cache).stale == 0;
    mccache_close(cache);
    return right && strstr(fixture_log, "File too large: nothing is kept") != NULL ? 0 : 1;
}

static int without_descriptors(void) {
    mccache *cache = open_mode(MCCACHE_READ_WRITE, path_of("limits"));
    mccache_key key = key_number(1);
    struct rlimit before;
    getrlimit(RLIMIT_NOFILE, &before);
    put_text(cache, 1, "t");
    for (rlim_t most = 3; most < 16; most++) { /* at some of these a shard can be opened, and no file in it */
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){most, before.rlim_max});
        put_text(cache, 3, "t");
        has_text(cache, 1, "t");
        mccache_lock_release(mccache_lock_take(cache, &key, 0));
        mccache_prune(cache, 100000, 100);
    }
    setrlimit(RLIMIT_NOFILE, &before);
    bool right = has_text(cache, 1, "t") && has_text(cache, 3, "t");
    mccache_close(cache);
    return right && strstr(fixture_log, "Too many open files") != NULL ? 0 : 1;
}

int main(void) {
    fixture_begin();
    check_read_only();
    check_read_only_absent();
    check_off();
    check_system(MCCACHE_READ_WRITE);
    check_system(MCCACHE_MEMORY);
    check_damaged_own();
    check_unusable();
    check_not_ours();
    check_refused();
    check_relative();
    check_replaced();
    CHECK(in_child(without_current_directory) == 0, "a current directory that was removed");
    CHECK(in_child(with_short_files) == 0, "RLIMIT_FSIZE");
    CHECK(in_child(without_descriptors) == 0, "RLIMIT_NOFILE");
    return fixture_end();
}
