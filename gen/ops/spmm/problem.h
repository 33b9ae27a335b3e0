/* SpMM: what the plans of all solvers begin with. It is the problem's types, shapes and output, and the
   thread block. problem.c derives it from a point; solvers derive their own plans from it. */
#ifndef MC_SPMM_PROBLEM_H
#define MC_SPMM_PROBLEM_H

#include "ops/spmm/fields.h"
#include "ops/spmm/arithmetic.h"
#include "parts/batch.h"
#include "parts/output.h"

enum { SPMM_MAX_ROW_BYTES = INT32_MAX /* bytes of a row of B */ };

typedef struct spmm_plan {
    spmm_staging staging;
    const char *staging_name;
    spmm_arithmetic math; /* and the types of A and B */
    int vec;              /* V: rows of a row block, or of a panel */
    bool panels;          /* row blocks are panels of a matrix without vectors, the last one perhaps less */
    int64_t m, n, k, ldb, ldc, ldr;
    out_kind output;
    int align;      /* bytes that B's address is promised to be a multiple of */
    bool b_columns; /* B is column-major */
    bool c_columns; /* C and the residual are */
    bool batch;     /* the grid's z counts products, whose operands lie strides apart (parts/batch.h) */
    family_overlap overlap;
    int tile_n;            /* columns of C that a thread block computes */
    int warps, split;      /* warps that multiply; those that share a row block */
    int row_blocks;        /* of a thread block: warps / split */
    int group;             /* ring: rows of tiles that go together, column by column; 0: all */
    int threads;           /* of a thread block */
    bool guard_rows;       /* the last thread block can have row blocks beyond m */
    int stride;            /* nonzero vectors that a warp takes at a time */
    int stride_values;     /* bytes of A's values in a stride */
    int stride_a_bytes;    /* of all of A's packed arrays */
    int stride_mma;        /* a warp's mma of a stride */
    char value_extent[24]; /* the contract's formula for the bytes of all values */
    char c_doc[OUT_TEXT];  /* what it says of C */
    unsigned shared_bytes;
} spmm_plan;

/* What is known of a shape that the spec may fix. */
typedef enum spmm_proof { SPMM_NEVER, SPMM_MAYBE, SPMM_ALWAYS } spmm_proof;
/* Whether SHAPE is a multiple of DIVISOR; whether all tiles of columns are whole, of which n makes none where
   it is less than one. */
spmm_proof spmm_divides(int64_t divisor, int64_t shape);
spmm_proof spmm_tile_is_full(const spmm_plan *plan);

/* Derives what the point says; shared_bytes, threads and the numbers of strides are the solver's. A kernel
   that GATHERS B's rows from global memory may take 4-bit mma. */
void spmm_plan_problem(const int64_t *point, bool gathers, spmm_plan *plan, mc_complaints *complaints);
/* Complains of a tile that is not 4 to 16 bytes of a row for each of 8 lanes, and takes the least one in its
   place. A row of the ring has as many bytes. */
void spmm_check_tile(spmm_plan *plan, mc_complaints *complaints);

/* Bytes of COUNT neighbouring elements of a row of B: COUNT is even where two share a byte. */
static inline int64_t spmm_b_bytes(const spmm_plan *plan, int64_t count) {
    return count * plan->math.b_bits / 8;
}
/* Bytes by which columns of B are addressed: those of an element, or of two that share a byte. */
static inline int spmm_b_unit(const spmm_plan *plan) { return (plan->math.b_bits + 7) / 8; }
static inline bool spmm_b_is_paired(const spmm_plan *plan) { return plan->math.b_bits == 4; }

/* Sets stride_values, and the formula. */
void spmm_plan_values(spmm_plan *plan, int stride_bytes);

/* What contract, facts and name of all solvers have. Behind a solver's own parameters come C, scales and
   biases, and open shapes; k and ldb only where the kernel takes them. */
void spmm_add_values(const spmm_plan *plan, bool windowed, mc_contract *c);
/* B as an array, and the limit of ldb where addresses of its columns are 32 bits of a row. */
void spmm_add_b(const spmm_plan *plan, mc_contract *c);
/* Complains of a fixed ldb beyond that limit. */
void spmm_check_ldb(const spmm_plan *plan, mc_complaints *complaints);
void spmm_contract(const spmm_plan *plan, bool takes_k, bool takes_ldb, mc_contract *c);
/* Of kernels whose tiles, of so many ROWS and COLUMNS, are one axis of the grid: the limits of m and n. */
void spmm_add_tile_limits(int rows, int columns, mc_contract *c);
void spmm_facts(const spmm_plan *plan, mc_facts *facts);
#define SPMM_COMPUTES(sums)                                                                                  \
    "C[m,n] = A[m,k] B[k,n]: A of vec x 1 nonzero vectors, B and C dense and row-major; " sums
#define SPMM_COMPUTES_COLUMNS(sums)                                                                          \
    "C[m,n] = A[m,k] B[k,n]: A of vec x 1 nonzero vectors, B dense and row-major, C column-major; " sums
const char *spmm_computes(const void *plan);

/* The arrays that a batch moves. They stay where they are until the kernel is emitted. */
enum { SPMM_BATCH_ARRAYS = 4 };
typedef struct spmm_batch {
    mc_batch_array arrays[SPMM_BATCH_ARRAYS];
    size_t count;
} spmm_batch;

spmm_batch spmm_batch_of(const spmm_plan *plan);

#endif
