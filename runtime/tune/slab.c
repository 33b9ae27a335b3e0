#include "tune/slab.h"
#include <string.h>

static size_t round_up(size_t bytes) { return (bytes + TUNE_BOUNDARY - 1) / TUNE_BOUNDARY * TUNE_BOUNDARY; }

mc_status tune_slab_add(tune_slab *slab, const char *name, const void *data, size_t bytes, size_t offset,
                        mc_diag *diag) {
    size_t begin = slab->set_bytes;
    if (bytes > SIZE_MAX / 4 || begin > SIZE_MAX / 4)
        return mc_fail(diag, MC_NOMEM, "no memory for %s of %zu bytes", name, bytes);
    slab->parts[slab->count++] = (tune_part){name, data, false, bytes, begin + offset, 1, 0};
    slab->set_bytes = round_up(begin + offset + bytes);
    return MC_OK;
}

mc_status tune_slab_repeat(tune_slab *slab, size_t copies, size_t step, mc_diag *diag) {
    tune_part *part = &slab->parts[slab->count - 1];
    size_t more;
    if (__builtin_mul_overflow(copies - 1, step, &more) || more > SIZE_MAX / 4)
        return mc_fail(diag, MC_NOMEM, "no memory for %zu times %s of %zu bytes", copies, part->name, step);
    part->copies = copies, part->step = step;
    slab->set_bytes = round_up(part->place + more + part->bytes);
    return MC_OK;
}

static mc_status write_part(mc_context *context, const tune_slab *slab, size_t i, int set, mc_diag *diag) {
    const tune_part *part = &slab->parts[i];
    mc_status status = MC_OK;
    for (size_t copy = 0; copy < part->copies && status == MC_OK; copy++)
        status = mc_device_write(context->device, tune_slab_address(slab, i, set) + copy * part->step,
                                 part->data, part->bytes, diag);
    return status;
}

static mc_status write_set(mc_context *context, const tune_slab *slab, int set, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < slab->count && status == MC_OK; i++)
        if (slab->parts[i].data != NULL) status = write_part(context, slab, i, set, diag);
    return status;
}

mc_status tune_slab_upload(mc_context *context, tune_slab *slab, int sets, mc_diag *diag) {
    size_t bytes;
    if (__builtin_mul_overflow(slab->set_bytes, (size_t)sets, &bytes))
        return mc_fail(diag, MC_NOMEM, "no memory for %d times %zu bytes", sets, slab->set_bytes);
    mc_status status = context_alloc(context, bytes > 0 ? bytes : 1, &slab->base, diag);
    if (status != MC_OK) return status;
    slab->sets = sets;
    for (int set = 0; set < sets && status == MC_OK; set++) status = write_set(context, slab, set, diag);
    return status;
}

mc_address tune_slab_address(const tune_slab *slab, size_t part, int set) {
    return slab->base + (size_t)set * slab->set_bytes + slab->parts[part].place;
}

static mc_status compare_part(mc_context *context, const tune_slab *slab, size_t i, const tune_buffer *buffer,
                              bool *same, mc_diag *diag) {
    const tune_part *part = &slab->parts[i];
    mc_status status = MC_OK;
    *same = true;
    for (size_t copy = 0; copy < part->copies && status == MC_OK && *same; copy++)
        status = tune_compare(context, tune_slab_address(slab, i, 0) + copy * part->step, part->data,
                              part->bytes, buffer, same, diag);
    return status;
}

mc_status tune_slab_check(mc_context *context, const tune_slab *slab, const tune_buffer *buffer,
                          mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < slab->count && status == MC_OK; i++) {
        const tune_part *part = &slab->parts[i];
        bool same = true;
        if (part->data != NULL && !part->written)
            status = compare_part(context, slab, i, buffer, &same, diag);
        if (status != MC_OK || same) continue;
        status = write_set(context, slab, 0, diag);
        if (status == MC_OK) status = mc_fail(diag, MC_MISMATCH, "the kernel wrote into %s", part->name);
    }
    return status;
}

void tune_slab_free(mc_context *context, tune_slab *slab) {
    if (slab->base != 0) context_free(context, slab->base);
    *slab = (tune_slab){0};
}

mc_status tune_compare(mc_context *context, mc_address address, const void *want, size_t bytes,
                       const tune_buffer *buffer, bool *same, mc_diag *diag) {
    mc_status status = MC_OK;
    *same = true;
    for (size_t at = 0; at < bytes && status == MC_OK && *same; at += buffer->size) {
        size_t piece = bytes - at < buffer->size ? bytes - at : buffer->size;
        status = mc_device_read(context->device, address + at, buffer->bytes, piece, diag);
        *same = status == MC_OK && memcmp(buffer->bytes, (const char *)want + at, piece) == 0;
    }
    return status;
}
