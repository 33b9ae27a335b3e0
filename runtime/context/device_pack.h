/* Packed arrays made on the device, of a pattern that lies there. Row offsets are on the host, too: sizes and
   the order of row blocks come of them. Each format that can be made so has a function here; the kernels are
   families of gen/ops/helpers.def. */
#ifndef MCRT_DEVICE_PACK_H
#define MCRT_DEVICE_PACK_H

#include "formats/slots.h"
#include "context/device_work.h"

/* A pattern, as mc_vsparse has it: columns ascend inside a row block. */
typedef struct device_pattern {
    int vec;
    int64_t rows, cols, row_blocks, vectors;
    const int64_t *row_ptr;      /* [row_blocks + 1], on the host */
    mc_address offsets, columns; /* on the device: s32[row_blocks + 1], the same, and s32[vectors] */
} device_pattern;

/* What mc_pack and mc_pack_slots would make, on the device: equal to the byte. */
typedef struct device_packed {
    mc_packed shape; /* the arrays without data: names, types, counts */
    /* Of values a row of ones (value_code), and zeros where no slot has a value; the rest is whatever was
       there until the kernel `values` writes it */
    mc_address arrays[MC_MAX_ARRAYS];
    packed_slots slots; /* without `vectors`, which lie at: */
    mc_address vectors; /* s32[groups][group] */
} device_packed;

/* The host's side of PATTERN, with values of TYPE: enough of a matrix for what its row offsets decide. It
   borrows those, and has no columns. */
mc_vsparse device_outline(const device_pattern *pattern, mc_type type);
void device_packed_free(mc_context *context, device_packed *packed);
/* Where the array NAME lies; 0: there is none. */
mc_address device_packed_at(const device_packed *packed, const char *name);
/* Puts what writes numbers into the vectors of SLOTS slots at ADDRESS: the first COUNT hold the vector of
   their number, the others none. */
mc_status device_number_slots(device_work *work, mc_address address, int64_t count, int64_t slots,
                              mc_diag *diag);
/* Of PATTERN for KERNEL, whose format is windowed-bcrs, and whose lhs is TYPE. MC_CANNOT for one whose thread
   blocks share windows (`parts`): it is packed on the host. All work is put on STREAM and
   waited for where sizes depend on it. Between context_enter and context_leave. */
mc_status device_pack_windowed(mc_context *context, const device_pattern *pattern, mc_type type,
                               const mc_kernel *kernel, void *stream, device_packed *packed, mc_diag *diag);
/* The same for strided-bcrs and strided-bcrs-int4. */
mc_status device_pack_strided(mc_context *context, const device_pattern *pattern, mc_type type,
                              const mc_kernel *kernel, void *stream, device_packed *packed, mc_diag *diag);
/* The same for packed24. MC_CANNOT for what is packed on the host: types of 32 bits, and, so that the host
   says which, groups with nonzeros in more than two elements or, of 4 bits, pairs. */
mc_status device_pack_packed24(mc_context *context, const device_pattern *pattern, mc_type type,
                               const mc_kernel *kernel, void *stream, device_packed *packed, mc_diag *diag);
/* The same for panels. MC_CANNOT for more rows or strides than its kernels count. */
mc_status device_pack_panels(mc_context *context, const device_pattern *pattern, mc_type type,
                             const mc_kernel *kernel, void *stream, device_packed *packed, mc_diag *diag);
/* The same for csr. */
mc_status device_pack_csr(mc_context *context, const device_pattern *pattern, mc_type type,
                          const mc_kernel *kernel, void *stream, device_packed *packed, mc_diag *diag);
/* Room for the arrays of PACKED's shape, and for the slots' vectors; arrays with data are copied, and have
   none afterwards. */
mc_status device_packed_create(mc_context *context, device_packed *packed, mc_diag *diag);

#endif
