/* What others may leave where the cache looks: anything but a file of ours with our mode, in directories of
 * ours, is a miss. No open hangs, nothing is written through a link, and where it can be replaced, the next
 * put does so. */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>
#include "check.h"
#include "bed.h"

enum { NOBODY = 65534 };

/* Where a plant goes, and a file and a directory outside of the cache that must stay as they are. */
typedef struct place {
    cache_bed bed;
    char file[BED_PATH], shard[BED_PATH], other[BED_PATH]; /* other: sample 1's file */
    char victim[BED_PATH], yard[BED_PATH];
} place;

static bool done(int result) { return result == 0; }

static bool write_file(const char *path, const void *bytes, size_t size, mode_t mode) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
    bool written = file >= 0 && write(file, bytes, size) == (ssize_t)size && fchmod(file, mode) == 0;
    if (file >= 0) close(file);
    return written;
}

/* -- Plants at the entry --------------------------------------------------------------------------------- */

static bool symlink_to_entry(const place *p) {
    return done(rename(p->file, p->victim)) && done(symlink(p->victim, p->file));
}
static bool symlink_to_nothing(const place *p) {
    char nothing[BED_PATH + 8];
    snprintf(nothing, sizeof nothing, "%s/nothing", p->yard);
    return done(unlink(p->file)) && done(symlink(nothing, p->file));
}
static bool symlink_to_itself(const place *p) {
    return done(unlink(p->file)) && done(symlink(p->file, p->file));
}
static bool hard_link(const place *p) { return done(unlink(p->victim)) && done(link(p->file, p->victim)); }
static bool fifo(const place *p) { return done(unlink(p->file)) && done(mkfifo(p->file, 0600)); }
static bool directory(const place *p) { return done(unlink(p->file)) && done(mkdir(p->file, 0700)); }
static bool full_directory(const place *p) {
    char inside[BED_PATH + 8];
    snprintf(inside, sizeof inside, "%s/file", p->file);
    return directory(p) && write_file(inside, "x", 1, 0600);
}
static bool device(const place *p) {
    return done(unlink(p->file)) && done(mknod(p->file, S_IFCHR | 0600, makedev(1, 5)));
}
static bool unix_socket(const place *p) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path, sizeof address.sun_path, "%s", p->file);
    int file = socket(AF_UNIX, SOCK_STREAM, 0);
    bool bound = length < (int)sizeof address.sun_path && done(unlink(p->file)) &&
                 done(bind(file, (const struct sockaddr *)&address, sizeof address));
    close(file);
    return bound;
}
static bool of_another_user(const place *p) { return done(chown(p->file, NOBODY, NOBODY)); }
static bool group_may_write(const place *p) { return done(chmod(p->file, 0620)); }
static bool all_may_write(const place *p) { return done(chmod(p->file, 0602)); }
static bool of_another_key(const place *p) { return done(rename(p->other, p->file)); }
static bool empty(const place *p) { return done(truncate(p->file, 0)); }
static bool one_byte_more(const place *p) {
    int file = open(p->file, O_WRONLY | O_APPEND);
    bool written = write(file, "x", 1) == 1;
    close(file);
    return written;
}
static bool huge(const place *p) {
    return done(truncate(p->file, 0)) && done(truncate(p->file, (off_t)1 << 40));
}
static bool huge_behind(const place *p) { return done(truncate(p->file, (off_t)1 << 40)); }

/* Beside the entry, which stays good: names nearly like our own. */
static bool names(const place *p) {
    static const char *const endings[] = {"tmp.1.0123456789abcdef0",
                                          "tmp..0123456789abcdef",
                                          "tmp.x.0123456789abcdef",
                                          "tmp.1.0123456789abcde",
                                          "tmp.",
                                          ".entry",
                                          "lock.entry",
                                          "LOCK"};
    char path[2 * BED_PATH];
    bool made = true;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(path, sizeof path, "%s/%s", p->shard, endings[i]);
        made = made && write_file(path, "x", 1, 0600);
    }
    for (unsigned i = 0; i < 100; i++) {
        snprintf(path, sizeof path, "%s/tmp.%0200u.0123456789abcdef", p->shard, i);
        made = made && write_file(path, "x", 1, 0600);
    }
    return made && done(truncate(p->file, 0));
}

/* -- Plants at the entry's directory and the cache's ----------------------------------------------------- */

static bool shard_elsewhere(const place *p) {
    return done(rmdir(p->yard)) && done(rename(p->shard, p->yard)) && done(symlink(p->yard, p->shard));
}
static bool shard_group(const place *p) { return done(chmod(p->shard, 0770)); }
static bool shard_all(const place *p) { return done(chmod(p->shard, 0777)); }
static bool shard_sticky(const place *p) { return done(chmod(p->shard, 01777)); }
static bool shard_foreign(const place *p) { return done(chown(p->shard, NOBODY, NOBODY)); }
static bool shard_file(const place *p) { return remove_tree(p->shard), write_file(p->shard, "x", 1, 0600); }
static bool shard_fifo(const place *p) { return remove_tree(p->shard), done(mkfifo(p->shard, 0600)); }
static bool cache_group(const place *p) { return done(chmod(p->bed.cache, 0770)); }
static bool cache_all(const place *p) { return done(chmod(p->bed.cache, 0777)); }
static bool cache_sticky(const place *p) { return done(chmod(p->bed.cache, 01777)); }
static bool cache_foreign(const place *p) { return done(chown(p->bed.cache, NOBODY, NOBODY)); }
static bool cache_file(const place *p) {
    return remove_tree(p->bed.cache), write_file(p->bed.cache, "x", 1, 0600);
}
static bool cache_fifo(const place *p) { return remove_tree(p->bed.cache), done(mkfifo(p->bed.cache, 0600)); }

typedef enum heals { STAYS, HEALS /* the next put replaces it */ } heals;

static const struct plant {
    const char *name;
    bool (*make)(const place *p); /* false: this system or user cannot */
    heals heals;
} plants[] = {
    {"entry: symbolic link to an entry", symlink_to_entry, HEALS},
    {"entry: symbolic link to nothing", symlink_to_nothing, HEALS},
    {"entry: symbolic link to itself", symlink_to_itself, HEALS},
    {"entry: hard link", hard_link, HEALS},
    {"entry: FIFO", fifo, HEALS},
    {"entry: directory", directory, STAYS},
    {"entry: directory with a file", full_directory, STAYS},
    {"entry: device", device, HEALS},
    {"entry: socket", unix_socket, HEALS},
    {"entry: of another user", of_another_user, HEALS},
    {"entry: its group may write", group_may_write, HEALS},
    {"entry: all may write", all_may_write, HEALS},
    {"entry: of another key", of_another_key, HEALS},
    {"entry: empty", empty, HEALS},
    {"entry: a byte more", one_byte_more, HEALS},
    {"entry: a terabyte of zeros", huge, HEALS},
    {"entry: a terabyte behind it", huge_behind, HEALS},
    {"entry: empty, and names nearly like our own", names, HEALS},
    {"shard: symbolic link", shard_elsewhere, STAYS},
    {"shard: its group may write", shard_group, STAYS},
    {"shard: all may write", shard_all, STAYS},
    {"shard: as /tmp", shard_sticky, STAYS},
    {"shard: of another user", shard_foreign, STAYS},
    {"shard: file", shard_file, STAYS},
    {"shard: FIFO", shard_fifo, STAYS},
    {"cache: its group may write", cache_group, STAYS},
    {"cache: all may write", cache_all, STAYS},
    {"cache: as /tmp", cache_sticky, STAYS},
    {"cache: of another user", cache_foreign, STAYS},
    {"cache: file", cache_file, STAYS},
    {"cache: FIFO", cache_fifo, STAYS},
};

/* -- What a process makes of it -------------------------------------------------------------------------- */

typedef struct visit {
    place place;
    const char *directory;
    log_lines lines;
    sample_state first, after;
    bool usable, listed;
} visit;

static mccache *open_cache(visit *v) {
    const mccache_config config = {
        .size = sizeof config, .directory = v->directory, .log = log_count, .log_user = &v->lines};
    return mccache_open(&config);
}

static void fill(void *user) {
    mccache *cache = open_cache(user);
    for (unsigned i = 0; i < 3; i++) sample_put(cache, i, 0);
    mccache_close(cache);
}

static bool see(void *user, const mccache_item *item) {
    (void)user, (void)item;
    return true;
}

static void look(void *user) {
    visit *v = user;
    mccache *cache = open_cache(v);
    mccache_stats stats = {.size = sizeof stats};
    v->usable = mccache_usable(cache, NULL);
    v->first = sample_get(cache, 0);
    mccache_walk(cache, false, see, NULL);
    v->listed = mccache_walk(cache, true, see, NULL);
    mccache_get_stats(cache, &stats);
    mccache_lock_release(mccache_lock_take(cache, &(mccache_key){{0}}, 10));
    sample_put(cache, 0, 2);
    v->after = sample_get(cache, 0);
    mccache_prune(cache, UINT64_MAX, UINT64_MAX);
    mccache_prune(cache, 0, 0);
    mccache_close(cache);
}

static void check_plant(const struct plant *plant, visit *v, int status) {
    const char *name = plant->name;
    const place *p = &v->place;
    struct stat victim, yard;
    char nothing[BED_PATH + 8];
    snprintf(nothing, sizeof nothing, "%s/nothing", p->yard);
    CHECK(status == 0, "%s: ended with %d", name, status);
    CHECK(v->first == SAMPLE_MISS, "%s: got %s", name, v->first == SAMPLE_RIGHT ? "it" : "something else");
    sample_state want = plant->heals == HEALS ? SAMPLE_RIGHT : SAMPLE_MISS;
    CHECK(v->after == want, "%s: after a put: %d, not %d", name, (int)v->after, (int)want);
    CHECK(v->lines.count >= 1 && v->lines.count <= 3 && v->lines.same == 0, "%s: %d lines: %s", name,
          v->lines.count, v->lines.text[0]);
    CHECK(stat(p->victim, &victim) == 0 && stat(p->yard, &yard) == 0, "%s: removed what is not its own",
          name);
    CHECK(access(nothing, F_OK) != 0, "%s: wrote through a link", name);
}

/* Entry 0 is in the cache; victim is a copy of it with a mode of its own. */
static void prepare(visit *v) {
    place *p = &v->place;
    *v = (visit){0};
    bed_make(&p->bed);
    v->directory = p->bed.cache;
    child_run(fill, v);
    sample_file(&p->bed, 0, p->file);
    sample_file(&p->bed, 1, p->other);
    snprintf(p->shard, sizeof p->shard, "%s", p->file);
    char *slash = strrchr(p->shard, '/');
    if (slash) *slash = 0;
    snprintf(p->victim, sizeof p->victim, "%.200s/victim", p->bed.top);
    snprintf(p->yard, sizeof p->yard, "%.200s/yard", p->bed.top);
    CHECK(p->file[0] && p->other[0] && v->lines.count == 0, "%s", v->lines.text[0]);
    CHECK(write_file(p->victim, "victim", 6, 0600) && mkdir(p->yard, 0700) == 0, "%s", p->yard);
}

static void test_plant(const struct plant *plant, visit *v) {
    struct stat before, after;
    prepare(v);
    if (plant->make(&v->place)) {
        stat(v->place.victim, &before);
        check_plant(plant, v, child_run(look, v));
        stat(v->place.victim, &after);
        CHECK(before.st_size == after.st_size && before.st_mtime == after.st_mtime, "%s: changed",
              plant->name);
    } else {
        printf("SKIPPED: %s: %s\n", plant->name, strerror(errno));
    }
    bed_remove(&v->place.bed);
}

int main(void) {
    visit *v = shared_memory(sizeof *v);
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) test_plant(&plants[i], v);
    return check_end();
}
