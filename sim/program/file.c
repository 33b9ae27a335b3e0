#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is left of FILE, with a NUL behind it; NULL after an error, which errno tells. */
static char *read_all(FILE *file, size_t *bytes) {
    size_t capacity = 1 << 16, used = 0, got;
    char *data = malloc(capacity);
    while (data && (got = fread(data + used, 1, capacity - used - 1, file)) > 0) {
        used += got;
        if (capacity - used > 1) continue;
        char *larger = realloc(data, capacity *= 2);
        if (!larger) free(data);
        data = larger;
    }
    if (!data) return NULL;
    if (ferror(file)) {
        free(data);
        return NULL;
    }
    data[used] = 0;
    *bytes = used;
    return data;
}

void *file_read(const char *path, size_t *bytes) {
    errno = 0;
    FILE *file = fopen(path, "rb");
    char *data = file ? read_all(file, bytes) : NULL;
    if (!data) complain("%s: %s", path, errno ? strerror(errno) : "cannot be read");
    if (file) fclose(file);
    return data;
}

bool file_write(const char *path, const void *data, size_t bytes) {
    errno = 0;
    FILE *file = fopen(path, "wb");
    bool written = file && fwrite(data, 1, bytes, file) == bytes;
    if (file && fclose(file) != 0) written = false;
    return written || complain("%s: %s", path, errno ? strerror(errno) : "cannot be written");
}
