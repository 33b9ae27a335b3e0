/* What the runs of all families share: one launch on a device, from packing to the result in host memory. */
#ifndef MCRT_RUN_H
#define MCRT_RUN_H

#include "verify/products.h"
#include "mcgen.h"
#include "mcrt.h"

enum {
    RUN_BOUNDARY = 256,              /* device allocations start at a multiple of it */
    RUN_BUFFERS = MC_MAX_ARRAYS + 5, /* A, B, C, scales, biases */
    RUN_SHAPES = 9,                  /* and the tensor map */
};

/* A run in progress; run_close frees what it has, whatever happened. */
typedef struct device_run {
    mc_device *device;
    const mc_kernel *kernel;
    mc_output output;
    mc_packed packed;
    uint64_t buffers[RUN_BUFFERS];
    size_t buffer_count;
    uint64_t c_address; /* past its offset */
    unsigned c_offset;
    mc_binding bindings[RUN_BUFFERS + RUN_SHAPES];
    size_t binding_count;
    mc_tensor_map map;
    mc_module *module;
    mc_launch launch;
} device_run;

mc_status run_open(device_run *run, mc_device *device, const mc_kernel *kernel, mc_diag *diag);
void run_close(device_run *run);
void run_bind(device_run *run, const char *name, int64_t value);

/* -- What a problem must be: MC_CANNOT, or MC_USAGE for an offset that no address has */

/* MATRIX, called NAME ("A"), holds what the kernel's field FIELD says. */
mc_status run_check_type(const device_run *run, const char *name, const char *field, const mc_dense *matrix,
                         mc_diag *diag);
/* GIVEN is NULL where the kernel takes no factors of NAME, and only there. */
mc_status run_check_factor(mc_per per, const float *given, const char *name, mc_diag *diag);
mc_status run_check_offset(const char *name, unsigned offset, mc_diag *diag);

/* -- Into the device; each call binds the name too */

/* Packs A, or an SDDMM's mask. */
mc_status run_put_packed(device_run *run, const mc_vsparse *matrix, mc_diag *diag);
/* OFFSET past a boundary. Gaps stay unwritten on the device,
   so that the simulator stops a kernel that reads them. */
mc_status run_put_dense(device_run *run, const char *name, const mc_dense *matrix, unsigned offset,
                        mc_diag *diag);
/* Scales or biases of a product of ROWS x COLS. */
mc_status run_put_factors(device_run *run, const char *name, mc_per per, const float *values, int64_t rows,
                          int64_t cols, mc_diag *diag);
/* Room for C, OFFSET past a boundary: poisoned, and so is what lies in front and behind. */
mc_status run_put_c(device_run *run, const mc_dense *c, unsigned offset, mc_diag *diag);

/* -- The launch */

/* Elements from the first to the last, without the gap of the last row, in bytes. */
size_t run_span(const mc_dense *matrix);
/* Loads PTX, or the kernel's own where it is NULL, launches, times where TIMING asks for it, and reads C.
   MC_MISMATCH where the kernel wrote C's gap, or in front of C or behind it. */
mc_status run_launch(device_run *run, const char *ptx, mc_timing *timing, mc_dense *c, mc_diag *diag);

#endif
