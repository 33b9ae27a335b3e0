/* What the emitters of the csr SDDMM share: the registers that live through the kernel, or through a path. */
#ifndef MC_SDDMM_CSR_EMIT_H
#define MC_SDDMM_CSR_EMIT_H

#include "ops/sddmm/csr/csr.h"

enum {
    CSR_CHAINS = 2 /* sums of a lane for a nonzero: of elements 0, 2, ... of its units, and of 1, 3, ... */
};

/* Where C's elements lie that a lane stores, and what they are multiplied by (store.c). */
typedef struct csr_store {
    mc_reg left; /* nonzeros from the lane's first one on; lanes that store none have none */
    mc_reg c_at, mask_at, item_at;
    mc_reg scale; /* of all C, or the array's address */
    mc_reg scale_at, stores, upper[3 /* halvings of CSR_MOST_AHEAD sums */], give;
    mc_reg own_scale[CSR_MOST_AHEAD], own_mask[CSR_MOST_AHEAD], index[CSR_MOST_AHEAD];
    out_scratch elements;
} csr_store;

typedef struct csr_emitter {
    const csr_plan *plan;
    mc_builder *b;
    mc_reg lane, part, group;       /* part, group: none where there is one alone */
    mc_reg first;                   /* this group's first nonzero */
    mc_reg items, nonzeros, listed; /* listed: nonzeros of whole items, the odd one's neighbour among them */
    mc_reg k, lda, ldb, a, b_array;
    mc_reg sum[CSR_CHAINS * CSR_MOST_AHEAD]; /* of a path: [nonzero][chain] */
    csr_store store;
} csr_emitter;

/* loop.c. All of this group's nonzeros, `ahead` at a time. */
void sddmm_csr_emit_loop(csr_emitter *e, const csr_path *path);

/* store.c. The first sets this lane's place in C. Then for each `ahead` nonzeros: load what their sums are
   multiplied by; add up over lanes, and store; go on to the next ones. */
void sddmm_csr_declare_store(csr_emitter *e);
void sddmm_csr_emit_factors(csr_emitter *e);
void sddmm_csr_emit_store(csr_emitter *e);
void sddmm_csr_emit_next_store(csr_emitter *e);

#endif
