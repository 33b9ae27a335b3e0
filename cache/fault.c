/* What is wrong, told once for each kind of fault. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "internal.h"

/* errno is the caller's: a log function may change it, and so may we. */
const char *cache_errno_text(error_text *text) {
    int error = errno;
    text->text = strerror_r(error, text->buffer, sizeof text->buffer);
    errno = error;
    return text->text;
}

void cache_fault(mccache *cache, cache_fault_kind kind, const char *directory, const char *name,
                 const char *format, ...) {
    static const char *const meanings[] = {
#define X(name, meaning) [FAULT_##name] = meaning,
        FAULT_LIST(X)
#undef X
    };
    if (cache->config.log == NULL) return;
    if (atomic_fetch_or(&cache->told, 1u << kind) & 1u << kind) return;
    char what[256], message[MCCACHE_MAX_PATH + 512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(message, sizeof message, "cache: %s%s%s%s%s: %s", directory != NULL ? directory : "",
             directory != NULL && name != NULL ? "/" : "", name != NULL ? name : "",
             directory != NULL || name != NULL ? ": " : "", what, meanings[kind]);
    cache->config.log(cache->config.log_user, message);
}

void entry_fault(mccache *cache, cache_fault_kind kind, const cache_directory *directory,
                 const mccache_key *key, const char *fault) {
    char name[SHARD_NAME + ENTRY_NAME];
    shard_name(key->bytes[0], name);
    name[SHARD_NAME - 1] = '/';
    entry_name(key, name + SHARD_NAME);
    cache_fault(cache, kind, directory->path, name, "%s", fault != NULL ? fault : ERRNO_TEXT);
}
