/* What launching takes, and what --describe says of it. */
#include <stdio.h>
#include "ops/compress24/compress24.h"

static void add_array_of(mc_contract *c, const char *name, int align, const char *doc) {
    add_param(c, (mc_param){name, "u64", MC_PARAM_ARRAY, (unsigned)align, doc});
}

static void add_layout(const compress24_plan *plan, mc_contract *c) {
    if (plan->layout == COMPRESS24_PACKED) return;
    add_shape(c, "pieces", MC_OPEN, "pieces of 32 bytes of a row of A, the last one filled up");
    add_shape(c, "values_pitch", MC_OPEN, "bytes from a row of values to the next, a multiple of 16");
    if (plan->layout == COMPRESS24_NATURAL) {
        add_shape(c, "meta_pitch", MC_OPEN, "bytes from a row of metadata to the next, a multiple of 4");
        return;
    }
    add_shape(c, "atoms", MC_OPEN, "atoms of metadata one below the other");
    add_shape(c, "meta_pieces", MC_OPEN, "pieces of a row, filled up to whole atoms");
}

static void add_slabs(mc_contract *c, const char *doc) {
    add_shape(c, "items", MC_OPEN, doc);
    c->grid[0] = (mc_grid_axis){"items", 1};
    c->grid[1] = c->grid[2] = (mc_grid_axis){NULL, 1};
    c->block[0] = COMPRESS24_THREADS, c->block[1] = c->block[2] = 1;
}

void compress24_contract(const void *data, mc_contract *c) {
    const compress24_plan *plan = data;
    const bool packed = plan->layout == COMPRESS24_PACKED;
    add_array_of(c, "a", plan->element.bytes,
                 has_pairs(plan) ? "A, [rows][ld bytes], two elements a byte" : "A, [rows][ld]");
    add_array_of(c, "values", PIECE_VALUES,
                 packed ? "values of packed24, which the kernel writes"
                        : "[rows][values_pitch bytes], what is kept, which the kernel writes");
    add_array_of(c, "meta", packed ? packed24_words(plan->element.bytes) * WORD : WORD,
                 "metadata, which the kernel writes");
    add_array_of(
        c, "report", 16,
        "64 slots of 16 bytes, zeros, to which the kernel adds how many groups have more nonzeros than "
        "may be kept, and, unless it prunes, which is the first (gen/parts/compress24.h)");
    add_shape(c, "rows", MC_OPEN, "rows of A");
    add_shape(c, "cols", MC_OPEN, "columns of A");
    add_shape(c, "ld", MC_OPEN,
              has_pairs(plan) ? "bytes from one row of A to the next"
                              : "elements from one row of A to the next");
    add_shape(c, "steps", MC_OPEN, "slabs of 256 bytes of a row, at least 1");
    add_layout(plan, c);
    add_slabs(c,
              packed ? "slabs of 64 rows by 256 bytes, and one of zeros" : "slabs of 64 rows by 256 bytes");
}

void compress24_pattern_contract(const void *data, mc_contract *c) {
    const compress24_plan *plan = data;
    add_array_of(c, "offsets", WORD, "s32[rows + 1], the first nonzero of each row");
    add_array_of(c, "columns", WORD, "s32[nonzeros], which ascend in a row");
    add_array_of(c, "meta", packed24_words(plan->element.bytes) * WORD, "metadata, which the kernel writes");
    add_array_of(
        c, "vectors", elements_in(plan, 2 * plan->element.bytes) * WORD,
        "s32[slabs][64][kept elements of a row], the number of each one's nonzero; -1: it is a zero; "
        "which the kernel writes");
    add_array_of(c, "report", 16,
                 has_pairs(plan)
                     ? "64 slots of 16 bytes, zeros, to which the kernel adds how many groups have "
                       "nonzeros in more than two pairs (gen/parts/compress24.h)"
                     : "64 slots of 16 bytes, zeros, to which the kernel adds how many groups have "
                       "more than two nonzeros (gen/parts/compress24.h)");
    add_shape(c, "rows", MC_OPEN, "rows");
    add_shape(c, "steps", MC_OPEN, "slabs of a row, at least 1");
    add_slabs(c, "slabs of 64 rows, and one of zeros");
}
