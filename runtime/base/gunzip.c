#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "base/gunzip.h"

/* zlib counts what is there for it in 32 bits. */
static const size_t most_at_once = (size_t)1 << 30;

typedef struct gunzipping {
    const char *path;
    const unsigned char *at, *end; /* compressed bytes */
    z_stream stream;
    char *out;
    size_t size, room;
    mc_diag *diag;
} gunzipping;

bool gunzip_is(const char *path, size_t *length) {
    static const char ending[] = ".gz";
    const size_t tail = sizeof ending - 1;
    *length = strlen(path);
    if (*length < tail || strcmp(path + *length - tail, ending) != 0) return false;
    *length -= tail;
    return true;
}

static mc_status grow(gunzipping *g) {
    size_t room = g->room < SIZE_MAX / 4 ? 2 * g->room + 65536 : SIZE_MAX;
    char *out = room < SIZE_MAX ? realloc(g->out, room) : NULL;
    if (out == NULL)
        return mc_fail(g->diag, MC_NOMEM, "%s: no memory for more than %zu bytes", g->path, g->size);
    g->out = out;
    g->room = room;
    return MC_OK;
}

static size_t at_once(size_t size) { return size < most_at_once ? size : most_at_once; }

/* Decompresses as far as OUT has room. */
static int inflate_some(gunzipping *g) {
    z_stream *stream = &g->stream;
    const size_t in = at_once((size_t)(g->end - g->at)), room = at_once(g->room - g->size);
    stream->next_in = (z_const Bytef *)(uintptr_t)g->at;
    stream->avail_in = (uInt)in;
    stream->next_out = (Bytef *)g->out + g->size;
    stream->avail_out = (uInt)room;
    int result = inflate(stream, Z_NO_FLUSH);
    g->at += in - stream->avail_in;
    g->size += room - stream->avail_out;
    return result;
}

static mc_status refuse(const gunzipping *g, int result) {
    if (result == Z_MEM_ERROR) return mc_fail(g->diag, MC_NOMEM, "%s: no memory to decompress it", g->path);
    if (result == Z_BUF_ERROR)
        return mc_fail(g->diag, MC_FORMAT, "%s: the compressed bytes end early", g->path);
    return mc_fail(g->diag, MC_FORMAT, "%s: not what gzip writes: %s", g->path,
                   g->stream.msg != NULL ? g->stream.msg : "damaged");
}

/* From a member's head to its checksum. */
static mc_status take_member(gunzipping *g) {
    int result = Z_OK;
    while (result == Z_OK) {
        mc_status status = g->size == g->room ? grow(g) : MC_OK;
        if (status != MC_OK) return status;
        result = inflate_some(g);
    }
    return result == Z_STREAM_END ? MC_OK : refuse(g, result);
}

static void skip_zeros(gunzipping *g) {
    while (g->at < g->end && *g->at == 0) g->at++;
}

static mc_status take_members(gunzipping *g) {
    mc_status status;
    do {
        status = inflateReset(&g->stream) == Z_OK ? take_member(g) : refuse(g, Z_DATA_ERROR);
        if (status == MC_OK) skip_zeros(g);
    } while (status == MC_OK && g->at < g->end);
    return status;
}

/* zlib's memory comes from where ours does. */
static void *take(void *user, unsigned count, unsigned size) { return (void)user, calloc(count, size); }
static void give_back(void *user, void *memory) { (void)user, free(memory); }

mc_status gunzip(const char *path, const void *bytes, size_t size, char **out, size_t *out_size,
                 mc_diag *diag) {
    enum { GZIP_ONLY = 16 }; /* added to the window's bits: inflateInit2 of zlib.h */
    gunzipping g = {.path = path,
                    .at = bytes,
                    .end = (const unsigned char *)bytes + size,
                    .diag = diag,
                    .stream = {.zalloc = take, .zfree = give_back}};
    *out = NULL;
    *out_size = 0;
    int started = inflateInit2(&g.stream, MAX_WBITS + GZIP_ONLY);
    if (started != Z_OK) return refuse(&g, started);
    mc_status status = take_members(&g);
    inflateEnd(&g.stream);
    if (status != MC_OK) {
        free(g.out);
        return status;
    }
    *out = g.out;
    *out_size = g.size;
    return MC_OK;
}
