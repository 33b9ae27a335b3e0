/* The frame of a wgmma kernel: who is who, the pipeline, and the order of the roles' parts. */
#include "ops/gemm/wgmma/wgmma.h"
#include "parts/emit.h"

static void begin_pipeline(wgmma_kernel *g) {
    mc_builder *b = g->b;
    const wgmma_plan *plan = g->plan;
    mc_label ready = label(b, "READY");
    g->pipe = (pipeline){.b = b,
                         .stages = plan->stages,
                         .stage_bytes = wgmma_stage_bytes(plan),
                         .gap = wgmma_slot_bytes(plan),
                         .consumers = plan->turns ? WARPGROUP_WARPS : wgmma_consumer_warps(plan),
                         .cluster = plan->cluster,
                         .peer = g->roles.peer};
    g->pipe.first = mov_shared(b, "stages", NAME("room"));
    pipeline_place(&g->pipe);
    EMIT_IF(b, NOT(g->roles.first_thread), bra, TO(ready));
    pipeline_init(&g->pipe);
    set_label(b, ready);
    roles_meet(&g->roles);
}

/* A shape in a register, whether the spec fixes it or not. */
static mc_reg load_size(mc_builder *b, const char *reg, const char *name, int64_t fixed) {
    return fixed == MC_OPEN ? ld_param_s32(b, reg, NAME(name)) : mov_b32(b, reg, I(fixed));
}

void wgmma_emit(const void *data, mc_builder *b) {
    const wgmma_plan *plan = data;
    const gemm_problem *p = &plan->problem;
    wgmma_kernel g = {.plan = plan, .b = b, .lhs = wgmma_lhs(plan), .rhs = wgmma_rhs(plan)};
    mc_label producer = label(b, "PRODUCER"), end = label(b, "END");
    shared_dynamic(b, "room", TILE_ALIGN);
    heading(b, "Who is who: %d warpgroups that multiply, and one that copies", plan->consumers);
    g.roles = (warp_roles){.b = b, .consumers = plan->consumers, .cluster = plan->cluster};
    roles_begin(&g.roles);
    g.m = load_size(b, "m", "m", p->m), g.n = load_size(b, "n", "n", p->n);
    g.k = load_size(b, "k_size", "k", p->k);
    mc_reg k_end = add_s32(b, "k_end", g.k, I(g.rhs.k - 1));
    g.k_stages = shr_u32(b, "k_stages", k_end, I(log2_of(g.rhs.k)));
    note(b, "%d stages of A and B, C on its way, and each stage's barriers", plan->stages);
    begin_pipeline(&g);
    roles_produce(&g.roles, producer);
    wgmma_emit_consumer(&g, end);
    wgmma_emit_producer(&g, producer, end);
    roles_end(&g.roles, end);
}
