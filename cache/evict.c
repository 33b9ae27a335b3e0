/* Limits. Entries go in the order of their last use; a file is only ever unlinked, so that who has it open
   reads it to its end. Any number of processes may do this at once: they find the same files oldest, and one
   that is gone already counts as gone. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "internal.h"

/* Puts between two looks at the directory: others put as well, and it takes tens of milliseconds to look at
   10,000 files. */
enum { PUTS_BETWEEN_SCANS = 64 };

typedef struct candidate {
    mccache_key key;
    uint64_t size;
    struct timespec used;
    bool ahead; /* used before the clock was put back: longer ago than all that has a time of the past */
} candidate;

typedef struct candidates {
    candidate *items;
    size_t count, room;
    cache_size size;
    struct timespec now;
    uint64_t swept;
    bool complete;
} candidates;

static bool add_candidate(candidates *all, const scan_file *file) {
    candidate *items = list_room(all->items, all->count, &all->room, sizeof *items);
    if (items == NULL) return false;
    all->items = items;
    bool ahead = seconds_since(file->status.st_mtim, all->now) < -STALE_SECONDS;
    uint64_t size = (uint64_t)file->status.st_size;
    all->items[all->count++] = (candidate){file->key, size, file->status.st_mtim, ahead};
    all->size.files++;
    all->size.bytes += size;
    return true;
}

/* What has the name of an entry counts and can go, whoever put it there; a folder of that name cannot. */
static bool take_file(void *user, const scan_file *file) {
    candidates *all = user;
    if (file->shard < 0 || S_ISDIR(file->status.st_mode)) return true;
    if (file->kind == FILE_ENTRY) all->complete &= add_candidate(all, file);
    else if (file->stale && unlinkat(file->shard, file->name, 0) == 0) all->swept++;
    return all->complete;
}

static int compare_use(const void *left, const void *right) {
    const candidate *a = left, *b = right;
    if (a->ahead != b->ahead) return a->ahead ? -1 : 1;
    if (a->used.tv_sec != b->used.tv_sec) return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
    if (a->used.tv_nsec != b->used.tv_nsec) return a->used.tv_nsec < b->used.tv_nsec ? -1 : 1;
    return memcmp(a->key.bytes, b->key.bytes, MCCACHE_KEY_BYTES);
}

typedef enum removal { REMOVED, GONE_ALREADY, STILL_THERE } removal;

/* It stays if it was used or replaced since it was looked at. */
static removal remove_from(mccache *cache, int shard, const candidate *entry) {
    char name[ENTRY_NAME];
    struct stat status;
    entry_name(&entry->key, name);
    if (fstatat(shard, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? GONE_ALREADY : STILL_THERE;
    if (status.st_mtim.tv_sec != entry->used.tv_sec || status.st_mtim.tv_nsec != entry->used.tv_nsec)
        return STILL_THERE;
    if (unlinkat(shard, name, 0) == 0) return REMOVED;
    if (errno == ENOENT) return GONE_ALREADY;
    entry_fault(cache, FAULT_SCAN, &cache->own, &entry->key, NULL);
    return STILL_THERE;
}

static removal remove_entry(mccache *cache, const candidate *entry) {
    const char *fault;
    int shard = shard_try(&cache->own, entry->key.bytes[0], &fault);
    if (shard < 0) return STILL_THERE;
    removal result = remove_from(cache, shard, entry);
    close(shard);
    return result;
}

static uint64_t remove_oldest(mccache *cache, candidates *all, cache_size target) {
    uint64_t removed = 0;
    if (all->count > 0) qsort(all->items, all->count, sizeof *all->items, compare_use);
    for (size_t i = 0; i < all->count && size_exceeds(all->size, target); i++) {
        removal result = remove_entry(cache, &all->items[i]);
        removed += result == REMOVED;
        if (result == STILL_THERE) continue;
        all->size.files--;
        all->size.bytes -= all->items[i].size;
    }
    return removed;
}

cache_size evict(mccache *cache, cache_size most, cache_size target, uint64_t *gone) {
    candidates all = {.now = cache_now(cache), .complete = true};
    bool scanned = scan_directory(cache, take_file, &all) && all.complete;
    if (!scanned) cache_fault(cache, FAULT_SCAN, cache->own.path, NULL, "not all of it can be read");
    uint64_t removed = size_exceeds(all.size, most) ? remove_oldest(cache, &all, target) : 0;
    atomic_fetch_add(&cache->evicted, removed);
    if (gone != NULL) *gone = removed + all.swept;
    free(all.items);
    return all.size;
}

/* True for one thread at a time, which then scans. *BEFORE: the estimate then. */
static bool scan_is_due(mccache *cache, uint64_t bytes, cache_size most, cache_size *before) {
    pthread_mutex_lock(&cache->lock);
    cache->estimate.files++;
    cache->estimate.bytes += bytes;
    bool due = !cache->scanning && (cache->puts_left == 0 || size_exceeds(cache->estimate, most));
    if (due) cache->scanning = true;
    else if (cache->puts_left > 0) cache->puts_left--;
    *before = cache->estimate;
    pthread_mutex_unlock(&cache->lock);
    return due;
}

/* A 32nd goes at once, so that a full cache is not looked at for each put; nor is one in which nothing can be
   removed. What other threads put meanwhile counts, though the scan may have seen it. */
void evict_after_put(mccache *cache, uint64_t bytes) {
    cache_size most = {cache->config.max_bytes, cache->config.max_files};
    cache_size before;
    if (!scan_is_due(cache, bytes, most, &before)) return;
    cache_size target = {most.bytes - most.bytes / 32, most.files - most.files / 32};
    cache_size left = evict(cache, most, target, NULL);
    if (size_exceeds(left, most)) left = (cache_size){0};
    pthread_mutex_lock(&cache->lock);
    cache->estimate.files = left.files + (cache->estimate.files - before.files);
    cache->estimate.bytes = left.bytes + (cache->estimate.bytes - before.bytes);
    cache->puts_left = PUTS_BETWEEN_SCANS;
    cache->scanning = false;
    pthread_mutex_unlock(&cache->lock);
}
