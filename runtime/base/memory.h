/* Allocation of arrays whose length comes from input. */
#ifndef MCRT_MEMORY_H
#define MCRT_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include "mc_status.h"

/* COUNT zeroed elements of SIZE bytes; a pointer to free also for COUNT 0. NULL: COUNT is negative, the
   product overflows, or there is no memory. */
void *mcrt_array(int64_t count, size_t size);

/* A * B, or -1, which mcrt_array refuses, where a factor is negative or the product leaves int64. */
int64_t mcrt_product(int64_t a, int64_t b);

/* ITEMS, malloc'ed, of SIZE bytes each, with room for one more than COUNT; *ROOM is for how many there is
   room. NULL: no memory, and ITEMS is as before. */
void *mcrt_room(void *items, size_t count, size_t *room, size_t size);

/* MC_NOMEM with "no memory for COUNT WHAT". */
mc_status mcrt_no_memory(mc_diag *diag, int64_t count, const char *what);

#endif
