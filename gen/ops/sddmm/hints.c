/* The family `sddmm`: words that papers and other kernels use for what its fields do. */
#include "ops/sddmm/fields.h"

const mc_hint sddmm_hints[] = {
    {" tile_m block_m bm bsm bs_m row_tile ",
     "a warp computes vectors of one row block, vec rows: set vec; tile_rows is for method = \"dense\""},
    {" block_n bn bsn bs_n n_tile ",
     "a warp computes up to 16 * groups vectors: set groups; tile_n is for method = \"dense\""},
    {" block_k bk bsk bs_k k_tile ", "tile_k is how much of k a warp takes at once"},
    {" precision precisions dtype type bits ",
     "lhs and rhs are the types of A and B (L16-R8: lhs = \"s16\", rhs = \"s8\"), out is that of C"},
    {" lhs_bits lhs_precision lhs_type precision_lhs a_type type_a ", "lhs is the type of A: lhs = \"s8\""},
    {" rhs_bits rhs_precision rhs_type precision_rhs b_type type_b ", "rhs is the type of B: rhs = \"s8\""},
    {" out_type c_type type_c ", "out is the type of C: out = \"f16\""},
    {" v vector vector_length vec_length vec_len ", "vec is V, the rows of a nonzero vector"},
    {" stride strides format ", "order says how C lies: \"srbcrs16\" in strides of 16 vectors"},
    {" num_warps nwarps warps_per_block ", "warps is how many a thread block has"},
    {" threads num_threads block_size ", "a thread block has 32 threads a warp: set warps"},
    {" prefetch_rhs prefetch_b ", "prefetch is that of B, prefetch_lhs that of A"},
    {" prefetch_a ", "prefetch_lhs is that of A"},
    {" staging kernel algorithm ",
     "method says how columns of B reach the mma, lhs_in where a warp keeps its rows of A"},
    {" smem shared shared_memory ",
     "lhs_in = \"shared\" keeps rows of A in shared memory, method = \"window\" columns of B"},
    {" trans_b transb transpose_b b_layout ", "layout = \"columns\" or \"rows\" says how B lies"},
    {" alpha ", "scale = \"tensor\", with out = \"f16\", \"bf16\" or \"f32\""},
    {0},
};
