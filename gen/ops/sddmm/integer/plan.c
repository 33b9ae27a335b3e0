/* The arithmetic of integers: its numbers, from the types of both sides, and what a contract says of them. */
#include "ops/sddmm/arithmetic.h"
#include "ops/sddmm/fields.h"

/* Registers that ptxas 13 takes besides, where both sides have two digits. */
enum { DIGITS_SPARE = 8 };

/* Bits that a value takes in memory. */
static int stored_bits(digit_side side) { return side.bits > 8 ? 16 : side.bits; }

/* The k up to which no accumulator leaves s32 where values of a 4-bit B count 16 times. */
static int64_t times_16_k(const sddmm_integer *i) {
    int64_t bound = INT64_MAX, times = i->lhs.bits == 4 ? 256 : 16;
    for (int digit = 0; digit < i->a.count; digit++) {
        digit_span product =
            span_of_product(span_of_digit(i->lhs, i->a, digit), span_of_digit(i->rhs, i->b, 0));
        int64_t terms = span_terms_in_s32((digit_span){times * product.low, times * product.high});
        if (terms < bound) bound = terms;
    }
    return bound;
}

static sddmm_integer integer_of(digit_side lhs, digit_side rhs, int64_t k) {
    bool halves = rhs.bits == 4;
    sddmm_integer i = {.lhs = lhs,
                       .rhs = rhs,
                       .a = digits_of(lhs, DIGIT_BITS, DIGITS_TOP_SIGNED),
                       .b = digits_of(rhs, DIGIT_BITS, DIGITS_TOP_SIGNED),
                       .parities = halves ? 2 : 1};
    i.sums = i.a.count + i.b.count - 1;
    i.times_16 = halves && k <= times_16_k(&i); /* an open k is bounded instead */
    return i;
}

static void check_split(const sddmm_integer *i, int64_t split, mc_complaints *complaints) {
    char bytes[DIGIT_SPLIT_TEXT];
    if (digit_split_fits(split, i->lhs, i->a.bits)) return;
    digit_split_text(i->lhs, i->a.bits, bytes);
    complain(complaints, F_PRECISION_SPLIT, "lhs = \"%s\" takes \"%s\": an SDDMM multiplies digits of 8 bits",
             i->lhs.name, bytes);
}

/* Sets the registers of a step. */
static void set_registers(sddmm_arithmetic *a) {
    const sddmm_integer *i = &a->integer;
    a->a_words = values_words(a->lhs, a->step_k);
    a->b_words = values_words(a->rhs, a->step_k);
    a->a_operands = 2 * i->parities * i->a.count;
    a->b_is_plain = a->rhs.bits == 8;
    a->a_is_plain = a->lhs.bits == 8 && a->b_is_plain;
    a->accs = SDDMM_ACC * i->sums;
    a->mma = i->parities * i->a.count * i->b.count;
}

static void plan(const int64_t *point, bool by_rows, sddmm_arithmetic *a, mc_complaints *complaints) {
    digit_side lhs = digit_sides[point[F_LHS]], rhs = digit_sides[point[F_RHS]];
    a->lhs = (sddmm_values){lhs.name, stored_bits(lhs)};
    a->rhs = (sddmm_values){rhs.name, stored_bits(rhs)};
    a->integer = integer_of(lhs, rhs, point[F_K]);
    a->unit_k = 8 * SDDMM_UNIT / a->rhs.bits;
    a->steps = a->rhs.bits == 16 ? 1 : 2;
    a->step_k = a->unit_k / a->steps;
    if (by_rows) a->unit_k = a->step_k, a->steps = 1;
    set_registers(a);
    if (a->accs == SDDMM_MAX_ACCS) a->spare = DIGITS_SPARE;
    if (a->integer.times_16) a->most_k = times_16_k(&a->integer);
    check_split(&a->integer, point[F_PRECISION_SPLIT], complaints);
}

/* -- Contract ----------------------------------------------------------------------------------------- */

static mc_sums sums_contract(const sddmm_arithmetic *a, int64_t k) {
    return sums_of_sides(a->integer.lhs, a->integer.rhs, k);
}

static const char *matrix_doc(const sddmm_arithmetic *a, sddmm_matrix which) {
#define THREE(type, more, more_rows)                                                                         \
    {                                                                                                        \
        "A: " type "[m][lda], row-major" more, "B: " type "[n][ldb], columns of B" more,                     \
            "B: " type "[k][ldb], row-major" more_rows                                                       \
    }
#define OF(bits, more, more_rows)                                                                            \
    { THREE("u" bits, more, more_rows), THREE("s" bits, more, more_rows) }
    static const char *const docs[][2][3] = {
        [0] = OF("4", ", the even k in a byte's low half", ", the even column in a byte's low half"),
        [1] = OF("8", "", ""),
        [2] = OF("16", "", "")};
#undef OF
#undef THREE
    digit_side side = which == SDDMM_MATRIX_A ? a->integer.lhs : a->integer.rhs;
    return docs[side.bits == 4 ? 0 : side_bytes(side)][side.is_signed][which];
}

static const char *mma_doc(const sddmm_arithmetic *a, sddmm_share share) {
    static const char *const docs[SDDMM_SHARES] = {"m16n8k32 instructions, a group and panel",
                                                   "m16n8k32 instructions, a warp and stage"};
    return (void)a, docs[share];
}

const sddmm_arithmetic_kind sddmm_integers = {
    .plan = plan,
    .sums_contract = sums_contract,
    .matrix_doc = matrix_doc,
    .mma_doc = mma_doc,
    .emit = &sddmm_integer_emitters,
};
