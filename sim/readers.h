/* Sets of reads, one a warp, of words that more than two warps of a cluster read between writes. */
#ifndef SIM_READERS_H
#define SIM_READERS_H

#include "race.h"

/* A cluster's sets; their numbers begin at 1. */
struct sim_reader_pool {
    sim_record *records; /* of each set, by rank and warp, the last read; 0: none */
    size_t width;        /* records of a set */
    uint32_t *dropped;   /* numbers to use again */
    uint32_t count, capacity, dropped_count;
};

/* The number of an empty set, 0: out of memory. Sets may move. */
uint32_t sim_readers_new(struct sim_reader_pool *pool);
void sim_readers_drop(struct sim_reader_pool *pool, uint32_t index);
void sim_readers_reset(struct sim_reader_pool *pool); /* drops all */
void sim_readers_free(struct sim_reader_pool *pool);

static inline sim_record *sim_readers_of(const struct sim_reader_pool *pool, uint32_t index) {
    return pool->records + (index - 1) * pool->width;
}

#endif
