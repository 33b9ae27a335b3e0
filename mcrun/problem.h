/* A spec and a sparse matrix, A of an SpMM or the mask of an SDDMM,
   as the commands that run and pack take them. */
#ifndef MCRUN_PROBLEM_H
#define MCRUN_PROBLEM_H

#include "matrix/bsr.h"
#include "options.h"

/* First member of a command's struct of options. */
typedef struct problem_options {
    cmd_settings settings;
    const char *variant, *a_file, *scale_file, *bias_file;
    const char *mask_file; /* values of a mask */
    int order;             /* of a_file or mask_file: mc_take_order */
    int64_t seed;
    bool dilate, unite, quantise, random_values;
    const char *pattern; /* of --pattern */
} problem_options;

/* Their rows, tables of a command: of the spec; of A's values, scales and biases; of the matrix. */
enum { PROBLEM_SPEC_OPTIONS = 4, PROBLEM_VALUE_OPTIONS = 5, PROBLEM_PATTERN_OPTIONS = 5 };
extern const cmd_option problem_spec_table[PROBLEM_SPEC_OPTIONS];
extern const cmd_option problem_value_table[PROBLEM_VALUE_OPTIONS];
extern const cmd_option problem_pattern_table[PROBLEM_PATTERN_OPTIONS];

typedef struct problem {
    const problem_options *options;
    const char *spec_path, *matrix_path;
    bool dilate;
    int capability; /* of the GPU that the spec is read for; 0: of none */
    mc_spec *spec;
    /* Of the directory of a published format: A before problem_fit. vec is 0 where MATRIX is a file. */
    mc_vsparse given;
    mc_csr pattern;
    mc_blocks blocks; /* of a BSR; 0 x 0: MATRIX is none */
    mc_vsparse a;     /* or the mask, which is of f32; a.vec is 0 until problem_fit */
    bool is_mask;
    int64_t most; /* of random values: what the kernel's digits hold */
    double fill;
    const char *values_from; /* the file that a's values are of; NULL: random */
    double scale;            /* of --quantise: a MATRIX's value is that of A times it; 0: as they are */
} problem;

/* Reads the spec, for a GPU of CAPABILITY or for none, and the matrix (NULL: the operator has none): a file
   (.smtx, .mtx, dense), the arrays of a BSR, or the directory of a published format with its values. The
   caller closes also after a failure. */
mc_status problem_open(problem *p, const char *spec_path, const char *matrix_path,
                       const problem_options *options, int capability, mc_diag *diag);
void problem_close(problem *p);

/* Reads the spec again, with EXTRA settings after those of the command line. */
mc_status problem_respec(problem *p, const mc_setting *extra, size_t count, mc_diag *diag);

/* The index that --variant names, or the default. */
mc_status problem_variant(const problem *p, size_t *variant, mc_diag *diag);

/* Whether nonzeros of the matrix at PATH usually become vectors (.smtx),
   and rows do not share vectors (the others). */
bool problem_is_dilated(const char *path);

/* Reads the file or BSR at PATH; BLOCKS are 0 x 0 where it is none. */
mc_status problem_read_pattern(const char *path, mc_csr *csr, mc_blocks *blocks, mc_diag *diag);
/* MC_CANNOT where rows of blocks are not cut into whole vectors of VEC elements. */
mc_status problem_check_blocks(const char *path, const mc_blocks *blocks, int vec, mc_diag *diag);

/* Whether MATRIX is a mask to KERNEL. */
bool problem_is_mask(const mc_kernel *kernel);

/* Makes A as KERNEL wants it: V rows a vector, values of its type, random ones with digits of its kind. Does
   nothing where A is that already; *CHANGED says which. */
mc_status problem_fit(problem *p, const mc_kernel *kernel, bool *changed, mc_diag *diag);

#endif
