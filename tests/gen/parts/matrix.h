/* Operands of the parts' tests: matrices of small integers in every type that wgmma has, and what a 2:4 sparse A
 * is made into. */
#ifndef TESTS_GEN_PARTS_MATRIX_H
#define TESTS_GEN_PARTS_MATRIX_H

#include <stddef.h>
#include <stdint.h>

enum { POISON = 0xa5 }; /* what lies around a matrix */

/* 1 and 2 as a type has them, its sign, and whether -1 is ~1 + 1. */
struct element {
    const char *name;
    int bytes;
    uint32_t one, two, sign;
};
const struct element *element_of(const char *name);

/* Integers, and the same as the type has them, ROWS rows that lie LD elements apart. */
typedef struct matrix {
    int rows, columns, ld, bytes;
    int8_t *values;
    unsigned char *data;
    uint64_t at; /* on the device */
} matrix;

/* Random ones from -2 to 2, whose rows begin at multiples of 16 bytes. */
matrix make_matrix(const struct element *e, int rows, int columns);
void free_matrix(matrix *m);

/* Of each 4 of a row of DENSE, two stay. Returns these, and in META their places: 4 bits for each two. */
matrix compress(const struct element *e, matrix *dense, unsigned char *meta);
/* Of each 2, one stays, which is the first one or the second one. */
matrix compress_pairs(const struct element *e, matrix *dense, unsigned char *meta);

typedef struct atoms {
    unsigned char *values, *meta;
    size_t value_bytes, meta_bytes;
    uint64_t values_at, meta_at;
} atoms;

/* What is KEPT, and its META, in the format packed24. The caller frees both arrays. */
atoms make_atoms(const matrix *kept, const unsigned char *meta);

static inline int round_up(int value, int multiple) { return (value + multiple - 1) / multiple * multiple; }

#endif
