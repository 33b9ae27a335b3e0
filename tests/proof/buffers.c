#include "buffers.h"
#include <stdlib.h>
#include <string.h>

/* Above all 32-bit values, so that a parameter that is none of ours never looks like an address. */
static const uint64_t first_address = UINT64_C(1) << 44;
enum { ALIGNMENT = 256, GAP = 1 << 20 };

static void clear(proof_buffer *buffer) {
    free(buffer->data);
    free(buffer->written);
}

void proof_buffers_clear(proof_buffers *buffers) {
    for (size_t i = 0; i < buffers->count; i++) clear(&buffers->items[i]);
    free(buffers->items);
    *buffers = (proof_buffers){0};
}

/* -- Making and finding ----------------------------------------------------------------------------------- */

static bool reserve(proof_buffers *buffers) {
    if (buffers->count < buffers->room) return true;
    size_t room = buffers->room ? 2 * buffers->room : 16;
    proof_buffer *items = realloc(buffers->items, room * sizeof *items);
    if (!items) return false;
    buffers->items = items;
    buffers->room = room;
    return true;
}

mc_status proof_buffers_alloc(proof_buffers *buffers, size_t bytes, uint64_t *address, mc_diag *diag) {
    unsigned char *data = calloc(1, bytes + 1);
    if (!data || !reserve(buffers)) {
        free(data);
        return mc_fail(diag, MC_NOMEM, "out of memory");
    }
    if (buffers->count == 0) buffers->next = first_address;
    *address = buffers->next;
    buffers->next += (bytes + GAP + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    buffers->items[buffers->count++] = (proof_buffer){.base = *address, .bytes = bytes, .data = data};
    return MC_OK;
}

proof_buffer *proof_buffers_find(const proof_buffers *buffers, uint64_t address) {
    for (size_t i = 0; i < buffers->count; i++) {
        proof_buffer *buffer = &buffers->items[i];
        if (address >= buffer->base && address - buffer->base <= buffer->bytes) return buffer;
    }
    return NULL;
}

void proof_buffers_free(proof_buffers *buffers, uint64_t address) {
    proof_buffer *buffer = proof_buffers_find(buffers, address);
    if (!buffer || buffer->base != address) return;
    clear(buffer);
    buffers->count--;
    size_t behind = (size_t)(buffers->items + buffers->count - buffer);
    memmove(buffer, buffer + 1, behind * sizeof *buffer);
}

/* -- Contents --------------------------------------------------------------------------------------------- */

static mc_status find_span(const proof_buffers *buffers, uint64_t address, size_t bytes,
                           proof_buffer **buffer, size_t *offset, mc_diag *diag) {
    *buffer = proof_buffers_find(buffers, address);
    *offset = *buffer ? (size_t)(address - (*buffer)->base) : 0;
    if (*buffer && bytes <= (*buffer)->bytes - *offset) return MC_OK;
    return mc_fail(diag, MC_DEVICE, "%zu bytes at 0x%llx are in no buffer", bytes,
                   (unsigned long long)address);
}

static mc_status mark(proof_buffer *buffer, size_t offset, size_t bytes, mc_diag *diag) {
    proof_span *last = buffer->span_count ? &buffer->written[buffer->span_count - 1] : NULL;
    if (last && last->offset + last->bytes == offset) {
        last->bytes += bytes;
        return MC_OK;
    }
    if (buffer->span_count == buffer->span_room) {
        size_t room = buffer->span_room ? 2 * buffer->span_room : 4;
        proof_span *spans = realloc(buffer->written, room * sizeof *spans);
        if (!spans) return mc_fail(diag, MC_NOMEM, "out of memory");
        buffer->written = spans;
        buffer->span_room = room;
    }
    buffer->written[buffer->span_count++] = (proof_span){offset, bytes};
    return MC_OK;
}

mc_status proof_buffers_write(proof_buffers *buffers, uint64_t address, const void *data, size_t bytes,
                              mc_diag *diag) {
    proof_buffer *buffer;
    size_t offset;
    mc_status status = find_span(buffers, address, bytes, &buffer, &offset, diag);
    if (status != MC_OK) return status;
    memcpy(buffer->data + offset, data, bytes);
    return mark(buffer, offset, bytes, diag);
}

mc_status proof_buffers_fill(proof_buffers *buffers, uint64_t address, int byte, size_t bytes,
                             mc_diag *diag) {
    proof_buffer *buffer;
    size_t offset;
    mc_status status = find_span(buffers, address, bytes, &buffer, &offset, diag);
    if (status != MC_OK) return status;
    memset(buffer->data + offset, byte, bytes);
    return mark(buffer, offset, bytes, diag);
}

static bool is_whole(const proof_buffer *buffer) {
    return buffer->span_count > 0 && buffer->written[0].offset == 0 &&
           buffer->written[0].bytes == buffer->bytes;
}

mc_status proof_buffers_read(const proof_buffers *buffers, uint64_t address, void *data, size_t bytes,
                             mc_diag *diag) {
    proof_buffer *buffer;
    size_t offset;
    mc_status status = find_span(buffers, address, bytes, &buffer, &offset, diag);
    if (status != MC_OK) return status;
    if (!is_whole(buffer))
        return mc_fail(diag, MC_DEVICE, "a read from a buffer that was not written as a whole");
    memcpy(data, buffer->data + offset, bytes);
    return MC_OK;
}

/* -- Copies ----------------------------------------------------------------------------------------------- */

static mc_status copy(proof_buffer *buffer, mc_device *simulator, mc_diag *diag) {
    mc_status status = mc_device_alloc(simulator, buffer->bytes, &buffer->copy, diag);
    for (size_t i = 0; i < buffer->span_count && status == MC_OK; i++) {
        const proof_span *span = &buffer->written[i];
        status = mc_device_write(simulator, buffer->copy + span->offset, buffer->data + span->offset,
                                 span->bytes, diag);
    }
    return status;
}

mc_status proof_buffers_copy(proof_buffers *buffers, mc_device *simulator, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < buffers->count && status == MC_OK; i++)
        status = copy(&buffers->items[i], simulator, diag);
    return status;
}

void proof_buffers_drop_copy(proof_buffers *buffers, mc_device *simulator) {
    for (size_t i = 0; i < buffers->count; i++) {
        mc_device_free(simulator, buffers->items[i].copy);
        buffers->items[i].copy = 0;
    }
}

mc_status proof_buffers_take_back(proof_buffers *buffers, mc_device *simulator, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < buffers->count && status == MC_OK; i++) {
        proof_buffer *buffer = &buffers->items[i];
        if (is_whole(buffer))
            status = mc_device_read(simulator, buffer->copy, buffer->data, buffer->bytes, diag);
    }
    return status;
}

uint64_t proof_buffers_copied(const proof_buffers *buffers, uint64_t value) {
    const proof_buffer *buffer = proof_buffers_find(buffers, value);
    return buffer ? buffer->copy + (value - buffer->base) : value;
}

/* -- Hashes ----------------------------------------------------------------------------------------------- */

void proof_buffers_add(const proof_buffers *buffers, proof_hash *hash) {
    proof_hash_number(hash, buffers->count);
    for (size_t i = 0; i < buffers->count; i++) {
        const proof_buffer *buffer = &buffers->items[i];
        proof_hash_add(hash, buffer->data, buffer->bytes);
        proof_hash_add(hash, buffer->written, buffer->span_count * sizeof *buffer->written);
    }
}

void proof_buffers_add_value(const proof_buffers *buffers, proof_hash *hash, uint64_t value) {
    const proof_buffer *buffer = proof_buffers_find(buffers, value);
    proof_hash_number(hash, buffer ? (uint64_t)(buffer - buffers->items) + 1 : 0);
    proof_hash_number(hash, buffer ? value - buffer->base : value);
}
