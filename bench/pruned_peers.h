/* The peers with a matrix of 2:4: cuSPARSELt on a problem's shape, with random operands of its own.

   C[m,n] = A[m,k] B[k,n]: A is row-major and has random values, of which a random mask keeps two of each four
   along k; the library compresses it. B is stored with k contiguous. C is row-major, or lies by columns: both
   are tried. m and k are rounded up to multiples of 32, n of 16. Results of s8 other than s32 are multiplied
   by a power of two that suits them. */
#ifndef BENCH_PRUNED_PEERS_H
#define BENCH_PRUNED_PEERS_H

#include "cusparselt_api.h"
#include "pruned_kinds.h"
#include "timer.h"

enum { PRUNED_KEPT = 2, PRUNED_WAYS = 2, PRUNED_PRODUCTS = PRUNED_KINDS * PRUNED_WAYS };

typedef struct pruned_library {
    cusparselt lts;
    lts_object handle;
    bool open;
    int version;
} pruned_library;

/* MC_CANNOT also for a version that the bench does not know. The caller closes also after a failure. */
mc_status pruned_library_open(pruned_library *library, mc_diag *diag);
void pruned_library_close(pruned_library *library);

/* An algorithm, and how it splits k: what a plan is made of. */
typedef struct pruned_choice {
    int id, split, mode; /* split 0: as the library does where nothing is said */
    bool searched;       /* cusparseLtMatmulSearch took it */
} pruned_choice;

struct pruned_product;

typedef struct pruned_call {
    const struct pruned_product *product;
    pruned_choice choice;
    lts_object selection, plan;
    bool selected, planned; /* what there is to destroy */
    uint64_t workspace;
    double quick;
} pruned_call;

/* One kind's product, its C by rows or by columns. */
typedef struct pruned_product {
    const pruned_library *library; /* NULL: it takes no part */
    const pruned_kind *kind;
    bool by_columns;
    fill_law law;
    int64_t m, n, k, padded;
    float alpha;
    operand_slab slab;
    size_t a, b, d; /* parts of the slab: A compressed */
    uint64_t want;
    lts_object descs[3], matmul; /* of A, B and C */
    int desc_count;
    pruned_call *kept[PRUNED_KEPT]; /* fastest first; NULL behind the last */
    int tried, right;               /* algorithms, and those that gave the right result */
} pruned_product;

/* -- pruned_product.c: the library; a product's operands and what must come out */

mc_status pruned_product_open(pruned_product *product, gpu_device *gpu, helpers *helpers, bool cold,
                              mc_diag *diag);
void pruned_product_close(pruned_product *product, gpu_device *gpu);
void pruned_set_shape(pruned_product *product, const peer_problem *problem);
tolerance pruned_allowed(const pruned_product *product);

/* -- pruned_calls.c: a product's algorithms */

/* Verifies and times them all; the fastest are the product's `kept`. */
mc_status pruned_choose(pruned_product *product, gpu_device *gpu, helpers *helpers, mc_diag *diag);
contender pruned_contender(const pruned_call *call);
void pruned_call_free(pruned_call *call, gpu_device *gpu);

/* -- pruned_peers.c */

typedef struct pruned_peers {
    pruned_product products[PRUNED_PRODUCTS];
    contender contenders[PRUNED_PRODUCTS * PRUNED_KEPT];
    size_t count;
    char notes[PRUNED_PRODUCTS][PEER_NOTE]; /* why a product has no contender; "" where it has */
} pruned_peers;

/* Verifies and times every algorithm, with and without splitting k, and what the library's own search takes,
   for every kind that takes part, and keeps the fastest two of each product as contenders. One for which
   nothing works is no failure: it has a note. PEERS must stay where it is; the caller closes. */
mc_status pruned_open(pruned_peers *peers, const pruned_library *library, gpu_device *gpu, helpers *helpers,
                      const peer_problem *problem, mc_diag *diag);
void pruned_close(pruned_peers *peers, gpu_device *gpu);

#endif
