/* Uses of a cache that are disturbed at each of their system calls: what is there before,
   and what one process does. */
#ifndef TESTS_WORKS_H
#define TESTS_WORKS_H

#include "bed.h"

enum { OWN = 0, FRESH = 100 /* numbers of samples: what a work is about, and what nobody has put yet */ };

/* Lives in shared memory: what the process saw. */
typedef struct cache_job {
    cache_bed bed;
    const struct cache_work *work;
    log_lines lines;
    int right, missed, wrong; /* gets */
    int files_left_open;
    bool ended;
    double seconds;
} cache_job;

typedef struct cache_work {
    const char *name;
    unsigned samples;   /* in the cache before: OWN, OWN + 1, ... */
    uint64_t max_files; /* 0: no limit that matters */
    void (*run)(cache_job *job, mccache *cache);
} cache_work;

extern const cache_work works[];
extern const int work_count;

/* A new directory with what the work finds. */
void job_prepare(cache_job *job, const cache_work *work);
/* Opens the cache, does the work, and closes it; USER is a job. */
void job_run(void *user);

/* In a process of its own, undisturbed: opens the cache and finds the samples right or missing, can put and
   get, and has the lock within a second. Sweeps two days later, after which only good entries are there, but
   for strays (locks). USER is a check. */
typedef struct job_check {
    cache_job *job;
    bool opened, usable, stored, locked, swept;
    int wrong, strays; /* gets; files that are no entries after the sweep */
} job_check;
void job_look(void *user);

#endif
