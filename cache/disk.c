/* Entries as files. A file is written under a name of its own, brought to the disk, and then renamed to the
   entry's: whoever opens an entry finds all of it or an older one, also after a crash. It is not read again:
   the caller has the bytes. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "internal.h"

/* -- Reading */

/* O_NONBLOCK: opening a FIFO that someone put there must not wait for its writer. */
int disk_open_file(int shard, const char *name, struct stat *status, const char **fault) {
    int fd = open_below(shard, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    *fault = NULL;
    if (fd < 0) {
        if (errno == ELOOP || errno == ENXIO) *fault = "not a regular file"; /* a link, a socket */
        return -1;
    }
    bool known = fstat(fd, status) == 0;
    if (known) *fault = trust_file(status);
    if (known && *fault == NULL) return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

bool disk_read_file(int fd, void *bytes, size_t size) {
    unsigned char *at = bytes;
    while (size > 0) {
        ssize_t count = read(fd, at, size);
        if (count < 0 && errno == EINTR) continue;
        if (count == 0) errno = 0;
        if (count <= 0) return false;
        at += count;
        size -= (size_t)count;
    }
    return true;
}

unsigned char *disk_read_entry(int fd, const struct stat *status, const mccache_key *key,
                               entry_header *header, const char **fault) {
    size_t size = (size_t)status->st_size;
    bool too_large = status->st_size < 0 || (uint64_t)status->st_size > ENTRY_MOST_BYTES;
    *fault = too_large ? "too large for an entry" : NULL;
    if (too_large) return NULL;
    unsigned char *bytes = malloc(size + 1);
    if (bytes == NULL) return NULL;
    if (disk_read_file(fd, bytes, size)) {
        *fault = entry_check(bytes, size, key, header);
        if (*fault == NULL) return bytes;
    } else if (errno == 0) {
        *fault = "cut off while it was read";
    }
    int error = errno;
    free(bytes);
    errno = error;
    return NULL;
}

/* The data moves to the front of BYTES, which has room for one byte behind it. */
static bool take_blob(unsigned char *bytes, const entry_header *header, mccache_blob *blob) {
    char *label = strndup((const char *)bytes + ENTRY_HEADER_BYTES, header->label_size);
    if (label == NULL) {
        free(bytes);
        return false;
    }
    memmove(bytes, bytes + ENTRY_HEADER_BYTES + header->label_size, header->data_size);
    bytes[header->data_size] = '\0';
    *blob = (mccache_blob){.data = bytes, .size = header->data_size, .label = label};
    return true;
}

/* The time of use is the file's time of modification: no mount option changes what that means. A time ahead
   of the clock is put right, too. That it cannot be set (root's file) costs the entry its place in the order,
   no more. */
static void touch(const mccache *cache, int fd, const struct stat *status) {
    struct timespec now = cache_now(cache);
    int64_t age = seconds_since(status->st_mtim, now);
    if (age >= 0 && age < TOUCH_SECONDS) return;
    (void)!futimens(fd, (const struct timespec[]){{.tv_nsec = UTIME_OMIT}, now});
}

/* The entry's file, or -1, and *RESULT says what of it. */
static int open_entry(mccache *cache, const cache_directory *directory, const mccache_key *key,
                      struct stat *status, disk_result *result) {
    char name[ENTRY_NAME];
    const char *fault;
    *result = DISK_ABSENT;
    int shard = shard_open(cache, directory, key->bytes[0], false);
    if (shard < 0) return -1;
    entry_name(key, name);
    int fd = disk_open_file(shard, name, status, &fault);
    if (fd < 0 && (fault != NULL || errno != ENOENT)) {
        entry_fault(cache, fault != NULL ? FAULT_FOREIGN : FAULT_READ, directory, key, fault);
        *result = DISK_REJECTED;
    }
    close(shard);
    return fd;
}

disk_result disk_get(mccache *cache, const cache_directory *directory, const mccache_key *key,
                     mccache_blob *blob) {
    struct stat status;
    disk_result result;
    entry_header header;
    const char *fault;
    int fd = open_entry(cache, directory, key, &status, &result);
    if (fd < 0) return result;
    unsigned char *bytes = disk_read_entry(fd, &status, key, &header, &fault);
    bool found = bytes != NULL && take_blob(bytes, &header, blob);
    if (!found) entry_fault(cache, fault != NULL ? FAULT_DAMAGED : FAULT_READ, directory, key, fault);
    if (found && directory == &cache->own && cache->config.mode == MCCACHE_READ_WRITE)
        touch(cache, fd, &status);
    close(fd);
    return found ? DISK_FOUND : DISK_REJECTED;
}

/* -- Writing */

/* A write beyond RLIMIT_FSIZE raises SIGXFSZ, which ends a process that does not expect it. */
static bool within_file_limit(size_t size) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur)
        return true;
    errno = EFBIG;
    return false;
}

static bool write_all(int fd, const unsigned char *bytes, size_t size) {
    while (size > 0) {
        ssize_t count = write(fd, bytes, size);
        if (count < 0 && errno == EINTR) continue;
        if (count == 0) errno = ENOSPC;
        if (count <= 0) return false;
        bytes += count;
        size -= (size_t)count;
    }
    return true;
}

/* EINVAL: a file system that knows no such thing; the checksum tells what came of it. */
static bool bring_to_disk(int fd) {
    while (fdatasync(fd) != 0)
        if (errno != EINTR) return errno == EINVAL;
    return true;
}

/* Closed in any case. A network's file system may tell of a full disk only now;
   EINTR is no news about the file. */
static bool close_written(int fd, bool written) {
    int error = errno;
    if (close(fd) == 0 || errno == EINTR) {
        errno = error;
        return written;
    }
    if (!written) errno = error;
    return false;
}

/* A name that no other process has: by its number, the time and a count. On a network's file system there may
   be one all the same. */
static int temporary_open(mccache *cache, int shard, char name[TEMPORARY_NAME]) {
    enum { ATTEMPTS = 4 };
    int fd = -1;
    for (int i = 0; i < ATTEMPTS && fd < 0; i++) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        uint64_t unique = atomic_fetch_add(&cache->temporaries, 1) ^ (uintptr_t)cache;
        unique ^= (uint64_t)now.tv_sec << 34 ^ (uint64_t)now.tv_nsec << 4;
        temporary_name(name, unique);
        fd = open_below(shard, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, S_IRUSR | S_IWUSR);
        if (fd < 0 && errno != EEXIST) break;
    }
    return fd;
}

static bool temporary_write(const mccache *cache, int fd, const unsigned char *bytes, size_t size) {
    const struct timespec now = cache_now(cache);
    return fchmod(fd, S_IRUSR | S_IWUSR) == 0 && write_all(fd, bytes, size) &&
           futimens(fd, (const struct timespec[]){now, now}) == 0 && bring_to_disk(fd);
}

static bool publish(mccache *cache, int shard, const char *name, const unsigned char *bytes, size_t size) {
    char temporary[TEMPORARY_NAME];
    if (!within_file_limit(size)) return false;
    int fd = temporary_open(cache, shard, temporary);
    if (fd < 0) return false;
    bool written = temporary_write(cache, fd, bytes, size);
    written = close_written(fd, written);
    if (written && renameat(shard, temporary, shard, name) == 0) return true;
    int error = errno;
    unlinkat(shard, temporary, 0);
    errno = error;
    return false;
}

bool disk_put(mccache *cache, const mccache_key *key, const char *label, const void *data, size_t data_size,
              size_t *size) {
    char name[ENTRY_NAME];
    unsigned char *bytes = entry_build(key, label, data, data_size, size);
    if (bytes == NULL) {
        entry_fault(cache, FAULT_MEMORY, &cache->own, key, "no memory for it");
        return false;
    }
    entry_name(key, name);
    int shard = shard_open(cache, &cache->own, key->bytes[0], true);
    bool put = shard >= 0 && publish(cache, shard, name, bytes, *size);
    if (shard >= 0 && !put) entry_fault(cache, FAULT_WRITE, &cache->own, key, NULL);
    if (shard >= 0) close(shard);
    free(bytes);
    return put;
}

void disk_drop(mccache *cache, const mccache_key *key) {
    char name[ENTRY_NAME];
    int shard = shard_open(cache, &cache->own, key->bytes[0], false);
    if (shard < 0) return;
    entry_name(key, name);
    if (unlinkat(shard, name, 0) != 0 && errno != ENOENT)
        entry_fault(cache, FAULT_DROP, &cache->own, key, NULL);
    close(shard);
}
