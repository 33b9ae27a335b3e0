/* The solver `panels` of the SDDMM: its plan, its contract and its facts. emit.c has the kernel. */
#include "ops/sddmm/fields.h"
#include "ops/sddmm/panels/panels.h"
#include "ops/sddmm/solvers.h"

enum {
    MOST_WARPS = 8,
    MOST_HELD = 96 /* registers of words and operands of A, words of B, and sums */
};

/* -- Plan --------------------------------------------------------------------------------------------- */

/* Whether VALUE, a shape, can be a multiple of DIVISOR; and whether that is to be seen. */
static bool may_divide(int64_t divisor, int64_t value) { return value == MC_OPEN || value % divisor == 0; }
static bool is_tested(int64_t divisor, int64_t value) { return value == MC_OPEN && divisor > 1; }

static void plan_k(panels_plan *plan) {
    const sddmm_problem *p = &plan->problem;
    const int unit = p->arithmetic.unit_k, chunk = sddmm_chunk_k(&p->arithmetic);
    const bool open = p->k == MC_OPEN;
    plan->wide = may_divide(unit, p->lda) && may_divide(unit, p->ldb) && (open || p->k >= unit);
    plan->chunks = plan->tile_k / chunk > 0 ? plan->tile_k / chunk : 1;
    plan->loops = open || panels_units(plan) > (int64_t)plan->chunks * chunk;
    if (!plan->loops && plan->wide) plan->chunks = (int)((panels_units(plan) + chunk - 1) / chunk);
    plan->guards = open || panels_units(plan) % ((int64_t)plan->chunks * chunk) != 0;
    if (plan->wide)
        plan->checks = (panels_checks){.lda = is_tested(unit, p->lda),
                                       .ldb = is_tested(unit, p->ldb),
                                       .a_address = p->align < SDDMM_UNIT,
                                       .b_address = p->align < SDDMM_UNIT};
    plan->rounds = !plan->wide || open || p->k % unit != 0 || panels_is_checked(plan);
}

static void check_problem(const sddmm_problem *p, mc_complaints *complaints) {
    if (!p->arithmetic.kind->real)
        complain(complaints, F_LHS, "method = \"panels\" multiplies floats, not \"%s\"",
                 p->arithmetic.lhs.name);
    if (p->vec != 1)
        complain(complaints, F_VEC, "method = \"panels\" is for matrices without vectors: vec = 1, not %d",
                 p->vec);
    if (p->order != SDDMM_BCRS)
        complain(complaints, F_ORDER, "method = \"panels\" writes C as CSR has it: order = \"bcrs\"");
    if (p->layout != SDDMM_COLUMNS)
        complain(complaints, F_LAYOUT, "method = \"panels\" reads columns of B: layout = \"columns\"");
    if (p->warps > MOST_WARPS)
        complain(complaints, F_WARPS, "method = \"panels\" takes up to %d", MOST_WARPS);
}

/* Registers that a lane holds for long, of a tile. */
static int held(const panels_plan *plan) {
    const sddmm_arithmetic *a = &plan->problem.arithmetic;
    const int of_a = a->steps * (a->a_is_plain ? a->a_words : a->a_words + a->a_operands);
    return plan->chunks * (plan->octets * of_a + panels_lane_slots(plan) * a->steps * a->b_words) +
           plan->groups * plan->octets * SDDMM_ACC;
}

static void check_tile(const panels_plan *plan, int share, mc_complaints *complaints) {
    const int chunk = sddmm_chunk_k(&plan->problem.arithmetic), slots = panels_slots(plan);
    if (plan->tile_k % chunk)
        complain(complaints, F_TILE_K, "rhs = \"%s\" takes multiples of %d",
                 plan->problem.arithmetic.rhs.name, chunk);
    else if (plan->chunks > SDDMM_MAX_CHUNKS || held(plan) > MOST_HELD)
        complain(complaints, F_TILE_K,
                 "%d with %d columns of B in flight leaves no registers: a smaller one, or ahead = 2, or "
                 "panel = 8",
                 plan->tile_k, slots);
    if (share % slots)
        complain(complaints, F_SHARE,
                 "%d active columns a warp, which takes %d at a time: a multiple of that", share, slots);
}

static void check_ahead(int ahead, mc_complaints *complaints) {
    if (ahead > 2 * PANELS_MOST_GROUPS)
        complain(complaints, F_AHEAD, "method = \"panels\" takes 2 or 4 times 8 active columns at once");
}

_Static_assert(sizeof(panels_plan) <= MC_PLAN_BYTES, "a plan is made where there are MC_PLAN_BYTES");

static void make_plan(const int64_t *point, void *out, mc_complaints *complaints) {
    panels_plan *plan = out;
    const int ahead = (int)point[F_AHEAD], groups = ahead / 2;
    *plan = (panels_plan){.problem = sddmm_problem_of(point, complaints),
                          .octets = (int)point[F_PANEL] / SDDMM_MMA_ROWS,
                          .groups = groups > PANELS_MOST_GROUPS ? PANELS_MOST_GROUPS : groups,
                          .tile_k = (int)point[F_TILE_K]};
    plan->share = (int)point[F_SHARE] / panels_slots(plan);
    plan_k(plan);
    check_problem(&plan->problem, complaints);
    check_ahead(ahead, complaints);
    check_tile(plan, (int)point[F_SHARE], complaints);
}

/* -- Contract and facts ------------------------------------------------------------------------------- */

/* What the contract says of the arrays, by the octets of a panel and the groups of a stride. */
static const char *const column_docs[PANELS_MOST_GROUPS] = {
    "[8][2] a stride: the active column of its slot 8 q + g at [g][q]; the last one again where there is "
    "none",
    "[8][4] a stride: the active column of its slot 8 q + g at [g][q]; the last one again where there is "
    "none"};
static const char *const row_docs[SDDMM_MAX_OCTETS] = {
    "[4][4] a stride: at [t] of rows 2 t, 2 t + 1 of the panel masks of slots, then each row's first nonzero",
    "[4][8] a stride: at [t] of rows 2 t, 2 t + 1, 2 t + 8, 2 t + 9 of the panel masks of slots, then each "
    "row's first nonzero"};

static void contract(const void *data, mc_contract *c) {
    const panels_plan *plan = data;
    const sddmm_problem *p = &plan->problem;
    c->format = "sampled-panels";
    add_array(c, 16,
              (mc_array){"items", "s32", "items * 4", "panel, first stride, strides, last row of the panel"});
    add_array(c, 16,
              (mc_array){"col_idx", "s32", plan->groups > 1 ? "strides * 32" : "strides * 16",
                         column_docs[plan->groups - 1]});
    add_array(c, 16,
              (mc_array){"row_slots", "s32", plan->octets > 1 ? "strides * 32" : "strides * 16",
                         row_docs[plan->octets - 1]});
    if (p->mask == SDDMM_VALUES)
        add_array(c, 4, (mc_array){"mask_values", "f32", "elements of C", "in C's order"});
    sddmm_add_matrices(p, 0, 0, c);
    sddmm_add_shapes(p, c);
    add_shape(c, "item_count", MC_OPEN, "items");
    c->grid[0] = (mc_grid_axis){"item_count", p->warps};
    c->grid[1] = c->grid[2] = (mc_grid_axis){NULL, 1};
    sddmm_end_contract(p, c);
}

static void facts(const void *data, mc_facts *facts) {
    const panels_plan *plan = data;
    const sddmm_arithmetic *a = &plan->problem.arithmetic;
    const int64_t tile_k = (int64_t)sddmm_chunk_k(a) * plan->chunks;
    add_fact(facts, "item_columns", (int64_t)plan->share * panels_slots(plan),
             "active ones, at most, a warp");
    add_fact(facts, "threads", MC_WARP * plan->problem.warps, "a thread block");
    add_fact(facts, "tile_k", plan->wide ? tile_k : 0, "in registers at once");
    add_fact(facts, "stride_b_bytes", plan->wide ? panels_slots(plan) * values_bytes(a->rhs, tile_k) : 0,
             "gathered from B, a stride and tile");
    add_fact(facts, "stride_mma",
             plan->wide ? plan->groups * plan->octets * plan->chunks * a->steps * a->mma : 0,
             sddmm_mma_doc(a, SDDMM_GROUP_SHARE));
    add_fact(facts, "wide_path", plan->wide, "vector loads of A and B");
    add_fact(facts, "edge_path", plan->rounds, "loads of an element of A and B");
}

/* -- Solver ------------------------------------------------------------------------------------------- */

static void entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    const panels_plan *plan = data;
    size_t length = sddmm_entry_name(&plan->problem, name);
    sddmm_name_add(name, length, "_panels%d_u%d_s%d_w%d_k%d", panels_rows(plan), 2 * plan->groups,
                   plan->share * panels_slots(plan), plan->problem.warps, plan->tile_k);
}

static const char *how(const void *plan) {
    (void)plan;
    return "Swapped operands: 16 active columns of a panel are the mma's rows, the panel's rows its "
           "columns.\n"
           "A column of B is read once for all rows of the panel. Sums are stored where the matrix has "
           "nonzeros.";
}

const mc_solver sddmm_panels = {
    .name = "panels",
    .plan = make_plan,
    .contract = contract,
    .facts = facts,
    .emit = sddmm_panels_emit,
    .entry_name = entry_name,
    .estimate = sddmm_panels_estimate,
    .computes = sddmm_computes,
    .how = how,
};
