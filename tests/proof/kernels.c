#include "kernels.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "key.h"

static void *checked(void *memory) {
    if (memory) return memory;
    fprintf(stderr, "out of memory\n");
    exit(2);
}

/* -- Labels ----------------------------------------------------------------------------------------------- */

/* What stands between WORD and the end of its line, or of the sentence. */
static void copy_behind(const char *ptx, const char *word, const char *ends, char *to, size_t room) {
    const char *at = strstr(ptx, word);
    if (!at) return;
    at += strlen(word);
    snprintf(to, room, "%.*s", (int)strcspn(at, ends), at);
}

/* "spmm_l8r8.lua: op=spmm arch=sm_80 ...", as the PTX's own comment says. */
static char *label_of(const char *ptx) {
    char spec[96] = "PTX without a spec", fields[768] = "", label[sizeof spec + sizeof fields];
    copy_behind(ptx, "// Made by mcgen ", ",\n", spec, sizeof spec);
    copy_behind(ptx, "\n//   op=", "\n", fields, sizeof fields);
    const char *from = strstr(spec, " from ");
    snprintf(label, sizeof label, "%s: op=%s", from ? from + strlen(" from ") : spec, fields);
    return checked(strdup(label));
}

/* -- The table -------------------------------------------------------------------------------------------- */

static size_t *slot_of(const proof_kernels *kernels, uint64_t id) {
    size_t mask = kernels->slot_count - 1, at = id & mask;
    while (kernels->slots[at] && kernels->items[kernels->slots[at] - 1].id != id) at = (at + 1) & mask;
    return &kernels->slots[at];
}

static void grow(proof_kernels *kernels) {
    kernels->room = kernels->room ? 2 * kernels->room : 64;
    kernels->items = checked(realloc(kernels->items, kernels->room * sizeof *kernels->items));
    free(kernels->slots);
    kernels->slot_count = 2 * kernels->room;
    kernels->slots = checked(calloc(kernels->slot_count, sizeof *kernels->slots));
    for (size_t i = 0; i < kernels->count; i++) *slot_of(kernels, kernels->items[i].id) = i + 1;
}

proof_kernel *proof_kernels_get(proof_kernels *kernels, uint64_t id, const char *ptx) {
    if (kernels->count == kernels->room) grow(kernels);
    size_t *slot = slot_of(kernels, id);
    if (*slot == 0) {
        kernels->items[kernels->count++] = (proof_kernel){.id = id, .label = label_of(ptx)};
        *slot = kernels->count;
    }
    return &kernels->items[*slot - 1];
}

void proof_kernel_add(proof_kernel *k, uint64_t run, int count, proof_how how) {
    k->runs += count;
    if (how != PROOF_ASSUMED) k->simulated += count;
    if (how == PROOF_FAILED) k->failed = true;
    proof_hash hash = proof_hash_begin();
    proof_hash_number(&hash, k->key);
    proof_hash_number(&hash, run);
    k->key = proof_hash_end(&hash);
}

void proof_kernels_free(proof_kernels *kernels) {
    for (size_t i = 0; i < kernels->count; i++) free(kernels->items[i].label);
    free(kernels->items);
    free(kernels->slots);
    *kernels = (proof_kernels){0};
}
