/* The solver `gather` of the SDDMM: its plan, its contract and its facts. emit.c has the kernel, and a
   picture of it. */
#include "ops/sddmm/gather/gather.h"
#include "ops/sddmm/fields.h"
#include "ops/sddmm/solvers.h"

/* -- Plan --------------------------------------------------------------------------------------------- */

typedef enum proof { NEVER, MAYBE, ALWAYS } proof;

static proof divides(int64_t divisor, int64_t shape) {
    if (shape == MC_OPEN) return divisor == 1 ? ALWAYS : MAYBE;
    return shape % divisor == 0 ? ALWAYS : NEVER;
}

/* Whether the wide path exists, whether the edge path must stand beside it, and what is left to test. */
static void plan_paths(gather_plan *plan) {
    const sddmm_problem *p = &plan->problem;
    const sddmm_arithmetic *arithmetic = &p->arithmetic;
    bool rows = p->layout == SDDMM_ROWS; /* each value of B is a load of its own */
    proof a = divides(sddmm_a_multiple(arithmetic), p->lda),
          b = rows ? ALWAYS : divides(arithmetic->unit_k, p->ldb);
    bool open = p->k == MC_OPEN, has_unit = open || p->k >= arithmetic->unit_k;
    plan->wide = a != NEVER && b != NEVER && has_unit;
    plan->checks = (gather_checks){.lda = a == MAYBE,
                                   .ldb = b == MAYBE,
                                   .a_address = p->align < sddmm_a_access(arithmetic),
                                   .b_address = !rows && p->align < SDDMM_UNIT};
    const gather_checks *c = &plan->checks;
    bool whole = !open && p->k % arithmetic->unit_k == 0;
    plan->edge = !plan->wide || !whole || c->lda || c->ldb || c->a_address || c->b_address;
}

/* Plans how many groups are loaded ahead. With prefetch it is one, and more where they are small. */
static void plan_buffers(gather_plan *plan) {
    enum { REGISTERS = 64 };
    int group = gather_group_regs(plan), groups = plan->items.groups;
    plan->buffers = plan->prefetch && groups > 1 ? 2 : 1;
    if (plan->buffers == 1) return;
    while (plan->buffers < groups && plan->buffers < GATHER_MAX_BUFFERS &&
           (plan->buffers + 1) * group <= REGISTERS)
        plan->buffers++;
}

/* Plans the chains: four, two for each octet of a row block of 16 rows, or one for each step where steps are
   fewer. Where several mma's sums make one, and of lines, there are as many chains by themselves. */
static void plan_chains(gather_plan *plan) {
    const sddmm_arithmetic *a = &plan->problem.arithmetic;
    int steps = plan->items.chunks * a->steps;
    plan->chains = 1;
    if (!plan->store_early || a->accs > SDDMM_ACC || plan->abreast > 1) return;
    int most = GATHER_MAX_CHAINS / sddmm_octets(&plan->problem);
    while (plan->chains < most && 2 * plan->chains <= steps) plan->chains *= 2;
}

static void plan_panels(gather_plan *plan) {
    const sddmm_arithmetic *a = &plan->problem.arithmetic;
    int64_t k = plan->problem.k, tile_k = plan->items.tile_k;
    int chunk_k = sddmm_chunk_k(a);
    bool open = k == MC_OPEN;
    plan->loops = open || k / a->unit_k * a->unit_k > tile_k;
    plan->guard_units = open || k % (plan->loops ? tile_k : chunk_k) >= a->unit_k;
    plan->items.chunks = plan->loops ? (int)tile_k / chunk_k : (int)((k / a->unit_k + 3) / 4);
    /* there may be a line of which the panel has only half */
    if (plan->items.chunks % plan->abreast) plan->guard_units = true;
    plan->store_early = plan->wide && !plan->edge && !plan->loops;
    plan_buffers(plan);
    plan_chains(plan);
    plan->shared_bytes = gather_lhs_shared_bytes(plan);
}

_Static_assert(sizeof(gather_plan) <= MC_PLAN_BYTES, "a plan is made where there are MC_PLAN_BYTES");

static void make_plan(const int64_t *point, void *out, mc_complaints *complaints) {
    gather_plan *plan = out;
    *plan = (gather_plan){.problem = sddmm_problem_of(point, complaints),
                          .items = sddmm_items_of(point, false, 0),
                          .abreast = 1 + (int)point[F_READS],
                          .lhs_in = (gather_lhs_in)point[F_LHS_IN],
                          .prefetch = point[F_PREFETCH] != 0,
                          .prefetch_lhs = point[F_PREFETCH_LHS] != 0};
    plan_paths(plan);
    plan_panels(plan);
    sddmm_gather_check(plan, complaints);
}

/* -- Contract and facts ------------------------------------------------------------------------------- */

/* What the contract says of col_idx, by the run. */
static const char *const index_docs[SDDMM_MAX_RUN + 1] = {
    [1] = "[8][2 * groups] an item: column of its slot 16 j + 8 h + g at [g][2 j + h]; -1: none",
    [2] = "[8][2 * groups] an item: column of its slot 16 j + 2 g + i at [g][2 j + i]; -1: none",
    [4] = "[8][2 * groups] an item: column of its slot 32 j + 4 g + i at [g][4 j + i]; -1: none",
};

static void contract(const void *data, mc_contract *c) {
    const gather_plan *plan = data;
    const sddmm_problem *p = &plan->problem;
    c->format = "sampled-list";
    sddmm_add_items(&plan->items, index_docs[plan->items.run], c);
    sddmm_add_mask_values(p, c);
    sddmm_add_matrices(p, 0, 0, c);
    sddmm_add_shapes(p, c);
    add_shape(c, "item_count", MC_OPEN, "items");
    c->grid[0] = (mc_grid_axis){"item_count", p->warps};
    c->grid[1] = c->grid[2] = (mc_grid_axis){NULL, 1};
    c->shared_static = plan->shared_bytes;
    sddmm_end_contract(p, c);
}

static void facts(const void *data, mc_facts *facts) {
    const gather_plan *plan = data;
    const sddmm_arithmetic *a = &plan->problem.arithmetic;
    sddmm_items_facts(&plan->problem, &plan->items, a->steps * a->mma * plan->abreast,
                      "gathered from B, a group and panel", facts);
    sddmm_items_paths(plan->shared_bytes, plan->wide, plan->edge, facts);
}

/* -- Solver ------------------------------------------------------------------------------------------- */

static void entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    const gather_plan *plan = data;
    size_t length = sddmm_items_name(&plan->problem, &plan->items, name);
    if (plan->items.run > 1) length = sddmm_name_add(name, length, "_r%d", plan->items.run);
    if (plan->items.turn > 1) length = sddmm_name_add(name, length, "_t%d", plan->items.turn);
    if (plan->abreast > 1) sddmm_name_add(name, length, "_lines");
}

static const char *how(const void *plan) {
    (void)plan;
    return SDDMM_SWAPPED
        "A warp gathers its vectors' columns of B from global memory straight into registers.";
}

const mc_solver sddmm_gather = {
    .name = "gather",
    .plan = make_plan,
    .contract = contract,
    .facts = facts,
    .emit = sddmm_gather_emit,
    .entry_name = entry_name,
    .estimate = sddmm_gather_estimate,
    .computes = sddmm_computes,
    .how = how,
};
