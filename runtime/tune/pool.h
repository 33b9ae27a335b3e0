/* Pieces of work on all cores. */
#ifndef MCRT_TUNE_POOL_H
#define MCRT_TUNE_POOL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct tune_work {
    size_t count;
    void (*piece)(void *user, size_t index); /* each piece once, in this order, on any thread */
    /* Called on the calling thread, when pieces are done and at least ten times a second. False: no other
       piece is begun. NULL: always true. */
    bool (*tick)(void *user, size_t done);
    void *user;
} tune_work;

/* Does the work, and returns when all is done that was begun. Returns how many pieces were done, which are
   the first ones. Where no thread can be had the calling one does them. */
size_t tune_work_do(const tune_work *work);

/* Cores that this process may use. */
size_t tune_cores(void);

#endif
