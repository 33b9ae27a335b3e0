/* How other programs lay metadata of sparse tensor cores out (docs/sparse24.md). */
#ifndef MCRT_SPARSE24_LAYOUT_H
#define MCRT_SPARSE24_LAYOUT_H

#include "matrix/sparse24.h"

/* A layout for one type. Rows and groups are cut into atoms of `rows` x `groups` codes, the last ones
   filled up. An atom's codes are neighbours in memory, and offset[row * groups + group] is where in it a
   code lies. The atoms of the matrix follow each other: with rows_first one below the other, then those of
   the next groups; else row by row. Code i of memory has the bits 4 * (i mod 2) and up of byte i / 2, so
   that in a word of `word_bits` the lower codes have the lower bits. */
typedef struct mc_meta_layout {
    int word_bits; /* 8, 16 or 32 */
    bool rows_first;
    int rows, groups;
    int32_t *offset;
} mc_meta_layout;

enum { MC_META_TILE_K = 128, MC_META_MOST_CODES = 1 << 20 };

/* The layout NAME for values of TYPE. TILE_K is the tile of CUTLASS's kernel for sm_90, of which it takes
   at most MC_META_TILE_K elements; other layouts do not look at it. MC_USAGE for an unknown name, with all
   that are known, and for a TILE_K that is no multiple of what one wgmma takes; MC_CANNOT for a type that
   the layout does not have. The call creates OUT. */
MC_API mc_status mc_meta_layout_named(const char *name, mc_type type, int64_t tile_k, mc_meta_layout *out,
                                      mc_diag *diag);
/* A layout by a table: element [row][group] of TABLE, of integers, is the offset of that code in an atom as
   large as TABLE. Its groups must fill whole words. MC_FORMAT where it does not have each offset from 0 on
   once, MC_USAGE for other words than 8, 16 and 32. */
MC_API mc_status mc_meta_layout_table(const mc_dense *table, int word_bits, bool rows_first,
                                      mc_meta_layout *out, mc_diag *diag);
MC_API void mc_meta_layout_free(mc_meta_layout *layout);

/* Name and meaning of the layouts, from INDEX 0 on; NULL behind the last one. */
MC_API const char *mc_meta_layout_name(int index);
MC_API const char *mc_meta_layout_text(int index);

/* COUNT filled up to a multiple of ATOM. */
static inline int64_t mc_meta_padded(int64_t count, int atom) { return (count + atom - 1) / atom * atom; }
/* Which code of memory that of ROW and GROUP is, in a matrix of ROWS x GROUPS codes. */
MC_API int64_t mc_meta_position(const mc_meta_layout *layout, int64_t rows, int64_t groups, int64_t row,
                                int64_t group);

/* Room for the metadata of S, of which rows, cols and the type of the values count, in LAYOUT: all codes
   are 4. The call creates OUT. */
MC_API mc_status mc_meta_create(const mc_sparse24 *s, const mc_meta_layout *layout, mc_dense *out,
                                mc_diag *diag);
/* The metadata of S in LAYOUT: words in u8, s16 or s32, padded rows x (padded groups * 4 / word_bits).
   Codes of the padding are 4. The call creates OUT. */
MC_API mc_status mc_meta_export(const mc_sparse24 *s, const mc_meta_layout *layout, mc_dense *out,
                                mc_diag *diag);
/* The way back: META becomes s->meta, for which S has rows, cols and values. META is of integers as wide as
   LAYOUT's words, and of the size that mc_meta_export gives, in any shape; else it is MC_FORMAT. Whether
   codes are legal, mc_sparse24_decompress looks. On failure S is as before. */
MC_API mc_status mc_meta_import(const mc_dense *meta, const mc_meta_layout *layout, mc_sparse24 *s,
                                mc_diag *diag);

#endif
