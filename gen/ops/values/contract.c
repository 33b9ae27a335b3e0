/* What launching takes, and what --describe says of it. */
#include "ops/values/values.h"
#include <stdio.h>

static const char *const slot_docs[] = {
    [VALUES_VECTORS] = "s32[groups][group], the number of each slot's vector; below 0: none",
    [VALUES_ROWS] =
        "s32[groups][group][2], the first row and the column of each slot's vector; below 0: none",
    [VALUES_COLUMNS] =
        "s32[groups][group][2], the first row and the column of each slot's vector; below 0: none"};
static const char *const source_docs[] = {[VALUES_VECTORS] = "[vectors][vec], elements of type lhs",
                                          [VALUES_ROWS] = "[rows][lds], elements of type lhs",
                                          [VALUES_COLUMNS] = "[columns][lds], elements of type lhs"};

void values_contract(const void *data, mc_contract *c) {
    const values_plan *plan = data;
    unsigned element = plan->bits < 8 ? 1 : (unsigned)plan->bits / 8;
    int entries = values_pieces(plan) * 2; /* bytes of the entries that a thread loads */
    add_param(c, (mc_param){"slots", "u64", MC_PARAM_ARRAY, (unsigned)values_slot_words(plan) * WORD,
                            slot_docs[plan->from]});
    add_param(c, (mc_param){"pieces", "u64", MC_PARAM_ARRAY, (unsigned)entries,
                            "s16, of each piece of a group its slot, row and digit (gen/parts/pieces.h)"});
    add_param(c, (mc_param){"source", "u64", MC_PARAM_ARRAY, element, source_docs[plan->from]});
    add_param(c, (mc_param){"values", "u64", MC_PARAM_ARRAY, WORD, "packed values, which the kernel writes"});
    add_shape(c, "groups", MC_OPEN, "groups of slots");
    if (plan->from != VALUES_VECTORS)
        add_shape(c, "lds", MC_OPEN, "the source's leading dimension, in elements");
    c->grid[0] = (mc_grid_axis){"groups", values_groups(plan)};
    c->grid[1] = (mc_grid_axis){NULL, (plan->period + plan->wide - 1) / plan->wide};
    c->grid[2] = (mc_grid_axis){NULL, 1};
    c->block[0] = VALUES_THREADS, c->block[1] = c->block[2] = 1;
}

void values_facts(const void *data, mc_facts *facts) {
    const values_plan *plan = data;
    add_fact(facts, "threads", VALUES_THREADS, "a thread block");
    add_fact(facts, "period_bytes", plan->period * WORD, "packed values of a group");
    add_fact(facts, "block_groups", values_groups(plan), "groups of a thread block");
}

void values_entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    static const char *const units[] = {"element", "rounded", "byte", "half"};
    static const char *const froms[] = {"vectors", "rows", "columns"};
    static const char *const modes[] = {"", "_balanced", "_offset"};
    const values_plan *plan = data;
    snprintf(name, MC_MAX_ENTRY, "values_%s_%s%s_%s_v%d_g%d_h%d", plan->type, units[plan->unit],
             modes[plan->mode], froms[plan->from], plan->vec, plan->group, plan->hold);
}

const char *values_computes(const void *data) {
    static const char *const texts[] = {
        [VALUES_VECTORS] = "values[...] = pieces of source[vector][row], as slots and pieces say.",
        [VALUES_ROWS] = "values[...] = pieces of source[row][column], as slots and pieces say.",
        [VALUES_COLUMNS] = "values[...] = pieces of source[column][row], as slots and pieces say."};
    const values_plan *plan = data;
    return texts[plan->from];
}
