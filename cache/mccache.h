/* libmccache: what was expensive to make, kept on disk under a strong hash of
 * everything that it was made from.
 *
 * A cache never changes a result. Whatever is wrong with a file, the directory or the disk (missing, cut off,
 * damaged, someone else's, full, read-only) is a miss, told once through the log. Nothing is read from a file
 * that another user could have written. Any number of processes and threads may use one directory; one that
 * is killed leaves nothing that the others wait for.
 * docs/cache.md has the layout of directory and entry. */
#ifndef MCCACHE_H
#define MCCACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MCCACHE_API __attribute__((visibility("default")))

/* -- Keys --------------------------------------------------------------------------------------------- */

enum { MCCACHE_KEY_BYTES = 32, MCCACHE_KEY_TEXT = 2 * MCCACHE_KEY_BYTES + 1 };

typedef struct mccache_key {
    unsigned char bytes[MCCACHE_KEY_BYTES];
} mccache_key;

/* A field of a key: what it is and its bytes. Names and lengths are hashed too, so that no two lists of
   fields look alike. */
typedef struct mccache_field {
    const char *name;
    const void *data;
    size_t size;
} mccache_field;

/* BLAKE2b of the fields, in this order. Never put paths, times or ordinals into them. */
MCCACHE_API mccache_key mccache_key_of(const mccache_field *fields, size_t count);
/* A field that is a string, without its NUL. */
MCCACHE_API mccache_field mccache_text(const char *name, const char *text);
MCCACHE_API void mccache_key_text(const mccache_key *key, char text[MCCACHE_KEY_TEXT]);

/* -- Opening ------------------------------------------------------------------------------------------ */

typedef struct mccache mccache;

typedef enum mccache_mode { MCCACHE_READ_WRITE, MCCACHE_READ_ONLY, MCCACHE_MEMORY, MCCACHE_OFF } mccache_mode;

enum { MCCACHE_MAX_SYSTEM = 8 };

typedef struct mccache_config {
    size_t size; /* sizeof(mccache_config) */
    mccache_mode mode;
    const char *directory; /* READ_WRITE makes it if it is not there (0700); NULL: none, as OFF */
    /* Directories to read from, after our own and also with MEMORY; they end with NULL,
       or there are as many as fit. */
    const char *system[MCCACHE_MAX_SYSTEM];
    uint64_t max_bytes, max_files; /* of directory, or of memory; 0: 512 MiB, 10,000 */
    /* A line without newline, once for each kind of fault and cache.
       May be called from several threads. NULL: none. */
    void (*log)(void *user, const char *message);
    void *log_user;
    uint64_t (*clock)(void *user); /* seconds since 1970; NULL: the system's. For tests */
    void *clock_user;
} mccache_config;

enum { MCCACHE_MAX_PATH = 4096 };

typedef struct mccache_paths {
    char directory[MCCACHE_MAX_PATH], system[MCCACHE_MAX_PATH];
} mccache_paths;

/* What the environment says: MCGEN_CACHE=rw|ro|mem|off, MCGEN_CACHE_DIR, MCGEN_CACHE_MAX (bytes, or with K,
   M, G behind), MCGEN_CACHE_SYSTEM (directories, ':' between), else $XDG_CACHE_HOME/mcgen, else
   $HOME/.cache/mcgen (both only if they are absolute), else no directory; never /tmp. Paths go into PATHS.
   False, and WHY (may be NULL) points to a static string, where a variable makes no sense; CONFIG is then
   what it would be without that variable. CONFIG's size is set by the caller; all else is overwritten. A
   variable that is empty is not set; a set-user-ID program has none. */
MCCACHE_API bool mccache_environment(mccache_config *config, mccache_paths *paths, const char **why);

/* NULL: out of memory, and nothing else. A directory that cannot be used is a cache that always misses;
   mccache_usable says so. */
MCCACHE_API mccache *mccache_open(const mccache_config *config);
MCCACHE_API void mccache_close(mccache *cache); /* NULL is fine */
/* That READ_WRITE can write into its directory, READ_ONLY read it; MEMORY always, OFF never. WHY (may be
   NULL): a string of CACHE's that says what is wrong, or "". */
MCCACHE_API bool mccache_usable(mccache *cache, const char **why);
/* Absolute, usable or not; NULL: there is none (also with MEMORY and OFF). */
MCCACHE_API const char *mccache_directory(const mccache *cache);
/* PATH from the root on, malloc'ed: the same file also after a chdir. NULL: no memory. As it is where the
   current directory has no path (it was removed), and PATH leads nowhere. */
MCCACHE_API char *mccache_absolute_path(const char *path);

/* -- Entries ------------------------------------------------------------------------------------------ */

/* What an entry holds; owned by the caller once it was got. A NUL that SIZE does not count lies behind DATA,
   which is never NULL then. LABEL: a line for people, what `mcrun cache list` shows. */
typedef struct mccache_blob {
    void *data;
    size_t size;
    char *label;
} mccache_blob;

enum { MCCACHE_MAX_LABEL = 1024 };

MCCACHE_API void mccache_blob_free(mccache_blob *blob); /* and zeroes it */

/* True: BLOB is what was put under KEY, to the byte, and the entry counts as used now.
   False: BLOB is all zero. */
MCCACHE_API bool mccache_get(mccache *cache, const mccache_key *key, mccache_blob *blob);
/* Stores a copy, and evicts what was used longest ago where there is too much. Nothing is told of success: go
   on with what you have. Of LABEL (may be NULL) what is longer than MCCACHE_MAX_LABEL - 1 bytes is cut off.
   More than 256 MiB, or than the whole cache may have, are not stored. */
MCCACHE_API void mccache_put(mccache *cache, const mccache_key *key, const char *label, const void *data,
                             size_t size);
/* Removes the entry, if there is one: for those who find its content wrong. */
MCCACHE_API void mccache_drop(mccache *cache, const mccache_key *key);

/* So that of several processes or threads one makes an entry and the others wait for it: at most
   MILLISECONDS, then all go on. Look again after it. The lock is no more than advice; NULL where there is
   none to have (time over, no directory, no locks there). It dies with its process. */
typedef struct mccache_lock mccache_lock;
MCCACHE_API mccache_lock *mccache_lock_take(mccache *cache, const mccache_key *key, unsigned milliseconds);
MCCACHE_API void mccache_lock_release(mccache_lock *lock); /* NULL is fine */

/* -- Housekeeping ------------------------------------------------------------------------------------- */

typedef enum mccache_state {
    MCCACHE_GOOD,
    MCCACHE_DAMAGED,
    /* Not trusted: owner, mode, links, no regular file; also a whole shard, whose entries are then not told
       of */
    MCCACHE_FOREIGN,
    MCCACHE_STALE /* a temporary left behind, an entry of another version of this library */
} mccache_state;

typedef struct mccache_item {
    mccache_key key;
    char label[MCCACHE_MAX_LABEL];
    char file[128]; /* below the directory: "6f/6f10...entry" */
    uint64_t size;  /* of the file */
    uint64_t used;  /* seconds since 1970 */
    mccache_state state;
    const char *fault; /* what is wrong with it; NULL: it is good */
} mccache_item;

/* Calls VISIT for each entry of our directory and each temporary left behind, in the order of their names;
   false stops. CHECK: reads each one whole, else state is what its name, owner, mode and header tell. Returns
   false where the directory cannot be read, or not all of it. */
MCCACHE_API bool mccache_walk(mccache *cache, bool check, bool (*visit)(void *user, const mccache_item *item),
                              void *user);

typedef struct mccache_stats {
    size_t size;                  /* sizeof(mccache_stats), set by the caller */
    uint64_t files, bytes, stale; /* in the directory (or memory) now */
    uint64_t max_files, max_bytes;
    /* Of this cache since it was opened. REJECTED: entries that were there and not used; PUTS: those that
       were stored. */
    uint64_t hits, misses, puts, evicted, rejected;
} mccache_stats;

MCCACHE_API void mccache_get_stats(mccache *cache, mccache_stats *stats);
/* Evicts down to MAX_BYTES and MAX_FILES (UINT64_MAX: no limit; 0: everything), and, where neither is 0,
   removes stale temporaries, damaged and foreign entries. A link in the place of an entry or shard is
   removed, what it leads to is not. An empty directory in an entry's place is removed; any other directory
   there, and a file in a shard's place, is renamed to NAME.aside.0 (to 9). Locks and whatever else lies in
   the directory stay, and so do shards that others own or may write into. Returns how many went. */
MCCACHE_API uint64_t mccache_prune(mccache *cache, uint64_t max_bytes, uint64_t max_files);

#ifdef __cplusplus
}
#endif

#endif
