/* What this GPU can do at most, measured in the same run by small kernels of our own. */
#ifndef BENCH_CEILINGS_H
#define BENCH_CEILINGS_H

#include <jansson.h>
#include "gpu.h"

enum { CEILING_FOOTPRINTS = 6 };

/* Rates in bytes, or int8 multiply-adds, a microsecond. */
typedef struct ceilings {
    double launch_us;                      /* an empty kernel inside a graph */
    double footprints[CEILING_FOOTPRINTS]; /* bytes, ascending */
    double gather[CEILING_FOOTPRINTS];     /* random rows of 128 bytes into registers, 16 bytes a lane */
    double copy[CEILING_FOOTPRINTS];       /* read and written together; the footprint is both */
    double shared;                         /* conflict-free 16-byte loads */
    double mma_s8;                         /* mma.sync.m16n8k32.s8, chains apart */
} ceilings;

mc_status ceilings_measure(gpu_device *gpu, ceilings *ceilings, mc_diag *diag);
/* A rate at FOOTPRINT bytes: between two measured footprints in proportion to the logarithm. */
double ceiling_at(const ceilings *ceilings, const double *rates, double footprint);

json_t *ceilings_json(const ceilings *ceilings); /* NULL: out of memory */

#endif
