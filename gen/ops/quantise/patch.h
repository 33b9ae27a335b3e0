/* What the emitters of both solvers share: a thread's patch of A at one step, loaded, made elements of C, and
 * packed into words; and the edge path, an element at a time. */
#ifndef MC_QUANTISE_PATCH_H
#define MC_QUANTISE_PATCH_H

#include "ops/quantise/quantise.h"
#include "parts/made_name.h"

enum {
    QUANTISE_RAW = QUANTISE_MAX_ROWS * QUANTISE_UNIT / WORD,
    QUANTISE_MAX_ELEMENTS = 16,
    QUANTISE_MAX_WORDS = 32
};

/* Words of C that a patch makes, at most. */
static inline int quantise_words(const quantise_plan *plan) {
    return plan->in_bits < 8 ? QUANTISE_MAX_WORDS : QUANTISE_MAX_WORDS / 2;
}

/* Scales and zero points. `by` is what values are multiplied by: a row's, or with one for all, and by
   columns, the same for all rows. A register that is not wanted is none. */
typedef struct quantise_factors {
    mc_reg scale, zero; /* arrays' addresses, or the tensor's values */
    mc_reg by[QUANTISE_MAX_ROWS];
    /* with zero points: of a row, and what its integers are cut off at before it is added */
    mc_reg point[QUANTISE_MAX_ROWS], low[QUANTISE_MAX_ROWS], high[QUANTISE_MAX_ROWS];
    /* rounding by addition: 1.5 * 2^23, and by columns words' bits of those rows whose scales are finite;
       `row_mask` by rows all bits or none of a row */
    mc_reg magic, mask[2], row_mask[QUANTISE_MAX_ROWS];
} quantise_factors;

/* Registers for a moment. */
typedef struct quantise_scratch {
    mc_reg half, value, element[QUANTISE_MAX_ELEMENTS];
} quantise_scratch;

/* Of this thread in its block. */
typedef struct quantise_numbers {
    mc_reg thread, warp, lane;
} quantise_numbers;

typedef struct quantise_emitter {
    mc_builder *b;
    const quantise_plan *plan;
    mc_operand m, n;
    mc_reg x, c;                 /* the arrays' addresses */
    mc_reg lda_bytes, ldc_bytes; /* from row to row, 64 bits */
    quantise_numbers number;
    mc_reg row0, col0; /* the thread block's first; col0 is none where it has all columns */
    /* which of the thread blocks with these rows this is, of which the first writes the scales; none: it is
       alone */
    mc_reg share;
    quantise_factors factors;
    quantise_scratch scratch;
} quantise_emitter;

/* A thread's place, and the addresses of its patch's rows in A at step 0. */
typedef struct quantise_patch {
    mc_reg down, across, warp_down; /* of the lane in its warp, and of the warp */
    mc_reg unit;                    /* of the tile's columns */
    mc_reg row, col;                /* the first of the patch */
    mc_reg row_at[QUANTISE_MAX_ROWS];
} quantise_patch;

/* A name with a number behind it: the names of registers differ. */
made_name quantise_numbered(const char *stem, int number);
#define NTH(stem, number) (quantise_numbered(stem, number).text)

/* Parameters, shapes, the thread's numbers, and the thread block's first row. ARRAYS are
   quantise_list_batch's, and stay until all is emitted. */
void quantise_begin(quantise_emitter *e, mc_builder *b, const quantise_plan *plan,
                    const mc_batch_array *arrays);
/* Jumps to EDGE where what the wide path wants does not hold. */
void quantise_test_wide(const quantise_emitter *e, mc_label edge);

/* -- The wide path (patch.c) */

void quantise_place(const quantise_emitter *e, quantise_patch *patch);
/* Whether the patch's columns at STEP are A's: none where that is certain. */
mc_reg quantise_inside(const quantise_emitter *e, const quantise_patch *patch, int step, bool certain);
/* Loads the patch at STEP into RAW, or zeros where INSIDE is false. */
void quantise_load(const quantise_emitter *e, const quantise_patch *patch, int step, mc_reg inside,
                   mc_reg *raw);
/* A patch at each of `hold` steps. */
typedef struct quantise_held {
    mc_reg inside[QUANTISE_MAX_STEPS];
    mc_reg raw[QUANTISE_MAX_STEPS][QUANTISE_RAW];
} quantise_held;
/* Loads the patch at all steps of the thread block's tile. */
void quantise_load_steps(const quantise_emitter *e, const quantise_patch *patch, quantise_held *held);
/* Sets TO to an element of A in f32: WORD, or its HALF, 0 or 1, where it has two. */
void quantise_value(const quantise_emitter *e, mc_reg word, int half, mc_reg to);
/* Sets TO to the element of C that VALUE in f32 becomes in the patch's row ROW: an integer, or f32 that is
   yet to be rounded. BY_COLUMN: the column's factor, or none. */
void quantise_element(const quantise_emitter *e, int row, mc_reg value, mc_reg by_column, mc_reg to);
/* Sets TO to the word that COUNT elements make. */
void quantise_pack(const quantise_emitter *e, const mc_reg *elements, int count, mc_reg to);
/* Makes words of C out of RAW. By columns there are `words` of each of `unit` columns; by rows each row has
   as many as its unit needs. BY_COLUMN: factors of the columns; NULL: none. */
void quantise_make_words(const quantise_emitter *e, const mc_reg *raw, const mc_reg *by_column,
                         mc_reg *words);
int quantise_row_words(const quantise_plan *plan);
/* Stores the words of STEP by rows, those of A's rows, and where INSIDE holds. AT: of each row at step 0. */
void quantise_store_rows(const quantise_emitter *e, const quantise_patch *patch, int step, mc_reg inside,
                         const mc_reg *at, const mc_reg *words);
/* The address of element INDEX of a row of A, or of C, that begins at FROM; of 4 bits, of its byte. NAME is
   the address's. */
mc_reg quantise_source_at(const quantise_emitter *e, const char *name, mc_reg index, mc_reg from);
mc_reg quantise_element_at(const quantise_emitter *e, const char *name, mc_reg index, mc_reg from);
/* By rows: the addresses of the patch's rows in C at step 0. */
void quantise_row_addresses(const quantise_emitter *e, const quantise_patch *patch, mc_reg *at);

/* -- Factors (factors.c) */

void quantise_load_factors(quantise_emitter *e);
/* Factors of the patch's rows, from the arrays. */
void quantise_row_factors(quantise_emitter *e, const quantise_patch *patch);
/* From a scale in BY to what values are multiplied by: 1 / scale, unless C is real. */
void quantise_invert(const quantise_emitter *e, mc_reg scale, mc_reg by);
/* From a zero point in f32 to integers. */
void quantise_set_point(const quantise_emitter *e, mc_reg zero, mc_reg point, mc_reg low, mc_reg high);
/* Of the columns at STEP. */
void quantise_column_factors(const quantise_emitter *e, const quantise_patch *patch, int step, mc_reg inside,
                             mc_reg *by_column);

/* -- The edge path (point.c) */

/* SHARED is the address of the rows' factors that the thread block has computed; none: they are given.
   COLUMNS is how many the thread block has from col0 on; MC_OPEN: all that there are. */
void quantise_emit_points(quantise_emitter *e, mc_reg shared, int64_t columns);
/* Sets VALUE to A[row][col] in f32. */
void quantise_load_point(const quantise_emitter *e, mc_reg row_at, mc_reg col, mc_reg guard, mc_reg value);

#endif
