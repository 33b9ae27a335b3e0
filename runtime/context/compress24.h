/* 2:4 matrices made on the device: the kernels of the family compress24 (gen/ops/compress24). */
#ifndef MCRT_COMPRESS24_H
#define MCRT_COMPRESS24_H

#include "context/device_work.h"
#include "matrix/sparse24_choose.h"

/* Room on WORK's stream for the report of a kernel (gen/parts/compress24.h); then what such a one has said,
   into the second part of FULL: -1 for row and group where nobody asked for the first one. */
mc_status compress24_start_report(device_work *work, mc_address *address, mc_diag *diag);
mc_status compress24_read_report(const device_work *work, mc_address address, full_groups *full,
                                 mc_diag *diag);

/* Microseconds of a launch in a graph of many, warm: of the kernel for CONFIG, and of one that moves as
   many bytes in the same way and compresses nothing. Both write to CONFIG's arrays, where in the end the
   compressed matrix is. MC_CANNOT on the simulator. */
typedef struct compress24_times {
    double compress, copy;
    int64_t bytes; /* that are read and written */
} compress24_times;

mc_status compress24_time(mc_context *context, const mc_compress24_config *config, compress24_times *times,
                          mc_diag *diag);

#endif
