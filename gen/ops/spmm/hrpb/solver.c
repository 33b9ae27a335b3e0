/* The solver `hrpb`, of staging "hrpb": contract, facts, name, estimate and header. */
#include <stdio.h>
#include "ops/spmm/hrpb/hrpb.h"
#include "ops/spmm/model.h"
#include "ops/spmm/solvers.h"

static void add_a(const hrpb_plan *plan, mc_contract *c) {
    c->format = "hrpb";
    add_array(
        c, 16,
        (mc_array){"items", "s32", "item_count * 4",
                   "a virtual panel a thread block: its panel, its first block, the one behind its last, "
                   "and which of the panel's it is (gen/parts/panels.h: pieces)"});
    add_array(
        c, 4,
        (mc_array){"size_ptr", "s32", "blocks + 1", "where each block begins in packed_blocks, in bytes"});
    add_array(
        c, 4,
        (mc_array){"active_cols", "s32", plan->columns, "columns of each block, -1 behind the last one"});
    add_array(c, HRPB_ALIGN, (mc_array){"packed_blocks", "s8", "bytes", plan->doc});
}

static void make_contract(const void *data, mc_contract *c) {
    const hrpb_plan *plan = data;
    const spmm_plan *base = &plan->base;
    const int bytes = spmm_b_unit(base), align = base->align > bytes ? base->align : bytes;
    add_a(plan, c);
    add_param(c, (mc_param){"b", "u64", MC_PARAM_ARRAY, (unsigned)align, spmm_b_doc(&base->math, false)});
    add_constraint(c, (mc_constraint){"ldb", 0, SPMM_MAX_ROW_BYTES / bytes, ROWS_FIT});
    spmm_contract(base, false, true, c);
    c->shared_static = base->shared_bytes;
    c->grid[0] = (mc_grid_axis){"item_count", 1};
    add_workspace(c, (unsigned)hrpb_piece_bytes(plan), 16,
                  "where thread blocks leave sums of panels that several of them share");
    c->workspace_each = (mc_grid_axis){"n", base->tile_n};
}

static void make_facts(const void *data, mc_facts *facts) {
    const hrpb_plan *plan = data;
    const spmm_plan *base = &plan->base;
    add_fact(facts, "tile_rows", base->vec, "rows of C a thread block");
    add_fact(facts, "tile_columns", base->tile_n, "columns of C a thread block");
    add_fact(facts, "warp_columns", plan->warp_n, "columns of C a warp, for which it decodes a brick once");
    add_fact(facts, "threads", base->threads, "a thread block");
    add_fact(facts, "shared_bytes", base->shared_bytes, "of a thread block");
    add_fact(facts, "block_b_bytes", plan->block_cols * spmm_b_bytes(base, base->tile_n),
             "gathered from B, a block and thread block");
    add_fact(facts, "block_mma", base->stride_mma, "m16n8k4 instructions, a full block and warp");
}

static void entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    const hrpb_plan *plan = data;
    const spmm_plan *base = &plan->base;
    snprintf(name, MC_MAX_ENTRY, "spmm_%s%s%s%s%s_hrpb_m%d_k%d_n%d_w%d", base->math.lhs, base->math.rhs,
             out_element_name(base->output.element), out_act_link(&base->output), out_act_text(&base->output),
             base->vec, plan->block_cols, base->tile_n, base->warps);
}

/* -- Estimate ----------------------------------------------------------------------------------------- */

/* Registers that ptxas gives a thread besides its sums. */
enum { REGISTERS = 56 };
/* On an H100 the authors' program took 1.4 to 2.3 times as long as kernels with panels take here. Until this
   one is measured, it is not taken unless it is asked for. */
enum { SLOWER = 2 };

/* A block's indices, its rows of B and its mma wait for one another. */
static double latency_of(const hrpb_plan *plan, const spmm_situation *s, double columns) {
    return ceil(columns / plan->block_cols) * s->cost.direct_chain + s->cost.direct_width;
}

static double estimate(const void *data, const mc_gpu *gpu, const mc_problem *problem) {
    const hrpb_plan *plan = data;
    const spmm_plan *base = &plan->base;
    if (!spmm_can_run(base, problem)) return INFINITY;
    spmm_situation s = spmm_meet(base, gpu, problem, REGISTERS + hrpb_sums(plan));
    const double bytes = s.mean * (double)spmm_b_bytes(base, base->tile_n),
                 mma = s.mean / plan->block_cols * base->stride_mma * base->warps / 2;
    spmm_work work = {.blocks = s.row_blocks * s.tiles,
                      .rows = base->vec,
                      .busy = spmm_overlapped(bytes / 1024 * s.cost.l2, mma / gpu->mma_rate),
                      .latency = latency_of(plan, &s, s.mean),
                      .longest = latency_of(plan, &s, (double)problem->longest)};
    work.resident = spmm_resident_of(&s);
    work.memory = spmm_memory_of(&s);
    return SLOWER * spmm_time_of(&s, &work);
}

static const char *how(const void *data) {
    (void)data;
    return "Bricks of 16 x 4 of A, decoded from 64-bit patterns, are the mma's rows, columns of B its 8 "
           "columns.\n"
           "Blocks of A and the rows of B of their columns go through shared memory, as in cuTeSpMM.";
}

const mc_solver spmm_hrpb = {
    .name = "hrpb",
    .plan = spmm_hrpb_make_plan,
    .contract = make_contract,
    .facts = make_facts,
    .emit = spmm_hrpb_emit,
    .entry_name = entry_name,
    .estimate = estimate,
    .computes = spmm_computes,
    .how = how,
};
