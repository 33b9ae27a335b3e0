/* The arithmetic of an SpMM of integers: which digits of A and of B an mma multiplies, and how their products
   become sums. This header has its plan; sums.h has what emitters call. Of the kernel around it the
   arithmetic knows only what is in this struct. */
#ifndef MC_SPMM_ARITHMETIC_H
#define MC_SPMM_ARITHMETIC_H

#include "parts/integer/integer.h"
#include "schema/family.h"

enum {
    SPMM_MMA_ROWS = 8, /* rows of A that an mma has room for; those from vec on are empty */
};

/* In the order of the spec's names. */
typedef enum spmm_mma_type { SPMM_AUTO, SPMM_INT8, SPMM_INT4 } spmm_mma_type;

/* Which operand of the mma A's vectors are; in the order of the spec's names. */
typedef enum spmm_order { SPMM_SWAPPED, SPMM_PAPER } spmm_order;

typedef struct spmm_arithmetic {
    digit_side lhs, rhs;
    digit_set a, b; /* digits of lhs and of rhs */
    int vec;        /* V: rows of a row block */
    spmm_order order;
    digit_mode mode; /* of A's digits */
    bool ones;       /* offset digits: behind the rows of all planes comes a row of ones */
    bool exact;      /* sums are s64, not s32 */
    int planes, mma; /* planes of A that share an mma; mma that all planes take for each digit of B */
    /* accumulators of an element of C: one for each weight of an mma's first plane times a digit of B */
    int sums;
    bool takes_halves;  /* a 4-bit B is multiplied as 8 bits (halves.c) */
    bool times_16;      /* and its odd columns count 16 times until the end: k allows it */
    bool int4, shuffle; /* the mma is of 4-bit integers; col_idx is permuted for its transpose (int4.c) */
    int stride, depth;  /* nonzero vectors of a stride, and of an mma: its k */
    int64_t k;
    int flush_strides; /* exact sums: accumulators are emptied after so many strides; 0: once, at the end */
} spmm_arithmetic;

/* -- plan.c ------------------------------------------------------------------------------------------- */

/* Derives the arithmetic of POINT. A kernel that GATHERS B's rows may take 4-bit mma. */
spmm_arithmetic spmm_plan_arithmetic(const int64_t *point, bool gathers, bool exact,
                                     mc_complaints *complaints);
/* Complains of what POINT wants of the mma, and this one does not have. */
void spmm_check_arithmetic(const int64_t *point, const spmm_arithmetic *math, const char *staging,
                           bool gathers, mc_complaints *complaints);

/* Rows of a stride's packed values: those of all planes, then the ones. Mma MMA takes spmm_mma_rows of them,
   from row spmm_mma_row on. */
static inline int spmm_value_rows(const spmm_arithmetic *math) {
    return math->a.count * math->vec + math->ones;
}
int spmm_mma_rows(const spmm_arithmetic *math, int mma);
static inline int spmm_mma_row(const spmm_arithmetic *math, int mma) {
    return mma * math->planes * math->vec;
}
/* The sum that mma MMA adds to when it multiplies digit RHS_DIGIT of B; and the exponent of 2 that a sum
   weighs. */
static inline int spmm_sum_of(const spmm_arithmetic *math, int mma, int rhs_digit) {
    return math->b.count == 1 ? mma : mma * math->planes + rhs_digit;
}
static inline int spmm_sum_weight(const spmm_arithmetic *math, int sum) {
    return math->a.bits * (math->b.count == 1 ? math->planes : 1) * sum;
}

/* Whether 8 is added to B's values. It is so for an s4 B that is multiplied as 8 bits, and costs one mma more
   for each of A's mma and each 32 vectors (halves.c). */
static inline bool spmm_is_biased(const spmm_arithmetic *math) {
    return math->takes_halves && math->rhs.is_signed;
}

/* How the values of a stride lie in packed arrays that gather kernels read: `groups` of `depth` slots, each
   with the values of every mma. A lane has `regs` registers of values of an mma, `count` values. */
typedef struct spmm_values {
    int groups, regs, count;
    int group_bytes, mma_bytes; /* from a group to the next, from an mma's values to the next one's */
    int stride_bytes;
} spmm_values;

spmm_values spmm_values_of(const spmm_arithmetic *math);
/* Registers of a lane's values of a stride. */
static inline int spmm_value_regs(const spmm_arithmetic *math) {
    spmm_values values = spmm_values_of(math);
    return values.regs * math->mma * values.groups;
}

/* How many mma `depth` slots take for TILE_N columns of C; and how many 8-bit m16n8k32 one of them takes the
   time of on GPU. */
int spmm_mma_count(const spmm_arithmetic *math, int tile_n);
/* The same of a stride of 32 slots, whose rows ldmatrix gives as pairs of bytes (pairs.c): m16n8k32. */
int spmm_pair_mma_count(const spmm_arithmetic *math, int tile_n);
double spmm_mma_turns(const spmm_arithmetic *math, const mc_gpu *gpu);

/* -- text.c: what contracts, facts and names say ------------------------------------------------------- */

const char *spmm_b_doc(const spmm_arithmetic *math, bool as_map);
/* What is in the packed array `values`; WINDOWED: of the ring kernel. */
const char *spmm_values_doc(const spmm_arithmetic *math, bool windowed);
const char *spmm_mma_doc(const spmm_arithmetic *math);
/* The packed format of a gather kernel; whether slots lie in the order of a 4-bit mma's transpose there; and
   what the name of a kernel says of its mma. */
const char *spmm_strided_format(const spmm_arithmetic *math);
bool spmm_permutes_slots(const spmm_arithmetic *math);
const char *spmm_mma_suffix(const spmm_arithmetic *math);

/* Lines of the PTX's header: which operand of the mma A is, how rows of B reach it, which mma it is. They are
   whole strings, SPMM_ALL_WAYS(how rows of B reach it), of which spmm_way chooses one. */
enum { SPMM_WAYS = 4 };
#define SPMM_SWAPPED_WAY(way)                                                                                \
    "Swapped operands (C^T = B^T A^T): columns of B are the mma's 16 rows, the row block's rows its "        \
    "columns.\n" way
#define SPMM_PAPER_WAY(way)                                                                                  \
    "Operands as in Magicube: the row block's rows are the mma's 8 rows, columns of B its columns.\n" way
#define SPMM_INT4_WAY "\nA 4-bit mma multiplies B's values as they are, and A's in digits of 4 bits."
#define SPMM_ALL_WAYS(way)                                                                                   \
    {                                                                                                        \
        SPMM_SWAPPED_WAY(way), SPMM_PAPER_WAY(way), SPMM_SWAPPED_WAY(way) SPMM_INT4_WAY,                     \
            SPMM_PAPER_WAY(way) SPMM_INT4_WAY                                                                \
    }
static inline int spmm_way(const spmm_arithmetic *math) { return 2 * math->int4 + (int)math->order; }

/* How large products and sums get; and the largest k that stays exact, 0: any. */
mc_sums spmm_sums_contract(const spmm_arithmetic *math);
int64_t spmm_k_limit(const spmm_arithmetic *math);
void spmm_arithmetic_facts(const spmm_arithmetic *math, mc_facts *facts);

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

#endif
