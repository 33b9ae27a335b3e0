#include "parts/transpose.h"

void emit_pair_bytes(mc_builder *b, const mc_reg pair[4], const mc_reg word[4]) {
    EMIT(b, prmt, pair[0], word[0], word[1], I(0x5140));
    EMIT(b, prmt, pair[1], word[0], word[1], I(0x7362));
    EMIT(b, prmt, pair[2], word[2], word[3], I(0x5140));
    EMIT(b, prmt, pair[3], word[2], word[3], I(0x7362));
}

void emit_transpose_bytes(mc_builder *b, const mc_reg pair[4], const mc_reg word[4], const mc_reg column[4]) {
    emit_pair_bytes(b, pair, word);
    EMIT(b, prmt, column[0], pair[0], pair[2], I(0x5410));
    EMIT(b, prmt, column[1], pair[0], pair[2], I(0x7632));
    EMIT(b, prmt, column[2], pair[1], pair[3], I(0x5410));
    EMIT(b, prmt, column[3], pair[1], pair[3], I(0x7632));
}

void emit_join_bytes(mc_builder *b, const mc_reg pair[2], const mc_reg *element, int step, int byte,
                     mc_reg column) {
    static const unsigned picks[] = {0x0040, 0x0051};
    EMIT(b, prmt, pair[0], element[0], element[step], I(picks[byte]));
    EMIT(b, prmt, pair[1], element[2 * step], element[3 * step], I(picks[byte]));
    EMIT(b, prmt, column, pair[0], pair[1], I(0x5410));
}
