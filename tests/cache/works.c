#include "works.h"

#include <time.h>
#include <unistd.h>

static mccache *job_open(cache_job *job, uint64_t max_files) {
    const mccache_config config = {.size = sizeof config,
                                   .directory = job->bed.cache,
                                   .max_files = max_files,
                                   .log = log_count,
                                   .log_user = &job->lines};
    return mccache_open(&config);
}

static void note(cache_job *job, sample_state state) {
    job->right += state == SAMPLE_RIGHT;
    job->missed += state == SAMPLE_MISS;
    job->wrong += state == SAMPLE_WRONG;
}

/* -- Works -------------------------------------------------------------------------------------------- */

static void put(cache_job *job, mccache *cache) {
    (void)job;
    sample_put(cache, OWN, 1);
}

static void get(cache_job *job, mccache *cache) { note(job, sample_get(cache, OWN)); }

static void put_three(cache_job *job, mccache *cache) {
    for (unsigned i = 0; i < 3; i++) sample_put(cache, OWN + i, 1);
    for (unsigned i = 0; i < 3; i++) note(job, sample_get(cache, OWN + i));
}

static void put_new(cache_job *job, mccache *cache) {
    (void)job;
    sample_put(cache, OWN + 50, 0);
    sample_put(cache, OWN + 51, 0);
}

static void drop(cache_job *job, mccache *cache) {
    mccache_key key = sample_key(OWN);
    mccache_drop(cache, &key);
    note(job, sample_get(cache, OWN));
}

/* What all who make an entry do. */
static void make(cache_job *job, mccache *cache) {
    mccache_key key = sample_key(OWN);
    if (sample_get(cache, OWN) != SAMPLE_MISS) return;
    mccache_lock *lock = mccache_lock_take(cache, &key, 1000);
    note(job, sample_get(cache, OWN));
    sample_put(cache, OWN, 2);
    mccache_lock_release(lock);
}

static void prune(cache_job *job, mccache *cache) {
    (void)job;
    mccache_prune(cache, UINT64_MAX, 1);
}

static bool visit(void *user, const mccache_item *item) {
    (void)user, (void)item;
    return true;
}

static void walk(cache_job *job, mccache *cache) {
    mccache_stats stats = {.size = sizeof stats};
    (void)job;
    mccache_walk(cache, true, visit, NULL);
    mccache_get_stats(cache, &stats);
}

const cache_work works[] = {
    {"put, no directory yet", 0, 0, put},
    {"put another version", 3, 0, put},
    {"put three, get three", 0, 0, put_three},
    {"get", 2, 0, get},
    {"get what is not there", 0, 0, get},
    {"put where others must go", 6, 3, put_new},
    {"drop", 2, 0, drop},
    {"make under the lock", 1, 0, make},
    {"make under the lock, first", 0, 0, make},
    {"prune", 4, 0, prune},
    {"walk and count", 4, 0, walk},
};
const int work_count = sizeof works / sizeof *works;

/* -- Running ------------------------------------------------------------------------------------------ */

static void fill(void *user) {
    cache_job *job = user;
    mccache *cache = job_open(job, 0);
    for (unsigned i = 0; cache && i < job->work->samples; i++) sample_put(cache, OWN + i, 0);
    mccache_close(cache);
}

void job_prepare(cache_job *job, const cache_work *work) {
    *job = (struct cache_job){.work = work};
    bed_make(&job->bed);
    if (work->samples) child_run(fill, job);
    job->lines.count = 0;
}

/* The least file descriptor that is free: the same again after everything was closed. */
static int free_descriptor(void) {
    int file = dup(STDOUT_FILENO);
    close(file);
    return file;
}

void job_run(void *user) {
    cache_job *job = user;
    double begin = seconds_now();
    int least = free_descriptor();
    mccache *cache = job_open(job, job->work->max_files);
    if (cache) job->work->run(job, cache);
    mccache_close(cache);
    job->files_left_open = free_descriptor() - least;
    job->seconds = seconds_now() - begin;
    job->ended = true;
}

/* -- Looking ------------------------------------------------------------------------------------------ */

static uint64_t in_two_days(void *user) {
    (void)user;
    return (uint64_t)time(NULL) + UINT64_C(2) * 24 * 60 * 60;
}

static bool count_good(void *user, const mccache_item *item) {
    *(int *)user += item->state == MCCACHE_GOOD;
    return true;
}

static void sweep(job_check *check) {
    const mccache_config config = {
        .size = sizeof config, .directory = check->job->bed.cache, .clock = in_two_days};
    mccache *cache = mccache_open(&config);
    int good = 0;
    if (!cache) return;
    mccache_prune(cache, UINT64_MAX, UINT64_MAX);
    check->swept = mccache_walk(cache, true, count_good, &good);
    check->strays = count_files(check->job->bed.cache) - good;
    mccache_close(cache);
}

static bool can_lock(mccache *cache) {
    mccache_key key = sample_key(OWN);
    mccache_lock *lock = mccache_lock_take(cache, &key, 1000);
    mccache_lock_release(lock);
    return lock != NULL;
}

static bool can_store(mccache *cache, unsigned number) {
    sample_put(cache, number, 1);
    return sample_get(cache, number) == SAMPLE_RIGHT;
}

void job_look(void *user) {
    job_check *check = user;
    mccache *cache = job_open(check->job, 0);
    check->opened = cache != NULL;
    if (!cache) return;
    check->usable = mccache_usable(cache, NULL);
    for (unsigned i = 0; i < 64; i++) check->wrong += sample_get(cache, OWN + i) == SAMPLE_WRONG;
    check->locked = can_lock(cache);
    check->stored = can_store(cache, OWN) && can_store(cache, FRESH);
    mccache_close(cache);
    sweep(check);
}
