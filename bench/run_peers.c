#include <stdio.h>
#include <stdlib.h>
#include "run_peers.h"

enum { FEW_COLUMNS = 64 };

/* Those of one size. */
typedef struct size_peers {
    problem_shape shape; /* all 0: none yet */
    dense_peers dense;
    pruned_peers pruned;
} size_peers;

struct run_peers {
    size_peers *sizes[WORK_MAX_SIZES];
};

/* -- Libraries ------------------------------------------------------------------------------------------- */

static const char *const libraries[] = {
    [PEERS_CUBLASLT] = "cuBLASLt", [PEERS_CUSPARSE] = "cuSPARSE", [PEERS_CUSPARSELT] = "cuSPARSELt"};

/* SHAPE is NULL where only types are asked about. */
static peer_problem problem_of(const race_track *t, const problem_shape *shape) {
    const operation *op = t->variants.operation;
    peer_problem p = {.lhs = t->variants.lhs,
                      .rhs = t->variants.rhs,
                      .outs = variants_outs(&t->variants),
                      .names = t->rules.names,
                      .own = t->rules.drawn,
                      .k_contiguous = op->k_contiguous,
                      .sampled = operation_is_sampled(op),
                      .cold = t->rules.cold,
                      .law = t->rules.law};
    if (shape == NULL) return p;
    p.m = shape->m, p.n = shape->n, p.k = shape->k;
    p.turned = t->rules.drawn && p.n <= FEW_COLUMNS && p.k_contiguous;
    return p;
}

static mc_status open_dense(race_track *t, mc_diag *diag) {
    mc_status status = dense_library_open(&t->dense, &t->gpu, diag);
    if (status != MC_OK) dense_library_close(&t->dense, &t->gpu);
    return status;
}

static mc_status open_sparse(race_track *t, mc_diag *diag) {
    const variant_list *list = &t->variants;
    if (t->rules.drawn)
        return mc_fail(diag, MC_CANNOT, "operands are drawn on the GPU, and it takes the host's");
    if (!sparse_takes(list->operation->op, list->lhs, list->rhs))
        return mc_fail(diag, MC_CANNOT, "it has no products of %s by %s", mc_type_text(list->lhs),
                       mc_type_text(list->rhs));
    if (sparse_lacks(list->operation->op, list->lhs))
        fprintf(stderr, "mcbench: cuSPARSE has no %s of %s: it multiplies the same values in f32\n",
                operation_name(list->operation), mc_type_text(list->lhs));
    mc_status status = sparse_library_open(&t->sparse, &t->gpu, diag);
    if (status != MC_OK) sparse_library_close(&t->sparse);
    return status;
}

static mc_status open_pruned(race_track *t, mc_diag *diag) {
    const peer_problem types = problem_of(t, NULL);
    if (!pruned_kinds_take(&types))
        return mc_fail(diag, MC_CANNOT, "the bench has no product of it of %s by %s", mc_type_text(types.lhs),
                       mc_type_text(types.rhs));
    mc_status status = pruned_library_open(&t->pruned, diag);
    if (status != MC_OK) pruned_library_close(&t->pruned);
    return status;
}

/* Whether a run of WHICH wants LIBRARY. Products of 2:4 are another problem than those of all elements:
   beside these they are measured where they are asked for. */
static bool is_wanted(const race_track *t, int which, int library) {
    if (which != PEERS_ALL) return which == library;
    if (library == PEERS_CUSPARSE && t->variants.operation->mask != MASK_PATTERN) return false;
    if (library != PEERS_CUSPARSELT || t->variants.operation->mask == MASK_24) return true;
    const peer_problem types = problem_of(t, NULL);
    return t->rules.names != NULL && pruned_kinds_take(&types);
}

run_peers *run_peers_open(race_track *t, int which) {
    static mc_status (*const open[])(race_track *, mc_diag *) = {
        [PEERS_CUBLASLT] = open_dense, [PEERS_CUSPARSE] = open_sparse, [PEERS_CUSPARSELT] = open_pruned};
    mc_diag *diag = mc_diag_create();
    for (int library = PEERS_CUBLASLT; library < PEERS_NONE; library++) {
        mc_diag_clear(diag);
        if (is_wanted(t, which, library) && open[library](t, diag) != MC_OK)
            fprintf(stderr, "mcbench: WITHOUT %s: %s\n", libraries[library], mc_diag_text(diag));
    }
    mc_diag_destroy(diag);
    return calloc(1, sizeof(run_peers));
}

/* -- Contenders ------------------------------------------------------------------------------------------ */

static void close_size(run_peers *peers, race_track *t, size_t index) {
    size_peers *s = peers->sizes[index];
    if (s == NULL) return;
    dense_close(&s->dense, &t->gpu);
    pruned_close(&s->pruned, &t->gpu);
    free(s);
    peers->sizes[index] = NULL;
}

static bool same_shape(const problem_shape *a, const problem_shape *b) {
    return a->m == b->m && a->n == b->n && a->k == b->k;
}

static mc_status open_size(run_peers *peers, race_track *t, const problem_shape *shape, size_t index,
                           mc_diag *diag) {
    const peer_problem problem = problem_of(t, shape);
    size_peers *s = calloc(1, sizeof *s);
    peers->sizes[index] = s;
    if (s == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    s->shape = *shape;
    mc_status status = MC_OK;
    if (t->dense.handle != NULL)
        status = dense_open(&s->dense, &t->dense, &t->gpu, &t->helpers, &problem, diag);
    if (status == MC_OK && t->pruned.open)
        status = pruned_open(&s->pruned, &t->pruned, &t->gpu, &t->helpers, &problem, diag);
    return status;
}

mc_status run_peers_find(run_peers *peers, race_track *t, const problem_shape *shape, size_t index,
                         race_peers *found, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; t->rules.drawn && i < WORK_MAX_SIZES; i++) close_size(peers, t, i);
    if (peers->sizes[index] != NULL && !same_shape(&peers->sizes[index]->shape, shape))
        close_size(peers, t, index);
    if (peers->sizes[index] == NULL) status = open_size(peers, t, shape, index, diag);
    const size_peers *s = peers->sizes[index];
    *found = (race_peers){.dense = t->dense.handle != NULL ? &s->dense : NULL,
                          .pruned = t->pruned.open ? &s->pruned : NULL};
    return status;
}

void run_peers_close(run_peers *peers, race_track *t) {
    for (size_t i = 0; peers != NULL && i < WORK_MAX_SIZES; i++) close_size(peers, t, i);
    free(peers);
    dense_library_close(&t->dense, &t->gpu);
    sparse_library_close(&t->sparse);
    pruned_library_close(&t->pruned);
}
