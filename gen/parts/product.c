#include "parts/product.h"

int gemm_residual_load(const gemm_problem *p, int store) {
    return store > 1 && p->align >= store * out_residual_bytes(&p->output) ? store : 1;
}

gemm_batch gemm_batch_of(const gemm_problem *p) {
    static const mc_batch_array arrays[] = {
        {"a", "a_stride", "elements from one product's A to the next's", 0},
        {"b", "b_stride", "elements from one product's B to the next's", 0},
        {"c", "c_stride", "elements from one product's C to the next's", 0},
        {"residual", "r_stride", "elements from one product's residual to the next's", 0}};
    const int bits[] = {p->sparse ? 0 : side_value_bits(p->lhs.type), side_value_bits(p->rhs.type),
                        out_element_bits(p->output.element), 8 * out_residual_bytes(&p->output)};
    gemm_batch batch = {.count = 0};
    for (size_t i = 0; i < GEMM_BATCH_ARRAYS; i++) {
        if (bits[i] == 0) continue;
        batch.arrays[batch.count] = arrays[i];
        batch.arrays[batch.count++].bits = bits[i];
    }
    return batch;
}
