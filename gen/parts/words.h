/* Neighbouring bytes in one access of memory: 1 or 2 in the low bytes of a register, 4, 8 or 16 in one, two
   or four registers. */
#ifndef MC_WORDS_H
#define MC_WORDS_H

#include "ptx/builder.h"

typedef enum words_memory {
    WORDS_GLOBAL, /* loads: of what no kernel writes meanwhile; ptxas may move them */
    WORDS_SHARED,
    WORDS_RELAXED, /* of global memory; loads alone, which stay where they stand */
} words_memory;

/* Where GUARD holds; none: always. */
void emit_load_words(mc_builder *b, mc_reg guard, words_memory memory, int bytes, const mc_reg *to,
                     mc_operand from);
/* To global or to shared memory. */
void emit_store_words(mc_builder *b, mc_reg guard, words_memory memory, int bytes, mc_operand to,
                      const mc_reg *from);

#endif
