#include "storm.h"

static void count_line(void *user, const char *message) {
    storm *s = user;
    (void)message;
    s->lines++;
}

void storm_begin(storm *s, mccache_mode mode, const char *cache_directory, double seconds) {
    *s = (storm){.config = {.size = sizeof s->config,
                            .mode = mode,
                            .directory = cache_directory,
                            .max_files = STORM_FILES,
                            .max_bytes = STORM_BYTES,
                            .log = count_line,
                            .log_user = s},
                 .until = seconds_now() + seconds};
}

static unsigned next(unsigned *state) { return (*state = *state * 1664525u + 1013904223u) >> 12; }

static bool visit(void *user, const mccache_item *item) {
    (void)user, (void)item;
    return true;
}

static void get(storm *s, mccache *cache, unsigned number) {
    sample_state state = sample_get(cache, number);
    atomic_long *count = state == SAMPLE_RIGHT ? &s->right : state == SAMPLE_MISS ? &s->missed : &s->wrong;
    ++*count;
}

static void put(storm *s, mccache *cache, unsigned number, unsigned version) {
    sample_put(cache, number, version);
    s->puts++;
}

/* A lock that another has too would be no lock. */
static void lock(storm *s, mccache *cache, unsigned milliseconds) {
    mccache_key key = sample_key(STORM_SAMPLES);
    mccache_lock *taken = mccache_lock_take(cache, &key, milliseconds);
    if (!taken) return;
    s->locked++;
    s->together += s->inside++ != 0;
    put(s, cache, STORM_SAMPLES, 0);
    s->inside--;
    mccache_lock_release(taken);
}

static void drop(mccache *cache, unsigned number) {
    mccache_key key = sample_key(number);
    mccache_drop(cache, &key);
}

void storm_run(storm *s, mccache *cache, unsigned seed) {
    unsigned state = seed * 7919u + 1;
    while (seconds_now() < s->until) {
        unsigned number = next(&state) % STORM_SAMPLES, what = next(&state) % 200;
        if (what < 130) get(s, cache, number);
        else if (what < 180) put(s, cache, number, what % SAMPLE_VERSIONS);
        else if (what < 190) lock(s, cache, what);
        else if (what < 196) drop(cache, number);
        else if (what < 198) mccache_prune(cache, UINT64_MAX, STORM_FILES / 2);
        else mccache_walk(cache, what & 1, visit, s);
    }
}
