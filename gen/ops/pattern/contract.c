/* What launching takes, and what --describe says of it. */
#include "ops/pattern/pattern.h"
#include <stdio.h>

static void add_words(mc_contract *c, const char *name, unsigned words, const char *doc) {
    add_param(c, (mc_param){name, "u64", MC_PARAM_ARRAY, words * WORD, doc});
}

static void find_contract(const pattern_plan *plan, mc_contract *c) {
    unsigned element = plan->element->bits < 8 ? 1 : (unsigned)plan->element->bits / 8;
    add_param(c, (mc_param){"data", "u64", MC_PARAM_ARRAY, element,
                            plan->by_columns ? "[columns][ld], elements" : "[rows][ld], elements"});
    add_words(c, "bits", 1, "b32[items][32], a bit for each column, which the kernel writes");
    add_words(c, "counts", 1, "s32[items], bits that are set, which the kernel writes");
    if (plan->ranged)
        add_words(c, "wrong", 1,
                  "s32[items], the first element out of range, row * 1024 + column of the segment; 2^31 - 1: "
                  "none; which the kernel writes");
    if (plan->ranged) {
        add_shape(c, "below", MC_OPEN, "elements below 0 that may be");
        add_shape(c, "values", MC_OPEN, "elements that may be, those below 0 among them");
    }
    add_shape(c, "cols", MC_OPEN, "columns");
    add_shape(c, "ld", MC_OPEN, "elements from one row (column) to the next");
    segments_contract(c);
}

static void list_contract(const pattern_plan *plan, mc_contract *c) {
    (void)plan;
    add_words(c, "bits", 1, "b32[items][32], a bit for each column");
    add_words(c, "starts", 1, "s32[items], number of the segment's first vector");
    add_words(c, "columns", 1, "s32[vectors], which the kernel writes");
    add_shape(c, "cols", MC_OPEN, "columns");
    segments_contract(c);
}

static void columns_contract(const pattern_plan *plan, mc_contract *c) {
    (void)plan;
    add_words(c, "source", 1, "s32[vectors], columns as they are");
    add_words(c, "offsets", 1, "s32[row blocks + 1], the first vector of each row block");
    add_words(c, "columns", 1, "s32[vectors], columns of the whole matrix, which the kernel writes");
    add_words(c, "wrong", 1,
              "s32[items], the first vector whose column does not ascend, or is none; 2^31 - 1: none; which "
              "the kernel writes");
    add_shape(c, "cols", MC_OPEN, "columns of a pattern");
    add_shape(c, "each", MC_OPEN, "row blocks of a pattern");
    segments_contract(c);
}

static void slots_contract(mc_contract *c) {
    add_shape(c, "slots", MC_OPEN, "slots");
    c->grid[0] = (mc_grid_axis){"slots", PATTERN_THREADS};
    c->grid[1] = c->grid[2] = (mc_grid_axis){NULL, 1};
    c->block[0] = PATTERN_THREADS, c->block[1] = c->block[2] = 1;
}

static void number_contract(const pattern_plan *plan, mc_contract *c) {
    (void)plan;
    add_words(c, "vectors", 1, "s32[slots], the slot's own number; -1: none; which the kernel writes");
    add_shape(c, "count", MC_OPEN, "slots that hold a vector");
    slots_contract(c);
}

static void places_contract(const pattern_plan *plan, mc_contract *c) {
    (void)plan;
    add_words(c, "vectors", 1, "s32[slots], the number of each slot's vector; below 0: none");
    add_words(c, "offsets", 1, "s32[row blocks + 1], the first vector of each row block");
    add_words(c, "columns", 1, "s32[vectors]");
    add_words(c, "places", 2,
              "s32[slots][2], the first row and the column; -1: none; which the kernel writes");
    add_shape(c, "row_blocks", MC_OPEN, "row blocks");
    slots_contract(c);
}

void pattern_contract(const void *data, mc_contract *c) {
    static void (*const contracts[])(const pattern_plan *,
                                     mc_contract *) = {[PATTERN_FIND] = find_contract,
                                                       [PATTERN_LIST] = list_contract,
                                                       [PATTERN_COLUMNS] = columns_contract,
                                                       [PATTERN_NUMBER] = number_contract,
                                                       [PATTERN_PLACES] = places_contract};
    const pattern_plan *plan = data;
    contracts[plan->step](plan, c);
}

void pattern_facts(const void *data, mc_facts *facts) {
    const pattern_plan *plan = data;
    bool slots = plan->step == PATTERN_NUMBER || plan->step == PATTERN_PLACES;
    add_fact(facts, "threads", slots ? PATTERN_THREADS : SEGMENT_THREADS, "a thread block");
    if (!slots) add_fact(facts, "segment", MC_SEGMENT, "columns or vectors of a warp");
}

void pattern_entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    static const char *const steps[] = {"find", "list", "columns", "number", "places"};
    const pattern_plan *plan = data;
    int length = snprintf(name, MC_MAX_ENTRY, "pattern_%s", steps[plan->step]);
    char *rest = name + length;
    size_t room = MC_MAX_ENTRY - (size_t)length;
    if (plan->step == PATTERN_FIND)
        snprintf(rest, room, "_%s%s%s_v%d_h%d", pattern_element_names[plan->element - pattern_elements],
                 plan->ranged ? "_ranged" : "", plan->by_columns ? "_columns" : "", plan->vec, plan->hold);
    if (plan->step == PATTERN_COLUMNS) snprintf(rest, room, "_h%d", plan->hold);
    if (plan->step == PATTERN_PLACES) snprintf(rest, room, "_v%d", plan->vec);
}

const char *pattern_computes(const void *data) {
    static const char *const texts[] = {
        [PATTERN_FIND] = "bits[row block][column] = whether a row of the block has an element that is not 0.",
        [PATTERN_LIST] = "columns[...] = the columns whose bits are set, row block by row block.",
        [PATTERN_COLUMNS] = "columns[vector] = source[vector] + the first column of the row block's pattern.",
        [PATTERN_NUMBER] = "vectors[slot] = slot, or -1 from count on.",
        [PATTERN_PLACES] = "places[slot] = the first row and the column of vectors[slot]."};
    const pattern_plan *plan = data;
    return texts[plan->step];
}
