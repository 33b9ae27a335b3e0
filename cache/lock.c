/* So that one makes an entry and the others wait. flock: the kernel lets go of it when its holder dies, so
   that there is never a lock to clean up. Files on which it is held are never removed: a lock on a removed
   file would keep nobody out. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>
#include "internal.h"

struct mccache_lock {
    int fd;
};

static int64_t milliseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A wait in the kernel could only be bounded by a signal, which is the application's. */
static bool poll_lock(int fd, unsigned milliseconds) {
    enum { LONGEST_PAUSE = 32 };
    int64_t end = milliseconds_now() + milliseconds;
    for (int64_t pause = 1;; pause = pause < LONGEST_PAUSE ? 2 * pause : LONGEST_PAUSE) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
        if (errno != EWOULDBLOCK && errno != EINTR) return false;
        int64_t left = end - milliseconds_now();
        if (left <= 0) {
            errno = EWOULDBLOCK;
            return false;
        }
        struct timespec time = {.tv_nsec = (pause < left ? pause : left) * 1000000};
        nanosleep(&time, NULL);
    }
}

/* The umask may have taken our own bits from a file that we made. */
static int open_lock(int shard) {
    int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    struct stat status;
    int fd = open_below(shard, lock_name, flags, S_IRUSR | S_IWUSR);
    if (fd < 0) return -1;
    if (fstat(fd, &status) == 0) {
        if (trust_file(&status) != NULL) errno = EPERM;
        else if ((status.st_mode & S_IRWXU) == (S_IRUSR | S_IWUSR) || fchmod(fd, S_IRUSR | S_IWUSR) == 0)
            return fd;
    }
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

mccache_lock *mccache_lock_take(mccache *cache, const mccache_key *key, unsigned milliseconds) {
    if (!cache->writable) return NULL;
    mccache_lock *lock = malloc(sizeof *lock);
    int shard = lock != NULL ? shard_open(cache, &cache->own, key->bytes[0], true) : -1;
    if (shard < 0) {
        free(lock);
        return NULL;
    }
    lock->fd = open_lock(shard);
    if (lock->fd >= 0 && poll_lock(lock->fd, milliseconds)) {
        close(shard);
        return lock;
    }
    char name[SHARD_NAME];
    shard_name(key->bytes[0], name);
    if (lock->fd < 0 || errno != EWOULDBLOCK)
        cache_fault(cache, FAULT_LOCK, cache->own.path, name, "no lock: %s", ERRNO_TEXT);
    if (lock->fd >= 0) close(lock->fd);
    close(shard);
    free(lock);
    return NULL;
}

/* close alone would keep the lock for as long as a child that was forked meanwhile has the file open. */
void mccache_lock_release(mccache_lock *lock) {
    if (lock == NULL) return;
    flock(lock->fd, LOCK_UN);
    close(lock->fd);
    free(lock);
}
