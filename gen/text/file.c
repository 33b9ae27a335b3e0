#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "text/file.h"

static mc_status io_error(mc_diag *diag, const char *path, int error) {
    return mc_fail(diag, MC_IO, "%s: %s", path, strerror(error));
}

/* -- Reading */

typedef struct growing {
    char *bytes;
    size_t size, capacity;
} growing;

/* The file's size is only the first guess: a pipe has none, and a file may grow. */
static size_t first_capacity(FILE *file) {
    struct stat info;
    if (fstat(fileno(file), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < 0) return 1 << 16;
    return (size_t)info.st_size + 1;
}

static mc_status grow(growing *contents, size_t capacity, const char *path, mc_diag *diag) {
    char *bytes = realloc(contents->bytes, capacity);
    if (!bytes) return mc_fail(diag, MC_NOMEM, "%s: no memory for its %zu bytes", path, capacity);
    contents->bytes = bytes;
    contents->capacity = capacity;
    return MC_OK;
}

static mc_status read_stream(FILE *file, const char *path, growing *contents, mc_diag *diag) {
    mc_status status = grow(contents, first_capacity(file), path, diag);
    while (status == MC_OK) {
        contents->size +=
            fread(contents->bytes + contents->size, 1, contents->capacity - contents->size, file);
        if (ferror(file)) return io_error(diag, path, errno);
        if (feof(file)) return MC_OK;
        if (contents->size == contents->capacity) status = grow(contents, 2 * contents->capacity, path, diag);
    }
    return status;
}

mc_status file_read(const char *path, char **bytes, size_t *size, mc_diag *diag) {
    *bytes = NULL;
    *size = 0;
    FILE *file = fopen(path, "rb");
    if (!file) return io_error(diag, path, errno);
    growing contents = {0};
    mc_status status = read_stream(file, path, &contents, diag);
    fclose(file);
    if (status != MC_OK) {
        free(contents.bytes);
        return status;
    }
    *bytes = contents.bytes;
    *size = contents.size;
    return MC_OK;
}

mc_status file_read_text(const char *path, const char *what, char **text, mc_diag *diag) {
    size_t size;
    char *bytes;
    *text = NULL;
    mc_status status = file_read(path, &bytes, &size, diag);
    if (status != MC_OK) return status;
    if (memchr(bytes, '\0', size) != NULL)
        status = mc_fail(diag, MC_FORMAT, "%s: %s is text, this holds a zero byte", path, what);
    else if ((*text = strndup(bytes, size)) == NULL) status = mc_fail(diag, MC_NOMEM, "out of memory");
    free(bytes);
    return status;
}

/* -- Writing */

static mc_status discard(file_output *output, mc_status status) {
    if (output->stream) fclose(output->stream);
    if (output->temporary) unlink(output->temporary);
    free(output->temporary);
    free(output->target);
    *output = (file_output){0};
    return status;
}

/* The temporary's name: beside the target, whatever the length of the target's name. */
static char *temporary_name(const char *target, int attempt) {
    const char *slash = strrchr(target, '/');
    int folder = slash ? (int)(slash + 1 - target) : 0;
    char *name;
    return asprintf(&name, "%.*s.mcgen-%ld-%d.tmp", folder, target, (long)getpid(), attempt) < 0 ? NULL
                                                                                                 : name;
}

/* O_EXCL, not mkstemp: a new file is to have the mode that the umask gives. */
static int create_beside(file_output *output) {
    enum { ATTEMPTS = 100 };
    for (int i = 0; i < ATTEMPTS; i++) {
        free(output->temporary);
        output->temporary = temporary_name(output->target, i);
        if (!output->temporary) {
            errno = ENOMEM;
            return -1;
        }
        int descriptor = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0) return descriptor;
        if (errno != EEXIST) break;
    }
    int error = errno;
    free(output->temporary); /* not ours: discard must not unlink it */
    output->temporary = NULL;
    errno = error;
    return -1;
}

mc_status file_open(const char *path, file_output *output, mc_diag *diag) {
    *output = (file_output){0};
    struct stat info;
    bool exists = stat(path, &info) == 0;
    bool direct = exists && !S_ISREG(info.st_mode);
    /* A link to a regular file stays a link: its target is replaced. */
    output->target = exists && !direct ? realpath(path, NULL) : strdup(path);
    if (!output->target) return io_error(diag, path, errno);
    int descriptor = direct ? open(path, O_WRONLY | O_CLOEXEC) : create_beside(output);
    if (descriptor < 0) return discard(output, io_error(diag, path, errno));
    bool kept = direct || !exists || fchmod(descriptor, info.st_mode & 07777) == 0;
    output->stream = kept ? fdopen(descriptor, "wb") : NULL;
    if (output->stream) return MC_OK;
    int error = errno;
    close(descriptor);
    return discard(output, io_error(diag, path, error));
}

/* Whether SIZE bytes more stay within the limit of a file's size. A write beyond RLIMIT_FSIZE raises SIGXFSZ,
   which ends a process that does not expect it. A stream without a position has no size either. */
static bool within_file_limit(FILE *stream, size_t size) {
    struct rlimit limit;
    off_t at = ftello(stream);
    return at < 0 || getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           ((uint64_t)at <= limit.rlim_cur && size <= limit.rlim_cur - (uint64_t)at);
}

void file_write(file_output *output, const void *bytes, size_t size) {
    if (output->error) return;
    if (!within_file_limit(output->stream, size)) output->error = EFBIG;
    else if (fwrite(bytes, 1, size, output->stream) != size) output->error = errno;
}

mc_status file_commit(file_output *output, mc_diag *diag) {
    errno = output->error ? output->error : EIO; /* of an earlier write to the stream errno is gone */
    bool failed = output->error != 0 || ferror(output->stream) != 0;
    if (fclose(output->stream) != 0) failed = true;
    output->stream = NULL;
    if (!failed && output->temporary && rename(output->temporary, output->target) != 0) failed = true;
    if (failed) return discard(output, io_error(diag, output->target, errno));
    free(output->temporary);
    output->temporary = NULL;
    return discard(output, MC_OK);
}
