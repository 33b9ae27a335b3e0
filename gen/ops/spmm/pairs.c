/* Pairs of bytes that ldmatrix.trans brings, taken apart. A register has two slots of two bytes that stand
   beside one another. Two registers of the same bytes give four slots of each. */
#include "ops/spmm/sums.h"

void spmm_declare_joined(spmm_pairs *p, int loads) {
    mc_builder *b = p->sums->b;
    mc_reg first[4 * SPMM_MAX_LOADS];
    b32_array(b, "first", 4 * loads, first);
    for (int i = 0; i < 4 * loads; i++) p->first[i / 4][i % 4] = first[i];
    b32_array(b, "second", 4, p->second);
}

/* Where vectors have 16 rows matrices 0 and 1 are of the first piece, elsewhere 0 and 2. */
void spmm_join_bytes(const spmm_pairs *p, int half, int load, const mc_reg matrix[4],
                     const unsigned picks[2]) {
    enum { PIECES = 2 };
    const bool tall = spmm_is_tall(p->sums->of);
    const mc_reg *column = half ? p->second : p->first[load];
    for (int piece = 0; piece < PIECES; piece++)
        for (int odd = 0; odd < 2; odd++) {
            mc_reg low = matrix[tall ? 2 * piece : piece], high = matrix[tall ? 2 * piece + 1 : piece + 2];
            EMIT(p->sums->b, prmt, column[spmm_joined_of(piece, odd)], low, high, I(picks[odd]));
        }
}
