/* Products of what ldmatrix.trans gives of rows of B in the ring: four matrices of 8 slots and 8 columns, those
   of the same slots beside one another. It moves elements of 16 bits, so that they are an mma's operand A as
   they are, with 16 columns of B as the mma's rows. Where vectors have 16 rows these are the mma's rows, and
   each 8 columns of B, two of the matrices, its operand B. */
#include "ops/spmm/real/products.h"

spmm_pairs real_pairs_begin(spmm_sums *sums, int loads) { return (spmm_pairs){.sums = sums, .loads = loads}; }

void real_pairs_multiply(const spmm_pairs *p, int half, mc_reg matrix[][4], const mc_reg *value, int step) {
    bool tall = spmm_is_tall(p->sums->of);
    note(p->sums->b, "multiply slots %d..%d", 16 * half, 16 * half + 15);
    for (int q = 0; q < p->loads; q++) {
        const mc_reg *m = matrix[q], left[2] = {m[0], m[2]}, right[2] = {m[1], m[3]};
        if (!tall) real_emit_mma(p->sums, m, value, q);
        if (tall) real_emit_tall_mma(p->sums, value, step, left, 2 * q);
        if (tall) real_emit_tall_mma(p->sums, value, step, right, 2 * q + 1);
    }
}

void real_pairs_add_bias(const spmm_pairs *p, const mc_reg *value) { (void)p, (void)value; }
