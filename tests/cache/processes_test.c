/* Many processes on one cache: who comes cold makes an entry once, who dies with the lock holds up nobody,
 * and who reads while others write and evict reads what was put. */
#include <signal.h>
#include <unistd.h>
#include "check.h"
#include "storm.h"

/* -- Cold: 64 processes want one entry ------------------------------------------------------------------- */

enum { MANY = 64, MOST_MAKES = 2 /* one, and one whose wait the machine's load made too long */ };

typedef struct cold {
    cache_bed bed;
    atomic_int ready, right, makes, lines;
} cold;

static void count_line(void *user, const char *message) {
    cold *c = user;
    (void)message;
    c->lines++;
}

static void make(cold *c, mccache *cache) {
    mccache_key key = sample_key(0);
    mccache_lock *lock = mccache_lock_take(cache, &key, 20000);
    if (sample_get(cache, 0) == SAMPLE_MISS) {
        c->makes++;
        sleep_ms(30);
        sample_put(cache, 0, 1);
    }
    mccache_lock_release(lock);
}

static void start_cold(void *user) {
    cold *c = user;
    const mccache_config config = {
        .size = sizeof config, .directory = c->bed.cache, .log = count_line, .log_user = c};
    for (c->ready++; c->ready < MANY;) sleep_ms(1);
    mccache *cache = mccache_open(&config);
    if (!cache) return;
    if (sample_get(cache, 0) == SAMPLE_MISS) make(c, cache);
    c->right += sample_get(cache, 0) == SAMPLE_RIGHT;
    mccache_close(cache);
}

static void test_cold(cold *c) {
    pid_t children[MANY];
    *c = (cold){0};
    bed_make(&c->bed);
    for (int i = 0; i < MANY; i++) children[i] = child_start(start_cold, c, 30);
    for (int i = 0; i < MANY; i++) {
        int status = child_wait(children[i]);
        CHECK(status == 0, "process %d ended with %d", i, status);
    }
    CHECK(c->right == MANY, "%d of %d have the entry", c->right, MANY);
    CHECK(c->makes >= 1 && c->makes <= MOST_MAKES, "%d processes made it", c->makes);
    CHECK(c->lines == 0, "%d lines in the log", c->lines);
    printf("%d cold processes, %d made the entry\n", MANY, c->makes);
    bed_remove(&c->bed);
}

/* -- The lock, whose holder dies or does not let go ------------------------------------------------------ */

typedef struct holding {
    cache_bed bed;
    atomic_int held, got, none;
} holding;

static mccache *open_quietly(const cache_bed *bed) {
    const mccache_config config = {.size = sizeof config, .directory = bed->cache};
    return mccache_open(&config);
}

static void hold(void *user) {
    holding *h = user;
    mccache_key key = sample_key(0);
    h->held = mccache_lock_take(open_quietly(&h->bed), &key, 1000) ? 1 : -1;
    for (;;) sleep_ms(1000);
}

static void wait_for_it(void *user) {
    holding *h = user;
    mccache_key key = sample_key(0);
    mccache *cache = open_quietly(&h->bed);
    mccache_lock *lock = mccache_lock_take(cache, &key, 15000);
    h->got += lock != NULL;
    mccache_lock_release(lock);
    mccache_close(cache);
}

static pid_t start_holder(holding *h) {
    *h = (holding){0};
    bed_make(&h->bed);
    pid_t holder = child_start(hold, h, 60);
    while (!h->held) sleep_ms(1);
    CHECK(h->held == 1, "no lock to have in a new directory");
    return holder;
}

static void test_killed_holder(holding *h) {
    enum { WAITING = 8 };
    pid_t waiting[WAITING], holder = start_holder(h);
    for (int i = 0; i < WAITING; i++) waiting[i] = child_start(wait_for_it, h, 30);
    sleep_ms(100);
    CHECK(h->got == 0, "%d have a lock that another has", h->got);
    double begin = seconds_now();
    kill(holder, SIGKILL);
    child_wait(holder);
    for (int i = 0; i < WAITING; i++) CHECK(child_wait(waiting[i]) == 0, "waiting process %d", i);
    double seconds = seconds_now() - begin;
    CHECK(h->got == WAITING, "%d of %d got the lock of the process that was killed", h->got, WAITING);
    CHECK(seconds < 5, "after %.1f s", seconds);
    bed_remove(&h->bed);
}

/* A process that is stopped, or takes long, is waited for no longer than was said;
   other keys are not its own. */
static void test_bounded(holding *h) {
    pid_t holder = start_holder(h);
    mccache *cache = open_quietly(&h->bed);
    mccache_key key = sample_key(0), other = sample_key(1);
    kill(holder, SIGSTOP);
    double begin = seconds_now();
    mccache_lock *lock = mccache_lock_take(cache, &key, 200);
    double seconds = seconds_now() - begin;
    CHECK(!lock && seconds > 0.15 && seconds < 3, "lock %d, after %.2f s", lock != NULL, seconds);
    begin = seconds_now();
    mccache_lock *now = mccache_lock_take(cache, &key, 0);
    CHECK(!now && seconds_now() - begin < 0.5, "no time to wait: %.2f s", seconds_now() - begin);
    mccache_lock_release(now);
    lock = mccache_lock_take(cache, &other, 0);
    CHECK(lock, "another key's lock");
    mccache_lock_release(lock);
    sample_put(cache, 0, 1);
    CHECK(sample_get(cache, 0) == SAMPLE_RIGHT, "the lock is advice: without it one can put");
    mccache_close(cache);
    kill(holder, SIGKILL);
    child_wait(holder);
    bed_remove(&h->bed);
}

/* -- Storm ---------------------------------------------------------------------------------------------- */

static storm *shared_storm;

static void join_storm(void *user) {
    mccache *cache = mccache_open(&shared_storm->config);
    if (!cache) return;
    storm_run(shared_storm, cache, *(const unsigned *)user);
    mccache_close(cache);
}

static bool all_good(void *user, const mccache_item *item) {
    *(int *)user += item->state != MCCACHE_GOOD;
    return true;
}

static void check_after_storm(void) {
    mccache *cache = mccache_open(&shared_storm->config);
    mccache_stats stats = {.size = sizeof stats};
    int bad = 0;
    sample_put(cache, 1, 0);
    mccache_get_stats(cache, &stats);
    CHECK(stats.files > 0 && stats.files <= STORM_FILES && stats.bytes <= STORM_BYTES && stats.stale == 0,
          "%lu files, %lu bytes, %lu stale", (unsigned long)stats.files, (unsigned long)stats.bytes,
          (unsigned long)stats.stale);
    CHECK(mccache_walk(cache, true, all_good, &bad) && bad == 0, "%d files are not good", bad);
    CHECK(sample_get(cache, 1) == SAMPLE_RIGHT, "what was put last");
    mccache_close(cache);
}

static void test_storm(void) {
    enum { PROCESSES = 6 };
    static unsigned seeds[PROCESSES];
    pid_t children[PROCESSES];
    cache_bed bed;
    bed_make(&bed);
    shared_storm = shared_memory(sizeof *shared_storm);
    storm_begin(shared_storm, MCCACHE_READ_WRITE, bed.cache, 2.5);
    for (unsigned i = 0; i < PROCESSES; i++) {
        seeds[i] = i + 1;
        children[i] = child_start(join_storm, &seeds[i], 30);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = child_wait(children[i]);
        CHECK(status == 0, "process %d ended with %d", i, status);
    }
    const storm *s = shared_storm;
    printf("storm: %ld right, %ld missed, %ld put, %ld locked\n", s->right, s->missed, s->puts, s->locked);
    CHECK(s->wrong == 0, "%ld wrong entries", s->wrong);
    CHECK(s->together == 0, "%ld times two had the lock", s->together);
    CHECK(s->right > 100 && s->missed > 100 && s->puts > 100 && s->locked > 10, "too little to tell");
    CHECK(s->lines == 0, "%ld lines in the log", s->lines);
    check_after_storm();
    bed_remove(&bed);
}

int main(void) {
    alarm(120); /* a wait without end is a failure, too */
    test_cold(shared_memory(sizeof(cold)));
    test_killed_holder(shared_memory(sizeof(holding)));
    test_bounded(shared_memory(sizeof(holding)));
    test_storm();
    return check_end();
}
