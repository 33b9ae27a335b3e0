/* Products, dense or of a 2:4 sparse A: what all solvers have of the problem. A solver's plan begins with
   it. */
#ifndef MC_GEMM_PROBLEM_H
#define MC_GEMM_PROBLEM_H

#include "parts/output.h"
#include "parts/side.h"

typedef struct gemm_side {
    int type; /* the word of side_type_names */
    const char *name;
    bool integer;
} gemm_side;

typedef struct gemm_problem {
    gemm_side lhs, rhs;
    out_kind output;
    bool sparse; /* A is 2:4, in the arrays values and meta (parts/packed24.h) */
    bool b_rows; /* B is row-major; else the k values of a column lie side by side */
    int align;
    int64_t m, n, k, lda, ldb, ldc, ldr;
    char c_doc[OUT_TEXT]; /* what the contract says of C */
} gemm_problem;

/* The names of C's types, for the field: NULL-terminated; and the usual one, "f16". */
extern const char *const gemm_out_names[];
enum { GEMM_STANDARD_OUT = 1 };

/* Derives the problem from a point of the family gemm, or, SPARSE, of gemm24, and complains of what no solver
   can do. */
gemm_problem gemm_problem_of(const int64_t *point, bool sparse, mc_complaints *complaints);

/* Lines of a kernel's header. */
const char *gemm_computes(const void *plan);
const char *gemm24_computes(const void *plan);
/* The kernel's name up to what the solver adds. Returns its length. */
size_t gemm_entry_name(const gemm_problem *p, char name[MC_MAX_ENTRY]);

/* Columns of the residual that a load takes where STORE of C are stored at a time: as many, if addresses
   allow it. */
int gemm_residual_load(const gemm_problem *p, int store);

/* Sparse: adds A's packed arrays to the contract. */
void gemm_add_packed(mc_contract *c);
/* Adds the shapes to the contract; C's and the residual's rows where WITH_C. */
void gemm_add_shapes(const gemm_problem *p, bool with_c, mc_contract *c);
/* What sums may grow to, and the k up to which they are exact. */
void gemm_add_sums(const gemm_problem *p, mc_contract *c);

/* Rows of A and of B: how many there are, and what each consists of; names of shapes. */
static inline const char *gemm_b_rows(const gemm_problem *p) { return p->b_rows ? "k" : "n"; }
static inline const char *gemm_b_columns(const gemm_problem *p) { return p->b_rows ? "n" : "k"; }

#endif
