/* How long a work's matrix takes to be packed where it lies in device memory, as plans have it there
   (docs/matrices.md). */
#ifndef BENCH_DEVICE_PACKING_H
#define BENCH_DEVICE_PACKING_H

#include "work.h"

/* Microseconds on the wall until the GPU is done, medians. Members are 0 where that cannot be done. */
typedef struct device_packing_time {
    double matrix; /* CSR's arrays, or BCRS's, become a matrix: they are checked and copied */
    double pack;   /* the matrix is packed */
} device_packing_time;

/* What is kept between the sizes and groups of a work. */
typedef struct device_packing {
    const work *of; /* NULL: nothing is */
    mc_matrix *matrix;
    double matrix_us;
    double *pack_us; /* of each group of variants; less than 0: not measured yet */
} device_packing;

/* Measures GROUP of WORK's variants, unless it has been. What is packed is compared with the host's:
   MC_MISMATCH where it differs. */
mc_status device_packing_measure(device_packing *kept, gpu_device *gpu, const variant_list *variants,
                                 const work *work, size_t group, device_packing_time *time, mc_diag *diag);
void device_packing_forget(device_packing *kept, gpu_device *gpu);

#endif
