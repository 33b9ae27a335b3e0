/* A launch of a batch of products whose operands are made in host memory one product after another. */
#ifndef TESTS_PRODUCT_BATCH_H
#define TESTS_PRODUCT_BATCH_H

#include "problem/binding_set.h"
#include "verify/run.h"

/* The caller sets the first part. */
typedef struct product_batch {
    mc_device *device;
    const mc_kernel *kernel;
    int64_t count;
    unsigned shared; /* a bit for each operand that all products have */
    int gap; /* between operands of two products: so many of what their strides must be multiples of */

    const mc_operator *op;
    plan_problem problem;
    mc_packed packed;
    uint64_t buffers[MC_MAX_ARRAYS + MAX_OPERANDS], addresses[MAX_OPERANDS];
    size_t buffer_count;
    binding_set bindings;
    mc_tensor_map maps[MC_MAX_MAPS];
    unsigned char *c; /* all of C's memory, after the launch */
    size_t c_bytes;
} product_batch;

/* Puts the operands of product NUMBER on the device, from 0 on in their order. GIVEN is as for mc_operator_run,
   with a problem of one product. */
mc_status product_batch_put(product_batch *b, int64_t number, const mc_run *given, mc_diag *diag);
mc_status product_batch_launch(product_batch *b, mc_diag *diag);
/* C of product NUMBER; the call creates it. */
mc_status product_batch_take(product_batch *b, int64_t number, mc_dense *c, mc_diag *diag);
/* Behind the last one: MC_MISMATCH where the kernel wrote anything else. */
mc_status product_batch_end(const product_batch *b, mc_diag *diag);
void product_batch_close(product_batch *b);

#endif
