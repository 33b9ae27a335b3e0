#include "name.h"
#include <stdio.h>
#include <string.h>

static const char *without_folders(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool append(char text[PROOF_PATH], const char *separator, const char *word) {
    size_t used = strlen(text);
    return snprintf(text + used, PROOF_PATH - used, "%s%s", separator, word) < (int)(PROOF_PATH - used);
}

bool proof_name(const char *folder, int argc, char **argv, char path[PROOF_PATH], char what[PROOF_PATH]) {
    const char *program = without_folders(argv[0]), *spec = argc > 1 ? without_folders(argv[1]) : "none";
    size_t length = strlen(spec);
    if (length > 4 && strcmp(spec + length - 4, ".lua") == 0) length -= 4;
    if (snprintf(path, PROOF_PATH, "%s/%.*s/%s", folder, (int)length, spec, program) >= PROOF_PATH)
        return false;
    snprintf(what, PROOF_PATH, "%s", program);
    bool fits = true;
    for (int i = 1; i < argc; i++) {
        const char *word = without_folders(argv[i]);
        fits = fits && append(what, " ", word) && (i == 1 || append(path, "-", word));
    }
    return fits;
}
