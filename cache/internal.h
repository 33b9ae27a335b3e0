/* Inside of libmccache, file by file in the order of a call:
 *
 *   environment.c  variables to a configuration        key.c     what an entry is found by
 *   open.c         opening, closing                    fault.c   the log, once for each kind
 *   store.c        get, put, drop: memory or disk      memory.c  entries of this process alone
 *   disk.c         files read and published            entry.c   their bytes
 *   directory.c    directories and files that we trust lock.c    one makes it, the others wait
 *   scan.c         the files of a directory            evict.c   limits
 *   walk.c         mccache_walk, statistics, pruning */
#ifndef MCCACHE_INTERNAL_H
#define MCCACHE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>
#include "mccache.h"

/* -- Entries: the bytes of a file (entry.c) */

enum { ENTRY_SCHEMA = 1, ENTRY_HEADER_BYTES = 56, ENTRY_CHECKSUM_BYTES = 16 };
/* No file larger than this is written or read: a bound of what a get allocates, whatever lies there. */
#define ENTRY_MOST_BYTES ((uint64_t)1 << 28)

typedef struct entry_header {
    mccache_key key;
    size_t label_size, data_size;
} entry_header;

/* Both return NULL, or what is wrong. FILE_SIZE is what the file system says; the header's sizes are believed
   if they add up to it. */
const char *entry_read_header(const unsigned char bytes[ENTRY_HEADER_BYTES], uint64_t file_size,
                              const mccache_key *key, entry_header *header);
const char *entry_check(const unsigned char *bytes, size_t size, const mccache_key *key,
                        entry_header *header);
extern const char entry_other_schema[]; /* what they return for an entry of another version of this library */

/* The whole file; the caller frees it. NULL: too large, or no memory. */
unsigned char *entry_build(const mccache_key *key, const char *label, const void *data, size_t data_size,
                           size_t *size);
/* The size of LABEL as it is kept: at most MCCACHE_MAX_LABEL - 1 bytes, of whole characters. */
size_t entry_label_size(const char *label);

/* -- Faults: each kind is told once (fault.c) */

/* X(name, what it means for the caller) */
#define FAULT_LIST(X)                                                                                        \
    X(DIRECTORY, "the cache is not used")                                                                    \
    X(SYSTEM, "this system directory is not used")                                                           \
    X(SHARD, "entries below it are not used")                                                                \
    X(FOREIGN, "the entry is not used")                                                                      \
    X(DAMAGED, "the entry is not used")                                                                      \
    X(READ, "the entry is not used")                                                                         \
    X(WRITE, "nothing is kept")                                                                              \
    X(SIZE, "the entry is not kept")                                                                         \
    X(DROP, "a wrong entry stays")                                                                           \
    X(LOCK, "several may make the same entry")                                                               \
    X(SCAN, "old entries are not removed")                                                                   \
    X(MEMORY, "the entry is not kept")

typedef enum cache_fault_kind {
#define X(name, meaning) FAULT_##name,
    FAULT_LIST(X)
#undef X
        FAULT_COUNT
} cache_fault_kind;

typedef struct cache_directory {
    char *path; /* absolute */
    int fd;     /* -1: not usable */
} cache_directory;

/* Says "cache: DIRECTORY/NAME: what FORMAT says: what that means",
   if it is the first of its kind. NAME may be NULL. */
void cache_fault(mccache *cache, cache_fault_kind kind, const char *directory, const char *name,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));
/* The same of the entry KEY, and FAULT, or what errno says where that is NULL. */
void entry_fault(mccache *cache, cache_fault_kind kind, const cache_directory *directory,
                 const mccache_key *key, const char *fault);
/* strerror that threads may call. */
typedef struct error_text {
    char buffer[128];
    const char *text;
} error_text;
#define ERRNO_TEXT (cache_errno_text(&(error_text){.text = NULL}))
const char *cache_errno_text(error_text *text);

/* -- Directories and files that we trust (directory.c) */

/* Why a directory or regular file must not be used, NULL: owned by us or root, written by nobody else, one
   name at most. */
const char *trust_directory(const struct stat *status);
const char *trust_file(const struct stat *status);

/* openat with O_CLOEXEC, again where one of the application's signals interrupted it: file systems over a
   network or by a process of a user's let that happen. */
int open_below(int parent, const char *name, int flags, mode_t mode);

/* Opens PATH, with its parents made where MAKE. False, and WHY (of SIZE bytes) says why. path is NULL only
   without memory. */
bool directory_open(cache_directory *directory, const char *path, bool make, char *why, size_t size);
void directory_close(cache_directory *directory);

/* Sizes of names with their NUL. */
enum {
    SHARD_COUNT = 256,
    SHARD_NAME = 3,
    ENTRY_NAME = MCCACHE_KEY_TEXT + sizeof ".entry" - 1,
    TEMPORARY_NAME = 40
};
extern const char lock_name[];

void shard_name(unsigned char first_byte, char name[SHARD_NAME]);
/* The folder of the keys that begin with FIRST_BYTE,
   or -1: not there (nothing is logged) or not to be used. */
int shard_open(mccache *cache, const cache_directory *directory, unsigned char first_byte, bool make);
/* The same without log and making: where it is -1, *FAULT says why it must not be used,
   or is NULL and errno counts. */
int shard_try(const cache_directory *directory, unsigned char first_byte, const char **fault);

void entry_name(const mccache_key *key, char name[ENTRY_NAME]);
/* The other way: false if that is not an entry's name in that shard. */
bool entry_name_key(const char *name, unsigned char first_byte, mccache_key *key);

void temporary_name(char name[TEMPORARY_NAME], uint64_t unique);

typedef enum file_kind { FILE_ENTRY, FILE_TEMPORARY, FILE_LOCK, FILE_NOT_OURS } file_kind;
file_kind file_kind_of(const char *name, unsigned char first_byte);

/* -- Files (disk.c) */

/* A time of use is renewed once it is this old: a hit writes an inode a minute at most. */
enum { TOUCH_SECONDS = 60 };
/* A temporary so old was left by a process that died. A time further in the future than this was set before
   the clock was put back. */
enum { STALE_SECONDS = 3600 };

typedef enum disk_result { DISK_FOUND, DISK_ABSENT, DISK_REJECTED } disk_result;

disk_result disk_get(mccache *cache, const cache_directory *directory, const mccache_key *key,
                     mccache_blob *blob);
/* False: not stored. SIZE: of the file. */
bool disk_put(mccache *cache, const mccache_key *key, const char *label, const void *data, size_t data_size,
              size_t *size);
void disk_drop(mccache *cache, const mccache_key *key);

/* A file opened to read: -1, and *FAULT says why it is not to be trusted, or is NULL and errno counts. */
int disk_open_file(int shard, const char *name, struct stat *status, const char **fault);
/* The whole file, checked; the caller frees it, and it has room for one more byte. NULL: *FAULT and errno as
   of disk_open_file. */
unsigned char *disk_read_entry(int fd, const struct stat *status, const mccache_key *key,
                               entry_header *header, const char **fault);
/* All SIZE bytes: false, and errno is 0 where the file ends before. */
bool disk_read_file(int fd, void *bytes, size_t size);

/* -- The files of a directory (scan.c) */

/* ITEMS, malloc'ed, of SIZE bytes each, with room for one more than COUNT; *ROOM is for how many there is
   room. NULL: no memory, and ITEMS is as before. */
void *list_room(void *items, size_t count, size_t *room, size_t size);

typedef struct scan_file {
    unsigned char first_byte;
    int shard; /* open folder; -1: it must not be used, FAULT says why, and nothing below counts */
    const char *fault;
    const char *name;
    file_kind kind;  /* ENTRY or TEMPORARY */
    mccache_key key; /* of an ENTRY */
    struct stat status;
    bool stale; /* a TEMPORARY that nobody writes to any more */
} scan_file;

/* Visits our directory's entries and temporaries in the order of their names, and shards not to be used;
   false from VISIT stops. Returns false where something could not be read. */
bool scan_directory(mccache *cache, bool (*visit)(void *user, const scan_file *file), void *user);

/* -- Limits (evict.c) */

typedef struct cache_size {
    uint64_t bytes, files;
} cache_size;

static inline bool size_exceeds(cache_size size, cache_size most) {
    return size.bytes > most.bytes || size.files > most.files;
}

/* After a put of BYTES: looks at the directory now and then, and evicts where there is too much. */
void evict_after_put(mccache *cache, uint64_t bytes);
/* Removes stale temporaries, and where there is more than MOST, the entries used longest ago down to TARGET.
   *GONE (may be NULL): how many files went. Returns what is left. */
cache_size evict(mccache *cache, cache_size most, cache_size target, uint64_t *gone);

/* -- Entries of this process alone (memory.c) */

typedef struct memory_entry memory_entry;

typedef struct memory_store {
    memory_entry *shards[SHARD_COUNT];
    memory_entry *newest, *oldest;
    cache_size size;
} memory_store;

bool memory_get(mccache *cache, const mccache_key *key, mccache_blob *blob);
bool memory_put(mccache *cache, const mccache_key *key, const char *label, const void *data, size_t size);
void memory_drop(mccache *cache, const mccache_key *key);
/* Returns how many entries went. */
uint64_t memory_prune(mccache *cache, uint64_t max_bytes, uint64_t max_files);

/* -- The cache */

struct mccache {
    mccache_config config; /* strings are not kept */
    cache_directory own, system[MCCACHE_MAX_SYSTEM];
    size_t system_count;
    bool writable;
    char why[256];    /* "" where it is usable */
    atomic_uint told; /* bits of cache_fault_kind */
    atomic_uint_fast64_t hits, misses, puts, evicted, rejected, temporaries;
    pthread_mutex_t lock; /* of all below */
    memory_store memory;
    cache_size estimate; /* of the directory: the last scan and our own puts since */
    unsigned puts_left;  /* until the next scan */
    bool scanning;
};

struct timespec cache_now(const mccache *cache);
/* Seconds from THEN to NOW; negative where THEN lies in the future. Saturates. */
int64_t seconds_since(struct timespec then, struct timespec now);

#endif
