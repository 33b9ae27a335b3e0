/* Keys of PTX that was seen before: tests load the same text many times. */
#ifndef TESTS_PROOF_TEXTS_H
#define TESTS_PROOF_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct proof_text {
    uint64_t hash, key; /* of the text as it is; proof_key_kernel */
} proof_text;

/* The last text of each hash modulo its size. */
enum { PROOF_TEXTS = 4096 };
typedef struct proof_texts {
    proof_text *items;
} proof_texts;

struct ptxsim;
/* proof_key_kernel of PTX. */
bool proof_texts_key(proof_texts *texts, struct ptxsim *sim, const char *ptx, uint64_t *key);
void proof_texts_free(proof_texts *texts);

#endif
