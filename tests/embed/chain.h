/* Two products in a row on the device, as in attention without its softmax: S = mask of (Q K), a batched SDDMM, is what a
   batched SpMM multiplies with V. S never leaves the device and is not packed again. */
#ifndef TESTS_EMBED_CHAIN_H
#define TESTS_EMBED_CHAIN_H

#include "check.h"
#include "mcrt_internal.h"

enum { CHAIN_MOST_HEADS = 64 };

typedef struct chain_kind {
    const char *name;
    mc_type between; /* of S: s8 or u8 */
    int vec, heads;
    int64_t queries, keys, depth, width; /* Q is queries x depth, K keys x depth, V keys x width */
    double sparsity;
    bool patterns; /* one for each head, else all have the same */
    int64_t gap;   /* elements between the S of a head and the next; 0 with patterns */
    mc_shapes shapes;
    const char *specs[2]; /* of the SDDMM, of the SpMM; NULL: the shipped ones */
} chain_kind;

typedef struct chain {
    const chain_kind *kind;
    mc_context *context;
    mc_vsparse masks[CHAIN_MOST_HEADS]; /* a head's */
    mc_dense q[CHAIN_MOST_HEADS], k[CHAIN_MOST_HEADS], v[CHAIN_MOST_HEADS], want[CHAIN_MOST_HEADS];
    mc_matrix *matrix;
    mc_plan *sddmm, *spmm;
    int64_t s_elements; /* of a head */
    mc_address device_q, device_k, device_v, device_s, device_c;
} chain;

/* Random operands, both plans, and what must come of them. The caller closes also after a failure. */
mc_status chain_open(chain *c, mc_context *context, const chain_kind *kind, uint64_t seed, mc_diag *diag);
void chain_close(chain *c);
/* Fills S and the result with what no kernel leaves there. */
mc_status chain_poison(const chain *c, mc_diag *diag);
/* Puts both launches on STREAM. */
mc_status chain_launch(const chain *c, void *stream, mc_diag *diag);
/* MC_MISMATCH where the result on the device is not what it has to be. */
mc_status chain_check(const chain *c, mc_diag *diag);

#endif
