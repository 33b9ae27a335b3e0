/* Files of records: lines that several programs add to at once. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "text/file.h"
#include "records/parts.h"

enum { MOST_BYTES = 1 << 28, LOCK_TRIES = 200, LOCK_WAIT_NS = 10000000 };

static mc_status io_error(const char *path, int error, mc_diag *diag) {
    return mc_fail(diag, MC_IO, "%s: %s", path, strerror(error));
}

/* -- Reading */

/* Where the link at PATH leads, from where PATH is seen; the caller frees. NULL: errno, which is EPERM where
   the link is another user's. What is looked at is what was opened. */
static char *follow_own(const char *path) {
    char target[PATH_MAX], *whole = NULL;
    struct stat info;
    const char *slash = strrchr(path, '/');
    int folder = slash != NULL ? (int)(slash + 1 - path) : 0;
    int link = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (link < 0) return NULL;
    ssize_t size = fstat(link, &info) == 0 ? readlinkat(link, "", target, sizeof target) : -1;
    bool ours = size >= 0 && (info.st_uid == geteuid() || info.st_uid == 0);
    int error = size < 0 ? errno : (size_t)size == sizeof target ? ENAMETOOLONG : ours ? 0 : EPERM;
    close(link);
    if (error == 0 &&
        asprintf(&whole, "%.*s%.*s", target[0] != '/' ? folder : 0, path, (int)size, target) < 0)
        whole = NULL, error = ENOMEM;
    errno = error;
    return whole;
}

/* open, but at its end PATH is no link that another user made: in a folder that all may write into it could
   lead to any file of ours. */
static int open_own(const char *path, int flags) {
    enum { MOST_LINKS = 40 };
    char *at = strdup(path);
    for (int links = 0; at != NULL; links++) {
        int descriptor = open(at, flags | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0600), error = errno;
        bool is_link = descriptor < 0 && error == ELOOP && links < MOST_LINKS;
        char *next = is_link ? follow_own(at) : NULL;
        if (is_link) error = errno;
        free(at);
        at = next;
        errno = error;
        if (at == NULL) return descriptor;
    }
    return -1;
}

/* Whatever else lies there (a pipe, a directory) is not read: nobody waits for it. */
static mc_status open_regular(const char *path, int flags, int *descriptor, mc_diag *diag) {
    struct stat info;
    *descriptor = open_own(path, flags);
    if (*descriptor < 0 && errno == EPERM && lstat(path, &info) == 0 && S_ISLNK(info.st_mode))
        return mc_fail(diag, MC_IO, "%s: a link that another user made is not followed", path);
    if (*descriptor < 0) return io_error(path, errno, diag);
    bool regular = fstat(*descriptor, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= MOST_BYTES;
    if (regular) return MC_OK;
    close(*descriptor);
    return mc_fail(diag, MC_IO, "%s: no regular file of at most %d MiB", path, MOST_BYTES >> 20);
}

static mc_status read_all(int descriptor, const char *path, char **bytes, size_t *size, mc_diag *diag) {
    struct stat info;
    if (fstat(descriptor, &info) != 0) return io_error(path, errno, diag);
    size_t room = (size_t)info.st_size;
    *size = 0;
    *bytes = malloc(room + 1);
    if (*bytes == NULL) return mc_fail(diag, MC_NOMEM, "%s: no memory for its %zu bytes", path, room);
    while (*size < room) {
        ssize_t got = pread(descriptor, *bytes + *size, room - *size, (off_t)*size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            free(*bytes);
            return io_error(path, errno, diag);
        }
        if (got == 0) break;
        *size += (size_t)got;
    }
    return MC_OK;
}

static void tell(const record_store_config *config, const char *name, size_t line, const mc_diag *why) {
    char message[512];
    if (config->log == NULL) return;
    snprintf(message, sizeof message, "%s:%zu: passed over: %s", name, line,
             why != NULL ? mc_diag_text(why) : "not a record");
    config->log(config->log_user, message);
}

/* MC_FORMAT is the line's fault alone. */
static mc_status take_line(const char *name, size_t number, const char *line, size_t size,
                           const record_store_config *config, record_taker *take, void *user, mc_diag *diag) {
    record r;
    mc_diag *why = mc_diag_create();
    mc_status status = record_parse(line, size, &r, why);
    if (status == MC_OK) status = take(user, &r, line, size, diag);
    else if (status == MC_FORMAT) tell(config, name, number, why), status = MC_OK;
    else status = mc_fail(diag, status, "%s:%zu: out of memory", name, number);
    mc_diag_destroy(why);
    return status;
}

static bool holds(const char *line, size_t size, const char *text) {
    return text == NULL || memmem(line, size, text, strlen(text)) != NULL;
}

mc_status record_lines_read(const record_lines *lines, const record_store_config *config, record_taker *take,
                            void *user, mc_diag *diag) {
    mc_status status = MC_OK;
    size_t number = 1;
    for (const char *at = lines->text, *end = at + lines->size; at < end && status == MC_OK; number++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((newline != NULL ? newline : end) - at), used = length;
        while (used > 0 && strchr(" \t\r", at[used - 1]) != NULL && at[used - 1] != '\0') used--;
        if (used > 0 && holds(at, used, lines->holding))
            status = take_line(lines->name, number, at, used, config, take, user, diag);
        at += length + 1;
    }
    return status;
}

mc_status record_file_read(const char *path, const record_store_config *config, record_taker *take,
                           void *user, bool *missing, mc_diag *diag) {
    int descriptor;
    char *text = NULL;
    size_t size = 0;
    errno = 0;
    mc_status status = open_regular(path, O_RDONLY, &descriptor, diag);
    if (missing != NULL) *missing = status != MC_OK && (errno == ENOENT || errno == ENOTDIR);
    if (status != MC_OK) return status;
    status = read_all(descriptor, path, &text, &size, diag);
    close(descriptor);
    if (status != MC_OK) return status;
    const record_lines lines = {.name = path, .text = text, .size = size};
    status = record_lines_read(&lines, config, take, user, diag);
    free(text);
    return status;
}

/* -- Adding */

/* What mkdir says of a folder that is there depends on the one above it. */
static bool make_directory(const char *folder, int *error) {
    struct stat info;
    if (mkdir(folder, 0700) == 0) return true;
    *error = errno;
    return stat(folder, &info) == 0;
}

static mc_status make_directories(const char *path, mc_diag *diag) {
    char folder[PATH_MAX];
    int error;
    if (snprintf(folder, sizeof folder, "%s", path) >= (int)sizeof folder)
        return io_error(path, ENAMETOOLONG, diag);
    for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (!make_directory(folder, &error)) return io_error(folder, error, diag);
        *slash = '/';
    }
    return MC_OK;
}

/* Not for ever: what a lock prevents is the loss of a line, and only while somebody extends the file or takes
   back a part of a line. */
static void lock(int descriptor) {
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
        nanosleep(&(struct timespec){.tv_nsec = LOCK_WAIT_NS}, NULL);
    }
}

/* close alone would keep the lock for as long as a child that was forked meanwhile has the file open. */
static int close_locked(int descriptor) {
    flock(descriptor, LOCK_UN);
    return close(descriptor);
}

static bool is_still_at(const char *path, int descriptor) {
    struct stat here, there;
    return fstat(descriptor, &here) == 0 && stat(path, &there) == 0 && here.st_dev == there.st_dev &&
           here.st_ino == there.st_ino;
}

/* The file, locked: who extends it puts another one in its place. */
static mc_status open_locked(const char *path, int *descriptor, mc_diag *diag) {
    enum { TRIES = 100 };
    mc_status status = make_directories(path, diag);
    for (int i = 0; i < TRIES && status == MC_OK; i++) {
        status = open_regular(path, O_RDWR | O_APPEND | O_CREAT, descriptor, diag);
        if (status != MC_OK) return status;
        lock(*descriptor);
        if (is_still_at(path, *descriptor)) return MC_OK;
        close_locked(*descriptor);
    }
    return status != MC_OK ? status : mc_fail(diag, MC_IO, "%s: another file each time it is opened", path);
}

/* A file that this has made goes again, while it is locked and empty: who waits for the lock makes
   another. */
mc_status record_file_check(const char *path, mc_diag *diag) {
    int descriptor;
    struct stat info;
    bool was_there = stat(path, &info) == 0;
    mc_status status = open_locked(path, &descriptor, diag);
    if (status != MC_OK) return status;
    if (!was_there && fstat(descriptor, &info) == 0 && info.st_size == 0) (void)unlink(path);
    close_locked(descriptor);
    return MC_OK;
}

/* A line that a crash cut off is left to itself. */
static bool ends_in_line(int descriptor) {
    struct stat info;
    char last = '\n';
    if (fstat(descriptor, &info) != 0 || info.st_size == 0) return false;
    return pread(descriptor, &last, 1, info.st_size - 1) == 1 && last != '\n';
}

/* A write beyond RLIMIT_FSIZE raises SIGXFSZ, which ends a process that does not expect it. */
static bool within_file_limit(int descriptor, size_t size) {
    struct rlimit limit;
    struct stat info;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           (fstat(descriptor, &info) == 0 && (uint64_t)info.st_size + size <= limit.rlim_cur);
}

/* The part of a line that a full disk had room for goes again, unless others have written behind it. Where it
   cannot, or a kill comes before, it stays as after a crash. */
static void take_back(int descriptor, size_t written) {
    struct stat info;
    off_t end = lseek(descriptor, 0, SEEK_CUR); /* of what was written */
    bool last =
        flock(descriptor, LOCK_EX | LOCK_NB) == 0 && fstat(descriptor, &info) == 0 && info.st_size == end;
    if (last) (void)!ftruncate(descriptor, end - (off_t)written);
}

static mc_status write_once(int descriptor, const char *path, const char *bytes, size_t size, mc_diag *diag) {
    ssize_t written;
    if (!within_file_limit(descriptor, size)) return io_error(path, EFBIG, diag);
    do written = write(descriptor, bytes, size);
    while (written < 0 && errno == EINTR);
    if (written < 0) return io_error(path, errno, diag);
    if ((size_t)written == size) return MC_OK;
    take_back(descriptor, (size_t)written);
    return io_error(path, ENOSPC, diag);
}

mc_status record_file_append(const char *path, const char *lines, size_t size, mc_diag *diag) {
    int descriptor;
    char *bytes = malloc(size + 1);
    if (bytes == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    bytes[0] = '\n';
    memcpy(bytes + 1, lines, size);
    mc_status status = open_locked(path, &descriptor, diag);
    if (status == MC_OK) {
        bool torn = ends_in_line(descriptor);
        status = write_once(descriptor, path, bytes + !torn, size + torn, diag);
        if (close_locked(descriptor) != 0 && status == MC_OK) status = io_error(path, errno, diag);
    }
    free(bytes);
    return status;
}

/* What is there stays to the byte, also lines that this version cannot read. */
static mc_status write_anew(int old, const char *path, const char *lines, size_t size, mc_diag *diag) {
    char *bytes;
    size_t there;
    file_output output;
    mc_status status = read_all(old, path, &bytes, &there, diag);
    if (status != MC_OK) return status;
    status = file_open(path, &output, diag);
    if (status == MC_OK) {
        file_write(&output, bytes, there);
        if (there != 0 && bytes[there - 1] != '\n') file_write(&output, "\n", 1);
        file_write(&output, lines, size);
        if (fflush(output.stream) == 0) fsync(fileno(output.stream));
        status = file_commit(&output, diag);
    }
    free(bytes);
    return status;
}

mc_status record_file_extend(const char *path, const char *lines, size_t size, mc_diag *diag) {
    int descriptor;
    mc_status status = open_locked(path, &descriptor, diag);
    if (status != MC_OK) return status;
    status = write_anew(descriptor, path, lines, size, diag);
    close_locked(descriptor);
    return status;
}
