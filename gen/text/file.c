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

const file_limit file_ptx_limit = {64, "PTX"};

typedef struct reading {
    const char *path;
    size_t most;      /* bytes */
    const char *what; /* that a larger file is not; NULL: it is too large for anything */
    char *bytes;
    size_t size, capacity;
    mc_diag *diag;
} reading;

static mc_status grow(reading *r, size_t capacity) {
    char *bytes = realloc(r->bytes, capacity);
    if (!bytes) return mc_fail(r->diag, MC_NOMEM, "%s: no memory for its %zu bytes", r->path, capacity);
    r->bytes = bytes;
    r->capacity = capacity;
    return MC_OK;
}

static mc_status too_large(const reading *r) {
    size_t megabytes = r->most >> 20;
    if (r->what == NULL)
        return mc_fail(r->diag, MC_USAGE, "%s: more than %zu MB in a pipe", r->path, megabytes);
    return mc_fail(r->diag, MC_USAGE, "%s: larger than %zu MB: not %s", r->path, megabytes, r->what);
}

/* The file's size is only the first guess: a pipe has none, and a file may grow. */
static mc_status read_all(int descriptor, const struct stat *info, reading *r) {
    bool regular = S_ISREG(info->st_mode);
    if (regular && (uint64_t)info->st_size > r->most) return too_large(r);
    mc_status status = grow(r, regular ? (size_t)info->st_size + 1 : 1 << 16);
    while (status == MC_OK) {
        ssize_t got = read(descriptor, r->bytes + r->size, r->capacity - r->size);
        if (got == 0) return MC_OK;
        if (got < 0 && errno != EINTR) return io_error(r->diag, r->path, errno);
        if (got > 0) r->size += (size_t)got;
        if (r->size > r->most) return too_large(r);
        if (r->size == r->capacity) status = grow(r, 2 * r->capacity);
    }
    return status;
}

static bool is_under(const char *path, const char *folder) {
    return strncmp(path, folder, strlen(folder)) == 0;
}

/* A pipe with a name might never have a writer. Of what a shell opens, writers are known. */
static mc_status check_kind(const char *path, const struct stat *info, mc_diag *diag) {
    bool opened = S_ISFIFO(info->st_mode) && (is_under(path, "/dev/") || is_under(path, "/proc/"));
    if (S_ISREG(info->st_mode) || opened) return MC_OK;
    if (S_ISDIR(info->st_mode)) return io_error(diag, path, EISDIR);
    return mc_fail(diag, MC_IO, "%s: it is %s, no regular file", path,
                   S_ISFIFO(info->st_mode)   ? "a named pipe"
                   : S_ISSOCK(info->st_mode) ? "a socket"
                                             : "a device");
}

/* Opened without waiting, looked at, and then read as usual. */
static mc_status open_known(const char *path, int *descriptor, struct stat *info, mc_diag *diag) {
    *descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (*descriptor < 0) return io_error(diag, path, errno);
    mc_status status =
        fstat(*descriptor, info) != 0 ? io_error(diag, path, errno) : check_kind(path, info, diag);
    if (status == MC_OK && fcntl(*descriptor, F_SETFL, 0) != 0) status = io_error(diag, path, errno);
    if (status != MC_OK) close(*descriptor);
    return status;
}

mc_status file_read(const char *path, const file_limit *limit, char **bytes, size_t *size, mc_diag *diag) {
    int descriptor;
    struct stat info;
    reading r = {.path = path, .most = SIZE_MAX / 4, .diag = diag};
    *bytes = NULL;
    *size = 0;
    mc_status status = open_known(path, &descriptor, &info, diag);
    if (status != MC_OK) return status;
    if (!S_ISREG(info.st_mode)) r.most = (size_t)FILE_MOST_OF_PIPE << 20;
    if (limit != NULL) r.most = limit->megabytes << 20, r.what = limit->what;
    status = read_all(descriptor, &info, &r);
    close(descriptor);
    if (status != MC_OK) {
        free(r.bytes);
        return status;
    }
    *bytes = r.bytes;
    *size = r.size;
    return MC_OK;
}

mc_status file_read_text(const char *path, const file_limit *limit, char **text, mc_diag *diag) {
    size_t size;
    char *bytes;
    *text = NULL;
    mc_status status = file_read(path, limit, &bytes, &size, diag);
    if (status != MC_OK) return status;
    if (memchr(bytes, '\0', size) != NULL)
        status = mc_fail(diag, MC_FORMAT, "%s: %s is text, this holds a zero byte", path, limit->what);
    else if ((*text = strndup(bytes, size)) == NULL) status = mc_fail(diag, MC_NOMEM, "out of memory");
    free(bytes);
    return status;
}

mc_status file_open_parts(const char *path, file_parts *parts, mc_diag *diag) {
    struct stat info;
    *parts = (file_parts){.path = path, .descriptor = -1};
    mc_status status = open_known(path, &parts->descriptor, &info, diag);
    if (status != MC_OK) {
        parts->descriptor = -1;
        return status;
    }
    parts->size = (uint64_t)info.st_size;
    if (S_ISREG(info.st_mode)) return MC_OK;
    file_close_parts(parts);
    return mc_fail(diag, MC_IO, "%s: it is a pipe, of which no parts can be read", path);
}

mc_status file_read_part(const file_parts *parts, uint64_t from, size_t size, void *bytes, mc_diag *diag) {
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(parts->descriptor, (char *)bytes + done, size - done, (off_t)(from + done));
        if (got == 0) return mc_fail(diag, MC_IO, "%s: it ends too early", parts->path);
        if (got < 0 && errno != EINTR) return io_error(diag, parts->path, errno);
        if (got > 0) done += (size_t)got;
    }
    return MC_OK;
}

void file_close_parts(file_parts *parts) {
    if (parts->descriptor >= 0) close(parts->descriptor);
    parts->descriptor = -1;
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

bool file_is_same(const char *a, const char *b) {
    struct stat first, second;
    bool there = stat(a, &first) == 0 && stat(b, &second) == 0 && !S_ISCHR(first.st_mode);
    return there && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

bool file_is_in(const char *path, const char *folder) {
    struct stat info;
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    char *above = slash == NULL ? strdup(".") : strndup(path, length);
    bool in = above != NULL && stat(path, &info) == 0 && file_is_same(above, folder);
    free(above);
    return in;
}

/* A file that may not be written could still be replaced, and so could a link that leads nowhere. */
mc_status file_check_target(const char *path, mc_diag *diag) {
    struct stat found, link, *info = &found;
    bool exists = stat(path, info) == 0;
    if (!exists && lstat(path, &link) == 0 && S_ISLNK(link.st_mode))
        return mc_fail(diag, MC_IO, "%s: it is a link to nowhere", path);
    if (exists && S_ISREG(info->st_mode) && (info->st_mode & 0222) == 0)
        return mc_fail(diag, MC_IO, "%s: it is read-only", path);
    return MC_OK;
}

mc_status file_open(const char *path, file_output *output, mc_diag *diag) {
    *output = (file_output){0};
    struct stat info;
    bool exists = stat(path, &info) == 0;
    bool direct = exists && !S_ISREG(info.st_mode);
    mc_status status = file_check_target(path, diag);
    if (status != MC_OK) return status;
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
