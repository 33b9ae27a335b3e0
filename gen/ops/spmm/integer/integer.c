/* The integers' arithmetic, as a table. */
#include "ops/spmm/integer/products.h"

static const spmm_emitters emitters = {
    .begin = integer_sums_begin,
    .declare = integer_sums_declare,
    .zero = integer_sums_zero,
    .begin_rounds = integer_sums_begin_rounds,
    .end_stride = integer_sums_end_stride,
    .settle = integer_sums_settle,
    .gathered_declare = integer_gathered_declare,
    .gathered_multiply = integer_gathered_multiply,
    .gathered_note = integer_gathered_note,
    .gathered_join = integer_gathered_join,
    .gathered_multiply_joined = integer_gathered_multiply_joined,
    .pairs_begin = integer_pairs_begin,
    .pairs_multiply = integer_pairs_multiply,
    .pairs_add_bias = integer_pairs_add_bias,
};

const spmm_arithmetic_kind spmm_integers = {
    .plan = integer_plan,
    .check = integer_check,
    .check_gathered = integer_check_gathered,
    .check_pairs = integer_check_pairs,
    .values = integer_values,
    .value_rows = integer_value_rows,
    .mma_row = integer_mma_row,
    .mma_rows = integer_mma_rows,
    .mma_count = integer_mma_count,
    .pair_mma_count = integer_pair_mma_count,
    .mma_turns = integer_mma_turns,
    .b_doc = integer_b_doc,
    .values_doc = integer_values_doc,
    .mma_doc = integer_mma_doc,
    .strided_format = integer_strided_format,
    .mma_suffix = integer_mma_suffix,
    .permutes_slots = integer_permutes_slots,
    .way = integer_way,
    .sums_contract = integer_sums_contract,
    .k_limit = integer_k_limit,
    .facts = integer_facts,
    .emit = &emitters,
};
