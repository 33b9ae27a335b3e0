/* Bytes of four registers become four bytes of one column each. */
#ifndef MC_TRANSPOSE_H
#define MC_TRANSPOSE_H

#include "parts/emit.h"

/* Sets PAIR, bytes of two words alternately: words 0 and 1 make PAIR[0], with bytes 0 and 1 of both, and
   PAIR[1], with bytes 2 and 3. Words 2 and 3 make the others. */
void emit_pair_bytes(mc_builder *b, const mc_reg pair[4], const mc_reg word[4]);
/* Sets column[c] to byte c of each of four words: a 4 x 4 byte transpose, in 8 prmt. PAIR is scratch. */
void emit_transpose_bytes(mc_builder *b, const mc_reg pair[4], const mc_reg word[4], const mc_reg column[4]);
/* Sets COLUMN to byte BYTE, 0 or 1, of each of four registers, STEP apart. Of PAIR two are scratch. */
void emit_join_bytes(mc_builder *b, const mc_reg pair[2], const mc_reg *element, int step, int byte,
                     mc_reg column);

#endif
