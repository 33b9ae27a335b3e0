/* Problems that the kernel tests run: a matrix with a given pattern, B, and the exact result. */
#ifndef TESTS_PROBLEM_H
#define TESTS_PROBLEM_H

#include "mcrt.h"

typedef enum pattern {
    PATTERN_EMPTY_BLOCKS, /* every third row block is empty, the others hold 30 % */
    PATTERN_ALL_EMPTY,
    PATTERN_ONE_FULL,      /* one row block holds every column, the others none */
    PATTERN_BOUNDARIES,    /* row blocks with 0, 1, 31, 32, 33, 63, 64, 65, ... vectors */
    PATTERN_ONE_COLUMN,    /* k = 1 */
    PATTERN_FIRST_COLUMNS, /* the first three, in every row block */
    PATTERN_EITHER_END,    /* the first forty in every second row block, the last three in the others */
    PATTERN_REALISTIC,     /* row lengths as in a pruned layer, 80 % sparse */
} pattern;

typedef struct problem_case {
    pattern pattern;
    int row_blocks, k, n;
    int ldb_gap, ldc_gap; /* ldb = n + ldb_gap or a little more (problem_ldb), ldc = n + ldc_gap */
    mc_value_law values;
    unsigned b_offset, c_offset; /* bytes that B and C lie past an aligned address */
} problem_case;

/* What a kernel multiplies. */
typedef struct problem_kind {
    mc_type lhs, rhs;
    int vec;
    int64_t most; /* of A's values; 0: of their type */
} problem_kind;

mc_status problem_kind_of(const mc_kernel *kernel, problem_kind *kind, mc_diag *diag);

typedef struct problem {
    const problem_case *spec;
    mc_vsparse a;
    mc_dense b, sums;
    float *scale, *bias; /* as many as the larger of m and n */
    int64_t ldc;
} problem;

/* Where two elements share a byte, rows are whole bytes: an odd number of them where there is a gap to no multiple of 16. */
int problem_ldb(const problem_case *spec, const problem_kind *kind);

mc_status problem_make(const problem_case *spec, const problem_kind *kind, problem *p, mc_diag *diag);
void problem_free(problem *p);

/* Runs P through KERNEL (PTX: other PTX in its place, or NULL) on DEVICE and compares. MC_OK: exact. */
mc_status problem_run(const problem *p, mc_device *device, const mc_kernel *kernel, const char *ptx,
                      mc_diag *diag);

/* Settings that fix all five shapes to P's; SETTINGS has room for five, TEXT keeps their values. */
typedef struct fixed_settings {
    mc_setting settings[5];
    char text[5][24];
} fixed_settings;
void problem_fix(const problem_case *spec, const problem_kind *kind, fixed_settings *fixed);

/* Chooses variants of SPEC so that every pair of values of two tuned fields stands in at least one; variant 0
   first. Returns how many of CHOSEN (room for all variants) are set, *pairs the number of pairs; 0: out of
   memory. */
size_t cover_pairs(const mc_spec *spec, size_t *chosen, size_t *pairs);

#endif
