/* Global memory: allocations, and one bit a byte that says whether it was ever written. Both lie in lazily
 * mapped pages, so that a large allocation costs only what is touched. */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct sim_allocation {
    uint64_t base;
    size_t bytes, mapped;
    unsigned char *data;
    unsigned char *shadow;       /* bit i of byte j: byte 8 j + i was written */
    struct sim_race_cell *cells; /* the cells of the launch that runs (race.h) */
    size_t cells_mapped;
    bool variable, constant; /* it is a module's variable; in .const */
    bool read, watched;      /* whether it was read, and whether accesses are noted in the cells; race.c */
    unsigned char
        *saved; /* the mapping as it was before the launch wrote to it, where `kept` says so, or NULL */
    unsigned char *kept; /* for each chunk of data, whether `saved` holds it */
};

struct sim_memory {
    struct sim_allocation **items; /* by address */
    size_t count, capacity;
    uint64_t next;
    pthread_mutex_t *saving; /* of the launch that runs */
};

/* Zeroed pages that take memory only where they are touched. NULL: none left. */
void *sim_map(size_t bytes);
void sim_unmap(void *pages, size_t bytes);

bool sim_memory_alloc(struct sim_memory *memory, size_t bytes, uint64_t *address);
bool sim_memory_free(struct sim_memory *memory, uint64_t address);
void sim_memory_free_all(struct sim_memory *memory);

/* Keeps a copy of what lies around byte AT of A, before blocks that run at the same time write to it. False:
   out of memory. */
bool sim_memory_save(struct sim_memory *memory, struct sim_allocation *a, size_t at);
/* Ends the copies' life. If RESTORE, memory is then as it was before the first write. */
void sim_memory_end_saved(struct sim_memory *memory, bool restore);

/* The allocation with the greatest base that is not above ADDRESS; NULL if there is none. */
struct sim_allocation *sim_memory_find(const struct sim_memory *memory, uint64_t address);

static inline bool sim_allocation_holds(const struct sim_allocation *a, uint64_t address, size_t bytes) {
    uint64_t offset = address - a->base;
    return offset <= a->bytes && bytes <= a->bytes - offset;
}

/* Shadow bits of an access of BYTES (1, 2, 4, 8 or 16, to which AT is aligned). */
static inline bool sim_shadow_written(const unsigned char *shadow, size_t at, unsigned bytes) {
    uint16_t bits, mask = (uint16_t)((1u << bytes) - 1);
    memcpy(&bits, shadow + at / 16 * 2, sizeof bits);
    return (uint16_t)(bits >> at % 16 & mask) == mask;
}

static inline void sim_shadow_write(unsigned char *shadow, size_t at, unsigned bytes) {
    uint16_t bits;
    memcpy(&bits, shadow + at / 16 * 2, sizeof bits);
    bits = (uint16_t)(bits | ((1u << bytes) - 1) << at % 16);
    memcpy(shadow + at / 16 * 2, &bits, sizeof bits);
}

/* The same where several threads write: they may meet in one word of the shadow, not in one bit. */
static inline void sim_shadow_write_together(unsigned char *shadow, size_t at, unsigned bytes) {
    uint16_t *word = (uint16_t *)(void *)(shadow + at / 16 * 2),
             bits = (uint16_t)(((1u << bytes) - 1) << at % 16);
    if ((__atomic_load_n(word, __ATOMIC_RELAXED) & bits) != bits)
        __atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
}

/* Any range. */
void sim_shadow_write_range(unsigned char *shadow, size_t at, size_t bytes);
/* The first byte in the range that was never written, at + bytes if all were. */
size_t sim_shadow_first_unwritten(const unsigned char *shadow, size_t at, size_t bytes);

#endif
