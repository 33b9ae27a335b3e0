/* What launching a transposed product takes, and what --describe says of it. */
#include "ops/spmmt/spmmt.h"
#include <stdio.h>

static const char *const side_names[] = {"f16", "bf16"};
enum { MAX_ROW_BYTES = INT32_MAX };

static void add_packed(const spmmt_plan *plan, mc_contract *c) {
    c->format = "transposed-steps";
    add_array(c, 16,
              (mc_array){"part_ptr", "s32", "parts + 1",
                         "first step of each part, warp_k columns of A, and behind the last one's end"});
    add_array(c, 16,
              (mc_array){"steps", "s32", "steps",
                         "a step's row of B in the stages, with bit 31 where the next stage comes first"});
    add_array(c, 16,
              (mc_array){"step_slots", "s32", plan->blocks > 1 ? "steps * slots * 3" : "steps * slots * 2",
                         "a step's columns, [8][slots / 8], and its vectors, [8][blocks][slots / 8]"});
}

static void add_matrices(const spmmt_plan *plan, mc_contract *c) {
    static const char *const a_docs[] = {"f16 A[vectors][vec]", "bf16 A[vectors][vec]"},
                             *const b_docs[] = {"f16 B[m][ldb]", "bf16 B[m][ldb]"};
    static const char *const c_docs[] = {
        [OUT_F16] = "f16 C[k][ldc]", [OUT_BF16] = "bf16 C[k][ldc]", [OUT_F32] = "f32 C[k][ldc]"};
    unsigned a_align = plan->vec > 1 ? WORD : SPMMT_ELEMENT;
    add_param(c, (mc_param){"a", "u64", MC_PARAM_ARRAY, a_align, a_docs[plan->side]});
    add_param(c, (mc_param){"b", "u64", MC_PARAM_ARRAY, SPMMT_ELEMENT, b_docs[plan->side]});
    add_param(
        c, (mc_param){"c", "u64", MC_PARAM_ARRAY, (unsigned)out_element_bytes(plan->out), c_docs[plan->out]});
}

void spmmt_contract(const void *data, mc_contract *c) {
    const spmmt_plan *plan = data;
    add_packed(plan, c);
    add_matrices(plan, c);
    add_shape(c, "m", plan->m, "rows of A and B");
    add_shape(c, "n", plan->n, "columns of B and C");
    add_shape(c, "k", plan->k, "columns of A, rows of C");
    add_shape(c, "ldb", plan->ldb, "elements from row to row of B");
    add_shape(c, "ldc", plan->ldc, "elements from row to row of C");
    add_constraint(c, (mc_constraint){"ldb", 0, MAX_ROW_BYTES / SPMMT_ELEMENT, ROWS_FIT});
    add_constraint(c, (mc_constraint){"ldc", 0, MAX_ROW_BYTES / out_element_bytes(plan->out), ROWS_FIT});
    c->grid[0] = (mc_grid_axis){"k", plan->tile_k};
    c->grid[1] = (mc_grid_axis){"n", plan->tile_n};
    c->grid[2] = (mc_grid_axis){NULL, 1};
    c->block[0] = (unsigned)spmmt_threads(plan), c->block[1] = c->block[2] = 1;
    c->shared_dynamic = (unsigned)spmmt_shared_bytes(plan);
}

void spmmt_facts(const void *data, mc_facts *facts) {
    const spmmt_plan *plan = data;
    add_fact(facts, "threads", spmmt_threads(plan), "a thread block");
    add_fact(facts, "tile_bytes", spmmt_stages_at(plan), "of accumulators, a thread block");
    add_fact(facts, "shared_bytes", spmmt_shared_bytes(plan), "a thread block");
    add_fact(facts, "step_mma", plan->blocks * plan->mmas * plan->warp_n / SPMMT_COLUMNS,
             "of a warp, for each step");
    add_fact(facts, "slot_bytes", plan->warp_n * 2 * WORD,
             "of accumulators, read and written for each vector");
    add_fact(facts, "turn_steps", spmmt_turn(plan), "of a turn of the loop");
}

void spmmt_entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    const spmmt_plan *plan = data;
    snprintf(name, MC_MAX_ENTRY, "spmmt_%s_%s_v%d_t%dx%d_w%dx%d_s%d_b%d_a%d", side_names[plan->side],
             out_element_name(plan->out), plan->vec, plan->tile_k, plan->tile_n, plan->warp_k, plan->warp_n,
             plan->slots, plan->blocks, plan->ahead);
}
