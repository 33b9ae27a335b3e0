/* A kernel and its machine code, out of the cache, or else generated and compiled. An entry of the cache: the
   size of the kernel's text (mc_kernel_save) in 8 bytes, the lowest first, then the text, then the image. */
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "context/kernels.h"

enum { SIZE_BYTES = 8 };
enum { WAIT_MS = 30000 }; /* for another process that makes it; after that both do */

/* What kernels_make gives. */
typedef struct making {
    mc_kernel *kernel;
    mc_image image;
    char *log;
} making;

/* Of all that decides what generating and compiling give. What the options of mc_device_compile decide, and
   the layout of an entry, is in the schema's number. */
static mccache_key key_of(const mc_context *context, const char *fields) {
    const mc_device_info *info = mc_device_get_info(context->device);
    const unsigned char kind = (unsigned char)info->kind;
    const unsigned char capability[2] = {(unsigned char)(info->capability / 256),
                                         (unsigned char)(info->capability % 256)};
    const mccache_field list[] = {
        mccache_text("schema", "kernel 2"),
        mccache_text("generator", mc_generator_id()),
        mccache_text("fields", fields), /* the PTX's target is one of them */
        {"device", &kind, sizeof kind},
        {"capability", capability, sizeof capability},
        mccache_text("build", mc_device_build(context->device)),
    };
    return mccache_key_of(list, sizeof list / sizeof *list);
}

static void count(mc_context *context, uint64_t *counter) {
    (void)pthread_mutex_lock(&context->lock);
    ++*counter;
    (void)pthread_mutex_unlock(&context->lock);
}

/* -- Entries */

static uint64_t text_size(const unsigned char *data) {
    uint64_t size = 0;
    for (int i = 0; i < SIZE_BYTES; i++) size |= (uint64_t)data[i] << 8 * i;
    return size;
}

/* The kernel of FIELDS out of the SIZE bytes of its text. */
static mc_status restore(const char *data, size_t size, const char *fields, mc_kernel **kernel,
                         mc_diag *diag) {
    char *text = strndup(data, size);
    mc_status status =
        text == NULL ? mc_fail(diag, MC_NOMEM, "out of memory") : mc_kernel_restore(text, kernel, diag);
    free(text);
    if (status != MC_OK || strcmp(mc_kernel_fields(*kernel), fields) == 0) return status;
    mc_kernel_destroy(*kernel);
    *kernel = NULL;
    return mc_fail(diag, MC_FORMAT, "a saved kernel: another one");
}

/* MC_FORMAT, and why, for what no entry of FIELDS is. */
static mc_status unpack(const mccache_blob *blob, const char *fields, making *made, mc_diag *diag) {
    const unsigned char *data = blob->data;
    size_t rest = blob->size < SIZE_BYTES ? 0 : blob->size - SIZE_BYTES;
    uint64_t size = rest == 0 ? 0 : text_size(data);
    if (size >= rest) return mc_fail(diag, MC_FORMAT, "a saved kernel: cut off");
    const unsigned char *image = data + SIZE_BYTES + size;
    made->image = (mc_image){malloc(rest - size), rest - size};
    if (made->image.data == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    memcpy(made->image.data, image, rest - size);
    mc_status status = restore((const char *)data + SIZE_BYTES, size, fields, &made->kernel, diag);
    if (status != MC_OK) mc_image_free(&made->image);
    return status;
}

/* What cannot be stored is no failure. FIELDS that are not the kernel's own text are not stored: restore
   would refuse the entry. */
static void put(mc_context *context, const mccache_key *key, const char *fields, const mc_kernel *kernel,
                const mc_image *image) {
    bool own = strcmp(mc_kernel_fields(kernel), fields) == 0;
    char *text = own ? mc_kernel_save(kernel) : NULL;
    size_t size = text == NULL ? 0 : strlen(text);
    unsigned char *data = text == NULL ? NULL : malloc(SIZE_BYTES + size + image->size);
    if (data != NULL) {
        for (int i = 0; i < SIZE_BYTES; i++) data[i] = (unsigned char)((uint64_t)size >> 8 * i);
        memcpy(data + SIZE_BYTES, text, size);
        memcpy(data + SIZE_BYTES + size, image->data, image->size);
        mccache_put(context->cache, key, fields, data, SIZE_BYTES + size + image->size);
    }
    free(data);
    free(text);
}

/* -- Making */

/* An entry that makes no sense is a miss. */
static bool find(mc_context *context, const mccache_key *key, const char *fields, making *made) {
    mccache_blob blob;
    if (!mccache_get(context->cache, key, &blob)) return false;
    mc_diag *why = mc_diag_create();
    mc_status status = unpack(&blob, fields, made, why);
    if (status == MC_FORMAT) {
        context_log(context, MC_LOG_NOTE, "%s: made anew: %s", why != NULL ? mc_diag_text(why) : "cache",
                    fields);
        mccache_drop(context->cache, key);
    }
    mc_diag_destroy(why);
    mccache_blob_free(&blob);
    if (status == MC_OK) count(context, &context->from_cache);
    return status == MC_OK;
}

static mc_status generate(mc_context *context, const mccache_key *key, const char *fields, making *made,
                          mc_diag *diag) {
    double begin = clock_seconds();
    mc_status status = mc_kernel_from_fields(fields, &made->kernel, diag);
    if (status != MC_OK) return status;
    double generated = clock_seconds();
    status = mc_device_compile(context->device, mc_kernel_ptx(made->kernel), &made->image, &made->log, diag);
    if (status != MC_OK) return status;
    context_log(context, MC_LOG_DETAIL, "generated in %.1f ms, compiled in %.1f ms: %s",
                1e3 * (generated - begin), 1e3 * (clock_seconds() - generated), fields);
    count(context, &context->compiled);
    put(context, key, fields, made->kernel, &made->image);
    return MC_OK;
}

/* One of those that want it makes it, while the others wait and then find it. */
static mc_status find_or_generate(mc_context *context, const char *fields, making *made, bool *found,
                                  mc_diag *diag) {
    const mccache_key key = key_of(context, fields);
    mc_status status = MC_OK;
    *found = find(context, &key, fields, made);
    if (*found) return MC_OK;
    mccache_lock *lock = mccache_lock_take(context->cache, &key, WAIT_MS);
    if (lock != NULL) *found = find(context, &key, fields, made);
    if (!*found) status = generate(context, &key, fields, made, diag);
    mccache_lock_release(lock);
    return status;
}

/* Hands over what was made, or frees what there is of it. LOG may be NULL. */
static mc_status give(making *made, mc_status status, mc_kernel **kernel, mc_image *image, char **log,
                      mc_diag *diag) {
    if (made->log == NULL) made->log = strdup("");
    if (made->log == NULL && status == MC_OK) status = mc_fail(diag, MC_NOMEM, "out of memory");
    if (status != MC_OK) {
        mc_kernel_destroy(made->kernel);
        mc_image_free(&made->image);
        made->kernel = NULL;
    }
    *kernel = made->kernel;
    *image = made->image;
    if (log != NULL) *log = made->log;
    else free(made->log);
    return status;
}

mc_status kernels_make(mc_context *context, const char *fields, mc_kernel **kernel, mc_image *image,
                       bool *from_cache, char **log, mc_diag *diag) {
    making made = {0};
    bool found;
    mc_status status = find_or_generate(context, fields, &made, &found, diag);
    if (from_cache != NULL) *from_cache = found;
    return give(&made, status, kernel, image, log, diag);
}

mc_status kernels_make_anew(mc_context *context, const char *fields, const char *why, mc_kernel **kernel,
                            mc_image *image, char **log, mc_diag *diag) {
    const mccache_key key = key_of(context, fields);
    making made = {0};
    context_log(context, MC_LOG_NOTE, "a cached kernel: %s: made anew: %s", why, fields);
    mccache_drop(context->cache, &key);
    mc_status status = generate(context, &key, fields, &made, diag);
    return give(&made, status, kernel, image, log, diag);
}
