/* A vendor's library, found when it is first wanted: mcbench builds and starts without any of them. */
#ifndef BENCH_LIBRARY_H
#define BENCH_LIBRARY_H

#include "mcrt_internal.h"

typedef struct library_entry {
    const char *symbol;
    size_t offset; /* of the function pointer in the table that library_open fills */
    bool optional; /* a library without it will do: the pointer is then NULL */
} library_entry;

/* Opens the first of NAMES (NULL-terminated; each is tried plainly, then in /usr/local/cuda/lib64) and fills
   TABLE. MC_CANNOT, with the reason, where there is no such library or it lacks an entry. It stays loaded. */
mc_status library_open(const char *const *names, const library_entry *entries, size_t count, void *table,
                       mc_diag *diag);

#endif
