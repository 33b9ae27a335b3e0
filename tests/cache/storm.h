/* Everything at once: gets, puts, drops, prunes,
   walks of a few samples in a directory that is too small for them. */
#ifndef TESTS_STORM_H
#define TESTS_STORM_H

#include <stdatomic.h>
#include "bed.h"

enum { STORM_SAMPLES = 48, STORM_FILES = 24, STORM_BYTES = 200000 };

/* Shared by all who take part. */
typedef struct storm {
    mccache_config config;
    double until; /* seconds_now */
    atomic_long right, missed, wrong, puts, lines, locked, together;
    atomic_int inside; /* of the one lock that all take */
} storm;

/* Directory CACHE_DIRECTORY (NULL: MODE is MEMORY), for so many seconds. */
void storm_begin(storm *s, mccache_mode mode, const char *cache_directory, double seconds);
/* What one process or thread does until the time is over; SEED is its own. */
void storm_run(storm *s, mccache *cache, unsigned seed);

#endif
