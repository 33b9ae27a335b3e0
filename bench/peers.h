/* What the libraries' contenders are asked about: a problem of ours, and which of them shall take part. */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include "helpers.h"

/* The longest text that says why one has no part. */
enum { PEER_NOTE = 160 };

/* A peer's matrix with its zeros may take so many bytes. One that takes more, as that of a large graph, is no
   contender. */
enum { PEER_MOST_BYTES = 1 << 30 };

typedef struct peer_problem {
    int64_t m, n, k;
    mc_type lhs, rhs;  /* our sides */
    unsigned outs;     /* our results, a bit each: 1 << MC_F16 */
    const char *names; /* those alone whose names have one of these texts, between commas; NULL: by types */
    bool own;          /* by types: of our types alone, beside the usual base of speeds */
    bool k_contiguous; /* B is stored n x k */
    bool turned;       /* few columns: C may lie by columns, too */
    bool sampled;      /* ours compute some elements of C only */
    bool cold;
    fill_law law; /* of the peers' own operands */
} peer_problem;

/* Whether NAME has one of the texts of LIST (between commas) in it; all have, where LIST is NULL. */
bool peer_is_named(const char *list, const char *name);

/* Whether products of A by B with RESULT are ours. Where none of RESULTS (a bit each) is one of ours, all
   are. */
bool peer_is_own(const peer_problem *problem, mc_type a, mc_type b, mc_type result, unsigned results);

/* MC_CANNOT: NAME, A or a sampled C, takes more than PEER_MOST_BYTES as a dense matrix of ROWS x COLS. */
mc_status peer_check_dense(const char *name, int64_t rows, int64_t cols, mc_type type, mc_diag *diag);

/* The last of DIAG's messages, which says it all. */
const char *peer_last_message(const mc_diag *diag);

#endif
