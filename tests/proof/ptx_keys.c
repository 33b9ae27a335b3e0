/* Keys of PTX files, for scripts that keep proofs of what they do with them.
 *
 *   ptx_keys SALT SAMPLE   reads names of files from its input; writes "KEY DRAWN NAME" for each. KEY: of SALT and of the PTX
 *                          without comments, 16 digits. DRAWN: "again" if SAMPLE (SEED/N, or "") draws this one, else "-" */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <inttypes.h>
#include "key.h"

static char *read_text(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;
    if (!file) return NULL;
    if (getdelim(&text, &size, '\0', file) < 0) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

static bool key_of(const char *path, const char *salt, uint64_t *key) {
    char *text = read_text(path), *stripped = text ? proof_key_strip(text) : NULL;
    proof_hash hash = proof_hash_begin();
    proof_hash_add(&hash, salt, strlen(salt));
    if (stripped) proof_hash_add(&hash, stripped, strlen(stripped));
    *key = proof_hash_end(&hash);
    bool good = stripped != NULL;
    free(stripped);
    free(text);
    return good;
}

int main(int argc, char **argv) {
    char path[1024];
    proof_sample sample;
    if (argc != 3 || !proof_sample_of(argv[2], &sample)) {
        fprintf(stderr, "usage: ptx_keys SALT SEED/N <NAMES\n");
        return 2;
    }
    while (fgets(path, sizeof path, stdin)) {
        uint64_t key;
        path[strcspn(path, "\n")] = '\0';
        if (!key_of(path, argv[1], &key)) {
            fprintf(stderr, "%s: cannot be read\n", path);
            return 1;
        }
        printf("%016" PRIx64 " %s %s\n", key, proof_is_drawn(&sample, key) ? "again" : "-", path);
    }
    return 0;
}
