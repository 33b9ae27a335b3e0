/* The family `spmm`: words that papers and other kernels use for what its fields do. */
#include "ops/spmm/fields.h"

const mc_hint spmm_hints[] = {
    {" tile_m tile_rows block_m bm bsm bs_m row_tile ",
     "a thread block has vec * warps / split rows of C: set warps and split"},
    {" tile_k block_k bk bsk bs_k k_tile ",
     "a warp takes `stride` nonzero vectors at a time, whatever k is: set stride"},
    {" block_n bn bsn bs_n n_tile ", "columns of C that a thread block has are tile_n"},
    {" precision precisions dtype type bits ",
     "lhs and rhs are the types of A and B (L16-R4: lhs = \"s16\", rhs = \"s4\"), out is that of C"},
    {" lhs_bits lhs_precision lhs_type precision_lhs a_type type_a ",
     "lhs is the type of A's values: lhs = \"s8\""},
    {" rhs_bits rhs_precision rhs_type precision_rhs b_type type_b ", "rhs is the type of B: rhs = \"s8\""},
    {" out_type c_type type_c ", "out is the type of C: out = \"f16\""},
    {" v vector vector_length vec_length vec_len ", "vec is V, the rows of a nonzero vector"},
    {" num_warps nwarps warps_per_block ", "warps is how many multiply"},
    {" threads num_threads block_size ", "a thread block has 32 threads a warp: set warps"},
    {" num_stages pipeline pipeline_stages double_buffer ",
     "stages are the windows that the ring of staging \"tma\" or \"async\" holds; prefetch is the gather "
     "kernel's"},
    {" prefetch_rhs prefetch_lhs prefetch_b prefetch_a ",
     "prefetch is for both sides; --help spmm says what it loads ahead with each staging"},
    {" split_k splitk k_split ", "split is how many warps share a row block's nonzero vectors"},
    {" method kernel algorithm ", "staging says how rows of B reach the mma, and so which kernel it is"},
    {" smem shared shared_memory ", "staging = \"shared\" takes rows of B through shared memory"},
    {" balanced ", "digits = \"balanced\""},
    {" stack stacked stack_digits mma_stacking ", "stacking = true"},
    {" shuffle_indices index_shuffle indices_shuffle ", "shuffle = true"},
    {" pad conflict_free bank_conflict_free ", "padding = true, with staging = \"shared\""},
    {" exact accumulator acc ", "sum = \"exact\" has sums in 64 bits"},
    {" relu activation ", "act = \"relu\""},
    {0},
};
