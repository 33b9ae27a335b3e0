/* 2:4 matrices made on the device: the kernels of the family compress24 (gen/ops/compress24). */
#ifndef MCRT_COMPRESS24_H
#define MCRT_COMPRESS24_H

#include "context/device_work.h"

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
