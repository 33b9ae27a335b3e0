/* A sparse matrix in host memory, of any kind that formats pack. */
#ifndef MCRT_HOST_H
#define MCRT_HOST_H

#include "matrix/vsparse.h"

typedef enum matrix_kind {
    MATRIX_VECTORS, /* nonzero vectors with values */
    MATRIX_CSR,     /* a pattern of single elements */
    MATRIX_KINDS
} matrix_kind;

/* A reference, with what all kinds have. Which member holds, KIND says. */
typedef struct host_matrix {
    matrix_kind kind;
    int64_t rows, cols;
    union {
        const mc_vsparse *vectors;
        const mc_csr *csr;
    };
} host_matrix;

static inline host_matrix host_vectors(const mc_vsparse *a) {
    return (host_matrix){.kind = MATRIX_VECTORS, .rows = a->rows, .cols = a->cols, .vectors = a};
}
static inline host_matrix host_csr(const mc_csr *a) {
    return (host_matrix){.kind = MATRIX_CSR, .rows = a->rows, .cols = a->cols, .csr = a};
}

/* "nonzero vectors". */
const char *matrix_kind_text(matrix_kind kind);

#endif
