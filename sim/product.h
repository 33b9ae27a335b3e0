/* Products of a row and a matrix, as tensor cores make them: what mma, mma.sp and wgmma share. How they add
 * floats is not in the ISA; docs/simulator.md, "Sums of mma", has the rules. */
#ifndef SIM_PRODUCT_H
#define SIM_PRODUCT_H

#include "exec.h"

enum {
    SIM_PRODUCT_ROWS = 16,     /* of a warp's part of A */
    SIM_PRODUCT_COLUMNS = 256, /* of B, at most; always a multiple of 8 */
    SIM_PRODUCT_DEPTH = 128,   /* elements of B along k, at most */
    SIM_PRODUCT_KEPT = 64,     /* elements of a row of A, at most: of a sparse row, those that there are */
    SIM_REAL_DEPTH = 64,       /* the same two for floats */
    SIM_REAL_KEPT = 32
};

/* Which element along k of B each element of a row of A meets. */
typedef uint8_t sim_places[SIM_PRODUCT_KEPT];

/* Columns of B that lie side by side. */
enum { SIM_WIDE = 8 };

/* Where element K of COLUMN lies of a B that is DEPTH deep: [column / 8][k][column % 8]. */
static inline int sim_place_in_b(int depth, int k, int column) {
    return (column / SIM_WIDE * depth + k) * SIM_WIDE + column % SIM_WIDE;
}

/* -- Integers -------------------------------------------------------------------------------------------- */

struct sim_integers {
    int columns, depth;
    int32_t value[SIM_PRODUCT_DEPTH * SIM_PRODUCT_COLUMNS]; /* at sim_place_in_b */
};

/* The element of TYPE that BITS are. */
static inline int32_t sim_integer_of(unsigned type, uint32_t bits) {
    const int32_t sign = type == SIM_s8 ? 128 : type == SIM_s4 ? 8 : 0;
    return ((int32_t)bits ^ sign) - sign;
}

/* Adds to SUM, [row][column], the products of the COUNT elements of each of A's ROWS with B's elements at
   their places, by row; PLACES is NULL: the first meets the first. With SATURATE each sum is clamped, else
   it is modulo 2^32. */
void sim_multiply_integers(int32_t (*a)[SIM_PRODUCT_KEPT], int rows, int count, const struct sim_integers *b,
                           const sim_places *places, bool saturate, int32_t *sum);

/* -- Floats ---------------------------------------------------------------------------------------------- */

enum {
    SIM_NO_EXPONENT = -4096
}; /* of a zero: the sum of two, one of them this, is below that of any product */

/* What elements are. */
struct sim_real_kind {
    bool widened; /* they have the exponents of the f16 that they are widened to; the others are found */
    bool special; /* some are infinite or a NaN */
    bool far;     /* some have exponents with which products may leave f32 */
};

/* A row of A: each element, and the exponent that its field says. */
struct sim_real_row {
    struct sim_real_kind kind;
    float value[SIM_REAL_KEPT];
    int32_t exponent[SIM_REAL_KEPT];
};

struct sim_reals {
    int columns, depth;
    struct sim_real_kind kind;
    float value[SIM_REAL_DEPTH * SIM_PRODUCT_COLUMNS]; /* at sim_place_in_b */
    int32_t exponent[SIM_REAL_DEPTH * SIM_PRODUCT_COLUMNS];
};

/* How products are added: STEP of them at once, for DEPTH. */
struct sim_sum_rule {
    unsigned type; /* of the sum: f32 or f16 */
    int depth, step;
    bool c_last; /* C is not in the first step, but added at the end */
    int kept;    /* bits below the largest exponent of a step that its terms keep */
    int dropped; /* bits that the fraction of an f32 loses */
};

/* Of elements of A_TYPE in mma and mma.sp, where DEPTH counts those that there are; and in wgmma. */
struct sim_sum_rule sim_mma_rule(unsigned a_type, unsigned type, int depth);
struct sim_sum_rule sim_wgmma_rule(unsigned a_type, unsigned type, int depth);

/* Puts COUNT elements along k, BITS of TYPE, into a row, or all of a column into B. */
void sim_row_put(struct sim_real_row *row, unsigned type, const uint32_t *bits, int count);
void sim_column_put(struct sim_reals *b, int column, unsigned type, const uint32_t *bits);

/* SUM, [row][column]: the bits of C, which become those of D. Elements are added in the order that A's have;
   PLACES as above. */
void sim_multiply_reals(const struct sim_sum_rule *rule, const struct sim_real_row *a, int rows,
                        const struct sim_reals *b, const sim_places *places, uint32_t *sum);

/* -- Accumulators ---------------------------------------------------------------------------------------- */

/* The warp's 16 rows (8, of m8n8) of an accumulator, [row][column], from COUNT registers at VALUE and back.
   Of f16 a register has two neighbours. */
void sim_accumulator_read(const struct sim_warp *warp, const struct sim_value *value, int count, bool is_half,
                          int columns, uint32_t *sum);
void sim_accumulator_write(struct sim_warp *warp, const struct sim_value *value, int count, bool is_half,
                           int columns, const uint32_t *sum);

#endif
