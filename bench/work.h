/* The host's share of a matrix: everything that the GPU is given, and the exact result. Made on other threads,
   ahead of the GPU. */
#ifndef BENCH_WORK_H
#define BENCH_WORK_H

#include "formats.h"
#include "variants.h"

enum { WORK_MAX_N = 8 };

/* Formats of the sparse peers. X(name, label) */
#define SPARSE_LIST(X)                                                                                       \
    X(CSR, "cusparse csr f16")                                                                               \
    X(BSR, "cusparse bsr f16")                                                                               \
    X(ELL, "cusparse blocked-ell f16")                                                                       \
    X(ELL_S8, "cusparse blocked-ell s8")

enum {
#define X(name, label) SPARSE_##name,
    SPARSE_LIST(X)
#undef X
        SPARSE_FORMATS
};

/* What all matrices of a run have in common. */
typedef struct work_plan {
    int64_t n[WORK_MAX_N];
    size_t n_count;
    const variant_list *variants;
    bool sparse_peers;
    uint64_t seed;
} work_plan;

/* B and C for one N. B has padded_k rows, the last ones zero, for formats whose blocks reach beyond K; its ld is N, or N + 1
   where two elements share a byte and N is odd. */
typedef struct work_dense {
    mc_dense b;
    uint16_t *b_half; /* B / 128, of s8; NULL without sparse peers, as the next */
    int8_t *b_cols;   /* B column-major: n x padded_k */
    int32_t *want;    /* A B modulo 2^32 */
} work_dense;

typedef struct work {
    char *path;
    const char *name;   /* of the file, inside path */
    int64_t rows, cols; /* of the pattern, read ahead */
    mc_vsparse a;
    int64_t padded_k;
    mc_packed *packings; /* one for each group of the variants */
    work_dense dense[WORK_MAX_N];
    sparse_arrays formats[SPARSE_FORMATS]; /* empty without sparse peers */
    char *error;                           /* not NULL: this matrix could not be prepared */
} work;

/* Lists the .smtx files of FOLDER and below, those whose name contains FILTER (NULL: all), sorted by shape and
   name, at most LIMIT of them where that is not 0. MC_CANNOT where there are none. The caller frees. */
mc_status work_list(const char *folder, const char *filter, size_t limit, work **items, size_t *count,
                    mc_diag *diag);
void work_list_free(work *items, size_t count);

/* Reads the matrix, dilates it by the variants' V, draws values from the plan's seed, packs it for every group,
   multiplies. What goes wrong stands in work->error. */
void work_prepare(work *work, const work_plan *plan);
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
