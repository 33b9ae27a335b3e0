#include <stdio.h>
#include <string.h>
#include "pruned_peers.h"

/* What goes wrong is noted. */
static void open_product(pruned_peers *peers, size_t index, gpu_device *gpu, helpers *h,
                         const peer_problem *problem, mc_diag *diag) {
    pruned_product *p = &peers->products[index];
    pruned_set_shape(p, problem);
    mc_diag_clear(diag);
    mc_status status = peer_check_dense("A", problem->m, problem->k, p->kind->operand, diag);
    if (status == MC_OK) status = pruned_product_open(p, gpu, h, problem->cold, diag);
    if (status == MC_OK) status = pruned_choose(p, gpu, h, diag);
    for (int i = 0; i < PRUNED_KEPT && status == MC_OK && p->kept[i] != NULL; i++)
        peers->contenders[peers->count++] = pruned_contender(p->kept[i]);
    if (status != MC_OK)
        snprintf(peers->notes[index], PEER_NOTE, "%s, C by %s: %s", p->kind->label,
                 p->by_columns ? "columns" : "rows", peer_last_message(diag));
    mc_diag_clear(diag);
}

mc_status pruned_open(pruned_peers *peers, const pruned_library *library, gpu_device *gpu, helpers *h,
                      const peer_problem *problem, mc_diag *diag) {
    *peers = (pruned_peers){0};
    for (size_t i = 0; i < PRUNED_PRODUCTS; i++) {
        const pruned_kind *kind = &pruned_kinds[i / PRUNED_WAYS];
        if (!pruned_kind_takes(kind, problem)) continue;
        pruned_product *p = &peers->products[i];
        p->library = library, p->kind = kind, p->by_columns = i % PRUNED_WAYS != 0, p->law = problem->law;
        open_product(peers, i, gpu, h, problem, diag);
    }
    return MC_OK;
}

void pruned_close(pruned_peers *peers, gpu_device *gpu) {
    for (size_t i = 0; i < PRUNED_PRODUCTS; i++)
        if (peers->products[i].library != NULL) pruned_product_close(&peers->products[i], gpu);
    *peers = (pruned_peers){0};
}
