/* A layer of a pruned network as the programs here run it through mcrt.h: random weights at some sparsity,
   operands on the device, and the result that is right to the bit. */
#ifndef TESTS_GPU_LAYER_H
#define TESTS_GPU_LAYER_H

#include "mcrt_internal.h"

typedef struct layer_shape {
    mc_op op;
    mc_type lhs, rhs, out;
    int vec;
    int64_t m, n, k; /* m: of A or the mask */
    double sparsity;
    mc_per scale;
} layer_shape;

typedef struct layer {
    layer_shape shape;
    mc_context *context;
    mc_vsparse host;     /* A, or the mask */
    mc_dense a, b, want; /* a: of an SDDMM */
    float *scale;
    mc_matrix *matrix;
    mc_address device_a, device_b, device_c, device_scale;
    size_t c_bytes;
    unsigned char *got;
} layer;

/* The caller closes also after a failure. With the matrix alone, of any values, plans can be made. */
mc_status layer_open_matrix(layer *l, mc_context *context, const layer_shape *shape, uint64_t seed,
                            mc_diag *diag);
mc_status layer_open(layer *l, mc_context *context, const layer_shape *shape, uint64_t seed, mc_diag *diag);
void layer_close(layer *l);

mc_plan_config layer_plan(const layer *l);
mc_args layer_args(const layer *l);
/* Fills C with what no kernel leaves there. */
mc_status layer_poison(const layer *l, mc_diag *diag);
/* MC_MISMATCH where C on the device is not what it has to be. */
mc_status layer_check(layer *l, mc_diag *diag);
/* New random values: on the device by mc_matrix_set_values, and what is right then. */
mc_status layer_change_values(layer *l, uint64_t seed, void *stream, mc_diag *diag);

#endif
