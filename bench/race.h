/* One problem, a matrix and a size: our variants against the peers. */
#ifndef BENCH_RACE_H
#define BENCH_RACE_H

#include <jansson.h>
#include "ceilings.h"
#include "dense.h"
#include "device_packing.h"
#include "pruned_peers.h"
#include "sparse_peers.h"
#include "variants.h"
#include "work.h"

typedef struct race_rules {
    bool cold, between;
    int rounds;        /* of the careful stage */
    int finalists;     /* of ours, for each series: spec and types */
    const char *names; /* of the peers that take part (peers.h); NULL: those of the problem's types */
    /* Where `drawn`, dense operands are drawn on the GPU, which has what must come out, too. */
    bool drawn;
    fill_law law;
    uint64_t seed;
} race_rules;

/* Everything that outlives a problem. */
typedef struct race_track {
    gpu_device gpu;
    helpers helpers;
    ceilings ceilings;
    variant_list variants;
    dense_library dense; /* handle NULL: not taking part */
    sparse_library sparse;
    pruned_library pruned; /* not open: not taking part */
    race_rules rules;
    /* Of a problem that is drawn: its work's matrix, dense, which serves all sizes (drawn.h) */
    const work *drawn_of;
    uint64_t drawn_matrix; /* 0: none */
    device_packing packing;
    FILE *out; /* JSON lines */
} race_track;

/* The contenders of libraries that have operands of their own; NULL: they take no part. */
typedef struct race_peers {
    const dense_peers *dense;
    const pruned_peers *pruned;
} race_peers;

/* How a problem went, for the line on stderr. */
typedef struct race_summary {
    double dense_us, sparse_us, best_us; /* fastest cublaslt f16, cusparse and of ours; 0: none */
    size_t wrong, failed;                /* of our variants */
} race_summary;

/* Verifies every variant and every peer; a quick time for each; then interleaved rounds of the best of ours
   and of all peers, and the results verified once more. Writes a line of kind "quick" with all quick times,
   one of kind "result" for each finalist, and one of kind "note" for each contender that could not take
   part. */
mc_status race_run(race_track *track, const work *work, const work_problem *problem, const race_peers *peers,
                   race_summary *summary, mc_diag *diag);

/* One of the usual classes of sparsity (.5, .6, .7, .8, .9, .95, .98, .99), the nearest. */
double sparsity_class(double sparsity);

#endif
