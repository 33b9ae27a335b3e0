/* The solver `ring`, of stagings "tma" and "async": contract, facts, name and header. windowed.h describes
   the format of its arrays. */
#include "ops/spmm/ring/plan.h"
#include "ops/spmm/solvers.h"
#include <stdio.h>
#include <string.h>

static void add_b(const ring_plan *plan, mc_contract *c) {
    const spmm_plan *base = &plan->base;
    int bytes = spmm_b_unit(base);
    int64_t limit = bytes > 1 ? SPMM_MAX_ROW_BYTES / bytes : 0;
    unsigned unit = (unsigned)ring_ldb_unit(plan);
    add_constraint(c, (mc_constraint){"ldb", unit > 1 ? unit : 0, limit, ROWS_FIT});
    static const char all[] = "the ring has all rows of B (window, stages)",
                      parts[] = "the rings of all parts have all rows of B (parts, window, stages)";
    if (plan->keeps_all)
        add_constraint(c, (mc_constraint){"k", 0, ring_most_k(plan), plan->parts > 1 ? parts : all});
    add_param(c,
              (mc_param){"b", "u64", MC_PARAM_ARRAY, (unsigned)base->align, spmm_b_doc(&base->math, false)});
}

static void add_b_map(const ring_plan *plan, mc_contract *c) {
    const spmm_plan *base = &plan->base;
    int bytes = spmm_b_unit(base);
    mc_map_param map = {.param = "b_map",
                        .array = "b",
                        .type = "rhs",
                        .rows = "k",
                        .cols = "n",
                        .ld = "ldb",
                        .box_rows = (unsigned)plan->window,
                        .box_cols = (unsigned)(ring_row_bytes(plan) / bytes),
                        .swizzle = (unsigned)ring_row_bytes(plan),
                        .element_bytes = (unsigned)bytes,
                        .per_byte = spmm_b_is_paired(base) ? 2 : 1};
    add_constraint(c, (mc_constraint){.shape = "ldb", .multiple = (unsigned)ring_ldb_unit(plan)});
    add_map(c, map, spmm_b_doc(&base->math, true));
}

/* The arrays that say which strides a row block has, and where their slots lie in the ring. */
static void add_strides(const ring_plan *plan, mc_contract *c) {
    enum { PLACES = 3 };
    const spmm_plan *base = &plan->base;
    bool words = ring_reads_words(plan);
    static const char *const orders[] = {
        [1] = "m", [2] = "m / 2", [4] = "m / 4", [8] = "m / 8", [16] = "m / 16"};
    static const char *const row_ptrs[] = {
        [1] = "m + 1", [2] = "m / 2 + 1", [4] = "m / 4 + 1", [8] = "m / 8 + 1", [16] = "m / 16 + 1"};
    static const char *const part_ptrs[] = {[1] = "split * m + 1",
                                            [2] = "split * m / 2 + 1",
                                            [4] = "split * m / 4 + 1",
                                            [8] = "split * m / 8 + 1",
                                            [16] = "split * m / 16 + 1"};
    static const char *const cluster_ptrs[] = {[1] = "parts * m + 1",
                                               [2] = "parts * m / 2 + 1",
                                               [4] = "parts * m / 4 + 1",
                                               [8] = "parts * m / 8 + 1",
                                               [16] = "parts * m / 16 + 1"};
    const mc_array arrays[] = {
        {"row_order", "s32", orders[base->vec], "the row block that each place computes"},
        {"row_ptr", "s32",
         plan->parts > 1 ? cluster_ptrs[base->vec] : (base->split > 1 ? part_ptrs : row_ptrs)[base->vec],
         "first stride of each place, part by part, then the number of strides"},
        {"control", "s32", "strides",
         "bits 8-30: windows to leave; bits 0-7: to wait for then; bit 31: slots 16 on are empty"},
        {"places", "s32", "strides * 16",
         words ? "[t][4]: where slots 8 i + t and 8 i + 4 + t lie in the ring: low and high half, in 16 bytes"
               : "where slots w and 16 + w lie in the ring: low and high half, in 16 bytes"}};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        add_array(c, words && i == PLACES ? 16 : 4, arrays[i]);
}

/* control, places and values are copied, or asked for, in pieces. With sparse mma lanes load values so. */
static void align_pieces(const ring_plan *plan, mc_contract *c) {
    enum { CONTROL = 2, VALUES = 4 };
    const bool all = ring_is_queued(plan) || plan->prefetch;
    if (!all && !ring_is_sparse(plan)) return;
    for (size_t i = all ? CONTROL : VALUES; i < c->param_count; i++) c->params[i].align = RING_PIECE;
}

/* Rows and columns of tiles are one axis of the grid. */
static void add_tiles(const ring_plan *plan, mc_contract *c) {
    const spmm_plan *base = &plan->base;
    c->columns = c->grid[1];
    c->grid[1] = (mc_grid_axis){NULL, 1};
    spmm_add_tile_limits(base->vec * base->row_blocks, base->tile_n, c);
}

static void make_contract(const void *data, mc_contract *c) {
    const ring_plan *plan = data;
    c->format = "windowed-bcrs";
    add_strides(plan, c);
    spmm_add_values(&plan->base, true, c);
    align_pieces(plan, c);
    if (plan->tensor) add_b_map(plan, c);
    else add_b(plan, c);
    spmm_contract(&plan->base, true, !plan->tensor, c);
    c->turn_k = plan->resident ? ring_most_k(plan) : 0;
    if (plan->base.group > 0) add_tiles(plan, c);
    if (plan->parts > 1) {
        c->grid[2] = (mc_grid_axis){NULL, plan->parts};
        c->cluster[0] = c->cluster[1] = 1, c->cluster[2] = (unsigned)plan->parts;
    }
    c->shared_dynamic = plan->base.shared_bytes;
}

static void make_facts(const void *data, mc_facts *facts) {
    const ring_plan *plan = data;
    spmm_facts(&plan->base, facts);
    add_fact(facts, "window_bytes", ring_window_bytes(plan), "of B, copied at once");
    if (plan->parts > 1)
        add_fact(facts, "parts", plan->parts, "thread blocks of a cluster, each with a part of k");
}

static void entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    const ring_plan *plan = data;
    const spmm_plan *base = &plan->base;
    snprintf(name, MC_MAX_ENTRY, "spmm_%s%s%s%s%s_v%d_%s_n%d_w%d_s%d_b%dx%d%s%s", base->math.lhs,
             base->math.rhs, out_element_name(base->output.element), out_act_link(&base->output),
             out_act_text(&base->output), base->vec, base->staging_name, base->tile_n, base->warps,
             base->split, plan->stages, plan->window, plan->resident ? "_resident" : "",
             base->c_columns ? "_columns" : "");
    size_t length = strlen(name);
    if (plan->parts > 1)
        length += (size_t)snprintf(name + length, MC_MAX_ENTRY - length, "_p%d", plan->parts);
    if (ring_asks_ahead(plan))
        length += (size_t)snprintf(name + length, MC_MAX_ENTRY - length, "_d%d", plan->depth);
    if (ring_is_sparse(plan)) length += (size_t)snprintf(name + length, MC_MAX_ENTRY - length, "_sparse");
    if (plan->base.group > 0) snprintf(name + length, MC_MAX_ENTRY - length, "_g%d", plan->base.group);
}

#define RING(by)                                                                                             \
    "Windows of B pass through a ring in shared memory; every warp gathers its row block's rows from it "    \
    "by " by
#define RING_WAYS(by)                                                                                        \
    { SPMM_SWAPPED_WAY(RING(by)), SPMM_TALL_WAY(RING(by)) }

static const char *how(const void *data) {
    static const char *const by_ldmatrix[] = RING_WAYS("ldmatrix."), *const by_words[] = RING_WAYS("loads.");
    const ring_plan *plan = data;
    return (ring_reads_words(plan) ? by_words : by_ldmatrix)[spmm_is_tall(&plan->base.math)];
}

const mc_solver spmm_ring = {
    .name = "ring",
    .plan = ring_make_plan,
    .contract = make_contract,
    .facts = make_facts,
    .emit = ring_emit,
    .entry_name = entry_name,
    .estimate = ring_estimate,
    .computes = spmm_computes,
    .how = how,
};
