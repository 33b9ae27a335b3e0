/* The libraries of a run, and their contenders on its problems. */
#ifndef BENCH_RUN_PEERS_H
#define BENCH_RUN_PEERS_H

#include "operation.h"
#include "race.h"

/* Which libraries a run has: a choice of --peers. */
enum { PEERS_ALL = 1, PEERS_CUBLASLT, PEERS_CUSPARSE, PEERS_CUSPARSELT, PEERS_NONE };

typedef struct run_peers run_peers;

/* Opens TRACK's libraries, those that WHICH asks for and that have something of its variants' types. One that
   is missing is said loudly on stderr, and the run goes on without it. NULL: out of memory. */
run_peers *run_peers_open(race_track *track, int which);
/* The contenders of size INDEX of the current matrix, whose dense product has SHAPE. They stay until the same
   index is asked about with another shape: the same masks come in the same shapes, whose peers are looked for
   once. Where operands are drawn, sets of shapes have each once, and the ones before are closed. */
mc_status run_peers_find(run_peers *peers, race_track *track, const problem_shape *shape, size_t index,
                         race_peers *found, mc_diag *diag);
/* TRACK's libraries, too. NULL is accepted. */
void run_peers_close(run_peers *peers, race_track *track);

#endif
