/* The frame of a wgmma kernel: who is who, the pipeline, and the order of the roles' parts. */
#include "parts/wgmma/wgmma.h"
#include "parts/emit.h"
#include "parts/k_part.h"
#include "parts/tensor_copy.h"
#include <stdio.h>

/* Split: where the parts' sums come in, behind C on its way; their barriers behind those of the stages. */
static void place_parts(wgmma_kernel *g) {
    mc_builder *b = g->b;
    const wgmma_plan *plan = g->plan;
    if (!wgmma_is_split(plan)) return;
    int data = plan->stages * wgmma_stage_bytes(plan) + wgmma_slot_bytes(plan);
    g->parts = (sum_exchange){.b = b,
                              .shape = wgmma_exchange(plan),
                              .real = plan->problem.output.real,
                              .rank = g->roles.rank,
                              .thread = g->roles.thread,
                              .lane = g->roles.lane,
                              .first_thread = g->roles.first_thread};
    g->parts.first = add_s32(b, "parts", g->pipe.first, I(data));
    g->parts.full = add_s32(b, "parts_full", g->pipe.empty, I(plan->stages * PIPELINE_BARRIER_BYTES));
    exchange_place(&g->parts);
}

/* Split: the producer's thread asks for the tensor maps before all else, which the first copies then find. */
static void prefetch_maps(wgmma_kernel *g) {
    mc_builder *b = g->b;
    if (!wgmma_is_split(g->plan)) return;
    note(b, "the producer's thread asks for the tensor maps ahead of its first copies");
    mc_reg copies = setp_eq(b, "copies", g->roles.thread, I(g->plan->consumers * WARPGROUP));
    if (!g->plan->problem.sparse) g->a_map = tensor_copy_prefetch(b, "a", wgmma_lhs_map(g->plan), copies);
    if (!g->plan->expand_vec) g->b_map = tensor_copy_prefetch(b, "b", "b_map", copies);
}

/* Of many stages each has a thread for it. */
static void init_barriers(const wgmma_kernel *g, mc_label ready) {
    mc_builder *b = g->b;
    enum { MANY = 8 };
    int stages = g->plan->stages;
    if (stages > MANY) {
        mc_reg others = setp_ge(b, "has_no_stage", g->roles.thread, I(stages));
        EMIT_IF(b, others, bra, TO(ready));
        if (wgmma_is_split(g->plan)) exchange_init(&g->parts, g->roles.first_thread);
        pipeline_init_stage(&g->pipe, g->roles.thread);
        return;
    }
    EMIT_IF(b, NOT(g->roles.first_thread), bra, TO(ready));
    if (wgmma_is_split(g->plan)) exchange_init(&g->parts, (mc_reg){0});
    pipeline_init(&g->pipe);
}

static void begin_pipeline(wgmma_kernel *g) {
    mc_builder *b = g->b;
    const wgmma_plan *plan = g->plan;
    mc_label ready = label(b, "READY");
    g->pipe = (pipeline){.b = b,
                         .stages = plan->stages,
                         .stage_bytes = wgmma_stage_bytes(plan),
                         .gap = wgmma_slot_bytes(plan) + wgmma_parts_bytes(plan),
                         .consumers = plan->turns ? WARPGROUP_WARPS : wgmma_consumer_warps(plan),
                         .cluster = plan->cluster,
                         .fillers = plan->helpers * WARPGROUP_WARPS,
                         .copied = wgmma_copied_bytes(plan),
                         .peer = g->roles.peer};
    g->pipe.first = mov_shared(b, "stages", NAME("room"));
    pipeline_place(&g->pipe);
    place_parts(g);
    init_barriers(g, ready);
    set_label(b, ready);
    if (plan->helpers) wgmma_init_table(g);
    roles_meet(&g->roles);
}

/* The number of the product's operand in its tensor map. */
static mc_reg operand_product(mc_builder *b, const char *name, mc_reg product, const char *stride) {
    char reg[MC_MAX_NAME];
    snprintf(reg, sizeof reg, "%s_is_own", name);
    mc_reg own = setp_gt(b, reg, ld_param_s32(b, stride, NAME(stride)), I(0));
    mc_reg number = b32(b, name);
    EMIT(b, selp_b32, number, product, I(0), own);
    return number;
}

static void begin_batch(wgmma_kernel *g, const gemm_batch *batch) {
    mc_builder *b = g->b;
    if (!g->plan->problem.batch) return;
    note(b, "the product of the batch; operands with a stride of 0 are those of all products");
    batch_begin(b, batch->arrays, batch->count);
    g->product = b->batch;
    if (!g->plan->problem.sparse) g->a_product = operand_product(b, "a_product", g->product, "a_stride");
    g->b_product = operand_product(b, "b_product", g->product, "b_stride");
}

/* Split: behind k's end a part has zeros. */
static void begin_part(wgmma_kernel *g) {
    const k_part part = k_part_of(g->b, g->roles.rank, g->plan->split, g->k_stages);
    g->k_all = g->k_stages, g->k_first = part.first, g->k_stages = part.stages;
}

void wgmma_emit(const void *data, mc_builder *b) {
    const wgmma_plan *plan = data;
    const gemm_problem *p = &plan->problem;
    wgmma_kernel g = {.plan = plan, .b = b, .lhs = wgmma_lhs(plan), .rhs = wgmma_rhs(plan)};
    const gemm_batch batch = gemm_batch_of(p);
    mc_label producer = label(b, "PRODUCER"), end = label(b, "END");
    mc_label helper = plan->helpers ? label(b, "HELPERS") : (mc_label){0};
    shared_dynamic(b, "room", TILE_ALIGN);
    emit_launch_next(b, plan->overlap);
    heading(b, "Who is who: %d warpgroups that multiply, and one that copies%s", plan->consumers,
            plan->helpers ? "; those behind it expand" : "");
    g.roles = (warp_roles){.b = b,
                           .consumers = plan->consumers,
                           .helpers = plan->helpers,
                           .narrow = wgmma_is_narrow(plan),
                           .cluster = plan->cluster,
                           .parts = plan->split};
    roles_begin(&g.roles);
    prefetch_maps(&g);
    begin_batch(&g, &batch);
    g.m = load_size(b, "m", p->turned ? "n" : "m", p->m),
    g.n = load_size(b, "n", p->turned ? "m" : "n", p->n);
    g.k = load_size(b, "k_size", "k", p->k);
    mc_reg k_end = add_s32(b, "k_end", g.k, I(g.rhs.k - 1));
    g.k_stages = shr_u32(b, "k_stages", k_end, I(log2_of(g.rhs.k)));
    if (wgmma_is_split(plan)) begin_part(&g);
    note(b, "%d stages of A and B, C on its way, and each stage's barriers", plan->stages);
    begin_pipeline(&g);
    if (plan->helpers) roles_help(&g.roles, helper);
    roles_produce(&g.roles, producer);
    wgmma_emit_consumer(&g, end);
    wgmma_emit_producer(&g, producer, end);
    if (plan->helpers) wgmma_emit_helper(&g, helper, end);
    roles_end(&g.roles, end);
}
