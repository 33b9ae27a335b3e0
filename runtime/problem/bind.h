/* A kernel's contract and a problem's numbers become a launch. */
#ifndef MCRT_BIND_H
#define MCRT_BIND_H

#include "device/device.h"
#include "formats/pack.h"

/* A value for a parameter of the contract. Arrays by device address, shapes by number, scalars (f32) by their
   bits. */
typedef struct mc_binding {
    const char *name;
    int64_t value;
} mc_binding;

MC_API mc_binding mc_bind_f32(const char *name, float value);

/* Sets TENSOR to what map INDEX of KERNEL's contract is of, by the array and shapes that are bound. MC_CANNOT
   where the array's address or leading dimension is not aligned for it. */
MC_API mc_status mc_bind_tensor(const mc_kernel *kernel, size_t index, const mc_binding *bindings,
                                size_t count, mc_tensor *tensor, mc_diag *diag);
/* Makes all maps of KERNEL's contract, and appends bindings for them to the COUNT that there are. BINDINGS
   has room for MC_MAX_MAPS more. MAPS must live as long as launches with them. */
MC_API mc_status mc_bind_maps(mc_device *device, const mc_kernel *kernel, mc_binding *bindings, size_t *count,
                              mc_tensor_map maps[MC_MAX_MAPS], mc_diag *diag);

/* Bytes on the device that the array MC_WORKSPACE of KERNEL has, with the matrix PACKED for it, for BATCH
   products (0: one) of N columns; 0: there is none, or this matrix needs none, and 0 may be bound. */
MC_API size_t mc_workspace_bytes(const mc_kernel *kernel, const mc_packed *packed, int64_t n, int64_t batch);

/* Fills LAUNCH for KERNEL: the grid from the shapes, parameters by name. MC_CANNOT where a binding is
   missing, a fixed shape differs, an address misses its alignment, a shape leaves s32, or the grid leaves the
   hardware's limits. These must be bound: those of m, n, k, lda, ldb, ldc that the kernel's family has; every
   array of the contract; every parameter but the pass (so item_count, mc_sampled_items); what the grid is
   made of (so window_items, mc_sampled_longest). "multiprocessors" may be bound, for kernels whose thread
   blocks take their work in turn. */
MC_API mc_status mc_bind(const mc_kernel *kernel, const mc_binding *bindings, size_t count, mc_launch *launch,
                         mc_diag *diag);

/* MC_CANNOT, as mc_bind says it, where VALUE of C's shape is beyond C's limit. */
MC_API mc_status mc_bind_check_limit(const mc_constraint *c, int64_t value, mc_diag *diag);

#endif
