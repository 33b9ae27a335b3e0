/* Products of what ldmatrix.trans gives of rows of B in the ring. It moves elements of 16 bits, so that a
   matrix of 16 slots and 16 columns is an mma's operand A as it is. */
#include "ops/spmm/real/products.h"

spmm_pairs real_pairs_begin(spmm_sums *sums, int loads) { return (spmm_pairs){.sums = sums, .loads = loads}; }

void real_pairs_multiply(const spmm_pairs *p, int half, mc_reg matrix[][4], const mc_reg *value, int step) {
    (void)step;
    note(p->sums->b, "multiply slots %d..%d", 16 * half, 16 * half + 15);
    for (int q = 0; q < p->loads; q++) real_emit_mma(p->sums, matrix[q], value, q);
}

void real_pairs_add_bias(const spmm_pairs *p, const mc_reg *value) { (void)p, (void)value; }
