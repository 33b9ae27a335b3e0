/* How the SDDMM multiplies: what its solvers know of the arithmetic of the values' types. Loops over k,
 * groups and panels go by these numbers, and call these functions. Which bits of a value meet in which mma is
 * the arithmetic's own affair. There is one for each kind of element type, a folder with a table of
 * functions: integer/ and real/.
 *
 * How k is shared out. Of a row of B a lane takes
 *
 *   a unit    16 bytes, one load of a wide path. The units of a lane group's four lanes adjoin: a chunk
 *   a step    what is multiplied at once: half the unit, of 16-bit integers all of it
 *
 * and of its row of A it takes the same k. Of a row-major B, where neighbouring k are neighbours in no row, a
 * unit is a step. Which of the mma's k a value meets is free, as long as both sides agree. */
#ifndef MC_SDDMM_ARITHMETIC_H
#define MC_SDDMM_ARITHMETIC_H

#include "ops/sddmm/integer/integer.h"
#include "ops/sddmm/real/real.h"
#include "ptx/builder.h"
#include "schema/family.h"

enum {
    SDDMM_UNIT = 16,      /* bytes */
    SDDMM_MMA_ROWS = 8,   /* rows of A that an mma has room for: an octet */
    SDDMM_ACC = 4,        /* registers of an mma's sums */
    SDDMM_MAX_ACCS = 12,  /* the same where several mma's sums make one: SDDMM_ACC for each */
    SDDMM_MAX_STEP_A = 8, /* registers of a step of A: its values as loaded, or as operands */
    SDDMM_MAX_STEP_B = 4, /* of B: as loaded */
    SDDMM_MAX_STEP_K = 16,
};

/* One side's values, as they lie in memory. */
typedef struct sddmm_values {
    const char *name; /* of their type */
    int bits;         /* that a value takes: 4, 8, 16 or 32 */
} sddmm_values;

/* Whether two neighbours share a byte, the first one in its low half. */
static inline bool values_in_pairs(sddmm_values v) { return v.bits < 8; }
/* An element is the least that a load brings: a value, or a pair. Its values, and its bytes. */
static inline int values_of_element(sddmm_values v) { return values_in_pairs(v) ? 2 : 1; }
static inline int element_bytes(sddmm_values v) { return values_in_pairs(v) ? 1 : v.bits / 8; }
/* Bytes, and registers, of COUNT neighbouring values; of pairs COUNT is even. */
static inline int64_t values_bytes(sddmm_values v, int64_t count) { return count * v.bits / 8; }
static inline int values_words(sddmm_values v, int count) { return count * v.bits / 32; }

typedef struct sddmm_arithmetic_kind sddmm_arithmetic_kind;

typedef struct sddmm_arithmetic {
    const sddmm_arithmetic_kind *kind;
    sddmm_values lhs, rhs;
    int unit_k, step_k, steps; /* k of a lane's unit and of its step; steps of a unit */
    /* registers of a step: of A's values as loaded, of A's operands, of B's values as loaded */
    int a_words, a_operands, b_words;
    bool a_is_plain, b_is_plain; /* whether a side's operands are its words as loaded */
    int accs;       /* accumulators of a lane for an mma's sums, SDDMM_ACC or several times that */
    int mma;        /* instructions of a step */
    int64_t most_k; /* the k up to which sums are exact where a spec leaves it open; 0: any */
    int spare;      /* registers that ptxas takes besides */
    sddmm_integer integer;
    sddmm_real real;
} sddmm_arithmetic;

/* Which operand a contract speaks of: A, B by columns, or B by rows. */
typedef enum sddmm_matrix {
    SDDMM_MATRIX_A,
    SDDMM_MATRIX_COLUMNS,
    SDDMM_MATRIX_ROWS,
    SDDMM_MATRICES
} sddmm_matrix;
/* Whose mma facts count: those of a group and panel, or of a warp and stage. */
typedef enum sddmm_share { SDDMM_GROUP_SHARE, SDDMM_STAGE_SHARE, SDDMM_SHARES } sddmm_share;

/* What an arithmetic implements. The functions below this table call it, and say what each is to do. */
struct sddmm_arithmetic_kind {
    /* of floats: sums are f32, and a zero does not make any value zero, so that where there are no k both
       sides have zeros */
    bool real;
    void (*plan)(const int64_t *point, bool by_rows, sddmm_arithmetic *a, mc_complaints *complaints);
    mc_sums (*sums_contract)(const sddmm_arithmetic *a, int64_t k);
    const char *(*matrix_doc)(const sddmm_arithmetic *a, sddmm_matrix which);
    const char *(*mma_doc)(const sddmm_arithmetic *a, sddmm_share share);
    const struct sddmm_emitters *emit;
};

extern const sddmm_arithmetic_kind sddmm_integers, sddmm_reals, sddmm_fused; /* fused: csr/fused.c */

/* -- The plan ------------------------------------------------------------------------------------------ */

/* arithmetic.c. Derives the arithmetic from a point: of values, and of k, which bounds how they can be
   multiplied. BY_ROWS: B is row-major. Complains of what cannot be. */
sddmm_arithmetic sddmm_arithmetic_of(const int64_t *point, bool by_rows, mc_complaints *complaints);
/* How large a sum can get, for the contract. */
static inline mc_sums sddmm_sums(const sddmm_arithmetic *a, int64_t k) {
    return a->kind->sums_contract(a, k);
}
/* What the contract says of a matrix. */
static inline const char *sddmm_matrix_doc(const sddmm_arithmetic *a, sddmm_matrix which) {
    return a->kind->matrix_doc(a, which);
}
/* What facts say of the mma that they count. */
static inline const char *sddmm_mma_doc(const sddmm_arithmetic *a, sddmm_share share) {
    return a->kind->mma_doc(a, share);
}

/* k of a chunk. */
static inline int sddmm_chunk_k(const sddmm_arithmetic *a) { return 4 * a->unit_k; }
/* Bytes of one load of a lane's unit of A. */
static inline int sddmm_a_access(const sddmm_arithmetic *a) {
    int64_t bytes = values_bytes(a->lhs, a->unit_k);
    return bytes < SDDMM_UNIT ? (int)bytes : SDDMM_UNIT;
}
/* The multiple of elements that rows of A must be for these loads. */
static inline int sddmm_a_multiple(const sddmm_arithmetic *a) { return sddmm_a_access(a) * 8 / a->lhs.bits; }

/* -- Instructions ------------------------------------------------------------------------------------- */

/* What multiplies, with its scratch registers. */
typedef struct sddmm_multiplier {
    mc_builder *b;
    const sddmm_arithmetic *arithmetic;
    mc_reg join[2]; /* values on their way into a word */
    sddmm_integer_scratch integer;
    sddmm_real_scratch real;
} sddmm_multiplier;

/* A step of A, and the accumulators of its products. */
typedef struct sddmm_factor {
    const mc_reg *operands, *acc;
} sddmm_factor;

/* The part of an arithmetic's table that emits. */
typedef struct sddmm_emitters {
    void (*declare)(sddmm_multiplier *m);
    void (*a_step)(const sddmm_multiplier *m, const mc_reg *words, const mc_reg *operands);
    void (*products)(const sddmm_multiplier *m, const mc_reg *x, const mc_reg *y, const sddmm_factor *factors,
                     int count);
    void (*settle)(const sddmm_multiplier *m, const mc_reg *acc);
    void (*add)(const sddmm_multiplier *m, mc_reg sum, mc_reg other);
} sddmm_emitters;

/* arithmetic.c. Declares what it takes. JOINS: emit_join or emit_row_words are called, too. */
sddmm_multiplier sddmm_declare_multiplier(mc_builder *b, const sddmm_arithmetic *a, bool joins);
/* Makes OPERANDS of A's WORDS of a step. */
static inline void sddmm_emit_a_step(const sddmm_multiplier *m, const mc_reg *words, const mc_reg *operands) {
    m->arithmetic->kind->emit->a_step(m, words, operands);
}
/* Emits the step's mma: rows X and Y of B (the mma's rows g and g + 8) times each of COUNT FACTORS. */
static inline void sddmm_emit_products(const sddmm_multiplier *m, const mc_reg *x, const mc_reg *y,
                                       const sddmm_factor *factors, int count) {
    m->arithmetic->kind->emit->products(m, x, y, factors, count);
}
/* Makes one sum of the accumulators of an mma's place: the first four. */
static inline void sddmm_emit_settle(const sddmm_multiplier *m, const mc_reg *acc) {
    m->arithmetic->kind->emit->settle(m, acc);
}
/* Adds OTHER to SUM, both accumulators or both settled. */
static inline void sddmm_emit_add(const sddmm_multiplier *m, mc_reg sum, mc_reg other) {
    m->arithmetic->kind->emit->add(m, sum, other);
}

/* -- values.c: elements that are loaded one by one, whatever is multiplied ---------------------------- */

/* Joins elements of VALUES, each in a register, to COUNT words. */
void sddmm_emit_join(const sddmm_multiplier *m, sddmm_values values, const mc_reg *elements, int count,
                     const mc_reg *words);
/* Makes words of a step's elements of COLUMN of a row-major B, whose registers are used up. Of pairs an
   element has a value of column COLUMN and one of its neighbour; SHIFT is scratch then. */
void sddmm_emit_row_words(const sddmm_multiplier *m, mc_reg column, mc_reg shift, const mc_reg *elements,
                          const mc_reg *words);
/* The bytes from a row of VALUES to the next: of FIXED elements, or of LD. */
mc_operand sddmm_emit_row_bytes(mc_builder *b, const char *name, sddmm_values values, int64_t fixed,
                                mc_reg ld);
/* Sets REGS to zero. */
void sddmm_emit_zero(mc_builder *b, const mc_reg *regs, int count);

#endif
