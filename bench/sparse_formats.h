/* What of cuSPARSE takes part: a row for each format, its types and the problems that it is for. */
#ifndef BENCH_SPARSE_FORMATS_H
#define BENCH_SPARSE_FORMATS_H

#include "mcrt_internal.h"
#include "orders.h"

enum { SPARSE_MAX_ALGORITHMS = 4, SPARSE_LABEL = 48 };

/* The rows, and the arrays of WORK that they read. Those of sddmm stand behind those of spmm. */
enum {
    SPARSE_CSR,
    SPARSE_BSR,
    SPARSE_ELL,
    SPARSE_ELL_S8,
    SPARSE_CSR_F32,
    SPARSE_ELL_F32,
    SPARSE_COO,
    SPARSE_COO_F32,
    SPARSE_BSR_4, /* of single nonzeros in blocks of 4 x 4 or 8 x 8 */
    SPARSE_BSR_4_F32,
    SPARSE_BSR_8,
    SPARSE_BSR_8_F32,
    SPARSE_SPMV_CSR, /* where B has one column: the library's product by a vector, with the arrays above */
    SPARSE_SPMV_CSR_F32,
    SPARSE_SPMV_COO,
    SPARSE_SPMV_COO_F32,
    SPARSE_SPMV_BSR_4,
    SPARSE_SPMV_BSR_4_F32,
    SPARSE_SPMV_BSR_8,
    SPARSE_SPMV_BSR_8_F32,
    SPARSE_UNIFORM_8, /* other matrices: whole blocks of 8 x 8 or 16 x 16 at random places */
    SPARSE_UNIFORM_16,
    SPARSE_SAMPLED_CSR,
    SPARSE_SAMPLED_BSR,
    SPARSE_SAMPLED_CSR_F32, /* with the arrays of the two before */
    SPARSE_SAMPLED_BSR_F32,
    SPARSE_FORMATS
};

typedef enum sparse_layout { CSR, COO, BSR, BLOCKED_ELL } sparse_layout;

typedef struct sparse_algorithm {
    int number;
    const char *name;
} sparse_algorithm;

typedef struct sparse_format {
    const char *name; /* "csr" */
    sparse_layout layout;
    int arrays; /* the row whose arrays it reads */
    bool own;   /* operands and results are f16, or bf16 where the problem's are; else OPERAND, RESULT */
    mc_type operand, result;
    result_order order;
    int block;     /* of whole blocks at random places; 0: the problem's own matrix */
    unsigned only; /* the types of problems that it is for, a bit each: 1 << MC_F16 */
    sparse_algorithm algorithms[SPARSE_MAX_ALGORITHMS + 1]; /* the last one without a name */
    int join;    /* rows and columns of blocks that single nonzeros are put into; 0: blocks are V x V */
    bool vector; /* B and C are vectors: a call of its own, SpMV */
} sparse_format;

extern const sparse_format sparse_formats[SPARSE_FORMATS];

/* A problem as the rows are asked about it. TYPE is that of both sides, COLS the columns of B; 0 where any
   number is meant, which leaves out the rows of vectors. */
typedef struct sparse_sides {
    mc_op op;
    mc_type type;
    int vec;
    int64_t cols;
} sparse_sides;

/* Whether FORMAT takes part: with V = 1 COO and joined blocks do, with longer vectors blocks of V x V. */
bool sparse_is_of(int format, const sparse_sides *sides);
/* Whether any does. */
bool sparse_takes(mc_op op, mc_type lhs, mc_type rhs);
/* Whether the library has the operator in f16 and not in TYPE. */
bool sparse_lacks(mc_op op, mc_type type);
mc_type sparse_operand(int format, mc_type type);
mc_type sparse_result(int format, mc_type type);
/* "cusparse csr f16" */
void sparse_label(int format, mc_type type, char label[SPARSE_LABEL]);

#endif
