/* Pruning a dense matrix to V x 1 vectors, and quantising what is kept. */
#ifndef MCRT_PRUNE_H
#define MCRT_PRUNE_H

#include "base/quantiser.h"
#include "matrix/vsparse.h"

/* What a vector is worth: the sum of its magnitudes, or of its squares. */
typedef enum mc_prune_by { MC_PRUNE_MAGNITUDE, MC_PRUNE_L2 } mc_prune_by;

typedef struct mc_prune_config {
    int vec;
    double sparsity; /* of vectors, 0 to 1 */
    mc_prune_by by;
    const mc_csr
        *mask;    /* of the matrix's shape: the vectors that it has a nonzero in are kept; NULL: by worth */
    mc_type type; /* of the integers: signed */
    bool scale_rows; /* a scale for each row; else one for all */
} mc_prune_config;

typedef struct mc_pruned {
    mc_vsparse a;    /* rows are a multiple of vec, those behind the matrix's last are empty */
    mc_dense scales; /* f32, one row: 1, or a.rows of them. An element is that of A times its scale */
    double energy;   /* of the kept vectors, of the whole sum of squares: 1 where that is 0 */
} mc_pruned;

/* Keeps the round((1 - sparsity) * vectors) vectors of DENSE that are worth most, of equal ones the first, or
   those of the mask. A scale takes the greatest magnitude that is kept to the type's greatest number;
   elements are divided by it in f64 and rounded to nearest even. MC_CANNOT for infinities and NaN, MC_USAGE
   for a type that is not signed, a vec below 1, a sparsity that is none, or a mask of another shape. The call
   creates OUT. */
MC_API mc_status mc_prune(const mc_dense *dense, const mc_prune_config *config, mc_pruned *out,
                          mc_diag *diag);
MC_API void mc_pruned_free(mc_pruned *pruned);

/* How far products are from one with DENSE and X: sqrt of the sums of squared differences over those of
   squares. */
typedef struct mc_prune_errors {
    double pruned;      /* of what was kept, before quantising */
    double quantised;   /* of that quantised */
    double activations; /* and of X quantised, too */
} mc_prune_errors;

/* X: tokens x features, row-major; ACTIVATIONS: how X is quantised, NULL: not, and of that there is no error.
   MC_USAGE where X has other features than DENSE has columns. */
MC_API mc_status mc_prune_error(const mc_dense *dense, const mc_pruned *pruned, const mc_dense *x,
                                const quantiser *activations, mc_prune_errors *errors, mc_diag *diag);

/* What a product with quantised activations has too much because of their zero point, taken off: a bias for
   each row, 1 x a.rows, in f32. */
MC_API mc_status mc_prune_bias(const mc_pruned *pruned, const quantiser *activations, mc_dense *bias,
                               mc_diag *diag);

#endif
