/* get, put and drop: memory, our directory, the system's. */
#include <stdlib.h>
#include "internal.h"

void mccache_blob_free(mccache_blob *blob) {
    free(blob->data);
    free(blob->label);
    *blob = (mccache_blob){0};
}

static bool get_from(mccache *cache, const cache_directory *directory, const mccache_key *key,
                     mccache_blob *blob) {
    disk_result result = directory->fd < 0 ? DISK_ABSENT : disk_get(cache, directory, key, blob);
    if (result == DISK_REJECTED) atomic_fetch_add(&cache->rejected, 1);
    return result == DISK_FOUND;
}

static bool get_from_disk(mccache *cache, const mccache_key *key, mccache_blob *blob) {
    bool found = get_from(cache, &cache->own, key, blob);
    for (size_t i = 0; i < cache->system_count && !found; i++)
        found = get_from(cache, &cache->system[i], key, blob);
    return found;
}

bool mccache_get(mccache *cache, const mccache_key *key, mccache_blob *blob) {
    *blob = (mccache_blob){0};
    bool found = (cache->config.mode == MCCACHE_MEMORY && memory_get(cache, key, blob)) ||
                 get_from_disk(cache, key, blob);
    atomic_fetch_add(found ? &cache->hits : &cache->misses, 1);
    return found;
}

/* An entry that would push out all others, or could not be read again. */
static bool is_too_large(const mccache *cache, const char *label, size_t size) {
    uint64_t most = cache->config.max_bytes < ENTRY_MOST_BYTES ? cache->config.max_bytes : ENTRY_MOST_BYTES;
    uint64_t around = ENTRY_HEADER_BYTES + entry_label_size(label) + ENTRY_CHECKSUM_BYTES;
    return around > most || size > most - around;
}

void mccache_put(mccache *cache, const mccache_key *key, const char *label, const void *data, size_t size) {
    bool memory = cache->config.mode == MCCACHE_MEMORY;
    size_t file_size;
    if (label == NULL) label = "";
    if (!memory && !cache->writable) return;
    if (is_too_large(cache, label, size)) {
        cache_fault(cache, FAULT_SIZE, cache->own.path, NULL, "an entry of %zu bytes is too large", size);
        return;
    }
    bool put = memory ? memory_put(cache, key, label, data, size)
                      : disk_put(cache, key, label, data, size, &file_size);
    if (!put) return;
    atomic_fetch_add(&cache->puts, 1);
    if (!memory) evict_after_put(cache, file_size);
}

void mccache_drop(mccache *cache, const mccache_key *key) {
    if (cache->config.mode == MCCACHE_MEMORY) memory_drop(cache, key);
    else if (cache->writable) disk_drop(cache, key);
}
