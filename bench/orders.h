/* Where the elements of C lie. SpMM's C is row-major; SDDMM's has elements where the mask is nonzero only, in
   the order of one sparse format or another. Such an order is a list of slots, each a column of V elements of
   a row block. */
#ifndef BENCH_ORDERS_H
#define BENCH_ORDERS_H

#include "mcrt_internal.h"

typedef enum result_order {
    ORDER_ROWS, /* row-major, no slots */
    ORDER_BCRS, /* vector by vector */
    ORDER_SRBCRS16,
    ORDER_SRBCRS32, /* strides of 16 or 32 slots, row by row in each; row blocks are padded to strides */
    ORDER_CSR,      /* row by row */
    ORDER_BSR, /* blocks of V x V, row-major: a block has all its columns, whether or not the mask has them */
    ORDER_COUNT
} result_order;

/* Row r of the slot lies at first + r * pitch. Four numbers, as the helper kernels read them. */
typedef struct sampled_slot {
    int32_t row_block, column; /* column -1: padding, whose elements are 0 */
    int32_t first, pitch;
} sampled_slot;

typedef struct sampled_order {
    sampled_slot *slots;
    float *
        values; /* the mask's own, at the places of the elements, 0 at padding; NULL: not asked for, or BSR */
    int64_t count, elements;
} sampled_order;

/* The slots of MASK's nonzero vectors in ORDER (any but ORDER_ROWS), and its values where VALUES is true.
   MC_CANNOT beyond 2^31 - 1 elements. */
mc_status order_make(const mc_vsparse *mask, result_order order, bool values, sampled_order *out,
                     mc_diag *diag);
void order_free(sampled_order *order);

#endif
