/* Which mma multiplies floats, and what is made floats. What knows types of floats in the generator stands
   here, but for the output's conversions (mc_element.h). */
#ifndef MC_REAL_MMA_H
#define MC_REAL_MMA_H

#include "ptx/builder.h"

/* What kernels make of values as they lie in memory, before an mma multiplies them. The last ones make floats
   of 16 bits of bytes (form.h). */
typedef enum real_form {
    REAL_AS_IT_IS,
    REAL_ROUNDED, /* an f32 to tf32 */
    REAL_S8_TO_F16,
    REAL_U8_TO_F16,
    REAL_S8_TO_BF16,
    REAL_U8_TO_BF16,
    REAL_E4M3_TO_F16,
    REAL_E5M2_TO_F16
} real_form;

static inline bool real_widens(real_form form) { return form >= REAL_S8_TO_F16; }
/* Whether such values are integers. */
static inline bool real_is_of_integers(real_form form) {
    return real_widens(form) && form <= REAL_U8_TO_BF16;
}
/* The type that they become. */
const char *real_wide_name(real_form form);

/* An mma m16n8kK with sums in f32, for values that are stored as LHS and RHS; those of 4 bits are stored in a
   byte each. A lane has two registers of its operand B and four of A, so that K is 256 / bits. */
typedef struct real_pair {
    const char *lhs, *rhs;
    mc_opcode mma, swapped; /* with values of lhs as operand A; with those of rhs */
    int bits;               /* of a value in an operand */
    int sm;                 /* the least capability of a GPU that has it */
    real_form a_form, b_form;
} real_pair;

enum { REAL_ADA = 89 }; /* from this capability on GPUs know floats of 8 bits */

/* The pair of the words LHS and RHS on GPUs of capability SM; NULL: there is none. */
const real_pair *real_pair_of(const char *lhs, const char *rhs, int sm);
/* The same, but where ptxas would make an mma of others it is one of f16: a value is made wider once then,
   and not once for each mma that takes it. */
const real_pair *real_pair_wide(const char *lhs, const char *rhs, int sm);
/* A pair that has LHS, and the words that RHS may be then, as `"f16" or "bf16"`; NULL: there is none. Unless
   MIXED both sides are stored in as many bits. */
enum { REAL_TAKES = 64 };
const real_pair *real_pair_with(const char *lhs, int sm, bool mixed, char takes[REAL_TAKES]);

/* Whether values that are stored as LHS, maybe integers, have a pair on some GPU. */
bool real_has(const char *lhs);

/* Slots that an mma takes: its k. */
static inline int real_slots(const real_pair *pair) { return 256 / pair->bits; }
/* Bits of a value of FORM as it is stored. */
static inline int real_stored_bits(const real_pair *pair, real_form form) {
    return real_widens(form) ? 8 : pair->bits;
}

#endif
