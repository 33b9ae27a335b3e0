/* Going through the directory. Names that are not ours are passed over:
   whatever else lies there stays there. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "internal.h"

typedef struct name_list {
    char (*names)[ENTRY_NAME];
    size_t count, room;
} name_list;

typedef struct scan {
    mccache *cache;
    bool (*visit)(void *user, const scan_file *file);
    void *user;
    name_list list; /* of the shard at hand */
    struct timespec now;
    bool whole, stopped;
} scan;

void *list_room(void *items, size_t count, size_t *room, size_t size) {
    enum { FIRST = 64 };
    size_t wanted = *room == 0 ? FIRST : 2 * *room, bytes;
    if (count < *room) return items;
    if (__builtin_mul_overflow(wanted, size, &bytes)) return NULL;
    void *moved = realloc(items, bytes);
    if (moved != NULL) *room = wanted;
    return moved;
}

static bool add_name(name_list *list, const char *name) {
    void *names = list_room(list->names, list->count, &list->room, sizeof *list->names);
    if (names == NULL) return false;
    list->names = names;
    memcpy(list->names[list->count++], name, strlen(name) + 1);
    return true;
}

static int compare_names(const void *a, const void *b) { return strcmp(a, b); }

/* The names of entries and temporaries, which are short enough to fit. */
static bool read_names(DIR *stream, unsigned char first_byte, name_list *list) {
    const struct dirent *found;
    list->count = 0;
    for (errno = 0; (found = readdir(stream)) != NULL; errno = 0) {
        file_kind kind = file_kind_of(found->d_name, first_byte);
        if (kind != FILE_ENTRY && kind != FILE_TEMPORARY) continue;
        if (!add_name(list, found->d_name)) return false;
    }
    bool whole = errno == 0;
    if (list->count > 0) qsort(list->names, list->count, sizeof *list->names, compare_names);
    return whole;
}

/* A clock that was put back leaves times in the future. */
static bool is_stale(const struct stat *status, struct timespec now) {
    int64_t age = seconds_since(status->st_mtim, now);
    return age > STALE_SECONDS || age < -STALE_SECONDS;
}

/* Files that went meanwhile are none. */
static void visit_names(scan *s, scan_file *file) {
    for (size_t i = 0; i < s->list.count && !s->stopped; i++) {
        file->name = s->list.names[i];
        file->kind = entry_name_key(file->name, file->first_byte, &file->key) ? FILE_ENTRY : FILE_TEMPORARY;
        if (fstatat(file->shard, file->name, &file->status, AT_SYMLINK_NOFOLLOW) != 0) {
            s->whole &= errno == ENOENT;
            continue;
        }
        file->stale = file->kind == FILE_TEMPORARY && is_stale(&file->status, s->now);
        s->stopped = !s->visit(s->user, file);
    }
}

static void scan_shard(scan *s, unsigned char first_byte) {
    scan_file file = {.first_byte = first_byte};
    file.shard = shard_try(&s->cache->own, first_byte, &file.fault);
    if (file.shard < 0 && file.fault != NULL) s->stopped = !s->visit(s->user, &file);
    if (file.shard < 0) {
        s->whole &= file.fault != NULL || errno == ENOENT;
        return;
    }
    DIR *stream = fdopendir(file.shard);
    if (stream == NULL) {
        close(file.shard);
        s->whole = false;
        return;
    }
    s->whole &= read_names(stream, first_byte, &s->list);
    visit_names(s, &file);
    closedir(stream);
}

bool scan_directory(mccache *cache, bool (*visit)(void *user, const scan_file *file), void *user) {
    scan s = {.cache = cache, .visit = visit, .user = user, .now = cache_now(cache), .whole = true};
    if (cache->own.fd < 0) return false;
    for (int first_byte = 0; first_byte < SHARD_COUNT && !s.stopped; first_byte++)
        scan_shard(&s, (unsigned char)first_byte);
    free(s.list.names);
    return s.whole;
}
