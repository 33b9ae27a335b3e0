#include "texts.h"
#include <stdlib.h>
#include <string.h>
#include "key.h"

static uint64_t hash_of(const char *ptx) {
    proof_hash hash = proof_hash_begin();
    proof_hash_add(&hash, ptx, strlen(ptx));
    return proof_hash_end(&hash);
}

bool proof_texts_key(proof_texts *texts, struct ptxsim *sim, const char *ptx, uint64_t *key) {
    if (!texts->items) texts->items = calloc(PROOF_TEXTS, sizeof *texts->items);
    if (!texts->items) return false;
    uint64_t hash = hash_of(ptx);
    proof_text *text = &texts->items[hash % PROOF_TEXTS];
    if (text->hash != hash || hash == 0) {
        if (!proof_key_kernel(sim, ptx, key)) return false;
        *text = (proof_text){hash, *key};
    }
    *key = text->key;
    return true;
}

void proof_texts_free(proof_texts *texts) { free(texts->items); }
