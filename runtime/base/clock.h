/* Durations. */
#ifndef MCRT_CLOCK_H
#define MCRT_CLOCK_H

#include <time.h>

/* Seconds of a clock that only rises. */
static inline double clock_seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
