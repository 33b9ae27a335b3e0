/* Entries of this process alone: shards as on disk, each a list, and one list of all by time of use. */
#include <stdlib.h>
#include <string.h>
#include "internal.h"

struct memory_entry {
    memory_entry *next;          /* in its shard */
    memory_entry *newer, *older; /* by use */
    mccache_key key;
    size_t size;
    char *label;
    unsigned char data[];
};

/* -- Lists; the caller holds the lock */

static memory_entry **find_place(memory_store *store, const mccache_key *key) {
    memory_entry **place = &store->shards[key->bytes[0]];
    while (*place != NULL && memcmp((*place)->key.bytes, key->bytes, MCCACHE_KEY_BYTES) != 0)
        place = &(*place)->next;
    return place;
}

static void unlink_use(memory_store *store, memory_entry *entry) {
    *(entry->newer != NULL ? &entry->newer->older : &store->newest) = entry->older;
    *(entry->older != NULL ? &entry->older->newer : &store->oldest) = entry->newer;
}

static void link_newest(memory_store *store, memory_entry *entry) {
    entry->newer = NULL;
    entry->older = store->newest;
    *(store->newest != NULL ? &store->newest->newer : &store->oldest) = entry;
    store->newest = entry;
}

static void remove_at(memory_store *store, memory_entry **place) {
    memory_entry *entry = *place;
    *place = entry->next;
    unlink_use(store, entry);
    store->size.bytes -= entry->size;
    store->size.files--;
    free(entry->label);
    free(entry);
}

static uint64_t remove_oldest(memory_store *store, cache_size most) {
    uint64_t count = 0;
    for (; size_exceeds(store->size, most) && store->oldest != NULL; count++)
        remove_at(store, find_place(store, &store->oldest->key));
    return count;
}

/* -- Calls */

static bool copy_blob(const memory_entry *entry, mccache_blob *blob) {
    blob->data = malloc(entry->size + 1);
    blob->label = strdup(entry->label);
    if (blob->data == NULL || blob->label == NULL) {
        mccache_blob_free(blob);
        return false;
    }
    blob->size = entry->size;
    memcpy(blob->data, entry->data, entry->size + 1);
    return true;
}

bool memory_get(mccache *cache, const mccache_key *key, mccache_blob *blob) {
    memory_store *store = &cache->memory;
    pthread_mutex_lock(&cache->lock);
    memory_entry *entry = *find_place(store, key);
    bool found = entry != NULL && copy_blob(entry, blob);
    if (found) {
        unlink_use(store, entry);
        link_newest(store, entry);
    }
    pthread_mutex_unlock(&cache->lock);
    return found;
}

static memory_entry *make_entry(const mccache_key *key, const char *label, const void *data, size_t size) {
    memory_entry *entry = malloc(sizeof *entry + size + 1);
    char *copy = strndup(label, entry_label_size(label));
    if (entry == NULL || copy == NULL) {
        free(entry);
        free(copy);
        return NULL;
    }
    *entry = (memory_entry){.key = *key, .size = size, .label = copy};
    if (size > 0) memcpy(entry->data, data, size);
    entry->data[size] = '\0';
    return entry;
}

bool memory_put(mccache *cache, const mccache_key *key, const char *label, const void *data, size_t size) {
    memory_store *store = &cache->memory;
    memory_entry *entry = make_entry(key, label, data, size);
    if (entry == NULL) {
        cache_fault(cache, FAULT_MEMORY, NULL, NULL, "no memory for %zu bytes", size);
        return false;
    }
    pthread_mutex_lock(&cache->lock);
    memory_entry **place = find_place(store, key);
    if (*place != NULL) remove_at(store, place);
    entry->next = store->shards[key->bytes[0]];
    store->shards[key->bytes[0]] = entry;
    link_newest(store, entry);
    store->size.bytes += size;
    store->size.files++;
    uint64_t count = remove_oldest(store, (cache_size){cache->config.max_bytes, cache->config.max_files});
    pthread_mutex_unlock(&cache->lock);
    atomic_fetch_add(&cache->evicted, count);
    return true;
}

void memory_drop(mccache *cache, const mccache_key *key) {
    pthread_mutex_lock(&cache->lock);
    memory_entry **place = find_place(&cache->memory, key);
    if (*place != NULL) remove_at(&cache->memory, place);
    pthread_mutex_unlock(&cache->lock);
}

uint64_t memory_prune(mccache *cache, uint64_t max_bytes, uint64_t max_files) {
    pthread_mutex_lock(&cache->lock);
    uint64_t count = remove_oldest(&cache->memory, (cache_size){max_bytes, max_files});
    pthread_mutex_unlock(&cache->lock);
    return count;
}
