/* The solver `dense` of the SDDMM: its plan, its contract and its facts. emit.c has the kernel, and a picture
   of it. */
#include "ops/sddmm/dense/dense.h"
#include "ops/sddmm/fields.h"
#include "ops/sddmm/solvers.h"

/* -- Plan --------------------------------------------------------------------------------------------- */

/* How warps are laid over rows of A and columns of B. Narrow: where a warp would have fewer than 16
   columns. */
typedef struct warp_split {
    int warps, rows, columns, narrow_rows, narrow_columns;
} warp_split;

static const warp_split splits[] = {{1, 1, 1, 1, 1}, {2, 1, 2, 1, 2}, {4, 2, 2, 2, 2}, {8, 2, 4, 4, 2}};

static void split_warps(dense_plan *plan) {
    plan->row_warps = plan->column_warps = 1;
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++) {
        const warp_split *s = &splits[i];
        if (s->warps != plan->problem.warps) continue;
        bool narrow = plan->tile_n < s->columns * MC_SAMPLED_SLOTS;
        plan->row_warps = narrow ? s->narrow_rows : s->rows;
        plan->column_warps = narrow ? s->narrow_columns : s->columns;
    }
    plan->warp_rows = plan->tile_rows / SDDMM_MMA_ROWS / plan->row_warps;
    plan->warp_columns = plan->tile_n / MC_SAMPLED_SLOTS / plan->column_warps;
}

static void plan_stages(dense_plan *plan) {
    int64_t k = plan->problem.k, stage_k = sddmm_chunk_k(&plan->problem.arithmetic);
    int64_t stages = k == MC_OPEN ? 1 : (k + stage_k - 1) / stage_k;
    int64_t copied = stages * dense_stage_bytes(plan),
            result = (int64_t)plan->tile_n * dense_column_bytes(plan);
    plan->stages = (int)stages;
    plan->shared_bytes = copied > result ? copied : result;
}

_Static_assert(sizeof(dense_plan) <= MC_PLAN_BYTES, "a plan is made where there are MC_PLAN_BYTES");

static void make_plan(const int64_t *point, void *out, mc_complaints *complaints) {
    dense_plan *plan = out;
    *plan = (dense_plan){.problem = sddmm_problem_of(point, complaints),
                         .tile_n = (int)point[F_TILE_N],
                         .tile_rows = (int)point[F_TILE_ROWS]};
    split_warps(plan);
    plan_stages(plan);
    dense_check(point, plan, complaints);
}

/* -- Contract and facts ------------------------------------------------------------------------------- */

static void add_packed(const sddmm_problem *p, mc_contract *c) {
    bool bcrs = p->order == SDDMM_BCRS;
    c->format = "sampled-dense";
    add_array(c, 16,
              (mc_array){"tile_ptr", "s32", "(m / vec) * (tiles + 1)",
                         "[m / vec][tiles + 1]: place in C of the row block's first vector in each tile; "
                         "the last: of the end"});
    add_array(c, 16,
              (mc_array){"col_idx", "s32", bcrs ? "vectors" : "slots",
                         bcrs ? "column of each vector, as in BCRS" : "column of each slot of C; -1: none"});
}

static void contract(const void *data, mc_contract *c) {
    const dense_plan *plan = data;
    const sddmm_problem *p = &plan->problem;
    add_packed(p, c);
    sddmm_add_matrices(p, (unsigned)dense_a_multiple(p), (unsigned)p->arithmetic.unit_k, c);
    add_shape(c, "m", p->m, "rows of A");
    add_shape(c, "n", p->n, "columns of B");
    sddmm_add_shapes(p, c);
    c->shared_dynamic = (unsigned)plan->shared_bytes;
    c->grid[0] = (mc_grid_axis){"n", plan->tile_n};
    c->grid[1] = (mc_grid_axis){"m", plan->tile_rows};
    c->grid[2] = (mc_grid_axis){NULL, 1};
    sddmm_end_contract(p, c);
}

static void facts(const void *data, mc_facts *facts) {
    const dense_plan *plan = data;
    const sddmm_arithmetic *a = &plan->problem.arithmetic;
    add_fact(facts, "threads", MC_WARP * plan->problem.warps, "a thread block");
    add_fact(facts, "tile_rows", plan->tile_rows, "of A, a thread block");
    add_fact(facts, "tile_columns", plan->tile_n, "of B, a thread block");
    add_fact(facts, "stages", plan->stages, "of k, all in shared memory");
    add_fact(facts, "stage_k", sddmm_chunk_k(a), "a stage");
    add_fact(facts, "stage_mma", (int64_t)plan->warp_rows * plan->warp_columns * a->steps * a->mma,
             sddmm_mma_doc(a, SDDMM_STAGE_SHARE));
}

/* -- Solver ------------------------------------------------------------------------------------------- */

static void entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    const dense_plan *plan = data;
    size_t length = sddmm_entry_name(&plan->problem, name);
    sddmm_name_add(name, length, "_dense_%dx%d_w%d", plan->tile_rows, plan->tile_n, plan->problem.warps);
}

static const char *how(const void *plan) {
    (void)plan;
    return "Swapped operands: columns of B are the mma's rows, rows of A its columns.\n"
           "A thread block computes a tile of A B in shared memory, and copies the mask's vectors from "
           "there.";
}

const mc_solver sddmm_dense = {
    .name = "dense",
    .plan = make_plan,
    .contract = contract,
    .facts = facts,
    .emit = dense_emit,
    .entry_name = entry_name,
    .estimate = sddmm_dense_estimate,
    .computes = sddmm_computes,
    .how = how,
};
