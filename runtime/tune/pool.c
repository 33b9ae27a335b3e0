#include "tune/pool.h"
#include <pthread.h>
#include <sched.h>
#include <time.h>

enum { MAX_THREADS = 64, TICK_NANOSECONDS = 100000000, SECOND = 1000000000 };

typedef struct pool {
    const tune_work *work;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    size_t next, done; /* pieces */
    int running;       /* threads */
    bool stopped;
} pool;

size_t tune_cores(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int count = CPU_COUNT(&set);
    return count < 1 ? 1 : (size_t)count;
}

static void *do_pieces(void *argument) {
    pool *p = argument;
    pthread_mutex_lock(&p->lock);
    while (!p->stopped && p->next < p->work->count) {
        size_t index = p->next++;
        pthread_mutex_unlock(&p->lock);
        p->work->piece(p->work->user, index);
        pthread_mutex_lock(&p->lock);
        p->done++;
        pthread_cond_signal(&p->changed);
    }
    p->running--;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static bool tick(const tune_work *work, size_t done) {
    return work->tick == NULL || work->tick(work->user, done);
}

static struct timespec next_tick(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += TICK_NANOSECONDS;
    if (t.tv_nsec >= SECOND) {
        t.tv_nsec -= SECOND;
        t.tv_sec++;
    }
    return t;
}

/* The last tick is one that sees all of it done. */
static void wait_for_all(pool *p) {
    for (bool running = true; running;) {
        struct timespec until = next_tick();
        pthread_mutex_lock(&p->lock);
        if (p->running > 0) (void)pthread_cond_timedwait(&p->changed, &p->lock, &until);
        running = p->running > 0;
        size_t done = p->done;
        pthread_mutex_unlock(&p->lock);
        if (tick(p->work, done)) continue;
        pthread_mutex_lock(&p->lock);
        p->stopped = true;
        pthread_mutex_unlock(&p->lock);
    }
}

static size_t start_threads(pool *p, pthread_t *threads) {
    size_t wanted = tune_cores(), count = 0;
    if (wanted > MAX_THREADS) wanted = MAX_THREADS;
    if (wanted > p->work->count) wanted = p->work->count;
    pthread_mutex_lock(&p->lock);
    while (count < wanted && pthread_create(&threads[count], NULL, do_pieces, p) == 0) count++;
    p->running = (int)count;
    pthread_mutex_unlock(&p->lock);
    return count;
}

static size_t do_alone(const tune_work *work) {
    size_t done = 0;
    while (done < work->count && tick(work, done)) work->piece(work->user, done++);
    return done;
}

static size_t do_together(pool *p) {
    pthread_t threads[MAX_THREADS];
    size_t count = start_threads(p, threads);
    if (count == 0) return do_alone(p->work);
    wait_for_all(p);
    for (size_t i = 0; i < count; i++) (void)pthread_join(threads[i], NULL);
    return p->done;
}

static bool init_condition(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) return false;
    bool done = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                pthread_cond_init(condition, &attributes) == 0;
    (void)pthread_condattr_destroy(&attributes);
    return done;
}

size_t tune_work_do(const tune_work *work) {
    pool p = {.work = work};
    if (!init_condition(&p.changed)) return do_alone(work);
    if (pthread_mutex_init(&p.lock, NULL) != 0) {
        (void)pthread_cond_destroy(&p.changed);
        return do_alone(work);
    }
    size_t done = do_together(&p);
    (void)pthread_mutex_destroy(&p.lock);
    (void)pthread_cond_destroy(&p.changed);
    return done;
}
