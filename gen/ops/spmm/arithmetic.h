/* How the SpMM multiplies: what its solvers know of the arithmetic of the values' types. Plans and loops
   go by these numbers; sums.h has what emitters call. Which bits of a value meet in which mma is the
   arithmetic's own affair. There are two, each a folder with a table of functions: integer/ multiplies
   integers, real/ floats and what is made floats. */
#ifndef MC_SPMM_ARITHMETIC_H
#define MC_SPMM_ARITHMETIC_H

#include "ops/spmm/integer/integer.h"
#include "ops/spmm/real/real.h"
#include "schema/family.h"

enum {
    SPMM_MMA_ROWS = 8, /* rows of A that an mma has room for; those from vec on are empty */
    SPMM_TALL = 16,    /* V where they are the mma's 16 rows instead, and B's columns its 8 columns */
};

/* Which operand of the mma A's vectors are; in the order of the spec's names. */
typedef enum spmm_order { SPMM_SWAPPED, SPMM_PAPER } spmm_order;

typedef struct spmm_arithmetic_kind spmm_arithmetic_kind;

typedef struct spmm_arithmetic {
    const spmm_arithmetic_kind *kind;
    const char *lhs, *rhs; /* names of the types of A's and of B's values */
    int b_bits;            /* of an element of B in memory; of 4, two share a byte */
    spmm_order order;
    int vec;            /* V: rows of a row block */
    const char *height; /* the field that says so: "vec", or "panel" */
    int mma; /* operands that A's values of `depth` slots make: mma that they take for each operand of B.
                With vectors of 16 rows two of 8 rows, which are one operand together */
    /* operands that a column of B makes of its slots; and accumulators of an element of C */
    int b_operands, sums;
    int value_bytes;        /* of what an mma takes of a value of A, in packed arrays */
    const char *value_type; /* of such a piece of a value */
    int stride, depth;      /* nonzero vectors of a stride, and of an mma: its k */
    /* ring: an mma takes both halves of a stride, 32 slots, and not one; rows of B there have 16 bytes, of
       which ldmatrix brings both halves at once */
    bool joins_halves, narrow_rows;
    bool sparse; /* ring: mma.sp take pairs of bytes as they are, whose slots are 32 (integer/pairs.c) */
    /* Gather: another kernel may write A's values, element after element, of so many bits; else 8, of packed
       bytes. WHOLE: a lane loads elements that an mma does not take as they are, and takes them apart */
    int given_bits;
    bool whole;
    int64_t k;
    bool exact;        /* sums are wider than accumulators: totals */
    int flush_strides; /* then accumulators are added to totals after so many strides; 0: once, at the end */
    spmm_integer integer;
    spmm_real real;
} spmm_arithmetic;

/* What a kernel asks of the arithmetic beside its values: complaints of what that leaves no registers for, or
   cannot be. */
typedef struct spmm_use {
    int tile_n, warps, threads;
    bool through_shared; /* gather: rows of B go through shared memory */
    bool given_values;   /* gather: another kernel may write the values of A */
    bool more_registers; /* ring: of scales and biases by columns */
    bool resident;       /* ring */
    bool tile_residuals; /* ring: row blocks share a tile of C, and its elements have residuals */
} spmm_use;

/* How the values of a stride lie in packed arrays that gather kernels read: `groups` of `depth` slots, each
   with the values of every mma. A lane has `regs` registers of values of an mma, `count` values. It has them
   by `loads` of `load_regs` registers: one for each mma, or of whole elements one for each 8 rows. */
typedef struct spmm_values {
    int groups, regs, count;
    int loads, load_regs;
    int group_bytes, load_bytes; /* from a group to the next, from what a load takes to the next one's */
    int stride_bytes;
} spmm_values;

/* What an arithmetic implements. The functions below this table call it, and say what each is to do. */
struct spmm_arithmetic_kind {
    bool real; /* sums are f32, and infinities can meet zeros: a padding slot has zeros on both sides */

    void (*plan)(const int64_t *point, bool gathers, spmm_arithmetic *math, mc_complaints *complaints);
    void (*check)(const int64_t *point, const spmm_arithmetic *math, const char *staging, bool gathers,
                  mc_complaints *complaints);
    void (*check_gathered)(const spmm_arithmetic *math, spmm_use use, mc_complaints *complaints);
    void (*check_pairs)(const spmm_arithmetic *math, spmm_use use, mc_complaints *complaints);
    spmm_values (*values)(const spmm_arithmetic *math);
    int (*value_rows)(const spmm_arithmetic *math);
    int (*mma_row)(const spmm_arithmetic *math, int mma), (*mma_rows)(const spmm_arithmetic *math, int mma);
    int (*mma_count)(const spmm_arithmetic *math, int tile_n);
    int (*pair_mma_count)(const spmm_arithmetic *math, int tile_n);
    double (*mma_turns)(const spmm_arithmetic *math, const mc_gpu *gpu);
    const char *(*b_doc)(const spmm_arithmetic *math, bool as_map);
    const char *(*values_doc)(const spmm_arithmetic *math, bool windowed);
    const char *(*mma_doc)(const spmm_arithmetic *math), *(*strided_format)(const spmm_arithmetic *math);
    const char *(*mma_suffix)(const spmm_arithmetic *math);
    bool (*permutes_slots)(const spmm_arithmetic *math);
    int (*way)(const spmm_arithmetic *math);
    mc_sums (*sums_contract)(const spmm_arithmetic *math);
    int64_t (*k_limit)(const spmm_arithmetic *math);
    void (*facts)(const spmm_arithmetic *math, mc_facts *facts);
    const struct spmm_emitters *emit; /* sums.h */
};

extern const spmm_arithmetic_kind spmm_integers, spmm_reals, spmm_fused;

static inline bool spmm_is_tall(const spmm_arithmetic *math) { return math->vec == SPMM_TALL; }

/* -- The plan ------------------------------------------------------------------------------------------ */

/* arithmetic.c. Derives the arithmetic of POINT. A kernel that GATHERS B's rows may take 4-bit mma. */
spmm_arithmetic spmm_plan_arithmetic(const int64_t *point, bool gathers, bool exact,
                                     mc_complaints *complaints);
/* Complains of what POINT wants of the mma, and this one does not have. */
static inline void spmm_check_arithmetic(const int64_t *point, const spmm_arithmetic *math,
                                         const char *staging, bool gathers, mc_complaints *complaints) {
    math->kind->check(point, math, staging, gathers, complaints);
}
/* The same of what a kernel asks: one that has rows of B in registers, one that has them by ldmatrix. */
static inline void spmm_check_gathered(const spmm_arithmetic *math, spmm_use use, mc_complaints *complaints) {
    math->kind->check_gathered(math, use, complaints);
}
static inline void spmm_check_pairs(const spmm_arithmetic *math, spmm_use use, mc_complaints *complaints) {
    math->kind->check_pairs(math, use, complaints);
}

/* Rows of a stride's packed values, the row at which the values of mma MMA begin, and how many it takes. */
static inline int spmm_value_rows(const spmm_arithmetic *math) { return math->kind->value_rows(math); }
static inline int spmm_mma_row(const spmm_arithmetic *math, int mma) {
    return math->kind->mma_row(math, mma);
}
static inline int spmm_mma_rows(const spmm_arithmetic *math, int mma) {
    return math->kind->mma_rows(math, mma);
}
static inline spmm_values spmm_values_of(const spmm_arithmetic *math) { return math->kind->values(math); }
/* Registers of a lane's values of a stride; and of its loads of them. */
static inline int spmm_value_regs(const spmm_arithmetic *math) {
    spmm_values values = spmm_values_of(math);
    return values.regs * math->mma * values.groups;
}
static inline int spmm_load_regs(const spmm_arithmetic *math) {
    spmm_values values = spmm_values_of(math);
    return values.load_regs * values.loads * values.groups;
}

/* How many mma `depth` slots take for TILE_N columns of C; and how many 8-bit m16n8k32 one of them takes the
   time of on GPU. */
static inline int spmm_mma_count(const spmm_arithmetic *math, int tile_n) {
    return math->kind->mma_count(math, tile_n);
}
static inline double spmm_mma_turns(const spmm_arithmetic *math, const mc_gpu *gpu) {
    return math->kind->mma_turns(math, gpu);
}
/* The same of a stride of 32 slots, whose rows ldmatrix gives: of bytes as pairs (integer/pairs.c). */
static inline int spmm_pair_mma_count(const spmm_arithmetic *math, int tile_n) {
    return math->kind->pair_mma_count(math, tile_n);
}

/* -- What contracts, facts and names say --------------------------------------------------------------- */

static inline const char *spmm_b_doc(const spmm_arithmetic *math, bool as_map) {
    return math->kind->b_doc(math, as_map);
}
/* What is in the packed array `values`; WINDOWED: of the ring kernel. */
static inline const char *spmm_values_doc(const spmm_arithmetic *math, bool windowed) {
    return math->kind->values_doc(math, windowed);
}
static inline const char *spmm_mma_doc(const spmm_arithmetic *math) { return math->kind->mma_doc(math); }
/* The packed format of a gather kernel; whether slots lie in the order of a 4-bit mma's transpose there; and
   what the name of a kernel says of its mma. */
static inline const char *spmm_strided_format(const spmm_arithmetic *math) {
    return math->kind->strided_format(math);
}
static inline bool spmm_permutes_slots(const spmm_arithmetic *math) {
    return math->kind->permutes_slots(math);
}
static inline const char *spmm_mma_suffix(const spmm_arithmetic *math) {
    return math->kind->mma_suffix(math);
}

/* Lines of the PTX's header: which operand of the mma A is, how rows of B reach it, which mma it is. They are
   whole strings, SPMM_ALL_WAYS(how rows of B reach it), of which spmm_way chooses one. */
enum { SPMM_WAYS = 5 };
#define SPMM_SWAPPED_WAY(way)                                                                                \
    "Swapped operands (C^T = B^T A^T): columns of B are the mma's 16 rows, the row block's rows its "        \
    "columns.\n" way
#define SPMM_PAPER_WAY(way)                                                                                  \
    "Operands as in Magicube: the row block's rows are the mma's 8 rows, columns of B its columns.\n" way
#define SPMM_TALL_WAY(way) "The row block's 16 rows are the mma's rows, columns of B its 8 columns.\n" way
#define SPMM_ALL_WAYS(way)                                                                                   \
    {                                                                                                        \
        SPMM_SWAPPED_WAY(way), SPMM_PAPER_WAY(way), SPMM_SWAPPED_WAY(way) SPMM_INT4_WAY,                     \
            SPMM_PAPER_WAY(way) SPMM_INT4_WAY, SPMM_TALL_WAY(way)                                            \
    }
static inline int spmm_way(const spmm_arithmetic *math) { return math->kind->way(math); }

/* How large products and sums get; and the largest k that stays exact, 0: any. */
static inline mc_sums spmm_sums_contract(const spmm_arithmetic *math) {
    return math->kind->sums_contract(math);
}
static inline int64_t spmm_k_limit(const spmm_arithmetic *math) { return math->kind->k_limit(math); }
static inline void spmm_arithmetic_facts(const spmm_arithmetic *math, mc_facts *facts) {
    math->kind->facts(math, facts);
}

#endif
