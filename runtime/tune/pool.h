/* Pieces of work on all cores. */
#ifndef MCRT_TUNE_POOL_H
#define MCRT_TUNE_POOL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct tune_work {
    size_t count;
    void (*piece)(void *user, size_t index); /* each piece once, in this order, on any thread */
    /* On the calling thread, when pieces are done and at least ten times a second. False: no other piece is
       begun. NULL: always true. */
    bool (*tick)(void *user, size_t done);
    void *user;
} tune_work;

/* Returns when all is done that was begun: how many pieces, the first so many. Where no thread can be had the
   calling one does it. */
size_t tune_work_do(const tune_work *work);

/* Cores that this process may use. */
size_t tune_cores(void);

#endif
