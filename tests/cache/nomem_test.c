/* Every allocation of every call fails once, in turn: a miss, or a put that is none, and nothing lost or
   leaked (ASan tells). The linker's --wrap puts the functions below between the library and libc; what libc
   allocates itself does not fail. */
#include <errno.h>
#include "fixture.h"

static long failing_after = -1; /* allocations to go; -1: none fails */
static bool failed;

static bool fails(void) {
    if (failing_after < 0 || failing_after-- > 0) return false;
    errno = ENOMEM;
    return failed = true;
}

#define WRAP(type, name, parameters, arguments)                                                              \
    type __real_##name parameters;                                                                           \
    type __wrap_##name parameters;                                                                           \
    type __wrap_##name parameters { return fails() ? NULL : __real_##name arguments; }

WRAP(void *, malloc, (size_t size), (size))
WRAP(void *, calloc, (size_t count, size_t size), (count, size))
WRAP(void *, realloc, (void *old, size_t size), (old, size))
WRAP(char *, strdup, (const char *text), (text))
WRAP(char *, strndup, (const char *text, size_t size), (text, size))
WRAP(char *, getcwd, (char *buffer, size_t size), (buffer, size))

static bool ignore(void *user, const mccache_item *item) {
    (void)user;
    (void)item;
    return true;
}

/* Every call; entry 1 is there, and what is put comes back or does not. */
static void use_all(mccache_mode mode) {
    mccache_key key = key_number(1);
    mccache_config config = config_of(mode, path_of("cache"));
    config.system[0] = path_of("system");
    mccache *cache = mccache_open(&config);
    if (cache == NULL) return;
    has_text(cache, 1, "one");
    has_text(cache, 3, "of the system");
    put_text(cache, 2, "two");
    has_text(cache, 2, "two");
    mccache_lock_release(mccache_lock_take(cache, &key, 0));
    stats_of(cache);
    mccache_walk(cache, true, ignore, NULL);
    mccache_prune(cache, UINT64_MAX, 100);
    if (mode == MCCACHE_READ_WRITE)
        CHECK(access(entry_path(path_of("cache"), 1), F_OK) == 0, "pruned for want of memory");
    mccache_drop(cache, &key);
    put_text(cache, 1, "one");
    mccache_close(cache);
}

static void fill(const char *directory, int number, const char *text) {
    mccache *cache = open_mode(MCCACHE_READ_WRITE, directory);
    put_text(cache, number, text);
    CHECK(has_text(cache, number, text), "without a fault");
    mccache_close(cache);
}

static void check_mode(mccache_mode mode) {
    long count = 0;
    do {
        fill(path_of("cache"), 1, "one");
        fill(path_of("system"), 3, "of the system");
        failed = false;
        failing_after = count++;
        use_all(mode);
        failing_after = -1;
    } while (failed);
    CHECK(count > 10, "%ld allocations", count);
}

int main(void) {
    fixture_begin();
    check_mode(MCCACHE_READ_WRITE);
    check_mode(MCCACHE_READ_ONLY);
    check_mode(MCCACHE_MEMORY);
    return fixture_end();
}
