/* What the tests of the cache share: directories of their own,
   entries that tell whose they are, child processes. */
#ifndef TESTS_BED_H
#define TESTS_BED_H

#include <stdbool.h>
#include <sys/types.h>
#include "mccache.h"

enum { SKIPPED = 77 /* exit status */ };

/* -- Directories -------------------------------------------------------------------------------------- */

enum { BED_PATH = 256 };

/* A new directory in $TMPDIR, else in memory (/dev/shm), else in /tmp; "cache" inside of it is not there yet.
   Exits where there is none to have. */
typedef struct cache_bed {
    char top[BED_PATH], cache[BED_PATH];
} cache_bed;
void bed_make(cache_bed *bed);
void bed_remove(const cache_bed *bed);
/* PATH with all below it, whatever its modes. */
void remove_tree(const char *path);
/* Regular files below PATH. */
int count_files(const char *path);

/* -- Samples: entries whose bytes follow from their number ---------------------------------------------- */

enum { SAMPLE_VERSIONS = 3 };

typedef enum sample_state { SAMPLE_MISS, SAMPLE_RIGHT, SAMPLE_WRONG } sample_state;

mccache_key sample_key(unsigned number);
void sample_put(mccache *cache, unsigned number, unsigned version);
/* Right: of any version, whole. */
sample_state sample_get(mccache *cache, unsigned number);
/* The file of sample NUMBER, which is there; "" if it is not. */
void sample_file(const cache_bed *bed, unsigned number, char path[BED_PATH]);

/* -- Log lines, counted where the parent of a child can see them ----------------------------------------- */

enum { LOG_LINES = 32, LOG_TEXT = 200 };

typedef struct log_lines {
    int count, same; /* same: an earlier one was alike */
    char text[LOG_LINES][LOG_TEXT];
} log_lines;
void log_count(void *lines, const char *message);

/* -- Processes ---------------------------------------------------------------------------------------- */

/* Zeroed memory that children share. Exits where there is none. */
void *shared_memory(size_t bytes);
/* Starts FUNCTION in a child, which is killed after SECONDS. */
pid_t child_start(void (*function)(void *), void *user, unsigned seconds);
/* Exit status, or minus the signal that ended it. */
int child_wait(pid_t child);
int child_run(void (*function)(void *), void *user);
double seconds_now(void);
void sleep_ms(unsigned milliseconds);

#endif
