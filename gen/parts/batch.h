/* Batches: one launch computes several products of one shape. The grid's z counts them. The arrays of a
 * product lie a stride behind those of the one before it; with a stride of 0 they are the same ones. Strides
 * are parameters of the kernel, in elements.
 *
 *   contract   batch_contract(c, arrays, count);    behind all other parameters
 *   emitter    batch_begin(b, arrays, count);       before the first load_array, which then moves addresses
 */
#ifndef MC_BATCH_H
#define MC_BATCH_H

#include "ptx/builder.h"
#include "schema/family.h"

/* The field of a schema that asks for a batch. */
#define BATCH_FIELD                                                                                          \
    {                                                                                                        \
        "batch", SWITCH, .quiet = true,                                                                      \
                         .doc = "on: a launch computes as many products as the grid has along z. Those of "  \
                                "one pattern, each "                                                         \
                                "with operands of its own, a stride behind those of the product before it."  \
    }

/* An array whose products lie STRIDE elements apart. An element has BITS bits: 4, or a power of two from 8
   on. */
typedef struct mc_batch_array {
    const char *array, *stride, *doc;
    int bits;
} mc_batch_array;

/* Appends the strides to the contract, and sets the grid's z. */
void batch_contract(mc_contract *c, const mc_batch_array *arrays, size_t count);
/* ARRAYS stay where they are until the kernel is emitted. */
void batch_begin(mc_builder *b, const mc_batch_array *arrays, size_t count);
/* ADDRESS, of the array NAME of the first product, becomes that of the thread block's. */
void batch_move(mc_builder *b, const char *name, mc_reg address);

#endif
