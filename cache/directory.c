/* The directory and its 256 shards, one for each first byte of a key. All is done below open folders, so that
   what is checked is what is used, whatever becomes of the path. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "internal.h"

const char lock_name[] = "lock";
static const char entry_ending[] = ".entry";

/* -- Trust */

static bool ours(const struct stat *status) { return status->st_uid == geteuid() || status->st_uid == 0; }
static bool others_write(const struct stat *status) { return (status->st_mode & (S_IWGRP | S_IWOTH)) != 0; }

const char *trust_directory(const struct stat *status) {
    if (!S_ISDIR(status->st_mode)) return "not a directory";
    if (!ours(status)) return "owned by someone else";
    return others_write(status) ? "others may write into it" : NULL;
}

/* No name at all is fine: it was evicted or replaced since it was opened. */
const char *trust_file(const struct stat *status) {
    if (!S_ISREG(status->st_mode)) return "not a regular file";
    if (!ours(status)) return "owned by someone else";
    if (status->st_nlink > 1) return "it has more names than one";
    return others_write(status) ? "others may write to it" : NULL;
}

/* -- The directory */

/* What mkdir says of a folder that is there depends on the one above it. */
static bool is_there(int parent, const char *name) {
    struct stat status;
    int error = errno;
    bool there = error == EEXIST || fstatat(parent, name, &status, 0) == 0;
    errno = error;
    return there;
}

/* The umask can only take bits away: it must leave us ours. */
static bool make_folder(int parent, const char *name) {
    if (mkdirat(parent, name, S_IRWXU) == 0) return fchmodat(parent, name, S_IRWXU, 0) == 0;
    return is_there(parent, name);
}

/* PATH and what is missing above it. PATH is changed meanwhile. */
static bool make_path(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = make_folder(AT_FDCWD, path);
        *slash = '/';
        if (!made) return false;
    }
    return make_folder(AT_FDCWD, path);
}

char *mccache_absolute_path(const char *path) {
    char *full = NULL;
    char *here = *path == '/' ? NULL : getcwd(NULL, 0);
    if (here == NULL && (*path == '/' || errno != ENOMEM)) return strdup(path);
    if (here != NULL && asprintf(&full, "%s/%s", here, path) < 0) full = NULL;
    free(here);
    return full;
}

int open_below(int parent, const char *name, int flags, mode_t mode) {
    int fd;
    do fd = openat(parent, name, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static int open_folder(int parent, const char *name, int flags) {
    return open_below(parent, name, O_RDONLY | O_DIRECTORY | flags, 0);
}

/* The last part may be a link: ~/.cache/mcgen to a larger disk.
   What counts is whose the folder is at its end. */
bool directory_open(cache_directory *directory, const char *path, bool make, char *why, size_t size) {
    struct stat status;
    const char *fault = NULL;
    directory->fd = -1;
    directory->path = mccache_absolute_path(path);
    if (directory->path == NULL) return false;
    int fd = open_folder(AT_FDCWD, directory->path, 0);
    if (fd < 0 && errno == ENOENT && make && make_path(directory->path))
        fd = open_folder(AT_FDCWD, directory->path, 0);
    if (fd >= 0 && fstat(fd, &status) == 0) {
        fault = trust_directory(&status);
        if (fault == NULL) directory->fd = fd;
    }
    if (directory->fd >= 0) return true;
    snprintf(why, size, "%s", fault != NULL ? fault : ERRNO_TEXT);
    if (fd >= 0) close(fd);
    return false;
}

void directory_close(cache_directory *directory) {
    if (directory->fd >= 0) close(directory->fd);
    free(directory->path);
    *directory = (cache_directory){.fd = -1};
}

/* -- Shards */

void shard_name(unsigned char first_byte, char name[SHARD_NAME]) {
    snprintf(name, SHARD_NAME, "%02x", first_byte);
}

int shard_try(const cache_directory *directory, unsigned char first_byte, const char **fault) {
    char name[SHARD_NAME];
    struct stat status;
    shard_name(first_byte, name);
    *fault = NULL;
    int fd = open_folder(directory->fd, name, O_NOFOLLOW);
    if (fd < 0 && (errno == ENOTDIR || errno == ELOOP)) *fault = "not a directory";
    if (fd < 0) return -1;
    if (fstat(fd, &status) == 0) *fault = trust_directory(&status);
    if (*fault == NULL) return fd;
    close(fd);
    return -1;
}

int shard_open(mccache *cache, const cache_directory *directory, unsigned char first_byte, bool make) {
    char name[SHARD_NAME];
    const char *fault;
    shard_name(first_byte, name);
    int fd = shard_try(directory, first_byte, &fault);
    if (fd < 0 && fault == NULL && errno == ENOENT) {
        if (!make) return -1;
        if (make_folder(directory->fd, name)) fd = shard_try(directory, first_byte, &fault);
    }
    if (fd < 0)
        cache_fault(cache,
                    fault != NULL ? FAULT_SHARD
                    : make        ? FAULT_WRITE
                                  : FAULT_READ,
                    directory->path, name, "%s", fault != NULL ? fault : ERRNO_TEXT);
    return fd;
}

/* -- Names */

void entry_name(const mccache_key *key, char name[ENTRY_NAME]) {
    mccache_key_text(key, name);
    memcpy(name + MCCACHE_KEY_TEXT - 1, entry_ending, sizeof entry_ending);
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool entry_name_key(const char *name, unsigned char first_byte, mccache_key *key) {
    if (strlen(name) != ENTRY_NAME - 1 || strcmp(name + MCCACHE_KEY_TEXT - 1, entry_ending) != 0)
        return false;
    for (size_t i = 0; i < MCCACHE_KEY_BYTES; i++) {
        int high = hex_digit(name[2 * i]), low = hex_digit(name[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        key->bytes[i] = (unsigned char)(high << 4 | low);
    }
    return key->bytes[0] == first_byte;
}

void temporary_name(char name[TEMPORARY_NAME], uint64_t unique) {
    snprintf(name, TEMPORARY_NAME, "tmp.%d.%016llx", (int)getpid(), (unsigned long long)unique);
}

static bool is_temporary(const char *name) {
    static const char decimal[] = "0123456789", hexadecimal[] = "0123456789abcdef";
    if (strncmp(name, "tmp.", 4) != 0 || strlen(name) >= TEMPORARY_NAME) return false;
    const char *dot = name + 4 + strspn(name + 4, decimal);
    return *dot == '.' && strlen(dot + 1) == 16 && strspn(dot + 1, hexadecimal) == 16;
}

file_kind file_kind_of(const char *name, unsigned char first_byte) {
    mccache_key key;
    if (entry_name_key(name, first_byte, &key)) return FILE_ENTRY;
    if (is_temporary(name)) return FILE_TEMPORARY;
    return strcmp(name, lock_name) == 0 ? FILE_LOCK : FILE_NOT_OURS;
}
