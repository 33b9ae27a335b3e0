/* A file of proofs: keys of kernels that a test has proved, sorted, one a line in hexadecimal. */
#ifndef TESTS_PROOF_STORE_H
#define TESTS_PROOF_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct proof_store {
    uint64_t *keys; /* ascending, each once */
    size_t count;
} proof_store;

/* A file that is not there has no keys. False, and no keys, if it is there and is not such a file. */
bool proof_store_read(const char *path, proof_store *store);
/* Takes over KEYS, which malloc made, and sorts them. */
proof_store proof_store_of(uint64_t *keys, size_t count);
void proof_store_free(proof_store *store);
bool proof_store_has(const proof_store *store, uint64_t key);
/* Sorts KEYS and replaces the file by them in one step, unless it holds them already; makes its folder. WHAT describes
   it in its first line. */
bool proof_store_write(const char *path, const char *what, uint64_t *keys, size_t count);

#endif
