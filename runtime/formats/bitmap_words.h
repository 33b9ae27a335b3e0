/* What bitmap-bcrs and bitmap-tiles have in common: words of 32 bits, one for each column, and which matrices
   they hold. */
#ifndef MCRT_BITMAP_WORDS_H
#define MCRT_BITMAP_WORDS_H

#include "formats/slots.h"
#include "parts/bitmap.h"

/* The bits of the 32 columns before END, whose vectors are those from *VECTOR on that come before LAST.
   *VECTOR becomes the next one. */
static inline uint32_t bitmap_take_word(const int32_t *col_idx, int64_t end, int64_t last, int64_t *vector) {
    uint32_t bits = 0;
    int64_t v = *vector;
    for (; v < last && col_idx[v] < end; v++) bits |= (uint32_t)1 << col_idx[v] % BITMAP_WORD;
    *vector = v;
    return bits;
}

/* The way back: COL_IDX receives the columns of word W, of which there are so many as is returned. */
static inline int bitmap_put_columns(uint32_t bits, int64_t w, int32_t *col_idx) {
    int count = 0;
    for (; bits != 0; bits &= bits - 1) col_idx[count++] = (int32_t)(w * BITMAP_WORD + __builtin_ctz(bits));
    return count;
}

/* The bits that word W of a row block of COLS columns may have. */
static inline uint32_t bitmap_word_columns(int64_t cols, int64_t w) {
    const int64_t left = cols - w * BITMAP_WORD;
    if (left >= BITMAP_WORD) return UINT32_MAX;
    return left > 0 ? ((uint32_t)1 << left) - 1 : 0;
}

/* MC_CANNOT where FORMAT does not hold elements of TYPE in vectors of VEC. */
mc_status bitmap_check_elements(const char *format, mc_type type, int vec, mc_diag *diag);
/* MC_CANNOT where numbers of VECTORS vectors leave s32. */
mc_status bitmap_check_vectors(int64_t vectors, mc_diag *diag);

#endif
