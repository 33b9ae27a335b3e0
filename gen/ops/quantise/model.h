/* How long a kernel that quantises should take on a problem: a roofline with latencies, as the SpMM's
 * (ops/spmm/model.h).
 *
 *   plan, problem -> what a thread block does -> how thread blocks share the multiprocessors -> microseconds
 *
 * The first step is a solver's (estimate.c in its folder). A problem says nothing of leading dimensions: what
 * the spec does not fix is taken to be as small as can be. */
#ifndef MC_QUANTISE_MODEL_H
#define MC_QUANTISE_MODEL_H

#include "ops/quantise/costs.h"
#include "ops/quantise/quantise.h"
#include "parts/model.h"

typedef struct quantise_situation {
    const quantise_plan *plan;
    const mc_gpu *gpu;
    const mc_problem *problem;
    quantise_costs cost;
    double m, n, batch;
    double tiles; /* of rows */
    bool wide;    /* the wide path is taken */
} quantise_situation;

/* A thread block's share of a launch. */
typedef struct quantise_work {
    double blocks;    /* of the grid */
    double registers; /* of a thread, which wants so many */
    double columns;   /* of A that it makes C of */
    double latency;   /* us that it lasts at least, by what waits for what */
    double busy;      /* us that it keeps its multiprocessor busy */
    double last;      /* the same where A's end cuts the tile */
    double read;      /* megabytes of A that all of them read */
    double pieces;    /* thousands of pieces of C that all of them store */
} quantise_work;

/* The edge path: each thread makes one element of C after another. */
typedef struct quantise_loops {
    double count; /* elements of a thread */
    double lanes; /* threads side by side */
    double warps; /* that have a row inside of A */
    double busy;  /* us of the multiprocessor for all of them */
} quantise_loops;

/* False: what the spec fixes is not the problem's. */
bool quantise_meet(const quantise_plan *plan, const mc_gpu *gpu, const mc_problem *problem,
                   quantise_situation *s);
/* Elements of a lane in a patch's row, over eight. */
double quantise_eighths(const quantise_plan *plan);
/* Pieces of C, each inside of a sector, that COLUMNS of a tile's rows come to. The edge path fills
   them with one store after another. */
double quantise_pieces(const quantise_situation *s, double columns);
/* How the edge path goes over COLUMNS of a tile. */
quantise_loops quantise_loops_of(const quantise_situation *s, double columns);

/* Microseconds of a launch whose thread blocks do WORK. */
double quantise_time_of(const quantise_situation *s, const quantise_work *work);

#endif
