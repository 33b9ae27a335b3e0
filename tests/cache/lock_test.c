/* Locks of one process: exclusive, bounded in time, and gone with who held them. */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include "fixture.h"

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void check_exclusive(mccache *cache, mccache *other) {
    mccache_key key = key_number(1);
    mccache_lock *lock = mccache_lock_take(cache, &key, 0);
    CHECK(lock != NULL, "free");
    CHECK(mccache_lock_take(cache, &key, 0) == NULL, "held, by the same cache");
    double begin = seconds();
    CHECK(mccache_lock_take(other, &key, 120) == NULL, "held, by another");
    double waited = seconds() - begin;
    CHECK(waited >= 0.119 && waited < 5, "%.3f s", waited);
    mccache_lock_release(lock);
    lock = mccache_lock_take(other, &key, 0);
    CHECK(lock != NULL, "free again");
    mccache_lock_release(lock);
    mccache_lock_release(NULL);
    CHECK(fixture_log[0] == '\0', "waiting in vain is no fault: %s", fixture_log);
}

/* An increment that two threads at once would lose. */
typedef struct counter {
    mccache *cache;
    volatile int value;
} counter;

enum { THREADS = 4, ROUNDS = 20 };

static void *count(void *user) {
    counter *c = user;
    mccache_key key = key_number(2);
    for (int i = 0; i < ROUNDS; i++) {
        mccache_lock *lock = mccache_lock_take(c->cache, &key, 60000);
        if (lock == NULL) return "no lock";
        int value = __atomic_load_n(&c->value, __ATOMIC_RELAXED);
        usleep(100);
        __atomic_store_n(&c->value, value + 1, __ATOMIC_RELAXED);
        mccache_lock_release(lock);
    }
    return NULL;
}

static void check_threads(mccache *cache) {
    counter c = {cache, 0};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, count, &c);
    for (int i = 0; i < THREADS; i++) {
        void *fault;
        pthread_join(threads[i], &fault);
        CHECK(fault == NULL, "%s", (char *)fault);
    }
    CHECK(c.value == THREADS * ROUNDS, "%d", c.value);
}

/* A process that is killed with the lock in hand keeps nobody waiting. */
static void check_killed(mccache *cache) {
    mccache_key key = key_number(3);
    int ready[2];
    char byte;
    if (pipe(ready) != 0) exit(1);
    pid_t child = fork();
    if (child == 0) {
        mccache_lock *lock = mccache_lock_take(cache, &key, 0);
        if (lock != NULL && write(ready[1], "x", 1) == 1) pause();
        _exit(1);
    }
    CHECK(read(ready[0], &byte, 1) == 1, "the child has it");
    CHECK(mccache_lock_take(cache, &key, 0) == NULL, "held by the child");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    mccache_lock *lock = mccache_lock_take(cache, &key, 0);
    CHECK(lock != NULL, "gone with the child");
    mccache_lock_release(lock);
    close(ready[0]);
    close(ready[1]);
}

/* A child that was forked while we held it has the file open, too: letting go must not wait for it. */
static void check_forked(mccache *cache) {
    mccache_key key = key_number(4);
    mccache_lock *lock = mccache_lock_take(cache, &key, 0);
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    mccache_lock_release(lock);
    lock = mccache_lock_take(cache, &key, 0);
    CHECK(lock != NULL, "released, though a child has the file open");
    mccache_lock_release(lock);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

int main(void) {
    fixture_begin();
    mccache *cache = open_mode(MCCACHE_READ_WRITE, path_of("cache"));
    mccache *other = open_mode(MCCACHE_READ_WRITE, path_of("cache"));
    check_exclusive(cache, other);
    check_threads(cache);
    check_killed(cache);
    check_forked(cache);
    mccache_close(cache);
    mccache_close(other);
    return fixture_end();
}
