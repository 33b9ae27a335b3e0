/* The solver `window` of the SDDMM: its plan, its contract and its facts. emit.c has the kernel, and a
   picture of it. */
#include "ops/sddmm/window/window.h"
#include "ops/sddmm/fields.h"
#include "ops/sddmm/solvers.h"

/* Plans the window's shared memory; none for what window_check then refuses. */
static void plan_window(window_plan *plan) {
    const sddmm_arithmetic *a = &plan->problem.arithmetic;
    int64_t k = plan->problem.k, window = plan->items.window;
    bool fits = k != MC_OPEN && window != MC_OPEN && window <= SAMPLED_MAX_WINDOW;
    int64_t column = fits ? values_bytes(a->rhs, k) : 0;
    if (k != MC_OPEN) plan->items.chunks = (int)((k / a->unit_k + 3) / 4);
    if (plan->tensor && fits) column = (int64_t)window_pairs(plan) * WINDOW_BANKS;
    plan->columns_bytes = column <= SDDMM_MAX_PANEL ? (unsigned)(window * column) : 0;
    plan->shared_bytes = plan->columns_bytes + (plan->tensor ? SDDMM_MAX_CHUNKS / 2 * WINDOW_BARRIER : 0);
}

_Static_assert(sizeof(window_plan) <= MC_PLAN_BYTES, "a plan is made where there are MC_PLAN_BYTES");

static void make_plan(const int64_t *point, void *out, mc_complaints *complaints) {
    window_plan *plan = out;
    *plan = (window_plan){.problem = sddmm_problem_of(point, complaints),
                          .items = sddmm_items_of(point, true, (int)point[F_INTERLEAVE]),
                          .tensor = point[F_STAGING] != 0,
                          .prefetch = point[F_PREFETCH] != 0};
    plan_window(plan);
    window_check(point, plan, complaints);
}

/* A copy is a pair of chunks of some columns. */
static mc_map_param map_of(const window_plan *plan) {
    sddmm_values rhs = plan->problem.arithmetic.rhs;
    return (mc_map_param){.param = "b_map",
                          .array = "b",
                          .type = "rhs",
                          .rows = "n",
                          .cols = "k",
                          .ld = "ldb",
                          .box_rows = (unsigned)window_box(plan),
                          .box_cols = (unsigned)(WINDOW_BANKS / element_bytes(rhs)),
                          .swizzle = WINDOW_BANKS,
                          .element_bytes = (unsigned)element_bytes(rhs),
                          .per_byte = values_in_pairs(rhs) ? 2 : 1};
}

/* B as an array, or as a tensor map. */
static void add_operands(const window_plan *plan, mc_contract *c) {
    const sddmm_problem *p = &plan->problem;
    unsigned a_multiple = (unsigned)sddmm_a_multiple(&p->arithmetic),
             b_multiple = (unsigned)p->arithmetic.unit_k;
    if (!plan->tensor) {
        sddmm_add_matrices(p, a_multiple, b_multiple, c);
        add_shape(c, "n", p->n, "columns of B");
        sddmm_add_shapes(p, c);
        return;
    }
    const mc_map_param map = map_of(plan);
    sddmm_add_matrices_but_b(p, a_multiple, b_multiple, c);
    sddmm_add_shapes(p, c);
    sddmm_add_map(p, &map, c);
}

static void contract(const void *data, mc_contract *c) {
    const window_plan *plan = data;
    const sddmm_problem *p = &plan->problem;
    c->format = "sampled-windows";
    sddmm_add_items(&plan->items,
                    "[8][2 * groups] an item: column in the window | place in the item << 16 of a vector of "
                    "mma j, row 8 h + g, at [g][2 j + h]; negative: none, column 0",
                    c);
    add_array(c, 4, (mc_array){"window_ptr", "s32", "windows + 1", "first item of each window"});
    sddmm_add_mask_values(p, c);
    add_operands(plan, c);
    /* the warps of all thread blocks along y take a window's items in turn */
    c->grid[0] = (mc_grid_axis){"n", plan->items.window};
    c->grid[1] = (mc_grid_axis){"window_items", p->warps};
    c->grid[2] = (mc_grid_axis){NULL, 1};
    c->turn_axis = 1, c->turn_k = p->k;
    c->shared_dynamic = plan->shared_bytes;
    sddmm_end_contract(p, c);
}

static void facts(const void *data, mc_facts *facts) {
    const window_plan *plan = data;
    const sddmm_arithmetic *a = &plan->problem.arithmetic;
    sddmm_items_facts(&plan->problem, &plan->items, a->steps * a->mma, "read from the window, a group",
                      facts);
    sddmm_items_paths(plan->shared_bytes, true, false, facts);
}

static void entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    const window_plan *plan = data;
    size_t length = sddmm_items_name(&plan->problem, &plan->items, name);
    length = sddmm_name_add(name, length, "_c%d", (int)plan->items.window);
    if (plan->items.at_once > 1) length = sddmm_name_add(name, length, "_i%d", plan->items.at_once);
    if (plan->tensor) sddmm_name_add(name, length, "_tma");
}

static const char *how(const void *plan) {
    (void)plan;
    return SDDMM_SWAPPED
        "A thread block copies a window of columns of B to shared memory, from where its warps gather.";
}

const mc_solver sddmm_window = {
    .name = "window",
    .plan = make_plan,
    .contract = contract,
    .facts = facts,
    .emit = window_emit,
    .entry_name = entry_name,
    .estimate = sddmm_window_estimate,
    .computes = sddmm_computes,
    .how = how,
};
