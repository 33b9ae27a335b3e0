/* The solver `csr` of the SDDMM: its plan, its contract and its facts. emit.c has the kernel. */
#include "ops/sddmm/csr/csr.h"
#include "ops/sddmm/fields.h"
#include "parts/fragment.h"
#include "ops/sddmm/solvers.h"

enum {
    MOST_WARPS = 8,
    MOST_WORDS = 64 /* of B, in flight */,
    MOST_SINGLES = 32 /* elements of B, likewise */
};

/* -- Plan --------------------------------------------------------------------------------------------- */

/* Whether VALUE, a shape, can be a multiple of DIVISOR; and whether that is known. */
static bool may_divide(int64_t divisor, int64_t value) { return value == MC_OPEN || value % divisor == 0; }
static bool is_tested(int64_t divisor, int64_t value) { return value == MC_OPEN && divisor > 1; }

static csr_path make_path(const csr_plan *plan, bool singles) {
    const int64_t k = plan->problem.k;
    const int run_k = csr_run_k(plan), most = singles ? 1 : plan->tile_k / run_k;
    csr_path path = {.emitted = true, .singles = singles, .runs = most > 0 ? most : 1};
    if (k != MC_OPEN && k <= (int64_t)path.runs * run_k)
        path.runs = k > 0 ? (int)((k + run_k - 1) / run_k) : 1;
    path.loops = k == MC_OPEN || k > csr_panel_k(plan, &path);
    path.guards = k == MC_OPEN || k == 0 || k % csr_panel_k(plan, &path) != 0;
    return path;
}

static void plan_paths(csr_plan *plan) {
    const sddmm_problem *p = &plan->problem;
    const int unit = csr_unit(plan);
    plan->wide = make_path(plan, false);
    plan->wide.emitted = may_divide(unit, p->k) && may_divide(unit, p->lda) && may_divide(unit, p->ldb);
    plan->checks = (csr_checks){.k = is_tested(unit, p->k),
                                .lda = is_tested(unit, p->lda),
                                .ldb = is_tested(unit, p->ldb),
                                .a_address = p->align < SDDMM_UNIT,
                                .b_address = p->align < SDDMM_UNIT};
    const csr_checks *c = &plan->checks;
    plan->edge = make_path(plan, true);
    plan->edge.emitted = !plan->wide.emitted || c->k || c->lda || c->ldb || c->a_address;
}

static void check_problem(const sddmm_problem *p, mc_complaints *complaints) {
    if (p->vec != 1)
        complain(complaints, F_VEC, "method = \"csr\" is for matrices without vectors: vec = 1, not %d",
                 p->vec);
    if (p->order != SDDMM_BCRS)
        complain(complaints, F_ORDER, "method = \"csr\" writes C as CSR has it: order = \"bcrs\"");
    if (p->layout != SDDMM_COLUMNS)
        complain(complaints, F_LAYOUT, "method = \"csr\" reads columns of B: layout = \"columns\"");
    if (p->warps > MOST_WARPS) complain(complaints, F_WARPS, "method = \"csr\" takes up to %d", MOST_WARPS);
}

static void check_registers(const csr_plan *plan, mc_complaints *complaints) {
    const int run_k = csr_run_k(plan), runs = plan->tile_k / run_k;
    const int words = runs * plan->ahead * SDDMM_UNIT / WORD;
    if (plan->tile_k % run_k != 0)
        complain(complaints, F_TILE_K, "%d lanes have %d of \"%s\" at a time: a multiple of that",
                 plan->lanes, run_k, plan->problem.arithmetic.lhs.name);
    else if (runs > CSR_MOST_RUNS)
        complain(complaints, F_TILE_K, "%d are %d times 16 bytes of a row a lane: at most %d, or more lanes",
                 plan->tile_k, runs, CSR_MOST_RUNS);
    else if (words > MOST_WORDS)
        complain(complaints, F_AHEAD,
                 "%d nonzeros of %d k are %d registers a lane: at most %d, or more lanes", plan->ahead,
                 plan->tile_k, words, MOST_WORDS);
    else if (plan->edge.emitted && plan->ahead * csr_unit(plan) > MOST_SINGLES)
        complain(
            complaints, F_AHEAD,
            "%d nonzeros are %d elements of \"%s\" at a time on the edge path: at most %d; or fix k, lda and "
            "ldb, multiples of %d",
            plan->ahead, plan->ahead * csr_unit(plan), plan->problem.arithmetic.lhs.name, MOST_SINGLES,
            csr_unit(plan));
}

_Static_assert(sizeof(csr_plan) <= MC_PLAN_BYTES, "a plan is made where there are MC_PLAN_BYTES");

static void make_plan(const int64_t *point, void *out, mc_complaints *complaints) {
    csr_plan *plan = out;
    *plan = (csr_plan){.problem = sddmm_problem_of(point, complaints),
                       .lanes = (int)point[F_LANES],
                       .groups = MC_WARP / (int)point[F_LANES],
                       .share = (int)point[F_SHARE],
                       .ahead = (int)point[F_AHEAD],
                       .tile_k = (int)point[F_TILE_K]};
    check_problem(&plan->problem, complaints);
    plan_paths(plan);
    check_registers(plan, complaints);
}

/* -- Contract and facts ------------------------------------------------------------------------------- */

static void contract(const void *data, mc_contract *c) {
    const csr_plan *plan = data;
    const sddmm_problem *p = &plan->problem;
    c->format = "sampled-pairs";
    add_array(c, 16,
              (mc_array){"items", "s32", "items * 4",
                         "two neighbouring nonzeros each: row and column of the first, row and column of the "
                         "second; of an odd one behind the last the row again, and -1"});
    if (p->mask == SDDMM_VALUES)
        add_array(c, 4, (mc_array){"mask_values", "f32", "elements of C", "in C's order"});
    sddmm_add_matrices(p, 0, 0, c);
    sddmm_add_shapes(p, c);
    add_shape(c, "item_count", MC_OPEN, "items");
    c->grid[0] = (mc_grid_axis){"item_count", csr_block_nonzeros(plan) / 2};
    c->grid[1] = c->grid[2] = (mc_grid_axis){NULL, 1};
    sddmm_end_contract(p, c);
}

static void facts(const void *data, mc_facts *facts) {
    const csr_plan *plan = data;
    const csr_path *path = plan->wide.emitted ? &plan->wide : &plan->edge;
    add_fact(facts, "block_nonzeros", csr_block_nonzeros(plan), "a thread block");
    add_fact(facts, "threads", MC_WARP * plan->problem.warps, "a thread block");
    add_fact(facts, "panel_k", csr_panel_k(plan, path), "in registers at once");
    add_fact(facts, "in_flight", (int64_t)plan->ahead * path->runs * SDDMM_UNIT, "bytes of B, a lane");
    add_fact(facts, "wide_path", plan->wide.emitted, "vector loads of A and B");
    add_fact(facts, "edge_path", plan->edge.emitted, "loads of an element of A and B");
}

/* -- Solver ------------------------------------------------------------------------------------------- */

static void entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    const csr_plan *plan = data;
    size_t length = sddmm_entry_name(&plan->problem, name);
    sddmm_name_add(name, length, "_csr_l%d_u%d_s%d_w%d_k%d", plan->lanes, plan->ahead, plan->share,
                   plan->problem.warps, plan->tile_k);
}

static const char *how(const void *plan) {
    (void)plan;
    return "Lanes share the k of a nonzero, multiply what they load by fused multiply-adds, and add up by "
           "shuffles.\n"
           "Nonzeros are dealt out in equal numbers, whatever their rows.";
}

const mc_solver sddmm_csr = {
    .name = "csr",
    .plan = make_plan,
    .contract = contract,
    .facts = facts,
    .emit = sddmm_csr_emit,
    .entry_name = entry_name,
    .estimate = sddmm_csr_estimate,
    .computes = sddmm_computes,
    .how = how,
};
