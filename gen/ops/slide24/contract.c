/* What launching the kernel takes, and what --describe says of it. */
#include <stdio.h>
#include "ops/slide24/slide24.h"

static const char *const x_docs[] = {"X: f16[m][lda]",  "X: bf16[m][lda]", "X: e4m3[m][lda]",
                                     "X: e5m2[m][lda]", "X: s8[m][lda]",   "X: u8[m][lda]",
                                     "X: s16[m][lda]"};
static const char *const c_docs[] = {"C: f16[m][ldc]",  "C: bf16[m][ldc]", "C: e4m3[m][ldc]",
                                     "C: e5m2[m][ldc]", "C: s8[m][ldc]",   "C: u8[m][ldc]",
                                     "C: s16[m][ldc]"};

void slide24_list_batch(const slide24_plan *plan, mc_batch_array arrays[SLIDE24_BATCH_ARRAYS]) {
    arrays[0] =
        (mc_batch_array){"x", "a_stride", "elements from one product's X to the next's", 8 * plan->bytes};
    arrays[1] =
        (mc_batch_array){"c", "c_stride", "elements from one product's C to the next's", 8 * plan->bytes};
}

void slide24_contract(const void *data, mc_contract *c) {
    const slide24_plan *plan = data;
    mc_batch_array arrays[SLIDE24_BATCH_ARRAYS];
    const unsigned align = (unsigned)(plan->align > plan->bytes ? plan->align : plan->bytes);
    add_param(c, (mc_param){"x", "u64", MC_PARAM_ARRAY, align, x_docs[plan->type]});
    add_param(c, (mc_param){"c", "u64", MC_PARAM_ARRAY, align, c_docs[plan->type]});
    add_shape(c, "m", plan->m, "rows of X and C");
    add_shape(c, "n", plan->n, "columns of X");
    add_shape(c, "lda", plan->lda, "elements from one row of X to the next");
    add_shape(c, "ldc", plan->ldc, "elements from one row of C to the next");
    if (plan->n == MC_OPEN)
        add_constraint(c, (mc_constraint){"n", 0, SLIDE24_MOST_COLS, "C has at most 2^31 - 1 columns"});
    c->grid[0] = (mc_grid_axis){"m", plan->hold};
    c->grid[1] = (mc_grid_axis){"n", (int64_t)plan->spans * plan->span};
    c->grid[2] = (mc_grid_axis){NULL, 1};
    c->block[0] = (unsigned)slide24_threads(plan), c->block[1] = c->block[2] = 1;
    c->overlap = plan->overlap;
    slide24_list_batch(plan, arrays);
    if (plan->batch) batch_contract(c, arrays, SLIDE24_BATCH_ARRAYS);
}

void slide24_facts(const void *data, mc_facts *facts) {
    const slide24_plan *plan = data;
    add_fact(facts, "span", plan->span, "elements of a row of X that become groups together");
    add_fact(facts, "groups", plan->groups, "of four, which they become");
    add_fact(facts, "block_rows", plan->hold, "a thread block");
    add_fact(facts, "block_columns", (int64_t)plan->spans * plan->span, "of X, a thread block");
    add_fact(facts, "block_vectors", (int64_t)plan->vectors * plan->hold, "of 16 bytes, a thread block");
    add_fact(facts, "threads", slide24_threads(plan), "a thread block");
    add_fact(facts, "wide_path", plan->wide, "stores of 16 bytes");
    add_fact(facts, "edge_path", plan->edge, "an element at a time");
}

const char *slide24_computes(const void *data) {
    (void)data;
    return "C[i][4 ((N - 1) s + w) + e] = X[i][2N s + 2 w + e], or 0 beyond n; e < 4, w < N - 1.";
}

void slide24_entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    const slide24_plan *plan = data;
    snprintf(name, MC_MAX_ENTRY, "slide24_%s_%d_%d_h%d_w%d", slide24_types[plan->type], plan->span - 2,
             plan->span, plan->hold, plan->warps);
}
