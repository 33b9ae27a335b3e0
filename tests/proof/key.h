/* What a run is called in the store of proofs: hashes of all that its result depends on (docs/proofs.md). */
#ifndef TESTS_PROOF_KEY_H
#define TESTS_PROOF_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A hash that is added to piece by piece. Each piece counts with its length. */
typedef struct proof_hash {
    void *state;
} proof_hash;

proof_hash proof_hash_begin(void);
void proof_hash_add(proof_hash *hash, const void *data, size_t bytes);
void proof_hash_number(proof_hash *hash, uint64_t number);
uint64_t proof_hash_end(proof_hash *hash); /* and frees it */

/* Which runs are simulated although they have a proof: one in ONE_IN (0: none), chosen by SEED. */
typedef struct proof_sample {
    uint64_t seed, one_in;
} proof_sample;

/* TEXT: "SEED/N", where SEED is any text; NULL or "": no sample. False: neither. */
bool proof_sample_of(const char *text, proof_sample *sample);
bool proof_is_drawn(const proof_sample *sample, uint64_t run);

/* PTX without its comments, with one blank for any blanks and line ends; the caller frees. NULL: out of memory. */
char *proof_key_strip(const char *ptx);

struct ptxsim;
/* The hash of PTX without comments and of the simulator's sources that its instructions reach, both as they are in this
   program. False: the simulator does not take PTX, or memory ran out. */
bool proof_key_kernel(struct ptxsim *sim, const char *ptx, uint64_t *key);
/* The simulator's part of it. */
bool proof_key_sim(struct ptxsim *sim, const char *ptx, uint64_t *key);

#endif
