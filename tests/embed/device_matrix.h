/* Matrices made from device memory, for tests: the same ones on the host, sources of them, and what they must hold. */
#ifndef TESTS_EMBED_DEVICE_MATRIX_H
#define TESTS_EMBED_DEVICE_MATRIX_H

#include "context/matrix.h"
#include "product.h"

/* What everything is made in; set by the test. */
extern mc_context *context;
/* What main returns: checks of the test, of product.c and of this file. */
int device_end(int test_end);

/* How many columns, and which of them a row block has. */
typedef struct device_shape {
    const char *name;
    int64_t row_blocks, cols;
    bool (*has)(int64_t block, int64_t col);
} device_shape;

enum { DEVICE_SHAPES = 7, DEVICE_DENSE_KINDS = 7 };
extern const device_shape device_shapes[DEVICE_SHAPES]; /* the first one has row blocks of all kinds */

mc_vsparse device_make_host(mc_type type, int vec, const device_shape *s);
/* Values up to MOST. */
void device_fill(mc_vsparse *host, uint64_t seed, int64_t most);
mc_address device_put(const void *data, size_t bytes);
size_t device_value_bytes(const mc_vsparse *host);
/* With HOST's values, or zeros. */
mc_matrix *device_from_bcrs(const mc_vsparse *host, bool zeros);

/* A dense matrix of what HOST has; elements of no vector are zero, or JUNK, which a mask leaves out. */
typedef struct device_dense_kind {
    bool by_columns, gap, mask, junk;
} device_dense_kind;

extern const device_dense_kind
    device_dense_kinds[DEVICE_DENSE_KINDS]; /* the first one has no gaps and no mask */
/* The caller frees. */
void *device_make_dense(const mc_vsparse *host, device_dense_kind kind, size_t *bytes);
/* All but the addresses. */
mc_device_dense_config device_dense_config(const mc_vsparse *host, device_dense_kind kind);
mc_matrix *device_from_dense(const mc_vsparse *host, device_dense_kind kind);

void device_compare_host(mc_matrix *matrix, const mc_vsparse *want, const char *text);
/* New values of FRESH, by one of the ways in turn. */
void device_set_values(mc_matrix *matrix, const mc_vsparse *fresh, int turn);

#endif
