/* Which mma multiplies which digits, by the signs of its operands: [A signed][B signed]. */
#include "parts/integer/integer.h"

mc_opcode mma_int8(bool a_signed, bool b_signed) {
    static const mc_opcode ops[2][2] = {{OP_mma_u8, OP_mma_u8_s8}, {OP_mma_s8_u8, OP_mma_s8}};
    return ops[a_signed][b_signed];
}

mc_opcode mma_int8_sparse(bool a_signed, bool b_signed) {
    static const mc_opcode ops[2][2] = {{OP_mma_sp_u8, OP_mma_sp_u8_s8}, {OP_mma_sp_s8_u8, OP_mma_sp_s8}};
    return ops[a_signed][b_signed];
}

mc_opcode mma_int8_small(bool a_signed, bool b_signed) {
    static const mc_opcode ops[2][2] = {{OP_mma_small_u8, OP_mma_small_u8_s8},
                                        {OP_mma_small_s8_u8, OP_mma_small_s8}};
    return ops[a_signed][b_signed];
}

mc_opcode mma_int4(int depth, bool a_signed, bool b_signed) {
    static const mc_opcode ops[2][2][2] = {
        {{OP_mma_u4_k32, OP_mma_u4_s4_k32}, {OP_mma_s4_u4_k32, OP_mma_s4_k32}},
        {{OP_mma_u4_k64, OP_mma_u4_s4_k64}, {OP_mma_s4_u4_k64, OP_mma_s4_k64}}};
    return ops[depth == 64][a_signed][b_signed];
}

mc_opcode mma_int4_small(bool a_signed, bool b_signed) {
    static const mc_opcode ops[2][2] = {{OP_mma_small_u4, OP_mma_small_u4_s4},
                                        {OP_mma_small_s4_u4, OP_mma_small_s4}};
    return ops[a_signed][b_signed];
}
