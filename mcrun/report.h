/* What the commands that run kernels print. */
#ifndef MCRUN_REPORT_H
#define MCRUN_REPORT_H

#include <jansson.h>
#include "matrix/bsr.h"
#include "mcrt_internal.h"

#define NO_VARIANT SIZE_MAX

/* What the run of one variant came to. */
typedef struct run_result {
    size_t variant; /* NO_VARIANT: it is none of a spec's, but of a record */
    uint64_t hash;
    const char *spec; /* its path */
    double estimate;  /* us; 0: nobody asked */
    double recorded;  /* what its record says, 0: there is none */
    bool simulated;   /* it ran on the simulator, and so did what was recorded */
    bool cold;        /* with cold operands */
    bool other_generator;
    char *text;       /* fields of the variant, in text only those left to tuning; owned */
    mc_status status; /* MC_OK: exact, or, if BOUNDED, within bounds */
    bool bounded;
    char *message;       /* what went wrong, NULL: nothing; owned */
    double microseconds; /* 0: not timed */
} run_result;

/* A leading dimension, and the length of the rows that it leads. */
typedef struct leading_dimension {
    const char *name;
    int64_t value, row;
} leading_dimension;

/* Values of a matrix or factors, and the file that they are of; NULL: random. */
typedef struct value_source {
    char title[OPERAND_TITLE];
    const char *from;
} value_source;
enum { MAX_SOURCES = MAX_OPERANDS + 1 };

typedef struct run_shape {
    int64_t m, n, k;
    leading_dimension ld[MAX_OPERANDS];
    size_t ld_count;
    bool sparse;     /* there is a sparse matrix */
    int64_t vectors; /* nonzero ones, of VEC elements, of the sparse matrix */
    int vec;
    int64_t length; /* products that each of its elements takes part in or, in C, is made of: N or K */
    int64_t bytes;  /* of B that are read for a nonzero vector: a row's, or a column's, without its gap */
    double sparsity, fill;
    int64_t given_rows; /* of the matrix's file, before empty ones made them a multiple of vec; -1: as many */
    mc_blocks blocks;   /* of the matrix's BSR; 0 x 0: it is none */
    value_source sources[MAX_SOURCES];
    size_t source_count;
    double quantised; /* a value of the matrix's file is that of A times it; 0: as they are */
    int64_t moved;    /* without a sparse matrix: bytes of the dense operands, read or written */
} run_shape;

/* 1 - vectors / (row blocks x columns); 0 where A has no element. */
double report_sparsity(const mc_vsparse *a);

void report_print_table(const run_shape *shape, const run_result *result, const char *device);
/* A line of --variants all. */
void report_print_line(const run_shape *shape, const run_result *result, const char *mark);

/* NULL: out of memory. Gathered bytes are those of B, once for each nonzero vector, without padding; an
   operation is a multiplication or an addition, for stored values only. Without a sparse matrix the bytes are
   those of all dense operands, once. */
json_t *report_json(const run_shape *shape, const run_result *result, const char *device);

#endif
