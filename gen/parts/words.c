#include "parts/words.h"
#include "parts/emit.h"

enum { SIZES = 5 /* 1, 2, 4, 8 and 16 bytes */ };

static const mc_opcode loads[][SIZES] = {
    [WORDS_GLOBAL] = {OP_ldg_u8, OP_ldg_u16, OP_ldg_b32, OP_ldg_v2, OP_ldg_v4},
    [WORDS_RELAXED] = {OP_ldr_u8, OP_ldr_u16, OP_ldr_b32, OP_ldr_v2, OP_ldr_v4},
    [WORDS_SHARED] = {OP_lds_u8, OP_lds_u16, OP_lds_b32, OP_lds_v2, OP_lds_v4},
};
static const mc_opcode stores[][SIZES] = {
    [WORDS_GLOBAL] = {OP_stg_b8, OP_stg_b16, OP_stg_b32, OP_stg_v2, OP_stg_v4},
    [WORDS_SHARED] = {OP_sts_b8, OP_sts_b16, OP_sts_b32, OP_sts_v2, OP_sts_v4},
};

static mc_operand registers(const mc_reg *words, int bytes) {
    return operand_vector(words, bytes > WORD ? bytes / WORD : 1);
}

void emit_load_words(mc_builder *b, mc_reg guard, words_memory memory, int bytes, const mc_reg *to,
                     mc_operand from) {
    builder_emit(b, guard, loads[memory][log2_of(bytes)], MC_OPERANDS(registers(to, bytes), from));
}

void emit_store_words(mc_builder *b, mc_reg guard, words_memory memory, int bytes, mc_operand to,
                      const mc_reg *from) {
    builder_emit(b, guard, stores[memory][log2_of(bytes)], MC_OPERANDS(to, registers(from, bytes)));
}
