/* Between the files of this folder. */
#ifndef MC_SPMM_PRODUCTS_H
#define MC_SPMM_PRODUCTS_H

#include "ops/spmm/sums.h"

_Static_assert(MAX_DIGITS <= (int)SPMM_MAX_MMA, "room for the digits of a value");

/* -- What the table of integer.c has: arithmetic.h and sums.h say what each is to do ------------------- */

/* plan.c */
void integer_plan(const int64_t *point, bool gathers, spmm_arithmetic *math, mc_complaints *complaints);
spmm_values integer_values(const spmm_arithmetic *math);
int integer_value_rows(const spmm_arithmetic *math);
int integer_mma_row(const spmm_arithmetic *math, int mma);
int integer_mma_count(const spmm_arithmetic *math, int tile_n);
int integer_pair_mma_count(const spmm_arithmetic *math, int tile_n);
double integer_mma_turns(const spmm_arithmetic *math, const mc_gpu *gpu);
/* check.c */
void integer_check(const int64_t *point, const spmm_arithmetic *math, const char *staging, bool gathers,
                   mc_complaints *complaints);
void integer_check_gathered(const spmm_arithmetic *math, spmm_use use, mc_complaints *complaints);
void integer_check_pairs(const spmm_arithmetic *math, spmm_use use, mc_complaints *complaints);
/* text.c */
const char *integer_b_doc(const spmm_arithmetic *math, bool as_map);
const char *integer_values_doc(const spmm_arithmetic *math, bool windowed);
const char *integer_mma_doc(const spmm_arithmetic *math);
const char *integer_strided_format(const spmm_arithmetic *math);
bool integer_permutes_slots(const spmm_arithmetic *math);
const char *integer_mma_suffix(const spmm_arithmetic *math);
int integer_way(const spmm_arithmetic *math);
mc_sums integer_sums_contract(const spmm_arithmetic *math);
int64_t integer_k_limit(const spmm_arithmetic *math);
void integer_facts(const spmm_arithmetic *math, mc_facts *facts);
/* sums.c, exact.c */
mc_opcode integer_sums_add(const spmm_sums *s);
void integer_sums_begin(spmm_sums *s);
void integer_sums_declare(spmm_sums *s, int count);
void integer_sums_zero(spmm_sums *s);
void integer_sums_begin_rounds(spmm_sums *s);
mc_reg integer_sums_end_stride(spmm_sums *s, mc_reg more);
void integer_sums_settle(spmm_sums *s, int odd_column, mc_reg more);
/* whole.c, gathered.c, pairs.c */
void integer_gathered_declare(spmm_gathered *g);
void integer_gathered_multiply(spmm_gathered *g, const mc_reg *row, int words, const mc_reg *value);
void integer_gathered_take_apart(const spmm_gathered *g, const mc_reg *loaded, const mc_reg *value);
void integer_gathered_note(const spmm_gathered *g);
void integer_gathered_join(spmm_gathered *g, int half, const mc_reg *row, int units);
void integer_gathered_multiply_joined(spmm_gathered *g, int step, int units, const mc_reg *value);
spmm_pairs integer_pairs_begin(spmm_sums *sums, int loads);
void integer_pairs_multiply(const spmm_pairs *p, int half, mc_reg matrix[][4], const mc_reg *value, int step);
void integer_pairs_multiply_sparse(const spmm_pairs *p, int piece, const mc_reg matrix[4],
                                   const mc_reg *value);
void integer_pairs_add_bias(const spmm_pairs *p, const mc_reg *value);

/* -- plan.c ------------------------------------------------------------------------------------------- */

/* Operands that an mma's values of A are: with vectors of 16 rows two of 8 rows, which it takes together. And
   mma that all of A's digits take, for each operand of B. */
static inline int integer_operands(const spmm_arithmetic *math) { return spmm_is_tall(math) ? 2 : 1; }
static inline int integer_products(const spmm_arithmetic *math) { return math->mma / integer_operands(math); }
/* Mma MMA takes so many rows of the packed values; the last ones may be ones. */
int integer_mma_rows(const spmm_arithmetic *math, int mma);
/* The sum that mma MMA adds to when it multiplies digit RHS_DIGIT of B; and the exponent of 2 that a sum
   weighs. */
static inline int spmm_sum_of(const spmm_arithmetic *math, int mma, int rhs_digit) {
    const spmm_integer *of = &math->integer;
    return of->b.count == 1 ? mma : mma * of->planes + rhs_digit;
}
static inline int spmm_sum_weight(const spmm_arithmetic *math, int sum) {
    const spmm_integer *of = &math->integer;
    return of->a.bits * (of->b.count == 1 ? of->planes : 1) * sum;
}

/* Whether 8 is added to B's values. It is so for an s4 B that is multiplied as 8 bits, and costs one mma more
   for each of A's mma and each 32 vectors (halves.c). */
static inline bool spmm_is_biased(const spmm_arithmetic *math) {
    return math->integer.takes_halves && math->integer.rhs.is_signed;
}

/* -- range.c ------------------------------------------------------------------------------------------ */

/* Each is for the worst values that the types hold:
        largest_product     the largest magnitude of a product of two values
        sum_bound           vectors of a row up to which no sum leaves s32
        accumulator_bound   slots up to which no accumulator leaves s32
        exact_k             the same where 4-bit values of B count 16 times
        flush_strides       the member of spmm_arithmetic */
int64_t spmm_largest_product(const spmm_arithmetic *math);
int64_t spmm_sum_bound(const spmm_arithmetic *math);
int64_t spmm_accumulator_bound(const spmm_arithmetic *math);
int64_t spmm_exact_k(const spmm_arithmetic *math);
int spmm_flush_strides(const spmm_arithmetic *math);

/* -- Instructions ------------------------------------------------------------------------------------- */

/* The mma for these digits of A and of B, by the digits' signs. */
mc_opcode spmm_mma(const spmm_arithmetic *math, int lhs_digit, int rhs_digit);
/* What an mma multiplies: values of A in `count` registers, and two columns of B in the form of the large
   mma's operand A. That has twice as many registers; frag_a_reg says which column and slots each one holds.
   With `columns` 1 nothing is wanted of the second column. Behind the registers of 8 rows of A come those of
   the next 8, where vectors have 16. */
typedef struct spmm_operands {
    const mc_reg *b, *a;
    int count, columns;
} spmm_operands;
/* Adds the products to the lane's accumulators, of which frag_c_reg(column, run) names one. Emits one large
   mma, or in the paper's order `count` small ones for each column. With vectors of 16 rows each column has a
   large mma and four accumulators of its own. */
void spmm_emit_product(const spmm_sums *s, mc_opcode op, spmm_operands of, const mc_reg *acc);
/* The accumulators, four of them, of mma MMA, digit RHS_DIGIT of B and columns GROUP: with vectors of 16 rows
   a column of each lane group, else two. */
static inline const mc_reg *spmm_acc_of(const spmm_sums *s, int mma, int rhs_digit, int group) {
    return &s->acc[s->count * spmm_sum_of(s->of, mma, rhs_digit) + 4 * group];
}

/* int4.c. Declares `column`. */
void spmm_declare_columns4(spmm_gathered *g);
/* Notes, in the PTX, what the next one does. */
void spmm_note_columns4(const spmm_gathered *g);
/* Makes operands of the first BYTES of `low` and `high`, which have two columns each of step STEP's slots:
   the registers of `column` for that step. */
void spmm_emit_columns4(const spmm_gathered *g, int bytes, int step);
/* Multiplies the two columns of byte BYTE, which are columns GROUP of the lane, by each digit in VALUE. */
void spmm_emit_mma4(const spmm_gathered *g, int byte, int group, const mc_reg *value);

/* halves.c. Makes an operand of BYTES, each two 4-bit columns: of the even columns, or with HIGH of the odd
   ones. Returns the register that it is in, TO or BYTES itself. */
mc_reg spmm_emit_half(const spmm_sums *s, mc_reg bytes, bool high, mc_reg to);
/* The sums of A's rows that halves.c describes. They are declared once a kernel, zeroed before a row block's
   strides, and VALUES of an mma in 32 slots of a stride are added to them. */
void spmm_declare_bias(spmm_sums *s);
void spmm_emit_zero_bias(const spmm_sums *s);
void spmm_emit_add_bias(const spmm_sums *s, int mma, const mc_reg *values);
/* Takes off what 4-bit values have too much, before the digits are weighed. */
void spmm_emit_settle_halves(const spmm_sums *s, int odd_column);

/* exact.c. They do nothing where sums are not exact. */
void spmm_declare_totals(spmm_sums *s);
/* Adds the accumulators to the totals, and begins the next round if there are MORE strides. */
void spmm_emit_totals(const spmm_sums *s, mc_reg more);

/* stack.c. Makes sums of rows of the sums, whose columns are digit planes. */
void spmm_emit_unstack(const spmm_sums *s);

#endif
