/* Housekeeping: what mcrun cache shows and does. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "internal.h"

typedef struct walk {
    mccache *cache;
    bool check, whole;
    bool (*visit)(void *user, const mccache_item *item);
    void *user;
} walk;

static void copy_label(mccache_item *item, const unsigned char *label, size_t size) {
    memcpy(item->label, label, size);
    item->label[size] = '\0';
}

/* Both return NULL or what is wrong; unreadable where errno says it. */
static const char unreadable[] = "cannot be read";

static const char *read_label(int fd, const struct stat *status, mccache_item *item) {
    unsigned char bytes[ENTRY_HEADER_BYTES + MCCACHE_MAX_LABEL];
    entry_header header;
    if (!disk_read_file(fd, bytes, ENTRY_HEADER_BYTES)) return errno == 0 ? "cut off" : unreadable;
    const char *fault = entry_read_header(bytes, (uint64_t)status->st_size, &item->key, &header);
    if (fault != NULL) return fault;
    if (!disk_read_file(fd, bytes, header.label_size)) return errno == 0 ? "cut off" : unreadable;
    copy_label(item, bytes, header.label_size);
    return NULL;
}

static const char *read_whole(int fd, const struct stat *status, mccache_item *item) {
    entry_header header;
    const char *fault;
    unsigned char *bytes = disk_read_entry(fd, status, &item->key, &header, &fault);
    if (bytes == NULL) return fault != NULL ? fault : unreadable;
    copy_label(item, bytes + ENTRY_HEADER_BYTES, header.label_size);
    free(bytes);
    return NULL;
}

/* Of this process, and not of the file. */
static bool is_passing(int error) { return error == ENOMEM || error == EMFILE || error == ENFILE; }

/* False: it is gone meanwhile, or nothing can be said about it now. */
static bool look_at_entry(walk *w, const scan_file *file, mccache_item *item) {
    struct stat status;
    item->key = file->key;
    item->state = MCCACHE_FOREIGN;
    int fd = disk_open_file(file->shard, file->name, &status, &item->fault);
    if (fd < 0 && item->fault != NULL) return true;
    if (fd < 0 && errno == ENOENT) return false;
    if (fd < 0) item->fault = unreadable;
    else item->fault = w->check ? read_whole(fd, &status, item) : read_label(fd, &status, item);
    bool told = item->fault != unreadable || !is_passing(errno);
    w->whole &= told;
    if (fd >= 0) close(fd);
    item->state = item->fault == NULL                 ? MCCACHE_GOOD
                  : item->fault == entry_other_schema ? MCCACHE_STALE
                                                      : MCCACHE_DAMAGED;
    return told;
}

static bool visit_file(void *user, const scan_file *file) {
    walk *w = user;
    char shard[SHARD_NAME];
    mccache_item item = {.fault = file->fault, .state = MCCACHE_FOREIGN};
    bool is_file = file->shard >= 0;
    shard_name(file->first_byte, shard);
    snprintf(item.file, sizeof item.file, "%s%s%s", shard, is_file ? "/" : "", is_file ? file->name : "");
    if (!is_file) return w->visit(w->user, &item);
    item.size = file->status.st_size > 0 ? (uint64_t)file->status.st_size : 0;
    item.used = file->status.st_mtim.tv_sec > 0 ? (uint64_t)file->status.st_mtim.tv_sec : 0;
    if (file->kind == FILE_TEMPORARY) {
        item.state = MCCACHE_STALE;
        item.fault = "left by a process that died";
        return !file->stale || w->visit(w->user, &item);
    }
    return !look_at_entry(w, file, &item) || w->visit(w->user, &item);
}

bool mccache_walk(mccache *cache, bool check, bool (*visit)(void *user, const mccache_item *item),
                  void *user) {
    walk w = {cache, check, true, visit, user};
    return scan_directory(cache, visit_file, &w) && w.whole;
}

/* -- Statistics */

static bool count_file(void *user, const scan_file *file) {
    mccache_stats *stats = user;
    if (file->shard < 0 || S_ISDIR(file->status.st_mode)) return true;
    stats->stale += file->stale;
    if (file->kind != FILE_ENTRY) return true;
    stats->files++;
    stats->bytes += (uint64_t)file->status.st_size;
    return true;
}

static void count_memory(mccache *cache, mccache_stats *stats) {
    pthread_mutex_lock(&cache->lock);
    stats->files = cache->memory.size.files;
    stats->bytes = cache->memory.size.bytes;
    pthread_mutex_unlock(&cache->lock);
}

void mccache_get_stats(mccache *cache, mccache_stats *stats) {
    mccache_stats now = {.size = stats->size,
                         .max_files = cache->config.max_files,
                         .max_bytes = cache->config.max_bytes,
                         .hits = atomic_load(&cache->hits),
                         .misses = atomic_load(&cache->misses),
                         .puts = atomic_load(&cache->puts),
                         .evicted = atomic_load(&cache->evicted),
                         .rejected = atomic_load(&cache->rejected)};
    if (cache->config.mode == MCCACHE_MEMORY) count_memory(cache, &now);
    else scan_directory(cache, count_file, &now);
    memcpy(stats, &now, stats->size < sizeof now ? stats->size : sizeof now);
}

/* -- Pruning */

typedef struct sweep {
    mccache *cache;
    uint64_t removed;
} sweep;

/* What the cache did not make is not emptied or deleted: it gets another name, which no entry and no shard
   has. False where ten such names are taken. */
static bool set_aside(int folder, const char *name) {
    enum { NAMES = 10 };
    char other[sizeof((mccache_item *)0)->file + sizeof ".aside.0"];
    for (int i = 0; i < NAMES; i++) {
        snprintf(other, sizeof other, "%s.aside.%d", name, i);
        if (renameat2(folder, name, folder, other, RENAME_NOREPLACE) == 0) return true;
        if (errno != EEXIST) return false;
    }
    return false;
}

/* Of what stands where an entry belongs, a link goes and what it leads to stays; a directory goes if it is
   empty. */
static bool clear_entry(int shard, const char *name) {
    if (unlinkat(shard, name, 0) == 0) return true;
    if (errno != EISDIR && errno != EPERM) return false;
    return unlinkat(shard, name, AT_REMOVEDIR) == 0 || set_aside(shard, name);
}

/* A directory stays, whoever may write into it: it may be full of good entries. */
static bool clear_shard(int directory, const char *name) {
    struct stat status;
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || S_ISDIR(status.st_mode)) return false;
    return S_ISLNK(status.st_mode) ? unlinkat(directory, name, 0) == 0 : set_aside(directory, name);
}

static bool remove_bad(void *user, const mccache_item *item) {
    sweep *s = user;
    const cache_directory *own = &s->cache->own;
    const char *fault, *slash = strchr(item->file, '/');
    if (item->state == MCCACHE_GOOD) return true;
    if (slash == NULL) {
        s->removed += clear_shard(own->fd, item->file);
        return true;
    }
    int shard = shard_try(own, (unsigned char)strtoul(item->file, NULL, 16), &fault);
    if (shard < 0) return true;
    s->removed += clear_entry(shard, slash + 1);
    close(shard);
    return true;
}

/* Where all is to go nothing needs to be read. */
uint64_t mccache_prune(mccache *cache, uint64_t max_bytes, uint64_t max_files) {
    sweep s = {.cache = cache};
    uint64_t gone = 0;
    cache_size most = {max_bytes, max_files};
    if (cache->config.mode == MCCACHE_MEMORY) return memory_prune(cache, max_bytes, max_files);
    if (!cache->writable) return 0;
    if (max_bytes > 0 && max_files > 0) mccache_walk(cache, true, remove_bad, &s);
    evict(cache, most, most, &gone);
    return s.removed + gone;
}
