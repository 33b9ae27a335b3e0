/* Opening and closing: what cannot be used makes a cache that misses. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "internal.h"

enum { DEFAULT_FILES = 10000 };
static const uint64_t default_bytes = (uint64_t)512 << 20;

/* A config of another version of this library may be shorter or longer. */
static void take_config(mccache *cache, const mccache_config *config) {
    size_t size = config->size < sizeof *config ? config->size : sizeof *config;
    memcpy(&cache->config, config, size);
    if (cache->config.max_bytes == 0) cache->config.max_bytes = default_bytes;
    if (cache->config.max_files == 0) cache->config.max_files = DEFAULT_FILES;
}

static bool set_why(mccache *cache, const char *why) {
    snprintf(cache->why, sizeof cache->why, "%s", why);
    return true;
}

/* Both return false only where there is no memory. */
static bool open_own(mccache *cache) {
    mccache_mode mode = cache->config.mode;
    if (mode == MCCACHE_MEMORY) return true;
    if (mode == MCCACHE_OFF) return set_why(cache, "the cache is off");
    if (cache->config.directory == NULL || cache->config.directory[0] == '\0')
        return set_why(cache, "there is no directory for it");
    bool writes = mode == MCCACHE_READ_WRITE;
    bool opened = directory_open(&cache->own, cache->config.directory, writes, cache->why, sizeof cache->why);
    if (cache->own.path == NULL) return false;
    if (!opened) {
        cache_fault(cache, FAULT_DIRECTORY, cache->own.path, NULL, "%s", cache->why);
        return true;
    }
    cache->writable = writes && faccessat(cache->own.fd, ".", W_OK | X_OK, AT_EACCESS) == 0;
    if (!writes || cache->writable) return true;
    set_why(cache, ERRNO_TEXT);
    cache_fault(cache, FAULT_WRITE, cache->own.path, NULL, "%s", cache->why);
    return true;
}

static bool open_system(mccache *cache) {
    if (cache->config.mode == MCCACHE_OFF) return true;
    for (size_t i = 0; i < MCCACHE_MAX_SYSTEM && cache->config.system[i] != NULL; i++) {
        cache_directory *directory = &cache->system[cache->system_count];
        char why[sizeof cache->why];
        bool opened = directory_open(directory, cache->config.system[i], false, why, sizeof why);
        if (directory->path == NULL) return false;
        cache->system_count++;
        if (!opened) cache_fault(cache, FAULT_SYSTEM, directory->path, NULL, "%s", why);
    }
    return true;
}

static void forget_strings(mccache_config *config) {
    config->directory = NULL;
    memset(config->system, 0, sizeof config->system);
}

mccache *mccache_open(const mccache_config *config) {
    mccache *cache = calloc(1, sizeof *cache);
    if (cache == NULL) return NULL;
    if (pthread_mutex_init(&cache->lock, NULL) != 0) {
        free(cache);
        return NULL;
    }
    take_config(cache, config);
    cache->own.fd = -1;
    for (size_t i = 0; i < MCCACHE_MAX_SYSTEM; i++) cache->system[i].fd = -1;
    bool opened = open_own(cache) && open_system(cache);
    forget_strings(&cache->config);
    if (opened) return cache;
    mccache_close(cache);
    return NULL;
}

void mccache_close(mccache *cache) {
    if (cache == NULL) return;
    directory_close(&cache->own);
    for (size_t i = 0; i < MCCACHE_MAX_SYSTEM; i++) directory_close(&cache->system[i]);
    memory_prune(cache, 0, 0);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

bool mccache_usable(mccache *cache, const char **why) {
    if (why != NULL) *why = cache->why;
    return cache->why[0] == '\0';
}

const char *mccache_directory(const mccache *cache) { return cache->own.path; }

/* -- Times */

struct timespec cache_now(const mccache *cache) {
    struct timespec now = {0};
    if (cache->config.clock != NULL) now.tv_sec = (time_t)cache->config.clock(cache->config.clock_user);
    else clock_gettime(CLOCK_REALTIME, &now);
    return now;
}

int64_t seconds_since(struct timespec then, struct timespec now) {
    int64_t seconds;
    if (!__builtin_sub_overflow((int64_t)now.tv_sec, (int64_t)then.tv_sec, &seconds)) return seconds;
    return then.tv_sec > now.tv_sec ? INT64_MIN : INT64_MAX;
}
