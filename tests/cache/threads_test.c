/* Several threads on one cache, on disk and in memory; made for ThreadSanitizer. */
#include <pthread.h>
#include <stdlib.h>
#include "check.h"
#include "storm.h"

enum { THREADS = 4 };

typedef struct worker {
    pthread_t thread;
    storm *storm;
    mccache *cache;
    unsigned seed;
} worker;

static void *work(void *user) {
    worker *w = user;
    storm_run(w->storm, w->cache, w->seed);
    return NULL;
}

/* All on CACHE, or each on one of its own where it is NULL. */
static void blow(storm *s, mccache *cache) {
    worker workers[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (worker){.storm = s, .cache = cache ? cache : mccache_open(&s->config), .seed = i + 1};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) exit(1);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        if (!cache) mccache_close(workers[i].cache);
    }
}

static void check_storm(const char *what, const storm *s) {
    printf("%s: %ld right, %ld missed, %ld put, %ld locked\n", what, s->right, s->missed, s->puts, s->locked);
    CHECK(s->wrong == 0, "%s: %ld wrong entries", what, s->wrong);
    CHECK(s->together == 0, "%s: %ld times two had the lock", what, s->together);
    CHECK(s->right > 20 && s->missed > 20 && s->puts > 20, "%s: too little to tell", what);
    CHECK(s->lines == 0, "%s: %ld lines in the log", what, s->lines);
}

/* What CACHE, which all threads had, has counted. */
static void check_counts(const char *what, const storm *s, mccache *cache) {
    mccache_stats stats = {.size = sizeof stats};
    mccache_get_stats(cache, &stats);
    CHECK(stats.hits > 0 && (long)stats.hits == s->right, "%s: %lu hits", what, (unsigned long)stats.hits);
    CHECK((long)stats.puts == s->puts, "%s: %lu puts", what, (unsigned long)stats.puts);
    CHECK(stats.files <= STORM_FILES && stats.bytes <= STORM_BYTES, "%s: %lu files, %lu bytes", what,
          (unsigned long)stats.files, (unsigned long)stats.bytes);
}

static void run(const char *what, mccache_mode mode, bool one, double seconds) {
    cache_bed bed;
    storm s;
    bed_make(&bed);
    storm_begin(&s, mode, bed.cache, seconds);
    mccache *cache = one ? mccache_open(&s.config) : NULL;
    blow(&s, cache);
    check_storm(what, &s);
    if (one) {
        /* What was put while a thread looked at the directory goes with the next put. */
        const mccache_field field = mccache_text("last", what);
        const mccache_key key = mccache_key_of(&field, 1);
        mccache_put(cache, &key, "last", what, 1);
        s.puts++;
        CHECK(mode == MCCACHE_MEMORY || s.locked > 5, "%s: locked %ld times", what, s.locked);
        check_counts(what, &s, cache);
    }
    mccache_close(cache);
    bed_remove(&bed);
}

int main(void) {
    run("one cache", MCCACHE_READ_WRITE, true, 1);
    run("a cache each", MCCACHE_READ_WRITE, false, 1);
    run("in memory", MCCACHE_MEMORY, true, 0.5);
    return check_end();
}
