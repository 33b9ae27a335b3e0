#include "store.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

enum { DIGITS = 16, LINE = 512 };
#define PROLOGUE "# mcgen proofs 1: "

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Sorts, and leaves each key once. */
static size_t sort(uint64_t *keys, size_t count) {
    size_t kept = 0;
    if (count > 0) qsort(keys, count, sizeof *keys, compare);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || keys[kept - 1] != keys[i]) keys[kept++] = keys[i];
    return kept;
}

/* -- Reading ---------------------------------------------------------------------------------------------- */

static bool parse(const char *line, uint64_t *key) {
    *key = 0;
    for (int i = 0; i < DIGITS; i++)
        if (!isdigit((unsigned char)line[i]) && (line[i] < 'a' || line[i] > 'f')) return false;
    *key = strtoull(line, NULL, 16);
    return strcmp(line + DIGITS, "\n") == 0;
}

static bool add(proof_store *store, size_t *room, uint64_t key) {
    if (store->count == *room) {
        *room = *room ? 2 * *room : 256;
        uint64_t *keys = realloc(store->keys, *room * sizeof *keys);
        if (!keys) return false;
        store->keys = keys;
    }
    store->keys[store->count++] = key;
    return true;
}

static bool read_lines(FILE *file, proof_store *store) {
    char line[LINE];
    size_t room = 0;
    uint64_t key;
    if (!fgets(line, sizeof line, file) || strncmp(line, PROLOGUE, strlen(PROLOGUE)) != 0) return false;
    while (fgets(line, sizeof line, file))
        if (!parse(line, &key) || !add(store, &room, key)) return false;
    return !ferror(file);
}

bool proof_store_read(const char *path, proof_store *store) {
    *store = (proof_store){0};
    FILE *file = fopen(path, "r");
    if (!file) return errno == ENOENT;
    bool good = read_lines(file, store);
    fclose(file);
    if (!good) proof_store_free(store);
    store->count = sort(store->keys, store->count);
    return good;
}

proof_store proof_store_of(uint64_t *keys, size_t count) {
    return (proof_store){.keys = keys, .count = sort(keys, count)};
}

void proof_store_free(proof_store *store) {
    free(store->keys);
    *store = (proof_store){0};
}

bool proof_store_has(const proof_store *store, uint64_t key) {
    return store->count > 0 && bsearch(&key, store->keys, store->count, sizeof key, compare) != NULL;
}

/* -- Writing ---------------------------------------------------------------------------------------------- */

static bool is_same(const char *path, const uint64_t *keys, size_t count) {
    proof_store old;
    bool same = proof_store_read(path, &old) && old.count == count && count > 0 &&
                memcmp(old.keys, keys, count * sizeof *keys) == 0;
    proof_store_free(&old);
    return same;
}

/* All folders above PATH. */
static bool make_folders(const char *path) {
    char folder[LINE];
    if (strlen(path) >= sizeof folder) return false;
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        if (mkdir(folder, 0777) != 0 && errno != EEXIST) return false;
    }
    return true;
}

static bool write_all(const char *path, const char *what, const uint64_t *keys, size_t count) {
    FILE *file = fopen(path, "w");
    if (!file) return false;
    fprintf(file, PROLOGUE "%.400s\n", what);
    for (size_t i = 0; i < count; i++) fprintf(file, "%0*" PRIx64 "\n", DIGITS, keys[i]);
    bool good = !ferror(file);
    return fclose(file) == 0 && good;
}

bool proof_store_write(const char *path, const char *what, uint64_t *keys, size_t count) {
    char made[LINE];
    count = sort(keys, count);
    if (is_same(path, keys, count)) return utimes(path, NULL) == 0; /* seen by tools/prove */
    if (snprintf(made, sizeof made, "%s.%ld", path, (long)getpid()) >= (int)sizeof made) return false;
    if (make_folders(path) && write_all(made, what, keys, count) && rename(made, path) == 0) return true;
    (void)unlink(made);
    return false;
}
