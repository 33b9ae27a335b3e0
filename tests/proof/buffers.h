/* Device memory that is kept here until a launch is simulated: then the simulator gets a copy. */
#ifndef TESTS_PROOF_BUFFERS_H
#define TESTS_PROOF_BUFFERS_H

#include "device/device.h"
#include "key.h"

typedef struct proof_span {
    size_t offset, bytes;
} proof_span;

typedef struct proof_buffer {
    uint64_t base;
    size_t bytes;
    unsigned char *data;
    proof_span *written; /* in the order of writing; neighbours are one */
    size_t span_count, span_room;
    uint64_t copy; /* its address on a simulator, 0: none */
} proof_buffer;

typedef struct proof_buffers {
    proof_buffer *items; /* in the order in which they were made */
    size_t count, room;
    uint64_t next; /* address */
} proof_buffers;

void proof_buffers_clear(proof_buffers *buffers);
mc_status proof_buffers_alloc(proof_buffers *buffers, size_t bytes, uint64_t *address, mc_diag *diag);
void proof_buffers_free(proof_buffers *buffers, uint64_t address);
mc_status proof_buffers_write(proof_buffers *buffers, uint64_t address, const void *data, size_t bytes,
                              mc_diag *diag);
mc_status proof_buffers_fill(proof_buffers *buffers, uint64_t address, int byte, size_t bytes, mc_diag *diag);
mc_status proof_buffers_read(const proof_buffers *buffers, uint64_t address, void *data, size_t bytes,
                             mc_diag *diag);
/* The buffer that ADDRESS points into, or just behind; NULL: none. */
proof_buffer *proof_buffers_find(const proof_buffers *buffers, uint64_t address);

/* -- On a simulator: what was never written here is not there either */

mc_status proof_buffers_copy(proof_buffers *buffers, mc_device *simulator, mc_diag *diag);
void proof_buffers_drop_copy(proof_buffers *buffers, mc_device *simulator);
/* Reads back the copies of buffers that were written as a whole. */
mc_status proof_buffers_take_back(proof_buffers *buffers, mc_device *simulator, mc_diag *diag);
/* VALUE, or, if it points into a buffer, where that is in the copy. */
uint64_t proof_buffers_copied(const proof_buffers *buffers, uint64_t value);

/* -- Hashes */

/* Of all buffers: size, which bytes were written, what they hold. */
void proof_buffers_add(const proof_buffers *buffers, proof_hash *hash);
/* Of VALUE, or, if it points into a buffer, of which one that is, and where into it. */
void proof_buffers_add_value(const proof_buffers *buffers, proof_hash *hash, uint64_t value);

#endif
