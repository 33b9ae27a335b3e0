/* How far a tensor core's sum may lie from the exact one.
 *
 * A step adds products and the sum so far. All are aligned to the largest exponent E among them and cut off below KEPT bits
 * under it, so each is wrong by less than 2^(E - KEPT); then the result is rounded to the format of the sum, by less than a
 * unit in its last place. E is that of the operands' exponent fields: a product's is the sum of two. With n products in
 * all, s steps, S the sum of the magnitudes of C and all products, and u the unit in the last place of 1, that makes
 *
 *   (n + s) 2^(E - KEPT) + s u S + the smallest subnormal,   E no less than that of S
 *
 * and one rounding more where C is added on its own. sm_90: KEPT is 25, and s is 1, or of 8-bit types 2. For chips that we
 * know from the literature alone, KEPT is 23 and a step adds 4 products at least. */
#ifndef TESTS_SIM_CONFORMANCE_SUMS_H
#define TESTS_SIM_CONFORMANCE_SUMS_H

#include "form.h"

enum { SUM_MAX_DEPTH = 32 };

/* What a result is the sum of: C and the products of A and B, as bits. */
struct sum_terms {
    int depth;
    uint32_t a[SUM_MAX_DEPTH], b[SUM_MAX_DEPTH], c;
};

/* The terms of result INDEX (compare.h) of a FORM_SUM, whose warps had inputs WORDS. */
void sum_terms_of(const struct form *form, const uint32_t *words, int index, struct sum_terms *terms);

struct sum_bound {
    double exact; /* the sum; not finite where an operand is not */
    double bound; /* infinite where a sum may overflow */
};

/* Of the same on a chip of compute capability CAPABILITY / 10. */
struct sum_bound sum_bound_of(const struct form *form, const uint32_t *words, int index, int capability);

#endif
