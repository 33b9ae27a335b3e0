/* The kernels that a test ran. */
#ifndef TESTS_PROOF_KERNELS_H
#define TESTS_PROOF_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "ledger.h"

typedef struct proof_kernel {
    uint64_t id;  /* proof_key_kernel */
    uint64_t key; /* of all its runs so far, in their order */
    long runs, simulated;
    bool failed;
    char *label; /* spec and fields */
} proof_kernel;

typedef struct proof_kernels {
    proof_kernel *items; /* in the order in which they came */
    size_t count, room;
    size_t *slots; /* hash table: item + 1, or 0 */
    size_t slot_count;
} proof_kernels;

/* The one of ID, made of PTX if it is not there. Ends the program if memory runs out. */
proof_kernel *proof_kernels_get(proof_kernels *kernels, uint64_t id, const char *ptx);
/* Counts a run of K in COUNT schedules, and folds its key into K's. */
void proof_kernel_add(proof_kernel *k, uint64_t run, int count, proof_how how);
void proof_kernels_free(proof_kernels *kernels);

#endif
