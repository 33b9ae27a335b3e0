#include "key.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "module.h"
#include "ops.h"
#include "sim_sources.h"

/* -- Hashes ----------------------------------------------------------------------------------------------- */

proof_hash proof_hash_begin(void) {
    XXH3_state_t *state = XXH3_createState();
    if (!state) abort();
    XXH3_64bits_reset(state);
    return (proof_hash){state};
}

void proof_hash_add(proof_hash *hash, const void *data, size_t bytes) {
    uint64_t size = bytes;
    XXH3_64bits_update(hash->state, &size, sizeof size);
    XXH3_64bits_update(hash->state, data, bytes);
}

void proof_hash_number(proof_hash *hash, uint64_t number) { proof_hash_add(hash, &number, sizeof number); }

uint64_t proof_hash_end(proof_hash *hash) {
    uint64_t digest = XXH3_64bits_digest(hash->state);
    XXH3_freeState(hash->state);
    hash->state = NULL;
    return digest;
}

/* -- Samples ---------------------------------------------------------------------------------------------- */

bool proof_sample_of(const char *text, proof_sample *sample) {
    *sample = (proof_sample){0};
    if (!text || !*text) return true;
    const char *slash = strrchr(text, '/');
    if (!slash) return false;
    sample->one_in = strtoull(slash + 1, NULL, 10);
    proof_hash hash = proof_hash_begin();
    proof_hash_add(&hash, text, (size_t)(slash - text));
    sample->seed = proof_hash_end(&hash);
    return sample->one_in > 0;
}

bool proof_is_drawn(const proof_sample *sample, uint64_t run) {
    if (sample->one_in == 0) return false;
    proof_hash hash = proof_hash_begin();
    proof_hash_number(&hash, sample->seed);
    proof_hash_number(&hash, run);
    return proof_hash_end(&hash) % sample->one_in == 0;
}

/* -- Text ------------------------------------------------------------------------------------------------- */

/* Past the blanks and comments at TEXT. */
static const char *skip(const char *text) {
    for (;;) {
        if (isspace((unsigned char)*text)) {
            text++;
        } else if (text[0] == '/' && text[1] == '/') {
            text += strcspn(text, "\n");
        } else if (text[0] == '/' && text[1] == '*') {
            const char *end = strstr(text + 2, "*/");
            text = end ? end + 2 : text + strlen(text);
        } else {
            return text;
        }
    }
}

char *proof_key_strip(const char *ptx) {
    char *stripped = malloc(strlen(ptx) + 1), *to = stripped;
    if (!stripped) return NULL;
    for (const char *at = skip(ptx); *at;) {
        const char *next = skip(at);
        if (next != at && *next) *to++ = ' ';
        at = next;
        if (*at) *to++ = *at++;
    }
    *to = '\0';
    return stripped;
}

/* -- The simulator ---------------------------------------------------------------------------------------- */

/* An executor of the instruction table, and the hash of the sources that it adds to the core. */
static const struct executor {
    sim_exec *one;
    sim_exec *const *by_type;
    uint64_t sources;
} executors[] = {
#define ONE(pattern, operands, name, flags)     {.one = sim_##name, .sources = SIM_SOURCES_##name},
#define BY_TYPE(pattern, operands, name, flags) {.by_type = sim_##name, .sources = SIM_SOURCES_##name},
#include "ops.def"
#undef ONE
#undef BY_TYPE
};

static uint64_t sources_of(const struct sim_op *op) {
    for (size_t i = 0; i < sizeof executors / sizeof *executors; i++)
        if (op->by_type ? executors[i].by_type == op->by_type : executors[i].one == op->one)
            return executors[i].sources;
    abort(); /* the table is made of the same file */
}

static uint64_t hash_of_row(const struct sim_op *op) {
    proof_hash hash = proof_hash_begin();
    proof_hash_add(&hash, op->pattern, strlen(op->pattern));
    proof_hash_add(&hash, op->operands, strlen(op->operands));
    proof_hash_number(&hash, op->flags);
    proof_hash_number(&hash, sources_of(op));
    return proof_hash_end(&hash);
}

/* Rows of the instruction table, each once. */
typedef struct row_set {
    const struct sim_op *rows[sizeof executors / sizeof *executors];
    size_t count;
} row_set;

static void add_row(row_set *set, const struct sim_op *op) {
    for (size_t i = 0; i < set->count; i++)
        if (set->rows[i] == op) return;
    set->rows[set->count++] = op;
}

bool proof_key_sim(struct ptxsim *sim, const char *ptx, uint64_t *key) {
    ptxsim_module *module;
    row_set set = {.count = 0};
    if (ptxsim_module_load(sim, ptx, &module) != PTXSIM_OK) return false;
    for (const ptxsim_function *f = module->functions; f; f = f->next)
        for (int i = 0; i < f->code_count; i++) add_row(&set, f->code[i].op);
    *key = SIM_CORE;
    for (size_t i = 0; i < set.count; i++) *key += hash_of_row(set.rows[i]); /* in whatever order */
    return ptxsim_module_unload(sim, module) == PTXSIM_OK;
}

bool proof_key_kernel(struct ptxsim *sim, const char *ptx, uint64_t *key) {
    uint64_t of_sim;
    char *stripped = proof_key_strip(ptx);
    if (!stripped || !proof_key_sim(sim, ptx, &of_sim)) {
        free(stripped);
        return false;
    }
    proof_hash hash = proof_hash_begin();
    proof_hash_add(&hash, stripped, strlen(stripped));
    proof_hash_number(&hash, of_sim);
    *key = proof_hash_end(&hash);
    free(stripped);
    return true;
}
