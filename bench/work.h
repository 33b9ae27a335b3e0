/* The host's share of a matrix: everything that the GPU is given, and the exact result or what it is made of.
   Made on other threads, ahead of the GPU. */
#ifndef BENCH_WORK_H
#define BENCH_WORK_H

#include "formats.h"
#include "orders.h"
#include "sparse_formats.h"
#include "variants.h"

struct operation;

enum { WORK_MAX_SIZES = 16 };

/* Of the dense product: C is m x n. */
typedef struct problem_shape {
    int64_t m, n, k;
} problem_shape;

/* What all matrices of a run have in common. */
typedef struct work_plan {
    const struct operation *operation;
    int64_t sizes[WORK_MAX_SIZES];
    size_t size_count;
    const variant_list *variants;
    bool sparse_peers;
    uint64_t seed;
    /* Where `drawn`, dense operands are drawn on the GPU (drawn.h), by LAW. Of shapes without files SPARSITY
       is that of their patterns, where an operator has one. */
    bool drawn;
    fill_law law;
    double sparsity;
    /* What estimates are for */
    mc_gpu gpu;
    bool cold;
    /* Of each contender's variants only so many take part in a problem, those of the least estimates. 0: all,
       as where none has an estimate */
    int64_t best;
} work_plan;

/* One size's dense operands and, spmm, result. Members that an operator has not are NULL. */
typedef struct work_problem {
    problem_shape shape;
    /* Of each variant: mc_spec_estimate, us; and whether it takes part */
    double *estimates;
    bool *takes;
    /* our kernels'; spmm: b only. The ld is the length of a row, and one more where two elements share a byte
       and that is odd */
    mc_dense a, b; /* without data: drawn on the GPU */
    /* Further operands, at their index in the operator's list, factors as one row. Those in place, C too, as
       launches find them */
    mc_dense others[MAX_OPERANDS];
    int32_t *want; /* spmm of integers: A B modulo 2^32 */
    /* Of floats: between what sums a kernel's may lie; spmm: m x n; sddmm: a row of V for each vector */
    sum_range within;

    /* sddmm of integers: A's rows and B's columns, padded_cols of them, of k s32 each */
    int32_t *wide_a, *wide_b;

    /* Of the sparse peers, values of s8 / 128, or floats as they are, as bits of 16 and in f32; columns and
       rows beyond A's or the mask's are zero. */
    uint16_t *a_half, *b_half; /* spmm: B, row-major, padded_cols x n; sddmm: as wide */
    float *a_float, *b_float;  /* the same; sddmm of floats has them without peers, too */
    int8_t *b_cols;            /* spmm: B's columns, of padded_cols s8 each */
} work_problem;

typedef struct work {
    char *path;
    bool made;           /* of no file, but of a set of shapes: the path is its name */
    const char *name;    /* of the file, inside path */
    int64_t rows, cols;  /* of the pattern, read ahead; 0 of a compressed file */
    mc_vsparse a;        /* the mask of sddmm */
    int64_t padded_cols; /* at least its columns, in whole blocks of every sparse peer */
    mc_packed *packings; /* one for each group of the variants; empty, where none of it takes part */
    double *pack_us;     /* how long its thread packed each */
    char **refused; /* of each NULL, or why the matrix cannot be packed so: none of the group takes part */
    work_problem problems[WORK_MAX_SIZES];
    sampled_order orders[ORDER_COUNT]; /* sddmm: those of the variants and the sparse peers */
    /* Empty without sparse peers; without row_ptr, where its zeros would take too many bytes */
    sparse_arrays formats[SPARSE_FORMATS];
    char *error; /* not NULL: this matrix could not be prepared */
} work;

/* Lists the .smtx and .mtx files of FOLDER and below, also compressed ones that are read: those whose name
   contains FILTER (NULL: all), sorted by shape and name, at most LIMIT of them where that is not 0. MC_CANNOT
   where there are none. The caller frees. */
mc_status work_list(const char *folder, const char *filter, size_t limit, work **items, size_t *count,
                    mc_diag *diag);
void work_list_free(work *items, size_t count);

/* Reads the matrix, dilates it by the variants' V, draws values from the plan's seed, packs it for every
   group, and makes the operator's problems of it. What goes wrong stands in work->error. */
void work_prepare(work *work, const work_plan *plan);
/* choose.c: estimates of all problems, whose operands are there, and which variants take part. */
mc_status work_choose(work *work, const work_plan *plan, mc_diag *diag);
/* Whether a variant of GROUP takes part in one of them. */
bool work_packs(const work *work, const work_plan *plan, size_t group);
/* Takes those of GROUP out. False: nothing would be left. */
bool work_leave_out(work *work, const work_plan *plan, size_t group);
/* Whether both sides are floats, whose sums are right within bounds. */
bool work_is_within(const variant_list *variants);
/* The least leading dimension of rows of LENGTH elements. */
int64_t work_whole_bytes(mc_type type, int64_t length);
/* Frees all but the path. */
void work_release(work *work, const work_plan *plan);

/* Prepares ITEMS in order on threads, never more than DEPTH ahead of the taker. */
typedef struct feeder feeder;
mc_status feeder_start(feeder **feeder, work *items, size_t count, const work_plan *plan, int threads,
                       int depth, mc_diag *diag);
/* The next item in order, prepared. The taker releases it. At most COUNT calls. */
work *feeder_take(feeder *feeder);
/* Stops also before all is taken; waits for the threads. NULL is accepted. */
void feeder_stop(feeder *feeder);

#endif
