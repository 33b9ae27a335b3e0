/* What is computed with values of a kind: how sums of products come about, what a kernel's sum may be where
 * the reference's is known, what becomes of a sum, and how values lie in packed arrays. Formats, operators
 * and whoever compares results speak to this interface. There is one arithmetic for each kind of element
 * type: integers (integer/), whose sums are exact, and floats (floats.c), whose sums depend on the order of
 * additions and are right within a bound. */
#ifndef MCRT_ARITHMETIC_H
#define MCRT_ARITHMETIC_H

#include "arithmetic/code.h"

/* A row block of vectors times the rows of a dense matrix. */
typedef struct block_product {
    const mc_vsparse *a;
    int64_t block;
    const void *rows; /* of B, made wide, N values each */
    int64_t n;
    void *sums;    /* [vec][n], of the arithmetic's type of sums; the products are added to them */
    void *scratch; /* [vec][n] of `scratch` bytes each */
} block_product;

/* The rows of a row block times some columns of B, each of K values made wide. */
typedef struct sampled_product {
    const float *panel;    /* the rows, side by side: VEC values for each k */
    const float *columns;  /* of B, one after another */
    const int32_t *places; /* which of them, COUNT */
    int64_t count, k;
    int vec;
    float *sums; /* VEC for each column */
} sampled_product;

/* Sums of products of values of some types. Values are made wide first, so that the loops are fast. */
typedef struct sum_loops {
    size_t wide, scratch; /* bytes of a value made wide; of scratch for each sum of a row block */
    /* Makes COUNT elements of TYPE wide: those of DATA from index FIRST on, STEP apart. */
    void (*widen)(mc_type type, const void *data, int64_t first, int64_t step, int64_t count, void *to);
    /* Both give false where a sum leaves its type's range. */
    bool (*multiply)(const block_product *product);
    bool (*dot)(const void *a, const void *b, int64_t k, void *sum); /* of K wide values each */
    /* Many of these at once, to the bit the same. False: not for such vectors. NULL: never. */
    bool (*sample)(const sampled_product *product);
} sum_loops;

typedef struct arithmetic {
    const char *name;
    mc_type sums; /* the type of the reference's sums: s64, exact, or f32 */
    const sum_loops *(*loops)(mc_type a, mc_type b);
    /* The same of the magnitudes of values, for bounds; NULL: the sums are exact, and there are no bounds. */
    const sum_loops *(*magnitude_loops)(mc_type a, mc_type b);
    /* How far a kernel's sum of TERMS products, added up in any order, may be from the reference's, where
       MAGNITUDE is the reference's sum of the products' magnitudes. INFINITY: anywhere. NULL: nowhere. */
    double (*bound)(double magnitude, int64_t terms);
    /* Whether a C of TYPE holds the sums as they are: it takes no scale then. Whether the reals want one.
       Integers that are rounded always do. */
    bool (*holds_sums)(mc_type type);
    bool scaled;
    /* SUM, an element of the reference's sums, as a kernel's epilogue begins with it. EXACT: the kernel's
       sums are, too; else they are of the accumulator's type. */
    float (*real_of_sum)(int64_t sum, bool exact);
    const code_kind *code;
} arithmetic;

extern const arithmetic integer_arithmetic, float_arithmetic;

/* The arithmetic of values, or of sums, of TYPE. */
const arithmetic *arithmetic_of(mc_type type);
/* The arithmetic of products of values of A and of B: that of both, or that of floats where integers of at
   most 8 bits are multiplied by floats. NULL: there is none. */
const arithmetic *arithmetic_of_sides(mc_type a, mc_type b);
/* The same; MC_USAGE where there is none. */
mc_status arithmetic_of_product(mc_type a, mc_type b, const arithmetic **which, mc_diag *diag);
/* Whether a C of TYPE, to which sums are rounded, wants a scale. */
bool arithmetic_wants_scale(const arithmetic *of, mc_type type);
#endif
