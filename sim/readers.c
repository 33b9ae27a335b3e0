#include "readers.h"

#include <stdlib.h>
#include <string.h>

/* As many as a record has room for (race.c); that is 16 GB of sets for each block of the cluster. */
enum { MAX_SETS = 1 << 26, FIRST_SETS = 64 };

static bool grow(struct sim_reader_pool *pool) {
    uint32_t capacity = pool->capacity ? 2 * pool->capacity : FIRST_SETS;
    if (capacity > MAX_SETS) return false;
    uint32_t *dropped = realloc(pool->dropped, capacity * sizeof *dropped);
    if (dropped) pool->dropped = dropped;
    sim_record *records = dropped ? realloc(pool->records, capacity * pool->width * sizeof *records) : NULL;
    if (!records) return false;
    pool->records = records;
    pool->capacity = capacity;
    return true;
}

uint32_t sim_readers_new(struct sim_reader_pool *pool) {
    uint32_t index;
    if (pool->dropped_count) index = pool->dropped[--pool->dropped_count];
    else if (pool->count < pool->capacity || grow(pool)) index = ++pool->count;
    else return 0;
    memset(sim_readers_of(pool, index), 0, pool->width * sizeof *pool->records);
    return index;
}

void sim_readers_drop(struct sim_reader_pool *pool, uint32_t index) {
    pool->dropped[pool->dropped_count++] = index;
}

void sim_readers_reset(struct sim_reader_pool *pool) { pool->count = pool->dropped_count = 0; }

void sim_readers_free(struct sim_reader_pool *pool) {
    free(pool->records);
    free(pool->dropped);
}
