/* Products of what ldmatrix.trans gives of rows of B in the ring: four matrices of 8 slots and 8 columns. It
   moves elements of 16 bits, so that they are operands as they are. With 16 columns of B as the mma's rows
   all four are its operand A: two beside one another, then the same of the next 8 slots. Where vectors have
   16 rows these are the mma's rows, and two matrices of the same 8 columns, 16 slots, are its operand B. */
#include "ops/spmm/real/products.h"

spmm_pairs real_pairs_begin(spmm_sums *sums, int loads) { return (spmm_pairs){.sums = sums, .loads = loads}; }

void real_pairs_multiply(const spmm_pairs *p, int half, mc_reg matrix[][4], const mc_reg *value, int step) {
    bool tall = spmm_is_tall(p->sums->of);
    note(p->sums->b, "multiply slots %d..%d", 16 * half, 16 * half + 15);
    for (int q = 0; q < p->loads; q++) {
        const mc_reg *m = matrix[q];
        if (!tall) real_emit_mma(p->sums, m, value, q);
        for (int i = 0; tall && i < 2; i++) real_emit_tall_mma(p->sums, value, step, m + 2 * i, 2 * q + i);
    }
}

void real_pairs_add_bias(const spmm_pairs *p, const mc_reg *value) { (void)p, (void)value; }
