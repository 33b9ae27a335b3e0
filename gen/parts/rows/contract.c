/* What kernels over rows have alike in their contracts, facts and schemas. */
#include "parts/rows/rows.h"

const char *const rows_order_names[] = {"bcrs", "srbcrs16", "srbcrs32"};

void rows_add_blocks(mc_contract *c) {
    add_array(c, ROWS_BLOCK_WORDS * WORD,
              (mc_array){"rows", "s32", "row_blocks * 4",
                         "a row block's first slot, its vectors, its number, and 0; the longest first"});
}

void rows_contract(const rows_plan *plan, int shared_bytes, mc_contract *c) {
    c->format = "sampled-rows";
    add_constraint(
        c, (mc_constraint){"n", 0, rows_most_columns(plan), "units of a row block are counted in s32"});
    if (rows_in_teams(plan))
        add_constraint(
            c, (mc_constraint){"m", 0, INT32_MAX - rows_each(plan), "places of rows are counted in s32"});
    c->grid[0] = (mc_grid_axis){"m", (int64_t)plan->vec * rows_each(plan)};
    c->grid[1] = c->grid[2] = (mc_grid_axis){NULL, 1};
    c->block[0] = (unsigned)rows_threads(plan), c->block[1] = c->block[2] = 1;
    c->shared_static = (unsigned)shared_bytes;
}

void rows_facts(const rows_plan *plan, const rows_traffic *traffic, int shared_bytes, mc_facts *facts) {
    int64_t elements = (int64_t)plan->team * plan->hold * plan->unit;
    add_fact(facts, "threads", rows_threads(plan), "a thread block");
    add_fact(facts, "unit_bytes", traffic->unit_bytes, traffic->unit_is);
    add_fact(facts, "held_vectors", elements / plan->vec, "of a row block that is read once");
    add_fact(facts, "value_bytes", traffic->value_bytes, "read and written for each value");
    add_fact(facts, "shared_bytes", shared_bytes, "a thread block");
}

void rows_check_m(const rows_plan *plan, int64_t m, int field, mc_complaints *complaints) {
    if (m != MC_OPEN && m % plan->vec != 0)
        complain(complaints, field, "%lld is not a multiple of vec = %d", (long long)m, plan->vec);
}

const char *rows_how(const rows_plan *plan) {
    if (rows_in_teams(plan))
        return "A few lanes of a warp take a row, whose values stay in registers where they fit.";
    return "A thread block takes a row block, whose values stay in registers where they fit.";
}
