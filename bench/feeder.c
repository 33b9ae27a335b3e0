#include <stdlib.h>
#include <threads.h>
#include "work.h"

enum { MAX_THREADS = 64 };

struct feeder {
    work *items;
    size_t count;
    const work_plan *plan;
    mtx_t lock;
    cnd_t changed;
    size_t started, taken, depth; /* items that a thread began, that the taker has */
    bool *ready, stopped;
    thrd_t threads[MAX_THREADS];
    int thread_count;
};

/* The next item to prepare, or count. */
static size_t claim(feeder *f) {
    mtx_lock(&f->lock);
    while (!f->stopped && f->started < f->count && f->started >= f->taken + f->depth)
        cnd_wait(&f->changed, &f->lock);
    size_t item = f->stopped || f->started == f->count ? f->count : f->started++;
    mtx_unlock(&f->lock);
    return item;
}

static int prepare_items(void *argument) {
    feeder *f = argument;
    for (size_t i; (i = claim(f)) < f->count;) {
        work_prepare(&f->items[i], f->plan);
        mtx_lock(&f->lock);
        f->ready[i] = true;
        cnd_broadcast(&f->changed);
        mtx_unlock(&f->lock);
    }
    return 0;
}

mc_status feeder_start(feeder **out, work *items, size_t count, const work_plan *plan, int threads, int depth,
                       mc_diag *diag) {
    feeder *f = calloc(1, sizeof *f);
    bool *ready = calloc(count + 1, sizeof *ready);
    *out = NULL;
    if (f == NULL || ready == NULL || mtx_init(&f->lock, mtx_plain) != thrd_success) {
        free(f);
        free(ready);
        return mc_fail(diag, MC_NOMEM, "out of memory");
    }
    f->items = items;
    f->count = count;
    f->plan = plan;
    f->ready = ready;
    f->depth = (size_t)depth;
    cnd_init(&f->changed);
    while (f->thread_count < threads && f->thread_count < MAX_THREADS &&
           thrd_create(&f->threads[f->thread_count], prepare_items, f) == thrd_success)
        f->thread_count++;
    *out = f;
    if (f->thread_count > 0) return MC_OK;
    feeder_stop(f);
    *out = NULL;
    return mc_fail(diag, MC_NOMEM, "no thread can be started");
}

work *feeder_take(feeder *f) {
    mtx_lock(&f->lock);
    size_t item = f->taken++;
    cnd_broadcast(&f->changed);
    while (!f->ready[item]) cnd_wait(&f->changed, &f->lock);
    mtx_unlock(&f->lock);
    return &f->items[item];
}

void feeder_stop(feeder *f) {
    if (f == NULL) return;
    mtx_lock(&f->lock);
    f->stopped = true;
    cnd_broadcast(&f->changed);
    mtx_unlock(&f->lock);
    for (int i = 0; i < f->thread_count; i++) thrd_join(f->threads[i], NULL);
    for (size_t i = f->taken; i < f->count; i++) work_release(&f->items[i], f->plan);
    cnd_destroy(&f->changed);
    mtx_destroy(&f->lock);
    free(f->ready);
    free(f);
}
