/* Problems that the kernel tests run: a sparse matrix with a given pattern, dense ones, and the exact result, for each operator. */
#ifndef TESTS_PROBLEM_H
#define TESTS_PROBLEM_H

#include "pattern.h"

/* C = A B with A sparse, or with C sparse, where a mask has nonzero vectors. */
typedef enum problem_operator { OPERATOR_SPMM, OPERATOR_SDDMM, OPERATORS } problem_operator;

typedef struct problem_case {
    pattern pattern; /* of A, row_blocks x k; of SDDMM's mask, row_blocks x n */
    int row_blocks, k, n;
    int ldb_gap,
        ldc_gap; /* beyond the rows' elements, or a little more (problem_ldb); SDDMM's C has no rows */
    mc_value_law values;
    unsigned b_offset, c_offset; /* bytes that B and C lie past an aligned address */
    unsigned residual_offset;
    int lda_gap; /* of SDDMM's dense A, as those of B */
    unsigned a_offset;
    int infinities; /* not 0: of SpMM's B of floats one element in so many, few enough that most sums are no NaN */
    bool unfilled; /* operands are zero, and there are no sums: the caller fills in both */
} problem_case;

/* What a kernel multiplies. */
typedef struct problem_kind {
    mc_type lhs, rhs;
    int vec;
    int64_t most; /* of A's values; 0: of their type */
    problem_operator op;
    mc_layout layout;     /* of SDDMM's B */
    mc_residual residual; /* of SpMM */
    mc_type out;          /* of its C, where that has 4 bits */
    bool b_columns;       /* of SpMM: B is column-major */
    bool c_columns;       /* C and the residual are */
    bool panels;          /* of SpMM: an infinity of B meets zeros of the panel's other rows, too */
} problem_kind;

mc_status problem_kind_of(const mc_kernel *kernel, problem_kind *kind, mc_diag *diag);

typedef struct problem {
    const problem_case *spec;
    problem_kind kind;
    mc_vsparse a; /* SpMM's A, or the mask */
    mc_dense dense_a /* SDDMM's */, b, sums, residual;
    mc_dense stored_b, stored_residual; /* column-major, where the kernel wants it so */
    mc_dense bounds;                    /* of floats: how far a kernel's sums may be from these */
    float *scale, *bias, *b_scale;      /* as many as the larger of m and n */
    float c_scale, zero, beta;
    int64_t ldc;
} problem;

/* Leading dimensions. Where two elements share a byte, rows are whole bytes: an odd number of them where there is a gap to no
   multiple of 16. */
int problem_lda(const problem_case *spec, const problem_kind *kind);
int problem_ldb(const problem_case *spec, const problem_kind *kind);
/* Of the residual: as odd or even as B's, but odd where everything else of the problem is aligned in one pattern. */
int problem_ldr(const problem_case *spec, const problem_kind *kind);
int problem_ldc(const problem_case *spec, const problem_kind *kind);

mc_status problem_make(const problem_case *spec, const problem_kind *kind, problem *p, mc_diag *diag);
/* The same with MASK in place of SPEC's pattern. */
mc_status problem_make_of(const mc_csr *mask, const problem_case *spec, const problem_kind *kind, problem *p,
                          mc_diag *diag);
void problem_free(problem *p);

/* Runs P through KERNEL (PTX: other PTX in its place, or NULL) on DEVICE and compares. MC_OK: exact. */
mc_status problem_run(const problem *p, mc_device *device, const mc_kernel *kernel, const char *ptx,
                      mc_diag *diag);

/* Settings that fix all five shapes to P's, and the leading dimension of a residual; TEXT keeps their values. */
enum { PROBLEM_SHAPES = 5 };
typedef struct fixed_settings {
    mc_setting settings[PROBLEM_SHAPES + 1];
    char text[PROBLEM_SHAPES + 1][24];
    int count;
} fixed_settings;
void problem_fix(const problem_case *spec, const problem_kind *kind, fixed_settings *fixed);

#endif
