/* Tiles of a wgmma kernel: how they lie in shared memory, and which of C's a thread block takes. */
#include "ops/gemm/wgmma/wgmma.h"
#include "parts/packed24.h"

shared_tile wgmma_lhs(const wgmma_plan *plan) {
    int bytes = plan->form->bytes;
    return (shared_tile){.rows = plan->tile_m,
                         .k = WGMMA_STAGE_BYTES / bytes,
                         .bytes = bytes,
                         .span = plan->span && !plan->problem.sparse ? plan->span : WGMMA_STAGE_BYTES,
                         .mn_major = plan->a_mn_major};
}

shared_tile wgmma_rhs(const wgmma_plan *plan) {
    shared_tile lhs = wgmma_lhs(plan), rhs = lhs;
    rhs.rows = plan->tile_n, rhs.k = lhs.k * (plan->problem.sparse ? 2 : 1),
    rhs.mn_major = plan->problem.b_rows;
    rhs.span = plan->span ? plan->span : WGMMA_STAGE_BYTES;
    return rhs;
}

int wgmma_meta_at(const wgmma_plan *plan) {
    shared_tile lhs = wgmma_lhs(plan), rhs = wgmma_rhs(plan);
    return tile_bytes(&lhs) + tile_bytes(&rhs);
}

int wgmma_stage_bytes(const wgmma_plan *plan) {
    int meta = plan->problem.sparse ? plan->tile_m * packed24_meta_row(plan->form->bytes) : 0;
    return wgmma_meta_at(plan) + meta;
}

static int stages_bytes(const wgmma_plan *plan) {
    return pipeline_bytes(plan->stages, wgmma_stage_bytes(plan));
}

/* Two, where there is room for them beside the stages. */
int wgmma_slots(const wgmma_plan *plan) {
    enum { ROOM = 227 << 10 }; /* of a thread block of sm_90a */
    return stages_bytes(plan) + store_bytes(wgmma_consumer_warps(plan), 2) <= ROOM ? 2 : 1;
}

int wgmma_slot_bytes(const wgmma_plan *plan) {
    if (plan->store != WGMMA_TENSOR) return 0;
    return store_bytes(wgmma_consumer_warps(plan), wgmma_slots(plan));
}

int wgmma_shared_bytes(const wgmma_plan *plan) { return stages_bytes(plan) + wgmma_slot_bytes(plan); }

bool wgmma_has_halves(const wgmma_plan *plan) { return strcmp(plan->form->sums, "f16") == 0; }

tile_schedule wgmma_schedule(const wgmma_kernel *g, mc_reg turn) {
    const wgmma_plan *plan = g->plan;
    tile_schedule s = {.b = g->b,
                       .tile_rows = plan->tile_m,
                       .tile_columns = plan->tile_n,
                       .group = plan->group,
                       .cluster = plan->cluster,
                       .rank = g->roles.rank,
                       .turn = turn,
                       .turns = turn.id ? plan->consumers : 1};
    schedule_begin(&s, g->m, g->n);
    return s;
}
